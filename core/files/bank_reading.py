"""Collects a question bank from the tables of a file, with everything that is wrong in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TypeVar

from core.domain.identifiers import slug
from core.domain.instrument import (
    ORIGINAL,
    Instrument,
    Item,
    Option,
    ResponseFormat,
    Wording,
    problems,
)
from core.files.bank_columns import (
    BANK_FIELDS,
    COLUMNS,
    CSV_COLUMNS,
    SHEETS,
    TextColumn,
    text_column,
    text_name,
)
from core.files.bank_rows import Remarks, Row, RowError, keyed, points, position, stance
from core.files.reading import Table, check_header

_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Draft:
    """A bank as read. With any error it is for looking at only, not for use."""

    instrument: Instrument
    errors: tuple[RowError, ...] = ()
    warnings: tuple[str, ...] = ()


class BankReading:
    """Collects what the rows say, and what is wrong with them."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.items: list[tuple[float, Item]] = []
        self.options: dict[str, list[tuple[float, Option]]] = {}
        self.remarks = Remarks()
        self.has_records = False
        self._languages: dict[str, None] = {}
        self._formats: dict[str, tuple[int, str]] = {}  # line and sheet where each began

    def add(self, table: Table, sheet: str = "") -> None:
        """Read every row of one table."""
        header = check_header(table.name, (name.strip() for name in table.header))
        texts = self._text_columns(header, sheet)
        default = SHEETS.get(sheet, "" if "record" in header else "item")
        self.has_records |= "record" in header or sheet in SHEETS
        rows = [
            Row(
                line,
                sheet,
                {"record": default} | dict(zip(header, cells, strict=True)),
                tuple(
                    (texts[n], c) for n, c in zip(header, cells, strict=True) if n in texts and c
                ),
            )
            for line, cells in table.rows
        ]
        self._require_columns(rows, header, sheet, has_texts=bool(texts))
        readers = {"bank": self._fact, "option": self._option, "item": self._item}
        for row in rows:
            kind = row.cell("record").strip().lower()
            if kind in readers:
                readers[kind](row)
                self._warn_of_strays(row, kind)
            else:
                self.remarks.wrong(row, "record", f"'{kind}' is not one of bank, option, item")

    def draft(self, name: str) -> Draft:
        """The bank of all rows read."""
        stem = PurePath(name).name.split(".")[0]
        if "code" not in self.facts and self.has_records:
            self.remarks.warn("No code is given for the bank; it was made from the file's name.")
        languages = self.facts.get("languages")
        bank = Instrument(
            code=self.facts.get("code", slug(stem)),
            title=self.facts.get("title", stem),
            items=tuple(_in_order(self.items)),
            formats=tuple(ResponseFormat(c, tuple(_in_order(o))) for c, o in self.options.items()),
            languages=tuple(self._languages) or ("en",)
            if languages is None
            else tuple(languages.split()),
            description=self.facts.get("description", ""),
            licence=self.facts.get("licence", ""),
            citation=self.facts.get("citation", ""),
        )
        self._add_problems(bank)
        return Draft(
            bank, tuple(sorted(self.remarks.errors, key=_place)), tuple(self.remarks.warnings)
        )

    def _text_columns(self, header: tuple[str, ...], sheet: str) -> dict[str, TextColumn]:
        texts: dict[str, TextColumn] = {}
        for name in header:
            column = text_column(name)
            if column in texts.values():
                self.remarks.errors.append(
                    RowError(1, name, "another column holds the same texts", sheet)
                )
            elif column:
                texts[name] = column
                self._languages[column[0]] = None
            elif name not in CSV_COLUMNS:
                self.remarks.warnings.append(
                    f"The column '{name}' is not part of a bank and was not read."
                )
        return texts

    def _require_columns(
        self, rows: list[Row], header: tuple[str, ...], sheet: str, *, has_texts: bool
    ) -> None:
        kinds = {row.cell("record").strip().lower() for row in rows}
        needed = ["code"]
        needed += ["format"] if "option" in kinds else []
        needed += ["value"] if "bank" in kinds else []
        missing = [column for column in needed if column not in header]
        if not has_texts and not self.has_records:
            missing.append("text")
        for column in missing:
            self.remarks.errors.append(RowError(1, column, "this column is missing", sheet))

    def _fact(self, row: Row) -> None:
        field = row.cell("code").strip()
        if field not in BANK_FIELDS:
            self.remarks.wrong(row, "code", f"'{field}' is not one of {', '.join(BANK_FIELDS)}")
        elif self.remarks.is_first(row, "code", "bank", field):
            self.facts[field] = row.cell("value")
            if field in ("code", "languages") and not row.cell("value").strip():
                self.remarks.wrong(row, "value", f"the bank's {field} is empty")

    def _option(self, row: Row) -> None:
        name, code = row.cell("format"), row.cell("code")
        if not name.strip():
            self.remarks.wrong(row, "format", "the option does not say to which format it belongs")
        options = self.options.setdefault(name, [])
        self._formats.setdefault(name, (row.line, row.sheet))
        if not row.texts and not any(map(row.cell, ("position", "code", "points", "stance"))):
            return  # a set of response options that is still empty
        self.remarks.is_first(row, "code", "option", name, code.casefold())
        labels = {language: text for (language, form), text in row.texts if form == ORIGINAL}
        option = Option(code, points(row, self.remarks), labels, stance(row, self.remarks))
        options.append((position(row, self.remarks, "option", name), option))

    def _item(self, row: Row) -> None:
        code = row.cell("code")
        self.remarks.is_first(row, "code", "item", code)
        wordings = tuple(Wording(lang, text, form) for (lang, form), text in row.texts)
        item = Item(code, wordings, row.cell("subscale"), keyed(row, self.remarks))
        self.items.append((position(row, self.remarks, "item"), item))

    def _warn_of_strays(self, row: Row, kind: str) -> None:
        """Say which filled cells have no meaning in a row of this kind."""
        strays = [c for c in CSV_COLUMNS[1:] if c not in COLUMNS[kind] and row.cell(c)]
        if kind != "item":
            strays += [
                text_name(*column)
                for column, _ in row.texts
                if kind == "bank" or column[1] != ORIGINAL
            ]
        for column in strays:
            self.remarks.warn(
                f"The column '{column}' has no meaning in '{kind}' rows and was not read there."
            )

    def _add_problems(self, bank: Instrument) -> None:
        """What the bank as a whole lacks: errors where a row is to blame, else warnings."""
        lines = {f"Response options {code}": place for code, place in self._formats.items()}
        wheres: dict[str, list[str]] = defaultdict(list)
        for problem in problems(_without_double_codes(bank)):
            if problem.blocks and problem.where in lines:
                line, sheet = lines[problem.where]
                self.remarks.errors.append(
                    RowError(line, "format", f"{problem.where}: {problem.what}", sheet)
                )
            else:
                wheres[problem.what].append(problem.where)
        for what, places in wheres.items():
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            self.remarks.warnings.append(f"{', '.join(places[:3])}{more}: {what}.")


def _without_double_codes(bank: Instrument) -> Instrument:
    """The bank without what is an error of its row already."""
    return replace(
        bank,
        items=tuple({item.code: item for item in bank.items if item.code.strip()}.values()),
        formats=tuple(
            replace(
                f,
                options=tuple({o.code.casefold(): o for o in f.options if o.code.strip()}.values()),
            )
            for f in bank.formats
        ),
    )


def _in_order(entries: list[tuple[float, _Entry]]) -> Iterator[_Entry]:
    return (entry for _, entry in sorted(entries, key=lambda placed: placed[0]))


def _place(error: RowError) -> tuple[str, int]:
    return (error.sheet, error.line)

"""Collects a question bank from the tables of a file, with everything that is wrong in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TypeVar, cast

from core.domain.identifiers import slug
from core.domain.instrument import (
    KINDS,
    LEANINGS,
    MIDPOINTS,
    Instrument,
    Item,
    Kind,
    Leaning,
    Midpoint,
    Option,
    Party,
    Rating,
    ResponseFormat,
)
from core.domain.instrument_problems import problems
from core.files.bank_columns import BANK_FIELDS, MOODS, PARTY, SHEETS, named_after
from core.files.bank_header import require_columns, text_columns, warn_of_strays
from core.files.bank_items import item_of
from core.files.bank_rows import Remarks, Row, RowError, choice, points, position, ratings, sign
from core.files.reading import Table, check_header

_Entry = TypeVar("_Entry")


_Manner = tuple[Midpoint, str, tuple[Rating, ...]]  # midpoint, mood and ratings of a format


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
        self.parties: list[Party] = []
        self.remarks = Remarks()
        self.has_records = False
        self._manners: dict[str, _Manner] = {}
        self._languages: dict[str, None] = {}
        self._formats: dict[str, tuple[int, str]] = {}  # line and sheet where each began
        self._party_columns: dict[str, str] = {}  # party -> sheet

    def add(self, table: Table, sheet: str = "") -> None:
        """Read every row of one table."""
        header = check_header(table.name, (name.strip() for name in table.header))
        texts = text_columns(header, sheet, self.remarks)
        self._languages |= dict.fromkeys(column.language for column in texts.values())
        parties = filter(None, (named_after(PARTY, name) for name in header))
        self._party_columns |= dict.fromkeys(parties, sheet)
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
        kinds = {_kind(row) for row in rows}
        needs_text = not texts and not self.has_records
        require_columns(header, sheet, self.remarks, kinds, needs_text=needs_text)
        for row in rows:
            self._add_row(row)

    def draft(self, name: str) -> Draft:
        """The bank of all rows read."""
        stem = PurePath(name).name.split(".")[0]
        if "code" not in self.facts and self.has_records:
            self.remarks.warn("No code is given for the bank; it was made from the file's name.")
        languages = self.facts.get("languages")
        formats = {**self.options, **self._manners}  # options give the order
        bank = Instrument(
            code=self.facts.get("code", slug(stem)),
            title=self.facts.get("title", stem),
            items=tuple(_in_order(self.items)),
            formats=tuple(map(self._finished_format, formats)),
            languages=tuple(self._languages) or ("en",)
            if languages is None
            else tuple(languages.split()),
            description=self.facts.get("description", ""),
            licence=self.facts.get("licence", ""),
            citation=self.facts.get("citation", ""),
            kind=cast(Kind, self.facts.get("kind", "items")),
            parties=tuple(self.parties),
        )
        self._require_parties(bank)
        self._add_problems(bank)
        return Draft(
            bank, tuple(sorted(self.remarks.errors, key=_place)), tuple(self.remarks.warnings)
        )

    def _add_row(self, row: Row) -> None:
        readers = {
            "bank": self._fact,
            "party": self._party,
            "option": self._option,
            "format": self._format,
            "item": self._item,
        }
        kind = _kind(row)
        if kind in readers:
            readers[kind](row)
            warn_of_strays(row, kind, self.remarks)
        else:
            self.remarks.wrong(row, "record", f"'{kind}' is not one of {', '.join(readers)}")

    def _fact(self, row: Row) -> None:
        field = row.cell("code").strip()
        if field not in BANK_FIELDS:
            self.remarks.wrong(row, "code", f"'{field}' is not one of {', '.join(BANK_FIELDS)}")
        elif self.remarks.is_first(row, "code", "bank", field):
            value = row.cell("value")
            if field == "kind":
                value = choice(row, self.remarks, "value", KINDS) or "items"
            self.facts[field] = value
            if field in ("code", "languages") and not value.strip():
                self.remarks.wrong(row, "value", f"the bank's {field} is empty")

    def _party(self, row: Row) -> None:
        leaning = choice(row, self.remarks, "value", LEANINGS) or "centre"
        if self.remarks.is_first(row, "code", "party", row.cell("code")):
            self.parties.append(Party(row.cell("code"), cast(Leaning, leaning)))
        if not row.cell("value").strip():
            self.remarks.wrong(row, "value", f"it does not say: {', '.join(LEANINGS)}")

    def _format(self, row: Row) -> None:
        name = row.cell("code")
        midpoint = choice(row, self.remarks, "midpoint", MIDPOINTS) or "coin"
        mood = choice(row, self.remarks, "mood", MOODS)
        if self.remarks.is_first(row, "code", "format", name):
            self._formats.setdefault(name, (row.line, row.sheet))
            self._manners[name] = (cast(Midpoint, midpoint), mood, ratings(row, self.remarks))

    def _option(self, row: Row) -> None:
        name, code = row.cell("format"), row.cell("code")
        if not name.strip():
            self.remarks.wrong(row, "format", "the option does not say to which format it belongs")
        options = self.options.setdefault(name, [])
        self._formats.setdefault(name, (row.line, row.sheet))
        if not row.texts and not any(map(row.cell, ("position", "code", "points", "stance"))):
            return  # a set of response options that is still empty
        self.remarks.is_first(row, "code", "option", name, code.casefold())
        labels = {column.language: text for column, text in row.texts if column.is_general}
        scored, side = points(row, self.remarks), sign(row, self.remarks, "stance")
        options.append(
            (position(row, self.remarks, "option", name), Option(code, scored, labels, side))
        )

    def _item(self, row: Row) -> None:
        self.remarks.is_first(row, "code", "item", row.cell("code"))
        item = item_of(row, self.remarks)
        self.items.append((position(row, self.remarks, "item"), item))

    def _finished_format(self, code: str) -> ResponseFormat:
        """The format of that code with its options."""
        options = tuple(_in_order(self.options.get(code, [])))
        return ResponseFormat(code, options, *self._manners.get(code, ("coin", "", ())))

    def _require_parties(self, bank: Instrument) -> None:
        """Note columns of parties that no row describes."""
        known = {party.code for party in bank.parties}
        for party, sheet in self._party_columns.items():
            if party not in known:
                reason = f"no row of the kind 'party' says where '{party}' stands"
                self.remarks.errors.append(RowError(1, f"{PARTY}{party}", reason, sheet))

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


def _kind(row: Row) -> str:
    return row.cell("record").strip().lower()


def _in_order(entries: list[tuple[float, _Entry]]) -> Iterator[_Entry]:
    return (entry for _, entry in sorted(entries, key=lambda placed: placed[0]))


def _place(error: RowError) -> tuple[str, int]:
    return (error.sheet, error.line)

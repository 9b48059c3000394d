"""What a table says of the items of a bank: loadings on domains, or positions of parties."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.instrument import LEANINGS
from core.errors import FileError
from core.files.banks.reading import ANNOTATOR_MARK, LOADING, PARTY, RowError
from core.files.tables import FileTable, check_header, read_table

# The columns of a table, and a guess of what they hold.

_ITEM_NAMES = ("item", "item_id", "code", "statement_id", "statement", "question_id", "id")
_ANNOTATOR_NAMES = ("annotator", "annotator_id", "coder", "rater")
_PARTY_NAMES = ("party", "party_code")
_POSITION_NAMES = ("position", "answer", "stance")
_MIN_SHARE = 0.5  # of the filled cells of a column that are -1, 0 or 1, for it to hold signs


@dataclass(frozen=True)
class ItemColumns:
    """What the columns of a table hold.

    Fields
    ------
    item : the column of item codes.
    signs : the columns of -1, 0 and 1: one for each domain, or for each party; of a table with
        a row for each item and party, the one column of positions.
    annotator : the column of annotators; empty where the table is of one, or of a consensus.
    party, leaning, country : of a table with a row for each item and party; else empty.
    """

    item: str
    signs: tuple[str, ...]
    annotator: str = ""
    party: str = ""
    leaning: str = ""
    country: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that is read."""
        own = (self.item, self.annotator, self.party, self.leaning, self.country, *self.signs)
        return tuple(name for name in own if name)


@dataclass(frozen=True)
class ItemSigns:
    """Signs read from a table. With errors, they serve for a preview only.

    Fields
    ------
    signs : annotator (empty for none) -> item -> domain or party -> -1, 0, 1.
    parties : party -> leaning and country, as far as the table states them.
    unknown : codes that the bank does not have, and that are left out.
    """

    signs: Mapping[str, Mapping[str, Mapping[str, int]]]
    errors: tuple[RowError, ...] = ()
    unknown: tuple[str, ...] = ()
    parties: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def read_item_table(name: str, data: bytes) -> FileTable:
    """The table of a CSV or Excel file, with the blanks around the names of columns taken off."""
    table = read_table(name, data)
    header = check_header(name, (column.strip() for column in table.header))
    return FileTable(name, header, table.rows)


def guess_columns(
    table: FileTable, codes: Collection[str], *, positions: bool = False
) -> ItemColumns:
    """What the columns probably hold: codes of the bank, an annotator, and signs.

    `positions`: the signs are those of parties, in one column each or in a row each.

    Raises
    ------
    FileError
        No column holds signs.
    """
    columns = dict(zip(table.header, _by_column(table), strict=True))
    item = _item_column(columns, codes)
    party = leaning = country = annotator = ""
    if positions:
        party = _named(columns, _PARTY_NAMES)
        leaning, country = (_named(columns, (name,)) for name in ("leaning", "country"))
    else:
        annotator = _named(columns, _ANNOTATOR_NAMES)
    others = {
        name: cells
        for name, cells in columns.items()
        if name not in (item, annotator, party, leaning, country)
    }
    signs = tuple(name for name, cells in others.items() if _holds_signs(cells))
    if party:
        named = _named(others, _POSITION_NAMES)
        signs = (named,) if named else signs[:1]
    if not signs:
        raise FileError(
            f"{table.name}: no column holds -1, 0 and 1.",
            "Give the file a column of item codes, and one of -1, 0 or 1 for each "
            f"{'party' if positions else 'domain'}.",
        )
    return ItemColumns(item, signs, annotator, party, leaning, country)


def _by_column(table: FileTable) -> list[tuple[str, ...]]:
    rows = [cells for _, cells in table.rows]
    return [*zip(*rows, strict=True)] or [()] * len(table.header)


def _item_column(columns: Mapping[str, Sequence[str]], codes: Collection[str]) -> str:
    """The column with the most codes of the bank; else by its name; else the first."""
    known = set(codes)
    matches = {name: sum(cell.strip() in known for cell in own) for name, own in columns.items()}
    best = max(matches, key=matches.__getitem__)
    return best if matches[best] else _named(columns, _ITEM_NAMES) or next(iter(columns))


def _named(columns: Collection[str], names: Sequence[str]) -> str:
    """The first column of one of these names, without regard to capital letters."""
    plain = {column.casefold(): column for column in columns}
    return next((plain[name] for name in names if name in plain), "")


def _holds_signs(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum(_sign(c) is not None for c in filled) >= _MIN_SHARE * len(filled)


def _sign(text: str) -> int | None:
    """-1, 0 or 1, also where it is written with decimals; None for any other text."""
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number in (-1, 0, 1) else None


# The signs of the rows, with every fault by line and column.


def read_signs(
    table: FileTable,
    columns: ItemColumns,
    codes: Collection[str] | None,
    *,
    skip_unknown: bool = False,
) -> ItemSigns:
    """The signs in a table.

    Parameters
    ----------
    table : FileTable
        As `read_item_table` gives it.
    columns : ItemColumns
        What its columns hold.
    codes : collection of str, optional
        The items of the bank; None where every code is taken, as for a new bank.
    skip_unknown : bool
        Leave out items that the bank does not have, instead of refusing them.

    Raises
    ------
    FileError
        The table lacks a column.
    """
    missing = [name for name in columns.named if name not in table.header]
    if missing:
        raise FileError(
            f"{table.name}: there is no column '{missing[0]}'.",
            f"Choose among: {', '.join(table.header)}.",
        )
    return _SignReader(table, columns, codes, skip_unknown).read()


def sign_name(column: str, prefix: str) -> str:
    """The domain or party that a column is named after, with _ for blanks."""
    return re.sub(r"\s+", "_", column.strip().removeprefix(prefix))


class _SignReader:
    """Collects the signs of the rows, and their errors."""

    def __init__(
        self,
        table: FileTable,
        columns: ItemColumns,
        codes: Collection[str] | None,
        skip_unknown: bool,
    ) -> None:
        self.table, self.columns = table, columns
        self.codes = None if codes is None else set(codes)
        self.skip_unknown = skip_unknown
        self.errors: list[RowError] = []
        self.unknown: dict[str, None] = {}
        self.signs: dict[str, dict[str, dict[str, int]]] = {}
        self.parties: dict[str, tuple[str, str]] = {}
        self._lines: dict[tuple[str, ...], int] = {}

    def read(self) -> ItemSigns:
        prefix = LOADING if not self.columns.party else PARTY
        names = {column: sign_name(column, prefix) for column in self.columns.signs}
        self._check_names(names)
        for line, texts in self.table.rows:
            cells = {
                name: text.strip() for name, text in zip(self.table.header, texts, strict=True)
            }
            self._row(line, cells, names)
        return ItemSigns(self.signs, tuple(self.errors), tuple(self.unknown), self.parties)

    def _check_names(self, names: Mapping[str, str]) -> None:
        first: dict[str, str] = {}
        for column, name in names.items():
            if self.columns.party:
                continue
            if not name or ANNOTATOR_MARK in name:
                self._fault(1, column, f"a name of a domain has letters, and no {ANNOTATOR_MARK}")
            elif first.setdefault(name, column) != column:
                self._fault(1, column, f"the column '{first[name]}' has the same name")

    def _row(self, line: int, cells: Mapping[str, str], names: Mapping[str, str]) -> None:
        columns = self.columns
        item = self._cell(line, cells, columns.item, "item")
        annotator = self._annotator(line, cells) if columns.annotator else ""
        party = self._party(line, cells) if columns.party else ""
        whole = item and (annotator or not columns.annotator) and (party or not columns.party)
        if not whole or not self._is_known(line, item):
            return
        earlier = self._lines.setdefault((item, annotator, party), line)
        if earlier != line:
            of = " of this annotator" if annotator else " of this party" if party else ""
            self._fault(line, columns.item, f"'{item}'{of} is in line {earlier} already")
            return
        own = self.signs.setdefault(annotator, {}).setdefault(item, {})
        for column, name in names.items():
            if not cells[column]:
                continue
            sign = _sign(cells[column])
            if sign is None:
                self._fault(line, column, f"'{cells[column]}' is not -1, 0 or 1")
            else:
                own[party or name] = sign

    def _cell(self, line: int, cells: Mapping[str, str], column: str, what: str) -> str:
        """The text of a cell that must hold one."""
        if not cells[column]:
            self._fault(line, column, f"the {what} is missing")
        return cells[column]

    def _annotator(self, line: int, cells: Mapping[str, str]) -> str:
        name = self._cell(line, cells, self.columns.annotator, "annotator")
        if ANNOTATOR_MARK in name:
            reason = f"a name of an annotator holds no {ANNOTATOR_MARK}"
            self._fault(line, self.columns.annotator, reason)
            return ""
        return re.sub(r"\s+", "_", name)

    def _is_known(self, line: int, item: str) -> bool:
        if self.codes is None or item in self.codes:
            return True
        self.unknown[item] = None
        if not self.skip_unknown:
            self._fault(line, self.columns.item, f"the bank has no item '{item}'")
        return False

    def _party(self, line: int, cells: Mapping[str, str]) -> str:
        """The party of a row; its leaning and country are the same in all of its rows."""
        columns = self.columns
        party = re.sub(r"\s+", "_", self._cell(line, cells, columns.party, "party"))
        leaning = cells[columns.leaning].lower() if columns.leaning else ""
        leaning = {"center": "centre"}.get(leaning, leaning)
        country = cells[columns.country] if columns.country else ""
        if leaning and leaning not in LEANINGS:
            reason = f"'{leaning}' is not one of {', '.join(LEANINGS)}"
            self._fault(line, columns.leaning, reason)
            return party
        earlier = self.parties.setdefault(party, (leaning, country)) if party else ("", "")
        for column, before, now in zip(
            (columns.leaning, columns.country), earlier, (leaning, country), strict=True
        ):
            if party and before != now:
                self._fault(line, column, f"'{now}', but '{before}' in an earlier row of '{party}'")
        return party

    def _fault(self, line: int, column: str, reason: str) -> None:
        self.errors.append(RowError(line, column, reason))

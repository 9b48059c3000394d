"""A mapping: what the columns of a file of answers are. It is guessed, edited, saved, used again.

In a long file, a row is an answer. In a wide file, a row is a person, and each item has a column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import TypeAdapter, with_config

from core.domain.study import Status
from core.domain.values import STRICT, json_value
from core.errors import FileError
from core.files.answers import TIDY_COLUMNS
from core.files.column_words import says_refused
from core.files.columns import ColumnLabels, TextColumns
from core.files.headers import HeaderRows
from core.files.yaml_files import read_shape, write_yaml

Layout = Literal["long", "wide", "items"]
ColumnsAre = Literal["repetition", "context", "model"]
SamePerson = Literal["refuse", "first", "last", "apart"]
LAYOUTS: Mapping[Layout, str] = {
    "wide": "One row is a person; each item has a column",
    "long": "One row is an answer; a column names the item",
    "items": "One row is an item; each repetition, person or model has a column",
}
COLUMNS_ARE: Mapping[ColumnsAre, str] = {
    "repetition": "repetitions of the same question",
    "context": "people or personas",
    "model": "models",
}
"""What the columns of answers are in a file in which a row is an item."""
ITEM, ANSWER, PERSON, TAG, IGNORE = "item", "answer", "context", "tag", "ignore"
GROUP = "group"
"""A fact about the person, such as the age, by which people can be grouped."""
REPLY, FINISH_REASON = "reply", "finish_reason"
"""A reply in which the answer is still to be read, and the service's word for why it ended."""
_OF_AN_ANSWER = (
    ANSWER,
    "format",
    "raw",
    "status",
    "layer",
    "certainty",
    "hedged",
    "judge",
    "score",
    "call",
    "position",
)
_FILE_COLUMNS = TIDY_COLUMNS[:-1]
ROLES: Mapping[Layout, tuple[str, ...]] = {
    "long": (*_FILE_COLUMNS, REPLY, FINISH_REASON, GROUP, TAG, IGNORE),
    "wide": (*(one for one in _FILE_COLUMNS if one not in _OF_AN_ANSWER), GROUP, TAG, IGNORE),
    "items": (
        *(one for one in _FILE_COLUMNS if one in (ITEM, ANSWER) or one not in _OF_AN_ANSWER),
        TAG,
        IGNORE,
    ),
}
"""What a column may be: a column of the tidy file, a reply, a tag, or nothing that is kept."""
MISSING_STATUSES = tuple(status.value for status in Status if not status.usable)


@with_config(STRICT)
@dataclass(frozen=True)
class NewBank:
    """The bank to make of the items: its title, reverse-keyed items, and items of each subscale."""

    title: str = ""
    reversed: tuple[str, ...] = ()
    subscales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@with_config(STRICT)
@dataclass(frozen=True)
class AnswerMapping:
    """What the columns of a file of answers are.

    `columns` gives the role of each column. `items` gives items another code: of a wide file by
    column, of a long one by the code in the file. `constants` are roles with the same value in all
    answers, such as the model. `options` are the answers with their labels, where the file does
    not say them. `missing` are further values that mean that the answer is missing, each with the
    status. `bank` is the code of a bank, `new_bank` a bank to make of the items. `header` says
    where the names of the columns stand, where that is not to be found by the cells. `same_person`
    says what to do with people who stand in several rows of a wide file, `columns_are` what the
    columns of answers are where a row is an item.
    """

    layout: Layout
    columns: Mapping[str, str]
    items: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    bank: str = ""
    new_bank: NewBank | None = None
    header: HeaderRows | None = None
    same_person: SamePerson = "refuse"
    columns_are: ColumnsAre = "repetition"

    def with_role(self, role: str) -> list[str]:
        """The columns of a role, in the order of the mapping."""
        return [column for column, own in self.columns.items() if own == role]


_MAPPING = TypeAdapter(AnswerMapping)
_EMPTY: Mapping[str, object] = {
    "items": {}, "constants": {}, "options": {}, "missing": {}, "bank": "", "new_bank": None,
    "header": None, "texts": 0, "same_person": "refuse", "columns_are": "repetition",
    "title": "", "reversed": (), "subscales": {},
}  # fmt: skip


def read_mapping(name: str, data: bytes) -> AnswerMapping:
    """The mapping in a YAML file; FileError names the line of a fault."""
    return read_shape(
        _MAPPING, name, data, compare="Compare the file with docs/files.md.", with_line=True
    )


def write_mapping(mapping: AnswerMapping) -> str:
    """The mapping as YAML that `read_mapping` reads back."""
    return write_yaml(json_value(mapping, _EMPTY))


# Faults of a mapping. They are found before a cell is read.


def check_mapping(mapping: AnswerMapping, source: TextColumns) -> None:
    """Raise FileError for the first thing that does not fit together in the mapping or the file."""
    fault = next(_mapping_faults(mapping, source), None)
    if fault is not None:
        problem, remedy = fault
        raise FileError(f"{source.name}, mapping: {problem}.", remedy)


def _mapping_faults(mapping: AnswerMapping, source: TextColumns) -> Iterator[tuple[str, str]]:
    yield from _column_faults(mapping, source)
    groups = mapping.with_role(GROUP)
    if groups and mapping.layout == "long" and not mapping.with_role(PERSON):
        yield (
            f"'{groups[0]}' is a group of people, and no column says who answered",
            "Give the column that identifies people the role context, or make this one a tag.",
        )
    yield from _layout_faults(mapping)
    yield from _item_faults(mapping)
    asked_in = ("format",) if mapping.with_role(REPLY) else ()
    for role in mapping.constants:
        if role not in (*ROLES["wide"], *asked_in) or role in (ITEM, TAG, IGNORE):
            yield f"'{role}' cannot be the same in all answers", "Remove it from constants."
        elif mapping.layout == "items" and role == mapping.columns_are:
            yield (
                f"'{role}' stands under constants, and each column of answers is one",
                "Remove it from constants, or say that the columns are something else.",
            )
        elif mapping.with_role(role):
            column = mapping.with_role(role)[0]
            yield (
                f"'{role}' is the column '{column}' and also stands under constants",
                "Remove one of them.",
            )
    for value, status in mapping.missing.items():
        if status not in MISSING_STATUSES:
            yield (
                f"the missing value '{value}' has the status '{status}'",
                f"Write one of {', '.join(MISSING_STATUSES)}.",
            )
    if mapping.bank and mapping.new_bank is not None:
        yield "it names a bank and describes a new one", "Remove bank or new_bank."


def _column_faults(mapping: AnswerMapping, source: TextColumns) -> Iterator[tuple[str, str]]:
    for column, role in mapping.columns.items():
        if column not in source.columns:
            has = ", ".join(map(repr, source.columns))
            yield (
                f"the file has no column '{column}'; it has {has[:500]}",
                "Use the mapping of this kind of file, or correct the names.",
            )
        if role not in ROLES[mapping.layout]:
            roles = ", ".join(ROLES[mapping.layout])
            yield (
                f"column '{column}' has the role '{role}', which columns of a {mapping.layout} "
                "file do not have",
                f"Choose one of: {roles}.",
            )
    for column in source.columns:
        if column not in mapping.columns:
            yield f"column '{column}' has no role", "Add it, with the role tag or ignore."
    counts = Counter(mapping.columns.values())
    several = {GROUP, TAG, IGNORE, {"wide": ITEM, "items": ANSWER}.get(mapping.layout, TAG)}
    for role, count in counts.items():
        if count > 1 and role not in several:
            names = " and ".join(f"'{column}'" for column in mapping.with_role(role))
            yield f"columns {names} have the same role, {role}", "Leave it to one of them."


def _layout_faults(mapping: AnswerMapping) -> Iterator[tuple[str, str]]:
    if not mapping.with_role(ITEM):
        what = "is an item" if mapping.layout == "wide" else "names the item"
        yield f"no column {what}", "Give at least one column the role item."
    if mapping.layout == "items" and mapping.with_role(mapping.columns_are):
        column = mapping.with_role(mapping.columns_are)[0]
        yield (
            f"the columns of answers are each a {mapping.columns_are}, and so is '{column}'",
            "Give that column another role, or say that the columns of answers are something else.",
        )
    if mapping.layout != "wide" and not (mapping.with_role(ANSWER) or mapping.with_role(REPLY)):
        yield "no column holds the answer", "Give one column the role answer or reply."
    if mapping.with_role(REPLY) and mapping.with_role("raw"):
        yield "columns have the roles raw and reply", "Give the role raw to none; a reply is kept."


def _item_faults(mapping: AnswerMapping) -> Iterator[tuple[str, str]]:
    if mapping.layout != "wide":
        return
    owner: dict[str, str] = {}
    for column in mapping.with_role(ITEM):
        code = mapping.items.get(column, column).strip()
        if not code:
            yield f"the item of column '{column}' has no code", "Type a code."
        if code in owner:
            yield (
                f"columns '{owner[code]}' and '{column}' are both the item '{code}'",
                "Give one of them another code.",
            )
        owner[code] = column
    for column in mapping.items:
        if column not in mapping.with_role(ITEM):
            yield f"'{column}' has the code of an item, but is none", "Remove it from items."


def status_of_missing(labels: ColumnLabels, value: str) -> str:
    """The status of an answer with a missing value: refused if its label, or the word, says so."""
    refused = says_refused(labels.values.get(value, value))
    return Status.REFUSED.value if refused else Status.NO_ANSWER.value

"""A mapping: what the columns of a file of answers are. It is guessed, edited, saved, used again.

In a long file, a row is an answer. In a wide file, a row is a person, and each item has a column.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow.compute as pc
from pydantic import TypeAdapter, with_config

from core.domain.study import Status
from core.domain.values import STRICT, json_value
from core.errors import FileError
from core.files.answers import PERSON_COLUMNS, TIDY_COLUMNS, plain_name
from core.files.columns import ColumnLabels, TextColumns
from core.files.survey_programs import GUESS, KEY_PART, Program, program_of
from core.files.yaml_files import read_shape, write_yaml

Layout = Literal["long", "wide"]
LAYOUTS: Mapping[Layout, str] = {
    "wide": "One row is a person; each item has a column",
    "long": "One row is an answer; a column names the item",
}
ITEM, ANSWER, PERSON, TAG, IGNORE = "item", "answer", "context", "tag", "ignore"
REPLY, FINISH_REASON = "reply", "finish_reason"
"""A reply in which the answer is still to be read, and the service's word for why it ended."""
_OF_AN_ANSWER = (
    ANSWER, "format", "raw", "status", "layer", "certainty", "hedged", "judge", "score", "call",
    "position",
)  # fmt: skip
_FILE_COLUMNS = TIDY_COLUMNS[:-1]
ROLES: Mapping[Layout, tuple[str, ...]] = {
    "long": (*_FILE_COLUMNS, REPLY, FINISH_REASON, TAG, IGNORE),
    "wide": (*(one for one in _FILE_COLUMNS if one not in _OF_AN_ANSWER), TAG, IGNORE),
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
    status. `bank` is the code of a bank, `new_bank` a bank to make of the items.
    """

    layout: Layout
    columns: Mapping[str, str]
    items: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    bank: str = ""
    new_bank: NewBank | None = None

    def with_role(self, role: str) -> list[str]:
        """The columns of a role, in the order of the mapping."""
        return [column for column, own in self.columns.items() if own == role]


_MAPPING = TypeAdapter(AnswerMapping)
_EMPTY: Mapping[str, object] = {
    "items": {}, "constants": {}, "options": {}, "missing": {}, "bank": "", "new_bank": None,
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
    yield from _layout_faults(mapping)
    yield from _item_faults(mapping)
    asked_in = ("format",) if mapping.with_role(REPLY) else ()
    for role in mapping.constants:
        if role not in (*ROLES["wide"], *asked_in) or role in (ITEM, TAG, IGNORE):
            yield f"'{role}' cannot be the same in all answers", "Remove it from constants."
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
    several = {TAG, IGNORE} | ({ITEM} if mapping.layout == "wide" else set())
    for role, count in counts.items():
        if count > 1 and role not in several:
            names = " and ".join(f"'{column}'" for column in mapping.with_role(role))
            yield f"columns {names} have the same role, {role}", "Leave it to one of them."


def _layout_faults(mapping: AnswerMapping) -> Iterator[tuple[str, str]]:
    if not mapping.with_role(ITEM):
        what = "names the item" if mapping.layout == "long" else "is an item"
        yield f"no column {what}", "Give at least one column the role item."
    if mapping.layout == "long" and not (mapping.with_role(ANSWER) or mapping.with_role(REPLY)):
        yield "no column holds the answer", "Give one column the role answer or reply."
    if mapping.with_role(REPLY) and mapping.with_role("raw"):
        yield "columns have the roles raw and reply", "Give the role raw to none; a reply is kept."


def _item_faults(mapping: AnswerMapping) -> Iterator[tuple[str, str]]:
    if mapping.layout == "long":
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


# The guess. Each of its choices can be edited.

_ITEM_NAMES = ("item", "itemcode", "itemid", "question", "questioncode", "questionid", "variable")
_ANSWER_NAMES = ("answer", "answercode", "response", "responsecode", "value", "rating", "choice")
_MORE_PERSON_NAMES = (
    "responseid", "recordid", "caseid", "case", "userid", "pid", "vp", "vpn", "vpcode", "subj",
    "sub", "code", "lfdn",
)  # fmt: skip
_CONTEXT_NAMES = ("context", "persona", "agent", "character", "role", "profile")
_FEATURES = frozenset(
    ("age", "agegroup", "sex", "gender", "education", "income", "country", "region", "weight",
     "duration", "time", "date", "startdate", "enddate", "group", "condition", "wave", "site",
     "index", "row", "number", "nr", "no", "consent", "progress", "finished", "total")
)  # fmt: skip
_WORDS_FOR_MISSING = ("NA", "N/A", "#N/A", "NULL", "NaN", "nan", ".")
_CODES_FOR_MISSING = ("-9", "-8", "-7", "-99", "-98", "-97", "-999", "-1", "99", "98", "88", "999")
_MOST_OPTIONS = 12
_LONGEST_SHOWN = 60  # characters of a cell
_GAP = 2  # a code for a missing answer is not beside the others
_SERIES = re.compile(r"(.*?)[\s_.\-]*\d+[a-zA-Z]?\]?")
_NUMBERED_CODES = re.compile(r"AO?0*(\d+)")  # of answers, as survey programs give them
_REFUSED = re.compile(r"refus|declin|verweiger|rechaz|prefer not", re.IGNORECASE)


def guess_mapping(
    source: TextColumns, layout: Layout | None = None, known_items: Collection[str] = ()
) -> AnswerMapping:
    """The likely mapping of a file: that of the tool which wrote it, or by names and cells.

    Of other files, those are long in which columns name item and answer. `known_items` are codes of
    items of banks: the part of an id that has most of them is the item.
    """
    program = program_of(source)
    if program is not None and layout in (None, "long" if program.is_long else "wide"):
        if program.is_long:
            return _guess_long_program(source, program, known_items)
        return _guess_program(source, program, known_items)
    names = {plain_name(column): column for column in reversed(source.columns)}
    item = next((names[name] for name in _ITEM_NAMES if name in names), "")
    answer = next((names[name] for name in _ANSWER_NAMES if name in names), "")
    if layout == "long" or (item and answer and layout is None):
        return _guess_long(source, names, item, answer)
    return _guess_wide(source, names)


def is_tidy(source: TextColumns) -> bool:
    """Whether the columns are called as in the tidy file, so that no mapping is needed."""
    return ITEM in source.columns and ANSWER in source.columns


def _guess_long(
    source: TextColumns, names: Mapping[str, str], item: str, answer: str
) -> AnswerMapping:
    columns = dict.fromkeys(source.columns, TAG)
    for role in ROLES["long"][:-2]:
        if role in source.columns:
            columns[role] = role
    person = _person(source, names)
    if person and PERSON not in columns.values():
        columns[person] = PERSON
    for column, role in columns.items():
        if role in (ITEM, ANSWER):
            columns[column] = TAG
    columns |= {column: role for column, role in ((item, ITEM), (answer, ANSWER)) if column}
    constants = {} if "model" in columns.values() or not person else {"model": "people"}
    missing = _guess_missing(source, [answer] if answer else [])
    return AnswerMapping("long", columns, constants=constants, missing=missing)


def _guess_wide(source: TextColumns, names: Mapping[str, str]) -> AnswerMapping:
    items = _guess_items(source, source.columns)
    columns = {column: ITEM if column in items else TAG for column in source.columns}
    for role in ROLES["wide"][:-2]:
        if columns.get(role) == TAG and role != ITEM:
            columns[role] = role
    person = _person(source, names)
    if person and PERSON not in columns.values():
        columns[person] = PERSON
    constants = {} if "model" in columns.values() else {"model": "people"}
    return AnswerMapping(
        "wide", columns, constants=constants, missing=_guess_missing(source, items)
    )


def _guess_program(
    source: TextColumns, program: Program, known_items: Collection[str]
) -> AnswerMapping:
    """The mapping of a wide file of a known tool.

    EDSL can ask one question about many scenarios; then each scenario is an item.
    """
    roles = {column: program.role(column) for column in source.columns}
    if program.person_first and PERSON not in roles.values():
        roles[next(iter(roles))] = PERSON
    items = _guess_items(source, [column for column, role in roles.items() if role == GUESS])
    guessed = {column: ITEM if column in items else TAG for column in source.columns}
    columns = _first_of_each(
        source, {column: role or guessed[column] for column, role in roles.items()}
    )
    items = [column for column, role in columns.items() if role == ITEM]
    varied = [one for one in columns if one.startswith("scenario.") and columns[one] == TAG]
    varied = [one for one in varied if len(_values(source, one)) > 1]
    if program.name == "EDSL" and len(items) == 1 and varied:
        parts = _roles_of_parts(source, varied, columns.values(), known_items)
        columns |= {items[0]: ANSWER} | parts
        return AnswerMapping("long", columns, constants=dict(program.constants))
    return AnswerMapping(
        "wide", columns, program.codes(items), dict(program.constants),
        _guess_options(source, items), _guess_missing(source, items),
    )  # fmt: skip


def _first_of_each(source: TextColumns, roles: Mapping[str, str]) -> dict[str, str]:
    """The roles of columns; of several with the same role, the first that is filled has it."""
    taken: set[str] = set()
    columns = dict(roles)
    for column, role in roles.items():
        if role not in (TAG, IGNORE, ITEM):
            n_values = len(_values(source, column))
            varies = n_values > 1 if role == "phase" else n_values > 0
            columns[column] = role if varies and role not in taken else TAG
            taken |= {role} if varies else set()
    return columns


def _guess_long_program(
    source: TextColumns, program: Program, known_items: Collection[str]
) -> AnswerMapping:
    """The mapping of a file of a known tool in which a row is an answer."""
    roles = {column: program.role(column) for column in source.columns}
    if REPLY in roles.values():  # also where all replies are empty
        reply = next(column for column, role in roles.items() if role == REPLY)
        roles |= {
            column: TAG for column, role in roles.items() if role == REPLY and column != reply
        }
    parts = [column for column, role in roles.items() if role == KEY_PART]
    own = {one: role for one, role in roles.items() if role in (PERSON, "repetition")}
    roles |= dict.fromkeys(parts, TAG) | _roles_of_parts(source, parts, own.values(), known_items)
    replies = [column for column, role in roles.items() if role == REPLY]
    columns = _first_of_each(source, roles) | dict.fromkeys(replies, REPLY)
    constants = dict(program.constants)
    return AnswerMapping("long", columns, constants=constants)


def _roles_of_parts(
    source: TextColumns, parts: Sequence[str], taken: Iterable[str], known_items: Collection[str]
) -> dict[str, str]:
    """Which part of the ids and facts of a log is the item, which the person and the repetition.

    The item is the part with most codes of known items, else one that is called so, else the first
    text of an id, else the id itself.
    """
    values = {column: set(_values(source, column)) for column in parts}
    codes = {plain_name(code) for code in known_items}
    hits = {
        column: sum(plain_name(one) in codes for one in values[column])
        / max(len(values[column]), 1)
        for column in parts
    }
    called = {column: plain_name(column.rpartition(".")[2]) for column in parts}
    numbers = [one for one in parts if values[one] and all(v.isdecimal() for v in values[one])]
    of_ids = [one for one in parts if called[one].isdecimal()]
    texts = [one for one in of_ids if one not in numbers and len(values[one]) > 1]
    named = [one for one in parts if called[one] in _ITEM_NAMES]
    best = max(parts, key=lambda one: (hits[one], one not in numbers), default="")
    item = best if hits.get(best) else next(iter((*named, *texts, *parts)), "")
    roles = {item: ITEM} if item else {}
    left = [one for one in parts if one != item and len(values[one]) > 1]
    people = [one for one in left if called[one] in (*PERSON_COLUMNS, *_CONTEXT_NAMES)]
    if item in of_ids:
        people += [one for one in texts if one in left]
        turns = [one for one in of_ids if one in left and one in numbers]
        if "repetition" not in taken and turns:
            roles[turns.pop()] = "repetition"
        people += turns
    if PERSON not in taken and people:
        roles[people[0]] = PERSON
    return roles


def _guess_options(source: TextColumns, items: Sequence[str]) -> dict[str, str]:
    """The options where all answers are codes such as A1 and A2: their numbers."""
    values = {value for column in items for value in _values(source, column)}
    numbered = {value: _NUMBERED_CODES.fullmatch(value) for value in values - {*_WORDS_FOR_MISSING}}
    codes = {match[1]: value for value, match in numbered.items() if match}
    if len(codes) < len(numbered):
        return {}
    return {code: codes[code] for code in sorted(codes, key=int)}


def _person(source: TextColumns, names: Mapping[str, str]) -> str:
    """The column that identifies the person: by a sure name, or another one with distinct values.

    A sure name counts also where a person stands twice, which the import names as a fault.
    """
    sure = [names[name] for name in PERSON_COLUMNS if name in names]
    others = [names[name] for name in _MORE_PERSON_NAMES if name in names]
    likely = [column for column in others if _n_distinct(source, column) == source.n_rows]
    return next(iter((*sure, *likely)), "")


def _n_distinct(source: TextColumns, column: str) -> int:
    return int(pc.count_distinct(source.columns[column]).as_py())


def _guess_items(source: TextColumns, columns: Iterable[str]) -> list[str]:
    """The columns of few answers, those of numbered series if there are any."""
    likely = [column for column in columns if _may_be_item(source, column)]
    series = Counter(match[1] for column in likely if (match := _SERIES.fullmatch(column)))
    numbered = [
        column for column in likely if (match := _SERIES.fullmatch(column)) and series[match[1]] > 1
    ]
    return numbered or likely


def _may_be_item(source: TextColumns, column: str) -> bool:
    name = plain_name(column)
    if name in (*_FEATURES, *PERSON_COLUMNS, *_MORE_PERSON_NAMES) or column in TIDY_COLUMNS:
        return False
    labels = source.labels.get(column, ColumnLabels())
    values = set(_values(source, column)) - labels.missing - {*_WORDS_FOR_MISSING}
    return 1 <= len(values) <= _MOST_OPTIONS


def _values(source: TextColumns, column: str) -> list[str]:
    """The different values of a column that is no longer than the answers of a person are many."""
    texts = pc.unique(source.columns[column]).to_pylist()
    return [text.strip() for text in texts if text.strip()]


def _guess_missing(source: TextColumns, columns: Sequence[str]) -> dict[str, str]:
    """Values that likely mean missing: words for it among numbers, and numbers far from others."""
    missing: dict[str, str] = {}
    for column in columns:
        labels = source.labels.get(column, ColumnLabels())
        values = {*_values(source, column), *labels.values} - labels.missing
        words = values & set(_WORDS_FOR_MISSING)
        read = {text: cell_number(text) for text in values - words}
        numbers = {text: number for text, number in read.items() if number is not None}
        if len(numbers) < len(values - words):
            numbers = {}
        codes = {text for text in numbers if text in _CODES_FOR_MISSING}
        others = [number for text, number in numbers.items() if text not in codes]
        far = {text for text in codes if others and _is_far(numbers[text], others)}
        missing |= {text: status_of_missing(labels, text) for text in sorted(words | far)}
    return missing


def _is_far(number: float, others: Sequence[float]) -> bool:
    return number < min(0, min(others)) or number >= max(others) + _GAP


def cell_number(text: str) -> float | None:
    """The number in a cell; nothing where it holds a text, NaN or infinity."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def status_of_missing(labels: ColumnLabels, value: str) -> str:
    """The status of an answer with a missing value: refused if its label says so."""
    refused = _REFUSED.search(labels.values.get(value, ""))
    return Status.REFUSED.value if refused else Status.NO_ANSWER.value


def column_summary(source: TextColumns, column: str) -> dict[str, Any]:
    """What a page shows of a column: its label, some values with labels, and missing values."""
    labels = source.labels.get(column, ColumnLabels())
    values = _values(source, column)
    valid = sorted((v for v in values if v not in labels.missing), key=_sort_key)
    shown = ", ".join(_with_label(labels, value) for value in valid[:_MOST_OPTIONS])
    return {
        "label": labels.label,
        "values": shown + (", ..." if len(valid) > _MOST_OPTIONS else ""),
        "missing": ", ".join(_with_label(labels, one) for one in sorted(labels.missing)),
        "empty": int(pc.sum(pc.equal(source.columns[column], "")).as_py() or 0),
    }


def _sort_key(text: str) -> tuple[bool, float, str]:
    number = cell_number(text)
    return (number is None, number or 0.0, text)


def _with_label(labels: ColumnLabels, value: str) -> str:
    label = labels.values.get(value, "")
    value = value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…"
    return f"{value} = {label}" if label else value

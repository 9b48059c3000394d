"""The guess of what the columns of a file of answers are, by names, labels and values.

A name alone gives no role: the values must fit it. Each choice can be edited, and
core/files/doubts.py says what to look at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from core.domain.languages import is_language_code
from core.domain.numbers import cell_number
from core.domain.people import PERSON_FACT
from core.domain.study import SETTINGS, Status
from core.files.answers import (
    DECIMALS,
    INTEGERS,
    PERSON_COLUMNS,
    TIDY_COLUMNS,
    are_times,
    plain_name,
)
from core.files.column_words import (
    ANSWER_NAMES,
    CODES_FOR_MISSING,
    CONDITION_NAMES,
    CONTEXT_NAMES,
    FEATURES,
    ITEM_NAMES,
    MORE_PERSON_NAMES,
    PEOPLE_FEATURES,
    RUN_NAME,
    WORDS_FOR_MISSING,
    is_private_name,
    is_private_text,
    says_missing,
)
from core.files.columns import ColumnLabels, TextColumns
from core.files.headers import HeaderRows
from core.files.mapping import (
    ANSWER,
    GROUP,
    IGNORE,
    ITEM,
    PERSON,
    REPLY,
    ROLES,
    TAG,
    AnswerMapping,
    Layout,
    status_of_missing,
)
from core.files.survey_programs import GUESS, KEY_PART, Program, program_of

MOST_OPTIONS = 12
_LOOKED_AT = 1_000  # values by which a column is private or not
_LONGEST_SHOWN = 60  # characters of a cell
_GAP = 2  # a code for a missing answer is not beside the others
_FEW_PER_NAME = 5  # rows of one name; more, of few names, are groups and not people
_FEWEST_LEVELS = 2
_LONGEST_LEVEL = 40  # characters of a level; longer cells are notes
_NEARLY = 0.9  # share of different names among rows, of a column of people
_LONGEST_CODE = 24  # characters of a name that is a code and no text
SERIES = re.compile(r"(.*?)[\s_.\-]*\d+[a-zA-Z]?\]?")
"""A name with a number at its end, such as q_12; the first group is that of the series."""
_DATE = re.compile(r"-?\d{3,6}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}")
_NUMBERED_CODES = re.compile(r"AO?0*(\d+)")  # of answers, as survey programs give them
_OF_WHOLE_FILES = ("study", "instrument")


def guess_mapping(
    source: TextColumns, layout: Layout | None = None, known_items: Collection[str] = ()
) -> AnswerMapping:
    """The likely mapping of a file: that of the tool which wrote it, or by names and cells.

    Of other files, those are long in which columns name item and answer. `known_items` are codes of
    items of banks: the part of an id that has most of them is the item.
    """
    mapping = _guess(source, layout, known_items)
    private = [
        column
        for column, role in mapping.columns.items()
        if role == TAG and is_private(source, column)
    ]
    groups = [] if program_of(source) else _groups(source, mapping, private)
    header = source.header if source.header != HeaderRows() else None
    return replace(
        mapping,
        columns={
            **mapping.columns,
            **dict.fromkeys(private, IGNORE),
            **dict.fromkeys(groups, GROUP),
        },
        header=header,
    )


def _guess(
    source: TextColumns, layout: Layout | None, known_items: Collection[str]
) -> AnswerMapping:
    program = program_of(source)
    if program is not None and layout in (None, "long" if program.is_long else "wide"):
        if program.is_long:
            return _guess_long_program(source, program, known_items)
        return _guess_program(source, program, known_items)
    names = _names_of(source)
    item = next((names[name] for name in ITEM_NAMES if name in names), "")
    answer = next((names[name] for name in ANSWER_NAMES if name in names), "")
    if layout == "long" or (item and answer and layout is None):
        return _guess_long(source, names, item, answer)
    if layout == "items" or (layout is None and _has_runs(source)):
        return _guess_items_in_rows(source)
    return _guess_wide(source, names)


def _groups(source: TextColumns, mapping: AnswerMapping, private: Sequence[str]) -> list[str]:
    """Tags that are facts about people, by their names or few values: the same in all their rows.

    A column with the same value in all rows parts nobody.
    """
    people = mapping.with_role(PERSON)
    if mapping.layout == "items" or (mapping.layout == "long" and not people):
        return []
    found = []
    items = {text for one in mapping.with_role(ITEM) for text in answers_in(source, one)}
    for column, role in mapping.columns.items():
        values = values_of(source, column)
        if role != TAG or column in (*private, *TIDY_COLUMNS) or len(values) < _FEWEST_LEVELS:
            continue
        called = {plain_name(column), plain_name(_label(source, column))}
        is_known = column.startswith(PERSON_FACT) or bool(called & PEOPLE_FEATURES)
        own = answers_in(source, column)
        is_like_items = len(own) > _FEWEST_LEVELS and own <= items
        has_levels = len(values) <= MOST_OPTIONS and not called & FEATURES and not is_like_items
        if is_known or (has_levels and not _are_notes(values)):
            found.append(column)
    if not people or not found:
        return found
    frame = pd.DataFrame({column: _texts(source, column) for column in (*people, *found)})
    same = frame.groupby(people[0], sort=False)[found].nunique().max() <= 1
    return [column for column in found if same[column]]


def _are_notes(values: Sequence[str]) -> bool:
    return any(len(value) > _LONGEST_LEVEL or _DATE.match(value) for value in values)


def _names_of(source: TextColumns) -> dict[str, str]:
    """The columns by their plain names, and by their labels where no column is called so."""
    columns = [*reversed(source.columns)]
    labels = {plain_name(_label(source, column)): column for column in columns}
    return labels | {plain_name(column): column for column in columns}


def _label(source: TextColumns, column: str) -> str:
    return source.labels.get(column, ColumnLabels()).label


def is_tidy(source: TextColumns) -> bool:
    """Whether the columns are called as in the tidy file, so that no mapping is needed.

    A file with people and contexts has two columns of which one only can be the context.
    """
    if not (ITEM in source.columns and ANSWER in source.columns):
        return False
    called = {plain_name(column) for column in source.columns if values_of(source, column)}
    return "context" not in called or not called & (set(PERSON_COLUMNS) - {"id"})


def _guess_long(
    source: TextColumns, names: Mapping[str, str], item: str, answer: str
) -> AnswerMapping:
    n_items = len(values_of(source, item)) if item else 1
    n_units = source.n_rows / max(n_items, 1)
    columns = dict.fromkeys(source.columns, TAG) | _roles_by_name(source, "long")
    person = _person(source, names, n_units)
    columns |= _with_person(columns, person)
    for column, role in columns.items():
        if role in (ITEM, ANSWER):
            columns[column] = TAG
    columns |= {column: role for column, role in ((item, ITEM), (answer, ANSWER)) if column}
    columns |= _conditions(source, columns, [item] if item else [])
    constants = {} if "model" in columns.values() or not person else {"model": "people"}
    missing = guess_missing(source, [answer] if answer else [])
    return AnswerMapping("long", columns, constants=constants, missing=missing)


def _guess_wide(source: TextColumns, names: Mapping[str, str]) -> AnswerMapping:
    items = _guess_items(source, source.columns)
    columns = {column: ITEM if column in items else TAG for column in source.columns}
    columns |= {
        column: role
        for column, role in _roles_by_name(source, "wide").items()
        if columns[column] == TAG and role != ITEM
    }
    columns |= _with_person(columns, _person(source, names, source.n_rows))
    columns |= _conditions(source, columns, [])
    constants = {} if "model" in columns.values() else {"model": "people"}
    return AnswerMapping(
        "wide",
        columns,
        _codes_of_texts(source, items),
        constants,
        missing=guess_missing(source, items),
    )


def _has_runs(source: TextColumns) -> bool:
    """Whether most columns of answers are called like repetitions, beside one that tells rows."""
    items = _guess_items(source, source.columns)
    runs = [column for column in items if RUN_NAME.fullmatch(column.strip())]
    return len(runs) > 1 and len(runs) * 2 > len(items) and _item_column(source, items) != ""


def _item_column(source: TextColumns, answers: Sequence[str]) -> str:
    """The column that names the rows: of those with another value in each, one of texts first."""
    others = [column for column in source.columns if column not in answers]
    single = [c for c in others if len(values_of(source, c)) == source.n_rows > 1]
    texts = [column for column in single if " " in values_of(source, column)[0]]
    named = [column for column in single if plain_name(column) in ITEM_NAMES]
    return next(iter((*named, *texts, *single)), "")


def _guess_items_in_rows(source: TextColumns) -> AnswerMapping:
    """The mapping of a file in which a row is an item and a column a run, a person or a model."""
    answers = _guess_items(source, source.columns)
    item = _item_column(source, answers)
    columns = {column: ANSWER if column in answers else TAG for column in source.columns}
    columns |= {
        column: role
        for column, role in _roles_by_name(source, "items").items()
        if columns[column] == TAG and role not in (ITEM, ANSWER)
    }
    columns |= {item: ITEM} if item else {}
    are_runs = all(RUN_NAME.fullmatch(column.strip()) for column in answers)
    names = values_of(source, item) if item else []
    codes = {name: f"q{number}" for number, name in enumerate(names, start=1)}
    is_text = any(" " in name and len(name) > _LONGEST_CODE for name in names)
    return AnswerMapping(
        "items",
        columns,
        codes if is_text else {},
        missing=guess_missing(source, answers),
        columns_are="repetition" if are_runs else "context",
    )


def _codes_of_texts(source: TextColumns, items: Sequence[str]) -> dict[str, str]:
    """Codes q1, q2, ... for columns that are called by the texts of their questions."""
    if not any(" " in column.strip() and len(column) > _LONGEST_CODE for column in items):
        return {}
    codes = {column: f"q{number}" for number, column in enumerate(items, start=1)}
    return {} if set(codes.values()) & set(source.columns) else codes


def _with_person(columns: Mapping[str, str], person: str) -> dict[str, str]:
    """The person, who takes the role from a column that is called context."""
    if not person:
        return {}
    others = {column: TAG for column, role in columns.items() if role == PERSON}
    return others | {person: PERSON}


# Roles by name, where the values fit.


def _roles_by_name(source: TextColumns, layout: Layout) -> dict[str, str]:
    """Columns that are called like a role and have values of it; people have no settings."""
    roles = [
        role
        for role in ROLES[layout]
        if role in source.columns and role not in (GROUP, TAG, IGNORE)
    ]
    if "model" not in roles:
        roles = [role for role in roles if role not in SETTINGS]
    return {role: role for role in roles if fits_role(role, values_of(source, role))}


def fits_role(role: str, values: Sequence[str]) -> bool:
    """Whether values are those of a role; one that may hold any words fits."""
    if role in _OF_WHOLE_FILES:
        return len(values) <= 1
    if role == "time":
        return are_times(values)
    return all(map(_TESTS.get(role, _is_anything), values))


def _is_anything(_text: str) -> bool:
    return True


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _is_number(text: str) -> bool:
    return cell_number(text) is not None


def _is_status(text: str) -> bool:
    return text in {status.value for status in Status}


_TESTS: Mapping[str, Callable[[str], bool]] = {
    **dict.fromkeys((*INTEGERS, "items_per_call"), _is_whole),
    **dict.fromkeys((*DECIMALS, *SETTINGS), _is_number),
    "language": is_language_code,
    "status": _is_status,
}


def is_private(source: TextColumns, column: str) -> bool:
    """Whether a column holds names, addresses or telephone numbers of people."""
    if is_private_name(column) or is_private_name(_label(source, column)):
        return True
    values = values_of(source, column)[:_LOOKED_AT]
    return bool(values) and sum(map(is_private_text, values)) * 2 > len(values)


# People, and the conditions in which they answered.


def _person(source: TextColumns, names: Mapping[str, str], n_units: float) -> str:
    """The column that identifies the person: of all that are called so, one without repeats first.

    `n_units` is the number of rows, in a long file for each item. A sure name counts also where a
    person stands twice, which is a fault or a condition, but not where few names stand often;
    another name where nearly all are different.
    """
    sure = [names[name] for name in PERSON_COLUMNS if name in names]
    others = [names[name] for name in MORE_PERSON_NAMES if name in names]
    counts = {column: len(values_of(source, column)) for column in (*sure, *others)}
    single = [column for column, count in counts.items() if count == n_units]
    likely = [column for column in sure if not are_groups(counts[column], n_units)]
    likely.sort(key=lambda one: -counts[one])
    likely += [
        column
        for column in others
        if counts[column] > MOST_OPTIONS and _NEARLY * n_units <= counts[column] < n_units
    ]
    return next(iter((*single, *likely)), "")


def are_groups(n_values: int, n_units: float) -> bool:
    """Whether so few values in so many rows are groups rather than people."""
    return n_values <= MOST_OPTIONS and n_units > _FEW_PER_NAME * n_values


def _conditions(
    source: TextColumns, columns: Mapping[str, str], items: Sequence[str]
) -> dict[str, str]:
    """Columns that tell rows of one person apart, with the role that each may have.

    Those of few values are taken, the fewest that are needed, until no two rows are the same.
    """
    key = [*items, *(column for column, role in columns.items() if role in ROLE_KEY)]
    if PERSON not in columns.values():
        return {}
    frame = pd.DataFrame({column: _texts(source, column) for column in key})
    again = int(frame.duplicated().sum())
    if not again:
        return {}
    left = {
        column: _texts(source, column)
        for column, role in columns.items()
        if role == TAG and 1 < len(values_of(source, column)) <= max(MOST_OPTIONS, again + 1)
    }
    found: dict[str, str] = {}
    while again and left:
        tried = {c: int(frame.assign(**{c: own}).duplicated().sum()) for c, own in left.items()}
        best = min(tried, key=lambda column: (tried[column], len(values_of(source, column))))
        role = _condition_role(source, best, {*columns.values(), *found.values()})
        if tried[best] >= again or not role:
            break
        found[best], again = role, tried[best]
        frame[best] = left.pop(best)
    return {} if again else found


ROLE_KEY = (
    PERSON,
    "model",
    "language",
    "entity",
    "entity_b",
    "form",
    "template",
    "label_order",
    "phase",
    "repetition",
)
"""Roles by which two rows of one person differ."""


def _condition_role(source: TextColumns, column: str, taken: Collection[str]) -> str:
    """The role of a column that tells rows apart: by its name, else the first that is free."""
    called = {plain_name(column), plain_name(_label(source, column))}
    named = [role for role, names in CONDITION_NAMES.items() if called & set(names)]
    free = [role for role in (*named, "template", "form", "phase") if role not in taken]
    if not fits_role("repetition", values_of(source, column)):
        free = [role for role in free if role != "repetition"]
    return next(iter(free), "")


def _texts(source: TextColumns, column: str) -> Any:
    return np.array(pc.utf8_trim_whitespace(source.columns[column]).to_pylist(), dtype=object)


# Files of known tools.


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
    varied = [one for one in varied if len(values_of(source, one)) > 1]
    if program.name == "EDSL" and len(items) == 1 and varied:
        parts = _roles_of_parts(source, varied, columns.values(), known_items)
        columns |= {items[0]: ANSWER} | parts
        return AnswerMapping("long", columns, constants=dict(program.constants))
    return AnswerMapping(
        "wide",
        columns,
        program.codes(items),
        dict(program.constants),
        _guess_options(source, items),
        guess_missing(source, items),
    )


def _first_of_each(source: TextColumns, roles: Mapping[str, str]) -> dict[str, str]:
    """The roles of columns; of several with the same role, the first that is filled has it."""
    taken: set[str] = set()
    columns = dict(roles)
    for column, role in roles.items():
        if role not in (TAG, IGNORE, ITEM):
            n_values = len(values_of(source, column))
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
    values = {column: set(values_of(source, column)) for column in parts}
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
    named = [one for one in parts if called[one] in ITEM_NAMES]
    best = max(parts, key=lambda one: (hits[one], one not in numbers), default="")
    item = best if hits.get(best) else next(iter((*named, *texts, *parts)), "")
    roles = {item: ITEM} if item else {}
    left = [one for one in parts if one != item and len(values[one]) > 1]
    people = [one for one in left if called[one] in (*PERSON_COLUMNS, *CONTEXT_NAMES)]
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
    values = {value for column in items for value in values_of(source, column)}
    numbered = {value: _NUMBERED_CODES.fullmatch(value) for value in values - {*WORDS_FOR_MISSING}}
    codes = {match[1]: value for value, match in numbered.items() if match}
    if len(codes) < len(numbered):
        return {}
    return {code: codes[code] for code in sorted(codes, key=int)}


# Items, and values that mean missing.


def _guess_items(source: TextColumns, columns: Iterable[str]) -> list[str]:
    """The columns of few answers: those of numbered series if there are any, else like ones."""
    likely = {column: own for column in columns if (own := answers_in(source, column))}
    series: dict[str, list[str]] = {}
    for column in likely:
        if match := SERIES.fullmatch(column):
            series.setdefault(match[1], []).append(column)
    numbered = {
        column
        for members in series.values()
        if len(members) > 1 and any(len(likely[member]) > 1 for member in members)
        for column in members
    }
    return [column for column in likely if column in numbered] or _like_ones(likely)


def _like_ones(likely: Mapping[str, frozenset[str]]) -> list[str]:
    """The columns that share half of their values with another one; all, where none does."""
    counts = Counter(likely.values())
    kinds = [*counts]
    shared = {
        kind
        for kind in kinds
        if counts[kind] > 1
        or any(2 * len(kind & k) >= min(len(kind), len(k)) for k in kinds if k != kind)
    }
    return [column for column, own in likely.items() if own in shared] or [*likely]


def answers_in(source: TextColumns, column: str) -> frozenset[str]:
    """The answers in a column that may be an item; none in another one.

    Spaces and capital letters make no other answer.
    """
    called = {plain_name(column), plain_name(_label(source, column))}
    if called & {*FEATURES, *PERSON_COLUMNS, *MORE_PERSON_NAMES} or column in TIDY_COLUMNS:
        return frozenset()
    labels = source.labels.get(column, ColumnLabels())
    texts = set(values_of(source, column)) - labels.missing - {*WORDS_FOR_MISSING}
    values = {" ".join(text.split()).casefold() for text in texts if not says_missing(text)}
    if len(values) > MOST_OPTIONS or is_private(source, column):
        return frozenset()
    return frozenset(values)


def values_of(source: TextColumns, column: str) -> list[str]:
    """The different values of a column that is no longer than the answers of a person are many."""
    texts = pc.unique(source.columns[column]).to_pylist()
    return [text.strip() for text in texts if text.strip()]


def guess_missing(source: TextColumns, columns: Sequence[str]) -> dict[str, str]:
    """Values that likely mean missing, with the status.

    They are words for it, values whose labels say so unless they stand within the scale, and
    numbers far from the others.
    """
    missing: dict[str, str] = {}
    for column in columns:
        labels = source.labels.get(column, ColumnLabels())
        values = {*values_of(source, column), *labels.values} - labels.missing
        words = values & set(WORDS_FOR_MISSING)
        words |= {text for text in values - words if says_missing(labels.values.get(text, text))}
        read = {text: cell_number(text) for text in values - words}
        numbers = {text: number for text, number in read.items() if number is not None}
        ends = [*numbers.values()]
        words = {text for text in words if not _is_within(cell_number(text), ends)}
        codes = {text for text in numbers if text in CODES_FOR_MISSING}
        others = [number for text, number in numbers.items() if text not in codes]
        far = {text for text in codes if others and _is_far(numbers[text], others)}
        if len(numbers) < len(read):  # among words a code is none of the answers
            far = set() if others else codes
        missing |= {text: status_of_missing(labels, text) for text in sorted(words | far)}
    return missing


def _is_within(number: float | None, others: Sequence[float]) -> bool:
    return number is not None and len(others) > 0 and min(others) < number < max(others)


def _is_far(number: float, others: Sequence[float]) -> bool:
    return number < min(0, min(others)) or number >= max(others) + _GAP


def column_summary(source: TextColumns, column: str) -> dict[str, Any]:
    """What a page shows of a column: its label, some values with labels, and missing values."""
    labels = source.labels.get(column, ColumnLabels())
    values = values_of(source, column)
    valid = sorted((v for v in values if v not in labels.missing), key=_sort_key)
    shown = ", ".join(_with_label(labels, value) for value in valid[:MOST_OPTIONS])
    return {
        "label": labels.label,
        "values": shown + (", ..." if len(valid) > MOST_OPTIONS else ""),
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

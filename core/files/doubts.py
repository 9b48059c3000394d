"""What to look at in a mapping before answers are imported: what its columns and values leave open.

A guess takes the likely meaning. Each sentence names what was taken, or what was not, and what
speaks against it. The same sentences stand on the page and are printed by the commands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow.compute as pc

from core.domain.numbers import cell_number, count_text
from core.files.answers import PERSON_COLUMNS, plain_name
from core.files.column_words import CONTEXT_NAMES, RUN_NAME, says_missing
from core.files.columns import ColumnLabels, TextColumns
from core.files.guess import (
    MOST_OPTIONS,
    SERIES,
    answers_in,
    are_groups,
    fits_role,
    is_private,
    values_of,
)
from core.files.headers import HeaderRows
from core.files.mapping import (
    ANSWER,
    GROUP,
    IGNORE,
    ITEM,
    PERSON,
    ROLES,
    TAG,
    AnswerMapping,
)
from core.files.same_people import SOLUTIONS, repeated

_RARE = 0.02
_ENDS_OF_SCALES = (4, 5, 6, 7, 10)
_MOST_NAMED = 6
_FEWEST_ROWS = 4  # of a column of texts that may be the items
_SLIDER = range(101)
_WORDS = re.compile(r"[^\W\d_]{2,}\W+[^\W\d_]{2,}")


def doubts(source: TextColumns, mapping: AnswerMapping) -> tuple[str, ...]:
    """Sentences on what was guessed or may be wrong in the mapping of a file, the gravest first."""
    return (
        *_same_people(source, mapping),
        *_rows_of_items(source, mapping),
        *_names_without_values(source, mapping),
        *_conditions(mapping),
        *_unlikely_codes(source, mapping),
        *_labels_taken(source, mapping),
        *_other_items(source, mapping),
        *_sliders(source, mapping),
        *_groups(mapping),
        *_header(source),
        *_left_out(source, mapping),
    )


def _named(columns: Sequence[str]) -> str:
    more = len(columns) - _MOST_NAMED
    shown = ", ".join(f"'{column}'" for column in columns[:_MOST_NAMED])
    return shown + (f" and {count_text(more, 'more')}" if more > 0 else "")


def _same_people(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """People who stand in several rows, and what becomes of them."""
    n_again = int((repeated(source, mapping) > 0).sum())
    if n_again:
        whom = "people with items that" if mapping.layout == "long" else "people who"
        yield (
            f"{count_text(n_again, 'row')} {'repeats' if n_again == 1 else 'repeat'} {whom} "
            "stand further up, under the same conditions. What happens then: "
            f"'{SOLUTIONS[mapping.same_person]}'."
        )


def _rows_of_items(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Columns that are runs of one question rather than items."""
    if mapping.layout != "wide":
        return
    items = mapping.with_role(ITEM)
    runs = [column for column in items if RUN_NAME.fullmatch(column.strip())]
    texts = [
        column
        for column, role in mapping.columns.items()
        if role in (TAG, PERSON)
        and len(values_of(source, column)) == source.n_rows >= _FEWEST_ROWS
        and all(map(_WORDS.search, values_of(source, column)))
    ]
    if runs and len(runs) * 2 > len(items):
        yield (
            f"{_named(runs)} are called like repetitions, and not like items. If each row is an "
            "item and each of these columns a repetition or a respondent, choose 'One row is an "
            "item' above: else repetitions count as items, and alpha is close to 1 whatever the "
            "answers are."
        )
    elif texts and len(items) > 2 and source.n_rows <= len(items) * 2:
        yield (
            f"The column {_named(texts[:1])} has another text in each row. If these are the "
            "items, choose 'One row is an item' above."
        )


def _names_without_values(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Columns called like a role whose values are something else, so that they are tags."""
    for column, role in mapping.columns.items():
        values = values_of(source, column)
        if role not in (TAG, GROUP) or not values:
            continue
        shown = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
        if column in ROLES[mapping.layout] and not fits_role(column, values):
            why = "one file is one study" if column == "study" else f"they are no {column}"
            yield f"'{column}' is kept as a {role}: its values are {shown}, and {why}."
        elif plain_name(column) in (*PERSON_COLUMNS, *CONTEXT_NAMES) and are_groups(
            len(values), source.n_rows
        ):
            yield (
                f"'{column}' is kept as a {role}: it has {count_text(len(values), 'value')} "
                f"({shown}) in {count_text(source.n_rows, 'row')}, like a group and not like "
                "people. Give it the role of the person (context) if they are people."
            )


def _conditions(mapping: AnswerMapping) -> Iterator[str]:
    for column, role in mapping.columns.items():
        if role in ("template", "form", "label_order", "phase") and column != role:
            yield (
                f"'{column}' tells rows of one person apart, so it is taken as a condition (role "
                f"{role})."
            )


def _unlikely_codes(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """A code at the end of the scale that hardly any answer has, and that scales do not have."""
    labels = [source.labels.get(column, ColumnLabels()) for column in answer_columns(mapping)]
    if mapping.options or any(label.values for label in labels):
        return
    counts: Counter[float] = Counter()
    for column in answer_columns(mapping):
        for one in pc.value_counts(source.columns[column]).to_pylist():
            text = one["values"].strip()
            number = None if text in mapping.missing else cell_number(text)
            if number is not None:
                counts[number] += one["counts"]
    if not 2 < len(counts) <= MOST_OPTIONS:
        return
    total = counts.total()
    for code in (min(counts), max(counts)):
        others = [number for number in counts if number != code]
        low, high = min(others), max(others)
        below = code < low and code <= 0 and low in (0, 1)
        above = code > high and high in _ENDS_OF_SCALES and low in (0, 1)
        if (below or above) and counts[code] <= _RARE * total:
            yield (
                f"{code:g} stands {counts[code]:,} times in {total:,} answers; the others are "
                f"{low:g} to {high:g}. If {code:g} means that there is no answer, type "
                f"'{code:g} = no_answer' under Further values that mean missing."
            )


def _labels_taken(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Values taken as missing because of their labels, which the file does not declare."""
    taken: dict[str, str] = {}
    for column in answer_columns(mapping):
        labels = source.labels.get(column, ColumnLabels())
        present = {*values_of(source, column), *labels.values}
        for value in mapping.missing:
            label = labels.values.get(value, "" if cell_number(value) is not None else value)
            if value in present and says_missing(label):
                taken[value] = f"{value} = {label}" if label != value else value
    if taken:
        yield (
            f"Taken as missing by their labels: {', '.join(taken.values())}. Delete a value under "
            "Further values that mean missing if it is an answer."
        )


def _other_items(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Tags that have the answers of the items."""
    if mapping.layout != "wide":
        return
    known = {text for one in mapping.with_role(ITEM) for text in answers_in(source, one)}
    alike = [
        column
        for column, role in mapping.columns.items()
        if role in (TAG, GROUP) and len(own := answers_in(source, column)) > 2 and own <= known
    ]
    if alike:
        yield (
            f"Not taken as items, although their values are those of the items: {_named(alike)}. "
            "Give them the role item if they are."
        )


def _sliders(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Numbered tags with more whole numbers than a rating scale has: answers on a slider."""
    if mapping.layout != "wide":
        return
    series: dict[str, list[str]] = {}
    for column, role in mapping.columns.items():
        if role in (TAG, GROUP) and (match := SERIES.fullmatch(column)):
            numbers = [cell_number(text) for text in values_of(source, column)]
            if len(numbers) > MOST_OPTIONS and all(n in _SLIDER for n in numbers):
                series.setdefault(match[1], []).append(column)
    if columns := [column for found in series.values() if len(found) > 1 for column in found]:
        yield (
            f"Whole numbers from 0 to 100 are not taken as answers by themselves: "
            f"{_named(columns)}. Give them the role item if they are answers on a slider."
        )


def _groups(mapping: AnswerMapping) -> Iterator[str]:
    if groups := mapping.with_role(GROUP):
        yield (
            f"Taken as facts about people, by which they can be grouped: {_named(groups)}. Give a "
            "column the role tag if it is none."
        )


def _header(source: TextColumns) -> Iterator[str]:
    numbers = [column for column in source.columns if cell_number(column) is not None]
    if len(numbers) * 2 > len(source.columns):
        yield (
            f"The names of the columns are numbers: {_named(numbers)}. If the file has no row of "
            "names, choose 0 as the row with the names of the columns."
        )
    if source.header == HeaderRows():
        return
    words = f"The names of the columns are taken from row {source.header.names}"
    if source.header.texts:
        words += f", and the texts of the questions from row {source.header.texts}"
    yield f"{words}."


def _left_out(source: TextColumns, mapping: AnswerMapping) -> Iterator[str]:
    """Columns that are left out, as they identify people, and those that are not."""
    private = [column for column in mapping.columns if is_private(source, column)]
    left = [column for column in private if mapping.columns[column] == IGNORE]
    kept = [column for column in private if mapping.columns[column] != IGNORE]
    if left:
        yield f"Left out, as names and addresses say who people are: {_named(left)}."
    if kept:
        yield (
            f"Names or addresses of people come into the database and into exports: {_named(kept)}."
        )


def answer_columns(mapping: AnswerMapping) -> list[str]:
    """The columns whose cells are answers."""
    return mapping.with_role(ITEM if mapping.layout == "wide" else ANSWER)

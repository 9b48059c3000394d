"""The answers of a file whose columns a mapping names, and the bank that the mapping describes.

A mapping turns the file into the columns of the tidy file, so that all checks of answers are those
of core/files/answers.py. What only the file's own shape can have wrong is checked here: people who
stand twice, answers that no option has, and labels without values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.domain.instrument import (
    Instrument,
    Item,
    Option,
    ResponseFormat,
    Wording,
    whole_number,
)
from core.domain.numbers import cell_number
from core.domain.people import PERSON_FACT, FactKind, PersonFact, code_order
from core.domain.study import Parsed, Status
from core.domain.values import slug
from core.errors import FileError
from core.files.answers import DECIMALS, INTEGERS, TIDY_COLUMNS, one_chunk, tidy_frame
from core.files.columns import ColumnLabels, TextColumns, large_text
from core.files.headers import own_texts
from core.files.items_in_rows import made_long
from core.files.mapping import (
    ANSWER,
    FINISH_REASON,
    GROUP,
    IGNORE,
    ITEM,
    PERSON,
    REPLY,
    TAG,
    AnswerMapping,
    NewBank,
    check_mapping,
    status_of_missing,
)
from core.files.parts import PART_ROWS, slices
from core.files.same_people import solved
from core.files.tables import MAX_ROWS_TIDY

_NO_LABELS = ColumnLabels()
_FACTS = ("word", "rank")  # columns of the tidy file that say something of an item
_ANSWER_PARTS = ("answer", "status", "raw")
_READ: Mapping[str, Callable[[Parsed], str]] = {
    "answer": lambda one: one.option or "",
    "status": lambda one: one.status.value,
    "layer": lambda one: one.layer.value,
    "certainty": lambda one: one.certainty.value,
    "hedged": lambda one: "yes" if one.hedged else "no",
}
"""Columns that a reply fills."""
_MOST_FILLED = 30  # whole numbers between the lowest and highest answer that become options
_MOST_OPTIONS = 101  # of an item, as a slider from 0 to 100 has; more are no answers to choose from
_DECIMAL = re.compile(r"([+-]?)0*(\d+)(?:[.,](\d*?)0*)?")
ReplyReader = Callable[[str, ResponseFormat, str, str, str], Parsed]
"""Reads a reply: its text, response format, language, code of the item, and why it ended."""


@dataclass(frozen=True)
class _Reading:
    """What a cell comes to: the code of an option, or a status and the words for the reason."""

    answer: str
    status: str = ""
    raw: str = ""


@dataclass(frozen=True, eq=False)
class _Question:
    """A column of answers: its cells, what the file says of it, and the items that it asks."""

    column: str
    texts: Any
    labels: ColumnLabels
    values: tuple[str, ...]  # the different cells
    readings: Mapping[str, _Reading]  # by cell

    @property
    def answers(self) -> set[str]:
        """The codes that stand in the column."""
        return {self.readings[value].answer for value in self.values} - {""}


class Frames(Protocol):
    """Gives the answers of a file as tidy frames; without `check`, they are known to be sound."""

    def __call__(self, *, check: bool) -> Iterator[pd.DataFrame]:
        """The frames, one part of the file after the other."""


@dataclass(frozen=True, eq=False)
class MappedAnswers:
    """The answers of a file as tidy frames, and the bank that its mapping describes, if it does.

    Each call of `frames` reads them anew, one part of the file after the other. Their rows are
    numbered through the file. `is_divided`: there are several.
    """

    frames: Frames
    bank: Instrument | None
    is_divided: bool = False

    @property
    def frame(self) -> pd.DataFrame:
        """All answers as one frame."""
        return pd.concat(list(self.frames(check=True)))


def map_answers(
    source: TextColumns,
    mapping: AnswerMapping,
    known: Sequence[ResponseFormat] = (),
    read_reply: ReplyReader | None = None,
) -> MappedAnswers:
    """The answers of the columns of a file by a mapping; see `map_parts`."""
    return map_parts(source, lambda: iter((source,)), mapping, known, read_reply)


def map_parts(
    whole: TextColumns | None,
    parts: Callable[[], Iterator[TextColumns]],
    mapping: AnswerMapping,
    known: Sequence[ResponseFormat] = (),
    read_reply: ReplyReader | None = None,
) -> MappedAnswers:
    """The answers of the parts of a file by a mapping.

    `whole` are all columns, None where the file does not fit into memory. `known` are the response
    formats of the bank on file, if one is chosen: cells may hold the codes or the labels of their
    options, and nothing else. `read_reply` reads the answers in a column of replies; without it,
    they have the status no_answer.

    Raises
    ------
    FileError
        The mapping does not fit the file, a person stands twice, an answer is no option, or (from
        `frames`) the answers have any fault of `tidy_frame`; names line and column.
    """
    first = whole or next(parts())
    check_mapping(mapping, first)
    if not first.n_rows:
        raise FileError(
            f"{first.name} has no rows below its header.", "Choose a file with answers."
        )
    if mapping.layout == "items" and whole is not None:
        long, turned = made_long(whole, mapping)
        mapped = _map_long(lambda: slices(long, PART_ROWS), turned, known, read_reply)
        return replace(mapped, is_divided=long.n_rows > PART_ROWS)
    if mapping.layout != "long":
        if whole is None:
            raise FileError(
                f"{first.name}: a file of several answers a row may have {MAX_ROWS_TIDY:,} rows.",
                "Split the file.",
            )
        return _map_wide(solved(whole, mapping), mapping, known)
    one_each = solved(whole, mapping) if whole is not None else None
    if one_each is not None and one_each is not whole:
        of_people = one_each  # a row left out shifts those after it: the parts are cut anew
        return _map_long(lambda: slices(of_people, PART_ROWS), mapping, known, read_reply)
    return _map_long(parts, mapping, known, read_reply)


def _map_wide(
    source: TextColumns, mapping: AnswerMapping, known: Sequence[ResponseFormat]
) -> MappedAnswers:
    labels = _codes_of_labels(known)
    questions = [_question(source, mapping, column, labels) for column in _answer_columns(mapping)]
    _refuse_unknown(source, mapping, questions, known)
    formats = {}
    if mapping.new_bank is not None:
        for question in questions:
            _refuse_no_options(source, question, *_options(question, mapping, questions))
        formats = _formats(source.name, mapping, questions)
    people = max(PART_ROWS // len(questions), 1)
    read = {part: [_read_texts(one, part) for one in questions] for part in _ANSWER_PARTS}

    def frames(*, check: bool) -> Iterator[pd.DataFrame]:
        for start in range(0, source.n_rows, people):
            n_rows = min(people, source.n_rows - start)
            own = range(start, start + n_rows)
            tidy = _wide(source, mapping, questions, read, formats, own)
            frame = tidy_frame(tidy, person="", check=check)
            yield _numbered(frame, start * len(questions))

    bank = None
    if mapping.new_bank is not None:
        texts = _texts_of_items(mapping, questions)
        bank = _new_bank(source.name, mapping, mapping.new_bank, formats, texts)
    return MappedAnswers(frames, bank, source.n_rows > people)


def _map_long(
    parts: Callable[[], Iterator[TextColumns]],
    mapping: AnswerMapping,
    known: Sequence[ResponseFormat],
    read_reply: ReplyReader | None,
) -> MappedAnswers:
    labels = _codes_of_labels(known)
    (column,) = _answer_columns(mapping)
    bank, formats = None, {}
    if mapping.new_bank is not None:
        values: dict[str, None] = {}
        texts: dict[str, str] = {}
        for part in parts():
            values |= dict.fromkeys(_question(part, mapping, column, labels).values)
            items = pc.unique(part.columns[mapping.with_role(ITEM)[0]]).to_pylist()
            texts |= {_item_code(mapping, item): _text_of(mapping, item) for item in items}
        whole = _question(next(parts()), mapping, column, labels, tuple(values))
        for part in parts():
            question = _question(part, mapping, column, labels)
            _refuse_no_options(part, question, *_options(whole, mapping, [whole]))
        formats = _formats(next(parts()).name, mapping, [whole])
        bank = _new_bank(next(parts()).name, mapping, mapping.new_bank, formats, texts)

    def frames(*, check: bool) -> Iterator[pd.DataFrame]:
        start = 0
        for part in parts():
            question = _question(part, mapping, column, labels)
            _refuse_unknown(part, mapping, [question], known)
            tidy = _long(part, mapping, question, formats)
            if mapping.with_role(REPLY):
                own = [*known] or [*formats.values()]
                tidy = _with_read_replies(tidy, mapping, own, read_reply)
            yield _numbered(tidy_frame(tidy, person="", check=check), start)
            start += part.n_rows

    return MappedAnswers(frames, bank)


def _numbered(frame: pd.DataFrame, start: int) -> pd.DataFrame:
    """The frame with its rows numbered from `start`."""
    frame.index = pd.RangeIndex(start, start + len(frame))
    return frame


def _texts_of_items(mapping: AnswerMapping, questions: Sequence[_Question]) -> dict[str, str]:
    """The text of each item by its code: the label of the column, or its name if it is a text."""
    texts = {
        _item_code(mapping, one.column): one.labels.label or _text_of(mapping, one.column)
        for one in questions
    }
    return own_texts(texts)


def _text_of(mapping: AnswerMapping, name: str) -> str:
    """The name of an item in the file, where it is a text that has a code of its own."""
    return name if " " in name.strip() and _item_code(mapping, name) != name else ""


def _item_code(mapping: AnswerMapping, name: str) -> str:
    """The code of an item by its name in the file."""
    return mapping.items.get(name, name).strip()


def _answer_columns(mapping: AnswerMapping) -> list[str]:
    """The columns whose cells are answers; the replies, where a long file has nothing else."""
    if mapping.layout == "wide":
        return mapping.with_role(ITEM)
    return mapping.with_role(ANSWER) or mapping.with_role(REPLY)


# Cells: a number, a word that an option has as its label, or a value that means missing.


def _codes_of_labels(known: Sequence[ResponseFormat]) -> dict[str, str]:
    """The codes of options on file by the words that stand for them: labels and the codes."""
    options = [option for one in known for option in one.options]
    words = {text: option.code for option in options for text in option.labels.values()}
    words |= {option.code: option.code for option in options}
    return {folded(word): code for word, code in words.items()}


def _question(
    source: TextColumns,
    mapping: AnswerMapping,
    column: str,
    known: Mapping[str, str],
    values: tuple[str, ...] | None = None,
) -> _Question:
    """A column of answers; `values` are its different cells, where `source` is only a part."""
    texts = source.columns[column]
    if mapping.columns[column] == REPLY:
        texts = pa.repeat(large_text(""), source.n_rows)
    labels = source.labels.get(column, _NO_LABELS)
    if values is None:
        values = tuple(pc.unique(texts).to_pylist())
    codes: dict[str, str] = {}
    typed = {_plain(code.strip()): label for code, label in mapping.options.items()}
    if not mapping.options and not known:  # labels of the file may stand in another order
        codes |= {folded(label): code for code, label in labels.values.items()}
    codes |= known
    codes |= {folded(label): code for code, label in typed.items()}
    codes |= {code.casefold(): code for code in typed}
    readings = {value: _reading(value, labels, mapping.missing, codes) for value in values}
    return _Question(column, texts, labels, values, readings)


def _refuse_unknown(
    source: TextColumns,
    mapping: AnswerMapping,
    questions: Sequence[_Question],
    known: Sequence[ResponseFormat],
) -> None:
    """Raise FileError for the first answer that no option of the bank on file has."""
    codes = {option.code: "" for one in known for option in one.options}
    if codes and not mapping.with_role("format") and "format" not in mapping.constants:
        for question in questions:
            _refuse_no_options(source, question, codes, True)


def _reading(
    cell: str, labels: ColumnLabels, missing: Mapping[str, str], codes: Mapping[str, str]
) -> _Reading:
    text = cell.strip()
    if not text:
        return _Reading("", Status.NO_ANSWER.value)
    number = _plain(text)
    for value in (text, number, " ".join(text.split())):
        if value in missing or value in labels.missing:
            status = missing.get(value) or status_of_missing(labels, value)
            label = labels.values.get(value, "")
            return _Reading("", status, f"{value} ({label})" if label else value)
    return _Reading(codes.get(folded(text), codes.get(number.casefold(), number)))


def folded(label: str) -> str:
    """A label without what the eye does not see: capital letters, and spaces of every kind."""
    return " ".join(label.split()).casefold()


def _plain(text: str) -> str:
    """A number as a code: 4.0 and 04 become 4; any other text stays as it is."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return text
    sign = "-" if match[1] == "-" and (int(match[2]) or match[3]) else ""
    return sign + match[2] + (f".{match[3]}" if match[3] else "")


# The tidy columns.


def _wide(
    source: TextColumns,
    mapping: AnswerMapping,
    questions: Sequence[_Question],
    read: Mapping[str, Sequence[Any]],
    formats: Mapping[str, ResponseFormat],
    people: range,
) -> TextColumns:
    """A row for each item and each of these people, person by person.

    `read` is what the cells of each question come to, by the column of the tidy file.
    """
    n_items, n_people, start = len(questions), len(people), people.start
    rows = np.repeat(np.arange(n_people), n_items)
    asked = np.tile(np.arange(n_items), n_people)
    places = pa.array(asked * n_people + rows)

    def spread(arrays: list[Any]) -> Any:
        return pa.concat_arrays(arrays).take(places)

    codes = [_item_code(mapping, one.column) for one in questions]
    columns = {
        ITEM: pa.array(codes, pa.large_string()).take(pa.array(asked)),
        **{
            part: spread([_sliced(texts, people) for texts in columns_of_part])
            for part, columns_of_part in read.items()
        },
    }
    if formats:
        names = [formats[one.column].code for one in questions]
        columns["format"] = pa.array(names, pa.large_string()).take(pa.array(asked))
    part = replace(
        source,
        columns={column: _sliced(texts, people) for column, texts in source.columns.items()},
    )
    others = _other_columns(part, mapping, n_people)
    if PERSON not in others and PERSON not in mapping.constants:
        width = len(str(source.n_rows))
        numbered = [f"p{number + 1:0{width}d}" for number in people]
        others[PERSON] = pa.array(numbered, pa.large_string())
    at = pa.array(rows)
    columns |= {name: texts.take(at) for name, texts in others.items()}
    names_of = {role: column for column, role in mapping.columns.items() if role != ITEM}

    def column_at(column: str, index: int) -> str:
        own = questions[index % n_items].column
        return own if column in (ITEM, ANSWER, "status") else names_of.get(column, column)

    return TextColumns(
        source.name,
        columns,
        len(rows),
        lambda index: source.place(start + index // n_items),
        column_at=column_at,
    )


def _sliced(texts: Any, people: range) -> Any:
    return texts.slice(people.start, len(people))


def _long(
    source: TextColumns,
    mapping: AnswerMapping,
    question: _Question,
    formats: Mapping[str, ResponseFormat],
) -> TextColumns:
    """The rows as they are; a missing value is a status, unless the file has one."""
    columns = _other_columns(source, mapping, source.n_rows)
    items = source.columns[mapping.with_role(ITEM)[0]]
    columns[ITEM] = _replaced(items, lambda code: _item_code(mapping, code))
    for part in _ANSWER_PARTS:
        read = _read_texts(question, part)
        own = columns.get(part)
        columns[part] = read if own is None else pc.if_else(pc.equal(own, ""), read, own)
    if mapping.with_role(REPLY):
        columns["raw"] = source.columns[mapping.with_role(REPLY)[0]]
        blank = pc.equal(columns["answer"], "")
        own = _other_columns(source, mapping, source.n_rows).get("status", large_text(""))
        columns["status"] = pc.if_else(blank, own, columns["status"])
    if formats:
        code = formats[question.column].code
        columns["format"] = pa.repeat(large_text(code), source.n_rows)
    names_of = {role: column for column, role in mapping.columns.items()}
    return TextColumns(
        source.name,
        columns,
        source.n_rows,
        source.place,
        column_at=lambda column, _: names_of.get(column, column),
    )


def _with_read_replies(
    tidy: TextColumns,
    mapping: AnswerMapping,
    formats: Sequence[ResponseFormat],
    read_reply: ReplyReader | None,
) -> TextColumns:
    """The rows with the answers that their replies hold, where they have no answer of their own.

    Each different reply to an item is read once, and how it was read is kept.
    """
    formats = [one for one in formats if one.options]
    if read_reply is None:
        unread = pc.if_else(
            pc.and_(pc.equal(tidy.columns["answer"], ""), pc.equal(tidy.columns["status"], "")),
            Status.NO_ANSWER.value,
            tidy.columns["status"],
        )
        return replace(tidy, columns={**tidy.columns, "status": unread})
    if not formats:
        raise FileError(
            f"{tidy.name}, column {mapping.with_role(REPLY)[0]}: the answers in the replies are "
            "read by the options of a bank, and none is chosen.",
            "Choose a bank with the items, or type in the answers with their labels, such as "
            "1 = Disagree (in a mapping: bank, or options and new_bank).",
        )
    by_code = {one.code: one for one in formats}
    names = ("raw", "format", "language", ITEM, FINISH_REASON)
    asked = pd.DataFrame({name: _series(tidy, name) for name in names})
    parts = {name: _series(tidy, name).to_numpy(object) for name in _READ}
    rows = np.flatnonzero((parts["answer"] == "") & (parts["status"] == ""))
    different = asked.iloc[rows].groupby([*names], sort=False).ngroup().to_numpy()
    readings = [
        read_reply(raw, by_code.get(code, formats[0]), *others)
        for raw, code, *others in asked.iloc[rows].drop_duplicates().to_numpy(object)
    ]
    for name, of in _READ.items():
        texts = np.array([of(one) for one in readings], object)
        parts[name][rows] = texts[different]
    read = {name: pa.array(texts, pa.large_string()) for name, texts in parts.items()}
    return replace(tidy, columns={**tidy.columns, **read})


def _series(source: TextColumns, column: str) -> pd.Series[str]:
    """A column, or one of empty cells."""
    texts = source.columns.get(column, pa.repeat(large_text(""), source.n_rows))
    return pd.Series(texts, dtype="str")


def _read_texts(question: _Question, part: str) -> Any:
    """A part of what each cell of a column comes to."""
    return _replaced(question.texts, lambda cell: getattr(question.readings[cell], part))


def _replaced(texts: Any, change: Callable[[str], str]) -> Any:
    """The column with each different text changed once."""
    coded = one_chunk(texts).dictionary_encode()
    changed = pa.array([change(text) for text in coded.dictionary.to_pylist()], pa.large_string())
    return changed.take(coded.indices)


def _other_columns(source: TextColumns, mapping: AnswerMapping, n_rows: int) -> dict[str, Any]:
    """Columns that are neither items nor answers, by role or name; labels in the place of codes."""
    columns = {role: pa.repeat(large_text(one), n_rows) for role, one in mapping.constants.items()}
    for column, role in mapping.columns.items():
        if role in (ITEM, ANSWER, REPLY, IGNORE):
            continue
        texts = source.columns[column]
        keeps_codes = role in (PERSON, *INTEGERS, *DECIMALS)
        shown = _labels_in_place_of_codes(source, column, keeps_codes=keeps_codes)
        name = _tag_name(column) if role == TAG else role
        if role == GROUP:
            name = PERSON_FACT + column.removeprefix(PERSON_FACT)
        columns[name] = _replaced(texts, _in_place_of(shown))
        if role == "language":
            columns[name] = _replaced(columns[name], _small_language)
        if role == "repetition" and pc.any(pc.equal(texts, "0")).as_py():
            columns[name] = _replaced(texts, _one_more)
    return columns


def _labels_in_place_of_codes(
    source: TextColumns, column: str, *, keeps_codes: bool = False
) -> dict[str, str]:
    """The label of each code of a column, and "" for those that mean missing."""
    labels = source.labels.get(column, _NO_LABELS)
    keeps_codes = keeps_codes or _is_slider(source.columns[column], labels)
    shown = {} if keeps_codes else dict(labels.values)
    return shown | dict.fromkeys(labels.missing, "")


def labelled_facts(source: TextColumns, mapping: AnswerMapping) -> tuple[PersonFact, ...]:
    """The facts about people whose values have labels, with these in the order of their codes.

    A fact is ordered where the file says that it is ordinal, else a category.
    """
    facts = []
    for column in mapping.with_role(GROUP):
        shown = _labels_in_place_of_codes(source, column)
        if any(shown.values()):
            codes = {*shown, *pc.unique(source.columns[column]).to_pylist()} - {""}
            levels = [shown.get(code, code) for code in sorted(codes, key=code_order)]
            name = column.removeprefix(PERSON_FACT)
            kind: FactKind = "ordered" if source.labels[column].is_ordinal else "category"
            facts.append(PersonFact(name, kind, tuple(dict.fromkeys(filter(None, levels)))))
    return tuple(facts)


def _is_slider(texts: Any, labels: ColumnLabels) -> bool:
    """Whether most values are numbers without a label, as between the labelled ends of a slider."""
    if not labels.values:
        return False
    values = {text for text in pc.unique(texts).to_pylist() if text} - labels.missing
    numbers = [text for text in values - labels.values.keys() if cell_number(text) is not None]
    return len(numbers) > len(values & labels.values.keys())


def _small_language(code: str) -> str:
    """A language such as EN in small letters, as banks have it."""
    return code.lower() if re.fullmatch("[A-Z]{2,3}", code) else code


def _one_more(number: str) -> str:
    """The next number, where a file counts repetitions from 0; other texts stay."""
    return str(int(number) + 1) if re.fullmatch("[0-9]{1,9}", number) else number


def _in_place_of(shown: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: shown.get(text, text)


def _tag_name(column: str) -> str:
    """The name of a tag: not that of a column with a meaning of its own."""
    return f"tag_{column}" if column in (*TIDY_COLUMNS, *_FACTS) else column


# The bank of a mapping: options from labels, texts from the labels of columns, keys as typed in.


def _formats(
    name: str, mapping: AnswerMapping, questions: Sequence[_Question]
) -> dict[str, ResponseFormat]:
    """The response format of each column; columns with equal options have one."""
    language = mapping.constants.get("language") or "en"
    made: dict[tuple[tuple[str, str], ...], ResponseFormat] = {}
    formats = {}
    for question in questions:
        codes, _ = _options(question, mapping, questions)
        if len(question.answers) > _MOST_OPTIONS:
            raise FileError(
                f"{name}, column {question.column}: there are {len(question.answers):,} "
                f"different answers; at most {_MOST_OPTIONS} can be options of an item.",
                "Give the column the role tag or ignore.",
            )
        key = tuple(codes.items())
        if key not in made:
            options = tuple(_option(code, label, language) for code, label in key)
            same = sum(len(one.options) == len(options) for one in made.values())
            code = f"options_{len(options)}" + (f"_{same + 1}" if same else "")
            made[key] = ResponseFormat(code, options)
        formats[question.column] = made[key]
    return formats


def _options(
    question: _Question, mapping: AnswerMapping, questions: Sequence[_Question]
) -> tuple[dict[str, str], bool]:
    """The options of a column by code, with their labels, and whether they have labels.

    Columns without labels share the answers that stand in any of them.
    """
    labels = _labels_of(question, mapping)
    if labels:
        return _with_numbers_between(labels, closed=True), True
    answers = {a for one in questions if not _labels_of(one, mapping) for a in one.answers}
    return _with_numbers_between(dict.fromkeys(answers, ""), closed=False), False


def _labels_of(question: _Question, mapping: AnswerMapping) -> dict[str, str]:
    """The answers with labels: as typed in, else as the file says, without values for missing."""
    if mapping.options:
        return {_plain(code.strip()): label for code, label in mapping.options.items()}
    missing = question.labels.missing | set(mapping.missing)
    return {code: label for code, label in question.labels.values.items() if code not in missing}


def _with_numbers_between(labels: Mapping[str, str], *, closed: bool) -> dict[str, str]:
    """The codes in order, with the whole numbers between the lowest and the highest one."""
    numbers = {code: cell_number(code) for code in labels}
    if not labels or any(number is None for number in numbers.values()):
        return dict(labels) if closed else dict(sorted(labels.items()))
    ends = [number for number in numbers.values() if number is not None]
    low, high = min(ends), max(ends)
    between: dict[str, str] = {}
    is_slider = len(labels) == 2 or len(labels) > _MOST_FILLED
    most = _MOST_OPTIONS - 1 if is_slider else _MOST_FILLED
    if all(number.is_integer() for number in ends) and high - low <= most:
        between = {str(number): "" for number in range(int(low), int(high) + 1)}
    codes = between | dict(labels)
    return {code: codes[code] for code in sorted(codes, key=float)}


def _option(code: str, label: str, language: str) -> Option:
    number = cell_number(code)
    points = None if number is None else whole_number(number)
    return Option(code, points, {language: label} if label else {})


def _refuse_no_options(
    source: TextColumns, question: _Question, codes: Mapping[str, str], typed: bool
) -> None:
    """Raise FileError for the first answer that no option has, or that is a word without value."""
    for value in question.values:
        answer = question.readings[value].answer
        if not answer or (answer in codes and (typed or cell_number(answer) is not None)):
            continue
        row = int(pc.index(question.texts, value=value).as_py())
        column = source.column_at(question.column, row)
        where = f"{source.name}, {source.place(row)}, column {column}"
        if not typed:
            raise FileError(
                f"{where}: '{answer[:60]}' is a label without a value, so it has no points.",
                "Type in the answers with their labels, such as 1 = Disagree (in a mapping: "
                "options), or give the column the role tag or ignore.",
            )
        shown = ", ".join(codes)
        raise FileError(
            f"{where}: '{answer[:60]}' is none of the answers {shown[:200]}.",
            "Correct the cell, add the value to those that mean missing, or change the options or "
            "the bank.",
        )


def _new_bank(
    name: str,
    mapping: AnswerMapping,
    made: NewBank,
    formats: Mapping[str, ResponseFormat],
    texts: Mapping[str, str],
) -> Instrument:
    """The bank that a mapping describes; `texts` are those of its items by code."""
    language = mapping.constants.get("language") or "en"
    codes = list(texts)
    subscales = {code: one for one, items in made.subscales.items() for code in items}
    named = [("reversed", code) for code in made.reversed]
    named += [
        (f"subscale '{subscale}'", code)
        for subscale, items in made.subscales.items()
        for code in items
    ]
    for where, code in named:
        if code not in codes:
            raise FileError(
                f"{name}, mapping: {where} names '{code}', which is no item of the file.",
                f"The items are: {', '.join(codes)[:500]}.",
            )
    title = made.title.strip() or Path(name).name.split(".")[0]
    items = tuple(
        Item(
            code,
            (Wording(language, texts[code]),) if texts.get(code) else (),
            subscales.get(code, ""),
            -1 if code in made.reversed else 1,
        )
        for code in codes
    )
    own = tuple({one.code: one for one in formats.values()}.values())
    return Instrument(
        slug(title), title, items, own, (language,), description="Made from imported answers."
    )

"""The tidy response file: one answer a row, read, checked and written without loss."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.domain.study import SETTINGS, USUAL_CALLS, Certainty, Layer, Status
from core.errors import FileError
from core.files.columns import TextColumns, Texts, large_text, readable_column
from core.files.tables import MAX_CELL_CHARACTERS
from core.files.writing import csv_fault, csv_line

# The columns of the file, as Arrow text.

_REQUIRED = ("item", "answer")
INTEGERS = ("repetition", "position", "tokens_in", "tokens_out")
DECIMALS = ("score", "latency_s", "cost")
TIDY_COLUMNS = (
    "study",
    "instrument",
    "item",
    "model",
    "language",
    "entity",
    "entity_b",
    "context",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "repetition",
    "call",
    "position",
    "answer",
    "raw",
    "status",
    "layer",
    "certainty",
    "hedged",
    "judge",
    "score",
    "latency_s",
    "tokens_in",
    "tokens_out",
    "cost",
    "time",
    "tags",
)
"""Columns of the frame. `tags` is JSON of the file's other columns that hold something, or ""."""
KEY = TIDY_COLUMNS[: TIDY_COLUMNS.index("repetition") + 1]
"""The key of a row: the item and its conditions."""

_FILE_COLUMNS = TIDY_COLUMNS[:-1]
_READINGS: Mapping[str, tuple[str, ...]] = {
    "layer": tuple(layer.value for layer in Layer),
    "certainty": tuple(certainty.value for certainty in Certainty),
    "hedged": ("yes", "no"),
}
"""Columns that say how a reply was read, with their values; the column judge names one more."""
_LATER_COLUMNS = (*_READINGS, "judge")
"""Columns whose names earlier imports kept as tags."""
PERSON_COLUMNS = (
    "respondentid",
    "participantid",
    "subjectid",
    "personid",
    "respondent",
    "participant",
    "subject",
    "person",
    "id",
)
"""Names of columns that identify the respondent, the surest first, without case and separators."""


def _enclose(before: str, texts: Any, after: str) -> Any:
    """Every text between `before` and `after`."""
    return pc.binary_join_element_wise(large_text(before), texts, large_text(after), large_text(""))


def one_chunk(column: Any) -> Any:
    """The column as one array, which can be encoded as a dictionary with its indices."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


# Answers by name: where a question asks for one of two entities, files hold the chosen name. The
# store has the option instead, so that the same choice has one code whatever the names are.

_NAMING = "name_entity"
"""The format whose options are the two entities."""
_CODES = ("entity", "entity_b")
_COLUMNS = ("format", "answer", *_CODES)


def _names_to_codes(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers with the code of the option in place of the entity's name."""
    return _replaced(frame, to_names=False)


def _codes_to_names(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers with the entity's name in place of the code of the option."""
    return _replaced(frame, to_names=True)


def _replaced(frame: pd.DataFrame, *, to_names: bool) -> pd.DataFrame:
    if not set(_COLUMNS).issubset(frame.columns):
        return frame
    rows = (frame["format"] == _NAMING).fillna(False).to_numpy(bool)
    if not rows.any():
        return frame
    first, second = (_texts(frame[column]) for column in _CODES)
    # only two different names identify the chosen one
    rows = rows & (first != second) & (first != "") & (second != "")
    answers = _texts(frame["answer"])
    replaced = answers.copy()
    for code, name in zip(_CODES, (first, second), strict=True):
        chosen = rows & (answers == (code if to_names else name))
        replaced[chosen] = name[chosen] if to_names else code
    return frame.assign(answer=pd.Series(replaced, index=frame.index, dtype="str"))


def _texts(column: pd.Series[Any]) -> np.ndarray[Any, Any]:
    return column.astype("str").fillna("").to_numpy(object)


# Faults of rows, and the error that names the first one.

_UNUSABLE_STATUSES = tuple(status.value for status in Status if not status.usable)
_STATUSES = tuple(status.value for status in Status)
_OTHER_MEANING = "; give the column another name if it says something else"
_TIME = r"\A[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.,]+ ?(Z|[+-][0-9:]+)?)?)?\z"


@dataclass(frozen=True, eq=False)
class Fault:
    """The rows with a fault in a column, and the reason for one of them."""

    column: str
    rows: np.ndarray[Any, np.dtype[np.bool_]]
    reason: Callable[[int], str]


def are_times(texts: Sequence[str]) -> bool:
    """Whether texts are times of ISO 8601, as the column `time` has them."""
    return not _time_fault(pd.Series(texts, dtype="str")).rows.any()


def _time_fault(times: pd.Series[str]) -> Fault:
    """Rows whose time is not one of the forms of ISO 8601."""
    filled = times != ""
    formed = times.str.fullmatch(_TIME)
    parsed = pd.to_datetime(times.where(formed), format="ISO8601", errors="coerce", utc=True)
    return Fault(
        "time",
        (filled & parsed.isna()).to_numpy(bool),
        lambda i: f"{_quoted(times[i])} is not a time such as 2025-03-31T14:05:00Z",
    )


def _answer_faults(frame: pd.DataFrame) -> Iterator[Fault]:
    """Rows without an item, and rows whose answer and status contradict each other."""
    item, answer, status = frame["item"], frame["answer"], frame["status"]
    yield Fault("item", (item.str.strip() == "").to_numpy(bool), lambda _: "the item is missing")
    unknown = (status != "") & ~status.isin(_STATUSES)
    yield Fault(
        "status",
        unknown.to_numpy(bool),
        lambda i: f"{_quoted(status[i])} is not one of {', '.join(_STATUSES)}",
    )
    unusable = status.isin(_UNUSABLE_STATUSES)
    # texts and ratings stand in the reply; whether the format has no options is seen with its bank
    in_reply = (status != "") & (frame["raw"] != "") & (frame["format"] != "")
    yield Fault(
        "answer",
        ((answer == "") & ~unusable & ~unknown & ~in_reply).to_numpy(bool),
        lambda _: (
            f"the answer is empty, but the status is not one of {', '.join(_UNUSABLE_STATUSES)}"
        ),
    )
    yield Fault(
        "status",
        ((answer != "") & unusable).to_numpy(bool),
        lambda i: f"'{status[i]}' contradicts the answer {_quoted(answer[i])}",
    )


def _reading_faults(frame: pd.DataFrame) -> Iterator[Fault]:
    """Rows that say in unknown words how the reply was read, or name a judge of other answers."""
    for column, known in _READINGS.items():
        yield _unknown_words(column, frame[column], known)
    judge = frame["judge"]
    yield Fault(
        "judge",
        ((judge != "") & (frame["layer"] != Layer.JUDGE.value)).to_numpy(bool),
        lambda i: f"{_quoted(judge[i])} is named, but the layer is not judge{_OTHER_MEANING}",
    )


def _unknown_words(column: str, texts: pd.Series[str], known: tuple[str, ...]) -> Fault:
    return Fault(
        column,
        ((texts != "") & ~texts.isin(known)).to_numpy(bool),
        lambda i: f"{_quoted(texts[i])} is not one of {', '.join(known)}{_OTHER_MEANING}",
    )


def _repeated_rows(source: TextColumns, frame: pd.DataFrame) -> list[Fault]:
    """Rows that answer the same item under the same conditions as an earlier one."""
    if frame.empty:
        return []
    varied = [column for column in KEY if (frame[column] != frame[column].iloc[0]).any()]
    again = frame.duplicated(varied or ["item"]).to_numpy(bool)

    def reason(index: int) -> str:
        same = np.logical_and.reduce([frame[c] == frame[c].iloc[index] for c in KEY])
        return (
            f"{_quoted(frame['item'].iloc[index])} has an answer under the same conditions in "
            f"{source.place(int(same.argmax()))} already"
        )

    return [Fault("item", again, reason)] if again.any() else []


# What a file says of its words: two of the other columns, which stay tags of the answers.

WORD, RANK = "word", "rank"
_HIGHEST_RANK = 2**31 - 1  # what a whole number of the database holds
_WORD_KEY = ("instrument", "item", "language")
_RANK_KEY = ("instrument", "item")


def _word_faults(source: TextColumns, frame: pd.DataFrame) -> Iterator[Fault]:
    """Ranks that are no whole numbers, and words and ranks that contradict an earlier row."""
    if RANK in source.columns:
        ranks = _series(source.columns[RANK]).str.strip()
        wrong = (ranks != "") & ~ranks.str.fullmatch("[0-9]{1,10}")
        wrong |= pd.to_numeric(ranks.where(~wrong, ""), errors="coerce").gt(_HIGHEST_RANK)
        yield Fault(
            RANK,
            wrong.to_numpy(bool),
            lambda i: (
                f"{_quoted(ranks[i])} is not a whole number from 0 up (at most {_HIGHEST_RANK:,})"
            ),
        )
        yield _contradictions(source, frame, RANK, ranks, _RANK_KEY)
    if WORD in source.columns:
        words = _series(source.columns[WORD]).str.strip()
        yield _contradictions(source, frame, WORD, words, _WORD_KEY)


def _contradictions(
    source: TextColumns,
    frame: pd.DataFrame,
    column: str,
    values: pd.Series[str],
    key: tuple[str, ...],
) -> Fault:
    """Rows whose filled cell differs from that of the first filled row with the same key."""
    filled = values != ""
    known = frame.loc[filled, list(key)].assign(value=values[filled])
    first = known.groupby(list(key), sort=False)["value"].transform("first")
    differ = (known["value"] != first).reindex(frame.index, fill_value=False).to_numpy(bool)

    def reason(index: int) -> str:
        same = (known[list(key)] == frame.loc[index, list(key)]).all(axis=1)
        row = int(known.index[same][0])
        return (
            f"{_quoted(values[index])} is not the {column} of item "
            f"{_quoted(str(frame['item'][index]))} in {source.place(row)}, {_quoted(values[row])}; "
            "give the column another name if it is no fact about the item"
        )

    return Fault(column, differ, reason)


def row_hashes(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray[Any, Any]:
    """A hash of 64 bits of some columns of each row: that of `pd.util.hash_pandas_object`.

    Columns that the file does not have are hashed once, and not row by row.
    """
    absent = set(frame.attrs.get(ABSENT, ())) - {"status"}
    combined = np.full(len(frame), 0x345678, dtype=np.uint64)
    factor = np.uint64(1_000_003)
    for place, column in enumerate(columns):
        known = frame[column].iloc[:1] if column in absent else frame[column]
        combined ^= pd.util.hash_pandas_object(known, index=False).to_numpy()
        combined *= factor
        factor += np.uint64(82_520 + 2 * (len(columns) - place))
    return combined + np.uint64(97_531)


def different_rows(
    frame: pd.DataFrame, columns: Sequence[str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The first row of each different combination of some columns, in order of appearance.

    Returns
    -------
    The numbers of these rows, and for each row of the frame the place of its combination.
    """
    _, first, codes = np.unique(row_hashes(frame, columns), return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return first[order], places[codes]


def tags_of(frame: pd.DataFrame) -> set[str]:
    """The names of the tags that a row has."""
    tags = frame["tags"]
    if not (tags != "").any():
        return set()
    if (names := frame.attrs.get(TAGS)) is not None:
        return set(names)
    return {tag for text in tags.unique() for tag in json.loads(text or "{}")}


def tags_of_words(frame: pd.DataFrame) -> pd.Series[str] | None:
    """The tags `word` and `rank` of each row as JSON; None where no row has one."""
    if not tags_of(frame) & {WORD, RANK}:
        return None
    different = {
        text: json.dumps({k: v for k, v in json.loads(text or "{}").items() if k in (WORD, RANK)})
        for text in frame["tags"].unique()
    }
    return frame["tags"].map(different)


def words_of(frame: pd.DataFrame) -> pd.DataFrame:
    """What a file says of its items: a row for each item and language with a word or a rank.

    Parameters
    ----------
    frame : frame of `tidy_frame`
        Its words and ranks stand among the tags.

    Returns
    -------
    Frame of item, language, word ("" for none) and rank (Int64, NA for none).
    """
    known = frame[["item", "language", "tags"]].drop_duplicates()
    known = known[known["tags"].str.contains(f'"(?:{WORD}|{RANK})": ', regex=True)]
    tags = [json.loads(text) for text in known["tags"]]
    ranks = [str(one.get(RANK, "")).strip() for one in tags]
    words = known[["item", "language"]].assign(
        word=[str(one.get(WORD, "")).strip() for one in tags],
        rank=pd.array([int(rank) if rank else None for rank in ranks], dtype="Int64"),
    )
    return words[(words["word"] != "") | words["rank"].notna()].reset_index(drop=True)


def _first_fault(source: TextColumns, faults: list[Fault]) -> FileError:
    """The error that names the first wrong row and counts the others."""
    first = min(faults, key=lambda fault: int(fault.rows.argmax()))
    index = int(first.rows.argmax())
    others = int(np.logical_or.reduce([fault.rows for fault in faults]).sum()) - 1
    more = f" {others:,} more rows have errors." if others else ""
    column = source.column_at(first.column, index)
    where = f"{source.name}, {source.place(index)}, column {column}"
    return FileError(
        f"{where}: {first.reason(index)}.{more}",
        "Nothing was imported. Correct the file and choose it again.",
    )


def _quoted(text: str) -> str:
    """The text in quotation marks, cut where it is long."""
    return f"'{text}'" if len(text) <= 60 else f"'{text[:60]}…'"


# Writing: the columns and the bytes of a file.

_RISKY_PATTERN = r"\A([=+\-@\t\r'])"


def _columns_to_write(frame: pd.DataFrame) -> Texts:
    """Arrow columns of text and numbers that are required or not empty."""
    columns: Texts = {}
    for column in (name for name in _FILE_COLUMNS if name in frame.columns):
        if column in INTEGERS or column in DECIMALS:
            numbers = _number_array(frame[column], whole=column in INTEGERS)
            if numbers.null_count < len(numbers):
                columns[column] = numbers
        else:
            texts = _text_array(frame[column])
            if column in _REQUIRED or pc.any(pc.not_equal(texts, "")).as_py():
                columns[column] = texts
    return columns | _tag_columns(frame)


def _number_array(column: pd.Series[Any], *, whole: bool) -> Any:
    numbers = column.astype("Int64") if whole else column.astype("float64")
    return one_chunk(pa.array(numbers, from_pandas=True))


def _text_array(column: pd.Series[Any]) -> Any:
    texts = pa.array(column.astype("str"), from_pandas=True)
    return pc.fill_null(pc.cast(one_chunk(texts), pa.large_string()), "")


def _tag_columns(frame: pd.DataFrame) -> Texts:
    if "tags" not in frame.columns:
        return {}
    coded = _text_array(frame["tags"]).dictionary_encode()
    rows = [json.loads(text) if text else {} for text in coded.dictionary.to_pylist()]
    names = sorted({name for row in rows for name in row})
    if clash := (set(names) & set(_FILE_COLUMNS)) - _free_factors(frame) - set(_LATER_COLUMNS):
        raise ValueError(f"tags named like columns: {clash}")
    columns = {
        name: pa.array([_tag_text(row.get(name)) for row in rows], pa.large_string()).take(
            coded.indices
        )
        for name in names
    }
    return {_tag_name(name, columns): column for name, column in columns.items()}


def _tag_name(name: str, taken: Collection[str]) -> str:
    """The column of a tag; one that earlier imports named like a later column has another name."""
    if name not in _LATER_COLUMNS:
        return name
    while name in _LATER_COLUMNS or name in taken:
        name = f"tag_{name}"
    return name


def _free_factors(frame: pd.DataFrame) -> set[str]:
    """The later factors that no row has: answers brought in before may have tags of these names."""
    return {name for name in USUAL_CALLS if name not in frame or (frame[name] == "").all()}


def _tag_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _csv_bytes(columns: Texts) -> bytes:
    """The columns as UTF-8 CSV; FileError where a text cannot stand in one."""
    header = csv_line(columns).encode("utf-8")
    cells = [_csv_cells(name, column) for name, column in columns.items()]
    n_rows = len(cells[0])
    if not n_rows:
        return header
    lines = pc.binary_join_element_wise(*cells, large_text(","))
    whole = pc.binary_join(pa.LargeListArray.from_arrays([0, n_rows], lines), large_text("\n"))
    return b"".join((header, whole[0].as_buffer().to_pybytes(), b"\n"))


def _csv_cells(name: str, column: Any) -> Any:
    """The cells of one column as they stand in the file."""
    if not pa.types.is_large_string(column.type):
        return pc.fill_null(pc.cast(column, pa.large_string()), "")
    column = readable_column(column)
    impossible = pc.greater(pc.utf8_length(column), MAX_CELL_CHARACTERS)
    if (row := pc.index(impossible, value=True).as_py()) >= 0:
        raise FileError(
            f"Row {row + 1}, column {name}: {csv_fault(column[row].as_py())} cannot be in a CSV "
            "file.",
            "Choose Parquet instead.",
        )
    guarded = pc.replace_substring_regex(column, _RISKY_PATTERN, r"'\1")
    quotable = pc.match_substring_regex(guarded, '[,;\t"\r\n]')
    if not pc.any(quotable).as_py():
        return guarded
    doubled = pc.replace_substring(guarded, '"', '""')
    return pc.if_else(quotable, _enclose('"', doubled, '"'), guarded)


# Reading and writing a file. Files may hold a million rows, so columns are read, checked and
# written as a whole. Only the line of a fault needs a pass over the rows of a CSV file.

CONTEXT_FROM = "context_from"
"""Attribute of a frame: the file's name of the column that became the context."""

TAGS = "tags"
"""Attribute of a frame: the file's columns that became tags."""
ABSENT = "absent"
"""Attribute of a frame: columns that the file does not have, with the same value in each row."""

_NUMBER = r"\A[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\z"
_LARGEST = 2**31 - 1  # what a whole number of the database holds
_LOWEST = {
    "repetition": ("a whole number from 1 up", 1),
    "position": ("a whole number", -_LARGEST),
    "tokens_in": ("a whole number from 0 up", 0),
    "tokens_out": ("a whole number from 0 up", 0),
}
_NOT_NEGATIVE = ("latency_s", "cost")


def tidy_frame(
    source: TextColumns, *, person: str | None = None, check: bool = True
) -> pd.DataFrame:
    """The answers of columns that are called as in the tidy file, in the columns TIDY_COLUMNS.

    Missing text is "", a missing number NaN or NA. A missing repetition is 1; a missing status of
    an answer is "answered". In the format name_entity, an answer that names the row's entity or
    entity_b becomes the code of that option. `person` is the column that is taken as the context;
    "": none; None: in a file without contexts, one that identifies the respondent. Its name is the
    frame's attribute CONTEXT_FROM. The columns `word` and `rank`, facts about an item, are checked
    and stay among the tags; see `words_of`. Without `check`, the rows are known to be sound.

    Raises
    ------
    FileError
        A row has any fault; names the file, line, column and reason. Nothing is imported.
    """
    if person is None:
        person = person_column(source)
    if person:
        others = {c: texts for c, texts in source.columns.items() if c not in (person, "context")}
        source = replace(source, columns={**others, "context": source.columns[person]})
    frame, faults = _frame(source)
    if check:
        faults += [*_answer_faults(frame), *_reading_faults(frame), *_word_faults(source, frame)]
        faults = [fault for fault in faults if fault.rows.any()]
        faults += _repeated_rows(source, frame) if not faults else []
        if faults:
            raise _first_fault(source, faults)
    frame = _names_to_codes(frame)
    frame.attrs[CONTEXT_FROM] = person
    frame.attrs[ABSENT] = tuple(name for name in _FILE_COLUMNS if name not in source.columns)
    own = set(source.columns) - set(_FILE_COLUMNS)
    frame.attrs[TAGS] = tuple(sorted(name for name in own if _filled(source.columns[name])))
    return frame


def write_tidy(frame: pd.DataFrame, fmt: Literal["csv", "parquet"]) -> bytes:
    """The answers as a file that `tidy_frame` gives back; equal frames give equal bytes.

    A column is written if it is required or holds something; tags become columns again, and
    answers in the format name_entity the names of what was chosen. In CSV, text that a spreadsheet
    could take for a formula is guarded.
    """
    columns = _columns_to_write(_codes_to_names(frame))
    if fmt == "csv":
        return _csv_bytes(columns)
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, compression="zstd")
    return written.getvalue()


def _frame(source: TextColumns) -> tuple[pd.DataFrame, list[Fault]]:
    """The columns TIDY_COLUMNS, and the faults of numbers and times."""
    missing = [column for column in _REQUIRED if column not in source.columns]
    if missing:
        raise FileError(
            f"{source.name}: there is no column {' and no column '.join(map(repr, missing))}; "
            f"the file has {', '.join(map(repr, source.columns))}.",
            "Give every column a role, on the page Import and export or with --mapping.",
        )
    measured = {name for name in SETTINGS if not _is_setting(source.columns.get(name))}
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    blank = _series(pa.repeat(large_text(""), source.n_rows))
    for column in _FILE_COLUMNS:
        texts = source.columns.get(column)
        if column in measured:
            columns[column] = blank
        elif column in INTEGERS or column in DECIMALS:
            columns[column], fault = _numbers(column, texts, source.n_rows)
            faults.append(fault)
        else:
            columns[column] = blank if texts is None else _series(texts)
    unstated = (columns["status"] == "") & (columns["answer"] != "")
    columns["status"] = columns["status"].mask(unstated, Status.ANSWERED.value)
    columns["tags"] = _series(_tags(source, measured))
    if "time" in source.columns:
        faults.append(_time_fault(columns["time"]))
    return pd.DataFrame(columns), faults


def person_column(source: TextColumns) -> str:
    """The column that identifies the respondent, in a file without contexts; empty: there is none.

    A column `id` with a different value in every row numbers the rows, unless there is one item.
    """
    if _filled(source.columns.get("context")) or "item" not in source.columns:
        return ""
    known = {plain_name(name): name for name in source.columns}
    for plain in PERSON_COLUMNS:
        name = known.get(plain, "")
        texts = source.columns.get(name)
        if not _filled(texts) or name in _FILE_COLUMNS:
            continue
        numbers_rows = plain == "id" and pc.count_distinct(texts).as_py() == source.n_rows
        if not numbers_rows or pc.count_distinct(source.columns["item"]).as_py() == 1:
            return name
    return ""


def plain_name(column: str) -> str:
    """The name of a column without case and separators."""
    return re.sub(r"[\s_.-]", "", column.casefold())


def _filled(texts: Any) -> bool:
    return texts is not None and bool(pc.any(pc.not_equal(texts, "")).as_py())


def _series(texts: Any) -> pd.Series[str]:
    return pd.Series(texts, dtype="str")


def _numbers(column: str, texts: Any, n_rows: int) -> tuple[pd.Series[Any], Fault]:
    """A column of numbers, where the file has it, and the rows that hold something else."""
    if texts is None:
        kind = "int64" if column == "repetition" else "Int64" if column in INTEGERS else "float64"
        missing = 1 if column == "repetition" else None
        nothing = pd.Series(missing, index=pd.RangeIndex(n_rows), dtype=kind)
        return nothing, Fault(column, np.zeros(n_rows, bool), str)
    trimmed = pc.utf8_trim_whitespace(texts)
    formed = pc.match_substring_regex(trimmed, _NUMBER)
    readable = pc.if_else(formed, pc.utf8_ltrim(trimmed, "+"), None)
    values = np.asarray(pc.cast(readable, pa.float64()).to_numpy(zero_copy_only=False))
    filled = pc.not_equal(trimmed, "").to_numpy(zero_copy_only=False)
    kind = "a number such as 0.5"
    wrong = filled & ~np.isfinite(values)
    numbers = pd.Series(values)
    if column in _NOT_NEGATIVE:
        kind = "a number from 0 up, such as 0.5"
        wrong |= filled & (values < 0)
    if column in INTEGERS:
        kind, lowest = _LOWEST[column]
        kind += f" (at most {_LARGEST:,})"
        inside = (values >= lowest) & (values <= _LARGEST) & (np.floor(values) == values)
        wrong = filled & ~inside
        numbers = pd.Series(np.where(inside, values, np.nan)).astype("Int64")
    if column == "repetition":
        numbers = numbers.fillna(1).astype("int64")
    return numbers, Fault(column, wrong, lambda i: f"{_quoted(texts[i].as_py())} is not {kind}")


_MOST_SETTINGS = 20


def _is_setting(texts: Any) -> bool:
    """Whether a column holds a setting of calls: a few numbers, and not what was measured."""
    if texts is None:
        return False
    levels = pc.utf8_trim_whitespace(pc.unique(one_chunk(texts)))
    numbers = pc.match_substring_regex(levels.filter(pc.not_equal(levels, "")), _NUMBER)
    return len(levels) <= _MOST_SETTINGS and all(numbers.to_pylist())


def _tags(source: TextColumns, measured: Set[str]) -> Any:
    """JSON of the filled cells in all other columns and in `measured`; "" where a row has none."""
    pieces = []
    for name in sorted(set(source.columns) - (set(_FILE_COLUMNS) - measured)):
        coded = one_chunk(source.columns[name]).dictionary_encode()
        texts = [
            json.dumps({name: text}, ensure_ascii=False)[1:-1] + ", " if text else ""
            for text in coded.dictionary.to_pylist()
        ]
        pieces.append(pa.array(texts, pa.large_string()).take(coded.indices))
    if not pieces:
        return pa.repeat(large_text(""), source.n_rows)
    # not null_handling="skip", which leaves out rows that are null throughout
    inside = pc.binary_join_element_wise(*pieces, large_text(""))
    inside = pc.replace_substring_regex(inside, r", \z", "")
    return pc.if_else(pc.equal(inside, ""), large_text(""), _enclose("{", inside, "}"))

"""A file of answers before it is kept: its rows part by part, and what they hold as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core import progress
from core.collect.replies import reader
from core.domain.instrument import Instrument, ResponseFormat
from core.domain.numbers import count_text
from core.domain.people import NO_FACTS, PersonFact
from core.domain.reply_bodies import end_of_reply
from core.domain.study import CONTENT_FILTER, REFUSAL, Certainty, Parsed, Status
from core.errors import FileError
from core.files import answers, people
from core.files.column_words import is_private_name
from core.files.mapped_answers import Frames, ReplyReader, labelled_facts, map_parts
from core.files.mapping import AnswerMapping
from core.files.parts import AnswerParts, Source, answer_parts

USABLE = tuple(status.value for status in Status if status.usable)
SHOWN_ROWS = 10
CHECKED = "rows checked"
"""What progress counts while a file is read; what is saved is counted after it."""
_CELL = (
    "study",
    "instrument",
    "item",
    "model",
    "language",
    "form",
    "format",
    "answer",
    "score",
    "status",
    "layer",
    "certainty",
)
"""Columns whose combinations are few and decide on banks, options and scores."""


@dataclass(frozen=True, eq=False)
class AnswerFile:
    """A file of answers: its tidy frames, read anew each time, and the bank its mapping describes.

    `person` is the column that is taken as the context, if there is one. A file that `is_divided`
    has several frames. Rows of two of them `may_repeat` each other, unless a frame has all answers
    of a person. `facts` are those about people whose levels the file has in order.
    """

    name: str
    parts: AnswerParts
    frames: Frames
    person: str
    described: Instrument | None
    reads_replies: bool
    is_divided: bool
    may_repeat: bool = True
    facts: tuple[PersonFact, ...] = ()


@dataclass(frozen=True, eq=False)
class FileContents:
    """What the rows of a file of answers hold.

    `cells` has a row for each combination of the columns that decide on banks, options and scores,
    with `count` and `usable`, the numbers of rows and of those with an answer. Its index is the
    number of the first such row in the file, from 0. `contexts` has the different contexts of each
    study and instrument. `tags` are the columns that Inkblot does not know, with a cell filled.
    `people` has the facts about people; see `core.files.people.facts_of`.
    """

    cells: pd.DataFrame
    contexts: pd.DataFrame
    tags: tuple[str, ...]
    first_rows: pd.DataFrame
    filled: frozenset[str]
    n_rows: int
    people: pd.DataFrame


def open_answers(
    name: str, source: Source, mapping: AnswerMapping | None, bank: Instrument | None
) -> AnswerFile:
    """A file of answers, by a mapping or with columns called as in the tidy file.

    `bank` is the bank on file that the mapping names.
    """
    parts = answer_parts(name, source, mapping.header if mapping else None)
    if mapping is None:
        person = answers.person_column(parts.whole or parts.first())

        def frames(*, check: bool) -> Iterator[pd.DataFrame]:
            start = 0
            for part in parts.read():
                own = check or parts.whole is None  # the file may have changed since
                frame = answers.tidy_frame(part, person=person, check=own)
                frame.index = pd.RangeIndex(start, start + len(frame))
                yield frame
                start += len(frame)

        return AnswerFile(name, parts, frames, person, None, False, parts.is_divided)
    known = bank.formats if bank else ()
    mapped = map_parts(parts.whole, parts.read, mapping, known, _reply_reader(bank))
    is_long = mapping.layout == "long"
    is_divided = parts.is_divided if is_long else mapped.is_divided
    reads_replies = bool(mapping.with_role("reply"))
    return AnswerFile(
        name,
        parts,
        mapped.frames,
        "",
        mapped.bank,
        reads_replies,
        is_divided,
        may_repeat=is_long,
        facts=labelled_facts(parts.whole or parts.first(), mapping),
    )


def _reply_reader(bank: Instrument | None) -> ReplyReader:
    """Reads the replies of a file as replies to our own questions are read."""
    items = {item.code: item for item in bank.items} if bank else {}
    spoken = bank.languages[0] if bank else "en"

    def read(
        text: str, response_format: ResponseFormat, language: str, item: str, finish_reason: str
    ) -> Parsed:
        end = end_of_reply(finish_reason)
        if end in (CONTENT_FILTER, REFUSAL):
            return Parsed(Status.REFUSED, None)
        asked = items[item].text(language or spoken) if item in items else ""
        return reader.parse(
            text, response_format, language or spoken, item=asked, finish_reason=end
        )

    return read


def kept_in_memory(file: AnswerFile) -> AnswerFile:
    """The file with its frame in memory, where it is one; larger ones are read anew each time."""
    if file.is_divided:
        return file
    (only,) = file.frames(check=True)
    return replace(file, frames=lambda *, check: iter((only,)))


def contents(file: AnswerFile) -> FileContents:
    """Read every row of a file, checked, and say what they hold.

    Raises
    ------
    FileError
        A row is faulty, or has the conditions of an earlier one.
    """
    cells: list[pd.DataFrame] = []
    contexts: list[pd.DataFrame] = []
    hashes: list[np.ndarray[Any, Any]] = []
    facts: list[pd.DataFrame] = []
    tags: set[str] = set()
    filled: set[str] = set()
    first_rows: pd.DataFrame | None = None
    n_rows = 0
    for frame in file.frames(check=True):
        progress.step(n_rows, max(file.parts.n_rows, n_rows), CHECKED)
        cells.append(_cells(frame))
        contexts.append(frame[["study", "instrument", "context"]].drop_duplicates())
        facts.append(people.facts_of(frame))
        frame = people.without_facts(frame)
        tags |= answers.tags_of(frame)
        filled |= {
            name for name in frame.columns if name not in filled and _has_values(frame[name])
        }
        if first_rows is None:
            first_rows = frame.head(SHOWN_ROWS)
        if file.is_divided and file.may_repeat:
            hashes.append(answers.row_hashes(frame, answers.KEY))
        n_rows += len(frame)
    if first_rows is None or not n_rows:
        raise FileError(f"{file.name} has no rows below its header.", "Choose a file with answers.")
    _refuse_repeated(file, hashes)
    together = pd.concat(cells)
    if len(cells) > 1:
        sums = together.groupby([*_CELL, "tags"], sort=False, dropna=False)
        counts = sums[["count", "usable"]].transform("sum")
        again = together.duplicated([*_CELL, "tags"])
        together = together.assign(**counts)[~again]
    return FileContents(
        together,
        pd.concat(contexts).drop_duplicates(),
        tuple(sorted(tags)),
        first_rows,
        frozenset(filled),
        n_rows,
        _facts_of_all(file, facts),
    )


def _facts_of_all(file: AnswerFile, parts: list[pd.DataFrame]) -> pd.DataFrame:
    """The facts about people of all parts; FileError where a person has two values of one."""
    found = pd.concat(parts)
    reserved = found[found["name"].astype("str").str.strip().str.lower().isin(NO_FACTS)]
    if len(reserved):
        raise FileError(
            f"{file.name}: '{reserved['name'].iloc[0]}' cannot be the name of a fact about people.",
            "Rename the column, or give it another role.",
        )
    key = [*people.OWNER, "name"]
    found = found[~found.duplicated([*key, "value"])]
    again = found.duplicated(key).to_numpy()
    if again.any():
        second = found[again].iloc[0]
        row = int(found.index[again][0])
        same = found[(found[key] == second[key]).all(axis=1)]
        who = f"'{second['context']}'" if second["context"] else "rows without a person"
        raise FileError(
            f"{file.name}, {place_of(file, row)}: {second['name']} is '{second['value']}' here and "
            f"'{same['value'].iloc[0]}' in {place_of(file, int(same.index[0]))}, both of {who}.",
            "A group of people has one value for each person. Correct the cell, or give the column "
            "the role tag.",
        )
    return found


def _cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The different combinations of a part, each with the number of its first row as index."""
    columns = [*_CELL]
    words = answers.tags_of_words(frame)
    narrow = frame[columns].assign(tags="" if words is None else words)
    first, places = answers.different_rows(narrow, [*narrow.columns])
    usable = np.bincount(places, frame["status"].isin(USABLE).to_numpy(float))
    rows: pd.DataFrame = narrow.iloc[first]
    return rows.assign(count=np.bincount(places), usable=usable.astype(np.int64))


def _refuse_repeated(file: AnswerFile, parts: list[np.ndarray[Any, Any]]) -> None:
    """Raise FileError where rows of two parts have the same conditions; parts are checked."""
    if not parts:
        return
    hashes = np.concatenate(parts)
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    if not same.size:
        return
    at = same[np.argmin(order[same + 1])]
    first, second = int(order[at]), int(order[at + 1])
    item = _item(file, second)
    raise FileError(
        f"{file.name}, {place_of(file, second)}, column item: '{item}' has an answer under the "
        f"same conditions in {place_of(file, first)} already.",
        "Nothing was imported. Correct the file and choose it again.",
    )


def _item(file: AnswerFile, number: int) -> str:
    frames = (frame for frame in file.frames(check=False) if number in frame.index)
    return str(next(frames).loc[number, "item"])


def place_of(file: AnswerFile, number: int) -> str:
    """The line or row of an answer by its number in the file."""
    if file.parts.whole is not None and file.parts.whole.n_rows <= number:
        return f"answer {number + 1:,}"  # a row of the file has several answers
    start = 0
    for part in file.parts.read():
        if number < start + part.n_rows:
            return part.place(number - start)
        start += part.n_rows
    return f"answer {number + 1:,}"


def _has_values(column: pd.Series[Any]) -> bool:
    if pd.api.types.is_numeric_dtype(column):
        return bool(column.notna().any())
    return bool((column != "").any())


def remarks(file: AnswerFile, found: FileContents) -> tuple[str, ...]:
    """What to know of how a file was read, before its answers are kept."""
    told = []
    if file.person:
        told.append(f"The column '{file.person}' says who answered. It is taken as the context.")
    if private := [name for name in found.tags if is_private_name(name)]:
        told.append(
            "Names or addresses of people come into the database and into exports: "
            f"{', '.join(private)}. Leave them out of the file, or give them the role ignore."
        )
    return (*told, *_about_replies(file, found))


def _about_replies(file: AnswerFile, found: FileContents) -> tuple[str, ...]:
    """How many replies were read how, where a file has replies."""
    if not file.reads_replies:
        return ()
    read = found.cells[found.cells["layer"] != ""]
    usable = read[read["usable"] > 0]
    counts: Mapping[Any, int] = usable.groupby("certainty")["count"].sum().to_dict()
    words = ", ".join(f"{counts.get(one.value, 0):,} {one.value}" for one in Certainty)
    n_read, n_usable = int(read["count"].sum()), int(usable["count"].sum())
    return (
        f"Inkblot has read {count_text(n_read, 'reply', 'replies')}: {words}, "
        f"{n_read - n_usable:,} without an answer.",
    )

"""People who stand in several rows of a file: found, refused, or solved by the mapping.

In a wide file a person has one row under the same conditions, in a long one a row for each item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import FileError
from core.files.answers import KEY, one_chunk
from core.files.columns import TextColumns
from core.files.mapping import ITEM, PERSON, AnswerMapping, SamePerson

SOLUTIONS: Mapping[SamePerson, str] = {
    "refuse": "Stop: it is a mistake in the file",
    "first": "Keep the first row, leave out the others",
    "last": "Keep the last row, leave out the others",
    "apart": "Keep all: they are different people",
}
"""What to do with a person who stands in several rows under the same conditions, in words."""


def repeated(source: TextColumns, mapping: AnswerMapping) -> pd.Series[int]:
    """How many rows of the same person and conditions stand above each row; 0 without people.

    Rows without a person, whom nothing identifies, have none.
    """
    if mapping.layout == "items" or not mapping.with_role(PERSON):
        return pd.Series(0, index=range(source.n_rows))
    columns = _key_columns(mapping)
    texts = {column: pc.utf8_trim_whitespace(source.columns[column]) for column in columns}
    frame = pd.DataFrame({column: _codes(one) for column, one in texts.items()})
    above = frame.groupby(columns, sort=False).cumcount()
    named = pc.not_equal(texts[mapping.with_role(PERSON)[0]], "")
    return above.where(named.to_numpy(zero_copy_only=False), 0)


def _codes(texts: Any) -> np.ndarray[Any, Any]:
    """A number for each different text: rows of many are compared faster by them."""
    indices = one_chunk(texts).dictionary_encode().indices
    codes: np.ndarray[Any, Any] = indices.to_numpy(zero_copy_only=False)
    return codes


def _key_columns(mapping: AnswerMapping) -> list[str]:
    parts = (*KEY,) if mapping.layout == "long" else tuple(part for part in KEY if part != ITEM)
    return [column for column, role in mapping.columns.items() if role in parts]


def _key_of(source: TextColumns, mapping: AnswerMapping) -> pd.DataFrame:
    return pd.DataFrame(
        {
            column: pd.Series(source.columns[column], dtype="str").str.strip()
            for column in _key_columns(mapping)
        }
    )


def rows_of_same_people(source: TextColumns, mapping: AnswerMapping, most: int) -> pd.DataFrame:
    """The rows of people who stand several times, those of one together, with their places."""
    above = repeated(source, mapping).to_numpy()
    if not above.any():
        return pd.DataFrame()
    key = _key_of(source, mapping)
    again = key.merge(key[above > 0].drop_duplicates(), how="left", indicator=True)
    rows = np.flatnonzero((again["_merge"] == "both").to_numpy())
    person = key[mapping.with_role(PERSON)[0]].iloc[rows]
    rows = rows[person.argsort(kind="stable")][:most]
    columns = source.columns.items()
    taken = {column: texts.take(pa.array(rows)).to_pylist() for column, texts in columns}
    return pd.DataFrame({"Place": [source.place(int(row)) for row in rows], **taken})


def solved(source: TextColumns, mapping: AnswerMapping) -> TextColumns:
    """The file with one row for each person and condition, of a long one for each item of them.

    Raises
    ------
    FileError
        A row of a wide file has no person, or a person stands twice and the mapping does not say
        which row counts.
    """
    people = mapping.with_role(PERSON)
    if not people:
        return source
    (person,) = people
    if mapping.layout == "wide":
        source = _without_empty_repeats(source, mapping)
        _refuse_unnamed(source, person)
    above = repeated(source, mapping)
    if mapping.layout == "long" and not above.any():
        return source
    names = pd.Series(source.columns[person], dtype="str").str.strip()
    source = replace(source, columns={**source.columns, person: pa.array(names, pa.large_string())})
    if not above.any():
        return source
    if mapping.same_person == "refuse":
        raise _stands_twice(source, mapping, int((above > 0).to_numpy().argmax()))
    if mapping.same_person == "apart":
        numbered = names.where(above == 0, names + " (" + (above + 1).astype("str") + ")")
        apart = pa.array(numbered, pa.large_string())
        return replace(source, columns={**source.columns, person: apart})
    if mapping.same_person == "first":
        return _with_rows(source, np.flatnonzero(above == 0))
    is_last = ~_key_of(source, mapping).duplicated(keep="last") | (names == "")
    return _with_rows(source, np.flatnonzero(is_last))


def _refuse_unnamed(source: TextColumns, person: str) -> None:
    unnamed = pc.equal(pc.utf8_trim_whitespace(source.columns[person]), "")
    if (row := pc.index(unnamed, value=True).as_py()) >= 0:
        raise FileError(
            f"{source.name}, {source.place(row)}, column {person}: the person is missing.",
            "Nothing was imported. Correct the file or the mapping, and choose it again.",
        )


def _stands_twice(source: TextColumns, mapping: AnswerMapping, row: int) -> FileError:
    key = _key_of(source, mapping)
    (person,) = mapping.with_role(PERSON)
    same = (key == key.iloc[row]).all(axis=1).to_numpy()
    items = mapping.with_role(ITEM) if mapping.layout == "long" else []
    what = f"with '{key[items[0]].iloc[row]}' " if items else ""
    return FileError(
        f"{source.name}, {source.place(row)}, column {person}: the person "
        f"'{key[person].iloc[row]}' stands {what}in {source.place(int(same.argmax()))} already.",
        "Choose which row counts (in a mapping: same_person), or give the column that tells the "
        "rows apart a role, such as repetition.",
    )


def _with_rows(source: TextColumns, rows: np.ndarray[Any, Any]) -> TextColumns:
    kept = {column: texts.take(pa.array(rows)) for column, texts in source.columns.items()}
    place: Callable[[int], str] = lambda index: source.place(int(rows[index]))  # noqa: E731
    return replace(source, columns=kept, n_rows=len(rows), place=place)


def _without_empty_repeats(source: TextColumns, mapping: AnswerMapping) -> TextColumns:
    """The rows but those without any answer of people who have another row with answers.

    Such rows belong to other questionnaires, as REDCap writes them.
    """
    people = mapping.with_role(PERSON)
    if not people:
        return source
    empty = np.ones(source.n_rows, bool)
    for column in mapping.with_role(ITEM):
        filled = pc.not_equal(pc.utf8_trim_whitespace(source.columns[column]), "")
        empty &= ~filled.to_numpy(zero_copy_only=False)
        if not empty.any():
            return source
    names = pd.Series(source.columns[people[0]], dtype="str").str.strip()
    left_out = empty & names.isin(set(names[~empty])).to_numpy(bool)
    return _with_rows(source, np.flatnonzero(~left_out))

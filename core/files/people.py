"""Facts about people in files of answers: columns `person.NAME`, the same in all rows of a person.

In a frame of answers they stand among the tags, until they are taken out of it.
"""

from __future__ import annotations

import json

import pandas as pd

from core.domain.people import PERSON_FACT
from core.files.answers import TAGS, tags_of

OWNER = ("study", "instrument", "context")
"""Columns that say whose facts they are."""


def has_facts(frame: pd.DataFrame) -> bool:
    """Whether the rows say anything about people."""
    return any(name.startswith(PERSON_FACT) for name in tags_of(frame))


def facts_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The different facts of a frame of answers: OWNER, name and value; the index is a row of it.

    A person for whom two rows say different things has two values of the name.
    """
    columns = [*OWNER, "name", "value"]
    if not has_facts(frame):
        return pd.DataFrame(columns=columns)
    different = frame[[*OWNER, "tags"]].drop_duplicates()
    rows = [
        (index, *owner, name.removeprefix(PERSON_FACT), value)
        for index, *owner, tags in different.itertuples()
        for name, value in json.loads(tags or "{}").items()
        if name.startswith(PERSON_FACT)
    ]
    found = pd.DataFrame(rows, columns=["row", *columns]).set_index("row")
    return found.drop_duplicates()


def without_facts(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without what they say about people."""
    if not has_facts(frame):
        return frame
    kept = {text: _kept(text) for text in frame["tags"].unique()}
    left = frame.assign(tags=frame["tags"].map(kept).astype("str"))
    left.attrs = dict(frame.attrs)
    if TAGS in left.attrs:
        own = [name for name in left.attrs[TAGS] if not name.startswith(PERSON_FACT)]
        left.attrs[TAGS] = tuple(own)
    return left


def _kept(tags: str) -> str:
    others = {
        name: value
        for name, value in json.loads(tags or "{}").items()
        if not name.startswith(PERSON_FACT)
    }
    return json.dumps(others, ensure_ascii=False) if others else ""


def with_facts(frame: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """The rows of an export with the facts about their people among the tags.

    `values` has context, name and value.
    """
    if values.empty:
        return frame
    of_person = {
        context: ", ".join(
            f"{json.dumps(PERSON_FACT + name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in zip(own["name"], own["value"], strict=True)
        )
        for context, own in values.groupby("context", sort=False)
    }
    facts = frame["context"].map(of_person).fillna("").astype("str")
    tags = frame["tags"].fillna("").astype("str")
    inside = tags.str.slice(1, -1)
    joined = inside + ", " + facts
    joined = joined.where((inside != "") & (facts != ""), inside + facts)
    return frame.assign(tags=("{" + joined + "}").where(joined != "", ""))

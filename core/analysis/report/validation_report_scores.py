"""The answers each criterion of the validation report is computed from, and their scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons.paired_scores import paired_scores
from core.analysis.matrices import Floats, some_of
from core.domain.instrument import INVERTED_FORMS, ORIGINAL
from core.domain.study import FACTORS
from core.errors import NotEnoughData

USUAL = {"form": (ORIGINAL, ""), "label_order": ("as_is", "")}
"""What the baseline is asked with; imported answers may say nothing."""
PREFERRED = {"form": ("alternate", "paraphrase"), "label_order": ("random",)}
PERSON = ("respondent", "context")
SHARED = ("respondent", "model", "language", "context")
"""What groups have in common with other studies of the same respondents and contexts."""
NAMES = {"form": "form", "label_order": "order of options"}
_DESIGN = ("format", "template", "entity", "entity_b", "phase", "repetition")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Scores of the same units under two conditions, NaN where there is none."""

    first: Floats
    second: Floats
    administrations: frozenset[int]  # of the study itself, behind complete pairs
    notes: tuple[str, ...] = ()


def groups_of(
    frame: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Every group with its rows, in the order the frame first names them.

    Raises
    ------
    NotEnoughData
        The answers are not kept by one of the factors.
    """
    for name in names:
        if name not in frame:
            raise NotEnoughData(f"Answers are not kept by {name}.", "Choose another factor.")
    if not names:
        yield (), frame
        return
    for key, own in frame.groupby(list(names), sort=False, observed=True, dropna=False):
        yield tuple("" if value is None or value != value else value for value in key), own


def asked_with(frame: pd.DataFrame, factor: str, levels: Collection[str]) -> pd.DataFrame:
    """The rows whose form or order of options is one of these."""
    return frame[_is_one_of(frame[factor], levels)]


def baseline(frame: pd.DataFrame) -> pd.DataFrame:
    """The original form with the options in their own order."""
    return asked_with(asked_with(frame, "form", USUAL["form"]), "label_order", USUAL["label_order"])


def other_level(frame: pd.DataFrame, factor: str, typed: str) -> str:
    """The form (or order of options) to hold against the usual one; empty if there is no other.

    What was typed, else a level of the usual name, else the first other one; negated forms last.

    Raises
    ------
    NotEnoughData
        What was typed is not there.
    """
    levels = [level for level in _distinct(frame[factor]) if level not in USUAL[factor]]
    wanted = typed.strip()
    if wanted and wanted not in levels:
        raise NotEnoughData(
            f"There are no answers to the {NAMES[factor]} '{wanted}'.",
            f"Type one of these: {some_of(levels, 20)}."
            if levels
            else f"Leave it empty: the study holds no other {NAMES[factor]}.",
        )
    if wanted:
        return wanted
    preferred = PREFERRED[factor]
    ranked = sorted(
        levels,
        key=lambda level: (
            preferred.index(level) if level in preferred else len(preferred),
            level in INVERTED_FORMS,
        ),
    )
    return ranked[0] if ranked else ""


def beside_rows(frame: pd.DataFrame, factor: str, typed: str) -> pd.DataFrame:
    """Rows of another study to hold against the baseline: its other level if it has one, else all.

    What else could differ is as in the baseline, as far as the study has such answers.
    """
    level = other_level(frame, factor, typed)
    own = asked_with(frame, factor, (level,)) if level else frame
    rest = "label_order" if factor == "form" else "form"
    usual = asked_with(own, rest, USUAL[rest])
    return usual if len(usual) else own


def usual_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The baseline of another study, or all of it where it has none."""
    own = baseline(frame)
    return own if len(own) else frame


def same_people(frame: pd.DataFrame, own: pd.DataFrame, group: Mapping[str, Any]) -> pd.DataFrame:
    """Rows of another study that belong to a group: its respondents and contexts.

    `own` are the answers of the group; of its factors, only those count that studies share.
    """
    near = frame
    for name in PERSON:  # quick, so that the exact comparison has few rows left
        near = near[_is_one_of(near[name], _distinct(own[name]))]
    people = pd.MultiIndex.from_frame(_people(own[list(PERSON)].drop_duplicates()))
    kept = pd.MultiIndex.from_frame(_people(near)).isin(people)
    for name, value in group.items():
        if name in SHARED and name in near:
            kept &= _is_one_of(near[name], [str(value)])
    return near[kept]


def matched(
    first: pd.DataFrame, second: pd.DataFrame, names: Collection[str] = (), *, beside: bool
) -> Pairs:
    """Scores of two sets of answers that agree in everything but form and order of options.

    Parameters
    ----------
    first, second : ITEM_SCORES frames
        Score: mean of all items after reverse-keying, of complete administrations.
    names : factors
        Set side by side.
    beside : bool
        `second` is of another study: what is the same throughout each of the two, such as the name
        of the format, then need not agree between them, unless it is set side by side.
    """
    alone = beside or not set(_distinct(first["study"])) & set(_distinct(second["study"]))
    first, second = _scored(first), _scored(second)
    # ids of two studies could be the same; those of the study itself are not negative
    theirs = second.assign(administration=-1 - np.arange(len(second))) if beside else second
    parts = []
    free = [name for name in _DESIGN if alone and name not in names]
    apart = {name for name in free if _fixed(first, name) and _fixed(second, name)}
    for level, part in (("1", first), ("2", theirs)):
        same = dict.fromkeys(apart, "") | {"label_order": "", "subscale": "", "form": level}
        parts.append(part.assign(**(same | ({"study": ""} if alone else {}))))
    columns = ["study", *FACTORS, "administration", "item", "subscale", "score"]
    scales, notes = paired_scores(
        pd.concat([part[columns] for part in parts], ignore_index=True), "form", (), "listwise"
    )
    (own,) = scales
    scores = own.scores.reindex(columns=["1", "2"])
    x, y = (scores[level].to_numpy(dtype=np.float64) for level in ("1", "2"))
    paired = np.isfinite(x) & np.isfinite(y)
    planned = own.administrations.reindex(columns=["1", "2"])
    both = planned.notna().all(axis=1).to_numpy()
    used = {int(one) for ids in planned.to_numpy()[paired].ravel() for one in ids}
    return Pairs(x[both], y[both], frozenset(one for one in used if one >= 0), notes)


def person_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean score of the complete administrations of every respondent and context.

    Columns: `respondent` and `context` as text, `score`, NaN where no administration is complete.
    """
    scored = _scored(frame)
    table = _people(scored).assign(score=scored["score"])
    return table.groupby(list(PERSON), sort=False, as_index=False)[["score"]].mean()


def complete_ids(frame: pd.DataFrame) -> frozenset[int]:
    """Administrations with a score on every item."""
    complete = frame["score"].notna().groupby(frame["administration"]).all()
    return frozenset(int(one) for one in complete.index[complete.to_numpy()])


def varied(
    frame: pd.DataFrame, names: Collection[str], factors: Sequence[str] = ("language", *_DESIGN)
) -> list[str]:
    """The factors that scores are averaged or pooled over without being asked to."""
    return [
        name for name in factors if name not in names and name in frame and not _fixed(frame, name)
    ]


def _scored(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per administration: its score, as if it were an item, NaN where it is incomplete."""
    grouped = frame.groupby("administration", sort=False)["score"]
    means = grouped.mean().where(grouped.count() == grouped.size())
    cases = frame.drop_duplicates("administration")
    return cases.assign(score=means.loc[cases["administration"]].to_numpy())


def _is_one_of(column: pd.Series[Any], values: Collection[str]) -> np.ndarray:
    """Whether each row has one of these; nothing is as good as empty text."""
    hit = column.isin(list(values)).to_numpy()
    return np.asarray(hit | column.isna().to_numpy() if "" in values else hit)


def _distinct(column: pd.Series[Any]) -> list[str]:
    """The different values as text, in the order the column first has them."""
    return list(_text(column.drop_duplicates()).unique())


def _people(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: _text(frame[name]) for name in PERSON})


def _fixed(frame: pd.DataFrame, name: str) -> bool:
    """Whether all rows agree."""
    return len(frame[name].unique()) <= 1


def _text(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column as text, empty where it is missing."""
    return column.astype("object").where(column.notna(), "").astype(str)

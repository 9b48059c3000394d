"""What a row of an analysis is and what to say of it, and rows averaged over some factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.items.cells import codes_of, scores_of
from core.domain.frames import CONTEXT_SET, OPTION_POINTS, ORIGIN, PEOPLE, REWRITING
from core.domain.study import FACTORS, Status
from core.psychometrics.answer_options import not_ordered
from core.psychometrics.scale_scores import scale_scores

_OF_MODELS = (
    "one administration: a respondent answering the bank once under one context and repetition"
)
_OF_PEOPLE = (
    "one administration: a person, or a respondent under one context, answering the bank once"
)
_APART = ("study", *FACTORS, CONTEXT_SET, REWRITING, ORIGIN)


def of_people(item_scores: pd.DataFrame) -> bool:
    """Whether every row is of a person, or of a context of its own; see PEOPLE."""
    return PEOPLE in item_scores and bool(item_scores[PEOPLE].all())


def unit_of(item_scores: pd.DataFrame, *, called: str = "") -> str:
    """What a row is; `called` is what notes call one."""
    unit = _OF_PEOPLE if of_people(item_scores) else _OF_MODELS
    return f"{unit} (a {called}, where notes speak of {called}s)" if called else unit


def caution(item_scores: pd.DataFrame, always: str, of_models: str) -> tuple[str, ...]:
    """A note on what an analysis takes for granted; the second part only where models answered.

    People asked once are independent, so nothing is said of repeated answers where rows are people.
    """
    parts = (always,) if of_people(item_scores) else (always, of_models)
    said = " ".join(part for part in parts if part)
    return (said,) if said else ()


def averaged(item_scores: pd.DataFrame, over: Sequence[str]) -> pd.DataFrame:
    """The scores of administrations that differ only in some factors, averaged into one.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    over : sequence of factors
        Administrations that agree in study and in every other factor become one.

    Returns
    -------
    pandas.DataFrame
        An ITEM_SCORES frame in the order of the rows given. A score is the mean of the usable
        scores of its item, NaN where there is none; its status is then the first one that came.
        Factors averaged over are empty (repetition: 0). `option_points` are those of the options,
        or of the scores that came up under the format before averaging, so that means are not
        taken for options.

    Notes
    -----
    The unit of analysis is then one combination of the other factors. A mean of few answers weighs
    as much as a mean of many.
    """
    dropped = {*over, ORIGIN} if "context" in over else set(over)
    if not dropped & set(_APART) or item_scores.empty:
        return item_scores
    kept = [name for name in _APART if name in item_scores and name not in dropped]
    cases = item_scores.drop_duplicates("administration")
    case_of = _numbers(cases[kept])
    first = pd.Series(cases["administration"].to_numpy()).groupby(case_of).transform("first")
    place = pd.Index(cases["administration"]).get_indexer(item_scores["administration"])
    case, (items, item_names) = case_of[place], pd.factorize(item_scores["item"])
    cell = case * len(item_names) + items
    order, leading = np.unique(cell, return_index=True)
    row = np.searchsorted(order, cell)
    scores = item_scores["score"].to_numpy(dtype=np.float64, na_value=np.nan)
    usable = np.isfinite(scores)
    sums = np.bincount(row, np.where(usable, scores, 0.0), len(order))
    counts = np.bincount(row, usable, len(order))
    means = scale_scores(sums, counts, counts, "available")
    sequence = np.argsort(leading)  # the order in which cells first appear
    frame = item_scores.iloc[leading[sequence]].reset_index(drop=True)
    mean, count = means[sequence], counts[sequence]
    status = frame["status"].astype("object").where(count == 0, Status.ANSWERED.value)
    return frame.assign(
        administration=first.to_numpy()[place][leading[sequence]],
        score=mean,
        status=status.astype("category"),
        **{OPTION_POINTS: _points(item_scores)[leading[sequence]]},
        **{name: _empty(frame[name]) for name in dropped if name in frame},
    )


def _points(item_scores: pd.DataFrame) -> np.ndarray:
    """The points of the options of every row, as text; empty where there are too many."""
    if OPTION_POINTS in item_scores:
        return item_scores[OPTION_POINTS].astype("object").fillna("").to_numpy()
    scores = scores_of(item_scores)
    code, labels = codes_of(item_scores["format"])
    texts = []
    for number in range(len(labels)):
        own = scores[code == number]
        came_up = np.unique(own[np.isfinite(own)])
        ordered = came_up.size and not not_ordered(came_up, "")
        texts.append(" ".join(map(repr, came_up.tolist())) if ordered else "")
    return np.array(texts, dtype=object)[code]


def _numbers(columns: pd.DataFrame) -> np.ndarray:
    """A number for each distinct row."""
    number = np.zeros(len(columns), dtype=np.int64)
    for name in columns:
        codes, values = pd.factorize(columns[name], use_na_sentinel=False)
        number = pd.factorize(number * max(len(values), 1) + codes)[0]
    return number


def _empty(column: pd.Series[Any]) -> Any:
    """What stands in a factor that was averaged over."""
    return 0 if pd.api.types.is_numeric_dtype(column) else pd.Categorical([""] * len(column))

"""Which options the items of a matrix offer, in score points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from core.analysis.matrices import Floats, ScoreMatrix
from core.domain.frames import OPTION_POINTS
from core.domain.keying import keyed_points
from core.psychometrics.answer_options import not_ordered, options_between

Options = tuple[float, ...] | None


def with_options(
    item_scores: pd.DataFrame, matrices: Sequence[ScoreMatrix]
) -> tuple[ScoreMatrix, ...]:
    """The matrices with the options that each item offers, None where they are not known.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        What the matrices were made of.
    matrices : sequence of ScoreMatrix
        Administrations by items.

    Notes
    -----
    The options of an item are the points of the formats that the administrations were asked in,
    mirrored for reverse-keyed items. They are not known where scores lie beyond these points, as
    imported ones may. Then the scores that came up in the items of the same subscale take their
    place, if these are ordered answers.
    """
    items = item_scores.drop_duplicates("item")
    subscale = dict(zip(items["item"].astype(str), items["subscale"].astype(str), strict=True))
    points = points_of_formats(item_scores)
    return tuple(replace(own, options=_options(own, points, subscale)) for own in matrices)


def points_of_formats(item_scores: pd.DataFrame) -> dict[int, frozenset[float]]:
    """The points of the answer format of each administration; those without are left out."""
    if OPTION_POINTS not in item_scores:
        return {}
    cases = item_scores.drop_duplicates("administration")
    texts = cases[OPTION_POINTS].astype("object").fillna("").astype(str)
    read = {text: frozenset(map(float, text.split())) for text in set(texts)}
    own = zip(cases["administration"].astype(int), texts, strict=True)
    return {number: read[text] for number, text in own if text}


def _options(
    matrix: ScoreMatrix, points: Mapping[int, frozenset[float]], subscale: Mapping[str, str]
) -> tuple[Options, ...]:
    """The options of the items of one matrix."""
    answered = matrix.administrations[np.isfinite(matrix.scores).any(axis=1)].tolist()
    known = {points.get(int(one), frozenset()) for one in answered}
    together = frozenset() if frozenset() in known else frozenset().union(*known)
    columns = [column[np.isfinite(column)] for column in matrix.scores.T]
    found = [_of_format(column, together) for column in columns]
    owner = [subscale.get(item, "") for item in matrix.items]
    for name in set(owner):
        places = [place for place, own in enumerate(owner) if own == name and found[place] is None]
        came_up = np.unique(np.concatenate([np.empty(0), *(columns[place] for place in places)]))
        if came_up.size and not not_ordered(came_up, name):
            for place in places:
                found[place] = tuple(map(float, options_between(came_up)))
    return tuple(found)


def _of_format(scores: Floats, points: frozenset[float]) -> Options:
    """The points of a format as an item scores them; None where they do not hold its scores."""
    if not points:
        return None
    low, high = min(points), max(points)
    if scores.size and (scores.min() < low or scores.max() > high):
        return None
    mirrored = {float(keyed_points(point, low, high, -1)) for point in points}
    for options in (points, mirrored, points | mirrored):
        if not not_ordered(scores, "", sorted(options)):
            return tuple(sorted(options))
    return tuple(sorted(points))

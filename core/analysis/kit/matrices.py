"""Score matrices of each group and subscale, and the options that their items offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.rows import (
    Floats,
    Integers,
    MatrixLayout,
    administrations_of,
    cells_of,
    items_of,
    n_with_status,
    rows_are_people,
    scores_of,
)
from core.domain import tables
from core.domain.factors import level_text
from core.domain.frames import OPTION_POINTS
from core.domain.instrument import keyed_points
from core.domain.notes import about
from core.domain.numbers import percent_text
from core.domain.results import Column, ResultTable
from core.domain.study import NOT_ASKED
from core.domain.wide_scores import ItemScores
from core.stats.inputs import Booleans, ItemRule, varying_columns
from core.stats.ordered.answer_options import options_between, why_not_ordered

# Score matrices: administrations by items, one for each group and subscale.
#
# Everything that needs whole administrations (correlations, alpha, scores) starts here, so that
# missing answers and repeated cells are treated in one place. `rows.cells_of` has the places.

ALL_ITEMS = "all items"
AUTOMATIC_MISSING = ("automatic", "Automatic: by the share of gaps")
MISSING_CHOICES = (
    AUTOMATIC_MISSING,
    ("listwise", "Complete on the subscale (listwise)"),
    ("pairwise", "All answers there are (pairwise)"),
    ("fiml", "All answers there are (full information)"),
)
MISSING_WORDS: Mapping[ItemRule, str] = {
    "listwise": "administrations with all items of the subscale answered (listwise)",
    "pairwise": "all answers there are (pairwise)",
    "fiml": "all answers there are (full information: covariances by expectation-maximization)",
}
"""Each of them in a sentence on the method."""
KEYED_TITLE = "Keyed"
INDEPENDENCE = (
    "Intervals take {rows} as independent.",
    "Repeated administrations of one model are not, so the true uncertainty is larger.",
)


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of one group on one subscale; NaN where there is no score."""

    group: tuple[Any, ...]  # values of the factors set side by side
    subscale: str
    items: tuple[str, ...]
    keyed: tuple[int, ...]
    administrations: Integers
    scores: Floats  # (administrations, items)
    asked: Booleans | None = None
    """Where a plan asks for an answer, (administrations, items); None where it does everywhere."""
    options: tuple[tuple[float, ...] | None, ...] = ()
    """Scores that each item offers; filled by `with_options` where needed."""

    @property
    def n_used(self) -> int:
        """Number of scores."""
        return int(np.isfinite(self.scores).sum())

    @property
    def n_missing(self) -> int:
        """Number of answers asked for that have no score."""
        return (
            self.scores.size - self.n_used
            if self.asked is None
            else (int(self.asked.sum()) - self.n_used)
        )

    def n_asked(self, axis: Literal[0, 1]) -> Integers:
        """Number of answers that each item (axis 0) or administration (axis 1) was to have."""
        if self.asked is None:
            return np.full(self.scores.shape[1 - axis], self.scores.shape[axis])
        return np.asarray(self.asked.sum(axis=axis))

    def answered(self) -> ScoreMatrix:
        """The matrix of the items that were answered at all; the others would cost every row."""
        return self._of(np.isfinite(self.scores).any(axis=0))

    def varying(self) -> ScoreMatrix:
        """The matrix of the items with two different scores; gaps of the others cost no row."""
        return self._of(varying_columns(self.scores))

    def _of(self, chosen: Any) -> ScoreMatrix:
        """The matrix of some items; without rows where none is chosen."""
        places: list[int] = np.flatnonzero(chosen).tolist()
        if len(places) == len(self.items):
            return self
        rows = slice(None) if places else slice(0)
        return replace(
            self,
            items=tuple(self.items[place] for place in places),
            keyed=tuple(self.keyed[place] for place in places),
            options=tuple(self.options[place] for place in places) if self.options else (),
            administrations=self.administrations[rows],
            scores=self.scores[rows][:, places],
            asked=None if self.asked is None else self.asked[rows][:, places],
        )

    def complete(self) -> Floats:
        """The rows without gaps."""
        return self.scores[~np.isnan(self.scores).any(axis=1)]


def score_matrices(
    item_scores: ItemScores, by: Sequence[str], *, whole: bool = False
) -> tuple[ScoreMatrix, ...]:
    """One matrix per group and subscale, in the order the frame first names them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Text columns may be categories, strings or numbers.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.
    whole : bool
        Put all subscales of a group into one matrix, called "all items".

    Raises
    ------
    TypeError
        An administration holds an item twice. Averaging it would hide a fault.
    NotEnoughData
        There are no rows.
    """
    layouts = cells_of(item_scores, by).layouts(ALL_ITEMS if whole else None)
    return matrices_of(layouts, scores_of(item_scores))


def matrices_of(layouts: Sequence[MatrixLayout], values: Floats) -> tuple[ScoreMatrix, ...]:
    """The values of all rows of a frame, one matrix for each layout."""
    return tuple(
        ScoreMatrix(
            layout.group,
            layout.subscale,
            layout.items,
            layout.keyed,
            layout.administrations,
            layout.filled(values),
            layout.asked(),
        )
        for layout in layouts
    )


# The rule for missing answers that the answers themselves choose.

MissingChoice = Literal["automatic", "listwise", "pairwise", "fiml", "available"]
"""What users may ask for: a rule, all answers ("available") by the rule that a method has for them,
or the choice that the answers make."""
COSTLY_SHARE = 0.1
"""Share of administrations beyond which the complete ones are not used alone by default."""
_RULE_NAMES: Mapping[str, str] = {"fiml": "full information", "pairwise": "all pairs of answers"}


_TAKES: Mapping[str, str] = {
    "fiml": "answers as missing at random",
    "pairwise": "answers as missing completely at random",
}


def incomplete_administrations(scores: Floats) -> tuple[int, int]:
    """How many administrations hold any answer, and how many of these lack one.

    `scores` is (administrations, items), NaN where there is none. Only items that vary count, as
    the gaps of others cost nothing.
    """
    present = np.isfinite(scores[:, varying_columns(scores)])
    some = present.any(axis=1)
    return int(some.sum()), int((some & ~present.all(axis=1)).sum())


def scores_of_groups(item_scores: ItemScores, by: Sequence[str]) -> Iterator[Floats]:
    """The (administrations, items) scores of all items of each group, one after the other."""
    values = scores_of(item_scores)
    return (layout.filled(values) for layout in cells_of(item_scores, by).layouts(ALL_ITEMS))


def choose_missing(
    missing: MissingChoice, scores: Iterable[Floats], all_answers: ItemRule
) -> tuple[ItemRule, tuple[str, ...]]:
    """The rule for missing answers asked for, or the one that suits the answers and a note on it.

    Parameters
    ----------
    missing : str
        A rule, which stays as it is and needs no note; "available" for `all_answers`; "automatic".
    scores : (administrations, items) arrays
        Of all items of each group, so that one result has one rule, and several results of the
        same answers have the same one.
    all_answers : "fiml" or "pairwise"
        The rule by which the method uses administrations with gaps.

    Notes
    -----
    Listwise deletion loses power and is right only where answers are missing completely at random;
    full information is right where they are missing at random (Enders 2010, Applied missing data
    analysis); pairs of answers lose less power. So complete administrations alone are used only
    where they leave out no more than a tenth of those of any group.
    """
    if missing == "available":
        return all_answers, ()
    if missing != "automatic":
        return missing, ()
    counts = [incomplete_administrations(own) for own in scores]
    share, lacking, n = max(
        ((lacking / n, lacking, n) for n, lacking in counts if n), default=(0.0, 0, 0)
    )
    if share <= COSTLY_SHARE:
        return "listwise", ()
    return all_answers, (
        f"Missing answers: {_RULE_NAMES[all_answers]}, because complete administrations alone "
        f"would leave out {percent_text(share)} ({lacking:,} of {n:,}) of a group. It takes "
        f"{_TAKES[all_answers]}.",
    )


def missing_words(rule: str, n: int, incomplete: int) -> str:
    """How answers with gaps were used, and why; empty where there are none, or listwise.

    Parameters
    ----------
    rule : str
        The rule for missing answers that was used.
    n, incomplete : int
        Administrations with an answer, and those of them that lack one.
    """
    if rule not in _RULE_NAMES or not incomplete:
        return ""
    return (
        f"{_RULE_NAMES[rule]}, because {percent_text(incomplete / n)} of the administrations lack "
        "an answer"
    )


MISSING_COLUMNS = (
    tables.count(
        "incomplete",
        "Incomplete",
        "Administrations with some answers missing; left out or used by the rule beside.",
    ),
    tables.text(
        "missing_rule",
        "Missing answers",
        "Rule: complete administrations (listwise), all pairs of answers (pairwise), or all "
        "answers by full information (fiml).",
    ),
)


def result_table(
    name: str,
    title: str,
    rows: Iterable[tuple[Any, ...]],
    columns: Sequence[Column],
    tab: str = "",
) -> ResultTable:
    """A table of rows in the order of its columns."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    return ResultTable(name, title, frame, tuple(columns), tab)


def distinct(by: Sequence[str]) -> tuple[str, ...]:
    """The factors without repeats."""
    return tuple(dict.fromkeys(by))


def group_name(group: Sequence[Any], factors: Sequence[str] = ()) -> str:
    """What to call a group in a note: its values, or "all administrations".

    With the factors that the values are levels of, numbers and words of settings carry their names.
    A note may be made without them: `with_levels_named` adds them to the note.
    """
    names = factors or [""] * len(group)
    texts = [level_text(name, value) for name, value in zip(names, group, strict=True)]
    return " · ".join(texts) or "all administrations"


def data_cautions(item_scores: ItemScores, matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Cautions that hold for any analysis: one administration, identical or unasked ones."""
    notes: list[str] = []
    for group in dict.fromkeys(matrix.group for matrix in matrices):
        own = [matrix.scores for matrix in matrices if matrix.group == group]
        n = max(len(scores) for scores in own)
        if n == 1:
            notes.append(
                about(group_name(group), "there is only one administration, so nothing can vary.")
                + (
                    ""
                    if rows_are_people(item_scores)
                    else " Ask under several contexts or repetitions."
                )
            )
        elif all(len(scores) > 1 and (scores == scores[0]).all() for scores in own):
            notes.append(
                about(
                    group_name(group),
                    f"all {n} administrations are identical; they say no more than one.",
                )
            )
    not_asked = n_with_status(item_scores, NOT_ASKED)
    if not_asked:
        notes.append(f"{not_asked} planned trials have not been asked yet; they count as missing.")
    return notes


def data_notes(item_scores: ItemScores) -> list[str]:
    """Notes that hold for any analysis: how many studies it is of."""
    n_studies = administrations_of(item_scores)["study"].nunique()
    return [f"Answers of {n_studies} studies are analyzed together."] if n_studies > 1 else []


# The options that the items of a matrix offer, in score points.

Options = tuple[float, ...] | None


def with_options(
    item_scores: ItemScores, matrices: Sequence[ScoreMatrix]
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
    items = items_of(item_scores).drop_duplicates("item")
    subscale = dict(zip(items["item"].astype(str), items["subscale"].astype(str), strict=True))
    points = points_of_formats(item_scores)
    return tuple(replace(own, options=_options(own, points, subscale)) for own in matrices)


def points_of_formats(item_scores: ItemScores) -> dict[int, frozenset[float]]:
    """The points of the answer format of each administration; those without are left out."""
    asked = administrations_of(item_scores)
    if OPTION_POINTS not in asked:
        return {}
    cases = asked.drop_duplicates("administration")
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
    options = [_options_of_format(column, together) for column in columns]
    owner = [subscale.get(item, "") for item in matrix.items]
    for name in set(owner):
        places = [
            place for place, own in enumerate(owner) if own == name and options[place] is None
        ]
        came_up = np.unique(np.concatenate([np.empty(0), *(columns[place] for place in places)]))
        if came_up.size and not why_not_ordered(came_up, name):
            for place in places:
                options[place] = tuple(map(float, options_between(came_up)))
    return tuple(options)


def _options_of_format(scores: Floats, points: frozenset[float]) -> Options:
    """The points of a format as an item scores them; None where they do not hold its scores."""
    if not points:
        return None
    low, high = min(points), max(points)
    if scores.size and (scores.min() < low or scores.max() > high):
        return None
    mirrored = {float(keyed_points(point, low, high, -1)) for point in points}
    for options in (points, mirrored, points | mirrored):
        if not why_not_ordered(scores, "", sorted(options)):
            return tuple(sorted(options))
    return tuple(sorted(points))

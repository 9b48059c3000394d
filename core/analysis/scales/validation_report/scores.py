"""The answers and scores that each criterion of the report is computed from."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.kit.factor_models.models import (
    ChosenEstimator,
    EstimatorKind,
    ModelKind,
)
from core.analysis.kit.rows import Floats, Integers, in_level_order, require_factors
from core.analysis.kit.scores import (
    aggregate_administrations,
    repeated_note,
    unit_numbers,
)
from core.domain.instrument import INVERTED_FORMS, ORIGINAL
from core.domain.study import FACTORS, SETTINGS
from core.errors import WrongOption
from core.stats.inputs import Estimate, ItemRule, name_list
from core.stats.resampling import Bootstrap
from core.stats.scores import ScoreRule, scale_scores
from core.stats.validation import Criterion, ModelFit, ValidityCoefficients

# Respondents and contexts that several studies share, compared as text.

Mask = npt.NDArray[np.bool_]

PERSON = ("respondent", "context")
_SHARED = ("respondent", "model", "language", "context")
"""What groups have in common with other studies of the same respondents and contexts."""


def rows_of_group(frame: pd.DataFrame, cases: pd.DataFrame, group: Mapping[str, Any]) -> Mask:
    """Which rows of another study belong to a group: to its respondents and contexts.

    `cases` are the administrations of the group; of its factors, only those count that studies
    share.
    """
    belongs = np.ones(len(frame), dtype=bool)
    pairs, group_pairs = np.zeros(len(frame), dtype=np.int64), np.zeros(len(cases), dtype=np.int64)
    for name in PERSON:
        group_codes, group_texts = _coded(cases[name])
        codes, texts = _coded(frame[name])
        code_of = {text: code for code, text in enumerate(group_texts)}
        in_group = np.array([code_of.get(text, -1) for text in texts])[codes]
        belongs &= in_group >= 0
        pairs = pairs * len(group_texts) + in_group
        group_pairs = group_pairs * len(group_texts) + group_codes
    belongs &= np.isin(pairs, group_pairs)
    for name, value in group.items():
        if name in _SHARED and name in frame:
            belongs &= _is_one_of(frame[name], [str(value)])
    return belongs


def answers_of_group(
    frame: pd.DataFrame, cases: pd.DataFrame, group: Mapping[str, Any]
) -> pd.DataFrame:
    """The rows of another study that belong to a group."""
    return frame[rows_of_group(frame, cases, group)]


def _is_one_of(column: pd.Series[Any], values: Collection[str]) -> Mask:
    """Whether each row has one of these; nothing is as good as empty text."""
    hit = column.isin(list(values)).to_numpy()
    return np.asarray(hit | column.isna().to_numpy() if "" in values else hit)


def _distinct_texts(column: pd.Series[Any]) -> list[str]:
    """The different values as text, in the order the column first has them."""
    codes, texts = _coded(column)
    return [texts[code] for code in pd.unique(codes)]


def as_text(column: pd.Series[Any]) -> Any:
    """The column as text, empty where it is missing."""
    codes, texts = _coded(column)
    return np.array(texts, dtype=object)[codes]


def _coded(column: pd.Series[Any]) -> tuple[Integers, list[str]]:
    """The column as text, empty where it is missing: a code for every row, and their texts.

    A value becomes text once, however many rows have it.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, values = pd.factorize(column)
    code_of: dict[str, int] = {}
    # what is missing has the code -1, which is the last text
    numbers = [code_of.setdefault(text, len(code_of)) for text in (*map(str, values), "")]
    return np.array(numbers)[codes], list(code_of)


# The answers of each criterion and their scores.

USUAL = {"form": (ORIGINAL, ""), "label_order": ("as_is", "")}
"""What the baseline is asked with; imported answers may say nothing."""
_PREFERRED = {"form": ("alternate", "paraphrase"), "label_order": ("random",)}
_NAMES = {"form": "form", "label_order": "order of options"}
_DESIGN = (
    "format",
    "template",
    "entity",
    "entity_b",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "repetition",
)


@dataclass(frozen=True, eq=False)
class MatchedScores:
    """Scores of the same units under two conditions, NaN where there is none."""

    first: Floats
    second: Floats
    administrations: frozenset[int]  # of the study itself, behind complete pairs
    notes: tuple[str, ...] = ()


def administrations_of(item_scores: pd.DataFrame, missing: ScoreRule) -> pd.DataFrame:
    """One row for each administration of an ITEM_SCORES frame, in order of appearance.

    `score` is the mean of the items after reverse-keying, NaN where the rule for missing answers
    gives none; `planned` and `missing` count items. All criteria but consistency and factor model
    need no more than this.
    """
    cases = item_scores[~item_scores["administration"].duplicated().to_numpy()]
    code, _ = pd.factorize(item_scores["administration"])
    scores = item_scores["score"].groupby(code, sort=False)
    planned, answered = scores.size().to_numpy(), scores.count().to_numpy()
    return cases.drop(columns=["item", "subscale", "keyed", "status"]).assign(
        score=scale_scores(scores.sum(), answered, planned, missing),
        planned=planned,
        missing=planned - answered,
    )


def groups_of(
    frame: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Every group with its rows, in the order the frame first names them.

    Raises
    ------
    NotEnoughData
        The frame lacks one of the factors.
    """
    require_factors(frame, names)
    if not names:
        yield (), frame
        return
    ordered = in_level_order(frame, names)
    for key, rows in ordered.groupby(list(names), sort=False, observed=True, dropna=False):
        yield tuple("" if value is None or value != value else value for value in key), rows


def rows_with_levels(
    frame: pd.DataFrame,
    *,
    form: Collection[str] | None = None,
    label_order: Collection[str] | None = None,
) -> pd.DataFrame:
    """The rows whose form and order of options are among these; None: whatever they are."""
    levels_of = {"form": form, "label_order": label_order}
    included = np.ones(len(frame), dtype=bool)
    for name, levels in levels_of.items():
        if levels is not None:
            included &= _is_one_of(frame[name], levels)
    return frame[included]


def baseline(frame: pd.DataFrame) -> pd.DataFrame:
    """The original form with the options in their own order."""
    return rows_with_levels(frame, form=USUAL["form"], label_order=USUAL["label_order"])


def other_level(frame: pd.DataFrame, factor: str, typed: str) -> str:
    """The form (or order of options) to hold against the usual one; empty if there is no other.

    What was typed, else a level of the usual name, else the first other one; negated forms last.

    Raises
    ------
    NotEnoughData
        What was typed is not there.
    """
    levels = [level for level in _distinct_texts(frame[factor]) if level not in USUAL[factor]]
    wanted = typed.strip()
    if wanted and wanted not in levels:
        raise WrongOption(
            f"There are no answers to the {_NAMES[factor]} '{wanted}'.",
            f"Type one of these: {name_list(levels, 20)}."
            if levels
            else f"Leave it empty: the study holds no other {_NAMES[factor]}.",
        )
    if wanted:
        return wanted
    preferred = _PREFERRED[factor]
    ranked = sorted(
        levels,
        key=lambda level: (
            preferred.index(level) if level in preferred else len(preferred),
            level in INVERTED_FORMS,
        ),
    )
    return ranked[0] if ranked else ""


def other_study_rows(frame: pd.DataFrame, factor: str, typed: str) -> pd.DataFrame:
    """Rows of another study to hold against the baseline: its other level if it has one, else all.

    What else could differ is as in the baseline, as far as the study has such answers.
    """
    level = other_level(frame, factor, typed)
    rows = rows_with_levels(frame, **{factor: (level,)}) if level else frame
    rest = "label_order" if factor == "form" else "form"
    usual = rows_with_levels(rows, **{rest: USUAL[rest]})
    return usual if len(usual) else rows


def baseline_or_all(frame: pd.DataFrame) -> pd.DataFrame:
    """The baseline of another study, or all of it where it has none."""
    usual = baseline(frame)
    return usual if len(usual) else frame


def match_scores(
    first: pd.DataFrame, second: pd.DataFrame, names: Collection[str] = (), *, other_study: bool
) -> MatchedScores:
    """Scores of two sets of administrations that agree in everything but form and order of options.

    Parameters
    ----------
    first, second : administrations
        See `administrations_of`.
    names : factors
        Set side by side.
    other_study : bool
        `second` is of another study: what is the same throughout each of the two, such as the name
        of the format, then need not agree between them, unless it is set side by side.
    """
    alone = other_study or not set(_distinct_texts(first["study"])) & set(
        _distinct_texts(second["study"])
    )
    free = [name for name in _DESIGN if alone and name not in names]
    ignored = {name for name in free if _is_constant(first, name) and _is_constant(second, name)}
    ignored |= {"form", "label_order", *(["study"] if alone else [])}
    same = [name for name in ("study", *FACTORS) if name not in ignored]
    unit, other_unit = unit_numbers([first, second], same)
    repeated, other_repeated = (np.bincount(units)[units] > 1 for units in (unit, other_unit))
    lost = int(repeated.sum() + other_repeated.sum())
    _, rows, other_rows = np.intersect1d(
        unit[~repeated], other_unit[~other_repeated], assume_unique=True, return_indices=True
    )
    sides = (first[~repeated].iloc[rows], second[~other_repeated].iloc[other_rows])
    x, y = (side["score"].to_numpy(dtype=np.float64) for side in sides)
    paired = np.isfinite(x) & np.isfinite(y)
    # ids of two studies could be the same
    used = [side["administration"][paired] for side in (sides[:1] if other_study else sides)]
    return MatchedScores(
        x,
        y,
        frozenset(int(number) for ids in used for number in ids),
        (repeated_note(lost),) if lost else (),
    )


def respondent_scores(cases: pd.DataFrame) -> pd.DataFrame:
    """Mean score of the administrations of every respondent and context that have one.

    Columns: `respondent` and `context` as text, `score`, NaN where no administration has one.
    """
    table = pd.DataFrame({name: as_text(cases[name]) for name in PERSON}, dtype="object")
    table["score"] = cases["score"].to_numpy()
    people = [table[name] for name in PERSON]
    means: pd.DataFrame = aggregate_administrations(table["score"], people).reset_index()
    return means


def scored_ids(cases: pd.DataFrame) -> frozenset[int]:
    """Administrations with a score."""
    return frozenset(int(number) for number in cases["administration"][cases["score"].notna()])


def varying_factors(
    frame: pd.DataFrame, names: Collection[str], factors: Sequence[str] = ("language", *_DESIGN)
) -> list[str]:
    """The factors that scores are averaged or pooled over without being asked to."""
    return [
        name
        for name in factors
        if name not in names and name in frame and not _is_constant(frame, name)
    ]


def _is_constant(frame: pd.DataFrame, name: str) -> bool:
    """Whether all rows agree."""
    return len(frame[name].unique()) <= 1


def check_other_study(item_scores: pd.DataFrame, convergent: pd.DataFrame | None) -> None:
    """Refuse a study as its own other scale: it would agree with itself perfectly.

    Raises
    ------
    NotEnoughData
        A study stands on both sides.
    """
    if convergent is None:
        return
    same = sorted(set(item_scores["study"].astype(str)) & set(convergent["study"].astype(str)))
    if same:
        raise WrongOption(
            f"Study {', '.join(same)} is chosen as another scale for itself.",
            "Choose a study of another scale as the convergent one, or none.",
        )


# The inputs of the validation report, and the criteria of one group.


@dataclass(frozen=True, eq=False)
class Plan:
    """What the criteria are to be computed from; None for what is not there.

    `alternate`, `reordered` and `convergent` are the administrations of other studies that count
    (see `administrations_of`); `downstream` has the columns respondent, context and score (and
    language, if groups differ in it); `form` and `order` are the levels held against the usual
    ones.
    """

    names: tuple[str, ...]
    form: str
    order: str
    alternate: pd.DataFrame | None
    reordered: pd.DataFrame | None
    convergent: pd.DataFrame | None
    downstream: pd.DataFrame | None
    model: ModelKind
    estimator: ChosenEstimator
    fitted: EstimatorKind  # the same with its rule for missing answers
    alpha_rule: ItemRule
    missing: ScoreRule
    ci_level: float
    bootstrap: Bootstrap


@dataclass(frozen=True)
class Basis:
    """How a criterion was computed, and how many rows were left out for missing answers."""

    method: str
    missing: int = 0


@dataclass(eq=False)
class GroupCriteria:
    """The coefficients of one group; filled criterion by criterion."""

    group: tuple[Any, ...]
    by_criterion: dict[Criterion, Estimate] = field(default_factory=dict)
    factorial: ModelFit | None = None
    fit: Mapping[str, Any] = field(default_factory=dict)
    basis: dict[Criterion, Basis] = field(default_factory=dict)
    complete: set[int] = field(default_factory=set)
    """Administrations that internal consistency rests on."""
    used: set[int] = field(default_factory=set)

    @property
    def coefficients(self) -> ValidityCoefficients:
        """As the rating scheme judges them."""
        return ValidityCoefficients(
            internal_consistency=self.by_criterion.get("internal consistency"),
            alternate_form=self.by_criterion.get("alternate form"),
            option_order=self.by_criterion.get("option order"),
            concurrent=self.by_criterion.get("concurrent"),
            convergent=self.by_criterion.get("convergent"),
            factorial=self.factorial,
        )

    @property
    def any_defined(self) -> bool:
        """Whether any criterion has a value."""
        values = [coefficient.value for coefficient in self.by_criterion.values()]
        return any(
            map(math.isfinite, [*values, *([self.factorial.rmsea] if self.factorial else [])])
        )


def n_scores_used(cases: pd.DataFrame, groups: Iterable[GroupCriteria]) -> int:
    """How many scores of these administrations are behind any criterion, each counted once."""
    used = {administration for group in groups for administration in group.used}
    used_cases = cases[cases["administration"].isin(list(used))]
    return int((used_cases["planned"] - used_cases["missing"]).sum())

"""The tables of `group_comparison`: groups, tests of all together, and pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.comparisons.group_comparison_groups import GroupedScores
from core.analysis.comparisons.score_comparison import MOST_LEVELS, level_pairs
from core.analysis.matrices import Floats
from core.domain.results import Column
from core.psychometrics.comparisons.correlation import Alternative, stars
from core.psychometrics.comparisons.group_tests import MeanTest
from core.psychometrics.comparisons.known_groups import GroupsTest, known_groups
from core.psychometrics.comparisons.mean_comparison import mean_interval, summary, welch_t
from core.psychometrics.wording import listed

Row = tuple[Any, ...]
_STARS = "Of p before adjusting: * below .05, ** below .01, *** below .001."

Pairs = dict[tuple[str, str], MeanTest]

_SCALE = Column("scale", "Scale", help="All items together, then each subscale.")


@dataclass(frozen=True, eq=False)
class ComparedScale:
    """What one scale adds to the tables, what to say about it, and the administrations used."""

    groups: list[Row]
    tests: list[Row]
    pairs: list[Row]
    notes: list[str]
    used: set[int]

    @property
    def defined(self) -> bool:
        """Whether any two groups could be compared."""
        return bool(self.used)


def compare_scale(own: GroupedScores, alternative: Alternative, level: float) -> ComparedScale:
    """The groups of one scale, compared all together and two by two."""
    lead = (*own.lead, own.scale)
    names = list(own.scores)
    pairs = {
        (first, second): welch_t(
            own.scores[second], own.scores[first], alternative=alternative, level=level
        )
        for first, second in level_pairs(names)
    }
    if len(names) == 2:
        shift = pairs[names[0], names[1]]
        test, problems = _two(shift), shift.problems
    else:
        together = known_groups(own.scores, level=level)
        test, problems = _several(together), together.problems
    counts = [int(np.isfinite(scores).sum()) for scores in own.scores.values()]
    n_missing = sum(map(len, own.scores.values())) - sum(counts)
    return ComparedScale(
        [(*lead, name, *_group(scores, level)) for name, scores in own.scores.items()],
        [(*lead, len(names), *test, sum(counts), n_missing, " ".join(problems))],
        [(*lead, *pair, *_pair(shift)) for pair, shift in pairs.items()],
        [*(f"{own.where}: {problem}" for problem in problems), *_pair_notes(own, pairs)],
        _used(own, pairs),
    )


def _group(scores: Floats, level: float) -> Row:
    """Mean, SD, n and the interval of the mean of one group."""
    known, n_missing = summary(scores), int((~np.isfinite(scores)).sum())
    if known.n < 2:
        remark = "No SD and no interval: it needs two scores."
        return (known.mean, known.sd, math.nan, math.nan, known.n, n_missing, remark)
    if known.sd > 0:
        return (known.mean, known.sd, *mean_interval(known, level), known.n, n_missing, "")
    remark = "No interval: every score is the same."
    return (known.mean, 0.0, math.nan, math.nan, known.n, n_missing, remark)


def _two(shift: MeanTest) -> Row:
    """The test of two groups."""
    return (
        "Welch's t", shift.t, math.nan, shift.df, shift.p, math.nan, shift.stars, "d",
        shift.effect, shift.effect_low, shift.effect_high, math.nan,
    )  # fmt: skip


def _several(found: GroupsTest) -> Row:
    """The test of three groups or more; the classic one where a group does not vary."""
    test = ("Welch's F", found.f, found.df1, found.df2, found.p)
    if math.isnan(found.f) and math.isfinite(found.classic_f):
        df2 = float(sum(own.n - 1 for own in found.summaries))
        test = ("F, equal variances", found.classic_f, found.df1, df2, found.classic_p)
    return (
        *test, math.nan, stars(test[-1]), "η²", found.eta_squared, found.low, found.high,
        found.omega_squared,
    )  # fmt: skip


def _pair(shift: MeanTest) -> Row:
    """The test of one pair of groups; n come as (second, first)."""
    return (
        shift.difference, shift.low, shift.high, shift.t, shift.df, shift.p, math.nan, shift.stars,
        shift.effect, shift.effect_low, shift.effect_high, *reversed(shift.n),
        " ".join(shift.problems),
    )  # fmt: skip


def _pair_notes(own: GroupedScores, pairs: Pairs) -> list[str]:
    """Undefined pairs among three groups or more, and whether not all pairs were taken."""
    if len(own.scores) < 3:
        return []
    told: dict[str, list[str]] = {}
    for (first, second), shift in pairs.items():
        for problem in shift.problems:
            told.setdefault(problem, []).append(f"{first} with {second}")
    notes = [f"{own.where}, {listed(where)}: {problem}" for problem, where in told.items()]
    if len(own.scores) > MOST_LEVELS:
        notes.append(
            f"{own.where}: of {len(own.scores)} groups, each is compared with the first only "
            f"(every pair is taken up to {MOST_LEVELS})."
        )
    return notes


def _used(own: GroupedScores, pairs: Pairs) -> set[int]:
    """Administrations with a score in a group that could be compared with another."""
    names = {name for pair, shift in pairs.items() if math.isfinite(shift.t) for name in pair}
    return {
        one
        for name in names
        for one, score in zip(own.administrations[name], own.scores[name], strict=True)
        if math.isfinite(score)
    }


def group_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of means."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        _SCALE,
        Column("group", "Group", help="A level of what is compared, or a group as typed."),
        Column("mean", "M", "points", "Mean of the scores of the group."),
        Column("sd", "SD", "points", "Standard deviation, divisor n - 1."),
        Column("ci_low", f"{interval} low", "points", "Of the mean, by t with n - 1 df."),
        Column("ci_high", f"{interval} high", "points", "Of the mean, by t with n - 1 df."),
        Column("n", "n", "count", "Administrations with a score."),
        Column("n_missing", "Missing", "count", "Administrations without a score."),
        Column("remark", "Remark", help="Why undefined."),
    )


def test_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of tests."""
    interval = f"Effect {ci_level * 100:g}% CI"
    how = "d by the noncentral t, Cumming & Finch (2001); η² by the noncentral F, Steiger (2004)."
    return (
        _SCALE,
        Column("n_groups", "Groups", "count"),
        Column(
            "test",
            "Test",
            help="Two groups: Welch's t (1947), second minus first. More: Welch's F (1951), or "
            "the classic F where a group does not vary.",
        ),
        Column("statistic", "t or F", "points", "Difference in units of its error."),
        Column("df1", "df 1", "points", "Groups - 1; of F only."),
        Column("df2", "df 2", "points", "Of the error; not whole where variances may differ."),
        Column("p", "p", "p", "Against equal means."),
        Column("p_adjusted", "Adjusted p", "p", "Over the scales of what is set side by side."),
        Column("stars", "Stars of p", help=_STARS),
        Column(
            "effect",
            "Effect",
            help="d: difference / pooled SD, Cohen (1988). η²: share of variance between groups.",
        ),
        Column("value", "Effect size", "points", "Of d or η², as named beside."),
        Column("ci_low", f"{interval} low", "points", how),
        Column("ci_high", f"{interval} high", "points", how),
        Column(
            "omega_squared",
            "ω²",
            "points",
            "Share of variance between groups, corrected for chance; Hays (1963). May be "
            "negative, which means none.",
        ),
        Column("n", "n", "count", "Administrations with a score."),
        Column("n_missing", "Missing", "count", "Administrations without a score."),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def pair_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of pairs."""
    interval = f"{ci_level * 100:g}% CI"
    noncentral = "By the noncentral t distribution, two-sided; Cumming & Finch (2001)."
    return (
        _SCALE,
        Column("first", "First"),
        Column("second", "Second"),
        Column("difference", "Second − first", "points", "Difference of the means."),
        Column("ci_low", f"{interval} low", "points", "Two-sided, by Welch's t (1947)."),
        Column("ci_high", f"{interval} high", "points", "Two-sided, by Welch's t (1947)."),
        Column("t", "t", "points", "Welch (1947): variances may differ."),
        Column("df", "df", "points", "Not whole where variances differ."),
        Column("p", "p", "p", "Against equal means, in the direction expected."),
        Column("p_adjusted", "Adjusted p", "p", "Over scales and pairs of what is side by side."),
        Column("stars", "Stars of p", help=_STARS),
        Column("d", "d", "points", "Difference / pooled SD; Cohen (1988)."),
        Column("d_low", f"d {interval} low", "points", noncentral),
        Column("d_high", f"d {interval} high", "points", noncentral),
        Column("n_first", "n first", "count"),
        Column("n_second", "n second", "count"),
        Column("remark", "Remark", help="Why undefined."),
    )

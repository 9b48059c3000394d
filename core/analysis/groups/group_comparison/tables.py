"""The tables of groups, of tests of all groups together, and of pairs."""

from __future__ import annotations

from core.analysis.kit.adjusting import STARS
from core.analysis.kit.options import StatisticForm, reported_first
from core.domain.tables import (
    LEVEL,
    TableSpec,
    count,
    estimate,
    key,
    number,
    p_value,
    point_estimate,
    remark,
    text,
)

_SCALE = key("scale", "Scale", "All items together, then each subscale.")
_UNIT = text(
    "unit",
    "Unit",
    "What is independent of each other: persons, contexts (entities, respondents), or repetitions "
    "and administrations where one context alone was asked.",
)
_N = count("n", "n", "Units with a score.")
_MISSING = count("n_missing", "Missing", "Units without a score.")
_FEWER = count("n_fewer", "Fewer items", "Scores of some of the items only.")

GROUPS = TableSpec(
    "groups",
    "Groups",
    (
        _SCALE,
        key("group", "Group", "A level of what is compared, or a group as typed."),
        *estimate(
            "mean",
            "M",
            "points",
            "Mean of the scores of the group.",
            "Of the mean, by t with n - 1 df.",
            between=(number("sd", "SD", "points", "Standard deviation, divisor n - 1."),),
        ),
        _UNIT,
        _N,
        _MISSING,
        _FEWER,
        remark("Why undefined."),
    ),
    "Groups",
)
_CORRECTED = estimate(
    "corrected",
    "Effect size, corrected",
    "points",
    "Without what chance adds where units are few. Of d and d_av: g, Hedges (1981). Of η²: "
    "ε² = (η² − by chance) / (1 − by chance), Kelley (1935); of partial η² the same, Mordkoff "
    "(2019). May be below 0, which means none.",
    "d by the noncentral t, Cumming & Finch (2001), d_av Algina & Keselman (2003); η² by the "
    "noncentral F, Steiger (2004), with SDs that may differ, Brown & Forsythe (1974); partial η² "
    "Smithson (2003). Of the population's effect, which the corrected value estimates.",
    ends_title=f"Effect {LEVEL}",
)
_PUBLISHED = (
    point_estimate("value", "Effect size", "points", "As the column Effect says, as published."),
    number(
        "by_chance",
        "By chance",
        "proportion",
        "Mean η² over all ways to deal the scores to the groups: (groups − 1) / (n − 1). Within "
        "units: 1 / n.",
    ),
)
_GENERALIZED = (
    *estimate(
        "generalized_corrected",
        "Generalized η², corrected",
        "proportion",
        "(SS of groups − the part that chance adds, the mean square of errors times groups − 1) / "
        "all sums of squares. May be below 0, which means none.",
        "That of partial η², with the variance between units as observed.",
        ends_title=f"Generalized η² {LEVEL}",
        ends_name="generalized",
    ),
    point_estimate(
        "generalized",
        "Generalized η²",
        "proportion",
        "Share of all variance, that between units too, which lies between groups; Olejnik & "
        "Algina (2003).",
    ),
    number(
        "generalized_by_chance",
        "Generalized η² by chance",
        "proportion",
        "Its mean over all ways to deal the scores of each unit to the groups.",
    ),
)
_OMEGA = number(
    "omega_squared",
    "ω²",
    "points",
    "Share of variance between groups, corrected for chance in another way; Hays (1963). May be "
    "negative, which means none.",
)


_BEFORE_EFFECT = (
    _SCALE,
    count("n_groups", "Groups"),
    text(
        "test",
        "Test",
        "Two groups: Welch's t (1947) or, within units, the paired t; second minus first. "
        "More: Welch's F (1951), or the classic F where a group does not vary; within units, "
        "F of repeated measures.",
    ),
    number("statistic", "t or F", "points", "Difference in units of its error."),
    number("df1", "df 1", "points", "Groups - 1; of F only."),
    number("df2", "df 2", "points", "Of the error; not whole where variances may differ."),
    number(
        "epsilon",
        "ε",
        "proportion",
        "Within units, degrees of freedom are multiplied by it; Greenhouse & Geisser (1959).",
    ),
    p_value("p", "p", "Against equal means.", of="corrected"),
    p_value("p_adjusted", "Adjusted p", "Over the scales of a group of results.", of="corrected"),
    STARS,
    text(
        "effect",
        "Effect",
        "d: difference / pooled SD, Cohen (1988); of the same units d_av, / root of the mean "
        "of both variances, Cumming (2012). η²: share of variance between groups; of the same "
        "units partial η², of the variance within units.",
    ),
)
_AFTER_EFFECT = (
    text(
        "design",
        "Design",
        "within: the same units in every group, paired. between: other units in every group; "
        "some shared: the test takes units in several groups as different ones.",
    ),
    _UNIT,
    text("averaged", "Averaged over", "In what the answers of a unit in a group differ."),
    count("n", "n", "Units with a score; within: in all groups."),
    count("n_missing", "Missing", "Other units."),
    count("n_items", "Items", "Items that have answers in all groups."),
    count("items_left_out", "Items left out", "Answered in some groups only."),
    _FEWER,
    remark("Why undefined, and cautions."),
)


def tests_spec(reported: StatisticForm) -> TableSpec:
    """The table of tests, with the form of the effect first that the sentence takes."""
    effects = (*reported_first(reported, _CORRECTED, _PUBLISHED), *_GENERALIZED, _OMEGA)
    columns = (*_BEFORE_EFFECT, *effects, *_AFTER_EFFECT)
    return TableSpec("tests", "All groups together", columns, "Tests")


PAIRS = TableSpec(
    "pairs",
    "Groups two by two",
    (
        _SCALE,
        key("first", "First"),
        key("second", "Second"),
        number("mean_first", "M first", "points", "Mean of the first, of the units compared."),
        number("mean_second", "M second", "points", "Mean of the second, of the units compared."),
        *estimate(
            "difference",
            "Second − first",
            "points",
            "Difference of the means; within: over the units that both have.",
            "Two-sided, for all pairs of a scale together; Games & Howell (1976), with two groups "
            "Welch's t (1947). Within: by the paired t, with Bonferroni's level.",
        ),
        number(
            "t",
            "t",
            "points",
            "Welch (1947): variances may differ. Within: paired; Student (1908).",
        ),
        number("df", "df", "points", "Not whole where variances differ."),
        p_value("p", "p", "Against equal means, in the direction expected.", of="difference"),
        p_value(
            "p_adjusted",
            "Adjusted p",
            "Over scales and pairs of a group of results.",
            of="difference",
        ),
        STARS,
        *estimate(
            "d",
            "d",
            "points",
            "Difference / pooled SD; Cohen (1988). Within: d_av, / root of the mean of both "
            "variances; Cumming (2012).",
            "By the noncentral t distribution, two-sided; Cumming & Finch (2001), d_av Algina & "
            "Keselman (2003).",
            ends_title=f"d {LEVEL}",
            ends_name="d",
        ),
        number(
            "g",
            "g",
            "points",
            "d without what few units add to it; Hedges (1981). It has the interval of d.",
        ),
        *estimate(
            "d_z",
            "d_z",
            "points",
            "Within: difference / SD of the differences; Cohen (1988). The larger, the more alike "
            "units are in both groups.",
            "By the noncentral t distribution, two-sided; Cumming & Finch (2001).",
            ends_title=f"d_z {LEVEL}",
            ends_name="d_z",
        ),
        *estimate(
            "d_average",
            "d of average variance",
            "points",
            "Between: difference / root of the mean of both variances, which may differ; Bonett "
            "(2008).",
            "By the normal distribution, two-sided; Bonett (2008).",
            ends_title=f"d of average variance {LEVEL}",
            ends_name="d_average",
        ),
        count("n_first", "n first"),
        count("n_second", "n second"),
        remark("Why undefined."),
    ),
    "Pairs",
)
WITHIN_ONLY = (
    *("epsilon", "generalized", "generalized_low", "generalized_high"),
    *("generalized_corrected", "generalized_by_chance"),
    *("d_z", "d_z_low", "d_z_high"),
)
"""Columns of designs within units."""
BETWEEN_ONLY = ("omega_squared", "d_average", "d_average_low", "d_average_high")
"""Columns of designs between units."""

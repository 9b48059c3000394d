"""The columns of the tables of `score_correlations`, with what each tells."""

from __future__ import annotations

from core.domain.results import Column

_ADJUSTED = (
    "Over the scales and pairs of levels of the group; Holm (1979) or Benjamini & Hochberg (1995)."
)
_STARS = "Of p before adjusting: * below .05, ** below .01, *** below .001."
_NONCENTRAL = "By the noncentral t distribution, two-sided; Cumming & Finch (2001)."


def _pair_columns() -> tuple[Column, ...]:
    return (
        Column("scale", "Scale", help="All items together, then each subscale."),
        Column("first", "First", help="A level of what is compared."),
        Column("second", "Second", help="The level it is compared with, all else the same."),
    )


def correlation_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of correlations."""
    interval = f"{ci_level * 100:g}% CI"
    fisher = "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000)."
    resampled = "Percentiles over resampled pairs, where asked for; Efron (1979)."
    return (
        *_pair_columns(),
        Column("kind", "Kind", help="pearson: linear. spearman: of mean ranks."),
        Column("r", "r", "correlation", "How far the pairs keep their order, -1 to 1."),
        Column("ci_low", f"{interval} low", "correlation", fisher),
        Column("ci_high", f"{interval} high", "correlation", fisher),
        Column("bootstrap_low", f"Bootstrap {interval} low", "correlation", resampled),
        Column("bootstrap_high", f"Bootstrap {interval} high", "correlation", resampled),
        Column("p", "p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom."),
        Column("p_adjusted", "Adjusted p", "p", _ADJUSTED),
        Column("stars", "Stars of p", help=_STARS),
        Column("n_pairs", "Pairs", "count", "Pairs with both scores."),
        Column("without_partner", "Without partner", "count", "Scores under one level only."),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def difference_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of mean differences."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        *_pair_columns(),
        Column("mean_first", "M first", "points", "Over the pairs with both scores."),
        Column("mean_second", "M second", "points", "Over the pairs with both scores."),
        Column("difference", "Second − first", "points", "Difference of the means."),
        Column("ci_low", f"{interval} low", "points", "By t with n - 1 degrees of freedom."),
        Column("ci_high", f"{interval} high", "points", "By t with n - 1 degrees of freedom."),
        Column("t", "t", "points", "Paired t test; Student (1908)."),
        Column("df", "df", "count", "Degrees of freedom: pairs - 1."),
        Column("p", "p", "p", "Against a difference of 0, in the direction expected."),
        Column("p_adjusted", "Adjusted p", "p", _ADJUSTED),
        Column("stars", "Stars of p", help=_STARS),
        Column("d_z", "d_z", "points", "Difference / SD of the differences; Cohen (1988)."),
        Column("d_z_low", f"d_z {interval} low", "points", _NONCENTRAL),
        Column("d_z_high", f"d_z {interval} high", "points", _NONCENTRAL),
        Column("n_pairs", "Pairs", "count", "Pairs with both scores."),
        Column("remark", "Remark", help="Why undefined."),
    )


def repetition_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of all repetitions together."""
    interval = f"{ci_level * 100:g}% CI"
    forms = (
        "ICC1: repetitions interchangeable; ICC2: a random sample of repetitions, level counts; "
        "ICC3: only the order of units counts; with k, of the mean of all. Shrout & Fleiss (1979)."
    )
    how = "McGraw & Wong (1996)."
    return (
        Column("scale", "Scale", help="All items together, then each subscale."),
        Column("coefficient", "Coefficient", help=forms),
        Column("value", "Value", "correlation", "At most 1; may be negative."),
        Column("ci_low", f"{interval} low", "correlation", how),
        Column("ci_high", f"{interval} high", "correlation", how),
        Column("p", "p", "p", "F test against 0."),
        Column("n_units", "Units", "count", "With a score in every repetition."),
        Column("n_repetitions", "Repetitions", "count"),
        Column("n_left_out", "Missing", "count", "Units lacking the score of some repetition."),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )

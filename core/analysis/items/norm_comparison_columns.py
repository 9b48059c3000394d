"""The columns of the table of `norm_comparison`, with what each tells."""

from __future__ import annotations

from core.domain.results import Column


def norm_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("scale", "Scale", help="A subscale, or all items."),
        Column("n", "n", "count", "Administrations with a score."),
        Column("missing", "Missing", "count", "Administrations without a score."),
        Column("mean", "M", "points", "Mean of the scores."),
        Column("sd", "SD", "points", "Of the scores; divisor n - 1."),
        Column("norm_n", "Norm n", "count", "As typed in."),
        Column("norm_mean", "Norm M", "points", "As typed in."),
        Column("norm_sd", "Norm SD", "points", "As typed in."),
        Column("difference", "Difference", "points", "Mean of the scores minus that of the norms."),
        Column("ci_low", f"{interval} low", "points", "Of the difference; Welch (1947)."),
        Column("ci_high", f"{interval} high", "points", "Of the difference; Welch (1947)."),
        Column(
            "t",
            "t",
            "points",
            "Difference / its standard error, variances not taken as equal; Welch (1947).",
        ),
        Column("df", "df", "points", "Degrees of freedom by Welch and Satterthwaite."),
        Column("p", "p", "p", "Of a difference this large or larger if there were none."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            "Over all rows of the table; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        Column("d", "d", "points", "Difference / pooled SD; Cohen (1988)."),
        Column(
            "d_low", f"d {interval} low", "points", "By the noncentral t; Cumming & Finch (2001)."
        ),
        Column(
            "d_high", f"d {interval} high", "points", "By the noncentral t; Cumming & Finch (2001)."
        ),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )

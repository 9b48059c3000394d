"""The columns of the tables of `multitrait_matrix`, with what each tells."""

from __future__ import annotations

from core.domain.results import Column


def correlation_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of correlations."""
    interval = f"{ci_level * 100:g}% CI"
    fisher = "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000)."
    resampled = "Percentiles over resampled rows, where asked for; Efron (1979)."
    return (
        Column("score_1", "Score 1"),
        Column("score_2", "Score 2"),
        Column(
            "same_trait",
            "Same trait",
            help="Both are of the same scale, taken in different ways: they should go together "
            "(convergence); Campbell & Fiske (1959).",
        ),
        Column(
            "same_method",
            "Same method",
            help="Both were taken in the same way, such as with the same form; what they share "
            "may be the way; Campbell & Fiske (1959).",
        ),
        Column("kind", "Kind", help="pearson: linear. spearman: of mean ranks."),
        Column("r", "r", "correlation", "How far the scores go together, -1 to 1."),
        Column("ci_low", f"{interval} low", "correlation", fisher),
        Column("ci_high", f"{interval} high", "correlation", fisher),
        Column("bootstrap_low", f"Bootstrap {interval} low", "correlation", resampled),
        Column("bootstrap_high", f"Bootstrap {interval} high", "correlation", resampled),
        Column("p", "p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            "Over the pairs of scores of the group; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        Column(
            "stars",
            "Stars of p",
            help="Of p before adjusting: * below .05, ** below .01, *** .001.",
        ),
        Column("n", "n", "count", "Rows that have both scores."),
        Column(
            "corrected",
            "Corrected r",
            "none",
            "What r would be between scores without error: r / square root of the product of both "
            "alphas; Spearman (1904). May exceed 1.",
        ),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def matrix_columns(size: int) -> tuple[Column, ...]:
    """What follows the groups in the matrix: a numbered column for each of its scores."""
    told = "Correlation with the score of this number; on the diagonal Cronbach's alpha (1951)."
    return (
        Column("number", "Number", "count", "Heads the column of this score."),
        Column("score", "Score"),
        *(Column(str(number), str(number), "correlation", told) for number in range(1, size + 1)),
    )


def score_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of scores."""
    interval = f"α {ci_level * 100:g}% CI"
    feldt = "Feldt, Woodruff & Salih (1987)."
    return (
        Column("number", "Number", "count", "Its place in the matrix."),
        Column("score", "Score"),
        Column("mean", "M", "points", "Over the rows."),
        Column("sd", "SD", "points", "Over the rows, divisor n - 1."),
        Column("n", "n", "count", "Rows that have the score."),
        Column(
            "alpha",
            "α",
            "correlation",
            "Cronbach's alpha (1951) of the items as they enter the score, averaged where "
            "administrations are averaged.",
        ),
        Column("alpha_low", f"{interval} low", "correlation", feldt),
        Column("alpha_high", f"{interval} high", "correlation", feldt),
        Column("n_alpha", "n of α", "count", "Rows with every item that varies."),
        Column("remark", "Remark", help="Why alpha is undefined, and cautions."),
    )

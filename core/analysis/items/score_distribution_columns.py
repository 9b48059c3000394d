"""The columns of the tables of `score_distribution`, with what each tells."""

from __future__ import annotations

from core.domain.results import Column

_ENDS = "Lowest and highest are those of the options of the answer format; Terwee et al. (2007)."

SCORES = (
    Column("subscale", "Score", help="A subscale, or all items."),
    Column("n_items", "Items", "count", "Items of the score."),
    Column("n", "n", "count", "Administrations with a score."),
    Column("missing", "Missing", "count", "Administrations without a score."),
    Column("mean", "M", "points", "Mean of the scores; a score is the mean of its items."),
    Column("variance", "Variance", "points squared", "Of the scores; divisor n - 1."),
    Column("sd", "SD", "points", "Square root of the variance; divisor n - 1."),
    Column(
        "skewness",
        "Skewness",
        help="0 if both sides are alike, above 0 with a long tail of high scores. Adjusted "
        "Fisher-Pearson G1, as in SPSS and SAS; Joanes & Gill (1998).",
    ),
    Column(
        "kurtosis",
        "Excess kurtosis",
        help="Weight of the tails: 0 for a normal distribution, above 0 for heavier tails. G2, as "
        "in SPSS and SAS; Joanes & Gill (1998).",
    ),
    Column("min", "Min", "points", "Lowest score."),
    Column("q1", "Q1", "points", "A quarter lies below; interpolated linearly (R type 7)."),
    Column("median", "Median", "points", "Half lie below."),
    Column("q3", "Q3", "points", "Three quarters lie below; interpolated linearly (R type 7)."),
    Column("max", "Max", "points", "Highest score."),
    Column("range", "Range", "points", "Highest minus lowest score."),
    Column(
        "floor", "Floor", "proportion", f"Administrations with every answer at the low end. {_ENDS}"
    ),
    Column(
        "ceiling", "Ceiling", "proportion", f"Administrations with every answer at the top. {_ENDS}"
    ),
)

BINS = (
    Column("subscale", "Score", help="A subscale, or all items."),
    Column("bin_low", "Scores low", "points", "From, included."),
    Column("bin_high", "Scores high", "points", "Up to, excluded but for the last bin."),
    Column("count", "Administrations", "count", "Scores in the bin."),
)

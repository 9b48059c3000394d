"""The columns of the tables of `item_statistics`, with what each tells."""

from __future__ import annotations

from core.analysis.matrices import KEYED_TITLE
from core.domain.results import Column

GOOD_FROM, GOOD_TO = 0.4, 0.7
"""Discriminations between these, both included, count as good."""

OBSERVED_RANGE = (
    "The points of the options are not known, or scores lie beyond them, so difficulty takes the "
    "lowest and highest score that came up under an answer format as its range: where an end was "
    "never chosen, the range is narrower than the options printed."
)

_R = "Of the items with a defined discrimination; each correlates with its own subscale."
_MEAN = "Mean of the items' means, after reverse-keying; without gaps, the mean score."


def item_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of items."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column(
            "keyed",
            KEYED_TITLE,
            help="-1 is reverse-keyed: agreement means less of what is measured.",
        ),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column("missing", "Missing", "count", "Administrations without a score for the item."),
        Column("mean", "M", "points", "Mean score after reverse-keying, all answers."),
        Column("variance", "Variance", "points squared", "Divisor n - 1, all answers."),
        Column("sd", "SD", "points", "Square root of the variance."),
        Column(
            "difficulty",
            "Difficulty",
            "proportion",
            "Mean score as a share of the possible range: (M - lowest) / (highest - lowest). "
            "Lowest and highest are those of the options of the answer format. High "
            "values: a high score is easily reached; Crocker & Algina (1986).",
        ),
        Column(
            "discrimination",
            "Discrimination",
            "correlation",
            "Correlation of the item with the sum of the other items of its subscale; Henrysson "
            "(1963).",
        ),
        Column("ci_low", f"{interval} low", "correlation", "Fisher's z; Fisher (1921)."),
        Column("ci_high", f"{interval} high", "correlation", "Fisher's z; Fisher (1921)."),
        Column("n_discrimination", "n of discrimination", "count", "Administrations behind it."),
        Column("zero_variance", "Zero variance", help="Every answer got the same score."),
        Column(
            "alpha_if_dropped",
            "α if dropped",
            "correlation",
            "Cronbach's alpha of the subscale without this item; Cronbach (1951).",
        ),
        Column("remark", "Remark", help="Why undefined, and what a negative value may come from."),
    )


SUMMARY = (
    Column("subscale", "Subscale", help="Each subscale, then all items where there are several."),
    Column("items", "Items", "count", "Items of the subscale, or all."),
    Column("zero_variance_items", "Zero variance", "count", "Every answer got the same score."),
    Column("undefined_items", "Undefined", "count", "Items without a discrimination."),
    Column("good_items", "Good", "count", "Discrimination from .40 to .70, commonly called good."),
    Column(
        "below_items", "Below .40", "count", "Discrimination below .40, negative ones included."
    ),
    Column("above_items", "Above .70", "count", "Discrimination above .70: nearly repeats others."),
    Column("negative_items", "Negative", "count", "Discrimination below 0; see the remarks."),
    Column("mean_r_reverse", "Mean r, reverse-keyed", "correlation", _R),
    Column("mean_r_standard", "Mean r, standard", "correlation", _R),
    Column("mean_item_mean", "Mean of item means", "points", _MEAN),
    Column("mean_reverse", "Mean, reverse-keyed", "points", _MEAN),
    Column("mean_standard", "Mean, standard", "points", _MEAN),
    Column("scores_used", "Scores used", "count", "Usable answers to these items."),
    Column("missing", "Missing", "count", "Planned answers that are not usable."),
)

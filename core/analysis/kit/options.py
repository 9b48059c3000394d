"""The options that several analyses share, so that they read and mean the same everywhere.

Docstrings do not repeat what stands here: `by` names factors whose levels make the groups, and
everything is computed within each; `ci_level` in (0, 1) is the two-sided coverage of intervals;
`resamples` is the number of bootstrap resamples, 0 for none; the same `seed` draws the same ones;
`adjust` corrects p over all tests of one kind within a group; `reported` says whether the sentence
takes the value corrected for chance or as published.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeVar

from core.analysis.kit.matrices import AUTOMATIC_MISSING, MISSING_CHOICES
from core.analysis.kit.registry import Choice, DesignFactors, Number
from core.domain.results import ResultTable
from core.stats.correlation import Alternative
from core.stats.groups import Adjustment
from core.stats.scores import ScoreRule

T = TypeVar("T")
By = Annotated[
    tuple[str, ...],
    DesignFactors(
        "Separately for",
        help="Everything is computed within each group of these factors. Languages, forms and "
        "other ways of asking stand here from the start where the answers vary in them.",
    ),
]
ConfidenceLevel = Annotated[float, Number("Confidence level", 0.5, 0.999)]
_AT_RANDOM = (
    "Automatic takes complete administrations, or all answers where these leave out more than a "
    "tenth. Full information takes answers as missing at random. A note says what was chosen."
)
MissingRule = Annotated[
    Literal["automatic", "listwise", "pairwise", "fiml"],
    Choice(
        "Missing answers",
        MISSING_CHOICES,
        help="Which administrations discrimination and alpha are computed from. " + _AT_RANDOM,
    ),
]
MissingRows = Annotated[
    Literal["automatic", "listwise", "available"],
    Choice(
        "Missing answers",
        (
            AUTOMATIC_MISSING,
            ("listwise", "Only complete administrations (listwise)"),
            ("available", "All answers there are (full information; ordered answers: pairwise)"),
        ),
        help=_AT_RANDOM,
    ),
]
SCORE_RULES: tuple[tuple[ScoreRule, str], ...] = (
    ("prorated", "Mean of the answers, where 80 % of the items have one (prorated)"),
    ("listwise", "Only administrations without a gap (listwise)"),
    ("half", "Mean of the answers, where half of the items have one"),
    ("available", "Mean of the answers there are"),
)
ScoreMissing = Annotated[
    ScoreRule,
    Choice("Missing answers", SCORE_RULES, help="Which administrations get a score of a scale."),
]


# Options and sentences of analyses of scores.

INDEPENDENT_ROWS = (
    "Tests and intervals take rows as independent.",
    "Rows of one model are not, so the true uncertainty is larger.",
)
FORMAT_POINTS = (
    "Formats may differ in their points: mean differences between them are not comparable, "
    "correlations are."
)
FORMAT_SUMS = "Formats differ in their points, so that no sum of points stands for the same."
ADJUSTMENT_NAMES = {"holm": "Holm", "benjamini-hochberg": "Benjamini and Hochberg"}
TAILS = {
    "two-sided": "two-tailed",
    "greater": "one-tailed (second above first)",
    "less": "one-tailed (second below first)",
}

Complete = Annotated[
    ScoreRule,
    Choice(
        "Fewest answers of a score",
        (
            ("prorated", "80 % of the items of the scale"),
            ("listwise", "All items of the scale"),
            ("half", "Half of them"),
            ("available", "One answer"),
        ),
        help="A score is the mean of the items answered.",
    ),
]
Adjust = Annotated[
    Adjustment,
    Choice(
        "Adjust p",
        (
            ("holm", "Holm: chance of any false finding"),
            ("benjamini-hochberg", "Benjamini-Hochberg: share of false findings"),
        ),
        help="Over all tests of one kind within a group.",
    ),
]
Tail = Annotated[
    Alternative,
    Choice(
        "Expected difference of means",
        (
            ("two-sided", "Either way (two-tailed)"),
            ("greater", "Second above first (one-tailed)"),
            ("less", "Second below first (one-tailed)"),
        ),
        help="What p of a difference between two means tests. Decide before seeing the scores.",
    ),
]
StatisticForm = Literal["corrected", "published"]
Reported = Annotated[
    StatisticForm,
    Choice(
        "The sentence takes",
        (("corrected", "The value corrected for chance"), ("published", "The value as published")),
        help="Chance pushes some statistics one way where answers are few. Tables have the "
        "published value, the corrected one with its interval, and what chance alone gives; the "
        "one that the sentence takes stands first.",
    ),
]
Resamples = Annotated[
    int,
    Number(
        "Bootstrap resamples", 0, 10_000, help="Of rows, for the bootstrap interval; 0 for none."
    ),
]
Seed = Annotated[
    int, Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples.")
]


# Options of rates over tests: the same word or item asked several times.

MissingTestRule = Literal["listwise", "available"]
NeutralRule = Literal["neutral", "left_out"]
MissingTests = Annotated[
    MissingTestRule,
    Choice(
        "A word or item with a test missing",
        (
            ("listwise", "Is left out (listwise)"),
            ("available", "Counts on the tests that it has (available)"),
        ),
        help="A test is missing where it was not asked or its call failed. What has one test is "
        "the same in all tests by definition, so that half-finished studies look consistent.",
    ),
]
NeutralReplies = Annotated[
    NeutralRule,
    Choice(
        "Replies without an option",
        (
            ("neutral", "Are neutral answers (as published)"),
            ("left_out", "Are missing tests"),
        ),
        help="Neutral, refused, off the scale, ambiguous, cut off or empty.",
    ),
]
WordResamples = Annotated[
    int, Number("Bootstrap resamples", 0, 10_000, help="Of whole words or items; 0 for none.")
]


def reported_first(
    reported: StatisticForm, corrected: Sequence[T], published: Sequence[T]
) -> tuple[T, ...]:
    """The columns, or cells, of both forms of a statistic, those that the sentence takes first."""
    first, second = (corrected, published) if reported == "corrected" else (published, corrected)
    return (*first, *second)


def adjustment_words(adjust: Adjustment, tables: Iterable[ResultTable]) -> str:
    """That p was adjusted, for the end of a method; empty where no test was made."""
    columns = (one.frame["p_adjusted"] for one in tables if "p_adjusted" in one.frame)
    some = any(column.notna().any() for column in columns)
    return f"; p adjusted after {ADJUSTMENT_NAMES[adjust]}" if some else ""

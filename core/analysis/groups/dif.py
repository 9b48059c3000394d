"""Which items are answered differently by levels of a factor that have the same trait?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.factors.invariance.levels import levels_by_administration
from core.analysis.shared.matrices import (
    ScoreMatrix,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    score_matrices,
    with_options,
)
from core.analysis.shared.options import SETTING_CHOICES, By, SettingName
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Choice, Number, analysis
from core.analysis.shared.rows import (
    Floats,
    analysis_unit,
    row_cautions,
    row_notes,
    varying_factors,
)
from core.analysis.shared.scripts.item_response import dif_files
from core.analysis.shared.scripts.scales import scale_groups
from core.analysis.shared.sentences import GroupAnswers, TableRow, answers_by_group, table_of
from core.charts.dots import dif_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Place, about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile
from core.errors import NotEnoughData
from core.stats.distributions import moments
from core.stats.groups import Adjustment
from core.stats.inputs import name_list, unanswered_items_note
from core.stats.irt.dif import DifResult, ItemDif, differential_item_functioning, purified_dif

# Tables: items, tests, effects, levels.

Labels = npt.NDArray[np.object_]
Row = tuple[Any, ...]

_KINDS = (("uniform", "uniform"), ("non_uniform", "non-uniform"), ("total", "total"))
_SUBSCALE = Column("subscale", "Subscale", help="As in the bank.")
_ITEM = Column("item", "Item", help="As named in the bank.")
_ITEMS = (
    _SUBSCALE,
    _ITEM,
    Column("n", "n", "count", "Administrations with an answer and a matching score."),
    Column("tested", "Tested", help="If not, a note says why."),
    Column(
        "flagged",
        "Flagged",
        help="The total test's adjusted p is below the level chosen, "
        "and the size (Jodoin, Gierl) is not negligible.",
    ),
    Column(
        "p_uniform",
        "p uniform, adjusted",
        "p",
        "Easier for a level at every matching score; likelihood ratio, Zumbo (1999).",
    ),
    Column(
        "p_non_uniform",
        "p non-uniform, adjusted",
        "p",
        "The difference changes with the matching score; likelihood ratio, Zumbo (1999).",
    ),
    Column("p_total", "p total, adjusted", "p", "Either of the two; Zumbo (1999)."),
    Column(
        "nagelkerke",
        "ΔR² Nagelkerke",
        "proportion",
        "Rise of R² from the matching score to "
        "the model with level and product; Nagelkerke (1991).",
        (0.035, 0.07, 0.13, 0.26),
    ),
    Column("mcfadden", "ΔR² McFadden", "proportion", "The same rise of McFadden's R².", (0.02,)),
    Column(
        "jodoin_gierl",
        "Size (Jodoin, Gierl)",
        help="Of ΔR² Nagelkerke where p total is below "
        "the level: moderate from .035, large from .07; Jodoin and Gierl (2001).",
    ),
    Column(
        "zumbo_thomas",
        "Size (Zumbo, Thomas)",
        help="Of ΔR² Nagelkerke where p total is below "
        "the level: moderate from .13, large from .26; Zumbo (1999).",
    ),
    Column("above_choi", "ΔR² McFadden ≥ .02", help="Choi, Gibbons and Crane (2011)."),
    Column(
        "slope_change",
        "Change of slope",
        "proportion",
        "Of the matching score once the level "
        "is known, as a share; .10 is the usual bound; Crane and others (2006).",
        (0.1,),
    ),
    Column("matching", "In matching score", help="Whether other items are matched on this one."),
)
_TESTS = (
    _SUBSCALE,
    _ITEM,
    Column(
        "test",
        "Test",
        help="Uniform: matching score against that and level. Non-uniform: "
        "their product added. Total: both steps at once.",
    ),
    Column("chi_square", "χ²", "points", "Twice the rise of the log-likelihood; Zumbo (1999)."),
    Column("df", "df", "count", "Levels - 1, twice that for the total."),
    Column("p", "p", "p", "Likelihood ratio, Zumbo (1999); takes administrations as independent."),
    Column(
        "p_adjusted",
        "p adjusted",
        "p",
        "Over the items of this group and subscale: Holm "
        "(1979), or Benjamini and Hochberg (1995), as chosen.",
    ),
    Column("mcfadden", "ΔR² McFadden", "proportion", "Rise of McFadden's R² in this step."),
    Column("nagelkerke", "ΔR² Nagelkerke", "proportion", "Rise of Nagelkerke's (1991) R²."),
)
_EFFECTS = (
    _SUBSCALE,
    _ITEM,
    Column("level", "Level", help="Of the factor that is compared."),
    Column("reference", "Against", help="The reference: first level in alphabetical order."),
    Column("n", "n", "count", "Administrations of the level in the tests of this item."),
    Column(
        "log_odds",
        "Log odds ratio",
        "points",
        "Of a score one step higher at the same "
        "matching score; above 0, the level answers higher. Uniform model, Zumbo (1999).",
    ),
    Column(
        "standard_error",
        "SE",
        "points",
        "From the information; undefined where the level separates the answers.",
    ),
)
_LEVELS = (
    _SUBSCALE,
    Column("level", "Level", help="Of the factor that is compared."),
    Column("n", "Administrations", "count", "With any score on the items compared."),
    Column("n_complete", "Complete", "count", "With all of them; M and SD are of these."),
    Column("mean", "M", "points", "Mean sum score. Where levels differ, uniform DIF is inflated."),
    Column("sd", "SD", "points", "Standard deviation of the sum score, divisor n - 1."),
)


@dataclass(frozen=True, eq=False)
class SubscaleTests:
    """The tests of one group and subscale, with leading cells of rows; None where impossible."""

    lead: tuple[Any, ...]
    result: DifResult | None
    levels: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...]
    cautions: tuple[str, ...] = ()

    @property
    def tested(self) -> list[ItemDif]:
        """Items with a test to read; the uniform one needs least."""
        items = self.result.items if self.result else ()
        return [item for item in items if not math.isnan(item.uniform.p_value)]


def _dif_tables(
    subscales: Sequence[SubscaleTests], group: Sequence[Column]
) -> tuple[ResultTable, ...]:
    """The four tables, with the groups' columns in front."""
    made = (
        ("items", "Items", _item_rows, _ITEMS),
        ("tests", "Tests", _test_rows, _TESTS),
        ("effects", "Differences between levels", _effect_rows, _EFFECTS),
        ("levels", "Levels", lambda one: iter(one.levels), _LEVELS),
    )
    tables = []
    for name, title, rows_of, own in made:
        columns = (*group, *own)
        rows = [(*one.lead, *row) for one in subscales if one.result for row in rows_of(one)]
        frame = pd.DataFrame(rows, columns=[column.name for column in columns])
        if "df" in frame:
            frame["df"] = frame["df"].astype("Int64")  # whole, with a place for undefined
        tables.append(ResultTable(name, title, frame, columns))
    return tuple(tables)


def _level_rows(scores: Floats, labels: Labels, levels: Sequence[str]) -> tuple[Row, ...]:
    """How many administrations each level has, and mean and SD of their sum scores."""
    rows = []
    for level in levels:
        own = scores[labels == level]
        sums = moments(own.sum(axis=1))
        n = int(np.isfinite(own).any(axis=1).sum())
        rows.append((level, n, sums.n, sums.mean, sums.sd))
    return tuple(rows)


def _item_rows(one: SubscaleTests) -> Iterator[Row]:
    """Each item's flag and sizes."""
    if one.result is None:
        return
    for item in one.result.items:
        yield (
            item.name,
            item.n,
            item.tested,
            item.flagged,
            item.uniform.p_adjusted,
            item.non_uniform.p_adjusted,
            item.total.p_adjusted,
            item.total.nagelkerke_change,
            item.total.mcfadden_change,
            item.jodoin_gierl,
            item.zumbo_thomas,
            item.above_choi,
            item.slope_change,
            item.name in one.result.anchors,
        )


def _test_rows(one: SubscaleTests) -> Iterator[Row]:
    """Three rows for each item."""
    for item in one.result.items if one.result else ():
        for kind, word in _KINDS:
            test = getattr(item, kind)
            yield (
                item.name,
                word,
                test.chi_square,
                test.df or pd.NA,
                test.p_value,
                test.p_adjusted,
                test.mcfadden_change,
                test.nagelkerke_change,
            )


def _effect_rows(one: SubscaleTests) -> Iterator[Row]:
    """One row for each item and level other than the reference."""
    if one.result is None:
        return
    reference, *others = one.result.groups
    for item in one.result.items:
        effects = {effect.group: effect for effect in item.effects}
        for level, n in zip(others, item.n_per_group[1:], strict=True):
            effect = effects.get(level)
            log_odds = effect.log_odds if effect else math.nan
            error = effect.standard_error if effect else math.nan
            yield item.name, level, reference, n, log_odds, error


_FACTORS = (
    ("language", "Languages"),
    ("respondent", "Respondents"),
    ("context", "Contexts (personas)"),
    ("entity", "Entities"),
    ("form", "Forms"),
    ("template", "Instructions"),
    ("label_order", "Orders of options"),
    ("phase", "Phases"),
    ("items_per_call", "Numbers of items per call"),
    ("history", "Histories (own earlier answers, or none)"),
    *SETTING_CHOICES,
    ("study", "Studies"),
)
_CAUTIONS = (
    "Matching is on a sum of other items, which measures with error. Where levels differ in the "
    "trait itself, part of that difference shows as uniform DIF, the more so the shorter the "
    "subscale: see the table of levels before believing uniform DIF.",
)
_INDEPENDENT_TESTS = (
    "Tests take administrations as independent.",
    "Repeated administrations of one model are not, so p is too small.",
)

Factor = Annotated[
    Literal[
        "language",
        "respondent",
        "context",
        "entity",
        "form",
        "template",
        "label_order",
        "phase",
        "items_per_call",
        "history",
        SettingName,
        "study",
    ],
    Choice("Compare", _FACTORS, help="The factor whose levels are compared, item by item."),
]
Matching = Annotated[
    Literal["rest", "purified"],
    Choice(
        "Matched on",
        (
            ("rest", "The sum of the other items"),
            ("purified", "The sum of the other items that are not flagged"),
        ),
        help="What says that two administrations have the same trait.",
    ),
]
Adjust = Annotated[
    Adjustment,
    Choice(
        "Adjust p over items",
        (
            ("holm", "Holm: chance of any false flag"),
            ("benjamini-hochberg", "Benjamini-Hochberg: share of false flags"),
        ),
        help="Over the items of a subscale, for each of the three tests by itself.",
    ),
]
FlagLevel = Annotated[
    float,
    Number(
        "Flag below p",
        0.001,
        0.1,
        help="The adjusted p of the total test; the size must not be negligible as well.",
    ),
]
Fewest = Annotated[
    int,
    Number("Fewest administrations of a level", 2, 1000, help="A level with fewer is left out."),
]


def _dif_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    matching: Matching = "rest",
    adjust: Adjust = "holm",
    flag_level: FlagLevel = 0.01,
    fewest: Fewest = 10,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `dif`."""
    names = tuple(name for name in distinct(by) if name != factor)
    level_of = levels_by_administration(item_scores, factor)
    numbers, level_names = [], []
    for matrix in score_matrices(item_scores, names, whole=True):
        levels = [level_of[int(one)] for one in matrix.administrations]
        own = sorted(set(levels))
        numbers.append([own.index(level) + 1 for level in levels])
        level_names.append(own)
    return dif_files(
        scale_groups(item_scores, names),
        numbers,
        level_names,
        compared=dict(_FACTORS)[factor],
        matching=matching,
        adjust=adjust,
        flag_level=flag_level,
        fewest=fewest,
    )


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Which items are flagged."""

    def sentence(rows: Sequence[TableRow]) -> str:
        tested = [row for row in rows if row["tested"]]
        if not tested:
            return "Undefined (no item could be tested)."
        flagged = [f"{row['item']} ({row['jodoin_gierl']})" for row in tested if row["flagged"]]
        named = f": {name_list(flagged)}" if flagged else ""
        verb = "is" if len(flagged) == 1 else "are"
        return f"{len(flagged)} of {count_text(len(tested), 'item')} {verb} flagged{named}."

    return answers_by_group(table_of(result, "items"), "subscale", sentence)


@analysis(
    title="Differential item functioning",
    question="Which items are answered differently by levels of a factor with the same trait?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=dif_charts,
    scripts=_dif_scripts,
    references=(
        "Zumbo (1999), A handbook on the theory and methods of differential item functioning",
        "Jodoin & Gierl (2001), Applied Measurement in Education 14, 329-349",
        "Crane and others (2006), Medical Care 44 (11 Suppl 3), S115-S123",
        "Choi, Gibbons & Crane (2011) doi:10.18637/jss.v039.i08",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "DIF",
        "differential item functioning",
        "item bias",
        "bias",
        "fairness",
        "ordinal logistic regression",
        "Jodoin and Gierl",
        "items that differ between models",
        "items that differ between languages",
        "items differ",
        "comparability",
    ),
    requires="scores",
)
def dif(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    matching: Matching = "rest",
    adjust: Adjust = "holm",
    flag_level: FlagLevel = 0.01,
    fewest: Fewest = 10,
) -> AnalysisResult:
    """Uniform and non-uniform differences between levels of one factor, item by item.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are compared; the first in alphabetical order is the reference.
    by : tuple of factors
        Levels are compared within each of these groups; `factor` itself is ignored here.
    matching : "rest" or "purified"
        Matched on the sum of all other items, or of those other items that are not flagged.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the items of a group and subscale.
    flag_level : float
        An item is flagged where the adjusted p of its total test is below.
    fewest : int
        A level with fewer administrations in a group and subscale is left out.

    Returns
    -------
    AnalysisResult
        `items`, one row per group and item: flag, adjusted p of the three tests, rise of R² and
        what it is called. `tests`, three rows per item: chi-square, df, p. `effects`, one row per
        item and level other than the reference: log odds ratio with standard error. `levels`: n,
        mean and SD of the sum score of each level.

    Raises
    ------
    NotEnoughData
        Nowhere can two levels be compared. If only somewhere, a note says where and why.

    Notes
    -----
    The unit of analysis is one administration. Three proportional-odds models of an item are
    compared by likelihood ratio: matching score; with level (uniform); with their product
    (non-uniform); total is the last against the first. An administration counts if it has all
    items that the matching score needs. A sum measures with error: **where the levels differ in
    the trait itself, rest-score matching inflates uniform DIF**, the more so the shorter the
    subscale; `levels` shows how far they differ. Items that nobody in some level answered are left
    out. Repeated administrations of one model are not independent; p is then too small. The tests
    agree with statsmodels' OrderedModel and with a table by hand.
    """
    names = tuple(name for name in distinct(by) if name != factor)
    matrices = with_options(item_scores, score_matrices(item_scores, names))
    level_of = levels_by_administration(item_scores, factor)
    subscales = []
    for matrix in with_progress(matrices, "scales"):
        levels = np.array([level_of[int(one)] for one in matrix.administrations], dtype=object)
        subscales.append(_test_subscale(matrix, levels, fewest, matching, flag_level, adjust))
    notes = [note for one in subscales for note in one.notes]
    cautions = [caution for one in subscales for caution in one.cautions]
    if not any(one.tested for one in subscales):
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {' '.join([*cautions, *notes][:3])}",
            _remedy(item_scores, fewest),
        )
    n_used = sum(item.n for one in subscales for item in one.tested)
    word = dict(_FACTORS)[factor].lower()
    return AnalysisResult(
        tables=_dif_tables(subscales, by_columns(names)),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Ordinal logistic regression (Zumbo, 1999) comparing {word}, matched on the sum of "
        f"the other items{' that are not flagged' if matching == 'purified' else ''}; likelihood-"
        f"ratio tests, p adjusted over items ({adjust.title()}), flagged below {flag_level:g}. "
        "Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *_CAUTIONS,
            *row_cautions(item_scores, *_INDEPENDENT_TESTS),
        ),
        notes=(*data_notes(item_scores), *notes, *row_notes(item_scores, *_INDEPENDENT_TESTS)),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _test_subscale(
    matrix: ScoreMatrix,
    levels: Labels,
    fewest: int,
    matching: Matching,
    flag_level: float,
    adjust: Adjustment,
) -> SubscaleTests:
    """The tests of one matrix, on the levels and items that can be compared."""
    where = Place(group_name(matrix.group), "subscale", matrix.subscale)
    lead = (*matrix.group, matrix.subscale)
    answered = np.isfinite(matrix.scores)
    counts = Counter(levels[answered.any(axis=1)].tolist())
    compared = [level for level in sorted(set(levels.tolist())) if counts[level] >= fewest]
    too_small = [level for level in sorted(set(levels.tolist())) if counts[level] < fewest]
    notes = []
    if too_small:
        notes.append(
            about(
                where,
                f"left out, with fewer than {fewest} administrations: {name_list(too_small)}.",
            )
        )
    if len(compared) < 2:
        caution = about(where, "not compared, as fewer than two levels are left.")
        return SubscaleTests(lead, None, (), tuple(notes), (caution,))
    in_all = np.asarray(
        np.all([answered[levels == level].any(axis=0) for level in compared], axis=0)
    )
    items = [item for item, asked in zip(matrix.items, in_all, strict=True) if asked]
    offered = [own for own, asked in zip(matrix.options, in_all, strict=True) if asked]
    at_all = np.asarray(answered.any(axis=0))
    for absent, place in ((~at_all, ""), (at_all & ~in_all, " at some level")):
        named = [item for item, one in zip(matrix.items, absent, strict=True) if one]
        if named:
            notes.append(about(where, unanswered_items_note(named, place)))
    rows = np.isin(levels, compared)
    scores = matrix.scores[np.ix_(rows, in_all)]
    run = purified_dif if matching == "purified" else differential_item_functioning
    try:
        result = run(
            scores, items, levels[rows].tolist(), offered=offered, alpha=flag_level, adjust=adjust
        )
    except NotEnoughData as error:
        caution = about(where, f"not compared. {error.problem}")
        return SubscaleTests(lead, None, (), tuple(notes), (caution,))
    return SubscaleTests(
        lead,
        result,
        _level_rows(scores, levels[rows], result.groups),
        tuple(notes),
        tuple(about(where, problem) for problem in (*result.problems, *_problems(result))),
    )


def _problems(result: DifResult) -> list[str]:
    """The problems of the items; several items share a sentence."""
    owners: dict[str, list[str]] = {}
    for item in result.items:
        for problem in item.problems:
            owners.setdefault(problem, []).append(item.name)
    return [f"{name_list(names)}: {problem}" for problem, names in owners.items()]


def _remedy(item_scores: pd.DataFrame, fewest: int) -> str:
    """What to compare instead."""
    listed = (
        ", ".join(name for name, _ in varying_factors(item_scores, _FACTORS))
        or "none of those that can be compared"
    )
    return (
        f"It needs two levels with {fewest} administrations each, and two items. Factors with "
        f"several levels in these answers: {listed}."
    )

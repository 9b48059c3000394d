"""Which items are answered differently by levels of a factor that have the same trait?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.alternatives import (
    MOST_COMPARED,
    AdministrationLevels,
    administration_levels,
    too_many_levels,
    with_alternatives,
)
from core.analysis.kit.matrices import ScoreMatrix, distinct, score_matrices, with_options
from core.analysis.kit.options import FORMAT_SUMS, By
from core.analysis.kit.registry import Choice, ComparedFactor, Number, analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.scripts.item_response import dif_files
from core.analysis.kit.scripts.scales import scale_groups
from core.charts.dots import dif_charts
from core.domain import tables
from core.domain.factors import levels_title, levels_word
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, TextFile
from core.domain.study import SETTINGS
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.distributions import moments
from core.stats.groups import Adjustment
from core.stats.inputs import name_list, unanswered_items_note
from core.stats.irt.dif import DifResult, differential_item_functioning, purified_dif

# Tables: items, tests, effects, levels.

_SUBSCALE = tables.key("subscale", "Subscale", "As in the bank.")
_ITEM = tables.key("item", "Item", "As named in the bank.")
_LEVEL = tables.key("level", "Level", "Of the factor that is compared.")
ITEMS = tables.TableSpec(
    "items",
    "Items",
    (
        _SUBSCALE,
        _ITEM,
        tables.count("n", "n", "Administrations with an answer and a matching score."),
        tables.text("tested", "Tested", "If not, a note says why."),
        tables.text(
            "flagged",
            "Flagged",
            "The total test's adjusted p is below the level chosen, and the size (Jodoin, Gierl) "
            "is not negligible.",
        ),
        tables.p_value(
            "p_uniform",
            "p uniform, adjusted",
            "Easier for a level at every matching score; likelihood ratio, Zumbo (1999).",
        ),
        tables.p_value(
            "p_non_uniform",
            "p non-uniform, adjusted",
            "The difference changes with the matching score; likelihood ratio, Zumbo (1999).",
        ),
        tables.p_value("p_total", "p total, adjusted", "Either of the two; Zumbo (1999)."),
        tables.number(
            "nagelkerke",
            "ΔR² Nagelkerke",
            "proportion",
            "Rise of R² from the matching score to the model with level and product; Nagelkerke "
            "(1991).",
            (0.035, 0.07, 0.13, 0.26),
        ),
        tables.number(
            "nagelkerke_by_chance",
            "ΔR² Nagelkerke by chance",
            "proportion",
            "Its mean where levels do not differ, as the statistic is a chi-square then.",
        ),
        tables.number(
            "mcfadden", "ΔR² McFadden", "proportion", "The same rise of McFadden's R².", (0.02,)
        ),
        tables.number(
            "mcfadden_by_chance",
            "ΔR² McFadden by chance",
            "proportion",
            "Its mean where levels do not differ: df / (−2 log-likelihood of no predictor).",
        ),
        tables.text(
            "jodoin_gierl",
            "Size (Jodoin, Gierl)",
            "Of ΔR² Nagelkerke where p total is below the level: moderate from .035, large from "
            ".07; Jodoin and Gierl (2001).",
        ),
        tables.text(
            "zumbo_thomas",
            "Size (Zumbo, Thomas)",
            "Of ΔR² Nagelkerke where p total is below the level: moderate from .13, large from "
            ".26; Zumbo (1999).",
        ),
        tables.text("above_choi", "ΔR² McFadden ≥ .02", "Choi, Gibbons and Crane (2011)."),
        tables.number(
            "slope_change",
            "Change of slope",
            "proportion",
            "Of the matching score once the level is known, as a share; .10 is the usual bound; "
            "Crane and others (2006).",
            (0.1,),
        ),
        tables.text(
            "matching", "In matching score", "Whether other items are matched on this one."
        ),
    ),
)
TESTS = tables.TableSpec(
    "tests",
    "Tests",
    (
        _SUBSCALE,
        _ITEM,
        tables.key(
            "test",
            "Test",
            "Uniform: matching score against that and level. Non-uniform: their product added. "
            "Total: both steps at once.",
        ),
        tables.number(
            "chi_square", "χ²", "points", "Twice the rise of the log-likelihood; Zumbo (1999)."
        ),
        tables.count("df", "df", "Levels - 1, twice that for the total."),
        tables.p_value(
            "p", "p", "Likelihood ratio, Zumbo (1999); takes administrations as independent."
        ),
        tables.p_value(
            "p_adjusted",
            "p adjusted",
            "Over the items of this group and subscale: Holm (1979), or Benjamini and Hochberg "
            "(1995), as chosen.",
        ),
        tables.number(
            "mcfadden", "ΔR² McFadden", "proportion", "Rise of McFadden's R² in this step."
        ),
        tables.number(
            "nagelkerke", "ΔR² Nagelkerke", "proportion", "Rise of Nagelkerke's (1991) R²."
        ),
    ),
)
EFFECTS = tables.TableSpec(
    "effects",
    "Differences between levels",
    (
        _SUBSCALE,
        _ITEM,
        _LEVEL,
        tables.key("reference", "Against", "The reference: the first level."),
        tables.count("n", "n", "Administrations of the level in the tests of this item."),
        tables.number(
            "log_odds",
            "Log odds ratio",
            "points",
            "Of a score one step higher at the same matching score; above 0, the level answers "
            "higher. Uniform model, Zumbo (1999).",
        ),
        tables.number(
            "standard_error",
            "SE",
            "points",
            "From the information; undefined where the level separates the answers.",
        ),
        tables.point_estimate(
            "points",
            "Difference",
            "points",
            "Expected score of the item at the level minus that at the reference at the same "
            "matching score, mean over the level, in score points; both kinds of DIF. Meade (2010) "
            "doi:10.1037/a0018966.",
        ),
        tables.number(
            "unsigned_points",
            "Size of difference",
            "points",
            "The same without signs, so that differences that cancel each other count. Meade "
            "(2010).",
        ),
        tables.number(
            "standardized",
            "Standardized difference",
            "points",
            "The difference over the pooled standard deviation of the item.",
        ),
    ),
)
LEVELS = tables.TableSpec(
    "levels",
    "Levels",
    (
        _SUBSCALE,
        _LEVEL,
        tables.count("n", "Administrations", "With any score on the items compared."),
        tables.count("n_complete", "Complete", "With all of them; M and SD are of these."),
        tables.number(
            "mean", "M", "points", "Mean sum score. Where levels differ, uniform DIF is inflated."
        ),
        tables.number("sd", "SD", "points", "Standard deviation of the sum score, divisor n - 1."),
    ),
)

# Options.

_COMPARED = ComparedFactor(
    "Compare",
    first=(
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
        *SETTINGS,
        "study",
    ),
    then_facts=True,
    never=(("format", FORMAT_SUMS),),
    help=f"The factor whose levels are compared, item by item; 2 to {MOST_COMPARED} levels.",
)
_INFLATED = (
    "Matching is on a sum of other items, which measures with error. Where levels differ in the "
    "trait itself, part of that difference shows as uniform DIF, the more so the shorter the "
    "subscale: see the table of levels before believing uniform DIF."
)
_ALIKE = 0.3
"""SDs of the sum of items. Where levels lie closer, the error of a sum with a reliability of .7
shifts an item by less than a tenth of an SD."""
_INDEPENDENT_TESTS = (
    "Tests take {rows} as independent.",
    "Repeated administrations of one model are not, so p is too small.",
)

Factor = Annotated[str, _COMPARED]
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
    level_of = administration_levels(item_scores, factor)
    numbers, level_names = [], []
    for matrix in score_matrices(item_scores, names, whole=True):
        levels = [level_of.of.get(int(one)) for one in matrix.administrations]
        own = [level for level in level_of.order if level in set(levels)]
        # 0 is no level
        numbers.append([own.index(level) + 1 if level else 0 for level in levels])
        level_names.append(own)
    return dif_files(
        scale_groups(item_scores, names),
        numbers,
        level_names,
        compared=levels_title(factor),
        matching=matching,
        adjust=adjust,
        flag_level=flag_level,
        fewest=fewest,
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Which items are flagged, and by how many points the level that differs most does."""
    effects: dict[tuple[str, str, str], list[sentences.TableRow]] = {}
    for group, rows in sentences.rows_by_group(sentences.table_of(result, "effects")).items():
        for row in rows:
            effects.setdefault((group, row["subscale"], row["item"]), []).append(row)

    def named(group: str, row: sentences.TableRow) -> str:
        rows = effects.get((group, row["subscale"], row["item"]), [])
        rows = [effect for effect in rows if math.isfinite(effect["points"])]
        if not rows:
            return f"{row['item']} ({row['jodoin_gierl']})"
        most = max(rows, key=lambda effect: abs(effect["points"]))
        points = sentences.decimal_text(abs(most["points"]))
        side = "above" if most["points"] > 0 else "below"
        return (
            f"{row['item']} ({row['jodoin_gierl']}; {most['level']} {points} points {side} "
            f"{most['reference']} with the same trait)"
        )

    def sentence(group: str, rows: Sequence[sentences.TableRow]) -> str:
        tested = [row for row in rows if row["tested"]]
        if not tested:
            return "Undefined (no item could be tested)."
        flagged = [named(group, row) for row in tested if row["flagged"]]
        names = f": {name_list(flagged)}" if flagged else ""
        verb = "is" if len(flagged) == 1 else "are"
        return f"{len(flagged)} of {count_text(len(tested), 'item')} {verb} flagged{names}."

    items = sentences.rows_by_group(sentences.table_of(result, "items"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows)) for group, rows in items.items()
    )


@analysis(
    title="Differential item functioning",
    question="Which items are answered differently although the trait is the same?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    takes_averages=False,
    answer=_answer,
    charts=dif_charts,
    scripts=_dif_scripts,
    references=(
        "Zumbo (1999), A handbook on the theory and methods of differential item functioning",
        "Jodoin & Gierl (2001), Applied Measurement in Education 14, 329-349",
        "Meade (2010) doi:10.1037/a0018966",
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
        Its levels are compared, 2 to 20; the first is the reference. Numbers stand in order of
        size, other levels in that of the alphabet.
    by : tuple of factors
        `factor` itself is ignored here.
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
        `items`, one row per group and item; `tests`, three rows per item; `effects`, one row per
        item and level other than the reference; `levels`, one row per level.

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
    subscale; `levels` shows how far they differ, and a caution says so from 0.3 SDs on. Items that
    nobody in some level answered are left out. Repeated administrations of one model are not
    independent; p is then too small. The tests agree with statsmodels' OrderedModel and with a
    table by hand.
    """
    names = tuple(name for name in distinct(by) if name != factor)
    matrices = with_options(item_scores, score_matrices(item_scores, names))
    level_of = administration_levels(item_scores, factor)
    items, tests, effects, levels = (
        tables.TableRows(spec, names) for spec in (ITEMS, TESTS, EFFECTS, LEVELS)
    )
    findings = Findings(notes=[*level_of.notes])
    compare = partial(
        purified_dif if matching == "purified" else differential_item_functioning,
        order=level_of.order,
        alpha=flag_level,
        adjust=adjust,
    )
    n_used = 0
    for matrix in with_progress(matrices, "scales"):
        labels = np.array(
            [level_of.of.get(int(number)) for number in matrix.administrations], dtype=object
        )
        chosen = _compared_levels(matrix, labels, level_of, factor, fewest, findings)
        result = _test_subscale(matrix, labels, chosen, compare, levels, findings)
        if result is not None:
            n_used += _add_items(matrix, result, items, tests, effects)
    if not n_used:
        remedy = f"It needs two levels with {fewest} administrations each, and two items."
        remedy = with_alternatives(remedy, item_scores, _COMPARED, factor)
        raise findings.refusal(f"No levels of {factor} can be compared.", remedy, names)
    spread = levels.table().frame.groupby([*names, "subscale"], sort=False)
    apart = (spread["mean"].max() - spread["mean"].min()) / spread["sd"].mean()
    findings.cautions += [] if (apart < _ALIKE).all() else [_INFLATED]
    flagged_out = " that are not flagged" if matching == "purified" else ""
    of_tests = tests.table()
    of_tests = replace(of_tests, frame=of_tests.frame.astype({"df": "Int64"}))  # may be undefined
    return score_result(
        item_scores,
        (items.table(), of_tests, effects.table(), levels.table()),
        findings,
        n_used=n_used,
        method=f"Ordinal logistic regression (Zumbo, 1999) comparing {levels_word(factor)}, "
        f"matched on the sum of the other items{flagged_out}; likelihood-ratio tests, p adjusted "
        f"over items ({adjust.title()}), flagged below {flag_level:g}. Scores are after "
        "reverse-keying.",
        matrices=matrices,
        taken_for_granted=_INDEPENDENT_TESTS,
        called="row",
    )


def _add_items(
    matrix: ScoreMatrix,
    result: DifResult,
    items: tables.TableRows,
    tests: tables.TableRows,
    effects: tables.TableRows,
) -> int:
    """Add the rows of the items of a subscale; how many scores stand behind their tests."""
    n_used = 0
    reference, *others = result.groups
    for item in result.items:
        if not math.isnan(item.uniform.p_value):  # the uniform test needs least
            n_used += item.n
        scale = {"subscale": matrix.subscale, "item": item.name}
        items.add(
            matrix.group,
            **scale,
            n=item.n,
            tested=item.tested,
            flagged=item.flagged,
            p_uniform=item.uniform.p_adjusted,
            p_non_uniform=item.non_uniform.p_adjusted,
            p_total=item.total.p_adjusted,
            nagelkerke=item.total.nagelkerke_change,
            nagelkerke_by_chance=item.total.nagelkerke_by_chance,
            mcfadden=item.total.mcfadden_change,
            mcfadden_by_chance=item.total.mcfadden_by_chance,
            jodoin_gierl=item.jodoin_gierl,
            zumbo_thomas=item.zumbo_thomas,
            above_choi=item.above_choi,
            slope_change=item.slope_change,
            matching=item.name in result.anchors,
        )
        for name, test in (
            ("uniform", item.uniform),
            ("non-uniform", item.non_uniform),
            ("total", item.total),
        ):
            tests.add(
                matrix.group,
                **scale,
                test=name,
                chi_square=test.chi_square,
                df=test.df or pd.NA,
                p=test.p_value,
                p_adjusted=test.p_adjusted,
                mcfadden=test.mcfadden_change,
                nagelkerke=test.nagelkerke_change,
            )
        effect_of = {effect.group: effect for effect in item.effects}
        for level, n in zip(others, item.n_per_group[1:], strict=True):
            effect = effect_of.get(level)
            effects.add(
                matrix.group,
                **scale,
                level=level,
                reference=reference,
                n=n,
                log_odds=effect.log_odds if effect else math.nan,
                standard_error=effect.standard_error if effect else math.nan,
                points=effect.points if effect else math.nan,
                unsigned_points=effect.unsigned_points if effect else math.nan,
                standardized=effect.standardized if effect else math.nan,
            )
    return n_used


def _compared_levels(
    matrix: ScoreMatrix,
    labels: npt.NDArray[np.object_],
    level_of: AdministrationLevels,
    factor: str,
    fewest: int,
    findings: Findings,
) -> list[str]:
    """The levels with enough administrations, in their order; none where they are not compared."""
    scale = scale_of_group(matrix.group, matrix.subscale)
    counts = Counter(labels[np.isfinite(matrix.scores).any(axis=1)].tolist())
    names = [level for level in level_of.order if level in set(labels.tolist())]
    compared = [level for level in names if counts[level] >= fewest]
    if 1 < len(compared) < len(names):
        too_small = [level for level in names if counts[level] < fewest]
        findings.note(
            scale, f"left out, with fewer than {fewest} administrations: {name_list(too_small)}."
        )
    reason = too_many_levels(factor, compared)
    if len(compared) < 2:
        each = name_list([f"{level} {counts[level]}" for level in names])
        reason = f"not compared, as fewer than two levels have {fewest} administrations ({each})."
    if reason:
        findings.caution(scale, reason)
    return [] if reason else compared


def _test_subscale(
    matrix: ScoreMatrix,
    labels: npt.NDArray[np.object_],
    compared: Sequence[str],
    compare: Callable[..., DifResult],
    levels: tables.TableRows,
    findings: Findings,
) -> DifResult | None:
    """The tests of the levels and items that can be compared, and the rows of the levels."""
    if not compared:
        return None
    scale = scale_of_group(matrix.group, matrix.subscale)
    answered = np.isfinite(matrix.scores)
    in_all = np.asarray(
        np.all([answered[labels == level].any(axis=0) for level in compared], axis=0)
    )
    at_all = np.asarray(answered.any(axis=0))
    for absent, at in ((~at_all, ""), (at_all & ~in_all, " at some level")):
        unanswered = [item for item, out in zip(matrix.items, absent, strict=True) if out]
        if unanswered:
            findings.note(scale, unanswered_items_note(unanswered, at))
    rows = np.isin(labels, compared)
    scores, labels = matrix.scores[np.ix_(rows, in_all)], labels[rows]
    columns = np.flatnonzero(in_all).tolist()
    try:
        result = compare(
            scores,
            [matrix.items[column] for column in columns],
            labels.tolist(),
            offered=[matrix.options[column] for column in columns],
        )
    except NotEnoughData as error:
        findings.caution(scale, f"not compared. {error.problem}")
        return None
    for level in result.groups:
        of_level = scores[labels == level]
        sums = moments(of_level.sum(axis=1))
        levels.add(
            matrix.group,
            subscale=matrix.subscale,
            level=level,
            n=int(np.isfinite(of_level).any(axis=1).sum()),
            n_complete=sums.n,
            mean=sums.mean,
            sd=sums.sd,
        )
    items_with: dict[str, list[str]] = {}
    for item in result.items:
        for problem in item.problems:
            items_with.setdefault(problem, []).append(item.name)
    for problem in result.problems:
        findings.caution(scale, problem)
    for problem, items in items_with.items():
        findings.caution(scale, f"{name_list(items)}: {problem}")
    return result

"""How are the scores of administrations distributed?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import (
    ALL_ITEMS,
    ScoreMatrix,
    distinct,
    group_name,
    matrices_of,
)
from core.analysis.kit.options import SCORE_RULES, By, ScoreMissing
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.rows import (
    Floats,
    Integers,
    administrations_of,
    cells_of,
    codes_of,
    items_of,
    relative_scores,
    scores_of,
)
from core.analysis.kit.scores import basis_text, item_group, unanswered_notes
from core.analysis.words.odds_ratios import Lists, Stereotypes
from core.charts.bars import histograms
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import judged_decimals, percent_text
from core.domain.results import AnalysisResult
from core.domain.tables import TableRows, TableSpec, count, high_end, key, low_end, number
from core.domain.wide_scores import NOT_PLANNED, ItemScores, WideScores
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.distributions import (
    Moments,
    floor_and_ceiling,
    moments,
    quartiles,
    skewness_and_kurtosis,
)
from core.stats.inputs import name_list
from core.stats.scores import row_scores

_MANY = 0.15
"""More administrations than this share at one end: a floor or ceiling effect (Terwee et al.)."""
_ENDS = "Lowest and highest are those of the options of the answer format; Terwee et al. (2007)."
_SCORE = key("subscale", "Score", "A subscale, or all items.")

SCORES = TableSpec(
    "scores",
    "Scores",
    (
        _SCORE,
        count("n_items", "Items", "Items of the score that were answered."),
        count("items_left_out", "Items left out", "Others that other groups answered."),
        count("n", "n", "Administrations with a score."),
        count("missing", "Missing", "Administrations without a score."),
        count("n_fewer", "Fewer items", "Scores of some of the items only."),
        number("mean", "M", "points", "Mean of the scores; a score is the mean of its items."),
        number("variance", "Variance", "points squared", "Of the scores; divisor n - 1."),
        number("sd", "SD", "points", "Square root of the variance; divisor n - 1."),
        number(
            "skewness",
            "Skewness",
            help="0 if both sides are alike, above 0 with a long tail of high scores. Adjusted "
            "Fisher-Pearson G1, as in SPSS and SAS; Joanes & Gill (1998).",
        ),
        number(
            "kurtosis",
            "Excess kurtosis",
            help="Weight of the tails: 0 for a normal distribution, above 0 for heavier tails. G2, "
            "as in SPSS and SAS; Joanes & Gill (1998).",
        ),
        number("min", "Min", "points", "Lowest score."),
        number("q1", "Q1", "points", "A quarter lies below; interpolated linearly (R type 7)."),
        number("median", "Median", "points", "Half lie below."),
        number("q3", "Q3", "points", "Three quarters lie below; interpolated linearly (R type 7)."),
        number("max", "Max", "points", "Highest score."),
        number("range", "Range", "points", "Highest minus lowest score."),
        number(
            "floor",
            "Floor",
            "proportion",
            f"Administrations with every answer at the low end. {_ENDS}",
            (_MANY,),
        ),
        number(
            "ceiling",
            "Ceiling",
            "proportion",
            f"Administrations with every answer at the top. {_ENDS}",
            (_MANY,),
        ),
    ),
)
HISTOGRAM = TableSpec(
    "histogram",
    "Histogram of scores",
    (
        _SCORE,
        low_end("bin_low", "Scores low", "points", "From, included."),
        high_end("bin_high", "Scores high", "points", "Up to, excluded but for the last bin."),
        count("count", "Administrations", "Scores in the bin."),
    ),
)

# Edges of the histogram of scores, chosen so that no bin holds more possible scores by accident.
#
# The mean of k whole-number answers can only be a multiple of 1/k. Bins that ignore this hold now
# one and now two possible scores, and the picture then shows combs that are not in the data.

_MOST_VALUES = 100  # more different item scores than this are taken as continuous


def values_by_subscale(item_scores: ItemScores) -> dict[str, Floats]:
    """The item scores that came up under the response formats of each subscale, sorted.

    Subscales of one format get the same values, and so the same range; "all items" gets all.
    """
    format_code, formats = codes_of(administrations_of(item_scores)["format"])
    subscale_code, subscales = codes_of(items_of(item_scores)["subscale"])
    scores = scores_of(item_scores)
    # a single format takes all scores, without a copy of them
    rows_of = [format_code == code for code in range(len(formats))] if len(formats) > 1 else [...]
    values_of_format = [_different_scores(pd.unique(scores[rows].reshape(-1))) for rows in rows_of]
    values: dict[str, list[Floats]] = {ALL_ITEMS: values_of_format}
    for subscale, code in _subscales_asked(item_scores, subscale_code, format_code):
        values.setdefault(str(subscales[subscale]), []).append(values_of_format[code])
    return {name: _different_scores(np.concatenate(parts)) for name, parts in values.items()}


def _subscales_asked(
    item_scores: ItemScores, subscale: Integers, response_format: Integers
) -> list[tuple[int, int]]:
    """Each subscale with each of the formats in which an item of it was planned, as codes."""
    if not isinstance(item_scores, WideScores):
        pairs = pd.DataFrame({"subscale": subscale, "format": response_format})
        return list(pairs.drop_duplicates().itertuples(index=False, name=None))
    planned = item_scores.status != NOT_PLANNED
    return [
        (int(code), int(format_code))
        for code in pd.unique(subscale)
        for format_code in pd.unique(response_format[planned[:, subscale == code].any(axis=1)])
    ]


def _bin_edges(values: Floats, n_items: int, bins: int) -> Floats:
    """Edges of about `bins` bins for means of `n_items` scores out of `values`.

    Where the possible means lie evenly, every bin is centered on one of them, or on equally many;
    otherwise bins of equal width go from the lowest to the highest score.
    """
    gaps = np.diff(values)
    unit = float(gaps.min()) if gaps.size else 1.0
    steps = gaps / unit
    if len(values) > _MOST_VALUES or not np.allclose(steps, np.round(steps), atol=1e-6):
        return np.linspace(values[0], values[-1], bins + 1)
    step = unit / n_items
    n_possible = round((values[-1] - values[0]) / step) + 1
    each = max(1, round(n_possible / bins))
    n_bins = -(-n_possible // each)
    return np.asarray(values[0] - step / 2 + step * each * np.arange(n_bins + 1))


def _different_scores(scores: Floats) -> Floats:
    """The different scores, sorted."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.unique(scores[np.isfinite(scores)])


_CAUTION = (
    "",
    "Repeated administrations of one model are not independent: n overstates what is known.",
)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Mean, spread and ends of the scores on every scale."""

    def part(row: sentences.TableRow, scales: Sequence[str]) -> str:
        scale = sentences.scale_name(row["subscale"], scales)
        if not math.isfinite(row["mean"]):
            return f"{scale}: undefined (no scores)"
        counts = ("missing", "n_fewer", "n_items", "items_left_out")
        basis = basis_text(*(int(row[name]) for name in counts))
        mean, sd = (sentences.decimal_text(row[name]) for name in ("mean", "sd"))
        ends = f"{percent_text(row['floor'])} at the lowest and {percent_text(row['ceiling'])} at "
        return f"{scale}: M = {mean}, SD = {sd}" + (
            f", {ends}the highest score{basis}"
            if math.isfinite(row["floor"] + row["ceiling"])
            else basis
        )

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        scales = [row["subscale"] for row in rows]
        return sentences.join_parts((part(row, scales) for row in rows), "scales")

    return sentences.answers_of_groups(result.tables[0], sentence)


@analysis(
    title="Score distribution",
    question="How are the scores of administrations distributed?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=histograms,
    references=(
        "Joanes & Gill (1998) doi:10.1111/1467-9884.00122",
        "Terwee et al. (2007) doi:10.1016/j.jclinepi.2006.03.012",
    ),
    keywords=(
        "scores",
        "mean",
        "SD",
        "histogram",
        "scale scores",
        "descriptive statistics",
        "floor",
        "ceiling",
        "skewness",
        "normality",
        "distribution",
    ),
    requires="scores",
    in_reports=True,
)
def score_distribution(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: ScoreMissing = "prorated",
    bins: Annotated[float, Number("Bins of the histogram", 4, 60)] = 20,
    lists: Lists = None,
    stereotypes: Stereotypes = (),
) -> AnalysisResult:
    """Mean, spread, shape and ends of the scores, by group and subscale and over all items.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    missing : "prorated", "listwise", "half" or "available"
        An administration has a score, the mean of its answers, where it answers 80 % of the items
        planned of the scale, all of them, half of them, or any.
    bins : int
        About how many bins the histogram has. Edges are the same for all groups of a subscale;
        bins are centered on the scores there can be, and subscales of a format share their range.

    Returns
    -------
    AnalysisResult
        `scores`, one row per group and subscale (and "all items" where there are several), and
        `histogram`, one row per bin.

    Raises
    ------
    NotEnoughData
        No administration has a score. Whatever else is undefined is NaN, and a note names it.

    Notes
    -----
    The unit of analysis is one administration; its score is the mean of its items' scores.
    Skewness and kurtosis are the adjusted estimators G1 and G2 of Joanes and Gill (1998); they
    need three and four administrations and some variance. Floor and ceiling are the shares of
    administrations with every answer at the lowest or highest option of the answer format, or,
    where the points of the options are not known, the lowest or highest item score that came up
    anywhere in the data under it; undefined where these are the same. A note
    names those above 15%, a floor or ceiling effect after Terwee et al. (2007).
    Repeated administrations of one model are not independent: n overstates what is known.
    """
    del lists, stereotypes  # they say what scores of texts are, see core/workflow/answers/texts.py
    cells, values = cells_of(item_scores, by), scores_of(item_scores)
    layouts = cells.layouts()
    parts = matrices_of(layouts, values)
    n_parts = Counter(part.group for part in parts)
    laid_out = list(zip(parts, layouts, strict=True))
    if max(n_parts.values()) > 1:
        wholes = [layout for layout in cells.layouts(ALL_ITEMS) if n_parts[layout.group] > 1]
        laid_out += zip(matrices_of(wholes, values), wholes, strict=True)
    order = {group: number for number, group in enumerate(n_parts)}
    laid_out.sort(key=lambda matrix_and_layout: order[matrix_and_layout[0].group])
    scores_of_matrices = [
        row_scores(matrix.scores, missing, matrix.n_asked(1)) for matrix, _ in laid_out
    ]
    if not any(np.isfinite(scores).any() for scores in scores_of_matrices):
        raise NotEnoughData(
            "No administration has a score.",
            "Take scores with answers to half of the items, or the mean of the answers there are.",
        )
    items_answered, most_items = _items_of_groups([matrix for matrix, _ in laid_out], by)
    possible, relative = values_by_subscale(item_scores), relative_scores(item_scores)
    table, histogram = TableRows(SCORES, by), TableRows(HISTOGRAM, by)
    findings = Findings(notes=[*unanswered_notes(item_scores)])
    at_the_ends: dict[str, list[str]] = {"floor": [], "ceiling": []}
    scored: dict[tuple[Any, ...], Integers] = {}  # administrations with a score
    for (matrix, layout), scores in with_progress(
        list(zip(laid_out, scores_of_matrices, strict=True)), "groups and subscales"
    ):
        has_score = np.isfinite(scores)
        scored[matrix.group, matrix.subscale] = matrix.administrations[has_score]
        ends = floor_and_ceiling(layout.filled(relative)[has_score])
        n_answered = len(items_answered[item_group(matrix.group, matrix.subscale, by)])
        spread, shape = moments(scores), skewness_and_kurtosis(scores)
        _add_scores(table, matrix, scores, (spread, shape, ends), n_answered)
        if possible[matrix.subscale].size:
            edges = _bin_edges(possible[matrix.subscale], most_items[matrix.subscale], int(bins))
            _add_bins(histogram, matrix, scores[has_score], edges)
        place = group_name(matrix.group, distinct(by)), matrix.subscale or "(no subscale)"
        findings.notes += _undefined_notes(*place, spread, shape[1], ends[0])
        for end, share in zip(at_the_ends, ends, strict=True):
            if share > _MANY:
                percent = percent_text(share, judged_decimals(share, [_MANY], 2) - 2)
                at_the_ends[end].append(f"{', '.join(place)} ({percent})")
    findings.cautions += _end_cautions(at_the_ends)
    return score_result(
        item_scores,
        [table.table(), histogram.table()],
        findings,
        n_used=_n_used(parts, scored),
        method=f"Score: mean of the items after reverse-keying. {dict(SCORE_RULES)[missing]}. "
        "SD divides by n - 1; skewness and excess kurtosis are the adjusted estimators G1 and G2.",
        matrices=parts,
        taken_for_granted=_CAUTION,
    )


def _items_of_groups(
    matrices: Iterable[ScoreMatrix], by: Sequence[str]
) -> tuple[dict[tuple[Any, ...], set[str]], Counter[str]]:
    """The items that any of like groups answered, and the most of a subscale, whose bins agree."""
    items_answered: dict[tuple[Any, ...], set[str]] = {}
    most_items: Counter[str] = Counter()
    for matrix in matrices:
        alike = item_group(matrix.group, matrix.subscale, by)
        items_answered.setdefault(alike, set()).update(matrix.answered().items)
        most_items[matrix.subscale] = max(len(matrix.items), most_items[matrix.subscale])
    return items_answered, most_items


def _end_cautions(at_the_ends: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Groups many of whose rows have every answer at one end."""
    for end, word in (("floor", "lowest"), ("ceiling", "highest")):
        if at_the_ends[end]:
            yield (
                f"{end.capitalize()} effect (more than 15% of administrations give the {word} "
                f"answer throughout): {name_list(at_the_ends[end])}. Differences beyond that end "
                "cannot show."
            )


def _add_scores(
    table: TableRows,
    matrix: ScoreMatrix,
    scores: Floats,
    statistics: tuple[Moments, tuple[float, float], tuple[float, float]],
    n_answered: int,
) -> None:
    """The row of a group and subscale; `n_answered` are the items that like groups answered."""
    spread, (skewness, kurtosis), (floor, ceiling) = statistics
    answered = np.isfinite(matrix.scores)
    n_items = int(answered.any(axis=0).sum())
    low, q1, median, q3, high = quartiles(scores).tolist()
    table.add(
        matrix.group,
        subscale=matrix.subscale,
        n_items=n_items,
        items_left_out=n_answered - n_items,
        n=spread.n,
        missing=len(scores) - spread.n,
        n_fewer=int((np.isfinite(scores) & (answered.sum(axis=1) < n_items)).sum()),
        mean=spread.mean,
        variance=spread.variance,
        sd=spread.sd,
        skewness=skewness,
        kurtosis=kurtosis,
        min=low,
        q1=q1,
        median=median,
        q3=q3,
        max=high,
        range=high - low,
        floor=floor,
        ceiling=ceiling,
    )


def _add_bins(histogram: TableRows, matrix: ScoreMatrix, scores: Floats, edges: Floats) -> None:
    counts, _ = np.histogram(scores, bins=edges)
    for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), counts, strict=True):
        histogram.add(
            matrix.group, subscale=matrix.subscale, bin_low=low, bin_high=high, count=int(n)
        )


def _undefined_notes(
    group: str, scale: str, spread: Moments, kurtosis: float, floor: float
) -> Iterator[str]:
    """Why there is no score, no shape and no share at the ends."""
    if not spread.n:
        yield about(group, "no administration has a score.", scale)
        return
    if math.isnan(kurtosis):
        equal = spread.n > 3 and spread.sd == 0
        reason = "all scores are equal" if equal else f"n = {spread.n}"
        yield about(group, f"skewness or kurtosis is undefined ({reason}).", scale)
    if math.isnan(floor):
        yield about(group, "floor and ceiling are undefined (only one score came up).", scale)


def _n_used(parts: Sequence[ScoreMatrix], scored: Mapping[tuple[Any, ...], Integers]) -> int:
    """Item scores behind any score, of their subscale or of all items; each counts once.

    `scored` are the administrations with a score, by group and scale.
    """
    n_used = 0
    for part in parts:
        of_whole = scored.get((part.group, ALL_ITEMS), part.administrations[:0])
        behind = np.concatenate([scored[part.group, part.subscale], of_whole])
        rows = np.isin(part.administrations, behind)
        n_used += int(np.isfinite(part.scores[rows]).sum())
    return n_used

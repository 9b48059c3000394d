"""How are the scores of administrations distributed?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.shared import progress
from core.analysis.shared.matrices import (
    ALL_ITEMS,
    ScoreMatrix,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    matrices_of,
)
from core.analysis.shared.options import SCORE_RULES, By, ScoreMissing
from core.analysis.shared.registry import Number, analysis
from core.analysis.shared.rows import (
    Floats,
    Integers,
    MatrixLayout,
    administrations_of,
    analysis_unit,
    cells_of,
    codes_of,
    items_of,
    relative_scores,
    row_cautions,
    scores_of,
)
from core.analysis.shared.scores import basis_text, item_group, unanswered_notes
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    decimal_text,
    join_parts,
    scale_name,
)
from core.charts.bars import histograms
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import judged_decimals, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.wide_scores import NOT_PLANNED, ItemScores, WideScores
from core.errors import NotEnoughData
from core.stats.distributions import floor_and_ceiling, moments, quartiles, skewness_and_kurtosis
from core.stats.inputs import name_list
from core.stats.scores import row_scores

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
    rows = [format_code == code for code in range(len(formats))] if len(formats) > 1 else [...]
    values_of_format = [_known(pd.unique(scores[own].reshape(-1))) for own in rows]
    values: dict[str, list[Floats]] = {ALL_ITEMS: values_of_format}
    for subscale, code in _subscales_asked(item_scores, subscale_code, format_code):
        values.setdefault(str(subscales[subscale]), []).append(values_of_format[code])
    return {name: _known(np.concatenate(parts)) for name, parts in values.items()}


def _subscales_asked(
    item_scores: ItemScores, subscale: Integers, response_format: Integers
) -> list[tuple[int, int]]:
    """Each subscale with each of the formats in which an item of it was planned, as codes."""
    if not isinstance(item_scores, WideScores):
        pairs = pd.DataFrame({"subscale": subscale, "format": response_format})
        return list(pairs.drop_duplicates().itertuples(index=False, name=None))
    planned = item_scores.status != NOT_PLANNED
    return [
        (int(code), int(own))
        for code in pd.unique(subscale)
        for own in pd.unique(response_format[planned[:, subscale == code].any(axis=1)])
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


def _known(scores: Floats) -> Floats:
    """The different scores, sorted."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.unique(scores[np.isfinite(scores)])


# Columns of the tables.

_MANY = 0.15
"""More administrations than this share at one end: a floor or ceiling effect (Terwee et al.)."""
_ENDS = "Lowest and highest are those of the options of the answer format; Terwee et al. (2007)."

_SCORES = (
    Column("subscale", "Score", help="A subscale, or all items."),
    Column("n_items", "Items", "count", "Items of the score that were answered."),
    Column("items_left_out", "Items left out", "count", "Others that other groups answered."),
    Column("n", "n", "count", "Administrations with a score."),
    Column("missing", "Missing", "count", "Administrations without a score."),
    Column("n_fewer", "Fewer items", "count", "Scores of some of the items only."),
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
        "floor",
        "Floor",
        "proportion",
        f"Administrations with every answer at the low end. {_ENDS}",
        (_MANY,),
    ),
    Column(
        "ceiling",
        "Ceiling",
        "proportion",
        f"Administrations with every answer at the top. {_ENDS}",
        (_MANY,),
    ),
)

_BINS = (
    Column("subscale", "Score", help="A subscale, or all items."),
    Column("bin_low", "Scores low", "points", "From, included."),
    Column("bin_high", "Scores high", "points", "Up to, excluded but for the last bin."),
    Column("count", "Administrations", "count", "Scores in the bin."),
)


_CAUTION = (
    "",
    "Repeated administrations of one model are not independent: n overstates what is known.",
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Mean, spread and ends of the scores on every scale."""

    def of(row: TableRow, rows: Sequence[TableRow]) -> str:
        scale = scale_name(row["subscale"], (other["subscale"] for other in rows))
        if not math.isfinite(row["mean"]):
            return f"{scale}: undefined (no scores)"
        counts = ("missing", "n_fewer", "n_items", "items_left_out")
        basis = basis_text(*(int(row[name]) for name in counts))
        ends = f"{percent_text(row['floor'])} at the lowest and {percent_text(row['ceiling'])} at "
        return f"{scale}: M = {decimal_text(row['mean'])}, SD = {decimal_text(row['sd'])}" + (
            f", {ends}the highest score{basis}"
            if math.isfinite(row["floor"] + row["ceiling"])
            else basis
        )

    return answers_by_group(
        result.tables[0],
        "subscale",
        lambda rows: join_parts((of(row, rows) for row in rows), "scales"),
    )


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
) -> AnalysisResult:
    """Mean, spread, shape and ends of the scores, by group and subscale and over all items.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; scores are described within each.
    missing : "prorated", "listwise", "half" or "available"
        An administration has a score, the mean of its answers, where it answers 80 % of the items
        planned of the scale, all of them, half of them, or any.
    bins : int
        About how many bins the histogram has. Edges are the same for all groups of a subscale;
        bins are centered on the scores there can be, and subscales of a format share their range.

    Returns
    -------
    AnalysisResult
        `scores`, one row per group and subscale (and "all items" where there are several):
        `n_items`, `items_left_out`, `n`, `missing`, `n_fewer`, `mean`, `variance`, `sd`,
        `skewness`, `kurtosis`, `min`, `q1`, `median`, `q3`, `max`, `range`, `floor`, `ceiling`.
        `histogram`: `bin_low`, `bin_high`, `count`.

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
    names = distinct(by)
    parts, laid_out = _matrices(item_scores, names)
    matrices = [matrix for matrix, _ in laid_out]
    scores = [row_scores(matrix.scores, missing, matrix.n_asked(1)) for matrix in matrices]
    if not any(np.isfinite(values).any() for values in scores):
        raise NotEnoughData(
            "No administration has a score.",
            "Take scores with answers to half of the items, or the mean of the answers there are.",
        )
    columns, bin_columns = (*by_columns(names), *_SCORES), (*by_columns(names), *_BINS)
    relative = relative_scores(item_scores)
    answered: dict[tuple[Any, ...], set[str]] = {}
    same = [item_group(matrix.group, matrix.subscale, names) for matrix in matrices]
    for matrix, key in zip(matrices, same, strict=True):
        answered.setdefault(key, set()).update(matrix.answered().items)
    rows = [
        _row(matrix, layout.filled(relative), values, len(answered[key]))
        for (matrix, layout), values, key in progress.with_progress(
            list(zip(laid_out, scores, same, strict=True)), "groups and subscales"
        )
    ]
    del relative  # as large as all scores
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    histogram = pd.DataFrame(
        _histogram(matrices, scores, values_by_subscale(item_scores), int(bins)),
        columns=[column.name for column in bin_columns],
    )
    n_scores = sum(part.n_used for part in parts)
    n_used = _n_used(parts, zip(matrices, scores, strict=True))
    return AnalysisResult(
        tables=(
            ResultTable("scores", "Scores", frame, columns),
            ResultTable("histogram", "Histogram of scores", histogram, bin_columns),
        ),
        unit=analysis_unit(item_scores),
        n_used=n_used,
        n_missing=sum(part.n_missing for part in parts),
        method=f"Score: mean of the items after reverse-keying. {dict(SCORE_RULES)[missing]}. "
        "SD divides by n - 1; skewness and excess kurtosis are the adjusted estimators G1 and G2.",
        cautions=(
            *data_cautions(item_scores, parts),
            *_at_the_ends(frame, names),
            *row_cautions(item_scores, *_CAUTION),
        ),
        notes=(
            *data_notes(item_scores),
            *unanswered_notes(item_scores),
            *_undefined(matrices, frame),
        ),
        n_left_out=n_scores - n_used,
    )


def _matrices(
    item_scores: ItemScores, names: Sequence[str]
) -> tuple[tuple[ScoreMatrix, ...], list[tuple[ScoreMatrix, MatrixLayout]]]:
    """Scores by group and subscale; and with all items, each with the layout it was made by."""
    cells, scores = cells_of(item_scores, names), scores_of(item_scores)
    layouts = cells.layouts()
    parts = matrices_of(layouts, scores)
    laid_out = list(zip(parts, layouts, strict=True))
    n_parts = Counter(part.group for part in parts)
    if max(n_parts.values()) > 1:
        several = [one for one in cells.layouts(ALL_ITEMS) if n_parts[one.group] > 1]
        laid_out += zip(matrices_of(several, scores), several, strict=True)
    place = {group: number for number, group in enumerate(n_parts)}
    laid_out.sort(key=lambda one: place[one[0].group])
    return parts, laid_out


def _n_used(parts: Sequence[ScoreMatrix], scored: Iterable[tuple[ScoreMatrix, Floats]]) -> int:
    """Item scores behind any score, of their subscale or of all items; each counts once."""
    behind: dict[tuple[Any, ...], set[int]] = {}
    for matrix, scores in scored:
        ids = matrix.administrations[np.isfinite(scores)]
        behind[matrix.group, matrix.subscale] = set(ids.tolist())
    used = 0
    for part in parts:
        own = behind[part.group, part.subscale] | behind.get((part.group, ALL_ITEMS), set())
        rows = np.isin(part.administrations, list(own))
        used += int(np.isfinite(part.scores[rows]).sum())
    return used


def _row(
    matrix: ScoreMatrix, relative: Floats, all_scores: Floats, n_answered: int
) -> tuple[Any, ...]:
    """The row of one group and subscale; `relative` are its scores between 0 and 1.

    `n_answered` is how many items of the subscale any group answered.
    """
    scored, answered = np.isfinite(all_scores), np.isfinite(matrix.scores)
    n_items = int(answered.any(axis=0).sum())
    n_fewer = scored & (answered.sum(axis=1) < n_items)
    own, five = moments(all_scores), quartiles(all_scores)
    return (
        *matrix.group,
        matrix.subscale,
        n_items,
        n_answered - n_items,
        own.n,
        len(all_scores) - own.n,
        int(n_fewer.sum()),
        own.mean,
        own.variance,
        own.sd,
        *skewness_and_kurtosis(all_scores),
        *(float(value) for value in five),
        float(five[-1] - five[0]),
        *floor_and_ceiling(relative[scored]),
    )


def _histogram(
    matrices: Sequence[ScoreMatrix],
    scores: Sequence[Floats],
    values: Mapping[str, Floats],
    bins: int,
) -> list[tuple[Any, ...]]:
    """Rows of the histogram: the same edges for all groups of a subscale."""
    sizes: dict[str, int] = {}
    for matrix in matrices:
        sizes[matrix.subscale] = max(len(matrix.items), sizes.get(matrix.subscale, 0))
    rows: list[tuple[Any, ...]] = []
    for matrix, own in zip(matrices, scores, strict=True):
        possible = values[matrix.subscale]
        if possible.size:
            edges = _bin_edges(possible, sizes[matrix.subscale], bins)
            counts, _ = np.histogram(own[np.isfinite(own)], bins=edges)
            rows += [
                (*matrix.group, matrix.subscale, float(low), float(high), int(count))
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            ]
    return rows


def _undefined(matrices: Sequence[ScoreMatrix], frame: pd.DataFrame) -> list[str]:
    """Notes on what is undefined, naming group and subscale."""
    notes: list[str] = []
    for matrix, (_, row) in zip(matrices, frame.iterrows(), strict=True):
        where, scale = group_name(matrix.group), matrix.subscale or "(no subscale)"
        if row["n"] == 0:
            notes.append(about(where, "no administration has a score.", scale))
            continue
        if math.isnan(row["kurtosis"]):
            reason = (
                "all scores are equal" if row["n"] > 3 and row["sd"] == 0 else f"n = {row['n']}"
            )
            notes.append(about(where, f"skewness or kurtosis is undefined ({reason}).", scale))
        if math.isnan(row["floor"]):
            notes.append(
                about(where, "floor and ceiling are undefined (only one score came up).", scale)
            )
    return notes


def _at_the_ends(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Notes on scores at which more administrations than usual reach an end of the range."""
    notes = []
    for end, word in (("floor", "lowest"), ("ceiling", "highest")):
        many = frame[frame[end] > _MANY]
        places = [
            f"{group_name([row[name] for name in names])}, {row['subscale'] or '(no subscale)'} "
            f"({percent_text(row[end], judged_decimals(row[end], [_MANY], 2) - 2)})"
            for _, row in many.iterrows()
        ]
        if places:
            notes.append(
                f"{end.capitalize()} effect (more than 15% of administrations give the {word} "
                f"answer throughout): {name_list(places)}. Differences beyond that end cannot show."
            )
    return notes

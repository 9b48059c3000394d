"""How far do raters, such as models or people, agree on the items that they all answered?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.shared.comparisons import comparison_table
from core.analysis.shared.matrices import by_columns, distinct, group_name, result_table
from core.analysis.shared.option_counts import cell_codes, usable_counts
from core.analysis.shared.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.shared.registry import Choice, Number, analysis
from core.analysis.shared.scripts.agreement import RaterCodes, agreement_files
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    coefficient_text,
    interval_text,
    table_of,
)
from core.charts.statement_tests import rater_agreement_charts
from core.domain.frames import OPTION_COUNTS, grouping_title
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile
from core.errors import NotEnoughData
from core.stats.agreement import (
    Metric,
    Weights,
    fleiss_kappa,
    krippendorff_alpha,
    weighted_kappa,
)
from core.stats.inputs import Estimate, Floats
from core.stats.resampling import Bootstrap

MOST_PAIRS = 300

Raters = Annotated[
    str,
    Choice(
        "Raters",
        tuple(
            (name, grouping_title(name))
            for name in ("respondent", "model", "context", "language", "template", "repetition")
        ),
        help="Each level of it is a rater. A rater who answered an item several times counts with "
        "the option chosen most often; with a tie, the rater has no code on the item.",
    ),
]
CodeKind = Literal["option", "stance", "ordinal", "interval"]
Codes = Annotated[
    CodeKind,
    Choice(
        "A code is",
        (
            ("option", "The option, as a category (nominal)"),
            ("stance", "The stance: positive, negative or middle (nominal)"),
            ("ordinal", "The points of the option, by rank (ordinal)"),
            ("interval", "The points of the option (interval)"),
        ),
        help="Kappa of two raters has linear weights for ordinal codes, quadratic ones for "
        "interval codes, and none else. Fleiss' kappa is always nominal.",
    ),
]
UnitResamples = Annotated[
    int,
    Number("Bootstrap resamples of items", 0, 10_000, help="Of whole items; 0 for no intervals."),
]
_WEIGHTS: dict[str, Weights] = {"ordinal": "linear", "interval": "quadratic"}


@dataclass(frozen=True, eq=False)
class _Ratings:
    """The codes of one group: (raters, items) as numbers, NaN for none."""

    name: tuple[Any, ...]
    raters: list[str]
    items: list[str]
    codes: Floats
    n_ties: int


def _group_columns(level: str) -> tuple[Column, ...]:
    return (
        Column("raters", "Raters", "count"),
        Column("items", "Items", "count", "Items with a code of two raters or more."),
        Column(
            "kappa",
            "Mean kappa",
            "correlation",
            "Cohen's kappa of every two raters over the items that both coded, mean over pairs; "
            "Light (1971) doi:10.1037/h0031643. Without an interval, because pairs share raters: "
            "see alpha.",
        ),
        Column("sd", "SD", "correlation", "Of the kappas of pairs (n − 1)."),
        Column("pairs", "Pairs", "count", "Pairs of raters with a kappa."),
        Column(
            "alpha",
            "Alpha",
            "correlation",
            "Krippendorff's alpha of all raters; gaps cost nothing. Krippendorff (2019), Content "
            "analysis, chapter 12.",
        ),
        Column("ci_low", f"{level} low", "correlation", "Percentiles over redrawn items."),
        Column("ci_high", f"{level} high", "correlation", "Percentiles over redrawn items."),
        Column(
            "fleiss",
            "Fleiss' kappa",
            "correlation",
            "Of the items that all raters coded; Fleiss (1971) doi:10.1037/h0031619.",
        ),
        Column("fleiss_low", f"Fleiss {level} low", "correlation", "Over redrawn items."),
        Column("fleiss_high", f"Fleiss {level} high", "correlation", "Over redrawn items."),
        Column("complete", "Complete", "count", "Items that all raters coded."),
        Column("same", "One code", "count", "Of them, with one code of all raters."),
        Column("remark", "Remark", help="Why a number is undefined."),
    )


def _pair_columns(level: str) -> tuple[Column, ...]:
    return (
        Column("first", "First"),
        Column("second", "Second"),
        Column("kappa", "Kappa", "correlation", "Cohen (1960) doi:10.1177/001316446002000104."),
        Column(
            "ci_low",
            f"{level} low",
            "correlation",
            "Large-sample interval of Fleiss, Cohen & Everitt (1969) doi:10.1037/h0028106.",
        ),
        Column("ci_high", f"{level} high", "correlation"),
        Column("agreement", "Same code", "proportion", "Items with the same code / items."),
        Column("n", "Items", "count", "Items that both coded."),
        Column("remark", "Remark", help="Why a number is undefined."),
    )


_ITEM_COLUMNS = (
    Column("item", "Item"),
    Column("agreement", "Same code", "proportion", "Pairs of raters with the same code / pairs."),
    Column("n", "Raters", "count", "Raters with a code."),
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The agreement of each group."""

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        head = (
            f"{count_text(int(row['raters']), 'rater')} over "
            f"{count_text(int(row['items']), 'item')}: "
        )
        if math.isnan(row["alpha"]) and math.isnan(row["kappa"]):
            return f"{head}agreement is undefined. {row['remark']}".strip()
        sd = f" (SD {coefficient_text(row['sd'])})" if math.isfinite(row["sd"]) else ""
        interval = interval_text(row["ci_low"], row["ci_high"])
        return (
            f"{head}mean kappa of pairs {coefficient_text(row['kappa'])}{sd}, Krippendorff's alpha "
            f"{coefficient_text(row['alpha'])}{interval}; "
            f"{int(row['same'])} of {count_text(int(row['complete']), 'complete item')} have one "
            "code."
        )

    return answers_by_group(table_of(result, "groups"), "raters", sentence)


def rater_agreement_scripts(
    option_counts: pd.DataFrame,
    *,
    raters: Raters = "respondent",
    codes: Codes = "option",
    by: By = (),
    ci_level: ConfidenceLevel = 0.95,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `rater_agreement`."""
    del resamples, seed, adjust  # of what the scripts do not repeat
    names = tuple(name for name in distinct(by) if name != raters)
    groups = [
        RaterCodes(group_name(group.name), tuple(group.raters), group.codes)
        for group in _groups(_coded(option_counts, codes), names, raters)
    ]
    return agreement_files(
        groups,
        weights=_WEIGHTS.get(codes, "none"),
        metric=codes if codes in ("ordinal", "interval") else "nominal",
        ci_level=ci_level,
        most_pairs=MOST_PAIRS,
    )


@analysis(
    title="Agreement of raters",
    question="How far do raters agree on the items that they answered?",
    topic="reliability",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=rater_agreement_charts,
    scripts=rater_agreement_scripts,
    references=(
        "Cohen (1960) doi:10.1177/001316446002000104",
        "Light, R. J. (1971). Measures of response agreement for qualitative data. "
        "doi:10.1037/h0031643",
        "Fleiss (1971) doi:10.1037/h0031619",
        "Krippendorff, K. (2019). Content analysis (4th ed.), chapter 12",
    ),
    keywords=(
        "inter-rater agreement",
        "Cohen's kappa",
        "Fleiss' kappa",
        "Krippendorff's alpha",
        "agreement of models",
        "agreement of people",
        "coders",
        "Light's kappa",
        "pairwise kappa",
    ),
)
def rater_agreement(
    option_counts: pd.DataFrame,
    *,
    raters: Raters = "respondent",
    codes: Codes = "option",
    by: By = (),
    ci_level: ConfidenceLevel = 0.95,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Cohen's kappa of every two raters, Fleiss' kappa and Krippendorff's alpha of all.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With the factor of the raters.
    raters : factor
        Its levels are the raters.
    codes : "option", "stance", "ordinal" or "interval"
        What a code is, and how disagreement counts.
    by : tuple of factors
        Groups to set side by side, such as an attribute of items.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals; resamples of items and their seed.
    adjust : "holm" or "benjamini-hochberg"
        Of p in the comparison of groups.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group; `pairs`, a row per group and pair of raters (300 at most);
        `items`, the share of pairs that agree, least first; `comparisons` of groups by it.

    Raises
    ------
    NotEnoughData
        No answer is usable, or there is one rater.

    Notes
    -----
    The unit is one item. A rater's code is the option that most of its trials chose; ties and items
    without a usable answer are gaps. Assumes that items are independent. Agrees with R's irr, psych
    and scikit-learn through core/stats/agreement.py.
    """
    names = tuple(name for name in distinct(by) if name != raters)
    counted = _coded(option_counts, codes)
    groups = list(_groups(counted, names, raters))
    if not any(len(own.raters) > 1 for own in groups):
        raise NotEnoughData(
            f"There is one rater only: all answers have the same {raters}.",
            "Choose another factor as the raters, or widen the filters.",
        )
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    level = f"{ci_level * 100:g}% CI"
    factors = by_columns(names)
    pairs = [_pair_kappas(own, codes, ci_level) for own in groups]
    items = _item_frame(groups, names)
    compared = comparison_table(
        items[[*names, "item", "agreement"]],
        names,
        units=("item",),
        value="agreement",
        title="Pairs that agree",
        adjust=adjust,
        ci_level=ci_level,
        resamples=resamples,
        seed=seed,
        answers=option_counts,
        values_of=lambda own: _item_frame(list(_groups(_coded(own, codes), names, raters)), names),
    )
    metric: Metric = codes if codes in ("ordinal", "interval") else "nominal"
    tables = (
        result_table(
            "groups",
            "Agreement of all raters",
            (
                _group_row(own, found, metric, bootstrap, ci_level)
                for own, found in zip(groups, pairs, strict=True)
            ),
            (*factors, *_group_columns(level)),
            "Raters",
        ),
        result_table(
            "pairs",
            "Every two raters",
            (
                (*own.name, *row)
                for own, found in zip(groups, pairs, strict=True)
                for row in _pair_rows(own, found)
            ),
            (*factors, *_pair_columns(level)),
            "Pairs",
        ),
        ResultTable(
            "items", "Items, the least agreement first", items, (*factors, *_ITEM_COLUMNS), "Items"
        ),
        *compared.tables,
    )
    used = int(counted["count"].sum())
    usable = int(usable_counts(option_counts)["count"].sum())
    return AnalysisResult(
        tables=tables,
        unit="one item",
        n_used=used,
        n_missing=int(option_counts["count"].sum()) - usable,
        n_left_out=usable - used,
        method=_method(raters, codes, metric, ci_level, resamples),
        cautions=(),
        notes=(*_notes(groups, usable - used), *compared.notes),
    )


def _coded(option_counts: pd.DataFrame, codes: CodeKind) -> pd.DataFrame:
    """The usable answers with their `code` as a number."""
    frame = usable_counts(option_counts)
    if codes == "option":
        values = pd.factorize(frame["option"].astype(str))[0].astype(np.float64)
    else:
        values = frame["stance" if codes == "stance" else "points"].to_numpy(dtype=np.float64)
    frame = frame.assign(code=values)
    frame = frame[np.isfinite(values) & (frame["count"] > 0).to_numpy()]
    if frame.empty:
        what = {"option": "is usable", "stance": "has a stance"}.get(codes, "has points")
        raise NotEnoughData(f"No answer {what}.", "Choose other codes, or widen the filters.")
    return frame


def _groups(frame: pd.DataFrame, names: Sequence[str], raters: str) -> Iterator[_Ratings]:
    """The codes of each group: of every rater and item the one given most often."""
    cell, labels = cell_codes(frame, (*names, raters, "item", "code"))
    count = np.bincount(cell, frame["count"].to_numpy(dtype=np.float64))
    place, units = cell_codes(labels, (*names, raters, "item"))
    most = np.zeros(len(units))
    np.maximum.at(most, place, count)
    best = np.flatnonzero(count == most[place])
    n_best = np.bincount(place[best], minlength=len(units))
    code = np.full(len(units), np.nan)
    code[place[best]] = labels["code"].to_numpy(dtype=np.float64)[best]
    code[n_best > 1] = np.nan
    group, groups = cell_codes(units, names)
    values = list(groups.itertuples(index=False, name=None)) if names else [()]
    for number, name in enumerate(values):
        rows = np.flatnonzero(group == number)
        own = units.iloc[rows]
        rater = pd.factorize(own[raters].astype(str), sort=True)
        item, items = cell_codes(own, ("item",))
        table = np.full((len(rater[1]), len(items)), np.nan)
        table[rater[0], item] = code[rows]
        ties = int((n_best[rows] > 1).sum())
        yield _Ratings(name, list(rater[1]), list(map(str, items["item"])), table, ties)


def _pair_kappas(own: _Ratings, codes: CodeKind, level: float) -> list[tuple[int, int, Estimate]]:
    """Kappa of every two raters, of the first `MOST_PAIRS` pairs."""
    weights = _WEIGHTS.get(codes, "none")
    return [
        (a, b, weighted_kappa(own.codes[a], own.codes[b], weights=weights, level=level))
        for a, b in islice(combinations(range(len(own.raters)), 2), MOST_PAIRS)
    ]


def _pair_rows(
    own: _Ratings, pairs: Sequence[tuple[int, int, Estimate]]
) -> Iterator[tuple[Any, ...]]:
    """One row for each pair of raters."""
    for a, b, kappa in pairs:
        both = np.isfinite(own.codes[a]) & np.isfinite(own.codes[b])
        same = float((own.codes[a] == own.codes[b])[both].mean()) if both.any() else math.nan
        yield (
            own.raters[a],
            own.raters[b],
            kappa.value,
            kappa.low,
            kappa.high,
            same,
            kappa.n,
            " ".join(kappa.problems),
        )


def _group_row(
    own: _Ratings,
    pairs: Sequence[tuple[int, int, Estimate]],
    metric: Metric,
    bootstrap: Bootstrap | None,
    level: float,
) -> tuple[Any, ...]:
    """Agreement of all raters of a group."""
    kappas = np.array([kappa.value for _, _, kappa in pairs])
    kappas = kappas[np.isfinite(kappas)]
    draws = bootstrap or Bootstrap(1)
    alpha = krippendorff_alpha(own.codes, metric, level=level, bootstrap=draws)
    fleiss = fleiss_kappa(own.codes.T, level=level, bootstrap=draws)
    if bootstrap is None:
        alpha, fleiss = (replace(one, low=math.nan, high=math.nan) for one in (alpha, fleiss))
    complete = np.isfinite(own.codes).all(axis=0)
    same = complete & (own.codes == own.codes[:1]).all(axis=0)
    remarks = [
        *(f"Alpha: {problem}" for problem in alpha.problems),
        *(f"Fleiss' kappa: {problem}" for problem in fleiss.problems),
    ]
    return (
        *own.name,
        len(own.raters),
        alpha.n,
        float(kappas.mean()) if kappas.size else math.nan,
        float(kappas.std(ddof=1)) if kappas.size > 1 else math.nan,
        len(kappas),
        alpha.value,
        alpha.low,
        alpha.high,
        fleiss.value,
        fleiss.low,
        fleiss.high,
        int(complete.sum()),
        int(same.sum()),
        " ".join(remarks),
    )


def _item_frame(groups: Sequence[_Ratings], names: Sequence[str]) -> pd.DataFrame:
    """One row for each group and item, in each group the least agreement first."""
    rows = []
    for own in groups:
        known = np.isfinite(own.codes)
        n = known.sum(axis=0)
        values = np.unique(own.codes[known])
        counts = np.stack([(own.codes == value).sum(axis=0) for value in values] or [n])
        pairs = n * (n - 1)
        same = (counts * (counts - 1)).sum(axis=0)
        agreement = np.where(pairs > 0, same / np.where(pairs > 0, pairs, 1), np.nan)
        order = np.argsort(np.nan_to_num(agreement, nan=2.0), kind="stable")
        rows += [(*own.name, own.items[i], float(agreement[i]), int(n[i])) for i in order.tolist()]
    return pd.DataFrame(rows, columns=[*names, *(column.name for column in _ITEM_COLUMNS)])


def _method(raters: str, codes: CodeKind, metric: str, level: float, resamples: int) -> str:
    """The coefficients in words."""
    what = {
        "option": "the option chosen most often",
        "stance": "the stance chosen most often",
    }.get(codes, "the points chosen most often")
    weights = _WEIGHTS.get(codes, "no")
    redrawn = (
        f"Intervals of alpha and Fleiss' kappa ({level * 100:g}%) redraw items {resamples:,} times."
        if resamples
        else "Alpha and Fleiss' kappa have no intervals, because no resamples are asked for."
    )
    return (
        f"Raters are the levels of {grouping_title(raters).lower()}; a code is {what}, none with a "
        f"tie. Cohen's kappa of every two raters ({weights} weights), mean and SD over pairs; "
        f"Krippendorff's alpha ({metric}); Fleiss' kappa (nominal). {redrawn}"
    )


def _notes(groups: Sequence[_Ratings], left_out: int) -> Iterator[str]:
    """What is left out, and which groups have one rater."""
    ties = sum(own.n_ties for own in groups)
    if ties:
        yield f"Ties between a rater's own answers leave {count_text(ties, 'code')} out."
    if left_out:
        yield f"Left out, because their option has no such code: {count_text(left_out, 'answer')}."
    for own in groups:
        n_pairs = len(own.raters) * (len(own.raters) - 1) // 2
        if len(own.raters) < 2:
            yield about(group_name(own.name), "one rater, so agreement is undefined.")
        elif n_pairs > MOST_PAIRS:
            yield (
                about(
                    group_name(own.name),
                    f"the first {MOST_PAIRS} of {count_text(n_pairs, 'pair')} "
                    "of raters have a kappa, and the mean is of these.",
                )
            )

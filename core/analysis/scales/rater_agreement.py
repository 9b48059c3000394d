"""How far do raters, such as models or people, agree on the items that they all answered?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.columns import with_upper_help
from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    CONDITIONS,
    cell_codes,
    conditions_within,
    usable_counts,
)
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import Choice, Number, analysis
from core.analysis.kit.results import Findings, option_result
from core.analysis.kit.scripts.agreement import RaterCodes, agreement_files
from core.charts.statement_tests import rater_agreement_charts
from core.domain.factors import grouping_title, levels_word
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, TextFile
from core.domain.tables import TableRows, TableSpec, count, estimate, key, number, remark
from core.errors import NotEnoughData
from core.stats.agreement import (
    Metric,
    Weights,
    fleiss_kappa,
    krippendorff_alpha,
    weighted_kappa,
)
from core.stats.inputs import Floats, and_list
from core.stats.resampling import Bootstrap

GROUPS = TableSpec(
    "groups",
    "Agreement of all raters",
    (
        count("raters", "Raters"),
        count("items", "Items", "Items with a code of two raters or more."),
        number(
            "kappa",
            "Mean kappa",
            "correlation",
            "Cohen's kappa of every two raters over the items that both coded, mean over pairs; "
            "Light (1971) doi:10.1037/h0031643. Without an interval, because pairs share raters: "
            "see alpha.",
        ),
        number("sd", "SD", "correlation", "Of the kappas of pairs (n − 1)."),
        count("pairs", "Pairs", "Pairs of raters with a kappa."),
        *estimate(
            "alpha",
            "Alpha",
            "correlation",
            "Krippendorff's alpha of all raters; gaps cost nothing. Krippendorff (2019), Content "
            "analysis, chapter 12.",
            "Wilson (1927) from -1 to 1, with t and the standard error over redrawn items.",
        ),
        *estimate(
            "fleiss",
            "Fleiss' kappa",
            "correlation",
            "Of the items that all raters coded; Fleiss (1971) doi:10.1037/h0031619.",
            "Over redrawn items.",
            ends_title="Fleiss {level}",
            ends_name="fleiss",
        ),
        count("complete", "Complete", "Items that all raters coded."),
        count("same", "One code", "Of them, with one code of all raters."),
        remark("Why a number is undefined."),
    ),
    "Raters",
)
PAIRS = TableSpec(
    "pairs",
    "Every two raters",
    (
        key("first", "First"),
        key("second", "Second"),
        *with_upper_help(
            estimate(
                "kappa",
                "Kappa",
                "correlation",
                "Cohen (1960) doi:10.1177/001316446002000104.",
                "Wilson's interval from -1 to 1, with the error of Fleiss, Cohen & Everitt (1969) "
                "doi:10.1037/h0028106 and t.",
            ),
            "",
        ),
        number("agreement", "Same code", "proportion", "Items with the same code / items."),
        count("n", "Items", "Items that both coded."),
        remark("Why a number is undefined."),
    ),
    "Pairs",
)
ITEMS = TableSpec(
    "items",
    "Items, the least agreement first",
    (
        key("item", "Item"),
        number(
            "agreement", "Same code", "proportion", "Pairs of raters with the same code / pairs."
        ),
        count("n", "Raters", "Raters with a code."),
    ),
    "Items",
)

MOST_PAIRS = 300
_MOST_LEVELS = 12
"""Levels of a factor that are set apart unasked."""

Raters = Annotated[
    str,
    Choice(
        "Raters",
        tuple(
            (name, grouping_title(name))
            for name in ("respondent", "model", "context", "language", "template", "repetition")
        ),
        help="Each level of it is a rater. A rater who was asked an item several times in the same "
        "way counts with the option chosen most often; with a tie, the rater has no code on the "
        "item. All else in which a rater's answers differ, such as models, is set apart.",
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

    group: tuple[Any, ...]
    raters: list[str]
    items: list[str]
    codes: Floats
    n_ties: int


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The agreement of each group."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        row = rows[0]
        head = (
            f"{count_text(int(row['raters']), 'rater')} over "
            f"{count_text(int(row['items']), 'item')}: "
        )
        if math.isnan(row["alpha"]) and math.isnan(row["kappa"]):
            return f"{head}agreement is undefined. {row['remark']}".strip()
        kappa, sd, alpha = (
            sentences.coefficient_text(row[name]) for name in ("kappa", "sd", "alpha")
        )
        spread = f" (SD {sd})" if math.isfinite(row["sd"]) else ""
        interval = sentences.interval_text(row["ci_low"], row["ci_high"])
        return (
            f"{head}mean kappa of pairs {kappa}{spread}, Krippendorff's alpha {alpha}{interval}; "
            f"{int(row['same'])} of {count_text(int(row['complete']), 'complete item')} have one "
            "code."
        )

    return sentences.answers_of_groups(sentences.table_of(result, "groups"), sentence)


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
    counted = _coded(option_counts, codes)
    names = (*_chosen_groups(by, raters), *_factors_mixed(counted, by, raters))
    groups = [
        RaterCodes(group_name(group.group), tuple(group.raters), group.codes)
        for group in _groups(counted, names, raters)
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
    keeps=CONDITIONS[1:],
    kept_are="apart",
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
        With the factor of the raters, kept apart by all but the repetition.
    raters : factor
        Its levels are the raters.
    by : tuple of factors
        Groups to set side by side. All else in which the answers of a rater to an item differ, such
        as models where templates are the raters, is set apart too.
    codes : "option", "stance", "ordinal" or "interval"
        What a code is, and how disagreement counts.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group; `pairs`, a row per group and pair of raters (300 at most);
        `items`, the share of pairs that agree, least first; `comparisons` of groups by it.

    Raises
    ------
    NotEnoughData
        No answer is usable, there is one rater, or the answers of a rater to an item differ in a
        factor of more than 12 levels that is no group.

    Notes
    -----
    The unit is one item. A rater's code is the option that most of its trials chose, which are
    repetitions of one question; ties and items without a usable answer are gaps. Assumes that items
    are independent. Agrees with R's irr, psych and scikit-learn through core/stats/agreement.py.
    """
    counted = _coded(option_counts, codes)
    mixed = _factors_mixed(counted, by, raters)
    names = (*_chosen_groups(by, raters), *mixed)
    groups = list(_groups(counted, names, raters))
    if not any(len(ratings.raters) > 1 for ratings in groups):
        raise NotEnoughData(
            f"There is one rater only: all answers have the same {raters}.",
            "Choose another factor as the raters, or widen the filters.",
        )
    metric: Metric = codes if codes in ("ordinal", "interval") else "nominal"
    used = int(counted["count"].sum())
    usable = int(usable_counts(option_counts)["count"].sum())
    findings = _findings(groups, mixed, usable - used)
    of_groups, of_pairs = TableRows(GROUPS, names, ci_level), TableRows(PAIRS, names, ci_level)
    draws = Bootstrap(resamples, seed) if resamples else None
    for ratings in groups:
        kappas = _add_pairs(of_pairs, ratings, codes, ci_level)
        _add_group(of_groups, ratings, kappas, metric, draws, ci_level)
        n_pairs = math.comb(len(ratings.raters), 2)
        if not n_pairs:
            findings.note(group_name(ratings.group), "one rater, so agreement is undefined.")
        elif n_pairs > MOST_PAIRS:
            findings.note(
                group_name(ratings.group),
                f"the first {MOST_PAIRS} of {count_text(n_pairs, 'pair')} of raters have a kappa, "
                "and the mean is of these.",
            )
    items = _item_frame(groups, names)
    compared = comparison_table(
        items[[*names, "item", "agreement"]],
        names,
        units=("item",),
        value="agreement",
        title="Pairs that agree",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=lambda part: _item_frame(
            list(_groups(_coded(part, codes), names, raters)), names
        ),
    )
    findings.notes += compared.notes
    return option_result(
        option_counts,
        [of_groups.table(), of_pairs.table(), ITEMS.table(items, names), *compared.tables],
        findings,
        unit="one item",
        used=used,
        method=_method(raters, codes, metric, resamples, ci_level),
    )


def _findings(groups: Sequence[_Ratings], mixed: Sequence[str], n_left_out: int) -> Findings:
    """What is set apart unasked, and what is left out."""
    findings = Findings()
    if mixed:
        findings.notes.append(
            "Raters were asked the same items under several "
            f"{and_list([levels_word(name) for name in mixed])}, so these are set apart: a code of "
            "them all would mix them."
        )
    if ties := sum(ratings.n_ties for ratings in groups):
        findings.notes.append(
            f"Ties between a rater's own answers leave {count_text(ties, 'code')} out."
        )
    if n_left_out:
        findings.notes.append(
            f"Left out, because their option has no such code: {count_text(n_left_out, 'answer')}."
        )
    return findings


def _add_pairs(
    of_pairs: TableRows, ratings: _Ratings, codes: CodeKind, ci_level: float
) -> list[float]:
    """A row for each pair of raters; the kappas that are defined."""
    kappas = []
    every_pair = combinations(zip(ratings.raters, ratings.codes, strict=True), 2)
    for (first, x), (second, y) in islice(every_pair, MOST_PAIRS):
        kappa = weighted_kappa(x, y, weights=_WEIGHTS.get(codes, "none"), level=ci_level)
        both = np.isfinite(x) & np.isfinite(y)
        of_pairs.add(
            ratings.group,
            first=first,
            second=second,
            kappa=kappa,
            agreement=float((x == y)[both].mean()) if both.any() else math.nan,
            n=kappa.n,
            remark=" ".join(kappa.problems),
        )
        if kappa.defined:
            kappas.append(kappa.value)
    return kappas


def _add_group(
    of_groups: TableRows,
    ratings: _Ratings,
    kappas: Sequence[float],
    metric: Metric,
    draws: Bootstrap | None,
    ci_level: float,
) -> None:
    """The row of a group: its kappas, and the coefficients of all its raters."""
    bootstrap = draws or Bootstrap(1)
    alpha = krippendorff_alpha(ratings.codes, metric, level=ci_level, bootstrap=bootstrap)
    fleiss = fleiss_kappa(ratings.codes.T, level=ci_level, bootstrap=bootstrap)
    if draws is None:
        alpha = replace(alpha, low=math.nan, high=math.nan)
        fleiss = replace(fleiss, low=math.nan, high=math.nan)
    complete = np.isfinite(ratings.codes).all(axis=0)
    same = complete & (ratings.codes == ratings.codes[:1]).all(axis=0)
    of_groups.add(
        ratings.group,
        raters=len(ratings.raters),
        items=alpha.n,
        kappa=float(np.mean(kappas)) if kappas else math.nan,
        sd=float(np.std(kappas, ddof=1)) if len(kappas) > 1 else math.nan,
        pairs=len(kappas),
        alpha=alpha,
        fleiss=fleiss,
        complete=int(complete.sum()),
        same=int(same.sum()),
        remark=" ".join(
            [
                *(f"Alpha: {problem}" for problem in alpha.problems),
                *(f"Fleiss' kappa: {problem}" for problem in fleiss.problems),
            ]
        ),
    )


def _method(raters: str, codes: CodeKind, metric: Metric, resamples: int, ci_level: float) -> str:
    """What a rater and a code are, and which coefficients are computed."""
    chosen = {"option": "option", "stance": "stance"}.get(codes, "points")
    redrawn = (
        f"Intervals of alpha and Fleiss' kappa ({ci_level * 100:g}%) redraw items {resamples:,} "
        "times."
        if resamples
        else "Alpha and Fleiss' kappa have no intervals, because no resamples are asked for."
    )
    return (
        f"Raters are the levels of {grouping_title(raters).lower()}; a code is the {chosen} "
        "chosen most often, none with a tie. Cohen's kappa of every two raters "
        f"({_WEIGHTS.get(codes, 'no')} weights), mean and SD over pairs; Krippendorff's alpha "
        f"({metric}); Fleiss' kappa (nominal). {redrawn}"
    )


def _chosen_groups(by: Sequence[str], raters: str) -> tuple[str, ...]:
    """The groups that are asked for; the raters make none."""
    return tuple(name for name in distinct(by) if name != raters)


def _factors_mixed(counted: pd.DataFrame, by: Sequence[str], raters: str) -> tuple[str, ...]:
    """The factors in which the answers of one rater to one item of a group differ.

    Raises
    ------
    NotEnoughData
        They cannot be set apart: a model has several respondents, or levels are too many.
    """
    if len(counted[raters].unique()) < 2:
        return ()
    names = _chosen_groups(by, raters)
    cell = [*names, raters, "item"]
    mixed = []
    for factor in conditions_within(counted, names, (raters,)):
        levels = counted[[*cell, factor]].drop_duplicates()
        if not levels.duplicated(cell).any():
            continue
        if raters == "model" and factor == "respondent":
            raise NotEnoughData(
                "A model has several respondents, whose answers would be mixed in its codes.",
                "Choose the respondents as the raters, or one respondent of each model.",
            )
        n_levels = levels[factor].nunique()
        if n_levels > _MOST_LEVELS:
            raise NotEnoughData(
                f"Raters were asked the same items under {n_levels:,} {levels_word(factor)}, whose "
                "answers would be mixed in one code.",
                f"Choose one {factor.replace('_', ' ')}, or take it into Separately for.",
            )
        mixed.append(factor)
    return tuple(mixed)


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
    unit, units = cell_codes(labels, (*names, raters, "item"))
    most = np.zeros(len(units))
    np.maximum.at(most, unit, count)
    best = np.flatnonzero(count == most[unit])
    n_best = np.bincount(unit[best], minlength=len(units))
    code = np.full(len(units), np.nan)
    code[unit[best]] = labels["code"].to_numpy(dtype=np.float64)[best]
    code[n_best > 1] = np.nan
    group, groups = cell_codes(units, names)
    values = list(groups.itertuples(index=False, name=None)) if names else [()]
    for group_code, values_of_group in enumerate(values):
        rows = np.flatnonzero(group == group_code)
        rater, rater_names = pd.factorize(units[raters].iloc[rows].astype(str), sort=True)
        item, items = cell_codes(units.iloc[rows], ("item",))
        table = np.full((len(rater_names), len(items)), np.nan)
        table[rater, item] = code[rows]
        ties = int((n_best[rows] > 1).sum())
        yield _Ratings(
            values_of_group, list(rater_names), list(map(str, items["item"])), table, ties
        )


def _item_frame(groups: Sequence[_Ratings], names: Sequence[str]) -> pd.DataFrame:
    """One row for each group and item, in each group the least agreement first."""
    rows = TableRows(ITEMS, names)
    for ratings in groups:
        coded = np.isfinite(ratings.codes)
        n = coded.sum(axis=0)
        values = np.unique(ratings.codes[coded])
        counts = np.stack([(ratings.codes == value).sum(axis=0) for value in values] or [n])
        pairs = n * (n - 1)
        same = (counts * (counts - 1)).sum(axis=0)
        agreement = np.where(pairs > 0, same / np.where(pairs > 0, pairs, 1), np.nan)
        for column in np.argsort(np.nan_to_num(agreement, nan=2.0), kind="stable").tolist():
            rows.add(
                ratings.group,
                item=ratings.items[column],
                agreement=float(agreement[column]),
                n=int(n[column]),
            )
    return rows.table().frame

"""Do annotators agree on what agreement with a statement says of a domain?"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import result_table
from core.analysis.kit.options import ConfidenceLevel, Seed
from core.analysis.kit.registry import BankTable, Number, analysis
from core.analysis.kit.sentences import (
    GroupAnswer,
    GroupAnswers,
    coefficient_text,
    interval_text,
    table_of,
)
from core.charts.worldview import annotator_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column
from core.domain.tables import count, estimate, high_end, key, low_end, number, remark
from core.errors import NotEnoughData
from core.stats.agreement import PairwiseKappas, krippendorff_alpha, pairwise_kappas
from core.stats.inputs import Floats, name_list
from core.stats.resampling import Bootstrap

_LIGHT = "Light (1971) doi:10.1037/h0031643."
_ALL = "all annotators"


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The domains with the lowest and the highest mean kappa."""
    rows = table_of(result, "domains").frame.to_dict("records")
    known = sorted((r for r in rows if math.isfinite(r["kappa"])), key=lambda row: row["kappa"])
    n = max((int(row["annotators"]) for row in rows), default=0)
    if not known:
        return (GroupAnswer(_ALL, "No domain has a kappa of two annotators; see the remarks."),)

    def words(row: dict[Any, Any]) -> str:
        return (
            f"{str(row['domain']).replace('_', ' ')} {coefficient_text(row['kappa'])}"
            f"{interval_text(row['ci_low'], row['ci_high'])}"
        )

    ends = f"from {words(known[0])} to {words(known[-1])}" if len(known) > 1 else words(known[0])
    return (
        GroupAnswer(
            _ALL,
            f"{count_text(n, 'annotator')}: mean kappa over pairs in "
            f"{count_text(len(known), 'domain')} {ends}.",
        ),
    )


def _domain_columns(level: str) -> tuple[Column, ...]:
    return (
        key("domain", "Domain"),
        number(
            "kappa",
            "Mean κ",
            "correlation",
            "Cohen's kappa of every two annotators (1960), "
            f"mean over pairs; {_LIGHT} 1: always alike, 0: as by chance.",
        ),
        number("sd", "SD", "correlation", "Over pairs, n − 1; pairs share annotators."),
        low_end(
            "ci_low",
            f"{level} low",
            "correlation",
            "Of the mean; Wilson (1927) from -1 to 1, with t and the standard error over items.",
        ),
        high_end("ci_high", f"{level} high", "correlation", "Of the mean."),
        count("pairs", "Pairs", "Pairs of annotators with a kappa."),
        count("annotators", "Annotators", "Who coded an item for the domain."),
        count("n", "Items", "Coded by two annotators at least."),
        number(
            "same", "Same code", "proportion", "Share of items with one code of all who coded them."
        ),
        number(
            "alpha",
            "α",
            "correlation",
            "Krippendorff's alpha, nominal, which bears gaps; Krippendorff (2011).",
        ),
        remark("Why a number is undefined, and cautions."),
    )


def _pair_columns(level: str) -> tuple[Column, ...]:
    ends = (
        "Wilson's interval from -1 to 1, with the error of Fleiss, Cohen & Everitt (1969) "
        "doi:10.1037/h0028106 and t; items taken as independent."
    )
    return (
        key("domain", "Domain"),
        key("first", "First"),
        key("second", "Second"),
        *estimate(
            "kappa",
            "κ",
            "correlation",
            "Cohen (1960) doi:10.1177/001316446002000104.",
            ends,
            ends_title=level,
        ),
        count("n", "Items", "That both coded."),
        remark("Why a number is undefined, and cautions."),
    )


@analysis(
    title="Agreement of annotators",
    question="Do annotators agree on what the statements say of the domains?",
    topic="worldview",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=annotator_charts,
    references=(
        "Cohen (1960) doi:10.1177/001316446002000104",
        "Light, R. J. (1971). Measures of response agreement for qualitative data. "
        "doi:10.1037/h0031643",
        "Krippendorff (2011), Computing Krippendorff's alpha-reliability",
        "Ceron et al. (2024) doi:10.1162/tacl_a_00710",
    ),
    keywords=(
        "annotators",
        "annotation",
        "coders",
        "Cohen's kappa",
        "pairwise kappa",
        "Light's kappa",
        "inter-annotator agreement",
        "inter-rater",
        "Krippendorff",
        "policy domain",
        "loadings",
    ),
    requires="annotations",
    in_reports=True,
)
def annotator_agreement(
    option_counts: pd.DataFrame,
    *,
    annotations: Annotated[pd.DataFrame, BankTable("annotations")],
    ci_level: ConfidenceLevel = 0.95,
    resamples: Annotated[
        int, Number("Bootstrap resamples", 1, 10_000, help="Of whole items, for the intervals.")
    ] = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Cohen's kappa of every two annotators of each domain, with mean and SD over pairs.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        Not used: annotators code the items of a bank, whatever was answered.
    annotations : table of banks
        What each annotator says of each item and domain: 1, 0 or -1.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals; resamples of items, and their seed.

    Returns
    -------
    AnalysisResult
        `domains`, mean kappa of each domain with SD over pairs, interval, items, share of items of
        one code, and Krippendorff's alpha; `pairs`, the kappa of every two annotators.

    Raises
    ------
    NotEnoughData
        The banks have no annotators.

    Notes
    -----
    The unit is one item, and no trial counts. A pair uses the items that both coded; an item that
    an annotator left out is a gap, not 0. All items of the bank count, also those that were not
    asked. Items are taken as independent. Source: Cohen (1960), Light (1971). Checked by hand and
    against scikit-learn.
    """
    own = annotations.drop_duplicates(["annotator", "item", "domain"])
    annotators = list(dict.fromkeys(own["annotator"].astype(str)))
    domains = list(dict.fromkeys(own["domain"].astype(str)))
    if not annotators:
        raise NotEnoughData(
            "The bank has no annotators.",
            "Bring their codes in on the page Banks (Import loadings).",
        )
    bootstrap = Bootstrap(resamples, seed)
    level = f"{ci_level * 100:g}% CI"
    rows, pair_rows, n_coded = [], [], 0
    for domain in domains:
        codes = _codes(own[own["domain"] == domain], annotators)
        there = np.flatnonzero(np.isfinite(codes).any(axis=0))
        kappas = pairwise_kappas(codes[:, there], level=ci_level, bootstrap=bootstrap)
        n_coded += int(np.isfinite(codes).sum())
        rows.append(_domain_row(domain, codes[:, there], kappas, ci_level))
        names = [annotators[place] for place in there.tolist()]
        pair_rows += [
            (
                domain,
                names[a],
                names[b],
                one.value,
                one.low,
                one.high,
                one.n,
                _in_words(one.problems),
            )
            for (a, b), one in zip(kappas.pairs, kappas.kappas, strict=True)
        ]
    return AnalysisResult(
        tables=(
            result_table(
                "domains", "Agreement on each domain", rows, _domain_columns(level), "Domains"
            ),
            result_table("pairs", "Every two annotators", pair_rows, _pair_columns(level), "Pairs"),
        ),
        unit="one code of an annotator for one item and domain",
        n_used=n_coded,
        n_missing=0,
        method="Cohen's kappa of every two annotators over the items that both coded, mean and SD "
        f"(n − 1) over pairs; the interval of the mean ({ci_level * 100:g}%) redraws whole items "
        f"{resamples:,} times.",
        cautions=("There is one annotator, so there is no agreement.",)
        if len(annotators) == 1
        else (),
        notes=(
            f"Annotators: {name_list(annotators)}. All items of the bank count, whatever was "
            "asked. The answers of respondents do not matter here.",
        ),
    )


def _codes(own: pd.DataFrame, annotators: list[str]) -> Floats:
    """(items, annotators) of codes; NaN where an annotator left the item out."""
    table = own.pivot(index="item", columns="annotator", values="loading").astype(np.float64)
    return np.asarray(table.reindex(columns=annotators).to_numpy())


def _domain_row(
    domain: str, codes: Floats, kappas: PairwiseKappas, level: float
) -> tuple[Any, ...]:
    """Mean kappa of a domain, and further measures of agreement."""
    known = np.isfinite(codes)
    twice = known.sum(axis=1) >= 2
    high = np.where(known, codes, -np.inf).max(axis=1)
    low = np.where(known, codes, np.inf).min(axis=1)
    same = float((high == low)[twice].mean()) if twice.any() else math.nan
    alpha = krippendorff_alpha(codes.T, level=level, bootstrap=Bootstrap(1)).value
    pairs = sum(math.isfinite(one.value) for one in kappas.kappas)
    return (
        domain,
        kappas.mean,
        kappas.sd,
        kappas.low,
        kappas.high,
        pairs,
        codes.shape[1],
        kappas.n_units,
        same,
        alpha,
        _in_words(kappas.problems),
    )


def _in_words(problems: tuple[str, ...]) -> str:
    """The problems, of items and annotators."""
    text = " ".join(problems)
    return text.replace("unit", "item").replace("coder", "annotator")

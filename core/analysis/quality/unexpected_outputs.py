"""How often is a reply something else than the label of an option?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.shared.comparisons import asked_alike, comparison_table
from core.analysis.shared.matrices import by_columns, distinct, group_name, result_table
from core.analysis.shared.option_counts import Resample, ResampleUnit, cell_codes, counted_columns
from core.analysis.shared.options import (
    ADJUSTMENT_NAMES,
    SETTING_CHOICES,
    Adjust,
    By,
    ConfidenceLevel,
    Resamples,
    Seed,
    SettingName,
)
from core.analysis.shared.registry import Choice, analysis
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    interval_text,
    intervals_apart,
    p_text,
    rows_by_group,
    share_interval,
    table_of,
)
from core.charts.unexpected import unexpected_output_charts
from core.domain.frames import OPTION_COUNTS, grouping_title
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.domain.study import NOT_ASKED, Status
from core.errors import NotEnoughData
from core.stats.contingency import (
    chi_square,
    resampled_cramers_v,
    resampled_shares,
    unit_permutation_ps,
)
from core.stats.distributions import wilson_intervals
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Floats, name_list
from core.stats.resampling import Bootstrap

# What a reply can be, in words, and the sums of them that have a name.

OUTPUTS = {
    Status.ANSWERED.value: "label only",
    Status.EXPLAINED.value: "explained",
    Status.NEUTRAL.value: "neutral",
    Status.REFUSED.value: "refused",
    Status.OFF_SCALE.value: "off the scale",
    Status.AMBIGUOUS.value: "ambiguous",
    Status.NO_ANSWER.value: "no answer",
    Status.TRUNCATED.value: "cut off",
    Status.ERROR.value: "error",
    Status.INVALID_CALL.value: "in an incomplete call",
}
_STATUSES = tuple(OUTPUTS)
_USABLE = (Status.ANSWERED.value, Status.EXPLAINED.value)
UNEXPECTED, NO_LABEL, ALL = "any unexpected", "no usable label", "all kinds"

_FACTORS = (
    ("language", "Languages"),
    ("respondent", "Respondents"),
    ("phase", "Phases"),
    ("format", "Response formats"),
    ("form", "Forms"),
    ("entity", "Entities"),
    ("template", "Instructions"),
    ("label_order", "Orders of options"),
    ("items_per_call", "Items per call"),
    ("history", "Histories"),
    *SETTING_CHOICES,
)
Compared = Annotated[
    Literal[
        "language",
        "respondent",
        "phase",
        "format",
        "form",
        "entity",
        "template",
        "label_order",
        "items_per_call",
        "history",
        SettingName,
    ],
    Choice("Compare", _FACTORS, help="Its levels are compared and tested."),
]

_SUM_HELP = {
    UNEXPECTED: "Every response but the label alone.",
    NO_LABEL: "Every response without a usable option: neutral, refused, off the scale and so on.",
}


def _output_columns(ci_level: float, unit: str) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column(
            "output",
            "Output",
            help="Explained: a usable label with more words. Neutral: non-committal, without a "
            f"usable label. {UNEXPECTED.capitalize()}: {_SUM_HELP[UNEXPECTED]} "
            f"{NO_LABEL.capitalize()}: {_SUM_HELP[NO_LABEL]} Hirose and Uchida (2025).",
        ),
        Column("count", "Count", "count", "Responses that came out so."),
        Column(
            "share",
            "Share of all",
            "proportion",
            "Count / all responses of the group, usable or not. Trials not asked are no responses.",
        ),
        Column(
            "ci_low",
            f"{interval} low",
            "proportion",
            f"Of the share of all, by resampling whole {unit}s; percentile interval, Efron (1979). "
            f"None with a single {unit}.",
        ),
        Column("ci_high", f"{interval} high", "proportion", "The upper end of the same interval."),
        Column(
            "wilson_low",
            "Wilson low",
            "proportion",
            "Where the share is 0 or 1 every resample is the same, so that Wilson's interval "
            "(1927) stands beside. It takes responses as independent.",
        ),
        Column("wilson_high", "Wilson high", "proportion", "The upper end of Wilson's interval."),
        Column(
            "share_of_usable",
            "Share of usable",
            "proportion",
            "Count / responses with a usable label, so that label only and explained add up to "
            "100%. Empty for responses without a label. It has no interval of its own: the "
            "interval is of the share of all.",
        ),
        Column("responses", "Responses", "count", "All responses of the group."),
        Column("units", f"{unit.capitalize()}s", "count", f"The {unit}s that are resampled."),
    )


_SUMMARY = (
    Column("responses", "Responses", "count", "Trials asked, whatever came of them."),
    *(
        Column(status, words.capitalize(), "count", f"Responses that are {words}.")
        for status, words in OUTPUTS.items()
    ),
    Column(
        "not_asked",
        "Not asked",
        "count",
        "Planned trials without a response, answers without a row in an import, and answers left "
        "out: in no share.",
    ),
)
_ITEMS = (
    Column("item", "Item"),
    Column("unexpected", "Unexpected", "count", _SUM_HELP[UNEXPECTED]),
    Column("share", "Share of all", "proportion", "Unexpected / all responses to the item."),
    Column(
        "wilson_low",
        "Wilson low",
        "proportion",
        "Of the share, taking the responses to one item as independent; Wilson (1927).",
    ),
    Column("wilson_high", "Wilson high", "proportion", "The upper end of the same interval."),
    *(
        Column(status, words.capitalize(), "count", f"Responses that are {words}.")
        for status, words in OUTPUTS.items()
    ),
    Column("responses", "Responses", "count", "All responses to the item in the group."),
)


def _test_columns(ci_level: float, unit: str, adjust: Adjustment) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("output", "Output", help="Against all other responses; all kinds: each by itself."),
        Column("compared", "Compared", help="The levels that have responses."),
        Column("chi_square", "Chi-square", "points", "Pearson (1900), of levels by outputs."),
        Column("df", "df", "count", "Degrees of freedom."),
        Column(
            "p",
            "p (responses)",
            "p",
            "Of chi-square, as published. It takes responses as independent, which repetitions of "
            "one question are not: too small.",
        ),
        Column("v", "Cramér's V", "correlation", "0: same shares; 1: as different as can be."),
        Column(
            "v_low",
            f"{interval} low",
            "correlation",
            f"Of V, by resampling whole {unit}s and inverting a test, Carpenter & Bithell (2000): "
            "it holds V, and 0 where levels do not differ.",
        ),
        Column("v_high", f"{interval} high", "correlation", "The upper end."),
        Column(
            "p_units",
            f"p (whole {unit}s)",
            "p",
            f"Share of permutations that exchange all responses to a {unit} between the levels "
            "whose chi-square is at least that of the data; Phipson and Smyth (2010).",
        ),
        Column(
            "p_adjusted",
            "p adjusted",
            "p",
            f"p (whole {unit}s) adjusted over the outputs of the group by "
            f"{ADJUSTMENT_NAMES[adjust]}.",
        ),
        Column("responses", "Responses", "count", "All responses of the levels."),
        Column("units", f"{unit.capitalize()}s", "count", f"The {unit}s that are moved."),
    )


_TABS = {
    "summary": "Outputs",
    "outputs": "Outputs",
    "tests": "Differences",
    "items": "Items",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The share of unexpected outputs of each group, and whether the levels compared differ."""

    def sentence(rows: Sequence[TableRow]) -> str:
        by_output = {row["output"]: row for row in rows}
        every, none = by_output[UNEXPECTED], by_output[NO_LABEL]
        responses = count_text(int(every["responses"]), "response is", "responses are")
        if not every["responses"]:
            return "There is no response yet."
        interval = interval_text(*share_interval(every), lambda end: percent_text(end, 1))
        reasons = [row for row in rows if row["output"] in _REASONS and row["count"]]
        reasons.sort(key=lambda row: -float(row["count"]))
        named = ", ".join(str(row["output"]) for row in reasons)
        if len(reasons) > 1 and intervals_apart(*map(share_interval, reasons[:2])):
            named = f"most often {reasons[0]['output']}"
        return (
            f"{percent_text(every['share'], 1)}{interval} of {responses} not just the label: "
            f"{percent_text(by_output[OUTPUTS[Status.EXPLAINED]]['share'], 1)} are explained, "
            f"{percent_text(none['share'], 1)} have no usable label"
            + (f" ({named})." if named else ".")
        )

    groups = rows_by_group(table_of(result, "outputs"), "output")
    tests = rows_by_group(table_of(result, "tests"), "output")
    return (
        *(GroupAnswer(group, sentence(rows)) for group, rows in groups.items()),
        *(
            GroupAnswer(f"{group}, compared", _difference(rows[0]))
            for group, rows in tests.items()
            if math.isfinite(rows[0]["v"])
        ),
    )


_REASONS = frozenset(OUTPUTS[status] for status in _STATUSES if status not in _USABLE)


def _difference(row: TableRow) -> str:
    """How much the levels of one group differ."""
    v = coefficient_text(row["v"])
    interval = interval_text(row["v_low"], row["v_high"])
    return f"{row['compared']}: Cramér's V = {v}{interval}, {p_text(row['p_units'])}."


@dataclass(frozen=True, eq=False)
class _Counts:
    """Responses as (units, groups, statuses) with the labels of the groups, and trials to come."""

    labels: pd.DataFrame  # one row for each group
    table: Floats
    not_asked: Floats  # (groups,)


@analysis(
    title="Unexpected outputs",
    question="How often is a reply not just the label of an option, and where?",
    topic="unexpected_outputs",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=unexpected_output_charts,
    references=(
        "Hirose & Uchida (2025), unexpected outputs of binary choices",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
        "Pearson (1900) doi:10.1080/14786440009463897",
        "Phipson & Smyth (2010) doi:10.2202/1544-6115.1585",
        "Carpenter & Bithell (2000), Bootstrap confidence intervals, Statistics in Medicine, 19, "
        "1141-1164",
    ),
    keywords=(
        "refusals",
        "refused",
        "reluctance",
        "explainers",
        "explanations",
        "neutral answers",
        "reluctancy",
        "no label",
        "off scale",
        "cut off",
        "chi-square",
        "Cramér's V",
    ),
)
def unexpected_outputs(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    factor: Compared = "language",
    resample: Resample = "item",
    resamples: Resamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    seed: Seed = 0,
) -> AnalysisResult:
    """Count and share of every kind of output, by group and by item, and a test between levels.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        Groups to set side by side; the levels of `factor` are set side by side as well.
    factor : str
        Its levels are tested within each group of the other factors.
    resample : "item", "context" or "repetition"
        The whole units that intervals resample and the permutation moves.
    resamples : int
        Resamples and permutations; 0 for neither.
    ci_level : float
        Two-sided coverage of each interval by itself.
    adjust : "holm" or "benjamini-hochberg"
        How p are adjusted over the outputs of a group.
    seed : int
        Of resamples and permutations.

    Returns
    -------
    AnalysisResult
        `summary`, one row per group: counts of each output. `outputs`, one row per group and
        output, also of the two sums "any unexpected" and "no usable label": `count`, `share` of
        all responses with its interval, Wilson's where the share is 0 or 1, and
        `share_of_usable`. `tests`, one row per group of the other factors and output: chi-square,
        Cramér's V with its interval, p of the permutation. `items`, one row per group and item
        with an unexpected output, those with the highest share first.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks a factor.

    Notes
    -----
    The unit of analysis is the response: one trial that was asked. Trials not asked are counted
    beside and are in no share. Intervals take units (items at first) as independent, not responses.
    Definitions: Hirose and Uchida (2025) count explainers (answered, with more than the label) and
    neutrals (no usable label); theirs are our "explained" and "no usable label", which we divide
    further. Checked by hand, and the tests against R's chisq.test.
    """
    names = _group_names(option_counts, by, factor)
    counts = _counted(option_counts, names, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    outputs = _output_rows(counts, ci_level, bootstrap)
    strata = tuple(name for name in names if name != factor)
    tests: list[tuple[Any, ...]] = []
    not_alike: list[str] = []
    if factor in names:
        alike, not_alike = asked_alike(option_counts, strata, factor)
        same = option_counts.assign(count=np.where(alike, option_counts["count"], 0))
        same_counts = _counted(same, names, resample)
        tests = _test_rows(same_counts, strata, factor, ci_level, bootstrap, adjust)
    items = _item_rows(option_counts, names, ci_level)
    compared = comparison_table(
        _shares_by_unit(counts, resample),
        names,
        units=(resample,),
        value="share",
        title="Share unexpected",
        unit_name=resample,
        adjust=adjust,
        ci_level=ci_level,
        resamples=resamples,
        seed=seed,
        answers=option_counts,
        values_of=lambda own: _shares_by_unit(_counted(own, names, resample), resample),
    )
    lead = by_columns(names)
    usable = int(counts.table[:, :, : len(_USABLE)].sum())
    planned = int(counts.table.sum() + counts.not_asked.sum())
    return AnalysisResult(
        tables=(
            *with_tabs(
                (
                    _table(
                        "summary", "Counts of outputs", _summary_rows(counts), (*lead, *_SUMMARY)
                    ),
                    _table(
                        "outputs",
                        "Shares of outputs",
                        outputs,
                        (*lead, *_output_columns(ci_level, resample)),
                    ),
                    result_table(
                        "tests",
                        f"Differences between levels of {grouping_title(factor).lower()}",
                        tests,
                        (*by_columns(strata), *_test_columns(ci_level, resample, adjust)),
                    ),
                    _table(
                        "items", "Items with the most unexpected outputs", items, (*lead, *_ITEMS)
                    ),
                ),
                _TABS,
            ),
            *compared.tables,
        ),
        unit="one response: one item put once to a respondent",
        n_used=usable,
        n_missing=planned - usable,
        method="Counts of the outcomes of trials; shares of all responses. "
        f"{ci_level * 100:g}% percentile intervals from {resamples:,} resamples of whole "
        f"{resample}s; Wilson's where a share is 0 or 1. Chi-square of levels by outputs, Cramér's "
        f"V, and a permutation that exchanges whole {resample}s between the levels "
        f"({resamples:,} permutations). Seed {seed}.",
        cautions=(*not_alike, *_cautions(option_counts, counts, names, factor, resample)),
        notes=(
            "Chi-square and its p take responses as independent, as published. Responses to one "
            f"{resample} depend on each other: read V's interval and the p of whole {resample}s.",
            *compared.notes,
        ),
    )


def _group_names(option_counts: pd.DataFrame, by: Sequence[str], factor: str) -> tuple[str, ...]:
    """The factors that make groups: those chosen, and the factor compared where it varies."""
    if option_counts.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    for name in (*by, factor):
        if name not in option_counts:
            raise NotEnoughData(f"The answers have no factor {name}.", "Choose another factor.")
    varies = len(option_counts[factor].unique()) > 1
    return distinct((*by, factor) if varies else by)


def _counted(option_counts: pd.DataFrame, names: Sequence[str], unit: ResampleUnit) -> _Counts:
    """Responses by unit, group and status."""
    if unit not in option_counts:
        raise NotEnoughData(f"The answers have no factor {unit}.", "Resample items instead.")
    group, labels = cell_codes(option_counts, names)
    place, units = cell_codes(option_counts, (unit,))
    status = pd.Index(_STATUSES).get_indexer(pd.Index(option_counts["status"].astype(object)))
    count = option_counts["count"].to_numpy(dtype=np.float64)
    asked = status >= 0
    shape = len(units), len(labels), len(_STATUSES)
    cells = np.ravel_multi_index((place[asked], group[asked], status[asked]), shape)
    table = np.bincount(cells, count[asked], math.prod(shape)).astype(np.float64)
    not_asked = np.bincount(group[~asked], count[~asked], len(labels)).astype(np.float64)
    return _Counts(labels, table.reshape(shape), not_asked)


def _summary_rows(counts: _Counts) -> pd.DataFrame:
    """One row per group: counts of each output."""
    pooled = counts.table.sum(axis=0)
    own = {status: pooled[:, place] for place, status in enumerate(_STATUSES)}
    numbers = {"responses": pooled.sum(axis=1), **own, "not_asked": counts.not_asked}
    return counts.labels.assign(**{name: np.int64(values) for name, values in numbers.items()})


def _output_rows(counts: _Counts, ci_level: float, bootstrap: Bootstrap | None) -> pd.DataFrame:
    """One row per group and output, and per group and sum of outputs."""
    n_groups, n_usable = len(counts.labels), len(_USABLE)
    parts = []
    for words, table in (
        (tuple(OUTPUTS.values()), counts.table),
        ((UNEXPECTED, ""), counts.table @ _kinds(UNEXPECTED)),
        ((NO_LABEL, ""), counts.table @ _kinds(NO_LABEL)),
    ):
        shares = resampled_shares(table, level=ci_level, bootstrap=bootstrap)
        pooled = table.sum(axis=0)
        responses = np.broadcast_to(pooled.sum(axis=1, keepdims=True), pooled.shape)
        usable = np.full(pooled.shape, np.nan)
        if len(words) == len(OUTPUTS):
            with np.errstate(invalid="ignore"):
                own = pooled[:, :n_usable]
                usable[:, :n_usable] = own / own.sum(axis=1, keepdims=True)
        ends = wilson_intervals(pooled.ravel(), responses.ravel(), level=ci_level)
        flat = (pooled == 0) | (pooled == responses) | (shares.n_units[:, None] < 2)
        wilson = [np.where(flat, end.reshape(pooled.shape), np.nan) for end in ends]
        cells: dict[str, np.ndarray] = {
            "count": pooled.astype(np.int64),
            "share": shares.share,
            "ci_low": shares.low,
            "ci_high": shares.high,
            "wilson_low": wilson[0],
            "wilson_high": wilson[1],
            "share_of_usable": usable,
            "responses": responses.astype(np.int64),
            "units": np.broadcast_to(shares.n_units[:, None], pooled.shape),
        }
        part = pd.DataFrame({name: values.ravel() for name, values in cells.items()})
        part.insert(0, "output", np.tile(np.array(words, dtype=object), n_groups))
        part.index = pd.Index(np.repeat(np.arange(n_groups), len(words)))
        parts.append(part[part["output"] != ""])
    rows = pd.concat(parts).sort_index(kind="stable")
    of_calls = rows["output"] == OUTPUTS[Status.INVALID_CALL.value]
    if not rows.loc[of_calls, "count"].any():  # only designs that count calls as a whole have it
        rows = rows[~of_calls]
    return counts.labels.loc[rows.index].reset_index(drop=True).join(rows.reset_index(drop=True))


_TESTED = (ALL, UNEXPECTED, OUTPUTS[Status.EXPLAINED], NO_LABEL, OUTPUTS[Status.REFUSED])


def _kinds(output: str) -> Floats:
    """(statuses, kinds): 1 where a status counts as a kind; the output against all others."""
    if output == ALL:
        return np.eye(len(OUTPUTS))
    own = np.array([words == output for words in OUTPUTS.values()])
    if output in (UNEXPECTED, NO_LABEL):
        own = np.arange(len(OUTPUTS)) >= (1 if output == UNEXPECTED else len(_USABLE))
    return np.stack([own, ~own], axis=1).astype(np.float64)


def _test_rows(
    counts: _Counts,
    strata: Sequence[str],
    factor: str,
    ci_level: float,
    bootstrap: Bootstrap | None,
    adjust: Adjustment,
) -> list[tuple[Any, ...]]:
    """One row per group of the other factors and output; none where no levels can be compared."""
    rows: list[tuple[Any, ...]] = []
    code, labels = cell_codes(counts.labels, strata) if strata else _one_group(counts.labels)
    for number in range(len(labels)):
        places = np.flatnonzero(code == number)
        asked = counts.table[:, places].sum(axis=(0, 2)) > 0
        levels = counts.labels[factor].iloc[places[asked]].astype(str).tolist()
        if len(levels) < 2:
            continue
        own = counts.table[:, places[asked]]
        tested = [(output, *_test(own @ _kinds(output), ci_level, bootstrap)) for output in _TESTED]
        p = np.full(len(_TESTED), np.nan)
        if bootstrap is not None and len(own) > 1:
            p = unit_permutation_ps(
                own,
                [_kinds(output) for output in _TESTED],
                n_permutations=bootstrap.n_resamples,
                seed=bootstrap.seed,
            )
        adjusted = adjusted_p(p, adjust)
        units = int((own.sum(axis=(1, 2)) > 0).sum())
        compared = name_list(levels, 12)
        rows += [
            (*labels.iloc[number], row[0], compared, *row[1:], *ps, int(own.sum()), units)
            for row, *ps in zip(tested, p, adjusted, strict=True)
        ]
    return rows


def _one_group(labels: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    return np.zeros(len(labels), dtype=np.int64), pd.DataFrame(index=range(1))


def _test(
    table: Floats, ci_level: float, bootstrap: Bootstrap | None
) -> tuple[float, int, float, float, float, float]:
    """Chi-square, df, p, and V with its interval."""
    own = chi_square(table.sum(axis=0))
    v = resampled_cramers_v(table, level=ci_level, bootstrap=bootstrap)
    return own.statistic, own.df, own.p, v.value, v.low, v.high


def _shares_by_unit(counts: _Counts, unit: str) -> pd.DataFrame:
    """One row per group and unit with a response: the share of unexpected ones."""
    responses = counts.table.sum(axis=2)
    group, place = np.nonzero(responses.T)
    share = counts.table[:, :, 1:].sum(axis=2)[place, group] / responses[place, group]
    own = counts.labels.iloc[group].reset_index(drop=True)
    # A unit that makes groups of its own is in one group only, and no pair shares it.
    return own.assign(**({} if unit in own else {unit: place}), share=share)


def _item_rows(option_counts: pd.DataFrame, names: Sequence[str], ci_level: float) -> pd.DataFrame:
    """One row per group and item with an unexpected output, the highest share first."""
    counts = _counted(option_counts, names, "item")
    _, items = cell_codes(option_counts, ("item",))
    responses, unexpected = counts.table.sum(axis=2), counts.table[:, :, 1:].sum(axis=2)
    item, group = np.nonzero(unexpected)
    own, n = unexpected[item, group], responses[item, group]
    low, high = wilson_intervals(own, n, level=ci_level)
    order = np.lexsort((item, -own, -own / n, group))
    rows = counts.labels.iloc[group].reset_index(drop=True)
    rows = rows.assign(
        item=items["item"].to_numpy()[item],
        unexpected=np.int64(own),
        share=own / n,
        wilson_low=low,
        wilson_high=high,
        **{s: np.int64(counts.table[item, group, k]) for k, s in enumerate(_STATUSES)},
        responses=np.int64(n),
    )
    return rows.iloc[order].reset_index(drop=True)


def _table(name: str, title: str, rows: pd.DataFrame, columns: Sequence[Column]) -> ResultTable:
    columns = counted_columns(rows, columns)
    return ResultTable(name, title, rows[[c.name for c in columns]], columns)


def _cautions(
    option_counts: pd.DataFrame,
    counts: _Counts,
    names: Sequence[str],
    factor: str,
    unit: str,
) -> Iterator[str]:
    """Groups without responses or intervals, items without a label, levels that do not compare."""
    groups = [group_name(row) for row in counts.labels.itertuples(index=False)]
    responses = counts.table.sum(axis=(0, 2))
    units = (counts.table.sum(axis=2) > 0).sum(axis=0)
    by_item = _counted(option_counts, names, "item").table
    _, items = cell_codes(option_counts, ("item",))
    no_label = (by_item.sum(axis=2) > 0) & (by_item[:, :, : len(_USABLE)].sum(axis=2) == 0)
    for place, group in enumerate(groups):
        if not responses[place]:
            yield about(group, "no item was asked, so no shares.")
        elif units[place] < 2:
            yield about(
                group, f"there is one {unit} only, so no interval by resampling; see Wilson's."
            )
        without = items["item"][no_label[:, place]].tolist()
        if without:
            yield about(group, f"no response with a usable label to {name_list(without)}.")
    not_asked = int(option_counts.loc[option_counts["status"] == NOT_ASKED, "count"].sum())
    if not_asked:
        yield f"{not_asked:,} planned trials have not been asked yet; they are in no share."
    title = grouping_title(factor).lower()
    if factor not in names:
        yield f"Nothing is compared: all answers have the same {title}."
        return
    _, levels = cell_codes(counts.labels, (factor,))
    present = [
        (by_item[:, (counts.labels[factor] == level).to_numpy()].sum(axis=(1, 2)) > 0)
        for level in levels[factor]
    ]
    asked = [own for own in present if own.any()]
    shared = int(np.logical_and.reduce(asked).sum()) if asked else 0
    every = int(np.logical_or.reduce(asked).sum()) if asked else 0
    if shared < every:
        yield (
            f"Levels of {title} have different items: {shared} of "
            f"{count_text(every, 'item')} are in all of them, so that differences "
            "may be those of items."
        )

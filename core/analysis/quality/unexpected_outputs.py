"""How often is a reply something else than the label of an option?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.columns import v_columns, with_upper_help
from core.analysis.kit.comparisons import asked_alike, comparison_table
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    Resample,
    ResampleUnit,
    cell_codes,
    counted_table,
    unit_interval_help,
    unit_interval_method,
)
from core.analysis.kit.options import (
    ADJUSTMENT_NAMES,
    Adjust,
    By,
    ConfidenceLevel,
    Reported,
    Resamples,
    Seed,
    StatisticForm,
)
from core.analysis.kit.registry import ComparedFactor, analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.kit.rows import require_answers
from core.charts.unexpected import unexpected_output_charts
from core.domain import tables
from core.domain.factors import grouping_title
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult
from core.domain.study import NOT_ASKED, SETTINGS, Status
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

_COMPARED = ComparedFactor(
    "Compare",
    first=(
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
        *SETTINGS,
    ),
    help="Its levels are compared and tested.",
)
Compared = Annotated[str, _COMPARED]

_SUM_HELP = {
    UNEXPECTED: "Every response but the label alone.",
    NO_LABEL: "Every response without a usable option: neutral, refused, off the scale and so on.",
}


_OF_STATUS = tuple(
    tables.count(status, words.capitalize(), f"Responses that are {words}.")
    for status, words in OUTPUTS.items()
)
SUMMARY = tables.TableSpec(
    "summary",
    "Counts of outputs",
    (
        tables.count("responses", "Responses", "Trials asked, whatever came of them."),
        *_OF_STATUS,
        tables.count(
            "not_asked",
            "Not asked",
            "Planned trials without a response, answers without a row in an import, and answers "
            "left out: in no share.",
        ),
    ),
    "Outputs",
)
ITEMS = tables.TableSpec(
    "items",
    "Items with the most unexpected outputs",
    (
        tables.key("item", "Item"),
        tables.count("unexpected", "Unexpected", _SUM_HELP[UNEXPECTED]),
        *with_upper_help(
            tables.estimate(
                "share",
                "Share of all",
                "proportion",
                "Unexpected / all responses to the item.",
                "Of the share, taking the responses to one item as independent; Wilson (1927).",
                ends_title="Wilson",
                ends_name="wilson",
            )
        ),
        *_OF_STATUS,
        tables.count("responses", "Responses", "All responses to the item in the group."),
    ),
    "Items",
)


def _output_spec(unit: str) -> tables.TableSpec:
    return tables.TableSpec(
        "outputs",
        "Shares of outputs",
        (
            tables.key(
                "output",
                "Output",
                "Explained: a usable label with more words. Neutral: non-committal, without a "
                f"usable label. {UNEXPECTED.capitalize()}: {_SUM_HELP[UNEXPECTED]} "
                f"{NO_LABEL.capitalize()}: {_SUM_HELP[NO_LABEL]} Hirose and Uchida (2025).",
            ),
            tables.count("count", "Count", "Responses that came out so."),
            *with_upper_help(
                tables.estimate(
                    "share",
                    "Share of all",
                    "proportion",
                    "Count / all responses of the group, usable or not. Trials not asked are no "
                    "responses.",
                    f"{unit_interval_help(f'{unit}s')} None with a single {unit}.",
                )
            ),
            *with_upper_help(
                tables.ends(
                    "wilson",
                    "Wilson",
                    "proportion",
                    f"Where the share is 0 or 1, or there is one {unit}; takes responses as "
                    "independent, Wilson (1927). Sentence and chart have it where there is no "
                    f"such interval, as of one {unit}.",
                    of="share",
                ),
                "The upper end of Wilson's interval.",
            ),
            tables.number(
                "share_of_usable",
                "Share of usable",
                "proportion",
                "Count / responses with a usable label, so that label only and explained add up "
                "to 100%. Empty for responses without a label. It has no interval of its own: the "
                "interval is of the share of all.",
            ),
            tables.count("responses", "Responses", "All responses of the group."),
            tables.count("units", f"{unit.capitalize()}s", f"The {unit}s that are resampled."),
        ),
        "Outputs",
    )


def _test_spec(
    factor: str, unit: str, adjust: Adjustment, reported: StatisticForm
) -> tables.TableSpec:
    return tables.TableSpec(
        "tests",
        f"Differences between levels of {grouping_title(factor).lower()}",
        (
            tables.key(
                "output", "Output", "Against all other responses; all kinds: each by itself."
            ),
            tables.text("compared", "Compared", "The levels that have responses."),
            tables.number(
                "chi_square", "Chi-square", "points", "Pearson (1900), of levels by outputs."
            ),
            tables.count("df", "df", "Degrees of freedom."),
            tables.p_value(
                "p",
                "p (responses)",
                "Of chi-square, as published. It takes responses as independent, which "
                "repetitions of one question are not: too small.",
                "v_corrected",
            ),
            *v_columns(reported, unit),
            tables.p_value(
                "p_units",
                f"p (whole {unit}s)",
                f"Share of permutations that exchange all responses to a {unit} between the levels "
                "whose chi-square is at least that of the data; Phipson and Smyth (2010).",
                "v_corrected",
            ),
            tables.p_value(
                "p_adjusted",
                "p adjusted",
                f"p (whole {unit}s) adjusted over the outputs of the group by "
                f"{ADJUSTMENT_NAMES[adjust]}.",
                "v_corrected",
            ),
            tables.count("responses", "Responses", "All responses of the levels."),
            tables.count("units", f"{unit.capitalize()}s", f"The {unit}s that are moved."),
        ),
        "Differences",
    )


_REASONS = frozenset(OUTPUTS[status] for status in _STATUSES if status not in _USABLE)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The share of unexpected outputs of each group, and whether the levels compared differ."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        by_output = {row["output"]: row for row in rows}
        every, none = by_output[UNEXPECTED], by_output[NO_LABEL]
        if not every["responses"]:
            return "There is no response yet."
        responses = count_text(int(every["responses"]), "response is", "responses are")
        share = sentences.share_text(every["share"], *sentences.share_interval(every))
        reasons = [row for row in rows if row["output"] in _REASONS and row["count"]]
        reasons.sort(key=lambda row: -float(row["count"]))
        listed = ", ".join(str(row["output"]) for row in reasons)
        if len(reasons) > 1 and sentences.intervals_apart(
            *map(sentences.share_interval, reasons[:2])
        ):
            listed = f"most often {reasons[0]['output']}"
        return (
            f"{share} of {responses} not just the label: "
            f"{percent_text(by_output[OUTPUTS[Status.EXPLAINED]]['share'], 1)} are explained, "
            f"{percent_text(none['share'], 1)} have no usable label"
            + (f" ({listed})." if listed else ".")
        )

    answers = list(sentences.answers_of_groups(sentences.table_of(result, "outputs"), sentence))
    tests = sentences.table_of(result, "tests")
    name = sentences.first_column(tests, "v", "v_corrected")
    for group, rows in sentences.rows_by_group(tests).items():
        row = rows[0]
        if math.isfinite(row["v"]):
            corrected = name == "v_corrected" and math.isfinite(row[name])
            v = sentences.coefficient_text(row[name] if corrected else row["v"])
            if corrected:
                v += sentences.interval_text(row["v_low"], row["v_high"])
                v += " (corrected for chance)"
            p = sentences.p_text(row["p_units"])
            text = f"{row['compared']}: Cramér's V = {v}, {p}."
            answers.append(sentences.GroupAnswer(f"{group}, compared", text))
    return tuple(answers)


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
    reported: Reported = "corrected",
) -> AnalysisResult:
    """Count and share of every kind of output, by group and by item, and a test between levels.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        The levels of `factor` are set side by side as well.
    factor : str
        Its levels are tested within each group of the other factors.
    resample : "item", "context" or "repetition"
        The whole units that intervals resample and the permutation moves.
    resamples : int
        Resamples and permutations; 0 for neither.
    seed : int
        Of resamples and permutations.

    Returns
    -------
    AnalysisResult
        `summary`, one row per group; `outputs`, one row per group and output, also of the two
        sums "any unexpected" and "no usable label"; `tests`, one row per group of the other factors
        and output; `items`, one row per group and item with an unexpected output, those with the
        highest share first.

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
    require_answers(option_counts, (*by, factor))
    names = distinct((*by, factor) if len(option_counts[factor].unique()) > 1 else by)
    counts = _counted(option_counts, names, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    strata = tuple(name for name in names if name != factor)
    tests = tables.TableRows(_test_spec(factor, resample, adjust, reported), strata, ci_level)
    findings = Findings()
    if factor in names:
        alike, findings.cautions = asked_alike(option_counts, strata, factor)
        same = option_counts.assign(count=np.where(alike, option_counts["count"], 0))
        _add_tests(tests, _counted(same, names, resample), factor, bootstrap, adjust)
    compared = comparison_table(
        _shares_by_unit(counts, resample),
        names,
        units=(resample,),
        value="share",
        title="Share unexpected",
        unit_name=resample,
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=lambda answers: _shares_by_unit(_counted(answers, names, resample), resample),
    )
    outputs = _output_rows(counts, ci_level, bootstrap)
    _add_cautions(findings, option_counts, counts, names, factor, resample)
    findings.notes += [
        "Chi-square and its p take responses as independent, as published. Responses to one "
        f"{resample} depend on each other: read V's interval and the p of whole {resample}s.",
        *compared.notes,
    ]
    usable = int(counts.table[:, :, : len(_USABLE)].sum())
    return count_result(
        (
            counted_table(SUMMARY, _summary_rows(counts), names),
            _output_spec(resample).table(outputs, names, ci_level),
            tests.table(),
            counted_table(ITEMS, _item_rows(option_counts, names, ci_level), names),
            *compared.tables,
        ),
        findings,
        unit="one response: one item put once to a respondent",
        trials=int(counts.table.sum() + counts.not_asked.sum()),
        usable=usable,
        used=usable,
        method="Counts of the outcomes of trials; shares of all responses. "
        f"{unit_interval_method(ci_level, resamples, f'{resample}s')}. Chi-square of levels by "
        f"outputs, Cramér's V, and a permutation that exchanges whole {resample}s between levels "
        f"({resamples:,} permutations). Seed {seed}.",
    )


def _counted(option_counts: pd.DataFrame, names: Sequence[str], unit: ResampleUnit) -> _Counts:
    """Responses by unit, group and status."""
    if unit not in option_counts:
        raise NotEnoughData(f"The answers have no factor {unit}.", "Resample items instead.")
    group, labels = cell_codes(option_counts, names)
    row, units = cell_codes(option_counts, (unit,))
    status = pd.Index(_STATUSES).get_indexer(pd.Index(option_counts["status"].astype(object)))
    count = option_counts["count"].to_numpy(dtype=np.float64)
    asked = status >= 0
    shape = len(units), len(labels), len(_STATUSES)
    cells = np.ravel_multi_index((row[asked], group[asked], status[asked]), shape)
    table = np.bincount(cells, count[asked], math.prod(shape)).astype(np.float64)
    not_asked = np.bincount(group[~asked], count[~asked], len(labels)).astype(np.float64)
    return _Counts(labels, table.reshape(shape), not_asked)


def _summary_rows(counts: _Counts) -> pd.DataFrame:
    """One row per group: counts of each output."""
    pooled = counts.table.sum(axis=0)
    numbers = {
        "responses": pooled.sum(axis=1),
        **dict(zip(_STATUSES, pooled.T, strict=True)),
        "not_asked": counts.not_asked,
    }
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
                labelled = pooled[:, :n_usable]
                usable[:, :n_usable] = labelled / labelled.sum(axis=1, keepdims=True)
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
    is_output = np.array([words == output for words in OUTPUTS.values()])
    if output in (UNEXPECTED, NO_LABEL):
        is_output = np.arange(len(OUTPUTS)) >= (1 if output == UNEXPECTED else len(_USABLE))
    return np.stack([is_output, ~is_output], axis=1).astype(np.float64)


def _add_tests(
    rows: tables.TableRows,
    counts: _Counts,
    factor: str,
    bootstrap: Bootstrap | None,
    adjust: Adjustment,
) -> None:
    """One row per group of the other factors and output; none where no levels can be compared."""
    code, labels = cell_codes(counts.labels, rows.by)
    groups = list(labels.itertuples(index=False, name=None)) if rows.by else [()]
    for number, group in enumerate(groups):
        columns = np.flatnonzero(code == number)
        columns = columns[counts.table[:, columns].sum(axis=(0, 2)) > 0]
        levels = counts.labels[factor].iloc[columns].astype(str).tolist()
        if len(levels) < 2:
            continue
        table = counts.table[:, columns]
        p = np.full(len(_TESTED), np.nan)
        if bootstrap is not None and len(table) > 1:
            p = unit_permutation_ps(
                table,
                [_kinds(output) for output in _TESTED],
                n_permutations=bootstrap.n_resamples,
                seed=bootstrap.seed,
            )
        for output, p_units, adjusted in zip(_TESTED, p, adjusted_p(p, adjust), strict=True):
            kinds = table @ _kinds(output)
            test = chi_square(kinds.sum(axis=0))
            v = resampled_cramers_v(kinds, level=rows.level, bootstrap=bootstrap)
            rows.add(
                group,
                output=output,
                compared=name_list(levels, 12),
                chi_square=test.statistic,
                df=test.df,
                p=test.p,
                v=v.value,
                v_corrected=replace(v, value=v.corrected),
                p_units=p_units,
                p_adjusted=adjusted,
                responses=int(table.sum()),
                units=int((table.sum(axis=(1, 2)) > 0).sum()),
            )


def _shares_by_unit(counts: _Counts, unit: str) -> pd.DataFrame:
    """One row per group and unit with a response: the share of unexpected ones."""
    responses = counts.table.sum(axis=2)
    group, row = np.nonzero(responses.T)
    share = counts.table[:, :, 1:].sum(axis=2)[row, group] / responses[row, group]
    labels = counts.labels.iloc[group].reset_index(drop=True)
    # A unit that makes groups of its own is in one group only, and no pair shares it.
    return labels.assign(**({} if unit in labels else {unit: row}), share=share)


def _item_rows(option_counts: pd.DataFrame, names: Sequence[str], ci_level: float) -> pd.DataFrame:
    """One row per group and item with an unexpected output, the highest share first."""
    counts = _counted(option_counts, names, "item")
    _, items = cell_codes(option_counts, ("item",))
    responses, unexpected = counts.table.sum(axis=2), counts.table[:, :, 1:].sum(axis=2)
    item, group = np.nonzero(unexpected)
    k, n = unexpected[item, group], responses[item, group]
    low, high = wilson_intervals(k, n, level=ci_level)
    order = np.lexsort((item, -k, -k / n, group))
    rows = counts.labels.iloc[group].reset_index(drop=True)
    rows = rows.assign(
        item=items["item"].to_numpy()[item],
        unexpected=np.int64(k),
        share=k / n,
        wilson_low=low,
        wilson_high=high,
        **dict(zip(_STATUSES, counts.table[item, group].T.astype(np.int64), strict=True)),
        responses=np.int64(n),
    )
    return rows.iloc[order].reset_index(drop=True)


def _add_cautions(
    findings: Findings,
    option_counts: pd.DataFrame,
    counts: _Counts,
    names: Sequence[str],
    factor: str,
    unit: str,
) -> None:
    """Groups without responses or intervals, items without a label, levels that do not compare."""
    responses = counts.table.sum(axis=(0, 2))
    units = (counts.table.sum(axis=2) > 0).sum(axis=0)
    by_item = _counted(option_counts, names, "item").table
    _, items = cell_codes(option_counts, ("item",))
    no_label = (by_item.sum(axis=2) > 0) & (by_item[:, :, : len(_USABLE)].sum(axis=2) == 0)
    for number, row in enumerate(counts.labels.itertuples(index=False)):
        group = group_name(row)
        if not responses[number]:
            findings.caution(group, "no item was asked, so no shares.")
        elif units[number] < 2:
            findings.caution(
                group, f"there is one {unit} only, so no interval by resampling; see Wilson's."
            )
        without = items["item"][no_label[:, number]].tolist()
        if without:
            findings.caution(group, f"no response with a usable label to {name_list(without)}.")
    not_asked = int(option_counts.loc[option_counts["status"] == NOT_ASKED, "count"].sum())
    if not_asked:
        findings.cautions.append(
            f"{not_asked:,} planned trials have not been asked yet; they are in no share."
        )
    title = grouping_title(factor).lower()
    if factor not in names:
        findings.cautions.append(f"Nothing is compared: all answers have the same {title}.")
        return
    _, levels = cell_codes(counts.labels, (factor,))
    by_level = [
        by_item[:, (counts.labels[factor] == level).to_numpy()].sum(axis=(1, 2)) > 0
        for level in levels[factor]
    ]
    asked = [of_level for of_level in by_level if of_level.any()]
    shared = int(np.logical_and.reduce(asked).sum()) if asked else 0
    every = int(np.logical_or.reduce(asked).sum()) if asked else 0
    if shared < every:
        findings.cautions.append(
            f"Levels of {title} have different items: {shared} of {count_text(every, 'item')} are "
            "in all of them, so that differences may be those of items."
        )

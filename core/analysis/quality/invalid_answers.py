"""How often is a reply invalid at the first try, and does asking again help?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.shared.comparisons import comparison_table
from core.analysis.shared.matrices import by_columns, distinct, group_name
from core.analysis.shared.option_counts import (
    UNIT_WORDS,
    Resample,
    ResampleUnit,
    UnitResamples,
    cell_codes,
)
from core.analysis.shared.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.shared.registry import analysis
from core.analysis.shared.scripts.files import script_files
from core.analysis.shared.scripts.names import Names, group_labels, safe_cell, text_csv
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    decimal_text,
    interval_text,
    share_interval,
    table_of,
)
from core.charts.unexpected import invalid_answer_charts
from core.domain.frames import ATTEMPT_COUNTS
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.domain.study import NO_ROW, NOT_ASKED, NOT_TRIED
from core.errors import NotEnoughData
from core.stats.contingency import resampled_shares
from core.stats.distributions import wilson_intervals
from core.stats.inputs import Floats
from core.stats.resampling import Bootstrap

_REPLIES = ("usable", "unusable", "pending")
_NO_FAILURES = (*_REPLIES, "repeated", *NOT_TRIED)
_UNKNOWN = "Empty for imported answers: their tries are not on file."


def _summary_columns(ci_level: float, unit: ResampleUnit) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    units = UNIT_WORDS[unit]
    ends = f"by resampling whole {units}; percentile interval, Efron (1979). None with one {unit}."
    wilson = (
        f"Where the share is 0 or 1, or there is one {unit}, Wilson's interval (1927), which takes "
        "trials as independent."
    )
    return (
        Column("trials", "Trials", "count", "Planned trials: one item put once."),
        Column("replied", "With a reply", "count", "Trials whose first reply is on file."),
        Column("invalid", "Invalid at first", "count", "Trials whose first reply was not usable."),
        Column(
            "share_invalid",
            "Share invalid at first",
            "proportion",
            "Invalid at first / trials with a reply. Sánchez Salazar (2024) asks for it.",
        ),
        Column("ci_low", f"{interval} low", "proportion", f"Of this share, {ends}"),
        Column("ci_high", f"{interval} high", "proportion", "The upper end of the same interval."),
        Column("wilson_low", "Wilson low", "proportion", wilson),
        Column("wilson_high", "Wilson high", "proportion", "The upper end of Wilson's interval."),
        Column(
            "never",
            "Never usable",
            "count",
            "Trials whose replies were all unusable and that are not asked again.",
        ),
        Column(
            "share_never",
            "Share never usable",
            "proportion",
            "Never usable / trials that ended with an answer or without.",
        ),
        Column(
            "never_low",
            f"{interval} low, never",
            "proportion",
            f"Of the share never usable, by resampling whole {units}; Wilson's (1927) where the "
            f"share is 0 or 1, or there is one {unit}.",
        ),
        Column("never_high", f"{interval} high, never", "proportion", "The upper end."),
        Column(
            "mean_tries",
            "Mean tries",
            "points",
            f"Replies that usable answers took; 1: none was asked again. {_UNKNOWN}",
        ),
        Column("most_tries", "Most tries", "count", f"The most replies an answer took. {_UNKNOWN}"),
        Column(
            "unusable_replies",
            "Unusable replies",
            "count",
            "Unusable replies at all tries; a reply to a block counts for each of its items.",
        ),
        Column(
            "failures",
            "Failures",
            "count",
            "Tries that brought no reply, such as time-outs. They are no invalid answers.",
        ),
        Column(
            "tokens",
            "Tokens",
            "points",
            "Of prompts and replies, of all tries; those of a block are divided by its items.",
        ),
        Column("tokens_unusable", "Tokens unusable", "points", "Of unusable replies."),
        Column(
            "share_tokens",
            "Share of tokens",
            "proportion",
            "Tokens of unusable replies / tokens. Empty where the service counts none.",
        ),
        Column(
            "waiting",
            "To be asked again",
            "count",
            "Trials with unusable replies that are still to be asked again.",
        ),
        Column("no_reply", "No reply", "count", "Trials whose tries have all failed."),
        Column(
            "not_asked",
            "Not asked",
            "count",
            "Trials that were not tried yet, and answers without a row in an import.",
        ),
    )


_TRIES = (
    Column("number", "Try", "count", "The place of the reply among those to the trial."),
    Column("replies", "Replies", "count", "Replies at this try."),
    Column("usable", "Usable", "count", "Replies with a usable answer."),
    Column("unusable", "Unusable", "count", "Replies without one."),
    Column("share_usable", "Share usable", "proportion", "Usable / replies at this try."),
    Column(
        "wilson_low",
        "Wilson low",
        "proportion",
        "Of this share, taking trials as independent; Wilson (1927).",
    ),
    Column("wilson_high", "Wilson high", "proportion", "The upper end of the same interval."),
    Column(
        "share_by_now",
        "Usable by now",
        "proportion",
        "Trials with a usable answer by this try / trials with a reply.",
    ),
)
_FAILURES = (
    Column("outcome", "Failure", help="The kind of failure, as the page Collect names it."),
    Column("count", "Count", "count", "Tries that failed so; one of a block counts for each item."),
    Column("share", "Share of tries", "proportion", "Count / all tries, repeated ones aside."),
)
_ITEMS = (
    Column("item", "Item"),
    Column("invalid", "Invalid at first", "count", "Trials whose first reply was not usable."),
    Column("share", "Share", "proportion", "Invalid at first / trials with a reply."),
    Column(
        "wilson_low",
        "Wilson low",
        "proportion",
        "Of this share, taking trials of one item as independent; Wilson (1927).",
    ),
    Column("wilson_high", "Wilson high", "proportion", "The upper end of the same interval."),
    Column("never", "Never usable", "count", "Trials whose replies were all unusable."),
    Column("replied", "With a reply", "count", "Trials whose first reply is on file."),
)
_TABS = {
    "summary": "Rates",
    "tries": "Tries",
    "failures": "Tries",
    "items": "Items",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The share invalid at first, how many tries answers took, and the share never usable."""

    def sentence(rows: Sequence[TableRow]) -> str:
        (row,) = rows
        if not row["replied"] and not math.isfinite(row["share_never"]):
            return "There is no reply yet."

        def share(name: str, low: float, high: float) -> str:
            ends = interval_text(low, high, lambda end: percent_text(end, 1))
            return f"{percent_text(row[name], 1)}{ends}"

        text = "The share invalid at first is undefined, as no tries are on file"
        if row["replied"]:
            first = share("share_invalid", *share_interval(row))
            replies = count_text(int(row["replied"]), "first reply is", "first replies are")
            text = f"{first} of {replies} invalid"
        if math.isfinite(row["share_never"]):
            never = share("share_never", row["never_low"], row["never_high"])
            text += f"; {never} of the trials never have a usable answer"
        if math.isfinite(row["mean_tries"]):
            text += f"; usable answers took {decimal_text(row['mean_tries'])} replies on average"
        return f"{text}."

    return answers_by_group(table_of(result, "summary"), "trials", sentence)


@dataclass(frozen=True, eq=False)
class _Trials:
    """Labels of the groups and units, and numbers of trials of each, (units, groups)."""

    labels: pd.DataFrame
    units: np.ndarray
    replied: Floats
    invalid: Floats
    ended: Floats
    never: Floats


def invalid_answers_scripts(
    attempt_counts: pd.DataFrame,
    *,
    by: By = ("respondent", "format"),
    resample: Resample = "item",
    resamples: UnitResamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    seed: Seed = 0,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `invalid_answers`."""
    del resample, resamples, adjust, seed  # of what the scripts do not repeat
    names = _group_names(attempt_counts, by)
    trials = _counted(attempt_counts, names, "item")
    titles = [group_name(group) for group in trials.labels.itertuples(index=False, name=None)]
    labels = group_labels(titles or [group_name(())])
    counts = np.stack([trials.replied, trials.invalid, trials.ended, trials.never], axis=-1)
    rows = [
        (label, item, *(str(int(count)) for count in counts[unit, group]))
        for group, label in enumerate(labels)
        for unit, item in enumerate(map(safe_cell, map(str, trials.units)))
        if counts[unit, group].any()
    ]
    header = ("group", "item", "replied", "invalid", "ended", "never")
    return script_files(
        "invalid_answers",
        data=text_csv(header, rows),
        title="Invalid answers",
        settings={"ci_level": ci_level},
        tables={},
        names=Names(),
    )


@analysis(
    title="Invalid answers",
    question="How often is a reply invalid at the first try, and does asking again help?",
    topic="unexpected_outputs",
    needs=ATTEMPT_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=invalid_answer_charts,
    scripts=invalid_answers_scripts,
    references=(
        "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
    ),
    keywords=(
        "invalid rate",
        "invalid outputs",
        "retries",
        "asking again",
        "attempts",
        "tries",
        "unusable replies",
        "wasted tokens",
        "valid at first try",
        "failures",
    ),
    keeps=("format",),
    in_reports=True,
)
def invalid_answers(
    attempt_counts: pd.DataFrame,
    *,
    by: By = ("respondent", "format"),
    resample: Resample = "item",
    resamples: UnitResamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    seed: Seed = 0,
) -> AnalysisResult:
    """Share of trials whose first reply is invalid, tries until an answer, and groups compared.

    Parameters
    ----------
    attempt_counts : ATTEMPT_COUNTS frame
        How often the tries at an item came to each outcome, by cell of the design.
    by : tuple of factors
        Groups to set side by side. A factor that the study does not use makes no groups.
    resample : "item", "context" or "repetition"
        The whole units that intervals resample and comparisons pair.
    resamples : int
        Resamples of units; 0 for no intervals by resampling.
    ci_level : float
        Two-sided coverage of each interval by itself.
    adjust : "holm" or "benjamini-hochberg"
        How p of pairs of groups are adjusted.
    seed : int
        Of resamples and permutations.

    Returns
    -------
    AnalysisResult
        `summary`, one row per group: trials, those whose first reply was invalid, those never
        usable, each with its share and interval, tries and tokens. `tries`, one row per group and
        try. `failures`, one row per group and kind of failure. `items`, one row per group and item
        with an invalid first reply, the highest share first. `comparisons`: pairs of groups that
        differ in one factor, over the units that both have, by the share invalid at first.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks a factor.

    Notes
    -----
    The unit of analysis is the item, unless the user chooses contexts or repetitions: whole units
    are resampled, as trials of one item depend on each other. Invalid: a reply without a usable
    option (refused, neutral, off the scale, ambiguous, empty, cut off). A failure of the service is
    none. A trial still to be asked again counts in the share at first and not in that of never.
    Checked by hand and against counts made from the replies themselves.
    """
    names = _group_names(attempt_counts, by)
    trials = _counted(attempt_counts, names, "item")
    by_unit = trials if resample == "item" else _counted(attempt_counts, names, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    lead = by_columns(names)
    items = _item_rows(trials, ci_level)
    compared = comparison_table(
        _unit_shares(by_unit, resample),
        names,
        units=(resample,),
        value="share",
        title="Share invalid at first",
        unit_name=resample,
        adjust=adjust,
        ci_level=ci_level,
        resamples=resamples,
        seed=seed,
        answers=attempt_counts,
        values_of=lambda own: _unit_shares(_counted(own, names, resample), resample),
    )
    finals = attempt_counts[attempt_counts["final"]]
    usable = int(finals.loc[finals["outcome"] == "usable", "count"].sum())
    planned = int(finals["count"].sum())
    tables = (
        _table(
            "summary",
            "Invalid answers and tries",
            _summary_rows(attempt_counts, names, by_unit, ci_level, bootstrap),
            (*lead, *_summary_columns(ci_level, resample)),
        ),
        _table(
            "tries",
            "Replies by try",
            _try_rows(attempt_counts, names, trials, ci_level),
            (*lead, *_TRIES),
        ),
        _table(
            "failures",
            "Tries without a reply",
            _failure_rows(attempt_counts, names),
            (*lead, *_FAILURES),
        ),
        _table("items", "Items with the most invalid answers", items, (*lead, *_ITEMS)),
    )
    return AnalysisResult(
        tables=(*with_tabs(tables, _TABS), *compared.tables),
        unit="one trial: one item put once to a respondent, at one or several tries",
        n_used=usable,
        n_missing=planned - usable,
        method="Counts of tries. Share invalid at first = trials whose first reply has no usable "
        "answer / trials with a reply. Share never usable = trials without a usable answer after "
        f"all tries / trials that ended. {ci_level * 100:g}% percentile intervals from "
        f"{resamples:,} resamples of whole {UNIT_WORDS[resample]}"
        f"{_wilson_words(tables)}. Seed {seed}.",
        cautions=tuple(_cautions(attempt_counts, names, by_unit, resample)),
        notes=compared.notes,
    )


def _wilson_words(tables: Sequence[ResultTable]) -> str:
    """That shares have Wilson's interval, where some have."""
    summary = next(table.frame for table in tables if table.name == "summary")
    some = summary["wilson_low"].notna() | summary["share_never"].isin([0.0, 1.0])
    return "; Wilson's where a share is 0 or 1, or there is one unit" if some.any() else ""


def _group_names(attempt_counts: pd.DataFrame, by: Sequence[str]) -> tuple[str, ...]:
    """The factors that make groups, but for those that are empty throughout."""
    if attempt_counts.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    for name in by:
        if name not in attempt_counts:
            raise NotEnoughData(f"The answers have no factor {name}.", "Choose another factor.")
    return tuple(name for name in distinct(by) if (attempt_counts[name].astype(object) != "").any())


def _counted(attempt_counts: pd.DataFrame, names: Sequence[str], unit: ResampleUnit) -> _Trials:
    """Trials by unit and group: with a reply, invalid at first, ended, and never usable."""
    if unit not in attempt_counts:
        raise NotEnoughData(f"The answers have no factor {unit}.", "Resample items instead.")
    group, labels = _groups(attempt_counts, names)
    place, units = cell_codes(attempt_counts, (unit,))
    outcome = attempt_counts["outcome"].astype(object)
    count = attempt_counts["count"].to_numpy(dtype=np.float64)
    known = attempt_counts["from_attempts"].astype(bool)  # those of imported answers are not
    first = (attempt_counts["number"] == 1) & outcome.isin(_REPLIES) & known
    final = attempt_counts["final"].to_numpy(dtype=np.bool_)
    shape = len(units), len(labels)

    def summed(rows: Any) -> Floats:
        own = np.asarray(rows, dtype=np.bool_)
        cells = np.ravel_multi_index((place[own], group[own]), shape)
        return np.bincount(cells, count[own], math.prod(shape)).reshape(shape).astype(np.float64)

    return _Trials(
        labels,
        units[unit].to_numpy(),
        summed(first),
        summed(first & (outcome != "usable")),
        summed(final & outcome.isin(["usable", "unusable"])),
        summed(final & (outcome == "unusable")),
    )


def _groups(frame: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, pd.DataFrame]:
    """The group of each row, and the labels of the groups."""
    if names:
        return cell_codes(frame, names)
    return np.zeros(len(frame), dtype=np.int64), pd.DataFrame(index=range(1))


def _shares(
    above: Floats, below: Floats, ci_level: float, bootstrap: Bootstrap | None
) -> tuple[Floats, ...]:
    """Share of each group with the ends of its interval, and of Wilson's where it is needed."""
    own = resampled_shares(
        np.stack([above, below - above], axis=-1), level=ci_level, bootstrap=bootstrap
    )
    k, n = above.sum(axis=0), below.sum(axis=0)
    flat = (k == 0) | (k == n) | (own.n_units < 2)
    wilson = [np.where(flat, end, np.nan) for end in wilson_intervals(k, n, level=ci_level)]
    return own.share[:, 0], own.low[:, 0], own.high[:, 0], *wilson


def _summary_rows(
    attempt_counts: pd.DataFrame,
    names: Sequence[str],
    trials: _Trials,
    ci_level: float,
    bootstrap: Bootstrap | None,
) -> pd.DataFrame:
    """One row per group."""
    group, labels = _groups(attempt_counts, names)
    outcome = attempt_counts["outcome"].astype(object)
    final = attempt_counts["final"].to_numpy(dtype=np.bool_)
    known = attempt_counts["from_attempts"].to_numpy(dtype=np.bool_)
    number = attempt_counts["number"].to_numpy(dtype=np.float64)
    count = attempt_counts["count"].to_numpy(dtype=np.float64)
    tokens = (attempt_counts["tokens_in"] + attempt_counts["tokens_out"]).to_numpy(np.float64)

    def summed(rows: Any, of: Floats = count) -> Floats:
        return np.bincount(group, np.where(rows, of, 0.0), len(labels)).astype(np.float64)

    reached = (outcome == "usable") & known
    most = np.zeros(len(labels))
    np.maximum.at(most, group[reached], number[reached])
    first = _shares(trials.invalid, trials.replied, ci_level, bootstrap)
    never = _shares(trials.never, trials.ended, ci_level, bootstrap)
    unusable = outcome.isin(["unusable", "pending"])
    all_tokens, wasted = summed(rows=True, of=tokens), summed(unusable, tokens)
    has_tries = summed(reached) > 0
    failed = ~outcome.isin(_NO_FAILURES)
    columns = {
        "trials": summed(final),
        "replied": trials.replied.sum(axis=0),
        "invalid": trials.invalid.sum(axis=0),
        "share_invalid": first[0],
        "ci_low": first[1],
        "ci_high": first[2],
        "wilson_low": first[3],
        "wilson_high": first[4],
        "never": trials.never.sum(axis=0),
        "share_never": never[0],
        "never_low": np.where(np.isfinite(never[3]), never[3], never[1]),
        "never_high": np.where(np.isfinite(never[4]), never[4], never[2]),
        "mean_tries": _ratio(summed(reached, count * number), summed(reached)),
        "most_tries": np.where(has_tries, most, np.nan),
        "unusable_replies": summed(unusable),
        "failures": summed(failed),
        "tokens": all_tokens,
        "tokens_unusable": wasted,
        "share_tokens": _ratio(wasted, all_tokens),
        "waiting": summed(final & (outcome == "pending")),
        "no_reply": summed(final & failed),
        "not_asked": summed(final & outcome.isin(NOT_TRIED)),
    }
    columns_of_counts = (c.name for c in _summary_columns(ci_level, "item") if c.unit == "count")
    counts = {*columns_of_counts} - {"most_tries"}
    return labels.assign(
        **{name: v.astype(np.int64) if name in counts else v for name, v in columns.items()}
    )


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0))


def _try_rows(
    attempt_counts: pd.DataFrame, names: Sequence[str], trials: _Trials, ci_level: float
) -> pd.DataFrame:
    """One row per group and try that has a reply."""
    known = attempt_counts["outcome"].isin(_REPLIES) & attempt_counts["from_attempts"].astype(bool)
    rows = attempt_counts[known]
    group, labels = _groups(attempt_counts, names)
    own = group[known.to_numpy()]
    number = rows["number"].to_numpy(dtype=np.int64)
    count = rows["count"].to_numpy(dtype=np.float64)
    is_usable = (rows["outcome"] == "usable").to_numpy()
    n_tries = int(number.max(initial=0)) + 1
    size = len(labels) * n_tries
    shape = len(labels), n_tries
    replies = np.bincount(own * n_tries + number, count, size).astype(np.float64)
    usable = np.bincount(own * n_tries + number, count * is_usable, size).astype(np.float64)
    replies, usable = replies.reshape(shape), usable.reshape(shape)
    by_now = usable.cumsum(axis=1) / np.maximum(trials.replied.sum(axis=0), 1)[:, None]
    place, tried = np.nonzero(replies)
    k, n = usable[place, tried], replies[place, tried]
    low, high = wilson_intervals(k, n, level=ci_level)
    return (
        labels.iloc[place]
        .reset_index(drop=True)
        .assign(
            number=tried,
            replies=n.astype(np.int64),
            usable=k.astype(np.int64),
            unusable=(n - k).astype(np.int64),
            share_usable=k / n,
            wilson_low=low,
            wilson_high=high,
            share_by_now=by_now[place, tried],
        )
    )


def _failure_rows(attempt_counts: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row per group and kind of failure."""
    group, labels = _groups(attempt_counts, names)
    outcome = attempt_counts["outcome"].astype(str)
    rows = pd.DataFrame({"group": group, "outcome": outcome, "count": attempt_counts["count"]})
    tries = rows[~outcome.isin(["repeated", *NOT_TRIED])]
    every = tries.groupby("group")["count"].sum()
    failed = tries[~tries["outcome"].isin(_NO_FAILURES)]
    counted = failed.groupby(["group", "outcome"], as_index=False)["count"].sum()
    counted["share"] = counted["count"] / counted["group"].map(every)
    places = counted.pop("group").to_numpy(dtype=np.int64)
    own: pd.DataFrame = labels.iloc[places].reset_index(drop=True)
    for name in ("outcome", "count", "share"):
        own[name] = counted[name].to_numpy()
    return own


def _unit_shares(trials: _Trials, unit: ResampleUnit) -> pd.DataFrame:
    """One row per group and unit with a reply: share invalid at first, never usable, n."""
    group, number = np.nonzero(trials.replied.T)
    n, invalid = trials.replied[number, group], trials.invalid[number, group]
    own = trials.labels.iloc[group].reset_index(drop=True)
    return own.assign(
        **{unit: trials.units[number]},
        invalid=invalid.astype(np.int64),
        share=invalid / n,
        never=trials.never[number, group].astype(np.int64),
        replied=n.astype(np.int64),
        place=group,
    )


def _item_rows(trials: _Trials, ci_level: float) -> pd.DataFrame:
    """The items of each group with an invalid first reply, the highest share first."""
    rows = _unit_shares(trials, "item")
    rows = rows[rows["invalid"] > 0]
    low, high = wilson_intervals(
        rows["invalid"].to_numpy(np.float64), rows["replied"].to_numpy(np.float64), level=ci_level
    )
    rows = rows.assign(wilson_low=low, wilson_high=high)
    rows = rows.sort_values(
        ["place", "share", "invalid"], ascending=[True, False, False], kind="stable"
    )
    return rows.reset_index(drop=True)


def _table(name: str, title: str, rows: pd.DataFrame, columns: Sequence[Column]) -> ResultTable:
    return ResultTable(name, title, rows[[c.name for c in columns]], tuple(columns))


def _cautions(
    attempt_counts: pd.DataFrame, names: Sequence[str], trials: _Trials, unit: ResampleUnit
) -> Iterator[str]:
    """Answers without tries, groups without replies or intervals, tokens that are not known."""
    known = attempt_counts["from_attempts"].to_numpy(dtype=np.bool_)
    if not known.all():
        n = int(attempt_counts.loc[~known & (attempt_counts["outcome"] != NO_ROW), "count"].sum())
        yield (
            f"{count_text(n, 'imported answer has', 'imported answers have')} no tries on file: "
            "whether their first reply was invalid is unknown; they count only as usable or never "
            "usable."
        )
    replied, ended = trials.replied.sum(axis=0), trials.ended.sum(axis=0)
    units = (trials.replied > 0).sum(axis=0)
    group, labels = _groups(attempt_counts, names)
    replies = attempt_counts["outcome"].isin(_REPLIES).to_numpy() & known
    missing = attempt_counts["count"] - attempt_counts["tokens_known"]
    without = np.bincount(group, np.where(replies, missing, 0), len(labels))
    for place, row in enumerate(labels.itertuples(index=False)):
        name = group_name(row)
        if not replied[place]:
            why = (
                "no tries are on file, so the share invalid at first is undefined."
                if ended[place]
                else "no reply is on file, so no shares."
            )
            yield about(name, why)
        elif units[place] < 2:
            yield about(
                name, f"there is one {unit} only, so no interval by resampling; see Wilson's."
            )
        if without[place]:
            yield about(
                name, f"the service did not count the tokens of {int(without[place]):,} tries."
            )
    finals = attempt_counts[attempt_counts["final"]]
    by_outcome = finals.groupby(finals["outcome"].astype(str))["count"].sum()
    for outcome, words in (
        (NOT_ASKED, "have not been asked yet; they are in no share."),
        ("pending", "are still to be asked again; they are in no share of those never usable."),
    ):
        if outcome in by_outcome.index:
            yield f"{int(by_outcome[outcome]):,} planned trials {words}"

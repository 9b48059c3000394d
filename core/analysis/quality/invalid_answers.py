"""How often is a reply invalid at the first try, and does asking again help?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.columns import with_upper_help
from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    UNIT_WORDS,
    Resample,
    ResampleUnit,
    UnitResamples,
    cell_codes,
    unit_interval_help,
    unit_interval_method,
)
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.kit.rows import require_answers
from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import Names, group_labels, safe_cell, text_csv
from core.charts.unexpected import invalid_answer_charts
from core.domain import tables
from core.domain.frames import ATTEMPT_COUNTS
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, TextFile
from core.domain.study import NO_ROW, NOT_ASKED, NOT_TRIED
from core.errors import NotEnoughData
from core.stats.contingency import resampled_shares
from core.stats.distributions import wilson_intervals
from core.stats.inputs import Floats, ratios
from core.stats.resampling import Bootstrap

_REPLIES = ("usable", "unusable", "pending")
_NO_FAILURES = (*_REPLIES, "repeated", *NOT_TRIED)
_NOT_ON_FILE = "Empty for imported answers: their tries are not on file."
_FIRST_ON_FILE = "Trials whose first reply is on file."
_FIRST_INVALID = "Trials whose first reply was not usable."


def _share(name: str, title: str, help: str, interval: str) -> tuple[Column, ...]:
    """A share with Wilson's interval."""
    columns = tables.estimate(
        name, title, "proportion", help, interval, ends_title="Wilson", ends_name="wilson"
    )
    return with_upper_help(columns)


def _share_never(unit: ResampleUnit) -> tuple[Column, ...]:
    share, low, high = tables.estimate(
        "share_never",
        "Share never usable",
        "proportion",
        "Never usable / trials that ended with an answer or without.",
        f"Of the share never usable, by resampling whole {UNIT_WORDS[unit]}; Wilson's (1927) of "
        f"trials where there is no such interval, as of one {unit}.",
        ends_name="never",
    )
    return (
        share,
        replace(low, title=f"{tables.LEVEL} low, never"),
        replace(high, title=f"{tables.LEVEL} high, never", help="The upper end."),
    )


def _summary_spec(unit: ResampleUnit) -> tables.TableSpec:
    units = UNIT_WORDS[unit]
    return tables.TableSpec(
        "summary",
        "Invalid answers and tries",
        (
            tables.count("trials", "Trials", "Planned trials: one item put once."),
            tables.count("replied", "With a reply", _FIRST_ON_FILE),
            tables.count("invalid", "Invalid at first", _FIRST_INVALID),
            *with_upper_help(
                tables.estimate(
                    "share_invalid",
                    "Share invalid at first",
                    "proportion",
                    "Invalid at first / trials with a reply. Sánchez Salazar (2024) asks for it.",
                    f"{unit_interval_help(units)} None with one {unit}.",
                )
            ),
            *with_upper_help(
                tables.ends(
                    "wilson",
                    "Wilson",
                    "proportion",
                    f"Where the share is 0 or 1, or there is one {unit}; takes trials as "
                    "independent, Wilson (1927). Sentence and chart have it where there is no "
                    f"such interval, as of one {unit}.",
                    of="share_invalid",
                ),
                "The upper end of Wilson's interval.",
            ),
            tables.count(
                "never",
                "Never usable",
                "Trials whose replies were all unusable and that are not asked again.",
            ),
            *_share_never(unit),
            tables.number(
                "mean_tries",
                "Mean tries",
                "points",
                f"Replies that usable answers took; 1: none was asked again. {_NOT_ON_FILE}",
            ),
            tables.count(
                "most_tries", "Most tries", f"The most replies an answer took. {_NOT_ON_FILE}"
            ),
            tables.count(
                "unusable_replies",
                "Unusable replies",
                "Unusable replies at all tries; a reply to a block counts for each of its items.",
            ),
            tables.count(
                "failures",
                "Failures",
                "Tries that brought no reply, such as time-outs. They are no invalid answers.",
            ),
            tables.number(
                "tokens",
                "Tokens",
                "points",
                "Of prompts and replies, of all tries; those of a block are divided by its items.",
            ),
            tables.number("tokens_unusable", "Tokens unusable", "points", "Of unusable replies."),
            tables.number(
                "share_tokens",
                "Share of tokens",
                "proportion",
                "Tokens of unusable replies / tokens. Empty where the service counts none.",
            ),
            tables.count(
                "waiting",
                "To be asked again",
                "Trials with unusable replies that are still to be asked again.",
            ),
            tables.count("no_reply", "No reply", "Trials whose tries have all failed."),
            tables.count(
                "not_asked",
                "Not asked",
                "Trials that were not tried yet, and answers without a row in an import.",
            ),
        ),
        "Rates",
    )


TRIES = tables.TableSpec(
    "tries",
    "Replies by try",
    (
        tables.key("number", "Try", "The place of the reply among those to the trial.", "count"),
        tables.count("replies", "Replies", "Replies at this try."),
        tables.count("usable", "Usable", "Replies with a usable answer."),
        tables.count("unusable", "Unusable", "Replies without one."),
        *_share(
            "share_usable",
            "Share usable",
            "Usable / replies at this try.",
            "Of this share, taking trials as independent; Wilson (1927).",
        ),
        tables.number(
            "share_by_now",
            "Usable by now",
            "proportion",
            "Trials with a usable answer by this try / trials with a reply.",
        ),
    ),
    "Tries",
)
FAILURES = tables.TableSpec(
    "failures",
    "Tries without a reply",
    (
        tables.key("outcome", "Failure", "The kind of failure, as the page Collect names it."),
        tables.count(
            "count", "Count", "Tries that failed so; one of a block counts for each item."
        ),
        tables.number(
            "share", "Share of tries", "proportion", "Count / all tries, repeated ones aside."
        ),
    ),
    "Tries",
)
ITEMS = tables.TableSpec(
    "items",
    "Items with the most invalid answers",
    (
        tables.key("item", "Item"),
        tables.count("invalid", "Invalid at first", _FIRST_INVALID),
        *_share(
            "share",
            "Share",
            "Invalid at first / trials with a reply.",
            "Of this share, taking trials of one item as independent; Wilson (1927).",
        ),
        tables.count("never", "Never usable", "Trials whose replies were all unusable."),
        tables.count("replied", "With a reply", _FIRST_ON_FILE),
    ),
    "Items",
)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The share invalid at first, how many tries answers took, and the share never usable."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        (row,) = rows
        if not row["replied"] and not math.isfinite(row["share_never"]):
            return "There is no reply yet."

        def share(name: str, low: float, high: float) -> str:
            return sentences.share_text(row[name], low, high)

        text = "The share invalid at first is undefined, as no tries are on file"
        if row["replied"]:
            first = share("share_invalid", *sentences.share_interval(row))
            replies = count_text(int(row["replied"]), "first reply is", "first replies are")
            text = f"{first} of {replies} invalid"
        if math.isfinite(row["share_never"]):
            never = share("share_never", row["never_low"], row["never_high"])
            text += f"; {never} of the trials never have a usable answer"
        if math.isfinite(row["mean_tries"]):
            tries = sentences.decimal_text(row["mean_tries"])
            text += f"; usable answers took {tries} replies on average"
        return f"{text}."

    return sentences.answers_of_groups(sentences.table_of(result, "summary"), sentence)


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
        A factor that the study does not use makes no groups.
    resample : "item", "context" or "repetition"
        The whole units that intervals resample and comparisons pair.
    seed : int
        Of resamples and permutations.

    Returns
    -------
    AnalysisResult
        `summary`, one row per group; `tries`, one row per group and try; `failures`, one row per
        group and kind of failure; `items`, one row per group and item with an invalid first reply,
        the highest share first; `comparisons`, pairs of groups by the share invalid at first.

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
    compared = comparison_table(
        _unit_shares(by_unit, resample),
        names,
        units=(resample,),
        value="share",
        title="Share invalid at first",
        unit_name=resample,
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=attempt_counts,
        values_of=lambda answers: _unit_shares(_counted(answers, names, resample), resample),
    )
    summary = _summary_rows(attempt_counts, names, by_unit, ci_level, bootstrap)
    some_wilson = summary["ci_low"].isna().any()
    wilson = f"; of trials where there is no such interval, as of one {resample}"
    finals = attempt_counts[attempt_counts["final"]]
    usable = int(finals.loc[finals["outcome"] == "usable", "count"].sum())
    findings = Findings(notes=list(compared.notes))
    _add_cautions(findings, attempt_counts, names, by_unit, resample)
    return count_result(
        (
            _summary_spec(resample).table(summary, names, ci_level),
            TRIES.table(_try_rows(attempt_counts, names, trials, ci_level), names),
            FAILURES.table(_failure_rows(attempt_counts, names), names),
            ITEMS.table(_item_rows(trials, ci_level), names),
            *compared.tables,
        ),
        findings,
        unit="one trial: one item put once to a respondent, at one or several tries",
        trials=int(finals["count"].sum()),
        usable=usable,
        used=usable,
        method="Counts of tries. Share invalid at first = trials whose first reply has no usable "
        "answer / trials with a reply. Share never usable = trials without a usable answer after "
        f"all tries / trials that ended. "
        f"{unit_interval_method(ci_level, resamples, UNIT_WORDS[resample])}"
        f"{wilson if some_wilson else ''}. Seed {seed}.",
    )


def _group_names(attempt_counts: pd.DataFrame, by: Sequence[str]) -> tuple[str, ...]:
    """The factors that make groups, but for those that are empty throughout."""
    require_answers(attempt_counts, by)
    return tuple(name for name in distinct(by) if (attempt_counts[name].astype(object) != "").any())


def _counted(attempt_counts: pd.DataFrame, names: Sequence[str], unit: ResampleUnit) -> _Trials:
    """Trials by unit and group: with a reply, invalid at first, ended, and never usable."""
    if unit not in attempt_counts:
        raise NotEnoughData(f"The answers have no factor {unit}.", "Resample items instead.")
    group, labels = _groups(attempt_counts, names)
    row, units = cell_codes(attempt_counts, (unit,))
    outcome = attempt_counts["outcome"].astype(object)
    count = attempt_counts["count"].to_numpy(dtype=np.float64)
    on_file = attempt_counts["from_attempts"].astype(bool)  # tries of imported answers are not
    first = (attempt_counts["number"] == 1) & outcome.isin(_REPLIES) & on_file
    final = attempt_counts["final"].to_numpy(dtype=np.bool_)
    shape = len(units), len(labels)

    def summed(rows: Any) -> Floats:
        chosen = np.asarray(rows, dtype=np.bool_)
        cells = np.ravel_multi_index((row[chosen], group[chosen]), shape)
        sums = np.bincount(cells, count[chosen], math.prod(shape))
        return sums.reshape(shape).astype(np.float64)

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
    shares = resampled_shares(
        np.stack([above, below - above], axis=-1), level=ci_level, bootstrap=bootstrap
    )
    k, n = above.sum(axis=0), below.sum(axis=0)
    flat = (k == 0) | (k == n) | (shares.n_units < 2)
    wilson = [np.where(flat, end, np.nan) for end in wilson_intervals(k, n, level=ci_level)]
    return shares.share[:, 0], shares.low[:, 0], shares.high[:, 0], *wilson


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
    on_file = attempt_counts["from_attempts"].to_numpy(dtype=np.bool_)
    number = attempt_counts["number"].to_numpy(dtype=np.float64)
    count = attempt_counts["count"].to_numpy(dtype=np.float64)
    tokens = (attempt_counts["tokens_in"] + attempt_counts["tokens_out"]).to_numpy(np.float64)

    def summed(rows: Any, of: Floats = count) -> Floats:
        return np.bincount(group, np.where(rows, of, 0.0), len(labels)).astype(np.float64)

    reached = (outcome == "usable") & on_file
    most = np.zeros(len(labels))
    np.maximum.at(most, group[reached], number[reached])
    first = _shares(trials.invalid, trials.replied, ci_level, bootstrap)
    never = _shares(trials.never, trials.ended, ci_level, bootstrap)
    unusable = outcome.isin(["unusable", "pending"])
    all_tokens, wasted = summed(rows=True, of=tokens), summed(unusable, tokens)
    failed = ~outcome.isin(_NO_FAILURES)
    counts = {
        "trials": summed(final),
        "replied": trials.replied.sum(axis=0),
        "invalid": trials.invalid.sum(axis=0),
        "never": trials.never.sum(axis=0),
        "unusable_replies": summed(unusable),
        "failures": summed(failed),
        "waiting": summed(final & (outcome == "pending")),
        "no_reply": summed(final & failed),
        "not_asked": summed(final & outcome.isin(NOT_TRIED)),
    }
    return labels.assign(
        **{name: values.astype(np.int64) for name, values in counts.items()},
        share_invalid=first[0],
        ci_low=first[1],
        ci_high=first[2],
        wilson_low=first[3],
        wilson_high=first[4],
        share_never=never[0],
        never_low=np.where(np.isfinite(never[1]), never[1], never[3]),
        never_high=np.where(np.isfinite(never[2]), never[2], never[4]),
        mean_tries=ratios(summed(reached, count * number), summed(reached)),
        most_tries=np.where(summed(reached) > 0, most, np.nan),
        tokens=all_tokens,
        tokens_unusable=wasted,
        share_tokens=ratios(wasted, all_tokens),
    )


def _try_rows(
    attempt_counts: pd.DataFrame, names: Sequence[str], trials: _Trials, ci_level: float
) -> pd.DataFrame:
    """One row per group and try that has a reply."""
    replied = attempt_counts["outcome"].isin(_REPLIES) & attempt_counts["from_attempts"].astype(
        bool
    )
    rows = attempt_counts[replied]
    every_group, labels = _groups(attempt_counts, names)
    number = rows["number"].to_numpy(dtype=np.int64)
    count = rows["count"].to_numpy(dtype=np.float64)
    is_usable = (rows["outcome"] == "usable").to_numpy()
    shape = len(labels), int(number.max(initial=0)) + 1
    cell = every_group[replied.to_numpy()] * shape[1] + number
    replies, usable = (
        np.bincount(cell, counted, math.prod(shape)).reshape(shape).astype(np.float64)
        for counted in (count, count * is_usable)
    )
    by_now = usable.cumsum(axis=1) / np.maximum(trials.replied.sum(axis=0), 1)[:, None]
    group, tried = np.nonzero(replies)
    k, n = usable[group, tried], replies[group, tried]
    low, high = wilson_intervals(k, n, level=ci_level)
    return (
        labels.iloc[group]
        .reset_index(drop=True)
        .assign(
            number=tried,
            replies=n.astype(np.int64),
            usable=k.astype(np.int64),
            unusable=(n - k).astype(np.int64),
            share_usable=k / n,
            wilson_low=low,
            wilson_high=high,
            share_by_now=by_now[group, tried],
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
    row = counted.pop("group").to_numpy(dtype=np.int64)
    groups: pd.DataFrame = labels.iloc[row].reset_index(drop=True)
    return groups.join(counted)


def _unit_shares(trials: _Trials, unit: ResampleUnit) -> pd.DataFrame:
    """One row per group and unit with a reply: share invalid at first, never usable, n."""
    group, row = np.nonzero(trials.replied.T)
    n, invalid = trials.replied[row, group], trials.invalid[row, group]
    labels = trials.labels.iloc[group].reset_index(drop=True)
    return labels.assign(
        **{unit: trials.units[row]},
        invalid=invalid.astype(np.int64),
        share=invalid / n,
        never=trials.never[row, group].astype(np.int64),
        replied=n.astype(np.int64),
        group_number=group,
    )


def _item_rows(trials: _Trials, ci_level: float) -> pd.DataFrame:
    """The items of each group with an invalid first reply, the highest share first."""
    rows = _unit_shares(trials, "item")
    rows = rows[rows["invalid"] > 0]
    low, high = wilson_intervals(
        rows["invalid"].to_numpy(np.float64), rows["replied"].to_numpy(np.float64), level=ci_level
    )
    rows = rows.assign(wilson_low=low, wilson_high=high)
    return rows.sort_values(
        ["group_number", "share", "invalid"],
        ascending=[True, False, False],
        kind="stable",
        ignore_index=True,
    )


def _add_cautions(
    findings: Findings,
    attempt_counts: pd.DataFrame,
    names: Sequence[str],
    trials: _Trials,
    unit: ResampleUnit,
) -> None:
    """Answers without tries, groups without replies or intervals, tokens that nobody counted."""
    on_file = attempt_counts["from_attempts"].to_numpy(dtype=np.bool_)
    if not on_file.all():
        imported = attempt_counts.loc[~on_file & (attempt_counts["outcome"] != NO_ROW), "count"]
        words = count_text(int(imported.sum()), "imported answer has", "imported answers have")
        findings.cautions.append(
            f"{words} no tries on file: whether their first reply was invalid is unknown; they "
            "count only as usable or never usable."
        )
    replied, ended = trials.replied.sum(axis=0), trials.ended.sum(axis=0)
    units = (trials.replied > 0).sum(axis=0)
    group, labels = _groups(attempt_counts, names)
    replies = attempt_counts["outcome"].isin(_REPLIES).to_numpy() & on_file
    missing = attempt_counts["count"] - attempt_counts["tokens_known"]
    without = np.bincount(group, np.where(replies, missing, 0), len(labels))
    for number, row in enumerate(labels.itertuples(index=False)):
        name = group_name(row)
        if not replied[number]:
            why = (
                "no tries are on file, so the share invalid at first is undefined."
                if ended[number]
                else "no reply is on file, so no shares."
            )
            findings.caution(name, why)
        elif units[number] < 2:
            findings.caution(
                name, f"there is one {unit} only, so no interval by resampling; see Wilson's."
            )
        if without[number]:
            findings.caution(
                name, f"the service did not count the tokens of {int(without[number]):,} tries."
            )
    finals = attempt_counts[attempt_counts["final"]]
    by_outcome = finals.groupby(finals["outcome"].astype(str))["count"].sum()
    for outcome, words in (
        (NOT_ASKED, "have not been asked yet; they are in no share."),
        ("pending", "are still to be asked again; they are in no share of those never usable."),
    ):
        if outcome in by_outcome.index:
            findings.cautions.append(f"{int(by_outcome[outcome]):,} planned trials {words}")

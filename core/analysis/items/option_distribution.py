"""Which options are chosen, and how often is there no usable answer?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.shared.matrices import KEYED_TITLE, by_columns, distinct, group_name
from core.analysis.shared.options import By
from core.analysis.shared.registry import analysis
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    rows_by_group,
    table_of,
)
from core.charts.bars import option_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.errors import NotEnoughData
from core.stats.inputs import name_list

_OPTIONS = (
    Column("subscale", "Subscale"),
    Column("item", "Item"),
    Column(
        "keyed", KEYED_TITLE, help="-1 is reverse-keyed: agreement means less of what is measured."
    ),
    Column("kind", "Kind", help="An option of the bank, or the status of an unusable answer."),
    Column("option", "Option or status", help="Its code in the bank, or why not usable."),
    Column("position", "Position", "count", "Place among the options."),
    Column("points", "Points", "points", "As printed in the bank, before reverse-keying."),
    Column("count", "Count", "count", "Trials that ended so."),
    Column("share", "Share of usable", "proportion", "Count / usable answers of the item."),
    Column(
        "share_of_trials",
        "Share of all",
        "proportion",
        "Count / all trials of the item. Undefined for options where no trial is usable.",
    ),
    Column("n_usable", "Usable", "count", "Trials of the item with an option chosen."),
    Column("n_trials", "Trials", "count", "All trials of the item, usable or not."),
)
_SUMMARY = (
    Column("items", "Items", "count", "Items asked in the group."),
    Column("n_trials", "Trials", "count", "All trials, usable or not."),
    Column("n_usable", "Usable", "count", "Trials with an option chosen."),
    Column("n_unusable", "Unusable", "count", "Refused, off the scale, not asked and so on."),
    Column("share_usable", "Share usable", "proportion", "Usable trials / all trials."),
    Column("share_unusable", "Share unusable", "proportion", "Unusable trials / all trials."),
)


_MOST_OPTIONS = 5  # of a sentence; the others are counted


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many answers are usable, and the shares of the options; no interval ranks them."""
    of_groups = table_of(result, "summary")
    # the format is a column of the options in any case, but a factor of groups only where asked for
    first_other = "subscale" if "format" in of_groups.frame else "format"
    options = rows_by_group(table_of(result, "options"), first_other)

    def sentence(group: str, row: TableRow) -> str:
        usable_text = (
            f"{percent_text(row['share_usable'], 1)} of "
            f"{count_text(int(row['n_trials']), 'trial')} "
            "have a usable answer"
            if math.isfinite(row["share_usable"])
            else "The share of usable answers is undefined (no trials)"
        )
        counts: dict[tuple[str, str], int] = {}
        for one in options.get(group, []):
            if one["kind"] == "option":
                key = (one["format"], one["option"])
                counts[key] = counts.get(key, 0) + int(one["count"])
        if not sum(counts.values()):
            return f"{usable_text}; no option is chosen."
        total, further = sum(counts.values()), len(counts) - _MOST_OPTIONS
        shares = [
            f"{option} {percent_text(count / total)}"
            for (_, option), count in sorted(counts.items(), key=lambda item: -item[1])
        ]
        listed = ", ".join(shares[:_MOST_OPTIONS])
        more = f" and {count_text(further, 'more option')}" if further > 0 else ""
        return f"{usable_text}; of these, {listed}{more}."

    summary = rows_by_group(of_groups, "items")
    return tuple(GroupAnswer(group, sentence(group, rows[0])) for group, rows in summary.items())


@analysis(
    title="Option distribution",
    question="Which options are chosen, and how often is there no usable answer?",
    topic="item_statistics",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=option_charts,
    references=("AERA, APA & NCME (2014), Standards for educational and psychological testing",),
    keywords=(
        "missing answers",
        "refusals",
        "refused",
        "unusable",
        "share of options",
        "frequencies",
        "response distribution",
        "response style",
        "acquiescence",
        "Likert",
        "stacked bars",
        "options",
        "missing data",
        "reluctance",
        "neutral answers",
        "no usable answer",
    ),
    in_reports=True,
)
def option_distribution(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
) -> AnalysisResult:
    """Count and share of every option, and of every reason for an unusable answer, by item.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by cell of the design.
    by : tuple of factors
        Groups to set side by side. All other factors are summed over.

    Returns
    -------
    AnalysisResult
        `options`, one row per group, response format, item and option or status: `kind` ("option"
        or "status"), `position` (options only), `points` as printed, `count`, `share` (of usable
        answers; NaN for a status), `share_of_trials`, `n_usable`, `n_trials`. An option that came
        up for any item of the same study and format stands with every other item too, with 0
        where it never came up; an option nobody ever chose anywhere is unknown to this table.
        `summary`, one row per group: items, trials, usable and unusable ones.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks one of the factors in `by`.

    Notes
    -----
    The unit of analysis is one trial: one item put once. Share = count / usable answers of the
    item in the group; an item without usable answers has no shares, and a note names it. Shares
    describe; trials of one respondent are not independent, so no interval is given.
    """
    names = distinct(by)
    if option_counts.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    for name in names:
        if name not in option_counts:
            raise NotEnoughData(f"The answers have no factor {name}.", "Choose another factor.")
    cell = (*names, *(name for name in ("format",) if name not in names))
    rows = _rows(_plain(option_counts), cell)
    columns = (*by_columns(cell), *_OPTIONS)
    options = rows[[column.name for column in columns]]
    summary_columns = (*by_columns(names), *_SUMMARY)
    summary = pd.DataFrame(
        _summary_rows(options, names), columns=[column.name for column in summary_columns]
    )
    used, trials = int(summary["n_usable"].sum()), int(summary["n_trials"].sum())
    return AnalysisResult(
        tables=(
            ResultTable("options", "Options by item", options, columns),
            ResultTable("summary", "Usable answers", summary, summary_columns),
        ),
        unit="one trial: one item put once to a respondent",
        n_used=used,
        n_missing=trials - used,
        method="Counts; shares of the usable answers of an item, statuses as shares of all trials. "
        "Options are as chosen, before reverse-keying.",
        cautions=tuple(_cautions(options, names)),
        notes=(_DEPENDENT_TRIALS,),
    )


def _plain(option_counts: pd.DataFrame) -> pd.DataFrame:
    """The counts with categories as objects and missing factors as empty text."""
    frame = option_counts.copy()
    for name in frame.columns:
        if frame[name].dtype.kind not in "iuf":
            values = frame[name].astype(object)
            frame[name] = values.where(values.notna(), "")
    return frame


def _rows(counts: pd.DataFrame, cell: tuple[str, ...]) -> pd.DataFrame:
    """All rows of the table of options, in order of groups, items and options."""
    item = [*cell, "subscale", "item"]
    is_status = counts["option"] == ""
    chosen, statuses = (
        counts[~is_status],
        counts[is_status].assign(option=lambda own: own["status"]),
    )
    # Studies may use different banks, so options are borrowed only within study and format.
    menu = chosen[["study", "format", "option", "position", "points"]].drop_duplicates(
        ["study", "format", "option"]
    )
    asked = counts[list(dict.fromkeys([*item, "study", "format"]))].drop_duplicates()
    empty = asked.merge(menu, on=["study", "format"]).assign(count=0)
    options = pd.concat([chosen, empty])
    options = options.groupby([*item, "option"], sort=False, as_index=False).agg(
        {"position": "min", "points": "first", "count": "sum"}
    )
    refused = statuses.groupby([*item, "option"], sort=False, as_index=False).agg({"count": "sum"})
    rows = pd.concat(
        [options.assign(kind="option"), refused.assign(kind="status", position=np.nan)],
        ignore_index=True,
    )
    rows["points"] = rows["points"].astype(float)
    rows["position"] = rows["position"].astype(float)
    rows["count"] = rows["count"].astype(int)
    keyed = counts.drop_duplicates(item)[[*item, "keyed"]]
    rows = rows.merge(keyed, on=item, how="left")
    usable = rows["count"].where(rows["kind"] == "option", 0)
    groups = [rows[name] for name in item]
    rows["n_usable"] = usable.groupby(groups, sort=False).transform("sum")
    rows["n_trials"] = rows["count"].groupby(groups, sort=False).transform("sum")
    rows["share"] = (rows["count"] / rows["n_usable"].replace(0, np.nan)).where(
        rows["kind"] == "option"
    )
    # Where no trial of an item is usable, nobody knows how often an option would have been chosen.
    rows["share_of_trials"] = (rows["count"] / rows["n_trials"].replace(0, np.nan)).where(
        (rows["kind"] == "status") | (rows["n_usable"] > 0)
    )
    order = {name: pd.factorize(counts[name])[1] for name in item}
    place = pd.DataFrame(
        {name: pd.Index(seen).get_indexer(rows[name].tolist()) for name, seen in order.items()}
    ).assign(position=rows["position"])
    return rows.loc[place.sort_values([*item, "position"], kind="stable").index].reset_index(
        drop=True
    )


def _summary_rows(options: pd.DataFrame, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """One row per group."""
    rows: list[tuple[Any, ...]] = []
    for group, own in _groups(options, names):
        items = own.drop_duplicates(["format", "subscale", "item"])
        trials, usable = int(items["n_trials"].sum()), int(items["n_usable"].sum())
        shares = (usable / trials, (trials - usable) / trials) if trials else (np.nan, np.nan)
        n_items = len(items.drop_duplicates(["subscale", "item"]))
        rows.append((*group, n_items, trials, usable, trials - usable, *shares))
    return rows


def _groups(
    options: pd.DataFrame, names: Sequence[str]
) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The rows of each group, in order of first appearance."""
    if not names:
        return [((), options)]
    return [
        (tuple(group) if isinstance(group, tuple) else (group,), own)
        for group, own in options.groupby(list(names), sort=False)
    ]


_DEPENDENT_TRIALS = (
    "Trials of one respondent are not independent, so shares are given without an interval."
)


def _cautions(options: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Items without a usable answer, and trials still to come, by group."""
    notes: list[str] = []
    for group, own in _groups(options, names):
        none = own.loc[own["n_usable"] == 0, "item"].drop_duplicates().astype(str).tolist()
        if none:
            what = "item" if len(none) == 1 else f"{len(none)} items"
            notes.append(
                about(
                    group_name(group), f"{what} {name_list(none)}: no usable answer, so no shares."
                )
            )
    to_come = (options["kind"] == "status") & (options["option"] == "not_asked")
    not_asked = int(options.loc[to_come, "count"].sum())
    if not_asked:
        notes.append(f"{not_asked} planned trials have not been asked yet.")
    return notes

"""Which options are chosen, and how often is there no usable answer?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import KEYED_TITLE, distinct, group_name
from core.analysis.kit.options import By
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.kit.rows import require_answers
from core.charts.bars import option_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult
from core.domain.tables import TableRows, TableSpec, count, key, number
from core.stats.inputs import name_list

OPTIONS = TableSpec(
    "options",
    "Options by item",
    (
        key("subscale", "Subscale"),
        key("item", "Item"),
        number(
            "keyed",
            KEYED_TITLE,
            help="-1 is reverse-keyed: agreement means less of what is measured.",
        ),
        key("kind", "Kind", "An option of the bank, or the status of an unusable answer."),
        key("option", "Option or status", "Its code in the bank, or why not usable."),
        count("position", "Position", "Place among the options."),
        number("points", "Points", "points", "As printed in the bank, before reverse-keying."),
        count("count", "Count", "Trials that ended so."),
        number("share", "Share of usable", "proportion", "Count / usable answers of the item."),
        number(
            "share_of_trials",
            "Share of all",
            "proportion",
            "Count / all trials of the item. Undefined for options where no trial is usable.",
        ),
        count("n_usable", "Usable", "Trials of the item with an option chosen."),
        count("n_trials", "Trials", "All trials of the item, usable or not."),
    ),
)
SUMMARY = TableSpec(
    "summary",
    "Usable answers",
    (
        count("items", "Items", "Items asked in the group."),
        count("n_trials", "Trials", "All trials, usable or not."),
        count("n_usable", "Usable", "Trials with an option chosen."),
        count("n_unusable", "Unusable", "Refused, off the scale, not asked and so on."),
        number("share_usable", "Share usable", "proportion", "Usable trials / all trials."),
        number("share_unusable", "Share unusable", "proportion", "Unusable trials / all trials."),
    ),
)

_MOST_OPTIONS = 5  # of a sentence; the others are counted


_DEPENDENT_TRIALS = (
    "Trials of one respondent are not independent, so shares are given without an interval."
)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How many answers are usable, and the shares of the options; no interval ranks them."""
    of_groups = sentences.table_of(result, "summary")
    # the format leads the options in any case, but is a factor of groups only where asked for
    factors = of_groups.with_role("group")
    counts: dict[str, dict[tuple[str, str], int]] = {}
    for row in sentences.table_of(result, "options").frame.to_dict("records"):
        if row["kind"] == "option":
            group = group_name([row[name] for name in factors], factors)
            of_group = counts.setdefault(group, {})
            option = row["format"], row["option"]
            of_group[option] = of_group.get(option, 0) + int(row["count"])

    def sentence(group: str, row: sentences.TableRow) -> str:
        usable_text = (
            f"{percent_text(row['share_usable'], 1)} of "
            f"{count_text(int(row['n_trials']), 'trial')} have a usable answer"
            if math.isfinite(row["share_usable"])
            else "The share of usable answers is undefined (no trials)"
        )
        chosen = counts.get(group, {})
        total, further = sum(chosen.values()), len(chosen) - _MOST_OPTIONS
        if not total:
            return f"{usable_text}; no option is chosen."
        shares = [
            f"{option}: {percent_text(n / total)}"
            for (_, option), n in sorted(chosen.items(), key=lambda option_and_n: -option_and_n[1])
        ]
        listed = ", ".join(shares[:_MOST_OPTIONS])
        more = f" and {count_text(further, 'more option')}" if further > 0 else ""
        return f"{usable_text}; of these, {listed}{more}."

    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows[0]))
        for group, rows in sentences.rows_by_group(of_groups).items()
    )


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
        All other factors are summed over.

    Returns
    -------
    AnalysisResult
        `options`, one row per group, response format, item and option or status. An option that
        came up for any item of the same study and format stands with every other item too, with 0
        where it never came up; an option nobody ever chose anywhere is unknown to this table.
        `summary`, one row per group.

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
    require_answers(option_counts, names)
    cell = distinct((*names, "format"))
    table = OPTIONS.table(_rows(_plain(option_counts), cell), cell)
    options, summary = table.frame, TableRows(SUMMARY, names)
    findings = Findings(notes=[_DEPENDENT_TRIALS])
    groups: list[tuple[Any, pd.DataFrame]] = [((), options)]
    if names:
        groups = list(options.groupby(list(names), sort=False))
    for group, rows in groups:
        items = rows.drop_duplicates(["format", "subscale", "item"])
        n_trials, n_usable = int(items["n_trials"].sum()), int(items["n_usable"].sum())
        summary.add(
            group,
            items=len(items.drop_duplicates(["subscale", "item"])),
            n_trials=n_trials,
            n_usable=n_usable,
            n_unusable=n_trials - n_usable,
            share_usable=n_usable / n_trials if n_trials else math.nan,
            share_unusable=(n_trials - n_usable) / n_trials if n_trials else math.nan,
        )
        unusable = items.loc[items["n_usable"] == 0, "item"].drop_duplicates().astype(str).tolist()
        if unusable:
            several = "item" if len(unusable) == 1 else f"{len(unusable)} items"
            findings.caution(
                group_name(group),
                f"{several} {name_list(unusable)}: no usable answer, so no shares.",
            )
    to_come = (options["kind"] == "status") & (options["option"] == "not_asked")
    if not_asked := int(options.loc[to_come, "count"].sum()):
        findings.cautions.append(f"{not_asked} planned trials have not been asked yet.")
    in_short = summary.table()
    trials, usable = (int(in_short.frame[name].sum()) for name in ("n_trials", "n_usable"))
    return count_result(
        [table, in_short],
        findings,
        unit="one trial: one item put once to a respondent",
        trials=trials,
        usable=usable,
        used=usable,
        method="Counts; shares of the usable answers of an item, statuses as shares of all trials. "
        "Options are as chosen, before reverse-keying.",
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
    chosen = counts[~is_status]
    statuses = counts[is_status].assign(option=lambda rows: rows["status"])
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
    ranks = pd.DataFrame(
        {name: pd.Index(levels).get_indexer(rows[name].tolist()) for name, levels in order.items()}
    ).assign(position=rows["position"])
    sequence = ranks.sort_values([*item, "position"], kind="stable").index
    return rows.loc[sequence].reset_index(drop=True)

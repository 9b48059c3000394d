"""Where do models differ, item by item?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.items.item_statistics import (
    OBSERVED_RANGE,
    item_remarks,
    item_table,
    left_out_notes,
)
from core.analysis.shared.matrices import (
    MISSING_WORDS,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
)
from core.analysis.shared.options import By, MissingRule
from core.analysis.shared.registry import Choice, analysis
from core.analysis.shared.rows import analysis_unit, known_ends, row_cautions, row_notes
from core.analysis.shared.sentences import GroupAnswer, GroupAnswers, decimal_text, rows_by_group
from core.charts.heat_maps import item_map_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, Unit, with_tabs
from core.domain.wide_scores import ItemScores

Statistic = Literal[
    "mean", "variance", "discrimination", "difficulty", "alpha_if_dropped", "missing_share"
]
STATISTICS: Mapping[str, tuple[str, Unit, str]] = {
    "mean": ("M", "points", "Mean score after reverse-keying, all answers."),
    "variance": ("Variance", "points squared", "Divisor n - 1, all answers."),
    "discrimination": (
        "Discrimination",
        "correlation",
        "Correlation with the sum of the other items of the subscale; Henrysson (1963).",
    ),
    "difficulty": (
        "Difficulty",
        "proportion",
        "Mean score as a share of the range of the answer format; Crocker & Algina (1986).",
    ),
    "alpha_if_dropped": (
        "α if dropped",
        "correlation",
        "Cronbach's alpha of the subscale without the item; Cronbach (1951).",
    ),
    "missing_share": (
        "Missing share",
        "proportion",
        "Administrations without a score for the item, of all.",
    ),
}
"""What the map can show: what the reader reads, unit, and what it says."""

_NO_INTERVALS = (
    "A map shows no uncertainty: with few administrations groups differ by chance alone.",
    "Repeated administrations of one model are not independent and say less than their number "
    "suggests.",
)

MOST_GROUPS = 40
"""With more groups, the table with a column for each shows the first ones; the long one has all."""

_N = {"discrimination": "n_discrimination", "alpha_if_dropped": "n_discrimination"}
_UNSAFE = re.compile(r"[^a-z0-9]+")


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How far apart the values of an item are between groups; no map says by more than chance."""
    title = next(c.title for c in result.tables[0].columns if c.name == "value")
    values: dict[str, list[tuple[float, str]]] = {}
    for group, rows in rows_by_group(result.tables[0], "subscale").items():
        for row in rows:
            if math.isfinite(row["value"]):
                values.setdefault(row["item"], []).append((row["value"], group))
    compared = {item: own for item, own in values.items() if len(own) > 1}
    if not compared:
        sentence = f"{title}: undefined (no item has a value in two groups)."
        return (GroupAnswer("all groups", sentence),)
    spans = [max(own)[0] - min(own)[0] for own in compared.values()]
    items = count_text(len(spans), "item has", "items have")
    return (
        GroupAnswer(
            "all groups",
            f"{title}: {items} values in several groups, which lie "
            f"{decimal_text(float(np.median(spans)))} apart (median; from "
            f"{decimal_text(min(spans))} to {decimal_text(max(spans))}). A map has no intervals, "
            "so no item and no group is named.",
        ),
    )


_TABS = {"map": "One row per value", "wide": "One row per item"}


@analysis(
    title="Item map",
    question="Where do models and contexts differ, item by item?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=item_map_charts,
    references=(
        "Jung (2025), Validation of a psychological scale for LLMs, University of Mannheim",
        "Henrysson (1963) doi:10.1007/BF02289618",
        "Crocker & Algina (1986), Introduction to classical and modern test theory",
        "Cronbach (1951) doi:10.1007/BF02310555",
    ),
    keywords=(
        "items",
        "heat map",
        "differences between models",
        "differences between languages",
        "items that differ",
        "item difficulty",
        "items by group",
    ),
    requires="scores",
)
def item_map(
    item_scores: ItemScores,
    *,
    statistic: Annotated[
        Statistic,
        Choice("Show", tuple((name, title) for name, (title, _, _) in STATISTICS.items())),
    ] = "mean",
    by: By = ("respondent", "context_set"),
    missing: MissingRule = "automatic",
) -> AnalysisResult:
    """One statistic of every item in every group, as a heat map shows it.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    statistic : str
        "mean" and "variance" (points), "discrimination", "difficulty", "alpha_if_dropped" or
        "missing_share" (no unit), all as `item_statistics` defines them.
    by : tuple of factors
        Groups, each a column of the map; the statistic is computed within each.
    missing : "automatic", "listwise", "pairwise" or "fiml"
        As in `item_statistics`: which administrations discrimination and alpha come from.

    Returns
    -------
    AnalysisResult
        `map`, one row per group and item: `subscale`, `item`, `value` and `n`, the administrations
        behind it. `wide`, one row per item with a column for each group (at most 40 groups).

    Raises
    ------
    NotEnoughData
        There is not a single score, or the frame lacks one of the factors. Whatever else is
        undefined is NaN, and a note names it.

    Notes
    -----
    The unit of analysis is one administration. The numbers are those of `item_statistics`, which
    agree with psych 2.4.12 to 1e-6, by way of the same function. Missing answers: mean, variance
    and difficulty use every answer to the item, discrimination and alpha follow `missing`. Groups
    differ in chance as well: a map has no intervals, and repeated administrations of one model are
    not independent.
    """
    names = distinct(by)
    items = item_table(item_scores, names, missing, 0.95)
    matrices, frame = items.matrices, items.frame
    title, unit, says = STATISTICS[statistic]
    frame = frame.assign(
        missing_share=frame["missing"] / (frame["n"] + frame["missing"]),
        planned=frame["n"] + frame["missing"],
    )
    counts = "planned" if statistic == "missing_share" else _N.get(statistic, "n")
    columns = (
        *by_columns(names),
        Column("subscale", "Subscale"),
        Column("item", "Item"),
        Column("value", title, unit, says),
        Column("n", "n", "count", "Administrations behind the value."),
    )
    long = frame.assign(value=frame[statistic].astype(float), n=frame[counts])
    long = long[[column.name for column in columns]]
    groups = list(dict.fromkeys(matrix.group for matrix in matrices))
    owner = np.array([groups.index(m.group) for m in matrices for _ in m.items], dtype=np.int64)
    cautions, notes = item_remarks(items) if long["value"].isna().any() else ([], [])
    rule = MISSING_WORDS[items.missing]
    return AnalysisResult(
        tables=with_tabs(
            (
                ResultTable("map", "Item map", long, columns),
                _wide_table(long, owner, [group_name(group) for group in groups], (unit, says)),
            ),
            _TABS,
        ),
        unit=analysis_unit(item_scores),
        n_used=sum(matrix.n_used for matrix in matrices),
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"{title} of every item in every group: {says} "
        f"{f'From {rule}. ' if statistic in _N else ''}Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *(
                (OBSERVED_RANGE,)
                if statistic == "difficulty" and not known_ends(item_scores).all()
                else ()
            ),
            *row_cautions(item_scores, *_NO_INTERVALS),
        ),
        notes=(
            *data_notes(item_scores),
            *((*left_out_notes(matrices, items.missing), *items.why) if statistic in _N else ()),
            *notes,
            *_wide_table_notes(len(groups)),
            *row_notes(item_scores, *_NO_INTERVALS),
        ),
    )


def _wide_table(
    long: pd.DataFrame, owner: Any, titles: Sequence[str], statistic: tuple[Unit, str]
) -> ResultTable:
    """One row per item, one column for each of the first groups."""
    keys = ["subscale", "item"]
    wide = long[keys].drop_duplicates().reset_index(drop=True)
    place = pd.MultiIndex.from_frame(wide)
    columns = [Column("subscale", "Subscale"), Column("item", "Item")]
    taken_names, taken_titles = set(keys), {column.title for column in columns}
    for number, title in enumerate(titles[:MOST_GROUPS]):
        own = long[owner == number]
        values = np.full(len(wide), np.nan)
        values[place.get_indexer(pd.MultiIndex.from_frame(own[keys]))] = own["value"]
        # Names of groups are whatever users and models are called: no field may be made of them.
        safe = "group_" + _UNSAFE.sub("_", title.lower()).strip("_")[:60]
        name = _distinct_name(safe.rstrip("_"), taken_names, "_{}")
        columns.append(Column(name, _distinct_name(title, taken_titles, " ({})"), *statistic))
        wide[name] = values
    return ResultTable("wide", "Item map, a column for each group", wide, tuple(columns))


def _distinct_name(text: str, taken: set[str], ending: str) -> str:
    """The text, with a number after it where it is taken; from then on it is taken."""
    number, name = 1, text
    while name in taken:
        number += 1
        name = text + ending.format(number)
    taken.add(name)
    return name


def _wide_table_notes(n_groups: int) -> list[str]:
    """A note where not all groups have a column."""
    if n_groups <= MOST_GROUPS:
        return []
    return [
        f"There are {n_groups} groups; the table with a column for each shows the first "
        f"{MOST_GROUPS}, the other table all."
    ]

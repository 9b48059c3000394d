"""Where do models differ, item by item?"""

from __future__ import annotations

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
from core.analysis.kit import sentences
from core.analysis.kit.matrices import MISSING_WORDS, distinct, group_name
from core.analysis.kit.options import By, MissingRule
from core.analysis.kit.registry import Choice, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.rows import known_ends
from core.charts.heat_maps import item_map_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable, Unit
from core.domain.tables import TableSpec, count, key, number
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

_OF_OTHER_ITEMS = ("discrimination", "alpha_if_dropped")
"""Statistics that come from the administrations that the rule for missing answers leaves."""
_KEYS = (key("subscale", "Subscale"), key("item", "Item"))
_UNSAFE = re.compile(r"[^a-z0-9]+")


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How far apart the values of an item are between groups; no map says by more than chance.

    Values in different formats are not compared.
    """
    table = result.tables[0]
    title = next(column.title for column in table.columns if column.name == "value")
    keys = ["item", *(["format"] if "format" in table.frame else [])]
    values = table.frame[np.isfinite(table.frame["value"])].groupby(keys, sort=False)["value"]
    span_of = {alike: own.max() - own.min() for alike, own in values if len(own) > 1}
    spans = list(span_of.values())
    if not spans:
        sentence = f"{title}: undefined (no item has a value in two groups)."
        return (sentences.GroupAnswer("all groups", sentence),)
    items = count_text(len({item for item, *_ in span_of}), "item has", "items have")
    several = "several groups of a format" if len(keys) > 1 else "several groups"
    median, low, high = map(
        sentences.decimal_text, (float(np.median(spans)), min(spans), max(spans))
    )
    return (
        sentences.GroupAnswer(
            "all groups",
            f"{title}: {items} values in {several}, which lie {median} apart (median; from "
            f"{low} to {high}). A map has no intervals, so no item and no group is named.",
        ),
    )


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
        Each group is a column of the map.
    missing : "automatic", "listwise", "pairwise" or "fiml"
        As in `item_statistics`: which administrations discrimination and alpha come from.

    Returns
    -------
    AnalysisResult
        `map`, one row per group and item, and `wide`, one row per item with a column for each group
        (at most 40 groups).

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
    items = item_table(item_scores, by, missing, 0.95)
    matrices, frame = items.matrices, items.frame
    title, unit, says = STATISTICS[statistic]
    planned = frame["n"] + frame["missing"]
    frame = frame.assign(missing_share=frame["missing"] / planned)
    n = frame["n"]
    if statistic == "missing_share":
        n = planned
    elif statistic in _OF_OTHER_ITEMS:
        n = frame["n_discrimination"]
    columns = (
        *_KEYS,
        number("value", title, unit, says),
        count("n", "n", "Administrations behind the value."),
    )
    values = frame.assign(value=frame[statistic].astype(float), n=n)
    long = TableSpec("map", "Item map", columns, "One row per value").table(values, by)
    findings = item_remarks(items) if long.frame["value"].isna().any() else Findings()
    if statistic in _OF_OTHER_ITEMS:
        findings.notes[:0] = [*left_out_notes(matrices, items.missing), *items.why]
    if statistic == "difficulty" and not known_ends(item_scores).all():
        findings.cautions.append(OBSERVED_RANGE)
    groups = list(dict.fromkeys(matrix.group for matrix in matrices))
    if len(groups) > MOST_GROUPS:
        findings.notes.append(
            f"There are {len(groups)} groups; the table with a column for each shows the first "
            f"{MOST_GROUPS}, the other table all."
        )
    named = [group_name(group, distinct(by)) for group in groups]
    owner = np.array([groups.index(m.group) for m in matrices for _ in m.items], dtype=np.int64)
    of_rule = f"From {MISSING_WORDS[items.missing]}. " if statistic in _OF_OTHER_ITEMS else ""
    return score_result(
        item_scores,
        [
            long,
            _wide_table(long.frame, owner, named, unit, says),
        ],
        findings,
        n_used=sum(matrix.n_used for matrix in matrices),
        method=f"{title} of every item in every group: {says} {of_rule}Scores are after "
        "reverse-keying.",
        matrices=matrices,
        taken_for_granted=_NO_INTERVALS,
    )


def _wide_table(
    long: pd.DataFrame, owner: Any, titles: Sequence[str], unit: Unit, says: str
) -> ResultTable:
    """One row per item, one column for each of the first groups; `owner` is the group of a row."""
    keys = [column.name for column in _KEYS]
    wide = long[keys].drop_duplicates().reset_index(drop=True)
    rows = pd.MultiIndex.from_frame(wide)
    columns = list(_KEYS)
    names, column_titles = set(keys), {column.title for column in _KEYS}
    for group, title in enumerate(titles[:MOST_GROUPS]):
        of_group = long[owner == group]
        values = np.full(len(wide), np.nan)
        values[rows.get_indexer(pd.MultiIndex.from_frame(of_group[keys]))] = of_group["value"]
        # Names of groups are whatever users and models are called: no field may be made of them.
        safe = "group_" + _UNSAFE.sub("_", title.lower()).strip("_")[:60]
        name = _distinct_name(safe.rstrip("_"), names, "_{}")
        columns.append(number(name, _distinct_name(title, column_titles, " ({})"), unit, says))
        wide[name] = values
    title = "Item map, a column for each group"
    return ResultTable("wide", title, wide, tuple(columns), "One row per item")


def _distinct_name(text: str, taken: set[str], ending: str) -> str:
    """The text, with a number after it where it is taken; from then on it is taken."""
    n, name = 1, text
    while name in taken:
        n += 1
        name = text + ending.format(n)
    taken.add(name)
    return name

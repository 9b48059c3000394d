"""The tables and notes of `odds_ratios`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.matrices import group_name
from core.analysis.words.odds_ratios_contrast import Contrast
from core.analysis.words.word_lists import TOTAL
from core.domain.results import Column, ResultTable
from core.psychometrics.comparisons.odds_ratio import woolf_odds_ratio
from core.psychometrics.distribution import moments
from core.psychometrics.wording import listed

_OR_HELP = (
    "Odds of a listed word in the texts of the stereotyped group, over those of the other; odds = "
    "words / (all words - words). 1: no difference. Jung (2025)."
)


def groups(
    frame: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Every group with its rows, in the order the frame first names them."""
    if not names:
        yield (), frame
        return
    for key, own in frame.groupby(list(names), sort=False, observed=True, dropna=False):
        yield tuple(key), own


def odds_rows(
    group: tuple[Any, ...], counts: pd.DataFrame, contrast: Contrast, ci_level: float
) -> Iterator[dict[str, Any]]:
    """The odds ratio of every list over all texts of one group."""
    for number, name in enumerate(contrast.lists):
        side = contrast.sides[name]
        levels = contrast.levels[side], contrast.levels[1 - side]
        cells: list[int] = []
        for level in levels:
            own = counts.loc[counts["level"] == level, [str(number), TOTAL]].sum()
            cells += [int(own[str(number)]), int(own[TOTAL])]
        odds = woolf_odds_ratio(cells[0], cells[1], cells[2], cells[3], ci_level)
        yield {
            "group": group, "list": name, "stereotyped": levels[0], "other": levels[1],
            "words": cells[0], "total": cells[1], "other_words": cells[2],
            "other_total": cells[3], "odds_ratio": odds.value, "ci_low": odds.low,
            "ci_high": odds.high, "z": odds.z, "p": odds.p, "remark": odds.problem,
        }  # fmt: skip


def summary_rows(scores: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Mean and SD of the scores of every group."""
    rows = []
    for group, own in groups(scores, names):
        defined = moments(own["score"].to_numpy(dtype=np.float64))
        rows.append(
            {"group": group, "mean": defined.mean, "sd": defined.sd, "n": defined.n,
             "undefined": len(own) - defined.n, "texts": int(own["texts"].sum())}
        )  # fmt: skip
    return rows


def notes(
    scores: pd.DataFrame, odds: Sequence[dict[str, Any]], names: Sequence[str], contrast: Contrast
) -> list[str]:
    """Which lists stand for which group, and what is undefined."""
    found = [contrast.sentence]
    for group, own in groups(scores, names):
        n = int(own["score"].isna().sum())
        if n:
            found.append(
                f"{group_name(group)}: {n} of {len(own)} contexts have no score, because an odds "
                "ratio is undefined: a group of their texts is missing or has none of the words "
                "of a list."
            )
    undefined: dict[str, list[str]] = {}
    for row in odds:
        if row["remark"]:
            where = f"{group_name(row['group'])}, list {row['list']}"
            undefined.setdefault(row["remark"], []).append(where)
    return found + [f"{listed(where)}: {problem}" for problem, where in undefined.items()]


SUMMARY_COLUMNS = (
    Column("mean", "M", "points", "Mean score of the contexts that have one; 1: no difference."),
    Column("sd", "SD", "points", "Standard deviation of these scores (divisor n - 1)."),
    Column("n", "n", "count", "Contexts with a score."),
    Column("undefined", "Undefined", "count", "Contexts without one: an odds ratio is undefined."),
    Column("texts", "Texts", "count", "Usable texts of the two groups."),
)


def odds_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of pooled odds ratios."""
    interval = f"{ci_level * 100:g}% CI"
    wald = "Of the log odds ratio, by the four counts; Woolf (1955). Words of one text depend on "
    caution = f"{wald}each other, so it claims too much."
    return (
        Column("list", "List"),
        Column("stereotyped", "Stereotype of", help="The group whose odds stand above the line."),
        Column("other", "Other group"),
        Column("words", "Words", "count", "Listed words in the texts of the stereotyped group."),
        Column("total", "Of", "count", "All words of these texts."),
        Column("other_words", "Words, other", "count", "Listed words in the other group's texts."),
        Column("other_total", "Of, other", "count", "All words of these texts."),
        Column("odds_ratio", "Odds ratio", "points", _OR_HELP),
        Column("ci_low", f"{interval} low", "points", caution),
        Column("ci_high", f"{interval} high", "points", caution),
        Column("z", "z", "points", "Log odds ratio / its standard error; Woolf (1955)."),
        Column("p", "p", "p", "Two-sided, of an odds ratio of 1. Too small, as z is too large."),
        Column("remark", "Remark", help="Why an odds ratio is undefined."),
    )


def score_columns(lists: Mapping[str, Any]) -> tuple[Column, ...]:
    """What follows the units in the table of scores."""
    return (
        Column("texts", "Texts", "count", "Usable texts of both groups."),
        *(Column(f"or_{name}", f"Odds ratio {name}", "points", _OR_HELP) for name in lists),
        Column("score", "Score", "points", "Mean of the odds ratios; 1: no difference, above 1: "
               "texts follow the stereotypes. Empty if one of them is undefined. Jung (2025)."),
    )  # fmt: skip


def table(
    name: str,
    title: str,
    rows: pd.DataFrame | Sequence[dict[str, Any]],
    lead: Sequence[Column],
    columns: Sequence[Column],
) -> ResultTable:
    """A table whose rows hold the group as a tuple, or in columns of its own."""
    declared = (*lead, *columns)
    if isinstance(rows, pd.DataFrame):
        frame = rows[[column.name for column in declared]].reset_index(drop=True)
        return ResultTable(name, title, frame, declared)
    cells = [(*row["group"], *(row[column.name] for column in columns)) for row in rows]
    frame = pd.DataFrame(cells, columns=[column.name for column in declared])
    return ResultTable(name, title, frame, declared)

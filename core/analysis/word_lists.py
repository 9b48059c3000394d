"""Texts scored by lists of words: counts, and odds ratios between two groups of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import pandas as pd

TOTAL = "words"
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def word_counts(texts: Sequence[str], lists: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """How many words each text has, and how many of them begin with an entry of each list.

    Parameters
    ----------
    texts
        The texts.
    lists
        Entries by the name of their list. An entry counts where a word starts with it, without
        regard to case ("caring" for "car" as well; Jung, 2025, counts so).

    Returns
    -------
    pandas.DataFrame
        One row per text in the order given: `words` and a column for each list, whole numbers.
        A word counts once for a list, whichever of its entries it starts with.
    """
    patterns = {name: _pattern(entries) for name, entries in lists.items()}
    rows = [
        {TOTAL: len(_WORD.findall(text))}
        | {name: len(found.findall(text)) if found else 0 for name, found in patterns.items()}
        for text in texts
    ]
    return pd.DataFrame(rows, columns=[TOTAL, *lists], dtype="int64")


def odds_ratio(first: int, first_total: int, second: int, second_total: int) -> float:
    """Odds of a listed word in the first group of texts over those in the second.

    The odds of a group are words / (total - words). NaN where an odds is not defined or the
    second one is 0: no word of the list in the second group, or nothing but such words.
    """
    if first_total <= first or second_total <= second or second == 0:
        return math.nan
    return (first / (first_total - first)) / (second / (second_total - second))


def stereotype_scores(
    counts: pd.DataFrame,
    *,
    unit: Sequence[str],
    group: str,
    levels: tuple[str, str],
    sides: Mapping[str, int],
) -> pd.DataFrame:
    """Odds ratio of each list within each unit, and their mean.

    Parameters
    ----------
    counts
        One row per text: the columns of `unit` and `group`, `words`, and a column for each list.
    unit
        Columns whose combination is one row of the result, such as respondent and context.
    group, levels
        The column that tells two groups of texts apart, and its two levels.
    sides
        For each list the level, 0 or 1, whose stereotype its words are. The odds of that level
        stand above the line.

    Returns
    -------
    pandas.DataFrame
        One row per unit: `texts` (number of texts of both levels), `or_<list>` for each list, and
        `score`, the mean of the odds ratios; NaN where one of them is undefined.

    Notes
    -----
    Counts of all texts of a unit and level are pooled before the odds are taken. Jung (2025): OR =
    odds of the stereotyped group over odds of the other, score = mean over the lists.
    """
    used = counts[counts[group].isin(levels)]
    rows = []
    for key, texts in used.groupby(list(unit), sort=False, observed=True):
        sums = [texts[texts[group] == level][[TOTAL, *sides]].sum() for level in levels]
        ratios = {
            f"or_{name}": odds_ratio(
                sums[side][name], sums[side][TOTAL], sums[1 - side][name], sums[1 - side][TOTAL]
            )
            for name, side in sides.items()
        }
        score = sum(ratios.values()) / len(ratios) if ratios else math.nan
        rows.append(
            dict(zip(unit, key, strict=True)) | {"texts": len(texts)} | ratios | {"score": score}
        )
    return pd.DataFrame(rows, columns=[*unit, "texts", *(f"or_{n}" for n in sides), "score"])


def _pattern(entries: Sequence[str]) -> re.Pattern[str] | None:
    stems = sorted({entry.strip() for entry in entries if entry.strip()}, key=len, reverse=True)
    if not stems:
        return None
    return re.compile(r"\b(?:" + "|".join(map(re.escape, stems)) + r")\w*", re.IGNORECASE)

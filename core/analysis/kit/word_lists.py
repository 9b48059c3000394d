"""Texts scored by lists of words: counts, and odds ratios between two groups of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.stats.groups import log_odds_ratios, odds_ratio
from core.stats.scores import row_scores

TOTAL = "words"
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_PART = re.compile(r"\w+")
_REST = r"\w*(?:['’-]\w+)*"


def word_counts(texts: Sequence[str], lists: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """How many words each text has, and how many of them begin with an entry of each list.

    Parameters
    ----------
    texts
        The texts.
    lists
        Entries by the name of their list. An entry counts where a word, or a part of a hyphenated
        one, starts with it, without regard to case ("caring" for "car" as well; Jung, 2025, counts
        so). Where an entry of a list ends with *, such entries alone are beginnings, and the others
        of the list are whole words.

    Returns
    -------
    pandas.DataFrame
        One row per text in the order given: `words` and a column for each list, whole numbers.
        A word counts once for a list, whichever of its entries it starts with.
    """
    entries = {name: _entries(given) for name, given in lists.items()}
    # Entries that are words themselves need no look at the text: each distinct word is judged once.
    by_word = {name: own for name, own in entries.items() if own.are_words}
    patterns = {name: _pattern(own) for name, own in entries.items() if name not in by_word}
    places: dict[str, tuple[int, ...]] = {}
    stems = tuple(by_word.values())
    table = np.zeros((len(texts), 1 + len(by_word)), dtype=np.int64)
    for counts, text in zip(table, texts, strict=True):
        words = _WORD.findall(text)
        counts[0] = len(words)
        for word in words:
            columns = places.get(word)
            if columns is None:
                columns = places[word] = _lists_of(word, stems)
            for place in columns:
                counts[place] += 1
    frame = pd.DataFrame(table, columns=[TOTAL, *by_word])
    for name, pattern in patterns.items():
        frame[name] = np.array(
            [len(pattern.findall(text.casefold())) for text in texts], dtype=np.int64
        )
    return frame[[TOTAL, *lists]]


def stereotype_scores(
    counts: pd.DataFrame,
    *,
    unit: Sequence[str],
    group: str,
    levels: tuple[str, str],
    sides: Mapping[str, int],
) -> pd.DataFrame:
    """Odds ratio of each list within each unit, and its logarithm.

    Parameters
    ----------
    counts
        One row per text: the columns of `unit` and `group`, `words`, and a column for each list.
    unit
        Columns whose combination is one row of the result, such as respondent and context.
    group, levels
        The column that separates two groups of texts, and its two levels.
    sides
        For each list the level, 0 or 1, whose stereotype its words are. The odds of that level
        stand above the line.

    Returns
    -------
    pandas.DataFrame
        One row per unit: `texts` (number of texts of both levels); for each list `or_<list>`, the
        odds ratio, NaN where it is undefined, and `log_<list>` (see `log_odds_ratios`); and
        `score`, the mean of these logarithms.

    Notes
    -----
    Counts of all texts of a unit and level are pooled before the odds are taken. Jung (2025): OR =
    odds of the stereotyped group over odds of the other.
    """
    used = counts[counts[group].isin(levels)]
    keys = list(unit)
    units = used.groupby(keys, sort=False, observed=True, dropna=False)
    result = units.size().rename("texts").reset_index()
    pooled = []
    for level in levels:
        # texts of the other level count no words here, so that every unit has its row
        own = used[[TOTAL, *sides]].where(used[group] == level, 0)
        sums = own.groupby([used[key] for key in keys], sort=False, observed=True, dropna=False)
        pooled.append(sums.sum().reset_index(drop=True))
    for name, side in sides.items():
        one, other = pooled[side], pooled[1 - side]
        cells = [part[column].to_numpy() for part in (one, other) for column in (name, TOTAL)]
        result[f"or_{name}"] = [odds_ratio(*row) for row in zip(*cells, strict=True)]
        result[f"log_{name}"] = log_odds_ratios(*(cell.astype(np.float64) for cell in cells))
    logs = result[[f"log_{name}" for name in sides]].to_numpy(dtype=np.float64)
    return result.assign(score=row_scores(logs, "listwise"))


@dataclass(frozen=True)
class _Entries:
    """The entries of a list, in small letters: beginnings of words, and whole words."""

    beginnings: tuple[str, ...]
    whole: frozenset[str]

    @property
    def are_words(self) -> bool:
        """Whether no entry holds a blank or a sign."""
        return all(map(_WORD.fullmatch, (*self.beginnings, *self.whole)))


def _entries(given: Sequence[str]) -> _Entries:
    """The entries of a list without case, blanks and repeats."""
    entries = list(dict.fromkeys(e.strip().casefold() for e in given if e.strip(" *")))
    starred = [entry for entry in entries if entry.endswith("*")]
    if not starred:
        return _Entries(tuple(entries), frozenset())
    whole = frozenset(entry for entry in entries if not entry.endswith("*"))
    return _Entries(tuple(entry.rstrip("*") for entry in starred), whole)


def _lists_of(word: str, stems: Sequence[_Entries]) -> tuple[int, ...]:
    """The columns (1 for the first list) of the lists the word, or a part of it, counts for."""
    folded = word.casefold()
    parts = list(_PART.finditer(folded))
    words = {folded, *(part[0] for part in parts)}
    return tuple(
        number
        for number, own in enumerate(stems, 1)
        if any(folded.startswith(own.beginnings, part.start()) for part in parts)
        or not own.whole.isdisjoint(words)
    )


def _pattern(entries: _Entries) -> re.Pattern[str]:
    """What finds the words of a list whose entries may hold blanks and signs."""
    beginnings = [(entry, re.escape(entry) + _REST) for entry in entries.beginnings]
    whole = [(entry, re.escape(entry) + r"(?!\w)") for entry in entries.whole]
    longest_first = sorted((*beginnings, *whole), key=lambda pair: (-len(pair[0]), pair))
    return re.compile(r"\b(?:" + "|".join(pattern for _, pattern in longest_first) + ")")

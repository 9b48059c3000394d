"""Answers to words counted by group, and what the banks say of the words: texts and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import distinct
from core.analysis.kit.option_counts import cell_codes, groups_of_cells, sums_over_cells
from core.analysis.kit.options import MissingTestRule, NeutralRule
from core.analysis.kit.rows import require_answers
from core.domain.study import COUNTED_AS_MISSING
from core.errors import NotEnoughData
from core.stats.association import UNKNOWN_CLASS, WORD_CLASSES, word_classes
from core.stats.inputs import Booleans, Floats, Integers

_SIDES = ("positive", "negative", "neutral")

# Which items of several studies are the same word.


def word_numbers(option_counts: pd.DataFrame, wordings: pd.DataFrame) -> tuple[Integers, Integers]:
    """The number of the word of every row, and the row of the frame where each first appears.

    Items with the same code are one word within a study. In two studies they are one word where
    their banks have a text of it in the same language and no texts that differ, or where neither
    bank has a text. So words of lists in two languages are not taken for each other.
    """
    cell, labels = cell_codes(option_counts, ("study", "item"))
    if len(set(labels["study"])) == 1:
        return cell, _first_rows(cell)
    texts: dict[tuple[str, str], dict[str, str]] = {}
    columns = ("study", "item", "language", "text")
    for study, item, language, text in zip(*(wordings[name] for name in columns), strict=True):
        texts.setdefault((str(study), str(item)), {})[str(language)] = str(text)
    known: dict[str, list[tuple[int, dict[str, str]]]] = {}
    numbers = np.zeros(len(labels), dtype=np.int64)
    for place, (study, item) in enumerate(labels.astype(str).itertuples(index=False, name=None)):
        own = texts.get((study, item), {})
        words = known.setdefault(item, [])
        same = next((number for number, other in words if _same_texts(own, other)), None)
        if same is None:
            words.append((place, own))
        numbers[place] = place if same is None else same
    renumbered = pd.factorize(numbers)[0]
    word = renumbered[cell]
    return np.asarray(word, dtype=np.int64), _first_rows(word)


def _same_texts(own: Mapping[str, str], other: Mapping[str, str]) -> bool:
    shared = own.keys() & other.keys()
    if not shared:
        return not own and not other
    return all(own[language] == other[language] for language in shared)


def _first_rows(codes: Integers) -> Integers:
    """The first row of each code; codes are numbered in order of first appearance."""
    return np.asarray(np.unique(codes, return_index=True)[1], dtype=np.int64)


# Answers counted by group and word.


@dataclass(frozen=True, eq=False)
class WordCounts:
    """How many answers to each word are positive, negative and neutral, by group.

    Fields
    ------
    by : the factors set side by side; `groups` has their values, `languages` in which each was
        asked.
    words : one row for each word: study and item under which it first appears.
    positive, negative, neutral : (groups, words) answers that count.
    without_label : (groups, words) those of them, or left out, that have no usable label.
    labeled : (groups, words) answers that have one, also one whose option states no stance.
    without_stance : (groups, words) answers whose option states no stance; they are neutral.
    missing : (groups, words) tests without an answer that counts.
    planned : (groups, words) whether the group has the word.
    """

    by: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    languages: tuple[tuple[str, ...], ...]
    words: pd.DataFrame
    positive: Floats
    negative: Floats
    neutral: Floats
    without_label: Floats
    labeled: Floats
    without_stance: Floats
    missing: Floats
    planned: Booleans

    @property
    def tests(self) -> Floats:
        """Answers that count, (groups, words)."""
        return self.positive + self.negative + self.neutral

    @property
    def unreadable(self) -> Booleans:
        """Whether the group has replies, and none of them a label of the pair, (groups,)."""
        replies, labels = self.without_label.any(axis=1), self.labeled.any(axis=1)
        return np.asarray(replies & ~labels)

    def counted(self, rule: MissingTestRule) -> Booleans:
        """Which words of each group the rates are of; none where no reply could be read.

        The neutral answers of such a group are the rule for replies without a label, and would make
        it perfectly consistent.
        """
        answered = (self.tests > 0) & ~self.unreadable[:, None]
        return answered if rule == "available" else answered & (self.missing == 0)

    def classes(self, rule: MissingTestRule) -> Integers:
        """The class of each word of each group; -1 where the word does not count."""
        classes = word_classes(self.positive, self.negative, self.neutral, tests=1)
        return np.where(self.counted(rule), classes, UNKNOWN_CLASS)

    def over_conditions(self, names: tuple[str, ...]) -> tuple[Integers, WordCounts]:
        """The group of each row where `names` are the first of `by`, and the counts of the groups.

        The tests of a word are added up; those of two conditions are not of the same question.
        """
        group, labels = groups_of_cells(self.groups, len(names))
        languages: list[dict[str, None]] = [{} for _ in labels]
        for number, spoken in zip(group.tolist(), self.languages, strict=True):
            languages[number].update(dict.fromkeys(spoken))
        counted = (*_SIDES, "without_label", "labeled", "without_stance", "missing")
        return group, WordCounts(
            by=names,
            groups=labels,
            languages=tuple(map(tuple, languages)),
            words=self.words,
            **{name: sums_over_cells(getattr(self, name), group) for name in counted},
            planned=sums_over_cells(self.planned * 1.0, group) > 0,
        )


def usual_classes(classes: Integers, group: Integers) -> Integers:
    """The class that a word has in most conditions of each group; inconsistent with a tie.

    `classes` (conditions, words) are -1 where the word does not count.
    """
    kinds = range(len(WORD_CLASSES))
    votes = np.stack([sums_over_cells((classes == kind) * 1.0, group) for kind in kinds])
    most = votes.max(axis=0)
    tied = (votes == most).sum(axis=0) > 1
    usual = np.where(tied, WORD_CLASSES.index("inconsistent"), votes.argmax(axis=0))
    return np.where(most > 0, usual, UNKNOWN_CLASS)


def count_words(
    option_counts: pd.DataFrame, by: Sequence[str], wordings: pd.DataFrame, unusable: NeutralRule
) -> WordCounts:
    """The answers to every word, in the direction of the form.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, or no option has a stance.
    """
    names = distinct(by)
    require_answers(option_counts, names)
    kinds = _kinds(option_counts, unusable)
    group, labels = cell_codes(option_counts, names)
    word, first = word_numbers(option_counts, wordings)
    shape = (len(labels) if names else 1, len(first))
    place = group * shape[1] + word

    def laid_out(values: Floats) -> Floats:
        return np.asarray(np.bincount(place, values, shape[0] * shape[1]).reshape(shape))

    count = option_counts["count"].to_numpy(dtype=np.float64)
    counted = (*_SIDES, "no_label", "labeled", "no_stance")
    own = {name: laid_out(kinds[name] * count) for name in counted}
    answered = sum(own[name] for name in _SIDES)
    expected = _expected_tests(option_counts, group, word, shape, count)
    rows = option_counts[["study", "item"]].astype(str)
    return WordCounts(
        by=names,
        groups=tuple(labels.itertuples(index=False, name=None)) if names else ((),),
        languages=_languages(option_counts, group, shape[0]),
        words=rows.iloc[first].reset_index(drop=True),
        positive=own["positive"],
        negative=own["negative"],
        neutral=own["neutral"],
        without_label=own["no_label"],
        labeled=own["labeled"],
        without_stance=own["no_stance"],
        missing=expected - answered,
        planned=expected > 0,
    )


def _kinds(option_counts: pd.DataFrame, unusable: NeutralRule) -> dict[str, Booleans]:
    """What the answers of each row are."""
    stance = option_counts["stance"].to_numpy(dtype=np.float64)
    stance = stance * option_counts["direction"].to_numpy(dtype=np.float64)
    chosen = (option_counts["option"].astype(object) != "").to_numpy()
    replied = (~option_counts["status"].astype(object).isin(COUNTED_AS_MISSING)).to_numpy()
    no_stance = chosen & np.isnan(stance)
    if no_stance.any() and not (chosen & np.isfinite(stance)).any():
        raise NotEnoughData(
            "The options of these answers state no stance, so no word is positive or negative.",
            "Give the options of the format a stance (1, 0 or -1) on the page Banks, or name a "
            "built-in pair in the column format of the file, such as comedy_tragedy.",
        )
    no_label = replied & ~chosen
    neutral = no_stance | (chosen & (stance == 0)) | (no_label & (unusable == "neutral"))
    positive, negative = chosen & (stance > 0), chosen & (stance < 0)
    return {
        "positive": positive,
        "negative": negative,
        "neutral": neutral,
        "no_label": no_label,
        "labeled": chosen,
        "no_stance": no_stance,
    }


def _expected_tests(
    option_counts: pd.DataFrame,
    group: Integers,
    word: Integers,
    shape: tuple[int, int],
    count: Floats,
) -> Floats:
    """How many tests each word has in a group: as many as the words of its study have at most."""
    study, studies = cell_codes(option_counts, ("study",))
    total = np.zeros(shape)
    for place in range(len(studies)):
        inside = study == place
        cells = group[inside] * shape[1] + word[inside]
        own = np.bincount(cells, count[inside], shape[0] * shape[1]).reshape(shape)
        total += np.where(own > 0, own.max(axis=1, keepdims=True), 0.0)
    return total


def _languages(
    option_counts: pd.DataFrame, group: Integers, n_groups: int
) -> tuple[tuple[str, ...], ...]:
    """The languages of each group, in order of first appearance."""
    if "language" not in option_counts:
        return ((),) * n_groups
    language, labels = cell_codes(option_counts, ("language",))
    pairs = pd.DataFrame({"group": group, "language": language}).drop_duplicates()
    names = labels["language"].astype(str).to_numpy(dtype=object)
    own: list[list[str]] = [[] for _ in range(n_groups)]
    for row, place in pairs.itertuples(index=False):
        own[row].append(names[place])
    return tuple(map(tuple, own))


# What the banks say of the words.


@dataclass(frozen=True, eq=False)
class WordFacts:
    """Rank and order of every word, and its text in each language.

    Fields
    ------
    ranks : (words,) places by frequency, NaN where the bank has none; places in the bank where no
        word has one.
    ranked : (words,) whether the bank has a rank.
    order : (words,) the words from the first to the last: by rank, then by place in the bank.
    texts : language -> texts of the words, None where there is none.
    """

    ranks: Floats
    ranked: Booleans
    order: Integers
    texts: Mapping[str, np.ndarray]

    def texts_in(self, languages: Sequence[str], codes: Sequence[str]) -> list[str]:
        """The text of every word in these languages; its code where the bank has none."""
        columns = [self.texts[one] for one in languages if one in self.texts]
        if not columns:
            return list(codes)
        return [
            " / ".join(dict.fromkeys(text for text in own if text)) or code
            for code, *own in zip(codes, *columns, strict=True)
        ]

    def without_text(self, languages: Sequence[str]) -> int:
        """How many words have no text in any of these languages."""
        columns = [self.texts[one] for one in languages if one in self.texts]
        n_words = len(self.ranks)
        if not columns:
            return n_words
        return n_words - sum(any(own) for own in zip(*columns, strict=True))


def word_facts(counts: WordCounts, items: pd.DataFrame, wordings: pd.DataFrame) -> WordFacts:
    """What the banks say of the words of some counts."""
    n_words = len(counts.words)
    key = pd.MultiIndex.from_frame(counts.words)
    known = items.astype({"study": str, "item": str}).set_index(["study", "item"])
    own = known[["rank", "position"]].astype(float).reindex(key)
    ranks, positions = own["rank"].to_numpy(), own["position"].to_numpy()
    order = np.lexsort((np.arange(n_words), positions, ranks))  # NaN comes last
    texts = {}
    named = wordings.astype({"study": str, "item": str, "language": str})
    for language, part in named.groupby("language", sort=False):
        column = part.set_index(["study", "item"])["text"].reindex(key)
        texts[str(language)] = column.astype(object).where(column.notna(), None).to_numpy()
    ranked = np.isfinite(ranks)
    shown = ranks if ranked.any() else positions
    return WordFacts(shown, ranked, np.asarray(order, dtype=np.int64), texts)

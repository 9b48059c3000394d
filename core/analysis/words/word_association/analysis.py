"""Which words stand on the positive side again and again, and which on the negative one?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import MOST_PAIRS, Comparisons, comparison_table, group_pairs
from core.analysis.kit.item_errors import (
    ItemErrors,
    RepeatRule,
    Repeats,
    corrected_columns,
    item_errors,
    with_units,
    without_repetitions,
)
from core.analysis.kit.matrices import distinct, group_name, result_table
from core.analysis.kit.option_counts import (
    CONDITIONS,
    conditions_within,
    means_over_cells,
    sums_over_cells,
    unit_interval_help,
    unit_interval_method,
)
from core.analysis.kit.options import (
    Adjust,
    By,
    ConfidenceLevel,
    MissingTestRule,
    MissingTests,
    NeutralReplies,
    NeutralRule,
    Seed,
    WordResamples,
)
from core.analysis.kit.registry import BankTable, Choice, Number, analysis
from core.analysis.kit.results import Findings, option_result
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    rate_text,
    table_of,
)
from core.analysis.words.word_association.words import (
    WordCounts,
    WordFacts,
    count_words,
    usual_classes,
    word_facts,
)
from core.charts.words import word_association_charts
from core.domain.frames import ITEMS, OPTION_COUNTS, WORDINGS
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import count, estimate, factor_columns, key, level_text, remark, text
from core.stats.agreement import weighted_kappa
from core.stats.association import RATES, WORD_CLASSES, Rate, UnitRates, association_rates
from core.stats.correlation import correlation
from core.stats.distributions import wilson_interval
from core.stats.groups import Adjustment
from core.stats.inputs import Booleans, Floats, Integers, ratios
from core.stats.resampling import Bootstrap

_SOURCE = "Core Sentiment Inventory."
_RESAMPLED = unit_interval_help("words")
_RATE_HELP = {
    "optimism": "Words that are positive in all tests under the same condition / words.",
    "pessimism": "Words that are negative in all tests / words.",
    "neutrality": "Words that are neutral in all tests, or not the same in all / words. With "
    "optimism and pessimism it adds to 1.",
    "consistency": "Words that are the same in all tests / words with two or more tests.",
    "reluctancy": "Neutral answers / all answers. An answer is neutral without a usable label of "
    "the pair.",
}
_POSITIVE, _NEGATIVE, _NEUTRAL, _INCONSISTENT = range(4)


def _rate_columns(level: str) -> tuple[Column, ...]:
    return tuple(
        column
        for rate in RATES
        for column in (
            *estimate(
                rate,
                rate.capitalize(),
                "proportion",
                f"{_RATE_HELP[rate]} {_SOURCE}",
                _RESAMPLED,
                ends_title=f"{rate.capitalize()} {level}",
                ends_name=f"{rate}",
            ),
        )
    )


def _group_columns(level: str) -> tuple[Column, ...]:
    return (
        count("words", "Words", "Words that the rates are of."),
        count("words_left_out", "Left out", "Words with a test missing, in no rate."),
        count(
            "conditions",
            "Conditions",
            "Contexts, templates and so on, each of which has tests of its own. Rates are means "
            "over them: a word counts once for each.",
        ),
        text("tests", "Tests", "Answers to a word under the same condition, fewest to most."),
        *_rate_columns(level),
        count("neutral_words", "Neutral words", "Neutral in all tests; once for each condition."),
        count(
            "inconsistent_words",
            "Inconsistent words",
            "Not the same in all tests; once for each condition.",
        ),
        count("answers", "Answers", "Answers to the words that the rates are of."),
        count("neutral_answers", "Neutral answers", "Without a usable label."),
        count("labeled", "Labels", "Replies with a label of the pair, to all words."),
        count(
            "no_label",
            "No label",
            "Replies without one, to all words. Where no reply "
            "of a group has a label, its rates are undefined.",
        ),
    )


_WORD_COLUMNS = (
    key("item", "Item"),
    key("word", "Word", "Its text in the language of the group."),
    count("rank", "Rank", "Place by frequency as the bank says, else place in the bank."),
    text(
        "class",
        "Class",
        "Over all tests; of several conditions the class that most have, inconsistent with a tie. "
        "Empty for a word that is left out.",
    ),
    count("positive", "Positive", "Answers with the positive label."),
    count("negative", "Negative", "Answers with the negative label."),
    count("neutral", "Neutral", "Answers with neither, as the option says."),
    count("missing", "Missing", "Tests without an answer that counts."),
)
_TOP_COLUMNS = (
    count("place", "Place", "By rank; without ranks, by the order of the bank."),
    *(
        column
        for side, words in (
            ("positive", "Positive in all tests."),
            ("negative", "Negative in all tests."),
            ("neutral", "Neutral in all tests, or not the same in all."),
        )
        for column in (
            text(side, side.capitalize(), words),
            count(f"{side}_rank", f"Rank of {side}", f"Of the {side} word; see Place."),
        )
    ),
)


def _agreement_columns(level: str) -> tuple[Column, ...]:
    wilson = "Wilson (1927) doi:10.1080/01621459.1927.10502953; words taken as independent."
    kappa = (
        "Cohen's kappa of the three classes: positive, negative, and neutral or inconsistent; "
        "Cohen (1960) doi:10.1177/001316446002000104."
    )
    pearson = (
        "Pearson's r over words of the mean answer to each (positive = 1, negative = −1, neutral "
        "= 0), with Fisher's interval."
    )
    return (
        key("factor", "Compared", "The only factor in which the two groups differ."),
        text("held", "All else", "What both groups have in common."),
        key("first", "First"),
        key("second", "Second"),
        count("words", "Words", "Words that count in both."),
        count("left_out", "Left out", "Words that count in one of them."),
        count("same", "Same class", "Positive, negative, or neutral or inconsistent."),
        *estimate(
            "share",
            "Share",
            "proportion",
            "Same class / words.",
            wilson,
            ends_title=f"Share {level}",
            ends_name="share",
        ),
        *estimate(
            "kappa",
            "Kappa",
            "correlation",
            kappa,
            kappa,
            ends_title=f"Kappa {level}",
            ends_name="kappa",
        ),
        *estimate(
            "r", "r", "correlation", pearson, pearson, ends_title=f"r {level}", ends_name="r"
        ),
        *corrected_columns("the mean answers", level),
        remark("Why a number is undefined."),
    )


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The shares of positive, negative and other words, and both rates of the answers."""

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        if not row["words"]:
            if row["no_label"] and not row["labeled"]:
                replies = f"No reply of {int(row['no_label']):,} has a label of the pair"
                return (
                    f"{replies}, so there is no rate. The page Unexpected outputs says what came."
                )
            return "No word has all its tests, so there is no rate."
        consistency = (
            f"consistency {rate_text(row, 'consistency')}"
            if math.isfinite(row["consistency"])
            else "consistency is undefined (one test)"
        )
        return (
            f"Of {count_text(int(row['words']), 'word')}, {rate_text(row, 'optimism')} are "
            f"positive in all tests (optimism), {rate_text(row, 'pessimism')} negative "
            f"(pessimism), {rate_text(row, 'neutrality')} neutral or inconsistent "
            f"(neutrality); {consistency}, reluctancy {rate_text(row, 'reluctancy')}."
        )

    return answers_of_groups(table_of(result, "groups"), sentence)


_ComparedRate = Annotated[
    Literal["optimism", "pessimism", "neutrality", "consistency", "balance"],
    Choice(
        "Compare groups by",
        (
            ("optimism", "Optimism"),
            ("pessimism", "Pessimism"),
            ("neutrality", "Neutrality"),
            ("consistency", "Consistency"),
            ("balance", "Optimism − pessimism"),
        ),
        help="What the table of groups compared in pairs is about.",
    ),
]


@analysis(
    title="Word association",
    question="How many words are positive, negative or neutral again and again, and which?",
    topic="words",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=word_association_charts,
    keeps=(*CONDITIONS[1:], "repetition"),
    references=(
        "Core Sentiment Inventory (anonymous submission to the Association for Computational "
        "Linguistics; code and answers are public)",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
        "Cohen (1960) doi:10.1177/001316446002000104",
        "Fleiss, Cohen & Everitt (1969) doi:10.1037/h0028106",
        "Fisher (1921), Metron 1, 3-32",
        "Spearman (1904) doi:10.2307/1412159",
    ),
    keywords=(
        "optimism",
        "pessimism",
        "neutrality",
        "reluctancy",
        "consistency rate",
        "implicit association",
        "core sentiment inventory",
        "CSI",
        "comedy",
        "tragedy",
        "word pair",
        "top words",
        "frequency rank",
        "words per call",
        "temperature",
        "ablation",
        "valence",
    ),
    requires="words",
    in_reports=True,
)
def word_association(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent", "language", "format"),
    unusable: NeutralReplies = "neutral",
    missing: MissingTests = "listwise",
    top: Annotated[int, Number("Top words", 1, 200, help="Words in each list.")] = 20,
    compared: _ComparedRate = "optimism",
    ci_level: ConfidenceLevel = 0.95,
    resamples: WordResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
    errors_over: Repeats = "automatic",
    items: Annotated[pd.DataFrame | None, BankTable("items")] = None,
    wordings: Annotated[pd.DataFrame | None, BankTable("wordings")] = None,
) -> AnalysisResult:
    """Optimism, pessimism, neutrality, consistency and reluctancy of words asked several times.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        Answers to words, kept apart by all but the repetition.
    by : tuple of factors
        Groups to set side by side: respondents, languages, pairs of labels (`format`), words per
        call (`items_per_call`).
    unusable : "neutral" or "left_out"
        Whether a reply without a label of the pair is a neutral answer or a missing test.
    missing : "listwise" or "available"
        Whether a word with a test missing is left out.
    top : int
        Words in each list of top words.
    compared : str
        The rate of the comparison of groups in pairs.
    items, wordings : ITEMS and WORDINGS frames
        Ranks and texts of the words.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group: words, tests, the five rates with intervals, and counts.
        `top_words`, a row per group and place: the positive, negative and neutral word there, with
        ranks. `agreement`, a row per pair of groups: share of words of the same class, kappa, r.
        `words`, a row per group and word. `comparisons` of groups.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, or no option has a stance.

    Notes
    -----
    The unit is the word. An answer is positive or negative by the stance of its option, in the
    direction of the form; it is neutral where the stance is 0 or none, or the reply has no usable
    label. Tests of a word are repetitions: answers under another context, template, order of
    labels and so on are not tests of the same question, and rates are means over such conditions.
    Trials that were not asked, and failed calls, are missing tests. A word has as many tests as
    the words of its study have at most under the same condition. Assumes that words are a sample
    of words; intervals resample them, each with all its conditions. Source: Core Sentiment
    Inventory. Checked by hand, on published answers to 5,000 words, and against R's qbinom.
    """
    bank_items = pd.DataFrame(columns=list(ITEMS.columns)) if items is None else items
    texts = pd.DataFrame(columns=list(WORDINGS.columns)) if wordings is None else wordings
    names, level = distinct(by), level_text(ci_level)

    def tests_of(answers: pd.DataFrame) -> _Tests:
        conditions = conditions_within(answers, names)
        cells = count_words(answers, (*names, *conditions), texts, unusable)
        return _Tests(cells, *cells.over_conditions(names), cells.classes(missing), missing)

    answers = without_repetitions(option_counts, names)
    tests = tests_of(answers)
    counts, classes = tests.counts, tests.usual
    facts = word_facts(counts, bank_items, texts)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    rates = tests.rates(bootstrap, ci_level)
    groups = pd.DataFrame(counts.groups, columns=list(names))
    pairs = _comparisons(tests, compared, answers, tests_of, adjust, ci_level, seed)
    errors = _errors_of_means(option_counts, names, counts.groups, texts, unusable, errors_over)
    agreement, further = _agreement_rows(tests, groups, ci_level, errors)
    return option_result(
        option_counts,
        (
            _rates_table(tests, rates, level),
            _top_table(counts, classes, facts, top),
            result_table(
                "agreement",
                "Agreement of groups",
                agreement,
                _agreement_columns(level),
                "Agreement",
            ),
            *pairs.tables,
            _words_table(counts, classes, facts),
        ),
        Findings(_cautions(tests), [*_notes(counts, facts, unusable), *further, *pairs.notes]),
        unit="one word",
        used=int(tests.cells.labeled[tests.counted].sum()),
        method=_method(unusable, missing, ci_level, resamples, seed),
    )


@dataclass(frozen=True, eq=False)
class _Tests:
    """The tests of every word: `cells` by group and condition, and `counts` by group.

    `group` (conditions,) is the number of each condition's group; `classes` (conditions, words)
    are of the tests under one condition, by the rule for missing tests.
    """

    cells: WordCounts
    group: Integers
    counts: WordCounts
    classes: Integers
    rule: MissingTestRule

    @property
    def counted(self) -> Booleans:
        """Which words count under each condition, (conditions, words)."""
        return self.cells.counted(self.rule)

    @property
    def usual(self) -> Integers:
        """The class of each word of each group, (groups, words)."""
        return usual_classes(self.classes, self.group)

    def rates(self, bootstrap: Bootstrap | None, level: float) -> dict[Rate, UnitRates]:
        """The rates of each group, with intervals where words are resampled."""
        return association_rates(
            self.classes,
            self.cells.neutral,
            self.cells.tests,
            groups=self.group,
            bootstrap=bootstrap,
            level=level,
        )


def _comparisons(
    tests: _Tests,
    compared: str,
    answers: pd.DataFrame,
    tests_of: Callable[[pd.DataFrame], _Tests],
    adjust: Adjustment,
    ci_level: float,
    seed: int,
) -> Comparisons:
    """One rate of groups in pairs, over the words that both have."""
    return comparison_table(
        _values(tests, compared),
        tests.counts.by,
        units=("word",),
        value="value",
        title=_COMPARED[compared][0],
        value_unit=_COMPARED[compared][1],
        unit_name="word",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        tab="Agreement",
        answers=answers,
        values_of=lambda answers: _values(tests_of(answers), compared),
    )


def _method(unusable: str, missing: str, level: float, resamples: int, seed: int) -> str:
    """The rules in words, with the choices made."""
    replies = "are neutral answers, as published" if unusable == "neutral" else "are missing tests"
    tests = "is left out" if missing == "listwise" else "counts on the tests that it has"
    intervals = (
        f"{unit_interval_method(level, resamples, 'words')}, seed {seed}."
        if resamples
        else "There are no intervals, because no resamples are asked for."
    )
    return (
        "A word is positive, negative or neutral where all its tests are, else inconsistent; tests "
        "are repetitions under the same condition (context, template and so on). "
        "Optimism and pessimism are shares of positive and negative words, neutrality that of all "
        "other words; consistency = 1 − share of inconsistent words; reluctancy = neutral answers "
        "/ answers, each the mean over conditions. Replies without a label of the pair "
        f"{replies}. A word with a test missing {tests}. {intervals}"
    )


def _range_text(values: Floats) -> str:
    """Fewest to most, or the one number."""
    if not values.size:
        return ""
    low, high = f"{values.min():g}", f"{values.max():g}"
    return low if low == high else f"{low} to {high}"


def _rates_table(tests: _Tests, rates: dict[Rate, UnitRates], level: str) -> ResultTable:
    """One row for each group."""
    counts, classes = tests.counts, tests.classes
    some = sums_over_cells(tests.counted * 1.0, tests.group) > 0
    rows: list[tuple[Any, ...]] = []
    for place, group in enumerate(counts.groups):
        cells = tests.group == place
        counted = tests.counted[cells]
        answers = tests.cells.tests[cells][counted]
        ends = [
            float(array[place])
            for rate in RATES
            for array in (rates[rate].value, rates[rate].low, rates[rate].high)
        ]
        rows.append(
            (
                *group,
                int(some[place].sum()),
                int((counts.planned[place] & ~some[place]).sum()),
                int(cells.sum()),
                _range_text(answers),
                *ends,
                *(int((classes[cells] == kind).sum()) for kind in (_NEUTRAL, _INCONSISTENT)),
                int(answers.sum()),
                int(tests.cells.neutral[cells][counted].sum()),
                *(int(replies[place].sum()) for replies in (counts.labeled, counts.without_label)),
            )
        )
    columns = (*factor_columns(counts.by), *_group_columns(level))
    return result_table("groups", "Rates by group", rows, columns, "Groups")


def _top_table(counts: WordCounts, classes: Integers, facts: WordFacts, top: int) -> ResultTable:
    """One row for each group and place, with the words of the three lists."""
    codes = counts.words["item"].tolist()
    rows: list[tuple[Any, ...]] = []
    for group, languages, own in zip(counts.groups, counts.languages, classes, strict=True):
        texts = facts.texts_in(languages, codes)
        ordered = own[facts.order]
        lists = [
            facts.order[ordered == _POSITIVE][:top],
            facts.order[ordered == _NEGATIVE][:top],
            facts.order[(ordered == _NEUTRAL) | (ordered == _INCONSISTENT)][:top],
        ]
        for place in range(max(map(len, lists))):
            cells: list[Any] = []
            for words in lists:
                word = int(words[place]) if place < len(words) else None
                cells += ["", math.nan] if word is None else [texts[word], float(facts.ranks[word])]
            rows.append((*group, place + 1, *cells))
    columns = (*factor_columns(counts.by), *_TOP_COLUMNS)
    return result_table("top_words", "Top words", rows, columns, "Top words")


def _words_table(counts: WordCounts, classes: Integers, facts: WordFacts) -> ResultTable:
    """One row for each group and word that it has, by rank."""
    shown = counts.planned[:, facts.order]
    rows, columns = np.nonzero(shown)
    words = facts.order[columns]
    codes = counts.words["item"].tolist()
    texts = np.array([facts.texts_in(own, codes) for own in counts.languages], dtype=object)
    labels = np.array([*WORD_CLASSES, ""], dtype=object)
    own = {
        name: np.array([group[place] for group in counts.groups], dtype=object)[rows]
        for place, name in enumerate(counts.by)
    }
    whole = {
        "positive": counts.positive,
        "negative": counts.negative,
        "neutral": counts.neutral,
        "missing": counts.missing,
    }
    frame = pd.DataFrame(
        {
            **own,
            "item": counts.words["item"].to_numpy(dtype=object)[words],
            "word": texts[rows, words],
            "rank": facts.ranks[words],
            "class": labels[classes[rows, words]],
            **{name: array[rows, words].astype(np.int64) for name, array in whole.items()},
        }
    )
    table_columns = (*factor_columns(counts.by), *_WORD_COLUMNS)
    return ResultTable("words", "Every word", frame, table_columns, "All words")


_COMPARED: dict[str, tuple[str, Literal["proportion", "correlation"]]] = {
    "optimism": ("Optimism", "proportion"),
    "pessimism": ("Pessimism", "proportion"),
    "neutrality": ("Neutrality", "proportion"),
    "consistency": ("Consistency", "proportion"),
    "balance": ("Optimism − pessimism", "correlation"),
}


def _values(tests: _Tests, compared: str) -> pd.DataFrame:
    """The part of each word in the rate that is compared, for each group: mean over conditions."""
    classes = tests.classes
    side = np.select([classes == _POSITIVE, classes == _NEGATIVE], [1.0, -1.0], 0.0)
    parts = {
        "optimism": side > 0,
        "pessimism": side < 0,
        "neutrality": side == 0,
        "consistency": classes != _INCONSISTENT,
        "balance": side,
    }
    counts = classes >= 0
    if compared == "consistency":
        counts &= tests.cells.tests > 1
    values = means_over_cells(np.where(counts, parts[compared], np.nan), tests.group)
    rows, columns = np.nonzero(np.isfinite(values))
    groups = pd.DataFrame(tests.counts.groups, columns=list(tests.counts.by))
    return groups.iloc[rows].assign(word=columns, value=values[rows, columns])


def _agreement_rows(
    tests: _Tests, groups: pd.DataFrame, level: float, errors: ItemErrors
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """One row for each pair of groups that differ in one factor, and a note on further pairs."""
    counts, classes = tests.counts, tests.usual
    pairs, total = group_pairs(groups, counts.by)
    three = np.minimum(classes, _NEUTRAL)  # inconsistent words stand with the neutral ones
    known = classes >= 0
    means = np.where(known, ratios(counts.positive - counts.negative, counts.tests), np.nan)
    rows: list[tuple[Any, ...]] = []
    for pair in pairs:
        first, second = pair.rows
        both = known[first] & known[second]
        n, apart = int(both.sum()), int((known[first] ^ known[second]).sum())
        same = int((three[first, both] == three[second, both]).sum())
        kappa = weighted_kappa(three[first, both] * 1.0, three[second, both] * 1.0, level=level)
        r = correlation(means[first, both], means[second, both], level=level)
        problems = dict.fromkeys((*kappa.problems, *r.problems))
        corrected, over = errors.corrected(pair.rows, means[first], means[second], level)
        if math.isfinite(r.r):
            problems |= dict.fromkeys(corrected.problems)
        rows.append(
            (
                pair.factor,
                pair.held,
                pair.first,
                pair.second,
                n,
                apart,
                same,
                same / n if n else math.nan,
                *wilson_interval(same, n, level=level),
                kappa.value,
                kappa.low,
                kappa.high,
                r.r,
                r.low,
                r.high,
                corrected.first_reliability,
                corrected.second_reliability,
                corrected.value,
                corrected.low,
                corrected.high,
                over,
                " ".join(problems),
            )
        )
    notes = []
    if total > len(pairs):
        notes = [f"The first {MOST_PAIRS} of {total:,} pairs of groups have an agreement."]
    return rows, notes


def _errors_of_means(
    option_counts: pd.DataFrame,
    by: tuple[str, ...],
    groups: Sequence[tuple[Any, ...]],
    texts: pd.DataFrame,
    unusable: NeutralRule,
    errors_over: RepeatRule,
) -> ItemErrors:
    """The errors of the mean answers of each group, which pool all tests of a word."""
    conditions = conditions_within(option_counts, by)
    n_words = option_counts["item"].nunique()
    cell = with_units(option_counts, (*by, *conditions), n_words)
    cells = count_words(option_counts, cell, texts, unusable)
    keys = pd.DataFrame(cells.groups, columns=list(cells.by))
    row_of = {group: row for row, group in enumerate(groups)}
    row = [row_of[group[: len(by)]] for group in cells.groups]
    return item_errors(
        cells.tests,
        cells.positive - cells.negative,
        keys.drop(columns=list(by)),
        np.array(row, dtype=np.int64),
        alike=(),
        rule=errors_over,
    )


# What the reader must know of the words and their tests.


def _cautions(tests: _Tests) -> list[str]:
    """Groups with one test, with words that lack a test, or without an answer."""
    counts = tests.counts
    expected = tests.cells.tests + tests.cells.missing
    some = sums_over_cells(tests.counted * 1.0, tests.group) > 0
    cautions: list[str] = []
    for place, group in enumerate(counts.groups):
        name, planned = group_name(group), counts.planned[place]
        if counts.unreadable[place]:
            replies = f"{int(counts.without_label[place].sum()):,}"
            cautions.append(
                about(
                    name,
                    f"no reply of {replies} has a label of the pair, so the rates are "
                    "undefined: neither neutral nor consistent words can be told.",
                )
            )
            continue
        cells = tests.group == place
        if unreadable := int(tests.cells.unreadable[cells].sum()):
            cautions.append(
                about(
                    name,
                    f"no reply has a label of the pair under {unreadable:,} of "
                    f"{int(cells.sum()):,} conditions; the rates leave them out.",
                )
            )
        lacking = int((planned & (counts.missing[place] > 0)).sum())
        if expected[cells].max(initial=0) == 1:
            cautions.append(
                about(
                    name,
                    "each word has one test under the same conditions, so that none can be "
                    "inconsistent: consistency is undefined, and optimism and pessimism are larger "
                    "than with two tests. Ask in several repetitions.",
                )
            )
        elif lacking:
            result = (
                "left out" if tests.rule == "listwise" else "counted on the tests that they have"
            )
            which = count_text(lacking, "word lacks", "words lack")
            cautions.append(about(name, f"{which} a test; such words are {result}."))
        if not some[place].any():
            cautions.append(about(name, "no word counts, so the rates are undefined."))
    return cautions


def _notes(counts: WordCounts, facts: WordFacts, unusable: NeutralRule) -> list[str]:
    """What neutral answers are, what the lists are ordered by, and whose texts are not known."""
    notes = []
    without = int(counts.without_label.sum())
    if without:
        result = "are neutral answers" if unusable == "neutral" else "are missing tests"
        which = count_text(without, "reply", "replies")
        notes.append(f"Replies without a label of the pair {result}: {which}.")
    outside = int(counts.without_stance.sum())
    if outside:
        which = count_text(outside, "answer")
        notes.append(f"Answers whose option states no stance are neutral: {which}.")
    n_words, unranked = len(facts.ranked), int((~facts.ranked).sum())
    if unranked == n_words:
        notes.append("No word has a rank; the place in the bank stands for it.")
    elif unranked:
        which = count_text(unranked, "word has", "words have")
        notes.append(f"{which} no rank and stand after the others, in the order of the bank.")
    spoken = dict.fromkeys(language for own in counts.languages for language in own)
    untold = facts.without_text(tuple(spoken))
    if untold:
        which = count_text(untold, "word has", "words have")
        notes.append(f"{which} no text in the bank; the code stands in its place.")
    return notes

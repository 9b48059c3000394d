"""Which opinions does a respondent hold, how firmly, and in which language?"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import Comparisons, comparison_table, difference_answers
from core.analysis.kit.matrices import distinct, result_table
from core.analysis.kit.opinion_values import (
    DRAWN,
    INITIAL,
    OPPOSING,
    LargestVariance,
    OpinionTable,
    PairRule,
    Pairs,
    Redraws,
    UnitAnswers,
    Unusable,
    UnusableRule,
    answer_counts,
    condition_values,
    count_notes,
    few_units_cautions,
    has_phase,
    interval_notes,
    means_of_units,
    of_phase,
    opinions_of,
    redrawn_over_conditions,
    redrawn_words,
    unanswered_cautions,
    unit_answers,
    with_drawn_ends,
)
from core.analysis.kit.option_counts import (
    CONDITIONS,
    Resample,
    ResampleUnit,
    means_over_cells,
    pooled_entities_cautions,
    sums_over_cells,
    unit_interval_help,
)
from core.analysis.kit.options import (
    Adjust,
    By,
    ConfidenceLevel,
    Reported,
    Seed,
    StatisticForm,
    reported_first,
)
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, option_result
from core.analysis.kit.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    first_column,
    interval_text,
    join_parts,
    rows_by_group,
    share_text,
    side_of_interval,
    table_of,
)
from core.charts.opinions import opinion_charts
from core.domain.factors import ENTITIES
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import (
    count,
    estimate,
    factor_columns,
    high_end,
    key,
    level_text,
    low_end,
    number,
    point_estimate,
    text,
)
from core.stats import stance
from core.stats.distributions import column_means, wilson_interval, wilson_intervals
from core.stats.groups import Adjustment
from core.stats.inputs import Booleans, Floats, Integers
from core.stats.resampling import (
    Bootstrap,
)
from core.stats.stance import PAIR_TYPES, Maximum, OpinionValues

_SOURCE = "Hirose & Uchida (2025), arXiv:2505.12183."
_B = f"Mean of yes = 1, no = −1, neither = 0, in the direction of the form; {_SOURCE}"
_W = (
    "1 − variance of the answers (n − 1) / largest variance: 1 is one answer always. Variances are "
    f"of repetitions under the same condition, such as a context, then averaged; {_SOURCE}"
)
_NEUTRAL = (
    "b near 0 and w high, as the options say: neither, again and again; of several contexts, "
    f"templates and so on, in most of them; {_SOURCE}"
)


def _redrawn(unit: ResampleUnit) -> str:
    return unit_interval_help(DRAWN[unit])


def _mean_columns(level: str, unit: ResampleUnit, reported: StatisticForm) -> tuple[Column, ...]:
    redrawn = _redrawn(unit)
    corrected = estimate(
        "w_corrected",
        "Mean w, corrected",
        "proportion",
        "1 − variance of the answers (n − 1), mean over questions: what w would be on average with "
        "very many answers. Ours.",
        redrawn,
        ends_title=f"w {level}",
        ends_name="w",
    )
    published = (
        point_estimate("w", "Mean w", "proportion", f"Mean over questions. {_W}"),
        number(
            "w_by_chance",
            "w by chance",
            "proportion",
            "Mean w of as many answers that are yes or no by an even coin: 1 / n.",
        ),
    )
    return (
        *estimate(
            "b",
            "Mean b",
            "correlation",
            f"Mean over questions. {_B}",
            redrawn,
            ends_title=f"b {level}",
            ends_name="b",
        ),
        *reported_first(reported, corrected, published),
    )


def _group_columns(level: str, unit: ResampleUnit, reported: StatisticForm) -> tuple[Column, ...]:
    redrawn = _redrawn(unit)
    return (
        count("questions", "Questions", "Questions with an answer."),
        text("answers_each", "Answers each", "Answers to a question, fewest to most."),
        count("usable", "Usable", "Answers with an option that states a stance."),
        count("no_option", "No option", "Replies without an option."),
        *_mean_columns(level, unit, reported),
        count("yes", "b above 0", "Questions with b above 0, by however little."),
        count("no", "b below 0", "Questions with b below 0, by however little."),
        count("even", "b of 0", "Questions with b of exactly 0."),
        count("strong_neutral", "Strong neutral", _NEUTRAL),
        number(
            "share_neutral", "Strong neutral share", "proportion", "Strong neutral / questions."
        ),
        low_end("share_low", f"Share {level} low", "proportion", redrawn),
        high_end("share_high", f"Share {level} high", "proportion", redrawn),
    )


def _question_columns(level: str) -> tuple[Column, ...]:
    interval = (
        "Over further answers of the same kind; of few answers it is wide. Bonett & Price (2012) "
        "doi:10.3102/1076998611411915; of merged pairs Zou & Donner (2008) doi:10.1002/sim.3095."
    )
    return (
        key("item", "Question"),
        text("item_exchanged", "Other way round", "The item that is merged with it."),
        key("genre", "Genre"),
        count("yes", "Yes", "Answers for it; of a merged pair, no to the other way round."),
        count("no", "No", "Answers against it; of a merged pair, yes to the other."),
        count("neither", "Neither", "Answers that count 0."),
        count("unusable", "No option", "Replies without an option."),
        count("n", "n", "Answers that count."),
        *estimate("b", "b", "correlation", _B, interval, ends_title=f"b {level}"),
        number("variance", "Variance", "points squared", "Of the answers; divisor n − 1."),
        number(
            "w",
            "w",
            "proportion",
            f"{_W} No interval: so few answers give none that holds its level.",
        ),
        text("strong_neutral", "Strong neutral", _NEUTRAL),
    )


def _genre_columns(level: str, unit: ResampleUnit, reported: StatisticForm) -> tuple[Column, ...]:
    return (
        key("genre", "Genre", "As the bank says."),
        count("questions", "Questions", "Questions with an answer."),
        *_mean_columns(level, unit, reported),
    )


_PAIR_COLUMNS = (
    key("item", "Question"),
    text("item_exchanged", "Other way round"),
    number("b_first", "b", "correlation", f"Of the question. {_B}"),
    number("b_second", "b, other", "correlation", f"Of the other way round. {_B}"),
    number("b", "b merged", "correlation", "Half the difference of both; our rule."),
    number("w", "w merged", "proportion", "From the mean variance of both; our rule."),
    text("type", "Type", "Consistent: opposite signs. Undecided: a b of exactly 0."),
    number("yes_tendency", "To yes", "correlation", "Mean of both b: above 0 yes to both ways."),
    text(
        "neutral_by",
        "Neutral by",
        "Of a merged b near 0: yes to both (acquiescence), no to both (negation), or b near 0 "
        "both ways.",
    ),
)


def _type_columns(level: str) -> tuple[Column, ...]:
    wilson = (
        "Wilson (1927) doi:10.1080/01621459.1927.10502953; pairs taken as independent, each with "
        "all its conditions."
    )
    return (
        text("type", "Type", "Consistent: opposite signs. Undecided: a b of exactly 0."),
        count("pairs", "Pairs", "Pairs with answers both ways; once for each condition."),
        *estimate(
            "share", "Share", "proportion", "Of the pairs of the group.", wilson, ends_title=level
        ),
        count("neutral", "Neutral merged", "Of them, with a merged b near 0."),
    )


def _agreement_columns(level: str) -> tuple[Column, ...]:
    wilson = "Wilson (1927) doi:10.1080/01621459.1927.10502953; questions taken as independent."
    return (
        key("first", "First"),
        key("second", "Second"),
        count("questions", "Questions", "Questions that both have."),
        count(
            "same",
            "Same sign",
            "Questions whose mean b over the other factors, such as languages, has the same sign; "
            f"0 is the same only as 0. {_SOURCE}",
        ),
        *estimate(
            "share", "Share", "proportion", "Same sign / questions.", wilson, ends_title=level
        ),
        count("zero_first", "0 in first", "Questions with a mean b of exactly 0."),
        count("zero_second", "0 in second", "Questions with a mean b of exactly 0."),
        count("zero_both", "0 in both", "Questions counted as the same for that reason."),
    )


_MEANS_ONLY = (
    "Comparisons are of mean b. Single questions may differ either way although means do not: see "
    "the page Languages for languages, and the table of questions for all."
)
_SIDES = {1: "Yes", -1: "No"}
_MOST_FIRM, _LONGEST_WORDING = 2, 70
_LEANING = {1: "leans to yes", -1: "leans to no", 0: "leans to neither side beyond chance"}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether groups differ, where the mean answer of each leans, and how firm answers are."""
    form = first_column(table_of(result, "groups"), "w_corrected", "w")

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        if not row["questions"]:
            if not row["no_option"]:
                return "No question has an answer, so there is no opinion."
            return f"No reply of {int(row['no_option']):,} has an option, so there is no opinion."
        w, low, high = row[form], row["b_low"], row["b_high"]
        ends = interval_text(row["w_low"], row["w_high"])
        leaning = (
            _LEANING[side_of_interval(low, high)]
            if math.isfinite(low)
            else "has no interval, so no side is named"
        )
        firm = (
            (
                f"willingness corrected for few answers is {coefficient_text(w)}{ends}"
                if form == "w_corrected"
                else f"willingness w = {coefficient_text(w)}"
            )
            if math.isfinite(w)
            else "willingness is undefined (one answer each)"
        )
        return (
            f"Over {count_text(int(row['questions']), 'question')}, the mean answer {leaning}: "
            f"b = {coefficient_text(row['b'])}{interval_text(low, high)} (b above 0 on "
            f"{int(row['yes'])}, below 0 on {int(row['no'])}, 0 on {int(row['even'])}); {firm}; "
            f"firmly neutral on {int(row['strong_neutral'])} (strong neutral)."
        )

    # Differences first: a page folds the later ones of many sentences.
    return (
        *difference_answers(result, "mean b (−1: all no, 1: all yes)"),
        *_both_ways_answer(result),
        *answers_of_groups(table_of(result, "groups"), sentence),
    )


def _both_ways_answer(result: AnalysisResult) -> GroupAnswers:
    """Whether questions that were asked both ways round get the same opinion."""

    def consistent(group: str, rows: Sequence[TableRow]) -> str:
        row = next(row for row in rows if row["type"] == "consistent")
        share = share_text(row["share"], row["ci_low"], row["ci_high"], 0)
        return f"{group} in {int(row['pairs'])} of {n_pairs(rows)} pairs ({share})"

    def n_pairs(rows: Sequence[TableRow]) -> int:
        return sum(int(row["pairs"]) for row in rows)

    groups = rows_by_group(table_of(result, "pair_types"))
    if not groups:
        return ()
    every = [row for rows in groups.values() for row in rows]
    yes, no = (
        sum(int(row["pairs"]) for row in every if row["type"] == f"both {side}")
        for side in ("yes", "no")
    )
    same = join_parts((consistent(*group) for group in groups.items()), "groups")
    rest = f" Yes to both ways: {yes} of {n_pairs(every)} pairs, no to both: {no}."
    lead = "Questions asked both ways round (A or B, B or A) get the same opinion from "
    return (GroupAnswer("Depends on the way round", lead + same + rest),)


def firmest_answers(result: AnalysisResult) -> GroupAnswers:
    """For each group, how many questions have a side, and those that are answered most firmly.

    A question has a side where the interval of its b leaves out 0.
    """

    def questions(rows: Sequence[TableRow], side: Literal[-1, 1]) -> str:
        of_side = [r for r in rows if side_of_interval(r["ci_low"], r["ci_high"]) == side]
        of_side.sort(key=lambda row: -side * row["b"])
        named = [
            f"“{_short(result.item_texts.get(str(row['item'])) or str(row['item']))}” "
            f"({coefficient_text(row['b'])})"
            for row in of_side[:_MOST_FIRM]
        ]
        listed = ", ".join(named) + (", and others" if len(of_side) > len(named) else "")
        return f"{_SIDES[side]} on {len(of_side)} of {len(rows)}" + (listed and f": {listed}")

    return tuple(
        GroupAnswer(group, f"{questions(rows, 1)}. {questions(rows, -1)}.")
        for group, rows in rows_by_group(table_of(result, "questions")).items()
    )


def _short(wording: str) -> str:
    """A wording that a sentence can hold."""
    return textwrap.shorten(wording, _LONGEST_WORDING, placeholder=" …")


@analysis(
    title="Opinions",
    question="Which opinions are held, how firmly, and in which language?",
    topic="opinions",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=opinion_charts,
    keeps=tuple(name for name in CONDITIONS[1:] if name != "format"),
    side_by_side=ENTITIES,
    references=(
        "Hirose, M. & Uchida, M. (2025). Decoding the mind of large language models: A "
        "quantitative evaluation of ideology and biases. arXiv:2505.12183",
        "Bonett, D. G. & Price, R. M. (2012). Adjusted Wald confidence interval for a difference "
        "of binomial proportions based on paired data. doi:10.3102/1076998611411915",
        "Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures. "
        "doi:10.1002/sim.3095",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
    ),
    keywords=(
        "ideology",
        "stance",
        "bias b",
        "willingness",
        "strong neutral",
        "yes or no",
        "yes/no",
        "binary choice",
        "split pairs",
        "acquiescence",
        "negation",
        "genre",
        "debate",
        "political opinion",
        "agreement of models",
        "same sign",
        "leaning",
    ),
    first_phase=True,
)
def opinions(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent", "language"),
    pairs: Pairs = "merged",
    maximum: LargestVariance = "theoretical",
    unusable: Unusable = "left_out",
    neutral_bias: Annotated[
        float,
        Number("Strong neutral: b at most", 0.0, 1.0, help="Size of b. Published: 0.2."),
    ] = 0.2,
    neutral_willingness: Annotated[
        float, Number("Strong neutral: w at least", 0.0, 1.0, help="Published: 0.8.")
    ] = 0.8,
    reported: Reported = "corrected",
    resample: Resample = "item",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Redraws = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Bias b and willingness w of every question, means of groups, pairs and agreement of models.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `phase` where there are two; the first alone counts, unless `by` names the phase.
    by : tuple of factors
        Groups to set side by side.
    pairs : "merged" or "single"
        Whether "is A better than B" and "is B better than A" are one question.
    maximum : "theoretical" or "questions"
        The variance at which w is 0: n / (n - 1), or the largest of the group's questions.
    unusable : "zero" or "left_out"
        Whether a reply without an option counts 0, as published, or not at all. A group in which
        no reply has an option has no opinion either way.
    neutral_bias, neutral_willingness : float
        Bounds of strong neutral, both included.
    resample : "item", "context" or "repetition"
        What intervals of means draw as a whole, and comparisons of groups pair.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals; resamples (0 for none) and their seed.
    adjust : "holm" or "benjamini-hochberg"
        Of p in the comparison of groups.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group: questions, answers each, usable answers and replies without an
        option, mean `b` and `w` with intervals, how many questions have b above, below and of 0,
        and how many are strong neutral.
        `questions`, a row per group and question; `genres`; `pairs` and `pair_types`, of questions
        asked both ways; `agreement`, a row per pair of respondents; `comparisons` of groups.

    Raises
    ------
    NotEnoughData
        There are no trials, the frame lacks a factor of `by`, or no option has a stance.

    Notes
    -----
    The unit is one trial within a question, and one question in means. b = mean of a, a = 1 for
    yes, -1 for no, in the direction of the form, else 0; w = 1 - Var(a) / maximum, Var with
    divisor n - 1. Failed calls and trials that were not asked count nothing. Intervals of means
    redraw questions, both directions of a pair together, unless the user chooses contexts or
    repetitions. Assumes that answers to one question are
    independent calls. Checked by hand, against var() of R, and by recovering known shares.
    """
    names = distinct(by)
    both_phases = has_phase(option_counts, INITIAL) and has_phase(option_counts, OPPOSING)
    alone = both_phases and "phase" not in names
    frame = of_phase(option_counts, INITIAL) if alone else option_counts
    counts = answer_counts(frame, names, unusable)
    single, merged = (opinions_of(counts, maximum, rule) for rule in ("single", "merged"))
    table = merged if pairs == "merged" else single
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    units = None if resample == "item" else unit_answers(frame, counts, resample, unusable)
    bounds = neutral_bias, neutral_willingness
    rules = _Rules(maximum, *bounds, resample, bootstrap, ci_level, pairs, unusable, reported)
    neutral = means_over_cells(_neutral(table.conditions, rules), counts.group)
    means = _means_of_questions(table, neutral, units, rules)
    questions = _questions_frame(table, neutral, ci_level)
    values = questions[[*names, "item", "b"]] if units is None else _unit_means(table, units, rules)
    compared = _comparisons(values, frame, names, rules, adjust, seed)
    few = few_units_cautions(counts, units.n_units, resample) if units and bootstrap else ()
    findings = Findings(
        [*unanswered_cautions(table), *few, *pooled_entities_cautions(frame, names)],
        [*count_notes(table, unusable), *([_FIRST_PHASE] if frame is not option_counts else [])],
    )
    findings.notes += [*interval_notes(table, bootstrap, resample), *compared.notes]
    findings.notes += [_MEANS_ONLY] if compared.tables else []
    return option_result(
        option_counts,
        (*_tables(questions, (single, merged), neutral, means, rules), *compared.tables),
        findings,
        unit="one trial: one question put once to a respondent",
        used=int(counts.chosen.sum()),
        method=_method(rules),
        counted=frame,
    )


_FIRST_PHASE = "Answers of the first phase alone count; see Giving way for the second."


def _comparisons(
    values: pd.DataFrame,
    answers: pd.DataFrame,
    names: Sequence[str],
    rules: _Rules,
    adjust: Adjustment,
    seed: int,
) -> Comparisons:
    """Mean b of groups in pairs; `values` has it for each question or other unit."""
    return comparison_table(
        values,
        names,
        units=(rules.unit,),
        value="b",
        title="Mean b",
        value_unit="correlation",
        unit_name="question" if rules.unit == "item" else rules.unit,
        adjust=adjust,
        ci_level=rules.level,
        seed=seed,
        tab="Models",
        answers=answers,
        values_of=partial(_compared_values, names=names, rules=rules),
    )


def _compared_values(answers: pd.DataFrame, *, names: Sequence[str], rules: _Rules) -> pd.DataFrame:
    """The mean b of each question or other unit of these answers, which groups are compared by."""
    counts = answer_counts(answers, names, rules.unusable)
    table = opinions_of(counts, rules.maximum, rules.pairs)
    if rules.unit == "item":
        return _questions_frame(table, np.zeros(table.values.bias.shape), rules.level)
    units = unit_answers(answers, counts, rules.unit, rules.unusable)
    return _unit_means(table, units, rules)


def _tables(
    questions: pd.DataFrame,
    pairs: tuple[OpinionTable, OpinionTable],
    neutral: Floats,
    means: _Means,
    rules: _Rules,
) -> tuple[ResultTable, ...]:
    """Means of groups, questions, genres, pairs (as two questions and as one), and agreement."""
    single, merged = pairs
    table = merged if rules.pairs == "merged" else single
    factors, level = factor_columns(table.counts.by), level_text(rules.level)
    return (
        result_table(
            "groups",
            "Opinions by group",
            _group_rows(table, neutral, means, rules.reported),
            (*factors, *_group_columns(level, rules.unit, rules.reported)),
            "Groups",
        ),
        ResultTable(
            "questions",
            "Opinions by question",
            questions,
            (*factors, *_question_columns(level)),
            "Questions",
        ),
        result_table(
            "genres",
            "Opinions by genre",
            _genre_rows(table, means, rules.reported),
            (*factors, *_genre_columns(level, rules.unit, rules.reported)),
            "Genres",
        ),
        result_table(
            "pair_types",
            "Questions asked both ways",
            _type_rows(single, merged, rules.level, rules.widest),
            (*factors, *_type_columns(level)),
            "Split pairs",
        ),
        result_table(
            "pairs",
            "Each pair",
            _pair_rows(single, merged, rules.widest),
            (*factors, *_PAIR_COLUMNS),
            "Split pairs",
        ),
        result_table(
            "agreement",
            "Agreement by sign",
            _agreement_rows(table, rules.level),
            _agreement_columns(level),
            "Models",
        ),
    )


@dataclass(frozen=True)
class _Rules:
    """How w is made, what is strong neutral, and how intervals are drawn; options."""

    maximum: Maximum
    widest: float
    lowest: float
    unit: ResampleUnit
    bootstrap: Bootstrap | None
    level: float
    pairs: PairRule
    unusable: UnusableRule
    reported: StatisticForm


def _method(rules: _Rules) -> str:
    """The formulas in words, with the choices made."""
    largest = (
        "n / (n − 1), the largest possible"
        if rules.maximum == "theoretical"
        else "the largest variance of the questions of the group, as published"
    )
    replies = "count 0, as published" if rules.unusable == "zero" else "are no opinion"
    resamples = rules.bootstrap.n_resamples if rules.bootstrap else 0
    return (
        "b is the mean of yes = 1, no = −1, neither = 0; w = 1 − variance (n − 1) / maximum, where "
        f"the maximum is {largest}. Replies without an option {replies}. Strong neutral: b within "
        f"{rules.widest:g} of 0 and w of {rules.lowest:g} or more. "
        f"{redrawn_words(rules.unit, rules.level, resamples)}"
    )


def _neutral(values: OpinionValues, rules: _Rules) -> Floats:
    """1 for strong neutral, else 0; NaN where w is undefined."""
    neutral = stance.strong_neutral(
        values.bias, values.willingness, widest=rules.widest, lowest=rules.lowest
    )
    return np.where(np.isfinite(values.willingness), neutral * 1.0, np.nan)


def _question_intervals(table: OpinionTable, level: float) -> tuple[Floats, Floats]:
    """The interval of b of each group and question, over further answers of the same kind.

    A mean over conditions has the interval of a sum of independent parts: Zou & Donner (2008).
    """
    one, other = (
        table.counts.condition_columns(columns)
        for columns in (table.first, np.maximum(table.second, 0))
    )
    paired, b = table.second >= 0, table.conditions.bias
    ends = []
    for single, both in zip(
        stance.bias_intervals(*one, level),
        stance.difference_intervals(one, other, level),
        strict=True,
    ):
        distance = np.where(np.isfinite(b), np.where(paired, both / 2, single) - b, 0.0)
        n = sums_over_cells(np.isfinite(b) * 1.0, table.counts.group)
        half = np.sqrt(sums_over_cells(distance**2, table.counts.group)) / np.where(
            n > 0, n, np.nan
        )
        ends.append(half)
    return table.values.bias - ends[0], table.values.bias + ends[1]


def _questions_frame(table: OpinionTable, neutral: Floats, level: float) -> pd.DataFrame:
    """One row for each group and question that it was asked."""
    counts, values, first, second = table.counts, table.values, table.first, table.second
    paired = second >= 0
    rows, columns = np.nonzero(table.planned)
    one = counts.of_columns(first)
    other = counts.of_columns(np.maximum(second, 0))
    low, high = _question_intervals(table, level)
    arrays = {
        "yes": one[0] + np.where(paired, other[1], 0),
        "no": one[1] + np.where(paired, other[0], 0),
        "neither": one[2] + np.where(paired, other[2], 0),
        "unusable": counts.unusable[:, first]
        + np.where(paired, counts.unusable[:, np.maximum(second, 0)], 0),
        "n": values.n,
        "b": values.bias,
        "ci_low": low,
        "ci_high": high,
        "variance": values.variance,
        "w": values.willingness,
        "strong_neutral": neutral > 0.5,
    }
    own = {
        name: [counts.groups[row][place] for row in rows.tolist()]
        for place, name in enumerate(counts.by)
    }
    texts = {"item": table.questions, "item_exchanged": table.exchanged, "genre": table.genres}
    whole = ("yes", "no", "neither", "unusable", "n")
    return pd.DataFrame(
        {
            **own,
            **{
                name: np.asarray(words, dtype=object)[columns] if words else []
                for name, words in texts.items()
            },
            **{
                name: array[rows, columns].astype(np.int64)
                if name in whole
                else array[rows, columns]
                for name, array in arrays.items()
            },
        }
    )


_Means = dict[tuple[str, str | None], stance.QuestionMeans]
"""Means over questions of "b", "w", "corrected" w and w by "chance", and "share" (strong neutral),
of all (None) and each genre."""


def _means_of_questions(
    table: OpinionTable, neutral: Floats, units: UnitAnswers | None, rules: _Rules
) -> _Means:
    """Means over questions with intervals from questions, or from the units that are given."""
    chance = 1 - 1 / table.values.most if rules.maximum == "theoretical" else np.nan
    values = {
        "b": table.values.bias,
        "w": table.values.willingness,
        "share": neutral,
        "corrected": 1 - table.values.variance,
        "chance": np.broadcast_to(chance, neutral.shape),
    }
    drawn = {} if units is None else _drawn_means(table, units, rules)
    means = {}
    for genre, inside in _sets_of_questions(table).items():
        numbers = np.unique(table.units[inside], return_inverse=True)[1]
        for kind, own in values.items():
            bootstrap = rules.bootstrap if units is None else None
            bounds = (0.0 if kind == "share" else -1.0, 1.0)
            of_kind = stance.question_means(own[:, inside], numbers, bootstrap, rules.level, bounds)
            if (kind, genre) in drawn and units is not None:
                of_kind = with_drawn_ends(
                    of_kind, drawn[kind, genre], units.n_units, rules.level, bounds
                )
            means[kind, genre] = of_kind
    return means


def _sets_of_questions(table: OpinionTable) -> dict[str | None, Booleans]:
    """All questions, and those of each genre where there is one."""
    genres = np.asarray(table.genres, dtype=object)
    names = dict.fromkeys(table.genres) if any(table.genres) else {}
    sets: dict[str | None, Booleans] = {None: np.ones(len(genres), dtype=np.bool_)}
    return sets | {name: np.asarray(genres == name, dtype=np.bool_) for name in names}


def _stacked(values: OpinionValues, rules: _Rules) -> Floats:
    """b, variance and strong neutral along the last axis."""
    return np.stack([values.bias, values.variance, _neutral(values, rules)], axis=-1)


def _of_answers(table: OpinionTable, rules: _Rules) -> Callable[[Floats], Floats]:
    """What `_stacked` is for other answers, (resamples, conditions, items, 3)."""

    def stacked(answers: Floats) -> Floats:
        yes, no, zero = (answers[..., side].reshape(-1, answers.shape[-2]) for side in range(3))
        values = condition_values((yes, no, zero), table.first, table.second, rules.maximum)
        return _stacked(values, rules).reshape(*answers.shape[:2], len(table.first), -1)

    return stacked


def _drawn_means(
    table: OpinionTable, units: UnitAnswers, rules: _Rules
) -> dict[tuple[str, str | None], Floats]:
    """The same means in every resample of contexts or repetitions, (resamples, groups)."""
    if rules.bootstrap is None:
        return {}
    observed, of_answers = _stacked(table.conditions, rules), _of_answers(table, rules)
    blocks: dict[tuple[str, str | None], list[Floats]] = {}
    for block in redrawn_over_conditions(
        units, table.counts.group, observed, of_answers, rules.bootstrap
    ):
        shape = block.shape[:2]
        b, variance, neutral = np.moveaxis(block, -1, 0).reshape(3, -1, block.shape[2])
        for kind, own in (("b", b), ("corrected", 1 - variance), ("share", neutral)):
            for genre, inside in _sets_of_questions(table).items():
                means = column_means(own[:, inside].T).reshape(shape)
                blocks.setdefault((kind, genre), []).append(means)
    return {key: np.concatenate(own) for key, own in blocks.items()}


def _unit_means(table: OpinionTable, units: UnitAnswers, rules: _Rules) -> pd.DataFrame:
    """One row for each group and unit with answers: its mean b over questions."""
    values = means_of_units(
        units, table.counts.group, _stacked(table.conditions, rules), _of_answers(table, rules)
    )
    means = column_means(values[..., 0].reshape(-1, values.shape[2]).T).reshape(values.shape[:2])
    unit, group = np.nonzero(np.isfinite(means))
    by = table.counts.by
    own = pd.DataFrame([table.counts.groups[place] for place in group], columns=list(by))
    return own.assign(**{rules.unit: [units.labels[place] for place in unit]}, b=means[unit, group])


def _mean_cells(means: stance.QuestionMeans, row: int) -> tuple[float, float, float]:
    """Mean and interval of one row."""
    return float(means.mean[row]), float(means.low[row]), float(means.high[row])


def _firm_cells(
    means: _Means, genre: str | None, row: int, reported: StatisticForm
) -> tuple[float, ...]:
    """W of one row: corrected with its interval, as published, and by chance."""
    published = [float(means[kind, genre].mean[row]) for kind in ("w", "chance")]
    return reported_first(reported, _mean_cells(means["corrected", genre], row), published)


def _group_rows(
    table: OpinionTable, neutral: Floats, means: _Means, reported: StatisticForm
) -> list[tuple[Any, ...]]:
    """One row for each group."""
    defined = np.isfinite(table.values.bias)
    sides = stance.signs(table.values.bias)
    rows: list[tuple[Any, ...]] = []
    for row, group in enumerate(table.counts.groups):
        n = table.counts.n[row][table.counts.n[row] > 0]
        each = f"{n.min():g}" + (f" to {n.max():g}" if n.min() < n.max() else "") if n.size else ""
        kinds = [int((sides[row] == side).sum()) for side in (1, -1, 0)]
        b, share = (_mean_cells(means[kind, None], row) for kind in ("b", "share"))
        rows.append(
            (
                *group,
                int(defined[row].sum()),
                each,
                int(table.counts.chosen[row].sum()),
                int(table.counts.unusable[row].sum()),
                *b,
                *_firm_cells(means, None, row, reported),
                *kinds,
                int((neutral[row] > 0.5).sum()),
                *share,
            )
        )
    return rows


def _genre_rows(
    table: OpinionTable, means: _Means, reported: StatisticForm
) -> list[tuple[Any, ...]]:
    """One row for each group and genre; none where no question has a genre."""
    genres = [genre for kind, genre in means if kind == "b" and genre is not None]
    return [
        (
            *group,
            genre or "(none)",
            int(means["b", genre].n[row]),
            *_mean_cells(means["b", genre], row),
            *_firm_cells(means, genre, row, reported),
        )
        for row, group in enumerate(table.counts.groups)
        for genre in genres
        if means["b", genre].n[row]
    ]


_NEUTRAL_WORDS = ("", "acquiescence", "negation", "b near 0 both ways")


def _neutral_by(first: Floats, second: Floats, merged: Floats, widest: float) -> Integers:
    """The place in `_NEUTRAL_WORDS` of each pair: why its merged b is near 0."""
    near = np.abs(merged) <= widest + stance.ROUNDING
    tendency = (first + second) / 2
    kinds = np.select(
        [~near, tendency > widest + stance.ROUNDING, tendency < -widest - stance.ROUNDING, near],
        [0, 1, 2, 3],
    )
    return np.asarray(kinds, dtype=np.int64)


def _pair_rows(single: OpinionTable, merged: OpinionTable, widest: float) -> list[tuple[Any, ...]]:
    """One row for each group and pair that was answered both ways."""
    paired = np.flatnonzero(merged.second >= 0)
    one, other = (single.values.bias[:, own[paired]] for own in (merged.first, merged.second))
    kinds = stance.pair_types(one, other)
    b, w = merged.values.bias[:, paired], merged.values.willingness[:, paired]
    reasons = _neutral_by(one, other, b, widest)
    questions, exchanged = merged.questions, merged.exchanged
    return [
        (
            *merged.counts.groups[row],
            questions[paired[column]],
            exchanged[paired[column]],
            *(float(array[row, column]) for array in (one, other, b, w)),
            PAIR_TYPES[kinds[row, column]],
            float(one[row, column] + other[row, column]) / 2,
            _NEUTRAL_WORDS[reasons[row, column]],
        )
        for row, column in np.argwhere(kinds >= 0).tolist()
    ]


def _type_rows(
    single: OpinionTable, merged: OpinionTable, level: float, widest: float
) -> list[tuple[Any, ...]]:
    """One row for each group with pairs, and type; a pair counts once for each condition."""
    paired = np.flatnonzero(merged.second >= 0)
    one, other = (single.conditions.bias[:, own[paired]] for own in (merged.first, merged.second))
    kinds = stance.pair_types(one, other)
    near = np.abs(merged.conditions.bias[:, paired]) <= widest + stance.ROUNDING
    rows = []
    for row, group in enumerate(merged.counts.groups):
        inside = merged.counts.group == row
        n = int((kinds[inside] >= 0).sum())
        n_pairs = int((kinds[inside] >= 0).any(axis=0).sum())
        for place, name in enumerate(PAIR_TYPES if n else ()):
            own = kinds[inside] == place
            count, share = int(own.sum()), own.sum() / n
            low, high = wilson_intervals(
                np.array([share * n_pairs]), np.array([n_pairs]), level=level
            )
            ends = float(low[0]), float(high[0])
            rows.append((*group, name, count, share, *ends, int((own & near[inside]).sum())))
    return rows


def _agreement_rows(table: OpinionTable, level: float) -> list[tuple[Any, ...]]:
    """One row for each pair of respondents, or of models; none where groups name neither."""
    by = table.counts.by
    factor = next((name for name in ("respondent", "model") if name in by), None)
    if factor is None:
        return []
    owner = [str(group[by.index(factor)]) for group in table.counts.groups]
    means = {
        name: column_means(table.values.bias[[own == name for own in owner]])
        for name in dict.fromkeys(owner)
    }
    rows = []
    for first, second in combinations(means, 2):
        found = stance.sign_agreement(means[first], means[second])
        ends = wilson_interval(found.same, found.n, level=level)
        zeros = (found.zero_first, found.zero_second, found.both_zero)
        rows.append((first, second, found.n, found.same, found.share, *ends, *zeros))
    return rows

"""Which of two entities wins, does the order of naming matter, and do pairs admit an order?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated

import pandas as pd

from core.analysis.bias.preference.counts import (
    EntityComparisons,
    prepare_comparisons,
    unanswered_items,
)
from core.analysis.bias.preference.tables import (
    ITEM_COLUMNS,
    MEAN_FORMAT,
    REPETITION_COLUMNS,
    TRIAD_COLUMNS,
    GroupEstimates,
    Row,
    fit_columns,
    group_estimates,
    item_rows,
    order_columns,
    order_rows,
    repetition_rows,
    share_columns,
    share_rows,
    strength_columns,
    strength_tables,
    transitivity_columns,
    transitivity_rows,
    triad_rows,
    winner_columns,
    winner_rows,
)
from core.analysis.kit.comparisons import Comparisons, comparison_table
from core.analysis.kit.matrices import distinct, result_table
from core.analysis.kit.option_counts import CONDITIONS, Midpoint, Resample
from core.analysis.kit.options import ADJUSTMENT_NAMES, Adjust, By, ConfidenceLevel
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    has_interval,
    join_parts,
    rows_by_group,
    share_text,
    side_of_interval,
    table_of,
)
from core.charts.preference import preference_charts
from core.domain.factors import ENTITIES, levels_word
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, ResultTable, with_tabs
from core.domain.tables import factor_columns
from core.progress import with_progress
from core.stats.groups import Adjustment
from core.stats.inputs import and_list, name_list
from core.stats.resampling import Bootstrap

Resamples = Annotated[
    int,
    Number("Bootstrap resamples", 100, 10_000, help="Of whole units, for the intervals."),
]
Seed = Annotated[
    int,
    Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples and coins."),
]
_TABS = {
    "shares": "Wins", "winners": "Wins", "order_effects": "Order of naming",
    "repetitions": "Order of naming", "items": "Items", "transitivity": "Transitivity",
    "triads": "Transitivity", "strengths": "Strengths", "fit": "Strengths",
}  # fmt: skip
_DEPENDENT = (
    "Standard errors, p of fit and Wald intervals of strengths take answers as independent. "
    "Answers to one item depend on each other: read the bootstrap intervals."
)
_EVEN = 0.5
_ONE_GROUP = "There is one group only, so no groups are compared."
_FIRST = (
    "Entities stand in the order of their mean share of wins over all groups, so the first of a "
    "pair is rather the one that wins."
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The share of wins of every pair, the order or the cycle, and what naming first does."""
    orders = rows_by_group(table_of(result, "transitivity"))
    naming = rows_by_group(table_of(result, "order_effects"))

    def sentence(rows: Sequence[TableRow], order: TableRow) -> str:
        text = join_parts(map(_pair_text, rows), "pairs")
        if order["transitive"] not in _ORDERS:
            return text
        told = all(_winner_side(row) > 0 for row in rows if math.isfinite(row["share"]))
        lead, after = ("The", "") if told else ("By the shares alone, the", _NOT_TOLD)
        return f"{text} {lead} {_ORDERS[order['transitive']].format(order['order'])}{after}."

    winners = rows_by_group(table_of(result, "winners"))
    return tuple(
        GroupAnswer(group, sentence(rows, orders[group][0]) + _naming_text(naming.get(group, ())))
        for group, rows in winners.items()
    )


def _naming_text(rows: Sequence[TableRow]) -> str:
    """Whether it matters which entity is named first, and where most; of each pair the first row.

    That is the mean of formats where there are several.
    """
    of_pairs: dict[tuple[str, str], TableRow] = {}
    for row in rows:
        of_pairs.setdefault((row["first"], row["second"]), row)
    tested = [row for row in of_pairs.values() if math.isfinite(row["p_adjusted"])]
    if not tested:
        return ""
    clear = [row for row in tested if row["p_adjusted"] < _SIGNIFICANT]
    if not clear:
        return " Which of two is named first makes no clear difference."
    most = max(clear, key=lambda row: abs(row["effect"]))
    named_first = percent_text(most["first_named"], 1)
    named_second = percent_text(1 - most["second_named"], 1)
    pair = f"{most['first']} and {most['second']}"
    return (
        f" Which is named first matters in {len(clear)} of {count_text(len(tested), 'pair')}, most "
        f"with {pair}: {most['first']} wins in {named_first} where it is named first, in "
        f"{named_second} where it is second."
    )


_SIGNIFICANT = 0.05
_ORDERS = {"yes": "order is {}", "no": "pairs admit no order: {}"}
"""What the pairs amount to, by whether they are transitive."""
_NOT_TOLD = ", which the intervals of some pairs do not carry"


def _winner_side(row: TableRow) -> int:
    """1 where the interval of the share of the entity ahead leaves .5 out, else 0."""
    return side_of_interval(row["ci_low"], row["ci_high"], _EVEN)


def _pair_text(row: TableRow) -> str:
    """Who wins over whom, and how often; no winner where the interval holds one half."""
    ahead, other = row["winner"], row["loser"]
    if not math.isfinite(row["share"]):
        return f"{ahead} against {other} is undefined (no answer takes a side)"
    share = share_text(row["share"], row["ci_low"], row["ci_high"])
    if _winner_side(row) > 0:
        return f"{ahead} wins over {other} in {share}"
    if not has_interval(row["ci_low"], row["ci_high"]):
        return f"{ahead} against {other} in {share} (no interval, so no winner is named)"
    return f"neither of {ahead} and {other} wins beyond chance ({ahead} in {share})"


@analysis(
    title="Preference",
    question="Which of two entities do answers prefer, and do the pairs admit an order?",
    topic="bias",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=preference_charts,
    references=(
        "Sánchez Salazar (2024), Brand perception of large language models, Universitat de "
        "Barcelona",
        "Bradley & Terry (1952) doi:10.2307/2334029",
        "Davidson & Beaver (1977) doi:10.2307/2529467",
        "Ford (1957) doi:10.2307/2308513",
        "Kendall & Babington Smith (1940) doi:10.1093/biomet/31.3-4.324",
        "Pitman (1937) doi:10.2307/2984124",
        "Efron (1979) doi:10.1214/aos/1176344552",
    ),
    keywords=(
        "preference",
        "pairs of brands",
        "brand against brand",
        "paired comparison",
        "pairwise",
        "Bradley-Terry",
        "transitivity",
        "transitive",
        "cycle",
        "circular triads",
        "winner",
        "order effect",
        "order of naming",
        "position bias",
        "ranking",
        "entities compared",
        "share of wins",
        "strength",
    ),
    keeps=(*CONDITIONS[1:], "repetition"),
    requires="pairs",
    in_reports=True,
)
def preference(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    midpoint: Midpoint = "bank",
    resample: Resample = "item",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Shares of wins of every pair of entities, the order of naming, transitivity and strengths.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `entity` (named first), `entity_b`, `format`, `repetition` and, where contexts are
        resampled, `context` kept apart. Stance 1 speaks for `entity`, -1 for `entity_b`; a form of
        direction -1 and a reverse-keyed item turn it.
    by : tuple of factors
        Groups to set side by side. The two entities make the pairs and are ignored here.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer in the middle counts as.
    resample : "item", "context" or "repetition"
        The units that intervals draw, and that the test of the order of naming moves.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the pairs of a group (over pairs and formats for formats), and over
        comparisons of groups.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    resamples, seed : int
        How many resamples; what draws them and the permutations, and throws coins.

    Returns
    -------
    AnalysisResult
        Proportions of wins of the first entity, unless said otherwise. `shares`, by pair and
        format: share with interval, n, missing. `winners`, by pair. `order_effects`, by pair and
        format: shares where each is named first, effect with interval and p. `repetitions` and
        `items`: shares of each. `transitivity`: the order or the cycle, circular triads, zeta.
        `triads`, by repetition, of single conditions. `strengths` and `fit`: Bradley-Terry models
        of all formats together and of each. `comparisons`: groups compared over items, where there
        are several.

    Raises
    ------
    NotEnoughData
        There are no trials, no trial compares two entities, or the frame lacks a factor of `by`.

    Notes
    -----
    The unit of analysis is a trial, an item put once with two entities; units of inference are
    whole items, contexts or repetitions. Trials without a usable answer, without a side, with one
    entity or with one entity twice count nothing, and are counted. A share is the mean of the two
    orders of naming; the mean of formats counts formats alike. The order of naming is tested by
    exchanging the orders of the units that intervals draw: within items or contexts, which were
    asked in both, and between repetitions, which were asked in one. So test and interval speak of
    the same thing. Gives table 4.7 of Sánchez Salazar (2024) from the author's answers, but for a
    misprint; Bradley-Terry agrees with R's glm (see docs/analyses).
    """
    names = [name for name in distinct(by) if name not in ENTITIES]
    compared = prepare_comparisons(option_counts, names, midpoint=midpoint, unit=resample)
    bootstrap = Bootstrap(resamples, seed)
    estimates = [
        group_estimates(group, resample, bootstrap, ci_level, adjust)
        for group in with_progress(compared.groups, "groups")
    ]
    tables = _tables(estimates, names, ci_level, resample)
    across = Comparisons((), (_ONE_GROUP,))

    def values_of(answers: pd.DataFrame) -> pd.DataFrame:
        groups = prepare_comparisons(answers, names, midpoint=midpoint, unit=resample).groups
        made = [group_estimates(group, resample, bootstrap, ci_level, adjust) for group in groups]
        rows = [row for own in made for row in item_rows(own)]
        columns = (*factor_columns(names), *ITEM_COLUMNS)
        return _item_values(result_table("items", "", rows, columns).frame)

    if len(compared.groups) > 1:
        values = _item_values(next(t for t in tables if t.name == "items").frame)
        across = _comparisons(values, names, option_counts, values_of, adjust, ci_level, seed)
    return AnalysisResult(
        tables=(*with_tabs(tables, _TABS), *across.tables),
        unit="one trial: one item put once to a respondent with two entities",
        n_used=compared.n_used,
        n_missing=compared.n_missing,
        method="Share of wins = answers for an entity / answers that take a side, the mean of both "
        f"orders of naming; {MEAN_FORMAT}: formats count alike. {ci_level * 100:g}% intervals by "
        f"{resamples:,} resamples of whole {resample}s; p of the order of naming by permuting "
        f"whole {resample}s, adjusted after {ADJUSTMENT_NAMES[adjust]}. Strengths by maximum "
        "likelihood of the Bradley-Terry model.",
        cautions=(*_cautions(compared, estimates),),
        notes=(
            *compared.notes,
            *across.notes,
            _FIRST,
            _DEPENDENT,
            *([_NO_RESULTS_OF_ENTITIES] if {*by} & {*ENTITIES} else []),
        ),
        n_left_out=compared.n_left_out,
    )


_NO_RESULTS_OF_ENTITIES = "Entities make the pairs, so they have no results of their own."


def _comparisons(
    values: pd.DataFrame,
    names: Sequence[str],
    option_counts: pd.DataFrame,
    values_of: Callable[[pd.DataFrame], pd.DataFrame],
    adjust: Adjustment,
    ci_level: float,
    seed: int,
) -> Comparisons:
    """Shares of wins of groups in pairs."""
    return comparison_table(
        values,
        (*names, "pair"),
        units=("pair", "item"),
        value="share",
        title="Share of wins",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=values_of,
    )


def _tables(
    estimates: Sequence[GroupEstimates], names: Sequence[str], level: float, unit: str
) -> tuple[ResultTable, ...]:
    """All tables but the comparison of groups."""
    lead = factor_columns(names)
    strengths: list[Row] = []
    fits: list[Row] = []
    for own in estimates:
        parts = strength_tables(own, unit)
        strengths += parts[0]
        fits += parts[1]

    def rows(make: object) -> list[Row]:
        return [row for own in estimates for row in make(own)]  # type: ignore[operator]

    return (
        result_table(
            "shares",
            "Share of wins by pair and format",
            rows(lambda own: share_rows(own, unit)),
            (*lead, *share_columns(level, unit)),
        ),
        result_table(
            "winners",
            "Winner of each pair",
            rows(winner_rows),
            (*lead, *winner_columns(level, unit)),
        ),
        result_table(
            "order_effects",
            "Effect of the order of naming",
            rows(lambda own: order_rows(own, unit)),
            (*lead, *order_columns(level, unit)),
        ),
        result_table(
            "repetitions",
            "Share of wins by repetition",
            rows(repetition_rows),
            (*lead, *REPETITION_COLUMNS),
        ),
        result_table("items", "Share of wins by item", rows(item_rows), (*lead, *ITEM_COLUMNS)),
        result_table(
            "transitivity",
            "Order of the entities",
            rows(transitivity_rows),
            (*lead, *transitivity_columns(level)),
        ),
        result_table(
            "triads", "Circular triads by repetition", rows(triad_rows), (*lead, *TRIAD_COLUMNS)
        ),
        result_table(
            "strengths",
            "Strengths (Bradley-Terry)",
            strengths,
            (*lead, *strength_columns(level, unit)),
        ),
        result_table(
            "fit",
            "Order of naming and fit (Bradley-Terry)",
            fits,
            (*lead, *fit_columns(level, unit)),
        ),
    )


def _item_values(items: pd.DataFrame) -> pd.DataFrame:
    """The table of items with the pair as one column."""
    return items.assign(pair=items["first"].astype(str) + " and " + items["second"].astype(str))


def _cautions(compared: EntityComparisons, estimates: Sequence[GroupEstimates]) -> list[str]:
    """What changes how to read the numbers of some group."""
    sentences: list[str] = []
    for own in estimates:
        counts = own.counts
        sentences += [text for text in (unanswered_items(counts),) if text]
        sentences += _pair_cautions(own)
        if own.resampled is None:
            sentences.append(f"{counts.name}: one unit is left to resample, so no interval.")
        if len(counts.entities) < 3:
            sentences.append(f"{counts.name}: transitivity needs three entities; there are two.")
    conditions = dict.fromkeys(name for own in estimates for name in own.counts.conditions)
    if conditions:
        together = and_list([levels_word(name) for name in conditions])
        sentences.append(
            f"Orders and strengths are of the answers of all {together} together: under a single "
            "one the order may be another, and strengths further apart. Take them into Separately "
            "for to see each."
        )
    return sentences


def _pair_cautions(own: GroupEstimates) -> list[str]:
    """Pairs without answers, and pairs asked in one order of naming only."""
    counts = own.counts
    asked = own.n.sum(axis=1) > 0
    none = [counts.pair_name(pair) for pair in range(len(asked)) if not asked[pair].any()]
    one = [counts.pair_name(pair) for pair in range(len(asked)) if asked[pair].sum() == 1]
    sentences = []
    if none:
        sentences.append(f"{counts.name}: no answer takes a side between {name_list(none)}.")
    if one:
        sentences.append(
            f"{counts.name}: {name_list(one)} asked in one order of naming only, so its effect is "
            "undefined and is part of the share."
        )
    return sentences

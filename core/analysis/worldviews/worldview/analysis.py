"""Which worldview do the reliable stances of a respondent add up to?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated

import pandas as pd

from core.analysis.kit.comparisons import Comparisons, comparison_table
from core.analysis.kit.matrices import group_name
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import BankTable, Number, analysis
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    interval_text,
    rows_by_group,
    share_text,
    side_of_interval,
    table_of,
)
from core.analysis.kit.statement_verdicts import (
    KEPT,
    TESTS,
    InvertedTemplates,
    LeastAnswers,
    SamplingResamples,
    StatementVerdicts,
    Ties,
    statement_verdicts,
)
from core.analysis.worldviews.worldview.statements import (
    COUNT_WORDS,
    BankFacts,
    Count,
    CountRule,
    Stances,
    bank_facts,
    stance_cautions,
    stances_of,
)
from core.analysis.worldviews.worldview.tables import (
    ALL_COUNTRIES,
    WorldviewSettings,
    domain_tables,
    domain_values,
    group_table,
    leaning_tables,
    party_pair_tables,
)
from core.charts.worldview import worldview_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult
from core.stats.groups import Adjustment
from core.stats.resampling import Bootstrap
from core.stats.statement_tests import SamplingRule

_MOST_NAMED = 2  # domains of a sentence at each end


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The leaning, the domains at both ends, and the share of agrees."""
    domains = rows_by_group(table_of(result, "domains"))
    sides = rows_by_group(table_of(result, "leaning"))

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        if not row["n"]:
            return "No statement counts, so there is no worldview."
        factors = table_of(result, "groups").with_role("group")
        group = group_name([row[name] for name in factors], factors)
        reliable = share_text(row["reliable"], row["reliable_low"], row["reliable_high"], 0)
        judged = (
            f" asked count, {percent_text(row['of_judged'])} of those that can be judged"
            if row["not_judged"]
            else " count"
        )
        parts = [
            f"{reliable} of {count_text(row['statements'], 'statement')}"
            f"{judged}, mean over {count_text(row['templates'], 'template')}"
        ]
        leaning = _leaning_words(sides.get(group, ()))
        parts += [leaning] if leaning else []
        parts += [_domain_words(domains.get(group, ()))] if domains.get(group) else []
        agrees = share_text(row["agrees"], row["agrees_low"], row["agrees_high"], 0)
        parts.append(f"agrees with {agrees} of those that count")
        return "; ".join(parts) + "."

    return answers_of_groups(table_of(result, "groups"), sentence)


def _leaning_words(rows: Sequence[TableRow]) -> str:
    """The share of statements with the stance of each side, over all countries."""
    own = [row for row in rows if row["country"] == ALL_COUNTRIES and math.isfinite(row["share"])]
    if not own:
        return ""
    shares = ", ".join(
        f"{row['leaning']} {share_text(row['share'], row['ci_low'], row['ci_high'], 0)}"
        for row in own
    )
    return f"same stance as parties: {shares}"


def _domain_words(rows: Sequence[TableRow]) -> str:
    """The domains at both ends with a side; those of too few statements are left out."""
    known = sorted(
        (row for row in rows if math.isfinite(row["stance"]) and not row["weak"]),
        key=lambda row: -row["stance"],
    )
    if not known:
        return "no domain has enough statements that count"

    def named(some: Sequence[TableRow]) -> str:
        return ", ".join(
            f"{str(row['domain']).replace('_', ' ')} {coefficient_text(row['stance'])}"
            f"{interval_text(row['ci_low'], row['ci_high'])}"
            for row in some
        )

    if not any(math.isfinite(row["ci_low"]) for row in known):
        return "domains have no intervals, so no side is named"

    def on_side(side: int) -> list[TableRow]:
        ordered = known[::side]
        return [row for row in ordered if side_of_interval(row["ci_low"], row["ci_high"]) == side][
            :_MOST_NAMED
        ]

    above, below = on_side(1), on_side(-1)
    parts = [f"for {named(above)}"] if above else []
    parts += [f"against {named(below)}"] if below else []
    return ", ".join(parts) or "neither for nor against any domain beyond chance"


_LeastReliable = Annotated[
    int,
    Number(
        "Mark domains below",
        0,
        1000,
        help="Domains with fewer statements that count, on average over templates, are marked. "
        "Published: 6.",
    ),
]
_StatementDraws = Annotated[
    int,
    Number(
        "Bootstrap resamples",
        0,
        10_000,
        help="Of whole statements, for the intervals; 0 for none.",
    ),
]


@analysis(
    title="Political worldview",
    question="Which worldview do the reliable stances add up to, and which parties share it?",
    topic="worldview",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=worldview_charts,
    keeps=KEPT,
    references=(
        "Ceron, T., Falk, N., Barić, A., Nikolaev, D. & Padó, S. (2024). Beyond prompt "
        "brittleness: Evaluating the reliability and consistency of political worldviews in LLMs. "
        "doi:10.1162/tacl_a_00710",
        "Efron (1979) doi:10.1214/aos/1176344552",
        "Efron & Stein (1981) doi:10.1214/aos/1176345462",
    ),
    keywords=(
        "political",
        "worldview",
        "policy domain",
        "spider chart",
        "radar",
        "leaning",
        "left",
        "centre",
        "center",
        "right",
        "party",
        "parties",
        "voting advice",
        "VAA",
        "acquiescence",
        "share of agrees",
        "country",
        "stance",
        "ideology",
        "reliable statements",
        "ProbVAA",
    ),
    requires="domains",
    in_reports=True,
)
def worldview(
    option_counts: pd.DataFrame,
    *,
    loadings: Annotated[pd.DataFrame, BankTable("loadings")],
    positions: Annotated[pd.DataFrame, BankTable("positions")],
    items: Annotated[pd.DataFrame, BankTable("items")],
    by: By = ("respondent", "language"),
    count: Count = "five",
    least_reliable: _LeastReliable = 6,
    ties: Ties = "fails",
    least: LeastAnswers = 10,
    inverted: InvertedTemplates = "own_test",
    sampling_resamples: SamplingResamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    resamples: _StatementDraws = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Stance on domains, agreement with parties and share of agrees, from reliable stances only.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `form`, `template` and `label_order` where answers vary in them.
    loadings, positions, items : tables of banks
        What agreement says of domains, what parties answered, and the countries of statements.
    by : tuple of factors
        Groups to set side by side; templates are the replications within each.
    count : "five", "six" or "all"
        Which statements count: reliable within the template, across templates too, or all.
    least_reliable : int
        Domains with fewer statements that count, on average over templates, are marked.
    ties, least, inverted, sampling_resamples : as in `statement_verdicts`
        Choices of the tests of reliability.

    Returns
    -------
    AnalysisResult
        `domains` and `templates`, stance of each group on each domain, over templates and in each;
        `leaning`, share of statements with the stance of the parties of each side, by country and
        overall, beside the share of reliable statements; `parties`, the same for each party;
        `party_pairs` and `leaning_pairs`, the parties against each other; `groups`, share of
        statements that count and of agrees; `comparisons` of groups on each domain.

    Raises
    ------
    NotEnoughData
        There are no trials, a factor of `by` is not there, no option has a stance, or no answer is
        to the original wording of a statement.

    Notes
    -----
    The unit is one statement in one template, whose trials are counted. Stance on a domain: (agrees
    − disagrees) / statements that count, in the direction of the loading. Same stance as a party:
    statements that count on which stance and position are equal / statements asked of its country
    on which it has a position; of a leaning, the mean over its parties, each normalised by the
    statements of its country. A party is left out of a template in which none of its statements
    counts, as the source leaves countries without a reliable statement out of left, centre and
    right. Every number is computed in each template; mean and SD (n − 1) are over the templates
    that have it. Intervals resample statements, the same draw for all groups. A
    statement that was asked and does not count, for whatever reason, stays in the denominator of
    shares of statements. A position that is not known is left out, not taken for a disagreement;
    the source does not say.
    Source: Ceron et al. (2024). Checked by hand, against a plain program of loops on random
    studies, and (Spearman) against R.
    """
    sampling = SamplingRule(sampling_resamples, seed)
    verdicts_of = partial(
        statement_verdicts, by=by, ties=ties, least=least, inverted=inverted, sampling=sampling
    )

    def values_of(answers: pd.DataFrame) -> pd.DataFrame:
        own = stances_of(verdicts_of(answers), count)
        return domain_values(own, bank_facts(own.items, loadings, positions, items))

    verdicts = verdicts_of(option_counts)
    stances = stances_of(verdicts, count)
    bank = bank_facts(stances.items, loadings, positions, items)
    settings = WorldviewSettings(
        Bootstrap(resamples, seed) if resamples else None, ci_level, least_reliable
    )
    domains, templates = domain_tables(stances, bank, settings)
    leaning, parties = leaning_tables(stances, bank, settings)
    of_groups = group_table(stances, settings)
    between, pair_notes = party_pair_tables(positions, ci_level)
    values = domain_values(stances, bank)
    compared = _comparisons(values, stances.by, (adjust, ci_level, seed), option_counts, values_of)
    return AnalysisResult(
        tables=(domains, leaning, parties, *between, of_groups, templates, *compared.tables),
        unit="one statement in one template",
        n_used=verdicts.n_used,
        n_missing=verdicts.n_missing,
        n_left_out=verdicts.n_left_out,
        method=_method(count, verdicts, least, settings),
        cautions=(*stance_cautions(stances, count), *bank.cautions),
        notes=(*_notes(stances, bank, count, verdicts.missing_tests), *pair_notes, *compared.notes),
    )


def _comparisons(
    values: pd.DataFrame,
    by: Sequence[str],
    rules: tuple[Adjustment, float, int],
    answers: pd.DataFrame,
    values_of: Callable[[pd.DataFrame], pd.DataFrame],
) -> Comparisons:
    """Stances of groups on each domain in pairs; `rules` adjust p, and draw intervals."""
    adjust, ci_level, seed = rules
    return comparison_table(
        values,
        (*by, "domain"),
        units=("domain", "item"),
        value="value",
        title="Stance",
        value_unit="correlation",
        unit_name="statement",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=answers,
        values_of=values_of,
    )


def _method(
    count: CountRule, verdicts: StatementVerdicts, least: int, settings: WorldviewSettings
) -> str:
    """The formulas in words, with the choices made."""
    tests = verdicts.tests if count == "six" else verdicts.tests_within
    named = "" if count == "all" else f" Tests: {', '.join(TESTS[t].lower() for t in tests)}."
    redrawn = (
        f"Intervals ({settings.ci_level * 100:g}%) redraw whole statements "
        f"{settings.bootstrap.n_resamples:,} times."
        if settings.bootstrap
        else "There are no intervals, because no resamples are asked for."
    )
    return (
        f"Statements count {COUNT_WORDS[count]}.{named} A stance needs {least} clear answers. "
        "Stance on a domain: (agrees − disagrees) / statements that count, in the direction of the "
        "domain. Same stance as parties: of the statements of the country, also of those that do "
        "not count; a country without a statement that counts is left out. Mean and SD over "
        f"templates (n − 1). {redrawn}"
    )


def _notes(
    stances: Stances, bank: BankFacts, count: CountRule, missing: Mapping[str, str]
) -> list[str]:
    """Tests that do not apply, what neutral positions do, and the order of axes."""
    notes = []
    left = {test: why for test, why in missing.items() if test != "templates" or count == "six"}
    if left and count != "all":
        named = "; ".join(f"{TESTS[test].lower()} ({why})" for test, why in left.items())
        notes.append(f"Not among the tests: {named}.")
    if bank.domains:
        n = int((bank.loadings != 0).any(axis=1).sum())
        notes.append(
            f"{n:,} of {count_text(len(stances.items), 'statement')} load on at least one of "
            f"{count_text(len(bank.domains), 'domain')}. The order of domains, and so the shape of "
            "a spider, is arbitrary."
        )
    if bank.parties:
        notes.append(
            "Parties of a leaning are pooled by their mean, each normalized by the statements of "
            "its country. A neutral position equals no stance. A statement without a known "
            "position of a party is left out for that party."
        )
    if bank.parties and not bank.countries:
        notes.append("No party has a country, so the leaning is overall only.")
    return notes

"""On which statements does a respondent have a stance that does not depend on how one asks?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import group_name, result_table
from core.analysis.kit.option_counts import cell_codes, unit_interval_help
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import BankTable, Choice, Number, analysis
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    share_text,
    table_of,
)
from core.analysis.kit.statement_verdicts import (
    ACROSS,
    CONDITION,
    KEPT,
    PLACE,
    TESTS,
    WITHIN,
    InvertedTemplates,
    LeastAnswers,
    SamplingResamples,
    StatementVerdicts,
    Ties,
    statement_verdicts,
)
from core.charts.statement_tests import stance_reliability_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import count, estimate, factor_columns, key, level_text, number, text
from core.stats.inputs import Floats, Integers
from core.stats.resampling import Bootstrap
from core.stats.statement_tests import SamplingRule, template_means
from core.stats.worldview import TemplateMeans

_SOURCE = "Ceron et al. (2024) doi:10.1162/tacl_a_00710."
_REDRAWN = unit_interval_help("statements")
_RANDOM = (
    "What as many random answers would give: each clear answer is positive with a chance of one "
    "half. Exact, by the binomial distribution."
)
_EACH = (
    "A template counts once for each context, language and so on under which it was asked: answers "
    "are repeated under the same condition alone."
)
_ALL_TITLES = {WITHIN: "All within a template", ACROSS: "All and templates"}
_TEST_HELP = {
    "sampling": ".45 and .55 lie outside the bootstrap interval of the share of positive answers.",
    "paraphrase": "The same stance on the original and all its paraphrases.",
    "negation": "The opposite stance on the negation.",
    "opposite": "The opposite stance on the opposite.",
    "inverted": "The same stance with the labels in inverted order.",
    "templates": "The same stance in all templates.",
}

Reliable = Annotated[
    Literal["within", "across"],
    Choice(
        "A statement is reliable in a template if it passes",
        (
            ("within", "All tests within the template (published: five)"),
            ("across", "These, and the test across templates (all six)"),
        ),
        help="The published share of all tests leaves the test across templates out, because a "
        "template alone cannot fail it. Both shares are printed; this one is compared between "
        "groups, domains and statements.",
    ),
]
StatementResamples = Annotated[
    int,
    Number(
        "Bootstrap resamples of statements",
        0,
        10_000,
        help="Of whole statements, for the intervals of shares; 0 for none.",
    ),
]


_SD = (
    "Of the shares of templates (n − 1). Of several contexts, temperatures and so on, the mean of "
    "the SDs within each."
)


def _share_columns(level: str, of: str) -> tuple[Column, ...]:
    return (
        *estimate(
            "share",
            "Share",
            "proportion",
            f"{of} Mean of the shares of templates. {_SOURCE}",
            _REDRAWN,
            ends_title=level,
            between=(number("sd", "SD", "proportion", _SD),),
        ),
        number("random", "Random answers", "proportion", _RANDOM),
        count("templates", "Templates", f"Templates with a share. {_EACH}"),
        count("n", "Verdicts", "Statements in templates that could be judged."),
        count("statements", "Statements", "Statements judged in any template."),
        count("not_judged", "Not judged", "Statements in templates without a verdict."),
    )


def _group_columns(level: str) -> tuple[Column, ...]:
    of = "Reliable statements / statements that could be judged."
    return (
        *_share_columns(level, of),
        count("asked", "Asked", "Statements asked in their original wording."),
        number(
            "of_asked",
            "Share of asked",
            "proportion",
            "Reliable / all statements asked, also "
            "those that cannot be judged; mean over templates. The share that counts in Political "
            f"worldview. {_SOURCE}",
        ),
        count(
            "everywhere",
            "Reliable in all",
            "Statements that are reliable in each of their templates.",
        ),
        number("across", "All and templates", "proportion", "Share that passes these tests too."),
        text("weakest", "Weakest test", "The test within a template that fewest pass."),
        number("weakest_share", "Weakest share", "proportion", "That passes the weakest test."),
        text("tests", "Tests", "The tests within a template that apply to these answers."),
    )


_PART_HELP = {
    "domain": "As the bank's loadings say; a statement may belong to several.",
    "genre": "As the bank says.",
}


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many statements are reliable, and which test fails most."""

    def sentence(rows: Sequence[TableRow]) -> str:
        row = rows[0]
        if not row["n"]:
            return "No statement could be judged by all tests; see the notes for the reasons."
        share = share_text(row["share"], row["ci_low"], row["ci_high"], 0)
        templates = int(row["templates"])
        several = f"; mean of {templates} templates, SD {coefficient_text(row['sd'])}"
        which = count_text(int(row["statements"]), "statement")
        every = ""
        if row["not_judged"]:
            which = f"{which} that can be judged"
            every = f", {percent_text(row['of_asked'])} of all {int(row['asked']):,} asked"
        text = (
            f"{share} of {which} are reliable ({row['tests']}"
            f"{several if templates > 1 else ''}){every}; random answers "
            f"{percent_text(row['random'])}"
        )
        if row["weakest"]:
            weakest = f"{row['weakest'].lower()} {percent_text(row['weakest_share'])}"
            text += f"; lowest share of one test: {weakest}"
        return f"{text}."

    return answers_of_groups(table_of(result, "groups"), sentence)


@analysis(
    title="Reliability of stances",
    question="On which statements does the stance not depend on how one asks?",
    topic="worldview",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=stance_reliability_charts,
    keeps=KEPT,
    compares=(*PLACE, "format"),  # a template in another format is another way of asking
    references=(
        "Ceron, T., Falk, N., Barić, A., Nikolaev, D. & Padó, S. (2024). Beyond prompt "
        "brittleness: Evaluating the reliability and consistency of political worldviews in LLMs. "
        "doi:10.1162/tacl_a_00710",
        "Efron (1979) doi:10.1214/aos/1176344552",
    ),
    keywords=(
        "reliable statements",
        "sampling test",
        "paraphrase",
        "negation",
        "opposite",
        "label inversion",
        "inverted labels",
        "prompt templates",
        "prompt brittleness",
        "robustness",
        "random baseline",
        "political worldview",
        "bootstrap of answers",
    ),
    requires="forms",
    in_reports=True,
)
def stance_reliability(
    option_counts: pd.DataFrame,
    *,
    loadings: Annotated[pd.DataFrame | None, BankTable("loadings")] = None,
    by: By = ("respondent",),
    reliable: Reliable = "within",
    ties: Ties = "fails",
    least: LeastAnswers = 10,
    inverted: InvertedTemplates = "own_test",
    sampling_resamples: SamplingResamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    resamples: StatementResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Shares of statements that pass each test of reliability, and the statements that do not.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `form`, `template` and `label_order`, where answers vary in them.
    loadings : LOADINGS frame, optional
        The domains of statements.
    by : tuple of factors
        Groups to set side by side; what the tests compare makes no groups.
    reliable : "within" or "across"
        The tests of which shares by domain, comparisons and the order of statements are made.
    ties, least, inverted : "fails", int, "own_test"
        As `statement_verdicts`.
    sampling_resamples : int
        Resamples of the answers for the test of sampling, at 95 %; 0 for the exact interval.

    Returns
    -------
    AnalysisResult
        `groups`, a row per group; `tests`, a row per group and test, with the two verdicts of all
        tests; `templates`, the same for each template; `statements`, a row per group and statement,
        the most fragile first; `domains` and `genres`; `verdicts`, a row per group, statement and
        template; `comparisons` of groups.

    Raises
    ------
    NotEnoughData
        There are no trials, a factor of `by` is not there, no option has a stance, or no answer is
        to the original wording of a statement.

    Notes
    -----
    The unit is one statement in one template, under one condition such as a context: only
    repetitions are answers to the same question. Shares are of the statements that can be judged,
    in each template and condition; then their mean and SD over these. Intervals redraw statements,
    which are taken as independent. See `statement_verdicts` for the tests and the rule for few
    answers. Checked by hand, against a plain program of loops, and on simulated respondents with
    known faults.
    """
    rule = SamplingRule(sampling_resamples, seed)
    found = statement_verdicts(
        option_counts, by, ties=ties, least=least, inverted=inverted, sampling=rule, baseline=True
    )
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    chosen = ACROSS if reliable == "across" else WITHIN
    shares = list(_group_shares(found, bootstrap, ci_level))
    statements = _statement_frame(found, chosen)

    def values_of(answers: pd.DataFrame) -> pd.DataFrame:
        own = statement_verdicts(
            answers, by, ties=ties, least=least, inverted=inverted, sampling=rule, baseline=True
        )
        return _statement_frame(own, chosen)

    compared = comparison_table(
        statements[[*found.by, "item", "share"]],
        found.by,
        units=("item",),
        value="share",
        title="Share reliable",
        unit_name="statement",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=values_of,
    )
    parts = _part_tables(found, option_counts, loadings, chosen, bootstrap, ci_level)
    return AnalysisResult(
        tables=(*_tables(found, shares, statements, parts, chosen, ci_level), *compared.tables),
        unit="one statement in one template",
        n_used=found.n_used,
        n_missing=found.n_missing,
        n_left_out=found.n_left_out,
        method=_method(found, rule, ties, least, inverted, ci_level, resamples),
        cautions=tuple(_cautions(found)),
        notes=(*_notes(found), *compared.notes),
    )


def _tables(
    found: StatementVerdicts,
    shares: Sequence[_GroupShares],
    statements: pd.DataFrame,
    parts: Iterable[ResultTable],
    chosen: str,
    ci_level: float,
) -> tuple[ResultTable, ...]:
    """Shares of groups, of tests and templates; statements; `parts` of them; every verdict."""
    factors, level = factor_columns(found.by), level_text(ci_level)
    tests_help = " ".join(f"{TESTS[test]}: {words}" for test, words in _TEST_HELP.items())
    verdict_columns = (*factors, *_verdict_columns(found))
    return (
        result_table(
            "groups",
            "Reliable statements by group",
            _group_rows(found, shares, chosen),
            (*factors, *_group_columns(level)),
            "Tests",
        ),
        result_table(
            "tests",
            "Statements that pass each test",
            _test_rows(found, shares),
            (
                *factors,
                key("test", "Test", tests_help),
                *_share_columns(level, "Statements that pass / that could be judged."),
            ),
            "Tests",
        ),
        result_table(
            "templates",
            "Shares of each template",
            _template_rows(found),
            (*factors, *_template_columns(found)),
            "Templates",
        ),
        ResultTable(
            "statements",
            "Statements, the most fragile first",
            statements,
            (*factors, *_statement_columns(found)),
            "Statements",
        ),
        *parts,
        ResultTable(
            "verdicts",
            "Every verdict",
            found.frame[[column.name for column in verdict_columns]],
            verdict_columns,
            "Statements",
        ),
    )


def _test_names(found: StatementVerdicts) -> dict[str, str]:
    """The tests that apply and the verdicts of all tests, with their titles."""
    names = {test: TESTS[test] for test in found.tests}
    names[WITHIN] = _ALL_TITLES[WITHIN]
    if "templates" in found.tests:
        names[ACROSS] = _ALL_TITLES[ACROSS]
    return names


def _groups(found: StatementVerdicts) -> Iterator[tuple[tuple[Any, ...], np.ndarray]]:
    """The values of the factors of each group, and its rows in the frame."""
    code, labels = cell_codes(found.frame, found.by)
    values = list(labels.itertuples(index=False, name=None)) if found.by else [()]
    for place, group in enumerate(values):
        yield group, np.flatnonzero(code == place)


def _cube(frame: pd.DataFrame, names: Sequence[str]) -> Floats:
    """(statements, templates, names) verdicts of the rows of one group."""
    item, items = cell_codes(frame, ("item",))
    template, templates = cell_codes(frame, ("template",))
    cube = np.full((len(items), len(templates), len(names)), np.nan)
    cube[item, template] = frame[list(names)].to_numpy(dtype=np.float64)
    return cube


def _conditions(frame: pd.DataFrame) -> Integers:
    """(templates,) the condition of each template, in the order of `_cube`."""
    template, templates = cell_codes(frame, ("template",))
    conditions = np.zeros(len(templates), dtype=np.int64)
    conditions[template] = frame[CONDITION].to_numpy(dtype=np.int64)
    return conditions


def _of_all_asked(frame: pd.DataFrame, name: str) -> Floats:
    """(statements, templates, 1) verdicts where a statement that cannot be judged does not pass.

    A template in which nothing can be judged has none: its share would be 0 for want of answers.
    """
    judged = frame[name].notna().groupby(frame["template"]).transform("any")
    return _cube(frame.assign(**{name: frame[name].fillna(0.0).where(judged)}), [name])


_GroupShares = tuple[tuple[Any, ...], TemplateMeans, Floats, Floats]
"""Group, means of each test and verdict, shares of random answers, verdicts not judged."""


def _group_shares(
    found: StatementVerdicts, bootstrap: Bootstrap | None, level: float
) -> Iterator[_GroupShares]:
    names = list(_test_names(found))
    for group, rows in _groups(found):
        own = found.frame.iloc[rows]
        means = template_means(_cube(own, names), bootstrap, level, _conditions(own))
        means = _of_statements(means, names)
        template, _ = cell_codes(own, ("template",))
        random = np.array(
            [
                _random_share(template, *(part[rows] for part in found.chances[name]))
                for name in names
            ]
        )
        missing = own[names].isna().sum().to_numpy(dtype=np.float64)
        yield group, means, random, missing


def _of_statements(means: TemplateMeans, names: Sequence[str]) -> TemplateMeans:
    """The means without an SD of the test across templates, which is one number for all."""
    if "templates" in names:
        means.sd[list(names).index("templates")] = np.nan
    return means


def _random_share(template: np.ndarray, passing: Floats, judged: Floats) -> float:
    """The mean over templates of the share that random answers pass of what they are judged by."""
    size = int(template.max(initial=-1)) + 1
    passed, known = (np.bincount(template, own, size) for own in (passing, judged))
    some = known > 0
    return float((passed[some] / known[some]).mean()) if some.any() else float("nan")


def _share_cells(means: TemplateMeans, place: int, random: Floats, missing: Floats) -> list[Any]:
    return [
        *(float(own[place]) for own in (means.mean, means.sd, means.low, means.high, random)),
        *(int(own[place]) for own in (means.n_templates, means.n, means.n_statements, missing)),
    ]


def _group_rows(
    found: StatementVerdicts, shares: Sequence[_GroupShares], chosen: str
) -> Iterator[tuple[Any, ...]]:
    """One row for each group."""
    names = list(_test_names(found))
    place = names.index(chosen) if chosen in names else -1
    within = [names.index(test) for test in found.tests_within]
    tests = ", ".join(TESTS[test].lower() for test in found.tests_within)
    for (group, means, random, missing), (_, rows) in zip(shares, _groups(found), strict=True):
        verdict = found.frame[chosen].to_numpy()[rows]
        item = cell_codes(found.frame.iloc[rows], ("item",))[0]
        cells, passed = np.bincount(item), np.bincount(item, verdict == 1)
        own = means.mean[within]
        weakest = within[int(np.nanargmin(own))] if np.isfinite(own).any() else -1
        across = float(means.mean[names.index(ACROSS)]) if ACROSS in names else float("nan")
        cells_of_group = (
            _share_cells(means, place, random, missing)
            if place >= 0
            else [*[float("nan")] * 5, 0, 0, 0, len(rows)]
        )
        of_asked = float(template_means(_of_all_asked(found.frame.iloc[rows], chosen)).mean[0])
        yield (
            *group,
            *cells_of_group,
            len(cells),
            of_asked,
            int((passed == cells).sum()),
            across,
            TESTS[found.tests_within[within.index(weakest)]] if weakest >= 0 else "",
            float(means.mean[weakest]) if weakest >= 0 else float("nan"),
            tests,
        )


def _test_rows(
    found: StatementVerdicts, shares: Sequence[_GroupShares]
) -> Iterator[tuple[Any, ...]]:
    """One row for each group and test, and for each verdict of all tests."""
    titles = list(_test_names(found).values())
    for group, means, random, missing in shares:
        for place, title in enumerate(titles):
            yield (*group, title, *_share_cells(means, place, random, missing))


def _template_columns(found: StatementVerdicts) -> tuple[Column, ...]:
    names = _test_names(found)
    return (
        key("template", "Template"),
        count("statements", "Statements"),
        text("answers", "Clear answers", "To the original, of a statement: fewest to most."),
        number(
            "positive", "Positive", "proportion", "Statements with a positive stance / a stance."
        ),
        *(
            number(name, title, "proportion", f"Share that passes. {_TEST_HELP.get(name, '')}")
            for name, title in names.items()
            if name != "templates"
        ),
    )


def _template_rows(found: StatementVerdicts) -> Iterator[tuple[Any, ...]]:
    """One row for each group and template."""
    names = [name for name in _test_names(found) if name != "templates"]
    for group, rows in _groups(found):
        for template, own in found.frame.iloc[rows].groupby("template", sort=True):
            least, most = int(own["n"].min()), int(own["n"].max())
            known = own["stance"].abs() == 1
            positive = float((own.loc[known, "stance"] == 1).mean()) if known.any() else np.nan
            each = f"{least}" + (f" to {most}" if most > least else "")
            shares = own[names].mean().tolist()
            yield (*group, template, len(own), each, positive, *shares)


def _statement_columns(found: StatementVerdicts) -> tuple[Column, ...]:
    shown = "Share of templates in which the statement passes."
    return (
        key("item", "Statement"),
        number("share", "Reliable", "proportion", "Share of templates in which it is reliable."),
        count("templates", "Judged in", "Templates in which it can be judged."),
        text("stances", "Stances", "Templates with a positive, a negative, no stance."),
        count("n", "Clear answers", "To the original wording, over templates."),
        *(
            number(f"passed_{test}", TESTS[test], "proportion", f"{shown} {_TEST_HELP[test]}")
            for test in found.tests
        ),
        text("failed", "Fails", "Tests that it fails in any template."),
        text("not_judged", "Not judged", "Tests without a verdict, and why; first reason."),
    )


def _statement_frame(found: StatementVerdicts, chosen: str) -> pd.DataFrame:
    """One row for each group and statement, in each group the most fragile first."""
    frame, names = found.frame, (*found.by, "item")
    code, labels = cell_codes(frame, names)
    group = cell_codes(labels, found.by)[0]
    size = len(labels)

    def mean_of(values: Floats) -> Floats:
        known = np.isfinite(values)
        n = np.bincount(code, known, size)
        total = np.bincount(code, np.where(known, values, 0.0), size)
        return np.asarray(total / np.where(n > 0, n, np.nan))

    stance = frame["stance"].to_numpy()
    counts = [
        np.bincount(code, own, size).astype(int)
        for own in (stance == 1, stance == -1, ~(np.abs(stance) == 1))
    ]
    verdict = frame[chosen].to_numpy(dtype=np.float64)
    tests = {f"passed_{t}": mean_of(frame[t].to_numpy(dtype=np.float64)) for t in found.tests}
    failing = np.stack([np.nan_to_num(own, nan=1.0) < 1 for own in tests.values()], axis=1)
    titles = [TESTS[test].lower() for test in found.tests]
    reasons = frame["not_judged"].to_numpy()
    with_reason = np.flatnonzero(reasons != "")[::-1]
    first = dict(zip(code[with_reason].tolist(), reasons[with_reason].tolist(), strict=True))
    result = labels.assign(
        share=mean_of(verdict),
        templates=np.bincount(code, np.isfinite(verdict), size).astype(int),
        stances=[
            f"{p} positive, {n} negative" + (f", {o} none" if o else "")
            for p, n, o in zip(*(own.tolist() for own in counts), strict=True)
        ],
        n=np.bincount(code, frame["n"], size).astype(int),
        **tests,
        failed=[", ".join(t for t, own in zip(titles, row, strict=True) if own) for row in failing],
        not_judged=[first.get(number, "") for number in range(size)],
    )
    passed = np.nansum(np.stack(list(tests.values()), axis=1), axis=1)
    order = np.lexsort((passed, np.nan_to_num(result["share"].to_numpy(), nan=2.0), group))
    return result.iloc[order].reset_index(drop=True)


def _part_tables(
    found: StatementVerdicts,
    option_counts: pd.DataFrame,
    loadings: pd.DataFrame | None,
    chosen: str,
    bootstrap: Bootstrap | None,
    level: float,
) -> Iterator[ResultTable]:
    """Shares by domain and by genre, where the bank says something."""
    members: dict[str, dict[str, set[str]]] = {"domain": {}, "genre": {}}
    if loadings is not None:
        known = loadings[loadings["loading"] != 0]
        for domain, rows in known.groupby("domain", sort=False):
            members["domain"][str(domain)] = set(rows["item"].astype(str))
    genres = option_counts.drop_duplicates("item")[["item", "genre"]].astype(object).fillna("")
    for genre, rows in genres.groupby("genre", sort=False):
        if genre:
            members["genre"][str(genre)] = set(rows["item"].astype(str))
    columns = _share_columns(f"{level * 100:g}% CI", "Reliable statements / judged.")
    columns = tuple(column for column in columns if column.name != "random")
    for kind, parts in members.items():
        if parts:
            yield result_table(
                f"{kind}s",
                f"Reliable statements by {kind}",
                _part_rows(found, parts, chosen, bootstrap, level),
                (
                    *factor_columns(found.by),
                    text(kind, kind.capitalize(), _PART_HELP[kind]),
                    *columns,
                ),
                "Domains",
            )


def _part_rows(
    found: StatementVerdicts,
    parts: Mapping[str, set[str]],
    chosen: str,
    bootstrap: Bootstrap | None,
    level: float,
) -> Iterator[tuple[Any, ...]]:
    """One row for each group and part that it has statements of."""
    for group, rows in _groups(found):
        own = found.frame.iloc[rows]
        items = own["item"].astype(str)
        for part, members in parts.items():
            inside = own[items.isin(members)]
            if len(inside):
                means = template_means(
                    _cube(inside, [chosen]), bootstrap, level, _conditions(inside)
                )
                missing = float(inside[chosen].isna().sum())
                cells = _share_cells(means, 0, np.array([np.nan]), np.array([missing]))
                yield (*group, part, *cells[:4], *cells[5:])


def _verdict_columns(found: StatementVerdicts) -> tuple[Column, ...]:
    verdict = "1 passes, 0 fails, empty: cannot be judged."
    interval = "Bootstrap interval of the share; Efron (1979)."
    return (
        key("item", "Statement"),
        key("template", "Template"),
        count("stance", "Stance", "1 positive, −1 negative, 0 tie, empty: too few."),
        count("trials", "Asked", "Trials of the original wording."),
        count("n", "Clear answers", "To the original wording."),
        *estimate(
            "share",
            "Share positive",
            "proportion",
            "Positive / clear answers.",
            interval,
            ends_title="95%",
            ends_name="",
        ),
        *(count(test, TESTS[test], f"{_TEST_HELP[test]} {verdict}") for test in found.tests),
        count(WITHIN, _ALL_TITLES[WITHIN], f"All tests within a template. {verdict}"),
        count(ACROSS, _ALL_TITLES[ACROSS], f"These, and across templates. {verdict}"),
        text("failed", "Fails", "The tests that it fails."),
        text("not_judged", "Not judged", "Tests without a verdict, and why."),
    )


def _method(
    found: StatementVerdicts,
    rule: SamplingRule,
    ties: str,
    least: int,
    inverted: str,
    level: float,
    resamples: int,
) -> str:
    """The tests in words, with the choices made."""
    interval = (
        f"a bootstrap of {rule.resamples:,} resamples of its answers (seed {rule.seed})"
        if rule.resamples
        else "the exact percentiles of resampled answers"
    )
    tie = {
        "fails": "are no stance, and tests that need one fail",
        "not_judged": "are not judged",
        "negative": "are a negative stance",
    }[ties]
    orders = (
        "serve the test of inverted labels only"
        if inverted == "own_test"
        else "count as templates of their own"
    )
    redrawn = (
        f"Intervals of shares ({level * 100:g}%) redraw whole statements {resamples:,} times."
        if resamples
        else "Shares have no intervals, because no resamples are asked for."
    )
    tests = "; ".join(
        f"{TESTS[test].lower()}: {_TEST_HELP[test].rstrip('.')}" for test in found.tests
    )
    return (
        f"Tests: {tests}. The interval of the sampling test has 95% and is {interval}. The stance "
        f"is the majority of clear answers, as chosen; as many positive as negative answers {tie}. "
        f"A test needs {count_text(least, 'clear answer')} to each wording and "
        f"order. Templates with inverted labels {orders}. Shares are means over templates, of the "
        f"statements that can be judged. Random answers: exact, by the binomial distribution. "
        f"{redrawn}"
    )


def _cautions(found: StatementVerdicts) -> Iterator[str]:
    """Tests that cannot be judged on any statement of a group, and statements without a verdict."""
    for group, rows in _groups(found):
        own = found.frame.iloc[rows]
        unknown = own[list(found.tests)].isna()
        nowhere = [TESTS[test].lower() for test in found.tests if unknown[test].all()]
        reasons = own.loc[own["not_judged"] != "", "not_judged"]
        if nowhere:
            yield (
                about(
                    group_name(group),
                    f"no statement can be judged by {', '.join(nowhere)}. The "
                    f"first reason: {reasons.iloc[0]}.",
                )
            )
        elif len(reasons):
            where = "statement in one template" if len(reasons) == 1 else "statements in templates"
            yield (
                about(
                    group_name(group),
                    f"{len(reasons):,} {where} cannot be judged by every test and "
                    f"are left out of these; the table Every verdict says why.",
                )
            )


def _notes(found: StatementVerdicts) -> Iterator[str]:
    """The tests that do not apply, and how few templates there are."""
    for test, reason in found.missing_tests.items():
        yield f"The test {TESTS[test].lower()} is undefined: {reason}."
    if found.other_wordings:
        which = count_text(found.other_wordings, "trial")
        yield f"Left out, because no test compares their wording: {which}."

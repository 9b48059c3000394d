"""How far do stances agree between wordings of a statement, and between templates?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import group_name, result_table
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Seed
from core.analysis.kit.registry import Choice, Number, analysis
from core.analysis.kit.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    interval_text,
    rows_by_group,
    table_of,
)
from core.analysis.kit.statement_verdicts import (
    CONDITION,
    KEPT,
    PLACE,
    StatementAnswers,
    statement_answers,
)
from core.charts.statement_tests import form_agreement_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about, undefined_note
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import (
    count,
    estimate,
    factor_columns,
    key,
    level_text,
    number,
    remark,
    text,
)
from core.errors import NotEnoughData
from core.stats.agreement import FormKappas, form_kappas, krippendorff_alpha
from core.stats.inputs import Estimate, Floats, Integers, mean_of_defined, name_list
from core.stats.resampling import Bootstrap
from core.stats.statement_tests import majority_stances

_KAPPA = (
    "Cohen's kappa of the stances as chosen: 1 the same always, −1 the opposite, 0 chance; Cohen "
    "(1960) doi:10.1177/001316446002000104."
)
_REDRAWN = "Wilson (1927) from -1 to 1, with t and the standard error over redrawn statements."
_EXPECTED = {1.0: "near 1", -1.0: "near −1"}
_KINDS = (
    ("paraphrase", "Paraphrases"),
    ("negation", "Negation"),
    ("opposite", "Opposite"),
)
ALL_GROUPS = "all groups"

Paraphrases = Annotated[
    Literal["pooled", "each"],
    Choice(
        "Several wordings of a kind",
        (("pooled", "Are pooled: one kappa for all paraphrases"), ("each", "Have a kappa each")),
    ),
]
Least = Annotated[
    int,
    Number(
        "Clear answers that a stance needs",
        1,
        1000,
        help="To a wording in a template. People answer once. With as many positive as negative "
        "answers there is no stance, and the pair is left out.",
    ),
]
StatementResamples = Annotated[
    int,
    Number(
        "Bootstrap resamples of statements",
        0,
        10_000,
        help="Of whole statements, for the intervals; 0 for none.",
    ),
]


@dataclass(frozen=True, eq=False)
class _Wording:
    """Another wording of one group: its stances beside the original's, and what is expected."""

    title: str
    others: Floats  # (statements, templates, wordings)
    expected: float  # 1 or -1


@dataclass(frozen=True, eq=False)
class _Group:
    """Stances of one group: (statements, templates) on the original, and on other wordings.

    A template under several conditions, such as contexts, is one for each; `conditions`
    (templates,) are their numbers.
    """

    name: tuple[Any, ...]
    items: list[str]
    templates: list[str]
    conditions: Integers
    original: Floats
    wordings: list[_Wording]
    n_ties: int

    @property
    def by_condition(self) -> list[Floats]:
        """The stances on the original under each condition, (statements, its templates) each."""
        return [self.original[:, self.conditions == one] for one in np.unique(self.conditions)]

    @property
    def n_templates(self) -> int:
        """How many templates there are at most under one condition."""
        return int(np.bincount(self.conditions).max())


_SD = (
    "Of the kappas of templates (n − 1). Of several contexts, temperatures and so on, the mean of "
    "the SDs within each."
)


def _kappa_columns(level: str) -> tuple[Column, ...]:
    return (
        key("wording", "Original with"),
        text("expected", "Expected", "Of stances that do not depend on the wording."),
        *estimate(
            "kappa",
            "Mean kappa",
            "correlation",
            f"Mean over templates. {_KAPPA}",
            _REDRAWN,
            ends_title=level,
            between=(number("sd", "SD", "correlation", _SD),),
        ),
        count(
            "templates",
            "Templates",
            "Templates with a kappa; each once for every context, language and so on.",
        ),
        count("n", "Pairs", "Pairs of stances, over templates and wordings."),
        count("statements", "Statements", "Statements with a pair."),
        number("agreement", "As expected", "proportion", "Pairs with the expected stance / pairs."),
    )


def _template_kappa_columns(level: str) -> tuple[Column, ...]:
    return (
        key("wording", "Original with"),
        key("template", "Template"),
        *estimate("kappa", "Kappa", "correlation", _KAPPA, _REDRAWN, ends_title=level),
        count("n", "Pairs", "Pairs of stances."),
    )


def _alpha_columns(level: str) -> tuple[Column, ...]:
    return (
        *estimate(
            "alpha",
            "Alpha",
            "correlation",
            "Krippendorff's alpha (nominal) of the templates on the original statements: 1 agree, "
            "0 chance; mean over contexts, languages and so on, within which templates are "
            "compared. Krippendorff (2019), Content Analysis, chapter 12.",
            "Wilson (1927), with t and the standard error over redrawn statements.",
            ends_title=level,
        ),
        count("templates", "Templates", "Under one condition, such as a context."),
        text("compared", "Compared", "What is counted as templates."),
        count("conditions", "Conditions", "Contexts, languages and so on, each by itself."),
        count("n", "Statements", "Statements with a stance in two templates or more."),
        count(
            "same",
            "One stance in all",
            "Statements with the same stance in all; under each condition.",
        ),
        count("complete", "Stance in all", "Statements with a stance in all templates."),
        count("statements", "Asked", "Statements asked."),
        remark("Why alpha is undefined."),
    )


_OVER_COLUMNS = (
    key("wording", "Original with"),
    number("kappa", "Mean kappa", "correlation", f"Mean over groups of their kappas. {_KAPPA}"),
    number("sd", "SD", "correlation", "Of the kappas of groups (n − 1)."),
    number("lowest", "Lowest", "correlation"),
    number("highest", "Highest", "correlation"),
    count("n_groups", "Groups", "Groups with a kappa, such as people or models."),
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether stances of each group stay, its kappas and alpha, and the mean of all groups."""
    answers = []
    alphas = {group: rows[0] for group, rows in rows_by_group(table_of(result, "alpha")).items()}
    kappas = rows_by_group(table_of(result, "kappas"))
    for group in dict.fromkeys((*kappas, *alphas)):
        alpha = alphas.get(group)
        parts = (
            [_shares_text(kappas[group]), _kappas_text(kappas[group], alpha)]
            if group in kappas
            else []
        )
        if alpha and alpha["templates"] > 1:
            parts.append(
                f"alpha across {int(alpha['templates'])} {alpha['compared']} "
                f"{coefficient_text(alpha['alpha'])}"
                f"{interval_text(alpha['ci_low'], alpha['ci_high'])}, {int(alpha['same'])} of "
                f"{count_text(int(alpha['statements']), 'statement')} have the same stance in all "
                f"of these {alpha['compared']}"
                + (
                    f" in every one of {asked} conditions"
                    if (asked := int(alpha["conditions"])) > 1
                    else ""
                )
                + (
                    f"; {undecided} have no clear one in some of them"
                    if (undecided := int(alpha["statements"]) - int(alpha["complete"]))
                    else ""
                )
            )
        if parts:
            text = "; ".join(parts)
            answers.append(GroupAnswer(group, f"{text[0].upper()}{text[1:]}."))
    over = table_of(result, "over_groups").frame.to_dict("records")
    if over and over[0]["n_groups"] > 1:
        parts = [
            f"{row['wording'].lower()} {coefficient_text(row['kappa'], 3)} "
            f"(SD {coefficient_text(row['sd'], 3)})"
            for row in over
        ]
        n = count_text(int(over[0]["n_groups"]), "group")
        sentence = f"Mean kappa of {n} with the original: {', '.join(parts)}."
        answers.append(GroupAnswer(ALL_GROUPS, sentence))
    return tuple(answers)


def _shares_text(rows: Sequence[TableRow]) -> str:
    """How many stances are as the original lets one expect, by wording."""
    known = [row for row in rows if math.isfinite(row["agreement"])]
    if not known:
        return "no stance can be compared with that of the original"
    if all(row["agreement"] == 1 for row in known):
        wordings = name_list([row["wording"].lower() for row in known])
        return f"no stance changes with the wording ({wordings})"
    shares = [f"{percent_text(row['agreement'])} ({row['wording'].lower()})" for row in known]
    return (
        "some stances change with the wording: under another one they are as expected in "
        f"{', '.join(shares)}"
    )


def _kappas_text(rows: Sequence[TableRow], alpha: TableRow | None) -> str:
    """The kappas of the wordings of a group, and what they are means over."""
    parts = [
        f"{row['wording'].lower()} {coefficient_text(row['kappa'])}"
        f"{interval_text(row['ci_low'], row['ci_high'])}"
        for row in rows
    ]
    n_kappas = int(max(row["templates"] for row in rows))
    several = alpha is not None and n_kappas > alpha["templates"]
    of = f"{n_kappas} of templates under their conditions" if several else f"{n_kappas} templates"
    mean = f" (mean of {of})" if n_kappas > 1 else ""
    return f"kappa with the original{mean}: {', '.join(parts)}{_expected_text(rows)}"


def _expected_text(rows: Sequence[TableRow]) -> str:
    """Which kappas ought to be near -1: those of wordings that turn the statement round."""
    turned = [row["wording"].lower() for row in rows if row["expected"] == _EXPECTED[-1.0]]
    return f" (of {' and '.join(turned)} it ought to be near −1)" if turned else ""


@analysis(
    title="Agreement of wordings",
    question="How far do stances agree between wordings of a statement, and between templates?",
    topic="worldview",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=form_agreement_charts,
    keeps=KEPT,
    compares=(*PLACE, "format"),  # a template in another format is another way of asking
    references=(
        "Ceron, T., Falk, N., Barić, A., Nikolaev, D. & Padó, S. (2024). Beyond prompt "
        "brittleness: Evaluating the reliability and consistency of political worldviews in LLMs. "
        "doi:10.1162/tacl_a_00710",
        "Cohen (1960) doi:10.1177/001316446002000104",
        "Krippendorff, K. (2019). Content analysis (4th ed.), chapter 12",
    ),
    keywords=(
        "Cohen's kappa",
        "Krippendorff's alpha",
        "paraphrase",
        "negation",
        "opposite",
        "agreement of forms",
        "agreement of templates",
        "prompt templates",
        "human baseline",
        "same stance in all templates",
        "political worldview",
    ),
    requires="forms",
    in_reports=True,
)
def form_agreement(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    paraphrases: Paraphrases = "pooled",
    least: Least = 1,
    ci_level: ConfidenceLevel = 0.95,
    resamples: StatementResamples = 1000,
    seed: Seed = 0,
    adjust: Adjust = "holm",
) -> AnalysisResult:
    """Kappa of the original with each other wording, and agreement of templates.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `form`, `template` and `label_order`, where answers vary in them.
    by : tuple of factors
        Groups to set side by side, such as models or people; what is compared makes no groups.
    paraphrases : "pooled" or "each"
        Whether all wordings of a kind have one kappa.
    least : int
        Clear answers that a stance needs.

    Returns
    -------
    AnalysisResult
        `over_groups`, mean and SD over groups, such as people; `kappas`, a row per group and
        wording; `template_kappas`, the same by template; `alpha`, a row per group, of templates;
        `statements`, the share of stances as expected; `comparisons` of groups by this share.

    Raises
    ------
    NotEnoughData
        There are no trials, no option has a stance, or statements have one wording and template.

    Notes
    -----
    The unit is a pair of stances (majorities of clear answers, as chosen) on one statement in one
    template, under one condition such as a context; ties and few answers are left out. Kappa is of
    each template and condition, then averaged. The kappa of a negation is strongly negative where
    stances turn as they should. Alpha is of templates with labels as given, under each condition,
    then averaged. Intervals redraw statements, which are taken as independent. Checked against
    scikit-learn, the krippendorff package, R's irr, and the published kappas of six people.
    """
    answers = statement_answers(option_counts, by)
    groups = list(_groups(answers, least, pooled=paraphrases == "pooled"))
    if not any(own.n_templates > 1 for own in groups) and not any(own.wordings for own in groups):
        raise NotEnoughData(
            "Statements have one wording, one order of labels and one template.",
            "Ask another form, such as a negation, or with another template.",
        )
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    kappas = [
        [
            form_kappas(own.original, each.others, bootstrap, ci_level, own.conditions)
            for each in own.wordings
        ]
        for own in groups
    ]
    alphas = [_alpha(own, Bootstrap(resamples or 1, seed), ci_level) for own in groups]
    with_formats = "format" not in answers.by and len(option_counts["format"].unique()) > 1
    asked_in = "pairs of template and format" if with_formats else "templates"
    of_templates = list(_alpha_rows(groups, alphas, asked_in, bootstrap is not None))
    statements = _statement_frame(groups, answers.by)
    compared = comparison_table(
        statements[[*answers.by, "item", "agreement"]],
        answers.by,
        units=("item",),
        value="agreement",
        title="Stances as expected",
        unit_name="statement",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=lambda own: _statement_frame(
            list(_groups(statement_answers(own, by), least, pooled=paraphrases == "pooled")),
            answers.by,
        ),
    )
    used = int(answers.n.sum())
    return AnalysisResult(
        tables=(
            *_tables(groups, kappas, of_templates, statements, answers.by, ci_level),
            *compared.tables,
        ),
        unit="one pair of stances on a statement in a template",
        n_used=used,
        n_missing=answers.n_planned - answers.n_usable,
        n_left_out=answers.n_usable - used,
        method=_method(paraphrases, least, ci_level, resamples),
        cautions=tuple(_cautions(groups, kappas)),
        notes=(*_notes(groups), *compared.notes),
    )


def _tables(
    groups: Sequence[_Group],
    kappas: Sequence[Sequence[FormKappas]],
    of_templates: Sequence[tuple[Any, ...]],
    statements: pd.DataFrame,
    by: Sequence[str],
    ci_level: float,
) -> tuple[ResultTable, ...]:
    """Kappas of wordings, in groups and over them; agreement of templates; statements."""
    factors, level = factor_columns(by), level_text(ci_level)
    rows = list(_kappa_rows(groups, kappas))
    return (
        result_table(
            "kappas",
            "Agreement with the original",
            rows,
            (*factors, *_kappa_columns(level)),
            "Wordings",
        ),
        result_table(
            "over_groups",
            "Mean and SD over groups",
            _over_rows(rows, len(factors)),
            _OVER_COLUMNS,
            "Wordings",
        ),
        result_table(
            "alpha",
            "Agreement of templates",
            of_templates,
            (*factors, *_alpha_columns(level)),
            "Templates",
        ),
        result_table(
            "template_kappas",
            "Agreement with the original, by template",
            _template_rows(groups, kappas),
            (*factors, *_template_kappa_columns(level)),
            "Templates",
        ),
        ResultTable(
            "statements",
            "Statements, the least agreement first",
            statements,
            (*factors, *_STATEMENT_COLUMNS),
            "Statements",
        ),
    )


def _groups(answers: StatementAnswers, least: int, *, pooled: bool) -> Iterator[_Group]:
    """The stances of each group as arrays of statements and templates."""
    stances = majority_stances(answers.positive, answers.n, ties="not_judged", least=least)
    tied = (answers.n >= max(least, 1)) & np.isnan(stances)
    code, labels = cell_codes(answers.labels, answers.by)
    names = list(labels.itertuples(index=False, name=None)) if answers.by else [()]
    kinds = list(_kinds(answers, pooled=pooled))
    for group_code, name in enumerate(names):
        lines = np.flatnonzero(code == group_code)
        own = answers.labels.iloc[lines]
        item, items = cell_codes(own, ("item",))
        template, templates = cell_codes(own, ("template", CONDITION))
        cube = np.full((len(items), len(templates), 2, len(answers.forms)), np.nan)
        cube[item, template] = stances[lines]
        asked = answers.trials[lines].sum(axis=0) > 0
        wordings = [
            _Wording(title, cube[:, :, 0, places], sign)
            for title, places, sign in kinds
            if asked[0, places].any()
        ]
        if asked[1, 0]:
            wordings.append(_Wording("Inverted labels", cube[:, :, 1, :1], 1.0))
        yield _Group(
            name,
            list(map(str, items["item"])),
            list(map(str, templates["template"])),
            templates[CONDITION].to_numpy(dtype=np.int64),
            cube[:, :, 0, 0],
            wordings,
            int(tied[lines].sum()),
        )


def _kinds(answers: StatementAnswers, *, pooled: bool) -> Iterator[tuple[str, np.ndarray, float]]:
    """Title, places among the forms and expected side of every wording to compare."""
    for kind, title in _KINDS:
        places = answers.of_kind(kind)
        if not places.size:
            continue
        if pooled:
            yield title, places, float(np.sign(answers.signs[:, places].sum()) or 1.0)
            continue
        for place in places.tolist():
            name = answers.forms[place].replace("_", " ").capitalize()
            sign = float(np.sign(answers.signs[:, place].sum()) or 1.0)
            yield name, np.array([place]), sign


def _as_expected(group: _Group, wording: _Wording) -> Floats:
    """(statements, templates, wordings) 1 where the stance is the expected one; NaN without."""
    original = group.original[:, :, None]
    known = np.isfinite(original) & np.isfinite(wording.others)
    return np.where(known, (wording.others * wording.expected == original) * 1.0, np.nan)


def _kappa_rows(
    groups: Sequence[_Group], kappas: Sequence[Sequence[FormKappas]]
) -> Iterator[tuple[Any, ...]]:
    """One row for each group and wording."""
    for group, own in zip(groups, kappas, strict=True):
        for wording, found in zip(group.wordings, own, strict=True):
            expected = _as_expected(group, wording)
            known = np.isfinite(expected)
            share = float(expected[known].mean()) if known.any() else math.nan
            yield (
                *group.name,
                wording.title,
                _EXPECTED[wording.expected],
                found.mean,
                found.sd,
                found.mean_low,
                found.mean_high,
                found.n_templates,
                int(found.n.sum()),
                int(known.any(axis=(1, 2)).sum()),
                share,
            )


def _over_rows(rows: Sequence[tuple[Any, ...]], n_factors: int) -> Iterator[tuple[Any, ...]]:
    """One row for each wording: mean and SD of the kappas of groups."""
    by_wording: dict[str, list[float]] = {}
    for row in rows:
        by_wording.setdefault(row[n_factors], []).append(row[n_factors + 2])
    for wording, values in by_wording.items():
        known = np.array([value for value in values if math.isfinite(value)])
        if known.size:
            sd = float(known.std(ddof=1)) if known.size > 1 else math.nan
            ends = float(known.min()), float(known.max())
            yield (wording, float(known.mean()), sd, *ends, len(known))


def _template_rows(
    groups: Sequence[_Group], kappas: Sequence[Sequence[FormKappas]]
) -> Iterator[tuple[Any, ...]]:
    """One row for each group, wording and template."""
    for group, own in zip(groups, kappas, strict=True):
        for wording, found in zip(group.wordings, own, strict=True):
            columns = (found.kappas, found.low, found.high, found.n)
            for template, *values in zip(
                group.templates, *map(np.ndarray.tolist, columns), strict=True
            ):
                yield (*group.name, wording.title, template, *values)


def _alpha(group: _Group, bootstrap: Bootstrap, level: float) -> Estimate:
    """Krippendorff's alpha of the templates of a group, mean over conditions."""
    alphas = [
        krippendorff_alpha(own.T, "nominal", level=level, bootstrap=bootstrap)
        for own in group.by_condition
    ]
    if len(alphas) == 1:
        return alphas[0]
    values = np.array([alpha.value for alpha in alphas])
    problems = dict.fromkeys(
        problem for alpha in alphas if not alpha.defined for problem in alpha.problems
    )
    return Estimate(
        float(mean_of_defined(values)),
        n=max(alpha.n for alpha in alphas),
        problems=(f"No interval: alpha is the mean over {len(alphas)} conditions.", *problems),
    )


def _alpha_rows(
    groups: Sequence[_Group], alphas: Sequence[Estimate], asked_in: str, with_interval: bool
) -> Iterator[tuple[Any, ...]]:
    """One row for each group: alpha, and how many statements have one stance in all templates."""
    for group, alpha in zip(groups, alphas, strict=True):
        stances = group.original
        complete = np.isfinite(stances).all(axis=1)
        same = complete & np.logical_and.reduce(
            [np.abs(np.nansum(own, axis=1)) == own.shape[1] for own in group.by_condition]
        )
        one = group.n_templates < 2
        remark = undefined_note("Undefined: one template.") if one else " ".join(alpha.problems)
        ends = (alpha.low, alpha.high) if with_interval else (math.nan, math.nan)
        yield (
            *group.name,
            alpha.value,
            *ends,
            group.n_templates,
            asked_in,
            len(group.by_condition),
            alpha.n,
            int(same.sum()),
            int(complete.sum()),
            len(stances),
            remark,
        )


_STATEMENT_COLUMNS = (
    key("item", "Statement"),
    number("agreement", "As expected", "proportion", "Pairs with the expected stance / pairs."),
    count("n", "Pairs", "Pairs of the original and another wording."),
    count("positive", "Positive", "Templates with a positive stance on the original."),
    count("negative", "Negative", "Templates with a negative stance on the original."),
    text("unexpected", "Not as expected", "Wordings with an unexpected stance."),
)


def _statement_frame(groups: Sequence[_Group], by: Sequence[str]) -> pd.DataFrame:
    """One row for each group and statement, in each group the least agreement first."""
    rows = []
    for group in groups:
        shares = [_as_expected(group, wording) for wording in group.wordings]
        size = len(group.items)
        every = np.concatenate([s.reshape(size, -1) for s in shares] or [np.empty((size, 0))], 1)
        known = np.isfinite(every)
        n = known.sum(axis=1)
        agreement = np.where(known, every, 0.0).sum(axis=1) / np.where(n > 0, n, np.nan)
        for place in np.argsort(np.nan_to_num(agreement, nan=2.0), kind="stable").tolist():
            stances = group.original[place]
            against = [
                wording.title.lower()
                for wording, share in zip(group.wordings, shares, strict=True)
                if (share[place] == 0).any()
            ]
            rows.append(
                (
                    *group.name,
                    group.items[place],
                    float(agreement[place]),
                    int(n[place]),
                    int((stances == 1).sum()),
                    int((stances == -1).sum()),
                    ", ".join(against),
                )
            )
    return pd.DataFrame(rows, columns=[*by, *(column.name for column in _STATEMENT_COLUMNS)])


def _method(paraphrases: str, least: int, level: float, resamples: int) -> str:
    """The coefficients in words, with the choices made."""
    pooled = "are pooled" if paraphrases == "pooled" else "have a kappa each"
    redrawn = (
        f"Intervals ({level * 100:g}%) redraw whole statements {resamples:,} times."
        if resamples
        else "There are no intervals, because no resamples are asked for."
    )
    return (
        "Cohen's kappa of the stances on the original and on another wording, in each template, "
        "then mean and SD (n − 1) over templates; and over groups. A stance is the majority of at "
        f"least {count_text(least, 'clear answer')}, as chosen; ties are left out. Several "
        f"wordings of a kind {pooled}. Krippendorff's alpha (nominal) is of the templates, with "
        f"labels as given, on the original wordings. {redrawn}"
    )


def _cautions(groups: Sequence[_Group], kappas: Sequence[Sequence[FormKappas]]) -> Iterator[str]:
    """Kappas that are undefined, with the reason."""
    for group, own in zip(groups, kappas, strict=True):
        for wording, found in zip(group.wordings, own, strict=True):
            if math.isnan(found.mean):
                why = "all stances are the same" if found.n.sum() else "no pair of stances"
                yield (
                    about(
                        group_name(group.name),
                        f"kappa of the original with {wording.title.lower()} is undefined: {why}.",
                    )
                )


def _notes(groups: Sequence[_Group]) -> Iterator[str]:
    """What is left out, and where there is one template."""
    ties = sum(group.n_ties for group in groups)
    if ties:
        which = count_text(ties, "cell")
        yield f"Left out, because as many answers are positive as negative: {which}."
    if not any(group.n_templates > 1 for group in groups):
        yield "There is one template, so agreement of templates is undefined."
    if not any(group.wordings for group in groups):
        yield "Statements have one wording, so agreement of wordings is undefined."

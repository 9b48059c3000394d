"""What each factor of a study does in an analysis, and what a row then stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from core.analysis.kit.comparisons import ways_of_asking
from core.analysis.kit.factor_models.models import FactorModelText, facts_in_text
from core.analysis.kit.matrices import group_name
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.registry import Analysis
from core.analysis.kit.rows import (
    Booleans,
    administrations_of,
    n_planned,
    rows_are_people,
    scores_of,
)
from core.domain.factors import (
    DAY,
    DERIVED,
    ENTITIES,
    ContextColumn,
    Filters,
    is_person_fact,
    levels_word,
)
from core.domain.frames import ATTEMPT_COUNTS, ITEM_SCORES, OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.study import FACTORS, SETTINGS
from core.domain.wide_scores import ItemScores, WideScores
from core.stats.inputs import and_list, name_list
from core.store import answers, frames, studies
from core.workflow import people
from core.workflow.designs import studies as studies_designs
from core.workflow.workspace import Workspace

_MEANING_OF_FACTORS: Mapping[str, str] = {
    "context": "a persona or conversation makes an individual of the model, and people would be "
    "compared in the same way",
    "repetition": "asking again makes a row, so what varies is chance in sampling, not individuals",
    "entity": "what is judged makes a row, so correlations are over brands, parties or persons",
    "entity_b": "what is judged makes a row, so correlations are over brands, parties or persons",
    "respondent": "each model is one individual; intervals need many models",
    "model": "each model is one individual; intervals need many models",
}
"""What it means that rows differ in a factor."""
_MEANING_IN_IMPORTS = {
    **_MEANING_OF_FACTORS,
    "context": "each context makes an individual",
    "repetition": "what varies between them is chance or change, not individuals",
    "respondent": "each respondent is one individual; intervals need many",
    "model": "each respondent is one individual; intervals need many",
}
"""The same of answers brought in, which may be those of people."""
_INDIVIDUAL = ("respondent", "context", "entity", "entity_b")
_ASKING_FACTORS = (
    "form",
    "label_order",
    "template",
    "language",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
)
"""Ways of asking the same thing."""
MOST_LEVELS = 12
"""Levels of a factor that is set side by side unasked."""


# The role of each factor.

Role = Literal["apart", "compared", "averaged", "rows", "together"]
ROLES: Mapping[Role, str] = {
    "apart": "Set apart",
    "compared": "Compared",
    "averaged": "Averaged",
    "rows": "Each a row",
    "together": "Counted together",
}
"""What a factor does in an analysis: its levels make the groups; the analysis compares them; they
are averaged, scores before anything is computed, and numbers made of counts after it; each is a row
of its own, as an individual or one more answer of the same; answers of all of them are counted
together."""
CHOSEN_ROLES: tuple[Role, ...] = ("apart", "averaged", "rows")
"""Those that a user can give a factor of a study, for all analyses."""
Roles = Mapping[str, Role]


class FactorRole(NamedTuple):
    """A factor in which the answers of an analysis vary, what it does there, and its levels.

    They are not counted (0) where a fact about people, or one of DERIVED, is named.
    """

    factor: str
    role: Role
    n_levels: int
    called: str = ""
    """What its levels are where they are something else than usual, such as people."""

    @property
    def word(self) -> str:
        """What its levels are called in a sentence."""
        return self.called or levels_word(self.factor)


def people_words(workspace: Workspace, codes: Sequence[str]) -> str:
    """What contexts are where people answered some of the studies; empty where nobody did."""
    of_people = [people.are_contexts_of(workspace, code) for code in codes]
    return "people" if all(of_people) else "people and contexts" if any(of_people) else ""


def _differ_in(workspace: Workspace, codes: Sequence[str], where: Filters, name: str) -> bool:
    """Whether the answers differ in what is known of their contexts, or in their service."""
    values = frames.contexts(workspace.database, codes, where, [ContextColumn(name)])[name]
    return len(values.unique()) > 1


def factor_roles(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str],
) -> tuple[FactorRole, ...]:
    """The role of every factor in which the answers vary; `options` and `over` are complete.

    A model follows from its respondent, so it is named only where there are fewer models; so does
    a study whose respondents are in no other one, where respondents are apart or compared, and a
    template of which each phase has one. What is compared is no group. A fact about people, or one
    of DERIVED, has a role where the options name it: a run that crosses midnight changes nothing
    unasked.
    """
    names = tuple(name for name in ("study", *FACTORS) if name != "study" or len(codes) > 1)
    n_levels = answers.n_levels(
        workspace.database, codes, names, where, empty=not _with_imported(workspace, codes)
    ).iloc[0]
    by = tuple(options.get("by", ()))
    if sets_formats_apart(analysis, options) and n_levels["n_format"] > 1:
        by = (*by, "format")
    # where each model is of one respondent, what is said of models is said of respondents
    one_to_one = n_levels["n_model"] == n_levels["n_respondent"]
    said_of = {"model", "respondent"} if one_to_one else set()
    of_compared = {analysis.compared(options)}
    of_compared |= said_of if of_compared & said_of else set()
    by = tuple(name for name in by if name not in of_compared)
    compared = factors_in_options(analysis, {**options, "by": ()}) | {analysis.compared(options)}
    counted = analysis.needs in (OPTION_COUNTS, ATTEMPT_COUNTS)
    units = {"context", "entity"} - {*by, *compared}
    in_units = analysis.averages_units and any(n_levels[f"n_{name}"] > 1 for name in units)
    follows = {"model"} if one_to_one else set()
    if len(codes) > 1 and "respondent" in {*by, *compared} and "study" not in {*by, *compared}:
        per = answers.n_levels(workspace.database, codes, ("study",), where, ("respondent",))
        follows |= {"study"} if (per["n_study"] < 2).all() else set()
    if n_levels["n_phase"] > 1:
        per = answers.n_levels(workspace.database, codes, ("template",), where, ("phase",))
        follows |= {"template"} if (per["n_template"] < 2).all() else set()
        follows |= {"phase"} if analysis.first_phase else set()
    follows -= {"phase", "template"} & {*by, *compared}
    roles = []
    for name in names:
        number = int(n_levels[f"n_{name}"])
        if number < 2 or name in follows:
            continue
        role: Role = "together" if counted else "rows"
        words = said_of if name in said_of else {name}
        if words & set(by):
            role = "apart"
        elif words & compared:
            role = "compared"
        elif counted and name in analysis.keeps and name != "repetition":  # no condition
            role = analysis.kept_are
        elif (
            name in over
            or (in_units and name not in (*_INDIVIDUAL, "repetition"))
            or (analysis.rows_by and name not in analysis.rows_by)
        ):
            role = "averaged"
        called = people_words(workspace, codes) if name == "context" else ""
        roles.append(FactorRole(name, role, number, called))
    for name in dict.fromkeys((*by, analysis.compared(options))):
        if (
            is_person_fact(name)
            or name == DAY
            or (name in DERIVED and _differ_in(workspace, codes, where, name))
        ):
            roles.append(FactorRole(name, "apart" if name in by else "compared", 0))
    return tuple(roles)


def sets_formats_apart(analysis: Analysis, options: Mapping[str, Any]) -> bool:
    """Whether several formats are groups unasked, because their points cannot be compared."""
    return (
        analysis.needs in (ITEM_SCORES, OPTION_COUNTS, ATTEMPT_COUNTS)
        and any(option.name == "by" for option in analysis.options)
        and "format" not in (*analysis.keeps, *options.get("by", ()), analysis.compared(options))
    )


def role_words(roles: Sequence[FactorRole]) -> str:
    """The roles in a line: "Set apart: respondents (2). Averaged: repetitions (5)."."""
    by_role: dict[Role, list[str]] = {}
    for one in roles:
        number = f" ({one.n_levels})" if one.n_levels else ""
        by_role.setdefault(one.role, []).append(f"{one.word}{number}")
    return " ".join(
        f"{ROLES[role]}: {', '.join(by_role[role])}." for role in ROLES if role in by_role
    )


_ONLY_REPETITIONS = (
    "Rows are repetitions of the same questions, so that what is found holds for this model and "
    "these wordings, and not for other models or for people."
)


def scope_words(roles: Sequence[FactorRole], *, of_scores: bool) -> str:
    """What is averaged or counted together behind every number, as a sentence; empty for nothing.

    An analysis `of_scores` takes the means of scores, so that a reliability is of means and no mean
    of reliabilities; one of counts has numbers for each level and then their mean. Individuals make
    the rows; repetitions that are counted are what a number is of.
    """

    def words(role: Role, but: Sequence[str] = ()) -> str:
        named = [
            f"{one.n_levels} {one.word}"
            for one in roles
            if one.role == role and one.factor not in but
        ]
        return and_list(named)

    individuals = [one for one in roles if one.role == "rows" and one.factor in _INDIVIDUAL]
    named = and_list([f"{one.n_levels} {one.word}" for one in individuals])
    units = f"combinations of {named}" if len(individuals) > 1 else named
    averaged = words("averaged")
    together = words("together", ("repetition",))
    rows = words("rows", _INDIVIDUAL)
    of_rows = [one.factor for one in roles if one.role == "rows"]
    alone = "repetition" in of_rows and not set(of_rows) & {*_INDIVIDUAL, "study"}
    return " ".join(
        sentence
        for part, sentence in (
            (averaged and of_scores, f"Scores are averaged over {averaged} first."),
            (units and of_scores, f"Rows are {units}."),
            (averaged and not of_scores, f"Values are averaged over {averaged}."),
            (together, f"Answers of {together} are counted together."),
            (rows and not alone, f"Rows of {rows} are analyzed together."),
            (alone, _ONLY_REPETITIONS),
        )
        if part
    )


def default_average(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    chosen: Roles = MappingProxyType({}),
) -> tuple[str, ...]:
    """The factors to average over where nobody has said so for this analysis.

    They are those that `chosen` says for the study, and repetitions: a persona asked five times is
    one persona. Where a respondent was asked without contexts, its repetitions are all the rows
    there are (see `rows_to_average`). What the analysis compares or sets apart is never averaged.
    """
    if analysis.needs is not ITEM_SCORES:
        return ()
    over = [name for name, role in chosen.items() if role == "averaged"]
    if analysis.takes_averages and "repetition" not in chosen and _recurs(workspace, codes, where):
        over.append("repetition")
    return factors_to_average(analysis, {**options, "by": tuple(options.get("by", ()))}, over)


def _recurs(workspace: Workspace, codes: Sequence[str], where: Filters) -> bool:
    """Whether a respondent with several contexts was asked several times."""
    names, per = ("context", "repetition"), ("study", "respondent")
    n_levels = answers.n_levels(workspace.database, codes, names, where, per)
    return bool(((n_levels["n_context"] > 1) & (n_levels["n_repetition"] > 1)).any())


def rows_to_average(item_scores: ItemScores) -> Booleans:
    """The administrations of respondents with several contexts, which are their individuals."""
    asked = administrations_of(item_scores)
    same = asked.groupby(["study", "respondent"], observed=True, dropna=False)["context"]
    return np.asarray(same.transform("nunique") > 1, dtype=np.bool_)


# What a row stands for.


def implications(factors: Sequence[str], *, brought_in: bool = False) -> tuple[str, ...]:
    """What it means that rows differ in these factors, in sentences."""
    implied = _MEANING_IN_IMPORTS if brought_in else _MEANING_OF_FACTORS
    factors_by_meaning: dict[str, list[str]] = {}
    for name in factors:
        if name in implied:
            factors_by_meaning.setdefault(implied[name], []).append(levels_word(name))
    return tuple(
        f"Rows differ in {and_list(plurals)}: {meaning}."
        for meaning, plurals in factors_by_meaning.items()
    )


def factors_to_average(
    analysis: Analysis, options: Mapping[str, Any], over: Sequence[str]
) -> tuple[str, ...]:
    """The factors to average over: those asked for but those the analysis itself looks at."""
    looked_at = factors_in_options(analysis, options)
    pairs = {"respondent": "model", "model": "respondent"}
    excluded = looked_at | {pairs[name] for name in looked_at if name in pairs}
    taken = [name for name in over if name in FACTORS and name not in excluded]
    # a respondent has one model, so averaging over respondents averages over models
    return tuple(dict.fromkeys((*taken, *(["model"] if "respondent" in taken else []))))


def _ways_of_asking(
    analysis: Analysis, default: Sequence[str], *, counted: bool
) -> tuple[str, ...]:
    """The factors that make several rows of one individual, for this analysis."""
    guarded = analysis.pooled_rows_need_caution or (
        analysis.compares and analysis.kept_are != "together"
    )
    if not guarded:
        return (*analysis.side_by_side, *(SETTINGS if "respondent" in default else ()))
    if counted:  # no rows of repetitions, so that none can be copies, and none of entities
        return (*ENTITIES, *_ASKING_FACTORS)
    return (*_ASKING_FACTORS, "repetition")


def default_groups(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str] = (),
    chosen: Roles = MappingProxyType({}),
) -> tuple[str, ...]:
    """The factors to set side by side where nobody has chosen any.

    Parameters
    ----------
    workspace : Workspace
        Where the studies are.
    analysis : Analysis
        One without the option `by` has none.
    codes : sequence of str
        The studies of the analysis.
    options : mapping
        Its other options; what they name is compared by the analysis itself.
    where, over
        Filters of the answers, and factors to average over first.
    chosen : mapping
        Roles that the user gave to factors of the study: what is set apart is among the groups
        unless the analysis compares it, and nothing else that has a role is.

    Returns
    -------
    tuple of str
        The default of the analysis and every way of asking in which the answers vary: languages,
        forms, orders of options, templates and phases. Repetitions are among them where a
        respondent is asked at temperature 0, or where the analysis takes no averages and contexts
        were asked again. A factor of more than 12 levels is not, so that a
        page stays readable, nor one that would leave nothing to compare; a caution then says that
        its rows are pooled. Templates that the other factors decide, such as that of each phase,
        would part nothing. Settings of calls that the design varies are set side by side wherever
        respondents are. Counts of options have entities among them and no repetitions, because
        there no row stands for an entity. An analysis that pools ways of asking on purpose begins
        with the factors that it declares as `side_by_side`.
    """
    own = [tuple(option.default) for option in analysis.options if option.name == "by"]
    default = tuple(n for n in (own[0] if own else ()) if chosen.get(n, "apart") == "apart")
    counted = analysis.needs in (OPTION_COUNTS, ATTEMPT_COUNTS)
    if not (counted or analysis.needs is ITEM_SCORES) or not own:
        return default
    others = {name: value for name, value in options.items() if name != "by"}
    compared = [name for name in ("study", *FACTORS) if name == analysis.compared(others)]
    compared += [name for name in analysis.compares if counted]
    ways = _ways_of_asking(analysis, default, counted=counted)
    if not ways:
        return default
    columns = tuple(dict.fromkeys(("respondent", *ways, *compared)))
    if "repetition" in ways and "repetition" not in compared:
        # an import may have a repetition for each of half a million people
        n_repetitions = answers.n_levels(workspace.database, codes, ["repetition"], where)
        if n_repetitions["n_repetition"].gt(MOST_LEVELS).any():
            columns = tuple(name for name in columns if name != "repetition")
    asked = answers.conditions(workspace.database, codes, columns, where)
    if counted:  # of several factors that an analysis compares, those of one level part nothing
        compared = [
            name
            for name in compared
            if name not in analysis.compares or len(asked[name].unique()) > 1
        ]
    # A default that leaves one level to compare, as respondents do to studies with one each.
    default = tuple(
        name
        for name in default
        if name not in asked
        or all(
            name == factor or len(asked[factor].unique()) < 2 or _crossed(asked, name, factor)
            for factor in compared
        )
    )
    excluded = {*default, *factors_in_options(analysis, others), *over, *chosen}
    taken = [
        name
        for name in ways
        if name in asked
        and name not in excluded
        and 1 < len(_levels_apart(workspace, codes, asked[name])) <= MOST_LEVELS
        and all(_crossed(asked, name, factor) for factor in compared)
    ]
    labels = asked["respondent"].unique()
    if "repetition" in taken and not (
        _without_chance(workspace, codes, labels)
        or (not analysis.takes_averages and _recurs(workspace, codes, where))
    ):
        taken.remove("repetition")
    if "template" in taken and _decided(asked, "template", (*default, *taken)):
        taken.remove("template")
    apart = [
        name
        for name, role in chosen.items()
        if role == "apart" and name not in {*default, *factors_in_options(analysis, others)}
    ]
    return (*default, *taken, *apart)


def _levels_apart(workspace: Workspace, codes: Sequence[str], asked: pd.Series[Any]) -> set[Any]:
    """The levels of a factor; of studies together without the empty one of imported answers.

    Where people answered, nobody said in which order of options; that does not part them from a
    model.
    """
    levels = set(asked.unique())
    return levels - {""} if _with_imported(workspace, codes) else levels


def _with_imported(workspace: Workspace, codes: Sequence[str]) -> bool:
    """Whether several studies are analyzed together of which some were brought in."""
    return len(codes) > 1 and any(
        studies.frozen_study(workspace.database, code).kind == "imported" for code in codes
    )


def _decided(asked: pd.DataFrame, name: str, factors: Sequence[str]) -> bool:
    """Whether the other factors decide the level of a factor, as phases do their template."""
    others = [factor for factor in factors if factor != name and factor in asked]
    pairs = asked[[*others, name]].drop_duplicates()
    return bool(others) and not pairs.duplicated(others).any()


def _crossed(asked: pd.DataFrame, name: str, factor: str) -> bool:
    """Whether several levels of `factor` were asked under some level of the factor `name`."""
    levels = asked[[name, factor]].drop_duplicates()
    return bool(levels.duplicated(name).any())


def asked_alike_before_averaging(
    item_scores: ItemScores, over: Sequence[str]
) -> tuple[ItemScores, tuple[str, ...]]:
    """The scores whose averages are over the same levels of what is averaged; what is left out.

    A mean over two templates is not compared with one over one of them. What is asked in other
    languages, forms and so on is compared; contexts and repetitions are individuals, and a wide
    table is averaged over these alone.
    """
    averaged = [name for name in over if name not in ("context", "repetition")]
    if not averaged or item_scores.empty or isinstance(item_scores, WideScores):
        return item_scores, ()
    apart = [name for name in FACTORS if name not in averaged and name not in _INDIVIDUALS]
    apart = [name for name in apart if _varies(item_scores, name)]
    ways = ways_of_asking(item_scores, [name for name in FACTORS if name not in averaged])
    side, sides = cell_codes(item_scores, apart)
    alike = ways.alike(side, [group_name(own, apart) for own in sides.itertuples(index=False)])
    cautions = (alike.left_out,) if alike.left_out else ()
    return item_scores[alike.rows], cautions


_INDIVIDUALS = ("context", "repetition")


def averaging_words(item_scores: pd.DataFrame, over: Sequence[str]) -> str:
    """What to add to the unit of an analysis; empty where nothing was averaged."""
    factors = _averaged_factors(item_scores, over)
    return f", averaged over {factors}" if factors else ""


def _averaged_factors(item_scores: pd.DataFrame, over: Sequence[str]) -> str:
    """Those of the factors that vary, in words."""
    return and_list([levels_word(name) for name in over if _varies(item_scores, name)])


def averaging_notes(before: ItemScores, after: ItemScores, over: Sequence[str]) -> tuple[str, ...]:
    """How many scores went into how many, and how many answers without one the counts hide."""
    n_before, n_after = (int(np.isfinite(scores_of(one)).sum()) for one in (before, after))
    if n_planned(after) == n_planned(before):
        return ()
    factors = _averaged_factors(administrations_of(before), over)
    into = f"{n_after:,} over {factors}" if factors else f"{n_after:,}"
    note = f"{n_before:,} scores were averaged into {into}; counts are of the latter."
    if n_missing := n_planned(before) - n_before:
        share = percent_text(n_missing / n_planned(before), 1)
        note += (
            f" Before that, {count_text(n_missing, 'answer')} ({share}) had no score: a mean is of "
            "the others, and counts as missing only where there are none."
        )
    return (note,)


def cautions(
    workspace: Workspace, analysis: Analysis, rows: pd.DataFrame, options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Where rows are copies of each other by design, or of kinds that had better stay apart."""
    looked_at = factors_in_options(analysis, options)
    if analysis.averages_units and _varies(rows, "context") and "context" not in looked_at:
        return ()
    return (
        *_repetition_cautions(workspace, rows, looked_at),
        *_pooling_cautions(analysis, rows, looked_at),
    )


def _repetition_cautions(
    workspace: Workspace, rows: pd.DataFrame, looked_at: set[str]
) -> tuple[str, ...]:
    """Where a model was asked again and again."""
    if "repetition" in looked_at or not _varies(rows, "repetition"):
        return ()
    fixed = _without_chance(workspace, rows["study"].unique(), rows["respondent"].unique())
    if fixed:
        return (
            f"Rows are repetitions at temperature 0 ({name_list(fixed)}): the same question "
            "asked again gives nearly the same answer, so such rows are copies, and n counts the "
            "same thing several times. Average over repetitions, or let contexts make the rows.",
        )
    if all(
        studies.frozen_study(workspace.database, str(code)).kind == "imported"
        for code in rows["study"].unique()
    ):
        return (
            (
                "The same respondents answered several times: what varies between such answers is "
                "chance or change, not individuals. Average over repetitions, or put them side by "
                "side.",
            )
            if _recurring_factors(rows, ["repetition"], looked_at)
            else ()
        )
    if "context" in looked_at or not _varies(rows, "context"):
        return (
            "Rows are repetitions of one model: what varies is chance in sampling, not "
            "individuals.",
        )
    return ()


def _without_chance(
    workspace: Workspace, codes: Iterable[Any], labels: Iterable[Any]
) -> tuple[str, ...]:
    """Those of the respondents of some studies that are asked at temperature 0."""
    cold = {
        person.name
        for code in codes
        for person in studies_designs.respondents_of(workspace, str(code))
        if person.sampling.temperature == 0 and not person.simulation
    }
    return tuple(sorted(cold & set(map(str, labels))))


def _pooling_cautions(
    analysis: Analysis, rows: pd.DataFrame, looked_at: set[str]
) -> tuple[str, ...]:
    """Where several ways of asking the same individual are rows of one analysis."""
    if not analysis.pooled_rows_need_caution:
        return ()
    # Without several contexts, repetitions are the rows there are (see _repetition_cautions).
    ways = (*_ASKING_FACTORS, *(["repetition"] if _varies(rows, "context") else []))
    pooled = [name for name in ways if name not in looked_at and _varies(rows, name)]
    recurring = _recurring_factors(rows, pooled, looked_at)
    if not recurring:
        return ()
    named = [f"{len(rows[name].unique())} {levels_word(name)}" for name in recurring]
    who = "context" if not rows_are_people(rows) and _varies(rows, "context") else "respondent"
    return (
        f"Rows are pooled over {and_list(named)}, so that the same {who} counts "
        "several times: n is too large, and intervals and p are too small. Take them into "
        "Separately for, choose one under Filter, or average over them under What varies.",
    )


def _recurring_factors(
    rows: pd.DataFrame, factors: Sequence[str], looked_at: set[str]
) -> list[str]:
    """The ways in which some individual was asked more than once within what is analyzed together.

    People who each answered in one language, say, are pooled over languages without recurring.
    """
    if not factors:
        return []
    # Contexts of a design are the same in all its studies; codes of people are not.
    study = ["study"] if rows_are_people(rows) else []
    compared = [name for name in (*FACTORS, *DERIVED) if name in looked_at]
    individual = list(
        dict.fromkeys([*study, *_INDIVIDUAL, *(name for name in compared if name in rows)])
    )
    cases = rows[["administration", *individual, *factors]].drop_duplicates("administration")
    same = cases.groupby(individual, observed=True, dropna=False, sort=False)
    return [name for name in factors if (same[name].nunique(dropna=False) > 1).any()]  # noqa: PD101


def factors_in_options(analysis: Analysis, options: Mapping[str, Any]) -> set[str]:
    """The factors that an analysis itself sets side by side, compares, or takes as covariates."""
    factors: set[str] = set(analysis.compares)
    for option in analysis.options:
        value = options.get(option.name, option.default)
        if isinstance(value, str) and isinstance(option.kind, FactorModelText):
            factors.update(facts_in_text(value))
        elif isinstance(value, str):
            factors.add(value)
        elif isinstance(value, tuple):
            factors |= {part for part in value if isinstance(part, str)}
    return factors


def _varies(frame: pd.DataFrame, name: str) -> bool:
    """Whether rows differ in a column."""
    column = frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column):
        codes = column.cat.codes.to_numpy()  # nothing has a code of its own, as a value would
        return bool(codes.min() != codes.max())
    return len(column.unique()) > 1

"""Analyses: what there is, what a person has chosen, running one, and the known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import pandas as pd

from core import analysis as _registered  # importing the package registers every analysis
from core import export
from core.analysis.kit.registry import (
    Analysis,
    AnalysisOption,
    ComparedFactor,
    NotAllowed,
    all_analyses,
    parse_option,
)
from core.analysis.kit.rows import administrations_of, average_over
from core.analysis.kit.sentences import with_levels_named
from core.analysis.quality.template_pilot import proposed_templates
from core.collect import simulated
from core.domain.attributes import is_attribute
from core.domain.factors import BANDS, Filters
from core.domain.frames import ATTEMPT_COUNTS, ITEM_SCORES, OPTION_COUNTS, check_frame
from core.domain.instrument import ORIGINAL
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.study import FACTORS
from core.domain.wide_scores import ItemScores, WideScores
from core.errors import DesignError, NotEnoughData, WrongOption
from core.store import banks, imports, runs, studies
from core.workflow import saved_inputs
from core.workflow.answers import bank_attachment, browsing
from core.workflow.designs import studies as studies_designs
from core.workflow.runs import amendments
from core.workflow.statistics import (
    bank_tables,
    frames,
    item_attributes,
    left_out,
    person_facts,
    roles,
)
from core.workflow.statistics.frames import ChosenAnswers
from core.workflow.statistics.roles import Roles
from core.workflow.workers.running import hand_over, reading
from core.workflow.workspace import Workspace

__all__ = ["AnalysisResult", "ResultTable", "all_analyses", "export", "proposed_templates"]


# What a person has chosen for an analysis of a study, so that a reload or another day finds it.

_BY_OPTION = "by"
"""The option of analyses whose results can be set side by side by factors."""
_EVERY_ANSWER = ChosenAnswers()


def saved_options(
    workspace: Workspace,
    study: str,
    analysis: Analysis,
    answers: ChosenAnswers = _EVERY_ANSWER,
) -> dict[str, Any]:
    """Every option with the value last chosen for this study, or its default.

    What is set side by side at first depends on the answers (see `roles.default_groups`), and so
    does what is compared: the first factor on offer in which the answers of all studies vary.
    """
    draft = saved_inputs.load(workspace, _draft_name(study, analysis))
    saved = draft.value if draft and isinstance(draft.value, dict) else {}
    values = {option.name: _restored(option, saved.get(option.name)) for option in analysis.options}
    if analysis.factor_option and analysis.factor_option not in saved:
        values[analysis.factor_option] = initial_factor(workspace, study, analysis, answers)
    if _BY_OPTION in values and _BY_OPTION not in saved:
        values[_BY_OPTION] = initial_groups(workspace, study, analysis, values, answers)
    return values


def initial_groups(
    workspace: Workspace,
    study: str,
    analysis: Analysis,
    options: Mapping[str, Any],
    answers: ChosenAnswers = _EVERY_ANSWER,
) -> tuple[str, ...]:
    """What is set side by side in these answers until the user chooses."""
    codes = (study, *answers.others)
    others = {name: value for name, value in options.items() if name != _BY_OPTION}
    over = roles.default_average(workspace, analysis, codes, others, answers.where, answers.roles)
    return roles.default_groups(
        workspace, analysis, codes, others, answers.where, over, answers.roles
    )


def averaged_factors(
    workspace: Workspace,
    study: str,
    analysis: Analysis,
    options: Mapping[str, Any],
    answers: ChosenAnswers = _EVERY_ANSWER,
) -> tuple[str, ...] | None:
    """What is averaged over in these answers; None where the user leaves it to the rule."""
    if "repetition" not in answers.roles and "averaged" not in answers.roles.values():
        return None
    codes = (study, *answers.others)
    return roles.default_average(workspace, analysis, codes, options, answers.where, answers.roles)


def saved_roles(workspace: Workspace, study: str) -> Roles:
    """The roles that a user gave to factors of a study, for all analyses."""
    draft = saved_inputs.load(workspace, _roles_name(study))
    saved = draft.value if draft and isinstance(draft.value, dict) else {}
    return {n: role for n, role in saved.items() if n in FACTORS and role in roles.CHOSEN_ROLES}


def save_role(workspace: Workspace, study: str, factor: str, role: str) -> None:
    """Keep the role of a factor with the study; an empty one leaves it to the rule."""
    saved_inputs.update(workspace, _roles_name(study), {factor: role})


def _roles_name(study: str) -> str:
    return f"roles:{study}"


def save_option(
    workspace: Workspace, study: str, analysis: Analysis, option: str, value: Any
) -> None:
    """Keep the value of one option.

    Raises
    ------
    DesignError
        A text looks like the key of a service, which must not be stored.
    """
    if isinstance(value, str) and saved_inputs.looks_like_key(value):
        raise DesignError(
            "This text looks like the key of a service and was not kept.", "Take it out."
        )
    saved_inputs.update(workspace, _draft_name(study, analysis), {option: value})


def initial_factor(
    workspace: Workspace, study: str, analysis: Analysis, answers: ChosenAnswers = _EVERY_ANSWER
) -> str:
    """What is compared in these answers until the user chooses.

    The first factor on offer in which they vary, but for one of many levels, such as a context
    for each person; then the fact about people with the fewest levels, bands of numbers last, where
    the analysis takes one; the default of the analysis where there is none. An empty level of one
    study is not another level than that of another study (see `roles.default_groups`).
    """
    option = next(o for o in analysis.options if o.name == analysis.factor_option)
    names = option.kind.first if isinstance(option.kind, ComparedFactor) else ()
    codes = (study, *answers.others)
    every = [browsing.all_levels(workspace, code) for code in codes]
    for name in names:
        found = {level for levels in every for level in levels.get(name, ())}
        if 1 < len(found - {""} if len(codes) > 1 else found) <= roles.MOST_LEVELS:
            return name
    facts = person_facts.levels(workspace, study)
    n_levels = {name: len({*found} - {""}) for name, found in facts.items()}
    few = [name for name, number in n_levels.items() if 1 < number <= roles.MOST_LEVELS]
    if few and isinstance(option.kind, ComparedFactor) and option.kind.then_facts:
        return min(few, key=lambda name: (name.endswith(BANDS), n_levels[name]))
    return str(option.initial)


def _draft_name(study: str, analysis: Analysis) -> str:
    return f"analysis:{study}:{analysis.name}"


def _restored(option: AnalysisOption, value: Any) -> Any:
    """The kept value as the option takes it; what it has at first where it no longer does."""
    try:
        return option.kind.restore(value, option.default)
    except NotAllowed:
        return option.initial


# Analyses: what there is, running one, and what a result looks like in a file.

del _registered

_SEVERAL_FORMATS_NOTE = (
    "Answers were given in several formats, whose points cannot be compared: each format is shown "
    "by itself."
)


def by_name(name: str) -> Analysis:
    """The analysis of that name."""
    for analysis in all_analyses():
        if analysis.name == name:
            return analysis
    names = ", ".join(a.name for a in all_analyses())
    raise WrongOption(f"There is no analysis '{name}'.", f"Choose one of: {names}.")


def options_from_text(analysis: Analysis, texts: Mapping[str, str]) -> dict[str, Any]:
    """Options as typed on the command line, checked against what the analysis accepts."""
    known = {option.name: option for option in analysis.options}
    for name in texts:
        if name not in known:
            raise WrongOption(
                f"'{analysis.name}' has no option '{name}'.",
                f"It has: {', '.join(known) or 'none'}.",
            )
    return {name: parse_option(known[name], text) for name, text in texts.items()}


def revision(workspace: Workspace, study_codes: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """Something that changes when the answers of these studies do; for caches only."""
    events = []
    for code in study_codes:
        study = studies.frozen_study(workspace.database, code)
        event = runs.last_event(workspace.database, study.study_id)
        events.append((code, event.kind if event else ""))
    unfinished = _unfinished_imports(workspace, study_codes)
    return (*events, unfinished, *studies.revision(workspace.database, study_codes))


def run(
    workspace: Workspace,
    name: str,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str] | None = None,
) -> AnalysisResult:
    """Run an analysis over the answers of some studies that pass the filters.

    `over` are factors to average administrations over first, so that a row is one combination of
    the others; those that the analysis itself sets side by side or compares are not averaged. None
    averages what `roles.default_average` says, and nothing is averaged where there are none.

    Raises
    ------
    NotEnoughData
        There are no answers, a filter names an unknown factor, or nothing can be computed.
    """
    analysis = by_name(name)
    with reading():
        inputs = _load_inputs(workspace, analysis, study_codes, options, where, over)
        task = hand_over(analysis, inputs.frame, inputs.options)
        inputs = replace(inputs, frame=pd.DataFrame(), options={})  # the frame may take much memory
    result = with_levels_named(task.run())
    used = frames.studies_used(analysis, study_codes, options)
    result = bank_attachment.with_keying_words(workspace, result, used)
    amended = [line for code in study_codes for line in amendments.sentences(workspace, code)]
    # an analysis may set more apart than was asked for, and its rows may compare factors
    named = {name for table in result.tables[:1] for name in table.with_role("group", "key")}
    return replace(
        result,
        unit=result.unit + inputs.unit_words,
        scope=roles.scope_words(
            [one for one in inputs.roles if one.factor not in named],
            of_scores=analysis.needs is ITEM_SCORES,
        ),
        cautions=(*_unfinished_imports(workspace, used), *inputs.cautions, *result.cautions),
        notes=(*inputs.notes, *result.notes),
        method=" ".join([result.method, *left_out.method_words(where), *amended]),
        item_texts=item_texts(workspace, used, where),
    )


def _unfinished_imports(workspace: Workspace, study_codes: Sequence[str]) -> tuple[str, ...]:
    """A caution for each study whose import did not come to its end."""
    return tuple(
        event.words
        for event in imports.unfinished_imports(workspace.database)
        if event.study in study_codes
    )


def item_texts(workspace: Workspace, study_codes: Sequence[str], where: Filters) -> dict[str, str]:
    """The wording of each item in its original form, with the placeholders of entities.

    The language is that of the bank's source if the answers include it, else the first of theirs.
    An item without a wording in it has that in the source language. Of items with the same code,
    the one of the first study counts; items without any such wording are left out.
    """
    texts: dict[str, str] = {}
    for code in study_codes:
        record = studies.frozen_study(workspace.database, code)
        bank = banks.instrument(workspace.database, record.instrument_id)
        source = bank.languages[0] if bank.languages else ""
        languages = list(map(str, where.get("language") or record.design.levels("languages")))
        preferred = languages[0] if languages and source not in languages else source
        for item in bank.items:
            text = item.text(preferred) or item.text(source)
            if text:
                texts.setdefault(item.code, text)
    return texts


def wordings(
    workspace: Workspace, study_codes: Sequence[str], languages: Sequence[str]
) -> dict[str, dict[str, str]]:
    """The wording of each item in its original form, by language, then by item.

    An item without a wording in a language is left out there. Of items with the same code, the one
    of the first study counts.
    """
    texts: dict[str, dict[str, str]] = {language: {} for language in languages}
    for code in study_codes:
        record = studies.get(workspace.database, code)
        for item in banks.instrument(workspace.database, record.instrument_id).items:
            for language in languages:
                text = item.text(language) or next(
                    (
                        wording.text
                        for wording in item.wordings
                        if wording.language == language and wording.form == ORIGINAL
                    ),
                    "",
                )
                if text:
                    texts[language].setdefault(item.code, text)
    return texts


def scripts(
    workspace: Workspace,
    name: str,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str] | None = None,
) -> tuple[TextFile, ...]:
    """Scripts for other software that compute the same, with their data.

    Raises
    ------
    NotEnoughData
        The analysis offers none, or its data do not allow one.
    """
    analysis = by_name(name)
    if analysis.scripts is None:
        raise NotEnoughData(f"There is no script for '{name}'.", "Export its tables instead.")
    inputs = _load_inputs(workspace, analysis, study_codes, options, where, over)
    return analysis.scripts(inputs.frame, **inputs.options)


@dataclass(frozen=True, eq=False)
class _Inputs:
    """Frame and options as an analysis takes them, what to say of them, and words for its unit."""

    frame: ItemScores
    options: dict[str, Any]
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    unit_words: str = ""
    roles: tuple[roles.FactorRole, ...] = ()


def _load_inputs(
    workspace: Workspace,
    analysis: Analysis,
    study_codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str] | None,
) -> _Inputs:
    for code in study_codes:
        studies.frozen_study(workspace.database, code)
    automatic = over is None
    if over is None:
        over = roles.default_average(workspace, analysis, study_codes, options, where)
    if _BY_OPTION not in options and any(o.name == _BY_OPTION for o in analysis.options):
        groups = roles.default_groups(workspace, analysis, study_codes, options, where, over)
        options = {**options, _BY_OPTION: groups}
    by = tuple(options.get(_BY_OPTION, ()))
    wide = analysis.takes_wide_table and set(over) <= {"repetition", "context"}
    frame = frames.load_frame(workspace, analysis, study_codes, where, options, wide=wide)
    if not isinstance(frame, WideScores):
        check_frame(frame, analysis.needs)
    chosen = frames.load_other_data(workspace, analysis, options, where)
    with_scores = frames.options_with_scores(analysis, options)
    chosen |= bank_tables.load(workspace, analysis, study_codes)
    asked = administrations_of(frame)
    grouping = _grouping_by_format(analysis, asked, chosen)
    chosen |= grouping
    notes = (
        *left_out.notes(workspace, study_codes, where, [str(options[n]) for n in with_scores]),
        *(
            frames.absent_notes(workspace, study_codes, where, frame)
            if analysis.needs in (ITEM_SCORES, OPTION_COUNTS, ATTEMPT_COUNTS)
            else ()
        ),
        *((_SEVERAL_FORMATS_NOTE,) if grouping else ()),
        *item_attributes.without_value_notes(asked, by),
        *person_facts.notes(workspace, study_codes, where, by, analysis.compared(options)),
    )
    over = roles.factors_to_average(analysis, chosen, over)
    of_factors = roles.factor_roles(workspace, analysis, study_codes, chosen, where, over)
    if analysis.needs is not ITEM_SCORES:
        return _Inputs(frame, chosen, notes, roles=of_factors)
    alike, not_alike = roles.asked_alike_before_averaging(frame, over)

    def averaged(scores: ItemScores) -> ItemScores:
        return average_over(scores, over, roles.rows_to_average(scores) if automatic else None)

    rows = averaged(alike)
    chosen |= {name: averaged(chosen[name]) for name in with_scores}
    notes = (*notes, *roles.averaging_notes(alike, rows, over))
    cautions = (
        *not_alike,
        *roles.cautions(workspace, analysis, administrations_of(rows), chosen),
    )
    if not isinstance(rows, WideScores):
        rows = item_attributes.split_administrations(rows, filter(is_attribute, by))
    words = "" if analysis.rows_by else roles.averaging_words(asked, over)  # it says so itself
    words += item_attributes.unit_words(by)
    return _Inputs(rows, chosen, notes, cautions, words, of_factors)


def _grouping_by_format(
    analysis: Analysis, frame: pd.DataFrame, options: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The groups to set side by side where answer formats differ, if not by format already."""
    if not roles.sets_formats_apart(analysis, options) or frame["format"].nunique() < 2:
        return {}
    return {_BY_OPTION: (*options[_BY_OPTION], "format")}


@cache
def software_versions() -> Mapping[str, str]:
    """Versions that a result depends on."""
    return {name: version(name) for name in ("numpy", "scipy", "pandas", "duckdb")}


# What is true of simulated respondents, to set beside what the statistics say of them.


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """The truth behind one simulated respondent of a study.

    `items`: item, subscale, keyed, loading (standardized, of the latent answer on its trait) and
    difficulty (in SDs of the latent answer). `alphas`: subscale and the alpha to expect of scored
    answers, by Monte Carlo (20,000 administrations), within a language, entity and first phase.
    """

    respondent: str
    items: pd.DataFrame
    alphas: pd.DataFrame


def known_truth(workspace: Workspace, study: str) -> tuple[KnownTruth, ...]:
    """The truth of each simulated respondent of a study; none where it has none."""
    bank = studies_designs.frozen_bank(workspace, study)
    record = studies_designs.load(workspace, study)
    chosen = record.design.levels("formats")
    response_format = bank.format(chosen[0]) if len(chosen) == 1 else None
    truths = []
    for person in studies_designs.respondents_of(workspace, study):
        if person.simulation is None or response_format is None:
            continue
        items = simulated.item_truth(person.simulation, bank.items)
        alphas = simulated.expected_alpha(person.simulation, bank.items, response_format)
        truths.append(
            KnownTruth(
                person.label,
                pd.DataFrame([vars(item) for item in items]),
                pd.DataFrame({"subscale": list(alphas), "alpha": list(alphas.values())}),
            )
        )
    return tuple(truths)

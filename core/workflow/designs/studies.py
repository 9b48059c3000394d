"""Designs: freezing them into studies, their prompts, and designs as YAML."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pandas as pd

from core.collect.client import ChatRequest
from core.domain.characters import readable_value
from core.domain.instrument import Instrument
from core.domain.numbers import count_text
from core.domain.study import DESIGN, SETTINGS, USUAL_CALLS, Design, Respondent, as_json_values
from core.errors import DesignError
from core.files.writing import csv_line
from core.files.yaml_files import read_shape, write_yaml
from core.store import banks as bank_store
from core.store import plans, respondents
from core.store import studies as store
from core.store.plans import Phases
from core.store.studies import StudyRecord
from core.workflow import people, prompts, study_log
from core.workflow.banks import editing
from core.workflow.contexts import sets as context_sets
from core.workflow.designs import checks
from core.workflow.designs.sizes import BlockSize, PlannedDesign, PlanSize, plan_size
from core.workflow.designs.usage import learned_usage
from core.workflow.prompts import StudyMaterials
from core.workflow.respondents import catalog, prices
from core.workflow.workspace import Workspace

__all__ = ["BlockSize", "Phases", "PlanSize", "StudyRecord", "design_of_yaml", "design_yaml"]


# A design as YAML: written by the design page, or by hand for the command line.


def design_yaml(design: Design) -> str:
    """A design as YAML, readable and editable; `design_of_yaml` reads it back."""
    return write_yaml(as_json_values(design))


def design_of_yaml(data: bytes | str, *, name: str = "the design") -> Design:
    """The design that a YAML text, or a file in UTF-8, describes.

    Raises
    ------
    FileError
        The file is too large, not UTF-8 or not YAML, or a key is missing, unknown, repeated or of
        the wrong kind.
    """
    return read_shape(
        DESIGN,
        name,
        data,
        compare="Compare it with a design saved by the design page.",
    )


# Designs: how large they are, what they will ask, and freezing them into plans.


def list_studies(workspace: Workspace, *, put_away: bool = False) -> tuple[StudyRecord, ...]:
    """Every study, oldest first; those archived or deleted only with `put_away`."""
    return store.studies(workspace.database, put_away=put_away)


def names(workspace: Workspace) -> tuple[tuple[str, str], ...]:
    """The code and the new name, if any, of each study that is not put away, oldest first."""
    return store.names(workspace.database)


def load(workspace: Workspace, code: str) -> StudyRecord:
    """One study by its code."""
    return store.get(workspace.database, code)


def size(workspace: Workspace, design: Design, bank: Instrument | None = None) -> PlanSize:
    """Number of calls, and expected cost and ranges from a sample of the prompts.

    `bank` is that of the design where it is not saved yet.
    """
    bank = bank or _bank(workspace, design)
    planned = _planned(workspace, design, bank, priced=True)
    models = [person.model for person in planned.respondents.values()]
    learned = learned_usage(workspace, models)
    return plan_size(planned, learned, renderable=not checks.has_no_prompts(planned.materials))


def check(workspace: Workspace, design: Design) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    bank = _bank(workspace, design)
    problems = checks.obstacles(_materials(workspace, design, bank))
    if not problems:
        problems = tuple(checks.contradictions(_planned(workspace, design, bank)))
    if store.is_there(workspace.database, name := design.study.strip()):
        return (f"There is a study called '{name}' already.", *problems)
    return problems


def cautions(workspace: Workspace, design: Design) -> tuple[str, ...]:
    """What does not stand in the way of freezing and should still be known, in plain words."""
    return checks.cautions(_planned(workspace, design, _bank(workspace, design)))


def example(
    workspace: Workspace, design: Design, number: int = 0, *, respondent: str = ""
) -> ChatRequest:
    """The request of the n-th planned call to a respondent, in the order of asking.

    Counted through items, contexts, entities and so on, then from the first one again. Orders
    that are drawn at random are shown as they stand in the bank. The respondent is the first one
    with that label, or the first one of the design where it has none.
    """
    planned, person = _example_of(workspace, design, respondent)
    return planned.request(person, number % planned.prompts(person))


def blocks_of_example(
    workspace: Workspace, design: Design, number: int = 0, *, respondent: str = ""
) -> tuple[int, ...]:
    """The places, counted from 0, of the blocks that ask what `example` shows."""
    planned, person = _example_of(workspace, design, respondent)
    return planned.blocks_of(person, number % planned.prompts(person))


def _example_of(workspace: Workspace, design: Design, respondent: str) -> tuple[PlannedDesign, int]:
    """The planned design, and the id of the respondent with that label, else of the first one."""
    bank = _bank(workspace, design)
    planned = _planned(workspace, design, bank)
    people = [key for key, one in planned.respondents.items() if one.label == respondent]
    people = people or list(planned.respondents)
    if not (bank.formats and people and planned.prompts(people[0])):
        raise DesignError(
            "There is nothing to show yet.", "Choose a bank with items, a language, and a model."
        )
    return planned, people[0]


def freeze(workspace: Workspace, design: Design) -> StudyRecord:
    """Turn a design into a plan that does not change any more; nothing is asked yet.

    The bank's working copy is published as a version where it has changed.

    Raises
    ------
    DesignError
        Something in the design is missing or contradictory; nothing is kept.
    """
    with workspace.database.deciding(), workspace.database.all_or_nothing():
        record = _freeze(workspace, readable_value(design))
        study_log.add(workspace, record.study_id, "Planned and froze the study")
        return record


def _freeze(workspace: Workspace, design: Design) -> StudyRecord:
    trouble = check(workspace, design)
    if trouble:
        raise DesignError(" ".join(trouble[:5]), "Change the design, then freeze it again.")
    bank = _bank(workspace, design)
    published = (
        editing.publish(workspace, design.instrument)
        if design.version is None
        else next(
            v for v in editing.versions(workspace, design.instrument) if v.version == design.version
        )
    )
    planned = _planned(workspace, design, bank)
    for person in planned.respondents.values():
        respondents.add(workspace.database, person)
    materials = planned.materials
    settled = replace(materials.design, version=published.version, study=design.study.strip())
    codes = [*settled.levels("templates"), *filter(None, [settled.second_phase])]
    templates = prompts.wordings_as_json(materials.wordings, codes)

    def plan_hash_of(n_trials: int, fingerprint: int) -> str:
        body = {
            "design": as_json_values(settled),
            "instrument": published.content_hash,
            "respondents": sorted(planned.respondents),
            "templates": templates,
            "trials": [n_trials, fingerprint],
        }
        text = json.dumps(body, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    record = store.freeze(
        workspace.database,
        settled,
        instrument_id=published.instrument_id,
        respondent_ids=[[one.respondent_id for one in people] for people in planned.people],
        settings={key: settled.stated_settings(one) for key, one in planned.respondents.items()},
        plan_hash_of=plan_hash_of,
        templates=templates,
    )
    for entry in context_sets.recipes_of(workspace, settled.contexts):
        store.add_recipe(workspace.database, record.study_id, entry)
    facts = [(one.code, *fact) for one in settled.contexts for fact in one.facts]
    values = pd.DataFrame(facts, columns=["context", "name", "value"])
    people.add(workspace, record.study_id, values)
    return record


def respondents_of(workspace: Workspace, study: str) -> tuple[Respondent, ...]:
    """Who a planned study asks, as frozen; nobody where its answers were imported."""
    record = store.frozen_study(workspace.database, study)
    if record.kind == "imported":
        return ()
    ids = store.respondent_ids(workspace.database, record.study_id)
    return tuple(respondents.get(workspace.database, respondent_id) for respondent_id in ids)


def respondents_as_amended(workspace: Workspace, study_id: int) -> dict[int, Respondent]:
    """Who a study asks, as amended, by the ids under which the plan knows them."""
    respondents_by_id = {
        respondent_id: respondents.get(workspace.database, respondent_id)
        for respondent_id in store.respondent_ids(workspace.database, study_id)
    }
    for amendment in store.amendments(workspace.database, study_id):
        respondents_by_id[amendment.respondent_id] = amendment.respondent
    return respondents_by_id


def frozen_bank(workspace: Workspace, study: str) -> Instrument:
    """The bank as a study asked it."""
    frozen = store.frozen_study(workspace.database, study)
    return bank_store.instrument(workspace.database, frozen.instrument_id)


def recipe_sentences(workspace: Workspace, study: str) -> tuple[str, ...]:
    """How the contexts of a study were chosen from a corpus, one sentence or two for each set."""
    record = load(workspace, study)
    return tuple(
        f"{count_text(entry.n_contexts, 'context')} of the set '{entry.set_name}'. "
        f"{entry.recipe.sentence}"
        for entry in store.recipes(workspace.database, record.study_id)
    )


def plan_csv(workspace: Workspace, study: str) -> bytes:
    """The plan with its hash and time, for preregistration before the first call."""
    record = load(workspace, study)
    plan = store.plan(workspace.database, record.study_id)
    # one cell: whatever the study is called, no part of its name begins a cell of its own
    head = csv_line(
        [f"# plan {record.plan_hash} of study {record.code} frozen {record.frozen_at.isoformat()}"]
    )
    # a plan frozen before these factors exports as it did
    usual = [
        n for n, level in USUAL_CALLS.items() if plan.column(n).unique().to_pylist() == [level]
    ]
    plan = plan.drop_columns(usual)
    columns = [map(str, column.to_pylist()) for column in plan.columns]  # ids keep every digit
    rows = map(csv_line, zip(*columns, strict=True))
    return "".join([head, csv_line(plan.column_names), *rows]).encode("utf-8", "surrogatepass")


def load_materials(workspace: Workspace, study_id: int) -> StudyMaterials:
    """All that the words of a frozen study are made of."""
    record = next(
        s for s in store.studies(workspace.database, put_away=True) if s.study_id == study_id
    )
    return StudyMaterials(
        record.design,
        bank_store.instrument(workspace.database, record.instrument_id),
        store.contexts(workspace.database, study_id),
        prompts.study_wordings(workspace, study_id),
        {
            respondent_id: person.sampling.reasoning_marks
            for respondent_id, person in respondents_as_amended(workspace, study_id).items()
            if person.sampling.reasoning_marks
        },
    )


def _materials(workspace: Workspace, design: Design, bank: Instrument) -> StudyMaterials:
    """The design with the bank's first format where it names none."""
    first = tuple(response_format.code for response_format in bank.formats[:1])
    chosen = design.formats or first
    blocks = tuple(
        replace(block, formats=first) if block.formats == () else block for block in design.blocks
    )
    return StudyMaterials(
        replace(design, formats=chosen, blocks=blocks),
        bank,
        {context.code: context for context in design.contexts},
        prompts.load_wordings(workspace),
    )


def _bank(workspace: Workspace, design: Design) -> Instrument:
    return editing.content(workspace, design.instrument, design.version)


def _planned(
    workspace: Workspace, design: Design, bank: Instrument, *, priced: bool = False
) -> PlannedDesign:
    """The design with the respondents of each crossing, with their prices if `priced`."""
    materials = _materials(workspace, design, bank)
    asked: dict[object, tuple[Respondent, ...]] = {}  # looked up once for blocks that ask the same
    people = []
    for part in design.crossings():
        chosen = part.respondents, part.temperatures, part.top_p, part.max_tokens
        if chosen not in asked:
            own = _crossed_respondents(workspace, part)
            asked[chosen] = tuple(
                prices.with_prices(workspace, one) if priced else one for one in own
            )
        people.append(asked[chosen])
    return PlannedDesign(materials, tuple(people))


def _crossed_respondents(workspace: Workspace, design: Design) -> list[Respondent]:
    """One respondent per chosen respondent and settings of its calls; the label tells them apart.

    Settings of calls mean nothing to a simulated respondent.
    """
    crossed: dict[int, Respondent] = {}
    for label in design.respondents:
        versions = [catalog.by_label(workspace, label)]
        for name, field_of_levels in SETTINGS.items():
            values = getattr(design, field_of_levels)
            if values and versions[0].kind != "simulated":
                versions = [_with(one, name, value) for one in versions for value in values]
        crossed |= {person.respondent_id: person for person in versions}
    return list(crossed.values())


def _with(person: Respondent, name: str, value: Any) -> Respondent:
    """The version of a respondent with another setting, which its label states."""
    if getattr(person.sampling, name) == value:
        return person
    sampling = replace(person.sampling, **{name: value})
    label = f"{person.label} {'T' if name == 'temperature' else name}={value!r}"
    return replace(person, label=label, sampling=sampling, base_label=person.name)


# The second phase: each question is asked again with an opinion opposite to the first answer.


def phase_state(workspace: Workspace, study: str) -> Phases:
    """How far the phases of a study are."""
    record = store.frozen_study(workspace.database, study)
    return plans.phase_state(workspace.database, record.study_id)


def opinion_templates(workspace: Workspace) -> dict[str, str]:
    """Titles of the templates that state an opinion, by their codes."""
    return {
        code: template.title
        for code, template in prompts.load_wordings(workspace).templates.items()
        if template.states_opinion
    }


def allows_second_phase(workspace: Workspace, study: str) -> bool:
    """Whether a second phase makes sense: a planned study of one item a call without history."""
    record = store.frozen_study(workspace.database, study)
    return record.kind == "planned" and all(
        set(part.block_sizes) == {1} and set(part.histories) == {"none"}
        for part in record.design.crossings()
    )


def plan_stated_phase(workspace: Workspace, study_id: int) -> bool:
    """Plan the second phase that a design states, once the first has its answers.

    False where there is none to plan (yet).
    """
    record = next(
        s for s in store.studies(workspace.database, put_away=True) if s.study_id == study_id
    )
    phases = plans.phase_state(workspace.database, study_id)
    if not record.design.second_phase or phases.opposing or phases.unanswered:
        return False
    if not plans.has_opinion(workspace.database, study_id):
        return False
    plan_second_phase(workspace, record.code, record.design.second_phase)
    return True


def plan_second_phase(workspace: Workspace, study: str, template: str) -> Phases:
    """Plan the second phase from the coded answers of the first; nothing is asked yet.

    Raises
    ------
    DesignError
        The study asks several items a call, the template states no opinion, or as in
        `core.store.plans.add_opposing_phase`. Nothing is changed then.
    """
    record = store.get(workspace.database, study)
    if not allows_second_phase(workspace, study):
        raise DesignError(
            "A second phase needs a planned study that asks one item at a time.",
            "Freeze a study with one item a call and no history.",
        )
    known = prompts.study_wordings(workspace, record.study_id).templates.get(template)
    known = known or prompts.load_wordings(workspace).templates.get(template)
    if known is None or not known.states_opinion:
        raise DesignError(
            f"The template '{template}' states no opinion.",
            "Choose one whose text holds {opinion}.",
        )
    body = prompts.as_json(known)

    def plan_hash_of(count: int, mark: int) -> str:
        text = json.dumps([record.plan_hash, template, body, count, str(mark)])
        return hashlib.sha256(text.encode()).hexdigest()

    with study_log.logged(workspace, study, f"Planned the second phase with {template}"):
        plans.add_opposing_phase(
            workspace.database,
            record.study_id,
            instrument_id=record.instrument_id,
            template=template,
            body=body,
            plan_hash_of=plan_hash_of,
        )
    return phase_state(workspace, study)

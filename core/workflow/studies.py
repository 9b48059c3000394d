"""Designs: how large they are, what they will ask, and freezing them into plans."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from core.collect import budget, prompts
from core.collect.client import ChatRequest, TrialKey
from core.domain.instrument import Instrument
from core.domain.study import (
    Context,
    Design,
    Respondent,
    design_to_dict,
)
from core.errors import DesignError
from core.files import context_files
from core.files.guard import csv_line
from core.store import banks as bank_store
from core.store import memory, respondents
from core.store import studies as store
from core.store.studies import StudyRecord
from core.workflow import banks, design_checks
from core.workflow.design_files import design_of_yaml, design_of_yaml_file, design_yaml
from core.workflow.respondents import by_label, request_for
from core.workflow.workspace import Workspace

__all__ = ["StudyRecord", "design_of_yaml", "design_of_yaml_file", "design_yaml"]

LONGEST_REPLY = 4096  # tokens, where a respondent sets no limit
SAMPLED_PROMPTS = 40  # how many prompts the estimate of tokens and cost looks at


@dataclass(frozen=True)
class RespondentSize:
    """What a design asks of one respondent at one temperature. Costs in US dollars."""

    label: str
    calls: int
    tokens_low: int
    tokens_high: int
    cost_low: float | None  # None: the prices are not known
    cost_high: float | None


@dataclass(frozen=True)
class PlanSize:
    """What a design comes to before anything is asked."""

    trials: int
    administrations: int
    prompts: int  # different ones that each respondent gets; repetitions ask the same again
    factors: tuple[tuple[str, int], ...]
    respondents: tuple[RespondentSize, ...]

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Respondents whose cost cannot be said."""
        return tuple(person.label for person in self.respondents if person.cost_high is None)

    @property
    def cost(self) -> tuple[float, float]:
        """Dollars at least and at most, of the respondents whose prices are known."""
        return (
            sum(person.cost_low or 0.0 for person in self.respondents),
            sum(person.cost_high or 0.0 for person in self.respondents),
        )


def listed(workspace: Workspace) -> tuple[StudyRecord, ...]:
    """Every study, oldest first."""
    return store.studies(workspace.database)


def load(workspace: Workspace, code: str) -> StudyRecord:
    """One study by its code."""
    return store.get(workspace.database, code)


def size(workspace: Workspace, design: Design) -> PlanSize:
    """Number of calls, and a range of tokens and cost from a sample of the prompts."""
    bank = _bank(workspace, design)
    people = _people(workspace, design)
    crossed = (
        ("respondents x temperatures", len(people)),
        ("languages", len(design.languages)),
        ("contexts", max(len(design.contexts), 1)),
        ("entities", max(len(design.entities), 1)),
        ("repetitions", design.repetitions),
    )
    per_person = len(bank.items)
    for _, count in crossed[1:]:
        per_person *= count
    sizes = tuple(_size_of(design, bank, person, per_person) for person in people)
    administrations = per_person * len(people) // max(len(bank.items), 1)
    factors = (*crossed, ("items", len(bank.items)))
    prompts = _distinct_requests(design, bank)
    return PlanSize(per_person * len(people), administrations, prompts, factors, sizes)


def check(workspace: Workspace, design: Design) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    found = design_checks.obstacles(_bank(workspace, design), design)
    if design.study.strip() in {study.code for study in listed(workspace)}:
        return (f"There is a study called '{design.study.strip()}' already.", *found)
    return found


def cautions(workspace: Workspace, design: Design) -> tuple[str, ...]:
    """What does not stand in the way of freezing and should still be known, in plain words."""
    return design_checks.cautions(design, _people(workspace, design))


def example(workspace: Workspace, design: Design, number: int = 0) -> ChatRequest:
    """The request of the n-th planned call to the first respondent, in the order of asking.

    Counted through items, contexts, entities and languages, then from the first one again.
    """
    bank = _bank(workspace, design)
    people = _people(workspace, design)
    total = _distinct_requests(design, bank)
    if not total or not people or not bank.formats:
        raise DesignError(
            "There is nothing to show yet.", "Choose a bank with items, a language, and a model."
        )
    return _request(design, bank, people[0], number % total)


def freeze(workspace: Workspace, design: Design) -> StudyRecord:
    """Turn a design into a plan that does not change any more; nothing is asked yet.

    The bank's working copy is published as a version where it has changed.

    Raises
    ------
    DesignError
        Something in the design is missing or contradictory; nothing is kept.
    """
    trouble = check(workspace, design)
    if trouble:
        raise DesignError(" ".join(trouble[:5]), "Change the design, then freeze it again.")
    bank = _bank(workspace, design)
    published = (
        banks.publish(workspace, design.instrument)
        if design.version is None
        else next(
            v for v in banks.versions(workspace, design.instrument) if v.version == design.version
        )
    )
    people = _people(workspace, design)
    for person in people:
        respondents.add(workspace.database, person)
    settled = replace(
        design,
        version=published.version,
        format=design.format or bank.formats[0].code,
        study=design.study.strip(),
    )

    def plan_hash_of(n_trials: int, fingerprint: int) -> str:
        body = {
            "design": design_to_dict(settled),
            "instrument": published.content_hash,
            "respondents": sorted(person.respondent_id for person in people),
            "template": prompts.TEMPLATE,
            "trials": [n_trials, fingerprint],
        }
        text = json.dumps(body, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    return store.freeze(
        workspace.database,
        settled,
        instrument_id=published.instrument_id,
        respondent_ids=[person.respondent_id for person in people],
        plan_hash_of=plan_hash_of,
        template=prompts.TEMPLATE,
    )


def people(workspace: Workspace, study: str) -> tuple[Respondent, ...]:
    """Who a planned study asks, as frozen; nobody where its answers were imported."""
    record = load(workspace, study)
    if record.kind == "imported":
        return ()
    ids = store.respondent_ids(workspace.database, record.study_id)
    return tuple(respondents.get(workspace.database, respondent_id) for respondent_id in ids)


def frozen_bank(workspace: Workspace, study: str) -> Instrument:
    """The bank as a study asked it."""
    return bank_store.instrument(workspace.database, load(workspace, study).instrument_id)


def plan_csv(workspace: Workspace, study: str) -> bytes:
    """The plan with its hash and time, for preregistration before the first call."""
    record = load(workspace, study)
    plan = store.plan(workspace.database, record.study_id)
    head = (
        f"# plan {record.plan_hash} of study {record.code}, frozen {record.frozen_at.isoformat()}\n"
    )
    columns = [map(str, column.to_pylist()) for column in plan.columns]  # ids keep every digit
    rows = map(csv_line, zip(*columns, strict=True))
    return "".join([head, csv_line(plan.column_names), *rows]).encode("utf-8", "surrogatepass")


def persona_sets(workspace: Workspace) -> dict[str, tuple[Context, ...]]:
    """Persona sets kept in the database, by name."""
    return memory.persona_sets(workspace.database)


def save_persona_set(workspace: Workspace, name: str, contexts: tuple[Context, ...]) -> None:
    """Keep a persona set; studies hold their own copy, so replacing one changes no study."""
    if not name.strip():
        raise DesignError("The persona set has no name.", "Type a name.")
    memory.save_persona_set(workspace.database, name.strip(), contexts)


def read_personas(name: str, data: bytes) -> tuple[Context, ...]:
    """Personas from a text, CSV or XLSX file."""
    return context_files.read_personas(name, data)


def parse_personas(text: str) -> tuple[Context, ...]:
    """Personas typed one a line."""
    return context_files.parse_personas(text)


def _bank(workspace: Workspace, design: Design) -> Instrument:
    return banks.content(workspace, design.instrument, design.version)


def _people(workspace: Workspace, design: Design) -> list[Respondent]:
    """One respondent per chosen respondent and temperature; the label tells them apart."""
    chosen = [by_label(workspace, label) for label in design.respondents]
    if not design.temperatures:
        return chosen
    crossed: dict[int, Respondent] = {}
    for person in chosen:
        for temperature in design.temperatures:
            if person.kind == "simulated" or person.sampling.temperature == temperature:
                crossed[person.respondent_id] = person
                continue
            sampling = replace(person.sampling, temperature=temperature)
            other = replace(person, label=f"{person.label} T={temperature!r}", sampling=sampling)
            crossed[other.respondent_id] = other
    return list(crossed.values())


def _distinct_requests(design: Design, bank: Instrument) -> int:
    """How many requests one respondent gets in one repetition."""
    conditions = max(len(design.contexts), 1) * max(len(design.entities), 1)
    return len(bank.items) * conditions * len(design.languages)


def _request(design: Design, bank: Instrument, person: Respondent, number: int) -> ChatRequest:
    """The n-th request of one repetition, in the order of asking."""
    response_format = bank.format(design.format) or bank.formats[0]
    entities = design.entities or ("",)
    contexts = design.contexts or (Context("", ""),)
    rest, item = divmod(number, len(bank.items))
    rest, context = divmod(rest, len(contexts))
    language, entity = divmod(rest, len(entities))
    trial = TrialKey(
        bank.items[item], response_format, design.languages[language], contexts[context].code,
        entities[entity],
    )  # fmt: skip
    return request_for(person, trial, context_text=contexts[context].text)


def _size_of(design: Design, bank: Instrument, person: Respondent, calls: int) -> RespondentSize:
    if not calls or not bank.formats or not design_checks.can_be_rendered(bank, design):
        return RespondentSize(person.label, calls, 0, 0, None, None)
    distinct = _distinct_requests(design, bank)
    numbers = range(0, distinct, max(distinct // SAMPLED_PROMPTS, 1))
    sample = [_request(design, bank, person, number) for number in numbers]
    scale = calls / len(sample)
    characters = sum(len(m["content"]) for request in sample for m in request.messages)
    longest = person.sampling.max_tokens or LONGEST_REPLY
    costs = [budget.estimate(request) for request in sample]
    known = [cost for cost in costs if cost is not None]
    priced = len(known) == len(costs)
    return RespondentSize(
        label=person.label,
        calls=calls,
        tokens_low=round(scale * (characters / 5 + len(sample))),
        tokens_high=round(scale * (characters / 3 + len(sample) * longest)),
        cost_low=scale * sum(low for low, _ in known) if priced else None,
        cost_high=scale * sum(high for _, high in known) if priced else None,
    )

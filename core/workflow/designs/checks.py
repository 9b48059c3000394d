"""Problems and cautions of a design, and its size: calls, tokens, cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.collect import budget
from core.collect.budget import TOKENS_WITHOUT_LIMIT, reply_limit
from core.collect.client import ChatRequest, Question
from core.domain.instrument import ORIGINAL, Instrument, Item, problems
from core.domain.numbers import count_text
from core.domain.study import Context, Design, Respondent
from core.domain.values import name_fault
from core.errors import DesignError
from core.workflow.prompts import StudyMaterials, shown_format

# How large a design is before anything is asked: calls, tokens and cost.

_SAMPLED_PROMPTS = 40  # how many prompts the estimate of tokens and cost looks at


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
    """What a design comes to before anything is asked.

    `missing` counts the trials left out because an item has no text in a language and form.
    """

    trials: int
    calls: int
    administrations: int
    prompts: int  # different ones that each respondent gets; repetitions ask the same again
    missing: int
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


@dataclass(frozen=True)
class Crossing:
    """One repetition of a design for one respondent: its conditions, and what each of them asks.

    Conditions are numbered in the order of asking, so that any request can be shown without
    writing out the others.
    """

    materials: StudyMaterials

    @property
    def conditions(self) -> tuple[tuple[str, int], ...]:
        """Each factor but respondent and repetition, with its number of levels."""
        design = self.materials.design
        return (
            ("languages", len(design.languages)),
            ("forms", len(design.forms)),
            ("formats", len(design.formats)),
            ("templates", len(design.templates)),
            ("label orders", len(design.label_orders)),
            ("pairs" if design.pairs else "entities", len(self._entities)),
            ("contexts", len(self._contexts)),
        )

    def items(self, language: str, form: str) -> tuple[Item, ...]:
        """The items that have a text there, in bank order."""
        return tuple(
            item
            for item in self.materials.bank.items
            if any(
                w.text.strip() for w in item.wordings if (w.language, w.form) == (language, form)
            )
        )

    def item_counts(self) -> Mapping[tuple[str, str], int]:
        """How many items have a text, by language and form."""
        design = self.materials.design
        counts = {(la, form): 0 for la in design.languages for form in design.forms}
        for item in self.materials.bank.items:
            worded = {(w.language, w.form) for w in item.wordings if w.text.strip()}
            for place in worded & counts.keys():
                counts[place] += 1
        return counts

    @property
    def per_wording(self) -> int:
        """Conditions for each language and form."""
        return math.prod(count for _, count in self.conditions[2:])

    def trials_and_calls(self) -> tuple[int, int]:
        """Trials and calls of one repetition for one respondent."""
        counts = self.item_counts().values()
        calls = sum(map(self._blocks, counts))
        return sum(counts) * self.per_wording, calls * self.per_wording

    def calls_in(self, language: str) -> int:
        """Calls in one language, of one repetition for one respondent."""
        own = (count for (of, _), count in self.item_counts().items() if of == language)
        return sum(map(self._blocks, own)) * self.per_wording

    def _blocks(self, items: int) -> int:
        """Calls that put that many items once."""
        return -(-items // (self.materials.design.block_sizes[0] or max(items, 1)))

    def request(self, person: Respondent, number: int) -> ChatRequest:
        """The n-th request, counted from 0 in the order of the plan, items in bank order."""
        return self.materials.request(person, self._question(number))

    def _question(self, number: int) -> Question:
        for language, form in self._wordings():
            items = self.items(language, form)
            block = self.materials.design.block_sizes[0] or max(len(items), 1)
            blocks = self._blocks(len(items))
            if number >= blocks * self.per_wording:
                number -= blocks * self.per_wording
                continue
            rest, place = divmod(number, blocks)
            chosen = items[place * block : (place + 1) * block]
            return self._conditioned(rest, language, form, chosen)
        raise DesignError("There is nothing to show.", "Choose items that have a text.")

    def _wordings(self) -> Iterator[tuple[str, str]]:
        design = self.materials.design
        return ((language, form) for language in design.languages for form in design.forms)

    def _conditioned(
        self, number: int, language: str, form: str, items: tuple[Item, ...]
    ) -> Question:
        design = self.materials.design
        number, context = divmod(number, len(self._contexts))
        number, pair = divmod(number, len(self._entities))
        number, order = divmod(number, len(design.label_orders))
        response_format, template = divmod(number, len(design.templates))
        entities = self._entities[pair]
        return Question(
            items,
            shown_format(
                self.materials.formats[design.formats[response_format]],
                design.label_orders[order],
                None,
                entities=entities,
            ),
            language,
            self._contexts[context].code,
            *entities,
            form,
            design.templates[template],
        )

    @property
    def _entities(self) -> tuple[tuple[str, str], ...]:
        design = self.materials.design
        return design.pairs or tuple((name, "") for name in design.entities) or (("", ""),)

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return self.materials.design.contexts or (Context(""),)


def plan_size(crossing: Crossing, people: list[Respondent], *, renderable: bool) -> PlanSize:
    """What a design comes to; tokens and cost are of a sample of the prompts, if `renderable`."""
    design = crossing.materials.design
    trials, calls = crossing.trials_and_calls()
    counts = crossing.item_counts()
    administrations = sum(count > 0 for count in counts.values()) * crossing.per_wording
    full = len(crossing.materials.bank.items) * len(counts) * crossing.per_wording
    times = design.repetitions * len(people)
    crossed = (
        ("respondents x temperatures", len(people)),
        *crossing.conditions,
        ("repetitions", design.repetitions),
    )
    per_person = calls * design.repetitions
    return PlanSize(
        trials=trials * times,
        calls=calls * times,
        administrations=administrations * times,
        prompts=calls,
        missing=(full - trials) * times,
        factors=(*crossed, ("items", len(crossing.materials.bank.items))),
        respondents=tuple(
            _respondent_size(crossing, person, per_person, calls if renderable else 0)
            for person in people
        ),
    )


def _respondent_size(
    crossing: Crossing, person: Respondent, calls: int, distinct: int
) -> RespondentSize:
    if not calls or not distinct:
        return RespondentSize(person.label, calls, 0, 0, None, None)
    numbers = range(0, distinct, max(distinct // _SAMPLED_PROMPTS, 1))
    sample = [crossing.request(person, number) for number in numbers]
    scale = calls / len(sample)
    again = 1 + crossing.materials.design.ask_again
    characters = sum(len(m["content"]) for request in sample for m in request.messages)
    longest = sum(budget.longest_reply(request.sampling) for request in sample)
    answers = sum(len(request.question.items) for request in sample)
    costs = [budget.estimate(request) for request in sample]
    known = [cost for cost in costs if cost is not None]
    priced = len(known) == len(costs)
    return RespondentSize(
        label=person.label,
        calls=calls,
        tokens_low=round(scale * (characters / 5 + answers)),
        tokens_high=round(scale * again * (characters / 3 + longest)),
        cost_low=scale * sum(low for low, _ in known) if priced else None,
        cost_high=scale * again * sum(high for _, high in known) if priced else None,
    )


# What stands in the way of a design, and what a reader of its results should know beforehand.

_MAX_TRIALS = 20_000_000
MAX_TEMPERATURE = 2.0
_MAX_BANK_PROBLEMS = 20  # a bank of thousands of broken items would fill the page otherwise


def obstacles(materials: StudyMaterials) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    bank, design = materials.bank, materials.design
    sentences = [*_missing_choices(design)]
    if _later_parts(design) != (design,):
        sentences.append("Blocks and the factors of calls cannot be planned yet.")
    blocking = [f"{p.where}: {p.what}." for p in problems(bank) if p.blocks]
    sentences.extend(blocking[:_MAX_BANK_PROBLEMS])
    if len(blocking) > _MAX_BANK_PROBLEMS:
        sentences.append(
            f"And {count_text(len(blocking) - _MAX_BANK_PROBLEMS, 'more problem')} in the bank."
        )
    sentences.extend(_missing_texts(bank, design))
    for what, values in _levels(design).items():
        sentences.extend(_level_problems(what, values))
    sentences.extend(_entity_problems(bank, design))
    sentences.extend(_unknown_levels(materials))
    sentences.extend(_block_problems(materials))
    sentences.extend(_size_problems(materials))
    return tuple(sentences)


def _later_parts(design: Design) -> tuple[Design, ...]:
    """The crossings of a design, without what no plan takes up yet."""
    return tuple(
        replace(
            part, items=(), top_p=(), max_tokens=(), histories=part.histories[:1], second_phase="",
            items_per_call=part.block_sizes[0],
        )
        for part in design.crossings()
    )  # fmt: skip


def has_no_prompts(bank: Instrument, materials: StudyMaterials) -> bool:
    """Whether something cannot be put into words as designed."""
    design = materials.design
    names = (*design.entities, *(name for pair in design.pairs for name in pair))
    return bool(
        not bank.formats
        or not all(name.strip() for name in names)
        or _missing_texts(bank, design)
        or _entity_problems(bank, design)
        or [*_unknown_levels(materials)]
        or [*_block_problems(materials)]
    )


def _missing_texts(bank: Instrument, design: Design) -> list[str]:
    """Languages and forms of the design in which items have no text and are not to be left out."""
    sentences = []
    for language in design.languages:
        for form in design.forms:
            missing = [i.code for i in bank.items if not _is_worded(i, language, form)]
            if missing and (not design.skip_missing or len(missing) == len(bank.items)):
                some = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
                which = "" if form == ORIGINAL else f", form '{form}'"
                lack = count_text(len(missing), "item has no text", "items have no text")
                sentences.append(f"{lack} in '{language}'{which}: {some}.")
    return sentences


def _is_worded(item: Item, language: str, form: str) -> bool:
    return any(w.text.strip() for w in item.wordings if (w.language, w.form) == (language, form))


def _entity_problems(bank: Instrument, design: Design) -> list[str]:
    """Items that name an entity where none is given, or the other way round."""
    if any(response_format.ratings for response_format in bank.formats):
        return []

    def first_naming(placeholder: str) -> str:
        return next(
            (
                item.code
                for item in bank.items
                for w in item.wordings
                if w.language in design.languages and w.form in design.forms
                and placeholder in w.text
            ),
            "",
        )  # fmt: skip

    one, other = first_naming("{entity}"), first_naming("{entity_b}")
    if other and not design.pairs:
        return [f"Items name {{entity_b}} ({other} for one), and no pair of entities is given."]
    if one and not (design.entities or design.pairs):
        return [f"Items name an {{entity}} ({one} for one), and no entity is given."]
    if design.entities and design.pairs:
        return ["Both entities and pairs of entities are given; a study crosses one of them."]
    if (design.entities or design.pairs) and not one:
        return ["Entities are given, but no item names {entity}."]
    return []


def cautions(bank: Instrument, design: Design, people: Sequence[Respondent]) -> tuple[str, ...]:
    """What does not stand in the way of freezing and should still be known, in plain words."""
    sentences = [*_draft_cautions(bank, design)]
    if design.repetitions > 1:
        fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
        if fixed:
            sentences.append(
                f"At temperature 0 a model says the same again: the repetitions of "
                f"{_join(fixed)} will be copies (or nearly), not independent answers."
            )
    sentences.extend(_asking_cautions(design, people))
    others = [language for language in design.languages if language.split("-")[0] != "en"]
    local = list(dict.fromkeys(p.label for p in people if p.kind == "local" and not p.base_url))
    if local and others:
        sentences.append(
            f"The model that came along understands English only; you ask {_join(local)} "
            f"in {_join(others)} as well."
        )
    if design.temperatures and any(p.kind == "simulated" for p in people):
        sentences.append("Temperatures mean nothing to simulated respondents: each is asked once.")
    return tuple(sentences)


def context_cautions(crossing: Crossing, n_people: int) -> Iterator[str]:
    """Contexts in another language than the items they stand before, and those of no stated one."""
    design = crossing.materials.design
    calls, pairs = 0, Counter[str]()
    for language in design.languages:
        of_one = crossing.calls_in(language) // max(len(design.contexts), 1)
        for context in design.contexts:
            if context.language and _base_language(context.language) != _base_language(language):
                calls += of_one * design.repetitions * n_people
                pairs[f"{context.language} before {language}"] += 1
    if calls:
        total = crossing.trials_and_calls()[1] * design.repetitions * n_people
        yield (
            f"{calls:,} of {count_text(total, 'call puts', 'calls put')} a context in one language "
            f"before items in another ({_join(list(pairs))}). Choose contexts in the language of "
            "the items, or plan a study for each language."
        )
    unstated = sum(not c.language for c in design.contexts if c.text.strip() or c.messages)
    if unstated and len({_base_language(language) for language in design.languages}) > 1:
        yield (
            f"The design asks in several languages, and {count_text(unstated, 'context')} "
            "without a "
            "stated language may not fit all of them. State it on the page Contexts, so that it "
            "can be compared with the language of the items."
        )


def _base_language(language: str) -> str:
    """A language without its region: en for en-GB."""
    return language.replace("_", "-").split("-")[0].lower()


def _asking_cautions(design: Design, people: Sequence[Respondent]) -> Iterator[str]:
    """What asking again, and probabilities of first tokens, cannot do."""
    fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
    if design.ask_again and fixed:
        yield (
            f"At temperature 0 a model says the same again: asking {_join(fixed)} anew for an "
            "unusable answer will hardly help."
        )
    services = [p.label for p in people if p.kind == "api"]
    unlimited = [p.label for p in people if p.kind == "api" and reply_limit(p.sampling) is None]
    if unlimited:
        yield (
            f"{_join(unlimited)} may reply at any length. The upper end of tokens and cost counts "
            f"{TOKENS_WITHOUT_LIMIT:,} tokens for each call, and a model that thinks first can "
            "write more: set a cost cap on the page Collect, or a longest reply on the page "
            "Respondents."
        )
    if design.first_token and design.answering == "enforced" and services:
        yield (
            f"Answers of {_join(services)} held to a schema begin with a brace, so their first "
            "token says nothing about the option."
        )


def _draft_cautions(bank: Instrument, design: Design) -> list[str]:
    """How many wordings of the design are a model's drafts that nobody has accepted."""
    drafts = [
        w
        for item in bank.items
        for w in item.wordings
        if w.drafted_by and w.language in design.languages and w.form in design.forms
    ]
    if not drafts:
        return []
    models = _join(list(dict.fromkeys(w.drafted_by for w in drafts)))
    many = count_text(
        len(drafts), "wording is an unreviewed draft", "wordings are unreviewed drafts"
    )
    return [f"{many} of a model ({models})."]


def _missing_choices(design: Design) -> Iterator[str]:
    if not design.study.strip():
        yield "The study has no name."
    elif fault := name_fault(design.study):
        yield f"The name of the study {fault}."
    if not design.respondents:
        yield "No respondent is chosen."
    if not design.languages:
        yield "No language is chosen."
    if design.repetitions < 1:
        yield "There must be at least one repetition."
    yield from _wrong_values(design)
    if any(not 0 <= temperature <= MAX_TEMPERATURE for temperature in design.temperatures):
        yield f"Temperatures must lie between 0 and {MAX_TEMPERATURE:g}."
    if len(set(design.temperatures)) < len(design.temperatures):
        yield "A temperature stands twice."


def _wrong_values(design: Design) -> Iterator[str]:
    if min(design.block_sizes) < 0 or design.ask_again < 0:
        yield "Items per call and the number of times to ask again cannot be negative."
    if design.swap_halves and design.repetitions < 2:
        yield "To name the second entity first in half of the repetitions, there must be two."


def _levels(design: Design) -> dict[str, Sequence[str]]:
    """What a design crosses, by the word for one level; none may repeat or be empty."""
    return {
        "respondent": design.respondents,
        "language": design.languages,
        "form": design.forms,
        "answer format": design.formats,
        "template": design.templates,
        "label order": design.label_orders,
        "context code": [context.code for context in design.contexts],
        "entity": design.entities,
        "pair of entities": [" and ".join(pair) if all(pair) else "" for pair in design.pairs],
    }


def _unknown_levels(materials: StudyMaterials) -> Iterator[str]:
    """Formats, forms, templates and orders that are not there."""
    design, bank = materials.design, materials.bank
    for code in design.formats:
        if bank.format(code) is None:
            yield f"The bank has no answer format '{code}'."
    for form in design.forms:
        if form not in bank.forms():
            yield f"The bank has no form '{form}'."
    yield from _unfit_templates(materials)
    for first, second in design.pairs:
        if first == second:
            yield f"The pair '{first}' and '{second}' names the same entity twice."


def _unfit_templates(materials: StudyMaterials) -> Iterator[str]:
    """Templates that are not there, or that are for a second phase."""
    for code in materials.design.templates:
        template = materials.wordings.templates.get(code)
        if template is None:
            yield f"There is no prompt template '{code}'."
        elif template.states_opinion:
            yield f"The template '{code}' states an opinion. Only a second phase can use it."


def _block_problems(materials: StudyMaterials) -> Iterator[str]:
    """What cannot be asked several items at a time."""
    design = materials.design
    if set(design.block_sizes) == {1}:
        return
    for code in design.templates:
        template = materials.wordings.templates.get(code)
        if template and not all(template.text(la).block for la in design.languages):
            yield f"The template '{code}' puts one item at a time, and the design asks several."
    for code in design.formats:
        response_format = materials.bank.format(code)
        if response_format and not response_format.is_choice:
            yield "Texts and ratings are asked for one at a time."


def _size_problems(materials: StudyMaterials) -> list[str]:
    design = materials.design
    factors = (*_levels(design).values(), design.temperatures)
    count = len(materials.bank.items) * design.repetitions
    for levels in factors:
        count *= max(len(levels), 1)
    if count <= _MAX_TRIALS:
        return []
    return [f"{count:,} calls are too many for one study (at most {_MAX_TRIALS:,}). Split it."]


def _level_problems(what: str, values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    repeated = sorted(value for value, count in counts.items() if count > 1)
    sentences = [f"The {what} '{value}' stands twice." for value in repeated]
    if any(not value.strip() for value in counts):
        sentences.append(f"There is an empty {what}.")
    return sentences


def _join(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")

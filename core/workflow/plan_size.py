"""How large a design is before anything is asked: calls, tokens and cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.collect import budget
from core.collect.client import ChatRequest, Question
from core.domain.instrument import Item
from core.domain.study import Context, Respondent
from core.errors import DesignError
from core.workflow.questions import Asked, shown

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

    asked: Asked

    @property
    def conditions(self) -> tuple[tuple[str, int], ...]:
        """Each factor but respondent and repetition, with its number of levels."""
        design = self.asked.design
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
            for item in self.asked.bank.items
            if any(
                w.text.strip() for w in item.wordings if (w.language, w.form) == (language, form)
            )
        )

    def item_counts(self) -> Mapping[tuple[str, str], int]:
        """How many items have a text, by language and form."""
        design = self.asked.design
        counts = {(la, form): 0 for la in design.languages for form in design.forms}
        for item in self.asked.bank.items:
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
        return -(-items // (self.asked.design.items_per_call or max(items, 1)))

    def request(self, person: Respondent, number: int) -> ChatRequest:
        """The n-th request, counted from 0 in the order of the plan, items in bank order."""
        return self.asked.request(person, self._question(number))

    def _question(self, number: int) -> Question:
        for language, form in self._wordings():
            items = self.items(language, form)
            block = self.asked.design.items_per_call or max(len(items), 1)
            blocks = self._blocks(len(items))
            if number >= blocks * self.per_wording:
                number -= blocks * self.per_wording
                continue
            rest, place = divmod(number, blocks)
            chosen = items[place * block : (place + 1) * block]
            return self._conditioned(rest, language, form, chosen)
        raise DesignError("There is nothing to show.", "Choose items that have a text.")

    def _wordings(self) -> Iterator[tuple[str, str]]:
        design = self.asked.design
        return ((language, form) for language in design.languages for form in design.forms)

    def _conditioned(
        self, number: int, language: str, form: str, items: tuple[Item, ...]
    ) -> Question:
        design = self.asked.design
        number, context = divmod(number, len(self._contexts))
        number, pair = divmod(number, len(self._entities))
        number, order = divmod(number, len(design.label_orders))
        response_format, template = divmod(number, len(design.templates))
        entities = self._entities[pair]
        return Question(
            items,
            shown(
                self.asked.formats[design.formats[response_format]],
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
        design = self.asked.design
        return design.pairs or tuple((name, "") for name in design.entities) or (("", ""),)

    @property
    def _contexts(self) -> tuple[Context, ...]:
        return self.asked.design.contexts or (Context(""),)


def size_of(crossing: Crossing, people: list[Respondent], *, renderable: bool) -> PlanSize:
    """What a design comes to; tokens and cost are of a sample of the prompts, if `renderable`."""
    design = crossing.asked.design
    trials, calls = crossing.trials_and_calls()
    counts = crossing.item_counts()
    administrations = sum(count > 0 for count in counts.values()) * crossing.per_wording
    full = len(crossing.asked.bank.items) * len(counts) * crossing.per_wording
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
        factors=(*crossed, ("items", len(crossing.asked.bank.items))),
        respondents=tuple(
            _of_person(crossing, person, per_person, calls if renderable else 0)
            for person in people
        ),
    )


def _of_person(crossing: Crossing, person: Respondent, calls: int, distinct: int) -> RespondentSize:
    if not calls or not distinct:
        return RespondentSize(person.label, calls, 0, 0, None, None)
    numbers = range(0, distinct, max(distinct // _SAMPLED_PROMPTS, 1))
    sample = [crossing.request(person, number) for number in numbers]
    scale = calls / len(sample)
    again = 1 + crossing.asked.design.ask_again
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

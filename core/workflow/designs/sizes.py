"""The size of a design before anything is asked: trials, calls, tokens, cost; and its requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from core.collect import budget
from core.collect.client import ChatRequest, Question
from core.domain.cells import AXES, Cell, PlanCells, administrations, places, plan_cells
from core.domain.instrument import Item
from core.domain.languages import base_language
from core.domain.study import Design, Respondent
from core.errors import DesignError
from core.workflow.designs.usage import LearnedUsage, basis_words
from core.workflow.prompts import StudyMaterials, said, shown_format

_SAMPLED_PROMPTS = 40  # how many prompts the estimate of tokens and cost looks at
_REPLY = said("(reply of the model)")
_SAMPLED_OF_BLOCK = 1  # at least, of each of several blocks

_REPETITION, _RESPONDENT = AXES.index("repetition"), AXES.index("respondent")
_LANGUAGE, _FORM = AXES.index("language"), AXES.index("form")
_PER_CALL, _CONTEXT = AXES.index("items_per_call"), AXES.index("context")


@dataclass(frozen=True)
class RespondentSize:
    """What a design asks of one respondent with one set of settings. Costs in US dollars."""

    label: str
    prompts: int  # different ones; repetitions ask the same again
    calls: int
    tokens_low: int
    tokens_high: int
    cost_low: float | None  # None: the prices are not known
    cost_high: float | None
    cost_expected: float | None = None
    basis: str = ""  # what the expected cost rests on


@dataclass(frozen=True)
class BlockSize:
    """What one block asks by itself. `new` counts its trials that no earlier block has."""

    name: str
    trials: int
    calls: int
    cost_low: float | None  # US dollars; None: the prices are not known
    cost_high: float | None
    new: int
    cost_expected: float | None = None


@dataclass(frozen=True)
class PlanSize:
    """What a design comes to before anything is asked.

    `missing` counts the trials left out because an item has no text in a language and form. The
    trials of all `blocks` may be more than `trials`, because a trial of several is asked once.
    """

    trials: int
    calls: int
    administrations: int
    prompts: int  # different ones that the first respondent gets; repetitions ask the same again
    missing: int
    factors: tuple[tuple[str, int], ...]
    respondents: tuple[RespondentSize, ...]
    blocks: tuple[BlockSize, ...] = ()

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

    @property
    def cost_expected(self) -> float:
        """Expected dollars, of the respondents whose prices are known."""
        return sum(person.cost_expected or 0.0 for person in self.respondents)

    @property
    def calls_unpriced(self) -> int:
        """Calls to respondents whose prices are not known."""
        return sum(person.calls for person in self.respondents if person.cost_high is None)


@dataclass(frozen=True)
class PlannedDesign:
    """A design cut into cells, so that its calls are counted and shown without writing them out.

    `people` are the respondents of each crossing.
    """

    materials: StudyMaterials
    people: tuple[tuple[Respondent, ...], ...]

    @cached_property
    def plan(self) -> PlanCells:
        """The cells of the design."""
        ids = [[person.respondent_id for person in people] for people in self.people]
        codes = [item.code for item in self.materials.bank.items]
        return plan_cells(self.materials.design, ids, codes)

    @cached_property
    def respondents(self) -> Mapping[int, Respondent]:
        """Every respondent by id, in the order of asking."""
        people = {one.respondent_id: one for part in self.people for one in part}
        return {key: people[key] for key in self.plan.levels["respondent"]}

    @cached_property
    def _worded(self) -> Mapping[tuple[str, str], int]:
        """The items that have a text, as bits, by language and form."""
        worded: Counter[tuple[str, str]] = Counter()
        for place, item in enumerate(self.materials.bank.items):
            for where in {(w.language, w.form) for w in item.wordings if w.text.strip()}:
                worded[where] |= 1 << place
        return worded

    def trials(self, cells: Iterable[Cell]) -> int:
        """Trials of some cells."""
        count = 0
        for cell in cells:
            asked = self._asked(cell)
            per_wording = administrations(self.plan, cell) // max(len(asked), 1)
            count += per_wording * sum(asked)
        return count

    def calls(self, cells: Iterable[Cell]) -> int:
        """Calls of some cells."""
        sizes = self.plan.levels["items_per_call"]
        count = 0
        for cell in cells:
            asked = self._asked(cell)
            own = [sizes[place] for place in cell.places("items_per_call")]
            per_way = administrations(self.plan, cell) // max(len(asked) * len(own), 1)
            count += per_way * sum(_calls(items, size) for items in asked for size in own)
        return count

    def administrations(self, cells: Iterable[Cell]) -> int:
        """Administrations of some cells with an item to ask."""
        count = 0
        for cell in cells:
            asked = self._asked(cell)
            per_wording = administrations(self.plan, cell) // max(len(asked), 1)
            count += per_wording * sum(items > 0 for items in asked)
        return count

    def _asked(self, cell: Cell) -> list[int]:
        """How many items of a cell have a text, by its languages and forms."""
        languages, forms = self.plan.levels["language"], self.plan.levels["form"]
        return [
            (cell.items & self._worded[languages[language], forms[form]]).bit_count()
            for language in cell.places("language")
            for form in cell.places("form")
        ]

    def of_respondent(self, respondent_id: int) -> list[Cell]:
        """The cells of one respondent."""
        place = self.plan.levels["respondent"].index(respondent_id)
        return [*_narrowed(self.plan.cells, _RESPONDENT, place)]

    def prompts(self, respondent_id: int) -> int:
        """Calls of the first repetition, for one respondent."""
        return self.calls(self._first_repetitions(respondent_id)) // self._n_first

    def _first_repetitions(self, respondent_id: int) -> list[Cell]:
        """The cells of one respondent in the first range of repetitions."""
        return [*_narrowed(self.of_respondent(respondent_id), _REPETITION, 0)]

    @property
    def _n_first(self) -> int:
        """How many repetitions the first range has."""
        return next((last for _, last in self.plan.levels["repetition"]), 1)

    def request(self, respondent_id: int, number: int) -> ChatRequest:
        """The n-th request of the first repetition to a respondent, counted from 0.

        Calls count in the order of the plan, items in that of the bank. With history, fixed words
        stand for each of the earlier replies.
        """
        *before, question = self._questions(self._first_repetitions(respondent_id), number)
        person = self.respondents[respondent_id]
        earlier = [
            message
            for asked in before
            for message in (self.materials.request(person, asked).messages[-1], _REPLY)
        ]
        return self.materials.request(person, question, tuple(earlier))

    def blocks_of(self, respondent_id: int, number: int) -> tuple[int, ...]:
        """The places of the blocks that ask an item of the n-th request of the first repetition."""
        found, calls = self._place(self._first_repetitions(respondent_id), number)
        asked = sum(1 << place for place in calls[-1])
        bits = [1 << found[axis] for axis in range(_LANGUAGE, len(AXES))]
        person = 1 << self.plan.levels["respondent"].index(respondent_id)
        return tuple(
            n
            for n, own in enumerate(self.plan.crossed)
            if any(
                cell.items & asked
                and cell.levels[_REPETITION] & 1
                and cell.levels[_RESPONDENT] & person
                and all(map(int.__and__, cell.levels[_LANGUAGE:], bits))
                for cell in own
            )
        )

    def _questions(self, cells: list[Cell], number: int) -> list[Question]:
        """What the n-th call of the cells asks; with history, after what the calls before asked."""
        found, calls = self._place(cells, number)
        levels, items = self._levels_at(found), self.materials.bank.items
        return [self._conditioned(levels, tuple(items[n] for n in asked)) for asked in calls]

    def _place(
        self, cells: list[Cell], number: int
    ) -> tuple[dict[int, int], list[tuple[int, ...]]]:
        """The place on each axis of the n-th call, and of its items; with history, those before."""
        found: dict[int, int] = {}
        for axis in range(_LANGUAGE, len(AXES)):
            found[axis], number = self._level(cells, axis, number)
            cells = [*_narrowed(cells, axis, found[axis])]
        levels = self._levels_at(found)
        items = places(cells[0].items & self._worded[levels["language"], levels["form"]])
        size = levels["items_per_call"] or len(items)
        first = 0 if levels["history"] == "own" else number
        return found, [items[n * size : (n + 1) * size] for n in range(first, number + 1)]

    def _levels_at(self, found: Mapping[int, int]) -> dict[str, Any]:
        return {AXES[axis]: self.plan.levels[AXES[axis]][place] for axis, place in found.items()}

    def _level(self, cells: Sequence[Cell], axis: int, number: int) -> tuple[int, int]:
        """The level of an axis under which the n-th call stands, and its number there."""
        uneven = axis in (_LANGUAGE, _FORM, _PER_CALL)
        if not uneven and len({cell.levels[axis] for cell in cells}) == 1:
            own = places(cells[0].levels[axis])
            each = self.calls(cells) // self._n_first // len(own)
            return own[number // each], number % each
        counts: Counter[int] = Counter()
        for cell in cells:
            own = places(cell.levels[axis])
            for place in own:
                of_level = _narrowed([cell], axis, place) if uneven else [cell]
                calls = self.calls(of_level) // self._n_first
                counts[place] += calls if uneven else calls // len(own)
        for place in sorted(counts):
            if number < counts[place]:
                return place, number
            number -= counts[place]
        raise DesignError("There is nothing to show.", "Choose items that have a text.")

    def _conditioned(self, levels: Mapping[str, Any], items: tuple[Item, ...]) -> Question:
        first, second = levels["entities"]
        return Question(
            items,
            shown_format(
                self.materials.formats[levels["format"]],
                levels["label_order"],
                None,
                entities=(first, second),
            ),
            levels["language"],
            levels["context"],
            first,
            second,
            levels["form"],
            levels["template"],
        )

    def mismatched_calls(self, spoken: Mapping[str, frozenset[str]]) -> tuple[int, Counter[str]]:
        """Calls that put a context in another language than the items, and these languages.

        `spoken` are the languages without region of the contexts that state one, by code.
        """
        calls, pairs = 0, Counter[str]()
        languages, contexts = self.plan.levels["language"], self.plan.levels["context"]
        stated = {context.code: context.language for context in self.materials.design.contexts}
        for cell in self.plan.cells:
            own = [contexts[place] for place in cell.places("context")]
            for place in cell.places("language"):
                of_one = self.calls(_narrowed([cell], _LANGUAGE, place)) // max(len(own), 1)
                language = languages[place]
                for code in own:
                    if code in spoken and base_language(language) not in spoken[code]:
                        calls += of_one
                        pairs[f"{stated[code]} before {language}"] += 1
        return calls, pairs


def _narrowed(cells: Iterable[Cell], axis: int, place: int) -> Iterable[Cell]:
    """The parts of some cells at one level of an axis."""
    bit = 1 << place
    for cell in cells:
        if cell.levels[axis] & bit:
            yield replace(cell, levels=(*cell.levels[:axis], bit, *cell.levels[axis + 1 :]))


def _calls(items: int, size: int) -> int:
    """Calls that put that many items once; 0 puts all of them into one."""
    return -(-items // (size or max(items, 1)))


def plan_size(planned: PlannedDesign, learned: LearnedUsage, *, renderable: bool) -> PlanSize:
    """What a design comes to; tokens and cost are of a sample of the prompts, if `renderable`."""
    plan, design = planned.plan, planned.materials.design
    trials = planned.trials(plan.cells)
    full = sum(administrations(plan, cell) * cell.items.bit_count() for cell in plan.cells)
    people = list(planned.respondents)
    return PlanSize(
        trials=trials,
        calls=planned.calls(plan.cells),
        administrations=planned.administrations(plan.cells),
        prompts=planned.prompts(people[0]) if people else 0,
        missing=full - trials,
        factors=_factors(planned),
        respondents=_respondent_sizes(planned, _SAMPLED_PROMPTS if renderable else 0, learned),
        blocks=_block_sizes(planned, learned, renderable=renderable) if design.blocks else (),
    )


def _factors(planned: PlannedDesign) -> tuple[tuple[str, int], ...]:
    """Each factor with its number of levels over all blocks, items last."""
    levels, design = planned.plan.levels, planned.materials.design
    parts = design.crossings()
    asked = 0
    for cell in planned.plan.cells:
        asked |= cell.items
    calls = (("items per call", "items_per_call"), ("histories", "history"))
    entities = {pair for part in parts for pair in part.pairs or part.entities} or {""}
    return (
        ("respondents x temperatures", len(levels["respondent"])),
        ("languages", len(levels["language"])),
        ("forms", len(levels["form"])),
        ("formats", len(levels["format"])),
        ("templates", len(levels["template"])),
        ("label orders", len(levels["label_order"])),
        *((name, len(levels[axis])) for name, axis in calls if len(levels[axis]) > 1),
        ("pairs" if any(part.pairs for part in parts) else "entities", len(entities)),
        ("contexts", len(levels["context"])),
        ("repetitions", max((part.repetitions for part in parts), default=0)),
        ("items", asked.bit_count()),
    )


def _respondent_sizes(
    planned: PlannedDesign, sampled: int, learned: LearnedUsage
) -> tuple[RespondentSize, ...]:
    """What each respondent is asked, by that many of its prompts."""
    sizes = []
    for respondent_id, person in planned.respondents.items():
        calls = planned.calls(planned.of_respondent(respondent_id))
        prompts = planned.prompts(respondent_id)
        numbers = range(0, prompts, max(prompts // sampled, 1)) if sampled else ()
        sample = [planned.request(respondent_id, number) for number in numbers]
        size = _respondent_size(planned.materials.design, person, calls, sample, learned)
        sizes.append(replace(size, prompts=prompts))
    return tuple(sizes)


def _respondent_size(
    design: Design,
    person: Respondent,
    calls: int,
    sample: Sequence[ChatRequest],
    learned: LearnedUsage,
) -> RespondentSize:
    if not calls or not sample:
        return RespondentSize(person.label, 0, calls, 0, 0, None, None)
    scale = calls / len(sample)
    again = 1 + design.ask_again
    characters = sum(len(m["content"]) for request in sample for m in request.messages)
    longest = sum(budget.longest_reply(request.sampling) for request in sample)
    answers = sum(len(request.question.items) for request in sample)
    costs = [budget.estimate(request) for request in sample]
    known = [cost for cost in costs if cost is not None]
    priced = len(known) == len(costs)
    expected = [learned.expected(request) for request in sample]
    likely = [one.cost(request) for one, request in zip(expected, sample, strict=True)]
    return RespondentSize(
        label=person.label,
        prompts=0,
        calls=calls,
        tokens_low=round(scale * (characters / 5 + answers)),
        tokens_high=round(scale * again * (characters / 3 + longest)),
        cost_low=scale * sum(low for low, _ in known) if priced else None,
        cost_high=scale * again * sum(high for _, high in known) if priced else None,
        cost_expected=scale * sum(filter(None, likely)) if priced else None,
        basis="" if person.kind == "simulated" else basis_words(expected),
    )


def _block_sizes(
    planned: PlannedDesign, learned: LearnedUsage, *, renderable: bool
) -> tuple[BlockSize, ...]:
    design, plan = planned.materials.design, planned.plan
    parts = design.crossings()
    sampled = max(_SAMPLED_PROMPTS // len(parts), _SAMPLED_OF_BLOCK) if renderable else 0
    sizes = []
    for n, (block, part) in enumerate(zip(design.blocks, parts, strict=True)):
        alone = PlannedDesign(replace(planned.materials, design=part), (planned.people[n],))
        people = _respondent_sizes(alone, sampled, learned)
        low, high = [person.cost_low for person in people], [person.cost_high for person in people]
        known = bool(people) and None not in high
        sizes.append(
            BlockSize(
                name=block.name,
                trials=planned.trials(plan.crossed[n]),
                calls=planned.calls(plan.crossed[n]),
                cost_low=sum(filter(None, low)) if known else None,
                cost_high=sum(filter(None, high)) if known else None,
                new=planned.trials(plan.added[n]),
                cost_expected=sum(one.cost_expected or 0.0 for one in people) if known else None,
            )
        )
    return tuple(sizes)

"""What stands in the way of a design, and what a reader of its results should know beforehand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from core.collect.budget import TOKENS_WITHOUT_LIMIT, reply_limit
from core.domain.counts import counted
from core.domain.identifiers import name_fault
from core.domain.instrument import ORIGINAL, Instrument, Item
from core.domain.instrument_problems import problems
from core.domain.study import Design, Respondent
from core.domain.templates import placeholders
from core.workflow.plan_size import Crossing
from core.workflow.questions import Asked

_MOST_TRIALS = 20_000_000
HIGHEST_TEMPERATURE = 2.0
_MOST_PROBLEMS_NAMED = 20  # a bank of thousands of broken items would fill the page otherwise


def obstacles(asked: Asked) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    bank, design = asked.bank, asked.design
    found = [*_missing_choices(design)]
    blocking = [f"{p.where}: {p.what}." for p in problems(bank) if p.blocks]
    found.extend(blocking[:_MOST_PROBLEMS_NAMED])
    if len(blocking) > _MOST_PROBLEMS_NAMED:
        found.append(
            f"And {counted(len(blocking) - _MOST_PROBLEMS_NAMED, 'more problem')} in the bank."
        )
    found.extend(_missing_texts(bank, design))
    for what, values in _levels(design).items():
        found.extend(_bad_levels(what, values))
    found.extend(_entity_trouble(bank, design))
    found.extend(_unknown_levels(asked))
    found.extend(_block_trouble(asked))
    found.extend(_too_many(asked))
    return tuple(found)


def unspeakable(bank: Instrument, asked: Asked) -> bool:
    """Whether something cannot be put into words as designed."""
    design = asked.design
    names = (*design.entities, *(name for pair in design.pairs for name in pair))
    return bool(
        not bank.formats
        or not all(name.strip() for name in names)
        or _missing_texts(bank, design)
        or _entity_trouble(bank, design)
        or [*_unknown_levels(asked)]
        or [*_block_trouble(asked)]
    )


def _missing_texts(bank: Instrument, design: Design) -> list[str]:
    """Languages and forms of the design in which items have no text and are not to be left out."""
    found = []
    for language in design.languages:
        for form in design.forms:
            missing = [i.code for i in bank.items if not _is_worded(i, language, form)]
            if missing and (not design.skip_missing or len(missing) == len(bank.items)):
                some = ", ".join(missing[:5]) + (" ..." if len(missing) > 5 else "")
                which = "" if form == ORIGINAL else f", form '{form}'"
                lack = counted(len(missing), "item has no text", "items have no text")
                found.append(f"{lack} in '{language}'{which}: {some}.")
    return found


def _is_worded(item: Item, language: str, form: str) -> bool:
    return any(w.text.strip() for w in item.wordings if (w.language, w.form) == (language, form))


def _entity_trouble(bank: Instrument, design: Design) -> list[str]:
    """Items that name an entity where none is given, or the other way round."""
    if any(found.ratings for found in bank.formats):
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
    found = [*_unreviewed(bank, design)]
    if design.repetitions > 1:
        fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
        if fixed:
            found.append(
                f"At temperature 0 a model says the same again: the repetitions of "
                f"{_some(fixed)} will be copies (or nearly), not independent answers."
            )
    found.extend(_asking_cautions(design, people))
    others = [language for language in design.languages if language.split("-")[0] != "en"]
    local = list(dict.fromkeys(p.label for p in people if p.kind == "local" and not p.base_url))
    if local and others:
        found.append(
            f"The model that came along understands English only; you ask {_some(local)} "
            f"in {_some(others)} as well."
        )
    if design.temperatures and any(p.kind == "simulated" for p in people):
        found.append("Temperatures mean nothing to simulated respondents: each is asked once.")
    return tuple(found)


def context_cautions(crossing: Crossing, n_people: int) -> Iterator[str]:
    """Contexts in another language than the items they stand before, and those of no stated one."""
    design = crossing.asked.design
    calls, pairs = 0, Counter[str]()
    for language in design.languages:
        of_one = crossing.calls_in(language) // max(len(design.contexts), 1)
        for context in design.contexts:
            if context.language and _tongue(context.language) != _tongue(language):
                calls += of_one * design.repetitions * n_people
                pairs[f"{context.language} before {language}"] += 1
    if calls:
        total = crossing.trials_and_calls()[1] * design.repetitions * n_people
        yield (
            f"{calls:,} of {counted(total, 'call puts', 'calls put')} a context in one language "
            f"before items in another ({_some(list(pairs))}). Choose contexts in the language of "
            "the items, or plan a study for each language."
        )
    unstated = sum(not c.language for c in design.contexts if c.text.strip() or c.messages)
    if unstated and len({_tongue(language) for language in design.languages}) > 1:
        yield (
            f"The design asks in several languages, and {counted(unstated, 'context')} without a "
            "stated language may not fit all of them. State it on the page Contexts, so that it "
            "can be compared with the language of the items."
        )


def _tongue(language: str) -> str:
    """A language without its region: en for en-GB."""
    return language.replace("_", "-").split("-")[0].lower()


def _asking_cautions(design: Design, people: Sequence[Respondent]) -> Iterator[str]:
    """What asking again, and probabilities of first tokens, cannot do."""
    fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
    if design.ask_again and fixed:
        yield (
            f"At temperature 0 a model says the same again: asking {_some(fixed)} anew for an "
            "unusable answer will hardly help."
        )
    services = [p.label for p in people if p.kind == "api"]
    unlimited = [p.label for p in people if p.kind == "api" and reply_limit(p.sampling) is None]
    if unlimited:
        yield (
            f"{_some(unlimited)} may reply at any length. The upper end of tokens and cost counts "
            f"{TOKENS_WITHOUT_LIMIT:,} tokens for each call, and a model that thinks first can "
            "write more: set a cost cap on the page Collect, or a longest reply on the page "
            "Respondents."
        )
    if design.first_token and design.answering == "enforced" and services:
        yield (
            f"Answers of {_some(services)} held to a schema begin with a brace, so their first "
            "token says nothing about the option."
        )


def _unreviewed(bank: Instrument, design: Design) -> list[str]:
    """How many wordings of the design are a model's drafts that nobody has accepted."""
    drafts = [
        w
        for item in bank.items
        for w in item.wordings
        if w.drafted_by and w.language in design.languages and w.form in design.forms
    ]
    if not drafts:
        return []
    models = _some(list(dict.fromkeys(w.drafted_by for w in drafts)))
    many = counted(len(drafts), "wording is an unreviewed draft", "wordings are unreviewed drafts")
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
    if any(not 0 <= temperature <= HIGHEST_TEMPERATURE for temperature in design.temperatures):
        yield f"Temperatures must lie between 0 and {HIGHEST_TEMPERATURE:g}."
    if len(set(design.temperatures)) < len(design.temperatures):
        yield "A temperature stands twice."


def _wrong_values(design: Design) -> Iterator[str]:
    if design.items_per_call < 0 or design.ask_again < 0:
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


def _unknown_levels(asked: Asked) -> Iterator[str]:
    """Formats, forms, templates and orders that are not there."""
    design, bank = asked.design, asked.bank
    for code in design.formats:
        if bank.format(code) is None:
            yield f"The bank has no answer format '{code}'."
    for form in design.forms:
        if form not in bank.forms():
            yield f"The bank has no form '{form}'."
    yield from _unfit_templates(asked)
    for first, second in design.pairs:
        if first == second:
            yield f"The pair '{first}' and '{second}' names the same entity twice."


def _unfit_templates(asked: Asked) -> Iterator[str]:
    """Templates that are not there, or that are for a second phase."""
    for code in asked.design.templates:
        template = asked.wordings.templates.get(code)
        if template is None:
            yield f"There is no prompt template '{code}'."
        elif "opinion" in placeholders(template.text("en").single):
            yield f"The template '{code}' tells an opinion; it is for a second phase."


def _block_trouble(asked: Asked) -> Iterator[str]:
    """What cannot be asked several items at a time."""
    design = asked.design
    if design.items_per_call == 1:
        return
    for code in design.templates:
        template = asked.wordings.templates.get(code)
        if template and not all(template.text(la).block for la in design.languages):
            yield f"The template '{code}' puts one item at a time, and the design asks several."
    for code in design.formats:
        found = asked.bank.format(code)
        if found and not found.is_choice:
            yield "Texts and ratings are asked for one at a time."


def _too_many(asked: Asked) -> list[str]:
    design = asked.design
    factors = (*_levels(design).values(), design.temperatures)
    count = len(asked.bank.items) * design.repetitions
    for levels in factors:
        count *= max(len(levels), 1)
    if count <= _MOST_TRIALS:
        return []
    return [f"{count:,} calls are too many for one study (at most {_MOST_TRIALS:,}). Split it."]


def _bad_levels(what: str, values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    repeated = sorted(value for value, count in counts.items() if count > 1)
    found = [f"The {what} '{value}' stands twice." for value in repeated]
    if any(not value.strip() for value in counts):
        found.append(f"There is an empty {what}.")
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")

"""Problems and cautions of a design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from string import ascii_uppercase

from core.collect.budget import TOKENS_WITHOUT_LIMIT, reply_limit
from core.domain.cells import asks_in_company, overlap, overlap_but_for_repetition
from core.domain.formats import TITLES
from core.domain.instrument import ORIGINAL, REPLY_TO_JUDGE, Instrument, Item, problems
from core.domain.languages import base_language, language_name
from core.domain.numbers import count_text
from core.domain.study import Design, Respondent
from core.domain.values import name_fault
from core.workflow.designs.sizes import PlannedDesign
from core.workflow.prompts import StudyMaterials

_MAX_TRIALS = 20_000_000
MAX_TEMPERATURE = 2.0
_TOKENS_PER_LINE = 16
"""Room that the reply to one item of a call takes: its number and a label."""
_MAX_BANK_PROBLEMS = 20  # a bank of thousands of broken items would fill the page otherwise
_NEED_LEVELS = frozenset(
    {
        "respondents",
        "languages",
        "forms",
        "templates",
        "label_orders",
        "items_per_call",
        "histories",
    }
)
"""Lists of a block that say nothing where they are empty."""


def obstacles(materials: StudyMaterials) -> tuple[str, ...]:
    """Everything that stands in the way of freezing, in plain words; empty when it can be."""
    bank, design = materials.bank, materials.design
    sentences = [*_name_problems(design)]
    blocking = [f"{p.where}: {p.what}." for p in problems(bank) if p.blocks]
    sentences.extend(blocking[:_MAX_BANK_PROBLEMS])
    if len(blocking) > _MAX_BANK_PROBLEMS:
        sentences.append(
            f"And {count_text(len(blocking) - _MAX_BANK_PROBLEMS, 'more problem')} in the bank."
        )
    sentences.extend(_names_of_blocks(design))
    sentences.extend(of_blocks(design, [[*_crossing_problems(p)] for p in _parts(materials)]))
    sentences.extend(_level_problems("context code", [context.code for context in design.contexts]))
    sentences.extend(_size_problems(materials))
    sentences.extend(_second_phase_problems(materials))
    return tuple(sentences)


def block_names(design: Design) -> tuple[str, ...]:
    """What each block is called in sentences."""
    return tuple(
        f"block '{block.name}'" if block.name.strip() else f"block {n}"
        for n, block in enumerate(design.blocks, 1)
    )


def of_blocks(design: Design, sentences: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Sentences about each crossing; one that is not true of all blocks names its block."""
    if not design.blocks:
        return tuple(sentences[0])
    shared = [one for one in sentences[0] if all(one in others for others in sentences)]
    own = (
        f"{name[0].upper()}{name[1:]}: {one}"
        for name, part in zip(block_names(design), sentences, strict=True)
        for one in part
        if len(design.blocks) == 1 or one not in shared
    )
    return tuple(dict.fromkeys((*(shared if len(design.blocks) > 1 else ()), *own)))


def _parts(materials: StudyMaterials) -> tuple[StudyMaterials, ...]:
    """The materials of each crossing, its bank with the items that it asks."""
    return tuple(
        replace(materials, design=part, bank=_asked_bank(materials.bank, part))
        for part in materials.design.crossings()
    )


def _asked_bank(bank: Instrument, part: Design) -> Instrument:
    if not part.items:
        return bank
    asked = set(part.items)
    return replace(bank, items=tuple(item for item in bank.items if item.code in asked))


def _names_of_blocks(design: Design) -> Iterator[str]:
    """Blocks of one name, and what a block says that its crossing does not show any more."""
    names = Counter(block.name.strip() for block in design.blocks if block.name.strip())
    for name, count in names.items():
        if count > 1:
            yield f"Two blocks are called '{name}'. Give each a name of its own."
    known = {context.code for context in design.contexts}
    for name, block in zip(block_names(design), design.blocks, strict=True):
        for key, levels in vars(block).items():
            if levels == () and key in _NEED_LEVELS:
                yield f"The {name} has an empty list of {_key_word(key)}. Leave out the key {key}."
        for code, count in Counter(block.contexts or ()).items():
            if code and code not in known:
                yield f"The {name} names the context '{code}', which the design does not have."
            if count > 1:
                yield f"The {name} names the context '{code}' twice."


def _key_word(key: str) -> str:
    return key.replace("_", " ")


def _crossing_problems(materials: StudyMaterials) -> Iterator[str]:
    """What is wrong in one crossing. Its bank holds the items that it asks."""
    bank, design = materials.bank, materials.design
    yield from _missing_choices(design)
    yield from _missing_texts(bank, design)
    for what, values in _levels(design).items():
        yield from _level_problems(what, values)
    codes = {item.code for item in bank.items}
    for code in design.items:
        if code not in codes:
            yield f"The bank has no item '{code}'."
    yield from _entity_problems(bank, design)
    yield from _unknown_levels(materials)
    yield from _call_problems(materials)


def has_no_prompts(materials: StudyMaterials) -> bool:
    """Whether something cannot be put into words as designed."""
    return not materials.bank.formats or any(map(_cannot_be_worded, _parts(materials)))


def _cannot_be_worded(materials: StudyMaterials) -> bool:
    bank, design = materials.bank, materials.design
    names = (*design.entities, *(name for pair in design.pairs for name in pair))
    return bool(
        not all(name.strip() for name in names)
        or _missing_texts(bank, design)
        or _entity_problems(bank, design)
        or [*_unknown_levels(materials)]
        or [*_call_problems(materials)]
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
    if any(f.ratings for f in bank.formats) or REPLY_TO_JUDGE in design.forms:
        return []

    def first_naming(placeholder: str) -> str:
        return next(
            (
                item.code
                for item in bank.items
                for w in item.wordings
                if w.language in design.languages
                and w.form in design.forms
                and placeholder in w.text
            ),
            "",
        )

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


def cautions(planned: PlannedDesign) -> tuple[str, ...]:
    """What does not stand in the way of freezing and should still be known, in plain words."""
    parts = zip(_parts(planned.materials), planned.people, strict=True)
    design = planned.materials.design
    return (
        *of_blocks(
            design,
            [
                (*_crossing_cautions(p.bank, p.design, people), *_base_model_cautions(p, people))
                for p, people in parts
            ],
        ),
        *_needless_blocks(planned),
        *_context_cautions(planned),
    )


def _needless_blocks(planned: PlannedDesign) -> Iterator[str]:
    """Blocks all of whose trials are those of earlier ones."""
    design, plan = planned.materials.design, planned.plan
    for name, added in zip(block_names(design), plan.added, strict=False):
        if not planned.trials(added):
            yield f"The {name} adds nothing: earlier blocks ask all of its trials."


def _crossing_cautions(
    bank: Instrument, design: Design, people: Sequence[Respondent]
) -> tuple[str, ...]:
    sentences = [*_draft_cautions(bank, design), *_label_cautions(bank, design)]
    if design.repetitions > 1:
        fixed = [p.label for p in people if p.kind != "simulated" and p.sampling.temperature == 0]
        if fixed:
            sentences.append(
                f"At temperature 0 a model says the same again: the repetitions of "
                f"{_join(fixed)} will be copies (or nearly), not independent answers."
            )
    sentences.extend(_asking_cautions(design, bank, people))
    others = [language for language in design.languages if language.split("-")[0] != "en"]
    local = list(dict.fromkeys(p.label for p in people if p.kind == "local" and not p.base_url))
    if local and others:
        sentences.append(
            f"The included model understands English only; you ask {_join(local)} "
            f"in {_join(others)} as well."
        )
    named = {
        "Temperatures mean": design.temperatures,
        "Values of top_p mean": design.top_p,
        "Values of max_tokens mean": design.max_tokens,
    }
    if any(p.kind == "simulated" for p in people):
        sentences.extend(
            f"{what} nothing to simulated respondents: each is asked once."
            for what, levels in named.items()
            if levels
        )
    return tuple(sentences)


def _context_cautions(planned: PlannedDesign) -> Iterator[str]:
    """Contexts in another language than the items they stand before, and those of no stated one."""
    design = planned.materials.design
    calls, pairs = planned.mismatched_calls(
        {
            c.code: frozenset(map(base_language, c.languages()))
            for c in design.contexts
            if c.language
        }
    )
    if calls:
        total = planned.calls(planned.plan.cells)
        everyone = [person for people in planned.people for person in people]
        simulated = all(person.kind == "simulated" for person in everyone)
        yield (
            f"{calls:,} of {count_text(total, 'call puts', 'calls put')} a context in one language "
            f"before items in another ({_join(list(pairs))}). "
            + (
                "Simulated people read neither, so this matters to models alone."
                if simulated
                else "Choose contexts in the language of the items, or translate them on the page "
                "Contexts."
            )
        )
    asked = {base_language(language) for language in planned.plan.levels["language"]}
    outdated = sum(not asked.isdisjoint(map(base_language, c.outdated)) for c in design.contexts)
    if outdated:
        yield (
            f"The text of {count_text(outdated, 'persona')} changed after it was translated. Look "
            "at the translations on the page Contexts."
        )
    unstated = sum(
        not c.language and not asked <= set(map(base_language, c.languages()))
        for c in design.contexts
        if c.text.strip() or c.messages
    )
    if unstated and len(asked) > 1:
        yield (
            "The design asks in several languages, and of "
            f"{count_text(unstated, 'persona or conversation', 'personas or conversations')} the "
            "language is not stated: a model may then read two languages in one prompt. State it, "
            "or write them in each language, on the page Contexts."
        )


def _short_replies(
    design: Design, bank: Instrument, people: Sequence[Respondent], tokens: int
) -> Iterator[tuple[str, int, int]]:
    """Models whose longest reply is below so many tokens an item of the largest call.

    Yields the label, the limit and the number of items.
    """
    n_asked = len(design.items or bank.items)
    n_items = max((size or n_asked for size in design.block_sizes), default=1)
    n_items = min(n_items, n_asked)
    for person in people:
        limit = reply_limit(person.sampling)
        if person.kind != "simulated" and limit is not None and 1 < n_items > limit / tokens:
            yield person.label, limit, n_items


def _asking_cautions(
    design: Design, bank: Instrument, people: Sequence[Respondent]
) -> Iterator[str]:
    """What asking again, short replies and probabilities of first tokens cannot do."""
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
    for label, limit, n_items in _short_replies(design, bank, people, _TOKENS_PER_LINE):
        yield (
            f"The longest reply of '{label}' is {limit:,} tokens, and calls of {n_items:,} items "
            f"need up to {_TOKENS_PER_LINE * n_items:,}: replies may be cut off. The limit is sent "
            "as it is set; raise it on the page Respondents, or ask fewer items a call."
        )
    if design.first_token and design.answering == "enforced" and services:
        yield (
            f"Answers of {_join(services)} held to a schema begin with a brace, so their first "
            "token says nothing about the option."
        )


def _label_cautions(bank: Instrument, design: Design) -> Iterator[str]:
    """Answer options that models read in English, or as a code, in another language."""
    for chosen in bank.formats:
        if chosen.code not in design.formats or not any(o.labels for o in chosen.options):
            continue
        title = TITLES.get(chosen.code, chosen.code)
        for language in design.languages:
            without = [o for o in chosen.options if not o.labels.get(language, "").strip()]
            if without:
                yield (
                    f"{count_text(len(without), 'option')} of {title} "
                    f"{'has' if len(without) == 1 else 'have'} no label in "
                    f"{language_name(language)}: models read the English label there, or else the "
                    "code. Write the labels on the page Banks, under Response options."
                )


def _draft_cautions(bank: Instrument, design: Design) -> Iterator[str]:
    """How many wordings of the design nobody has looked at: drafts, and outdated translations."""
    asked = [
        w
        for item in bank.items
        for w in item.wordings
        if w.language in design.languages and w.form in design.forms
    ]
    drafts = [w for w in asked if w.drafted_by]
    if drafts:
        models = _join(list(dict.fromkeys(w.drafted_by for w in drafts)))
        many = count_text(
            len(drafts), "wording is an unreviewed draft", "wordings are unreviewed drafts"
        )
        yield f"{many} of a model ({models})."
    outdated = [w.language for w in asked if w.made_from]
    if outdated:
        many = count_text(len(outdated), "text translates an original", "texts translate originals")
        languages = _join(sorted(set(map(language_name, outdated))))
        yield (
            f"{many} that changed since ({languages}). Look at them on the page Banks, under "
            "Translations."
        )


def _name_problems(design: Design) -> Iterator[str]:
    if not design.study.strip():
        yield "The study has no name."
    elif fault := name_fault(design.study):
        yield f"The name of the study {fault}."


def _missing_choices(design: Design) -> Iterator[str]:
    if not design.respondents:
        yield "No respondent is chosen."
    if not design.languages:
        yield "No language is chosen."
    if design.repetitions < 1:
        yield "There must be at least one repetition."
    lists = {
        "forms": design.forms,
        "templates": design.templates,
        "label_orders": design.label_orders,
        "items_per_call": design.block_sizes,
        "histories": design.histories,
    }
    for key, levels in lists.items():
        if not levels:
            yield f"The list of {_key_word(key)} is empty. Leave out the key {key}."
    yield from _wrong_values(design)
    yield from _wrong_settings(design)


def _wrong_values(design: Design) -> Iterator[str]:
    if min(design.block_sizes, default=0) < 0 or design.ask_again < 0:
        yield "Items per call and the number of times to ask again cannot be negative."
    if design.swap_halves and design.repetitions < 2:
        yield "To name the second entity first in half of the repetitions, there must be two."


def _wrong_settings(design: Design) -> Iterator[str]:
    """Settings of the calls that no service takes, or that stand twice."""
    if any(not 0 <= temperature <= MAX_TEMPERATURE for temperature in design.temperatures):
        yield f"Temperatures must lie between 0 and {MAX_TEMPERATURE:g}."
    if any(not 0 < share <= 1 for share in design.top_p):
        yield "top_p must be above 0 and at most 1."
    if any(tokens < 1 for tokens in design.max_tokens):
        yield "max_tokens must be at least 1."
    named = {
        "temperature": design.temperatures,
        "value of top_p": design.top_p,
        "value of max_tokens": design.max_tokens,
        "number of items per call": design.block_sizes,
    }
    for what, values in named.items():
        if len(set(values)) < len(values):
            yield f"A {what} stands twice."


def _levels(design: Design) -> dict[str, Sequence[str]]:
    """What a design crosses, by the word for one level; none may repeat or be empty."""
    return {
        "respondent": design.respondents,
        "language": design.languages,
        "form": design.forms,
        "answer format": design.formats,
        "template": design.templates,
        "label order": design.label_orders,
        "history": design.histories,
        "item": design.items,
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
        elif template.listing == "letters":
            yield from _too_many_for_letters(materials, code)


def _too_many_for_letters(materials: StudyMaterials, template: str) -> Iterator[str]:
    """Formats with more options than there are letters."""
    for code in materials.design.formats:
        response_format = materials.bank.format(code)
        if response_format and len(response_format.options) > len(ascii_uppercase):
            yield (
                f"The answer format '{code}' has more options than there are letters, and the "
                f"template '{template}' names options by letters."
            )


def _call_problems(materials: StudyMaterials) -> Iterator[str]:
    """What cannot be asked several items at a time."""
    design = materials.design
    if set(design.block_sizes) <= {1}:
        return
    for code in design.templates:
        template = materials.wordings.templates.get(code)
        if template and not all(template.text(la).block for la in design.languages):
            yield f"The template '{code}' puts one item at a time, and the design asks several."
    for code in design.formats:
        response_format = materials.bank.format(code)
        if response_format and not response_format.is_choice:
            yield "Texts and ratings are asked for one at a time."


def _second_phase_problems(materials: StudyMaterials) -> Iterator[str]:
    """Why a second phase cannot follow the first."""
    code, parts = materials.design.second_phase, materials.design.crossings()
    if not code:
        return
    template = materials.wordings.templates.get(code)
    if template is None:
        yield f"There is no prompt template '{code}' for the second phase."
    elif not template.states_opinion:
        yield (
            f"The template '{code}' of the second phase states no opinion. Choose one whose text "
            "holds {opinion}."
        )
    if any(set(part.block_sizes) != {1} or set(part.histories) != {"none"} for part in parts):
        yield "A second phase needs one item a call and no history in the first."
    for name in dict.fromkeys(name for part in parts for name in part.formats):
        options = found.options if (found := materials.bank.format(name)) else ()
        if not {-1, 1} <= {option.stance for option in options}:
            yield (
                f"The options of the format '{name}' have no stance, so none opposes an answer. "
                "Give its options a stance (-1 and 1) in the bank."
            )


def _size_problems(materials: StudyMaterials) -> list[str]:
    trials = 0
    for part in materials.design.crossings():
        count = len(part.items or materials.bank.items) * part.repetitions
        settings = (part.temperatures, part.top_p, part.max_tokens)
        factors = (*(v for k, v in _levels(part).items() if k != "item"), part.contexts, *settings)
        for levels in (*factors, part.block_sizes):
            count *= max(len(levels), 1)
        trials += count
    if trials <= _MAX_TRIALS:
        return []
    return [f"{trials:,} calls are too many for one study (at most {_MAX_TRIALS:,}). Split it."]


def contradictions(planned: PlannedDesign) -> Iterator[str]:
    """Blocks that ask the same in two ways, respondents of one name, replies without room."""
    for part, people in zip(_parts(planned.materials), planned.people, strict=True):
        for label, limit, n_items in _short_replies(part.design, part.bank, people, 1):
            yield (
                f"The longest reply of '{label}' is {limit:,} tokens, and calls of {n_items:,} "
                "items need at least one for each. Raise the limit on the page Respondents, or ask "
                "fewer items a call."
            )
    yield from _base_model_problems(planned)
    plan, design = planned.plan, planned.materials.design
    labels = Counter(person.label for person in planned.respondents.values())
    for label, count in labels.items():
        if count > 1:
            yield f"Two respondents are called '{label}'. Rename one on the page Respondents."
    names, parts = block_names(design), design.crossings()
    for (a, one), (b, other) in combinations(enumerate(plan.crossed), 2):
        both = f"The {names[a]} and the {names[b]}"
        if (
            one
            and other
            and one[0].items != other[0].items
            and any(asks_in_company(plan, common) for common in overlap(one, other))
        ):
            yield (
                f"{both} put different items into the same calls or the same history. Give them "
                "the same items, or let one ask something else."
            )
        if (
            design.swap_halves
            and parts[a].repetitions != parts[b].repetitions
            and set(parts[a].pairs) & set(parts[b].pairs)
            and any(overlap_but_for_repetition(c, d) for c in one for d in other)
        ):
            yield (
                f"{both} swap the same pair after different repetitions. Give them the same "
                "number of repetitions."
            )


def _base_model_problems(planned: PlannedDesign) -> Iterator[str]:
    """What a model that completes text cannot do."""
    names = [p.label for p in planned.respondents.values() if p.sampling.completes_text]
    if not names:
        return
    who = _completing(names)
    design = planned.materials.design
    if design.answering == "enforced":
        yield f"{who} and cannot be held to the options. Choose free answers."
    if any(set(part.histories) != {"none"} for part in design.crossings()):
        yield f"{who} and knows no turns of a conversation. Ask each call by itself."


def _base_model_cautions(materials: StudyMaterials, people: Sequence[Respondent]) -> Iterator[str]:
    """What a model that completes text should have: an end of its replies, and a cue."""
    base_models = [person for person in people if person.sampling.completes_text]
    endless = [p.label for p in base_models if not p.sampling.extra_body.get("stop")]
    if endless:
        yield (
            f"{_completing(endless)} without a stop string: after the answer comes a text of the "
            "model's own, which may name other options. Type a stop string, such as a line break, "
            "on the page Respondents."
        )
    default = [p.label for p in base_models if reply_limit(p.sampling) is None]
    if default:
        yield (
            f"{_completing(default)} without a longest reply: most services then stop after 16 "
            "tokens."
        )
    for code in materials.design.templates if base_models else ():
        template = materials.wordings.templates.get(code)
        if template is None:
            continue
        texts = [template.text(language) for language in materials.design.languages]
        if not all((text.cue or text.single).rstrip().endswith((":", "：")) for text in texts):
            yield (
                f"The template '{code}' does not end where an answer begins, and a model that "
                "completes text goes on with whatever stands last. Choose a template that ends "
                "in a cue, such as 'completion'."
            )


def _level_problems(what: str, values: Iterable[str]) -> list[str]:
    counts = Counter(values)
    repeated = sorted(value for value, count in counts.items() if count > 1)
    sentences = [f"The {what} '{value}' stands twice." for value in repeated]
    if any(not value.strip() for value in counts):
        sentences.append(f"There is an empty {what}.")
    return sentences


def _completing(names: Sequence[str]) -> str:
    return f"{_join(names)} {'completes' if len(names) == 1 else 'complete'} text"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")

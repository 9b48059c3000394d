"""Designs of published studies, and starting a study from one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.domain.instrument import Instrument, Item, content_hash
from core.domain.study import Block, Context, Design, crop_conversations, filter_by_language
from core.errors import BankError, DesignError
from core.files.banks.reading import ImportedBank, read_instrument
from core.files.contexts import read_contexts
from core.store import banks as store
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.designs import forms
from core.workflow.workspace import Workspace

# Designs of published studies, to be asked with question banks of our own.

PERSONAS = "Personas (60)"
CONVERSATIONS = "Conversations (30 English, first exchange)"
"""Sets of contexts that presets need; core.workflow.designs.presets reads them from their files."""

_BRANDS = ("Apple", "Samsung", "Huawei")
_OWN_ITEMS = (
    "The items are our own in the same structure, so figures are not comparable with the published."
)


@dataclass(frozen=True)
class PublishedDesign:
    """A published design. `differs` says in whole sentences what is not as it was published.

    `contexts` names one of the sets above; its contexts are no part of `design`, whose study is
    the code of the preset. `small` is how many items the short variant asks.
    """

    title: str
    sentence: str
    source: str
    differs: tuple[str, ...]
    design: Design
    contexts: str = ""
    small: int = 10

    @property
    def code(self) -> str:
        """Its name in lists and the first name of a study made from it."""
        return self.design.study


_BRAND = "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona"
_BRAND_DIFFERS = (
    _OWN_ITEMS,
    "One prompt template serves all formats.",
    "Unusable replies are asked for again five times at most; the study went on until one was "
    "usable. The first replies are kept and counted.",
)
_SCALE = "Jung (2025), MSc thesis, University of Mannheim"
_SCALE_OWN_ITEMS = "The 22 statements are our own on another subject, with two subscales of 11."
_SCALE_CELLS = (
    Block("original form, both orders", forms=("original",)),
    Block("alternate form", forms=("alternate",), label_orders=("as_is",)),
)
"""Three of the four cells: the study varied one thing at a time."""
_LABEL_PAIRS = {
    "personal_1": "agree_disagree",
    "personal_2": "beneficial_harmful",
    "personal_3": "favorable_detrimental",
    "impersonal_1": "beneficial_harmful",
    "impersonal_2": "favorable_detrimental",
    "impersonal_3": "favorable_detrimental",
}
"""The labels that each template of the political stances offers."""
_WORDS = "Core Sentiment Inventory, anonymous submission to ACL"
_WORDS_DIFFERS = (
    "The words come from another count of frequencies, and names and coarse words are left out.",
    "The instructions are in the language of the words; the study also crossed the two.",
    "The stories by which the study tested validity are not part of this design.",
)
_SENTENCE_OF_WORDS = (
    "5,000 frequent {language} words, thirty in a call, are each put to comedy or tragedy, twice "
    "among other neighbors."
)


def _words_design(code: str, language: str, name: str) -> PublishedDesign:
    return PublishedDesign(
        f"Words by first reaction, {name}",
        _SENTENCE_OF_WORDS.format(language=name),
        _WORDS,
        _WORDS_DIFFERS,
        Design(
            code,
            f"words_{language}_5000",
            (),
            (language,),
            formats=("comedy_tragedy",),
            templates=("association",),
            temperatures=(0.0,),
            repetitions=2,
            items_per_call=30,
            item_order="shuffled",
        ),
        small=60,
    )


PUBLISHED_DESIGNS = (
    PublishedDesign(
        "Image of a brand in four formats",
        "What a model thinks of each brand, whether it says so again, and whether the answer "
        "format changes it.",
        _BRAND,
        _BRAND_DIFFERS,
        Design(
            "brand_image",
            "brand_100",
            (),
            formats=("yes_no", "a_b", "likert_4", "likert_5"),
            templates=("question",),
            entities=_BRANDS,
            temperatures=(1.0,),
            top_p=(0.95,),
            max_tokens=(1000,),
            repetitions=30,
            items_per_call=0,
            ask_again=5,
            whole_calls=True,
        ),
    ),
    PublishedDesign(
        "Which of two brands is preferred",
        "Every two brands compared in five formats; half of the repetitions name the second one "
        "first.",
        _BRAND,
        _BRAND_DIFFERS,
        Design(
            "brand_preference",
            "brand_100_preference",
            (),
            formats=("name_entity", "yes_no", "a_b", "likert_4", "likert_5"),
            templates=("question",),
            pairs=(_BRANDS[:2], _BRANDS[::2], _BRANDS[1:]),
            swap_halves=True,
            temperatures=(1.0,),
            top_p=(0.95,),
            max_tokens=(1000,),
            repetitions=30,
            items_per_call=0,
            ask_again=5,
            whole_calls=True,
        ),
    ),
    PublishedDesign(
        "Reliability of a scale, by personas",
        "An attitude scale and its alternate form, with options in fixed and in random order; "
        "every persona counts as one person.",
        _SCALE,
        (_SCALE_OWN_ITEMS, "60 personas of our own instead of 296."),
        Design(
            "scale_personas",
            "attitude_22",
            (),
            forms=("original", "alternate"),
            label_orders=("as_is", "random"),
            temperatures=(0.0,),
            blocks=_SCALE_CELLS,
        ),
        PERSONAS,
    ),
    PublishedDesign(
        "Reliability of a scale, by conversations",
        "The same scale after an earlier conversation; every conversation counts as one person.",
        _SCALE,
        (
            _SCALE_OWN_ITEMS,
            "30 short conversations of our own instead of 300 from a public collection.",
            "The ablation is not included: it needs conversations rewritten toward the attitude.",
        ),
        Design(
            "scale_conversations",
            "attitude_22",
            (),
            forms=("original", "alternate"),
            templates=("conversation",),
            label_orders=("as_is", "random"),
            temperatures=(0.0,),
            blocks=_SCALE_CELLS,
        ),
        CONVERSATIONS,
    ),
    PublishedDesign(
        "Companion scale for convergence",
        "A second, shorter scale for the same personas, to see whether both scores rise together.",
        _SCALE,
        (
            "The 8 statements are our own, set beside our 22.",
            "60 personas of our own instead of 296.",
        ),
        Design("scale_companion", "attitude_companion_8", (), temperatures=(0.0,)),
        PERSONAS,
        small=4,
    ),
    PublishedDesign(
        "Opinions by yes or no, in six languages",
        "Which opinions a model holds, how firmly, and in which language: ten rounds, each in an "
        "order of its own. The second phase, with a user of the opposite opinion, is planned "
        "once this one is answered.",
        "Hirose & Uchida (2025), arXiv:2505.12183",
        (
            "60 questions of our own (15 of them in both directions) instead of 436.",
            "Six languages instead of four (Japanese, English, Spanish, French).",
            "Temperature 1 is our choice.",
        ),
        Design(
            "opinions_six_languages",
            "debates_60",
            (),
            ("en", "es", "fr", "de", "ja", "zh"),
            templates=("question",),
            temperatures=(1.0,),
            repetitions=10,
            item_order="shuffled",
        ),
    ),
    _words_design("words_english", "en", "English"),
    _words_design("words_chinese", "zh", "Chinese"),
    PublishedDesign(
        "Reliable political stances",
        "On which statements a stance holds under paraphrase, negation, the opposite, inverted "
        "labels and other prompt templates, each asked thirty times.",
        "Ceron et al. (2024), doi:10.1162/tacl_a_00710",
        (
            "60 statements of our own, with invented parties, instead of 239 from voting advice.",
            "The six templates are our own wordings, with the labels of the study's table 8 in its "
            "order. Which of its six are personal is not known to us; of GPT-3.5's, two were.",
            "The study gave the instruction as a system message; ours stands above the statement.",
        ),
        Design(
            "policy_stances",
            "policy_60",
            (),
            formats=tuple(dict.fromkeys(_LABEL_PAIRS.values())),
            forms=(
                "original",
                "paraphrase_1",
                "paraphrase_2",
                "paraphrase_3",
                "negation",
                "opposite",
            ),
            templates=tuple(_LABEL_PAIRS),
            label_orders=("as_is", "inverted"),
            temperatures=(1.0,),
            top_p=(0.85,),
            max_tokens=(20,),
            repetitions=30,
            blocks=tuple(
                Block(template, templates=(template,), formats=(pair,))
                for template, pair in _LABEL_PAIRS.items()
            ),
        ),
    ),
)
"""Every preset, in the order a page lists them."""


# Starting from a published study: its design on our own banks, in full or short.

SMALL_CONTEXTS, SMALL_REPETITIONS = 5, 2
_FILES = {PERSONAS: "personas_60.csv", CONVERSATIONS: "conversations_40.jsonl"}


def by_code(code: str) -> PublishedDesign:
    """The preset of that code."""
    for preset in PUBLISHED_DESIGNS:
        if preset.code == code:
            return preset
    raise DesignError(f"There is no published design '{code}'.", "Choose one from the list.")


def design(
    workspace: Workspace, preset: PublishedDesign, *, first_items: int | None = None
) -> Design:
    """The design of a preset, without respondents, on banks and contexts kept in the database.

    Banks and sets of contexts that are not there yet are read from the files that come along.
    With `first_items` it is a short variant for a trial run: a bank of its own with the first
    items, at most five contexts, two repetitions, and of several templates the first and last.
    """
    chosen = preset.design
    bank = starter_bank(workspace, chosen.instrument)
    if preset.contexts:
        chosen = replace(chosen, contexts=_contexts(workspace, preset.contexts))
    if first_items is not None:
        bank = _short_bank(workspace, bank, first_items)
        chosen = replace(
            chosen,
            instrument=bank.code,
            contexts=chosen.contexts[:SMALL_CONTEXTS],
            repetitions=min(chosen.repetitions, SMALL_REPETITIONS),
            **_fewer_templates(chosen),
        )
    editing.set_archived(workspace, bank.code, archived=False)
    return chosen


def _fewer_templates(design: Design) -> dict[str, Any]:
    """The first and the last template of a design, and its blocks with these."""
    templates = tuple(dict.fromkeys((design.templates[0], design.templates[-1])))
    blocks = []
    for block in design.blocks:
        own = tuple(code for code in block.templates or () if code in templates)
        if own or block.templates is None:
            blocks.append(replace(block, templates=own or None))
    formats = {code for block in blocks for code in block.formats or ()}
    return {
        "templates": templates,
        "blocks": tuple(blocks),
        "formats": tuple(code for code in design.formats if not formats or code in formats),
    }


def fields(
    workspace: Workspace, preset: PublishedDesign, *, first_items: int | None = None
) -> dict[str, Any]:
    """The fields of the design page for a preset; respondents stay as they are chosen."""
    chosen = design(workspace, preset, first_items=first_items)
    body, _ = forms.from_design(workspace, chosen)
    del body["respondents"]
    return body | {"study": forms.free_name(workspace, chosen.study)}


def starter_bank(workspace: Workspace, code: str) -> Instrument:
    """The working copy of a starter bank, imported again where it is not in the database."""
    try:
        return editing.load(workspace, code).instrument
    except BankError:
        return editing.import_bank(workspace, _read_bank(workspace, code)).instrument


def published_bank(workspace: Workspace, code: str) -> Instrument:
    """The same without importing it."""
    try:
        return editing.load(workspace, code).instrument
    except BankError:
        return _read_bank(workspace, code).instrument


def _read_bank(workspace: Workspace, code: str) -> ImportedBank:
    file = workspace.data_directory / "banks" / f"{code}.csv"
    return read_instrument(file.name, file.read_bytes())


def contexts_of(workspace: Workspace, name: str) -> tuple[Context, ...]:
    """The contexts of a set that comes along."""
    file = workspace.data_directory / _FILES[name]
    contexts = read_contexts(file.name, file.read_bytes())
    if name == CONVERSATIONS:
        contexts = crop_conversations(filter_by_language(contexts, "en"))
    return contexts


def _contexts(workspace: Workspace, name: str) -> tuple[Context, ...]:
    """The contexts that come along, kept as a set unless they are or the name is taken."""
    contexts = contexts_of(workspace, name)
    known = sets.load_all(workspace)
    if name not in known and contexts not in known.values():
        sets.save(workspace, name, contexts)
    return contexts


def _short_bank(workspace: Workspace, bank: Instrument, count: int) -> Instrument:
    """A bank of its own with the first items of another; the same again where it is there."""
    if count < 1:
        raise DesignError("A short variant needs at least one item.", "Type a larger number.")
    if len(bank.items) <= count:
        return bank
    short = replace(
        bank,
        code=f"{bank.code}_first{count}",
        title=f"{bank.title}: first {count}",
        items=_first_items(bank.items, count),
    )
    wish, number = short.code, 1
    while (known := store.draft(workspace.database, short.code)) is not None:
        if content_hash(known.instrument) == content_hash(short):
            return known.instrument
        number += 1
        short = replace(short, code=f"{wish}_{number}")
    store.save_draft(
        workspace.database, short, expected_revision=None, summary=f"First items of {bank.code}"
    )
    return short


def _first_items(items: Sequence[Item], count: int) -> tuple[Item, ...]:
    """The first items, linked pairs whole: an item whose other half finds no room is left out."""
    by_code = {item.code: item for item in items}
    taken: set[str] = set()
    for item in items:
        together = {item.code, *([item.pair] if item.pair in by_code else [])} - taken
        if len(taken) + len(together) <= count:
            taken |= together
    return tuple(item for item in items if item.code in taken)

"""Design: cross a bank with respondents and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.domain.formats import TITLES
from core.domain.instrument import ORIGINAL, Instrument
from core.domain.numbers import count_text, name_with_count
from core.domain.study import LABEL_ORDERS, STANDARD
from core.domain.templates import PromptTemplate
from core.errors import UserError
from core.workflow import prompts
from core.workflow.banks import editing
from core.workflow.designs import forms, presets, studies
from core.workflow.designs.presets import PublishedDesign
from core.workflow.respondents import catalog
from pages.design import overview as design_examples
from pages.design import overview as design_frozen
from pages.design import overview as design_overview
from pages.design import personas
from pages.respondents.form import KINDS
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm

# A chooser for the levels of one factor, which tells what was chosen and is gone meanwhile.


def levels(
    form: DraftForm, field: str, label: str, offered: Mapping[str, str], **options: Any
) -> None:
    """Let the user choose any of `offered` (levels with their words)."""
    form.several(field, label, list(offered), offered.__getitem__, **options)
    gone = [value for value in form.fields[field] if value not in offered]
    if gone:
        st.warning(f"Chosen before, and not on offer now: {widgets.plain(', '.join(gone))}.")
        kept = [value for value in form.fields[field] if value in offered]
        st.button(
            "Leave them out", key=f"design_drop:{field}", on_click=draft_form.set_fields,
            args=(form.name, form.defaults, {field: kept}),
        )  # fmt: skip


# Whom or what the items are about: entities, or ordered pairs of them.


def entities(form: DraftForm, bank: Instrument) -> None:
    """Entities and pairs, where the bank has a place for them or something is typed already."""
    texts = [w.text for item in bank.items for w in item.wordings]
    compares = any("{entity_b}" in text for text in texts)
    names = compares or any("{entity}" in text for text in texts)
    typed = bool(form.fields["entities_text"] or form.fields["pairs_text"])
    if not (names or typed):
        return
    with st.expander("Entities", expanded=True):
        form.long_text(
            "entities_text", "Entities, one on each line", height=100,
            placeholder="a brand, party or person on each line",
            help="Each takes the place of {entity} in the items, and all items are asked about "
            "each." + (" Here they serve to make pairs below." if compares else ""),
        )  # fmt: skip
        if compares or form.fields["pairs_text"]:
            _pairs(form)


def _pairs(form: DraftForm) -> None:
    typed = forms.lines(form.fields["entities_text"])
    swaps = form.fields["swap_halves"]
    st.button(
        "Make all pairs of these entities", key="design_make_pairs", icon=":material/compare:",
        disabled=len(set(typed)) < 2, on_click=_make_pairs, args=(form,),
        help="Writes every pair below and empties the list above: "
        + ("each two once, as both orders are asked anyway." if swaps else "each two both ways."),
    )  # fmt: skip
    form.long_text(
        "pairs_text", "Pairs, one on each line", height=130, placeholder="one | other",
        help="Written as: one | other. The first takes the place of {entity}, the second that of "
        "{entity_b}.",
    )  # fmt: skip
    form.toggle(
        "swap_halves", "Ask half of the repetitions the other way round",
        help="The second half of the repetitions names the second entity first, so that a habit "
        "of preferring what is named first cancels out. It takes two repetitions or more.",
    )  # fmt: skip


def _make_pairs(form: DraftForm) -> None:
    typed = forms.lines(form.fields["entities_text"])
    pairs = forms.pairs_text(typed, both_ways=not form.fields["swap_halves"])
    changes = {"pairs_text": pairs, "entities_text": ""}
    draft_form.set_fields(form.name, form.defaults, changes)


# How the calls are put: in which order, how many items at once, and what becomes of replies.

SEVERAL = -1
_PER_CALL = {1: "One", SEVERAL: "Several", 0: "All of the bank"}
_AT_FIRST = 10  # items in a call where "Several" is chosen
_LARGEST = 2**31 - 1  # what a whole number of the database holds


def order(form: DraftForm) -> None:
    """Items per call, item order, and the seed of every random order."""
    with st.expander("Order"):
        left, right = st.columns(2)
        with left:
            _items_per_call(form)
        with right:
            form.radio(
                "item_order", "Order of the items",
                {"fixed": "As in the bank", "shuffled": "Shuffled"}, horizontal=True,
                help="Shuffled: drawn anew for every administration, that is one respondent "
                "answering the bank once under one set of conditions.",
            )  # fmt: skip
        form.number(
            "seed", "Seed of the random orders", -_LARGEST, _LARGEST, step=1, width=240,
            help="The same number gives the same random orders of items and options again.",
        )  # fmt: skip


def _unusable_answers(form: DraftForm) -> None:
    """Whether a refusal or another reply without an answer is kept or asked for again."""
    with st.expander("Answers that cannot be used"):
        form.number(
            "ask_again", "Ask again, at most so many times", 0, None, step=1, width=280,
            help="0 keeps the first reply, whatever it is. Otherwise a refusal or another reply "
            "from which no option can be read is asked for again; every attempt is kept and "
            "counted.",
        )  # fmt: skip


def _structured_answering(form: DraftForm) -> None:
    """Whether replies are free, and whether the first token's probabilities are recorded."""
    with st.expander("Structured answering"):
        form.radio(
            "answering", "Replies",
            {"free": "Free, and read afterwards", "enforced": "Held to the options"},
            horizontal=True,
            help="Held to the options: a schema or grammar lets the model write nothing but an "
            "option, so that it can neither refuse nor explain. The service or local model must "
            "know how to do that.",
        )  # fmt: skip
        form.toggle(
            "first_token", "Record the probabilities of the first token",
            help="How likely each option was, besides the one written. Services that do not tell "
            "leave it empty.",
        )  # fmt: skip


def _items_per_call(form: DraftForm) -> None:
    per_call = form.fields["items_per_call"]
    shown = per_call if per_call in (0, 1) else SEVERAL
    key = draft_form.key_of(form.name, "per_call_choice")
    if st.session_state.get(key) != shown:
        st.session_state[key] = shown
    st.radio(
        "Items in one call", list(_PER_CALL), format_func=_PER_CALL.__getitem__, key=key,
        horizontal=True, on_change=_take_per_call, args=(form, key),
        help="One: every item on its own, without the others before it. Several or all: as a "
        "numbered list, in fewer calls; the reply gets room for 16 tokens an item, if the "
        "respondent's limit is lower.",
    )  # fmt: skip
    if shown == SEVERAL:
        form.number("items_per_call", "How many in a call", 2, None, step=1, width=240)


def _take_per_call(form: DraftForm, key: str) -> None:
    chosen = st.session_state[key]
    changes = {"items_per_call": _AT_FIRST if chosen == SEVERAL else chosen}
    draft_form.set_fields(form.name, form.defaults, changes)


# How the items are worded: their forms, the instructions around them, the order of options.

_PERSONAL = {True: "asks for its own view", False: "asks for no view of its own"}


def wording(form: DraftForm, bank: Instrument) -> None:
    """Forms, templates and label orders, with the texts of the templates to read."""
    with st.expander("Wording"):
        left, right = st.columns(2)
        with left:
            levels(
                form, "forms", "Forms", {name: name for name in bank.forms()},
                placeholder=ORIGINAL,
                help="Rewordings of the items that the bank holds, such as a paraphrase or a "
                "negation. Everything is asked in each of them.",
            )  # fmt: skip
        with right:
            levels(
                form, "label_orders", "Order of the options",
                {str(code): words for code, words in LABEL_ORDERS.items()},
                placeholder=LABEL_ORDERS["as_is"],
                help="Whether the first option is chosen because it is the first shows when the "
                "options also come in another order.",
            )  # fmt: skip
        _templates(form)
        form.toggle(
            "skip_missing", "Leave out items without a text",
            help="Where an item has no text in a chosen language and form, ask the others only. "
            "Off: the design cannot be frozen until every text is there.",
        )  # fmt: skip


def _templates(form: DraftForm) -> None:
    found = widgets.workspace()
    offered = prompts.load_wordings(found).templates
    # they tell an opinion, which only the second phase of a study has
    later = studies.opinion_templates(found)
    titles = {
        code: f"{template.title} ({code})"
        for code, template in offered.items()
        if code not in later or code in form.fields["templates"]
    }
    levels(
        form, "templates", "Instructions (prompt templates)", titles,
        placeholder=titles.get(STANDARD, STANDARD),
        help="The sentences around the item. With several, everything is asked in each of them.",
    )  # fmt: skip
    chosen = [code for code in form.fields["templates"] if code in offered] or [STANDARD]
    language = next(iter(form.fields["languages"]), "en")
    with st.popover("Read the instructions", icon=":material/visibility:"):
        st.caption(
            "Words in braces are filled in for each call: the item, its options, and the "
            "sentence that asks for a reply."
        )
        for code in chosen:
            _preview(offered[code], language, block=form.fields["items_per_call"] != 1)


def _preview(template: PromptTemplate, language: str, *, block: bool) -> None:
    """The text of one template as the study would use it."""
    kind = "" if template.personal is None else f" ({_PERSONAL[template.personal]})"
    st.write(f"**{widgets.plain(template.title)}**{kind}")
    text = template.text(language)
    with st.container(border=True):
        if block and not text.block:
            st.caption("This template puts one item at a time.")
        body = text.block if block and text.block else text.single
        widgets.text_block(body, language=language, monospace=True)
    if text.persona:
        st.caption(f"After a persona: {widgets.plain(text.persona)}")


# What a study crosses: the choices nearly every study makes, and the rest in expanders.

_WORKING_COPY = 0  # in place of None, which a chooser takes for "nothing chosen"


def choices(form: DraftForm) -> None:
    """Every factor of the design, autosaved."""
    form.text(
        "study", "Name of the study", placeholder="for example: pilot_2026",
        help="Stands in every file and table of this study. It cannot be changed after freezing.",
    )  # fmt: skip
    bank = _bank(form)
    if bank is None:
        return
    left, right = st.columns(2)
    with left:
        _respondents(form)
    with right:
        _formats(form, bank)
    left, middle, right = st.columns([2, 1, 1])
    with left:
        levels(
            form, "languages", "Languages", {code: code for code in bank.languages},
            help="Languages of the bank in which the items are asked.",
        )  # fmt: skip
    with middle:
        form.number(
            "repetitions", "Repetitions", 1, None, step=1,
            help="How often everything is asked again, to see whether the answers are stable.",
        )  # fmt: skip
    with right:
        form.text(
            "temperatures_text", "Temperatures", placeholder="each respondent's own",
            help="Numbers with commas between, such as 0, 0.7, 1. Each respondent is then asked "
            "at each of them. 0: the likeliest reply every time; higher: more varied.",
        )  # fmt: skip
    personas.personas(form)
    entities(form, bank)
    wording(form, bank)
    order(form)
    _unusable_answers(form)
    _structured_answering(form)
    form.long_text(
        "notes", "Notes", height=80, placeholder="hypotheses, reasons, who and why",
        help="Kept with the design and exported with it.",
    )  # fmt: skip


def _bank(form: DraftForm) -> Instrument | None:
    """Choosers of bank and version; the bank chosen, or None."""
    found = widgets.workspace()
    shown = {bank.code: bank for bank in editing.summaries(found) if not bank.archived}
    left, right = st.columns([3, 1])
    with left:
        form.select(
            "instrument", "Bank", list(shown),
            lambda code: name_with_count(
                f"{code}: {shown[code].title}", count_text(shown[code].n_items, "item")
            ),
            on_change=lambda: _take_bank(form), placeholder="Choose a bank",
            help="The items to be answered. Write and import them on the page Banks.",
        )  # fmt: skip
    code = form.fields["instrument"]
    if code not in shown:
        st.info("Choose a bank. If there is none, write or import one on the page Banks.")
        st.page_link("pages/banks/page.py", label="Go to Banks", icon=":material/quiz:")
        return None
    published = {v.version: f"Version {v.version}" for v in editing.versions(found, code)}
    versions = {_WORKING_COPY: "Working copy", **published}
    key = draft_form.key_of(form.name, "version_choice")
    wanted = form.fields["version"] or _WORKING_COPY
    if st.session_state.get(key) != wanted:
        st.session_state[key] = wanted
    right.selectbox(
        "Version", list(versions), format_func=lambda v: versions.get(v, str(v)), key=key,
        on_change=_take_version, args=(form, key),
        help="Freezing publishes the working copy as a version where it has changed, so that "
        "later edits of the bank do not touch the study.",
    )  # fmt: skip
    return editing.content(found, code, form.fields["version"])


def _respondents(form: DraftForm) -> None:
    offered = {r.label: r for r in catalog.list_respondents(widgets.workspace())}
    levels(
        form, "respondents", "Respondents",
        {label: f"{label} [{KINDS[person.kind]}]" for label, person in offered.items()},
        placeholder="Choose one or more",
        help="The models that answer. Add more on the page Respondents.",
    )  # fmt: skip
    if not offered:
        st.page_link(
            "pages/respondents/page.py", label="Add a respondent", icon=":material/smart_toy:"
        )


def _formats(form: DraftForm, bank: Instrument) -> None:
    offered = {found.code: TITLES.get(found.code, found.code) for found in bank.formats}
    first = next(iter(offered.values()), "none")
    levels(
        form, "formats", "Answer formats", offered, placeholder=first,
        help="The answer options shown with every item. With several, everything is asked in "
        "each of them. Empty: the first of the bank.",
    )  # fmt: skip


def _take_bank(form: DraftForm) -> None:
    code = st.session_state[draft_form.key_of(form.name, "instrument")]
    _take(form, code, None)


def _take_version(form: DraftForm, key: str) -> None:
    _take(form, form.fields["instrument"], st.session_state[key] or None)


def _take(form: DraftForm, code: str, version: int | None) -> None:
    """Change the bank and, with it, what depends on it."""
    languages = tuple(form.fields["languages"])
    changes = forms.bank_fields(widgets.workspace(), code, languages, version)
    draft_form.set_fields(form.name, form.defaults, changes)


# Starting from a published design, in full or as a short trial run.

_CHOSEN = "design_preset"
_SHORT = "design_preset_short"
_NOTE = "design_preset_note"


def _start_from_preset(form: DraftForm) -> None:
    """Choose a published design, read what differs from it, and fill the form with it."""
    if note := widgets.last_note(_NOTE):
        st.info(note)
    titles = {preset.code: preset.title for preset in presets.PUBLISHED_DESIGNS}
    code = st.selectbox(
        "Start from a published design", list(titles), index=None, key=_CHOSEN,
        format_func=lambda code: titles.get(code, code), placeholder="Choose a design",
        help="Fills the choices below with the design of a published study, on question banks "
        "that come with Inkblot. The respondents stay as you chose them.",
    )  # fmt: skip
    if code is None:
        return
    with widgets.error_box():
        preset = presets.by_code(code)
        with st.container(border=True):
            _told(preset)
            first_items = _short_variant(preset)
            st.button(
                "Use this design", key="design_use_preset", on_click=_use,
                args=(form, preset, first_items), icon=":material/content_copy:",
                help="Replaces the choices below. 'Back to the design before' undoes it.",
            )  # fmt: skip


def _told(preset: PublishedDesign) -> None:
    st.write(widgets.plain(preset.sentence))
    st.caption(f"After {widgets.plain(preset.source)}. Bank: {preset.design.instrument}.")
    differs = "\n".join(f"- {widgets.plain(line)}" for line in preset.differs)
    st.markdown(f"What differs from the published study:\n\n{differs}")


def _short_variant(preset: PublishedDesign) -> int | None:
    """How many items a trial run shall have; None for the whole design."""
    short = st.toggle(
        "Short variant for a trial run", key=_SHORT,
        help="A copy of the bank with its first items, kept as a bank of its own; at most "
        f"{presets.SMALL_CONTEXTS} personas or conversations, {presets.SMALL_REPETITIONS} "
        "repetitions and two templates.",
    )  # fmt: skip
    if not short:
        return None
    return st.number_input(
        "Items of the short variant, from the top", 1, None, preset.small, step=1, width=320,
        key=f"design_preset_items:{preset.code}",
        help="Where items are linked in pairs, both halves are taken or neither.",
    )  # fmt: skip


def _use(form: DraftForm, preset: PublishedDesign, first_items: int | None) -> None:
    try:
        fields = presets.fields(widgets.workspace(), preset, first_items=first_items)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    design_frozen.replace_fields(form, fields)
    st.session_state[_CHOSEN] = None
    st.session_state[_NOTE] = "The design is filled in below. Look it over before you freeze it."


# Cross a bank with respondents and conditions, see what it comes to, and freeze the plan.


def main() -> None:
    st.title("Design")
    st.caption(
        "Choose what is asked, who answers and under which conditions; see what that comes to; "
        "freeze it into a plan."
    )
    with widgets.error_box():
        form = draft_form.open_form(forms.DRAFT_NAME, forms.default_fields(widgets.workspace()))
        _start_from_preset(form)
        with st.expander("Start from a file, or from nothing"):
            design_frozen.start_from_file(form)
        st.header("Choose")
        choices(form)
        form.show_notes()
        overview(form)
        st.header("Frozen studies")
        design_frozen.frozen_studies(form)


def overview(form: DraftForm) -> None:
    """What the choices come to; an error here leaves the rest of the page as it is."""
    st.header("What it comes to")
    with widgets.error_box():
        without = personas.still_to_choose(form.fields)
        fields = {**form.fields, "personas": "none"} if without else form.fields
        design = forms.to_design(widgets.workspace(), fields)
        size = design_overview.plan_size(design)
        ready = design_overview.cautions(design, also=without)
        st.header("What will be sent")
        with widgets.error_box():
            design_examples.examples(design, size)
        st.header("Freeze")
        design_frozen.freeze_button(form, design, ready=ready)


main()

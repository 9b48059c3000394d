"""Design: cross a bank with respondents and conditions."""

from __future__ import annotations

import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.domain.languages import language_name
from core.domain.numbers import count_text, name_with_count
from core.domain.study import LABEL_ORDERS, STANDARD, Design
from core.domain.templates import PromptTemplate
from core.errors import UserError
from core.workflow import prompts
from core.workflow.banks import editing
from core.workflow.banks.grid import GridTextColumn
from core.workflow.designs import forms, presets, studies
from core.workflow.designs.blocks import HISTORIES
from core.workflow.designs.presets import PublishedDesign
from core.workflow.designs.studies import PlanSize
from pages.design import blocks, items, overview, personas, pilot, prepared
from pages.design.levels import Offered, levels, numbers, offered_levels
from pages.shared import draft_form, study_bar, widgets
from pages.shared.draft_form import (
    ChoiceField,
    DraftForm,
    LongTextField,
    NumberField,
    Part,
    RadioField,
    TextField,
    ToggleField,
    draw_field,
)

# The entities that the items are about, or ordered pairs of them.

_PAIRS: tuple[Part, ...] = (
    LongTextField("pairs_text", "Pairs, one per line", "one | other", height=130),
    "Type: one | other. The first entity replaces {entity}, the second replaces {entity_b}.",
    ToggleField("swap_halves", "Swap the entities in half of the repetitions"),
    "The second half of the repetitions names the second entity first, so that a "
    "preference for the first name cancels out. This needs two or more repetitions.",
)


def entities(form: DraftForm, bank: Instrument) -> None:
    """Entities and pairs, if the bank has a place for them or the user has typed some."""
    texts = [w.text for item in bank.items for w in item.wordings]
    compares = any("{entity_b}" in text for text in texts)
    names = compares or any("{entity}" in text for text in texts)
    typed = bool(form.fields["entities_text"] or form.fields["pairs_text"])
    if not (names or typed):
        return
    with st.expander("Entities", expanded=True):
        form.draw(
            LongTextField(
                "entities_text",
                "Entities, one per line",
                "a brand, party or person on each line",
                height=100,
            ),
            "Each entity replaces {entity} in the items. All items are asked about each "
            "entity." + (" This bank needs pairs: make them below." if compares else ""),
        )
        if compares or form.fields["pairs_text"]:
            _pairs(form)


def _pairs(form: DraftForm) -> None:
    typed = forms.lines(form.fields["entities_text"])
    swaps = form.fields["swap_halves"]
    st.button(
        "Make all pairs of these entities",
        key="design_make_pairs",
        icon=":material/compare:",
        disabled=len(set(typed)) < 2,
        on_click=_make_pairs,
        args=(form,),
        help="Writes the pairs below and empties the list above: "
        + (
            "each pair once, because half of the repetitions swap it."
            if swaps
            else "each pair in both orders."
        ),
    )
    form.draw(*_PAIRS)


def _make_pairs(form: DraftForm) -> None:
    typed = forms.lines(form.fields["entities_text"])
    pairs = forms.pairs_text(typed, both_ways=not form.fields["swap_halves"])
    form.change({"pairs_text": pairs, "entities_text": ""})


# The calls: the order of items, items per call, and the handling of replies.

SEVERAL = -1
_PER_CALL = {1: "One", SEVERAL: "Several", 0: "All"}
_AT_FIRST = 10  # items in a call where "Several" is chosen
_LARGEST = 2**31 - 1  # what a whole number of the database holds
_ITEM_ORDER: tuple[Part, ...] = (
    RadioField(
        "item_order", "Order of the items", {"fixed": "As in the bank", "shuffled": "Shuffled"}
    ),
    "Shuffled: each administration gets its own random order. In an "
    "administration, one respondent answers the bank once under one set of conditions.",
)
_HISTORY_AND_SEED: Part = (
    levels("histories", "History", HISTORIES["none"]),
    "Its own earlier answers: each call of an administration begins with the "
    "earlier calls and their replies, in their order. Such calls wait for each other.",
    NumberField("seed", "Seed of the random orders", -_LARGEST, _LARGEST, width=240),
    "The same seed gives the same random orders of items and options.",
)
_UNUSABLE_ANSWERS: tuple[Part, ...] = (
    NumberField("ask_again", "Largest number of repeated calls", 0, width=280),
    "0: the first reply counts, whatever it says. Otherwise, if a reply is a refusal or holds no "
    "option that Inkblot can read, the call is repeated. Every reply is saved and counted.",
    ToggleField("whole_calls", "Count a call only as a whole"),
    "For calls with several items: all answers of a call come from one reply in which every item "
    "is answered. A call with an unusable answer is repeated as a whole; if no reply is complete, "
    "none of its items has an answer. Otherwise, each item takes the first reply that answers it.",
)
_STRUCTURED_ANSWERING: tuple[Part, ...] = (
    RadioField(
        "answering",
        "Replies",
        {"free": "Free; Inkblot reads them", "enforced": "Restricted to the options"},
    ),
    "Restricted to the options: a schema or grammar lets the model write nothing but an option, so "
    "that it can neither refuse nor explain. The service or local model must support this.",
    ToggleField("first_token", "Record the probabilities of the first token"),
    "The probability of each option at the first token of the reply. Some services do "
    "not report it; it is then empty.",
)
_NUMBER_OF_ITEMS: tuple[Part, ...] = (
    numbers("items_per_call", "Number of items in a call", width=240),
    "Type one number, or several with commas between them, such as 1, 10, all. With "
    "several numbers, all items are asked in each way.",
)


def order(form: DraftForm, offered: Offered) -> None:
    """Items per call, item order, history, and the seed of every random order."""
    with st.expander("Order"):
        left, right = st.columns(2)
        with left:
            _items_per_call(form)
        with right:
            form.draw(*_ITEM_ORDER)
        form.draw(_HISTORY_AND_SEED, choices=offered)


def _items_per_call(form: DraftForm) -> None:
    per_call = form.fields["items_per_call"]
    choice = per_call if per_call in (0, 1) else SEVERAL
    draw_field(
        RadioField("per_call_choice", "Items in one call", _PER_CALL),
        form.key("per_call_choice"),
        choice,
        lambda chosen: form.change({"items_per_call": _AT_FIRST if chosen == SEVERAL else chosen}),
        "One: each item has its own call, without other items before it. Several or all: the "
        "items are a numbered list, in fewer calls. The reply may then have at least 16 tokens per "
        "item, even if the respondent's limit is lower.",
    )
    if choice == SEVERAL:
        form.draw(*_NUMBER_OF_ITEMS)


# The wording of the items: forms, templates, and the order of options.

_PERSONAL = {True: "asks for the model's own view", False: "does not ask for the model's own view"}


def wording(form: DraftForm, offered: Offered) -> None:
    """Forms, templates and label orders, with the texts of the templates to read."""
    standard = offered["templates"].get(STANDARD, STANDARD)
    with st.expander("Wording"):
        form.draw(
            (
                levels("forms", "Forms", ORIGINAL),
                "Wordings of the items in the bank, such as a paraphrase or a negation. All "
                "items are asked in each form.",
                levels("label_orders", "Order of the options", LABEL_ORDERS["as_is"]),
                "With several orders, you can test whether a model chooses an option because "
                "of its place.",
            ),
            levels("templates", "Prompt templates", standard),
            "The sentences around the item. With several templates, all items are asked in each.",
            choices=offered,
        )
        _read_templates(form)
        _second_phase(form)
        form.draw(
            ToggleField("skip_missing", "Leave out items without a text"),
            "On: items without a text in a chosen language and form are left out there. Off: "
            "you can freeze the design only if every text exists.",
        )


def _second_phase(form: DraftForm) -> None:
    """Whether each item is asked again with the opposite opinion, and with which template."""
    titles = studies.opinion_templates(widgets.workspace())
    chosen = form.fields["second_phase"]
    if chosen and chosen not in titles:
        st.warning(f"Chosen, but no longer available: {widgets.plain(chosen)}.")
        st.button(
            "Remove it",
            key="design_drop:second_phase",
            on_click=form.change,
            args=({"second_phase": ""},),
        )
    phases = {code: f"Ask again with the opposite opinion: {titles[code]}" for code in titles}
    form.draw(
        ChoiceField("second_phase", "Second phase", {"": "No second phase", **phases}),
        "After the first phase, Inkblot asks each answered item again, with a user who holds "
        "the opposite opinion. This needs one item in a call and answers for or against.",
    )


def _read_templates(form: DraftForm) -> None:
    offered = prompts.load_wordings(widgets.workspace()).templates
    chosen = [code for code in form.fields["templates"] if code in offered] or [STANDARD]
    language = next(iter(form.fields["languages"]), "en")
    with st.popover("Read the templates", icon=":material/visibility:"):
        st.caption(
            "Each call replaces the words in braces: the item, its options, and the sentence that "
            "asks for a reply."
        )
        for code in chosen:
            _preview(offered[code], language, block=form.fields["items_per_call"] not in (1, "1"))
        st.page_link(
            "pages/templates/page.py",
            label="Write, preview and test templates",
            icon=":material/edit_document:",
        )


def _preview(template: PromptTemplate, language: str, *, block: bool) -> None:
    """The text of one template as the study would use it."""
    kind = "" if template.personal is None else f" ({_PERSONAL[template.personal]})"
    st.write(f"**{widgets.plain(template.title)}**{kind}")
    text = template.text(language)
    with st.container(border=True):
        if block and not text.block:
            st.caption("This template asks one item at a time.")
        body = text.block if block and text.block else text.single
        widgets.text_block(body, language=language, monospace=True)
    if text.persona:
        st.caption(f"After a persona: {widgets.plain(text.persona)}")


# The factors of a study: the usual ones, and the others in expanders.

_WORKING_COPY = 0  # in place of None, which a chooser takes for "nothing chosen"


_SAMPLING: Part = (
    TextField("temperatures_text", "Temperatures", "each respondent's own"),
    "Type numbers with commas between them, such as 0, 0.7, 1. Each respondent answers at each "
    "temperature. 0: the most likely reply every time; higher: more varied replies.",
    numbers("top_p", "Top-p", "each respondent's own"),
    "Type numbers from 0 to 1 with commas between them. The model chooses each token "
    "among the most likely ones, which together have this probability. 1: among all.",
    numbers("max_tokens", "Longest reply (tokens)", "each respondent's own"),
    "Type whole numbers with commas between them. A longer reply is cut off. A token "
    "is about three quarters of an English word.",
)


def _languages_without_texts(form: DraftForm, bank: Instrument) -> None:
    """Which languages of the bank are not asked, as items lack a text in them."""
    others = [GridTextColumn(n) for n in bank.languages if n not in form.fields["languages"]]
    lacking = [
        f"{language_name(gap.language)}: {gap.n_missing:,} of {count_text(len(bank.items), 'item')}"
        for gap in editing.gaps(bank, others)
        if gap.n_missing and gap.form == ORIGINAL
    ]
    if lacking:
        st.caption(
            f":material/warning: Texts are missing in languages of the bank that are not chosen. "
            f"{widgets.plain('; '.join(lacking))}. Write or paste them on the page Banks."
        )


def choices(form: DraftForm) -> None:
    """Every factor of the design, autosaved."""
    form.draw(
        TextField("study", "Name of the study", "for example: pilot_2026"),
        "The name appears in every file and table of the study. You cannot change it after "
        "freezing.",
    )
    bank = _bank(form)
    if bank is None:
        return
    offered = offered_levels(form, bank)
    left, right = st.columns(2)
    with left:
        form.draw(
            levels("respondents", "Respondents", "Choose one or more"),
            "The models that answer. Add more on the page Respondents.",
            choices=offered,
        )
        if not offered["respondents"]:
            st.page_link(
                "pages/respondents/page.py", label="Add a respondent", icon=":material/smart_toy:"
            )
    with right:
        form.draw(
            levels("formats", "Answer formats", next(iter(offered["formats"].values()), "none")),
            "The answer options of every item. With several formats, all items are asked in each. "
            "Empty: the first format of the bank.",
            choices=offered,
        )
    form.draw(
        (
            levels("languages", "Languages"),
            "All items are asked in each chosen language of the bank.",
            NumberField("repetitions", "Repetitions", 1),
            "The number of times that everything is asked, to see whether answers are stable.",
        ),
        _SAMPLING,
        choices=offered,
    )
    _languages_without_texts(form, bank)
    personas.personas(form)
    entities(form, bank)
    _items(form, bank)
    wording(form, offered)
    pilot.section(form, bank, offered)
    order(form, offered)
    with st.expander("Replies without a usable answer"):
        form.draw(*_UNUSABLE_ANSWERS)
    with st.expander("Structured answering"):
        form.draw(*_STRUCTURED_ANSWERING)
    blocks.section(form, bank, offered)
    form.draw(
        LongTextField("notes", "Notes", "hypotheses, reasons, authors", height=80),
        "The notes are saved and exported with the design.",
    )


def _items(form: DraftForm, bank: Instrument) -> None:
    """The items of the bank that are asked, all at first."""

    def take(codes: list[str], sentence: str) -> None:
        notes = form.stored()["notes"]
        notes = forms.with_note(notes, sentence) if sentence else notes
        form.change({"items": codes, "notes": notes})

    with st.expander("Items"):
        language = next(iter(form.fields["languages"]), "en")
        items.item_chooser(bank, form.fields["items"], form.key("items"), take, language=language)


def _bank(form: DraftForm) -> Instrument | None:
    """The choosers of bank and version; returns the bank, or None."""
    workspace = widgets.workspace()
    titles = {
        bank.code: name_with_count(f"{bank.code}: {bank.title}", count_text(bank.n_items, "item"))
        for bank in editing.summaries(workspace)
        if not bank.archived
    }
    code = form.fields["instrument"]
    bank_field = ChoiceField("instrument", "Bank", titles, "Choose a bank")

    def take_bank(chosen: str) -> None:
        form.keep(bank_field, chosen)
        _take(form, chosen, None)

    left, right = st.columns([3, 1])
    with left:
        draw_field(
            bank_field,
            form.key("instrument"),
            code,
            take_bank,
            "The bank holds the items. Write and import banks on the page Banks.",
        )
    if code not in titles:
        st.info("Choose a bank. If there is none, write or import one on the page Banks.")
        st.page_link("pages/banks/page.py", label="Go to Banks", icon=":material/quiz:")
        return None
    published = {v.version: f"Version {v.version}" for v in editing.versions(workspace, code)}
    with right:
        draw_field(
            ChoiceField("version_choice", "Version", {_WORKING_COPY: "Working copy", **published}),
            form.key("version_choice"),
            form.fields["version"] or _WORKING_COPY,
            lambda version: _take(form, code, version or None),
            "Freezing publishes the working copy as a version if it has changed. Later edits of "
            "the bank do not change the study.",
        )
    return editing.content(workspace, code, form.fields["version"])


def _take(form: DraftForm, code: str, version: int | None) -> None:
    """Change the bank and, with it, what depends on it."""
    languages = tuple(form.fields["languages"])
    form.change(forms.bank_fields(widgets.workspace(), code, languages, version))


# Starting from a published design, in full or as a short test run.

_CHOSEN = "design_preset"
_SHORT = "design_preset_short"
_NOTE = "design_preset_note"


def _start_from_preset(form: DraftForm) -> None:
    """Choose a published design, read what differs from it, and fill the form with it."""
    if note := widgets.last_note(_NOTE):
        st.info(note)
    titles = {preset.code: preset.title for preset in presets.PUBLISHED_DESIGNS}
    code = st.selectbox(
        "Start from a published design",
        list(titles),
        index=None,
        key=_CHOSEN,
        format_func=lambda code: titles.get(code, code),
        placeholder="Choose a design",
        help="Fills the choices below with the design of a published study and a bank that comes "
        "with Inkblot. Your choice of respondents does not change.",
    )
    if code is None:
        return
    with widgets.error_box():
        preset = presets.by_code(code)
        with st.container(border=True):
            _preset_details(preset)
            first_items = _short_variant(preset)
            st.button(
                "Use this design",
                key="design_use_preset",
                on_click=_use,
                args=(form, preset, first_items),
                icon=":material/content_copy:",
                help="Replaces the choices below. 'Restore the previous design' undoes this.",
            )


def _preset_details(preset: PublishedDesign) -> None:
    st.write(widgets.plain(preset.sentence))
    st.caption(f"After {widgets.plain(preset.source)}. Bank: {preset.design.instrument}.")
    differs = "\n".join(f"- {widgets.plain(line)}" for line in preset.differs)
    st.markdown(f"Differences from the published study:\n\n{differs}")


def _short_variant(preset: PublishedDesign) -> int | None:
    """The number of items of a test run; None for the whole design."""
    short = st.toggle(
        "Use a short variant for a test run",
        key=_SHORT,
        help="The short variant has a copy of the bank with its first items, at most "
        f"{presets.SMALL_CONTEXTS} personas or conversations, {presets.SMALL_REPETITIONS} "
        "repetitions and two templates.",
    )
    if not short:
        return None
    return st.number_input(
        "Number of items, from the top",
        1,
        None,
        preset.small,
        step=1,
        width=320,
        key=f"design_preset_items:{preset.code}",
        help="If two items are partners, the short variant has both or neither.",
    )


def _use(form: DraftForm, preset: PublishedDesign, first_items: int | None) -> None:
    try:
        fields = presets.fields(widgets.workspace(), preset, first_items=first_items)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    overview.replace_fields(form, fields)
    st.session_state[_CHOSEN] = None
    st.session_state[_NOTE] = "The choices below now hold the design. Check them before you freeze."


# The page: choices, outcome, and frozen studies.


def main() -> None:
    study_bar.page_header(
        "Design",
        "Choose the bank, the respondents and the conditions; see the size and cost of the study; "
        "freeze the design into a plan.",
    )
    with widgets.error_box():
        form = draft_form.open_form(forms.DRAFT_NAME, forms.default_fields(widgets.workspace()))
        if pilot.take_proposed(form):
            st.rerun()
        prepared.offer(form)
        left, right = st.columns([3, 2], gap="large", vertical_alignment="bottom")
        with left:
            _start_from_preset(form)
        with right, st.expander("Start from a file or with an empty design"):
            overview.start_from_file(form)
        left, right = st.columns([3, 2], gap="large")
        with left:
            choices(form)
            form.show_notes()
        with right, st.container(key="design_outcome"):
            planned = outcome_section(form)
        if planned and planned[0].blocks:
            st.header("Blocks of the design")
            with widgets.error_box():
                overview.block_table(*planned)
        if planned:
            st.header("Prompts to be sent")
            with widgets.error_box():
                overview.examples(*planned)
        st.header("Frozen studies")
        overview.frozen_studies(form)


def outcome_section(form: DraftForm) -> tuple[Design, PlanSize] | None:
    """Size, cautions and the freeze button; None where an error takes their place."""
    st.header("Size and cost")
    with widgets.error_box():
        without = personas.still_to_choose(form.fields)
        fields = {**form.fields, "personas": "none"} if without else form.fields
        design = forms.to_design(widgets.workspace(), fields)
        frozen = overview.just_frozen(form)
        size = overview.plan_size(design)
        if frozen:
            return design, size
        ready = overview.cautions(design, also=without)
        overview.freeze_button(form, design, ready=ready)
        return design, size
    return None


main()

"""A pilot of prompt templates on the page Design, and the templates that a pilot proposes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from core.domain.instrument import Instrument
from core.domain.numbers import count_text
from core.domain.study import LABEL_ORDERS, Design
from core.errors import UserError
from core.workflow.designs import forms, studies
from core.workflow.templates import pilots
from core.workflow.templates.pilots import TemplatePilot
from pages.design import overview
from pages.design.levels import Offered, levels
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm, NumberField, SeveralField, draw_field

PILOT = "pilot"
"""The part of an address that opens the pilot."""
STUDY, TEMPLATE = "templates_of", "template"
"""The parts of an address that ask for proposed templates: the study and each template."""
_NAME = "template pilot"
_NOTE = "design_pilot_note"
_PROPOSED_NOTE = "design_proposed_note"


def section(form: DraftForm, bank: Instrument, offered: Offered) -> None:
    """A pilot of the present design: many templates on a sample of its items."""
    if note := widgets.last_note(_NOTE):
        st.success(note)
    with st.expander("Template pilot", expanded=PILOT in st.query_params):
        st.caption(
            "Ask a sample of the items with many templates first. The page Unexpected outputs then "
            "ranks the templates by their share of usable answers and proposes the best "
            "personal and impersonal ones."
        )
        wanted = st.toggle(
            "Plan a pilot of templates",
            PILOT in st.query_params,
            key="design_pilot",
            help="The pilot has the bank, respondents, languages, entities and settings of the "
            "choices on this page.",
        )
        if wanted:
            with widgets.error_box():
                _pilot(form, bank, offered)


def _pilot(design_form: DraftForm, bank: Instrument, offered: Offered) -> None:
    """The choices of a pilot, its size, and the button that freezes it."""
    design = forms.to_design(widgets.workspace(), design_form.fields)
    fitting = pilots.fitting_templates(widgets.workspace(), design)
    titles = {
        code: f"{template.title} ({code}{', ' + template.kind if template.kind else ''})"
        for code, template in fitting.items()
    }
    of_design = {code: list(formats) for code, formats in pilots.formats_of(design).items()}
    form = draft_form.open_form(
        _NAME,
        {
            "templates": list(pilots.first_choice(fitting)),
            "respondents": [],
            "items": pilots.ITEMS,
            "seed": 1,
            "repetitions": 1,
            "label_orders": ["as_is"],
            "contexts": pilots.CONTEXTS,
            "formats": {},
        },
    )
    form.draw(
        levels("templates", "Templates of the pilot", "choose several"),
        "At first all templates that are personal or impersonal. The page Prompt templates "
        "has their texts.",
        (
            NumberField("items", "Items drawn at random", 1),
            f"Of {count_text(len(design.items or bank.items), 'item')}, equally many of each "
            "subscale.",
            NumberField("seed", "Seed of the draw", 0, 2**31 - 1),
            "The same seed draws the same items.",
            NumberField("repetitions", "Repetitions of the pilot", 1),
        ),
        (
            levels("respondents", "Respondents of the pilot", "those of the design"),
            levels("label_orders", "Orders of the options in the pilot", LABEL_ORDERS["as_is"]),
        ),
        choices={**offered, "templates": titles},
    )
    if design.contexts:
        form.draw(
            NumberField("contexts", "Personas or conversations of the pilot", 1),
            "The first ones of the design.",
        )
    chosen = [code for code in form.fields["templates"] if code in fitting]
    if len(offered["formats"]) > 1:
        with st.popover("Response formats of single templates", icon=":material/rule:"):
            _formats(form, chosen, titles, offered["formats"], of_design)
    form.show_notes()
    planned = pilots.pilot_design(widgets.workspace(), design, _as_pilot(form, chosen, offered))
    overview.plan_size(planned)
    ready = overview.cautions(planned)
    st.button(
        "Freeze the pilot",
        key="design_pilot_freeze",
        icon=":material/lock:",
        on_click=_freeze,
        args=(planned,),
        disabled=not ready,
        help="Freezes a study of its own. Your design on this page does not change.",
    )


def _as_pilot(form: DraftForm, chosen: list[str], offered: Offered) -> TemplatePilot:
    fields = form.fields
    formats = {
        code: codes_offered
        for code, codes in fields["formats"].items()
        if (codes_offered := tuple(format for format in codes if format in offered["formats"]))
    }
    return TemplatePilot(
        tuple(chosen),
        formats,
        tuple(fields["respondents"]),
        fields["items"],
        fields["seed"],
        fields["repetitions"],
        tuple(fields["label_orders"] or ["as_is"]),
        fields["contexts"],
    )


def _formats(
    form: DraftForm,
    chosen: list[str],
    titles: Mapping[str, str],
    offered: Mapping[str, str],
    of_design: Mapping[str, list[str]],
) -> None:
    """The response formats of each template, such as a pair of labels that its wording fits."""
    st.caption("Give a template a format of its own, such as a pair of labels that fits its words.")
    for code in chosen:
        usual = ", ".join(of_design.get(code, [])) or "those of the design"
        draw_field(
            SeveralField("formats", widgets.plain(titles[code]), offered, usual),
            f"design_pilot_formats:{code}",
            form.fields["formats"].get(code, []),
            partial(_take_formats, form, code),
        )


def _take_formats(form: DraftForm, code: str, formats: list[str]) -> None:
    form.change({"formats": {**form.stored()["formats"], code: formats}})


def _freeze(design: Design) -> None:
    try:
        record = studies.freeze(widgets.workspace(), design)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    widgets.show_study(record.code)
    st.session_state[_NOTE] = (
        f"{widgets.plain(record.code)} is frozen: {count_text(record.n_trials, 'trial')}. Start it "
        "on the page Collect, then read Template pilot on the page Unexpected outputs."
    )


# The templates that a pilot proposes.


def take_proposed(form: DraftForm) -> bool:
    """Put the templates that the address asks for into the design; whether there were any."""
    if note := widgets.last_note(_PROPOSED_NOTE):
        st.info(note)
    study, templates = st.query_params.get(STUDY, ""), st.query_params.get_all(TEMPLATE)
    if not study or not templates:
        return False
    del st.query_params[STUDY], st.query_params[TEMPLATE]
    try:
        fields, notes = pilots.fields_with_proposed(widgets.workspace(), study, templates)
    except UserError as error:
        st.session_state[_PROPOSED_NOTE] = error
        return True
    overview.replace_fields(form, fields)
    about = [
        f"The design now has the templates that {widgets.plain(study)} proposes: "
        f"{widgets.plain(', '.join(fields['templates']))}. Check it before you freeze; 'Restore "
        "the previous design' undoes this.",
        *map(widgets.plain, notes),
    ]
    st.session_state[_PROPOSED_NOTE] = " ".join(about)
    return True

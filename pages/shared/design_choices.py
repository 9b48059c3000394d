"""What a study crosses: the choices nearly every study makes, and the rest in expanders."""

from __future__ import annotations

import streamlit as st

from core.domain.counts import counted, with_count
from core.domain.formats import titles
from core.domain.instrument import Instrument
from core.workflow import banks, design_drafts, respondents
from pages.shared import (
    design_entities,
    design_order,
    design_personas,
    design_wording,
    draft_form,
    widgets,
)
from pages.shared.design_levels import levels
from pages.shared.draft_form import DraftForm
from pages.shared.respondent_words import KINDS

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
    design_personas.personas(form)
    design_entities.entities(form, bank)
    design_wording.wording(form, bank)
    design_order.order(form)
    design_order.unusable_answers(form)
    design_order.structured_answering(form)
    form.long_text(
        "notes", "Notes", height=80, placeholder="hypotheses, reasons, who and why",
        help="Kept with the design and exported with it.",
    )  # fmt: skip


def _bank(form: DraftForm) -> Instrument | None:
    """Choosers of bank and version; the bank chosen, or None."""
    found = widgets.workspace()
    shown = {bank.code: bank for bank in banks.summaries(found) if not bank.archived}
    left, right = st.columns([3, 1])
    with left:
        form.select(
            "instrument", "Bank", list(shown),
            lambda code: with_count(
                f"{code}: {shown[code].title}", counted(shown[code].n_items, "item")
            ),
            on_change=lambda: _take_bank(form), placeholder="Choose a bank",
            help="The items to be answered. Write and import them on the page Banks.",
        )  # fmt: skip
    code = form.fields["instrument"]
    if code not in shown:
        st.info("Choose a bank. If there is none, write or import one on the page Banks.")
        st.page_link("pages/banks.py", label="Go to Banks", icon=":material/quiz:")
        return None
    published = {v.version: f"Version {v.version}" for v in banks.versions(found, code)}
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
    return banks.content(found, code, form.fields["version"])


def _respondents(form: DraftForm) -> None:
    offered = {r.label: r for r in respondents.offered(widgets.workspace())}
    levels(
        form, "respondents", "Respondents",
        {label: f"{label} [{KINDS[person.kind]}]" for label, person in offered.items()},
        placeholder="Choose one or more",
        help="The models that answer. Add more on the page Respondents.",
    )  # fmt: skip
    if not offered:
        st.page_link("pages/respondents.py", label="Add a respondent", icon=":material/smart_toy:")


def _formats(form: DraftForm, bank: Instrument) -> None:
    offered = {found.code: titles.get(found.code, found.code) for found in bank.formats}
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
    changes = design_drafts.bank_fields(widgets.workspace(), code, languages, version)
    draft_form.set_fields(form.name, form.defaults, changes)

"""What a study crosses: bank, respondents, languages, personas, entities and so on."""

from __future__ import annotations

import streamlit as st

from core.domain.formats import titles
from core.domain.instrument import Instrument
from core.workflow import banks, design_drafts, respondents
from pages.shared import design_personas, draft_form, widgets
from pages.shared.draft_form import DraftForm
from pages.shared.respondent_words import KINDS

WORKING_COPY = 0  # in place of None, which a chooser takes for "nothing chosen"


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
        form.several(
            "languages", "Languages", bank.languages, str,
            help="Languages of the bank in which the items are asked.",
        )  # fmt: skip
        _told(form, "languages", bank.languages)
    design_personas.personas(form)
    _entities(form, bank)
    left, right = st.columns(2)
    with left:
        form.number(
            "repetitions", "Repetitions", 1, 100_000, step=1,
            help="How often everything is asked again, to see whether the answers are stable.",
        )  # fmt: skip
    with right:
        form.text(
            "temperatures_text", "Temperatures", placeholder="empty: each respondent's own",
            help="Numbers with commas between, such as 0, 0.7, 1. Each respondent is then asked "
            "at each of them. 0: the likeliest reply every time; higher: more varied.",
        )  # fmt: skip
    form.long_text(
        "notes", "Notes", height=80, placeholder="hypotheses, reasons, who and why",
        help="Kept with the design and exported with it.",
    )  # fmt: skip


def _bank(form: DraftForm) -> Instrument | None:
    """Choosers of bank, version and answer format; the bank chosen, or None."""
    found = widgets.workspace()
    shown = {bank.code: bank for bank in banks.summaries(found) if not bank.archived}
    left, middle, right = st.columns([2, 1, 1])
    with left:
        form.select(
            "instrument", "Bank", list(shown),
            lambda code: f"{code}: {shown[code].title} ({shown[code].n_items} items)",
            on_change=lambda: _take_bank(form), placeholder="Choose a bank",
            help="The items to be answered. Write and import them on the page Banks.",
        )  # fmt: skip
    code = form.fields["instrument"]
    if code not in shown:
        st.info("Choose a bank. If there is none, write or import one on the page Banks.")
        st.page_link("pages/banks.py", label="Go to Banks", icon=":material/quiz:")
        return None
    published = {v.version: f"Version {v.version}" for v in banks.versions(found, code)}
    versions = {WORKING_COPY: "Working copy", **published}
    key = draft_form.key_of(form.name, "version_choice")
    wanted = form.fields["version"] or WORKING_COPY
    if st.session_state.get(key) != wanted:
        st.session_state[key] = wanted
    middle.selectbox(
        "Version", list(versions), format_func=lambda v: versions.get(v, str(v)), key=key,
        on_change=_take_version, args=(form, key),
        help="Freezing publishes the working copy as a version where it has changed, so that "
        "later edits of the bank do not touch the study.",
    )  # fmt: skip
    bank = banks.content(found, code, form.fields["version"])
    with right:
        formats = ["", *(f.code for f in bank.formats[1:])]
        first = bank.formats[0].code if bank.formats else ""
        form.select(
            "format", "Answer format", formats, lambda f: titles.get(f or first, f or first),
            help="The answer options shown with every item.",
        )  # fmt: skip
    return bank


def _respondents(form: DraftForm) -> None:
    offered = {r.label: r for r in respondents.offered(widgets.workspace())}
    form.several(
        "respondents", "Respondents", list(offered),
        lambda label: f"{label} [{KINDS[offered[label].kind]}]",
        placeholder="Choose one or more", help="The models that answer. Add more on the page "
        "Respondents.",
    )  # fmt: skip
    _told(form, "respondents", offered)
    if not offered:
        st.page_link("pages/respondents.py", label="Add a respondent", icon=":material/smart_toy:")


def _told(form: DraftForm, field: str, there: object) -> None:
    """Say which choices of the draft are gone meanwhile, with a way to drop them."""
    known = list(there) if isinstance(there, (tuple, dict)) else []
    gone = [value for value in form.fields[field] if value not in known]
    if gone:
        st.warning(f"Chosen before, and not on offer now: {widgets.plain(', '.join(gone))}.")
        st.button(
            "Leave them out", key=f"design_drop:{field}", on_click=draft_form.set_fields,
            args=(form.name, form.defaults,
                  {field: [value for value in form.fields[field] if value in known]}),
        )  # fmt: skip


def _entities(form: DraftForm, bank: Instrument) -> None:
    names_entity = any("{entity}" in w.text for item in bank.items for w in item.wordings)
    if not names_entity and not form.fields["entities_text"]:
        return
    form.long_text(
        "entities_text", "Entities, one on each line", height=100,
        placeholder="a brand, party or person on each line",
        help="Each takes the place of {entity} in the items, and all items are asked about each.",
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

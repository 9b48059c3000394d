"""Let a model draft texts that are missing: choose the text, the model and the items, and run."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.instrument import ORIGINAL, Instrument
from core.domain.study import Respondent
from core.workflow import bank_drafting, bank_drafts, bank_edits, respondents
from core.workflow.bank_columns import MOODS, TextColumn
from core.workflow.bank_drafting import Drafted, Target
from pages.shared import widgets
from pages.shared.bank_desk import Desk
from pages.shared.bank_review import review_section
from pages.shared.bank_words import form_word, language_name, text_title

_TRANSLATION, _ANOTHER_FORM = "A translation", "Another form"
_FIRST_OFFER = 50
_REPORT = "bank_draft_report"


def drafting_section(desk: Desk) -> None:
    """Choose and run, what came of it, and the drafts that wait for a person."""
    st.write(
        "A model writes texts that are missing. Each one is a draft until you accept it, and a "
        "text of yours is never overwritten."
    )
    if desk.bank.items:
        with widgets.error_box():
            _choose(desk)
        _report(desk)
    else:
        st.info("There is nothing to draft from yet: the bank has no items.")
    review_section(desk)


def _choose(desk: Desk) -> None:
    target = _target(desk)
    if target is None:
        return
    people = respondents.offered(widgets.workspace())
    models = bank_drafting.drafters(people)
    if len(models) < len(people):
        st.caption("Simulated respondents are formulas: they give answers and cannot write a text.")
    if not models:
        st.info("No model is on offer. Add one on the page Respondents.")
        st.page_link("pages/respondents.py", label="Go to Respondents", icon=":material/group:")
        return
    labels = {person.label: person for person in models}
    label = st.selectbox("Model", list(labels), key=f"bank_draft_model_{desk.code}")
    widgets.honesty_note([labels[label]])
    lacking = bank_drafting.without_text(desk.bank, target)
    if not lacking:
        st.info("Every item has this text already, or no text to make it of.")
        return
    chosen = _items(desk, lacking)
    _run_button(desk, target, labels[label], chosen)


def _target(desk: Desk) -> Target | None:
    bank, code = desk.bank, desk.code
    kind = st.segmented_control(
        "What to draft", [_TRANSLATION, _ANOTHER_FORM], default=_TRANSLATION, required=True,
        key=f"bank_draft_kind_{code}",
    )  # fmt: skip
    columns = st.columns(3)
    mood_key = f"bank_draft_mood_{code}"
    if kind == _TRANSLATION:
        if len(bank.languages) < 2:
            st.info("The bank has one language. Add the other one under Languages first.")
            return None
        source = columns[0].selectbox(
            "From", bank.languages, format_func=language_name, key=f"bank_draft_from_{code}"
        )
        others = [language for language in bank.languages if language != source]
        language = columns[1].selectbox(
            "Into", others, format_func=language_name, key=f"bank_draft_into_{code}_{source}"
        )
        known = list(
            dict.fromkeys((w.form, w.mood) for item in bank.items for w in item.wordings)
        ) or [(ORIGINAL, "")]
        form, mood = columns[2].selectbox(
            "Text", known, format_func=_text_word, key=f"bank_draft_text_{code}"
        )
        return Target(TextColumn(language, form, mood), source)
    language = columns[0].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_draft_in_{code}"
    )
    forms = _forms(bank)
    form = columns[1].selectbox(
        "Form", forms, format_func=form_word, key=f"bank_draft_form_{code}_{hash(tuple(forms))}",
        help="A paraphrase says the same in other words; a negation denies it; an opposite claims "
        "the contrary in other words; an alternate asks about the same matter another way.",
    )  # fmt: skip
    mood = columns[2].selectbox(
        "Mood", ["", *MOODS], format_func=lambda mood: mood or "any", key=mood_key,
        help="A statement, a question or a choice for the formats of that mood; any: as it comes.",
    )  # fmt: skip
    return Target(TextColumn(language, form, mood), language)


def _forms(bank: Instrument) -> list[str]:
    """Forms to draft: the new ones, then those the bank has; for a mood, the original too."""
    known = [form for form in bank.forms() if form != ORIGINAL]
    return [*known, *bank_edits.offered_forms(bank), ORIGINAL]


def _text_word(text: tuple[str, str]) -> str:
    form, mood = text
    return form_word(form) + (f" ({mood})" if mood else "")


def _items(desk: Desk, lacking: tuple[str, ...]) -> list[str]:
    st.text(f"{counted(len(lacking), 'item')} of {len(desk.bank.items):,} without this text")
    number = st.number_input(
        "How many of them", 1, len(lacking), min(len(lacking), _FIRST_OFFER),
        key=f"bank_draft_n_{desk.code}_{len(lacking)}",
        help="The first ones in the order of the bank. One call is made for each.",
    )  # fmt: skip
    return list(lacking[: int(number)])


def _run_button(desk: Desk, target: Target, person: Respondent, codes: list[str]) -> None:
    calls = counted(len(codes), "call")
    st.caption(
        f"Makes {calls} to {widgets.plain(person.label)}, at most {person.sampling.at_once} at "
        "once. Leaving this part of the page ends it; what has come by then is kept."
    )
    label = f"Draft {len(codes):,} {'text' if len(codes) == 1 else 'texts'}"
    if st.button(label, key=desk.key("draft"), type="primary", icon=":material/edit_note:"):
        _run(desk, target, person, codes)
        st.rerun()


def _run(desk: Desk, target: Target, person: Respondent, codes: list[str]) -> None:
    """Draft with a bar; what has come is kept even where the page is left in the middle."""
    outcomes: list[Drafted] = []
    bar = st.progress(0.0, text=f"0 of {len(codes):,}")

    def told(outcome: Drafted) -> None:
        outcomes.append(outcome)
        bar.progress(len(outcomes) / len(codes), text=f"{len(outcomes):,} of {len(codes):,}")

    stopped = ""
    try:
        stopped = bank_drafting.draft(
            widgets.workspace(), desk.bank, codes, target, person.label, told=told
        )
    finally:
        texts = {outcome.code: outcome.text for outcome in outcomes if outcome.text}
        if texts:
            desk.commit(
                lambda bank: bank_drafts.with_drafts(bank, target.column, texts, person.label),
                f"Drafted by {person.label}",
                redraw=True,
            )
        report = (text_title(target.column), outcomes, len(codes), stopped)
        st.session_state[f"{_REPORT}_{desk.code}"] = report


def _report(desk: Desk) -> None:
    """What the last run brought, item by item where nothing was kept."""
    report = st.session_state.get(f"{_REPORT}_{desk.code}")
    if report is None:
        return
    title, outcomes, n_asked, stopped = report
    failed = [outcome for outcome in outcomes if not outcome.text]
    n_kept = len(outcomes) - len(failed)
    left = n_asked - len(outcomes)
    st.text(
        f"{title}: {n_kept:,} drafted, {len(failed):,} not kept"
        + (f", {left:,} not asked" if left else "")
    )
    if stopped:
        st.warning(widgets.plain(stopped))
    if failed:
        rows = [
            {"Item": outcome.code, "Why nothing was kept": outcome.problem} for outcome in failed
        ]
        widgets.table(pd.DataFrame(rows), alt=f"Items without a draft: {len(rows)} rows")

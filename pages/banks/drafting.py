"""Drafts by a model: choose texts, run, and review each draft."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.workflow.banks import drafting, editing
from core.workflow.banks.drafting import DraftOutcome, DraftTarget, Place, PlacedDraft
from core.workflow.banks.grid import MOODS, GridTextColumn
from core.workflow.respondents import catalog
from pages.banks.open_bank import Desk, form_word, language_name, text_title
from pages.shared import widgets

# Drafts of models that wait for a person: accept, edit or discard each one.

_ROWS_A_PAGE = 10


def _review_section(desk: Desk) -> None:
    """The drafts a page at a time, each beside the text it was made of."""
    found = drafting.list_drafts(desk.bank)
    st.header("Drafts to review")
    if not found:
        st.info("No draft waits for review.")
        return
    columns = list(dict.fromkeys(draft.place[1] for draft in found))
    chosen = columns[0]
    if len(columns) > 1:
        counts = {c: sum(draft.place[1] == c for draft in found) for c in columns}
        chosen = st.selectbox(
            "Text", columns, key=f"bank_review_{desk.code}_{hash(tuple(columns))}",
            format_func=lambda column: f"{text_title(column)}: {counts[column]:,}",
        )  # fmt: skip
    waiting = [draft for draft in found if draft.place[1] == chosen]
    st.caption(
        f"{len(found):,} waiting in all. Editing a draft accepts it; it is saved when you leave "
        "the field. Undo takes any of it back."
    )
    n_pages = -(-len(waiting) // _ROWS_A_PAGE)
    page = 1
    if n_pages > 1:
        page = st.pagination(n_pages, key=f"bank_review_page_{desk.code}_{n_pages}")
    shown = waiting[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    places = [draft.place for draft in shown]
    st.button(
        f"Accept all shown ({len(shown)})", key=desk.key("accept_shown"),
        icon=":material/done_all:", on_click=_accept, args=(desk, places),
    )  # fmt: skip
    for draft in shown:
        _draft(desk, draft)


def _draft(desk: Desk, draft: PlacedDraft) -> None:
    code, column = draft.place
    key = desk.key(f"review_{code}_{column.name}")
    with st.container(border=True):
        st.text(f"{code} · {text_title(column)} · drafted by {draft.wording.drafted_by}")
        for language, text in _beside(desk.bank, draft):
            widgets.text_block(text, language=language)
        st.text_area(
            "Draft", draft.wording.text, key=key, height="content", label_visibility="collapsed",
            on_change=_edit, args=(desk, draft.place, key),
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Accept", key=f"{key}_accept", icon=":material/check:", on_click=_accept,
                args=(desk, [draft.place]),
            )  # fmt: skip
            st.button(
                "Discard", key=f"{key}_discard", icon=":material/delete:", on_click=_discard,
                args=(desk, draft.place),
            )  # fmt: skip


def _beside(bank: Instrument, draft: PlacedDraft) -> list[tuple[str, str]]:
    """The original in the language of the draft, or else the same text in another language."""
    _, column = draft.place
    places = [
        GridTextColumn(column.language),
        GridTextColumn(column.language, ORIGINAL, column.mood),
    ]
    places += [GridTextColumn(language, column.form, column.mood) for language in bank.languages]
    for place in places:
        text = draft.item.text(*place)
        if text and place != column and text != draft.wording.text:
            return [(place.language, text)]
    return []


def _accept(desk: Desk, places: list[Place]) -> None:
    desk.commit(lambda bank: drafting.accept(bank, places), "Drafts accepted", redraw=True)


def _edit(desk: Desk, place: Place, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: drafting.edit(bank, place, text), "Draft edited", redraw=True)


def _discard(desk: Desk, place: Place) -> None:
    desk.commit(lambda bank: drafting.discard(bank, [place]), "Draft discarded", redraw=True)


# Let a model draft texts that are missing: choose the text, the model and the items, and run.

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
    _review_section(desk)


def _choose(desk: Desk) -> None:
    target = _target(desk)
    if target is None:
        return
    people = catalog.list_respondents(widgets.workspace())
    models = drafting.text_writers(people)
    if len(models) < len(people):
        st.caption("Simulated respondents are formulas: they give answers and cannot write a text.")
    if not models:
        st.info("No model is on offer. Add one on the page Respondents.")
        st.page_link(
            "pages/respondents/page.py", label="Go to Respondents", icon=":material/group:"
        )
        return
    labels = {person.label: person for person in models}
    label = st.selectbox("Model", list(labels), key=f"bank_draft_model_{desk.code}")
    widgets.honesty_note([labels[label]])
    lacking = drafting.items_to_draft(desk.bank, target)
    if not lacking:
        st.info("Every item has this text already, or no text to make it of.")
        return
    chosen = _items(desk, lacking)
    _run_button(desk, target, labels[label], chosen)


def _target(desk: Desk) -> DraftTarget | None:
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
        return DraftTarget(GridTextColumn(language, form, mood), source)
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
    return DraftTarget(GridTextColumn(language, form, mood), language)


def _forms(bank: Instrument) -> list[str]:
    """Forms to draft: the new ones, then those the bank has; for a mood, the original too."""
    known = [form for form in bank.forms() if form != ORIGINAL]
    return [*known, *editing.offered_forms(bank), ORIGINAL]


def _text_word(text: tuple[str, str]) -> str:
    form, mood = text
    return form_word(form) + (f" ({mood})" if mood else "")


def _items(desk: Desk, lacking: tuple[str, ...]) -> list[str]:
    st.text(f"{count_text(len(lacking), 'item')} of {len(desk.bank.items):,} without this text")
    number = st.number_input(
        "How many of them", 1, len(lacking), min(len(lacking), _FIRST_OFFER),
        key=f"bank_draft_n_{desk.code}_{len(lacking)}",
        help="The first ones in the order of the bank. One call is made for each.",
    )  # fmt: skip
    return list(lacking[: int(number)])


def _run_button(desk: Desk, target: DraftTarget, person: Respondent, codes: list[str]) -> None:
    calls = count_text(len(codes), "call")
    st.caption(
        f"Makes {calls} to {widgets.plain(person.label)}, at most {person.sampling.at_once} at "
        "once. Leaving this part of the page ends it; what has come by then is kept."
    )
    label = f"Draft {len(codes):,} {'text' if len(codes) == 1 else 'texts'}"
    if st.button(label, key=desk.key("draft"), type="primary", icon=":material/edit_note:"):
        _run(desk, target, person, codes)
        st.rerun()


def _run(desk: Desk, target: DraftTarget, person: Respondent, codes: list[str]) -> None:
    """Draft with a bar; what has come is kept even where the page is left in the middle."""
    outcomes: list[DraftOutcome] = []
    bar = st.progress(0.0, text=f"0 of {len(codes):,}")

    def told(outcome: DraftOutcome) -> None:
        outcomes.append(outcome)
        bar.progress(len(outcomes) / len(codes), text=f"{len(outcomes):,} of {len(codes):,}")

    stopped = ""
    try:
        stopped = drafting.draft_texts(
            widgets.workspace(), desk.bank, codes, target, person.label, report=told
        )
    finally:
        texts = {outcome.code: outcome.text for outcome in outcomes if outcome.text}
        if texts:
            desk.commit(
                lambda bank: drafting.add_drafts(bank, target.column, texts, person.label),
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

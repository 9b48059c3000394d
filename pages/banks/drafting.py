"""Drafts by a model: choose texts, run, and review each draft."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.workflow.banks import drafting, editing
from core.workflow.banks.drafting import DraftOutcome, DraftTarget, Place, PlacedDraft
from core.workflow.banks.grid import MOODS, GridTextColumn
from core.workflow.respondents import catalog
from pages.banks.editor import BankEditor, form_word, text_title
from pages.shared import widgets

# Drafts to review: accept, edit or discard each one.

_ROWS_A_PAGE = 10


def _review_section(editor: BankEditor) -> None:
    """The drafts, a page at a time, each with the text it was made from."""
    drafts = drafting.list_drafts(editor.bank)
    st.header("Drafts to review")
    if not drafts:
        st.info("There is no draft to review.")
        return
    columns = list(dict.fromkeys(draft.place[1] for draft in drafts))
    chosen = columns[0]
    if len(columns) > 1:
        counts = {c: sum(draft.place[1] == c for draft in drafts) for c in columns}
        chosen = st.selectbox(
            "Text",
            columns,
            key=f"bank_review_{editor.code}_{hash(tuple(columns))}",
            format_func=lambda column: f"{text_title(column)}: {counts[column]:,}",
        )
    waiting = [draft for draft in drafts if draft.place[1] == chosen]
    st.caption(
        f"Drafts to review: {len(drafts):,}. If you edit a draft, you accept it; it is saved when "
        "you leave the field. Undo reverses each step."
    )
    n_pages = -(-len(waiting) // _ROWS_A_PAGE)
    page = 1
    if n_pages > 1:
        page = st.pagination(n_pages, key=f"bank_review_page_{editor.code}_{n_pages}")
    shown = waiting[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    places = [draft.place for draft in shown]
    st.button(
        f"Accept all shown ({len(shown)})",
        key=editor.key("accept_shown"),
        icon=":material/done_all:",
        on_click=_accept,
        args=(editor, places),
    )
    for draft in shown:
        _draft(editor, draft)


def _draft(editor: BankEditor, draft: PlacedDraft) -> None:
    code, column = draft.place
    key = editor.key(f"review_{code}_{column.name}")
    with st.container(border=True):
        st.text(f"{code} · {text_title(column)} · drafted by {draft.wording.drafted_by}")
        for language, text in _reference_texts(editor.bank, draft):
            widgets.text_block(text, language=language)
        st.text_area(
            "Draft",
            draft.wording.text,
            key=key,
            height="content",
            label_visibility="collapsed",
            on_change=_edit,
            args=(editor, draft.place, key),
        )
        with st.container(horizontal=True):
            st.button(
                "Accept",
                key=f"{key}_accept",
                icon=":material/check:",
                on_click=_accept,
                args=(editor, [draft.place]),
            )
            st.button(
                "Discard",
                key=f"{key}_discard",
                icon=":material/delete:",
                on_click=_discard,
                args=(editor, draft.place),
            )


def _reference_texts(bank: Instrument, draft: PlacedDraft) -> list[tuple[str, str]]:
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


def _accept(editor: BankEditor, places: list[Place]) -> None:
    editor.commit(lambda bank: drafting.accept(bank, places), "Drafts accepted", redraw=True)


def _edit(editor: BankEditor, place: Place, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    editor.commit(lambda bank: drafting.edit(bank, place, text), "Draft edited", redraw=True)


def _discard(editor: BankEditor, place: Place) -> None:
    editor.commit(lambda bank: drafting.discard(bank, [place]), "Draft discarded", redraw=True)


# Let a model draft texts that are missing: choose the text, the model and the items, and run.

_TRANSLATION, _ANOTHER_FORM = "A translation", "Another form"
_FIRST_OFFER = 50
_REPORT = "bank_draft_report"


def drafting_section(editor: BankEditor) -> None:
    """The choices and the run, its outcome, and the drafts to review."""
    st.write(
        "A model writes missing texts. Each text is a draft until you accept it. Inkblot never "
        "overwrites your own texts."
    )
    if editor.bank.items:
        with widgets.error_box():
            _choose(editor)
        _report(editor)
    else:
        st.info("The bank has no items yet, so there is nothing to draft.")
    _review_section(editor)


def _choose(editor: BankEditor) -> None:
    target = _target(editor)
    if target is None:
        return
    people = catalog.list_respondents(widgets.workspace())
    models = drafting.text_writers(people)
    if len(models) < len(people):
        st.caption("Simulated respondents are formulas. They give answers but cannot write texts.")
    if not models:
        st.info("There is no model yet. Add one on the page Respondents.")
        st.page_link(
            "pages/respondents/page.py", label="Go to Respondents", icon=":material/group:"
        )
        return
    labels = {person.label: person for person in models}
    label = st.selectbox("Model", list(labels), key=f"bank_draft_model_{editor.code}")
    widgets.honesty_note([labels[label]])
    lacking = drafting.items_to_draft(editor.bank, target)
    if not lacking:
        st.info("Every item already has this text, or has no text to make it from.")
        return
    chosen = _items(editor, lacking)
    _run_button(editor, target, labels[label], chosen)


def _target(editor: BankEditor) -> DraftTarget | None:
    bank, code = editor.bank, editor.code
    kind = st.segmented_control(
        "What to draft",
        [_TRANSLATION, _ANOTHER_FORM],
        default=_TRANSLATION,
        required=True,
        key=f"bank_draft_kind_{code}",
    )
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
        texts = list(
            dict.fromkeys((w.form, w.mood) for item in bank.items for w in item.wordings)
        ) or [(ORIGINAL, "")]
        form, mood = columns[2].selectbox(
            "Text", texts, format_func=_text_word, key=f"bank_draft_text_{code}"
        )
        return DraftTarget(GridTextColumn(language, form, mood), source)
    language = columns[0].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_draft_in_{code}"
    )
    forms = _forms(bank)
    form = columns[1].selectbox(
        "Form",
        forms,
        format_func=form_word,
        key=f"bank_draft_form_{code}_{hash(tuple(forms))}",
        help="A paraphrase says the same in other words. A negation denies it. An opposite claims "
        "the contrary in other words. An alternate asks about the same topic in another way.",
    )
    mood = columns[2].selectbox(
        "Mood",
        ["", *MOODS],
        format_func=lambda mood: mood or "any",
        key=mood_key,
        help="Draft a statement, a question or a choice, for the formats of that mood. Any: the "
        "model keeps the mood of the original.",
    )
    return DraftTarget(GridTextColumn(language, form, mood), language)


def _forms(bank: Instrument) -> list[str]:
    """Forms to draft: the new ones, then those the bank has; for a mood, the original too."""
    known = [form for form in bank.forms() if form != ORIGINAL]
    return [*known, *editing.offered_forms(bank), ORIGINAL]


def _text_word(text: tuple[str, str]) -> str:
    form, mood = text
    return form_word(form) + (f" ({mood})" if mood else "")


def _items(editor: BankEditor, lacking: tuple[str, ...]) -> list[str]:
    st.text(f"{count_text(len(lacking), 'item')} of {len(editor.bank.items):,} without this text")
    number = st.number_input(
        "How many of them",
        1,
        len(lacking),
        min(len(lacking), _FIRST_OFFER),
        key=f"bank_draft_n_{editor.code}_{len(lacking)}",
        help="The first items in the order of the bank. Each item takes one call.",
    )
    return list(lacking[: int(number)])


def _run_button(
    editor: BankEditor, target: DraftTarget, person: Respondent, codes: list[str]
) -> None:
    calls = count_text(len(codes), "call")
    st.caption(
        f"Makes {calls} to {widgets.plain(person.label)}, at most {person.sampling.at_once} at "
        "once. If you leave this part of the page, drafting stops; finished drafts are saved."
    )
    label = f"Draft {len(codes):,} {'text' if len(codes) == 1 else 'texts'}"
    if st.button(label, key=editor.key("draft"), type="primary", icon=":material/edit_note:"):
        _run(editor, target, person, codes)
        st.rerun()


def _run(editor: BankEditor, target: DraftTarget, person: Respondent, codes: list[str]) -> None:
    """Draft with a progress bar; finished drafts are saved even if the user leaves the page."""
    outcomes: list[DraftOutcome] = []
    bar = st.progress(0.0, text=f"0 of {len(codes):,}")

    def show_outcome(outcome: DraftOutcome) -> None:
        outcomes.append(outcome)
        bar.progress(len(outcomes) / len(codes), text=f"{len(outcomes):,} of {len(codes):,}")

    stopped = ""
    try:
        stopped = drafting.draft_texts(
            widgets.workspace(), editor.bank, codes, target, person.label, report=show_outcome
        )
    finally:
        texts = {outcome.code: outcome.text for outcome in outcomes if outcome.text}
        if texts:
            editor.commit(
                lambda bank: drafting.add_drafts(bank, target.column, texts, person.label),
                f"Drafted by {person.label}",
                redraw=True,
            )
        report = (text_title(target.column), outcomes, len(codes), stopped)
        st.session_state[f"{_REPORT}_{editor.code}"] = report


def _report(editor: BankEditor) -> None:
    """The outcome of the last run, with the items that have no draft."""
    report = st.session_state.get(f"{_REPORT}_{editor.code}")
    if report is None:
        return
    title, outcomes, n_requested, stopped = report
    failed = [outcome for outcome in outcomes if not outcome.text]
    n_drafted = len(outcomes) - len(failed)
    n_left = n_requested - len(outcomes)
    st.text(
        f"{title}: {n_drafted:,} drafted, {len(failed):,} failed"
        + (f", {n_left:,} not requested" if n_left else "")
    )
    if stopped:
        st.warning(widgets.plain(stopped))
    if failed:
        rows = [
            {"Item": outcome.code, "Why there is no draft": outcome.problem} for outcome in failed
        ]
        widgets.table(pd.DataFrame(rows), alt=f"Items without a draft: {len(rows)} rows")

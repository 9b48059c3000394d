"""The models on offer: add, change, test, put away."""

from __future__ import annotations

import streamlit as st

from core.domain.counts import counted
from core.domain.study import Respondent, RespondentKind
from core.workflow import respondent_drafts, respondents
from pages.shared import draft_form, respondent_editor, respondent_prices, respondent_words, widgets

CHOSEN = "respondents_chosen"
NEW_KIND = "respondents:new kind"
NEW = ""


def main() -> None:
    st.title("Respondents")
    st.caption("The models that answer your banks: see what is on offer, add one, try it out.")
    with widgets.error_box():
        listed = respondents.offered(widgets.workspace())
        show_list(listed)
        show_put_away()
        chosen = choose(listed)
        if chosen is None:
            new_respondent()
        else:
            one_respondent(chosen)
    with widgets.error_box():
        respondent_prices.show()


def show_list(listed: tuple[Respondent, ...]) -> None:
    st.header("On offer")
    if not listed:
        st.info("No respondent is on offer. Add one below, or bring one back.")
        return
    frame = respondent_words.on_offer(listed)
    widgets.table(
        frame, alt=f"The {counted(len(listed), 'respondent')} on offer with model and key"
    )
    with st.expander("Their settings"):
        for respondent in listed:
            words = respondent_words.settings_words(respondent)
            widgets.text_block(f"{respondent.label}: {words}")
    widgets.honesty_note(listed)


def show_put_away() -> None:
    away = respondents.archived(widgets.workspace())
    if not away:
        return
    with st.expander(f"Put away ({len(away)})"):
        for number, respondent in enumerate(away):
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.text(f"{respondent.label} ({respondent_words.KINDS[respondent.kind]})")
            right.button(
                "Bring back", key=f"respondents_back:{number}", on_click=respondent_editor.put_away,
                args=(respondent.label, False),
            )  # fmt: skip


def choose(listed: tuple[Respondent, ...]) -> Respondent | None:
    """The respondent to look at, kept in the address; None for a new one."""
    st.header("Add or change")
    by_label = {respondent.label: respondent for respondent in listed}
    wished = st.query_params.get(respondent_editor.PARAMETER, NEW)
    if st.session_state.get(CHOSEN) != wished:
        st.session_state[CHOSEN] = wished if wished in by_label else NEW
    chosen = st.selectbox(
        "Respondent", [NEW, *by_label],
        format_func=lambda label: label or "A new respondent",
        key=CHOSEN, on_change=lambda: respondent_editor.go_to(st.session_state[CHOSEN]),
        help="Choose one to test or change it, or add a new one.",
    )  # fmt: skip
    respondent_editor.show_done()
    return by_label.get(chosen)


def new_respondent() -> None:
    kinds = draft_form.open_form(NEW_KIND, {"kind": "api"})
    kinds.radio(
        "kind", "Kind", respondent_words.KINDS, horizontal=True,
        captions=list(respondent_words.KIND_EXPLANATIONS.values()),
    )  # fmt: skip
    kind: RespondentKind = kinds.fields["kind"]
    form = draft_form.open_form(f"respondents:new {kind}", respondent_drafts.empty_fields(kind))
    respondent_editor.edit(kind, form, None)


def one_respondent(respondent: Respondent) -> None:
    kind = respondent_words.KINDS[respondent.kind]
    st.caption(f"{kind}: {widgets.plain(respondent_words.settings_words(respondent))}.")
    defaults = respondent_drafts.fields_of(respondent)
    defaults["before_id"] = respondent.respondent_id
    form = draft_form.open_form(f"respondents:{respondent.label}", defaults)
    respondent_editor.edit(respondent.kind, form, respondent)


main()

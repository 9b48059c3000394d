"""Respondents: the models on offer and their prices; add, change, test, put away."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Respondent, RespondentKind
from core.errors import UserError
from core.workflow import drafts
from core.workflow.respondents import catalog, forms
from core.workflow.respondents.catalog import Price
from pages.respondents import form as respondent_connection
from pages.respondents import form as respondent_form
from pages.respondents import form as respondent_words
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm

# The table of prices: what models cost, and when that was looked up.

_NOTE = "price_note"
_PER_MILLION = "US dollars per million tokens"


def _show() -> None:
    """The prices on file, a form for another one, and a way to forget one."""
    st.header("Prices")
    st.caption(
        "What models cost, for the cost shown on the page Design and for cost caps. Prices that "
        "stand with a respondent itself come first. Look them up at the service: they change."
    )
    widgets.last_note(_NOTE)
    found = catalog.list_prices(widgets.workspace())
    if found:
        columns = {
            "Model": [p.model for p in found],
            "Read": [p.price_in for p in found],
            "Written": [p.price_out for p in found],
            "As of": [p.as_of for p in found],
            "Source": [p.source for p in found],
        }
        widgets.table(pd.DataFrame(columns), alt=f"Prices of {len(found)} models")
    else:
        st.info("No price is on file yet. Without one, the cost of a study cannot be shown.")
    with st.expander("Enter or change a price"):
        _form()
    if found:
        with st.expander("Forget a price"):
            st.selectbox("Model", [p.model for p in found], key="price_gone")
            st.button("Forget it", key="price_forget", on_click=_forget)


def _form() -> None:
    models = {r.model for r in catalog.list_respondents(widgets.workspace()) if r.kind == "api"}
    with st.form("price_form", border=False):
        st.text_input(
            "Model", key="price_model", placeholder=", ".join(sorted(models)) or None,
            help="As the service calls it; the price counts for every respondent of that model.",
        )  # fmt: skip
        left, middle, right = st.columns(3)
        left.number_input("Read", 0.0, None, 0.0, key="price_in", help=f"{_PER_MILLION} read.")
        middle.number_input(
            "Written", 0.0, None, 0.0, key="price_out", help=f"{_PER_MILLION} written."
        )
        right.date_input("As of", catalog.today(), key="price_as_of", help="When you looked it up.")
        st.text_input("Source", key="price_source", placeholder="the service's price list")
        st.form_submit_button("Save the price", on_click=_prices_save)


def _prices_save() -> None:
    typed = st.session_state.to_dict()
    try:
        catalog.save_price(
            widgets.workspace(),
            Price(
                typed["price_model"], typed["price_in"], typed["price_out"], typed["price_as_of"],
                typed["price_source"],
            ),
        )  # fmt: skip
    except UserError as error:
        st.session_state[_NOTE] = error


def _forget() -> None:
    catalog.forget_price(widgets.workspace(), st.session_state.to_dict()["price_gone"])


# Adding and changing a respondent: its form, key, test, and what the buttons do.

_PARAMETER = "respondent"
_PROBLEM = "respondents_problem"
_DONE = "respondents_done"
_SAVED = "respondents_saved"


def edit(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """The form with its buttons, and a test of what it says now. `before` is None for a new one."""
    with st.container(border=True):
        _honesty(kind, form)
        respondent_form.fields(kind, form, new=before is None)
        if kind == "api":
            _service(form)
        form.show_notes()
        _buttons(kind, form, before)
    with widgets.error_box():
        respondent = forms.to_respondent(kind, form.fields)
        respondent_connection.connection_test(respondent, form)


def _show_done() -> None:
    """What the last button did."""
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(done)
    if st.session_state.pop(_SAVED, False):
        st.page_link(
            "pages/design/page.py", label="Design a study with it", icon=":material/grid_on:"
        )


def _go_to(label: str) -> None:
    """Keep the chosen respondent in the address; an empty label means a new one."""
    if label:
        st.query_params[_PARAMETER] = label
    else:
        st.query_params.pop(_PARAMETER, None)


def _put_away(label: str, away: bool) -> None:
    """Take a respondent off the list of choices, or put it back."""
    catalog.set_archived(widgets.workspace(), label, archived=away)
    _go_to("" if away else label)
    words = "put away; bring it back any time" if away else "on offer again"
    st.session_state[_DONE] = f"{widgets.plain(label)} is {words}."


def _honesty(kind: RespondentKind, form: DraftForm) -> None:
    if kind == "simulated":
        st.warning(f"**Simulated.** {catalog.HONESTY_SIMULATED}", icon=":material/science:")
    elif kind == "local" and not form.fields["base_url"]:
        st.caption(catalog.HONESTY_LOCAL)


def _service(form: DraftForm) -> None:
    address, variable = form.fields["base_url"], form.fields["key_variable"]
    with widgets.error_box():
        state = respondent_words.key_state_words(address, variable)
        respondent_connection.key_field(address, variable, state)
    respondent_form.model_chooser(form)
    respondent_form.service_settings(form)


def _buttons(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        widgets.show_problem(problem)
    row = st.container(horizontal=True)
    row.button(
        "Add to the list" if before is None else "Save changes", key="respondents_save",
        type="primary", icon=":material/save:", on_click=_editor_save, args=(kind, form, before),
        help="For studies yet to be frozen; frozen ones keep theirs." if before else None,
    )  # fmt: skip
    if form.saved_at:
        row.button(
            "Discard what I typed", key="respondents_discard", on_click=draft_form.forget,
            args=(form.name,),
        )  # fmt: skip
    if before is not None:
        row.button(
            "Put away", key="respondents_put_away", icon=":material/archive:", on_click=_put_away,
            args=(before.label, True),
            help="Takes it off the list of choices. Studies keep it, and you can bring it back.",
        )  # fmt: skip


def _editor_save(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """Keep what the draft in the database says, which may be newer than the form on screen."""
    found = widgets.workspace()
    kept = drafts.load(found, form.name)
    fields = {**form.defaults, **(kept.value if kept else {})}
    try:
        respondent = forms.to_respondent(kind, fields)
        if before is None:
            catalog.add(found, respondent)
        else:
            catalog.change(found, fields["before_id"], respondent)
    except UserError as error:
        st.session_state[_PROBLEM] = error
        return
    draft_form.forget(form.name)
    _go_to(respondent.label)
    st.session_state[_DONE] = f"{widgets.plain(respondent.label)} is saved."
    st.session_state[_SAVED] = True


# The models on offer: add, change, test, put away.

_CHOSEN = "respondents_chosen"
_NEW_KIND = "respondents:new kind"
_NEW = ""


def main() -> None:
    st.title("Respondents")
    st.caption("The models that answer your banks: see what is on offer, add one, try it out.")
    with widgets.error_box():
        listed = catalog.list_respondents(widgets.workspace())
        _show_list(listed)
        _show_put_away()
        chosen = _choose(listed)
        if chosen is None:
            _new_respondent()
        else:
            _one_respondent(chosen)
    with widgets.error_box():
        _show()


def _show_list(listed: tuple[Respondent, ...]) -> None:
    st.header("On offer")
    if not listed:
        st.info("No respondent is on offer. Add one below, or bring one back.")
        return
    frame = respondent_words.on_offer(listed)
    widgets.table(
        frame, alt=f"The {count_text(len(listed), 'respondent')} on offer with model and key"
    )
    with st.expander("Their settings"):
        for respondent in listed:
            words = respondent_words.settings_words(respondent)
            widgets.text_block(f"{respondent.label}: {words}")
    widgets.honesty_note(listed)


def _show_put_away() -> None:
    away = catalog.list_archived(widgets.workspace())
    if not away:
        return
    with st.expander(f"Put away ({len(away)})"):
        for number, respondent in enumerate(away):
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.text(f"{respondent.label} ({respondent_words.KINDS[respondent.kind]})")
            right.button(
                "Bring back", key=f"respondents_back:{number}", on_click=_put_away,
                args=(respondent.label, False),
            )  # fmt: skip


def _choose(listed: tuple[Respondent, ...]) -> Respondent | None:
    """The respondent to look at, kept in the address; None for a new one."""
    st.header("Add or change")
    by_label = {respondent.label: respondent for respondent in listed}
    wished = st.query_params.get(_PARAMETER, _NEW)
    if st.session_state.get(_CHOSEN) != wished:
        st.session_state[_CHOSEN] = wished if wished in by_label else _NEW
    chosen = st.selectbox(
        "Respondent", [_NEW, *by_label],
        format_func=lambda label: label or "A new respondent",
        key=_CHOSEN, on_change=lambda: _go_to(st.session_state[_CHOSEN]),
        help="Choose one to test or change it, or add a new one.",
    )  # fmt: skip
    _show_done()
    return by_label.get(chosen)


def _new_respondent() -> None:
    kinds = draft_form.open_form(_NEW_KIND, {"kind": "api"})
    kinds.radio(
        "kind", "Kind", respondent_words.KINDS, horizontal=True,
        captions=list(respondent_words.KIND_EXPLANATIONS.values()),
    )  # fmt: skip
    kind: RespondentKind = kinds.fields["kind"]
    form = draft_form.open_form(f"respondents:new {kind}", forms.empty_fields(kind))
    edit(kind, form, None)


def _one_respondent(respondent: Respondent) -> None:
    kind = respondent_words.KINDS[respondent.kind]
    st.caption(f"{kind}: {widgets.plain(respondent_words.settings_words(respondent))}.")
    defaults = forms.fields_of(respondent)
    defaults["before_id"] = respondent.respondent_id
    form = draft_form.open_form(f"respondents:{respondent.label}", defaults)
    edit(respondent.kind, form, respondent)


main()

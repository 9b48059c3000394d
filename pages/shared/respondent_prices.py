"""The table of prices: what models cost, and when that was looked up."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.errors import UserError
from core.workflow import prices, respondents
from core.workflow.prices import Price
from pages.shared import widgets

_NOTE = "price_note"
_PER_MILLION = "US dollars per million tokens"


def show() -> None:
    """The prices on file, a form for another one, and a way to forget one."""
    st.header("Prices")
    st.caption(
        "What models cost, for the cost shown on the page Design and for cost caps. Prices that "
        "stand with a respondent itself come first. Look them up at the service: they change."
    )
    widgets.last_note(_NOTE)
    found = prices.listed(widgets.workspace())
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
    models = {r.model for r in respondents.offered(widgets.workspace()) if r.kind == "api"}
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
        right.date_input("As of", prices.today(), key="price_as_of", help="When you looked it up.")
        st.text_input("Source", key="price_source", placeholder="the service's price list")
        st.form_submit_button("Save the price", on_click=_save)


def _save() -> None:
    typed = st.session_state.to_dict()
    try:
        prices.save(
            widgets.workspace(),
            Price(
                typed["price_model"], typed["price_in"], typed["price_out"], typed["price_as_of"],
                typed["price_source"],
            ),
        )  # fmt: skip
    except UserError as error:
        st.session_state[_NOTE] = error


def _forget() -> None:
    prices.forget(widgets.workspace(), st.session_state.to_dict()["price_gone"])

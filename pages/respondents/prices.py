"""The table of prices: how old each is, entering, deleting, and files."""

from __future__ import annotations

from datetime import date

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.respondents import catalog, prices
from core.workflow.respondents.prices import OLD_AFTER_DAYS, Price
from pages.shared import widgets

_NOTE = "price_note"
_PER_MILLION = "US dollars per million tokens"
_FILE = "price_file"


def price_section() -> None:
    """The saved prices, a form for a new price, a button to delete one, and files."""
    st.header("Prices")
    st.caption(
        "The page Design computes costs from these prices, and cost caps use them. Prices in the "
        "settings of a respondent take precedence. Look prices up at the service: they change."
    )
    note = st.session_state.pop(_NOTE, None)
    if isinstance(note, UserError):
        widgets.show_problem(note)
    elif note:
        st.success(note)
    listed = prices.list_prices(widgets.workspace())
    if listed:
        _table(listed)
    else:
        st.info(_empty_words())
    with st.expander("Enter or change a price"):
        _form()
    if listed:
        with st.expander("Delete a price"):
            st.selectbox("Model", [p.model for p in listed], key="price_gone")
            st.button("Delete the price", key="price_forget", on_click=_forget)
    with st.expander("Prices as a file"):
        _files(bool(listed))


def _empty_words() -> str:
    """What an empty table means: no price at all, or prices in the settings of respondents."""
    people = catalog.list_respondents(widgets.workspace())
    n_priced = sum(
        p.kind == "api" and None not in (p.sampling.price_in, p.sampling.price_out) for p in people
    )
    if n_priced:
        whose = count_text(n_priced, "respondent has", "respondents have")
        return f"This table is empty. {whose} own prices in the settings, which count."
    return "There is no price yet. Without prices, Inkblot cannot show the cost of a study."


def _table(listed: tuple[Price, ...]) -> None:
    columns = {
        "Model": [p.model for p in listed],
        "Read": [p.price_in for p in listed],
        "Written": [p.price_out for p in listed],
        "Cached": [p.price_cached for p in listed],
        "As of": [p.as_of for p in listed],
        "Age": [
            f"{count_text(p.age_days, 'day')}{', look it up again' if p.is_old else ''}"
            for p in listed
        ],
        "Source": [p.source for p in listed],
    }
    frame = pd.DataFrame(columns)
    if frame["Cached"].isna().all():
        frame = frame.drop(columns="Cached")
    widgets.table(frame, alt=f"Prices of {count_text(len(listed), 'model')}")
    old = [p.model for p in listed if p.is_old]
    if old:
        names = widgets.plain(", ".join(old))
        st.warning(f"Older than {OLD_AFTER_DAYS} days: {names}. Look the prices up again.")


def _form() -> None:
    models = {r.model for r in catalog.list_respondents(widgets.workspace()) if r.kind == "api"}
    with st.form("price_form", border=False):
        st.text_input(
            "Model",
            key="price_model",
            placeholder=", ".join(sorted(models)) or None,
            help="The service's name for the model. The price holds for every respondent with this "
            "model.",
        )
        columns = st.columns(4)
        columns[0].number_input(
            "Read", 0.0, None, 0.0, key="price_in", help=f"{_PER_MILLION} read."
        )
        columns[1].number_input(
            "Written", 0.0, None, 0.0, key="price_out", help=f"{_PER_MILLION} written."
        )
        columns[2].number_input(
            "Cached",
            0.0,
            None,
            None,
            key="price_cached",
            placeholder="as read",
            help=f"{_PER_MILLION} that the service had in its cache. Empty: the full price.",
        )
        columns[3].date_input(
            "As of",
            prices.today(),
            max_value=prices.today(),
            key="price_as_of",
            help="When you looked it up.",
        )
        st.text_input(
            "Source",
            key="price_source",
            placeholder="the service's price list",
            help="Where you looked it up, such as the address of the price list.",
        )
        st.form_submit_button("Save the price", on_click=_save)


def _save() -> None:
    typed = st.session_state.to_dict()
    as_of: date = typed["price_as_of"]
    price = Price(
        typed["price_model"],
        typed["price_in"],
        typed["price_out"],
        as_of,
        typed["price_source"],
        typed["price_cached"],
    )
    try:
        prices.save_prices(widgets.workspace(), [price])
    except UserError as error:
        st.session_state[_NOTE] = error


def _forget() -> None:
    prices.forget_price(widgets.workspace(), st.session_state.to_dict()["price_gone"])


def _files(any_prices: bool) -> None:
    """Download and upload."""
    if any_prices:
        data = prices.export_prices(widgets.workspace())
        widgets.download("Download the prices (CSV)", data, "prices.csv", key="price_download")
    st.file_uploader(
        "A file of prices (CSV or Excel)",
        ["csv", "xlsx"],
        key=_FILE,
        help="Columns: model, price_in, price_out, price_cached, as_of, source. A model's newer "
        "price replaces the earlier one.",
        max_upload_size=50,
    )
    st.button(
        "Import the prices",
        key="price_import",
        on_click=_import,
        disabled=st.session_state.get(_FILE) is None,
        help="Reads the file. If a line cannot be read, no price changes.",
    )


def _import() -> None:
    upload = st.session_state[_FILE]
    try:
        count = prices.import_prices(widgets.workspace(), upload.name, upload.getvalue())
    except UserError as error:
        st.session_state[_NOTE] = error
    else:
        st.session_state[_NOTE] = f"{count_text(count, 'price')} saved."

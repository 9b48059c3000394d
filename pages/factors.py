"""The page of factor models. pages/shared/analysis_page.py draws it; core/analysis/cfa computes."""

import streamlit as st

from pages.shared import analysis_page

st.title("Factors")
st.caption(
    "Do the items measure what the bank says? Fit the model of the bank, edit it, check it with "
    "another program, compare several models, or explore the factors without a model."
)
analysis_page.show("factors")

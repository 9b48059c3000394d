"""How reliable scores are: internal consistency, forms, orders of options, repetitions."""

import streamlit as st

from pages.shared import analysis_page

st.title("Reliability")
st.caption(
    "How much of a score is not error: whether items hang together, and whether another form, "
    "another order of the options or another occasion would give the same."
)
analysis_page.show("reliability")

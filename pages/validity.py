"""How scores relate to other variables, to known groups, and to texts."""

import streamlit as st

from pages.shared import analysis_page

st.title("Validity")
st.caption(
    "How a score correlates with other variables, whether it distinguishes known groups, and "
    "whether it is visible in the texts that a model writes."
)
analysis_page.show("validity")

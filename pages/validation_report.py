"""Six criteria, a gate and a verdict for every model and kind of context."""

import streamlit as st

from pages.shared import analysis_page

st.title("Validation report")
st.caption(
    "Is the scale a reliable and valid measure of these models? Six criteria with ratings, for "
    "every model and kind of context; validity is judged only where the scale is reliable."
)
analysis_page.show("validation_report")

"""What scores go together with, whom they tell apart, and whether they show in texts."""

import streamlit as st

from pages.shared import analysis_page

st.title("Validity")
st.caption(
    "What a score goes together with, whom it tells apart, and whether it shows in the texts that "
    "a model writes."
)
analysis_page.show("validity")

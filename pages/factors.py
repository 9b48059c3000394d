"""What the items measure: a factor model proposed, edited, fitted, compared, and explored."""

import streamlit as st

from pages.shared import analysis_page

st.title("Factors")
st.caption(
    "Do the items measure what the bank says? Fit its model, edit it, check it with another "
    "program, compare several, and look without a model where it fails."
)
analysis_page.show("factors")

"""What the items measure: a factor model proposed, edited, fitted, compared, and explored."""

import streamlit as st

from pages.shared import analysis_page, factor_desk

st.title("Factors")
st.caption(
    "Do the items measure what the bank says? Fit its model, edit it, compare several, and look "
    "without a model where it fails."
)
analysis_page.show(
    "factors",
    own_controls={
        "cfa": (factor_desk.OPTIONS, factor_desk.controls),
        "cfa_comparison": (("models",), factor_desk.comparison_controls),
    },
)

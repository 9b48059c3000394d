"""Whether scores of languages, models or forms can be compared."""

import streamlit as st

from pages.shared import analysis_page

st.title("Comparability")
st.caption(
    "Whether scores of languages, models or forms may be compared: measurement invariance and "
    "differential item functioning."
)
analysis_page.show("comparability")

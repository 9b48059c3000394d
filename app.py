"""Entry point: page order and page settings, nothing else."""

import streamlit as st

from pages.shared.widgets import readable_choices

st.set_page_config(page_title="Inkblot", page_icon="pages/shared/icon.png", layout="wide")
readable_choices()
st.navigation(
    {
        "": [st.Page("pages/home.py", title="Home", icon=":material/home:", default=True)],
        "Prepare": [
            st.Page("pages/banks/page.py", url_path="banks", title="Banks", icon=":material/quiz:"),
            st.Page(
                "pages/contexts/page.py",
                url_path="contexts",
                title="Contexts",
                icon=":material/theater_comedy:",
            ),
            st.Page(
                "pages/respondents/page.py",
                url_path="respondents",
                title="Respondents",
                icon=":material/smart_toy:",
            ),
            st.Page(
                "pages/design/page.py", url_path="design", title="Design", icon=":material/grid_on:"
            ),
        ],
        "Collect": [
            st.Page(
                "pages/collect/page.py",
                url_path="collect",
                title="Collect",
                icon=":material/play_circle:",
            ),
            st.Page(
                "pages/answers/page.py",
                url_path="answers",
                title="Answers",
                icon=":material/forum:",
            ),
            st.Page("pages/audit.py", title="Audit", icon=":material/fact_check:"),
            st.Page("pages/texts.py", title="Texts", icon=":material/article:"),
            st.Page(
                "pages/import_export.py", title="Import and export", icon=":material/swap_vert:"
            ),
        ],
        "Statistics": [
            st.Page(
                "pages/item_statistics.py", title="Item statistics", icon=":material/bar_chart:"
            ),
            st.Page("pages/reliability.py", title="Reliability", icon=":material/repeat:"),
            st.Page("pages/factors.py", title="Factors", icon=":material/account_tree:"),
            st.Page("pages/comparability.py", title="Comparability", icon=":material/balance:"),
            st.Page("pages/validity.py", title="Validity", icon=":material/target:"),
            st.Page(
                "pages/validation_report.py", title="Validation report", icon=":material/traffic:"
            ),
        ],
        "Help": [
            st.Page("pages/glossary.py", title="Glossary", icon=":material/dictionary:"),
        ],
    }
).run()

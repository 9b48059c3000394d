"""What the words of Inkblot mean, with a search."""

from itertools import groupby
from pathlib import Path

import streamlit as st

from core.workflow import glossary
from core.workflow.glossary import Term
from pages.shared import widgets

_FOLDER = Path(__file__).parent


def script_of(title: str) -> str:
    """The file of the page with that title."""
    name = title.lower().replace(" ", "_")
    return f"pages/{name}.py" if (_FOLDER / f"{name}.py").exists() else f"pages/{name}/page.py"


def show_term(term: Term) -> None:
    st.markdown(f"### {term.name}")
    st.markdown(term.meaning)
    st.markdown(f"*Example:* {term.example}")
    with st.container(horizontal=True, gap="small"):
        for title in term.pages:
            st.page_link(script_of(title), label=title, width="content")


def main() -> None:
    st.title("Glossary")
    st.caption("What the words of Inkblot mean, with an example and the pages where you meet them.")
    words = st.text_input(
        "Search", key="glossary_search", type="search", placeholder="for example: administration",
        help="Shows the terms that have all these words in their name, meaning or example.",
    )  # fmt: skip
    terms = [term for term in glossary.terms() if term.mentions(words or "")]
    if not terms:
        st.info(f"No term of the glossary has the words “{widgets.plain(words)}”. Try fewer words.")
    for group, members in groupby(terms, key=lambda term: term.group):
        st.header(group)
        for term in members:
            show_term(term)


main()

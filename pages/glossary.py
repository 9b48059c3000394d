"""What the words of Inkblot mean, with a search."""

from itertools import groupby

import streamlit as st

from core.workflow import glossary
from core.workflow.glossary import GlossaryTerm
from pages.shared import navigation, study_bar, widgets


def show_term(term: GlossaryTerm) -> None:
    st.markdown(f"### {term.name}")
    st.markdown(term.meaning)
    st.markdown(f"*Example:* {term.example}")
    with st.container(horizontal=True, gap="small"):
        for page in navigation.all_pages():
            if page.title in term.pages:
                st.page_link(page.script, label=page.title, icon=page.icon_name, width="content")


def main() -> None:
    study_bar.page_header(
        "Glossary",
        "What the words of Inkblot mean, with an example and the pages where you meet them.",
    )
    named = st.query_params.get(navigation.TERM_PARAMETER, "")
    words = st.text_input(
        "Search the glossary",
        named,
        key=f"glossary_search{named}",
        type="search",
        placeholder="for example: administration",
        live=True,
        help="Shows the terms that have all these words in their name, meaning or example.",
    )
    by_link = [term for term in glossary.terms() if named and term.name == named == words]
    terms = by_link or [term for term in glossary.terms() if term.mentions(words or "")]
    if not terms:
        st.info(f"No term of the glossary has the words “{widgets.plain(words)}”. Try fewer words.")
    for group, members in groupby(terms, key=lambda term: term.group):
        st.header(group)
        for term in members:
            show_term(term)


main()

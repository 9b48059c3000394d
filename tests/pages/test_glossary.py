"""The page Glossary shows docs/glossary.md and the columns of items, whole or searched."""

from __future__ import annotations

import re
from pathlib import Path

import app
from core.domain.instrument import ITEM_COLUMNS
from core.workflow import glossary
from tests.pages import apps

ROOT = Path(__file__).parents[2]
NEEDED = {
    "study", "design", "bank", "item", "wording", "form", "response format", "option", "scale",
    "subscale", "respondent", "context", "persona", "conversation", "entity", "template", "trial",
    "call", "attempt", "reply", "answer", "status", "administration", "repetition", "phase",
    "score", "keying", "coder", "audit", "unit of analysis", "listwise", "pairwise", "available",
    "half", "full information", "simulated respondent",
}  # fmt: skip


def open_page(words=""):
    at = apps.new_session("glossary")
    at.session_state["glossary_search"] = words
    return fine(at.run())


def fine(at):
    assert not at.exception
    assert not at.error
    return at


def names(at):
    return [part.value.removeprefix("### ") for part in at.markdown if part.value.startswith("###")]


def test_every_term_stands_on_the_page_with_its_meaning_example_and_pages(workspace):
    at = open_page()
    assert at.title[0].value == "Glossary"
    assert {name.lower() for name in names(at)} >= NEEDED
    shown = [part.value for part in at.markdown]
    links = [link.label for link in at.get("page_link")]
    for term in glossary.terms():
        assert term.meaning in shown
        assert f"*Example:* {term.example}" in shown
        assert set(term.pages) <= set(links)


def test_the_page_has_the_terms_of_the_docs_and_every_column_of_items():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    of_docs = re.findall(r"^### (.+)$", text, re.M)
    terms = [term.name for term in glossary.terms()]
    assert [name for name in terms if name in of_docs] == of_docs
    columns = {column.noun.capitalize() for column in ITEM_COLUMNS.values()}
    assert {*terms} == {*of_docs} | columns
    assert {*terms} - {*of_docs} == {"Partner", "Genre", "Tags", "Rank"}
    assert len({term.anchor for term in glossary.terms()}) == len(glossary.terms())


def test_every_page_that_a_term_names_stands_in_the_navigation():
    titles = {page.title for page in app.PAGES}
    assert {title for term in glossary.terms() for title in term.pages} <= titles


def test_meanings_are_one_to_three_sentences():
    for term in glossary.terms():
        assert 1 <= len(re.findall(r"\.(?= |$)", term.meaning)) <= 3, term.name


def test_a_search_shows_the_terms_with_all_of_its_words(workspace):
    at = open_page("Timeout sending")
    assert names(at) == ["Attempt"]
    assert [header.value for header in at.header] == ["Asking and answering"]
    at = fine(at.text_input(key="glossary_search").set_value("").run())
    assert len(names(at)) == len(glossary.terms())


def test_a_search_without_a_hit_says_so_and_shows_what_was_typed_as_text(workspace):
    at = open_page("![x](http://evil.invalid/a.png)")
    assert not names(at)
    (note,) = at.info
    assert "No term of the glossary" in note.value
    assert "![x](" not in note.value

"""The side of every page: the search box and the links to all pages."""

from __future__ import annotations

import pytest

import app
from core.workflow import preloading, sample
from core.workflow.answers import imports
from core.workflow.runs import control
from core.workflow.statistics import fits
from tests.pages.apps import fine, open_page


def side_links(at):
    return [link.proto for link in at.sidebar.get("page_link")]


def search(at, text):
    return fine(at.sidebar.text_input(key="search").set_value(text).run())


@pytest.fixture
def study(workspace):
    code = sample.start_sample(workspace, "simulated")
    control.wait(workspace, code, every_s=0.05)
    return code


def test_every_page_stands_at_the_side_in_its_group(workspace):
    at = open_page("glossary")
    assert [link.label for link in side_links(at)] == [page.title for page in app.PAGES]
    groups = list(dict.fromkeys(page.group for page in app.PAGES if page.group))
    assert [caption.value for caption in at.sidebar.caption] == groups
    assert at.sidebar.text_input(key="search").label == "Search"


def test_links_keep_the_study_of_the_page(workspace, study):
    at = open_page("banks", study=study)
    assert {link.query_string for link in side_links(at)} == {f"study={study}"}
    # chosen on the page itself, so that nothing in the address names it at first
    at = open_page("answers")
    assert {link.query_string for link in side_links(at)} == {f"study={study}"}


def test_pages_that_say_nothing_of_the_study_are_folded_but_the_shown_one(
    workspace, study, monkeypatch
):
    monkeypatch.setattr(preloading, "done", lambda: True)
    unfit = {"Political worldviews", "Bias and preference", "Word association", "Languages"}
    unfit |= {"Consistency"}
    at = open_page("glossary", study=study)
    fold = at.sidebar.get("expander")[0]
    assert fold.label == f"Not for this study: {len(unfit)}"
    assert {link.proto.label for link in fold.get("page_link")} == unfit
    assert sorted(link.label for link in side_links(at)) == sorted(p.title for p in app.PAGES)
    at = open_page("words", study=study)
    folded = {link.proto.label for link in at.sidebar.get("expander")[0].get("page_link")}
    assert folded == unfit - {"Word association"}
    assert not open_page("glossary").sidebar.get("expander")


def test_a_study_that_is_chosen_on_the_page_draws_the_side_anew(workspace, study, monkeypatch):
    """As after an import: nothing in the address names the study when the side is first drawn."""
    monkeypatch.setattr(preloading, "done", lambda: True)
    imports.import_tidy(workspace, "newer.csv", b"item,answer\nq1,1\nq2,2\n")
    at = open_page("answers", study=study)
    at.selectbox(key=next(box.key for box in at.selectbox if study in box.options)).set_value(
        "newer"
    )
    at = fine(at.run())
    assert {link.query_string for link in side_links(at)} == {"study=newer"}
    at = open_page("answers")
    assert at.sidebar.get("expander")


def test_a_page_of_an_analysis_that_requires_nothing_is_never_folded():
    nothing = {}
    folded = {entry.title for entry in app.PAGES if not fits.fits_page(entry.name, nothing)}
    assert folded == {
        "Factor models",
        "Invariance and DIF",
        "Political worldviews",
        "Bias and preference",
        "Word association",
        "Languages",
        "Consistency",
        "Validation report",
    }
    assert fits.fits_page("bias", {"formats": True})  # summaries of consistency stand there


def test_typing_lists_what_is_found_above_the_pages(workspace, study):
    at = search(open_page("", study=study), "language correlation")
    first = side_links(at)[0]
    assert first.label == "**Score correlations**"
    assert (first.page, first.query_string) == (
        "reliability",
        f"study={study}&analysis=score_correlations",
    )
    assert "Reliability: Do scores keep their order" in first.help.replace("\\", "")
    at = search(at, "")
    assert side_links(at)[0].label == "Home"


def test_a_word_of_the_glossary_leads_to_its_meaning(workspace):
    at = search(open_page("banks"), "administration")
    first = side_links(at)[0]
    assert (first.page, first.query_string) == ("glossary", "term=Administration")
    at = open_page("glossary", term="Administration")
    assert [part.value for part in at.markdown if part.value.startswith("###")] == [
        "### Administration"
    ]


def test_words_that_are_nowhere_are_answered_in_a_sentence_and_are_no_markup(workspace):
    at = search(open_page("glossary"), "![x](http://evil.invalid/a.png)")
    assert "Nothing has these words" in at.sidebar.caption[0].value
    assert "evil" not in "".join(part.value for part in at.sidebar.caption)


def test_another_page_has_an_empty_search_box(workspace):
    at = search(open_page("glossary"), "kappa")
    assert side_links(at)[0].label == "**Audit**"
    at = fine(at.switch_page("pages/audit/page.py").run())
    assert at.sidebar.text_input(key="search").value == ""
    assert side_links(at)[0].label == "Home"

"""What the search finds first for the words that people use."""

from __future__ import annotations

import pytest

import app
from core.workflow import glossary, search, shelf
from core.workflow.search import SearchEntry
from core.workflow.statistics import analyses
from tests.workflow.studies import freeze, simulated

ENTRIES = (
    *(page.found_by() for page in app.PAGES),
    *search.analysis_entries(),
    *search.action_entries(),
    *search.question_entries(),
    *search.term_entries(),
)
# Words of psychologists and of the published studies, and what they must lead to: the page, and
# the analysis after a colon.
QUESTIONS = {
    "CFA": "factors:cfa",
    "RMSEA": "factors:cfa",
    "model fit": "factors:cfa",
    "factor loadings": "factors:cfa",
    "missing answers in a factor model": "factors:cfa",
    "bifactor": "factors:cfa_comparison",
    "exploratory factor analysis": "factors:efa",
    "alpha": "reliability:internal_consistency",
    "Cronbach": "reliability:internal_consistency",
    "Cronbach’s α alpha": "reliability:internal_consistency",
    "stratified alpha": "reliability:reliability",
    "omega": "reliability:reliability",
    "language correlation": "reliability:score_correlations",
    "correlation between languages": "languages:cross_language",
    "cross-language correlation": "languages",
    "alternate form": "reliability:score_correlations",
    "option-order symmetry": "reliability:score_correlations",
    "test-retest": "reliability:score_correlations",
    "item-total correlation": "item_statistics:item_statistics",
    "skewness": "item_statistics:score_distribution",
    "missing answers": "item_statistics:option_distribution",
    "choice of templates": "unexpected_outputs:template_pilot",
    "reluctancy": "unexpected_outputs:unexpected_outputs",
    "IRT": "item_statistics:graded_response",
    "comparison with people": "item_statistics:norm_comparison",
    "DIF": "comparability:dif",
    "which items differ between two models": "comparability:dif",
    "measurement invariance": "comparability:invariance",
    "convergent validity": "validity:multitrait_matrix",
    "effect size": "validity:group_comparison",
    "stereotypes": "validity:odds_ratios",
    "is the scale reliable and valid?": "validation_report:validation_report",
    "kappa": "audit",
    "refusals": "answers",
    "unexpected outputs": "unexpected_outputs",
    "stories": "texts",
    "texts": "texts",
    "reference letters": "texts",
    "import": "import_export",
    "How do I import answers?": "import_export",
    "personas": "contexts",
    "conversations": "contexts",
    "translation": "banks",
    "API key": "respondents",
    "temperature": "respondents",
    "cost": "design",
    "number of calls": "design",
    "pause": "collect",
    "next step": "home",
    "administration": "glossary",
    "listwise": "glossary",
    "make a report": "report",
    "write items": "banks",
    "add model": "respondents",
    "sample size": "precision",
    "new design": "design",
    "excel": "import_export",
    "download csv": "import_export",
    "continue run": "collect",
    "weak items": "item_statistics:item_statistics",
    "does the opinion depend on the wording": "worldview:form_agreement",
    "asked again": "consistency:random_consistency",
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_the_first_hit_is_where_the_words_belong(text):
    first = search.find(text, ENTRIES)[0]
    page, _, analysis = QUESTIONS[text].partition(":")
    assert (first.page, first.analysis) == (page, analysis)


def test_every_analysis_and_term_is_found_by_its_own_name():
    for entry in (*search.analysis_entries(), *search.term_entries()):
        hits = [(hit.title, hit.page) for hit in search.find(entry.title, ENTRIES)]
        assert (entry.title, entry.page) in hits[: 2 if entry.kind == "analysis" else 8]
    assert {entry.analysis for entry in search.analysis_entries()} == {
        analysis.name for analysis in analyses.all_analyses()
    }
    assert len(search.term_entries()) == len(glossary.terms())


def test_every_analysis_has_words_to_be_found_by():
    assert [one.name for one in analyses.all_analyses() if len(one.keywords) < 3] == []


def test_slips_of_the_finger_are_forgiven():
    assert search.find("chronbach", ENTRIES)[0].analysis == "internal_consistency"
    assert search.find("invarience", ENTRIES)[0].analysis == "invariance"


def test_the_beginning_of_a_word_is_enough():
    assert search.find("discrim", ENTRIES)[0].analysis == "item_statistics"
    assert search.find("c", ENTRIES) == ()


def test_nothing_is_found_for_no_words_and_for_unknown_ones():
    assert search.find("", ENTRIES) == ()
    assert search.find(" ?! ", ENTRIES) == ()
    assert search.find("xyzzy", ENTRIES) == ()


def test_entries_with_more_of_the_words_come_alone():
    entries = (
        SearchEntry("page", "Red wine", "red", "About drinks."),
        SearchEntry("page", "Red ink", "ink", "About pens."),
    )
    assert [hit.page for hit in search.find("red ink", entries)] == ["ink"]
    assert [hit.page for hit in search.find("red xyzzy", entries)] == ["red", "ink"]


def test_every_action_and_question_leads_to_a_page_and_its_analysis():
    pages = {page.name for page in app.PAGES} | {"home"}
    by_name = {one.name: one for one in analyses.all_analyses()}
    for entry in (*search.action_entries(), *search.question_entries()):
        assert entry.page in pages, entry
        assert search.find(entry.title, ENTRIES)[0].title == entry.title
        if entry.analysis:
            assert by_name[entry.analysis].topic == entry.page


def test_studies_are_found_by_title_and_code_and_not_once_put_away(workspace):
    freeze(workspace, simulated(), study="greens", n_personas=1)
    shelf.rename(workspace, "greens", "Party of the forest")
    for text in ("greens", "party forest"):
        (first, *_) = search.find(text, (*ENTRIES, *search.study_entries(workspace)))
        assert (first.kind, first.study, first.title) == ("study", "greens", "Party of the forest")
    shelf.move(workspace, "greens", "archived")
    assert search.study_entries(workspace) == ()


def test_an_analysis_with_the_name_of_its_page_is_listed_once():
    hits = search.find("Reliability", ENTRIES)
    assert [hit.title for hit in hits].count("Reliability") == 1

"""The page Word association: lists of words, and words beside a questionnaire."""

from __future__ import annotations

import pytest

from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from pages.shared import analysis_page
from tests.pages.apps import fine, open_page, open_tab

WORDS = (
    "item,word,rank,language,format,repetition,answer,status\n"
    "w1,peace,7,en,comedy_tragedy,1,comedy,\nw1,peace,7,en,comedy_tragedy,2,comedy,\n"
    "w2,war,3,en,comedy_tragedy,1,tragedy,\nw2,war,3,en,comedy_tragedy,2,tragedy,\n"
    "w3,![x](http://evil),2,en,comedy_tragedy,1,,neutral\n"
    "w3,![x](http://evil),2,en,comedy_tragedy,2,comedy,\n"
)
QUESTIONNAIRE = "item,format,repetition,answer\n" + "".join(
    f"q{item},likert_5,{test},{3 if item == 1 else test}\n" for item in (1, 2) for test in (1, 2)
)


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """A study of words and one of a questionnaire, with different banks."""
    found = open_workspace(tmp_path / "words.duckdb")
    imports.import_tidy(found, "words.csv", WORDS.encode())
    imports.import_tidy(found, "items.csv", QUESTIONNAIRE.encode())
    monkeypatch.setenv("INKBLOT_DB", found.database.path)
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    yield found
    found.close()


def test_words_stand_in_lists_and_beside_a_questionnaire(answered):
    at = open_page("words", timeout=90, study="words", analysis="word_association")
    at = open_tab(at, "word_association", "Top words")
    top = next(d.value for d in at.dataframe if "Rank of positive" in d.value)
    assert top[["Positive", "Negative", "Neutral"]].iloc[0].tolist() == [
        "peace",
        "war",
        "![x](http://evil)",
    ]
    assert any("positive: peace; negative: war" in c.proto.alt for c in at.get("vega_lite_chart"))
    at = open_page("words", timeout=90, study="words", analysis="instrument_rates")
    at = fine(at.multiselect(key="together:any:words").select("items").run())
    said = "\n".join(part.value for part in at.markdown).replace("\\", "")
    assert "Of 3 items, 66.7%" in said
    assert "Of 2 items, 50.0%" in said
    assert "50.0% of the answers are midpoints" in said

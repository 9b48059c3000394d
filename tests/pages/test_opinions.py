"""The page Opinions: the map of all questions and the way to replies."""

from __future__ import annotations

import pytest

from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from pages.shared import analysis_page
from tests.pages.apps import fine, open_page, open_tab


def answers(study, phases):
    """Two languages, three questions, four repetitions; the second phase turns q1."""
    lines = ["study,item,answer,format,model,language,phase,repetition"]
    for phase in phases:
        for language in ("en", "fr"):
            for repetition in range(1, 5):
                for item, first, second in (("q1", "yes", "no"), ("q2", "no", "no")):
                    answer = first if phase == "initial" else second
                    lines.append(
                        f"{study},{item},{answer},yes_no,m,{language},{phase},{repetition}"
                    )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A study with two phases and one with the first alone."""
    folder = tmp_path_factory.mktemp("opinions")
    found = open_workspace(folder / "opinions.duckdb")
    for name, phases in (("two", ("initial", "opposing")), ("one", ("initial",))):
        imports.import_tidy(found, f"{name}.csv", answers(name, phases).encode())
    yield found
    found.close()


@pytest.fixture
def collected(studies, monkeypatch):
    monkeypatch.setenv("INKBLOT_DB", studies.database.path)
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    return studies


def map_of(study, analysis="opinions"):
    return open_tab(
        open_page("opinions", timeout=90, study=study, analysis=analysis), analysis, "All questions"
    )


@pytest.mark.parametrize("analysis", ["opinions", "bias_shift"])
def test_all_questions_stand_in_a_map_of_opinions_and_shifts(collected, analysis):
    at = map_of("two", analysis)
    frame = at.dataframe[-1].value
    assert frame["Question"].tolist() == ["q1", "q2"]
    assert frame["b · m · en"].tolist() == [1, -1]
    assert frame["s · m · fr"].tolist() == [2, 0]
    assert [chart.proto.alt[:5] for chart in at.get("vega_lite_chart")][-2:] == ["Panel"] * 2


def test_questions_are_searched_and_ordered(collected):
    at = map_of("two")
    at.text_input(key="question_search:two").input("q2")
    assert fine(at.run()).dataframe[-1].value["Question"].tolist() == ["q2"]
    at.text_input(key="question_search:two").input("nothing like it")
    assert "No question holds this text" in fine(at.run()).info[-1].value
    at.text_input(key="question_search:two").input("")
    at.selectbox(key="question_order:two").select("bias")
    assert fine(at.run()).dataframe[-1].value["Question"].tolist() == ["q1", "q2"]


def test_a_number_leads_to_the_replies_behind_it(collected):
    at = map_of("two")
    at.session_state["question_table:two"] = {"selection": {"cells": [(0, "b · m · fr")]}}
    at = fine(at.run())
    links = [link for link in at.get("page_link") if link.proto.label.startswith("Replies to q1")]
    assert "item=q1" in links[0].proto.query_string
    assert "language=fr" in links[0].proto.query_string
    assert "phase=initial" in links[0].proto.query_string


def test_a_study_of_one_phase_has_opinions_and_is_told_how_to_get_the_second(collected):
    at = map_of("one")
    frame = at.dataframe[-1].value
    assert [name for name in frame if name.startswith("s · ")] == []
    at = open_page("opinions", timeout=90, study="one", analysis="bias_shift")
    (words,) = [one.value for one in at.caption if "second phase" in one.value]
    assert "Plan the second phase on the page Collect" in words
    assert not at.error

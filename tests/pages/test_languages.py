"""The page Languages: correlations, links, and items with the wordings of both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest
import streamlit

from core.workflow.designs import presets, studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from pages.shared import analysis_page
from tests.pages import apps
from tests.pages.apps import open_tab
from tests.workflow.studies import simulated

STUDY = "opinions_six_languages"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The preset of opinions in six languages, 20 of its items, answered by simulated people."""
    found = open_workspace(tmp_path_factory.mktemp("languages") / "shared.duckdb")
    person = simulated(language_spread=0.7, refusal_rate=0.03, seed=4)
    catalog.save(found, person)
    design = presets.design(found, presets.by_code(STUDY), first_items=20)
    studies.freeze(found, replace(design, respondents=(person.label,), repetitions=6))
    control.start(found, STUDY)
    control.wait(found, STUDY, every_s=0.02)
    yield found
    found.close()


@pytest.fixture
def workspace(shared, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    return shared


@pytest.mark.parametrize("measure", ["mean", "positive", "b", "w", "b_and_w"])
def test_no_pair_of_six_languages_is_undefined(workspace, measure):
    result = analyses.run(workspace, "cross_language", [STUDY], {"measure": measure}, {})
    frame = next(table.frame for table in result.tables if table.name == "correlations")
    assert len(frame) == 15
    assert frame[["r", "ci_low", "p", "p_adjusted"]].notna().all(axis=None)
    assert not frame["remark"].str.contains("Undefined:").any()
    means = measure in ("mean", "positive", "b")  # w is no mean of answers
    assert frame["reliability_first"].notna().all() == means


def test_the_page_shows_correlations_links_and_both_wordings(workspace):
    at = apps.open_page("languages", timeout=90, study=STUDY)
    said = "\n".join(part.value for part in at.markdown)
    assert "r from " in said
    assert {"Correlate them", "May they be compared?"} <= {
        link.label for link in at.get("page_link")
    }
    assert at.get("vega_lite_chart")[0].proto.alt.startswith("Heat map of correlations")
    at = open_tab(at, "cross_language", "Items that differ most")
    shown = at.dataframe[0].value
    assert list(shown.columns[:4]) == ["Item", "Difference", "Wording, de", "Wording, en"]
    bank = studies.frozen_bank(workspace, STUDY)
    code = str(shown["Item"].iloc[0])
    assert shown["Wording, de"].iloc[0] == bank.item(code).text("de")
    assert shown["Wording, en"].iloc[0] == bank.item(code).text("en")
    other = next(box for box in at.selectbox if box.label == "Pair").set_value("fr and zh").run()
    assert "Wording, zh" in other.dataframe[0].value.columns


def test_the_scatter_is_of_the_languages_that_are_chosen(workspace):
    at = apps.open_page("languages", timeout=90, study=STUDY)
    for label, language in (("Scatter: across", "es"), ("Scatter: up", "ja")):
        next(box for box in at.selectbox if box.label == label).set_value(language)
    at = open_tab(at, "cross_language", "Scatter")
    alts = [chart.proto.alt for chart in at.get("vega_lite_chart")]
    assert any("in es (across) and ja (up)" in alt for alt in alts)


def test_a_language_without_wordings_has_none(workspace):
    texts = analyses.wordings(workspace, [STUDY], ["de", "sw"])
    assert texts["sw"] == {}
    assert len(texts["de"]) == 20

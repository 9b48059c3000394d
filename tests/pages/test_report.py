"""The page Report: analyses ticked, ordered and kept, the report made, cancelled and downloaded."""

from __future__ import annotations

import threading

import pytest
import streamlit

from core import progress
from core.workflow.opening import open_workspace
from core.workflow.reports import choices
from core.workflow.runs import control
from core.workflow.statistics import analyses
from pages.shared import analysis_page
from tests.pages.apps import fine, open_page
from tests.workflow.studies import freeze, simulated


@pytest.fixture
def collected(workspace, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    freeze(workspace, simulated(refusal_rate=0.05), n_personas=25)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    return workspace


def box(at, name):
    return at.checkbox(key=f"report_tick:study:{name}")


def captions(at):
    return "\n".join(text.value.replace("\\", "") for text in [*at.caption, *at.markdown])


def test_a_report_is_chosen_made_and_offered_in_every_format(collected):
    at = open_page("report", study="study")
    assert at.title[0].value == "Report"
    assert box(at, "item_statistics").value
    assert not box(at, "validation_report").value
    assert "All items were asked in one language." in captions(at)
    choices.save(collected, "study", analyses=["item_statistics", "item_map", "reliability"])
    at = fine(at.run())
    at = fine(box(at, "item_map").uncheck().run())
    at = fine(box(at, "multitrait_matrix").check().run())
    at = fine(at.button(key="report_up:study:multitrait_matrix").click().run())
    at = fine(at.text_input(key="report_title:study").set_value("My <b>title</b>").run())
    at = fine(at.text_input(key="report_authors:study").set_value("A. One; B. Two").run())
    at = fine(at.number_input(key="report_longest_table:study").set_value(19).run())
    at = fine(at.button(key="report_options:study:reliability").click().run())
    at = fine(at.number_input(key="option:study:reliability:ci_level").set_value(0.9).run())

    again = open_page("report", study="study")  # as after a reload
    kept = choices.saved(collected, "study")
    assert kept.analyses == ("item_statistics", "multitrait_matrix", "reliability")
    assert again.text_input(key="report_title:study").value == "My <b>title</b>"
    again = fine(again.button(key="report_make").click().run())
    buttons = {one.key: one for one in again.get("download_button")}
    assert set(buttons) >= {f"report_download:{ending}" for ending in ("html", "docx", "txt")}
    words = captions(again)
    assert "table “Items”: 20 rows, more than 19. As CSV" in words
    assert "500 trials (one item put once) were planned" in words
    option = analyses.saved_options(collected, "study", analyses.by_name("reliability"))
    assert option["ci_level"] == 0.9


def test_progress_names_the_analysis_and_a_cancelled_report_can_be_made_again(
    collected, monkeypatch
):
    reached, let_on, run = threading.Event(), threading.Event(), analyses.run

    def slowly(*arguments):
        reached.set()
        let_on.wait(60)
        progress.step(0, 1, "groups")
        return run(*arguments)

    choices.save(collected, "study", analyses=["reliability", "item_map"])
    monkeypatch.setattr(analyses, "run", slowly)
    monkeypatch.setattr(analysis_page, "WAIT_S", 0.3)
    at = open_page("report", study="study")
    at = fine(at.button(key="report_make").click().run())
    assert reached.wait(60)
    at = fine(at.run())
    assert "1 of 2: Reliability" in at.get("progress")[0].proto.text.replace("\\", "")
    at = fine(at.button(key="cancel_computing:report").click().run())
    let_on.set()
    at = fine(at.run())
    assert "The report is canceled" in captions(at)
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    at = fine(at.button(key="report_make").click().run())
    assert at.get("download_button")


def test_without_answers_the_page_says_what_to_do(workspace):
    at = open_page("report")
    assert "There is no study yet" in at.info[0].value
    freeze(open_workspace(), simulated(), n_personas=1)
    at = open_page("report", study="study")
    assert "no answers yet" in at.info[0].value

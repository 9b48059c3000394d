"""Leaving out guesses, hedged and judged answers on the pages of statistics and Explore."""

from __future__ import annotations

import pytest
import streamlit

from core import export
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, explore
from core.workflow.statistics.explore import View
from pages.shared import analysis_page, left_out
from tests.pages.apps import fine, open_page, open_tab, tab_labels
from tests.workflow.studies import freeze, simulated

PILLS = "where:study:leave_out"


@pytest.fixture(autouse=True)
def no_leftovers(monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """200 answers; every 1 is a guess, every 2 hedged, and none is judged."""
    found = open_workspace(tmp_path_factory.mktemp("left_out") / "shared.duckdb")
    freeze(found, simulated(seed=2), n_personas=10)
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    with found.database.transaction() as cursor:
        cursor.execute(
            "update response set layer = 'statement', hedged = option = '2',"
            " certainty = case when option = '1' then 'guess' else 'certain' end"
        )
    yield found
    found.close()


@pytest.fixture
def collected(shared, monkeypatch):
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    explore.save_view(shared, "study", View("mean_score", "item"))
    return shared


def captions(at):
    return "\n".join(text.value.replace("\\", "") for text in [*at.caption, *at.markdown])


def numbers(workspace, where):
    result = analyses.run(workspace, "item_statistics", ["study"], {}, where)
    return result, export.display_frame(result.tables[0])


def test_a_page_of_statistics_leaves_out_what_is_chosen_and_shows_what_it_changes(collected):
    at = open_page("item_statistics", study="study", analysis="item_statistics")
    assert at.pills(key=PILLS).options == [
        f"{word} {n:,}"
        for word, n in zip(
            ("Guesses", "Answers with a disclaimer"), counted(collected), strict=True
        )
    ]
    assert left_out.TITLE not in tab_labels(at)
    at = fine(at.pills(key=PILLS).set_value(["guess"]).run())
    assert at.query_params["leave_out"] in ("guess", ["guess"])
    assert "Left out: guesses." in captions(at)
    before, all_items = numbers(collected, {})
    after, items = numbers(collected, {"leave_out": ["guess"]})
    assert after.n_used == before.n_used - counted(collected)[0]
    at = open_tab(at, "item_statistics", left_out.TITLE)
    assert f"Scored answers used: {after.n_used:,} instead of {before.n_used:,}." in captions(at)
    (changes,) = [d.value for d in at.dataframe if "M, difference" in d.value.columns]
    assert changes["M, before"].tolist() == all_items["mean"].tolist()
    assert changes["M, after"].tolist() == items["mean"].tolist()
    assert "csv:left_out:items" in [button.key for button in at.get("download_button")]


def counted(workspace):
    """The numbers of 1 and of 2 among the answers."""
    return workspace.database.row(
        "select count(*) filter (where option = '1'), count(*) filter (where option = '2')"
        " from response"
    )


def test_a_link_and_a_reload_keep_what_is_left_out_and_unknown_kinds_are_dropped(collected):
    at = open_page(
        "item_statistics", study="study", analysis="option_distribution", leave_out="hedged"
    )
    assert at.pills(key=PILLS).value == ["hedged"]
    assert "Left out: answers with a disclaimer." in captions(at)
    at = open_page("item_statistics", study="study", leave_out="judged")
    assert at.pills(key=PILLS).value == []
    assert "leave_out" not in at.query_params


def test_an_analysis_of_attempts_offers_nothing_to_leave_out(collected):
    at = open_page(
        "unexpected_outputs", study="study", analysis="invalid_answers", leave_out="guess"
    )
    assert not [pills for pills in at.get("pills") if pills.key == PILLS]


def test_explore_leaves_out_the_same_answers_and_shows_the_change(collected):
    at = open_page("explore", study="study", measure="mean_score", axis="item", leave_out="guess")
    assert at.pills(key=PILLS).value == ["guess"]
    view = View("mean_score", "item", where={"leave_out": ("guess",)})
    table = explore.count_view(collected, "study", view).frame
    shown = next(d.value for d in at.dataframe if "n" in d.value.columns)
    assert shown["n"].tolist() == table["n"].tolist()
    assert "answers left out as missing" in captions(at)
    at.session_state["explore_left_out"] = True
    at = fine(at.run())
    (changes,) = [d.value for d in at.dataframe if "n, difference" in d.value.columns]
    assert -changes["n, difference"].sum() == counted(collected)[0]
    at = fine(at.selectbox(key="explore:study:measure").set_value("tokens_out").run())
    assert "no answers are left out" in captions(at)

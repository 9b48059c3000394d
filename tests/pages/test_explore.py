"""The page Explore: what it opens with, its controls, its address, and where it leads."""

from __future__ import annotations

import pytest
import streamlit

from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, explore
from core.workflow.statistics.explore import View
from tests.pages.apps import fine, open_page, run_page
from tests.workflow.studies import freeze, simulated


@pytest.fixture(autouse=True)
def no_leftovers():
    streamlit.cache_data.clear()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """20 items, six personas, two languages, one respondent."""
    found = open_workspace(tmp_path_factory.mktemp("explore") / "shared.duckdb")
    freeze(found, simulated(refusal_rate=0.1, seed=2), n_personas=6, languages=("en", "de"))
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    yield found
    found.close()


@pytest.fixture
def collected(shared, monkeypatch):
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    explore.save_view(shared, "study", explore.default_view(shared, "study"))
    return shared


def control_of(at, name, study="study"):
    return at.selectbox(key=f"explore:{study}:{name}")


def shown(at):
    """The numbers on the page, as displayed."""
    return next(table.value for table in at.dataframe if "n" in table.value.columns)


def address(at):
    found = {name: at.query_params[name] for name in at.query_params}
    return {name: [one] if isinstance(one, str) else one for name, one in found.items()}


def test_an_empty_database_says_what_to_do(workspace):
    at = open_page("explore")
    assert "There is no study yet" in at.info[0].value


def test_a_study_without_answers_leads_to_collect(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = open_page("explore", study="study")
    assert "no answers yet" in at.info[0].value
    assert "Go to Collect" in [link.label for link in at.main.get("page_link")]


def test_it_opens_with_items_and_languages_as_chart_and_table(collected):
    at = open_page("explore", study="study")
    assert control_of(at, "measure").value == "mean_score"
    assert [control_of(at, name).value for name in ("axis", "color", "panel")] == [
        "item",
        "language",
        "",
    ]
    assert "Mean score: from" in at.markdown[1].value.replace("\\", "")
    assert len(shown(at)) == 40
    (chart,) = at.get("vega_lite_chart")
    assert "Mean score by item, language: 40 points" in chart.proto.alt
    labels = [button.proto.label for button in at.get("download_button")]
    assert sorted(labels) == ["CSV", "PNG (.png)", "SVG (.svg)", "Vega-Lite (.vl.json)"]
    assert address(at)["measure"] == ["mean_score"]


def test_the_numbers_are_those_of_the_workflow(collected):
    at = open_page("explore", study="study", measure="usable", axis="language", item="nature_01")
    table = explore.count_view(
        collected, "study", View("usable", "language", where={"item": ("nature_01",)})
    )
    assert shown(at)["Share usable"].tolist() == table.frame["value"].round(2).tolist()
    assert shown(at)["n"].tolist() == table.frame["n"].tolist() == [6, 6]
    assert at.multiselect(key="where:study:item").value == ["nature_01"]
    assert "Only item: nature_01." in [text.value.replace("\\", "") for text in at.caption]


def test_a_choice_goes_into_the_address_and_is_saved_with_the_study(collected):
    at = open_page("explore", study="study")
    at = fine(control_of(at, "measure").set_value("option_share").run())
    assert control_of(at, "option").options[1] == "2: Disagree"
    at = fine(control_of(at, "option").set_value("5").run())
    at = fine(control_of(at, "axis").set_value("language").run())  # which the colors had
    assert control_of(at, "color").value == ""
    view = View("option_share", "language", option="5")
    assert explore.view_from_address(address(at)) == view
    assert explore.saved_view(collected, "study") == view
    again = open_page("explore", study="study")
    assert explore.view_from_address(address(again)) == view
    fine(control_of(again, "measure").set_value("entropy").run())
    linked = open_page("explore", **{name: values[0] for name, values in address(at).items()})
    assert explore.view_from_address(address(linked)) == view


def test_a_filter_of_the_address_that_the_study_does_not_have_is_named(collected):
    at = open_page(
        "explore", study="study", measure="usable", axis="item", language="de", form="none_such"
    )
    (warning,) = at.warning
    assert "not filtered by form: none_such." in warning.value.replace("\\", "")
    assert at.multiselect(key="where:study:language").value == ["de"]


def test_an_unknown_factor_in_the_address_is_named_and_the_page_still_works(collected):
    at = run_page("explore", study="study", measure="usable", axis="planet")
    (error,) = at.error
    assert error.value.startswith("**There is no factor 'planet'\\.**")
    assert control_of(at, "axis").value == "item"


def test_a_view_leads_to_the_analysis_with_its_options(collected):
    at = open_page("explore", study="study", measure="mean_score", axis="language")
    button = at.button(key="explore_follow")
    assert button.label.replace("\\", "") == "Test this difference with Score correlations"
    at = fine(button.click().run())
    assert at.title[0].value == "Reliability"
    assert address(at)["analysis"] == ["score_correlations"]
    analysis = analyses.by_name("score_correlations")
    assert analyses.saved_options(collected, "study", analysis)["factor"] == "language"


def test_numbers_of_attempts_lead_to_no_analysis(collected):
    at = open_page("explore", study="study", measure="tokens_in", axis="language")
    assert "explore_follow" not in [button.key for button in at.button]
    assert "Tokens in total" in shown(at).columns


def test_undefined_rows_say_why(workspace):
    text = "study,item,model,answer,status\ns,q1,m1,1,answered\ns,q2,m1,,refused\n"
    imports.import_tidy(workspace, "s.csv", text.encode())
    at = open_page("explore", study="s", measure="entropy", axis="item")
    assert shown(at)["Remark"].tolist() == ["", "No answer chose an option."]


def test_a_view_by_days_names_its_units_and_leads_to_the_replies_of_a_day(workspace):
    lines = ["study,instrument,item,model,context,answer,time"]
    for place, context in enumerate("abcdef"):
        hour = f"2026-01-0{1 + place % 2}T10:00:00Z"
        lines += [
            f"s,attitudes_20,nature_0{n},m,{context},{1 + (n * place) % 5},{hour}" for n in (1, 2)
        ]
    imports.import_tidy(workspace, "s.csv", "\n".join(lines).encode())
    at = open_page("explore", study="s", measure="mean_score", axis="day")
    assert shown(at)["Day"].tolist() == ["2026-01-01", "2026-01-02"]
    assert shown(at)[["n", "Units"]].values.tolist() == [[6, 3], [6, 3]]
    assert any("contexts as independent" in text.value for text in at.caption)
    assert "Day" in control_of(at, "axis", "s").options
    links = [link.proto for link in at.main.get("page_link")]
    assert [link.label for link in links] == ["Replies behind the chart"]
    at = open_page("answers", study="s", day="2026-01-02")
    (answers,) = [table.value for table in at.dataframe if "Item" in table.value]
    assert answers["Day"].tolist() == ["2026-01-02"] * 6

"""Facts about people on pages: groups, comparisons, filters, Explore, Answers and their bands."""

from __future__ import annotations

import shutil

import pytest
import streamlit

from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from pages.shared import analysis_page
from pages.shared.widgets import plain
from tests.pages import apps
from tests.workflow.statistics.test_person_facts import (
    BANDS,
    WOMEN_UNDER_30,
    WORDS,
    study_of_people,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory, new_database):
    path = tmp_path_factory.mktemp("facts") / "x.duckdb"
    shutil.copyfile(new_database, path)
    workspace = study_of_people(path)
    yield workspace
    workspace.close()


@pytest.fixture(autouse=True)
def made(shared, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    return shared


def labelled(widgets, label):
    return next(widget for widget in widgets if widget.label in (label, plain(label)))


def table(at, column):
    return next(d.value for d in at.dataframe if column in d.value.columns)


def test_an_analysis_stands_separately_for_bands_and_is_filtered_by_facts():
    at = apps.open_page("reliability", timeout=90, study="s", analysis="internal_consistency")
    labelled(at.pills, "Only person: gender").set_value(["female"])
    labelled(at.multiselect, "Separately for").set_value(["person.age:bands"])
    at = apps.fine(at.run())
    rows = table(at, "Person: age (bands)")
    assert rows["Person: age (bands)"].tolist() == BANDS
    n_women = (WORDS["gender"] == "female").sum()
    assert rows["Administrations"].sum() == n_women


def test_scores_are_compared_by_a_fact():
    topic = analyses.by_name("group_comparison").topic
    at = apps.open_page(topic, timeout=90, study="s", analysis="group_comparison")
    compare = labelled(at.selectbox, "Compare")
    assert compare.value == "person.gender"  # nothing else varies
    assert "Person: gender" in compare.options
    compare.set_value("person.education")
    at = apps.fine(at.run())
    assert table(at, "Group")["Group"].tolist() == ["low", "middle", "high"]


def test_a_compared_fact_that_is_gone_is_named_and_the_page_stands(made):
    analysis = analyses.by_name("group_comparison")
    analyses.save_option(made, "s", analysis, "factor", "person.gone")
    try:
        at = apps.run_page(analysis.topic, timeout=90, study="s", analysis="group_comparison")
        assert not at.exception
        assert labelled(at.selectbox, "Compare").value == "person.gone"
        assert any("person\\.gone" in error.value for error in at.error)
    finally:
        analyses.save_option(made, "s", analysis, "factor", "person.gender")


@pytest.mark.parametrize("page", ["reliability", "answers", "explore"])
def test_the_name_of_a_fact_is_shown_as_text(tmp_path, new_database, monkeypatch, page):
    name = "![<b>x</b>](http://127.0.0.1:9/x.png) =1+1"
    path = tmp_path / "x.duckdb"
    shutil.copyfile(new_database, path)
    monkeypatch.setenv("INKBLOT_DB", str(path))
    workspace = open_workspace(path)
    rows = [f"s,attitudes_20,nature_01,p{n},{1 + n % 5},v{n % 2}" for n in range(20)]
    head = f'study,instrument,item,context,answer,"person.{name}"'
    imports.import_tidy(workspace, "s.csv", "\n".join([head, *rows]).encode())
    at = apps.fine(apps.run_page(page, timeout=90, study="s"))
    labels = [w.label for w in (*at.multiselect, *at.pills) if "x.png" in w.label.replace("\\", "")]
    assert labels
    assert all("![" not in label and "<b>" not in label for label in labels), labels
    workspace.close()


def test_explore_has_facts_on_axes_and_in_filters():
    at = apps.open_page(
        "explore",
        study="s",
        measure="mean_score",
        axis="person.education",
        color="person.gender",
        **{"person.age:bands": "under 30"},
    )
    rows = table(at, "Person: education")
    assert rows["Person: education"].drop_duplicates().tolist() == ["low", "middle", "high"]
    assert rows["n"].sum() == (WORDS["age"] < 30).sum() * 6


def test_explore_keeps_a_range_that_somebody_typed():
    address = {"measure": "mean_score", "axis": "person.gender", "person.age": "under 23"}
    at = apps.open_page("explore", study="s", **address)
    assert not at.warning
    assert labelled(at.multiselect, "Only person: age").value == ["under 23"]
    assert table(at, "n")["n"].sum() == (WORDS["age"] < 23).sum() * 6


def test_a_typed_text_that_is_no_range_is_named_and_is_no_filter():
    for page in ("explore", "reliability"):
        at = apps.open_page(page, timeout=90, study="s")
        labelled(at.multiselect, "Only person: age").set_value(["women", "under 23"])
        at = apps.fine(at.run())
        (error,) = [error.value for error in at.error]
        assert "women" in error
        assert "30 to 44" in error
        assert labelled(at.multiselect, "Only person: age").value == ["under 23"]
        assert not apps.fine(at.run()).error


def test_women_under_30_are_chosen_on_explore_and_stay_chosen_on_other_pages():
    """From Home: the link of a fact, and two levels that stand open."""
    at = apps.open_page("explore", study="s", measure="mean_score", axis="person.gender")
    labelled(at.pills, "Only person: gender").set_value(["female"])
    labelled(at.pills, "Only person: age (bands)").set_value(["under 30"])
    at = apps.fine(at.run())
    assert table(at, "n")["n"].sum() == WOMEN_UNDER_30.sum() * 6
    assert labelled(at.pills, "Only person: education").options == ["low", "middle", "high"]
    at.switch_page("pages/reliability.py")
    at = apps.fine(at.run())
    assert labelled(at.pills, "Only person: age (bands)").value == ["under 30"]


def test_home_leads_to_scores_by_each_fact():
    at = apps.open_page("home")
    links = {link.label: link.proto.query_string for link in at.get("page_link")}
    assert "axis=person.gender" in links["gender"]
    assert "axis=person.age%3Abands" in links["age"]


def test_people_are_called_people_where_others_have_contexts():
    for page in ("explore", "reliability"):
        at = apps.open_page(page, timeout=90, study="s")
        labels = [box.label for box in at.multiselect]
        assert "Only person" in labels
        assert "Only context" not in labels
    assert "person" in labelled(at.multiselect, "Separately for").options
    at = apps.open_page("answers", study="s")
    assert "Person" in [box.label for box in at.multiselect]
    assert any("Person" in d.value.columns for d in at.dataframe)
    at = apps.open_page("reliability", timeout=90, study="s", analysis="generalizability")
    sources = table(at, "Source")["Source"].tolist()
    assert "Person" in sources
    assert not any("ontext" in source for source in sources)


def test_what_varies_is_offered_first_for_groups():
    at = apps.open_page("reliability", timeout=90, study="s", analysis="internal_consistency")
    offered = labelled(at.multiselect, "Separately for").options
    assert offered.index("person: gender") < offered.index("study")


def test_answers_are_listed_by_facts():
    address = {"person.gender": "female", "person.age:bands": "under 30"}
    at = apps.open_page("answers", study="s", **address)
    assert not at.warning
    chosen = {box.label: box.value for box in at.multiselect if box.value}
    assert chosen[plain("Person: gender")] == ["female"]
    assert chosen[plain("Person: age (bands)")] == ["under 30"]
    contexts = {str(row) for d in at.dataframe for row in d.value.to_numpy().ravel()}
    people = contexts & set(WORDS["id"])
    assert people
    assert people <= set(WORDS.loc[WOMEN_UNDER_30, "id"])


def test_the_import_page_says_the_bands():
    at = apps.open_page("import_export", study="s")
    (said,) = [c.value for c in at.caption if c.value.startswith("Bands of age")]
    assert "30 to 44" in said.replace("\\", "")

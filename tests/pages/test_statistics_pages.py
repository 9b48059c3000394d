"""The pages of statistics: empty, filled, filtered, with an imported and a damaged study."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import streamlit

from core import export
from core.domain.results import Column, ResultTable
from core.domain.tables import to_read
from core.errors import NotEnoughData
from core.workflow import background
from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses, computing, papers
from pages.shared import analysis_page, results
from pages.shared.widgets import plain
from tests.pages import apps
from tests.pages.apps import fine, open_tab, tab_labels
from tests.workflow.studies import freeze, simulated

NAMES = [analysis.name for analysis in analyses.all_analyses()]
WITH_CHARTS = (
    "bias", "consistency_summary", "efa", "generalizability", "graded_response",
    "internal_consistency", "invalid_answers", "item_map", "item_statistics", "multitrait_matrix",
    "option_distribution", "reliability", "score_distribution", "template_pilot",
    "unexpected_outputs",
    "validation_report",
)  # fmt: skip
# These need more than this study has: rows than items, two levels of some factor, or pairs.
ASK_FOR_MORE = (
    "annotator_agreement", "bias_shift", "cfa", "cfa_check", "cfa_comparison", "dif",
    "form_agreement",
    "group_comparison", "invariance", "loading_congruence", "norm_comparison", "odds_ratios",
    "preference",
    "random_consistency", "rater_agreement", "referential_consistency", "score_correlations",
    "story_validity",
)  # fmt: skip
NO_SENSE_OF_A_SCALE = (
    "form_agreement", "instrument_rates", "stance_reliability", "word_association", "worldview",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_leftovers(monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One database with 600 answers for the tests that only read."""
    found = open_workspace(tmp_path_factory.mktemp("statistics") / "shared.duckdb")
    freeze(found, simulated(refusal_rate=0.05, seed=2), n_personas=30)
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    yield found
    found.close()


@pytest.fixture
def collected(shared, monkeypatch):
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    return shared


def raw_page(**parameters):
    name = parameters.get("analysis", "")
    topic = analyses.by_name(name).topic if name in NAMES else "item_statistics"
    return apps.run_page(topic, timeout=90, **parameters)


def open_page(**parameters):
    return fine(raw_page(**parameters))


def texts(at):
    shown = [*at.markdown, *at.caption, *at.info, *at.warning, *at.error]
    tooltips = [part.proto.help for part in [*at.markdown, *at.caption]]
    said = "\n".join([*(part.value for part in shown), *tooltips])
    return said.replace("\u00a0", " ")  # between the parts of an estimate


def first_table(at, column="Item"):
    return next(d.value for d in at.dataframe if column in d.value.columns)


def test_an_empty_database_says_what_to_do(workspace):
    assert "There is no study yet" in texts(open_page())


def test_a_study_without_answers_leads_to_collect(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = open_page(study="study")
    assert "no answers yet" in texts(at)
    assert "Go to Collect" in [link.label for link in at.get("page_link")]


def analyzed(workspace, name):
    try:
        options = analyses.saved_options(workspace, "study", analyses.by_name(name))
        return analyses.run(workspace, name, ["study"], options, {})
    except NotEnoughData as error:
        return error


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_shows_n_missing_and_its_tables(collected, name):
    at = open_page(study="study", analysis=name)
    result = analyzed(collected, name)
    assert not at.error
    if [button for button in at.button if button.key == "compute_anyway"]:
        assert name in NO_SENSE_OF_A_SCALE
        at = fine(at.button(key="compute_anyway").click().run())
    said = texts(at)
    if isinstance(result, NotEnoughData):
        assert name in ASK_FOR_MORE
        assert result.problem in said.replace("\\", "")
        return
    noun = analyses.by_name(name).needs.noun.capitalize()
    assert f"{noun} used **{result.n_used:,}**" in said
    planned = result.n_used + result.n_left_out + result.n_missing
    assert planned == 600
    share = f"{result.n_missing / planned:.1%}"
    assert f"missing **{result.n_missing:,}** ({share} of {planned:,})" in said
    left_out = f"left out by the analysis **{result.n_left_out:,}**"
    assert (left_out in said) == (result.n_left_out > 0)
    assert "Simulated" in said
    assert at.query_params["analysis"] == name
    for _, sentence, _ in analyses.by_name(name).answer(result):
        assert plain(sentence) in said
    shown = [table for table in result.tables if len(table.frame)]
    titles, downloads = [], []
    for label in tab_labels(at):
        at = open_tab(at, name, label)
        titles += [part.value for part in at.markdown]
        downloads += [button.proto.label for button in at.get("download_button")]
    assert {f"**{plain(table.title)}**" for table in shown} <= set(titles)
    assert downloads.count("CSV") == len(shown)
    assert "All tables (ZIP)" in downloads


def test_the_numbers_on_the_page_are_those_of_the_analysis(collected):
    shown = first_table(open_page(study="study", analysis="item_statistics"))
    table, _ = to_read(analyses.run(collected, "item_statistics", ["study"], {}, {}).tables[0])
    assert "Item: wording" in shown.columns
    assert shown.shape == (len(table.frame), len(table.columns) + 1)
    assert shown.iloc[:, -1].tolist() == table.frame.iloc[:, -1].tolist()


def test_charts_have_alt_text_and_their_data_in_a_table(collected):
    at = open_page(study="study", analysis="option_distribution")
    charts = at.get("vega_lite_chart")
    assert charts
    assert all(chart.proto.alt for chart in charts)
    assert [e.label for e in at.expander].count("Data of this chart") == len(charts)


def test_no_chart_has_two_texts_for_screen_readers(collected):
    for name in WITH_CHARTS:
        charts = open_page(study="study", analysis=name).get("vega_lite_chart")
        assert charts
        assert not any("description" in json.loads(chart.proto.spec) for chart in charts)


def test_no_table_shows_a_negative_zero():
    frame = pd.DataFrame({"r": [-0.004, -0.006, 0.004, float("nan")], "n": [1, 2, 3, 4]})
    columns = (Column("r", "r", "correlation"), Column("n", "n", "count"))
    shown = export.display_frame(ResultTable("t", "T", frame, columns))
    assert [f"{value:.2f}" for value in shown["r"]] == ["0.00", "-0.01", "0.00", "nan"]
    assert frame["r"][0] == -0.004


def test_no_number_is_shown_like_the_bound_that_judges_it_otherwise():
    """RMSEA .0531 is above .05, CFI .8996 below .90, and p = .0496 below .05."""
    columns = (
        Column("rmsea", "RMSEA", "correlation", bounds=(0.05, 0.06)),
        Column("cfi", "CFI", "correlation", bounds=(0.9, 0.95)),
        Column("r", "r", "correlation"),
        Column("p", "p", "p"),
    )
    frame = pd.DataFrame(
        {"rmsea": [0.0531, 0.0249], "cfi": [0.8996, np.nan], "r": 0.0531, "p": [0.0496, 0.3]}
    )
    shown = ResultTable("t", "T", frame, columns)
    rounded = export.display_frame(shown)
    assert rounded["rmsea"].tolist() == [0.053, 0.025]
    assert (rounded["cfi"][0], rounded["r"][0], rounded["p"][0]) == (0.8996, 0.05, 0.0496)
    formats = [results._format(column, frame) for column in columns]
    assert formats == ["%.3f", "%.4f", "%.2f", "%.4f"]


def test_a_small_p_is_never_shown_as_nothing():
    frame = pd.DataFrame({"p": [1e-9, 0.0012, float("nan")], "t": [2.5, 1 / 3, float("nan")]})
    columns = (Column("p", "p, two-sided", "p"), Column("t", "t"))
    shown = results.titled(ResultTable("t", "T", frame, columns))
    shown._compute()
    cells = shown._translate(False, False)["body"]
    texts = [[cell["display_value"] for cell in row if cell["type"] == "td"] for row in cells]
    assert texts == [["< .001", "2.50"], ["0.001", "0.33"], ["", ""]]
    assert shown.data["p, two-sided"].tolist()[:2] == [1e-9, 0.0012]  # sorted as numbers


def test_a_table_without_a_small_p_and_a_large_one_stay_plain():
    columns = (Column("p", "p", "p"),)
    for values in ([0.001, 0.5], [1e-9] * 20_001):
        table = ResultTable("t", "T", pd.DataFrame({"p": values}), columns)
        assert isinstance(results.titled(table), pd.DataFrame)
        assert results.small_p_columns(table) == []


def test_the_item_column_stays_in_view(collected):
    at = open_page(study="study", analysis="item_statistics")
    shown = next(d for d in at.dataframe if "Item" in d.value.columns)
    assert json.loads(shown.proto.columns)["Item"]["pinned"] is True


def test_a_filter_leaves_only_the_chosen_items(collected):
    at = open_page(study="study", analysis="item_statistics")
    (items,) = [m for m in at.multiselect if m.label == "Only item"]
    chosen = ["nature_01", "nature_02", "nature_03"]
    at = fine(items.set_value(chosen).run())
    result = analyses.run(collected, "item_statistics", ["study"], {}, {"item": chosen})
    assert f"Scored answers used **{result.n_used:,}**" in texts(at)


def test_the_apa_view_prints_the_table_of_a_paper(collected):
    at = open_page(study="study", analysis="internal_consistency")
    (apa,) = [toggle for toggle in at.toggle if toggle.label == "APA style"]
    at = fine(apa.set_value(True).run())
    (printed,) = [html.proto.body for html in at.get("html") if "<table" in html.proto.body]
    result = analyses.run(collected, "internal_consistency", ["study"], {"by": ("respondent",)}, {})
    expected = papers.paper_table(result, result.tables[0], analyses.software_versions())
    assert papers.html_table(expected).strip() == printed.strip()
    assert "<i>Note.</i> Unit of analysis" in printed


def test_menus_make_the_files_of_tables_and_charts_when_asked(collected, monkeypatch):
    files = {}

    def note(_label, make, name, *, key):
        files[key] = (name, make)

    monkeypatch.setattr(results, "download_when_asked", note)
    fine(open_page(study="study", analysis="item_statistics"))
    names = [name for name, _ in files.values()]
    assert [n for n in names if "chart_1" in n] == [
        f"study-item_statistics-chart_1.{ending}" for ending in ("png", "svg", "vl.json")
    ]
    assert [n for n in names if n.startswith("study-items")] == [
        f"study-items.{ending}" for ending in ("docx", "html", "tex")
    ]
    page = files["paper:items:html"][1]().decode()
    assert "<b>Table 1</b>" in page
    assert page.count("<table") == 1
    picture = json.loads(files["picture:chart:item_statistics:0:vl.json"][1]())
    assert picture["background"] == "#ffffff"


def test_half_a_study_says_that_numbers_will_change(workspace):
    record = freeze(workspace, simulated(), n_personas=10)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    with workspace.database.transaction() as cursor:
        cursor.execute(
            "delete from response where trial_id in"
            " (select trial_id from trial where study_id = ? and ordinal > 100)",
            [record.study_id],
        )
    at = open_page(study="study")
    assert "100 of 200 planned replies have arrived" in texts(at).replace("\\", "")


def test_an_imported_study_is_analysed_too(workspace):
    rows = "".join(f"q{i},{(p * i) % 5 + 1},m,p{p}\n" for p in range(12) for i in (1, 2, 3))
    imports.import_tidy(workspace, "old.csv", f"item,answer,model,context\n{rows}".encode())
    at = open_page(study="old")
    assert first_table(at)["Item"].tolist() == ["q1", "q2", "q3"]
    assert "Scored answers used **36**" in texts(at)
    assert "does not say which of them are reverse-keyed" in texts(at).replace("\\", "")
    assert "after reverse-keying" not in texts(at)
    links = {link.label: link.proto.query_string for link in at.get("page_link")}
    assert links["Attach a bank"] == "study=old"


def test_too_few_answers_are_said_in_words(workspace):
    imports.import_tidy(workspace, "one.csv", b"item,answer\nq1,1\n")
    for name in NAMES:
        at = open_page(study="one", analysis=name)
        assert not at.error
        greyed = [one for one in at.main.get("page_link") if "Sample studies" in one.label]
        assert greyed or at.dataframe or "norms" in texts(at) or "annotators" in texts(at)


def test_an_unknown_analysis_in_the_address_shows_the_first(collected):
    assert open_page(study="study", analysis="no_such").query_params["analysis"] in NAMES


def test_an_unknown_study_in_the_address_shows_one_there_is(collected):
    assert open_page(study="nothing").query_params["study"] == "study"


def test_a_damaged_study_leaves_the_page_standing(workspace):
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set option = 'no such option'")
        cursor.execute("delete from answer_option")
    at = raw_page(study="study")
    assert not at.exception
    assert at.title[0].value == "Item statistics"


def test_every_topic_has_a_page_and_every_page_an_empty_state(workspace):
    for topic in {analysis.topic for analysis in analyses.all_analyses()}:
        at = apps.open_page(topic)
        assert "There is no study yet" in texts(at)


def test_what_was_chosen_is_there_after_a_reload_and_for_this_study_only(collected):
    at = open_page(study="study", analysis="item_statistics")
    (level,) = [n for n in at.number_input if n.label == "Confidence level"]
    fine(level.set_value(0.8).run())
    again = open_page(study="study", analysis="item_statistics")
    (level,) = [n for n in again.number_input if n.label == "Confidence level"]
    assert level.value == 0.8
    kept = analyses.saved_options(collected, "other", analyses.by_name("item_statistics"))
    assert kept["ci_level"] == 0.95
    fine(level.set_value(0.95).run())


def test_a_slow_analysis_shows_how_far_it_is_and_can_be_cancelled(collected, monkeypatch):
    monkeypatch.setattr(analysis_page, "WAIT_S", 0.05)
    held = background.Computation("item_statistics")
    held.state, held.done, held.total, held.unit = "running", 3, 12, "groups"
    monkeypatch.setattr(computing, "computation_of", lambda *_: held)
    at = open_page(study="study")
    assert not at.dataframe
    shown = [bar.proto.text for bar in at.get("progress")]
    assert shown == ["Computing: 3 of 12 groups done ..."]
    (cancel,) = [button for button in at.button if button.label == "Cancel"]
    cancel.click().run()
    assert held._stop.is_set()
    held.state = "cancelled"
    held._ended.set()
    at = open_page(study="study")
    assert "The computation is canceled. No result is saved." in texts(at)
    assert "Compute again" in [button.label for button in at.button]


def test_another_option_cancels_what_the_last_one_still_computes(collected, monkeypatch):
    monkeypatch.setattr(analysis_page, "WAIT_S", 0.05)
    begun = {}

    def computation_of(_workspace, request):
        level = request.options["ci_level"]
        return begun.setdefault(level, background.Computation("item_statistics"))

    monkeypatch.setattr(computing, "computation_of", computation_of)
    at = open_page(study="study")
    (level,) = [n for n in at.number_input if n.label == "Confidence level"]
    level.set_value(0.8).run()
    assert {one: own.state for one, own in begun.items()} == {0.95: "cancelled", 0.8: "waiting"}


def test_the_result_before_the_last_change_stands_in_grey_until_the_new_one_is_there(
    collected, monkeypatch
):
    begin = computing.computation_of
    held = background.Computation("item_statistics")
    held.state = "running"

    def computation_of(workspace, request):
        return held if request.options["ci_level"] == 0.7 else begin(workspace, request)

    monkeypatch.setattr(computing, "computation_of", computation_of)
    at = open_page(study="study")
    before = at.dataframe[0].value
    assert not [box for box in texts(at).splitlines() if "in grey" in box]
    monkeypatch.setattr(analysis_page, "WAIT_S", 0.05)
    (level,) = [n for n in at.number_input if n.label == "Confidence level"]
    at = level.set_value(0.7).run()
    assert [bar.proto.text for bar in at.get("progress")] == ["Computing ..."]
    assert "in grey: the result before the last change" in texts(at)
    pd.testing.assert_frame_equal(at.dataframe[0].value, before)
    held.state = "cancelled"
    held._ended.set()
    assert "in grey" not in texts(at.run())
    monkeypatch.setattr(
        computing,
        "computation_of",
        lambda workspace, request: begin(
            workspace, replace(request, options={**request.options, "ci_level": 0.7})
        ),
    )
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    at = fine(at.run())
    assert "in grey" not in texts(at)
    assert not at.dataframe[0].value.equals(before)
    monkeypatch.undo()
    (level,) = [n for n in at.number_input if n.label == "Confidence level"]
    fine(level.set_value(0.95).run())


def test_the_role_of_a_factor_is_shown_and_chosen_for_all_pages(workspace):
    freeze(workspace, simulated(), n_personas=6, repetitions=2)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)

    def role_of_repetitions(at):
        (role,) = [one for one in at.selectbox if one.label == "Repetitions: 2"]
        return role

    at = open_page(study="study")
    assert "Scored answers used **120**" in texts(at)
    roles = "Averaged: repetitions (2). Each a row: contexts (6)."
    assert roles in texts(at).replace("\\", "")
    assert "Scores are averaged over 2 repetitions first" in texts(at)
    at = fine(role_of_repetitions(at).set_value("rows").run())
    assert "Scored answers used **240**" in texts(at)
    elsewhere = apps.open_page("reliability", study="study")
    assert role_of_repetitions(elsewhere).value == "rows"
    assert "mean over 2 repetitions" not in texts(elsewhere)
    at = fine(role_of_repetitions(elsewhere).set_value("apart").run())
    (control_of_groups,) = [one for one in at.multiselect if one.label == "Separately for"]
    assert control_of_groups.value == ["respondent", "repetition"]
    at = fine(role_of_repetitions(at).set_value("").run())
    assert "Scores are averaged over 2 repetitions first" in texts(at)
    assert analyses.saved_roles(workspace, "study") == {}


@pytest.mark.parametrize(("characters", "lines"), [(20, None), (76, 2), (130, 3), (1000, None)])
def test_a_verdict_of_a_few_lines_is_shown_in_full(characters, lines):
    """Lines of 45 characters, 21 pixels each, and one to spare; much longer texts stay in one."""
    frame = pd.DataFrame({"verdict": ["v" * characters]})
    shown = results.row_height(ResultTable("t", "T", frame, (Column("verdict", "Verdict"),)))
    assert shown == (None if lines is None else 14 + 21 * (lines + 1))


def test_a_factor_that_is_compared_is_not_offered_for_groups_and_comes_back(workspace):
    catalog.save(workspace, simulated("Second"))
    freeze(workspace, simulated(), n_personas=6, languages=("en", "de"), also=("Second",))
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)

    def groups(at):
        (control,) = [one for one in at.multiselect if one.label == "Separately for"]
        return control

    def compared(at):
        (control,) = [one for one in at.selectbox if one.label == "Compare"]
        return control

    at = apps.open_page("validity", timeout=90, study="study", analysis="group_comparison")
    at = fine(compared(at).set_value("language").run())
    assert groups(at).value == ["respondent"]
    assert "language" not in groups(at).options
    at = fine(compared(at).set_value("respondent").run())
    assert "respondent" not in groups(at).value
    saved = analyses.saved_options(workspace, "study", analyses.by_name("group_comparison"))
    assert "respondent" in saved["by"]


def test_languages_are_side_by_side_until_the_user_takes_them_off(workspace):
    freeze(workspace, simulated(), n_personas=6, languages=("en", "de"))
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)

    def side_by_side(at):
        (control,) = [one for one in at.multiselect if one.label == "Separately for"]
        return control

    at = open_page(study="study", analysis="internal_consistency")
    assert side_by_side(at).value == ["respondent", "language"]
    assert set(first_table(at, "Language")["Language"]) == {"en", "de"}
    assert "pooled over" not in texts(at)
    at = at.multiselect("where:study:language").set_value(["de"]).run()
    assert side_by_side(fine(at)).value == ["respondent"]
    at = at.multiselect("where:study:language").set_value([]).run()
    assert side_by_side(fine(at)).value == ["respondent", "language"]
    at = side_by_side(at).set_value(["respondent"]).run()
    assert "pooled over 2 languages" in texts(fine(at))
    at = open_page(study="study", analysis="internal_consistency")
    assert side_by_side(at).value == ["respondent"]


def test_each_criterion_without_a_coefficient_leads_to_what_would_collect_it(workspace):
    freeze(workspace, simulated(), n_personas=25)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    at = open_page(study="study", analysis="validation_report")
    links = {link.proto.label: link.proto for link in at.get("page_link")}
    asked = links["Option order"]
    assert asked.page == "design"
    assert asked.query_string == "prepare=study&criterion=option+order"
    assert "options in random order" in asked.help
    assert links["Alternate form"].page == links["Convergent"].page == "banks"
    assert "no other form of all items" in plain(links["Alternate form"].help.replace("\\", ""))
    assert "Internal consistency" not in links

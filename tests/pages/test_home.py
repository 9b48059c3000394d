"""The Home page: empty, after the sample study, with an imported study."""

from __future__ import annotations

import time

import pytest
from streamlit import get_option
from streamlit.testing.v1 import AppTest

from core import progress
from core.errors import DesignError, UserError
from core.files import parts
from core.workflow import background, next_steps, preloading, shelf, tour
from core.workflow.answers import imports
from core.workflow.runs import collector, control
from core.workflow.statistics import analyses
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import finished, freeze, service, simulated


def open_page():
    return apps.open_page("")


def texts(at):
    shown = [*at.markdown, *at.caption, *at.info, *at.warning, *at.success]
    return "\n".join(part.value for part in shown)


def figures(at):
    return {metric.label: metric.value for metric in at.metric}


def links(at):
    """The links of the page by their labels, which are bold where they are names."""
    shown = at.main.get("page_link")
    return {link.label.strip("*").replace("\\", ""): link.proto for link in shown}


def test_an_empty_database_offers_the_sample_study_and_every_step(workspace):
    at = open_page()
    assert at.title[0].value == "Inkblot"
    assert figures(at) == {
        "Banks": "14",
        "Respondents": "2",
        "Studies": "0",
        "Replies": "0",
        "Usable answers": "0 of 0",
    }
    assert "There is no study yet" in texts(at)
    steps = [label for label in links(at) if label[0].isdigit()]
    assert f"follow the {len(steps)} steps above" in texts(at)
    assert "not models of language" in at.button(key="sample_simulated").help
    assert {
        "1. Banks",
        "2. Respondents",
        "3. Design",
        "4. Collect",
        "5. Answers",
        "6. Item statistics",
    } <= set(links(at))
    assert not at.button(key="sample_simulated").disabled


def test_one_button_runs_the_sample_study_and_leads_to_its_answers(workspace):
    at = fine(open_page().button(key="sample_simulated").click().run())
    deadline = time.monotonic() + 60
    while control.progress(workspace, "sample_simulated").state != "finished":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    at = fine(at.run())
    assert "The sample study is done" in texts(at)
    assert "500 of 500 replied, 491 of 500 usable, finished" in texts(at).replace("\\", "")
    assert figures(at)["Replies"] == "500"
    assert "have no reply yet" not in texts(at)
    assert links(at)["Read the item statistics"].query_string == "study=sample_simulated"
    assert links(at)["sample_simulated"].page == "answers"


def test_studies_beyond_the_newest_six_are_listed_when_opened(workspace):
    for number in range(8):
        freeze(workspace, simulated(), study=f"s{number}", n_personas=1)
    at = open_page()
    assert "s2" in links(at)
    assert "s1" not in links(at)
    assert at.expander[0].label == "2 older studies"
    at.session_state["older_studies"] = True
    assert {"s7", "s1", "s0"} <= set(links(fine(at.run())))


def test_a_paused_study_says_why_and_leads_to_collect(workspace, monkeypatch):
    monkeypatch.setattr(collector, "RETRY_POLICY", collector.RetryPolicy(base_s=0.001))
    freeze(workspace, service("http://127.0.0.1:9"), study="unreachable", n_personas=1)
    control.start(workspace, "unreachable")
    control.wait(workspace, "unreachable", every_s=0.05)
    at = open_page()
    assert "No connection to 127" in texts(at)
    assert links(at)["Continue on Collect"].query_string == "study=unreachable"


def test_pressing_the_sample_button_twice_makes_one_study(workspace):
    at = fine(open_page().button(key="sample_simulated").click().run())
    at = fine(at.button(key="sample_simulated").click().run())
    assert control.wait(workspace, "sample_simulated", every_s=0.05).n_done == 500
    assert figures(fine(at.run()))["Studies"] == "1"


def test_an_import_that_is_not_finished_is_marked(workspace, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 100)

    def stops(done, total, unit):
        if (unit, done) == ("rows saved", 10):
            raise progress.Cancelled

    rows = [f"q{item},p{person},1" for person in range(9) for item in range(4)]
    data = "\n".join(["item,context,answer", *rows]).encode()
    with pytest.raises(progress.Cancelled), progress.watch(stops):
        imports.import_tidy(workspace, "big.csv", data)
    at = open_page()
    assert "is not finished: 10 of 36 rows are saved." in texts(at).replace("\\", "")
    assert links(at)["Finish the import"].query_string == "study=big"
    assert "Attach a bank" not in links(at)
    imports.import_tidy(workspace, "big.csv", data)
    at = open_page()
    assert "is not finished" not in texts(at)
    assert "Attach a bank" in links(at)
    assert "Finish the import" not in links(at)


def test_planned_and_imported_studies_are_listed_newest_first(workspace):
    freeze(workspace, simulated(), study="planned", n_personas=1)
    imports.import_tidy(workspace, "old.csv", b"item,answer\nq1,1\nq2,2\n")
    at = open_page()
    assert figures(at)["Studies"] == "2"
    assert figures(at)["Replies"] == "2"
    shown = texts(at).replace("\\", "")
    assert "2 answers, imported" in shown
    assert "0 of 20 replied, 0 of 0 usable, not started" in shown
    labels = list(links(at))
    assert labels[labels.index("old") :] == [
        "old",
        "Attach a bank",
        "Read the item statistics",
        "planned",
        "Start it on Collect",
        *(question.words for question in next_steps.QUESTIONS),
    ]
    assert "20 planned calls have no reply yet" in texts(at)


def test_a_hostile_study_name_is_no_markup(workspace):
    name = "![x](http://evil.invalid/a.png) :red[x]"
    freeze(workspace, simulated(), study=name, n_personas=1)
    labels = " ".join(link.label for link in open_page().get("page_link"))
    assert "evil" in labels
    assert "![x](" not in labels
    assert ":red[" not in labels


@pytest.mark.parametrize("place", ["study", "respondent_shelf"])
def test_a_damaged_database_leaves_the_page_standing(workspace, place):
    freeze(workspace, simulated(), n_personas=1)
    sql = {
        "study": "update study set design = '{broken'",
        "respondent_shelf": "update respondent set body = '{broken'",
    }
    with workspace.database.transaction() as cursor:
        cursor.execute(sql[place])
    at = apps.run_page("")
    assert not at.exception
    assert "fault in Inkblot" in at.error[0].value
    assert "1. Banks" in links(at)


def test_selected_choices_are_lettered_in_the_color_of_links(workspace):
    def page():
        from pages.shared.widgets import readable_choices

        readable_choices()

    at = fine(AppTest.from_function(page, default_timeout=30).run())
    (style,) = [part.proto.body for part in at.html]
    assert "[data-selected]" in style
    colors = [get_option(f"theme.{theme}.linkColor") for theme in ("light", "dark")]
    assert f"color:light-dark({', '.join(colors)})" in style


def test_headings_skip_no_level():
    """Below a title of the first level stand headings of the second; st.subheader is the third."""
    pages = sorted((apps.APP.parent / "pages").rglob("*.py"))
    assert len(pages) > 40
    assert [p.name for p in pages if "st.subheader(" in p.read_text(encoding="utf-8")] == []


def answered(workspace, study="study"):
    freeze(workspace, simulated(), study=study, n_personas=1)
    control.start(workspace, study)
    control.wait(workspace, study, every_s=0.02)


def test_a_study_is_renamed_in_its_row_and_its_files_keep_the_first_name(workspace):
    answered(workspace)
    at = open_page()
    fine(at.menu_button(key="more:study").click("rename").run())
    assert at.text_input(key="title:study").value == "study"
    at.text_input(key="title:study").set_value("<b>First</b> try")
    fine(next(b for b in at.button if b.label == "Rename").click().run())
    assert "<b>First</b> try" in links(at)
    assert "In files: study" in texts(at)
    assert "title:study" not in {field.key for field in at.text_input}
    fine(at.menu_button(key="more:study").click("rename").run())
    at.text_input(key="title:study").set_value("")
    fine(next(b for b in at.button if b.label == "Cancel").click().run())
    assert "<b>First</b> try" in links(at)
    answers = fine(apps.open_page("answers", study="study"))
    assert answers.selectbox[0].options == ["<b>First</b> try"]


def test_a_name_that_is_taken_is_refused_in_its_row(workspace):
    answered(workspace)
    freeze(workspace, simulated(), study="second", n_personas=1)
    at = open_page()
    fine(at.menu_button(key="more:study").click("rename").run())
    at.text_input(key="title:study").set_value("second")
    next(b for b in at.button if b.label == "Rename").click().run()
    assert "There is a study called 'second' already" in at.error[0].value
    assert at.text_input(key="title:study").value == "second"
    assert "study" in links(at)


def test_a_deleted_study_is_gone_at_once_and_undo_brings_it_back(workspace):
    answered(workspace)
    at = open_page()
    fine(at.menu_button(key="more:study").click("delete").run())
    assert "study" not in links(at)
    assert "study is deleted." in texts(at)
    assert figures(at)["Studies"] == "0"
    assert "There is no study yet" in texts(fine(apps.open_page("item_statistics")))
    fine(at.button(key="home_undo").click().run())
    assert "study" in links(at)
    assert "deleted" not in texts(at)


def test_a_page_without_a_study_loads_the_sample_studies_through_home(workspace):
    at = fine(apps.open_page("item_statistics"))
    (load,) = [button for button in at.button if button.label == "Load the sample studies"]
    at = fine(load.click().run())
    loading = background.known(f"tour:{workspace.process}")
    assert at.session_state["tour"] is loading
    loading.cancel()
    assert loading.wait(60)


def test_an_archived_study_is_folded_and_brought_back(workspace):
    answered(workspace)
    answered(workspace, "second")
    at = open_page()
    fine(at.menu_button(key="more:study").click("archive").run())
    later = open_page()
    fold = next(e for e in later.expander if e.label == "Archived and deleted: 1 study")
    assert "back:study" not in {button.key for button in later.button}
    later.session_state["studies_put_away"] = True
    fine(later.run())
    assert fold.label
    assert "study" not in links(later)
    opened = fine(apps.open_page("answers", study="study"))
    assert "The study study was archived" in opened.warning[0].value
    assert opened.selectbox[0].options == ["second"]
    fine(later.button(key="back:study").click().run())
    assert {"study", "second"} <= set(links(later))


def test_a_running_study_is_not_deleted_and_the_page_says_why(workspace, monkeypatch):
    answered(workspace)

    def refused(*_):
        raise DesignError("The study 'study' is being asked at this moment.", "Pause it first.")

    monkeypatch.setattr("core.workflow.shelf.move", refused)
    at = open_page()
    at.menu_button(key="more:study").click("delete").run()
    assert "is being asked" in at.error[0].value
    assert "study" in links(at)


def test_the_design_of_a_study_becomes_a_new_one_and_an_imported_study_has_none(workspace):
    answered(workspace)
    imports.import_tidy(workspace, "a.csv", b"item,answer\nq1,yes\nq2,no\n", study="people")
    at = open_page()
    assert len(at.menu_button(key="more:study").options) == 4
    assert len(at.menu_button(key="more:people").options) == 3
    design = fine(apps.open_page("design", copy="study"))
    assert design.text_input(key="design:study").value == "study_2"


def test_questions_in_plain_words_lead_to_the_analysis_that_answers_them(workspace):
    assert "What would you like to know?" not in {header.value for header in open_page().header}
    answered(workspace)
    at = open_page()
    assert "What would you like to know?" in {header.value for header in at.header}
    found = links(at)
    for question in next_steps.QUESTIONS:
        assert analyses.by_name(question.analysis).topic == question.page
        assert f"analysis={question.analysis}" in found[question.words].query_string
    asked = fine(apps.open_page("reliability", study="study", analysis="generalizability"))
    assert "How much of the differences between answers" in texts(asked)


def test_counts_on_home_are_those_of_the_studies_in_the_list(workspace):
    answered(workspace)
    freeze(workspace, simulated(), study="waiting", n_personas=1)
    for study in ("study", "waiting"):
        shelf.move(workspace, study, "deleted")
    at = open_page()
    assert figures(at)["Replies"] == "0"
    assert "planned calls" not in texts(at)


def test_nothing_is_renamed_any_more_after_undo(workspace):
    answered(workspace)
    at = open_page()
    fine(at.menu_button(key="more:study").click("rename").run())
    fine(at.menu_button(key="more:study").click("delete").run())
    fine(at.button(key="home_undo").click().run())
    assert "title:study" not in {field.key for field in at.text_input}


def test_a_renamed_study_has_its_new_name_in_every_list(workspace):
    answered(workspace)
    answered(workspace, "second")
    shelf.rename(workspace, "study", "Honesty")
    collect = fine(apps.open_page("collect"))
    assert "Honesty" in collect.dataframe[-1].value["Study"].tolist()
    design = fine(apps.open_page("design"))
    assert "Honesty" in design.selectbox(key="design_frozen_chosen").options
    statistics = fine(apps.open_page("item_statistics", study="second"))
    together = next(m for m in statistics.multiselect if m.label.startswith("Add the answers"))
    assert together.options == ["Honesty"]


def test_a_design_that_cannot_be_used_leaves_the_form_and_says_so(workspace, monkeypatch):
    answered(workspace)

    def refused(*_):
        raise DesignError("The bank is not in this database.", "Import it.")

    monkeypatch.setattr("core.workflow.designs.forms.from_design", refused)
    at = apps.run_page("design", copy="study")
    assert "The bank is not in this database" in at.error[0].value
    assert not [one.value for one in at.info if "are those of the study" in one.value]


def test_the_guide_waits_until_the_sample_studies_are_there(workspace, monkeypatch):
    at = fine(apps.open_page("", guide="1"))
    assert "Tour, step 1 of 10" in texts(at)
    assert "The tour shows the sample studies, which are not all here." in texts(at)
    (onward,) = [link for link in at.main.get("page_link") if link.label == "Next"]
    assert onward.proto.disabled

    def refused(_workspace):
        raise UserError("No room is left.", "Make some.")

    monkeypatch.setattr(tour, "load", refused)
    at.button(key="guide_load").click().run()
    tour.loading(workspace).wait(30)
    at = at.run()
    assert "No room is left" in " ".join(error.value for error in at.error)
    assert at.button(key="guide_load")
    at = fine(at.button(key="guide_end").click().run())
    assert "Tour, step" not in texts(at)
    assert "guide" not in at.query_params
    assert "Tour, step" not in texts(fine(apps.open_page("", guide="11")))
    assert "Tour, step" not in texts(fine(apps.open_page("", guide="2")))  # of another page


def test_a_question_leads_to_a_study_that_has_what_it_needs(workspace, monkeypatch):
    monkeypatch.setattr(preloading, "done", lambda: True)
    for name, languages in (("both", ("en", "de")), ("one", ("en",))):
        freeze(workspace, simulated(), study=name, n_personas=3, languages=languages)
        control.start(workspace, name)
        finished(workspace, name)
    at = fine(apps.open_page("", study="one"))
    found = links(at)
    by_language = "Do the answers depend on the language?"
    assert "study=both" in found[by_language].query_string
    assert "study=one" in found["Which items are weak?"].query_string
    # no study has it: the one looked at last, whose page says what is lacking
    assert "study=one" in found["Does it prefer one brand or party?"].query_string

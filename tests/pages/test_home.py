"""The Home page: empty, after the sample study, with an imported study."""

from __future__ import annotations

import time

import pytest
from streamlit import get_option
from streamlit.testing.v1 import AppTest

from core import progress
from core.files import parts
from core.workflow.answers import imports
from core.workflow.runs import collector, control
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import freeze, service, simulated


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

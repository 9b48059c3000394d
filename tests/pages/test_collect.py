"""The Collect page over a real database, simulated respondents and a real HTTP service."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import pytest

from core.store import runs
from core.workflow.answers import imports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import collector, control
from core.workflow.runs.expected_cost import expected_cost
from pages.collect.progress import changed, cost_words, duration_words
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.respondents.test_connection import refusing
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

open_page = partial(apps.open_page, "collect")


def texts(at):
    parts = [*at.markdown, *at.caption, *at.info, *at.warning, *at.error, *at.success, *at.html]
    return "\n".join(str(getattr(part, "value", "") or part.body) for part in parts)


def bar(at):
    return at.get("progress")[0].proto.text


def buttons(at):
    names = ("collect_start", "collect_pause", "collect_stop")
    return {at.button(key=n).label: not at.button(key=n).disabled for n in names}


def press(at, key):
    return fine(at.button(key=key).click().run())


def ended(workspace, study="study"):
    return control.wait(workspace, study, every_s=0.02)


@pytest.fixture
def server(monkeypatch):
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def test_an_empty_database_says_what_to_do(workspace):
    at = open_page()
    assert "There is no study yet" in texts(at)


def test_an_imported_study_cannot_be_started(workspace):

    imports.import_tidy(workspace, "x.csv", b"item,answer\nq1,1\nq2,2\n")
    assert "not imported ones" in texts(open_page(study="x"))


def test_a_study_not_started_says_what_it_will_ask(workspace):
    freeze(workspace, simulated(), n_personas=5)
    at = open_page(study="study")
    assert "asks one respondent (Simulated) **100 trials**, each an item put once, in" in texts(at)
    assert ":material/science: Simulated" in texts(at)
    assert buttons(at) == {"Start": True, "Pause": False, "Stop": False}
    assert "Not started" in bar(at)
    assert at.query_params["study"] == "study"


def test_start_runs_the_study_and_the_end_leads_to_answers_and_statistics(workspace):
    freeze(workspace, simulated(), n_personas=5)
    at = press(open_page(study="study"), "collect_start")
    assert ended(workspace).state == "finished"
    at = fine(at.run())
    assert "100 of 100 replied (100%)" in bar(at)
    assert "every planned call has a reply" in texts(at)
    links = {link.label: link.proto for link in at.get("page_link")}
    for label in ("Read the answers", "See item statistics"):
        assert "study=study" in links[label].query_string
    assert buttons(at) == {"Continue": False, "Pause": False, "Stop": False}
    figures = {metric.label: metric.value for metric in at.metric}
    assert figures["Calls made"] == "100"
    assert figures["Cost so far"] == r"\$0\.00"


def test_a_running_study_can_be_paused_and_continued_to_the_end(workspace, server):
    server.latency_s = 0.05
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    at = press(open_page(study="study"), "collect_start")
    while control.progress(workspace, "study").state != "running":
        time.sleep(0.02)
    at = fine(at.run())
    assert buttons(at) == {"Continue": False, "Pause": True, "Stop": True}
    at = press(at, "collect_pause")
    assert ended(workspace).state == "paused"
    at = fine(at.run())
    assert "Press Continue to make the other calls" in texts(at)
    assert buttons(at) == {"Continue": True, "Pause": False, "Stop": True}
    server.latency_s = 0.0
    press(at, "collect_start")
    assert ended(workspace).n_done == 200
    assert len(server.requests) == 200


def test_pressing_start_in_two_tabs_makes_one_run_and_tells_the_second(workspace, server):
    server.latency_s = 0.05
    freeze(workspace, service(server.base_url, at_once=2), n_personas=3)
    first, second = open_page(study="study"), open_page(study="study")
    press(first, "collect_start")
    second = press(second, "collect_start")
    assert "already running" in texts(second)
    assert ended(workspace).n_done == 60
    assert len(server.requests) == 60


def test_waiting_studies_show_their_place_in_the_queue(workspace, server):
    server.latency_s = 0.2
    freeze(workspace, service(server.base_url, at_once=1), study="first", n_personas=2)
    for name in ("second", "third"):
        freeze(workspace, simulated(), study=name, n_personas=1)
    for name in ("first", "second", "third"):
        press(open_page(study=name), "collect_start")
    while control.progress(workspace, "first").state != "running":
        time.sleep(0.02)
    at = open_page(study="third")
    assert "place 2" in bar(at)
    listed = at.dataframe[-1].value.set_index("Study")
    assert listed["Place in queue"].to_dict() == {"third": "2", "second": "1", "first": ""}
    assert listed.loc["first", "State"] == "running"
    at = press(at, "collect_stop")
    assert "Stopped" in bar(at)
    control.stop(workspace, "first")
    assert ended(workspace, "second").state == "finished"
    assert control.progress(workspace, "third").n_done == 0


def test_a_missing_key_is_asked_for_before_the_start_and_never_shown_again(workspace, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with FaultServer() as server:
        freeze(workspace, service(server.base_url), n_personas=1)
        at = open_page(study="study")
        assert "There is no key for 127\\.0\\.0\\.1" in texts(at)
        assert buttons(at)["Start"] is False
        (field,) = [f for f in at.text_input if "Key" in f.label]
        at = fine(field.set_value(server.key).run())
        assert buttons(at)["Start"] is True
        assert not catalog.has_key(workspace, server.base_url, KEY_VARIABLE)
        assert server.key not in repr(at.session_state._state.filtered_state)
        assert not [f for f in at.text_input if "Key" in f.label]
        press(at, "collect_start")
        assert ended(workspace).n_done == 20


def test_a_typed_key_serves_the_session_that_typed_it_and_the_runs_it_started(
    workspace, monkeypatch
):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with FaultServer(latency_s=0.02) as server:
        for study in ("first", "second"):
            freeze(workspace, service(server.base_url, at_once=1), study=study, n_personas=1)
        one = open_page(study="first")
        (field,) = [f for f in one.text_input if "Key" in f.label]
        one = fine(field.set_value(server.key).run())
        other = open_page(study="second")
        assert "There is no key for 127" in texts(other)
        assert buttons(other)["Start"] is False
        press(one, "collect_start")
        assert buttons(open_page(study="second"))["Start"] is False
        # Past the button as well: a start without a key of one's own sends none.
        other_workspace = workspace.with_keys(workspace.keys.for_session())
        assert control.start(other_workspace, "second")
        del one, field  # the session is gone; its run goes on
        assert ended(workspace, "first").n_done == 20
        assert ended(workspace, "second").state == "paused"
    keys = {seen.headers.get("Authorization") for seen in server.chats}
    assert keys == {f"Bearer {server.key}", None}
    assert collector._keys == {}


def test_a_refused_key_pauses_with_the_reason_and_the_next_step(workspace, server):
    server.script = lambda number, _: Step(status=401)
    freeze(workspace, service(server.base_url), n_personas=1)
    press(open_page(study="study"), "collect_start")
    assert ended(workspace).state == "paused"
    at = open_page(study="study")
    assert "the service refused the key" in texts(at)
    assert "401" in "".join(part.proto.body for part in at.html)
    assert "Go to Respondents" in [link.label for link in at.get("page_link")]
    failures = at.dataframe[0].value
    assert failures["What happened"].tolist() == ["The service refused the key"]
    assert failures["Calls"].sum() == len(server.requests)
    (field,) = [f for f in at.text_input if "Key" in f.label]
    at = fine(field.set_value("sk-typed-anew-123456").run())
    (field,) = [f for f in at.text_input if "Key" in f.label]
    assert field.value == ""


def test_calls_without_a_reply_are_no_success(workspace, server, monkeypatch):
    policy = collector.RetryPolicy(base_s=0.001, max_attempts=1)
    monkeypatch.setattr(collector, "RETRY_POLICY", policy)
    server.script = lambda number, _: Step(status=500) if number % 10 == 5 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    press(open_page(study="study"), "collect_start")
    done = ended(workspace)
    assert done.state == "finished"
    assert done.n_done < 20
    at = open_page(study="study")
    assert f"{20 - done.n_done} have no reply" in texts(at)
    assert buttons(at)["Continue"] is True


def test_an_interrupted_run_says_that_answers_are_kept_and_what_may_be_asked_again(workspace):
    record = freeze(workspace, simulated(), n_personas=1)
    runs.report_event(workspace.database, record.study_id, "running", "a process that is gone", {})
    at = open_page(study="study")
    assert "Interrupted" in bar(at)
    said = texts(at)
    assert "are kept" in said
    assert "made, and charged, a second time" in said
    press(at, "collect_start")
    assert ended(workspace).n_done == 20


def test_calls_without_an_answer_kept_are_shown_with_their_cost(workspace, server):
    person = service(server.base_url, price_in=1.0, price_out=2.0, max_tokens=50)
    record = freeze(workspace, person, n_personas=1)
    number = runs.report_event(workspace.database, record.study_id, "running", "a process gone", {})
    runs.save_sendings(workspace.database, record.study_id, number, [runs.Sending(1, 1, 0.25)] * 2)
    at = open_page(study="study")
    shown = {metric.label: metric.value.replace("\\", "") for metric in at.metric}
    assert (shown["Calls made"], shown["Cost so far"]) == ("2", "about $0.50")
    assert "2 calls were sent, no answer kept" in texts(at)
    assert "estimated cost of $0.5000" in texts(at).replace("\\", "")


def test_a_cost_cap_without_prices_is_refused_in_words_and_nothing_is_sent(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    at = open_page(study="study")
    at = fine(at.number_input[0].set_value(1.5).run())
    at = press(at, "collect_start")
    assert "prices of 'Service' are not known" in "".join(e.value for e in at.error)
    assert server.requests == []
    again = open_page(study="study")
    assert again.number_input[0].value == 1.5
    assert not again.error
    at = fine(again.number_input[0].set_value(None).run())
    press(at, "collect_start")
    assert ended(workspace).n_done == 20


def test_a_cost_cap_that_is_reached_pauses_the_run_and_says_so(workspace, server):
    person = service(server.base_url, price_in=1.0, price_out=2.0, max_tokens=50)
    freeze(workspace, person, n_personas=20)
    at = fine(open_page(study="study").number_input[0].set_value(0.01).run())
    press(at, "collect_start")
    assert ended(workspace).state == "paused"
    at = open_page(study="study")
    assert "cost cap of $0.01 is reached" in "".join(part.proto.body for part in at.html)
    assert any("cost cap $0.01" in r for r in at.dataframe[0].value.get("Remark", []))


def test_an_empty_cost_cap_says_the_highest_cost_and_no_run_is_paused_by_it(workspace, server):
    person = service(server.base_url, price_in=3.0, price_out=15.0, max_tokens=500)
    freeze(workspace, person, n_personas=2)
    at_most = expected_cost(workspace, "study").at_most
    at = open_page(study="study")
    assert at.number_input[0].value is None
    said = float(at.number_input[0].placeholder.rsplit(" ", 1)[1])
    assert at_most <= said < at_most + 0.011
    at = fine(at.number_input[0].set_value(said).run())
    press(at, "collect_start")
    assert ended(workspace).n_done == 40


def test_without_a_cost_the_cap_says_none(workspace):
    freeze(workspace, simulated(), n_personas=1)
    assert open_page(study="study").number_input[0].placeholder == "No cap"


def test_hostile_reasons_are_shown_as_text(workspace, server):
    evil = "![x](http://evil.invalid/a.png) <img src=x onerror=alert(1)>"
    server.script = lambda number, _: Step(status=401, body={"error": {"message": evil}})
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    press(open_page(study="study"), "collect_start")
    ended(workspace)
    at = open_page(study="study")
    assert "&lt;img src=x" in "".join(part.proto.body for part in at.html)
    assert "evil" not in "".join(str(m.value) for m in [*at.markdown, *at.warning])


def _progress(**changes):
    values = {
        "study": "s",
        "state": "running",
        "reason": "",
        "n_trials": 10,
        "n_done": 5,
        "n_attempts": 6,
        "failures": (),
        "tokens_in": 0,
        "tokens_out": 0,
        "cost": 1.234,
        "cost_unknown": 0,
        "cost_estimated": False,
        "rate": None,
        "seconds_left": None,
        "since": None,
    }
    return control.Progress(**values | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "$1.23"),
        ({"cost": 0.00012}, "$0.0001"),
        ({"cost": 0.0}, "$0.00"),
        ({"cost_estimated": True}, "about $1.23"),
        ({"cost_unknown": 6}, "unknown"),
        ({"cost_unknown": 2}, "$1.23 + unknown"),
    ],
)
def test_costs_say_what_is_unknown_or_estimated(changes, words):
    assert cost_words(_progress(**changes))[0] == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "less than a minute"),
        (60, "about 1 minute"),
        (200, "about 3 minutes"),
        (5000, "about 83 minutes"),
        (5400, "about 2 hours"),
        (260_000, "about 3 days"),
    ],
)
def test_time_left_is_said_in_words(seconds, words):
    assert duration_words(seconds) == words


def test_the_page_looks_often_during_a_run_and_seldom_else(workspace, server, monkeypatch):
    import streamlit

    polled = []
    original = streamlit.fragment

    def spy(*arguments, run_every=None, **named):
        polled.append(run_every)
        return original(*arguments, run_every=run_every, **named)

    monkeypatch.setattr(streamlit, "fragment", spy)
    server.latency_s = 0.1
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    freeze(workspace, simulated(), study="idle", n_personas=1)
    at = open_page(study="idle")
    assert polled[-1] == 5.0
    control.start(workspace, "study")
    fine(at.run())
    assert polled[-1] == 1.0
    control.stop(workspace, "study")
    ended(workspace)
    fine(at.run())
    assert polled[-1] == 5.0


def test_a_run_that_began_and_ended_between_two_looks_is_noticed(workspace):
    freeze(workspace, simulated(), n_personas=1)
    (before,) = control.list_runs(workspace)
    assert not changed(before, before)
    control.start(workspace, "study")
    ended(workspace)
    (after,) = control.list_runs(workspace)
    assert not after.under_way
    assert changed(before, after)
    running = replace(before, state="running")
    assert changed(before, running)
    assert not changed(running, replace(running, n_done=7))  # the bar moves, the page stays


def test_replies_are_called_replies_wherever_a_run_is_shown(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = open_page(study="study")
    assert "**20** have no reply yet" in texts(at)
    assert {"Replied", "Planned"} <= set(at.dataframe[-1].value.columns)
    control.start(workspace, "study")
    ended(workspace)
    at = open_page(study="study")
    assert "All have a reply" in texts(at)
    assert "answered" not in texts(at) + bar(at)


def test_replies_without_an_answer_are_not_called_answered_on_any_page(workspace, server):
    server.script = lambda *_: Step(content=None)
    freeze(workspace, service(server.base_url, at_once=1), n_personas=2)
    at = press(open_page(study="study"), "collect_start")
    paused = ended(workspace)
    assert (paused.state, paused.n_done) == ("paused", 20)
    at = fine(at.run())
    assert "20 of 40 replied (50%), 0 of 20 usable" in bar(at)
    assert "hardly a reply holds an answer that can be used" in texts(at)
    assert "20 empty" in "".join(part.proto.body for part in at.html)
    press(at, "collect_start")  # one click goes on
    assert (ended(workspace).state, len(server.chats)) == ("finished", 40)
    at = open_page(study="study")
    assert "none of the 40 replies holds a usable answer:** 40 no answer" in texts(at)
    states = at.dataframe[-1].value.iloc[0]
    assert [states[name] for name in ("Usable", "Asked", "Replied")] == [0, 40, 40]
    at = apps.open_page("")
    assert {m.label: m.value for m in at.metric}["Usable answers"] == "0 of 40"
    assert any("0 of 40 usable" in caption.value for caption in at.caption)
    for page in ("answers", "import_export"):
        assert "**0 of 40 usable**" in texts(apps.open_page(page, study="study"))


def test_a_broken_study_leaves_the_page_standing(workspace):
    freeze(workspace, simulated(), n_personas=1)
    with workspace.database.transaction() as cursor:
        cursor.execute("update respondent set body = '{}'")
        cursor.execute("delete from respondent_shelf")
    at = apps.run_page("collect", study="study")
    assert not at.exception
    assert at.title[0].value == "Collect"
    assert "fault in Inkblot" in at.error[0].value


def test_a_setting_that_the_service_refuses_is_left_out_on_the_page_and_the_run_goes_on(
    workspace, server
):
    server.script = refusing("temperature")
    record = freeze(workspace, service(server.base_url), n_personas=1)
    press(open_page(study="study"), "collect_start")
    assert ended(workspace).state == "paused"
    at = open_page(study="study")
    assert at.multiselect[0].value == ["temperature"]
    assert "If it does not accept a setting, leave out the setting above" in texts(at)
    assert "not supported with this model" in at.text_input[0].value
    at = press(at, "amendment_keep")
    assert "temperature left to the service. Press Continue to go on." in texts(at)
    press(at, "collect_start")
    assert ended(workspace).n_done == record.n_trials
    assert "Study 'study' was amended on" in "".join(text.value for text in open_page().text)
    assert studies.load(workspace, "study").plan_hash == record.plan_hash

"""Runs over a real database and a real HTTP service."""

from __future__ import annotations

import threading
import time

import pytest

from core.errors import CollectionError
from core.workflow import answers, banks, collection, collector, respondents, studies
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated


@pytest.fixture
def server(monkeypatch):
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def finished(workspace, study="study"):
    return collection.wait(workspace, study, every_s=0.02)


def test_every_planned_trial_is_asked_once_and_answered(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=10)
    assert collection.start(workspace, "study")
    progress = finished(workspace)
    assert (progress.state, progress.n_done, progress.n_trials) == ("finished", 200, 200)
    assert len(server.requests) == 200
    assert server.max_in_flight <= 8


def test_two_tabs_pressing_start_make_one_run(workspace, server):
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    barrier = threading.Barrier(12)
    started = []

    def press():
        barrier.wait()
        started.append(collection.start(workspace, "study"))

    tabs = [threading.Thread(target=press) for _ in range(12)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    names = [t.name for t in threading.enumerate() if t.name == "inkblot-collector"]
    assert len(names) <= 1
    assert started.count(True) == 1
    assert finished(workspace).n_done == 200
    assert len(server.requests) == 200


def test_a_paused_run_sends_nothing_more_and_continues_where_it_was(workspace, server):
    server.latency_s = 0.02
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    collection.start(workspace, "study")
    while collection.progress(workspace, "study").n_done < 5:
        time.sleep(0.02)
    collection.pause(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    sent = len(server.requests)
    assert progress.n_done == sent < 200
    time.sleep(0.3)
    assert len(server.requests) == sent
    collection.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert len(server.requests) == 200


def test_a_stopped_study_can_be_continued(workspace, server):
    server.latency_s = 0.02
    freeze(workspace, service(server.base_url, at_once=1), n_personas=3)
    collection.start(workspace, "study")
    time.sleep(0.4)
    collection.stop(workspace, "study")
    assert finished(workspace).state == "stopped"
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 60
    assert len(server.requests) == 60


def test_studies_queue_and_run_one_after_the_other(workspace):
    for name in ("one", "two", "three"):
        freeze(workspace, simulated(), study=name, n_personas=3)
    for name in ("one", "two", "three"):
        collection.start(workspace, name)
    ends = [finished(workspace, name) for name in ("one", "two", "three")]
    assert [end.state for end in ends] == ["finished"] * 3
    assert ends[0].since < ends[1].since < ends[2].since


@pytest.mark.parametrize(
    ("status", "words"), [(401, "key"), (402, "payment"), (404, "not found|no such|does not")]
)
def test_a_refused_key_payment_or_model_pauses_with_the_reason(workspace, server, status, words):
    server.script = lambda number, _: Step(status=status) if number >= 5 else None
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    collection.start(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    assert str(status) in progress.reason
    assert len(server.requests) < 20
    assert sum(f.count for f in progress.failures) >= 1
    server.script = ()
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 200


def test_the_key_is_nowhere_but_in_the_request(workspace, server, caplog, tmp_path):
    server.script = lambda number, _: Step(status=401) if number == 3 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    collection.start(workspace, "study")
    progress = finished(workspace)
    assert server.key not in repr(progress)
    assert server.key not in caplog.text
    assert server.key not in repr(workspace)
    workspace.database.checkpoint()
    for file in tmp_path.iterdir():
        assert server.key.encode() not in file.read_bytes()


def test_the_cost_cap_holds_with_calls_in_flight(workspace, server):
    person = service(server.base_url, at_once=8, price_in=1.0, price_out=2.0, max_tokens=50)
    freeze(workspace, person, n_personas=20)
    size = studies.size(workspace, studies.load(workspace, "study").design)
    cap = size.respondents[0].cost_low / 2
    collection.start(workspace, "study", cost_cap=cap)
    progress = finished(workspace)
    assert progress.state == "paused"
    assert "cap" in progress.reason
    assert 0 < progress.cost <= cap
    assert 0 < progress.n_done < 400
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 400


def test_a_cap_without_prices_is_refused_before_anything_is_sent(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    with pytest.raises(CollectionError, match="prices of 'Service' are not known"):
        collection.start(workspace, "study", cost_cap=1.0)
    assert collection.progress(workspace, "study").state == "not_started"
    assert server.requests == []


def test_every_attempt_is_kept_and_the_answer_is_that_of_the_last(workspace, server, monkeypatch):
    monkeypatch.setattr(collector, "RETRY_POLICY", collector.RetryPolicy(base_s=0.01))
    server.script = lambda number, _: Step(status=500) if number < 2 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 20
    page, _ = answers.page(workspace, "study", {}, "", limit=1)
    detail = answers.detail(workspace, int(page["trial_id"].iloc[0]))
    assert [attempt.outcome for attempt in detail.tries] == ["server", "server", "reply"]
    assert [attempt.number for attempt in detail.tries] == [1, 2, 3]
    assert detail.tries[0].http_status == 500
    assert detail.tries[2].messages == detail.tries[0].messages


def test_lone_surrogates_from_a_service_are_kept_and_do_not_stop_the_run(workspace, server):
    server.script = lambda number, _: Step(content="4 \ud800") if number == 2 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 20


def test_a_clients_fault_pauses_with_a_message_and_the_collector_lives_on(workspace):
    freeze(workspace, service("http://127.0.0.1:9"), study="nobody_there", n_personas=1)
    freeze(workspace, simulated(), study="after", n_personas=1)
    respondents.remember_key(workspace, "http://127.0.0.1:9", "k")
    collection.start(workspace, "nobody_there")
    collection.start(workspace, "after")
    collection.pause(workspace, "nobody_there")
    assert finished(workspace, "nobody_there").state == "paused"
    assert finished(workspace, "after").state == "finished"


def test_editing_the_bank_changes_no_frozen_study(workspace):
    record = freeze(workspace, simulated(), n_personas=1)
    state = banks.load(workspace, "attitudes_20")
    from dataclasses import replace

    fewer = replace(state.instrument, items=state.instrument.items[:3])
    banks.save(workspace, fewer, expected_revision=state.revision)
    collection.start(workspace, "study")
    assert finished(workspace).n_done == 20
    assert len(studies.frozen_bank(workspace, "study").items) == 20
    assert (
        freeze(workspace, simulated(), study="second", n_personas=1).version == record.version + 1
    )


def test_a_write_still_under_way_when_the_run_ends_is_not_made_twice(workspace, monkeypatch):
    """A slow disk: the last batch is being written by the flusher when the last reply comes."""
    append = collector.store.append

    def slow(database, batch):
        with database.transaction() as cursor:  # the snapshot is taken before the wait
            cursor.execute("select count(*) from response").fetchall()
            time.sleep(0.2 if batch else 0)
        append(database, batch)

    monkeypatch.setattr(collector.store, "append", slow)
    monkeypatch.setattr(collector, "FLUSH_S", 0.02)
    for number in range(3):
        freeze(workspace, simulated(), study=f"s{number}", n_personas=20)
        collection.start(workspace, f"s{number}")
        progress = finished(workspace, f"s{number}")
        assert (progress.state, progress.n_done) == ("finished", 400), progress.reason


def test_what_earlier_runs_cost_counts_towards_the_cap(workspace, server):
    person = service(server.base_url, at_once=4, price_in=1.0, price_out=2.0, max_tokens=50)
    freeze(workspace, person, n_personas=20)
    cap = (
        studies.size(workspace, studies.load(workspace, "study").design).respondents[0].cost_low / 2
    )
    collection.start(workspace, "study", cost_cap=cap)
    first = finished(workspace)
    collection.start(workspace, "study", cost_cap=cap)
    second = finished(workspace)
    assert second.state == "paused"
    assert second.cost <= cap
    assert second.n_done <= first.n_done + 1

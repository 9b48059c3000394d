"""Runs over a real database and a real HTTP service."""

from __future__ import annotations

import io
import json
import math
import re
import threading
import time
from dataclasses import replace

import pandas as pd
import pytest

from core.errors import CollectionError, StoreError
from core.store import runs
from core.workflow.answers import browsing, exports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import collector, control
from tests.fault_server import Blocks, Step, digit, patience
from tests.workflow.studies import finished, freeze, service, simulated


def wait_until(true, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_every_planned_trial_is_asked_once_and_answered(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=10)
    assert control.start(workspace, "study")
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
        started.append(control.start(workspace, "study"))

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
    control.start(workspace, "study")
    while control.progress(workspace, "study").n_done < 5:
        time.sleep(0.02)
    control.pause(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    sent = len(server.requests)
    assert progress.n_done == sent < 200
    time.sleep(0.3)
    assert len(server.requests) == sent
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert len(server.requests) == 200


def test_a_stopped_study_can_be_continued(workspace, server):
    server.latency_s = 0.02
    freeze(workspace, service(server.base_url, at_once=1), n_personas=3)
    control.start(workspace, "study")
    time.sleep(0.4)
    control.stop(workspace, "study")
    assert finished(workspace).state == "stopped"
    control.start(workspace, "study")
    assert finished(workspace).n_done == 60
    assert len(server.requests) == 60


def test_studies_queue_and_run_one_after_the_other(workspace):
    for name in ("one", "two", "three"):
        freeze(workspace, simulated(), study=name, n_personas=3)
    for name in ("one", "two", "three"):
        control.start(workspace, name)
    ends = [finished(workspace, name) for name in ("one", "two", "three")]
    assert [end.state for end in ends] == ["finished"] * 3
    assert ends[0].since < ends[1].since < ends[2].since


@pytest.mark.parametrize(
    ("status", "words"), [(401, "key"), (402, "payment"), (404, "not found|no such|does not")]
)
def test_a_refused_key_payment_or_model_pauses_with_the_reason(workspace, server, status, words):
    server.script = lambda number, _: Step(status=status) if number >= 5 else None
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    assert str(status) in progress.reason
    assert len(server.requests) < 20
    assert sum(f.count for f in progress.failures) >= 1
    server.script = ()
    control.start(workspace, "study")
    assert finished(workspace).n_done == 200


@pytest.mark.parametrize("cap", [math.nan, math.inf, -1.0])
def test_a_cost_cap_that_is_no_amount_is_refused(workspace, server, cap):
    freeze(workspace, service(server.base_url, price_in=1.0, price_out=1.0), n_personas=1)
    with pytest.raises(CollectionError, match="is no amount of money"):
        control.start(workspace, "study", cost_cap=cap)
    assert control.progress(workspace, "study").state == "not_started"


def test_a_cap_below_what_one_call_may_cost_says_so(workspace, server):
    person = service(server.base_url, price_in=1.0, price_out=10.0, max_tokens=10_000)
    freeze(workspace, person, n_personas=1)
    control.start(workspace, "study", cost_cap=0.05)
    ended = finished(workspace)
    assert (ended.state, ended.n_attempts) == ("paused", 0)
    assert "The cost cap of $0.05 is below what one call may cost at most, $0.10" in ended.reason


def test_the_key_is_nowhere_but_in_the_request(workspace, server, caplog, tmp_path):
    server.script = lambda number, _: Step(status=401) if number == 3 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert server.key not in repr(progress)
    assert server.key not in caplog.text
    assert server.key not in repr(workspace)
    workspace.database.checkpoint()
    for file in tmp_path.iterdir():
        assert server.key.encode() not in file.read_bytes()


def quotes_another_key(workspace, server):
    """A service that repeats, in its refusal, a key typed for another address."""
    other = "sk-other-canary-9876543210"
    catalog.remember_key(workspace, "https://models.example.org/v1", other)
    refusal = {"error": {"message": f"Incorrect key, unlike {other}"}}
    server.script = lambda *_: Step(status=401, body=refusal)
    return other


def test_a_key_that_a_failure_quotes_is_not_in_the_report_of_the_run(workspace, server):
    other = quotes_another_key(workspace, server)
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    assert "unlike [key]" in progress.reason
    assert other not in progress.reason
    assert other not in repr(control.history(workspace, "study"))


def test_a_key_that_a_failure_quotes_is_not_shown_when_a_respondent_is_tried_out(workspace, server):
    other = quotes_another_key(workspace, server)
    with pytest.raises(CollectionError) as caught:
        catalog.test(workspace, service(server.base_url))
    assert "unlike [key]" in str(caught.value)
    assert other not in str(caught.value)


def test_the_cost_cap_holds_with_calls_in_flight(workspace, server):
    person = service(server.base_url, at_once=8, price_in=1.0, price_out=2.0, max_tokens=50)
    freeze(workspace, person, n_personas=20)
    size = studies.size(workspace, studies.load(workspace, "study").design)
    cap = size.respondents[0].cost_low / 2
    control.start(workspace, "study", cost_cap=cap)
    progress = finished(workspace)
    assert progress.state == "paused"
    assert "cap" in progress.reason
    assert 0 < progress.cost <= cap
    assert 0 < progress.n_done < 400
    control.start(workspace, "study")
    assert finished(workspace).n_done == 400


def test_a_cap_without_prices_is_refused_before_anything_is_sent(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    with pytest.raises(CollectionError, match="prices of 'Service' are not known"):
        control.start(workspace, "study", cost_cap=1.0)
    assert control.progress(workspace, "study").state == "not_started"
    assert server.requests == []


def test_every_attempt_is_kept_and_the_answer_is_that_of_the_last(workspace, server, monkeypatch):
    monkeypatch.setattr(collector, "RETRY_POLICY", collector.RetryPolicy(base_s=0.01))
    server.script = lambda number, _: Step(status=500) if number < 2 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 20
    page, _ = browsing.page(workspace, "study", {}, "", limit=1)
    detail = browsing.detail(workspace, int(page["trial_id"].iloc[0]))
    assert [attempt.outcome for attempt in detail.attempts] == ["server", "server", "reply"]
    assert [attempt.number for attempt in detail.attempts] == [1, 2, 3]
    assert detail.attempts[0].http_status == 500
    assert detail.attempts[2].messages == detail.attempts[0].messages


def test_lone_surrogates_from_a_service_are_kept_and_do_not_stop_the_run(workspace, server):
    server.script = lambda number, _: Step(content="4 \ud800") if number == 2 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 20


def test_a_clients_fault_pauses_with_a_message_and_the_collector_lives_on(workspace):
    freeze(workspace, service("http://127.0.0.1:9"), study="nobody_there", n_personas=1)
    freeze(workspace, simulated(), study="after", n_personas=1)
    catalog.remember_key(workspace, "http://127.0.0.1:9", "k")
    control.start(workspace, "nobody_there")
    control.start(workspace, "after")
    control.pause(workspace, "nobody_there")
    assert finished(workspace, "nobody_there").state == "paused"
    assert finished(workspace, "after").state == "finished"


def test_editing_the_bank_changes_no_frozen_study(workspace):
    record = freeze(workspace, simulated(), n_personas=1)
    state = editing.load(workspace, "attitudes_20")
    from dataclasses import replace

    fewer = replace(state.instrument, items=state.instrument.items[:3])
    editing.save(workspace, fewer, expected_revision=state.revision)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 20
    assert len(studies.frozen_bank(workspace, "study").items) == 20
    assert (
        freeze(workspace, simulated(), study="second", n_personas=1).version == record.version + 1
    )


def test_a_write_still_under_way_when_the_run_ends_is_not_made_twice(workspace, monkeypatch):
    """A slow disk: the last batch is being written by the flusher when the last reply comes."""
    append = collector.store.save_attempts

    def slow(database, batch):
        with database.transaction() as cursor:  # the snapshot is taken before the wait
            cursor.execute("select count(*) from response").fetchall()
            time.sleep(0.2 if batch else 0)
        append(database, batch)

    monkeypatch.setattr(collector.store, "save_attempts", slow)
    monkeypatch.setattr(collector, "FLUSH_S", 0.02)
    for number in range(3):
        freeze(workspace, simulated(), study=f"s{number}", n_personas=20)
        control.start(workspace, f"s{number}")
        progress = finished(workspace, f"s{number}")
        assert (progress.state, progress.n_done) == ("finished", 400), progress.reason


def test_what_earlier_runs_cost_counts_towards_the_cap(workspace, server):
    person = service(server.base_url, at_once=4, price_in=1.0, price_out=2.0, max_tokens=50)
    freeze(workspace, person, n_personas=20)
    cap = (
        studies.size(workspace, studies.load(workspace, "study").design).respondents[0].cost_low / 2
    )
    control.start(workspace, "study", cost_cap=cap)
    first = finished(workspace)
    control.start(workspace, "study", cost_cap=cap)
    second = finished(workspace)
    assert second.state == "paused"
    assert second.cost <= cap
    assert second.n_done <= first.n_done + 1


def test_a_batch_the_full_disk_refused_pauses_the_run_and_is_written_later_in_order(
    workspace, server, monkeypatch
):
    append, refused, written = collector.store.save_attempts, [], []

    def full_at_first(database, batch):
        if batch and len(refused) < 2:
            if not refused:
                more = len(server.chats) + 5  # replies that come in while this write fails
                wait_until(lambda: len(server.chats) >= more)
            refused.append([row.call_id for row in batch])
            raise StoreError("The disk is full.", "Free some space.")
        append(database, batch)
        written.extend(row.call_id for row in batch)

    monkeypatch.setattr(collector.store, "save_attempts", full_at_first)
    monkeypatch.setattr(collector, "FLUSH_S", 0.05)
    monkeypatch.setattr(collector, "RETRY_WRITING_S", 0.05)
    server.latency_s = 0.01
    freeze(workspace, service(server.base_url, at_once=2), n_personas=10)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert progress.state == "paused"
    assert len(refused[0]) < len(refused[1]) <= len(written) < 200
    assert refused[1][: len(refused[0])] == refused[0]
    assert written[: len(refused[1])] == refused[1]
    assert progress.n_done == len(written) == len(server.chats)
    server.latency_s = 0.0
    control.start(workspace, "study")
    assert finished(workspace).n_done == len(server.chats) == 200


def test_the_database_may_close_as_a_run_ends(workspace, monkeypatch):
    queued, asked = runs.queued_runs, []

    def closed_at_the_second(database, process):
        asked.append(process)
        if len(asked) == 2:
            database.close()
        return queued(database, process)

    monkeypatch.setattr(collector.runs, "queued_runs", closed_at_the_second)
    freeze(workspace, simulated(), n_personas=2)
    control.start(workspace, "study")
    wait_until(lambda: len(asked) == 2)
    wait_until(lambda: "inkblot-collector" not in [one.name for one in threading.enumerate()])


IN_BLOCKS = {"items_per_call": 5, "ask_again": 2, "item_order": "shuffled"}
"""Twenty items are four calls of each persona; an answer is asked for up to three times."""
_CODED = """
select t.trial_id, w.text, r.status, r.option, r.tries, m.number, q.messages
from trial t left join response r using (trial_id)
    left join attempt m on m.attempt_id = r.attempt_id left join prompt q using (prompt_id)
    join wording w on w.item_id = t.item_id and w.language = 'en'
where t.study_id = ? order by t.trial_id
"""


def coded(workspace, record):
    """What every trial came to, as (id, text, status, option, replies, number, messages)."""
    rows = workspace.database.rows(_CODED, [record.study_id])
    return [(*row[:-1], json.loads(row[-1]) if row[-1] else None) for row in rows]


def attempts_of(workspace):
    return workspace.database.rows("select call_id, number, outcome from attempt order by all")


def test_a_study_in_blocks_asks_again_for_what_was_unusable_and_codes_every_trial(
    workspace, server
):
    server.script = Blocks()
    record = freeze(workspace, service(server.base_url), n_personas=6, **IN_BLOCKS)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert (progress.state, progress.n_done, progress.n_trials) == ("finished", 120, 120)
    rows = coded(workspace, record)
    assert {len(server.script.times), len({row[-1][-1]["content"] for row in rows})} == {24}
    longest = {}
    for _, text, status, option, tries, number, messages in rows:
        needed = patience(messages, text)
        assert tries == number == min(needed, 3), text
        expected = ("answered", digit(messages, text)) if needed <= 3 else ("ambiguous", None)
        assert (status, option) == expected, text
        prompt = json.dumps(messages, sort_keys=True)
        longest[prompt] = max(longest.get(prompt, 0), min(needed, 3))
    assert dict(server.script.times) == longest
    assert {row[4] for row in rows} == {1, 2, 3}
    assert progress.n_attempts == sum(longest.values()) == len(server.chats)
    assert progress.failures == ()


def test_blocks_that_fail_in_between_are_tried_again_and_come_to_the_same(
    workspace, server, monkeypatch
):
    monkeypatch.setattr(collector, "RETRY_POLICY", collector.RetryPolicy(9, 0.001, 0.01))
    person = service(server.base_url)
    server.script = Blocks()
    calm = freeze(workspace, person, study="calm", n_personas=4, **IN_BLOCKS)
    control.start(workspace, "calm")
    assert finished(workspace, "calm").n_done == 80
    blocks, before = Blocks(), server.total
    server.script = lambda n, body: Step(status=500) if n % 3 == 1 else blocks(n, body)
    # The same name makes the same plan, which is shuffled by it, in a database of its own.
    other = open_workspace(":memory:")
    rough = freeze(other, person, study="calm", n_personas=4, **IN_BLOCKS)
    control.start(other, "calm")
    progress = finished(other, "calm")
    assert (progress.state, progress.n_done) == ("finished", 80)
    assert [row[:5] for row in coded(other, rough)] == [row[:5] for row in coded(workspace, calm)]
    outcomes = [outcome for _, _, outcome in attempts_of(other)]
    assert outcomes.count("server") == sum(f.count for f in progress.failures) > 10
    assert outcomes.count("reply") == len(attempts_of(workspace))
    assert len(outcomes) == server.total - before
    numbers = {}
    for call_id, number, _ in attempts_of(other):
        numbers.setdefault(call_id, []).append(number)
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    other.close()


def test_a_study_in_blocks_paused_in_the_middle_of_calls_ends_as_an_uninterrupted_one(
    workspace, server
):
    person = service(server.base_url, at_once=1)
    server.script = Blocks()
    whole = freeze(workspace, person, n_personas=4, **IN_BLOCKS)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 80
    blocks, slow = Blocks(), set()

    def script(number, body):
        answer = blocks(number, body)
        return replace(answer, latency_s=1.0) if number in slow else answer

    server.script = script
    other = open_workspace(":memory:")
    record = freeze(other, person, n_personas=4, **IN_BLOCKS)
    open_calls = 0
    for _ in range(4):
        slow.add(server.total + 1)
        begun = server.total + 2  # the slow call is under way, and the pause will be seen before
        control.start(other, "study")
        wait_until(lambda begun=begun: server.total >= begun)
        control.pause(other, "study")
        assert finished(other).state == "paused"
        left = control.store.remaining_calls(
            other.database, record.study_id, [person.respondent_id], after=0, limit=1000
        )
        open_calls += sum(call.replies > 0 for call in left)
    assert open_calls > 0
    assert 0 < control.progress(other, "study").n_done < 80
    control.start(other, "study")
    assert finished(other).state == "finished"
    assert coded(other, record) == coded(workspace, whole)
    assert attempts_of(other) == attempts_of(workspace)
    assert data_set(other) == data_set(workspace)
    other.close()


def data_set(workspace, study="study"):
    """The tidy export but for what a clock says."""
    frame = pd.read_csv(io.BytesIO(exports.export_tidy(workspace, study)), dtype=str)
    return frame.drop(columns=["latency_s", "time"]).fillna("").to_dict("records")


def killed_with(workspace, record, person, n_calls, cost):
    """As a process leaves it that is killed when it has just sent the first calls."""
    number = runs.report_event(workspace.database, record.study_id, "running", "a process gone", {})
    found = control.store.remaining_calls(
        workspace.database, record.study_id, [person.respondent_id], after=0, limit=n_calls
    )
    sent = [runs.Sending(call.call_id, 1, cost) for call in found]
    runs.save_sendings(workspace.database, record.study_id, number, sent)


def test_calls_sent_before_a_kill_count_in_cost_and_cap_and_are_asked_again(workspace, server):
    person = service(server.base_url, at_once=1, price_in=1.0, price_out=2.0, max_tokens=50)
    record = freeze(workspace, person, n_personas=1)
    killed_with(workspace, record, person, 3, 0.25)
    now = control.progress(workspace, "study")
    assert (now.state, now.n_sent, now.no_answer_kept) == ("interrupted", 3, 3)
    assert (now.cost, now.cost_estimated) == (0.75, True)
    control.start(workspace, "study", cost_cap=0.75)
    capped = finished(workspace)
    assert (capped.state, capped.n_done, len(server.chats)) == ("paused", 0, 0)
    assert "cap of $0.75 is reached" in capped.reason
    control.start(workspace, "study", cost_cap=0.8)
    done = finished(workspace)
    assert (done.state, done.n_done, len(server.chats)) == ("finished", 20, 20)
    assert (done.n_sent, done.n_attempts, done.no_answer_kept) == (23, 20, 3)
    replies = workspace.database.row("select sum(cost) from attempt")[0]
    assert done.cost == pytest.approx(0.75 + replies, abs=1e-12)
    listed = pd.read_csv(io.BytesIO(control.calls_csv(workspace, "study")))
    assert listed["outcome"].value_counts().to_dict() == {"reply": 20, "no_answer_kept": 3}
    assert listed["cost"].sum() == pytest.approx(done.cost, abs=1e-12)
    assert listed["try"].tolist() == [1, 2] * 3 + [1] * 17
    assert control.history(workspace, "study")[0][2]["no_answer_kept"] == 3


def test_every_call_is_on_file_before_the_service_receives_it(workspace, server):
    record = freeze(workspace, service(server.base_url, at_once=8), n_personas=5)
    on_file = []

    def script(number, _body):
        count = workspace.database.row("select count(*) from sending")[0]
        on_file.append((number + 1, count))

    server.script = script
    control.start(workspace, "study")
    assert finished(workspace).n_done == len(on_file) == record.n_trials == 100
    # A few more than eight are on file before there is a place for them (core/collect/lanes.py).
    assert all(received <= count <= received + 8 + 4 for received, count in on_file)
    assert workspace.database.row("select count(distinct written_at) from sending")[0] < 100


def test_what_was_written_down_and_not_sent_when_a_run_is_paused_is_no_call_of_it(
    workspace, server, monkeypatch
):
    withdraw, withdrawn = runs.withdraw_sending, []

    def counted(*arguments):
        withdrawn.append(arguments)
        withdraw(*arguments)

    monkeypatch.setattr(runs, "withdraw_sending", counted)
    monkeypatch.setattr(collector, "_ANNOUNCE_S", 0.03)  # so that some wait at any moment
    server.latency_s = 0.01
    freeze(workspace, service(server.base_url, at_once=16), n_personas=60)
    for _ in range(20):
        control.start(workspace, "study")
        time.sleep(0.5)
        control.pause(workspace, "study")
        now = finished(workspace)
        assert (now.no_answer_kept, now.n_attempts) == (0, len(server.chats))
        if withdrawn or now.state == "finished":
            break
    assert withdrawn
    control.start(workspace, "study")
    assert finished(workspace).n_done == len(server.chats) == 1200


def test_a_call_that_cannot_be_written_down_is_not_sent_and_the_run_says_why(
    workspace, server, monkeypatch
):
    write, refused = runs.save_sendings, []

    def full_at_times(database, study_id, run, batch):
        if len(server.chats) >= 10 and not refused:
            refused.extend(batch)
            raise StoreError("The disk is full.", "Free some space.")
        write(database, study_id, run, batch)

    monkeypatch.setattr(runs, "save_sendings", full_at_times)
    freeze(workspace, service(server.base_url, at_once=4), n_personas=5)
    control.start(workspace, "study")
    progress = finished(workspace)
    assert (progress.state, progress.no_answer_kept) == ("paused", 0)
    assert "not sent" in progress.reason
    assert "disk is full" in progress.reason
    assert progress.n_done == len(server.chats) < 20
    control.start(workspace, "study")
    assert finished(workspace).n_done == len(server.chats) == 100


def test_the_end_of_a_run_is_written_as_soon_as_the_disk_takes_it(workspace, monkeypatch):
    report, refused = runs.report_event, []

    def full_at_first(database, study_id, kind, process, detail):
        if kind == "finished" and len(refused) < 2:
            refused.append(collector.write_problems.get(study_id, ""))
            raise StoreError("The disk is full.", "Free some space.")
        return report(database, study_id, kind, process, detail)

    monkeypatch.setattr(runs, "report_event", full_at_first)
    monkeypatch.setattr(collector, "RETRY_WRITING_S", 0.05)
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert "disk is full" in refused[1]
    assert collector.write_problems == {}


def test_counts_of_a_running_study_belong_together(workspace, monkeypatch):
    """An answer comes in before each statement that reads the progress, as in a run."""
    freeze(workspace, simulated(), n_personas=10)
    database = workspace.database
    (study_id,) = database.row("select study_id from study where code = 'study'")
    waiting = [row[0] for row in database.rows("select trial_id from trial order by ordinal")]

    def with_an_answer(read):
        def reading(_database, *arguments):
            if waiting:
                database.write(
                    "insert into response (trial_id, study_id, status, option) "
                    "values (?, ?, 'answered', '1')",
                    [waiting.pop(0), study_id],
                )
            return read(*arguments)

        return reading

    for name in ("rows", "row"):
        monkeypatch.setattr(type(database), name, with_an_answer(getattr(database, name)))
    for _ in range(5):
        now = control.progress(workspace, "study")
        assert 0 < now.n_usable <= now.n_asked <= now.n_trials
        assert now.n_usable == now.n_done  # every answer is usable
        numbers = re.findall(r"\d+", control.replied_words(now))
        assert numbers == [str(now.n_done), "200", str(now.n_done), str(now.n_done)]

"""Plans go out as files of requests, and their replies come in from files."""

from __future__ import annotations

import gzip
import io
import json
import random

import pytest

from core.errors import CollectionError, DesignError, FileError
from core.store import collection, runs
from core.workflow.runs import control
from core.workflow.runs.batches import replies, requests, states
from tests.fault_server import FaultServer
from tests.workflow.runs.batches.answering import answer, as_lines, expired, rejected, requests_of
from tests.workflow.studies import finished, freeze, service, simulated

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def study(workspace):
    """Forty calls, none asked."""
    return freeze(workspace, service(NOWHERE, price_in=10.0, price_out=20.0), n_personas=2)


def export(workspace, tmp_path, **settings):
    directory = tmp_path / "out"
    batches = requests.export(workspace, "study", directory, **settings)
    return [directory / batch.file for batch in batches]


def take(workspace, answers, name="output.jsonl", **settings):
    content = answers if isinstance(answers, bytes) else as_lines(answers)
    return replies.import_replies(workspace, "study", name, io.BytesIO(content), **settings)


def state_of(workspace):
    """Everything that an import may change."""
    tables = ("attempt", "attempt_text", "attempt_part", "response", "batch_reply")
    return {t: sorted(workspace.database.rows(f"select * from {t}")) for t in tables}  # noqa: S608


def test_a_line_asks_what_a_run_by_calls_asks(workspace, server, tmp_path):
    settings = {"top_p": 0.9, "seed": 4, "extra_body": {"logit_bias": {"50256": -100}}}
    freeze(workspace, service(server.base_url, **settings), n_personas=2)
    lines = requests_of(export(workspace, tmp_path))
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    states.release(workspace, "study")
    control.start(workspace, "study")
    finished(workspace)
    sent = {json.dumps(seen.body, sort_keys=True) for seen in server.chats}
    assert {json.dumps(line["body"], sort_keys=True) for line in lines} == sent
    calls = {call for (call,) in workspace.database.rows("select call_id from attempt")}
    assert {int(line["custom_id"]) for line in lines} == calls
    hashes = "select call_id, request_hash from {} order by 1"
    assert workspace.database.rows(hashes.format("batch_call")) == workspace.database.rows(
        hashes.format("attempt")
    )


def test_files_keep_within_a_number_of_requests_and_of_bytes(workspace, study, tmp_path):
    few = requests.Limits(requests=7)
    paths = export(workspace, tmp_path, limits=few)
    assert [len(requests_of([path])) for path in paths] == [7, 7, 7, 7, 7, 5]
    states.release(workspace, "study")
    small = export(workspace, tmp_path, limits=requests.Limits(size=5000))
    assert all(path.stat().st_size <= 5000 for path in small)
    assert len({line["custom_id"] for line in requests_of(small)}) == 40
    states.release(workspace, "study")
    with pytest.raises(CollectionError, match="bytes, more than a file may"):
        export(workspace, tmp_path, limits=requests.Limits(size=20))


def test_replies_from_files_are_those_of_a_run_by_calls(workspace, server, tmp_path):
    freeze(workspace, service(server.base_url), n_personas=2)
    paths = export(workspace, tmp_path, limits=requests.Limits(requests=15))
    lines = [answer(request) for request in requests_of(paths)]
    random.Random(1).shuffle(lines)
    assert take(workspace, lines[:11]).replies == 11
    assert take(workspace, gzip.compress(as_lines(lines[5:]))) == replies.Imported(29, repeated=6)
    assert take(workspace, lines) == replies.Imported(repeated=40)
    by_file = rows_of(workspace)

    freeze(workspace, service(server.base_url), study="by_calls", n_personas=2)
    control.start(workspace, "by_calls")
    finished(workspace, "by_calls")
    assert by_file == rows_of(workspace, "by_calls")
    assert len(by_file) == 40


def rows_of(workspace, study="study"):
    """What each question came to, by the names that two studies share."""
    return workspace.database.rows(
        "select i.code, a.context, r.status, r.option, r.tries, x.reply, m.finish_reason, m.model"
        " from response r join trial t using (trial_id) join administration a"
        " using (administration_id) join item i using (item_id)"
        " join attempt m using (attempt_id) join attempt_text x using (attempt_id)"
        " join study s on s.study_id = r.study_id where s.code = ? order by 1, 2",
        [study],
    )


def test_a_run_leaves_calls_in_a_batch_alone_until_they_are_given_back(workspace, server, tmp_path):
    freeze(workspace, service(server.base_url), n_personas=2)
    export(workspace, tmp_path, limits=requests.Limits(requests=25))
    assert states.out_words(workspace, "study").startswith("40 calls are out in a batch.")
    control.start(workspace, "study")
    assert finished(workspace).n_done == 0
    with pytest.raises(CollectionError, match="40 are out"):
        export(workspace, tmp_path)
    assert states.release(workspace, "study", 2) == 15
    control.start(workspace, "study")
    assert finished(workspace).n_done == 15
    assert len(server.chats) == 15
    numbers = "select distinct number from attempt"
    assert workspace.database.rows(numbers) == [(2,)]  # the first try went into a file


def test_failed_and_expired_calls_are_asked_again(workspace, study, tmp_path):
    asked = requests_of(export(workspace, tmp_path))
    lines = [rejected(r) for r in asked[:3]] + [expired(r) for r in asked[3:5]]
    lines += [answer(request) for request in asked[5:]]
    assert take(workspace, lines) == replies.Imported(replies=35, failures=3, returned=2)
    failures = control.progress(workspace, "study").failures
    assert [(f.title, f.count) for f in failures] == [("The service had a fault of its own", 3)]
    again = requests_of(export(workspace, tmp_path))
    assert [r["custom_id"] for r in again] == [r["custom_id"] for r in asked[:5]]
    take(workspace, [answer(request) for request in again])
    assert control.progress(workspace, "study").n_done == 40


def test_a_reply_that_may_be_asked_again_goes_into_the_next_file(workspace, tmp_path):
    freeze(workspace, service(NOWHERE), n_personas=1, ask_again=1)
    asked = requests_of(export(workspace, tmp_path))
    take(workspace, [answer(request, "hm") for request in asked[:2]])
    take(workspace, [answer(request) for request in asked[2:]])
    again = requests_of(export(workspace, tmp_path))
    assert again == asked[:2]
    take(workspace, [answer(again[0], "hm", n=1), answer(again[1], "4", n=1)])
    with pytest.raises(CollectionError, match="Every call of 'study' has a reply"):
        export(workspace, tmp_path)
    rows = workspace.database.rows("select trial_id, tries, option from response")
    found = {trial_id: (tries, option) for trial_id, tries, option in rows}
    assert found[int(asked[0]["custom_id"])] == (2, None)
    assert found[int(asked[1]["custom_id"])] == (2, "4")


def test_replies_cost_the_prices_times_the_factor_of_their_batch(workspace, study, tmp_path):
    asked = requests_of(export(workspace, tmp_path, price_factor=0.5))
    open_cost = workspace.database.row("select sum(cost) from call_out")[0]
    take(workspace, [answer(request) for request in asked])
    now = control.progress(workspace, "study")
    # 100 tokens at 10 dollars a million and 1 at 20, halved, for 40 calls
    assert now.cost == pytest.approx(40 * (100 * 10 + 1 * 20) / 1e6 / 2)
    assert not now.cost_estimated
    assert open_cost > now.cost
    with pytest.raises(CollectionError, match="no price factor"):
        export(workspace, tmp_path, price_factor=-1.0)


def broken_files(asked):
    """Bad files by a part of the message, each with what is wrong in its third line."""
    good = [answer(request) for request in asked]
    head = as_lines(good[:2])
    other = answer({**asked[2], "custom_id": "123456"})
    return {
        "Line 3 of output.jsonl is not complete JSON": head + as_lines([good[2]])[:-40],
        "Line 3 of output.jsonl: call 123456 is in no plan": head + as_lines([other]),
        "Line 3 of output.jsonl has no custom_id": head + b'{"id": 1}\n',
        "Line 3 of output.jsonl has a custom_id that is no call": head
        + as_lines([{**good[2], "custom_id": "request-1"}]),
        "Line 3 of output.jsonl is a request and not a reply": head + as_lines([asked[2]]),
        "Line 3 of output.jsonl has neither a response nor": head
        + as_lines([{"custom_id": asked[2]["custom_id"], "response": None, "error": None}]),
        "Line 3 of output.jsonl: the reply to call .* differs": head
        + as_lines([answer(asked[0], "2 or 3", n=7)]),
        "compressed and ends or breaks": gzip.compress(as_lines(good))[:-20],
        "holds no line": b"\n",
    }


def test_a_file_with_a_bad_line_is_refused_and_changes_nothing(workspace, study, tmp_path):
    asked = requests_of(export(workspace, tmp_path))
    before = state_of(workspace)
    for message, content in broken_files(asked).items():
        with pytest.raises(FileError, match=message) as caught:
            take(workspace, content)
        assert caught.value.remedy, message
        assert state_of(workspace) == before, message
    assert take(workspace, [answer(request) for request in asked]).replies == 40


def test_a_file_of_another_study_is_refused_with_its_name(workspace, study, tmp_path):
    freeze(workspace, service(NOWHERE, "Other"), study="other", n_personas=1)
    asked = requests_of(export(workspace, tmp_path))
    with pytest.raises(FileError, match="is of the study 'study', not of 'other'"):
        replies.import_replies(workspace, "other", "o", io.BytesIO(as_lines([answer(asked[0])])))


def test_a_line_written_twice_counts_once_and_a_changed_line_is_refused(workspace, study, tmp_path):
    asked = requests_of(export(workspace, tmp_path))
    line = answer(asked[0])
    assert take(workspace, [line, line]) == replies.Imported(replies=1, repeated=1)
    spaced = json.dumps(line, indent=None, separators=(" , ", " : ")).encode()
    assert take(workspace, spaced) == replies.Imported(repeated=1)
    changed = answer(asked[0], "5 of course")
    with pytest.raises(FileError, match="differs from the one on file"):
        take(workspace, [answer(asked[1]), changed])
    assert control.progress(workspace, "study").n_done == 1


def test_the_late_reply_of_a_batch_given_back_is_kept_beside_the_other(workspace, study, tmp_path):
    first = requests_of(export(workspace, tmp_path))
    states.release(workspace, "study")
    second = requests_of(export(workspace, tmp_path))
    take(workspace, [answer(request, "2", n=2) for request in second])
    take(workspace, [answer(request, "4", n=1) for request in first])
    options = workspace.database.rows("select option, count(*) from response group by 1")
    assert options == [("2", 40)]
    assert control.progress(workspace, "study").n_attempts == 80


def test_keys_are_taken_out_of_replies(workspace, study, tmp_path):
    key = "sk-canary-0123456789"
    workspace.keys.remember("https://api.example.com/v1", key)
    asked = requests_of(export(workspace, tmp_path))
    whole = answer(asked[0], f"3 {key}")
    parts = answer(asked[1], "3")
    pieces = [{"token": key[n : n + 5], "logprob": -0.1} for n in range(0, 20, 5)]
    parts["response"]["body"]["choices"][0]["logprobs"] = {"content": pieces}
    failed = rejected(asked[2])
    failed["response"]["body"]["error"]["message"] = f"Wrong key {key}"
    take(workspace, [whole, parts, failed])
    kept = str(state_of(workspace)) + str(workspace.database.rows("select * from attempt_token"))
    assert key not in kept
    assert key[:5] not in kept.replace("[key]", "")


def test_only_models_of_a_service_take_batches_and_not_during_a_run(workspace, tmp_path):
    freeze(workspace, simulated(), n_personas=1)
    with pytest.raises(DesignError, match="does not ask a model of a service"):
        export(workspace, tmp_path)
    with FaultServer(latency_s=0.3, key=None) as slow:
        freeze(workspace, service(slow.base_url), study="slow", n_personas=1)
        control.start(workspace, "slow")
        with pytest.raises(CollectionError, match="is running"):
            requests.export(workspace, "slow", tmp_path)
        control.stop(workspace, "slow")
        finished(workspace, "slow")


def test_a_kill_between_the_file_and_the_database_leaves_no_call_out(
    workspace, study, tmp_path, monkeypatch
):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(requests.store, "save_batch", killed)
    with pytest.raises(KeyboardInterrupt):
        export(workspace, tmp_path)
    monkeypatch.undo()
    assert not states.out_words(workspace, "study")
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [".part"]
    assert len(requests_of(export(workspace, tmp_path))) == 40


def test_what_was_sent_counts_calls_in_batches_once(workspace, study, tmp_path):
    asked = requests_of(export(workspace, tmp_path))
    assert runs.count_lost(workspace.database, study.study_id, ended=True).count == 0
    take(workspace, [answer(asked[0])])
    assert collection.progress(workspace.database, study.study_id) == (40, 1)


def test_calls_with_history_go_out_when_the_reply_before_is_there(workspace, server, tmp_path):
    factors = {"n_personas": 2, "items_per_call": 10, "histories": ("own",)}
    freeze(workspace, service(server.base_url), **factors)
    first = requests_of(export(workspace, tmp_path))
    assert len(first) == 2  # of four: one for each persona
    control.start(workspace, "study")
    assert finished(workspace).n_done == 0  # no later call is asked while an earlier one is out
    assert not server.chats
    numbered = "\n".join(f"{n}. 3" for n in range(1, 11))
    take(workspace, [answer(request, numbered) for request in first])
    second = requests_of(export(workspace, tmp_path))
    assert len(second) == 2
    for before, after in zip(first, second, strict=True):
        shown = after["body"]["messages"]
        assert shown[: len(before["body"]["messages"])] == before["body"]["messages"]
        assert shown[-2] == {"role": "assistant", "content": numbered}
    take(workspace, [answer(request, numbered) for request in second])
    assert control.progress(workspace, "study").n_done == 40


def test_a_cap_counts_what_is_out_and_cached_tokens_cost_less(workspace, server, tmp_path):
    prices = {"price_in": 10.0, "price_out": 20.0, "price_cached": 1.0}
    freeze(workspace, service(server.base_url, **prices), n_personas=2)
    paths = export(workspace, tmp_path, limits=requests.Limits(requests=20), price_factor=0.5)
    out = workspace.database.row("select sum(cost) from call_out")[0]
    states.release(workspace, "study", 2)
    control.start(workspace, "study", cost_cap=out / 2)
    assert finished(workspace).state == "paused"  # the calls that are out leave no room
    assert not server.chats
    line = answer(requests_of(paths[:1])[0])
    line["response"]["body"]["usage"]["prompt_tokens_details"] = {"cached_tokens": 40}
    take(workspace, [line])
    expected = (60 * 10 + 40 * 1 + 1 * 20) / 1e6 / 2
    assert control.progress(workspace, "study").cost == pytest.approx(expected)

"""Tries counted in the database, against the replies that a server gave."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from core.domain.frames import ATTEMPT_COUNTS, check_frame
from core.store import frames
from core.workflow.answers import imports
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import EVASION, Blocks, FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service

ITEMS_PER_CALL = 5


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Two personas, 20 items in blocks of 5, each block put at most three times."""
    from core.workflow.opening import open_workspace

    workspace = open_workspace(tmp_path_factory.mktemp("attempts") / "asked.duckdb")
    with FaultServer(Blocks()) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, server.key)
        factors = {"items_per_call": ITEMS_PER_CALL, "ask_again": 2}
        freeze(workspace, service(server.base_url), n_personas=2, **factors)
        control.start(workspace, "study")
        assert finished(workspace).state == "finished"
    yield workspace
    workspace.close()


def replies_by_trial(workspace):
    """The lines that each trial got, in order, read from the replies on file."""
    rows = workspace.database.rows(
        "select t.trial_id, row_number() over (partition by t.call_id, m.number order by t.ordinal)"
        ", x.reply from trial t join attempt m using (call_id) join attempt_text x"
        " using (attempt_id) order by m.number"
    )
    lines = {}
    for trial, place, reply in rows:
        line = reply.split("\n")[place - 1]
        lines.setdefault(trial, []).append(line.partition(". ")[2])
    return lines


def test_every_try_of_every_trial_of_a_block_is_counted_by_what_it_came_to(asked):
    """A trial has its answer from the first line with a digit; what follows is for the others."""
    expected = Counter()
    for lines in replies_by_trial(asked).values():
        done = next((n for n, line in enumerate(lines, 1) if line != EVASION), None)
        for number in range(1, len(lines) + 1):
            if done is None or number < done:
                expected[number, "unusable", number == len(lines)] += 1
            else:
                expected[number, "usable" if number == done else "repeated", number == done] += 1
    frame = frames.attempt_counts(asked.database, ["study"], {}, factors=["respondent"])
    check_frame(frame, ATTEMPT_COUNTS)
    counted = frame.groupby(["number", "outcome", "final"], observed=True)["count"].sum()
    assert counted.to_dict() == dict(expected)
    assert {outcome for _, outcome, _ in expected} == {"usable", "unusable", "repeated"}
    assert frame.loc[frame["final"], "count"].sum() == 40


def test_tokens_of_a_call_are_divided_by_its_trials(asked):
    frame = frames.attempt_counts(asked.database, ["study"], {})
    (total,) = asked.database.row("select sum(tokens_out) from attempt")
    assert frame["tokens_out"].sum() == pytest.approx(total)
    assert frame["tokens_known"].sum() == frame["count"].sum()


def test_filters_and_factors_take_some_trials(asked):
    frame = frames.attempt_counts(
        asked.database,
        ["study"],
        {"context": ["p0001"], "item": ["nature_01"]},
        factors=["context"],
    )
    assert frame.loc[frame["final"], ["context", "item", "count"]].to_numpy().tolist() == [
        ["p0001", "nature_01", 1]
    ]


def test_failures_trials_to_come_and_those_to_be_asked_again_are_apart(workspace, monkeypatch):
    """Item 1: two server errors, then a digit; then every call fails for good."""

    def script(number, _body):
        steps = {0: Step(status=500), 1: Step(status=500), 2: Step(content="4")}
        return steps.get(number, Step(status=400))

    with FaultServer(script) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        freeze(workspace, service(server.base_url, at_once=1), n_personas=1, ask_again=1)
        control.start(workspace, "study")
        finished(workspace)
    frame = frames.attempt_counts(workspace.database, ["study"], {})
    rows = frame.groupby(["item", "number", "outcome", "final"], observed=True)["count"].sum()
    first = rows["nature_01"].to_dict()
    assert first == {(1, "server", False): 2, (1, "usable", True): 1}
    assert frame.loc[frame["final"], "count"].sum() == 20
    ends = frame[frame["final"]].groupby("outcome", observed=True)["count"].sum()
    assert set(ends.index) <= {"usable", "rejected", "not_asked"}
    result = analyses.run(workspace, "invalid_answers", ["study"], {}, {})
    assert (result.n_used, result.n_missing) == (1, 19)
    assert (
        result.tables[0].frame["failures"].iloc[0]
        == frame.loc[~frame["outcome"].isin(["usable", "not_asked"]), "count"].sum()
    )


def test_an_unusable_reply_of_a_trial_that_is_not_settled_is_pending(workspace, monkeypatch):
    with FaultServer(lambda *_: Step(content="Well.")) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        freeze(workspace, service(server.base_url, at_once=1), n_personas=1, ask_again=1)
        control.start(workspace, "study")
        finished(workspace)
    with workspace.database.transaction() as cursor:  # as it stands between two tries
        cursor.execute("delete from response")
        cursor.execute("delete from attempt where number = 2")
    frame = frames.attempt_counts(workspace.database, ["study"], {})
    tried = frame[frame["outcome"] != "not_asked"]
    assert set(tried["outcome"]) == {"pending"}
    assert tried["final"].all()


def test_imported_answers_have_a_status_and_no_tries(workspace):
    """The second answer to q2 has no row: it is missing, and in no share."""
    answers = b"item,answer,status,repetition\nq1,1,,1\nq1,,refused,2\nq2,2,,1\n"
    imports.import_tidy(workspace, "brought.csv", answers)
    frame = frames.attempt_counts(workspace.database, ["brought"], {})
    rows = frame[["item", "number", "outcome", "final", "from_attempts", "count"]]
    assert sorted(rows.to_numpy().tolist()) == [
        ["q1", 1, "unusable", True, False, 1],
        ["q1", 1, "usable", True, False, 1],
        ["q2", 0, "no_row", True, False, 1],
        ["q2", 1, "usable", True, False, 1],
    ]
    result = analyses.run(workspace, "invalid_answers", ["brought"], {}, {})
    assert any("3 imported answers have no tries on file" in caution for caution in result.cautions)
    summary = result.tables[0].frame.iloc[0]
    assert summary["share_never"] == pytest.approx(1 / 3)
    assert (summary["trials"], summary["not_asked"], summary["no_reply"]) == (4, 1, 0)
    assert math.isnan(summary["share_invalid"])  # of the first reply, which is not known
    assert math.isnan(summary["mean_tries"])


def test_the_analysis_says_how_many_tries_answers_took(asked):
    """The same counts by hand from the lines of the replies."""
    done = [
        next((n for n, line in enumerate(lines, 1) if line != EVASION), None)
        for lines in replies_by_trial(asked).values()
    ]
    reached = [n for n in done if n]
    row = analyses.run(asked, "invalid_answers", ["study"], {}, {}).tables[0].frame.iloc[0]
    assert row["invalid"] == sum(n != 1 for n in done)
    assert row["share_invalid"] == sum(n != 1 for n in done) / 40
    assert row["never"] == done.count(None)
    assert row["mean_tries"] == pytest.approx(sum(reached) / len(reached))
    unusable = sum((n or 4) - 1 for n in done)
    assert row["unusable_replies"] == unusable

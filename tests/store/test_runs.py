from __future__ import annotations

from core.store import runs


def test_a_second_start_of_the_same_process_is_not_a_second_run(database):
    assert runs.request_start(database, 1, "me", {"cost_cap": None})
    assert not runs.request_start(database, 1, "me", {"cost_cap": None})
    runs.report_event(database, 1, "running", "me", {})
    assert not runs.request_start(database, 1, "me", {})
    runs.report_event(database, 1, "finished", "me", {})
    assert runs.request_start(database, 1, "me", {})


def test_a_run_left_by_a_process_that_died_can_be_started_again(database):
    runs.request_start(database, 1, "died", {})
    runs.report_event(database, 1, "running", "died", {})
    assert runs.request_start(database, 1, "me", {})


def test_studies_queue_in_the_order_they_were_asked_for(database):
    for study in (3, 1, 2):
        runs.request_start(database, study, "me", {"cost_cap": study})
    assert runs.queued_runs(database, "me") == [
        (3, {"cost_cap": 3}),
        (1, {"cost_cap": 1}),
        (2, {"cost_cap": 2}),
    ]
    runs.report_event(database, 3, "running", "me", {})
    assert [study for study, _ in runs.queued_runs(database, "me")] == [1, 2]
    assert runs.queued_runs(database, "somebody else") == []


def test_the_newest_event_counts(database):
    for kind in ("start", "running", "pause", "paused"):
        runs.report_event(database, 1, kind, "me", {"reason": kind})
    event = runs.last_event(database, 1)
    assert (event.kind, event.detail["reason"]) == ("paused", "paused")
    assert runs.last_event(database, 2) is None
    assert [kind for _, kind, _ in runs.history(database, 1, 2)] == ["paused", "pause"]

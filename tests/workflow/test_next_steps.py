"""The next step of each study, over a real database."""

from __future__ import annotations

from dataclasses import replace

import pytest

import app
from core.workflow import next_steps
from core.workflow.answers import audits, imports
from core.workflow.designs import studies
from core.workflow.runs import control
from tests.fault_server import Step
from tests.workflow.studies import finished, freeze, service, simulated


def state_and_steps(workspace, code="study"):
    run = next((run for run in control.list_runs(workspace) if run.study == code), None)
    record = studies.load(workspace, code)
    steps = next_steps.next_steps(workspace, record, run)
    assert {step.page for step in steps} <= {page.name for page in app.PAGES}
    return next_steps.state_words(record, run), [(step.action, step.page) for step in steps]


def test_a_frozen_study_is_to_be_started(workspace):
    freeze(workspace, simulated(), n_personas=1)
    assert state_and_steps(workspace) == (
        "0 of 20 replied, 0 of 0 usable, not started",
        [("Start it on Collect", "collect")],
    )


def test_the_statistics_of_a_finished_simulated_study_are_to_be_read(workspace):
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    assert state_and_steps(workspace) == (
        "20 answers, all usable, finished",
        [("Read the item statistics", "item_statistics")],
    )


def test_replies_of_a_model_are_to_be_audited_until_an_audit_is_drawn(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    _, steps = state_and_steps(workspace)
    assert steps == [
        ("Read the item statistics", "item_statistics"),
        ("Audit the replies", "audit"),
    ]
    audits.draw_audit(workspace, "study", per_model=5, seed=1)
    assert state_and_steps(workspace)[1] == steps[:1]


def test_a_study_without_any_usable_reply_is_to_be_read_first(workspace, server):
    server.script = lambda *_: Step(content="I decline to answer that.")
    freeze(workspace, service(server.base_url), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    assert state_and_steps(workspace)[1] == [("Read why no reply is usable", "answers")]


@pytest.mark.parametrize(
    ("state", "n_done", "action"),
    [
        ("queued", 0, "Watch it on Collect"),
        ("running", 38, "Watch it on Collect"),
        ("pausing", 38, "Watch it on Collect"),
        ("paused", 38, "Continue on Collect"),
        ("stopped", 38, "Continue on Collect"),
        ("interrupted", 38, "Continue on Collect"),
        ("finished", 90, "Ask again: 10 without a reply"),
    ],
)
def test_a_run_that_is_not_complete_leads_to_collect(workspace, state, n_done, action):
    record = freeze(workspace, simulated(), n_personas=5)
    (run,) = control.list_runs(workspace)
    run = replace(run, state=state, n_done=n_done, n_usable=n_done, n_asked=n_done)
    steps = next_steps.next_steps(workspace, record, run)
    assert (steps[0].action, steps[0].page) == (action, "collect")
    assert f"{n_done} of 100 replied" in next_steps.state_words(record, run)


def test_imported_answers_without_a_bank_are_to_get_one(workspace):
    imports.import_tidy(workspace, "old.csv", b"item,answer\nq1,1\nq2,2\n")
    assert state_and_steps(workspace, "old") == (
        "2 answers, imported",
        [("Attach a bank", "import_export"), ("Read the item statistics", "item_statistics")],
    )

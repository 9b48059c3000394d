"""Two tabs, or a tab and a command, that change the same thing at the same moment."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from core.errors import ConflictError, UserError
from core.workflow.answers import audits, imports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.runs import amendments, control
from tests.fault_server import FaultServer
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

ROUNDS = 6


def at_once(*verbs):
    """What comes of verbs that begin at the same moment: a value, or the error."""
    barrier = threading.Barrier(len(verbs))
    outcomes = [None] * len(verbs)

    def run(place, verb):
        barrier.wait()
        try:
            outcomes[place] = verb()
        except Exception as error:  # noqa: BLE001  # looked at by the test
            outcomes[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(verbs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_start_and_an_amendment_are_not_both_accepted_unless_one_after_the_other(
    workspace, monkeypatch, number
):
    monkeypatch.setenv(KEY_VARIABLE, "sk-test-canary-0123456789")
    with FaultServer() as server:
        freeze(workspace, service(server.base_url, seed=7), n_personas=1)
        verbs = [
            lambda: control.start(workspace, "study"),
            lambda: amendments.amend(
                workspace, "study", "Service", leave_out=["seed"], reason="It is refused."
            ),
        ]
        started, amended = at_once(*(verbs if number % 2 else verbs[::-1]))
        if not number % 2:
            started, amended = amended, started
        finished(workspace)
        assert started is True
        sent = {"seed" in one.body for one in server.chats}
        if isinstance(amended, Exception):
            assert "is being asked" in str(amended)
            assert sent == {True}
        else:  # it came first: no call was sent with what it left out
            assert sent == {False}


@pytest.mark.parametrize("number", range(ROUNDS))
def test_freezing_beside_publishing_the_bank_is_no_fault_of_the_database(workspace, number):
    state = editing.load(workspace, "attitudes_20")
    renamed = replace(state.instrument, title=f"Title {number}")
    editing.save(workspace, renamed, expected_revision=state.revision)
    outcomes = at_once(
        lambda: freeze(workspace, simulated()),
        lambda: editing.publish(workspace, "attitudes_20"),
        lambda: editing.publish(workspace, "attitudes_20"),
    )
    assert not [one for one in outcomes if isinstance(one, Exception)]
    versions = editing.versions(workspace, "attitudes_20")
    assert len(versions) == 1
    assert len(studies.list_studies(workspace)) == 1


def test_equal_draws_give_one_audit(workspace):
    freeze(workspace, simulated())
    control.start(workspace, "study")
    finished(workspace)
    drawn = at_once(*[lambda: audits.draw_audit(workspace, "study", seed=1)] * 4)
    assert len({one.audit_id for one in drawn}) == 1
    assert len(audits.list_audits(workspace, "study")) == 1


def test_equal_imports_give_one_study_and_one_bank(workspace):
    data = b"item,answer,context\n" + b"".join(b"q%d,%d,p1\n" % (n, n % 5) for n in range(30))
    outcomes = at_once(*[lambda: imports.import_tidy(workspace, "same.csv", data)] * 3)
    faults = [one for one in outcomes if isinstance(one, Exception)]
    assert all(isinstance(one, UserError) for one in faults)
    (record,) = studies.list_studies(workspace)
    assert record.n_responses == 30
    assert [code for code in studies_banks(workspace) if code.startswith("same")] == ["same"]


def studies_banks(workspace):
    return [one.code for one in editing.summaries(workspace)]


def test_a_row_that_another_one_has_added_is_a_conflict_in_plain_words(workspace):
    """Whatever no lock was thought of for."""
    database = workspace.database
    add = "insert into page_memory values ('{}', now(), '1')".format
    database.write(add("x"))
    with pytest.raises(ConflictError, match=r"saved the same thing at this moment\. Try again"):
        database.write(add("x"))

    def beside():
        with database.transaction() as cursor:
            cursor.execute(add("y"))
            other = threading.Thread(target=lambda: database.write(add("y")))
            other.start()
            other.join()

    with pytest.raises(ConflictError, match="at this moment"):
        beside()

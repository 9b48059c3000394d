"""Samples of replies and what is kept of a person's coding, on the database itself."""

from __future__ import annotations

import hashlib

import pytest

from core.store import audits
from core.store.studies import studies
from core.workflow.answers import browsing
from core.workflow.runs import control
from tests.workflow.studies import freeze, simulated


def collect(workspace, **factors):
    freeze(workspace, simulated(refusal_rate=0.2, seed=3), **factors)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    (record,) = studies(workspace.database)
    return record.study_id


def sample(database, audit_id):
    return database.rows(
        "select trial_id, place from audit_sample where audit_id = ? order by place", [audit_id]
    )


@pytest.fixture
def drawn(workspace):
    study_id = collect(workspace)
    found = audits.draw(workspace.database, study_id, seed=1, per_model=10, at_end=False)
    return workspace.database, study_id, found


def test_the_same_seed_draws_the_same_sample_and_another_seed_another(workspace, drawn):
    database, study_id, audit_id = drawn
    first = sample(database, audit_id)
    assert [place for _, place in first] == list(range(1, 11))
    assert audits.draw(database, study_id, seed=1, per_model=10, at_end=True) == audit_id
    assert sample(database, audit_id) == first
    assert len(audits.audits(database, study_id)) == 1
    other = audits.draw(database, study_id, seed=2, per_model=10, at_end=False)
    assert {t for t, _ in sample(database, other)} != {t for t, _ in first}
    with database.transaction() as cursor:
        cursor.execute("delete from audit_sample")
        cursor.execute("delete from audit")
    assert (
        sample(database, audits.draw(database, study_id, seed=1, per_model=10, at_end=False))
        == first
    )


def test_a_sample_of_all_replies_is_the_one_that_earlier_versions_drew(drawn):
    database, _, audit_id = drawn

    def number(trial):  # how 0.1 has sorted replies before samples could be restricted to kinds
        return int.from_bytes(hashlib.md5(f"audit\x1f1\x1f{trial}".encode()).digest()[8:], "little")

    trials = [trial for (trial,) in database.rows("select trial_id from response")]
    expected = sorted(trials, key=number)[:10]
    assert [trial for trial, _ in sample(database, audit_id)] == expected


def test_a_larger_sample_of_a_seed_begins_with_the_smaller_one(drawn):
    database, study_id, audit_id = drawn
    larger = audits.draw(database, study_id, seed=1, per_model=30, at_end=False)
    assert sample(database, larger)[:10] == sample(database, audit_id)


def test_fewer_replies_than_asked_for_are_all_drawn_once(drawn):
    database, study_id, _ = drawn
    everything = audits.draw(database, study_id, seed=5, per_model=1000, at_end=False)
    trials = [trial for trial, _ in sample(database, everything)]
    assert len(trials) == len(set(trials)) == 100


def test_trials_without_a_reply_are_not_drawn(workspace):
    study_id = collect(workspace)
    database = workspace.database
    gone = [row[0] for row in database.rows("select attempt_id from attempt limit 40")]
    with database.transaction() as cursor:
        cursor.execute(
            "delete from attempt_text where attempt_id in (select unnest(?::bigint[]))", [gone]
        )
    found = audits.draw(database, study_id, seed=1, per_model=1000, at_end=False)
    assert len(sample(database, found)) == 60


def test_the_newest_coding_counts_and_all_stay_on_file(drawn):
    database, study_id, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    for status, option in (("refused", None), ("answered", "2")):
        audits.save_coding(database, audit_id, trial, coder="Anna", status=status, option=option)
    (row,) = audits.codings(database, audit_id).to_dict("records")
    assert (row["person_status"], row["person_option"]) == ("answered", "2")
    assert database.row("select count(*) from coding") == (2,)
    assert audits.coded_trials(database, audit_id, "Anna") == (trial,)
    assert audits.audits(database, study_id)[0].n_coded == 1
    assert audits.next_uncoded(database, audit_id, "Anna") != trial


def test_every_coder_has_a_next_reply_of_their_own(drawn):
    database, _, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    audits.save_coding(database, audit_id, trial, coder="Anna", status="refused", option=None)
    assert audits.next_uncoded(database, audit_id, "Ben") == trial
    audits.save_coding(database, audit_id, trial, coder="Ben", status="neutral", option=None)
    rows = audits.codings(database, audit_id)
    assert dict(zip(rows["coder"], rows["person_status"], strict=True)) == {
        "Anna": "refused",
        "Ben": "neutral",
    }
    assert audits.coders(database, audit_id) == {"Anna": 1, "Ben": 1}


def test_notes_and_final_codings_are_added_and_the_newest_counts(drawn):
    database, _, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    for note in ("first thought", "unclear", ""):
        audits.save_note(database, audit_id, trial, "Anna", note)
        audits.save_note(database, audit_id, trial, "Ben", "ironic")
    assert audits.notes(database, audit_id) == {(trial, "Ben"): "ironic"}
    assert database.row("select count(*) from coding_note") == (6,)
    for who, option in (("Anna", "1"), ("Clara", "2")):
        audits.save_adjudication(
            database, audit_id, trial, coder=who, status="answered", option=option
        )
    (row,) = audits.adjudications(database, audit_id).to_dict("records")
    assert (row["adjudicator"], row["option"]) == ("Clara", "2")
    assert row["decided_at"].endswith("Z")
    assert database.row("select count(*) from adjudication") == (2,)


def test_a_change_that_is_out_of_date_is_not_made(drawn):
    database, study_id, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    changes = audits.changes_by_person(database, study_id, {trial: ("neutral", None)})
    assert audits.apply_changes(database, study_id, changes, cause="person") == 1
    assert audits.apply_changes(database, study_id, changes, cause="person") == 0
    assert database.row("select count(*) from recoding") == (1,)


def test_undoing_two_persons_brings_back_what_stood_before_the_first(workspace, drawn):
    database, study_id, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    before = browsing.detail(workspace, trial)
    for option in ("1", "2"):
        changes = audits.changes_by_person(database, study_id, {trial: ("answered", option)})
        audits.apply_changes(database, study_id, changes, cause="person")
    assert browsing.detail(workspace, trial).option == "2"
    undo = audits.changes_undoing_person(database, study_id, [trial])
    assert audits.apply_changes(database, study_id, undo, cause="undo") == 1
    after = browsing.detail(workspace, trial)
    assert (after.status, after.option, after.parser) == (
        before.status,
        before.option,
        before.parser,
    )
    assert not after.set_by_person
    assert [old.cause for old in after.earlier_codings] == ["undo", "person", "person"]
    assert audits.changes_undoing_person(database, study_id, [trial]).num_rows == 0


def test_a_failed_change_leaves_everything_as_it_was(drawn):
    database, study_id, audit_id = drawn
    trial = audits.next_uncoded(database, audit_id, "Anna")
    changes = audits.changes_by_person(database, study_id, {trial: ("neutral", None)})
    with pytest.raises(Exception, match="CHECK"):
        audits.apply_changes(database, study_id, changes, cause="nobody")
    assert database.row("select count(*) from recoding") == (0,)
    assert database.row("select status from response where trial_id = ?", [trial]) != ("neutral",)

"""What changed in a study since somebody last looked at it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.members import Member, Role
from core.workflow import shelf, visits
from core.workflow.answers import audits
from core.workflow.designs import studies
from core.workflow.runs import control
from tests.pages.apps import fine, open_page
from tests.workflow.studies import finished, freeze, simulated


@pytest.fixture
def study(workspace):
    return freeze(workspace, simulated(), n_personas=2)


def answered(workspace):
    control.start(workspace, "study")
    finished(workspace)


def told(at):
    labels = [one.proto.popover.label for one in at.get("popover")]
    return [label for label in labels if "since you last looked" in label]


def looked(workspace):
    return visits.look(workspace, studies.load(workspace, "study"))


def test_the_first_look_has_nothing_to_compare_and_the_second_says_what_came(workspace, study):
    assert looked(workspace) is None
    assert not looked(workspace)
    answered(workspace)
    changes = looked(workspace)
    now = studies.load(workspace, "study")
    assert (changes.n_answers, changes.n_usable) == (40, now.n_usable) == (now.n_responses, 40)
    assert changes.sentence() == "40 more answers, 40 more usable answers."
    assert [entry.what for entry in changes.done] == ["Started the run"]
    assert changes.title() == "2 changes since you last looked"
    assert not looked(workspace)


def test_a_sample_and_a_new_name_are_told_by_the_log(workspace, study):
    answered(workspace)
    looked(workspace)
    audits.draw_audit(workspace, "study", seed=1, per_model=4)
    shelf.rename(workspace, "study", "My study")
    changes = looked(workspace)
    assert changes.n_answers == 0
    assert changes.sentence() == "The same number of answers."
    assert len(changes.done) == 2
    assert "My study" in " ".join(entry.what for entry in changes.done)


def test_a_page_tells_it_once_for_each_visit(workspace, study):
    open_page("answers", study="study")
    answered(workspace)
    at = open_page("item_statistics", study="study")
    assert told(at) == ["2 changes since you last looked"]
    assert "40 more answers" in " ".join(part.value for part in at.markdown)
    assert told(fine(at.run()))  # the same visit still says it
    assert not told(open_page("item_statistics", study="study"))


def test_a_page_left_open_for_longer_tells_what_came_meanwhile(workspace, study, monkeypatch):
    at = open_page("answers", study="study")
    answered(workspace)
    at = fine(at.run())
    assert not told(at)  # one has been there
    audits.draw_audit(workspace, "study", seed=1, per_model=4)
    monkeypatch.setattr(visits, "_AWAY", timedelta(seconds=-1))
    assert told(fine(at.run())) == ["1 change since you last looked"]


def test_members_are_told_what_others_did(workspace, study):
    ana, ben = (replace(workspace, member=Member(name, Role.EDITOR)) for name in ("ana", "ben"))
    for member in (ana, ben):
        looked(member)
    shelf.rename(ana, "study", "My study")
    assert not looked(ana)
    assert [entry.member for entry in looked(ben).done] == ["ana"]

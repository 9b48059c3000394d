"""What changed in a study since somebody last looked at it."""

from __future__ import annotations

import pytest

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
    (told,) = [p for p in at.get("popover") if "since you last looked" in p.proto.popover.label]
    assert told.proto.popover.label == "2 changes since you last looked"
    assert "40 more answers" in " ".join(part.value for part in told.markdown)
    at = fine(at.run())  # the same visit still says it
    assert any("since you last looked" in p.proto.popover.label for p in at.get("popover"))
    at = open_page("item_statistics", study="study")
    assert not any("since you last looked" in p.proto.popover.label for p in at.get("popover"))

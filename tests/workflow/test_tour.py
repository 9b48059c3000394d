"""The sample studies beside what somebody has made."""

from __future__ import annotations

import pytest

from core.errors import UserError
from core.workflow import shelf, tour
from core.workflow.answers import imports
from core.workflow.runs import control
from tests.workflow.studies import freeze, simulated

FIRST = tour.STUDIES[0].code


def test_another_study_of_the_same_name_is_never_started(workspace):
    freeze(workspace, simulated(), n_personas=1, study=FIRST)
    with pytest.raises(UserError, match="another study"):
        tour.load(workspace)
    (run,) = control.list_runs(workspace)
    assert (run.study, run.state) == (FIRST, "not_started")


def test_imported_answers_of_the_same_name_are_named(workspace):
    imports.import_tidy(workspace, f"{FIRST}.csv", b"item,answer\nq1,1\nq2,2\n")
    with pytest.raises(UserError, match="another study"):
        tour.load(workspace)


def test_a_sample_study_that_was_put_away_is_not_there_until_the_tour_is_loaded_again(
    workspace, monkeypatch
):
    monkeypatch.setattr(tour, "STUDIES", tour.STUDIES[:1])
    assert not tour.is_there(workspace)
    tour.load(workspace)
    assert tour.is_there(workspace)
    shelf.move(workspace, FIRST, "archived")
    assert not tour.missing(workspace)
    assert not tour.is_there(workspace)
    tour.load(workspace)
    assert tour.is_there(workspace)

"""Freezing a study."""

from __future__ import annotations

import threading

import pytest

from core.domain.study import Design
from core.errors import DesignError
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.studies import personas, simulated


def design(study="study", people=("Simulated",)):
    return Design(study=study, instrument="attitudes_20", respondents=people, contexts=personas(2))


def test_a_refused_freeze_publishes_nothing_and_adds_nobody(workspace):
    catalog.save(workspace, simulated())
    before = workspace.database.rows("select respondent_id from respondent order by all")
    with pytest.raises(DesignError, match="no respondent 'Nobody'"):
        studies.freeze(workspace, design(people=("Simulated", "Nobody")))
    assert editing.versions(workspace, "attitudes_20") == ()
    assert workspace.database.rows("select respondent_id from respondent order by all") == before
    assert studies.list_studies(workspace) == ()
    assert studies.freeze(workspace, design()).version == 1


def test_two_tabs_that_freeze_the_same_name_make_one_study_and_the_second_is_told(workspace):
    catalog.save(workspace, simulated())
    barrier, told = threading.Barrier(2), []

    def press():
        barrier.wait()
        try:
            studies.freeze(workspace, design())
        except DesignError as error:
            told.append(str(error))

    tabs = [threading.Thread(target=press) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert len(told) == 1
    assert "study called 'study' already" in told[0]
    assert [study.n_trials for study in studies.list_studies(workspace)] == [40]

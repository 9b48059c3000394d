"""What the methods say of times that cannot be right."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.workflow.reports import facts
from core.workflow.runs import control
from tests.workflow.studies import finished, freeze, simulated


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, ""), (-400, "before the plan was frozen"), (400, "in the future")],
)
def test_a_clock_that_jumped_is_named_in_the_methods(workspace, days, words):
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    found = facts.load(workspace, "study")
    moved = [
        replace(one, last=one.last + timedelta(days=days), first=one.first + timedelta(days=days))
        for one in found.replies
    ]
    said = facts.time_sentence(replace(found, replies=tuple(moved)))
    assert ("clock of a computer" in said) == bool(words)
    assert words in said

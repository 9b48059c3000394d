"""Texts in which numbers and names stand: no empty name, no noise, no words within a test."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.analysis.kit.registry import all_analyses
from core.errors import UserError
from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses

FAULTS = re.compile(
    r": :|^[\s:,;]|, :|; :|  |\(\)|\[\]|: $"  # an empty name
    r"|variances\("  # words taken for the name of a test
    r"|\bnan\b|\be-\d\d|[-−]0?\.0+\b(?!\d)"  # what is not a number, noise, a negative zero
)
"""Signs of an empty name, of an unwritten number, or of a name taken for that of a test."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """People who answered a bank without subscales in three languages; no model is named."""
    found = open_workspace(tmp_path_factory.mktemp("plain") / "inkblot.duckdb")
    chance = np.random.default_rng(4)
    rows = []
    for person in range(40):
        trait = chance.normal()
        for item in range(6):
            answer = int(np.clip(round(3 + trait + chance.normal()), 1, 5))
            rows.append((f"p{person}", f"i{item}", ("en", "de")[person % 2], answer))
    # one group that does not vary takes the place of Welch's test
    lines = ["study,context,item,language,answer,format"]
    lines += [
        f"plain,{who},{item},{language},{answer},likert_5" for who, item, language, answer in rows
    ]
    lines += [f"plain,q{who},i{item},fr,3,likert_5" for who in range(5) for item in range(6)]
    imports.import_tidy(found, "plain.csv", "\n".join(lines).encode())
    yield found
    found.close()


OPTIONS = {
    "group_comparison": {"factor": "language"},
    "dif": {"factor": "language", "by": ()},
    "norm_comparison": {"norms": (("(no subscale)", 3.0, 1.0, 100),)},
    "score_correlations": {"factor": "language"},
}


@pytest.mark.parametrize("analysis", all_analyses(), ids=lambda one: one.name)
def test_no_sentence_or_note_has_an_empty_name_or_a_number_as_a_machine_writes_it(
    workspace, analysis
):
    options = {**OPTIONS.get(analysis.name, {})}
    for name in ("resamples", "permutations"):
        if any(option.name == name for option in analysis.options):
            options[name] = 50
    try:
        result = analyses.run(workspace, analysis.name, ["plain"], options, {})
    except UserError as refusal:
        texts = [refusal.problem, refusal.remedy]
    else:
        texts = [one.sentence for one in analysis.answer(result)]
        texts += [one.group for one in analysis.answer(result)]
        texts += [*result.all_notes, result.method, result.unit]
    assert [text for text in texts if FAULTS.search(text)] == []

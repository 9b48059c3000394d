"""One bank with a direction of its own for some forms, worked by hand, on every way to a score.

The options count 0, 2 and 3 points, so that what mirrors them wrongly shows: 2 becomes 1, and 0
becomes 3. Who agrees with an item agrees with its original and paraphrases and disagrees with its
negation and opposite, unless the item says otherwise: x3 turns its paraphrase and not its negation,
x4 does not turn its opposite.
"""

from __future__ import annotations

import io

import pandas as pd
import pytest

from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
from core.store import audits, frames, studies
from core.store import banks as bank_store
from core.workflow.answers import exports, imports

FORMS = ("original", "negation", "opposite", "paraphrase_1")
SIGNS = {  # by hand: keying of the item times direction of the form
    "x1": (1, -1, -1, 1),
    "x2": (-1, 1, 1, -1),
    "x3": (1, 1, -1, -1),
    "x4": (-1, 1, -1, -1),
}
SO = {1: 2.0, -1: 1.0}  # the score of the option "so" by sign
NO = {1: 0.0, -1: 3.0}
EXPECTED = {
    (item, form): SO[sign]
    for item, signs in SIGNS.items()
    for form, sign in zip(FORMS, signs, strict=True)
}


@pytest.fixture
def bank():
    options = (Option("no", 0.0), Option("so", 2.0), Option("yes", 3.0), Option("unknown", None))
    own = {"x3": {"negation": 1, "paraphrase_1": -1}, "x4": {"opposite": 1}}
    items = tuple(
        Item(
            code,
            tuple(Wording("en", f"{form} of {code}", form) for form in FORMS),
            keyed=1 if code in ("x1", "x3") else -1,
            directions=own.get(code, {}),
        )
        for code in SIGNS
    )
    return Instrument("turned", "Turned", items, (ResponseFormat("three", options),))


@pytest.fixture
def answered(workspace, bank):
    """Every item answered "so" in every form; each form by a respondent of its name."""
    bank_store.save_draft(workspace.database, bank, expected_revision=None, summary="test")
    rows = [f"s,turned,{item},{form},{form},so" for item in SIGNS for form in FORMS]
    text = "\n".join(["study,instrument,item,model,form,answer", *rows])
    imports.import_tidy(workspace, "s.csv", text.encode())
    return workspace


def test_the_frame_of_an_analysis_follows_keying_and_forms(answered):
    frame = frames.item_scores(answered.database, ["s"], {})
    found = {(row.item, row.form): row.score for row in frame.itertuples()}
    assert found == EXPECTED


def test_the_tidy_export_follows_keying_and_forms(answered):
    frame = pd.read_csv(io.BytesIO(exports.export_tidy(answered, "s")))
    found = {(row.item, row.form): row.score for row in frame.itertuples()}
    assert found == EXPECTED


def test_the_means_of_a_change_follow_keying_and_forms(answered):
    """Every "so" is to become a "no"."""
    study = studies.get(answered.database, "s").study_id
    rows = answered.database.rows("select trial_id, attempt_id from response")
    changes = audits.change_table(
        [
            audits.ResponseChange(
                trial, "answered", "so", attempt, "answered", "no", None, attempt, 1
            )
            for trial, attempt in rows
        ]
    )
    means = audits.item_means(answered.database, study, changes)
    before = {(row.item, row.respondent): row.old_mean for row in means.itertuples()}
    after = {(row.item, row.respondent): row.new_mean for row in means.itertuples()}
    assert before == EXPECTED
    assert after == {
        (item, form): NO[sign]
        for item, signs in SIGNS.items()
        for form, sign in zip(FORMS, signs, strict=True)
    }


def test_a_bank_in_python_follows_keying_and_forms(bank):
    assert {key: bank.score(*key, "three", "so") for key in EXPECTED} == EXPECTED
    assert bank.score("x1", "original", "three", "unknown") is None
    assert bank.score("x9", "original", "three", "so") is None
    assert bank.score("x1", "original", "four", "so") is None

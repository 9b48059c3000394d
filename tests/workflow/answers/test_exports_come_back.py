"""Every export of a study imports again, into an empty database, and exports as it was."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.instrument import Rating
from core.workflow.answers import exports, imports, texts
from core.workflow.banks import editing
from core.workflow.designs import presets, studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.workflow.answers import test_texts
from tests.workflow.answers.test_texts import run
from tests.workflow.studies import finished, freeze, service, simulated


@pytest.fixture
def elsewhere(tmp_path, new_database):
    path = tmp_path / "elsewhere.duckdb"
    shutil.copyfile(new_database, path)
    workspace = open_workspace(path)
    yield workspace
    workspace.close()


letters, server = test_texts.letters, test_texts.server  # fixtures


def frame(data):
    return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)


def comes_back(workspace, elsewhere, study):
    """Import bank and answers of a study elsewhere; what is exported there."""
    first = exports.export_tidy(workspace, study)
    bank = editing.read_instrument("bank.csv", exports.bank_csv(workspace, study))
    assert bank.errors == ()
    kept = editing.import_bank(elsewhere, bank).instrument
    imports.import_tidy(elsewhere, "answers.csv", first, bank=kept.code)
    (again,) = (record.code for record in studies.list_studies(elsewhere))
    before, after = frame(first), frame(exports.export_tidy(elsewhere, again))
    assert len(before) == len(after) > 0
    shared = [c for c in before.columns if c not in ("study", "instrument")]
    missing = set(shared) - set(after.columns)
    assert not {c for c in missing if (before[c] != "").any()}
    key = [c for c in shared if c in after.columns]
    pd.testing.assert_frame_equal(
        before[key].sort_values(key, ignore_index=True),
        after[key].sort_values(key, ignore_index=True),
    )


CODES = [preset.code for preset in presets.PUBLISHED_DESIGNS]


@pytest.mark.parametrize("code", CODES)
def test_a_published_design(workspace, elsewhere, code):
    person = simulated(refusal_rate=0.1)
    catalog.save(workspace, person)
    design = presets.design(workspace, presets.by_code(code), first_items=2)
    own = {"temperatures": (), "top_p": (), "max_tokens": ()}
    if design.contexts:
        design = replace(design, contexts=design.contexts[:3])
    record = studies.freeze(workspace, replace(design, respondents=(person.label,), **own))
    control.start(workspace, record.code)
    finished(workspace, record.code)
    comes_back(workspace, elsewhere, record.code)


@pytest.mark.parametrize(
    "factors",
    [
        {"temperatures": (0.0, 0.7), "max_tokens": (16, 32)},
        {"items_per_call": 5, "whole_calls": True, "ask_again": 2},
        {"histories": ("own",), "label_orders": ("random",), "repetitions": 2},
    ],
    ids=["settings", "whole calls", "histories"],
)
def test_a_design_with_factors_of_its_own(workspace, elsewhere, factors):
    freeze(workspace, simulated(refusal_rate=0.2), n_personas=2, **factors)
    control.start(workspace, "study")
    finished(workspace)
    comes_back(workspace, elsewhere, "study")


def test_texts_written_by_a_model(workspace, elsewhere, letters):
    comes_back(workspace, elsewhere, "letters")


def test_ratings_of_a_judge(workspace, elsewhere, letters):
    qualities = (Rating("tragedy", 0, 10), Rating("comedy", 0, 10))
    bank = texts.create_judge_bank(workspace, "letters", "Rate this text.\n{text}", qualities)
    person = service(letters.base_url, at_once=1)
    freeze(workspace, person, study="judged", bank=bank.code, n_personas=0, templates=("free",))
    assert run(workspace, "judged").state == "finished"
    comes_back(workspace, elsewhere, "judged")
    (study,) = (record.code for record in studies.list_studies(elsewhere))
    qualities = ["tragedy", "comedy"]
    rated = texts.load_ratings(elsewhere, study)[qualities].to_numpy()
    first = texts.load_ratings(workspace, "judged")[qualities].to_numpy()
    np.testing.assert_array_equal(rated, first)
    assert np.isfinite(first).sum() > 20

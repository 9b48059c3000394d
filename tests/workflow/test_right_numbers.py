"""Numbers after the whole way: files or simulated respondents, through the database, to results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.collect.simulated import expected_alpha, item_truth
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item
from core.domain.study import Block
from core.store import banks as bank_store
from core.workflow.answers import imports
from core.workflow.designs import studies
from core.workflow.runs import control
from core.workflow.statistics import analyses
from core.workflow.statistics.analyses import known_truth
from tests.workflow.studies import freeze, simulated

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name):
    return json.loads((GOLDEN / name / "expected.json").read_text())


def imported(workspace, data):
    """The reference data as a tidy file of answers to a bank with its subscales."""
    wide = pd.read_csv(GOLDEN / "item_statistics" / f"{data}.csv")
    subscales = golden("item_statistics")["data"][data]
    subscale_of = {item: name for name, s in subscales.items() for item in s["items"]}
    items = tuple(Item(item, (), subscale_of[item]) for item in wide.columns if item in subscale_of)
    bank_store.save_draft(
        workspace.database, Instrument(data, data, items), expected_revision=None, summary="test"
    )
    wide = wide[list(subscale_of)].rename_axis("context").reset_index()
    long = wide.melt("context", var_name="item", value_name="answer").dropna()
    text = long.assign(instrument=data, study=data, context="p" + long["context"].astype(str))
    imports.import_tidy(workspace, f"{data}.csv", text.to_csv(index=False).encode())
    return subscales


@pytest.mark.parametrize("data", ["likert22", "hs1939"])
@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_discrimination_and_alpha_of_imported_answers_are_those_of_psych(workspace, data, missing):
    subscales = imported(workspace, data)
    result = analyses.run(workspace, "item_statistics", [data], {"missing": missing}, {})
    items = result.tables[0].frame.set_index("item")
    for subscale in subscales.values():
        expected = subscale[missing]["r_drop"]
        found = items.loc[list(expected), "discrimination"]
        assert found.to_numpy() == pytest.approx(list(expected.values()), abs=1e-6)
    result = analyses.run(workspace, "internal_consistency", [data], {"missing": missing}, {})
    alphas = result.tables[0].frame.set_index("subscale")["alpha"]
    for name, subscale in golden("internal_consistency")["data"][data].items():
        assert alphas[name] == pytest.approx(subscale[missing]["alpha"], abs=1e-6)


def test_the_truth_of_a_simulated_respondent_is_recovered(workspace):
    """400 administrations of known loadings, collected, coded, stored, scored and analysed.

    The item-rest correlation rises with the loading; alpha must lie within .03 of its expected
    value (its standard error at n = 400 and alpha near .9 is about .008).
    """
    person = simulated(loading=0.6, loading_spread=0.3, refusal_rate=0.0, seed=11)
    freeze(workspace, person, n_personas=400)
    control.start(workspace, "study")
    assert control.wait(workspace, "study", every_s=0.05).n_done == 8000
    bank = studies.frozen_bank(workspace, "study")
    truth = {t.code: t.loading for t in item_truth(person.simulation, bank.items)}
    items = analyses.run(workspace, "item_statistics", ["study"], {}, {}).tables[0].frame
    for _, subscale in items.groupby("subscale"):
        loadings = [truth[code] for code in subscale["item"]]
        assert np.corrcoef(loadings, subscale["discrimination"])[0, 1] > 0.9
        assert (subscale["discrimination"] > 0).all()
    alphas = analyses.run(workspace, "internal_consistency", ["study"], {}, {}).tables[0].frame
    expected = expected_alpha(person.simulation, bank.items, BUILT_IN["likert_5"])
    for _, row in alphas.iterrows():
        assert row["alpha"] == pytest.approx(expected[row["subscale"]], abs=0.03)


def test_reverse_scoring_reaches_the_statistics(workspace):
    """A fully reliable respondent: without reverse-scoring its alpha would be far below zero."""
    person = simulated(loading=0.97, loading_spread=0.0, seed=3)
    freeze(workspace, person, n_personas=60)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    items = analyses.run(workspace, "item_statistics", ["study"], {}, {}).tables[0].frame
    assert set(items["keyed"]) == {-1, 1}
    assert (items["discrimination"] > 0.8).all()


def test_the_known_truth_of_a_study_is_that_of_its_respondent(workspace):
    person = simulated(loading=0.5, seed=4)
    record = freeze(workspace, person, n_personas=2)
    (found,) = known_truth(workspace, record.code)
    bank = studies.frozen_bank(workspace, record.code)
    assert found.respondent == person.label
    assert found.items["code"].tolist() == [item.code for item in bank.items]
    assert found.items["loading"].between(0.4, 0.6).all()
    assert found.alphas["subscale"].tolist() == list(bank.subscales())
    assert found.alphas["alpha"].between(0.5, 0.9).all()


def answers_of_two_languages(more=""):
    """A file in which both languages answer alike under t1, and German under t2 as well."""
    rows = [
        ("two", f"i{item}", language, "t1", person + 1, (item + person) % 5 + 1)
        for language in ("en", "de")
        for item in range(6)
        for person in range(4)
    ]
    rows += [
        ("two", f"i{item}", "de", "t2", person + 1, 5) for item in range(6) for person in range(4)
    ]
    lines = [",".join(map(str, row)) for row in rows]
    header = "study,item,language,template,repetition,answer,format,respondent"
    return "\n".join([header, *(f"{line},likert_5,gpt" for line in lines)]) + "\n"


def test_templates_that_one_language_alone_was_asked_with_are_not_compared(workspace):
    """Identical answers differ by 0, wherever means are taken over templates on the way."""
    imports.import_tidy(workspace, "two.csv", answers_of_two_languages().encode())
    result = analyses.run(workspace, "cross_language", ["two"], {"resamples": 0}, {})
    tables = {table.name: table.frame for table in result.tables}
    assert tables["equivalence"]["difference"].tolist() == pytest.approx([0], abs=1e-12)
    assert any("left out: de with template t2." in text for text in result.cautions)
    options = {"factor": "language", "by": ("respondent",)}
    for over in ((), ("template",)):
        result = analyses.run(workspace, "group_comparison", ["two"], options, {}, over)
        means = next(table.frame for table in result.tables if table.name == "groups")["mean"]
        assert means.iloc[0] == pytest.approx(means.iloc[1])
        assert any("left out: " in text and "t2" in text for text in result.cautions)
    options = {"by": ("respondent", "language"), "resamples": 0, "midpoint": "drop"}
    result = analyses.run(workspace, "bias", ["two"], options, {})
    pairs = next(table.frame for table in result.tables if table.name == "comparisons")
    assert pairs["difference"].tolist() == pytest.approx([0], abs=1e-12)


def test_a_design_of_blocks_is_compared_over_what_its_blocks_have_in_common(workspace):
    blocks = (
        Block("both", languages=("en", "de")),
        Block("more", languages=("de",), label_orders=("inverted",)),
    )
    freeze(workspace, simulated(), n_personas=2, languages=("en", "de"), blocks=blocks)
    control.start(workspace, "study")
    assert control.wait(workspace, "study", every_s=0.05).n_done == 2 * 20 * 3
    result = analyses.run(workspace, "cross_language", ["study"], {"resamples": 0}, {})
    assert any("left out: de with label order inverted." in text for text in result.cautions)
    assert set(result.tables[-1].frame["n"]) == {2.0}  # of each persona, in each language

"""The edited factor model against the bank's: lavaan's numbers, the verdicts, the sentences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.cfa_comparison.change import (
    BANK_MODEL,
    EDITED_MODEL,
    ModelChange,
    model_changes,
)
from tests.analysis.score_frames import item_scores
from tests.stats.reference import scores

HS = [f"x{k}" for k in range(1, 10)]
BANK = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
LAVAAN = json.loads(
    (Path(__file__).parents[2] / "golden" / "model_change" / "expected.json").read_text()
)


def compared(edited, *, values=None, estimator="mlr", bank=BANK, **factors):
    values = scores("hs1939") if values is None else values
    texts = f"## {BANK_MODEL}\n{bank}\n## {EDITED_MODEL}\n{edited}"
    return cfa_comparison(
        item_scores(values, items=HS, **factors), models=texts, estimator=estimator
    )


def change(edited, **options):
    (one,) = model_changes(compared(edited, **options))
    return one


@pytest.mark.parametrize("estimator", ["ML", "MLR"])
@pytest.mark.parametrize("edit", ["cross_loading", "residuals", "moved", "one_factor"])
def test_both_models_and_their_difference_are_those_of_lavaan(edit, estimator):
    theirs = LAVAAN["numbers"][estimator][edit]
    own = change(LAVAAN["text"][edit], estimator=estimator.lower())
    for fit, bic, name in (
        (own.bank, own.bank_bic, "bank"),
        (own.edited, own.edited_bic, "edited"),
    ):
        for index in ("chi2", "df", "p", "cfi", "rmsea"):
            assert getattr(fit, index) == pytest.approx(theirs[name][index], abs=2e-4), index
        assert bic == pytest.approx(theirs[name]["bic"], abs=1e-3)
    for index in ("cfi", "rmsea", "bic"):
        difference = theirs["edited"][index] - theirs["bank"][index]
        assert getattr(own, index) == pytest.approx(difference, abs=2e-4), index
    if "test" in theirs:
        assert (own.df, own.edited_is_freer) == (theirs["test"]["df"], True)
        assert own.chi2 == pytest.approx(theirs["test"]["chi2"], rel=1e-4)
        assert own.p == pytest.approx(theirs["test"]["p"], abs=1e-6)
    else:
        assert not own.is_tested


def test_a_cross_loading_that_helps_fits_better_by_its_test():
    own = change(LAVAAN["text"]["cross_loading"])
    theirs = LAVAAN["numbers"]["MLR"]["cross_loading"]
    gain = theirs["edited"]["cfi"] - theirs["bank"]["cfi"]
    assert (own.verdict, own.light) == ("better", "green")
    assert own.sentence == (
        f"Your model against the bank's, gpt: Δχ²(1) = {theirs['test']['chi2']:.1f}, p < .001, "
        f"ΔCFI +{gain:.3f}: fits better.".replace("+0.", "+.")
    )


def test_an_item_on_another_factor_has_no_test_and_says_why():
    own = change(LAVAAN["text"]["moved"])
    theirs = LAVAAN["numbers"]["MLR"]["moved"]
    bic = theirs["edited"]["bic"] - theirs["bank"]["bic"]
    cfi = theirs["edited"]["cfi"] - theirs["bank"]["cfi"]
    assert (own.verdict, own.light) == (("worse", "red") if bic > 0 else ("better", "green"))
    assert f"scaled χ²(24) = {theirs['edited']['chi2']:.1f} instead of scaled χ²(24) = " in (
        own.sentence
    )
    assert f"ΔCFI {cfi:+.3f}".replace("0.", ".").replace("-", "−") in own.sentence
    assert f"ΔBIC {bic:+.1f}".replace("-", "−") in own.sentence
    assert own.sentence.endswith("No test of Δχ² (as many free parameters in both).")


def test_a_model_that_is_not_known_to_be_nested_is_compared_by_bic():
    own = change(LAVAAN["text"]["one_factor"])
    assert own.verdict == "worse"
    assert "No test of Δχ² (not nested as far as can be seen)" in own.sentence


def test_the_restricted_model_fits_no_worse_where_its_restriction_holds():
    draw = np.random.default_rng(3)
    traits = draw.normal(size=(500, 3)) @ np.array([[1, 0.4, 0.4], [0, 0.9, 0.2], [0, 0, 0.9]])
    values = np.repeat(traits, 3, axis=1) * 0.8 + 0.6 * draw.normal(size=(500, 9))
    freer = f"{BANK}\nvisual =~ x4"
    narrow = change(BANK, values=values, bank=freer, estimator="ml")
    wide = change(freer, values=values, estimator="ml")
    assert (narrow.verdict, wide.verdict) == ("alike", "alike")
    assert narrow.sentence.endswith("fits no worse, with fewer parameters.")
    assert wide.sentence.endswith("fits no better.")
    assert (narrow.chi2, narrow.p, narrow.cfi) == pytest.approx((wide.chi2, wide.p, -wide.cfi))


def test_without_an_item_nothing_is_tested():
    own = change(BANK.replace(" + x9", ""))
    assert not own.is_tested
    assert own.verdict == "unknown"
    assert own.sentence.endswith("No test: the two models have different items or covariates.")


def test_the_numbers_are_those_that_cfa_prints():
    own = change(LAVAAN["text"]["moved"])
    frame = item_scores(scores("hs1939"), items=HS)
    alone = cfa(frame, model_text=LAVAAN["text"]["moved"]).tables[0].frame.iloc[0]
    assert own.edited.chi2 == alone["chi2_scaled"]
    assert own.edited.cfi == alone["cfi_robust"]
    assert own.edited_bic == alone["bic"]


def test_a_group_without_a_fit_says_why():
    values = scores("hs1939")[:8]
    both = item_scores(scores("hs1939"), items=HS, respondent="many")
    few = item_scores(values, items=HS, respondent="few", start=1000)
    texts = f"## {BANK_MODEL}\n{BANK}\n## {EDITED_MODEL}\n{LAVAAN['text']['moved']}"
    result = cfa_comparison(pd.concat([both, few]), models=texts)
    own = {one.group: one for one in model_changes(result)}
    assert set(own) == {"many", "few"}
    assert own["few"].verdict == "unknown"
    assert "8 usable rows" in own["few"].sentence
    assert own["many"].verdict in ("better", "worse")


def test_without_a_likelihood_the_verdict_is_by_cfi():
    def verdict(cfi):
        return ModelChange("g", None, None, cfi=cfi).verdict

    assert [verdict(cfi) for cfi in (0.02, 0.005, -0.02, float("nan"))] == [
        "better",
        "alike",
        "worse",
        "unknown",
    ]


def test_fewer_than_ten_rows_give_no_verdict():
    tiny = ModelChange("g", None, None, cfi=0.02, few=True)
    assert (tiny.verdict, tiny.light) == ("unknown", "grey")


def test_a_difference_is_written_beyond_the_bound_that_it_exceeds():
    """A BIC that is 2.04 lower is preferred: it is more than 2, which one decimal would show."""
    own = change(LAVAAN["text"]["moved"])
    near = replace(own, bic=-2.04, cfi=0.0102)
    assert near.verdict == "better"
    assert "ΔBIC −2.04:" in near.sentence
    assert "ΔCFI +.0102," in near.sentence

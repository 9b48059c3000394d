"""500 items: the saturated model alone has 125,750 parameters, whose information takes 126 GB."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.cfa.analysis import cfa
from core.analysis.cfa_comparison.analysis import cfa_comparison
from core.analysis.invariance.analysis import invariance
from core.analysis.validation_report.analysis import validation_report
from core.errors import TooLarge
from tests.analysis.score_frames import item_scores


@pytest.fixture(scope="module")
def many():
    """20 administrations in each of two languages, two subscales."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, (20, 500)).astype(float)
    subscales = ["a"] * 250 + ["b"] * 250
    parts = [
        item_scores(
            values, subscales=subscales, start=1 + 20 * number, language=language,
            form="original", label_order="as_is",
        )
        for number, language in enumerate(("en", "de"))
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("estimator", ["ml", "mlr", "fiml", "wlsmv"])
def test_a_factor_model_is_refused_before_anything_is_computed(many, estimator):
    with pytest.raises(TooLarge, match=r"has 500 items.*The limit is 2 GB") as caught:
        cfa(many, estimator=estimator)
    assert "fewer items" in caught.value.remedy


@pytest.mark.parametrize("estimator", ["mlr", "wlsmv"])
def test_a_comparison_of_models_is_refused(many, estimator):
    with pytest.raises(TooLarge, match="500 items"):
        cfa_comparison(many, estimator=estimator)


def test_invariance_is_refused(many):
    with pytest.raises(TooLarge, match="500 items"):
        invariance(many, factor="language")


def test_the_validation_report_has_no_factorial_verdict_and_says_why(many):
    result = validation_report(many, by=("respondent",), estimator="mlr", resamples=10)
    found = next(table.frame for table in result.tables if table.name == "criteria")
    (row,) = found[found["criterion"] == "factorial"].to_dict("records")
    assert np.isnan(row["value"])
    assert row["rating"] == ""
    assert "has 500 items" in row["remark"]


@pytest.mark.parametrize(("estimator", "most"), [("ml", 102), ("fiml", 90), ("wlsmv", 106)])
def test_the_limit_is_the_largest_number_of_items_whose_matrices_fit(many, estimator, most):
    """2e9 bytes are 2.5e8 numbers: 9 (p (p + 1) / 2)^2, 14 (p (p + 3) / 2)^2, 8 (p (p - 1) / 2)^2.

    Of 102, 103; 90, 91; 106, 107 items that is 248, 258; 245, 256; 248, 257 million.
    """
    with pytest.raises(TooLarge, match=f"is {most} items here"):
        cfa(many, estimator=estimator)

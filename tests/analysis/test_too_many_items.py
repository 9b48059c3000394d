"""2,000 items: more than any estimator of factor models takes into 2 GB of memory."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.invariance.analysis import invariance
from core.analysis.scales.validation_report.analysis import validation_report
from core.errors import TooLarge
from tests.analysis.score_frames import item_scores


@pytest.fixture(scope="module")
def many():
    """20 administrations in each of two languages, two subscales."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, (20, 2000)).astype(float)
    subscales = ["a"] * 1000 + ["b"] * 1000
    parts = [
        item_scores(
            values,
            subscales=subscales,
            start=1 + 20 * number,
            language=language,
            form="original",
            label_order="as_is",
        )
        for number, language in enumerate(("en", "de"))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("estimator", ["ml", "mlr", "fiml", "wlsmv"])
def test_a_factor_model_is_refused_before_anything_is_computed(many, estimator):
    with pytest.raises(TooLarge, match=r"has 2000 items.*INKBLOT_MEMORY allows 2GB") as caught:
        cfa(many, estimator=estimator)
    assert "fewer items" in caught.value.remedy


@pytest.mark.parametrize("estimator", ["mlr", "wlsmv"])
def test_a_comparison_of_models_is_refused(many, estimator):
    with pytest.raises(TooLarge, match="2000 items"):
        cfa_comparison(many, estimator=estimator)


def test_invariance_is_refused(many):
    with pytest.raises(TooLarge, match="2000 items"):
        invariance(many, factor="language")


def test_the_validation_report_has_no_factorial_verdict_and_says_why(many):
    result = validation_report(many, by=("respondent",), estimator="mlr", resamples=10)
    found = next(table.frame for table in result.tables if table.name == "criteria")
    (row,) = found[found["criterion"] == "factorial"].to_dict("records")
    assert np.isnan(row["value"])
    assert row["rating"] == ""
    assert "has 2000 items" in row["remark"]


@pytest.mark.parametrize(("estimator", "most"), [("ml", 1535), ("fiml", 90), ("wlsmv", 448)])
def test_the_limit_is_the_largest_number_of_items_whose_arrays_fit(many, estimator, most):
    """2e9 bytes are 2.5e8 numbers. 40 rows; two factors of 2000 items have 4001 parameters, or
    2001 without residual variances, so q = 2.0005 p and 1.0005 p.

    ML: 6 (40) p + 10 q^2 + 45 p^2 + 2000 (4 p + 6 q), of 1535, 1536 items 249.8, 250.1 million;
    FIML: 14 (p (p + 3) / 2)^2, of 90, 91 items 245, 256 million;
    WLSMV: p (p - 1) / 2 (40 + 5 q + 200), of 448, 449 items 248.4, 250.04 million.
    """
    with pytest.raises(TooLarge, match=f"enough for {most} items here"):
        cfa(many, estimator=estimator)

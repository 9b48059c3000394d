"""Factor models of 60 to 120 items: the same numbers as lavaan's, in seconds and little memory.

golden/gold_many.R made the answers and lavaan's numbers. Its scaled tests take matrices of all
pairs of items; ours do not.
"""

import time
import tracemalloc

import numpy as np
import pytest

from core.stats.factor.cfa import fit_cfa
from core.stats.factor.estimation import prepare_groups
from core.stats.factor.likelihood import (
    NormalLikelihood,
    incomplete_saturated_model,
    saturated_model,
)
from core.stats.factor.model import Structure, parameter_table
from core.stats.factor.model_text import read_model
from core.stats.factor.wlsmv import fit_wlsmv
from tests.stats.reference import expected, scores

ITEMS = [f"i{k}" for k in range(1, 61)]
FIT = {"chisq": "chi2", "df": "df", "baseline.chisq": "baseline_chi2"}
INDICES = ("cfi", "tli", "rmsea")


@pytest.mark.parametrize("estimator", ["MLR", "WLSMV"])
def test_sixty_items_have_the_fit_and_errors_of_lavaan(estimator):
    golden = expected("many60_lavaan")
    fit = fit_wlsmv if estimator == "WLSMV" else fit_cfa
    ours, theirs = fit(scores("many60"), ITEMS, golden["model"]), golden[estimator]
    for name, own in FIT.items():
        assert getattr(ours.fit, own) == pytest.approx(theirs["fit"][name], rel=1e-6), name
    assert ours.srmr == pytest.approx(theirs["fit"]["srmr"], abs=1e-6)
    assert ours.scaled.chi2 == pytest.approx(theirs["fit"]["chisq.scaled"], rel=1e-5)
    assert ours.scaled.baseline_chi2 == pytest.approx(
        theirs["fit"]["baseline.chisq.scaled"], rel=1e-5
    )
    for name in INDICES:
        for version in ("scaled", "robust"):
            wanted = theirs["fit"][f"{name}.{version}"]
            assert getattr(getattr(ours, version), name) == pytest.approx(wanted, abs=1e-5), name
    for row in theirs["loadings"]:
        own = ours.estimate(row["lhs"], "=~", row["rhs"])
        assert (own.estimate, own.se) == pytest.approx((row["est"], row["se"]), abs=1e-4)
    for row in theirs["standardized"]:
        own = ours.standardized_estimate(row["lhs"], "=~", row["rhs"])
        assert (own.estimate, own.se) == pytest.approx((row["est.std"], row["se"]), abs=1e-4)


def test_the_trace_of_the_saturated_model_is_that_of_its_whole_information_matrix():
    rows = scores("many60")[:, :25]
    data = prepare_groups([rows], ITEMS[:25], missing="fiml", names=[""])
    whole, short = incomplete_saturated_model(data.groups), saturated_model(data.groups, means=True)
    assert short.trace == pytest.approx(whole.trace, rel=1e-11)
    assert short.deviance == pytest.approx(whole.deviance, rel=1e-13)


def test_the_observed_information_is_the_slope_of_the_gradient():
    """Of a second-order model with means in two groups, one of them with gaps."""
    text = (
        "a =~ i1 + i2 + i3 + i5\nb =~ i11 + i12 + i13\nc =~ i21 + i22 + i23\n"
        "g =~ a + b + c\ni1 ~~ i11"
    )
    model = read_model(text, ITEMS)
    rows = scores("many60")[:, [ITEMS.index(item) for item in model.items]]
    gaps = np.random.default_rng(1).random(rows[:150].shape) < 0.05
    groups = [np.where(gaps, np.nan, rows[:150]), rows[150:]]
    data = prepare_groups(groups, model.items, missing="fiml", names=["", ""])
    table = parameter_table(
        model, scaling="std.lv", means=True, n_groups=2, equal=frozenset({"loadings", "intercepts"})
    )
    likelihood = NormalLikelihood(Structure(table), data.groups)
    theta = np.random.default_rng(0).uniform(0.4, 0.8, table.n_free)
    unit = np.eye(len(theta))

    def slopes(h):
        at = [likelihood.gradient(theta + h * e) for e in (*unit, *-unit)]
        return (np.array(at[: len(unit)]) - np.array(at[len(unit) :])) / (4 * h)

    wanted = (4 * slopes(1e-4) - slopes(2e-4)) / 3  # Richardson's, of fourth order
    found = likelihood.observed_information(theta)
    assert np.abs(found - wanted).max() < 1e-8 * np.abs(wanted).max()


def test_120_items_take_seconds_and_no_matrix_of_all_pairs_of_items():
    """A square of 7,260 variances and covariances would be 422 MB; the aim is 1 GB and 10 s."""
    rng = np.random.default_rng(2)
    common = rng.normal(size=(1000, 1)) + rng.normal(size=(1000, 6))
    rows = np.repeat(common, 20, axis=1) + 2 * rng.normal(size=(1000, 120))
    items = [f"i{k}" for k in range(120)]
    text = "\n".join(f"F{f} =~ " + " + ".join(items[20 * f : 20 * f + 20]) for f in range(6))
    began = time.process_time()
    tracemalloc.start()
    fit = fit_cfa(rows, items, text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fit.converged
    assert fit.robust is not None
    assert len(fit.modification_indices) == 7740  # 120 x 119 / 2, and 5 x 120 loadings
    assert peak < 200e6
    assert time.process_time() - began < 10

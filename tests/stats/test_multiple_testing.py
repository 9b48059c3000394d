import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from core.stats.groups import adjusted_p
from tests.stats.reference import expected

R = expected("tests_R")["p_adjust"]
P = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@pytest.mark.parametrize(("method", "name"), [("holm", "holm"), ("benjamini-hochberg", "BH")])
def test_adjusted_p_equal_those_of_r_in_any_order(method, name):
    order = np.random.default_rng(0).permutation(len(R["p"]))
    own = adjusted_p(np.array(R["p"])[order], method)
    assert own == pytest.approx(np.array(R[name])[order], abs=1e-12)


@pytest.mark.parametrize(("method", "name"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])
def test_adjusted_p_equal_those_of_statsmodels_with_ties_and_ends(method, name):
    p = np.array([0.04, 0.001, 1.0, 0.04, 0.0, 0.3, 0.04, 0.26, 0.9])
    assert adjusted_p(p, method) == pytest.approx(multipletests(p, method=name)[1], abs=1e-15)


@pytest.mark.parametrize("method", ["holm", "benjamini-hochberg"])
def test_undefined_tests_stay_undefined_and_do_not_count(method):
    p = np.array([0.01, np.nan, 0.04, 0.03, np.nan])
    own = adjusted_p(p, method)
    assert np.isnan(own[[1, 4]]).all()
    assert own[[0, 2, 3]] == pytest.approx(adjusted_p(p[[0, 2, 3]], method), abs=0)


@given(p=P)
def test_adjusting_never_lowers_p_and_keeps_the_order(p):
    for method in ("holm", "benjamini-hochberg"):
        own = adjusted_p(np.array(p), method)
        assert (own >= np.array(p) - 1e-15).all()
        assert (own <= 1).all()
        assert (np.diff(own[np.argsort(p)]) >= -1e-15).all()
    assert (adjusted_p(np.array(p)) >= adjusted_p(np.array(p), "benjamini-hochberg") - 1e-15).all()


def test_nothing_and_nothing_defined_are_returned_as_they_are():
    assert adjusted_p(np.array([])).shape == (0,)
    assert np.isnan(adjusted_p(np.full(3, np.nan))).all()


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="within 0 and 1"):
        adjusted_p(np.array([0.5, 1.2]))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.correlation import (
    correlation,
    correlation_difference,
    major_axis_residuals,
    resampled_correlations,
)
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected, scores

R = expected("differences_R")
NAMES = ["x1", "x2", "x4", "x5", "x7"]


def hs():
    return scores("hs1939", NAMES)


def with_correlations(matrix, n):
    """Rows whose sample correlations are exactly those of a matrix."""
    noise = np.random.default_rng(3).normal(size=(n, len(matrix)))
    noise -= noise.mean(axis=0)
    own = np.linalg.qr(noise)[0]
    return own @ np.linalg.cholesky(np.asarray(matrix)).T


@pytest.mark.parametrize(
    ("name", "first", "second", "kind"),
    [
        ("overlapping_x1_x2_against_x1_x4", (0, 1), (0, 2), "pearson"),
        ("overlapping_x4_x5_against_x5_x7", (2, 3), (3, 4), "pearson"),
        ("separate_x1_x2_against_x4_x5", (0, 1), (2, 3), "pearson"),
        ("spearman_x1_x2_against_x1_x4", (1, 0), (2, 0), "spearman"),
    ],
)
def test_the_difference_of_two_correlations_equals_that_of_r(name, first, second, kind):
    own = correlation_difference(hs(), first, second, kind=kind)
    found = (own.statistic, own.p, own.low, own.high)
    assert found == pytest.approx(R[name], abs=1e-10)
    assert own.test == ("Steiger's z" if name.startswith("separate") else "Williams's t")
    assert own.difference == own.first - own.second


def test_the_interval_is_that_of_the_published_example():
    table = with_correlations([[1, 0.396, 0.179], [0.396, 1, 0.088], [0.179, 0.088, 1]], 66)
    own = correlation_difference(table, (0, 1), (0, 2))
    assert (own.low, own.high) == pytest.approx(R["published_zou"], abs=1e-12)
    assert (own.low, own.high) == pytest.approx((-0.093, 0.517), abs=5e-4)  # Zou (2007)


def test_two_separate_correlations_give_what_cocor_prints():
    """The vignette of rmcorr, comparing correlations: distances by actions and by judgment."""
    table = with_correlations(
        [
            [1, 0.8065821, 0.7355813, 0.7758245],
            [0.8065821, 1, 0.7160551, 0.7575109],
            [0.7355813, 0.7160551, 1, 0.7341831],
            [0.7758245, 0.7575109, 0.7341831, 1],
        ],
        180,
    )
    own = correlation_difference(table, (0, 1), (2, 3))
    assert (own.statistic, own.p) == pytest.approx((2.0983, 0.0359), abs=5e-5)
    assert (own.low, own.high) == pytest.approx((0.0048, 0.1456), abs=5e-5)


@given(seed=st.integers(0, 100))
def test_exchanging_both_correlations_turns_the_sign_and_keeps_p(seed):
    table = np.random.default_rng(seed).normal(size=(25, 4)) @ np.ones((4, 4)) * 0.3
    table += np.random.default_rng(seed + 1).normal(size=(25, 4))
    for first, second in (((0, 1), (2, 0)), ((0, 1), (2, 3))):
        one = correlation_difference(table, first, second)
        other = correlation_difference(table, second, first)
        assert one.p == pytest.approx(other.p, rel=1e-9)
        assert (one.statistic, one.low) == pytest.approx((-other.statistic, -other.high), rel=1e-9)


def test_rows_that_lack_a_score_of_either_pair_are_left_out():
    table = hs()
    table[:4, 4], table[5, 0] = np.nan, np.nan
    own = correlation_difference(table, (0, 1), (0, 4))
    kept = np.isfinite(table[:, [0, 1, 4]]).all(axis=1)
    assert (own.n, own.n_left_out) == (kept.sum(), 5)
    assert own.first == pytest.approx(np.corrcoef(table[kept, 0], table[kept, 1])[0, 1])


def test_what_is_undefined_has_its_reason():
    table = np.random.default_rng(0).normal(size=(9, 4))
    table[:, 3] = 1.0
    constant = correlation_difference(table, (0, 1), (0, 3))
    assert "a score is the same in every row" in constant.problems[0]
    assert np.isnan([constant.difference, constant.p]).all()
    few = correlation_difference(table[:3], (0, 1), (0, 2))
    assert "four rows with all scores, and there are 3" in few.problems[0]
    table[:, 3] = 2 * table[:, 0] + 1
    exact = correlation_difference(table, (0, 3), (0, 1))
    assert "determine each other exactly" in exact.problems[0]
    assert exact.first == pytest.approx(1)
    assert np.isnan(exact.p)
    with pytest.raises(ValueError, match="no two correlations"):
        correlation_difference(table, (0, 1), (1, 0))
    with pytest.raises(ValueError, match="no two correlations"):
        correlation_difference(table, (1, 1), (1, 0))


def test_the_test_rejects_equal_correlations_as_often_as_it_says():
    generator = np.random.default_rng(6)
    p, covered = [], []
    for _ in range(400):
        common = generator.normal(size=(40, 1))
        own = correlation_difference(common + generator.normal(size=(40, 3)), (0, 1), (0, 2))
        p.append(own.p)
        covered.append(own.low <= 0 <= own.high)
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.08
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_resampled_correlations_of_many_pairs_are_those_of_one_at_a_time(kind):
    table = hs()[:40]
    table[3, 1] = table[7, 0] = np.nan
    pairs, bootstrap = [(0, 1), (2, 3), (0, 4)], Bootstrap(200, seed=5)
    found = resampled_correlations(table, pairs, bootstrap, kind=kind)
    drawn = np.random.default_rng(5).integers(40, size=(200, 40))
    for place, (first, second) in enumerate(pairs):
        values = [correlation(table[r, first], table[r, second], kind=kind).r for r in drawn]
        assert found[:, place] == pytest.approx(values, abs=1e-10)


def test_units_of_several_rows_are_drawn_as_wholes():
    table = hs()[:30]
    units = np.repeat(np.arange(10), 3)
    found = resampled_correlations(table, [(0, 1)], Bootstrap(100, seed=2), units=units)
    drawn = np.random.default_rng(2).integers(10, size=(100, 10))
    rows = [np.concatenate([np.flatnonzero(units == unit) for unit in own]) for own in drawn]
    values = [correlation(table[own, 0], table[own, 1]).r for own in rows]
    assert found[:, 0] == pytest.approx(values, abs=1e-10)


def test_resamples_without_variation_have_no_correlation():
    table = np.array([[1.0, 2.0, 5.0], [1.0, 3.0, 5.0], [2.0, 5.0, 5.0], [np.nan, 1.0, 5.0]])
    found = resampled_correlations(table, [(0, 1), (0, 2)], Bootstrap(200))
    assert np.isnan(found[:, 1]).all()
    assert 0 < np.isnan(found[:, 0]).sum() < 200
    assert resampled_correlations(table, [], Bootstrap(10)).shape == (10, 0)


def test_residuals_from_the_major_axis_are_second_principal_components():
    table = hs()
    found = major_axis_residuals(table[:, 0], table[:, 1])
    assert found[:6] == pytest.approx(R["major_axis_x1_x2"], abs=1e-12)
    turned = major_axis_residuals(table[:, 1], table[:, 0])
    assert turned == pytest.approx(-found, abs=1e-12)
    first = np.append(table[:, 0], np.nan)
    assert np.isnan(major_axis_residuals(first, np.append(table[:, 1], 1.0))[-1])


def test_without_a_direction_of_most_variance_there_are_no_residuals():
    square = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    assert np.isnan(major_axis_residuals(*square)).all()
    assert np.isnan(major_axis_residuals(np.array([1.0]), np.array([2.0]))).all()

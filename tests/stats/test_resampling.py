from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from scipy.stats import rankdata
from statsmodels.stats.proportion import proportion_confint

from core.stats import resampling
from core.stats.resampling import (
    Bootstrap,
    cosine_intervals,
    percentile_interval,
    percentile_intervals,
    resampled_means,
    resampled_ratios,
    resampled_totals,
    row_weights,
    shares_among_highest,
    studentized_ratio_intervals,
    unit_intervals,
)
from tests.unit_intervals import wilson_of_units

BOOTSTRAP = Bootstrap(200, seed=3)


def counts(units=13, cells=7, seed=1):
    return np.random.default_rng(seed).integers(0, 50, (units, cells)).astype(np.float64)


def drawn_units(n_units, bootstrap):
    """Which units are in each resample, one draw after the other, as one writes it with numpy."""
    generator = np.random.default_rng(bootstrap.seed)
    return [generator.integers(n_units, size=n_units) for _ in range(bootstrap.n_resamples)]


def test_totals_are_those_of_the_units_drawn_one_resample_at_a_time():
    values = counts()
    expected = np.array([values[own].sum(axis=0) for own in drawn_units(len(values), BOOTSTRAP)])
    np.testing.assert_array_equal(np.concatenate([*resampled_totals(values, BOOTSTRAP)]), expected)


def test_the_size_of_blocks_changes_no_number(monkeypatch):
    values, more = counts(), counts(seed=2)
    whole = np.concatenate([*resampled_totals(values, BOOTSTRAP)])
    ratios = resampled_ratios(values, more, BOOTSTRAP)
    monkeypatch.setattr(resampling, "_CELLS_AT_ONCE", 40)
    blocks = [*resampled_totals(values, BOOTSTRAP)]
    assert len(blocks) > 10
    assert max(block.size for block in blocks) <= 40
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
    np.testing.assert_array_equal(resampled_ratios(values, more, BOOTSTRAP), ratios)


def test_ratios_are_of_totals_and_undefined_where_nothing_was_drawn():
    above, below = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[2.0, 2.0], [4.0, 0.0]])
    ratios = resampled_ratios(above, below, BOOTSTRAP)
    by_draw = {(0, 0): (1 / 2, 1.0), (0, 1): (4 / 6, 1.0), (1, 1): (3 / 4, np.nan)}
    expected = [by_draw[tuple(sorted(own))] for own in drawn_units(2, BOOTSTRAP)]
    np.testing.assert_allclose(ratios, expected)
    assert {tuple(sorted(own)) for own in drawn_units(2, BOOTSTRAP)} == set(by_draw)


def test_means_leave_out_units_without_a_value():
    values = counts()
    values[[2, 5], 0] = np.nan
    values[:, 3] = np.nan
    means = resampled_means(values, BOOTSTRAP)
    for own, found in zip(drawn_units(len(values), BOOTSTRAP), means, strict=True):
        np.testing.assert_allclose(
            np.delete(found, 3), np.nanmean(values[own][:, [0, 1, 2, 4, 5, 6]], axis=0)
        )
    assert np.isnan(means[:, 3]).all()


def test_the_resampled_mean_varies_as_theory_says():
    """The variance over all resamples of n units is that of the units (over n), over n."""
    values = np.random.default_rng(5).normal(size=(40, 1))
    means = resampled_means(values, Bootstrap(20_000, seed=0))
    assert means.mean() == pytest.approx(
        values.mean(), abs=4 * values.std() / 40**0.5 / 20_000**0.5
    )
    assert means.var() == pytest.approx(values.var() / 40, rel=0.05)


def test_values_that_are_not_finite_are_refused():
    values = counts()
    values[0, 0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        next(resampled_totals(values, BOOTSTRAP))
    with pytest.raises(ValueError, match="numerators"):
        resampled_ratios(counts(), counts(cells=2), BOOTSTRAP)


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6) | st.just(np.nan) | st.just(np.inf),
    ),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_intervals_of_columns_are_the_quantiles_of_their_defined_values(values, level):
    found = percentile_intervals(values, level)
    for column, low, high, n_undefined in zip(
        values.T, found.low, found.high, found.n_undefined, strict=True
    ):
        defined = column[np.isfinite(column)]
        assert n_undefined == len(column) - len(defined)
        if len(defined) == 0 or len(defined) < len(column) / 2:
            assert np.isnan([low, high]).all()
        else:
            shares = [(1 - level) / 2, (1 + level) / 2]
            np.testing.assert_array_equal([low, high], np.quantile(defined, shares))
        one = percentile_interval(column, level)
        np.testing.assert_array_equal([one.low, one.high], [low, high])


def test_every_line_of_weights_draws_as_many_rows_as_there_are():
    weights = np.concatenate([*row_weights(13, BOOTSTRAP)])
    assert weights.shape == (200, 13)
    assert (weights.sum(axis=1) == 13).all()


@given(arrays.arrays(float, (4, 5), elements=st.integers(0, 3)), st.integers(1, 6))
def test_places_among_the_highest_are_those_by_ranks_and_equal_values_share_them(values, count):
    expected = np.zeros(5)
    for line in values:
        first, last = (rankdata(-line, method=which) for which in ("min", "max"))
        expected += np.clip((count - first + 1) / (last - first + 1), 0, 1)
    found = shares_among_highest(values, count)
    np.testing.assert_allclose(found, expected / 4, atol=1e-12)
    assert found.sum() == pytest.approx(min(count, 5))


def test_a_column_without_values_has_no_place():
    values = np.array([[0.5, np.nan, 0.5], [0.1, np.nan, np.nan]])
    np.testing.assert_array_equal(shares_among_highest(values, 1), [0.75, np.nan, 0.25])


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.0, 1.0), (-2.0, 2.0)])
def test_intervals_of_units_are_wilsons_with_t_and_their_own_variance(bounds):
    """Beside statsmodels' interval for as many answers as vary so."""
    generator = np.random.default_rng(8)
    lowest, width = bounds[0], bounds[1] - bounds[0]
    values = lowest + width * generator.beta(2, 5, (12, 3))
    resampled = resampled_means(values, Bootstrap(20_000, 3))
    ends = unit_intervals(values.mean(axis=0), resampled, 12, 0.9, bounds)
    for cell in range(3):
        expected = wilson_of_units(values[:, cell], 0.9, bounds)
        assert (ends.low[cell], ends.high[cell]) == pytest.approx(expected, abs=0.005 * width)


def test_intervals_of_units_without_bounds_are_of_t():
    values = np.random.default_rng(9).normal(size=(8, 1))
    resampled = resampled_means(values, Bootstrap(20_000))
    ends = unit_intervals(values.mean(axis=0), resampled, 8, 0.95, None)
    expected = stats.ttest_1samp(values[:, 0], 0).confidence_interval(0.95)
    assert (ends.low[0], ends.high[0]) == pytest.approx(tuple(expected), abs=0.02)


def test_units_that_are_alike_have_an_interval_at_an_end_alone():
    """At an end Wilson's of as many answers; elsewhere, with one unit or without a mean, none."""
    observed = np.array([0.0, 1, 0.5, 1, np.nan])
    resampled = np.tile(observed, (9, 1))
    ends = unit_intervals(observed, resampled, np.array([10, 4, 10, 1, 10]), 0.95)
    assert (ends.low[0], ends.high[1]) == (0, 1)
    assert ends.high[0] == pytest.approx(proportion_confint(0, 10, method="wilson")[1])
    assert ends.low[1] == pytest.approx(proportion_confint(4, 4, method="wilson")[0])
    assert np.isnan([*ends.low[2:], *ends.high[2:]]).all()
    free = unit_intervals(np.array([3.0]), np.full((9, 1), 3.0), 10, 0.95, None)
    assert np.isnan([free.low[0], free.high[0]]).all()


@pytest.mark.parametrize("n_units", [4, 6, 10])
@pytest.mark.parametrize("shape", [(2, 2), (0.5, 0.5), (9, 1)])
def test_intervals_of_few_units_cover(n_units, shape):
    """1,000 studies of units with 10 answers each; percentiles cover 70 to 90 %."""
    generator = np.random.default_rng([n_units, int(10 * shape[0])])
    shares = generator.binomial(10, generator.beta(*shape, (n_units, 1000))) / 10
    mean, error = shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(n_units)
    # two resamples whose standard deviation is that of resamples of these units
    apart = error * np.sqrt((n_units - 1) / n_units)
    ends = unit_intervals(mean, np.stack([mean - apart, mean + apart]), n_units, 0.95)
    truth = shape[0] / sum(shape)
    defined = np.isfinite(ends.low)
    assert defined.mean() > 0.98
    assert 0.92 <= ((ends.low <= truth) & (truth <= ends.high))[defined].mean() <= 0.995


def test_studentized_intervals_are_those_of_ratios_drawn_one_resample_at_a_time():
    """The error of a ratio is that of weighted least squares through 0, with n - 1."""
    draw = np.random.default_rng(4)
    below = draw.integers(1, 4, 9).astype(np.float64)
    above = below * draw.exponential(size=9) - 1
    above[3] = below[3] = 0.0  # belongs to no ratio

    def ratio_and_error(x, w):
        x, w = x[w > 0], w[w > 0]
        ratio = x.sum() / w.sum()
        return ratio, np.std(x - ratio * w, ddof=1) * np.sqrt(len(w)) / w.sum()

    ratio, error = ratio_and_error(above, below)
    t = []
    for own in drawn_units(9, BOOTSTRAP):
        of_drawn, its_error = ratio_and_error(above[own], below[own])
        t.append((of_drawn - ratio) / its_error)
    low, high = ratio - np.quantile(t, [0.95, 0.05]) * error
    ends = studentized_ratio_intervals(
        np.c_[above, above], np.c_[below, below], BOOTSTRAP, 0.9, (-50, 50)
    )
    assert ends.low == pytest.approx([low, low], rel=1e-12)
    assert ends.high == pytest.approx([high, high], rel=1e-12)
    within = studentized_ratio_intervals(above[:, None], below[:, None], BOOTSTRAP, 0.9, (0, 0.9))
    assert (within.low[0], within.high[0]) == pytest.approx((max(low, 0), min(high, 0.9)))


def test_studentized_intervals_of_units_that_are_alike_are_those_of_units():
    ones, first = np.ones((8, 1)), np.zeros((8, 1))
    first[0] = 1.0
    for above, observed in ((ones, 1.0), (first * 0.0, 0.0)):
        ends = studentized_ratio_intervals(above, ones, BOOTSTRAP, 0.95, (0, 1))
        expected = unit_intervals(np.array([observed]), np.full((9, 1), observed), 8, 0.95)
        assert (ends.low, ends.high) == (expected.low, expected.high)
    single = studentized_ratio_intervals(first, first, BOOTSTRAP, 0.95, (0, 1))
    assert np.isnan([single.low, single.high]).all()
    with pytest.raises(ValueError, match="numerators"):
        studentized_ratio_intervals(ones, np.ones((8, 2)), BOOTSTRAP, 0.95, (0, 1))


@pytest.mark.parametrize("n_units", [10, 30])
def test_studentized_intervals_of_skewed_units_cover(n_units):
    """400 studies of units of exponential size, of which t would cover 90 and 93 %."""
    draw = np.random.default_rng(n_units)
    above = draw.exponential(size=(n_units, 400))
    ends = studentized_ratio_intervals(
        above, np.ones(above.shape), Bootstrap(500), 0.95, (-1e3, 1e3)
    )
    assert 0.92 <= ((ends.low <= 1) & (ends.high >= 1)).mean() <= 0.97


def noisy_vectors(cosine, error, studies, seed=1):
    """Cosines of vectors of 8 numbers with errors, and those of 200 resamples of each pair."""
    draw = np.random.default_rng(seed)
    true = np.zeros((2, 8))
    true[0, 0], true[1, :2] = 1.0, [cosine, np.sqrt(1 - cosine**2)]

    def of(pairs):
        lengths = np.sqrt((pairs**2).sum(axis=-1))
        return (pairs[..., 0, :] * pairs[..., 1, :]).sum(axis=-1) / lengths.prod(axis=-1)

    seen = true + error * draw.normal(size=(studies, 2, 8))
    return of(seen), of(seen + error * draw.normal(size=(200, studies, 2, 8)))


@pytest.mark.parametrize("cosine", [1.0, 0.95, 0.8, 0.0])
@pytest.mark.parametrize("error", [0.02, 0.05])
def test_intervals_of_cosines_hold_the_one_without_errors(cosine, error):
    observed, resampled = noisy_vectors(cosine, error, studies=400)
    ends = cosine_intervals(observed, resampled, 0.95)
    covered = (ends.low <= cosine) & (cosine <= ends.high + 1e-12)
    assert 0.9 <= covered.mean() <= 0.99
    percentiles = percentile_intervals(resampled, 0.95)
    if cosine == 1:
        assert (percentiles.high < 1).all()


def test_ends_of_cosines_are_distances_of_a_noncentral_chi_square():
    observed, resampled = noisy_vectors(0.8, 0.1, studies=1)
    ends = cosine_intervals(observed, resampled, 0.9)
    distance, drawn = 2 - 2 * observed[0], 2 - 2 * resampled[:, 0]
    excess = drawn.mean() - distance
    scale = drawn.var() / (2 * excess + 4 * distance)
    for end, share in ((ends.low[0], 0.05), (ends.high[0], 0.95)):
        noncentrality = (2 - 2 * end) / scale
        found = stats.ncx2.ppf(share, excess / scale, noncentrality) * scale
        assert found == pytest.approx(distance)
    half = cosine_intervals(np.array([0.9, np.nan]), np.full((4, 2), np.nan), 0.9)
    assert np.isnan([half.low, half.high]).all()
    assert half.n_undefined.tolist() == [4, 4]


def test_cosines_no_farther_apart_than_errors_have_no_interval_and_clear_ones_do_not_fail():
    draw = np.random.default_rng(1)
    apart = np.array([0.999, 0.2])
    resampled = np.column_stack([draw.normal(0.9, 0.01, 200), draw.normal(0.2, 1e-5, 200)])
    ends = cosine_intervals(apart, resampled, 0.95)
    assert np.isnan([ends.low[0], ends.high[0]]).all()
    assert ends.low[1] < 0.2 < ends.high[1]
    assert ends.high[1] - ends.low[1] < 1e-3

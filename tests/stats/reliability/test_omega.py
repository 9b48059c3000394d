import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.stats.inputs import Floats
from core.stats.reliability.omega import omega_total
from tests.examples import few_examples
from tests.stats.reference import expected, scores

SUBSCALES = [
    (file, subscale)
    for file in ("likert22_lavaan", "hs1939_lavaan")
    for subscale in expected(file)["subscales"]
]
LOADINGS = np.array([0.8, 0.7, 0.6, 0.5, 0.9])
POPULATION = LOADINGS.sum() ** 2 / (LOADINGS.sum() ** 2 + (1 - LOADINGS**2).sum())


def one_factor(n: int, seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=(n, 1)), generator.normal(size=(n, len(LOADINGS)))
    return common * LOADINGS + own * np.sqrt(1 - LOADINGS**2)


@pytest.mark.parametrize(("file", "subscale"), SUBSCALES)
def test_omega_total_equals_that_of_lavaan(file: str, subscale: str):
    reference = expected(file)
    own = reference["reliability"][subscale]
    table = scores(reference["data"][:-4], reference["subscales"][subscale])
    assert omega_total(table).value == pytest.approx(own["omega_cfa1_ml_listwise"], abs=1e-6)


def test_the_population_omega_is_recovered_and_covered():
    assert omega_total(one_factor(20_000, 1)).value == pytest.approx(POPULATION, abs=0.005)
    results = [omega_total(one_factor(150, seed)) for seed in range(300)]
    covered = np.mean([result.low <= POPULATION <= result.high for result in results])
    assert 0.91 <= covered <= 0.98


def test_parallel_items_have_an_omega_equal_to_alpha():
    # equal correlations of 1/2 among four items, exactly: alpha = omega = 4/5
    generator = np.random.default_rng(2)
    raw = generator.normal(size=(60, 4))
    white = np.linalg.svd(raw - raw.mean(axis=0), full_matrices=False)[0]
    table = white @ np.linalg.cholesky(np.full((4, 4), 0.5) + 0.5 * np.eye(4)).T
    assert omega_total(table).value == pytest.approx(0.8, abs=1e-9)


@few_examples
@given(scale=st.floats(0.1, 20), shift=st.floats(-50, 50), order=st.permutations(range(5)))
def test_origin_unit_and_order_of_items_do_not_change_omega(scale, shift, order):
    table = one_factor(80, 5)
    moved = (shift + scale * table)[:, list(order)]
    assert omega_total(moved).value == pytest.approx(omega_total(table).value, abs=1e-7)


def test_an_item_turned_round_lowers_omega_total():
    table = one_factor(300, 6)
    turned = table * [1, 1, 1, -1, 1]
    assert omega_total(turned).value < omega_total(table).value


def test_a_negative_residual_variance_is_named():
    # correlations that imply a communality of .8 * .8 / .5 = 1.28 for the first item
    correlation = np.array([[1, 0.8, 0.8], [0.8, 1, 0.5], [0.8, 0.5, 1]])
    generator = np.random.default_rng(0)
    raw = generator.normal(size=(100, 3))
    white = np.linalg.svd(raw - raw.mean(axis=0), full_matrices=False)[0]
    result = omega_total(white @ np.linalg.cholesky(correlation).T, names=["x", "y", "z"])
    assert result.defined
    assert np.isnan(result.low)
    assert any("Negative residual variance (x)" in text for text in result.problems)


def test_an_interval_ends_below_1_and_is_cut_at_0_with_a_note():
    rng = np.random.default_rng(7)
    high = omega_total(rng.standard_normal((5, 1)) + 0.3 * rng.standard_normal((5, 3)))
    assert high.value < high.high < 1
    rng = np.random.default_rng(1)
    found = [
        omega_total(rng.standard_normal((12, 1)) * 0.3 + rng.standard_normal((12, 4)))
        for _ in range(20)
    ]
    lows = [result for result in found if result.low == 0]
    assert lows
    assert all(any("cut at 0" in text for text in result.problems) for result in lows)
    usual = omega_total(one_factor(300, 6))
    assert 0 < usual.low < usual.high < 1
    assert not any("cut" in text for text in usual.problems)


def test_the_interval_is_of_the_logarithm_of_what_is_left_over():
    """Its ends lie t standard errors of ln(1 - omega) around it: for any level the same error."""
    scores = one_factor(40, 6)
    wide, narrow = omega_total(scores, level=0.95), omega_total(scores, level=0.8)
    errors = [
        (np.log(1 - result.value) - np.log(1 - result.high)) / stats.t.ppf((1 + level) / 2, 39)
        for result, level in ((wide, 0.95), (narrow, 0.8))
    ]
    assert errors[0] == pytest.approx(errors[1])
    middle = (np.log(1 - wide.low) + np.log(1 - wide.high)) / 2
    assert middle == pytest.approx(np.log(1 - wide.value))


@pytest.mark.parametrize(("subscale", "columns"), [("f", [0, 1, 2]), ("g", [3, 4, 5])])
def test_improper_solutions_have_the_values_of_r_and_a_caution(subscale, columns):
    table, own = scores("heywood6")[:, columns], expected("heywood6_lavaan")["reliability"]
    result = omega_total(table)
    assert result.value == pytest.approx(own[subscale]["omega_cfa1_ml_listwise"], abs=1e-6)
    assert any("Negative residual variance" in text for text in result.problems)


def test_three_items_have_the_loadings_that_follow_from_their_correlations():
    # second item .3 * .3 / .05 = 1.8, the others .05 each (squared); uniquenesses -.8, .95, .95
    correlation = np.array([[1, 0.3, 0.05], [0.3, 1, 0.3], [0.05, 0.3, 1]])
    generator = np.random.default_rng(0)
    raw = generator.normal(size=(50, 3))
    white = np.linalg.svd(raw - raw.mean(axis=0), full_matrices=False)[0]
    result = omega_total(white @ np.linalg.cholesky(correlation).T)
    common = (np.sqrt(1.8) + 2 * np.sqrt(0.05)) ** 2
    assert result.value == pytest.approx(common / (common - 0.8 + 0.95 + 0.95), abs=1e-9)


def test_slowly_settling_loadings_are_found():
    generator = np.random.default_rng(25)
    table = 0.3 * generator.normal(size=(100, 1)) + np.sqrt(0.91) * generator.normal(size=(100, 6))
    assert omega_total(table).defined


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (one_factor(50, 1)[:, :2], "three"),
        (one_factor(50, 1)[:, :1], "items"),
        (one_factor(4, 1), "more complete rows than items"),
        (np.ones((9, 4)), "all answers are the same"),
        (np.full((9, 4), np.nan), "nobody answered"),
        (np.empty((0, 4)), "rows"),
        (one_factor(50, 1)[:, [0, 0, 1, 2]], "combinations"),
    ],
)
def test_bad_tables_give_no_omega_but_a_reason(table: Floats, reason: str):
    result = omega_total(table)
    assert np.isnan([result.value, result.low, result.high]).all()
    assert reason in " ".join(result.problems)


def test_items_without_anything_in_common_do_not_break_omega():
    generator = np.random.default_rng(8)
    result = omega_total(generator.normal(size=(100, 6)))
    assert result.problems if not result.defined else 0 <= result.value < 0.6


def test_items_that_share_too_little_let_a_loading_grow_and_are_named_as_that():
    generator = np.random.default_rng(5)
    table = 0.3 * generator.normal(size=(100, 1)) + np.sqrt(0.91) * generator.normal(size=(100, 6))
    result = omega_total(table)
    assert not result.defined
    assert "share too little" in " ".join(result.problems)


def test_unrelated_items_have_an_interval_that_begins_at_0():
    """Some factor fits any items a little: 8 % of such intervals lay above 0."""
    draw = np.random.default_rng(20261129)
    found = [omega_total(draw.normal(size=(40, 6))) for _ in range(200)]
    with_interval = [one for one in found if math.isfinite(one.high)]
    assert len(with_interval) > 50
    above = [one for one in with_interval if one.low > 0]
    assert len(above) <= 1
    assert any("chance alone could relate" in " ".join(one.problems) for one in with_interval)
    trait = draw.normal(size=(40, 1))
    related = omega_total(trait + draw.normal(size=(40, 6)))
    assert 0 < related.low < related.value < related.high

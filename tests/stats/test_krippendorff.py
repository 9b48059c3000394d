import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from core.stats.agreement import krippendorff_alpha
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected
from tests.unit_intervals import ends_of_agreement

R = expected("agreement_R")
METRICS = ["nominal", "ordinal", "interval", "ratio"]
QUICK = Bootstrap(50, 0)


def table(name: str):
    return np.array(R[name]["data"], dtype=float)


@pytest.mark.parametrize("name", ["krippendorff_textbook", "krippendorff_5x20"])
@pytest.mark.parametrize("metric", METRICS)
def test_alpha_of_every_metric_equals_that_of_r(name, metric):
    result = krippendorff_alpha(table(name), metric)
    assert result.value == pytest.approx(R[name]["alpha"][metric], abs=1e-12)
    assert result.low < result.value < result.high


def test_units_coded_once_or_never_are_left_out_and_counted():
    own = krippendorff_alpha(table("krippendorff_5x20"), bootstrap=QUICK)
    assert (own.n, own.n_left_out) == (19, 1)
    padded = np.column_stack([table("krippendorff_5x20"), np.full((5, 3), np.nan)])
    again = krippendorff_alpha(padded, bootstrap=QUICK)
    assert (again.value, again.n_left_out) == (own.value, 4)


def test_two_coders_of_four_units_by_hand():
    # codes 00 01 11 11: observed disagreement 2/8; expected 2 * 3 * 5 / (8 * 7)
    own = krippendorff_alpha(np.array([[0.0, 0, 1, 1], [0, 1, 1, 1]]), bootstrap=QUICK)
    assert own.value == pytest.approx(1 - (2 / 8) / (30 / 56), abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_the_bootstrap_is_that_of_resampling_unit_by_unit(metric):
    ratings = table("krippendorff_5x20")
    kept = ratings[:, np.isfinite(ratings).sum(axis=0) >= 2]
    quick = krippendorff_alpha(ratings, metric, bootstrap=Bootstrap(100, 5))
    draws = np.random.default_rng(5).integers(19, size=(100, 19))
    one = Bootstrap(1, 0)
    slow = [krippendorff_alpha(kept[:, units], metric, bootstrap=one).value for units in draws]
    chance = [disagreement_by_chance(kept[:, units], metric) for units in draws]
    own = disagreement_by_chance(kept, metric)
    nominal = metric == "nominal"
    ends = ends_of_agreement(quick.value, own, slow, chance, kept.shape[1], nominal=nominal)
    assert (quick.low, quick.high) == pytest.approx(ends)


def disagreement_by_chance(ratings, metric):
    """The mean distance of any two codes, whoever gave them to whichever unit."""
    codes = ratings[np.isfinite(ratings)]
    places = rankdata(codes) if metric == "ordinal" else codes
    apart = (places[:, None] - places) ** 2
    if metric == "nominal":
        apart = (apart > 0) * 1.0
    if metric == "ratio":
        apart = apart / np.maximum((places[:, None] + places) ** 2, 1e-9)
    return apart.sum() / (len(codes) * (len(codes) - 1))


@given(seed=st.integers(0, 50), shift=st.floats(-20, 20), scale=st.floats(0.1, 10))
def test_interval_codes_may_move_and_stretch_and_coders_may_change_places(seed, shift, scale):
    generator = np.random.default_rng(seed)
    ratings = generator.integers(0, 5, size=(3, 12)).astype(float)
    ratings[generator.random((3, 12)) < 0.15] = np.nan
    own = krippendorff_alpha(ratings, "interval", bootstrap=QUICK)
    moved = krippendorff_alpha(shift + scale * ratings[::-1], "interval", bootstrap=QUICK)
    assert moved.value == pytest.approx(own.value, abs=1e-9, nan_ok=True)
    ordinal = krippendorff_alpha(ratings, "ordinal", bootstrap=QUICK)
    squared = krippendorff_alpha(ratings**2, "ordinal", bootstrap=QUICK)
    assert squared.value == pytest.approx(ordinal.value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("metric", METRICS)
def test_full_agreement_is_one_and_random_codes_are_near_zero(metric):
    codes = np.random.default_rng(0).integers(1, 5, size=300).astype(float)
    same = krippendorff_alpha(np.tile(codes, (3, 1)), metric, bootstrap=QUICK)
    assert same.value == pytest.approx(1, abs=1e-12)
    random = np.random.default_rng(1).integers(1, 5, size=(3, 300)).astype(float)
    assert krippendorff_alpha(random, metric, bootstrap=QUICK).value == pytest.approx(0, abs=0.07)


@pytest.mark.parametrize(
    ("ratings", "metric", "reason"),
    [
        (np.ones((3, 5)), "nominal", "every code is the same"),
        (np.full((3, 5), np.nan), "nominal", "two coders"),
        (np.array([[1.0, 2, 3]]), "ordinal", "two coders"),
        (np.empty((2, 0)), "interval", "two coders"),
        (np.array([[-1.0, 2], [1, 2]]), "ratio", "negative"),
    ],
)
def test_bad_ratings_give_no_alpha_but_a_reason(ratings, metric, reason):
    own = krippendorff_alpha(ratings, metric)
    assert np.isnan([own.value, own.low]).all()
    assert reason in own.problems[0]


def test_a_single_row_of_ratings_is_refused():
    with pytest.raises(ValueError, match="dimensions"):
        krippendorff_alpha(np.ones(4))

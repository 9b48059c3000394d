import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import dice
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from core.stats.agreement import (
    cohens_kappa,
    fleiss_kappa,
    form_kappas,
    krippendorff_alpha,
    pairwise_kappas,
    specific_agreement,
    weighted_kappa,
)
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected
from tests.unit_intervals import farther_end

R = expected("agreement_R")
FIRST, SECOND = (np.array(R["cohen"][name], dtype=float) for name in ("r1", "r2"))
CODES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=30)


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        ("none", "kappa_irr"),
        ("linear", "weighted_equal_irr"),
        ("quadratic", "weighted_squared_irr"),
    ],
)
def test_kappa_equals_that_of_irr(weights, name):
    own = weighted_kappa(FIRST, SECOND, weights=weights)
    assert own.value == pytest.approx(R["cohen"][name], abs=1e-12)


@pytest.mark.parametrize(("weights", "row"), [("none", 0), ("quadratic", 1)])
def test_the_interval_of_kappa_is_wilsons_with_the_error_of_psych(weights, row):
    own = weighted_kappa(FIRST, SECOND, weights=weights)
    low, value, high = R["cohen"]["ci_psych"][row]
    error = (high - low) / 2 / stats.norm.ppf(0.975)
    low, high = wilson_of_kappa(value, error**2, len(FIRST))
    high = max(high, farther_end_of_kappa(FIRST, SECOND, weights, value))
    assert [own.low, own.value, own.high] == pytest.approx([low, value, high], abs=1e-9)


def farther_end_of_kappa(first, second, weights, value):
    """With the changes of agreement and chance by one unit more, found by adding a little of it."""
    codes = np.unique([first, second])
    apart = np.abs(np.arange(len(codes))[:, None] - np.arange(len(codes)))
    lost = {"none": apart > 0, "linear": apart, "quadratic": apart**2}[weights] / (
        1 if weights == "none" else apart.max() ** (1 + (weights == "quadratic"))
    )
    places = np.searchsorted(codes, first), np.searchsorted(codes, second)

    def parts(shares):
        first_shares, second_shares = (np.bincount(p, shares, len(codes)) for p in places)
        chance = first_shares @ lost @ second_shares / shares.sum() ** 2
        return np.array([chance - (shares * lost[places]).sum() / shares.sum(), chance])

    n, little = len(first), 1e-6
    even = np.ones(n)
    slopes = np.array(
        [n * (parts(even + little * unit) - parts(even - little * unit)) for unit in np.eye(n)]
    ) / (2 * little)
    moments = slopes.T @ slopes / n / (n - 1)
    of_all = moments[0, 0], moments[1, 1], moments[0, 1]
    return farther_end(value, parts(even)[1], of_all, n)


def wilson_of_kappa(value, variance, n):
    """The ends at which a share with this error would be as far off as the quantile of t."""
    share, answers = (value + 1) / 2, (1 - value**2) / (variance * n / (n - 1))
    z2 = stats.t.ppf(0.975, n - 1) ** 2
    # (share - x)^2 = z2 x (1 - x) / answers
    roots = np.roots([1 + z2 / answers, -2 * share - z2 / answers, share**2])
    return np.sort(2 * roots - 1)


def test_kappas_hold_where_most_codes_are_of_one_category():
    """300 times three coders who see the right code in .9; it is the first in .8 of 10 units."""
    draw = np.random.default_rng(2)
    right = (draw.random((300, 10, 1)) < 0.2) * 1
    codes = np.where(draw.random((300, 10, 3)) < 0.9, right, 1 - right).astype(float)
    kappa = 1 - 2 * 0.9 * 0.1 / (2 * 0.74 * 0.26)
    quick = Bootstrap(200)
    for found in (
        [fleiss_kappa(own, bootstrap=quick) for own in codes],
        [pairwise_kappas(own, bootstrap=quick) for own in codes],
        [weighted_kappa(*own[:, :2].T) for own in codes],
    ):
        ends = np.array([(one.low, one.high) for one in found if np.isfinite(one.low)])
        assert len(ends) > 250
        assert ((ends[:, 0] <= kappa) & (kappa <= ends[:, 1])).mean() >= 0.9
    alike = fleiss_kappa(np.array([[0.0, 0, 0]] * 9 + [[0, 1, 1]]), bootstrap=quick)
    assert alike.high == pytest.approx(1, abs=1e-6)  # one unit decides what chance gives


def test_kappas_of_few_units_have_intervals_that_hold_and_a_width():
    """500 pairs of coders who see the right one of three codes in .9, else another: kappa .72."""
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(500):
        right = draw.integers(3, size=15)
        other = (right + draw.integers(1, 3, size=(2, 15))) % 3
        codes = np.where(draw.random((2, 15)) < 0.9, right, other).astype(float)
        kappa = weighted_kappa(*codes)
        covered += kappa.low <= (0.815 - 1 / 3) / (2 / 3) <= kappa.high
    assert 0.92 <= covered / 500 <= 0.985
    agreed = weighted_kappa(np.arange(6) % 2, np.arange(6) % 2)
    assert agreed.high == 1
    assert agreed.low == pytest.approx(2 * 6 / (6 + stats.norm.ppf(0.975) ** 2) - 1)  # 6 of 6


@given(codes=CODES)
def test_any_two_codings_have_the_kappa_of_statsmodels(codes):
    first, second = np.array(codes, dtype=float).T
    found = np.unique(codes)
    for weights, name in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
        own = weighted_kappa(first, second, weights=weights)
        if len(found) == 1:
            assert np.isnan(own.value)
            continue
        table = np.zeros((len(found), len(found)))
        np.add.at(table, (np.searchsorted(found, first), np.searchsorted(found, second)), 1)
        with np.errstate(all="ignore"):  # its own z of two constant coders
            other = statsmodels_kappa(table, wt=name)
        assert own.value == pytest.approx(other.kappa, abs=1e-10)
        if np.isfinite(own.low) and abs(own.value) < 1 - 1e-9:
            low, high = wilson_of_kappa(other.kappa, other.var_kappa, len(codes))
            high = max(high, farther_end_of_kappa(first, second, weights, other.kappa))
            assert own.high == pytest.approx(high, abs=1e-5)
            if own.value >= 0:
                assert own.low == pytest.approx(low, abs=1e-6)


def test_kappa_of_categories_worked_by_hand():
    # agree on 3 of 4: 3/4. Expected: 3/4 · 1/2 + 1/4 · 1/2 = 1/2. (3/4 - 1/2) / (1/2) = 1/2
    assert cohens_kappa(["a", "a", "a", "b"], ["a", "a", "b", "b"]).value == 0.5
    # each used each category half of the time and agreed half of the time: chance
    assert cohens_kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]).value == 0
    assert cohens_kappa(["a", "b"], ["b", "a"]).value == -1
    assert cohens_kappa(["a", "b", None], ["a", "b", None]).value == 1


@given(codes=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=200))
def test_kappa_of_categories_is_the_ratio_of_whole_numbers(codes):
    n = len(codes)
    first, second = ([pair[coder] for pair in codes] for coder in (0, 1))
    observed = n * sum(a == b for a, b in codes)
    expected = sum(first.count(category) * second.count(category) for category in range(5))
    own = cohens_kappa(first, second).value
    if expected == n * n:
        assert math.isnan(own)
    else:
        assert own == pytest.approx((observed - expected) / (n * n - expected), abs=1e-12)


def test_kappa_of_categories_has_the_interval_of_numbers():
    own = cohens_kappa([f"code {x}" for x in FIRST], [f"code {x}" for x in SECOND])
    numbers = weighted_kappa(FIRST, SECOND)
    ends = [numbers.low, numbers.value, numbers.high]
    assert [own.low, own.value, own.high] == pytest.approx(ends, abs=1e-12)


def test_kappa_of_categories_is_undefined_without_variety_and_refuses_unequal_lengths():
    for nothing in (cohens_kappa([], []), cohens_kappa(["a", "a"], ["a", "a"])):
        assert math.isnan(nothing.value)
        assert "Undefined" in nothing.problems[0]
    with pytest.raises(ValueError, match="2 codings against 1"):
        cohens_kappa(["a", "b"], ["a"])


def test_a_coder_who_gives_one_category_has_kappa_zero_and_no_interval():
    degenerate = R["cohen_degenerate"]
    own = weighted_kappa(np.array(degenerate["a"]), np.array(degenerate["b"]))
    assert own.value == degenerate["kappa_irr"]
    assert np.isnan(own.low)
    assert own.problems


def test_units_one_coder_skipped_are_left_out_and_counted():
    own = weighted_kappa(np.append(FIRST, [np.nan, 1]), np.append(SECOND, [1, np.nan]))
    assert (own.n, own.n_left_out) == (30, 2)
    assert own.value == weighted_kappa(FIRST, SECOND).value


def test_fleiss_kappa_equals_that_of_irr():
    own = fleiss_kappa(np.array(R["fleiss"]["data"], dtype=float))
    assert own.value == pytest.approx(R["fleiss"]["kappa"], abs=1e-12)
    assert own.low < own.value < own.high


def test_fleiss_leaves_out_units_with_a_gap_and_agrees_with_statsmodels():
    generator = np.random.default_rng(0)
    ratings = generator.integers(0, 4, size=(40, 5)).astype(float)
    counts = (ratings[:, :, None] == np.arange(4)).sum(axis=1)
    gaps = np.vstack([ratings, np.full((2, 5), np.nan)])
    own = fleiss_kappa(gaps, bootstrap=Bootstrap(50))
    assert own.value == pytest.approx(statsmodels_fleiss(counts), abs=1e-12)
    assert (own.n, own.n_left_out) == (40, 2)


@pytest.mark.parametrize(
    "own",
    [
        weighted_kappa(np.ones(5), np.ones(5)),
        weighted_kappa(np.array([]), np.array([])),
        weighted_kappa(np.full(3, np.nan), np.ones(3)),
        fleiss_kappa(np.ones((4, 3))),
        fleiss_kappa(np.full((4, 3), np.nan)),
        fleiss_kappa(np.arange(4.0)[:, None]),
    ],
)
def test_bad_codings_give_no_kappa_but_a_reason(own):
    assert np.isnan([own.value, own.low, own.high]).all()
    assert "Undefined" in own.problems[0]


def test_codings_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="pair"):
        weighted_kappa(np.ones(3), np.ones(4))


# Table 18.1 of Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions (13.1 in
# the edition of 1981): diagnoses of 100 subjects by two raters, rater A in rows.
DIAGNOSES = {
    ("psychotic", "psychotic"): 75, ("psychotic", "neurotic"): 1, ("psychotic", "organic"): 4,
    ("neurotic", "psychotic"): 5, ("neurotic", "neurotic"): 4, ("neurotic", "organic"): 1,
    ("organic", "organic"): 10,
}  # fmt: skip


def test_the_diagnoses_of_fleiss_have_his_agreement_on_each_category_and_his_kappa():
    first, second = zip(*(pair for pair, n in DIAGNOSES.items() for _ in range(n)), strict=True)
    printed = {"psychotic": 0.94, "neurotic": 0.53, "organic": 0.80}
    for category, value in printed.items():
        assert round(specific_agreement(first, second, category).value, 2) == value
    neurotic = specific_agreement(first, second, "neurotic")
    assert (neurotic.both, neurotic.only_first, neurotic.only_second) == (4, 6, 1)
    assert neurotic.value == 8 / 15  # 2 · 4 / (2 · 4 + 6 + 1)
    assert round(cohens_kappa(first, second).value, 2) == 0.68


@given(codes=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=50))
def test_agreement_on_a_category_is_one_minus_the_dice_distance_of_scipy(codes):
    first, second = zip(*codes, strict=True)
    for category in range(3):
        own = specific_agreement(first, second, category)
        uses = [np.array(coder) == category for coder in (first, second)]
        assert own.both + own.only_first == uses[0].sum()
        assert own.both + own.only_second == uses[1].sum()
        if not (uses[0] | uses[1]).any():
            assert math.isnan(own.value)
            assert own.problem == "Undefined: neither coder used this category."
        else:
            assert own.value == pytest.approx(1 - dice(*uses), abs=1e-12)


def test_agreement_on_a_category_refuses_unequal_lengths():
    with pytest.raises(ValueError, match="2 codings against 1"):
        specific_agreement(["a", "b"], ["a"], "a")


def test_kappas_over_pairs_of_a_single_unit_have_a_mean_and_no_interval():
    """The two give different codes: kappa is 0 by the formula, and no other unit can be drawn."""
    found = pairwise_kappas(np.array([[1.0, 0]]), bootstrap=Bootstrap(50))
    assert (found.mean, found.n_units) == (0, 1)
    assert np.isnan([found.low, found.high]).all()


def test_kappas_of_forms_count_the_pairs_of_stances_of_each_template():
    """Three statements and two wordings are six pairs; in the second template one lacks both."""
    original = np.array([[1, 1], [1, np.nan], [-1, -1]])
    others = np.repeat([1.0, -1, -1], 4).reshape(3, 2, 2)
    assert form_kappas(original, others).n.tolist() == [6, 4]


def test_the_upper_end_of_fleiss_is_that_of_alpha_which_corrects_chance_for_few_codes():
    draw = np.random.default_rng(4)
    for _ in range(5):
        codes = draw.integers(0, 3, size=(10, 3)).astype(float)
        kappa, alpha = fleiss_kappa(codes), krippendorff_alpha(codes.T)
        assert kappa.value == pytest.approx(1 - (1 - alpha.value) * 30 / 29)
        assert kappa.high == pytest.approx(alpha.high, abs=0.01)
        assert kappa.low < kappa.value < kappa.high


def test_where_no_two_codes_of_any_unit_agree_no_end_stands_alone():
    codes = np.array([[1.0, 2, 0]] * 6)
    for found in (fleiss_kappa(codes), krippendorff_alpha(codes.T)):
        assert found.value < -0.4
        assert math.isnan(found.low)
        assert math.isnan(found.high)

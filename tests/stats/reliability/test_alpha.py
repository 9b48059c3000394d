import statistics
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.domain.notes import kind_of
from core.stats.inputs import Floats
from core.stats.reliability.alpha import cronbach_alpha, feldt_interval, stratified_alpha
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected, scores

SUBSCALES = [
    (file, subscale)
    for file in ("likert22_lavaan", "hs1939_lavaan")
    for subscale in expected(file)["subscales"]
]


def simulated(n: int = 200, k: int = 6, seed: int = 0) -> Floats:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(n, 1)) + generator.normal(size=(n, k))


@pytest.mark.parametrize(("file", "subscale"), SUBSCALES)
def test_alpha_and_feldts_interval_equal_those_of_r(file: str, subscale: str):
    reference = expected(file)
    own = reference["reliability"][subscale]
    result = cronbach_alpha(scores(reference["data"][:-4], reference["subscales"][subscale]))
    assert result.value == pytest.approx(own["alpha_listwise_check"], abs=1e-12)
    psych = own["psych_alpha_listwise"]["total"]["raw_alpha"]
    assert result.value == pytest.approx(psych, abs=1e-12)
    assert result.low == pytest.approx(own["feldt_ci95_listwise"]["lower"], abs=1e-12)
    assert result.high == pytest.approx(own["feldt_ci95_listwise"]["upper"], abs=1e-12)
    assert result.n == own["n_listwise"]
    assert result.n + result.n_left_out == own["n_pairwise"]


@pytest.mark.parametrize("file", ["likert22_lavaan", "hs1939_lavaan"])
def test_stratified_alpha_equals_that_of_r(file: str):
    reference = expected(file)
    own = reference["reliability"]["stratified_alpha_listwise"]
    items = [item for group in reference["subscales"].values() for item in group]
    strata = [name for name, group in reference["subscales"].items() for _ in group]
    result = stratified_alpha(scores(reference["data"][:-4], items), strata)
    assert result.coefficient.value == pytest.approx(own["value"], abs=1e-12)
    assert result.coefficient.n == own["n"]
    assert result.total_variance == pytest.approx(own["total_var"], rel=1e-12)
    for place, name in enumerate(result.strata):
        assert result.alphas[place] == pytest.approx(own["subscale_alpha"][name], abs=1e-12)
        assert result.variances[place] == pytest.approx(own["subscale_var"][name], rel=1e-12)
    assert result.coefficient.low < own["value"] < result.coefficient.high


def test_alpha_of_a_small_table_is_what_hand_calculation_gives():
    # items (1,2,3,4) and (2,1,4,3): variances 5/3 each, sums 3,3,7,7 with variance 16/3
    table = np.array([[1, 2], [2, 1], [3, 4], [4, 3]], dtype=float)
    assert cronbach_alpha(table).value == pytest.approx(2 * (1 - (10 / 3) / (16 / 3)), abs=1e-14)


def test_alpha_of_whole_scores_is_the_same_to_the_last_digit_in_any_order():
    generator = np.random.default_rng(4)
    trait = generator.normal(size=(40, 1))
    table = np.clip(np.round(trait + generator.normal(size=(40, 10)) + 3), 1, 5)
    variances = [Fraction(statistics.variance(map(Fraction, item))) for item in table.T.tolist()]
    total = Fraction(statistics.variance(map(Fraction, table.sum(axis=1).tolist())))
    exact = float(Fraction(10, 9) * (1 - sum(variances) / total))
    found = set()
    for _ in range(30):
        shuffled = generator.permutation(generator.permutation(table), axis=1)
        found.add(cronbach_alpha(shuffled).value)
        found.add(cronbach_alpha(shuffled, missing="pairwise").value)
        found.add(cronbach_alpha(shuffled, bootstrap=Bootstrap(100)).value)
    assert len(found) == 1
    assert found.pop() == pytest.approx(exact, abs=2e-16)


def test_stratified_alpha_of_a_small_table_is_what_hand_calculation_gives():
    # stratum a as above: variance 16/3, alpha 3/4. Stratum b: items equal, sums 2,4,6,8: variance
    # 20/3, alpha 1. Totals 5,7,13,15: variance 68/3. 1 - (16/3 * 1/4) / (68/3) = 16/17.
    table = np.array([[1, 2, 1, 1], [2, 1, 2, 2], [3, 4, 3, 3], [4, 3, 4, 4]], dtype=float)
    result = stratified_alpha(table, ["a", "a", "b", "b"])
    assert result.alphas == pytest.approx((0.75, 1.0), abs=1e-14)
    assert result.variances == pytest.approx((16 / 3, 20 / 3), abs=1e-14)
    assert result.total_variance == pytest.approx(68 / 3, abs=1e-13)
    assert result.coefficient.value == pytest.approx(16 / 17, abs=1e-14)


def test_stratified_alpha_of_one_stratum_is_cronbachs():
    table = simulated()
    one = stratified_alpha(table, ["all"] * 6, bootstrap=Bootstrap(200, 3)).coefficient
    alpha = cronbach_alpha(table, bootstrap=Bootstrap(200, 3))
    assert (one.value, one.low, one.high) == (alpha.value, alpha.low, alpha.high)


@pytest.mark.parametrize("rare", [False, True])
def test_the_bootstrap_interval_is_that_of_resampling_row_by_row(rare: bool):
    table = simulated(n=30, k=4)
    if rare:  # an item that is constant in about a third of the resamples
        table[:, 0] = 2.3
        table[5, 0] = 9.1
    quick = cronbach_alpha(table, bootstrap=Bootstrap(300, 11))
    generator = np.random.default_rng(11)
    draws = generator.integers(30, size=(300, 30))
    slow = [cronbach_alpha(table[rows]).value for rows in draws]
    error = np.nanstd(np.log(1 - np.array(slow))) * np.sqrt(30 / 29)
    reach = stats.t.isf(0.025, 29) * error
    ends = [1 - (1 - quick.value) * np.exp(sign * reach) for sign in (1, -1)]
    assert (quick.low, quick.high) == pytest.approx(ends, abs=1e-10)


def gapped(n: int = 40, seed: int = 0) -> Floats:
    """Six items in three booklets of four, 2 of 3 pairs of items in one booklet only."""
    table = simulated(n, 6, seed)
    table[np.arange(n) % 3 == 0, :2] = np.nan
    table[np.arange(n) % 3 == 1, 2:4] = np.nan
    table[np.arange(n) % 3 == 2, 4:] = np.nan
    return table


def test_the_interval_of_pairs_adds_what_each_row_adds_to_each_covariance():
    """One covariance at a time by pandas, and derivatives of alpha by small changes of them."""
    table = gapped()
    frame, k, n = pd.DataFrame(table), 6, 40
    covariance = frame.cov().to_numpy()

    def gap(matrix: Floats) -> float:
        return 1 - k / (k - 1) * (1 - np.trace(matrix) / matrix.sum())

    added = np.zeros(n)
    for i in range(k):
        for j in range(k):
            both = frame[[i, j]].dropna() if i != j else frame[[i]].dropna()
            rows, m = both.index.to_numpy(), len(both)
            deviations = (both - both.mean()).to_numpy()
            unit = np.zeros((k, k))
            unit[i, j] = 1e-6
            slope = (gap(covariance + unit) - gap(covariance - unit)) / 2e-6
            products = deviations[:, 0] * deviations[:, -1]
            added[rows] += slope * (products - products.mean()) * m / (m - 1) ** 2
    error = np.sqrt((added**2).sum() * n / (n - 1)) / gap(covariance)
    reach = stats.t.isf(0.025, n - 1) * error
    result = cronbach_alpha(table, missing="pairwise")
    assert result.value == pytest.approx(1 - gap(covariance), abs=1e-12)
    ends = [1 - gap(covariance) * np.exp(sign * reach) for sign in (1, -1)]
    assert (result.low, result.high) == pytest.approx(ends, abs=1e-7)


def test_the_interval_of_pairs_is_that_of_resampled_persons_where_these_are_many():
    table = gapped(1500)
    result = cronbach_alpha(table, missing="pairwise")
    draw = np.random.default_rng(2)
    logs = [
        np.log(1 - cronbach_alpha(table[draw.integers(1500, size=1500)], missing="pairwise").value)
        for _ in range(400)
    ]
    error = np.log((1 - result.low) / (1 - result.high)) / 2 / stats.t.isf(0.025, 1499)
    assert error == pytest.approx(np.std(logs), rel=0.1)


def test_pairs_that_few_rows_hold_have_no_interval():
    few = cronbach_alpha(gapped(13), missing="pairwise")
    assert few.defined
    assert np.isnan([few.low, few.high]).all()
    assert kind_of(few.problems[-1]) == "interval"


def test_intervals_of_gaps_and_of_resamples_cover_as_often_as_they_say():
    # alpha 6 / 7, as the items are parallel
    of_pairs = [cronbach_alpha(gapped(60, seed), missing="pairwise") for seed in range(400)]
    resampled = [
        cronbach_alpha(simulated(12, 6, seed), bootstrap=Bootstrap(200, seed))
        for seed in range(400)
    ]
    for results in (of_pairs, resampled):
        covered = np.mean([result.low <= 6 / 7 <= result.high for result in results])
        assert 0.92 <= covered <= 0.98


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    table = simulated()
    first, again, other = (
        cronbach_alpha(table, bootstrap=Bootstrap(500, seed)).low for seed in (1, 1, 2)
    )
    assert first == again != other


def test_bootstrap_and_feldt_intervals_agree_for_normal_items():
    table = simulated(n=2000)
    feldt, resampled = cronbach_alpha(table), cronbach_alpha(table, bootstrap=Bootstrap())
    assert resampled.low == pytest.approx(feldt.low, abs=0.005)
    assert resampled.high == pytest.approx(feldt.high, abs=0.005)


def test_feldts_interval_equals_a_published_one():
    # printed for the function of C. Evans: alpha .913, 873 rows, 20 items
    low, high = feldt_interval(0.913, 873, 20)
    assert (low, high) == pytest.approx((0.9044024, 0.9211588), abs=5e-8)


def test_feldts_interval_covers_the_population_alpha_as_often_as_it_says():
    # parallel items of reliability 1/2, six of them: alpha 6/7
    results = [cronbach_alpha(simulated(n=60, seed=seed)) for seed in range(400)]
    covered = np.mean([result.low <= 6 / 7 <= result.high for result in results])
    assert 0.92 <= covered <= 0.98


@given(
    shift=st.floats(-100, 100),
    scale=st.floats(0.1, 50),
    order=st.permutations(range(6)),
    seed=st.integers(0, 50),
)
def test_origin_unit_and_order_of_items_do_not_change_alpha(shift, scale, order, seed):
    table = simulated(n=25, seed=seed)
    moved = (shift + scale * table)[:, list(order)]
    assert cronbach_alpha(moved).value == pytest.approx(cronbach_alpha(table).value, abs=1e-9)


def test_a_constant_item_changes_nothing_and_is_named():
    table = simulated()
    with_constant = np.column_stack([table, np.full(len(table), 3.0)])
    result = cronbach_alpha(with_constant, names=[*"abcdef", "flat"])
    assert result.value == pytest.approx(cronbach_alpha(table).value, abs=1e-14)
    assert "flat" in " ".join(result.problems)


def test_a_constant_subscale_has_no_part_in_stratified_alpha_and_is_named():
    table = np.column_stack([simulated(), np.ones((200, 2))])
    result = stratified_alpha(table, ["a"] * 3 + ["b"] * 3 + ["flat"] * 2)
    without = stratified_alpha(table[:, :6], ["a"] * 3 + ["b"] * 3)
    assert result.coefficient.value == pytest.approx(without.coefficient.value, abs=1e-14)
    assert "flat" in " ".join(result.coefficient.problems)


def test_a_subscale_of_one_item_leaves_stratified_alpha_undefined_and_says_which():
    result = stratified_alpha(simulated(), ["a"] * 5 + ["lonely"])
    assert np.isnan(result.coefficient.value)
    assert any("Undefined" in text and "lonely" in text for text in result.coefficient.problems)


def test_items_that_run_against_each_other_give_a_negative_alpha_with_a_caution():
    first = np.array([1.0, 2, 3, 4, 5, 6])
    table = np.column_stack([first, 7 - first + [0, 1, 0, 0, -1, 0]])
    result = cronbach_alpha(table)
    assert result.value < 0
    assert "reverse-keyed" in " ".join(result.problems)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.empty((0, 3)), "rows"),
        (np.array([[1.0, 2, 3]]), "Undefined"),
        (np.array([[1.0], [2], [3]]), "1"),
        (np.full((5, 3), 2.0), "answers are the same"),
        (np.full((5, 3), np.nan), "nobody answered"),
        (np.array([[1.0, 3], [2, 2], [3, 1]]), "the same in every row"),
        (np.array([[1.0, np.nan], [np.nan, 2], [2, np.nan]]), "Undefined"),
    ],
)
def test_bad_tables_give_no_alpha_but_a_reason(table: Floats, reason: str):
    alpha = cronbach_alpha(table)
    strata = stratified_alpha(table, ["a"] * table.shape[1]).coefficient
    for result in (alpha, strata):
        assert np.isnan([result.value, result.low, result.high]).all()
        assert reason in " ".join(result.problems)


def test_more_items_than_rows_still_have_an_alpha():
    assert cronbach_alpha(simulated(n=5, k=20)).defined


def test_mistakes_of_the_caller_are_refused():
    with pytest.raises(ValueError, match="dimensions"):
        cronbach_alpha(np.ones(3))
    with pytest.raises(ValueError, match="coverage"):
        feldt_interval(0.5, 10, 3, 1.5)
    with pytest.raises(ValueError, match="strata"):
        stratified_alpha(np.ones((3, 2)), ["a"])
    with pytest.raises(ValueError, match="resamples"):
        Bootstrap(0)


def test_the_reason_for_nothing_is_said_once_and_is_the_right_one():
    same = cronbach_alpha(np.ones((10, 2)))
    (why,) = same.problems
    assert why.endswith(
        "no item varies. Left out, because all answers are the same: item 1, item 2."
    )
    assert stratified_alpha(np.ones((10, 2)), ["A", "B"]).coefficient.problems == same.problems
    one = cronbach_alpha(np.arange(10.0)[:, None])
    assert one.problems == ("Undefined: the coefficient needs 2 items that vary, and there is 1.",)
    no_row = cronbach_alpha(np.where(np.eye(4, 4) > 0, np.nan, np.arange(16.0).reshape(4, 4)))
    assert "No row holds a score of every item".lower() in no_row.problems[0].lower()
    assert len(no_row.problems) == 1

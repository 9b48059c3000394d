import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, norm, t
from scipy.stats.contingency import association, expected_freq

from core.stats.contingency import (
    chi_square,
    corrected_v,
    cramers_v,
    resampled_cramers_v,
    resampled_shares,
    unit_associations,
    unit_permutation_p,
    unit_permutation_ps,
)
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected
from tests.unit_intervals import wilson_of_units

R = expected("contingency_R")
UNITS = np.reshape(R["permutations"]["units"], (5, 2, 3))
WORDS = np.reshape(R["permutations"]["words"], (6, 2))


def table_of(name):
    return np.array([R[name][row] for row in sorted(R[name]) if row.startswith("row_")], float)


def nested_words():
    counts = np.zeros((6, 2, 2))
    counts[:3, 0], counts[3:, 1] = WORDS[:3], WORDS[3:]
    return counts


@pytest.mark.parametrize("name", ["languages", "small", "halves"])
def test_chi_square_its_residuals_and_cramers_v_equal_those_of_r(name):
    own, table = R[name], table_of(name)
    result, v = chi_square(table), cramers_v(table)
    found = (result.statistic, result.df, result.p)
    assert found == pytest.approx(own["chi_square"], rel=1e-10)
    assert result.residuals.ravel() == pytest.approx(own["residuals"], rel=1e-10)
    ends = [min(end, 1.0) for end in own["v"]]  # R lets the upper end exceed 1
    assert (v.value, v.low, v.high) == pytest.approx(ends, abs=1e-6)
    assert (result.n, v.n) == (table.sum(), round(table.sum()))


@given(
    st.lists(st.lists(st.integers(1, 60), min_size=3, max_size=3), min_size=2, max_size=5),
)
def test_chi_square_and_cramers_v_equal_those_of_scipy(rows):
    table = np.array(rows, float)
    theirs = chi2_contingency(table, correction=False)
    own = chi_square(table)
    assert (own.statistic, own.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)
    v = cramers_v(table)
    assert v.value == pytest.approx(association(table.astype(int)), abs=1e-9)
    assert 0 <= v.low <= v.high <= 1


def test_groups_and_categories_without_counts_are_left_out():
    table = np.array([[10, 0, 5], [0, 0, 0], [4, 0, 9]], float)
    result = chi_square(table)
    theirs = chi2_contingency(table[[0, 2]][:, [0, 2]], correction=False)
    assert (result.statistic, result.df) == (pytest.approx(theirs.statistic), 1)
    assert np.isnan(result.residuals[1]).all()
    assert np.isnan(result.residuals[:, 1]).all()


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((2, 3)), "there is no count"),
        ([[3, 4], [0, 0]], "only one group has counts"),
        ([[3, 0], [4, 0]], "all counts are in one category"),
    ],
)
def test_a_table_without_two_groups_or_categories_is_undefined_with_the_reason(table, reason):
    for result in (chi_square(table), cramers_v(table), resampled_cramers_v([table])):
        assert reason in result.problems[0]
    assert np.isnan(chi_square(table).p)
    assert np.isnan(cramers_v(table).value)
    assert np.isnan(unit_permutation_p(np.array([table], float)))


def test_small_expected_counts_make_p_doubtful():
    assert "4 of 4 expected counts are below 5" in chi_square([[3, 1], [2, 2]]).problems[0]
    assert not chi_square(table_of("languages")).problems


def test_a_table_that_is_none_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        chi_square(np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        chi_square([[1, -1], [2, 2]])
    with pytest.raises(ValueError, match="three dimensions"):
        unit_permutation_p(np.ones((2, 2)))
    with pytest.raises(ValueError, match="negative"):
        unit_permutation_p(-np.ones((2, 2, 2)))


def test_exchanging_languages_within_questions_gives_the_share_of_all_exchanges():
    statistic, exact = R["permutations"]["exact"]
    assert chi_square(UNITS.sum(axis=0)).statistic == pytest.approx(statistic)
    p = unit_permutation_p(UNITS, n_permutations=20_000, seed=3)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_words_of_one_language_each_change_their_language_as_wholes():
    statistic, exact = R["permutations"]["words_exact"]
    counts = nested_words()
    assert chi_square(counts.sum(axis=0)).statistic == pytest.approx(statistic)
    p = unit_permutation_p(counts, n_permutations=20_000, seed=3)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_three_languages_are_exchanged_among_those_that_have_the_question():
    generator = np.random.default_rng(5)
    counts = generator.integers(0, 6, (7, 3, 2)).astype(float)
    counts[:4, 1], counts[4:6, 0] = 0, np.nan
    counts[:4, 2] += [4, 0]
    known = np.nan_to_num(counts)
    tables = []
    for _ in range(4000):
        moved = known.copy()
        for unit in range(7):
            present = np.flatnonzero(known[unit].sum(axis=1) > 0)
            moved[unit, present] = known[unit, generator.permutation(present)]
        tables.append(chi_square(moved.sum(axis=0)).statistic)
    observed = chi_square(known.sum(axis=0)).statistic
    share = np.mean(np.array(tables) >= observed - 1e-9)
    p = unit_permutation_p(counts, n_permutations=4000, seed=1)
    assert p == pytest.approx(share, abs=0.03)


def test_rounds_of_one_question_are_not_independent_people():
    """Chi-square finds languages different far too often where rounds repeat themselves."""
    generator = np.random.default_rng(8)
    found = {"chi-square": 0, "permutation": 0}
    for study in range(200):
        yes = np.where(generator.random((20, 2)) < 0.5, 10.0, 0.0)
        counts = np.stack([yes, 10 - yes], axis=2)
        found["chi-square"] += chi_square(counts.sum(axis=0)).p < 0.05
        found["permutation"] += unit_permutation_p(counts, n_permutations=199, seed=study) < 0.05
    assert found["chi-square"] > 80
    assert found["permutation"] < 22  # 5 % of 200, and three standard errors


def pearson_residuals(table):
    """Over the root of n; the root of their sum of squares is V of two groups."""
    expected = expected_freq(table)
    return ((table - expected) / np.sqrt(expected) / np.sqrt(table.sum())).ravel()


def test_the_interval_of_v_inverts_a_test_with_units_drawn_one_by_one():
    """Every true V is tried, in the direction of the data and with the errors of the draws."""
    counts = np.random.default_rng(2).integers(1, 9, (12, 2, 3)).astype(float)
    counts[:, [0, 1], [0, 1]] += 2
    result = resampled_cramers_v(counts, bootstrap=Bootstrap(400, seed=7))
    own = pearson_residuals(counts.sum(axis=0))
    v = np.sqrt((own**2).sum())
    drawn = np.random.default_rng(7).integers(12, size=(400, 12))
    errors = np.array([pearson_residuals(counts[units].sum(axis=0)) - own for units in drawn])
    # draws from 12 units vary less than units of a population, and their errors are estimated: t
    errors *= np.sqrt(12 / 11) * t.ppf(0.975, 11) / norm.ppf(0.975)
    true = np.arange(0, 1, 0.001)
    seen = [np.linalg.norm(one * own / v - errors, axis=1) for one in true]
    shorter = np.array([(lengths <= v).mean() for lengths in seen])
    assert result.value == pytest.approx(v)
    assert 0 < result.low < v < result.high < 1
    assert result.low == pytest.approx(true[shorter <= 0.975][0], abs=0.002)
    assert result.high == pytest.approx(true[shorter > 0.025][-1], abs=0.002)
    assert result.n == 12


@pytest.mark.parametrize("n_groups", [2, 4])
def test_the_interval_of_v_holds_v_and_0_where_groups_do_not_differ(n_groups):
    """60 questions of their own chances, asked in languages that make no difference.

    An interval of 95 % misses in 8 or more of 60 studies once in a hundred such tests (binomial).
    """
    covered = 0
    for study in range(60):
        generator = np.random.default_rng([study, 3])
        yes = generator.binomial(10, np.repeat(generator.beta(2, 2, (60, 1)), n_groups, axis=1))
        counts = np.stack([yes, 10 - yes], axis=2).astype(float)
        found = resampled_cramers_v(counts, bootstrap=Bootstrap(200, seed=study))
        assert found.low <= found.value <= found.high
        assert found.high > 0.005
        covered += found.low == 0
    assert covered > 52


def test_one_unit_alone_gives_v_no_interval():
    found = resampled_cramers_v(UNITS[:1], bootstrap=Bootstrap(50))
    assert np.isfinite(found.value)
    assert np.isnan(found.low)
    assert "No interval: there is one unit only." in found.problems


def test_the_data_count_as_one_permutation_so_that_p_is_never_0():
    counts = np.zeros((40, 2, 2))
    counts[:, 0, 0] = counts[:, 1, 1] = 10
    assert unit_permutation_p(counts, n_permutations=199) == 1 / 200


def test_the_same_seed_gives_the_same_p_and_no_units_none():
    assert unit_permutation_p(UNITS, seed=4) == unit_permutation_p(UNITS, seed=4)
    assert np.isnan(unit_permutation_p(np.zeros((0, 2, 2))))


def test_many_pairs_at_once_give_what_each_gives_by_itself():
    generator = np.random.default_rng(4)
    counts = generator.integers(0, 7, (9, 4, 3)).astype(float)
    counts[2, 1] = 0
    sets, bootstrap = [(0, 1), (1, 3), (0, 1, 2, 3)], Bootstrap(300, seed=2)
    found = unit_associations(counts, sets, bootstrap=bootstrap, n_permutations=8000, seed=1)
    for groups, own in zip(sets, found, strict=True):
        part = counts[:, list(groups)]
        alone = resampled_cramers_v(part, bootstrap=bootstrap)
        ends = (alone.value, 0.0 if own.p_permutation > 0.05 else alone.low, alone.high)
        assert (own.v.value, own.v.low, own.v.high) == pytest.approx(ends, rel=1e-12)
        assert own.chi_square.p == chi_square(part.sum(axis=0)).p
        p = unit_permutation_p(part, n_permutations=8000, seed=9)
        assert own.p_permutation == pytest.approx(p, abs=0.025)
    exact = R["permutations"]["exact"][1]
    pair = unit_associations(UNITS, [(0, 1)], n_permutations=20_000)[0]
    independent = cramers_v(UNITS.sum(axis=0))
    assert (pair.v.low, pair.v.high, pair.v.n) == (independent.low, independent.high, 5)
    assert np.isnan(pair.v.corrected)
    assert any("V is not corrected" in problem for problem in pair.v.problems)
    assert pair.p_permutation == pytest.approx(exact, abs=0.01)


def test_an_interval_of_v_lies_above_0_no_oftener_than_the_exchanges_reject():
    """120 studies of eight items with nearly only yes in both languages."""
    draw = np.random.default_rng(8)
    above = rejected = 0
    for seed in range(120):
        yes = draw.binomial(10, draw.beta(9, 1, 8)[:, None], (8, 2))
        counts = np.stack([yes, 10 - yes], axis=-1).astype(float)
        (found,) = unit_associations(
            counts, [(0, 1)], bootstrap=Bootstrap(200), n_permutations=500, seed=seed
        )
        above += found.v.low > 0
        rejected += found.p_permutation <= 0.05
    assert above <= rejected <= 13  # of 5 %, 14 in 120 are p < .005


def test_sets_with_the_same_units_share_permutations():
    counts = np.random.default_rng(6).integers(1, 7, (12, 6, 3)).astype(float)
    sets = [(0, 1, 2), (3, 4, 5)]
    found = unit_associations(counts, sets, n_permutations=500, seed=3)
    for groups, own in zip(sets, found, strict=True):
        alone = unit_permutation_p(counts[:, list(groups)], n_permutations=500, seed=3)
        assert own.p_permutation == alone


def test_pairs_without_shared_units_are_compared_by_moving_their_groups():
    found = unit_associations(nested_words(), [(0, 1)], n_permutations=20_000)[0]
    assert found.p_permutation == pytest.approx(R["permutations"]["words_exact"][1], abs=0.01)
    empty = unit_associations(np.zeros((3, 2, 2)), [(0, 1)])[0]
    assert np.isnan(empty.p_permutation)
    assert "there is no count" in empty.v.problems[0]


def test_one_permutation_serves_tables_that_put_categories_together():
    kinds = [np.eye(3), np.array([[1, 0], [0, 1], [0, 1]])]
    both = unit_permutation_ps(UNITS, kinds, n_permutations=500, seed=4)
    alone = [unit_permutation_p(UNITS @ kind, n_permutations=500, seed=4) for kind in kinds]
    assert both.tolist() == alone
    none = unit_permutation_ps(UNITS, [np.ones((3, 1))], n_permutations=9)
    assert np.isnan(none).all()


def test_intervals_of_shares_resample_the_units_of_each_group():
    """The second group has two of three units, of 4 counts each: their shares are 1/4 and 1."""
    counts = np.array([[[1, 3], [1, 3]], [[4, 0], [4, 0]], [[2, 2], [0, 0]]], float)
    shares = resampled_shares(counts, level=0.9, bootstrap=Bootstrap(2000))
    assert shares.share.tolist() == [[7 / 12, 5 / 12], [5 / 8, 3 / 8]]
    assert shares.n_units.tolist() == [3, 2]
    for group, values in ((1, [1 / 4, 1]), (0, [1 / 4, 1, 1 / 2])):
        ends = shares.low[group, 0], shares.high[group, 0]
        assert ends == pytest.approx(wilson_of_units(values, 0.9), abs=0.01)


def test_shares_without_counts_or_with_one_unit_have_no_interval():
    counts = np.array([[[1, 3], [0, 0], [2, 2]], [[0, 0], [0, 0], [2, 2]]], float)
    shares = resampled_shares(counts, bootstrap=Bootstrap(50))
    assert np.isnan(shares.low[:2]).all()
    assert np.isnan(shares.share[1]).all()
    assert shares.share[0].tolist() == [0.25, 0.75]
    assert np.isnan([shares.low[2], shares.high[2]]).all()  # two units that are alike
    assert np.isnan(resampled_shares(counts).high).all()


@given(st.lists(st.lists(st.integers(1, 40), min_size=3, max_size=3), min_size=2, max_size=4))
def test_the_corrected_v_is_bergsmas(rows):
    table = np.array(rows, dtype=float)
    n, (r, c) = table.sum(), table.shape
    square = chi_square(table).statistic / n
    excess = max(0.0, square - (r - 1) * (c - 1) / (n - 1))
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    v = cramers_v(table)
    assert v.corrected == pytest.approx(min(1.0, math.sqrt(excess / smaller)))
    assert v.corrected <= max(v.value, 1e-12) or v.value > 0.99


def test_groups_with_nothing_in_common_have_a_corrected_v_of_1():
    assert cramers_v(np.array([[9.0, 0], [0, 9]])).corrected == pytest.approx(1)
    assert math.isnan(corrected_v(0.2, math.nan, (2, 2)))


def test_the_corrected_v_of_whole_units_has_on_average_the_square_of_the_population():
    """40 items of chances from .1 to .9; those of the second group are .1 higher, V² is .0101."""
    squares = []
    for study in range(200):
        draw = np.random.default_rng(study)
        chance = 0.1 + 0.7 * draw.random(40)
        yes = draw.binomial(3, np.stack([chance, chance + 0.1], axis=1))
        counts = np.stack([yes, 3 - yes], axis=2).astype(float)
        v = resampled_cramers_v(counts, bootstrap=Bootstrap(200))
        squares.append((v.value**2, v.corrected**2))
        assert v.low <= v.corrected <= v.high
    share = 0.5 * (0.45 + 0.55)
    population = 0.05**2 / (share * (1 - share))
    published, corrected = np.mean(squares, axis=0)
    assert published > 1.25 * population
    assert corrected == pytest.approx(population, rel=0.15)

import numpy as np
import pytest

from core.stats.inputs import Floats
from core.stats.reliability.omega import exploratory_omega, omega_hierarchical
from tests.stats.reference import expected, scores

FACTORS = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def hierarchy(n: int, seed: int, general: float = 0.7) -> Floats:
    generator = np.random.default_rng(seed)
    top = generator.normal(size=(n, 1))
    factors = general * top + np.sqrt(1 - general**2) * generator.normal(size=(n, 4))
    return 0.8 * factors[:, FACTORS] + 0.6 * generator.normal(size=(n, 12))


def test_three_subscales_give_what_follows_from_lavaans_correlated_factors():
    # With three factors the second-order loadings follow from their correlations:
    # first² = r12 r13 / r23, and so on; the implied matrix is the same.
    reference = expected("hs1939_lavaan")
    standardized = {
        (row["lhs"], row["op"], row["rhs"]): row["est.std"]
        for row in reference["ML_listwise"]["standardized"]
    }
    names = list(reference["subscales"])
    r12, r13, r23 = (
        standardized[pair[0], "~~", pair[1]]
        for pair in ((names[0], names[1]), (names[0], names[2]), (names[1], names[2]))
    )
    second = np.sqrt([r12 * r13 / r23, r12 * r23 / r13, r13 * r23 / r12])
    items = [item for group in reference["subscales"].values() for item in group]
    subscales = [name for name, group in reference["subscales"].items() for _ in group]
    table = scores("hs1939", items)
    loadings = np.array(
        [standardized[own, "=~", item] for own, item in zip(subscales, items, strict=True)]
    )
    spread = table.std(axis=0)
    place = np.array([names.index(own) for own in subscales])
    general = float((loadings * second[place]) @ spread)
    between = np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])
    common = np.bincount(place, loadings * spread)
    total = float(common @ between @ common + (1 - loadings**2) @ spread**2)

    result = omega_hierarchical(table, subscales)
    assert result.second_order == pytest.approx(tuple(second), abs=1e-5)
    assert result.general == pytest.approx(tuple(loadings * second[place]), abs=1e-5)
    assert result.hierarchical.value == pytest.approx(general**2 / total, abs=1e-5)
    assert result.total.value == pytest.approx(float(common @ between @ common) / total, abs=1e-5)


def test_the_population_value_is_recovered_and_covered():
    population = (12 * 0.56) ** 2 / ((12 * 0.56) ** 2 + 4 * 9 * 0.64 * 0.51 + 12 * 0.36)
    large = omega_hierarchical(hierarchy(20_000, 1), FACTORS)
    assert large.hierarchical.value == pytest.approx(population, abs=0.01)
    assert large.second_order == pytest.approx((0.7,) * 4, abs=0.02)
    assert large.general == pytest.approx((0.56,) * 12, abs=0.02)
    results = [omega_hierarchical(hierarchy(250, seed), FACTORS) for seed in range(150)]
    covered = np.mean(
        [each.hierarchical.low <= population <= each.hierarchical.high for each in results]
    )
    assert 0.89 <= covered <= 0.99
    total = 1 - 12 * 0.36 / ((12 * 0.56) ** 2 + 4 * 9 * 0.64 * 0.51 + 12 * 0.36)
    assert large.total.value == pytest.approx(total, abs=0.005)
    covered = np.mean([each.total.low <= total <= each.total.high for each in results])
    assert 0.89 <= covered <= 0.99


def test_exploratory_omegas_are_those_of_psych():
    theirs = expected("bfi25")["omega_schmid_leiman"]
    hierarchical, total = exploratory_omega(scores("bfi25")[:, :25], 5)
    # psych ends its searches near 1e-5
    assert hierarchical.value == pytest.approx(theirs["hierarchical"], abs=1e-4)
    assert total.value == pytest.approx(theirs["total"], abs=1e-4)


@pytest.mark.parametrize(
    ("n_factors", "reason"), [(2, "three group factors"), (7, "cannot carry 7 factors")]
)
def test_group_factors_that_do_not_exist_give_no_exploratory_omega(n_factors, reason):
    for omega in exploratory_omega(hierarchy(100, 1), n_factors):
        assert np.isnan(omega.value)
        assert any(reason in problem for problem in omega.problems)


def test_general_and_group_loadings_add_up_to_the_items_communality():
    result = omega_hierarchical(hierarchy(500, 3), FACTORS)
    general, group = np.array(result.general), np.array(result.group)
    assert general**2 + group**2 == pytest.approx(0.64, abs=0.12)
    assert result.hierarchical.value < result.total.value


@pytest.mark.parametrize(
    ("table", "subscales", "reason"),
    [
        (hierarchy(100, 1)[:, :6], FACTORS[:6], "three subscales"),
        (hierarchy(100, 1)[:, :7], FACTORS[:7], "two items vary"),
        (hierarchy(10, 1), FACTORS, "more complete rows"),
        (np.ones((100, 12)), FACTORS, "two items vary"),
        (np.full((100, 12), np.nan), FACTORS, "nobody answered"),
    ],
)
def test_what_is_not_identified_is_undefined_and_says_why(table, subscales, reason):
    result = omega_hierarchical(table, subscales)
    assert np.isnan([result.hierarchical.value, result.hierarchical.low, result.total.value]).all()
    assert reason in " ".join(result.hierarchical.problems)


def test_subscales_without_a_common_factor_are_undefined_or_near_zero():
    result = omega_hierarchical(hierarchy(400, 4, general=0.0), FACTORS)
    if result.hierarchical.defined:
        assert result.hierarchical.value < 0.25
    else:
        assert any("Undefined" in text for text in result.hierarchical.problems)


def test_subscales_and_items_must_match():
    with pytest.raises(ValueError, match="subscales"):
        omega_hierarchical(np.ones((5, 3)), ["a"])

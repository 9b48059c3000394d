from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from statsmodels.miscmodels.ordinal_model import OrderedModel

from core.errors import NotEnoughData
from core.stats.groups import adjusted_p
from core.stats.irt import dif
from core.stats.irt.dif import differential_item_functioning, purified_dif
from tests.examples import few_examples
from tests.stats.simulated_answers import drawn

ITEMS = 12
NAMES = [f"i{number + 1}" for number in range(ITEMS)]


def two_groups(seed, n=600, *, harder=0.0, flatter=0.0, impact=0.0, affected=1):
    """Answers of groups a and b; the first items are `harder` for b, the last ones `flatter`."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1], n // 2)
    trait = rng.standard_normal(n) + impact * group
    slopes = np.tile(rng.uniform(1, 2, ITEMS), (n, 1))
    cuts = np.linspace(-1.5, 1.5, 4) + rng.uniform(-0.3, 0.3, (ITEMS, 4))
    intercepts = -slopes[0, :, None] * cuts
    slopes[group == 1, ITEMS - affected :] -= flatter
    logits = slopes * trait[:, None]
    logits[group == 1, :affected] -= harder
    return drawn(rng, logits, intercepts), ["ab"[number] for number in group], trait


def test_chance_raises_both_r2_as_much_as_studies_without_a_difference():
    totals = [
        item.total
        for answers, groups, trait in (two_groups(seed, 200) for seed in range(20))
        for item in differential_item_functioning(
            answers[:, :4], NAMES[:4], groups, trait=trait
        ).items
    ]
    for name in ("mcfadden", "nagelkerke"):
        rise, chance = (
            np.mean([getattr(own, f"{name}_{of}") for own in totals])
            for of in ("change", "by_chance")
        )
        assert chance == pytest.approx(rise, rel=0.25)


def p_values(result, kind):
    return np.array([getattr(item, kind).p_value for item in result.items])


def test_a_table_by_hand():
    # one item of two options, two levels of trait: the model with the product fits every cell
    cells = {("a", 0): (30, 10), ("a", 1): (10, 30), ("b", 0): (20, 20), ("b", 1): (20, 20)}
    answers, groups, trait = [], [], []
    for (group, level), (no, yes) in cells.items():
        answers += [0.0] * no + [1.0] * yes
        groups += [group] * (no + yes)
        trait += [level] * (no + yes)

    def likelihood(*counts):
        return sum(
            count * np.log(count / sum(pair)) for pair in counts for count in pair if sum(pair)
        )

    null, matched = likelihood((80, 80)), likelihood((50, 30), (30, 50))
    full = likelihood(*cells.values())
    item = differential_item_functioning(
        np.array(answers)[:, None], ["i"], groups, trait=np.array(trait, dtype=float)
    ).items[0]
    assert item.total.chi_square == pytest.approx(2 * (full - matched))
    assert item.total.p_value == pytest.approx(np.exp(matched - full))  # chi-square with 2 df
    assert item.total.mcfadden_change == pytest.approx((matched - full) / null)
    # two degrees of freedom: mean χ² is 2, and the mean of exp(-χ² / 160) is 1 / (1 + 2 / 160)
    assert item.total.mcfadden_by_chance == pytest.approx(1 / -null)
    left = np.exp((null - matched) / 80) / (1 - np.exp(null / 80))
    assert item.total.nagelkerke_by_chance == pytest.approx(left * (1 - 160 / 162))
    largest = 1 - np.exp(2 * null / 160)
    squared = [(1 - np.exp(2 * (null - fit) / 160)) / largest for fit in (matched, full)]
    assert item.total.nagelkerke_change == pytest.approx(squared[1] - squared[0])
    # both groups say yes 40 times of 80, at both levels together: nothing uniform
    assert item.uniform.chi_square == pytest.approx(0, abs=1e-9)
    assert item.effects[0].log_odds == pytest.approx(0, abs=1e-9)
    assert item.n_per_group == (80, 80)


@pytest.mark.parametrize(
    ("rise", "zumbo_thomas", "jodoin_gierl", "above_choi"),
    [
        (0.0199, "negligible", "negligible", False),
        (0.02, "negligible", "negligible", True),
        (0.0349, "negligible", "negligible", True),
        (0.035, "negligible", "moderate", True),
        (0.0699, "negligible", "moderate", True),
        (0.07, "negligible", "large", True),
        (0.13, "moderate", "large", True),
        (0.26, "large", "large", True),
    ],
)
def test_a_rise_at_a_bound_has_the_magnitude_that_begins_there(
    rise, zumbo_thomas, jodoin_gierl, above_choi
):
    """Moderate from .035 and large from .070 (Jodoin & Gierl 2001); .13, .26; .02 (Choi 2011)."""
    answers, groups, trait = two_groups(2, n=1000, harder=1.0)
    item = differential_item_functioning(answers, NAMES, groups, trait=trait).items[0]
    assert item.total.p_adjusted < 0.001
    total = replace(item.total, nagelkerke_change=rise, mcfadden_change=rise)
    found = dif.with_magnitudes(replace(item, total=total), 0.01)
    assert (found.zumbo_thomas, found.jodoin_gierl) == (zumbo_thomas, jodoin_gierl)
    assert (found.above_choi, found.flagged) == (above_choi, jodoin_gierl != "negligible")


def test_likelihoods_and_effects_agree_with_statsmodels():
    answers, groups, trait = two_groups(1, n=300, harder=0.7)
    item = differential_item_functioning(answers, NAMES, groups, trait=trait).items[0]
    member = (np.array(groups) == "b").astype(float)
    predictors = np.column_stack([trait, member, trait * member])
    fits = [
        OrderedModel(answers[:, 0].astype(int), predictors[:, :k], distr="logit").fit(
            method="newton", disp=False, maxiter=200
        )
        for k in (1, 2, 3)
    ]
    uniform, non_uniform = (2 * (fits[k + 1].llf - fits[k].llf) for k in (0, 1))
    assert item.uniform.chi_square == pytest.approx(uniform, abs=1e-6)
    assert item.non_uniform.chi_square == pytest.approx(non_uniform, abs=1e-6)
    assert item.total.chi_square == pytest.approx(uniform + non_uniform, abs=1e-6)
    assert item.uniform.p_value == pytest.approx(chi2.sf(uniform, 1), rel=1e-5)
    assert item.total.p_value == pytest.approx(chi2.sf(uniform + non_uniform, 2), rel=1e-5)
    assert item.total.mcfadden_change == pytest.approx(fits[2].prsquared - fits[0].prsquared)
    assert item.effects[0].log_odds == pytest.approx(fits[1].params[1], rel=1e-4)
    assert item.effects[0].standard_error == pytest.approx(fits[1].bse[1], rel=1e-3)
    moved = abs(fits[1].params[0] / fits[0].params[0] - 1)
    assert item.slope_change == pytest.approx(moved, abs=1e-5)


def test_an_item_that_is_harder_for_one_group_is_found_with_its_size():
    answers, groups, trait = two_groups(2, n=1000, harder=1.3)
    for given_ in (None, trait):
        result = differential_item_functioning(answers, NAMES, groups, trait=given_, adjust="holm")
        assert [item.name for item in result.items if item.flagged] == ["i1"]
        first = result.items[0]
        assert first.uniform.p_value < 1e-8
        assert first.non_uniform.p_value > 0.01
    effect = first.effects[0]
    assert effect.group == "b"
    assert abs(effect.log_odds + 1.3) < 3 * effect.standard_error


def test_an_item_that_measures_less_in_one_group_is_found_as_not_uniform():
    answers, groups, trait = two_groups(3, n=1000, flatter=1.2)
    for given_ in (None, trait):
        result = differential_item_functioning(answers, NAMES, groups, trait=given_, adjust="holm")
        assert [item.name for item in result.items if item.flagged] == ["i12"]
        last = result.items[-1]
        assert last.non_uniform.p_value < 1e-6
        assert last.uniform.p_value > 0.01


@pytest.mark.parametrize("match", ["rest score", "trait"])
def test_items_that_function_alike_are_flagged_as_often_as_the_level_says(match):
    found = {"uniform": [], "non_uniform": [], "total": []}
    for seed in range(50):
        answers, groups, trait = two_groups(100 + seed)
        given_ = trait if match == "trait" else None
        result = differential_item_functioning(answers, NAMES, groups, trait=given_)
        for kind, values in found.items():
            values.extend(p_values(result, kind))
    for values in found.values():
        # 600 tests: three standard errors of the share are 0.027
        assert np.mean(np.array(values) < 0.05) == pytest.approx(0.05, abs=0.027)


def test_purification_matches_on_the_items_that_function_alike():
    answers, groups, _ = two_groups(4, n=1500, harder=1.5, affected=4)
    plain = differential_item_functioning(answers, NAMES, groups, adjust="holm")
    clean = purified_dif(answers, NAMES, groups, adjust="holm")
    assert {item.name for item in clean.items if item.flagged} == {"i1", "i2", "i3", "i4"}
    assert clean.anchors == tuple(NAMES[4:])
    assert clean.problems == ()
    # four items of twelve pull the sum down, so that the others seem to favour the other group
    bias = [np.mean([item.effects[0].log_odds for item in r.items[4:]]) for r in (plain, clean)]
    assert abs(bias[1]) < abs(bias[0]) / 3


def test_purification_that_finds_nothing_to_match_on_says_so():
    rng = np.random.default_rng(5)
    groups = ["a"] * 200 + ["b"] * 200
    trait = rng.standard_normal((400, 1))
    shift = np.where(np.arange(400) < 200, 1.5, -1.5)[:, None] * [1, -1, 1]
    answers = drawn(rng, 1.5 * trait + shift, np.tile([1.0, 0, -1], (3, 1)))
    result = purified_dif(answers, list("abc"), groups)
    assert "Fewer than two items are free of flags to match on." in result.problems


def test_three_groups_are_tested_together_against_the_reference():
    answers, groups, trait = two_groups(6, n=900, harder=1.0)
    groups = ["c" if group == "a" and row % 2 else group for row, group in enumerate(groups)]
    result = differential_item_functioning(answers, NAMES, groups, trait=trait, reference="b")
    first = result.items[0]
    assert result.groups == ("b", "a", "c")
    assert (first.uniform.df, first.non_uniform.df, first.total.df) == (2, 2, 4)
    assert [effect.group for effect in first.effects] == ["a", "c"]
    assert all(abs(effect.log_odds - 1.0) < 3 * effect.standard_error for effect in first.effects)


def test_adjusted_p_values_are_those_of_the_family_of_items():
    answers, groups, _ = two_groups(7, harder=0.5)
    for method in ("holm", "benjamini-hochberg"):
        result = differential_item_functioning(answers, NAMES, groups, adjust=method)
        for kind in ("uniform", "non_uniform", "total"):
            ours = [getattr(item, kind).p_adjusted for item in result.items]
            np.testing.assert_allclose(ours, adjusted_p(p_values(result, kind), method))
    plain = differential_item_functioning(answers, NAMES, groups)
    assert [item.total.p_adjusted for item in plain.items] == list(p_values(plain, "total"))


def test_magnitudes_follow_their_bounds_and_need_a_significant_test():
    seen = set()
    for harder in (0, 0.3, 0.6, 1.0, 1.5, 2.5, 4.0):
        answers, groups, trait = two_groups(8, n=800, harder=harder)
        for item in differential_item_functioning(answers, NAMES, groups, trait=trait).items:
            rise = item.total.nagelkerke_change if item.total.p_adjusted < 0.01 else 0
            strict = "negligible" if rise < 0.035 else "moderate" if rise < 0.07 else "large"
            lenient = "negligible" if rise < 0.13 else "moderate" if rise < 0.26 else "large"
            assert (item.jodoin_gierl, item.zumbo_thomas) == (strict, lenient)
            assert item.flagged == (strict != "negligible")
            assert item.above_choi == (item.total.mcfadden_change >= 0.02)
            seen |= {("jg", strict), ("zt", lenient)}
    assert len(seen) == 6


@few_examples
@given(st.floats(-20, 20), st.floats(0.1, 50))
def test_unit_and_origin_of_the_trait_do_not_matter(origin, unit):
    answers, groups, trait = two_groups(9, n=200)
    plain = differential_item_functioning(answers[:, :2], NAMES[:2], groups, trait=trait)
    moved = differential_item_functioning(
        answers[:, :2], NAMES[:2], groups, trait=origin + unit * trait
    )
    for kind in ("uniform", "non_uniform", "total"):
        np.testing.assert_allclose(p_values(moved, kind), p_values(plain, kind), atol=1e-6)


def test_swapping_the_groups_turns_the_effect_round_and_leaves_the_tests():
    answers, groups, _ = two_groups(10, harder=0.8)
    one, other = (
        differential_item_functioning(answers, NAMES, groups, reference=reference)
        for reference in "ab"
    )
    for first, second in zip(one.items, other.items, strict=True):
        assert first.effects[0].log_odds == pytest.approx(-second.effects[0].log_odds, abs=1e-6)
        assert first.total.chi_square == pytest.approx(second.total.chi_square, abs=1e-6)


def test_a_rest_score_leaves_out_the_item_and_needs_all_the_others():
    answers, groups, _ = two_groups(11, n=200)
    answers[:10, 5] = np.nan
    result = differential_item_functioning(answers, NAMES, groups)
    assert result.items[0].n == 190
    assert "10 rows were left out: no answer or no matching score." in result.items[0].problems
    rest = answers[:, 1:].sum(axis=1)
    given_ = differential_item_functioning(answers, NAMES, groups, trait=rest)
    assert given_.items[0].total == result.items[0].total
    anchored = differential_item_functioning(answers, NAMES, groups, anchors=NAMES[6:])
    assert anchored.items[0].n == 200
    assert anchored.items[5].n == 190
    assert anchored.anchors == tuple(NAMES[6:])


def test_an_item_nobody_answered_does_not_take_the_rest_scores_of_the_others_away():
    answers, groups, _ = two_groups(11, n=200)
    answers[:, 3] = np.nan
    result = differential_item_functioning(answers, NAMES, groups)
    assert [item.name for item in result.items if not item.tested] == ["i4"]
    assert result.anchors == tuple(name for name in NAMES if name != "i4")
    assert result.problems == ("Not part of the matching score, because nobody answered: i4.",)


def test_a_difference_of_negligible_size_is_not_flagged_however_many_answered():
    answers, groups, trait = two_groups(9, n=20_000, harder=0.25)
    first = differential_item_functioning(answers, NAMES, groups, trait=trait).items[0]
    assert first.total.p_adjusted < 1e-6
    # Jodoin & Gierl (2001): below .035 the effect is negligible, and the item is no DIF item (A)
    assert 0 < first.total.nagelkerke_change < 0.035
    assert (first.jodoin_gierl, first.flagged) == ("negligible", False)


def test_options_that_a_group_never_chose_are_named():
    answers, groups, trait = two_groups(12)
    of_b = np.array(groups) == "b"
    answers[of_b, 0] = np.minimum(answers[of_b, 0], 2)
    item = differential_item_functioning(answers, NAMES, groups, trait=trait).items[0]
    assert "Nobody in b chose 3 and 4." in item.problems
    assert np.isfinite(item.total.p_value)


def test_a_group_that_settles_the_answer_is_said_and_still_tested():
    answers, groups, trait = two_groups(13)
    answers[:, 0] = [float(group == "b") for group in groups]
    item = differential_item_functioning(answers, NAMES, groups, trait=trait).items[0]
    assert item.flagged
    assert np.isnan(item.effects[0].log_odds)
    assert any(
        problem.startswith("With group: ") and "separate" in problem for problem in item.problems
    )


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("no answers", "No rows of a, b have an answer"),
        ("one group", "No rows of b have an answer"),
        ("constant", "All answers are the same."),
        ("constant trait", "The matching score is the same for all rows."),
        ("trait is the group", "predictors determine each other"),
    ],
)
def test_an_item_that_cannot_be_tested_says_why_and_spares_the_others(case, said):
    answers, groups, trait = two_groups(14, n=100)
    of_b = np.array(groups) == "b"
    if case == "no answers":
        answers[:, 0] = np.nan
    elif case == "one group":
        answers[of_b, 0] = np.nan
    elif case == "constant":
        answers[:, 0] = 2
    else:
        trait = of_b.astype(float) if case == "trait is the group" else np.ones(100)
    result = differential_item_functioning(answers, NAMES, groups, trait=trait, adjust="holm")
    first = result.items[0]
    assert said in " ".join(first.problems)
    assert np.isnan([first.total.p_value, first.total.p_adjusted, first.total.chi_square]).all()
    assert (first.jodoin_gierl, first.flagged, first.tested) == ("unknown", False, False)
    if "trait" not in case:
        assert all(item.tested for item in result.items[1:])


def test_rows_without_a_group_are_left_out_and_counted():
    answers, groups, trait = two_groups(15, n=200)
    some = [None if row < 5 else group for row, group in enumerate(groups)]
    result = differential_item_functioning(answers, NAMES, some, trait=trait)
    cut = differential_item_functioning(answers[5:], NAMES, groups[5:], trait=trait[5:])
    assert result.items == cut.items
    assert result.problems == ("5 rows were left out: no group.",)


@pytest.mark.parametrize("rows", [0, 1, 50])
def test_one_group_cannot_be_compared(rows):
    with pytest.raises(NotEnoughData) as refusal:
        differential_item_functioning(np.ones((rows, 2)), ["x", "y"], ["a"] * rows)
    assert refusal.value.remedy


def test_one_item_has_no_rest_score():
    with pytest.raises(NotEnoughData, match="no other item"):
        differential_item_functioning(np.array([[0.0], [1.0]]), ["x"], ["a", "b"])


def test_two_rows_give_no_numbers_and_no_trace():
    result = differential_item_functioning(np.array([[0.0, 1], [1, 0]]), ["x", "y"], ["a", "b"])
    assert not any(item.flagged for item in result.items)
    assert all(item.problems for item in result.items)


@pytest.mark.parametrize(
    "mistake",
    [
        {"groups": ["a", "b"]},
        {"anchors": ["unheard of"]},
        {"reference": "unheard of"},
        {"trait": np.ones(3)},
    ],
)
def test_what_does_not_fit_together_is_a_mistake_of_the_caller(mistake):
    answers, groups, _ = two_groups(16, n=20)
    with pytest.raises(ValueError, match=r"for 20 rows|not among|no row is of"):
        differential_item_functioning(answers, NAMES, **({"groups": groups} | mistake))

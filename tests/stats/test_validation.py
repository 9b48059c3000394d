import math
from dataclasses import replace

import pytest

from core.domain.notes import undefined_note
from core.stats.correlation import Correlation
from core.stats.inputs import Estimate
from core.stats.validation import JUNG_2025, Bands, ModelFit, ValidityCoefficients, validate

GOOD = ValidityCoefficients(
    internal_consistency=Estimate(0.85, 0.78, 0.9, n=296),
    alternate_form=Estimate(0.75, 0.69, 0.81, n=296),
    option_order=Estimate(0.3, 0.2, 0.4, n=296),
    concurrent=Estimate(0.1, -0.2, 0.4, n=40),
    convergent=Estimate(0.65, 0.55, 0.72, n=296),
    factorial=ModelFit(0.04, 0.95, 0.03, 0.06, 296),
)


def test_six_acceptable_criteria_make_a_valid_scale():
    own = validate(GOOD)
    assert [each.criterion for each in own.criteria] == [
        "internal consistency",
        "alternate form",
        "option order",
        "concurrent",
        "convergent",
        "factorial",
    ]
    assert [each.rating for each in own.criteria] == ["++", "+", "+", "+", "++", "+"]
    assert (own.reliable, own.valid) == (True, True)
    assert {each.light for each in own.criteria} == {"green"}
    assert own.verdict == "Reliable and valid: all six criteria are acceptable."


def test_the_ends_of_the_interval_are_rated_too():
    consistency, *_, factorial = validate(GOOD).criteria
    assert (consistency.low_rating, consistency.rating, consistency.high_rating) == (
        "+",
        "++",
        "++",
    )
    assert (factorial.low_rating, factorial.high_rating) == ("+", "-")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("internal_consistency", "internal consistency (--)"),
        ("alternate_form", "alternate form (--)"),
        ("option_order", "option order (--)"),
    ],
)
def test_one_unreliable_criterion_keeps_validity_from_being_judged(name, label):
    own = validate(replace(GOOD, **{name: Estimate(0.05, n=296)}))
    assert (own.reliable, own.valid) == (False, None)
    assert own.verdict == (
        f"Not reliable: {label} is not acceptable. Validity is therefore not judged."
    )
    for each in own.criteria[3:]:
        assert (each.rating, each.light) == ("", "grey")
        assert "not reliable enough" in each.reason
    assert own.criteria[4].value == 0.65


def test_a_reliable_scale_that_fails_validity_is_named_with_its_failures():
    own = validate(
        replace(GOOD, concurrent=Estimate(-0.25, n=40), factorial=ModelFit(0.18, 0.56, n=296))
    )
    assert (own.reliable, own.valid) == (True, False)
    assert own.verdict == (
        "Reliable, but not valid: concurrent (-), factorial (-) are not acceptable."
    )
    assert [each.light for each in own.criteria[3:]] == ["red", "green", "red"]


def test_an_undefined_coefficient_leaves_the_verdict_open_and_says_why():
    reason = undefined_note("Undefined: the sum of the items is the same in every row.")
    undefined = Estimate(math.nan, problems=("25 rows were left out.", reason))
    own = validate(replace(GOOD, internal_consistency=undefined))
    assert (own.reliable, own.valid) == (None, None)
    assert own.criteria[0].reason == reason
    assert own.verdict == (
        "Undecided: no rating for internal consistency. Validity is not judged yet."
    )


def test_a_failed_criterion_decides_even_where_another_is_missing():
    own = validate(replace(GOOD, internal_consistency=None, option_order=Estimate(0.0, n=296)))
    assert own.reliable is False
    assert own.criteria[0].reason == "Not collected."


def test_validity_that_was_not_collected_is_undecided():
    own = validate(replace(GOOD, concurrent=None, factorial=None))
    assert (own.reliable, own.valid) == (True, None)
    assert own.verdict == (
        "Reliable; validity is undecided: no rating for concurrent and factorial."
    )


def test_nothing_at_all_is_undecided_without_a_number():
    own = validate(ValidityCoefficients())
    assert own.reliable is None
    assert all(math.isnan(each.value) and each.light == "grey" for each in own.criteria)


def test_edited_bands_change_the_verdict_and_name_themselves():
    strict = replace(
        JUNG_2025,
        name="strict",
        bands={**JUNG_2025.bands, "option order": Bands((0.9, 0.8, 0.7))},
    )
    own = validate(GOOD, strict)
    assert (own.scheme, own.reliable) == ("strict", False)


def test_a_correlation_is_judged_like_any_estimate():
    correlation = Correlation(0.5, 0.3, 0.6, n=90, n_left_out=10, p=0.01)
    own = validate(replace(GOOD, alternate_form=correlation)).criteria[1]
    assert (own.value, own.low, own.high, own.n, own.rating) == (0.5, 0.3, 0.6, 90, "-")


def test_the_two_published_sets_that_were_reliable_are_rated_as_printed():
    # Llama 3.3 70B and Qwen 2.5 7B under personas; concurrent r as in the text
    rows = [
        ((0.86, 0.84, 0.86), (-0.10, 0.17), (0.18, 0.56), ["++", "++", "++", "-", "-", "-"]),
        ((0.85, 0.75, 0.48), (0.08, 0.07), (0.11, 0.66), ["++", "+", "+", "-", "--", "-"]),
    ]
    for reliability, validity, fit, ratings in rows:
        own = validate(
            ValidityCoefficients(
                *(Estimate(r, n=296) for r in (*reliability, *validity)), ModelFit(*fit, n=296)
            )
        )
        assert [each.rating for each in own.criteria] == ratings
        assert (own.reliable, own.valid) == (True, False)


def test_a_coefficient_of_fewer_than_ten_rows_is_shown_and_not_judged():
    few = Estimate(0.95, 0.2, 0.99, n=9)
    own = validate(replace(GOOD, alternate_form=few, factorial=ModelFit(0.0, 1.0, n=9)))
    alternate, factorial = own.criteria[1], own.criteria[5]
    assert (alternate.value, alternate.rating, alternate.light) == (0.95, "", "grey")
    assert (alternate.low_rating, alternate.high_rating) == ("", "")
    assert alternate.reason == "Not judged: it rests on 9 rows, fewer than 10."
    assert factorial.light == "grey"
    assert own.verdict.startswith("Undecided: no rating for alternate form.")
    ten = validate(replace(GOOD, alternate_form=replace(few, n=10))).criteria[1]
    assert (ten.rating, ten.light) == ("++", "green")


def test_the_factor_model_is_told_by_the_other_common_convention_too():
    """Hu & Bentler (1999): CFI from .95 and RMSEA up to .06; Jung (2025): .90 and .05."""
    for fit, ratings in {
        (0.05, 0.95): ("+", "+"),
        (0.05, 0.949): ("+", "-"),
        (0.06, 0.95): ("-", "+"),
        (0.061, 0.95): ("-", "-"),
        (0.05, 0.89): ("-", "-"),
    }.items():
        own = validate(replace(GOOD, factorial=ModelFit(*fit, n=296))).criteria[5]
        assert (own.rating, own.other_rating) == ratings
    unreliable = replace(GOOD, option_order=Estimate(0.0, n=296))
    assert validate(unreliable).criteria[5].other_rating == ""


def test_a_model_with_impossible_estimates_may_not_fit_but_never_fits():
    impossible = ModelFit(0.04, 0.95, n=296, admissible=False)
    own = validate(replace(GOOD, factorial=impossible)).criteria[5]
    assert (own.rating, own.other_rating, own.light) == ("", "", "grey")
    assert own.reason == "Not judged: the model has impossible estimates."
    assert validate(replace(GOOD, factorial=replace(impossible, cfi=0.5))).criteria[5].rating == "-"

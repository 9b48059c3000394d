import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.reliability.stability import (
    ICC_FORMS,
    intraclass,
    intraclass_of_components,
)
from tests.stats.reference import expected


def repeated(n: int, k: int, seed: int, between: float = 1.0):
    generator = np.random.default_rng(seed)
    return between * generator.normal(size=(n, 1)) + generator.normal(size=(n, k))


def test_all_six_forms_equal_those_of_psych():
    reference = expected("agreement_R")["icc_shrout_fleiss"]
    result = intraclass(np.array(reference["data"], dtype=float))
    for own, r in zip(result.forms, reference["results"], strict=True):
        assert own.form == r["type"]
        assert own.value == pytest.approx(r["ICC"], abs=1e-9)
        assert own.low == pytest.approx(r["lower bound"], abs=1e-9)
        assert own.high == pytest.approx(r["upper bound"], abs=1e-9)
        assert own.f == pytest.approx(r["F"], rel=1e-9)
        assert (own.df1, own.df2) == (r["df1"], r["df2"])
        assert own.p == pytest.approx(r["p"], abs=1e-9)


def test_units_with_a_gap_are_left_out_and_counted():
    table = repeated(20, 3, 1)
    with_gaps = np.vstack([table, [[1, np.nan, 2], [np.nan] * 3]])
    result = intraclass(with_gaps)
    assert (result.n, result.n_left_out) == (20, 2)
    assert result.forms == intraclass(table).forms


def test_intervals_cover_the_population_value_as_often_as_they_say():
    # equal variance between and within: .5
    results = [intraclass(repeated(40, 4, seed)) for seed in range(300)]
    for form in ICC_FORMS[:3]:
        ends = [(own.form(form).low, own.form(form).high) for own in results]
        assert 0.92 <= np.mean([low <= 0.5 <= high for low, high in ends]) <= 0.98


@given(seed=st.integers(0, 40), shift=st.floats(-50, 50), scale=st.floats(0.1, 20))
def test_origin_and_unit_change_nothing_and_the_interval_holds_the_value(seed, shift, scale):
    table = repeated(15, 3, seed)
    own, moved = intraclass(table), intraclass(shift + scale * table)
    for form in ICC_FORMS:
        assert moved.form(form).value == pytest.approx(own.form(form).value, abs=1e-9)
        assert own.form(form).low <= own.form(form).value <= own.form(form).high


def test_a_shift_between_repetitions_lowers_agreement_but_not_consistency():
    table = repeated(30, 2, 3)
    shifted = table + np.array([0, 2])
    assert intraclass(shifted).form("ICC3").value == pytest.approx(
        intraclass(table).form("ICC3").value, abs=1e-12
    )
    assert intraclass(shifted).form("ICC2").value < intraclass(table).form("ICC2").value - 0.1


def test_identical_repetitions_agree_by_construction_and_say_so():
    result = intraclass(np.repeat(np.arange(6.0)[:, None], 3, axis=1))
    assert {own.value for own in result.forms} == {1.0}
    assert np.isnan([own.low for own in result.forms]).all()
    assert any("by construction" in text for text in result.problems)


def test_a_constant_shift_leaves_consistency_at_one_without_an_interval():
    result = intraclass(np.arange(6.0)[:, None] + [0, 1, 3])
    assert result.form("ICC3").value == 1.0
    assert np.isnan(result.form("ICC3").low)
    assert result.form("ICC1").value < 1
    assert result.problems


@pytest.mark.parametrize(
    "table",
    [
        np.ones((5, 3)),
        np.ones((1, 3)),
        np.arange(4.0)[:, None],
        np.full((4, 3), np.nan),
        np.empty((0, 2)),
    ],
)
def test_bad_tables_give_no_coefficient_but_a_reason(table):
    result = intraclass(table)
    assert np.isnan([[own.value, own.low, own.p] for own in result.forms]).all()
    assert "Undefined" in result.problems[0]


def test_units_alike_on_average_have_a_negative_single_coefficient():
    result = intraclass(np.array([[1.0, 3], [3, 1], [1.1, 3], [3, 1]]))
    assert result.form("ICC1").value < 0


GAPS = np.array(
    [[9, 2, 5, 8], [6, 1, np.nan, 2], [8, 4, 6, 8], [7, 1, 2, 6], [np.nan, 5, 6, 9], [6, 2, 4, 7]]
)


def test_units_with_a_gap_count_as_in_lme_of_nlme():
    # lme(y ~ 1, random = ~ 1 | unit); units and repetitions crossed by pdBlocked; nlme 3.1-162
    found = intraclass_of_components(GAPS)
    singles = [found.form(name).value for name in ("ICC1", "ICC2", "ICC3")]
    assert singles == pytest.approx([0.01206224, 0.3007334, 0.7161398], abs=5e-5)
    assert (found.n, found.n_left_out) == (6, 0)
    assert found.form("ICC3k").value == pytest.approx(4 * 0.7161398 / (1 + 3 * 0.7161398), abs=5e-5)
    assert np.isnan([found.form("ICC2").low, found.form("ICC2").p]).all()


@given(seed=st.integers(0, 40))
def test_without_a_gap_mixed_models_give_the_same(seed: int):
    draw = np.random.default_rng(seed).normal
    units = draw(size=(12, 1)) * (2 if seed % 2 else 0)  # below 0 as well
    table = units + draw(size=(1, 3)) + draw(size=(12, 3))
    plain, mixed = intraclass(table), intraclass_of_components(table)
    for name in ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"):
        value = pytest.approx(plain.form(name).value, rel=1e-3, abs=1e-4)
        assert mixed.form(name).value == value


@pytest.mark.parametrize(
    "table",
    [
        np.ones((5, 3)),
        np.full((4, 3), np.nan),
        np.where(np.eye(4) > 0, np.arange(4.0), np.nan),
        [[1.0, 2.0]],
    ],
)
def test_tables_that_say_nothing_of_units_have_a_reason(table):
    found = intraclass_of_components(np.asarray(table))
    assert np.isnan([form.value for form in found.forms]).all()
    assert found.problems


def test_a_mean_of_repetitions_that_differ_more_than_units_has_no_icc_but_a_reason():
    forms = {
        each.form: each
        for each in intraclass_of_components(np.array([[1.0, 2.0], [2.0, 1.0], [1.2, 1.8]])).forms
    }
    for form in ("ICC1", "ICC2", "ICC3"):
        assert forms[form].value <= 0
        mean = forms[f"{form}k"]
        assert math.isnan(mean.value) == (forms[form].value <= -1 + 1e-9)
        assert bool(mean.problems) == math.isnan(mean.value)
    assert math.isnan(forms["ICC3k"].value)
    draw = np.random.default_rng(3)
    for _ in range(50):
        gaps = draw.normal(size=(6, 3))
        gaps[draw.random(gaps.shape) < 0.25] = np.nan
        values = [each.value for each in intraclass_of_components(gaps).forms]
        assert not np.nanmax([*values, 0.0]) > 1

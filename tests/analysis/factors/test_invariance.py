from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.factors.invariance.analysis import invariance
from core.analysis.kit.sentences import KEYING_STEP
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores
from tests.stats.reference import scores

HS = [f"x{k}" for k in range(1, 10)]
SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
KEYED = [1, -1, 1, -1, 1, 1, -1, 1, 1]


def schools(factor="language", **factors):
    """The first 156 rows are one school of Holzinger & Swineford, the others the second."""
    values = scores("hs1939")
    options = {"items": HS, "subscales": SUBSCALES, "keyed": KEYED, **factors}
    return pd.concat(
        [
            item_scores(values[:156], **{**options, factor: "Pasteur"}),
            item_scores(values[156:], start=500, **{**options, factor: "Grant-White"}),
        ]
    )


def two_languages(n=500, *, loading=0.0, intercept=0.0, noise=0.0, **factors):
    """One factor; in German the third item may differ in some way, and the mean does by 0.5."""
    rng = np.random.default_rng(1)
    parts = []
    for number, language in enumerate(("English", "German")):
        slopes = np.array([0.8, 0.8, 0.7 + number * loading, 0.7, 0.6])
        origins = np.array([3, 3, 3 + number * intercept, 3, 3])
        trait = rng.normal(size=(n, 1)) + 0.5 * number
        spread = np.array([0.6, 0.6, 0.6 + number * noise, 0.6, 0.6])
        values = origins + trait * slopes + spread * rng.normal(size=(n, 5))
        parts.append(item_scores(values, start=1 + number * n, language=language, **factors))
    return pd.concat(parts)


def frames(result):
    assert [one.name for one in result.tables] == ["steps", "releases", "effects", "levels"]
    return {one.name: one.frame for one in result.tables}


@pytest.mark.parametrize("factor", ["language", "respondent", "entity"])
def test_the_steps_of_the_two_schools_are_those_printed_for_lavaan(factor):
    result = invariance(schools(factor), factor=factor, estimator="ml")
    steps = frames(result)["steps"]
    assert steps["step"].tolist() == ["configural", "metric", "scalar", "strict"]
    assert steps["df"].tolist() == [48, 54, 60, 69]
    assert steps["chi2"].tolist() == pytest.approx([115.851, 124.044, 164.103, 181.511], abs=6e-4)
    assert steps["cfi"].tolist()[:3] == pytest.approx([0.923, 0.921, 0.882], abs=6e-4)
    assert steps["rmsea"].tolist()[:3] == pytest.approx([0.097, 0.093, 0.107], abs=6e-4)
    assert steps["aic"].tolist()[:3] == pytest.approx([7484.4, 7480.6, 7508.6], abs=0.06)
    assert steps["bic"].tolist()[:3] == pytest.approx([7706.8, 7680.8, 7686.6], abs=0.06)
    assert steps["chi2_difference"].tolist()[1:] == pytest.approx(
        [8.192, 40.059, 181.511 - 164.103], abs=1e-3
    )
    assert steps["df_difference"].tolist()[1:] == [6, 6, 9]
    assert steps["p_difference"].tolist()[1:3] == pytest.approx([0.224, 0.0], abs=6e-4)
    np.testing.assert_allclose(steps["cfi_difference"][1:], np.diff(steps["cfi"]))
    assert np.isnan(steps["chi2_difference"][0])
    levels = frames(result)["levels"].set_index("level")
    assert levels["n"].to_dict() == {"Grant-White": 145, "Pasteur": 156}
    assert (result.n_used, result.n_left_out, result.n_missing) == (301 * 9, 0, 0)


def test_only_what_is_meant_is_held_equal_in_every_model():
    """Two groups of 54 moments; factor variances and means become free as equalities come."""
    wanted = {
        "subscales": [48, 54, 60],
        "general": [2 * 27, 54 + 8, 62 + 8],
        "method": [2 * 21, 42 + 12 - 4, 50 + 9 - 4],  # 9 + 3 loadings; 4 variances, 4 means
        "bifactor": [2 * 18, 36 + 18 - 4, 50 + 9 - 4],
        "second_order": [48, 48 + 6 + 2, 56 + 6],
    }
    for kind, df in wanted.items():
        result = invariance(schools(), model=kind, estimator="ml")
        steps = frames(result)["steps"]
        assert steps["df"].tolist() == [*df, df[-1] + 9], kind  # nine residual variances
        assert not any("do not determine all parameters" in note for note in result.all_notes), kind


def test_answers_that_are_invariant_pass_every_step():
    steps = frames(invariance(two_languages()))["steps"]
    assert (steps["p_difference"][1:] > 0.01).all()
    assert (steps["version"][1:] == "robust").all()


def test_few_people_of_a_level_have_a_p_of_their_own_which_the_sentence_takes():
    result = invariance(two_languages(60), estimator="ml")
    steps = frames(result)["steps"]
    scalar = steps.loc[2]
    free = 5 * 6 / 2 - scalar["df"] / 2
    factor = 1 - (2.381 + 0.361 * 5 + 0.006 * free) / 60
    of_step = stats.chi2.sf(scalar["chi2"] * factor, scalar["df"])
    of_change = stats.chi2.sf(scalar["chi2_difference"] * factor, scalar["df_difference"])
    assert scalar["p_few_rows"] == pytest.approx(of_step)
    assert scalar["p_few_rows_difference"] == pytest.approx(of_change)
    many = frames(invariance(two_languages(), estimator="ml"))["steps"]
    assert many[["p_few_rows", "p_few_rows_difference"]].isna().all(axis=None)


def test_the_smallest_level_decides_whether_rows_are_few():
    english, german = (rows for _, rows in two_languages(400).groupby("language"))
    few = pd.concat([english, german[german["administration"] <= 440]])
    steps = frames(invariance(few, estimator="ml"))["steps"]
    configural = steps.loc[0]
    lost = 2.381 + 0.361 * 5 + 0.006 * (15 - configural["df"] / 2)
    factor = 2 / (1 / (1 - lost / 400) + 1 / (1 - lost / 40))
    expected = stats.chi2.sf(configural["chi2"] * factor, configural["df"])
    assert configural["n"] == 440
    assert configural["p_few_rows"] == pytest.approx(expected)


def test_what_stands_against_equality_is_adjusted_for_all_that_could_be_free():
    releases = frames(invariance(two_languages(100), estimator="ml"))["releases"]
    strict = releases.query("step == 'strict'")
    # of 2 levels, 5 loadings, 5 intercepts and 5 residual variances each
    assert len(strict) == 15 < 30
    rank = np.arange(1, 16)
    bounds = np.minimum.accumulate((strict["p"].to_numpy() * 30 / rank)[::-1])[::-1]
    assert (strict["p_adjusted"] <= np.minimum(bounds, 1) + 1e-9).all()
    assert strict["p_adjusted"].iloc[0] > strict["p"].iloc[0]


def test_a_loading_and_an_intercept_that_differ_are_found_at_their_steps():
    found = frames(invariance(two_languages(loading=-0.4)))
    assert found["steps"]["p_difference"][1] < 1e-6
    first = found["releases"].query("step == 'metric'").iloc[0]
    assert (first["parameter"], first["left"], first["right"]) == ("loading", "s", "i3")
    assert first["level"] in ("English", "German")
    found = frames(invariance(two_languages(intercept=0.5)))
    assert found["steps"]["p_difference"][1] > 0.01
    assert found["steps"]["p_difference"][2] < 1e-6
    first = found["releases"].query("step == 'scalar'").iloc[0]
    assert (first["parameter"], first["left"]) == ("intercept", "i3")


def test_a_residual_variance_that_differs_is_found_at_the_last_step():
    found = frames(invariance(two_languages(noise=0.4)))
    steps = found["steps"].set_index("step")
    assert steps.loc["strict", "equal"] == "loadings, intercepts, residual variances"
    assert (steps.loc[["metric", "scalar"], "p_difference"] > 0.01).all()
    assert steps.loc["strict", "p_difference"] < 1e-6
    assert steps.loc["strict", "df_difference"] == 5
    first = found["releases"].query("step == 'strict'").iloc[0]
    assert (first["parameter"], first["left"], first["right"]) == ("variance", "i3", "i3")


def test_gaps_and_constant_items_are_counted_and_named():
    frame = two_languages(n=200)
    frame.loc[(frame["item"] == "i5") & (frame["language"] == "German"), "score"] = 3.0
    hole = (frame["item"] == "i1") & frame["administration"].isin([1, 2, 3, 300])
    frame.loc[hole, ["score", "status"]] = [np.nan, "refused"]
    listwise, full = (invariance(frame, estimator=kind) for kind in ("mlr", "fiml"))
    assert frames(listwise)["levels"]["dropped"].tolist() == [3, 1]
    assert frames(full)["levels"]["dropped"].tolist() == [0, 0]
    assert frames(listwise)["steps"]["n_items"].tolist() == [4] * 4
    for result in (listwise, full):
        assert any("at some level" in note and "i5" in note for note in result.all_notes)
        assert (result.n_missing, result.n_planned) == (4, 2000)
    assert listwise.n_used == 396 * 4
    assert full.n_used == 1600 - 4


def test_a_thin_level_and_a_group_without_levels_are_left_out_by_name():
    thin = item_scores(scores("hs1939")[:4], items=HS, subscales=SUBSCALES, start=2000)
    thin["language"] = "Latin"
    alone = item_scores(scores("hs1939"), items=HS, subscales=SUBSCALES, start=3000)
    alone["respondent"] = "b"
    result = invariance(pd.concat([schools(), thin, alone]))
    assert "gpt: left out, with fewer than 10 administrations: Latin." in result.all_notes
    assert "b: not compared, as fewer than two levels have 10 administrations." in result.cautions
    steps = frames(result)["steps"].set_index(["respondent", "step"])
    assert steps.loc[("b", "metric")][["chi2", "p_difference"]].isna().all()
    assert steps.loc[("gpt", "metric"), "n"] == 301
    assert result.n_planned == (301 + 4 + 301) * 9
    assert result.n_left_out == (4 + 301) * 9


@pytest.mark.parametrize("factor", ["language", "template"])
def test_one_level_is_an_error_with_a_next_step(factor):
    frame = item_scores(scores("hs1939"), items=HS, subscales=SUBSCALES)
    with pytest.raises(NotEnoughData, match=f"No levels of {factor} can be") as caught:
        invariance(frame, factor=factor)
    assert "two levels" in caught.value.remedy


def test_too_few_administrations_for_the_items_are_explained():
    frame = schools().query("administration < 7 or 500 <= administration < 506")
    with pytest.raises(NotEnoughData, match=r"not compared\. There are 6 usable rows for 9 items"):
        invariance(frame, fewest=3)


def test_a_step_with_more_parameters_than_the_answers_can_hold_has_no_numbers():
    """Two items: 10 moments of two languages, and 12, 11 and 10 parameters."""
    frame = two_languages(n=50)
    result = invariance(frame[frame["item"].isin(["i1", "i2"])])
    steps = frames(result)["steps"]
    assert steps["df"].tolist() == [-2, -1, 0, 2]
    assert steps["converged"].tolist() == [False, False, True, True]
    assert steps["p_difference"][:3].isna().all()
    assert any(
        note.startswith("gpt: configural: The model has more par") for note in result.all_notes
    )


def test_the_order_of_the_frame_does_not_matter():
    first = frames(invariance(schools()))
    second = frames(invariance(schools().sample(frac=1, random_state=3)))
    numbers = ["chi2", "chi2_scaled", "chi2_difference", "cfi_difference"]
    np.testing.assert_allclose(
        second["steps"][numbers].to_numpy(), first["steps"][numbers].to_numpy(), rtol=1e-4
    )


def test_an_item_keyed_wrongly_is_told_once_and_not_at_every_step_and_level():
    frame = two_languages()
    wrong = frame["item"] == "i3"
    frame.loc[wrong, "score"] = 6 - frame.loc[wrong, "score"]
    result = invariance(frame)
    (note,) = [note for note in result.all_notes if "keying" in note]
    assert re.fullmatch(
        r"gpt: configural: i3 \(-0\.\d\d, -0\.\d\d\) loads against the other items of s: check its "
        r"keying\.",
        note,
    )
    assert set(frames(result)["steps"]["against"]) == {"i3"}
    ((_, sentence, light),) = analyses.by_name("invariance").answer(result)
    assert f"i3 runs against the scale: check its keying {KEYING_STEP}." in sentence
    assert light == "grey"


def test_steps_of_a_model_that_does_not_fit_are_not_said_to_hold():
    """One general factor of the two schools; lavaan fits three with CFI .923 at best."""
    result = invariance(schools(), model="general", estimator="ml")
    ((_, sentence, light),) = analyses.by_name("invariance").answer(result)
    assert sentence.startswith("Invariance is not judged, as the model itself does not fit: χ²(54)")
    assert light == "red"


# Any factor of 2 to 20 levels.


def levels_of(column, levels, n=60, **options):
    """Five items of one factor at each level of some column."""
    rng = np.random.default_rng(2)
    parts = []
    for number, level in enumerate(levels):
        values = 3 + rng.normal(size=(n, 1)) * 0.8 + rng.normal(size=(n, 5)) * 0.6
        part = item_scores(values, start=1 + number * 1000, **options)
        parts.append(part.assign(**{column: level}))
    return pd.concat(parts)


@pytest.mark.parametrize(
    ("factor", "levels", "order"),
    [
        ("study", ["b", "a"], ["a", "b"]),
        ("model", ["llama", "gpt"], ["gpt", "llama"]),
        ("context_set", ["personas", "conversations"], ["conversations", "personas"]),
        ("phase", ["retest", "initial"], ["phase initial", "phase retest"]),
        ("temperature", [10.0, 0.7, 2.0], ["temperature 0.7", "temperature 2", "temperature 10"]),
        ("context", ["", "p10", "p9"], ["context (none)", "p10", "p9"]),
        ("repetition", [10, 9, 2], ["repetition 2", "repetition 9", "repetition 10"]),
        ("person.gender", ["woman", "man"], ["man", "woman"]),
    ],
)
def test_every_factor_is_compared_and_its_levels_stand_in_order(factor, levels, order):
    result = invariance(levels_of(factor, levels), factor=factor, by=())
    assert frames(result)["levels"]["level"].tolist() == order
    assert frames(result)["steps"]["converged"].all()


def test_people_without_a_fact_are_left_out_and_counted():
    frame = levels_of("person.gender", ["woman", "man", "", None])
    result = invariance(frame, factor="person.gender", by=())
    assert frames(result)["levels"]["n"].to_dict() == {0: 60, 1: 60}
    assert "Left out, without Person: gender: 120 administrations." in result.notes


def test_more_than_twenty_levels_are_refused_in_one_sentence_and_the_rest_stands():
    many = levels_of("context", [f"p{k}" for k in range(21)], n=12)
    with pytest.raises(NotEnoughData, match="with 21 contexts: at most 20 levels are compared"):
        invariance(many, factor="context")
    few = levels_of("context", ["p1", "p2"], respondent="b").assign(respondent="b")
    few["administration"] += 100_000
    result = invariance(pd.concat([many, few]), factor="context")
    steps = frames(result)["steps"].set_index(["respondent", "step"])["n"]
    assert (steps["gpt", "metric"], steps["b", "metric"]) == (0, 120)
    assert len(levels_of("context", range(20))["context"].unique()) == 20


def test_a_factor_that_the_answers_lack_is_a_clear_error():
    with pytest.raises(NotEnoughData, match=r"no factor person\.age"):
        invariance(two_languages(n=50), factor="person.age")


# Ordered answers, parameters to be free, effects.


def ordered_languages(n=600, *, shift=0.0, options=4):
    """The same two languages with answers on a few options."""
    frame = two_languages(n, intercept=shift)
    frame["score"] = np.digitize(frame["score"], np.linspace(2.3, 4, options - 1)) + 1.0
    return frame


def test_answers_of_fewer_than_five_options_are_taken_as_ordered():
    result = invariance(ordered_languages(800))
    steps = frames(result)["steps"]
    assert steps["step"].tolist() == ["configural", "thresholds", "metric", "scalar", "strict"]
    assert steps["equal"].tolist()[1:3] == ["thresholds", "thresholds, loadings"]
    assert set(steps["reported"]) == {"scaled"}
    # lavaan 0.6-14 has none either: NA from the step of equal thresholds on
    helps = {column.name: column.help for table in result.tables for column in table.columns}
    for name in ("cfi_robust", "rmsea_robust"):
        assert steps[name].isna().all()
        assert helps[name].endswith("read the scaled ones.")
    assert (steps["p_difference"][1:] > 0.01).all()
    assert any(note.startswith("Estimator: WLSMV") for note in result.notes)
    assert "theta parameterization" in result.method
    ((_, sentence, _),) = analyses.by_name("invariance").answer(result)
    assert sentence.startswith(
        "Equal thresholds, loadings, intercepts and residual variances hold (strict invariance)"
    )
    five = frames(invariance(ordered_languages(options=5)))["steps"]
    assert five["step"].tolist() == ["configural", "metric", "scalar", "strict"]
    assert len(frames(invariance(ordered_languages(), estimator="ml"))["steps"]) == 4


def test_thresholds_of_three_options_cannot_be_tested_and_that_is_a_note():
    result = invariance(ordered_languages(options=3))
    steps = frames(result)["steps"].set_index("step")
    assert steps.loc["thresholds", "df_difference"] == 0
    assert [note.kind for note in result.notes if getattr(note, "kind", "") == "same model"]
    ((_, sentence, light),) = analyses.by_name("invariance").answer(result)
    assert "thresholds cannot be tested by themselves" in sentence
    assert light == "green"


@pytest.mark.parametrize("ordered", [False, True])
def test_a_parameter_is_proposed_and_freed_when_asked(ordered):
    frame = ordered_languages(shift=0.5) if ordered else two_languages(intercept=0.5)
    whole = invariance(frame)
    proposed = frames(whole)["releases"].query("step == 'scalar'").iloc[0]["free"]
    assert proposed == "i3 ~ 1"
    ((_, sentence, light),) = analyses.by_name("invariance").answer(whole)
    assert "most against: i3 ~ 1" in sentence
    assert light != "green"
    result = invariance(frame, free=proposed)
    steps = frames(result)["steps"].set_index("step")
    assert steps.index.tolist()[-2:] == ["partial scalar", "partial strict"]
    assert steps.loc["partial scalar", "free"] == "i3 ~ 1"
    assert steps.loc["partial scalar", "df"] == steps.loc["scalar", "df"] - 1
    assert steps.loc["partial scalar", "p_difference"] > 0.01
    assert steps.loc["scalar", "p_difference"] < 1e-6
    ((_, sentence, _),) = analyses.by_name("invariance").answer(result)
    assert "hold, but for i3 ~ 1 (partial " in sentence


def test_the_effect_of_an_item_is_in_score_points_and_standard_deviations():
    """By hand: the expected score of i3 is .5 higher, its pooled deviation about sqrt(.85)."""
    result = invariance(two_languages(4000, intercept=0.5), free="i3 ~ 1")
    effects = frames(result)["effects"].set_index("item")
    assert set(effects["level"]) == {"German"}
    assert set(effects["reference"]) == {"English"}
    assert effects.loc["i3", "points"] == pytest.approx(0.5, abs=0.05)
    assert effects.loc["i3", "dmacs"] == pytest.approx(0.5 / np.sqrt(0.7**2 + 0.36), abs=0.05)
    assert (effects["dmacs"].drop("i3") < 0.06).all()


def test_items_and_several_parameters_can_be_freed():
    result = invariance(schools(), free="x3; textual =~ x5 + x6; x1 ~~ x1", estimator="ml")
    steps = frames(result)["steps"].set_index("step")
    names = ["partial metric", "partial scalar", "partial strict"]
    assert steps.index.tolist()[4:] == names
    whole = steps.loc[["metric", "scalar", "strict"], "df"].to_numpy()
    assert (whole - steps.loc[names, "df"].to_numpy()).tolist() == [3, 4, 6]
    assert steps.loc["partial metric", "free"].count("=~") == 3


@pytest.mark.parametrize(
    ("free", "message"),
    [
        ("x33 ~ 1", "no item x33"),
        ("visual =~ x4", "visual =~ x4 is no loading of the model"),
        ("x3 | t1", "no parameter that is held equal"),
        ("x1 ~~ x2", "no parameter that is held equal"),
        ("x3 ~ 2", "no parameter that is held equal"),
    ],
)
def test_what_is_no_parameter_is_refused_with_what_to_write(free, message):
    with pytest.raises(NotEnoughData, match=message) as caught:
        invariance(schools(), free=free)
    assert "=~" in caught.value.remedy

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

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
    assert [one.name for one in result.tables] == ["steps", "releases", "levels"]
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
    assert "b: not compared, as fewer than two levels are left." in result.cautions
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

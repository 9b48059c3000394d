from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.invariance.analysis import invariance
from core.analysis.factors.invariance.script import LevelGroup, invariance_files, invariance_scripts
from core.errors import NotEnoughData
from tests.analysis.kit.scripts.running import HOSTILE, run_r, written
from tests.analysis.score_frames import item_scores
from tests.stats.reference import scores

NINE = [f"x{number}" for number in range(1, 10)]
SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
KEYED = [1, -1, 1, -1, 1, 1, -1, 1, 1]
SAME = {
    "n": 0,
    "df": 0,
    "chi2": 1e-3,
    "p": 1e-4,
    "cfi": 1e-4,
    "rmsea": 1e-4,
    "srmr": 1e-4,
    "aic": 1e-2,
    "bic": 1e-2,
    "chi2_difference": 5e-3,
    "df_difference": 0,
    "p_difference": 1e-4,
}
CORRECTED = {"chi2_scaled": 1e-3, "cfi_robust": 1e-4, "rmsea_robust": 1e-4}
SCALED = {"chi2_scaled": 1e-3, "cfi_scaled": 1e-4, "rmsea_scaled": 1e-4}
EFFECTS = {"dmacs": 1e-4, "points": 1e-4}


def schools(gaps=False, n=301, respondent="m", start=1, options=0):
    """The pupils of the golden table in two halves that stand for languages.

    With `options`, the scores are cut into that many equal parts of their range.
    """
    values = np.array(scores("hs1939", NINE))[:n]
    if options:
        low, high = values.min(axis=0), values.max(axis=0)
        values = 1 + np.floor((values - low) / (high - low) * options).clip(0, options - 1)
    if gaps:
        values[np.arange(0, n, 7), np.arange(0, n, 7) % 9] = np.nan
    parts = [
        item_scores(
            own,
            items=NINE,
            subscales=SUBSCALES,
            keyed=KEYED,
            start=start + k * 1000,
            language=language,
            respondent=respondent,
        )
        for k, (own, language) in enumerate(((values[:150], "German"), (values[150:], "English")))
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("kind", "estimator"),
    [
        ("subscales", "ml"),
        ("subscales", "mlr"),
        ("subscales", "fiml"),
        ("second_order", "mlr"),
        ("general", "mlr"),
    ],
)
def test_lavaan_climbs_our_steps(tmp_path, kind, estimator):
    frame = schools(gaps=estimator == "fiml")
    columns = SAME | (CORRECTED if estimator != "ml" else {})
    agree(tmp_path, frame, columns, model=kind, estimator=estimator)


def agree(tmp_path, frame, columns, **options):
    """Compare all steps, and the effects of items, with those of the script."""
    files = invariance_scripts(frame, **options)
    theirs, effects = run_r(written(files, tmp_path), "invariance.R", "results", "effects")
    tables = {table.name: table.frame for table in invariance(frame, **options).tables}
    assert theirs["step"].tolist() == tables["steps"]["step"].tolist()
    assert effects["level"].tolist() == tables["effects"]["level"].tolist()
    for one, other, names in (
        (theirs, tables["steps"], columns),
        (effects, tables["effects"], EFFECTS),
    ):
        for name, tolerance in names.items():
            np.testing.assert_allclose(
                one[name].astype(float),
                other[name].astype(float),
                atol=tolerance,
                rtol=1e-4,
                err_msg=name,
            )


def test_lavaan_frees_the_same_parameters(tmp_path):
    agree(tmp_path, schools(), SAME, estimator="ml", free="x3 ~ 1; textual =~ x5; x7")


@pytest.mark.parametrize(
    ("n_options", "options"),
    [
        (4, {}),
        (4, {"free": "x3 ~ 1; x7 | t2; textual =~ x5"}),
    ],
)
def test_lavaan_climbs_our_steps_of_ordered_answers(tmp_path, n_options, options):
    frame = schools(options=n_options)
    columns = {name: tolerance for name, tolerance in SAME.items() if name not in ("aic", "bic")}
    agree(tmp_path, frame, columns | SCALED, **options)


def test_gaps_of_ordered_answers_take_pairs(tmp_path):
    frame = schools(options=4, gaps=True)
    columns = {"n": 0, "df": 0, "chi2": 1e-2, "chi2_scaled": 1e-2, "chi2_difference": 1e-2}
    agree(tmp_path, frame, columns, missing="pairwise")


def test_lavaan_climbs_our_steps_with_a_method_factor(tmp_path):
    """Factors without a fixed loading: their variance is 1 at the first level alone."""
    rng = np.random.default_rng(4)
    trait, method = rng.normal(size=(2, 700, 1))
    values = np.hstack([0.8 * trait, 0.8 * trait + 0.7 * method]).repeat(3, axis=1)
    values = values + rng.normal(size=(700, 6)) * 0.6 + 3
    options = {"subscales": ["s"] * 6, "keyed": [1, 1, 1, -1, -1, -1]}
    frame = pd.concat(
        [
            item_scores(values[:350], language="English", **options),
            item_scores(values[350:], language="German", start=2001, **options),
        ]
    )
    files = invariance_scripts(frame, model="method", estimator="ml")
    (theirs,) = run_r(written(files, tmp_path), "invariance.R", "results")
    ours = invariance(frame, model="method", estimator="ml").tables[0].frame
    assert len(theirs) == len(ours) == 4
    for name in ("df", "chi2", "chi2_difference"):
        np.testing.assert_allclose(theirs[name].astype(float), ours[name], atol=5e-3, err_msg=name)


def test_each_group_has_levels_of_its_own_in_the_data(tmp_path):
    frame = pd.concat([schools(), schools(n=260, respondent='model "B"', start=5001)])
    files = invariance_scripts(frame, estimator="ml")
    (theirs,) = run_r(written(files, tmp_path), "invariance.R", "results")
    ours = invariance(frame, estimator="ml").tables[0].frame
    assert theirs["name"].tolist() == ours["respondent"].tolist()
    np.testing.assert_allclose(theirs["chi2"], ours["chi2"], atol=1e-3)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_hostile_names_stay_data_in_r(tmp_path, locale):
    values = scores("hs1939", NINE)
    shown = (*HOSTILE[:6], "group", "level", "if")
    model = "F =~ " + " + ".join(NINE)
    groups = [
        LevelGroup(
            name,
            {name: values[:150], HOSTILE[0] + "x": values[150:]},
            tuple(NINE),
            model,
            titles=dict(zip(NINE, shown, strict=True)) | {"F": "level"},
        )
        for name in HOSTILE[:4]
    ]
    files = invariance_files(groups, estimator="ml", factor="\n".join(HOSTILE))
    (table,) = run_r(written(files, tmp_path), "invariance.R", "results", locale=locale)
    own = {file.name for file in files}
    assert {path.name for path in tmp_path.iterdir()} == own | {"after.R"}
    assert len(table) == 16
    assert table["n"].eq(301).all()


def test_nothing_to_compare_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="nothing to write"):
        invariance_scripts(schools()[lambda frame: frame["language"] == "German"])

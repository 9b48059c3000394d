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


def schools(gaps=False, n=301, respondent="m", start=1):
    """The pupils of the golden table in two halves that stand for languages."""
    values = np.array(scores("hs1939", NINE))[:n]
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
    files = invariance_scripts(frame, model=kind, estimator=estimator)
    (theirs,) = run_r(written(files, tmp_path), "invariance.R", "results")
    ours = invariance(frame, model=kind, estimator=estimator).tables[0].frame
    assert theirs["step"].tolist() == ours["step"].tolist()
    columns = SAME | (CORRECTED if estimator != "ml" else {})
    for name, tolerance in columns.items():
        np.testing.assert_allclose(
            theirs[name].astype(float),
            ours[name].astype(float),
            atol=tolerance,
            rtol=1e-4,
            err_msg=name,
        )


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
    groups = next(file.text for file in files if file.name == "groups.csv")
    assert all(line.endswith(",std.lv") for line in groups.splitlines()[1:])
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

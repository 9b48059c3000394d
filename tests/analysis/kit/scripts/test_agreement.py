from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from core.analysis.scales.rater_agreement import rater_agreement, rater_agreement_scripts
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.analysis.score_frames import option_counts

RATERS = HOSTILE[:4]


def answers(form):
    """Three raters who agree in part over 40 items, with gaps, and one who always says the same."""
    draw = np.random.default_rng(3)
    truth = draw.integers(1, 5, 40)
    frames = []
    for number, rater in enumerate(RATERS):
        codes = np.where(draw.random(40) < 0.6, truth, draw.integers(1, 5, 40)).astype(float)
        codes[number::9] = np.nan
        if number == 3:
            codes[:] = 2
        rows = [
            (f"i{item}", "none" if np.isnan(code) else f"{code:g}", code, code, np.isnan(code), 1)
            for item, code in enumerate(codes)
        ]
        frames.append(option_counts(rows, respondent=rater, form=form))
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize("codes", ["option", "ordinal", "interval"])
def test_both_scripts_give_the_agreement_of_raters(tmp_path, codes):
    frame = pd.concat([answers(HOSTILE[5]), answers(HOSTILE[7])], ignore_index=True)
    options = {"codes": codes, "by": ("form",)}
    ours, our_pairs = (
        table.frame for table in rater_agreement(frame, resamples=0, **options).tables[:2]
    )
    folder = written(rater_agreement_scripts(frame, **options), tmp_path)
    text = run_python(folder, "rater_agreement.py").split("\n\n")
    of_python = [
        pd.read_csv(io.StringIO(part), sep="\t", quoting=csv.QUOTE_NONE, na_values=["nan"])
        for part in text
    ]
    of_r = run_r(folder, "rater_agreement.R", "all_raters[-1]", "pairs[-(1:3)]", locale="C")
    for groups, pairs in (of_python, of_r):
        for name in ("raters", "items", "kappa", "sd", "alpha", "fleiss"):
            assert groups[name].tolist() == pytest.approx(ours[name].tolist(), abs=1e-9), name
        for name in ("kappa", "ci_low", "ci_high", "n"):
            wanted = our_pairs[name].astype(float).tolist()
            assert pairs[name].tolist() == pytest.approx(wanted, abs=1e-9, nan_ok=True), name
    assert len(of_r[1]) == 12
    assert not (tmp_path / "pwned").exists()

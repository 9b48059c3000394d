from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from core.analysis.quality.invalid_answers import invalid_answers, invalid_answers_scripts
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.analysis.quality.test_invalid_answers import ROWS, attempts


@pytest.mark.parametrize("by", [("respondent",), ()])
def test_both_scripts_give_the_shares_of_invalid_answers(tmp_path, by):
    second = [(HOSTILE[0] if item == "i1" else item, *row) for item, *row in ROWS]
    flat = [("i1", 1, "usable", True, 8, 10), ("i2", 1, "usable", True, 4, 10)]
    parts = (ROWS, second, flat)
    frame = pd.concat(
        [attempts(rows, respondent=name) for rows, name in zip(parts, HOSTILE[:3], strict=True)],
        ignore_index=True,
    )
    options = {"by": by, "ci_level": 0.9}
    tables = {
        table.name: table.frame for table in invalid_answers(frame, resamples=0, **options).tables
    }
    folder = written(invalid_answers_scripts(frame, **options), tmp_path)
    of_python = [
        pd.read_csv(io.StringIO(part), sep="\t", quoting=csv.QUOTE_NONE, na_values=["nan"])
        for part in run_python(folder, "invalid_answers.py").split("\n\n")
    ]
    of_r = run_r(folder, "invalid_answers.R", "summary[-1]", "items[-(1:2)]", locale="C")
    for summary, items in (of_python, of_r):
        for name in ("replied", "invalid", "share_invalid", "never", "share_never"):
            assert summary[name].tolist() == pytest.approx(tables["summary"][name].tolist()), name
        for end in ("wilson_low", "wilson_high"):
            ours = tables["summary"][end]
            given = ours.notna()  # resampling has the others
            wanted = ours[given].tolist()
            assert summary[end][given].tolist() == pytest.approx(wanted, abs=1e-9)
        for name in ("invalid", "share", "wilson_low", "wilson_high"):
            wanted = tables["items"][name].tolist()
            assert items[name].tolist() == pytest.approx(wanted, abs=1e-9), name
    assert len(of_r[0]) == (3 if by else 1)
    assert not (tmp_path / "pwned").exists()

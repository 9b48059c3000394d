"""Comparisons of contexts that were asked several times, beside two oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from benchmarks.coverage.scores import Personas
from core.analysis.groups.group_comparison.analysis import group_comparison
from core.analysis.kit.rows import average_over

DESIGN = Personas(personas=20, icc=0.3)


def test_averaged_contexts_of_two_groups_are_compared_as_a_mixed_model_does():
    """Balanced: t of Welch over means is that of lme4's and statsmodels' random intercepts."""
    frame = DESIGN.answers(np.random.default_rng(4))
    frame = frame[frame["language"] == "en"].assign(
        form=np.where(frame["context"].str[1:].astype(int) % 2 == 0, "original", "negation")[
            frame["language"] == "en"
        ]
    )
    result = group_comparison(average_over(frame, ["repetition"]), factor="form", by=())
    pairs = next(table.frame for table in result.tables if table.name == "pairs").iloc[0]
    scored = frame.groupby(["administration", "context", "form"], as_index=False)["score"].mean()
    scored["second"] = (scored["form"] == pairs["second"].removeprefix("form ")).astype(float)
    mixed = smf.mixedlm("score ~ second", scored, groups=scored["context"]).fit()
    assert pairs["difference"] == pytest.approx(mixed.params["second"], abs=1e-6)
    assert pairs["t"] == pytest.approx(mixed.tvalues["second"], rel=1e-3)
    clustered = sm.OLS(scored["score"], sm.add_constant(scored["second"])).fit(
        cov_type="cluster",
        cov_kwds={"groups": scored["context"].to_numpy(), "use_correction": False},
    )
    n = 10  # contexts of each group; the sandwich divides by n where a variance divides by n - 1
    assert len(scored) == 2 * n * DESIGN.repetitions
    error = clustered.bse["second"] * math.sqrt(n / (n - 1))
    assert pairs["difference"] / pairs["t"] == pytest.approx(error, rel=1e-6)

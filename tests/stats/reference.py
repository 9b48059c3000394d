"""Reference numbers from R and worked by hand, and the data they were made from."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.stats.factor.model_text import read_model
from core.stats.factor.wlsmv import difference_test, weighted_model
from core.stats.inputs import Floats

_GOLDEN = Path(__file__).parent / "golden"

# What lavaan calls the numbers of a fit: those of each version of the test, and of the whole.
INDICES = {
    "chisq": "chi2",
    "df": "df",
    "pvalue": "p",
    "baseline.chisq": "baseline_chi2",
    "baseline.df": "baseline_df",
    "cfi": "cfi",
    "tli": "tli",
    "rmsea": "rmsea",
    "rmsea.ci.lower": "rmsea_low",
    "rmsea.ci.upper": "rmsea_high",
    "rmsea.pvalue": "rmsea_p_close",
}
WHOLE = {
    "npar": "n_free",
    "ntotal": "n",
    "srmr": "srmr",
    "logl": "log_likelihood",
    "aic": "aic",
    "bic": "bic",
    "bic2": "adjusted_bic",
    "scaling.factor.h0": "scaling_h0",
    "scaling.factor.h1": "scaling_h1",
}


def expected(name: str) -> dict[str, Any]:
    """Content of golden/<name>.json."""
    content: dict[str, Any] = json.loads((_GOLDEN / f"{name}.json").read_text())
    return content


def scores(name: str, columns: list[str] | None = None) -> Floats:
    """golden/<name>.csv, or some columns of it, as numbers with NaN for gaps."""
    path = _GOLDEN / f"{name}.csv"
    header = [part.strip('"') for part in path.read_text().splitlines()[0].split(",")]
    table = np.genfromtxt(path, delimiter=",", skip_header=1, missing_values="NA")
    return table[:, [header.index(column) for column in columns or header]]


def compare_wlsmv(scores, items, restricted, freer):
    """The difference test of two models of the same ordered answers, from their texts."""
    wide = read_model(freer, items)
    narrow = replace(read_model(restricted, items), items=wide.items)  # the same order of pairs
    return difference_test(*(weighted_model(scores, items, one).fit for one in (narrow, wide)))

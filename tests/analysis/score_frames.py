"""ITEM_SCORES and OPTION_COUNTS frames out of plain matrices and rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from core.domain.frames import ITEM_SCORES, OPTION_COUNTS, check_frame
from core.domain.study import FACTORS

GOLDEN = Path(__file__).parent.parent / "golden"


def item_scores(values, *, items=None, subscales=None, keyed=None, start=1, study="s", **factors):
    """One row per cell of an (administrations, items) matrix; NaN becomes a refusal."""
    values = np.asarray(values, dtype=float)
    n, k = values.shape
    items = items or [f"i{number + 1}" for number in range(k)]
    frame = pd.DataFrame(
        {
            "administration": np.repeat(np.arange(start, start + n), k),
            "item": np.tile(items, n),
            "subscale": np.tile(subscales or ["s"] * k, n),
            "keyed": np.tile(keyed or [1] * k, n),
            "score": values.ravel(),
        }
    )
    frame["study"] = study
    frame["status"] = np.where(frame["score"].isna(), "refused", "answered")
    for factor in FACTORS:
        frame[factor] = factors.get(factor, "gpt" if factor in ("respondent", "model") else "")
    frame = frame[list(ITEM_SCORES.columns)]
    check_frame(frame, ITEM_SCORES)
    return frame


def option_counts(rows, **factors):
    """One row per (item, option or status, position, points, whether a status, count)."""
    frame = pd.DataFrame(
        rows, columns=["item", "option", "position", "points", "is_status", "count"]
    )
    chosen = ~frame.pop("is_status").astype(bool)
    frame["status"] = frame["option"].where(~chosen, "answered")
    frame["option"] = frame["option"].where(chosen, "")
    frame["position"] = frame["position"].where(chosen).astype(float)
    defaults = {
        "study": "s",
        "format": "likert_3",
        "keyed": 1,
        "direction": 1,
        "stance": np.nan,
        "coin": np.nan,
        "lowest": np.nan,
        "highest": np.nan,
        "n_options": 0,
        "midpoint": "coin",
    }
    for name in OPTION_COUNTS.columns:
        if name not in frame:
            frame[name] = factors.pop(name, defaults.get(name, ""))
    cell = {"respondent": "gpt", **factors}
    frame = frame[list(OPTION_COUNTS.columns)].assign(**cell)
    check_frame(frame, OPTION_COUNTS)
    return frame


def golden(analysis, data):
    """The expected numbers of one data set, and its ITEM_SCORES frame."""
    folder = GOLDEN / analysis
    body = json.loads((folder / "expected.json").read_text())
    expected = body["data"][data]
    owner = {item: name for name, part in expected.items() for item in part["items"]}
    values = pd.read_csv(folder / f"{data}.csv")[list(owner)]
    frame = item_scores(
        values.to_numpy(), items=list(owner), subscales=list(owner.values()), respondent="people"
    )
    return expected, frame, body["tolerance"]

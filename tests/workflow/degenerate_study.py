"""A study of two sound groups beside degenerate ones, as real collections bring them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.workflow.answers import imports
from core.workflow.banks import editing
from core.workflow.workspace import Workspace

STUDY = "degenerate"
SOUND = ("Sound one", "Sound two")
CONSTANT, ONE_ROW, STEEP, FEW = "Always three", "One row", "Steep", "Two rows"
ITEMS = (*(f"nature_{n:02}" for n in (1, 2, 3, 4)), *(f"technology_{n:02}" for n in (1, 2, 3, 4)))


def _sound(chance: np.random.Generator, n: int) -> np.ndarray:
    """Two factors with four items each."""
    common = chance.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], n)
    raw = common[:, [0] * 4 + [1] * 4] + chance.normal(size=(n, 8)) * 0.8
    return np.asarray(np.clip(np.round(raw * 1.1 + 3), 1, 5))


def _steep(chance: np.random.Generator, n: int) -> np.ndarray:
    """Items of which two are nearly one: a Heywood case, and far too steep curves."""
    values = _sound(chance, n)
    values[:, 1] = values[:, 0]
    values[0, 1] = 6 - values[0, 0]
    return values


def rows(keyed: Mapping[str, int]) -> pd.DataFrame:
    """One row for each answer; items that the bank reverses are answered the other way."""
    chance = np.random.default_rng(10)
    groups = {
        SOUND[0]: _sound(chance, 120),
        SOUND[1]: _sound(chance, 120),
        CONSTANT: np.full((40, 8), 3.0),
        ONE_ROW: _sound(chance, 1),
        STEEP: _steep(chance, 60),
        FEW: np.array([[1.0] * 8, [5.0] * 8]),
    }
    reversed_items = [keyed[item] < 0 for item in ITEMS]
    frames = []
    for model, values in groups.items():
        answers = np.where(reversed_items, 6 - values, values).astype(int)
        own = pd.DataFrame(answers, columns=ITEMS)
        own["context"] = [f"c{number:03}" for number in range(len(own))]
        own["language"] = np.where(np.arange(len(own)) % 2, "de", "en")
        long = own.melt(["context", "language"], var_name="item", value_name="answer")
        frames.append(long.assign(model=model))
    return pd.concat(frames, ignore_index=True)


def bring_in(workspace: Workspace) -> None:
    """Import the answers as a study of the bank attitudes_20."""
    bank = editing.load(workspace, "attitudes_20").instrument
    keyed = {item.code: item.keyed for item in bank.items}
    file = rows(keyed).to_csv(index=False, lineterminator="\n").encode()
    imports.import_tidy(workspace, f"{STUDY}.csv", file, study=STUDY, bank="attitudes_20")

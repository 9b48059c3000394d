"""Studies of nine items in which not everybody has an answer to every item, and the counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from core.domain.study import Block
from core.workflow.answers import imports
from core.workflow.runs import control
from core.workflow.workspace import Workspace
from tests.workflow.studies import finished, freeze, simulated

ITEMS = (*(f"nature_{n:02}" for n in range(1, 6)), *(f"technology_{n:02}" for n in range(1, 5)))
SHORT = ITEMS[:4] + ITEMS[5:8]
"""The items of the shorter block."""
MODELS, LANGUAGES, PEOPLE = ("A", "B"), ("en", "de"), 40
PLACES = len(MODELS) * len(LANGUAGES) * PEOPLE * len(ITEMS)


class Counts(NamedTuple):
    """How many answers a study has and how many are missing, and those in English of one model."""

    usable: int
    missing: int
    part: tuple[int, int]


def answers() -> pd.DataFrame:
    """A row for each model, language, person and item, with an answer from 1 to 5; none missing."""
    chance = np.random.default_rng(27)
    parts = []
    for model in MODELS:
        for language in LANGUAGES:
            traits = chance.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], PEOPLE)
            raw = traits[:, [0] * 5 + [1] * 4] + chance.normal(size=(PEOPLE, len(ITEMS))) * 0.9
            wide = pd.DataFrame(np.clip(np.round(raw + 3), 1, 5).astype(int), columns=ITEMS)
            wide["context"] = [f"c{number:03}" for number in range(PEOPLE)]
            parts.append(wide.assign(model=model, language=language))
    return pd.concat(parts).melt(
        ["model", "language", "context"], var_name="item", value_name="answer"
    )


def bring_in(workspace: Workspace, study: str, rows: pd.DataFrame) -> None:
    """Import rows as a study of the bank attitudes_20."""
    file = rows.to_csv(index=False, lineterminator="\n").encode()
    imports.import_tidy(workspace, f"{study}.csv", file, study=study, bank="attitudes_20")


def with_absent_rows(workspace: Workspace, study: str = "absent") -> Counts:
    """A long file in which 4 % of the answers have no row."""
    rows = answers()
    kept = rows[np.random.default_rng(1).random(len(rows)) >= 0.04]
    bring_in(workspace, study, kept)
    part = int(((kept["model"] == "A") & (kept["language"] == "en")).sum())
    return Counts(len(kept), PLACES - len(kept), (part, PEOPLE * len(ITEMS) - part))


def with_booklets(workspace: Workspace, study: str = "booklets") -> Counts:
    """A long file in which each person got a booklet of six of the nine items."""
    rows = answers()
    person = rows["context"].str[1:].astype(int)
    third = rows["item"].map({item: number % 3 for number, item in enumerate(ITEMS)})
    kept = rows[third != person % 3]
    bring_in(workspace, study, kept)
    return Counts(PLACES * 6 // 9, PLACES * 3 // 9, (PEOPLE * 6, PEOPLE * 3))


def with_blocks(workspace: Workspace, study: str = "blocks") -> Counts:
    """A plan that asks some personas all items and the others seven: nobody lacks an answer."""
    codes = tuple(f"p{number:04}" for number in range(1, 61))
    blocks = (
        Block("all", contexts=codes[:40], items=ITEMS),
        Block("short", contexts=codes[40:], items=SHORT),
    )
    record = freeze(
        workspace,
        simulated(seed=3),
        study=study,
        n_personas=60,
        languages=LANGUAGES,
        blocks=blocks,
    )
    control.start(workspace, study)
    assert finished(workspace, study).n_done == record.n_trials
    return Counts(2 * (40 * 9 + 20 * 7), 0, (40 * 9 + 20 * 7, 0))

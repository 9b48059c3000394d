"""What intervals and tests of scores hold where each persona was asked several times."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.report import Section

ITEMS, REPETITIONS = 6, 10
LANGUAGES = ("en", "de")
_TRAIT = 0.6
"""Share of the trait in what is a persona's own; the rest is of persona and item."""


@dataclass(frozen=True)
class Design:
    """So many personas; the share of variance of an answer that is the persona's own."""

    personas: int
    icc: float

    @property
    def variances(self) -> tuple[float, float, float]:
        """Of the trait, of persona by item, and of a mean over repetitions."""
        trait = _TRAIT * self.icc
        return trait, self.icc - trait, (1 - self.icc) / REPETITIONS


DESIGNS = tuple(Design(n, icc) for n in (10, 40) for icc in (0.0, 0.3, 0.8))


def answers(design: Design, seed: int) -> pd.DataFrame:
    """ITEM_SCORES of the same personas in two languages, between which nothing differs."""
    draw = np.random.default_rng([seed, design.personas, round(100 * design.icc)])
    trait, of_item, _ = design.variances
    shape = (design.personas, len(LANGUAGES), REPETITIONS, ITEMS)
    values = (
        draw.normal(scale=math.sqrt(trait), size=(design.personas, 1, 1, 1))
        + draw.normal(scale=math.sqrt(of_item), size=(design.personas, len(LANGUAGES), 1, ITEMS))
        + draw.normal(scale=math.sqrt(1 - design.icc), size=shape)
    )
    persona, language, repetition, item = np.indices(shape).reshape(4, -1)
    asked = np.ravel_multi_index((persona, language, repetition), shape[:3])
    frame = pd.DataFrame(
        {
            "study": "s",
            "administration": asked + 1,
            "item": pd.Series(item).map("i{}".format),
            "subscale": "s",
            "keyed": 1,
            "status": "answered",
            "score": values.ravel(),
            "context": pd.Series(persona).map("p{}".format),
            "language": np.array(LANGUAGES)[language],
            "repetition": repetition + 1,
        }
    )
    from core.domain.study import FACTORS

    return frame.assign(
        **{name: "m" if name in ("respondent", "model") else "" for name in FACTORS
           if name not in frame}
    )  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """An interval that is to cover a truth, or a p of a test where nothing differs."""

    title: str
    analysis: str
    table: str
    columns: tuple[str, ...]  # the ends of an interval, or a p
    truth: Callable[[Design], float] = lambda _: 0.0
    null: Callable[[Design], bool] = lambda _: True

    def held(self, tables: dict[str, pd.DataFrame], design: Design) -> float:
        """Whether the interval covers the truth, or whether the test is significant."""
        row = tables[self.table].iloc[0]
        if len(self.columns) == 1:
            return float(row[self.columns[0]] < 0.05)
        low, high = (row[name] for name in self.columns)
        return float(low <= self.truth(design) <= high)


def _alpha(design: Design) -> float:
    trait, of_item, error = design.variances
    total = ITEMS**2 * trait + ITEMS * (of_item + error)
    return ITEMS / (ITEMS - 1) * (1 - ITEMS * (trait + of_item + error) / total)


def _discrimination(design: Design) -> float:
    trait, of_item, error = design.variances
    rest = (ITEMS - 1) ** 2 * trait + (ITEMS - 1) * (of_item + error)
    return (ITEMS - 1) * trait / math.sqrt((trait + of_item + error) * rest)


def _between_languages(design: Design) -> float:
    trait, of_item, error = design.variances
    return trait / (trait + (of_item + error) / ITEMS)


_ENDS = ("ci_low", "ci_high")
PROMISES = (
    Promise("α, interval (Feldt)", "internal_consistency", "alpha", _ENDS, _alpha),
    Promise("discrimination, interval", "item_statistics", "items", _ENDS, _discrimination),
    Promise("mean of a scale, interval", "group_comparison", "groups", _ENDS),
    Promise("two languages, test of means", "group_comparison", "tests", ("p",)),
    Promise(
        "r between languages, interval",
        "score_correlations",
        "correlations",
        _ENDS,
        _between_languages,
    ),
    Promise("difference of languages, interval", "score_correlations", "differences", _ENDS),
)
_COMPARE = {"factor": "language", "by": ()}
_OPTIONS: dict[str, dict[str, object]] = {
    "internal_consistency": {"by": ("language",)},
    "item_statistics": {"by": ("language",)},
    "group_comparison": _COMPARE,
    "score_correlations": _COMPARE | {"resamples": 0},
}


def held(design: Design, seed: int, *, averaged: bool) -> list[float]:
    """For each promise, whether it was kept in one simulated study."""
    from core.analysis.kit.rows import average_over
    from core.workflow.statistics import analyses

    frame = answers(design, seed)
    scores = average_over(frame, ["repetition"]) if averaged else frame
    found = {
        name: {
            table.name: table.frame
            for table in analyses.by_name(name).run(scores, **options).tables
        }
        for name, options in _OPTIONS.items()
    }
    return [promise.held(found[promise.analysis], design) for promise in PROMISES]


def shares(design: Design, replications: int, *, averaged: bool) -> np.ndarray:
    """For each promise, the share of studies in which it held (a test: was significant)."""
    return np.mean([held(design, seed, averaged=averaged) for seed in range(replications)], axis=0)


def measure(_work: Path, *, quick: bool) -> Section:
    """Coverage and type I error with repetitions averaged, and with each answer as a row."""
    replications, as_rows = (2, 1) if quick else (500, 100)
    rows: list[tuple[str, ...]] = []
    for design in DESIGNS[:1] if quick else DESIGNS:
        averaged = shares(design, replications, averaged=True)
        each = shares(design, as_rows, averaged=False)
        rows += [
            (
                f"{design.personas} personas, ICC {design.icc:g}",
                promise.title,
                "type I error" if len(promise.columns) == 1 else "covered",
                f"{100 * of_averaged:.1f}",
                f"{100 * of_each:.1f}",
            )
            for promise, of_averaged, of_each in zip(PROMISES, averaged, each, strict=True)
        ]
    return Section(
        "Repeated contexts",
        f"Personas answer {ITEMS} items in two languages, {REPETITIONS} times each. The ICC is the "
        "share of variance that is the persona's own; nothing differs between the languages. Tests "
        "at .05, intervals of 95 %. By rule, repetitions of a persona are averaged "
        f"({replications} simulated studies); beside it, each answer is a row ({as_rows} studies).",
        ("design", "interval or test", "", "by rule, %", "each answer a row, %"),
        rows,
        (),
        ("numpy", "scipy"),
    )

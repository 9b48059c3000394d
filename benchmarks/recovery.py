"""Whether known effects are found: how often an interval covers the truth, and the mean error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import planted_answers as planted
from benchmarks.report import Section

LEVEL = 0.95
ITEMS, ANSWERS = 60, 10
_MANY = (
    1_000_000  # questions from which the truth of a statistic is computed, where it depends on n
)


@dataclass(frozen=True)
class Effect:
    """One planted effect: who makes its answers, what analyzes them, and where its estimate is."""

    name: str
    truth: Callable[[], float]
    answers: Callable[[np.random.Generator, int, int], pd.DataFrame]
    analysis: str
    options: Mapping[str, Any]
    table: str
    columns: tuple[str, str, str]  # the estimate and the ends of its interval


def _shift_of_many() -> float:
    generator = np.random.default_rng(1)
    counts = planted.yielding_counts(generator, _MANY, ANSWERS)
    return planted.split_shift(generator, *counts, ANSWERS)


def _correlation_of_many() -> float:
    counts = planted.bilingual_counts(np.random.default_rng(2), _MANY, ANSWERS)
    return float(np.corrcoef(*counts)[0, 1])


EFFECTS = (
    Effect(
        "bias: mean share of yes .60",
        lambda: planted.LEANING,
        planted.leaning_answers,
        "bias",
        {"by": ()},
        "bias",
        ("share", "ci_low", "ci_high"),
    ),
    Effect(
        "acquiescence: .10 to every answer",
        lambda: 2 * planted.YES_SAYING,
        planted.acquiescent_answers,
        "bias",
        {"by": ()},
        "acquiescence",
        ("index", "ci_low", "ci_high"),
    ),
    Effect(
        "order effect: .15 for the first named",
        lambda: planted.FIRST_NAMED,
        planted.ordered_answers,
        "preference",
        {"by": ()},
        "order_effects",
        ("effect", "ci_low", "ci_high"),
    ),
    Effect(
        "preference: .55 of comparisons",
        lambda: planted.WINS,
        planted.ordered_answers,
        "preference",
        {"by": ()},
        "shares",
        ("share", "ci_low", "ci_high"),
    ),
    Effect(
        "giving way: .40 of answers",
        _shift_of_many,
        planted.yielding_answers,
        "bias_shift",
        {"by": ()},
        "groups",
        ("corrected", "ci_low", "ci_high"),
    ),
    Effect(
        "languages: leanings correlate .70",
        _correlation_of_many,
        planted.bilingual_answers,
        "cross_language",
        {"by": (), "permutations": 99},
        "correlations",
        ("r", "ci_low", "ci_high"),
    ),
    Effect(
        "languages: .08 more yes",
        lambda: planted.LANGUAGE_SHIFT,
        planted.shifted_answers,
        "cross_language",
        {"by": (), "measure": "positive", "permutations": 9},
        "comparisons",
        ("difference", "ci_low", "ci_high"),
    ),
)


def estimate(effect: Effect, seed: int, items: int = ITEMS) -> tuple[float, float, float]:
    """Estimate and interval of one replication."""
    from core.workflow.statistics import analyses

    answers = effect.answers(np.random.default_rng([seed, 7]), items, ANSWERS)
    result = analyses.by_name(effect.analysis).run(answers, **effect.options)
    table = next(table.frame for table in result.tables if table.name == effect.table)
    value, low, high = (float(table[column].iloc[0]) for column in effect.columns)
    return value, low, high


def faults_found(seed: int, items: int, n: int = 30) -> dict[str, tuple[float, float]]:
    """Of each fault: how often a statement with it fails its test, and one without passes it.

    Verdicts of statements in templates. Statements of coin tosses, which may fail any test, count
    for the test of sampling only. With the fault "templates", no other test may fail.
    """
    from core.analysis.kit.statement_verdicts import statement_verdicts

    answers, fault = planted.faulty_statements(np.random.default_rng([seed, 7]), items, n)
    verdicts = statement_verdicts(answers, ()).frame
    own = verdicts["item"].map(fault)
    rates = {}
    for test in planted.FAULTS[1:]:
        sound = (own != test) & ((own != "sampling") if test != "sampling" else True)
        fails, passes = verdicts.loc[own == test, test] == 0, verdicts.loc[sound, test] == 1
        rates[test] = (float(fails.mean()), float(passes.mean()))
    return rates


def _faults_in_words(replications: int) -> str:
    """How often planted faults of statements are found, over the replications."""
    found = [faults_found(seed, 140) for seed in range(replications)]
    parts = []
    for test in planted.FAULTS[1:]:
        fails, passes = np.mean([one[test] for one in found], axis=0)
        parts.append(f"{test} {100 * fails:.1f} and {100 * passes:.1f}")
    return (
        "Tests of statements: a respondent takes its side with a chance of "
        f"{planted.FIRMNESS:g}, 30 answers; every statement has one fault or none, "
        f"{replications} replications of 140 statements in three templates. Percent of verdicts "
        "that are right, for statements with the fault (they fail its test) and without it (they "
        f"pass it): {'; '.join(parts)}."
    )


def measure(_work: Path, *, quick: bool) -> Section:
    """Coverage and error of each planted effect."""
    replications = 5 if quick else 300
    rows = []
    for effect in EFFECTS:
        truth = effect.truth()
        found = np.array([estimate(effect, seed) for seed in range(replications)])
        value, low, high = found.T
        covered = (low <= truth) & (truth <= high)
        rows.append(
            (
                effect.name,
                f"{truth:.4f}",
                f"{value.mean():.4f}",
                f"{value.std(ddof=1) / np.sqrt(replications):.4f}",
                f"{(high - low).mean():.3f}",
                f"{100 * covered.mean():.1f}",
            )
        )
    return Section(
        "Known effects",
        f"Answers with effects that are planted in their probabilities: {ITEMS} questions drawn "
        f"from a population, {ANSWERS} answers each, {replications} replications. The truth is the "
        "value in the population (of the statistic with so many answers, where it depends on their "
        f"number). Intervals of {100 * LEVEL:g} % resample questions; with {replications} "
        "replications, 92 to 98 % is what such intervals would show by chance.",
        ("Effect", "truth", "mean estimate", "its standard error", "width", "covered, %"),
        rows,
        (
            f"The truth of giving way and of correlations is computed from {_MANY:,} questions.",
            _faults_in_words(2 if quick else 100),
        ),
        ("numpy", "scipy"),
    )

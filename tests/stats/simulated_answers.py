"""Answers drawn from a graded response model with known parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Simulated:
    """Answers from 0 up, and what they were drawn from."""

    answers: np.ndarray
    trait: np.ndarray
    slopes: np.ndarray
    thresholds: np.ndarray

    @property
    def names(self) -> list[str]:
        return [f"i{number + 1}" for number in range(self.slopes.size)]


def simulated(seed, n=1000, p=20, options=5, *, missing=0.0) -> Simulated:
    """Slopes of 0.8 to 2.5, thresholds at least 0.35 apart, a standard normal trait."""
    rng = np.random.default_rng(seed)
    slopes = rng.uniform(0.8, 2.5, p)
    spaced = np.linspace(-1.5, 1.5, options - 1) if options > 2 else np.zeros(1)
    thresholds = spaced + rng.uniform(-0.25, 0.25, (p, options - 1))
    trait = rng.standard_normal(n)
    answers = drawn(rng, slopes * trait[:, None], -slopes[:, None] * thresholds)
    answers[rng.random(answers.shape) < missing] = np.nan
    return Simulated(answers, trait, slopes, thresholds)


def drawn(rng, logits, intercepts):
    """(n, p) answers: how many of the item's steps each row takes; P(step k) = expit(logit + d)."""
    noise = rng.logistic(size=logits.shape)
    return (logits[:, :, None] + intercepts > noise[:, :, None]).sum(axis=2).astype(float)

"""Answers with many gaps, made by a seed, for full information.

`python -m tests.stats.incomplete_answers FOLDER` writes them all, one CSV per set, with a
list of the sets; `golden/gold_fiml.R` fits them with lavaan.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SHARES = (0.3, 0.5, 0.6, 0.7, 0.8)
MODELS = {
    (6, 1): "F =~ y1 + y2 + y3 + y4 + y5 + y6",
    (6, 2): "F =~ y1 + y2 + y3\nG =~ y4 + y5 + y6",
    (8, 1): "F =~ y1 + y2 + y3 + y4 + y5 + y6 + y7 + y8",
    (8, 2): "F =~ y1 + y2 + y3 + y4\nG =~ y5 + y6 + y7 + y8",
}


@dataclass(frozen=True)
class IncompleteSet:
    """One set of answers: how it is made, and the model that is fitted to it."""

    number: int
    rows: int
    items: int
    share: float  # of the answers that are missing
    factors: int  # of the population; the model has one fewer in every fourth set
    options: int  # 0: normal scores

    @property
    def name(self) -> str:
        """Name of the CSV file without its ending."""
        return f"set{self.number:03d}"

    @property
    def names(self) -> list[str]:
        """Items."""
        return [f"y{number + 1}" for number in range(self.items)]

    @property
    def model(self) -> str:
        """Text of the model."""
        return MODELS[self.items, 1 if self.number % 4 == 3 else self.factors]

    def scores(self) -> np.ndarray:
        """(rows, items), NaN for missing; what a row misses does not depend on its scores."""
        rng = np.random.default_rng(self.number)
        related = np.full((self.factors, self.factors), 0.5) + 0.5 * np.eye(self.factors)
        traits = rng.multivariate_normal(np.zeros(self.factors), related, self.rows)
        loadings = rng.uniform(0.4, 0.85, self.items)
        own = traits[:, np.arange(self.items) * self.factors // self.items]
        noise = rng.standard_normal((self.rows, self.items))
        scores = own * loadings + noise * np.sqrt(1 - loadings**2)
        if self.options:
            cuts = np.quantile(scores, np.arange(1, self.options) / self.options)
            scores = np.searchsorted(cuts, scores).astype(float)
        scores = np.round(scores, 4)
        scores[rng.random(scores.shape) < self.share] = np.nan
        return scores


def incomplete_sets() -> list[IncompleteSet]:
    """200 sets: of every share of gaps 30 of 300 rows and 6 items, 10 of 150 rows and 8 items."""
    out: list[IncompleteSet] = []
    for share in SHARES:
        for rows, items, count in ((300, 6, 30), (150, 8, 10)):
            for _ in range(count):
                number = len(out)
                factors, options = 1 + number % 2, (0, 5, 4)[number % 3]
                out.append(IncompleteSet(number, rows, items, share, factors, options))
    return out


def write(folder: Path) -> None:
    """Write every set, and `sets.csv`, which lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "sets.csv").open("w", newline="") as file:
        lister = csv.writer(file)
        lister.writerow(["name", "share", "rows", "items", "model"])
        for one in incomplete_sets():
            model = one.model.replace("\n", ";")
            lister.writerow([one.name, one.share, one.rows, one.items, model])
            with (folder / f"{one.name}.csv").open("w", newline="") as own:
                writer = csv.writer(own)
                writer.writerow(one.names)
                for row in one.scores().tolist():
                    writer.writerow(["" if np.isnan(value) else repr(value) for value in row])


if __name__ == "__main__":
    write(Path(sys.argv[1]))

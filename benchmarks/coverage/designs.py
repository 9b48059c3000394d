"""Cases of designs with gaps: planned booklets, missing answers, a few items for each person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from benchmarks.coverage.answers import item_scores, persons
from benchmarks.coverage.cases import NULL, Case, Lowest, Row

Gaps = Literal["two of four blocks", "10 % missing"]
_ITEMS, _BLOCKS = 12, 4
_LOADINGS = np.linspace(0.3, 0.8, _ITEMS)


@dataclass(frozen=True)
class Gapped:
    """Items of unequal loadings, of which each person answers a part."""

    persons: int
    gaps: Gaps

    @property
    def title(self) -> str:
        """The design in words."""
        return f"{self.persons} persons, {_ITEMS} items, {self.gaps}"

    @property
    def alpha(self) -> float:
        """Of all items."""
        total = _LOADINGS.sum() ** 2 + (1 - _LOADINGS**2).sum()
        return _ITEMS / (_ITEMS - 1) * (1 - _ITEMS / float(total))

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of persons, NaN for items that they were not asked or did not answer."""
        trait, rest = draw.normal(size=(self.persons, 1)), draw.normal(size=(self.persons, _ITEMS))
        values = _LOADINGS * trait + np.sqrt(1 - _LOADINGS**2) * rest
        if self.gaps == "10 % missing":
            values[draw.random(values.shape) < 0.1] = np.nan
        else:
            first, second = np.triu_indices(_BLOCKS, 1)
            turn = np.arange(self.persons) % len(first)
            block = np.repeat(np.arange(_BLOCKS), _ITEMS // _BLOCKS)
            asked = (block == first[turn, None]) | (block == second[turn, None])
            values[~asked] = np.nan
        return item_scores(values, {"context": persons(self.persons)})


_REST = 0.5


@dataclass(frozen=True)
class FewItems:
    """Persons who answer a few items each, drawn from many; all items where so many are asked.

    `person` and `item` are the variances of both, beside 0.5 of the rest.
    """

    persons: int
    items: int
    asked: int
    person: float = 0.3
    item: float = 0.2

    @property
    def title(self) -> str:
        """The design in words."""
        none = [name for name in ("person", "item") if not getattr(self, name)]
        nothing = f", no variance of {' and '.join(none)}s" if none else ""
        return f"{self.persons} persons, {self.asked} of {self.items} items each{nothing}"

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of the sum of a person, an item and a rest; the shares of their variance hold."""
        shape = (self.persons, self.items)
        values = draw.normal(scale=np.sqrt(self.person), size=(self.persons, 1))
        values = values + draw.normal(scale=np.sqrt(self.item), size=self.items)
        values = values + draw.normal(scale=np.sqrt(_REST), size=shape)
        values[draw.random(shape).argsort(axis=1) >= self.asked] = np.nan
        return item_scores(values, {"context": persons(self.persons)})

    @property
    def coefficients(self) -> dict[str, float]:
        """G and phi of a mean of so many items; persons who share items are few enough here."""
        return {
            "G": self.person / (self.person + _REST / self.asked),
            "phi": self.person / (self.person + (self.item + _REST) / self.asked),
        }

    def share(self, row: Row) -> float | Lowest:
        """Of a source in the variance of an answer."""
        variance = {"Context": self.person, "Item": self.item}.get(row["source"], _REST)
        return variance / (self.person + self.item + _REST) if variance else Lowest()

    def null(self, row: Row) -> float:
        """Whether a source has no variance."""
        return NULL if isinstance(self.share(row), Lowest) else math.nan


@dataclass(frozen=True)
class Groups:
    """Groups of other persons, whose standard deviations may differ, and means by `apart` each."""

    persons: int
    deviations: tuple[int, ...]
    apart: float = 0.0

    @property
    def title(self) -> str:
        """The design in words."""
        each = "equal SD" if len(set(self.deviations)) == 1 else "SD of 1 to 3"
        means = f", means {self.apart:g} apart" if self.apart else ""
        return f"{len(self.deviations)} groups of {self.persons} persons, {each}{means}"

    @property
    def share(self) -> float:
        """Of the variance between the groups; an item has the variance of its group."""
        between = float(np.var(self.apart * np.arange(len(self.deviations))))
        return between / (between + float(np.mean(np.square(self.deviations))) / 2)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of two items."""
        n, names = self.persons, [f"p{number}" for number in range(len(self.deviations))]
        frames = []
        for number, (name, deviation) in enumerate(zip(names, self.deviations, strict=True)):
            values = draw.normal(self.apart * number, deviation, size=(n, 1, 2))
            people = [f"{name}-{number}" for number in range(n)]
            frames.append(item_scores(values, {"context": people, "language": (name,)}))
        frame = pd.concat(frames, ignore_index=True)
        frame["administration"] = frame.groupby("context", sort=False).ngroup() + 1
        return frame


@dataclass(frozen=True)
class Conditions:
    """The same persons under three conditions, whose means are `apart` each.

    Errors have variance 1 on average; where they are `unequal`, that of the last condition is four
    times the others'.
    """

    persons: int
    apart: float
    unequal: bool = False
    between: float = 1.0

    @property
    def title(self) -> str:
        """The design in words."""
        means = f"means {self.apart:g} apart" if self.apart else "equal means"
        errors = ", unequal errors" if self.unequal else ""
        return f"{self.persons} persons under 3 conditions, {means}{errors}"

    @property
    def shares(self) -> tuple[float, float]:
        """The variance between conditions, of that within persons and of all."""
        effect = 2 * self.apart**2
        return effect / (effect + 2), effect / (effect + 3 + 3 * self.between)

    def answers(self, draw: np.random.Generator) -> pd.DataFrame:
        """Scores of two items with the same answers."""
        variances = np.array([0.5, 0.5, 2.0]) if self.unequal else np.ones(3)
        values = draw.normal(scale=np.sqrt(variances), size=(self.persons, 3))
        values += self.apart * np.arange(3)
        values += draw.normal(scale=np.sqrt(self.between), size=(self.persons, 1))
        factors = {"context": persons(self.persons), "language": ("a", "b", "c")}
        return item_scores(np.repeat(values[..., None], 2, axis=-1), factors)


def cases() -> Iterator[Case]:
    """All cases of designs."""
    for n in (40, 100, 300):
        gaps: Gaps
        for gaps in ("two of four blocks", "10 % missing"):
            design = Gapped(n, gaps)
            yield Case(
                design.title,
                "internal_consistency",
                design.answers,
                {"alpha.ci_low": design.alpha},
                {"missing": "pairwise"},
            )
    for few in (
        FewItems(100, 30, 3),
        FewItems(40, 12, 4),
        FewItems(100, 30, 3, person=0.0),
        FewItems(40, 12, 4, person=0.0),
        FewItems(40, 12, 4, item=0.0),
        FewItems(20, 10, 10, person=0.0),
        FewItems(20, 10, 10, item=0.0),
    ):
        yield Case(
            few.title,
            "generalizability",
            few.answers,
            {
                "components.share_low": few.share,
                "components.p": few.null,
                "coefficients.ci_low": lambda row, few=few: (
                    few.coefficients[row["coefficient"]] if few.person else math.nan
                ),
            },
            apart="source",
        )
    for n in (10, 40):
        for deviations in ((1, 1), (1, 3), (1, 1, 1, 1), (1, 1, 2, 3)):
            groups = Groups(n, deviations)
            truths = {
                "groups.ci_low": 0.0,
                "tests.p": NULL,
                "tests.p_adjusted": NULL,
                "tests.ci_low": 0.0 if len(deviations) == 2 else Lowest(),
                "pairs.ci_low": 0.0,
                "pairs.p": NULL,
                "pairs.p_adjusted": NULL,
                "pairs.d_low": 0.0,
                "pairs.d_average_low": 0.0,
            }
            options = {"factor": "language", "by": (), "design": "between"}
            yield Case(groups.title, "group_comparison", groups.answers, truths, options)
        for deviations in ((1, 1, 1, 1), (1, 1, 2, 3)):
            groups = Groups(n, deviations, 0.4)
            truths = {"tests.ci_low": groups.share}
            yield Case(groups.title, "group_comparison", groups.answers, truths, options)
        for unequal in (False, True):
            for apart in (0.0, 0.6):
                same = Conditions(n, apart, unequal)
                partial, general = same.shares if apart else (Lowest(), Lowest())
                null = math.nan if apart else NULL
                truths = {"tests.ci_low": partial, "tests.generalized_low": general}
                truths |= {"tests.p": null, "tests.p_adjusted": null}
                options = {"factor": "language", "by": (), "design": "within"}
                yield Case(same.title, "group_comparison", same.answers, truths, options)

"""The tables of differential item functioning: items, tests, effects, levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.matrices import Floats
from core.domain.results import Column, ResultTable
from core.psychometrics.distribution import moments
from core.psychometrics.response_theory.dif_result import DifResult, ItemDif

Labels = npt.NDArray[np.object_]
Row = tuple[Any, ...]

_KINDS = (("uniform", "uniform"), ("non_uniform", "non-uniform"), ("total", "total"))
_SUBSCALE = Column("subscale", "Subscale", help="As in the bank.")
_ITEM = Column("item", "Item", help="As named in the bank.")
_ITEMS = (
    _SUBSCALE,
    _ITEM,
    Column("n", "n", "count", "Administrations with an answer and a matching score."),
    Column("tested", "Tested", help="If not, a note says why."),
    Column("flagged", "Flagged", help="The total test's adjusted p is below the level chosen."),
    Column("p_uniform", "p uniform, adjusted", "p", "Easier for a level at every matching score; "
           "likelihood ratio, Zumbo (1999)."),
    Column("p_non_uniform", "p non-uniform, adjusted", "p", "The difference changes with the "
           "matching score; likelihood ratio, Zumbo (1999)."),
    Column("p_total", "p total, adjusted", "p", "Either of the two; Zumbo (1999)."),
    Column("nagelkerke", "ΔR² Nagelkerke", "proportion", "Rise of R² from the matching score to "
           "the model with level and product; Nagelkerke (1991)."),
    Column("mcfadden", "ΔR² McFadden", "proportion", "The same rise of McFadden's R²."),
    Column("jodoin_gierl", "Size (Jodoin, Gierl)", help="Of ΔR² Nagelkerke where flagged: moderate "
           "from .035, large from .07; Jodoin and Gierl (2001)."),
    Column("zumbo_thomas", "Size (Zumbo, Thomas)", help="Of ΔR² Nagelkerke where flagged: moderate "
           "from .13, large from .26; Zumbo (1999)."),
    Column("above_choi", "ΔR² McFadden ≥ .02", help="Choi, Gibbons and Crane (2011)."),
    Column("slope_change", "Change of slope", "proportion", "Of the matching score once the level "
           "is known, as a share; .10 is the usual bound; Crane and others (2006)."),
    Column("matching", "In matching score", help="Whether other items are matched on this one."),
)  # fmt: skip
_TESTS = (
    _SUBSCALE,
    _ITEM,
    Column("test", "Test", help="Uniform: matching score against that and level. Non-uniform: "
           "their product added. Total: both steps at once."),
    Column("chi_square", "χ²", "points", "Twice the rise of the log-likelihood; Zumbo (1999)."),
    Column("df", "df", "count", "Levels - 1, twice that for the total."),
    Column("p", "p", "p", "Likelihood ratio, Zumbo (1999); takes administrations as "
           "independent."),
    Column("p_adjusted", "p adjusted", "p", "Over the items of this group and subscale: Holm "
           "(1979), or Benjamini and Hochberg (1995), as chosen."),
    Column("mcfadden", "ΔR² McFadden", "proportion", "Rise of McFadden's R² in this step."),
    Column("nagelkerke", "ΔR² Nagelkerke", "proportion", "Rise of Nagelkerke's (1991) R²."),
)  # fmt: skip
_EFFECTS = (
    _SUBSCALE,
    _ITEM,
    Column("level", "Level", help="Of the factor that is compared."),
    Column("reference", "Against", help="The reference: first level in alphabetical order."),
    Column("n", "n", "count", "Administrations of the level in the tests of this item."),
    Column("log_odds", "Log odds ratio", "points", "Of a score one step higher at the same "
           "matching score; above 0, the level answers higher. Uniform model, Zumbo (1999)."),
    Column("standard_error", "SE", "points", "From the information; undefined where the level "
           "separates the answers."),
)  # fmt: skip
_LEVELS = (
    _SUBSCALE,
    Column("level", "Level", help="Of the factor that is compared."),
    Column("n", "Administrations", "count", "With any score on the items compared."),
    Column("n_complete", "Complete", "count", "With all of them; M and SD are of these."),
    Column("mean", "M", "points", "Mean sum score. Where levels differ, uniform DIF is inflated."),
    Column("sd", "SD", "points", "Standard deviation of the sum score, divisor n - 1."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Compared:
    """The tests of one group and subscale, with leading cells of rows; None where impossible."""

    lead: tuple[Any, ...]
    result: DifResult | None
    levels: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...]

    @property
    def tested(self) -> list[ItemDif]:
        """Items with a test to read; the uniform one needs least."""
        items = self.result.items if self.result else ()
        return [item for item in items if not math.isnan(item.uniform.p_value)]


def dif_tables(found: Sequence[Compared], group: Sequence[Column]) -> tuple[ResultTable, ...]:
    """The four tables, with the groups' columns in front."""
    made = (
        ("items", "Items", _item_rows, _ITEMS),
        ("tests", "Tests", _test_rows, _TESTS),
        ("effects", "Differences between levels", _effect_rows, _EFFECTS),
        ("levels", "Levels", lambda one: iter(one.levels), _LEVELS),
    )
    tables = []
    for name, title, rows_of, own in made:
        columns = (*group, *own)
        rows = [(*one.lead, *row) for one in found if one.result for row in rows_of(one)]
        frame = pd.DataFrame(rows, columns=[column.name for column in columns])
        if "df" in frame:
            frame["df"] = frame["df"].astype("Int64")  # whole, with a place for undefined
        tables.append(ResultTable(name, title, frame, columns))
    return tuple(tables)


def level_rows(scores: Floats, labels: Labels, levels: Sequence[str]) -> tuple[Row, ...]:
    """How many administrations each level has, and mean and SD of their sum scores."""
    rows = []
    for level in levels:
        own = scores[labels == level]
        sums = moments(own.sum(axis=1))
        n = int(np.isfinite(own).any(axis=1).sum())
        rows.append((level, n, sums.n, sums.mean, sums.sd))
    return tuple(rows)


def _item_rows(one: Compared) -> Iterator[Row]:
    """Each item's flag and sizes."""
    if one.result is None:
        return
    for item in one.result.items:
        yield (
            item.name, item.n, item.tested, item.flagged, item.uniform.p_adjusted,
            item.non_uniform.p_adjusted, item.total.p_adjusted, item.total.nagelkerke_change,
            item.total.mcfadden_change, item.jodoin_gierl, item.zumbo_thomas, item.above_choi,
            item.slope_change, item.name in one.result.anchors,
        )  # fmt: skip


def _test_rows(one: Compared) -> Iterator[Row]:
    """Three rows for each item."""
    for item in one.result.items if one.result else ():
        for kind, word in _KINDS:
            test = getattr(item, kind)
            yield (
                item.name, word, test.chi_square, test.df or pd.NA, test.p_value, test.p_adjusted,
                test.mcfadden_change, test.nagelkerke_change,
            )  # fmt: skip


def _effect_rows(one: Compared) -> Iterator[Row]:
    """One row for each item and level other than the reference."""
    if one.result is None:
        return
    reference, *others = one.result.groups
    for item in one.result.items:
        effects = {effect.group: effect for effect in item.effects}
        for level, n in zip(others, item.n_per_group[1:], strict=True):
            effect = effects.get(level)
            log_odds = effect.log_odds if effect else math.nan
            error = effect.standard_error if effect else math.nan
            yield item.name, level, reference, n, log_odds, error

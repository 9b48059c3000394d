"""The tables of measurement invariance: its steps, what stands against them, the levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.analysis.factor_models.cfa_found import table
from core.analysis.factor_models.cfa_misfit import index_rows, modification_table
from core.analysis.factor_models.cfa_models import WrittenModel
from core.analysis.factor_models.cfa_tables import FIT_COLUMNS, fit_cells
from core.analysis.matrices import ScoreMatrix
from core.domain.results import Column, ResultTable
from core.psychometrics.factor_models.cfa_compare import ModelDifference
from core.psychometrics.factor_models.cfa_invariance import Invariance, Level

STEPS: dict[Level, str] = {
    "configural": "nothing",
    "metric": "loadings",
    "scalar": "loadings, intercepts",
    "strict": "loadings, intercepts, residual variances",
}
"""What each step holds equal."""
_CHEN = "Chen (2007) doi:10.1080/10705510701301834."


@dataclass(frozen=True, eq=False)
class Ladder:
    """One group with its steps; None where levels could not be compared, which a note explains."""

    matrix: ScoreMatrix
    given: Mapping[str, int]  # administrations of each level
    notes: tuple[str, ...]
    climbed: Invariance | None
    model: WrittenModel | None = None
    n_used: int = 0  # scores

    @property
    def found_any(self) -> bool:
        """Whether some step has estimates."""
        return self.climbed is not None and any(s.fit.converged for s in self.climbed.levels)

    def noting(self, note: str) -> Ladder:
        """The same with one note more."""
        return replace(self, notes=(*self.notes, note))


def invariance_tables(found: Sequence[Ladder], group: Sequence[Column]) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    return _steps_table(found, group), _releases_table(found, group), _levels_table(found, group)


def _steps_table(found: Sequence[Ladder], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("step", "Step", help="Meredith (1993) doi:10.1007/BF02294825."),
        Column("equal", "Held equal", help="Across the levels."),
        Column("n", "n", "count", "Administrations of all levels together."),
        Column("n_items", "Items", "count", "Items that vary at every level."),
        *FIT_COLUMNS,
        Column("chi2_difference", "Δχ²", "points", "From the step before, scaled under MLR; "
               "Satorra & Bentler (2001) doi:10.1007/BF02296192."),
        Column("df_difference", "Δdf", "count", "Parameters that became equal."),
        Column("p_difference", "p of Δχ²", "p", "Of a difference this large if they are equal. "
               "Satorra & Bentler (2001)."),
        Column("cfi_difference", "ΔCFI", "correlation", f"-.01 or less speaks against. {_CHEN}"),
        Column("tli_difference", "ΔTLI", "correlation", "From the step before. Tucker & "
               "Lewis (1973)."),
        Column("rmsea_difference", "ΔRMSEA", "correlation",
               f".015 or more speaks against. {_CHEN}"),
        Column("srmr_difference", "ΔSRMR", "correlation", "For loadings .030, for intercepts and "
               f"residuals .010 or more speaks against. {_CHEN}"),
        Column("aic_difference", "ΔAIC", "points", "Above 0: the step before is preferred. Akaike "
               "(1974)."),
        Column("bic_difference", "ΔBIC", "points", "Above 0: the step before is preferred. Schwarz "
               "(1978)."),
        Column("version", "Indices", help="Version of the CFI, TLI and RMSEA that are compared."),
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        lead = one.matrix.group
        if one.climbed is None:
            blank = (0, 0, *fit_cells(None), *_difference_cells(None))
            rows += [(*lead, name, equal, *blank) for name, equal in STEPS.items()]
            continue
        for step in one.climbed.levels:
            counts = (step.fit.n, len(step.fit.items))
            cells = (*counts, *fit_cells(step.fit), *_difference_cells(step.difference))
            rows.append((*lead, step.level, STEPS[step.level], *cells))
    return table("steps", "Steps of invariance", rows, columns)


def _difference_cells(difference: ModelDifference | None) -> tuple[Any, ...]:
    """Differences from the step before; NaN for the first step."""
    if difference is None:
        return (*(math.nan,) * 9, "")
    d = difference
    return (d.chi2, d.df, d.p, d.cfi, d.tli, d.rmsea, d.srmr, d.aic, d.bic, d.version)


def _releases_table(found: Sequence[Ladder], group: Sequence[Column]) -> ResultTable:
    lead = (
        *group,
        Column("step", "Step", help="The step whose equality is questioned."),
        Column("level", "Level", help="The level that would get its own value."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in found:
        if one.climbed is None or one.model is None:
            continue
        levels = list(one.given)
        for step in one.climbed.levels:
            indices = step.fit.release_indices
            for index, cells in zip(indices, index_rows(indices, one.model), strict=False):
                rows.append((*one.matrix.group, step.level, levels[index.group], *cells))
    return replace(
        modification_table(rows, lead), name="releases", title="What stands against equality"
    )


def _levels_table(found: Sequence[Ladder], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("level", "Level", help="Of the factor that is compared."),
        Column("n", "n", "count", "Administrations the models were fitted to."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
    )
    rows: list[tuple[Any, ...]] = []
    for one in found:
        used: dict[str, int] = {}
        if one.climbed is not None:
            used = {group.name: group.n for group in one.climbed.levels[0].fit.groups}
        for level, given in one.given.items():
            n = used.get(level, 0)
            rows.append((*one.matrix.group, level, n, given - n))
    return table("levels", "Levels", rows, columns)

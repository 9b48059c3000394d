"""What a model leaves unexplained: residual correlations and modification indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.analysis.factor_models.cfa_found import Factored, Row, estimated, table
from core.analysis.factor_models.cfa_models import WrittenModel
from core.domain.results import Column, ResultTable
from core.psychometrics.factor_models.cfa_model import COVARIANCE, LOADING
from core.psychometrics.factor_models.cfa_residuals import correlations
from core.psychometrics.factor_models.cfa_result import ModificationIndex

_N_RESIDUALS, _N_INDICES = 10, 15


def residuals_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    """The largest residual correlations of each group."""
    columns = (
        *group,
        Column("item_1", "Item", help="As named in the bank."),
        Column("item_2", "Other item", help="As named in the bank."),
        Column("observed", "Correlation", "correlation", "As observed, or by full information."),
        Column("residual", "Residual", "correlation", "Observed minus what the model says; beyond "
               ".10 the pair shares something else. Kline (2016)."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in estimated(found):
        observed = correlations(fit.groups[0].sample_covariance)
        residual = fit.groups[0].residual_correlations
        later, earlier = np.tril_indices(len(fit.items), -1)
        size = np.nan_to_num(np.abs(residual[later, earlier]), nan=-1.0)
        for k in np.argsort(-size, kind="stable")[:_N_RESIDUALS]:
            i, j = int(earlier[k]), int(later[k])
            names = (model.name(fit.items[i]), model.name(fit.items[j]))
            rows.append((*lead, *names, float(observed[i, j]), float(residual[i, j])))
    return table("residuals", "Largest residual correlations", rows, columns)


def index_rows(indices: Sequence[ModificationIndex], model: WrittenModel) -> Iterable[Row]:
    """The largest indices: what is freed, between which names, and the numbers."""
    for m in indices[:_N_INDICES]:
        covariance = "variance" if m.left == m.right else "covariance"
        kind = {LOADING: "loading", COVARIANCE: covariance}.get(m.op, "intercept")
        numbers = (m.index, m.p, m.expected_change, m.standardized_change)
        yield (kind, model.name(m.left), model.name(m.right), *numbers)


def modification_table(rows: Iterable[Row], lead: Sequence[Column]) -> ResultTable:
    """What would improve the fit most; `rows` as from `index_rows`, after the leading columns."""
    columns = (
        *lead,
        Column("parameter", "Parameter", help="A loading of the second name on the first, a "
               "covariance of the two (of residuals, for items), a variance, or an intercept."),
        Column("left", "Of", help="The factor, for a loading; else one of the two."),
        Column("right", "With", help="The item, for a loading; else the other."),
        Column("index", "Modification index", "points", "Expected fall of χ² (1 df) if this were "
               "free; Sörbom (1989) doi:10.1007/BF02294623."),
        Column("p", "p", "p", "Of the index as χ² with 1 df, unadjusted for looking at many; "
               "Sörbom (1989)."),
        Column("expected_change", "Expected change", "points", "The value the parameter would "
               "take, in raw units; Saris, Satorra & Sörbom (1987)."),
        Column("standardized_change", "Standardized change", "correlation", "The same with factors "
               "and items of variance 1."),
    )  # fmt: skip
    return table("modification_indices", "Modification indices", rows, columns)

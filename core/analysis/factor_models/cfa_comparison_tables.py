"""The tables of a comparison of factor models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.analysis.factor_models.cfa_candidates import Candidate, Compared, Comparison
from core.analysis.factor_models.cfa_found import LINE_COLUMNS, Row, table, text_lines
from core.analysis.factor_models.cfa_tables import FIT_COLUMNS, fit_cells
from core.domain.results import Column, ResultTable

_CHEN = "Chen (2007) doi:10.1080/10705510701301834."
_FEWER = "AIC and BIC are compared with models of the same items only."


def comparison_tables(
    found: Sequence[Compared], group: Sequence[Column]
) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    return _fit_table(found, group), _differences_table(found, group), _models_table(found, group)


def _fit_table(found: Sequence[Compared], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("model", "Model", help="As named in the option, or after the bank."),
        Column("n", "n", "count", "Administrations; the same for all models of a group."),
        Column("n_items", "Items", "count", "Items in the model; constant ones are left out."),
        Column("n_parameters", "Parameters", "count", "Free parameters."),
        *FIT_COLUMNS,
        Column("aic_difference", "ΔAIC", "points", "AIC less the lowest AIC of the group's models "
               "of the same items; 0 for the best. Akaike (1974)."),
        Column("bic_difference", "ΔBIC", "points", "BIC less the lowest BIC of the group's models "
               "of the same items; 10 or more is very strong. Raftery (1995)."),
        Column("remark", "Remark", help="Why there are no numbers, or what not to compare."),
    )  # fmt: skip
    rows: list[Row] = []
    for one in found:
        for model in one.candidates:
            fit = model.fit
            counts = (fit.n, len(fit.items), fit.n_free) if fit else (0, 0, 0)
            distances = (_distance(model, one, "aic"), _distance(model, one, "bic"))
            remark = model.remark or ("" if _same_items(one) else _FEWER)
            rows.append(
                (*one.matrix.group, model.name, *counts, *fit_cells(fit), *distances, remark)
            )
    return table("fit", "Fit of the models", rows, columns)


def _same_items(one: Compared) -> bool:
    """Whether all models of a group that have estimates are about the same items."""
    return len({frozenset(m.usable[0].items) for m in one.candidates if m.usable}) < 2


def _distance(model: Candidate, one: Compared, criterion: str) -> float:
    """How far a criterion is above the lowest of models of the same items; NaN where unknown."""
    if not model.usable:
        return math.nan
    fit = model.usable[0]
    values = [
        getattr(other.usable[0], criterion)
        for other in one.candidates
        if other.usable and set(other.usable[0].items) == set(fit.items)
    ]
    return float(getattr(fit, criterion) - min(values))


def _differences_table(found: Sequence[Compared], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("restricted", "Restricted model", help="The one with more degrees of freedom."),
        Column("freer", "Freer model", help="The one with more free parameters."),
        Column("chi2_difference", "Δχ²", "points", "What the restrictions cost in χ², scaled under "
               "MLR (Satorra & Bentler 2001) and WLSMV (Satorra 2000)."),
        Column("df_difference", "Δdf", "count", "How many restrictions there are."),
        Column("p_difference", "p of Δχ²", "p", "Of a difference this large if the restrictions "
               "hold. Satorra & Bentler (2001)."),
        Column("p_adjusted", "p adjusted", "p", "After Holm (1979), over the tests of the group."),
        Column("cfi_difference", "ΔCFI", "correlation", "Restricted less freer; -.01 or less is "
               f"much. {_CHEN}"),
        Column("tli_difference", "ΔTLI", "correlation", "Restricted less freer. Tucker & Lewis "
               "(1973)."),
        Column("rmsea_difference", "ΔRMSEA", "correlation", "Restricted less freer; .015 or more "
               f"is much. {_CHEN}"),
        Column("srmr_difference", "ΔSRMR", "correlation", "Restricted less freer. Bentler "
               "(1995)."),
        Column("aic_difference", "ΔAIC", "points", "Restricted less freer; above 0 the freer is "
               "preferred. Akaike (1974)."),
        Column("bic_difference", "ΔBIC", "points", "Restricted less freer; above 0 the freer is "
               "preferred. Schwarz (1978)."),
        Column("version", "Indices", help="Version of the CFI, TLI and RMSEA that are compared."),
        Column("nested", "Nested", help="Whether the restricted model is a special case of the "
               "freer one: by their parameters, or from theory for models after the bank."),
        Column("remark", "Remark", help="Why there is no test, or how to take it."),
    )  # fmt: skip
    rows = [
        (*one.matrix.group, pair.restricted, pair.freer, *_cells(pair))
        for one in found
        for pair in one.pairs
    ]
    return table("differences", "Differences between models", rows, columns)


def _cells(pair: Comparison) -> Row:
    """The numbers of one pair."""
    tests = (pair.chi2, pair.df, pair.p, pair.p_adjusted)
    d = pair.indices
    indices: Row = (*(math.nan,) * 6, "")
    if d is not None:
        indices = (d.cfi, d.tli, d.rmsea, d.srmr, d.aic, d.bic, d.version)
    return (*tests, *indices, pair.nested, pair.remark)


def _models_table(found: Sequence[Compared], group: Sequence[Column]) -> ResultTable:
    columns = (*group, Column("model", "Model", help="As in the other tables."), *LINE_COLUMNS)
    rows = [
        (*one.matrix.group, candidate.name, *line)
        for one in found
        for candidate in one.candidates
        if candidate.prepared.model
        for line in text_lines(candidate.prepared.model)
    ]
    return table("models", "Models that were compared", rows, columns)

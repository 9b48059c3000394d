"""Scripts that fit the models of a comparison, and test their differences, in other software."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from core.analysis.factor_models.cfa_competing import CI_LEVEL, Models, question, rivals
from core.analysis.factor_models.cfa_groups import Prepared
from core.analysis.factor_models.cfa_models import (
    EstimatorKind,
    FactorEstimator,
    WrittenModel,
)
from core.analysis.factor_models.cfa_nesting import nested
from core.analysis.factor_models.cfa_scripts import script_group
from core.analysis.factor_models.estimator_choice import chosen_estimator
from core.analysis.matrices import group_name
from core.analysis.options import By
from core.analysis.scripts.syntax import SyntaxGroup, cfa_files
from core.domain.results import TextFile
from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_model import ParameterTable
from core.psychometrics.factor_models.cfa_syntax import parse_model
from core.psychometrics.factor_models.cfa_table import parameter_table


def cfa_comparison_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    models: Models = "",
    estimator: FactorEstimator = "automatic",
) -> tuple[TextFile, ...]:
    """Scripts for lavaan and semopy, and their data, with the models that are compared.

    Parameters
    ----------
    item_scores, by, models, estimator
        As in `cfa_comparison`.

    Returns
    -------
    tuple of TextFile
        As of `cfa_files`, every model of every group; `cfa.R` also tests the differences of the
        pairs of which the first model is known to be a special case of the second.

    Raises
    ------
    NotEnoughData
        No group has a model.
    ModelTextError
        The models cannot be read.
    """
    how, _ = chosen_estimator(estimator, item_scores)
    asked = question(item_scores, by, models)
    groups: list[SyntaxGroup] = []
    pairs: list[tuple[int, int]] = []
    for matrix in asked.matrices:
        ready, where = rivals(matrix, asked, how), group_name(matrix.group)
        known = [(n, one, one.model) for n, one in ready.prepared.items() if one.model is not None]
        pairs += [
            (len(groups) + one, len(groups) + other)
            for one, other in _nested_pairs([(one, model) for _, one, model in known], how)
        ]
        groups += [
            script_group(f"{where}, {name}", one, model, asked.names, answers=where)
            for name, one, model in known
        ]
    if not groups:
        raise NotEnoughData(
            "No group has items for these models, so there is nothing to write.",
            "Choose other models, or ask more items.",
        )
    return cfa_files(
        groups,
        estimator=how,
        ci_level=CI_LEVEL,
        title="Comparison of factor models",
        pairs=pairs,
    )


def _nested_pairs(
    known: Sequence[tuple[Prepared, WrittenModel]], estimator: EstimatorKind
) -> list[tuple[int, int]]:
    """Places of the pairs that are tested, the model with fewer parameters first."""
    tables = [_table(model, estimator) for _, model in known]
    found = []
    for one, other in combinations(range(len(known)), 2):
        first, second = sorted((one, other), key=lambda k: tables[k].n_free)
        (restricted, small), (freer, large) = known[first], known[second]
        if tables[first].n_free == tables[second].n_free or set(small.items) != set(large.items):
            continue
        if nested((restricted, tables[first]), (freer, tables[second]))[0]:
            found.append((first, second))
    return found


def _table(model: WrittenModel, estimator: EstimatorKind) -> ParameterTable:
    """The parameters of a model, as they are fitted."""
    parsed = parse_model(model.text, items=model.items)
    return parameter_table(parsed, means=estimator == "fiml", ordered=estimator == "wlsmv")

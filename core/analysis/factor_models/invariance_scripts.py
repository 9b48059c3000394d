"""Scripts that climb the steps of measurement invariance in other software."""

from __future__ import annotations

import pandas as pd

from core.analysis.factor_models.cfa_models import FactorModel, LikelihoodEstimator, WrittenModel
from core.analysis.factor_models.cfa_scripts import titles_of
from core.analysis.factor_models.invariance_levels import (
    Factor,
    Fewest,
    Levels,
    groups_beside,
    question,
)
from core.analysis.matrices import group_name
from core.analysis.options import By
from core.analysis.scripts.syntax import LevelGroup, invariance_files
from core.domain.results import TextFile
from core.errors import NotEnoughData


def invariance_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: LikelihoodEstimator = "mlr",
    fewest: Fewest = 10,
) -> tuple[TextFile, ...]:
    """A script for lavaan, and its data, with the steps that `invariance` fits.

    Parameters
    ----------
    item_scores, factor, by, model, estimator, fewest
        As in `invariance`.

    Returns
    -------
    tuple of TextFile
        As of `invariance_files`, of every group whose levels can be compared.

    Raises
    ------
    NotEnoughData
        There is no such group.
    """
    asked = question(item_scores, factor, groups_beside(by, factor), model, estimator, fewest)
    ready = [asked.levels(matrix) for matrix in asked.matrices]
    groups = [_group(one, one.model) for one in ready if one.model is not None]
    if not groups:
        raise NotEnoughData(
            f"No levels of {factor} can be compared, so there is nothing to write.",
            "It needs two levels with enough administrations, and a model that their items can "
            "have.",
        )
    return invariance_files(groups, estimator=estimator, factor=factor)


def _group(ready: Levels, model: WrittenModel) -> LevelGroup:
    """One group as the writer takes it."""
    return LevelGroup(
        name=group_name(ready.matrix.group),
        scores=ready.scores,
        items=model.items,
        model=ready.text,
        titles=titles_of(model.shown, {model.name(safe): safe for safe in model.items}),
        scaling=ready.scaling,
    )

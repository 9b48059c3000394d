"""Scripts that fit the models of a confirmatory factor analysis in other software."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from core.analysis.factor_models.cfa_groups import Prepared, prepared_groups
from core.analysis.factor_models.cfa_models import (
    FactorEstimator,
    FactorModel,
    ModelText,
    WrittenModel,
)
from core.analysis.factor_models.cfa_names import ModelNames
from core.analysis.factor_models.estimator_choice import chosen_estimator
from core.analysis.matrices import distinct
from core.analysis.options import By, ConfidenceLevel
from core.analysis.scripts.syntax import SyntaxGroup, cfa_files
from core.domain.results import TextFile
from core.errors import NotEnoughData


def cfa_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    model_text: ModelText = "",
    estimator: FactorEstimator = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Scripts for lavaan and semopy, and their data, with the models that `cfa` fits.

    Parameters
    ----------
    item_scores, by, model, model_text, estimator, ci_level
        As in `cfa`.

    Returns
    -------
    tuple of TextFile
        Of every group that has a model, whether or not it can be fitted.

    Raises
    ------
    NotEnoughData
        No group has a model.
    ModelTextError
        The model text cannot be read.
    """
    how, _ = chosen_estimator(estimator, item_scores)
    prepared = prepared_groups(item_scores, distinct(by), model, model_text, how)
    groups = [
        script_group(group.name, group, group.model, prepared.names)
        for group in prepared.groups
        if group.model is not None
    ]
    if not groups:
        raise NotEnoughData(
            "No group has items for this model, so there is nothing to write.",
            "Choose another model, or ask more items.",
        )
    return cfa_files(groups, estimator=how, ci_level=ci_level)


def script_group(
    name: str, group: Prepared, model: WrittenModel, names: ModelNames, answers: str = ""
) -> SyntaxGroup:
    """One group as the writers take it."""
    return SyntaxGroup(
        name=name,
        scores=group.scores,
        items=model.items,
        model=model.text,
        dropped=group.dropped,
        titles=titles_of(names.shown, names.items),
        answers=answers,
    )


def titles_of(shown: Mapping[str, str], items: Mapping[str, str]) -> dict[str, str]:
    """Names in a model text to those that users know, where the two differ.

    `shown` has all of them, `items` the text's name of each item. A factor with the name of an item
    keeps the text's.
    """
    return {
        safe: real for safe, real in shown.items() if safe != real and items.get(real, safe) == safe
    }

"""Files of the script that fits the steps of measurement invariance in lavaan (R)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import changed_names
from core.analysis.factors.invariance.levels import (
    Factor,
    Fewest,
    GroupLevels,
    group_factors,
    invariance_inputs,
)
from core.analysis.kit.factor_models.models import (
    FactorModel,
    LikelihoodEstimator,
    LikelihoodKind,
    WrittenModel,
)
from core.analysis.kit.matrices import group_name
from core.analysis.kit.options import By, MissingRows
from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.factor_models import (
    LAVAAN_WORDS,
    fill_columns,
    items_of_models,
    lavaan_lines,
    with_allowed_names,
)
from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.numbers import count_text
from core.domain.results import TextFile
from core.errors import NotEnoughData
from core.stats.factor.model import ParsedModel, Scaling
from core.stats.factor.model_text import parse_model

_LEVEL = "level"
"""The column of the data with the number of the level."""


@dataclass(frozen=True, eq=False)
class LevelGroup:
    """One group with the answers of each level and the model that all of them get.

    Fields
    ------
    name : what the group is called; any text.
    scores : by level, (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns as the model text has them.
    model : model text, as `parse_model` reads it.
    titles : names in the text to the names users know, where the two differ.
    scaling : how factors get their unit, "marker" or "std.lv".
    """

    name: str
    scores: Mapping[str, Floats]
    items: tuple[str, ...]
    model: str
    titles: Mapping[str, str] = field(default_factory=dict)
    scaling: Scaling = "marker"


def invariance_files(
    groups: Sequence[LevelGroup], *, estimator: LikelihoodKind, factor: str
) -> tuple[TextFile, ...]:
    """Data and a script with which others can climb the same steps.

    Parameters
    ----------
    groups : sequence of LevelGroup
        Every group whose levels are compared.
    estimator : str
        As in `invariance`, with its rule for missing answers.
    factor : str
        What the levels are levels of; any text.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `data.csv` (columns `group` and `level`, a column per item, a row per
        administration, empty for missing) and `invariance.R` (lavaan, the same numbers), with
        `groups.csv` and `models.csv`.

    Raises
    ------
    ModelTextError
        A model text cannot be read.
    """
    names, labels = Names(frozenset({GROUP, _LEVEL})), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    models = [
        with_allowed_names(parse_model(group.model, items=group.items), group.titles, names, labels)
        for group in groups
    ]
    header = ("group", "level", "scaling")
    levels = [
        (name, level, group.scaling)
        for name, group in zip(group_names, groups, strict=True)
        for level in group_labels(list(group.scores))
    ]
    lines = [
        (name, line)
        for name, model in zip(group_names, models, strict=True)
        for line in lavaan_lines(model, means=True)
    ]
    return script_files(
        "invariance",
        data=_data(groups, group_names, models, names),
        title="Measurement invariance",
        settings=LAVAAN_WORDS[estimator],
        tables={"groups.csv": (header, levels), "models.csv": (("name", "line"), lines)},
        names=names,
        about=[f"Levels of {factor} are compared in {count_text(len(groups), 'group')}."],
    )


def _data(
    groups: Sequence[LevelGroup],
    group_names: Sequence[str],
    models: Sequence[ParsedModel],
    names: Names,
) -> str:
    """The scores of all groups and levels below each other, a column for every item of a model."""
    columns = items_of_models(models)
    rows: list[tuple[str, list[float]]] = []
    for group, label in zip(groups, group_names, strict=True):
        for level, scores in enumerate(group.scores.values(), start=1):
            table = np.full((len(scores), 1 + len(columns)), np.nan)
            table[:, 0] = level
            fill_columns(table[:, 1:], columns, scores, group.items, group.titles, names)
            rows += [(label, row) for row in table.tolist()]
    return csv_text([GROUP, _LEVEL, *columns], rows)


def invariance_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: LikelihoodEstimator = "mlr",
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
) -> tuple[TextFile, ...]:
    """A script for lavaan, and its data, with the steps that `invariance` fits.

    Parameters
    ----------
    item_scores, factor, by, model, estimator, missing, fewest
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
    inputs = invariance_inputs(
        item_scores, factor, group_factors(by, factor), model, estimator, missing, fewest
    )
    ready = [inputs.levels(matrix) for matrix in inputs.matrices]
    groups = [_group(one, one.model) for one in ready if one.model is not None]
    if not groups:
        raise NotEnoughData(
            f"No levels of {factor} can be compared, so there is nothing to write.",
            "It needs two levels with enough administrations, and a model that their items can "
            "have.",
        )
    return invariance_files(groups, estimator=inputs.estimator, factor=factor)


def _group(ready: GroupLevels, model: WrittenModel) -> LevelGroup:
    """One group as the writer takes it."""
    return LevelGroup(
        name=group_name(ready.matrix.group),
        scores=ready.scores,
        items=model.items,
        model=ready.text,
        titles=changed_names(model.shown, {model.name(safe): safe for safe in model.items}),
        scaling=ready.scaling,
    )

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
    Freed,
    GroupLevels,
    group_factors,
    invariance_inputs,
)
from core.analysis.kit.factor_models.models import (
    ORDERED_RULES,
    EstimatorKind,
    FactorEstimator,
    FactorModel,
    WrittenModel,
)
from core.analysis.kit.matrices import group_name
from core.analysis.kit.options import By, MissingRows
from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.factor_models import (
    LAVAAN_WORDS,
    fill_columns,
    lavaan_lines,
    lavaan_parameters,
    with_allowed_names,
)
from core.analysis.kit.scripts.files import Table, script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.numbers import count_text
from core.domain.results import TextFile
from core.errors import NotEnoughData
from core.stats.factor.comparison import LADDER, held_equal, planned_steps, step_name
from core.stats.factor.model import INTERCEPT
from core.stats.factor.model_text import parse_model
from core.stats.factor.ordered_levels import (
    OrderedLevels,
    Partial,
    ordered_levels,
    ordered_parameters,
)
from core.stats.ordered.answer_options import Offered

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
    partial : parameters that are not held equal.
    offered : options of the items, for ordered answers.
    """

    name: str
    scores: Mapping[str, Floats]
    items: tuple[str, ...]
    model: str
    titles: Mapping[str, str] = field(default_factory=dict)
    partial: Partial = frozenset()
    offered: tuple[Offered, ...] | None = None


def invariance_files(
    groups: Sequence[LevelGroup], *, estimator: EstimatorKind, factor: str
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
        administration, empty for missing; ordered answers as numbers of options, from 0, of the
        rows that are used) and `invariance.R` (lavaan, the same numbers), with `groups.csv`,
        `steps.csv`, `models.csv` and, for ordered answers, `options.csv`.

    Raises
    ------
    ModelTextError
        A model text cannot be read.
    NotEnoughData
        Answers of a group cannot be taken as ordered.
    """
    names, labels = Names(frozenset({GROUP, _LEVEL})), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    is_ordered = estimator in ORDERED_RULES
    steps, options = list[tuple[str, ...]](), list[tuple[str, ...]]()
    lines, levels = list[tuple[str, ...]](), list[tuple[str, ...]]()
    blocks: list[tuple[str, _Files, Sequence[Floats], Sequence[str]]] = []
    for label, group in zip(group_names, groups, strict=True):
        own = _Files(group, names)
        model = with_allowed_names(own.model, group.titles, names, labels)
        answers = own.ordered(estimator) if is_ordered else None
        levels += [(label, level) for level in group_labels(list(group.scores))]
        plan = planned_steps(LADDER[is_ordered], group.partial, ordered=is_ordered)
        called = [step_name(step.level, step.freed) for step in plan]
        for step, name in zip(plan, called, strict=True):
            equal = held_equal(step.level, ordered=is_ordered)
            partial = group.partial if step.freed else frozenset()
            before = called[step.before] if step.before >= 0 else ""
            freed = " ".join(sorted(map(own.parameter, partial)))
            steps.append((label, name, before, " ".join(sorted(equal)), freed))
            if answers is not None:
                rows = ordered_parameters(answers, equal, partial)
                lines += [(label, name, line) for line in lavaan_parameters(rows, own.allowed)]
        if answers is None:
            lines += [(label, "", line) for line in lavaan_lines(model, means=True)]
            blocks.append((label, own, list(group.scores.values()), group.items))
        else:
            options += [
                (label, own.allowed(item), str(number), repr(score))
                for item, scores in zip(answers.items, answers.option_scores, strict=True)
                for number, score in enumerate(scores)
            ]
            blocks.append((label, own, answers.numbered(), answers.items))
    tables: dict[str, Table] = {
        "groups.csv": (("group", "level"), levels),
        "steps.csv": (("group", "step", "before", "equal", "free"), steps),
        "models.csv": (("name", "step", "line"), lines),
    }
    if is_ordered:
        tables["options.csv"] = ("group", "item", "option", "score"), options
    return script_files(
        "invariance",
        data=_data(blocks),
        title="Measurement invariance",
        settings=LAVAAN_WORDS[estimator],
        tables=tables,
        names=names,
        about=[f"Levels of {factor} are compared in {count_text(len(groups), 'group')}."],
    )


class _Files:
    """The names that the files use for one group."""

    def __init__(self, group: LevelGroup, names: Names) -> None:
        self.group, self.names = group, names
        self.model = parse_model(group.model, items=group.items)

    def allowed(self, own: str) -> str:
        """What the files call an item or a factor of the model text."""
        kind = "factor" if own in self.model.factors else "item"
        return self.names.of(kind, self.group.titles.get(own, own))

    def parameter(self, names: tuple[str, str, str]) -> str:
        """A parameter as lavaan's group.partial has it."""
        left, op, right = names
        name = self.allowed(left)
        if op == INTERCEPT:
            return f"{name}~1"
        return f"{name}{op}{right if op == '|' else self.allowed(right)}"

    def ordered(self, estimator: EstimatorKind) -> OrderedLevels:
        """The answers of the group as numbers of options."""
        return ordered_levels(
            self.group.scores,
            self.group.items,
            self.group.model,
            missing=ORDERED_RULES[estimator],
            offered=self.group.offered,
        )


def _data(blocks: Sequence[tuple[str, _Files, Sequence[Floats], Sequence[str]]]) -> str:
    """The scores of all groups and levels below each other, a column for every item of a model."""
    columns = list(
        dict.fromkeys(
            own.allowed(item)
            for _, own, _, items in blocks
            for item in own.model.items
            if item in items
        )
    )
    rows: list[tuple[str, list[float]]] = []
    for label, own, levels, items in blocks:
        for level, scores in enumerate(levels, start=1):
            table = np.full((len(scores), 1 + len(columns)), np.nan)
            table[:, 0] = level
            fill_columns(table[:, 1:], columns, scores, tuple(items), own.group.titles, own.names)
            rows += [(label, row) for row in table.tolist()]
    return csv_text([GROUP, _LEVEL, *columns], rows)


def invariance_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
    free: Freed = "",
) -> tuple[TextFile, ...]:
    """A script for lavaan, and its data, with the steps that `invariance` fits.

    Parameters
    ----------
    item_scores, factor, by, model, estimator, missing, fewest, free
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
        item_scores, factor, group_factors(by, factor), model, estimator, missing, fewest, free
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
        partial=ready.partial,
        offered=ready.offered,
    )

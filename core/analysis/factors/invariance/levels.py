"""The levels that are compared in each group, and the model that all of them get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import numpy as np
import pandas as pd

from core.analysis.kit.factor_models.groups import missing_rule, with_missing_rule
from core.analysis.kit.factor_models.models import (
    LikelihoodKind,
    ModelKind,
    WrittenModel,
    across_groups,
    left_out_notes,
    subscales_of_items,
    varying_items,
    written_model,
)
from core.analysis.kit.matrices import (
    MissingChoice,
    ScoreMatrix,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.kit.options import FORMAT_SUMS
from core.analysis.kit.registry import ComparedFactor, Number
from core.analysis.kit.rows import Floats, level_order
from core.domain.notes import about
from core.domain.study import SETTINGS
from core.errors import NotEnoughData
from core.stats.factor.model import Scaling
from core.stats.inputs import name_list

COMPARED = ComparedFactor(
    "Compare",
    first=(
        "language",
        "respondent",
        "form",
        "entity",
        "template",
        "label_order",
        "items_per_call",
        "history",
        *SETTINGS,
    ),
    never=(("format", FORMAT_SUMS),),
    help="The factor whose levels should measure the same.",
)
Factor = Annotated[str, COMPARED]
Fewest = Annotated[
    int,
    Number("Fewest administrations of a level", 3, 1000, help="A level with fewer is left out."),
]


@dataclass(frozen=True, eq=False)
class GroupLevels:
    """One group with the answers of each level; no model where they cannot be compared."""

    matrix: ScoreMatrix
    scores: Mapping[str, Floats]  # by level, (administrations, items that vary at every level)
    notes: tuple[str, ...]
    reason: str = ""  # why there is no model
    model: WrittenModel | None = None
    text: str = ""  # of the model, as it has to be for several groups
    scaling: Scaling = "marker"


@dataclass(frozen=True, eq=False)
class InvarianceInputs:
    """What is to be compared, as `invariance` takes it."""

    matrices: tuple[ScoreMatrix, ...]
    subscale_of: Mapping[str, str]
    level_of: Mapping[int, str]
    notes: tuple[str, ...]
    kind: ModelKind
    estimator: LikelihoodKind
    fewest: int

    def levels(self, matrix: ScoreMatrix) -> GroupLevels:
        """The levels of one group, made ready, or why they cannot be compared."""
        group = group_name(matrix.group)
        scores, few = _by_level(matrix, self.level_of, self.fewest)
        notes: list[str] = []
        if few:
            words = f"left out, with fewer than {self.fewest} administrations: {name_list(few)}."
            notes.append(about(group, words))
        if len(scores) < 2:
            reason = "not compared, as fewer than two levels are left."
            return GroupLevels(matrix, scores, tuple(notes), reason)
        rule = missing_rule(self.estimator)
        every = list(scores.values())
        varying = varying_items(every, rule)
        notes += [about(group, words) for words in left_out_notes(every, matrix.items, rule)]
        items = [item for item, varies in zip(matrix.items, varying, strict=True) if varies]
        keyed = [key for key, varies in zip(matrix.keyed, varying, strict=True) if varies]
        try:
            model = written_model(self.kind, items, keyed, self.subscale_of)
        except NotEnoughData as error:
            reason = f"not compared. {error.problem}"
            return GroupLevels(matrix, scores, tuple(notes), reason)
        text, scaling = across_groups(self.kind, model.text)
        scores = {level: rows[:, varying] for level, rows in scores.items()}
        return GroupLevels(matrix, scores, tuple(notes), "", model, text, scaling)


def group_factors(by: Sequence[str], factor: str) -> tuple[str, ...]:
    """The factors that make the groups; what is compared makes none."""
    return tuple(name for name in distinct(by) if name != factor)


def invariance_inputs(
    item_scores: pd.DataFrame,
    factor: str,
    by: Sequence[str],
    kind: ModelKind,
    estimator: LikelihoodKind,
    missing: MissingChoice,
    fewest: int,
) -> InvarianceInputs:
    """The groups, the level of every administration, and the estimator with its missing rule.

    Raises
    ------
    NotEnoughData
        There are no answers.
    """
    matrices = score_matrices(item_scores, by, whole=True)
    subscale_of, notes = subscales_of_items(item_scores)
    level_of = levels_by_administration(item_scores, factor)
    by_level = [_by_level(matrix, level_of, fewest)[0] for matrix in matrices]
    how, why = with_missing_rule(
        estimator,
        missing,
        [rows for scores in by_level for rows in scores.values()],
        n_groups=max(map(len, by_level), default=1),
    )
    return InvarianceInputs(
        matrices, subscale_of, level_of, (*notes, *why), kind, cast(LikelihoodKind, how), fewest
    )


def levels_by_administration(item_scores: pd.DataFrame, factor: str) -> dict[int, str]:
    """The level of the factor that each administration was under, in the order of the levels.

    That is their own order where they have any, such as bands of age, else the alphabet.
    """
    cases = item_scores[["administration", factor]].drop_duplicates("administration")
    level_of = {
        int(administration): "(none)" if pd.isna(level) or level == "" else str(level)
        for administration, level in zip(cases["administration"], cases[factor], strict=True)
    }
    place = {level: number for number, level in enumerate(level_order(item_scores[factor]))}
    return dict(sorted(level_of.items(), key=lambda pair: (place.get(pair[1], 0), pair[1])))


def _by_level(
    matrix: ScoreMatrix, level_of: Mapping[int, str], fewest: int
) -> tuple[dict[str, Floats], list[str]]:
    """Scores of each level with enough administrations that hold an answer, and the other levels.

    Levels stand in the order in which `level_of` names them.
    """
    levels = np.array([level_of[int(number)] for number in matrix.administrations], dtype=object)
    answered = np.asarray(np.isfinite(matrix.scores).any(axis=1))
    present = set(levels.tolist())
    every = [level for level in dict.fromkeys(level_of.values()) if level in present]
    few = [level for level in every if int(answered[levels == level].sum()) < fewest]
    return {level: matrix.scores[levels == level] for level in every if level not in few}, few

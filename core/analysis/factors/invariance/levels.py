"""The levels that are compared in each group, the model that all of them get, and what is free."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.alternatives import (
    MOST_COMPARED,
    AdministrationLevels,
    administration_levels,
    too_many_levels,
)
from core.analysis.kit.factor_models.groups import (
    choose_estimator,
    missing_rule,
    with_missing_rule,
)
from core.analysis.kit.factor_models.models import (
    ORDERED_RULES,
    EstimatorKind,
    ModelKind,
    ModelNames,
    WrittenModel,
    across_groups,
    left_out_notes,
    model_names,
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
    with_options,
)
from core.analysis.kit.options import FORMAT_SUMS
from core.analysis.kit.registry import ComparedFactor, Number, Text
from core.analysis.kit.rows import Floats
from core.domain.notes import about
from core.domain.study import SETTINGS
from core.errors import NotEnoughData
from core.stats.factor.model import COVARIANCE, INTERCEPT, LOADING
from core.stats.factor.model_text import parse_model
from core.stats.factor.ordered_levels import Partial
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.inputs import name_list
from core.stats.ordered.answer_options import Offered

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
    then_facts=True,
    never=(("format", FORMAT_SUMS),),
    help=f"The factor whose levels should measure the same; 2 to {MOST_COMPARED} levels.",
)
Factor = Annotated[str, COMPARED]
Fewest = Annotated[
    int,
    Number("Fewest administrations of a level", 3, 1000, help="A level with fewer is left out."),
]
Freed = Annotated[
    str,
    Text(
        "Free at each level",
        help="For partial invariance, in the notation of lavaan, divided by semicolons: F =~ i5 "
        "(a loading), i3 ~ 1 (an intercept), i3 | t2 (a threshold of ordered answers), i3 ~~ i3 "
        "(a residual variance), or i3 (all of an item). Items that differ are proposed below.",
    ),
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
    offered: tuple[Offered, ...] | None = None  # options of the items
    partial: Partial = frozenset()


@dataclass(frozen=True, eq=False)
class InvarianceInputs:
    """What is to be compared, as `invariance` takes it."""

    matrices: tuple[ScoreMatrix, ...]
    subscale_of: Mapping[str, str]
    factor: str
    level_of: AdministrationLevels
    notes: tuple[str, ...]
    kind: ModelKind
    estimator: EstimatorKind
    fewest: int
    partial: Partial

    @property
    def ordered(self) -> bool:
        """Whether scores are taken as ordered answers."""
        return self.estimator in ORDERED_RULES

    def levels(self, matrix: ScoreMatrix) -> GroupLevels:
        """The levels of one group, made ready, or why they cannot be compared.

        Raises
        ------
        NotEnoughData
            What is to be free is no parameter of the model.
        """
        group = group_name(matrix.group)
        scores, few = scores_by_level(matrix, self.level_of, self.fewest)
        notes: list[str] = []
        if few:
            words = f"left out, with fewer than {self.fewest} administrations: {name_list(few)}."
            notes.append(about(group, words))
        reason = too_many_levels(self.factor, list(scores))
        if len(scores) < 2:
            reason = f"not compared, as fewer than two levels have {self.fewest} administrations."
        if reason:
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
        scores = {level: rows[:, varying] for level, rows in scores.items()}
        offered = (
            tuple(
                options for options, varies in zip(matrix.options, varying, strict=True) if varies
            )
            if matrix.options
            else None
        )
        return GroupLevels(
            matrix,
            scores,
            tuple(notes),
            "",
            model,
            across_groups(self.kind, model.text),
            offered,
            _within(self.partial, model),
        )


def _within(partial: Partial, model: WrittenModel) -> Partial:
    """What is to be free of the items that the model of a group has.

    Raises
    ------
    NotEnoughData
        An item has no such loading.
    """
    terms = {(t.left, t.right) for t in parse_model(model.text).terms if t.op == LOADING}
    items, out = set(model.items), set()
    for left, op, right in partial:
        if not left:
            out |= {(factor, op, item) for factor, item in terms if item == right}
            continue
        if op == LOADING and right in items and (left, right) not in terms:
            loadings = "; ".join(
                f"{model.name(f)} =~ {model.name(i)}" for f, i in sorted(terms) if i == right
            )
            raise NotEnoughData(
                f"{model.name(left)} =~ {model.name(right)} is no loading of the model.",
                f"Free {loadings}.",
            )
        if (right if op == LOADING else left) in items or (left, right) in terms:
            out.add((left, op, right))
    return frozenset(out)


_PARAMETER = re.compile(r"(?P<left>.+?)\s*(?P<op>=~|~~|\||~)\s*(?P<right>.+)")


def freed_parameters(text: str, names: ModelNames, *, ordered: bool) -> Partial:
    """The parameters that a user frees, in the names of the model text.

    Items and subscales may be written as in the bank or as in a model text. ("", "=~", item) are
    all loadings of an item.

    Raises
    ------
    NotEnoughData
        A part is no parameter, or names an item or a factor that there is not.
    """
    safe = {**{s: s for s in names.shown}, **names.items, **names.factors}
    safe |= {names.shown[s]: s for s in (names.general, names.method)}
    items, out = set(names.items.values()), set()

    def name(word: str, *, item: bool) -> str:
        own = safe.get(word.strip(), "")
        if not own or (item and own not in items):
            what = "item" if item else "item or factor"
            raise NotEnoughData(
                f"There is no {what} {word.strip()} to be free.",
                f"Items are {name_list(list(names.items))}; write F =~ i5, i3 ~ 1, i3 | t2 or "
                "i3 ~~ i3.",
            )
        return own

    for part in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
        match = _PARAMETER.fullmatch(part)
        if match is None or part in names.items:
            item = name(part, item=True)
            out |= {("", LOADING, item), (item, INTERCEPT, ""), (item, COVARIANCE, item)}
            if ordered:
                out |= {(item, THRESHOLD, f"t{k}") for k in range(1, 20)}
            continue
        left, op, right = match["left"], match["op"], match["right"].strip()
        if op == LOADING:
            out |= {
                (name(left, item=False), LOADING, name(w, item=False)) for w in right.split("+")
            }
        elif op == THRESHOLD and re.fullmatch(r"t\d+", right) and ordered:
            out.add((name(left, item=True), THRESHOLD, right))
        elif op == COVARIANCE and name(left, item=True) == name(right, item=True):
            out.add((name(left, item=True), COVARIANCE, name(right, item=True)))
        elif op == "~" and right == "1":
            out.add((name(left, item=True), INTERCEPT, ""))
        else:
            remedy = "Thresholds are those of WLSMV. " if op == THRESHOLD and not ordered else ""
            raise NotEnoughData(
                f"{part} is no parameter that is held equal.",
                f"{remedy}Write F =~ i5, i3 ~ 1, i3 | t2 or i3 ~~ i3.",
            )
    return frozenset(out)


def parameter_text(left: str, op: str, right: str) -> str:
    """A parameter as a user types it to have it free.

    Examples
    --------
    >>> parameter_text("i3", "~1", ""), parameter_text("F", "=~", "i5")
    ('i3 ~ 1', 'F =~ i5')
    """
    return f"{left} ~ 1" if op == INTERCEPT else f"{left} {op} {right}"


def group_factors(by: Sequence[str], factor: str) -> tuple[str, ...]:
    """The factors that make the groups; what is compared makes none."""
    return tuple(name for name in distinct(by) if name != factor)


def invariance_inputs(
    item_scores: pd.DataFrame,
    factor: str,
    by: Sequence[str],
    kind: ModelKind,
    estimator: Literal["automatic", "ml", "mlr", "fiml", "wlsmv"],
    missing: MissingChoice,
    fewest: int,
    free: str,
) -> InvarianceInputs:
    """The groups, the level of every administration, and the estimator with its missing rule.

    Raises
    ------
    NotEnoughData
        There are no answers, no such factor, or what is to be free is no parameter.
    """
    matrices = score_matrices(item_scores, by, whole=True)
    subscale_of, notes = subscales_of_items(item_scores)
    level_of = administration_levels(item_scores, factor)
    by_level = [scores_by_level(matrix, level_of, fewest)[0] for matrix in matrices]
    chosen, reasons = choose_estimator(estimator, item_scores)
    how, why = with_missing_rule(
        chosen,
        missing,
        [rows for scores in by_level for rows in scores.values()],
        n_groups=max(map(len, by_level), default=1),
    )
    ordered = how in ORDERED_RULES
    if ordered:
        matrices = with_options(item_scores, matrices)
    names = model_names(subscale_of)
    return InvarianceInputs(
        tuple(matrices),
        subscale_of,
        factor,
        level_of,
        (*level_of.notes, *notes, *reasons, *why),
        kind,
        how,
        fewest,
        freed_parameters(free, names, ordered=ordered),
    )


def scores_by_level(
    matrix: ScoreMatrix, level_of: AdministrationLevels, fewest: int
) -> tuple[dict[str, Floats], list[str]]:
    """Scores of each level with enough administrations that hold an answer, and the other levels.

    Levels stand in their order.
    """
    own = [level_of.of.get(int(number)) for number in matrix.administrations]
    levels = np.array(own, dtype=object)
    answered = np.asarray(np.isfinite(matrix.scores).any(axis=1))
    every = [level for level in level_of.order if level in set(own)]
    few = [level for level in every if int(answered[levels == level].sum()) < fewest]
    return {level: matrix.scores[levels == level] for level in every if level not in few}, few

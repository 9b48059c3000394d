"""Differential item functioning: do groups of the same trait answer an item differently?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.answer_options import (
    Offered,
    listed,
    never_chosen_note,
    numbered_answers,
    ordered_items,
)
from core.psychometrics.arrays import Booleans, Floats, Integers
from core.psychometrics.comparisons.multiple_testing import Adjustment
from core.psychometrics.response_theory.dif_models import (
    DifModels,
    dif_models,
    rest_score,
    skipped_options,
)
from core.psychometrics.response_theory.dif_result import (
    DifResult,
    GroupEffect,
    ItemDif,
    adjusted,
    judged,
    untested,
)
from core.psychometrics.score_values import out_of_range, score_matrix


def differential_item_functioning(
    answers: Floats,
    names: Sequence[str],
    groups: Sequence[str | None],
    *,
    offered: Sequence[Offered] | None = None,
    trait: Floats | None = None,
    anchors: Sequence[str] | None = None,
    reference: str | None = None,
    alpha: float = 0.01,
    adjust: Adjustment | None = None,
) -> DifResult:
    """Which items favour a group among rows with the same level of trait, and how strongly.

    Parameters
    ----------
    answers
        (n, p) scores of ordered options, reverse-keyed items scored; NaN where there is none.
    names
        p names.
    groups
        n labels, at least two different ones; a row labelled None is left out.
    offered
        p lists of the scores each item offers, None where they are not known; those nobody chose
        are named.
    trait
        (n,) level of the trait for matching, such as scores of a graded response model. Without it
        each item is matched on the sum of the other items.
    anchors
        Names of the items that make up the matching score; without it, all that somebody answered.
    reference
        The group others are compared with; without it, the first in alphabetical order.
    alpha
        Level of the total test below which an item is flagged; Zumbo (1999) takes .01.
    adjust
        Adjust p-values over the items, separately for each of the three tests: Holm keeps the
        chance of any false flag at alpha, Benjamini-Hochberg the share of false flags.

    Returns
    -------
    DifResult
        Magnitudes are "negligible" for an item not flagged, whatever the rise of R².

    Raises
    ------
    NotEnoughData
        There are not two groups, there is nothing to match on, or scores are no ordered answers
        (see `ordered_items`).
    ValueError
        Lengths differ, or an anchor or the reference is unknown.

    Notes
    -----
    Missing data: a row counts for an item if it has an answer to it, a group and a matching score;
    a sum over items needs all of them. Unit of analysis: a row, independent of the others. Assumes
    proportional odds. A sum score measures with error: where groups differ in the trait itself,
    part of that difference shows as uniform functioning, the more so the shorter the scale; match
    on a trait, or on more items, then. Where an item functions differently, the others' sums
    contain it: see purified_dif in dif_purification. Options nobody chose are closed up; one that a
    group never chose stays and is named. Where a group or score separates the answers, tests use
    the limit of the likelihood and are rough.

    Bounds of magnitude: .13 and .26 after Zumbo and Thomas (1997), .035 and .07 after Jodoin and
    Gierl (2001), here of Nagelkerke's R², as in R's difR. They were not found for it: the former
    were meant for the explained variance of a latent answer, the latter found on yes-no items.

    Zumbo (1999), A handbook on the theory and methods of differential item functioning; Jodoin and
    Gierl (2001), Applied Measurement in Education 14, 329-349; Crane and others (2006), Medical
    Care 44 (11 Suppl 3), S115-S123, for the change of slope; Choi, Gibbons and Crane (2011),
    Journal of Statistical Software 39(8), doi:10.18637/jss.v039.i08. Checked against statsmodels'
    OrderedModel, a table by hand, and simulated answers.
    """
    matrix = score_matrix(answers, names)
    labels, group = _numbered_groups(groups, reference, matrix.shape[0])
    columns = _columns(anchors, names, matrix)
    numbered = ordered_items(matrix, names, offered)
    answered = [answers.n > 0 for answers in numbered]
    unused = never_chosen_note(
        [name for name, some in zip(names, answered, strict=True) if some],
        [answers for answers, some in zip(numbered, answered, strict=True) if some],
    )
    if trait is None and not any(set(columns) - {item} for item in range(len(names))):
        raise NotEnoughData(
            "There is no other item to match rows on.", "Add items, or give a trait score."
        )
    tested = [
        _item(
            name,
            matrix[:, item],
            rest_score(matrix, item, columns) if trait is None else _as_trait(trait, matrix),
            group,
            labels,
        )
        for item, name in enumerate(names)
    ]
    return DifResult(
        items=tuple(judged(item, alpha) for item in adjusted(tested, adjust)),
        groups=labels,
        anchors=tuple(names[column] for column in columns) if trait is None else (),
        problems=(
            *_left_out(names, columns if trait is None and anchors is None else None, group),
            *unused,
        ),
    )


def _left_out(
    names: Sequence[str], columns: tuple[int, ...] | None, group: Integers
) -> tuple[str, ...]:
    """Rows without a group, and items that the matching score had to do without, in words."""
    problems = []
    rows = int((group < 0).sum())
    if rows:
        problems.append(f"{rows} rows were left out: no group.")
    unasked = [] if columns is None else [names[k] for k in range(len(names)) if k not in columns]
    if unasked:
        problems.append(
            f"Not part of the matching score, because nobody answered: {', '.join(unasked)}."
        )
    return tuple(problems)


def _numbered_groups(
    groups: Sequence[str | None], reference: str | None, n: int
) -> tuple[tuple[str, ...], Integers]:
    """Labels, reference first, and each row's place among them; -1 without a group."""
    if len(groups) != n:
        raise ValueError(f"{len(groups)} groups for {n} rows")
    labels = sorted({label for label in groups if label is not None})
    if len(labels) < 2:
        raise NotEnoughData(
            f"All rows are of {len(labels)} group{'' if len(labels) == 1 else 's'}; comparing "
            "needs two.",
            "Choose a factor with two or more levels among the rows.",
        )
    if reference is not None and reference not in labels:
        raise ValueError(f"no row is of the reference group {reference!r}")
    labels.sort(key=lambda label: (label != reference, label))
    place = {label: number for number, label in enumerate(labels)}
    numbers = [-1 if label is None else place[label] for label in groups]
    return tuple(labels), np.array(numbers, dtype=np.int64)


def _columns(
    anchors: Sequence[str] | None, names: Sequence[str], matrix: Floats
) -> tuple[int, ...]:
    """Columns of the anchor items; where none are named, of all that somebody answered."""
    if anchors is None:
        return tuple(np.flatnonzero(np.isfinite(matrix).any(axis=0)).tolist())
    unknown = set(anchors) - set(names)
    if unknown:
        raise ValueError(f"anchors {sorted(unknown)} are not among the items")
    return tuple(column for column, name in enumerate(names) if name in set(anchors))


def _as_trait(trait: Floats, matrix: Floats) -> Floats:
    """The trait given, one value per row."""
    values = np.asarray(trait, dtype=np.float64)
    if values.shape != matrix.shape[:1]:
        raise ValueError(f"trait of shape {values.shape} for {matrix.shape[0]} rows")
    reason = out_of_range(values)
    if reason:
        raise NotEnoughData(f"Trait scores {reason}.", "Give trait scores in a usual unit.")
    return values


def _item(
    name: str, answers: Floats, matching: Floats, group: Integers, labels: tuple[str, ...]
) -> ItemDif:
    """One item's tests, not yet adjusted or judged."""
    used = np.isfinite(answers) & np.isfinite(matching) & (group >= 0)
    counts = tuple(int((group[used] == number).sum()) for number in range(len(labels)))
    reason = _why_not(answers[used], matching[used], counts, labels)
    if reason:
        return untested(name, counts, reason)
    numbered = numbered_answers(answers[used])
    models = dif_models(numbered.codes, matching[used], group[used], len(labels))
    return ItemDif(
        name=name,
        n=int(used.sum()),
        n_per_group=counts,
        uniform=models.uniform,
        non_uniform=models.non_uniform,
        total=models.total,
        effects=_effects(models, labels),
        slope_change=models.slope_change,
        flagged=False,
        zumbo_thomas="unknown",
        jodoin_gierl="unknown",
        above_choi=False,
        problems=(*_remarks(answers, used, group, labels), *models.problems),
    )


def _why_not(
    answers: Floats, matching: Floats, counts: tuple[int, ...], labels: tuple[str, ...]
) -> str:
    """Why an item cannot be tested, in words; empty where it can."""
    absent = [label for label, count in zip(labels, counts, strict=True) if not count]
    if absent:
        return f"No rows of {', '.join(absent)} have an answer and a matching score."
    if len(numbered_answers(answers).chosen) < 2:
        return "All answers are the same."
    if np.unique(matching).size < 2:
        return "The matching score is the same for all rows."
    return ""


def _effects(models: DifModels, labels: tuple[str, ...]) -> tuple[GroupEffect, ...]:
    """Log odds ratio of each group against the reference group."""
    fit = models.with_group
    pairs = zip(labels[1:], fit.coefficients[1:], fit.standard_errors[1:], strict=True)
    return tuple(GroupEffect(label, float(effect), float(error)) for label, effect, error in pairs)


def _remarks(
    answers: Floats, used: Booleans, group: Integers, labels: tuple[str, ...]
) -> list[str]:
    """Rows lost and options that a group never chose, in words."""
    remarks = []
    lost = int((~used & (group >= 0)).sum())
    if lost:
        remarks.append(f"{lost} rows were left out: no answer or no matching score.")
    for label, options in skipped_options(answers[used], group[used], labels):
        remarks.append(f"Nobody in {label} chose {listed(options)}.")
    return remarks

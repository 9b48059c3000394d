"""Scripts that compute reliability and item discrimination with psych and lavaan (R) and numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd

from core.analysis.matrices import (
    ALL_ITEMS,
    Floats,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.scripts.syntax_scales_python import (
    PYTHON_ALPHA,
    PYTHON_ITEMS_END,
    PYTHON_MORE,
    PYTHON_RELIABILITY_END,
    PYTHON_RELIABILITY_MORE,
    PYTHON_START,
    PYTHON_USABLE,
)
from core.analysis.scripts.syntax_scales_r import (
    R_ALPHA,
    R_ITEMS_END,
    R_MORE,
    R_RELIABILITY_END,
    R_START,
    R_USABLE,
)
from core.analysis.scripts.syntax_text import (
    GROUP,
    Names,
    comment,
    csv_text,
    distinct_lines,
    filled,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.domain.results import TextFile
from core.psychometrics.consistency.item_covariances import Missing

_Scale = tuple[str, str, list[str], list[str]]  # group, scale, columns, their subscales


@dataclass(frozen=True, eq=False)
class ScaleGroup:
    """One group's answers and the subscale of each item.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns; any text.
    subscales : name of each item's subscale, in the same order; empty for none.
    """

    name: str
    scores: Floats
    items: tuple[str, ...]
    subscales: tuple[str, ...]


def scale_groups(item_scores: pd.DataFrame, by: Sequence[str]) -> tuple[ScaleGroup, ...]:
    """The groups of an ITEM_SCORES frame, as the writers below take them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.

    Returns
    -------
    tuple of ScaleGroup, in the order of the frame; items in the order of their subscales.

    Raises
    ------
    NotEnoughData
        There are no rows, or they are not kept by such a factor.
    """
    names = distinct(by)
    parts = score_matrices(item_scores, names)
    found = []
    for whole in score_matrices(item_scores, names, whole=True):
        owner = {
            item: part.subscale for part in parts if part.group == whole.group
            for item in part.items
        }  # fmt: skip
        found.append(
            ScaleGroup(
                group_name(whole.group),
                whole.scores,
                whole.items,
                tuple(owner[item] for item in whole.items),
            )
        )
    return tuple(found)


def reliability_files(
    groups: Sequence[ScaleGroup],
    *,
    ci_level: float,
    rule: Missing = "listwise",
    alpha_only: bool = False,
    title: str = "Reliability",
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same reliability coefficients.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    rule : "listwise" or "pairwise"
        Rows complete on the items that vary, or all pairs of answers.
    alpha_only : bool
        Cronbach's alpha of the subscales only.
    title : str
        What the analysis is called; any text.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `reliability.R` (psych; lavaan for omega) and `reliability.py` (numpy and
        scipy). Bootstrap intervals and random halves are not repeated: they depend on the
        generator of random numbers.

    Notes
    -----
    The unit is one administration. The Python script computes alpha, stratified alpha, omega total
    and split-half from their formulas, without this package.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    data = _data(groups, labels, names)
    scales = _scales(groups, labels, names, whole=not alpha_only)
    about = f"{title}. Bootstrap intervals are not repeated here." if not alpha_only else title
    alone = "      attempt(alpha_row(scale, x))"
    r_rows = ",\n".join(
        [
            alone,
            "      attempt(stratified_row(scale, x, strata))",
            "      attempt(omega_row(scale, x))",
            "      attempt(omega_h_row(scale, x, strata))",
            "      attempt(halves_rows(scale, x))",
        ]
    )
    r_end = filled(R_RELIABILITY_END, {"rows": alone if alpha_only else r_rows})
    more = "" if alpha_only else PYTHON_RELIABILITY_MORE
    r_parts = {
        "software": "Cronbach's alpha with psych"
        if alpha_only
        else "Reliability with psych, and with lavaan for omega",
        "file": "reliability.R",
        "packages": "library(psych)"
        if alpha_only
        else "suppressPackageStartupMessages({\n  library(psych)\n  library(lavaan)\n})",
    }
    start, python_start = _starts(about, ci_level, names, scales, r_parts, "Reliability with numpy")
    return (
        data,
        TextFile(
            "reliability.R",
            r_script(start + R_USABLE[rule] + R_ALPHA + ("" if alpha_only else R_MORE) + r_end),
        ),
        TextFile(
            "reliability.py",
            python_start
            + PYTHON_USABLE[rule]
            + PYTHON_ALPHA
            + ("" if alpha_only else PYTHON_MORE)
            + filled(PYTHON_RELIABILITY_END, {"more": more}),
        ),
    )


def item_files(
    groups: Sequence[ScaleGroup],
    *,
    missing: Missing,
    ci_level: float,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same item discriminations.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    missing : "listwise" or "pairwise"
        Rows complete on the subscale, or all pairs of answers.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    tuple of TextFile
        `data.csv`, `items.R` (psych::alpha's r.drop and alpha.drop, subscale by subscale) and
        `items.py` (numpy and scipy).

    Notes
    -----
    The unit is one administration. Items without variance are left out before rows are judged.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    data = _data(groups, labels, names)
    scales = _scales(groups, labels, names, whole=False)
    r_parts = {
        "software": "Item discrimination with psych",
        "file": "items.R",
        "packages": "library(psych)",
    }
    start, python_start = _starts("Item statistics", ci_level, names, scales, r_parts,
                                  "Item discrimination with numpy")  # fmt: skip
    return (
        data,
        TextFile("items.R", r_script(start + R_USABLE[missing] + R_ITEMS_END)),
        TextFile("items.py", python_start + PYTHON_USABLE[missing] + PYTHON_ITEMS_END),
    )


def _starts(
    about: str,
    ci_level: float,
    names: Names,
    scales: Sequence[_Scale],
    r_parts: dict[str, str],
    python_software: str,
) -> tuple[str, str]:
    """The beginnings of the R and of the Python script."""
    shared = {
        "about": comment(about).rstrip("\n"),
        "level": repr(ci_level),
        "names": names.table(),
    }
    r_scales = {"scales": ",\n".join(map(_r_scale, scales))}
    python_scales = {"scales": "\n".join(map(_python_scale, scales)), "software": python_software}
    return filled(R_START, shared | r_parts | r_scales), filled(
        PYTHON_START, shared | python_scales
    )


def _scales(
    groups: Sequence[ScaleGroup], labels: Sequence[str], names: Names, *, whole: bool
) -> list[_Scale]:
    """All items of a group where there are several subscales, then each subscale."""
    found: list[_Scale] = []
    for group, label in zip(groups, labels, strict=True):
        columns = [names.of("item", item) for item in group.items]
        real = list(dict.fromkeys(group.subscales))
        kinds = dict(zip(real, distinct_lines(real), strict=True))
        owners = [kinds[own] for own in group.subscales]
        if whole and len(kinds) > 1:
            found.append((label, ALL_ITEMS, columns, owners))
        for kind in kinds.values():
            own = [column for column, owner in zip(columns, owners, strict=True) if owner == kind]
            found.append((label, kind, own, [kind] * len(own)))
    return found


def _r_scale(scale: _Scale) -> str:
    """One scale as an element of a list in R."""
    group, name, items, strata = scale
    return (
        f"  list(group = {r_text(group)}, scale = {r_text(name)},\n"
        f"       items = {r_texts(items)},\n       strata = {_repeated(strata)})"
    )


def _repeated(strata: Sequence[str]) -> str:
    """The names of subscales as a vector of R, runs of the same one shortened."""
    runs = [(name, len(list(run))) for name, run in groupby(strata)]
    return f"rep({r_texts(name for name, _ in runs)}, c({', '.join(str(n) for _, n in runs)}))"


def _python_scale(scale: _Scale) -> str:
    """One scale as an element of a list in Python."""
    group, name, items, strata = scale
    runs = [(own, len(list(run))) for own, run in groupby(strata)]
    owners = " + ".join(f"[{python_text(own)}] * {n}" for own, n in runs)
    return f"    ({python_text(group)}, {python_text(name)},\n     {items!r},\n     {owners}),"


def _data(groups: Sequence[ScaleGroup], labels: Sequence[str], names: Names) -> TextFile:
    """The scores of all groups below each other, a column for every item."""
    columns = {names.of("item", item): None for group in groups for item in group.items}
    place = {column: number for number, column in enumerate(columns)}
    rows: list[tuple[str, list[float]]] = []
    for group, label in zip(groups, labels, strict=True):
        table = np.full((len(group.scores), len(columns)), np.nan)
        table[:, [place[names.of("item", item)] for item in group.items]] = group.scores
        rows += [(label, row) for row in table.tolist()]
    return TextFile("data.csv", csv_text([GROUP, *columns], rows))

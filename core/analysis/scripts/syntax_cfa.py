"""Scripts that fit the same factor models with lavaan (R) and semopy (Python)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.analysis.matrices import Floats
from core.analysis.scripts.syntax_cfa_text import (
    LAVAAN,
    LAVAAN_CALLS,
    LAVAAN_DIFFERENCES,
    LAVAAN_NOTES,
    PYTHON_NOTES,
    SEMOPY,
    EstimatorName,
)
from core.analysis.scripts.syntax_model import (
    allowed,
    items_of,
    lavaan_lines,
    semopy_lines,
    semopy_starts,
    single_items_are_factors,
    under_columns,
)
from core.analysis.scripts.syntax_text import (
    GROUP,
    Names,
    comment,
    csv_text,
    filled,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.domain.counts import counted
from core.domain.results import TextFile
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_syntax import parse_model


@dataclass(frozen=True, eq=False)
class SyntaxGroup:
    """One group with the model that was fitted to it.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns as the model text has them.
    model : model text, as `cfa_syntax.parse_model` reads it.
    dropped : items that the model leaves out, as users know them; named in the scripts.
    titles : names in the text to the names users know, where the two differ.
    answers : whose answers these are, where several models share them; by default its own.
    """

    name: str
    scores: Floats
    items: tuple[str, ...]
    model: str
    dropped: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    answers: str = ""


def cfa_files(
    groups: Sequence[SyntaxGroup],
    *,
    estimator: EstimatorName,
    ci_level: float,
    title: str = "Confirmatory factor analysis",
    pairs: Sequence[tuple[int, int]] = (),
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can fit the same models.

    Parameters
    ----------
    groups : sequence of SyntaxGroup
        Every group with its own model; a group that has none is left to the caller to leave out.
    estimator : "ml", "mlr", "fiml" or "wlsmv"
        As in `cfa`.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    title : str
        What the analysis is called; any text.
    pairs : sequence of (restricted, freer)
        Places in `groups` of models whose difference of chi-square `cfa.R` is to test.

    Returns
    -------
    tuple of TextFile
        `data.csv` (a column `group`, a column per item, a row per administration, empty for
        missing), `cfa.R` (lavaan, the same numbers) and `cfa.py` (semopy: maximum likelihood on
        complete rows only, as its comments say).

    Raises
    ------
    ModelTextError
        A model text cannot be read.

    Notes
    -----
    Names keep their letters only as far as R, Python and spreadsheets take them for names; comments
    say which stands for what. The models are written anew from what was understood of their text.
    """
    names, labels = Names(), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    row_names = _row_names(groups, group_names)
    models = [_model(group, estimator, names, labels) for group in groups]
    about = _about(groups, group_names, title)
    parts = {
        "about": about.rstrip("\n"),
        "level": repr(ci_level),
        "names": names.table(),
    }
    written = list(zip(group_names, row_names, models, strict=True))
    r_parts = {
        **parts,
        "options": comment(LAVAAN_NOTES[estimator]).rstrip("\n"),
        "call": LAVAAN_CALLS[estimator],
        "groups": ",\n".join(_r_group(*one, means=estimator == "fiml") for one in written),
        "differences": filled(LAVAAN_DIFFERENCES, {"pairs": _r_pairs(pairs)}) if pairs else "",
    }
    python_parts = {
        **parts,
        "options": comment(PYTHON_NOTES[estimator]).rstrip("\n"),
        "note": repr(PYTHON_NOTES[estimator]),
        "groups": "\n".join(_python_group(*one) for one in written),
    }
    return (
        TextFile("data.csv", _data(groups, row_names, models, names)),
        TextFile("cfa.R", r_script(filled(LAVAAN, r_parts))),
        TextFile("cfa.py", filled(SEMOPY, python_parts)),
    )


def _model(
    group: SyntaxGroup, estimator: EstimatorName, names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow."""
    model = parse_model(group.model, items=group.items)
    if estimator == "wlsmv":
        model = single_items_are_factors(model)
    return allowed(model, group.titles, names, labels)


def _about(groups: Sequence[SyntaxGroup], names: Sequence[str], title: str) -> str:
    """What the files are of, and which items are left out."""
    lines = comment(f"{title}: {counted(len(groups), 'group')}.")
    for group, name in zip(groups, names, strict=True):
        if group.dropped:
            lines += comment(f"{name}: left out: {', '.join(group.dropped)}.")
    return lines


def _row_names(groups: Sequence[SyntaxGroup], group_names: Sequence[str]) -> list[str]:
    """What the rows of each group are called in the data: as the group, or as what it shares."""
    shared = list(dict.fromkeys(group.answers for group in groups if group.answers))
    labels = dict(zip(shared, group_labels(shared), strict=True))
    return [
        labels.get(group.answers, name) for group, name in zip(groups, group_names, strict=True)
    ]


def _r_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    """The pairs of models as R counts them."""
    return ",\n".join(f"  c({one + 1}, {other + 1})" for one, other in pairs)


def _r_group(name: str, rows: str, model: ParsedModel, *, means: bool) -> str:
    """One group as an element of a list in R."""
    lines = ",\n".join(f"      {r_text(line)}" for line in lavaan_lines(model, means=means))
    return (
        f"  list(\n    name = {r_text(name)},\n    rows = {r_text(rows)},\n"
        f"    items = {r_texts(model.items)},\n"
        f'    model = paste(\n{lines},\n      sep = "\\n"\n    )\n  )'
    )


def _python_group(name: str, rows: str, model: ParsedModel) -> str:
    """One group as an element of a list in Python."""
    lines = "".join(f"            {python_text(line)},\n" for line in semopy_lines(model))
    return (
        f'    {{\n        "name": {python_text(name)},\n        "rows": {python_text(rows)},\n'
        f'        "items": {list(model.items)!r},\n'
        f'        "model": [\n{lines}        ],\n'
        f'        "starts": {semopy_starts(model)!r},\n    }},'
    )


def _data(
    groups: Sequence[SyntaxGroup],
    row_names: Sequence[str],
    models: Sequence[ParsedModel],
    names: Names,
) -> str:
    """The scores of all groups below each other, a column for every item of a model."""
    columns = items_of(models)
    tables: dict[str, Floats] = {}
    for group, label in zip(groups, row_names, strict=True):
        table = tables.setdefault(label, np.full((len(group.scores), len(columns)), np.nan))
        under_columns(table, columns, group.scores, group.items, group.titles, names)
    rows = [(label, row) for label, table in tables.items() for row in table.tolist()]
    return csv_text([GROUP, *columns], rows)

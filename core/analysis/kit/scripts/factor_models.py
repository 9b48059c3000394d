"""Files of scripts of factor models in lavaan (R) and semopy (Python)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.files import Table, script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.results import TextFile
from core.stats.factor.model import (
    COVARIANCE,
    DEFINED,
    INTERCEPT,
    LOADING,
    Parameter,
    ParsedModel,
    Scaling,
    Term,
    parameter_table,
)
from core.stats.factor.model_text import parse_model
from core.stats.factor.wlsmv import THRESHOLD

# Measurement models as lavaan and as semopy read them.
#
# Both are written from the parsed model, not copied from a text somebody typed: lavaan evaluates
# what stands before a `*` as R code.

Rename = Callable[[str], str]


def _rename_model(model: ParsedModel, name: Rename, label: Rename) -> ParsedModel:
    """The model with other names for items and factors, and others for labels."""
    terms = tuple(
        replace(
            term,
            left=name(term.left),
            right=name(term.right) if term.right else "",
            label=label(term.label) if term.label else None,
        )
        for term in model.terms
    )
    defined = tuple(value.renamed(label) for value in model.defined)
    return replace(
        model,
        factors=tuple(map(name, model.factors)),
        items=tuple(map(name, model.items)),
        terms=terms,
        defined=defined,
    )


def _single_items_are_factors(model: ParsedModel) -> ParsedModel:
    """The model of ordered answers, in which a factor of one item is that item.

    Loading and variance are 1; correlations would leave the variance of such a factor open.
    """
    terms = list(model.terms)
    for factor in model.factors:
        indicators = model.indicators(factor)
        if len(indicators) == 1 and indicators[0] in model.items:
            own = {(factor, LOADING, indicators[0]), (factor, COVARIANCE, factor)}
            terms = [term for term in terms if (term.left, term.op, term.right) not in own]
            terms += [Term(*names, fixed=1.0) for names in sorted(own, reverse=True)]
    return replace(model, terms=tuple(terms))


def lavaan_lines(model: ParsedModel, *, means: bool) -> list[str]:
    """The model text for lavaan, line by line; intercepts only where means are modeled."""
    lines = []
    for (left, op), terms in groupby(model.terms, key=lambda term: (term.left, term.op)):
        if op == INTERCEPT:
            lines += [f"{left} ~ {_lavaan_term(term, '1')}" for term in terms if means]
        else:
            right = " + ".join(_lavaan_term(term, term.right) for term in terms)
            lines.append(f"{left} {op} {right}")
    return lines + [f"{value.name} {DEFINED} {value.expression}" for value in model.defined]


def lavaan_parameters(parameters: Sequence[Parameter], name: Rename) -> list[str]:
    """Parameters of several groups for lavaan, a line for each; equal ones share a label."""
    rows: dict[tuple[str, str, str], list[Parameter]] = {}
    for row in parameters:
        rows.setdefault((row.left, row.op, row.right), []).append(row)
    lines = []
    for number, ((left, op, right), groups) in enumerate(rows.items()):
        values = ", ".join("NA" if row.is_free else _plain(row.value) for row in groups)
        labels = ", ".join(
            f"p{row.free}" if row.is_free else f"f{number}.{row.group}" for row in groups
        )
        last = "1" if op == INTERCEPT else right if op == THRESHOLD else name(right)
        sign = "~" if op == INTERCEPT else op
        lines.append(f"{name(left)} {sign} c({values})*{last} + c({labels})*{last}")
    return lines


def semopy_lines(model: ParsedModel, *, scaling: Scaling = "marker") -> list[str]:
    """The model text for semopy with every parameter written out, line by line.

    semopy would fix a loading wherever none is a number, and knows no `NA*`, so each free parameter
    gets a name of its own, shared where two are held equal. Moments of covariates are left to
    semopy, which takes those of the data too.
    """
    rows = parameter_table(model, scaling=scaling).parameters
    given = set(model.covariates)
    return [
        f"{row.left} {row.op} {_semopy_term(row)}"
        for row in rows
        if not (row.op == COVARIANCE and row.left in given)
    ]


def semopy_starts(model: ParsedModel, *, scaling: Scaling = "marker") -> dict[str, str]:
    """Free loadings of factors without a fixed one, and the item or factor each belongs to."""
    table = parameter_table(model, scaling=scaling)
    rows = [row for row in table.parameters if row.op == LOADING]
    anchored = {row.left for row in rows if not row.is_free}
    return {f"p{row.free + 1}": row.right for row in rows if row.left not in anchored}


def with_allowed_names(
    model: ParsedModel, titles: Mapping[str, str], names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow; `titles` as of the groups of a writer."""
    factors = set(model.factors)

    def name(own: str) -> str:
        return names.of("factor" if own in factors else "item", titles.get(own, own))

    return _rename_model(model, name, lambda own: labels.of("label", own))


def fill_columns(
    table: Floats,
    columns: Sequence[str],
    scores: Floats,
    items: Sequence[str],
    titles: Mapping[str, str],
    names: Names,
) -> None:
    """Put the scores of a group into a table of the data, each item under its column there."""
    shown = [titles.get(own, own) for own in items]
    place = {names.given.get(("item", own)): number for number, own in enumerate(shown)}
    for number, column in enumerate(columns):
        if column in place:
            table[:, number] = scores[:, place[column]]


def items_of_models(models: Iterable[ParsedModel]) -> Sequence[str]:
    """Every item of the models, once each, in order of mention."""
    return list(dict.fromkeys(item for model in models for item in model.items))


def _lavaan_term(term: Term, right: str) -> str:
    """One term with its modifiers, each before a mention of its own."""
    modifiers = [
        *(["NA"] if term.freed else []),
        *([_plain(term.fixed)] if term.fixed is not None else []),
        *([term.label] if term.label else []),
        *([f"start({_plain(term.start)})"] if term.start is not None else []),
    ]
    return " + ".join(f"{modifier}*{right}" for modifier in modifiers) or right


def _semopy_term(row: Parameter) -> str:
    """The right side of one parameter."""
    return f"p{row.free + 1}*{row.right}" if row.is_free else f"{_plain(row.value)}*{row.right}"


def _plain(value: float) -> str:
    """The number without an exponent, whose sign semopy would misread."""
    text = repr(float(value))
    return f"{value:.15f}" if "e" in text else text


# The files.

EstimatorName = Literal["ml", "mlr", "ml_fiml", "fiml", "wlsmv", "wlsmv_pairwise"]

LAVAAN_WORDS: Mapping[EstimatorName, Mapping[str, str]] = {
    "ml": {"estimator": "ML", "missing": "listwise"},
    "mlr": {"estimator": "MLR", "missing": "listwise"},
    "ml_fiml": {"estimator": "ML", "missing": "fiml"},
    "fiml": {"estimator": "MLR", "missing": "fiml"},
    "wlsmv": {"estimator": "WLSMV", "missing": "listwise"},
    "wlsmv_pairwise": {"estimator": "WLSMV", "missing": "pairwise"},
}
"""What lavaan calls an estimator and its rule for missing answers."""


@dataclass(frozen=True, eq=False)
class SyntaxGroup:
    """One group with the model that was fitted to it.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns as the model text has them.
    model : model text, as `parse_model` reads it.
    dropped : items that the model leaves out, as users know them; named in `settings.csv`.
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
    estimator : str
        As in `cfa`, with its rule for missing answers.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    title : str
        What the analysis is called; any text.
    pairs : sequence of (restricted, freer)
        Positions in `groups` of models whose difference of chi-square `cfa.R` is to test.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `data.csv` (a column `group`, a column per item, a row per
        administration, empty for missing), `cfa.R` (lavaan, the same numbers) and `cfa.py` (semopy:
        maximum likelihood on complete rows only, as it says), with `models.csv` and, for the
        differences, `pairs.csv`.

    Raises
    ------
    ModelTextError
        A model text cannot be read.

    Notes
    -----
    Names keep their letters only as far as R, Python and spreadsheets take them for names;
    `names.csv` says which stands for what. The models are written anew from what was
    understood of their text.
    """
    names, labels = Names(), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    row_names = _row_names(groups, group_names)
    models = [_model(group, estimator, names, labels) for group in groups]
    means = LAVAAN_WORDS[estimator]["missing"] == "fiml"
    lines = [
        (name, rows, software, line)
        for name, rows, model in zip(group_names, row_names, models, strict=True)
        for software, text in (
            ("lavaan", lavaan_lines(model, means=means)),
            ("semopy", semopy_lines(model)),
        )
        for line in text
    ]
    tables: dict[str, Table] = {"models.csv": (("name", "rows", "software", "line"), lines)}
    if pairs:
        tested = [(group_names[restricted], group_names[freer]) for restricted, freer in pairs]
        tables["pairs.csv"] = ("restricted", "freer"), tested
    return script_files(
        "cfa",
        data=_data(groups, row_names, models, names),
        title=title,
        settings={**LAVAAN_WORDS[estimator], "ci_level": ci_level},
        tables=tables,
        names=names,
        about=[
            f"{name}: left out: {', '.join(group.dropped)}."
            for group, name in zip(groups, group_names, strict=True)
            if group.dropped
        ],
    )


def _model(
    group: SyntaxGroup, estimator: EstimatorName, names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow."""
    model = parse_model(group.model, items=group.items)
    if estimator in ("wlsmv", "wlsmv_pairwise"):
        model = _single_items_are_factors(model)
    return with_allowed_names(model, group.titles, names, labels)


def _row_names(groups: Sequence[SyntaxGroup], group_names: Sequence[str]) -> list[str]:
    """What the rows of each group are called in the data: as the group, or as what it shares."""
    shared = list(dict.fromkeys(group.answers for group in groups if group.answers))
    labels = dict(zip(shared, group_labels(shared), strict=True))
    return [
        labels.get(group.answers, name) for group, name in zip(groups, group_names, strict=True)
    ]


def _data(
    groups: Sequence[SyntaxGroup],
    row_names: Sequence[str],
    models: Sequence[ParsedModel],
    names: Names,
) -> str:
    """The scores of all groups below each other, a column for every item of a model."""
    columns = items_of_models(models)
    tables: dict[str, Floats] = {}
    for group, label in zip(groups, row_names, strict=True):
        table = tables.setdefault(label, np.full((len(group.scores), len(columns)), np.nan))
        fill_columns(table, columns, group.scores, group.items, group.titles, names)
    rows = [(label, row) for label, table in tables.items() for row in table.tolist()]
    return csv_text([GROUP, *columns], rows)

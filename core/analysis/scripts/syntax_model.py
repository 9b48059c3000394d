"""Measurement models as lavaan and as semopy read them.

Both are written from the parsed model, not copied from a text somebody typed: lavaan evaluates what
stands before a `*` as R code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from core.analysis.matrices import Floats
from core.analysis.scripts.syntax_text import Names
from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    Parameter,
    ParsedModel,
    Scaling,
    Term,
)
from core.psychometrics.factor_models.cfa_table import parameter_table

Rename = Callable[[str], str]


def _renamed(model: ParsedModel, name: Rename, label: Rename) -> ParsedModel:
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
    return replace(
        model,
        factors=tuple(map(name, model.factors)),
        items=tuple(map(name, model.items)),
        terms=terms,
    )


def single_items_are_factors(model: ParsedModel) -> ParsedModel:
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
    return lines


def semopy_lines(model: ParsedModel, *, scaling: Scaling = "marker") -> list[str]:
    """The model text for semopy with every parameter written out, line by line.

    semopy would fix a loading wherever none is a number, and knows no `NA*`, so each free parameter
    gets a name of its own, shared where two are held equal.
    """
    rows = parameter_table(model, scaling=scaling).parameters
    return [f"{row.left} {row.op} {_semopy_term(row)}" for row in rows]


def semopy_starts(model: ParsedModel, *, scaling: Scaling = "marker") -> dict[str, str]:
    """Free loadings of factors without a fixed one, and the item or factor each belongs to."""
    table = parameter_table(model, scaling=scaling)
    rows = [row for row in table.parameters if row.op == LOADING]
    anchored = {row.left for row in rows if not row.is_free}
    return {f"p{row.free + 1}": row.right for row in rows if row.left not in anchored}


def allowed(
    model: ParsedModel, titles: Mapping[str, str], names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow; `titles` as of the groups of a writer."""
    factors = set(model.factors)

    def name(own: str) -> str:
        return names.of("factor" if own in factors else "item", titles.get(own, own))

    return _renamed(model, name, lambda own: labels.of("label", own))


def under_columns(
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


def items_of(models: Iterable[ParsedModel]) -> Sequence[str]:
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

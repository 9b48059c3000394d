"""From what a model text says to the full list of parameters, with the field's usual defaults.

Added without being written: residual variances, factor variances, covariances among factors that
are not themselves explained, one fixed loading (or variance) per factor, and with means one
intercept per item. These are the defaults of the `cfa` function of lavaan (Rosseel 2012,
doi:10.18637/jss.v048.i02), so that the same text means the same model there.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    Parameter,
    ParameterTable,
    ParsedModel,
    Scaling,
    Term,
)

_NAN = float("nan")


def parameter_table(
    model: ParsedModel,
    *,
    scaling: Scaling = "marker",
    means: bool = False,
    ordered: bool = False,
    n_groups: int = 1,
    equal: frozenset[str] = frozenset(),
    partial: frozenset[tuple[str, str, str]] = frozenset(),
) -> ParameterTable:
    """All parameters of a model, free ones numbered.

    Parameters
    ----------
    model : ParsedModel
        The parsed text.
    scaling : "marker" or "std.lv"
        How factors get their unit. A fixed marker keeps its label, and fixes all of that label.
    means : bool
        Add intercepts; needed for missing answers and for several groups.
    ordered : bool
        Leave residual variances out (see `ParameterTable`).
    n_groups : int
        Number of groups; every group has the same terms.
    equal : set of str
        What is held equal across groups, of "loadings", "intercepts" and "residuals". With equal
        loadings and std.lv, factor variances of later groups become free; with equal intercepts,
        so do their factor means. A label in the text is one parameter in all groups.
    partial : set of (left, op, right)
        Exceptions from `equal`, such as ("F", "=~", "x2") or ("x2", "~1", "").

    Returns
    -------
    ParameterTable, ordered by group, then loadings, covariances as written, then automatic ones.
    """
    wanted = _with_defaults(model, scaling, means, ordered)
    numbers: dict[object, int] = {}
    rows: list[Parameter] = []
    for group in range(n_groups):
        for original in wanted:
            term = _in_group(original, model, group, scaling, equal)
            free, value = -1, term.fixed if term.fixed is not None else _NAN
            if term.fixed is None:
                apart = _names(term) in partial
                home = group if apart else _shared_group(term, model, group, equal)
                key = term.label or (home, *_names(term))
                free = numbers.setdefault(key, len(numbers))
            start = _NAN if term.start is None else term.start
            rows.append(
                Parameter(
                    group, term.left, term.op, term.right, free, value, term.label or "", start
                )
            )
    return ParameterTable(model.items, model.factors, tuple(rows), n_groups, means, ordered)


def _names(term: Term) -> tuple[str, str, str]:
    """What identifies a parameter within a group."""
    return term.left, term.op, term.right


def _with_defaults(model: ParsedModel, scaling: Scaling, means: bool, ordered: bool) -> list[Term]:
    """Terms of one group, with everything implied added."""
    loadings = [t for t in model.terms if t.op == LOADING]
    if scaling == "marker":
        loadings = _fix_markers(model, loadings)
    terms = loadings + [t for t in model.terms if t.op == COVARIANCE]
    said = {frozenset((t.left, t.right)) for t in terms if t.op == COVARIANCE}
    explained = {t.right for t in loadings}
    pairs = [(f, f) for f in model.factors] + [
        pair for pair in combinations([f for f in model.factors if f not in explained], 2)
    ]
    if not ordered:
        pairs = [(i, i) for i in model.items] + pairs
    lonely = {names[0] for f in model.factors if len(names := model.indicators(f)) == 1}
    for left, right in pairs:
        if frozenset((left, right)) not in said:
            fixed = 0.0 if left == right and left in lonely else None
            if left == right and left in model.factors and scaling == "std.lv":
                fixed = 1.0
            terms.append(Term(left, COVARIANCE, right, fixed))
    return terms + (_mean_terms(model) if means else [])


def _fix_markers(model: ParsedModel, loadings: list[Term]) -> list[Term]:
    """Fix the first loading of each factor at 1 unless the text fixes the scale otherwise."""
    first = {f: next(t for t in loadings if t.left == f) for f in model.factors}
    marked = [
        replace(t, fixed=1.0) if first[t.left] is t and not t.freed and t.fixed is None else t
        for t in loadings
    ]
    known = {t.label: t.fixed for t in marked if t.label and t.fixed is not None}
    return [replace(t, fixed=known[t.label]) if t.label in known else t for t in marked]


def _mean_terms(model: ParsedModel) -> list[Term]:
    """Intercepts of all items (free) and means of all factors (0), unless the text differs."""
    written = {t.left: t for t in model.terms if t.op == INTERCEPT}
    automatic = [Term(i, INTERCEPT, "") for i in model.items]
    automatic += [Term(f, INTERCEPT, "", 0.0) for f in model.factors]
    return [written.get(t.left, t) for t in automatic]


def _in_group(
    term: Term, model: ParsedModel, group: int, scaling: Scaling, equal: frozenset[str]
) -> Term:
    """The term as it applies in a group; later groups gain what equality identifies."""
    if group == 0 or term.left not in model.factors:
        return term
    own_variance = term.op == COVARIANCE and term.left == term.right
    mean = term.op == INTERCEPT
    frees = (own_variance and scaling == "std.lv" and "loadings" in equal) or (
        mean and "intercepts" in equal
    )
    said = any(_names(t) == _names(term) for t in model.terms)
    return Term(term.left, term.op, term.right) if frees and not said else term


def _shared_group(term: Term, model: ParsedModel, group: int, equal: frozenset[str]) -> int:
    """The group whose parameter this one shares: 0 where held equal, else its own."""
    item = term.left in model.items
    kinds = {
        "loadings": term.op == LOADING,
        "intercepts": term.op == INTERCEPT and item,
        "residuals": term.op == COVARIANCE and item,
    }
    return 0 if any(kinds[name] for name in equal) else group

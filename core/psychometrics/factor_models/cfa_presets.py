"""Model texts for the usual questions, to be read and edited before they are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.psychometrics.factor_models.cfa_model import LOADING
from core.psychometrics.factor_models.cfa_syntax import parse_model


def subscale_model(subscales: Mapping[str, Sequence[str]]) -> str:
    """One factor per subscale, all covarying.

    Parameters
    ----------
    subscales : mapping
        Name of the factor to its items. Subscales without items are left out.

    Returns
    -------
    str
        A model text.
    """
    return "\n".join(_factor(name, items) for name, items in subscales.items() if items)


def one_factor_model(items: Sequence[str], *, name: str = "General") -> str:
    """All items measure one factor."""
    return _factor(name, items)


def with_method_factor(text: str, reverse_keyed: Sequence[str], *, name: str = "Method") -> str:
    """The model plus a factor of the reverse-keyed items, unrelated to the other factors.

    It takes up what such items share because of their wording (a correlated trait, uncorrelated
    method model). Its variance is 1 and its first loading is free, so that a first item without
    method effect does not break the scale.

    Parameters
    ----------
    text : str
        A model text.
    reverse_keyed : sequence of str
        Items keyed against the others; at least two should be in the model.
    name : str
        Name of the added factor.

    Returns
    -------
    str
        A model text.
    """
    apart = [f"{name} ~~ 0*{factor}" for factor in _top_factors(text)]
    return "\n".join([text, _free_factor(name, reverse_keyed), f"{name} ~~ 1*{name}", *apart])


def bifactor_model(subscales: Mapping[str, Sequence[str]], *, name: str = "General") -> str:
    """A general factor of all items beside one factor per subscale, none of them related.

    Every factor has variance 1 and free loadings, the usual scale for this model.

    Parameters
    ----------
    subscales : mapping
        Name of the factor to its items.
    name : str
        Name of the general factor.

    Returns
    -------
    str
        A model text.
    """
    every = list(dict.fromkeys(item for items in subscales.values() for item in items))
    groups = {factor: items for factor, items in subscales.items() if items}
    names = [name, *groups]
    lines = [_free_factor(name, every), *(_free_factor(f, i) for f, i in groups.items())]
    lines += [f"{factor} ~~ 1*{factor}" for factor in names]
    lines += [f"{a} ~~ 0*{b}" for k, a in enumerate(names) for b in names[k + 1 :]]
    return "\n".join(lines)


def second_order_model(subscales: Mapping[str, Sequence[str]], *, name: str = "General") -> str:
    """One factor per subscale, and a factor behind these factors.

    With three subscales it fits exactly as well as covarying factors; with two it needs equal
    loadings, which the text then says.
    """
    groups = [factor for factor, items in subscales.items() if items]
    right = " + ".join(f"1*{g}" for g in groups) if len(groups) == 2 else " + ".join(groups)
    return "\n".join([subscale_model(subscales), f"{name} {LOADING} {right}"])


def _top_factors(text: str) -> list[str]:
    """Factors that no other factor explains."""
    model = parse_model(text)
    explained = {t.right for t in model.terms if t.op == LOADING}
    return [f for f in model.factors if f not in explained]


def _factor(name: str, items: Sequence[str]) -> str:
    """One line of a model text."""
    return f"{name} {LOADING} {' + '.join(items)}"


def _free_factor(name: str, items: Sequence[str]) -> str:
    """One line of a model text, with the first loading free."""
    return _factor(name, [f"NA*{item}" if k == 0 else item for k, item in enumerate(items)])

"""A measurement model as data: what the text says, and the parameters that follow from it.

`cfa_syntax.parse_model` turns text into a `ParsedModel`; `parameter_table` adds everything a reader
of such models expects without writing it (variances, covariances of the factors, the scale of each
factor) and numbers the free parameters. Estimators (`cfa_fit`, `wlsmv`) see only the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Scaling = Literal["marker", "std.lv"]
"""marker: the first loading of each factor is 1; std.lv: each factor has variance 1."""

LOADING, COVARIANCE, INTERCEPT = "=~", "~~", "~1"


@dataclass(frozen=True)
class Term:
    """One thing the text says, such as `a*x2` in `F =~ x1 + a*x2`.

    Parameters
    ----------
    left, op, right : names as written and the operator; `right` is empty for an intercept (`~1`).
    fixed : the value the text fixes the parameter to, or None.
    freed : True where the text says `NA*`, which undoes an automatic fixing.
    label : terms with the same label are one parameter.
    start : the value to begin the search at, or None.
    """

    left: str
    op: str
    right: str
    fixed: float | None = None
    freed: bool = False
    label: str | None = None
    start: float | None = None


@dataclass(frozen=True)
class ParsedModel:
    """What a model text says, with names sorted into factors and items.

    Parameters
    ----------
    text : the text as given.
    factors : names on the left of `=~`, in order of first mention.
    items : observed names, in order of first mention; never a factor.
    terms : everything said, in order.
    """

    text: str
    factors: tuple[str, ...]
    items: tuple[str, ...]
    terms: tuple[Term, ...]

    def indicators(self, factor: str) -> tuple[str, ...]:
        """Names that load on a factor: items, or factors in a second-order model."""
        return tuple(t.right for t in self.terms if t.op == LOADING and t.left == factor)

    def without(self, items: frozenset[str]) -> ParsedModel:
        """The same model with some items left out, for items that cannot be analysed.

        A factor that loses all it is measured by goes too. Where the first item of a factor goes
        and its loading was free (`NA*`), because the text gives the factor its scale elsewhere,
        the item that is first now is free as well.
        """
        gone = set(items)
        factors, terms = self.factors, self.terms
        while True:
            terms = tuple(t for t in terms if not {t.left, t.right} & gone)
            measured = {t.left for t in terms if t.op == LOADING}
            gone = set(factors) - measured
            if not gone:
                break
            factors = tuple(f for f in factors if f in measured)
        free = [self._first(terms, f) for f in factors if self._first(self.terms, f).freed]
        return replace(
            self,
            factors=factors,
            items=tuple(i for i in self.items if i not in items),
            terms=tuple(replace(t, freed=True) if t in free else t for t in terms),
        )

    @staticmethod
    def _first(terms: tuple[Term, ...], factor: str) -> Term:
        """The first loading of a factor."""
        return next(t for t in terms if t.op == LOADING and t.left == factor)


@dataclass(frozen=True)
class Parameter:
    """One cell of the model in one group.

    Parameters
    ----------
    group : position of the group, from 0.
    left, op, right : as in `Term`.
    free : position in the vector of free parameters, or -1 where the value is fixed. Parameters
        held equal share a position.
    value : the fixed value; NaN where free.
    label : the label in the text, or an empty string.
    start : the value to begin the search at; NaN for an automatic one.
    """

    group: int
    left: str
    op: str
    right: str
    free: int
    value: float
    label: str = ""
    start: float = float("nan")

    @property
    def is_free(self) -> bool:
        """Whether the value is estimated."""
        return self.free >= 0


@dataclass(frozen=True)
class ParameterTable:
    """All parameters of a model in all groups; cells not listed are 0.

    Parameters
    ----------
    items, factors : names, in the order of the rows and columns of every matrix.
    parameters : free and fixed cells.
    n_groups : number of groups.
    means : whether intercepts and factor means belong to the model.
    ordered : whether items are ordered answers with a latent variance of 1, so that residual
        variances are not parameters (they are 1 minus what the factors explain).
    """

    items: tuple[str, ...]
    factors: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    n_groups: int = 1
    means: bool = False
    ordered: bool = False

    @property
    def n_free(self) -> int:
        """Number of different free parameters."""
        return 1 + max((p.free for p in self.parameters), default=-1)

    def values(self, theta: np.ndarray) -> np.ndarray:
        """Value of every listed parameter at a vector of free ones; shape (len(parameters),)."""
        free = np.array([p.free for p in self.parameters])
        fixed = np.array([p.value for p in self.parameters])
        return np.where(free >= 0, np.append(theta, 0.0)[free], fixed)

"""Values computed from parameters of a model, such as an indirect effect: `indirect := a*b`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from core.stats.inputs import Floats

_LONGEST = 300  # characters
_LABEL = re.compile(r"(?<![\w.])[^\W\d][\w.]*")  # not the e of 1e-3

Value = tuple[float, Floats]
"""A number and its slopes by the free parameters, (q,)."""


@dataclass(frozen=True)
class Definition:
    """A value computed from parameters.

    `expression` has numbers, labels and names of earlier definitions, joined by + - * / ^ and
    parentheses; the exponent is a number.

    Examples
    --------
    By hand: the product of 2 and 3, and its slopes 3 and 2 by each of them.

    >>> indirect = Definition("indirect", "a*b")
    >>> indirect.names, indirect.problem
    (('a', 'b'), '')
    >>> value, slopes = indirect.value({"a": (2.0, np.eye(2)[0]), "b": (3.0, np.eye(2)[1])})
    >>> float(value), slopes.tolist()
    (6.0, [3.0, 2.0])
    """

    name: str
    expression: str

    @property
    def problem(self) -> str:
        """Why the expression cannot be computed; empty where it can."""
        if len(self.expression) > _LONGEST:
            return f"the expression has more than {_LONGEST} characters."
        try:
            unknown = [n for n in ast.walk(self._tree) if not _is_understood(n)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            unknown = [ast.Pass()]
        if unknown:
            return "write labels and numbers, joined by + - * / ^ and parentheses."
        return ""

    @property
    def names(self) -> tuple[str, ...]:
        """Labels and earlier definitions that the expression has."""
        return tuple(dict.fromkeys(_LABEL.findall(self.expression)))

    def value(self, values: Mapping[str, Value]) -> Value:
        """The number and its slopes, from those of the names; NaN where it is infinite."""
        stand_ins = {f"v{k}": values[name] for k, name in enumerate(self.names)}
        with np.errstate(all="ignore"):
            number, slopes = _value(self._tree, stand_ins)
        return (number, slopes) if math.isfinite(number) else (math.nan, slopes * math.nan)

    def renamed(self, rename: Callable[[str], str]) -> Definition:
        """The same with other names, and nothing in the expression but what is understood.

        Examples
        --------
        >>> Definition("total", "c + 2*(a.x - b)^2").renamed(str.upper)
        Definition(name='TOTAL', expression='C + 2 * (A.X - B) ^ 2')
        """
        names = [rename(name) for name in self.names]
        text = re.sub(r"\bv(\d+)\b", lambda v: names[int(v[1])], ast.unparse(self._tree))
        return Definition(rename(self.name), text.replace("**", "^"))

    @property
    def _tree(self) -> ast.expr:
        """The expression with v0, v1, ... for its names, which Python may read as words."""
        stand_ins = {name: f"v{k}" for k, name in enumerate(self.names)}
        text = _LABEL.sub(lambda label: stand_ins[label[0]], self.expression.strip())
        return ast.parse(text.replace("^", "**"), mode="eval").body


def _is_understood(node: ast.AST) -> bool:
    """Whether a part of an expression can be computed."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return not any(isinstance(n, ast.Name) for n in ast.walk(node.right))
    allowed = (ast.BinOp, ast.UnaryOp, ast.Name, ast.Load)
    signs = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UAdd, ast.USub)
    return isinstance(node, (*allowed, *signs))


def _value(node: ast.expr, values: Mapping[str, Value]) -> Value:
    """The number of a part, with its slopes by the rules of differentiation."""
    if isinstance(node, ast.Constant):
        some = next(iter(values.values()))[1]
        return float(str(node.value)), np.zeros_like(some)
    if isinstance(node, ast.UnaryOp):
        sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
        number, slopes = _value(node.operand, values)
        return sign * number, sign * slopes
    if not isinstance(node, ast.BinOp):
        return values[ast.unparse(node)]
    (u, du), (v, dv) = (tuple(map(np.asarray, _value(n, values))) for n in (node.left, node.right))
    if isinstance(node.op, ast.Add):
        return float(u + v), du + dv
    if isinstance(node.op, ast.Sub):
        return float(u - v), du - dv
    if isinstance(node.op, ast.Mult):
        return float(u * v), u * dv + v * du
    if isinstance(node.op, ast.Div):
        return float(u / v), (du * v - u * dv) / v**2
    return float(u**v), v * u ** (v - 1) * du

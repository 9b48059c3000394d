"""The options each analysis is run with: all at their defaults, then one at a time another way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.analysis.kit.registry import (
    Analysis,
    AnalysisOption,
    Choice,
    DesignFactors,
    Number,
    Numbers,
    Switch,
)
from core.domain.factors import CONTEXT_SET, REWRITING
from core.domain.frames import ITEM_SCORES

MOST_LEVELS = 6  # of a factor that results are set side by side by
NO_ROWS = ("item", "respondent", "model", "context")  # never averaged over here
_WAYS = {
    Choice: "choices",
    Switch: "choices",
    DesignFactors: "factors",
    Number: "numbers",
    Numbers: "numbers",
}


@dataclass(frozen=True)
class Case:
    """One way of running an analysis. `name` is part of a path, `way` one of the kinds below."""

    name: str
    way: str
    options: Mapping[str, Any]
    over: tuple[str, ...] = ()
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def cases(
    analysis: Analysis,
    levels: Mapping[str, Sequence[Any]],
    given: Mapping[str, Any],
    more: Mapping[str, Sequence[Any]],
) -> Iterator[Case]:
    """Every case of an analysis for a study whose factors have these levels.

    `given` holds values that the study needs for options, such as another study to compare with;
    `more` holds further values to try. Both name options, which an analysis may not have.
    """
    names = [option.name for option in analysis.options]
    base = {name: value for name, value in given.items() if name in names}
    yield Case("default", "default", base)
    if base:
        yield Case("nothing given", "more", {})
    for option in analysis.options:
        now = base.get(option.name, option.default)
        for value in other_values(option, now, levels):
            yield _with(base, option, _WAYS[type(option.kind)], value)
        for value in more.get(option.name, ()):
            if isinstance(option.kind, Choice) and value not in dict(option.kind.choices):
                continue
            yield _with(base, option, "more", value)
    yield from _rows(analysis, levels, base)


def _with(base: Mapping[str, Any], option: AnalysisOption, way: str, value: Any) -> Case:
    return Case(f"{option.name}={in_a_path(value)}", way, {**base, option.name: value})


def _rows(
    analysis: Analysis, levels: Mapping[str, Sequence[Any]], base: Mapping[str, Any]
) -> Iterator[Case]:
    """Averaging over a factor, a filter on it, and a filter on items."""
    factor = next((name for name in levels if name not in NO_ROWS), "")
    if factor and analysis.needs is ITEM_SCORES:
        yield Case(f"over={factor}", "rows", base, over=(factor,))
    if factor:
        yield Case(f"only first {factor}", "rows", base, where={factor: list(levels[factor])[:1]})
    half = list(levels["item"])[: len(levels["item"]) // 2]
    yield Case("only first items", "rows", base, where={"item": half})


def other_values(
    option: AnalysisOption, now: Any, levels: Mapping[str, Sequence[Any]]
) -> tuple[Any, ...]:
    """What an option may be other than it is: every choice, each factor, another number."""
    kind = option.kind
    if isinstance(kind, Choice):
        return tuple(word for word, _ in kind.choices if word != now)
    if isinstance(kind, Switch):
        return (not now,)
    if isinstance(kind, DesignFactors):
        few = [
            name
            for name in levels
            if name not in ("item", "model") and len(levels[name]) <= MOST_LEVELS
        ]
        alone = [(name,) for name in (*few, CONTEXT_SET, REWRITING)]
        return tuple(value for value in [(), *alone, tuple(few[:2])] if value != tuple(now))
    if isinstance(kind, Number):
        other = another_number(kind, now)
        return (round(other) if isinstance(option.default, int) else float(other),)
    if isinstance(kind, Numbers):
        return (tuple(value / 2 for value in now),)
    return ()


def another_number(kind: Number, now: float) -> float:
    """Halfway to the lowest; where it is the lowest, a little more."""
    if now == kind.low:
        return kind.low + max(1, (kind.high - kind.low) / 50)
    return (kind.low + now) / 2


def in_a_path(value: Any) -> str:
    """A value as a part of a path."""
    text = "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return re.sub(r"[^\w.+-]+", "_", text).strip("_")[:40] or "none"

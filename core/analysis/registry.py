"""The list of analyses, filled by a decorator.

Options are read from the function's own signature, so the form a page draws, the command line's
`--option` and the arguments the function accepts cannot disagree.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from core.analysis.result import AnalysisResult
from core.domain.frames import FrameSpec
from core.domain.study import FACTORS
from core.errors import NotEnoughData


@dataclass(frozen=True)
class Number:
    """A bounded number the user may set."""

    label: str
    low: float
    high: float
    help: str = ""


@dataclass(frozen=True)
class Choice:
    """One of a few words. `choices` maps the word to what the user reads."""

    label: str
    choices: tuple[tuple[str, str], ...]
    help: str = ""


@dataclass(frozen=True)
class Factors:
    """Any of the design's factors, e.g. what to set side by side."""

    label: str
    help: str = ""


OptionKind = Number | Choice | Factors


@dataclass(frozen=True)
class AnalysisOption:
    """One setting of an analysis, as a page needs it."""

    name: str
    kind: OptionKind
    default: Any

    def number(self, value: float) -> float:
        """`value` as this option takes it: whole where its default is whole."""
        return round(value) if isinstance(self.default, int) else float(value)


@dataclass(frozen=True)
class Analysis:
    """A registered analysis."""

    name: str
    title: str
    question: str
    needs: FrameSpec
    references: tuple[str, ...]
    run: Callable[..., AnalysisResult]
    options: tuple[AnalysisOption, ...]


_F = TypeVar("_F", bound=Callable[..., AnalysisResult])
_analyses: dict[str, Analysis] = {}


def analysis(
    *, title: str, question: str, needs: FrameSpec, references: tuple[str, ...]
) -> Callable[[_F], _F]:
    """Register a function of (tidy frame, *, options) under its own name."""

    def register(function: _F) -> _F:
        name = function.__name__
        if name in _analyses:
            raise ValueError(f"two analyses are called {name!r}")
        _analyses[name] = Analysis(
            name, title, question, needs, references, function, _options(function)
        )
        return function

    return register


def all_analyses() -> tuple[Analysis, ...]:
    """Every analysis, in order of registration (the alphabet of their file names)."""
    return tuple(_analyses.values())


def parse_option(option: AnalysisOption, text: str) -> Any:
    """The value that `text` (from the command line) stands for, checked against its kind."""
    kind = option.kind
    if isinstance(kind, Number):
        return _parse_number(option, kind, text)
    if isinstance(kind, Choice):
        allowed = [word for word, _ in kind.choices]
        if text not in allowed:
            raise _not_allowed(option, text, ", ".join(allowed))
        return text
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in FACTORS:
            raise _not_allowed(option, name, ", ".join(FACTORS))
    return names


def _parse_number(option: AnalysisOption, kind: Number, text: str) -> float:
    try:
        value = option.number(float(text))
    except ValueError:
        raise _not_allowed(option, text, f"a number from {kind.low} to {kind.high}") from None
    if not kind.low <= value <= kind.high:
        raise _not_allowed(option, text, f"a number from {kind.low} to {kind.high}")
    return value


def _not_allowed(option: AnalysisOption, text: str, allowed: str) -> NotEnoughData:
    return NotEnoughData(f"Option '{option.name}' cannot be '{text}'.", f"Use one of: {allowed}.")


def _options(function: Callable[..., AnalysisResult]) -> tuple[AnalysisOption, ...]:
    hints = get_type_hints(function, include_extras=True)
    found: list[AnalysisOption] = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if get_origin(hint) is Annotated:
            found.append(AnalysisOption(name, get_args(hint)[1], parameter.default))
    return tuple(found)

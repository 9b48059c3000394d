"""The list of analyses, filled by a decorator.

Options are read from the function's own signature, so the form a page draws, the command line's
`--option` and the arguments the function accepts cannot disagree.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from core.domain.frames import GROUPINGS, FrameSpec
from core.domain.results import AnalysisResult, TextFile
from core.errors import NotEnoughData

Topic = Literal[
    "item_statistics", "reliability", "validity", "factors", "comparability", "validation_report"
]
"""The page an analysis stands on, by the name of its file."""


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


@dataclass(frozen=True)
class Text:
    """A text the user types; of several lines where `lines` is more than 1."""

    label: str
    lines: int = 1
    help: str = ""


@dataclass(frozen=True)
class Numbers:
    """A few bounded numbers, typed with spaces or commas between them."""

    label: str
    low: float
    high: float
    help: str = ""


@dataclass(frozen=True)
class Rows:
    """A small table the user fills in: `columns` are (name, what the user reads, "text"|"number").

    The value is a tuple of rows, each a tuple of texts and floats; on the command line rows are
    divided by semicolons and cells by commas.
    """

    label: str
    columns: tuple[tuple[str, str, Literal["text", "number"]], ...]
    help: str = ""


@dataclass(frozen=True)
class Beside:
    """Something else on file to bring in: the user chooses its name, the analysis gets its frame.

    "item_scores" is another study's ITEM_SCORES, "texts" another study's TEXTS, "word_lists" a
    bank of words as a frame with the columns `list` and `entry`. None where nothing is chosen.
    """

    label: str
    of: Literal["item_scores", "texts", "word_lists"]
    help: str = ""


OptionKind = Number | Choice | Factors | Text | Numbers | Rows | Beside


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
    topic: Topic
    needs: FrameSpec
    references: tuple[str, ...]
    run: Callable[..., AnalysisResult]
    options: tuple[AnalysisOption, ...]
    syntax: Callable[..., tuple[TextFile, ...]] | None = None
    """Scripts for other software and their data, from the same arguments as `run`."""


_F = TypeVar("_F", bound=Callable[..., AnalysisResult])
_analyses: dict[str, Analysis] = {}


def analysis(
    *,
    title: str,
    question: str,
    topic: Topic,
    needs: FrameSpec,
    references: tuple[str, ...],
    syntax: Callable[..., tuple[TextFile, ...]] | None = None,
) -> Callable[[_F], _F]:
    """Register a function of (tidy frame, *, options) under its own name."""

    def register(function: _F) -> _F:
        name = function.__name__
        if name in _analyses:
            raise ValueError(f"two analyses are called {name!r}")
        _analyses[name] = Analysis(
            name, title, question, topic, needs, references, function, _options(function), syntax
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
    if isinstance(kind, Factors):
        return _parse_factors(option, text)
    if isinstance(kind, Numbers):
        return parse_numbers(option, kind, text)
    if isinstance(kind, Rows):
        return tuple(_parse_row(option, kind, row) for row in text.split(";") if row.strip())
    return text.replace("\\n", "\n") if isinstance(kind, Text) else text


def parse_numbers(option: AnalysisOption, kind: Numbers, text: str) -> tuple[float, ...]:
    """The numbers typed with spaces, commas or semicolons between them."""
    allowed = f"numbers from {kind.low:g} to {kind.high:g}"
    if re.fullmatch(r"\s*-?\d+,\d+(\s+-?\d+,\d+)+\s*", text):  # decimal commas
        text = text.replace(",", ".")
    try:
        values = tuple(float(word) for word in text.replace(",", " ").replace(";", " ").split())
    except ValueError:
        raise _not_allowed(option, text, allowed) from None
    if not all(kind.low <= value <= kind.high for value in values):
        raise _not_allowed(option, text, allowed)
    return values


def _parse_factors(option: AnalysisOption, text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in GROUPINGS:
            raise _not_allowed(option, name, ", ".join(GROUPINGS))
    return names


def _parse_row(option: AnalysisOption, kind: Rows, text: str) -> tuple[str | float, ...]:
    cells = [cell.strip() for cell in text.split(",")]
    shape = ",".join(name for name, _, _ in kind.columns)
    if len(cells) != len(kind.columns):
        raise _not_allowed(option, text, f"rows of {shape}")
    row: list[str | float] = []
    for cell, (name, _, what) in zip(cells, kind.columns, strict=True):
        try:
            row.append(float(cell) if what == "number" else cell)
        except ValueError:
            raise _not_allowed(option, text, f"a number as {name} in rows of {shape}") from None
    return tuple(row)


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

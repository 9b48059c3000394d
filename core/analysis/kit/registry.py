"""The list of analyses, filled by a decorator: all that an analysis has is declared there.

Options are read from the function's own signature, so the form a page draws, the command line's
`--option` and the arguments the function accepts cannot disagree. Options of its charts are read
from the signature of the function that draws them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from core.analysis.kit.sentences import GroupAnswers
from core.charts.panels import Chart
from core.domain.attributes import is_attribute
from core.domain.factors import GROUPINGS, is_grouping
from core.domain.frames import FrameSpec
from core.domain.results import AnalysisResult, TextFile
from core.domain.wide_scores import ItemScores
from core.errors import WrongOption

Topic = Literal[
    "item_statistics",
    "reliability",
    "validity",
    "factors",
    "comparability",
    "validation_report",
    "consistency",
    "bias",
    "opinions",
    "words",
    "worldview",
    "languages",
    "unexpected_outputs",
]
"""The page an analysis stands on, by the name of its file."""


Requirement = Literal[
    "scores",
    "words",
    "entities",
    "pairs",
    "formats",
    "repetitions",
    "languages",
    "forms",
    "phases",
    "domains",
    "annotations",
    "ratings",
    "norms",
]
"""What a study must have for an analysis: several of the level that is named, options with points,
a list of words, a second phase, loadings on domains, codes of annotators, ratings of a judge, or
norms to type in."""


class NotAllowed(ValueError):
    """A value that an option does not take: `part` of it, where it takes what `allowed` says."""

    def __init__(self, part: object, allowed: str) -> None:
        super().__init__(f"{part} is not {allowed}")
        self.part, self.allowed = part, allowed


class OptionKind(Protocol):
    """A kind of option. Pages have a widget for each (pages/shared/analysis_options.py)."""

    @property
    def label(self) -> str:
        """The name of the option as the user reads it."""

    @property
    def help(self) -> str:
        """Its tooltip; may be empty."""

    def parse(self, text: str, default: Any) -> Any:
        """The value that a text from the command line stands for.

        Raises
        ------
        NotAllowed
            The option does not take this text.
        """

    def restore(self, stored: Any, default: Any) -> Any:
        """The value from its stored JSON.

        Raises
        ------
        NotAllowed
            The option does not take this value, or no longer does.
        """


@dataclass(frozen=True)
class Number:
    """A bounded number the user may set; whole where its default is whole."""

    label: str
    low: float
    high: float
    help: str = ""

    def bounds(self, default: Any) -> tuple[float, float]:
        """The lowest and the highest value, whole where the default is."""
        return _as_default(default, self.low), _as_default(default, self.high)

    def parse(self, text: str, default: Any) -> float:
        """The number, rounded where the default is whole."""
        try:
            value = _as_default(default, float(text))
        except (ValueError, OverflowError):
            raise NotAllowed(text, self._allowed) from None
        if not self.low <= value <= self.high:
            raise NotAllowed(text, self._allowed)
        return value

    def restore(self, stored: Any, default: Any) -> float:
        """The number, if it is within the bounds."""
        if not isinstance(stored, int | float) or not self.low <= stored <= self.high:
            raise NotAllowed(stored, self._allowed)
        return _as_default(default, stored)

    @property
    def _allowed(self) -> str:
        return f"a number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Choice:
    """One of a few words. `choices` maps the word to what the user reads."""

    label: str
    choices: tuple[tuple[str, str], ...]
    help: str = ""

    def parse(self, text: str, _default: Any) -> str:
        """The word, if it is one of the choices."""
        return self.restore(text, _default)

    def restore(self, stored: Any, _default: Any) -> str:
        """The word, if it is one of the choices."""
        words = [word for word, _ in self.choices]
        if stored not in words:
            raise NotAllowed(stored, ", ".join(words))
        return str(stored)


@dataclass(frozen=True)
class Switch:
    """Something to switch on."""

    label: str
    help: str = ""

    def parse(self, text: str, _default: Any) -> bool:
        """Whether the text is yes."""
        if text not in ("yes", "no"):
            raise NotAllowed(text, "yes, no")
        return text == "yes"

    def restore(self, stored: Any, _default: Any) -> bool:
        """Whether it was switched on."""
        if not isinstance(stored, bool):
            raise NotAllowed(stored, "yes, no")
        return stored


@dataclass(frozen=True)
class DesignFactors:
    """Any of the design's factors or attributes of items, such as those to set side by side."""

    label: str
    help: str = ""

    def parse(self, text: str, _default: Any) -> tuple[str, ...]:
        """The factors, which stand between commas."""
        return self._known([name.strip() for name in text.split(",") if name.strip()])

    def restore(self, stored: Any, _default: Any) -> tuple[str, ...]:
        """The factors, if the design still has them."""
        if not isinstance(stored, list):
            raise NotAllowed(stored, self._allowed)
        return self._known(stored)

    def _known(self, names: list[str]) -> tuple[str, ...]:
        for name in names:
            if not is_grouping(name):
                raise NotAllowed(name, self._allowed)
        return tuple(names)

    @property
    def _allowed(self) -> str:
        return (
            f"{', '.join(GROUPINGS)}, a fact such as person.gender, or an attribute such as "
            "item.genre"
        )


@dataclass(frozen=True)
class ComparedFactor:
    """The factor whose levels an analysis compares: any but attributes of items.

    `first` are those that are taken first where nobody has chosen one, and `then_facts` says
    whether a fact about people is, where they do not vary. `never` are those that cannot be
    compared here, each with the reason in a sentence.
    """

    label: str
    first: tuple[str, ...] = ()
    then_facts: bool = False
    never: tuple[tuple[str, str], ...] = ()
    help: str = ""

    def why_not(self, name: str) -> str:
        """Why a grouping cannot be compared here; empty where it can."""
        if is_attribute(name):
            return (
                "Levels are compared over the same items, and an attribute of items gives each "
                "level other items."
            )
        return dict(self.never).get(name, "")

    def parse(self, text: str, _default: Any) -> str:
        """The factor, if it can be compared."""
        return self.restore(text, _default)

    def restore(self, stored: Any, _default: Any) -> str:
        """The factor, if it can be compared."""
        if not isinstance(stored, str) or not is_grouping(stored):
            raise NotAllowed(stored, self._allowed)
        if why := self.why_not(stored):
            raise NotAllowed(stored, f"compared here. {why} Use {self._allowed}")
        return stored

    @property
    def _allowed(self) -> str:
        known = (name for name in GROUPINGS if not self.why_not(name))
        return f"{', '.join(known)}, or a fact such as person.gender"


@dataclass(frozen=True)
class Text:
    """A text the user types; of several lines where `lines` is more than 1."""

    label: str
    lines: int = 1
    help: str = ""

    def parse(self, text: str, _default: Any) -> str:
        r"""The text, in which \n begins a line."""
        return text.replace("\\n", "\n")

    def restore(self, stored: Any, _default: Any) -> str:
        """The text."""
        return _text(stored)


@dataclass(frozen=True)
class Numbers:
    """A few bounded numbers, typed with spaces, commas or semicolons between them."""

    label: str
    low: float
    high: float
    help: str = ""

    def parse(self, text: str, _default: Any) -> tuple[float, ...]:
        """The numbers; their decimals may follow a comma."""
        typed = text
        if re.fullmatch(r"\s*-?\d+,\d+(\s+-?\d+,\d+)+\s*", text):  # decimal commas
            typed = text.replace(",", ".")
        try:
            values = [float(word) for word in typed.replace(",", " ").replace(";", " ").split()]
        except ValueError:
            raise NotAllowed(text, self._allowed) from None
        return self._within(values, typed)

    def restore(self, stored: Any, _default: Any) -> tuple[float, ...]:
        """The numbers, if all are within the bounds."""
        if not isinstance(stored, list):
            raise NotAllowed(stored, self._allowed)
        return self._within(stored, stored)

    def _within(self, values: list[float], given: object) -> tuple[float, ...]:
        if not all(self.low <= value <= self.high for value in values):
            raise NotAllowed(given, self._allowed)
        return tuple(map(float, values))

    @property
    def _allowed(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Rows:
    """A small table the user fills in: `columns` are (name, what the user reads, "text"|"number").

    The value is a tuple of rows, each a tuple of texts and floats; on the command line rows are
    divided by semicolons and cells by commas.
    """

    label: str
    columns: tuple[tuple[str, str, Literal["text", "number"]], ...]
    help: str = ""
    seldom: bool = False
    """Whether it is for few studies, so that pages have it under More options."""

    def parse(self, text: str, _default: Any) -> tuple[tuple[str | float, ...], ...]:
        """The rows."""
        return tuple(self._row(row) for row in text.split(";") if row.strip())

    def restore(self, stored: Any, _default: Any) -> tuple[tuple[str | float, ...], ...]:
        """The rows, if each has a cell for every column."""
        if not isinstance(stored, list) or any(len(row) != len(self.columns) for row in stored):
            raise NotAllowed(stored, self._allowed)
        return tuple(map(tuple, stored))

    def _row(self, text: str) -> tuple[str | float, ...]:
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) != len(self.columns):
            raise NotAllowed(text, self._allowed)
        row: list[str | float] = []
        for cell, (name, _, what) in zip(cells, self.columns, strict=True):
            try:
                row.append(float(cell) if what == "number" else cell)
            except ValueError:
                raise NotAllowed(text, f"a number as {name} in {self._allowed}") from None
        return tuple(row)

    @property
    def _allowed(self) -> str:
        return f"rows of {','.join(name for name, _, _ in self.columns)}"


@dataclass(frozen=True)
class FactorLevel:
    """A level of the factor that the option `of` names; empty where the user chooses none."""

    label: str
    of: str
    help: str = ""

    def parse(self, text: str, _default: Any) -> str:
        """The level."""
        return text

    def restore(self, stored: Any, _default: Any) -> str:
        """The level; one that the answers do not have is as good as none."""
        return _text(stored)


@dataclass(frozen=True)
class OtherData:
    """Something else on file to bring in: the user chooses its name, the analysis gets its frame.

    "item_scores" is another study's ITEM_SCORES, "texts" another study's TEXTS, "word_lists" a
    bank of words as a frame with the columns `list` and `entry`. None where nothing is chosen.
    """

    label: str
    of: Literal["item_scores", "texts", "word_lists"]
    help: str = ""

    def parse(self, text: str, _default: Any) -> str:
        """The name."""
        return text

    def restore(self, stored: Any, _default: Any) -> str:
        """The name."""
        return _text(stored)


@dataclass(frozen=True)
class BankTable:
    """A table of the studies' banks (core/domain/frames.py, BANK_TABLES) as a further argument.

    It is no option: the workflow always gives it, without rows where the banks say nothing.
    "templates" are those of the studies.
    """

    of: Literal["items", "wordings", "loadings", "positions", "annotations", "templates"]


def _text(stored: Any) -> str:
    if not isinstance(stored, str):
        raise NotAllowed(stored, "a text")
    return stored


def _as_default(default: Any, value: float) -> float:
    """The value, whole where the default is whole."""
    return round(value) if isinstance(default, int) else float(value)


@dataclass(frozen=True)
class AnalysisOption:
    """One setting of an analysis, or of its charts."""

    name: str
    kind: OptionKind
    default: Any

    @property
    def initial(self) -> Any:
        """What a page shows before anything is chosen; no other data have no name."""
        return "" if self.default is None else self.default


KeptRole = Literal["averaged", "apart", "together"]


@dataclass(frozen=True)
class Analysis:
    """A registered analysis; the arguments of `analysis` say what its parts are."""

    name: str
    title: str
    question: str
    topic: Topic
    needs: FrameSpec
    references: tuple[str, ...]
    pooled_rows_need_caution: bool
    takes_averages: bool
    averages_units: bool
    answer: Callable[[AnalysisResult], GroupAnswers]
    run: Callable[..., AnalysisResult]
    charts: Callable[..., tuple[Chart, ...]] | None
    scripts: Callable[..., tuple[TextFile, ...]] | None
    keywords: tuple[str, ...]
    compares: tuple[str, ...]
    verdict: str
    keeps: tuple[str, ...]
    kept_are: KeptRole
    rows_by: tuple[str, ...]
    side_by_side: tuple[str, ...]
    requires: Requirement | None
    in_reports: bool
    first_phase: bool

    @property
    def options(self) -> tuple[AnalysisOption, ...]:
        """What the user may set."""
        return _options(self.run)

    @property
    def factor_option(self) -> str:
        """The name of the option that says what is compared; empty where there is none."""
        own = (o.name for o in self.options if isinstance(o.kind, ComparedFactor))
        return next(own, "")

    def compared(self, options: Mapping[str, Any]) -> str:
        """The factor whose levels are compared; empty where none is."""
        default = next((o.default for o in self.options if o.name == self.factor_option), "")
        return str(options.get(self.factor_option, default))

    @property
    def takes_wide_table(self) -> bool:
        """Whether its first argument, ITEM_SCORES, may be a wide table."""
        first = next(iter(inspect.signature(self.run).parameters))
        return bool(get_type_hints(self.run)[first] == ItemScores)

    @property
    def bank_tables(self) -> tuple[tuple[str, BankTable], ...]:
        """The arguments that take a table of the studies' banks, by name."""
        return _annotated(self.run, BankTable)

    @property
    def chart_options(self) -> tuple[AnalysisOption, ...]:
        """What the user may set about the charts alone, which changes no number."""
        return _options(self.charts) if self.charts else ()


_F = TypeVar("_F", bound=Callable[..., AnalysisResult])
_T = TypeVar("_T")
_analyses: dict[str, Analysis] = {}


def analysis(
    *,
    title: str,
    question: str,
    topic: Topic,
    needs: FrameSpec,
    references: tuple[str, ...],
    pooled_rows_need_caution: bool,
    answer: Callable[[AnalysisResult], GroupAnswers],
    takes_averages: bool = True,
    averages_units: bool = False,
    charts: Callable[..., tuple[Chart, ...]] | None = None,
    scripts: Callable[..., tuple[TextFile, ...]] | None = None,
    keywords: tuple[str, ...] = (),
    compares: tuple[str, ...] = (),
    verdict: str = "",
    keeps: tuple[str, ...] = (),
    kept_are: KeptRole = "averaged",
    rows_by: tuple[str, ...] = (),
    side_by_side: tuple[str, ...] = (),
    requires: Requirement | None = None,
    in_reports: bool = False,
    first_phase: bool = False,
) -> Callable[[_F], _F]:
    """Register a function of (tidy frame, *, options) under its own name.

    Parameters
    ----------
    title, question, topic, needs, references
        Its name and question, its page, the frame it takes, and the sources of formulas and rules.
    pooled_rows_need_caution : bool
        Whether n, intervals and p take every row for an individual, so that a caution belongs with
        rows that are several ways of asking the same individual. An analysis of OPTION_COUNTS
        with it begins with entities and ways of asking side by side, as one that compares does.
    takes_averages : bool
        Whether scores may be means of several answers. Where they may not, as each must be one of
        a few options, repetitions of the same individual are set apart and not averaged.
    averages_units : bool
        Whether the analysis itself averages all answers of a person or context in what it
        compares, so that whatever else was asked makes no further rows of it.
    answer : function of a result
        The sentence that answers the question with its numbers, for each group by its name.
    charts, scripts : functions, optional
        Draws its charts, from (result, theme, *, options); scripts for other software that compute
        the same, with their data, from the arguments of the analysis.
    keywords : tuple of str
        Further words that people search for, such as "alpha" or "Cronbach".
    compares : tuple of factors
        Those whose levels it compares whatever its options say.
    verdict : str
        What its lights mean, with bounds and their source, where its answers have some.
    keeps : tuple of factors
        Those that its OPTION_COUNTS keep apart, beside `by` and factors that an option names. An
        analysis that keeps `format` knows what to do with several formats.
    kept_are : "averaged", "apart" or "together"
        What it does with them: its numbers are means over them, each of their levels is a group,
        or it counts them together on purpose, beside what it compares.
    rows_by : tuple of factors
        Where a row is a combination of these: its scores are averaged over all others.
    side_by_side : tuple of factors
        Those that `by` begins with where the answers vary in them, of an analysis that pools other
        ways of asking without a caution.
    requires, in_reports
        What a study must have, beside the frame; whether a report of such a study begins with it.
    first_phase : bool
        Whether answers of the first phase alone count, where phases are not set apart.
    """

    def register(function: _F) -> _F:
        name = function.__name__
        if name in _analyses:
            raise ValueError(f"two analyses are called {name!r}")
        _analyses[name] = Analysis(
            name,
            title,
            question,
            topic,
            needs,
            references,
            pooled_rows_need_caution,
            takes_averages,
            averages_units,
            answer,
            function,
            charts,
            scripts,
            keywords,
            compares,
            verdict,
            keeps,
            kept_are,
            rows_by,
            side_by_side,
            requires,
            in_reports,
            first_phase,
        )
        return function

    return register


def all_analyses() -> tuple[Analysis, ...]:
    """Every analysis, in the alphabet of their names; those of installed packages are the last."""
    installed = {name: not a.run.__module__.startswith("core.") for name, a in _analyses.items()}
    return tuple(_analyses[name] for name in sorted(_analyses, key=lambda n: (installed[n], n)))


def parse_option(option: AnalysisOption, text: str) -> Any:
    """The value that `text` (from the command line) stands for.

    Raises
    ------
    NotEnoughData
        The option does not take this text.
    """
    try:
        return option.kind.parse(text, option.default)
    except NotAllowed as error:
        raise WrongOption(
            f"Option '{option.name}' cannot be '{error.part}'.", f"Use one of: {error.allowed}."
        ) from None


def option_text(value: Any) -> str:
    """The value of an option as the command line takes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        rows = all(isinstance(part, tuple | list) for part in value) and bool(value)
        return (";" if rows else ",").join(map(option_text, value))
    return str(value).replace("\n", "\\n")


@cache
def _options(function: Callable[..., Any]) -> tuple[AnalysisOption, ...]:
    """The options in a signature: the parameters that are annotated with a kind."""
    defaults = inspect.signature(function).parameters
    return tuple(
        AnalysisOption(name, cast("OptionKind", kind), defaults[name].default)
        for name, kind in _annotated(function, object)
        if not isinstance(kind, BankTable)
    )


def _annotated(function: Callable[..., Any], kind: type[_T]) -> tuple[tuple[str, _T], ...]:
    """The parameters of a function with their annotations of that kind, in order."""
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        (name, get_args(hints[name])[1])
        for name in inspect.signature(function).parameters
        if get_origin(hints.get(name)) is Annotated and isinstance(get_args(hints[name])[1], kind)
    )

"""What a user chooses for a report: analyses with their options, title and authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args

from core.analysis.kit.registry import Analysis, ComparedFactor, Topic
from core.domain.factors import Filters
from core.domain.frames import RATINGS, TEXTS
from core.domain.study import FACTORS
from core.errors import DesignError
from core.workflow import saved_inputs
from core.workflow.answers import browsing, texts
from core.workflow.statistics import analyses, fits, frames
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.statistics.frames import ChosenAnswers
from core.workflow.workspace import Workspace

_MOST_GROUPS = 12
"""Levels of a factor that are worth comparing; more, such as personas, are individuals."""
LONGEST_TABLE = 60
"""Rows of a table that a report prints where the user chooses no other number."""


@dataclass(frozen=True)
class ReportRequest:
    """A report to make: of a study, with analyses in their order.

    Tables of more than `longest_table` rows are named and not printed.
    """

    study: str
    title: str
    authors: tuple[str, ...]
    analyses: tuple[AnalysisRequest, ...]
    made_on: datetime
    where: Filters = field(default_factory=dict)
    longest_table: int = LONGEST_TABLE


@dataclass(frozen=True)
class ReportChoices:
    """What is saved for the report of a study. `analyses` are names, in their order."""

    title: str
    authors: str
    analyses: tuple[str, ...]
    longest_table: int = LONGEST_TABLE


@dataclass(frozen=True)
class Offer:
    """An analysis on offer for a report. `fault`: why it says nothing of the study; empty: it fits.

    `usual`: whether a report begins with it.
    """

    analysis: Analysis
    fault: str
    usual: bool


_NOTHING_VARIES = "No factor varies whose levels it could compare."


def offers(workspace: Workspace, study: str) -> tuple[Offer, ...]:
    """Every analysis with the reason why it does not fit the study, if there is one."""
    has = fits.what_a_study_has(workspace, study)
    levels = browsing.levels(workspace, study)
    writes, rates = texts.has_texts(workspace, study), texts.has_ratings(workspace, study)
    rows = len(levels.get("context", ())) or len(levels.get("repetition", ()))
    has_enough_rows = rows > len(browsing.asked_items(workspace, study))
    listed = []
    for analysis in sorted(analyses.all_analyses(), key=_place):
        fault = ""
        if analysis.needs in (TEXTS, RATINGS):
            asked = writes if analysis.needs is TEXTS else rates
            fault = "" if asked else f"The study has no {analysis.needs.noun}."
        elif (writes or rates) and not frames.scores_texts(analysis):
            fault = "The study has no answers that choose an option."
        elif writes or rates:
            fault = "" if _compares_levels(analysis, levels) else _NOTHING_VARIES
        elif lacking := fits.what_is_lacking(workspace, study, analysis, has):
            fault = lacking
        elif not _compares_levels(analysis, levels):
            fault = _NOTHING_VARIES
        # Lists of words that nobody has chosen say little of the texts, and few rows of factors.
        usual = analysis.in_reports and not ((writes or rates) and frames.scores_texts(analysis))
        usual = usual and (analysis.topic != "factors" or has_enough_rows)
        listed.append(Offer(analysis, fault, not fault and usual))
    return tuple(listed)


def _place(analysis: Analysis) -> tuple[int, bool]:
    """The order of topics, in each the analysis with the name of the topic first."""
    return get_args(Topic).index(analysis.topic), analysis.name != analysis.topic


def _compares_levels(analysis: Analysis, levels: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a factor on offer varies, of an analysis that compares the levels of one."""
    kinds = [o.kind for o in analysis.options if isinstance(o.kind, ComparedFactor)]
    return not kinds or any(
        1 < len(values) <= _MOST_GROUPS and not kind.why_not(name)
        for kind in kinds
        for name, values in levels.items()
        if name in FACTORS
    )


def saved(workspace: Workspace, study: str) -> ReportChoices:
    """What was last chosen for the report of a study, or what a report begins with."""
    offered = {one.analysis.name: one for one in offers(workspace, study)}
    usual = tuple(name for name, one in offered.items() if one.usual)
    draft = saved_inputs.load(workspace, _name(study))
    value = draft.value if draft and isinstance(draft.value, dict) else {}
    names = value.get("analyses")
    kept = tuple(n for n in names if n in offered) if isinstance(names, list) else usual
    longest = value.get("longest_table")
    return ReportChoices(
        str(value.get("title") or f"Report on the study {study}"),
        str(value.get("authors") or ""),
        kept,
        longest if isinstance(longest, int) and longest > 0 else LONGEST_TABLE,
    )


def save(workspace: Workspace, study: str, **fields: Any) -> None:
    """Keep some of the choices: title, authors, analyses, longest_table.

    Raises
    ------
    DesignError
        A text looks like the key of a service, which must not be stored.
    """
    for value in fields.values():
        if isinstance(value, str) and saved_inputs.looks_like_key(value):
            raise DesignError(
                "This text looks like the key of a service and was not kept.", "Take it out."
            )
    saved_inputs.update(workspace, _name(study), fields)


def _name(study: str) -> str:
    return f"report:{study}"


def request_of(
    workspace: Workspace,
    study: str,
    choices: ReportChoices,
    made_on: datetime,
    where: Filters | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> ReportRequest:
    """The report of these choices; its analyses have the options last chosen for them.

    `options` replace some of them, by analysis and option.
    """
    filters = dict(where or {})
    return ReportRequest(
        study,
        choices.title.strip() or f"Report on the study {study}",
        author_names(choices.authors),
        tuple(
            _analysis_request(workspace, study, name, filters, (options or {}).get(name, {}))
            for name in choices.analyses
        ),
        made_on,
        filters,
        choices.longest_table,
    )


def _analysis_request(
    workspace: Workspace, study: str, name: str, where: Filters, options: Mapping[str, Any]
) -> AnalysisRequest:
    """The request that the page of the analysis makes too, so that the result is the same."""
    analysis = analyses.by_name(name)
    answers = ChosenAnswers(where=where)
    chosen = analyses.saved_options(workspace, study, analysis, answers)
    return AnalysisRequest(name, (study,), {**chosen, **options}, where)


def today() -> datetime:
    """The date of a report made now, so that reports of one day are the same to the byte."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def author_names(text: str) -> tuple[str, ...]:
    """The names in a text, which stand between semicolons or in lines."""
    names = (" ".join(name.split()) for name in text.replace("\n", ";").split(";"))
    return tuple(name for name in names if name)

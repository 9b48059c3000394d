"""Whether a study has what an analysis requires."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from core.analysis.kit.registry import Analysis, Requirement
from core.workflow.answers import browsing
from core.workflow.designs import studies
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace

_LACKING: Mapping[Requirement, str] = {
    "scores": "The study has no answers with points on several items.",
    "words": "It needs a bank of words; this one is none.",
    "entities": "The items are not about several entities.",
    "pairs": "The answers compare no two entities.",
    "formats": "All answers are in one format.",
    "repetitions": "No item was asked in several repetitions.",
    "languages": "All items were asked in one language.",
    "forms": "Items have one wording, one order of options and one template.",
    "phases": "There is no second phase.",
    "domains": "The bank has no loadings of items on domains.",
    "annotations": "The bank has no annotators.",
    "ratings": "No judge rated texts in the study.",
    "norms": "No norms are typed in on the page Item statistics.",
}
_REFUSES_NOTHING: frozenset[Requirement] = frozenset({"words", "domains", "forms"})
"""What the analyses that require it do not miss by themselves: of a rating scale they compute which
"words" are positive, or a worldview, and neither means anything."""


Has = Mapping[Requirement, bool]
_MOST_KNOWN = 1000
_known: dict[tuple[object, ...], Has] = {}
"""What studies have, by the state of their answers: every page of a study asks for it."""


def what_a_study_has(workspace: Workspace, study: str) -> Mapping[Requirement, bool]:
    """Which requirements of analyses a study meets."""
    key = (workspace.process, study, analyses.revision(workspace, [study]))
    if key not in _known:
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        _known[key] = MappingProxyType(_found_in(workspace, study))
    return _known[key]


def fits_page(topic: str, has: Mapping[Requirement, bool]) -> bool:
    """Whether a page has an analysis that says something of a study; one without any has all."""
    required = [one.requires for one in analyses.all_analyses() if one.topic == topic]
    return not required or any(one is None or has.get(one, False) for one in required)


def study_for(
    analysis: Analysis, studies_in_order: Iterable[str], has: Callable[[str], Has]
) -> str:
    """The first study that has what an analysis requires; empty where none has it."""
    for study in studies_in_order:
        if analysis.requires is None or has(study).get(analysis.requires, False):
            return study
    return ""


def _found_in(workspace: Workspace, study: str) -> dict[Requirement, bool]:
    bank = studies.frozen_bank(workspace, study)
    every = browsing.all_levels(workspace, study)
    asked = {name: [level for level in levels if level != ""] for name, levels in every.items()}
    several = {name: len(levels) > 1 for name, levels in asked.items()}
    # the second phase has a template of its own, which is no other wording of the question
    templates = len(asked["template"]) - several["phase"]
    points = any(o.points is not None for one in bank.formats for o in one.options)
    return {
        "scores": bank.kind == "items" and (points or not bank.formats) and several["item"],
        "words": bank.kind == "words",
        "entities": bool(asked["entity"]) and not asked["entity_b"],
        "pairs": bool(asked["entity_b"]),
        "formats": several["format"],
        "repetitions": several["repetition"],
        "languages": several["language"],
        "forms": several["form"] or several["label_order"] or templates > 1,
        "phases": several["phase"],
        "domains": any(item.loadings for item in bank.items),
        "annotations": any(item.annotations for item in bank.items),
        "ratings": any(one.ratings for one in bank.formats),
    }


def what_is_lacking(
    workspace: Workspace, study: str, analysis: Analysis, has: Mapping[Requirement, bool]
) -> str:
    """What an analysis requires and the study does not have, in a sentence; empty if it has it.

    `has` is what the study has (`what_a_study_has`). Norms are among its saved options.
    """
    if analysis.requires is None:
        return ""
    if analysis.requires == "norms":
        saved = analyses.saved_options(workspace, study, analysis)
        there = any(saved[option.name] != option.initial for option in analysis.options)
    else:
        there = has[analysis.requires]
    return "" if there else _LACKING[analysis.requires]


def why_meaningless(workspace: Workspace, study: str, analysis: Analysis) -> str:
    """Why the numbers of an analysis would mean nothing here; empty where it has what it requires.

    An analysis that refuses such a study by itself says more, and is left to do so.
    """
    if analysis.requires not in _REFUSES_NOTHING:
        return ""
    return what_is_lacking(workspace, study, analysis, what_a_study_has(workspace, study))

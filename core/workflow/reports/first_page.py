"""The first page of a report: what was asked of whom, what came out, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.analysis.kit.registry import Analysis
from core.domain.factors import Filters, levels_word
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.domain.study import FACTORS
from core.files.documents import Block, Bullets, Heading, Paragraph
from core.files.paper_tables import PaperCell, PaperTable, printable
from core.stats.inputs import name_list
from core.workflow.reports import facts as study_facts
from core.workflow.reports.facts import StudyFacts
from core.workflow.reports.outcomes import AnalysisOutcome

HEADING = "In short"
MOST_FIGURES = 3
_MOST_GROUPS, _MOST_ROWS = 3, 12
"""Groups of an analysis whose answers stand on the first page, and of all; the details have all."""
_MOST_CAUTIONS = 6
_NAMED = 4
"""Respondents that are named; more are counted."""
_NAMED_APART = ("respondent", "model", "entity_b")
"""Factors that are not among what varied: whom it was asked, and the other entity of a pair."""


def opening(
    facts: StudyFacts, outcomes: Sequence[AnalysisOutcome], number: int | None
) -> list[Block]:
    """What stands before the figures; `number` is that of the table, None without analyses."""
    blocks: list[Block] = [Heading(HEADING), Paragraph(_design(facts), "Design.")]
    if number is not None:
        blocks.append(_key_results(outcomes, number))
    return blocks


def closing(facts: StudyFacts, outcomes: Sequence[AnalysisOutcome], where: Filters) -> list[Block]:
    """What stands after the figures: what changes how to read the results."""
    failed = [outcome.analysis.title for outcome in outcomes if outcome.result is None]
    lines = [*study_facts.filter_sentences(where), *study_facts.honesty_sentences(facts)]
    if failed:
        lines.append(f"Not computed: {name_list(failed)}. The reasons stand in What was left out.")
    lines += _cautions(outcomes)
    more = len(lines) - _MOST_CAUTIONS
    if more > 0:
        lines = lines[:_MOST_CAUTIONS]
        lines.append(f"{count_text(more, 'further caution')}: see the analyses.")
    return [Paragraph("", "What to mind."), Bullets(tuple(lines))] if lines else []


def _design(facts: StudyFacts) -> str:
    """The bank, of whom it was asked, what varied, and how many answers can be used."""
    bank, n_items = facts.bank, len(facts.asked_items)
    of_all = "" if n_items == len(bank.items) else f" of {len(bank.items):,}"
    noun = "item" if n_items == 1 and not of_all else "items"
    people = [person.label for person in facts.respondents] or list(
        map(str, facts.levels.get("respondent", ()))
    )
    named = ", ".join(people) if len(people) <= _NAMED else count_text(len(people), "respondent")
    words = {} if facts.is_planned else {"context": "people or contexts"}
    varied = [
        f"{len(levels):,} {words.get(name, levels_word(name))}"
        for name in FACTORS
        if name not in _NAMED_APART
        and len(levels := [level for level in facts.levels.get(name, ()) if level != ""]) > 1
    ]
    several = f" Varied: {', '.join(varied)}." if varied else ""
    answered = "asked of" if facts.is_planned else "answered by"
    return (
        f"{n_items:,}{of_all} {noun} of “{bank.title}”, {answered} {named}.{several} "
        f"{study_facts.count_sentence(facts)}"
    )


def _key_results(outcomes: Sequence[AnalysisOutcome], number: int) -> PaperTable:
    computed = [outcome for outcome in outcomes if outcome.result is not None]
    most = max(1, min(_MOST_GROUPS, _MOST_ROWS // max(1, len(computed))))
    rows = [
        tuple(PaperCell(printable(cell)) for cell in row)
        for outcome in computed
        for row in _answers_of(outcome.analysis, outcome.result, most)
    ]
    if len(rows) > _MOST_ROWS:
        rows = rows[:_MOST_ROWS]
        further = count_text(len(computed) - _MOST_ROWS, "further analysis", "further analyses")
        rows.append((PaperCell(""), PaperCell(""), PaperCell(f"{further} in the results.")))
    if not rows:
        rows.append((PaperCell("No analysis has a result."), PaperCell(""), PaperCell("")))
    header = ("Question", "Of", "Answer")
    return PaperTable(number, "Key results", header, (False,) * 3, tuple(rows), "")


def _answers_of(
    analysis: Analysis, result: AnalysisResult | None, most: int
) -> Iterator[tuple[str, str, str]]:
    """A row for each of the first groups; the last one says how many more there are."""
    if result is None:
        return
    answers = analysis.answer(result)
    question, more = analysis.question, len(answers) - most
    for place, one in enumerate(answers[:most], 1):
        of = "" if one.names_group or len(answers) == 1 else one.group
        further = f" {count_text(more, 'further group')} in the results." if more > 0 else ""
        yield question, of, one.sentence + (further if place == most else "")
        question = ""


def _cautions(outcomes: Sequence[AnalysisOutcome]) -> list[str]:
    """The cautions of all analyses, each once, with the analyses that say it."""
    said: dict[str, list[str]] = {}
    for outcome in outcomes:
        for caution in _on_the_whole(outcome.result):
            said.setdefault(printable(caution), []).append(outcome.analysis.title)
    ordered = sorted(said.items(), key=lambda pair: len(pair[1]), reverse=True)
    return [f"{caution} ({', '.join(titles)})" for caution, titles in ordered]


def _on_the_whole(result: AnalysisResult | None) -> Sequence[str]:
    """Cautions on the whole result; those on single groups stand with the analysis."""
    if result is None:
        return ()
    return [one for one in result.cautions if not getattr(one, "place", "")]


def leading(analyses: Sequence[Analysis]) -> list[int]:
    """Places of the charts, whose analyses are given, that stand on the first page.

    The first chart of the first analysis of each topic, then of further analyses.
    """
    firsts = {analysis.name: place for place, analysis in reversed([*enumerate(analyses)])}
    topics = {analyses[place].topic: place for place in sorted(firsts.values(), reverse=True)}
    order = sorted(topics.values()) + sorted(set(firsts.values()) - set(topics.values()))
    return sorted(order[:MOST_FIGURES])

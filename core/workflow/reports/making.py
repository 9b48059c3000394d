"""Making a report: its analyses, its parts in their order, and its files."""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from core import progress
from core.analysis.kit.registry import Analysis, option_text
from core.charts import Chart
from core.charts.drawing import DrawingFault, drawing_process
from core.charts.picture_files import Picture, pictures, vega_lite
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable
from core.errors import NotEnoughData, UserError
from core.files.documents import (
    DOCUMENT_FORMATS,
    Block,
    Bullets,
    Document,
    Figure,
    Heading,
    Paragraph,
    References,
    Verbatim,
    is_readable,
    is_wide,
)
from core.files.paper_tables import PaperCell, PaperTable, printable
from core.workflow import background
from core.workflow.background import Computation
from core.workflow.reports import facts as study_facts
from core.workflow.reports import first_page, methods
from core.workflow.reports.choices import ReportRequest
from core.workflow.reports.facts import StudyFacts
from core.workflow.reports.outcomes import AnalysisOutcome, results_of
from core.workflow.statistics import analyses, computing, papers
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace

log = logging.getLogger(__name__)

METHODS = "txt"
"""The ending of the file with the methods paragraph alone."""
FILES: Mapping[str, str] = {
    **{ending: form.title for ending, form in DOCUMENT_FORMATS.items()},
    METHODS: "Methods paragraph",
}
"""What users call the files of a report, by their ending."""

FURTHER_TABLES = "In the appendix:"
"""The label before the titles of tables that print has at its end."""
ON_FIRST_PAGE = "On the first page:"
"""The label before the number of a figure that print has on its first page."""
LAST_HEADING = "Appendix: further tables"
"""Over these tables, where there are any."""
_WAIT_S = 0.1
_MOST_SENTENCES = 12
"""Groups whose answer to a question stands in the text; the tables have all."""
_MOST_NOTES = 30
_TALLEST = 1.3
"""Height of a picture by its width, above which its panels stand in several."""
_MOST_COLUMNS = 14
_FEW_ROWS = 6
"""A table of more columns with so few rows is printed on its side: a row for each column."""


@dataclass(frozen=True)
class Report:
    """A finished report. `files` are its bytes by the ending of the file.

    `left_out` says what it does not show and why, a sentence for each. `document` is what the files
    hold, `outcomes` what came of the analyses.
    """

    request: ReportRequest
    files: Mapping[str, bytes]
    left_out: tuple[str, ...]
    n_tables: int
    n_figures: int
    document: Document
    outcomes: tuple[AnalysisOutcome, ...]


@dataclass
class _Numbers:
    """The numbers of tables and figures, what is left out, further tables, as they come up."""

    tables: Iterator[int] = field(default_factory=lambda: count(1))
    figures: Iterator[int] = field(default_factory=lambda: count(1))
    left_out: list[str] = field(default_factory=list)
    further: list[tuple[str, PaperTable]] = field(default_factory=list)  # with titles of analyses


@dataclass(frozen=True)
class _ChartInWork:
    """A chart of an analysis whose pictures are being drawn."""

    analysis: Analysis
    chart: Chart
    pictures: Future[list[Picture]]


_Draw = Callable[[Analysis, Chart], _ChartInWork]


def computation_of(workspace: Workspace, request: ReportRequest) -> Computation[Report]:
    """The making of a report over the answers as they are now, begun if it is not yet."""
    return background.begin(
        _key(workspace, request), "report", lambda: make(workspace, request), waits_for_others=True
    )


def known(workspace: Workspace, request: ReportRequest) -> Computation[Report] | None:
    """The making of a report, if it was begun."""
    return background.known(_key(workspace, request))


def forget(workspace: Workspace, request: ReportRequest) -> None:
    """Let a report be made anew."""
    background.forget_key(_key(workspace, request))


def _key(workspace: Workspace, request: ReportRequest) -> str:
    """Everything the report depends on, as text."""
    revision = analyses.revision(workspace, [request.study])
    own = [[one.analysis, one.options] for one in request.analyses]
    parts = [workspace.process, "report", *vars(request).values(), own, revision]
    return json.dumps(parts, sort_keys=True, default=str)


def make(workspace: Workspace, request: ReportRequest, *, with_figures: bool = True) -> Report:
    """Run the analyses of a report and write its files; drawing the figures takes most of the time.

    An analysis that cannot be computed is named in the report with its reason.

    Raises
    ------
    NotEnoughData
        The study has no answers.
    DesignError
        There is no such study.
    """
    facts = study_facts.load(workspace, request.study)
    if not facts.record.n_responses:
        raise NotEnoughData(
            f"The study '{request.study}' has no answers yet.", "Collect answers first."
        )
    numbers = _Numbers()
    key_results = next(numbers.tables) if request.analyses else None
    design = _design(facts, numbers, request)
    outcomes: list[AnalysisOutcome] = []
    results: list[Block | _ChartInWork] = []
    with _drawing() as draw:  # beside the analyses that follow
        for place, one in enumerate(request.analyses):
            outcome = _outcome(workspace, one, place, len(request.analyses))
            outcomes.append(outcome)
            if outcome.result is not None:
                results += _results(
                    outcome, outcome.result, request, numbers, draw if with_figures else None
                )
        leading, drawn = _with_figures(results, numbers)
    blocks = [
        *first_page.opening(facts, outcomes, key_results),
        *leading,
        *first_page.closing(facts, outcomes, request.where),
        *design,
        *_methods(facts, outcomes, request),
        Heading("Results", folds=True),
        *drawn,
    ]
    left_out = _left_out(facts, outcomes, numbers, request)
    blocks += [Heading("What was left out", folds=True), Bullets(left_out)]
    blocks += [*_end(facts, outcomes), *_appendix(numbers)]
    document = Document(
        printable(request.title),
        request.authors,
        f"Study {request.study}. Made with Inkblot {methods.inkblot_version()}.",
        request.made_on,
        tuple(blocks),
    )
    files = {ending: form.write(document) for ending, form in DOCUMENT_FORMATS.items()}
    paragraph = methods.methods_paragraph(
        workspace, request.study, results_of(outcomes), request.where
    )
    return Report(
        request,
        files | {METHODS: f"{paragraph}\n".encode()},
        left_out,
        sum(isinstance(block, PaperTable) for block in blocks),
        sum(isinstance(block, Figure) for block in blocks),
        document,
        tuple(outcomes),
    )


def _outcome(
    workspace: Workspace, request: AnalysisRequest, place: int, n_all: int
) -> AnalysisOutcome:
    """The result of an analysis, computed or on file, as its own page has it."""
    title = analyses.by_name(request.analysis).title
    progress.step(place, n_all, title)
    computation = computing.computation_of(workspace, request)
    if computation.may_be_repeated:
        computing.forget(workspace, request)
        computation = computing.computation_of(workspace, request)
    try:
        while not computation.wait(_WAIT_S):
            progress.step(place, n_all, title)
        return AnalysisOutcome(request, computation.value())
    except progress.Cancelled:
        computation.cancel()
        raise
    except UserError as error:
        return AnalysisOutcome(request, None, " ".join(str(error).split()))
    except Exception:
        # The report has the other analyses; the page of this one shows the fault too.
        log.exception("analysis %s of a report failed", request.analysis)
        return AnalysisOutcome(request, None, "A fault in Inkblot; the log has the details.")


# The design.


def _design(facts: StudyFacts, numbers: _Numbers, request: ReportRequest) -> list[Block]:
    """What was asked, of whom, how, when, and how replies were read."""
    blocks: list[Block] = [
        Heading("Design", folds=True),
        *(Paragraph(text) for text in study_facts.honesty_sentences(facts)),
        Heading("Items and answers", 2),
        Paragraph(" ".join(study_facts.bank_sentences(facts))),
    ]
    source = study_facts.source_sentences(facts)
    blocks += [Paragraph(" ".join(source))] if source else []
    subscales = study_facts.subscale_rows(facts)
    if len(subscales) > 1 and not facts.bank.codes_only:
        rows = [[name, f"{n:,}", f"{reverse:,}"] for name, n, reverse in subscales]
        blocks.append(
            _table(numbers, "Subscales", ["Subscale", "Items", "Reverse-keyed"], rows, n_text=1)
        )
    blocks += _item_table(facts, numbers, request)
    header = ["Respondent", "Model as sent", "Model as reported", "Settings", "Replies collected"]
    rows = [[cell or "–" for cell in row] for row in study_facts.respondent_rows(facts)]
    note = "Settings are as sent with each call, amended ones from then on; dates are in UTC."
    if not facts.is_planned:  # people, or models that were asked elsewhere: nothing was sent
        header, note = ["Respondent", "Model in the file", "Replies"], ""
        rows = [[row[0], row[2], row[4]] for row in rows]
        if len(facts.levels.get("context", ())) > 1:
            header.append("People or contexts")
            counts = study_facts.contexts_by_respondent(facts)
            rows = [[*row, f"{counts.get(row[0], sum(counts.values())):,}"] for row in rows]
    blocks += [
        Heading("Respondents", 2),
        _table(
            numbers,
            "Respondents and settings of their calls" if facts.is_planned else "Respondents",
            header,
            rows,
            n_text=len(header) if facts.is_planned else 3,
            note=note,
        ),
    ]
    conditions = study_facts.condition_rows(facts)
    if conditions:
        blocks += [
            Heading("Conditions", 2),
            _table(numbers, "Conditions", ["Condition", "Levels"], map(list, conditions), n_text=2),
        ]
    blocks += _prompts(facts)
    header, rows = study_facts.answer_rows(facts)
    return [
        *blocks,
        Heading("Answers", 2),
        Paragraph(
            f"{study_facts.time_sentence(facts)} {study_facts.count_sentence(facts)} Refusals and "
            "other replies without an option are missing answers and have no score, unless the "
            "method of an analysis says otherwise."
        ),
        _table(
            numbers,
            "Planned, asked and usable trials" if facts.is_planned else "Usable trials",
            header,
            rows,
            n_text=1,
            note="A trial is one item put once. Percentages are of the trials asked.",
        ),
        *(
            Paragraph(" ".join(texts), label)
            for label, texts in (
                ("Reading of the replies.", study_facts.reading_sentences(facts)),
                ("Agreement with persons.", study_facts.audit_sentences(facts)),
                ("Amendments.", study_facts.amendment_sentences(facts)),
            )
            if texts
        ),
    ]


def _item_table(facts: StudyFacts, numbers: _Numbers, request: ReportRequest) -> list[PaperTable]:
    """The wordings of the items in the first language, where there are any and not too many."""
    asked = set(facts.asked_items)
    texts = analyses.item_texts(facts.workspace, [facts.record.code], {})
    items = [item for item in facts.bank.items if item.code in asked and item.code in texts]
    if not items:
        return []
    if len(items) > request.longest_table:
        numbers.left_out.append(
            f"The table of the {len(items):,} items: more than {request.longest_table:,} rows. The "
            "bank of the study has them (export, bank.csv)."
        )
        return []
    rows = [
        [item.code, texts[item.code], item.subscale or "–", "reverse" if item.keyed < 0 else "–"]
        for item in items
    ]
    return [_table(numbers, "Items", ["Item", "Wording", "Subscale", "Keying"], rows, n_text=4)]


def _prompts(facts: StudyFacts) -> list[Block]:
    """Examples of prompts as sent, with their replies."""
    examples = study_facts.example_prompts(facts)
    if not examples:
        return []
    blocks: list[Block] = [Heading("Prompts", 2)]
    for example in examples:
        blocks += [
            Verbatim(example.text, f"Prompt as sent ({printable(example.about)})."),
            Verbatim(example.reply, "Reply."),
        ]
    return blocks


def _table(
    numbers: _Numbers,
    title: str,
    header: Sequence[str],
    rows: Any,
    *,
    n_text: int,
    note: str = "",
) -> PaperTable:
    """A table of texts, whose columns hold numbers but for the first `n_text`."""
    return PaperTable(
        next(numbers.tables),
        title,
        tuple(map(printable, header)),
        tuple(place >= n_text for place in range(len(header))),
        tuple(tuple(PaperCell(printable(cell)) for cell in row) for row in rows),
        note,
    )


# Methods.


def _methods(
    facts: StudyFacts, outcomes: Sequence[AnalysisOutcome], request: ReportRequest
) -> list[Block]:
    """The method of each analysis with its sources, the filters and the software."""
    results = results_of(outcomes)
    filters = study_facts.filter_sentences(request.where)
    return [
        Heading("Methods", folds=True),
        Paragraph(" ".join([methods.software_sentence(facts), *filters])),
        *(
            Paragraph(method, f"{title}.")
            for title, method in methods.analysis_methods(facts, results, request.where)
        ),
    ]


# Results.


def _results(
    outcome: AnalysisOutcome,
    result: AnalysisResult,
    request: ReportRequest,
    numbers: _Numbers,
    draw: _Draw | None,
) -> list[Block | _ChartInWork]:
    """One analysis: its answer, tables, figures and notes."""
    analysis = outcome.analysis
    blocks: list[Block | _ChartInWork] = [
        Heading(analysis.title, 2, folds=True),
        Paragraph(analysis.question, "Question."),
        *_answers(analysis, result),
    ]
    unit = f"{result.unit[:1].upper()}{result.unit[1:]}"
    blocks.append(Paragraph(f"{unit}. {papers.answers_words(result)}", "Unit of analysis."))
    blocks += _options(outcome)
    printed, shown = [], []
    for table in result.tables:
        if not len(table.frame):
            continue
        if fault := _table_fault(table, request):
            numbers.left_out.append(_left_out_table(outcome, table, fault))
            continue
        printed.append(papers.paper_table(result, table, brief=True))
        shown.append(table)
    turned = [_turned(table) for table in printed]
    first = next((table for table in turned if not is_wide(table)), None)
    blocks += [replace(first, number=next(numbers.tables))] if first else []
    appended = [(analysis.title, table) for table in turned if table is not first]
    numbers.further += appended
    if appended:
        titles = "; ".join(table.title for _, table in appended)
        blocks.append(Paragraph(f"{titles}.", FURTHER_TABLES))
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # Altair checks each part of a chart, nine tenths of the time
        charts, without = papers.drawn_charts(analysis, result)
        blocks += [draw(analysis, chart) for chart in charts] if draw is not None else []
    numbers.left_out += [f"{analysis.title}: {without}"] if without else []
    notes = papers.notes_of_text(result, shown)
    if notes:
        blocks.append(Paragraph("", "Notes."))
        more = len(notes) - _MOST_NOTES
        further = (f"{count_text(more, 'further note')}: see the page.",) if more > 0 else ()
        blocks.append(Bullets((*notes[:_MOST_NOTES], *further)))
    return blocks


def _answers(analysis: Analysis, result: AnalysisResult) -> list[Block]:
    """The sentences that answer the question, for each group."""
    answers = analysis.answer(result)
    lines = [
        one.sentence if one.names_group or len(answers) == 1 else f"{one.group}: {one.sentence}"
        for one in answers[:_MOST_SENTENCES]
    ]
    if len(answers) > _MOST_SENTENCES:
        lines.append(
            f"{count_text(len(answers) - _MOST_SENTENCES, 'further group')}: see the tables."
        )
    blocks: list[Block] = []
    if len(lines) == 1:
        blocks.append(Paragraph(f"{lines[0]} {result.scope}".strip(), "Answer."))
    elif lines:
        blocks += [Paragraph(result.scope, "Answer."), Bullets(tuple(lines))]
    if analysis.verdict:
        blocks.append(Paragraph(analysis.verdict, "Verdicts."))
    return blocks


def _options(outcome: AnalysisOutcome) -> list[Block]:
    """The options of an analysis; those of several lines, such as a model, to the letter."""
    parts, blocks = [], []
    for option in outcome.analysis.options:
        value = outcome.request.options.get(option.name, option.initial)
        words = _option_words(option.kind, value)
        if "\n" in words:
            blocks.append(Verbatim(words, f"{option.kind.label}."))
        elif words:
            parts.append(f"{option.kind.label}: {words}")
    return [*([Paragraph(f"{'; '.join(parts)}.", "Options.")] if parts else []), *blocks]


def _option_words(kind: Any, value: Any) -> str:
    """The value of an option in words; empty where nothing is chosen."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return ", ".join(_option_words(kind, part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    named = [words for code, words in getattr(kind, "choices", ()) if code == value]
    return str(named[0]) if named else "" if value is None else str(value)


def _table_fault(table: ResultTable, request: ReportRequest) -> str:
    """Why a table is not printed; empty where it is."""
    if len(table.frame) > request.longest_table:
        return f"{len(table.frame):,} rows, more than {request.longest_table:,}"
    return ""


def _left_out_table(outcome: AnalysisOutcome, table: ResultTable, fault: str) -> str:
    """The table and the command that writes it as a file, with the same options and filters."""
    name, request = outcome.analysis.name, outcome.request
    words = ["analyze", name, "--study", *request.studies, "--table", table.name]
    for option in outcome.analysis.options:
        value = request.options.get(option.name, option.default)
        if value not in (option.default, option.initial):
            words += ["--option", f"{option.name}={option_text(value)}"]
    for factor, levels in request.where.items():
        words += ["--where", f"{factor}={','.join(map(str, levels))}"]
    words += ["--out", f"{name}_{table.name}.csv"]
    return (
        f"{outcome.analysis.title}, table “{table.title}”: {fault}. As CSV: "
        f"python -m core {shlex.join(words)}"
    )


def _turned(table: PaperTable) -> PaperTable:
    """A table of many columns and few rows with a row for each column; others as they are."""
    if len(table.header) <= _MOST_COLUMNS or len(table.rows) > _FEW_ROWS:
        return table
    titles = tuple(zip(table.header, *table.rows, strict=True))
    numbers = ("Value",) if len(table.rows) == 1 else range(1, len(table.rows) + 1)
    header = ("Statistic", *map(str, numbers))
    n_names = next((place for place, right in enumerate(table.numeric) if right), 0)
    if n_names:
        names = [" · ".join(cell.text for cell in row[:n_names] if cell.text) for row in table.rows]
        header = (" · ".join(table.header[:n_names]), *names)
    rows = tuple((PaperCell(title), *cells) for title, *cells in titles[n_names:])
    return replace(table, header=header, numeric=(False, *(True,) * len(table.rows)), rows=rows)


@contextmanager
def _drawing() -> Iterator[_Draw]:
    """Draws charts one by one in a process beside this one; leaving it ends the drawing."""
    with drawing_process() as process:
        thread = ThreadPoolExecutor(1, thread_name_prefix="inkblot-drawing")

        def draw(analysis: Analysis, chart: Chart) -> _ChartInWork:
            spec = vega_lite(chart)
            drawn = thread.submit(lambda: list(pictures(spec, _TALLEST, is_readable, process)))
            return _ChartInWork(analysis, chart, drawn)

        try:
            yield draw
        finally:
            thread.shutdown(wait=False, cancel_futures=True)


def _with_figures(
    blocks: Sequence[Block | _ChartInWork], numbers: _Numbers
) -> tuple[list[Block], list[Block]]:
    """The figures of the first page, and the blocks with all others, as soon as all are drawn."""
    charts = [block for block in blocks if isinstance(block, _ChartInWork)]
    for place, chart in enumerate(charts):
        while not wait([chart.pictures], _WAIT_S).done:
            progress.step(place, len(charts), "Figures")
    small = [chart for chart in charts if _is_one_picture(chart)]
    first = [small[place] for place in first_page.leading([chart.analysis for chart in small])]
    figures = {id(chart): [*_figures(chart, numbers)] for chart in first}
    whole: list[Block] = []
    for block in blocks:
        if not isinstance(block, _ChartInWork):
            whole.append(block)
        elif id(block) in figures:
            names = ", ".join(figure.name for figure in figures[id(block)])
            whole.append(Paragraph(f"{names}.", ON_FIRST_PAGE))
        else:
            whole += _figures(block, numbers)
    return [figure for of_chart in figures.values() for figure in of_chart], whole


def _is_one_picture(chart: _ChartInWork) -> bool:
    """Whether a chart was drawn as a single figure."""
    try:
        return [bool(one.png) for one in chart.pictures.result()] == [True]
    except DrawingFault:
        return False


def _undrawn(chart: Chart) -> str:
    """What a chart leaves out, as its caption says it; empty where it shows all."""
    left_out = chart.left_out.strip()
    return f". {left_out} The table of the result has all." if left_out else ""


def _figures(drawn: _ChartInWork, numbers: _Numbers) -> Iterator[Figure]:
    """A chart as figures: of one that is high, each has some of the panels."""
    analysis, chart = drawn.analysis, drawn.chart
    try:
        every = drawn.pictures.result()
    except DrawingFault as fault:
        numbers.left_out.append(
            f"{analysis.title}, figure “{chart.title}”: the chart could not be drawn ({fault}); "
            "its table has the numbers."
        )
        return
    parts = [one for one in every if one.png]
    if len(parts) < len(every):
        some = "" if not parts else f" ({count_text(len(every) - len(parts), 'panel')})"
        numbers.left_out.append(
            f"{analysis.title}, figure “{chart.title}”{some}: too large for a page; "
            "the page of the analysis has it."
        )
    for place, picture in enumerate(parts, 1):
        part = f" (part {place} of {len(parts)})" if len(parts) > 1 else ""
        caption = f"{chart.title}{part}{_undrawn(chart)}"
        yield Figure(
            next(numbers.figures),
            printable(caption),
            printable(chart.alt),
            picture.svg,
            picture.png,
            picture.width,
            picture.height,
        )


# What is left out, and the end.


def _left_out(
    facts: StudyFacts,
    outcomes: Sequence[AnalysisOutcome],
    numbers: _Numbers,
    request: ReportRequest,
) -> tuple[str, ...]:
    """Analyses without a result, answers that count as missing, and tables that are too long."""
    failed = [
        f"{one.analysis.title} could not be computed: {one.fault}" for one in outcomes if one.fault
    ]
    answers = [
        f"{one.analysis.title}: {papers.answers_words(one.result)}"
        for one in outcomes
        if one.result is not None and (one.result.n_missing or one.result.n_left_out)
    ]
    sentences = (
        *failed,
        study_facts.count_sentence(facts),
        *study_facts.filter_sentences(request.where),
        *answers,
        *numbers.left_out,
    )
    return tuple(map(printable, sentences))


def _end(facts: StudyFacts, outcomes: Sequence[AnalysisOutcome]) -> list[Block]:
    sources = methods.reference_list(results_of(outcomes), _published(facts.bank.citation))
    return [
        Heading("Data", folds=True),
        Paragraph(" ".join(study_facts.data_sentences(facts))),
        Heading("References", folds=True),
        References(sources),
    ]


def _published(citation: str) -> tuple[str, ...]:
    """The source of the bank where it names a year, as a publication does."""
    return (citation,) if re.search(r"\b(1[89]|20)\d\d\b", citation) else ()


def _appendix(numbers: _Numbers) -> Iterator[Block]:
    """The tables after the first of each analysis, and wide ones, under the titles of these."""
    if numbers.further:
        yield Heading(LAST_HEADING, folds=True)
    before = ""
    for title, table in numbers.further:
        if title != before:
            yield Heading(title, 2)
        before = title
        yield replace(table, number=next(numbers.tables))

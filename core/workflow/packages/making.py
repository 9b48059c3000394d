"""Making a study package: answers, attempts, bank, design, results and scripts, described.

The files are for readers and other programs; the tables beside them give another Inkblot the same
study (core/store/packages.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pandas as pd

from core.domain.instrument import Instrument
from core.domain.members import Role
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.study import Certainty, Layer, Status
from core.domain.templates import TEMPLATE
from core.domain.values import slug
from core.errors import NotEnoughData
from core.export import frame_csv, result_json, table_csv
from core.files import packages
from core.files.contexts import contexts_jsonl
from core.files.packages import FieldType, PackageFacts, PackageField, PackageFile
from core.files.spss import write_sav
from core.files.templates import templates_yaml
from core.progress import step
from core.store import answers as answer_store
from core.store import packages as package_store
from core.store import studies
from core.store.studies import FrozenStudy
from core.workflow import background
from core.workflow.answers import exports, wide
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.background import Computation
from core.workflow.designs.studies import design_yaml, frozen_bank, plan_csv
from core.workflow.members import refusal
from core.workflow.reports import viewing
from core.workflow.reports.choices import ReportRequest
from core.workflow.reports.methods import methods_paragraph
from core.workflow.runs.control import calls_csv
from core.workflow.statistics import analyses
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace

PROPOSED = ("item_statistics", "internal_consistency", "cfa", "unexpected_outputs")
"""Analyses whose results go into a package unless the user chooses others."""
_TITLES: Mapping[str, str] = {
    "study": "The study",
    "instrument": "Code of the bank",
    "item": "Code of the item",
    "model": "Who answered: a model, or people",
    "language": "Language of the item",
    "entity": "What the item asks about",
    "entity_b": "The second thing that the item asks about",
    "context": "The persona, conversation or person",
    "form": "Wording of the item",
    "format": "Set of response options",
    "template": "Prompt template: the wording of the instructions",
    "label_order": "Order of the options",
    "phase": "initial, or opposing: asked again with the opposite opinion",
    "items_per_call": "Number of items in one call",
    "history": "Whether the model saw its own earlier answers",
    "temperature": "Temperature of the calls, where it was varied",
    "top_p": "Top-p of the calls, where it was varied",
    "max_tokens": "Longest reply in tokens, where it was varied",
    "repetition": "Number of the repetition, from 1",
    "call": "The call that the item was part of",
    "position": "Place of the item in the call",
    "answer": "Code of the chosen option; empty if there is none",
    "raw": "The reply, word for word",
    "status": "Whether there is an answer, and why not",
    "layer": "What the answer was read from",
    "certainty": "How surely the answer was read",
    "hedged": "Whether the reply also disclaims",
    "judge": "Who judged the reply",
    "score": "Score of the answer, reversed items reversed",
    "latency_s": "Seconds until the reply came",
    "tokens_in": "Tokens of the prompt",
    "tokens_out": "Tokens of the reply",
    "tokens_reasoning": "Tokens of reasoning, a part of tokens_out",
    "tokens_cached": "Tokens of the prompt from the cache of the service, a part of tokens_in",
    "cost": "US dollars",
    "cost_estimated": "Whether the cost is an estimate",
    "time": "When the call was sent (UTC)",
    "chance": "Probability of the option by the first token of the reply",
    "refused_by": "Who refused, if not the model",
    "respondent": "Who answered",
    "try": "Number of the try at the call, from 1",
    "prompt": "Number of the prompt that was sent",
    "place": "Place of the message in the prompt",
    "role": "Who says the message: system, user or assistant",
    "text": "The message, word for word",
    "outcome": "What came of the try: a reply, or the kind of failure",
    "http_status": "Status of the answer of the service",
    "message": "The failure in words",
    "finish_reason": "Why the reply ended, as the service says",
    "reasoning": "Reasoning that came beside the reply",
    "tool_calls": "Tool calls that came beside the reply, as JSON",
    "refusal": "The field of the service for refusals",
    "body": "What came in the place of a reply, its first 64 KB",
    "reply": "The reply, word for word",
    "planned": "Number of planned questions",
    "asked": "Number of questions that were asked",
    "usable": "Number of usable answers",
}  # fmt: skip
_INTEGERS = frozenset(
    (
        "repetition",
        "position",
        "tokens_in",
        "tokens_out",
        "tokens_reasoning",
        "tokens_cached",
        "try",
        "http_status",
        "planned",
        "asked",
        "usable",
    )
)
_NUMBERS = frozenset(("score", "latency_s", "cost", "chance"))
_LAYERS: Mapping[Layer, str] = {
    Layer.WHOLE: "the reply is the option alone",
    Layer.STRUCTURE: "a key of JSON, a letter, a number, a heading or a box",
    Layer.STATEMENT: "one option is stated",
    Layer.LAST_STATEMENT: "several options are stated, the last one counts",
    Layer.SINGLE_MENTION: "one option is mentioned, and no other",
    Layer.STATUS: "there is no option",
    Layer.JUDGE: "a judge said what the reply chooses",
    Layer.PERSON: "a person coded the reply",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "status": {status.value: STATUS_WORDS[status] for status in Status},
    "layer": {layer.value: words for layer, words in _LAYERS.items()},
    "certainty": {one.value: one.value for one in Certainty},
    "hedged": {"yes": "the reply also disclaims", "no": "it does not"},
}


@dataclass(frozen=True)
class MadePackage:
    """A package, and the analyses that could not be computed for it with the reason of each."""

    data: bytes
    left_out: Mapping[str, str]


def make_package(
    workspace: Workspace, study: str, requests: Sequence[AnalysisRequest] = ()
) -> MadePackage:
    """Everything about a study as a zip; equal content gives equal bytes.

    `requests` are the analyses whose tables and scripts go in. One that cannot be computed is left
    out and named in the package, and so are scripts alone that cannot be made.

    Raises
    ------
    DesignError
        There is no such study.
    RoleError
        The member is a coder: a package has the codes of all coders, also those not to be seen yet.
    """
    if workspace.member is not None and workspace.member.role is Role.CODER:
        raise refusal(workspace.member)
    record = studies.frozen_study(workspace.database, study)
    results: dict[str, AnalysisResult] = {}
    scripts: dict[str, tuple[TextFile, ...]] = {}
    left_out: dict[str, str] = {}
    for place, request in enumerate(requests):
        step(place, len(requests) + 1, "analyses")
        try:
            results[request.analysis] = _run(workspace, request)
        except NotEnoughData as error:
            left_out[request.analysis] = str(error)
            continue
        try:
            scripts[request.analysis] = _scripts(workspace, request)
        except NotEnoughData as error:
            left_out[request.analysis] = f"Only its scripts are left out. {error}"
    step(len(requests), len(requests) + 1, "analyses")
    bank = frozen_bank(workspace, study)
    view = _view(workspace, record, [one for one in requests if one.analysis in results])
    files = [
        *_documents(workspace, record, bank, results, left_out),
        *view,
        *_data_files(workspace, record, bank),
        *_materials(workspace, record),
        *_result_files(results),
        *(
            PackageFile(f"scripts/{name}/{file.name}", f"Script of {name}.", file.text.encode())
            for name, made in scripts.items()
            for file in made
        ),
    ]
    tables = package_store.study_tables(workspace.database, record.study_id)
    return MadePackage(packages.write_package(files, tables, _facts(record, bank)), left_out)


def _view(
    workspace: Workspace, record: FrozenStudy, requests: Sequence[AnalysisRequest]
) -> list[PackageFile]:
    """The page to look at, dated as the study; none where there are no results."""
    if not requests:
        return []
    request = ReportRequest(record.code, record.code, (), tuple(requests), record.frozen_at)
    files = viewing.make(workspace, request).files
    return [PackageFile(f"view/{name}", "A page to look at.", body) for name, body in files.items()]


def _run(workspace: Workspace, request: AnalysisRequest) -> AnalysisResult:
    return analyses.run(
        workspace, request.analysis, request.studies, request.options, request.where, request.over
    )


def _scripts(workspace: Workspace, request: AnalysisRequest) -> tuple[TextFile, ...]:
    if analyses.by_name(request.analysis).scripts is None:
        return ()
    return analyses.scripts(
        workspace, request.analysis, request.studies, request.options, request.where, request.over
    )


def _facts(record: FrozenStudy, bank: Instrument) -> PackageFacts:
    return PackageFacts(
        study=record.code,
        title=f"Study {record.code}",
        description=f"Answers to the questionnaire '{bank.title}' with everything about the study: "
        "bank, design, prompts, calls, results and the software that made them.",
        schema=package_store.SCHEMA,
        versions=analyses.software_versions(),
    )


# Documents.

_README = """\
# Study {study}

Answers to the questionnaire "{bank}" ({n_items} items), collected or imported with Inkblot.

- `data/`: the answers, one a row; the scores, one administration a row; every call; counts
- `codebook.csv`: what each column of a CSV file says, with the values it can have
- `materials/`: bank, design, plan, prompt templates, contexts and amendments, if there are any
- `results/`: the tables of each analysis as CSV and JSON; `scripts/`: scripts for R and Python that
  compute the same from the data beside them
- `spss/answers.sav`: the answers for SPSS, as they were given (no item is reversed); a missing
  answer has its reason
- `documentation/methods.md`: how the study was collected and analyzed
- `view/index.html`: a page to look at: design, results with charts, every reply with a search. It
  opens in any browser, without a network.
- `tables/`: all rows of the study for another Inkblot. Import this zip there, on the page Import
  and export or with `python -m core import`: the study comes out the same.
- `datapackage.json` (Frictionless), `dataset_description.json` (Psych-DS), `SHA256SUMS` (checksums)

In CSV files, text that a spreadsheet could take for a formula begins with an apostrophe.
{left_out}"""


def _documents(
    workspace: Workspace,
    record: FrozenStudy,
    bank: Instrument,
    results: Mapping[str, AnalysisResult],
    left_out: Mapping[str, str],
) -> Iterator[PackageFile]:
    missing = "".join(f"- {name}: {reason}\n" for name, reason in left_out.items())
    readme = _README.format(
        study=record.code,
        bank=bank.title,
        n_items=len(bank.items),
        left_out=f"\nWhat could not be computed, by analysis:\n\n{missing}" if missing else "",
    )
    yield PackageFile("README.md", "What is where.", _text(readme))
    methods = methods_paragraph(workspace, record.code, results)
    yield PackageFile(
        "documentation/methods.md",
        "How the study was collected and analyzed.",
        _text(f"# Methods\n\n{methods}\n"),
    )


def _text(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# Data.


def _data_files(
    workspace: Workspace, record: FrozenStudy, bank: Instrument
) -> Iterator[PackageFile]:
    answers = exports.export_tidy(workspace, record.code)
    yield _csv_file(record, "answers", "Every answer, one a row.", answers, bank)
    counts = exports.counts_csv(workspace, record.code)
    yield _csv_file(record, "counts", "Answers and reasons for none, by model.", counts, bank)
    if record.kind == "planned":
        calls = calls_csv(workspace, record.code)
        yield _csv_file(record, "attempts", "Every call that was sent.", calls, bank)
        prompts = exports.prompts_csv(workspace, record.code)
        yield _csv_file(record, "prompts", "Every prompt that was sent.", prompts, bank)
    frame = answer_store.tidy(workspace.database, record.study_id).to_pandas()
    if 0 < frame["item"].nunique() <= wide.MOST_ITEMS:
        yield from _wide_files(record, bank, frame)


def _csv_file(
    record: FrozenStudy, words: str, title: str, body: bytes, bank: Instrument
) -> PackageFile:
    """A CSV file with fields for the columns that its header names."""
    header = pd.read_csv(BytesIO(body), nrows=0, dtype="str").columns
    path = packages.data_path(record.code, words)
    return PackageFile(path, title, body, tuple(_field(str(name), bank) for name in header))


def _field(name: str, bank: Instrument) -> PackageField:
    values = _VALUES.get(name)
    if name == "answer":
        values = {o.code: o.labels.get("en", o.code) for f in bank.formats for o in f.options}
    elif name == "item":
        values = {item.code: item.text(bank.languages[0]) for item in bank.items}
    is_count = name in STATUS_WORDS.values()
    title = _TITLES.get(name) or ("Number of such replies" if is_count else f"Column '{name}'")
    return PackageField(name, "integer" if is_count else _type(name), title, values)


def _type(name: str) -> FieldType:
    if name in _INTEGERS:
        return "integer"
    return "number" if name in _NUMBERS else "boolean" if name == "cost_estimated" else "string"


def _wide_files(
    record: FrozenStudy, bank: Instrument, frame: pd.DataFrame
) -> Iterator[PackageFile]:
    """Scores as CSV, with reversed items reversed, and answers as they were given for SPSS."""
    scores = wide.wide_table(bank, frame, "scores")
    if scores is not None:
        texts = {item.code: item.text(bank.languages[0]) for item in bank.items}
        yield PackageFile(
            packages.data_path(record.code, "scores"),
            "Scores, reversed items reversed; one administration a row.",
            frame_csv(scores.frame),
            (
                *(_field(name, bank) for name in scores.conditions),
                *(
                    PackageField(code, "number", texts[code] or f"Score of the item {code}")
                    for code in scores.items
                ),
            ),
        )
    answers = wide.wide_table(bank, frame, "answers")
    if answers is not None:
        yield PackageFile(
            "spss/answers.sav",
            "Answers as they were given, for SPSS; one administration a row.",
            write_sav(answers.frame, answers.variables, record.code),
        )


# Materials and results.


def _materials(workspace: Workspace, record: FrozenStudy) -> Iterator[PackageFile]:
    study = record.code
    yield PackageFile("materials/bank.csv", "The bank.", exports.bank_csv(workspace, study))
    if record.kind == "planned":
        yield PackageFile(
            "materials/design.yaml", "The design.", design_yaml(record.design).encode()
        )
        yield PackageFile("materials/plan.csv", "The plan.", plan_csv(workspace, study))
    templates = studies.templates(workspace.database, record.study_id)
    written = [TEMPLATE.validate_json(body) for code, body in templates.items() if code]
    if written:
        yield PackageFile(
            "materials/templates.yaml", "The prompt templates.", templates_yaml(written)
        )
    if contexts := tuple(studies.contexts(workspace.database, record.study_id).values()):
        yield PackageFile(
            "materials/contexts.jsonl", "Personas or conversations.", contexts_jsonl(contexts)
        )
    for name, body in exports.histories(workspace, study).items():
        yield PackageFile(f"materials/{name}", "What was changed or chosen.", body)


def _result_files(results: Mapping[str, AnalysisResult]) -> Iterator[PackageFile]:
    for name, result in results.items():
        yield PackageFile(
            f"results/{name}/result.json", f"All of {name}, with its notes.", result_json(result)
        )
        for table in result.tables:
            yield PackageFile(
                f"results/{name}/{slug(table.name)}.csv",
                f"{name}: {table.title}",
                table_csv(table),
                tuple(_result_fields(table)),
            )


def _result_fields(table: ResultTable) -> Iterator[PackageField]:
    for column in table.columns:
        yield PackageField(column.name, _column_type(table.frame[column.name]), column.title)


def _column_type(values: pd.Series[Any]) -> FieldType:
    if pd.api.types.is_bool_dtype(values):
        return "boolean"
    if pd.api.types.is_integer_dtype(values):
        return "integer"
    return "number" if pd.api.types.is_numeric_dtype(values) else "string"


# In the background, for pages.


def package_of(
    workspace: Workspace, study: str, names: Sequence[str], *, begin: bool
) -> Computation[MadePackage] | None:
    """The package of a study with these analyses and their defaults, as its answers are now.

    It is begun where `begin` is true and it is not known yet, or was cancelled; otherwise None
    says that nobody asked for it.
    """
    parts = [
        workspace.process,
        workspace.name,
        study,
        *names,
        analyses.revision(workspace, [study]),
    ]
    key = f"package:{parts}"
    found = background.known(key)
    if begin and (found is None or found.state == "cancelled"):
        background.forget_key(key)
        requests = requests_of(study, names)
        found = background.begin(key, "package", lambda: make_package(workspace, study, requests))
    return found


def requests_of(study: str, names: Sequence[str]) -> list[AnalysisRequest]:
    """A request for each analysis, with its defaults."""
    return [AnalysisRequest(analyses.by_name(name).name, (study,)) for name in dict.fromkeys(names)]

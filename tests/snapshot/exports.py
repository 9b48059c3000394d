"""Studies, banks, sets of contexts and plans as the files that Inkblot gives out."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import replace
from pathlib import Path

from core.domain.instrument import problems
from core.domain.study import describe_contexts
from core.domain.values import slug
from core.errors import UserError
from core.export import frame_csv
from core.files.banks.reading import read_instrument
from core.files.banks.writing import instrument_to_csv
from core.files.contexts import contexts_csv, contexts_jsonl
from core.workflow.answers import browsing, exports, texts
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.designs import presets, studies
from core.workflow.respondents import catalog
from core.workflow.statistics import factor_models
from core.workflow.statistics.analyses import known_truth
from core.workflow.workspace import Workspace
from tests.snapshot.results import refusal, write_file
from tests.snapshot.studies import Entry

CLOCK = ("time", "latency_s")
"""Columns of exports that tell when something was asked and how long it took: never the same."""

MOST_ITEMS = 500  # of a bank that is written as a workbook too, which takes long


def write_common(workspace: Workspace, folder: Path) -> None:
    """Banks, sets of contexts and plans, which no answers are needed for."""
    write_banks(workspace, folder / "banks")
    write_contexts(workspace, folder / "contexts")
    write_plans(workspace, folder / "plans")


def write_banks(workspace: Workspace, folder: Path) -> None:
    """Each bank as CSV, and again after a way through a workbook and through CSV."""
    for bank in editing.summaries(workspace):
        data = editing.export(workspace, bank.code, "csv", None)
        write_file(folder / f"{bank.code}.csv", data)
        files = {"csv": data}
        if bank.n_items <= MOST_ITEMS:
            files["xlsx"] = editing.export(workspace, bank.code, "xlsx", None)
        for name, file in files.items():
            draft = read_instrument(f"{bank.code}.{name}", file)
            again = instrument_to_csv(draft.instrument)
            lines = ["the same" if again == data else "NOT THE SAME"]
            lines += [*map(str, draft.errors), *map(str, draft.warnings)]
            write_file(folder / f"{bank.code} through {name}.txt", "\n".join(lines) + "\n")
        found = problems(editing.load(workspace, bank.code).instrument)
        lines = [f"{one.where}: {one.what}" for one in found]
        write_file(folder / f"{bank.code} problems.txt", "\n".join([bank.title, *lines]) + "\n")


def write_contexts(workspace: Workspace, folder: Path) -> None:
    """Each set of contexts as CSV and JSON Lines, with what is said of it."""
    for name, found in sets.load_all(workspace).items():
        write_file(folder / f"{slug(name)}.csv", contexts_csv(found))
        write_file(folder / f"{slug(name)}.jsonl", contexts_jsonl(found))
        write_file(folder / f"{slug(name)}.txt", describe_contexts(found) + "\n")


def write_plans(workspace: Workspace, folder: Path) -> None:
    """How large each published design is, what stands in its way, and its first requests."""
    person = catalog.list_respondents(workspace)[0]
    for preset in presets.PUBLISHED_DESIGNS:
        design = presets.design(workspace, preset)
        design = replace(design, respondents=(person.label,))
        size = studies.size(workspace, design)
        lines = [f"{name}: {value}" for name, value in vars(size).items()]
        lines += [f"obstacle: {one}" for one in studies.check(workspace, design)]
        lines += [f"caution: {one}" for one in studies.cautions(workspace, design)]
        for number in (0, size.calls // 2, size.calls - 1):
            messages = studies.example(workspace, design, number).messages
            lines += [f"\nrequest {number}", *(f"{m['role']}: {m['content']}" for m in messages)]
        write_file(folder / f"{preset.code}.txt", "\n".join(lines) + "\n")
        write_file(folder / f"{preset.code}.yaml", studies.design_yaml(design))


def write_studies(workspace: Workspace, entry: Entry, folder: Path) -> None:
    """All files of the studies that an entry makes, and what is known of them."""
    for code in (entry.name, *entry.made):
        place = folder / "studies" / code
        for file in exports.export_study(workspace, code, place):
            file.write_bytes(without_clock(file.name, file.read_bytes()))
        _sum(place)
        write_file(place / "overview.csv", frame_csv(browsing.overview(workspace, code)))
        record = studies.load(workspace, code)
        if record.kind == "imported":
            continue
        _write_truth(workspace, code, place)
        for preset in factor_models.presets():
            write_file(place / f"model {preset}.txt", _model(workspace, code, preset))
    if entry.name in texts.text_studies(workspace):
        lists = texts.word_lists_of(editing.load(workspace, entry.given["lists"]).instrument)
        counts = frame_csv(texts.count_words(workspace, entry.name, lists))
        write_file(folder / "studies" / entry.name / "word counts.csv", counts)


def without_clock(name: str, data: bytes) -> bytes:
    """A file of a study without times and durations, which differ from run to run.

    The plan says in its head when it was frozen; answers and calls have columns of the clock.
    """
    if name == "plan.csv":
        return re.sub(rb" frozen \S+?(?=[\s\"])", b" frozen TIME", data, count=1)
    if name not in ("answers.csv", "calls.csv", "amendments.csv"):
        return data
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))
    hidden = [place for place, column in enumerate(rows[0]) if column in CLOCK]
    for row in rows[1:]:
        for place in hidden:
            row[place] = "CLOCK" if row[place] else ""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _sum(place: Path) -> None:
    """The list of checksums anew, of the files without the clock."""
    file = place / "SHA256SUMS"
    names = [line.split("  ", 1)[1] for line in file.read_text(encoding="utf-8").splitlines()]
    lines = [f"{hashlib.sha256((place / name).read_bytes()).hexdigest()}  {name}" for name in names]
    write_file(file, "\n".join(lines) + "\n")


def _write_truth(workspace: Workspace, study: str, place: Path) -> None:
    """What is true of the simulated respondents of a study."""
    try:
        truths = known_truth(workspace, study)
    except UserError as error:
        write_file(place / "truth refused.txt", refusal(error))
        return
    for truth in truths:
        name = slug(truth.respondent)
        write_file(place / f"truth {name} items.csv", frame_csv(truth.items))
        write_file(place / f"truth {name} alphas.csv", frame_csv(truth.alphas))


def _model(workspace: Workspace, study: str, preset: str) -> str:
    try:
        proposal = factor_models.proposal(workspace, [study], preset)
    except UserError as error:
        return refusal(error)
    names = [f"# {name}: {own}" for name, own in proposal.names.items()]
    return "\n".join([proposal.text, *names]) + "\n"

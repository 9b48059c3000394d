"""A study as files: its answers, counts, bank, plan, calls, design and amendments."""

from __future__ import annotations

import hashlib
import json
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Literal

import pandas as pd

from core.domain.study import USUAL_CALLS
from core.domain.values import json_value
from core.errors import FileError, NotEnoughData
from core.export import frame_csv
from core.files import answers
from core.files.banks import writing
from core.files.people import with_facts
from core.files.writing import csv_bytes, write_files
from core.store import answers as store
from core.store import banks as bank_store
from core.store import people, runs, studies
from core.workflow.answers import wide
from core.workflow.answers.browsing import SHARES, overview, status_shares
from core.workflow.designs.studies import design_yaml, plan_csv
from core.workflow.runs.control import calls_csv
from core.workflow.workspace import Workspace


def export_tidy(
    workspace: Workspace, study: str, file_format: Literal["csv", "parquet"] = "csv"
) -> bytes:
    """Every answer of a study in the tidy format."""
    record = studies.get(workspace.database, study)
    frame = store.tidy(workspace.database, record.study_id).to_pandas()
    frame = with_facts(frame, people.values(workspace.database, record.study_id))
    if record.kind == "planned":
        # One call a trial: latency, tokens and time differ from run to run, answers need not.
        frame["label_order"] = frame["label_order"].replace("as_is", "")
        for name, usual in USUAL_CALLS.items():
            if (frame[name] == usual).all():
                frame[name] = ""  # not varied
    return answers.write_tidy(frame, file_format)


def bank_csv(workspace: Workspace, study: str) -> bytes:
    """The bank of a study as it was asked, or as it was imported with the answers."""
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    return writing.instrument_to_csv(bank)


def _amendments_csv(workspace: Workspace, study: str) -> bytes:
    """The amendments of a study, oldest first; empty where there are none."""
    record = studies.get(workspace.database, study)
    rows = [
        (f"{one.amended_at:%Y-%m-%dT%H:%M:%S%z}", one.respondent.label, one.change, one.reason)
        for one in studies.amendments(workspace.database, record.study_id)
    ]
    columns = ["time", "respondent", "change", "reason"]
    return frame_csv(pd.DataFrame(rows, columns=columns)) if rows else b""


def _recipes_json(workspace: Workspace, study: str) -> bytes:
    """How the contexts of a study were chosen from a corpus; empty where they were not."""
    record = studies.get(workspace.database, study)
    entries = [
        {
            "set": entry.set_name,
            "contexts": entry.n_contexts,
            "in_words": entry.recipe.sentence,
            **json_value(entry.recipe),
        }
        for entry in studies.recipes(workspace.database, record.study_id)
    ]
    return (json.dumps(entries, ensure_ascii=False, indent=1) + "\n").encode() if entries else b""


def histories(workspace: Workspace, study: str) -> dict[str, bytes]:
    """How contexts were chosen and what was amended, as far as there is any, by file name."""
    files = {
        "context_recipes.json": _recipes_json(workspace, study),
        "amendments.csv": _amendments_csv(workspace, study),
    }
    return {name: body for name, body in files.items() if body}


def prompts_csv(workspace: Workspace, study: str) -> bytes:
    """The prompts of a study as they were sent, a row for each message; each prompt once."""
    record = studies.get(workspace.database, study)
    rows = [
        (prompt, place, message["role"], message["content"])
        for prompt, messages in runs.sent_prompts(workspace.database, record.study_id)
        for place, message in enumerate(messages, 1)
    ]
    return csv_bytes([("prompt", "place", "role", "text"), *rows])


def counts_csv(workspace: Workspace, study: str) -> bytes:
    """By respondent: trials planned, asked and replied, usable answers, and each status."""
    shown = status_shares(overview(workspace, study), ["respondent"])
    named = [name for name in shown if name not in SHARES]
    frame = shown[named].drop(columns="missing").rename(columns={"n": "usable"})
    return frame_csv(frame)


def export_study(
    workspace: Workspace, study: str, directory: Path, wide_format: wide.WideFormat | None = None
) -> tuple[Path, ...]:
    """All files of a study (answers, counts, bank, plan, calls, design) with their SHA-256.

    In a `wide_format`, also the tables with a row for each administration: scores where answers
    have points, and answers.

    Raises
    ------
    NotEnoughData
        Neither of the wide tables can be made.
    """
    record = studies.get(workspace.database, study)
    contents = {
        "answers.csv": export_tidy(workspace, study),
        "bank.csv": bank_csv(workspace, study),
        "counts.csv": counts_csv(workspace, study),
    }
    if record.kind == "planned":
        contents["plan.csv"] = plan_csv(workspace, study)
        contents["calls.csv"] = calls_csv(workspace, study)
        contents["prompts.csv"] = prompts_csv(workspace, study)
        contents["design.yaml"] = design_yaml(record.design).encode()
    contents |= histories(workspace, study)
    if wide_format:
        with suppress(NotEnoughData):
            body = wide.export_wide(workspace, study, "scores", wide_format)
            contents[f"wide_scores.{wide_format}"] = body
        with suppress(NotEnoughData) if f"wide_scores.{wide_format}" in contents else nullcontext():
            body = wide.export_wide(workspace, study, "answers", wide_format)
            contents[f"wide_answers.{wide_format}"] = body
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in contents.items()]
    contents["SHA256SUMS"] = ("\n".join(sums) + "\n").encode()
    new = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_files({directory / name: data for name, data in contents.items()})
    except OSError as error:
        if new:
            with suppress(OSError):
                directory.rmdir()
        raise FileError(
            f"{directory} cannot be written ({error.strerror}).", "Choose another folder."
        ) from error
    return tuple(directory / name for name in contents)

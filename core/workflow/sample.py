"""The sample study: 20 items by 25 personas, run by one button."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from core.domain.study import Context, Design
from core.errors import DesignError
from core.files import contexts
from core.store import respondents as respondent_store
from core.workflow.designs import studies
from core.workflow.respondents.catalog import LOCAL, SIMULATED
from core.workflow.runs import control
from core.workflow.workspace import Workspace

SampleKind = Literal["simulated", "local"]

_SAMPLE_BANK = "attitudes_20"
LOCAL_PERSONAS = 3


def starter_personas(data_directory: Path) -> tuple[Context, ...]:
    """The 25 personas that come along."""
    file = data_directory / "personas_25.csv"
    return contexts.read_personas(file.name, file.read_bytes())


def _sample_design(workspace: Workspace, kind: SampleKind) -> Design:
    """The sample study as a design; the local one is shorter, because that model is slower."""
    personas = starter_personas(workspace.data_directory)
    person = SIMULATED if kind == "simulated" else LOCAL
    return Design(
        study=f"sample_{kind}",
        instrument=_SAMPLE_BANK,
        respondents=(person.label,),
        contexts=personas if kind == "simulated" else personas[:LOCAL_PERSONAS],
        notes="The sample study that comes with Inkblot.",
    )


def start_sample(workspace: Workspace, kind: SampleKind) -> str:
    """Freeze the sample study where it is not there yet, start it, and return its code."""
    person = SIMULATED if kind == "simulated" else LOCAL
    design = _sample_design(workspace, kind)
    try:
        record = studies.load(workspace, design.study)
    except DesignError:
        respondent_store.offer(workspace.database, [person])
        record = studies.freeze(workspace, replace(design))
    control.start(workspace, record.code)
    return record.code

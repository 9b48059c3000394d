"""Small studies for tests: a bank, a respondent and a frozen plan in one call."""

from __future__ import annotations

from core.domain.study import Context, Design, Respondent, SamplingSettings, SimulationSettings
from core.store.studies import StudyRecord
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.control import Progress
from core.workflow.workspace import Workspace

KEY_VARIABLE = "INKBLOT_KEY_TEST"


def simulated(label: str = "Simulated", **settings: float) -> Respondent:
    """A simulated respondent of known truth."""
    return Respondent(
        label=label,
        kind="simulated",
        model="graded response model",
        sampling=SamplingSettings(at_once=8, price_in=0.0, price_out=0.0),
        simulation=SimulationSettings(**settings),
    )


def service(base_url: str, label: str = "Service", **settings: object) -> Respondent:
    """A respondent behind an OpenAI-compatible service."""
    sampling = SamplingSettings(**{"at_once": 8, "timeout_s": 5.0, **settings})
    return Respondent(label, "api", "test-model", base_url, KEY_VARIABLE, sampling)


def personas(number: int) -> tuple[Context, ...]:
    """Numbered personas."""
    return tuple(Context(f"p{n:04}", f"You are person number {n}.") for n in range(1, number + 1))


def freeze(
    workspace: Workspace,
    person: Respondent,
    *,
    study: str = "study",
    bank: str = "attitudes_20",
    n_personas: int = 5,
    also: tuple[str, ...] = (),
    **factors: object,
) -> StudyRecord:
    """A frozen study of `bank` by `n_personas`; `also` names saved respondents beside `person`."""
    catalog.save(workspace, person)
    design = Design(
        study=study,
        instrument=bank,
        respondents=(person.label, *also),
        contexts=personas(n_personas),
        **factors,
    )
    return studies.freeze(workspace, design)


def finished(workspace: Workspace, study: str = "study") -> Progress:
    """Wait until a run has ended; how it ended."""
    return control.wait(workspace, study, every_s=0.02)

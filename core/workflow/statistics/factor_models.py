"""Factor models a person edits: proposed from the bank, changed by moves or as text, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.analysis.shared.factor_models import editing
from core.analysis.shared.factor_models.models import MODELS, ModelKind, proposed_text
from core.errors import DesignError, NotEnoughData
from core.workflow import saved_inputs
from core.workflow.statistics import frames
from core.workflow.workspace import Workspace

MODEL_HEADING = "## "
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Proposal:
    """A model text, and what its names stand for where they are not the items' own."""

    text: str
    names: Mapping[str, str]

    def name(self, name: str) -> str:
        """What users call an item or factor of the text."""
        return self.names.get(name, name)


def proposal(workspace: Workspace, studies: Sequence[str], preset: ModelKind) -> Proposal:
    """The model of a preset for the items of some studies.

    Raises
    ------
    NotEnoughData
        These items have no such model, or there are no answers.
    """
    frame = frames.item_scores(workspace, studies, {})
    if frame.empty:
        raise NotEnoughData("There are no answers yet.", "Run the study first.")
    written = proposed_text(frame, preset)
    return Proposal(written.text, dict(written.shown))


def saved_models(workspace: Workspace, study: str) -> dict[str, str]:
    """The models kept for a study: text by name."""
    draft = saved_inputs.load(workspace, _draft_name(study))
    return dict(draft.value) if draft else {}


def save_model(workspace: Workspace, study: str, name: str, text: str) -> None:
    """Keep a model under a name, for comparisons; one of the same name is replaced.

    Raises
    ------
    DesignError
        The name or the text is empty, the name is a preset's or too long, or it looks like a key.
    """
    name = " ".join(name.split())
    if not name or not text.strip():
        raise DesignError("A model to keep needs a name and a text.", "Type a name.")
    if name in presets().values() or len(name) > _LONGEST_NAME or saved_inputs.looks_like_key(name):
        raise DesignError("A model cannot be kept under this name.", "Type another, shorter name.")
    if saved_inputs.looks_like_key(text):
        raise DesignError("The text looks like a key and was not kept.", "Take it out.")
    saved_inputs.update(workspace, _draft_name(study), {name: text})


def delete_model(workspace: Workspace, study: str, name: str) -> None:
    """Forget a model that was kept."""
    models = {k: v for k, v in saved_models(workspace, study).items() if k != name}
    saved_inputs.save(workspace, _draft_name(study), models)


def presets() -> dict[str, str]:
    """The presets with the words for them."""
    return dict(MODELS)


def comparison_text(models: Mapping[str, str]) -> str:
    """Several models in one text, as `cfa_comparison` reads it."""
    return "\n".join(
        f"{MODEL_HEADING}{name}\n{_without_headings(text)}" for name, text in models.items()
    )


move = editing.move_item
add_cross_loading = editing.with_cross_loading
take_off = editing.without_loading
assignment = editing.assignment
residual_pairs = editing.residual_pairs
with_residual = editing.with_residual
without_residual = editing.without_residual


def _without_headings(text: str) -> str:
    """The text with no comment that would begin a new model."""
    return "\n".join(
        f"#{line.lstrip(' #')}" if line.lstrip().startswith("##") else line
        for line in text.splitlines()
    )


def _draft_name(study: str) -> str:
    return f"factor_models:{study}"

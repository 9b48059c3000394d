"""Factor models a person edits: proposed from the bank, changed by moves or as text, and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.analysis.factors.cfa_comparison.change import BANK_MODEL, EDITED_MODEL
from core.analysis.kit.factor_models import editing
from core.analysis.kit.factor_models.models import (
    MODELS,
    ModelKind,
    facts_in_text,
    is_model_name,
    proposed_text,
)
from core.errors import DesignError, NotEnoughData
from core.stats.inputs import name_list
from core.workflow import saved_inputs
from core.workflow.statistics import frames, person_facts
from core.workflow.statistics.computing import AnalysisRequest
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


EditKind = Literal["move", "add", "take_off", "correlate", "separate", "explain", "ignore"]
"""Edits of one press: a loading moves, is added or goes; two residuals may covary, or not; one
name explains another, or not."""


@dataclass(frozen=True)
class ModelEdit:
    """One edit of a model, with the names of the text.

    `target` is the factor an item moves to or loads on as well, the second item of a pair of
    residuals, or what explains `item`, which may be a factor then; `source` is the factor that the
    item leaves, empty for an item on no factor.
    """

    kind: EditKind
    item: str
    source: str = ""
    target: str = ""


def apply_edit(text: str, edit: ModelEdit, proposed: Proposal) -> tuple[str, str]:
    """The edited text, which can be read, and a sentence on the change in the users' names.

    Parameters
    ----------
    text : str
        A model text.
    edit : ModelEdit
        One edit of it.
    proposed : Proposal
        Of the same items, whose names it knows.

    Raises
    ------
    ModelTextError
        The text cannot be read, before or after the edit.
    DesignError
        A new factor has a name that a text cannot hold, or the model would lose its last item.
    """
    changed, sentence = _edited(text, edit, proposed)
    factors = {f: proposed.name(f) for own in editing.assignment(text).values() for f in own}
    remaining = {f for own in editing.assignment(changed).values() for f in own}
    gone = [shown for name, shown in factors.items() if name not in remaining]
    if gone:
        sentence += f" Factors that no item measures any longer are out: {name_list(gone)}."
    if edit.kind == "ignore":
        return changed, sentence
    lost = [pair for pair in editing.regressions(text) if pair not in editing.regressions(changed)]
    if lost:
        pairs = [f"{proposed.name(right)} explains {proposed.name(left)}" for left, right in lost]
        sentence += f" Regressions that are out with it: {name_list(pairs)}."
    return changed, sentence


def _edited(text: str, edit: ModelEdit, proposed: Proposal) -> tuple[str, str]:
    """The edited text and the sentence."""
    present = editing.assignment(text)
    item, source, target = map(proposed.name, (edit.item, edit.source, edit.target))
    if edit.kind in ("move", "add"):
        _check_factor(edit.target, proposed, present)
    if edit.kind == "move":
        sentence = f"{item} moved from {source} to {target}." if source else f"{item}: on {target}."
        return editing.move_item(text, edit.item, edit.source, edit.target), sentence
    if edit.kind == "add":
        sentence = f"{item} has a cross-loading on {target}."
        return editing.with_cross_loading(text, edit.item, edit.target), sentence
    if edit.kind == "correlate":
        sentence = f"The residuals of {item} and {target} may correlate."
        return editing.with_residual(text, edit.item, edit.target), sentence
    if edit.kind == "separate":
        sentence = f"The residuals of {item} and {target} are uncorrelated."
        return editing.without_residual(text, edit.item, edit.target), sentence
    if edit.kind == "explain":
        changed = editing.with_regression(text, edit.item, edit.target)
        sentence = f"{target} explains {item}."
        covarying = editing.without_residual(text, edit.item, edit.target) != text
        if covarying and changed != text:
            sentence += " Their covariance is out of the model."
        return changed, sentence
    if edit.kind == "ignore":
        sentence = f"{target} does not explain {item}."
        return editing.without_regression(text, edit.item, edit.target), sentence
    changed = editing.without_loading(text, edit.item, edit.source)
    if not any(editing.assignment(changed).values()):
        raise DesignError("A model needs an item.", "Put another item on a factor first.")
    is_out = present.get(edit.item, ()) == (edit.source,)
    sentence = f"{item} is out of the model." if is_out else f"{item} is off {source}."
    return changed, sentence


def _check_factor(name: str, proposed: Proposal, present: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse the name of a new factor that a model text cannot hold or that an item has."""
    factors = {factor for own in present.values() for factor in own}
    items = {*present, *editing.assignment(proposed.text)}
    if name not in factors and (not is_model_name(name) or name in items):
        raise DesignError(
            f"A factor cannot be called {name}.",
            "Begin with a letter, go on with letters, digits, dots and underscores, and choose a "
            "name that no item has.",
        )


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


def covariate_facts(workspace: Workspace, study: str) -> list[str]:
    """The facts about the people of a study that a model text can name as covariates."""
    facts = person_facts.known_facts(workspace.database, [study])
    return [
        name
        for name, fact in facts.items()
        if is_model_name(name) and (fact.kind == "number" or fact.n_levels == 2)
    ]


def presets() -> dict[str, str]:
    """The presets with the words for them."""
    return dict(MODELS)


def comparison_text(models: Mapping[str, str]) -> str:
    """Several models in one text, as `cfa_comparison` reads it."""
    return "\n".join(
        f"{MODEL_HEADING}{name}\n{_without_headings(text)}" for name, text in models.items()
    )


def comparison_with_bank(fitted: AnalysisRequest, proposed: Proposal) -> AnalysisRequest | None:
    """The comparison of an edited model with the bank's, over the answers of the edited one.

    Parameters
    ----------
    fitted : AnalysisRequest
        The request for `cfa`, whose model text is the edited model.
    proposed : Proposal
        The bank's model.

    Returns
    -------
    AnalysisRequest or None
        For `cfa_comparison`, whose result `model_changes` reads; None where no model is edited, or
        where it has facts about people as covariates, which a comparison does not take.
    """
    edited = str(fitted.options["model_text"])
    if not edited.strip() or not proposed.text or facts_in_text(edited):
        return None
    same = ("by", "estimator", "missing")
    options = {name: value for name, value in fitted.options.items() if name in same}
    models = comparison_text({BANK_MODEL: proposed.text, EDITED_MODEL: edited})
    return replace(fitted, analysis="cfa_comparison", options={**options, "models": models})


def free_parameter(text: str, kind: str, left: str, right: str) -> str:
    """The text in which a parameter of a modification index is free.

    Parameters
    ----------
    text : str
        A model text.
    kind : str
        As the table of modification indices calls the parameter: "loading", "covariance" or
        "regression".
    left, right : str
        Names in the text: factor and item of a loading, the two sides of a covariance, or outcome
        and predictor of a regression.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    DesignError
        The text already names the parameter, or there is no edit for this kind.
    """
    changed = text
    if kind == "loading":
        changed = editing.with_cross_loading(text, right, left)
    elif kind == "covariance":
        changed = editing.with_residual(text, left, right)
    elif kind == "regression":
        changed = editing.with_regression(text, left, right)
    if changed == text:
        raise DesignError(
            "One press cannot free this parameter.", "Free it in the model text: NA*name."
        )
    return changed


assignment = editing.assignment
residual_pairs = editing.residual_pairs
regressions = editing.regressions


def _without_headings(text: str) -> str:
    """The text with no comment that would begin a new model."""
    return "\n".join(
        f"#{line.lstrip(' #')}" if line.lstrip().startswith("##") else line
        for line in text.splitlines()
    )


def _draft_name(study: str) -> str:
    return f"factor_models:{study}"

"""What to do next with each study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.instrument import REPLY_TO_JUDGE
from core.domain.numbers import count_text
from core.store import audits, imports
from core.store.studies import StudyRecord
from core.workflow.answers import bank_attachment
from core.workflow.designs import studies
from core.workflow.runs import control
from core.workflow.runs.control import StudyRun
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class NextStep:
    """Something to do with a study: the page where it is done, by its name in addresses.

    `study` is the study to open there where it is another one, `analysis` that to open.
    """

    action: str
    page: str
    study: str = ""
    analysis: str = ""


@dataclass(frozen=True)
class Question:
    """What somebody wants to know of a study, and the analysis that answers it, with its page."""

    words: str
    analysis: str
    page: str


QUESTIONS = (
    Question("Do the items measure the same thing?", "internal_consistency", "reliability"),
    Question("Which items are weak?", "item_statistics", "item_statistics"),
    Question("Are the factors those that I expect?", "cfa", "factors"),
    Question("Can I trust the scale as a whole?", "validation_report", "validation_report"),
    Question("Do groups of people or models differ?", "group_comparison", "validity"),
    Question("Is an item unfair to a group?", "dif", "comparability"),
    Question("Do the answers depend on the language?", "cross_language", "languages"),
    Question("Do they depend on the wording?", "form_agreement", "worldview"),
    Question("What do scores depend on most?", "generalizability", "reliability"),
    Question("Do they depend on the answer format?", "referential_consistency", "consistency"),
    Question("Is the answer the same when asked again?", "random_consistency", "consistency"),
    Question(
        "Which opinions does it hold? Do language or wording change them?", "opinions", "opinions"
    ),
    Question("Does it prefer one brand or party?", "preference", "bias"),
)


_AUDIT = NextStep("Audit the replies", "audit")


def state_words(study: StudyRecord, run: StudyRun | None) -> str:
    """How far a study is, in words; an imported one has no run."""
    if run is None:
        without = study.n_responses - study.n_usable
        gaps = f", {without:,} without one" if without else ""
        return f"{count_text(study.n_usable, 'answer')}{gaps}, imported"
    if run.state == "finished" and run.n_trials == run.n_done == run.n_usable:
        return f"{count_text(run.n_done, 'answer')}, all usable, finished"
    return f"{control.replied_words(run)}, {control.STATE_WORDS[run.state]}"


def unfinished_imports(workspace: Workspace) -> dict[str, str]:
    """What each import that is not finished has come to, in words, by study."""
    return {left.study: left.words for left in imports.unfinished_imports(workspace.database)}


def _read(workspace: Workspace, study: StudyRecord) -> NextStep:
    """The page that answers what a study of this kind asks."""
    bank = studies.frozen_bank(workspace, study.code)
    design = study.design if study.kind == "planned" else None
    if bank.kind == "words":
        return NextStep("See which words are positive", "words")
    if bank.kind == "prompts":
        return NextStep("Read the texts", "texts")
    if any(item.loadings for item in bank.items):
        return NextStep("See the worldview", "worldview")
    if design and design.levels("pairs"):
        return NextStep("See which one is preferred", "bias", analysis="preference")
    if design and design.levels("entities"):
        return NextStep("See the bias", "bias")
    if any(item.pair for item in bank.items):
        return NextStep("Read the opinions", "opinions")
    if design and min(len(design.levels(name)) for name in ("forms", "label_orders")) > 1:
        return NextStep("Read the validation report", "validation_report")
    return NextStep("Read the item statistics", "item_statistics")


def next_steps(
    workspace: Workspace,
    study: StudyRecord,
    run: StudyRun | None,
    *,
    import_unfinished: bool = False,
) -> tuple[NextStep, ...]:
    """One or two things to do with a study, the more important one first."""
    if run is None:
        read = _read(workspace, study)
        if import_unfinished:
            return NextStep("Finish the import", "import_export"), read
        unkeyed = bank_attachment.is_unkeyed(workspace, study.code)
        return (*([NextStep("Attach a bank", "import_export")] if unkeyed else []), read)
    if run.state != "finished":
        return (_RUN_STEPS.get(run.state, _CONTINUE),)
    if run.n_done < run.n_trials:
        missing = f"{run.n_trials - run.n_done:,}"
        return NextStep(f"Ask again: {missing} without a reply", "collect"), _read(workspace, study)
    if not run.n_usable:
        return (NextStep("Read why no reply is usable", "answers"),)
    if judged := _judged_study(workspace, study):
        return (NextStep("See what the judge decided", "audit", judged),)
    read = _read(workspace, study)
    return (read, _AUDIT) if _waits_for_audit(workspace, study) else (read,)


_CONTINUE = NextStep("Continue on Collect", "collect")
_WATCH = NextStep("Watch it on Collect", "collect")
_RUN_STEPS: Mapping[control.RunState, NextStep] = {
    "not_started": NextStep("Start it on Collect", "collect"),
    **dict.fromkeys(control.UNDER_WAY, _WATCH),
}


def _judged_study(workspace: Workspace, study: StudyRecord) -> str:
    """The study whose replies this one puts to a judge; empty for any other study."""
    if REPLY_TO_JUDGE not in study.design.levels("forms"):
        return ""
    from core.workflow.answers import judging  # loads ibis

    return judging.source_study(workspace, study)


def _waits_for_audit(workspace: Workspace, study: StudyRecord) -> bool:
    """Whether a language model answered and nobody has drawn an audit yet."""
    people = studies.respondents_as_amended(workspace, study.study_id).values()
    return any(person.kind != "simulated" for person in people) and not audits.audits(
        workspace.database, study.study_id
    )

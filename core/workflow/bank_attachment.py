"""Giving imported answers the bank they belong to, where they came without one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.domain.instrument import Instrument
from core.domain.results import AnalysisResult, replaced_words
from core.errors import BankError
from core.store import banks as bank_store
from core.store import imports, studies
from core.store.studies import StudyRecord
from core.workflow.bank_matches import BankMatch, candidates, complete, fitted, match_of
from core.workflow.workspace import Workspace

_KEYED, _UNKEYED = "after reverse-keying", "without reverse-keying"
"""How results name their scores, and what stands there for a study without a bank."""


@dataclass(frozen=True)
class Attached:
    """What came of attaching a bank. `n_scores` came with the file and are now derived."""

    study: str
    bank: str
    version: int
    about_bank: str
    n_scores: int


def _without_bank(workspace: Workspace, record: StudyRecord) -> bool:
    """Whether the answers were imported and no bank says how their items are keyed."""
    if record.kind != "imported":
        return False
    return bank_store.instrument(workspace.database, record.instrument_id).codes_only


def studies_without_bank(workspace: Workspace) -> tuple[StudyRecord, ...]:
    """The studies whose imported answers have no bank but one made from themselves."""
    records = studies.studies(workspace.database)
    return tuple(record for record in records if _without_bank(workspace, record))


def unkeyed(workspace: Workspace, study: str) -> bool:
    """Whether the scores of a study are neither keyed by a bank nor by the file they came in."""
    record = studies.get(workspace.database, study)
    return _without_bank(workspace, record) and not _has_scores(workspace, record)


def proposals(workspace: Workspace, study: str) -> list[BankMatch]:
    """Banks that hold items of a study, the best first."""
    record = studies.get(workspace.database, study)
    items, used = imports.items_and_answers(workspace.database, record.study_id)
    return candidates(workspace, items, used)


def studies_of(workspace: Workspace, bank: Instrument) -> tuple[tuple[str, BankMatch], ...]:
    """Studies without a bank that this one would fit."""
    found = []
    for record in studies_without_bank(workspace):
        match = match_of(bank, *imports.items_and_answers(workspace.database, record.study_id))
        if match.fits:
            found.append((record.code, match))
    return tuple(found)


def attach(workspace: Workspace, study: str, bank: str = "") -> Attached:
    """Give the answers of an imported study a bank; scores are derived from it from then on.

    Without `bank`, the best bank that holds every item and answer is taken. The answers stay as
    they are. The bank that was made from them is put away where no other study uses it.

    Raises
    ------
    BankError, FileError
        The study was not imported, there is no such bank, or it lacks an item or an option.
    """
    record = studies.get(workspace.database, study)
    if record.kind != "imported":
        raise BankError(
            f"Study '{study}' was asked with its bank.", "Attach banks to imported answers only."
        )
    items, used = imports.items_and_answers(workspace.database, record.study_id)
    match = complete(_bank(workspace, study, bank), items, used)
    content, formats = fitted(match.bank, used)
    with workspace.database.all_or_nothing():
        version = bank_store.publish(workspace.database, content)
        n_scores = imports.attach_bank(
            workspace.database,
            record,
            replace(record.design, instrument=content.code, version=version.version),
            version.instrument_id,
            items=match.codes,
            formats=formats,
        )
        _put_away(workspace, record.instrument)
    return Attached(study, content.code, version.version, f"{match.words}.", n_scores)


def in_true_words(
    workspace: Workspace, result: AnalysisResult, study_codes: tuple[str, ...]
) -> AnalysisResult:
    """The result, claiming no reverse-keying of answers that no bank has keyed."""
    imported = [
        record
        for record in (studies.get(workspace.database, code) for code in study_codes)
        if _without_bank(workspace, record)
    ]
    bare = [record.code for record in imported if not _has_scores(workspace, record)]
    scored = [record.code for record in imported if record.code not in bare]
    if scored:
        note = (
            f"The scores of {', '.join(scored)} are those of the imported file, which was said to "
            "have reversed them; no bank confirms it."
        )
        result = replace(result, notes=(note, *result.notes))
    if not bare:
        return result
    words = (
        _UNKEYED if len(bare) == len(study_codes) else f"{_KEYED} ({_UNKEYED}: {', '.join(bare)})"
    )
    note = (
        f"The answers of {', '.join(bare)} are unkeyed: no bank says which items are reversed. "
        "Attach one on the page Import and export."
    )
    found = replaced_words(result, _KEYED, words)
    return replace(found, notes=(note, *found.notes))


def _has_scores(workspace: Workspace, record: StudyRecord) -> bool:
    """Whether scores came with the answers of an imported study."""
    return imports.n_scores(workspace.database, record.study_id) > 0


def _bank(workspace: Workspace, study: str, code: str) -> Instrument:
    if code:
        state = bank_store.draft(workspace.database, code)
        if state is None:
            raise BankError(f"There is no bank '{code}'.", "Choose one from the list.")
        return state.instrument
    found = proposals(workspace, study)
    if not found or not found[0].fits:
        best = f" The nearest is '{found[0].bank.code}': {found[0].words}." if found else ""
        raise BankError(
            f"No bank holds all items and answers of study '{study}'.{best}",
            "Import the bank first, or add what it lacks.",
        )
    return found[0].bank


def _put_away(workspace: Workspace, code: str) -> None:
    """Put a bank away that was made from answers and that no study uses any more."""
    state = bank_store.draft(workspace.database, code)
    used = any(version.used_in for version in bank_store.versions(workspace.database, code))
    if state is not None and state.instrument.codes_only and not used:
        bank_store.set_archived(workspace.database, code, True)

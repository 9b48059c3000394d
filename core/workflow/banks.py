"""Question banks: edit with undo, publish versions, compare, import and export."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from core.domain.difference import Change, differences
from core.domain.formats import built_in
from core.domain.identifiers import slug
from core.domain.instrument import Instrument, Kind
from core.domain.instrument_json import content_hash as hash_of
from core.domain.instrument_problems import problems
from core.errors import BankError, ConflictError
from core.files import instrument_files
from core.files.instrument_files import Draft, read_instrument
from core.store import banks as store
from core.store import studies as study_store
from core.store.banks import DraftState, Version
from core.workflow.bank_gaps import Unreviewed, unreviewed_asked
from core.workflow.workspace import Workspace

__all__ = ["BankSummary", "Draft", "DraftState", "Unreviewed", "Version", "read_instrument"]

FileFormat = Literal["csv", "xlsx"]


@dataclass(frozen=True)
class BankSummary:
    """One line of the list of banks."""

    code: str
    title: str
    n_items: int
    languages: tuple[str, ...]
    saved_at: datetime
    n_versions: int
    used_in: str
    archived: bool
    n_problems: int
    kind: Kind
    n_unreviewed: int


@dataclass(frozen=True)
class Arrival:
    """Where an imported bank would be kept, and the banks it could be mistaken for."""

    code: str
    alike: tuple[Instrument, ...]
    identical: tuple[Instrument, ...]  # those of `alike` with the very same content


def summaries(workspace: Workspace) -> tuple[BankSummary, ...]:
    """Every bank, archived ones last."""
    found = []
    for state in store.drafts(workspace.database):
        bank = state.instrument
        published = store.versions(workspace.database, bank.code)
        used_in = ", ".join(v.used_in for v in published if v.used_in)
        found.append(
            BankSummary(
                bank.code, bank.title, len(bank.items), bank.languages, state.saved_at,
                len(published), used_in, state.archived, len(problems(bank)), bank.kind,
                sum(bool(w.drafted_by) for item in bank.items for w in item.wordings),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda b: (b.archived, b.title.casefold())))


def load(workspace: Workspace, code: str) -> DraftState:
    """The working copy of a bank."""
    state = store.draft(workspace.database, code)
    if state is None:
        raise BankError(f"There is no bank '{code}'.", "Choose one from the list.")
    return state


def unreviewed_of_study(workspace: Workspace, study: str) -> Unreviewed:
    """The unreviewed texts among those a study asks, in the bank as it was frozen."""
    record = study_store.get(workspace.database, study)
    bank = store.instrument(workspace.database, record.instrument_id)
    return unreviewed_asked(bank, record.design)


def create(workspace: Workspace, title: str, *, response_format: str = "likert_5") -> DraftState:
    """A new, empty bank with English as its language and one of the built-in answer formats."""
    if not title.strip():
        raise BankError("The new bank has no title.", "Type a title.")
    formats = built_in(response_format)
    bank = Instrument(
        code=_free_code(workspace, title),
        title=title.strip(),
        formats=(formats,) if formats else (),
    )
    return store.save_draft(workspace.database, bank, expected_revision=None, summary="Created")


def duplicate(workspace: Workspace, code: str) -> DraftState:
    """A copy of a bank under a new code, free to edit."""
    original = load(workspace, code).instrument
    title = f"{original.title} (copy)"
    copy = replace(original, code=_free_code(workspace, f"{code}_copy"), title=title)
    return store.save_draft(
        workspace.database, copy, expected_revision=None, summary=f"Copied from {code}"
    )


def save(
    workspace: Workspace, bank: Instrument, *, expected_revision: int, summary: str = "Edited"
) -> DraftState:
    """Keep an edit of the working copy; ConflictError where another tab was faster."""
    return store.save_draft(
        workspace.database, bank, expected_revision=expected_revision, summary=summary
    )


def undo(workspace: Workspace, code: str, *, expected_revision: int | None = None) -> DraftState:
    """Take back the last save of a bank; ConflictError where that is not the one expected."""
    _expect(workspace, code, expected_revision)
    return store.undo(workspace.database, code)


def redo(workspace: Workspace, code: str, *, expected_revision: int | None = None) -> DraftState:
    """Bring back what was undone; ConflictError where the bank has moved on since."""
    _expect(workspace, code, expected_revision)
    return store.redo(workspace.database, code)


def set_archived(workspace: Workspace, code: str, *, archived: bool) -> None:
    """Put a bank away, or bring it back. Nothing is deleted."""
    store.set_archived(workspace.database, code, archived)


def publish(workspace: Workspace, code: str) -> Version:
    """Make the working copy a version; the newest one again where nothing has changed.

    Raises
    ------
    BankError
        No study could use the bank as it is. Nothing is published.
    """
    bank = load(workspace, code).instrument
    found = [problem for problem in problems(bank) if problem.blocks]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise BankError(
            f"The bank is not ready for a version: {found[0].where}: {found[0].what}{more}.",
            "Mend what is listed under Problems, then publish it.",
        )
    return store.publish(workspace.database, bank)


def versions(workspace: Workspace, code: str) -> tuple[Version, ...]:
    """Published versions of a bank, oldest first."""
    return store.versions(workspace.database, code)


def content(workspace: Workspace, code: str, version: int | None) -> Instrument:
    """A published version of a bank, or (None) its working copy."""
    if version is None:
        return load(workspace, code).instrument
    for known in versions(workspace, code):
        if known.version == version:
            return store.instrument(workspace.database, known.instrument_id)
    raise BankError(f"Bank '{code}' has no version {version}.", "Choose one of its versions.")


def compare(
    workspace: Workspace, code: str, old: int | None, new: int | None
) -> tuple[Change, ...]:
    """What changed between two states of a bank; critical where results would change meaning."""
    return differences(content(workspace, code, old), content(workspace, code, new))


def arrival(workspace: Workspace, draft: Draft) -> Arrival:
    """The code an imported bank would get, and the banks of the same code or title."""
    bank = draft.instrument
    title, content_hash = bank.title.strip().casefold(), hash_of(bank)
    known = [state.instrument for state in store.drafts(workspace.database)]
    alike = tuple(
        other
        for other in known
        if (bank.code and other.code == slug(bank.code)) or other.title.strip().casefold() == title
    )
    identical = tuple(other for other in alike if hash_of(other) == content_hash)
    return Arrival(_free_code(workspace, bank.code or bank.title), alike, identical)


def import_bank(workspace: Workspace, draft: Draft) -> DraftState:
    """Keep an imported bank; under a free code where its own is taken.

    Raises
    ------
    BankError
        The file has errors. Nothing is kept.
    """
    if draft.errors:
        first = draft.errors[0]
        more = f" (and {len(draft.errors) - 1} more)" if len(draft.errors) > 1 else ""
        raise BankError(
            f"Line {first.line}, column {first.column}: {first.reason}{more}",
            "Mend the file and import it again; nothing was kept.",
        )
    bank = draft.instrument
    bank = replace(bank, code=_free_code(workspace, bank.code or bank.title))
    return store.save_draft(workspace.database, bank, expected_revision=None, summary="Imported")


def export(workspace: Workspace, code: str, file_format: FileFormat, version: int | None) -> bytes:
    """A bank as a CSV or XLSX file that imports back without loss."""
    bank = content(workspace, code, version)
    if file_format == "csv":
        return instrument_files.instrument_to_csv(bank)
    return instrument_files.instrument_to_xlsx(bank)


def _expect(workspace: Workspace, code: str, revision: int | None) -> None:
    if revision is not None and load(workspace, code).revision != revision:
        raise ConflictError(
            f"Bank '{code}' was changed in another tab or window meanwhile.",
            "Look at the newer state first.",
        )


def _free_code(workspace: Workspace, wish: str) -> str:
    taken = {state.instrument.code for state in store.drafts(workspace.database)}
    code, number = slug(wish), 2
    while code in taken:
        code, number = f"{slug(wish)}_{number}", number + 1
    return code

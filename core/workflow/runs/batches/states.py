"""What became of batches, in words, and giving their calls back."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.numbers import count_text
from core.errors import CollectionError
from core.store import batches as store
from core.store import respondents, studies
from core.store.batches import Batch
from core.workflow import study_log
from core.workflow.runs.batches import requests
from core.workflow.workspace import Workspace

STATUS_WORDS: Mapping[str, str] = {
    "exported": "file written",
    "waiting": "waits to be sent",
    "uploaded": "file at the service",
    "created": "at the service",
    "done": "done",
    "released": "calls given back",
}
COLUMNS = ("study", "batch", "respondent", "calls", "waiting", "state", "price factor", "file")


@dataclass(frozen=True)
class BatchRow:
    """A batch in the list: what it is, and what became of it in words."""

    study: str
    batch: Batch
    respondent: str
    state: str

    @property
    def cells(self) -> tuple[str | int | float, ...]:
        """The values of `COLUMNS`."""
        batch = self.batch
        return (
            self.study,
            batch.number,
            self.respondent,
            batch.calls,
            batch.waiting if batch.is_open else 0,
            self.state,
            batch.price_factor,
            batch.file,
        )


def batch_rows(workspace: Workspace, study: str = "") -> tuple[BatchRow, ...]:
    """The batches of a study, or of all, oldest first."""
    records = {
        record.study_id: record.code
        for record in studies.studies(workspace.database, put_away=True)
    }
    study_id = studies.get(workspace.database, study).study_id if study else None
    return tuple(
        BatchRow(
            records[batch.study_id],
            batch,
            respondents.get(workspace.database, batch.respondent_id).label,
            state_words(batch),
        )
        for batch in store.batches(workspace.database, study_id)
    )


def state_words(batch: Batch) -> str:
    """What became of a batch, with the service's own word and what went wrong."""
    words = STATUS_WORDS[batch.status]
    if batch.status == "exported" and not batch.waiting:
        words = "all replies are here"
    if service_status := batch.detail.get("service_status"):
        words += f" ({str(service_status).replace('_', ' ')})"
    if batch.status == "created" and (counts := batch.detail.get("counts")):
        words += f", {counts[0]:,} of {counts[1]:,} made"
    if problem := batch.detail.get("problem"):
        words += f": {problem}"
    return words


def out_words(workspace: Workspace, study: str) -> str:
    """How many calls of a study are out in batches; empty: none."""
    out, _ = store.count_out(workspace.database, studies.get(workspace.database, study).study_id)
    if not out:
        return ""
    return (
        f"{count_text(out, 'call is', 'calls are')} out in a batch. Runs leave "
        f"{'it' if out == 1 else 'them'} alone until the replies are imported or the batch is "
        "cancelled."
    )


def driven_respondents(workspace: Workspace, study: str, label: str = "") -> tuple[str, ...]:
    """The respondents with a batch on its way to a service or there, or the one of that label."""
    at_service = ("waiting", "uploaded", "created")
    labels = [
        row.respondent
        for row in batch_rows(workspace, study)
        if row.batch.status in at_service and label in ("", row.respondent)
    ]
    return tuple(dict.fromkeys(labels))


def release(workspace: Workspace, study: str, number: int | None = None) -> int:
    """Give back the calls of the open batches that are files only, or of one; how many they are.

    Raises
    ------
    CollectionError
        There is no such batch, or a service has it.
    """
    record = studies.get(workspace.database, study)
    chosen = [
        batch
        for batch in store.batches(workspace.database, record.study_id)
        if batch.is_open and number in (None, batch.number)
    ]
    if not chosen:
        which = "no open batch" if number is None else f"no open batch {number}"
        raise CollectionError(f"'{study}' has {which}.", "See the list of its batches.")
    files = [batch for batch in chosen if batch.status == "exported"]
    if number is not None and not files:
        raise CollectionError(
            f"Batch {number} of '{study}' is at the service or on its way there.",
            "Cancel all batches of its respondent, without naming a batch.",
        )
    n_calls = sum(batch.waiting for batch in files)
    with study_log.logged(workspace, study, f"Gave back {n_calls:,} calls of batches"):
        for batch in files:
            store.report_batch(workspace.database, batch.batch_id, "released", {})
    return n_calls


def files_to_download(workspace: Workspace, study: str) -> tuple[str, ...]:
    """The names of the files of open batches that wait beside the database for a person."""
    return tuple(
        row.batch.file
        for row in batch_rows(workspace, study)
        if row.batch.status == "exported"
        and row.batch.waiting
        and (requests.folder(workspace) / row.batch.file).is_file()
    )


def files_as_zip(workspace: Workspace, study: str) -> bytes:
    """These files as one ZIP file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files_to_download(workspace, study):
            archive.write(requests.folder(workspace) / name, name)
    return packed.getvalue()

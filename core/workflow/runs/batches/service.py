"""Driving the batch service of an endpoint: upload, create, poll, fetch, import, cancel.

Each step is written to the database when it is done, so a driver that is killed at any point goes
on where it was. A batch that the service made and that is not on file yet is found by its mark.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.collect import endpoints
from core.collect.client import PAUSES, CallFailure, FailureKind
from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.errors import CollectionError, FileError, UserError
from core.store import batches as store
from core.store import studies
from core.store.batches import Batch, BatchStatus
from core.workflow import study_log
from core.workflow.runs.batches import requests
from core.workflow.runs.batches.replies import import_replies
from core.workflow.runs.batches.requests import Limits, services
from core.workflow.workspace import Workspace, key_for

if TYPE_CHECKING:
    from core.collect.openai_batches import BatchService, ServiceBatch

log = logging.getLogger(__name__)

POLL_S = 30.0
_MOST_ROUNDS = 6  # of files for what failed or expired in the files before
_MOST_FAILURES = 6  # requests to the service in a row
_STOP_CHECK_S = 0.3

_threads: dict[tuple[str, int, int], threading.Thread] = {}
_guard = threading.Lock()


@dataclass(frozen=True)
class Drive:
    """What a driver is to do: new files for what remains, or cancel what is at the service."""

    price_factor: float = 1.0
    poll_s: float = POLL_S
    limits: Limits = field(default_factory=Limits)
    cancel: bool = False


def drive(
    workspace: Workspace,
    study: str,
    respondent: str,
    how: Drive,
    *,
    report: Callable[[Batch], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> str:
    """Have the service of a respondent answer what remains; how it ended, in a sentence.

    `report` is called with each batch when it moves on. Ends where every call has a reply, where a
    round of files brought no reply, or where `stopping`.

    Raises
    ------
    CollectionError
        The service refuses, or could not be reached again and again. Batches stay as they are;
        drive them again.
    """
    record = studies.get(workspace.database, study)
    people = services(workspace, study, respondent)
    if len(people) > 1:
        labels = ", ".join(sorted(person.label for person in people.values()))
        raise CollectionError(
            f"'{study}' asks several models of services.", f"Name one of them: {labels}."
        )
    ((respondent_id, person),) = people.items()
    driver = _Driver(
        workspace,
        study,
        record.study_id,
        respondent_id,
        person,
        how,
        report or (lambda _: None),
        stopping,
    )
    try:
        return asyncio.run(driver.go())
    except CallFailure as failure:
        raise CollectionError(
            workspace.keys.redact(failure.message),
            "Check address and key of the respondent, then drive its batches again.",
        ) from None


@dataclass(eq=False)
class _Driver:
    """Drives the batches of one respondent of a study."""

    workspace: Workspace
    study: str
    study_id: int
    respondent_id: int
    person: Respondent
    how: Drive
    report: Callable[[Batch], None]
    stopping: Callable[[], bool]
    service: BatchService = field(init=False)
    answered: int = 0  # replies and calls given back, in the present round of files
    problem: str = ""  # what the service said of a batch that failed
    failures: int = 0  # in a row
    unmarked: set[int] = field(default_factory=set)  # surely not created at the service yet

    @property
    def folder(self) -> Path:
        """Where files of requests wait to be uploaded: beside the database."""
        return requests.folder(self.workspace)

    async def go(self) -> str:
        """Work until nothing is left to do."""
        from core.collect.openai_batches import BatchService  # slow to load

        endpoints.check_address(self.person.base_url)
        key = key_for(self.workspace, self.person.base_url, self.person.key_variable)
        self.service = BatchService(self.person.base_url, key, used_keys=self.workspace.keys.used)
        try:
            if self.how.cancel:
                await self._cancel()
            return await self._rounds()
        finally:
            await self.service.close()

    async def _rounds(self) -> str:
        """Finish the open batches; then send what remains, as long as replies come."""
        await self._finish_open()
        for _ in range(_MOST_ROUNDS):
            if self.stopping():
                return "Stopped on request. Batches at the service go on; drive them again."
            if self.how.cancel or not self._export():
                break
            self.answered = 0
            await self._finish_open()
            if not self.answered and not self.stopping():
                said = f" The service says: {self.problem}" if self.problem else ""
                raise CollectionError(
                    f"The last files brought no reply.{said}",
                    "See the failures on the page Collect.",
                )
        remaining = self._remaining()
        if not remaining:
            return "All calls have a reply."
        return f"{count_text(remaining, 'question has', 'questions have')} no reply yet."

    def _remaining(self) -> int:
        n_trials, n_done = store.progress_of(
            self.workspace.database, self.study_id, self.respondent_id
        )
        return n_trials - n_done

    def _export(self) -> bool:
        """Write what remains as files; whether anything did."""
        try:
            requests.export(
                self.workspace,
                self.study,
                self.folder,
                respondent=self.person.label,
                limits=self.how.limits,
                price_factor=self.how.price_factor,
                status="waiting",
            )
        except requests.NothingRemains:
            return False
        return True

    def _open(self) -> list[Batch]:
        return [
            batch
            for batch in store.batches(self.workspace.database, self.study_id)
            if batch.respondent_id == self.respondent_id
            and batch.status in ("waiting", "uploaded", "created")
        ]

    async def _finish_open(self) -> None:
        """Move every open batch on until none is left, or until a stop is requested."""
        while (batches := self._open()) and not self.stopping():
            before = [(batch.status, batch.detail) for batch in batches]
            for batch in batches:
                if not self.stopping():
                    await self._move(batch)
            after = [(batch.status, batch.detail) for batch in self._open()]
            if after and before == after:
                await self._sleep(self.how.poll_s)

    async def _move(self, batch: Batch) -> None:
        """One step with a batch. A failure that may pass is waited out, a few times in a row."""
        try:
            await self._step(batch)
        except CallFailure as failure:
            self.failures += 1
            final = failure.kind in PAUSES or failure.kind is FailureKind.REJECTED
            if final or self.failures >= _MOST_FAILURES:
                words = self.workspace.keys.redact(failure.message)
                self._write(batch, batch.status, {**batch.detail, "problem": words})
                raise
            await self._sleep(failure.retry_after_s or min(self.how.poll_s, 2.0**self.failures))
        else:
            self.failures = 0

    async def _step(self, batch: Batch) -> None:
        if batch.status == "waiting":
            await self._upload(batch)
        elif batch.status == "uploaded":
            await self._create(batch)
        else:
            await self._poll(batch)

    async def _upload(self, batch: Batch) -> None:
        path = self.folder / batch.file
        requests.finish_name(path)
        if not path.is_file() or _sha256(path) != batch.sha256:
            problem = "its file was changed or deleted before it was sent"
            path.unlink(missing_ok=True)
            self._write(batch, "released", {"problem": problem})
            return
        file_id = await self.service.upload(path)
        self.unmarked.add(batch.batch_id)
        self._write(batch, "uploaded", {"file_id": file_id})

    async def _create(self, batch: Batch) -> None:
        """Create the batch at the service, unless an earlier try or process has created it."""
        key = str(batch.batch_id)
        made = None
        if batch.batch_id not in self.unmarked:
            made = await self.service.find(key)
        self.unmarked.discard(batch.batch_id)
        made = made or await self.service.create(batch.detail["file_id"], key)
        self._write(batch, "created", _detail(batch, made))

    async def _poll(self, batch: Batch) -> None:
        now = await self.service.retrieve(batch.detail["service_id"])
        detail = _detail(batch, now)
        if not now.is_final:
            if detail != dict(batch.detail):
                self._write(batch, "created", detail)
            return
        for file_id in (now.output_file_id, now.error_file_id):
            if file_id is not None:
                await self._take(batch, file_id)
        self.problem = now.problem or self.problem
        self._write(batch, "done", detail)
        (self.folder / batch.file).unlink(missing_ok=True)

    async def _take(self, batch: Batch, file_id: str) -> None:
        """Fetch a file and import it."""
        content = await self.service.fetch(file_id)
        try:
            counts = import_replies(
                self.workspace, self.study, file_id, io.BytesIO(content), batch_id=batch.batch_id
            )
        except FileError as error:
            self._write(batch, "created", {**batch.detail, "problem": error.problem})
            raise
        self.answered += counts.replies + counts.repeated + counts.returned

    async def _cancel(self) -> None:
        """Give back what the service does not have, and ask it to cancel what it has."""
        for batch in self._open():
            if batch.status == "uploaded" and (
                made := await self.service.find(str(batch.batch_id))
            ):
                self._write(batch, "created", _detail(batch, made))
                await self._cancel_at_service(batch, made.service_id)
            elif batch.status == "created":
                await self._cancel_at_service(batch, batch.detail["service_id"])
            else:
                self._write(batch, "released", dict(batch.detail))

    async def _cancel_at_service(self, batch: Batch, service_id: str) -> None:
        try:
            await self.service.cancel(service_id)
        except CallFailure as failure:
            if failure.kind is FailureKind.NOT_FOUND:  # the service no longer knows it
                self._write(batch, "released", {**batch.detail, "problem": failure.message})
            elif failure.kind is not FailureKind.REJECTED:  # rejected: it is final already
                raise

    def _write(self, batch: Batch, status: BatchStatus, detail: Mapping[str, Any]) -> None:
        store.report_batch(self.workspace.database, batch.batch_id, status, detail)
        now = store.batches(self.workspace.database, self.study_id)
        self.report(next(other for other in now if other.batch_id == batch.batch_id))

    async def _sleep(self, seconds: float) -> None:
        """Wait that long, or until a stop is requested."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0 and not self.stopping():
            await asyncio.sleep(min(left, _STOP_CHECK_S))


def _detail(batch: Batch, now: ServiceBatch) -> dict[str, Any]:
    """What is kept of the service's description."""
    detail = {
        "file_id": batch.detail.get("file_id"),
        "service_id": now.service_id,
        "service_status": now.status,
        "counts": [now.made, now.total],
    }
    return detail | ({"problem": now.problem} if now.problem else {})


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# In the background, for the page: one thread for each respondent of a study.


def start_driving(workspace: Workspace, study: str, respondent: str, how: Drive) -> bool:
    """Drive in a thread with the keys of this session; False where one drives already."""
    record = studies.get(workspace.database, study)
    ((respondent_id, _),) = services(workspace, study, respondent).items()
    place = (workspace.process, record.study_id, respondent_id)
    with _guard:
        if place in _threads and _threads[place].is_alive():
            return False
        detail = {"price_factor": how.price_factor, "cancel": how.cancel}
        what = "Cancelled" if how.cancel else "Started"
        with study_log.logged(workspace, study, f"{what} batches of {respondent}"):
            _report(workspace, record.study_id, respondent_id, "start", detail)
        own = workspace.with_keys(workspace.keys.for_run())
        arguments = (own, study, record.study_id, respondent_id, respondent, how)
        thread = threading.Thread(
            target=_drive_reported, args=arguments, name="inkblot-batches", daemon=True
        )
        _threads[place] = thread
        thread.start()
    return True


def stop_driving(workspace: Workspace, study: str, respondent: str) -> None:
    """Ask the driver to stop. Batches at the service go on."""
    record = studies.get(workspace.database, study)
    for respondent_id in services(workspace, study, respondent):
        if drive_state(workspace, record.study_id, respondent_id).state == "driving":
            with study_log.logged(workspace, study, f"Stopped batches of {respondent}"):
                _report(workspace, record.study_id, respondent_id, "stop", {})


@dataclass(frozen=True)
class DriveState:
    """Whether a driver is at work (`driving`, `stopping`), was interrupted, or ended and how."""

    state: str = ""
    words: str = ""


def drive_state(workspace: Workspace, study_id: int, respondent_id: int) -> DriveState:
    """The state of driving the batches of a respondent, from the database."""
    last = store.drives(workspace.database).get((study_id, respondent_id))
    if last is None:
        return DriveState()
    if last.kind == "ended":
        return DriveState("ended", str(last.detail.get("words", "")))
    if last.process != workspace.process:
        return DriveState("interrupted", "Inkblot ended while it drove these batches.")
    return DriveState("driving" if last.kind == "start" else "stopping")


def _report(
    workspace: Workspace, study_id: int, respondent_id: int, kind: str, detail: Mapping[str, Any]
) -> None:
    store.report_drive(workspace.database, study_id, respondent_id, kind, workspace.process, detail)


def _drive_reported(
    workspace: Workspace, study: str, study_id: int, respondent_id: int, respondent: str, how: Drive
) -> None:
    """Drive, and write how it ended, whatever happens."""

    def stopping() -> bool:
        return (
            workspace.database.closed
            or drive_state(workspace, study_id, respondent_id).state != "driving"
        )

    try:
        words = drive(workspace, study, respondent, how, stopping=stopping)
    except UserError as error:
        words = str(error)
    except Exception as error:  # noqa: BLE001  # told on the page; a key in its words is not logged
        log.error(
            "driving the batches of study %s failed: %s\n%s",
            study_id,
            type(error).__name__,
            "".join(traceback.format_tb(error.__traceback__)),
        )
        words = "A fault in Inkblot stopped the driver; the log has the details."
    if not workspace.database.closed:
        _report(
            workspace, study_id, respondent_id, "ended", {"words": workspace.keys.redact(words)}
        )

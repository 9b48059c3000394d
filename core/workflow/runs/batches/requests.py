"""Files of requests: what remains of a plan, as OpenAI Batch JSONL.

Each line is one call. A call in a file is out: runs and later files leave it alone until its reply
is on file, the service gives it back, or a person releases its batch.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from core.collect.budget import estimate
from core.collect.client import ChatRequest
from core.domain.study import Respondent
from core.domain.values import slug
from core.errors import CollectionError, DesignError, FileError
from core.store import batches as store
from core.store import collection, studies
from core.store.batches import Batch, BatchStatus
from core.store.collection import PlannedCall
from core.workflow import study_log
from core.workflow.designs.studies import load_materials, respondents_as_amended
from core.workflow.prompts import StudyMaterials
from core.workflow.respondents import prices
from core.workflow.runs import control
from core.workflow.runs.reading import request_hash
from core.workflow.workspace import Workspace

MOST_REQUESTS = 50_000
"""What OpenAI's service takes in a file."""
MOST_BYTES = 200_000_000
PART = ".part"
"""Ends the name of a file that is being written."""

_PAGE = 20_000  # trials read from the database at a time
_LINE = b'{"custom_id":"%d","method":"POST","url":"/v1/chat/completions","body":%b}\n'


class NothingRemains(CollectionError):
    """Every call has a reply or is out."""


@dataclass(frozen=True)
class Limits:
    """The largest file that a service takes: requests, and bytes."""

    requests: int = MOST_REQUESTS
    size: int = MOST_BYTES

    def check(self) -> None:
        """Raise FileError where no file could keep within them."""
        if self.requests < 1 or self.size < 1:
            raise FileError(
                "A file needs room for a request.", "Give 1 or more requests and bytes a file."
            )


def export(
    workspace: Workspace,
    study: str,
    directory: Path,
    *,
    respondent: str = "",
    limits: Limits | None = None,
    price_factor: float = 1.0,
    status: BatchStatus = "exported",
) -> tuple[Batch, ...]:
    """Write what remains to be asked of a respondent, or of each, as files of one model each.

    `price_factor` multiplies the respondent's prices. Each file is written whole, and its calls are
    out from then on. `status` is "waiting" for files that Inkblot itself brings to the service.

    Raises
    ------
    CollectionError
        A run of the study is under way, nothing remains, or a request is larger than a file.
    FileError
        The directory cannot be written.
    """
    workspace.refuse_asking()
    record = studies.get(workspace.database, study)
    limits = limits or Limits()
    limits.check()
    if not 0 <= price_factor <= 1000:
        raise CollectionError(
            f"{price_factor:g} is no price factor.", "Type 1 for full prices, 0.5 for half."
        )
    if control.progress(workspace, study).state in control.UNDER_WAY:
        raise CollectionError(
            f"'{study}' is running, and a call in flight must not go into a file as well.",
            "Pause the run, then export what remains.",
        )
    people = services(workspace, study, respondent)
    written: list[Batch] = []
    for respondent_id, person in people.items():
        exporter = _Exporter(
            workspace,
            record.study_id,
            respondent_id,
            person,
            directory,
            limits,
            price_factor,
            status,
        )
        written += exporter.batches(load_materials(workspace, record.study_id), record.code)
        words = f"Wrote calls of {person.label} into files of requests"
        study_log.add(workspace, record.study_id, words)
    if not written:
        raise _nothing_remains(workspace, record.study_id, study)
    return tuple(written)


def folder(workspace: Workspace) -> Path:
    """Where files of requests are kept for the service or for download: beside the database."""
    path = Path(workspace.database.path)
    return path.with_name(f"{path.stem}-batches")


def services(workspace: Workspace, study: str, label: str = "") -> dict[int, Respondent]:
    """The respondents of a study that are models of a service, or the one of that label.

    Raises DesignError where there is none.
    """
    record = studies.get(workspace.database, study)
    people = {
        respondent_id: prices.with_prices(workspace, person)
        for respondent_id, person in respondents_as_amended(workspace, record.study_id).items()
        if person.kind == "api" and label in ("", person.label)
    }
    if not people:
        whom = f"'{label}'" if label else "a model of a service"
        raise DesignError(
            f"'{study}' does not ask {whom}.",
            "Choose a respondent of the study that has the address of a service: simulated "
            "respondents and models on this computer take no batches.",
        )
    for person in people.values():
        if person.sampling.completes_text:
            raise DesignError(
                f"'{person.label}' completes text, and batches hold chats.",
                "Ask it in a run on the page Collect, and choose another respondent here.",
            )
    return people


def _nothing_remains(workspace: Workspace, study_id: int, study: str) -> NothingRemains:
    out, _ = store.count_out(workspace.database, study_id)
    if out:
        return NothingRemains(
            f"Every call of '{study}' has a reply or is out in a batch ({out:,} are out).",
            "Import their replies, or cancel their batches to export them again.",
        )
    return NothingRemains(f"Every call of '{study}' has a reply.", "There is nothing to export.")


@dataclass(frozen=True)
class _Exporter:
    """Writes the files of one respondent."""

    workspace: Workspace
    study_id: int
    respondent_id: int
    person: Respondent
    directory: Path
    limits: Limits
    price_factor: float
    status: BatchStatus

    def batches(self, materials: StudyMaterials, study: str) -> Iterator[Batch]:
        """Write one file after the other."""
        part = None
        for line, row, prompt in self._lines(materials):
            if len(line) > self.limits.size:
                raise CollectionError(
                    f"The request of call {row[0]} has {len(line):,} bytes, more than a file may.",
                    "Allow larger files.",
                )
            if part is not None and not part.takes(line, self.limits):
                yield self._finish(part)
                part = None
            if part is None:
                part = self._begin(study)
            part.add(line, row, prompt)
        if part is not None:
            yield self._finish(part)

    def _lines(self, materials: StudyMaterials) -> Iterator[tuple[bytes, _Row, tuple[int, str]]]:
        """Each remaining call as a line, as a row of the batch, and its prompt."""
        from core.collect.openai_client import request_body  # slow to load

        for call, request in self._requests(materials):
            prompt = collection.prompt_of(request.messages)
            cost = self._worst_cost(request)
            yield (
                _LINE % (call.call_id, request_body(request)),
                (call.call_id, call.tries + 1, prompt[0], request_hash(request), cost),
                prompt,
            )

    def _requests(self, materials: StudyMaterials) -> Iterator[tuple[PlannedCall, ChatRequest]]:
        """Calls that stand alone, then the first open call of each chain."""
        database, people = self.workspace.database, [self.respondent_id]
        after = 0
        while calls := collection.remaining_calls(
            database, self.study_id, people, after=after, limit=_PAGE
        ):
            for call in calls:
                yield call, materials.request(self.person, materials.question(call))
            after = calls[-1].last_ordinal
        after = 0
        while chains := collection.remaining_chains(
            database, self.study_id, people, after=after, limit=_PAGE
        ):
            answered = [call.call_id for chain in chains for call in chain if not call.waits]
            replies = collection.last_replies(database, self.study_id, answered)
            for chain in chains:
                call = next(call for call in chain if call.waits)
                earlier = materials.exchanges(self.person, chain, replies)
                yield call, materials.request(self.person, materials.question(call), earlier)
            after = chains[-1][0].last_ordinal

    def _worst_cost(self, request: ChatRequest) -> float | None:
        range_of_cost = estimate(request)
        return None if range_of_cost is None else range_of_cost[1] * self.price_factor

    def _begin(self, study: str) -> _Part:
        number = store.next_number(self.workspace.database, self.study_id)
        key = secrets.token_hex(4)
        name = f"{slug(study)}-{slug(self.person.label)}-{number:03}-{key}.jsonl"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            return _Part(number, self.directory / name)
        except OSError as error:
            raise _not_written(self.directory, error) from error

    def _finish(self, part: _Part) -> Batch:
        """Make the file whole, then write to the database that its calls are out."""
        batch = Batch(
            batch_id=secrets.randbits(62),
            study_id=self.study_id,
            respondent_id=self.respondent_id,
            number=part.number,
            file=part.path.name,
            sha256=part.sha256.hexdigest(),
            price_factor=self.price_factor,
            exported_at=datetime.now(UTC),
            calls=len(part.rows),
            waiting=len(part.rows),
            status=self.status,
        )
        part.close()
        store.save_batch(self.workspace.database, batch, _call_table(part.rows), part.prompts)
        part.name_it()
        return batch


_Row = tuple[int, int, int, int, float | None]
"""Call id, number of the try, key of the prompt, request hash, cost at worst."""


@dataclass
class _Part:
    """A file that is being written."""

    number: int
    path: Path
    size: int = 0
    rows: list[_Row] = field(default_factory=list)
    prompts: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sha256 = hashlib.sha256()
        self._file = self.path.with_name(self.path.name + PART).open("wb")

    def takes(self, line: bytes, limits: Limits) -> bool:
        """Whether there is room for another line."""
        return len(self.rows) < limits.requests and self.size + len(line) <= limits.size

    def add(self, line: bytes, row: _Row, prompt: tuple[int, str]) -> None:
        """Write a line."""
        try:
            self._file.write(line)
        except OSError as error:
            raise _not_written(self.path, error) from error
        self.sha256.update(line)
        self.size += len(line)
        self.rows.append(row)
        self.prompts.append(prompt)

    def close(self) -> None:
        """Have the bytes on the disk."""
        try:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
        except OSError as error:
            raise _not_written(self.path, error) from error

    def name_it(self) -> None:
        """Give the file its name, now that the database knows its calls."""
        finish_name(self.path)


def finish_name(path: Path) -> None:
    """Give a file its name that was written whole; nothing where it has it."""
    with suppress(FileNotFoundError):
        path.with_name(path.name + PART).replace(path)


def _call_table(rows: list[_Row]) -> pa.Table:
    call_ids, numbers, prompt_ids, hashes, costs = zip(*rows, strict=True)
    return pa.table(
        {
            "call_id": pa.array(call_ids, pa.int64()),
            "number": pa.array(numbers, pa.int32()),
            "prompt_id": pa.array(prompt_ids, pa.int64()),
            "request_hash": pa.array(hashes, pa.int64()),
            "cost": pa.array(costs, pa.float64()),
        }
    )


def _not_written(path: Path, error: OSError) -> FileError:
    return FileError(
        f"{path} cannot be written ({error.strerror}).",
        "Choose another folder, or free some space.",
    )

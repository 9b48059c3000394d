"""Files of replies: output and error files of batch services, in any order, in parts, twice.

A file is taken as a whole or not at all. Each line belongs to a try at a call that went out; it is
read as a reply to a single call is. A line that came before counts as repeated.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from core.collect.budget import Reservation, cost_of
from core.collect.client import CallFailure, Reply, read_reply, status_failure, withheld_reply
from core.collect.redaction import clean_body, clean_text
from core.domain.numbers import count_text
from core.domain.study import Respondent
from core.domain.values import stable_id
from core.errors import FileError
from core.store import batches as store
from core.store import collection, studies
from core.store.batches import BatchTry
from core.store.collection import AttemptRow, PlannedCall
from core.workflow import study_log
from core.workflow.designs.studies import load_materials, respondents_as_amended
from core.workflow.prompts import StudyMaterials
from core.workflow.respondents import prices
from core.workflow.runs.reading import Reader, outcome_columns
from core.workflow.workspace import Workspace

_PAGE = 10_000  # lines
_LONGEST_LINE = 16 * 1024 * 1024
_NOT_MADE = frozenset({"batch_expired", "batch_cancelled", "batch_canceled"})
"""Codes of errors with which a service gives a call back that it did not make."""

_AGAIN = "Nothing of the file was imported."


@dataclass
class Imported:
    """What a file held, in lines. `repeated` ones came before, `returned` calls were not made."""

    replies: int = 0
    failures: int = 0
    returned: int = 0
    repeated: int = 0

    @property
    def lines(self) -> int:
        """All lines of the file."""
        return self.replies + self.failures + self.returned + self.repeated


def sentence(counts: Imported) -> str:
    """What a file held, in words."""
    words = [
        count_text(counts.replies, "reply", "replies"),
        f"{count_text(counts.failures, 'failed call')} to be asked again"
        if counts.failures
        else "",
        f"{count_text(counts.returned, 'call')} not made by the service" if counts.returned else "",
        f"{count_text(counts.repeated, 'line')} imported before" if counts.repeated else "",
    ]
    return ", ".join(word for word in words if word) + "."


@dataclass
class _Line:
    """One line of a file. `outcome` is None where the service gave the call back."""

    number: int
    call_id: int
    line_hash: int
    outcome: Reply | CallFailure | None


def import_replies(
    workspace: Workspace, study: str, name: str, file: BinaryIO, *, batch_id: int | None = None
) -> Imported:
    """Take the replies of a file, compressed by gzip or not; all of it or nothing.

    `name` stands in messages. With `batch_id`, the file is of that batch; without, a line belongs
    to the newest try at its call for which no line has come.

    Raises
    ------
    FileError
        A line is incomplete, is not of this study, was never sent, or differs from what is on
        file. The message names the line.
    """
    record = studies.get(workspace.database, study)
    people = {
        respondent_id: prices.with_prices(workspace, person)
        for respondent_id, person in respondents_as_amended(workspace, record.study_id).items()
    }
    materials = load_materials(workspace, record.study_id)
    taking = _Import(workspace, record.study_id, study, name, people, materials, batch_id)
    database = workspace.database
    with database.adding_answers(), database.all_or_nothing():
        for line in _lines(name, file, workspace.keys.used()):
            taking.add(line)
        taking.flush()
        if taking.counts.lines:
            study_log.add(workspace, record.study_id, f"Took the replies of the file {name}")
    if not taking.counts.lines:
        raise FileError(f"{name} holds no line.", "Choose the file that the service wrote.")
    return taking.counts


@dataclass
class _Import:
    """One file on its way into the database, inside one transaction."""

    workspace: Workspace
    study_id: int
    study: str
    name: str
    people: Mapping[int, Respondent]
    materials: StudyMaterials
    batch_id: int | None
    counts: Imported = field(default_factory=Imported)
    page: dict[int, _Line] = field(default_factory=dict)  # by call id

    def add(self, line: _Line) -> None:
        """Take a line; a page of them is written at a time."""
        before = self.page.get(line.call_id)
        if before is not None and before.line_hash == line.line_hash:
            self.counts.repeated += 1
            return
        if before is not None or len(self.page) >= _PAGE:
            self.flush()
        self.page[line.call_id] = line

    def flush(self) -> None:
        """Write the lines of the page that are new."""
        page, self.page = self.page, {}
        if not page:
            return
        tries = store.tries(self.workspace.database, self.study_id, list(page), self.batch_id)
        if unknown := [line for call_id, line in page.items() if call_id not in tries]:
            raise self._unknown(min(unknown, key=lambda line: line.number))
        new = [
            (line, attempt)
            for line in page.values()
            if (attempt := self._open_try(line, tries[line.call_id])) is not None
        ]
        self.counts.repeated += len(page) - len(new)
        if not new:
            return
        calls = collection.named_calls(
            self.workspace.database, self.study_id, [line.call_id for line, _ in new]
        )
        rows = [self._row(line, attempt, calls[line.call_id]) for line, attempt in new]
        collection.save_attempts(self.workspace.database, [row for row in rows if row])
        store.save_lines(
            self.workspace.database,
            self.study_id,
            [
                (line.call_id, attempt.number, line.line_hash, line.outcome is None)
                for line, attempt in new
            ],
        )

    def _open_try(self, line: _Line, tries: list[BatchTry]) -> BatchTry | None:
        """The try that a line belongs to; None where the line is on file already."""
        if any(line.line_hash == attempt.line_hash for attempt in tries):
            return None
        for attempt in tries:
            if attempt.line_hash is None or (attempt.returned and line.outcome is not None):
                return attempt
        if any(_is_same(line, attempt) for attempt in tries):
            return None
        raise FileError(
            f"Line {line.number} of {self.name}: the reply to call {line.call_id} differs from "
            "the one on file, so the line was changed or the file is of a second run of the same "
            "requests.",
            f"Choose the file as the service first wrote it. {_AGAIN}",
        )

    def _row(self, line: _Line, attempt: BatchTry, call: PlannedCall) -> AttemptRow | None:
        """The attempt as it is kept, with what its trials came to; None where it was not made."""
        outcome = line.outcome
        if outcome is None:
            self.counts.returned += 1
            return None
        codings: tuple[collection.Coding, ...] = ()
        if isinstance(outcome, Reply):
            self.counts.replies += 1
            reader = Reader(
                self.materials.question(call),
                call,
                most_replies=1 + self.materials.design.ask_again,
                whole_calls=self.materials.design.whole_calls,
            )
            reader.judge(outcome)
            codings = reader.codings()
        else:
            self.counts.failures += 1
        cost = cost_of(self._reservation(call.respondent_id, attempt), outcome)
        return AttemptRow(
            study_id=self.study_id,
            call_id=call.call_id,
            number=attempt.number,
            messages=(),
            prompt_id=attempt.prompt_id,
            request_hash=attempt.request_hash,
            sent_at=attempt.exported_at,
            latency_s=None,
            cost=cost.amount,
            cost_estimated=cost.estimated,
            codings=codings,
            **outcome_columns(outcome, self.workspace.keys.redact),
        )

    def _reservation(self, respondent_id: int, attempt: BatchTry) -> Reservation:
        sampling = self.people[respondent_id].sampling
        if sampling.price_in is None or sampling.price_out is None:
            return Reservation(None)
        factor = attempt.price_factor
        cached = sampling.price_cached
        return Reservation(
            attempt.cost or 0.0,
            sampling.price_in * factor,
            sampling.price_out * factor,
            None if cached is None else cached * factor,
        )

    def _unknown(self, line: _Line) -> FileError:
        """Why no try at the call of a line went out."""
        place = f"Line {line.number} of {self.name}: call {line.call_id}"
        owner = store.studies_of(self.workspace.database, [line.call_id]).get(line.call_id)
        if owner is None:
            return FileError(
                f"{place} is in no plan of this database.",
                f"Choose a file that answers an export of '{self.study}'. {_AGAIN}",
            )
        if owner != self.study:
            return FileError(
                f"{place} is of the study '{owner}', not of '{self.study}'.",
                f"Import the file into '{owner}'. {_AGAIN}",
            )
        where = "in no batch" if self.batch_id is None else "not in this batch"
        return FileError(
            f"{place} is {where}, so nobody sent it.",
            f"Choose a file that answers an export of '{self.study}'. {_AGAIN}",
        )


def _is_same(line: _Line, attempt: BatchTry) -> bool:
    """Whether what is on file of a try is what a line says, however the line was written."""
    if line.outcome is None:
        return attempt.returned
    columns = outcome_columns(line.outcome, str)
    names = (
        "outcome",
        "message",
        "http_status",
        "finish_reason",
        "model",
        "tokens_in",
        "tokens_out",
        "reply",
    )
    return all((columns.get(name) or None) == (getattr(attempt, name) or None) for name in names)


# Lines.


def _lines(name: str, file: BinaryIO, keys: Collection[str]) -> Iterator[_Line]:
    """The lines of a file, each read."""
    number = 1  # of the line that is read next
    try:
        for raw in _unpacked(file):
            content = raw.strip()
            if content:
                yield _line(number, content, keys)
            number += 1
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FileError(
            f"{name} is compressed and ends or breaks in line {number}.",
            f"Fetch the file again from the service. {_AGAIN}",
        ) from None
    except _Broken as fault:
        raise FileError(
            f"Line {number} of {name} {fault.problem}.", f"{fault.remedy} {_AGAIN}"
        ) from None


class _Broken(Exception):
    """What is wrong with a line, as the end of a sentence that begins with its place."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, which may be compressed by gzip."""
    start = file.read(2)
    file.seek(-len(start), io.SEEK_CUR)
    stream: Any = gzip.GzipFile(fileobj=file) if start == b"\x1f\x8b" else file
    while line := stream.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            raise _Broken("is longer than any reply can be", "Fetch the file from the service.")
        yield line


def _line(number: int, content: bytes, keys: Collection[str]) -> _Line:
    """One line, read; keys are taken out of it first."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise _Broken(
            "is not complete JSON: the file is only a part, or was damaged",
            "Fetch the file again from the service.",
        ) from None
    if not isinstance(value, dict) or "custom_id" not in value:
        raise _Broken(
            "has no custom_id", "Choose the output or the error file that the service wrote."
        )
    if "method" in value and "response" not in value:
        raise _Broken(
            "is a request and not a reply",
            "This is the exported file. Choose the output or the error file of the service.",
        )
    custom_id = value["custom_id"]
    if not isinstance(custom_id, str) or not custom_id.isdecimal() or len(custom_id) > 19:
        raise _Broken(
            "has a custom_id that is no call of Inkblot", "Choose a file that answers an export."
        )
    if keys and not _is_without_keys(content, value, keys):
        value = json.loads(clean_body(content, keys))
    line_hash = stable_id(content.decode("utf-8", "replace"))
    return _Line(number, int(custom_id), line_hash, _outcome(value))


def _is_without_keys(content: bytes, value: dict[str, Any], keys: Collection[str]) -> bool:
    """Whether a line surely holds no key, not even in parts: it has no list of several texts."""
    text = content.decode("latin-1")
    if clean_text(text, keys) != text or value.get("error"):
        return False
    try:
        (choice,) = value["response"]["body"]["choices"]
        return not choice.get("logprobs") and not any(
            isinstance(part, list | dict) and part for part in choice["message"].values()
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        return False


def _outcome(value: Mapping[str, Any]) -> Reply | CallFailure | None:
    """The reply of a line, or what went wrong; None where the service did not make the call."""
    response, error = value.get("response"), value.get("error")
    if isinstance(response, dict) and response.get("body") is not None:
        status = response.get("status_code", 200)
        if isinstance(status, int) and status >= 300:
            failure = status_failure(status, {}, json.dumps(response["body"]).encode())
        else:
            try:
                return read_reply(response["body"])
            except CallFailure as raised:
                failure = raised.with_traceback(None)
        body = response["body"]
    elif isinstance(error, dict):
        if error.get("code") in _NOT_MADE:
            return None
        body = {"error": error}
        failure = _failure_of(error)
    else:
        raise _Broken(
            "has neither a response nor an error",
            "Choose the output or the error file that the service wrote.",
        )
    failure = replace(failure, body=json.dumps(body))
    return withheld_reply(failure) if failure.filtered else failure


def _failure_of(error: Mapping[str, Any]) -> CallFailure:
    """What an error in place of a response means."""
    try:
        read_reply({"error": error})
    except CallFailure as failure:
        return failure.with_traceback(None)
    raise AssertionError("an error was read as a reply")

"""Reads stored replies to calls again, in this process and in others beside it.

`python -m core.workflow.answers.stored_replies` reads calls that come pickled on its input. It is
started without multiprocessing, which would run the page that happens to be open once more.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pyarrow as pa

from core.collect.client import Question, Reply, TokenChance
from core.collect.prompts import as_listed
from core.domain.study import Parsed, ReasoningMarks
from core.store.collection import OPTION_MARK
from core.store.rereading import AnsweredCalls
from core.workflow.prompts import StudyMaterials, shown_format
from core.workflow.runs.reading import counted_as_whole, option_chance, read_text

_ROOT = Path(__file__).parents[3]
_MOST_PROCESSES = 4
_MOST_KNOWN = 100_000  # replies
_COLUMNS = (
    ("trial_id", pa.int64()),
    ("attempt_id", pa.int64()),
    ("tries", pa.int32()),
    ("status", pa.string()),
    ("option", pa.string()),
    ("chance", pa.float64()),
    ("layer", pa.string()),
    ("certainty", pa.string()),
    ("hedged", pa.bool_()),
)
NOTHING_READ = pa.schema(_COLUMNS).empty_table()
"""The table of readings without rows."""

_Row = tuple[Any, ...]  # of AnsweredCalls, which names the columns
ReadCalls = Callable[[AnsweredCalls], pa.Table]


@dataclass(frozen=True)
class _Asked:
    """A question as far as its replies are read by it. What equal replies come to is known."""

    question: Question
    known: dict[tuple[str, str], tuple[Parsed, ...]]  # by text and finish reason

    def read(self, text: str, finish_reason: str) -> tuple[Parsed, ...]:
        """What each item comes to in a reply."""
        reply = (text, finish_reason)
        parsed = self.known.get(reply)
        if parsed is None:
            parsed = read_text(text, self.question, finish_reason=finish_reason)
            self.known[reply] = parsed
        return parsed


class CallReader:
    """Reads the replies to the calls of a study; equal replies to equal questions once."""

    def __init__(self, materials: StudyMaterials) -> None:
        self._materials = materials
        self._asked: dict[tuple[object, ...], _Asked] = {}

    def read(self, calls: AnsweredCalls) -> pa.Table:
        """A row for each trial of the calls that have replies: its coding, and from which reply."""
        if sum(len(asked.known) for asked in self._asked.values()) >= _MOST_KNOWN:
            self._asked.clear()
        replies = {
            call_id: list(rows) for call_id, rows in groupby(_rows(calls.replies), itemgetter(0))
        }
        codings: list[tuple[object, ...]] = []
        for call_id, rows in groupby(_rows(calls.trials), itemgetter(0)):
            trials = list(rows)
            if call_id in replies and trials[0][1] > calls.after:
                codings += self._codings(trials, replies[call_id])
        if not codings:
            return NOTHING_READ
        columns = zip(_COLUMNS, zip(*codings, strict=True), strict=True)
        return pa.table({name: pa.array(values, kind) for (name, kind), values in columns})

    def _codings(self, trials: list[_Row], replies: list[_Row]) -> Iterator[tuple[object, ...]]:
        """The codings of the trials of a call.

        A trial takes the first reply in which its answer is usable, else the last one, as when it
        was collected; where calls count as a whole, the first in which all are usable.
        """
        items = tuple(trial[3] for trial in trials)
        marks = self._materials.reasoning_marks.get(trials[0][-1], ())
        key = (items, *trials[0][4:-1], marks)
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = _Asked(self._question(trials, marks), {})
        readings = [asked.read(text, reason) for _, _, reason, text, _ in replies]
        if self._materials.design.whole_calls:
            readings = [counted_as_whole(read) for read in readings]
        last = len(readings) - 1
        for place, trial in enumerate(trials):
            n = 0
            while n < last and not readings[n][place].status.usable:
                n += 1
            one, (_, attempt, _, _, tokens) = readings[n][place], replies[n]
            chance = _chance(tokens, asked.question, one.option) if tokens else None
            yield (
                trial[2],
                attempt,
                n + 1,
                one.status,
                one.option,
                chance,
                one.layer,
                one.certainty,
                one.hedged,
            )

    def _question(self, trials: list[_Row], marks: ReasoningMarks) -> Question:
        """What a call asks, without what does not matter to reading."""
        materials = self._materials
        code, language, template, label_order, entity, entity_b, form, order = trials[0][4:-1]
        asked = Question(
            tuple(materials.items[trial[3]] for trial in trials),
            shown_format(
                materials.formats[code],
                label_order,
                tuple(order.split(OPTION_MARK)) if order else None,
                entities=(entity, entity_b),
            ),
            language,
            entity=entity,
            entity_b=entity_b,
            form=form,
            template=template,
            reasoning_marks=marks,
        )
        return as_listed(asked, materials.wordings.templates[template])


def _rows(table: pa.Table) -> Iterator[_Row]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _chance(tokens: str, question: Question, option: str | None) -> float | None:
    chances = tuple(TokenChance(token, logprob) for token, logprob in json.loads(tokens))
    return option_chance(Reply("", first_token=chances), question, option)


def read_calls(
    parts: Iterable[AnsweredCalls], materials: StudyMaterials, *, processes: int
) -> Generator[pa.Table, None, None]:
    """The readings of all calls, part by part, in any order; this process is one of `processes`."""
    with ExitStack() as stack:
        threads = ThreadPoolExecutor(processes, thread_name_prefix="inkblot-reading")
        stack.callback(threads.shutdown, cancel_futures=True)
        readers: SimpleQueue[ReadCalls] = SimpleQueue()
        readers.put(CallReader(materials).read)
        for _ in range(processes - 1):
            readers.put(stack.enter_context(_reader_process(materials)))

        def read(calls: AnsweredCalls) -> pa.Table:
            reader = readers.get()
            try:
                return reader(calls)
            finally:
                readers.put(reader)

        under_way: set[Future[pa.Table]] = set()
        for calls in parts:
            under_way.add(threads.submit(read, calls))
            if len(under_way) > processes:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        yield from (future.result() for future in as_completed(under_way))


def processes_for(n_replies: int) -> int:
    """How many processes read so many replies; starting one takes as long as reading 10,000."""
    return min(os.cpu_count() or 1, _MOST_PROCESSES, 1 + n_replies // 20_000)


@contextmanager
def _reader_process(materials: StudyMaterials) -> Iterator[ReadCalls]:
    """Reads calls in a process of its own, which ends with the context."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    to_process, from_process = process.stdin, process.stdout
    if to_process is None or from_process is None:
        raise RuntimeError("the reading process has no input or output")
    first: list[StudyMaterials] = [materials]

    def read(calls: AnsweredCalls) -> pa.Table:
        for order in (*first, calls):
            pickle.dump(order, to_process)
        to_process.flush()
        first.clear()
        return pickle.load(from_process)

    try:
        yield read
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    """Read what comes until the input ends."""
    orders, results = sys.stdin.buffer, sys.stdout.buffer
    reader = CallReader(pickle.load(orders))
    while True:
        try:
            calls = pickle.load(orders)
        except EOFError:
            return
        pickle.dump(reader.read(calls), results)
        results.flush()


if __name__ == "__main__":
    main()

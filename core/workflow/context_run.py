"""Having a model rewrite contexts: one thread a run, each reply a draft as soon as it is there."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from core.collect.budget import Budget
from core.collect.client import Reply
from core.collect.retry import RetryPolicy
from core.collect.runner import Attempt, Control, Lane, Task, run
from core.domain.study import Context, Respondent
from core.errors import ConflictError, DesignError, UserError
from core.workflow import context_drafts, context_rewriting
from core.workflow.context_drafts import Draft
from core.workflow.respondents import client_for
from core.workflow.workspace import Workspace

log = logging.getLogger(__name__)

RETRY_POLICY = RetryPolicy(max_attempts=4)

_starting = threading.Lock()  # two tabs may press the button at the same moment
_runs: dict[tuple[str, str], Run] = {}


@dataclass(eq=False)
class Run:
    """A run over some contexts, as far as it has come. `failures` are (code, reason)."""

    total: int
    done: int = 0
    cost: float | None = 0.0  # US dollars; None: a price is unknown
    failures: list[tuple[str, str]] = field(default_factory=list)
    ending: str = ""  # empty while it goes on
    control: Control = field(default_factory=Control)

    @property
    def under_way(self) -> bool:
        """Whether calls are still being made."""
        return not self.ending


def last_run(workspace: Workspace, name: str) -> Run | None:
    """The run over a set's contexts that goes on, or ended since Inkblot was started."""
    return _runs.get((workspace.process, name))


def start(
    workspace: Workspace,
    name: str,
    chosen: Sequence[Context],
    instruction: str,
    respondent: Respondent,
    *,
    most_tokens: int = context_rewriting.MOST_TOKENS,
) -> Run:
    """Have contexts of a set rewritten; returns at once, and the run goes on by itself.

    Raises
    ------
    DesignError or CollectionError
        Nothing is chosen, the respondent cannot write, or the service cannot be addressed.
    ConflictError
        A run over this set is under way.
    """
    if not chosen:
        raise DesignError("No context is chosen.", "Choose at least one.")
    tasks = [
        Task(
            number,
            context_rewriting.request(context, instruction, respondent, most_tokens=most_tokens),
        )
        for number, context in enumerate(chosen)
    ]
    with _starting:
        known = last_run(workspace, name)
        if known is not None and known.under_way:
            raise ConflictError(
                f"Contexts of '{name}' are being rewritten already.", "Wait for the end, or stop."
            )
        started = _runs[workspace.process, name] = Run(len(tasks))
    own = workspace.with_keys(workspace.keys.for_run())
    work = _Work(own, name, tuple(chosen), instruction.strip(), respondent, started)
    threading.Thread(
        target=work.go, args=(tasks,), name="inkblot-rewriting", daemon=True
    ).start()  # fmt: skip
    return started


def stop(workspace: Workspace, name: str) -> None:
    """Send no more; calls under way are finished and their drafts kept."""
    known = last_run(workspace, name)
    if known is not None:
        known.control.request_stop("stop")


@dataclass(eq=False)
class _Work:
    """One run in its own thread."""

    workspace: Workspace
    name: str
    contexts: tuple[Context, ...]
    instruction: str
    respondent: Respondent
    progress: Run

    def go(self, tasks: Sequence[Task]) -> None:
        """Make all calls; whatever happens, the run says how it ended."""
        try:
            ending = asyncio.run(self._calls(tasks))
        except UserError as error:
            ending = str(error)
        except Exception as error:  # noqa: BLE001  # its words may quote a key: only the kind is logged
            log.error("rewriting failed: %s", type(error).__name__)
            ending = "A fault in Inkblot ended the run."
        self.progress.ending = self.workspace.keys.redact(ending)

    async def _calls(self, tasks: Sequence[Task]) -> str:
        client = client_for(self.workspace, self.respondent)
        sampling = self.respondent.sampling
        lane = Lane(
            self.respondent.label, client, _one_by_one(tasks), sampling.at_once, sampling.per_minute
        )
        try:
            result = await run(
                [lane],
                record=self._record,
                control=self.progress.control,
                policy=RETRY_POLICY,
                budget=Budget(None),
                random=Random(),
            )
        finally:
            await client.close()
        return result.reason

    async def _record(self, attempt: Attempt) -> None:
        if attempt.cost is None or self.progress.cost is None:
            self.progress.cost = None
        else:
            self.progress.cost += attempt.cost
        if not attempt.final:
            return
        context = self.contexts[attempt.call_id]
        redact = self.workspace.keys.redact
        if attempt.reply is None:
            reason = attempt.failure.message if attempt.failure else "no reply"
            self.progress.failures.append((context.code, redact(reason)))
        else:
            try:
                self._keep(context, attempt.reply)
            except DesignError as error:
                self.progress.failures.append((context.code, redact(error.problem)))
        self.progress.done += 1

    def _keep(self, context: Context, reply: Reply) -> None:
        def write(code: str) -> Draft:
            return Draft(
                original=context,
                variant=context_rewriting.rewritten(context, reply, code),
                state="waiting",
                instruction=self.instruction,
                respondent=self.respondent.label,
                model=reply.model or self.respondent.model,
                written_at=datetime.now(UTC).isoformat(timespec="seconds"),
            )

        context_drafts.add(self.workspace, self.name, context, write)


async def _one_by_one(tasks: Sequence[Task]) -> AsyncIterator[Task]:
    for task in tasks:
        yield task

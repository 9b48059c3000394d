"""What has changed in a study since somebody last looked at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.domain.numbers import count_text
from core.store.studies import StudyRecord
from core.store.study_log import LogEntry
from core.workflow import saved_inputs, study_log
from core.workflow.workspace import Workspace

_MARK = "looked_at:"  # + study
_AWAY = timedelta(hours=1)


@dataclass(frozen=True)
class Changes:
    """What came to a study after a time: answers, usable ones among them, and what was done."""

    since: datetime
    n_answers: int
    n_usable: int
    done: tuple[LogEntry, ...]

    def __bool__(self) -> bool:
        return bool(self.n_answers or self.n_usable or self.done)

    @property
    def were_away(self) -> bool:
        """Whether the last look is so long ago that somebody who has the page open left it."""
        return datetime.now(UTC) - self.since > _AWAY

    def sentence(self) -> str:
        """How many answers came or went."""
        words = []
        for number, singular, plural in (
            (self.n_answers, "answer", "answers"),
            (self.n_usable, "usable answer", "usable answers"),
        ):
            if number:
                more = "more" if number > 0 else "fewer"
                words.append(f"{abs(number):,} {more} {singular if abs(number) == 1 else plural}")
        return f"{', '.join(words)}." if words else "The same number of answers."

    def title(self) -> str:
        """How much changed, in a few words."""
        n_kinds = len(self.done) + bool(self.n_answers or self.n_usable)
        return f"{count_text(n_kinds, 'change')} since you last looked"


def look(workspace: Workspace, study: StudyRecord) -> Changes | None:
    """Remember that this member looks at a study; what others changed since the last time, if any.

    Who works alone is told of all entries of the log, as nobody else can have done it.

    A look of the same state is not remembered, so that looking does not write. Text that models
    wrote and numbers of analyses are not compared: only that answers came, and what the log says.
    """
    log = study_log.entries(workspace, study.code)
    newest = log[0].done_at.timestamp() if log else 0.0
    mark = {"answers": study.n_responses, "usable": study.n_usable, "newest": newest}
    last = saved_inputs.load(workspace, _MARK + study.code)
    if last is None or last.value != mark:
        saved_inputs.save(workspace, _MARK + study.code, mark)
    if last is None:
        return None
    return Changes(
        last.saved_at,
        study.n_responses - last.value["answers"],
        study.n_usable - last.value["usable"],
        tuple(
            entry
            for entry in log
            if entry.done_at.timestamp() > last.value["newest"]
            and (workspace.member is None or entry.member != workspace.name)
        ),
    )


def when_words(changes: Changes) -> str:
    """The time of the last look, in local time."""
    local = changes.since.astimezone()
    return f"{local:%Y-%m-%d, %H:%M}"

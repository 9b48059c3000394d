"""Reading the replies on file again with the present rules; no model is asked.

What changes can be looked at first. The old readings stay on file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from core.collect.client import Reply, TokenChance
from core.collect.parsing import PARSER_VERSION
from core.errors import NotEnoughData
from core.store import answers as answer_store
from core.store import recodings as store
from core.store import studies
from core.store.recodings import AnsweredCall, Change, KeptReply
from core.workflow.answers import in_words
from core.workflow.coding import Reader
from core.workflow.questions import Asked
from core.workflow.studies import asked_of
from core.workflow.workspace import Workspace

__all__ = ["PARSER_VERSION"]

ReportProgress = Callable[[float], object]
"""Told the share that is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Preview:
    """What reading a study's replies again would change.

    `n_read` responses were read anew; `n_kept` set by a person were left alone. `kinds` counts the
    changes from old to new, `means` are the item means they move.
    """

    study: str
    parser: int
    n_read: int
    n_kept: int
    kinds: pd.DataFrame  # old_status, old_option, status, option, count
    means: pd.DataFrame  # respondent, format, item, old_mean, new_mean, old_n, new_n, changed
    changes: pa.Table

    @property
    def n_changed(self) -> int:
        """Responses that would become something else."""
        return int(self.changes.num_rows)


def preview(
    workspace: Workspace,
    study: str,
    *,
    persons: bool = False,
    report: ReportProgress = lambda _: None,
) -> Preview:
    """Read every reply of a study again and say what would change; nothing is changed yet.

    A trial takes the first reply in which its answer is usable, else the last one, as when it was
    collected. Responses that a person has set are read only with `persons`.

    Raises
    ------
    NotEnoughData
        The study was imported: its answers are what the file says.
    """
    record = studies.get(workspace.database, study)
    if record.kind == "imported":
        raise NotEnoughData(
            f"'{study}' was imported; its answers are as its file has them.",
            "Read again the replies of a study that Inkblot has asked.",
        )
    database, study_id = workspace.database, record.study_id
    n_trials, n_persons = store.size(database, study_id)
    asked = asked_of(workspace, study_id)
    changes: list[Change] = []
    n_read = 0
    for calls in store.answered_calls(database, study_id, persons=persons):
        for found in calls:
            n_read += sum(planned.waiting for planned in found.call.items)
            changes += _changes(found, asked)
        report(min(calls[-1].call.last_ordinal / n_trials, 1.0) if calls else 1.0)
    found_table = store.table(changes)
    return Preview(
        study=study,
        parser=PARSER_VERSION,
        n_read=n_read,
        n_kept=0 if persons else n_persons,
        kinds=_kinds(found_table),
        means=store.means(database, study_id, found_table),
        changes=found_table,
    )


def versions(workspace: Workspace, study: str) -> dict[int | None, int]:
    """How many responses each version of the rules has read; None: a person, or a file."""
    return store.versions(workspace.database, studies.get(workspace.database, study).study_id)


def apply(workspace: Workspace, found: Preview) -> int:
    """Make the changes of a preview, all or none; returns how many.

    What has changed since the preview (by a person, or by another reading) stays as it is.
    """
    record = studies.get(workspace.database, found.study)
    return store.apply(
        workspace.database, record.study_id, found.changes, cause="parser", confirmed=found.parser
    )


def page_of_changes(
    workspace: Workspace, found: Preview, *, offset: int = 0, limit: int = 50
) -> pd.DataFrame:
    """Some of the changes with item and reply: what was read before and what would be now."""
    part = found.changes.slice(offset, limit)
    trials = [int(trial) for trial in part["trial_id"].to_pylist()]
    rows = answer_store.rows_of(workspace.database, trials)
    changes = {int(row["trial_id"]): row for row in part.to_pylist()}
    rows["before"] = [in_words(changes[t]["old_status"], changes[t]["old_option"])
                      for t in rows["trial_id"]]  # fmt: skip
    rows["after"] = [in_words(changes[t]["status"], changes[t]["option"])
                     for t in rows["trial_id"]]  # fmt: skip
    return rows[["trial_id", "ordinal", "respondent", "item", "before", "after", "reply"]]


def _changes(found: AnsweredCall, asked: Asked) -> Iterator[Change]:
    """What the replies to one call come to now, where it is not what is on file."""
    if not any(planned.waiting for planned in found.call.items):
        return
    question = asked.question(found.call)
    most = len(found.replies)
    reader = Reader(question, found.call, most_replies=most, filter_ends=False)
    for kept in found.replies:
        done = reader.judge(_reply(kept))
        for coding in reader.codings():
            old = found.current[coding.trial_id]
            if old != (coding.status, coding.option, kept.attempt_id):
                yield Change(
                    coding.trial_id, *old, coding.status, coding.option, coding.parser,
                    kept.attempt_id, coding.tries, coding.chance,
                )  # fmt: skip
        if done:
            return


def _reply(kept: KeptReply) -> Reply:
    tokens: Sequence[tuple[str, float]] = json.loads(kept.tokens) if kept.tokens else ()
    chances = tuple(TokenChance(token, logprob) for token, logprob in tokens)
    return Reply(kept.text, kept.finish_reason, first_token=chances)


def _kinds(changes: pa.Table) -> pd.DataFrame:
    """How many responses go from what to what, the most frequent first."""
    keys = ["old_status", "old_option", "status", "option"]
    counts: pd.DataFrame = changes.group_by(keys).aggregate([([], "count_all")]).to_pandas()
    counts = counts.rename(columns={"count_all": "count"})[[*keys, "count"]]
    return counts.sort_values(["count", *keys], ascending=[False] + [True] * 4, ignore_index=True)

"""Reads the replies on file again with the present rules; no model is asked.

What changes can be looked at first. The old readings stay on file.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core import progress
from core.collect.replies.reader import PARSER_VERSION
from core.domain.study import Certainty
from core.errors import NotEnoughData
from core.store import answers as answer_store
from core.store import audits as audit_store
from core.store import rereading as store
from core.store import studies
from core.workflow import background, study_log
from core.workflow.answers.browsing import answer_words
from core.workflow.answers.stored_replies import NOTHING_READ, processes_for, read_calls
from core.workflow.background import Computation
from core.workflow.designs.studies import load_materials
from core.workflow.workspace import Workspace

__all__ = ["PARSER_VERSION"]

HEDGED = "hedged"
NOT_RECORDED = "not_recorded"
CERTAINTIES = (*map(str, Certainty), NOT_RECORDED, HEDGED)
"""Rows of the table of certainties: the classes, those read before they were kept, and which of
all these answers come with a disclaimer."""


@dataclass(frozen=True, eq=False)
class RereadingPreview:
    """What reading a study's replies again would change.

    `n_read` responses were read anew; `n_kept` set by a person and `n_judged` by a judge were left
    alone. `kinds` counts the changes from old to new, `means` are the item means they move.
    `ratings` are responses that stay, and of which the layer, the certainty or the disclaimer is
    another, or was not recorded. `certainties` counts the answers with an option.
    """

    study: str
    parser: int
    n_read: int
    n_kept: int
    n_judged: int
    kinds: pd.DataFrame  # old_status, old_option, status, option, count
    means: pd.DataFrame  # respondent, format, item, old_mean, new_mean, old_n, new_n, changed
    certainties: pd.DataFrame  # certainty (of CERTAINTIES), before, after
    changes: pa.Table
    ratings: pa.Table

    @property
    def n_changed(self) -> int:
        """Responses that would become something else."""
        return int(self.changes.num_rows)

    @property
    def n_rated(self) -> int:
        """Responses that stay, and of which it becomes known how they were read."""
        return int(self.ratings.num_rows)


def preview_rereading(
    workspace: Workspace, study: str, *, persons: bool = False
) -> RereadingPreview:
    """Read every reply of a study again and say what would change; nothing is changed yet.

    Responses that a person has set are read only with `persons`; those that a judge has set stay.

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
    size = store.rereading_size(database, study_id)
    pages = store.answered_calls(database, study_id, last_ordinal=size.last_ordinal)
    materials = load_materials(workspace, study_id)
    parts = [NOTHING_READ]
    n_done = 0
    progress.step(n_done, size.n_read, "replies")
    with closing(read_calls(pages, materials, processes=processes_for(size.n_read))) as read:
        for part in read:
            parts.append(part)
            n_done += part.num_rows
            progress.step(n_done, max(n_done, size.n_read), "replies")
    compared = store.compare_readings(
        database, study_id, pa.concat_tables(parts), parser=PARSER_VERSION, persons=persons
    )
    columns = audit_store.CHANGE_COLUMNS
    changes = compared.filter(compared["changed"]).select(columns)
    return RereadingPreview(
        study=study,
        parser=PARSER_VERSION,
        n_read=compared.num_rows,
        n_kept=0 if persons else size.n_persons,
        n_judged=size.n_judged,
        kinds=count_changes(changes),
        means=audit_store.item_means(database, study_id, changes),
        certainties=_certainties(compared),
        changes=changes,
        ratings=compared.filter(compared["rated"]).select(columns),
    )


def start_preview(workspace: Workspace, study: str, *, persons: bool) -> None:
    """Begin to preview in the background; one preview at a time for each study."""
    drop_preview(workspace, study)
    background.begin(
        _key(workspace, study),
        "rereading",
        lambda: preview_rereading(workspace, study, persons=persons),
    )


def preview_of(workspace: Workspace, study: str) -> Computation[RereadingPreview] | None:
    """The preview of a study that was begun last, until it is applied or dropped."""
    return background.known(_key(workspace, study))


def drop_preview(workspace: Workspace, study: str) -> None:
    """Forget the preview of a study; one under way stops."""
    under_way = preview_of(workspace, study)
    if under_way is not None:
        under_way.cancel()
    background.forget_key(_key(workspace, study))


def _key(workspace: Workspace, study: str) -> str:
    return f"rereading:{workspace.process}:{workspace.name}:{study}"


def parser_versions(workspace: Workspace, study: str) -> dict[int | None, int]:
    """How many responses each version of the rules has read; None: a person, a judge, or a file."""
    return store.parser_versions(
        workspace.database, studies.get(workspace.database, study).study_id
    )


def apply_rereading(workspace: Workspace, preview: RereadingPreview) -> int:
    """Make the changes of a preview, all or none; returns how many codings change.

    What has changed since the preview (by a person, or by another reading) stays as it is.
    """
    record = studies.get(workspace.database, preview.study)
    with workspace.database.all_or_nothing():
        n_changed = store.apply_readings(
            workspace.database,
            record.study_id,
            preview.changes,
            preview.ratings,
            parser=preview.parser,
        )
        words = f"Had the replies read again; {n_changed:,} readings changed"
        study_log.add(workspace, record.study_id, words)
    return n_changed


def page_of_changes(
    workspace: Workspace, preview: RereadingPreview, *, offset: int = 0, limit: int = 50
) -> pd.DataFrame:
    """Some of the changes with item and reply: what was read before and what would be now."""
    part = preview.changes.slice(offset, limit)
    trials = [int(trial) for trial in part["trial_id"].to_pylist()]
    rows = answer_store.trial_rows(workspace.database, trials)
    changes = {int(row["trial_id"]): row for row in part.to_pylist()}
    rows["before"] = [
        answer_words(changes[t]["old_status"], changes[t]["old_option"]) for t in rows["trial_id"]
    ]
    rows["after"] = [
        answer_words(changes[t]["status"], changes[t]["option"]) for t in rows["trial_id"]
    ]
    return rows[["trial_id", "ordinal", "respondent", "item", "before", "after", "reply"]]


def count_changes(changes: pa.Table) -> pd.DataFrame:
    """How many responses go from what to what, the most frequent first."""
    keys = ["old_status", "old_option", "status", "option"]
    counts: pd.DataFrame = changes.group_by(keys).aggregate([([], "count_all")]).to_pandas()
    counts = counts.rename(columns={"count_all": "count"})[[*keys, "count"]]
    return counts.sort_values(["count", *keys], ascending=[False] + [True] * 4, ignore_index=True)


def _certainties(compared: pa.Table) -> pd.DataFrame:
    """How many answers with an option are of each class, before and after."""
    columns = {"certainty": list(CERTAINTIES)}
    for name, old in (("before", "old_"), ("after", "")):
        answers = compared.filter(pc.is_valid(compared[f"{old}option"]))
        certainty = pc.fill_null(answers[f"{old}certainty"], NOT_RECORDED)
        counts = {one["values"]: one["counts"] for one in pc.value_counts(certainty).to_pylist()}
        counts[HEDGED] = pc.sum(answers[f"{old}hedged"]).as_py() or 0
        columns[name] = [counts.get(certainty, 0) for certainty in CERTAINTIES]
    return pd.DataFrame(columns)

"""Audits: a person codes a sample of replies; and reading replies on file again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from core.collect.client import Reply, TokenChance
from core.collect.replies.reader import PARSER_VERSION
from core.domain.results import Column, ResultTable
from core.domain.study import Status
from core.errors import NotEnoughData
from core.stats.agreement import cohens_kappa
from core.stats.distributions import wilson_interval
from core.store import answers as answer_store
from core.store import audits, studies
from core.store import audits as store
from core.store.answers import AnswerDetail
from core.store.audits import AnsweredCall, Audit, ResponseChange, StoredReply
from core.workflow.answers import browsing
from core.workflow.answers.browsing import ShownOption, answer_words
from core.workflow.designs.studies import load_materials
from core.workflow.prompts import StudyMaterials
from core.workflow.runs.reading import Reader
from core.workflow.workspace import Workspace

__all__ = ["PARSER_VERSION", "Audit"]


# Audits: a person codes a sample of replies, and the parser is measured against that.

DEFAULT_PER_MODEL = 100
MAX_PER_MODEL = 5000
MISSING_KINDS: tuple[Status, ...] = (
    Status.REFUSED, Status.NEUTRAL, Status.OFF_SCALE, Status.AMBIGUOUS, Status.NO_ANSWER,
    Status.TRUNCATED,
)  # fmt: skip
"""What a person can say of a reply that chooses no option."""

_RESULT_COLUMNS = (
    Column("model", "Model", help="As the respondents name it."),
    Column("drawn", "Drawn", "count", "Replies in the sample."),
    Column("coded", "n coded", "count", "Replies that you have coded; all else is of these."),
    Column(
        "success", "Success rate", "proportion",
        "Share of replies in which the reader finds the option that you chose, or no option where "
        "you chose none.",
    ),
    Column("ci_low", "From", "proportion", "Lower end of Wilson's 95 % interval."),
    Column("ci_high", "To", "proportion", "Upper end of Wilson's 95 % interval."),
    Column(
        "kappa", "Kappa", "correlation",
        "Cohen's kappa between you and the parser; categories are the options and 'no option'. "
        "Empty where all replies fall into one category.",
    ),
    Column(
        "kappa_kinds", "Kappa with kinds", "correlation",
        "The same with every kind of missing answer (refused, neutral ...) as its own category.",
    ),
    Column("disagreements", "Disagreements", "count", "Replies read differently, in any way."),
)  # fmt: skip
_CODING_COLUMNS = (
    "trial_id", "ordinal", "model", "respondent", "item", "language", "format", "person_status",
    "person_option", "parser_status", "parser_option", "parser_status_then",
    "parser_option_then", "success", "agrees", "taken", "coded_at", "reply",
)  # fmt: skip


@dataclass(frozen=True)
class ReplyToCode:
    """A reply to be coded. `item_text` has the names of entities in it."""

    answer: AnswerDetail
    item_text: str
    options: tuple[ShownOption, ...]


def draw_audit(
    workspace: Workspace,
    study: str,
    *,
    seed: int,
    per_model: int = DEFAULT_PER_MODEL,
    at_end: bool = False,
) -> Audit:
    """The sample of that seed and size: drawn now, or the one on file.

    Raises
    ------
    NotEnoughData
        The study has no reply that chooses among options.
    """
    record = studies.get(workspace.database, study)
    with workspace.database.all_or_nothing():
        audit_id = store.draw(
            workspace.database, record.study_id, seed=seed, per_model=per_model, at_end=at_end
        )
        audit = next(
            a for a in store.audits(workspace.database, record.study_id) if a.audit_id == audit_id
        )
        if audit.n == 0:
            raise NotEnoughData(
                f"'{study}' has no replies that could be coded.",
                "Collect answers first; texts without options are not coded.",
            )
    return audit


def list_audits(workspace: Workspace, study: str) -> tuple[Audit, ...]:
    """The audits of a study, newest first."""
    return store.audits(workspace.database, studies.get(workspace.database, study).study_id)


def progress(workspace: Workspace, audit: Audit) -> pd.DataFrame:
    """By model: replies drawn (`n`) and coded."""
    return store.progress(workspace.database, audit.audit_id)


def reply_to_code(
    workspace: Workspace, audit: Audit, trial_id: int | None = None
) -> ReplyToCode | None:
    """A reply of the sample, by its trial or else the next one that is not coded yet.

    None when all are coded, or where the trial is not in the sample.
    """
    if trial_id is None:
        trial_id = store.next_uncoded(workspace.database, audit.audit_id)
    elif not store.is_sampled(workspace.database, audit.audit_id, trial_id):
        return None
    answer = browsing.detail(workspace, trial_id) if trial_id is not None else None
    if answer is None:
        return None
    text = answer.text.replace("{entity_b}", answer.entity_b).replace("{entity}", answer.entity)
    return ReplyToCode(answer, text, browsing.options_shown(workspace, answer))


def coded_trials(workspace: Workspace, audit: Audit) -> tuple[int, ...]:
    """The trials coded so far, the one coded last first."""
    return store.coded_trials(workspace.database, audit.audit_id)


def save_coding(
    workspace: Workspace,
    audit: Audit,
    trial_id: int,
    *,
    option: str | None = None,
    status: Status | None = None,
) -> None:
    """Keep what a person makes of a reply: an option, or why there is none.

    Raises
    ------
    ValueError
        Neither or both are given, or the trial is not in the sample.
    """
    if (option is None) == (status is None) or status not in (None, *MISSING_KINDS):
        raise ValueError(f"no coding of a reply: {option!r}, {status!r}")
    if not store.is_sampled(workspace.database, audit.audit_id, trial_id):
        raise ValueError(f"trial {trial_id} is not in this audit")
    store.save_coding(
        workspace.database, audit.audit_id, trial_id,
        status=status or Status.ANSWERED, option=option,
    )  # fmt: skip


def codings(workspace: Workspace, audit: Audit) -> pd.DataFrame:
    """Every coded reply: the person's coding, the parser's, and whether they agree.

    `success` is the same option or none from either; `agrees` asks for the same kind of missing
    answer as well. An answer with an explanation is an answer.
    """
    frame = store.codings(workspace.database, audit.audit_id)
    person, parser = _options(frame, "person"), _options(frame, "parser")
    frame["success"] = [a == b for a, b in zip(person, parser, strict=True)]
    kinds = zip(_kinds_of_replies(frame, "person"), _kinds_of_replies(frame, "parser"), strict=True)
    frame["agrees"] = [a == b for a, b in kinds]
    return frame[list(_CODING_COLUMNS)]


def results(workspace: Workspace, audit: Audit) -> ResultTable:
    """By model: how often the parser took from a reply what a person took from it."""
    coded = codings(workspace, audit)
    drawn = progress(workspace, audit)
    rows = [
        _model_row(str(model), int(n), coded[coded["model"] == model])
        for model, n in zip(drawn["model"], drawn["n"], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in _RESULT_COLUMNS])
    return ResultTable("audit", "The parser against a person", frame, _RESULT_COLUMNS)


def accept_codings(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Let the person's coding stand as the response of these trials; returns how many changed.

    The parser's reading is kept and can be brought back. An option that the parser did not see
    stands as an answer with explanation, for a bare option it would have seen.
    """
    coded = codings(workspace, audit)
    chosen = coded[coded["trial_id"].isin(list(trial_ids)) & ~coded["agrees"] & ~coded["taken"]]
    new = {int(row["trial_id"]): _response_of_person(row) for row in chosen.to_dict("records")}
    changes = audits.changes_by_person(workspace.database, audit.study_id, new)
    return audits.apply_changes(workspace.database, audit.study_id, changes, cause="person")


def revert_codings(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Undo `take` for these trials: what was read before stands again. Returns how many."""
    changes = audits.changes_undoing_person(workspace.database, audit.study_id, trial_ids)
    return audits.apply_changes(workspace.database, audit.study_id, changes, cause="undo")


def _response_of_person(row: Mapping[Any, Any]) -> tuple[str, str | None]:
    option = row["person_option"]
    if not isinstance(option, str):
        return str(row["person_status"]), None
    status = Status(str(row["parser_status"]))
    return (status if status.usable else Status.EXPLAINED), option


def _model_row(model: str, drawn: int, coded: pd.DataFrame) -> tuple[object, ...]:
    n, successes = len(coded), int(coded["success"].sum())
    low, high = wilson_interval(successes, n)
    return (
        model, drawn, n, successes / n if n else math.nan, low, high,
        cohens_kappa(_options(coded, "person"), _options(coded, "parser")),
        cohens_kappa(_kinds_of_replies(coded, "person"), _kinds_of_replies(coded, "parser")),
        int((~coded["agrees"].astype(bool)).sum()),
    )  # fmt: skip


def _options(frame: pd.DataFrame, coder: str) -> list[tuple[str, str] | None]:
    """The option each reply was given, with its format; None where it was given none."""
    options, formats = frame[f"{coder}_option"], frame["format"]
    return [
        (code, option) if isinstance(option, str) else None
        for code, option in zip(formats, options, strict=True)
    ]


def _kinds_of_replies(frame: pd.DataFrame, coder: str) -> list[object]:
    """As `_options`, with the kind of missing answer in place of None."""
    statuses = frame[f"{coder}_status"]
    return [o or s for o, s in zip(_options(frame, coder), statuses, strict=True)]


# Reading the replies on file again with the present rules; no model is asked.
#
# What changes can be looked at first. The old readings stay on file.

ReportProgress = Callable[[float], object]
"""Told the share that is done, 0 to 1."""


@dataclass(frozen=True, eq=False)
class RereadingPreview:
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


def preview_rereading(
    workspace: Workspace,
    study: str,
    *,
    persons: bool = False,
    report: ReportProgress = lambda _: None,
) -> RereadingPreview:
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
    n_trials, n_persons = store.trial_counts(database, study_id)
    materials = load_materials(workspace, study_id)
    changes: list[ResponseChange] = []
    n_read = 0
    for calls in store.answered_calls(database, study_id, persons=persons):
        for answered in calls:
            n_read += sum(planned.waiting for planned in answered.call.items)
            changes += _call_changes(answered, materials)
        report(min(calls[-1].call.last_ordinal / n_trials, 1.0) if calls else 1.0)
    change_table = store.change_table(changes)
    return RereadingPreview(
        study=study,
        parser=PARSER_VERSION,
        n_read=n_read,
        n_kept=0 if persons else n_persons,
        kinds=_change_counts(change_table),
        means=store.item_means(database, study_id, change_table),
        changes=change_table,
    )


def parser_versions(workspace: Workspace, study: str) -> dict[int | None, int]:
    """How many responses each version of the rules has read; None: a person, or a file."""
    return store.parser_versions(
        workspace.database, studies.get(workspace.database, study).study_id
    )


def apply_rereading(workspace: Workspace, preview: RereadingPreview) -> int:
    """Make the changes of a preview, all or none; returns how many.

    What has changed since the preview (by a person, or by another reading) stays as it is.
    """
    record = studies.get(workspace.database, preview.study)
    return store.apply_changes(
        workspace.database,
        record.study_id,
        preview.changes,
        cause="parser",
        confirmed=preview.parser,
    )


def page_of_changes(
    workspace: Workspace, preview: RereadingPreview, *, offset: int = 0, limit: int = 50
) -> pd.DataFrame:
    """Some of the changes with item and reply: what was read before and what would be now."""
    part = preview.changes.slice(offset, limit)
    trials = [int(trial) for trial in part["trial_id"].to_pylist()]
    rows = answer_store.trial_rows(workspace.database, trials)
    changes = {int(row["trial_id"]): row for row in part.to_pylist()}
    rows["before"] = [answer_words(changes[t]["old_status"], changes[t]["old_option"])
                      for t in rows["trial_id"]]  # fmt: skip
    rows["after"] = [answer_words(changes[t]["status"], changes[t]["option"])
                     for t in rows["trial_id"]]  # fmt: skip
    return rows[["trial_id", "ordinal", "respondent", "item", "before", "after", "reply"]]


def _call_changes(answered: AnsweredCall, materials: StudyMaterials) -> Iterator[ResponseChange]:
    """What the replies to one call come to now, where it is not what is on file."""
    if not any(planned.waiting for planned in answered.call.items):
        return
    question = materials.question(answered.call)
    n_replies = len(answered.replies)
    reader = Reader(question, answered.call, most_replies=n_replies, filter_ends=False)
    for stored in answered.replies:
        done = reader.judge(_reply(stored))
        for coding in reader.codings():
            old = answered.current[coding.trial_id]
            if old != (coding.status, coding.option, stored.attempt_id):
                yield ResponseChange(
                    coding.trial_id, *old, coding.status, coding.option, coding.parser,
                    stored.attempt_id, coding.tries, coding.chance,
                )  # fmt: skip
        if done:
            return


def _reply(stored: StoredReply) -> Reply:
    tokens: Sequence[tuple[str, float]] = json.loads(stored.tokens) if stored.tokens else ()
    chances = tuple(TokenChance(token, logprob) for token, logprob in tokens)
    return Reply(stored.text, stored.finish_reason, first_token=chances)


def _change_counts(changes: pa.Table) -> pd.DataFrame:
    """How many responses go from what to what, the most frequent first."""
    keys = ["old_status", "old_option", "status", "option"]
    counts: pd.DataFrame = changes.group_by(keys).aggregate([([], "count_all")]).to_pandas()
    counts = counts.rename(columns={"count_all": "count"})[[*keys, "count"]]
    return counts.sort_values(["count", *keys], ascending=[False] + [True] * 4, ignore_index=True)

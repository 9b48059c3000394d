"""Audits: a person codes a sample of replies, and the parser is measured against that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.domain.results import Column, ResultTable
from core.domain.study import Status
from core.errors import NotEnoughData
from core.psychometrics.agreement.kappa import cohens_kappa
from core.psychometrics.comparisons.shares import wilson_interval
from core.store import audits as store
from core.store import recodings, studies
from core.store.audits import Audit
from core.workflow import answers
from core.workflow.answers import AnswerDetail, Shown
from core.workflow.workspace import Workspace

__all__ = ["Audit"]

PER_MODEL = 100
MOST_PER_MODEL = 5000
KINDS: tuple[Status, ...] = (
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
        "Share of replies from which the parser took the option you took, or none where you found "
        "none, whatever the reason.",
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
class ToCode:
    """A reply to be coded. `item_text` has the names of entities in it."""

    answer: AnswerDetail
    item_text: str
    options: tuple[Shown, ...]


def draw(
    workspace: Workspace, study: str, *, seed: int, per_model: int = PER_MODEL, at_end: bool = False
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
        found = next(
            a for a in store.audits(workspace.database, record.study_id) if a.audit_id == audit_id
        )
        if found.n == 0:
            raise NotEnoughData(
                f"'{study}' has no replies that could be coded.",
                "Collect answers first; texts without options are not coded.",
            )
    return found


def listed(workspace: Workspace, study: str) -> tuple[Audit, ...]:
    """The audits of a study, newest first."""
    return store.audits(workspace.database, studies.get(workspace.database, study).study_id)


def progress(workspace: Workspace, audit: Audit) -> pd.DataFrame:
    """By model: replies drawn (`n`) and coded."""
    return store.progress(workspace.database, audit.audit_id)


def to_code(workspace: Workspace, audit: Audit, trial_id: int | None = None) -> ToCode | None:
    """A reply of the sample, by its trial or else the next one that is not coded yet.

    None when all are coded, or where the trial is not in the sample.
    """
    if trial_id is None:
        trial_id = store.unfinished(workspace.database, audit.audit_id)
    elif not store.holds(workspace.database, audit.audit_id, trial_id):
        return None
    answer = answers.detail(workspace, trial_id) if trial_id is not None else None
    if answer is None:
        return None
    text = answer.text.replace("{entity_b}", answer.entity_b).replace("{entity}", answer.entity)
    return ToCode(answer, text, answers.options_shown(workspace, answer))


def latest(workspace: Workspace, audit: Audit) -> tuple[int, ...]:
    """The trials coded so far, the one coded last first."""
    return store.latest(workspace.database, audit.audit_id)


def code(
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
    if (option is None) == (status is None) or status not in (None, *KINDS):
        raise ValueError(f"no coding of a reply: {option!r}, {status!r}")
    if not store.holds(workspace.database, audit.audit_id, trial_id):
        raise ValueError(f"trial {trial_id} is not in this audit")
    store.code(
        workspace.database, audit.audit_id, trial_id,
        status=status or Status.ANSWERED, option=option,
    )  # fmt: skip


def codings(workspace: Workspace, audit: Audit) -> pd.DataFrame:
    """Every coded reply: the person's coding, the parser's, and whether they agree.

    `success` is the same option or none from either; `agrees` asks for the same kind of missing
    answer as well. An answer with an explanation is an answer.
    """
    frame = store.coded(workspace.database, audit.audit_id)
    person, parser = _options(frame, "person"), _options(frame, "parser")
    frame["success"] = [a == b for a, b in zip(person, parser, strict=True)]
    kinds = zip(_kinds(frame, "person"), _kinds(frame, "parser"), strict=True)
    frame["agrees"] = [a == b for a, b in kinds]
    return frame[list(_CODING_COLUMNS)]


def results(workspace: Workspace, audit: Audit) -> ResultTable:
    """By model: how often the parser took from a reply what a person took from it."""
    coded = codings(workspace, audit)
    drawn = progress(workspace, audit)
    rows = [
        _of_model(str(model), int(n), coded[coded["model"] == model])
        for model, n in zip(drawn["model"], drawn["n"], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[column.name for column in _RESULT_COLUMNS])
    return ResultTable("audit", "The parser against a person", frame, _RESULT_COLUMNS)


def take(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Let the person's coding stand as the response of these trials; returns how many changed.

    The parser's reading is kept and can be brought back. An option that the parser did not see
    stands as an answer with explanation, for a bare option it would have seen.
    """
    coded = codings(workspace, audit)
    chosen = coded[coded["trial_id"].isin(list(trial_ids)) & ~coded["agrees"] & ~coded["taken"]]
    new = {int(row["trial_id"]): _as_response(row) for row in chosen.to_dict("records")}
    changes = recodings.to_person(workspace.database, audit.study_id, new)
    return recodings.apply(workspace.database, audit.study_id, changes, cause="person")


def give_back(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Undo `take` for these trials: what was read before stands again. Returns how many."""
    changes = recodings.to_before_person(workspace.database, audit.study_id, trial_ids)
    return recodings.apply(workspace.database, audit.study_id, changes, cause="undo")


def _as_response(row: Mapping[Any, Any]) -> tuple[str, str | None]:
    option = row["person_option"]
    if not isinstance(option, str):
        return str(row["person_status"]), None
    status = Status(str(row["parser_status"]))
    return (status if status.usable else Status.EXPLAINED), option


def _of_model(model: str, drawn: int, coded: pd.DataFrame) -> tuple[object, ...]:
    n, successes = len(coded), int(coded["success"].sum())
    low, high = wilson_interval(successes, n)
    return (
        model, drawn, n, successes / n if n else math.nan, low, high,
        cohens_kappa(_options(coded, "person"), _options(coded, "parser")),
        cohens_kappa(_kinds(coded, "person"), _kinds(coded, "parser")),
        int((~coded["agrees"].astype(bool)).sum()),
    )  # fmt: skip


def _options(frame: pd.DataFrame, coder: str) -> list[tuple[str, str] | None]:
    """The option each reply was given, with its format; None where it was given none."""
    options, formats = frame[f"{coder}_option"], frame["format"]
    return [
        (code, option) if isinstance(option, str) else None
        for code, option in zip(formats, options, strict=True)
    ]


def _kinds(frame: pd.DataFrame, coder: str) -> list[object]:
    """As `_options`, with the kind of missing answer in place of None."""
    statuses = frame[f"{coder}_status"]
    return [o or s for o, s in zip(_options(frame, coder), statuses, strict=True)]

"""Audits: persons code a sample of replies; and reading replies on file again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa

from core.collect.replies.reader import PARSER_VERSION
from core.domain.characters import readable
from core.domain.members import RESERVED_NAMES
from core.domain.numbers import count_text
from core.domain.study import Status
from core.errors import CodingError, NotEnoughData, RoleError
from core.stats.inputs import name_list
from core.store import audits, studies
from core.store import audits as store
from core.store.answers import AnswerDetail
from core.store.audits import Audit
from core.workflow import study_log
from core.workflow.answers import browsing
from core.workflow.answers.browsing import ShownOption, answer_words
from core.workflow.answers.readings import CERTAINTY_WORDS, Reading, reading_of
from core.workflow.saved_inputs import looks_like_key
from core.workflow.workspace import Workspace

__all__ = ["PARSER_VERSION", "Audit"]


# Audits: persons code a sample of replies, each alone. Where they differ, one decides.

DEFAULT_PER_MODEL = 100
MAX_PER_MODEL = 5000
MISSING_KINDS: tuple[Status, ...] = (
    Status.REFUSED,
    Status.NEUTRAL,
    Status.OFF_SCALE,
    Status.AMBIGUOUS,
    Status.NO_ANSWER,
    Status.TRUNCATED,
)
"""What a person can say of a reply that chooses no option."""

MAX_NAME = 60
MAX_NOTE = 2000
FIRST_CODER = "Coder 1"
FINAL, READER = RESERVED_NAMES
"""Names of coders: the one that codes if no other is chosen, and two that no person can take."""

KIND_WORDS: Mapping[str, str] = {
    **{code: f"read as {word}" for code, word in CERTAINTY_WORDS.items()},
    "guess": "guesses",
    "hedged": "with a disclaimer",
    "judged": "judged",
}
"""The kinds of replies to which a sample can be restricted."""

_CODING_COLUMNS = (
    "trial_id", "ordinal", "model", "respondent", "item", "language", "format", "person_status",
    "person_option", "parser_status", "parser_option", "parser_status_then",
    "parser_option_then", "success", "agrees", "taken", "coded_at", "reply", "coder", "note",
    "final_status", "final_option", "adjudicator", "adjudicated_at", "adjudicator_note", "layer",
    "certainty", "hedged", "judge",
)  # fmt: skip


@dataclass(frozen=True)
class ReplyToCode:
    """A reply to be coded. `item_text` has the names of entities in it."""

    answer: AnswerDetail
    item_text: str
    options: tuple[ShownOption, ...]


@dataclass(frozen=True)
class Code:
    """What a coder took from a reply: a status, and the option where there is one."""

    status: str
    option: str | None

    @property
    def kind(self) -> tuple[str, str]:
        """The option, or the kind of missing answer. An answer with an explanation is an answer."""
        return ("option", self.option) if self.option is not None else ("status", self.status)

    @property
    def words(self) -> str:
        """The code as pages show it."""
        return answer_words(self.status, self.option)


@dataclass(frozen=True, eq=False)
class CodedSample:
    """The replies of a sample and what coders made of them.

    `replies` has a row for each reply, indexed by trial. `codes` holds the codes by coder and
    trial: the persons in `coders`, then FINAL and READER. `notes` are by trial and person, and
    `readings` say how READER read a trial.
    """

    replies: pd.DataFrame
    coders: tuple[str, ...]
    codes: Mapping[str, Mapping[int, Code]]
    notes: Mapping[tuple[int, str], str]
    adjudications: Mapping[int, Mapping[str, str]]  # by trial: `adjudicator`, `decided_at`
    readings: Mapping[int, Reading]

    def of_model(self, model: str) -> CodedSample:
        """The replies of one model, with all their codes."""
        return replace(self, replies=self.replies[self.replies["model"] == model])

    def codes_of(self, trial: int) -> dict[str, Code]:
        """The codes that persons gave to a reply, by coder."""
        return {c: self.codes[c][trial] for c in self.coders if trial in self.codes[c]}

    def differ(self, trial: int) -> bool:
        """Whether coders give a reply different codes."""
        return len({code.kind for code in self.codes_of(trial).values()}) > 1

    def data(self, trial: int) -> Code:
        """The code that the data hold."""
        return _code(self.replies.loc[[trial]].to_dict("records")[0], "data_")

    @property
    def trials(self) -> list[int]:
        """The trials of the replies, in the order of the rows."""
        return [int(trial) for trial in self.replies.index]


def draw_audit(
    workspace: Workspace,
    study: str,
    *,
    seed: int,
    per_model: int = DEFAULT_PER_MODEL,
    at_end: bool = False,
    kinds: Collection[str] = (),
) -> Audit:
    """The sample of that seed, size and kinds: drawn now, or the one on file.

    Without `kinds`, `per_model` replies of each model; with some of `KIND_WORDS`, so many of each
    model and kind, so that rare ones are checked.

    Raises
    ------
    NotEnoughData
        The study has no reply that chooses among options.
    """
    record = studies.get(workspace.database, study)
    with workspace.database.deciding(), workspace.database.all_or_nothing():
        known = {one.audit_id for one in store.audits(workspace.database, record.study_id)}
        audit_id = store.draw(
            workspace.database,
            record.study_id,
            seed=seed,
            per_model=per_model,
            at_end=at_end,
            kinds=kinds,
        )
        audit = next(
            a for a in store.audits(workspace.database, record.study_id) if a.audit_id == audit_id
        )
        if audit.n == 0 and kinds:
            words = name_list([KIND_WORDS[kind] for kind in KIND_WORDS if kind in kinds])
            raise NotEnoughData(
                f"'{study}' has no replies of this kind: {words}.",
                "Choose another kind, or none to draw from all replies.",
            )
        if audit.n == 0:
            raise NotEnoughData(
                f"'{study}' has no replies that could be coded.",
                "Collect answers first; texts without options are not coded.",
            )
        if audit_id not in known:
            words = f"Drew a sample of {count_text(audit.n, 'reply', 'replies')}, seed {seed}"
            study_log.add(workspace, record.study_id, words)
    return audit


def kind_counts(workspace: Workspace, study: str) -> dict[str, int]:
    """How many replies of a study a sample could have of each kind; kinds without are left out."""
    record = studies.get(workspace.database, study)
    return store.kind_counts(workspace.database, record.study_id)


def list_audits(workspace: Workspace, study: str) -> tuple[Audit, ...]:
    """The audits of a study, newest first."""
    return store.audits(workspace.database, studies.get(workspace.database, study).study_id)


# Coders. Each codes the sample alone; who only adjudicates sees all codings and codes nothing.


def list_coders(workspace: Workspace, audit: Audit) -> dict[str, int]:
    """How many replies each coder has coded, the coder who began first first."""
    return store.coders(workspace.database, audit.audit_id)


def list_adjudicators(workspace: Workspace, audit: Audit) -> tuple[str, ...]:
    """The persons who adjudicate an audit without coding."""
    return store.adjudicators(workspace.database, audit.audit_id)


def coder_name(workspace: Workspace, audit: Audit, typed: str) -> str:
    """The name of a coder as it is kept; one that differs in capitals only is the same coder.

    Raises
    ------
    CodingError
        The name is empty, too long, reserved, or looks like a key.
    """
    name = " ".join(typed.split())
    known = (*list_coders(workspace, audit), *list_adjudicators(workspace, audit), FIRST_CODER)
    for one in known:
        if one.casefold() == name.casefold():
            return one
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CodingError(
            f"A coder has a name of 1 to {MAX_NAME} characters.", "Type another name."
        )
    if name.casefold() in {reserved.casefold() for reserved in RESERVED_NAMES}:
        raise CodingError(
            f"No coder can be called '{name}', because tables use this name.",
            "Type another name.",
        )
    _refuse_key(name, "name")
    return name


def begin_adjudication(workspace: Workspace, audit: Audit, name: str) -> None:
    """Let a person who has coded nothing see all codings; the person cannot code from then on.

    Raises
    ------
    CodingError
        The person has coded replies of the sample.
    """
    _refuse_other_name(workspace, name)
    if name in list_coders(workspace, audit):
        raise CodingError(
            f"'{name}' has coded replies of this sample.",
            "Code the rest first, or adjudicate under another name.",
        )
    store.add_adjudicator(workspace.database, audit.audit_id, name)


def reply_to_code(
    workspace: Workspace, audit: Audit, trial_id: int | None = None, *, coder: str = FIRST_CODER
) -> ReplyToCode | None:
    """A reply of the sample, by its trial or else the next one that the coder has not coded yet.

    None when all are coded, or where the trial is not in the sample.
    """
    if trial_id is None:
        trial_id = store.next_uncoded(workspace.database, audit.audit_id, coder)
    elif not store.is_sampled(workspace.database, audit.audit_id, trial_id):
        return None
    return _reply_of_trial(workspace, trial_id)


def coded_trials(workspace: Workspace, audit: Audit, coder: str = FIRST_CODER) -> tuple[int, ...]:
    """The trials that a coder has coded so far, the one coded last first."""
    return store.coded_trials(workspace.database, audit.audit_id, coder)


def save_coding(
    workspace: Workspace,
    audit: Audit,
    trial_id: int,
    *,
    option: str | None = None,
    status: Status | None = None,
    coder: str = FIRST_CODER,
) -> None:
    """Keep what a coder makes of a reply: an option, or why there is none.

    Raises
    ------
    CodingError
        The coder adjudicates this audit, and has seen the codings of others.
    ValueError
        Neither or both are given, or the trial is not in the sample.
    """
    _refuse_other_name(workspace, coder)
    if coder in list_adjudicators(workspace, audit):
        raise CodingError(
            f"'{coder}' adjudicates this sample and has seen the codings of others.",
            "Code under another name only if you have not seen these replies.",
        )
    _check_code(workspace, audit, trial_id, option, status)
    store.save_coding(
        workspace.database,
        audit.audit_id,
        trial_id,
        coder=coder,
        status=status or Status.ANSWERED,
        option=option,
    )


def notes(workspace: Workspace, audit: Audit) -> dict[tuple[int, str], str]:
    """The notes about the replies of a sample, by trial and person."""
    return store.notes(workspace.database, audit.audit_id)


def save_note(workspace: Workspace, audit: Audit, trial_id: int, coder: str, note: str) -> None:
    """Keep a coder's note about a reply; an empty one takes it away. Earlier ones stay on file.

    Raises
    ------
    CodingError
        The note looks like a key, or is too long.
    ValueError
        The trial is not in the sample.
    """
    _refuse_other_name(workspace, coder)
    note = readable(note).strip()
    if not store.is_sampled(workspace.database, audit.audit_id, trial_id):
        raise ValueError(f"trial {trial_id} is not in this audit")
    if len(note) > MAX_NOTE:
        raise CodingError(
            f"The note has {len(note):,} characters, and at most {MAX_NOTE:,} are kept.",
            "Shorten it.",
        )
    _refuse_key(note, "note")
    if note != notes(workspace, audit).get((trial_id, coder), ""):
        store.save_note(workspace.database, audit.audit_id, trial_id, coder, note)


def _refuse_other_name(workspace: Workspace, name: str) -> None:
    """A member codes under the member's own name, and under no other."""
    if workspace.member is not None and name != workspace.name:
        raise RoleError(
            f"You are {workspace.name} and cannot code as '{name}'.",
            "Nothing was changed. Reload the page.",
        )


def _refuse_key(text: str, what: str) -> None:
    if looks_like_key(text):
        raise CodingError(
            f"The {what} looks like the key of a service, and was not saved.",
            "Take the key out. Keys are typed on the page Respondents, and saved nowhere.",
        )


def _check_code(
    workspace: Workspace, audit: Audit, trial_id: int, option: str | None, status: Status | None
) -> None:
    if (option is None) == (status is None) or status not in (None, *MISSING_KINDS):
        raise ValueError(f"no coding of a reply: {option!r}, {status!r}")
    if not store.is_sampled(workspace.database, audit.audit_id, trial_id):
        raise ValueError(f"trial {trial_id} is not in this audit")


def _reply_of_trial(workspace: Workspace, trial_id: int | None) -> ReplyToCode | None:
    answer = browsing.detail(workspace, trial_id) if trial_id is not None else None
    if answer is None:
        return None
    text = answer.text.replace("{entity_b}", answer.entity_b).replace("{entity}", answer.entity)
    return ReplyToCode(answer, text, browsing.options_shown(workspace, answer))


# Codings side by side, as far as a person may see them.


def load_sample(workspace: Workspace, audit: Audit, viewer: str | None = None) -> CodedSample:
    """The replies of a sample with all codes, or with those that `viewer` may see.

    A coder sees the codes and notes of others, and the reader's, only for replies that the coder
    has coded; with verdicts at the end, only once the coder has coded all. An adjudicator sees all
    codes of persons, and with verdicts at the end the reader's once nothing is left to adjudicate.
    """
    with workspace.database.all_or_nothing():  # one state of the file for all parts
        replies = store.sample(workspace.database, audit.audit_id).set_index("trial_id")
        coders = tuple(list_coders(workspace, audit))
        coded = store.codings(workspace.database, audit.audit_id)
        decided = store.adjudications(workspace.database, audit.audit_id)
        kept_notes = notes(workspace, audit)
        adjudicates = viewer in list_adjudicators(workspace, audit)
    codes = {coder: _codes(coded[coded["coder"] == coder], "person_") for coder in coders}
    reader = _codes(replies.reset_index(), "parser_")
    sample = CodedSample(
        replies=replies,
        coders=coders,
        codes=codes | {FINAL: _final_codes(codes, _codes(decided)), READER: reader},
        notes=kept_notes,
        adjudications={
            int(row["trial_id"]): {name: row[name] for name in ("adjudicator", "decided_at")}
            for row in decided.to_dict("records")
        },
        readings={
            int(row["trial_id"]): reading_of(row)
            for row in replies.reset_index().to_dict("records")
        },
    )
    return sample if viewer is None else _seen_by(sample, viewer, audit, adjudicates)


def codings(workspace: Workspace, audit: Audit, viewer: str | None = None) -> pd.DataFrame:
    """Every coding of a reply: a person's, the parser's, and whether they agree.

    `success` is the same option or none from either; `agrees` asks for the same kind of missing
    answer as well. A reply that two coders have coded has two rows. `final_...` is the final
    coding, with who decided on it and when where coders differed. With `viewer`, the rows are of
    replies whose codes this person may see.
    """
    sample = load_sample(workspace, audit, viewer)
    coded = store.codings(workspace.database, audit.audit_id)
    of_coder = {(row["trial_id"], row["coder"]): row for row in coded.to_dict("records")}
    rows = [
        reply | of_coder[trial, coder] | _comparison(sample, trial, coder)
        for trial, reply in zip(sample.trials, sample.replies.to_dict("records"), strict=True)
        for coder in sample.coders
        if trial in sample.codes[coder] and trial in sample.codes[READER]
    ]
    frame = pd.DataFrame(rows, columns=list(_CODING_COLUMNS))
    return frame.astype({"success": bool, "agrees": bool, "taken": bool})


def adjudicable_trials(sample: CodedSample) -> list[int]:
    """The replies on which the coders differ, and those that are adjudicated already."""
    return [t for t in sample.trials if sample.differ(t) or t in sample.adjudications]


def reply_to_adjudicate(
    workspace: Workspace, sample: CodedSample, trial_id: int | None = None
) -> ReplyToCode | None:
    """A reply on which coders differ, by its trial or else the next one without a final coding.

    `sample` has the codes that the adjudicator may see. None where nothing is left.
    """
    waiting = adjudicable_trials(sample)
    if trial_id is None:
        trial_id = next((t for t in waiting if t not in sample.adjudications), None)
    return _reply_of_trial(workspace, trial_id) if trial_id in waiting else None


def adjudicated_trials(workspace: Workspace, audit: Audit) -> tuple[int, ...]:
    """The trials with a final coding by an adjudicator, the one decided last first."""
    return store.adjudicated_trials(workspace.database, audit.audit_id)


def adjudicate(
    workspace: Workspace,
    audit: Audit,
    trial_id: int,
    *,
    adjudicator: str,
    option: str | None = None,
    status: Status | None = None,
) -> None:
    """Keep the final coding of a reply on which coders differ.

    Raises
    ------
    CodingError
        Coders do not differ on this reply, or the adjudicator may not see their codes yet.
    ValueError
        Neither or both are given, or the trial is not in the sample.
    """
    _refuse_other_name(workspace, adjudicator)
    _check_code(workspace, audit, trial_id, option, status)
    if trial_id not in adjudicable_trials(load_sample(workspace, audit, adjudicator)):
        raise CodingError(
            f"'{adjudicator}' cannot adjudicate this reply.",
            "Code it first, and wait until another coder has coded it differently.",
        )
    store.save_adjudication(
        workspace.database,
        audit.audit_id,
        trial_id,
        coder=adjudicator,
        status=status or Status.ANSWERED,
        option=option,
    )


def accept_codings(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Let the final coding stand as the response of these trials; returns how many changed.

    The final coding is the adjudicator's, or the one on which all who coded the reply agree. Where
    there is none, nothing changes. The parser's reading is kept and can be brought back. An option
    that the parser did not see stands as an answer with explanation, for a bare option it would
    have seen.
    """
    sample = load_sample(workspace, audit)
    chosen = {int(trial) for trial in trial_ids}
    new = {
        trial: _response_of_person(sample.codes[FINAL][trial], sample.codes[READER][trial])
        for trial in sample.trials
        if trial in chosen and is_change(sample, trial)
    }
    changes = audits.changes_by_person(workspace.database, audit.study_id, new)
    return _apply(workspace, audit, changes, "person", "Let codings of persons stand in the data")


def is_change(sample: CodedSample, trial: int) -> bool:
    """Whether a reply has a final coding that is not the one in the data."""
    final = sample.codes[FINAL].get(trial)
    return final is not None and final.kind != sample.data(trial).kind


def revert_codings(workspace: Workspace, audit: Audit, trial_ids: Sequence[int]) -> int:
    """Let what was read before persons' codings stand again for these trials; returns how many."""
    changes = audits.changes_undoing_person(workspace.database, audit.study_id, trial_ids)
    return _apply(workspace, audit, changes, "undo", "Took codings of persons out of the data")


def _apply(
    workspace: Workspace, audit: Audit, changes: pa.Table, cause: audits.Cause, what: str
) -> int:
    with workspace.database.all_or_nothing():
        n_changed = audits.apply_changes(workspace.database, audit.study_id, changes, cause=cause)
        study_log.add(workspace, audit.study_id, f"{what}: {n_changed:,}")
    return n_changed


def _response_of_person(final: Code, parser: Code) -> tuple[str, str | None]:
    if final.option is None:
        return final.status, None
    status = Status(parser.status)
    return (status if status.usable else Status.EXPLAINED), final.option


def _seen_by(sample: CodedSample, viewer: str, audit: Audit, adjudicates: bool) -> CodedSample:
    """The sample without the codes and notes that `viewer` may not see."""
    own = sample.codes.get(viewer, {})
    seen = set(sample.trials) if adjudicates else set(own)
    if audit.at_end and not adjudicates and len(own) < audit.n:
        seen = set()
    waits = any(t not in sample.adjudications for t in adjudicable_trials(sample))
    read = set() if audit.at_end and adjudicates and waits else seen
    codes = {
        coder: of_coder
        if coder == viewer
        else {t: c for t, c in of_coder.items() if t in (read if coder == READER else seen)}
        for coder, of_coder in sample.codes.items()
    }
    return replace(
        sample,
        codes=codes,
        notes={key: n for key, n in sample.notes.items() if key[0] in seen or key[1] == viewer},
        adjudications={t: who for t, who in sample.adjudications.items() if t in seen},
        readings={t: reading for t, reading in sample.readings.items() if t in read},
    )


def _final_codes(
    codes: Mapping[str, Mapping[int, Code]], decided: Mapping[int, Code]
) -> dict[int, Code]:
    """The final coding of each reply that has one: the adjudicator's, or what all coders chose."""
    by_trial: dict[int, list[Code]] = {}
    for of_coder in codes.values():
        for trial, code in of_coder.items():
            by_trial.setdefault(trial, []).append(code)
    agreed = {t: some[0] for t, some in by_trial.items() if len({c.kind for c in some}) == 1}
    return agreed | dict(decided)


def _codes(frame: pd.DataFrame, prefix: str = "") -> dict[int, Code]:
    return {int(row["trial_id"]): _code(row, prefix) for row in frame.to_dict("records")}


def _code(row: Mapping[Any, Any], prefix: str) -> Code:
    option = row[f"{prefix}option"]
    return Code(str(row[f"{prefix}status"]), option if isinstance(option, str) else None)


def _comparison(sample: CodedSample, trial: int, coder: str) -> dict[str, object]:
    """The last columns of a coding's row: agreement with the reader, note and final coding."""
    own, reader = sample.codes[coder][trial], sample.codes[READER][trial]
    final = sample.codes[FINAL].get(trial)
    decided = sample.adjudications.get(trial, {})
    adjudicator = decided.get("adjudicator", "")
    return {
        "success": own.option == reader.option,
        "agrees": own.kind == reader.kind,
        "note": sample.notes.get((trial, coder), ""),
        "final_status": final.status if final else None,
        "final_option": final.option if final else None,
        "adjudicator": adjudicator or None,
        "adjudicated_at": decided.get("decided_at"),
        "adjudicator_note": sample.notes.get((trial, adjudicator), "") if adjudicator else "",
    }

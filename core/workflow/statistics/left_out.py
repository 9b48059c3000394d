"""Leaving out answers that were guessed, hedged or judged: the choice, its counts and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.factors import Filters
from core.domain.numbers import count_text
from core.domain.study import LEAVE_OUT, LEFT_OUT_KINDS
from core.errors import NotEnoughData, WrongOption
from core.store import frames
from core.workflow.workspace import Workspace

KIND_WORDS: Mapping[str, str] = {"guess": "guessed", "hedged": "hedged", "judged": "judged"}
"""The words for kinds of answers, as in "3 hedged"."""
KIND_HELP: Mapping[str, str] = {
    "guess": "The reply mentions the option without stating it, or agrees only "
    "partly: the option that was read is a guess.",
    "hedged": 'The reply also disclaims: "As an AI I have no opinion, but I agree."',
    "judged": "Rules found no option; a respondent was asked which one the reply chooses.",
}


def require_kinds(kinds: Sequence[Any]) -> None:
    """Raise NotEnoughData where one of the kinds of answers to leave out is unknown."""
    for kind in kinds:
        if kind not in LEFT_OUT_KINDS:
            raise WrongOption(
                f"There are no answers of the kind '{kind}' to leave out.",
                f"Use for {LEAVE_OUT}: {', '.join(LEFT_OUT_KINDS)}.",
            )


def refuse(where: Filters, counted: str) -> None:
    """Raise NotEnoughData where answers are to be left out of what has none, such as texts."""
    if where.get(LEAVE_OUT):
        raise NotEnoughData(
            f"This is computed from {counted}, not from the options read from replies, so no "
            "answers can be left out.",
            f"Take {LEAVE_OUT} off.",
        )


def answer_kinds(
    workspace: Workspace, codes: Sequence[str], where: Filters | None = None
) -> dict[str, int]:
    """How many answers of some studies are of each of LEFT_OUT_KINDS; one may be of several.

    `answers` is the number of all that pass the filters, `unknown` of those of which it is not
    known how they were read, and `left_out` of those that `where` leaves out.
    """
    return frames.answer_kinds(workspace.database, list(codes), where or {})


def notes(
    workspace: Workspace, codes: Sequence[str], where: Filters, others: Sequence[str] = ()
) -> tuple[str, ...]:
    """How many answers are left out, by kind, and of how many it is not known; none without it.

    `others` are studies whose scores are brought in; no other filter holds for them.
    """
    kinds = where.get(LEAVE_OUT, ())
    if not kinds:
        return ()
    own = _sentences(answer_kinds(workspace, codes, where), kinds)
    return (
        *own,
        *(
            f"Study '{code}', brought in: {sentence}"
            for code in others
            for sentence in _sentences(answer_kinds(workspace, [code], {LEAVE_OUT: kinds}), kinds)
        ),
    )


def _sentences(n: Mapping[str, int], kinds: Sequence[Any]) -> tuple[str, ...]:
    counts = ", ".join(
        f"{n[kind]:,} {KIND_WORDS[kind]}" for kind in LEFT_OUT_KINDS if kind in kinds
    )
    several = sum(n[kind] for kind in set(kinds)) > n["left_out"]
    also = ", some of several kinds" if several else ""
    sentence = f"{n['left_out']:,} of {count_text(n['answers'], 'answer')} left out as missing: "
    if not n["unknown"]:
        return (f"{sentence}{counts}{also}.",)
    return (
        f"{sentence}{counts}{also}.",
        f"{count_text(n['unknown'], 'answer has', 'answers have')} no certainty, being imported or "
        "read by an earlier version; none of these is left out.",
    )


def method_words(where: Filters) -> tuple[str, ...]:
    """The sentence for the method of a result; none where nothing is left out."""
    words = [KIND_WORDS[kind] for kind in LEFT_OUT_KINDS if kind in where.get(LEAVE_OUT, ())]
    if not words:
        return ()
    return (f"Answers that were {' or '.join(words)} count as missing.",)

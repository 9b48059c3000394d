"""What a model wrote before its answer, between marks: left out before a reply is read."""

from __future__ import annotations

import re
from functools import cache

from core.collect.replies.languages import word_file
from core.domain.study import ReasoningMarks

_DEBRIS = (
    r"<\|(?:start|im_start)\|>(?:assistant)?|<\|[a-z_0-9]{1,20}\|>|</?s>|<eo[a-z]>|\[/?INST\]"
    r"|<\|?im_(?:start|end)\|?>"
)
"""Marks of chat templates that services leave in replies."""
_OPENING, _CLOSING = "<think>", "</think>"


def with_known_marks(text: str, marks: ReasoningMarks) -> str:
    """The reply with marks that only its respondent has as marks that every reader knows."""
    for opening, closing in marks:
        for mark, known in ((opening, _OPENING), (closing, _CLOSING)):
            text = re.sub(re.escape(mark), known, text, flags=re.IGNORECASE)
    return text


def without_thoughts(text: str, own_marks: ReasoningMarks = ()) -> str:
    """The reply without reasoning between marks and without marks of chat templates.

    The marks stand in reasoning.yaml; `own_marks` are further ones, of the respondent. A lone
    closing mark ends reasoning begun in the prompt; nothing after a lone opening one was meant as
    an answer.
    """
    text = with_known_marks(text, own_marks)
    marks = _reasoning_marks()
    if bare := marks.bare.match(text):
        text = text[bare.end() :]
    if not any(first in text for first in "<[◁&"):
        return text
    kept, depth = list[str](), 0
    for piece in marks.any.split(text):
        mark = piece.lower()
        if mark in marks.openings:
            depth += 1
        elif mark not in marks.closings:
            kept += [piece] if depth == 0 else []
        elif depth:
            depth -= 1
        elif mark in marks.lone_closings:
            kept.clear()
    return marks.debris.sub("\n", "\n".join(kept))


class _ReasoningMarks:
    """The marks of reasoning.yaml, in lower case."""

    def __init__(self) -> None:
        content = word_file("reasoning")
        pairs = [(first.lower(), last.lower()) for first, last in content["pairs"]]
        self.openings = frozenset(first for first, _ in pairs)
        self.closings = frozenset(last for _, last in pairs)
        # a mark that ends other things as well ends no reasoning that was not begun
        self.lone_closings = frozenset(m for m in self.closings if "/" in m or "th" in m)
        every = sorted(self.openings | self.closings, key=len, reverse=True)
        self.any = re.compile(f"({'|'.join(map(re.escape, every))})", re.IGNORECASE)
        bare = (rf"{re.escape(a)}.*?{re.escape(b)}" for a, b in content["bare"])
        self.bare = re.compile(rf"\s*(?:{'|'.join(bare)})", re.IGNORECASE | re.DOTALL)
        debris = "|".join(map(re.escape, content["debris"]))
        self.debris = re.compile(f"{debris}|{_DEBRIS}", re.IGNORECASE)


_reasoning_marks = cache(_ReasoningMarks)

"""Tokens that a call is expected to take, learned from the replies on file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.collect import budget, prompts
from core.collect.client import ChatRequest
from core.store import collection as store
from core.store.collection import CallUsage
from core.workflow.workspace import Workspace

Basis = Literal["study", "format", "model", "response_format"]
_FEWEST_REPLIES = 5
_BYTES_PER_TOKEN = 4
_TOKENS_OF_TEXT = 250
_TOKENS_OF_RATING = 8  # a name and a number of a JSON object
_TOKENS_OF_LINE = 4  # a number, a point and a line break before an answer of several


@dataclass(frozen=True)
class ExpectedCall:
    """Tokens of one call, and what they rest on: so many replies, or none."""

    tokens_in: float
    tokens_out: float
    basis: Basis
    replies: int

    def cost(self, request: ChatRequest) -> float | None:
        """US dollars; None where prices are unknown."""
        return budget.dollars(request.sampling, self.tokens_in, self.tokens_out)


class LearnedUsage:
    """What replies took: those of one study first, then those of the same model.

    Tokens of a reply are a mean over calls of the same response format and number of items, else
    over the items of calls in the same format, else over the items of all calls of the model. With
    fewer than five replies the response format says how long a reply is. Tokens of a prompt are
    its bytes, at the rate that the replies of the model show.
    """

    def __init__(self, rows: Iterable[CallUsage], study_id: int | None = None) -> None:
        self._of_model: dict[str, list[CallUsage]] = {}
        for row in rows:
            self._of_model.setdefault(row.model, []).append(row)
        self._study_id = study_id

    def expected(self, request: ChatRequest) -> ExpectedCall:
        """The tokens of a request."""
        rows = self._of_model.get(request.model, [])
        size = len(store.prompt_of(request.messages)[1].encode("utf-8", "surrogatepass"))
        bytes_in, tokens = sum(row.bytes_in for row in rows), sum(row.tokens_in for row in rows)
        tokens_in = size * (tokens / bytes_in if bytes_in and tokens else 1 / _BYTES_PER_TOKEN)
        tokens_out, basis, replies = self._reply(rows, request)
        limit = budget.reply_limit(request.sampling)
        if limit is not None:
            tokens_out = min(tokens_out, limit)
        return ExpectedCall(tokens_in, tokens_out, basis, replies)

    def _reply(self, rows: list[CallUsage], request: ChatRequest) -> tuple[float, Basis, int]:
        """Tokens of the reply, what they rest on, and how many replies that is."""
        code, n_items = request.question.response_format.code, len(request.question.items)
        same = [row for row in rows if row.format == code]
        of_study = [row for row in same if row.study_id == self._study_id]
        sources: tuple[tuple[Basis, list[CallUsage]], ...] = (
            ("study", of_study),
            ("format", same),
            ("model", rows),
        )
        for basis, found in sources:
            alike = [row for row in found if row.items == n_items * row.calls]
            if basis != "model" and (calls := _calls(alike)) >= _FEWEST_REPLIES:
                return sum(row.tokens_out for row in alike) / calls, basis, calls
            if (calls := _calls(found)) >= _FEWEST_REPLIES:
                items = sum(row.items for row in found)
                return sum(row.tokens_out for row in found) * n_items / items, basis, calls
        return _of_response_format(request), "response_format", 0


def _calls(rows: Iterable[CallUsage]) -> int:
    return sum(row.calls for row in rows)


def learned_usage(
    workspace: Workspace, models: Iterable[str], study_id: int | None = None
) -> LearnedUsage:
    """What the replies on file of some models took."""
    return LearnedUsage(store.token_usage(workspace.database, sorted(set(models))), study_id)


def basis_words(expected: Sequence[ExpectedCall]) -> str:
    """What expected tokens rest on, the part of the most calls first."""
    counts = Counter(one.basis for one in expected)
    replies = {basis: max(e.replies for e in expected if e.basis == basis) for basis in counts}
    parts = (_BASIS_WORDS[basis].format(replies[basis]) for basis, _ in counts.most_common())
    return "; ".join(parts)


_BASIS_WORDS: Mapping[Basis, str] = {
    "study": "{:,} replies of this study",
    "format": "{:,} replies of this model in this response format",
    "model": "{:,} replies of this model in other response formats",
    "response_format": "the response format; reasoning not included",
}


def _of_response_format(request: ChatRequest) -> float:
    """Tokens of a reply that does as it is told; reasoning before it is not known."""
    question = request.question
    shown = question.response_format
    if shown.ratings:
        tokens = float(_TOKENS_OF_RATING * (1 + len(shown.ratings)))
    elif not shown.is_choice:
        tokens = _TOKENS_OF_TEXT
    else:
        texts = prompts.allowed_replies(question)
        each = sum(math.ceil(len(one.encode()) / _BYTES_PER_TOKEN) for one in texts) / len(texts)
        several = len(question.items) > 1 or bool(request.choices)
        tokens = len(question.items) * (each + (_TOKENS_OF_LINE if several else 0))
    return tokens

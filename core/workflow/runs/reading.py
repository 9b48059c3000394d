"""From the replies to a call to the status and option of each of its trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from core.collect import prompts
from core.collect.client import CallFailure, ChatRequest, Question, Reply
from core.collect.ratings import parse_rating
from core.collect.replies import reader
from core.collect.replies.reasoning import with_known_marks
from core.domain.characters import readable
from core.domain.instrument import ResponseFormat
from core.domain.study import CONTENT_FILTER, CUT_OFF, REFUSAL, Parsed, Status
from core.domain.values import stable_id
from core.store.collection import Coding, PlannedCall

_MAX_SHARED = 0.01  # of the probability, of tokens that could begin several options


class Reader:
    """Reads the replies to one call, which may be asked for several times.

    A trial takes the first reply in which its answer is usable; where none is, the last one. With
    `whole_calls`, the trials of a call take the first reply in which all are usable; where none is
    such, no trial has an answer. A reply that a content filter withheld is the last, unless
    `filter_ends` is False.
    """

    def __init__(
        self,
        question: Question,
        call: PlannedCall,
        *,
        most_replies: int,
        whole_calls: bool = False,
        filter_ends: bool = True,
    ) -> None:
        self.most_replies = most_replies
        self._whole_calls = whole_calls
        self._filter_ends = filter_ends
        self.respondent_id = call.respondent_id
        self._question = question
        self._trials = [planned.trial_id for planned in call.items]
        self._waiting = {planned.trial_id for planned in call.items if planned.waiting}
        self._replies = call.replies
        self._coded: tuple[Coding, ...] = ()
        self._statuses: tuple[Status, ...] = ()

    def judge(self, reply: Reply) -> bool:
        """Read a reply; whether nothing is left to ask for."""
        self._replies += 1
        self._coded, self._statuses = (), ()
        withheld = self._filter_ends and reply.finish_reason == CONTENT_FILTER
        last = withheld or self._replies >= self.most_replies
        read = read_reply(reply, self._question)
        if self._whole_calls:
            read = counted_as_whole(read)
        self._statuses = tuple(parsed_reply.status for parsed_reply in read)
        parsed = dict(zip(self._trials, read, strict=True))
        self._coded = tuple(
            Coding(
                trial_id=trial_id,
                status=str(parsed_reply.status),
                option=parsed_reply.option,
                parser=reader.PARSER_VERSION,
                tries=self._replies,
                chance=option_chance(reply, self._question, parsed_reply.option),
                layer=parsed_reply.layer,
                certainty=parsed_reply.certainty,
                hedged=parsed_reply.hedged,
            )
            for trial_id, parsed_reply in parsed.items()
            if trial_id in self._waiting and (last or parsed_reply.status.usable)
        )
        self._waiting -= {coding.trial_id for coding in self._coded}
        return not self._waiting

    def codings(self) -> tuple[Coding, ...]:
        """What was settled by the reply judged last."""
        return self._coded

    def statuses(self) -> tuple[Status, ...]:
        """What each trial came to in the reply judged last; empty where it could not be read."""
        return self._statuses


def counted_as_whole(read: Sequence[Parsed]) -> tuple[Parsed, ...]:
    """What the items of a call come to where it counts only if all of them are answered."""
    if all(parsed.status.usable for parsed in read):
        return tuple(read)
    left_out = Parsed(Status.INVALID_CALL, None)
    return tuple(left_out if parsed.status.usable else parsed for parsed in read)


def read_reply(reply: Reply, question: Question) -> tuple[Parsed, ...]:
    """What each item of a question comes to in a reply, in the order asked."""
    return read_text(reply.text, question, finish_reason=reply.finish_reason)


def read_text(text: str, question: Question, *, finish_reason: str) -> tuple[Parsed, ...]:
    """As `read`, from the words of a reply.

    A reply that the provider's content filter withheld or cut off is a refusal, as is one that the
    service itself calls so, whatever its words. A reply is read by the options as the model was
    shown them; the result has the codes of the bank.
    """
    text = readable(text)  # as it is kept, so that reading it again comes to the same
    text = with_known_marks(text, question.reasoning_marks)
    if finish_reason in (CONTENT_FILTER, REFUSAL):
        return (Parsed(Status.REFUSED, None),) * len(question.items)
    if question.response_format.is_free_text:
        return (_free_text(text, finish_reason),) * len(question.items)
    if question.response_format.ratings:
        rated = parse_rating(text, question.response_format.ratings, finish_reason=finish_reason)
        return (Parsed(rated.status, None),)
    listed = prompts.listed_format(question)
    language = question.instructions or question.language
    read: tuple[Parsed, ...]
    texts = [prompts.item_text(item, question) for item in question.items]
    if len(texts) == 1:
        read = (_parse(text, listed, language, texts[0], finish_reason),)
    else:
        read = reader.parse_block(text, listed, language, texts, finish_reason=finish_reason)
    options = zip(listed.options, question.response_format.options, strict=True)
    codes = {shown.code: option.code for shown, option in options if shown.code != option.code}
    return tuple(
        replace(one, option=codes[one.option]) if one.option in codes else one for one in read
    )


_parsed: dict[tuple[str, int, str, str], tuple[ResponseFormat, Parsed]] = {}
_MOST_PARSED = 4096
_LONGEST_PARSED = 40  # characters; short replies come again and again


def _parse(
    text: str, response_format: ResponseFormat, language: str, item: str, finish_reason: str
) -> Parsed:
    """As `reader.parse`; a short reply, which repeats no question, is read once for each format."""
    if len(text) > _LONGEST_PARSED:
        return reader.parse(text, response_format, language, item=item, finish_reason=finish_reason)
    key = (text, id(response_format), language, finish_reason)
    known = _parsed.get(key)
    if known is not None and known[0] is response_format:
        return known[1]
    parsed = reader.parse(text, response_format, language, finish_reason=finish_reason)
    if len(_parsed) >= _MOST_PARSED:
        _parsed.clear()
    _parsed[key] = (response_format, parsed)
    return parsed


def _free_text(text: str, finish_reason: str) -> Parsed:
    """A text is kept as it is; only an empty or an unfinished one is not usable."""
    if not text.strip():
        return Parsed(Status.NO_ANSWER, None)
    return Parsed(Status.TRUNCATED if finish_reason == CUT_OFF else Status.ANSWERED, None)


def option_chance(reply: Reply, question: Question, option: str | None) -> float | None:
    """Probability of the option by the first token of the answer, among the options' tokens.

    None where it was not recorded, where several items were asked, or where the tokens of the
    options cannot be told apart.
    """
    if not reply.first_token or option is None or len(question.items) > 1:
        return None
    texts = prompts.allowed_replies(question)
    codes = [option_shown.code for option_shown in question.response_format.options]
    return first_token_chances(reply, dict(zip(codes, texts, strict=True))).get(option)


def first_token_chances(reply: Reply, texts: dict[str, str]) -> dict[str, float]:
    """Share of each option, by its code, in the probability of tokens that begin an option.

    `texts` holds what the model was to type for each option. Tokens are compared without the
    space before them and without regard to case. Empty where no token begins just one option, or
    where more than a hundredth of that probability is of tokens that begin several ("Strong" for
    "Strongly agree" and "Strongly disagree").
    """
    mass = dict.fromkeys(texts, 0.0)
    shared = 0.0
    for chance in reply.first_token:
        token = chance.token.strip().casefold()
        begun = [code for code, text in texts.items() if text.casefold().startswith(token)]
        if token and len(begun) == 1:
            mass[begun[0]] += math.exp(chance.logprob)
        elif token and begun:
            shared += math.exp(chance.logprob)
    total = math.fsum(mass.values())
    if total <= 0 or shared > _MAX_SHARED * (total + shared):
        return {}
    return {code: share / total for code, share in mass.items()}


# What is kept of a request and of what came back.


def request_hash(request: ChatRequest) -> int:
    """Hash of the model, the messages and all settings of a request."""
    return stable_id(
        request.model,
        [dict(message) for message in request.messages],
        request.sampling,
        request.seed,
        request.choices,
        request.first_token,
    )


def outcome_columns(
    outcome: Reply | CallFailure | None, redact: Callable[[str], str]
) -> dict[str, Any]:
    """The columns of an attempt that say what came back."""
    if isinstance(outcome, CallFailure):
        return {
            "outcome": str(outcome.kind),
            "http_status": outcome.http_status,
            "message": redact(outcome.message),
            "body": outcome.body,
        }
    if outcome is None:
        return {"outcome": "reply"}
    return {
        "outcome": "reply",
        "http_status": outcome.http_status,
        "message": redact(outcome.message) if outcome.message else "",
        "reply": outcome.text,
        "finish_reason": outcome.finish_reason,
        "model": outcome.model,
        "body": outcome.body,
        "reasoning": outcome.reasoning,
        "tool_calls": outcome.tool_calls,
        "refusal": outcome.refusal,
        "tokens_reasoning": outcome.tokens_reasoning,
        "tokens_cached": outcome.tokens_cached,
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "first_token": tuple((c.token, c.logprob) for c in outcome.first_token),
    }

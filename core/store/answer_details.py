"""One answer in full: its conditions, prompt and replies, what was read, and what it was before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.domain.study import CONTENT_FILTER, Status
from core.store.collection import OPTION_MARK
from core.store.database import Database

_DETAIL = """
select t.trial_id, t.ordinal, s.code, p.label, p.model, i.code, a.language, a.context, a.entity,
    a.entity_b, a.form, a.format, a.template, a.label_order, a.phase, a.repetition,
    coalesce(t.position, 1), (select count(*) from trial u where u.call_id = t.call_id),
    c.option_order, coalesce(c.opinion, ''),
    coalesce(r.status, (select 'error' from attempt m
                        where m.call_id = t.call_id and m.outcome <> 'reply' limit 1),
             'not_asked'),
    r.option, r.parser, r.attempt_id, r.tries, r.chance,
    i.item_id
from trial t join administration a using (administration_id)
    join study s on s.study_id = t.study_id
    join respondent p using (respondent_id) join item i using (item_id)
    left join response r using (trial_id) left join call_shown c on c.call_id = t.call_id
where t.trial_id = ?
"""
_TRIES = """
select m.attempt_id, m.number, m.sent_at, m.latency_s, m.outcome, m.http_status, m.message,
    m.finish_reason, m.model, m.tokens_in, m.tokens_out, m.cost, x.reply,
    u.tokens_reasoning, coalesce(w.reasoning, ''), coalesce(w.tool_calls, ''),
    coalesce(w.refusal, ''), coalesce(w.body, ''), q.messages
from attempt m left join attempt_text x using (attempt_id) left join prompt q using (prompt_id)
    left join attempt_part w using (attempt_id) left join attempt_usage u using (attempt_id)
where m.call_id = (select call_id from trial where trial_id = ?) order by m.number
"""
_WORDING = """
select w.text from wording w join item i using (item_id)
    left join answer_format f on f.instrument_id = i.instrument_id and f.format = ?
where item_id = ? and language = ? and form = ? and w.mood in ('', coalesce(f.mood, ''))
order by w.mood = '' limit 1
"""
_EARLIER = """
select cause, recoded_at, status, option, parser from recoding
where trial_id = ? order by number desc
"""


@dataclass(frozen=True)
class Try:
    """One attempt as sent and as answered."""

    messages: tuple[Mapping[str, str], ...]
    attempt_id: int
    number: int
    sent_at: datetime | None
    latency_s: float | None
    outcome: str
    http_status: int | None
    message: str
    finish_reason: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    reply: str | None
    tokens_reasoning: int | None = None  # part of `tokens_out`
    reasoning: str = ""
    tool_calls: str = ""
    refusal: str = ""
    body: str = ""  # of what was no reply


@dataclass(frozen=True)
class Earlier:
    """What an answer was until something changed it: `cause` is parser, person or undo."""

    cause: str
    until: datetime
    status: str
    option: str | None
    parser: int | None


@dataclass(frozen=True)
class AnswerDetail:
    """One trial in full. `option_order` are the codes as shown, where their order was drawn."""

    trial_id: int
    ordinal: int
    study: str
    respondent: str
    model: str
    item: str
    language: str
    context: str
    entity: str
    entity_b: str
    form: str
    format: str
    template: str
    label_order: str
    phase: str
    repetition: int
    position: int  # of the item in its call, from 1
    n_in_call: int
    option_order: tuple[str, ...]
    opinion: str  # option code of the opinion put to the model
    status: str
    option: str | None
    parser: int | None
    attempt_id: int | None  # the one the answer was read from
    replies_taken: int | None
    chance: float | None  # of the option, by the probabilities of the first token
    text: str
    tries: tuple[Try, ...]
    earlier: tuple[Earlier, ...]  # newest first

    @property
    def reply(self) -> str | None:
        """The reply that the answer was read from, else the last one; None: there is none."""
        replied = [one for one in self.tries if one.reply is not None]
        read = [one for one in replied if one.attempt_id == self.attempt_id]
        return (read or replied)[-1].reply if replied else None

    @property
    def withheld_by_filter(self) -> bool:
        """Whether it counts as refused because the provider's content filter withheld the reply."""
        reasons = {one.finish_reason for one in self.tries if one.attempt_id == self.attempt_id}
        return self.status == Status.REFUSED and CONTENT_FILTER in reasons

    @property
    def messages(self) -> tuple[Mapping[str, str], ...]:
        """The prompt as it was sent last; empty where it is not known."""
        return next((one.messages for one in reversed(self.tries) if one.messages), ())

    @property
    def set_by_person(self) -> bool:
        """Whether a person's coding stands in place of the parser's."""
        return bool(self.earlier) and self.earlier[0].cause == "person"


def detail(database: Database, trial_id: int) -> AnswerDetail | None:
    """One trial with its prompt as sent, every try, and every earlier reading."""
    row = database.row(_DETAIL, [trial_id])
    if row is None:
        return None
    *fields, item_id = row
    shown = dict(zip(_NAMES, fields, strict=True))
    order = shown["option_order"]
    shown["option_order"] = tuple(order.split(OPTION_MARK)) if order else ()
    text = database.row(_WORDING, [shown["format"], item_id, shown["language"], shown["form"]])
    return AnswerDetail(
        **shown,
        text=text[0] if text else "",
        tries=tuple(_try(values) for values in database.rows(_TRIES, [trial_id])),
        earlier=tuple(Earlier(*values) for values in database.rows(_EARLIER, [trial_id])),
    )


_NAMES = tuple(AnswerDetail.__dataclass_fields__)[:-3]


def _try(values: tuple[Any, ...]) -> Try:
    *fields, messages = values
    return Try(tuple(json.loads(messages)) if messages else (), *fields)

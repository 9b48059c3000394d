"""Amendments of frozen studies: what of a respondent changed after freezing, when and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from core.domain.json_values import plain
from core.domain.study import RESPONDENT, Respondent
from core.store.database import Database

_ADD = """
insert into amendment (study_id, respondent_id, amended_at, change, reason, body)
values (?, ?, now(), ?, ?, ?)
"""
_LIST = """
select respondent_id, amended_at, change, reason, body from amendment
where study_id = ? order by number
"""


@dataclass(frozen=True)
class Amendment:
    """A change of how a respondent is asked. `respondent` is as it is asked from then on.

    `respondent_id` is that of the plan, which stays as it was frozen.
    """

    respondent_id: int
    amended_at: datetime
    change: str
    reason: str
    respondent: Respondent


def add(
    database: Database,
    study_id: int,
    respondent_id: int,
    respondent: Respondent,
    *,
    change: str,
    reason: str,
) -> None:
    """Append an amendment."""
    body = json.dumps(plain(respondent), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_ADD, [study_id, respondent_id, change, reason, body])


def amendments(database: Database, study_id: int) -> tuple[Amendment, ...]:
    """The amendments of a study, oldest first."""
    return tuple(
        Amendment(respondent_id, at, change, reason, RESPONDENT.validate_json(body))
        for respondent_id, at, change, reason, body in database.rows(_LIST, [study_id])
    )

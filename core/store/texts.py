"""The texts that models wrote: replies in free text, and ratings as they came."""

from __future__ import annotations

import pandas as pd

from core.store.database import Database

_TEXTS = """
select t.trial_id, i.code as item, p.label as respondent, a.language, a.context, a.repetition,
    r.status, x.reply as text
from trial t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    join response r on r.trial_id = t.trial_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = ? order by t.ordinal
"""


def texts(database: Database, study_id: int) -> pd.DataFrame:
    """One row per answered trial: its conditions, its status and the reply, verbatim."""
    return database.frame(_TEXTS, [study_id])

"""Studies to measure with: frozen plans of any size, and one filled with answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.processes import in_child

if TYPE_CHECKING:
    from core.domain.study import Design

STUDY = "large"
ITEMS = 20
PERSONAS = 100
REFUSED_PERCENT = 3

# Answers are hashes of their trials' keys: random enough, and the same every time.
_RESPONSES = f"""
insert into response (trial_id, study_id, attempt_id, status, option, parser, tries)
select trial_id, study_id, trial_id,
    case when hash(trial_id) % 100 < {REFUSED_PERCENT} then 'refused' else 'answered' end,
    case when hash(trial_id) % 100 < {REFUSED_PERCENT} then null
        else cast(hash(trial_id, 1) % 5 + 1 as varchar) end, 1, 1
from trial
"""  # noqa: S608 - the only value is the constant above
_PROMPTS = """
insert into prompt
select hash(c.code, w.item_id) // 2, to_json([
    {'role': 'system', 'content': c.text || chr(10) || 'Answer as this person would.'},
    {'role': 'user', 'content': 'How do you respond to the statement below? Choose exactly ONE '
        || 'option. Reply with its code only, without an explanation.' || chr(10) || w.text}])
from study_context c cross join wording w
where w.language = 'en' and w.item_id in (select item_id from trial)
"""
_ATTEMPTS = """
insert into attempt
select r.trial_id, r.study_id, t.call_id, 1, hash(a.context, t.item_id) // 2, 1,
    timestamptz '2026-01-01 00:00:00+00' + to_milliseconds(t.ordinal), 0.2, 'reply', null, '',
    'stop', 'model-snapshot', 90, 1, 0.0, false
from response r join trial t using (trial_id) join administration a using (administration_id)
order by t.ordinal
"""
_TEXTS = """
insert into attempt_text select attempt_id, coalesce(option, 'I cannot answer that.') from response
"""
_FINISHED = """
insert into run_event (study_id, reported_at, kind, process, detail)
select study_id, now(), 'finished', 'benchmark', '{}' from study
"""


def filled(work: Path, trials: int) -> Path:
    """A database with a finished study of so many answers; made once."""
    path = work / f"filled_{trials}.duckdb"
    if not path.exists():
        in_child(fill, path=str(path), trials=trials)
    return path


def fill(*, path: str, trials: int) -> None:
    """Freeze a study of five respondents and answer it inside the database."""
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    freeze_large(path, trials, respondents=5)
    with workspace.database.transaction() as cursor:
        for sql in (_RESPONSES, _PROMPTS, _ATTEMPTS, _TEXTS, _FINISHED):
            cursor.execute(sql)
    workspace.database.checkpoint()
    workspace.close()


def freeze_large(path: str, trials: int, *, respondents: int = 1) -> None:
    """Freeze a plan of so many trials: items x personas x respondents x repetitions."""
    from core.workflow.designs import studies
    from core.workflow.opening import open_workspace

    studies.freeze(open_workspace(path), large_design(path, trials, respondents))


def large_design(path: str, trials: int, respondents: int) -> Design:
    """The design of that plan; its respondents are put on the shelf."""
    from core.domain.study import Design
    from core.workflow.opening import open_workspace
    from core.workflow.respondents import catalog as shelf
    from tests.workflow.studies import personas, simulated

    labels: Sequence[str] = [f"Simulated {n}" for n in range(1, respondents + 1)]
    for label in labels:
        shelf.save(open_workspace(path), simulated(label))
    n_personas = min(PERSONAS, trials // (ITEMS * respondents * 2))
    repetitions, rest = divmod(trials, ITEMS * n_personas * respondents)
    if rest:
        raise ValueError(f"{trials} trials cannot be crossed")
    return Design(
        study=STUDY,
        instrument="attitudes_20",
        respondents=tuple(labels),
        contexts=personas(n_personas),
        repetitions=repetitions,
    )

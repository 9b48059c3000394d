"""A validation study to measure with: a scale asked three ways and another scale, by many models.

Answers have two correlated traits behind them, so that factor models can be fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.processes import in_child

if TYPE_CHECKING:
    from core.domain.study import Context

SCALE, SHUFFLED, OTHER = "scale", "scale_shuffled", "other_scale"
OPTIONS = {"reordered": SHUFFLED, "convergent": OTHER}
"""The studies that the report brings in beside the scale."""

# Normal deviates made of hashes, the same every time. A trait belongs to a respondent under a
# context, what is peculiar to an item comes up again in another form, and the rest is chance.
_NORMAL = """
create temporary macro uniform(key, salt) as (hash(key, salt) % 1000003 + 0.5) / 1000003;
create temporary macro deviate(key) as
    sqrt(-2 * ln(uniform(key, 1))) * cos(2 * pi() * uniform(key, 2));
"""
_RESPONSES = """
insert into response (trial_id, study_id, attempt_id, status, option, parser, tries)
with person as (
    select a.*, s.instrument_id, a.respondent_id || a.context as who
    from administration a join study s using (study_id)
),
tendency as (
    select t.trial_id, t.study_id, i.keyed, p.instrument_id,
        0.4 * deviate(who) + 0.6 * deviate(who || i.subscale) + 0.35 * deviate(who || i.code)
        + 0.6 * deviate(t.trial_id::varchar) as strength
    from trial t join person p using (administration_id) join item i using (item_id)
),
steps as (
    select instrument_id, max(position) as n from answer_option group by instrument_id
),
chosen as (
    select trial_id, study_id, instrument_id,
        least(greatest(floor(keyed * strength * n / 5 + n / 2)::integer + 1, 1), n) as position
    from tendency join steps using (instrument_id)
)
select trial_id, study_id, trial_id,
    case when hash(trial_id) % 1000 < 2 then 'refused' else 'answered' end,
    case when hash(trial_id) % 1000 < 2 then null else o.code end, 1, 1
from chosen join answer_option o using (instrument_id, position)
"""
_FINISHED = """
insert into run_event (study_id, reported_at, kind, process, detail)
select study_id, now(), 'finished', 'benchmark', '{}' from study
"""


def filled(work: Path, respondents: int, rows: int) -> Path:
    """A database with these studies of so many models, `rows` contexts of each kind; made once."""
    path = work / f"validation_{respondents}_{rows}.duckdb"
    if not path.exists():
        in_child(fill, path=str(path), respondents=respondents, rows=rows)
    return path


def fill(*, path: str, respondents: int, rows: int) -> None:
    """Freeze the three studies and answer them inside the database."""
    from core.domain.study import Design
    from core.workflow.designs import studies
    from core.workflow.opening import open_workspace
    from core.workflow.respondents import catalog as shelf
    from tests.workflow.studies import simulated

    workspace = open_workspace(path)
    labels = tuple(f"Simulated {number}" for number in range(1, respondents + 1))
    for label in labels:
        shelf.save(workspace, simulated(label))
    asked = contexts(rows)
    designs = (
        Design(SCALE, "attitude_22", labels, contexts=asked, forms=("original", "alternate")),
        Design(SHUFFLED, "attitude_22", labels, contexts=asked, label_orders=("random",)),
        Design(OTHER, "attitude_companion_8", labels, contexts=asked),
    )
    for design in designs:
        studies.freeze(workspace, design)
    with workspace.database.transaction() as cursor:
        for sql in (*filter(str.strip, _NORMAL.split(";")), _RESPONSES, _FINISHED):
            cursor.execute(sql)
    workspace.database.checkpoint()
    workspace.close()


def contexts(rows: int) -> tuple[Context, ...]:
    """So many personas, and as many conversations."""
    from core.domain.study import Context

    said = ({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."})
    return (
        *(Context(f"p{n:04}", f"You are person number {n}.") for n in range(1, rows + 1)),
        *(Context(f"c{n:04}", messages=said) for n in range(1, rows + 1)),
    )


def write_csv(*, path: str, folder: str) -> None:
    """The same scores as files of one row for each administration, for other programs."""
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import frames

    workspace = open_workspace(path)
    scale = frames.item_scores(workspace, [SCALE, SHUFFLED], {})
    scale["asked"] = scale["form"].astype(str).where(scale["study"] == SCALE, "shuffled")
    wide(scale, ("respondent", "context_set", "context", "asked")).to_csv(
        Path(folder, "scale.csv"), index=False
    )
    other = frames.item_scores(workspace, [OTHER], {})
    wide(other, ("respondent", "context_set", "context")).to_csv(
        Path(folder, "other.csv"), index=False
    )
    workspace.close()


def wide(item_scores: Any, keys: Sequence[str]) -> Any:
    """One row for each administration, one column for each item, empty where there is no score."""
    import pandas as pd

    scores = item_scores.pivot(index="administration", columns="item", values="score")
    about = item_scores.drop_duplicates("administration").set_index("administration")
    named = scores.rename(columns=str).rename_axis(columns=None)
    return pd.concat([about[list(keys)].loc[scores.index], named], axis=1)


def subscales() -> dict[str, list[str]]:
    """Items of the scale by their subscale."""
    from core.files.banks.reading import read_instrument

    file = Path(__file__).parents[1] / "data" / "banks" / "attitude_22.csv"
    found: dict[str, list[str]] = {}
    for item in read_instrument(file.name, file.read_bytes()).instrument.items:
        found.setdefault(item.subscale, []).append(item.code)
    return found

"""How many answers each criterion of the validation report lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from core.analysis.report.validation_report_plan import Plan
from core.analysis.report.validation_report_scores import same_people
from core.domain.study import Status

Row = tuple[Any, ...]


def missing_rows(
    group: tuple[Any, ...], own: pd.DataFrame, plan: Plan, texts: pd.DataFrame | None
) -> Iterator[Row]:
    """Planned and missing answers of one group, by study, form and order of options.

    Of studies brought in, only the answers that belong to the group's respondents and contexts.
    """
    factors = dict(zip(plan.names, group, strict=True))
    brought = {
        "alternate form": plan.alternate,
        "shuffled options": plan.reordered,
        "convergent scale": plan.convergent,
    }
    yield from _counted(group, "this study", own)
    for name, frame in brought.items():
        if frame is not None:
            yield from _counted(group, name, same_people(frame, own, factors))
    if texts is not None:
        theirs = same_people(texts, own, factors)
        usable = theirs["status"].eq(Status.ANSWERED) & theirs["text"].notna()
        lost = int((~usable).sum())
        yield from _row(group, ("texts", "", "", ""), len(theirs), lost)


def _counted(group: tuple[Any, ...], name: str, frame: pd.DataFrame) -> Iterator[Row]:
    """One row per study, form and order of options."""
    keys = ["study", "form", "label_order"]
    for key, rows in frame.groupby(keys, sort=False, observed=True, dropna=False):
        cells = ("" if value is None or value != value else str(value) for value in key)
        yield from _row(group, (name, *cells), len(rows), int(rows["score"].isna().sum()))


def _row(group: tuple[Any, ...], labels: Row, planned: int, missing: int) -> Iterator[Row]:
    """The row, if there was anything to answer."""
    if planned:
        yield (*group, *labels, planned, missing, missing / planned)

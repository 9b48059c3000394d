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
    group: tuple[Any, ...], cases: pd.DataFrame, plan: Plan, texts: pd.DataFrame | None
) -> Iterator[Row]:
    """Planned and missing answers of one group, by study, form and order of options.

    `cases` are the group's administrations. Of studies brought in, only the answers that belong to
    its respondents and contexts.
    """
    factors = dict(zip(plan.names, group, strict=True))
    brought = {
        "alternate form": plan.alternate,
        "shuffled options": plan.reordered,
        "convergent scale": plan.convergent,
    }
    yield from _counted(group, "this study", cases)
    for name, frame in brought.items():
        if frame is not None:
            yield from _counted(group, name, same_people(frame, cases, factors))
    if texts is not None:
        theirs = same_people(texts, cases, factors)
        usable = theirs["status"].eq(Status.ANSWERED) & theirs["text"].notna()
        lost = int((~usable).sum())
        yield from _row(group, ("texts", "", "", ""), len(theirs), lost)


def _counted(group: tuple[Any, ...], name: str, cases: pd.DataFrame) -> Iterator[Row]:
    """One row per study, form and order of options."""
    keys = ["study", "form", "label_order"]
    counts = cases.groupby(keys, sort=False, observed=True, dropna=False)[["planned", "missing"]]
    for key, planned, missing in counts.sum().itertuples():
        cells = ("" if value is None or value != value else str(value) for value in key)
        yield from _row(group, (name, *cells), int(planned), int(missing))


def _row(group: tuple[Any, ...], labels: Row, planned: int, missing: int) -> Iterator[Row]:
    """The row, if there was anything to answer."""
    if planned:
        yield (*group, *labels, planned, missing, missing / planned)

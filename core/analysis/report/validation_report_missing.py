"""How many answers each criterion of the validation report lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons.matching import unit_numbers
from core.analysis.report.validation_report_people import as_text, belonging
from core.analysis.report.validation_report_plan import Plan
from core.domain.study import Status

Row = tuple[Any, ...]

_KEYS, _COUNTS = ("study", "form", "label_order"), ("planned", "missing")


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
            kept = belonging(frame, cases, factors)
            yield from _counted(group, name, frame[[*_KEYS, *_COUNTS]][kept])
    if texts is not None:
        theirs = texts.loc[belonging(texts, cases, factors), ["status", "text"]]
        usable = theirs["status"].eq(Status.ANSWERED) & theirs["text"].notna()
        lost = int((~usable).sum())
        yield from _row(group, ("texts", "", "", ""), len(theirs), lost)


def _counted(group: tuple[Any, ...], name: str, cases: pd.DataFrame) -> Iterator[Row]:
    """One row per study, form and order of options."""
    if cases.empty:
        return
    (number,) = unit_numbers([cases], _KEYS)
    planned, missing = (np.bincount(number, cases[count]) for count in _COUNTS)
    first = np.unique(number, return_index=True)[1]
    keys = zip(*(as_text(cases[key].iloc[first]) for key in _KEYS), strict=True)
    for key, all_of_them, lost in zip(keys, planned, missing, strict=True):
        yield from _row(group, (name, *key), int(all_of_them), int(lost))


def _row(group: tuple[Any, ...], labels: Row, planned: int, missing: int) -> Iterator[Row]:
    """The row, if there was anything to answer."""
    if planned:
        yield (*group, *labels, planned, missing, missing / planned)

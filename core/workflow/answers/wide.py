"""Answers as a wide table: a row for each administration, a column for each item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from core.domain.instrument import Instrument, ResponseFormat
from core.domain.people import PERSON_FACT
from core.domain.study import FACTORS, Status
from core.errors import NotEnoughData
from core.export import frame_csv, rows_of
from core.files.answers import TIDY_COLUMNS
from core.files.spss import SpssVariable, write_sav
from core.files.writing import workbook
from core.store import answers as answer_store
from core.store import banks as bank_store
from core.store import people, studies
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.workspace import Workspace

Values = Literal["scores", "answers"]
"""Points after reverse-keying, or what was chosen as it stands on the form."""
WideFormat = Literal["csv", "xlsx", "sav"]
MOST_ITEMS = 2_000
"""Columns of items; a list of words may have more, and no use for such a table."""
_PLAIN_NUMBER = r"-?(0|[1-9]\d{0,14})(\.\d+)?"
"""A number that reads the same as a number; 00501 and 1e5 do not."""
_MOST_SHEET_ROWS = 1_048_575
_CONDITIONS = tuple(name for name in TIDY_COLUMNS if name in FACTORS)
"""What an administration is known by."""
_REASONS = tuple(status.value for status in Status if not status.usable)
"""Why there is no answer, in the order of their codes in an SPSS file, which go down by one."""


@dataclass(frozen=True, eq=False)
class WideTable:
    """The table, its columns of conditions and of items, and the items as variables of SPSS.

    A condition that has the name of an item is called `condition.NAME`. Values of items up to
    `highest_missing` are reasons for no answer. `contexts` are those of the rows.
    """

    frame: pd.DataFrame
    conditions: tuple[str, ...]
    items: tuple[str, ...]
    variables: tuple[SpssVariable, ...]
    contexts: pd.Series[str]
    highest_missing: float


def export_wide(workspace: Workspace, study: str, values: Values, file_format: WideFormat) -> bytes:
    """The wide table of a study as a file, with facts about people, as `person.NAME`.

    Conditions that say nothing of any administration have no column. In CSV and Excel files an
    item without a value is empty; in SPSS files of answers the reason is a missing value with a
    label.

    Raises
    ------
    NotEnoughData
        There are no such values, or more columns or rows than such a file can have.
    """
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    frame = answer_store.tidy(workspace.database, record.study_id).to_pandas()
    if frame["item"].nunique() > MOST_ITEMS:
        raise NotEnoughData(
            f"The answers are to more than {MOST_ITEMS:,} items, too many for a column each.",
            "Take the file with one answer per row.",
        )
    made = wide_table(bank, frame, values)
    if made is None:
        raise NotEnoughData(
            "No answer has points, so there are no scores."
            if values == "scores"
            else "No answer chooses an option.",
            "Take the file with one answer per row.",
        )
    if file_format == "xlsx" and len(made.frame) > _MOST_SHEET_ROWS:
        raise NotEnoughData(
            f"An Excel sheet has at most {_MOST_SHEET_ROWS:,} rows.", "Take the CSV file."
        )
    said = [name for name in made.conditions if made.frame[name].astype("str").ne("").any()]
    facts = _facts(workspace, record.study_id, made.contexts)
    wide = pd.concat([made.frame[said], facts, made.frame[list(made.items)]], axis=1)
    if file_format == "sav":
        return write_sav(wide, made.variables, study)
    if values == "answers":  # codes of missing values are for SPSS alone
        items = list(made.items)
        wide[items] = wide[items].where(wide[items] > made.highest_missing)
    if file_format == "xlsx":
        return workbook({values: rows_of(wide)})
    return frame_csv(wide)


def _facts(workspace: Workspace, study_id: int, contexts: pd.Series[str]) -> pd.DataFrame:
    """A column for each fact about the people who are the contexts; ages and the like as numbers.

    A code that looks like a number, such as 00501, stays what was typed.
    """
    known = people.values(workspace.database, study_id)
    if known.empty:
        return pd.DataFrame(index=contexts.index)
    table = known.pivot(index="context", columns="name", values="value")
    facts = table.reindex(contexts).set_axis(contexts.index).rename_axis(columns=None)
    numbers = {
        fact.name for fact in people.facts(workspace.database, study_id) if fact.kind == "number"
    }
    for name in facts:
        written = facts[name].dropna()
        same = name in numbers and written.str.fullmatch(_PLAIN_NUMBER).all()
        facts[name] = pd.to_numeric(facts[name]) if same else facts[name].fillna("")
    return facts.add_prefix(PERSON_FACT)


def wide_table(bank: Instrument, frame: pd.DataFrame, values: Values) -> WideTable | None:
    """The wide table of answers in the tidy format; None where no item has a value.

    Where an answer was asked for and there is none, `answers` has a code below all points.
    """
    asked = set(frame["item"])
    items = tuple(item.code for item in bank.items if item.code in asked)
    missing: dict[float, str] = {}
    highest = -np.inf
    if values == "scores":
        number = frame["score"].to_numpy(dtype="float64", na_value=np.nan)
    else:
        points = _points(bank)
        keys = zip(frame["format"], frame["answer"], strict=True)
        number = np.array([points.get(key, np.nan) for key in keys], dtype="float64")
    if not np.isfinite(number).any():
        return None
    if values == "answers":
        highest = _highest_missing(np.nanmin(list(points.values())))
        codes = {status: highest - place for place, status in enumerate(_REASONS)}
        reasons = frame["status"].astype("str").map(codes).to_numpy(dtype="float64")
        number = np.where(np.isfinite(number), number, reasons)
        there = set(frame["status"])
        missing = {code: STATUS_WORDS[status] for status, code in codes.items() if status in there}
    lowest = int(highest) - len(_REASONS) + 1 if missing else 0
    span = (lowest, int(highest)) if missing else None
    keyed = pd.Series(number, pd.MultiIndex.from_frame(frame[[*_CONDITIONS, "item"]]))
    wide = keyed.unstack("item", sort=False).reindex(columns=list(items)).rename_axis(columns=None)
    names = {name: f"condition.{name}" if name in items else name for name in _CONDITIONS}
    conditions = wide.index.to_frame(index=False)
    return WideTable(
        pd.concat([conditions.rename(columns=names), wide.reset_index(drop=True)], axis=1),
        tuple(names.values()),
        items,
        tuple(_variables(bank, frame, missing, span, as_given=values == "answers")),
        conditions["context"],
        highest,
    )


def _highest_missing(lowest: float) -> float:
    """The highest code of a reason for no answer: -91, or -991 and so on below the lowest point."""
    highest, size = -91.0, 100
    while lowest <= highest:
        size *= 10
        highest = 9.0 - size
    return highest


def _points(bank: Instrument) -> dict[tuple[str, str], float]:
    """What each option counts before reversing; its place where it has no points."""
    return {
        (known.code, option.code): _value(known, place)
        for known in bank.formats
        for place, option in enumerate(known.options)
    }


def _value(known: ResponseFormat, place: int) -> float:
    points = known.options[place].points
    if points is not None:
        return float(points)
    scored = any(option.points is not None for option in known.options)
    return float("nan") if scored else float(place + 1)


def _variables(
    bank: Instrument,
    frame: pd.DataFrame,
    missing: Mapping[float, str],
    span: tuple[int, int] | None,
    *,
    as_given: bool,
) -> Iterator[SpssVariable]:
    """A variable for each item; of answers with the labels of the options that it was asked with.

    Scores have no labels: reversing gives the points of one option to another.
    """
    language = bank.languages[0]
    used = frame.groupby("item", sort=False)["format"].unique()
    for item in bank.items:
        if item.code not in used.index:
            continue
        labels = _labels(bank, used[item.code], language) if as_given else {}
        keyed = "" if item.keyed != -1 else " (reverse-keyed)" if as_given else " (reversed)"
        yield SpssVariable(
            item.code,
            f"{item.text(language) or item.code}{keyed}",
            {**labels, **missing},
            span,
        )


def _labels(bank: Instrument, formats: Sequence[str], language: str) -> dict[float, str]:
    """The labels of the options of some formats by their value."""
    labels: dict[float, list[str]] = {}
    for code in formats:
        known = bank.format(code)
        for place, option in enumerate(known.options if known else ()):
            value = _value(known, place) if known else float("nan")
            if value == value:
                labels.setdefault(value, []).append(option.labels.get(language, option.code))
    return {value: " / ".join(dict.fromkeys(words)) for value, words in labels.items()}

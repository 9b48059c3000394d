"""Attributes of items (`item.NAME`) of studies: what there is, and as columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from core.domain.attributes import is_attribute, known_attributes, levels, matching_items
from core.domain.instrument import ATTRIBUTE, Instrument
from core.domain.numbers import count_text
from core.domain.values import stable_id
from core.errors import WrongOption
from core.store import banks, studies
from core.store.database import Database
from core.workflow.workspace import Workspace

_MOST_VALUES = 200


def attribute_levels(workspace: Workspace, study: str) -> Mapping[str, list[str]]:
    """The values of each attribute in which the items of a study differ; empty text for none.

    Attributes of more than 200 values, such as ranks of words, are left out: nobody reads the list.
    """
    record = studies.frozen_study(workspace.database, study)
    return _levels_of_version(workspace.database, record.instrument_id)


@lru_cache(maxsize=16)
def _levels_of_version(database: Database, instrument_id: int) -> Mapping[str, list[str]]:
    """The same of a version of a bank; of 5,000 words it takes 20 ms, and pages ask often."""
    bank = banks.instrument(database, instrument_id)
    by_name = {name: levels(bank, name) for name in known_attributes(bank)}
    return {name: values for name, values in by_name.items() if 1 < len(values) <= _MOST_VALUES}


def require_attributes(workspace: Workspace, codes: Sequence[str], names: Iterable[str]) -> None:
    """Raise NotEnoughData where no bank of the studies has one of the attributes among `names`."""
    wanted = [name for name in names if is_attribute(name)]
    if not wanted:
        return
    known = dict.fromkeys(n for code in codes for n in known_attributes(_bank(workspace, code)))
    for name in wanted:
        if name not in known:
            raise WrongOption(
                f"The items of {', '.join(codes)} have no attribute '{name}'.",
                f"Use: {', '.join(known)}.",
            )


def with_attributes(
    workspace: Workspace, frame: pd.DataFrame, names: Iterable[str]
) -> pd.DataFrame:
    """A frame with `study` and `item`, and a column of categories for each attribute in `names`.

    The empty text stands for items without a value.
    """
    wanted = [name for name in dict.fromkeys(names) if is_attribute(name)]
    if not wanted or frame.empty:
        return frame
    study, item = frame["study"].astype("category"), frame["item"].astype("category")
    codes = [str(code) for code in item.cat.categories]
    known = [_bank(workspace, str(code)) for code in study.cat.categories]
    places = study.cat.codes.to_numpy(), item.cat.codes.to_numpy()
    columns = {}
    for name in wanted:
        values = [_values(bank, name, codes) for bank in known]
        ordered = dict.fromkeys(value for bank in known for value in levels(bank, name))
        categories = [*ordered, *([] if "" in ordered else [""])]
        number = {value: place for place, value in enumerate(categories)}
        table = np.array([[number[value] for value in own] for own in values], dtype=np.int64)
        columns[name] = pd.Categorical.from_codes(table[places], pd.Index(categories))
    return frame.assign(**columns)


def _values(bank: Instrument, name: str, codes: Sequence[str]) -> list[str]:
    """The values of an attribute of these items; empty for an item that the bank does not have."""
    known = {item.code: item.attribute(name.removeprefix(ATTRIBUTE)) for item in bank.items}
    return [known.get(code, "") for code in codes]


def split_administrations(item_scores: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """ITEM_SCORES in which each administration is one for each value of the columns `names`.

    An analysis within groups of items, or by days, then finds an administration in one group alone,
    as it does with groups by factors of the design. Splitting twice by the same columns undoes it.
    """
    columns = list(names)
    if not columns or item_scores.empty:
        return item_scores
    cells = item_scores.groupby(columns, observed=True, sort=False, dropna=False).ngroup()
    values = item_scores[columns].astype("str").loc[~cells.duplicated()].to_numpy().tolist()
    marks = np.array([stable_id("items", *cell) for cell in values], dtype=np.int64)
    own = item_scores["administration"].to_numpy() ^ marks[cells.to_numpy()]
    return item_scores.assign(administration=own)


def unit_words(names: Iterable[str]) -> str:
    """What to add to the unit of an analysis within groups of items; empty for other groups."""
    columns = [name for name in names if is_attribute(name)]
    return f", the items of each {' and '.join(columns)} by themselves" if columns else ""


def without_value_notes(frame: pd.DataFrame, names: Iterable[str]) -> tuple[str, ...]:
    """How many items have no value of an attribute that makes groups, where any has none."""
    notes = []
    for name in filter(is_attribute, dict.fromkeys(names)):
        without = frame.loc[frame[name] == "", "item"].nunique()
        if without:
            items = count_text(int(without), "item has", "items have")
            notes.append(f"{items} no value of {name}: they are the group (none).")
    return tuple(notes)


def as_item_filter(
    workspace: Workspace, study: str, filters: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The filters with those by attributes in place of a filter by the items that pass them."""
    by_attribute = {name: values for name, values in filters.items() if is_attribute(name)}
    others = {name: list(values) for name, values in filters.items() if not is_attribute(name)}
    if by_attribute:
        codes = [item.code for item in matching_items(_bank(workspace, study), by_attribute)]
        chosen = others.get("item", codes)
        others["item"] = [code for code in chosen if code in codes]
    return others


def _bank(workspace: Workspace, study: str) -> Instrument:
    """The bank of a study as it was frozen."""
    record = studies.frozen_study(workspace.database, study)
    return banks.instrument(workspace.database, record.instrument_id)

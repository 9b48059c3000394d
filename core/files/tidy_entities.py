"""Answers that name a thing instead of an option: `Apple` where the entity is Apple.

Where a question asks which of two things, files hold the name that was chosen. Answers are kept by
option, so that the same choice has one code whatever the two things are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

_NAMING = "name_entity"
"""The format whose options are the two things themselves."""
_CODES = ("entity", "entity_b")
_COLUMNS = ("format", "answer", *_CODES)


def names_to_codes(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers with the code of the option in place of the name of a row's thing."""
    return _replaced(frame, to_names=False)


def codes_to_names(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers with the name of a row's thing in place of the code of the option."""
    return _replaced(frame, to_names=True)


def _replaced(frame: pd.DataFrame, *, to_names: bool) -> pd.DataFrame:
    if not set(_COLUMNS).issubset(frame.columns):
        return frame
    rows = (frame["format"] == _NAMING).fillna(False).to_numpy(bool)
    if not rows.any():
        return frame
    first, second = (_texts(frame[column]) for column in _CODES)
    # only names of two different things say which of them was chosen
    rows = rows & (first != second) & (first != "") & (second != "")
    answers = _texts(frame["answer"])
    replaced = answers.copy()
    for code, name in zip(_CODES, (first, second), strict=True):
        chosen = rows & (answers == (code if to_names else name))
        replaced[chosen] = name[chosen] if to_names else code
    return frame.assign(answer=pd.Series(replaced, index=frame.index, dtype="str"))


def _texts(column: pd.Series[Any]) -> np.ndarray[Any, Any]:
    return column.astype("str").fillna("").to_numpy(object)

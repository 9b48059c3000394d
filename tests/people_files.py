"""40 people and 22 items as a wide CSV, workbook, SPSS and Parquet file, made from tests/golden."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyreadstat

FOLDER = Path(__file__).parent / "golden" / "people"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
ITEMS = [f"i{number}" for number in range(1, 23)]
SUBSCALES = {"F1": tuple(ITEMS[:11]), "F2": tuple(ITEMS[11:21]), "F3": ("i22",)}
LABELS = {0: "Strongly disagree", 5: "Strongly agree", -9: "No answer", -8: "Refused to say"}


def people():
    return pd.read_csv(FOLDER / "people.csv")


def spss(frame, **about):
    """A frame as the bytes of an SPSS file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.sav"
        pyreadstat.write_sav(frame, path, **about)
        return path.read_bytes()


def sav():
    """The people as SPSS has them: labels of values and items, and user-missing values."""
    return spss(
        people(),
        column_labels={item: f"Statement {item[1:]}." for item in ITEMS},
        variable_value_labels={**dict.fromkeys(ITEMS, LABELS), "gender": {1: "female", 2: "male"}},
        missing_ranges={item: [{"lo": -9, "hi": -8}] for item in ITEMS},
    )


def xlsx(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def files():
    """The people in each kind of file, by its name."""
    frame = people()
    parquet = io.BytesIO()
    frame.to_parquet(parquet, index=False)
    return {
        "people.csv": frame.to_csv(index=False).encode(),
        "people.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "people.xlsx": xlsx(frame.columns.tolist(), *frame.to_numpy().tolist()),
        "people.parquet": parquet.getvalue(),
        "people.sav": sav(),
    }

"""Tables of banks for analyses: loadings, positions of parties, annotators, ranks, wordings."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Annotated

import pandas as pd
import pytest

from core.analysis.kit import registry
from core.analysis.kit.registry import BankTable
from core.domain.frames import BANK_TABLES, OPTION_COUNTS
from core.domain.instrument import Instrument, Item, Party, Wording
from core.workflow.statistics import bank_tables

BANK = Instrument(
    "b",
    "B",
    (
        Item(
            "q1",
            (
                Wording("en", "Build trams."),
                Wording("de", "Mehr Bahnen."),
                Wording("en", "Build no trams.", form="negation"),
            ),
            rank=7,
            genre="roads",
            loadings={"welfare": 1, "law": 0},
            positions={"red": 1, "grey": -1, "none": 0},
            attributes={"country": "Arland"},
            annotations={"ann": {"welfare": -1}},
        ),
        Item("q2", (Wording("en", "Build roads."),)),
    ),
    languages=("en", "de"),
    parties=(Party("red", "left", "Arland"), Party("grey", "right")),
)
ROWS = {
    "items": [("q1", 1, 7.0, "roads", "Arland"), ("q2", 2, None, "", "")],
    "wordings": [("q1", "en", "Build trams."), ("q1", "de", "Mehr Bahnen."),
                 ("q2", "en", "Build roads.")],
    "loadings": [("q1", "welfare", 1), ("q1", "law", 0)],
    "positions": [("q1", "red", "left", "Arland", 1), ("q1", "grey", "right", "", -1),
                  ("q1", "none", "", "", 0)],
    "annotations": [("ann", "q1", "welfare", -1)],
}  # fmt: skip


@pytest.fixture
def known(monkeypatch):
    """Studies whose banks are these."""
    own = {"s": BANK, "empty": replace(BANK, items=(), parties=())}
    monkeypatch.setattr(bank_tables, "_bank", lambda _workspace, code: own[code])


def _analysis(of):
    def run(frame, *, table: Annotated[pd.DataFrame, BankTable(of)], level: float = 0.9):
        return None

    run.__annotations__["table"] = Annotated[pd.DataFrame, BankTable(of)]
    run.__annotations__["level"] = Annotated[float, registry.Number("Level", 0, 1)]
    fields = dict.fromkeys(field.name for field in dataclasses.fields(registry.Analysis))
    return registry.Analysis(**{**fields, "name": "a", "needs": OPTION_COUNTS, "run": run})


@pytest.mark.parametrize("of", ROWS)
def test_an_analysis_gets_what_the_banks_say_and_it_is_no_option(of, known):
    analysis = _analysis(of)
    assert [option.name for option in analysis.options] == ["level"]
    tables = bank_tables.load(None, analysis, ["s", "empty"])
    rows = tables["table"].astype(object).where(tables["table"].notna(), None)
    assert list(map(tuple, rows.to_numpy())) == [("s", *row) for row in ROWS[of]]
    without = bank_tables.load(None, analysis, ["empty"])["table"]
    assert without.empty
    assert tuple(without.columns) == BANK_TABLES[of].columns

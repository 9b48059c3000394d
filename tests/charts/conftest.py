"""Charts are checked against the schema of Vega-Lite here, which pages leave out."""

import altair.utils.schemapi
import pytest


@pytest.fixture(autouse=True)
def checked_charts(monkeypatch):
    monkeypatch.setattr(altair.utils.schemapi, "DEBUG_MODE", True)

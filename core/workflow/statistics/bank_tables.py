"""What studies and their banks say of items and templates, as tables for an analysis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from core.analysis.kit.registry import Analysis
from core.domain.frames import BANK_TABLES, check_frame
from core.domain.instrument import Instrument
from core.store import banks, studies
from core.workflow import prompts
from core.workflow.workspace import Workspace

_COUNTRY = "country"
"""The attribute of items that says to which country a statement belongs."""


def load(workspace: Workspace, analysis: Analysis, codes: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The tables of banks that an analysis takes, by the name of its argument.

    The banks are those of the studies as they were frozen. A table has its columns also where no
    bank has a row for it.
    """
    tables = analysis.bank_tables
    if not tables:
        return {}
    known = [(code, _bank(workspace, code)) for code in codes]
    return {
        name: _template_table(workspace, codes)
        if table.of == "templates"
        else _table(table.of, known)
        for name, table in tables
    }


def _bank(workspace: Workspace, study: str) -> Instrument:
    record = studies.frozen_study(workspace.database, study)
    return banks.instrument(workspace.database, record.instrument_id)


def _table(of: str, known: Sequence[tuple[str, Instrument]]) -> pd.DataFrame:
    spec = BANK_TABLES[of]
    rows = [(code, *row) for code, bank in known for row in _ROWS[of](bank)]
    frame = pd.DataFrame(rows, columns=list(spec.columns))
    check_frame(frame, spec)
    return frame


def _template_table(workspace: Workspace, codes: Sequence[str]) -> pd.DataFrame:
    """The templates of studies as frozen; of imported answers, all that are on file here."""
    rows = []
    for code in codes:
        record = studies.frozen_study(workspace.database, code)
        if record.kind == "imported":
            known = prompts.load_wordings(workspace).templates
            names: Sequence[str] = tuple(known)
        else:
            known = prompts.study_wordings(workspace, record.study_id).templates
            names = record.design.levels("templates")
        own = [known[name] for name in names if name in known]
        rows += [(code, one.code, one.title, one.kind) for one in own]
    return pd.DataFrame(rows, columns=list(BANK_TABLES["templates"].columns))


def _items(bank: Instrument) -> Iterator[tuple[Any, ...]]:
    for position, item in enumerate(bank.items, 1):
        rank = math.nan if item.rank is None else float(item.rank)
        yield item.code, position, rank, item.genre, item.attribute(_COUNTRY)


def _wordings(bank: Instrument) -> Iterator[tuple[Any, ...]]:
    for item in bank.items:
        for language in bank.languages:
            text = item.text(language)
            if text:
                yield item.code, language, text


def _loadings(bank: Instrument) -> Iterator[tuple[Any, ...]]:
    for item in bank.items:
        for domain, loading in item.loadings.items():
            yield item.code, domain, loading


def _positions(bank: Instrument) -> Iterator[tuple[Any, ...]]:
    parties = {party.code: party for party in bank.parties}
    for item in bank.items:
        for code, position in item.positions.items():
            party = parties.get(code)
            leaning, country = (party.leaning, party.country) if party else ("", "")
            yield item.code, code, leaning, country, position


def _annotations(bank: Instrument) -> Iterator[tuple[Any, ...]]:
    for item in bank.items:
        for annotator, signs in item.annotations.items():
            for domain, loading in signs.items():
                yield annotator, item.code, domain, loading


_ROWS: Mapping[str, Callable[[Instrument], Iterator[tuple[Any, ...]]]] = {
    "items": _items,
    "wordings": _wordings,
    "loadings": _loadings,
    "positions": _positions,
    "annotations": _annotations,
}

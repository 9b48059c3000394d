"""A published version of a bank as rows of tables, for joining with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from core.domain.identifiers import stable_id
from core.domain.instrument import Instrument, Item

_KEY, _TEXT, _SIGN = pa.int64(), pa.string(), pa.int8()


def item_id(instrument_id: int, code: str) -> int:
    """Key of an item of a published version."""
    return stable_id("item", instrument_id, code)


def version_tables(instrument_id: int, content: Instrument) -> Iterator[tuple[str, pa.Table]]:
    """Each table of the store that holds a part of a version, by name, with that part's rows."""
    items = [(item_id(instrument_id, item.code), item) for item in content.items]
    yield "item", _items(instrument_id, items)
    yield "wording", _wordings(items)
    yield "item_loading", _marks("domain", "loading", [(key, i.loadings) for key, i in items])
    yield "item_position", _marks("party", "answer", [(key, i.positions) for key, i in items])
    yield "item_direction", _marks("form", "direction", [(key, i.directions) for key, i in items])
    yield "answer_format", _formats(instrument_id, content)
    yield "answer_option", _options(instrument_id, content)


def _items(instrument_id: int, items: Sequence[tuple[int, Item]]) -> pa.Table:
    rows = [
        (key, instrument_id, place, i.code, i.subscale, i.keyed, i.pair, i.genre, i.rank)
        for place, (key, i) in enumerate(items, 1)
    ]
    return _table(
        {
            "item_id": _KEY,
            "instrument_id": _KEY,
            "position": pa.int32(),
            "code": _TEXT,
            "subscale": _TEXT,
            "keyed": _SIGN,
            "pair": _TEXT,
            "genre": _TEXT,
            "rank": pa.int32(),
        },
        rows,
    )


def _wordings(items: Sequence[tuple[int, Item]]) -> pa.Table:
    rows = [
        (key, w.language, w.form, w.text, w.mood, w.drafted_by)
        for key, item in items
        for w in item.wordings
    ]
    names = ("language", "form", "text", "mood", "drafted_by")
    return _table({"item_id": _KEY, **dict.fromkeys(names, _TEXT)}, rows)


def _marks(what: str, value: str, items: Sequence[tuple[int, Any]]) -> pa.Table:
    rows = [(key, name, mark) for key, marks in items for name, mark in marks.items()]
    return _table({"item_id": _KEY, what: _TEXT, value: _SIGN}, rows)


def _formats(instrument_id: int, content: Instrument) -> pa.Table:
    rows = [(instrument_id, f.code, f.midpoint, f.mood) for f in content.formats]
    names = ("format", "midpoint", "mood")
    return _table({"instrument_id": _KEY, **dict.fromkeys(names, _TEXT)}, rows)


def _options(instrument_id: int, content: Instrument) -> pa.Table:
    rows = [
        (instrument_id, f.code, position, option.code, option.points, option.stance)
        for f in content.formats
        for position, option in enumerate(f.options, 1)
    ]
    return _table(
        {
            "instrument_id": _KEY,
            "format": _TEXT,
            "position": pa.int32(),
            "code": _TEXT,
            "points": pa.float64(),
            "stance": _SIGN,
        },
        rows,
    )


def _table(types: dict[str, pa.DataType], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types.values(), strict=True)]
    return pa.table(arrays, names=list(types))

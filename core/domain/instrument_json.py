"""An instrument as plain JSON values, and back; and the hash of its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from core.domain.instrument import Instrument
from core.domain.json_values import plain

INSTRUMENT = TypeAdapter(Instrument)
"""Reads the JSON that is made of `to_dict`. What is missing takes its default."""

# What is left out of the JSON where it has this value. Content of an earlier Inkblot, which did
# not know these fields, keeps its hash.
_UNUSED: Mapping[str, object] = {
    "kind": "items", "parties": (), "midpoint": "coin", "mood": "", "ratings": (),
    "drafted_by": "", "pair": "", "genre": "", "tags": (), "rank": None, "loadings": {},
    "positions": {}, "directions": {},
}  # fmt: skip


def content_hash(instrument: Instrument) -> str:
    """SHA-256 over everything but the code, so that equal content is recognised."""
    body = to_dict(instrument)
    del body["code"]
    text = json.dumps(body, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def to_dict(instrument: Instrument) -> dict[str, Any]:
    """The instrument as plain JSON values; `INSTRUMENT` reads them back."""
    body: dict[str, Any] = plain(instrument, _UNUSED)
    return body

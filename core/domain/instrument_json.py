"""An instrument as plain JSON values, and back; and the hash of its content.

What an instrument does not use is left out, so that content of an earlier Inkblot keeps its hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from core.domain.instrument import (
    Instrument,
    Item,
    Option,
    Party,
    Rating,
    ResponseFormat,
    Wording,
)


def content_hash(instrument: Instrument) -> str:
    """SHA-256 over everything but the code, so that equal content is recognised."""
    body = to_dict(instrument)
    del body["code"]
    text = json.dumps(body, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def to_dict(instrument: Instrument) -> dict[str, Any]:
    """The instrument as plain JSON values; `from_dict` gives it back."""
    return {
        "code": instrument.code,
        "title": instrument.title,
        "description": instrument.description,
        "licence": instrument.licence,
        "citation": instrument.citation,
        "languages": list(instrument.languages),
        "formats": [_of_format(response_format) for response_format in instrument.formats],
        "items": [_of_item(item) for item in instrument.items],
        **_used(
            kind="" if instrument.kind == "items" else instrument.kind,
            parties=[{"code": p.code, "leaning": p.leaning} for p in instrument.parties],
        ),
    }


def from_dict(body: Mapping[str, Any]) -> Instrument:
    """The instrument that `to_dict` wrote."""
    return Instrument(
        code=body["code"],
        title=body["title"],
        description=body["description"],
        licence=body["licence"],
        citation=body["citation"],
        languages=tuple(body["languages"]),
        formats=tuple(map(_to_format, body["formats"])),
        items=tuple(map(_to_item, body["items"])),
        kind=body.get("kind", "items"),
        parties=tuple(Party(p["code"], p["leaning"]) for p in body.get("parties", ())),
    )


def _of_format(response_format: ResponseFormat) -> dict[str, Any]:
    midpoint = response_format.midpoint
    return {
        "code": response_format.code,
        "options": [
            {
                "code": option.code,
                "points": option.points,
                "stance": option.stance,
                "labels": dict(option.labels),
            }
            for option in response_format.options
        ],
        **_used(
            midpoint="" if midpoint == "coin" else midpoint,
            mood=response_format.mood,
            ratings=[asdict(rating) for rating in response_format.ratings],
        ),
    }


def _to_format(body: Mapping[str, Any]) -> ResponseFormat:
    options = tuple(
        Option(o["code"], o["points"], dict(o["labels"]), o["stance"]) for o in body["options"]
    )
    ratings = tuple(Rating(**rating) for rating in body.get("ratings", ()))
    return ResponseFormat(
        body["code"], options, body.get("midpoint", "coin"), body.get("mood", ""), ratings
    )


def _of_item(item: Item) -> dict[str, Any]:
    return {
        "code": item.code,
        "subscale": item.subscale,
        "keyed": item.keyed,
        "wordings": [
            {
                "language": w.language,
                "form": w.form,
                "text": w.text,
                **_used(mood=w.mood, drafted_by=w.drafted_by),
            }
            for w in item.wordings
        ],
        **_used(
            pair=item.pair,
            genre=item.genre,
            tags=list(item.tags),
            loadings=dict(item.loadings),
            positions=dict(item.positions),
            directions=dict(item.directions),
        ),
        **({} if item.rank is None else {"rank": item.rank}),
    }


def _to_item(body: Mapping[str, Any]) -> Item:
    wordings = tuple(
        Wording(w["language"], w["text"], w["form"], w.get("mood", ""), w.get("drafted_by", ""))
        for w in body["wordings"]
    )
    return Item(
        code=body["code"],
        wordings=wordings,
        subscale=body["subscale"],
        keyed=body["keyed"],
        pair=body.get("pair", ""),
        genre=body.get("genre", ""),
        tags=tuple(body.get("tags", ())),
        rank=body.get("rank"),
        loadings=dict(body.get("loadings", {})),
        positions=dict(body.get("positions", {})),
        directions=dict(body.get("directions", {})),
    )


def _used(**values: Any) -> dict[str, Any]:
    """Those that hold something."""
    return {name: value for name, value in values.items() if value}

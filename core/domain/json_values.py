"""What the JSON of the domain's values has in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ConfigDict

Number = int | float
"""A number as it was written: 1 and 1.0 are kept apart, as hashes of content are made of them."""

STRICT = ConfigDict(strict=True, extra="forbid")
"""For what people write by hand: no key that is unknown, and no text in place of a number."""

_NONE: Mapping[str, object] = MappingProxyType({})


def plain(value: Any, unused: Mapping[str, object] = _NONE) -> Any:
    """A frozen value as lists, mappings, texts and numbers.

    A field is left out where it holds the value that `unused` has under its name.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, tuple):
        return [plain(part, unused) for part in value]
    if isinstance(value, Mapping):
        return {name: plain(part, unused) for name, part in value.items()}
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return {
        name: plain(part, unused)
        for name, part in vars(value).items()
        if name not in unused or part != unused[name]
    }

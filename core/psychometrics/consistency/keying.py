"""Items that go against the rest of their scale, which a wrong key is the first reason for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.psychometrics.arrays import Booleans, Floats
from core.psychometrics.wording import listed

_CHECK = "check {} keying."


def against_rest(names: Sequence[str], correlations: Floats) -> tuple[str, ...]:
    """A caution naming the items with a negative corrected item-rest correlation."""
    return _named(names, correlations < 0, "correlate", "negatively with the rest of the scale")


def against_factor(names: Sequence[str], loadings: Floats) -> tuple[str, ...]:
    """A caution naming the items with a negative loading, where most load positively."""
    return _named(names, loadings < 0, "load", "negatively on the factor of the scale")


def on_keying(problem: str) -> bool:
    """Whether a caution is one of these."""
    return problem.endswith((_CHECK.format("its"), _CHECK.format("their")))


def _named(names: Sequence[str], hits: Booleans, verb: str, how: str) -> tuple[str, ...]:
    found = [names[int(place)] for place in np.flatnonzero(hits)]
    if not found:
        return ()
    one = len(found) == 1
    return (f"{listed(found)} {verb}{'s' if one else ''} {how}: "
            f"{_CHECK.format('its' if one else 'their')}",)  # fmt: skip

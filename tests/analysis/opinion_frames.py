"""OPTION_COUNTS frames of opinions out of counts of yes, no and neither."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.domain.frames import OPTION_COUNTS, check_frame

NAN = float("nan")


def opinions(rows, *, refused=0, not_asked=0, error=0, without_stance=0, genres=None, **factors):
    """Rows of (item, yes, no, neither and, if asked both ways, the other item).

    The other counts are of every item: refusals, trials that were not asked, failed calls, and
    answers whose option has no stance. `genres` is a mapping of items.
    """
    cells = []
    for item, yes, no, neither, *pair in rows:
        kinds = (
            ("yes", 0, 1, "answered", yes),
            ("no", 1, -1, "answered", no),
            ("neither", 2, 0, "answered", neither),
            ("other", 3, NAN, "answered", without_stance),
            ("", NAN, NAN, "refused", refused),
            ("", NAN, NAN, "not_asked", not_asked),
            ("", NAN, NAN, "error", error),
        )
        cells += [(item, *kind, pair[0] if pair else "") for kind in kinds if kind[-1]]
    names = ["item", "option", "position", "stance", "status", "count", "pair"]
    frame = pd.DataFrame(cells, columns=names).astype({"position": float, "stance": float})
    own = {
        "study": "s",
        "format": "yes_no",
        "subscale": "",
        "keyed": 1,
        "genre": "",
        "direction": 1,
        "points": np.nan,
        "coin": np.nan,
        "lowest": np.nan,
        "highest": np.nan,
        "n_options": 0,
        "midpoint": "coin",
    }
    frame = frame.assign(**own)[list(OPTION_COUNTS.columns)]
    frame["genre"] = [(genres or {}).get(item, "") for item in frame["item"]]
    frame = frame.assign(**{"respondent": "gpt", **factors})
    check_frame(frame, OPTION_COUNTS)
    return frame


def as_new_contexts(parts, places):
    """The frames of the contexts drawn; one that is drawn twice is two contexts."""
    return pd.concat(
        parts[place].assign(context=f"drawn {number}") for number, place in enumerate(places)
    )

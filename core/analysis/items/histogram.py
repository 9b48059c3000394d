"""Edges of the histogram of scores, chosen so that no bin holds more possible scores by accident.

The mean of k whole-number answers can only be a multiple of 1/k. Bins that ignore this hold now
one and now two possible scores, and the picture then shows combs that are not in the data.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.analysis.items.cells import Floats, codes_of, scores_of
from core.analysis.matrices import ALL_ITEMS

_MOST_VALUES = 100  # more different item scores than this are taken as continuous


def values_by_subscale(item_scores: pd.DataFrame) -> dict[str, Floats]:
    """The item scores that came up under the response formats of each subscale, sorted.

    Subscales of one format get the same values, and so the same range; "all items" gets all.
    """
    format_code, formats = codes_of(item_scores["format"])
    subscale_code, subscales = codes_of(item_scores["subscale"])
    scores = scores_of(item_scores)
    found = [_known(pd.unique(scores[format_code == code])) for code in range(len(formats))]
    values: dict[str, list[Floats]] = {ALL_ITEMS: found}
    for pair in pd.unique(subscale_code * len(formats) + format_code).tolist():
        subscale, code = divmod(pair, len(formats))
        values.setdefault(str(subscales[subscale]), []).append(found[code])
    return {name: _known(np.concatenate(parts)) for name, parts in values.items()}


def bin_edges(values: Floats, n_items: int, bins: int) -> Floats:
    """Edges of about `bins` bins for means of `n_items` scores out of `values`.

    Where the possible means lie evenly, every bin is centered on one of them, or on equally many;
    otherwise bins of equal width go from the lowest to the highest score.
    """
    gaps = np.diff(values)
    unit = float(gaps.min()) if gaps.size else 1.0
    steps = gaps / unit
    if len(values) > _MOST_VALUES or not np.allclose(steps, np.round(steps), atol=1e-6):
        return np.linspace(values[0], values[-1], bins + 1)
    step = unit / n_items
    n_possible = round((values[-1] - values[0]) / step) + 1
    each = max(1, round(n_possible / bins))
    n_bins = -(-n_possible // each)
    return np.asarray(values[0] - step / 2 + step * each * np.arange(n_bins + 1))


def _known(scores: Floats) -> Floats:
    """The different scores, sorted."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.unique(scores[np.isfinite(scores)])

"""What else could be compared where the factor chosen has one level only."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def or_instead(
    remedy: str, item_scores: pd.DataFrame, offered: Sequence[tuple[str, str]], chosen: str
) -> str:
    """The remedy, and which factors offered do vary if the chosen one does not.

    Parameters
    ----------
    remedy : str
        What a reader is to do in any case.
    item_scores : ITEM_SCORES frame
        The answers.
    offered : sequence of (factor, title)
        What an option offers.
    chosen : str
        What was chosen of it.
    """

    def varies(name: str) -> bool:
        return name in item_scores and len(item_scores[name].unique()) > 1

    others = [title.split(" (")[0].lower() for name, title in offered if varies(name)]
    if varies(chosen) or not others:
        return remedy
    return f"{remedy} These answers differ in {', '.join(others)}, which can be compared instead."

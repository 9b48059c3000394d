"""What else could be compared where the factor chosen has one level only."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def varying(item_scores: pd.DataFrame, offered: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the factors offered, with their titles, that have several levels."""
    return [
        (name, title)
        for name, title in offered
        if name in item_scores and len(item_scores[name].unique()) > 1
    ]


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
    found = varying(item_scores, offered)
    others = [title.split(" (")[0].lower() for _, title in found]
    if not others or chosen in dict(found):
        return remedy
    return f"{remedy} These answers differ in {', '.join(others)}, which can be compared instead."

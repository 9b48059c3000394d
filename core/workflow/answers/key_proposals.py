"""Which items of a file look reversed, and which subscales their names suggest; a user decides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from core.errors import UserError
from core.files.columns import TextColumns
from core.files.doubts import answer_columns
from core.files.mapped_answers import map_answers
from core.files.mapping import AnswerMapping
from core.files.parts import slices

_MOST_ANSWERS = 200_000  # of a file, by which the proposal is made
_FEWEST_PEOPLE, _FEWEST_ITEMS = 20, 3
_LEAST_LOADING = 0.3
_SERIES = re.compile(r"(.*?[^\W\d])[\s_.\-]*\d+[a-zA-Z]?")


@dataclass(frozen=True)
class KeyProposal:
    """Codes of items that look reversed, with their loadings, and subscales with their items.

    A loading is that on the first principal axis of the correlations of a subscale, of which the
    sign is such that most items load positively.
    """

    loadings: Mapping[str, float] = field(default_factory=dict)
    subscales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_people: int = 0

    @property
    def reversed(self) -> tuple[str, ...]:
        """Codes of the items that look reversed."""
        return tuple(self.loadings)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is proposed and why, a sentence each."""
        found = []
        if self.loadings:
            named = ", ".join(f"{code} ({value:.2f})" for code, value in self.loadings.items())
            found.append(
                f"These items look reversed, because they go against the others in the answers of "
                f"{self.n_people:,} people (loading on the first factor): {named}. Read their "
                "texts before you take it: low correlations can turn a sign."
            )
        if self.subscales:
            named = ", ".join(f"{name} ({len(codes)})" for name, codes in self.subscales.items())
            found.append(f"The codes of the items suggest subscales: {named}.")
        return tuple(found)


def propose_keys(source: TextColumns, mapping: AnswerMapping) -> KeyProposal:
    """What the answers of a file and the codes of its items suggest about keys.

    Unit of analysis: the person (or context with its conditions); missing answers are left out pair
    by pair. Nothing is proposed of fewer than 20 people, and no reversal in fewer than 3 items or
    of a loading below .3.
    """
    plain = replace(mapping, bank="", new_bank=None)
    n_items = max(len(answer_columns(plain)), 1)
    head = next(slices(source, max(_MOST_ANSWERS // max(n_items, 1), 1)))
    try:
        frame = map_answers(head, plain).frame
    except UserError:  # the preview says what is wrong
        return KeyProposal()
    codes = [str(code) for code in frame["item"].unique()]
    subscales = _subscales_of_codes(codes)
    points = pd.to_numeric(frame["answer"], errors="coerce")
    rows = frame.groupby(
        ["context", "model", "template", "phase", "repetition"], sort=False
    ).ngroup()
    scores = frame.assign(points=points, row=rows).pivot_table("points", "row", "item")
    loadings: dict[str, float] = {}
    for members in (subscales or {"": tuple(codes)}).values():
        known = [code for code in members if code in scores]
        loadings |= _against_the_others(scores[known])
    return KeyProposal(loadings, subscales, len(scores))


def _subscales_of_codes(codes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The codes by what stands before their numbers, where several such names stand twice."""
    found: dict[str, tuple[str, ...]] = {}
    for code in codes:
        if match := _SERIES.fullmatch(code):
            name = match[1].strip(" _.-")
            found[name] = (*found.get(name, ()), code)
    several = all(len(members) > 1 for members in found.values())
    whole = sum(map(len, found.values())) == len(codes)
    return found if len(found) > 1 and several and whole else {}


def _against_the_others(scores: pd.DataFrame) -> dict[str, float]:
    """Items with a negative loading on the first principal axis of their correlations."""
    scores = scores.loc[:, scores.std() > 0]
    if scores.shape[1] < _FEWEST_ITEMS or len(scores) < _FEWEST_PEOPLE:
        return {}
    correlations = scores.corr(min_periods=_FEWEST_PEOPLE).fillna(0).to_numpy(copy=True)
    np.fill_diagonal(correlations, 1.0)
    values, vectors = np.linalg.eigh(correlations)
    loadings = vectors[:, -1] * np.sqrt(values[-1])
    if (loadings < 0).sum() * 2 > len(loadings):
        loadings = -loadings
    return {
        str(code): float(loading)
        for code, loading in zip(scores.columns, loadings, strict=True)
        if loading <= -_LEAST_LOADING
    }

"""Measurement models made from the subscales of the answers, with names that a model text allows.

A model text has names of letters, digits and underscores only, while items and subscales may be
called anything; here they get names the text can hold, and sentences get the real ones back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.matrices import Floats, some_of
from core.analysis.registry import Choice
from core.errors import NotEnoughData
from core.psychometrics.cfa_data import Missing
from core.psychometrics.cfa_fit import Estimator
from core.psychometrics.cfa_model import Scaling
from core.psychometrics.cfa_presets import (
    bifactor_model,
    one_factor_model,
    second_order_model,
    subscale_model,
    with_method_factor,
)

ModelKind = Literal["subscales", "general", "method", "bifactor", "second_order"]
EstimatorKind = Literal["ml", "mlr", "fiml"]
UNNAMED = "(none)"
MODELS = (
    ("subscales", "One factor per subscale"),
    ("general", "One general factor"),
    ("method", "Subscales and a method factor of reverse-keyed items"),
    ("bifactor", "Bifactor: a general factor beside the subscales"),
    ("second_order", "Second order: a general factor behind the subscales"),
)
ESTIMATORS = (
    ("ml", "ML: complete administrations, normal scores"),
    ("mlr", "MLR: complete administrations, any distribution"),
    ("fiml", "MLR with full information: all administrations"),
)
HOW: Mapping[EstimatorKind, tuple[Estimator, Missing]] = {
    "ml": ("ML", "listwise"),
    "mlr": ("MLR", "listwise"),
    "fiml": ("MLR", "fiml"),
}
"""Estimator and rule for missing answers of each choice."""

FactorModel = Annotated[
    ModelKind, Choice("Model", MODELS, help="What the items are taken to measure.")
]
FactorEstimator = Annotated[
    EstimatorKind,
    Choice("Estimator", ESTIMATORS, help="MLR corrects tests and standard errors, not loadings."),
]


@dataclass(frozen=True)
class WrittenModel:
    """A model text, the names its items have there, and the names that users know."""

    text: str
    items: tuple[str, ...]
    shown: Mapping[str, str]

    def name(self, safe: str) -> str:
        """The name that users know."""
        return self.shown.get(safe, safe)

    def sentence(self, text: str) -> str:
        """The sentence with the names that users know."""
        return re.sub(r"\w+", lambda word: self.name(word[0]), text)


def written_model(
    kind: ModelKind, items: Sequence[str], keyed: Sequence[int], subscale_of: Mapping[str, str]
) -> WrittenModel:
    """The model of these items that the user chose.

    Parameters
    ----------
    kind : str
        What the items are taken to measure.
    items : p names
        In the order of the columns.
    keyed : p numbers
        -1 for reverse-keyed items.
    subscale_of : mapping
        Subscale of each item; empty where it has none.

    Raises
    ------
    NotEnoughData
        The items have no such model, for example second order with one subscale.
    """
    shown: dict[str, str] = {}
    safe = [_safe(item, shown) for item in items]
    owners = [subscale_of[item] or UNNAMED for item in items]
    factors = {owner: _safe(owner, shown) for owner in dict.fromkeys(owners)}
    subscales = {
        factor: [item for item, own in zip(safe, owners, strict=True) if own == owner]
        for owner, factor in factors.items()
    }
    reverse = [item for item, key in zip(safe, keyed, strict=True) if key < 0]
    _check(kind, len(subscales), len(reverse), len(safe))
    if kind == "subscales":
        text = subscale_model(subscales)
    elif kind == "general":
        text = one_factor_model(safe, name=_safe("General", shown))
    elif kind == "method":
        text = with_method_factor(subscale_model(subscales), reverse, name=_safe("Method", shown))
    elif kind == "bifactor":
        text = bifactor_model(subscales, name=_safe("General", shown))
    else:
        text = second_order_model(subscales, name=_safe("General", shown))
    return WrittenModel(text, tuple(safe), shown)


def across_groups(kind: ModelKind, text: str) -> tuple[str, Scaling]:
    """The model text, and the unit of its factors, such that only what is meant is held equal.

    Variances of 1 would be 1 in every group and pass for a difference of loadings, so all but those
    of the first group are left free. Behind factors whose means are free, a general factor cannot
    have one of its own.
    """
    if kind == "second_order":
        general = text.splitlines()[-1].split()[0]
        return f"{text}\n{general} ~ 0*1", "marker"
    if kind in ("method", "bifactor"):
        lines = [line for line in text.splitlines() if "~~ 1*" not in line]
        return "\n".join(lines), "std.lv"
    return text, "marker"


def _safe(name: str, taken: dict[str, str]) -> str:
    """A name the text can hold and nothing else has; entered into `taken`."""
    plain = re.sub(r"\W", "_", name)
    if not re.match(r"[^\W\d]", plain):
        plain = f"n_{plain}"
    safe, number = plain, 1
    while safe in taken:
        number += 1
        safe = f"{plain}_{number}"
    taken[safe] = name
    return safe


def _check(kind: ModelKind, n_subscales: int, n_reverse: int, n_items: int) -> None:
    """Refuse a model that these items cannot have."""
    if kind in ("bifactor", "second_order") and n_subscales < 2:
        raise NotEnoughData(
            f"This model needs two subscales with items that vary, and there is {n_subscales}.",
            "Choose one factor per subscale.",
        )
    if kind == "method" and not 2 <= n_reverse < n_items:
        raise NotEnoughData(
            f"A method factor needs two reverse-keyed items and others beside them; of {n_items} "
            f"items, {n_reverse} are reverse-keyed.",
            "Choose one factor per subscale.",
        )


def subscales_of_items(item_scores: pd.DataFrame) -> tuple[dict[str, str], list[str]]:
    """The subscale of each item, and a note on items that have several (the first one counts)."""
    pairs = item_scores[["item", "subscale"]].drop_duplicates()
    subscale_of: dict[str, str] = {}
    several: dict[str, None] = {}
    for item, subscale in zip(pairs["item"], pairs["subscale"], strict=True):
        own = "" if pd.isna(subscale) else str(subscale)
        if subscale_of.setdefault(str(item), own) != own:
            several[str(item)] = None
    note = f"In several subscales, of which the first counts: {some_of(list(several))}."
    return subscale_of, [note] if several else []


def varying_items(groups: Sequence[Floats], missing: Missing) -> np.ndarray:
    """Whether each item varies within every group over the rows that count, shape (p,).

    Constant items are taken out before a model is written, since a model text may lean on the
    first item of a factor, and before rows are judged, so that they cost no rows.
    """
    varying = np.all([_varies(scores) for scores in groups], axis=0)
    if missing == "fiml":
        return np.asarray(varying)
    complete = [scores[~np.isnan(scores[:, varying]).any(axis=1)] for scores in groups]
    return np.asarray(varying & np.all([_varies(scores) for scores in complete], axis=0))


def _varies(scores: Floats) -> np.ndarray:
    """Whether each column holds two different scores, shape (p,)."""
    low = np.where(np.isnan(scores), np.inf, scores).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(scores), -np.inf, scores).max(axis=0, initial=-np.inf)
    return np.asarray(high > low)

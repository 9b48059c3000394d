"""Measurement models made from the subscales of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.factor_models.cfa_names import UNNAMED, ModelNames, model_names, real_names
from core.analysis.matrices import Floats
from core.analysis.registry import Choice, Text
from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_data import Missing
from core.psychometrics.factor_models.cfa_fit import Estimator
from core.psychometrics.factor_models.cfa_model import Scaling
from core.psychometrics.factor_models.cfa_presets import (
    bifactor_model,
    one_factor_model,
    second_order_model,
    subscale_model,
    with_method_factor,
)
from core.psychometrics.score_values import varying_columns
from core.psychometrics.wording import always_the_same, listed, never_answered

ModelKind = Literal["subscales", "general", "method", "bifactor", "second_order"]
LikelihoodKind = Literal["ml", "mlr", "fiml"]
EstimatorKind = Literal["ml", "mlr", "fiml", "wlsmv"]
MODELS = (
    ("subscales", "One factor per subscale"),
    ("general", "One general factor"),
    ("method", "Subscales and a method factor of reverse-keyed items"),
    ("bifactor", "Bifactor: a general factor beside the subscales"),
    ("second_order", "Second order: a general factor behind the subscales"),
)
LIKELIHOODS = (
    ("ml", "ML: complete administrations, normal scores"),
    ("mlr", "MLR: complete administrations, any distribution"),
    ("fiml", "MLR with full information: all administrations"),
)
ESTIMATORS = (*LIKELIHOODS, ("wlsmv", "WLSMV: ordered answers, complete administrations"))
AUTOMATIC: Literal["automatic"] = "automatic"
HOW: Mapping[LikelihoodKind, tuple[Estimator, Missing]] = {
    "ml": ("ML", "listwise"),
    "mlr": ("MLR", "listwise"),
    "fiml": ("MLR", "fiml"),
}
"""Estimator and rule for missing answers of each choice."""

FactorModel = Annotated[
    ModelKind, Choice("Model", MODELS, help="What the items are taken to measure.")
]
_CORRECTS = "MLR corrects tests and standard errors, not loadings."
LikelihoodEstimator = Annotated[LikelihoodKind, Choice("Estimator", LIKELIHOODS, help=_CORRECTS)]
FactorEstimator = Annotated[
    Literal["automatic", "ml", "mlr", "fiml", "wlsmv"],
    Choice(
        "Estimator",
        ((AUTOMATIC, "Automatic: WLSMV for fewer than five options, else MLR"), *ESTIMATORS),
        help=f"{_CORRECTS} WLSMV takes answers as steps of normal variables, which suits few "
        "options. Automatic says in a note which one was taken, and why.",
    ),
]


@dataclass(frozen=True)
class FactorModelText(Text):
    """The text of a factor model, for which pages have an editor; of several if `several`.

    `preset` is the option that names the model which the editor proposes, and which it sets too.
    Where `fitted_by` names another analysis, pages take over the model from there, with the options
    in `taken_over`.
    """

    preset: str = ""
    several: bool = False
    fitted_by: str = ""
    taken_over: tuple[str, ...] = ()


ModelText = Annotated[
    str,
    FactorModelText(
        "Model text",
        lines=10,
        preset="model",
        help="Takes the place of the model chosen above, in the notation of lavaan: "
        "F =~ i1 + i2 + i3 (items of a factor), F ~~ G (factors covary), i1 ~~ i2 (residuals do); "
        "0*, NA* and a* before a name fix, free and label. # begins a comment. Items that the text "
        "does not name are left out.",
    ),
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
        return real_names(text, self.shown)


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
        Subscale of each item of the answers, these or more; empty where it has none.

    Raises
    ------
    NotEnoughData
        The items have no such model, for example second order with one subscale.
    """
    names = model_names(subscale_of)
    safe = tuple(names.items[item] for item in items)
    factors = [names.factors[subscale_of[item] or UNNAMED] for item in items]
    subscales = {
        factor: [item for item, own in zip(safe, factors, strict=True) if own == factor]
        for factor in dict.fromkeys(factors)
    }
    reverse = [item for item, key in zip(safe, keyed, strict=True) if key < 0]
    _check(kind, len(subscales), len(reverse), len(safe))
    return WrittenModel(_text(kind, names, safe, subscales, reverse), safe, names.shown)


def _text(
    kind: ModelKind,
    names: ModelNames,
    items: Sequence[str],
    subscales: Mapping[str, Sequence[str]],
    reverse: Sequence[str],
) -> str:
    """The model text; all names as the text has them."""
    if kind == "general":
        return one_factor_model(items, name=names.general)
    if kind == "method":
        return with_method_factor(subscale_model(subscales), reverse, name=names.method)
    if kind == "bifactor":
        return bifactor_model(subscales, name=names.general)
    if kind == "second_order":
        return second_order_model(subscales, name=names.general)
    return subscale_model(subscales)


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


def _check(kind: ModelKind, n_subscales: int, n_reverse: int, n_items: int) -> None:
    """Refuse a model that these items cannot have."""
    if not n_items:
        raise NotEnoughData("No item varies.", "Ask under several contexts or repetitions.")
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
    note = f"In several subscales, of which the first counts: {listed(list(several))}."
    return subscale_of, [note] if several else []


def varying_items(groups: Sequence[Floats], missing: Missing) -> np.ndarray:
    """Whether each item varies within every group over the rows that count, shape (p,).

    Constant items are taken out before a model is written, since a model text may lean on the
    first item of a factor, and before rows are judged, so that they cost no rows. With fewer than
    two complete rows nothing varies over them, which says nothing of the items.
    """
    varying = np.all([varying_columns(scores) for scores in groups], axis=0)
    if missing == "fiml":
        return np.asarray(varying)
    complete = [scores[~np.isnan(scores[:, varying]).any(axis=1)] for scores in groups]
    if any(len(scores) < 2 for scores in complete):
        return np.asarray(varying)
    return np.asarray(varying & np.all([varying_columns(scores) for scores in complete], axis=0))


def left_out_notes(
    groups: Sequence[Floats], items: Sequence[str], missing: Missing
) -> tuple[str, ...]:
    """Sentences that name the items `varying_items` leaves out, with the reason."""
    some = " at some level" if len(groups) > 1 else ""
    kept = varying_items(groups, missing)
    answered = np.all([np.isfinite(scores).any(axis=0) for scores in groups], axis=0)
    varying = np.all([varying_columns(scores) for scores in groups], axis=0)
    said = []
    for chosen, sentence, where in (
        (~answered, never_answered, some),
        (answered & ~varying, always_the_same, some),
        (varying & ~kept, always_the_same, f" in complete administrations{some}"),
    ):
        names = [item for item, one in zip(items, chosen, strict=True) if one]
        if names:
            said.append(sentence(names, where))
    return tuple(said)

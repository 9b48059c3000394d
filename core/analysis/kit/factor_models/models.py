"""Measurement models from subscales, typed texts and lists of texts; names they allow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import distinct, score_matrices
from core.analysis.kit.registry import Choice, Text
from core.analysis.kit.rows import Floats, items_of
from core.domain.notes import Note, kind_of
from core.domain.people import PERSON_FACT
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.factor.cfa import Estimator
from core.stats.factor.likelihood import LikelihoodRule
from core.stats.factor.model import DEFINED, INTERCEPT, ParsedModel, Term
from core.stats.factor.model_text import (
    ModelTextError,
    add_method_factor,
    bifactor_model,
    one_factor_model,
    parse_model,
    second_order_model,
    subscale_model,
)
from core.stats.inputs import (
    ItemRule,
    PairRule,
    constant_items_note,
    name_list,
    unanswered_items_note,
    varying_columns,
)

# Names of items and subscales that a model text allows.
#
# A name of a model text begins with a letter and goes on with letters, digits, underscores and
# dots. Names that are like that stay as they are; others get one that is, and sentences get the
# real ones back. An item has the same name in every group and every model of the same answers.

UNNAMED = "(none)"
_PLAIN = re.compile(r"[^\W\d_][\w.]*")
_WORD = re.compile(r"(?<![\w.])[^\W\d][\w.]*")
_RESERVED = frozenset(
    {
        "NA",
        "NaN",
        "Inf",
        "NULL",
        "TRUE",
        "FALSE",
        "if",
        "else",
        "for",
        "while",
        "repeat",
        "function",
        "next",
        "break",
        "in",
        "start",
    }
)
"""Words that mean something else in a model text, or in R, where the text can be run too."""


@dataclass(frozen=True)
class ModelNames:
    """The names of items, subscales and added factors in a model text.

    `items` and `factors` lead from real names to those of the text, `shown` back; `general` and
    `method` are the text's names of the factors that some models add.
    """

    items: Mapping[str, str]
    factors: Mapping[str, str]
    general: str
    method: str
    shown: Mapping[str, str]

    @property
    def changed(self) -> dict[str, str]:
        """Items that are called something else in a text, with what they are called there."""
        return {item: safe for item, safe in self.items.items() if item != safe}


def model_names(subscale_of: Mapping[str, str]) -> ModelNames:
    """Names for all items and subscales of the answers.

    Parameters
    ----------
    subscale_of : mapping
        Subscale of each item, empty where it has none; of all items of the answers, so that names
        do not change with the items that a group happens to have.

    Returns
    -------
    ModelNames
        Items whose own names a text can hold keep them, whatever the others are called.
    """
    shown = {item: item for item in subscale_of if is_model_name(item)}
    items = {item: item if item in shown else _add_name(item, shown) for item in subscale_of}
    owners = dict.fromkeys(subscale or UNNAMED for subscale in subscale_of.values())
    factors = {owner: _add_name(owner, shown) for owner in owners}
    general, method = (_add_name(name, shown, own_name=True) for name in ("General", "Method"))
    return ModelNames(items, factors, general, method, shown)


def real_names(text: str, shown: Mapping[str, str]) -> str:
    """The text with the names that users know in place of those of a model text."""
    return _WORD.sub(lambda match: _real_name(match[0], shown), text)


def _real_name(word: str, shown: Mapping[str, str]) -> str:
    """The real name of a word, or the word; a full stop behind a name is not part of it."""
    if word in shown:
        return shown[word]
    name = word.rstrip(".")
    return shown.get(name, name) + word[len(name) :]


def is_model_name(name: str) -> bool:
    """Whether a model text can hold the name as it is."""
    return bool(_PLAIN.fullmatch(name)) and name not in _RESERVED


def _add_name(name: str, shown: dict[str, str], *, own_name: bool = False) -> str:
    """A name the text can hold and nothing else has, entered into `shown`.

    With `own_name` users see it too, since what it stands for has no name but the one given here.
    """
    plain = name if is_model_name(name) else re.sub(r"[^\w.]", "_", name).strip("_.")
    if not is_model_name(plain):
        plain = f"n_{plain}"
    safe, number = plain, 1
    while safe in shown:
        number += 1
        safe = f"{plain}_{number}"
    shown[safe] = safe.replace("_", " ") if own_name else name
    return safe


# Measurement models made from the subscales of the answers.

ModelKind = Literal["subscales", "general", "method", "bifactor", "second_order"]
LikelihoodKind = Literal["ml", "mlr", "ml_fiml", "fiml"]
ChosenEstimator = Literal["ml", "mlr", "fiml", "wlsmv"]
EstimatorKind = Literal["ml", "mlr", "ml_fiml", "fiml", "wlsmv", "wlsmv_pairwise"]
"""Estimators with their rule for missing answers; users choose the two by themselves."""
MODELS = (
    ("subscales", "One factor per subscale"),
    ("general", "One general factor"),
    ("method", "Subscales and a method factor of reverse-keyed items"),
    ("bifactor", "Bifactor: a general factor and the subscales"),
    ("second_order", "Second order: a general factor above the subscales"),
)
LIKELIHOODS = (
    ("ml", "ML: normal scores"),
    ("mlr", "MLR: scores of any distribution"),
    ("fiml", "MLR with full information: all administrations"),
)
ESTIMATORS = (*LIKELIHOODS, ("wlsmv", "WLSMV: ordered answers"))
ESTIMATOR_WORDS: Mapping[EstimatorKind, str] = {
    "ml": "ML: complete administrations, normal scores",
    "mlr": "MLR: complete administrations, any distribution",
    "ml_fiml": "ML with full information: all administrations, normal scores",
    "fiml": "MLR with full information: all administrations",
    "wlsmv": "WLSMV: ordered answers, complete administrations",
    "wlsmv_pairwise": "WLSMV: ordered answers, each pair of items from all administrations that "
    "answered both",
}
"""Each of them in a sentence on the method."""
AUTOMATIC: Literal["automatic"] = "automatic"
LIKELIHOOD_RULES: Mapping[LikelihoodKind, tuple[Estimator, LikelihoodRule]] = {
    "ml": ("ML", "listwise"),
    "mlr": ("MLR", "listwise"),
    "ml_fiml": ("ML", "fiml"),
    "fiml": ("MLR", "fiml"),
}
"""Estimator and rule for missing answers of each likelihood."""
ORDERED_RULES: Mapping[str, PairRule] = {"wlsmv": "listwise", "wlsmv_pairwise": "pairwise"}
"""Rule for missing answers of each estimator of ordered answers."""


def estimator_rule(
    estimator: EstimatorKind,
) -> tuple[Estimator | Literal["WLSMV"], LikelihoodRule | PairRule]:
    """Estimator and rule for missing answers."""
    if estimator == "wlsmv" or estimator == "wlsmv_pairwise":
        return "WLSMV", ORDERED_RULES[estimator]
    return LIKELIHOOD_RULES[estimator]


WITH_GAPS: Mapping[EstimatorKind, EstimatorKind] = {
    "ml": "ml_fiml",
    "mlr": "fiml",
    "wlsmv": "wlsmv_pairwise",
}
"""The same estimator with all answers there are."""

FactorModel = Annotated[
    ModelKind, Choice("Model", MODELS, help="What the items are taken to measure.")
]
_CORRECTS = "MLR corrects tests and standard errors, not loadings."
FactorEstimator = Annotated[
    Literal["automatic", "ml", "mlr", "fiml", "wlsmv"],
    Choice(
        "Estimator",
        ((AUTOMATIC, "Automatic: WLSMV below 5 options, else MLR"), *ESTIMATORS),
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
        "F =~ i1 + i2 + i3 (items of a factor), F ~~ G (factors covary), i1 ~~ i2 (residuals do), "
        "F ~ G + i9 (G and the item i9 explain F); 0*, NA* and a* before a name fix, free and "
        "label, and e := a*b is a value of labels. # begins a comment. Items that the text does "
        "not name are left out.",
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
        return Note(real_names(text, self.shown), kind=kind_of(text))


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
    subscales: dict[str, list[str]] = {}
    for item, factor in zip(safe, factors, strict=True):
        subscales.setdefault(factor, []).append(item)
    reverse = [item for item, key in zip(safe, keyed, strict=True) if key < 0]
    if not safe:
        raise NotEnoughData("No item varies.", "Ask under several contexts or repetitions.")
    if kind in ("bifactor", "second_order") and len(subscales) < 2:
        raise NotEnoughData(
            f"This model needs two subscales with items that vary, and there is {len(subscales)}.",
            "Choose one factor per subscale.",
        )
    if kind == "method" and not 2 <= len(reverse) < len(safe):
        raise NotEnoughData(
            "A method factor needs two reverse-keyed items and at least one other; of "
            f"{len(safe)} items, {len(reverse)} are reverse-keyed.",
            "Choose one factor per subscale.",
        )
    if kind == "general":
        text = one_factor_model(safe, name=names.general)
    elif kind == "method":
        text = add_method_factor(subscale_model(subscales), reverse, name=names.method)
    elif kind == "bifactor":
        text = bifactor_model(subscales, name=names.general)
    elif kind == "second_order":
        text = second_order_model(subscales, name=names.general)
    else:
        text = subscale_model(subscales)
    return WrittenModel(text, safe, names.shown)


def across_groups(kind: ModelKind, text: str) -> str:
    """The model text such that only what is meant is held equal across groups.

    Variances that the text fixes at 1 would be 1 in every group and pass for a difference of
    loadings; without them, only those of the first group are. Behind factors whose means are free,
    a general factor cannot have one of its own.
    """
    if kind == "second_order":
        general = text.splitlines()[-1].split()[0]
        return f"{text}\n{general} ~ 0*1"
    return "\n".join(line for line in text.splitlines() if "~~ 1*" not in line)


def subscales_of_items(item_scores: ItemScores) -> tuple[dict[str, str], list[str]]:
    """The subscale of each item, and a note on items that have several (the first one counts)."""
    pairs = items_of(item_scores)[["item", "subscale"]].drop_duplicates()
    subscale_of: dict[str, str] = {}
    several: dict[str, None] = {}
    for item, subscale in zip(pairs["item"], pairs["subscale"], strict=True):
        name = "" if pd.isna(subscale) else str(subscale)
        if subscale_of.setdefault(str(item), name) != name:
            several[str(item)] = None
    note = f"In several subscales, of which the first counts: {name_list(list(several))}."
    return subscale_of, [note] if several else []


def varying_items(groups: Sequence[Floats], missing: ItemRule) -> np.ndarray:
    """Whether each item varies within every group over the rows that count, shape (p,).

    Constant items are taken out before a model is written, since a model text may lean on the
    first item of a factor, and before rows are judged, so that they cost no rows. With fewer than
    two complete rows nothing varies over them, which says nothing of the items.
    """
    varying = np.all([varying_columns(scores) for scores in groups], axis=0)
    if missing != "listwise":
        return np.asarray(varying)
    complete = [scores[~np.isnan(scores[:, varying]).any(axis=1)] for scores in groups]
    if any(len(scores) < 2 for scores in complete):
        return np.asarray(varying)
    return np.asarray(varying & np.all([varying_columns(scores) for scores in complete], axis=0))


def left_out_notes(
    groups: Sequence[Floats], items: Sequence[str], missing: ItemRule
) -> tuple[str, ...]:
    """Sentences that name the items `varying_items` leaves out, with the reason."""
    some = " at some level" if len(groups) > 1 else ""
    included = varying_items(groups, missing)
    answered = np.all([np.isfinite(scores).any(axis=0) for scores in groups], axis=0)
    varying = np.all([varying_columns(scores) for scores in groups], axis=0)
    sentences = []
    for chosen, sentence, where in (
        (~answered, unanswered_items_note, some),
        (answered & ~varying, constant_items_note, some),
        (varying & ~included, constant_items_note, f" in complete administrations{some}"),
    ):
        names = [item for item, is_chosen in zip(items, chosen, strict=True) if is_chosen]
        if names:
            sentences.append(sentence(names, where))
    return tuple(sentences)


# Texts that users type, and texts that the program proposes.


def proposed_text(
    item_scores: ItemScores, model: ModelKind = "subscales", *, by: Sequence[str] = ()
) -> WrittenModel:
    """The text of a model of these answers, to be read, edited and given as model text.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Its items are in the text if they vary over the administrations of any group.
    model : str
        What the items are taken to measure.
    by : sequence of factors
        Groups that the model is for.

    Returns
    -------
    WrittenModel
        The text, the names its items have there, and the names that users know.

    Raises
    ------
    NotEnoughData
        There are no answers, no item varies, or the items have no such model.
    """
    subscale_of, _ = subscales_of_items(item_scores)
    keyed: dict[str, int] = {}
    vary: dict[str, bool] = {}
    for matrix in score_matrices(item_scores, distinct(by), whole=True):
        varying = varying_items([matrix.scores], "fiml")
        for item, key, varies in zip(matrix.items, matrix.keyed, varying, strict=True):
            keyed.setdefault(item, key)
            vary[item] = bool(varies) or vary.get(item, False)
    items = [item for item in subscale_of if vary.get(item)]
    if not items:
        raise NotEnoughData(
            "No item varies over administrations, so there is nothing to model.",
            "Ask under several contexts or repetitions.",
        )
    return written_model(model, items, [keyed[item] for item in items], subscale_of)


_FACT = re.compile(rf"(?<![\w.]){re.escape(PERSON_FACT)}\w[\w.]*")


def facts_in_text(text: str) -> tuple[str, ...]:
    r"""The facts about people (`person.age`) that a model text names outside its comments.

    Examples
    --------
    >>> facts_in_text("F =~ a + b  # person.x\nF ~ person.age + a*person.gender")
    ('person.age', 'person.gender')
    """
    lines = (re.split("[#!]", line)[0] for line in text.splitlines())
    return tuple(dict.fromkeys(fact for line in lines for fact in _FACT.findall(line)))


def typed_model(text: str, names: ModelNames, facts: Sequence[str] = ()) -> ParsedModel:
    """The model of a text that a user typed; `facts` about people may be covariates of it.

    Raises
    ------
    ModelTextError
        The text cannot be read or names an item that there is not; the message holds the line, the
        word and the nearest name, the remedy how items are written whose names no text can hold.
        Or it names a fact that is not among `facts`, or that something else than a covariate is.
    """
    unknown = [fact for fact in facts_in_text(text) if fact not in facts]
    if unknown:
        raise ModelTextError(
            f"The model text names facts about people that are not here: {name_list(unknown)}.",
            "Facts that are known of these people are covariates in the confirmatory factor "
            "analysis, and only there.",
        )
    try:
        model = parse_model(text, items=(*names.items.values(), *facts))
        others = [fact for fact in facts_in_text(text) if fact not in model.covariates]
        if others:
            raise ModelTextError(
                f"Facts about people can only explain something: {name_list(others)}.",
                f"Write them behind a ~, as in F ~ {others[0]}.",
            )
        return model
    except ModelTextError as error:
        changed = [f"{item} as {safe}" for item, safe in names.changed.items()]
        if not changed:
            raise
        raise ModelTextError(
            error.problem, f"{error.remedy} In a model text, write {name_list(changed)}."
        ) from None


def unused_items(model: ParsedModel, names: ModelNames) -> list[str]:
    """Items of the answers that a model does not use, as users know them."""
    return [item for item, safe in names.items.items() if safe not in model.items]


def text_of(model: ParsedModel) -> str:
    """A model as text again, a line for each name on the left of an operator.

    Parameters
    ----------
    model : ParsedModel
        Also one that has lost items since it was read.

    Returns
    -------
    str
        A text that reads as the same factors and terms.
    """
    terms_of: dict[tuple[str, str], list[Term]] = {}
    for term in model.terms:
        terms_of.setdefault((term.left, term.op), []).append(term)
    lines: list[str] = []
    for (left, op), terms in terms_of.items():
        if op == INTERCEPT:
            lines += [f"{left} ~ {mention}" for mention in _mentions(terms[0], "1")]
        else:
            words = " + ".join(word for t in terms for word in _mentions(t, t.right))
            lines.append(f"{left} {op} {words}")
    lines += [f"{value.name} {DEFINED} {value.expression}" for value in model.defined]
    return "\n".join(lines)


def _mentions(term: Term, name: str) -> list[str]:
    """The name with its modifiers, once for each of them."""
    modifiers = [
        "NA" if term.freed else "",
        "" if term.fixed is None else format(term.fixed, ".15g"),
        term.label or "",
        "" if term.start is None else f"start({format(term.start, '.15g')})",
    ]
    return [f"{modifier}*{name}" for modifier in modifiers if modifier] or [name]


def lost_factors(model: ParsedModel, removed: frozenset[str]) -> list[str]:
    """Factors that lose all their items when some are removed."""
    left = model.without(removed)
    return [f for f in model.factors if f not in left.factors or not left.indicators(f)]


# Several named model texts in one: each under a line `## Name`.

_HEAD = "##"
_REMEDY = "Head each model by a line such as: ## Two factors"


def named_models(text: str, names: ModelNames) -> dict[str, ParsedModel]:
    """The models of a text, by name, in order.

    Parameters
    ----------
    text : str
        Model texts, each headed by a line of two number signs and a name.
    names : ModelNames
        The names that items have in model texts.

    Returns
    -------
    dict
        Models by name; lines in messages count from the top of the whole text.

    Raises
    ------
    ModelTextError
        Something stands before the first heading, a name is missing or repeats, there is only one
        model, or a model cannot be read.
    """
    sections: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith(_HEAD):
            name = line.strip().removeprefix(_HEAD).strip()
            if not name:
                raise ModelTextError(f"The model headed in line {number} has no name.", _REMEDY)
            if name in sections:
                raise ModelTextError(
                    f'Two models are called "{name}" (line {number}).',
                    "Give each a name of its own.",
                )
            sections[name] = [""] * number
        elif name:
            sections[name].append(line)
        elif line.split("#")[0].strip():
            raise ModelTextError(
                f'Line {number} ("{line.strip()}") has no model name above.', _REMEDY
            )
    if len(sections) < 2:
        raise ModelTextError(
            f"A comparison takes two models, and there {'is one' if sections else 'is none'}.",
            _REMEDY,
        )
    models: dict[str, ParsedModel] = {}
    for name, lines in sections.items():
        try:
            models[name] = typed_model("\n".join(lines), names)
        except ModelTextError as error:
            raise ModelTextError(f'Model "{name}": {error.problem}', error.remedy) from None
    return models

"""Model texts in lavaan's notation: reading them, their items, and texts for usual models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy.typing as npt

from core import settings
from core.errors import TooLarge, UserError
from core.stats.factor.definitions import Definition
from core.stats.factor.model import (
    COVARIANCE,
    DEFINED,
    INTERCEPT,
    LOADING,
    REGRESSION,
    ParsedModel,
    Term,
)
from core.stats.inputs import Floats, score_table

# Reading a model written as text, in the notation of lavaan.
#
#     F =~ x1 + x2 + x3    x1, x2 and x3 measure F
#     F ~~ G               F and G covary; x1 ~~ x2: their residuals covary; F ~~ F: a variance
#     x1 ~ 1               an intercept (with missing answers or several groups)
#     F ~ a*G + x4         F is explained by G and the observed x4; x1 ~ x4: so is an item
#     effect := a*2        a value computed from labelled parameters
#
# In front of a name: `0.8*` or `1*` fixes the parameter, `NA*` frees it, `a*` labels it (terms of
# one label are one parameter), `start(0.5)*` gives a start value. `#` and `!` begin a comment; a
# statement ends with its line or `;`, and continues after `+`, `=~`, `~~`, `~` or `:=`.

_OPERATOR = re.compile(r"=~|~~|~\*~|~|:=|==|<|>|=")
_NAME = re.compile(r"[^\W\d][\w.]*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_START = re.compile(r"start\(\s*([^()]*?)\s*\)")
_GOES_ON = ("+", "=~", "~~", "*", "~", ":=")
_LARGEST = 1e15  # of a fixed value or a start; beyond, nothing can be computed with it
_Key = tuple[str, str, str]
_REMEDY = "Correct the model text there."


class ModelTextError(UserError):
    """A model text cannot be read; the message names the line and the word."""


@dataclass(frozen=True)
class _Place:
    """A piece of text and the line it stands on."""

    text: str
    line: int

    def error(self, problem: str, remedy: str = _REMEDY) -> ModelTextError:
        """The message for a problem here."""
        return ModelTextError(
            f'The model text cannot be read in line {self.line} ("{self.text.strip()}"): {problem}',
            remedy,
        )


def parse_model(text: str, *, items: Sequence[str] | None = None) -> ParsedModel:
    """The model that a text describes.

    Parameters
    ----------
    text : str
        Statements in the notation above.
    items : sequence of str, optional
        Names the data hold; any other name that is not a factor is then an error.

    Returns
    -------
    ParsedModel

    Raises
    ------
    ModelTextError
        The text is empty, has a statement that cannot be read, or names an unknown item. The
        message holds the line, the word, and the nearest known name.

    Examples
    --------
    >>> model = parse_model("F =~ a + b + c  # the first factor")
    >>> model.factors, model.items
    (('F',), ('a', 'b', 'c'))
    """
    terms: dict[_Key, Term] = {}
    places: dict[str, _Place] = {}
    first_mention: dict[_Key, _Place] = {}
    definitions: dict[Definition, _Place] = {}
    for statement in _statements(text):
        operator = _OPERATOR.search(statement.text)
        if operator and operator[0] == DEFINED:
            definitions[_definition(statement)] = statement
            continue
        for term in _terms(statement):
            key = _key(term)
            first_mention.setdefault(key, statement)
            terms[key] = _merged(terms[key], term, statement) if key in terms else term
            for name in (term.left, term.right):
                if name:
                    places.setdefault(name, statement)
    factors = tuple(dict.fromkeys(t.left for t in terms.values() if t.op == LOADING))
    if not factors:
        raise ModelTextError(
            "The model text measures nothing: it has no line such as F =~ x1 + x2 + x3.",
            "Write at least one factor with its items.",
        )
    observed = tuple(name for name in places if name not in factors)
    _check_names(observed, factors, items, places)
    _check_definitions(definitions, terms.values(), places)
    loaded = [t.right for t in terms.values() if t.op == LOADING and t.right not in factors]
    order = tuple(dict.fromkeys(loaded + list(observed)))
    model = ParsedModel(text, factors, order, tuple(terms.values()), tuple(definitions))
    _check_regressions(model, first_mention)
    _check_pairs(model, first_mention)
    _check_circles(model, places)
    return model


def _statements(text: str) -> list[_Place]:
    """Statements with the line each begins on; without comments, continued lines joined."""
    out: list[_Place] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        for part in re.split("[#!]", raw)[0].split(";"):
            piece = part.strip()
            if not piece:
                continue
            if out and (out[-1].text.endswith(_GOES_ON) or piece.startswith(("+", "*"))):
                out[-1] = _Place(f"{out[-1].text} {piece}", out[-1].line)
            else:
                out.append(_Place(piece, number))
    return out


def _terms(statement: _Place) -> list[Term]:
    """The terms of one statement."""
    operator = _OPERATOR.search(statement.text)
    if operator is None:
        raise statement.error("there is no =~, ~~ or ~ in it.")
    op, left, right = (
        operator[0],
        statement.text[: operator.start()],
        statement.text[operator.end() :],
    )
    if op == "~" and re.fullmatch(r"\s*([^*]+\*)?\s*1\s*", right):
        op, right = INTERCEPT, right.rstrip().removesuffix("1").rstrip().removesuffix("*")
    elif op not in (LOADING, COVARIANCE, REGRESSION):
        raise statement.error(f"{op} is not part of a model here; use =~, ~~, ~ or :=.")
    if op == INTERCEPT:
        return [
            _with_modifier(Term(_name(n, statement), op, ""), right, statement)
            for n in left.split("+")
        ]
    return [
        _with_modifier(Term(_name(n, statement), op, _name(word, statement)), modifier, statement)
        for n in left.split("+")
        # the sign of an exponent such as 1e+3 does not divide
        for piece in re.split(r"(?<![\d.][eE])\+", right)
        for modifier, word in [_split(piece, statement)]
    ]


def _definition(statement: _Place) -> Definition:
    """The value that a statement such as `effect := a*b` defines."""
    left, _, right = statement.text.partition(DEFINED)
    definition = Definition(_name(left, statement), right.strip())
    if definition.problem:
        raise statement.error(f"behind := {definition.problem}")
    return definition


def _split(piece: str, statement: _Place) -> tuple[str, str]:
    """Modifier and name of one piece such as `a*x1`."""
    modifier, star, word = piece.rpartition("*")
    if star and not modifier.strip():
        raise statement.error("there is nothing before a *.")
    return modifier, word


def _name(word: str, statement: _Place) -> str:
    """The word, if it can be a name."""
    name = word.strip()
    if not name:
        raise statement.error("a name is missing next to an operator or a +.")
    if not _NAME.fullmatch(name):
        raise statement.error(f'"{name}" is not a name.')
    return name


def _with_modifier(term: Term, modifier: str, statement: _Place) -> Term:
    """The term with what its modifier says."""
    word = modifier.strip()
    if not word:
        return term
    if word == "NA":
        return replace(term, freed=True)
    start = _START.fullmatch(word)
    if start:
        return replace(term, start=_number(start[1], statement))
    if _NAME.fullmatch(word):
        return replace(term, label=word)
    return replace(term, fixed=_number(word, statement))


def _number(word: str, statement: _Place) -> float:
    """The word as a number."""
    if not _NUMBER.fullmatch(word):
        raise statement.error(f'"{word}" is neither a number nor a name.')
    value = float(word)
    if abs(value) > _LARGEST:
        raise statement.error(f"{word} is too large for a parameter.")
    return value


def _key(term: Term) -> _Key:
    """What makes two mentions the same parameter; the sides of ~~ may be swapped."""
    if term.op == COVARIANCE:
        first, second = sorted((term.left, term.right))
        return first, term.op, second
    return term.left, term.op, term.right


def _merged(old: Term, new: Term, statement: _Place) -> Term:
    """Both mentions of one parameter, as in `NA*x1 + a*x1`."""
    plain = replace(new, fixed=None, freed=False, label=None, start=None)
    if new == plain:
        raise statement.error(f"{new.left} {new.op} {new.right} is written twice.")
    return replace(
        old,
        fixed=old.fixed if new.fixed is None else new.fixed,
        freed=old.freed or new.freed,
        label=new.label or old.label,
        start=old.start if new.start is None else new.start,
    )


def _check_names(
    observed: tuple[str, ...],
    factors: tuple[str, ...],
    items: Sequence[str] | None,
    places: dict[str, _Place],
) -> None:
    """Refuse names the data do not hold, and factors named like an item."""
    if items is None:
        return
    in_data = set(items)
    for factor in factors:
        if factor in in_data:
            raise places[factor].error(f'the factor "{factor}" has the name of an item.')
    names = [*items, *factors]
    for name in observed:
        if name not in in_data:
            # but for its case, or for a letter or two
            near = [other for other in names if other.casefold() == name.casefold()]
            near = near or get_close_matches(name, names, n=1)
            hint = f' Did you mean "{near[0]}"?' if near else ""
            raise places[name].error(
                f'"{name}" is neither an item of the data nor a factor.{hint}',
                "Correct the name, or add a line saying what the factor is measured by.",
            )


def _check_definitions(
    definitions: dict[Definition, _Place], terms: Iterable[Term], places: dict[str, _Place]
) -> None:
    """Refuse definitions of a name that there is already, and from a label that there is not."""
    labels = list(dict.fromkeys(term.label for term in terms if term.label))
    for definition, statement in definitions.items():
        if definition.name in {*labels, *places}:
            raise statement.error(f'"{definition.name}" is the name of something else already.')
        for name in definition.names:
            if name not in labels:
                near = get_close_matches(name, labels, n=1)
                hint = f' Did you mean "{near[0]}"?' if near else ""
                raise statement.error(
                    f'"{name}" is not the label of a parameter.{hint}',
                    "Label the parameters first, for example F ~ a*G.",
                )
        if not definition.names:
            raise statement.error("it has no label of a parameter.")
        labels.append(definition.name)


def _check_regressions(model: ParsedModel, first_mention: dict[_Key, _Place]) -> None:
    """Refuse what would say something twice, and predictors that measure a factor."""
    loadings = {(t.left, t.right) for t in model.terms if t.op == LOADING}
    measuring = {item for _, item in loadings} - set(model.factors)
    explained = {right for _, right in loadings} | {t.left for t in model.regressions}
    covarying = [{t.left, t.right} for t in model.terms if t.op == COVARIANCE and t.fixed is None]
    for term in model.regressions:
        statement = first_mention[_key(term)]
        if term.left == term.right:
            raise statement.error(f'"{term.left}" is explained by itself.')
        if (term.right, term.left) in loadings:
            raise statement.error(
                f"{term.right} {LOADING} {term.left} says already that {term.right} explains "
                f"{term.left}."
            )
        if term.right in measuring:
            raise statement.error(
                f'the item "{term.right}" measures a factor, so it cannot explain something else.',
                "Write its factor instead, or take the item off the factor.",
            )
        free = term.fixed is None and term.right not in explained
        if free and {term.left, term.right} in covarying:
            raise statement.error(
                f"{term.left} ~~ {term.right} stands beside it. Where nothing explains "
                f"{term.right}, the answers cannot tell the two apart.",
                "Take one of the two out.",
            )
    for term in model.terms:
        given = set(model.covariates).intersection((term.left, term.right))
        if term.op in (COVARIANCE, INTERCEPT) and given:
            raise first_mention[_key(term)].error(
                f'means, variances and covariances of "{given.pop()}", which nothing explains, '
                "are those of the answers.",
                "Take the line out, or let ~ explain the name.",
            )


def _check_pairs(model: ParsedModel, first_mention: dict[_Key, _Place]) -> None:
    """Refuse a covariance of an item and a factor, which this kind of model has not."""
    structural = {*model.factors, *model.structural_items}
    for term in model.terms:
        if term.op == COVARIANCE and (term.left in structural) != (term.right in structural):
            raise first_mention[_key(term)].error(
                f"{term.left} ~~ {term.right} joins an item and a factor; use two items or two "
                "factors."
            )


def _check_circles(model: ParsedModel, places: dict[str, _Place]) -> None:
    """Refuse names that measure or explain each other in a circle."""
    effects: dict[str, set[str]] = {}
    for term in model.terms:
        if term.op == LOADING:
            effects.setdefault(term.left, set()).add(term.right)
        elif term.op == REGRESSION:
            effects.setdefault(term.right, set()).add(term.left)
    for name in effects:
        reached, frontier = set[str](), set(effects[name])
        while frontier:
            reached |= frontier
            frontier = {n for f in frontier for n in effects.get(f, ())} - reached
        if name in reached:
            kind = "factor" if name in model.factors else "item"
            how = "explained" if model.regressions else "measured"
            raise places[name].error(
                f'the {kind} "{name}" is {how} by itself'
                + (
                    ", over others. Inkblot fits no models with such a circle."
                    if how == "explained"
                    else "."
                ),
            )


# The items of a measurement model among the columns of the data.

MANY_ITEMS = (
    "Fit fewer items at a time: filter the subscales, or type a model that names fewer items."
)
INCOMPLETE = (
    "Use maximum likelihood on complete administrations (ML or MLR), which takes many more items. "
    f"Or fit fewer: {MANY_ITEMS[MANY_ITEMS.index('filter') :]}"
)


def check_memory(n_items: int, cells: Callable[[int], float], remedy: str) -> None:
    """Stop before a model whose arrays would not fit into memory.

    Parameters
    ----------
    n_items : int
        Items of the model.
    cells : function of a number of items
        Numbers held at a time.
    remedy : str
        What to do instead.

    Raises
    ------
    TooLarge
        They would take more than INKBLOT_MEMORY.
    """
    needed, allowed = 8 * cells(n_items), settings.from_environment()
    if needed <= allowed.memory_bytes:
        return
    most = n_items
    while most and 8 * cells(most) > allowed.memory_bytes:
        most -= 1
    raise TooLarge(
        f"The factor model has {n_items} items, and its tests would take about "
        f"{needed / 1e9:,.1f} GB of memory. INKBLOT_MEMORY allows {allowed.memory_limit}, which is "
        f"enough for {most} items here.",
        remedy,
    )


def likelihood_cells(n_rows: int, n_groups: int, per_item: float) -> Callable[[int], float]:
    """Numbers that maximum likelihood on complete rows holds at a time, by number of items.

    `per_item` is the number of free parameters for each item. Terms are copies of the rows, squares
    of the parameters, squares of the items (with the modification indices of their pairs), and a
    block of candidates for these indices; how many of each is as measured.
    """

    def cells(p: int) -> float:
        q = per_item * p
        return 6 * n_rows * p + 10 * q**2 + 45 * n_groups * p**2 + 2000 * (4 * p + 6 * q)

    return cells


def incomplete_cells(n_groups: int) -> Callable[[int], float]:
    """Numbers that full information holds at a time: information matrices of all moments.

    Examples
    --------
    By hand: 14 matrices of the 5 means, variances and covariances of two items.

    >>> incomplete_cells(1)(2)
    350.0
    """
    copies = 9 + 2 * (n_groups - 1) + 5 * n_groups**2
    return lambda p: copies * (p * (p + 3) / 2) ** 2


def weighted_cells(n_rows: int, per_item: float) -> Callable[[int], float]:
    """Numbers that tests of ordered answers hold at a time, by number of items.

    Of each pair of items what rows contribute to its correlation, how it moves with the free
    parameters, and its table.
    """

    def cells(p: int) -> float:
        during_search, during_tests = 5 * per_item * p, 2 * n_rows
        return p * (p - 1) / 2 * (n_rows + max(during_search, during_tests) + 200)

    return cells


def read_model(model: str | ParsedModel, items: Sequence[str]) -> ParsedModel:
    """The model read, if the data hold all its items.

    Raises
    ------
    ModelTextError
        The text cannot be read, or the model names an item the data do not hold.
    """
    if isinstance(model, str):
        return parse_model(model, items=items)
    unknown = [item for item in model.items if item not in items]
    if unknown:
        raise ModelTextError(
            f"The model names items the data do not hold: {', '.join(unknown)}.",
            "Choose data with these items, or take them out of the model.",
        )
    return model


def check_no_covariates(model: ParsedModel) -> None:
    """Refuse observed names in regressions of a model of ordered answers.

    Raises
    ------
    ModelTextError
        There are some.
    """
    if model.structural_items:
        raise ModelTextError(
            "Polychoric correlations leave no room for observed covariates and outcomes: "
            f"{', '.join(model.structural_items)}. WLSMV takes regressions among factors only.",
            "Choose MLR, or make an item a factor of its own, by a line such as Alone =~ item.",
        )


def model_scores(scores: npt.ArrayLike, items: Sequence[str], model: ParsedModel) -> Floats:
    """The columns of a model's items, in its order: (n, p), NaN where there is no score.

    Raises as `score_table`.
    """
    column_of = {item: column for column, item in enumerate(items)}
    return score_table(scores, items)[:, [column_of[item] for item in model.items]]


# Model texts of the usual models, which the user can edit.


def subscale_model(subscales: Mapping[str, Sequence[str]]) -> str:
    """One factor per subscale, all covarying.

    Parameters
    ----------
    subscales : mapping
        Name of the factor to its items. Subscales without items are left out.

    Returns
    -------
    str
        A model text.

    Examples
    --------
    >>> print(subscale_model({"A": ["a1", "a2"], "B": ["b1", "b2"]}))
    A =~ a1 + a2
    B =~ b1 + b2
    """
    return "\n".join(_factor(name, items) for name, items in subscales.items() if items)


def one_factor_model(items: Sequence[str], *, name: str = "General") -> str:
    """All items measure one factor.

    Examples
    --------
    >>> one_factor_model(["a", "b", "c"])
    'General =~ a + b + c'
    """
    return _factor(name, items)


def add_method_factor(text: str, reverse_keyed: Sequence[str], *, name: str = "Method") -> str:
    """The model plus a factor of the reverse-keyed items, unrelated to the other factors.

    It takes up what such items share because of their wording (a correlated trait, uncorrelated
    method model). Its variance is 1 and its first loading is free, so that a first item without
    method effect does not break the scale.

    Parameters
    ----------
    text : str
        A model text.
    reverse_keyed : sequence of str
        Items keyed against the others; at least two should be in the model.
    name : str
        Name of the added factor.

    Returns
    -------
    str
        A model text.

    Examples
    --------
    >>> print(add_method_factor("F =~ a + b + c + d", ["c", "d"]))
    F =~ a + b + c + d
    Method =~ NA*c + d
    Method ~~ 1*Method
    Method ~~ 0*F
    """
    model = parse_model(text)
    explained = {term.right for term in model.terms if term.op == LOADING}
    explained |= {term.left for term in model.regressions}
    top = [factor for factor in model.factors if factor not in explained]
    return "\n".join(
        [
            text,
            _free_factor(name, reverse_keyed),
            f"{name} ~~ 1*{name}",
            *(f"{name} ~~ 0*{factor}" for factor in top),
        ]
    )


def bifactor_model(subscales: Mapping[str, Sequence[str]], *, name: str = "General") -> str:
    """A general factor of all items and one factor per subscale, all uncorrelated.

    Every factor has variance 1 and free loadings, the usual scale for this model.

    Parameters
    ----------
    subscales : mapping
        Name of the factor to its items.
    name : str
        Name of the general factor.

    Returns
    -------
    str
        A model text.

    Examples
    --------
    >>> print(bifactor_model({"A": ["a1", "a2", "a3"]}))
    General =~ NA*a1 + a2 + a3
    A =~ NA*a1 + a2 + a3
    General ~~ 1*General
    A ~~ 1*A
    General ~~ 0*A
    """
    every = list(dict.fromkeys(item for items in subscales.values() for item in items))
    groups = {factor: items for factor, items in subscales.items() if items}
    names = [name, *groups]
    lines = [_free_factor(name, every), *(_free_factor(f, i) for f, i in groups.items())]
    lines += [f"{factor} ~~ 1*{factor}" for factor in names]
    lines += [f"{a} ~~ 0*{b}" for k, a in enumerate(names) for b in names[k + 1 :]]
    return "\n".join(lines)


def second_order_model(subscales: Mapping[str, Sequence[str]], *, name: str = "General") -> str:
    """One factor per subscale, and a factor behind these factors.

    With three subscales it fits exactly as well as covarying factors; with two it needs equal
    loadings, which the text then says.

    Examples
    --------
    >>> print(second_order_model({"A": ["a1", "a2"], "B": ["b1", "b2"]}))
    A =~ a1 + a2
    B =~ b1 + b2
    General =~ 1*A + 1*B
    """
    groups = [factor for factor, items in subscales.items() if items]
    right = " + ".join(f"1*{g}" for g in groups) if len(groups) == 2 else " + ".join(groups)
    return "\n".join([subscale_model(subscales), f"{name} {LOADING} {right}"])


def _factor(name: str, items: Sequence[str]) -> str:
    """One line of a model text."""
    return f"{name} {LOADING} {' + '.join(items)}"


def _free_factor(name: str, items: Sequence[str]) -> str:
    """One line of a model text, with the first loading free."""
    return _factor(name, [f"NA*{item}" if k == 0 else item for k, item in enumerate(items)])

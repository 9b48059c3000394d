"""Edits of a model text that keep comments, modifiers and order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.stats.factor.model import COVARIANCE, LOADING, REGRESSION, ParsedModel
from core.stats.factor.model_text import parse_model

# Where the statements of a model text stand, so that a text can be edited and stay itself.
#
# `parse_model` says what a text means; this says which characters say it. Comments and
# line breaks are never part of a statement, so that edits leave them alone.

_OPERATOR = re.compile(r"=~|~~|~|:=")
_GOES_ON = ("+", "=~", "~~", "*", "~", ":=")


@dataclass(frozen=True)
class Word:
    """A name on the right of an operator with its modifier: characters start to stop."""

    name: str
    modifier: str
    start: int
    stop: int


@dataclass(frozen=True)
class Statement:
    """One statement: characters start to stop; `name` stands on the left of `op`."""

    name: str
    op: str
    words: tuple[Word, ...]
    start: int
    stop: int


def _bare_text(text: str) -> str:
    """The text with blanks in place of comments; every character where it was."""
    out = []
    for line in text.splitlines(keepends=True):
        code = re.split("[#!]", line)[0]
        out.append(code + re.sub(r"\S", " ", line[len(code) :]))
    return "".join(out)


def _statements(text: str) -> list[Statement]:
    """The statements of a text that can be read, each with one name on its left."""
    bare = _bare_text(text)
    return [_statement(bare, start, stop) for start, stop in _spans(bare)]


def _one_name_on_the_left(text: str) -> str:
    """The text with `F + G =~ x` made `F =~ x; G =~ x`."""
    bare = _bare_text(text)
    for start, stop in reversed(_spans(bare)):
        operator = _OPERATOR.search(bare, start, stop)
        if operator is None:
            continue
        names = [name.strip() for name in bare[start : operator.start()].split("+")]
        if len(names) > 1:
            right = " ".join(bare[operator.start() : stop].replace(";", " ").split())
            gap = text[operator.start() : stop]
            more = "".join(f"; {name} {right}" for name in names[1:])
            text = f"{text[:start]}{names[0]} {gap}{more}{text[stop:]}"
    return text


def _without_characters(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text without some characters; comments stay, and lines that become empty go."""
    bare = _bare_text(text)
    removed = {k for start, stop in spans for k in range(start, stop) if not bare[k].isspace()}
    lines: list[str] = []
    position = 0
    for line in text.splitlines(keepends=True):
        here = range(position, position + len(line))
        position += len(line)
        if not removed.intersection(here):
            lines.append(line)
            continue
        rest = _tidy("".join("\0" if k in removed else text[k] for k in here))
        if rest.strip():
            lines.append(rest)
    return "".join(lines)


def _tidy(line: str) -> str:
    """A line without the marked characters, the spaces that parted them, and empty statements."""
    line = re.sub(r"\0(?:[ \t]*\0)*", "\0", line)
    line = re.sub(r"[ \t]*\0[ \t]*(?=[;\n\r]|$)", "", line)  # at an end: no space before it
    line = re.sub(r"^([ \t]*)\0[ \t]*", r"\1", line)
    line = re.sub(r"[ \t]*\0[ \t]*", " ", line)
    code = re.match(r"[^#!]*", line)
    head = code[0] if code else ""
    cleaned = re.sub(r"^[ \t]*;[ \t]*", "", re.sub(r";[ \t]*(?=;|[\n\r]|$)", "", head))
    comment = line[len(head) :]
    return f"{cleaned.rstrip()} {comment}" if comment and cleaned.strip() else cleaned + comment


def _spans(bare: str) -> list[tuple[int, int]]:
    """Start and stop of every statement; a continued one reaches over its lines."""
    spans: list[tuple[int, int]] = []
    position = 0
    for line in bare.splitlines(keepends=True):
        for match in re.finditer(r"[^;\n\r]+", line):
            piece = match[0]
            if not piece.strip():
                continue
            start = position + match.start() + len(piece) - len(piece.lstrip())
            stop = position + match.start() + len(piece.rstrip())
            goes_on = spans and bare[spans[-1][0] : spans[-1][1]].endswith(_GOES_ON)
            if spans and (goes_on or piece.lstrip().startswith(("+", "*"))):
                spans[-1] = (spans[-1][0], stop)
            else:
                spans.append((start, stop))
        position += len(line)
    return spans


def _statement(bare: str, start: int, stop: int) -> Statement:
    """One statement with its parts."""
    operator = _OPERATOR.search(bare, start, stop)
    if operator is None:
        return Statement(bare[start:stop], "", (), start, stop)
    words: list[Word] = []
    at = operator.end()
    for piece in re.split(r"(?<![\d.][eE])\+", bare[at:stop]):
        inner = piece.replace(";", " ")
        modifier, _, name = inner.rpartition("*")
        first = at + len(inner) - len(inner.lstrip())
        words.append(Word(name.strip(), modifier.strip(), first, at + len(inner.rstrip())))
        at += len(piece) + 1
    return Statement(bare[start : operator.start()].strip(), operator[0], tuple(words), start, stop)


# Edits, which keep comments, modifiers and order.
#
# Every function takes a text that `parse_model` can read, or one without statements, and returns
# one.


def assignment(text: str) -> dict[str, tuple[str, ...]]:
    """The factors that each item loads on.

    Parameters
    ----------
    text : str
        A model text; one without statements has no items.

    Returns
    -------
    dict
        Items in order of first mention; factors in theirs. Items with residuals only have none.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    model = _read(text)
    if model is None:
        return {}
    return {
        item: tuple(factor for factor in model.factors if item in model.indicators(factor))
        for item in model.items
    }


def with_item_on(text: str, item: str, factors: Sequence[str]) -> str:
    """The text with an item on these factors and on no others.

    Parameters
    ----------
    text : str
        A model text.
    item : str
        Its name in the text, or the name of an item that the text does not have yet.
    factors : sequence of str
        Names of factors; one the text has not is added. None takes the item out, residuals too.

    Returns
    -------
    str
        Modifiers stay with the loadings that stay, and a new loading has none. Where the first
        loading of a factor goes and was free (`NA*`), the next one becomes free, since the factor's
        unit is then set elsewhere. A factor without items goes, with all its statements.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    now = assignment(text).get(item, ())
    if factors and set(now) == set(factors):
        return text
    text = _one_name_on_the_left(text)
    for factor in now:
        if factor not in factors:
            text = _without_loading(text, factor, item)
    for factor in dict.fromkeys(factors):
        if factor not in now:
            text = _with_loading(text, factor, item)
    return text if factors else _without_name(text, item)


def move_item(text: str, item: str, source: str, target: str) -> str:
    """The text with an item on one factor in the place of another; other loadings of it stay.

    An empty source is that of an item that loads on no factor yet.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    others = [factor for factor in assignment(text).get(item, ()) if factor != source]
    return with_item_on(text, item, (*others, target))


def with_cross_loading(text: str, item: str, factor: str) -> str:
    """The text with an item on one factor more.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    return with_item_on(text, item, (*assignment(text).get(item, ()), factor))


def without_loading(text: str, item: str, factor: str) -> str:
    """The text with an item on one factor less; from its only factor it leaves the model.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    return with_item_on(text, item, [f for f in assignment(text).get(item, ()) if f != factor])


def residual_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of items whose residuals may covary, as written; not those fixed at 0.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    model = _read(text)
    if model is None:
        return ()
    return tuple(
        (t.left, t.right)
        for t in model.terms
        if t.op == COVARIANCE and t.left != t.right and t.left in model.items and t.fixed != 0
    )


def with_residual(text: str, a: str, b: str) -> str:
    """The text in which the residuals of two items may covary; one that says so already stays.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    if {a, b} in [set(pair) for pair in residual_pairs(text)]:
        return text
    return _with_line(without_residual(text, a, b), f"{a} {COVARIANCE} {b}")


def without_residual(text: str, a: str, b: str) -> str:
    """The text that says nothing of a covariance of the residuals of two items.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    model = _read(text)
    if model is None or not any(
        t.op == COVARIANCE and {t.left, t.right} == {a, b} for t in model.terms
    ):
        return text
    return _without_words(
        _one_name_on_the_left(text),
        lambda s, word: s.op == COVARIANCE and {s.name, word.name} == {a, b},
    )


def regressions(text: str) -> tuple[tuple[str, str], ...]:
    """Outcome and predictor of each regression, as written.

    Raises
    ------
    ModelTextError
        The text cannot be read.
    """
    model = _read(text)
    return tuple((t.left, t.right) for t in model.regressions) if model else ()


def with_regression(text: str, outcome: str, predictor: str) -> str:
    """The text in which a factor or item explains another; one that says so already stays.

    A covariance of the two goes, because the answers cannot tell it from the regression.

    Raises
    ------
    ModelTextError
        The text cannot be read, or the names cannot be related in this way.
    """
    if (outcome, predictor) in regressions(text):
        return text
    changed = without_residual(text, outcome, predictor)
    changed = _with_line(changed, f"{outcome} {REGRESSION} {predictor}")
    parse_model(changed)
    return changed


def without_regression(text: str, outcome: str, predictor: str) -> str:
    """The text in which one name does not explain another.

    Raises
    ------
    ModelTextError
        The text cannot be read, or a definition has the label of the regression.
    """
    changed = _without_words(
        _one_name_on_the_left(text),
        lambda s, word: s.op == REGRESSION and s.name == outcome and word.name == predictor,
    )
    parse_model(changed)
    return changed


def _read(text: str) -> ParsedModel | None:
    """The model; None where the text has no statement."""
    return parse_model(text) if _statements(text) else None


def _with_line(text: str, line: str) -> str:
    """The text with a line at its end."""
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}"


def _with_loading(text: str, factor: str, item: str) -> str:
    """The text with an item more on a factor, behind the others."""
    statements = [s for s in _statements(text) if s.op == LOADING and s.name == factor]
    if not statements:
        return _with_line(text, f"{factor} {LOADING} {item}")
    stop = statements[-1].stop
    return f"{text[:stop]} + {item}{text[stop:]}"


def _without_loading(text: str, factor: str, item: str) -> str:
    """The text with an item less on a factor; without the factor if that leaves it nothing."""
    words = [w for s in _statements(text) if s.op == LOADING and s.name == factor for w in s.words]
    others = [word for word in words if word.name != item]
    was_free = any(word.modifier == "NA" for word in words if word.name == item)
    if others and words[0].name == item and was_free:
        text = _freed(text, others[0], others)
    text = _without_words(
        text, lambda s, word: s.op == LOADING and s.name == factor and word.name == item
    )
    return text if others else _without_name(text, factor)


def _freed(text: str, first: Word, words: Sequence[Word]) -> str:
    """The text with NA* before a word, unless its value is fixed or free already."""
    modifiers = {word.modifier for word in words if word.name == first.name}
    if "NA" in modifiers or any(_is_number(modifier) for modifier in modifiers):
        return text
    more = f"NA*{first.name} + " if first.modifier else "NA*"
    return f"{text[: first.start]}{more}{text[first.start :]}"


def _is_number(modifier: str) -> bool:
    """Whether a modifier fixes a value."""
    try:
        float(modifier)
    except ValueError:
        return False
    return True


def _without_name(text: str, name: str) -> str:
    """The text that says nothing of a name; factors that this empties go too."""
    before = {s.name for s in _statements(text) if s.op == LOADING}
    spans = [(s.start, s.stop) for s in _statements(text) if s.name == name]
    text = _without_characters(text, spans)
    text = _without_words(text, lambda statement, word: word.name == name)
    after = {s.name for s in _statements(text) if s.op == LOADING}
    for emptied in sorted(before - after - {name}):
        text = _without_name(text, emptied)
    return text


def _without_words(text: str, is_it: Callable[[Statement, Word], bool]) -> str:
    """The text without some words; a statement that has no others goes whole."""
    spans: list[tuple[int, int]] = []
    for statement in _statements(text):
        removed = [k for k, word in enumerate(statement.words) if is_it(statement, word)]
        if removed and len(removed) == len(statement.words):
            spans.append((statement.start, statement.stop))
        else:
            spans += _words_with_signs(text, statement, removed)
    return _without_characters(text, spans)


def _words_with_signs(
    text: str, statement: Statement, removed: Sequence[int]
) -> list[tuple[int, int]]:
    """Characters of some words of a statement, and of a plus sign next to each."""
    spans: list[tuple[int, int]] = []
    signs = _signs(text, statement)
    for k in removed:
        word = statement.words[k]
        spans.append((word.start, word.stop))
        sides = [side for side in (k - 1, k) if side in signs]
        # A sign on the word's own line, so that what stands on other lines keeps its sign.
        near = [side for side in sides if not _line_between(text, signs[side], word)]
        side = [*near, *sides, *sorted(side for side in signs if side < k)[-1:]][0]
        spans.append((signs[side], signs[side] + 1))
        del signs[side]
    return spans


def _signs(text: str, statement: Statement) -> dict[int, int]:
    """Position of the plus sign after each word but the last."""
    bare = _bare_text(text)
    return {
        k: bare.find("+", word.stop, following.start)
        for k, (word, following) in enumerate(pairwise(statement.words))
    }


def _line_between(text: str, sign: int, word: Word) -> bool:
    """Whether a line ends between a sign and a word."""
    start, stop = (sign, word.start) if sign < word.start else (word.stop, sign)
    return len(text[start:stop].splitlines()) > 1

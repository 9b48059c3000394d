"""Where the statements of a model text stand, so that a text can be edited and stay itself.

`cfa_syntax.parse_model` says what a text means; this says which characters say it. Comments and
line breaks are never part of a statement, so that edits leave them alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OPERATOR = re.compile(r"=~|~~|~")
_GOES_ON = ("+", "=~", "~~", "*", "~")


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


def bare_text(text: str) -> str:
    """The text with blanks in place of comments; every character where it was."""
    out = []
    for line in text.splitlines(keepends=True):
        code = re.split("[#!]", line)[0]
        out.append(code + re.sub(r"\S", " ", line[len(code) :]))
    return "".join(out)


def statements(text: str) -> list[Statement]:
    """The statements of a text that can be read, each with one name on its left."""
    bare = bare_text(text)
    return [_statement(bare, start, stop) for start, stop in _spans(bare)]


def one_name_on_the_left(text: str) -> str:
    """The text with `F + G =~ x` made `F =~ x; G =~ x`."""
    bare = bare_text(text)
    for start, stop in reversed(_spans(bare)):
        found = _OPERATOR.search(bare, start, stop)
        if found is None:
            continue
        names = [name.strip() for name in bare[start : found.start()].split("+")]
        if len(names) > 1:
            right = " ".join(bare[found.start() : stop].replace(";", " ").split())
            gap = text[found.start() : stop]
            more = "".join(f"; {name} {right}" for name in names[1:])
            text = f"{text[:start]}{names[0]} {gap}{more}{text[stop:]}"
    return text


def without_characters(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text without some characters; comments stay, and lines that become empty go."""
    bare = bare_text(text)
    gone = {k for start, stop in spans for k in range(start, stop) if not bare[k].isspace()}
    lines: list[str] = []
    position = 0
    for line in text.splitlines(keepends=True):
        here = range(position, position + len(line))
        position += len(line)
        if not gone.intersection(here):
            lines.append(line)
            continue
        rest = _tidy("".join("\0" if k in gone else text[k] for k in here))
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
    kept = re.sub(r"^[ \t]*;[ \t]*", "", re.sub(r";[ \t]*(?=;|[\n\r]|$)", "", head))
    comment = line[len(head) :]
    return f"{kept.rstrip()} {comment}" if comment and kept.strip() else kept + comment


def _spans(bare: str) -> list[tuple[int, int]]:
    """Start and stop of every statement; a continued one reaches over its lines."""
    spans: list[tuple[int, int]] = []
    position = 0
    for line in bare.splitlines(keepends=True):
        for found in re.finditer(r"[^;\n\r]+", line):
            piece = found[0]
            if not piece.strip():
                continue
            start = position + found.start() + len(piece) - len(piece.lstrip())
            stop = position + found.start() + len(piece.rstrip())
            goes_on = spans and bare[spans[-1][0] : spans[-1][1]].endswith(_GOES_ON)
            if spans and (goes_on or piece.lstrip().startswith(("+", "*"))):
                spans[-1] = (spans[-1][0], stop)
            else:
                spans.append((start, stop))
        position += len(line)
    return spans


def _statement(bare: str, start: int, stop: int) -> Statement:
    """One statement taken apart."""
    found = _OPERATOR.search(bare, start, stop)
    if found is None:
        return Statement(bare[start:stop], "", (), start, stop)
    words: list[Word] = []
    at = found.end()
    for piece in re.split(r"(?<![\d.][eE])\+", bare[at:stop]):
        inner = piece.replace(";", " ")
        modifier, _, name = inner.rpartition("*")
        first = at + len(inner) - len(inner.lstrip())
        words.append(Word(name.strip(), modifier.strip(), first, at + len(inner.rstrip())))
        at += len(piece) + 1
    return Statement(bare[start : found.start()].strip(), found[0], tuple(words), start, stop)

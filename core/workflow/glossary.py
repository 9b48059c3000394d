"""The glossary: what the words of Inkblot mean, read from docs/glossary.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from core.settings import ROOT

_TERM = re.compile(
    r"(?P<meaning>.+?)\n\n\*Example:\* (?P<example>.+?)\n\n\*Pages:\* (?P<pages>.+)", re.DOTALL
)


@dataclass(frozen=True)
class Term:
    """A word, its meaning in one or two sentences, an example, and the pages that use it."""

    name: str
    group: str
    meaning: str
    example: str
    pages: tuple[str, ...]

    @property
    def anchor(self) -> str:
        """The end of an address that leads to the term: "unit-of-analysis"."""
        return self.name.lower().replace(" ", "-")

    def mentions(self, words: str) -> bool:
        """Whether every one of some words stands in the term."""
        text = " ".join((self.name, self.meaning, self.example)).casefold()
        return all(word in text for word in words.casefold().split())


@cache
def terms() -> tuple[Term, ...]:
    """All terms, in the order of the page.

    Raises
    ------
    ValueError
        A term lacks its meaning, its example or its pages.
    """
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    return tuple(
        _term(group, *term.split("\n", 1))
        for group, *parts in (section.split("\n### ") for section in text.split("\n## ")[1:])
        for term in parts
    )


def meaning(name: str) -> str:
    """What a word means, for a tooltip."""
    return next(term.meaning for term in terms() if term.name == name)


def _term(group: str, name: str, body: str) -> Term:
    parts = _TERM.fullmatch(body.strip())
    if parts is None:
        raise ValueError(f"docs/glossary.md: the term '{name}' is not complete")
    sense, example = (" ".join(parts[key].split()) for key in ("meaning", "example"))
    pages = tuple(parts["pages"].strip().split(", "))
    return Term(name.strip(), group.strip(), sense, example, pages)

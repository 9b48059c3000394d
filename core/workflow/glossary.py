"""The glossary: the words of Inkblot, read from docs/glossary.md, and the columns of items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from core.domain.instrument import ITEM_COLUMNS
from core.settings import ROOT

_GROUP_OF_ITEMS = "The questionnaire"
_TERM = re.compile(
    r"(?P<meaning>.+?)\n\n\*Example:\* (?P<example>.+?)\n\n\*Pages:\* (?P<pages>.+)", re.DOTALL
)


@dataclass(frozen=True)
class GlossaryTerm:
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
def terms() -> tuple[GlossaryTerm, ...]:
    """All terms, in the order of the page; the columns of items follow the terms of their group.

    Raises
    ------
    ValueError
        A term lacks its meaning, its example or its pages.
    """
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms_of_docs = [
        _term(group, *term.split("\n", 1))
        for group, *parts in (section.split("\n### ") for section in text.split("\n## ")[1:])
        for term in parts
    ]
    columns = [
        GlossaryTerm(column.title, _GROUP_OF_ITEMS, column.help, column.example, ("Banks",))
        for column in ITEM_COLUMNS.values()
        if column.example
    ]
    groups = [term.group for term in terms_of_docs]
    return tuple(sorted([*terms_of_docs, *columns], key=lambda term: groups.index(term.group)))


def meaning(name: str) -> str:
    """What a word means, for a tooltip."""
    return next(term.meaning for term in terms() if term.name == name)


def _term(group: str, name: str, body: str) -> GlossaryTerm:
    parts = _TERM.fullmatch(body.strip())
    if parts is None:
        raise ValueError(f"docs/glossary.md: the term '{name}' is not complete")
    sense, example = (" ".join(parts[key].split()) for key in ("meaning", "example"))
    pages = tuple(parts["pages"].strip().split(", "))
    return GlossaryTerm(name.strip(), group.strip(), sense, example, pages)

"""Chinese in simplified characters: words and tags of jieba's dictionary, by rjieba.

jieba cuts a text into words and gives each the commonest tag that its dictionary has. A word that
the dictionary does not have may be found, but gets no part of speech. Verbs used as nouns (its tag
vn) are verbs here, as in data/make_word_lists.py. Checked against the treebank GSDSimp of Universal
Dependencies: docs/word_lists.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import rjieba

from core.workflow.banks.word_lists.taggers import Genre, TaggedReading

_GENRE_OF: Mapping[str, Genre] = MappingProxyType(
    {"n": "noun", "v": "verb", "vi": "verb", "vn": "verb"}
)
_NAMES = ("nr", "ns", "nt", "nz")  # people, places, institutions, others
_UNKNOWN = "x"
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")
_AUXILIARIES = frozenset(
    {
        "是",
        "为",
        "有",
        "没",
        "没有",
        "无",
        "能",
        "能够",
        "会",
        "可",
        "可以",
        "可能",
        "应",
        "应该",
        "应当",
        "该",
        "必须",
        "须",
        "要",
        "得",
        "使",
        "使得",
        "让",
        "令",
        "被",
        "给",
        "把",
    }
)
"""Words that jieba tags as verbs and that say nothing by themselves: be, have, can, must, let."""


class _Chinese:
    packages = ("rjieba",)
    guesses = False

    def tag(self, text: str) -> Iterator[tuple[str, str]]:
        return ((token, tag) for token, tag in rjieba.tag(text) if any(map(str.isalnum, token)))

    def read(self, token: str, tag: str) -> TaggedReading:
        if not any(map(str.isalpha, token)):
            return TaggedReading(token, "number")
        if not _HAN.fullmatch(token):
            return TaggedReading(token.lower(), "sign" if _HAN.search(token) else "script")
        if tag.startswith(_NAMES):
            return TaggedReading(token, "name")
        if tag == _UNKNOWN:
            return TaggedReading(token, "unknown", known=False)
        if token in _AUXILIARIES:
            return TaggedReading(token, "other")
        return TaggedReading(token, _GENRE_OF.get(tag, "other"))


TAGGER = _Chinese()

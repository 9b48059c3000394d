"""Search: pages, analyses, things to do, questions, studies and words of the glossary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Literal

from core.workflow import glossary
from core.workflow.workspace import Workspace

_KEYWORD, _EXPLANATION = 0.95, 0.3
"""How much it counts that words stand in a keyword or an explanation."""
_TITLES = {"page": 1.0, "analysis": 1.0, "study": 1.0, "action": 0.9, "term": 0.85, "question": 0.8}
"""How much it counts that they stand in a title, by the kind of what has it."""
_WHOLE_TITLE = 0.15
"""How much it counts in addition that the words are the whole title."""
_BEGINNING = 0.7
"""How much the beginning of a word counts, of the whole word."""
_OTHER_WORDS = 0.4
"""How much of a phrase's worth depends on how many of its words are searched for."""
_SHORTEST_BEGINNING = 2
_UNIMPORTANT = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "many",
        "me",
        "much",
        "my",
        "of",
        "on",
        "one",
        "or",
        "our",
        "show",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    )
)


@dataclass(frozen=True)
class SearchEntry:
    """Something to find: `page` is the name of its page in addresses; home has none.

    `analysis` and `study` are those that the page opens with.
    """

    kind: Literal["page", "analysis", "action", "question", "study", "term"]
    title: str
    page: str
    explanation: str
    keywords: tuple[str, ...] = ()
    analysis: str = ""
    study: str = ""


_ACTIONS = (
    ("Take the guided tour", "home", "In one minute.", ("introduction", "help", "first steps")),
    (
        "Load the sample studies",
        "home",
        "In one click, with every page ready.",
        ("tour", "example"),
    ),
    ("Write or paste items", "banks", "A bank of your own.", ("new bank", "new questionnaire")),
    ("Translate a bank", "banks", "In the grid of items.", ("new language",)),
    ("Write personas", "contexts", "Or import them from a file.", ("new persona",)),
    ("Add a model", "respondents", "With its service and settings.", ("new respondent", "connect")),
    ("Test the connection to a model", "respondents", "One call.", ("check a key",)),
    (
        "Start a new study",
        "design",
        "Choose what is asked of whom, and freeze it.",
        ("new design",),
    ),
    (
        "Find out how many answers are enough",
        "precision",
        "By simulation.",
        ("sample size", "power"),
    ),
    ("Start, pause or continue a run", "collect", "And set a cost cap.", ("resume", "stop")),
    ("Read single replies", "answers", "As the models wrote them.", ("verbatim", "raw replies")),
    ("Code replies by hand", "audit", "And see the agreement.", ("code a reply",)),
    (
        "Import answers",
        "import_export",
        "From a file or package.",
        ("upload", "excel", "spss", "csv"),
    ),
    (
        "Export answers",
        "import_export",
        "A row for each person or answer.",
        ("download", "spss", "csv"),
    ),
    ("Make a report", "report", "HTML and Word.", ("write up", "paper", "docx")),
    ("Repeat a published study", "replications", "Beside the printed numbers.", ("replicate",)),
)


@cache
def action_entries() -> tuple[SearchEntry, ...]:
    """What people want to do, with the page where it is done."""
    return tuple(SearchEntry("action", *one) for one in _ACTIONS)


@cache
def question_entries() -> tuple[SearchEntry, ...]:
    """The questions of Home, with the analyses that answer them."""
    from core.workflow import next_steps  # reads studies, which the side of a page need not

    return tuple(
        SearchEntry("question", one.words, one.page, "A question of Home.", (), one.analysis)
        for one in next_steps.QUESTIONS
    )


def study_entries(workspace: Workspace) -> tuple[SearchEntry, ...]:
    """The studies that are not put away, each by its name; they open on the page Answers."""
    from core.workflow.designs import studies

    return tuple(
        SearchEntry("study", title or code, "answers", "A study.", (code,), study=code)
        for code, title in studies.names(workspace)
    )


@cache
def analysis_entries() -> tuple[SearchEntry, ...]:
    """Every analysis, with its question as the explanation."""
    # Analyses load scipy and altair, which the side of a page without a search does not need.
    from core.workflow.statistics import analyses

    return tuple(
        SearchEntry("analysis", one.title, one.topic, one.question, one.keywords, one.name)
        for one in analyses.all_analyses()
    )


@cache
def term_entries() -> tuple[SearchEntry, ...]:
    """Every word of the glossary, with its meaning as the explanation."""
    return tuple(
        SearchEntry("term", term.name, "glossary", term.meaning) for term in glossary.terms()
    )


def find(text: str, entries: Iterable[SearchEntry], *, most: int = 8) -> tuple[SearchEntry, ...]:
    """The entries that fit a text best, best first; of equal ones, the earlier.

    Every important word of the text, or its beginning, stands in an entry. Where no entry has all
    of them, the entries that have most are found. A word that stands nowhere is taken for the most
    similar one there is, so that a slip of the finger is forgiven.
    """
    listed = tuple(entries)
    wanted = [_known_word(word, listed) for word in _words(text)]
    if not wanted:
        return ()
    scored = [(*_fit(wanted, entry), -place, entry) for place, entry in enumerate(listed)]
    most_words = max((n_words for n_words, *_ in scored), default=0)
    if most_words < len(wanted) / 2:
        return ()
    best = sorted(
        (one[1:] for one in scored if one[0] == most_words), key=lambda one: one[:2], reverse=True
    )
    return _without_repeats(entry for _, _, entry in best)[:most]


def _without_repeats(entries: Iterable[SearchEntry]) -> tuple[SearchEntry, ...]:
    """The entries without those that have the title and the page of an earlier one."""
    by_place: dict[tuple[str, str, str], SearchEntry] = {}
    for entry in entries:
        by_place.setdefault((entry.title, entry.page, entry.study), entry)
    return tuple(by_place.values())


def _fit(wanted: Sequence[str], entry: SearchEntry) -> tuple[int, float]:
    """How many of the wanted words an entry has, and how well its best phrases fit them."""
    phrases = _phrases(entry)
    matches = [[_match(word, phrase) for word in wanted] for _, phrase in phrases]
    each_word = [
        max(weight * match[place] for (weight, _), match in zip(phrases, matches, strict=True))
        for place in range(len(wanted))
    ]
    best_phrase = max(
        weight
        * (sum(match) / len(wanted))
        * (1 - _OTHER_WORDS + _OTHER_WORDS * min(1.0, sum(match) / max(1, len(phrase))))
        for (weight, phrase), match in zip(phrases, matches, strict=True)
    )
    whole = _WHOLE_TITLE * (sorted(wanted) == sorted(phrases[0][1]))
    fit = best_phrase + sum(each_word) / len(wanted) + whole
    return sum(value > 0 for value in each_word), fit


@cache
def _phrases(entry: SearchEntry) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """The texts of an entry as words, with what they count."""
    return (
        (_TITLES[entry.kind], _words(entry.title)),
        *((_KEYWORD, _words(keyword)) for keyword in entry.keywords),
        # Letters of formulas are no words to search for.
        (_EXPLANATION, tuple(word for word in _words(entry.explanation) if len(word) > 1)),
    )


def _match(word: str, phrase: Sequence[str]) -> float:
    """1 where a phrase has the word, less where it has only a word that begins so, or 0."""
    if word in phrase:
        return 1.0
    if len(word) < _SHORTEST_BEGINNING:
        return 0.0
    return _BEGINNING if any(other.startswith(word) for other in phrase) else 0.0


def _known_word(word: str, entries: Sequence[SearchEntry]) -> str:
    """The word, or the most similar one that stands in an entry."""
    known = {other for entry in entries for _, phrase in _phrases(entry) for other in phrase}
    if len(word) < 4 or any(other.startswith(word) for other in known):
        return word
    return next(iter(get_close_matches(word, sorted(known), n=1, cutoff=0.75)), word)


def _words(text: str) -> tuple[str, ...]:
    """The important words of a text, each as its simplest form."""
    spelt = unicodedata.normalize("NFKD", text.casefold().replace("'s", "").replace("’s", ""))
    letters = "".join(letter for letter in spelt if not unicodedata.combining(letter))
    words = re.findall(r"\w+", letters)
    important = [word for word in words if word not in _UNIMPORTANT] or words
    return tuple(_simple(word) for word in important)


def _simple(word: str) -> str:
    """A word without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word

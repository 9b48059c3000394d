"""Word lists: count the nouns and verbs of texts, choose the most frequent, make a bank of them.

Texts are tagged once; what is counted is kept, so that every other choice is made anew in a moment.
Counts do not depend on the order of the texts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import BinaryIO

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, ResponseFormat, Wording
from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.values import name_fault, slug
from core.errors import BankError, FileError
from core.files.banks import writing
from core.files.banks.reading import ImportedBank
from core.files.corpus import PLAIN_TEXT, TEXT_COLUMN, Corpus
from core.files.tables import MAX_ROWS_BANK
from core.store.banks import DraftState
from core.workflow.banks import editing
from core.workflow.banks.word_lists.taggers import (
    GENRES,
    LANGUAGES,
    Genre,
    TaggedReading,
    source_of,
    tagger_of,
)
from core.workflow.workspace import Workspace

__all__ = ["GENRES", "LANGUAGES", "Corpus"]

WORD_PAIRS = ("comedy_tragedy", "good_bad", "enjoyable_unpleasant")
"""The response formats of the bank, as in the word lists that come with Inkblot."""
MOST_WORDS = MAX_ROWS_BANK
"""The most words of a list, which is the most items of a bank file."""
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "other": "other parts of speech, auxiliaries among them",
        "name": "names",
        "number": "numbers in digits",
        "sign": "words with digits, hyphens or other signs",
        "script": "words of another script",
        "unknown": "words that the dictionary does not have",
        "listed": "words of your list",
        "short": "words that are too short",
        "genre": "nouns or verbs that you do not ask for",
        "rare": "words below the lowest count",
        "rest": "words after the last rank",
    }
)
"""Why a word is not in the list: code and words, in the order in which they are looked at."""
MAX_CHARACTERS = 100_000_000
"""The most characters of all texts together."""

_USUAL_COLUMNS = (
    TEXT_COLUMN,
    "content",
    "body",
    "document",
    "review",
    "comment",
    "message",
    "tweet",
    "abstract",
)
_HEAD_ROWS = 50
_SHOW_EVERY = 500
_EXAMPLES = 5
_LONGEST_EXAMPLE = 30
_LONGEST_WORD = 60
_NAMED_FILES = 5

Show = Callable[[float], object]


@dataclass(frozen=True)
class WordFile:
    """A file of texts, and the column that holds them ("text" for a plain text)."""

    corpus: Corpus
    column: str


@dataclass(frozen=True)
class ListCounts:
    """How often each token with each of its tags stands in the texts.

    `n_without_text` counts rows whose column is empty or no text; `files` are the names of the
    files with the first digits of their SHA-256.
    """

    language: str
    tokens: Mapping[tuple[str, str], int]
    n_texts: int
    n_without_text: int
    files: tuple[str, ...]

    @property
    def n_tokens(self) -> int:
        """Tokens with a letter or digit."""
        return sum(self.tokens.values())

    @property
    def n_words(self) -> int:
        """Distinct tokens, upper and lower case as one."""
        return len({token.casefold() for token, _ in self.tokens})


@dataclass(frozen=True)
class WordChoices:
    """Which of the counted words make the list.

    With `one_genre` a word that is both a noun and a verb stands once, as what it is more often (as
    a noun if equally often), with the count of both; otherwise each stands by itself.
    """

    genres: tuple[str, ...] = GENRES
    top: int = 5000
    least_count: int = 1
    least_length: int = 2
    leave_out: str = ""  # base forms, separated by blanks, commas or line breaks
    one_genre: bool = True
    unknown_words: bool = False


@dataclass(frozen=True)
class ListedWord:
    """A base form with its count. Ranks of equal counts follow the alphabet."""

    text: str
    genre: str
    count: int
    rank: int


@dataclass(frozen=True)
class LeftOut:
    """What was left out for one reason: how often, how many words, and the most frequent ones."""

    reason: str  # a code of REASONS
    n_tokens: int
    n_words: int
    examples: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The reason with its numbers and examples."""
        return (
            f"{REASONS[self.reason]}: {count_text(self.n_words, 'word')}, "
            f"{count_text(self.n_tokens, 'token')} ({', '.join(self.examples)})"
        )


@dataclass(frozen=True)
class WordList:
    """The words of a list, most frequent first, and what was left out."""

    counts: ListCounts
    choices: WordChoices
    words: tuple[ListedWord, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def summary(self) -> str:
        """How many words the list has, and how many the texts."""
        nouns = sum(word.genre == "noun" for word in self.words)
        return (
            f"{count_text(nouns, 'noun')} and {count_text(len(self.words) - nouns, 'verb')} from "
            f"{count_text(self.counts.n_texts, 'text')} with "
            f"{count_text(self.counts.n_tokens, 'token')} and "
            f"{count_text(self.counts.n_words, 'distinct word')}"
        )


# Reading: the column of texts, and the tokens of every text.


def open_texts(name: str, stream: BinaryIO, column: str = "") -> tuple[WordFile, tuple[str, ...]]:
    """A file with its column of texts, and all its columns that can be meant.

    Without `column`, a usual name such as "text" is taken, or else the column with most text.

    Raises
    ------
    FileError
        The file cannot be read, has no row, or no such column.
    """
    corpus = Corpus(name, stream, plain_text=True)
    rows = corpus.head(_HEAD_ROWS)
    if not rows:
        raise FileError(f"{name}: there is no text.", "Choose a file with texts.")
    if corpus.kind == PLAIN_TEXT:
        return WordFile(corpus, TEXT_COLUMN), (TEXT_COLUMN,)
    lengths: dict[str, int] = {}
    for row in rows:
        for key, value in row.values.items():
            if isinstance(value, str):
                lengths[key] = lengths.get(key, 0) + len(value)
    if not lengths:
        raise FileError(f"{name}: no column holds texts.", "Choose a file with a column of texts.")
    if column and column not in lengths:
        raise FileError(
            f"{name}: there is no column '{column}' with texts.",
            f"Choose one of: {', '.join(list(lengths)[:12])}.",
        )
    usual = {key.strip().lower(): key for key in reversed(lengths)}
    guess = next((usual[key] for key in _USUAL_COLUMNS if key in usual), "")
    return WordFile(corpus, column or guess or max(lengths, key=lengths.__getitem__)), tuple(
        lengths
    )


def count_words(
    files: Sequence[WordFile], language: str, show: Show = lambda share: None
) -> ListCounts:
    """Tag every text and count its tokens. `show` gets the share that is done, 0 to 1.

    Raises
    ------
    BankError
        The language has no tagger.
    FileError
        A file cannot be read, or there are more than MAX_CHARACTERS characters.
    """
    tagger = tagger_of(language)
    tokens: Counter[tuple[str, str]] = Counter()
    n_characters = n_texts = n_without = 0
    for number, file in enumerate(files):
        n_rows = 0
        for row in file.corpus.rows((file.column,)):
            text = row.values.get(file.column)
            if not isinstance(text, str) or not text.strip():
                n_without += file.corpus.kind != PLAIN_TEXT
                continue
            n_characters += len(text)
            if n_characters > MAX_CHARACTERS:
                raise FileError(
                    f"The texts have more than {MAX_CHARACTERS:,} characters.",
                    "Take fewer or shorter texts, such as a sample.",
                )
            tokens.update(tagger.tag(text))
            n_rows += 1
            if n_rows % _SHOW_EVERY == 0 or file.corpus.kind == PLAIN_TEXT:
                show((number + file.corpus.share_read) / len(files))
        n_texts += min(n_rows, 1) if file.corpus.kind == PLAIN_TEXT else n_rows
    names = tuple(f"{f.corpus.name} (SHA-256 {f.corpus.sha256()[:12]})" for f in files)
    return ListCounts(language, tokens, n_texts, n_without, names)


# Choosing: base forms, genres, ranks, and what is left out.


@dataclass
class _Tally:
    """Counts by base form and genre, and by reason and word."""

    words: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    left_out: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def choose_words(counts: ListCounts, choices: WordChoices) -> WordList:
    """The most frequent words by these choices.

    Every token is counted once: in the list, or with the reason why it is left out.

    Raises
    ------
    BankError
        No genre is chosen, a number is out of range, or no word is left; names the reason.
    """
    _check(choices)
    tagger, stop, tally = tagger_of(counts.language), _stop_words(choices.leave_out), _Tally()
    for (token, tag), count in counts.tokens.items():
        reading = tagger.read(token, tag)
        reason = _reason(reading, choices, stop)
        if reason:
            tally.left_out[reason][reading.base] += count
        else:
            tally.words[reading.base][reading.genre] += count
    ranked = sorted(_entries(tally, choices), key=lambda entry: (-entry[2], entry[0], entry[1]))
    frequent = [entry for entry in ranked if entry[2] >= choices.least_count]
    for base, _, count in ranked[len(frequent) :]:
        tally.left_out["rare"][base] += count
    for base, _, count in frequent[choices.top :]:
        tally.left_out["rest"][base] += count
    words = tuple(ListedWord(*entry, rank) for rank, entry in enumerate(frequent[: choices.top], 1))
    left_out = tuple(_left_out(r, tally.left_out[r]) for r in REASONS if tally.left_out[r])
    if not words:
        largest = max(left_out, key=lambda one: one.n_tokens, default=None)
        raise BankError(
            "No word is left for the list."
            + (f" Most tokens are {REASONS[largest.reason]}." if largest else ""),
            f"Choose the language of the texts (now {language_name(counts.language)}), other "
            "texts, or leave out less.",
        )
    return WordList(counts, choices, words, left_out)


def _check(choices: WordChoices) -> None:
    if not choices.genres or set(choices.genres) - set(GENRES):
        raise BankError("No part of speech is chosen.", f"Choose from: {', '.join(GENRES)}.")
    if not 1 <= choices.top <= MOST_WORDS:
        raise BankError(
            f"A list of {choices.top:,} words cannot be made.",
            f"Choose a number from 1 to {MOST_WORDS:,}.",
        )


def _stop_words(text: str) -> frozenset[str]:
    return frozenset(text.replace(",", " ").replace("，", " ").casefold().split())


def _reason(reading: TaggedReading, choices: WordChoices, stop: frozenset[str]) -> str:
    """Why a token is left out before anything is counted; empty where it is a noun or verb."""
    if reading.genre not in GENRES:
        return reading.genre
    if not reading.known and not choices.unknown_words:
        return "unknown"
    if reading.base.casefold() in stop:
        return "listed"
    if len(reading.base) < choices.least_length:
        return "short"
    return "sign" if len(reading.base) > _LONGEST_WORD else ""


def _entries(tally: _Tally, choices: WordChoices) -> Iterator[tuple[str, Genre, int]]:
    """Base form, genre and count of every entry; what is not asked for goes to the tally."""
    for base, by_genre in tally.words.items():
        entries: list[tuple[Genre, int]] = [(g, by_genre[g]) for g in GENRES if by_genre[g]]
        if choices.one_genre:
            commoner = max(entries, key=lambda entry: entry[1])[0]  # the first of equals: noun
            entries = [(commoner, by_genre.total())]
        for genre, count in entries:
            if genre in choices.genres:
                yield base, genre, count
            else:
                tally.left_out["genre"][base] += count


def _left_out(reason: str, words: Counter[str]) -> LeftOut:
    commonest = sorted(words, key=lambda word: (-words[word], word))[:_EXAMPLES]
    examples = tuple(
        word if len(word) <= _LONGEST_EXAMPLE else f"{word[:_LONGEST_EXAMPLE]}…"
        for word in commonest
    )
    return LeftOut(reason, words.total(), len(words), examples)


# The bank of a list.


def title_of(counts: ListCounts) -> str:
    """A title for a bank of these counts, from the name of the first file."""
    name = counts.files[0].rpartition(" (")[0].split(".")[0]
    more = len(counts.files) - 1
    others = f" and {count_text(more, 'more file')}" if more else ""
    return f"Frequent words of {name}{others}, {language_name(counts.language)}"


def bank_of(words: WordList, title: str, code: str = "") -> Instrument:
    """A bank of kind "words": text, genre, rank and count of each, three word pairs to sort into.

    Raises
    ------
    BankError
        The bank cannot have this title.
    """
    title = title.strip()
    if fault := name_fault(title):
        raise BankError(f"The title of the bank {fault}.", "Type a title.")
    language = words.counts.language
    digits = max(4, len(str(len(words.words))))
    return Instrument(
        code=slug(code or title),
        title=title,
        items=tuple(
            Item(
                f"w{word.rank:0{digits}d}",
                (Wording(language, word.text),),
                genre=word.genre,
                rank=word.rank,
                attributes={"count": word.count},
            )
            for word in words.words
        ),
        formats=tuple(_in_language(BUILT_IN[pair], language) for pair in WORD_PAIRS),
        languages=(language,),
        description=_description(words),
        citation=f"Parts of speech and base forms: {source_of(tagger_of(language))}.",
        kind="words",
    )


def _in_language(pair: ResponseFormat, language: str) -> ResponseFormat:
    known = language.split("-")[0].lower()
    return replace(
        pair,
        options=tuple(
            replace(option, labels={language: label})
            for option in pair.options
            if (label := option.labels.get(known))
        ),
    )


def _description(words: WordList) -> str:
    """How the list was made, for a methods section."""
    choices, files = words.choices, words.counts.files
    named = ", ".join(files[:_NAMED_FILES]) + (", …" if len(files) > _NAMED_FILES else "")
    once = (
        "A word that is both noun and verb stands once, as what it is more often, with the count "
        "of both. "
        if choices.one_genre
        else "A word that is both noun and verb stands twice. "
    )
    left_out = "; ".join(one.sentence for one in words.left_out)
    without = words.counts.n_without_text
    return (
        f"{words.summary}, from {named}. The count is that of the base form in these texts; the "
        f"rank is its place in this list, equal counts in the order of the alphabet. {once}"
        f"Lowest count {choices.least_count:,}; shortest word {choices.least_length} letters. "
        + (f"Left out: {left_out}." if left_out else "Nothing was left out.")
        + (
            f" Rows without a text: {without:,}."
            if (without := words.counts.n_without_text)
            else ""
        )
    )


def save_bank(workspace: Workspace, bank: Instrument) -> DraftState:
    """Keep the bank, under a free code where its own is taken."""
    return editing.import_bank(workspace, ImportedBank(bank))


def bank_csv(bank: Instrument) -> bytes:
    """The bank as a CSV file that can be imported."""
    return writing.instrument_to_csv(bank)

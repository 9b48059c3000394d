"""Where a reply names an option, by number, letter, label or another form of the label."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import NamedTuple

from core.collect.replies import words as reply_phrases
from core.collect.replies import words_cjk
from core.collect.replies.words import (
    BETWEEN,
    COUNTED_BEFORE,
    DASHES,
    DEGREES,
    JOINERS,
    LETTER_NOUNS,
    NUMBER_WORDS,
    OBJECTS,
    OUT_OF,
    RANGES,
    SENTENCE,
    SOFT,
    STEPS,
    WITHIN,
    boundary,
    is_spaceless,
    moderate,
    pieces,
    starts_of,
    whole_words,
)
from core.domain.instrument import ResponseFormat

# Other forms of a label: inflected, spelt otherwise, or the everyday word for the same.

_ARTICLES = frozenset(
    ["the", "die", "der", "das", "el", "la", "los", "las", "le", "les", "l'", "un", "una", "une"]
)

_ADVANTAGE = (
    "advantageous", "beneficial", "favorable", "favourable", "ventajoso", "provechoso", "favorable",
    "beneficioso", "avantageux", "avantageuse", "bénéfique", "profitable", "vorteilhaft",
    "günstig", "nützlich", "förderlich", "有利", "有益", "有好处", "好ましい", "有益な", "有利な",
)  # fmt: skip
_DISADVANTAGE = (
    "disadvantageous", "detrimental", "harmful", "damaging", "unfavorable", "unfavourable",
    "desventajoso", "perjudicial", "dañino", "nocivo", "desfavorable", "nuisible", "nocif",
    "néfaste", "désavantageux", "défavorable", "préjudiciable", "nachteilig", "unvorteilhaft",
    "ungünstig", "schädlich", "不利", "有害", "有坏处", "好ましくない", "好ましくありません",
    "有害な", "不利な",
)  # fmt: skip
_ASSENT = (
    "coincido", "concuerdo", "apruebo", "j'approuve", "approuve", "pflichte bei", "赞成", "赞同",
    "賛成", "賛成する", "賛成します",
)  # fmt: skip
_DISSENT = (
    "discrepo", "disiento", "desapruebo", "désapprouve", "je désapprouve", "lehne ab",
    "widerspreche", "反对", "反対", "反対する", "反対します",
)  # fmt: skip
_BACKING = (
    "in favor", "in favour", "in support", "apoyo", "respaldo", "soutiens", "j'approuve",
    "approuve", "appuie", "j'appuie", "unterstütze", "befürworte", "dafür", "支持", "赞成", "赞同",
    "賛成", "賛成する", "賛成します", "支持します",
)  # fmt: skip
_RESISTANCE = (
    "against", "opposed", "opongo", "me opongo", "rechazo", "m'oppose", "m'y oppose", "oppose",
    "désapprouve", "rejette", "dagegen", "lehne ab", "反对", "反対", "反対する", "反対します",
)  # fmt: skip

_EVERYDAY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "yes": ("yeah", "yep", "yup"),
        "no": ("nope", "nah"),
        "是": ("是的", "对", "对的"),
        "否": ("不是", "不是的", "也不是", "不"),
        "はい": ("ええ", "うん"),
        "いいえ": ("いえ",),
        "support": _BACKING,
        "oppose": _RESISTANCE,
        "bin dafür": ("dafür", "befürworte"),
        "bin dagegen": ("dagegen",),
        "支持する": ("賛成", "賛成する", "賛成します"),
        "支持": ("赞成",),
        "同意する": _ASSENT,
        "同意しない": _DISSENT,
        "beneficial": _ADVANTAGE,
        "favorable": _ADVANTAGE,
        "harmful": _DISADVANTAGE,
        "detrimental": _DISADVANTAGE,
    }
)
"""By the label itself, so that a format of the user's own with that label is understood too."""

_JAPANESE = (
    ("する", "します"), ("する", "しています"), ("しない", "しません"), ("思う", "思います"),
    ("思わない", "思いません"), ("そう思わない", "そうは思わない"), ("いえない", "いえません"),
    ("いえない", "言えない"), ("言えない", "言えません"), ("まったく", "全く"), ("良い", "よい"),
    ("良い", "いい"),
)  # fmt: skip
_ROUNDS = 3  # a label takes at most that many of these changes


def _variants(label: str, language: str) -> tuple[str, ...]:
    """Other ways to say the label that mean exactly the same."""
    text = label.casefold()
    found = list(_EVERYDAY.get(text, ()))
    if "avorable" in text:
        found.append(text.replace("avorable", "avourable"))
    if language == "es" and text.endswith("o") and " " not in text and len(text) > 3:
        found.append(f"{text[:-1]}a")
    if language == "ja":
        found += _japanese(label)
    if language == "zh":
        found.append(f"{label}的")
    if language == "zh" and label.startswith("令人"):
        found += [label.removeprefix("令人"), f"{label}的"]
    return tuple(found)


def _japanese(label: str) -> list[str]:
    """Polite and written forms, and the bare noun of a verb: 同意する, 同意します, 同意."""
    forms = {label}
    for _ in range(_ROUNDS):
        forms |= {form.replace(old, new) for form in forms for old, new in _JAPANESE}
    if label.endswith("する"):
        forms.add(label.removesuffix("する"))
    return sorted(forms - {label})


def _denials(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Single words that deny the label: 良くない. Elsewhere a denial is a word of its own."""
    label = labels.get("ja", "")
    if not label.endswith("い"):
        return ()
    stem = label.removesuffix("い")
    return tuple(f"{stem}{ending}" for ending in ("くない", "くないです", "くありません"))


def _name_variants(name: str) -> tuple[str, ...]:
    """The name as it stands in a sentence: possessive, or without its article."""
    words = whole_words(name)
    if not words:
        return ()
    plain = " ".join(words)
    short = " ".join(words[1:]) if words[0] in _ARTICLES else ""
    found = [plain, short]
    for text in (plain, short):
        if text.isascii() and text and text[-1].isalpha():
            found += [f"{text}'s", text + "s" * (text[-1] not in "sxz")]
    found.append(plain.replace("'", ""))
    return tuple(text for text in found if text)


# How the options of a response format may be said: numbers, letters, labels in every language.

_NUMERIC_CODE = re.compile(r"-?[0-9]+")
_NAMES = ("entity", "entity_b")
_SPECIAL = frozenset({"yes", "no", "agree", "disagree", "support", "oppose"})


class _OptionContent(NamedTuple):
    code: str
    stance: int | None
    labels: tuple[tuple[str, str], ...]


Words = tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """How the options of one format may be said in one language."""

    numbers: Mapping[str, str]
    letters: Mapping[str, str]
    phrases: Mapping[str, tuple[tuple[Words, str], ...]]  # by first word, longest first
    bare: Mapping[str, str]
    codes: frozenset[str]
    opposites: Mapping[str, str]  # of two options; else empty
    starts: Mapping[str, tuple[str, ...]]  # where Japanese and Chinese text is cut
    ends: tuple[str, str] | None  # lowest and highest number
    against: frozenset[str]
    middle: frozenset[str]  # options of their own for those who take no side
    names: bool  # the options are names, of which one is to be given
    pair: bool  # two labels of words, such as "comedy" and "tragedy"

    @property
    def graded(self) -> bool:
        """Whether several options lie on one side, so that "completely agree" is no "agree"."""
        return len(self.codes) > 2


def vocabulary(response_format: ResponseFormat, language: str) -> Vocabulary:
    """How the format's options may be said; labels in the given language go before others."""
    return _vocabulary(_content(response_format), language)


def _content(response_format: ResponseFormat) -> tuple[_OptionContent, ...]:
    """All of the format that parsing depends on, as a key for the cache."""
    return tuple(
        [_OptionContent(o.code, o.stance, tuple(o.labels.items())) for o in response_format.options]
    )


@lru_cache(maxsize=256)
def _vocabulary(options: tuple[_OptionContent, ...], language: str) -> Vocabulary:
    numbers = {o.code: o.code for o in options if _NUMERIC_CODE.fullmatch(o.code)}
    letters = {o.code.casefold(): o.code for o in options if len(o.code) == 1 and o.code.isalpha()}
    codes = frozenset(option.code for option in options)
    said = _sayings(options, language)
    phrases: dict[str, list[tuple[Words, str]]] = {}
    for words, option in said.items():
        if words not in {(code,) for code in (*numbers, *letters)}:
            phrases.setdefault(words[0], []).append((words, option))
    ordered = sorted(numbers, key=int)
    first, second = sorted(codes) if len(codes) == 2 else ("", "")
    cut_at = {word for words in said for word in words if is_spaceless(word)}
    return Vocabulary(
        numbers=numbers,
        letters=letters,
        phrases={
            start: tuple(sorted(group, key=lambda entry: -len(entry[0])))
            for start, group in phrases.items()
        },
        bare=_bare(said, numbers, letters),
        codes=codes,
        opposites={first: second, second: first} if first else {},
        starts=starts_of(cut_at | reply_phrases.KNOWN | words_cjk.KNOWN),
        ends=(ordered[0], ordered[-1]) if len(ordered) > 1 else None,
        against=frozenset(o.code for o in options if o.stance is not None and o.stance < 0),
        middle=frozenset(o.code for o in options if o.stance == 0),
        names=_are_names(options),
        pair=len(codes) == 2 and not (numbers or letters or codes & _SPECIAL)
        and not _are_names(options),
    )  # fmt: skip


def _are_names(options: tuple[_OptionContent, ...]) -> bool:
    return {option.code for option in options} == set(_NAMES)


def _bare(
    said: Mapping[Words, str], numbers: Mapping[str, str], letters: Mapping[str, str]
) -> dict[str, str]:
    """Whole replies, in lower case and without punctuation around them."""
    spelt_out = {
        word: numbers[digit]
        for digit, words in NUMBER_WORDS.items()
        if digit in numbers
        for word in words
    }
    labels = {_joined(words): option for words, option in said.items() if option}
    return spelt_out | _unaccented_labels(said) | labels | dict(letters) | dict(numbers)


def _joined(words: Words) -> str:
    return " ".join(words)


def _sayings(options: tuple[_OptionContent, ...], language: str) -> dict[Words, str]:
    """Words -> option, or -> "" where the best evidence names two options."""
    found: dict[Words, dict[int, set[str]]] = {}
    for option in options:
        for text, rank in _texts(option, language, names=_are_names(options)):
            words = whole_words(text)
            if words:
                found.setdefault(words, {}).setdefault(rank, set()).add(option.code)
    if len(options) == 2:
        for option, other in (options, options[::-1]):
            for text in _denials(dict(option.labels)):
                found.setdefault((text,), {}).setdefault(3, set()).add(other.code)
    neutral = [o.code for o in options if o.stance == 0]
    if len(neutral) == 1:
        for word in (
            "neutral",
            "neutro",
            "neutre",
            "中立",
            "中性",
            "どちらでもない",
            "weder noch",
            "neither",
        ):
            found.setdefault(whole_words(word), {}).setdefault(3, set()).add(neutral[0])
    for text, code in moderate(_sides(options)):
        found.setdefault(whole_words(text), {}).setdefault(4, set()).add(code)
    return {words: _only(ranks[min(ranks)]) for words, ranks in found.items()}


def _sides(options: tuple[_OptionContent, ...]) -> list[list[tuple[str, str]]]:
    """The numbered options for and against as code and English label, the weakest first."""
    numbered = [o for o in options if o.stance and _NUMERIC_CODE.fullmatch(o.code)]
    rising = sorted(numbered, key=lambda option: int(option.code))
    sides = (
        [o for o in rising if (o.stance or 0) > 0],
        [o for o in reversed(rising) if (o.stance or 0) < 0],
    )
    return [[(o.code, dict(o.labels).get("en", "")) for o in side] for side in sides]


def _texts(option: _OptionContent, language: str, *, names: bool) -> Iterator[tuple[str, int]]:
    """Each way to say the option with its rank; of two options the lower rank has the word."""
    if not names:
        yield option.code, 1
    for label_language, label in option.labels:
        yield label, 0 if label_language == language else 2
        words = whole_words(label)
        if len(words) == 2 and not names:
            yield f"{words[1]} {words[0]}", 3  # "agree strongly"
        others = _name_variants(label) if names else _variants(label, label_language)
        for variant in others:
            yield variant, 3


def _only(options: set[str]) -> str:
    return next(iter(options)) if len(options) == 1 else ""


def _unaccented(text: str) -> str:
    split = unicodedata.normalize("NFD", text)
    return "".join(character for character in split if not unicodedata.combining(character))


def _unaccented_labels(said: Mapping[Words, str]) -> dict[str, str]:
    """Labels typed without accents ("Si"), where no other option is meant by that."""
    spelt: dict[str, set[str]] = {}
    for words, option in said.items():
        if any(map(is_spaceless, words)):
            continue  # there, the marks are no accents
        spelt.setdefault(_unaccented(_joined(words)), set()).add(option)
    return {text: _only(options) for text, options in spelt.items() if _only(options)}


# A reply as words, and where those name an option, be it by number, letter or label.

_FRACTION = re.compile(r"(\d+)/(\d+)")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")


class Mention(NamedTuple):
    """Words start..end-1 that name an option; `option` is None for a number off the scale."""

    start: int
    end: int
    option: str | None
    kind: str  # "number", "letter", "label"


@dataclass
class Reply:
    """A reply as words, the text between them, and the options they mention."""

    text: str
    vocabulary: Vocabulary
    cased: list[str] = field(init=False)
    words: list[str] = field(init=False)
    gaps: list[str] = field(init=False)  # gaps[i] stands before words[i]; one more than words
    boundaries: list[int] = field(init=False)

    def __post_init__(self) -> None:
        parts = pieces(self.text, self.vocabulary.starts)
        self.cased = parts[1::2]
        self.words = [word.casefold() for word in self.cased]
        self.gaps = parts[::2]
        self.boundaries = [boundary(gap) for gap in self.gaps]
        self.boundaries[0] = self.boundaries[-1] = SENTENCE

    def after(self, position: int) -> Reply:
        """What stands from that word on, as a reply of its own."""
        rest = zip(self.gaps[position + 1 :], [*self.cased[position + 1 :], ""], strict=True)
        first = self.cased[position] if position < len(self.cased) else ""
        return Reply(first + "".join(gap + word for gap, word in rest), self.vocabulary)

    def before(self, position: int) -> Reply:
        """What stands up to that word, as a reply of its own."""
        kept = zip(self.gaps[:position], self.cased[:position], strict=True)
        said = "".join(gap + word for gap, word in kept)
        return Reply(said + self.gaps[position], self.vocabulary)

    @cached_property
    def mentions(self) -> list[Mention]:
        """Every mention, in order, without spans of the whole scale ("from 1 to 5")."""
        found: list[Mention] = []
        position = 0
        while position < len(self.words):
            mention = self._label_at(position) or self._code_at(position)
            if mention is None:
                position += 1
                continue
            position = mention.end
            if found and (
                self._spans_scale(found[-1], mention) or self._spans_pair(found[-1], mention)
            ):
                found.pop()
            elif mention.kind:
                found.append(mention)
        return found

    @cached_property
    def floors(self) -> dict[int, int]:
        """Where each mention starts, with where the one before it ends, or 0."""
        ends = [0, *(mention.end for mention in self.mentions)]
        return {m.start: end for m, end in zip(self.mentions, ends, strict=False)}

    def leave_out(self, mentions: Set[Mention]) -> None:
        """Read on as if these mentions were ordinary words."""
        self.mentions = [mention for mention in self.mentions if mention not in mentions]
        self.__dict__.pop("floors", None)

    def _spans_scale(self, low: Mention, high: Mention) -> bool:
        between = self.words[low.end : high.start]
        joined = len(between) == 1 and between[0] in RANGES
        return (low.option, high.option) == self.vocabulary.ends and (
            joined or (not between and self.gaps[high.start].strip() in DASHES)
        )

    def _spans_pair(self, first: Mention, second: Mention) -> bool:
        """Whether both options are but what is chosen from: "between Apple and Samsung"."""
        between = self.words[first.end : second.start]
        led = first.start > 0 and self.words[first.start - 1] in BETWEEN
        joined = len(between) == 1 and between[0] in JOINERS
        other = self.vocabulary.opposites.get(first.option or "")
        return led and joined and second.option is not None and other == second.option

    def _label_at(self, start: int) -> Mention | None:
        for phrase, option in self.vocabulary.phrases.get(self.words[start], ()):
            end = self._match(phrase, start)
            if end:
                return Mention(start, end, option, "label" if option else "")
        return None

    def _match(self, phrase: tuple[str, ...], start: int) -> int:
        """End of the phrase if it stands there, else 0."""
        position = start + 1
        while len(phrase) > 1 and position < min(len(self.words), start + 5):
            word = self.words[position]
            if word == phrase[1] or not (word in OBJECTS or self._may_be_within(word)):
                break
            position += 1
        end = position + len(phrase) - 1
        if tuple(self.words[position:end]) != phrase[1:]:
            return 0
        return 0 if SENTENCE in self.boundaries[start + 1 : end] else end

    def _may_be_within(self, word: str) -> bool:
        """Whether it may stand inside a German label: "stimme voll und ganz zu"."""
        return not self.vocabulary.graded and (word in DEGREES or word in WITHIN)

    def _code_at(self, position: int) -> Mention | None:
        """The number or letter there. An empty kind: a number that counts something else."""
        word = self.words[position]
        if word[0].isdecimal():
            return self._number_at(position)
        option = self.vocabulary.letters.get(word)
        if option is None or not self._is_letter(position):
            return None
        return Mention(position, position + 1, option, "letter")

    def _is_letter(self, position: int) -> bool:
        """Whether a single letter is meant as a letter, not as the article "a"."""
        before, after = self.gaps[position], self.gaps[position + 1]
        last = position + 1 == len(self.words)
        named = position > 0 and self.words[position - 1] in LETTER_NOUNS
        return (
            self.cased[position].isupper()
            or after.startswith(")")
            or (self.boundaries[position + 1] != SOFT and (named or (last and ":" in before)))
        )

    def _number_at(self, position: int) -> Mention:
        word, end = self.words[position], position + 1
        option, kind = None, "number"
        if word.isdecimal():
            option = self.vocabulary.numbers.get(self._signed(position))
            top, top_end = self._out_of(position + 1)
            if top:
                end, option = top_end, self._on_own_scale(option, top)
        elif fraction := _FRACTION.fullmatch(word):
            number = self.vocabulary.numbers.get(fraction[1])
            option = self._on_own_scale(number, fraction[2])
        elif decimal := _DECIMAL.fullmatch(word):
            option = self.vocabulary.numbers.get(decimal[1]) if decimal[2] in ("0", "00") else None
        else:
            kind = ""
        return Mention(position, end, option, "" if self._counts(position) else kind)

    def _counts(self, position: int) -> bool:
        """Whether the number there counts or numbers something: "80 %", "in 2024", "item 3"."""
        before, after = self.gaps[position], self.gaps[position + 1]
        if before.endswith("$") and after.startswith("$"):  # LaTeX, "$4$"
            return False
        if before.endswith(("$", "€", "£", "#")) or after.lstrip().startswith(("%", "°", "$", "€")):
            return True
        if self.words[position + 1 : position + 2] and self.words[position + 1] in STEPS:
            return self.words[position] in (*(self.vocabulary.ends or ())[1:], self._steps())
        follows = position > 0 and not self.boundaries[position]
        return follows and self.words[position - 1] in COUNTED_BEFORE

    def _steps(self) -> str:
        return str(len(self.vocabulary.codes))

    def _signed(self, position: int) -> str:
        """The number with what the text before makes of it: a minus sign, or a leading point."""
        digits, before = self.words[position], self.gaps[position]
        point = before.endswith(".") and not before.endswith("..")
        if len(digits) > 6 or point:
            return ""
        number = digits if digits.isascii() else str(int(digits))
        lead = before[-2:-1] or (" " if position == 0 else "")
        negative = before.endswith("-") and lead != "" and lead in " \n\t(['\"*"
        return f"-{number}" if negative else number

    def _out_of(self, position: int) -> tuple[str, int]:
        """The highest number in "out of 5" and where it ends, or an empty text."""
        for phrase in OUT_OF:
            end = position + len(phrase)
            if tuple(self.words[position:end]) == phrase and end < len(self.words):
                top = self.words[end]
                if top.isdecimal() and not any(self.boundaries[position : end + 1]):
                    return top, end + 1
        slash = position < len(self.words) and self.gaps[position].strip() == "/"
        if slash and self.words[position].isdecimal():
            return self.words[position], position + 1
        return "", position

    def _on_own_scale(self, option: str | None, top: str) -> str | None:
        ends = self.vocabulary.ends
        return option if ends and top == ends[1] else None

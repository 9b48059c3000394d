"""A reply as words, and where those name an option, be it by number, letter or label."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from core.collect.reply_text import DASHES, SENTENCE, SOFT, boundary, pieces
from core.collect.reply_vocabulary import Vocabulary
from core.collect.reply_words import (
    BETWEEN,
    COUNTED_BEFORE,
    DEGREES,
    JOINERS,
    LETTER_NOUNS,
    OBJECTS,
    OUT_OF,
    RANGES,
    STEPS,
    WITHIN,
)

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

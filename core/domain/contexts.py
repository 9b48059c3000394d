"""Sets of contexts: cut to their first exchanges, chosen by language, or drawn at random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from core.domain.languages import language_code
from core.domain.study import Context, Message


def cropped(contexts: Iterable[Context], exchanges: int = 1) -> tuple[Context, ...]:
    """The contexts, each conversation cut after its first exchanges of user and assistant.

    What stands before the first message of the user is kept. Messages of the user that follow
    each other without a reply belong to the same exchange.
    """
    if exchanges < 1:
        raise ValueError("at least one exchange must remain")
    return tuple(
        replace(context, messages=_first_exchanges(context.messages, exchanges))
        for context in contexts
    )


def of_language(contexts: Iterable[Context], language: str) -> tuple[Context, ...]:
    """The contexts in that language, given by its code or its English name."""
    code = language_code(language)
    return tuple(context for context in contexts if context.language == code)


def sampled(contexts: Sequence[Context], count: int, seed: int) -> tuple[Context, ...]:
    """So many contexts drawn at random, in their own order; all where there are no more.

    The same seed draws the same ones on every machine.
    """
    if count < 0:
        raise ValueError("a sample cannot have fewer than no contexts")
    drawn = random.Random(seed).sample(range(len(contexts)), min(count, len(contexts)))
    return tuple(contexts[place] for place in sorted(drawn))


def describe(contexts: Sequence[Context]) -> str:
    """One line that says how many there are, of which kind, in which languages and how long."""
    conversations = [context for context in contexts if context.messages]
    personas = [context for context in contexts if context.text and not context.messages]
    empty = len(contexts) - len(conversations) - len(personas)
    kinds = (
        _counted(len(personas), "persona"),
        _counted(len(conversations), "conversation"),
        f"{empty} without a text" if empty else "",
    )
    parts = [", ".join(filter(None, kinds)) or "no contexts"]
    languages = Counter(context.language or "not stated" for context in contexts)
    if set(languages) - {"not stated"}:
        shown = (f"{language} {count:,}" for language, count in languages.most_common())
        parts.append(f"languages: {', '.join(shown)}")
    if conversations:
        parts.append(_lengths([len(context.messages) for context in conversations]))
    return "; ".join(parts)


def _first_exchanges(messages: tuple[Message, ...], exchanges: int) -> tuple[Message, ...]:
    """The messages before that of the user which opens one exchange too many."""
    begun = 0
    answered = True
    for place, message in enumerate(messages):
        if message["role"] == "user" and answered:
            begun += 1
            answered = False
            if begun > exchanges:
                return messages[:place]
        elif message["role"] == "assistant":
            answered = True
    return messages


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}" if count else ""


def _lengths(lengths: list[int]) -> str:
    if min(lengths) == max(lengths):
        return f"{_counted(lengths[0], 'message')} each"
    return f"{min(lengths):,} to {max(lengths):,} messages, median {median(lengths):g}"

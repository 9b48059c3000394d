"""Which of the user's levels stands for a printed one: 'gemma-2b-it', Apple, personas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.workflow.replications.tables import Kind

_OTHER_NAMES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "context set": {"Chatbot Arena": ("conversations",), "Persona Hub": ("personas",)},
    "subscale": {"hostile": ("suspicion",), "benevolent": ("protectiveness",)},
}
"""What stands for a printed level in the banks and contexts that come with Inkblot."""
_USUAL_WORDS = frozenset({"instruct", "chat", "it", "hf", "v", "preview", "latest", "model"})
"""Words of model names that one source writes and another leaves out."""
_DATE_DIGITS = 4


def match_levels(kind: Kind, published: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """For each printed level, the own level that stands for it; without one, it is left out.

    Names that are equal come first, then similar ones: for models, names of the same words and
    numbers, whatever stands between them; for items, codes that end in the number of the item; for
    temperatures, labels that state the same. Where nothing matches, a model stands beside every
    printed one, and so does a level that does not vary.
    """
    matched: dict[str, str] = {}
    for name in published:
        known = _OTHER_NAMES.get(kind, {}).get(name, ())
        code = re.sub(r"[/ ]", "_", name.casefold())
        wanted = {name.casefold(), code, *known}
        found = next((one for one in own if one.casefold() in wanted), "")
        if found:
            matched[name] = found
    if kind == "model":
        matched = _similar_models(published, own) | matched
    if kind == "item" and not matched:
        matched = _numbered(published, own)
    if kind == "temperature":
        matched = _same_temperature(published, own)
    if matched or not own:
        return matched
    if (
        kind in ("words per call", "history") and len(published) == len(own) == 1
    ):  # imports do not state it
        return {published[0]: own[0]}
    never_varies = kind in ("context set", "language") and list(own) == [""]
    if kind in ("model", "pair") or never_varies:
        return dict.fromkeys(published, own[0])
    return {}


def _same_temperature(published: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """Labels such as `gpt-4o T=0.5`, or `gpt-4o and 0.5`, by the temperature that they state."""
    number = r"(\d+(?:\.\d+)?)"
    stated = {
        one: re.search(rf" and {number}$", one) or re.search(rf"\bT={number}", one) for one in own
    }
    known = {float(found[1]): one for one, found in stated.items() if found}
    return {name: known[float(name)] for name in published if float(name) in known}


def _words(name: str) -> tuple[str, ...]:
    """The words and numbers of a model's name, without its maker, date and settings."""
    own = re.sub(r"(\s\w+=\S+)+$", "", name.rpartition("/")[2].lower())  # settings of a label
    own = re.sub(r"-?\d{4}-\d\d-\d\d$", "", own)
    return tuple(re.findall(r"[a-z]+|\d+(?:\.\d+)?", own))


def _without_usual(words: Sequence[str], *, dates: bool) -> tuple[str, ...]:
    return tuple(
        word for word in words if word not in _USUAL_WORDS and (dates or not _is_date(word))
    )


def _is_date(word: str) -> bool:
    return word.isdigit() and len(word) >= _DATE_DIGITS


def _similar_models(published: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """Models whose names have the same words and numbers, dates left out last."""
    matched: dict[str, str] = {}
    for dates in (True, False):
        theirs = [_without_usual(_words(name), dates=dates) for name in published]
        ours = [_without_usual(_words(name), dates=dates) for name in own]
        for name, words in zip(published, theirs, strict=True):
            if name not in matched and theirs.count(words) == 1 and ours.count(words) == 1:
                matched[name] = own[ours.index(words)]
    return matched


def _numbered(published: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    """Items by the number at the end of their code, where each has one of its own."""
    ends = {one: re.search(r"(\d+)$", one) for one in own}
    numbers = {one: str(int(end[1])) for one, end in ends.items() if end}
    if len(set(numbers.values())) < len(own):
        return {}
    by_number = {number: one for one, number in numbers.items()}
    return {name: by_number[name] for name in published if name in by_number}

"""Recipes: how a set of contexts was chosen from a corpus, with the number left after each step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter, with_config

from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.values import STRICT

Duplicates = Literal["keep", "text", "first_message"]
Allocation = Literal["equal", "proportional"]

DUPLICATES: dict[Duplicates, str] = {
    "keep": "keep them",
    "text": "leave out equal texts",
    "first_message": "leave out equal first messages of the user",
}
"""The rules for duplicates, in words. Texts that differ in white space only are equal."""
ALLOCATIONS: dict[Allocation, str] = {
    "equal": "the same number from each group",
    "proportional": "as many as its share",
}


@with_config(STRICT)
@dataclass(frozen=True)
class CorpusChoices:
    """What a user chooses of a corpus. The fields stand in the order of the steps.

    `conversations` and `persona` are the columns of the texts; exactly one of the two is named.
    `code` is the column of the codes, `language` that of the languages; an empty `code` stands for
    the number of the row. None leaves a step out. Lengths are those before cropping. `count` is
    the size of the sample, or with `stratify` and the allocation `equal` the size from each group.
    """

    conversations: tuple[str, ...] = ()
    persona: str = ""
    code: str = ""
    language: str = ""
    skip_unreadable: bool = False
    languages: tuple[str, ...] = ()
    least_messages: int | None = None
    most_messages: int | None = None
    least_characters: int | None = None
    most_characters: int | None = None
    exchanges: int | None = None
    duplicates: Duplicates = "text"
    count: int | None = None
    seed: int = 1
    stratify: str = ""
    allocation: Allocation = "equal"


@with_config(STRICT)
@dataclass(frozen=True)
class Step:
    """One step of a recipe, and the number of contexts after it (of rows, for the first)."""

    name: str
    count: int


@with_config(STRICT)
@dataclass(frozen=True)
class Recipe:
    """From which file a set comes, what was chosen, and how many contexts each step left.

    `made_at` is a time in ISO 8601. Later steps are those of sets made from the set, and changes
    by hand. `remarks` say what was left out or cropped while reading.
    """

    file: str
    sha256: str
    choices: CorpusChoices
    steps: tuple[Step, ...]
    made_at: str
    remarks: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The recipe in one sentence, for a page and a methods section."""
        steps = "; ".join(f"{step.name}: {step.count:,}" for step in self.steps)
        remarks = "".join(f" {remark[:1].upper()}{remark[1:]}." for remark in self.remarks)
        source = f"From {self.file} (SHA-256 {self.sha256[:12]}…, read {self.made_at[:10]})"
        return f"{source}. {steps[:1].upper()}{steps[1:]}.{remarks}"


RECIPE = TypeAdapter(Recipe)
"""Reads a recipe from its JSON."""


def step_names(choices: CorpusChoices) -> dict[str, str]:
    """The steps that the choices ask for after reading, with their words, in their order."""
    c = choices
    languages = ", ".join(map(language_name, c.languages))
    lengths = [
        _range(c.least_messages, c.most_messages, "message"),
        _range(c.least_characters, c.most_characters, "character"),
    ]
    names = {
        "language": f"in {languages}" if languages else "",
        "length": " and ".join(filter(None, lengths)),
        "crop": _crop_name(c) if c.exchanges is not None and c.conversations else "",
        "duplicates": f"duplicates: {DUPLICATES[c.duplicates]}" if c.duplicates != "keep" else "",
        "sample": _sample_name(c) if c.count is not None else "",
    }
    return {step: name for step, name in names.items() if name}


def draw(strata: Sequence[str], count: int, seed: int, allocation: Allocation) -> list[int]:
    """Places of a random sample that is stratified, in their order.

    `strata` names the group of each place. `equal` draws `count` from each group, or all where a
    group has fewer. `proportional` draws `count` in all: each group gets the whole part of its
    share, and the remaining places go to the largest remainders (ties: by name). Each group has
    random numbers of its own, made of the seed and its name.
    """
    groups: dict[str, list[int]] = {}
    for place, stratum in enumerate(strata):
        groups.setdefault(stratum, []).append(place)
    sizes = {stratum: len(places) for stratum, places in sorted(groups.items())}
    if allocation == "equal":
        shares = {stratum: min(count, size) for stratum, size in sizes.items()}
    else:
        shares = proportional_shares(sizes, min(count, len(strata)))
    drawn: list[int] = []
    for stratum, share in shares.items():
        drawn += random.Random(f"{seed}:{stratum}").sample(groups[stratum], share)
    return sorted(drawn)


def proportional_shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many of `count` each group gets by largest remainders (Hamilton's method)."""
    total = sum(sizes.values())
    shares = {name: count * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(count * sizes[name] % total), name))
    for name in by_remainder[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def _range(least: int | None, most: int | None, noun: str) -> str:
    if least is not None and most is not None:
        return f"{least:,} to {count_text(most, noun)}"
    if least is not None:
        return f"at least {count_text(least, noun)}"
    return f"at most {count_text(most, noun)}" if most is not None else ""


def _crop_name(choices: CorpusChoices) -> str:
    many = choices.exchanges or 1
    return (
        "cropped to the first exchange" if many == 1 else f"cropped to the first {many} exchanges"
    )


def _sample_name(choices: CorpusChoices) -> str:
    seed = f"seed {choices.seed}"
    if not choices.stratify:
        return f"random sample of {choices.count:,} ({seed})"
    if choices.allocation == "equal":
        return f"random sample of {choices.count:,} for each {choices.stratify} ({seed})"
    return f"random sample of {choices.count:,}, stratified by {choices.stratify} ({seed})"

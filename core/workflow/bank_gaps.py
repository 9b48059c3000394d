"""What is missing or unreviewed in a bank, counted by language and form, and problems in groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.domain.counts import counted
from core.domain.instrument import Instrument, Item, Wording
from core.domain.instrument_problems import Problem, problems
from core.domain.study import Design
from core.workflow.bank_columns import TextColumn

_QUOTED = re.compile(r"'[^']*'")
_KINDS: tuple[tuple[str, str], ...] = (
    ("has no text in", "Items without a text in a language"),
    ("does not name {entity", "Texts without a placeholder that the item has elsewhere"),
    ("has the same text", "Items with the text of an earlier one"),
    ("belongs to no subscale", "Items without a subscale"),
    ("as its partner", "Pairs that are not mutual"),
    ("its partner", "Partners that are no other item"),
    ("the code is used", "Codes used more than once"),
    ("have no code", "Items without a code"),
    ("has no label", "Options without a label in a language"),
)


@dataclass(frozen=True)
class Gap:
    """How many items lack a text in a language and form, and how many texts nobody reviewed."""

    language: str
    form: str
    n_missing: int
    n_unreviewed: int


@dataclass(frozen=True)
class ProblemGroup:
    """Problems of one kind, and where they are."""

    title: str
    places: tuple[str, ...]
    blocks: bool


@dataclass(frozen=True)
class Unreviewed:
    """How many texts a study asks that a model drafted and nobody reviewed, and that in words."""

    n_texts: int
    sentence: str


def gaps(bank: Instrument, columns: Iterable[TextColumn]) -> tuple[Gap, ...]:
    """Missing and unreviewed texts of each language and form among `columns`, where there are any.

    A text in any mood counts: a study asks with it where there is none for its format.
    """
    found = []
    for language, form in _shown(columns):
        n_missing = n_unreviewed = 0
        for item in bank.items:
            n_missing += not _has_text(item, language, form)
            n_unreviewed += sum(
                bool(w.drafted_by)
                for w in item.wordings
                if w.language == language and w.form == form
            )
        if n_missing or n_unreviewed:
            found.append(Gap(language, form, n_missing, n_unreviewed))
    return tuple(found)


def troubled_rows(
    bank: Instrument, columns: Iterable[TextColumn], found: Iterable[Problem]
) -> tuple[int, ...]:
    """Places (from 0) of items with a missing or unreviewed text in `columns`, or a problem."""
    shown = _shown(columns)
    named = {problem.where for problem in found}
    return tuple(
        place
        for place, item in enumerate(bank.items)
        if f"Item {' '.join(item.code.split())}" in named
        or f"Item {item.code}" in named
        or not item.code.strip()
        or any(not _has_text(item, language, form) for language, form in shown)
        or any(w.drafted_by and (w.language, w.form) in shown for w in item.wordings)
    )


def grouped(found: Iterable[Problem]) -> tuple[ProblemGroup, ...]:
    """Problems by kind, those that stop a study first."""
    groups: dict[tuple[bool, str], dict[str, None]] = {}
    for problem in found:
        place = problem.where.removeprefix("Item ")
        groups.setdefault((not problem.blocks, _title(problem)), {})[place] = None
    ordered = sorted(groups.items(), key=lambda group: group[0][0])
    return tuple(
        ProblemGroup(title, tuple(places), not harmless) for (harmless, title), places in ordered
    )


def unreviewed(bank: Instrument) -> Iterator[tuple[Item, Wording]]:
    """Texts that a model drafted and nobody has accepted, with their items."""
    for item in bank.items:
        for wording in item.wordings:
            if wording.drafted_by:
                yield item, wording


def unreviewed_asked(bank: Instrument, design: Design) -> Unreviewed:
    """Unreviewed texts among those a study asks: its languages and forms, in its formats' moods."""
    codes = design.formats or tuple(f.code for f in bank.formats[:1])
    moods = {f.mood for f in bank.formats if f.code in codes} or {""}
    models = [
        wording.drafted_by
        for item, wording in unreviewed(bank)
        if wording.language in design.languages
        and wording.form in design.forms
        and any(item.text(wording.language, wording.form, mood) == wording.text for mood in moods)
    ]
    if not models:
        return Unreviewed(0, "")
    texts = counted(len(models), "text")
    return Unreviewed(
        len(models),
        f"This study asks {texts} that a model drafted ({', '.join(sorted(set(models)))}) and "
        "nobody reviewed: they may not mean what the items should. Review them on the page Banks "
        "before a next study.",
    )


def problems_besides_gaps(bank: Instrument) -> tuple[Problem, ...]:
    """The problems of a bank other than missing texts, which are counted by themselves."""
    return tuple(p for p in problems(bank) if not p.what.startswith("has no text in"))


def _shown(columns: Iterable[TextColumn]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((column.language, column.form) for column in columns))


def _has_text(item: Item, language: str, form: str) -> bool:
    return any(w.language == language and w.form == form and w.text.strip() for w in item.wordings)


def _title(problem: Problem) -> str:
    what = problem.what
    for mark, title in _KINDS:
        if mark in what:
            return title
    return _QUOTED.sub("…", what[:1].upper() + what[1:])

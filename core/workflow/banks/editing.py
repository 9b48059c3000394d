"""Question banks: save edits with undo, publish versions, compare, import, export; gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Literal

from core.domain.difference import Difference, differences
from core.domain.formats import BUILT_IN
from core.domain.instrument import (
    KINDS,
    LEANINGS,
    MIDPOINTS,
    ORIGINAL,
    Instrument,
    Item,
    Kind,
    Midpoint,
    Option,
    Party,
    Problem,
    ProblemKind,
    ResponseFormat,
    Wording,
    attribute_fault,
    problems,
)
from core.domain.instrument import content_hash as hash_of
from core.domain.languages import typed_language
from core.domain.numbers import count_text
from core.domain.study import Design
from core.domain.values import Number, slug
from core.errors import BankError, ConflictError
from core.files.banks import writing
from core.files.banks.reading import ImportedBank, read_instrument
from core.store import banks as store
from core.store import studies as study_store
from core.store.banks import DraftState, Version
from core.workflow.banks import translations
from core.workflow.banks.grid import ANNOTATOR_MARK, GridTextColumn
from core.workflow.workspace import Workspace

__all__ = [
    "BankSummary",
    "DraftState",
    "ImportedBank",
    "UnreviewedTexts",
    "Version",
    "read_instrument",
]


# Edits of a bank outside its grids: sets of response options, languages, facts about it.
#
# Pure: a bank in, the changed bank out, or a BankError that says what to do.

_ABOUT_FIELDS = ("title", "description", "licence", "citation")
_FORMS = ("negation", "opposite", "alternate")
"""Forms that a bank can take besides paraphrases and those with a name of their own."""
PARAPHRASE = "paraphrase_"


def with_format(bank: Instrument, code: str, options: Sequence[Option]) -> Instrument:
    """The bank with other options in the set of that code."""
    formats = (replace(f, options=tuple(options)) if f.code == code else f for f in bank.formats)
    return replace(bank, formats=tuple(formats))


def replace_format(bank: Instrument, old: str, new: str) -> Instrument:
    """The bank with a built-in set of response options in the place of the set `old`."""
    chosen = BUILT_IN.get(new)
    if chosen is None or (new != old and bank.format(new)):
        raise BankError(
            f"The bank has a set of response options called '{new}' already.",
            "Edit that one, or remove it first.",
        )
    return replace(bank, formats=tuple(chosen if f.code == old else f for f in bank.formats))


def add_format(bank: Instrument, code: str) -> Instrument:
    """The bank with one more set of response options: a built-in one, or an empty one of its own.

    A study asks with the first set unless its design names another.
    """
    code = code.strip()
    if not code or bank.format(code):
        raise BankError(
            f"A set of response options cannot be called '{code}': "
            + ("that name is taken." if code else "it needs a name."),
            "Choose another name.",
        )
    return replace(bank, formats=(*bank.formats, BUILT_IN.get(code) or ResponseFormat(code, ())))


def remove_format(bank: Instrument, code: str) -> Instrument:
    """The bank without that set of response options."""
    return replace(bank, formats=tuple(f for f in bank.formats if f.code != code))


def text_language(typed: str) -> str:
    """The code of a language that somebody chose or typed, by its code or name.

    Raises
    ------
    BankError
        The text is neither.
    """
    code = typed_language(typed)
    if not code:
        raise BankError(
            f"'{typed.strip()}' is not a language code or the name of a common language.",
            "Choose a language from the list, or type a code of two or three letters such as fr, "
            "or one with a region such as pt-BR.",
        )
    return code


def add_language(bank: Instrument, language: str) -> Instrument:
    """The bank with one more language, by its code or name, still without texts."""
    code = text_language(language)
    if code.casefold() in (known.casefold() for known in bank.languages):
        raise BankError(f"The bank has the language '{code}' already.", "Choose another one.")
    return replace(bank, languages=(*bank.languages, code))


def remove_language(bank: Instrument, language: str) -> Instrument:
    """The bank without that language, its texts and its labels."""
    left = tuple(known for known in bank.languages if known != language)
    if not left:
        raise BankError("A bank needs at least one language.", "Add another language first.")
    items = (
        replace(item, wordings=tuple(w for w in item.wordings if w.language != language))
        for item in bank.items
    )
    formats = (
        replace(
            f,
            options=tuple(
                replace(o, labels={k: v for k, v in o.labels.items() if k != language})
                for o in f.options
            ),
        )
        for f in bank.formats
    )
    return replace(bank, languages=left, items=tuple(items), formats=tuple(formats))


def set_about(bank: Instrument, field: str, text: str) -> Instrument:
    """The bank with another title, description, licence or citation."""
    if field not in _ABOUT_FIELDS:
        raise ValueError(field)
    if field == "title" and not text.strip():
        raise BankError("A bank needs a title.", "Type one; the old title was kept.")
    changes: dict[str, Any] = {field: text}
    return replace(bank, **changes)


def set_kind(bank: Instrument, kind: str) -> Instrument:
    """The bank as a list of questions, of words, or of prompts."""
    chosen: Kind = next(known for known in KINDS if known == kind)
    return replace(bank, kind=chosen)


def set_rules(bank: Instrument, code: str, *, midpoint: str, mood: str) -> Instrument:
    """The bank with another midpoint rule and mood for the set of response options of that code."""
    rule: Midpoint = next(known for known in MIDPOINTS if known == midpoint)
    formats = (replace(f, midpoint=rule, mood=mood) if f.code == code else f for f in bank.formats)
    return replace(bank, formats=tuple(formats))


def offered_forms(bank: Instrument) -> tuple[str, ...]:
    """Forms that can be written next: the next paraphrase, and the others not there yet."""
    known = bank.forms()
    number = 1
    while f"{PARAPHRASE}{number}" in known:
        number += 1
    return (f"{PARAPHRASE}{number}", *(form for form in _FORMS if form not in known))


def form_code(name: str) -> str:
    """The code of a form from the name typed for it."""
    code = re.sub("_{2,}", "_", slug(name)) if name.strip() else ""
    if not code or code == ORIGINAL:
        raise BankError(
            f"A form cannot be called '{name.strip()}'.", "Type a short name, such as shortened."
        )
    return code


def domain_name(bank: Instrument, name: str) -> str:
    """The name of a new domain as typed, without what no file could hold."""
    code = re.sub(r"\s+", "_", name.strip())
    if not code or code in bank.domains() or ANNOTATOR_MARK in code:
        raise BankError(
            f"A domain cannot be called '{code}': "
            + (
                f"a name holds no {ANNOTATOR_MARK}."
                if ANNOTATOR_MARK in code
                else "it is there already."
                if code
                else "it needs a name."
            ),
            "Type another name.",
        )
    return code


def annotator_name(name: str) -> str:
    """The name of an annotator as typed, without what no file could hold."""
    code = re.sub(r"\s+", "_", name.strip())
    if not code or ANNOTATOR_MARK in code:
        raise BankError(
            f"An annotator cannot be called '{code}'.", f"Type a name without {ANNOTATOR_MARK}."
        )
    return code


def attribute_name(bank: Instrument, name: str) -> str:
    """The name of a new attribute as typed.

    Raises
    ------
    BankError
        The bank has such an attribute, or files and filters could not name it.
    """
    code = " ".join(name.split())
    fault = attribute_fault(code)
    if code.casefold() in map(str.casefold, bank.attribute_names()):
        fault = "is that of an attribute of the bank"
    if fault:
        raise BankError(f"The name '{code}' {fault}.", "Type another name, such as country.")
    return code


def rename_attribute(bank: Instrument, name: str, new: str) -> Instrument:
    """The bank with an attribute under another name."""
    if new.strip() == name:
        return bank
    others = [replace(item, attributes=_attributes_without(item, name)) for item in bank.items]
    code = attribute_name(replace(bank, items=tuple(others)), new)

    def renamed(item: Item) -> Item:
        names = {known: code if known == name else known for known in item.attributes}
        return replace(
            item, attributes={names[known]: value for known, value in item.attributes.items()}
        )

    return replace(bank, items=tuple(map(renamed, bank.items)))


def remove_attribute(bank: Instrument, name: str) -> Instrument:
    """The bank without an attribute and its values."""
    items = (replace(item, attributes=_attributes_without(item, name)) for item in bank.items)
    return replace(bank, items=tuple(items))


def _attributes_without(item: Item, name: str) -> dict[str, str | Number]:
    return {known: value for known, value in item.attributes.items() if known != name}


def set_party(bank: Instrument, code: str, leaning: str, country: str = "") -> Instrument:
    """The bank with a party, its leaning and country: a new one, or one that had others.

    An empty country leaves that of a party of the bank as it is.
    """
    code = re.sub(r"\s+", "_", code.strip())
    if not code:
        raise BankError("The party has no name.", "Type a name.")
    earlier = next((known.country for known in bank.parties if known.code == code), "")
    side = next(known for known in LEANINGS if known == leaning)
    party = Party(code, side, country.strip() or earlier)
    if code in (known.code for known in bank.parties):
        parties = tuple(party if known.code == code else known for known in bank.parties)
    else:
        parties = (*bank.parties, party)
    return replace(bank, parties=parties)


def remove_party(bank: Instrument, code: str) -> Instrument:
    """The bank without a party and without its positions."""
    items = (
        replace(item, positions={k: v for k, v in item.positions.items() if k != code})
        for item in bank.items
    )
    parties = tuple(party for party in bank.parties if party.code != code)
    return replace(bank, items=tuple(items), parties=parties)


def set_direction(bank: Instrument, code: str, form: str, direction: int | None) -> Instrument:
    """The bank with a direction of its own for a form of an item; None: as the form's name says."""

    def changed(known: Mapping[str, int]) -> dict[str, int]:
        left = {name: value for name, value in known.items() if name != form}
        return left if direction is None else {**left, form: direction}

    items = (
        replace(item, directions=changed(item.directions)) if item.code == code else item
        for item in bank.items
    )
    return replace(bank, items=tuple(items))


# What is missing or unreviewed in a bank, counted by language and form, and problems in groups.

_PROBLEM_TITLES: Mapping[ProblemKind, str] = {
    "no text": "Items without a text in a language",
    "no placeholder": "Texts without a placeholder that the item has elsewhere",
    "same text": "Items with the text of an earlier one",
    "no subscale": "Items without a subscale",
    "not mutual": "Pairs that are not mutual",
    "no partner": "Partners that are no other item",
    "code used twice": "Codes used more than once",
    "no code": "Items without a code",
    "no label": "Options without a label in a language",
}


@dataclass(frozen=True)
class TextGap:
    """How many items lack a text in a language and form, and how many texts nobody reviewed."""

    language: str
    form: str
    n_missing: int
    n_unreviewed: int
    n_outdated: int = 0


@dataclass(frozen=True)
class ProblemGroup:
    """Problems of one kind, and where they are."""

    title: str
    places: tuple[str, ...]
    blocks: bool


@dataclass(frozen=True)
class UnreviewedTexts:
    """How many texts a study asks that a model drafted and nobody reviewed, and that in words."""

    n_texts: int
    sentence: str


def gaps(bank: Instrument, columns: Iterable[GridTextColumn]) -> tuple[TextGap, ...]:
    """Missing, unreviewed and outdated texts by language and form of `columns`, if there are any.

    A text in any mood counts: a study asks with it where there is none for its format.
    """
    text_gaps = []
    for language, form in _languages_and_forms(columns):
        n_missing = n_unreviewed = n_outdated = 0
        for item in bank.items:
            n_missing += not _has_text(item, language, form)
            texts = [w for w in item.wordings if (w.language, w.form) == (language, form)]
            n_unreviewed += sum(bool(w.drafted_by) for w in texts)
            n_outdated += sum(bool(w.made_from) for w in texts)
        if n_missing or n_unreviewed or n_outdated:
            text_gaps.append(TextGap(language, form, n_missing, n_unreviewed, n_outdated))
    return tuple(text_gaps)


def rows_with_problems(
    bank: Instrument, columns: Iterable[GridTextColumn], problems: Iterable[Problem]
) -> tuple[int, ...]:
    """Places (from 0) of items with a text in `columns` that is to be done, or a problem."""
    shown = _languages_and_forms(columns)
    named = {problem.item for problem in problems}
    return tuple(
        place
        for place, item in enumerate(bank.items)
        if item.code in named
        or not item.code.strip()
        or any(not _has_text(item, language, form) for language, form in shown)
        or any(
            (w.drafted_by or w.made_from) and (w.language, w.form) in shown for w in item.wordings
        )
    )


def group_problems(problems: Iterable[Problem]) -> tuple[ProblemGroup, ...]:
    """Problems by kind, those that stop a study first."""
    groups: dict[tuple[bool, str], dict[str, None]] = {}
    for problem in problems:
        title = _PROBLEM_TITLES.get(problem.kind) or f"{problem.what[:1].upper()}{problem.what[1:]}"
        place = " ".join(problem.item.split()) or problem.where
        groups.setdefault((not problem.blocks, title), {})[place] = None
    ordered = sorted(groups.items(), key=lambda group: group[0][0])
    return tuple(
        ProblemGroup(title, tuple(places), not harmless) for (harmless, title), places in ordered
    )


def unreviewed_texts(bank: Instrument) -> Iterator[tuple[Item, Wording]]:
    """Texts that a model drafted and nobody has accepted, with their items."""
    for item in bank.items:
        for wording in item.wordings:
            if wording.drafted_by:
                yield item, wording


def _unreviewed_in_design(bank: Instrument, design: Design) -> UnreviewedTexts:
    """Unreviewed texts among those a study asks: its items, languages, forms and moods."""
    parts = design.crossings()
    models = [
        wording.drafted_by
        for item, wording in unreviewed_texts(bank)
        if any(_is_asked(bank, part, item, wording) for part in parts)
    ]
    if not models:
        return UnreviewedTexts(0, "")
    texts = count_text(len(models), "text")
    return UnreviewedTexts(
        len(models),
        f"This study asks {texts} that a model drafted ({', '.join(sorted(set(models)))}) and "
        "nobody reviewed: they may not mean what the items should. Review them on the page Banks "
        "before a next study.",
    )


def _is_asked(bank: Instrument, part: Design, item: Item, wording: Wording) -> bool:
    """Whether a crossing asks a wording, in the mood of one of its formats."""
    if wording.language not in part.languages or wording.form not in part.forms:
        return False
    codes = part.formats or tuple(f.code for f in bank.formats[:1])
    moods = {f.mood for f in bank.formats if f.code in codes} or {""}
    return (not part.items or item.code in part.items) and any(
        item.text(wording.language, wording.form, mood) == wording.text for mood in moods
    )


def problems_besides_gaps(bank: Instrument) -> tuple[Problem, ...]:
    """The problems of a bank other than missing texts, which are counted by themselves."""
    return tuple(p for p in problems(bank) if p.kind != "no text")


def _languages_and_forms(columns: Iterable[GridTextColumn]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((column.language, column.form) for column in columns))


def _has_text(item: Item, language: str, form: str) -> bool:
    return any(w.language == language and w.form == form and w.text.strip() for w in item.wordings)


# Question banks: edit with undo, publish versions, compare, import and export.

FileFormat = Literal["csv", "xlsx"]


@dataclass(frozen=True)
class BankSummary:
    """One line of the list of banks. Its items are read when somebody asks for them."""

    code: str
    title: str
    n_items: int
    languages: tuple[str, ...]
    saved_at: datetime
    n_versions: int
    used_in: str
    archived: bool
    kind: Kind
    n_unreviewed: int  # texts that a model drafted and nobody has reviewed
    can_be_asked: bool  # it has a text and options
    comes_with_inkblot: bool  # and nobody has edited it
    read: Callable[[], Instrument] = field(repr=False, compare=False)

    @cached_property
    def instrument(self) -> Instrument:
        """The working copy."""
        return self.read()

    @property
    def n_problems(self) -> int:
        """Counted on demand, once for each revision: a check takes longer than a page may."""
        key = (self.code, self.saved_at)
        if key not in _problem_counts:
            if len(_problem_counts) > _MOST_COUNTS:
                _problem_counts.clear()
            _problem_counts[key] = len(problems(self.instrument))
        return _problem_counts[key]


_MOST_COUNTS = 50_000
_problem_counts: dict[tuple[str, datetime], int] = {}
"""Of the revisions that were looked at, by the bank's code and the time of saving."""


@dataclass(frozen=True)
class ImportCheck:
    """Where an imported bank would be kept, and the banks it could be mistaken for."""

    code: str
    alike: tuple[Instrument, ...]
    identical: tuple[Instrument, ...]  # those of `alike` with the very same content


def summaries(workspace: Workspace) -> tuple[BankSummary, ...]:
    """Every bank, archived ones last."""
    found = [
        BankSummary(
            line.code,
            line.title,
            line.n_items,
            line.languages,
            line.saved_at,
            line.n_versions,
            line.used_in,
            line.archived,
            line.kind,
            line.n_unreviewed,
            line.can_be_asked,
            line.last_edit == store.AS_IT_CAME,
            partial(_instrument, workspace, line.code),
        )
        for line in store.lines(workspace.database)
    ]
    return tuple(sorted(found, key=lambda b: (b.archived, b.title.casefold())))


def _instrument(workspace: Workspace, code: str) -> Instrument:
    return load(workspace, code).instrument


def load(workspace: Workspace, code: str) -> DraftState:
    """The working copy of a bank."""
    state = store.draft(workspace.database, code)
    if state is None:
        raise BankError(f"There is no bank '{code}'.", "Choose one from the list.")
    return state


def unreviewed_texts_of_study(workspace: Workspace, study: str) -> UnreviewedTexts:
    """The unreviewed texts among those a study asks, in the bank as it was frozen."""
    record = study_store.get(workspace.database, study)
    bank = store.instrument(workspace.database, record.instrument_id)
    return _unreviewed_in_design(bank, record.design)


def create(workspace: Workspace, title: str, *, response_format: str = "likert_5") -> DraftState:
    """A new, empty bank with English as its language and one of the built-in answer formats."""
    if not title.strip():
        raise BankError("The new bank has no title.", "Type a title.")
    formats = BUILT_IN.get(response_format)
    bank = Instrument(
        code=_free_code(workspace, title),
        title=title.strip(),
        formats=(formats,) if formats else (),
    )
    return store.save_draft(workspace.database, bank, expected_revision=None, summary="Created")


def duplicate(workspace: Workspace, code: str) -> DraftState:
    """A copy of a bank under a new code, free to edit."""
    original = load(workspace, code).instrument
    title = f"{original.title} (copy)"
    copy = replace(original, code=_free_code(workspace, f"{code}_copy"), title=title)
    return store.save_draft(
        workspace.database, copy, expected_revision=None, summary=f"Copied from {code}"
    )


def save(
    workspace: Workspace, bank: Instrument, *, expected_revision: int, summary: str = "Edited"
) -> DraftState:
    """Keep an edit of the working copy; ConflictError where another tab was faster.

    Translations whose original the edit changes are marked as outdated.
    """
    if len(bank.languages) > 1:
        bank = translations.mark_outdated(_instrument(workspace, bank.code), bank)
    return store.save_draft(
        workspace.database, bank, expected_revision=expected_revision, summary=summary
    )


def undo(workspace: Workspace, code: str, *, expected_revision: int | None = None) -> DraftState:
    """Take back the last save of a bank; ConflictError where that is not the one expected."""
    _check_revision(workspace, code, expected_revision)
    return store.undo(workspace.database, code)


def redo(workspace: Workspace, code: str, *, expected_revision: int | None = None) -> DraftState:
    """Bring back what was undone; ConflictError where the bank has moved on since."""
    _check_revision(workspace, code, expected_revision)
    return store.redo(workspace.database, code)


def set_archived(workspace: Workspace, code: str, *, archived: bool) -> None:
    """Put a bank away, or bring it back. Nothing is deleted."""
    store.set_archived(workspace.database, code, archived)


def publish(workspace: Workspace, code: str) -> Version:
    """Make the working copy a version; the newest one again where nothing has changed.

    Raises
    ------
    BankError
        No study could use the bank as it is. Nothing is published.
    """
    with workspace.database.deciding():
        bank = load(workspace, code).instrument
        blocking = [problem for problem in problems(bank) if problem.blocks]
        if blocking:
            more = f" (and {len(blocking) - 1} more)" if len(blocking) > 1 else ""
            first = blocking[0]
            raise BankError(
                f"The bank is not ready for a version: {first.where}: {first.what}{more}.",
                "Mend what is listed under Problems, then publish it.",
            )
        return store.publish(workspace.database, bank)


def versions(workspace: Workspace, code: str) -> tuple[Version, ...]:
    """Published versions of a bank, oldest first."""
    return store.versions(workspace.database, code)


def content(workspace: Workspace, code: str, version: int | None) -> Instrument:
    """A published version of a bank, or (None) its working copy."""
    if version is None:
        return load(workspace, code).instrument
    for known in versions(workspace, code):
        if known.version == version:
            return store.instrument(workspace.database, known.instrument_id)
    raise BankError(f"Bank '{code}' has no version {version}.", "Choose one of its versions.")


def compare(
    workspace: Workspace, code: str, old: int | None, new: int | None
) -> tuple[Difference, ...]:
    """What changed between two states of a bank; critical where results would change meaning."""
    return differences(content(workspace, code, old), content(workspace, code, new))


def check_import(workspace: Workspace, draft: ImportedBank) -> ImportCheck:
    """The code an imported bank would get, and the banks of the same code or title."""
    bank = draft.instrument
    title, content_hash = bank.title.strip().casefold(), hash_of(bank)
    alike = tuple(
        load(workspace, line.code).instrument
        for line in store.lines(workspace.database)
        if (bank.code and line.code == slug(bank.code)) or line.title.strip().casefold() == title
    )
    identical = tuple(other for other in alike if hash_of(other) == content_hash)
    return ImportCheck(_free_code(workspace, bank.code or bank.title), alike, identical)


def import_bank(workspace: Workspace, draft: ImportedBank) -> DraftState:
    """Keep an imported bank; under a free code where its own is taken by another one.

    A bank with the same content is not kept twice, so that an import that was broken off can be
    made again.

    Raises
    ------
    BankError
        The file has errors. Nothing is kept.
    """
    if draft.errors:
        first = draft.errors[0]
        more = f" (and {len(draft.errors) - 1} more)" if len(draft.errors) > 1 else ""
        raise BankError(
            f"Line {first.line}, column {first.column}: {first.reason}{more}.",
            "Mend the file and import it again; nothing was kept.",
        )
    bank = draft.instrument
    with workspace.database.deciding():
        if same := check_import(workspace, draft).identical:
            return load(workspace, same[0].code)
        bank = replace(bank, code=_free_code(workspace, bank.code or bank.title))
        return store.save_draft(
            workspace.database, bank, expected_revision=None, summary="Imported"
        )


def export(workspace: Workspace, code: str, file_format: FileFormat, version: int | None) -> bytes:
    """A bank as a CSV or XLSX file that imports back without loss."""
    bank = content(workspace, code, version)
    if file_format == "csv":
        return writing.instrument_to_csv(bank)
    return writing.instrument_to_xlsx(bank)


def _check_revision(workspace: Workspace, code: str, revision: int | None) -> None:
    if revision is not None and load(workspace, code).revision != revision:
        raise ConflictError(
            f"Bank '{code}' was changed in another tab or window meanwhile.",
            "Look at the newer state first.",
        )


def _free_code(workspace: Workspace, wish: str) -> str:
    taken = set(store.codes(workspace.database))
    code, number = slug(wish), 2
    while code in taken:
        code, number = f"{slug(wish)}_{number}", number + 1
    return code

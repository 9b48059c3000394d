"""Texts that a model drafted, until a person accepts, edits or discards them.

Pure: a bank in, the changed bank out. A text of a person is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from core.domain.instrument import Instrument, Item, Wording
from core.workflow.bank_columns import TextColumn, with_text, wording_of
from core.workflow.bank_gaps import unreviewed


@dataclass(frozen=True)
class PlacedDraft:
    """A draft and where it stands."""

    item: Item
    wording: Wording

    @property
    def place(self) -> tuple[str, TextColumn]:
        """Code of the item, and language, form and mood of the text."""
        wording = self.wording
        return self.item.code, TextColumn(wording.language, wording.form, wording.mood)


Place = tuple[str, TextColumn]


def drafts(bank: Instrument) -> tuple[PlacedDraft, ...]:
    """Every draft nobody has reviewed, in the order of the items."""
    return tuple(PlacedDraft(item, wording) for item, wording in unreviewed(bank))


def with_drafts(
    bank: Instrument, target: TextColumn, texts: Mapping[str, str], label: str
) -> Instrument:
    """The bank with drafts by the respondent `label` for items by code.

    A slot where a person's text stands keeps it, whenever that was written.
    """

    def changed(item: Item) -> Item:
        known = wording_of(item, target)
        if item.code not in texts or (known and known.text.strip() and not known.drafted_by):
            return item
        return with_text(item, target, texts[item.code], drafted_by=label)

    return replace(bank, items=tuple(map(changed, bank.items)))


def accept(bank: Instrument, places: Collection[Place]) -> Instrument:
    """The bank with these drafts taken over as they are."""
    return _changed(bank, places, lambda wording: replace(wording, drafted_by=""))


def edit(bank: Instrument, place: Place, text: str) -> Instrument:
    """The bank with a draft reworded, which accepts it; an emptied one is discarded."""
    if not text.strip():
        return discard(bank, [place])
    return _changed(bank, [place], lambda wording: replace(wording, text=text, drafted_by=""))


def discard(bank: Instrument, places: Collection[Place]) -> Instrument:
    """The bank without these drafts."""
    return _changed(bank, places, lambda wording: None)


def _changed(
    bank: Instrument, places: Collection[Place], change: Callable[[Wording], Wording | None]
) -> Instrument:
    wanted = set(places)

    def changed(item: Item) -> Item:
        if not any(wording.drafted_by for wording in item.wordings):
            return item
        wordings = []
        for wording in item.wordings:
            column = TextColumn(wording.language, wording.form, wording.mood)
            is_meant = wording.drafted_by and (item.code, column) in wanted
            kept = change(wording) if is_meant else wording
            wordings += [kept] if kept is not None else []
        return replace(item, wordings=tuple(wordings))

    return replace(bank, items=tuple(map(changed, bank.items)))

"""Translations that were made from a text which has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.domain.instrument import Instrument, Item, Wording


def mark_outdated(before: Instrument, after: Instrument) -> Instrument:
    """The bank after an edit, in which each translation knows the text that it was made from.

    The first language of the bank is the original. Where its text of an item changes or goes and
    the text in another language stays, this one keeps the old original (`Wording.made_from`); where
    the original is as before again, it forgets it. Spaces and line breaks are no change. Marks of a
    bank whose first language changes are left as they are.
    """
    if len(after.languages) < 2 or before.languages[:1] != after.languages[:1]:
        return after
    items = tuple(
        _marked(old, item, after.languages[0]) if old else item
        for old, item in _with_earlier(before, after)
    )
    return after if items == after.items else replace(after, items=items)


def keep_marks(bank: Instrument, edited: Instrument) -> Instrument:
    """What was edited from an earlier state, with the marks that the bank has on texts in both."""
    return replace(
        edited,
        items=tuple(
            _with_marks_of(known, item) if known else item
            for known, item in _with_earlier(bank, edited)
        ),
    )


def _with_earlier(before: Instrument, after: Instrument) -> Iterator[tuple[Item | None, Item]]:
    """Each item with what it was: that of its code, or that of its place where codes changed."""
    by_code = {item.code: item for item in before.items}
    codes = {item.code for item in after.items}
    renamed = (
        {place: old for place, old in enumerate(before.items) if old.code not in codes}
        if len(before.items) == len(after.items)
        else {}
    )
    for place, item in enumerate(after.items):
        yield by_code.get(item.code) or renamed.get(place), item


def _with_marks_of(known: Item, item: Item) -> Item:
    marks = {(w.language, w.form, w.mood, w.text): w.made_from for w in known.wordings}
    places = [(w.language, w.form, w.mood, w.text) for w in item.wordings]
    wordings = tuple(
        replace(wording, made_from=marks.get(place, wording.made_from))
        for wording, place in zip(item.wordings, places, strict=True)
    )
    return item if wordings == item.wordings else replace(item, wordings=wordings)


def _marked(old: Item, new: Item, original: str) -> Item:
    if old.wordings == new.wordings:
        return new
    earlier = {(w.language, w.form, w.mood): w.text for w in old.wordings}
    originals = {(w.form, w.mood): w.text for w in new.wordings if w.language == original}

    def marked(wording: Wording) -> Wording:
        place = wording.form, wording.mood
        now, then = originals.get(place, ""), earlier.get((original, *place), "")
        stays = earlier.get((wording.language, *place)) == wording.text
        if wording.language == original or not stays:
            return wording
        if wording.made_from:
            same = wording.made_from.split() == now.split()
            return replace(wording, made_from="") if same else wording
        changed = then.split() and then.split() != now.split()
        return replace(wording, made_from=then) if changed else wording

    wordings = tuple(map(marked, new.wordings))
    return new if wordings == new.wordings else replace(new, wordings=wordings)

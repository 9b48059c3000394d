"""Translations that were made from a text which has changed since."""

from __future__ import annotations

from dataclasses import replace

from core.domain.instrument import Instrument, Item, Wording


def mark_outdated(before: Instrument, after: Instrument) -> Instrument:
    """The bank after an edit, in which each translation knows the text that it was made from.

    The first language of the bank is the original. Where its text of an item changes and the text
    in another language stays, this one keeps the old original (`Wording.made_from`); where the
    original is as before again, it forgets it. Spaces and line breaks are no change.
    """
    if len(after.languages) < 2 or before.languages[:1] != after.languages[:1]:
        return after
    old = {item.code: item for item in before.items}
    items = tuple(
        _marked(old[item.code], item, after.languages[0]) if item.code in old else item
        for item in after.items
    )
    return after if items == after.items else replace(after, items=items)


def keep_marks(bank: Instrument, edited: Instrument) -> Instrument:
    """What was edited from an earlier state, with the marks that the bank has on texts in both."""
    known = {
        (item.code, w.language, w.form, w.mood, w.text): w.made_from
        for item in bank.items
        for w in item.wordings
    }

    def kept(item: Item) -> Item:
        places = ((item.code, w.language, w.form, w.mood, w.text) for w in item.wordings)
        marks = zip(item.wordings, places, strict=True)
        wordings = tuple(replace(w, made_from=known.get(p, w.made_from)) for w, p in marks)
        return item if wordings == item.wordings else replace(item, wordings=wordings)

    return replace(edited, items=tuple(map(kept, edited.items)))


def _marked(old: Item, new: Item, original: str) -> Item:
    if old.wordings == new.wordings:
        return new
    earlier = {(w.language, w.form, w.mood): w.text for w in old.wordings}
    originals = {(w.form, w.mood): w.text for w in new.wordings if w.language == original}

    def marked(wording: Wording) -> Wording:
        place = wording.form, wording.mood
        now, then = originals.get(place, ""), earlier.get((original, *place), "")
        kept = earlier.get((wording.language, *place)) == wording.text
        if wording.language == original or not kept or not _words(now):
            return wording
        if wording.made_from:
            same = _words(wording.made_from) == _words(now)
            return replace(wording, made_from="") if same else wording
        changed = _words(then) and _words(then) != _words(now)
        return replace(wording, made_from=then) if changed else wording

    wordings = tuple(map(marked, new.wordings))
    return new if wordings == new.wordings else replace(new, wordings=wordings)


def _words(text: str) -> list[str]:
    return text.split()

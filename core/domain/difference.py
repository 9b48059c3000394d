"""What changed between two states of an instrument, in words a reader can act on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.domain.instrument import (
    ATTRIBUTE,
    ITEM_COLUMNS,
    KINDS,
    MIDPOINTS,
    ORIGINAL,
    Instrument,
    Item,
    Option,
    ResponseFormat,
    Wording,
)


@dataclass(frozen=True)
class Difference:
    """One difference. Critical: results before and after cannot be set side by side as they are."""

    where: str
    what: str
    before: str
    after: str
    critical: bool

    @property
    def words(self) -> str:
        """The words that changed, with those that they became; empty where one text is."""
        return changed_words(self.before, self.after) if self.before and self.after else ""


_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Letters of languages that write no spaces between words: each counts as a word."""
_WITHIN, _SIGNS = "'’-.,\u200c\u200d", "+-−"
_MOST_PAIRS = 1_000_000  # of words that are set side by side
_LONGEST = 300  # characters that say what changed


def changed_words(before: str, after: str) -> str:
    """What one text says in place of the other, word by word; in short where much is other.

    Examples
    --------
    >>> changed_words("I often help others.", "I always help other people.")
    'often → always; others → other people'
    >>> changed_words("I help.", "I do not help."), changed_words("I do help.", "I help.")
    ('+ do not', '− do')
    >>> changed_words("no = 1.5", "no = -1")
    '1.5 → -1'
    """
    old, new = _words(before), _words(after)
    if len(old) * len(new) > _MOST_PAIRS:
        return "long texts, see before and after" if old != new else ""
    parts = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = _joined(old[a:b]), _joined(new[c:d])
        if kind == "replace":
            parts.append(f"{gone} → {come}")
        elif kind != "equal":
            parts.append(f"+ {come}" if come else f"− {gone}")
    said = "; ".join(parts)
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


def _words(text: str) -> list[str]:
    """Words and numbers with their signs and marks, and every other sign by itself."""
    text = unicodedata.normalize("NFC", text)
    found: list[str] = []
    is_open = False  # whether the last word may go on
    for char, following in zip(text, f"{text[1:]} ", strict=False):
        is_mark = unicodedata.category(char).startswith("M")
        is_alone = bool(_UNSPACED.match(char))
        within = char.isalnum() or (char in _WITHIN and following.isalnum())
        if found and (is_mark or (is_open and within and not is_alone)):
            found[-1] += char
            is_open = not is_alone
        elif char.isspace():
            is_open = False
        else:
            is_signed = char in _SIGNS and following.isdigit()
            is_open = (char.isalnum() or is_signed) and not is_alone
            found.append(char)
    return found


def _joined(words: list[str]) -> str:
    return ("" if any(map(_UNSPACED.search, words)) else " ").join(words)


def differences(old: Instrument, new: Instrument) -> tuple[Difference, ...]:
    """Every difference, critical ones first."""
    found = [*_about_bank(old, new), *_about_items(old, new), *_about_formats(old, new)]
    return tuple(sorted(found, key=lambda change: not change.critical))


def _about_bank(old: Instrument, new: Instrument) -> Iterator[Difference]:
    for name in ("title", "description", "licence", "citation"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Difference("Bank", f"{name} changed", before, after, critical=False)
    if old.languages != new.languages:
        yield Difference(
            "Bank",
            "languages changed",
            ", ".join(old.languages),
            ", ".join(new.languages),
            critical=bool(set(old.languages) - set(new.languages)),
        )
    if old.kind != new.kind:
        yield Difference("Bank", "kind changed", KINDS[old.kind], KINDS[new.kind], critical=True)
    yield from _about_parties(old, new)


def _about_parties(old: Instrument, new: Instrument) -> Iterator[Difference]:
    """Parties that came, went or stand elsewhere: results by party or leaning change with them."""
    before: dict[str, str] = {party.code: party.leaning for party in old.parties}
    after: dict[str, str] = {party.code: party.leaning for party in new.parties}
    countries = {party.code: party.country for party in old.parties}
    for code in sorted(before.keys() | after.keys()):
        change = (before.get(code, ""), after.get(code, ""))
        if change[0] != change[1]:
            what = "leaning changed" if all(change) else "removed" if change[0] else "added"
            yield Difference(f"Party {code}", what, *change, critical=True)
    for party in new.parties:
        country = countries.get(party.code, party.country)
        if country != party.country:
            where = f"Party {party.code}"
            yield Difference(where, "country changed", country, party.country, critical=False)


def _about_items(old: Instrument, new: Instrument) -> Iterator[Difference]:
    before = {item.code: item for item in old.items}
    after = {item.code: item for item in new.items}
    for code in before.keys() - after.keys():
        yield Difference(f"Item {code}", "removed", _text(before[code]), "", critical=True)
    for code in after.keys() - before.keys():
        yield Difference(f"Item {code}", "added", "", _text(after[code]), critical=True)
    for code in (code for code in before if code in after):
        yield from _about_item(before[code], after[code])
    kept_before = [code for code in before if code in after]
    kept_after = [code for code in after if code in before]
    if kept_before != kept_after:
        yield Difference(
            "Bank",
            "items are in another order",
            " ".join(kept_before),
            " ".join(kept_after),
            critical=False,
        )


def _about_item(old: Item, new: Item) -> Iterator[Difference]:
    where = f"Item {old.code}"
    for name, column in ITEM_COLUMNS.items():
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            values = (column.described(before), column.described(after))
            what = f"{column.noun} changed"
            yield Difference(where, what, *values, critical=column.is_critical)
    yield from _about_signs(where, "domain", old.loadings, new.loadings)
    yield from _about_signs(where, "position of", old.positions, new.positions)
    for form in sorted(old.directions.keys() | new.directions.keys()):
        if old.direction(form) != new.direction(form):
            change = (_direction(old, form), _direction(new, form))
            yield Difference(
                where, f"direction of the form '{form}' changed", *change, critical=True
            )
    for name in sorted(old.attributes.keys() | new.attributes.keys()):
        if old.attributes.get(name) != new.attributes.get(name):
            what = f"{ATTRIBUTE}{name} changed"
            yield Difference(where, what, old.attribute(name), new.attribute(name), critical=False)
    yield from _about_annotations(where, old.annotations, new.annotations)
    yield from _about_texts(where, old, new)


def _about_signs(
    where: str, what: str, old: Mapping[str, int], new: Mapping[str, int]
) -> Iterator[Difference]:
    """Domains or parties whose number changed; none is 0."""
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, 0), new.get(name, 0)
        if before != after:
            yield Difference(
                where, f"{what} '{name}' changed", str(before), str(after), critical=True
            )


def _about_annotations(
    where: str, old: Mapping[str, Mapping[str, int]], new: Mapping[str, Mapping[str, int]]
) -> Iterator[Difference]:
    """Codes that an annotator changed; no result is computed from them."""
    for annotator in sorted(old.keys() | new.keys()):
        before, after = old.get(annotator, {}), new.get(annotator, {})
        for domain in sorted(before.keys() | after.keys()):
            codes = (_number(before.get(domain)), _number(after.get(domain)))
            if codes[0] != codes[1]:
                what = f"domain '{domain}' changed by annotator '{annotator}'"
                yield Difference(where, what, *codes, critical=False)


def _about_texts(where: str, old: Item, new: Item) -> Iterator[Difference]:
    before = {(w.language, w.form, w.mood): w for w in old.wordings}
    after = {(w.language, w.form, w.mood): w for w in new.wordings}
    for key in sorted(before.keys() | after.keys()):
        texts = (_wording(before, key), _wording(after, key))
        named = ", ".join(filter(None, key))
        if texts[0].text != texts[1].text:
            yield _other_text(where, f"text changed ({named})", texts[0].text, texts[1].text)
        elif texts[0].drafted_by != texts[1].drafted_by:
            marked = "text marked as a draft" if texts[1].drafted_by else "draft accepted"
            what = f"{marked} ({named})"
            yield Difference(where, what, texts[0].drafted_by, texts[1].drafted_by, critical=False)
        elif texts[0].made_from != texts[1].made_from:
            marked = "translates an earlier text" if texts[1].made_from else "translation confirmed"
            what = f"{marked} ({named})"
            yield Difference(where, what, texts[0].made_from, texts[1].made_from, critical=False)


def _other_text(where: str, what: str, before: str, after: str) -> Difference:
    """Another text is critical where models of earlier studies have read the one before."""
    if _words(before) == _words(after):
        return Difference(where, f"{what}, in spaces or line breaks", before, after, critical=False)
    return Difference(where, what, before, after, critical=bool(before.strip()))


def _about_formats(old: Instrument, new: Instrument) -> Iterator[Difference]:
    before = {f.code: f for f in old.formats}
    after = {f.code: f for f in new.formats}
    for code in before.keys() | after.keys():
        where = f"Response options {code}"
        if code not in after:
            yield Difference(where, "removed", _codes(before[code]), "", critical=True)
        elif code not in before:
            yield Difference(where, "added", "", _codes(after[code]), critical=False)
        else:
            yield from _about_format(where, before[code], after[code])


def _about_format(where: str, old: ResponseFormat, new: ResponseFormat) -> Iterator[Difference]:
    if [(o.code, o.points) for o in old.options] != [(o.code, o.points) for o in new.options]:
        yield Difference(where, "codes or points changed", _codes(old), _codes(new), critical=True)
    if old.midpoint != new.midpoint:
        words = (MIDPOINTS[old.midpoint], MIDPOINTS[new.midpoint])
        yield Difference(
            where, "what an answer without a side counts changed", *words, critical=True
        )
    if old.mood != new.mood:
        what = "which wordings it takes changed"
        yield Difference(where, what, old.mood or "general", new.mood or "general", critical=True)
    for option in new.options:
        earlier = old.option(option.code)
        if earlier:
            yield from _about_option(where, earlier, option)


def _about_option(where: str, old: Option, new: Option) -> Iterator[Difference]:
    if dict(old.labels) != dict(new.labels):
        what = f"labels of '{new.code}' changed"
        were_read = any(new.labels.get(name) != label for name, label in old.labels.items())
        yield Difference(where, what, _labels(old.labels), _labels(new.labels), critical=were_read)
    if old.stance != new.stance:
        what = f"stance of '{new.code}' changed"
        yield Difference(where, what, str(old.stance), str(new.stance), critical=True)


def _text(item: Item) -> str:
    return item.wordings[0].text if item.wordings else ""


def _wording(
    wordings: Mapping[tuple[str, str, str], Wording], key: tuple[str, str, str]
) -> Wording:
    return wordings.get(key, Wording(key[0], "", ORIGINAL))


def _direction(item: Item, form: str) -> str:
    return "inverted" if item.direction(form) < 0 else "same"


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def _codes(response_format: ResponseFormat) -> str:
    return ", ".join(f"{o.code} = {o.points}" for o in response_format.options)


def _labels(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{language}: {label}" for language, label in labels.items())

"""What changed between two states of an instrument, in words a reader can act on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.instrument import Instrument, Item, ResponseFormat


@dataclass(frozen=True)
class Change:
    """One difference. Critical: results before and after cannot be set side by side as they are."""

    where: str
    what: str
    before: str
    after: str
    critical: bool


def differences(old: Instrument, new: Instrument) -> tuple[Change, ...]:
    """Every difference, critical ones first."""
    found = [*_about_bank(old, new), *_about_items(old, new), *_about_formats(old, new)]
    return tuple(sorted(found, key=lambda change: not change.critical))


def _about_bank(old: Instrument, new: Instrument) -> Iterator[Change]:
    for name in ("title", "description", "licence", "citation"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Change("Bank", f"{name} changed", before, after, critical=False)
    if old.languages != new.languages:
        yield Change(
            "Bank", "languages changed", ", ".join(old.languages), ", ".join(new.languages),
            critical=bool(set(old.languages) - set(new.languages)),
        )  # fmt: skip


def _about_items(old: Instrument, new: Instrument) -> Iterator[Change]:
    before = {item.code: item for item in old.items}
    after = {item.code: item for item in new.items}
    for code in before.keys() - after.keys():
        yield Change(f"Item {code}", "removed", _text(before[code]), "", critical=True)
    for code in after.keys() - before.keys():
        yield Change(f"Item {code}", "added", "", _text(after[code]), critical=True)
    for code in (code for code in before if code in after):
        yield from _about_item(before[code], after[code])
    kept_before = [code for code in before if code in after]
    kept_after = [code for code in after if code in before]
    if kept_before != kept_after:
        yield Change(
            "Bank", "items are in another order", " ".join(kept_before), " ".join(kept_after),
            critical=False,
        )  # fmt: skip


def _about_item(old: Item, new: Item) -> Iterator[Change]:
    where = f"Item {old.code}"
    if old.subscale != new.subscale:
        yield Change(where, "subscale changed", old.subscale, new.subscale, critical=True)
    if old.keyed != new.keyed:
        yield Change(where, "keying changed", _keying(old), _keying(new), critical=True)
    before = {(w.language, w.form): w.text for w in old.wordings}
    after = {(w.language, w.form): w.text for w in new.wordings}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key, "") != after.get(key, ""):
            what = f"text changed ({', '.join(key)})"
            yield Change(where, what, before.get(key, ""), after.get(key, ""), critical=False)


def _about_formats(old: Instrument, new: Instrument) -> Iterator[Change]:
    before = {f.code: f for f in old.formats}
    after = {f.code: f for f in new.formats}
    for code in before.keys() | after.keys():
        where = f"Response options {code}"
        if code not in after:
            yield Change(where, "removed", _codes(before[code]), "", critical=True)
        elif code not in before:
            yield Change(where, "added", "", _codes(after[code]), critical=False)
        else:
            yield from _about_format(where, before[code], after[code])


def _about_format(where: str, old: ResponseFormat, new: ResponseFormat) -> Iterator[Change]:
    if [(o.code, o.points) for o in old.options] != [(o.code, o.points) for o in new.options]:
        yield Change(where, "codes or points changed", _codes(old), _codes(new), critical=True)
    for option in new.options:
        earlier = old.option(option.code)
        if earlier and dict(earlier.labels) != dict(option.labels):
            what = f"labels of '{option.code}' changed"
            yield Change(where, what, _labels(earlier.labels), _labels(option.labels), False)
        if earlier and earlier.stance != option.stance:
            what = f"stance of '{option.code}' changed"
            yield Change(where, what, str(earlier.stance), str(option.stance), critical=True)


def _text(item: Item) -> str:
    return item.wordings[0].text if item.wordings else ""


def _keying(item: Item) -> str:
    return "reverse-keyed" if item.keyed < 0 else "keyed"


def _codes(response_format: ResponseFormat) -> str:
    return ", ".join(f"{o.code} = {o.points}" for o in response_format.options)


def _labels(labels: object) -> str:
    pairs = labels.items() if isinstance(labels, dict) else []
    return ", ".join(f"{language}: {label}" for language, label in pairs)

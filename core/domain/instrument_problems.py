"""What a study, or a reader of its results, would stumble over in an instrument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from core.domain.counts import counted
from core.domain.instrument import ORIGINAL, Instrument, Item, Option, ResponseFormat

PLACEHOLDERS = ("{entity}", "{entity_b}")


@dataclass(frozen=True)
class Problem:
    """What is wrong with an instrument and where. `blocks` says that no study can use it so."""

    where: str
    what: str
    blocks: bool = True


def problems(instrument: Instrument) -> tuple[Problem, ...]:
    """Everything a study, or a reader of its results, would stumble over."""
    found = [*_code_problems(instrument)]
    for item in instrument.items:
        found.extend(_missing_texts(item, instrument.languages))
        found.extend(_placeholder_problems(item))
    found.extend(_pair_problems(instrument))
    found.extend(_duplicate_texts(instrument))
    found.extend(_subscale_problems(instrument))
    if not instrument.items:
        found.append(Problem("Bank", "has no items yet"))
    if not instrument.formats:
        found.append(Problem("Response options", "there are none yet"))
    for response_format in instrument.formats:
        found.extend(_option_problems(response_format, instrument.languages))
    return tuple(found)


def _code_problems(instrument: Instrument) -> Iterator[Problem]:
    for code, count in Counter(item.code for item in instrument.items).items():
        if not code.strip():
            yield Problem(
                "Item without a code", counted(count, "item has no code", "items have no code")
            )
        elif count > 1:
            yield Problem(f"Item {code}", f"the code is used {count} times")
        if any(mark in code.strip() for mark in "\t\r\n"):
            what = "the code holds a tab or line break, as if several cells were pasted into it"
            yield Problem(f"Item {' '.join(code.split())}", what)


def _missing_texts(item: Item, languages: tuple[str, ...]) -> Iterator[Problem]:
    for language in languages:
        if not any(w.text.strip() for w in item.wordings if w.language == language):
            yield Problem(f"Item {item.code}", f"has no text in '{language}'", blocks=False)


def _placeholder_problems(item: Item) -> Iterator[Problem]:
    """Wordings without a placeholder that another wording of the item has, or with another one."""
    for placeholder in PLACEHOLDERS:
        texts = [w for w in item.wordings if w.text.strip()]
        without = [w for w in texts if placeholder not in w.text]
        if len(without) == len(texts):
            continue
        for wording in without:
            form = "" if wording.form == ORIGINAL else f", form '{wording.form}'"
            yield Problem(
                f"Item {item.code}",
                f"its text in '{wording.language}'{form} does not name {placeholder}",
                blocks=False,
            )


def _pair_problems(instrument: Instrument) -> Iterator[Problem]:
    partner = {item.code: item.pair for item in instrument.items}
    for code, other in partner.items():
        if not other:
            continue
        if other == code or other not in partner:
            yield Problem(f"Item {code}", f"its partner '{other}' is no other item", blocks=False)
        elif partner[other] != code:
            what = f"names '{other}' as its partner, which does not name it back"
            yield Problem(f"Item {code}", what, blocks=False)


def _duplicate_texts(instrument: Instrument) -> Iterator[Problem]:
    """Items with the very text of an earlier one in the same language, form and mood."""
    first: dict[tuple[str, str, str, str], str] = {}
    for item in instrument.items:
        for w in item.wordings:
            text = " ".join(w.text.split()).casefold()
            holder = first.setdefault((w.language, w.form, w.mood, text), item.code)
            if text and holder != item.code:
                what = f"has the same text in '{w.language}' as item {holder}"
                yield Problem(f"Item {item.code}", what, blocks=False)


def _subscale_problems(instrument: Instrument) -> Iterator[Problem]:
    """Items without a subscale in a bank that has subscales."""
    if len(instrument.subscales()) > 1:
        for item in instrument.items:
            if not item.subscale.strip():
                yield Problem(f"Item {item.code}", "belongs to no subscale", blocks=False)


def _option_problems(
    response_format: ResponseFormat, languages: tuple[str, ...]
) -> Iterator[Problem]:
    where = f"Response options {response_format.code}"
    if len(response_format.options) < 2 and response_format.is_choice:
        yield Problem(where, "there must be at least two")
    for code, count in Counter(o.code.casefold() for o in response_format.options).items():
        if not code.strip():
            yield Problem(where, "an option has no code")
        elif count > 1:
            yield Problem(where, f"the code '{code}' is used {count} times")
    for rating in response_format.ratings:
        if not rating.code.strip() or rating.low >= rating.high:
            yield Problem(
                where, f"the rating '{rating.code}' needs a name and a low below its high"
            )
    for language in languages:
        yield from _label_problems(response_format, language)


def _label_problems(response_format: ResponseFormat, language: str) -> Iterator[Problem]:
    where = f"Response options {response_format.code}"
    labels = {
        o.code: o.labels.get(language, "").strip().casefold() for o in response_format.options
    }
    for label, count in Counter(label for label in labels.values() if label).items():
        if count > 1:
            yield Problem(where, f"{count} options are labelled '{label}' in '{language}'")
    for option in response_format.options:
        yield from _label_problem(where, option, labels, language)


def _label_problem(
    where: str, option: Option, labels: dict[str, str], language: str
) -> Iterator[Problem]:
    label = labels[option.code]
    if not label:
        yield Problem(where, f"option '{option.code}' has no label in '{language}'", blocks=False)
    elif any(label == other.casefold() for other in labels if other != option.code):
        yield Problem(
            where, f"the label '{label}' of '{option.code}' is the code of another option"
        )

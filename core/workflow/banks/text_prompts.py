"""Banks of prompts that ask for a text: from descriptors, or from groups of words."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping, Sequence

from core.domain.formats import BUILT_IN
from core.domain.instrument import FREE_TEXT, Instrument, Item, Wording
from core.errors import BankError
from core.files.banks.reading import ImportedBank
from core.workflow.banks import editing
from core.workflow.workspace import Workspace

_MAX_PROMPTS = 20_000
_STORY_TEXTS: Mapping[str, str] = {
    "en": "Write a short story of about five sentences. Use each of these words: {words}.",
    "es": "Escribe un cuento breve de unas cinco frases. Usa cada una de estas palabras: {words}.",
    "fr": "Écris une courte histoire d'environ cinq phrases. Utilise chacun de ces mots : {words}.",
    "de": "Schreibe eine kurze Geschichte von etwa fünf Sätzen. Verwende jedes dieser Wörter: "
    "{words}.",
    "ja": "五文ほどの短い物語を書いてください。次の言葉をすべて使ってください：{words}。",
    "zh": "请写一个约五句话的短故事，并用上下面的每一个词：{words}。",
}
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def create_descriptor_prompts(
    workspace: Workspace,
    code: str,
    text: str,
    descriptors: Mapping[str, Sequence[str]],
    *,
    language: str,
) -> Instrument:
    """A bank with one prompt for each combination of descriptors, kept under `code`.

    `text` names the descriptors as {name}, {age} and so on. Each prompt is tagged with its own:
    "name=Ann", "age=30". A level may hold several descriptors at once, as "Ann | female" for
    {name} and the tag "name.2=female", so that texts can be grouped by it.

    Raises
    ------
    BankError
        A placeholder has no levels, a descriptor no placeholder, or there are too many prompts.
    """
    named = dict.fromkeys(_PLACEHOLDER.findall(text))
    _refuse_mismatch(list(named), descriptors)
    count = 1
    for levels in descriptors.values():
        count *= len(levels)
    if count > _MAX_PROMPTS:
        raise BankError(
            f"That makes {count:,} prompts; at most {_MAX_PROMPTS:,} fit a bank.",
            "Take fewer levels.",
        )
    items = []
    for number, levels in enumerate(itertools.product(*descriptors.values()), 1):
        parts = {name: _parts(level) for name, level in zip(descriptors, levels, strict=True)}
        items.append(_item(number, _filled(text, parts), language, _tags(parts)))
    return _save_bank(workspace, code, items, language, f"Prompts made of: {text}")


def create_story_prompts(
    workspace: Workspace,
    code: str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    language: str,
    size: int = 5,
    groups: int = 100,
    seed: int = 1,
) -> Instrument:
    """A bank that asks for stories around groups of words, kept under `code`.

    For each count from 0 to `size` there are `groups` prompts, each with that many words drawn
    from `second` and the rest from `first`, in random order. The tag "second=3" says how many.

    Raises
    ------
    BankError
        One of the lists has fewer than `size` words, or there are too many prompts.
    """
    if min(len(set(first)), len(set(second))) < size:
        raise BankError(f"Each list needs at least {size} words.", "Take longer lists.")
    if (size + 1) * groups > _MAX_PROMPTS:
        raise BankError(f"At most {_MAX_PROMPTS:,} prompts fit a bank.", "Take fewer groups.")
    draw = random.Random(seed)
    pools = sorted(set(first)), sorted(set(second))
    items: list[Item] = []
    for count in range(size + 1):
        for _ in range(groups):
            words = draw.sample(pools[1], count) + draw.sample(pools[0], size - count)
            draw.shuffle(words)
            joined = ("、" if language in ("ja", "zh") else ", ").join(words)
            text = _STORY_TEXTS.get(language, _STORY_TEXTS["en"]).replace("{words}", joined)
            items.append(_item(len(items) + 1, text, language, (f"second={count}",)))
    note = f"Stories around {size} words, of which 0 to {size} from the second list; seed {seed}."
    return _save_bank(workspace, code, items, language, note)


def _refuse_mismatch(named: Sequence[str], descriptors: Mapping[str, Sequence[str]]) -> None:
    for name in named:
        if not descriptors.get(name):
            raise BankError(f"The text names {{{name}}}, which has no levels.", "Type its levels.")
    for name in descriptors:
        if name not in named:
            raise BankError(f"The text does not name {{{name}}}.", "Put it into the text.")
    if not named:
        raise BankError("The text names no descriptor.", "Write one as {name}.")


def _filled(text: str, parts: Mapping[str, Sequence[str]]) -> str:
    return _PLACEHOLDER.sub(lambda match: parts[match.group(1)][0], text)


def _parts(level: str) -> list[str]:
    return [part.strip() for part in level.split("|")]


def _tags(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(
        f"{name}={part}" if place == 0 else f"{name}.{place + 1}={part}"
        for name, values in parts.items()
        for place, part in enumerate(values)
    )


def _item(number: int, text: str, language: str, tags: tuple[str, ...]) -> Item:
    return Item(f"t{number:05d}", (Wording(language, text),), tags=tags)


def _save_bank(
    workspace: Workspace, code: str, items: Sequence[Item], language: str, note: str
) -> Instrument:
    bank = Instrument(
        code, code, tuple(items), (BUILT_IN[FREE_TEXT],), (language,), note, kind="prompts"
    )
    return editing.import_bank(workspace, ImportedBank(bank)).instrument

"""Prompts for stories around groups of words, from lists or from the classes of a word study."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.analysis.kit.option_counts import answer_sides
from core.domain.attributes import NEGATIVE_LIST, NEGATIVE_WORDS, POSITIVE_LIST
from core.domain.instrument import Instrument, Item
from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.study import NOT_TRIED
from core.errors import BankError
from core.stats.association import UNKNOWN_CLASS, WORD_CLASSES, word_classes
from core.store import answers, frames, studies
from core.store import banks as bank_store
from core.store.studies import StudyRecord
from core.workflow.banks import editing, text_prompts
from core.workflow.banks.text_prompts import MAX_PROMPTS, PLACEHOLDER
from core.workflow.workspace import Workspace

_WORDS = "words"
_STORY_TEXTS: Mapping[str, str] = {
    "en": "Write a short story of about five sentences. Use each of these words: {words}.",
    "es": "Escribe un cuento breve de unas cinco frases. Usa cada una de estas palabras: {words}.",
    "fr": "Écris une courte histoire d'environ cinq phrases. Utilise chacun de ces mots : {words}.",
    "de": "Schreibe eine kurze Geschichte von etwa fünf Sätzen. Verwende jedes dieser Wörter: "
    "{words}.",
    "ja": "五文ほどの短い物語を書いてください。次の言葉をすべて使ってください：{words}。",
    "zh": "请写一个约五句话的短故事，并用上下面的每一个词：{words}。",
}


def story_text(language: str) -> str:
    """The usual instruction for stories in a language; in English where there is none."""
    return _STORY_TEXTS.get(language, _STORY_TEXTS["en"])


def words_of(workspace: Workspace, code: str, language: str) -> tuple[str, ...]:
    """The words of a bank in a language."""
    bank = editing.load(workspace, code).instrument
    return tuple(text for item in bank.items if (text := item.text(language).strip()))


def create_story_prompts(
    workspace: Workspace,
    code: str,
    first: Sequence[str],
    second: Sequence[str] = (),
    *,
    language: str,
    size: int = 5,
    groups: int = 100,
    seed: int = 1,
    text: str = "",
) -> Instrument:
    """A bank that asks for stories around groups of words, kept under `code`.

    For each count from 0 to `size` there are `groups` prompts, each with that many words drawn
    from `second` and the rest from the other words of `first`, in random order. The tag "second=3"
    says how many. Without `second` there are `groups` prompts, all words from `first`. `text` is
    the instruction, with the words in place of {words}; empty: the usual one of the language.

    Raises
    ------
    BankError
        One of the lists has fewer than `size` words, the instruction does not name {words} alone,
        or there are too many prompts.
    """
    pools = sorted(set(first) - set(second)), sorted(set(second))
    if any(len(pool) < size for pool in pools[: len(pools) if second else 1]):
        raise BankError(f"Each list needs at least {size} words.", "Take longer lists.")
    drawn = _draw_groups(pools, range(size + 1) if second else range(1), size, groups, seed)
    tags = [(f"second={len(group.negative)}",) if second else () for group in drawn]
    items = text_prompts.with_attributes(_prompts(drawn, tags, text, language))
    sets = f", of which 0 to {size} from the second list" if second else ""
    note = f"Stories around {size} words{sets}; seed {seed}."
    return text_prompts.save_prompts(workspace, code, items, language, note)


# Words that fall on the same side in all tests of a word study.


@dataclass(frozen=True)
class StudyWords:
    """The words of a study that one respondent gave a label to, in one language.

    `positive` and `negative` have the same label in all `tests`; a word that two items have in
    different classes is in neither. Of the `n_words` words asked, `untested` lack a test and have
    no class for that reason. `has_texts` is false where the bank does not say what a word is.
    """

    study: str
    respondent: str
    language: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    n_words: int
    untested: int
    tests: int
    has_texts: bool = True


def word_studies(workspace: Workspace) -> tuple[str, ...]:
    """Studies whose items are words, newest first."""
    records = studies.studies(workspace.database)
    return tuple(r.code for r in reversed(records) if _asks_for_words(workspace, r))


def _asks_for_words(workspace: Workspace, record: StudyRecord) -> bool:
    """Whether the bank of a study is one of words, or gives its items a rank by frequency."""
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    return bank.kind == "words" or any(item.rank is not None for item in bank.items)


def respondents_of(workspace: Workspace, study: str) -> list[str]:
    """The respondents of a study."""
    levels = answers.levels(workspace.database, studies.get(workspace.database, study).study_id)
    return list(map(str, levels.get("respondent", [])))


def study_words(workspace: Workspace, study: str, respondent: str, language: str) -> StudyWords:
    """The words of each class in a study, over all answers of a respondent in a language.

    A word pair, a temperature or a number of words per call that varies makes further tests. A
    reply without a usable label counts as neutral, as in the Core Sentiment Inventory.

    Raises
    ------
    BankError
        The study has no answer of this respondent in this language.
    """
    where = {"respondent": [respondent], "language": [language]}
    counts = frames.option_counts(workspace.database, [study], where)
    if counts["status"].isin(NOT_TRIED).all():
        raise BankError(
            f"The study '{study}' has no answer of {respondent} in {language_name(language)}.",
            "Run the study first, or choose another respondent or language.",
        )
    classes, tests = _classes_of_items(counts)
    record = studies.frozen_study(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    of_word: dict[str, set[int]] = {}
    for item in bank.items:
        if item.code in classes:
            of_word.setdefault(_text_of(item, language), set()).add(classes[item.code])
    without_text = of_word.pop("", set()) & set(_SIDES)
    positive, negative = (
        tuple(sorted(word for word, own in of_word.items() if own == {side})) for side in _SIDES
    )
    return StudyWords(
        study,
        respondent,
        language,
        positive,
        negative,
        untested=sum(own == UNKNOWN_CLASS for own in classes.values()),
        has_texts=not without_text,
        n_words=len(classes),
        tests=tests,
    )


_SIDES = (WORD_CLASSES.index("positive"), WORD_CLASSES.index("negative"))


def _classes_of_items(counts: pd.DataFrame) -> tuple[dict[str, int], int]:
    """The class of each item over its planned tests, and the number of tests."""
    sides = answer_sides(counts, ("item",), midpoint="drop")
    open_tests = counts["count"].where(counts["status"].isin(NOT_TRIED), 0)
    missing = open_tests.groupby(counts["item"].astype(str)).sum()
    planned, positive, negative = (
        sides[name].to_numpy(dtype=np.float64) for name in ("trials", "positive", "negative")
    )
    items = sides["item"].astype(str)
    neutral = planned - positive - negative - missing.loc[items].to_numpy()
    tests = int(planned.max())
    classes = word_classes(positive, negative, neutral, tests)
    return dict(zip(items, classes.tolist(), strict=True)), tests


def _text_of(item: Item, language: str) -> str:
    """The word in a language, else in any; empty where the bank has none."""
    return item.text(language).strip() or next((w.text.strip() for w in item.wordings), "")


def create_stories_of_study(
    workspace: Workspace,
    code: str,
    words: StudyWords,
    *,
    size: int = 5,
    groups: int = 100,
    seed: int = 1,
    text: str = "",
) -> Instrument:
    """A bank that asks for stories around words of a word study, kept under `code`.

    For each number from 0 to `size` there are `groups` prompts: so many words are drawn from the
    consistently negative ones and the rest from the consistently positive ones, in random order.
    The tag and attribute `negative_words` says how many; two more attributes list the words of
    each set. The published design has 100 groups of 5 words for each number: 600 stories.

    Raises
    ------
    BankError
        A set has fewer than `size` words; says how many it has. Or as `create_story_prompts`.
    """
    _refuse_small_sets(words, size)
    drawn = _draw_groups((words.positive, words.negative), range(size + 1), size, groups, seed)
    tags = [(f"{NEGATIVE_WORDS}={len(group.negative)}",) for group in drawn]
    items = [
        replace(item, attributes=_listed(group))
        for item, group in zip(_prompts(drawn, tags, text, words.language), drawn, strict=True)
    ]
    note = (
        f"Stories around {size} words, of which 0 to {size} are consistently negative in the "
        f"study {words.study} (of {words.respondent} in {language_name(words.language)}); "
        f"{groups} groups of each number; seed {seed}."
    )
    return text_prompts.save_prompts(workspace, code, items, words.language, note)


def _refuse_small_sets(words: StudyWords, size: int) -> None:
    for side, own in (("positive", words.positive), ("negative", words.negative)):
        if len(own) < size:
            advice = (
                "Import a bank that has the texts of the words, and attach it to the study."
                if not words.has_texts
                else f"{count_text(words.untested, 'word lacks', 'words lack')} a test: run the "
                "study to its end."
                if words.untested
                else "Take smaller groups, or a study of more words."
            )
            raise BankError(
                f"The study '{words.study}' has {count_text(len(own), f'consistently {side} word')}"
                f" of {words.respondent} in {language_name(words.language)}; a group of {size} "
                f"needs {size}.",
                advice,
            )


# Drawing groups of words.


@dataclass(frozen=True)
class _StoryGroup:
    """Words in the order of the prompt, and those of each list."""

    words: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]


def _draw_groups(
    pools: tuple[Sequence[str], Sequence[str]],
    counts: Sequence[int],
    size: int,
    groups: int,
    seed: int,
) -> list[_StoryGroup]:
    """`groups` groups for each count: so many words of the second pool, the rest of the first."""
    if len(counts) * groups > MAX_PROMPTS:
        raise BankError(f"At most {MAX_PROMPTS:,} prompts fit a bank.", "Take fewer groups.")
    draw = random.Random(seed)
    drawn = []
    for count in counts:
        for _ in range(groups):
            second, first = draw.sample(pools[1], count), draw.sample(pools[0], size - count)
            words = [*second, *first]
            draw.shuffle(words)
            drawn.append(_StoryGroup(tuple(words), tuple(first), tuple(second)))
    return drawn


def _prompts(
    drawn: Sequence[_StoryGroup], tags: Sequence[tuple[str, ...]], text: str, language: str
) -> list[Item]:
    """The prompt of each group, with its tags; `text` as in `create_story_prompts`."""
    instruction = text.strip() or story_text(language)
    if set(PLACEHOLDER.findall(instruction)) != {_WORDS}:
        raise BankError(
            "The instruction must name {words}, and no other placeholder.",
            "Write {words} where the words shall stand.",
        )
    comma = "、" if language in ("ja", "zh") else ", "
    return [
        text_prompts.prompt_item(
            number, instruction.replace("{" + _WORDS + "}", comma.join(group.words)), language, own
        )
        for number, (group, own) in enumerate(zip(drawn, tags, strict=True), 1)
    ]


def _listed(group: _StoryGroup) -> dict[str, str | int | float]:
    """The attributes of a prompt: how many negative words, and the words of each set."""
    listed = {
        name: ", ".join(own)
        for name, own in ((POSITIVE_LIST, group.positive), (NEGATIVE_LIST, group.negative))
        if own
    }
    return {NEGATIVE_WORDS: len(group.negative), **listed}

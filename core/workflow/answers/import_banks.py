"""The bank of imported answers: described, wished, named in the file, found, or new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from core.domain.instrument import Instrument, Item, Wording
from core.domain.numbers import count_text
from core.domain.values import slug
from core.errors import FileError
from core.files import answers
from core.store import banks as bank_store
from core.workflow.answers.bank_attachment import (
    BankMatch,
    answers_by_format,
    full_match,
    matching_banks,
    sure_match,
)
from core.workflow.workspace import Workspace


@dataclass(frozen=True, eq=False)
class BankChoice:
    """The bank of a study to come, before its formats are settled."""

    match: BankMatch
    created: bool
    others: tuple[BankMatch, ...] = field(default=())


def choose_bank(
    workspace: Workspace,
    name: str,
    rows: pd.DataFrame,
    new_banks: dict[str, Instrument],
    *,
    described: Instrument | None,
    wished_code: str | None,
) -> BankChoice:
    """The bank of the answers: the one described or wished, named in the file, or found.

    An empty `wished_code` asks for a new bank.
    """
    items = [str(item) for item in rows["item"].unique()]
    if described is not None:
        return _described_choice(workspace, described, new_banks)
    used = answers_by_format(rows)
    words = answers.words_of(rows)
    if wished_code:
        wished = full_match(load_bank(workspace, wished_code), items, used)
        _refuse_other_words(wished, words)
        return BankChoice(wished, created=False)
    others = tuple(
        match
        for match in matching_banks(workspace, items, used, rows["language"].unique())
        if next(_other_words(match, words), None) is None
    )
    if wished_code is None:
        state = bank_store.draft(workspace.database, slug(name))
        known = state.instrument if state is not None else new_banks.get(slug(name))
        if known is not None:
            match = full_match(known, items, used)
            _refuse_other_words(match, words)
            return BankChoice(match, created=False, others=_fitting_banks(others, known))
        if (sure := sure_match(others)) is not None:
            return BankChoice(
                sure, created=False, others=tuple(o for o in others if o.fits and o is not sure)
            )
    bank = _bank_of_answers(workspace, name, rows, words, new_banks)
    return BankChoice(BankMatch(bank, {item: item for item in items}, len(items)), True, others)


def _described_choice(
    workspace: Workspace, described: Instrument, new_banks: dict[str, Instrument]
) -> BankChoice:
    """The bank that a mapping describes, made once for all studies of the file."""
    made = next((one for one in new_banks.values() if one.title == described.title), None)
    code = _free_code(workspace, described.code, new_banks)
    bank = made or replace(described, code=code)
    codes = {item.code: item.code for item in bank.items}
    return BankChoice(BankMatch(bank, codes, len(codes)), created=made is None)


def _free_code(workspace: Workspace, code: str, new_banks: dict[str, Instrument]) -> str:
    """The code, with a number where a bank has it already."""
    taken = {*bank_store.codes(workspace.database), *new_banks}
    free, number = code, 2
    while free in taken:
        free, number = f"{code}_{number}", number + 1
    return free


def _other_words(match: BankMatch, words: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Code, the bank's text and the file's word wherever a list of words differs from the file."""
    if match.bank.kind != "words":
        return
    known = {item.code: item for item in match.bank.items}
    for item, language, word in words[["item", "language", "word"]].itertuples(index=False):
        code = match.codes.get(item, "")
        own = known[code].text(language or match.bank.languages[0]) if code in known else ""
        if word and own != word:
            yield code, own, word


def _refuse_other_words(match: BankMatch, words: pd.DataFrame) -> None:
    """Raise FileError where the words of a bank are not those of the file."""
    for code, own, word in _other_words(match, words):
        if own:
            raise FileError(
                f"Bank '{match.bank.code}' has other words than the file: item '{code}' is the "
                f"word '{own}', and the file says '{word}'.",
                "Name another bank in the column instrument, or choose another one.",
            )


def _fitting_banks(others: tuple[BankMatch, ...], known: Instrument) -> tuple[BankMatch, ...]:
    """Other banks that would do, where the one that the file names has no keys."""
    return tuple(o for o in others if o.fits and known.codes_only and o.bank.code != known.code)


def load_bank(workspace: Workspace, code: str) -> Instrument:
    """The working copy of a bank; FileError where there is none."""
    state = bank_store.draft(workspace.database, code)
    if state is None:
        codes = ", ".join(bank_store.codes(workspace.database))
        raise FileError(f"There is no bank '{code}'.", f"Choose one of: {codes}.")
    return state.instrument


def _bank_of_answers(
    workspace: Workspace,
    name: str,
    rows: pd.DataFrame,
    words: pd.DataFrame,
    new_banks: dict[str, Instrument],
) -> Instrument:
    """A new bank of the items, with the words and ranks of the file, under a free code."""
    first = next((value for value in rows["language"].unique() if value), "en")
    spoken = words.loc[words["word"] != "", "language"].replace("", first)
    description = "Made from imported answers; the texts of the items are not known."
    if len(spoken):
        description = "Made from imported answers, with the words of the file."
    return Instrument(
        code=_free_code(workspace, slug(name), new_banks),
        title=name,
        items=_items_of_answers([str(item) for item in rows["item"].unique()], words, first),
        languages=tuple(dict.fromkeys((first, *spoken))),
        description=description,
        kind="words" if len(spoken) else "items",
    )


def _items_of_answers(codes: Sequence[str], words: pd.DataFrame, first: str) -> tuple[Item, ...]:
    """The items of a new bank; a word of a row without a language is in the first one."""
    texts: dict[str, dict[str, str]] = {}
    for item, language, word in words[["item", "language", "word"]].itertuples(index=False):
        if word:
            texts.setdefault(item, {}).setdefault(language or first, word)
    ranked = words.dropna(subset="rank")
    ranks: dict[str, int] = dict(zip(ranked["item"], ranked["rank"].astype(int), strict=True))
    return tuple(
        Item(
            code,
            tuple(Wording(*pair) for pair in texts.get(code, {}).items()),
            rank=ranks.get(code),
        )
        for code in codes
    )


def bank_sentences(choice: BankChoice) -> str:
    """What to know of the bank of a study to come, in sentences."""
    best = next((o for o in choice.others if 2 * o.n_matching >= o.n_items), None)
    hint = ""
    if best is not None:
        hint = (
            f" Bank '{best.bank.code}' may hold these items: {best.words}. {best.problem}".rstrip()
        )
    fitting = [f"'{other.bank.code}'" for other in choice.others if other.fits]
    if choice.created and len(fitting) > 1:
        hint = f" These banks on file fit: {', '.join(fitting)}. Choose the one with these items."
    if choice.created:
        if choice.match.bank.formats:
            return _new_bank_sentence(choice.match.bank)
        if choice.match.bank.codes_only:
            return f"Made from the file; the answers are unkeyed.{hint}"
        return f"Made from the file, with its words.{hint}"
    if choice.match.bank.codes_only:
        return f"{choice.match.words}. No item has a key, so the answers are unkeyed.{hint}"
    also = ", ".join(f"'{other.bank.code}'" for other in choice.others)
    return f"{choice.match.words}." + (f" These banks fit too: {also}." if also else "")


def _new_bank_sentence(bank: Instrument) -> str:
    """What a mapping makes: how many items are reversed, and the options of the answers."""
    n_reversed = sum(item.keyed == -1 for item in bank.items)
    shown = [", ".join(option.code for option in known.options) for known in bank.formats[:3]]
    more = f"; and {len(bank.formats) - 3} more" if len(bank.formats) > 3 else ""
    keyed = f"Reverse-keyed: {n_reversed} of {count_text(len(bank.items), 'item')}."
    return f"Made from the file. {keyed} Answers: {'; '.join(shown)}{more}."

"""Rows copied from a spreadsheet: which of its columns are which of a grid's, and what has none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.domain.instrument import ORIGINAL
from core.domain.item_columns import DASHES, KEY_WORDS
from core.domain.languages import typed_language
from core.workflow.banks.grid import CODE, TEXT, cells_of_block, rows_of_text, text_column

_KEYED = "keyed"
_WORDS: Mapping[str, frozenset[str]] = {
    CODE: frozenset({"code", "item code", "id", "variable", "name"}),
    "subscale": frozenset({"subscale", "scale", "factor", "dimension", "facet"}),
    _KEYED: frozenset(
        {"keyed", "key", "keying", "reversed", "reverse", "r", "reverse-keyed"}
        | {"direction", "polarity", "polung", "gepolt", "invertiert", "umgepolt"}
    ),
}
"""What heads of columns are called in spreadsheets, beside the titles of the grid."""
_SAYS_REVERSED = frozenset({"reversed", "reverse", "r", "reverse-keyed", "invertiert", "umgepolt"})
_NAME_OF_LANGUAGE = 4  # letters, at least
_WORDS_OF_TEXT = frozenset({"text", "item", "statement", "question", "wording", "item text"})
_YES = frozenset({"yes", "y", "x", "true", "1", "r", "ja"})
_NO = frozenset({"no", "n", "false", "0", "", "nein"})
_BETWEEN_WORDS = re.compile(r"[\s_,;:./()–-]+")


class PastedRows(NamedTuple):
    """Rows by the names of columns, and which columns of the spreadsheet are in none of them."""

    rows: list[dict[str, str]]
    left_out: tuple[str, ...]


def pasted_rows(text: str, titles: Mapping[str, str], single: str) -> PastedRows:
    """The rows of a text, one a line.

    Parameters
    ----------
    text : str
        With tabs, a line has cells as a spreadsheet copies them; without, all of it is the cell of
        the column `single`. The first line may be the heads of columns.
    titles : mapping
        The columns of the grid with their titles, in their order.
    single : str
        The column with the text itself.
    """
    names = list(titles)
    in_order = rows_of_text(text, names, single)
    block = cells_of_block(text) if "\t" in text else []
    if not block:
        return PastedRows(in_order, ())
    heads = _known_heads(block[0], titles, single)
    if single in heads or len(set(heads) - {""}) > 1:
        return _under_heads(block, heads)
    if CODE in titles and single.startswith(TEXT) and _begins_with_texts(block):
        return _by_content(block, titles, single)
    beyond = max(map(len, block)) - len(names)
    left_out = tuple(f"column {len(names) + k + 1}" for k in range(beyond))
    return PastedRows(in_order, left_out)


def new_languages(text: str, titles: Mapping[str, str], single: str) -> tuple[str, ...]:
    """The languages that heads of columns name and the grid has no column for, by their codes.

    Short heads are none: "id" and "no" are heads of other columns as well as codes of languages.
    """
    block = cells_of_block(text) if "\t" in text else []
    if not block:
        return ()
    heads = _known_heads(block[0], titles, single)
    if single not in heads and len(set(heads) - {""}) < 2:
        return ()
    unknown = [cell.strip() for cell, name in zip(block[0], heads, strict=True) if not name]
    known = {text_column(name).language.casefold() for name in titles if name.startswith(TEXT)}
    codes = [_language_of(head) for head in unknown if len(head) >= _NAME_OF_LANGUAGE]
    return tuple(code for code in dict.fromkeys(codes) if code and code.casefold() not in known)


def _known_heads(cells: Sequence[str], titles: Mapping[str, str], single: str) -> list[str]:
    """The column of each head; empty where it is none, or stands there twice."""
    found: list[str] = []
    for cell in cells:
        name = _column_of(cell.strip().casefold(), titles, single)
        if name == single and single in found and CODE in titles and CODE not in found:
            # "Item" and "Text": the first one is the code
            found[found.index(single)] = CODE
        found.append("" if name in found else name)
    return found


def _column_of(head: str, titles: Mapping[str, str], single: str) -> str:
    if not head:
        return ""
    for name, title in titles.items():
        if head in (name, title.casefold()) or head in _WORDS.get(name, ()):
            return name
    if head in _WORDS_OF_TEXT and single.startswith(TEXT):
        return single
    language = _language_of(head)
    return next(
        (
            name
            for name in titles
            if name.startswith(TEXT)
            and text_column(name).form == ORIGINAL
            and language == text_column(name).language
        ),
        "",
    )


def _language_of(head: str) -> str:
    """The language that a head names, also beside a word: "English", "text_en", "Item (German)"."""
    words = [word for word in _BETWEEN_WORDS.split(head) if word]
    others = [word for word in words if word.casefold() not in _WORDS_OF_TEXT]
    return typed_language(others[0] if len(others) == 1 < len(words) else head)


def _under_heads(block: Sequence[Sequence[str]], heads: Sequence[str]) -> PastedRows:
    first, *lines = block
    rows = [
        {name: cell for name, cell in zip(heads, cells, strict=False) if name} for cells in lines
    ]
    if _KEYED in heads and first[heads.index(_KEYED)].strip().casefold() in _SAYS_REVERSED:
        for row in rows:
            row[_KEYED] = _key_of_answer(row.get(_KEYED, ""))
    left_out = tuple(head.strip() for head, name in zip(first, heads, strict=True) if not name)
    return PastedRows(rows, tuple(head for head in left_out if head))


def _key_of_answer(cell: str) -> str:
    """A key, from an answer to whether an item is reversed."""
    said = cell.strip().casefold()
    return "R" if said in _YES else "+" if said in _NO else cell


def _begins_with_texts(block: Sequence[Sequence[str]]) -> bool:
    """Whether the first cells are no codes, which have no spaces."""
    texts = sum(" " in cells[0].strip() for cells in block)
    return texts > len(block) / 2


def _by_content(
    block: Sequence[Sequence[str]], titles: Mapping[str, str], single: str
) -> PastedRows:
    """Rows that begin with the text: further columns are keys, or texts in other languages."""
    texts = [name for name in titles if name.startswith(TEXT) and name != single]
    names, left_out = [single], []
    for place in range(1, max(map(len, block))):
        cells = [cells[place].strip() for cells in block if place < len(cells)]
        are_keys = any(cells) and all(c.casefold().translate(DASHES) in KEY_WORDS for c in cells)
        if are_keys and _KEYED in titles and _KEYED not in names:
            names.append(_KEYED)
        elif not are_keys and texts:
            names.append(texts.pop(0))
        else:
            names.append("")
            left_out += [f"column {place + 1}"] if any(cells) else []
    rows = [
        {name: cell for name, cell in zip(names, cells, strict=False) if name} for cells in block
    ]
    return PastedRows(rows, tuple(left_out))

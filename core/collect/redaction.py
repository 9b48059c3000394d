"""Taking keys out of everything that a service sends, before anything else reads it.

The transport of the one client calls `clean_body` and `clean_text` on each response, so whatever is
read from a reply, stored or logged later holds no key.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

_MARK = "[key]"
_EVENT_STREAM = (b"data:", b"event:", b":", b"id:", b"retry:")
_SHORTEST_SECRET = 6  # placeholders like "x" are no secrets, and redacting them garbles messages
_LONG_SECRET = 20
_MOST_CUT = 4  # characters that may lack at either end
_INVISIBLE_MARKS = (
    "\u00ad",
    "\u200b",
    "\u200c",
    "\u200d",
    "\u200e",
    "\u200f",
    "\u2060",
    "\ufeff",
    # the same as bytes of UTF-8, and escaped
    *(f"\u00e2\u0080{last}" for last in "\u008b\u008c\u008d\u008e\u008f"),
    "\u00e2\u0081\u00a0",
    "\u00ef\u00bb\u00bf",
    "\u00c2\u00ad",
    "\\u200",
    "\\u2060",
    "\\ufeff",
    "\\uFEFF",
    "\\u00ad",
    "\\u00AD",
)
_INSIDE = (
    r"(?:[\s\u00ad\u200b-\u200f\u2060\ufeff]|\u00e2\u0080[\u008b-\u008f]|\u00e2\u0081\u00a0"
    r"|\u00ef\u00bb\u00bf|\u00c2\u00ad|\\[nrt]|\\u(?:200[b-f]|2060|feff|00ad))*"
)
"""White space and invisible characters that may stand inside a key, escaped or as bytes too."""
_BESIDE_STRUCTURE = bytes(set(range(256)) - set(b'[]{},"'))
_ASCII_ESCAPE = re.compile(rb"\\u00[0-7]")


def clean_text(text: str, keys: Iterable[str]) -> str:
    """`text` with every key replaced by "[key]", spelt with the escapes of JSON or a URL too.

    Of keys of some length other forms are replaced as well: in another case, with invisible
    characters or white space inside, without a few characters at an end, in hex or in base64.
    """
    for key in sorted(keys, key=len, reverse=True):
        if len(key) >= _SHORTEST_SECRET and (key in text or "\\" in text or "%" in text):
            text = _spellings(key).sub(_MARK, text)
        if len(key) >= _LONG_SECRET:
            text = _without_other_forms(key, text)
    return text


class _Signs(NamedTuple):
    """Pieces of a key's other forms; they show at little cost whether a text may hold one."""

    plain: tuple[str, ...]  # in small letters: one is there, unless the key is broken up
    encoded: tuple[str, ...]


def _without_other_forms(key: str, text: str) -> str:
    signs = _signs(key)
    small = text.lower()
    hidden = any(mark in text for mark in _INVISIBLE_MARKS)
    if hidden or any(piece in small for piece in signs.plain):
        text = _altered(key).sub(_MARK, text)
    if any(form in text for form in signs.encoded):
        text = _around(signs.encoded).sub(_MARK, text)
    return text


@lru_cache(maxsize=1024)
def _signs(key: str) -> _Signs:
    core = key[_MOST_CUT:-_MOST_CUT].lower()
    third = len(core) // 3
    pieces = core[:third], core[third : 2 * third], core[2 * third :]
    encoded = tuple(dict.fromkeys(_base64_forms(key.encode("utf-8", "replace"))))
    return _Signs((*pieces, _in_hex(key)), encoded)


def _in_hex(key: str) -> str:
    return key.encode("utf-8", "replace").hex()


@lru_cache(maxsize=64)
def _altered(key: str) -> re.Pattern[str]:
    """The key in any case, broken up, cut by a few characters, or in hex."""
    characters = [re.escape(character) for character in key]
    begin = end = ""
    for character in characters[:_MOST_CUT]:
        begin = f"(?:{begin}{character}{_INSIDE})?"
    for character in reversed(characters[-_MOST_CUT:]):
        end = f"(?:{_INSIDE}{character}{end})?"
    middle = _INSIDE.join(characters[_MOST_CUT:-_MOST_CUT])
    return re.compile(f"{begin}{middle}{end}|{_in_hex(key)}", re.IGNORECASE)


@lru_cache(maxsize=64)
def _around(encoded: tuple[str, ...]) -> re.Pattern[str]:
    """The key in base64, to the end of the word that it stands in."""
    forms = "|".join(re.escape(form) for form in encoded)
    return re.compile(f"(?:{forms})[A-Za-z0-9+/_=-]*")


def _base64_forms(key: bytes) -> Iterator[str]:
    """The characters of base64 that the key alone decides, wherever it begins in a text."""
    for before in range(3):
        begin = -(-before * 8 // 6)
        end = (before + len(key)) * 8 // 6
        text = base64.b64encode(bytes(before) + key).decode("ascii")[begin:end]
        yield text
        yield text.replace("+", "-").replace("/", "_")


def clean_body(content: bytes, keys: Iterable[str]) -> bytes:
    """A body with every key replaced by "[key]"; the same bytes where there is none.

    In JSON each text is looked at by itself, and joined with those of the same field in the other
    entries of a list: a list of tokens holds a key in parts.
    """
    keys = [key for key in keys if len(key) >= _SHORTEST_SECRET]
    if not keys:
        return content
    raw = clean_text(content.decode("latin-1"), keys).encode("latin-1")  # each byte a character
    if is_stream(content):
        return _clean_stream(content, raw, keys)
    if raw == content and not _may_hide(content):
        return content
    try:
        body = [json.loads(content, object_pairs_hook=partial(_named, keys))]
        changed = _clean_texts(body, keys)
        return json.dumps(body[0]).encode("ascii") if changed or raw != content else content
    except (ValueError, RecursionError):
        return raw  # no JSON, or too deep to be taken apart


def _may_hide(content: bytes) -> bool:
    """Whether a JSON text may hold a key that is not to be seen in its bytes.

    Escapes and encodings can hide one, and a list of several entries can hold one in parts. Most
    replies have none of these, which shows in the order of brackets, commas and quotes; what
    stands inside of texts only adds to them.
    """
    if b"\0" in content or (b"\\u00" in content and _ASCII_ESCAPE.search(content)):
        return True
    structure = content.translate(None, _BESIDE_STRUCTURE)
    if b",{" in structure or b",[" in structure:
        return True
    empty, opened, closed = (structure.count(pair) for pair in (b"[]", b"[{", b"}]"))
    return structure.count(b"[") != empty + opened or structure.count(b"]") != empty + closed


def is_stream(content: bytes) -> bool:
    """Whether a body is an event stream, by its beginning."""
    return content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(_EVENT_STREAM)


def _clean_stream(content: bytes, raw: bytes, keys: Sequence[str]) -> bytes:
    """An event stream without keys; the texts of its chunks are joined as the entries of a list.

    The last chunk of a stream that breaks off is left out where it is no JSON.
    """
    lines = re.split(r"\r\n|\n|\r", content.decode("utf-8", "replace"))
    places = [place for place, line in enumerate(lines) if line.startswith("data:")]
    values: list[Any] = [_event_value(keys, lines[place][5:]) for place in places]
    is_cut = bool(places) and places[-1] == len(lines) - 1 and isinstance(values[-1], str)
    changed = _clean_texts([values], keys)
    if not changed and raw == content and not is_cut:
        return content
    for place, value in zip(places, values, strict=True):
        text = value if isinstance(value, str) else f" {json.dumps(value)}"
        lines[place] = f"data:{clean_text(text, keys)}"
    if is_cut:
        lines.pop()
    return "\n".join(clean_text(line, keys) for line in lines).encode("utf-8")


def _event_value(keys: Sequence[str], text: str) -> Any:
    """The JSON object of an event; the text itself where it is none."""
    try:
        value = json.loads(text, object_pairs_hook=partial(_named, keys))
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


@lru_cache(maxsize=64)
def _spellings(key: str) -> re.Pattern[str]:
    """The key with any of its characters as itself, escaped in JSON, or escaped in a URL."""

    def spellings(character: str, *, first: bool) -> str:
        code = f"(?i:{ord(character):02x})"
        plain = re.escape(character)
        # A search that tried each backslash of a long run as the first would take very long.
        escape = r"(?<!\\)\\++" if first else r"\\++"
        marks = "" if character.isalnum() else rf"|{escape}{plain}"
        return rf"(?:{plain}{marks}|{escape}u00{code}|%{code})"

    return re.compile("".join(spellings(c, first=place == 0) for place, c in enumerate(key)))


def _named(keys: Sequence[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {clean_text(name, keys): value for name, value in pairs}


class _FoundText(NamedTuple):
    """A text inside a JSON value. A list of bytes, which token lists hold as well, is one too."""

    text: str
    holder: Any  # the mapping or list it stands in
    step: str | int  # where in it
    field: int  # the same for all texts under the same names, whatever their places in lists
    place: int  # its place in the innermost list

    def replace(self, text: str) -> None:
        as_bytes = isinstance(self.holder[self.step], list)
        self.holder[self.step] = [*text.encode("latin-1")] if as_bytes else text


def _clean_texts(body: list[Any], keys: Sequence[str]) -> bool:
    """Replace keys and parts of keys in the texts of a JSON value; whether there were any."""
    texts = list(_texts(body))
    columns: dict[tuple[int, ...], list[_FoundText]] = {}
    for text in texts:
        columns.setdefault((text.field,), []).append(text)
        columns.setdefault((text.field, text.place), []).append(text)
    changed = [
        (text, cleaned) for text in texts if (cleaned := clean_text(text.text, keys)) != text.text
    ]
    changed += [
        (part, _MARK)
        for key in keys
        for column in columns.values()
        for text in _holding_parts(key, column)
        for part in (text, *_parts_beside(key, text))
    ]
    for text, cleaned in changed:
        text.replace(cleaned)
    return bool(changed)


def _holding_parts(key: str, column: Sequence[_FoundText]) -> Iterator[_FoundText]:
    """Texts of one field that make up the key where they are joined, if it is in no single one."""
    text_of_column = "".join(text.text for text in column)
    if key not in text_of_column:
        return
    ends = list(accumulate(len(text.text) for text in column))
    for match in re.finditer(re.escape(key), text_of_column):
        for text, end in zip(column, ends, strict=True):
            start = end - len(text.text)
            whole = start <= match.start() and match.end() <= end
            if start < match.end() and match.start() < end and not whole:
                yield text


def _parts_beside(key: str, text: _FoundText) -> Iterator[_FoundText]:
    """Parts of the key in the same entry of a list, such as the other tokens it could have been."""
    if isinstance(text.holder, dict):
        yield from (other for other in _texts([text.holder]) if other.text and other.text in key)


def _texts(body: list[Any]) -> Iterator[_FoundText]:
    """The texts of a JSON value in their order. Without recursion, for replies may be deep."""
    fields: dict[tuple[int, str], int] = {}
    waiting: list[tuple[Any, Any, str | int, int, int]] = [(body[0], body, 0, 0, -1)]
    while waiting:
        value, holder, step, field, place = waiting.pop()
        if isinstance(value, str):
            yield _FoundText(value, holder, step, field, place)
        elif isinstance(value, dict):
            for name in reversed(value):
                below = fields.setdefault((field, name), len(fields) + 1)
                waiting.append((value[name], value, name, below, place))
        elif isinstance(value, list) and _are_bytes(value):
            yield _FoundText(bytes(value).decode("latin-1"), holder, step, field, place)
        elif isinstance(value, list):
            waiting += [(value[n], value, n, field, n) for n in range(len(value) - 1, -1, -1)]


def _are_bytes(value: list[Any]) -> bool:
    return bool(value) and all(type(part) is int and 0 <= part < 256 for part in value)

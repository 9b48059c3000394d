"""A reply to a block of items, taken apart into what it says under each number or on each line."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from core.collect.reply_json import entries_of_json

_FENCE = re.compile(r"^[ \t]*```[a-z]*[ \t]*$", re.IGNORECASE | re.MULTILINE)
_RULE = re.compile(r"[\s|:+=*_-]+")
_BEFORE = r"[\s>*_#`\"'(\[•·-]*"
_NOUN = (
    r"(?:(?:item|question|statement|word|q|no|nr|n°|nº|frage|aussage|wort|pregunta|afirmación|"
    r"palabra|ítem|affirmation|énoncé|mot|問題?|質問|項目|単語|第|问题|题目?|词语?|陈述|答案|回答|answer)[\s.]*)?"
)
_NUMBER = r"(\d{1,4})\s?(?:番目?|項|问|问题|题|項目|条|个|問)?"
_MARK = r"(?:[:)\]=|、→\t]|\.(?!\d)|,(?=[^\W\d])|[–—-])"
_NUMBERED = re.compile(rf"{_BEFORE}{_NOUN}{_NUMBER}[\s*_`\"'\])]*{_MARK}(.*)", re.IGNORECASE)
_SPACED = re.compile(rf"{_BEFORE}{_NOUN}(\d{{1,4}})[*_]*\s+(?=[^\W\d])(.*)", re.IGNORECASE)
_RANGE = re.compile(rf"{_BEFORE}{_NOUN}(\d{{1,4}})\s?[-–—~]\s?(\d{{1,4}})\s*[:.)](?!\d)\s*\S.*")
_INLINE = re.compile(rf"(?<![\w.])(?:q|item\s)?(\d{{1,4}})[*_)\]]*\s?{_MARK}", re.IGNORECASE)
_POINTED = re.compile(r"\s*(\d{1,4})[.,](\d+)\s*")  # item 1, option 4? a decimal?
_LONGEST_RANGE = 500


@dataclass(frozen=True)
class Entry:
    """One line, or what stands under one number. `unclear`: it spoke for several items at once."""

    number: int | None
    text: str
    below: str = ""  # what follows after an empty line: an explanation, or closing words
    unclear: bool = False


def entries(text: str) -> list[Entry]:
    """The reply's entries, in order. Lines before the first number are left out."""
    body = _FENCE.sub("", text).strip()
    pairs = entries_of_json(body)
    if pairs:
        return [Entry(number, said) for number, said in pairs]
    lines = _spaced(body.split("\n"))
    found: list[Entry] = []
    plain: list[Entry] = []
    after_empty = False
    numbers = {int(match[1]) for match in map(_NUMBERED.match, lines) if match}
    for position, line in enumerate(lines):
        if not line.strip() or _RULE.fullmatch(line):
            after_empty = True
            continue
        heads = position + 1 < len(lines) and _is_table_rule(lines[position + 1])
        new = [] if heads else _line(line, numbers)
        if new:
            found += new
        elif found and not heads:
            found[-1] = _continued(found[-1], line, after_empty=after_empty)
        elif not heads:
            plain.append(Entry(None, _unmarked(line)))
        after_empty = False
    return _tidied(found) if found else plain


def _spaced(lines: list[str]) -> list[str]:
    """With a space behind the numbers of a list such as "1.4", "2.2", "3.5"."""
    said = [line for line in lines if any(map(str.isdecimal, line))]
    matches = [match for match in map(_POINTED.fullmatch, said) if match]
    counted = [int(match[1]) for match in matches] == list(range(1, len(said) + 1))
    if len(said) < 2 or not counted:
        return lines
    return [f"{match[1]}. {match[2]}" for match in matches]


def _is_table_rule(line: str) -> bool:
    return "|" in line and "-" in line and _RULE.fullmatch(line) is not None


def _line(line: str, numbers: set[int]) -> list[Entry]:
    """The entries that begin on this line; none where it goes on with the one before."""
    if span := _RANGE.fullmatch(line):
        low, high = int(span[1]), int(span[2])
        if low < high <= low + _LONGEST_RANGE:
            return [Entry(number, "", unclear=True) for number in range(low, high + 1)]
    if line.count("|") > 1 or line.lstrip().startswith("|"):
        return _row(line)
    inline = _inline(line, numbers)
    if inline:
        return inline
    match = _NUMBERED.fullmatch(line) or _SPACED.fullmatch(line)
    return [Entry(int(match[1]), match[2].strip())] if match else []


def _row(line: str) -> list[Entry]:
    """One row of a table; its number is the first cell, if that is one."""
    cells = [cell.strip(" *_`\t") for cell in line.strip().strip("|").split("|")]
    first = cells[0].strip("#.()")
    if first.isdecimal() and len(first) < 5 and len(cells) > 1:
        return [Entry(int(first), " - ".join(filter(None, cells[1:])))]
    return [Entry(None, " - ".join(filter(None, cells)))]


def _inline(line: str, numbers: set[int]) -> list[Entry]:
    """Several entries on one line: "1: yes, 2: no"."""
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(line):
        expected = not marks or (
            int(match[1]) == int(marks[-1][1]) + 1 and int(match[1]) not in numbers
        )
        if not marks and line[: match.start()].strip(" *_-(["):
            return []
        if expected and (not marks or line[marks[-1].end() : match.start()].strip(" ,;*")):
            marks.append(match)
    if len(marks) < 2:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(line)]
    return [
        Entry(int(mark[1]), line[mark.end() : end].strip(" \t,;/"))
        for mark, end in zip(marks, ends, strict=True)
    ]


def _unmarked(line: str) -> str:
    """The line without a bullet."""
    return re.sub(r"^[\s>]*(?:[*•·+]|-(?!\d))?\s*(?!\*)", "", line).strip()


def _continued(entry: Entry, line: str, *, after_empty: bool) -> Entry:
    if entry.below or (after_empty and entry.text):
        return replace(entry, below=f"{entry.below}\n{line.strip()}")
    return replace(entry, text=f"{entry.text}\n{line.strip()}".strip())


def _tidied(found: list[Entry]) -> list[Entry]:
    """Closing words off the last entry; what stands below the others belongs to them."""
    explained = any(entry.below for entry in found[:-1])
    kept = found if explained else [*found[:-1], replace(found[-1], below="")]
    return [replace(entry, text=f"{entry.text}{entry.below}", below="") for entry in kept]

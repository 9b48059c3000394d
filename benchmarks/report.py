"""What a benchmark found, as a section of docs/benchmarks.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HEAD = """# How fast, and how much memory

Made by `python3 start.py --bench` (one of them: `python -m benchmarks NAME`). Seconds differ from
machine to machine. Read the ratios: both sides of each were measured in the same run, in turns.
"""
QUICK = "\nA quick run at tiny sizes: it shows that the benchmarks run, not how fast Inkblot is.\n"


@dataclass(frozen=True)
class Section:
    """One benchmark: what was measured, the figures, and what to know about them."""

    title: str
    about: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()
    packages: Sequence[str] = ()  # whose versions matter


def figure(value: float, unit: str = "") -> str:
    """A number with three digits that count."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}{' ' if unit else ''}{unit}"


def ratio(ours: float, theirs: float) -> str:
    """How many times the other side's."""
    return f"**{figure(ours / theirs)}**"


def section_text(section: Section, circumstances: str) -> str:
    """The section as Markdown."""
    table = [section.header, ["---", *("---:" for _ in section.header[1:])], *section.rows]
    lines = [f"## {section.title}", "", section.about, ""]
    lines += [f"| {' | '.join(map(str, row))} |" for row in table]
    lines += ["", *(f"- {note}" for note in section.notes), *([""] if section.notes else [])]
    return "\n".join([*lines, circumstances, ""])


def write_section(file: Path, title: str, text: str, *, quick: bool) -> None:
    """Put the section where the one of that title stood, or at the end."""
    sections = dict(_sections(file.read_text(encoding="utf-8"))) if file.exists() else {}
    sections[title] = text
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    head = HEAD + (QUICK if quick else "")
    draft.write_text("\n".join([head, *sections.values()]), encoding="utf-8")
    os.replace(draft, file)


def _sections(text: str) -> Iterable[tuple[str, str]]:
    """Title and text of each section there is."""
    for part in text.split("\n## ")[1:]:
        yield part.split("\n", 1)[0], f"## {part.rstrip()}\n"

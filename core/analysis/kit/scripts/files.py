"""The files of a download: a program for R and for Python, its data and its settings.

The programs stand in data/scripts, whole, and are the same for everybody. What differs between two
downloads is in the CSV files beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from core.analysis.kit.scripts.names import Names, safe_cell, text_csv
from core.domain.results import TextFile
from core.settings import ROOT

_FOLDER = ROOT / "data" / "scripts"
_LANGUAGES = ("R", "py")

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""The header and the rows of a file of texts."""


def script_files(
    program: str,
    *,
    data: str,
    title: str,
    settings: Mapping[str, str | float],
    tables: Mapping[str, Table],
    names: Names,
    about: Sequence[str] = (),
    name: str = "",
) -> tuple[TextFile, ...]:
    """A program with all that it reads.

    Parameters
    ----------
    program : str
        Its name in data/scripts, without the ending.
    data : str
        What `data.csv` holds.
    title : str
        What the analysis is called; any text.
    settings : mapping
        What was chosen, for `settings.csv`.
    tables : mapping of file to header and rows
        Further files of texts that the program reads; cells are single lines.
    names : Names
        Those that had to be changed stand in `names.csv`.
    about : sequence of str
        Sentences on these data, for `settings.csv`.
    name : str
        What the program is called for the user; by default as in data/scripts.

    Returns
    -------
    tuple of TextFile
        `data.csv`, the program in each language that has one, `settings.csv`, the tables,
        `names.csv` where a name differs, and what the programs share.
    """
    programs = [(ending, _program(program, ending)) for ending in _LANGUAGES]
    programs = [(ending, text) for ending, text in programs if text]
    rows = [
        ("analysis", safe_cell(title)),
        *((key, str(value)) for key, value in settings.items()),
        *(("about", safe_cell(sentence)) for sentence in about),
    ]
    files: dict[str, Table] = {"settings.csv": (("setting", "value"), rows), **tables}
    if changed := names.changed():
        files["names.csv"] = ("name", "kind", "stands_for"), changed
    return (
        TextFile("data.csv", data),
        *(TextFile(f"{name or program}.{ending}", text) for ending, text in programs),
        *(TextFile(file, text_csv(*table)) for file, table in files.items()),
        *(TextFile(f"shared.{ending}", _program("shared", ending)) for ending, _ in programs),
    )


@cache
def _program(name: str, ending: str) -> str:
    """The text of a program; empty where there is none in this language."""
    path = _FOLDER / f"{name}.{ending}"
    return path.read_text(encoding="utf-8") if path.exists() else ""

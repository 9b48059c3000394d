"""What the five studies published: their designs in short, printed numbers and misprints.

The files stand in data/published: a CSV for each set of printed numbers, and studies.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd
from pydantic import TypeAdapter

from core.errors import DesignError
from core.files.yaml_files import Shape, read_shape
from core.settings import ROOT
from core.workflow.banks import editing
from core.workflow.designs import forms, studies
from core.workflow.workspace import Workspace

FOLDER = ROOT / "data" / "published"
DESIGNS = ROOT / "docs" / "replications"


class MisprintedCell(Shape):
    """A printed number that the study's own answers do not give.

    `of` are the keys of its row in the order of the file, `column` is its column, and `gives` is
    what should stand there, rounded as printed.
    """

    column: str
    gives: str
    of: tuple[str, ...]


class Misprint(Shape):
    """What is wrong in print: in which table (empty: in none of ours), in words."""

    text: str
    table: str = ""
    cells: tuple[MisprintedCell, ...] = ()


class PublishedStudy(Shape):
    """A published study: who, what it asked and how, our design files, and what differs in them.

    `banks` are the codes of banks whose answers are set beside this study at first.
    """

    code: str
    authors: str
    year: int
    title: str
    citation: str
    question: str
    design: tuple[str, ...]
    files: tuple[str, ...]
    differs: tuple[str, ...]
    link: str = ""
    banks: tuple[str, ...] = ()
    misprints: tuple[Misprint, ...] = ()

    @property
    def short_name(self) -> str:
        """Authors and year."""
        return f"{self.authors} ({self.year})"


_STUDIES = TypeAdapter(tuple[PublishedStudy, ...])


@cache
def published_studies() -> tuple[PublishedStudy, ...]:
    """The five studies, in their order."""
    data = (FOLDER / "studies.yaml").read_bytes()
    return read_shape(_STUDIES, "studies.yaml", data, compare="See data/published/studies.yaml.")


def published_study(code: str) -> PublishedStudy:
    """The study of that code."""
    return next(one for one in published_studies() if one.code == code)


@cache
def printed(file: str) -> pd.DataFrame:
    """The printed numbers of a file, every cell as text; empty where nothing is printed."""
    return pd.read_csv(FOLDER / f"{file}.csv", dtype=str, keep_default_na=False)


# The way to a design of one's own.


def design_fields(workspace: Workspace, file: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of the page Design for a design file of a published study, and what to know.

    The bank of the file is brought in where it is not in the database. Respondents stay as they are
    chosen.

    Raises
    ------
    DesignError
        There is no such file.
    """
    if file not in design_files():
        raise DesignError(
            f"There is no design file '{file}'.", f"Choose one of: {', '.join(design_files())}."
        )
    design = studies.design_of_yaml((DESIGNS / file).read_bytes(), name=file)
    bank = DESIGNS / "banks" / f"{design.instrument}.csv"
    if not bank.exists():
        bank = workspace.data_directory / "banks" / bank.name
    notes = []
    if design.instrument not in {one.code for one in editing.summaries(workspace)}:
        editing.import_bank(workspace, editing.read_instrument(bank.name, bank.read_bytes()))
        notes.append(f"The bank {design.instrument} was brought in.")
    editing.set_archived(workspace, design.instrument, archived=False)
    body, _ = forms.from_design(workspace, design)
    del body["respondents"]
    return body | {"study": forms.free_name(workspace, design.study)}, tuple(notes)


def design_files() -> Sequence[str]:
    """The names of the design files of all studies."""
    return [file for study in published_studies() for file in study.files]

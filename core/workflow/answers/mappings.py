"""Mappings of files of answers: the columns of a file, a guess of what they are, and its banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from core.errors import FileError, UserError
from core.files.columns import TextColumns
from core.files.mapped_answers import map_answers
from core.files.mapping import (
    LAYOUTS,
    MISSING_STATUSES,
    ROLES,
    AnswerMapping,
    Layout,
    NewBank,
    check_mapping,
    column_summary,
    guess_mapping,
    is_tidy,
    read_mapping,
    write_mapping,
)
from core.files.parts import Source, answer_parts, slices
from core.files.survey_programs import ANSWER_FILE_ENDINGS, program_of
from core.store import banks as bank_store
from core.workflow.answers.bank_attachment import (
    BankMatch,
    answers_by_format,
    fit_formats,
    matching_banks,
)
from core.workflow.workspace import Workspace

__all__ = [
    "ANSWER_FILE_ENDINGS", "LAYOUTS", "MISSING_STATUSES", "ROLES", "AnswerMapping", "Layout",
    "NewBank", "read_mapping", "write_mapping",
]  # fmt: skip

_GUESSED_ANSWERS = 200_000


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """A file of answers as it was read: its columns, and whether it needs a mapping.

    `tool` names the tool that wrote it, if its columns tell. `summary` has a row for each column:
    its label, its values, those that mean missing, and the number of empty cells. `first_rows` are
    as they stand in the file. Of a file that may not fit into memory, `columns` are the first rows
    only; then `is_large`.
    """

    columns: TextColumns
    is_large: bool
    sha256: str
    is_tidy: bool
    tool: str
    summary: pd.DataFrame
    first_rows: pd.DataFrame

    def values(self, column: str) -> list[str]:
        """The different values of a column, in the order of the file."""
        texts = (str(text).strip() for text in self.columns.columns[column].unique().to_pylist())
        return list(dict.fromkeys(text for text in texts if text))


def open_file(name: str, content: Source) -> OpenedFile:
    """The columns of a file; FileError where it cannot be read."""
    parts = answer_parts(name, content)
    source = parts.whole or parts.first()
    summary = pd.DataFrame(
        [{"column": column, **column_summary(source, column)} for column in source.columns]
    )
    head = {column: texts.slice(0, 5).to_pylist() for column, texts in source.columns.items()}
    program = program_of(source)
    tool = program.name if program else ""
    return OpenedFile(
        source, parts.whole is None, parts.sha256, is_tidy(source), tool, summary,
        pd.DataFrame(head),
    )  # fmt: skip


def guessed(workspace: Workspace, file: OpenedFile, layout: Layout | None = None) -> AnswerMapping:
    """The likely mapping of a file, with the bank that holds its items or a new one."""
    known = {
        item.code
        for state in bank_store.drafts(workspace.database)
        for item in state.instrument.items
        if not state.archived
    }
    guess = guess_mapping(file.columns, layout, known)
    for mapping in (guess, _with_codes_of_texts(workspace, file, guess)):
        try:
            matches = banks_of(workspace, file, mapping)
        except UserError:  # a guess that is no mapping yet; the page or the import says why
            continue
        if matches and matches[0].sure:
            return replace(mapping, bank=matches[0].bank.code)
    mapping = guess
    title = Path(file.columns.name).name.split(".")[0]
    return replace(mapping, new_bank=NewBank(title))


def _with_codes_of_texts(
    workspace: Workspace, file: OpenedFile, mapping: AnswerMapping
) -> AnswerMapping:
    """The mapping with the codes of the bank whose items have the texts of most columns.

    The text is the label of a column or its name. Columns with another text are tags then.
    """
    texts = {
        column: " ".join((label or mapping.items.get(column, column)).split())
        for column, label in items_of(file, mapping).items()
    }
    if mapping.layout == "long" or not any(" " in text for text in texts.values()):
        return mapping
    best: dict[str, str] = {}
    for state in bank_store.drafts(workspace.database):
        known = {
            " ".join(wording.text.split()): item.code
            for item in state.instrument.items
            for wording in item.wordings
        }
        codes = {column: known[text] for column, text in texts.items() if text in known}
        best = max(best, codes, key=len)
    others = {column: "tag" for column in texts if column not in best} if len(best) > 1 else {}
    return replace(mapping, columns={**mapping.columns, **others}, items=best)


def check(file: OpenedFile, mapping: AnswerMapping) -> None:
    """Raise FileError where a mapping does not fit a file."""
    check_mapping(mapping, file.columns)


def items_of(file: OpenedFile, mapping: AnswerMapping) -> dict[str, str]:
    """The items of a file by their names there, each with its label."""
    columns = mapping.with_role("item")
    if mapping.layout == "long":
        return dict.fromkeys(file.values(columns[0]), "") if columns else {}
    labels = file.columns.labels
    return {name: labels[name].label if name in labels else "" for name in columns}


def banks_of(workspace: Workspace, file: OpenedFile, mapping: AnswerMapping) -> Sequence[BankMatch]:
    """The banks that hold items of a file, the best first; cells may hold labels of options.

    Of a file with very many answers, the first of them decide.
    """
    plain = replace(mapping, bank="", new_bank=None)
    n_items = len(mapping.with_role("item")) if mapping.layout == "wide" else 1
    head = next(slices(file.columns, max(_GUESSED_ANSWERS // max(n_items, 1), 1)))
    file = replace(file, columns=head)
    frame = map_answers(file.columns, plain).frame
    items = [str(item) for item in frame["item"].unique()]
    matches = matching_banks(workspace, items, answers_by_format(frame))
    return sorted(
        (_read_with_labels(file, plain, match) for match in matches), key=lambda one: not one.fits
    )


def _read_with_labels(file: OpenedFile, mapping: AnswerMapping, match: BankMatch) -> BankMatch:
    """The match without its problem, where the cells hold labels of the options of the bank."""
    if not match.problem or match.n_matching < match.n_items:
        return match
    try:
        frame = map_answers(file.columns, mapping, match.bank.formats).frame
        fit_formats(match.bank, answers_by_format(frame))
    except FileError:
        return match
    return replace(match, problem="")

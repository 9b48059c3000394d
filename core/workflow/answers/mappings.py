"""Mappings of files of answers: the columns of a file, a guess of what they are, and its banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from core.domain.formats import BUILT_IN
from core.errors import FileError, UserError
from core.files import same_people
from core.files.columns import TextColumns, read_sheet
from core.files.doubts import answer_columns, doubts
from core.files.guess import column_summary, guess_mapping, is_tidy
from core.files.headers import HeaderRows, Sheet
from core.files.mapped_answers import folded, map_answers
from core.files.mapping import (
    COLUMNS_ARE,
    LAYOUTS,
    MISSING_STATUSES,
    ROLES,
    AnswerMapping,
    Layout,
    NewBank,
    check_mapping,
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
    sure_match,
)
from core.workflow.answers.key_proposals import KeyProposal, propose_keys
from core.workflow.workspace import Workspace

__all__ = [
    "ANSWER_FILE_ENDINGS", "COLUMNS_ARE", "LAYOUTS", "MISSING_STATUSES", "ROLES", "SAME_PERSON",
    "AnswerMapping", "HeaderRows", "KeyProposal", "Layout", "NewBank", "Sheet",
    "read_mapping", "write_mapping",
]  # fmt: skip

SAME_PERSON = same_people.SOLUTIONS
_MOST_SAME = 50  # rows that a page shows
_GUESSED_ANSWERS = 200_000


@dataclass(frozen=True, eq=False)
class OpenedFile:
    """A file of answers as it was read: its columns, and whether it needs a mapping.

    `tool` names the tool that wrote it, if its columns tell. `summary` has a row for each column:
    its label, its values, those that mean missing, and the number of empty cells. `first_rows` are
    the first below the header. Of a file that may not fit into memory, `columns` are the first rows
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


def open_file(name: str, content: Source, header: HeaderRows | None = None) -> OpenedFile:
    """The columns of a file, by its header or the one that is found; FileError: unreadable."""
    parts = answer_parts(name, content, header)
    source = parts.whole or parts.first()
    summary = pd.DataFrame(
        [{"column": column, **column_summary(source, column)} for column in source.columns]
    )
    head = {column: texts.slice(0, 5).to_pylist() for column, texts in source.columns.items()}
    program = program_of(source)
    tool = program.name if program else ""
    return OpenedFile(
        source,
        parts.whole is None,
        parts.sha256,
        is_tidy(source),
        tool,
        summary,
        pd.DataFrame(head),
    )


def sheet_of(name: str, data: bytes) -> Sheet | None:
    """The first rows of a file as they are, by which a user can say where the header stands.

    None where a file has no such rows, has more than fits into memory, or cannot be read.
    """
    try:
        return read_sheet(name, data)
    except FileError:
        return None


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
        if (sure := sure_match(matches)) is not None:
            return replace(mapping, bank=sure.bank.code)
    title = Path(file.columns.name).name.split(".")[0]
    return replace(_with_known_options(workspace, file, guess), new_bank=NewBank(title))


def _with_known_options(
    workspace: Workspace, file: OpenedFile, mapping: AnswerMapping
) -> AnswerMapping:
    """The mapping with the options whose labels the cells hold, in a format known or on file."""
    columns = answer_columns(mapping)
    labels = file.columns.labels
    if mapping.options or any(labels[one].values for one in columns if one in labels):
        return mapping
    words = {
        folded(text) for one in columns for text in file.values(one) if text not in mapping.missing
    }
    on_file = (
        f for state in bank_store.drafts(workspace.database) for f in state.instrument.formats
    )
    named = (
        {folded(option.labels[language]): option for option in known.options}
        for known in (*BUILT_IN.values(), *on_file)
        for language in (known.options[0].labels if known.options else ())
        if all(language in option.labels for option in known.options)
    )
    fitting = [options for options in named if words and words <= options.keys()]
    best = min(fitting, key=len, default={})
    if not best or any(option.points is None for option in best.values()):
        return mapping
    texts = {folded(text): text for one in columns for text in file.values(one)}
    return replace(
        mapping,
        options={
            f"{option.points:g}": " ".join(texts.get(word, word).split())
            for word, option in best.items()
        },
    )


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
    if mapping.layout != "wide" or not any(" " in text for text in texts.values()):
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


def doubts_about(file: OpenedFile, mapping: AnswerMapping) -> tuple[str, ...]:
    """What a mapping leaves open, a sentence each."""
    return doubts(file.columns, mapping)


def proposed_keys(file: OpenedFile, mapping: AnswerMapping) -> KeyProposal:
    """Which items look reversed, and subscales that their codes suggest."""
    return propose_keys(file.columns, mapping)


def rows_of_same_people(file: OpenedFile, mapping: AnswerMapping) -> pd.DataFrame:
    """Rows of people who stand several times under the same conditions; no row: there are none."""
    return same_people.rows_of_same_people(file.columns, mapping, _MOST_SAME)


def check(file: OpenedFile, mapping: AnswerMapping) -> None:
    """Raise FileError where a mapping does not fit a file."""
    check_mapping(mapping, file.columns)


def items_of(file: OpenedFile, mapping: AnswerMapping) -> dict[str, str]:
    """The items of a file by their names there, each with its label."""
    columns = mapping.with_role("item")
    if mapping.layout != "wide":
        return dict.fromkeys(file.values(columns[0]), "") if columns else {}
    labels = file.columns.labels
    return {name: labels[name].label if name in labels else "" for name in columns}


def banks_of(workspace: Workspace, file: OpenedFile, mapping: AnswerMapping) -> Sequence[BankMatch]:
    """The banks that hold items of a file, the best first; cells may hold labels of options.

    Of a file with very many answers, the first of them decide.
    """
    plain = replace(mapping, bank="", new_bank=None)
    n_items = max(len(answer_columns(mapping)), 1)
    head = next(slices(file.columns, max(_GUESSED_ANSWERS // max(n_items, 1), 1)))
    file = replace(file, columns=head)
    frame = map_answers(file.columns, plain).frame
    items = [str(item) for item in frame["item"].unique()]
    languages = frame["language"].unique()
    matches = matching_banks(workspace, items, answers_by_format(frame), languages)
    read = (_read_with_labels(file, plain, match) for match in matches)
    return sorted(
        (_with_own_texts(file, plain, match) for match in read), key=lambda one: not one.fits
    )


def _with_own_texts(file: OpenedFile, mapping: AnswerMapping, match: BankMatch) -> BankMatch:
    """The match with a problem where the file says other texts of the items than the bank."""
    texts = {
        mapping.items.get(column, column): text for column, text in items_of(file, mapping).items()
    }
    of_bank = {item.code: {folded(w.text) for w in item.wordings} for item in match.bank.items}
    told = [
        folded(texts[item]) in of_bank[code]
        for item, code in match.codes.items()
        if of_bank[code] and " " in texts.get(item, "").strip()
    ]
    if match.problem or not told or sum(told) * 2 > len(told):
        return match
    return replace(match, problem="The texts of the items are others than those of the bank.")


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

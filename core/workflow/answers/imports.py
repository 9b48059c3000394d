"""Importing answers collected elsewhere: what a file would make, its scores, and saving it."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from core.collect.replies import reader
from core.domain.instrument import Instrument, Item, ResponseFormat, Wording, keyed_points
from core.domain.numbers import count_text
from core.domain.study import CONTENT_FILTER, REFUSAL, Certainty, Design, Parsed, Status
from core.domain.values import name_fault, slug
from core.errors import FileError
from core.files import answers
from core.files.mapped_answers import MappedAnswers, ReplyReader, read_mapped
from core.files.mapping import AnswerMapping
from core.store import banks as bank_store
from core.store import imports, studies
from core.workflow.answers.bank_attachment import (
    BankMatch,
    answers_by_format,
    fit_formats,
    full_match,
    matching_banks,
)
from core.workflow.workspace import Workspace

# What the scores in a file of answers mean, checked against the bank before anything is kept.
#
# A score that the bank derives is not kept: it would go stale when the answer is read anew. Only a
# score that the bank does not give, and that the file is said to have keyed already, is kept.

ScoreMeaning = Literal["bank", "keyed", "raw"]
SCORE_MEANINGS: Mapping[ScoreMeaning, str] = {
    "bank": "those of the bank; a file that says otherwise is refused",
    "keyed": "as in the file: reversed items are reversed already",
    "raw": "raw points of the answers; the bank reverses them",
}
_CELL_COLUMNS = ["item", "form", "format", "answer", "score"]
_TOLERANCE = 1e-9


class ScoreConflict(FileError):
    """Scores of a file are not those that the bank gives."""


@dataclass(frozen=True)
class _ScoreCell:
    """One item, form, format, answer and score that rows of the file have."""

    item: str
    form: str
    format: str
    answer: str
    score: float
    count: int


def _with_points(bank: Instrument, rows: pd.DataFrame) -> Instrument:
    """A bank made from the file, its unscored options with the points that the scores say.

    Words such as "yes" have no points of their own. They take them from the scores, where every
    score of an option is the same.
    """
    points: dict[tuple[str, str], set[float]] = {}
    for cell in _score_cells(rows):
        points.setdefault((cell.format, cell.answer), set()).add(cell.score)
    return replace(
        bank, formats=tuple(_format_with_points(known, points) for known in bank.formats)
    )


def _format_with_points(
    known: ResponseFormat, points: Mapping[tuple[str, str], set[float]]
) -> ResponseFormat:
    option_points = {o.code: points.get((known.code, o.code), set()) for o in known.options}
    if any(o.points is not None for o in known.options) or any(
        len(f) > 1 for f in option_points.values()
    ):
        return known
    options = (replace(o, points=next(iter(option_points[o.code]), None)) for o in known.options)
    return replace(known, options=tuple(options))


def _scores_to_keep(
    name: str, rows: pd.DataFrame, bank: Instrument, scores: ScoreMeaning, *, made: bool
) -> pd.Series[Any]:
    """The score to keep with each row; NaN where the bank gives it. `rows` bear the bank's codes.

    Raises
    ------
    ScoreConflict
        A score is not what `scores` says it is, or the format cannot give it.
    """
    derived: dict[_ScoreCell, float | None] = {}
    conflicts: list[_ScoreCell] = []
    cells = _score_cells(rows)
    items = {cell.item for cell in cells}  # a bank of one item each: some have thousands
    banks = {item.code: replace(bank, items=(item,)) for item in bank.items if item.code in items}
    for cell in cells:
        given = banks[cell.item].score(cell.item, cell.form, cell.format, cell.answer)
        derived[cell] = given
        allowed = _allowed_scores(cell, bank, scores, made=made, given=given)
        if allowed is not None and not any(_is_equal(cell.score, value) for value in allowed):
            conflicts.append(cell)
    if conflicts:
        raise _conflict(name, rows, bank, scores, conflicts, derived, sum(c.count for c in cells))
    if scores != "keyed":
        return pd.Series(np.nan, index=rows.index)
    kept_cells = {
        _cell_key(cell) for cell, given in derived.items() if given is None or cell.score != given
    }
    if not kept_cells:
        return pd.Series(np.nan, index=rows.index)
    keys = pd.MultiIndex.from_frame(rows[_CELL_COLUMNS])
    return rows["score"].where(keys.isin(list(kept_cells)))


def _score_cells(rows: pd.DataFrame) -> list[_ScoreCell]:
    scored = rows.loc[rows["score"].notna(), _CELL_COLUMNS]
    if scored.empty:
        return []
    counts = (
        scored.groupby(_CELL_COLUMNS, sort=False, observed=True).size().reset_index(name="count")
    )
    return [_ScoreCell(*row) for row in zip(*(counts[c].tolist() for c in counts), strict=True)]


def _cell_key(cell: _ScoreCell) -> tuple[str, str, str, str, float]:
    return cell.item, cell.form, cell.format, cell.answer, cell.score


def _allowed_scores(
    cell: _ScoreCell, bank: Instrument, scores: ScoreMeaning, *, made: bool, given: float | None
) -> Sequence[float] | None:
    """The scores that a cell may have; None where anything may be right."""
    known = bank.format(cell.format)
    option = known.option(cell.answer) if known else None
    ends = known.points_range() if known else None
    if option is None:
        return ()  # without an answer there is no score
    if scores == "bank":
        return () if given is None else (given,)
    if option.points is None or ends is None:
        return None if made and scores == "keyed" else ()
    if scores == "raw":
        return (option.points,)
    if made and _may_mirror(cell.score + option.points, ends):
        return None
    return tuple(float(keyed_points(option.points, *ends, sign)) for sign in (1, -1))


def _may_mirror(total: float, ends: tuple[float, float]) -> bool:
    """Whether a score and the points could mirror each other in a scale whose ends nobody knows.

    The file may lack the lowest or highest option. The middle of the scale lies among those it has.
    """
    return 2 * ends[0] <= total <= 2 * ends[1]


def _is_equal(score: float, value: float) -> bool:
    return math.isclose(score, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _conflict(
    name: str,
    rows: pd.DataFrame,
    bank: Instrument,
    scores: ScoreMeaning,
    wrong: Sequence[_ScoreCell],
    derived: Mapping[_ScoreCell, float | None],
    n_scores: int,
) -> ScoreConflict:
    """The error with the number of scores that are wrong and the first of them."""
    first = wrong[0]
    row = int((rows[_CELL_COLUMNS] == list(_cell_key(first))).all(axis=1).to_numpy().argmax())
    number = int(rows.index[row]) + 1
    given = derived[first]
    n_wrong = sum(cell.count for cell in wrong)
    where = f"{name}: {n_wrong:,} of {n_scores:,} scores do not fit the bank '{bank.code}'"
    example = f"answer {number:,}, item '{first.item}', form '{first.form}': the answer "
    example += f"'{first.answer}' has the score {first.score:g}"
    if scores == "bank":
        says = "no score" if given is None else f"{given:g}"
        return ScoreConflict(
            f"{where}. The first is {example}, and the bank gives {says}.",
            "Say what the scores of the file are: already keyed (--scores keyed) or raw points to "
            "be reversed (--scores raw). Or import the right bank first, or leave the column out.",
        )
    meant = "raw points" if scores == "raw" else "keyed scores"
    return ScoreConflict(
        f"{where} as {meant}. The first is {example}, which its format cannot give.",
        "Correct the column, say that the scores are something else, or leave the column out.",
    )


# The preview of a file, and its import.

_USABLE = tuple(status.value for status in Status if status.usable)
_SHOWN_ROWS = 10
_MOST_STUDIES = 200  # of one file; each costs a moment, and more are a column mistaken for a name
NEW_BANK = ""
"""Chosen as the bank: one is made of the answers, whatever banks there are."""


@dataclass(frozen=True)
class _UserChoices:
    """What a user may say about a file: a name, the bank of the items, and what the scores are.

    `described` is the bank that the mapping of the file describes.
    """

    study: str = ""
    bank: str | None = None
    scores: ScoreMeaning = "bank"
    described: Instrument | None = None


@dataclass(frozen=True)
class ImportedStudy:
    """What came of an import."""

    study: str
    instrument: str
    n_rows: int
    created_instrument: bool
    about_bank: str = ""


@dataclass(frozen=True)
class StudyPreview:
    """One study a file would make. `n_usable` rows hold an answer, the other rows say why not."""

    study: str
    instrument: str
    n_rows: int
    n_usable: int
    n_items: int
    n_respondents: int
    n_contexts: int
    creates_instrument: bool
    is_unkeyed: bool  # no item of the bank has a key
    about_bank: str


@dataclass(frozen=True, eq=False)
class TidyPreview:
    """What a file holds: its first rows as they were read, and the studies it would make."""

    rows: pd.DataFrame
    n_rows: int
    studies: tuple[StudyPreview, ...]
    tags: tuple[str, ...]  # columns Inkblot does not know, kept as they are
    remarks: tuple[str, ...]  # what to know before the answers are kept


@dataclass(frozen=True, eq=False)
class _NewStudy:
    """A study about to be kept, with the bank it belongs to; the rows bear the bank's codes."""

    code: str
    instrument: str
    rows: pd.DataFrame
    bank: Instrument
    created: bool
    about_bank: str


@dataclass(frozen=True, eq=False)
class _BankChoice:
    """The bank of a study to come, before its formats are settled."""

    match: BankMatch
    created: bool
    others: tuple[BankMatch, ...] = field(default=())


def preview_tidy(
    workspace: Workspace,
    name: str,
    data: bytes,
    *,
    study: str = "",
    bank: str | None = None,
    scores: ScoreMeaning = "bank",
    mapping: AnswerMapping | None = None,
) -> TidyPreview:
    """What `import_tidy` would make of the same file; nothing is kept.

    Raises
    ------
    FileError
        The file would be refused, with the same words.
    """
    frame, choices = _read(workspace, name, data, mapping, _UserChoices(study, bank, scores))
    tags = sorted({tag for text in frame["tags"].unique() for tag in json.loads(text or "{}")})
    head = frame.head(_SHOWN_ROWS)
    filled = [c for c in head.columns if c != "tags" and _has_values(frame[c])]
    new_studies = _new_studies(workspace, name, frame, choices)
    previews = tuple(
        StudyPreview(
            study=new.code,
            instrument=new.instrument,
            n_rows=len(new.rows),
            n_usable=int(new.rows["status"].isin(_USABLE).sum()),
            n_items=int(new.rows["item"].nunique()),
            n_respondents=int(new.rows["model"].nunique()),
            n_contexts=int(new.rows["context"].nunique()),
            creates_instrument=new.created,
            is_unkeyed=new.bank.codes_only,
            about_bank=new.about_bank,
        )
        for new in new_studies
    )
    return TidyPreview(
        head[filled], len(frame), previews, tuple(tags), _reading_remarks(frame, mapping)
    )


def import_tidy(
    workspace: Workspace,
    name: str,
    data: bytes,
    *,
    study: str = "",
    bank: str | None = None,
    scores: ScoreMeaning = "bank",
    mapping: AnswerMapping | None = None,
    report: Callable[[str], object] = lambda _: None,
) -> tuple[ImportedStudy, ...]:
    """Keep the answers of a file, as one study per study and instrument it names.

    `mapping` says what the columns are; without one, they are called as in the tidy file.

    `study` names the study of a file that names none, or one only. `bank` is the code of a bank, or
    NEW_BANK; None takes the bank that the file names, else one that holds the items, else a new one
    without texts, with the options found in the file. `scores` says what the scores in the file
    are. `report` is told, before anything is kept, what to know of how the file was read.

    Raises
    ------
    FileError, DesignError
        A row cannot be read, no bank fits, the scores contradict it, or a study of that name
        exists. Nothing is kept.
    """
    frame, choices = _read(workspace, name, data, mapping, _UserChoices(study, bank, scores))
    new_studies = _new_studies(workspace, name, frame, choices)
    for remark in _reading_remarks(frame, mapping):
        report(remark)
    with workspace.database.all_or_nothing():
        return tuple(_save_study(workspace, new) for new in new_studies)


def _read(
    workspace: Workspace,
    name: str,
    data: bytes,
    mapping: AnswerMapping | None,
    choices: _UserChoices,
) -> tuple[pd.DataFrame, _UserChoices]:
    """The tidy frame of a file, and the choices with those that the mapping makes."""
    if mapping is None:
        return answers.read_tidy(name, data), choices
    if choices.bank is not None:  # chosen now, in the place of the one in the mapping
        mapping = replace(mapping, bank=choices.bank, new_bank=None)
    bank = mapping.bank or choices.bank
    on_file = _load_bank(workspace, bank) if bank else None
    known = on_file.formats if on_file else ()
    read: MappedAnswers = read_mapped(name, data, mapping, known, _reply_reader(on_file))
    return read.frame, replace(choices, bank=bank, described=read.bank)


def _reply_reader(bank: Instrument | None) -> ReplyReader:
    """Reads the replies of a file as replies to our own questions are read."""
    items = {item.code: item for item in bank.items} if bank else {}
    spoken = bank.languages[0] if bank else "en"

    def read(
        text: str, response_format: ResponseFormat, language: str, item: str, finish_reason: str
    ) -> Parsed:
        if finish_reason in (CONTENT_FILTER, REFUSAL):
            return Parsed(Status.REFUSED, None)
        asked = items[item].text(language or spoken) if item in items else ""
        return reader.parse(
            text, response_format, language or spoken, item=asked, finish_reason=finish_reason
        )

    return read


def _reading_remarks(frame: pd.DataFrame, mapping: AnswerMapping | None) -> tuple[str, ...]:
    person = frame.attrs.get(answers.CONTEXT_FROM)
    if person:
        return (f"The column '{person}' says who answered. It is taken as the context.",)
    if mapping is None or not mapping.with_role("reply"):
        return ()
    read = frame[frame["layer"] != ""]
    usable = read[read["status"].isin(_USABLE)]
    counts = usable["certainty"].value_counts()
    words = ", ".join(f"{counts.get(one.value, 0):,} {one.value}" for one in Certainty)
    return (
        f"Inkblot has read {count_text(len(read), 'reply', 'replies')}: {words}, "
        f"{len(read) - len(usable):,} without an answer.",
    )


def _has_values(column: pd.Series[Any]) -> bool:
    return bool((column.notna() & (column.astype("str") != "")).any())


def _new_studies(
    workspace: Workspace, name: str, frame: pd.DataFrame, choices: _UserChoices
) -> tuple[_NewStudy, ...]:
    """Everything a file would make, checked as a whole before anything of it is kept."""
    _name_studies(name, frame, choices.study.strip())
    groups = list(frame.groupby(["study", "instrument"], sort=False))
    per_study = Counter(str(one) for (one, _), _ in groups)
    if len(groups) > _MOST_STUDIES:
        raise FileError(
            f"{name} would make {len(groups):,} studies; at most {_MOST_STUDIES} can be made of "
            "one file.",
            "Check that the columns 'study' and 'instrument' hold names and not numbers of rows, "
            "or split the file.",
        )
    taken = {record.code for record in studies.studies(workspace.database)}
    new_studies: list[_NewStudy] = []
    made: dict[str, Instrument] = {}  # by this file: banks of studies that stand further up
    for (one, instrument), rows in groups:
        code = str(one) if per_study[str(one)] == 1 else f"{one}-{instrument}"
        _refuse_existing(taken, code)
        taken.add(code)
        choice = _choose_bank(workspace, str(instrument), rows, made, choices)
        coming = _new_study(name, code, str(instrument), rows, choice, choices.scores)
        if coming.created:
            made[coming.bank.code] = coming.bank
        new_studies.append(coming)
    return tuple(new_studies)


def _name_studies(name: str, frame: pd.DataFrame, study: str) -> None:
    """Give every row a study, an instrument and a model, in place; refuse names none can have."""
    stem = slug(Path(name).name.split(".")[0])
    if frame.empty:
        raise FileError(f"{name} has no rows below its header.", "Choose a file with answers.")
    if study and (fault := name_fault(study)):
        raise FileError(f"The name of the study {fault}.", "Type another name.")
    if study and (frame["study"] == frame["study"].iloc[0]).all():
        frame["study"] = study
    frame["study"] = frame["study"].replace("", study or stem)
    frame["instrument"] = frame["instrument"].replace("", stem)
    frame["model"] = frame["model"].replace("", "unknown")
    for column in ("study", "instrument"):
        _refuse_names(name, column, frame[column])


def _new_study(
    name: str,
    code: str,
    instrument: str,
    rows: pd.DataFrame,
    choice: _BankChoice,
    scores: ScoreMeaning,
) -> _NewStudy:
    """The study to come: its bank with formats for all answers, and rows in the bank's codes."""
    match = choice.match
    known = choice.created or match.bank.code == slug(instrument)
    bank, formats = fit_formats(match.bank, answers_by_format(rows), new_formats=known)
    rows = rows.assign(
        item=rows["item"].map(dict(match.codes)).astype("str"),
        language=rows["language"].replace("", bank.languages[0]),
        form=rows["form"].replace("", "original"),
        format=rows["format"].map(formats).astype("str"),
    )
    if choice.created:
        bank = _with_points(bank, rows)
    rows["score"] = _scores_to_keep(name, rows, bank, scores, made=choice.created)
    return _NewStudy(code, bank.code, rows, bank, choice.created, _bank_sentences(choice))


def _bank_sentences(choice: _BankChoice) -> str:
    """What to know of the bank of a study to come, in sentences."""
    best = next((o for o in choice.others if 2 * o.n_matching >= o.n_items), None)
    hint = ""
    if best is not None:
        hint = (
            f" Bank '{best.bank.code}' may hold these items: {best.words}. {best.problem}".rstrip()
        )
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


def _refuse_names(name: str, column: str, names: pd.Series[str]) -> None:
    """Raise FileError for the first name that no study or bank can have."""
    for one in names.unique():
        if fault := name_fault(str(one)):
            row = int((names == one).to_numpy().argmax()) + 1
            raise FileError(
                f"{name}, answer {row:,}, column {column}: the name {str(one)[:60]!r} {fault}.",
                "Nothing was imported. Correct the file and choose it again.",
            )


def _refuse_existing(taken: set[str], code: str) -> None:
    if code in taken:
        raise FileError(
            f"There is a study called '{code}' already.",
            "Give the import another name; nothing was kept.",
        )


def _save_study(workspace: Workspace, new: _NewStudy) -> ImportedStudy:
    rows, bank = new.rows, new.bank
    if new.created:
        bank_store.save_draft(
            workspace.database, bank, expected_revision=None, summary="Made from imported answers"
        )
    version = bank_store.publish(workspace.database, bank)
    design = Design(
        study=new.code,
        instrument=new.instrument,
        respondents=tuple(sorted(rows["model"].unique())),
        languages=tuple(sorted(rows["language"].unique())),
        version=version.version,
        notes="Imported answers.",
    )
    digest = hashlib.sha256(pd.util.hash_pandas_object(rows, index=False).to_numpy().tobytes())
    table = pa.Table.from_pandas(rows, preserve_index=False)
    imports.add_imported_study(
        workspace.database, design, version.instrument_id, table, digest.hexdigest()
    )
    return ImportedStudy(new.code, new.instrument, len(rows), new.created, new.about_bank)


def _choose_bank(
    workspace: Workspace,
    name: str,
    rows: pd.DataFrame,
    new_banks: dict[str, Instrument],
    choices: _UserChoices,
) -> _BankChoice:
    """The bank of the answers: the one described or wished, named in the file, or found."""
    items = [str(item) for item in rows["item"].unique()]
    if choices.described is not None:
        return _described_choice(workspace, choices.described, new_banks)
    wished_code = choices.bank
    used = answers_by_format(rows)
    words = answers.words_of(rows)
    if wished_code:
        wished = full_match(_load_bank(workspace, wished_code), items, used)
        _refuse_other_words(wished, words)
        return _BankChoice(wished, created=False)
    others = tuple(
        match
        for match in matching_banks(workspace, items, used)
        if next(_other_words(match, words), None) is None
    )
    if wished_code is None:
        state = bank_store.draft(workspace.database, slug(name))
        known = state.instrument if state is not None else new_banks.get(slug(name))
        if known is not None:
            match = full_match(known, items, used)
            _refuse_other_words(match, words)
            return _BankChoice(match, created=False, others=_fitting_banks(others, known))
        if others and others[0].sure:
            return _BankChoice(
                others[0], created=False, others=tuple(o for o in others[1:] if o.fits)
            )
    bank = _bank_of_answers(workspace, name, rows, words, new_banks)
    return _BankChoice(BankMatch(bank, {item: item for item in items}, len(items)), True, others)


def _described_choice(
    workspace: Workspace, described: Instrument, new_banks: dict[str, Instrument]
) -> _BankChoice:
    """The bank that a mapping describes, made once for all studies of the file."""
    made = next((one for one in new_banks.values() if one.title == described.title), None)
    code = _free_code(workspace, described.code, new_banks)
    bank = made or replace(described, code=code)
    codes = {item.code: item.code for item in bank.items}
    return _BankChoice(BankMatch(bank, codes, len(codes)), created=made is None)


def _free_code(workspace: Workspace, code: str, new_banks: dict[str, Instrument]) -> str:
    """The code, with a number where a bank has it already."""
    taken = {state.instrument.code for state in bank_store.drafts(workspace.database)} | set(
        new_banks
    )
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


def _load_bank(workspace: Workspace, code: str) -> Instrument:
    state = bank_store.draft(workspace.database, code)
    if state is None:
        codes = ", ".join(one.instrument.code for one in bank_store.drafts(workspace.database))
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

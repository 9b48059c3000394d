"""Importing answers collected elsewhere: what a file would make, and saving it part by part."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from core import progress
from core.domain.instrument import Instrument
from core.domain.numbers import count_text
from core.domain.study import SETTINGS, Design
from core.domain.values import name_fault, slug
from core.errors import FileError, StoreError
from core.files import answers
from core.files.mapping import AnswerMapping, NewBank
from core.files.parts import Source
from core.files.people import without_facts
from core.store import banks as bank_store
from core.store import imports, studies
from core.store.imports import ImportEvent
from core.store.studies import FrozenStudy
from core.workflow import background, people, study_log
from core.workflow.answers import answer_files
from core.workflow.answers.answer_files import AnswerFile, FileContents
from core.workflow.answers.bank_attachment import (
    BankMatch,
    answers_by_format,
    fit_formats,
    full_match,
)
from core.workflow.answers.import_banks import (
    BankChoice,
    bank_sentences,
    choose_bank,
    load_bank,
)
from core.workflow.answers.imported_scores import (
    SCORE_MEANINGS,
    ScoreCell,
    ScoreMeaning,
    kept_scores,
    scores_to_keep,
    with_points,
)
from core.workflow.background import Computation
from core.workflow.workspace import Workspace

__all__ = ["SCORE_MEANINGS", "ScoreMeaning"]

# The preview of a file, and its import.

_MOST_STUDIES = 200  # of one file; each costs a moment, and more are a column mistaken for a name
_UNKNOWN_MODEL = "unknown"
NEW_BANK = ""
"""Chosen as the bank: one is made of the answers, whatever banks there are."""


@dataclass(frozen=True)
class _UserChoices:
    """What a user may say about a file: a name, the bank of the items, and what the scores are.

    `described` is the bank that the mapping of the file describes. With `add`, the answers may come
    to a study that is there.
    """

    study: str = ""
    bank: str | None = None
    scores: ScoreMeaning = "bank"
    described: Instrument | None = None
    add: bool = False


@dataclass(frozen=True)
class ImportedStudy:
    """What came of an import: `n_rows` of the file, of which `n_new` were not on file before.

    The study holds `n_total` answers now.
    """

    study: str
    instrument: str
    n_rows: int
    created_instrument: bool
    about_bank: str = ""
    n_new: int = 0
    n_total: int = 0


@dataclass(frozen=True)
class StudyPreview:
    """One study a file would make. `n_usable` rows hold an answer, the other rows say why not.

    `n_before` answers are on file already, where the study is there.
    """

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
    n_before: int = 0


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
    """A study about to be kept, with the bank it belongs to, and how its rows are written.

    Rows of the file are those of `study` and `instrument`. `codes` and `formats` give the bank's
    codes for those of the file. `cells` are its cells in the bank's codes. `on_file` is the study
    to which the answers come, if it is there; `continued` is what an unfinished import of the same
    file has come to.
    """

    code: str
    study: str
    instrument: str
    cells: pd.DataFrame
    bank: Instrument
    created: bool
    about_bank: str
    codes: Mapping[str, str]
    formats: Mapping[str, str]
    scores: frozenset[ScoreCell]
    on_file: FrozenStudy | None = None
    continued: ImportEvent | None = None

    def rows_of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of a part that are of this study, in the bank's codes and with its scores."""
        own = (frame["study"] == self.study) & (frame["instrument"] == self.instrument)
        rows = frame if own.all() else frame[own]
        rows = without_facts(rows)
        rows = _in_codes_of_bank(rows, self.bank, self.codes, self.formats)
        rows["score"] = kept_scores(rows, self.scores)
        return rows


def preview_tidy(
    workspace: Workspace,
    name: str,
    source: Source,
    *,
    study: str = "",
    bank: str | None = None,
    scores: ScoreMeaning = "bank",
    mapping: AnswerMapping | None = None,
    add: bool = False,
) -> TidyPreview:
    """What `import_tidy` would make of the same file; nothing is kept.

    Raises
    ------
    FileError
        The file would be refused, with the same words.
    """
    choices = _UserChoices(study, bank, scores, add=add)
    file, choices = _open(workspace, name, source, mapping, choices)
    found = answer_files.contents(file)
    new_studies = _new_studies(workspace, file, found, choices)
    columns = [c for c in found.first_rows.columns if c != "tags" and c in found.filled]
    first_rows = _with_names(name, found.first_rows, choices.study.strip(), found)[columns]
    contexts = _with_names(name, found.contexts, choices.study.strip(), found)
    previews = tuple(
        StudyPreview(
            study=new.code,
            instrument=new.bank.code,
            n_rows=int(new.cells["count"].sum()),
            n_usable=int(new.cells["usable"].sum()),
            n_items=int(new.cells["item"].nunique()),
            n_respondents=int(new.cells["model"].nunique()),
            n_contexts=_count_contexts(contexts, new),
            creates_instrument=new.created,
            is_unkeyed=new.bank.codes_only,
            about_bank=new.about_bank,
            n_before=_n_answers(workspace, new.on_file),
        )
        for new in new_studies
    )
    return TidyPreview(
        first_rows, found.n_rows, previews, found.tags, answer_files.remarks(file, found)
    )


def _count_contexts(contexts: pd.DataFrame, new: _NewStudy) -> int:
    own = (contexts["study"] == new.study) & (contexts["instrument"] == new.instrument)
    return int(contexts.loc[own, "context"].nunique())


def _n_answers(workspace: Workspace, study: FrozenStudy | None) -> int:
    return studies.get(workspace.database, study.code).n_trials if study else 0


def import_tidy(
    workspace: Workspace,
    name: str,
    source: Source,
    *,
    study: str = "",
    bank: str | None = None,
    scores: ScoreMeaning = "bank",
    mapping: AnswerMapping | None = None,
    add: bool = False,
    report: Callable[[str], object] = lambda _: None,
) -> tuple[ImportedStudy, ...]:
    """Keep the answers of a file, as one study per study and instrument it names.

    `mapping` says what the columns are; without one, they are called as in the tidy file.

    `study` names the study of a file that names none, or one only. `bank` is the code of a bank, or
    NEW_BANK; None takes the bank that the file names, else one that holds the items, else a new one
    without texts, with the options found in the file. `scores` says what the scores in the file
    are. `add` adds the answers to a study that is there, with its bank: equal answers on file stay
    as they are. `report` is told, before anything is kept, what to know of how the file was read.

    The whole file is checked before anything is kept. A file of one part is kept in one
    transaction, a larger one part by part. If that ends early, what was kept stays: the same file
    imported again continues it, and `undo` deletes it.

    Raises
    ------
    FileError, DesignError
        A row cannot be read, no bank fits, the scores contradict it, a study of that name exists,
        or has other answers under the same conditions. Nothing is kept.
    """
    choices = _UserChoices(study, bank, scores, add=add)
    file, choices = _open(workspace, name, source, mapping, choices)
    found = answer_files.contents(file)
    new_studies = _new_studies(workspace, file, found, choices)
    for remark in answer_files.remarks(file, found):
        report(remark)
    saving = _Saving(workspace, file, found, new_studies, choices.study.strip())
    return saving.run()


def _open(
    workspace: Workspace,
    name: str,
    source: Source,
    mapping: AnswerMapping | None,
    choices: _UserChoices,
) -> tuple[AnswerFile, _UserChoices]:
    """The file, and the choices with those that the mapping makes."""
    on_file = None
    if mapping is not None:
        if choices.bank is not None:  # chosen now, in the place of the one in the mapping
            new = None if choices.bank else mapping.new_bank or NewBank()
            mapping = replace(mapping, bank=choices.bank, new_bank=new)
        bank = mapping.bank or choices.bank
        on_file = load_bank(workspace, bank) if bank else None
        choices = replace(choices, bank=bank)
    file = answer_files.open_answers(name, source, mapping, on_file)
    return answer_files.kept_in_memory(file), replace(choices, described=file.described)


def _new_studies(
    workspace: Workspace, file: AnswerFile, found: FileContents, choices: _UserChoices
) -> tuple[_NewStudy, ...]:
    """Everything a file would make, checked as a whole before anything of it is kept."""
    groups = _groups(file, found, choices.study.strip())
    per_study = Counter(str(one) for (one, _), _ in groups)
    known = {record.code: record for record in studies.studies(workspace.database, put_away=True)}
    unfinished = {event.study: event for event in unfinished_imports(workspace)}
    coming: list[_NewStudy] = []
    made: dict[str, Instrument] = {}  # by this file: banks of studies that stand further up
    for (one, instrument), rows in groups:
        code = str(one) if per_study[str(one)] == 1 else f"{one}-{instrument}"
        on_file, event = known.get(code), unfinished.get(code)
        if on_file is not None:
            _refuse_addition(workspace, on_file, event, file.parts.sha256, add=choices.add)
        elif studies.is_there(workspace.database, code):  # another study is shown under this name
            _refuse_existing(code, can_add=False)
        if code in {new.code for new in coming}:
            _refuse_existing(code, can_add=False)
        if on_file is not None:
            choice = BankChoice(_match_of_study(workspace, on_file, rows), created=False)
        else:
            choice = choose_bank(
                workspace,
                str(instrument),
                rows,
                made,
                described=choices.described,
                wished_code=choices.bank,
            )
        in_file = (str(one), str(instrument))
        used = []
        if on_file is not None and event is None:
            used = imports.formats_of(workspace.database, on_file.study_id)
        new = _new_study(file, code, in_file, rows, choice, choices.scores, on_file, used)
        new = replace(new, continued=event)
        if new.created:
            made[new.bank.code] = new.bank
        coming.append(new)
    return tuple(coming)


def _groups(
    file: AnswerFile, found: FileContents, study: str
) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """The cells of a file by the study and the instrument that they name."""
    name = file.name
    if file.is_divided:
        stand_for_none = {
            "model": _UNKNOWN_MODEL,
            "study": study or _stem(name),
            "instrument": _stem(name),
        }
        for column, value in stand_for_none.items():
            _refuse_blank_and_same(name, column, found.cells[column], value)
    cells = _with_names(name, found.cells, study, found)
    for column in ("study", "instrument"):
        _refuse_names(name, column, cells[column])
    groups = list(cells.groupby(["study", "instrument"], sort=False))
    if len(groups) > _MOST_STUDIES:
        raise FileError(
            f"{name} would make {len(groups):,} studies; at most {_MOST_STUDIES} can be made of "
            "one file.",
            "Check that the columns 'study' and 'instrument' hold names and not numbers of rows, "
            "or split the file.",
        )
    return groups


def _match_of_study(workspace: Workspace, study: FrozenStudy, rows: pd.DataFrame) -> BankMatch:
    """The bank of a study on file, for more answers to its items."""
    bank = bank_store.instrument(workspace.database, study.instrument_id)
    items = [str(item) for item in rows["item"].unique()]
    return full_match(bank, items, answers_by_format(rows))


def _with_names(name: str, frame: pd.DataFrame, study: str, found: FileContents) -> pd.DataFrame:
    """The rows with a study, an instrument and a model each."""
    stem = _stem(name)
    if study and (fault := name_fault(study)):
        raise FileError(f"The name of the study {fault}.", "Type another name.")
    studies_in_file = found.cells["study"]
    own = frame["study"]
    if study and (studies_in_file == studies_in_file.iloc[0]).all():
        own = pd.Series(study, index=frame.index, dtype=own.dtype)
    named = frame.assign(
        study=own.replace("", study or stem), instrument=frame["instrument"].replace("", stem)
    )
    if "model" in frame:
        named["model"] = frame["model"].replace("", _UNKNOWN_MODEL)
    return named


def _stem(name: str) -> str:
    """The name of a file as that of a study or bank."""
    return slug(Path(name).name.split(".")[0])


def _new_study(
    file: AnswerFile,
    code: str,
    in_file: tuple[str, str],
    rows: pd.DataFrame,
    choice: BankChoice,
    scores: ScoreMeaning,
    on_file: FrozenStudy | None,
    formats_on_file: Sequence[str],
) -> _NewStudy:
    """The study to come, from its cells: its bank with formats for all answers."""
    match = choice.match
    study, instrument = in_file
    known = on_file is None and (choice.created or match.bank.code == slug(instrument))
    bank, formats = fit_formats(
        match.bank, answers_by_format(rows), new_formats=known, on_file=formats_on_file
    )
    _refuse_empty_answers(file, rows, bank, formats)
    if file.is_divided:
        _refuse_two_names(file.name, rows, bank, formats)
    cells = _in_codes_of_bank(rows, bank, match.codes, formats)
    if choice.created:
        bank = with_points(bank, cells)
    kept = scores_to_keep(file.name, cells, bank, scores, made=choice.created)
    about = bank_sentences(choice)
    return _NewStudy(
        code,
        study,
        instrument,
        cells,
        bank,
        choice.created,
        about,
        dict(match.codes),
        dict(formats),
        kept,
        on_file,
    )


def _refuse_empty_answers(
    file: AnswerFile, rows: pd.DataFrame, bank: Instrument, formats: Mapping[str, str]
) -> None:
    """Raise FileError where an answer is empty although its format offers options."""
    empty = rows[(rows["answer"] == "") & rows["status"].isin(answer_files.USABLE)]
    for used in empty["format"].unique():
        known = bank.format(formats[used])
        if known is not None and known.options:
            row = int(empty.index[empty["format"] == used][0])
            place = answer_files.place_of(file, row)
            raise FileError(
                f"{file.name}, {place}, column answer: the answer is empty, and the format "
                f"'{known.code}' has options.",
                "Type in the answer, or a status that says why there is none.",
            )


def _refuse_two_names(
    name: str, rows: pd.DataFrame, bank: Instrument, formats: Mapping[str, str]
) -> None:
    """Raise FileError where rows of two parts might become one: only whole files are compared."""
    for column, value in {"language": bank.languages[0], "form": "original"}.items():
        _refuse_blank_and_same(name, column, rows[column], value)
    first: dict[str, str] = {}
    for used in rows["format"].unique():
        other = first.setdefault(formats[used], used)
        if "" in (used, other):
            _refuse_blank_and_same(name, "format", rows["format"], used or other)
        elif other != used:
            raise FileError(
                f"{name}: some rows have the format '{other}', and others '{used}', which are the "
                f"same here ('{formats[used]}').",
                "Give these rows one format.",
            )


def _refuse_blank_and_same(name: str, column: str, values: pd.Series[str], same: str) -> None:
    """Raise FileError where some rows have no value and others have what stands for none."""
    if same and {"", same} <= set(values.unique()):
        raise FileError(
            f"{name}: some rows have no {column}, and others have '{same}', which is the same "
            "here.",
            f"Give every row a {column}.",
        )


def _in_codes_of_bank(
    rows: pd.DataFrame, bank: Instrument, codes: Mapping[str, str], formats: Mapping[str, str]
) -> pd.DataFrame:
    """The rows with the bank's codes of items and formats, and a language and form each."""
    return rows.assign(
        item=_renamed(rows["item"], codes),
        language=rows["language"].replace("", bank.languages[0]),
        form=rows["form"].replace("", "original"),
        format=_renamed(rows["format"], formats),
    )


def _renamed(column: pd.Series[str], names: Mapping[str, str]) -> pd.Series[str]:
    """The texts by their new names; each of them has one."""
    if all(old == new for old, new in names.items()):
        return column
    return column.map(dict(names)).astype("str")


def _refuse_names(name: str, column: str, names: pd.Series[str]) -> None:
    """Raise FileError for the first name that no study or bank can have."""
    for one in names.unique():
        if fault := name_fault(str(one)):
            row = int((names == one).to_numpy().argmax()) + 1
            raise FileError(
                f"{name}, answer {row:,}, column {column}: the name {str(one)[:60]!r} {fault}.",
                "Nothing was imported. Correct the file and choose it again.",
            )


def _refuse_existing(code: str, *, can_add: bool) -> None:
    more = ""
    if can_add:
        more = " Or add the answers to it (on the page: Add to the study; in a command: --add)."
    raise FileError(
        f"There is a study called '{code}' already.",
        f"Give the import another name; nothing was kept.{more}",
    )


def _refuse_addition(
    workspace: Workspace, study: FrozenStudy, event: ImportEvent | None, sha256: str, *, add: bool
) -> None:
    """Raise FileError where the answers of the file cannot come to a study that is there."""
    continues = event is not None and event.sha256 == sha256
    if study.place != "listed":
        raise FileError(
            f"There is a study '{study.code}' already, which was {study.place}.",
            "Bring it back on Home, or give these answers another name.",
        )
    if not (add or continues) or study.kind != "imported":
        _refuse_existing(study.code, can_add=study.kind == "imported")
    _refuse_between(event, sha256)
    if imports.has_other_keys(workspace.database, study):
        raise FileError(
            f"Answers cannot be added to the study '{study.code}': a bank with other codes of "
            "items or formats was attached to it, so that equal answers would come in twice.",
            "Import all answers under a new name, then attach the bank to that study.",
        )


def _refuse_between(event: ImportEvent | None, sha256: str) -> None:
    """Raise FileError where another file is on its way into the study."""
    if event is not None and event.sha256 != sha256:
        raise FileError(
            event.words,
            "Continue it with the same file, or undo it, before you import another file.",
        )


class _Saving:
    """The rows of a file on their way into the database, one transaction for each part."""

    def __init__(
        self,
        workspace: Workspace,
        file: AnswerFile,
        found: FileContents,
        coming: Sequence[_NewStudy],
        study: str,
    ) -> None:
        self._workspace, self._file, self._found = workspace, file, found
        self._coming, self._study = coming, study
        self._digests = {new.code: hashlib.sha256() for new in coming}
        self._counts = {new.code: [0, 0] for new in coming}  # rows saved, and new ones of them
        self._before = {new.code: _n_answers(workspace, new.on_file) for new in coming}

    def run(self) -> tuple[ImportedStudy, ...]:
        """Compare the rows with those on file, then save them."""
        database = self._workspace.database
        for new in self._coming:
            if new.on_file is not None:
                people.refuse_others(database, new.on_file.study_id, self._people_of(new))
        if not self._file.is_divided:
            with database.deciding(), database.adding_answers(), database.all_or_nothing():
                self._begin()
                self._save(next(self._file.frames(check=False)), save=True)
                return self._end()
        if any(new.on_file for new in self._coming):
            self._each_part(save=False)
        with database.deciding(), database.adding_answers(), database.all_or_nothing():
            self._begin()
        try:
            self._each_part(save=True)
        except BaseException:
            with suppress(StoreError):  # such as a full disk, which the first error names
                self._report("cancelled")
            raise
        with database.all_or_nothing():
            return self._end()

    def _people_of(self, new: _NewStudy) -> pd.DataFrame:
        """What the file says of the people of a study."""
        said = _with_names(self._file.name, self._found.people, self._study, self._found)
        return said[(said["study"] == new.study) & (said["instrument"] == new.instrument)]

    def _each_part(self, *, save: bool) -> None:
        done = 0
        what = "rows saved" if save else "rows compared"
        # the first rows of a file that is continued are on file
        on_file = sum(new.continued.n_saved for new in self._coming if new.continued) if save else 0
        for frame in self._file.frames(check=False):
            progress.step(max(done, on_file), self._found.n_rows, what)
            self._save(frame, save=save)
            done += len(frame)

    def _begin(self) -> None:
        """Save the banks, and the studies without answers; no other file comes in between."""
        unfinished = {event.study: event for event in unfinished_imports(self._workspace)}
        for new in self._coming:
            _refuse_between(unfinished.get(new.code), self._file.parts.sha256)
            if new.on_file is None:
                self._add_study(new)
            else:  # another file may have come in since this one was read
                self._before[new.code] = _n_answers(self._workspace, new.on_file)
        self._report("started")

    def _add_study(self, new: _NewStudy) -> None:
        database, bank = self._workspace.database, new.bank
        if new.created:
            bank_store.save_draft(
                database, bank, expected_revision=None, summary="Made from imported answers"
            )
        version = bank_store.publish(database, bank)
        design = Design(
            study=new.code,
            instrument=bank.code,
            respondents=_different(new.cells["model"]),
            languages=_different(new.cells["language"]),
            version=version.version,
            notes="Imported answers.",
        )
        imports.add_imported_study(database, design, version.instrument_id, "")

    def _save(self, frame: pd.DataFrame, *, save: bool) -> None:
        """Save, or only compare, the rows of a part; what is not committed does not count."""
        database = self._workspace.database
        counts = {code: [*own] for code, own in self._counts.items()}
        digests = {code: own.copy() for code, own in self._digests.items()}
        named = _with_names(self._file.name, frame, self._study, self._found)
        with database.adding_answers(), database.all_or_nothing():
            if save and self._file.is_divided:
                self._refuse_undone()
            for new in self._coming:
                rows = new.rows_of(named)
                if rows.empty:
                    continue
                study = studies.frozen_study(database, new.code)
                table, administrations = _tables(rows)
                n_new = imports.add_answers(database, study, table, administrations, save=save)
                if save:
                    hashes = answers.row_hashes(rows, [*rows.columns])
                    digests[new.code].update(hashes.tobytes())
                    counts[new.code][0] += len(rows)
                    counts[new.code][1] += n_new
            if save:
                self._report("saved", counts)
        self._counts, self._digests = counts, digests

    def _under_way(self) -> set[str]:
        """The studies into which this file is on its way, by what is on file."""
        events = unfinished_imports(self._workspace)
        return {event.study for event in events if event.sha256 == self._file.parts.sha256}

    def _refuse_undone(self) -> None:
        """Raise FileError where the import was undone since its last part."""
        under_way = self._under_way()
        for new in self._coming:
            if new.code not in under_way:
                raise FileError(
                    f"The import into the study '{new.code}' was undone while it was under way.",
                    "Import the file again.",
                )

    def _report(self, kind: str, counts: Mapping[str, Sequence[int]] | None = None) -> None:
        """Save how far the import is; of one part, nobody would see it."""
        if not self._file.is_divided:
            return
        database, under_way = self._workspace.database, self._under_way()
        for new in self._coming:
            if kind != "started" and new.code not in under_way:  # undone meanwhile
                continue
            n_saved, n_new = (counts or self._counts)[new.code]
            n_before = self._before[new.code]
            if new.continued is not None:  # its rows are still those of this file
                n_saved = max(n_saved, new.continued.n_saved)
                n_new += new.continued.n_new
                n_before = new.continued.n_before
            event = ImportEvent(
                new.code,
                kind,
                self._file.name,
                self._file.parts.sha256,
                int(new.cells["count"].sum()),
                n_saved,
                n_new,
                n_before,
            )
            study = studies.frozen_study(database, new.code)
            imports.add_event(database, study.study_id, event)

    def _end(self) -> tuple[ImportedStudy, ...]:
        """Save what the studies are now."""
        done = []
        for new in self._coming:
            study = studies.frozen_study(self._workspace.database, new.code)
            respondents = {*study.design.respondents, *new.cells["model"]}
            languages = {*study.design.languages, *new.cells["language"]}
            digest = self._digests[new.code].hexdigest()
            if new.on_file is not None and new.on_file.plan_hash:
                digest = hashlib.sha256(f"{study.plan_hash} {digest}".encode()).hexdigest()
            n_rows, n_new = self._counts[new.code]
            people.add(self._workspace, study.study_id, self._people_of(new), self._file.facts)
            if n_new or new.continued is not None or not study.plan_hash:
                design = replace(
                    study.design,
                    respondents=tuple(sorted(respondents)),
                    languages=tuple(sorted(languages)),
                )
                imports.change_imported_study(
                    self._workspace.database, study.study_id, design, digest
                )
            done.append(
                ImportedStudy(
                    new.code,
                    new.bank.code,
                    n_rows,
                    new.created,
                    new.about_bank,
                    n_new,
                    n_total=self._before[new.code] + n_new,
                )
            )
            if n_new:
                words = f"Imported {count_text(n_new, 'answer')} from {self._file.name}"
                study_log.add(self._workspace, study.study_id, words)
        self._report("finished")
        return tuple(done)


def _different(column: pd.Series[str]) -> tuple[str, ...]:
    return tuple(sorted(column.unique()))


_ADMINISTRATION = (
    "model",
    "language",
    "context",
    "entity",
    "entity_b",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "repetition",
    "items_per_call",
    "history",
    *SETTINGS,
)


def _tables(rows: pd.DataFrame) -> tuple[pa.Table, pa.Table]:
    """The rows with the numbers of their administrations, and the administrations."""
    columns = [*_ADMINISTRATION]
    first, places = answers.different_rows(rows, columns)
    administrations = rows[columns].iloc[first]
    administrations = administrations.assign(administration=np.arange(len(administrations)))
    blank = {*rows.attrs.get(answers.ABSENT, ())} & {*imports.MAY_BE_BLANK}
    others = [c for c in rows.columns if c not in (*columns, "study", "instrument", *blank)]
    own = rows[others].assign(administration=places, row=rows.index.to_numpy() + 1)
    return (
        pa.Table.from_pandas(own, preserve_index=False),
        pa.Table.from_pandas(administrations, preserve_index=False),
    )


# Imports that did not come to their end.


def unfinished_imports(workspace: Workspace) -> tuple[ImportEvent, ...]:
    """Imports that were cancelled or interrupted, with what they have saved, the oldest first."""
    return imports.unfinished_imports(workspace.database)


def last_finished_import(workspace: Workspace) -> ImportEvent | None:
    """The large file whose import finished last, also where nobody has looked since."""
    return imports.last_finished_import(workspace.database)


def begin_preview(
    workspace: Workspace, key: str, name: str, source: Source, **choices: Any
) -> Computation[TidyPreview]:
    """The preview of a large file, made in the background; `choices` are those of `preview_tidy`.

    Equal keys are of the same preview.
    """
    return background.begin(
        f"preview {key}",
        "preview of the file",
        lambda: preview_tidy(workspace, name, source, **choices),
        waits_for_others=True,
    )


def begin_import(
    workspace: Workspace, sha256: str, name: str, source: Source, **choices: Any
) -> Computation[tuple[ImportedStudy, ...]]:
    """The import of a large file in the background; `choices` are those of `import_tidy`.

    One that is under way goes on. Canceled, it ends when the part under way is saved, so that what
    it says is saved is all.
    """
    background.forget_key(_import_key(workspace, sha256))
    return background.begin(
        _import_key(workspace, sha256),
        f"import of {name}",
        lambda: import_tidy(workspace, name, source, **choices),
        waits_for_others=True,
        finishes_steps=True,
    )


def known_import(
    workspace: Workspace, sha256: str
) -> Computation[tuple[ImportedStudy, ...]] | None:
    """The import of a file, by its hash, that was begun by this process, under way or ended."""
    return background.known(_import_key(workspace, sha256))


def _import_key(workspace: Workspace, sha256: str) -> str:
    return f"import {workspace.process} {sha256}"


def undo(workspace: Workspace, study: str) -> int:
    """Delete what an unfinished import has saved; returns the number of answers.

    Raises
    ------
    FileError, DesignError
        No import into the study is unfinished, it is still under way, or its answers were coded
        anew meanwhile.
    """
    found = {event.study: event for event in unfinished_imports(workspace)}
    if study not in found:
        known = ", ".join(f"'{code}'" for code in found) or "none"
        raise FileError(
            f"There is no unfinished import into a study '{study}'.",
            f"Studies with an unfinished import: {known}.",
        )
    running = known_import(workspace, found[study].sha256)
    if running is not None and not running.ended:
        raise FileError(
            f"The import into the study '{study}' is under way.", "Cancel it, then undo it."
        )
    database = workspace.database
    record = studies.frozen_study(database, study)
    with database.adding_answers(), database.all_or_nothing():
        n_deleted = imports.undo_import(database, record, found[study].n_before)
        if found[study].n_before:
            words = f"Undid an import of {count_text(n_deleted, 'answer')}"
            study_log.add(workspace, record.study_id, words)
    return n_deleted

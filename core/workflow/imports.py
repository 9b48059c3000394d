"""Bringing in answers that were collected elsewhere: what a file would make, then keeping it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from core.domain.formats import built_in
from core.domain.identifiers import name_fault, slug
from core.domain.instrument import Instrument, Item, Option, ResponseFormat
from core.domain.study import Design, Status
from core.errors import FileError
from core.files import tidy
from core.store import banks as bank_store
from core.store import imports, studies
from core.workflow.workspace import Workspace

USABLE = tuple(status.value for status in Status if status.usable)
SHOWN_ROWS = 10
MOST_STUDIES = 200  # of one file; each costs a moment, and more are a column mistaken for a name


@dataclass(frozen=True)
class ImportedStudy:
    """What came of an import."""

    study: str
    instrument: str
    n_rows: int
    created_instrument: bool


@dataclass(frozen=True)
class StudyToCome:
    """One study a file would make. `n_usable` rows hold an answer, the other rows say why not."""

    study: str
    instrument: str
    n_rows: int
    n_usable: int
    n_items: int
    n_respondents: int
    creates_instrument: bool


@dataclass(frozen=True, eq=False)
class TidyPreview:
    """What a file holds: its first rows as they were read, and the studies it would make."""

    rows: pd.DataFrame
    n_rows: int
    studies: tuple[StudyToCome, ...]
    tags: tuple[str, ...]  # columns Inkblot does not know, kept as they are


@dataclass(frozen=True, eq=False)
class _Incoming:
    """A study about to be kept, with the bank it belongs to."""

    code: str
    instrument: str
    rows: pd.DataFrame
    bank: Instrument
    created: bool


def preview_tidy(workspace: Workspace, name: str, data: bytes, *, study: str = "") -> TidyPreview:
    """What `import_tidy` would make of the same file; nothing is kept.

    Raises
    ------
    FileError
        The file would be refused, with the same words.
    """
    frame = tidy.read_tidy(name, data)
    tags = sorted({tag for text in frame["tags"].unique() for tag in json.loads(text or "{}")})
    head = frame.head(SHOWN_ROWS)
    filled = [c for c in head.columns if c != "tags" and _holds_something(frame[c])]
    found = tuple(
        StudyToCome(
            study=coming.code,
            instrument=coming.instrument,
            n_rows=len(coming.rows),
            n_usable=int(coming.rows["status"].isin(USABLE).sum()),
            n_items=int(coming.rows["item"].nunique()),
            n_respondents=int(coming.rows["model"].nunique()),
            creates_instrument=coming.created,
        )
        for coming in _incoming(workspace, name, frame, study)
    )
    return TidyPreview(head[filled], len(frame), found, tuple(tags))


def import_tidy(
    workspace: Workspace, name: str, data: bytes, *, study: str = ""
) -> tuple[ImportedStudy, ...]:
    """Keep the answers of a tidy file, as one study per study and instrument it names.

    `study` names the study of a file that names none, or one only. A bank of the database is used
    where its code and items are those of the file; else the items are created without texts, with
    the options found in the file.

    Raises
    ------
    FileError, DesignError
        A row cannot be read, or a study of that name exists. Nothing is kept.
    """
    coming = _incoming(workspace, name, tidy.read_tidy(name, data), study)
    with workspace.database.all_or_nothing():
        return tuple(_keep(workspace, one) for one in coming)


def _holds_something(column: pd.Series[Any]) -> bool:
    return bool((column.notna() & (column.astype("str") != "")).any())


def _incoming(
    workspace: Workspace, name: str, frame: pd.DataFrame, study: str
) -> tuple[_Incoming, ...]:
    """Everything a file would make, checked as a whole before anything of it is kept."""
    stem = slug(Path(name).name.split(".")[0])
    if frame.empty:
        raise FileError(f"{name} has no rows below its header.", "Choose a file with answers.")
    if study.strip() and (fault := name_fault(study.strip())):
        raise FileError(f"The name of the study {fault}.", "Type another name.")
    if study.strip() and (frame["study"] == frame["study"].iloc[0]).all():
        frame["study"] = study.strip()
    frame["study"] = frame["study"].replace("", study.strip() or stem)
    frame["instrument"] = frame["instrument"].replace("", stem)
    frame["model"] = frame["model"].replace("", "unknown")
    for column in ("study", "instrument"):
        _refuse_names(name, column, frame[column])
    groups = list(frame.groupby(["study", "instrument"], sort=False))
    per_study = Counter(str(one) for (one, _), _ in groups)
    if len(groups) > MOST_STUDIES:
        raise FileError(
            f"{name} would make {len(groups):,} studies; at most {MOST_STUDIES} can be made of one "
            "file.",
            "Check that the columns 'study' and 'instrument' hold names and not numbers of rows, "
            "or split the file.",
        )
    taken = {record.code for record in studies.studies(workspace.database)}
    found: list[_Incoming] = []
    made: dict[str, Instrument] = {}  # by this file: banks of studies that stand further up
    for (one, instrument), rows in groups:
        code = str(one) if per_study[str(one)] == 1 else f"{one}-{instrument}"
        _refuse_taken(taken, code)
        taken.add(code)
        bank, created = _bank_for(workspace, str(instrument), rows, made)
        if created:
            made[bank.code] = bank
        found.append(_Incoming(code, str(instrument), rows, bank, created))
    return tuple(found)


def _refuse_names(name: str, column: str, names: pd.Series[str]) -> None:
    """Raise FileError for the first name that no study or bank can have."""
    for one in names.unique():
        if fault := name_fault(str(one)):
            row = int((names == one).to_numpy().argmax()) + 1
            raise FileError(
                f"{name}, answer {row:,}, column {column}: the name {str(one)[:60]!r} {fault}.",
                "Nothing was kept. Correct the file and choose it again.",
            )


def _refuse_taken(taken: set[str], code: str) -> None:
    if code in taken:
        raise FileError(
            f"There is a study called '{code}' already.",
            "Give the import another name; nothing was kept.",
        )


def _keep(workspace: Workspace, coming: _Incoming) -> ImportedStudy:
    rows, bank = coming.rows, coming.bank
    if coming.created:
        bank_store.save_draft(
            workspace.database, bank, expected_revision=None, summary="Made from imported answers"
        )
    version = bank_store.publish(workspace.database, bank)
    rows = rows.assign(
        language=rows["language"].replace("", bank.languages[0]),
        form=rows["form"].replace("", "original"),
        format=rows["format"].replace("", bank.formats[0].code),
    )
    design = Design(
        study=coming.code,
        instrument=coming.instrument,
        respondents=tuple(sorted(rows["model"].unique())),
        languages=tuple(sorted(rows["language"].unique())),
        version=version.version,
        notes="Imported answers.",
    )
    digest = hashlib.sha256(pd.util.hash_pandas_object(rows, index=False).to_numpy().tobytes())
    table = pa.Table.from_pandas(rows, preserve_index=False)
    imports.add_study(workspace.database, design, version.instrument_id, table, digest.hexdigest())
    return ImportedStudy(coming.code, coming.instrument, len(rows), coming.created)


def _bank_for(
    workspace: Workspace, code: str, rows: pd.DataFrame, made: dict[str, Instrument]
) -> tuple[Instrument, bool]:
    """The bank that has these items and options, and whether it has yet to be created."""
    items = list(dict.fromkeys(rows["item"].tolist()))
    state = bank_store.draft(workspace.database, slug(code))
    known = state.instrument if state is not None else made.get(slug(code))
    if known is not None:
        missing = [item for item in items if known.item(item) is None]
        if missing:
            raise FileError(
                f"Bank '{code}' of the database has no item '{missing[0]}'.",
                "Rename the instrument in the file, or add the item to the bank.",
            )
        return _with_formats(known, rows), False
    language = next((value for value in rows["language"].unique() if value), "en")
    bank = Instrument(
        code=slug(code),
        title=code,
        items=tuple(Item(item) for item in items),
        languages=(language,),
        description="Made from imported answers; the texts of the items are not known.",
    )
    return _with_formats(bank, rows), True


def _with_formats(bank: Instrument, rows: pd.DataFrame) -> Instrument:
    """The bank with response options for every format and answer that the rows use."""
    formats = {f.code: f for f in bank.formats}
    default = bank.formats[0].code if bank.formats else "as_imported"
    for code, answers in rows.assign(format=rows["format"].replace("", default)).groupby("format")[
        "answer"
    ]:
        name = str(code)
        used = [answer for answer in dict.fromkeys(answers.tolist()) if answer]
        known = formats.get(name) or built_in(name) or ResponseFormat(name, ())
        unknown = [answer for answer in used if known.option(answer) is None]
        if unknown and known.options:
            raise FileError(
                f"'{unknown[0]}' is not an option of the format '{name}'.",
                f"Its options are: {', '.join(o.code for o in known.options)}.",
            )
        if unknown:
            known = ResponseFormat(name, _options_of(unknown))
        formats[name] = known
    ordered = {f.code: f for f in bank.formats} | formats
    return replace(bank, formats=tuple(ordered.values()))


def _options_of(answers: list[str]) -> tuple[Option, ...]:
    """Options for answers of an unknown format; numbers count as their points."""
    try:
        numbers = sorted((float(answer), answer) for answer in answers)
    except ValueError:
        return tuple(Option(answer, None, {}) for answer in sorted(answers))
    return tuple(Option(answer, points, {}) for points, answer in numbers)

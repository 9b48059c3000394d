"""The study of a package: looked at, and taken into the database with every row and key."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from core.domain.characters import readable
from core.domain.instrument import INSTRUMENT, Instrument, content_hash
from core.domain.study import DESIGN, RESPONDENT, Design, Respondent, Status, as_json_values
from core.domain.templates import TEMPLATE
from core.domain.values import name_fault, stable_id
from core.errors import DesignError, FileError
from core.files.packages import ReadPackage, is_package, read_package
from core.store import banks as bank_store
from core.store import studies
from core.store.packages import CHANGED, BankVersion, add_study_tables, checked_tables
from core.workflow import study_log
from core.workflow.answers.exports import export_tidy
from core.workflow.workspace import Workspace

__all__ = ["is_package"]

_STATUSES = frozenset(status.value for status in Status)


@dataclass(frozen=True, eq=False)
class PackagePreview:
    """What a package would bring: the study, its bank, the answers and who gave them.

    `asks` are the addresses that the models of the study are asked at, with the names of the
    variables that hold their keys.
    """

    study: str
    kind: str
    bank: str
    n_items: int
    n_planned: int
    n_answers: int
    models: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class ImportedPackage:
    """What came of an import. `about_bank` says what became of the bank."""

    study: str
    bank: str
    n_answers: int
    about_bank: str


@dataclass(frozen=True, eq=False)
class _Content:
    """A package whose rows have been checked."""

    file: str
    package: ReadPackage
    tables: Mapping[str, pa.Table]
    design: Design
    bank: Instrument
    instrument_id: int
    respondents: tuple[Respondent, ...]


def preview_package(
    workspace: Workspace, name: str, data: bytes, report: Callable[[float], object] = lambda _: None
) -> PackagePreview:
    """What `import_package` would take in; nothing is kept. `report` as in `read_package`.

    Raises
    ------
    FileError, DesignError
        The package would be refused, with the same words.
    """
    found = _content(workspace, name, data, report)
    labels = found.tables["respondent"]["label"].to_pylist()
    asks = {
        f"{person.label}: {person.base_url}"
        + (f", with the key in {person.key_variable}" if person.key_variable else "")
        for person in found.respondents
        if person.base_url
    }
    return PackagePreview(
        study=found.design.study,
        kind=found.tables["study"]["kind"][0].as_py(),
        bank=found.bank.title,
        n_items=len(found.bank.items),
        n_planned=_count(found, "trial"),
        n_answers=_count(found, "response"),
        models=tuple(sorted(labels)),
        asks=tuple(sorted(asks)),
    )


def import_package(
    workspace: Workspace, name: str, data: bytes, report: Callable[[float], object] = lambda _: None
) -> ImportedPackage:
    """Take the study of a package into the database; all of it or nothing.

    The bank comes with it: as the version that is on file with the same content, or as a new one.
    `report` as in `read_package`; an error of it, also once more before all is kept, keeps nothing.

    Raises
    ------
    FileError, DesignError
        A file was changed, the rows do not fit together, there is a study of that name, or the
        answers that come out again are not those of the package. Nothing is kept.
    """
    found = _content(workspace, name, data, report)
    database = workspace.database
    with database.deciding(), database.adding_answers(), database.all_or_nothing():
        version, about_bank = _bank_version(workspace, found)
        codes = [item.code for item in found.bank.items]
        tables = {**found.tables, "study": _with_version(found.tables["study"], found, version)}
        add_study_tables(
            workspace.database,
            tables,
            BankVersion(found.instrument_id, codes),
            BankVersion(version.instrument_id, codes),
        )
        if not _same_answers(export_tidy(workspace, found.design.study), found.package.answers):
            raise FileError(
                f"{name}: the answers in its tables are not those of its CSV file.", CHANGED
            )
        imported = studies.get(database, found.design.study)
        study_log.add(workspace, imported.study_id, f"Imported the package {name}")
        report(1.0)
    return ImportedPackage(
        found.design.study, found.bank.code, _count(found, "response"), about_bank
    )


def _same_answers(exported: bytes, packed: bytes) -> bool:
    """Whether a file of answers from the tables of a package has the cells of its own file.

    Packages of earlier versions may hold characters that files no longer hold, such as U+2028.
    """
    if exported == packed:
        return True
    ours, theirs = (
        csv.reader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
        for content in (exported, packed)
    )
    pairs = zip_longest(ours, theirs)
    return all(own and other and own == [readable(cell) for cell in other] for own, other in pairs)


def _count(found: _Content, table: str) -> int:
    return found.tables[table].num_rows if table in found.tables else 0


# Checks beyond those of the tables: texts that hold JSON, names and statuses.


def _content(
    workspace: Workspace, name: str, data: bytes, report: Callable[[float], object] = lambda _: None
) -> _Content:
    package = read_package(name, data, report)
    if studies.is_there(workspace.database, package.study):
        raise DesignError(
            f"There is a study called '{package.study}' already.",
            "Import the package into another database (INKBLOT_DB); nothing was kept.",
        )
    tables = checked_tables(package.tables, package.schema)
    try:
        found = _parsed(name, package, tables)
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError) as error:
        first = str(error).splitlines()[0][:200]
        raise FileError(f"{name}: its tables cannot be read ({first}).", CHANGED) from error
    _check_names(found)
    return found


def _parsed(name: str, package: ReadPackage, tables: Mapping[str, pa.Table]) -> _Content:
    study, version = tables["study"].to_pylist()[0], tables["instrument"].to_pylist()[0]
    respondents = [
        RESPONDENT.validate_json(row["body"])
        for row in tables["respondent"].to_pylist()
        if row["kind"] != "imported"
    ]
    for row in _rows(tables, "amendment"):
        respondents.append(RESPONDENT.validate_json(row["body"]))
    for row in _rows(tables, "study_template"):
        if row["code"]:
            TEMPLATE.validate_json(row["body"])
    for row in (*_rows(tables, "study_context"), *_rows(tables, "prompt")):
        json.loads(row["messages"] or "[]")
    return _Content(
        name,
        package,
        tables,
        DESIGN.validate_json(study["design"]),
        INSTRUMENT.validate_json(version["body"]),
        version["instrument_id"],
        tuple(respondents),
    )


def _rows(tables: Mapping[str, pa.Table], name: str) -> list[dict[str, Any]]:
    return tables[name].to_pylist() if name in tables else []


def _check_names(found: _Content) -> None:
    """Raise FileError where the parts of the package are not of one study and bank."""
    study, version = (found.tables[t].to_pylist()[0] for t in ("study", "instrument"))
    items = {bank_store.item_id(found.instrument_id, item.code) for item in found.bank.items}
    statuses = (
        {
            *found.tables["response"]["status"].to_pylist(),
        }
        if "response" in found.tables
        else set()
    )
    holds = (
        found.design.study == study["code"] == found.package.study,
        not name_fault(study["code"]),
        study["study_id"] == stable_id("study", study["code"]),
        version["code"] == found.bank.code,
        version["content_hash"] == content_hash(found.bank),
        items.issuperset(found.tables["trial"]["item_id"].to_pylist()),
        statuses <= _STATUSES,
    )
    if not all(holds):
        raise FileError(f"{found.file}: its tables are not of one study and its bank.", CHANGED)


# The bank.


def _bank_version(workspace: Workspace, found: _Content) -> tuple[bank_store.Version, str]:
    """The version on file with the content of the package's bank, made if there is none."""
    database, bank = workspace.database, found.bank
    known = bank_store.versions(database, bank.code)
    digest = content_hash(bank)
    same = next((one for one in known if one.content_hash == digest), None)
    version = same or bank_store.publish(database, bank)
    working = bank_store.draft(database, bank.code)
    if working is None:
        bank_store.save_draft(
            database, bank, expected_revision=None, summary="Came with a study package"
        )
        return version, f"The bank '{bank.code}' came with the study."
    if same or content_hash(working.instrument) == digest:
        return version, f"The bank '{bank.code}' is on file: version {version.version}."
    return version, (
        f"A bank '{bank.code}' with other content is on file. That of the study is kept as its "
        f"version {version.version}; the working copy stays as it is."
    )


def _with_version(study: pa.Table, found: _Content, version: bank_store.Version) -> pa.Table:
    """The row of the study, its design with the number that the bank's version has here."""
    if found.design.version in (None, version.version):
        return study
    body = json.dumps(
        as_json_values(replace(found.design, version=version.version)), ensure_ascii=False
    )
    place = study.column_names.index("design")
    return study.set_column(place, study.schema.field(place), pa.array([body], pa.string()))

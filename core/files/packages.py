"""The study package: a zip of CSV files, documents and tables, described for people and programs.

`datapackage.json` describes it as a Frictionless data package (Data Package standard, version 1),
`dataset_description.json` as a Psych-DS data set (schema.org Dataset); SHA256SUMS has the checksum
of every other file. The folder `tables` holds all rows of the study for another Inkblot.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import FileError
from core.files.columns import MAX_CELLS, bounded_table
from core.files.writing import csv_bytes, files_zip

ENDING = ".zip"
SUMS = "SHA256SUMS"
DESCRIPTOR = "datapackage.json"
_PSYCH_DS = "dataset_description.json"
_CODEBOOK = "codebook.csv"
_TABLES = "tables/"
_MOST_BYTES = 2 * 1024**3
"""What the files of a package may have together, unpacked."""
_MOST_KEPT_BYTES = 400 * 1024**2
"""What those of them may have that are in memory at once: the answers, and the packed tables."""
_MOST_SUMS_BYTES = 4 * 1024**2
_PART_BYTES = 1024**2
_DATA = "data/"
_MOST_FILES = 5_000
_MADE_AGAIN = "Get the package again, or let its maker write it anew. Nothing was kept."
_MEDIA = {
    ".csv": "text/csv", ".json": "application/json", ".md": "text/markdown",
    ".R": "text/x-r", ".py": "text/x-python", ".yaml": "application/yaml",
    ".parquet": "application/vnd.apache.parquet", ".sav": "application/x-spss-sav",
    ".jsonl": "application/jsonl", ".txt": "text/plain", ".html": "text/html",
    ".js": "text/javascript",
}  # fmt: skip

FieldType = Literal["string", "integer", "number", "boolean"]


@dataclass(frozen=True)
class PackageField:
    """A column of a CSV file: its name, type, what it says, and the values it can have."""

    name: str
    type: FieldType
    title: str
    values: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PackageFile:
    """A file of a package; one with `fields` is a CSV table."""

    path: str
    title: str
    body: bytes
    fields: tuple[PackageField, ...] = ()


@dataclass(frozen=True)
class PackageFacts:
    """What the descriptions of a package say of the study.

    `schema` is the step of the database's schema that its tables follow; `versions` are those of
    the software, by name.
    """

    study: str
    title: str
    description: str
    schema: str
    versions: Mapping[str, str]


# Writing.


def data_path(study: str, words: str) -> str:
    """The path of a CSV file with data, named as Psych-DS asks: `data/study-x_description-y_data`.

    Names of Psych-DS hold letters and digits only.
    """
    plain = re.sub(r"[^A-Za-z0-9]", "", study) or "study"
    return f"data/study-{plain}_description-{words}_data.csv"


def write_package(
    files: Sequence[PackageFile], tables: Mapping[str, pa.Table], facts: PackageFacts
) -> bytes:
    """The package as a zip; equal content gives equal bytes."""
    every = [
        *files,
        *(
            PackageFile(f"{_TABLES}{name}.parquet", f"Table '{name}' of Inkblot.", _parquet(rows))
            for name, rows in tables.items()
        ),
    ]
    codebook = PackageFile(
        _CODEBOOK,
        "Every column of the CSV files: what it says, and its values.",
        _codebook(files),
        _CODEBOOK_FIELDS,
    )
    every.insert(0, codebook)
    bodies = {file.path: file.body for file in every}
    bodies[_PSYCH_DS] = _json(_psych_ds(every, facts))
    bodies[DESCRIPTOR] = _json(_data_package(every, facts))
    sums = (f"{hashlib.sha256(body).hexdigest()}  {path}\n" for path, body in bodies.items())
    bodies[SUMS] = "".join(sums).encode()
    return files_zip(bodies, compressed=True)


def _parquet(rows: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, compression="zstd")
    return buffer.getvalue()


_CODEBOOK_FIELDS = (
    PackageField("file", "string", "Path of the CSV file"),
    PackageField("column", "string", "Name of the column"),
    PackageField("type", "string", "string, integer, number or boolean"),
    PackageField("title", "string", "What the column says"),
    PackageField("value", "string", "A value that the column can have; one row for each"),
    PackageField("label", "string", "What the value means"),
)


def _codebook(files: Iterable[PackageFile]) -> bytes:
    rows: list[tuple[str, ...]] = [tuple(field.name for field in _CODEBOOK_FIELDS)]
    for file in files:
        for field in file.fields:
            start = (file.path, field.name, field.type, field.title)
            rows += [(*start, *pair) for pair in (field.values or {"": ""}).items()]
    return csv_bytes(rows)


def _data_package(files: Iterable[PackageFile], facts: PackageFacts) -> dict[str, Any]:
    return {
        "profile": "data-package",
        "name": re.sub(r"[^a-z0-9._-]+", "-", facts.study.lower()).strip("-") or "study",
        "title": facts.title,
        "description": facts.description,
        "inkblot": {
            "study": facts.study,
            "schema": facts.schema,
            "versions": dict(sorted(facts.versions.items())),
        },
        "resources": [_resource(file) for file in files],
    }


def _resource(file: PackageFile) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9._-]+", "-", file.path.lower()),
        "title": file.title,
        "type": "table" if file.fields else "file",  # how the frictionless tool looks at it
        "path": file.path,
        "mediatype": _MEDIA.get(Path(file.path).suffix, "application/octet-stream"),
        "bytes": len(file.body),
        "hash": f"sha256:{hashlib.sha256(file.body).hexdigest()}",
    }
    if file.fields:
        described |= {
            "profile": "tabular-data-resource",
            "format": "csv",
            "encoding": "utf-8",
            "schema": {
                "fields": [_described(field) for field in file.fields],
                "missingValues": [""],
            },
        }
    return described


def _described(field: PackageField) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "description": field.title,
    }
    if field.values:
        described["inkblot:values"] = dict(field.values)
    return described


def _psych_ds(files: Iterable[PackageFile], facts: PackageFacts) -> dict[str, Any]:
    variables: dict[str, dict[str, Any]] = {}
    for file in files:
        if file.path.startswith("data/"):
            for field in file.fields:
                variables.setdefault(
                    field.name,
                    {"@type": "PropertyValue", "name": field.name, "description": field.title},
                )
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": facts.title,
        "description": facts.description,
        "schemaVersion": "Psych-DS 0.4.0",
        "variableMeasured": list(variables.values()),
    }


def _json(body: object) -> bytes:
    return (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode()


# Reading.


@dataclass(frozen=True, eq=False)
class ReadPackage:
    """What another Inkblot takes from a package: the study, its tables, and the answers as CSV."""

    study: str
    schema: str
    tables: Mapping[str, pa.Table]
    answers: bytes


def is_package(name: str) -> bool:
    """Whether a file of that name can be a study package."""
    return name.lower().endswith(ENDING)


def read_package(
    name: str, data: bytes, report: Callable[[float], object] = lambda _: None
) -> ReadPackage:
    """The content of a package, every file compared with its checksum.

    `report` is given the share that was looked at, now and then; an error of it ends the reading.

    Raises
    ------
    FileError
        It is no package of Inkblot, is too large, lacks a file, or a file was changed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            bodies = _checked(name, archive, report)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, *_DAMAGES) as error:
        raise FileError(f"{name} is not a whole zip file ({error}).", _MADE_AGAIN) from error
    except RuntimeError as error:  # of zipfile: a password is needed
        if "password" not in str(error):
            raise
        raise FileError(f"{name} is protected by a password.", "Choose one without.") from error
    try:
        facts = json.loads(bodies[DESCRIPTOR])["inkblot"]
        study, schema = str(facts["study"]), str(facts["schema"])
        answers = bodies[data_path(study, "answers")]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"{name}: {DESCRIPTOR} does not say which study and which tables the package holds.",
            "Choose a package that Inkblot wrote.",
        ) from error
    tables: dict[str, pa.Table] = {}
    for path, body in bodies.items():
        if path.startswith(_TABLES):
            read = sum(rows.num_rows * rows.num_columns for rows in tables.values())
            table = bounded_table(f"{name}: {path}", body, most_cells=MAX_CELLS - read)
            tables[path.removeprefix(_TABLES).removesuffix(".parquet")] = table
    return ReadPackage(study, schema, tables, answers)


_DAMAGES = (
    EOFError,
    NotImplementedError,
    OSError,
    ValueError,
    OverflowError,
    IndexError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)
"""What zipfile and what unpacks raise on damaged bytes, each from another place."""


def _checked(
    name: str, archive: zipfile.ZipFile, report: Callable[[float], object]
) -> dict[str, bytes]:
    """The files that hold the study, of those that SHA256SUMS names; all have that checksum."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    size = sum(entry.file_size for entry in archive.infolist())
    if len(archive.infolist()) > _MOST_FILES or size > _MOST_BYTES:
        raise FileError(
            f"{name} holds {len(archive.infolist()):,} files of {size / 1024**3:,.1f} GB together; "
            f"at most {_MOST_FILES:,} files of {_MOST_BYTES // 1024**3} GB can be read.",
            "Leave large studies in the database, and copy its file.",
        )
    found = sorted((n for n in entries if n.split("/")[-1] == SUMS and n.count("/") < 2), key=len)
    if not found:
        raise FileError(
            f"{name} is not a study package: it has no file {SUMS}.",
            "Choose a package that Inkblot wrote, or a file with answers.",
        )
    folder = found[0].removesuffix(SUMS)  # of a package that was unpacked and packed again
    sums = _unpacked(name, archive, entries[found[0]], _MOST_SUMS_BYTES)
    bodies: dict[str, bytes] = {}
    seen: set[str] = set()
    done = kept = 0
    for number, line in enumerate(sums.decode("utf-8", "replace").splitlines(), 1):
        digest, _, path = line.partition("  ")
        where = f"line {number} of {SUMS}"
        if path in seen:
            raise FileError(f"{name}: {where} names {path[:200]!r} again.", _MADE_AGAIN)
        seen.add(path)
        if (entry := entries.get(folder + path)) is None:
            raise FileError(f"{name} lacks the file {path[:200]!r} ({where}).", _MADE_AGAIN)
        is_kept = path == DESCRIPTOR or path.startswith((_TABLES, _DATA))
        computed = hashlib.sha256()
        parts: list[bytes] = []
        with archive.open(entry) as file:
            while part := file.read(_PART_BYTES):
                computed.update(part)
                done += len(part)
                report(min(done / max(size, 1), 1.0))
                if is_kept:
                    parts.append(part)
                    kept += len(part)
                    _refuse_larger(name, kept)
        if computed.hexdigest() != digest:
            raise FileError(
                f"{name}: the file {path[:200]!r} was changed after the package was made "
                f"({where} has another checksum).",
                _MADE_AGAIN,
            )
        if is_kept:
            bodies[path] = b"".join(parts)
    return bodies


def _unpacked(
    name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int
) -> bytes:
    with archive.open(entry) as file:
        body = file.read(most_bytes + 1)
    if len(body) > most_bytes:
        raise FileError(f"{name}: the file {entry.filename[:200]!r} is too long.", _MADE_AGAIN)
    return body


def _refuse_larger(name: str, n_bytes: int) -> None:
    if n_bytes > _MOST_KEPT_BYTES:
        raise FileError(
            f"{name}: the answers and tables of the study are larger than "
            f"{_MOST_KEPT_BYTES // 1024**2:,} MB.",
            "Leave large studies in the database, and copy its file.",
        )

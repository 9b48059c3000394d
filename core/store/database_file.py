"""The database file on disk: what tells it from another one, its log, copies of it.

DuckDB writes what is new into a log beside the file, and from there into the file now and then (a
checkpoint). A log belongs to one file in one state. Beside another file, such as a backup that was
put in its place, it would add rows that have nothing to do with it. Files in the format below
carry an identity and count their checkpoints, and DuckDB refuses a log of another state.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from core.errors import StoreError

FORMAT = "v1.5.0"
"""The format of DuckDB in which new files are written; those before v1.4 have no identity."""

# DuckDB 1.5, src/storage/storage_info.cpp and single_file_block_manager.cpp: the main header, then
# two headers of which the one with the larger count is valid.
_MAGIC = slice(8, 12)
_IDENTITY = slice(124, 140)
_COUNTS = (slice(4104, 4112), slice(8200, 8208))  # of checkpoints, little-endian
_HEADERS_BYTES = 12_288
_DESCRIPTORS = "/dev/fd"  # on Linux and macOS, a name for each descriptor of this process
_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
_LOG_START_BYTES = 256  # of a log, among which is the identity of its file
BACKUPS = "backups"
"""The folder of backups, beside the database."""


@dataclass(frozen=True)
class FileState:
    """What tells a file from another one, and from its own earlier states.

    `identity` is empty in older formats; `checkpoints` counts how often the log was written into
    the file, and never falls.
    """

    device: int
    inode: int
    identity: bytes
    checkpoints: int

    def goes_on_as(self, later: FileState | None) -> bool:
        """Whether a later look at the place shows this file, as it was or with more in it."""
        return (
            later is not None
            and (later.device, later.inode, later.identity)
            == (self.device, self.inode, self.identity)
            and later.checkpoints >= self.checkpoints
        )


def state_of(path: str) -> FileState | None:
    """The state of a file; None where there is none, or none of DuckDB.

    A file that this process has open is read through the descriptor that DuckDB has: closing
    another one would end DuckDB's lock, as POSIX has it, and let a second process in.
    """
    descriptor = _descriptor_of(path)
    try:
        opened = descriptor if descriptor is not None else os.open(path, os.O_RDONLY | _BINARY)
    except OSError:
        return None
    try:
        status = os.fstat(opened)
        headers = _read_start(opened, own=descriptor is None)
    except OSError:
        return None
    finally:
        if descriptor is None:
            os.close(opened)
    if len(headers) < _HEADERS_BYTES or headers[_MAGIC] != b"DUCK":
        return None
    counts = [int.from_bytes(headers[place], "little") for place in _COUNTS]
    return FileState(status.st_dev, status.st_ino, headers[_IDENTITY].strip(b"\0"), max(counts))


def _read_start(descriptor: int, *, own: bool) -> bytes:
    if own:
        return os.read(descriptor, _HEADERS_BYTES)
    return os.pread(descriptor, _HEADERS_BYTES, 0)


_descriptors: dict[str, int] = {}
"""Where a file was found open last, by path; looked at again each time."""


def _descriptor_of(path: str) -> int | None:
    """The descriptor by which this process has a file open, where the system tells; else None."""
    try:
        file = Path(path).stat()
        if path in _descriptors and _is_of(_descriptors[path], file):
            return _descriptors[path]
        numbers = map(int, os.listdir(_DESCRIPTORS))
        found = next((number for number in numbers if _is_of(number, file)), None)
    except OSError:
        return None
    if found is not None:
        _descriptors[path] = found
    return found


def _is_of(descriptor: int, file: os.stat_result) -> bool:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (file.st_dev, file.st_ino)


def log_of(path: str) -> Path:
    """Where DuckDB keeps the log of a file."""
    return Path(f"{path}.wal")


def refuse_log_alone(path: str) -> None:
    """Raise where a log is there and its file is not: a new file would take the log's place.

    Raises
    ------
    StoreError
        The file is missing, and its log has something in it.
    """
    log = log_of(path)
    if not Path(path).exists() and _size(log):
        raise StoreError(
            f"The database {path} is not there, but what was written last is, in {log}.",
            f"Put the database back into its folder. To begin with an empty one, move {log.name} "
            "to another place first.",
        )


def set_aside_foreign_log(path: str, *, refused: bool = False) -> str:
    """Rename a log that belongs to another file or state; what was done, or nothing.

    Without `refused`, a log whose first bytes name another file, or none, is set aside; those that
    DuckDB itself has `refused` are of another state of this file.
    """
    log = log_of(path)
    if not _size(log):
        return ""
    if not refused:
        state = state_of(path)
        with log.open("rb") as file:
            start = file.read(_LOG_START_BYTES)
        if state is None or not state.identity or _as_in_logs(state.identity) in start:
            return ""
    aside = free_name(log.with_name(f"{log.name}-of-another-state-{_now()}"))
    log.rename(aside)
    return (
        f"The log {log.name} did not belong to this database: the file was replaced, for example "
        f"by a backup, while Inkblot was not closed. The log was set aside as {aside.name}; "
        "nothing of it was read. If the backup was meant, all is well. If not, put the right file "
        "and its log back."
    )


def _as_in_logs(identity: bytes) -> bytes:
    """An identity as a log has it: numbers of seven bits to a byte."""
    return b"".join(bytes([n]) if n < 128 else bytes([n, 1]) for n in identity)


def backup_path(path: str, why: str = "") -> Path:
    """A free name for a backup of a file: in a folder beside it, with the time."""
    file = Path(path)
    name = "-".join(part for part in (file.stem, _now(), why) if part)
    return free_name(file.parent / BACKUPS / f"{name}{file.suffix or '.duckdb'}")


def free_name(path: Path) -> Path:
    """The path, or where it is taken the same with a number."""
    names = [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))]
    return next(name for name in names if not name.exists())


def copy_file(source: Path | str, target: Path) -> None:
    """Copy a file that nobody writes; the target is whole or not there.

    Raises
    ------
    StoreError
        A file cannot be read, or the target not be written.
    """
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise StoreError(
            f"{source} could not be copied to {target} ({error.strerror or error}).",
            "Free some space or choose another place, then try again. The database is as it was.",
        ) from error


def write_in_new_format(path: str, memory_limit: str) -> None:
    """Write a closed file of an older format anew, with an identity; a kill leaves the old one.

    Raises
    ------
    duckdb.Error
        The file cannot be written anew, for example because the disk is full; it is as it was.
    """
    anew = Path(f"{path}.in-new-format")
    anew.unlink(missing_ok=True)
    log_of(str(anew)).unlink(missing_ok=True)
    try:
        with duckdb.connect(config={"memory_limit": memory_limit}) as connection:
            for place, name, options in (
                (path, "old", "read_only"),
                (str(anew), "new", f"storage_version '{FORMAT}'"),
            ):
                text = "'" + place.replace("'", "''") + "'"
                connection.execute(f"attach {text} as {name} ({options})")
            connection.execute("copy from database old to new")
        anew.replace(path)
    finally:
        anew.unlink(missing_ok=True)
        log_of(str(anew)).unlink(missing_ok=True)


def _now() -> str:
    return datetime.now().astimezone().strftime("%Y-%m-%d-%H%M%S")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""What the modules of commands share: a declared command, and reading and writing its files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import FileError
from core.workflow.workspace import Workspace

_MOST_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Action:
    """What a command can do, in the place of its first argument: `bank import`."""

    name: str
    help: str
    arguments: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class Command:
    """What a command calls, its arguments and its actions; core.__main__ has name and help.

    `run_alone` is called instead of `run`, without the database, which may be in use then.
    """

    run: Callable[[Workspace, argparse.Namespace], None] | None
    arguments: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    actions: tuple[Action, ...] = ()
    run_alone: Callable[[argparse.Namespace], None] | None = None


def argument(name: str, **settings: Any) -> tuple[str, Mapping[str, Any]]:
    """One argument, in the words of `argparse`."""
    return name, settings


def pair(text: str, option: str) -> tuple[str, str]:
    """Name and value of a text NAME=VALUE."""
    name, separator, value = text.partition("=")
    if not separator:
        raise FileError(f"{option} '{text}' has no '='.", f"Write {option} name=value.")
    return name.strip(), value.strip()


def read(file: Path) -> bytes:
    """The content of a file."""
    try:
        if (size := file.stat().st_size) > _MOST_BYTES:
            raise FileError(
                f"{file} has {size / 1024**3:,.1f} GB; at most {_MOST_BYTES // 1024**3} GB can be "
                "read.",
                "Split the file.",
            )
        return file.read_bytes()
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}).", "Check the path.") from error


def readable(file: Path) -> Path:
    """The file itself, to be read part by part; FileError where it cannot be read."""
    try:
        with file.open("rb"):
            return file
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}).", "Check the path.") from error


def write(file: Path | None, data: bytes) -> None:
    """Write a file and say so, or write to the standard output."""
    if file is None:
        sys.stdout.buffer.write(data)
        return
    from core.files.writing import write_files

    try:
        write_files({file: data})
    except OSError as error:
        raise FileError(
            f"{file} cannot be written ({error.strerror}).", "Choose another place."
        ) from error
    print(f"Wrote {file}.", file=sys.stderr)


def show_share(share: float) -> None:
    """Show how far the work is, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{share:4.0%}", end="\r" if share < 1 else "\r    \r", file=sys.stderr, flush=True)

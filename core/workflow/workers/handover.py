"""Handing values over to another process in a file, which that process maps into its memory.

Values are pickled, and their arrays (of numpy, pandas and Arrow) stand beside the pickle as they
are in memory. So every type arrives as it was, and the process that takes it copies no array.
"""

from __future__ import annotations

import mmap
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

STATUS = struct.Struct("i")
"""How a process has ended, as `os.waitstatus_to_exitcode` says it."""
NICENESS = 10
"""Of processes that compute: pages go first."""
SESSION_NICENESS = Path("/proc/self/autogroup")
"""Where Linux takes the niceness of a session, which counts against those of others."""
N_FILES = 3
"""Files that come with the order for a process: its task, its channel, and that of its status."""

_LENGTH = struct.Struct(">Q")
_ALIGNED = 64  # bytes; as numpy and Arrow want their arrays


@dataclass(frozen=True)
class AnalysisTask:
    """An analysis by its name with its frame and options, and the bound of its process.

    `memory` are bytes beyond those of packages and frame; `known` are values of earlier tasks (see
    core/stats/reuse.py).
    """

    analysis: str
    frame: Any
    options: Mapping[str, Any]
    memory: int
    known: Mapping[Any, Any]


@dataclass(frozen=True)
class TaskProgress:
    """How far a task is."""

    done: int
    total: int
    unit: str


@dataclass(frozen=True)
class TaskOutcome:
    """What a task came to: a result, or the error that kept it from one.

    `new` are values that it computed and later tasks may need.
    """

    result: Any = None
    error: Exception | None = None
    new: Mapping[Any, Any] = field(default_factory=dict)


def write(file: BinaryIO, value: Any) -> None:
    """Write a value into an empty file."""
    arrays: list[pickle.PickleBuffer] = []
    body = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    raw = [array.raw() for array in arrays]
    index = pickle.dumps((body, [part.nbytes for part in raw]))
    file.write(_LENGTH.pack(len(index)))
    file.write(index)
    for part in raw:
        file.write(b"\0" * (-file.tell() % _ALIGNED))
        file.write(part)
    file.flush()


def read(file: BinaryIO) -> Any:
    """The value in a file. Its arrays are the file's own bytes until something writes to them."""
    content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    (length,) = _LENGTH.unpack(content[: _LENGTH.size])
    end = _LENGTH.size + length
    body, sizes = pickle.loads(content[_LENGTH.size : end])
    arrays = []
    for size in sizes:
        end += -end % _ALIGNED
        arrays.append(content[end : end + size])
        end += size
    return pickle.loads(body, buffers=arrays)


def send(channel: BinaryIO, message: Any) -> None:
    """Write a message into a pipe or socket."""
    body = pickle.dumps(message, protocol=5)
    channel.write(_LENGTH.pack(len(body)))
    channel.write(body)
    channel.flush()


def receive(channel: BinaryIO) -> Any:
    """The next message of a pipe or socket.

    Raises
    ------
    EOFError
        The other end has closed it, perhaps in the middle of a message.
    """
    length = channel.read(_LENGTH.size)
    body = channel.read(_LENGTH.unpack(length)[0]) if len(length) == _LENGTH.size else b""
    if not body or len(body) < _LENGTH.unpack(length)[0]:
        raise EOFError
    return pickle.loads(body)

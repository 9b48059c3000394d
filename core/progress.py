"""Progress of long work, reported to a watcher that may stop it.

An analysis stays a pure function: without a watcher nothing happens here, with one its result is
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Watcher = Callable[[int, int, str], None]
"""Gets how many are done, how many there are, and what; raises `Cancelled` to stop the analysis."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


class Cancelled(Exception):
    """The watcher stopped the analysis."""


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Let `watcher` know how the analyses run within get on."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def with_progress(things: Sequence[T], what: str) -> Iterator[T]:
    """The things one by one, telling the watcher before each; `what` names them in the plural."""
    for number, thing in enumerate(things):
        step(number, len(things), what)
        yield thing


def step(done: int, total: int, what: str) -> None:
    """Tell the watcher how far the analysis is."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, total, what)

"""Loading packages in the background, so that the first pages of a new process open quickly.

One thread of Python runs at a time, so whatever loads while the first page is made delays it. What
that page needs is loaded at once; the rest when it is drawn, or when nobody has asked for one.

Streamlit collects garbage whenever a page has been drawn. The collector would look through all that
the packages consist of, 250,000 objects, and hold up every page for 150 ms; so it is told to leave
out what is there once they are loaded. What calls of models leave behind is collected less often
than Python would, which saves 5 % of their processor time.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Sequence
from importlib import import_module

from core.workflow.workers import launching
from core.workflow.workers.process import LOADED_ON_USE

log = logging.getLogger(__name__)

FIRST = (
    "core.workflow.opening",
    "core.workflow.sample",
    "core.workflow.search",
)
"""What all pages use, then Home."""
LATER = (
    "core.workflow.next_steps",
    "core.store.audits",
    "core.workflow.answers.browsing",
    "core.workflow.statistics.computing",
    "core.workflow.answers.imports",
    "core.workflow.contexts.by_score",
    "core.collect.openai_client",
    "altair",
    *LOADED_ON_USE,
)
"""Statistics, which load ibis, the client of model services, and what is loaded when it is used."""
_YOUNG_OBJECTS = 5000  # that are made before a collection looks at them
_NOBODY_S = 10.0  # without a visitor after so long, nobody is delayed

_drawn = threading.Event()
_all_loaded = threading.Event()


def start() -> threading.Thread:
    """Begin to load; pages that need something sooner load it themselves.

    Analyses are computed by workers from now on, which begin to load after the first page too.
    """
    launching.use_workers()
    thread = threading.Thread(target=_load, name="inkblot-preloading", daemon=True)
    thread.start()
    return thread


def first_page_is_drawn() -> None:
    """Let the rest load."""
    _drawn.set()


def done() -> bool:
    """Whether everything is loaded, so that nobody waits for a package."""
    return _all_loaded.is_set()


def _load() -> None:
    _import(FIRST)
    gc.freeze()  # at once: the first page waits
    _drawn.wait(_NOBODY_S)
    _warm_up_workers()
    _import(LATER)
    leave_out_loaded()
    _all_loaded.set()


def leave_out_loaded() -> None:
    """Have garbage collections pass over all that is there now and is no garbage."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


def _warm_up_workers() -> None:
    workers = launching.workers()
    try:
        if workers is not None:
            workers.warm_up()
    except Exception:  # the page of the first analysis shows the fault
        log.exception("workers could not be started")


def _import(names: Sequence[str]) -> None:
    for name in names:
        try:
            import_module(name)
        except Exception:  # the page that needs the module shows the fault
            log.exception("%s could not be loaded", name)

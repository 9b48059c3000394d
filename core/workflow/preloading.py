"""Loading packages in the background, so that the first page of a new process opens quickly."""

from __future__ import annotations

import logging
import threading
from importlib import import_module

log = logging.getLogger(__name__)

# In the order in which a first visit needs them: what all pages use, then Home, then statistics,
# which load scipy, ibis and altair, and last the client of model services.
MODULES = (
    "core.workflow.opening",
    "core.workflow.sample",
    "core.workflow.next_steps",
    "core.store.audits",
    "core.workflow.answers.browsing",
    "core.workflow.statistics.computing",
    "core.workflow.search",
    "core.workflow.answers.imports",
    "core.workflow.contexts.by_score",
    "core.collect.openai_client",
)


def start() -> threading.Thread:
    """Begin to load; pages that need something sooner load it themselves."""
    thread = threading.Thread(target=_load, name="inkblot-preloading", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    for name in MODULES:
        try:
            import_module(name)
        except Exception:  # the page that needs the module shows the fault
            log.exception("%s could not be loaded", name)

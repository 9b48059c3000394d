"""Pages drawn by Streamlit's AppTest, clocked in a process of their own."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from benchmarks import validation_study

TIMEOUT_S = 300
COMPUTING = "inkblot-analysis"  # threads of core.workflow.statistics.computing
FAULT = "fault in Inkblot"
GROUPS = ("respondent", "context_set")
View = Mapping[str, Any]


def views(
    *, page: str, analysis: str, small: str, large: str, longest_s: float, only_drawn: bool = False
) -> Mapping[str, View]:
    """Views of a page of the large database, packages loaded and nothing cached.

    `drawn` is a first view as users have it; where the page waits for an analysis, `result` is one
    that waits up to `longest_s` for it. `again` follows the one that shows everything. A result
    that took longer leaves no time for `drawn`, which then takes a process of its own
    (`only_drawn`).
    """
    if small != large:
        _load(small, page, analysis)
    found: dict[str, View] = {}
    if analysis and not only_drawn:
        _reopened(large, patience=longest_s)
        found["result"] = _clocked(_opened(large, page, analysis=analysis))
        if not found["result"]["finished"]:
            return found  # what goes on in the background ends with this process
        found["again"] = _clocked(_opened(large, page, analysis=analysis))
        _close(large)
    _reopened(large, patience=None)
    found["drawn"] = _clocked(_opened(large, page, analysis=analysis))
    if not analysis:
        found["again"] = _clocked(_opened(large, page))
    if found["drawn"]["finished"]:
        _close(large)
    return found


def _load(small: str, page: str, analysis: str, study: str = "") -> None:
    """See the page once, which loads packages."""
    _be_patient(TIMEOUT_S)
    _clocked(_opened(small, page, analysis=analysis, study=study))
    _close(small)


def _reopened(database: str, *, patience: float | None) -> None:
    """The database in a workspace that knows no results yet."""
    import streamlit as st

    from core.workflow.opening import open_workspace

    st.cache_data.clear()
    st.cache_resource.clear()
    open_workspace(database)
    _be_patient(patience)


def _close(database: str) -> None:
    from core.workflow.opening import open_workspace

    open_workspace(database).close()


def report_views(*, small: str, large: str, patience: float | None) -> Mapping[str, View]:
    """The validation report of the validation study: opened, then with another option."""

    def steps(app: Any) -> Mapping[str, Callable[[], None]]:
        def changed() -> None:
            app.number_input(key=_option("validation_report", "ci_level")).set_value(0.9)

        return {"first view": _nothing, "an option changed": changed}

    return _used(small, large, patience, "validation_report", "validation_report", steps)


def model_views(*, small: str, large: str, patience: float | None) -> Mapping[str, View]:
    """The factor model of the same study: opened, another estimator, and an item moved."""

    def steps(app: Any) -> Mapping[str, Callable[[], None]]:
        def changed() -> None:
            app.selectbox(key=_option("cfa", "estimator")).set_value("ml")

        def moved() -> None:
            from core.analysis.kit.factor_models import editing

            area = app.text_area(key=f"factor_text:{validation_study.SCALE}")
            item, (source, *_) = next(iter(editing.assignment(area.value).items()))
            factors = {own for own, *_ in editing.assignment(area.value).values()}
            target = min(factors - {source})
            area.set_value(editing.move_item(area.value, item, source, target))

        return {"first view": _nothing, "an option changed": changed, "an item moved": moved}

    return _used(small, large, patience, "factors", "cfa", steps)


def _used(
    small: str,
    large: str,
    patience: float | None,
    page: str,
    analysis: str,
    steps: Callable[[Any], Mapping[str, Callable[[], None]]],
) -> Mapping[str, View]:
    """What each step of using a page takes; every one starts when the last result is there."""
    if small != large:
        _choose(small, analysis)
        _load(small, page, analysis, validation_study.SCALE)
    _choose(large, analysis)
    _reopened(large, patience=patience)
    app = _opened(large, page, analysis=analysis, study=validation_study.SCALE)
    found = {}
    for name, act in steps(app).items():
        act()
        found[name] = _clocked(app)
        for thread in _computing():
            thread.join()
        if not found[name]["finished"]:
            app.run()  # now with the result
    _close(large)
    return found


def _choose(database: str, analysis: str) -> None:
    """Set the options that are the same at the start of every run; pages keep what is changed."""
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    workspace, found = open_workspace(database), analyses.by_name(analysis)
    known = {option.name: option.default for option in found.options}
    for name, value in (known | {"by": list(GROUPS)} | validation_study.OPTIONS).items():
        if name in known:
            analyses.save_option(workspace, validation_study.SCALE, found, name, value or "")
    workspace.close()


def _option(analysis: str, name: str) -> str:
    return f"option:{validation_study.SCALE}:{analysis}:{name}"


def _nothing() -> None:
    """The page is only opened."""


def _be_patient(seconds: float | None) -> None:
    """How long pages wait for results; None: as long as users see them wait."""
    from pages.shared import analysis_page

    _usual.setdefault("seconds", analysis_page.WAIT_S)
    analysis_page.WAIT_S = _usual["seconds"] if seconds is None else seconds


_usual: dict[str, float] = {}


def _opened(database: str, page: str, **parameters: str) -> Any:
    """A page in a new session, not drawn yet."""
    from tests.pages import apps

    os.environ["INKBLOT_DB"] = database
    address = "" if page == "home" else page
    given = {name: value for name, value in parameters.items() if value}
    return apps.new_session(address, timeout=TIMEOUT_S, **given)


def _clocked(app: Any) -> View:
    """Draw a page as it stands now."""
    timer = _Timer()
    timer.watch()
    started = time.perf_counter()
    app.run()
    seconds = time.perf_counter() - started
    timer.leave()
    errors = [str(element.value) for element in app.error]
    problems = [str(element.value) for element in app.exception]
    problems += [error for error in errors if FAULT in error]
    if not app.title and not errors and not problems:
        problems = ["The page stayed empty."]
    return {
        "seconds": seconds,
        "parts": timer.parts,
        "problems": problems,
        "asks": [error for error in errors if FAULT not in error],
        "finished": not _computing(),
    }


def _computing() -> list[threading.Thread]:
    """The analyses under way."""
    return [thread for thread in threading.enumerate() if thread.name == COMPUTING]


class _Timer:
    """Notes how long a page waits for each verb of the workflow, from outside."""

    def __init__(self) -> None:
        self.parts: defaultdict[str, float] = defaultdict(float)
        self._inside = threading.local()
        self._replaced: list[tuple[ModuleType, str, Callable[..., Any]]] = []

    def watch(self) -> None:
        """Put a timer around every public function of core.workflow."""
        import core.workflow

        for module in vars(core.workflow).values():
            if isinstance(module, ModuleType) and module.__name__.startswith("core.workflow."):
                for name, verb in list(vars(module).items()):
                    if callable(verb) and getattr(verb, "__module__", "") == module.__name__:
                        self._replace(module, name, verb)

    def leave(self) -> None:
        """Take the timers away."""
        for module, name, verb in self._replaced:
            setattr(module, name, verb)

    def _replace(self, module: ModuleType, name: str, verb: Callable[..., Any]) -> None:
        if name.startswith("_") or isinstance(verb, type):
            return
        called = f"{module.__name__.rpartition('.')[2]}.{name}"

        @functools.wraps(verb)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "a_verb", False):  # its time is part of the outer one's
                return verb(*args, **kwargs)
            self._inside.a_verb, started = True, time.perf_counter()
            try:
                return verb(*args, **kwargs)
            finally:
                self._inside.a_verb = False
                self.parts[called] += time.perf_counter() - started

        self._replaced.append((module, name, verb))
        setattr(module, name, timed)

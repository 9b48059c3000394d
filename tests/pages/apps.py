"""Pages of the app as a browser opens them, by the name in their address."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test
from streamlit.util import calc_hash

APP = Path(__file__).parents[2] / "app.py"


class _Pages(PagesManager):
    """The pages that app.py names, as start.py has it.

    AppTest clears `uses_pages_directory` before each run. It clears that of this class, and
    Streamlit reads that of PagesManager.
    """


PagesManager.uses_pages_directory = False
app_test.PagesManager = _Pages
# Each run of an AppTest would compile app.py and its page again.
app_test.ScriptCache = cache(ScriptCache)


@cache
def _components() -> BidiComponentManager:
    """The installed components. Each AppTest would search all packages for them again."""
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


def new_session(name: str, *, timeout: float = 30, **parameters: str) -> AppTest:
    """A session at the address /name?parameters, whose page is not drawn yet."""
    at = AppTest.from_file(APP, default_timeout=timeout)
    at._bidi_component_manager = _components()
    at._page_hash = calc_hash(name)  # switch_page knows no addresses before a first run
    at.query_params.update(parameters)
    return at


def run_page(name: str, *, timeout: float = 30, **parameters: str) -> AppTest:
    """The page at the address /name?parameters, whatever it shows."""
    return new_session(name, timeout=timeout, **parameters).run()


def open_page(name: str, *, timeout: float = 30, **parameters: str) -> AppTest:
    """The page at the address /name?parameters, which runs without a fault."""
    return fine(run_page(name, timeout=timeout, **parameters))


def tab_labels(at: AppTest) -> list[str]:
    """The labels of all tabs of a page."""
    return [tab.label for tab in at.tabs]


def open_tab(at: AppTest, analysis: str, label: str) -> AppTest:
    """The page after a press on a tab of an analysis; only the open tab has contents."""
    at.session_state[f"tabs:{analysis}"] = label
    return fine(at.run())


def fine(at: AppTest) -> AppTest:
    """The app, which has run without a fault."""
    assert not at.exception
    assert not [error.value for error in at.error if "fault in Inkblot" in error.value]
    return at

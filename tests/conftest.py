from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
from core.store.database import Database

if TYPE_CHECKING:
    from core.workflow.workspace import Workspace

# Tests whose examples take long say `few_examples` (tests/examples.py); others follow this.
settings.register_profile("inkblot", derandomize=True, deadline=None, max_examples=25)
settings.load_profile("inkblot")


@pytest.hookimpl(optionalhook=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Simulations of hundreds of studies run when they are asked for: `pytest -m slow`."""
    if "slow" not in config.getoption("-m"):
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run in several processes, those that drive a browser stay with one.

    Two browsers and two apps at once leave each so little of two cores that waits run out.
    """
    from xdist.scheduler import LoadFileScheduling

    class _OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return (
                "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)
            )

    return _OneBrowser(config, log)


@pytest.fixture
def database() -> Iterator[Database]:
    """An empty database in memory."""
    found = Database(":memory:")
    yield found
    found.close()


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file as it is when Inkblot has been started for the first time."""
    from core.workflow.opening import open_workspace

    path = tmp_path_factory.mktemp("new") / "inkblot.duckdb"
    open_workspace(path).close()
    return path


@pytest.fixture
def workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_database: Path
) -> Iterator[Workspace]:
    """A workspace on a file of its own, with the starter banks; also what pages will open."""
    from core.workflow.opening import open_workspace

    path = tmp_path / "inkblot.duckdb"
    shutil.copyfile(new_database, path)
    monkeypatch.setenv("INKBLOT_DB", str(path))
    found = open_workspace(path)
    yield found
    found.close()


@pytest.fixture
def small_bank() -> Instrument:
    """Four items on two subscales, one reverse-keyed, three points, two languages."""
    options = tuple(
        Option(str(points), float(points), {"en": label, "de": german}, points - 2)
        for points, label, german in (
            (1, "disagree", "nein"),
            (2, "neither", "weder noch"),
            (3, "agree", "ja"),
        )
    )
    items = tuple(
        Item(
            code,
            (Wording("en", f"Text of {code}."), Wording("de", f"Satz zu {code}.")),
            subscale,
            keyed,
        )
        for code, subscale, keyed in (
            ("a1", "A", 1),
            ("a2", "A", -1),
            ("b1", "B", 1),
            ("b2", "B", 1),
        )
    )
    formats = (ResponseFormat("three", options),)
    return Instrument("small", "Small bank", items, formats, ("en", "de"))

from __future__ import annotations

import pytest
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import app_test


class _AppPages(PagesManager):
    """The pages are those of app.py, as start.py says; a folder `pages` is none of its own."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        PagesManager.uses_pages_directory = False


@pytest.fixture(autouse=True)
def pages_of_the_app(monkeypatch):
    monkeypatch.setattr(app_test, "PagesManager", _AppPages)

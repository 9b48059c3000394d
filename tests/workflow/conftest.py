"""What the tests of several workflows share."""

from __future__ import annotations

import pytest

from tests.fault_server import FaultServer
from tests.workflow.studies import KEY_VARIABLE


@pytest.fixture
def server(monkeypatch):
    """A service that behaves, with its key in the environment."""
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found

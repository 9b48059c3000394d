"""Pages as a coder and a reader have them: every button is pressed, and nothing changes."""

from __future__ import annotations

import shutil

import pytest

import app
from core.domain.members import Member, Role
from core.workflow.answers import audits, imports
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from pages.shared import logins
from tests.pages.apps import fine, open_page
from tests.workflow.studies import finished, freeze, simulated
from tests.workflow.test_failing_writes import PEOPLE, contents

WRITING = (
    "home",
    *(entry.name for entry in app.PAGES if entry.group in ("Prepare", "Collect")),
    "factors",
    "explore",
    "report",
    "opinions",
)
"""Pages on which something is made or edited."""


@pytest.fixture(scope="module")
def studied(tmp_path_factory, new_database):
    """A database with a study that was asked, one that was not, people and an audit."""
    path = tmp_path_factory.mktemp("roles") / "x.duckdb"
    workspace = open_workspace(shutil.copyfile(new_database, path))
    freeze(workspace, simulated(), study="waiting", n_personas=1)
    imports.import_tidy(workspace, "people.csv", PEOPLE)
    freeze(workspace, simulated(), n_personas=2)
    control.start(workspace, "study")
    finished(workspace)
    audits.draw_audit(workspace, "study", seed=1, per_model=5)
    workspace.close()
    return path


@pytest.fixture
def logged_in(monkeypatch):
    """Log a member in at every page."""

    def log_in(role):
        monkeypatch.setattr(logins, "current", lambda: Member("Anna", role))

    return log_in


def pressed(at):
    """The page after each of its buttons was pressed, and what each press showed as an error."""
    names = [button.key for button in at.button if not button.disabled]
    told = {}
    for name in names:
        button = next((one for one in at.button if one.key == name and not one.disabled), None)
        if button is None:  # an earlier press took it away
            continue
        fine(button.click().run())
        told[name] = [error.value for error in at.error]
    return told


@pytest.mark.parametrize(
    ("name", "role"),
    [*((name, Role.READER) for name in WRITING), ("audit", Role.CODER), ("answers", Role.CODER)],
)
def test_pressing_every_button_changes_nothing(
    studied, tmp_path, monkeypatch, logged_in, name, role
):
    path = shutil.copyfile(studied, tmp_path / "x.duckdb")
    monkeypatch.setenv("INKBLOT_DB", str(path))
    workspace = open_workspace(path)
    before = contents(workspace.database)
    logged_in(role)
    own = {"member_memory"} | (
        {"coding", "coding_note", "adjudicator", "adjudication"} if role is Role.CODER else set()
    )
    for study in ("study", "waiting"):
        pressed(open_page("" if name == "home" else name, study=study))
        after = contents(workspace.database)
        assert {table for table in after if after[table] != before[table]} <= own
    workspace.close()

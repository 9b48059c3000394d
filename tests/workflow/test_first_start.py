"""What a new database holds, whatever interrupted its first start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.store import banks, respondents, saved_inputs
from core.store.database import Database
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog as respondent_list

ROOT = Path(__file__).parents[2]


def holdings(workspace):
    return (
        [bank.code for bank in editing.summaries(workspace) if not bank.archived],
        [person.label for person in respondent_list.list_respondents(workspace)],
        list(sets.load_all(workspace)),
    )


class Killed(BaseException):
    """Ends a first start where a kill would."""


@pytest.mark.parametrize("after", [0, 3])
def test_a_first_start_that_is_cut_short_leaves_nothing_and_the_next_one_fills_all(
    tmp_path, workspace, monkeypatch, after
):
    path = tmp_path / "cut.duckdb"
    save, calls = banks.save_draft, []

    def cut(*arguments, **named):
        if len(calls) == after:
            raise Killed
        calls.append(1)
        return save(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(banks, "save_draft", cut)
        with pytest.raises(Killed):
            open_workspace(path)
    raw = Database(path)  # the file is released
    assert raw.rows("select code from draft_head") == []
    raw.close()
    again = open_workspace(path)
    assert holdings(again) == holdings(workspace)
    again.close()


def half_filled_by_an_earlier_inkblot(workspace, keep):
    """The first banks of the alphabet, and neither respondents nor contexts."""
    codes = [code for code in holdings(workspace)[0] if code not in keep]
    with workspace.database.transaction() as cursor:
        for code in codes:
            cursor.execute("delete from draft_head where code = ?", [code])
            cursor.execute("delete from draft where code = ?", [code])
        for table in ("respondent_shelf", "respondent", "persona_set", "page_memory"):
            cursor.execute(f"delete from {table}")  # noqa: S608


def test_what_a_kill_of_an_earlier_inkblot_left_out_is_put_in_and_archived_banks_stay_so(
    workspace, tmp_path
):
    whole = holdings(workspace)
    kept = whole[0][:5]
    half_filled_by_an_earlier_inkblot(workspace, kept)
    editing.set_archived(workspace, kept[0], archived=True)
    path = workspace.database.path
    workspace.close()
    again = open_workspace(path)
    assert holdings(again) == (whole[0][1:], *whole[1:])
    again.close()


def test_what_a_user_put_away_does_not_come_back(workspace):
    codes, people, _ = holdings(workspace)
    editing.set_archived(workspace, codes[0], archived=True)
    respondent_list.set_archived(workspace, people[0], archived=True)
    with workspace.database.transaction() as cursor:  # as an Inkblot before this rule left it
        cursor.execute("delete from page_memory where name = 'starters'")
    path = workspace.database.path
    for _ in range(2):
        workspace.close()
        workspace = open_workspace(path)
        assert holdings(workspace)[0] == codes[1:]
        assert holdings(workspace)[1] == people[1:]
    assert saved_inputs.page_input(workspace.database, "starters")
    assert len(respondents.offered_respondents(workspace.database)) == len(people)
    workspace.close()


def test_a_file_that_any_holder_of_the_workspace_has_closed_is_opened_anew(workspace):
    path = workspace.database.path
    assert open_workspace(path) is workspace
    workspace.with_keys(workspace.keys.for_session()).close()
    again = open_workspace(path)
    assert holdings(again)[0]
    again.close()


def test_a_database_that_is_killed_right_after_its_first_start_can_be_opened(tmp_path):
    path = tmp_path / "killed.duckdb"
    script = (
        "import os, sys; from core.workflow.opening import open_workspace; "
        "open_workspace(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, path], cwd=ROOT, check=False)
    assert path.with_suffix(".duckdb.wal").exists()
    again = open_workspace(path)
    assert holdings(again)[0]
    again.close()


def test_a_process_that_ends_leaves_all_in_the_file_though_its_garbage_is_not_collected(tmp_path):
    """A copy of the file alone would lack what is only in DuckDB's log."""
    path = tmp_path / "left.duckdb"
    code = (
        "import gc\n"
        "from core.workflow.opening import open_workspace\n"
        f"workspace = open_workspace({str(path)!r})\n"
        "workspace.circle = workspace\n"
        "gc.freeze()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    database = Database(path)
    assert len(banks.codes(database)) > 3
    database.close()

"""Backups by command, on the page, and after kills; what opening a file did is told on Home."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from core import __main__ as command_line
from core.errors import StoreError
from core.workflow import backups, opening, sample
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.pages import apps

ROOT = Path(__file__).parents[2]


def n_replies(workspace):
    return {study.code: study.n_responses for study in studies.list_studies(workspace)}


def run_sample(workspace):
    return control.wait(workspace, sample.start_sample(workspace, "simulated"))


def test_a_backup_is_made_and_restored_by_command(workspace, capsys, tmp_path):
    path = workspace.database.path
    workspace.close()
    out = tmp_path / "kept.duckdb"
    assert command_line.main(["--db", path, "backup", "--out", str(out)]) == 0
    assert command_line.main(["--db", path, "sample", "simulated"]) == 0
    assert command_line.main(["--db", path, "backup", "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert command_line.main(["--db", path, "restore", str(out)]) == 0
    said = capsys.readouterr().out
    kept = Path(said.rpartition("kept as ")[2].strip().removesuffix("."))
    restored = open_workspace(path)
    assert n_replies(restored) == {}
    restored.close()
    before = open_workspace(kept)
    assert sum(n_replies(before).values()) == 500
    before.close()
    assert command_line.main(["--db", path, "restore", str(tmp_path / "none.duckdb")]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_a_backup_while_a_study_is_asked_is_complete_and_restoring_waits_for_the_run(workspace):
    study = sample.start_sample(workspace, "simulated")
    target = backups.back_up(workspace)
    if control.progress(workspace, study).state in control.UNDER_WAY:
        with pytest.raises(StoreError, match="is being asked"):
            backups.restore(workspace, target)
    now = control.wait(workspace, study)
    assert (now.state, now.n_done) == ("finished", 500)
    copy = open_workspace(target)
    then = control.progress(copy, study)
    assert then.state in ("queued", "interrupted", "finished")
    control.start(copy, study)
    assert control.wait(copy, study).n_done == 500
    copy.close()


def test_backups_are_made_and_restored_on_the_page(workspace):
    page = partial(apps.open_page, "import_export")
    at = page()
    assert "There is no backup yet." in [one.value for one in at.caption]
    at.button(key="backup_make").click().run()
    (made,) = backups.backups(workspace)
    run_sample(workspace)
    at = page()
    at.checkbox(key="backup_sure").check().run()
    at.selectbox(key="backup_chosen").select_index(0).run()
    at.button(key="backup_restore").click().run()
    assert not at.exception
    restored = open_workspace()
    assert n_replies(restored) == {}
    assert sorted(one.path.name for one in backups.backups(restored))[0] == made.path.name
    assert len(backups.backups(restored)) == 2
    assert run_sample(restored).n_done == 500  # also with the collector of the same process
    restored.close()


def test_what_opening_a_file_did_is_told_on_home_until_it_is_read(workspace, capsys):
    path = Path(workspace.database.path)
    backups.back_up(workspace)
    workspace.close()
    path.unlink()
    assert command_line.main(["--db", str(path), "init"]) == 0
    assert "a new one was made" in capsys.readouterr().err
    at = apps.open_page("home")
    assert "a new one was made" in at.warning[0].value
    at.button(key="notices_read").click().run()
    assert not at.warning
    assert opening.notices(open_workspace()) == []


KILLED_RUN = """
import os, signal, sys, threading, time
from core.workflow.opening import open_workspace
from core.workflow import sample
from core.workflow.runs import control
workspace = open_workspace(sys.argv[1])
study = sample.start_sample(workspace, "simulated")
while control.progress(workspace, study).n_done < int(sys.argv[2]):
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("n_done", [0, 1, 200])
def test_a_backup_copied_over_a_killed_run_begins_again_with_nothing_of_it(workspace, n_done):
    """As people restore: a plain copy over the file, with the log of another state beside it."""
    path = Path(workspace.database.path)
    workspace.close()
    kept = path.with_name("kept.duckdb")
    shutil.copy(path, kept)
    done = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, str(path), str(n_done)],
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    shutil.copy(kept, path)
    restored = open_workspace(path)
    assert n_replies(restored) == {}
    assert restored.database.row("select count(*) from response") == (0,)
    assert run_sample(restored).n_done == 500
    assert len(restored.database.notices) == 1
    restored.close()


def test_answers_of_no_study_are_taken_out_at_opening_and_kept_in_a_backup(workspace):
    path = workspace.database.path
    run_sample(workspace)
    workspace.database.write("delete from study")
    workspace.close()
    opened = open_workspace(path)
    (told,) = opened.database.notices
    assert told.startswith("500 answers and ")
    assert opened.database.row("select count(*) from response") == (0,)
    assert opened.database.row("select count(*) from trial") == (0,)
    study = sample.start_sample(opened, "simulated")
    assert control.wait(opened, study).n_done == 500
    (kept,) = backups.backups(opened)
    opened.close()
    assert kept.path.name.endswith("with-rows-of-no-study.duckdb")
    again = open_workspace(path)
    assert again.database.notices == []
    assert again.database.row("select count(*) from response") == (500,)
    again.close()


@pytest.mark.parametrize("page", ["home", "collect", "reliability"])
def test_pages_say_that_the_database_is_gone_and_not_what_it_held(workspace, page):
    run_sample(workspace)
    path = Path(workspace.database.path)
    path.rename(path.with_name("elsewhere.duckdb"))
    at = apps.open_page(page, **({} if page == "home" else {"study": "sample_simulated"}))
    words = " ".join(one.value for one in at.error).replace("\\", "")
    assert "was moved or deleted while Inkblot had it open" in words
    shown = " ".join(one.value for one in (*at.markdown, *at.caption, *at.metric))
    assert "of 500" not in shown
    path.with_name("elsewhere.duckdb").rename(path)
    at.run()
    assert not at.error

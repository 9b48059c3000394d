"""Batches on the command line."""

from __future__ import annotations

import pytest

from core.__main__ import main
from tests.batch_server import KEY, BatchServer
from tests.workflow.runs.batches.answering import answer, as_lines, requests_of
from tests.workflow.studies import KEY_VARIABLE, freeze, service


@pytest.fixture
def run(workspace, capsys):
    """Runs a command on the database of the workspace; its exit code and what it printed."""

    def run(*words):
        code = main(["--db", workspace.database.path, *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def study(workspace, monkeypatch):
    """A study that asks a batch service, frozen and closed."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with BatchServer() as server:
        freeze(workspace, service(server.base_url), n_personas=1)
        workspace.close()
        yield server


def test_files_go_out_and_come_in(run, study, tmp_path):
    code, out, _ = run("batch", "export", "study", tmp_path, "--max-requests", 15)
    assert (code, [line.split("\t")[1] for line in out.splitlines()]) == (
        0,
        ["15 calls", "5 calls"],
    )
    asked = requests_of(sorted(tmp_path.glob("*.jsonl")))
    whole = tmp_path / "output.jsonl"
    whole.write_bytes(as_lines([answer(request) for request in asked[:15]]))
    code, out, _ = run("batch", "import", "study", whole)
    assert (code, out.splitlines()) == (
        0,
        [
            f"{whole}: 15 replies.",
            "5 calls are out in a batch. Runs leave them alone until the replies are imported or "
            "the batch is cancelled.",
        ],
    )
    code, out, _ = run("batch", "list")
    assert [line.split("\t")[4:6] for line in out.splitlines()] == [
        ["waiting", "state"],
        ["0", "all replies are here"],
        ["5", "file written"],
    ]
    assert run("batch", "cancel", "study")[1] == "5 calls go back and can be asked again.\n"


def test_a_bad_file_is_one_line_and_exit_code_2(run, study, tmp_path):
    run("batch", "export", "study", tmp_path)
    half = tmp_path / "half.jsonl"
    half.write_bytes(b'{"custom_id": "1", "respon')
    code, out, err = run("batch", "import", "study", half)
    assert (code, out) == (2, "")
    assert err == (
        f"Line 1 of {half} is not complete JSON: the file is only a part, or was damaged. Fetch "
        "the file again from the service. Nothing of the file was imported.\n"
    )


def test_the_service_is_driven_in_the_foreground(run, study):
    code, out, err = run("batch", "drive", "study", "--poll", "0.02", "--price-factor", "0.5")
    assert (code, out) == (0, "All calls have a reply.\n")
    assert err.splitlines()[-1] == "batch 1: done (completed)"
    code, _, err = run("batch", "drive", "study", "--respondent", "Nobody")
    assert code == 2
    assert err.startswith("'study' does not ask 'Nobody'.")

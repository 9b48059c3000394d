from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the limit on file sizes is POSIX")


def seen_on_a_full_disk(verb, path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.workflow.full_disk", verb, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_full_disk_is_told_and_no_answer_is_lost_or_asked_twice(tmp_path):
    seen = seen_on_a_full_disk("run", tmp_path / "x.duckdb")
    assert "disk is full" in seen["trouble"]
    assert "wait in memory" in seen["reason"]
    assert seen["after"] == "paused"
    assert (seen["finished"], seen["done"], seen["counted"]) == ("finished", 4000, 4000)
    assert seen["attempts"] == 4000


def test_an_import_that_fails_on_a_full_disk_gives_its_space_back(tmp_path):
    seen = seen_on_a_full_disk("import", tmp_path / "x.duckdb")
    assert len(seen["said"]) == 2
    assert all("disk is full" in said for said in seen["said"])
    for files in seen["files"]:
        assert set(files) <= {"x.duckdb", "x.duckdb.wal"}
        assert sum(files.values()) < seen["before"] + 2_000_000  # it had taken ten
    first, second = (sum(files.values()) for files in seen["files"])
    assert second <= first  # what is not given back is used again
    assert (seen["kept"], seen["rows"]) == ("a text", 100_000)

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on file sizes is POSIX")
def test_a_full_disk_is_told_and_no_answer_is_lost_or_asked_twice(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.workflow.full_disk", str(tmp_path / "x.duckdb")],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "disk is full" in seen["trouble"]
    assert "wait in memory" in seen["reason"]
    assert seen["after"] == "paused"
    assert (seen["finished"], seen["done"], seen["counted"]) == ("finished", 4000, 4000)
    assert seen["attempts"] == 4000

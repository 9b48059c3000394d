"""Running the scripts that go with a result, as a reader of it would."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from functools import cache

import pandas as pd
import pytest

# Ends a text or begins code in some language, or merely looks odd.
HOSTILE = (
    'a"b\n);system("touch pwned");("',
    "'''\n__import__('os').system('touch pwned')\n'''",
    '"""',
    "back\\slash\\",
    "\\",
    "# -*- coding: utf-16 -*-",
    "line\rsystem('touch pwned')\u2028x",
    "=1+1",
    "@call@ @groups@ {0} %s $(touch pwned) `touch pwned`",
    "项目 ü",
    "nul\0 and half a pair \ud800",
    "NA",
    " NA ",
    "",
)


def written(files, folder):
    """The folder with the files in it."""
    for file in files:
        (folder / file.name).write_bytes(file.text.encode("utf-8"))
    return folder


def run_python(folder, script):
    """What a Python script prints; it must end well and write no warning."""
    command = [sys.executable, "-B", "-W", "error", script]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def run_r(folder, script, *tables, locale="C.UTF-8"):
    """Tables (expressions of R) as they stand once the script has run; skipped without R."""
    needs_r()
    code = f"source({script!r}, encoding = 'UTF-8')\n" + "".join(
        f"cat('\\n#### table\\n'); write.csv({table}, row.names = FALSE)\n" for table in tables
    )
    (folder / "after.R").write_text(code)
    done = subprocess.run(
        ["Rscript", "after.R"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        env={**os.environ, "LC_ALL": locale},
    )
    assert done.returncode == 0, done.stderr
    found = done.stdout.split("\n#### table\n")[1:]
    return [
        pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=["NA"]) for text in found
    ]


def needs_r():
    """Skip the test where R or a package it needs is not installed."""
    if not _has_r():
        pytest.skip("R with lavaan, psych and GPArotation is not installed")


@cache
def _has_r():
    if not shutil.which("Rscript"):
        return False
    packages = "c('lavaan', 'psych', 'GPArotation', 'MASS')"
    code = f"q(status = !all({packages} %in% rownames(installed.packages())))"
    return subprocess.run(["Rscript", "-e", code], check=False).returncode == 0

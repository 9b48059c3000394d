"""The programs in data/scripts, as files."""

from __future__ import annotations

import ast
import subprocess

import pytest

from core.settings import ROOT
from tests.analysis.kit.scripts.running import needs_r

FOLDER = ROOT / "data" / "scripts"
IN_PYTHON = sorted(path.name for path in FOLDER.glob("*.py"))
IN_R = sorted(path.name for path in FOLDER.glob("*.R"))
PACKAGES = {"csv", "itertools", "logging", "math", "pathlib", "sys"} | {
    "numpy",
    "pandas",
    "scipy",
    "semopy",
    "shared",
}


def test_each_analysis_has_both_languages_but_where_python_has_no_counterpart():
    names = {name.removesuffix(".py") for name in IN_PYTHON}
    assert {name.removesuffix(".R") for name in IN_R} - names == {"invariance"}
    assert names >= {"reliability", "shared"}


@pytest.mark.parametrize("name", IN_R)
def test_r_programs_are_ascii_as_r_gives_up_on_other_signs_in_some_locales(name):
    text = (FOLDER / name).read_bytes()
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100


def test_r_can_read_every_program():
    needs_r()
    code = "for (file in list.files('.', pattern = '[.]R$')) parse(file)"
    command = ["Rscript", "-e", code]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", IN_PYTHON)
def test_python_programs_need_nothing_of_this_package(name):
    imported = set()
    for node in ast.walk(ast.parse((FOLDER / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            imported.add(node.module.split(".")[0])
    assert imported <= PACKAGES

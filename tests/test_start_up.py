"""What the command line loads before it can do anything (docs/decisions/0043-start-up.md)."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from core.__main__ import COMMANDS, main
from core.commands.shared import Command

ROOT = Path(__file__).parents[1]
STATISTICS = ("scipy", "statsmodels", "ibis", "sqlglot", "altair", "semopy", "core.analysis")
FILES = ("openpyxl", "pyreadstat", "docx", "vl_convert")
SERVICES = ("openai", "aiohttp", "streamlit", "xllamacpp", "core.collect.openai_client")
DATABASE = ("duckdb", "pandas", "numpy", "pyarrow", "pydantic", "yaml", "core.store.database")


def loaded(*arguments):
    """The modules that the command line imports, by `python -X importtime`."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "core", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(re.findall(r"^import time:.*\|\s*(\S+)$", done.stderr, re.MULTILINE))


def test_the_help_text_loads_neither_the_database_nor_statistics_nor_a_client():
    modules = loaded("--help")
    assert "argparse" in modules
    assert modules & {*DATABASE, *STATISTICS, *FILES, *SERVICES} == set()


@pytest.mark.parametrize("what", ["studies", "banks"])
def test_list_loads_the_database_and_nothing_of_statistics_files_and_services(tmp_path, what):
    database = tmp_path / "own.duckdb"
    assert main(["--db", str(database), "init"]) == 0
    modules = loaded("--db", database, "list", what)
    assert "duckdb" in modules
    assert modules & {*STATISTICS, *FILES, *SERVICES} == set()


def test_all_analyses_are_known_before_a_statistic_is_computed_or_a_chart_drawn():
    code = "import sys, core.analysis; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    assert "core.analysis.items.item_statistics" in modules
    assert modules & {"scipy.stats", "scipy.optimize", "statsmodels", "altair"} == set()


def test_every_command_of_the_help_text_is_declared_by_its_module():
    for name, help_text, declared_by in COMMANDS:
        module, _, function = declared_by.rpartition(".")
        assert isinstance(getattr(import_module(module), function)(), Command), name
        assert help_text


def test_packages_for_files_and_models_are_imported_where_they_are_used():
    """Not at the top of a module, which whoever needs another part of it would load too."""
    slow = {*FILES, "semopy", "xllamacpp"}
    found = []
    for file in [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            if {name.partition(".")[0] for name in names} & slow:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert found == []

"""A new field of an item is declared once, and every part of Inkblot has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from core.domain.instrument import ITEM_COLUMNS

ROOT = Path(__file__).parents[3]
FOLDER = "tests/workflow/banks"


def test_a_field_declared_in_one_place_reaches_files_grid_checks_database_export_and_glossary():
    """In a process of its own, whose `Item` has two more fields; see the two modules."""
    plugin = f"{FOLDER}/more_columns".replace("/", ".")
    options = ("-q", "-p", "no:cacheprovider", "-p", plugin)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"{FOLDER}/checks_of_more_columns.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 passed" in done.stdout


def test_the_docs_describe_every_column_of_items():
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert [name for name in ITEM_COLUMNS if f"`{name}`" not in text] == []

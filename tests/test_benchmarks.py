"""Every benchmark runs at tiny sizes and writes its figures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TITLES = {
    "collection": "Collection",
    "memory": "Memory",
    "plan": "Plan",
    "statistics": "Item statistics",
    "pages": "Pages",
    "local_model": "Local model",
}


def bench(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.local_model if name == "local_model" else ())
        for name in TITLES
    ],
)
def test_a_quick_run_writes_its_figures_beside_those_of_others(tmp_path, name):
    out = tmp_path / "figures.md"
    out.write_text("# Old head\n\n## Something else\n\nkept\n", encoding="utf-8")
    done = bench(name, "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert "## Something else\n\nkept\n" in text
    section = text.partition(f"## {TITLES[name]}\n")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    assert rows
    assert all(re.search(r"\d", row) for row in rows)
    assert "error on the page" not in section
    assert "*Measured " in section
    assert str(tmp_path) not in text
    assert str(ROOT) not in text


def test_a_section_is_a_table_under_its_title():
    from benchmarks.report import Section, section_text

    text = section_text(Section("Plan", "About.", ("a", "b"), [("x", 1)]), "*Measured now.*")
    assert text == "## Plan\n\nAbout.\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n\n*Measured now.*\n"


def test_sections_keep_their_order_and_are_replaced_in_place(tmp_path):
    from benchmarks.report import write_section

    file = tmp_path / "docs" / "figures.md"
    for title, words in (("A", "one"), ("B", "two"), ("A", "three")):
        write_section(file, title, f"## {title}\n\n{words}\n", quick=False)
    written = file.read_text(encoding="utf-8")
    assert written.endswith("## A\n\nthree\n\n## B\n\ntwo\n")
    assert written.count("# How fast") == 1


def test_an_unknown_benchmark_is_named_with_those_there_are():
    done = bench("colection")
    assert done.returncode == 2
    assert "no benchmark 'colection'" in done.stderr
    assert "collection" in done.stderr

"""A lab adds an analysis by installing a package: the example of the docs, and one with a fault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "example_analysis"
ANSWERS = "person,item,answer\n" + "".join(
    f"p{person},{item},{answer}\n"
    for person, given in enumerate([(1, 3), (1, 3), (5, 3), (5, 4)])
    for item, answer in zip(("a", "b"), given, strict=True)
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder of packages with the example, and a package whose analysis has a fault."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(EXAMPLE, folder / "example")
    packages = folder / "packages"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--quiet",
            "--target",
            str(packages),
            str(source),
        ],
        check=True,
    )
    broken = packages / "broken-0.1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 0.1\n")
    (broken / "entry_points.txt").write_text("[inkblot.analyses]\nbroken = nothing.of.that.name\n")
    return packages


def command(installed, database, *words):
    """What the command line says, with the packages installed."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{installed}"}
    return subprocess.run(
        [sys.executable, "-m", "core", "--db", str(database), *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_example_of_the_docs_is_an_analysis_once_installed(installed, tmp_path):
    database, answers, out = tmp_path / "x.duckdb", tmp_path / "people.csv", tmp_path / "out.csv"
    answers.write_text(ANSWERS)
    assert command(installed, database, "import", str(answers)).returncode == 0
    listed = command(installed, database, "list", "analyses")
    assert "spread\tHow far apart are the answers to an item?\tleast\n" in listed.stdout
    assert "item_statistics\t" in listed.stdout
    assert "broken" in listed.stderr
    assert "ModuleNotFoundError: No module named 'nothing'" in listed.stderr
    done = command(
        installed,
        database,
        "analyze",
        "spread",
        "--study",
        "people",
        "--option",
        "least=3",
        "--out",
        str(out),
    )
    assert done.returncode == 0
    assert "1 of 2 items are answered far apart." in done.stderr
    table = pd.read_csv(out).set_index("item")
    assert table["range"].to_dict() == {"a": 4.0, "b": 0.25}
    assert table["n"].to_dict() == {"a": 4, "b": 4}


def test_without_the_package_there_is_no_such_analysis(tmp_path):
    listed = command(tmp_path, tmp_path / "x.duckdb", "list", "analyses")
    assert "spread\t" not in listed.stdout

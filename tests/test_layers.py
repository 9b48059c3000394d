"""No module needs itself, however long the way, and only the store knows SQL.

Layers, folders, and who may import which library are checked by import-linter.
"""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
SQL = re.compile(
    r"\s*(select .+ from|insert into|update \w+ set|delete from|with \w+ as|(create|alter|drop) "
    r"(table|view))\b",
    re.IGNORECASE | re.DOTALL,
)


def circle(graph):
    """The modules of one circle of imports, from the importing to the imported one; or nothing."""
    needs = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return error.args[1][::-1]
    return []


def test_no_modules_import_each_other_in_a_circle():
    found = circle(grimp.build_graph("core", "pages", cache_dir=None))
    assert not found, " imports ".join(found)


@pytest.mark.parametrize("into", ["b", "a.inner"])
def test_a_circle_is_named_from_module_to_module(into):
    graph = grimp.ImportGraph()
    for name in ("a", "a.inner", "b", "c"):
        graph.add_module(name)
    for importer, imported in (("a.inner", "b"), ("b", "c"), ("c", into)):
        graph.add_import(importer=importer, imported=imported)
    found = circle(graph)
    assert found[0] == found[-1]
    assert set(found) == {into, "b", "c"}


def statements(file):
    """The texts of a file that are SQL, with their lines."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
            yield f"{file.relative_to(ROOT).as_posix()}:{node.lineno}"


def test_sql_is_written_in_the_store_only():
    files = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "core").rglob("*.py")]
    found = [place for file in files for place in statements(file)]
    outside = [place for place in found if not place.startswith("core/store/")]
    assert len(found) > len(outside)  # else the pattern knows no statement
    assert outside == []

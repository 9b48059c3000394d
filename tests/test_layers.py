"""No module needs itself, however long the way; folders and layers are checked by import-linter."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


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

"""The examples in docstrings give what they say, and every statistic has one."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_EXAMPLE = {
    "core.stats.factor.model_text.check_memory": "returns nothing: it stops a model too large",
    "core.stats.factor.model_text.check_no_covariates": "returns nothing: it refuses a model",
    "core.stats.factor.semopy_check.fit_semopy": "reads only what another function writes",
    "core.stats.factor.semopy_check.align_factors": "turns two fits, which take many lines to make",
}
"""Functions of core.stats that an analysis calls, and that need no example."""


def modules(folder):
    """The dotted names of the modules below a folder of core."""
    files = sorted((ROOT / "core" / folder).rglob("*.py"))
    return [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]


STATISTICS = modules("stats")
WITH_EXAMPLES = [
    name
    for name in STATISTICS + modules("domain")
    if ">>> " in Path(ROOT, *name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_its_examples_give_what_they_say(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed, f"{result.failed} examples differ; see the captured output"


def test_every_statistic_that_an_analysis_calls_has_an_example():
    without = {name for name, text in called_statistics().items() if "\n    >>> " not in text}
    assert without == set(WITHOUT_EXAMPLE)


def called_statistics():
    """The docstrings of the public functions of core.stats that core.analysis names."""
    named = set()
    for file in (ROOT / "core" / "analysis").rglob("*.py"):
        named |= names_of_statistics(file.read_text(encoding="utf-8"))
    docstrings = {}
    for module in STATISTICS:
        tree = ast.parse(Path(ROOT, *module.split(".")).with_suffix(".py").read_text("utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and f"{module}.{node.name}" in named:
                docstrings[f"{module}.{node.name}"] = ast.get_docstring(node, clean=False)
    assert len(docstrings) > 100
    return docstrings


def names_of_statistics(source):
    """What a module names of core.stats, imported by name or as an attribute of a module."""
    tree, named, aliases = ast.parse(source), set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and re.match(r"core\.stats\b", node.module or ""):
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            named.add(f"{aliases.get(node.value.id)}.{node.attr}")
    return named | set(aliases.values())


@pytest.mark.parametrize(
    "source",
    [
        "from core.stats.groups import summary",
        "from core.stats import groups\ngroups.summary",
        "def analysis():\n    from core.stats import groups as g\n    g.summary(1)",
    ],
)
def test_a_statistic_counts_as_called_however_it_is_imported(source):
    assert "core.stats.groups.summary" in names_of_statistics(source)

"""Every analysis is documented, referenced, bounded, explained on a page of docs and has a test."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from core.analysis.kit.registry import OtherData
from core.workflow.statistics import analyses

ROOT = Path(__file__).parents[1]


@pytest.fixture(params=analyses.all_analyses(), ids=lambda analysis: analysis.name)
def analysis(request):
    return request.param


def test_it_asks_a_question_and_names_its_sources(analysis):
    assert analysis.question.endswith("?")
    assert analysis.references
    assert all(reference.strip() for reference in analysis.references)


def test_its_docstring_says_shapes_results_errors_and_assumptions(analysis):
    text = analysis.run.__doc__ or ""
    for section in ("Parameters", "Returns", "Raises", "Notes"):
        assert f"{section}\n    ---" in text, f"{analysis.name} lacks {section}"
    assert "administration" in text or "trial" in text  # the unit of analysis


def test_its_options_have_labels_and_defaults_that_they_allow(analysis):
    for option in (*analysis.options, *analysis.chart_options):
        assert option.kind.label
        assert (option.default is None) == isinstance(option.kind, OtherData)
        kept = json.loads(json.dumps(option.initial))
        assert option.kind.restore(kept, option.default) == option.initial


def test_its_scripts_take_the_same_options(analysis):
    if analysis.scripts is not None:
        assert set(inspect.signature(analysis.scripts).parameters) == set(
            inspect.signature(analysis.run).parameters
        )


def test_it_stands_on_a_page(analysis):
    page = ROOT / "pages" / analysis.topic
    assert page.with_suffix(".py").exists() or (page / "page.py").exists()


def test_it_has_a_page_in_the_docs_and_a_test_of_its_own(analysis):
    assert (ROOT / "docs" / "analyses" / f"{analysis.name}.md").stat().st_size > 200
    assert list((ROOT / "tests" / "analysis").glob(f"*/test_{analysis.name}.py"))

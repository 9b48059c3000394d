"""CONTRIBUTING's recipe: a folder with an analysis is all it takes to have it everywhere."""

from __future__ import annotations

import sys

import pandas as pd
import pytest
import streamlit

import core.analysis
from core.__main__ import main
from core.analysis.kit import registry
from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from pages.shared import analysis_page
from tests.pages.test_statistics_pages import open_page, texts

ANALYSIS = '''"""How many answers reach a score?"""

from typing import Annotated

import pandas as pd

from core.analysis.heights.how_high.chart import high_charts
from core.analysis.kit.sentences import GroupAnswer
from core.analysis.kit.registry import Number, analysis
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult, Column, ResultTable


@analysis(
    title="How high",
    question="How many answers reach a score?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    references=("None",),
    pooled_rows_need_caution=True,
    answer=lambda result: (
        GroupAnswer("everyone", f"{result.tables[0].frame.at[0, 'high']} do.", "green"),
    ),
    verdict="Green: somebody was asked.",
    keywords=("topmost",),
    charts=high_charts,
)
def how_high(
    item_scores: pd.DataFrame, *, least: Annotated[int, Number("Least score", 1, 5)] = 4
) -> AnalysisResult:
    """Count of scores from `least` up."""
    scores = item_scores["score"].dropna()
    table = ResultTable(
        "high", "High scores", pd.DataFrame({"high": [int((scores >= least).sum())]}),
        (Column("high", "High scores", "count"),),
    )
    missing = len(item_scores) - len(scores)
    return AnalysisResult(
        (table,), "one answer", len(scores), missing, "Counting.",
        notes=("everyone: counted once.",), cautions=("everyone: ties count.",),
    )
'''
CHART = '''"""A bar as long as the count."""

from typing import Annotated

import altair as alt

from core.analysis.kit.registry import Switch
from core.charts import Chart


def high_charts(
    result, theme, *, thin: Annotated[bool, Switch("Thin bar")] = False
) -> tuple[Chart, ...]:
    table = result.tables[0].frame
    bar = alt.Chart(table).mark_bar(size=2 if thin else 20).encode(x="high:Q")
    return (Chart("Bar", bar, f"A bar of {table.at[0, 'high']}.", table),)
'''
# The second item is reverse-keyed, so scores are 5, 5, 4, 4, 3, 2: twice 5, four times 4 or more.
ANSWERS = [[5, 1], [4, 2], [3, 4]]


@pytest.fixture
def new_analysis(tmp_path, monkeypatch):
    """The analysis `how_high` in a folder that nothing else knows."""
    folder = tmp_path / "analyses" / "heights" / "how_high"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text('"""How high the scores are."""\n')
    (folder / "analysis.py").write_text(ANALYSIS)
    (folder / "chart.py").write_text(CHART)
    monkeypatch.setattr(registry, "_analyses", dict(registry._analyses))
    monkeypatch.setattr(
        core.analysis, "__path__", [*core.analysis.__path__, str(tmp_path / "analyses")]
    )
    core.analysis.register_all()
    yield analyses.by_name("how_high")
    for name in [
        name for name in sys.modules if name.startswith(f"{core.analysis.__name__}.heights")
    ]:
        del sys.modules[name]
    vars(core.analysis).pop("heights")


@pytest.fixture
def database(tmp_path, monkeypatch):
    """Three persons who each answered two items in two languages alike."""
    path = tmp_path / "inkblot.duckdb"
    rows = [
        {
            "study": "people",
            "instrument": "attitudes_20",
            "model": f"person {person}",
            "language": language,
            "item": item,
            "answer": answer,
        }
        for language in ("en", "de")
        for person, given in enumerate(ANSWERS)
        for item, answer in zip(("nature_01", "nature_02"), given, strict=True)
    ]
    workspace = open_workspace(path)
    imports.import_tidy(workspace, "people.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    workspace.close()
    monkeypatch.setenv("INKBLOT_DB", str(path))
    return str(path)


def test_a_new_analysis_is_on_the_command_line(new_analysis, database, tmp_path, capfd):
    assert main(["--db", database, "list", "analyses"]) == 0
    assert f"how_high\t{new_analysis.question}\tleast\n" in capfd.readouterr().out
    out = tmp_path / "high.csv"
    analyze = ["--db", database, "analyze", "how_high", "--study", "people", "--out", str(out)]
    assert main([*analyze, "--option", "least=6"]) == 2
    assert "Option 'least' cannot be '6'" in capfd.readouterr().err
    assert main([*analyze, "--option", "least=5"]) == 0
    assert out.read_text(encoding="utf-8-sig").split() == ["high", "4"]  # once in each language
    said = capfd.readouterr().err
    scope = "Rows are 3 respondents. Rows of 2 languages are analyzed together."
    assert said.startswith(f"everyone: 4 do.\n{scope}\nGreen: ")
    assert "Rows are pooled over 2 languages" in said
    assert "\neveryone: ties count.\n" in said
    assert said.endswith("\neveryone: counted once.\n")


def test_a_new_analysis_is_on_its_page(new_analysis, database, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    at = open_page(study="people", analysis="how_high")
    assert new_analysis.question in texts(at)
    assert "Rows are pooled over 2 languages" in texts(at)
    assert "somebody was asked" in texts(at)
    assert "These change how to read the numbers" in texts(at)
    (least,) = [widget for widget in at.number_input if widget.label == "Least score"]
    assert [frame.value["High scores"].tolist() for frame in at.dataframe] == [[8]]
    assert "everyone:** 8 do" in texts(at)
    (chart,) = at.get("vega_lite_chart")
    assert "A bar of 8." in str(chart.proto)
    (thin,) = [widget for widget in at.toggle if widget.label == "Thin bar"]
    thin.set_value(True)
    at = least.set_value(5).run()
    assert not at.exception
    (chart,) = at.get("vega_lite_chart")
    assert "A bar of 4." in str(chart.proto)
    assert '"size": 2' in chart.proto.spec

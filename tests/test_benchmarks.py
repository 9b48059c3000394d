"""Every benchmark runs at tiny sizes and writes its figures."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
TITLES = {
    "start_up": "Start-up",
    "collection": "Collection",
    "limits": "Limits of services",
    "memory": "Memory",
    "plan": "Plan",
    "blocks": "Plan in blocks",
    "contexts": "Choosing from a corpus",
    "parsing": "Reading replies",
    "rereading": "Reading again",
    "statistics": "Item statistics",
    "option_counts": "Counts of options",
    "statement_tests": "Tests of statements",
    "words": "Word association",
    "psychometrics": "Psychometrics",
    "many_items": "Factor models of many items",
    "recovery": "Known effects",
    "imports": "Wide SPSS files",
    "long_imports": "Ten million answers",
    "wide_scores": "Ten million answers analyzed",
    "exported_tables": "Exported tables",
    "reports": "Reports",
    "pages": "Pages",
    "browser": "Pages in a browser",
    "workers": "Workers",
    "local_model": "Local model",
}


def bench(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "names",
    [
        tuple(TITLES)[:8],
        tuple(TITLES)[8:-1],
        pytest.param(("local_model",), marks=pytest.mark.local_model),
    ],
    ids=["collection", "statistics", "local model"],
)
def test_a_quick_run_writes_its_figures_beside_those_of_others(tmp_path, names):
    out = tmp_path / "figures.md"
    out.write_text("# Old head\n\n## Something else\n\nkept\n", encoding="utf-8")
    done = bench(*names, "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert "## Something else\n\nkept\n" in text
    assert str(tmp_path) not in text
    assert str(ROOT) not in text
    for name in names:
        section = text.partition(f"## {TITLES[name]}\n")[2].partition("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
        assert rows, name
        assert all(re.search(r"\d", row) for row in rows), name
        assert "error on the page" not in section
        assert "*Measured " in section, name


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


def test_figures_are_only_given_of_ways_that_give_the_same_numbers():
    from benchmarks.psychometrics import compare

    assert compare("fit", {"chi2": 250.00001}, {"chi2": 250.0}, 1e-6) == pytest.approx(4e-8)
    assert compare("fit", {"cfi": 0.9}, {"cfi": 0.95}, 0.1) == pytest.approx(0.05)
    for ours in ({"chi2": 250.1}, {"chi2": math.nan}, {"chi2": 250.0, "cfi": 1.0}, {}):
        with pytest.raises(RuntimeError, match="fit"):
            compare("fit", ours, {"chi2": 250.0}, 1e-6)


def test_without_other_software_the_plain_seconds_stand_alone():
    from benchmarks.psychometrics import Timed, _rows

    ours = Timed("Inkblot", 0.25, 0.2)
    assert _rows("Alpha", ours, ()) == [("Alpha: no other software here", "0.250", "-", "-", "-")]
    assert _rows("Alpha", ours, [Timed("R", 0.5, 0.1)]) == [
        ("Alpha: R", "0.250", "0.500", "**0.500**", "**2.00**")
    ]


def test_a_package_that_r_does_not_have_is_not_asked(monkeypatch):
    from benchmarks import r

    monkeypatch.setattr(r.shutil, "which", lambda _name: None)
    r.version.cache_clear()
    assert not r.has("stats")
    assert r.versions("stats") == ""
    monkeypatch.undo()
    r.version.cache_clear()
    assert not r.has("noSuchPackage")
    if r.version():
        assert r.has("stats")
        assert r.versions("stats", "noSuchPackage").count(",") == 1


def test_every_analysis_is_opened_on_its_page():
    from benchmarks.pages import _views
    from core.workflow.statistics import analyses

    views = _views()
    found = {analysis: page for page, analysis in views if analysis}
    assert found == {analysis.name: analysis.topic for analysis in analyses.all_analyses()}
    assert len(views) == len(set(views))
    app = (ROOT / "app.py").read_text(encoding="utf-8")
    pages = set(re.findall(r'"pages/(\w+)(?:/page)?\.py"', app))
    assert {page for page, _ in views} == pages


def test_what_takes_long_is_bold_and_what_takes_too_long_has_no_figure():
    from benchmarks.pages import LONGEST_S, _line, _viewed

    def view(seconds, **more):
        return {"seconds": seconds, "problems": [], "asks": [], "parts": {}, **more}

    found = {"drawn": [view(0.7)], "result": [view(1.5), view(3.0), view(2.0)]}
    assert _line("a page", found) == ("a page", "0.700", "**2.00**", "-")
    found = {"drawn": [view(0.7, asks=["More rows."])], "again": [view(0.5)]}
    assert _line("a page", found) == ("a page (asks for other answers)", "0.700", "-", "0.500")
    found["again"] = [view(0.5, problems=["A fault."])]
    assert _line("a page", found)[0] == "a page (error on the page)"

    def child(*, only_drawn=False):
        return {"drawn": view(0.8)} if only_drawn else {"result": view(LONGEST_S)}

    found = _viewed(child, repeats=3)
    assert {kind: len(views) for kind, views in found.items()} == {"drawn": 1, "result": 1}
    assert _line("a page", found)[1:] == ("0.800", "**over 60**", "-")


def test_the_filled_validation_study_has_scores_in_every_group(tmp_path):
    from benchmarks import validation_study

    path = tmp_path / "filled.duckdb"
    validation_study.fill(path=str(path), respondents=2, rows=5)
    validation_study.write_csv(path=str(path), folder=str(tmp_path))
    scale = pd.read_csv(tmp_path / "scale.csv")
    cells = scale.groupby(["respondent", "context_set", "asked"]).size()
    assert len(cells) == 2 * 2 * 3
    assert set(cells) == {5}
    items = scale.drop(columns=["respondent", "context_set", "context", "asked"])
    assert items.shape[1] == 22
    assert items.isna().to_numpy().mean() < 0.01
    assert set(np.unique(items.to_numpy()[items.notna().to_numpy()])) == set(range(6))
    assert len(pd.read_csv(tmp_path / "other.csv")) == 2 * 2 * 5


def test_an_unknown_benchmark_is_named_with_those_there_are():
    done = bench("colection")
    assert done.returncode == 2
    assert "no benchmark 'colection'" in done.stderr
    assert "collection" in done.stderr

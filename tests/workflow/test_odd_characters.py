"""Characters that no file or picture can hold, from where they come in to every file."""

from __future__ import annotations

import io
import shutil
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree

import altair as alt
import docx
import numpy as np
import pandas as pd
import pytest

from core.charts import Chart, page_spec, picture_files
from core.charts.dots import coefficient_chart
from core.charts.drawing import DrawingFault, drawing_process
from core.charts.picture_files import all_files
from core.domain.characters import readable
from core.workflow.answers import browsing, exports, imports
from core.workflow.opening import open_workspace
from core.workflow.packages import making as packages
from core.workflow.packages import reading as package_reading
from core.workflow.reports import choices, making
from core.workflow.runs import control
from core.workflow.statistics import analyses, papers
from tests.fault_server import Step
from tests.workflow.studies import finished, freeze, service

# XML 1.0 has no place for these (Char, section 2.2); Vega draws no list of names with the last two
ODD = [chr(code) for code in (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0xFFFE, 0xFFFF)]
ODD += ["\u2028", "\u2029"]
WHOLE = "".join(ODD)
IN_FILES = WHOLE.replace("\0", "")  # a file of text with NUL is refused as no file of text
NAMES = ("item_statistics", "reliability", "option_distribution")
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def answers_file():
    """Two models and forty personas whose names, items and replies hold every odd character."""
    rng = np.random.default_rng(1)
    rows = []
    for model in ("one", "two"):
        for person in range(40):
            level = 3 + rng.normal()
            for item in range(6):
                answer = int(np.clip(round(level + rng.normal()), 1, 5))
                rows.append(
                    (
                        f"{model}{IN_FILES}",
                        f"p{person}\u2028",
                        f"i{item}\u2029\x01",
                        answer,
                        f"{answer} {IN_FILES} so",
                    )
                )
    names = ["model", "context", "item", "answer", "raw"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module", params=["csv", "parquet"])
def imported(request, tmp_path_factory, new_database):
    """A workspace with an imported study in which every text is odd; nothing in it changes."""
    path = shutil.copyfile(new_database, tmp_path_factory.mktemp("odd") / "x.duckdb")
    workspace = open_workspace(path)
    data = getattr(answers_file(), f"to_{request.param}")(None, index=False)
    data = data.encode("utf-8") if isinstance(data, str) else data
    imports.import_tidy(workspace, f"odd.{request.param}", data, study="odd")
    yield workspace
    workspace.close()


def test_an_import_keeps_every_odd_character_readably(imported):
    levels = browsing.levels(imported, "odd")
    assert levels["respondent"] == [readable(f"{model}{IN_FILES}") for model in ("one", "two")]
    exported = exports.export_tidy(imported, "odd")
    assert not set(exported.decode("utf-8")) & set(ODD)
    again = open_workspace(":memory:")
    try:
        imports.import_tidy(again, "odd.csv", exported, study="odd")
        assert exports.export_tidy(again, "odd") == exported
    finally:
        again.close()


def test_reports_and_charts_of_odd_names_are_drawn_and_packages_come_back(imported):
    chosen = replace(choices.saved(imported, "odd"), analyses=NAMES)
    report = making.make(imported, choices.request_of(imported, "odd", chosen, NOW))
    assert report.n_figures >= 3
    assert not [line for line in report.left_out if "drawn" in line]
    docx.Document(io.BytesIO(report.files["docx"]))
    assert not set(report.files["html"].decode("utf-8")) & set(ODD)
    for name in NAMES:
        result = analyses.run(imported, name, ("odd",), {}, {})
        archive, faults = papers.charts_zip(analyses.by_name(name), result)
        assert faults == ()
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            endings = [one.rpartition(".")[2] for one in files.namelist()]
        assert endings.count("png") == endings.count("svg") == endings.count("txt")
    made = packages.make_package(imported, "odd", packages.requests_of("odd", NAMES))
    again = open_workspace(":memory:")
    try:
        assert package_reading.import_package(again, "odd.zip", made.data).study == "odd"
        assert exports.export_tidy(again, "odd") == exports.export_tidy(imported, "odd")
    finally:
        again.close()


def test_replies_with_characters_that_no_file_holds_leave_the_study_whole(workspace, server):
    server.script = lambda number, _: Step(content=f"4 {WHOLE}\ud800") if number % 2 else None
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 20
    exported = exports.export_tidy(workspace, "study").decode("utf-8")
    assert r"4 \u0000\u0001" in exported
    assert not set(exported) & set(ODD)
    made = packages.make_package(workspace, "study")
    again = open_workspace(":memory:")
    try:
        assert package_reading.import_package(again, "s.zip", made.data).study == "study"
    finally:
        again.close()


@pytest.mark.parametrize("odd", [WHOLE, "\u2028", "\u2029"])
def test_a_chart_of_names_from_an_older_database_is_drawn(odd):
    """Older databases hold what came in before: a chart makes names readable once more."""
    rows = [(f"{group}{odd}", f"{item}{odd}", 0.5, 0.4, 0.9, 9) for group in "gh" for item in "ab"]
    frame = pd.DataFrame(rows, columns=["group", "item", "value", "ci_low", "ci_high", "n"])
    chart = coefficient_chart(frame, f"T{odd}", "Coefficient", "Dots", "coefficient", "light")
    assert not set(str(page_spec(chart.panels[0], "light"))) & set(ODD)
    with drawing_process() as drawing:
        files = all_files(chart, drawing)
    ElementTree.fromstring(files["svg"])
    assert files["png"].startswith(b"\x89PNG")


def test_a_picture_that_ends_what_draws_it_takes_no_page_with_it():
    """As a page saves a chart: in a process beside this one, and the next picture is drawn."""
    frame = pd.DataFrame(
        [("g", "a", 0.5, 0.4, 0.9, 9)], columns=["group", "item", "value", "ci_low", "ci_high", "n"]
    )
    chart = coefficient_chart(frame, "T", "Coefficient", "Dots", "coefficient", "light")
    shared = picture_files._SHARED_DRAWING
    size = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    ending = size + b'<text y="8">\x01</text></svg>'
    with pytest.raises(DrawingFault, match="has ended"):
        shared.png(ending, 1.0)
    assert picture_files.png_file(chart).startswith(b"\x89PNG")


def test_a_failed_drawing_is_a_message_and_the_next_picture_is_drawn():
    good = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="8">a</text></svg>'
    )
    with drawing_process() as drawing:
        with pytest.raises(DrawingFault, match="the process that draws has ended"):
            drawing.png(good.replace(b"a<", b"\x01<"), 1.0)  # which ends the process of vl-convert
        assert drawing.png(good, 1.0).startswith(b"\x89PNG")
        with pytest.raises(DrawingFault):
            drawing.svg("{}")


def test_a_chart_that_cannot_be_drawn_is_named_and_the_others_are_in_the_file(imported):
    analysis = analyses.by_name("item_statistics")
    result = analyses.run(imported, "item_statistics", ("odd",), {}, {})
    table = pd.DataFrame({"item": ["a"], "value": [1.0]})
    spec = alt.Chart(table).mark_bar().transform_calculate(x="datum.(").encode(x="x:Q")
    broken = Chart("Broken", spec, "Nothing.", table)

    def charts(result, theme):
        return (broken, *analysis.charts(result, theme))

    archive, faults = papers.charts_zip(replace(analysis, charts=charts), result)
    assert [fault.partition(":")[0] for fault in faults] == ["Chart 1, Broken, is not drawn"]
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        names = files.namelist()
    assert "chart_1.png" not in names
    assert {"chart_1.txt", "chart_1.vl.json", "chart_2.png", "chart_2.svg"} <= set(names)

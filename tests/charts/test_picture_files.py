"""Charts as files: every kind is drawn once, in the light colors, and loads nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from struct import unpack

import altair as alt
import pandas as pd
import pytest

from core.charts.drawing import drawing_process, folders_without_liberation
from core.charts.panels import LABEL_LIMIT, Chart
from core.charts.picture_files import (
    all_files,
    json_file,
    pictures,
    png_file,
    svg_file,
    vega_lite,
)
from tests.charts.results import HOSTILE, charts_of, results
from tests.charts.test_charts import results as other_results

ROOT = Path(__file__).parents[2]
EVERY = {**results(), **other_results()}


@pytest.fixture(autouse=True)
def checked_charts():
    """Files are written without the checks of Altair, as on a page."""


@pytest.mark.parametrize("name", sorted(EVERY))
def test_every_kind_of_chart_is_an_svg_with_its_texts(name):
    for chart in charts_of(name, EVERY[name]):
        text = svg_file(chart).decode("utf-8")
        assert text.startswith("<svg ")
        assert 'fill="#ffffff"' in text or 'fill="white"' in text
        assert not re.search(r"NaN|undefined,|<script|<image|href=|@import|url\((?!#)", text)
        widths = [float(value) for value in re.findall(r'^<svg [^>]*width="([\d.]+)"', text)]
        assert 300 < widths[0] < 1500


@pytest.mark.parametrize("name", ["cfa", "efa", "graded_response", "option_distribution"])
def test_a_png_has_twice_the_pixels(name):
    chart = charts_of(name, EVERY[name])[0]
    data = png_file(chart)
    assert data.startswith(b"\x89PNG")
    width, height = unpack(">II", data[16:24])
    shown = re.match(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"', svg_file(chart).decode())
    assert (width, height) == pytest.approx([2 * float(size) for size in shown.groups()], abs=2)


def test_panels_stand_side_by_side_in_one_picture_with_scales_of_their_own():
    chart = next(c for c in charts_of("efa", EVERY["efa"]) if len(c.panels) > 1)
    spec = vega_lite(chart)
    assert (len(spec["concat"]), spec["columns"]) == (len(chart.panels), chart.across)
    assert set(spec["resolve"]["scale"].values()) == {"independent"}
    assert "container" not in json.dumps(spec)
    assert spec["background"] == "#ffffff"


def test_vega_lite_holds_exactly_what_users_wrote():
    chart = charts_of("reliability", EVERY["reliability"])[0]
    rows = [row for rows in json.loads(json_file(chart))["datasets"].values() for row in rows]
    assert HOSTILE in {row["group"] for row in rows}


def test_a_text_that_looks_like_a_size_stays_as_it_is():
    spec = alt.Chart(pd.DataFrame({"a": ["containerSize()[0]"]})).mark_point().encode(x="a:N")
    chart = Chart("t", spec.properties(width="container"), "t.", pd.DataFrame({"a": ["x"]}))
    assert "containerSize()[0]" in json_file(chart).decode()


def bars(label, **axis):
    """A panel of one bar, 300 pixels high, whose row has that label."""
    axis = {"labelLimit": LABEL_LIMIT, **axis}
    return (
        alt.Chart(pd.DataFrame({"label": [label], "n": [1]}))
        .mark_bar()
        .encode(x="n:Q", y=alt.Y("label:N", axis=alt.Axis(**axis)))
        .properties(width="container", height=300)
    )


def chart_of(*panels):
    return Chart("t", alt.vconcat(*panels), "t.", pd.DataFrame({"label": ["x"]}))


def readable(width, height):
    """As on a page where all can be read."""
    return True


def test_a_chart_higher_than_a_page_becomes_several_with_each_panel_once():
    spec = vega_lite(chart_of(*(bars(f"row{n}") for n in range(5))))
    drawn = list(pictures(spec, 1.3, readable))
    shown = [re.findall(r"row\d", one.svg.decode()) for one in drawn]
    assert [sorted(set(rows)) for rows in shown] == [["row0", "row1"], ["row2", "row3"], ["row4"]]
    assert all(one.height < 1.3 * 640 and one.png.startswith(b"\x89PNG") for one in drawn)
    (one,) = pictures(vega_lite(chart_of(bars("row1"), bars("row2"))), 9, readable)
    assert one.width < 1200
    assert unpack(">I", one.png[16:20])[0] == pytest.approx(1200, abs=2)


def test_a_picture_that_cannot_be_read_on_a_page_has_no_png():
    (one,) = pictures(vega_lite(chart_of(bars("row1"))), 1.3, lambda _, height: height < 300)
    assert one.svg
    assert one.png == b""


def test_a_process_of_its_own_draws_the_same_lines_and_letters():
    chart = charts_of("efa", EVERY["efa"])[0]
    spec = vega_lite(chart)
    with drawing_process() as beside:
        (one, *_) = pictures(spec, 1.3, readable, beside)
        files = all_files(chart, beside)
        with pytest.raises(ValueError, match="JSON"):
            beside.svg("{")
        assert beside.png(one.svg, 1.0).startswith(b"\x89PNG")  # it goes on after a fault
    (same, *_) = pictures(spec, 1.3, readable)
    assert one.svg == same.svg
    assert (one.width, one.height, one.png[:26]) == (same.width, same.height, same.png[:26])
    assert (files["svg"], files["vl.json"]) == (svg_file(chart), json_file(chart))
    assert files["png"][:26] == png_file(chart)[:26]


def test_a_drawing_that_ends_while_its_process_starts_leaves_none(monkeypatch):
    reached, let_on, started = threading.Event(), threading.Event(), []
    start = subprocess.Popen

    def slowly(*command, **settings):
        reached.set()
        let_on.wait(10)
        started.append(start(*command, **settings))
        return started[0]

    def draw():
        with pytest.raises((RuntimeError, ValueError, OSError, EOFError)):
            beside.svg("{")

    monkeypatch.setattr(subprocess, "Popen", slowly)
    with drawing_process() as beside:
        drawing = threading.Thread(target=draw)
        drawing.start()
        assert reached.wait(10)
        threading.Timer(0.2, let_on.set).start()
    drawing.join(10)
    assert not drawing.is_alive()
    assert [process.returncode is not None for process in started] == [True]


def test_only_folders_of_the_font_that_is_in_memory_are_left_out(tmp_path):
    for name in (
        "cjk/Noto.ttc",
        "latin/dejavu/Sans.ttf",
        "latin/lib/LiberationSans-Bold.ttf",
        "latin/lib/LiberationMono-Bold.ttf",
        "mixed/LiberationSans-Bold.ttf",
        "mixed/Other.otf",
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    left = [str(one.relative_to(tmp_path)) for one in folders_without_liberation(tmp_path)]
    assert left == ["cjk", "latin/dejavu", "mixed"]
    assert folders_without_liberation(tmp_path / "cjk") == [tmp_path / "cjk"]


def test_long_labels_are_shortened_and_stay_whole_in_the_data():
    text = "A statement that is much longer than its part of the width of a picture has room for"
    chart = chart_of(bars(text), bars("漢字" * 40))
    shown = svg_file(chart).decode()
    assert text[:40] in shown
    assert text not in shown
    assert "漢字" * 9 in shown
    assert "漢字" * 13 not in shown
    assert text in json_file(chart).decode()


def test_labels_of_two_names_stand_whole_and_take_their_room_from_the_plot():
    text = "restrictive migration policy: Second model – First model"
    panel = bars(text).encode(
        y=alt.Y("label:N", sort=[text], axis=alt.Axis(labelLimit=LABEL_LIMIT))
    )
    chart = Chart("t", panel, "t.", pd.DataFrame({"label": [text]}))
    assert text in svg_file(chart).decode()
    assert vega_lite(chart)["width"] < vega_lite(chart_of(bars("x")))["width"] == 640


def test_each_panel_has_its_own_size_in_its_expressions():
    panel = bars("x").encode(x=alt.X("n:Q", scale=alt.Scale(range=[0, alt.ExprRef("width / 2")])))
    spec = json.dumps(vega_lite(chart_of(panel, panel))["concat"])
    assert '"640 / 2"' in spec
    assert '"width / 2"' not in spec


def test_no_chart_can_ask_another_host():
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/x.json"
        chart = alt.Chart(alt.UrlData(url=address)).mark_point().encode(x="a:Q")
        for write in (svg_file, png_file):
            with pytest.raises(ValueError, match="not allowed"):
                write(Chart("t", chart, "t.", pd.DataFrame({"a": [1]})))
        server.shutdown()
    assert asked == []


def test_neither_the_command_line_nor_pages_load_what_writes_files_before_a_file_is_wanted():
    code = (
        "import sys, core.__main__, pages.shared.results\n"
        "print({'vl_convert', 'docx'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"

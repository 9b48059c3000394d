"""Every number of the two sample studies is the same on page, in CSV and on the command line."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import pandas as pd
import pytest

from core.__main__ import _parser
from core.collect.client import Reply
from core.collect.local_model import LocalClient
from core.domain.results import AnalysisResult, Column, ResultTable
from core.errors import NotEnoughData
from core.files.writing import unguard
from core.workflow import sample
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses
from core.workflow.statistics.papers import paper_table
from core.workflow.workers import launching
from pages.shared import analysis_page, results
from tests.pages.apps import fine, open_tab, tab_labels
from tests.pages.test_statistics_pages import open_page, texts

RESULT = AnalysisResult((), unit="one administration", n_used=1, n_missing=0, method="")
STUDIES = ("sample_simulated", "sample_local")
UNDEFINED = {
    "annotator_agreement", "bias_shift", "cfa_check", "dif",
    "form_agreement", "group_comparison", "invariance", "loading_congruence", "norm_comparison",
    "odds_ratios",
    "preference", "random_consistency", "rater_agreement", "referential_consistency",
    "score_correlations",
    "story_validity",
}  # fmt: skip
"""What needs more than both studies have: rows than items, levels of a factor, norms, texts,
a second phase, pairs of entities, repetitions, formats, other wordings, or annotators."""
ONLY_SIMULATED = {"cfa", "cfa_comparison"}
"""What needs more rows than the local model gives."""
DECIMALS = {
    "none": 2,
    "points": 2,
    "points squared": 2,
    "proportion": 2,
    "correlation": 2,
    "p": 3,
    "compared": 4,
}

FIT = {f"cfi{kind}": (0.9, 0.95) for kind in ("", "_scaled", "_robust")} | {
    f"rmsea{kind}": (0.05, 0.06) for kind in ("", "_scaled", "_robust")
}
BOUNDS = {
    "fit": FIT,
    "steps": FIT | {"cfi_difference": (-0.01,), "rmsea_difference": (0.015,)},
    "differences": {"cfi_difference": (-0.01,), "rmsea_difference": (0.015,)},
    "criteria": {"value": (0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.05, 0.06), "cfi": (0.9, 0.95)},
    "items": {
        "discrimination": (0, 0.4, 0.7),
        "nagelkerke": (0.035, 0.07, 0.13, 0.26),
        "mcfadden": (0.02,),
        "slope_change": (0.1,),
    },
    "loadings": {"loading": (-0.3, 0.3)},
    "scores": {"floor": (0.15,), "ceiling": (0.15,)},
}
"""What judges the numbers of a column, by table: they have the decimals that show their side."""


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The two sample studies; a stand-in replies for the local model, which takes minutes."""
    patch = pytest.MonkeyPatch()

    async def complete(_self, request):
        place = sum(map(ord, request.messages[-1]["content"] + request.messages[0]["content"]))
        return Reply(request.choices[place % len(request.choices)], "stop", request.model, 9, 1)

    patch.setattr(LocalClient, "complete", complete)
    found = open_workspace(tmp_path_factory.mktemp("samples") / "samples.duckdb")
    for kind in ("simulated", "local"):
        study = sample.start_sample(found, kind)
        ended = control.wait(found, study, every_s=0.02)
        assert ended.n_done == ended.n_trials
    patch.undo()
    yield found
    found.close()


@pytest.fixture(scope="module")
def forks():
    """What computes the results of pages, as in the app."""
    found = launching.Forks()
    found.warm_up()
    yield found
    found.close()


def on_the_command_line(workspace, name, study, folder):
    """The files that `python -m core analyze` writes: bytes by name; None where it refuses."""
    out = folder / "result.zip"
    wanted = ["analyze", name, "--study", study, "--out", str(out)]
    analysis = analyses.by_name(name)
    factor = analyses.saved_options(workspace, study, analysis).get("factor")
    if factor:  # a page proposes one that varies
        wanted += ["--option", f"factor={factor}"]
    parsed = _parser().parse_args(wanted)
    try:
        parsed.run(workspace, parsed)
    except NotEnoughData as refused:
        return None, refused.problem
    with zipfile.ZipFile(out) as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}, ""


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", [analysis.name for analysis in analyses.all_analyses()])
def test_page_csv_and_command_line_show_the_same_numbers(
    both, forks, tmp_path, monkeypatch, study, name
):
    downloads = {}
    monkeypatch.setattr(
        results, "download", lambda _label, data, _file, *, key: downloads.update({key: data})
    )
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    monkeypatch.setenv("INKBLOT_DB", both.database.path)
    files, problem = on_the_command_line(both, name, study, tmp_path)
    monkeypatch.setattr(launching, "_of_this_process", forks)
    page = open_page(study=study, analysis=name)
    if [button for button in page.button if button.key == "compute_anyway"]:
        page = fine(page.button(key="compute_anyway").click().run())
    grids = []
    for label in tab_labels(page):
        page = open_tab(page, name, label)
        grids += [without_wordings(grid.value) for grid in page.dataframe]
    if files is None:
        assert name in UNDEFINED or (study == "sample_local" and name in ONLY_SIMULATED)
        assert problem in texts(page).replace("\\", "")
        assert not downloads
        return
    assert name not in UNDEFINED
    with zipfile.ZipFile(io.BytesIO(downloads.pop("download:all"))) as archive:
        assert {entry: archive.read(entry) for entry in archive.namelist()} == files
    downloads.pop("download:syntax", None)
    tables = json.loads(files["result.json"])["tables"]
    shown = [table for table in tables if table["rows"]]
    assert len(downloads) == len(shown)
    for table in shown:
        data = downloads[f"csv:{table['name']}"]
        assert data in files.values()
        rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
        assert rows[0] == [column["name"] for column in table["columns"]]
        compare(table, rows[1:], grid_of(grids, table))


def test_filters_and_groups_by_attributes_are_the_same_on_page_csv_and_command_line(
    both, tmp_path, monkeypatch
):
    downloads = {}
    monkeypatch.setattr(
        results, "download", lambda _label, data, _file, *, key: downloads.update({key: data})
    )
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    monkeypatch.setenv("INKBLOT_DB", both.database.path)
    study, name = "sample_simulated", "internal_consistency"
    page = open_page(study=study, analysis=name)
    page.multiselect(key=f"where:{study}:item.subscale").set_value(["nature"]).run()
    by = page.multiselect(key=f"option:{study}:{name}:by")
    assert "item: keyed" in by.options
    page = by.set_value(["item.keyed"]).run()
    assert not page.exception
    out = tmp_path / "alpha.csv"
    wanted = ["analyze", name, "--study", study, "--by", "item.keyed"]
    parsed = _parser().parse_args([*wanted, "--where", "item.subscale=nature", "--out", str(out)])
    parsed.run(both, parsed)
    assert downloads["csv:alpha"] == out.read_bytes()
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert [unguard(row["item.keyed"]) for row in rows] == ["1", "-1"]
    assert {row["subscale"] for row in rows} == {"nature"}
    shown = next(grid.value for grid in page.dataframe if "Item: keyed" in grid.value)
    assert shown["Cronbach's α"].tolist() == pytest.approx(
        [float(row["alpha"]) for row in rows], abs=0.005
    )


def without_wordings(grid):
    """The grid without the wordings of items, which only pages show."""
    return grid[[column for column in grid.columns if not column.endswith(": wording")]]


def grid_of(grids, table):
    """The grid of a table: it has its titles, perhaps without those of constant keys."""
    titles = [column["title"] for column in table["columns"]]
    cells = [{str(row[place]) for row in table["rows"]} for place in range(len(titles))]
    constant = {title for title, values in zip(titles, cells, strict=True) if len(values) == 1}
    (found,) = [
        grid
        for grid in grids
        if len(grid) == len(table["rows"]) and {*titles} - constant <= {*grid.columns} <= {*titles}
    ]
    return found


def compare(table, rows, grid):
    """Each cell of the grid and of a paper's table is that of the CSV file, rounded by its unit."""
    for place, column in enumerate(table["columns"]):
        texts_in_csv = [row[place] for row in rows]
        if column["title"] not in grid:
            continue  # the same in all rows: named once, below the grid
        in_grid = grid[column["title"]].tolist()
        decimals = decimals_of(texts_in_csv, column, BOUNDS.get(table["name"], {}))
        small = column["unit"] == "p" and any(t and float(t) < 0.001 for t in texts_in_csv)
        for text, cell in zip(texts_in_csv, in_grid, strict=True):
            where = (table["name"], column["name"], text, cell)
            # beside a p that is written as < .001, the grid has exact values and texts of its own
            assert same(text, cell, column["unit"], None if small else decimals), where
    printed = paper_table(RESULT, as_table(table))
    for column in table["columns"]:
        if column["title"] in printed.header and not column["name"].endswith(("_low", "_high")):
            place = table["columns"].index(column)
            values = [row[place] for row in table["rows"]]
            texts = [row[printed.header.index(column["title"])].text for row in printed.rows]
            # the file of the result has no bounds, so only a p has further decimals
            decimals = decimals_of([row[place] for row in rows], column, {})
            for row, value, text in zip(rows, values, texts, strict=True):
                shown = apa(unguard(row[place]), column["unit"], value, decimals)
                assert shown == text or {shown, text} == {"–", ""}, (table["name"], column["name"])


def decimals_of(texts, column, bounds):
    """The decimals of a column: with fewer, a number would lie on another side of a bound."""
    decimals = DECIMALS.get(column["unit"], 0)
    for bound in (0.05,) if column["unit"] == "p" else bounds.get(column["name"], ()):
        for text in texts:
            try:
                exact, limit = Decimal(text), Decimal(str(bound))
            except InvalidOperation:  # a text, or undefined
                continue
            while decimals < 10 and rounded(text, decimals).compare(limit) != exact.compare(limit):
                decimals += 1
    return decimals


def same(text, cell, unit, decimals):
    """Whether a cell of the grid shows what stands in the CSV file; None: all of its digits."""
    if text == "":
        return cell in ("", None) or (isinstance(cell, float) and math.isnan(cell))
    if isinstance(cell, bool):
        return text == str(cell).lower()
    if isinstance(cell, str):
        return unguard(text) == cell
    if isinstance(cell, int) or unit == "count":
        return float(text) == cell
    if decimals is None:
        return float(text) == cell
    return Decimal(repr(cell)) == rounded(text, decimals)


def rounded(text, decimals):
    """Half away from zero, on the digits of the file."""
    return Decimal(text).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def apa(text, unit, value, decimals):
    """A cell as APA style prints it; `value` tells numbers from texts."""
    if value is None or text == "":
        return "–"
    if isinstance(value, bool | str):
        return {True: "yes", False: "no"}.get(value, text)
    if unit == "count":
        return f"{int(float(text)):,}"
    if unit == "p" and float(text) < 0.001:
        return "< .001"
    if isinstance(value, int):
        return text.replace("-", "−")
    found = rounded(text, decimals)
    printed = f"{found if found else abs(found):f}"
    if unit in ("proportion", "correlation", "p") and abs(found) < 1:
        printed = printed.replace("0.", ".", 1)
    return printed.replace("-", "−")


def as_table(table):
    """The table that the file `result.json` holds."""
    columns = tuple(Column(**column) for column in table["columns"])
    frame = pd.DataFrame(table["rows"], columns=[column.name for column in columns])
    return ResultTable(table["name"], table["title"], frame, columns)

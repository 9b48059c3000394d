"""No file that Inkblot writes as CSV holds a cell that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace

import pandas as pd
import pytest

from core import export
from core.analysis.kit.scripts.names import csv_text, group_labels
from core.analysis.scales.reliability import reliability_scripts
from core.domain.results import Column, ResultTable
from core.domain.study import Context, Design
from core.files import answers, contexts
from core.files.banks import writing
from core.workflow.answers import exports, imports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.analysis.score_frames import item_scores
from tests.workflow.studies import simulated

FORMULA = '=HYPERLINK("http://evil.invalid","x")'
HOSTILE = [FORMULA, f"x,{FORMULA}", f'x",{FORMULA}', f"x;{FORMULA}", "@a", "+1", "-1+1", "\t=1"]


def cells(data):
    text = data if isinstance(data, str) else data.decode("utf-8")
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


def formulas(data):
    """Cells that a spreadsheet would compute; negative numbers are none."""
    found = []
    for cell in cells(data):
        try:
            float(cell)
        except ValueError:
            found += [cell] if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else []
    return found


@pytest.mark.parametrize("name", [n for n in HOSTILE if n.isprintable()])
def test_a_plan_file_holds_no_formula_whatever_the_study_is_called(workspace, name):
    person = simulated()
    catalog.save(workspace, person)
    studies.freeze(workspace, Design(name, "attitudes_20", (person.label,)))
    data = studies.plan_csv(workspace, name)
    assert formulas(data) == []
    (head,) = next(csv.reader(io.StringIO(data.decode())))
    assert head.startswith("# plan ")
    assert f" of study {name} frozen " in head


def test_tables_and_their_headers_hold_no_formula():
    frame = pd.DataFrame({name: [name] for name in HOSTILE})
    table = ResultTable("t", "T", frame, tuple(Column(name, name) for name in HOSTILE))
    for data in (export.frame_csv(frame), export.table_csv(table)):
        assert formulas(data) == []
        assert len(cells(data)) == 2 * len(HOSTILE)


def test_banks_and_contexts_hold_no_formula(small_bank):
    for text in HOSTILE:
        items = tuple(replace(item, subscale=text) for item in small_bank.items)
        bank = replace(small_bank, title=text, description=text, items=items)
        assert formulas(writing.instrument_to_csv(bank)) == []
    people = [Context(f"p{n}", text) for n, text in enumerate(HOSTILE)]
    assert formulas(contexts.contexts_csv(people)) == []


def test_answers_hold_no_formula_in_any_column_or_tag():
    texts = ("study", "instrument", "item", "model", "context", "entity", "answer", "raw")
    rows = [dict.fromkeys(texts, text) | {"status": "answered"} for text in HOSTILE]
    frame = pd.DataFrame(rows).assign(tags='{"=1+1": "=2"}')
    data = answers.write_tidy(frame, "csv")
    assert formulas(data) == []
    assert len(cells(data)) == (len(texts) + 2) * (len(HOSTILE) + 1)


def test_the_data_of_scripts_hold_no_formula():
    assert formulas(csv_text(["group", "x"], [(g, [-1.0]) for g in group_labels(HOSTILE)])) == []
    frames = [
        item_scores(
            [[1, 2], [2, 2], [3, 5], [4, 4]], items=("=1", "@b"), start=1 + 4 * n, respondent=label
        )
        for n, label in enumerate(HOSTILE[:2])
    ]
    frame = pd.concat(frames, ignore_index=True)
    (data,) = [f for f in reliability_scripts(frame, by=("respondent",)) if f.name == "data.csv"]
    assert formulas(data.text) == []


def test_the_files_of_a_study_hold_no_formula(workspace, tmp_path):
    name = f"x,{FORMULA}"
    text = f'item,answer,model,wave\n"{FORMULA}",1,"{FORMULA}",=1+1\n'
    text = text.replace('("http', '(""http').replace('invalid","x")"', 'invalid"",""x"")"')
    imports.import_tidy(workspace, "a.csv", text.encode(), study=name)
    for file in exports.export_study(workspace, name, tmp_path / "out"):
        if file.suffix == ".csv":
            assert formulas(file.read_bytes()) == []


def test_the_tables_in_a_zip_hold_no_formula():
    frame = pd.DataFrame({"a": HOSTILE})
    table = ResultTable("t", "T", frame, (Column("a", "A"),))
    result = export.AnalysisResult((table,), "one answer", 1, 0, "Method.", ())
    with zipfile.ZipFile(io.BytesIO(export.result_zip(result))) as archive:
        assert formulas(archive.read("t.csv")) == []

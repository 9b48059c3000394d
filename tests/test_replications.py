"""docs/replications: every design has the size of the published study and can be asked."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.study import Design
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.runs import control

FOLDER = Path(__file__).parents[1] / "docs" / "replications"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
# From the designs in the papers: trials and calls of the first phase.
SIZES = {
    "1a-brand-sentiment": (100 * 4 * 3 * 30, 4 * 3 * 30),
    "1b-brand-preference": (100 * 5 * 3 * 30, 5 * 3 * 30),
    "2a-ambivalent-scale": (22 * 3 * (300 + 296),) * 2,
    "2b-companion-scale": (8 * (300 + 296),) * 2,
    "3-binary-choice": (539 * 4 * 10,) * 2,
    "4a-word-sentiment-english": (5000 * 2 * 5, 2 * (500 + 250 + 167 + 100 + 50)),
    "4b-word-sentiment-chinese": (5000 * 2 * 5, 2 * (500 + 250 + 167 + 100 + 50)),
    "4c-questionnaire-with-history": (44 * 2 * 2,) * 2,
    "5-political-worldviews": (17_208 * 30,) * 2,
}
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def read(workspace, file) -> Design:
    """The design of a file, with its bank in the workspace."""
    design = studies.design_of_yaml((FOLDER / file).read_bytes(), name=file)
    bank = FOLDER / "banks" / f"{design.instrument}.csv"
    if bank.exists():
        editing.import_bank(workspace, editing.read_instrument(bank.name, bank.read_bytes()))
    return design


def counts(workspace):
    """Trials, calls and different trials of everything that is planned."""
    return workspace.database.row(
        "select count(*), count(distinct call_id), count(distinct trial_id) from trial"
    )


@pytest.mark.parametrize("file", FILES)
def test_a_design_is_planned_at_the_size_of_the_study(workspace, file):
    design = read(workspace, file)
    trials, calls = SIZES[Path(file).stem]
    assert studies.freeze(workspace, design).n_trials == trials
    assert counts(workspace) == (trials, calls, trials)
    row = next(line for line in README.splitlines() if line.startswith(f"| `{file}`"))
    phases = 2 if design.second_phase else 1
    assert row.endswith(f"| {trials * phases:,} | {calls * phases:,} |")


TEMPLATES = [f"{kind}_{n}" for kind in ("personal", "impersonal") for n in (1, 2, 3)]
LABELS_OF_TABLE_8 = ("agree", "beneficial", "favorable", "beneficial", "favorable", "favorable")


def test_the_political_design_has_17208_prompts_and_the_labels_of_the_study(workspace):
    design = read(workspace, "5-political-worldviews.yaml")
    assert studies.size(workspace, design).prompts == 17_208
    studies.freeze(workspace, design)
    cells = workspace.database.rows(
        "select template, format, label_order, count(distinct form) from administration"
        " group by 1, 2, 3"
    )
    assert len(cells) == 12
    assert len({template for template, *_ in cells}) == 6
    labels = {template: pair.split("_")[0] for template, pair, *_ in cells}
    assert [labels[template] for template in TEMPLATES] == list(LABELS_OF_TABLE_8)
    assert (design.temperatures, design.top_p, design.max_tokens) == ((1.0,), (0.85,), (20,))
    assert {forms for *_, forms in cells} == {6}


def test_the_scale_has_three_of_the_four_cells_and_two_sets_of_contexts(workspace):
    studies.freeze(workspace, read(workspace, "2a-ambivalent-scale.yaml"))
    cells = workspace.database.rows(
        "select form, label_order, split_part(context, '_', 1), count(*) from administration"
        " group by all order by all"
    )
    assert cells == [
        (form, order, contexts, n)
        for form, order in (("alternate", "as_is"), ("original", "as_is"), ("original", "random"))
        for contexts, n in (("conversation", 300), ("persona", 296))
    ]


SMALL = {"1a": 20, "1b": 20, "4a": 60, "4b": 60}


@pytest.mark.parametrize("file", FILES)
def test_a_small_part_of_a_design_is_asked_of_simulated_people(workspace, file):
    design = read(workspace, file)
    bank = editing.load(workspace, design.instrument).instrument
    chosen = tuple(item.code for item in bank.items[: SMALL.get(file[:2], 3)])
    contexts = tuple(c for c in design.contexts if c.code.endswith("_001"))
    small = replace(design, items=chosen, contexts=contexts, repetitions=2)
    planned = studies.freeze(workspace, small).n_trials
    control.start(workspace, design.study)
    ended = control.wait(workspace, design.study, every_s=0.05)
    assert (ended.state, ended.reason) == ("finished", "All calls were made.")
    assert ended.n_done == ended.n_trials == planned * (2 if design.second_phase else 1)
    # Simulated people refuse now and then; whatever else they say can be read.
    assert set(ended.statuses) <= {"answered", "answered_with_explanation", "refused"}
    assert ended.n_usable > 0.8 * ended.n_done


def test_the_banks_and_contexts_are_those_that_the_script_writes(tmp_path):
    spec = importlib.util.spec_from_file_location("make_files", FOLDER / "make_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert len(written) == 5
    for path in written:
        assert (tmp_path / path).read_bytes() == (FOLDER / path).read_bytes(), path


def test_the_parts_make_the_numbers_of_the_papers(workspace):
    for file in (
        "3-binary-choice.yaml",
        "4c-questionnaire-with-history.yaml",
        "5-political-worldviews.yaml",
    ):
        read(workspace, file)
    questions = editing.load(workspace, "questions_539").instrument.items
    both_ways = [item for item in questions if item.pair]
    assert (len(both_ways), len(questions) - len(both_ways) // 2) == (2 * 103, 436)
    by_code = {item.code: item for item in questions}
    assert all(by_code[item.pair].pair == item.code for item in both_ways)
    assert sum(item.genre.startswith("task") for item in questions[:175]) == 175
    statements = editing.load(workspace, "policy_239").instrument.items
    assert sum(bool(item.loadings) for item in statements) == 193
    assert len({item.attributes["country"] for item in statements}) == 7
    traits = editing.load(workspace, "traits_44").instrument.items
    assert sum(item.keyed < 0 for item in traits) == 16


def test_every_text_of_the_banks_stands_once(workspace):
    for path in sorted((FOLDER / "banks").glob("*.csv")):
        bank = editing.read_instrument(path.name, path.read_bytes()).instrument
        for language in bank.languages:
            texts = [w.text for item in bank.items for w in item.wordings if w.language == language]
            assert len(texts) == len(set(texts)), (path.name, language)
            assert not any(re.search(r"\s{2}|\|", text) for text in texts)

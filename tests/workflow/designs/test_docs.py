"""docs/designs.md: its example is planned by the command line, and its tables name every key."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from pathlib import Path

import pytest
import yaml

from core.__main__ import main
from core.domain.formats import BUILT_IN
from core.domain.instrument import Wording
from core.domain.study import Block, Context, Design
from core.store import banks as bank_store
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.designs.studies import design_of_yaml

DOCS = (Path(__file__).parents[3] / "docs" / "designs.md").read_text(encoding="utf-8")
KEYS, CONTEXT_KEYS, BLOCK_KEYS = (re.split(r"^## ", DOCS, flags=re.M)[place] for place in (2, 3, 4))


def test_the_example_is_planned_by_the_command_line(tmp_path, capfd):
    file, plan = tmp_path / "study.yaml", tmp_path / "plan.csv"
    file.write_text(re.search(r"```yaml\n(.*?)```", DOCS, re.S).group(1), encoding="utf-8")
    database = str(tmp_path / "docs.duckdb")
    assert main(["--db", database, "plan", str(file), "--out", str(plan)]) == 0
    # 20 items, 3 contexts, 2 orders, 2 repetitions; a comment and a header before them.
    assert len(plan.read_text(encoding="utf-8").splitlines()) == 2 + 20 * 3 * 2 * 2
    assert "240 trials" in capfd.readouterr().out
    assert "20 items by 3 contexts" in DOCS


EXAMPLES = re.findall(r"^\*\*([^*]+)\.\*\* (.*?)```yaml\n(.*?)```", BLOCK_KEYS, re.M | re.S)
BASE = BLOCK_KEYS.split("```yaml\n")[1].split("```")[0]


@pytest.fixture
def varied_bank(workspace):
    """The bank of the examples with negations and a second format, and its respondents."""
    bank = editing.content(workspace, "attitudes_20", None)
    items = tuple(
        replace(
            item,
            wordings=(*item.wordings, Wording("en", f"Not: {item.text('en')}", form="negation")),
        )
        for item in bank.items
    )
    varied = replace(bank, items=items, formats=(*bank.formats, BUILT_IN["likert_4"]))
    head = editing.load(workspace, "attitudes_20").revision
    bank_store.save_draft(workspace.database, varied, expected_revision=head, summary="t")
    return workspace


def test_every_example_of_blocks_is_planned_with_the_number_of_trials_that_its_text_states(
    varied_bank,
):
    assert len(EXAMPLES) == 6
    for title, text, lines in EXAMPLES:
        own = yaml.safe_load(lines)
        design = design_of_yaml(yaml.safe_dump({**yaml.safe_load(BASE), **own}))
        said = int(re.findall(r"([\d,]+) trials", text)[-1].replace(",", ""))
        assert studies.check(varied_bank, design) == (), title
        assert studies.size(varied_bank, design).trials == said, title


def test_every_key_of_a_block_stands_in_its_table():
    keys = [row for row in BLOCK_KEYS.splitlines() if row.startswith("| `")]
    named = [name for row in keys for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(field.name for field in fields(Block))
    assert all(field.default is None for field in fields(Block) if field.name != "name")


@pytest.mark.parametrize(("of", "text"), [(Design, KEYS), (Context, CONTEXT_KEYS)])
def test_every_key_stands_in_its_table_with_its_default(of, text):
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", text, re.M))
    assert sorted(rows) == sorted(field.name for field in fields(of))
    for field in fields(of):
        said = rows[field.name]
        if said == "required":
            assert field.default is MISSING
            continue
        default = list(field.default) if isinstance(field.default, tuple) else field.default
        words = {"empty": "", "none": None}
        assert (words[said] if said in words else yaml.safe_load(said.strip("`"))) == default

"""docs/templates.md: its example gives the prompt beside it, and its tables name every part."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path

from core.domain.study import Context
from core.domain.templates import PART_PLACEHOLDERS, PromptTemplate, TemplateText
from core.files.templates import read_templates
from core.workflow.banks import editing as banks
from core.workflow.templates import preview
from core.workflow.templates.preview import Sample

DOCS = (Path(__file__).parents[3] / "docs" / "templates.md").read_text(encoding="utf-8")
ROW = r"^\| `(\w+)` \| ([^|]*) \|"


def test_the_example_gives_the_prompt_beside_it(workspace):
    text = re.search(r"```yaml\n(.*?)```", DOCS, re.S).group(1)
    (template,) = read_templates("docs", text.encode()).templates
    bank = banks.content(workspace, "attitudes_20", None)
    sample = Sample(bank, 0, 1, "likert_5", "en", context=Context("p", "You are a baker."))
    shown = re.search(r"```text\nsystem:  (.*?)\nuser:    (.*?)\n```", DOCS, re.S).groups()
    messages = preview.request(workspace, template, sample).messages
    assert [message["content"] for message in messages] == [
        re.sub(r"^ {9}", "", part, flags=re.M) for part in shown
    ]


def test_every_key_and_part_stands_in_its_table_with_its_placeholders():
    _, keys, parts = re.split(r"^## Keys of a template|^## Parts of a text", DOCS, flags=re.M)
    named = [name for name, _ in re.findall(ROW, keys, re.M)]
    assert sorted([*named, "code"]) == sorted(field.name for field in fields(PromptTemplate))
    rows = dict(re.findall(ROW, parts, re.M))
    assert {part: tuple(re.findall(r"\{(\w+)\}", cell)) for part, cell in rows.items()} == dict(
        PART_PLACEHOLDERS
    )
    assert set(rows) == {field.name for field in fields(TemplateText)}
    assert [field.name for field in fields(TemplateText) if field.default is MISSING] == ["single"]

"""The one reader of YAML, and the files that would keep another one busy."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from core.errors import FileError
from core.files.yaml_files import read_yaml, write_yaml
from tests.cpu_time import least_cpu_seconds

ROOT = Path(__file__).parents[2]
BOMB = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}]\n" for old, new in itertools.pairwise("abcdefghijklmnopqrstuv")
)


def test_values_are_those_of_yaml():
    text = "a: 1\nb: [x, 2.5, null, 'yes']\nc:\n  d: |\n    two\n    lines\n"
    assert read_yaml("f", text) == {
        "a": 1,
        "b": ["x", 2.5, None, "yes"],
        "c": {"d": "two\nlines\n"},
    }
    assert read_yaml("f", "# nothing") is None
    numbers = "a: 190:20:30\nb: 1:30\nc: -9\nd: .5\ne: 1.5e+3\nf: 017\ng: 190:20:30.5"
    assert read_yaml("f", numbers) == {
        "a": "190:20:30",
        "b": "1:30",
        "c": -9,
        "d": 0.5,
        "e": 1500.0,
        "f": 15,
        "g": "190:20:30.5",
    }


def test_texts_with_any_line_end_that_files_hold_come_back_as_they_were():
    values = {"b": [f"one{end}two{end}" for end in "\n\r\x85"], "a": "día 🙂"}
    text = write_yaml(values)
    assert read_yaml("f", text) == values
    assert "día 🙂" in text
    assert text.startswith("b:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: " + "[" * 5000, "line 1: too many lists or mappings are nested"),
        ("[" * 5000 + "]" * 5000, "nested"),
        ("{a: " * 5000, "nested"),
        ("- " * 5000 + "x", "nested"),
        ("? " * 5000 + "x", "nested"),
        (BOMB, "line 2: an earlier part is repeated with '*a'"),
        ("a: &a\n  b: *a", "line 2: an earlier part"),
        ("a: " + "0x" + "f" * 200_000, "line 1: a number is too long"),
        ("a: " + "9" * 200_000, "a number is too long"),
        ("a: " + "x" * 3_000_000, "3,000,003 characters; at most 2,000,000"),
        ("a: 1\nb:\n  c: 1\n  c: 2", "line 4: the key 'c' is there twice"),
        ("a: 2024-13-99", "a value cannot be read"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: this is not valid YAML"),
        ('a: "\\ud800"', "half a character"),
        ("a: b: c", "line 1: this is not valid YAML"),
        ("[a]: {? {b: c} : d}", "not valid YAML"),
    ],
)
def test_hostile_texts_are_told_in_one_line_and_at_once(text, words):
    def refuse():
        with pytest.raises(FileError) as raised:
            read_yaml("f.yaml", text)
        assert words in raised.value.problem
        assert raised.value.problem.startswith("f.yaml")
        assert len(str(raised.value)) < 400

    assert least_cpu_seconds(refuse) < 0.5


def test_no_other_code_reads_yaml():
    reading = re.compile(r"yaml\.(safe_load|load|full_load|compose|parse|SafeLoader)\b|Loader\(")
    places = [*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"]
    found = {
        place.name
        for place in places
        if "yaml" in (text := place.read_text(encoding="utf-8")) and reading.search(text)
    }
    # languages.py reads the words of the reader, which are files of the project and of no user
    assert found == {"yaml_files.py", "languages.py"}

"""The command `context`: a set chosen from a file, listed and exported."""

from __future__ import annotations

import json
import shutil

import pytest

from core.__main__ import main
from tests.workflow.contexts.published import arena_rows, jsonl, persona_rows


@pytest.fixture
def run(tmp_path, new_database):
    """Runs verbs on a database of its own; the folder holds a file of a collection."""
    (tmp_path / "arena.jsonl").write_bytes(jsonl(arena_rows(100)))
    database = shutil.copyfile(new_database, tmp_path / "cli.duckdb")
    return lambda *words: main(["--db", str(database), "context", *map(str, words)])


def test_a_set_is_chosen_listed_and_exported_with_its_recipe(run, tmp_path, capsys):
    choices = (
        "--conversation",
        "conversation_a",
        "--language",
        "en",
        "--min-messages",
        4,
        "--crop",
        1,
        "--sample",
        6,
        "--seed",
        5,
        "--stratify",
        "winner",
    )
    assert run("import", tmp_path / "arena.jsonl", "--name", "Talks", *choices) == 0
    told = capsys.readouterr().out
    numbers = [int(line.split()[0]) for line in told.splitlines()[:-1]]
    # 60 of 100 are in English, three of four of these long enough; winners are of two kinds
    assert numbers == [100, 100, 60, 45, 45, 45, 12]
    assert "Saved 12 contexts as 'Talks'." in told
    assert run("list") == 0
    assert "Talks\tconversations\t12\ten\tImported from arena.jsonl" in capsys.readouterr().out
    out = tmp_path / "talks.jsonl"
    assert run("export", "Talks", "--out", out) == 0
    lines = list(map(json.loads, out.read_text("utf-8").splitlines()))
    assert {len(line["messages"]) for line in lines} == {2}
    assert all(line["code"].startswith("q") for line in lines)
    assert run("export", "Talks", "--recipe", "--out", tmp_path / "recipe.json") == 0
    recipe = json.loads((tmp_path / "recipe.json").read_text("utf-8"))
    assert recipe["choices"]["seed"] == 5
    assert [step["count"] for step in recipe["steps"]] == numbers
    assert run("import", out, "--name", "Again") == 0  # a set as Inkblot writes it
    assert run("export", "Again", "--out", tmp_path / "again.jsonl") == 0
    assert (tmp_path / "again.jsonl").read_bytes() == out.read_bytes()


def test_a_name_that_is_taken_needs_a_word(run, tmp_path, capsys):
    (tmp_path / "people.jsonl").write_bytes(jsonl(persona_rows(20)))
    words = ("import", tmp_path / "people.jsonl", "--name", "People")
    assert run(*words) == 0
    assert run(*words) == 2
    assert "--replace" in capsys.readouterr().err
    assert run(*words, "--replace") == 0


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        (("--conversation", "talk"), "There is no column 'talk'|there is no column 'talk'"),
        (("--sample", 0), "--sample 0"),
        (("--crop", -1), "--crop -1"),
        (("--max-messages", 1), "leave no context"),
    ],
)
def test_a_fault_is_one_line_and_saves_nothing(run, tmp_path, capsys, choices, words):
    assert run("import", tmp_path / "arena.jsonl", "--name", "Talks", *choices) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert any(word in error for word in words.split("|"))
    assert run("export", "Talks") == 2

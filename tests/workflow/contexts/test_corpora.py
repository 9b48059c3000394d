"""Sets chosen from published collections, counted by the rules that made the files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter

import pytest

from core.domain.recipes import CorpusChoices, draw, proportional_shares
from core.domain.study import Context, Design, sample_contexts
from core.errors import FileError
from core.workflow.answers import exports
from core.workflow.contexts import corpora, sets
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.contexts.published import arena_rows, in_format, jsonl, persona_rows
from tests.workflow.studies import simulated

ROWS = arena_rows()
SAY = {"role": "user", "content": "Hi"}
REPLY = {"role": "assistant", "content": "Hello"}


def corpus(rows=ROWS, ending="jsonl"):
    data = rows if isinstance(rows, bytes) else in_format(ending, rows)
    return corpora.Corpus(f"arena.{ending}", io.BytesIO(data))


def chosen(file, **choices):
    """The contexts that the choices leave, and the numbers after each step."""
    settings = CorpusChoices(**choices)
    selection = corpora.select(file, settings)
    return corpora.take(file, settings, selection), [step.count for step in selection.steps]


# Layouts.


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "json", "parquet", "csv"])
def test_every_format_gives_the_same_set(ending):
    file = corpus(ROWS[:300], ending)
    guess = corpora.look_at(file).guess
    assert guess == CorpusChoices(
        ("conversation_a", "conversation_b"), code="question_id", language="language"
    )
    contexts, counts = chosen(
        file,
        conversations=("conversation_a",),
        code="question_id",
        language="language",
        languages=("en",),
        exchanges=1,
    )
    assert counts == [300, 300, 180, 180, 180]
    assert contexts[1] == Context(
        "q000002",
        language="en",
        messages=(
            {"role": "user", "content": "Question 2, part 0?"},
            {"role": "assistant", "content": "Reply a 2.0"},
        ),
    )


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet", "csv"])
def test_a_file_of_personas_needs_no_choice(ending):
    file = corpus(persona_rows(), ending)
    guess = corpora.look_at(file).guess
    assert guess == CorpusChoices(persona="persona")
    contexts, counts = chosen(file, persona="persona")
    assert counts == [2000, 2000, 1800]  # every tenth is the one before but for blanks
    assert (contexts[0].code, contexts[0].text) == ("r1", "A person with number 0")
    assert [c.code for c in contexts[8:10]] == ["r9", "r11"]


def test_a_single_column_of_messages_with_parts_is_read():
    reply = {"role": "gpt", "content": [{"type": "text", "text": "Hello"}]}
    row = {"conversation": [{"from": "human", "value": "Hi"}, reply]}
    contexts, _ = chosen(corpus([row]), conversations=("conversation",))
    assert contexts == (Context("r1", messages=(SAY, REPLY)),)


def test_both_halves_of_a_pair_are_contexts_and_begin_alike():
    both = {"conversations": ("conversation_a", "conversation_b"), "code": "question_id"}
    contexts, counts = chosen(corpus(), **both)
    assert counts == [2000, 4000, 4000]
    assert [c.code for c in contexts[:3]] == ["q000000_a", "q000000_b", "q000001_a"]
    contexts, counts = chosen(corpus(), **both, duplicates="first_message")
    assert counts == [2000, 4000, 1000]  # first messages have a period of 1,000 rows
    assert all(c.code.endswith("_a") for c in contexts)


# Filters, in the order of the page.


def test_lengths_are_those_before_cropping():
    contexts, counts = chosen(
        corpus(), conversations=("conversation_a",), least_messages=4, most_messages=4, exchanges=1
    )
    assert counts == [2000, 2000, 1000, 1000, 1000]  # two turns: rows 1 and 3 of each four
    assert {len(c.messages) for c in contexts} == {2}


def test_characters_are_counted_over_all_messages():
    long = [SAY, {"role": "assistant", "content": "x" * 98}]
    rows = [{"conversation": [SAY, REPLY]}, {"conversation": long}]
    file = corpus(rows)
    contexts, _ = chosen(file, conversations=("conversation",), least_characters=100)
    assert [c.code for c in contexts] == ["r2"]
    contexts, _ = chosen(file, conversations=("conversation",), most_characters=99)
    assert [c.code for c in contexts] == ["r1"]


def test_a_last_word_of_the_user_is_cut_and_counted():
    rows = [{"conversation": [SAY, REPLY, SAY]}, {"conversation": [SAY]}]
    file = corpus(rows)
    settings = CorpusChoices(conversations=("conversation",))
    selection = corpora.select(file, settings)
    assert corpora.take(file, settings, selection) == (Context("r1", messages=(SAY, REPLY)),)
    assert selection.remarks == (
        "1 conversation cropped to full exchanges, because the user has the last word",
        "1 conversation left out without a reply",
    )


# Samples.


def test_a_simple_sample_is_that_of_a_set_with_the_same_seed():
    all_of_them, _ = chosen(corpus(), conversations=("conversation_a",))
    drawn, counts = chosen(corpus(), conversations=("conversation_a",), count=300, seed=7)
    assert drawn == sample_contexts(all_of_them, 300, 7)
    assert counts[-1] == 300
    other, _ = chosen(corpus(), conversations=("conversation_a",), count=300, seed=8)
    assert other != drawn


@pytest.mark.parametrize(
    ("allocation", "count", "sizes"),
    [
        ("equal", 50, {"en": 50, "de": 50, "zh": 50}),
        ("proportional", 100, {"en": 60, "de": 20, "zh": 20}),
    ],
)
def test_a_stratified_sample_has_its_number_from_each_group(allocation, count, sizes):
    drawn, _ = chosen(
        corpus(),
        conversations=("conversation_a",),
        language="language",
        count=count,
        stratify="language",
        allocation=allocation,
        seed=3,
    )
    assert Counter(context.language for context in drawn) == sizes
    again, _ = chosen(
        corpus(ending="parquet"),
        conversations=("conversation_a",),
        language="language",
        count=count,
        stratify="language",
        allocation=allocation,
        seed=3,
    )
    assert again == drawn


def test_a_group_that_is_too_small_gives_all_it_has():
    assert draw(["a", "b", "a", "a"], 2, 1, "equal")[1:] != []
    assert len(draw(["a", "b", "a", "a"], 2, 1, "equal")) == 3
    assert draw(["a", "b"], 9, 1, "proportional") == [0, 1]


def test_shares_by_largest_remainder_as_by_hand():
    # 10 of 100: quotas 4.7, 3.3, 1.9, .1; whole parts 4, 3, 1, 0; two left for .9 and .7
    assert proportional_shares({"a": 47, "b": 33, "c": 19, "d": 1}, 10) == {
        "a": 5,
        "b": 3,
        "c": 2,
        "d": 0,
    }


# What is wrong with a file: one message, with its place.


def line(**row):
    return json.dumps(row).encode() + b"\n"


GOOD = line(conversation=[SAY, REPLY], code="a")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD + GOOD[:30], "line 2: the file ends in the middle of the line. .*cut off"),
        (GOOD + b"{oops}\n" + GOOD, "line 2: this is not valid JSON"),
        (GOOD + b"[1]\n", "line 2: this is no object"),
        (GOOD + line(conversation=[]), "line 2: the conversation in .* is empty"),
        (GOOD + line(persona="x"), "line 2: the conversation in .* is empty"),
        (GOOD + line(conversation="Hello"), "line 2: .* holds no list of messages"),
        (GOOD + line(conversation=[{"role": "judge", "content": "x"}]), "has the role 'judge'"),
        (GOOD + line(conversation=[{"role": "user", "content": " "}]), "message 1 .* has no text"),
        (b"", "there is no row|leave no context|no column"),
    ],
)
def test_a_bad_line_stops_the_import_and_is_named(data, words):
    with pytest.raises(FileError, match=words):
        chosen(corpus(data), conversations=("conversation",))


def test_unreadable_texts_can_be_left_out_and_are_counted():
    data = GOOD + line(conversation=[]) + line(conversation=[{"role": "judge", "content": "x"}])
    settings = CorpusChoices(conversations=("conversation",), skip_unreadable=True)
    selection = corpora.select(corpus(data), settings)
    assert selection.count == 1
    assert selection.remarks[0].startswith(
        "2 texts left out that cannot be read; the first: line 2"
    )
    with pytest.raises(FileError, match="line 4: this is not valid JSON"):  # half a file never is
        corpora.select(corpus(data + b"{oops}\n"), settings)


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "json", "parquet", "csv"])
def test_half_a_file_is_refused(ending):
    data = in_format(ending, ROWS[:900])
    with pytest.raises(FileError, match="arena") as raised:
        chosen(corpus(data[: len(data) * 2 // 3 + 1], ending), conversations=("conversation_a",))
    assert "copy or download it again" in raised.value.remedy


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({}, "needs a column .* The columns are: .*conversation_a"),
        ({"conversations": ("talk",)}, "no column 'talk'. The columns are: question_id"),
        ({"conversations": ("winner",)}, "line 1: the column 'winner' holds no list of messages"),
        ({"persona": "conversation_a"}, "line 1: the column 'conversation_a' holds no text"),
        ({"conversations": ("conversation_a",), "code": "winner"}, "'tie' stands twice"),
        ({"conversations": ("conversation_a",), "languages": ("en",)}, "no column that holds"),
        (
            {"conversations": ("conversation_a",), "least_messages": 9, "most_messages": 2},
            "exclude",
        ),
        ({"conversations": ("conversation_a",), "least_messages": 99}, "leave no context"),
    ],
)
def test_choices_that_fit_no_file_are_refused_in_words(choices, words):
    with pytest.raises(FileError, match=words):
        chosen(corpus(), **choices)


def test_more_contexts_than_a_set_holds_need_a_sample(monkeypatch):
    monkeypatch.setattr(corpora, "MAX_CONTEXTS", 100)
    with pytest.raises(FileError, match="2,000 contexts are left; a set holds at most 100"):
        chosen(corpus(), conversations=("conversation_a",))


def test_a_long_cell_of_a_table_is_explained():
    text = io.StringIO()
    csv.writer(text).writerows([["persona"], ["x" * 200_000]])
    with pytest.raises(FileError, match="a cell has more than 131,072 characters"):
        chosen(corpus(text.getvalue().encode(), "csv"), persona="persona")


# The recipe stays with the set and with each study that uses it.


def saved(workspace, **choices):
    file = corpus()
    settings = CorpusChoices(("conversation_a",), **choices)
    selection = corpora.select(file, settings)
    recipe = corpora.recipe_of(file, settings, selection)
    contexts = corpora.take(file, settings, selection)
    sets.save(workspace, "Talks", contexts, made="Imported from arena.jsonl", recipe=recipe)
    return contexts, recipe


def test_a_set_keeps_its_recipe_and_says_when_it_was_changed(workspace):
    contexts, recipe = saved(workspace, count=5, seed=2, exchanges=1)
    assert sets.load_recipe(workspace, "Talks") == recipe
    assert recipe.sha256 == hashlib.sha256(jsonl(ROWS)).hexdigest()
    assert recipe.sentence.startswith(f"From arena.jsonl (SHA-256 {recipe.sha256[:12]}…")
    assert "rows: 2,000; conversations with a reply: 2,000; cropped" in recipe.sentence.lower()
    for fewer in (4, 3):
        sets.save(workspace, "Talks", contexts[:fewer])
    steps = sets.load_recipe(workspace, "Talks").steps
    assert [(s.name, s.count) for s in steps[-2:]] == [
        ("random sample of 5 (seed 2)", 5),
        ("changed by hand", 3),
    ]
    sets.save(workspace, "Talks", contexts, made="Typed in")
    assert sets.load_recipe(workspace, "Talks") is None


def test_a_context_of_several_sets_counts_for_the_set_that_was_used(workspace):
    contexts, recipe = saved(workspace, count=5)
    fewer = sets.derived_recipe(recipe, "3 drawn", 3)
    sets.save(workspace, "Drawn", contexts[:3], made="Made from 'Talks'", recipe=fewer)

    def used(chosen):
        return [(e.set_name, e.n_contexts) for e in sets.recipes_of(workspace, chosen)]

    assert used(contexts) == [("Talks", 5)]
    assert used(contexts[:3]) == [("Drawn", 3)]
    assert used((Context("r1", "Another text."),)) == []


def test_a_study_exports_the_recipes_of_its_contexts(workspace, tmp_path):
    contexts, recipe = saved(workspace, count=5)
    for study, used in (("with", contexts[:2]), ("without", (Context("own", "A nurse."),))):
        catalog.save(workspace, simulated())
        design = Design(study, "attitudes_20", ("Simulated",), contexts=used)
        studies.freeze(workspace, design)
    exports.export_study(workspace, "with", tmp_path / "with")
    (entry,) = json.loads((tmp_path / "with" / "context_recipes.json").read_text("utf-8"))
    assert (entry["set"], entry["contexts"]) == ("Talks", 2)
    assert entry["sha256"] == recipe.sha256
    assert entry["choices"]["seed"] == 1
    assert entry["in_words"] == recipe.sentence
    assert studies.recipe_sentences(workspace, "with") == (
        f"2 contexts of the set 'Talks'. {recipe.sentence}",
    )
    assert studies.recipe_sentences(workspace, "without") == ()
    exports.export_study(workspace, "without", tmp_path / "without")
    assert not (tmp_path / "without" / "context_recipes.json").exists()

"""Prompts are made, texts collected, counted and judged, on a real database and service."""

import json

import pytest

from core.domain.instrument import Instrument, Item, Rating, ResponseFormat, Wording
from core.errors import BankError, NotEnoughData, UserError
from core.files.banks.reading import ImportedBank
from core.workflow.answers import imports, texts
from core.workflow.banks import editing, text_prompts
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service

LETTER = "A letter for {name}, {age}."
PEOPLE = {"name": ["Ann | female", "Bob | male"], "age": ["25", "40", "55"]}


def run(workspace, study):
    control.start(workspace, study)
    return control.wait(workspace, study, every_s=0.02)


def reply(number, body):
    """Letters that differ by name; ratings that count 'sad'; the first rating is prose."""
    prompt = body["messages"][-1]["content"]
    if prompt.startswith("Rate"):
        if "25" in prompt and not reply.told:
            reply.told = True
            return Step(content="Rather sad, I would say a seven.")
        return Step(content=json.dumps({"tragedy": 1 + 3 * prompt.count("sad"), "comedy": 2}))
    return Step(content=f"{prompt} " + ("Kind and sad." if "Ann" in prompt else "Able."))


@pytest.fixture
def server(monkeypatch):
    reply.told = False
    with FaultServer(script=reply) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


@pytest.fixture
def letters(workspace, server):
    text_prompts.create_descriptor_prompts(workspace, "letters", LETTER, PEOPLE, language="en")
    freeze(
        workspace,
        service(server.base_url),
        study="letters",
        bank="letters",
        n_personas=2,
        templates=("free",),
    )
    assert run(workspace, "letters").n_done == 12
    return server


def test_one_prompt_for_each_combination_with_its_descriptors_as_tags(workspace):
    bank = text_prompts.create_descriptor_prompts(
        workspace, "letters", LETTER, PEOPLE, language="en"
    )
    assert [item.text("en") for item in bank.items][:2] == [
        "A letter for Ann, 25.",
        "A letter for Ann, 40.",
    ]
    assert bank.items[5].tags == ("name=Bob", "name.2=male", "age=55")
    assert len(bank.items) == 6


def test_rows_of_people_are_crossed_with_descriptors_and_become_attributes(workspace):
    people = text_prompts.parse_people("People", "name,age,gender\nAnn,31,female\nBob,52,male\n")
    bank = text_prompts.create_descriptor_prompts(
        workspace,
        "letters",
        "Praise {name}, {age}, a {job}.\n---\nBlame {name}, a {job}.",
        {"job": ["cook", "judge"]},
        people=people,
        language="en",
    )
    assert len(bank.items) == 2 * 2 * 2
    last = bank.items[-1]
    assert last.text("en") == "Blame Bob, a judge."
    assert last.attributes == {
        "name": "Bob",
        "age": 52,
        "gender": "male",
        "job": "judge",
        "instruction": 2,
    }
    assert "gender=male" in last.tags


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("name,age\nAnn,\n", "line 2: the column 'age' is empty"),
        ("name,first name\nAnn,Bo\n", "'first name' cannot be a placeholder"),
        ("name,age\nAnn\n", "line 2: there are 1 cells"),
        ("name,name\nAnn,Bo\n", "two columns are called 'name'"),
        ("name\n", "no row below the names"),
    ],
)
def test_a_table_of_people_with_a_fault_is_refused_with_its_line(table, words):
    with pytest.raises(UserError, match=words):
        text_prompts.parse_people("People", table)


@pytest.mark.parametrize(
    ("text", "levels", "words"),
    [
        ("A letter for {name} at {place}.", {"name": ["Ann"]}, "names {place}, which has no"),
        ("A letter.", {"name": ["Ann"]}, "does not name {name}"),
        ("A letter for {name}.", {"name": [str(n) for n in range(20_001)]}, "20,001 prompts"),
    ],
)
def test_prompts_that_cannot_be_made_are_refused_and_nothing_is_kept(
    workspace, text, levels, words
):
    from core.workflow.banks import editing

    before = len(editing.summaries(workspace))
    with pytest.raises(BankError, match=words):
        text_prompts.create_descriptor_prompts(workspace, "x", text, levels, language="en")
    assert len(editing.summaries(workspace)) == before


def test_words_are_counted_in_the_texts_as_written(workspace, letters):
    counts = texts.count_words(workspace, "letters", {"warm": ["kind", "sad"], "able": ["able"]})
    assert len(counts) == 12
    by_name = counts.groupby("name.2")[["warm", "able"]].sum()
    assert by_name.to_dict() == {
        "warm": {"female": 12, "male": 0},
        "able": {"female": 0, "male": 6},
    }


def test_counting_without_texts_says_what_to_do(workspace, server):
    text_prompts.create_descriptor_prompts(workspace, "letters", LETTER, PEOPLE, language="en")
    freeze(
        workspace,
        service(server.base_url),
        study="letters",
        bank="letters",
        n_personas=0,
        templates=("free",),
    )
    with pytest.raises(NotEnoughData, match="No text has been collected"):
        texts.count_words(workspace, "letters", {"warm": ["kind"]})


def test_a_judge_is_asked_again_once_where_its_reply_is_no_rating(workspace, letters):
    qualities = (Rating("tragedy", 1, 10), Rating("comedy", 1, 10))
    bank = texts.create_judge_bank(workspace, "letters", "Rate this text.\n{text}", qualities)
    freeze(
        workspace,
        service(letters.base_url, at_once=1),
        study="judged",
        bank=bank.code,
        n_personas=0,
        templates=("free",),
        ask_again=1,
    )
    done = run(workspace, "judged")
    assert (done.n_done, done.n_attempts) == (12, 13)
    rated = texts.load_ratings(workspace, "judged")
    means = texts.ratings_by_level(rated, "name", "tragedy").set_index("name")
    assert means["mean"].to_dict() == {"Ann": 4.0, "Bob": 1.0}
    assert means["n"].tolist() == [6, 6]
    assert set(rated["status"]) == {"answered"}


def test_prose_stays_missing_where_a_judge_is_not_asked_again(workspace, letters):
    bank = texts.create_judge_bank(
        workspace, "letters", "Rate this text.\n{text}", (Rating("tragedy", 1, 10),)
    )
    freeze(
        workspace,
        service(letters.base_url, at_once=1),
        study="judged",
        bank=bank.code,
        n_personas=0,
        templates=("free",),
    )
    run(workspace, "judged")
    rated = texts.load_ratings(workspace, "judged")
    assert rated["status"].value_counts().to_dict() == {"answered": 11, "no_answer": 1}
    assert rated["tragedy"].isna().sum() == 1


def test_braces_in_a_text_are_text_to_the_judge(workspace, monkeypatch):
    with FaultServer(script=lambda n, body: Step(content="{entity} and {item}: {}")) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        text_prompts.create_descriptor_prompts(workspace, "letters", LETTER, PEOPLE, language="en")
        freeze(
            workspace,
            service(server.base_url),
            study="letters",
            bank="letters",
            n_personas=0,
            templates=("free",),
        )
        run(workspace, "letters")
        bank = texts.create_judge_bank(workspace, "letters", "Rate: {text}", (Rating("a", 1, 10),))
        freeze(
            workspace,
            service(server.base_url),
            study="judged",
            bank=bank.code,
            n_personas=0,
            templates=("free",),
        )
        run(workspace, "judged")
        assert server.chats[-1].body["messages"][-1]["content"] == "Rate: {entity} and {item}: {}"


def test_the_correlation_of_levels_with_mean_ratings_by_hand():
    import pandas as pd

    frame = pd.DataFrame(
        {"second": ["0", "0", "1", "2", "x"], "tragedy": [1.0, 3.0, 4.0, 6.0, 9.0]}
    )
    correlation, levels = texts.level_correlation(frame, "second", "tragedy")
    assert levels == 3
    assert correlation == pytest.approx(1.0, abs=1e-12)  # means 2, 4, 6
    assert texts.level_correlation(frame.head(3), "second", "tragedy")[1] == 2


def test_imported_texts_are_scored_like_collected_ones(workspace):
    free = ResponseFormat("free_text", ())
    letters = tuple(
        Item(f"{who}{n}", (Wording("en", f"A letter for {who} {n}"),), tags=(f"gender={who}",))
        for who in ("male", "female")
        for n in range(2)
    )
    words = tuple(
        Item(entry, (Wording("en", entry),), name)
        for name, entry in (("agentic", "leader"), ("communal", "kind"))
    )
    for code, items, kind in (("letters", letters, "prompts"), ("lists", words, "words")):
        editing.import_bank(
            workspace, ImportedBank(Instrument(code, code, items, (free,), ("en",), kind=kind))
        )
    rows = [
        f"letters,{item.code},text,m,c{c},free_text,{text}"
        for c in range(4)
        for item in letters
        for text in ["leader kind word word" if item.code[0] == "m" else "leader kind kind word"]
    ]
    head = "instrument,item,answer,model,context,format,raw"
    imports.import_tidy(workspace, "l.csv", "\n".join([head, *rows]).encode(), study="letters")
    assert texts.text_studies(workspace) == ("letters",)
    options = {"lists": "lists", "first": "male", "first_lists": "agentic"}
    found = analyses.run(workspace, "odds_ratios", ["letters"], options, {})
    scores = next(table for table in found.tables if table.name == "scores").frame
    assert scores["or_agentic"].tolist() == pytest.approx([1.0] * 4)
    assert scores["or_communal"].tolist() == pytest.approx([(2 / 2) / (1 / 3)] * 4)


def test_a_study_of_options_is_no_study_of_texts(workspace):
    imports.import_tidy(workspace, "a.csv", b"item,answer\nq1,1\nq2,2\n", study="plain")
    with pytest.raises(NotEnoughData, match="'plain' did not ask for texts"):
        analyses.run(workspace, "odds_ratios", ["plain"], {}, {})


@pytest.mark.parametrize(
    ("rubric", "qualities", "words"),
    [
        ("Rate {story}: {text}", (Rating("a", 1, 10),), "names {story}, which no prompt has"),
        ("Rate {text}", (Rating("a", 1, 10), Rating("A", 1, 5)), "'A' stands twice"),
        ("Rate {text}", (Rating("a", 5, 5),), "ends where it begins"),
        ("Rate it", (Rating("a", 1, 5),), "where the text stands"),
    ],
)
def test_a_rubric_that_cannot_be_asked_is_refused(workspace, letters, rubric, qualities, words):
    with pytest.raises(BankError, match=words):
        texts.create_judge_bank(workspace, "letters", rubric, qualities)
    assert "judge_letters" not in {bank.code for bank in editing.summaries(workspace)}


def test_a_rubric_names_descriptors_of_the_prompt_and_holds_json(workspace, letters):
    rubric = 'Rate {name} ({name}) as {"warmth": 3}:\n{text}'
    bank = texts.create_judge_bank(workspace, "letters", rubric, (Rating("warmth", 1, 10),))
    first = bank.items[0]
    assert first.text("en").startswith('Rate Ann (Ann) as {"warmth": 3}:\nA letter for Ann')
    assert first.attributes == {"name": "Ann", "age": 25}


def test_lists_of_words_become_a_bank_with_a_subscale_for_each(workspace):
    text = "# a remark\nwarm: kind*, team player\nable: skill*"
    bank = text_prompts.create_word_lists(workspace, "own", text, language="en")
    assert texts.word_lists_of(bank) == {"warm": ["kind*", "team player"], "able": ["skill*"]}
    for fault in ("warm kind", "warm:", "warm: k*d", "warm: a\nwarm: b", ""):
        with pytest.raises(BankError, match=r"Type: name|Write \*"):
            text_prompts.create_word_lists(workspace, "other", fault, language="en")

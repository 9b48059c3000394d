"""Prompts for stories: groups of words from lists, and from the classes of a word study."""

from __future__ import annotations

from collections import Counter

import pytest

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.errors import BankError, NotEnoughData
from core.files.banks.reading import ImportedBank
from core.workflow.answers import imports, texts
from core.workflow.banks import editing, stories
from core.workflow.designs import prepared
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.workflow.studies import finished, freeze, simulated

SIGNS = {"+": "comedy", "-": "tragedy", "0": ""}


def word_study(workspace, answers, *, study="tests", extra=(), rows=None):
    """An imported study of words: answers maps a word to its signs over the tests, such as "+-"."""
    words = [*answers, *extra]
    items = tuple(
        Item(f"w{number}", (Wording("en", word.rstrip("'")),)) for number, word in enumerate(words)
    )
    bank = Instrument("list", "List", items, (BUILT_IN["comedy_tragedy"],), ("en",), kind="words")
    editing.import_bank(workspace, ImportedBank(bank))
    lines = ["instrument,item,model,language,format,repetition,answer,status"]
    lines += [
        f"list,w{words.index(word)},m,en,comedy_tragedy,{test},{SIGNS[sign]},"
        + ("no_answer" if sign == "0" else "")
        for word, signs in answers.items()
        for test, sign in enumerate(signs, 1)
    ]
    imports.import_tidy(workspace, "w.csv", "\n".join(lines).encode(), study=study)
    return study


def test_stories_hold_as_many_words_of_the_second_list_as_their_tag_says(workspace):
    first, second = ([f"{name}{n}" for n in range(9)] for name in ("joy", "woe"))
    bank = stories.create_story_prompts(
        workspace, "stories", first, second, language="en", size=3, groups=4, seed=7
    )
    assert len(bank.items) == 16
    for item in bank.items:
        words = item.text("en").split(": ")[1].rstrip(".").split(", ")
        assert len(set(words)) == 3
        assert item.tags == (f"second={sum(word.startswith('woe') for word in words)}",)
    again = stories.create_story_prompts(
        workspace, "stories", first, second, language="en", size=3, groups=4, seed=7
    )
    assert [i.text("en") for i in again.items] == [i.text("en") for i in bank.items]


def test_stories_take_an_own_instruction_and_one_list_alone(workspace):
    words = [f"w{n}" for n in range(9)]
    bank = stories.create_story_prompts(
        workspace,
        "stories",
        words,
        language="en",
        size=4,
        groups=6,
        seed=2,
        text="A tale of {words}, please.",
    )
    assert len(bank.items) == 6
    groups = [i.text("en").removeprefix("A tale of ").split(", ")[:-1] for i in bank.items]
    assert all(len(set(group)) == 4 and set(group) <= set(words) for group in groups)
    with pytest.raises(BankError, match="and no other placeholder"):
        stories.create_story_prompts(
            workspace, "stories", words, language="en", text="A tale of {words} by {name}."
        )


def test_words_of_the_second_list_are_no_words_of_the_first(workspace):
    every = [f"w{n}" for n in range(10)]
    bank = stories.create_story_prompts(
        workspace, "stories", every, every[:5], language="en", size=3, groups=9
    )
    for item in bank.items:
        words = item.text("en").split(": ")[1].rstrip(".").split(", ")
        assert item.attributes == {"second": len(set(words) & set(every[:5]))}


ANSWERS = (
    {f"joy{n}": "++" for n in range(6)}
    | {f"woe{n}": "--" for n in range(5)}
    | {"bank": "+-", "thing": "00", "or": "+0", "late": "+", "run": "++", "run'": "--"}
)


def test_words_of_a_study_are_those_with_the_same_label_in_all_tests(workspace):
    found = stories.study_words(workspace, word_study(workspace, ANSWERS), "m", "en")
    assert found.positive == tuple(f"joy{n}" for n in range(6))  # run is also negative
    assert found.negative == tuple(f"woe{n}" for n in range(5))
    assert (found.n_words, found.tests, found.untested) == (17, 2, 1)
    assert stories.word_studies(workspace) == ("tests",)
    with pytest.raises(BankError, match=r"has no answer of m in German \(Deutsch, de\)"):
        stories.study_words(workspace, "tests", "m", "de")


def test_stories_of_a_study_hold_0_to_5_negative_words_100_times_each(workspace):
    words = stories.study_words(workspace, word_study(workspace, ANSWERS), "m", "en")
    bank = stories.create_stories_of_study(workspace, "tales", words, seed=3)
    assert len(bank.items) == 600
    assert bank.kind == "prompts"
    for item in bank.items:
        group = item.text("en").split(": ")[1].rstrip(".").split(", ")
        woes = sorted(word for word in group if word.startswith("woe"))
        own = item.attributes
        assert len(set(group)) == 5
        assert set(group) <= set(words.positive) | set(words.negative)
        assert own["negative_words"] == len(woes)
        assert item.tags == (f"negative_words={len(woes)}",)
        assert sorted(filter(None, own.get("words_negative", "").split(", "))) == woes
        assert sorted([*filter(None, own.get("words_positive", "").split(", ")), *woes]) == sorted(
            group
        )
    counts = Counter(item.attributes["negative_words"] for item in bank.items)
    assert counts == dict.fromkeys(range(6), 100)
    again = stories.create_stories_of_study(workspace, "tales", words, seed=3)
    other = stories.create_stories_of_study(workspace, "others", words, seed=4)
    asked = [[item.text("en") for item in one.items] for one in (bank, again, other)]
    assert asked[0] == asked[1] != asked[2]
    assert "consistently negative in the study tests (of m in English (en))" in bank.description


@pytest.mark.parametrize(
    ("answers", "size", "problem", "advice"),
    [
        (
            ANSWERS,
            6,
            "5 consistently negative words of m in English (en); a group of 6 needs 6",
            "a test",
        ),
        ({"joy": "++", "woe": "--"}, 2, "1 consistently positive word of m", "smaller groups"),
        ({"": "++", "woe": "--"}, 1, "0 consistently positive words", "texts of the words"),
    ],
)
def test_a_set_with_too_few_words_is_named_with_its_size(workspace, answers, size, problem, advice):
    words = stories.study_words(workspace, word_study(workspace, answers), "m", "en")
    with pytest.raises(BankError) as refused:
        stories.create_stories_of_study(workspace, "tales", words, size=size, groups=2)
    assert problem in str(refused.value)
    assert advice in str(refused.value)
    assert "tales" not in {bank.code for bank in editing.summaries(workspace)}


def test_a_word_study_that_is_not_asked_yet_says_so(workspace):
    freeze(
        workspace,
        simulated(),
        study="words",
        bank="words_en_5000",
        n_personas=0,
        items=("w0001", "w0002"),
        formats=("comedy_tragedy",),
    )
    assert stories.word_studies(workspace) == ("words",)
    with pytest.raises(BankError, match="Run the study first"):
        stories.study_words(workspace, "words", "Simulated", "en")


def test_stories_of_a_word_study_are_judged_and_their_ratings_follow_the_words(workspace):
    answers = {f"joy{n}": "++" for n in range(5)} | {f"woe{n}": "--" for n in range(5)}
    words = stories.study_words(workspace, word_study(workspace, answers), "m", "en")
    stories.create_stories_of_study(workspace, "tales", words, size=3, groups=4)
    freeze(
        workspace,
        simulated("Writer"),
        study="tales",
        bank="tales",
        n_personas=0,
        templates=("free",),
    )
    with pytest.raises(NotEnoughData, match="under Rate by a judge"):
        analyses.run(workspace, "story_validity", ["tales"], {}, {})
    control.start(workspace, "tales")
    finished(workspace, "tales")
    bank = texts.create_judge_bank(workspace, "tales", texts.STORY_RUBRIC, texts.STORY_RATINGS)
    fields = prepared.text_fields(workspace, bank.code)
    assert (fields["templates"], fields["ask_again"], fields["languages"]) == (["free"], 1, ["en"])
    assert prepared.text_fields(workspace, "tales")["ask_again"] == 0
    with pytest.raises(BankError, match="'list' asks for no texts"):
        prepared.text_fields(workspace, "list")
    freeze(
        workspace,
        simulated("Judge", refusal_rate=0.2),
        study="judged",
        bank=bank.code,
        n_personas=0,
        templates=("free",),
    )
    unasked = analyses.run(workspace, "story_validity", ["judged"], {}, {})
    assert (unasked.n_used, unasked.n_missing) == (0, 16)
    control.start(workspace, "judged")
    finished(workspace, "judged")
    result = analyses.run(workspace, "story_validity", ["judged"], {}, {})
    found = {table.name: table.frame for table in result.tables}
    assert found["levels"]["number"].tolist() == [0, 1, 2, 3] * 2
    (counts,) = found["outcomes"].to_dict("records")
    assert (counts["writer"], counts["respondent"], counts["stories"]) == ("Writer", "Judge", 16)
    assert counts["rated"] + counts["no_json"] == 16
    assert counts["no_json"] > 0
    r = found["correlations"].set_index(["quality", "of"])["r"]
    assert r["tragedy", "single stories"] > 0.5
    assert r["comedy", "single stories"] < -0.5
    with pytest.raises(NotEnoughData, match="In the study 'tests' no judge rated texts"):
        analyses.run(workspace, "story_validity", ["tests"], {}, {})
    few = analyses.run(workspace, "story_validity", ["judged"], {}, {"item.negative_words": ["3"]})
    assert any("all stories have 3 in negative_words" in line for line in few.cautions)

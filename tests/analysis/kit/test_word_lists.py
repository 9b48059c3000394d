import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.kit.word_lists import stereotype_scores, word_counts

LISTS = {"warm": ["kind", "help"], "able": ["smart"]}


def test_words_count_from_their_start_without_regard_to_case_and_once():
    counts = word_counts(["Kind, kindly unkind HELPFUL people.", "", "smartest-ever smart"], LISTS)
    assert counts.to_dict("list") == {"words": [5, 0, 2], "warm": [3, 0, 0], "able": [0, 0, 2]}


def test_entries_are_text_and_never_patterns():
    assert word_counts(["a.c abc a.c"], {"x": ["a.c"]})["x"].tolist() == [2]


def test_a_hyphenated_word_counts_by_its_parts_and_once():
    texts = ["self-helping kind-kindly help's un-kind kind—help"]
    found = word_counts(texts, LISTS | {"two words": ["kind help", "self-h"]})
    # a dash parts words: self-helping, kind-kindly, help's, un-kind, kind, help
    assert found.to_dict("list") == {"words": [6], "warm": [6], "able": [0], "two words": [1]}


def test_entries_of_two_words_leave_the_others_of_their_list_alone():
    assert word_counts(["kind-kindly"], {"x": ["hard work", "kind"]})["x"].tolist() == [1]
    lists = {"x": ["hard work", "KIND"], "y": ["hard work"], "none": [], "blank": [" "]}
    found = word_counts(["Hard workers are kind to hard-hearted work, hardly.", "kind"], lists)
    assert found.drop(columns="words").to_dict("list") == {
        "x": [2, 1],
        "y": [1, 0],
        "none": [0, 0],
        "blank": [0, 0],
    }


@given(
    st.lists(st.text("abAB -é.,'", max_size=30), max_size=4),
    st.lists(st.text("abé", min_size=1, max_size=2), max_size=4),
)
def test_counts_are_those_of_reading_word_by_word(texts, entries):
    def hits(text):
        words = "".join(c.lower() if c.isalpha() else c for c in text)
        for mark in " .,":
            words = words.replace(mark, "|")
        parts = [word.replace("'", "-").split("-") for word in words.split("|")]
        return sum(any(p.startswith(e) for p in own for e in entries) for own in _joined(parts))

    def _joined(parts):
        # an empty part is a mark without a letter beside it, which parts words like a blank
        for own in parts:
            run = []
            for part in own:
                if part:
                    run.append(part)
                else:
                    yield run
                    run = []
            yield run

    assert word_counts(texts, {"x": entries})["x"].tolist() == [hits(text) for text in texts]


def test_scores_pool_the_texts_of_a_context_and_average_the_lists():
    counts = pd.DataFrame(
        {
            "context": ["c1"] * 4 + ["c2"] * 2,
            "gender": ["f", "f", "m", "m", "f", "m"],
            "words": [50, 50, 100, 0, 10, 10],
            "warm": [3, 1, 2, 0, 1, 0],
            "able": [1, 0, 2, 0, 1, 1],
        }
    )
    found = stereotype_scores(
        counts, unit=["context"], group="gender", levels=("f", "m"), sides={"warm": 0, "able": 1}
    ).set_index("context")
    warm, able = (4 / 96) / (2 / 98), (2 / 98) / (1 / 99)
    assert found.loc["c1", "or_warm"] == pytest.approx(warm, abs=1e-12)
    assert found.loc["c1", "or_able"] == pytest.approx(able, abs=1e-12)
    logs = math.log(4.5 / 96.5 / (2.5 / 98.5)), math.log(2.5 / 98.5 / (1.5 / 99.5))
    assert found.loc["c1", ["log_warm", "log_able"]].tolist() == pytest.approx(logs, abs=1e-12)
    assert found.loc["c1", "score"] == pytest.approx(sum(logs) / 2, abs=1e-12)
    assert found.loc["c1", "texts"] == 4
    assert math.isnan(found.loc["c2", "or_warm"])
    assert math.isfinite(found.loc["c2", "score"])  # half a word more in each count


def test_units_stay_in_their_order_and_one_without_a_group_has_no_score():
    counts = pd.DataFrame(
        {
            "respondent": pd.Categorical(["b", "b", "a", "a"], categories=["a", "b", "unused"]),
            "context": ["", "", "", ""],
            "gender": ["f", "m", "m", "neither"],
            "words": [10, 10, 10, 10],
            "warm": [1, 1, 1, 1],
        }
    )
    found = stereotype_scores(
        counts,
        unit=["respondent", "context"],
        group="gender",
        levels=("f", "m"),
        sides={"warm": 0},
    )
    assert found["respondent"].tolist() == ["b", "a"]
    assert found["texts"].tolist() == [2, 1]
    assert found["or_warm"].tolist() == pytest.approx([1, math.nan], nan_ok=True)
    assert found["score"].tolist() == pytest.approx([0, math.nan], nan_ok=True)


def test_a_star_makes_the_other_entries_of_its_list_whole_words():
    texts = ["Kindly, a kind leader leads well-kind leadership", "team players, a team player"]
    counts = word_counts(texts, {"stars": ["kind", "lead*"], "plain": ["kind", "lead"]})
    # whole: kind and the part of well-kind; beginnings: leader, leads, leadership
    assert counts["stars"].tolist() == [5, 0]
    assert counts["plain"].tolist() == [6, 0]
    phrases = {"whole": ["team player", "x*"], "begin": ["team player*"]}
    counts = word_counts(texts, phrases)
    assert (counts["whole"].tolist(), counts["begin"].tolist()) == ([0, 1], [0, 2])

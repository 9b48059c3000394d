from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.opinion_values import (
    OPPOSING,
    answer_counts,
    of_phase,
    opinion_table,
    shift_table,
    unanswered_cautions,
)
from core.errors import NotEnoughData
from tests.analysis.opinion_frames import opinions

NAN = float("nan")


def test_answers_count_by_stance_in_the_direction_of_the_form():
    """8 yes to the question itself, 1 yes and 1 no to its negation: yes 9, no 1."""
    frame = pd.concat(
        [opinions([("q1", 8, 0, 0)]), opinions([("q1", 1, 1, 0)]).assign(direction=-1)]
    )
    counts = answer_counts(frame, ("respondent",))
    assert (counts.yes.tolist(), counts.no.tolist(), counts.zero.tolist()) == ([[9]], [[1]], [[0]])


def test_replies_without_an_option_are_neither_yes_nor_no_or_left_out():
    """4 yes, 4 refused: b = .5 and Var = (4 - 8 · .25) / 7 as published, b = 1 without them."""
    frame = opinions([("q1", 4, 0, 0)], refused=4, not_asked=3, error=2)
    counts = answer_counts(frame, ("respondent",), "zero")
    assert counts.n.tolist() == [[8]]
    assert (counts.unusable.tolist(), counts.without_reply) == ([[4]], 5)
    published = opinion_table(frame, ("respondent",), unusable="zero").values
    assert published.bias[0, 0] == 0.5
    assert published.variance[0, 0] == pytest.approx(2 / 7)
    assert answer_counts(frame, ("respondent",)).n.tolist() == [[4]]
    assert opinion_table(frame, ("respondent",)).values.bias[0, 0] == 1


def test_an_answer_in_the_middle_is_zero_and_one_without_a_stance_is_left_out():
    frame = opinions([("q1", 3, 0, 1)], without_stance=2)
    counts = answer_counts(frame, ("respondent",))
    assert (counts.zero.tolist(), counts.without_stance) == ([[1]], 2)
    assert opinion_table(frame, ()).values.bias[0, 0] == 0.75


def test_groups_and_items_keep_their_order_and_gaps_are_undefined():
    frame = pd.concat(
        [
            opinions([("q2", 1, 3, 0), ("q1", 4, 0, 0)], language="en"),
            opinions([("q1", 2, 2, 0)], language="de"),
        ]
    ).astype({"respondent": "category", "item": "category"})
    table = opinion_table(frame, ("respondent", "language"))
    assert table.counts.groups == (("gpt", "en"), ("gpt", "de"))
    assert table.questions == ("q2", "q1")
    assert table.values.bias.tolist()[0] == [-0.5, 1]
    assert np.isnan(table.values.bias[1, 0])
    assert unanswered_cautions(table) == []  # the German group has no such question


def test_groups_stand_by_the_levels_of_each_factor():
    """Trials come in a random order; languages of one respondent stand together all the same."""
    came = [("a", "en"), ("b", "fr"), ("b", "en"), ("a", "fr")]
    frame = pd.concat(
        [opinions([("q", k + 1, 4, 0)], respondent=r, language=n) for k, (r, n) in enumerate(came)]
    )
    table = opinion_table(frame, ("respondent", "language"))
    assert table.counts.groups == (("a", "en"), ("a", "fr"), ("b", "en"), ("b", "fr"))
    assert table.counts.yes.ravel().tolist() == [1, 4, 3, 2]


def test_a_question_without_an_answer_or_with_one_is_named():
    frame = opinions([("q1", 3, 0, 0), ("q2", 1, 0, 0)])
    frame = pd.concat([frame, opinions([("q3", 0, 0, 0)], not_asked=4)])
    assert unanswered_cautions(opinion_table(frame, ("respondent",))) == [
        "gpt: question q3: no answer, so no value.",
        "gpt: question q2: one answer, so no variance and no willingness.",
    ]


PAIR = [("ab", 9, 1, 0, "ba"), ("q", 4, 6, 0), ("ba", 2, 8, 0, "ab"), ("c", 5, 5, 0, "gone")]


def test_pairs_that_name_each_other_are_merged():
    table = opinion_table(opinions(PAIR), ("respondent",))
    assert (table.questions, table.exchanged) == (("ab", "q", "c"), ("ba", "", ""))
    assert table.values.bias[0] == pytest.approx([0.7, -0.2, 0])
    assert table.values.n.tolist() == [[20, 10, 10]]
    single = opinion_table(opinions(PAIR), ("respondent",), pairs="single")
    assert single.questions == ("ab", "q", "ba", "c")
    assert single.units.tolist() == [0, 1, 0, 2]  # both directions are drawn as one
    assert table.units.tolist() == [0, 1, 2]


def phases(initial, opposing, **factors):
    return pd.concat(
        [
            opinions(initial, phase="initial", **factors),
            opinions(opposing, phase="opposing", **factors),
        ]
    )


def test_shifts_of_both_directions_are_averaged():
    """ab from .8 to -.2: 1; ba from -.6 to 0: .6; merged .8. q from -.2 to .6: .8."""
    after = [("ab", 4, 6, 0, "ba"), ("q", 8, 2, 0), ("ba", 5, 5, 0, "ab"), ("c", 2, 8, 0, "gone")]
    merged = shift_table(phases(PAIR, after), ("respondent",))
    assert merged.shift[0] == pytest.approx([0.8, 0.8, 0.6])
    assert merged.opposing.values.bias[0] == pytest.approx([-0.1, 0.6, -0.6])
    single = shift_table(phases(PAIR, after), ("respondent", "phase"), pairs="single")
    assert single.shift[0] == pytest.approx([1, 0.8, 0.6, 0.6])
    assert single.initial.counts.by == ("respondent",)


def test_phases_with_different_items_have_the_same_columns():
    table = shift_table(
        phases([("a", 4, 0, 0), ("b", 4, 0, 0)], [("b", 0, 4, 0), ("c", 4, 0, 0)]), ()
    )
    assert table.initial.questions == table.opposing.questions == ("a", "b", "c")
    assert np.isnan(table.shift[0]).tolist() == [True, False, True]
    assert table.shift[0, 1] == 2


def test_one_phase_alone_says_what_to_do():
    with pytest.raises(NotEnoughData, match="second phase") as caught:
        shift_table(opinions(PAIR, phase="initial"), ("respondent",))
    assert "page Collect" in caught.value.remedy
    planned = phases(PAIR, [])
    planned = pd.concat([planned, opinions([("q", 0, 0, 0)], not_asked=3, phase="opposing")])
    with pytest.raises(NotEnoughData, match="second phase"):
        shift_table(planned, ("respondent",))
    with pytest.raises(NotEnoughData, match="first phase"):
        shift_table(opinions(PAIR, phase="opposing"), ("respondent",))
    with pytest.raises(NotEnoughData, match="second phase"):
        shift_table(opinions(PAIR), ("respondent",))  # answers without a phase are the first


def test_of_phase_keeps_groups_and_items():
    both = phases([("a", 4, 0, 0)], [("a", 1, 3, 0)])
    second = of_phase(both, OPPOSING)
    assert len(second) == len(both)
    assert answer_counts(second, ()).no.tolist() == [[3]]


def test_options_without_any_stance_and_unknown_factors_are_said_plainly():
    with pytest.raises(NotEnoughData, match="state no stance"):
        opinion_table(opinions([("q1", 0, 0, 0)], without_stance=4), ("respondent",))
    with pytest.raises(NotEnoughData, match="have no factor entity"):
        opinion_table(opinions(PAIR), ("entity",))
    with pytest.raises(NotEnoughData, match="no answers yet"):
        opinion_table(opinions(PAIR).iloc[:0], ("respondent",))

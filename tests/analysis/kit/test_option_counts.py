from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.option_counts import answer_sides, option_places
from core.errors import NotEnoughData
from tests.analysis.score_frames import option_counts

NAN = float("nan")


def answers(stances, **factors):
    """Ten answers of each stance to one item, as many options as stances."""
    rows = [("i1", str(n), n + 1, n, False, 10) for n in range(len(stances))]
    return option_counts(rows, **factors).assign(stance=np.array(stances, dtype=float))


def numbers(frame, **options):
    sides = answer_sides(frame, ("item",), **options)
    return sides[["positive", "negative", "n", "neutral", "no_side", "unusable"]].iloc[0].tolist()


def test_a_yes_is_a_positive_stance_and_an_option_without_one_has_no_side():
    frame = pd.concat([answers([1, -1, NAN]), option_counts([("i1", "refused", 9, NAN, True, 4)])])
    assert numbers(frame) == [10, 10, 20, 0, 10, 4]


def test_the_midpoint_counts_as_the_rule_says():
    frame = answers([-1, 0, 1])
    heads = frame.assign(coin=[NAN, 1.0, NAN])
    assert numbers(heads) == [20, 10, 30, 10, 0, 0]
    assert numbers(heads, midpoint="half") == [15, 15, 30, 10, 0, 0]
    assert numbers(heads, midpoint="drop") == [10, 10, 20, 10, 0, 0]
    assert numbers(heads.assign(midpoint="half")) == [15, 15, 30, 10, 0, 0]
    assert numbers(heads.assign(midpoint="half"), midpoint="coin") == [20, 10, 30, 10, 0, 0]


def test_a_negated_form_and_a_reversed_item_turn_the_side():
    frame = answers([1]).assign(direction=-1, keyed=-1)
    assert numbers(frame, direction="chosen")[:2] == [10, 0]
    assert numbers(frame, direction="form")[:2] == [0, 10]
    assert numbers(frame, direction="keyed")[:2] == [10, 0]


def test_cells_are_in_order_of_first_appearance_and_sum_what_lies_within():
    asked = [("b", "de"), ("a", "en"), ("b", "en")]
    parts = [option_counts([(i, "yes", 1, 1, False, 3)], language=lang) for i, lang in asked]
    frame = pd.concat(parts).assign(stance=1.0)
    sides = answer_sides(frame, ("item",))
    assert sides[["item", "n"]].values.tolist() == [["b", 6], ["a", 3]]
    assert len(answer_sides(frame, ("item", "language"))) == 3


def test_no_answers_and_an_unknown_factor_are_said():
    with pytest.raises(NotEnoughData, match="no answers"):
        answer_sides(answers([1]).iloc[:0], ("item",))
    with pytest.raises(NotEnoughData, match="no factor phase"):
        answer_sides(answers([1]), ("phase",))


def test_an_option_lies_between_the_ends_of_its_format_and_a_negated_form_turns_it():
    """Of 1 to 5, 2 is a quarter of the way up, and for a negation three quarters."""
    frame = pd.DataFrame(
        {
            "points": [2.0, 2, NAN, 3],
            "lowest": [1.0, 1, 1, 3],
            "highest": [5.0, 5, 5, 3],
            "direction": [1, -1, -1, 1],
        }
    )
    np.testing.assert_array_equal(option_places(frame), [0.25, 0.75, NAN, NAN])

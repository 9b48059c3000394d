from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.quality.invalid_answers import invalid_answers
from core.domain.frames import ATTEMPT_COUNTS, check_frame
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.examples import few_examples
from tests.unit_intervals import wilson_of_units

# item, number of the reply, outcome, final, count, tokens of each
ROWS = [
    ("i1", 1, "usable", True, 6, 10),
    ("i1", 1, "unusable", False, 4, 10),
    ("i1", 2, "usable", True, 3, 20),
    ("i1", 2, "unusable", True, 1, 20),
    ("i2", 1, "usable", True, 10, 10),
    ("i2", 1, "timeout", False, 5, 0),
    ("i3", 1, "usable", True, 5, 10),
    ("i3", 1, "unusable", False, 5, 10),
    ("i3", 2, "usable", True, 5, 10),
]


def attempts(rows=ROWS, **factors):
    columns = ["item", "number", "outcome", "final", "count", "tokens"]
    frame = pd.DataFrame(rows, columns=columns)
    tokens = frame.pop("tokens") * frame["count"]
    known = factors.pop("from_attempts", True)
    cell = {"respondent": "gpt", "format": "likert_5", "entity": "", **factors}
    frame = frame.assign(
        study="s",
        from_attempts=known,
        tokens_in=tokens / 2,
        tokens_out=tokens / 2,
        tokens_known=frame["count"] if known else 0,
        **cell,
    )
    check_frame(frame, ATTEMPT_COUNTS)
    return frame


def tables(frame, **options):
    result = invalid_answers(frame, **{"resamples": 0, **options})
    return {table.name: table.frame for table in result.tables} | {"result": result}


def test_rates_tries_and_tokens_worked_by_hand():
    """30 trials; 9 first replies are invalid; one trial is never answered; 21 · 1 + 8 · 2 tries."""
    row = tables(attempts())["summary"].iloc[0]
    assert row[["trials", "replied", "invalid", "never"]].tolist() == [30, 30, 9, 1]
    assert (row["share_invalid"], row["share_never"]) == (0.3, 1 / 30)
    assert row["mean_tries"] == (21 + 8 * 2) / 29
    assert row[["most_tries", "unusable_replies", "failures"]].tolist() == [2, 10, 5]
    assert (row["tokens"], row["tokens_unusable"]) == (60 + 40 + 80 + 100 + 50 + 50 + 50, 110)
    assert row["share_tokens"] == 110 / 430


def test_replies_by_try_say_what_asking_again_brings():
    tries = tables(attempts())["tries"]
    assert tries[["number", "replies", "usable", "unusable"]].to_numpy().tolist() == [
        [1, 30, 21, 9],
        [2, 9, 8, 1],
    ]
    assert tries["share_by_now"].tolist() == pytest.approx([21 / 30, 29 / 30])


def test_failures_are_apart_from_invalid_answers():
    failures = tables(attempts())["failures"]
    assert failures[["outcome", "count"]].to_numpy().tolist() == [["timeout", 5]]
    assert failures["share"].iloc[0] == 5 / 44


def test_the_interval_is_wilsons_of_three_items():
    """Items have shares of .4, 0 and .5."""
    row = tables(attempts(), resamples=4000, ci_level=0.9)["summary"].iloc[0]
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        wilson_of_units([0.4, 0, 0.5], 0.9), abs=0.01
    )


def test_items_come_by_their_share():
    items = tables(attempts())["items"]
    assert items["item"].tolist() == ["i3", "i1"]
    assert items["share"].tolist() == [0.5, 0.4]


def test_models_are_compared_over_the_items_they_share():
    """Shares are .4, 0, .5 and .1 against 0: two of 8 patterns of signs are as far from 0."""
    better = [(f"i{n}", 1, "usable", True, 10, 1) for n in (1, 2, 3, 4)]
    more = [*ROWS, ("i4", 1, "usable", True, 9, 1), ("i4", 1, "unusable", True, 1, 1)]
    frame = pd.concat([attempts(better, respondent="a"), attempts(more, respondent="b")])
    (row,) = tables(frame, by=("respondent",))["comparisons"].to_dict("records")
    assert (row["first"], row["second"], row["n"]) == ("a", "b", 4)
    assert row["difference"] == pytest.approx(0.25)
    assert row["p"] == pytest.approx(2 / 8)


def test_an_unused_factor_makes_no_groups_and_entities_do():
    by = ("respondent", "entity")
    assert "entity" not in tables(attempts(), by=by)["summary"]
    frame = pd.concat([attempts(entity="Apple"), attempts(ROWS[:4], entity="Samsung")])
    summary = tables(frame, by=by)["summary"]
    assert summary["entity"].tolist() == ["Apple", "Samsung"]


def test_trials_to_come_to_be_asked_again_and_without_a_reply_are_apart():
    rows = [
        ("i1", 0, "not_asked", True, 2, 0),
        ("i1", 1, "pending", True, 3, 5),
        ("i1", 1, "server", True, 4, 0),
    ]
    found = tables(attempts(rows))
    row = found["summary"].iloc[0]
    assert row[["trials", "replied", "waiting", "no_reply", "not_asked"]].tolist() == [
        9,
        3,
        3,
        4,
        2,
    ]
    assert row["share_invalid"] == 1
    assert math.isnan(row["share_never"])
    assert math.isnan(row["mean_tries"])
    cautions = " ".join(found["result"].cautions)
    assert "2 planned trials have not been asked yet" in cautions
    assert "3 planned trials are still to be asked again" in cautions
    assert "one item only, so no interval by resampling" in cautions
    nothing = tables(attempts([("i1", 0, "not_asked", True, 2, 0)]))
    assert "no reply is on file, so no shares." in " ".join(nothing["result"].cautions)
    assert nothing["tries"].empty


def test_tokens_that_the_service_did_not_count_are_said():
    found = tables(attempts().assign(tokens_in=0.0, tokens_out=0.0, tokens_known=0))
    assert math.isnan(found["summary"]["share_tokens"].iloc[0])
    assert any("did not count the tokens of 39 tries" in c for c in found["result"].cautions)


def test_no_answers_and_unknown_factors_are_said():
    with pytest.raises(NotEnoughData, match="no answers yet"):
        tables(attempts().iloc[:0])
    with pytest.raises(NotEnoughData, match="no factor phase"):
        tables(attempts(), by=("phase",))


@few_examples
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_answers_at_each_try_and_never_add_up_to_the_trials(items):
    """Each item: answered at once, at the second try, and never."""
    rows = []
    for n, (once, twice, never) in enumerate(items):
        rows += [
            (f"i{n}", 1, "usable", True, once, 1),
            (f"i{n}", 1, "unusable", False, twice + never, 1),
            (f"i{n}", 2, "usable", True, twice, 1),
            (f"i{n}", 2, "unusable", True, never, 1),
        ]
    found = tables(attempts([row for row in rows if row[4]]))
    row = found["summary"].iloc[0]
    usable = found["tries"]["usable"].sum()
    assert usable + row["never"] == row["trials"] == row["replied"]
    assert row["share_never"] <= row["share_invalid"]


def test_the_answer_takes_items_as_units_where_all_are_alike_and_one_reply_its_verb():
    """Of 2 items with 10 replies each none has an invalid one: 1.96² / (2 + 1.96²) = .658."""
    rows = [("i1", 1, "usable", True, 10, 10), ("i2", 1, "usable", True, 10, 10)]
    result = tables(attempts(rows), resamples=100)["result"]
    (answer,) = analyses.by_name("invalid_answers").answer(result)
    start = "0.0% [0.0, 65.8] of 20 first replies are invalid; 0.0% [0.0, 65.8] of the trials"
    assert answer.sentence.startswith(start)
    one = tables(attempts([("i1", 1, "usable", True, 1, 10)]))["result"]
    (answer,) = analyses.by_name("invalid_answers").answer(one)
    assert "of 1 first reply is invalid" in answer.sentence


def test_intervals_resample_the_units_that_the_user_chooses():
    """One of two contexts makes every reply invalid; both items are alike."""
    frame = pd.concat(
        attempts([(item, 1, outcome, True, 5, 10) for item in ("i1", "i2")], context=context)
        for context, outcome in (("c1", "usable"), ("c2", "unusable"))
    )
    ends = ["share_invalid", "ci_low", "ci_high"]
    by_item = tables(frame, resamples=200)["summary"].iloc[0]
    assert by_item["share_invalid"] == 0.5
    assert np.isnan([by_item["ci_low"], by_item["ci_high"]]).all()
    by_context = tables(frame, resamples=200, resample="context")["summary"].iloc[0]
    low, high = wilson_of_units([0, 1])
    assert by_context[[*ends, "never_low", "never_high"]].tolist() == pytest.approx(
        [0.5, low, high, low, high], abs=0.01
    )
    one = tables(frame[frame["context"] == "c1"], resample="context", resamples=50)["result"]
    assert any("there is one context only" in text for text in one.cautions)
    with pytest.raises(NotEnoughData, match="no factor repetition"):
        tables(frame, resample="repetition")


def test_of_imported_answers_the_share_invalid_at_first_is_undefined():
    rows = [("i1", 1, "usable", True, 8, 0), ("i1", 1, "unusable", True, 2, 0)]
    found = tables(attempts(rows, from_attempts=False))
    row = found["summary"].iloc[0]
    assert math.isnan(row["share_invalid"])
    assert row["share_never"] == 0.2
    assert "whether their first reply was invalid is unknown" in found["result"].cautions[0]
    assert "so the share invalid at first is undefined" in " ".join(found["result"].cautions)
    (answer,) = analyses.by_name("invalid_answers").answer(found["result"])
    assert "undefined, as no tries are on file; 20.0%" in answer.sentence

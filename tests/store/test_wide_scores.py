"""ITEM_SCORES as a wide table, against the rows of the same answers."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.instrument import Wording
from core.domain.study import FACTORS
from core.domain.wide_scores import NOT_PLANNED, STATUSES
from core.store import collection, frames
from tests.store.test_collection import attempt, remaining
from tests.store.test_studies import PEOPLE, frozen

OUTCOMES = ("1", "2", "3", "3", "refused", "error", "not_asked")


@pytest.fixture
def studies(database, small_bank):
    """Two studies with items whose direction depends on the form, answered in any order."""
    negated = [Wording(language, "Not so.", "negation") for language in ("en", "de")]
    items = [replace(item, wordings=(*item.wordings, *negated)) for item in small_bank.items]
    items[3] = replace(items[3], directions={"negation": 1})
    bank = replace(small_bank, items=tuple(items))
    for number, study in enumerate(("t", "s")):
        record = frozen(database, bank, study=study, forms=("original", "negation"), entities=())
        calls = remaining(database, record, limit=1000)
        draw = random.Random(number)
        draw.shuffle(calls)
        rows = []
        for call in calls:
            outcome = draw.choice(OUTCOMES)
            if outcome == "error":
                rows.append(attempt(record, call, outcome="server", reply=None, status=None))
            elif outcome == "refused":
                rows.append(attempt(record, call, status="refused", option=None))
            elif outcome != "not_asked":
                rows.append(attempt(record, call, option=outcome))
        collection.save_attempts(database, rows)
    return database


def as_rows(table):
    """The wide table as the rows of ITEM_SCORES: by items, then as administrations stand."""
    item, administration = np.nonzero(table.status.T != NOT_PLANNED)
    rows = table.administrations.take(administration).reset_index(drop=True)
    for name in ("item", "subscale", "keyed"):
        rows[name] = table.items[name].to_numpy()[item]
    rows["status"] = [STATUSES[code] for code in table.status[administration, item]]
    rows["score"] = table.scores[administration, item]
    return rows


WHERE = [
    {},
    {"form": ["negation"]},
    {"respondent": [PEOPLE[0].label], "language": ["de"]},
    {"item": ["b1", "a2"]},
    {"leave_out": ["guess", "hedged"]},
]


@pytest.mark.parametrize("codes", [["s"], ["t", "s"], ["s", "t"]])
@pytest.mark.parametrize("where", WHERE, ids=[" ".join(where) or "all" for where in WHERE])
@pytest.mark.parametrize("at_once", [2_500_000, 50])
def test_a_wide_table_says_what_the_rows_say(studies, monkeypatch, codes, where, at_once):
    monkeypatch.setattr(frames, "_SMALL_PART", at_once)  # all in one join, or in several
    table = frames.wide_scores(studies, codes, where)
    rows = frames.item_scores(studies, codes, where)
    key = ["administration", "item"]
    columns = ["study", *FACTORS, "administration", "item", "subscale", "keyed", "status", "score"]
    pd.testing.assert_frame_equal(
        as_rows(table)[columns].sort_values(key, ignore_index=True).astype({"score": float}),
        rows[columns].sort_values(key, ignore_index=True),
        check_dtype=False,
        check_categorical=False,
        rtol=0,
        atol=0,
    )
    for name, frame in (("administration", table.administrations), ("item", table.items)):
        assert list(frame[name]) == list(dict.fromkeys(rows[name])), name


def test_answers_that_stand_as_their_trials_are_read_without_a_join(
    database, small_bank, monkeypatch
):
    record = frozen(database, small_bank, contexts=(), entities=(), repetitions=1)
    trials = remaining(database, record)
    answered = [attempt(record, one, option=str(n % 3 + 1)) for n, one in enumerate(trials)]
    collection.save_attempts(database, answered)
    expected = frames.item_scores(database, ["s"], {})["score"].sum()
    monkeypatch.setattr(frames, "_joined_answers", None)
    assert frames.wide_scores(database, ["s"], {}).scores.sum() == expected


def test_counts_of_options_are_the_same_in_parts(studies, monkeypatch):
    whole = frames.option_counts(studies, ["t", "s"], {}, factors=["form"], seed=3)
    monkeypatch.setattr(frames, "_SMALL_PART", 50)
    studies.memory.clear()  # else the counts on hand come again
    parts = frames.option_counts(studies, ["t", "s"], {}, factors=["form"], seed=3)
    pd.testing.assert_frame_equal(parts, whole, check_categorical=False)


@pytest.mark.parametrize(
    ("memory", "n_trials", "expected"),
    [
        ("2GB", 2_000_000, 1),
        ("2GB", 10_000_000, 5),
        ("2GB", 50_000_000, 5),
        ("2GB", 10**8, 8),
        ("100MB", 10_000_000, 16),
    ],
)
def test_parts_are_few_and_fit_in_memory(monkeypatch, memory, n_trials, expected):
    """Each part reads the keys of all trials: with parts of one size, work grew by the square."""
    monkeypatch.setenv("INKBLOT_MEMORY", memory)
    assert frames._n_parts(n_trials) == expected


def test_answers_that_come_between_two_reads_are_read_again_at_one_moment(
    studies, small_bank, monkeypatch
):
    """Another thread freezes more of the plan after the administrations were read."""
    read, calls = frames._items_in_order, []

    def items_in_order(database, *arguments):
        calls.append(database.in_transaction)
        if len(calls) == 1:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(add_a_trial, database).result()
        return read(database, *arguments)

    monkeypatch.setattr(frames, "_items_in_order", items_in_order)
    table = frames.wide_scores(studies, ["s"], {})
    assert calls == [False, True]
    rows = frames.item_scores(studies, ["s"], {})
    assert np.count_nonzero(table.status != NOT_PLANNED) == len(rows)


def add_a_trial(database):
    """One more administration, a repetition of the first, with one trial."""
    with database.transaction() as cursor:
        cursor.execute(
            "insert into administration by name select 77 as administration_id, 9 as repetition,"
            " * exclude (administration_id, repetition) from administration"
            " order by rowid desc limit 1"
        )
        cursor.execute(
            "insert into trial by name select 78 as trial_id, study_id, 77 as administration_id,"
            " item_id, ordinal + 1000 as ordinal, 79 as call_id from trial"
            " order by rowid desc limit 1"
        )


def test_a_table_that_would_be_nearly_empty_is_given_up(studies, monkeypatch):
    monkeypatch.setattr(frames, "_MOST_PLACES", 0.9)
    assert frames.wide_scores(studies, ["t", "s"], {}) is None


def test_an_item_of_another_key_elsewhere_is_given_up(studies, small_bank):
    other = replace(
        small_bank, items=tuple(replace(item, keyed=-item.keyed) for item in small_bank.items)
    )
    frozen(studies, other, study="u", contexts=(), entities=(), repetitions=1)
    assert frames.wide_scores(studies, ["s", "u"], {}) is None
    assert frames.wide_scores(studies, ["u"], {}) is not None

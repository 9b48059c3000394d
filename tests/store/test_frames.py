from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.attributes import matching_items
from core.domain.frames import ITEM_SCORES, OPTION_COUNTS, check_frame
from core.domain.instrument import Wording, coin
from core.domain.values import stable_id
from core.store import answers, audits, collection, frames, studies
from tests.store.test_collection import attempt, remaining
from tests.store.test_studies import PEOPLE, frozen


@pytest.fixture
def study(database, small_bank):
    """The first four trials: answered 3, answered 1, refused, all calls failed."""
    record = frozen(database, small_bank, contexts=(), entities=(), repetitions=1)
    trials = remaining(database, record)[:4]
    rows = [
        attempt(record, trials[0], option="3"),
        attempt(record, trials[1], option="1", reply="1"),
        attempt(record, trials[2], status="refused", option=None, reply="I cannot."),
        attempt(record, trials[3], outcome="server", reply=None, status=None, option=None),
    ]
    collection.save_attempts(database, rows)
    return record


def scores(database, where=None):
    return frames.item_scores(database, ["s"], where or {})


def test_every_planned_trial_has_a_row_with_its_status(database, study):
    frame = scores(database)
    check_frame(frame, ITEM_SCORES)
    assert len(frame) == study.n_trials
    counts = frame["status"].value_counts().to_dict()
    assert counts == {"not_asked": 12, "answered": 2, "refused": 1, "error": 1}


def test_reverse_keyed_items_are_recoded_and_unusable_answers_have_no_score(database, study):
    frame = scores(database, {"respondent": ["one"], "language": ["en"]}).set_index("item")
    assert frame["score"].tolist()[:2] == [3.0, 3.0]  # a2 is reverse-keyed: 1 + 3 - 1
    assert all(math.isnan(value) for value in frame["score"].tolist()[2:])
    assert frame["keyed"].tolist() == [1, -1, 1, 1]


def test_options_are_counted_with_every_status_as_its_own(database, study):
    counts = frames.option_counts(database, ["s"], {})
    check_frame(counts, OPTION_COUNTS)
    assert counts["count"].sum() == study.n_trials
    chosen = counts[counts["option"] != ""].set_index("item")
    assert chosen.loc["a2", ["option", "points", "count"]].tolist() == ["1", 1.0, 1]
    statuses = counts.groupby("status", observed=True)["count"].sum()
    assert statuses.to_dict() == {"not_asked": 12, "refused": 1, "error": 1, "answered": 2}


def test_groups_come_in_the_order_of_the_design_whatever_they_answered(database, study):
    """Answers do not decide; nor does the database, which gives another order at each call."""
    with database.transaction() as cursor:
        cursor.execute("delete from response")  # else the first group alone has answered
    last = remaining(database, study)[-4:]
    rows = [attempt(study, trial, option="1", reply="1") for trial in last]
    collection.save_attempts(database, rows)
    design = ["one · en", "one · de", "two · en", "two · de"]
    factors = ["respondent", "language"]
    counts = frames.option_counts(database, ["s"], {}, factors=factors).astype(str)
    for _, own in counts.groupby("item", sort=False):
        assert list(dict.fromkeys(own["respondent"] + " · " + own["language"])) == design
    assert counts["item"].drop_duplicates().tolist() == ["a1", "a2", "b1", "b2"]


def test_groups_of_several_studies_come_study_by_study(database, small_bank, study):
    frozen(database, small_bank, study="r", contexts=(), entities=(), repetitions=1)
    for both in (["s", "r"], ["r", "s"]):
        frame = frames.item_scores(database, both, {}).astype(str)
        for _, own in frame.groupby("item", sort=False):
            assert list(own["study"]) == [code for code in both for _ in range(4)]


@pytest.mark.parametrize(
    "factors", [(), ("form",), ("phase", "language"), ("respondent", "context", "repetition")]
)
def test_counts_are_those_of_the_trials_whatever_is_kept_apart(database, small_bank, factors):
    """Two studies, each with trials that are answered, refused, failed, and not asked."""
    negated = [Wording(language, "Not so.", "negation") for language in ("en", "de")]
    items = [replace(item, wordings=(*item.wordings, *negated)) for item in small_bank.items]
    items[3] = replace(items[3], directions={"negation": 1})
    bank = replace(small_bank, items=tuple(items))
    outcomes = [
        ("1", "answered"),
        ("2", "explained"),
        ("2", "answered"),
        ("3", "answered"),
        ("", "refused"),
        ("", "error"),
        ("", "not_asked"),
    ]
    labels = {person.respondent_id: person.label for person in PEOPLE}
    expected = Counter()
    for study in ("t", "s"):
        record = frozen(database, bank, study=study, forms=("original", "negation"), entities=())
        calls = remaining(database, record, limit=1000)
        rows = []
        for number, call in enumerate(calls):
            option, status = outcomes[number**2 % 11 % 7]
            if status == "error":
                rows.append(attempt(record, call, outcome="server", reply=None, status=None))
            elif status != "not_asked":
                rows.append(attempt(record, call, status=status, option=option or None))
            (item,) = call.items
            direction = -1 if call.form == "negation" and item.item != "b2" else 1
            about = {"respondent": labels[call.respondent_id]}
            cell = [about.get(name) or str(getattr(call, name)) for name in factors]
            expected[study, *cell, item.item, direction, option, status] += 1
        collection.save_attempts(database, rows)
    counts = frames.option_counts(database, ["s", "t"], {}, factors=factors, seed=1)
    check_frame(counts, OPTION_COUNTS)
    names = ["study", *factors, "item", "direction", "option", "status"]
    keys = counts[names].astype({name: str for name in factors})
    found = Counter()
    for key, count in zip(keys.itertuples(index=False, name=None), counts["count"], strict=True):
        found[key] += count
    assert found == expected
    assert counts["study"].tolist() == sorted(counts["study"])
    assert counts["coin"].notna().equals(counts["stance"] == 0)
    assert counts["count"].dtype == np.int64


def test_kept_counts_follow_every_change_of_the_answers(database, study, monkeypatch):
    def statuses():
        counts = frames.option_counts(database, ["s"], {}, factors=["language"])
        return counts.groupby("status", observed=True)["count"].sum().to_dict()

    def count_again(change):
        before = statuses()
        change()
        found = statuses()
        assert found != before
        database.memory.clear()
        assert statuses() == found
        return found

    calls = remaining(database, study)
    answered = [attempt(study, calls[1])]
    found = count_again(lambda: collection.save_attempts(database, answered))
    assert found == {"not_asked": 11, "answered": 3, "refused": 1, "error": 1}
    failed = [attempt(study, calls[2], outcome="server", reply=None, status=None)]
    assert count_again(lambda: collection.save_attempts(database, failed))["error"] == 2
    recoded = audits.changes_by_person(
        database, study.study_id, {calls[1].items[0].trial_id: ("no_answer", None)}
    )
    count_again(lambda: audits.apply_changes(database, study.study_id, recoded, cause="person"))
    with database.transaction() as cursor:  # as a second phase does
        add = "insert into trial select trial_id + 1, study_id, administration_id, item_id, 99"
        cursor.execute(f"{add}, null, null, null, call_id + 1 from trial where ordinal = 1")
    assert sum(statuses().values()) == 17


def test_counts_are_read_once_and_their_users_cannot_change_them(database, study, monkeypatch):
    read = []
    arrow = database.arrow
    monkeypatch.setattr(database, "arrow", lambda *query: read.append(query) or arrow(*query))
    first = frames.option_counts(database, ["s"], {})
    n_read = len(read)
    expected = first.copy(deep=True)
    first["count"] += 1
    first.loc[0, "option"] = ""
    pd.testing.assert_frame_equal(frames.option_counts(database, ["s"], {}), expected)
    assert len(read) == n_read
    frames.option_counts(database, ["s"], {}, seed=1)
    frames.option_counts(database, ["s"], {"language": ["en"]})
    assert len(read) == 3 * n_read
    monkeypatch.setattr(frames, "_KEPT_BYTES", 1)
    frames.option_counts(database, ["s"], {"language": ["de"]})
    frames.option_counts(database, ["s"], {})
    assert len(read) == 5 * n_read


def test_rows_are_in_bank_order_and_of_one_item_in_the_order_of_asking(database, study):
    with database.transaction() as cursor:  # asked in another order than they are stored
        cursor.execute("update trial set ordinal = 17 - ordinal")
    frame = scores(database)
    assert frame["item"].tolist() == [code for code in ("a1", "a2", "b1", "b2") for _ in range(4)]
    plan = studies.plan(database, study.study_id).to_pandas()
    for item, rows in frame.groupby("item", observed=True):
        asked = plan[plan["item"] == item]
        for factor in ("respondent", "language"):
            assert rows[factor].tolist() == asked[factor].tolist(), item


def test_a_trial_whose_replies_are_yet_unusable_is_the_same_everywhere(database, study):
    """Paused before it is asked anew: nothing failed, and nothing is settled."""
    call = remaining(database, study)[1]
    collection.save_attempts(database, [attempt(study, call, status=None, reply="Well.")])
    trial = call.items[0].trial_id
    frame = scores(database)["status"].value_counts().to_dict()
    counts = (
        answers.counts(database, study.study_id, ["respondent"])
        .groupby("status")["count"]
        .sum()
        .to_dict()
    )
    assert frame == counts == {"not_asked": 12, "answered": 2, "refused": 1, "error": 1}
    assert answers.detail(database, trial).status == "not_asked"
    assert answers.tidy(database, study.study_id).num_rows == 4


def test_a_study_alone_has_the_counts_that_it_has_among_others(database, small_bank, study):
    other = frozen(database, small_bank, study="other", contexts=(), entities=(), repetitions=1)
    collection.save_attempts(database, [attempt(other, remaining(database, other)[0])])
    listed = studies.studies(database)
    assert {s.code: (s.n_trials, s.n_responses, s.n_usable, s.n_asked) for s in listed} == {
        "s": (16, 3, 2, 4),
        "other": (16, 1, 1, 1),
    }
    assert tuple(studies.get(database, record.code) for record in listed) == listed
    undone = [attempt(other, remaining(database, other)[0])]

    @database.all_or_nothing()
    def undo_in_the_end():
        collection.save_attempts(database, undone)
        assert studies.get(database, "other").n_responses == 2
        assert studies.studies(database)[1].n_responses == 2
        raise KeyError

    with pytest.raises(KeyError):
        undo_in_the_end()
    # as many rows as were undone, of another study
    collection.save_attempts(database, [attempt(study, remaining(database, study)[1])])
    assert [one.n_responses for one in studies.studies(database)] == [4, 1]
    assert studies.get(database, "s").n_responses == 4


def test_filters_take_text_as_text(database, study):
    assert scores(database, {"language": ["' or 1=1 --"]}).empty
    assert len(scores(database, {"language": ["de"], "item": ["a1", "b1"]})) == 4
    assert len(scores(database, {"repetition": [1]})) == 16


def test_the_same_expression_compiles_for_another_engine():
    import ibis

    sql = str(ibis.to_sql(frames.option_counts_expression(["s"], {}), dialect="databricks"))
    assert "GROUP BY" in sql


ATTRIBUTES = ({"country": "DE", "year": 1999}, {"year": 2.5}, {}, {"country": "2.50"})


@pytest.mark.parametrize(
    "where",
    [
        {"country": ["DE", ""]},
        {"country": ["2.5"]},
        {"year": ["2.50", "1999.0"]},
        {"year": ["..3", "1990..2000", ""]},
        {"rank": ["2.."], "keyed": ["1", "-1.0"]},
        {"rank": ["", "7"], "genre": ["A", "DE"]},
    ],
)
def test_filters_by_attributes_pass_the_items_that_the_domain_says(database, small_bank, where):
    """The test of core.domain.attributes says which ones these are."""
    facts = zip(small_bank.items, ATTRIBUTES, (None, 2, 7, None), ("", "DE", "A", "A"), strict=True)
    items = tuple(
        replace(item, attributes=attributes, rank=rank, genre=genre)
        for item, attributes, rank, genre in facts
    )
    bank = replace(small_bank, items=items)
    frozen(database, bank, contexts=(), entities=(), repetitions=1)
    filters = {f"item.{name}": values for name, values in where.items()}
    expected = [item.code for item in matching_items(bank, filters)]
    assert list(scores(database, filters)["item"].unique()) == expected


def test_counts_take_the_same_filters_by_attributes(database, small_bank, study):
    counts = frames.option_counts(database, ["s"], {"item.subscale": ["B"], "item.keyed": ["1"]})
    assert list(counts["item"].unique()) == ["b1", "b2"]


def test_the_coin_of_an_answer_is_the_same_in_the_database_and_in_python(database, small_bank):
    record = frozen(database, small_bank, contexts=(), entities=(), repetitions=30)
    with database.transaction() as cursor:
        cursor.execute("update answer_option set stance = 0 where code = '2'")
    calls = remaining(database, record)
    rows = [attempt(record, call, option="2", reply="2") for call in calls]
    collection.save_attempts(database, rows)
    trials = [item.trial_id for call in calls for item in call.items]
    heads = set()
    for seed in (0, 7):
        counts = frames.option_counts(database, ["s"], {}, seed=seed)
        by_coin = counts.groupby("coin")["count"].sum()
        assert by_coin[1.0] == sum(coin(trial, seed) for trial in trials)
        assert by_coin.sum() == len(trials)
        heads.add(by_coin[1.0])
    assert len(heads) == 2
    assert frames.option_counts(database, ["s"], {})["coin"].isna().all()


def test_the_coin_is_fair_and_those_of_two_seeds_are_independent():
    ids = [stable_id("trial", number) for number in range(40_000)]
    first, second = (np.array([coin(one, seed) for one in ids]) for seed in (0, 1))
    # four standard errors of a share of 40,000 are .01
    assert abs(first.mean() - 0.5) < 0.01
    assert abs((first == second).mean() - 0.5) < 0.01

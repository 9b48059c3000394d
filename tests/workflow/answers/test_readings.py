"""How replies were read: filters, levels, counts, rows of a page and earlier codings."""

from __future__ import annotations

import pytest

from core.store import answers as store
from core.store import audits, studies
from core.store.audits import ResponseChange
from core.workflow.answers import browsing, exports, imports
from tests.workflow.statistics.test_left_out import hand

__all__ = ["hand"]


@pytest.mark.parametrize(
    ("filters", "ordinals"),
    [
        ({"certainty": ["guess"]}, [2, 4, 9]),
        ({"certainty": ["certain", "likely"]}, [1, 3]),
        ({"layer": ["single_mention", "judge"]}, [2, 4, 5]),
        ({"hedged": ["yes"]}, [3, 4, 9]),
        ({"hedged": ["no"], "item": ["a1"]}, [1, 2]),
        ({"certainty": ["guess"], "status": ["answered"], "respondent": ["m1"]}, [2]),
        ({"judge": ["Judge"]}, [5]),
    ],
)
def test_answers_are_filtered_by_how_they_were_read(hand, filters, ordinals):
    rows, total = browsing.page(hand, "hand", filters, "")
    assert rows["ordinal"].tolist() == ordinals
    assert total == len(ordinals)
    assert sum(browsing.status_tally(hand, "hand", filters, "").values()) == total


def test_rows_and_levels_say_how_replies_were_read(hand):
    rows, _ = browsing.page(hand, "hand", {}, "")
    read = rows[["layer", "certainty", "hedged", "judge"]].astype(object)
    assert read.iloc[2].tolist()[:3] == ["statement", "likely", "yes"]
    assert read.iloc[1, 2] == "no"
    assert read.iloc[4].tolist()[0::3] == ["judge", "Judge"]
    assert read.iloc[5].isna().all()
    assert browsing.reading_levels(hand, "hand") == {
        "certainty": ["certain", "likely", "guess"],
        "layer": ["whole", "statement", "single_mention", "status", "judge"],
        "hedged": ["yes", "no"],
        "judge": ["Judge"],
    }
    assert not {"certainty", "layer", "hedged", "judge"} & set(browsing.all_levels(hand, "hand"))


def test_how_replies_were_read_goes_out_and_in_again(hand):
    first = exports.export_tidy(hand, "hand")
    imports.import_tidy(hand, "again.csv", first, study="again")
    assert exports.export_tidy(hand, "again") == first.replace(b"\nhand,", b"\nagain,")
    rows, _ = browsing.page(hand, "again", {"hedged": ["yes"]}, "")
    assert rows["certainty"].tolist() == ["likely", "guess", "guess"]
    counts = browsing.reading_counts(hand, "again")
    assert counts.equals(browsing.reading_counts(hand, "hand"))


def test_answers_are_counted_by_how_they_were_read(hand):
    counts = browsing.reading_counts(hand, "hand").set_index("respondent")
    assert list(counts) == [
        "answers",
        "certain",
        "likely",
        "guess",
        "person",
        "judged",
        "unknown",
        "hedged",
    ]
    assert counts.loc["m1"].tolist() == [4, 1, 0, 1, 0, 1, 1, 0]
    assert counts.loc["m2"].tolist() == [3, 0, 1, 1, 0, 0, 1, 2]


def test_an_undone_coding_of_a_person_brings_back_how_the_reply_was_read(hand):
    database = hand.database
    study_id = studies.get(database, "hand").study_id
    rows, _ = store.page(database, study_id, {"certainty": ["guess"]}, "", offset=0, limit=1)
    (trial,) = rows["trial_id"]
    before = browsing.detail(hand, trial)
    assert (before.layer, before.certainty, before.hedged, before.judge) == (
        "single_mention",
        "guess",
        False,
        None,
    )
    by_person = audits.changes_by_person(database, study_id, {trial: ("refused", None)})
    assert audits.apply_changes(database, study_id, by_person, cause="person") == 1
    coded = browsing.detail(hand, trial)
    assert (coded.layer, coded.certainty, coded.hedged) == ("person", None, None)
    (earlier,) = coded.earlier_codings
    assert (earlier.cause, earlier.layer, earlier.certainty, earlier.hedged, earlier.judge) == (
        "person",
        "single_mention",
        "guess",
        False,
        None,
    )
    undo = audits.changes_undoing_person(database, study_id, [trial])
    assert audits.apply_changes(database, study_id, undo, cause="undo") == 1
    again = browsing.detail(hand, trial)
    assert (again.layer, again.certainty, again.hedged) == ("single_mention", "guess", False)


def test_a_judged_answer_names_its_judge_and_what_was_before(hand):
    database = hand.database
    study_id = studies.get(database, "hand").study_id
    rows, _ = store.page(database, study_id, {"status": ["refused"]}, "", offset=0, limit=1)
    (trial,) = rows["trial_id"]
    change = ResponseChange(
        trial, "refused", None, None, "answered", "2", None, None, None, layer="judge", judge="J"
    )
    table = audits.change_table([change])
    assert audits.apply_changes(database, study_id, table, cause="judge") == 1
    judged = browsing.detail(hand, trial)
    assert (judged.option, judged.layer, judged.judge) == ("2", "judge", "J")
    (earlier,) = judged.earlier_codings
    assert (earlier.cause, earlier.layer, earlier.certainty, earlier.hedged) == (
        "judge",
        "status",
        "guess",
        True,
    )
    counts = browsing.reading_counts(hand, "hand", by=("model",)).set_index("model")
    assert counts.loc["m1", ["answers", "judged"]].tolist() == [5, 2]

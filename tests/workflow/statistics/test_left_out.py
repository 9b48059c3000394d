"""Answers that were guessed, hedged or judged are left out: counts by hand, words, refusals."""

from __future__ import annotations

import csv

import pytest

from core.__main__ import main
from core.errors import NotEnoughData
from core.store import banks as bank_store
from core.store import frames
from core.workflow.answers import imports
from core.workflow.statistics import analyses, explore
from core.workflow.statistics.explore import View

# Scores: a1 3, 3, 1, 1; a2 (reverse-keyed) 3, 1, 2, error; of m1 c1, c2, m2 c1, c2.
HAND = """study,instrument,item,model,context,answer,status,layer,certainty,hedged,judge
hand,small,a1,m1,c1,3,,whole,certain,no,
hand,small,a1,m1,c2,3,,single_mention,guess,no,
hand,small,a1,m2,c1,1,,statement,likely,yes,
hand,small,a1,m2,c2,1,,single_mention,guess,yes,
hand,small,a2,m1,c1,1,,judge,,,Judge
hand,small,a2,m1,c2,3,,,,,
hand,small,a2,m2,c1,2,,,,,
hand,small,a2,m2,c2,,error,,,,
hand,small,b1,m1,c1,,refused,status,guess,yes,
"""


@pytest.fixture
def hand(workspace, small_bank):
    bank_store.save_draft(workspace.database, small_bank, expected_revision=None, summary="test")
    imports.import_tidy(workspace, "hand.csv", HAND.encode())
    return workspace


@pytest.mark.parametrize(
    ("kinds", "scores"),
    [
        ((), [3, 3, 1, 1, 3, 1, 2]),
        (("guess",), [3, 1, 3, 1, 2]),
        (("hedged",), [3, 3, 3, 1, 2]),
        (("judged",), [3, 3, 1, 1, 1, 2]),
        (("judged", "hedged", "guess"), [3, 1, 2]),
    ],
)
def test_answers_of_these_kinds_are_missing_and_all_else_stays(hand, kinds, scores):
    where = {"leave_out": kinds}
    frame = frames.item_scores(hand.database, ["hand"], where)
    assert len(frame) == 4 * 3  # b1 has a row of one of the four; three are missing
    assert frame["score"].dropna().tolist() == scores
    statuses = frame["status"].value_counts().to_dict()
    gone = 7 - len(scores)
    expected = {"answered": len(scores), "error": 1, "refused": 1, "no_row": 3}
    assert statuses == expected | ({"left_out": gone} if gone else {})
    counts = frames.option_counts(hand.database, ["hand"], where)
    assert counts.groupby("status", observed=True)["count"].sum().to_dict() == statuses
    assert (counts["option"] != "").dot(counts["count"]) == len(scores)
    n = frames.answer_kinds(hand.database, ["hand"], where)
    assert n == {"answers": 7, "unknown": 2, "guess": 2, "hedged": 2, "judged": 1, "left_out": gone}
    own = frames.answer_kinds(hand.database, ["hand"], where | {"respondent": ["m1"]})
    assert [own[name] for name in ("answers", "guess", "hedged", "judged")] == [4, 1, 0, 1]


def test_explore_counts_them_as_missing(hand):
    view = View("mean_score", "respondent", where={"leave_out": ("guess", "judged")})
    frame = explore.count_view(hand, "hand", view).frame.set_index("respondent")
    assert frame["value"].tolist() == [2, 1.5]  # 3 and 1; 1 and 2
    assert frame[["n", "missing"]].values.tolist() == [[2, 3], [2, 2]]
    share = View("option_share", "item", option="3", where={"leave_out": ("guess",)})
    frame = explore.count_view(hand, "hand", share).frame.set_index("item")
    assert frame.loc["a1", ["value", "n", "missing"]].tolist() == [0.5, 2, 2]
    refused = View("refused", "respondent", where={"leave_out": ("guess",)})
    frame = explore.count_view(hand, "hand", refused).frame.set_index("respondent")
    assert frame.loc["m1", ["value", "n", "missing"]].tolist() == [0.25, 4, 1]
    assert explore.view_from_address(view.address) == view
    narrow = View(
        "mean_score",
        "item",
        where={"leave_out": ("hedged",), "subscale": ("A",), "repetition": ("1",)},
    )
    assert explore.left_out_notes(hand, "hand", narrow)[0].startswith("2 of 7 answers left out")
    table = explore.count_view(hand, "hand", view)
    assert explore.replies_of_row(view, table, 0) == {"respondent": ["m1"]}


def test_a_result_says_how_many_are_left_out_and_the_method_that_they_are(hand):
    where = {"leave_out": ["guess", "hedged"]}
    result = analyses.run(hand, "option_distribution", ["hand"], {}, where)
    assert "3 of 7 answers left out as missing: 2 guessed, 2 hedged, some of several kinds." in (
        result.notes
    )
    assert "Answers that were guessed or hedged count as missing." in result.method
    assert any(note.startswith("2 answers have no certainty") for note in result.notes)
    options = next(t for t in result.tables if t.name == "options").frame
    assert options.loc[options["option"] == "left_out", "count"].sum() == 3
    before = analyses.run(hand, "option_distribution", ["hand"], {}, {})
    assert not any("left out as missing" in note for note in before.notes)
    assert "count as missing" not in before.method


@pytest.mark.parametrize(
    ("name", "needs"), [("invalid_answers", "attempts"), ("story_validity", "ratings")]
)
def test_nothing_is_left_out_of_what_has_no_options(hand, name, needs):
    with pytest.raises(NotEnoughData, match=f"computed from {needs}.*no answers can be left out"):
        analyses.run(hand, name, ["hand"], {}, {"leave_out": ["guess"]})


def test_unknown_kinds_are_refused_with_those_there_are(hand, monkeypatch, capsys):
    with pytest.raises(NotEnoughData, match="kind 'unsure'") as error:
        analyses.run(hand, "option_distribution", ["hand"], {}, {"leave_out": ["unsure"]})
    assert "guess, hedged, judged" in str(error.value)
    with pytest.raises(NotEnoughData, match="kind 'maybe'"):
        explore.view_from_address({"measure": ["usable"], "axis": ["item"], "leave_out": ["maybe"]})
    cost = View("cost", "item", where={"leave_out": ("guess",)})
    with pytest.raises(NotEnoughData, match="from attempts"):
        explore.count_view(hand, "hand", cost)
    command = ["analyze", "option_distribution", "--study", "hand", "--db", str(hand.database.path)]
    hand.close()
    assert main([*command, "--where", "leave_out=guess,judged"]) == 0
    assert "3 of 7 answers left out as missing: 2 guessed, 1 judged." in capsys.readouterr().err


def test_the_command_line_writes_each_number_with_and_without_what_is_left_out(hand, capsys):
    place = ["--db", hand.database.path, "analyze", "item_statistics", "--study", "hand"]
    out = ["--option", "by=respondent", "--compare-left-out"]
    hand.close()
    assert main([*place, *out]) == 2
    assert "Add --where leave_out=guess,hedged,judged" in capsys.readouterr().err
    assert main([*place, *out, "--where", "leave_out=guess"]) == 0
    shown = capsys.readouterr()
    assert "Scored answers used: 5 instead of 7." in shown.err
    rows = list(csv.DictReader(shown.out.splitlines()))
    (row,) = [row for row in rows if (row["respondent"], row["item"]) == ("m1", "a1")]
    assert [row[f"n_{word}"] for word in ("before", "after", "difference")] == ["2", "1", "-1"]


def test_a_score_that_came_with_its_answer_is_left_out_too(workspace):
    lines = ["item,context,answer,score,certainty", "q1,a,warm,3,guess", "q2,a,warm,1,certain"]
    data = "\n".join(lines).encode()
    imports.import_tidy(workspace, "own.csv", data, bank=imports.NEW_BANK, scores="keyed")
    for kinds, scores in (((), [3.0, 1.0]), (("guess",), [1.0])):
        frame = frames.item_scores(workspace.database, ["own"], {"leave_out": kinds})
        assert frame["score"].dropna().tolist() == scores

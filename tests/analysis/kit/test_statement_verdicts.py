"""Verdicts on statements: by hand, against a plain program, and against random answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.statement_verdicts import TESTS, statement_verdicts
from core.errors import NotEnoughData
from core.stats.statement_tests import SamplingRule
from tests.analysis.plain_statement_tests import verdicts as plain_verdicts
from tests.analysis.statement_frames import random_cells, statements

NAN = float("nan")
YES, NO, TIE, FEW = (28, 2), (1, 29), (15, 15), (5, 4)
GOOD = {
    "original": YES,
    "paraphrase_1": YES,
    "paraphrase_2": YES,
    "negation": NO,
    "opposite": NO,
    "inverted": YES,
}


def cells_of(item="a", template="t1", **changed):
    """The cells of a statement that passes all tests within a template, but for what is changed."""
    return {
        (
            item,
            template,
            "inverted" if name == "inverted" else "as_is",
            "original" if name == "inverted" else name,
        ): counts
        for name, counts in {**GOOD, **changed}.items()
        if counts is not None
    }


def row_of(cells, **options):
    """The verdicts on the first row of the frame."""
    return statement_verdicts(statements(cells), ("respondent",), **options).frame.iloc[0]


def test_a_statement_that_passes_everything_is_reliable_within_and_across_templates():
    row = row_of({**cells_of(), **cells_of(template="t2")})
    assert [row[test] for test in TESTS] == [1] * 6
    assert row["reliable"] == row["reliable_across"] == 1
    assert (row["stance"], row["n"], row["trials"], row["share"]) == (1, 30, 30, 28 / 30)
    assert row["failed"] == row["not_judged"] == ""


@pytest.mark.parametrize(
    ("changed", "test", "words"),
    [
        ({"original": (18, 12)}, "sampling", "sampling"),
        ({"paraphrase_2": NO}, "paraphrase", "paraphrases"),
        ({"paraphrase_1": TIE}, "paraphrase", "paraphrases"),
        ({"negation": YES}, "negation", "negation"),
        ({"opposite": TIE}, "opposite", "opposite"),
        ({"inverted": NO}, "inverted", "inverted labels"),
    ],
)
def test_each_test_fails_by_itself(changed, test, words):
    row = row_of({**cells_of(**changed), **cells_of(template="t2")})
    assert [row[name] for name in TESTS] == [0.0 if name == test else 1.0 for name in TESTS]
    assert row["reliable"] == row["reliable_across"] == 0
    assert row["failed"] == words


def test_another_stance_in_another_template_fails_the_test_of_templates_alone():
    turned = {"original": NO, "paraphrase_1": NO, "paraphrase_2": NO, "negation": YES}
    row = row_of({**cells_of(), **cells_of(template="t2", **turned)})
    assert (row["templates"], row["reliable"], row["reliable_across"]) == (0, 1, 0)


def test_a_tie_is_what_the_user_says():
    cells = cells_of(original=TIE)
    assert (row_of(cells)["stance"], row_of(cells)["paraphrase"]) == (0, 0)
    negative = row_of(cells, ties="negative")
    assert (negative["stance"], negative["paraphrase"], negative["negation"]) == (-1, 0, 0)
    left_out = row_of(cells, ties="not_judged")
    assert np.isnan(left_out[["stance", "paraphrase", "negation", "reliable"]].astype(float)).all()
    assert left_out["sampling"] == 0
    assert "negation: a tie on original" in left_out["not_judged"]


def test_what_cannot_be_judged_says_why():
    cells = cells_of(negation=FEW, opposite=None)
    other = cells_of(item="b", paraphrase_1=None, paraphrase_2=None, inverted=None)
    found = statement_verdicts(statements({**cells, **other}), ("respondent",))
    first, second = found.frame.to_dict("records")
    assert np.isnan([first["negation"], first["opposite"], first["reliable"]]).all()
    assert first["not_judged"] == (
        "negation: 9 clear answers to negation; opposite: the statement has none"
    )
    assert second["not_judged"] == (
        "paraphrases: the statement has none; inverted labels: the statement has none"
    )
    assert first["paraphrase"] == 1
    assert row_of(cells, least=9)["negation"] == 0
    assert found.tests == ("sampling", "paraphrase", "negation", "opposite", "inverted")
    assert found.missing_tests == {"templates": "no statement was asked in two templates"}


def test_a_group_that_was_not_asked_a_wording_is_not_judged_by_it():
    everything = statements(cells_of(), respondent="m")
    less = statements(cells_of(opposite=None), respondent="k")
    found = statement_verdicts(pd.concat([everything, less]), ("respondent",))
    assert found.frame["reliable"].tolist()[:1] == [1]
    assert found.frame["not_judged"].tolist() == ["", "opposite: opposite was not asked"]


def test_answers_without_forms_templates_and_orders_have_the_test_of_sampling_alone():
    frame = statements({("a", "", "", "original"): YES}, unclear=4)
    frame = frame.drop(columns=["form", "template", "label_order"])
    found = statement_verdicts(frame, ("respondent",))
    assert found.tests == ("sampling",)
    row = found.frame.iloc[0]
    assert (row["reliable"], row["template"], row["trials"], row["n"]) == (1, "(none)", 34, 30)
    assert np.isnan(row["reliable_across"])
    assert (found.n_used, found.n_missing, found.n_left_out) == (30, 4, 0)


def test_the_direction_on_file_says_what_a_wording_should_give():
    cells = cells_of(negation=YES)
    frame = statements(cells, directions={"negation": 1})
    assert statement_verdicts(frame, ()).frame["negation"].tolist() == [1]


def test_inverted_templates_can_count_as_templates_of_their_own():
    cells = {
        (item, template, order, form): counts
        for (item, template, _, form), counts in {**cells_of(), **cells_of(template="t2")}.items()
        for order in ("as_is", "inverted")
    }
    cells["a", "t2", "inverted", "negation"] = YES
    frame = statement_verdicts(statements(cells), (), inverted="count").frame
    assert frame["template"].tolist() == ["t1", "t1 (inverted)", "t2", "t2 (inverted)"]
    assert frame["reliable"].tolist() == [1, 1, 1, 0]
    assert frame["inverted"].tolist() == frame["templates"].tolist() == [1] * 4


def test_a_template_with_two_formats_is_two_templates():
    frame = statements({**cells_of(), **cells_of(template="t2")})
    both = pd.concat([frame, frame.assign(format="support_oppose")])
    names = statement_verdicts(both, ()).frame["template"].tolist()
    assert names == [
        f"{t} · {f}" for t in ("t1", "t2") for f in ("agree_disagree", "support_oppose")
    ]


def test_other_wordings_are_left_out_and_counted():
    found = statement_verdicts(statements(cells_of(shorter=YES)), ())
    assert found.n_left_out == 30
    with pytest.raises(NotEnoughData, match="original wording"):
        statement_verdicts(statements({("a", "t1", "as_is", "negation"): YES}), ())
    with pytest.raises(NotEnoughData, match="no stance"):
        statement_verdicts(statements(cells_of()).assign(stance=NAN), ())


def test_answers_with_inverted_labels_alone_are_no_fault():
    frame = statements({("a", "t1", "inverted", "original"): YES})
    with pytest.raises(NotEnoughData, match="asked with inverted labels"):
        statement_verdicts(frame, ())
    assert len(statement_verdicts(frame, (), inverted="count").frame) == 1


def test_an_alternate_form_is_a_paraphrase():
    for answers, verdict in ((YES, 1.0), (NO, 0.0)):
        found = statement_verdicts(statements(cells_of(alternate=answers)), ())
        assert (found.n_left_out, found.frame["paraphrase"].tolist()[0]) == (0, verdict)


WORDS = {1.0: "pass", 0.0: "fail"}


@pytest.mark.parametrize(
    ("ties", "n_items"), [("fails", 250), ("not_judged", 25), ("negative", 25)]
)
def test_verdicts_are_those_of_a_plain_program(ties, n_items):
    cells = random_cells(n_items, ["t1", "t2", "t3", "t4"], seed=n_items)
    found = statement_verdicts(statements(cells), ("respondent",), ties=ties)
    answers = {place: [1] * yes + [0] * no for place, (yes, no) in cells.items()}
    expected = plain_verdicts(answers, ties=ties)
    assert len(found.frame) == len(expected) == 4 * n_items
    names = {**{test: test for test in TESTS}, "five": "reliable", "six": "reliable_across"}
    for row in found.frame.to_dict("records"):
        own = {plain: WORDS.get(row[name], "not judged") for plain, name in names.items()}
        assert own == expected[row["item"], row["template"]]


@pytest.mark.parametrize("ties", ["fails", "not_judged", "negative"])
def test_chances_are_those_of_simulated_random_answers(ties):
    cells = random_cells(2500, ["t1", "t2"], seed=4, n=(6, 10, 12), lean=False)
    cells = {place: own for place, own in cells.items() if "paraphrase_2" not in place}
    found = statement_verdicts(
        statements(cells), (), ties=ties, sampling=SamplingRule(200), baseline=True
    )
    for name in (*TESTS, "reliable", "reliable_across"):
        passing, judged = found.chances[name]
        simulated = found.frame[name]
        assert judged.mean() == pytest.approx(simulated.notna().mean(), abs=0.02)
        assert passing.mean() == pytest.approx((simulated == 1).mean(), abs=0.02)

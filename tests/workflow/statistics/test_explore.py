"""Explore: every measure by hand and against pandas, filters, undefined numbers, addresses."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.instrument import Instrument, Item, Option, ResponseFormat
from core.errors import NotEnoughData
from core.store import banks as bank_store
from core.workflow.answers import browsing, exports, imports
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, explore, item_attributes
from core.workflow.statistics.explore import FollowUp, View
from tests.workflow.studies import freeze, simulated

# A study of 16 answers, worked by hand. Item a2 is reverse-keyed: 1, 2, 3 score 3, 2, 1.
#       m1: c1  c2    m2: c1   c2
# a1        3   3         1    1
# a2        1   3         2    error
# b1        2   1         ref  ref
# b2        ref 2         ref  1
HAND = """item,model,context,answer,status,latency_s,tokens_in,cost
a1,m1,c1,3,answered,1,10,0.001
a1,m1,c2,3,answered,1,10,0.001
a2,m1,c1,1,answered,1,10,0.001
a2,m1,c2,3,answered,1,10,0.001
b1,m1,c1,2,answered,1,10,0.001
b1,m1,c2,1,answered,1,10,0.001
b2,m1,c1,,refused,1,10,0.001
b2,m1,c2,2,answered,3,18,0.001
a1,m2,c1,1,answered,1,20,
a1,m2,c2,1,answered,1,20,
a2,m2,c1,2,answered,1,20,
a2,m2,c2,,error,9,,
b1,m2,c1,,refused,1,20,
b1,m2,c2,,refused,1,20,
b2,m2,c1,,refused,1,20,
b2,m2,c2,1,answered,1,20,
"""


@pytest.fixture
def hand(workspace, small_bank):
    bank_store.save_draft(workspace.database, small_bank, expected_revision=None, summary="test")
    text = HAND.replace("item,", "study,instrument,item,", 1).splitlines()
    rows = [text[0], *(f"hand,small,{line}" for line in text[1:])]
    imports.import_tidy(workspace, "hand.csv", "\n".join(rows).encode())
    return workspace


def rows_of(workspace, view, study="hand"):
    """The rows of a view by its levels."""
    table = explore.count_view(workspace, study, view)
    return table.frame.set_index(list(view.factors))


def test_the_mean_score_by_hand(hand):
    frame = rows_of(hand, View("mean_score", "respondent"))
    assert list(frame.index) == ["m1", "m2"]
    assert frame["value"].tolist() == pytest.approx([15 / 7, 5 / 4])
    assert frame["n"].tolist() == [7, 4]
    assert frame["missing"].tolist() == [1, 4]
    # m2: scores 1 2 of c1 and 1 1 of c2; sums of residuals .5 and -.5; error sqrt(2 * .5) / 4; t of
    # one degree of freedom 12.7062
    assert frame.loc["m2", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [1.25 - 0.25 * 12.7062, 1.25 + 0.25 * 12.7062], abs=1e-4
    )
    assert frame[["units", "unit"]].values.tolist() == [[2, "contexts"], [2, "contexts"]]
    items = rows_of(hand, View("mean_score", "item", color="respondent"))
    assert items.loc[("a2", "m1"), "value"] == 2  # 1 scores 3, and 3 scores 1
    assert items.loc[("a2", "m1"), ["ci_low", "ci_high"]].notna().all()


def test_attributes_of_items_are_factors_and_filters_by_hand(workspace, small_bank):
    values = ({"country": "DE", "year": 10}, {"country": "FR", "year": 9}, {"country": "DE"}, {})
    pairs = zip(small_bank.items, values, strict=True)
    items = tuple(replace(item, attributes=own, rank=len(own)) for item, own in pairs)
    bank = replace(small_bank, items=items)
    bank_store.save_draft(workspace.database, bank, expected_revision=None, summary="test")
    lines = HAND.splitlines()
    rows = ["study,instrument," + lines[0], *(f"hand,small,{line}" for line in lines[1:])]
    imports.import_tidy(workspace, "hand.csv", "\n".join(rows).encode())
    frame = rows_of(workspace, View("mean_score", "item.country", color="respondent"))
    assert list(frame.index) == [(c, m) for c in ("DE", "FR", "(none)") for m in ("m1", "m2")]
    assert frame["n"].tolist() == [4, 2, 2, 1, 1, 1]
    assert frame["value"].tolist() == pytest.approx([9 / 4, 1, 2, 2, 2, 1])
    frame = rows_of(workspace, View("usable", "item.year", where={"item.country": ("DE", "")}))
    assert list(frame.index) == ["10", "(none)"]
    assert frame["n"].tolist() == [4, 8]
    frame = rows_of(workspace, View("mean_score", "item.rank", where={"item.keyed": ("1",)}))
    assert frame["n"].to_dict() == {"0": 2, "1": 2, "2": 4}
    frame = rows_of(workspace, View("tokens_in", "item.country"))
    assert frame["total"].to_dict() == {"DE": 120, "FR": 40, "(none)": 68}
    assert explore.default_view(workspace, "hand").factors == ("item", "respondent")
    levels = explore.levels_of_factors(workspace, "hand")
    assert levels["item.year"] == ["9", "10", ""]
    with pytest.raises(NotEnoughData, match="no attribute"):
        explore.count_view(workspace, "hand", View("mean_score", "item.colour"))
    view = View("mean_score", "item.country", where={"item.year": ("9",)})
    assert explore.view_from_address(view.address) == view


def test_what_is_undefined_is_nan_with_its_reason(hand):
    frame = rows_of(hand, View("mean_score", "item", color="respondent"))
    same, one, none = frame.loc[("a1", "m1")], frame.loc[("b2", "m2")], frame.loc[("b1", "m2")]
    assert same["value"] == 3
    assert math.isnan(same["ci_low"])
    assert same["remark"] == "Every score is the same: no interval."
    assert one["value"] == 1
    assert math.isnan(one["ci_high"])
    assert one["remark"] == "One score: no interval."
    assert math.isnan(none["value"])
    assert none[["remark", "n"]].tolist() == ["No score.", 0]
    cost = rows_of(hand, View("cost", "respondent"))
    assert math.isnan(cost.loc["m2", "value"])
    assert cost.loc["m2", "remark"] == "No number of an attempt."
    chosen = rows_of(hand, View("option_share", "item", color="respondent", option="1"))
    assert chosen.loc[("b1", "m2"), "remark"] == "No answer chose an option."
    entropy = rows_of(hand, View("entropy", "item", color="respondent"))
    assert entropy.loc[("b1", "m2"), "remark"] == "No answer chose an option."


def test_shares_by_hand(hand):
    option = rows_of(hand, View("option_share", "respondent", option="1"))
    assert option["value"].tolist() == pytest.approx([2 / 7, 3 / 4])
    assert option["n"].tolist() == [7, 4]
    assert option["missing"].tolist() == [1, 4]
    # m2: c1 has 1 of 2, c2 has 2 of 2; error .25; effectively .1875 / .0625 = 3 answers; Wilson by
    # t of one degree of freedom instead of 1.96: (.75 + t²/6 ± t sqrt(.0625 + t²/36)) / (1 + t²/3)
    t = 12.7062
    half = t * math.sqrt(0.0625 + t**2 / 36)
    assert option.loc["m2", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [(0.75 + t**2 / 6 + sign * half) / (1 + t**2 / 3) for sign in (-1, 1)], abs=1e-5
    )
    # R: prop.test(1, 2, correct = FALSE); one answer of each context
    alone = rows_of(hand, View("option_share", "item", where={"respondent": ("m2",)}, option="2"))
    assert alone.loc["a1", ["ci_low", "ci_high"]].tolist() == pytest.approx(
        [0, 0.6576198], abs=1e-5
    )
    usable = rows_of(hand, View("usable", "respondent"))
    assert usable["value"].tolist() == [7 / 8, 4 / 8]
    assert usable["n"].tolist() == [8, 8]  # an error was asked
    refused = rows_of(hand, View("refused", "respondent"))
    assert refused["value"].tolist() == [1 / 8, 3 / 8]
    never = rows_of(hand, View("option_share", "respondent", option="no such option"))
    assert never["value"].isna().all()
    assert set(never["remark"]) == {"The answer format does not have this option."}


def test_entropy_by_hand(hand):
    frame = rows_of(hand, View("entropy", "respondent"))
    # m1: option 3 three times, 1 and 2 twice each; m2: 1 three times, 2 once
    m1 = -(3 / 7 * math.log2(3 / 7) + 2 * (2 / 7 * math.log2(2 / 7)))
    assert frame["value"].tolist() == pytest.approx([m1, 0.8112781])
    assert "ci_low" not in frame


def test_numbers_of_attempts_by_hand(hand):
    tokens = rows_of(hand, View("tokens_in", "respondent"))
    assert tokens["value"].tolist() == [11, 20]
    assert tokens["total"].tolist() == [88, 140]
    assert tokens["n"].tolist() == [8, 7]
    assert tokens["missing"].tolist() == [0, 1]
    latency = rows_of(hand, View("latency", "respondent"))
    assert latency["value"].tolist() == [10 / 8, 1]  # without the attempt that failed
    cost = rows_of(hand, View("cost", "respondent"))
    assert cost.loc["m1", ["value", "total"]].tolist() == pytest.approx([1.0, 0.008])


def test_filters_leave_out_other_answers(hand):
    view = View("mean_score", "respondent", where={"item": ("a1", "a2"), "context": ("c1",)})
    frame = rows_of(hand, view)
    assert frame["value"].tolist() == [3, 1.5]
    assert frame["n"].tolist() == [2, 2]
    assert rows_of(hand, View("tokens_in", "respondent", where={"item": ("b2",)}))[
        "value"
    ].tolist() == [14, 20]
    with pytest.raises(NotEnoughData, match="No planned answers pass"):
        rows_of(hand, View("mean_score", "respondent", where={"item": ("none such",)}))


def test_the_answer_names_the_lowest_and_the_highest_row(hand):
    view = View("mean_score", "respondent")
    sentence = explore.answer(explore.count_view(hand, "hand", view), view)
    assert sentence == "Mean score: from 1.25 (m2) to 2.14 (m1); n = 11, missing 5."
    view = View("mean_score", "repetition")
    sentence = explore.answer(explore.count_view(hand, "hand", view), view)
    assert sentence == "Mean score: 1.82 (repetition 1); n = 11, missing 5."
    view = View("tokens_in", "item", where={"respondent": ("m2",)})
    sentence = explore.answer(explore.count_view(hand, "hand", view), view)
    assert sentence == "Tokens of the prompt: 20.00 in every row; n = 7, missing 1."
    view = View("cost", "respondent", where={"respondent": ("m2",)})
    sentence = explore.answer(explore.count_view(hand, "hand", view), view)
    assert sentence.startswith("Cost of 1,000 attempts (US$): undefined in every row (n = 0,")


def test_a_long_or_turned_level_leaves_the_sentence_readable(workspace):
    turned = f"{'x' * 50}\u202e"
    text = f"study,item,model,answer,score\ns,q1,m1,1,1\ns,{turned},m1,2,2\n"
    imports.import_tidy(workspace, "s.csv", text.encode())
    view = View("mean_score", "item")
    sentence = explore.answer(explore.count_view(workspace, "s", view), view)
    name = f"\u2068{'x' * 40}…\u2069"
    assert sentence == f"Mean score: from 1.00 (q1) to 2.00 ({name}); n = 2, missing 0."


def test_formats_with_other_points_are_not_pooled(workspace):
    formats = tuple(
        ResponseFormat(code, tuple(Option(str(p), float(p)) for p in range(1, k + 1)))
        for code, k in (("three", 3), ("five", 5))
    )
    bank = Instrument("two", "Two formats", (Item("q1"), Item("q2")), formats)
    bank_store.save_draft(workspace.database, bank, expected_revision=None, summary="test")
    lines = ["study,instrument,item,format,context,answer"]
    lines += [f"s,two,q1,{f},c{k},{k}" for f in ("three", "five") for k in (1, 2, 3)]
    lines += ["s,two,q2,five,c1,5"]
    imports.import_tidy(workspace, "s.csv", "\n".join(lines).encode())
    for view in (
        View("mean_score", "item"),
        View("entropy", "item"),
        View("option_share", "item", option="1"),
    ):
        frame = rows_of(workspace, view, "s")
        assert math.isnan(frame.loc["q1", "value"])
        assert frame.loc["q1", "remark"].startswith("Several answer formats")
        assert math.isfinite(frame.loc["q2", "value"])
        apart = rows_of(workspace, View(view.measure, "item", "format", option=view.option), "s")
        assert apart["value"].notna().all()
    share = rows_of(workspace, View("option_share", "item", "format", option="5"), "s")
    assert share.loc[("q1", "three"), "remark"] == "The answer format does not have this option."
    view = explore.default_view(workspace, "s")
    assert view == View("mean_score", "item", "format")
    sentence = explore.answer(explore.count_view(workspace, "s", view), view)
    each = "from 2.00 (q1, five) to 5.00 (q2, five); 2.00 (q1, three); n = 7, missing 0."
    assert sentence == f"Mean score: {each}"


def test_the_view_says_what_is_counted_together(workspace):
    lines = ["study,item,model,template,context,repetition,answer,score"]
    lines += [
        f"s,q{i},m{m},t{t},c{c},{r},{i},{i}"
        for i in (1, 2)
        for m in (1, 2, 3)
        for t in (1, 2)
        for c in (1, 2)
        for r in (1, 2)
    ]
    imports.import_tidy(workspace, "s.csv", "\n".join(lines).encode())

    def words(*factors, **where):
        return explore.pooled_words(workspace, "s", View("mean_score", *factors, where=where))

    assert words("item").startswith("Answers of 3 respondents, 2 contexts and 2 templates are")
    assert words("item", "model").startswith("Answers of 2 contexts and 2 templates are")
    assert words("item", "respondent", template=("t1",)).startswith("Answers of 2 contexts are")
    assert not words("template", "respondent", "context")


# Against pandas, on the rows of the tidy export.


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Two respondents, two languages, two repetitions, four personas; 20 items."""
    found = open_workspace(tmp_path_factory.mktemp("explore") / "asked.duckdb")
    from core.workflow.respondents import catalog

    catalog.save(found, simulated("Second", refusal_rate=0.2, explanation_rate=0.3, seed=5))
    freeze(
        found,
        simulated("First", refusal_rate=0.1, seed=2),
        n_personas=4,
        also=("Second",),
        languages=("en", "de"),
        repetitions=2,
    )
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    yield found
    found.close()


@pytest.fixture(scope="module")
def exported(asked):
    data = exports.export_tidy(asked, "study")
    frame = pd.read_csv(io.BytesIO(data), dtype={"answer": str}, keep_default_na=False)
    frame["score"] = pd.to_numeric(frame["score"])
    subscales = {i.code: i.subscale for i in studies.frozen_bank(asked, "study").items}
    frame["subscale"] = frame["item"].map(subscales)
    return frame.rename(columns={"model": "respondent"})


def entropy_of(answers):
    shares = answers[answers != ""].value_counts(normalize=True)
    return -(shares * np.log2(shares)).sum()


BY_PANDAS = {
    "mean_score": lambda own: own["score"].mean(),
    "option_share": lambda own: (own["answer"] == "4").sum() / (own["answer"] != "").sum(),
    "usable": lambda own: own["status"].isin(["answered", "answered_with_explanation"]).mean(),
    "refused": lambda own: (own["status"] == "refused").mean(),
    "entropy": lambda own: entropy_of(own["answer"]),
    "tokens_in": lambda own: pd.to_numeric(own["tokens_in"]).mean(),
    "tokens_out": lambda own: pd.to_numeric(own["tokens_out"]).mean(),
    "latency": lambda own: pd.to_numeric(own["latency_s"]).mean(),
    "cost": lambda own: 1000 * pd.to_numeric(own["cost"]).mean(),
}
CROSSED = [
    ("respondent", "", ""),
    ("item", "language", "respondent"),
    ("context", "repetition", "subscale"),
    ("subscale", "form", ""),
]


def test_every_measure_is_compared():
    assert list(BY_PANDAS) == [measure.code for measure in explore.MEASURES]


@pytest.mark.parametrize("code", BY_PANDAS)
@pytest.mark.parametrize("factors", CROSSED)
def test_every_measure_is_that_of_pandas_on_the_exported_rows(asked, exported, code, factors):
    for where in ({}, {"language": ("de",), "repetition": ("2",), "context": ("p0001", "p0003")}):
        view = View(code, *factors, option="4" if code == "option_share" else "", where=where)
        frame = rows_of(asked, view, "study")
        rows = exported
        for name, levels in where.items():
            rows = rows[rows[name].astype(str).isin(levels)]
        expected = rows.groupby(list(view.factors)).apply(BY_PANDAS[code])
        assert len(frame) == len(expected)
        assert frame["value"].tolist() == pytest.approx(
            expected.reindex(frame.index).tolist(), nan_ok=True
        )
        sizes = rows.groupby(list(view.factors)).size().reindex(frame.index)
        assert (frame["n"] + frame["missing"]).tolist() == sizes.tolist()


def test_levels_stand_in_the_order_of_the_bank_or_of_numbers(asked):
    table = explore.count_view(asked, "study", View("mean_score", "item", "repetition"))
    items = [item.code for item in studies.frozen_bank(asked, "study").items]
    assert list(dict.fromkeys(table.frame["item"])) == items
    assert table.frame["repetition"].tolist()[:2] == [1, 2]
    assert table.title == "Mean score by item, repetition"


def test_an_attempt_at_several_items_counts_once(workspace):
    freeze(workspace, simulated(), n_personas=2, items_per_call=5)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    calls = pd.read_csv(io.BytesIO(control.calls_csv(workspace, "study")))
    by_respondent = rows_of(workspace, View("tokens_in", "respondent"), "study")
    assert by_respondent["n"].tolist() == [len(calls)] == [8]
    assert by_respondent["total"].tolist() == [calls["tokens_in"].sum()]
    by_item = rows_of(workspace, View("tokens_in", "item"), "study")
    assert by_item["n"].tolist() == [2] * 20  # of the two personas


def test_too_many_combinations_are_refused(asked, monkeypatch):
    monkeypatch.setattr(explore, "MOST_CELLS", 79)
    with pytest.raises(NotEnoughData, match="more than 79 combinations"):
        explore.count_view(asked, "study", View("entropy", "item", "context"))
    explore.count_view(asked, "study", View("entropy", "item", "language"))


# Addresses, saved views, and what a study opens with.


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        (View("mean", "item"), "no measure 'mean'"),
        (View("usable", "planet"), "no factor 'planet'"),
        (View("usable", "item", where={"planet": ("earth",)}), "no factor 'planet'"),
        (View("usable", "item", "item"), "each factor once"),
        (View("option_share", "item"), "needs an option"),
    ],
)
def test_what_is_unknown_is_refused_with_one_message(hand, view, problem):
    with pytest.raises(NotEnoughData, match=problem):
        explore.count_view(hand, "hand", view)
    if not view.where:  # an address may hold parameters of other pages
        with pytest.raises(NotEnoughData, match=problem):
            explore.view_from_address(view.address)


def test_an_address_restores_its_view():
    view = View(
        "option_share",
        "item",
        "language",
        "respondent",
        "4",
        {"context": ("", "p 1"), "repetition": ("2",)},
    )
    assert explore.view_from_address(view.address) == view
    others = {"study": ["s"], "analysis": ["dif"], "search": ["x"]}
    assert explore.view_from_address(view.address | others) == view
    assert explore.view_from_address(others) is None


def test_a_view_is_saved_with_its_study(hand):
    assert explore.saved_view(hand, "hand") is None
    view = View("usable", "item", where={"context": ("c1",)})
    explore.save_view(hand, "hand", view)
    assert explore.saved_view(hand, "hand") == view
    assert explore.saved_view(hand, "other") is None


def test_a_study_opens_with_items_and_with_what_must_not_be_pooled(asked, hand):
    expected = View("mean_score", "item", "language", "respondent")
    assert explore.default_view(asked, "study") == expected
    assert explore.default_view(hand, "hand") == View("mean_score", "item", "respondent")


def test_a_study_without_scores_opens_with_the_share_usable(workspace):
    text = "study,item,model,answer\ns,q1,m1,a\ns,q1,m2,b\n"
    imports.import_tidy(workspace, "s.csv", text.encode())
    assert explore.default_view(workspace, "s") == View("usable", "item", "respondent")
    assert explore.options_of(workspace, "s") == {"a": "", "b": ""}


# The analysis that goes on.


@pytest.mark.parametrize(
    ("view", "imported", "expected"),
    [
        (View("mean_score", "language"), False, ("score_correlations", "language", True)),
        (View("mean_score", "language"), True, ("group_comparison", "language", True)),
        (View("mean_score", "subscale", "model"), False, ("group_comparison", "model", True)),
        (View("mean_score", "context", "form"), False, ("score_correlations", "form", True)),
        (View("mean_score", "item", "respondent"), False, ("dif", "respondent", True)),
        (View("mean_score", "item"), False, ("item_statistics", None, False)),
        (View("mean_score", "context"), False, ("score_distribution", None, False)),
        (View("entropy", "item", "language"), False, ("option_distribution", None, False)),
        (View("latency", "respondent"), False, None),
    ],
)
def test_the_analysis_that_goes_on_from_a_view(view, imported, expected):
    follow = explore.follow_up(view, imported=imported)
    if expected is None:
        assert follow is None
    else:
        assert (follow.analysis, follow.options.get("factor"), follow.tests) == expected


@pytest.mark.parametrize("measure", ["mean_score", "usable"])
@pytest.mark.parametrize("factors", CROSSED)
def test_its_options_are_saved_and_are_options_of_it(asked, measure, factors):
    follow = explore.follow_up(View(measure, *factors), imported=False)
    assert isinstance(follow, FollowUp)
    explore.save_follow_up(asked, "study", follow)
    analysis = analyses.by_name(follow.analysis)
    saved = analyses.saved_options(asked, "study", analysis)
    assert {name: saved[name] for name in follow.options} == dict(follow.options)


def test_the_replies_of_a_row_have_its_filters(hand):
    view = View("mean_score", "item", "respondent", where={"context": ("c1",)})
    table = explore.count_view(hand, "hand", view)
    assert explore.replies_of_row(view, table, 1) == {
        "context": ["c1"],
        "item": ["a1"],
        "respondent": ["m2"],
    }
    assert explore.replies_of_row(view, table, None) == {"context": ["c1"]}
    view = View("mean_score", "language", "subscale")
    table = explore.count_view(hand, "hand", view)
    for row, numbers in enumerate(table.frame[["n", "missing"]].sum(axis=1)):
        filters = explore.replies_of_row(view, table, row)
        filters = item_attributes.as_item_filter(hand, "hand", filters)
        assert browsing.page(hand, "hand", filters, "")[1] == numbers
    view = View("mean_score", "entity")
    table = explore.count_view(hand, "hand", view)
    assert table.frame["entity"].tolist() == ["(none)"]
    assert explore.replies_of_row(view, table, 0) == {"entity": [""]}

"""The pilot of templates: shares by hand, intervals of others, proposals, ties and gaps."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from core.analysis.quality.template_pilot import proposed_templates, template_pilot
from core.charts.unexpected import template_pilot_charts
from core.errors import NotEnoughData
from tests.analysis.score_frames import option_counts
from tests.examples import few_examples
from tests.unit_intervals import wilson_of_error

NAN = float("nan")
KINDS = {"p1": "personal", "p2": "personal", "p3": "personal", "i1": "impersonal", "free": ""}
TEMPLATES = pd.DataFrame(
    [("s", code, f"Title {code}", kind) for code, kind in KINDS.items()],
    columns=["study", "template", "title", "kind"],
)
FACTORS = {"label_order": "as_is", "language": "en", "entity": "", "entity_b": ""}


def asked(template, rows, **factors):
    """Trials with one template; `rows` are (item, yes, no, refused)."""
    cells = [
        (item, code, place + 1, 1.0 - place, False, n)
        for item, *given_yes_no, _ in rows
        for place, (code, n) in enumerate(zip(("yes", "no"), given_yes_no, strict=True))
        if n
    ]
    cells += [(row[0], "refused", NAN, NAN, True, row[3]) for row in rows if row[3]]
    own = {**FACTORS, "template": template, "format": "yes_no", **factors}
    frame = option_counts(cells, **own)
    return frame.assign(stance=frame["option"].map({"yes": 1.0, "no": -1.0}))


# Usable of 20: p1 18, p2 15, p3 15, i1 20, free 0.
PILOT = {
    "p1": [("q1", 10, 0, 0), ("q2", 0, 8, 2)],
    "p2": [("q1", 5, 0, 5), ("q2", 10, 0, 0)],
    "p3": [("q1", 10, 0, 0), ("q2", 0, 5, 5)],
    "i1": [("q1", 10, 0, 0), ("q2", 1, 9, 0)],
    "free": [("q1", 0, 0, 10), ("q2", 0, 0, 10)],
}


def frame_of(pilot):
    return pd.concat([asked(code, rows) for code, rows in pilot.items()], ignore_index=True)


def run(frame, **options):
    return template_pilot(frame, **{"resamples": 0, "templates": TEMPLATES, **options})


def tables(frame, **options):
    result = run(frame, **options)
    return {t.name: t.frame for t in result.tables} | {"result": result}


def test_shares_ranks_kinds_and_proposals_worked_by_hand():
    found = tables(frame_of(PILOT), count=1)
    rows = found["templates"].set_index("template")
    assert list(rows.index) == ["i1", "p1", "p2", "p3", "free"]
    assert rows["share"].tolist() == [1.0, 0.9, 0.75, 0.75, 0.0]
    assert rows["rank"].tolist() == [1, 2, 3, 3, 5]
    assert rows["kind"].tolist() == ["impersonal", *["personal"] * 3, "not stated"]
    assert rows.index[rows["proposed"]].tolist() == ["i1", "p1"]
    assert rows["items"].tolist() == [2] * 5
    assert rows.loc["p1", "title"] == "Title p1"
    outputs = found["outputs"].set_index("template")
    assert outputs.loc["p2", ["trials", "usable", "refused", "error"]].tolist() == [20, 15, 5, 0]
    result = found["result"]
    assert (result.n_used, result.n_missing) == (68, 32)
    assert proposed_templates(result) == {"all administrations": ("i1", "p1")}


def test_the_stance_of_a_template_is_set_beside_those_of_the_others_on_the_same_item():
    """Majorities on q1 and q2: p1 + -, p2 + +, p3 + -, i1 + -; p2 differs on q2 from all three."""
    rows = tables(frame_of(PILOT))["templates"].set_index("template")
    assert rows.loc[["p1", "p3", "i1"], "agreement"].tolist() == pytest.approx([5 / 6] * 3)
    assert rows.loc["p2", "agreement"] == 3 / 6
    assert math.isnan(rows.loc["free", "agreement"])


def test_wilsons_interval_is_that_of_statsmodels_and_scipy():
    rows = tables(frame_of(PILOT), ci_level=0.9)["templates"]
    ends = rows[["wilson_low", "wilson_high"]].to_numpy()
    for place, (k, n) in enumerate(rows[["usable", "trials"]].to_numpy()):
        other = proportion_confint(k, n, alpha=0.1, method="wilson")
        assert ends[place] == pytest.approx(other, abs=1e-12)
        own = binomtest(int(k), int(n)).proportion_ci(0.9, method="wilson")
        assert ends[place] == pytest.approx((own.low, own.high), abs=1e-12)


def test_intervals_and_the_sureness_of_a_proposal_are_those_of_all_draws_of_two_items():
    """Draws of q1 q1, q1 q2 (twice) and q2 q2. Of the personal ones p1 has 1, .9, .8; p2 .5, .75,
    1; p3 1, .75, .5. The best is p1 or p3 (a half each), p1, and p2."""
    rows = tables(frame_of(PILOT), count=1, resamples=8000)["templates"].set_index("template")
    # the interval is of 2 units whose standard error is .1
    expected_ends = wilson_of_error(0.9, 0.1, 2)
    assert rows.loc["p1", ["ci_low", "ci_high"]].tolist() == pytest.approx(expected_ends, abs=0.01)
    expected = {"p1": 0.25 / 2 + 0.5, "p2": 0.25, "p3": 0.25 / 2, "i1": 1.0, "free": 0.0}
    for code, share in expected.items():
        assert rows.loc[code, "chosen"] == pytest.approx(share, abs=0.02)


def test_equal_shares_are_proposed_in_the_order_of_the_design_and_that_is_said():
    result = run(frame_of(PILOT), count=2)
    rows = result.tables[0].frame
    assert rows.loc[rows["proposed"], "template"].tolist() == ["i1", "p1", "p2"]
    (tie,) = [c for c in result.cautions if "same share" in c]
    assert "p2, p3 have the same share (75.0%); p2 stand first in the design" in tie
    (only,) = [n for n in result.notes if "the only one" in n]
    assert "the only one of kind impersonal is proposed" in only
    assert any(
        "Neither personal nor impersonal by their own account: free" in n for n in result.notes
    )


def test_a_template_that_nobody_answered_stands_last_and_is_not_proposed():
    result = run(frame_of(PILOT), count=5)
    assert any(
        "no reply to free is usable, so that it is not proposed" in c for c in result.cautions
    )
    assert not result.tables[0].frame["proposed"].iloc[-1]


def test_one_template_is_shown_and_nothing_is_ranked_or_proposed():
    result = run(asked("p1", PILOT["p1"]))
    assert result.tables[0].frame["share"].tolist() == [0.9]
    assert "there is one template only (p1), so none is ranked or proposed" in result.cautions[0]
    assert proposed_templates(result) == {}


def test_other_items_other_respondents_and_trials_not_asked_are_named():
    frame = frame_of({"p1": PILOT["p1"], "p2": PILOT["p2"][:1]})
    other = asked("p1", PILOT["p1"], respondent="b")
    waiting = asked("p3", [("q1", 1, 0, 0)]).assign(status="not_asked", option="")
    result = run(pd.concat([frame, other, waiting]))
    said = " ".join(result.cautions)
    assert "not asked the same items: 1 of 2 items were asked with all of them" in said
    assert "Not every template was asked at every level of respondent" in said
    assert "no trial was asked with p3, so no share" in said
    assert "1 planned trials have not been asked yet" in said
    levels = {t.name: t.frame for t in result.tables}["levels"]
    assert levels[["template", "level", "share"]].to_numpy().tolist() == [
        ["p1", "gpt", 0.9],
        ["p2", "gpt", 0.5],
        ["p1", "b", 0.9],
    ]


def test_groups_have_a_ranking_of_their_own_and_formats_of_their_own_are_said():
    first = frame_of(PILOT)
    second = pd.concat(
        [
            asked("p1", PILOT["p2"], respondent="b", format="support_oppose"),
            asked("p2", PILOT["p1"], respondent="b"),
        ]
    )
    result = run(pd.concat([first, second]), by=("respondent",), count=1)
    assert proposed_templates(result) == {"gpt": ("i1", "p1"), "b": ("p2",)}
    assert any("response formats of their own" in note for note in result.notes)
    assert result.tables[0].frame.groupby("respondent")["rank"].min().tolist() == [1, 1]


def test_without_answers_or_templates_it_says_so():
    frame = frame_of(PILOT)
    with pytest.raises(NotEnoughData, match="no answers yet"):
        run(frame.iloc[:0])
    with pytest.raises(NotEnoughData, match="no factor template"):
        run(frame.drop(columns="template"))
    nobody = run(frame.assign(status="not_asked", option="", template=""))
    assert "no trial was asked, so there are no shares" in nobody.cautions[0]
    assert nobody.tables[0].frame["template"].tolist() == ["(none)"]


def test_the_chart_has_a_shape_for_each_kind_and_marks_what_is_proposed():
    chart, bars = template_pilot_charts(run(frame_of(PILOT), count=1), "light")
    assert chart.data["item"].tolist() == ["i1", "p1", "p2", "p3", "free"]
    assert [bool(mark) for mark in chart.data["label"]] == [True, True, False, False, False]
    (panel,) = chart.panels
    (shape,) = [
        part["encoding"]["shape"]
        for part in panel.to_dict()["layer"]
        if "shape" in part["encoding"]
    ]
    assert shape["scale"]["domain"] == ["impersonal", "personal", "not stated"]
    assert len(set(shape["scale"]["range"])) == 3
    assert "Proposed: i1, p1." in chart.alt
    assert "refused" in json.dumps(bars.spec.to_dict())


@few_examples
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=5),
    st.integers(1, 3),
)
def test_whatever_the_counts_no_template_left_out_is_better_than_a_proposed_one(counts, count):
    codes = list(KINDS)[: len(counts)]
    pilot = {
        code: [("q1", yes, 0, 10 - yes), ("q2", 0, no, 10 - no)]
        for code, (yes, no) in zip(codes, counts, strict=True)
    }
    rows = tables(frame_of(pilot), count=count)["templates"]
    for _, own in rows.groupby("kind"):
        taken, left = own[own["proposed"]], own[~own["proposed"]]
        assert len(taken) == min(count, int((own["share"] > 0).sum()))
        assert not len(left) or not len(taken) or left["share"].max() <= taken["share"].min()
    assert np.all(np.diff(rows["share"]) <= 0)

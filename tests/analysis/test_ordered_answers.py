"""One rule for ordered answers, for options nobody chose and for items nobody answered."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.efa.analysis import efa
from core.analysis.groups.dif import dif
from core.analysis.items.graded_response.analysis import graded_response
from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.rows import average_over
from core.analysis.scales.internal_consistency import internal_consistency
from core.domain.frames import OPTION_POINTS
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores

GOLDEN = Path(__file__).parent.parent / "stats" / "golden"
SCALES = pd.read_csv(GOLDEN / "ordered_scales.csv")
LAVAAN = json.loads((GOLDEN / "ordered_scales.json").read_text())


def of_kind(letter, n=400):
    return SCALES.filter(like=letter).to_numpy(float)[:n]


def in_two_languages(values, **factors):
    half = len(values) // 2
    parts = [
        item_scores(values[:half], language="en", **factors),
        item_scores(values[half:], language="de", start=half + 1, **factors),
    ]
    return pd.concat(parts, ignore_index=True)


ORDERED = {
    "WLSMV": lambda frame: cfa(frame, estimator="wlsmv"),
    "comparison": lambda frame: cfa_comparison(
        frame, estimator="wlsmv", models="## A\nF =~ i1+i2+i3+i4+i5+i6\n## B\nF =~ i1+i2+i3+i4+i5"
    ),
    "graded response": lambda frame: graded_response(frame, steps=3),
    "polychoric": lambda frame: efa(frame, correlation="polychoric", factors=1),
    "item functioning": lambda frame: dif(frame, fewest=5),
}


@pytest.mark.parametrize("name", ORDERED)
def test_continuous_and_averaged_scores_are_refused_with_the_true_reason(name):
    rng = np.random.default_rng(1)
    continuous = in_two_languages(rng.normal(size=(60, 6)))
    with pytest.raises(NotEnoughData, match="different scores; ordered answers have at most 20"):
        ORDERED[name](continuous)
    thirds = in_two_languages(rng.integers(3, 16, (60, 6)) / 3)
    with pytest.raises(NotEnoughData, match=r"different scores such as 1\.\d+, as averages"):
        ORDERED[name](thirds)
    between = in_two_languages(np.where(rng.random((60, 6)) < 0.1, 2.5, of_kind("t", 60) // 2))
    between[OPTION_POINTS] = "0.0 1.0 2.0 3.0 4.0 5.0"
    with pytest.raises(NotEnoughData, match=r"the score 2\.5, which is none of its options \(0, 1"):
        ORDERED[name](between)


@pytest.mark.parametrize("letter", ["t", "h"])
@pytest.mark.parametrize("name", ORDERED)
def test_answers_on_0_to_10_and_on_half_points_are_ordered(name, letter):
    assert ORDERED[name](in_two_languages(of_kind(letter))).tables


@pytest.mark.parametrize(("scale", "letter"), [("ten", "t"), ("half", "h")])
def test_wlsmv_of_such_scales_agrees_with_lavaan(scale, letter):
    """lavaan 0.6-14; the script is gold_ordered.R."""
    tables = {t.name: t.frame for t in cfa(item_scores(of_kind(letter)), estimator="wlsmv").tables}
    wanted = LAVAAN[scale]
    fit = tables["fit"].iloc[0]
    found = [fit["chi2"], fit["df"], fit["chi2_scaled"], fit["srmr"]]
    np.testing.assert_allclose(found, wanted["fit"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        tables["loadings"]["standardized"], wanted["standardized"], rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(
        tables["thresholds"]["estimate"], wanted["thresholds"], rtol=0, atol=1e-8
    )


def test_averages_of_half_points_are_refused_although_half_points_are_answers():
    first, second = (np.random.default_rng(k).integers(1, 6, (40, 4)) for k in (1, 2))
    asked = {"format": "likert", "context": np.repeat(np.arange(40), 4).astype(str)}
    one = item_scores(first, repetition=1, **asked)
    two = item_scores(second, repetition=2, start=41, **asked)
    frame = pd.concat([one, two], ignore_index=True)
    means = average_over(frame, ["repetition"])
    assert (means["score"] % 1 == 0.5).any()
    with pytest.raises(NotEnoughData, match=r"\.5, which is none of its options \(1, 2, 3, 4"):
        graded_response(means)


@pytest.mark.parametrize("name", ORDERED)
def test_an_option_that_nobody_chose_is_named_with_its_item(name):
    values = of_kind("h").round()
    values[:, 2] = np.where(values[:, 2] == 3, 4, values[:, 2])  # nobody chooses 3
    values[:, 4] = np.clip(values[:, 4], 1, 4)  # nobody chooses 5
    frame = in_two_languages(values)
    for known in (False, True):
        if known:
            frame[OPTION_POINTS] = "1.0 2.0 3.0 4.0 5.0"
        notes = " ".join(ORDERED[name](frame).all_notes)
        if name == "comparison":
            notes = notes.split("gpt, B")[0]
        assert "Options that nobody chose are closed up: i3 (3); i5 (5)." in notes


def test_points_of_a_format_are_mirrored_for_reverse_keyed_items():
    """Options of 1, 2 and 4 points give a reverse-keyed item 4, 3 and 1."""
    rng = np.random.default_rng(3)
    values = np.array([1.0, 2, 4])[rng.integers(0, 3, (80, 4))]
    values[:, 3] = 5 - values[:, 3]
    frame = item_scores(values, keyed=[1, 1, 1, -1]).assign(**{OPTION_POINTS: "1.0 2.0 4.0"})
    assert not any("nobody chose" in note for note in graded_response(frame, steps=3).all_notes)


UNANSWERED = {
    **{name: run for name, run in ORDERED.items() if name != "comparison"},
    "MLR": lambda frame: cfa(frame, estimator="mlr"),
    "Pearson": lambda frame: efa(frame, factors=1),
    "alpha": internal_consistency,
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_items_that_nobody_answered_are_named_in_one_sentence(name):
    values = np.column_stack([of_kind("h").round(), np.full((400, 2), np.nan)])
    result = UNANSWERED[name](in_two_languages(values))
    said = [note for note in result.all_notes if "nobody answered" in note]
    assert said
    assert all(note.endswith("Left out, because nobody answered: i7, i8.") for note in said)
    assert not any("i7" in note for note in result.all_notes if note not in said)


LISTWISE = {
    "WLSMV": lambda frame: cfa(frame, estimator="wlsmv", missing="listwise"),
    "polychoric": lambda frame: efa(frame, correlation="polychoric", missing="listwise"),
    "MLR": lambda frame: cfa(frame, estimator="mlr", missing="listwise"),
    "Pearson": lambda frame: efa(frame, factors=1, missing="listwise"),
}


@pytest.mark.parametrize("complete", [0, 1])
@pytest.mark.parametrize("name", LISTWISE)
def test_where_complete_rows_lack_it_is_not_said_that_no_item_varies(name, complete):
    values = of_kind("h", 60).round()
    values[complete:, :][np.arange(60 - complete), np.arange(60 - complete) % 6] = np.nan
    with pytest.raises(NotEnoughData) as caught:
        LISTWISE[name](item_scores(values))
    said = str(caught.value)
    assert "varies" not in said
    assert "the same" not in said
    wanted = "Only 1 of 60 rows holds" if complete else "No row holds"
    assert wanted in said or f"over {complete} usable rows" in said


def test_scores_of_a_constant_item_are_not_counted_as_of_incomplete_administrations():
    values = of_kind("h").round()
    values[:, 5] = 3
    values[:10, 0] = np.nan
    (note,) = [n for n in item_statistics(item_scores(values)).all_notes if "leave out" in n]
    assert note == (
        "Discrimination and alpha leave out 40 usable scores in incomplete administrations and 400 "
        "usable scores of items without variance; means and variances use them."
    )

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.registry import all_analyses
from core.analysis.scales import reliability as scale_coefficients
from core.analysis.scales.reliability import reliability
from core.domain.frames import PEOPLE
from core.errors import NotEnoughData
from core.progress import watch
from tests.analysis.score_frames import golden, item_scores
from tests.stats.reference import expected
from tests.stats.reference import scores as reference_scores

HAND = [[1, 1], [2, 3], [3, 2]]
FEW = {"resamples": 100}


def rows(frame, **options):
    """The table by scale and coefficient."""
    result = reliability(frame, **{**FEW, **options})
    return result.tables[0].frame.set_index(["scale", "coefficient"])


def six_items(n=60, seed=4):
    """Three pairs of items that share a trait and a subscale each."""
    draw = np.random.default_rng(seed).normal
    values = draw(size=(n, 1)) + 0.6 * np.repeat(draw(size=(n, 3)), 2, axis=1)
    return np.clip(np.round(3 + values + draw(size=(n, 6))), 1, 5)


PAIRS = ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize("data", ["hs1939", "likert22"])
def test_alpha_and_its_interval_agree_with_psych(data):
    theirs, frame, tolerance = golden("internal_consistency", data)
    table = rows(frame, missing="listwise")
    for subscale, part in theirs.items():
        row, wanted = table.loc[(subscale, "α (Feldt)")], part["listwise"]
        found = (row["value"], row["ci_low"], row["ci_high"], row["n"])
        limits = (wanted["feldt_low"], wanted["feldt_high"])
        assert found == pytest.approx((wanted["alpha"], *limits, wanted["n"]), abs=tolerance)


@pytest.mark.parametrize("file", ["likert22_lavaan", "hs1939_lavaan"])
def test_omega_total_agrees_with_lavaan_and_stratified_alpha_with_its_formula_in_r(file):
    reference = expected(file)
    items = [item for own in reference["subscales"].values() for item in own]
    owner = [name for name, own in reference["subscales"].items() for _ in own]
    values = reference_scores(reference["data"][:-4], items)
    table = rows(item_scores(values, items=items, subscales=owner), missing="listwise")
    for name in reference["subscales"]:
        wanted = reference["reliability"][name]["omega_cfa1_ml_listwise"]
        assert table.loc[(name, "ω total (one factor)"), "value"] == pytest.approx(wanted, abs=1e-6)
    wanted = reference["reliability"]["stratified_alpha_listwise"]["value"]
    assert table.loc[("all items", "Stratified α"), "value"] == pytest.approx(wanted, abs=1e-9)


def test_worked_by_hand():
    # variances 1 and 1, covariance 1/2: alpha = 2 (1 - 2/3); halves correlate at 1/2: 2r / (1 + r)
    table = rows(item_scores(HAND)).loc["s"]
    assert table.loc["α (Feldt)", "value"] == pytest.approx(2 / 3)
    assert table.loc["Split-half, odd-even", "value"] == pytest.approx(2 / 3)
    assert np.isnan(table.loc["Split-half, mean", "ci_low"])


def test_stratified_alpha_worked_by_hand():
    # two copies of the hand scale: each sum has variance 3, their total 12, alpha 2/3 each
    values = np.column_stack([HAND, HAND])
    table = rows(item_scores(values, subscales=["x", "x", "y", "y"])).loc["all items"]
    assert table.loc["Stratified α", "value"] == pytest.approx(1 - 2 * 3 * (1 / 3) / 12)
    assert list(table.index[:5]) == [
        "α (Feldt)",
        "α (bootstrap)",
        "Stratified α",
        "ω total (one factor)",
        "ω hierarchical (second order)",
    ]


def test_omega_hierarchical_is_below_total_and_needs_three_subscales():
    frame = item_scores(six_items(400), subscales=PAIRS)
    table = rows(frame).loc["all items"]
    assert (
        0 < table.loc["ω hierarchical (second order)", "value"] < table.loc["Stratified α", "value"]
    )
    result = reliability(frame[frame["subscale"] != "c"], **FEW)
    table = result.tables[0].frame.set_index(["scale", "coefficient"])
    row = table.loc[("all items", "ω hierarchical (second order)")]
    assert np.isnan(row["value"])
    assert "three subscales or more, and there are 2" in row["remark"]
    assert any(
        note.startswith("gpt, scale all items, ω hierarchical (second order); ω total")
        for note in result.cautions
    )


def test_coefficients_of_ordered_answers_are_an_option_and_stand_in_the_sentence():
    frame = item_scores(reference_scores("bfi25", ["A1", "A2", "A3", "A4", "A5"]))
    assert "ω categorical" not in rows(frame).loc["s"].index
    result = reliability(frame, ordered=True, **FEW)
    table = result.tables[0].frame.set_index("coefficient")
    theirs = expected("bfi25")
    wanted = theirs["semtools"]["omega_categorical"]
    assert table.loc["ω categorical", "value"] == pytest.approx(wanted, abs=1e-8)
    latent = table.loc["α ordinal (of latent responses)", "value"]
    assert latent == pytest.approx(theirs["ordinal_alpha"], abs=1e-5)
    (found,) = (one for one in all_analyses() if one.name == "reliability")
    (answer,) = found.answer(result)
    assert "categorical ω = .74" in answer.sentence
    averages = item_scores(six_items() + np.random.default_rng(1).normal(size=(60, 6)) / 9)
    row = rows(averages, ordered=True).loc[("s", "ω categorical")]
    assert np.isnan(row["value"])
    assert row["remark"]


def test_each_omega_is_named_by_its_model_and_the_exploratory_one_is_an_option():
    frame = item_scores(six_items(400), subscales=PAIRS)
    table = rows(frame, group_factors=3).loc["all items"]
    names = [name for name in table.index if name.startswith("ω")]
    assert names == [
        "ω total (one factor)",
        "ω hierarchical (second order)",
        "ω total (second order)",
        "ω hierarchical (exploratory)",
        "ω total (exploratory)",
    ]
    # both take three factors below a general one
    values = table.loc[names[1:], "value"].to_numpy()
    assert values[2:] == pytest.approx(values[:2], abs=0.06)
    assert table.loc[names[2], "ci_low"] < values[1] < table.loc[names[2], "ci_high"]
    assert "ω total (exploratory)" not in rows(frame).loc["all items"].index


def errors(frame, **options):
    """The table of standard errors by scale and coefficient."""
    result = reliability(frame, **{**FEW, **options})
    return result.tables[1].frame.set_index(["scale", "coefficient"])


def test_the_standard_error_of_a_score_and_reliable_change_are_those_of_r():
    # sd and alpha by psych: sd sqrt(1 - alpha), and from it the rest
    theirs = expected("bfi25")["alpha"]
    frame = item_scores(reference_scores("bfi25", ["A1", "A2", "A3", "A4", "A5"]))
    row = errors(frame).loc[("s", "α (Feldt)")]
    sem = theirs["sd"] * np.sqrt(1 - theirs["value"])
    assert (row["sd"], row["error"]) == pytest.approx((theirs["sd"], sem), abs=1e-9)
    assert row["error"] == pytest.approx(0.4868699958, abs=1e-8)
    assert row["of_difference"] == pytest.approx(0.6885381512, abs=1e-8)
    assert row["smallest_change"] == pytest.approx(1.349509989, abs=1e-7)
    assert row["index_of_point"] == pytest.approx(1.452352347, abs=1e-8)
    assert "Generalizability" in row["remark"]
    people = frame.assign(**{PEOPLE: True})
    assert errors(people).loc[("s", "α (Feldt)"), "remark"] == ""


def test_the_sd_may_be_that_of_a_norm_group():
    frame = item_scores(six_items(), subscales=PAIRS)
    table = errors(frame, norm_sds=(("A", 2.0), ("", 0)))
    row = table.loc[("a", "α (Feldt)")]
    assert (row["sd"], row["sd_of"]) == (2.0, "the norm group")
    assert row["error"] == pytest.approx(2 * np.sqrt(1 - row["reliability"]))
    assert (table.loc["b", "sd_of"] == "the administrations").all()
    for wrong in (("other", 1.0), ("a", 0.0), ("a", "x")):
        with pytest.raises(NotEnoughData, match="norm group's SD"):
            errors(frame, norm_sds=(wrong,))


def test_a_negative_reliability_gives_no_standard_error():
    table = errors(item_scores([[1, 3], [3, 1], [2, 3], [3, 2]]))
    row = table.loc[("s", "α (Feldt)")]
    assert row["reliability"] < 0
    assert np.isnan(row[["error", "smallest_change"]].to_numpy(dtype=float)).all()
    assert "Undefined" in row["remark"]


def test_an_incomplete_scale_has_the_sd_of_the_likeliest_covariances():
    values = six_items(300)
    complete = errors(item_scores(values)).loc[("s", "α (Feldt)"), "sd"]
    assert complete == pytest.approx(values.mean(axis=1).std(ddof=1))
    values[np.arange(300), np.arange(300) % 6] = np.nan
    row = errors(item_scores(values), missing="available").loc[("s", "α (full information)")]
    assert row["sd"] == pytest.approx(complete, rel=0.03)


def test_a_single_subscale_is_not_repeated_as_the_whole():
    assert rows(item_scores(six_items())).index.get_level_values("scale").unique() == ["s"]


def test_whatever_is_undefined_has_a_remark_and_a_note():
    result = reliability(item_scores(HAND), **FEW)
    frame = result.tables[0].frame
    undefined = frame[frame["value"].isna()]
    assert list(undefined["coefficient"]) == ["ω total (one factor)"]
    assert undefined["remark"].str.contains("omega needs three").all()
    assert any("gpt, scale s, ω total (one factor): Undefined" in note for note in result.cautions)
    assert frame["method"].str.len().min() > 10


def test_the_counts_add_up_with_gaps_constant_and_unanswered_items():
    values = six_items()
    values[0, 0] = np.nan
    values[3, 5] = np.nan
    values = np.column_stack([values, np.full(60, 2.0), np.full(60, np.nan)])
    frame = item_scores(values, subscales=[*PAIRS, "a", "b"])
    result = reliability(frame, **FEW)
    assert result.n_planned == 480
    assert result.n_missing == 62
    # a: 59 complete rows of 2 items (the constant one is left out), b: 60 of 2, c: 59 of 2
    assert result.n_used == 2 * (59 + 60 + 59)
    assert any("scale a:" in note and "i7" in note for note in result.all_notes)
    assert any("scale b:" in note and "i8" in note for note in result.all_notes)
    table = result.tables[0].frame.set_index(["scale", "coefficient"])
    whole = table.loc[("all items", "α (Feldt)")]
    assert (whole["n"], whole["n_left_out"], whole["n_items"]) == (58, 2, 6)


def test_an_item_alone_in_its_subscale_counts_where_the_whole_scale_uses_it():
    values = six_items()
    result = reliability(item_scores(values[:, :3], subscales=["a", "a", "b"]), **FEW)
    assert (result.n_used, result.n_left_out) == (180, 0)
    table = result.tables[0].frame.set_index(["scale", "coefficient"])
    assert table.loc["b", "value"].isna().all()
    assert "b has one" in table.loc[("all items", "Stratified α"), "remark"]


def test_groups_stand_side_by_side_and_items_and_rows_may_come_in_any_order():
    first = item_scores(six_items(seed=1), subscales=PAIRS, respondent="one")
    second = item_scores(six_items(seed=2), subscales=PAIRS, respondent="two", start=500)
    both = pd.concat([first, second], ignore_index=True)
    table = reliability(both, **FEW).tables[0].frame
    for name, own in (("one", first), ("two", second)):
        alone = reliability(own, **FEW).tables[0].frame
        part = table[table["respondent"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone)
    shuffled = first.sample(frac=1, random_state=3)
    blind = [
        "α (Feldt)",
        "Stratified α",
        "ω total (one factor)",
        "ω hierarchical (second order)",
        "Split-half, mean",
    ]
    found = rows(shuffled)["value"].to_dict()
    for place, value in rows(first)["value"].items():
        if place[1] in blind:
            assert found[place] == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    frame = item_scores(six_items())
    ends = [rows(frame, seed=seed).loc[("s", "α (bootstrap)"), "ci_low"] for seed in (1, 1, 2)]
    assert ends[0] == ends[1] != ends[2]
    assert rows(frame, seed=1).loc[("s", "α (Feldt)"), "ci_low"] != ends[0]


def test_factor_models_of_too_many_items_are_not_tried(monkeypatch):
    monkeypatch.setattr(scale_coefficients, "MOST_ITEMS", 5)
    row = rows(item_scores(six_items())).loc[("s", "ω total (one factor)")]
    assert np.isnan(row["value"])
    assert "at most 5 items, and 6 vary" in row["remark"]
    assert row["n"] == 60


def test_it_tells_how_far_it_is_group_by_group():
    both = pd.concat(
        [
            item_scores(six_items(), respondent=name, start=start)
            for name, start in (("one", 1), ("two", 500))
        ]
    )
    seen = []
    with watch(lambda done, total, what: seen.append((done, total, what))):
        reliability(both, **FEW)
    assert [step for step in seen if step[2] == "groups"] == [(0, 2, "groups"), (1, 2, "groups")]


@pytest.mark.parametrize("values", [[[1, 2, 3]], [[2, 2], [2, 2], [2, 2]], [[1], [2], [3]]])
def test_nothing_to_compute_is_an_error_with_a_next_step(values):
    with pytest.raises(NotEnoughData, match="No reliability can be computed") as caught:
        reliability(item_scores(values), **FEW)
    assert "two complete administrations" in caught.value.remedy

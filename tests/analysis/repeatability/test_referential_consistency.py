from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

from core.analysis.repeatability.referential_consistency import divergences
from core.analysis.repeatability.referential_consistency.analysis import referential_consistency
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.brand_counts import BRANDS, FORMATS, brand_counts, counts_of
from tests.analysis.score_frames import option_counts
from tests.unit_intervals import wilson_of_error, wilson_of_units

QUARTER = 0.75 * math.log2(4 / 3) + 0.25 * 2 - 0.5
"""Divergence of half yes from all yes: entropy of 3/4 and 1/4 less half a bit."""
FEW = {"resamples": 200, "permutations": 200}


def tables(frame, **options):
    result = referential_consistency(frame, **{"resamples": 0, "permutations": 0, **options})
    return {table.name: table.frame for table in result.tables}, result


def test_table_4_5_of_the_brand_study_comes_out_as_printed():
    found, result = tables(brand_counts(), by=("entity",))
    totals = found["totals"].set_index("entity")
    printed = dict(zip(BRANDS, (5.1, 5.0, 5.0), strict=True))
    assert totals["divergence_sum"].round(1).to_dict() == printed
    assert totals["divergence_sum"].round(2).tolist() == [5.14, 5.04, 4.98]
    assert totals["consistency"].tolist() == pytest.approx(1 - totals["divergence_sum"] / 100)
    assert (result.n_used, result.n_left_out, result.n_missing) == (36_000, 0, 0)
    pairs = found["pairs"].groupby("entity", sort=False)["divergence"].mean()
    assert pairs.tolist() == pytest.approx(totals["divergence"].tolist())
    parts = found["formats"].groupby("entity", sort=False)["divergence"].mean()
    assert parts.tolist() == pytest.approx(totals["divergence"].tolist())


def test_every_item_and_pair_is_what_scipy_gives():
    frame = brand_counts().query("entity == 'Apple'")
    found, _ = tables(frame)
    yes = frame[frame["stance"] > 0].pivot_table(
        index="item", columns="format", values="count", fill_value=0
    )
    places = {"yes_no": (0, 1), "a_b": (0, 1), "likert_4": (1 / 3, 2 / 3), "likert_5": (0.25, 0.75)}
    for row in found["pairs"].itertuples():
        pair = [(yes[name], places[name]) for name in (row.first, row.second)]
        each = [
            (
                jensenshannon([30 - a, a], [30 - b, b], 2) ** 2,
                wasserstein_distance(pair[0][1], pair[1][1], [30 - a, a], [30 - b, b]),
            )
            for a, b in zip(pair[0][0], pair[1][0], strict=True)
        ]
        expected = np.array(each).mean(axis=0)
        assert [row.divergence, row.distance] == pytest.approx(expected.tolist(), abs=1e-8)
    assert len(found["pairs"]) == 6
    assert found["formats"]["format"].tolist() == list(FORMATS)


HAND = pd.concat(
    [
        counts_of([("i1", 2, 2), ("i2", 0, 4)], "yes_no"),
        counts_of([("i1", 0, 4), ("i2", 0, 4)], "a_b"),
        counts_of([("i1", 4, 0), ("i2", 0, 4)], "likert_5"),
    ]
)


def test_divergences_and_distances_worked_by_hand():
    """i1: half yes, all yes, all no; on the scale at 0 or 1, 1, and 2 of 1 to 5, which is 1/4."""
    found, _ = tables(HAND)
    items = found["items"].set_index("item")
    assert items["divergence"].tolist() == pytest.approx([(2 * QUARTER + 1) / 3, 0])
    # yes_no to a_b 1/2; a_b to likert_5 3/4; yes_no to likert_5 (1/4 + 3/4) / 2
    assert items["distance"]["i1"] == pytest.approx((0.5 + 0.5 + 0.75) / 3)
    assert items.loc["i1", ["farthest", "largest", "n", "n_formats"]].tolist() == [
        "a_b, likert_5",
        1.0,
        12,
        3,
    ]
    formats = found["formats"].set_index("format")
    assert formats["divergence"].tolist() == pytest.approx(
        [QUARTER / 2, (QUARTER + 1) / 4, (QUARTER + 1) / 4]
    )
    assert formats["share"].tolist() == pytest.approx([0.75, 1, 0.5])
    total = found["totals"].iloc[0]
    assert total["divergence_sum"] == pytest.approx((2 * QUARTER + 1) / 3)
    assert total[["n_items", "n_formats", "n"]].tolist() == [2, 3, 24]
    assert found["pairs"]["difference"].tolist() == pytest.approx([0.25, -0.25, -0.5])


def test_a_negated_form_is_turned_before_formats_are_compared():
    turned = counts_of([("i1", 4, 0)], "yes_no").assign(direction=-1)
    found, _ = tables(pd.concat([turned, counts_of([("i1", 0, 4)], "a_b")]))
    assert found["totals"][["divergence", "distance"]].iloc[0].tolist() == [0, 0]


def test_a_missing_format_costs_its_pairs_alone_and_is_said():
    only = counts_of([("i3", 1, 3)], "yes_no")
    partly = pd.concat([counts_of([("i4", 2, 2)], "yes_no"), counts_of([("i4", 0, 4)], "a_b")])
    refused = option_counts([("i5", "refused", 9, math.nan, True, 4)], format="yes_no")
    found, result = tables(pd.concat([HAND, only, partly, refused]))
    items = found["items"].set_index("item")
    assert items["divergence"]["i4"] == pytest.approx(QUARTER)
    assert items["remark"].to_dict() == {
        "i1": "",
        "i2": "",
        "i4": "",
        "i3": "Undefined: answers of yes or no in one format only.",
        "i5": "Undefined: no answer of yes or no.",
    }
    assert found["totals"]["n_items"][0] == 3
    assert any("2 items i3, i5: no answers of yes or no" in note for note in result.cautions)
    assert any("1 item has no answers in some format" in note for note in result.cautions)
    assert (result.n_used, result.n_left_out, result.n_missing) == (32, 4, 4)


def test_what_cannot_be_compared_is_said_with_what_to_do():
    with pytest.raises(NotEnoughData, match=r"in one format \(yes_no\)") as told:
        tables(HAND[HAND["format"] == "yes_no"])
    assert "another format" in told.value.remedy
    with pytest.raises(NotEnoughData, match="in two formats"):
        tables(HAND.assign(stance=math.nan))
    apart = pd.concat([counts_of([("i1", 1, 3)]), counts_of([("i2", 1, 3)], "a_b")])
    with pytest.raises(NotEnoughData, match="in two formats"):
        tables(apart)
    with pytest.raises(NotEnoughData, match="no answers yet"):
        tables(HAND.iloc[:0])


def test_a_group_with_one_format_is_undefined_and_the_other_stands():
    frame = pd.concat([HAND, counts_of([("i1", 1, 3)], respondent="b")])
    found, result = tables(frame, **FEW)
    assert found["totals"]["divergence"].isna().tolist() == [False, True]
    assert found["formats"]["respondent"].tolist() == ["gpt"] * 3 + ["b"]
    answer = analyses.by_name("referential_consistency").answer(result)
    assert "undefined" in answer[1].sentence


def test_chance_and_p_are_those_of_random_deals():
    found, _ = tables(HAND, permutations=2000)
    items = found["items"].set_index("item")
    # four of twelve answers go to each format; 6 of the 12 are yes in i1
    deals = [
        (math.comb(4, a) * math.comb(4, b) * math.comb(4, 6 - a - b), a, b)
        for a, b in itertools.product(range(5), repeat=2)
        if 0 <= 6 - a - b <= 4
    ]
    ways = sum(weight for weight, _, _ in deals)

    def mean_divergence(*yes):
        pairs = itertools.combinations([(4 - k, k) for k in yes], 2)
        return np.mean([jensenshannon(p, q, 2) ** 2 for p, q in pairs])

    each = [(weight, mean_divergence(a, b, 6 - a - b)) for weight, a, b in deals]
    chance = sum(weight * value for weight, value in each) / ways
    observed = items["divergence"]["i1"]
    p = sum(weight for weight, value in each if value >= observed - 1e-9) / ways
    assert items["chance"].tolist() == pytest.approx([chance, 0], abs=0.01)
    assert items["p"]["i1"] == pytest.approx(p, abs=0.01)
    assert items["p"]["i2"] == 1
    assert found["totals"]["p"][0] == pytest.approx(p, abs=0.01)
    assert items["corrected"].tolist() == pytest.approx([observed - chance, 0], abs=0.01)
    total = found["totals"].iloc[0]
    assert total["corrected"] == pytest.approx((observed - chance) / 2, abs=0.01)
    assert total["distance_corrected"] == total["distance"] - total["distance_chance"]


def test_half_answers_cannot_be_dealt_and_the_rest_stands():
    middle = option_counts([("i1", "3", 3, 3, False, 3)], format="likert_5").assign(
        stance=0.0, coin=1.0, lowest=1, highest=5, n_options=5
    )
    found, result = tables(pd.concat([HAND, middle]), midpoint="half", permutations=50)
    assert found["totals"]["p"].isna().all()
    assert np.isfinite(found["totals"]["divergence"]).all()
    assert any("answers cannot be dealt" in note for note in result.cautions)
    assert any("3 answers in the middle" in note for note in result.notes)
    assert tables(pd.concat([HAND, middle]), permutations=50)[0]["totals"]["p"].notna().all()


def test_options_without_points_have_no_distance_and_the_divergence_stands():
    frame = HAND.assign(lowest=HAND["lowest"].mask(HAND["format"] == "a_b"))
    found, result = tables(frame)
    pairs = found["pairs"].set_index(["first", "second"])
    assert pairs["distance"].isna().tolist() == [True, False, True]
    assert pairs["divergence"].notna().all()
    assert any("No earth mover's distance of a_b" in note for note in result.cautions)


def test_intervals_over_items_are_those_of_plain_resampling():
    frame = brand_counts().query("entity == 'Apple'")
    found, _ = tables(frame, resamples=2000, permutations=200)
    own = found["items"]["corrected"].to_numpy()
    row = found["totals"].iloc[0]
    expected = wilson_of_units(own, bounds=(-row["chance"], 1 - row["chance"]))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=0.0008)


def test_formats_that_answer_nearly_alike_have_an_interval_that_holds_0():
    """Thirty items, one answer of 200 apart in each: they differ by less than chance gives."""
    frame = pd.concat(
        [
            counts_of([(f"i{n}", 100 - n + more, 100 + n - more) for n in range(30)], name)
            for name, more in (("yes_no", 0), ("a_b", 1))
        ]
    )
    row = tables(frame, **FEW)[0]["totals"].iloc[0]
    assert row["corrected"] < row["ci_high"] == 0
    assert row["ci_low"] < row["corrected"]


@pytest.mark.parametrize("unit", ["context", "repetition"])
def test_whole_contexts_and_repetitions_are_resampled_around_the_estimate(unit):
    generator = np.random.default_rng(4)
    shares = {"yes_no": np.linspace(0.2, 0.8, 8), "a_b": np.linspace(0.3, 0.9, 8)}
    trials = 2 if unit == "context" else 1
    yes = {name: generator.binomial(trials, own, (40, 8)) for name, own in shares.items()}
    frame = pd.concat(
        [
            counts_of(
                [(f"i{k}", trials - one, one) for k, one in enumerate(row)], name, **{unit: number}
            )
            for name, rows in yes.items()
            for number, row in enumerate(rows)
        ]
    )
    found, _ = tables(frame, resample=unit, resamples=1000, permutations=2000)
    row = found["totals"].iloc[0]
    # two answers in each format: 1 yes of 4 falls so, and 2 apart in 2 of 6 deals
    uneven = jensenshannon([2, 0], [1, 1], 2) ** 2
    chance = np.array([0, uneven, 1 / 3, uneven, 0])
    measured = np.array([[0, uneven, 1], [uneven, 0, uneven], [1, uneven, 0]])
    drawn = []
    for _ in range(1000):
        units = generator.integers(40, size=40)
        if unit == "context":
            both = measured[yes["yes_no"], yes["a_b"]] - chance[yes["yes_no"] + yes["a_b"]]
            drawn.append(both[units].mean())
            continue
        p, q = (yes[name][units].mean(axis=0) for name in ("yes_no", "a_b"))
        own = [jensenshannon([1 - a, a], [1 - b, b], 2) ** 2 for a, b in zip(p, q, strict=True)]
        drawn.append(np.mean(own))
    error = np.std(drawn) * np.sqrt(40 / 39)
    bounds = (-row["chance"], 1 - row["chance"])
    expected = wilson_of_error(row["corrected"], error, 40, bounds=bounds)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("unit", ["item", "context", "repetition"])
def test_one_unit_gives_no_interval_and_the_reason(unit):
    one = HAND[HAND["item"] == "i1"].assign(context="c", repetition=1)
    found, result = tables(one, resample=unit, **FEW)
    assert found["totals"][["ci_low", "distance_high"]].isna().all(axis=None)
    assert any(f"not two {unit}s" in note for note in result.cautions)


def test_formats_are_compared_under_the_same_conditions():
    """Two contexts of opposite minds differ by format in each, and not on the whole."""
    frame = pd.concat(
        counts_of([(item, no, 4 - no) for item in ("i1", "i2")], code, context=context)
        for context, signs in (("c1", (0, 4)), ("c2", (4, 0)))
        for code, no in zip(("yes_no", "a_b"), signs, strict=True)
    )
    for unit in ("item", "context", "repetition"):
        rows = frame.assign(repetition=1)
        found, _ = tables(rows, resample=unit, **FEW)
        assert found["totals"]["divergence"].tolist() == [1.0]
        assert found["totals"]["distance"].tolist() == [1.0]
        assert found["items"][["n", "divergence"]].to_numpy().tolist() == [[16, 1.0]] * 2
    # dealt within a context: 2 of C(8, 4) = 70 ways separate the formats, and only in both contexts
    found, _ = tables(frame, permutations=999)
    assert (found["items"]["p"] < 0.02).all()


def test_thousands_of_items_have_fewer_permutations_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(divergences, "_MOST_DEALS", 600)
    found, result = tables(HAND, permutations=1000)  # 2 items in 3 formats
    assert found["items"]["p"].min() >= 1 / 101
    assert any("p is of 100 permutations instead of 1,000" in note for note in result.notes)
    assert "p by 100 permutations" in result.method


def test_few_answers_are_a_caution():
    assert any("4 answers or fewer" in note for note in tables(HAND)[1].cautions)
    assert not tables(brand_counts())[1].cautions


def test_groups_are_compared_and_the_sentence_says_what_chance_gives():
    found, result = tables(brand_counts(), by=("entity", "format"), **FEW)
    row = found["comparisons"].iloc[0]
    assert (row["first"], row["second"], row["n"]) == ("Apple", "Samsung", 100)
    sentence = analyses.by_name("referential_consistency").answer(result)[0].sentence
    assert sentence.startswith("Formats diverge by .038 [.03")
    assert "of which chance alone gives .013; sum 5.14 over 100 items" in sentence
    # .054 of likert_5 and .052 of the next: their intervals overlap
    assert sentence.endswith("; no format lies clearly farther from the others than the next.")
    _, result = tables(brand_counts(), by=("entity",), reported="published", **FEW)
    sentence = analyses.by_name("referential_consistency").answer(result)[0].sentence
    start = "Formats diverge by .051 bits per item, .013 by chance alone (p = .005); sum 5.14"
    assert sentence.startswith(start)

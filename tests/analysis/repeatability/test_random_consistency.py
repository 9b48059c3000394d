from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.errors import NotEnoughData
from core.stats.repeatability import even_entropies
from tests.analysis.brand_counts import BRANDS, brand_counts, counts_of
from tests.analysis.score_frames import option_counts
from tests.unit_intervals import wilson_of_units

LN2 = math.log(2)
HALF = (2 - 0.75 * math.log2(3)) * LN2
"""Entropy of 3 answers and 1, in nats."""
MANY = {"resamples": 200}


def tables(frame, **options):
    result = random_consistency(frame, **{"resamples": 0, **options})
    return {table.name: table.frame for table in result.tables}, result


def test_table_4_4_of_the_brand_study_comes_out_as_printed():
    found, result = tables(brand_counts(), by=("respondent", "entity"))
    totals = found["totals"].set_index("entity")
    assert totals["entropy_sum"].round(1).to_dict() == dict(
        zip(BRANDS, (168.9, 172.4, 172.8), strict=True)
    )
    assert totals["maximum"].tolist() == pytest.approx([400 * LN2] * 3)
    assert totals["repeatability"].tolist() == pytest.approx(
        [1 - value / (400 * LN2) for value in totals["entropy_sum"]]
    )
    by_format = found["formats"].groupby("entity")["entropy_sum"].sum()
    assert by_format.to_dict() == pytest.approx(totals["entropy_sum"].to_dict())
    margins = found["margins"].set_index(["factor", "level"])["entropy_sum"]
    assert margins["All", "all groups"] == pytest.approx(totals["entropy_sum"].sum())
    assert margins["Entity", "Apple"] == pytest.approx(totals["entropy_sum"]["Apple"])
    assert (result.n_used, result.n_left_out, result.n_missing) == (36_000, 0, 0)


TWO = pd.concat(
    [
        counts_of([("i1", 1, 3), ("i2", 4, 0), ("i3", 2, 2)], "yes_no"),
        counts_of([("i1", 0, 4), ("i2", 0, 4), ("i3", 3, 1)], "likert_5"),
    ]
)


def test_entropies_and_sums_worked_by_hand():
    found, _ = tables(TWO)
    items = found["items"].set_index(["format", "item"])
    expected = {
        ("yes_no", "i1"): HALF,
        ("yes_no", "i2"): 0,
        ("yes_no", "i3"): LN2,
        ("likert_5", "i1"): 0,
        ("likert_5", "i2"): 0,
        ("likert_5", "i3"): HALF,
    }
    assert items["entropy"].to_dict() == pytest.approx(expected)
    assert items.loc[("yes_no", "i1"), ["n", "share", "conditions"]].tolist() == [4, 0.75, 1]
    assert items["corrected"]["yes_no", "i1"] == pytest.approx(HALF + 1 / 8)
    assert items["normalized"]["yes_no", "i3"] == pytest.approx(1)
    row = found["totals"].iloc[0]
    assert row["entropy_sum"] == pytest.approx(2 * HALF + LN2)
    assert row["corrected_sum"] == pytest.approx(2 * HALF + LN2 + 3 / 8)
    assert row["repeatability"] == pytest.approx(1 - (2 * HALF + LN2) / (6 * LN2))
    assert row[["n_items", "n_formats", "n_entropies", "n_certain", "n"]].tolist() == [
        3,
        2,
        6,
        3,
        24,
    ]
    assert found["formats"]["entropy_sum"].tolist() == pytest.approx([HALF + LN2, HALF])
    even = 8 / 16 * HALF + 6 / 16 * LN2  # one or three of four are yes; two are
    assert row["corrected"] == pytest.approx(1 - (2 * HALF + LN2) / (6 * even))
    assert row["by_chance"] == pytest.approx(1 - even / LN2)
    assert items["relative"]["yes_no", "i3"] == pytest.approx(LN2 / even)


def test_cells_with_other_numbers_of_answers_have_their_own_reach():
    """Two answers reach ln 2 / 2 on average, three 6 / 8 of the entropy of one in three."""
    third = math.log(3) - 2 / 3 * LN2
    frame = pd.concat(
        [counts_of([("i1", 1, 1)], context="a"), counts_of([("i2", 3, 0)], context="a")]
    )
    row = tables(frame)[0]["totals"].iloc[0]
    assert row["corrected"] == pytest.approx(1 - LN2 / (LN2 / 2 + 6 / 8 * third))
    alike = tables(counts_of([("i1", 0, 2), ("i2", 3, 0)]))[0]["totals"].iloc[0]
    assert (alike["corrected"], alike["repeatability"]) == (1, 1)


def test_the_value_of_the_sentence_stands_first_and_the_numbers_stay():
    found, result = tables(TWO, **MANY)
    published, of_published = tables(TWO, reported="published", **MANY)
    shared = ["corrected", "ci_low", "ci_high", "repeatability", "by_chance"]
    assert found["totals"][shared].equals(published["totals"][shared])
    for one, first in ((result, "corrected"), (of_published, "repeatability")):
        names = [column.name for column in one.tables[0].columns]
        assert next(name for name in names if name in ("corrected", "repeatability")) == first
    row = found["totals"].iloc[0]
    for one, value in ((result, row["corrected"]), (of_published, row["repeatability"])):
        assert f"{value:.2f}".removeprefix("0") in _answers(one)[0].sentence


def test_bits_are_nats_by_the_logarithm_of_two():
    nats, bits = tables(TWO)[0], tables(TWO, logarithm="bits")[0]
    for column in ("entropy_sum", "corrected_sum", "maximum"):
        assert bits["totals"][column][0] == pytest.approx(nats["totals"][column][0] / LN2)
    assert bits["totals"]["repeatability"][0] == nats["totals"]["repeatability"][0]


def test_answers_as_chosen_have_the_maximum_of_their_format():
    """Likert with five options: 1, 2 and 2 answers of three options."""
    rows = [("i1", "1", 1, 1, False, 1), ("i1", "2", 2, 2, False, 2), ("i1", "5", 5, 5, False, 2)]
    frame = option_counts(rows, format="likert_5", lowest=1, highest=5, n_options=5)
    frame = frame.assign(stance=[-1.0, -1.0, 1.0])
    row = tables(frame, coding="options")[0]["items"].iloc[0]
    entropy = -(0.2 * math.log(0.2) + 0.8 * math.log(0.4))
    assert row["entropy"] == pytest.approx(entropy)
    assert row["normalized"] == pytest.approx(entropy / math.log(5))
    assert row["corrected"] == pytest.approx(entropy + 2 / 10)
    assert row["share"] == 0.4
    sides = tables(frame)[0]["items"].iloc[0]
    assert sides["entropy"] == pytest.approx(-(0.6 * math.log(0.6) + 0.4 * math.log(0.4)))


def test_an_answer_with_an_explanation_and_one_without_are_the_same_option():
    frame = counts_of([("i1", 2, 2)])
    explained = frame.assign(status="answered_with_explanation")
    both = pd.concat([frame, explained])
    for coding in ("sides", "options"):
        row = tables(both, coding=coding)[0]["items"].iloc[0]
        assert row[["n", "entropy"]].tolist() == pytest.approx([8, LN2])


def test_conditions_stay_apart_and_an_item_has_their_mean():
    frame = pd.concat(
        [
            counts_of([("i1", 4, 0)], context="a"),
            counts_of([("i1", 0, 4)], context="b"),
            counts_of([("i1", 2, 2)], context="c"),
            counts_of([("i1", 1, 0)], context="d"),
        ]
    )
    row = tables(frame)[0]["items"].iloc[0]
    assert row["entropy"] == pytest.approx(LN2 / 3)
    assert row[["n", "conditions"]].tolist() == [12, 3]
    together = tables(frame, repeats="together")[0]["items"].iloc[0]
    p = 7 / 13
    assert together["entropy"] == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))
    assert tables(frame)[1].n_left_out == 1


def test_an_item_without_two_answers_is_undefined_with_the_reason_and_the_rest_stands():
    refused = option_counts([("i3", "refused", 9, math.nan, True, 4)], format="yes_no")
    frame = pd.concat([counts_of([("i1", 1, 3), ("i2", 1, 0)]), refused])
    found, result = tables(frame)
    items = found["items"].set_index("item")
    assert items["remark"].to_dict() == {
        "i1": "",
        "i2": "Undefined: one answer.",
        "i3": "Undefined: no answer.",
    }
    assert items["entropy"].isna().tolist() == [False, True, True]
    assert found["totals"]["entropy_sum"][0] == pytest.approx(HALF)
    assert found["totals"][["n_entropies", "n_undefined"]].iloc[0].tolist() == [1, 2]
    assert any(note.startswith("gpt: 2 items i2, i3: fewer than two") for note in result.cautions)
    assert (result.n_used, result.n_left_out, result.n_missing) == (4, 1, 4)


def test_a_group_without_repetitions_is_undefined_beside_one_with_them():
    frame = pd.concat([counts_of([("i1", 1, 3)]), counts_of([("i1", 1, 0)], respondent="b")])
    found, result = tables(frame, **MANY)
    assert found["totals"]["repeatability"].isna().tolist() == [False, True]
    sentences = {one.group: one.sentence for one in _answers(result)}
    assert "undefined" in sentences["b"]


def _answers(result):
    from core.workflow.statistics import analyses

    return analyses.by_name("random_consistency").answer(result)


def test_nothing_repeated_is_said_with_what_to_do():
    with pytest.raises(NotEnoughData, match="No item was answered twice") as told:
        tables(counts_of([("i1", 1, 0), ("i2", 0, 1)]))
    assert "repetitions" in told.value.remedy
    sideless = counts_of([("i1", 3, 1)]).assign(stance=math.nan)
    with pytest.raises(NotEnoughData, match="No answer counts as yes or no"):
        tables(sideless)
    assert tables(sideless, coding="options")[0]["items"]["entropy"][0] == pytest.approx(HALF)
    with pytest.raises(NotEnoughData, match="no usable answer"):
        tables(option_counts([("i1", "refused", 9, math.nan, True, 4)]), coding="options")
    with pytest.raises(NotEnoughData, match="no answers yet"):
        tables(TWO.iloc[:0])
    with pytest.raises(NotEnoughData, match="no factor phase"):
        tables(TWO, by=("phase",))


def test_the_most_and_least_certain_items_are_those_of_the_mean_over_formats():
    extremes = tables(TWO)[0]["extremes"]
    most = extremes[extremes["kind"] == "most certain"]
    assert most["item"].tolist() == ["i2", "i1", "i3"]
    least = extremes[extremes["kind"] == "least certain"]
    assert least["item"].tolist() == ["i3", "i1", "i2"]
    assert least["entropy"].tolist() == pytest.approx([(LN2 + HALF) / 2, HALF / 2, 0])


def test_intervals_over_items_are_those_of_plain_resampling():
    frame = brand_counts().query("entity == 'Apple'")
    found, _ = tables(frame, resamples=2000, seed=3)
    items = found["items"].pivot(index="item", columns="format", values="entropy").to_numpy()
    generator = np.random.default_rng(11)
    drawn = [items[generator.integers(100, size=100)].sum() for _ in range(2000)]
    row = found["totals"].iloc[0]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert row["sum_low"] == pytest.approx(low, abs=1.5)
    assert row["sum_high"] == pytest.approx(high, abs=1.5)
    even = float(even_entropies(np.array([30.0]), np.array([2]))[0])
    each = 1 - items.mean(axis=1) / even
    low, high = wilson_of_units(each, bounds=(1 - LN2 / even, 1.0))
    assert row["corrected"] == pytest.approx(each.mean())
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=0.005)


def with_units(factor, n_units, n_items=6, seed=0, trials=10):
    """Answers of items of different shares under several contexts or in several repetitions."""
    generator = np.random.default_rng(seed)
    shares = np.linspace(0.05, 0.6, n_items)
    parts = []
    for unit in range(n_units):
        yes = generator.binomial(trials, shares)
        rows = [(f"i{k}", trials - count, count) for k, count in enumerate(yes)]
        parts.append(counts_of(rows, **{factor: unit if factor == "repetition" else f"c{unit}"}))
    return pd.concat(parts)


def test_contexts_are_resampled_as_a_whole():
    frame = with_units("context", 12)
    found, _ = tables(frame, resample="context", resamples=2000)
    assert found["items"]["conditions"].unique().tolist() == [12]
    yes = frame[frame["option"] == "yes"].pivot_table(
        index="context", columns="item", values="count", fill_value=0
    )
    p = yes.to_numpy() / 10
    with np.errstate(divide="ignore", invalid="ignore"):
        each = -np.nan_to_num(p * np.log(p)) - np.nan_to_num((1 - p) * np.log(1 - p))
    sums = each.sum(axis=1)  # of a context
    row = found["totals"].iloc[0]
    assert row["entropy_sum"] == pytest.approx(sums.mean())
    low, high = wilson_of_units(sums / row["maximum"])
    ends = row["sum_low"] / row["maximum"], row["sum_high"] / row["maximum"]
    assert ends == pytest.approx((low, high), abs=0.01)
    even = float(even_entropies(np.array([10.0]), np.array([2]))[0])
    low, high = wilson_of_units(1 - sums / (6 * even), bounds=(1 - LN2 / even, 1.0))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize("coding", ["sides", "options"])
def test_repetitions_are_resampled_as_a_whole_around_the_estimate(coding):
    frame = with_units("repetition", 40, trials=1)
    found, _ = tables(frame, resample="repetition", resamples=1000, coding=coding)
    row = found["totals"].iloc[0]
    yes = (
        frame[frame["option"] == "yes"]
        .pivot_table(index="repetition", columns="item", values="count", fill_value=0)
        .reindex(range(40), fill_value=0)
        .to_numpy()
    )
    generator = np.random.default_rng(1)
    p = np.array([yes[generator.integers(40, size=40)].mean(axis=0) for _ in range(1000)])
    with np.errstate(divide="ignore", invalid="ignore"):
        each = -np.nan_to_num(p * np.log(p)) - np.nan_to_num((1 - p) * np.log(1 - p))
    sums = each.sum(axis=1)
    middle = (row["sum_low"] + row["sum_high"]) / 2
    assert middle == pytest.approx(row["entropy_sum"], abs=0.04)
    assert row["sum_high"] - row["sum_low"] == pytest.approx(
        float(np.diff(np.quantile(sums, [0.025, 0.975]))[0]), rel=0.1
    )


@pytest.mark.parametrize("unit", ["item", "context", "repetition"])
def test_one_unit_gives_no_interval_and_the_reason(unit):
    frame = counts_of([("i1", 1, 3)], context="c", repetition=1)
    found, result = tables(frame, resample=unit, **MANY)
    assert found["totals"][["ci_low", "ci_high"]].isna().all(axis=None)
    assert any(f"not two {unit}s" in note for note in result.cautions)


def test_a_middle_answer_follows_the_rule_and_a_note_counts_it():
    frame = counts_of([("i1", 2, 2)], "likert_5")
    middle = option_counts([("i1", "3", 3, 3, False, 4)], format="likert_5").assign(
        stance=0.0, coin=1.0, lowest=1, highest=5, n_options=5
    )
    both = pd.concat([frame, middle])
    found, result = tables(both)
    assert found["items"]["share"][0] == 0.75  # two and four of eight
    assert any("4 answers in the middle" in note for note in result.notes)
    assert tables(both, midpoint="drop")[0]["items"]["n"][0] == 4
    assert tables(both, midpoint="half")[0]["items"]["share"][0] == 0.5


def test_groups_may_be_kinds_of_items_and_formats_are_never_groups():
    frame = TWO.assign(**{"item.genre": np.where(TWO["item"] == "i3", "b", "a")})
    totals = tables(frame, by=("item.genre", "format"))[0]["totals"]
    assert totals["item.genre"].tolist() == ["a", "b"]
    assert totals["entropy_sum"].tolist() == pytest.approx([HALF, LN2 + HALF])


def test_groups_are_compared_over_their_items():
    found, _ = tables(brand_counts(), by=("entity",), reported="published", **MANY)
    row = found["comparisons"].iloc[0]
    assert (row["first"], row["second"], row["n"]) == ("Apple", "Samsung", 100)
    difference = (172.35292118332333 - 168.9110795370067) / 400
    assert row["difference"] == pytest.approx(difference / LN2)
    corrected = tables(brand_counts(), by=("entity",), **MANY)[0]["comparisons"].iloc[0]
    even = float(even_entropies(np.array([30.0]), np.array([2]))[0])
    assert corrected["difference"] == pytest.approx(difference / even)


def test_few_answers_are_a_caution_and_their_bias_a_note():
    _, result = tables(TWO)
    assert any("from 4 answers or fewer" in note for note in result.cautions)
    assert any("too low by up to about .125 nats" in note for note in result.notes)
    _, result = tables(brand_counts())
    assert not any("or fewer" in note for note in result.cautions)
    assert any("up to about .017 nats" in note for note in result.notes)


def test_the_sentence_names_sum_maximum_and_formats():
    published = {"by": ("entity",), "reported": "published"}
    _, result = tables(brand_counts(), **published)
    assert _answers(result)[0].sentence == (
        "Repeatability .39 of 1 (always the same answer), where as many even answers give .02: "
        "entropies sum to 168.9 of at most 277.3 (100 items, 4 formats); from .25 to .56 in single "
        "formats, which have no intervals."
    )
    _, result = tables(brand_counts(), **published, **MANY)
    assert _answers(result)[0].sentence.endswith(
        "; highest in likert_5 (.56), lowest in likert_4 (.25)."
    )
    _, one = tables(counts_of([("i1", 1, 3)]))
    assert _answers(one)[0].sentence.endswith("(1 item, 1 format).")

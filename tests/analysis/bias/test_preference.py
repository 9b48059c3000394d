"""Preference between pairs of entities: published shares, cycles by hand, and what is undefined."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.analysis.bias.preference.analysis import preference
from core.errors import NotEnoughData
from tests.analysis.score_frames import option_counts
from tests.unit_intervals import wilson_of_units

GOLDEN = Path(__file__).parents[2] / "golden" / "preference"
NAN = math.nan


def cell(first, second, wins, losses, *, missing=0, middle=0, item="i1", repetition=1, **more):
    """Answers to one item that names `first` first: wins of it, losses, middles, refusals."""
    rows = [
        (item, "yes", 0, 1, False, wins),
        (item, "no", 1, 0, False, losses),
        (item, "neither", 2, NAN, False, middle),
        (item, "refused", NAN, NAN, True, missing),
    ]
    stances = [1.0, -1.0, 0.0, NAN]
    kept = [place for place in range(4) if rows[place][-1]]
    return option_counts(
        [rows[place] for place in kept],
        stance=[stances[place] for place in kept],
        **{
            "format": "yes_no",
            "entity": first,
            "entity_b": second,
            "repetition": repetition,
            **more,
        },
    )


def both_orders(first, second, wins, losses, **more):
    """The same answers with the other entity named first."""
    return [cell(first, second, wins, losses, **more), cell(second, first, losses, wins, **more)]


def frame_of(*cells):
    flat = [part for own in cells for part in (own if isinstance(own, list) else [own])]
    return pd.concat(flat, ignore_index=True)


def table_of(result, name, **where):
    frame = next(table.frame for table in result.tables if table.name == name)
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame.reset_index(drop=True)


def brands():
    """The published counts, all under one item."""
    rows = pd.read_csv(GOLDEN / "brand_counts.csv")
    return frame_of(
        *(
            cell(row.entity, row.entity_b, row.wins, row.n - row.wins, format=row.format)
            for row in rows.itertuples()
        )
    )


def test_the_published_answers_give_table_4_7():
    result = preference(brands())
    means = table_of(result, "shares", format="mean of formats")
    assert list(zip(means["first"], means["second"], means["share"].round(4), strict=True)) == [
        ("Apple", "Samsung", 0.6057),
        ("Apple", "Huawei", 0.5920),
        ("Samsung", "Huawei", 0.5403),
    ]
    apple = table_of(result, "shares", first="Apple", second="Samsung").set_index("format")
    assert apple["share"].drop("mean of formats").round(3).to_dict() == {
        "a_b": 0.526,
        "likert_4": 0.517,
        "likert_5": 0.627,
        "name_entity": 0.865,
        "yes_no": 0.493,
    }
    assert table_of(result, "transitivity")["order"].tolist() == ["Apple > Samsung > Huawei"]
    assert result.n_used == 45_000
    assert any("one unit is left to resample" in caution for caution in result.cautions)


def test_a_cycle_is_printed_and_no_order_is():
    items = [
        both_orders(a, b, wins, 10 - wins, item=f"i{number}")
        for a, b in (("A", "B"), ("B", "C"), ("C", "A"))
        for number, wins in enumerate([9, 7] * 4)
    ]
    result = preference(frame_of(*items), resamples=100)
    row = table_of(result, "transitivity").iloc[0]
    assert (row["order"], row["transitive"]) == ("(A > B > C > A)", "no")
    assert (row["triads"], row["circular"], row["zeta"], row["with_cycle"]) == (1, 1, 0, 1)
    shares = table_of(result, "shares", format="mean of formats")
    assert shares["share"].tolist() == pytest.approx([0.8, 0.2, 0.8])
    winners = table_of(result, "winners")
    assert list(zip(winners["winner"], winners["loser"], strict=True)) == [
        ("A", "B"),
        ("C", "A"),
        ("B", "C"),
    ]
    assert winners["share"].tolist() == pytest.approx([0.8] * 3)
    assert (winners["ci_low"] <= winners["share"] + 1e-9).all()
    triads = table_of(result, "triads").iloc[0]
    assert (triads["answer_triads"], triads["answer_circular"]) == (8, 8)
    fit = table_of(result, "fit").iloc[0]
    # 3 pairs x 2 orders x 8 items: deviance 6 * 8 * 2 * (8 log 1.6 + 2 log .4)
    assert fit["deviance"] == pytest.approx(96 * (8 * math.log(1.6) + 2 * math.log(0.4)))
    ((_, sentence, _),) = _sentences(result)
    assert " The pairs admit no order: (A > B > C > A). " in sentence


def test_circular_triads_are_of_one_context():
    """Two contexts with opposite cycles: each is circular, and their mean shares are ties."""
    cycle = (("a", "b"), ("b", "c"), ("c", "a"))
    frame = frame_of(
        *(both_orders(*pair, 1, 0, context="one") for pair in cycle),
        *(both_orders(*pair, 0, 1, context="other") for pair in cycle),
    )
    result = preference(frame, resamples=20)
    triads = table_of(result, "triads").iloc[0]
    assert triads[["triads", "circular", "zeta"]].tolist() == [2, 2, 0]
    assert triads[["answer_triads", "answer_circular"]].tolist() == [2, 2]
    assert table_of(result, "shares")["share"].tolist() == [0.5] * len(table_of(result, "shares"))
    pooled = "Orders and strengths are of the answers of all contexts together"
    assert sum(text.startswith(pooled) for text in result.cautions) == 1
    apart = preference(frame, by=("respondent", "context"), resamples=20)
    assert not any(text.startswith(pooled) for text in apart.cautions)


def _sentences(result):
    from core.workflow.statistics import analyses

    return analyses.by_name("preference").answer(result)


def test_the_order_of_naming_by_hand():
    # A named first wins 9 of 10 and 7 of 10, named second 3 of 10 and 5 of 10
    cells = [
        cell("A", "B", 9, 1, item="i1"),
        cell("B", "A", 7, 3, item="i1"),
        cell("A", "B", 7, 3, item="i2"),
        cell("B", "A", 5, 5, item="i2"),
    ]
    result = preference(frame_of(*cells), resamples=100)
    row = table_of(result, "order_effects", format="yes_no").iloc[0]
    assert row["first_named"] == pytest.approx(0.8)
    assert row["second_named"] == pytest.approx(0.6)
    assert row["effect"] == pytest.approx(0.4)
    assert row["p"] == 0.5  # differences .6 and .2: 2 of 4 exchanges are as far from 0
    assert table_of(result, "shares")["share"].tolist() == pytest.approx([0.6, 0.6])
    expected = wilson_of_units([0.2, 0.6], bounds=(-1, 1))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=0.03)


def test_repetitions_of_the_second_order_follow_those_of_the_first():
    cells = [cell("A", "B", 8, 2, repetition=r, item=i) for r in (1, 2, 3) for i in ("x", "y")]
    cells += [cell("B", "A", 4, 6, repetition=r, item=i) for r in (4, 5, 6) for i in ("x", "y")]
    result = preference(frame_of(*cells), resample="repetition", resamples=100)
    lines = table_of(result, "repetitions", format="yes_no")
    assert lines["place"].tolist() == lines["repetition"].tolist() == [1, 2, 3, 4, 5, 6]
    assert lines["named_first"].tolist() == ["A"] * 3 + ["B"] * 3
    assert lines["share"].tolist() == pytest.approx([0.8] * 3 + [0.6] * 3)
    again = frame_of(*cells).assign(repetition=lambda own: (own["repetition"] - 1) % 3 + 1)
    lines = table_of(preference(again, resamples=100), "repetitions", format="yes_no")
    assert lines["place"].tolist() == [1, 2, 3, 4, 5, 6]
    assert lines["repetition"].tolist() == [1, 2, 3, 1, 2, 3]
    row = table_of(result, "order_effects", format="yes_no").iloc[0]
    assert row["effect"] == pytest.approx(0.2)
    assert row["p"] == pytest.approx(0.1)  # 2 of the 20 divisions of six repetitions
    assert row["units"] == 3


def test_contexts_can_be_resampled():
    cells = [both_orders("A", "B", 6 + k, 4 - k, context=f"c{k}") for k in range(3)]
    result = preference(frame_of(*cells), resample="context", resamples=200)
    row = table_of(result, "shares").iloc[0]
    assert row["share"] == pytest.approx(0.7)
    expected = wilson_of_units([0.6, 0.7, 0.8])
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected, abs=0.03)


def test_negations_and_reverse_keyed_items_are_turned():
    turned = frame_of(
        cell("A", "B", 9, 1),
        cell("A", "B", 1, 9, item="i2", keyed=-1),
        cell("A", "B", 1, 9, item="i3", direction=-1),
    )
    assert table_of(preference(turned, resamples=100), "shares")["share"].tolist() == (
        pytest.approx([0.9, 0.9])
    )


@pytest.mark.parametrize(
    ("rule", "share", "n"), [("drop", 6 / 8, 8), ("half", 7 / 10, 10), ("bank", 7 / 10, 10)]
)
def test_answers_in_the_middle_count_as_chosen(rule, share, n):
    result = preference(frame_of(cell("A", "B", 6, 2, middle=2, midpoint="half")), midpoint=rule)
    row = table_of(result, "shares").iloc[0]
    assert (row["share"], row["n"], row["neutral"]) == (pytest.approx(share), n, 2)
    assert (result.n_used, result.n_left_out) == (n, 10 - n)


def test_one_pair_has_no_transitivity_and_the_rest_stands():
    cells = [both_orders("A", "B", 6, 4, item=item) for item in ("i1", "i2")]
    result = preference(frame_of(*cells), resamples=100)
    row = table_of(result, "transitivity").iloc[0]
    assert row["transitive"] == "undefined"
    assert row["remark"] == "Undefined: transitivity needs three entities."
    assert "gpt: transitivity needs three entities; there are two." in result.cautions
    assert table_of(result, "triads").empty
    assert table_of(result, "strengths")["strength"].tolist() == pytest.approx(
        [math.log(1.5) / 2, -math.log(1.5) / 2]
    )


def test_one_order_of_naming_has_no_effect_of_it():
    cells = [cell("A", "B", 6, 4, item=item) for item in ("i1", "i2")]
    result = preference(frame_of(*cells), resamples=100)
    row = table_of(result, "order_effects").iloc[0]
    assert math.isnan(row["effect"])
    assert row["remark"] == "Undefined: not asked in both orders of naming."
    assert table_of(result, "shares")["remark"][0] == "Asked with A named first only."
    assert (
        "gpt: A and B asked in one order of naming only, so its effect is undefined and is part of "
        "the share." in result.cautions
    )
    assert math.isnan(table_of(result, "fit")["named_first"][0])


def test_an_item_and_a_pair_without_answers_are_named():
    cells = [
        both_orders("A", "B", 6, 4),
        both_orders("A", "B", 6, 4, item="i2"),
        both_orders("A", "B", 0, 0, missing=5, item="i3"),
        both_orders("A", "C", 0, 0, missing=5),
        both_orders("B", "C", 0, 0, missing=5),
    ]
    result = preference(frame_of(*cells), resamples=100)
    assert "gpt: 1 item without an answer that takes a side: i3." in result.cautions
    assert "gpt: no answer takes a side between A and C, B and C." in result.cautions
    shares = table_of(result, "shares", second="C")
    assert shares["share"].isna().all()
    assert set(shares["remark"]) == {"Undefined: no answer takes a side."}
    assert table_of(result, "items", item="i3")["share"].isna().all()
    assert table_of(result, "shares", second="B")["share"].tolist() == pytest.approx([0.6, 0.6])
    row = table_of(result, "transitivity").iloc[0]
    assert (row["transitive"], row["triads"]) == ("undefined", 0)
    assert row["remark"] == "Without answers: A and C, B and C."
    assert math.isnan(row["zeta"])
    assert (result.n_used, result.n_missing) == (40, 30)
    ((_, sentence, _),) = _sentences(result)
    assert "A against C is undefined (no answer takes a side)" in sentence


def test_a_winner_of_everything_has_an_infinite_strength_and_it_says_so():
    cells = [
        both_orders("A", "B", 10, 0, item=item) + both_orders("B", "C", 6, 4, item=item)
        for item in ("i1", "i2")
    ]
    strengths = table_of(preference(frame_of(*cells), resamples=100), "strengths")
    assert strengths["strength"].isna().all()
    assert strengths["remark"][0].startswith("Undefined: a strength is infinite, because A never")


def test_resamples_with_an_infinite_strength_are_counted():
    # B wins over A under one of three items only: a resample lacks it with chance (2/3)^3
    cells = [both_orders("A", "B", 10 - k, k, item=f"i{k}") for k in (0, 4)]
    cells.append(both_orders("A", "B", 10, 0, item="i9"))
    result = preference(frame_of(*cells), resamples=2000)
    remark = table_of(result, "strengths")["remark"][0]
    count = int(remark.removeprefix("In ").partition(" of ")[0])
    assert count / 2000 == pytest.approx((2 / 3) ** 3, abs=0.04)
    assert remark == table_of(result, "fit")["remark"][0]
    assert math.isfinite(table_of(result, "strengths")["bootstrap_low"][0])


def test_intervals_of_strengths_have_the_quantile_of_t_over_items():
    """By hand: log odds of resampled sums of four items, their standard deviation, and t of 3."""
    wins = [5, 7, 6, 9]
    cells = [both_orders("A", "B", k, 12 - k, item=f"i{k}") for k in wins]
    row = table_of(preference(frame_of(*cells), resamples=4000), "strengths").iloc[0]
    draw = np.random.default_rng(1).integers(4, size=(200_000, 4))
    won = np.array(wins)[draw].sum(axis=1)
    spread = (np.log(won / (48 - won)) / 2).std() * math.sqrt(4 / 3)
    assert row["strength"] == pytest.approx(math.log(27 / 21) / 2)
    half = 3.182446 * spread
    ends = [row["bootstrap_low"], row["bootstrap_high"]]
    assert ends == pytest.approx([row["strength"] - half, row["strength"] + half], abs=0.01)


def test_intervals_count_the_units_of_the_order_with_fewer():
    cells = [cell("A", "B", 6 + r % 3, 4 - r % 3, repetition=r) for r in range(10)]
    cells += [cell("B", "A", 3 + r, 7 - r, repetition=10 + r) for r in range(2)]
    result = preference(frame_of(*cells), resample="repetition", resamples=500)
    row = table_of(result, "strengths").iloc[0]
    # t of 1 degree of freedom and the root of 2 / 1: 12.7 * 1.41 standard deviations
    assert row["bootstrap_high"] - row["strength"] > 12.7 * 1.4 * 0.05
    assert table_of(result, "order_effects")["units"].tolist() == [2, 2]


def test_a_format_with_few_items_has_the_interval_of_these():
    few = [both_orders("A", "B", w, 12 - w, item=f"f{w}", format="ab") for w in (4, 6, 9)]
    many = [both_orders("A", "B", 5 + k % 3, 7 - k % 3, item=f"m{k}") for k in range(20)]
    together = preference(frame_of(*few, *many), resamples=2000)
    alone = preference(frame_of(*few), resamples=2000)
    share, strength = (table_of(together, name, format="ab").iloc[0] for name in _KINDS)
    expected_share, expected = (table_of(alone, name, format="ab").iloc[0] for name in _KINDS)
    ends = share[["ci_low", "ci_high"]].tolist()
    assert ends == pytest.approx(expected_share[["ci_low", "ci_high"]].tolist(), abs=0.05)
    width = strength["bootstrap_high"] - strength["bootstrap_low"]
    expected_width = expected["bootstrap_high"] - expected["bootstrap_low"]
    assert width == pytest.approx(expected_width, rel=0.35)
    units = table_of(together, "order_effects").set_index("format")["units"]
    assert units.to_dict() == {"mean of formats": 3, "ab": 3, "yes_no": 20}


_KINDS = ("shares", "strengths")


def test_a_format_of_one_item_has_no_interval_and_says_so():
    many = [both_orders("A", "B", 5 + k % 3, 7 - k % 3, item=f"m{k}") for k in range(9)]
    frame = frame_of(both_orders("A", "B", 7, 5, item="f", format="ab"), *many)
    result = preference(frame, resamples=100)
    shares = table_of(result, "shares").set_index("format")
    assert shares["ci_low"].isna().to_dict() == {
        "mean of formats": True,
        "ab": True,
        "yes_no": False,
    }
    assert [bool(text) for text in shares["remark"]] == [True, True, False]
    strengths = table_of(result, "strengths", entity="A").set_index("format")
    assert strengths["bootstrap_low"].isna().tolist() == [False, True, False]
    assert [bool(text) for text in strengths["remark"]] == [False, True, False]


def test_ties_are_said():
    cells = [
        both_orders(a, b, *counts, item=item)
        for a, b, counts in (("A", "B", (5, 5)), ("A", "C", (7, 3)), ("B", "C", (7, 3)))
        for item in ("i1", "i2")
    ]
    result = preference(frame_of(*cells), resamples=100)
    row = table_of(result, "transitivity").iloc[0]
    assert (row["order"], row["tied"], row["remark"]) == ("A = B > C", 1, "Even: A and B.")
    assert math.isnan(row["zeta"])
    assert "Even: none of the two wins more." in set(table_of(result, "winners")["remark"])


def test_an_entity_against_itself_and_single_entities_are_left_out_and_counted():
    cells = [*both_orders("A", "B", 6, 4), cell("A", "A", 3, 2), cell("A", "", 4, 0)]
    result = preference(frame_of(*cells))
    assert "5 trials compare an entity with itself; they are left out." in result.notes
    assert "4 trials name no second entity; they are left out." in result.notes
    assert (result.n_used, result.n_left_out) == (20, 9)


def test_without_pairs_there_is_nothing_to_compare():
    with pytest.raises(NotEnoughData, match="compare no two entities") as single:
        preference(frame_of(cell("A", "", 4, 0)))
    assert "pairs of entities" in single.value.remedy
    with pytest.raises(NotEnoughData, match="compare no two entities") as same:
        preference(frame_of(cell("A", "A", 4, 0)))
    assert same.value.remedy == "Give the design pairs of two different entities."
    with pytest.raises(NotEnoughData, match="no answers yet"):
        preference(cell("A", "B", 1, 1).iloc[:0])
    with pytest.raises(NotEnoughData, match="no factor language"):
        preference(cell("A", "B", 1, 1), by=("language",))


def test_only_refusals_are_undefined_everywhere_and_no_fault():
    result = preference(frame_of(both_orders("A", "B", 0, 0, missing=3)))
    assert result.n_used == 0
    assert table_of(result, "shares")["share"].isna().all()
    assert table_of(result, "strengths")["remark"][0] == (
        "Undefined: no pair has an answer with a side."
    )


def test_models_are_compared_over_the_items_of_each_pair():
    cells = []
    for model, wins in (("m", (8, 7, 9, 8)), ("n", (4, 5, 5, 6))):
        for item, won in zip("wxyz", wins, strict=True):
            cells += both_orders("A", "B", won, 10 - won, item=item, respondent=model)
    result = preference(frame_of(*cells), resamples=100)
    row = table_of(result, "comparisons").iloc[0]
    assert (row["first"], row["second"], row["held"]) == ("m", "n", "A and B")
    assert row["difference"] == pytest.approx(-0.3)
    assert row["p"] == 0.125  # 2 of 16 patterns
    assert [group for group, _, _ in _sentences(result)] == ["m", "n"]


def test_entities_are_not_set_side_by_side():
    result = preference(brands(), by=("respondent", "entity"))
    assert "Entities make the pairs, so they have no results of their own." in result.notes
    assert list(table_of(result, "winners").columns[:2]) == ["respondent", "winner"]


def test_row_order_and_kind_of_columns_change_no_number():
    frame = frame_of(
        *(
            both_orders(a, b, w, 10 - w, item=i)
            for a, b, w in (("A", "B", 7), ("A", "C", 6), ("B", "C", 8))
            for i in ("i1", "i2")
        )
    )
    one = preference(frame, resamples=100)
    text = ["entity", "entity_b", "format", "item", "respondent", "option", "status"]
    other = preference(frame.iloc[::-1].astype(dict.fromkeys(text, "category")), resamples=100)
    for name in ("shares", "winners", "transitivity", "strengths", "fit"):
        pd.testing.assert_frame_equal(table_of(one, name), table_of(other, name), rtol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 10), min_size=6, max_size=6))
def test_mirrored_answers_turn_the_shares_around(wins):
    pairs = [("A", "B"), ("B", "A"), ("A", "C"), ("C", "A"), ("B", "C"), ("C", "B")]
    given_cells = [cell(a, b, w, 10 - w) for (a, b), w in zip(pairs, wins, strict=True)]
    turned = [cell(a, b, 10 - w, w) for (a, b), w in zip(pairs, wins, strict=True)]

    def shares(cells):
        table = table_of(preference(frame_of(*cells)), "shares", format="mean of formats")
        return {
            pair: share if pair[0] < pair[1] else 1 - share
            for pair, share in zip(
                zip(table["first"], table["second"], strict=True), table["share"], strict=True
            )
        }

    def sorted_pairs(found):
        return {tuple(sorted(pair)): share for pair, share in found.items()}

    ours, mirrored = sorted_pairs(shares(given_cells)), sorted_pairs(shares(turned))
    assert all(ours[pair] == pytest.approx(1 - mirrored[pair]) for pair in ours)

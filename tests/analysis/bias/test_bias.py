from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from core.analysis.bias.bias import bias
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.score_frames import GOLDEN, option_counts

NAN = float("nan")
STANCES = {"yes": 1.0, "no": -1.0, "middle": 0.0, "aside": NAN}


def answered(item, yes=0, no=0, middle=0, aside=0, refused=0, **factors):
    """Counts of the answers to one item."""
    counts = {"yes": yes, "no": no, "middle": middle, "aside": aside}
    rows = [
        (item, option, place, NAN, False, count)
        for place, (option, count) in enumerate(counts.items(), 1)
        if count
    ]
    rows += [(item, "refused", 9, NAN, True, refused)] if refused else []
    frame = option_counts(rows, **{"format": "yes_no", **factors})
    return frame.assign(stance=[STANCES.get(option, NAN) for option in frame["option"]])


def table(result, name):
    return next(own.frame for own in result.tables if own.name == name)


def run(*parts, **options):
    return bias(pd.concat(parts, ignore_index=True), **{"resamples": 50, **options})


TWO_FORMATS = (
    answered("i1", yes=3, no=1, format="yes_no"),
    answered("i2", yes=1, no=1, format="yes_no"),
    answered("i1", yes=4, format="a_b"),
    answered("i2", no=4, refused=2, format="a_b"),
    answered("i3", yes=2, no=2, format="a_b"),
)


def test_shares_worked_by_hand():
    result = run(*TWO_FORMATS)
    row = table(result, "bias").iloc[0]
    assert row["share"] == pytest.approx((0.625 + 0.5) / 2)
    assert row[["preference", "mode", "n_formats", "n_items", "n", "unusable"]].tolist() == [
        "positive",
        "positive",
        2,
        3,
        18,
        2,
    ]
    formats = table(result, "formats").set_index("format")
    assert formats["share"].to_dict() == pytest.approx({"yes_no": 0.625, "a_b": 0.5})
    assert formats.loc[
        "yes_no", ["preference", "preference_share", "mode", "mode_count"]
    ].tolist() == ["yes", 0.625, "yes", 4]
    assert formats.loc["a_b", ["preference", "mode"]].tolist() == ["yes = no"] * 2
    items = table(result, "items").set_index("item")
    assert items["share"].to_dict() == pytest.approx({"i1": 0.875, "i2": 0.25, "i3": 0.5})
    assert items["share_a_b"].to_dict() == pytest.approx({"i1": 1, "i2": 0, "i3": 0.5})
    assert pd.isna(items.loc["i3", "share_yes_no"])
    assert (result.n_used, result.n_missing, result.n_left_out) == (18, 2, 0)
    assert any("not every item has answers in every format" in own for own in result.cautions)


def gemma_answers():
    """What gemma-2b-it answered to 100 questions about three brands in four formats, 30 times."""
    counts = pd.read_csv(GOLDEN / "bias" / "gemma_positive.csv")
    parts = [
        counts.assign(option=option, stance=stance, times=own)
        for option, stance, own in (
            ("yes", 1.0, counts["positive"]),
            ("no", -1.0, 30 - counts["positive"]),
        )
    ]
    long = pd.concat(parts)
    rows = [
        (row.item, row.option, 1, NAN, False, row.times) for row in long.itertuples(index=False)
    ]
    about = {"stance": "stance", "format": "format", "entity": "brand"}
    factors = {name: long[column].to_numpy() for name, column in about.items()}
    frame = option_counts(rows, model="gemma-2b-it", **factors)
    return frame[frame["count"] > 0].reset_index(drop=True)


def gemma_expected():
    """The numbers of R from the same answers."""
    return json.loads((GOLDEN / "bias" / "expected.json").read_text())


def test_table_4_6_of_the_published_study_comes_out():
    expected = gemma_expected()
    result = bias(gemma_answers(), by=("model", "entity"))
    brands = table(result, "bias").set_index("entity")
    published = {"Apple": 76.1, "Samsung": 75.6, "Huawei": 76.9}
    for brand, percent in published.items():
        row = brands.loc[brand]
        assert round(row["share"] * 100, 1) == percent
        assert row["share"] == pytest.approx(expected["brand"][brand], abs=1e-12)
        margin = 1.96 * expected["standard_error"][brand]
        assert row["ci_low"] == pytest.approx(row["share"] - margin, abs=0.004)
        assert row["ci_high"] == pytest.approx(row["share"] + margin, abs=0.004)
    formats = table(result, "formats")
    own = dict(zip(formats["entity"] + " " + formats["format"], formats["share"], strict=True))
    assert own == pytest.approx(expected["format"], abs=1e-12)
    compared = table(result, "comparisons").set_index(["first", "second"]).loc["Samsung", "Huawei"]
    assert compared["difference"] == pytest.approx(
        expected["huawei_minus_samsung"]["mean"], abs=1e-12
    )
    # R's paired t test; the permutation test agrees with it in large samples.
    assert compared["p"] == pytest.approx(expected["huawei_minus_samsung"]["t_p"], abs=0.02)
    answers = analyses.by_name("bias").answer(result)
    assert answers[0].group == "gemma-2b-it · Apple"
    assert answers[0].sentence.startswith("76.1% [")
    assert answers[0].sentence.endswith(
        "of the answers are positive over 100 items, mean of 4 formats (50% is neutral: they "
        "lean to the positive side)."
    )


def test_the_direction_turns_reversed_items_and_forms():
    parts = (
        answered("i1", yes=9, no=1),
        answered("i2", yes=2, no=8, keyed=-1),
        answered("i1", yes=3, no=7, direction=-1, form="negation"),
    )
    keyed = run(*parts, by=("form",), direction="keyed")
    assert table(keyed, "bias")["share"].tolist() == pytest.approx([0.85, 0.7])
    form = run(*parts, by=("form",), direction="form")
    assert table(form, "bias")["share"].tolist() == pytest.approx([0.55, 0.7])
    chosen = run(*parts, by=("form",), direction="chosen")
    assert table(chosen, "bias")["share"].tolist() == pytest.approx([0.55, 0.3])


@pytest.mark.parametrize(
    ("rule", "share", "words"),
    [
        ("half", 0.5 * (6 / 10 + 0.5), "are half positive"),
        ("drop", 0.5 * (4 / 6 + 0.5), "are left out"),
        ("coin", 0.5 * (8 / 10 + 0.5), "are positive or not by a coin"),
    ],
)
def test_answers_in_the_middle_count_as_the_rule_says(rule, share, words):
    heads = answered("i1", yes=4, no=2, middle=4).assign(coin=[NAN, NAN, 1.0])
    result = run(heads, answered("i2", yes=1, no=1), midpoint=rule)
    assert table(result, "bias")["share"].iloc[0] == pytest.approx(share)
    assert table(result, "bias")["neutral"].iloc[0] == 4
    assert any(
        note.startswith("4 answers in the middle") and words in note for note in result.notes
    )
    assert result.n_used + result.n_left_out + result.n_missing == 12


def test_acquiescence_of_reversed_items_forms_and_split_pairs_worked_by_hand():
    result = run(
        answered("i1", yes=9, no=1),
        answered("i2", yes=7, no=3, keyed=-1),
        answered("i1", yes=6, no=4, direction=-1),
        answered("p1", yes=8, no=2, pair="p2"),
        answered("p2", yes=5, no=5, pair="p1"),
        answered("p3", yes=5, no=5, pair="p4"),  # its partner was not asked
    )
    rows = table(result, "acquiescence").set_index("opposites")
    keyed = rows.loc["Items keyed and reversed"]
    assert keyed["first"] == pytest.approx((0.9 + 0.8 + 0.5 + 0.5) / 4)
    assert keyed["index"] == pytest.approx((0.9 + 0.8 + 0.5 + 0.5) / 4 + 0.7 - 1)
    assert keyed[["n_first", "n_second"]].tolist() == [4, 1]
    forms = rows.loc["Forms and their negations or opposites"]
    assert forms["index"] == pytest.approx(0.9 + 0.6 - 1)
    assert forms["remark"] == "No interval: it needs two items, and there is one."
    pairs = rows.loc["Items asked both ways round"]
    assert pairs["index"] == pytest.approx(0.8 + 0.5 - 1)
    assert pairs[["first", "second", "n_first", "n_second"]].tolist() == [0.8, 0.5, 1, 1]
    (answer,) = analyses.by_name("bias").answer(result)
    assert "acquiescence (0 is none): items keyed and reversed .38" in answer.sentence


def test_acquiescence_is_undefined_with_its_reason():
    result = run(*TWO_FORMATS)
    row = table(result, "acquiescence").iloc[0]
    assert pd.isna(row["index"])
    assert row["remark"].startswith("Undefined: no item is reverse-keyed, none is asked in a form")
    assert any(note.startswith("Acquiescence is undefined: no item") for note in result.notes)
    two = run(
        answered("i1", yes=1, no=1),
        answered("i2", yes=1, keyed=-1),
        answered("i1", yes=1, no=1, respondent="b"),
        by=("respondent",),
    )
    other = table(two, "acquiescence").iloc[1]
    assert other["remark"] == "Undefined: the group has no answers to both kinds in one format."


def test_entities_are_compared_over_the_items_both_have():
    result = run(
        answered("i1", yes=1, no=1, entity="Apple"),
        answered("i2", yes=2, entity="Apple"),
        answered("i1", yes=2, entity="Huawei"),
        answered("i2", yes=2, entity="Huawei"),
        answered("i3", no=2, entity="Huawei"),
        by=("entity",),
    )
    row = table(result, "comparisons").iloc[0]
    assert row[["factor", "first", "second", "n", "n_left_out"]].tolist() == [
        "Entity",
        "Apple",
        "Huawei",
        2,
        1,
    ]
    assert row["difference"] == pytest.approx(0.25)


@pytest.mark.parametrize("unit", ["context", "repetition"])
def test_contexts_and_repetitions_are_redrawn_on_request(unit):
    rng = np.random.default_rng(6)
    parts = [
        answered(
            f"i{item}", yes=1 + shift + int(rng.integers(2)), no=2, respondent=who, **{unit: level}
        )
        for who, shift in (("a", 0), ("b", 3))
        for level in (1, 2, 3, 4)
        for item in range(3)
    ]
    frame = pd.concat(parts, ignore_index=True)
    result = bias(frame, resample=unit, resamples=200)
    rows = table(result, "bias")
    by_item = table(
        bias(
            frame.drop(columns=unit)
            .groupby([c for c in frame if c not in (unit, "count")], dropna=False, sort=False)[
                "count"
            ]
            .sum()
            .reset_index(),
            resamples=200,
        ),
        "bias",
    )
    assert rows["share"].tolist() == pytest.approx(by_item["share"].tolist())
    assert rows["ci_low"].tolist() != pytest.approx(by_item["ci_low"].tolist())
    assert table(result, "comparisons")["n"].tolist() == [4]
    assert f"resamples of whole {unit}s" in result.method
    one = bias(frame[frame[unit] == 1], resample=unit, resamples=20)
    assert table(one, "bias")["remark"].iloc[0] == (
        f"No interval: it needs two {unit}s, and there is one."
    )


def test_groups_by_context_share_no_context_so_they_are_not_compared_over_contexts():
    parts = [
        answered(item, yes=level, no=2, respondent=who, context=f"c{level}")
        for who, level, item in product("ab", (1, 3), ("i1", "i2"))
    ]
    result = run(*parts, by=("respondent", "context"), resample="context")
    rows = table(result, "comparisons")
    assert rows["factor"].tolist() == ["Respondent", "Respondent"]
    assert rows["remark"].str.contains("share one unit only").all()
    alone = run(*parts, by=("context",), resample="context")
    assert "comparisons" not in [own.name for own in alone.tables]
    assert "Groups by context share no units" in alone.notes[-1]


def test_attributes_of_items_make_groups_of_items():
    frame = pd.concat([answered(f"i{k}", yes=k, no=2) for k in range(4)], ignore_index=True)
    frame["item.genre"] = np.where(frame["item"].isin(["i0", "i1"]), "x", "y")
    result = bias(frame, by=("item.genre",), resamples=40)
    rows = table(result, "bias").set_index("item.genre")
    assert rows["share"].to_dict() == pytest.approx({"x": (0 + 1 / 3) / 2, "y": (0.5 + 0.6) / 2})
    assert rows["n_items"].tolist() == [2, 2]
    assert len(table(result, "items")) == 4


def test_what_is_undefined_says_why_and_the_rest_stands():
    result = run(
        answered("i1", yes=3, no=1),
        answered("i2", yes=1, refused=1),
        answered("i3", refused=2),
        answered("i1", refused=4, respondent="b"),
        answered("i1", aside=4, respondent="c"),
        answered("i1", middle=4, respondent="d", midpoint="drop"),
        answered("i1", yes=2, no=2, aside=3, respondent="e", format="a_b"),
    )
    rows = table(result, "bias").set_index("respondent")
    assert rows.loc["gpt", "share"] == pytest.approx(0.875)
    assert rows["remark"].to_dict() == {
        "gpt": "",
        "b": "Undefined: no answer is usable.",
        "c": "Undefined: no answer's option has a stance.",
        "d": "Undefined: all answers are in the middle.",
        "e": "No interval: it needs two items, and there is one.",
    }
    cautions = "\n".join(result.cautions)
    assert "gpt: without a positive or negative answer, so left out: i3." in cautions
    assert "e: 3 answers are left out, because their options have no stance." in cautions
    assert "Groups were asked in different formats" in cautions
    sentences = {own.group: own.sentence for own in analyses.by_name("bias").answer(result)}
    assert sentences["b"] == (
        "The share of positive answers is undefined. Undefined: no answer is usable."
    )
    assert table(result, "items").query("respondent == 'b'")["share"].isna().all()


def test_without_any_side_or_factor_the_message_says_what_to_do():
    with pytest.raises(NotEnoughData, match="No answer is positive or negative"):
        run(answered("i1", aside=3), answered("i2", refused=1))
    with pytest.raises(NotEnoughData, match="no factor entity"):
        run(answered("i1", yes=1).drop(columns="entity", errors="ignore"), by=("entity",))
    with pytest.raises(NotEnoughData, match="no answers yet"):
        bias(answered("i1", yes=1).iloc[:0])


def test_formats_side_by_side_are_groups_and_nothing_is_averaged():
    result = run(*TWO_FORMATS, by=("format",))
    assert table(result, "bias")["share"].tolist() == pytest.approx([0.625, 0.5])
    assert [own.name for own in result.tables] == ["bias", "items", "acquiescence", "comparisons"]
    assert "share_a_b" not in table(result, "items")


def test_no_groups_and_no_resamples():
    result = run(*TWO_FORMATS, by=(), resamples=0)
    assert table(result, "bias")["ci_low"].isna().all()
    assert "no intervals asked for" in result.method
    assert "comparisons" not in [own.name for own in result.tables]
    assert analyses.by_name("bias").answer(result)[0].group == "all administrations"

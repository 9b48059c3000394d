from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from statsmodels.miscmodels.ordinal_model import OrderedModel

from core.analysis.groups.dif import dif
from core.errors import NotEnoughData
from core.stats.groups import adjusted_p
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples
from tests.stats.simulated_answers import drawn


def two_levels(seed, n=400, p=8, *, harder=0.0, impact=0.0, affected=1):
    """Answers 0 to 3 of n // 2 rows each; the first items are harder for the second half."""
    rng = np.random.default_rng(seed)
    second = np.arange(n) >= n // 2
    logits = 1.5 * (rng.standard_normal(n) + impact * second)[:, None] * np.ones(p)
    logits[second, :affected] -= harder
    cuts = np.linspace(1.5, -1.5, 3) + rng.uniform(-0.3, 0.3, (p, 1))
    return drawn(rng, logits, cuts)


def framed(values, levels=("de", "en"), *, factor="language", start=1, **more):
    """One block of rows for each level, of equal size."""
    blocks = np.split(np.asarray(values, dtype=float), len(levels))
    size = len(blocks[0])
    return pd.concat(
        [
            item_scores(block, start=start + place * size, **{factor: level}, **more)
            for place, (block, level) in enumerate(zip(blocks, levels, strict=True))
        ],
        ignore_index=True,
    )


def tables(result):
    return {table.name: table.frame for table in result.tables}


def test_tests_and_effects_agree_with_statsmodels():
    values = two_levels(1, n=300, harder=0.8)
    found = tables(dif(framed(values)))
    score = values[:, 1:].sum(axis=1)
    member = (np.arange(300) >= 150).astype(float)
    predictors = np.column_stack([score, member, score * member])
    fits = [
        OrderedModel(values[:, 0].astype(int), predictors[:, :k], distr="logit").fit(
            method="newton", disp=False, maxiter=200
        )
        for k in (1, 2, 3)
    ]
    own = found["tests"][found["tests"]["item"] == "i1"].set_index("test")
    pairs = {"uniform": (0, 1), "non-uniform": (1, 2), "total": (0, 2)}
    for kind, (small, large) in pairs.items():
        statistic = 2 * (fits[large].llf - fits[small].llf)
        assert own.loc[kind, "chi_square"] == pytest.approx(statistic, abs=1e-5)
        assert own.loc[kind, "p"] == pytest.approx(chi2.sf(statistic, large - small), rel=1e-4)
        assert own.loc[kind, "df"] == large - small
        rise = fits[large].prsquared - fits[small].prsquared
        assert own.loc[kind, "mcfadden"] == pytest.approx(rise, abs=1e-6)
    effect = found["effects"].iloc[0]
    assert effect[["item", "level", "reference", "n"]].tolist() == ["i1", "en", "de", 150]
    assert effect["log_odds"] == pytest.approx(fits[1].params[1], rel=1e-4)
    assert effect["standard_error"] == pytest.approx(fits[1].bse[1], rel=1e-3)
    assert effect["log_odds"] < 0


def test_differences_in_score_points_agree_with_statsmodels():
    """Expected scores of the rows of a level, as they are and as if they were of the other."""
    values = two_levels(1, n=300, harder=0.8)
    effect = tables(dif(framed(values)))["effects"].iloc[0]
    score, member = values[:, 1:].sum(axis=1), (np.arange(300) >= 150).astype(float)
    predictors = np.column_stack([score, member, score * member])
    fit = OrderedModel(values[:, 0].astype(int), predictors, distr="logit").fit(
        method="newton", disp=False, maxiter=200
    )
    own = predictors[150:]
    other = own * [1, 0, 0]
    gaps = (fit.predict(own) - fit.predict(other)) @ np.unique(values[:, 0])
    assert effect["points"] == pytest.approx(gaps.mean(), abs=1e-5)
    assert effect["unsigned_points"] == pytest.approx(np.abs(gaps).mean(), abs=1e-5)
    spread = values[:150, 0].std(ddof=1) / 2 + values[150:, 0].std(ddof=1) / 2
    assert effect["standardized"] == pytest.approx(gaps.mean() / spread, abs=1e-5)
    assert effect["points"] < 0


def test_only_the_item_that_is_harder_for_a_level_is_flagged():
    items = tables(dif(framed(two_levels(2, n=1000, harder=1.4))))["items"].set_index("item")
    assert items.index[items["flagged"]].tolist() == ["i1"]
    assert items.loc["i1", "p_uniform"] < 1e-6 < items.loc["i1", "p_non_uniform"]
    assert items["tested"].all()


@pytest.mark.parametrize("harder", [0.5, 1.2, 1.8, 3.0])
def test_sizes_follow_the_bounds_of_their_authors(harder):
    items = tables(dif(framed(two_levels(2, n=1000, harder=harder))))["items"].set_index("item")
    rise = items.loc["i1", "nagelkerke"]
    words = np.array(["negligible", "moderate", "large"])
    assert items.loc["i1", "jodoin_gierl"] == words[np.searchsorted([0.035, 0.07], rise, "right")]
    assert items.loc["i1", "zumbo_thomas"] == words[np.searchsorted([0.13, 0.26], rise, "right")]
    assert items.loc["i1", "above_choi"] == (items.loc["i1", "mcfadden"] >= 0.02)
    assert (items.loc[~items["flagged"], "jodoin_gierl"] == "negligible").all()


def test_levels_that_differ_in_the_trait_inflate_uniform_dif_and_this_is_said():
    values = [two_levels(seed, n=1000, p=4, impact=1.5) for seed in (3, 4, 5)]
    results = [dif(framed(one)) for one in values]
    tests = pd.concat([tables(result)["tests"] for result in results])
    below = (tests["p"] < 0.05).groupby(tests["test"]).mean()
    assert below["uniform"] > 0.5  # though no item functions differently
    levels, sums = tables(results[0])["levels"], pd.Series(values[0].sum(axis=1))
    halves = (sums[:500], sums[500:])
    assert levels["mean"].tolist() == pytest.approx([half.mean() for half in halves])
    assert levels["sd"].tolist() == pytest.approx([half.std() for half in halves])
    assert any("shows as uniform DIF" in note for note in results[0].cautions)
    alike = dif(framed(two_levels(3, n=1000, p=4, impact=0.1)))
    assert not any("shows as uniform DIF" in note for note in alike.all_notes)
    assert "inflates uniform DIF" in dif.__doc__


@pytest.mark.parametrize("adjust", ["holm", "benjamini-hochberg"])
def test_p_is_adjusted_within_a_group_and_test(adjust):
    frame = pd.concat(
        [
            framed(two_levels(6, n=200), respondent="a"),
            framed(two_levels(7, n=200), respondent="b", start=900),
        ]
    )
    tests = tables(dif(frame, adjust=adjust))["tests"]
    assert len(tests) == 2 * 8 * 3
    for _, family in tests.groupby(["respondent", "test"]):
        wanted = adjusted_p(family["p"].to_numpy(), adjust)
        assert family["p_adjusted"].to_numpy() == pytest.approx(wanted)
        assert (family["p_adjusted"] > family["p"]).any()


def test_purified_matching_leaves_flagged_items_out_of_the_score():
    frame = framed(two_levels(8, n=1200, harder=1.5, affected=2))
    items = tables(dif(frame, matching="purified"))["items"].set_index("item")
    assert items.index[items["flagged"]].tolist() == ["i1", "i2"]
    assert items["matching"].tolist() == [False, False, *[True] * 6]
    assert tables(dif(frame))["items"]["matching"].all()


def test_what_is_compared_is_not_also_set_side_by_side():
    frame = framed(two_levels(9, n=200), ("gpt", "llama"), factor="respondent")
    result = dif(frame, factor="respondent")
    assert "respondent" not in tables(result)["items"]
    assert tables(result)["levels"]["level"].tolist() == ["gpt", "llama"]


def test_thin_levels_are_left_out_and_named():
    thin = item_scores(two_levels(10, n=6), language="fr", start=900)
    result = dif(pd.concat([framed(two_levels(11, n=200)), thin]))
    assert tables(result)["levels"]["level"].tolist() == ["de", "en"]
    assert "gpt, subscale s: left out, with fewer than 10 administrations: fr." in result.all_notes
    assert (result.n_used, result.n_left_out, result.n_missing) == (1600, 48, 0)
    three = tables(dif(pd.concat([framed(two_levels(11, n=200)), thin]), fewest=5))
    assert three["levels"]["level"].tolist() == ["de", "en", "fr"]
    assert set(three["tests"]["df"]) == {2, 4}


def test_an_item_missing_from_a_level_costs_the_other_items_nothing():
    values = two_levels(12, n=200)
    values[:100, 7] = np.nan
    result = dif(framed(values))
    alone = dif(framed(values[:, :7]))
    pd.testing.assert_frame_equal(tables(result)["items"], tables(alone)["items"])
    assert (
        "gpt, subscale s: Left out, because nobody answered at some level: i8." in result.all_notes
    )
    assert (result.n_used, result.n_left_out, result.n_missing) == (1400, 100, 100)


def test_an_administration_with_a_gap_cannot_be_matched():
    values = two_levels(13, n=200)
    values[0, 0] = np.nan
    result = dif(framed(values))
    assert (result.n_used, result.n_left_out, result.n_missing) == (199 * 8, 7, 1)
    assert tables(result)["levels"][["n", "n_complete"]].to_numpy().tolist() == [
        [100, 99],
        [100, 100],
    ]
    assert (tables(result)["effects"]["n"] == 100).all()  # of en, which has no gap
    assert any(
        " 1 rows were left out: no answer or no matching" in note for note in result.cautions
    )


def test_an_item_that_never_varies_is_untested_and_named():
    values = two_levels(14, n=200)
    values[:, 2] = 1
    result = dif(framed(values))
    row = tables(result)["items"].set_index("item").loc["i3"]
    assert not row["tested"]
    assert not row["flagged"]
    assert np.isnan(row["p_total"])
    assert row["jodoin_gierl"] == "unknown"
    tests = tables(result)["tests"].set_index("item")
    assert tests.loc["i3", ["chi_square", "df", "p", "p_adjusted"]].isna().all(axis=None)
    assert tests.drop(index="i3")["p_adjusted"].notna().all()
    assert "gpt, subscale s: i3: All answers are the same." in result.cautions
    assert (result.n_used, result.n_left_out) == (1400, 200)


def test_a_subscale_of_one_item_does_not_hide_the_others():
    frame = framed(two_levels(15, n=200, p=4), subscales=["calm"] * 3 + ["bold"])
    result = dif(frame)
    assert set(tables(result)["items"]["subscale"]) == {"calm"}
    assert any("subscale bold: not compared. There is no other item" in n for n in result.cautions)


def test_an_empty_level_is_a_level_of_its_own():
    frame = framed(two_levels(16, n=200), ("", "poet"), factor="context")
    levels = tables(dif(frame, factor="context"))["levels"]["level"]
    assert levels.tolist() == ["context (none)", "poet"]


@given(st.integers(1, 50), st.permutations(range(5)))
@few_examples
def test_order_of_items_and_origin_of_scores_change_no_test(seed, order):
    values = two_levels(seed, n=120, p=5)
    names = [f"i{place + 1}" for place in order]
    plain = tables(dif(framed(values)))["tests"]
    moved = tables(dif(framed(values[:, order] + 4, items=names)))["tests"]
    keys, numbers = ["item", "test"], ["chi_square", "p", "p_adjusted", "nagelkerke"]
    np.testing.assert_allclose(
        plain.sort_values(keys)[numbers], moved.sort_values(keys)[numbers], atol=1e-6
    )


def test_studies_are_compared_as_any_other_levels_are():
    values = two_levels(1, n=300, harder=0.8)
    studies = dif(framed(values, ("2024", "2025"), factor="study"), factor="study")
    languages = tables(dif(framed(values, ("2024", "2025"))))
    assert tables(studies)["levels"]["level"].tolist() == ["study 2024", "study 2025"]
    assert tables(studies)["tests"].equals(languages["tests"])
    assert "comparing studies" in studies.method


def test_one_level_is_an_error_that_names_factors_to_compare_instead():
    frame = framed(two_levels(17, n=40), ("gpt", "llama"), factor="respondent")
    with pytest.raises(NotEnoughData, match="No levels of language can be compared") as caught:
        dif(frame)
    assert caught.value.remedy.endswith("differ in respondents, which can be compared instead.")


def test_every_column_of_numbers_has_a_tooltip():
    for table in dif(framed(two_levels(18, n=60))).tables:
        bare = [column.name for column in table.columns if not column.help]
        assert set(bare) <= {"respondent", "subscale", "item", "level"}


@pytest.mark.parametrize(
    ("factor", "levels", "order"),
    [
        ("study", ["b", "a"], ["a", "b"]),
        ("context_set", ["personas", "conversations"], ["conversations", "personas"]),
        ("temperature", [10.0, 0.7, 2.0], ["temperature 0.7", "temperature 2", "temperature 10"]),
        ("repetition", [10, 9], ["repetition 9", "repetition 10"]),
        ("person.gender", ["woman", "man", ""], ["man", "woman"]),
    ],
)
def test_every_factor_is_compared_and_its_levels_stand_in_order(factor, levels, order):
    answers = framed(two_levels(3, n=240))
    numbers = answers["administration"].rank(method="dense").astype(int)
    frame = answers.assign(**{factor: np.array(levels, dtype=object)[numbers % len(levels)]})
    result = dif(frame, factor=factor, by=())
    assert tables(result)["levels"]["level"].tolist() == order
    effects = tables(result)["effects"]
    assert set(effects["reference"]) == {order[0]}
    assert effects["level"].unique().tolist() == order[1:]
    unknown = [note for note in result.notes if note.startswith("Left out, without Person: gender")]
    assert len(unknown) == (factor == "person.gender")


def test_more_than_twenty_levels_are_refused_in_one_sentence():
    frame = framed(two_levels(3, n=460))
    frame["context"] = "p" + (frame["administration"] % 23).astype(str)
    with pytest.raises(NotEnoughData, match="with 23 contexts: at most 20 levels are compared"):
        dif(frame, factor="context", by=())
    with pytest.raises(NotEnoughData, match=r"no factor person\.age"):
        dif(frame, factor="person.age")

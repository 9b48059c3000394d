from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.analysis.groups.group_comparison.analysis import group_comparison
from core.analysis.scales.multitrait_matrix.analysis import multitrait_matrix
from core.analysis.scales.score_correlations import score_correlations
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples


def answers(tables, factor="form", **options):
    """One administration per level and row: row i of every table is context ci."""
    frames, start = [], 2**62
    for level, values in tables.items():
        for number, row in enumerate(values):
            cell = {factor: level, "context": f"c{number}", **options.get("factors", {})}
            frames.append(
                item_scores([row], subscales=options.get("subscales"), start=start, **cell)
            )
            start += 1
    return pd.concat(frames, ignore_index=True)


def noisy(levels, n=25, k=4, seed=0):
    draw = np.random.default_rng(seed).normal
    trait = draw(size=(n, 1))
    return {level: np.clip(np.round(3 + trait + draw(size=(n, k))), 1, 5) for level in levels}


def pearson(result):
    frame = result.tables[0].frame
    return frame[frame["kind"] == "pearson"].reset_index(drop=True)


def test_worked_by_hand():
    # scores 1, 2, 3, 4 and 2, 1, 4, 3: r = 3/5, the same on ranks; both means are 2.5
    tables = {"original": [[1, 1], [2, 2], [3, 3], [4, 4]], "b": [[2, 2], [1, 1], [3, 5], [3, 3]]}
    result = score_correlations(answers(tables))
    frame, shift = result.tables[0].frame, result.tables[1].frame.iloc[0]
    assert frame["kind"].tolist() == ["pearson", "spearman"]
    assert frame["r"].tolist() == pytest.approx([0.6, 0.6])
    # Fisher: atanh(.6) ± 1.96 / sqrt(4 - 3)
    ends = np.tanh(np.arctanh(0.6) + np.array([-1, 1]) * stats.norm.ppf(0.975))
    assert frame.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx(ends.tolist())
    assert (shift["mean_first"], shift["mean_second"], shift["difference"]) == (2.5, 2.5, 0)
    assert (frame["first"][0], frame["second"][0], frame["n_pairs"][0]) == ("original", "b", 4)


def test_agrees_with_scipy_on_every_scale():
    tables = noisy(["original", "negated"])
    result = score_correlations(answers(tables, subscales=["x", "x", "y", "y"]))
    places = {"all items": slice(0, 4), "x": slice(0, 2), "y": slice(2, 4)}
    frame = result.tables[0].frame.set_index(["scale", "kind"])
    shifts = result.tables[1].frame.set_index("scale")
    for scale, items in places.items():
        first, second = (tables[level][:, items].mean(axis=1) for level in ("original", "negated"))
        for kind, reference in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            wanted = reference(first, second)
            row = frame.loc[(scale, kind)]
            assert row["r"] == pytest.approx(wanted.statistic, abs=1e-12)
            assert row["p"] == pytest.approx(wanted.pvalue, rel=1e-9)
        test = stats.ttest_rel(second, first)
        assert shifts.loc[scale, "t"] == pytest.approx(test.statistic)
        assert shifts.loc[scale, "p"] == pytest.approx(test.pvalue)
        assert shifts.loc[scale, "difference"] == pytest.approx((second - first).mean())


def test_p_is_adjusted_over_the_scales_of_a_group_and_kind():
    frame = answers(noisy(["original", "b", "c"], n=8), subscales=["x", "x", "y", "y"])
    for method, name in (("holm", "holm"), ("benjamini-hochberg", "bh")):
        rows = pearson(score_correlations(frame, adjust=method))
        assert len(rows) == 9
        p = rows["p"].to_numpy()
        if name == "bh":
            wanted = stats.false_discovery_control(p)
        else:
            order = np.argsort(p)
            wanted = np.empty(9)
            wanted[order] = np.minimum(1, np.maximum.accumulate(np.arange(9, 0, -1) * p[order]))
        assert rows["p_adjusted"].to_numpy() == pytest.approx(wanted)
    one = pd.concat([frame, answers(noisy(["original", "b"], seed=5)).assign(respondent="two")])
    one["administration"] = one.groupby(["respondent", "administration"]).ngroup()
    again = pearson(score_correlations(one))
    mine = again[again["respondent"] == "gpt"]["p_adjusted"]
    assert mine.tolist() == pytest.approx(pearson(score_correlations(frame))["p_adjusted"].tolist())


def test_pairs_agree_in_everything_else():
    tables = noisy(["original", "b"], n=10)
    one, two = (
        answers(tables, factors={"language": language, "repetition": 1}) for language in "ed"
    )
    two["administration"] += 1000
    two["score"] = two["score"].to_numpy()[::-1]
    frame = pd.concat([one, two], ignore_index=True)
    assert pearson(score_correlations(frame))["n_pairs"].tolist() == [20]
    assert pearson(score_correlations(frame, by=("language",)))["n_pairs"].tolist() == [10, 10]
    lonely = frame[~((frame["form"] == "b") & (frame["context"] == "c3"))]
    row = pearson(score_correlations(lonely)).iloc[0]
    assert (row["n_pairs"], row["without_partner"]) == (18, 2)


def test_only_what_is_paired_is_counted_as_used():
    tables = noisy(["original", "b"], n=10)
    tables["b"][2, 1] = np.nan
    frame = answers(tables)
    frame = frame[~((frame["form"] == "b") & (frame["context"] == "c3"))]
    result = score_correlations(frame)
    assert result.n_planned == len(frame) == 76
    # contexts c2 (incomplete) and c3 (no partner) are out under both forms
    assert (result.n_used, result.n_missing, result.n_left_out) == (8 * 8, 1, 4 + 3 + 4)
    half = score_correlations(frame, incomplete="half")
    assert (half.n_used, half.n_missing, half.n_left_out) == (8 * 8 + 4 + 3, 1, 4)
    assert pearson(half)["n_pairs"].tolist() == [9]


def test_repetitions_get_intraclass_correlations_and_come_by_number():
    tables = noisy([2, 10, 1])
    result = score_correlations(answers(tables, "repetition"), factor="repetition")
    rows = pearson(result)
    assert list(zip(rows["first"], rows["second"], strict=True)) == [(1, 2), (1, 10), (2, 10)]
    table = result.tables[2].frame.set_index("coefficient")
    scores = np.stack([tables[level].mean(axis=1) for level in (1, 2, 10)], axis=1)
    # ICC3 from the two-way mean squares
    n, k = scores.shape
    units = k * scores.mean(axis=1).var(ddof=1)
    rest = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    assert table.loc["ICC3", "value"] == pytest.approx((units - error) / (units + 2 * error))
    mean = np.tanh(np.arctanh(rows["r"]).mean())
    assert table.loc["mean r of all pairs", "value"] == pytest.approx(mean)
    assert table["n_units"].tolist() == [25] * 7
    assert len(score_correlations(answers(noisy("ab"))).tables) == 2


def test_intraclass_correlations_keep_units_with_a_gap_where_asked():
    tables = noisy([1, 2, 3])
    tables[2] = tables[2].copy()
    tables[2][:6] = np.nan  # six contexts lack a repetition
    frame = answers(tables, "repetition")
    plain, kept = (
        score_correlations(frame, factor="repetition", icc_gaps=gaps)
        .tables[2]
        .frame.set_index("coefficient")
        for gaps in (False, True)
    )
    assert plain.loc["ICC2", ["n_units", "n_left_out"]].tolist() == [19, 6]
    assert kept.loc["ICC2", ["n_units", "n_left_out"]].tolist() == [25, 0]
    assert kept.loc["ICC2", "value"] == pytest.approx(plain.loc["ICC2", "value"], abs=0.1)
    assert np.isnan(kept.loc["ICC2", "ci_low"])


def test_each_with_the_first_where_asked_or_where_levels_are_many():
    frame = answers(noisy(range(1, 14), n=5), "repetition")
    result = score_correlations(frame, factor="repetition")
    assert pearson(result)["first"].tolist() == [1] * 12
    assert any("of 13 levels, each is compared with the first only" in n for n in result.all_notes)
    three = answers(noisy(["b", "original", "a"], n=5))
    assert pearson(score_correlations(three, pairs="first"))["second"].tolist() == ["a", "b"]
    assert len(pearson(score_correlations(three))) == 3


def test_identical_scores_are_remarked_upon():
    values = noisy(["x"])["x"]
    result = score_correlations(answers({"original": values, "b": values}))
    row = pearson(result).iloc[0]
    assert any("identical in every pair" in note for note in result.cautions)
    assert row["r"] == pytest.approx(1)
    assert "identical in every pair" in row["remark"]


def test_a_constant_score_is_undefined_with_a_note_and_does_not_hide_the_others():
    tables = noisy(["original", "b"])
    tables["b"][:, 2:] = 3
    result = score_correlations(answers(tables, subscales=["x", "x", "y", "y"]))
    rows = pearson(result).set_index("scale")
    assert rows["r"].isna().to_dict() == {"all items": False, "x": False, "y": True}
    assert np.isnan(rows.loc["y", "p_adjusted"])
    assert any("gpt, scale y, original with b: Undefined" in note for note in result.cautions)


def test_administrations_that_cannot_be_told_apart_are_left_out_and_counted():
    frame = answers(noisy(["original", "b"], n=10))
    twice = frame[(frame["form"] == "b") & (frame["context"] == "c0")].copy()
    twice["administration"] += 10_000
    result = score_correlations(pd.concat([frame, twice], ignore_index=True))
    assert pearson(result)["n_pairs"].tolist() == [9]
    assert any(
        note.startswith("2 administrations are the same as another") for note in result.all_notes
    )


def test_formats_can_be_compared_although_their_points_differ():
    frame = answers(noisy(["likert_5", "likert_7"]), "format")
    result = score_correlations(frame, factor="format", by=("respondent", "format"))
    assert list(pearson(result).columns[:3]) == ["respondent", "scale", "first"]
    assert any("mean differences between them are not comparable" in n for n in result.cautions)


def test_bootstrap_intervals_come_on_request_and_by_seed():
    frame = answers(noisy(["original", "b"]))
    assert pearson(score_correlations(frame))["bootstrap_low"].isna().all()
    ends = [
        pearson(score_correlations(frame, resamples=200, seed=seed))["bootstrap_low"].item()
        for seed in (1, 1, 2)
    ]
    assert ends[0] == ends[1] != ends[2]


def test_categories_as_the_store_reads_them_give_the_same():
    frame = answers(noisy(["original", "b"]), subscales=["x", "x", "y", "y"])
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "iuf"]
    stored = frame.astype(dict.fromkeys(texts, "category"))
    for own, other in zip(
        score_correlations(frame).tables, score_correlations(stored).tables, strict=True
    ):
        pd.testing.assert_frame_equal(own.frame, other.frame)


@given(st.integers(0, 10_000))
@few_examples
def test_blind_to_the_order_of_rows_and_swapping_levels_turns_the_difference_only(seed):
    tables = noisy(["a", "b"], n=8, seed=seed)
    first = score_correlations(answers(tables))
    shuffled = answers(tables).sample(frac=1, random_state=seed)
    swapped = score_correlations(answers({"a": tables["b"], "b": tables["a"]}))
    for other, sign in ((score_correlations(shuffled), 1), (swapped, -1)):
        assert other.tables[0].frame["r"].to_numpy() == pytest.approx(
            first.tables[0].frame["r"].to_numpy(), nan_ok=True
        )
        own = first.tables[1].frame["difference"].item()
        assert other.tables[1].frame["difference"].item() == pytest.approx(sign * own)


def shifts(result):
    return result.tables[1].frame.set_index("scale")


BEFORE = [3.1, 2.7, 4, 3.6, 2.9, 3.3, 4.1, 3.8, 2.5, 3]
AFTER = [3.4, 2.9, 4.4, 3.5, 3.3, 3.9, 4, 4.2, 2.9, 3.1]


@pytest.mark.parametrize(
    ("alternative", "p"),
    # R 4.2.2: t.test(after, before, paired = TRUE, alternative = ...)
    [("greater", 0.0031301671686066), ("less", 0.996869832831393), ("two-sided", 0.0062603343372)],
)
def test_an_expected_direction_is_tested_one_tailed_as_r_tests_it(alternative, p):
    frame = answers({"original": [[x] for x in BEFORE], "rewritten": [[x] for x in AFTER]})
    result = score_correlations(frame, alternative=alternative)
    row = shifts(result).loc["s"]
    assert (row["t"], row["df"]) == (pytest.approx(3.54545454545455, abs=1e-12), 9)
    assert row["p"] == pytest.approx(p, abs=1e-12)
    assert row["stars"] == ("" if alternative == "less" else "**")
    assert {"two-sided": "two-tailed", "greater": "second above", "less": "second below"}[
        alternative
    ] in result.method
    # correlations are two-sided whatever is expected of the means
    wanted = stats.pearsonr(BEFORE, AFTER).pvalue
    assert pearson(result)["p"].item() == pytest.approx(wanted, rel=1e-9)


def test_the_effect_size_has_an_interval_by_the_noncentral_t():
    frame = answers({"original": [[x] for x in BEFORE], "rewritten": [[x] for x in AFTER]})
    row = shifts(score_correlations(frame)).loc["s"]
    gain = np.subtract(AFTER, BEFORE)
    assert row["d_z"] == pytest.approx(gain.mean() / gain.std(ddof=1), rel=1e-12)
    for end, probability in (("d_z_low", 0.975), ("d_z_high", 0.025)):
        noncentrality = row[end] * np.sqrt(10)
        assert stats.nct.cdf(row["t"], 9, noncentrality) == pytest.approx(probability, abs=1e-6)


def rewritten(pairs, **factors):
    """One administration per (context, origin, scores): rewritten where the two names differ."""
    frames = []
    for number, (context, origin, values) in enumerate(pairs):
        frame = item_scores([values], start=2**60 + number, context=context, **factors)
        kind = "original" if context == origin else "rewritten"
        frames.append(frame.assign(rewriting=kind, origin=origin))
    return pd.concat(frames, ignore_index=True)


def ablation(n=8, seed=0):
    tables = noisy(["before", "after"], n=n, seed=seed)
    rows = [(f"c{i}", f"c{i}", list(tables["before"][i])) for i in range(n)]
    rows += [(f"c{i} harsh", f"c{i}", list(tables["after"][i])) for i in range(n)]
    return rewritten(rows), tables


def test_rewritten_contexts_are_paired_with_the_ones_they_were_made_from():
    frame, tables = ablation()
    result = score_correlations(frame, factor="rewriting", alternative="greater")
    row = pearson(result).iloc[0]
    before, after = (tables[one].mean(axis=1) for one in ("before", "after"))
    assert (row["first"], row["second"], row["n_pairs"]) == ("original", "rewritten", 8)
    assert row["r"] == pytest.approx(stats.pearsonr(before, after).statistic, abs=1e-12)
    test = stats.ttest_rel(after, before, alternative="greater")
    assert shifts(result).loc["s", "t"] == pytest.approx(test.statistic)
    assert shifts(result).loc["s", "p"] == pytest.approx(test.pvalue)
    # contexts nobody rewrote, and rewritings without their original, have no partner
    lone = rewritten([("x", "x", [1, 2, 3, 4]), ("y harsh", "y", [2, 2, 2, 2])])
    lone["administration"] += 10_000
    more = score_correlations(pd.concat([frame, lone], ignore_index=True), factor="rewriting")
    assert pearson(more)[["n_pairs", "without_partner"]].to_numpy().tolist() == [[8, 2]]


def test_several_rewritings_of_one_context_are_averaged_into_one_pair():
    frame, tables = ablation()
    second = rewritten([("c0 harsher", "c0", [5, 5, 5, 5])])
    second["administration"] += 10_000
    result = score_correlations(pd.concat([frame, second], ignore_index=True), factor="rewriting")
    after = tables["after"].mean(axis=1)
    after[0] = (after[0] + 5) / 2
    row = pearson(result).iloc[0]
    assert row["n_pairs"] == 8
    wanted = stats.pearsonr(tables["before"].mean(axis=1), after).statistic
    assert row["r"] == pytest.approx(wanted, abs=1e-12)
    assert any(
        "Several rewritings of one context are averaged" in n and "c0" in n
        for n in result.all_notes
    )
    assert (result.n_used, result.n_left_out) == (17 * 4, 0)


def test_a_rewritten_context_belongs_to_the_set_of_its_origin():
    frame, _ = ablation()
    sets = np.where(frame["origin"].isin(["c0", "c1", "c2", "c3"]), "personas", "conversations")
    frame = frame.assign(context_set=np.where(frame["rewriting"] == "rewritten", "new", sets))
    result = score_correlations(frame, factor="rewriting", by=("respondent", "context_set"))
    rows = pearson(result).set_index("context_set")
    assert rows["n_pairs"].to_dict() == {"personas": 4, "conversations": 4}


def two_studies(first_form="original", second_form="original"):
    tables = noisy(["one", "two"], n=10)
    parts = [
        answers({name: tables[name]}, factors={"study": name}).assign(form=form)
        for name, form in (("one", first_form), ("two", second_form))
    ]
    parts[1]["administration"] += 1000
    return pd.concat(parts, ignore_index=True), tables


def test_studies_are_paired_on_all_factors():
    frame, tables = two_studies()
    result = score_correlations(frame, factor="study")
    row = pearson(result).iloc[0]
    wanted = stats.pearsonr(tables["one"].mean(axis=1), tables["two"].mean(axis=1)).statistic
    assert (row["first"], row["second"], row["n_pairs"]) == ("one", "two", 10)
    assert row["r"] == pytest.approx(wanted, abs=1e-12)
    assert not any("also differ" in note for note in result.all_notes)


def test_forms_run_as_separate_studies_are_paired_and_the_difference_is_named():
    frame, tables = two_studies("original", "paraphrase")
    result = score_correlations(frame, factor="study", by=("respondent", "form"))
    row = pearson(result).iloc[0]
    wanted = stats.pearsonr(tables["one"].mean(axis=1), tables["two"].mean(axis=1)).statistic
    assert row["r"] == pytest.approx(wanted, abs=1e-12)
    assert list(pearson(result).columns[:2]) == ["respondent", "scale"]
    assert any("also differ in form (one: original, two: paraphrase)" in n for n in result.cautions)
    # a study with both forms keeps them apart
    both = frame[frame["study"] == "one"].assign(form="paraphrase")
    both["administration"] += 5000
    kept = score_correlations(pd.concat([frame, both], ignore_index=True), factor="study")
    assert pearson(kept)["n_pairs"].tolist() == [10]
    assert not any("also differ" in note for note in kept.all_notes)


def test_studies_in_different_formats_are_told_not_to_compare_means():
    frame, _ = two_studies()
    frame["format"] = np.where(frame["study"] == "one", "likert_5", "likert_6")
    result = score_correlations(frame, factor="study", by=("respondent", "format"))
    assert any("mean differences between them are not comparable" in n for n in result.cautions)


def test_a_frame_without_the_columns_of_rewriting_or_set_is_an_error_that_says_so():
    frame = answers(noisy(["original", "b"]))
    with pytest.raises(NotEnoughData, match="do not say which contexts are rewritten") as caught:
        score_correlations(frame, factor="rewriting")
    assert "rewritten" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="no factor context_set"):
        score_correlations(frame, by=("context_set",))


def test_a_study_without_rewritten_contexts_is_an_error_with_a_next_step():
    frame, _ = ablation()
    with pytest.raises(NotEnoughData, match="one level only") as caught:
        score_correlations(frame[frame["rewriting"] == "original"], factor="rewriting")
    assert "rewritten from others" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="one level only") as caught:
        score_correlations(answers(noisy(["original", "b"])), factor="study")
    assert "two studies" in caught.value.remedy


@pytest.mark.parametrize("factor", ["form", "repetition", "entity"])
def test_one_level_or_one_pair_is_an_error_with_a_next_step(factor):
    levels = {"form": ["original"], "repetition": [1], "entity": ["x"]}[factor]
    with pytest.raises(NotEnoughData, match="there is one level only") as caught:
        score_correlations(answers(noisy(levels), factor), factor=factor)
    assert f"two levels of {factor}" in caught.value.remedy
    lone = answers(noisy([*levels, 2], n=1), factor)
    with pytest.raises(NotEnoughData, match="No scores can be paired"):
        score_correlations(lone, factor=factor)


@pytest.mark.parametrize(
    "analysis",
    [
        partial(score_correlations, factor="form", incomplete="listwise"),
        partial(group_comparison, factor="form", incomplete="listwise"),
        partial(multitrait_matrix, split=("form",), incomplete="listwise"),
    ],
)
def test_an_item_that_nobody_answered_is_named_with_what_to_do(analysis):
    tables = noisy(["original", "negated"])
    frame = answers({level: np.c_[rows, [np.nan] * len(rows)] for level, rows in tables.items()})
    with pytest.raises(NotEnoughData) as refused:
        analysis(frame)
    assert refused.value.remedy.startswith("Item i5 never got a usable answer")
    assert "answers to half of the items" in refused.value.remedy
    assert analysis(frame, incomplete="half").n_used == 200


def test_without_such_an_item_the_remedy_is_another():
    tables = noisy(["original", "negated"], n=2)
    tables["original"][0, 0] = tables["negated"][1, 1] = np.nan
    with pytest.raises(NotEnoughData) as refused:
        score_correlations(answers(tables), factor="form")
    assert "never got" not in refused.value.remedy


def mark(p):
    """The usual key of stars, such as that of R's symnum."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def test_stars_are_of_the_adjusted_p_in_every_analysis_that_prints_them():
    # Six levels with a small shift between some: many pairs, so that adjusting takes stars away.
    values = noisy([f"f{number}" for number in range(6)], n=40, seed=5)
    forms = answers({name: own + 0.12 * place for place, (name, own) in enumerate(values.items())})
    own_people = forms.assign(context=forms["form"] + forms["context"])
    results = [
        score_correlations(forms, factor="form"),
        group_comparison(own_people, factor="form"),
        multitrait_matrix(forms, split=("form",)),
    ]
    n_taken = 0
    for result in results:
        for table in result.tables:
            if "stars" not in table.frame:
                continue
            adjusted = [mark(p) for p in table.frame["p_adjusted"]]
            assert table.frame["stars"].tolist() == adjusted
            n_taken += sum(
                mark(p) != own for p, own in zip(table.frame["p"], adjusted, strict=True)
            )
            assert "djusted" in next(c.help for c in table.columns if c.name == "stars")
    assert n_taken > 3  # the two differ here


def test_respondents_and_models_are_paired_though_the_other_differs_with_them():
    frame = answers(noisy(["gpt", "gemma"]), "respondent")
    frame["model"] = frame["respondent"].astype(str) + "-1"
    r = np.corrcoef(*frame.groupby(["respondent", "context"])["score"].mean().unstack().to_numpy())
    for factor in ("respondent", "model"):
        result = score_correlations(frame, factor=factor, by=("respondent", "template"))
        assert pearson(result)["r"].tolist() == pytest.approx([r[0, 1]])
        assert pearson(result)["n_pairs"].tolist() == [25]
        assert not any("also differ" in caution for caution in result.cautions)


def test_settings_of_respondents_are_compared_within_their_models_and_are_named():
    parts = []
    for model in ("a", "b"):
        part = answers(noisy(["0", "1"], seed=ord(model)), "temperature")
        part["model"], part["respondent"] = model, model + part["temperature"].astype(str)
        parts.append(part.assign(administration=part["administration"] + 1000 * (model == "b")))
    frame = pd.concat(parts, ignore_index=True)
    result = score_correlations(frame, factor="temperature", by=("respondent",))
    assert pearson(result)[["model", "n_pairs"]].to_numpy().tolist() == [["a", 25], ["b", 25]]
    one = frame[frame["model"] == "a"]
    (caution,) = [
        text
        for text in score_correlations(one, factor="respondent").cautions
        if "also differ in temperature (a0: 0, a1: 1)" in text
    ]
    assert caution.startswith("The respondents")


def test_groups_by_model_stay_where_respondents_are_compared():
    frame = answers(noisy(["a1", "a2", "b1", "b2"]), "respondent")
    frame["model"] = frame["respondent"].astype(str).str[0]
    result = score_correlations(frame, factor="respondent", by=("model",))
    found = pearson(result)[["model", "first", "second"]].to_numpy().tolist()
    assert found == [["a", "a1", "a2"], ["b", "b1", "b2"]]
    with pytest.raises(NotEnoughData):  # two respondents of a model are no one score of it
        score_correlations(frame, factor="model")

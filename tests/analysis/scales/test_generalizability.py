from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.analysis.kit.sentences import table_of
from core.analysis.scales.generalizability.analysis import generalizability
from core.analysis.scales.generalizability.facets import counted
from core.charts.variance import variance_charts
from core.domain.frames import HIGHEST, ITEM_SCORES, LOWEST, PEOPLE, check_frame
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.stats.reliability.alpha import cronbach_alpha
from core.workflow.statistics.analyses import by_name
from tests.examples import few_examples
from tests.stats.variance.designs import BRENNAN_3, BRENNAN_4, simulated


def answers(rows, names, lowest=0.0, highest=100.0, **constant):
    """ITEM_SCORES of rows (level, ..., score); `names` are item and factors."""
    frame = pd.DataFrame(rows, columns=[*names, "score"])
    for factor in FACTORS:
        if factor not in frame:
            frame[factor] = constant.get(factor, "m" if factor in ("respondent", "model") else "")
    for name in names:
        codes = frame[name].astype(int)
        frame[name] = codes if name == "repetition" else name[0] + codes.astype(str)
    frame["study"] = "s"
    frame["administration"] = frame.groupby(list(FACTORS), sort=False).ngroup()
    frame["score"] = frame["score"].astype(float)
    frame["status"] = np.where(frame["score"].isna(), "refused", "answered")
    frame = frame.assign(subscale="s", keyed=1)[list(ITEM_SCORES.columns)]
    check_frame(frame, ITEM_SCORES)
    return frame.assign(**{LOWEST: lowest, HIGHEST: highest})


def brennan_3():
    return answers(
        [(p, i, o, BRENNAN_3[o][i][p]) for p, i, o in product(range(10), range(4), range(2))],
        ["context", "item", "form"],
    )


def study(levels, components, seed=0, names=("item", "context", "template"), repetitions=1):
    """Answers with known components; several repetitions are numbered."""
    values, codes = simulated(levels, components, seed, repetitions=repetitions)
    rows = pd.DataFrame(codes.T)
    names = list(names[: len(levels)])
    if repetitions > 1:
        rows["repetition"] = rows.groupby(list(rows)).cumcount() + 1
        names.append("repetition")
    return answers(rows.assign(score=values).to_numpy().tolist(), names)


COMPONENTS = {(0,): 4.0, (1,): 2.0, (2,): 0.3, (0, 1): 2.0, (0, 2): 0.5, (): 3.0}


def frame_of(result, name):
    return table_of(result, name).frame


def shares(result):
    frame = frame_of(result, "components")
    return dict(zip(frame["source"], frame["share"], strict=True))


def sentence(result, group="all administrations"):
    groups = by_name("generalizability").answer(result)
    return next(own.sentence for own in groups if own.group == group)


def test_the_published_table_comes_out_of_answers():
    """Brennan (2001), tables 3.3 and 5.1: p x i x o, G and phi with 4 items and 2 occasions."""
    result = generalizability(brennan_3())
    frame = frame_of(result, "components").set_index("source")
    wanted = {
        "Item": 0.4417,
        "Context": 0.5528,
        "Form": 0.0074,
        "Item × context": 0.5750,
        "Item × form": 0.1565,
        "Context × form": 0.1009,
        "Residual (item × context × form, chance)": 0.9352,
    }
    assert frame["estimate"].to_dict() == pytest.approx(wanted, abs=5e-5)
    total = sum(wanted.values())
    assert frame["share"].to_dict() == pytest.approx(
        {source: value / total for source, value in wanted.items()}, abs=5e-5
    )
    own = frame_of(result, "coefficients").set_index("coefficient")
    assert own.loc["G", "objects"] == "context"
    assert own.loc["G", "over"] == "4 items, 2 forms"
    assert own.loc["G", ["universe", "error"]].tolist() == pytest.approx([0.5528, 0.3111], abs=1e-4)
    assert own.loc["phi", "error"] == pytest.approx(0.4448, abs=1e-4)
    assert own.loc["phi", "sem"] == pytest.approx(0.4448**0.5, abs=1e-4)
    assert (result.n_used, result.n_missing, result.n_left_out) == (80, 0, 0)


def test_items_within_subscales_are_a_nested_facet():
    """Brennan (2001), table 3.4: raters within tasks stand for items within subscales."""
    rows = [(p, r, BRENNAN_4[r][p]) for p, r in product(range(10), range(12))]
    frame = answers(rows, ["context", "item"])
    task = "t" + (frame["item"].str[1:].astype(int) // 4).astype(str)
    own = generalizability(
        frame.assign(**{"item.subscale": task}), facets=("context", "item.subscale")
    )
    table = frame_of(own, "components").set_index("source")
    assert table["estimate"].to_dict() == pytest.approx(
        {
            "Context": 0.4731,
            "Subscale": 0.3252,
            "Item (within subscale)": 0.6475,
            "Context × subscale": 0.5596,
            "Residual (item × context (within subscale), chance)": 2.3802,
        },
        abs=5e-5,
    )
    coefficients = frame_of(own, "coefficients")
    assert coefficients["value"].tolist() == pytest.approx([0.55, 0.46], abs=0.005)
    assert coefficients["over"].tolist() == ["4 items, 3 subscales"] * 2


@few_examples
@given(st.integers(0, 1000), st.integers(3, 7))
def test_g_of_contexts_by_items_is_alpha_and_shares_add_up(seed, n_items):
    components = {(0,): 1.0, (1,): 2.0, (): 1.0}
    frame = study((n_items, 8), components, seed)
    result = generalizability(frame)
    wide = frame.pivot_table(index="context", columns="item", values="score").to_numpy()
    value = frame_of(result, "coefficients")["value"].iloc[0]
    alpha = cronbach_alpha(wide).value
    assert value == pytest.approx(max(alpha, 0.0))
    assert sum(shares(result).values()) == pytest.approx(1)


def test_repetitions_are_the_residual_and_a_planned_study_has_its_own_numbers():
    frame = study((6, 8), {(0,): 9.0, (1,): 4.0, (0, 1): 2.0, (): 3.0}, 3, repetitions=4)
    result = generalizability(frame, numbers="item = 20; repetition=2")
    assert list(shares(result)) == ["Item", "Context", "Item × context", "Residual (repetition)"]
    own = frame_of(result, "coefficients")
    assert own["over"].tolist() == ["6 items, 4 repetitions"] * 2 + ["20 items, 2 repetitions"] * 2
    estimate = frame_of(result, "components")["estimate"].to_numpy()
    planned = own[own["design"] == "Planned"].set_index("coefficient")["error"]
    assert planned["G"] == pytest.approx(estimate[2] / 20 + estimate[3] / 40)
    assert planned["phi"] == pytest.approx((estimate[0] + estimate[2]) / 20 + estimate[3] / 40)
    assert "planned over 20 items, 2 repetitions, G = " in sentence(result)


def test_the_numbers_needed_reach_the_target_and_one_less_does_not():
    frame = study((6, 20), {(0,): 3.0, (1,): 3.0, (): 9.0}, 2)
    result = generalizability(frame, target=0.9)
    need = frame_of(result, "needs").set_index("facet").loc["Item"]
    g = {
        n: frame_of(generalizability(frame, numbers=f"item={n}"), "coefficients")["value"].iloc[2]
        for n in (int(need["needed_g"]), int(need["needed_g"]) - 1)
    }
    assert min(g.values()) < 0.9 <= max(g.values())
    curve = frame_of(result, "decisions")
    assert curve["levels"].is_monotonic_increasing
    assert curve["g"].is_monotonic_increasing
    # with templates that differ, no number of items reaches any target
    frame = study((6, 5, 2), {(1,): 1.0, (1, 2): 3.0, (): 0.1}, 1)
    need = frame_of(generalizability(frame, target=0.95), "needs").set_index("facet").loc["Item"]
    assert math.isnan(need["needed_phi"])
    assert need["limit_phi"] < 0.95
    assert "no number of levels of this facet is enough alone" in need["remark"]


def test_a_fixed_facet_is_no_sample():
    own = generalizability(brennan_3(), fixed=("form",))
    values = frame_of(own, "coefficients")
    # forms fixed: universe .5528 + .1009/2, relative .5750/4 + .9352/8
    assert values["universe"].iloc[0] == pytest.approx(0.5528 + 0.1009 / 2, abs=1e-4)
    assert values["error"].iloc[0] == pytest.approx(0.5750 / 4 + 0.9352 / 8, abs=1e-4)
    assert values["over"].iloc[0] == "4 items, 2 forms (fixed)"
    assert frame_of(own, "needs")["facet"].tolist() == ["Item"]


def test_gaps_lead_to_reml_with_a_note_and_the_missing_are_counted():
    frame = study((6, 8, 3), COMPONENTS, 4)
    frame.loc[frame.index[::9], "score"] = np.nan
    result = generalizability(frame)
    assert (result.n_used, result.n_missing) == (128, 16)
    assert any("REML and intervals are approximate" in note for note in result.notes)
    by_squares = generalizability(frame, estimator="anova")
    assert any("Henderson's method 1" in note for note in by_squares.notes)


def test_the_largest_sources_and_the_coefficients_answer_the_question():
    text = sentence(generalizability(brennan_3(), reported="published"))
    # shares of 2.7696: .9352 33.8%, .5750 20.8%, .5528 20.0%, .4417 15.9%, .1565 5.7%, rest 3.9%
    assert text.startswith(
        "Of the variance of an answer (0 to 100), 21% comes from item × context, 20% from "
        "context, 16% from item, 6% from item × form, 4% from 2 other sources and 34% is residual "
        "(item × context × form, chance). × marks what a combination adds to what each gives "
        "alone. For scores of 10 contexts over 4 items, 2 forms, G = .64"
    )
    corrected = sentence(generalizability(brennan_3()))
    # none of the estimates is below 0, so that the shares are the same
    assert "20% from context, 16% from item (chance alone may give that), 6%" in corrected


def test_p_of_a_source_is_that_of_the_exact_f_test():
    frame = frame_of(generalizability(study((12, 8), {(1,): 0.3, (): 9.0}, 5)), "components")
    frame = frame.set_index("source")
    residual = frame.iloc[-1]
    for source in ("Item", "Context"):
        row = frame.loc[source]
        exact = stats.f.sf(row["mean_square"] / residual["mean_square"], row["df"], residual["df"])
        assert row["p"] == pytest.approx(exact, abs=0.03)
        assert row["corrected"] == pytest.approx(row["estimate"] / frame["estimate"].sum())
        assert row["by_chance"] > 0
    assert np.isnan(residual[["p", "by_chance"]].astype(float)).all()


def test_groups_stand_side_by_side_and_one_without_variance_is_named():
    good = study((5, 6), {(0,): 4.0, (1,): 2.0, (): 3.0}).assign(respondent="a", model="a")
    flat = good.assign(respondent="b", model="b", score=50.0)
    flat["administration"] += 1000
    result = generalizability(pd.concat([good, flat]), by=("respondent",))
    frame = frame_of(result, "components").set_index("respondent")
    assert frame.loc["a", "share"].sum() == pytest.approx(1)
    assert frame.loc["b", "share"].isna().all()
    assert "b: Undefined: all scores are the same." in result.cautions
    assert result.n_left_out == 30
    assert sentence(result, "b").startswith("The shares of variance are undefined")
    assert len(variance_charts(result, "light")) == 2


def test_facets_that_go_one_to_one_share_a_source():
    frame = study((5, 6, 4), COMPONENTS, names=("item", "context", "language"))
    model = "m" + frame["language"]
    result = generalizability(frame.assign(respondent=model, model=model))
    assert "Model or language" in shares(result)
    assert any("cannot be told apart" in caution for caution in result.cautions)
    people = generalizability(frame.assign(respondent=model, model=model, **{PEOPLE: True}))
    assert "Respondent or language" in shares(people)
    texts = [*people.notes, *people.cautions, people.method, people.unit, sentence(people)]
    assert not any("model" in text.lower() for text in texts)


def test_a_respondent_and_its_model_are_one_facet():
    frame = study((5, 6, 4), COMPONENTS, names=("item", "context", "respondent"))
    result = generalizability(frame.assign(model="m" + frame["respondent"].astype(str)))
    assert not any("cannot be told apart" in caution for caution in result.cautions)


def test_respondents_within_languages_are_nested():
    frame = study((5, 6), {(0,): 4.0, (1,): 2.0, (): 3.0}, names=("item", "respondent"))
    language = np.where(frame["respondent"].isin(["r0", "r1", "r2"]), "en", "de")
    result = generalizability(frame.assign(language=language, model=frame["respondent"]))
    assert list(shares(result)) == [
        "Item",
        "Model (within language)",
        "Language",
        "Item × language",
        "Residual (item × model (within language), chance)",
    ]


@pytest.mark.parametrize(
    ("levels", "names", "reason"),
    [
        ((1, 1), ("item", "context"), "nothing in the asking varies but repetition"),
        ((6, 1), ("item", "context"), "nothing can be told from chance"),
    ],
)
def test_one_level_of_everything_is_undefined(levels, names, reason):
    frame = study(levels, {(): 3.0}, names=names)
    with pytest.raises(NotEnoughData, match=reason):
        generalizability(frame)


def test_one_item_and_equal_scores():
    frame = study((1, 6), {(1,): 2.0, (): 3.0}, repetitions=3)
    assert list(shares(generalizability(frame))) == ["Context", "Residual (repetition)"]
    with pytest.raises(NotEnoughData, match="all scores are the same"):
        generalizability(study((3, 4), {(): 3.0}).assign(score=2.0))


def test_few_answers_to_many_combinations_leave_no_residual():
    frame = study((8, 6, 5, 4), {(): 3.0}, names=("item", "context", "language", "respondent"))
    sparse = frame.sample(90, random_state=1)
    with pytest.raises(NotEnoughData, match="too few answers to tell so many sources"):
        generalizability(sparse)


def test_an_item_never_answered_is_left_out_and_named():
    frame = study((5, 6), {(0,): 4.0, (1,): 2.0, (): 3.0})
    frame.loc[frame["item"] == "i2", "score"] = np.nan
    result = generalizability(frame)
    assert "Left out, because nobody answered: i2." in result.notes
    assert frame_of(result, "components")["levels"].tolist()[0] == 4
    assert not any("combinations" in note for note in result.notes)  # what is left is complete


def test_a_facet_that_is_measured_but_does_not_differ():
    result = generalizability(brennan_3(), objects="language")
    own = frame_of(result, "coefficients")
    assert own["value"].isna().all()
    assert own["remark"].iloc[0] == "Undefined: the language does not differ in these answers."
    assert sentence(result).endswith("G and phi are undefined.")
    assert len(variance_charts(result, "dark")) == 1


def test_few_levels_negative_estimates_and_pooled_facets_are_noted():
    frame = study((4, 5, 2), {(0,): 4.0, (): 3.0}, 5)
    result = generalizability(frame)
    below = frame_of(result, "components")
    assert (below["estimate"] < 0).any()
    assert (below.loc[below["estimate"] < 0, "share"] == 0).all()
    assert any("template (2): a variance of so few levels" in note for note in result.notes)
    assert any("estimated below 0, which counts as 0" in note for note in result.notes)
    chosen = generalizability(frame, facets=("context",))
    assert list(shares(chosen)) == ["Item", "Context", "Item × context", "Residual (template)"]
    with pytest.raises(NotEnoughData, match="6 facets are chosen"):
        generalizability(frame, facets=FACTORS[:6])


def test_no_share_above_100_percent_is_printed_or_drawn():
    """Pure noise of 5 x 6: a corrected share below 0 makes that of the residual larger than 1."""
    checked = 0
    for seed in range(8):
        result = generalizability(study((5, 6), {(): 9.0}, seed))
        rows = frame_of(result, "components")
        if rows["corrected"].iloc[-1] <= 1.005:
            continue
        checked += 1
        percents = [int(text) for text in re.findall(r"(\d+)%", sentence(result))]
        assert max(percents) <= 100
        assert "corrected share below 0 count as none" in sentence(result)
        bars = variance_charts(result, "light")[0]
        assert bars.table["share"].between(0, 1).all()
        drawn = bars.table.set_index("source")["share"]
        corrected = rows.set_index("source")["corrected"].clip(0, 1)
        assert drawn.to_dict() == pytest.approx(corrected.to_dict())
        assert "corrected for chance" in bars.alt
    assert checked


def test_the_chart_of_published_shares_and_of_results_of_earlier_versions():
    result = generalizability(study((5, 6), {(): 9.0}, 2), reported="published")
    rows = frame_of(result, "components").set_index("source")
    table = table_of(result, "components")
    columns = tuple(c for c in table.columns if c.name not in ("corrected", "p", "by_chance"))
    earlier = replace(table, columns=columns, frame=table.frame[[c.name for c in columns]])
    for each in (result, replace(result, tables=(earlier,))):
        bars = variance_charts(each, "light")[0]
        assert bars.table.set_index("source")["share"].to_dict() == pytest.approx(
            rows["share"].to_dict()
        )
        assert "corrected" not in bars.alt


def test_a_share_of_reml_below_0_has_a_remark():
    for seed in range(10):
        frame = study((5, 6), {(): 9.0}, seed, repetitions=2)
        frame.loc[frame.index[:2], "score"] = np.nan
        rows = frame_of(generalizability(frame, estimator="reml"), "components")
        below = rows["corrected"] < 0
        if below.any():
            assert (rows.loc[below, "estimate"] >= 0).all()
            assert (rows.loc[below, "remark"] != "").all()
            return
    raise AssertionError("no share is below 0")


def test_more_facets_than_can_be_analyzed_count_as_residual():
    names = ("item", "language", "context", "entity", "template", "form", "phase")
    frame = study((2, 2, 2, 2, 2, 2, 2), {(0,): 1.0, (): 1.0}, names=names)
    result = generalizability(frame)
    assert any("Differences by phase count as residual" in text for text in result.cautions)
    assert "Residual (phase)" in shares(result)


@pytest.mark.parametrize("text", ["item", "item=", "item=0", "item=2.5", "item=many"])
def test_unreadable_numbers_of_a_planned_study_are_refused(text):
    with pytest.raises(NotEnoughData, match="is not read"):
        generalizability(brennan_3(), numbers=text)
    with pytest.raises(NotEnoughData, match="there is no facet 'weather'"):
        generalizability(brennan_3(), numbers="weather=3")


def test_formats_are_a_facet_on_one_scale():
    frame = study((5, 6, 2), COMPONENTS, names=("item", "context", "format"))
    other = (frame["format"] == "f1").to_numpy()
    frame[LOWEST], frame[HIGHEST] = np.where(other, 0.0, 0.0), np.where(other, 10.0, 100.0)
    frame["score"] = np.where(other, (frame["score"] + 20) / 10, frame["score"] + 20)
    assert shares(generalizability(frame)) == pytest.approx(
        shares(
            generalizability(
                frame.assign(score=frame["score"] * np.where(other, 10, 1), **{HIGHEST: 100.0})
            )
        )
    )


def test_the_same_seed_gives_the_same_intervals():
    one, two, other = (
        frame_of(generalizability(brennan_3(), seed=s), "components") for s in (1, 1, 2)
    )
    assert one["share_low"].equals(two["share_low"])
    assert not one["share_low"].equals(other["share_low"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_say_what_they_show_and_hold_their_data(theme):
    bars, curves = variance_charts(generalizability(brennan_3()), theme)
    assert "Largest: Residual (item × context × form, chance) 34%, Item × context 21%" in bars.alt
    assert bars.table["share"].is_monotonic_decreasing
    assert "Item: G .64, phi .55 with 4" in curves.alt
    assert set(curves.table["coefficient"]) == {"G", "phi"}
    assert curves.across == 2


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("entity or second entity", 2, "2 entities or second entities"),
        ("entity or second entity", 1, "1 entity or second entity"),
        ("language or history", 2.5, "2.5 languages or histories"),
    ],
)
def test_facets_that_go_together_have_each_their_own_plural(name, number, text):
    assert counted(name, number) == text

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import progress
from core.analysis.factors.cfa.analysis import cfa
from core.analysis.scales.reliability import reliability
from core.analysis.scales.score_correlations import score_correlations
from core.analysis.scales.validation_report.analysis import validation_report
from core.analysis.words.odds_ratios import odds_ratios
from core.domain.frames import ITEM_SCORES, OPTION_POINTS, TEXTS, check_frame
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

CRITERIA = [
    "internal consistency",
    "alternate form",
    "option order",
    "concurrent",
    "convergent",
    "factorial",
]
SUBSCALES = ["H"] * 4 + ["B"] * 4
MEN_ABLE = {"first": "man", "first_lists": "able"}
LISTS = pd.DataFrame([("able", "smart"), ("warm", "kind")], columns=["list", "entry"])
USUAL = {
    "study": "s",
    "respondent": "gpt",
    "model": "m",
    "language": "en",
    "format": "likert",
    "form": "original",
    "label_order": "as_is",
    "repetition": 1,
    "context_set": "personas",
}


def traits(n=120, seed=0):
    """Two correlated traits of n contexts."""
    own = np.random.default_rng(seed).normal(size=(n, 2))
    own[:, 1] = 0.5 * own[:, 0] + 0.8 * own[:, 1]
    return own


def asked(trait, *, seed, loading=0.85, subscales=SUBSCALES, start=0, **factors):
    """ITEM_SCORES of one asking: an administration per context, one item score each cell."""
    draw, n, k = np.random.default_rng(seed), len(trait), len(subscales)
    place = [list(dict.fromkeys(subscales)).index(name) for name in subscales]
    noise = math.sqrt(1 - loading**2) * draw.normal(size=(n, k))
    values = np.clip(np.round(2.5 + 1.3 * (loading * trait[:, place] + noise)), 0, 5)
    frame = pd.DataFrame(
        {
            "administration": np.repeat(2**60 + start + np.arange(n), k),
            "context": np.repeat([f"c{number}" for number in range(n)], k),
            "item": np.tile([f"i{number}" for number in range(k)], n),
            "subscale": np.tile(subscales, n),
            "keyed": 1,
            "score": values.ravel(),
            "status": "answered",
        }
    )
    frame = frame.assign(**(dict.fromkeys(set(FACTORS) - {"context"}, "") | USUAL | factors))
    check_frame(frame, ITEM_SCORES)
    return frame[[*ITEM_SCORES.columns, "context_set"]]


def study(trait, *, loading=0.85, **factors):
    """The scale with its alternate form and with options in random order."""
    parts = [
        asked(trait, seed=1, loading=loading, **factors),
        asked(trait, seed=2, loading=loading, start=10_000, **({"form": "alternate"} | factors)),
        asked(
            trait, seed=3, loading=loading, start=20_000, **({"label_order": "random"} | factors)
        ),
    ]
    return pd.concat(parts, ignore_index=True)


def written(trait, *, seed=5, **factors):
    """TEXTS whose stereotypical words rise with the trait."""
    draw, rows = np.random.default_rng(seed), []
    for number, level in enumerate(trait.mean(axis=1)):
        for gender, sign in (("man", 1), ("woman", -1)):
            able, warm = (max(1, round(12 + s * 3 * level + draw.normal())) for s in (sign, -sign))
            text = " ".join(["smart"] * able + ["kind"] * warm + ["word"] * 200)
            rows.append({"context": f"c{number}", "gender": gender, "item": gender, "text": text})
    usual = {"study": "t", "respondent": "gpt", "language": "en", "repetition": 1}
    frame = pd.DataFrame(rows).assign(**(usual | {"status": "answered"} | factors))
    check_frame(frame, TEXTS)
    return frame


@pytest.fixture(scope="module")
def trait():
    return traits()


@pytest.fixture(scope="module")
def scale(trait):
    return study(trait)


@pytest.fixture(scope="module")
def others(trait):
    """What is brought in for convergent and concurrent validity, of some of the contexts."""
    convergent = asked(
        trait[:90], seed=4, loading=0.9, subscales=["X"] * 5, study="mss", format="five"
    )
    return {"convergent": convergent, "texts": written(trait[:40]), "lists": LISTS} | MEN_ABLE


@pytest.fixture(scope="module")
def full(scale, others):
    return validation_report(scale, **others, resamples=200)


def criteria(result, **group):
    frame = tables(result)["criteria"]
    for name, value in group.items():
        frame = frame[frame[name] == value]
    return frame.set_index("criterion")


def tables(result):
    return {table.name: table.frame for table in result.tables}


def base(frame):
    return frame[(frame["form"] == "original") & (frame["label_order"] == "as_is")]


def all_items(result):
    frame = tables(result)["correlations"]
    return frame[(frame["scale"] == "all items") & (frame["kind"] == "pearson")].iloc[0]


def test_a_scale_of_known_properties_is_reliable_and_valid(full):
    verdict = tables(full)["verdicts"].iloc[0]
    assert (verdict["respondent"], verdict["context_set"]) == ("gpt", "personas")
    assert (verdict["reliable"], verdict["valid"]) == ("yes", "yes")
    assert verdict["verdict"] == "Reliable and valid: all six criteria are acceptable."
    own = criteria(full)
    assert own.index.tolist() == CRITERIA
    assert own["light"].tolist() == ["green"] * 6
    assert own["n"].tolist() == [120, 120, 120, 40, 90, 120]
    ratings = verdict[[name.replace(" ", "_") for name in CRITERIA]].tolist()
    assert ratings == own["rating"].tolist() == ["++", "++", "++", "++", "++", "+"]
    assert (own["ci_low"].iloc[:5] < own["value"].iloc[:5]).all()
    assert (own["value"].iloc[:5] < own["ci_high"].iloc[:5]).all()


def test_internal_consistency_is_that_of_the_analysis_of_reliability(scale, full):
    alone = tables(reliability(base(scale), resamples=200))["reliability"]
    other = alone[alone["coefficient"] == "Stratified α"].iloc[0]
    own = criteria(full).loc["internal consistency"]
    for name, theirs in (("value", "value"), ("ci_low", "ci_low"), ("ci_high", "ci_high")):
        assert own[name] == pytest.approx(other[theirs], abs=1e-12)
    assert own["method"] == other["method"]


@pytest.mark.parametrize(
    ("criterion", "factor"), [("alternate form", "form"), ("option order", "label_order")]
)
def test_stability_is_that_of_the_analysis_of_score_correlations(scale, full, criterion, factor):
    rest = {"form": "label_order", "label_order": "form"}[factor]
    alone = scale[scale[rest].isin(["original", "as_is"])]
    other = all_items(score_correlations(alone, factor=factor))
    own = criteria(full).loc[criterion]
    assert own["value"] == pytest.approx(other["r"], abs=1e-12)
    assert own["ci_low"] == pytest.approx(other["ci_low"], abs=1e-12)
    assert own["n"] == other["n_pairs"] == 120


@pytest.mark.parametrize(
    ("estimator", "kind"), [("mlr", "_robust"), ("ml", ""), ("fiml", "_robust")]
)
def test_the_factorial_criterion_is_that_of_the_analysis_cfa(scale, estimator, kind):
    frame = base(scale).copy()
    frame.loc[frame.index[3], "score"] = np.nan
    alone = tables(cfa(frame, estimator=estimator))["fit"].iloc[0]
    result = validation_report(frame, estimator=estimator, resamples=100)
    own, fit = criteria(result).loc["factorial"], tables(result)["fit"].iloc[0]
    assert own["value"] == pytest.approx(alone[f"rmsea{kind}"], abs=1e-12)
    assert own["cfi"] == pytest.approx(alone[f"cfi{kind}"], abs=1e-12)
    assert own["ci_high"] == pytest.approx(alone[f"rmsea{kind}_high"], abs=1e-12)
    assert (own["n"], own["missing"]) == ((120, 0) if estimator == "fiml" else (119, 1))
    assert fit["chi2"] == pytest.approx(alone["chi2"], abs=1e-12)
    assert result.n_used == (8 * 120 - 1 if estimator == "fiml" else 8 * 119)
    assert ("robust" if kind else "plain") in own["method"]


def test_the_model_may_be_another(scale):
    alone = tables(cfa(base(scale), model="general"))["fit"].iloc[0]
    own = criteria(validation_report(base(scale), model="general", resamples=100))
    assert own.loc["factorial", "value"] == pytest.approx(alone["rmsea_robust"], abs=1e-12)


def test_validity_correlates_the_scores_of_the_same_respondent_and_context(scale, others, full):
    scores = base(scale).groupby("context")["score"].mean()
    other = others["convergent"].groupby("context")["score"].mean()
    texts = tables(odds_ratios(others["texts"], lists=LISTS, **MEN_ABLE))["scores"].set_index(
        "context"
    )["score"]
    own = criteria(full)["value"]
    for criterion, second in (("convergent", other), ("concurrent", texts)):
        r = np.corrcoef(scores[second.index], second)[0, 1]
        assert own[criterion] == pytest.approx(r, abs=1e-12)


def test_what_was_not_collected_is_grey_and_says_what_to_add(scale):
    result = validation_report(base(scale), resamples=100)
    own = criteria(result)
    for name in CRITERIA[1:5]:
        assert own.loc[name, ["rating", "light", "remark"]].tolist() == [
            "",
            "grey",
            "Not collected.",
        ]
        assert math.isnan(own.loc[name, "value"])
        assert any(
            note.startswith(f"{name.capitalize()}: Not collected.") for note in result.all_notes
        )
    verdict = tables(result)["verdicts"].iloc[0]
    assert (verdict["reliable"], verdict["valid"]) == ("undecided", "not judged")
    assert "no rating for alternate form and option order" in verdict["verdict"]
    assert own.loc["factorial", "rating"] == ""
    assert own.loc["factorial", "cfi"] > 0.9


def test_validity_of_an_unreliable_scale_is_shown_but_not_judged(trait, scale, others):
    noise = asked(traits(seed=9), seed=7, start=10_000, form="alternate")
    frame = pd.concat([scale[scale["form"] != "alternate"], noise])
    result = validation_report(frame, **others, resamples=100)
    verdict, own = tables(result)["verdicts"].iloc[0], criteria(result)
    assert (verdict["reliable"], verdict["valid"]) == ("no", "not judged")
    assert verdict["verdict"].startswith("Not reliable: alternate form (--) is not acceptable.")
    assert own.loc["alternate form", "light"] == "red"
    assert own["light"].tolist()[3:] == ["grey"] * 3
    assert own["rating"].tolist()[3:] == [""] * 3
    assert own.loc["convergent", "value"] > 0.6
    assert "not reliable enough" in own.loc["convergent", "remark"]


def test_a_reliable_scale_may_fail_validity(trait, scale, others):
    other = asked(traits(seed=11), seed=4, subscales=["X"] * 5, study="mss")
    result = validation_report(scale, **(others | {"convergent": other}), resamples=100)
    verdict = tables(result)["verdicts"].iloc[0]
    assert (verdict["reliable"], verdict["valid"]) == ("yes", "no")
    assert "Reliable, but not valid: convergent (" in verdict["verdict"]
    assert criteria(result).loc["convergent", "light"] == "red"


@pytest.mark.parametrize(
    ("edges_of", "rating"),
    [
        (lambda r: (r, r - 0.1), "++"),
        (lambda r: (1.0, r), "+"),
        (lambda r: (1.0, np.nextafter(r, 1)), "-"),
        (lambda r: (1.0, 0.99999, r), "-"),
        (lambda r: (1.0, 0.99999, np.nextafter(r, 1)), "--"),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {
            "consistency_bands": "internal consistency",
            "form_bands": "alternate form",
            "order_bands": "option order",
        },
        # by themselves, as they are judged of a reliable scale only
        {"concurrent_bands": "concurrent", "convergent_bands": "convergent"},
    ],
    ids=["reliability", "validity"],
)
def test_an_edge_belongs_to_the_better_rating(scale, others, full, options, edges_of, rating):
    values = criteria(full)["value"]
    edges = {option: edges_of(values[criterion]) for option, criterion in options.items()}
    result = validation_report(scale, **others, resamples=100, **edges)
    own, bands = criteria(result), tables(result)["bands"].set_index("criterion")
    for option, criterion in options.items():
        assert own.loc[criterion, "rating"] == rating
        assert bands.loc[criterion, "very_good_from"] == edges[option][0]
    own_bands = {row for row, source in bands["bands"].items() if source == "set by the user"}
    assert own_bands == set(options.values())


def test_the_factorial_band_holds_at_its_edges(scale, others, full):
    own = criteria(full).loc["factorial"]
    for options, rating in (
        ({"highest_rmsea": own["value"], "lowest_cfi": own["cfi"]}, "+"),
        ({"highest_rmsea": np.nextafter(own["value"], -1), "lowest_cfi": 0.0}, "-"),
        ({"highest_rmsea": 1.0, "lowest_cfi": np.nextafter(own["cfi"], 2)}, "-"),
    ):
        result = validation_report(scale, **others, resamples=100, **options)
        assert criteria(result).loc["factorial", "rating"] == rating


def test_the_bands_used_are_in_the_result(full):
    bands = tables(full)["bands"].set_index("criterion")
    assert bands.index.tolist() == CRITERIA
    assert bands.loc["option order", ["very_good_from", "good_from", "poor_from"]].tolist() == [
        0.5,
        0.3,
        0.1,
    ]
    assert math.isnan(bands.loc["concurrent", "poor_from"])
    assert bands.loc["factorial", ["highest_rmsea", "lowest_cfi"]].tolist() == [0.05, 0.9]
    assert set(bands["bands"]) == {"Jung (2025)"}


def test_groups_are_judged_each_by_itself(trait, scale, others, full):
    weak = study(trait, loading=0.3, respondent="weak").assign(
        administration=lambda frame: frame["administration"] + 2**40
    )
    both = pd.concat([scale, weak], ignore_index=True)
    result = validation_report(both, **others, resamples=200)
    pd.testing.assert_frame_equal(criteria(result, respondent="gpt"), criteria(full))
    verdicts = tables(result)["verdicts"]
    assert verdicts["reliable"].tolist() == ["yes", "no"]
    own = criteria(result, respondent="weak")
    assert math.isnan(own.loc["convergent", "value"])
    assert any(
        note.startswith("weak · personas, convergent: Undefined") for note in result.cautions
    )
    alone = validation_report(weak, resamples=200)
    assert own["value"].tolist()[:3] == criteria(alone)["value"].tolist()[:3]
    pooled = validation_report(both, by=(), **others, resamples=100)
    assert len(tables(pooled)["verdicts"]) == 1
    assert criteria(pooled).loc["alternate form", "n"] == 240


def test_groups_of_a_study_name_the_study_of_each_answer_in_a_column_of_its_own(scale):
    result = validation_report(scale, by=("study",), resamples=10)
    missing = tables(result)["missing"]
    assert list(missing.columns) == [
        "study",
        "answers",
        "answers_study",
        "form",
        "label_order",
        "planned",
        "missing",
        "share",
    ]
    assert (missing["study"] == missing["answers_study"]).all()


def test_a_study_is_no_other_scale_beside_itself(scale):
    with pytest.raises(NotEnoughData, match="is chosen as another scale for itself") as refused:
        validation_report(scale, convergent=scale)
    assert refused.value.remedy


def test_pairs_lost_to_gaps_are_noted_for_every_criterion(scale, others):
    gaps = others["convergent"].copy()
    first = gaps["item"] == gaps["item"].iloc[0]
    lost = gaps["context"].isin([f"c{k}" for k in range(20)]) & first
    gaps.loc[lost, ["score", "status"]] = [np.nan, "refused"]
    brought = others | {"convergent": gaps, "missing": "listwise"}
    result = validation_report(scale, **brought, resamples=100)
    (note,) = [note for note in result.all_notes if note.startswith("Convergent:")]
    n, missing = criteria(result).loc["convergent", ["n", "missing"]]
    assert (n, missing) == (70, 20)
    assert "20 of 90 pairs were left out: a missing score." in note


def test_of_other_studies_only_what_belongs_to_the_group_counts(scale, others):
    first = scale["context"].str.len() == 3
    halves = pd.concat([scale[first], scale[~first].assign(respondent="other")], ignore_index=True)
    everyone = pd.concat(
        [others["convergent"], others["convergent"].assign(respondent="other")]
    ).assign(administration=lambda frame: np.repeat(np.arange(len(frame) // 5), 5))
    result = validation_report(halves, by=(), convergent=everyone, resamples=100)
    rest = tables(result)["missing"].set_index("answers")
    # of 90 contexts, c10 to c89 belong to the one respondent and c0 to c9 to the other
    assert rest.loc["convergent scale", "planned"] == 5 * 90
    german = scale.assign(
        language="de",
        administration=scale["administration"] + 2**40,
        score=np.random.default_rng(1).permutation(scale["score"]),
    )
    both = pd.concat([scale, german], ignore_index=True)
    apart = validation_report(
        both,
        by=("language",),
        convergent=pd.concat([others["convergent"]] * 2, ignore_index=True).assign(
            language=["en"] * 450 + ["de"] * 450,
            administration=np.repeat(np.arange(180), 5),
            score=lambda frame: frame["score"] + np.repeat([0, 1], 450) * np.arange(900) % 5,
        ),
        texts=pd.concat([written(np.zeros((40, 2)), language="de"), others["texts"]]),
        lists=LISTS,
        **MEN_ABLE,
        resamples=100,
    )
    alone = criteria(validation_report(scale, **others, resamples=100))["value"]
    english = criteria(apart, language="en")["value"]
    assert english.tolist() == pytest.approx(alone.tolist(), abs=1e-12)


def test_contexts_of_two_sets_are_judged_apart(scale):
    sets = np.where(scale["context"].str.len() == 3, "personas", "conversations")
    frame = scale.assign(context_set=sets)
    own = tables(validation_report(frame, resamples=100))["criteria"]
    n = own[own["criterion"] == "alternate form"].set_index("context_set")["n"]
    assert n.to_dict() == {"personas": 90, "conversations": 30}


def test_forms_and_orders_asked_in_studies_of_their_own_give_the_same(scale, full):
    form = scale["form"] == "alternate"
    order = scale["label_order"] == "random"
    # in a study of its own the alternate form is the only one, and the format may have its name
    alternate = scale[form].assign(study="a", form="original", format="likert_a")
    reordered = scale[order].assign(study="o", administration=scale["administration"] - 20_000)
    result = validation_report(base(scale), alternate=alternate, reordered=reordered, resamples=200)
    for name in ("alternate form", "option order"):
        own, other = criteria(result).loc[name], criteria(full).loc[name]
        assert own["value"] == pytest.approx(other["value"], abs=1e-12)
        assert own["n"] == 120
        assert "other study" in own["method"]
    assert result.n_used == 8 * 120
    several = pd.concat(
        [base(scale), scale[form].assign(study="a"), scale[order].assign(study="o")]
    )
    again = criteria(validation_report(several, resamples=200))
    assert again["value"].tolist()[:3] == pytest.approx(criteria(full)["value"].tolist()[:3])


def test_forms_and_orders_are_chosen_by_name_or_by_what_is_usual(trait, scale, full):
    negation = asked(-trait, seed=8, start=30_000, form="negation")
    inverted = asked(trait, seed=8, start=40_000, label_order="inverted")
    frame = pd.concat([negation, inverted, scale])
    usual = criteria(validation_report(frame, resamples=200))
    assert usual["value"].tolist()[:3] == pytest.approx(criteria(full)["value"].tolist()[:3])
    named = criteria(validation_report(frame, form_2="negation", order_2="inverted", resamples=100))
    assert named.loc["alternate form", "value"] < 0
    assert "'inverted'" in named.loc["option order", "method"]
    rest = frame[~frame["form"].isin(["alternate"])]
    last = criteria(validation_report(rest, resamples=100))
    assert "'negation'" in last.loc["alternate form", "method"]
    short = scale[scale["form"] == "alternate"].assign(form="short")
    plain = criteria(validation_report(pd.concat([rest, short]), resamples=100))
    assert "'short'" in plain.loc["alternate form", "method"]


def test_one_subscale_has_cronbachs_alpha(trait):
    frame = asked(trait, seed=1, subscales=["X"] * 5)
    alone = tables(reliability(frame, resamples=100))["reliability"]
    other = alone[alone["coefficient"] == "α (Feldt)"].iloc[0]
    own = criteria(validation_report(frame, resamples=100)).loc["internal consistency"]
    assert own["value"] == pytest.approx(other["value"], abs=1e-12)
    assert own["ci_low"] == pytest.approx(other["ci_low"], abs=1e-12)


def test_repetitions_are_matched_for_stability_and_averaged_for_validity(trait, scale, others):
    again = scale.assign(
        repetition=2,
        administration=scale["administration"] + 2**40,
        score=np.random.default_rng(3).permutation(scale["score"]),
    )
    frame = pd.concat([scale, again], ignore_index=True)
    result = validation_report(frame, **others, resamples=100)
    own = criteria(result)
    assert own["n"].tolist()[:5] == [240, 240, 240, 40, 90]
    mean = base(frame).groupby(["context", "repetition"])["score"].mean().groupby("context").mean()
    other = others["convergent"].groupby("context")["score"].mean()
    r = np.corrcoef(mean[other.index], other)[0, 1]
    assert own.loc["convergent", "value"] == pytest.approx(r, abs=1e-12)
    assert "averaged over repetition" in own.loc["convergent", "method"]
    assert any("differ in repetition as well" in note for note in result.cautions)


def test_missing_answers_are_counted_by_form_and_order_and_leave_rows_out(scale, others):
    frame = scale.copy()
    lost = frame.index[(frame["form"] == "alternate") & (frame["item"] == "i0")][:3]
    frame.loc[lost, ["score", "status"]] = [np.nan, "refused"]
    texts = others["texts"].copy()
    texts.loc[0, "status"] = "refused"
    brought = others | {"texts": texts, "missing": "listwise"}
    result = validation_report(frame, **brought, resamples=100)
    counts = tables(result)["missing"]
    own = counts[counts["answers"] == "this study"].set_index(["form", "label_order"])
    assert own["missing"].to_dict() == {
        ("original", "as_is"): 0,
        ("alternate", "as_is"): 3,
        ("original", "random"): 0,
    }
    assert own.loc[("alternate", "as_is"), "share"] == pytest.approx(3 / 960)
    rest = counts[counts["answers"] != "this study"].set_index("answers")
    assert rest[["planned", "missing"]].to_numpy().tolist() == [[90 * 5, 0], [80, 1]]
    found = criteria(result)
    assert found.loc["alternate form", ["n", "missing"]].tolist() == [117, 3]
    assert found.loc["concurrent", ["n", "missing"]].tolist() == [39, 1]
    assert (result.n_used, result.n_missing) == (2 * 960 + 117 * 8, 3)
    assert result.n_left_out == 3 * 7
    assert result.n_planned == len(frame)


@pytest.mark.parametrize("rule", ["listwise", "half", "available"])
def test_the_missing_rule_decides_how_many_pairs_a_percent_of_refusals_costs(scale, rule):
    """Of every 25 contexts one refuses one item of the alternate form, and c0 all but one."""
    frame = scale.copy()
    alternate = frame["form"] == "alternate"
    one = frame["context"].isin([f"c{number}" for number in range(5, 120, 25)])
    frame.loc[alternate & one & (frame["item"] == "i3"), ["score", "status"]] = [np.nan, "refused"]
    most = alternate & (frame["context"] == "c0") & (frame["item"] != "i7")
    frame.loc[most, ["score", "status"]] = [np.nan, "refused"]
    wide = frame.pivot(index="context", columns=["form", "label_order", "item"], values="score")
    first, second = wide["original"]["as_is"], wide["alternate"]["as_is"]
    needed = {"listwise": 8, "half": 4, "available": 1}[rule]
    kept = second.notna().sum(axis=1) >= needed
    expected = np.corrcoef(first[kept].mean(axis=1), second[kept].mean(axis=1))[0, 1]
    result = validation_report(frame, missing=rule, resamples=100)
    own = criteria(result).loc["alternate form"]
    assert own["value"] == pytest.approx(expected, abs=1e-12)
    lost = {"listwise": 6, "half": 1, "available": 0}[rule]
    assert (own["n"], own["missing"]) == (120 - lost, lost)
    alone = score_correlations(frame, incomplete=rule).tables[0].frame
    alone = alone[(alone["scale"] == "all items") & (alone["kind"] == "pearson")]
    assert alone["r"].item() == pytest.approx(own["value"], abs=1e-12)
    if rule == "half":
        default = criteria(validation_report(frame, resamples=100)).loc["alternate form"]
        assert default["value"] == own["value"]


def test_what_is_undefined_says_why_and_hides_nothing_else(scale):
    frame = scale.copy()
    frame.loc[frame["form"] == "alternate", "score"] = 2.0
    result = validation_report(frame, resamples=100)
    own = criteria(result).loc["alternate form"]
    assert math.isnan(own["value"])
    assert own["light"] == "grey"
    assert "the second score is the same in every row" in own["remark"]
    assert any(note.startswith("Alternate form: Undefined") for note in result.cautions)
    assert math.isfinite(criteria(result).loc["option order", "value"])
    constant = scale.assign(score=scale["score"].where(~scale["item"].isin(["i1", "i2", "i3"]), 2))
    own = criteria(validation_report(constant, resamples=100))
    assert "two items that vary in each subscale" in own.loc["internal consistency", "remark"]
    assert math.isfinite(own.loc["alternate form", "value"])


def test_a_model_that_cannot_be_fitted_leaves_the_other_criteria(scale):
    few = scale[scale["context"].isin([f"c{number}" for number in range(6)])]
    own = criteria(validation_report(few, resamples=100)).loc[["factorial", "alternate form"]]
    assert math.isnan(own.loc["factorial", "value"])
    assert own.loc["factorial", "remark"].startswith("Undefined. No factor model can be fitted.")
    assert "6 usable rows for 8 items" in own.loc["factorial", "remark"]
    assert math.isfinite(own.loc["alternate form", "value"])


def test_ordered_answers_are_fitted_as_such_and_averages_of_them_are_not(scale):
    alone = tables(cfa(base(scale), estimator="wlsmv"))["fit"].iloc[0]
    own = criteria(validation_report(base(scale), estimator="wlsmv", resamples=100))
    assert own.loc["factorial", "value"] == pytest.approx(alone["rmsea_scaled"], abs=1e-12)
    halves = base(scale)
    mean = (halves["score"] + 0.5).clip(upper=4.5)
    halves = halves.assign(score=halves["score"].mask(halves["context"] == "c1", mean))
    halves[OPTION_POINTS] = "0.0 1.0 2.0 3.0 4.0 5.0"
    own = criteria(validation_report(halves, estimator="wlsmv", resamples=100))
    assert math.isnan(own.loc["factorial", "value"])
    assert "is none of its options" in own.loc["factorial", "remark"]
    assert math.isfinite(own.loc["internal consistency", "value"])


def test_a_model_without_estimates_has_no_fit(scale):
    # two items of one subscale and one of the other leave no degree of freedom to estimate from
    few = scale[scale["item"].isin(["i0", "i4", "i5"])]
    result = validation_report(few, resamples=100)
    own, fit = criteria(result).loc["factorial"], tables(result)["fit"].iloc[0]
    assert math.isnan(own["value"])
    assert math.isnan(own["cfi"])
    assert own["remark"].startswith("Undefined")
    assert math.isnan(fit["cfi_robust"])


def test_a_rewritten_context_among_the_rows_is_noted(scale):
    frame = base(scale).assign(
        rewriting=np.where(base(scale)["context"] == "c3", "rewritten", "original")
    )
    result = validation_report(frame, resamples=100)
    assert any("differ in rewriting as well" in note for note in result.cautions)
    assert not any("rewriting" in note for note in validation_report(base(scale)).all_notes)


def test_a_group_that_was_never_asked_as_usual_is_grey_throughout(scale, others):
    odd = scale[scale["form"] == "alternate"].assign(
        respondent="odd", administration=lambda frame: frame["administration"] + 2**40
    )
    result = validation_report(pd.concat([scale, odd]), **others, resamples=100)
    own = criteria(result, respondent="odd")
    assert own["value"].isna().all()
    assert own.loc["internal consistency", "remark"].startswith("Undefined: there are no answers")
    assert set(own["light"]) == {"grey"}


def test_identical_answers_are_remarked_upon(scale):
    copy = base(scale).assign(form="alternate", administration=lambda f: f["administration"] + 5000)
    own = criteria(validation_report(pd.concat([base(scale), copy]), resamples=100))
    assert own.loc["alternate form", "value"] == pytest.approx(1)
    assert "dentical" in own.loc["alternate form", "remark"]


def test_answers_as_the_store_reads_them_give_the_same(scale, others, full):
    def stored(frame):
        texts = [name for name in frame if frame[name].dtype.kind not in "iuf" and name != "text"]
        return frame.astype(dict.fromkeys(texts, "category"))

    frames = ("convergent", "texts")
    beside = others | {name: stored(others[name]) for name in frames}
    again = validation_report(stored(scale), **beside, resamples=200)
    for own, other in zip(again.tables, full.tables, strict=True):
        pd.testing.assert_frame_equal(own.frame, other.frame, check_dtype=False)
    imported = scale.assign(
        form=scale["form"].replace("original", ""),
        label_order=scale["label_order"].replace("as_is", None),
    )
    found = criteria(validation_report(imported, **others, resamples=200))
    assert found["value"].tolist() == pytest.approx(criteria(full)["value"].tolist())


@given(st.integers(0, 10_000))
@few_examples
def test_blind_to_the_order_of_rows_and_to_the_origin_of_the_scores(seed):
    frame = study(traits(60, seed))
    first = criteria(validation_report(frame, resamples=100))["value"]
    moved = frame.assign(score=frame["score"] + 7)
    for other in (frame.sample(frac=1, random_state=seed), moved):
        again = criteria(validation_report(other, resamples=100))["value"]
        assert again.tolist() == pytest.approx(first.tolist(), abs=1e-6, nan_ok=True)


def test_whoever_watches_is_told_of_groups_and_may_stop_it(scale):
    seen = []
    with progress.watch(lambda *step: seen.append(step)):
        validation_report(base(scale), resamples=100)
    assert seen == [(0, 1, "groups")]

    def stop(*_):
        raise progress.Cancelled

    with progress.watch(stop), pytest.raises(progress.Cancelled):
        validation_report(base(scale))


@pytest.mark.parametrize(
    ("options", "problem", "remedy"),
    [
        (
            {"form_bands": (0.5, 0.7)},
            "criterion 'alternate form' need two or three",
            "0.8, 0.7, 0.5",
        ),
        ({"order_bands": (0.5,)}, "criterion 'option order'", "0.5, 0.3, 0.1"),
        ({"concurrent_bands": ()}, "criterion 'concurrent' .* they are: none", "0.3, 0.1"),
        ({"convergent_bands": (0.4, 0.3, 0.2, 0.1)}, "criterion 'convergent'", "0.6, 0.3, 0.1"),
        ({"consistency_bands": (0.5, 0.5)}, "criterion 'internal consistency'", "0.8, 0.7, 0.5"),
        ({"form_2": "short"}, "no answers to the form 'short'", "alternate"),
        ({"order_2": "inverted"}, "no answers to the order of options 'inverted'", "random"),
        ({"by": ("rewriting",)}, "no factor rewriting", "another factor"),
        ({"texts": "texts"}, "No lists of words are chosen", "Choose a bank of words"),
        ({"texts": "texts", "lists": LISTS, "descriptor": "age"}, "no descriptor 'age'", "gender"),
    ],
)
def test_every_message_names_what_is_wrong_and_the_next_step(
    scale, others, options, problem, remedy
):
    beside = {"texts": others["texts"]} if "texts" in options else {}
    with pytest.raises(NotEnoughData, match=problem) as caught:
        validation_report(scale, **(options | beside))
    assert remedy in caught.value.remedy


def test_without_a_baseline_or_anything_to_compute_there_is_one_message(scale):
    with pytest.raises(NotEnoughData, match="no answers to the original form"):
        validation_report(scale[scale["form"] == "alternate"])
    with pytest.raises(NotEnoughData, match="no answers to the original form"):
        validation_report(scale[:0])
    alone = base(scale)
    with pytest.raises(NotEnoughData, match="no answers to the form 'alternate'") as caught:
        validation_report(alone, form_2="alternate")
    assert caught.value.remedy == "Leave it empty: the study holds no other form."
    with pytest.raises(NotEnoughData, match="No criterion can be computed"):
        validation_report(scale.assign(score=np.nan, status="refused"), resamples=100)


@pytest.mark.parametrize(
    ("rows", "share", "estimator", "why"),
    [
        (10, 0.0, "mlr", "The scaling factor of the model is -0.196"),
        (300, 0.8, "fiml", "Too many answers are missing for a test of fit"),
    ],
)
def test_a_model_whose_test_is_undefined_gives_no_factorial_verdict_and_the_reason(
    rows, share, estimator, why
):
    rng = np.random.default_rng(16)
    values = rng.standard_normal((rows, 1)) * 0.6 + rng.standard_normal((rows, 6)) * 0.8
    gaps = rng.random(values.shape) < share
    gaps[:3] = False  # so that alpha has rows
    values[gaps] = np.nan
    frame = item_scores(values, form="original", label_order="as_is")
    result = validation_report(frame, by=("respondent",), estimator=estimator, resamples=10)
    row = criteria(result).loc["factorial"]
    assert np.isnan(row["value"])
    assert row["rating"] == ""
    assert row["light"] == "grey"
    assert f"Undefined: the model has no robust RMSEA and CFI. {why}" in row["remark"]

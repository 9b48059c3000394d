"""Two of six items keyed the wrong way, built so that every covariance is known by hand."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.sentences import KEYING_STEP
from core.analysis.scales.internal_consistency import internal_consistency
from core.analysis.scales.reliability import reliability
from core.analysis.scales.validation_report.analysis import validation_report
from core.stats.reliability.alpha import cronbach_alpha, stratified_alpha
from core.stats.reliability.omega import omega_hierarchical, omega_total
from core.stats.scores import contrary_items, items_against
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores

WRONG = "i5, i6"
ALPHA = f"{WRONG} correlate negatively with the rest of the scale: check their keying."
OMEGA = f"{WRONG} load negatively on the factor of the scale: check their keying."


def table(items=6, turned=(4, 5), n=200):
    """Items with exactly unit variances that correlate exactly .5, some of them turned round."""
    rng = np.random.default_rng(7)
    raw = rng.normal(size=(n, items))
    raw -= raw.mean(axis=0)
    white = raw @ np.linalg.inv(np.linalg.cholesky(raw.T @ raw / (n - 1))).T
    scores = white @ np.linalg.cholesky(np.full((items, items), 0.5) + 0.5 * np.eye(items)).T
    scores[:, list(turned)] *= -1
    return scores


def test_alpha_names_the_items_that_go_against_the_rest():
    # of 15 pairs 7 correlate .5 and 8 -.5: the sum's variance is 6 - 1, so alpha = 6/5 (1 - 6/5);
    # rest of a right item: 3 pairs of .5, 2 of -.5; of a wrong one: 1 of .5, 4 of -.5
    found = cronbach_alpha(table(), names=[f"i{number}" for number in range(1, 7)])
    assert found.value == pytest.approx(-0.24)
    assert found.problems[-1] == ALPHA
    right = cronbach_alpha(table(turned=()))
    assert (right.value, right.problems) == (pytest.approx(6 / 7), ())


def test_one_item_is_named_alone_and_one_of_a_subscale_by_its_subscale():
    names = [f"i{number}" for number in range(1, 7)]
    one = cronbach_alpha(table(turned=(2,)), names=names)
    assert one.problems == (
        "i3 correlates negatively with the rest of the scale: check its keying.",
    )
    # within the first stratum i3 goes against two others, in the whole scale the second is turned
    strata = stratified_alpha(table(turned=(2, 3, 4, 5)), list("aaabbb"), names=names)
    assert strata.coefficient.problems[-1] == one.problems[0]


def test_omega_names_the_items_that_load_negatively():
    # loadings of sqrt(.5): common part 4 - 2 of them, (2 sqrt .5)² = 2 of 2 + 6 * .5
    found = omega_total(table(), names=[f"i{number}" for number in range(1, 7)])
    assert found.value == pytest.approx(0.4, abs=1e-4)
    assert found.problems == (OMEGA,)
    assert omega_total(table(turned=())).problems == ()
    names = [f"i{number}" for number in range(1, 10)]
    scores = table(9, turned=(8,)) + np.repeat(np.random.default_rng(1).normal(size=(200, 3)), 3, 1)
    scores[:, 8] -= 2 * np.repeat(np.random.default_rng(1).normal(size=(200, 3)), 3, 1)[:, 8]
    general = omega_hierarchical(scores, list("aaabbbccc"), names=names).hierarchical
    assert general.problems[-1].startswith("i9 loads negatively on the factor of the scale")


def test_every_analysis_of_reliability_names_items_that_may_be_keyed_wrongly():
    scores = np.round(table() + 4, 1)
    frame = item_scores(scores)
    assert any(note.endswith(ALPHA) for note in internal_consistency(frame).all_notes)
    pairwise = internal_consistency(frame, missing="pairwise")
    assert any(note.endswith(ALPHA) for note in pairwise.all_notes)
    found = reliability(frame, resamples=100)
    rows = found.tables[0].frame.set_index("coefficient")["remark"]
    assert ALPHA in rows["α (Feldt)"]
    assert ALPHA in rows["α (bootstrap)"]
    assert OMEGA in rows["ω total (one factor)"]
    told = " ".join(found.all_notes)
    assert ALPHA in told
    assert OMEGA in told
    notes = " ".join(item_statistics(frame).all_notes)
    assert f"2 items {WRONG}: negative discrimination: check their keying" in notes
    report = validation_report(frame.assign(context_set="personas"), resamples=100)
    assert any(ALPHA in note for note in report.all_notes)
    criteria = next(one.frame for one in report.tables if one.name == "criteria")
    assert ALPHA in criteria.set_index("criterion")["remark"]["internal consistency"]
    right = item_scores(table(turned=()))
    for analysis in (internal_consistency, item_statistics):
        assert "keying" not in " ".join(analysis(right).all_notes)
    assert pd.notna(rows).all()


def sentences(result, name):
    return [one.sentence for one in analyses.by_name(name).answer(result)]


@pytest.mark.parametrize(
    "name",
    [
        "internal_consistency",
        "reliability",
        "item_statistics",
        "cfa",
        "cfa_comparison",
        "efa",
        "validation_report",
    ],
)
def test_the_sentence_names_items_keyed_wrongly_and_what_mends_it(name):
    """The correlation of i5 and i6 with the rest is -1.5 / sqrt(7) = -.57, of the others .5 / 3."""
    analysis = analyses.by_name(name)
    models = "## One\ns =~ i1 + i2 + i3 + i4 + i5 + i6\n## Two\ns =~ i1 + i2 + i3 + i4 + i5 + 1*i6"
    options = {
        "reliability": {"resamples": 100},
        "validation_report": {"resamples": 100},
        "cfa_comparison": {"models": models},
        "efa": {"factors": 1},
    }.get(name, {})
    wrong, right = (
        item_scores(np.round(table(turned=own) + 4, 1)).assign(context_set="personas")
        for own in ((4, 5), ())
    )
    (sentence,) = sentences(analysis.run(wrong, **options), name)
    assert f"{WRONG} run against the scale: check their keying {KEYING_STEP}." in sentence
    (sentence,) = sentences(analysis.run(right, **options), name)
    assert "keying" not in sentence


def test_a_negative_correlation_that_may_be_chance_names_no_item():
    """Fisher's interval of r = -.3: of 12 rows it reaches .33, of 100 rows -.11."""
    r = np.array([0.5, -0.3, np.nan])
    assert items_against(("a", "b", "c"), r, 12, 0.95) == ()
    assert items_against(("a", "b", "c"), r, 100, 0.95) == ("b",)


def test_subscales_that_oppose_each_other_are_not_keyed_wrongly():
    scores = np.round(table() + 4, 1)  # i5 and i6 agree with each other, and oppose the rest
    found = reliability(item_scores(scores, subscales=list("aaaabb")), resamples=100)
    assert set(found.tables[0].frame["against"]) == {""}
    one = reliability(item_scores(scores, subscales=list("aaaaab")), resamples=100)
    assert set(one.tables[0].frame["against"]) == {"", "i5"}


def test_of_as_many_items_of_either_sign_those_that_load_negatively_are_contrary():
    assert contrary_items(["a", "b"], [0.5, -0.5]) == [1]
    assert contrary_items(["a", "b"], [-0.5, 0.5]) == [0]
    assert contrary_items(["a", "b", "c"], [-0.5, 0.5, -0.6]) == [1]

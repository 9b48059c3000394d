"""Every public statistic on bad tables that files can hold: a result with reasons, or one message.

What is never allowed is an exception other than a `UserError`, a warning (pytest makes it an
exception), an infinite number, or an undefined number without a reason. Each table takes some
statistic through code that no other table reaches.
"""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest

from core.errors import NotEnoughData, UserError
from core.stats.agreement import fleiss_kappa, krippendorff_alpha, weighted_kappa
from core.stats.correlation import correlation, trait_matrix
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import invariance
from core.stats.factor.exploratory import (
    exploratory_factors,
    factors_of_correlations,
    parallel_analysis,
)
from core.stats.factor.model_text import (
    ModelTextError,
    bifactor_model,
    one_factor_model,
    parse_model,
    second_order_model,
)
from core.stats.factor.wlsmv import fit_wlsmv
from core.stats.groups import (
    Summary,
    compare_with_norms,
    known_groups,
    one_sample_t,
    paired_t,
    welch_t,
)
from core.stats.irt.dif import differential_item_functioning, purified_dif
from core.stats.irt.item_response import item_response, scale_information, trait_reliability
from core.stats.irt.response_fit import item_fit, person_fit
from core.stats.irt.response_models import MODELS
from core.stats.normality import normality, univariate_shapiro
from core.stats.ordered.polychoric import ordered_moments, polychoric
from core.stats.reliability.alpha import cronbach_alpha, split_half, stratified_alpha
from core.stats.reliability.omega import omega_hierarchical, omega_total
from core.stats.reliability.stability import form_agreement, intraclass, retest_agreement
from core.stats.resampling import Bootstrap
from tests.stats.reference import compare_wlsmv

FEW = Bootstrap(20, 1)


def _sound():
    """Sixty rows of six items in a six-option format, two factors."""
    rng = np.random.default_rng(0)
    trait = rng.standard_normal((60, 2))
    latent = 0.7 * trait[:, np.arange(6) % 2] + 0.5 * trait[:, :1]
    return np.clip(np.round((latent + 0.7 * rng.standard_normal((60, 6))) * 1.2 + 2.5), 0, 5)


SOUND = _sound()
RNG = np.random.default_rng(3)


def changed(column, values):
    """The sound table with one column replaced."""
    table = SOUND.copy()
    table[:, column] = values
    return table


TABLES = {
    "one item": SOUND[:, :1],
    "two items": SOUND[:, :2],
    "no item": SOUND[:, :0],
    "two rows": SOUND[:2],
    "three rows": SOUND[:3],
    "no row": SOUND[:0],
    "more items than rows": SOUND[:5],
    "all-missing item": changed(2, np.nan),
    "constant item": changed(2, 3.0),
    "constant scores": np.full((60, 6), 2.0),
    "each item constant": np.tile(np.arange(6.0), (60, 1)),
    "all items alike": np.tile(SOUND[:, :1], (1, 6)),
    "three alike, two opposite": SOUND[:, [0]] * [1, 1, 1, -1, -1, 1] + [0, 0, 0, 5, 5, 0],
    "NaN everywhere": np.full((60, 6), np.nan),
    "gaps": np.where(RNG.random(SOUND.shape) < 0.3, np.nan, SOUND),
    "mostly gaps": np.where(RNG.random(SOUND.shape) < 0.9, np.nan, SOUND),
    "halves never answered together": np.where(
        (np.arange(60)[:, None] < 30) == (np.arange(6) < 3), SOUND, np.nan
    ),
    "huge": SOUND * 1e300,
    "tiny": SOUND * 1e-300,
    "one tiny item": changed(1, SOUND[:, 1] * 1e-300),
    "one large score": np.where(np.arange(360).reshape(60, 6) == 7, 1e15, SOUND),
    "far from 0": SOUND + 1e12,
    "negative scores": -SOUND,
    "no whole numbers": SOUND + RNG.random(SOUND.shape),
    "three of six answers": np.clip(SOUND, 2, 4),
    "hardly anybody says yes": (np.arange(360).reshape(60, 6) % 61 == 0).astype(float),
    "perfect order": (np.arange(60)[:, None] > 10 * np.arange(6)).astype(float),
}


def names(table):
    return [f"i{number + 1}" for number in range(table.shape[1])]


def one_factor(table):
    return "A =~ " + " + ".join(names(table) or ["i1"])


def free_first(table):
    return "A =~ NA*" + " + ".join(names(table) or ["i1"]) + "\nA ~~ 1*A"


def two_factors(table):
    """Every other item; with two items, factors of one item each."""
    kinds = (("A", names(table)[::2]), ("B", names(table)[1::2]))
    return "\n".join(f"{factor} =~ {' + '.join(own)}" for factor, own in kinds if own)


def first(table):
    return table[:, 0] if table.shape[1] else np.empty(0)


def last(table):
    return table[:, -1] if table.shape[1] else np.empty(0)


def every_other(table):
    return ["ab"[row % 2] for row in range(len(table))]


def modelled(table, model):
    fit = item_response(table, names(table), model=model, max_iterations=60)
    assert np.isfinite(scale_information(fit.items, np.linspace(-3, 3, 7))).all()
    return fit, trait_reliability(fit), item_fit(fit), person_fit(fit, seed=1)


def halves(table, missing):
    """The two halves of the rows as groups."""
    groups = {"x": table[: len(table) // 2], "y": table[len(table) // 2 :]}
    return invariance(groups, names(table), two_factors(table), missing=missing)


def unrelated(table):
    text = two_factors(table)
    restricted = f"{text}\nA ~~ 0*B" if "B" in text else text
    return compare_wlsmv(table, names(table), restricted, text)


STATISTICS = {
    "alpha": cronbach_alpha,
    "alpha, resampled": lambda x: cronbach_alpha(x, bootstrap=FEW),
    "stratified alpha": lambda x: stratified_alpha(
        x, [item % 2 for item in range(x.shape[1])], bootstrap=FEW
    ),
    "omega": omega_total,
    "omega hierarchical": lambda x: omega_hierarchical(x, [item % 3 for item in range(x.shape[1])]),
    "split half": split_half,
    "retest": lambda x: retest_agreement(x, bootstrap=FEW),
    "forms": lambda x: form_agreement(first(x), last(x), what="alternate form", bootstrap=FEW),
    "intraclass": intraclass,
    "kappa": lambda x: weighted_kappa(first(x), last(x)),
    "kappa, weighted": lambda x: weighted_kappa(first(x), last(x), weights="quadratic"),
    "Fleiss": lambda x: fleiss_kappa(x, bootstrap=FEW),
    "Krippendorff, nominal": lambda x: krippendorff_alpha(x, bootstrap=FEW),
    "Krippendorff, ordinal": lambda x: krippendorff_alpha(x, "ordinal", bootstrap=FEW),
    "Krippendorff, interval": lambda x: krippendorff_alpha(x, "interval", bootstrap=FEW),
    "Krippendorff, ratio": lambda x: krippendorff_alpha(x, "ratio", bootstrap=FEW),
    "normality": lambda x: normality(x, names(x)),
    "Shapiro": lambda x: univariate_shapiro(first(x), "i1"),
    "two factors": lambda x: exploratory_factors(x, names(x), 2),
    "two factors, polychoric": lambda x: exploratory_factors(
        x, names(x), 2, correlation="polychoric"
    ),
    "parallel analysis": lambda x: parallel_analysis(x, names(x), repetitions=10),
    "polychoric": lambda x: ordered_moments(polychoric(x, names(x))),
    "polychoric, pairwise": lambda x: ordered_moments(polychoric(x, names(x), missing="pairwise")),
    "CFA": lambda x: fit_cfa(x, names(x), two_factors(x)),
    "CFA, ML, free first loading": lambda x: fit_cfa(x, names(x), free_first(x), estimator="ML"),
    "CFA, full information": lambda x: fit_cfa(x, names(x), one_factor(x), missing="fiml"),
    "invariance": lambda x: halves(x, "listwise"),
    "invariance, full information": lambda x: halves(x, "fiml"),
    "WLSMV": lambda x: fit_wlsmv(x, names(x), two_factors(x)),
    "WLSMV, pairwise": lambda x: fit_wlsmv(x, names(x), one_factor(x), missing="pairwise"),
    "WLSMV difference": unrelated,
    **{model: partial(modelled, model=model) for model in MODELS},
    "item functioning": lambda x: differential_item_functioning(x, names(x), every_other(x)),
    "item functioning, purified": lambda x: purified_dif(x, names(x), every_other(x), alpha=0.5),
    "trait matrix": lambda x: trait_matrix(x, names(x), kind="spearman", bootstrap=FEW),
    "correlation": lambda x: correlation(first(x), last(x), bootstrap=FEW),
    "paired t": lambda x: paired_t(first(x), last(x)),
    "one-sample t": lambda x: one_sample_t(first(x), against=1.0),
    "Welch": lambda x: welch_t(first(x), last(x)),
    "norms": lambda x: compare_with_norms(first(x), Summary(2.5, 1.0, 100)),
    "known groups": lambda x: known_groups(dict(zip(names(x), x.T, strict=True))),
}
# F = between / 0 where repetitions are identical; reported with p = 0 and a caution
MAY_BE_INFINITE = {"f"}
CENTRAL = ("value", "r", "t", "f", "mean_r", "odd_even", "n_suggested")


def infinite(value, name=""):
    """Names of the fields of a result that hold an infinite number."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name not in MAY_BE_INFINITE:
                yield from infinite(getattr(value, field.name), field.name)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from infinite(part, name)
    elif isinstance(value, (float, np.ndarray)) and np.isinf(np.asarray(value, dtype=float)).any():
        yield name


def undefined(result):
    """The central numbers of a result that are NaN."""
    numbers = {name: getattr(result, name, 0.0) for name in CENTRAL}
    return [name for name, own in numbers.items() if isinstance(own, float) and math.isnan(own)]


def outcome(name, statistic, table):
    """What the statistic gives, or its refusal."""
    try:
        return statistic(table)
    except UserError as refused:
        return refused
    except Exception as fault:
        fault.add_note(f"The table: {name}")
        raise


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS.keys())
def test_bad_tables_give_results_with_reasons_or_one_message(statistic):
    for name, table in TABLES.items():
        given = table.copy()
        results = outcome(name, statistic, table)
        assert np.array_equal(table, given, equal_nan=True), f"{name}: the table was changed"
        for result in results if isinstance(results, tuple) else (results,):
            if isinstance(result, UserError):
                assert result.problem.endswith("."), name
                assert result.remedy, name
            assert not set(infinite(result)), name
            if undefined(result):
                assert result.problems, (name, undefined(result))


@pytest.mark.parametrize(
    "statistic",
    [
        lambda x, own: normality(x, own),
        lambda x, own: fit_wlsmv(x, own, "A =~ a + b + c + d"),
    ],
)
def test_two_items_of_one_name_are_refused_by_that_name(statistic):
    with pytest.raises(NotEnoughData, match="same name: b"):
        statistic(SOUND, ["a", "b", "b", "c", "d", "e"])


def test_two_items_of_one_name_are_a_reason_for_no_reliability():
    result = cronbach_alpha(SOUND, names=["a", "b", "b", "c", "d", "e"])
    assert math.isnan(result.value)
    assert any("same name: b" in problem for problem in result.problems)


def test_an_infinite_score_counts_as_missing():
    infinite, missing = (np.where(SOUND == 5, size, SOUND) for size in (-np.inf, np.nan))
    assert cronbach_alpha(infinite).value == cronbach_alpha(missing).value
    assert correlation(infinite[:, 0], infinite[:, 1]).r == correlation(*missing.T[:2]).r


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_scores_out_of_the_range_of_numbers_are_named_with_their_size(size):
    with pytest.raises(NotEnoughData, match=r"scores of i2 .* can be computed with"):
        fit_cfa(changed(1, SOUND[:, 1] * size), names(SOUND), one_factor(SOUND))
    result = correlation(SOUND[:, 0], SOUND[:, 1] * size)
    assert math.isnan(result.r)
    assert "can be computed with" in result.problems[0]


@pytest.mark.parametrize("text", ["A =~ item1 + item22", "A =~ item1\nB =~ item3 + ITEM4"])
@pytest.mark.parametrize("fit", [fit_cfa, fit_wlsmv])
def test_a_misspelt_item_is_refused_with_the_nearest_name(fit, text):
    with pytest.raises(UserError, match=r'"(item22|ITEM4)" .* Did you mean "item[24]"'):
        fit(SOUND, [f"item{number}" for number in range(1, 7)], text)


TEXTS = {
    "nothing": ("", "measures nothing"),
    "a factor without items": (one_factor_model([]), "name is missing"),
    "an item twice": ("A =~ i1 + i1", "written twice"),
    "a factor of itself": ("A =~ A", "measured by itself"),
    "a huge loading": ("A =~ 1e300*i1 + i2 + i3", "too large for a parameter"),
    "a huge start": ("A =~ i1 + start(1e200)*i2 + i3", "too large for a parameter"),
    "a character nobody sees": ("A =~ i1\x00 + i2", "is not a name"),
}


@pytest.mark.parametrize(("text", "said"), TEXTS.values(), ids=TEXTS.keys())
def test_a_text_that_is_no_model_is_one_message(text, said):
    with pytest.raises(ModelTextError, match=said):
        fit_cfa(SOUND, names(SOUND), text)


def test_a_model_with_nothing_to_estimate_is_refused():
    text = "A =~ 1*i1 + 1*i2\nA ~~ 1*A\ni1 ~~ 1*i1\ni2 ~~ 1*i2"
    with pytest.raises(ModelTextError, match="nothing to estimate"):
        fit_cfa(SOUND, names(SOUND), text)


@pytest.mark.parametrize("fit", [fit_cfa, fit_wlsmv])
def test_a_model_read_before_is_held_to_the_items_of_the_data(fit):
    with pytest.raises(ModelTextError, match="do not hold: i9"):
        fit(SOUND, names(SOUND), parse_model("A =~ i1 + i2 + i9"))


def test_a_parameter_to_be_freed_must_be_of_the_model():
    groups = {"x": SOUND[:30], "y": SOUND[30:]}
    strange = frozenset({("A", "=~", "i8")})
    with pytest.raises(ModelTextError, match="not in the model: A =~ i8"):
        invariance(groups, names(SOUND), two_factors(SOUND), partial=strange)


@pytest.mark.parametrize("text", [bifactor_model, second_order_model])
@pytest.mark.parametrize("fit", [fit_cfa, fit_wlsmv])
@pytest.mark.parametrize("items", [3, 5])
def test_presets_of_too_few_subscales_or_items_say_what_is_wrong(fit, text, items):
    subscales = {"A": names(SOUND)[:items], "B": names(SOUND)[items:]}
    result = fit(SOUND, names(SOUND), text(subscales))
    assert not set(infinite(result))
    assert result.admissible or result.problems


@pytest.mark.parametrize("trait", [np.full(60, np.nan), np.ones(60)])
def test_a_trait_that_says_nothing_leaves_items_untested_with_reasons(trait):
    items = differential_item_functioning(SOUND, names(SOUND), every_other(SOUND), trait=trait)
    assert all(item.problems and not item.tested for item in items.items)


def test_a_trait_out_of_the_range_of_numbers_is_refused():
    with pytest.raises(NotEnoughData, match="Trait scores reach 1e"):
        differential_item_functioning(
            SOUND, names(SOUND), every_other(SOUND), trait=np.linspace(0, 1e300, 60)
        )


def test_correlations_that_are_undefined_have_no_factors():
    with pytest.raises(NotEnoughData):
        factors_of_correlations(np.full((4, 4), np.nan), list("abcd"), 1)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: fit_cfa(SOUND, names(SOUND)[:4], "A =~ i1 + i2 + i3"),
        lambda: fit_cfa(SOUND, names(SOUND), one_factor(SOUND), ci_level=2.0),
        lambda: invariance({"x": SOUND, "y": SOUND}, names(SOUND), one_factor(SOUND), levels=()),
    ],
)
def test_what_does_not_fit_together_is_a_mistake_of_the_caller(mistake):
    with pytest.raises(ValueError, match=r"scores for|coverage|level"):
        mistake()


@pytest.mark.parametrize("size", [1e-29, 1e29])
def test_the_unit_of_the_scores_changes_no_coefficient(size):
    own, scaled = fit_cfa(SOUND, names(SOUND), two_factors(SOUND)), SOUND * size
    there = fit_cfa(scaled, names(SOUND), two_factors(SOUND))
    assert there.scaled.chi2 == pytest.approx(own.scaled.chi2, rel=1e-6)
    for item in ("i1", "i3", "i5"):
        mine, theirs = (fit.standardized_estimate("A", "=~", item) for fit in (own, there))
        assert (theirs.estimate, theirs.se) == pytest.approx((mine.estimate, mine.se), rel=1e-5)
    assert cronbach_alpha(scaled).value == pytest.approx(cronbach_alpha(SOUND).value)
    assert omega_total(scaled).value == pytest.approx(omega_total(SOUND).value)
    assert fit_wlsmv(scaled, names(SOUND), two_factors(SOUND)).scaled.chi2 == pytest.approx(
        fit_wlsmv(SOUND, names(SOUND), two_factors(SOUND)).scaled.chi2
    )


def test_a_large_t_has_the_effect_size_that_its_spread_allows():
    below, above = (
        one_sample_t(np.array([-1.0, 0.0, 1.0]) + t / math.sqrt(3)) for t in (9_999, 10_001)
    )
    assert above.effect_low == pytest.approx(below.effect_low, rel=1e-3)
    assert above.effect_high == pytest.approx(below.effect_high, rel=1e-3)
    assert above.effect_low < above.effect < above.effect_high

"""Fewer than five options: WLSMV, which does not reject a true scale; else MLR."""

import numpy as np
import pytest
from scipy.stats import norm

from core.analysis.factors.cfa.analysis import cfa, cfa_scripts
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.kit.factor_models.groups import choose_estimator, fit_model
from core.analysis.kit.factor_models.models import WrittenModel
from core.analysis.scales.validation_report.analysis import validation_report
from core.domain.frames import OPTION_POINTS
from tests.analysis.score_frames import item_scores

SHARES = np.array([0.1, 0.15, 0.2, 0.3, 0.7, 0.8, 0.85, 0.9])


def one_factor(rng, n=200, options=None):
    """Answers of a true one-factor scale, loadings .7: yes and no at uneven shares, or Likert."""
    trait = rng.standard_normal((n, 1))
    hidden = 0.7 * trait + np.sqrt(1 - 0.49) * rng.standard_normal((n, 8))
    if options is None:
        return (hidden > norm.isf(SHARES)).astype(float)
    return np.digitize(hidden, np.linspace(-1.5, 1.5, options - 1)).astype(float)


@pytest.mark.parametrize(
    ("options", "estimator"), [(2, "wlsmv"), (4, "wlsmv"), (5, "mlr"), (7, "mlr")]
)
def test_the_number_of_options_chooses(options, estimator):
    frame = item_scores(one_factor(np.random.default_rng(1), options=options))
    found, (why,) = choose_estimator("automatic", frame)
    assert found == estimator
    assert f"because the answers have {options} options" in why
    assert "Rhemtulla, Brosseau-Liard & Savalei, 2012" in why
    assert choose_estimator("ml", frame) == ("ml", ())


def test_options_are_those_of_the_answer_format_where_it_is_known():
    """Likert answers of which only three of five options were chosen are Likert answers."""
    frame = item_scores(one_factor(np.random.default_rng(1), options=3))
    frame[OPTION_POINTS] = "0.0 1.0 2.0 3.0 4.0"
    assert choose_estimator("automatic", frame)[0] == "mlr"


def test_averages_and_continuous_scores_get_mlr_with_the_reason():
    frame = item_scores(np.random.default_rng(1).normal(size=(50, 4)))
    found, (why,) = choose_estimator("automatic", frame)
    assert found == "mlr"
    assert why.startswith("Estimator: MLR, because i1 has 50 different scores")


def test_every_analysis_of_factor_models_chooses_alike_and_says_so():
    frame = item_scores(one_factor(np.random.default_rng(2)))
    for result in (
        cfa(frame),
        cfa_comparison(frame, models="## A\nF =~ i1+i2+i3+i4\n## B\nF =~ i1+i2+i3+i5"),
        validation_report(frame, by=("respondent",), resamples=100),
    ):
        assert any(note.startswith("Estimator: WLSMV, because") for note in result.all_notes)
    assert not any(note.startswith("Estimator") for note in cfa(frame, estimator="mlr").all_notes)
    settings = next(file.text for file in cfa_scripts(frame) if file.name == "settings.csv")
    assert "estimator,WLSMV" in settings


def test_a_true_scale_of_yes_no_items_is_seldom_rejected_by_the_default():
    """Bands of the report on the indices it takes; 200 samples: see docs/analyses/cfa.md."""
    rng = np.random.default_rng(3)
    rejected = {"automatic": 0, "mlr": 0}
    for _ in range(14):
        values = one_factor(rng, n=500)
        for asked in rejected:
            _, judged = _fitted(values, asked)
            rejected[asked] += not (judged.rmsea <= 0.05 and judged.cfi >= 0.9)
    # shares of 200 samples: 0 % and 84 %
    assert rejected["automatic"] == 0
    assert rejected["mlr"] >= 7


def test_the_test_of_a_true_scale_of_yes_no_items_rejects_no_more_than_it_says():
    """p below .05 in at most 7 % of 200 samples, nearly all with an empty cell; lavaan: 0 %."""
    rng = np.random.default_rng(4)
    n_empty, rejected = 0, 0
    for _ in range(200):
        values = one_factor(rng, n=200)
        counts = np.stack([a.T @ b for a in (values, 1 - values) for b in (values, 1 - values)])
        n_empty += bool((counts[:, *np.triu_indices(8, 1)] == 0).any())
        fit, judged = _fitted(values, "automatic")
        assert fit.estimator == "WLSMV"
        rejected += judged.p < 0.05
    assert n_empty >= 190
    assert rejected <= 14


def _fitted(values, asked):
    """The fit of a one-factor model, and the indices of it that the report judges."""
    items = tuple(f"i{number}" for number in range(1, 9))
    estimator, _ = choose_estimator(asked, item_scores(values))
    model = WrittenModel(f"F =~ {' + '.join(items)}", items, {})
    fit = fit_model(values, model, estimator, 0.95)
    return fit, fit.scaled if estimator == "wlsmv" else fit.robust

"""Where complete administrations leave out more than a tenth, the default uses all answers."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.efa.analysis import efa
from core.analysis.factors.invariance.analysis import invariance
from core.analysis.items.item_map import item_map
from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.factor_models.groups import with_missing_rule
from core.analysis.kit.matrices import choose_missing, incomplete_administrations
from core.analysis.scales.internal_consistency import internal_consistency
from core.analysis.scales.multitrait_matrix.analysis import multitrait_matrix
from core.analysis.scales.reliability import reliability
from core.analysis.scales.validation_report.analysis import validation_report
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores
from tests.stats.test_missing_answers import THEIRS, answers

THIRDS = ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def with_gaps(n_gaps, n=20):
    """Four items that vary, with a gap in so many rows, and one that is constant with gaps."""
    values = np.random.default_rng(1).integers(1, 6, size=(n, 5)).astype(float)
    values[:, 4] = 3
    values[:10, 4] = np.nan
    values[np.arange(n_gaps), np.arange(n_gaps) % 4] = np.nan
    return values


def booklets(**factors):
    """Each of 300 administrations asks 6 of 9 items of four options."""
    return item_scores(answers("booklets9")[0], subscales=THIRDS, **factors)


def sentences(result, name):
    """The sentence of every group of a result."""
    return [one.sentence for one in analyses.by_name(name).answer(result)]


def _discrimination_map(frame):
    return item_map(frame, statistic="discrimination", by=("respondent",))


def test_more_than_a_tenth_of_the_rows_of_any_group_chooses():
    """By hand: 2 of 20 are a tenth, 3 are more; gaps of a constant item cost no row."""
    assert incomplete_administrations(with_gaps(3)) == (20, 3)
    assert choose_missing("automatic", [with_gaps(0), with_gaps(2)], "fiml") == ("listwise", ())
    rule, (why,) = choose_missing("automatic", [with_gaps(0), with_gaps(3)], "fiml")
    assert rule == "fiml"
    assert why == (
        "Missing answers: full information, because complete administrations alone would leave out "
        "15% (3 of 20) of a group. It takes answers as missing at random."
    )
    assert choose_missing("listwise", [with_gaps(3)], "fiml") == ("listwise", ())
    assert choose_missing("available", [with_gaps(0)], "pairwise") == ("pairwise", ())


def test_the_rule_goes_with_the_estimator():
    gaps, whole = [with_gaps(3)], [with_gaps(0)]
    for estimator, with_all in (("ml", "ml_fiml"), ("mlr", "fiml"), ("wlsmv", "wlsmv_pairwise")):
        assert with_missing_rule(estimator, "automatic", gaps)[0] == with_all
        assert with_missing_rule(estimator, "automatic", whole) == (estimator, ())
        assert with_missing_rule(estimator, "listwise", gaps) == (estimator, ())
    assert with_missing_rule("fiml", "listwise", gaps) == ("fiml", ())


def test_where_full_information_takes_too_much_memory_complete_rows_stay(monkeypatch):
    monkeypatch.setenv("INKBLOT_MEMORY", "1 KB")
    assert with_missing_rule("mlr", "automatic", [with_gaps(3)]) == ("mlr", ())
    assert with_missing_rule("mlr", "available", [with_gaps(3)])[0] == "fiml"


BOOKLETS = {
    "cfa": (lambda frame: cfa(frame), "all pairs of answers"),
    "cfa_comparison": (lambda frame: cfa_comparison(frame, estimator="mlr"), "full information"),
    "efa": (lambda frame: efa(frame, factors=1), "full information"),
    "internal_consistency": (internal_consistency, "full information"),
    "reliability": (lambda frame: reliability(frame, resamples=100), "full information"),
}


@pytest.mark.parametrize("name", BOOKLETS)
def test_booklets_work_by_default_and_the_sentence_says_how(name):
    """No administration has all nine items; 705 of 1,800 answers are in complete subscales."""
    run, words = BOOKLETS[name]
    result = run(booklets())
    assert (result.n_used, result.n_missing, result.n_left_out) == (1800, 900, 0)
    (sentence,) = sentences(result, name)
    up_to = "up to " if name in ("internal_consistency", "reliability") else ""
    share = "78%" if name == "internal_consistency" else "100%"
    assert f"({words}, because {up_to}{share} of the administrations lack an answer)" in sentence
    (why,) = [note for note in result.all_notes if note.startswith("Missing answers: ")]
    assert f"{words}, because complete administrations alone would leave out 100% (300 of" in why


def test_booklets_work_in_the_other_analyses_too():
    for run in (item_statistics, _discrimination_map):
        result = run(booklets())
        assert any(note.startswith("Missing answers: full") for note in result.all_notes)
        assert (result.n_used, result.n_missing) == (1800, 900)
    two = pd.concat(
        [
            booklets(language="en"),
            booklets(language="de").assign(
                administration=lambda frame: frame["administration"] + 300
            ),
        ]
    )
    steps = invariance(two, by=(), estimator="mlr").tables[0].frame
    assert steps["n"].tolist() == [600] * 4
    assert steps["missing_rule"].tolist() == ["fiml"] * 4
    report = validation_report(booklets(), by=("respondent",), resamples=100)
    criteria = report.tables[1].frame.set_index("criterion")
    assert np.isfinite(criteria.loc[["internal consistency", "factorial"], "value"]).all()
    assert (report.n_used, report.n_missing) == (1800, 900)
    frame = booklets()
    frame["context"] = frame["administration"].astype(str)
    matrix = multitrait_matrix(frame, incomplete="available").tables[2].frame
    assert np.isfinite(matrix[["alpha", "alpha_low", "alpha_high"]]).all(axis=None)


def test_numbers_of_booklets_are_those_of_lavaan_and_psych():
    """One scale of nine items; see tests/stats/golden/gold_missing.R."""
    theirs, frame = THEIRS["booklets9"], item_scores(answers("booklets9")[0])
    alpha = internal_consistency(frame).tables[0].frame.iloc[0]
    assert alpha["alpha"] == pytest.approx(theirs["psych_alpha"], abs=1e-6)
    assert alpha["ci_high"] - alpha["alpha"] == pytest.approx(
        1.959964 * theirs["alpha"]["se"], abs=5e-5
    )
    items = item_statistics(frame).tables[0].frame
    assert items["discrimination"].tolist() == pytest.approx(theirs["psych_r_drop"], abs=1e-5)
    assert items["alpha_if_dropped"].tolist() == pytest.approx(theirs["psych_alpha_drop"], abs=1e-5)
    both = reliability(frame, resamples=100).tables[0].frame.set_index("coefficient")
    assert both.loc["α (full information)", "value"] == alpha["alpha"]
    assert both.loc["ω total (one factor)", "value"] == pytest.approx(
        theirs["omega"]["est"], abs=1e-5
    )
    fit = cfa(frame).tables[0].frame.iloc[0]
    assert fit["chi2_scaled"] == pytest.approx(theirs["wlsmv"]["chisq.scaled"], abs=2e-3)
    fit = cfa(frame, estimator="mlr").tables[0].frame.iloc[0]
    assert fit["chi2_scaled"] == pytest.approx(theirs["fiml"]["chisq.scaled"], abs=2e-3)


def test_few_gaps_no_longer_call_the_model_that_made_the_answers_wrong():
    """20 items of one factor, n = 200, 3.2 % missing: complete rows are half of them.

    Of 40 samples of this kind, complete rows reject this model in 6, full information in none.
    """
    verdicts = {"automatic": [], "listwise": []}
    for seed in (4, 6):
        draw = np.random.default_rng(seed)
        loadings = np.linspace(0.45, 0.75, 20)
        hidden = draw.standard_normal((200, 1)) * loadings
        hidden = hidden + draw.standard_normal((200, 20)) * np.sqrt(1 - loadings**2)
        values = np.digitize(hidden, [-1.4, -0.5, 0.5, 1.4]).astype(float)
        values[draw.random(values.shape) < 0.032] = np.nan
        for missing, own in verdicts.items():
            (sentence,) = sentences(cfa(item_scores(values), missing=missing), "cfa")
            own.append("does not fit" in sentence)
    assert verdicts["automatic"] == [False, False]
    assert verdicts["listwise"] == [True, True]

import numpy as np
import pytest

from core.stats.correlation import correlation, trait_matrix
from core.stats.resampling import Bootstrap


def table():
    generator = np.random.default_rng(0)
    found = generator.normal(size=(40, 1)) + generator.normal(size=(40, 3))
    found[:5, 0], found[3:9, 2] = np.nan, np.nan
    return found


def test_each_cell_is_the_correlation_of_the_rows_that_have_both():
    scores = table()
    result = trait_matrix(scores, ["scale", "other", "letters"])
    cell = correlation(scores[:, 0], scores[:, 2])
    assert result.r[0, 2] == result.r[2, 0] == cell.r
    assert (result.low[0, 2], result.high[2, 0], result.p[0, 2]) == (cell.low, cell.high, cell.p)
    assert result.n.tolist() == [[35, 35, 31], [35, 40, 34], [31, 34, 34]]
    assert np.diag(result.r).tolist() == [1, 1, 1]
    assert np.isnan(np.diag(result.p)).all()


def test_correction_needs_both_reliabilities():
    result = trait_matrix(table(), ["a", "b", "c"], reliabilities={"a": 0.5, "b": 0.8})
    assert result.corrected[0, 1] == pytest.approx(result.r[0, 1] / np.sqrt(0.4), rel=1e-12)
    assert np.isnan(result.corrected[0, 2])


def test_a_constant_score_leaves_its_cells_undefined_and_is_named():
    scores = table()
    scores[:, 1] = 2
    result = trait_matrix(scores, ["a", "flat", "c"])
    assert np.isnan(result.r[:, 1]).all()
    assert np.isfinite(result.r[0, 2])
    assert sum("flat" in text for text in result.problems) == 2


def test_intervals_may_be_resampled():
    scores, bootstrap = table(), Bootstrap(200, 1)
    result = trait_matrix(scores, ["a", "b", "c"], kind="spearman", bootstrap=bootstrap)
    cell = correlation(scores[:, 0], scores[:, 1], kind="spearman", bootstrap=bootstrap)
    assert (result.low[0, 1], result.high[0, 1]) == (cell.bootstrap_low, cell.bootstrap_high)


def test_names_must_match_and_not_repeat():
    with pytest.raises(ValueError, match="names"):
        trait_matrix(table(), ["a", "b"])
    with pytest.raises(ValueError, match="names"):
        trait_matrix(table(), ["a", "b", "a"])

"""Shares of reliable statements over templates: stance on a domain, match with parties, agrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.stats.inputs import Booleans, Floats, Integers, check_level, mean_of_defined, ratios
from core.stats.resampling import Bootstrap, resampled_ratios, unit_intervals

# Ours because no library has these. Source: Ceron, Falk, Barić, Nikolaev & Padó (2024)
# doi:10.1162/tacl_a_00710. Arrays are (statements, templates, cells); a cell is whatever is kept
# apart, such as domains or parties.


@dataclass(frozen=True, eq=False)
class TemplateMeans:
    """The mean of each cell over templates, with its spread over templates and its interval.

    Fields
    ------
    mean, sd : (cells,) over the templates that have a value; SD with divisor n - 1, NaN of one;
        under several conditions, the mean of their SDs.
    low, high : (cells,) ends of the interval over resampled statements; NaN where there is none.
    n_templates : (cells,) templates that have a value.
    n : (cells,) totals of the denominators over statements and templates.
    n_statements : (cells,) statements that count in a template at least.
    by_template : (templates, cells) the values.
    """

    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    n_templates: Integers
    n: Floats
    n_statements: Integers
    by_template: Floats


def template_means(
    above: Floats,
    below: Floats,
    *,
    counting: Floats | None = None,
    pools: Booleans | None = None,
    conditions: Integers | None = None,
    bootstrap: Bootstrap | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> TemplateMeans:
    """A ratio of two totals over statements in each template, then its mean over templates.

    Parameters
    ----------
    above, below : (statements, templates, cells)
        What each statement adds to the numerator and to the denominator; finite.
    counting : (statements, templates, cells), optional
        1 where a statement counts. A cell without a statement that counts has no value in the
        template, instead of a ratio of 0, such as a party of a country without a reliable
        statement; so in each resample.
    pools : (results, cells), optional
        Which cells each result takes the mean of, such as the parties of one leaning, within each
        template; each cell is a result of its own by default.
    conditions : (templates,), optional
        The condition of each template, such as a context or a temperature, where a template under
        several is a template for each. The SD is that of templates within a condition, mean over
        conditions, because what differs between conditions is no matter of templates.
    bootstrap : Bootstrap, optional
        Resamples of whole statements, the same ones for all cells; no intervals without.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    bounds : (lowest, highest)
        What the ratio can be.

    Returns
    -------
    TemplateMeans : one place for each result. A cell is NaN in a template where its denominator is
    0, or where `counting` has nothing; means are over the templates, and over the cells of a pool,
    that have a value. No interval where fewer than two statements count, or without `bootstrap`.

    Notes
    -----
    The unit is one statement. With above = agrees - disagrees and below = reliable statements, this
    is the stance on a domain; with above = same stance as the party and below = statements of the
    country, the share of statements on which both agree. Intervals as in
    `unit_intervals`. Checked by hand and against a plain program of loops.

    Examples
    --------
    By hand: 1 of 2 statements in the first template, both in the second.

    >>> agrees = np.array([[[1.0], [1]], [[0], [1]]])
    >>> means = template_means(agrees, np.ones((2, 2, 1)))
    >>> means.mean.tolist(), means.sd.round(4).tolist()
    ([0.75], [0.3536])

    Two templates under each of two conditions, 0 and 1 of one statement: all of the spread is
    between conditions.

    >>> always = np.array([[[0.0], [0], [1], [1]]])
    >>> template_means(always, np.ones((1, 4, 1)), conditions=np.array([0, 0, 1, 1])).sd.tolist()
    [0.0]
    """
    check_level(level)
    n_statements, n_templates, n_cells = above.shape
    own_pools = np.eye(n_cells, dtype=np.bool_) if pools is None else pools
    of_cells = ratios(above.sum(axis=0)[None], below.sum(axis=0)[None])
    if counting is not None:
        of_cells = np.where(counting.sum(axis=0)[None] > 0, of_cells, np.nan)
    by_template = _pooled(of_cells, own_pools)[0]
    defined = np.isfinite(by_template)
    n_defined = defined.sum(axis=0)
    mean = mean_of_defined(by_template, 0)
    sd = sd_within_conditions(by_template, conditions)
    in_any = (below != 0).any(axis=1)
    n_counting = ((in_any.astype(np.float64) @ own_pools.T.astype(np.float64)) > 0).sum(axis=0)
    low = high = np.full(len(own_pools), np.nan)
    if bootstrap is not None and n_statements:
        flat = (n_statements, n_templates * n_cells)
        resampled = resampled_ratios(above.reshape(flat), below.reshape(flat), bootstrap)
        if counting is not None:
            counted_again = resampled_ratios(counting.reshape(flat), below.reshape(flat), bootstrap)
            resampled = np.where(counted_again > 0, resampled, np.nan)
        resampled = resampled.reshape(bootstrap.n_resamples, n_templates, n_cells)
        drawn = mean_of_defined(_pooled(resampled, own_pools), 1)
        ends = unit_intervals(mean, drawn, n_counting, level, bounds)
        low, high = ends.low, ends.high
    n = below.sum(axis=(0, 1)) @ own_pools.T
    return TemplateMeans(mean, sd, low, high, n_defined, n, n_counting, by_template)


def sd_within_conditions(by_template: Floats, conditions: Integers | None = None) -> Floats:
    """The SD of each cell over templates that have a value; the mean of those of conditions.

    Parameters
    ----------
    by_template : (templates, cells)
        NaN where a template has no value.
    conditions : (templates,), optional
        The condition of each template; all are of one by default.

    Examples
    --------
    By hand: √2 / 2 and √2 / 2 within, although the templates of the second are 5 higher.

    >>> values = np.array([[0.0], [1], [5], [6]])
    >>> sd_within_conditions(values, np.array([0, 0, 1, 1])).round(4).tolist()
    [0.7071]
    """
    codes = np.zeros(len(by_template), dtype=np.int64) if conditions is None else conditions
    sds = []
    for one in np.unique(codes):
        own = by_template[codes == one]
        defined = np.isfinite(own)
        squares = np.where(defined, (own - mean_of_defined(own, 0)) ** 2, 0.0).sum(axis=0)
        sds.append(np.sqrt(ratios(squares, defined.sum(axis=0) - 1)))
    return mean_of_defined(np.array(sds).reshape(len(sds), *by_template.shape[1:]), 0)


def _pooled(values: Floats, pools: Booleans) -> Floats:
    """(…, templates, results) the mean over the cells of each pool that have a value."""
    defined = np.isfinite(values)
    weights = pools.T.astype(np.float64)
    return ratios(np.where(defined, values, 0.0) @ weights, defined.astype(np.float64) @ weights)

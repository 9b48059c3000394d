"""Files of scripts of the agreement of raters, in R (psych) and Python (numpy, scipy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.results import TextFile


@dataclass(frozen=True, eq=False)
class RaterCodes:
    """The codes of one group of items.

    Fields
    ------
    name : what the group is called; any text.
    raters : what each rater is called; any text.
    codes : (raters, items), NaN where there is none.
    """

    name: str
    raters: tuple[str, ...]
    codes: Floats


def agreement_files(
    groups: Sequence[RaterCodes], *, weights: str, metric: str, ci_level: float, most_pairs: int
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same agreement.

    Parameters
    ----------
    groups : sequence of RaterCodes
        Every group of items.
    weights : "none", "linear" or "quadratic"
        How disagreement counts in Cohen's kappa.
    metric : "nominal", "ordinal" or "interval"
        How it counts in Krippendorff's alpha.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals of kappa.
    most_pairs : int
        How many pairs of raters have a kappa.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `rater_agreement.R` (psych) and `rater_agreement.py` (numpy, scipy),
        with `raters.csv`. Bootstrap intervals are not repeated.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    columns = [[names.of("rater", rater) for rater in group.raters] for group in groups]
    every = list(dict.fromkeys(column for members in columns for column in members))
    rows: list[tuple[str, list[float]]] = []
    raters: list[tuple[str, str, str]] = []
    for group, label, members in zip(groups, labels, columns, strict=True):
        table = np.full((group.codes.shape[1], len(every)), np.nan)
        table[:, [every.index(column) for column in members]] = group.codes.T
        rows += [(label, row) for row in table.tolist()]
        called = zip(members, group_labels(group.raters), strict=True)
        raters += [(label, column, name) for column, name in called]
    return script_files(
        "rater_agreement",
        data=csv_text([GROUP, *every], rows),
        title="Agreement of raters",
        settings={
            "ci_level": ci_level,
            "weights": weights,
            "metric": metric,
            "most_pairs": most_pairs,
        },
        tables={"raters.csv": ((GROUP, "column", "name"), raters)},
        names=names,
    )

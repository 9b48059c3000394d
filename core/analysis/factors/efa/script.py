"""Files of scripts of exploratory factors in R (psych, GPArotation) and Python (numpy, scipy)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.analysis.kit.matrices import ALL_ITEMS
from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import Names, group_labels
from core.analysis.kit.scripts.scales import ScaleGroup, item_data, scales_table
from core.domain.results import TextFile
from core.stats.factor.exploratory import InputCorrelation
from core.stats.inputs import ItemRule


def exploratory_files(
    groups: Sequence[ScaleGroup],
    factors: Sequence[int],
    correlation: InputCorrelation,
    missing: ItemRule = "listwise",
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same exploratory factors.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with its scores; subscales do not matter.
    factors : sequence of int
        How many factors are extracted in each group.
    correlation : "pearson" or "polychoric"
        What eigenvalues and loadings are taken from.
    missing : "listwise", "fiml" or "pairwise"
        Complete rows, or all answers: Pearson correlations by full information, polychoric ones
        pairwise.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `efa.R` (psych's minres, GPArotation's quartimin; lavaan for
        polychoric correlations) and `efa.py` (numpy, scipy), with `scales.csv` and `factors.csv`.

    Notes
    -----
    The unit is one administration. Factors stand in the order of
    the variance they explain, each turned so that its loadings sum to more than 0.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    numbers = [(label, str(number)) for label, number in zip(labels, factors, strict=True)]
    whole = [replace(group, subscales=(ALL_ITEMS,) * len(group.items)) for group in groups]
    return script_files(
        "efa",
        data=item_data(groups, labels, names),
        title="Exploratory factors",
        settings={"correlation": correlation, "missing": missing},
        tables={
            "scales.csv": scales_table(whole, labels, names),
            "factors.csv": (("group", "factors"), numbers),
        },
        names=names,
    )

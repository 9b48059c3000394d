"""Files of scripts of differential item functioning and of the graded response model."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import GROUP, Names, group_labels
from core.analysis.kit.scripts.scales import LEVEL, ScaleGroup, item_data, scales_table
from core.domain.results import TextFile
from core.stats.groups import Adjustment
from core.stats.irt.response_models import ModelName


def dif_files(
    groups: Sequence[ScaleGroup],
    levels: Sequence[Sequence[int]],
    level_names: Sequence[Sequence[str]],
    *,
    compared: str,
    matching: str,
    adjust: Adjustment,
    flag_level: float,
    fewest: int,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same differential item functioning.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    levels : for each group, the number of the level of each row, from 1
        The first level is the reference.
    level_names : for each group, what its levels are called; any text
        In the order of their numbers.
    compared : str
        What the levels are.
    matching : "rest" or "purified"
        Matched on all other items, or on those that are not flagged.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the items of a subscale.
    flag_level : float
        Adjusted p of the total test below which an item is flagged if its size is not negligible.
    fewest : int
        Administrations that a level needs.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `dif.R` (MASS::polr) and `dif.py` (numpy, scipy), with `scales.csv`
        and `levels.csv`.
    """
    names, labels = Names(frozenset({GROUP, LEVEL})), group_labels([group.name for group in groups])
    level_rows = [
        (label, str(number), name)
        for label, called in zip(labels, level_names, strict=True)
        for number, name in enumerate(group_labels(called), 1)
    ]
    return script_files(
        "dif",
        data=item_data(groups, labels, names, levels),
        title=f"Differential item functioning: {compared}",
        settings={
            "matching": matching,
            # R's name for Benjamini and Hochberg
            "adjustment": "holm" if adjust == "holm" else "BH",
            "flag_level": flag_level,
            "fewest": fewest,
        },
        tables={
            "scales.csv": scales_table(groups, labels, names),
            "levels.csv": (("group", "level", "name"), level_rows),
        },
        names=names,
    )


def item_response_files(
    groups: Sequence[ScaleGroup],
    *,
    model: ModelName,
    limit: float,
    levels: int,
    points: int,
    steps: int,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can fit the same item response models.

    Parameters
    ----------
    groups : sequence of ScaleGroup
        Every group with the subscales of its items.
    model : name of a model
        ltm fits the graded response model alone; of other models there is no script for R.
    limit, levels : float, int
        Information is given at so many levels of the trait from -limit to limit.
    points, steps : int
        Quadrature points (at most 101 here), and steps of the search in R.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: `graded_response.R` (ltm::grm) and `graded_response.py` (numpy,
        scipy), with `scales.csv`.
    """
    names, labels = Names(), group_labels([group.name for group in groups])
    files = script_files(
        "graded_response",
        data=item_data(groups, labels, names),
        title="Item response models",
        settings={
            "model": model,
            "limit": limit,
            "levels": levels,
            "n_points": min(points, _MOST_POINTS),
            "steps": steps,
        },
        tables={"scales.csv": scales_table(groups, labels, names)},
        names=names,
    )
    return tuple(one for one in files if model == "graded" or not one.name.endswith(".R"))


_MOST_POINTS = 101
"""With more, the outer weights of Gauss and Hermite's rule are too small to compute with."""

"""Files of scripts of correlations and mean differences of scores in R and Python (scipy)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from core.analysis.kit.matrices import group_name
from core.analysis.kit.options import SCORE_RULES
from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.files import script_files
from core.analysis.kit.scripts.names import GROUP, Names, csv_text, group_labels
from core.domain.results import TextFile
from core.stats.correlation import Alternative, CorrelationMethod
from core.stats.groups import Adjustment
from core.stats.scores import ScoreRule


@dataclass(frozen=True, eq=False)
class PairedColumns:
    """Scores of the same rows in several columns, and which columns are set against each other.

    Fields
    ------
    group : values of the factors set side by side.
    scale : what the scores are of; any text.
    names : what each column is called; any text.
    scores : (rows, columns), NaN where there is no score.
    pairs : places of the two columns of each pair.
    tested : for each pair, whether its p is among those that are adjusted; empty for all.
    alphas : reliability of each column, NaN where there is none; empty for none.
    """

    group: tuple[Any, ...]
    scale: str
    names: tuple[str, ...]
    scores: Floats
    pairs: tuple[tuple[int, int], ...]
    tested: tuple[bool, ...] = ()
    alphas: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class SeparateGroups:
    """Scores of groups on one scale, of other units in each or of the same ones.

    Fields
    ------
    group : values of the factors set side by side.
    scale : what the scores are of; any text.
    scores : the (rows,) scores of each group compared, by its name; NaN where there is none.
    pairs : places of the two groups of each pair.
    within : whether scores at the same place of all groups are of the same unit.
    """

    group: tuple[Any, ...]
    scale: str
    scores: Mapping[str, Floats]
    pairs: tuple[tuple[int, int], ...]
    within: bool = False


def correlation_files(
    tables: Sequence[PairedColumns],
    *,
    name: str,
    title: str,
    incomplete: ScoreRule,
    kinds: Sequence[CorrelationMethod],
    adjust: Adjustment,
    ci_level: float,
    differences: bool = False,
    alternative: Alternative = "two-sided",
    remarks: Sequence[str] = (),
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same correlations of scores.

    Parameters
    ----------
    tables : sequence of PairedColumns
        The scores of each group and scale.
    name, title : str
        Of the programs, and of the analysis.
    incomplete : "prorated", "listwise", "half" or "available"
        Which administrations have a score.
    kinds : sequence of "pearson" and "spearman"
        Which correlations are computed.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p within each group and kind.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    differences : bool
        Also compare the means of each pair by the paired t test.
    alternative : "two-sided", "greater" or "less"
        What p of a difference tests: greater is the second above the first.
    remarks : sequence of str
        Sentences on these scores.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: a script for R (cor.test, t.test, p.adjust) and one for Python, with
        `pairs.csv`.

    Notes
    -----
    The data are scores of scales, as Inkblot computes them from the items. Bootstrap intervals
    are not repeated.
    """
    labels, titles = _labels([(table.group, table.scale) for table in tables])
    names = Names()
    columns = [[names.of("score", title) for title in table.names] for table in tables]
    every = {column: place for place, column in enumerate(dict.fromkeys(chain(*columns)))}
    rows: list[tuple[str, list[float]]] = []
    pairs: list[tuple[str, ...]] = []
    for table, members, label, title_of in zip(tables, columns, labels, titles, strict=True):
        whole = np.full((len(table.scores), len(every)), np.nan)
        whole[:, [every[column] for column in members]] = table.scores
        rows += [(label, row) for row in whole.tolist()]
        called = group_labels(table.names)
        alphas = [repr(alpha) if math.isfinite(alpha) else "" for alpha in table.alphas]
        alphas = alphas or [""] * len(members)
        tested = table.tested or (True,) * len(table.pairs)
        for (x, y), counts in zip(table.pairs, tested, strict=True):
            scores = (called[x], called[y], members[x], members[y], alphas[x], alphas[y])
            pairs.append((label, *title_of, *scores, "yes" if counts else "no"))
    header = ("rows", "group", "scale", "first", "second", "first_column", "second_column")
    return script_files(
        "correlations",
        data=csv_text([GROUP, *every], rows),
        title=title,
        settings={
            "kinds": " ".join(map(str, kinds)),
            "mean_differences": "yes" if differences else "no",
            **_settings(ci_level, adjust, alternative),
        },
        tables={"pairs.csv": ((*header, "first_alpha", "second_alpha", "tested"), pairs)},
        names=names,
        about=(_score_sentence(incomplete), *remarks),
        name=name,
    )


def group_files(
    tables: Sequence[SeparateGroups],
    *,
    title: str,
    incomplete: ScoreRule,
    adjust: Adjustment,
    alternative: Alternative,
    ci_level: float,
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can compute the same comparison of groups.

    Parameters
    ----------
    tables : sequence of SeparateGroups
        The scores of each scale.
    title, incomplete, adjust, alternative, ci_level
        As in `correlation_files`; `alternative` is of two groups.

    Returns
    -------
    tuple of TextFile
        As of `script_files`: a script for R (t.test, oneway.test, anova, p.adjust) and one for
        Python, with `groups.csv` and `pairs.csv`.
    """
    labels, titles = _labels([(table.group, table.scale) for table in tables])
    rows: list[tuple[str, list[float]]] = []
    groups: list[tuple[str, ...]] = []
    pairs: list[tuple[str, ...]] = []
    for table, label, title_of in zip(tables, labels, titles, strict=True):
        called = group_labels(list(table.scores))
        for level, (name, scores) in enumerate(zip(called, table.scores.values(), strict=True), 1):
            rows += [
                (label, [float(level), float(unit), score])
                for unit, score in enumerate(scores.tolist(), 1)
            ]
            design = "within" if table.within else "between"
            groups.append((label, *title_of, str(level), name, design))
        pairs += [(label, str(x + 1), str(y + 1)) for x, y in table.pairs]
    return script_files(
        "group_comparison",
        data=csv_text([GROUP, "level", "unit", "score"], rows),
        title=title,
        settings=_settings(ci_level, adjust, alternative),
        tables={
            "groups.csv": (("rows", "group", "scale", "level", "name", "design"), groups),
            "pairs.csv": (("rows", "first", "second"), pairs),
        },
        names=Names(),
        about=(_score_sentence(incomplete),),
    )


def _labels(
    tables: Sequence[tuple[tuple[Any, ...], str]],
) -> tuple[list[str], list[tuple[str, str]]]:
    """The label of each table's rows in the data, and its group and scale in the other files."""
    groups = list(dict.fromkeys(group for group, _ in tables))
    called = dict(zip(groups, group_labels([group_name(own) for own in groups]), strict=True))
    scales = list(dict.fromkeys(scale for _, scale in tables))
    lines = dict(zip(scales, group_labels(scales), strict=True))
    titles = [(called[group], lines[scale]) for group, scale in tables]
    return group_labels([f"{group}, {scale}" for group, scale in titles]), titles


def _score_sentence(incomplete: ScoreRule) -> str:
    """What data.csv holds."""
    rule = dict(SCORE_RULES)[incomplete]
    return (
        "data.csv holds scores as Inkblot computes them: the mean of the items of a scale after "
        f"reverse-keying. Which administrations have one: {rule[0].lower()}{rule[1:]}."
    )


def _settings(
    ci_level: float, adjust: Adjustment, alternative: Alternative
) -> dict[str, str | float]:
    """What both programs are told."""
    # R's name for Benjamini and Hochberg
    adjustment = "holm" if adjust == "holm" else "BH"
    return {"ci_level": ci_level, "adjustment": adjustment, "alternative": alternative}

"""Where the scores of `multitrait_matrix` come from: studies, and what was counted in texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.comparisons.scores import (
    administration_labels,
    administration_scores,
    labels,
    level_name,
)
from core.analysis.matrices import ScoreMatrix, score_matrices
from core.analysis.odds_ratios import odds_ratio_scores
from core.analysis.words.odds_ratios_contrast import Contrast
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.psychometrics.scale_scores import ScoreRule

_TEXT_SCALE = "words of stereotypes"


@dataclass(frozen=True, eq=False)
class Source:
    """Where scores come from: a study, or what was counted in texts.

    By administration, `labels` holds the levels of factors and `scores` the score on each scale
    (NaN where there is none); `planned` says which scales it was to have. `matrices` are the item
    scores of each subscale with their administrations and `frame` the rows they are from, where
    there are items. Rows of the multitrait matrix are those of the main sources.
    """

    name: str
    labels: pd.DataFrame
    scores: pd.DataFrame
    planned: pd.DataFrame
    matrices: Mapping[str, tuple[ScoreMatrix, pd.Index[Any]]]
    frame: pd.DataFrame | None
    incomplete: ScoreRule = "listwise"
    main: bool = True
    prefix: str = ""
    """What its scores are called by where there are several sources."""

    def within(self, member: Any) -> Source:
        """The same with some of the administrations only."""
        return replace(self, labels=self.labels[member])

    def levels(self, factor: str) -> set[Any]:
        """The levels of a factor that came up; empty where the source does not know it."""
        return set(self.labels[factor]) if factor in self.labels else set()


def _study_sources(
    item_scores: pd.DataFrame, incomplete: ScoreRule, columns: Sequence[str], *, main: bool
) -> tuple[Source, ...]:
    """A source for each study of an ITEM_SCORES frame; `columns` are labels needed beyond factors.

    Raises
    ------
    NotEnoughData
        The frame lacks one of the columns.
    """
    names = tuple(dict.fromkeys((*FACTORS, *columns)))
    study = labels(item_scores["study"])
    return tuple(
        _study(str(level_name(name)), item_scores[study == name], incomplete, names, main=main)
        for name in dict.fromkeys(study)
    )


def _study(
    name: str, frame: pd.DataFrame, incomplete: ScoreRule, columns: Sequence[str], *, main: bool
) -> Source:
    """One study as a source."""
    scored = administration_scores(frame, incomplete)
    scales = list(dict.fromkeys(scored["scale"]))
    scores, planned = (
        table.pivot(index="administration", columns="scale", values="score").reindex(columns=scales)
        for table in (scored, scored.assign(score=1.0))
    )
    return Source(
        name,
        administration_labels(frame, columns),
        scores,
        planned.notna(),
        {
            matrix.subscale: (matrix, pd.Index(matrix.administrations, dtype="object"))
            for matrix in score_matrices(frame, ())
        },
        frame,
        incomplete,
        main,
    )


def text_source(texts: pd.DataFrame, contrast: Contrast) -> Source:
    """The odds-ratio score of the texts of every respondent and context, as a source.

    Raises
    ------
    NotEnoughData
        There is no usable text of the two groups.
    """
    found = odds_ratio_scores(
        texts, contrast.lists, contrast.descriptor, contrast.levels, contrast.sides
    )
    if found.empty:
        raise NotEnoughData(
            "No text of the study of texts can be used.", "Collect its texts, or choose another."
        )
    ids = pd.Index(range(len(found)), dtype="object")
    scores = pd.DataFrame({_TEXT_SCALE: found["score"].to_numpy(dtype=np.float64)}, index=ids)
    return Source(
        ", ".join(map(str, texts["study"].unique())),
        pd.DataFrame({name: labels(found[name]) for name in ("respondent", "context")}, index=ids),
        scores,
        pd.DataFrame(data=True, index=ids, columns=scores.columns),
        {},
        None,
        main=False,
    )


def study_pair(
    item_scores: pd.DataFrame,
    other: pd.DataFrame | None,
    incomplete: ScoreRule,
    columns: Sequence[str],
) -> tuple[Source, ...]:
    """The studies whose scores are correlated, and the ones beside them.

    Raises
    ------
    NotEnoughData
        There are no answers, or the same study stands on both sides.
    """
    if item_scores.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    found = _study_sources(item_scores, incomplete, columns, main=True)
    if other is not None:
        beside = _study_sources(other, incomplete, columns, main=False)
        if not beside:
            raise NotEnoughData(
                "The study beside this one has no answers yet.", "Run it, or choose another one."
            )
        same = {source.name for source in found} & {source.name for source in beside}
        if same:
            raise NotEnoughData(
                f"Study {', '.join(sorted(same))} stands beside itself.",
                "Choose another study beside this one, or none.",
            )
        found += beside
    return found


def named(sources: Sequence[Source]) -> tuple[Source, ...]:
    """The sources, with scores called by their source where there are several."""
    if len(sources) == 1:
        return tuple(sources)
    return tuple(replace(source, prefix=f"{source.name}: ") for source in sources)

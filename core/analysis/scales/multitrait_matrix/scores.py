"""Scores of the same respondents and contexts side by side, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import (
    ALL_ITEMS,
    ScoreMatrix,
    choose_missing,
    score_matrices,
)
from core.analysis.kit.rows import Floats, require_answers
from core.analysis.kit.scores import (
    administration_labels,
    administration_scores,
    aggregate_administrations,
    level_labels,
    level_name,
    level_sort_key,
    shown_scales,
)
from core.analysis.words.odds_ratios import Contrast, odds_ratio_scores
from core.domain.study import FACTORS, WAYS_OF_ASKING
from core.errors import NotEnoughData, WrongOption
from core.stats.inputs import Estimate, ItemRule
from core.stats.reliability.alpha import cronbach_alpha
from core.stats.scores import ScoreRule

# The sources of scores: studies, and counts of words in texts.

_TEXT_SCALE = "words of stereotypes"


@dataclass(frozen=True, eq=False)
class ScoreSource:
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
    main: bool = True
    prefix: str = ""
    """What its scores are called by where there are several sources."""

    def within(self, member: Any) -> ScoreSource:
        """The same with some of the administrations only."""
        return replace(self, labels=self.labels[member])

    def levels(self, factor: str) -> set[Any]:
        """The levels of a factor that came up; empty where the source does not know it."""
        return set(self.labels[factor]) if factor in self.labels else set()


def _sources_of(
    item_scores: pd.DataFrame, incomplete: ScoreRule, columns: Sequence[str], *, main: bool
) -> tuple[ScoreSource, ...]:
    """A source for each study of an ITEM_SCORES frame; `columns` are labels needed beyond factors.

    Raises
    ------
    NotEnoughData
        The frame lacks one of the columns.
    """
    names = tuple(dict.fromkeys((*FACTORS, *columns)))
    study = level_labels(item_scores["study"])
    return tuple(
        _study_source(
            str(level_name(name)), item_scores[study == name], incomplete, names, main=main
        )
        for name in dict.fromkeys(study)
    )


def _study_source(
    name: str, frame: pd.DataFrame, incomplete: ScoreRule, columns: Sequence[str], *, main: bool
) -> ScoreSource:
    """One study as a source."""
    scored = administration_scores(frame, incomplete)
    scales = list(dict.fromkeys(scored["scale"]))
    scores, planned = (
        table.pivot(index="administration", columns="scale", values="score").reindex(columns=scales)
        for table in (scored, scored.assign(score=1.0))
    )
    return ScoreSource(
        name,
        administration_labels(frame, columns),
        scores,
        planned.notna(),
        {
            matrix.subscale: (matrix, pd.Index(matrix.administrations, dtype="object"))
            for matrix in score_matrices(frame, ())
        },
        frame,
        main,
    )


def text_source(texts: pd.DataFrame, contrast: Contrast) -> ScoreSource:
    """The odds-ratio score of the texts of every respondent and context, as a source.

    Raises
    ------
    NotEnoughData
        There is no usable text of the two groups.
    """
    scored = odds_ratio_scores(texts, contrast)
    if scored.empty:
        raise NotEnoughData(
            "No text of the study of texts can be used.", "Collect its texts, or choose another."
        )
    ids = pd.Index(range(len(scored)), dtype="object")
    scores = pd.DataFrame({_TEXT_SCALE: scored["score"].to_numpy(dtype=np.float64)}, index=ids)
    return ScoreSource(
        ", ".join(map(str, texts["study"].unique())),
        pd.DataFrame(
            {name: level_labels(scored[name]) for name in ("respondent", "context")}, index=ids
        ),
        scores,
        pd.DataFrame(data=True, index=ids, columns=scores.columns),
        {},
        None,
        main=False,
    )


def study_sources(
    item_scores: pd.DataFrame,
    other: pd.DataFrame | None,
    incomplete: ScoreRule,
    columns: Sequence[str],
) -> tuple[ScoreSource, ...]:
    """The studies whose scores are correlated, and the other studies.

    Raises
    ------
    NotEnoughData
        There are no answers, or the same study stands on both sides.
    """
    require_answers(item_scores)
    sources = _sources_of(item_scores, incomplete, columns, main=True)
    if other is not None:
        others = _sources_of(other, incomplete, columns, main=False)
        if not others:
            raise NotEnoughData(
                "The other study has no answers yet.", "Run it, or choose another one."
            )
        same = {source.name for source in sources} & {source.name for source in others}
        if same:
            raise WrongOption(
                f"Study {', '.join(sorted(same))} is compared with itself.",
                "Choose another study, or none.",
            )
        sources += others
    return sources


def with_prefixes(sources: Sequence[ScoreSource]) -> tuple[ScoreSource, ...]:
    """The sources, with scores called by their source where there are several."""
    if len(sources) == 1:
        return tuple(sources)
    return tuple(replace(source, prefix=f"{source.name}: ") for source in sources)


# The scores of each group, matched by respondent and context.

MATCHED = ("respondent", "language", "context", "repetition")
"""What makes a row: scores are matched on these and averaged over everything else."""
_ASKED_WITH = ("entity", "entity_b", *WAYS_OF_ASKING)
"""Factors that whole sources may differ in by design, so that they cannot separate them."""
_NO_ITEMS = "No reliability: the score is not a mean of items."


@dataclass(frozen=True)
class Score:
    """One score: the trait it is of (source and scale) and how it was taken (levels)."""

    source: str
    scale: str
    method: tuple[Any, ...]
    name: str

    def same_trait(self, other: Score) -> bool:
        """Whether both are of the same scale of the same source."""
        return (self.source, self.scale) == (other.source, other.scale)

    def same_method(self, other: Score) -> bool:
        """Whether both were taken under the same levels of the factors that separate scores."""
        return self.method == other.method

    def shares_answers(self, other: Score) -> bool:
        """Whether one is a part of the other, so that they go together by construction."""
        whole = ALL_ITEMS in (self.scale, other.scale)
        return whole and self.source == other.source and self.same_method(other)


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of one group: `values` are (rows, scores), NaN where a row lacks one.

    `behind` are, for each score, the administrations it is made of with the number of their row,
    and `items` the items that they answered. `n_fewer` counts those that lack some of these items,
    `n_without` the administrations without a score.
    """

    group: tuple[Any, ...]
    scores: tuple[Score, ...]
    values: Floats
    reliabilities: tuple[Estimate, ...]
    behind: tuple[pd.Series[Any], ...]
    items: tuple[frozenset[str], ...]
    n_fewer: tuple[int, ...]
    n_without: tuple[int, ...]


def row_factors(
    sources: Sequence[ScoreSource], by: Sequence[str], split: Sequence[str]
) -> tuple[str, ...]:
    """The factors in which scores have to agree to stand in one row.

    Always the respondent. Language and context, unless a source has a single one of its own (none
    at all, say) that others lack; repetition, where every source has several. What is the same
    everywhere is left out; factors in `by` or `split` separate groups or scores instead.
    """
    factors = []
    for factor in MATCHED:
        levels = [source.levels(factor) for source in sources]
        shared = set.intersection(*levels)
        everywhere_one = factor != "context" and len(set.union(*levels)) < 2
        if factor in (*by, *split) or everywhere_one or not all(levels):
            continue
        lone = any(len(of_source) == 1 and not of_source & shared for of_source in levels)
        few = factor == "repetition" and any(len(of_source) < 2 for of_source in levels)
        if factor == "respondent" or len(sources) == 1 or not (lone or few):
            factors.append(factor)
    return tuple(factors)


def averaging_factors(source: ScoreSource, used_factors: Sequence[str]) -> tuple[str, ...]:
    """The factors a source varies in that are no row, group or score of their own."""
    determined = {"model"} if "respondent" in used_factors else set()
    return tuple(
        name
        for name in FACTORS
        if name not in {*used_factors, *determined} and len(source.levels(name)) > 1
    )


def score_tables(
    sources: Sequence[ScoreSource],
    by: Sequence[str],
    split: Sequence[str],
    rows_by: Sequence[str],
    level: float,
) -> Iterator[ScoreTable]:
    """The scores of each group of the main sources, in the order the frame first names them."""
    main = [source for source in sources if source.main]
    groups = dict.fromkeys(group for source in main for group in _tuples(source.labels, by))
    for group in groups:
        members = [(source, _members(source, by, group)) for source in sources]
        keys = dict.fromkeys(
            key
            for source, member in members
            if source.main
            for key in _tuples(source.labels[member], rows_by)
        )
        row_of = {key: row for row, key in enumerate(keys)}
        columns = [
            column
            for source, member in members
            for column in _columns(source.within(member), split, rows_by, row_of, level)
        ]
        scores, values, *others = zip(*columns, strict=True) if columns else [()] * 7
        table = np.stack(values, axis=1) if values else np.empty((len(row_of), 0))
        yield ScoreTable(group, scores, table, *others)


def _columns(
    source: ScoreSource,
    split: Sequence[str],
    rows_by: Sequence[str],
    row_of: dict[tuple[Any, ...], int],
    level: float,
) -> Iterator[tuple[Score, Floats, Estimate, pd.Series[Any], frozenset[str], int, int]]:
    """Every score of a source in a group: what it is, and the fields of ScoreTable."""
    separate = [name for name in split if name in source.labels]
    ids = source.labels.index
    row = pd.Series([row_of.get(key, -1) for key in _tuples(source.labels, rows_by)], index=ids)
    method_of = pd.Series(_tuples(source.labels, separate), index=ids, dtype="object")[row >= 0]
    methods = sorted(set(method_of), key=lambda method: list(map(level_sort_key, method)))
    for method in methods:
        rows = row[method_of.index[method_of == method]]
        scored, planned = source.scores.loc[rows.index], source.planned.loc[rows.index]
        rule, _ = choose_missing("automatic", [_item_table(source, ALL_ITEMS, rows)[0]], "fiml")
        for scale in shown_scales(scored.columns[planned.any()]):
            with_score = scored[scale].dropna()
            behind = rows[with_score.index]
            means = aggregate_administrations(with_score, behind)
            values = np.full(len(row_of), np.nan)
            values[means.index.to_numpy(dtype=np.int64)] = means.to_numpy()
            words = [scale or "(none)", *(str(level_name(value)) for value in method)]
            score = Score(source.name, scale, method, source.prefix + " · ".join(words))
            items, n_fewer = _answered_items(source, scale, behind)
            n_without = int(planned[scale].sum()) - len(with_score)
            # all answers there are, also those of administrations without this score
            used = behind if rule == "listwise" else rows[planned[scale].to_numpy()]
            alpha = _alpha(source, scale, used, level, rule)
            yield score, values, alpha, behind, items, n_fewer, n_without


def _item_table(
    source: ScoreSource, scale: str, behind: pd.Series[Any]
) -> tuple[Floats, list[str]]:
    """The item scores behind a score, (administrations, items), and the items asked of any."""
    tables: list[Floats] = [np.empty((len(behind), 0))]
    names: list[str] = []
    for matrix, ids in (
        source.matrices.values() if scale == ALL_ITEMS else (source.matrices[scale],)
    ):
        # one row more, without scores, for administrations that were never asked these items
        scores = np.vstack([matrix.scores, np.full(len(matrix.items), np.nan)])
        planned = np.zeros(scores.shape, dtype=np.bool_)
        planned[:-1] = True if matrix.asked is None else matrix.asked
        rows = ids.get_indexer(behind.index)
        asked = planned[rows].any(axis=0)
        tables.append(scores[rows][:, asked])
        names += [matrix.items[column] for column in np.flatnonzero(asked).tolist()]
    return np.hstack(tables), names


def _answered_items(
    source: ScoreSource, scale: str, behind: pd.Series[Any]
) -> tuple[frozenset[str], int]:
    """The items behind a score that anybody answered, and how many administrations lack some."""
    if not source.matrices:
        return frozenset(), 0
    table, names = _item_table(source, scale, behind)
    answered = np.isfinite(table)
    some = answered.any(axis=0)
    items = frozenset(names[column] for column in np.flatnonzero(some).tolist())
    return items, int((answered.sum(axis=1) < some.sum()).sum())


def _alpha(
    source: ScoreSource, scale: str, used: pd.Series[Any], level: float, rule: ItemRule
) -> Estimate:
    """Cronbach's alpha of a score, from item scores averaged as the score is."""
    if not source.matrices:
        return Estimate(math.nan, problems=(_NO_ITEMS,))
    (table, names), rows = _item_table(source, scale, used), used.to_numpy()
    if len(np.unique(rows)) < len(rows):
        means = aggregate_administrations(pd.DataFrame(table), rows, sort=True)
        table = means.to_numpy(dtype=np.float64)
    return cronbach_alpha(table, names=names, level=level, missing=rule)


def _members(source: ScoreSource, by: Sequence[str], group: tuple[Any, ...]) -> Any:
    """Which administrations of a source belong to a group.

    A source with one level of something it was asked with, or that does not know a factor, stands
    with every level of it.
    """
    member = np.ones(len(source.labels), dtype=bool)
    for name, level in zip(by, group, strict=True):
        levels = source.levels(name)
        single_condition = not source.main and name in _ASKED_WITH and len(levels) == 1
        if levels and not single_condition:
            member &= (source.labels[name] == level).to_numpy()
    return member


def _tuples(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values of some columns, row by row."""
    if not names:
        return [()] * len(frame)
    return list(zip(*(frame[name] for name in names), strict=True))

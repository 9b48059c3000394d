"""How do the answers on each entity lean, and how consistent are they?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.analysis.bias.bias import Positive
from core.analysis.kit.matrices import data_notes, distinct, group_name
from core.analysis.kit.option_counts import (
    CONDITIONS,
    UNIT_WORDS,
    Midpoint,
    MidpointRule,
    Resample,
    ResampleUnit,
    UnitResamples,
    answer_sides,
    unit_interval_help,
)
from core.analysis.kit.options import By, ConfidenceLevel, Reported, Seed, StatisticForm
from core.analysis.kit.registry import analysis
from core.analysis.kit.sentences import (
    GroupAnswers,
    TableRow,
    answers_of_groups,
    coefficient_text,
    interval_text,
    table_of,
)
from core.analysis.kit.side_cells import SideCells, side_cells
from core.analysis.repeatability.random_consistency.entropies import (
    entropy_sums,
    item_entropies,
    repeated_answers,
)
from core.analysis.repeatability.referential_consistency.divergences import (
    divergences,
    format_answers,
    tested,
)
from core.charts.bias import summary_charts
from core.domain.frames import OPTION_COUNTS
from core.domain.notes import about, undefined_note
from core.domain.results import AnalysisResult, ResultTable
from core.domain.tables import count, estimate, factor_columns, key, remark
from core.errors import NotEnoughData
from core.stats.inputs import Floats
from core.stats.leaning import (
    items_answered,
    leaning,
)
from core.stats.resampling import (
    Bootstrap,
)

POSITIVE, REPEATABILITY, AGREEMENT = "Positive answers", "Repeatability", "Agreement of formats"
_DEALS = 1000
"""How often answers are dealt to formats, for the divergence by chance."""
_NOT_REPEATED = undefined_note("Undefined: no item was answered twice under the same conditions.")
_ONE_FORMAT = undefined_note("Undefined: no item was answered in two formats.")
_NO_SIDE = undefined_note("Undefined: no answer is positive or negative.")


class _Measure(NamedTuple):
    """One of the three numbers of a group, and why it is undefined."""

    name: str
    value: float
    low: float
    high: float
    n_items: int
    remark: str


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The three numbers of each group; where formats agree or not, the others are over all."""

    def part(row: TableRow) -> str:
        name = str(row["measure"])
        interval = interval_text(row["ci_low"], row["ci_high"])
        return f"{name[0].lower()}{name[1:]} {coefficient_text(row['value'])}{interval}"

    def sentence(rows: Sequence[TableRow]) -> str:
        parts = [part(row) for row in rows]
        over = " over all formats" if math.isfinite(rows[-1]["value"]) else ""
        text = f"{', '.join(parts[:-1])}{over}, {parts[-1]}"
        return f"{text[0].upper()}{text[1:]}."

    return answers_of_groups(table_of(result, "summary"), sentence)


@analysis(
    title="Summary of an entity",
    question="How do the answers on each entity lean, and how consistent are they?",
    topic="bias",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=summary_charts,
    compares=("format",),
    keeps=CONDITIONS[1:],
    references=(
        "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona",
        "Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x",
        "Lin (1991) doi:10.1109/18.61115",
        "Efron (1979) doi:10.1214/aos/1176344552",
    ),
    keywords=(
        "radar",
        "triangle",
        "spider chart",
        "brand profile",
        "summary",
        "overview",
        "bias",
        "repeatability",
        "consistency",
        "entropy",
        "divergence",
        "agreement of formats",
    ),
    requires="formats",
    in_reports=True,
)
def consistency_summary(
    option_counts: pd.DataFrame,
    *,
    by: By = ("respondent",),
    direction: Positive = "keyed",
    midpoint: Midpoint = "bank",
    reported: Reported = "corrected",
    resample: Resample = "item",
    ci_level: ConfidenceLevel = 0.95,
    resamples: UnitResamples = 1000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Share of positive answers, repeatability and agreement of formats, from 0 to 1.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        How often each option or status came up, by format and conditions.
    by : tuple of factors
        Groups to set side by side; formats are always apart and are ignored here.
    direction : "keyed", "form" or "chosen"
        What a positive answer is; see `answer_sides`.
    midpoint : "bank", "coin", "half" or "drop"
        What an answer of stance 0 counts as.
    resample : "item", "context" or "repetition"
        What is drawn as a whole.
    ci_level, resamples, seed : float, int, int
        Coverage of the intervals, resamples of whole units (0 for none), seed of coins and draws.

    Returns
    -------
    AnalysisResult
        `summary`, three rows for each group: `measure`, `value` (0 to 1) with `ci_low`, `ci_high`,
        `n_items`, `remark`.

    Raises
    ------
    NotEnoughData
        There are no trials, none of the three is defined anywhere, or the frame lacks a factor.
        Where one is undefined, it is NaN with the reason, and the others stand.

    Notes
    -----
    The unit of analysis is an item. Positive answers: as in `bias`. Repeatability: 1 minus the sum
    of the entropies of yes and no over that of as many even answers, as in `random_consistency`;
    as published over the maximum, which makes it too high where answers are few, and without an
    interval.
    Agreement of formats: 1 minus the mean over items of the mean Jensen-Shannon divergence of the
    pairs of formats, in bits, of yes and no, beyond that of answers dealt to formats at random, as
    in `referential_consistency`; as published with what chance gives, and without an interval.
    Sánchez Salazar (2024) draws the three as a triangle.
    Reproduces tables 4.4 to 4.6 of that thesis from its own answers.
    """
    names = tuple(name for name in distinct(by) if name != "format")
    cell = distinct((*names, "format", "item", resample))
    sides = answer_sides(option_counts, cell, midpoint=midpoint, direction=direction)
    cells = side_cells(sides, names, resample)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    columns = (
        _positive(cells, resample, bootstrap, ci_level),
        _repeatability(option_counts, cells, midpoint, reported, resample, bootstrap, ci_level),
        _agreement(option_counts, cells, midpoint, reported, resample, bootstrap, ci_level, seed),
    )
    if not any(math.isfinite(one.value) for own in columns for one in own):
        raise NotEnoughData(
            "No answer is positive or negative.",
            "Give the options of the bank a stance, or choose another rule for the middle.",
        )
    table = _table(cells, columns, ci_level, resample)
    used, unusable = (int(cells.totals(name).sum()) for name in ("n", "unusable"))
    return AnalysisResult(
        tables=(table,),
        unit="one item; its answers in all formats",
        n_used=used,
        n_missing=unusable,
        n_left_out=int(cells.totals("trials").sum()) - used - unusable,
        method="Share of positive answers (mean over items, then formats), 1 − normalized entropy, "
        "and 1 − mean Jensen-Shannon divergence of pairs of formats (bits), answers as yes or no"
        + (
            f"; {ci_level * 100:g}% intervals from {resamples:,} resamples of whole "
            f"{UNIT_WORDS[resample]} (seed {seed})."
            if bootstrap
            else "; no intervals asked for."
        ),
        cautions=tuple(_cautions(table, cells)),
        notes=(*data_notes(option_counts), _AXES_DIFFER),
    )


_AXES_DIFFER = (
    "The three measures are not on one scale: .5 is neutral for positive answers, and 1 is the "
    "best for the others. Compare groups on a measure, and not the areas of triangles."
)


def _positive(
    cells: SideCells, unit: ResampleUnit, bootstrap: Bootstrap | None, level: float
) -> list[_Measure]:
    """The share of positive answers of each group."""
    own = leaning(cells.counts, bootstrap=bootstrap, level=level)
    n_items = items_answered(cells.counts).any(axis=1).sum(axis=1)
    values = (own.share, own.low, own.high)
    return _measures(POSITIVE, *values, n_items, own.n_units, unit, _NO_SIDE)


def _repeatability(
    option_counts: pd.DataFrame,
    cells: SideCells,
    midpoint: MidpointRule,
    reported: StatisticForm,
    unit: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
) -> list[_Measure]:
    """1 minus the entropies of repeated answers over those of even ones, for each group."""
    answers = repeated_answers(
        option_counts,
        cells.names,
        coding="sides",
        repeats="same",
        midpoint=midpoint,
        resample=unit,
    )
    own = item_entropies(answers, "nats")
    (sums,) = entropy_sums(own, [list(cells.names)], unit, bootstrap, level)
    groups = list(sums.labels.itertuples(index=False, name=None)) if cells.names else [()]
    place = [groups.index(group) for group in cells.groups]
    items = own.answers.items[own.defined].drop_duplicates([*cells.names, "item"])
    if cells.names:
        counted = items.groupby(list(cells.names), sort=False).size().to_dict()
        keys = [group[0] if len(group) == 1 else group for group in cells.groups]
        n_items = np.array([counted.get(key, 0) for key in keys])
    else:
        n_items = np.array([len(items)])
    n_units = n_items if unit == "item" else sums.n_units[place]
    values = (sums.corrected_repeatability[place], sums.low[place], sums.high[place])
    if reported == "published":
        values = (sums.repeatability[place], *np.full((2, len(place)), np.nan))
    return _measures(REPEATABILITY, *values, n_items, n_units, unit, _NOT_REPEATED)


def _agreement(
    option_counts: pd.DataFrame,
    cells: SideCells,
    midpoint: MidpointRule,
    reported: StatisticForm,
    unit: ResampleUnit,
    bootstrap: Bootstrap | None,
    level: float,
    seed: int,
) -> list[_Measure]:
    """1 minus the mean divergence of pairs of formats over items beyond chance, for each group."""
    answers = format_answers(option_counts, cells.names, midpoint, unit)
    if len(answers.formats) < 2:
        none, no_items = np.full(len(cells.groups), np.nan), np.zeros(len(cells.groups), np.int64)
        return _measures(AGREEMENT, none, none, none, no_items, no_items, unit, _ONE_FORMAT)
    test = tested(answers, _DEALS, seed) if reported == "corrected" else None
    measured = divergences(answers, test, unit, bootstrap, level)
    groups = list(answers.groups.itertuples(index=False, name=None)) if cells.names else [()]
    place = [groups.index(group) for group in cells.groups]
    mean, chance, low, high = (
        part[0][place, 0] for part in (measured.means, measured.chance, measured.low, measured.high)
    )
    values = 1 - mean + (chance if reported == "corrected" else 0.0)
    defined = np.isfinite(measured.items)
    n_items = np.bincount(answers.group[defined], minlength=len(groups))[place]
    n_units = n_items if unit == "item" else answers.n_units[place]
    return _measures(AGREEMENT, values, 1 - high, 1 - low, n_items, n_units, unit, _ONE_FORMAT)


def _measures(
    name: str,
    value: Floats,
    low: Floats,
    high: Floats,
    n_items: Any,
    n_units: Any,
    unit: ResampleUnit,
    why_undefined: str,
) -> list[_Measure]:
    one = f"No interval: it needs two {UNIT_WORDS[unit]}, and there is one."
    numbers = (own.tolist() for own in (value, low, high))
    return [
        _Measure(
            name,
            v,
            a,
            b,
            int(n_own),
            why_undefined if math.isnan(v) else one if units < 2 else "",
        )
        for v, a, b, n_own, units in zip(*numbers, n_items, n_units, strict=True)
    ]


def _table(
    cells: SideCells, columns: Sequence[Sequence[_Measure]], ci_level: float, unit: ResampleUnit
) -> ResultTable:
    """Three rows for each group."""
    interval = f"{ci_level * 100:g}% CI"
    text = unit_interval_help(UNIT_WORDS[unit])
    declared = (
        *factor_columns(cells.names),
        key(
            "measure",
            "Measure",
            "Positive answers: mean share over items and formats, .5 is "
            "neutral. Repeatability: 1 − entropy (Shannon, 1948) / that of as many "
            "even answers; as published, / the maximum. Agreement of formats: "
            "1 − mean Jensen-Shannon divergence (Lin, 1991) beyond chance, or as published.",
        ),
        *estimate(
            "value",
            "Value",
            "proportion",
            "0 to 1. Sánchez Salazar (2024).",
            text,
            ends_title=interval,
        ),
        count("n_items", "Items", "Items that the measure is computed from."),
        remark("Why a number is undefined."),
    )
    rows = [(*group, *own[place]) for place, group in enumerate(cells.groups) for own in columns]
    frame = pd.DataFrame(rows, columns=[column.name for column in declared])
    return ResultTable("summary", "Summary", frame, declared)


def _cautions(table: ResultTable, cells: SideCells) -> list[str]:
    """What is undefined, by group."""
    frame = table.frame
    undefined = frame[frame["remark"] != ""]
    return [
        about(group_name([row[name] for name in cells.names]), row["remark"], row["measure"])
        for row in undefined.to_dict("records")
    ]

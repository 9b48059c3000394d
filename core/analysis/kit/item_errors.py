"""Errors of item means, by what repeats an item, for correlations over items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, get_args

import numpy as np
import pandas as pd

from core.analysis.kit.option_counts import cell_codes, sums_over_cells
from core.analysis.kit.registry import Choice
from core.analysis.kit.rows import codes_of
from core.analysis.kit.sentences import TableRow, coefficient_text, interval_text
from core.domain.factors import levels_word
from core.domain.notes import undefined_note
from core.domain.results import Column
from core.domain.tables import LEVEL, estimate, number, text
from core.stats.inputs import Floats, Integers, ratios
from core.stats.reliability.item_means import (
    CorrectedCorrelation,
    MeanParts,
    UnitDeviations,
    corrected_correlation,
    unit_covariances,
    unit_deviations,
)

RepeatRule = Literal["automatic", "repetitions", "contexts", "respondents", "templates"]
_MOST_CELLS, _FEW_CELLS, _CELLS_OF_ANSWER = 10_000_000, 1_000_000, 20
"""Cells times items: at most, of any number of answers, and for each answer. People of booklets who
came in as repetitions have many cells for few answers, nearly all of them empty."""
_UNITS = ("repetition", "context", "respondent", "template")
_UNIT_OF: Mapping[RepeatRule, str] = dict(zip(get_args(RepeatRule)[1:], _UNITS, strict=True))
Repeats = Annotated[
    RepeatRule,
    Choice(
        "Errors of item means are over",
        (
            ("automatic", "Repetitions, else contexts or templates"),
            ("repetitions", "Repetitions: what would asking again change?"),
            ("contexts", "Contexts: what would other personas or conversations change?"),
            ("respondents", "Respondents: what would other ones change?"),
            ("templates", "Templates: what would other wordings of the prompt change?"),
        ),
        help="A mean of few answers has an error, which makes r smaller. How reliable means are is "
        "seen in what repeats an item; r is corrected for it.",
    ),
]


@dataclass(frozen=True, eq=False)
class ItemErrors:
    """Errors of the means of each row, such as a language of a group.

    `over` has deviations of what may repeat items, for each row, in the order in which they are
    looked for; `rule` says what was asked for, `together` whether repetitions are counted together.
    """

    over: Mapping[str, tuple[UnitDeviations, ...]]
    rule: RepeatRule
    together: bool

    def merged(self, first: Integers, second: Integers) -> ItemErrors:
        """Those of half the difference of two items where `second` is not -1, else of `first`."""
        return ItemErrors(
            {
                unit: tuple(
                    replace(
                        own,
                        values=np.where(
                            second >= 0,
                            (own.values[:, first] - own.values[:, second]) / 2,
                            own.values[:, first],
                        ),
                    )
                    for own in rows
                )
                for unit, rows in self.over.items()
            },
            self.rule,
            self.together,
        )

    def corrected(
        self, rows: tuple[int, int], first: Floats, second: Floats, level: float
    ) -> tuple[CorrectedCorrelation, str]:
        """R of the means of two rows without their errors, and what the errors are over."""
        items = np.isfinite(first) & np.isfinite(second)
        for unit, deviations in self.over.items() if min(rows) >= 0 else ():
            errors = unit_covariances(deviations[rows[0]], deviations[rows[1]], items)
            if not math.isnan(errors[0]):
                result = corrected_correlation(first, second, errors, level=level)
                return result, levels_word(unit)
        nothing = corrected_correlation(first, second, (math.nan,) * 3, level=level)
        return replace(nothing, problems=(_no_errors_reason(self),)), ""


def item_errors(
    n: Floats,
    sums: Floats,
    cells: pd.DataFrame,
    row: Integers,
    *,
    alike: Sequence[str],
    rule: RepeatRule,
) -> ItemErrors:
    """The errors of means of items.

    Parameters
    ----------
    n, sums : (cells, items)
        Answers and their sums.
    cells : frame
        What each cell is, in columns that may be a repetition and conditions.
    row : (cells,)
        The row of means that each cell belongs to.
    alike : sequence of columns
        A mean of a row is that of the means of their combinations, and pools answers in each.
    rule : str
        What the errors are over.
    """
    keys = cells.assign(row=row)
    part = cell_codes(keys, ("row", *alike))[0]
    n_of_part = sums_over_cells(n, part)
    row_of_part = np.zeros(len(n_of_part), dtype=np.int64)
    row_of_part[part] = row
    n_parts = sums_over_cells((n_of_part > 0) * 1.0, row_of_part)
    weight = np.nan_to_num(ratios(n, n_of_part[part] * n_parts[row]))
    parts = MeanParts(row, np.nan_to_num(ratios(sums, n)), weight)
    over: dict[str, tuple[UnitDeviations, ...]] = {}
    for unit in _UNITS if rule == "automatic" else (_UNIT_OF[rule],):
        if unit not in cells or len(cells[unit].unique()) < 2:
            continue
        if unit == "repetition":
            same = cell_codes(keys, [str(name) for name in keys if name != unit])[0]
            over[unit] = unit_deviations(parts, np.arange(len(cells)), same)
        else:
            over[unit] = unit_deviations(parts, cell_codes(cells, (unit,))[0])
        repeated = [np.isfinite(own.values).all(axis=0) for own in over[unit]]
        if rule == "automatic" and (np.array(repeated) | (n_parts == 0)).all():
            break  # nothing else will be looked for
    return ItemErrors(over, rule, bool((n > 1).any()) and "repetition" not in cells)


def with_units(
    rows: pd.DataFrame, cell: Sequence[str], n_items: int, units: Sequence[str] = ("repetition",)
) -> tuple[str, ...]:
    """The columns of a cell, with the units that there are unless cells get too many for items.

    Then the unit with the most values is left out, as where each story has its own context, and
    its answers are counted together.
    """
    apart = [name for name in units if name in rows and name not in cell]
    apart.sort(key=lambda name: len(cell_codes(rows, (name,))[1]))
    most = min(_MOST_CELLS, max(_FEW_CELLS, _CELLS_OF_ANSWER * len(rows)))
    while apart and len(cell_codes(rows, (*cell, *apart))[1]) * n_items > most:
        apart.pop()
    return (*cell, *(name for name in units if name in apart))


def without_repetitions(option_counts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The counts summed over repetitions, unless these are among the groups."""
    if "repetition" not in option_counts or "repetition" in by:
        return option_counts
    code = np.zeros(len(option_counts), dtype=np.int64)
    for name in option_counts:
        if name not in ("repetition", "count"):
            own = codes_of(option_counts[name])[0]
            code = pd.factorize(code * (own.max(initial=0) + 1) + own)[0]
    first = np.unique(code, return_index=True)[1]
    rows = option_counts.iloc[first].drop(columns="repetition")
    return rows.assign(count=np.bincount(code, option_counts["count"], len(first)).astype(np.int64))


def _no_errors_reason(errors: ItemErrors) -> str:
    """Why no reliability is known."""
    if errors.together and errors.rule in ("automatic", "repetitions"):
        what = "repetitions are counted together"
    elif errors.rule == "automatic":
        what = (
            "no item has two answers under the same conditions, and neither contexts, respondents "
            "nor templates repeat it"
        )
    elif errors.rule == "repetitions":
        what = "no item has two answers under the same conditions"
    else:
        what = f"items are not repeated over {errors.rule}"
    return undefined_note(f"Reliability unknown: {what}, so r is not corrected for errors.")


def _within_one(r: float) -> float:
    """A corrected correlation as a sentence has it: no farther from 0 than 1."""
    return min(max(r, -1.0), 1.0)


def corrected_text(rows: Sequence[TableRow]) -> str:
    """Reliabilities and corrected r of some pairs, for the end of a sentence on their r."""
    known = [row for row in rows if row["errors_over"] and math.isfinite(row["reliability_first"])]
    if not known:
        return "; how reliable the means of items are is unknown"
    reliabilities = [row[f"reliability_{side}"] for row in known for side in ("first", "second")]
    ends = [coefficient_text(end) for end in (min(reliabilities), max(reliabilities))]
    over = " or ".join(dict.fromkeys(str(row["errors_over"]) for row in known))
    text = f"; the means of items have a reliability of {' to '.join(dict.fromkeys(ends))} ({over})"
    defined = sorted((r for r in known if math.isfinite(r["r_corrected"])), key=_corrected_r)
    if not defined:
        return f"{text}, and r without their errors is undefined"
    values = [_corrected_r(row) for row in defined]
    parts = [
        coefficient_text(_within_one(row["r_corrected"]))
        + interval_text(_within_one(row["corrected_low"]), _within_one(row["corrected_high"]))
        for row in (defined[0], defined[-1])
    ]
    text += f", and without their errors r is {parts[0]}"
    if len(defined) > 1:
        median = coefficient_text(_within_one(float(np.median(values))))
        text += f" to {parts[1]}, median {median}"
    if values[-1] > 1:
        text += f" ({coefficient_text(values[-1])} is computed: as equal as the data can tell)"
    return text


def _corrected_r(row: TableRow) -> float:
    return float(row["r_corrected"])


def corrected_columns(value: str, level: str = LEVEL) -> tuple[Column, ...]:
    """The columns of both reliabilities and of corrected r; `value` is what has errors."""
    reliability = (
        f"Share of the variance of {value} over items that is no error: ICC(1,k) of repetitions, "
        "Cronbach's alpha of contexts, respondents or templates."
    )
    return (
        number("reliability_first", "Reliability, first", "correlation", reliability),
        number("reliability_second", "Reliability, second", "correlation", reliability),
        *estimate(
            "r_corrected",
            "Disattenuated r",
            "correlation",
            "r without the errors of both: the covariance less what errors share / √(variances "
            "without errors); Spearman (1904) doi:10.2307/1412159. Above 1 it means as equal as "
            "the data can tell.",
            "Fisher's of r, both ends divided by √(reliability × reliability); Hunter & Schmidt "
            "(2004). Narrower where errors are shared.",
            ends_title=f"Disattenuated {level}",
            ends_name="corrected",
        ),
        text("errors_over", "Errors over", "What repeats an item."),
    )

"""Charts of preference: shares of wins, arrows from winner to loser, repetitions, strengths."""

from __future__ import annotations

from core.charts.dots import DotAxis, dot_chart
from core.charts.panels import (
    Chart,
    Theme,
    chart_rows,
    largest_count,
    limit_marks,
    range_text,
    rows_by_chart,
    short_number,
    table_with_rows,
    with_undrawn_count,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult

_EVEN = 0.5


def preference_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Wins of each pair and format."""
    return (*_share_charts(result, theme),)


def _share_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """A dot plot for each pair: a row for each format, and a line at one half."""
    table = table_with_rows(result, "shares")
    if table is None:
        return ()
    columns = {"first": "first", "second": "second", "format": "item", "share": "value",
               "ci_low": "ci_low", "ci_high": "ci_high", "n": "n"}  # fmt: skip
    frame = chart_rows(table, columns, "first")
    frame["pair"] = frame["first"] + " over " + frame["second"]
    charts = []
    for pair, own in rows_by_chart(frame, "pair"):
        drawn, left_out = limit_marks(own.drop(columns=["first", "second", "pair"]), 5)
        drawn = drawn.reset_index(drop=True)
        drawn["label"] = [short_number(value) for value in drawn["value"]]
        known = drawn["value"].dropna()
        words = (
            f"Dot plot of the share of wins of {pair}: {count_text(drawn['item'].nunique(), 'row')}"
            f" (formats and their mean) in {count_text(drawn['group'].nunique(), 'group')}, n up "
            f"to {count_text(largest_count(drawn['n']), 'answer')}: {range_text(known)}; "
            f"{int((known > _EVEN).sum())} of {len(known)} above the dashed line at .5, where "
            f"none is preferred.{left_out}"
        )
        axis = DotAxis("Share of wins with interval", lambda _rows: (0.0, 1.0), (_EVEN,),
                       of="Format", common=True)  # fmt: skip
        lines = ["Dashed: .5, where none of the two is preferred."]
        charts.append(dot_chart(drawn, axis, pair, words, theme, lines, left_out))
    return with_undrawn_count(charts, frame["pair"].nunique())

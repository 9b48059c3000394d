"""Dot plots of standardized loadings with their intervals, one for each factor."""

from __future__ import annotations

from core.charts.colors import Theme
from core.charts.dots import DotAxis, dot_chart
from core.charts.panels import (
    Chart,
    cut,
    first_charts,
    grouped,
    short,
    span,
    table_of,
    told,
)
from core.charts.reach import FARTHEST
from core.domain.counts import counted
from core.domain.results import AnalysisResult


def loading_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Standardized loadings of each factor, a panel for each group."""
    table = table_of(result, "loadings")
    if table is None:
        return ()
    kept = ("factor", "item", "standardized", "standardized_low", "standardized_high", "p")
    frame = grouped(table, kept, "factor").rename(
        columns={"standardized": "value", "standardized_low": "ci_low",
                 "standardized_high": "ci_high"}
    )  # fmt: skip
    fit = table_of(result, "fit")
    n: dict[str, int] = dict(grouped(fit, ("n",), "chi2").itertuples(index=False)) if fit else {}
    frame["n"] = frame["group"].map(n)
    fitted = frame["value"].notna().groupby(frame["group"], sort=False).any()
    without = [str(group) for group, any_found in fitted.items() if not any_found]
    frame = frame[~frame["group"].isin(without)]
    not_drawn = f" Without estimates, not drawn: {', '.join(without)}." if without else ""
    charts = []
    for factor, own in first_charts(frame, "factor"):
        drawn, left_out = cut(own.drop(columns="factor"), 5)
        drawn = drawn.reset_index(drop=True)
        drawn["label"] = [short(value) for value in drawn["value"]]
        known = drawn["value"].dropna()
        counts = "; ".join(
            f"{group}: n = {int(n.get(group, 0)):,}" for group in dict.fromkeys(drawn["group"])
        )
        words = (
            f"Dot plot of standardized loadings on {factor}: "
            f"{counted(drawn['item'].nunique(), 'item')} in "
            f"{counted(drawn['group'].nunique(), 'group')} ({counts}): {span(known)}; "
            f"{int((known < 0).sum())} below 0; {len(drawn) - len(known)} undefined, left "
            f"empty.{left_out}{not_drawn}"
        )
        within = drawn[["value", "ci_low", "ci_high"]].clip(-FARTHEST, FARTHEST)
        low = min(0.0, float(within.min().min()))
        high = max(1.0, float(within.max().max()))
        axis = DotAxis("Standardized loading with interval", (low, high), (0.0,))
        title = f"Loadings on {factor}"
        charts.append(dot_chart(drawn, axis, title, words, theme))
    return told(charts, frame["factor"].nunique())

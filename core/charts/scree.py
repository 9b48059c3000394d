"""Exploratory factors: eigenvalues beside chance, and loadings."""

from __future__ import annotations

import altair as alt
import pandas as pd

from core.charts.colors import INK, MARK, Theme
from core.charts.maps import factor_loadings_chart
from core.charts.panels import (
    Chart,
    cut,
    grouped,
    number_tip,
    panels,
    table_of,
    two_decimals,
    with_number_texts,
)
from core.domain.counts import counted
from core.domain.results import AnalysisResult, ResultTable

_HEIGHT = 280


def exploratory_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The scree plot with chance, and the loadings."""
    eigenvalues, loadings = table_of(result, "eigenvalues"), table_of(result, "loadings")
    charts = []
    if eigenvalues is not None:
        charts.append(_scree_chart(eigenvalues, theme))
    if loadings is not None:
        charts.append(factor_loadings_chart(loadings, theme))
    return tuple(charts)


def _scree_chart(table: ResultTable, theme: Theme) -> Chart:
    """Eigenvalues, and below which they may be chance; a panel for each group."""
    kept = ("number", "eigenvalue", "chance_percentile", "stands_out")
    frame, left_out = cut(grouped(table, kept, "number"), 2)
    own = frame.drop(columns="chance_percentile").rename(columns={"eigenvalue": "value"})
    chance = frame.drop(columns="eigenvalue").rename(columns={"chance_percentile": "value"})
    drawn = pd.concat([own.assign(kind="eigenvalue"), chance.assign(kind="chance")])
    drawn = drawn.sort_values(["group", "kind", "number"], kind="stable")
    drawn["group"] = pd.Categorical(drawn["group"], list(dict.fromkeys(frame["group"])))
    drawn = drawn.sort_values("group", kind="stable").astype({"group": object})
    drawn = drawn.drop(columns="stands_out").reset_index(drop=True)
    last = int(drawn["number"].max())
    x = alt.X("number:Q", title="Number", axis=alt.Axis(tickMinStep=1, format="d"),
              scale=alt.Scale(domain=[0.5, last + 0.5], nice=False))  # fmt: skip
    top = max(drawn["value"].max(), 1.0) * 1.1
    y = alt.Y("value:Q", title="Eigenvalue",
              scale=alt.Scale(domain=[min(0.0, drawn["value"].min()), top]))  # fmt: skip
    tooltip = [
        alt.Tooltip("kind:N", title="Kind"),
        alt.Tooltip("number:Q", title="Number"),
        number_tip("value", "Value"),
    ]
    base = with_number_texts(alt.Chart(), "value").encode(x=x, y=y, tooltip=tooltip)
    items = base.transform_filter("datum.kind == 'eigenvalue'")
    limit = base.transform_filter("datum.kind == 'chance'")
    layers = alt.layer(
        items.mark_line(color=MARK[theme], strokeWidth=2),
        items.mark_point(filled=True, size=60, color=MARK[theme], opacity=1),
        limit.mark_line(color=INK[theme], strokeWidth=1.5, strokeDash=[5, 4]),
    ).properties(height=_HEIGHT)
    counts = frame[frame["stands_out"] == "yes"].groupby("group").size()
    suggested = "; ".join(
        f"{group}: {counts.get(group, 0)}" for group in dict.fromkeys(frame["group"])
    )
    words = (
        f"Scree plot: eigenvalues of the correlations of up to "
        f"{counted(int(frame['number'].max()), 'item')} in "
        f"{counted(frame['group'].nunique(), 'group')}, the largest "
        f"{two_decimals(float(frame['eigenvalue'].max()))}; above the 95th percentile of chance "
        f"stand, by group: {suggested}.{left_out}"
    )
    said = ["Solid with points: eigenvalues. Dashed: 95th percentile of chance."]
    title = "Eigenvalues beside chance"
    return Chart(title, panels(layers, drawn, title, theme, said), words, drawn)

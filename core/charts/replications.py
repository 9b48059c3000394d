"""Published values beside the user's own: a hollow diamond and a dot with its interval."""

from __future__ import annotations

from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.estimates import free_ends
from core.charts.panels import (
    INK,
    MARK,
    Chart,
    Theme,
    heading,
    items_axis,
    number_tip,
    short_number,
    with_number_texts,
)
from core.domain.numbers import count_text
from core.domain.results import ResultTable

_MOST_ROWS = 80
_ROW = 24  # pixels
_NAMED = 5  # pairs in the text for those who do not see the chart
_SHOWN = 4  # decimals in tooltips, as printed at most
_LEGEND = (
    "Hollow diamond: published. Dot with line: yours, with its 95% interval where there is one."
)


def comparison_chart(table: ResultTable, quantity: str, theme: Theme) -> Chart | None:
    """The published and the own values of one quantity; None where no pair of them is known.

    Parameters
    ----------
    table : ResultTable
        Of a comparison (core/workflow/replications/comparing.py): keys, then `quantity`,
        `yours_of`, `published`, `yours`, `ci_low`, `ci_high`, `comes_out` and `n`.
    quantity : str
        Which of its numbers.
    theme : "light" or "dark"
        What the chart stands on.
    """
    frame = table.frame[table.frame["quantity"] == quantity]
    pairs = frame[frame["published"].notna() & frame["yours"].notna()]
    if pairs.empty:
        return None
    rows = _rows(pairs)
    first_rows = rows.head(_MOST_ROWS)
    left_out = (
        f"Only the first {_MOST_ROWS} of {len(rows)} rows are drawn."
        if len(rows) > len(first_rows)
        else ""
    )
    title = f"{quantity}: published and yours"
    spec = _layers(first_rows, quantity, theme).properties(
        data=first_rows,
        width="container",
        title=heading(title, theme, [_LEGEND, *([left_out] if left_out else [])]),
    )
    return Chart(
        title,
        spec,
        _words(first_rows, quantity, left_out),
        first_rows,
        item_columns=(),
        left_out=left_out,
    )


def _rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair of values, labelled with its keys."""
    keys = list(pairs.columns)[: list(pairs.columns).index("quantity")]
    item = [" · ".join(str(cell) for cell in row if cell) for row in pairs[keys].to_numpy()]
    if len(set(item)) < len(item):  # several of the user's numbers beside one printed
        item = [" · ".join(both) for both in zip(item, pairs["yours_of"], strict=True)]
    return pd.DataFrame(
        {
            "item": item,
            "value": pairs["yours"].to_numpy(),
            "ci_low": pairs["ci_low"].to_numpy(),
            "ci_high": pairs["ci_high"].to_numpy(),
            "published": pairs["published"].to_numpy(),
            "yours_of": pairs["yours_of"].to_numpy(),
            "n": pairs["n"].to_numpy(),
        }
    )


def _layers(rows: pd.DataFrame, quantity: str, theme: Theme) -> Any:
    low, high = free_ends(rows, tuple(rows["published"].astype(float)))
    scale = alt.Scale(domain=[low, high], clamp=True, nice=False)

    def across(field: str) -> Any:
        axis = alt.Axis(tickCount=6, labelFlush=False)
        return alt.X(f"{field}:Q", title=quantity, scale=scale, axis=axis)

    base = with_number_texts(
        alt.Chart().encode(y=items_axis(rows)),
        "value",
        "ci_low",
        "ci_high",
        "published",
        decimals=_SHOWN,
    )
    tooltip = [
        alt.Tooltip("item:N", title="Published for"),
        alt.Tooltip("yours_of:N", title="Of yours"),
        number_tip("published", "Published"),
        number_tip("value", "Yours"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="n"),
    ]
    rules = base.mark_rule(color=MARK[theme], strokeWidth=1.5).encode(
        x=across("ci_low"), x2=alt.X2("ci_high:Q"), tooltip=tooltip
    )
    dots = base.mark_point(filled=True, size=60, color=MARK[theme], opacity=1)
    diamonds = base.mark_point(
        filled=False, shape="diamond", size=150, stroke=INK[theme], strokeWidth=2, opacity=1
    )
    return alt.layer(
        rules,
        dots.encode(x=across("value"), tooltip=tooltip),
        diamonds.encode(x=across("published"), tooltip=tooltip),
    ).properties(height=alt.Step(_ROW, **{"for": "position"}))


def _words(rows: pd.DataFrame, quantity: str, left_out: str) -> str:
    """What the chart shows, for those who do not see it."""
    first = rows.head(_NAMED)
    values = zip(first["item"], first["published"].tolist(), first["value"].tolist(), strict=True)
    pairs = "; ".join(
        f"{item}: {short_number(published, _SHOWN)} published, {short_number(yours, _SHOWN)} yours"
        for item, published, yours in values
    )
    further = f"; {len(rows) - _NAMED} more in the table" if len(rows) > _NAMED else ""
    return (
        f"Dot plot of {quantity}, {count_text(len(rows), 'pair')} of a published value and yours. "
        f"{pairs}{further}. {left_out}"
    ).strip()

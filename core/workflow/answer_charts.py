"""Pictures of what came back: usable answers and the kinds of missing ones, by respondent."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from core.charts import Chart
from core.charts.colors import BACKGROUNDS, INK, MARK, STATUS_GREYS, Theme, readable_on
from core.charts.panels import number_tip, with_number_texts
from core.domain.counts import counted
from core.domain.rounding import percent_text
from core.domain.study import Status
from core.workflow.answers import STATUS_WORDS

_MAX_BARS = 30
_USABLE = tuple(STATUS_WORDS[status] for status in Status if status.usable)
_CHARACTER = 0.011  # share of the width that a letter of a label takes, roughly


def status_chart(overview: pd.DataFrame, *, theme: Theme = "light") -> Chart:
    """100 % bars of the statuses of each respondent's trials, from `answers.overview`.

    Missing answers are grey with a dashed outline; segments with room for it carry their name.
    """
    statuses = [name for name in overview.columns if name in STATUS_WORDS.values()]
    shown = overview.head(_MAX_BARS)
    table = shown.melt("respondent", statuses, "status", "count")
    planned = dict(zip(shown["respondent"], shown["planned"], strict=True))
    table = table[table["count"] > 0].assign(planned=lambda t: t["respondent"].map(planned))
    table["share"] = table["count"] / table["planned"]
    words = _in_words(overview)
    drawn = _placed(table, theme)
    return Chart("Status by respondent", _spec(drawn, theme), words, table.reset_index(drop=True))


def _placed(table: pd.DataFrame, theme: Theme) -> pd.DataFrame:
    """Where each segment starts and ends, with its color and label."""
    end = table.groupby("respondent", sort=False)["share"].cumsum().clip(upper=1)
    missing = ~table["status"].isin(_USABLE)
    greys = STATUS_GREYS[theme]
    kinds = list(dict.fromkeys(table.loc[missing, "status"]))
    fills = {word: MARK[theme] for word in _USABLE}
    fills |= {word: greys[number % len(greys)] for number, word in enumerate(kinds)}
    room = table["share"] > table["status"].str.len() * _CHARACTER
    fill = table["status"].map(fills)
    return table.assign(
        start=(end - table["share"]).clip(lower=0),
        end=end,
        missing=missing,
        fill=fill,
        ink=fill.map(readable_on),
        label=table["status"].where(room, ""),
    )


def _spec(drawn: pd.DataFrame, theme: Theme) -> Any:
    respondents = list(dict.fromkeys(drawn["respondent"]))
    base = alt.Chart(drawn).encode(
        y=alt.Y("respondent:N", title=None, sort=respondents, axis=alt.Axis(labelLimit=240))
    )
    labelled = with_number_texts(base, "share", decimals=1, percent=True)
    bars = labelled.mark_bar(strokeWidth=1.5).encode(
        x=alt.X("start:Q", title="Share of all trials", axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1])),
        x2="end:Q",
        color=alt.Color("fill:N", scale=None),
        strokeDash=alt.condition(alt.datum.missing, alt.value([3, 2]), alt.value([1, 0])),
        stroke=alt.condition(
            alt.datum.missing, alt.value(INK[theme]), alt.value(BACKGROUNDS[theme])
        ),
        tooltip=[
            alt.Tooltip("respondent:N", title="Respondent"),
            alt.Tooltip("status:N", title="Status"),
            alt.Tooltip("count:Q", title="Trials", format=","),
            number_tip("share", "Share"),
        ],
    )  # fmt: skip
    labels = base.transform_calculate(middle=(alt.datum.start + alt.datum.end) / 2).mark_text(
        fontSize=11
    )
    labels = labels.encode(
        x=alt.X("middle:Q", title="Share of all trials"),
        text="label:N",
        color=alt.Color("ink:N", scale=None),
    )
    return alt.layer(bars, labels).properties(height=alt.Step(30), width="container")


def _in_words(overview: pd.DataFrame) -> str:
    """What the bars say."""
    planned, n = int(overview["planned"].sum()), int(overview["n"].sum())
    statuses = [name for name in overview.columns if name in STATUS_WORDS.values()]
    parts = ", ".join(f"{name} {int(overview[name].sum()):,}" for name in statuses)
    cut = ""
    if len(overview) > _MAX_BARS:
        cut = f" Only the first {_MAX_BARS} respondents are drawn; the table has all."
    return (
        f"Stacked bars of {counted(planned, 'trial')} by "
        f"{counted(len(overview), 'respondent')}: {parts}. "
        f"{percent_text(n / planned if planned else 0, 1)} are usable.{cut}"
    )

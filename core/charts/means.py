"""Dot plots of groups compared: their means, means beside norms, odds ratios of words."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from core.charts.colors import Theme
from core.charts.dots import DotAxis, dot_chart, free_ends
from core.charts.panels import (
    Chart,
    cut,
    first_charts,
    grouped,
    most,
    span,
    table_of,
    told,
    two_decimals,
)
from core.domain.counts import counted
from core.domain.results import AnalysisResult
from core.psychometrics.comparisons.mean_comparison import Summary, mean_interval


def norm_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The model's mean above the mean of the norms, scale by scale."""
    table = next(iter(result.tables), None)
    if table is None or table.frame.empty:
        return ()
    kept = ("scale", "mean", "sd", "n", "norm_mean", "norm_sd", "norm_n")
    frame = grouped(table, kept, "scale")
    both = []
    for who, names in (("model", ("mean", "sd", "n")),
                       ("norm", ("norm_mean", "norm_sd", "norm_n"))):  # fmt: skip
        own = frame[["group", "scale", *names]].set_axis(
            ["group", "scale", "value", "sd", "n"], axis=1
        )
        both.append(own.assign(item=own["scale"] + ", " + who))
    drawn = pd.concat(both).sort_index(kind="stable")
    means = zip(drawn["value"], drawn["sd"], drawn["n"], strict=True)
    ends = [mean_interval(Summary(mean, sd, n)) for mean, sd, n in means]
    drawn = drawn.assign(ci_low=[low for low, _ in ends], ci_high=[high for _, high in ends])
    drawn = drawn.drop(columns=["scale", "sd"])
    words = "Dot plot of the mean score and of the norms, with 95% intervals,"
    return (
        _means_chart(
            drawn, "Means beside norms", words, "mean", theme, "Mean score with 95% interval"
        ),
    )


def group_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Means of the groups that are compared, one chart for each scale."""
    table = table_of(result, "groups")
    if table is None:
        return ()
    names = [column.name for column in table.columns]
    level = names[names.index("scale") + 1]
    kept = {"scale": "scale", level: "item", "mean": "value", "ci_low": "ci_low",
            "ci_high": "ci_high", "n": "n"}  # fmt: skip
    frame = grouped(table, kept, "scale")
    frame["item"] = frame["item"].astype(str)
    charts = [
        _means_chart(
            own.drop(columns="scale"), f"Means by group, {scale}",
            f"Dot plot of mean scores on {scale}, with intervals,", "group compared", theme,
        )
        for scale, own in first_charts(frame, "scale")
    ]  # fmt: skip
    return told(charts, frame["scale"].nunique())


def odds_ratio_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The odds ratio of each list of words, on an axis of ratios."""
    table = table_of(result, "odds")
    if table is None:
        return ()
    kept = {"list": "item", "odds_ratio": "value", "ci_low": "ci_low", "ci_high": "ci_high",
            "total": "n", "other_total": "other_n"}  # fmt: skip
    frame = grouped(table, kept, "list")
    frame["n"] = frame["n"] + frame.pop("other_n")
    drawn, left_out = cut(frame, 5)
    drawn = drawn.reset_index(drop=True)
    nothing = drawn["value"] == 0  # a ratio of 0 has no place on such an axis
    zeros = "; ".join(f"{group}, {name}" for group, name in
                      drawn.loc[nothing, ["group", "item"]].itertuples(index=False))  # fmt: skip
    drawn[["value", "ci_low", "ci_high"]] = drawn[["value", "ci_low", "ci_high"]].where(~nothing)
    drawn["label"] = [two_decimals(value) for value in drawn["value"]]
    known = drawn["value"].dropna()
    logs = drawn.assign(**{name: np.log(drawn[name]) for name in ("value", "ci_low", "ci_high")})
    low, high = free_ends(logs, (0.0,))
    words = (
        f"Dot plot of odds ratios, with intervals, of {counted(drawn['item'].nunique(), 'list')} "
        f"of words in {counted(drawn['group'].nunique(), 'group')}, n up to "
        f"{counted(most(drawn['n']), 'word')}: {span(known)}; {int((known > 1).sum())} above 1, "
        f"towards the stereotype; {int(drawn['value'].isna().sum() - nothing.sum())} undefined."
        f"{f' Not drawn, because 0: {zeros}.' if zeros else ''}{left_out}"
    )
    title = "Odds ratios of listed words"
    axis = DotAxis("Odds ratio with interval", (math.exp(low), math.exp(high)), (1.0,), of="List",
                   decimals=2, log=True)  # fmt: skip
    said = ["Dashed: 1, no difference. To the right: as in the stereotype."]
    return (dot_chart(drawn, axis, title, words, theme, said),)


def _means_chart(
    frame: pd.DataFrame,
    title: str,
    words: str,
    noun: str,
    theme: Theme,
    axis_title: str = "Mean score with interval",
) -> Chart:
    """Labelled means with intervals."""
    drawn, left_out = cut(frame, 4)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [two_decimals(value) for value in drawn["value"]]
    known = drawn["value"].dropna()
    said = (
        f"{words} in {counted(drawn['group'].nunique(), 'group')}, n up to "
        f"{counted(most(drawn['n']), 'administration')}: {span(known)}; "
        f"{len(drawn) - len(known)} undefined.{left_out}"
    )
    axis = DotAxis(axis_title, free_ends(drawn, by="item"), of=noun.capitalize(), decimals=2)
    return dot_chart(drawn, axis, title, said, theme)

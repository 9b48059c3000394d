"""Dot plots of coefficients: discrimination, reliability, correlations of scores."""

from __future__ import annotations

import pandas as pd

from core.charts.colors import Theme
from core.charts.dots import DotAxis, correlation_ends, dot_chart
from core.charts.panels import (
    Chart,
    cut,
    first_charts,
    grouped,
    most,
    short,
    span,
    table_of,
    told,
)
from core.domain.counts import counted
from core.domain.results import AnalysisResult

_BAND = (0.4, 0.7)
_BAND_WORDS = "Shaded: .40 to .70, commonly called good"


def discrimination_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each subscale, with the band of good items."""
    frame = grouped(
        result.tables[0],
        ("subscale", "item", "discrimination", "ci_low", "ci_high", "n_discrimination"),
    ).rename(columns={"discrimination": "value", "n_discrimination": "n"})
    charts = []
    for subscale, own in first_charts(frame, "subscale"):
        shown, left_out = cut(own, 3)
        table = shown.drop(columns="subscale").reset_index(drop=True)
        known = table["value"].dropna()
        good = int(known.between(*_BAND).sum())
        words = (
            f"Dot plot of discrimination: {counted(table['item'].nunique(), 'item')} in "
            f"{counted(table['group'].nunique(), 'group')}, "
            f"n up to {counted(most(table['n']), 'administration')}: "
            f"{span(known)}; {good} of {len(known)} defined values lie in "
            "the shaded band from .40 to .70, commonly called good; "
            f"{len(table) - len(known)} undefined, left empty.{left_out}"
        )
        title = f"Discrimination, {subscale}" if subscale else "Discrimination"
        axis = DotAxis("Discrimination with interval", correlation_ends(table), band=_BAND)
        charts.append(dot_chart(table, axis, title, words, theme, [_BAND_WORDS]))
    return told(charts, frame["subscale"].nunique())


def alpha_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot of alpha by subscale."""
    frame = grouped(
        result.tables[0], ("subscale", "alpha", "ci_low", "ci_high", "n_administrations")
    ).rename(columns={"alpha": "value", "n_administrations": "n", "subscale": "item"})
    frame["item"] = frame["item"].replace("", "(no subscale)")
    words = "Dot plot of Cronbach's alpha"
    return (_coefficient_chart(frame, "Cronbach's α with interval", "α", words, "subscale", theme),)


def reliability_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: its coefficients."""
    table = table_of(result, "reliability")
    if table is None:
        return ()
    kept = ("scale", "coefficient", "value", "ci_low", "ci_high", "n")
    frame = grouped(table, kept, "scale").rename(columns={"coefficient": "item"})
    charts = [
        _coefficient_chart(
            own.drop(columns="scale"), f"Reliability, {scale or '(no subscale)'}",
            "Coefficient with interval", f"Dot plot of the reliability of {scale or 'no subscale'}",
            "coefficient", theme,
        )
        for scale, own in first_charts(frame, "scale")
    ]  # fmt: skip
    return told(charts, frame["scale"].nunique())


def score_correlation_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: Pearson's r of the pairs of levels."""
    table = table_of(result, "correlations")
    if table is None:
        return ()
    kept = ("scale", "first", "second", "kind", "r", "ci_low", "ci_high", "n_pairs")
    frame = grouped(table, kept, "scale").rename(columns={"r": "value", "n_pairs": "n"})
    frame = frame[frame["kind"] == "pearson"]
    pairs = frame["first"].astype(str) + " – " + frame["second"].astype(str)
    frame.insert(1, "item", pairs)
    frame = frame.drop(columns=["first", "second", "kind"])
    charts = [
        _coefficient_chart(
            own.drop(columns="scale"), f"Correlations of scores, {scale}",
            "Pearson's r with interval", f"Dot plot of Pearson's r on {scale}", "pair", theme,
        )
        for scale, own in first_charts(frame, "scale")
    ]  # fmt: skip
    return told(charts, frame["scale"].nunique())


def _coefficient_chart(
    frame: pd.DataFrame, title: str, axis_title: str, words: str, noun: str, theme: Theme
) -> Chart:
    """A labelled dot plot of values that are at most about 1; `noun` says what a row is."""
    table, left_out = cut(frame, 4)
    table = table.reset_index(drop=True)
    table["label"] = [short(value) for value in table["value"]]
    known = table["value"].dropna()
    said = (
        f"{words} of {counted(table['item'].nunique(), noun)} in "
        f"{counted(table['group'].nunique(), 'group')}, "
        f"n up to {counted(most(table['n']), 'administration')}: "
        f"{span(known)}; {len(table) - len(known)} undefined.{left_out}"
    )
    axis = DotAxis(axis_title, correlation_ends(table), of=noun.capitalize())
    return dot_chart(table, axis, title, said, theme)

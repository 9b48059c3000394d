"""Dot plots of models compared: steps of invariance, items by level, rival models."""

from __future__ import annotations

import math

import pandas as pd

from core.charts.colors import Theme
from core.charts.dots import DotAxis, dot_chart, free_ends
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
    two_decimals,
)
from core.domain.counts import counted
from core.domain.results import AnalysisResult

_CHEN = -0.01
_JODOIN_GIERL = (0.035, 0.07)
_CLASSES = {"negligible": "A", "moderate": "B", "large": "C"}


def invariance_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How far CFI falls at each step, beside the usual bound."""
    table = table_of(result, "steps")
    if table is None:
        return ()
    kept = ("step", "cfi_difference", "rmsea_difference", "n")
    frame = grouped(table, kept, "step").rename(columns={"step": "item", "cfi_difference": "value"})
    frame = frame[frame["item"] != "configural"]
    if frame.empty:
        return ()
    drawn, left_out = cut(_without_intervals(frame), 5)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [
        "—" if math.isnan(cfi) else f"{short(cfi, 3)} (RMSEA {_signed(rmsea)})"
        for cfi, rmsea in zip(drawn["value"], drawn["rmsea_difference"], strict=True)
    ]
    known = drawn.dropna(subset=["value"])
    alone = len(set(drawn["group"])) == 1
    steps = "; ".join(
        f"{step}: {short(value, 3)}" if alone else f"{group}, {step}: {short(value, 3)}"
        for group, step, value in known[["group", "item", "value"]].itertuples(index=False)
    )
    words = (
        f"Dot plot of the change in CFI at {counted(drawn['item'].nunique(), 'step')} of "
        f"invariance in {counted(drawn['group'].nunique(), 'group')}, n up to "
        f"{counted(most(drawn['n']), 'administration')}: {steps or 'none is defined'}; "
        f"{int((known['value'] <= _CHEN).sum())} of {len(known)} reach −.01, which speaks against "
        f"equality; {len(drawn) - len(known)} undefined.{left_out}"
    )
    title = "Change in CFI from the step before"
    lines = (_CHEN, 0.0)
    axis = DotAxis("Change in CFI", _wide(free_ends(drawn, lines)), lines, of="Step")
    said = ["Dashed: 0, and −.01, from which on a fall speaks against equality (Chen, 2007)."]
    return (dot_chart(drawn, axis, title, words, theme, said),)


def dif_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much the level adds to the matching score, item by item, with its class."""
    table = table_of(result, "items")
    if table is None:
        return ()
    kept = ("subscale", "item", "nagelkerke", "jodoin_gierl", "n")
    frame = grouped(table, kept).rename(columns={"nagelkerke": "value", "jodoin_gierl": "size"})
    charts = []
    for subscale, own in first_charts(frame, "subscale"):
        drawn, left_out = cut(_without_intervals(own.drop(columns="subscale")), 5)
        drawn = drawn.reset_index(drop=True)
        classes = drawn["size"].map(_CLASSES)
        drawn["label"] = classes.fillna("")
        counts = classes.value_counts()
        known = drawn["value"].dropna()
        words = (
            f"Dot plot of the rise of Nagelkerke's R² of {counted(drawn['item'].nunique(), 'item')}"
            f" in {counted(drawn['group'].nunique(), 'group')}, n up to "
            f"{counted(most(drawn['n']), 'administration')}: {span(known)}; "
            f"{counts.get('A', 0)} negligible or not significant (A), {counts.get('B', 0)} "
            f"moderate (B), {counts.get('C', 0)} large (C); "
            f"{len(drawn) - len(known)} undefined.{left_out}"
        )
        title = f"Differential functioning, {subscale}" if subscale else "Differential functioning"
        low, high = free_ends(drawn, (0.0, _JODOIN_GIERL[1]))
        axis = DotAxis("Rise of Nagelkerke's R²", (min(low, 0.0), high), _JODOIN_GIERL, of="Item")
        said = ["A: negligible or not significant. B: moderate. C: large. Dashed: .035 and .07.",
                "Classes of Jodoin and Gierl (2001)."]  # fmt: skip
        charts.append(dot_chart(drawn, axis, title, words, theme, said))
    return told(charts, frame["subscale"].nunique())


def model_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much worse than the best model each is, by BIC; none under WLSMV, which has no BIC."""
    table = table_of(result, "fit")
    if table is None:
        return ()
    kept = {"model": "item", "bic_difference": "value", "n": "n", "admissible": "admissible"}
    frame = _without_intervals(grouped(table, kept, "model"))
    if frame["value"].isna().all():
        return ()
    impossible = frame["value"].notna() & ~frame["admissible"].astype(bool)
    frame = frame.drop(columns="admissible")
    drawn, left_out = cut(frame, 5)
    drawn = drawn.reset_index(drop=True)
    drawn["label"] = [
        two_decimals(value) + (" (impossible estimates)" if bad else "")
        for value, bad in zip(drawn["value"], impossible[: len(drawn)], strict=True)
    ]
    known = drawn.dropna(subset=["value"])
    lowest = known.sort_values("value", kind="stable").drop_duplicates("group")
    winners = "; ".join(
        f"{group}: {name}" for group, name in lowest[["group", "item"]].itertuples(index=False)
    )
    words = (
        f"Dot plot of BIC above the lowest of {counted(drawn['item'].nunique(), 'model')} in "
        f"{counted(drawn['group'].nunique(), 'group')}, n up to "
        f"{counted(most(drawn['n']), 'administration')}; lowest, {winners or 'none is defined'}; "
        f"{len(drawn) - len(known)} undefined; "
        f"{int(impossible[: len(drawn)].sum())} with impossible estimates.{left_out}"
    )
    title = "BIC above that of the best model"
    axis = DotAxis("Difference in BIC", _wide(free_ends(drawn, (0.0,))), (0.0,), of="Model")
    said = ["Lower is better; 0, dashed: the best of the group."]
    return (dot_chart(drawn, axis, title, words, theme, said),)


def _without_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(ci_low=math.nan, ci_high=math.nan)


def _wide(ends: tuple[float, float]) -> tuple[float, float]:
    """Room for labels at both ends."""
    margin = (ends[1] - ends[0]) * 0.12
    return ends[0] - margin, ends[1] + margin


def _signed(value: float) -> str:
    """With its sign; a dash where undefined."""
    return ("+" if value > 0 else "") + short(value, 3)

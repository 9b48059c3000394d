"""Dot plots of means, coefficients and loadings, and of models compared."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from core.charts.estimates import (
    DotPlot,
    Ends,
    EstimateRows,
    correlation_ends,
    dot_chart,
    estimate_rows,
    free_ends,
)
from core.charts.panels import (
    FARTHEST,
    Chart,
    Theme,
    chart_rows,
    charts_by,
    limit_marks,
    short_number,
    table_with_rows,
    two_decimals,
)
from core.domain.numbers import judged_decimals
from core.domain.results import AnalysisResult
from core.stats.groups import Summary, mean_interval

# Groups: their means, means and norms, odds ratios of words.


def norm_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The model's mean above the mean of the norms, scale by scale."""
    table = next(iter(result.tables), None)
    if table is None or table.frame.empty:
        return ()
    columns = ("scale", "mean", "sd", "n", "norm_mean", "norm_sd", "norm_n")
    frame = chart_rows(table, columns, "scale")
    both = []
    for source, prefix in (("model", ""), ("norm", "norm_")):
        means = frame[["group", "scale", *(prefix + name for name in ("mean", "sd", "n"))]]
        means = means.set_axis(["group", "scale", "value", "sd", "n"], axis=1)
        both.append(means.assign(item=means["scale"] + ", " + source))
    rows = pd.concat(both).sort_index(kind="stable")
    summaries = zip(rows["value"], rows["sd"], rows["n"], strict=True)
    ends = [mean_interval(Summary(mean, sd, n)) for mean, sd, n in summaries]
    rows = rows.assign(ci_low=[low for low, _ in ends], ci_high=[high for _, high in ends])
    words = "Dot plot of the mean score and of the norms, with 95% intervals,"
    plot = _means_plot("Means beside norms", "Mean score with 95% interval", "Mean", words)
    return (dot_chart(rows.drop(columns=["scale", "sd"]), plot, theme),)


def group_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Means of the groups that are compared, one chart for each scale.

    Where the same units are in all groups, their differences too: the intervals of the means say
    nothing of these.
    """
    table = table_with_rows(result, "groups")
    if table is None:
        return ()
    names = [column.name for column in table.columns]
    level = names[names.index("scale") + 1]
    frame = estimate_rows(table, level, "mean", "scale").astype({"item": str})

    def draw(scale: str, rows: pd.DataFrame) -> Chart:
        title = f"Means by group, {scale}" if scale else "Means by group"
        words = f"Dot plot of mean scores{f' on {scale}' if scale else ''}, with intervals,"
        plot = _means_plot(title, "Mean score with interval", "Group compared", words)
        return dot_chart(rows, plot, theme)

    means = charts_by(frame, "scale", draw)
    pairs = table_with_rows(result, "pairs")
    if pairs is None or "d_z" not in pairs.frame:
        return means
    apart = estimate_rows(pairs, "", "difference", "scale", "first", "second", n="n_first")
    apart["item"] = apart.pop("second").astype(str) + " − " + apart.pop("first").astype(str)

    def draw_differences(scale: str, rows: pd.DataFrame) -> Chart:
        of_scale = f", {scale}" if scale else ""
        words = f"Dot plot of mean differences{f' on {scale}' if scale else ''}, with intervals,"
        plot = replace(
            _means_plot(
                f"Differences between groups{of_scale}",
                "Mean difference with interval",
                "Groups compared",
                words,
            ),
            below=["Dashed: 0, no difference."],
            ends=partial(free_ends, lines=(0.0,)),
            lines=(0.0,),
        )
        return dot_chart(rows, plot, theme)

    differences = charts_by(apart, "scale", draw_differences)
    return (*means, *(replace(chart, tab="Pairs") for chart in differences))


def _means_plot(title: str, axis: str, row: str, words: str) -> DotPlot:
    """Labelled means with intervals."""
    return DotPlot(
        title,
        axis,
        lambda rows: (
            f"{words} in {rows.groups}, n up to {rows.n('administration')}: {rows.values}; "
            f"{rows.undefined} undefined."
        ),
        row=row,
        ends=free_ends,
        label=two_decimals,
        decimals=2,
        same_axis=True,
    )


def odds_ratio_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The odds ratio of each list of words, on an axis of ratios."""
    table = table_with_rows(result, "odds")
    if table is None:
        return ()
    frame = estimate_rows(table, "list", "odds_ratio", "other_total", n="total")
    frame["n"] += frame.pop("other_total")
    frame, left_out = limit_marks(frame, 5)
    numbers = ["value", "ci_low", "ci_high"]
    zero = frame["value"] == 0  # such a ratio has no point on such an axis
    frame[numbers] = frame[numbers].where(~zero)
    names = "; ".join((frame["group"] + ", " + frame["item"])[zero])
    plot = DotPlot(
        "Odds ratios of listed words",
        "Odds ratio with interval",
        lambda rows: (
            f"Dot plot of odds ratios, with intervals, of {rows.items('list')} of words in "
            f"{rows.groups}, n up to {rows.n('word')}: {rows.values}; "
            f"{int((rows.defined > 1).sum())} above 1, towards the stereotype; "
            f"{rows.undefined - int(zero.sum())} undefined."
            f"{f' Not drawn, because 0: {names}.' if names else ''}"
        ),
        row="List",
        below=["Dashed: 1, no difference. To the right: as in the stereotype."],
        ends=_ratio_ends,
        lines=(1.0,),
        label=two_decimals,
        decimals=2,
        log=True,
    )
    return (dot_chart(frame, plot, theme, left_out),)


def _ratio_ends(table: pd.DataFrame) -> Ends:
    """Ends of an axis of ratios: a ratio beyond 100 sets none where such ratios are not usual."""
    numbers = table[["value", "ci_low", "ci_high"]]
    low, high = free_ends(numbers.where(numbers > 0).apply(np.log), (0.0,), math.log(100))
    return math.exp(low), math.exp(high)


# Coefficients: discrimination, reliability, correlations of scores, loadings.

_GOOD_RANGE = (0.4, 0.7)


def discrimination_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each subscale, with the band of good items."""
    frame = estimate_rows(
        result.tables[0], "item", "discrimination", "subscale", n="n_discrimination"
    )

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        plot = DotPlot(
            f"Discrimination, {subscale}" if subscale else "Discrimination",
            "Discrimination with interval",
            lambda rows: (
                f"Dot plot of discrimination: {rows.items('item')} in {rows.groups}, n up to "
                f"{rows.n('administration')}: {rows.values}; "
                f"{int(rows.defined.between(*_GOOD_RANGE).sum())} of {len(rows.defined)} defined "
                "values lie in the shaded band from .40 to .70, commonly called good; "
                f"{rows.undefined} undefined, left empty."
            ),
            below=["Shaded: .40 to .70, commonly called good"],
            band=_GOOD_RANGE,
            same_scale=True,
            rows_are_items=True,
        )
        return dot_chart(rows, plot, theme)

    return charts_by(frame, "subscale", draw)


def alpha_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot of alpha by subscale."""
    frame = estimate_rows(result.tables[0], "subscale", "alpha", n="n_administrations")
    frame["item"] = frame["item"].replace("", "(no subscale)")
    words = "Dot plot of Cronbach's alpha"
    return (coefficient_chart(frame, "Cronbach's α with interval", "α", words, "subscale", theme),)


def reliability_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: its coefficients."""
    table = table_with_rows(result, "reliability")
    if table is None:
        return ()
    return charts_by(
        estimate_rows(table, "coefficient", "value", "scale"),
        "scale",
        lambda scale, rows: coefficient_chart(
            rows,
            f"Reliability, {scale or '(no subscale)'}",
            "Coefficient with interval",
            f"Dot plot of the reliability of {scale or 'no subscale'}",
            "coefficient",
            theme,
        ),
    )


def score_correlation_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """One dot plot for each scale: Pearson's r of the pairs of levels."""
    table = table_with_rows(result, "correlations")
    if table is None:
        return ()
    frame = estimate_rows(table, "", "r", "scale", "first", "second", "kind", n="n_pairs")
    frame = frame[frame["kind"] == "pearson"].drop(columns="kind")
    frame["item"] = frame.pop("first").astype(str) + " – " + frame.pop("second").astype(str)
    return charts_by(
        frame,
        "scale",
        lambda scale, rows: coefficient_chart(
            rows,
            f"Correlations of scores, {scale}",
            "Pearson's r with interval",
            f"Dot plot of Pearson's r on {scale}",
            "pair",
            theme,
        ),
    )


def coefficient_chart(
    frame: pd.DataFrame, title: str, axis: str, words: str, noun: str, theme: Theme
) -> Chart:
    """A labelled dot plot of values that are at most about 1; `noun` says what a row is."""
    plot = DotPlot(
        title,
        axis,
        lambda rows: (
            f"{words} of {rows.items(noun)} in {rows.groups}, n up to "
            f"{rows.n('administration')}: {rows.values}; {rows.undefined} undefined."
        ),
        row=noun.capitalize(),
        label=short_number,
        same_scale=True,
    )
    return dot_chart(frame, plot, theme)


_WIDE = 1.0  # an interval of a loading that is wider says little, and sets no end beyond 1


def loading_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Standardized loadings of each factor with their intervals, a panel for each group."""
    table = table_with_rows(result, "loadings")
    if table is None:
        return ()
    value, low, high = "standardized", "standardized_low", "standardized_high"
    frame = estimate_rows(table, "item", value, "factor", "p", low=low, high=high, n="")
    fit = table_with_rows(result, "fit")
    sizes = chart_rows(fit, ("n",), "reported") if fit else pd.DataFrame()
    n: dict[str, int] = dict(sizes.itertuples(index=False))
    frame["n"] = frame["group"].map(n)
    fitted = frame["value"].notna().groupby(frame["group"], sort=False).any()
    without = [str(group) for group in fitted.index[~fitted]]
    not_drawn = f" Without estimates, not drawn: {', '.join(without)}." if without else ""

    def words(factor: str, rows: EstimateRows) -> str:
        groups = dict.fromkeys(rows.frame["group"])
        counts = "; ".join(f"{group}: n = {int(n.get(group, 0)):,}" for group in groups)
        return (
            f"Dot plot of standardized loadings on {factor}: {rows.items('item')} in "
            f"{rows.groups} ({counts}): {rows.values}; {int((rows.defined < 0).sum())} below 0; "
            f"{rows.undefined} undefined, left empty.{not_drawn}"
        )

    def draw(factor: str, rows: pd.DataFrame) -> Chart:
        plot = DotPlot(
            f"Loadings on {factor}",
            "Standardized loading with interval",
            partial(words, factor),
            ends=_loading_ends,
            lines=(0.0,),
            label=short_number,
            same_scale=True,
            rows_are_items=True,
        )
        return dot_chart(rows, plot, theme)

    return charts_by(frame[~frame["group"].isin(without)], "factor", draw)


def _loading_ends(table: pd.DataFrame) -> Ends:
    """Those of correlations, with room for intervals that reach a little beyond 1."""
    low, high = correlation_ends(table)
    narrow = table[table["ci_high"] - table["ci_low"] <= _WIDE]
    if narrow.empty:
        return low, high
    within = narrow[["ci_low", "ci_high"]].clip(-FARTHEST, FARTHEST)
    return min(low, float(within.min().min())), max(high, float(within.max().max()))


# Models compared: steps of invariance, items by level, competing models.

_CHEN = -0.01
_SMALL_EFFECT = 0.2
_JODOIN_GIERL = (0.035, 0.07)
_CLASSES = {"negligible": "A", "moderate": "B", "large": "C"}


def invariance_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How far CFI falls at each step, with the usual bound."""
    table = table_with_rows(result, "steps")
    if table is None:
        return ()
    frame = estimate_rows(table, "step", "cfi_difference", "rmsea_difference", low="", high="")
    frame = frame[frame["item"] != "configural"]
    if frame.empty:
        return ()
    frame["label"] = [
        "—"
        if math.isnan(cfi)
        else f"{_fall_text(cfi)} (RMSEA {'+' if rmsea > 0 else ''}{short_number(rmsea, 3)})"
        for cfi, rmsea in zip(frame["value"], frame["rmsea_difference"], strict=True)
    ]

    def words(rows: EstimateRows) -> str:
        several = len(set(rows.frame["group"])) > 1
        falls = rows.frame.dropna(subset=["value"])[["group", "item", "value"]]
        steps = "; ".join(
            f"{group}, {step}: {_fall_text(value)}" if several else f"{step}: {_fall_text(value)}"
            for group, step, value in falls.itertuples(index=False)
        )
        return (
            f"Dot plot of the change in CFI at {rows.items('step')} of invariance in "
            f"{rows.groups}, n up to {rows.n('administration')}: {steps or 'none is defined'}; "
            f"{int((rows.defined <= _CHEN).sum())} of {len(rows.defined)} reach −.01, which speaks "
            f"against equality; {rows.undefined} undefined."
        )

    plot = DotPlot(
        "Change in CFI from the step before",
        "Change in CFI",
        words,
        row="Step",
        below=["Dashed: 0, and −.01, from which on a fall speaks against equality (Chen, 2007)."],
        ends=partial(_wide_ends, lines=(_CHEN, 0.0)),
        lines=(_CHEN, 0.0),
    )
    return (dot_chart(frame, plot, theme), *_effect_charts(result, theme))


def _effect_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How large dMACS of each item is, by level."""
    table = table_with_rows(result, "effects")
    if table is None:
        return ()
    frame = estimate_rows(table, "item", "dmacs", "level", "points", low="", high="")
    frame["label"] = [short_number(value, 2) for value in frame["value"]]

    def draw(level: str, rows: pd.DataFrame) -> Chart:
        def words(some: EstimateRows) -> str:
            return (
                f"Dot plot of dMACS of {some.items('item')} at {level} against the first level in "
                f"{some.groups}, n up to {some.n('administration')}: {some.values}; "
                f"{some.undefined} undefined."
            )

        plot = DotPlot(
            f"Effects of items, {level}",
            "dMACS",
            words,
            row="Item",
            below=["Typical difference in standard deviations of the item, at equal standing."],
            ends=partial(_wide_ends, lines=(0.0, _SMALL_EFFECT)),
            same_scale=True,
            rows_are_items=True,
        )
        return replace(dot_chart(rows, plot, theme), tab="Items that differ")

    return charts_by(frame, "level", draw)


def _fall_text(cfi: float) -> str:
    """A change of CFI with the decimals that show whether it reaches the bound."""
    return short_number(cfi, judged_decimals(cfi, (_CHEN,), 3))


def dif_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much the level adds to the matching score, item by item, with its class.

    The subscale with the largest rise that has a class comes first.
    """
    table = table_with_rows(result, "items")
    if table is None:
        return ()
    frame = estimate_rows(
        table, "item", "nagelkerke", "subscale", "jodoin_gierl", low="", high=""
    ).rename(columns={"jodoin_gierl": "size"})
    frame["label"] = frame["size"].map(_CLASSES).fillna("")
    flagged = frame["value"].where(frame["size"].isin(("moderate", "large")))
    largest = flagged.groupby(frame["subscale"]).transform("max")
    frame = frame.loc[largest.sort_values(ascending=False, kind="stable", na_position="last").index]

    def words(rows: EstimateRows) -> str:
        counts = rows.frame["size"].value_counts()
        return (
            f"Dot plot of the rise of Nagelkerke's R² of {rows.items('item')} in {rows.groups}, n "
            f"up to {rows.n('administration')}: {rows.values}; {counts.get('negligible', 0)} "
            f"negligible or not significant (A), {counts.get('moderate', 0)} moderate (B), "
            f"{counts.get('large', 0)} large (C); {rows.undefined} undefined."
        )

    def draw(subscale: str, rows: pd.DataFrame) -> Chart:
        plot = DotPlot(
            f"Differential functioning, {subscale}" if subscale else "Differential functioning",
            "Rise of Nagelkerke's R²",
            words,
            row="Item",
            below=[
                "A: negligible or not significant. B: moderate. C: large. Dashed: .035 and .07.",
                "Classes of Jodoin and Gierl (2001).",
            ],
            ends=_dif_ends,
            lines=_JODOIN_GIERL,
            same_scale=True,
            rows_are_items=True,
        )
        return dot_chart(rows, plot, theme)

    return charts_by(frame, "subscale", draw)


def _dif_ends(table: pd.DataFrame) -> Ends:
    low, high = free_ends(table, (0.0, _JODOIN_GIERL[1]))
    return min(low, 0.0), high


def model_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """How much worse than the best model each is, by BIC; none under WLSMV, which has no BIC."""
    table = table_with_rows(result, "fit")
    if table is None:
        return ()
    frame = estimate_rows(table, "factor_model", "bic_difference", "admissible", low="", high="")
    if frame["value"].isna().all():
        return ()
    frame, left_out = limit_marks(frame, 5)
    impossible = frame["value"].notna() & ~frame.pop("admissible").astype(bool)
    frame["label"] = frame["value"].map(two_decimals) + impossible.map(
        {True: " (impossible estimates)", False: ""}
    )

    def words(rows: EstimateRows) -> str:
        lowest = rows.frame.dropna(subset=["value"]).sort_values("value", kind="stable")
        lowest = lowest.drop_duplicates("group")
        names = "; ".join(lowest["group"] + ": " + lowest["item"])
        return (
            f"Dot plot of BIC above the lowest of {rows.items('model')} in {rows.groups}, n up to "
            f"{rows.n('administration')}; lowest, {names or 'none is defined'}; "
            f"{rows.undefined} undefined; {int(impossible.sum())} with impossible estimates."
        )

    plot = DotPlot(
        "BIC above that of the best model",
        "Difference in BIC",
        words,
        row="Model",
        below=["Lower is better; 0, dashed: the best of the group."],
        ends=partial(_wide_ends, lines=(0.0,)),
        lines=(0.0,),
    )
    return (dot_chart(frame, plot, theme, left_out),)


def _wide_ends(table: pd.DataFrame, lines: tuple[float, ...]) -> Ends:
    """Free ends with room for labels."""
    low, high = free_ends(table, lines)
    margin = (high - low) * 0.12
    return low - margin, high + margin

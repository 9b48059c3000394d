"""Charts of worldviews: spider of domains, leaning, parties, and parties against each other."""

from __future__ import annotations

import math
from dataclasses import replace
from textwrap import wrap
from typing import Any, Literal

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.bias import comparison_chart
from core.charts.estimates import (
    DotPlot,
    Ends,
    EstimateRows,
    dot_chart,
    estimate_rows,
    free_ends,
    group_marks,
)
from core.charts.panels import (
    INK,
    MARK,
    Chart,
    Theme,
    first_levels,
    heading,
    number_tip,
    short_number,
    sort_levels,
    stacked,
    table_with_rows,
    with_number_texts,
)
from core.charts.spiders import Spider
from core.domain.results import AnalysisResult, ResultTable

_RADIUS = 130  # pixels from the center to the end of an axis
_ABOVE, _BELOW = 46, 46  # pixels for names of axes
_RINGS = (-0.5, 0.0, 0.5, 1.0)
_FEWEST_AXES = 3
_NAME_LINE = 14  # characters of a line of the name of an axis
_ROOM_FOR_NAMES = 92  # pixels at each side
_OUT = 1.06  # radii from the center to a name
_LINE_HEIGHT = 13  # pixels
_WEAK_MARK = "*"
_WEAK_LINE = f"{_WEAK_MARK}: a group has few statements; its point is hollow (see the table)"
_LEAST_SHARE = 0.1  # end of an axis of shares, where all are 0 or nearly
_Align = Literal["left", "center", "right"]
_Baseline = Literal["bottom", "middle", "top"]


def worldview_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Domains as spider and dot plot, leaning, parties, parties against each other, groups."""
    charts = []
    charts_of_tables = (
        ("domains", _domain_chart),
        ("leaning", _leaning_chart),
        ("parties", _party_chart),
        ("party_pairs", _pair_chart),
        ("comparisons", comparison_chart),
    )
    for name, draw in charts_of_tables:
        table = table_with_rows(result, name)
        if table is not None:
            charts.append(draw(table, theme))
    return tuple(charts)


# Stance on domains: a spider, and beside it the same numbers with their intervals.


def _domain_chart(table: ResultTable, theme: Theme) -> Chart:
    frame = estimate_rows(table, "domain", "stance", "weak")
    frame["item"] = frame["item"].str.replace("_", " ")
    few = frame["weak"] != ""
    weak = set(frame.loc[few, "item"])
    rows, left_out = first_levels(frame)
    rows = rows.reset_index(drop=True)
    summary = EstimateRows(frame)
    words = (
        f"Spider chart of the stance on {summary.items('domain')} from −1 (against) to 1 (for), "
        f"and dot plot of the same with intervals, {summary.groups}, n up to "
        f"{summary.n('statement')}: {_extremes(rows)}. {summary.values}; {summary.undefined} "
        f"undefined; {int(few.sum())} of few statements, marked {_WEAK_MARK}.{left_out}"
    )
    parts: list[Any] = []
    if rows["item"].nunique() >= _FEWEST_AXES and len(summary.defined):
        lines = ["Center: −1, against; dashed: 0; edge: 1, for", "Order of axes: arbitrary"]
        lines += [_WEAK_LINE] if few.any() else []
        title = heading("Stance on domains", theme, [*lines, left_out.strip()])
        parts.append(_spider(rows, weak, theme).properties(width="container", title=title))
    marked = {name: f"{name} {_WEAK_MARK}" if name in weak else name for name in rows["item"]}
    plot = DotPlot(
        "The same, with intervals" if parts else "Stance on domains",
        "Stance with interval, −1 against to 1 for",
        "",
        row="Domain",
        below=[f"Dashed: 0. {_WEAK_LINE}" if few.any() else "Dashed: 0"],
        ends=(-1.0, 1.0),
        lines=(0.0,),
        same_scale=True,
    )
    dots = rows.drop(columns="weak").assign(item=rows["item"].map(marked))
    spec = stacked([*parts, *dot_chart(dots, plot, theme).panels])
    return Chart("Stance on domains", spec, words, rows, 1, (), left_out=left_out)


def _extremes(frame: pd.DataFrame) -> str:
    """The domains at both ends of each group."""
    texts = []
    for group, rows in frame.dropna(subset=["value"]).groupby("group", sort=False):
        ordered = rows.sort_values("value", kind="stable").to_dict("records")
        bottom, top = ordered[0], ordered[-1]
        texts.append(
            f"{group}: most for {top['item']} ({short_number(top['value'])}), least for "
            f"{bottom['item']} ({short_number(bottom['value'])})"
        )
    return "; ".join(texts) or "no stance is defined"


def _spider(rows: pd.DataFrame, weak: set[str], theme: Theme) -> Any:
    """An axis for each domain from −1 to 1, rings, and a line with points for each group."""
    axes = list(dict.fromkeys(rows["item"]))
    groups = list(dict.fromkeys(rows["group"]))
    spider = Spider(
        {name: math.pi / 2 - 2 * math.pi * k / len(axes) for k, name in enumerate(axes)},
        _RADIUS,
        _ABOVE,
        _ABOVE + 2 * _RADIUS + _BELOW,
        f"width / 2 - {_ROOM_FOR_NAMES}",
    )
    color, shape = group_marks(groups, theme)
    points = spider.points(rows, (rows["value"] + 1) / 2)
    marks = with_number_texts(
        alt.Chart(points[points["value"].notna()]), "value", "ci_low", "ci_high"
    ).mark_point(filled=False, strokeWidth=2, size=60, opacity=1, color=MARK[theme])
    full = alt.Color("group:N", scale=color["color"]["scale"]) if color else alt.value(MARK[theme])
    fill = alt.condition("datum.weak != ''", alt.value("transparent"), full)
    tooltip = [
        alt.Tooltip("item:N", title="Domain"),
        *([alt.Tooltip("group:N", title="Group")] if len(groups) > 1 else []),
        number_tip("value", "Stance"),
        number_tip("ci_low", "Interval from"),
        number_tip("ci_high", "Interval to"),
        alt.Tooltip("n:Q", title="Reliable statements", format=".1f"),
    ]
    return alt.layer(
        *spider.web({ring: (ring + 1) / 2 for ring in _RINGS}, 0.0, 1.8, theme),
        *spider.lines(points, groups, color, theme),
        marks.encode(x=spider.x, y=spider.y, tooltip=tooltip, fill=fill, **color, **shape),
        *_axis_names(spider, weak, theme),
    ).properties(height=spider.height)


def _axis_names(spider: Spider, weak: set[str], theme: Theme) -> list[Any]:
    """The names around the spider, each in lines, drawn away from the center."""
    rows: dict[tuple[_Align, _Baseline, int], list[tuple[float, float, str]]] = {}
    for name, angle in spider.angles.items():
        text = f"{name} {_WEAK_MARK}" if name in weak else name
        across, up = math.cos(angle), math.sin(angle)
        align: _Align = "center" if abs(across) < 0.2 else "left" if across > 0 else "right"
        baseline: _Baseline = "middle" if abs(up) < 0.9 else "bottom" if up > 0 else "top"
        lines = wrap(text, _NAME_LINE) or [text]
        below_first = (len(lines) - 1) * _LINE_HEIGHT
        moved = {"bottom": below_first, "middle": below_first // 2, "top": 0}[baseline]
        names = rows.setdefault((align, baseline, -moved), [])
        names.append((_OUT * across, _OUT * up, "\n".join(lines)))
    layers = []
    for (align, baseline, moved), names in rows.items():
        texts = alt.Chart(pd.DataFrame(names, columns=["x", "y", "text"])).mark_text(
            align=align,
            baseline=baseline,
            dy=moved,
            fontSize=11,
            color=INK[theme],
            lineBreak="\n",
            lineHeight=_LINE_HEIGHT,
        )
        layers.append(texts.encode(x=spider.x, y=spider.y, text=alt.Text("text:N")))
    return layers


# Leaning, parties, and parties against each other.


def _leaning_chart(table: ResultTable, theme: Theme) -> Chart:
    """The share of statements with the stance of each side, and the upper bound."""
    overall = table.frame[table.frame["country"] == table.frame["country"].iloc[0]]
    overall = replace(table, frame=overall)
    frame = estimate_rows(overall, "leaning", "share", "bound", n="statements", before="country")
    bounds = frame.groupby("group", sort=False, as_index=False).agg(
        value=("bound", "max"), n=("n", "max")
    )
    bounds = bounds.assign(item="upper bound: reliable")
    frame = sort_levels(pd.concat([frame.drop(columns="bound"), bounds]), frame["group"])

    def words(rows: EstimateRows) -> str:
        shares = "; ".join(
            f"{group}: "
            + ", ".join(
                f"{item} {short_number(value)}"
                for item, value in side[["item", "value"]].itertuples(index=False)
            )
            for group, side in rows.frame.groupby("group", sort=False)
        )
        return (
            "Dot plot of the share of statements with the stance of parties, by leaning, over all "
            f"countries, with intervals, n up to {rows.n('statement')}: {shares}."
        )

    plot = DotPlot(
        "Same stance as parties, by leaning",
        "Share of statements with the same stance",
        words,
        row="Leaning",
        below=["All countries; upper bound: the share of reliable statements"],
        ends=_from_zero,
        same_scale=True,
    )
    return dot_chart(frame, plot, theme)


def _from_zero(table: pd.DataFrame) -> Ends:
    """From a little below 0, where points stand, and not to less than a tenth."""
    high = max(free_ends(table, (0.0,))[1], _LEAST_SHARE)
    return -0.04 * high, high


def _party_chart(table: ResultTable, theme: Theme) -> Chart:
    """The share of statements with the stance of each party."""
    frame = estimate_rows(table, "party", "share", "leaning", n="statements", before="country")
    leaning = frame.pop("leaning")
    names = frame["item"].str.replace("_", " ")
    frame["item"] = names.where(leaning == "", names + " (" + leaning + ")")
    plot = DotPlot(
        "Same stance as each party",
        "Share of statements with the same stance",
        lambda rows: (
            "Dot plot of the share of statements with the stance of each party, with intervals, "
            f"{rows.items('party', 'parties')}, n up to {rows.n('statement')}: {rows.values}; "
            f"{rows.undefined} undefined."
        ),
        row="Party",
        ends=_from_zero,
        same_scale=True,
    )
    return dot_chart(frame, plot, theme)


def _pair_chart(table: ResultTable, theme: Theme) -> Chart:
    """Spearman's correlation of every two parties, with neutral positions and without."""
    pairs = table.frame["first"] + " – " + table.frame["second"]
    both = pd.concat(
        table.frame[list(columns)]
        .set_axis(["value", "ci_low", "ci_high", "n"], axis=1)
        .assign(group=group, item=pairs.str.replace("_", " "))
        for group, columns in (
            ("neutral kept", ("rho", "rho_low", "rho_high", "n")),
            ("without neutral", ("rho_decided", "decided_low", "decided_high", "n_decided")),
        )
    )
    plot = DotPlot(
        "Parties against each other",
        "Spearman's ρ with interval",
        lambda rows: (
            "Dot plot of Spearman's correlation between the positions of parties, with intervals, "
            f"{rows.items('pair')}, n up to {rows.n('statement')}: {rows.values}; "
            f"{rows.undefined} undefined."
        ),
        row="Pair",
        below=["Dashed: 0"],
        ends=(-1.0, 1.0),
        lines=(0.0,),
        same_scale=True,
    )
    return dot_chart(both, plot, theme)


# Agreement of annotators.


def annotator_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """The mean kappa of each domain, and the kappa of every two annotators."""
    charts = []
    domains, pairs = (table_with_rows(result, name) for name in ("domains", "pairs"))
    if domains is not None:
        frame = estimate_rows(domains, "domain", "kappa")
        what = "mean kappa over pairs of annotators"
        charts.append(_kappa_chart(frame, "Agreement on each domain", what, "Domain", theme))
    if pairs is not None:
        frame = estimate_rows(pairs, "", "kappa", "domain", "first", "second", before="domain")
        frame["group"] = frame.pop("domain").str.replace("_", " ")
        frame["item"] = frame.pop("first") + " – " + frame.pop("second")
        what = "kappa of every two annotators"
        charts.append(_kappa_chart(frame, "Every two annotators", what, "Pair", theme))
    return tuple(charts)


def _kappa_chart(frame: pd.DataFrame, title: str, what: str, row: str, theme: Theme) -> Chart:
    frame["item"] = frame["item"].str.replace("_", " ")
    plot = DotPlot(
        title,
        "Cohen's κ with interval",
        lambda rows: (
            f"Dot plot of the {what}, with intervals, {rows.items(row.lower())}, n up to "
            f"{rows.n('item')}: {rows.values}; {rows.undefined} undefined."
        ),
        row=row,
        below=["Dashed: 0, agreement as by chance"],
        ends=lambda table: (min(0.0, free_ends(table, (0.0,))[0]), 1.0),
        lines=(0.0,),
        same_scale=True,
    )
    return dot_chart(frame, plot, theme)

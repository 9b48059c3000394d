"""Charts of tests of statements: shares that pass, agreement of wordings, agreement of raters."""

from __future__ import annotations

import pandas as pd

from core.charts.estimates import DotPlot, dot_chart, estimate_rows
from core.charts.heat_maps import cells_in_words, color_cells, heat_layers
from core.charts.panels import (
    Chart,
    Theme,
    chart_rows,
    first_levels,
    first_of,
    limit_marks,
    panels,
    range_text,
    sort_levels,
    table_with_rows,
)
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable

_MOST_STATEMENTS = 30
_MOST_GROUPS = 6
_MOST_RATERS = 16


def stance_reliability_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Shares that pass each test with what random answers would give; templates; statements."""
    tests, statements = (table_with_rows(result, name) for name in ("tests", "statements"))
    if tests is None or statements is None:
        return ()
    frame = estimate_rows(tests, "test", "share", "random").rename(columns={"random": "reference"})
    plot = DotPlot(
        "Statements that pass each test",
        "Share of statements that pass",
        lambda rows: (
            f"Dot plot of the share of statements that pass each of {rows.items('test')} in "
            f"{rows.groups}: {rows.values}; a tick shows the share of random answers: "
            f"{range_text(rows.frame['reference'].dropna())}."
        ),
        row="Test",
        below=["Lines: interval over other statements. Tick: random answers."],
        ends=(0.0, 1.0),
        same_scale=True,
    )
    charts = [dot_chart(frame, plot, theme)]
    for name, part in (("domains", "domain"), ("genres", "genre")):
        table = table_with_rows(result, name)
        if table is not None:
            charts.append(_parts_chart(table, part, theme))
    return (*charts, *_statement_chart(statements, theme))


def _parts_chart(table: ResultTable, part: str, theme: Theme) -> Chart:
    """Share of reliable statements by domain or genre."""
    plot = DotPlot(
        f"Reliable statements by {part}",
        "Share of statements that are reliable",
        lambda rows: (
            f"Dot plot of the share of reliable statements by {part} in {rows.groups}: "
            f"{rows.values}."
        ),
        row=part.capitalize(),
        ends=(0.0, 1.0),
        same_scale=True,
        tab=table.tab,
    )
    return dot_chart(estimate_rows(table, part, "share"), plot, theme)


def _statement_chart(table: ResultTable, theme: Theme) -> tuple[Chart, ...]:
    """The most fragile statements by tests, a panel for each group."""
    tests = [column for column in table.columns if column.name.startswith("passed_")]
    names = {"item": "item", **{column.name: column.title for column in tests}}
    wide = chart_rows(table, names, "item")
    wide, _ = first_levels(wide, most=_MOST_GROUPS)
    wide = wide.groupby("group", sort=False).head(_MOST_STATEMENTS)
    cells = wide.melt(["group", "item"], var_name="column", value_name="value")
    cells = cells.astype({"value": float})
    if cells["value"].isna().all():
        return ()
    cells, left_out = limit_marks(sort_levels(cells, wide["group"]), 2)
    cells = color_cells(cells.reset_index(drop=True), (0.0, 1.0), theme)
    title = "The most fragile statements"
    if len(table.frame) > len(wide):
        left_out = (
            f" The {_MOST_STATEMENTS} most fragile statements of "
            f"{count_text(wide['group'].nunique(), 'group')} are drawn.{left_out}"
        )
    words = (
        f"Heat map of the share of templates in which a statement passes a test: "
        f"{count_text(cells['item'].nunique(), 'statement')} by "
        f"{count_text(cells['column'].nunique(), 'test')}: {cells_in_words(cells, 'column')}"
        f"{left_out}"
    )
    lines = ["Share of templates in which the test is passed. Gray: 0; blue: 1. Dashed: undefined."]
    layers = heat_layers(cells, "column", theme)
    spec = panels(
        layers, cells, title, theme, lines, name_groups=len(set(cells["group"])) > 1, once=left_out
    )
    return (Chart(title, spec, words, cells, tab=table.tab, left_out=left_out),)


def form_agreement_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Kappas of each wording with the original, by group; alpha of the templates."""
    charts = []
    kappas, alpha = (table_with_rows(result, name) for name in ("kappas", "alpha"))
    if kappas is not None:
        plot = DotPlot(
            "Agreement with the original",
            "Kappa with the original",
            lambda rows: (
                f"Dot plot of Cohen's kappa of the original with {rows.items('other wording')} in "
                f"{rows.groups}: {rows.values}."
            ),
            row="Wording",
            below=["1: the same stance always; 0: chance; −1: the opposite stance always."],
            ends=(-1.0, 1.0),
            lines=(0.0,),
            same_scale=True,
        )
        charts.append(dot_chart(estimate_rows(kappas, "wording", "kappa"), plot, theme))
    if alpha is not None and alpha.frame["alpha"].notna().any():
        frame = estimate_rows(alpha, "", "alpha")
        frame = frame.rename(columns={"group": "item"}).assign(group="all")
        plot = DotPlot(
            "Agreement of templates",
            "Krippendorff's alpha of templates",
            lambda rows: (
                f"Dot plot of Krippendorff's alpha of templates in "
                f"{count_text(len(rows.frame), 'group')}: {rows.values}."
            ),
            row="Group",
            same_scale=True,
            tab=alpha.tab,
        )
        charts.append(dot_chart(frame, plot, theme))
    return tuple(charts)


def rater_agreement_charts(result: AnalysisResult, theme: Theme) -> tuple[Chart, ...]:
    """Coefficients of all raters by group; kappas of every two raters."""
    groups, pairs = (table_with_rows(result, name) for name in ("groups", "pairs"))
    if groups is None or pairs is None:
        return ()
    kinds = (
        ("Mean kappa of pairs", "kappa", "", ""),
        ("Krippendorff's alpha", "alpha", "ci_low", "ci_high"),
        ("Fleiss' kappa", "fleiss", "fleiss_low", "fleiss_high"),
    )
    parts = []
    for title, value, low, high in kinds:
        part = estimate_rows(groups, "", value, low=low, high=high, n="items", before="raters")
        parts.append(part.assign(item=title))
    frame = sort_levels(pd.concat(parts, ignore_index=True), parts[0]["group"])
    plot = DotPlot(
        "Agreement of all raters",
        "Agreement",
        lambda rows: f"Dot plot of coefficients of agreement in {rows.groups}: {rows.values}.",
        row="Coefficient",
        below=[
            "1: agreement; 0: chance. The mean kappa has no interval, because pairs share raters."
        ],
        lines=(0.0,),
        same_scale=True,
    )
    return (dot_chart(frame, plot, theme), *_rater_pairs(pairs, theme))


def _rater_pairs(table: ResultTable, theme: Theme) -> tuple[Chart, ...]:
    """A heat map of the kappas of every two raters, a panel for each group."""
    names = {"first": "column", "second": "item", "kappa": "value", "n": "n"}
    frame = chart_rows(table, names, "first")
    frame, cut_groups = first_levels(frame, most=_MOST_GROUPS)
    raters, cut_raters = first_of(
        list(dict.fromkeys([*frame["column"], *frame["item"]])), _MOST_RATERS, "raters"
    )
    cells = frame[frame["column"].isin(raters) & frame["item"].isin(raters)]
    cells, left_out = limit_marks(cells, 2)
    left_out += cut_raters + cut_groups
    cells = color_cells(cells.reset_index(drop=True), (-1.0, 1.0), theme)
    words = (
        f"Heat map of Cohen's kappa of every two of {count_text(len(raters), 'rater')}: "
        f"{cells_in_words(cells, 'column')}{left_out}"
    )
    lines = ["Orange: below 0; gray: 0, chance; blue: above 0, to 1. Dashed: undefined."]
    layers = heat_layers(cells, "column", theme, order=raters)
    several = len(set(cells["group"])) > 1
    title = "Kappa of every two raters"
    spec = panels(layers, cells, title, theme, lines, name_groups=several, once=left_out)
    return (Chart(title, spec, words, cells, tab=table.tab, item_columns=(), left_out=left_out),)

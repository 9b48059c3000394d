"""Path diagrams of factor models: one chart for each group, in words, and as a table."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from core.charts.colors import INK, Theme
from core.charts.panels import MAX_PANELS, Chart, short
from core.charts.path_layers import path_layers
from core.charts.path_layout import laid_out
from core.charts.path_model import PathModel, path_models
from core.domain.counts import counted
from core.domain.results import AnalysisResult
from core.psychometrics.wording import listed

_TITLE_HEIGHT = 80  # pixels; a page takes title and margins out of the height of a chart


def path_diagrams(
    result: AnalysisResult, theme: Theme, *, significant_only: bool = False
) -> tuple[Chart, ...]:
    """The path diagram of each group that could be fitted."""
    models, without = path_models(result)
    shown = models[:MAX_PANELS]
    said = ""
    if len(models) > len(shown):
        said += f" Only the first {len(shown)} of {len(models)} groups have a path diagram."
    if without:
        said += f" Not drawn, because not fitted: {listed(without)}."
    charts = []
    for model in shown:
        drawn = model.without_insignificant() if significant_only else model
        several = len(models) + len(without) > 1
        title = f"Path diagram · {model.group}" if several else "Path diagram"
        table = _table(drawn)
        charts.append(Chart(title, _drawing(drawn, title, theme), _in_words(drawn) + said, table))
    return tuple(charts)


def _table(model: PathModel) -> pd.DataFrame:
    """What is drawn: from, to, kind, value, p."""
    loadings = model.loadings.rename(columns={"factor": "from", "item": "to"})
    parts = [loadings.assign(kind="loading")]
    for pairs, kind in (
        (model.correlations, "correlation of factors"),
        (model.pairs, "residual correlation"),
    ):
        parts.append(pairs.rename(columns={"first": "from", "second": "to"}).assign(kind=kind))
    rest = pd.DataFrame({"to": list(model.items), "kind": "unexplained (1 - R²)"})
    rest["value"] = rest["to"].map(model.unexplained).astype(float)
    parts.append(rest.assign(**{"from": ""}))
    columns = ["from", "to", "kind", "value", "p"]
    filled = [part.reindex(columns=columns).astype({"value": float, "p": float}) for part in parts]
    return pd.concat([part for part in filled if len(part)], ignore_index=True)


def _in_words(model: PathModel) -> str:
    """The diagram for those who cannot see it."""
    own = model.loadings.dropna(subset=["value"])
    words = [
        f"Path diagram of {model.group}, n = {model.n:,}: "
        f"{counted(len(model.factors) + len(model.higher), 'factor')} "
        f"({listed([*model.higher, *model.factors])}) and {counted(len(model.items), 'item')}"
    ]
    if len(own):
        ranked = own.sort_values("value", key=abs, ascending=False, kind="stable")
        strong, weak = ranked.iloc[0], ranked.iloc[-1]
        words.append(
            f"standardized loadings from {short(own['value'].min())} to "
            f"{short(own['value'].max())}, strongest {strong['item']} on {strong['factor']} "
            f"({short(strong['value'])}), weakest {weak['item']} on {weak['factor']} "
            f"({short(weak['value'])}), {int((own['value'] < 0).sum())} negative (dashed)"
        )
    if model.n_hidden:
        words.append(f"{counted(model.n_hidden, 'loading')} with p of .05 or more not drawn")
    words += [
        f"{what} " + listed([f"{a} with {b} {short(r)}" for a, b, r in
                             zip(own["first"], own["second"], own["value"], strict=True)])
        for what, own in (("correlation of factors", model.correlations),
                          ("residual correlation", model.pairs)) if len(own)
    ]  # fmt: skip
    cut = f" Only the first {len(model.items)} of {model.n_items} items are drawn." if (
        model.n_items > len(model.items)
    ) else ""  # fmt: skip
    return f"{'; '.join(words)}.{cut}"


def _drawing(model: PathModel, title: str, theme: Theme) -> Any:
    """The chart of one group."""
    layout = laid_out(model)
    hidden = "; only loadings with p < .05 are drawn" if model.n_hidden else ""
    heading = alt.TitleParams(
        title,
        subtitle=[
            f"Standardized solution, n = {model.n:,}. Dashed: negative; thicker: larger{hidden}.",
            "Circles: factors; boxes: items; right of a box: its unexplained share, 1 − R².",
        ],
        subtitleColor=INK[theme],
        anchor="start",
    )
    layers = path_layers(model, layout, theme)
    height = layout.height + _TITLE_HEIGHT
    return alt.layer(*layers).properties(width="container", height=height, title=heading)

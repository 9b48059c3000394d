"""Wordings of items beside their codes, in any chart: on axes, in tooltips, in the chart's table.

A wording is data: it comes to a picture by a lookup, and never as a field, a format or an
expression. So a text may hold quotes, braces or tags.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from core.charts import lazy_altair as alt
from core.charts.panels import Chart

LABEL_LENGTH = 28  # characters of a wording on an axis
MOST_LABELLED = 40  # items of an axis with wordings; with more, an axis has codes alone
_OVERRIDES = dict.fromkeys(
    map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)
_GAP = "\u2002"  # which a picture does not shorten to one blank
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"


def item_label(code: str, text: str) -> str:
    """The code and the beginning of the wording, as on an axis."""
    cut = _cut(text)
    return f"{code}{_GAP}{cut}" if cut else code


def with_item_texts(chart: Chart, texts: Mapping[str, str]) -> Chart:
    """The chart with the wording of each item beside its code.

    Parameters
    ----------
    chart : Chart
        Its `item_columns` hold codes of items.
    texts : mapping of item code to wording
        A code without a wording stays as it is.

    Returns
    -------
    Chart
        Axes and names read "code  beginning of the wording", tooltips have a line with the full
        wording, and the table has a column with it beside each column of codes.
    """
    columns = [
        name
        for name in chart.item_columns
        if name in chart.table and any(texts.get(code) for code in chart.table[name].astype(str))
    ]
    if not columns:
        return chart
    codes = dict.fromkeys(str(code) for name in columns for code in chart.table[name])
    labels = {code: item_label(code, texts.get(code, "")) for code in codes}
    rows = [
        {"code": code, "label": label, "text": texts.get(code, "")}
        for code, label in labels.items()
    ]
    # a picture may have a field of items that its table calls otherwise
    fields = {*columns, *(name for name in chart.item_columns if name not in chart.table)}
    spec = _copied(chart.spec)
    for unit in _units(spec):
        _add_texts(unit, fields, labels, rows)
    table = chart.table.copy()
    for name in columns:
        wordings = chart.table[name].astype(str).map(lambda code: texts.get(code, ""))
        table.insert(list(table.columns).index(name) + 1, f"{name}_text", wordings)
    return replace(chart, spec=spec, table=table)


def _cut(text: str) -> str:
    """The beginning of a text in one line; a text from right to left keeps to itself."""
    line = " ".join(text[: 20 * LABEL_LENGTH].translate(_OVERRIDES).split())
    if len(line) > LABEL_LENGTH:
        line = line[: LABEL_LENGTH - 1].rstrip() + "…"
    turned = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in line)
    return f"{_ISOLATE}{line}{_END_ISOLATE}" if turned else line


def _copied(spec: Any) -> Any:
    """A copy whose single charts and their encodings may be changed.

    Altair would copy every part of every layer several times.
    """
    copied = copy(spec)
    object.__setattr__(copied, "_kwds", dict(spec._kwds))
    for name in ("vconcat", "layer"):
        parts = spec._kwds.get(name)
        if isinstance(parts, list):
            copied[name] = [_copied(part) for part in parts]
    if isinstance(spec._kwds.get("encoding"), alt.SchemaBase):
        copied.encoding = _copied(spec.encoding)
    return copied


def _units(spec: Any) -> Iterator[Any]:
    """The single charts of a picture."""
    parts = getattr(spec, "layer", None) or getattr(spec, "vconcat", None)
    if isinstance(parts, list):
        for part in parts:
            yield from _units(part)
    else:
        yield spec


def _add_texts(
    unit: Any, fields: set[str], labels: Mapping[str, str], rows: Sequence[Mapping[str, str]]
) -> None:
    """Change the encodings of one chart, which is a copy, and let it look the wordings up."""
    used = set()
    for channel in ("x", "y", "text"):
        encoded = getattr(unit.encoding, channel, alt.Undefined)
        name = _field(encoded)
        axis = channel != "text"
        if name in fields and not (axis and len(labels) > MOST_LABELLED):
            used.add(name)
            changed: dict[str, Any] = {"shorthand": f"{name}_label:N"}
            sort = _arguments(encoded).get("sort")
            if axis and isinstance(sort, list):
                changed["sort"] = [labels.get(str(code), code) for code in sort]
            setattr(unit.encoding, channel, type(encoded)(**{**_arguments(encoded), **changed}))
    tips = getattr(unit.encoding, "tooltip", alt.Undefined)
    if isinstance(tips, list):
        longer = []
        for tip in tips:
            name = _field(tip)
            longer.append(tip)
            if name in fields:
                used.add(name)
                of = "" if name == "item" else f", {name}"
                longer.append(alt.Tooltip(f"{name}_text:N", title=f"Wording{of}"))
        unit.encoding.tooltip = longer
    lookups = [
        alt.LookupTransform(
            lookup=name,
            **{
                "from": alt.LookupData(
                    data=alt.InlineData(values=list(rows)), key="code", fields=["label", "text"]
                ),
                "as": [f"{name}_label", f"{name}_text"],
            },
        )
        for name in sorted(used)
    ]
    if lookups:
        before = unit.transform if isinstance(unit.transform, list) else []
        unit.transform = [*lookups, *before]


def _field(encoded: Any) -> str:
    """The field of an encoding; empty where it has none."""
    if encoded is alt.Undefined or not isinstance(encoded, alt.SchemaBase):
        return ""
    arguments = _arguments(encoded)
    name = arguments.get("field") or arguments.get("shorthand")
    return name.rsplit(":", 1)[0] if isinstance(name, str) else ""


def _arguments(encoded: Any) -> dict[str, Any]:
    """What an encoding was made with."""
    return {key: value for key, value in encoded._kwds.items() if value is not alt.Undefined}

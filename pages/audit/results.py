"""How far coders agree with each other and with Inkblot: tables and files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import number_text, percent_text, round_frame
from core.domain.results import Column, ResultTable
from core.workflow.answers import agreement, audits
from core.workflow.answers.audits import FINAL, READER, Audit, CodedSample
from core.workflow.answers.readings import explanation
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses
from pages.shared import downloads, widgets
from pages.shared.widgets import plain, workspace

_DECIMALS = {"proportion": 3, "correlation": 2}
_FORMATS = {"count": "%d"} | {unit: f"%.{decimals}f" for unit, decimals in _DECIMALS.items()}


def standing(audit: Audit, sample: CodedSample, coder: str) -> None:
    """Where one stands: replies coded by each coder, and how far they agree."""
    counts = audits.list_coders(workspace(), audit)
    own = counts.get(coder, 0)
    parts = [f"{name}: {n:,} of {audit.n:,}" for name, n in counts.items() if name != coder]
    pairs = agreement.coder_agreement(sample).frame
    for first, second in combinations(sample.coders, 2):
        row = _all_models(pairs, first, second)
        if row["coded"]:
            parts.append(_kappa_words(row, f"{first} and {second}"))
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    left.progress(own / audit.n, f"{own:,} of {audit.n:,} replies coded")
    if parts:
        right.caption(plain(" · ".join(parts)))


def agreement_section(study: StudyRecord, audit: Audit, sample: CodedSample, coder: str) -> None:
    """Agreement of coders by model and status, their cross-table, and agreement with Inkblot."""
    if not any(sample.codes[READER].get(t) for of in sample.coders for t in sample.codes[of]):
        waits = audit.at_end and sample.coders
        st.info(
            "The result is shown when every reply is coded, as chosen when drawing the sample."
            if waits
            else "Code a reply to see a result here."
        )
        return
    stem = "_".join(
        [
            f"{downloads.file_stem(study.code)}-audit",
            f"{audit.seed}",
            f"{audit.per_model}",
            *audit.kinds,
        ]
    )
    if len(sample.coders) > 1:
        _coders(sample, stem)
    _reader(audit, sample, coder, stem)


def _coders(sample: CodedSample, stem: str) -> None:
    st.header("How often coders agree")
    st.caption(
        "Of the replies that both have coded, as they are coded now. Interval of the agreement: "
        "Wilson (1927), 95 %. Kappa: Cohen (1960); interval: Fleiss, Cohen and Everitt (1969)."
    )
    pairs = agreement.coder_agreement(sample)
    _show(pairs, f"Agreement of coders: {len(pairs.frame)}")
    _csv("CSV", pairs, f"{stem}-coders.csv")


def _reader(audit: Audit, sample: CodedSample, coder: str, stem: str) -> None:
    st.header("How often Inkblot and coders agree")
    table = agreement.results(sample)
    st.caption(
        "Success: Inkblot read the same option as the coder, or no option where the coder read "
        "none. Interval: Wilson (1927), 95 %. Kappa: Cohen (1960). Inkblot's reading is the one "
        "now in the data, or the one that a person's coding replaced. The final coding is the "
        "adjudicator's, or the one on which all who coded the reply agree."
    )
    if audit.kinds:
        kinds = ", ".join(audits.KIND_WORDS[kind] for kind in audit.kinds)
        st.caption(
            f"This sample has only replies of these kinds: {kinds}. A rate over all of them is not "
            "the rate of the study."
        )
    _show(table, f"Agreement of coders and Inkblot, by model: {len(table.frame)}")
    with st.container(horizontal=True):
        _csv("CSV", table, f"{stem}.csv")
        data = analyses.export.frame_csv(audits.codings(workspace(), audit, coder))
        widgets.download("All codings (CSV)", data, f"{stem}-codings.csv", key="audit_codings_csv")
    _by_reading(sample, stem)
    _one_pair(sample, stem)


def _by_reading(sample: CodedSample, stem: str) -> None:
    """Agreement by certainty, layer, disclaimer or judge: whether guesses are worse."""
    if not any(reading.layer for reading in sample.readings.values()):
        return
    st.header("Whether unsure readings are worse")
    rater = FINAL if len(sample.coders) > 1 else sample.coders[0]
    words = agreement.certainty_sentence(sample, rater)
    if words:
        st.markdown(plain(words))
    chosen = st.segmented_control(
        "By",
        [one for one in agreement.FEATURES if agreement.kinds_of(sample, one)],
        default="certainty",
        required=True,
        key="audit_feature",
        format_func=agreement.FEATURES.__getitem__,
        help=explanation(),
    )
    table = agreement.reading_agreement(sample)
    own = table.frame[table.frame["feature"] == agreement.FEATURES[chosen or "certainty"]]
    columns = tuple(column for column in table.columns if column.name != "feature")
    shown = ResultTable(table.name, table.title, own.drop(columns="feature"), columns)
    _show(shown, f"Agreement by how replies were read: {len(own)}")
    _csv("CSV", table, f"{stem}-readings.csv")


def _one_pair(sample: CodedSample, stem: str) -> None:
    """Agreement on each status, and the cross-table, of a pair that one chooses."""
    st.header("Which statuses and codes they agree on")
    raters = (*sample.coders, FINAL) if len(sample.coders) > 1 else sample.coders
    pairs = [*combinations(sample.coders, 2), *((rater, READER) for rater in raters)]
    chosen = st.selectbox(
        "Coders",
        range(len(pairs)),
        format_func=lambda n: " and ".join(pairs[n]),
        key=f"audit_pair:{len(pairs)}",
        width=420,
    )
    first, second = pairs[chosen]
    statuses = agreement.status_agreement(sample, first, second)
    left, right = st.columns(2)
    with left:
        st.caption(
            "Agreement on a status: where one of the two gave it, the share in which the other "
            "gave it too, 2a / (2a + b + c) (Fleiss, 1981). 'Answered' stands for any option."
        )
        _show(statuses, f"Agreement by status: {len(statuses.frame)}")
        _csv("CSV", statuses, f"{stem}-statuses.csv")
    with right:
        crossed = agreement.cross_table(sample, first, second)
        st.caption(plain(f"Replies. Rows: {first}. Columns: {second}. Agreement is the diagonal."))
        _show(crossed, f"Codes of {first} by codes of {second}: {len(crossed.frame)}")
        _csv("CSV", crossed, f"{stem}-cross_table.csv")


def _show(table: ResultTable, alt: str) -> None:
    columns = _shown_columns(table)
    shown = _rounded(table)[[column.name for column in columns]]
    widgets.table(
        shown.rename(columns={column.name: column.title for column in columns}),
        alt=alt,
        placeholder="undefined",
        column_config={
            c.title: st.column_config.NumberColumn(c.title, format=_FORMATS[c.unit], help=c.help)
            if c.unit in _FORMATS
            else st.column_config.TextColumn(c.title, help=c.help or None)
            for c in columns
        },
    )


def _shown_columns(table: ResultTable) -> list[Column]:
    """Columns in the order of reading, without those that say the same in each row.

    In files, columns that came later stand at the end.
    """
    alike = [
        name
        for name in ("coder", "model", "reason")
        if name in table.frame and len(set(table.frame[name])) < 2
    ]
    columns = [column for column in table.columns if column.name not in alike]
    names = [column.name for column in columns]
    place = {name: float(n) for n, name in enumerate(names)} | {"coder": -1.0}
    if "kappa_kinds" in place:
        place["kappa_kinds_low"] = place["kappa_kinds"] + 0.1
        place["kappa_kinds_high"] = place["kappa_kinds"] + 0.2
    return sorted(columns, key=lambda column: place[column.name])


def _rounded(table: ResultTable) -> pd.DataFrame:
    frame = table.frame
    for column in table.columns:
        if column.unit in _DECIMALS:
            frame = round_frame(frame, _DECIMALS[column.unit], [column.name])
    return frame


def _csv(label: str, table: ResultTable, name: str) -> None:
    data = analyses.export.table_csv(table)
    widgets.download(label, data, name, key=f"audit_csv_{table.name}")


def _all_models(frame: pd.DataFrame, first: str, second: str) -> Mapping[Any, Any]:
    rows = frame[(frame["first"] == first) & (frame["second"] == second)].to_dict("records")
    return rows[-1]


def _kappa_words(row: Mapping[Any, Any], names: str) -> str:
    kappa = row["kappa_kinds"]
    if math.isnan(kappa):
        return f"{names}: kappa is undefined (n = {row['coded']:,})"
    ends = [number_text(row[f"kappa_kinds_{end}"], 2) for end in ("low", "high")]
    interval = f" [{', '.join(ends)}]" if not math.isnan(row["kappa_kinds_low"]) else ""
    return (
        f"{names}: kappa {number_text(kappa, 2)}{interval}, the same code in "
        f"{percent_text(row['agreement'])} (n = {row['coded']:,})"
    )

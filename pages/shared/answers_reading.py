"""Reading a study's replies again with the present rules: what would change, and doing it."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.rounding import rounded_frame
from core.workflow import answers, recoding
from core.workflow.recoding import Preview
from core.workflow.studies import StudyRecord
from pages.shared import widgets

_PAGE_SIZE = 50


def reading_section(study: StudyRecord) -> None:
    """Buttons that read the replies again and show what would change, then make the changes."""
    with st.expander("Read the replies again"):
        st.caption(
            "Inkblot's rules for reading replies get better from version to version. Here the "
            "replies on file are read again with the present rules; no model is asked. You see "
            "what would change before anything does, and the old readings are kept."
        )
        if study.kind == "imported":
            st.info("These answers were imported; they are as their file has them.")
            return
        if study.n_responses == 0:
            st.info("There are no replies yet.")
            return
        st.text(_read_by(recoding.versions(widgets.workspace(), study.code)))
        persons = st.checkbox(
            "Also answers that a person has set",
            key=f"reread_persons:{study.code}",
            help="Without this they stay as the person set them.",
        )
        if st.button("Show what would change", key="reread", icon=":material/find_replace:"):
            _read(study.code, persons=persons)
        found: Preview | None = st.session_state.get(_name(study.code))
        if found is not None:
            _show(found)
        done = st.session_state.pop(f"reread_done:{study.code}", None)
        if done is not None:
            st.success(
                f"{counted(done, 'answer')} changed. What was there before is kept with each."
            )


def _read(study: str, *, persons: bool) -> None:
    bar = st.progress(0.0, "Reading the replies ...")
    found = recoding.preview(
        widgets.workspace(), study, persons=persons,
        report=lambda share: bar.progress(share, f"Reading the replies: {share:.0%}"),
    )  # fmt: skip
    bar.empty()
    st.session_state[_name(study)] = found


def _show(found: Preview) -> None:
    kept = f" {found.n_kept:,} set by a person were left alone." if found.n_kept else ""
    st.write(
        f"**{found.n_changed:,}** of {counted(found.n_read, 'answer')} would change under version "
        f"{found.parser} of the rules.{kept}"
    )
    if found.n_changed:
        st.markdown("**From what to what**")
        widgets.table(_kinds(found), alt=f"Kinds of changes: {len(found.kinds)}")
        _means(found.means)
        _changes(found)
    change = f"Change {counted(found.n_changed, 'answer')}"
    with st.container(horizontal=True):
        st.button(
            change if found.n_changed else "Note the version",
            key="reread_apply", type="primary", on_click=_apply, args=(found,),
            help="Answers that have changed in the meantime stay as they are. All others are noted "
            "as read by the present version.",
        )  # fmt: skip
        st.button("Leave all as it is", key="reread_drop", on_click=_drop, args=(found.study,))


def _kinds(found: Preview) -> pd.DataFrame:
    kinds = found.kinds
    return pd.DataFrame(
        {
            "Now": _in_words(kinds, "old_status", "old_option"),
            "Then": _in_words(kinds, "status", "option"),
            "Answers": kinds["count"],
        }
    )


def _in_words(frame: pd.DataFrame, status: str, option: str) -> list[str]:
    return [answers.in_words(s, o) for s, o in zip(frame[status], frame[option], strict=True)]


def _means(means: pd.DataFrame) -> None:
    st.markdown("**Item means that would change**")
    if means.empty:
        st.caption("None.")
        return
    st.caption(
        "Means of recoded points over all conditions of a respondent, in one format; n is the "
        "number of scored answers."
    )
    decimals = st.column_config.NumberColumn(format="%.2f")
    shown = rounded_frame(means, 2).rename(
        columns={
            "respondent": "Respondent", "format": "Format", "item": "Item", "old_mean": "Mean now",
            "new_mean": "Mean then", "old_n": "n now", "new_n": "n then", "changed": "Answers",
        }
    )  # fmt: skip
    widgets.table(
        shown, alt=f"Item means that would change: {len(means)}", placeholder="undefined",
        column_config={"Mean now": decimals, "Mean then": decimals},
    )  # fmt: skip


def _changes(found: Preview) -> None:
    st.markdown("**Every answer that would change**")
    last = math.ceil(found.n_changed / _PAGE_SIZE)
    number = 1
    if last > 1:
        number = int(st.number_input(f"Page, 1 to {last:,}", 1, last, key="reread_page", width=160))
    rows = recoding.page_of_changes(
        widgets.workspace(), found, offset=(number - 1) * _PAGE_SIZE, limit=_PAGE_SIZE
    )
    shown = rows.drop(columns="trial_id").rename(
        columns={
            "ordinal": "Place", "respondent": "Respondent", "item": "Item", "before": "Now",
            "after": "Then", "reply": "Reply",
        }
    )  # fmt: skip
    widgets.table(
        shown, alt=f"Answers that would change, page {number} of {last}",
        column_config={
            name: st.column_config.TextColumn(name) for name in shown.columns if name != "Place"
        },
    )  # fmt: skip


def _apply(found: Preview) -> None:
    with widgets.error_box():
        st.session_state[f"reread_done:{found.study}"] = recoding.apply(widgets.workspace(), found)
        st.cache_data.clear()  # numbers on other pages rest on what has just changed
    _drop(found.study)


def _drop(study: str) -> None:
    st.session_state.pop(_name(study), None)


def _name(study: str) -> str:
    return f"reread:{study}"


def _read_by(versions: dict[int | None, int]) -> str:
    parts = [
        f"{count:,} by version {version}" if version is not None
        else f"{count:,} set by a person"
        for version, count in versions.items()
    ]  # fmt: skip
    return f"Answers were read: {', '.join(parts)}. Present version: {recoding.PARSER_VERSION}."

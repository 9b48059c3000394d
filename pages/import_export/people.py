"""What a study knows of its people: the kind of each fact, and the values of each person."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.workflow import people
from core.workflow.designs.studies import StudyRecord
from pages.shared import grids
from pages.shared.widgets import plain, workspace

_FACT, _KIND, _LEVELS, _PERSON = "Fact", "Kind", "Levels, in order", "Person"
_MOST_PEOPLE = 2_000  # in the table; a file says it of more


def people_section(study: StudyRecord) -> None:
    """Facts about the people of a study, such as their age, to see and to correct."""
    facts = people.facts(workspace(), study.code)
    if not facts:
        return
    st.markdown("**People of the study**")
    table = people.table(workspace(), study.code)
    st.caption(
        f"Facts about {len(table):,} people, the same in all answers of a person. Every export has "
        "them as columns, such as person.age. What you change is saved at once."
    )
    known = _edited_facts(study.code, facts, table)
    rows = _edited_people(study.code, known, table)
    if tuple(known) != facts or not rows.equals(table):
        people.save(workspace(), study.code, known, rows)
        st.caption(":material/check: Saved.")


def _edited_facts(
    study: str, facts: tuple[people.PersonFact, ...], table: pd.DataFrame
) -> list[people.PersonFact]:
    words = people.level_words(facts)
    frame = _first(
        f"people_facts:{study}",
        pd.DataFrame(
            [{_FACT: f.name, _KIND: people.FACT_KINDS[f.kind], _LEVELS: words[f.name]}
             for f in facts]
        ),
    )  # fmt: skip
    edited = st.data_editor(
        frame, key=f"people_facts_grid:{study}", hide_index=True, disabled=[_FACT],
        column_config={
            _KIND: st.column_config.SelectboxColumn(
                _KIND, options=list(people.FACT_KINDS.values()), required=True,
                help="A number can be averaged; ordered categories have a first and a last level.",
            ),
            _LEVELS: st.column_config.TextColumn(
                _LEVELS, width="large", help="With < between them, such as: low < middle < high."
            ),
        },
        alt="Facts about people: kind and levels",
    )  # fmt: skip
    kinds = {title: kind for kind, title in people.FACT_KINDS.items()}
    return [
        people.as_typed(fact, kinds[str(kind)], str(levels or ""), table[fact.name].tolist())
        for fact, kind, levels in zip(facts, edited[_KIND], edited[_LEVELS], strict=True)
    ]


def _edited_people(study: str, known: list[people.PersonFact], table: pd.DataFrame) -> pd.DataFrame:
    names = [fact.name for fact in known]
    shown = table.head(_MOST_PEOPLE)
    frame = _first(f"people_values:{study}", shown.rename(columns={"context": _PERSON}))
    edited = st.data_editor(
        frame, key=f"people_values_grid:{study}", hide_index=True, disabled=[_PERSON],
        height=37 + 35 * min(len(frame), 12),
        column_config={name: st.column_config.TextColumn(plain(name)) for name in names},
        alt="Values of each person",
    )  # fmt: skip
    grids.fetch_editors()
    if len(table) > len(shown):
        st.caption(f"The first {len(shown):,} of {len(table):,} people.")
    own = edited.rename(columns={_PERSON: "context"})[["context", *names]].fillna("")
    return pd.concat([own.astype("str"), table.iloc[len(shown) :]], ignore_index=True)


def _first(key: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as it was when its grid was drawn; the grid itself holds what was typed since.

    Another grid is drawn where people or facts came or went, as by an import.
    """
    shape = (tuple(frame.columns), tuple(frame.iloc[:, 0]))
    kept: tuple[object, pd.DataFrame] | None = st.session_state.get(key)
    if kept is None or kept[0] != shape:
        kept = st.session_state[key] = (shape, frame)
        st.session_state.pop(key.replace(":", "_grid:", 1), None)
    return kept[1]

"""What a study knows of its people: the kind of each fact, and the values of each person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.factors import fact_name
from core.workflow import people
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import person_facts
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
    kinds = _Grid(f"people_facts:{study.code}", _facts_frame(facts))
    kinds.edit(
        [_FACT],
        {
            _KIND: st.column_config.SelectboxColumn(
                _KIND,
                options=list(people.FACT_KINDS.values()),
                required=True,
                help="A number can be averaged; ordered categories have a first and a last level.",
            ),
            _LEVELS: st.column_config.TextColumn(
                _LEVELS,
                width="large",
                help="Tables and charts show them in this order. Ordered ones have < between them: "
                "low < middle < high; others a comma. Of a number: where each band but the first "
                "begins. 30, 45 makes under 30, 30 to 44, 45 and over.",
            ),
        },
        "Facts about people: kind and levels",
    )
    shown = table.head(_MOST_PEOPLE).rename(columns={"context": _PERSON})
    values = _Grid(f"people_values:{study.code}", shown)
    values.edit([_PERSON], {}, "Values of each person")
    grids.fetch_editors()
    if len(table) > len(shown):
        st.caption(f"The first {len(shown):,} of {len(table):,} people.")
    if kinds.is_changed or values.is_changed:
        rows = values.onto(table)
        known = [
            people.as_typed(fact, _kind(kind), str(levels or ""), rows[fact.name].tolist())
            for fact, kind, levels in zip(
                facts,
                *(kinds.onto(_facts_frame(facts))[name] for name in (_KIND, _LEVELS)),
                strict=True,
            )
        ]
        people.save(workspace(), study.code, known, rows)
        kinds.keep()
        values.keep()
        st.caption(":material/check: Saved.")
    if words := _bands_words(study.code):
        st.caption(words)


def _facts_frame(facts: Sequence[people.PersonFact]) -> pd.DataFrame:
    words = people.level_words(facts)
    return pd.DataFrame(
        [
            {_FACT: fact.name, _KIND: people.FACT_KINDS[fact.kind], _LEVELS: words[fact.name]}
            for fact in facts
        ]
    )


def _bands_words(study: str) -> str:
    """The bands of each number, as groups and filters name them."""
    return " ".join(
        f"Bands of {plain(fact_name(name))}: "
        f"{', '.join(plain(band.name) for band in fact.bands)}"
        f"{'' if fact.typed_bands else ' (near the quartiles)'}."
        for name, fact in person_facts.known_facts(workspace().database, [study]).items()
        if fact.bands
    )


def _kind(title: object) -> people.FactKind:
    return next(kind for kind, own in people.FACT_KINDS.items() if own == title)


class _Grid:
    """A table to edit, of which only cells changed here and now are written.

    Another tab may have changed other cells since the grid was drawn: those stay as they are on
    file. Another grid is drawn where rows or columns came or went, as by an import.
    """

    def __init__(self, key: str, frame: pd.DataFrame) -> None:
        shape = (tuple(frame.columns), tuple(frame.iloc[:, 0]))
        kept: tuple[object, pd.DataFrame, pd.DataFrame] | None = st.session_state.get(key)
        if kept is None or kept[0] != shape:
            kept = st.session_state[key] = (shape, frame, frame)
            st.session_state.pop(f"{key}:grid", None)
        self._key = key
        self._shape, self._drawn, self._seen = kept
        self._edited = frame

    def edit(self, fixed: list[str], columns: dict[str, Any], alt: str) -> None:
        """Draw the grid; it keeps the rows with which it was drawn first."""
        edited = st.data_editor(
            self._drawn,
            key=f"{self._key}:grid",
            hide_index=True,
            disabled=fixed,
            height=37 + 35 * min(len(self._drawn), 12),
            column_config=columns,
            alt=alt,
        )
        self._edited = edited.fillna("").astype("str")

    @property
    def is_changed(self) -> bool:
        """Whether a cell was changed since the last ones were written."""
        return bool(self._changed().to_numpy().any())

    def _changed(self) -> pd.DataFrame:
        return self._edited != self._seen.astype("str")

    def onto(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table on file with the cells that were changed."""
        changed, made = self._changed(), table.copy()
        for name in changed.columns[changed.any()]:
            rows = changed.index[changed[name]]
            made.loc[rows, name] = self._edited.loc[rows, name]
        return made

    def keep(self) -> None:
        """Take what was changed as written."""
        st.session_state[self._key] = (self._shape, self._drawn, self._edited)

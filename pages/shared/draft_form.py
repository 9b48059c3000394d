"""A form that saves each field in the database when the user leaves the field.

The draft in the database is the truth, and the widgets show it. So a reload, another page and a
second tab show the same values, and the form warns if two tabs change the same field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from core.domain.numbers import count_text
from core.workflow import saved_inputs
from pages.shared import widgets

_SEEN = "draft_seen:"
_NOTE = "draft_note:"
_MISSING = object()


@dataclass(frozen=True)
class DraftForm:
    """The fields of one draft. `defaults` holds every field as it is before anything is typed."""

    name: str
    fields: Mapping[str, Any]
    defaults: Mapping[str, Any]
    saved_at: str  # empty: nothing is kept yet

    def text(
        self,
        field: str,
        label: str,
        *,
        shape: tuple[str, str] | None = None,
        shown: str | None = None,
        **options: Any,
    ) -> None:
        """A field of one line of text. Without `shape` (a pattern, and its words) any is kept.

        `shown` is the text of a value that is not a text.
        """
        self._seed(field, _MISSING if shown is None else shown)
        st.text_input(label, **self._wired(field, shape=shape), **options)

    def long_text(self, field: str, label: str, **options: Any) -> None:
        """A field of several lines of text."""
        self._seed(field)
        st.text_area(label, **self._wired(field), **options)

    def number(
        self, field: str, label: str, low: float | None, high: float | None, **options: Any
    ) -> None:
        """A field for a number, or (with value=None among the options) for none."""
        kind = type(options.get("step", 1))
        value = self.fields[field]
        self._seed(field, None if value is None else kind(value))
        bounds = [None if bound is None else kind(bound) for bound in (low, high)]
        number_input: Any = st.number_input
        number_input(label, *bounds, **self._wired(field), **options)

    def toggle(self, field: str, label: str, **options: Any) -> None:
        """A field that is on or off."""
        self._seed(field)
        st.toggle(label, **self._wired(field), **options)

    def select(
        self,
        field: str,
        label: str,
        choices: Sequence[Any],
        words: Callable[[Any], str],
        *,
        on_change: Callable[[], None] | None = None,
        **options: Any,
    ) -> None:
        """A field with one of several choices. A choice that no longer exists shows as none."""
        value = self.fields[field]
        there = value in choices
        self._seed(field, value if there else None)
        wired = self._wired(field, then=on_change)
        index = 0 if there else None  # None lets it be empty
        st.selectbox(label, choices, index=index, format_func=words, **wired, **options)

    def radio(self, field: str, label: str, words: Mapping[Any, str], **options: Any) -> None:
        """A field with one of a few choices, all visible."""
        self._seed(field)
        wired = self._wired(field)
        st.radio(label, list(words), format_func=words.__getitem__, **wired, **options)

    def several(
        self,
        field: str,
        label: str,
        choices: Sequence[Any],
        words: Callable[[Any], str],
        **options: Any,
    ) -> None:
        """A field with any number of choices."""
        self._seed(field, [value for value in self.fields[field] if value in choices])
        wired = self._wired(field)
        st.multiselect(label, choices, format_func=words, wrap=True, **wired, **options)

    def show_notes(self) -> None:
        """A warning about the last change, and the time when the draft was saved."""
        note = st.session_state.pop(_NOTE + self.name, None)
        if note:
            st.warning(note)
        if self.saved_at:
            st.caption(f"Saved at {self.saved_at}")

    def _seed(self, field: str, value: Any = _MISSING) -> None:
        """Set a widget to the saved value, unless it shows it (the user may be typing in it)."""
        key = key_of(self.name, field)
        stored_value = self.fields[field] if value is _MISSING else value
        if st.session_state.get(key, _MISSING) != stored_value:
            st.session_state[key] = stored_value

    def _wired(
        self,
        field: str,
        *,
        then: Callable[[], None] | None = None,
        shape: tuple[str, str] | None = None,
    ) -> dict[str, Any]:
        return {
            "key": key_of(self.name, field),
            "on_change": _keep,
            "args": (self.name, field, self.defaults, then, shape),
        }


def open_form(name: str, defaults: Mapping[str, Any]) -> DraftForm:
    """The form of a draft as it is in the database now."""
    draft = saved_inputs.load(widgets.workspace(), name)
    fields = {**defaults, **(cast("dict[str, Any]", draft.value) if draft else {})}
    seen = st.session_state.get(_SEEN + name)
    if seen is not None and seen != fields and _NOTE + name not in st.session_state:
        changed = [field for field in fields if fields[field] != seen.get(field)]
        st.session_state[_NOTE + name] = (
            f"This was changed in another tab ({count_text(len(changed), 'field')}); "
            "the page now shows the newer state."
        )
    st.session_state[_SEEN + name] = fields
    saved_at = draft.saved_at.astimezone().strftime("%H:%M:%S") if draft else ""
    return DraftForm(name, fields, defaults, saved_at)


def stored_fields(name: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are in the database now."""
    draft = saved_inputs.load(widgets.workspace(), name)
    return {**defaults, **(cast("dict[str, Any]", draft.value) if draft else {})}


def key_of(name: str, field: str) -> str:
    """The widget key of a field."""
    return f"{name}:{field}"


def set_fields(name: str, defaults: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Change fields of a draft from a button or another field."""
    workspace = widgets.workspace()
    draft = saved_inputs.load(workspace, name)
    stored = saved_inputs.update(workspace, name, changes if draft else {**defaults, **changes})
    seen = st.session_state.get(_SEEN + name)
    if seen is not None:  # no warning about a change of this tab
        st.session_state[_SEEN + name] = {**seen, **{f: stored[f] for f in changes}}


def forget(name: str) -> None:
    """Delete a draft that has been used or discarded."""
    saved_inputs.save(widgets.workspace(), name, None)
    st.session_state.pop(_SEEN + name, None)


def _keep(
    name: str,
    field: str,
    defaults: Mapping[str, Any],
    then: Callable[[], None] | None,
    shape: tuple[str, str] | None,
) -> None:
    value = st.session_state[key_of(name, field)]
    refused = _refusal(value, shape)
    if refused:
        st.session_state[_NOTE + name] = refused
        return
    _note_conflict(name, field, defaults)
    set_fields(name, defaults, {field: value})
    if then is not None:
        then()


def _refusal(value: Any, shape: tuple[str, str] | None) -> str:
    """Why a value is not saved, or empty. The message never repeats the value: it may be a key."""
    if not isinstance(value, str):
        return ""
    if saved_inputs.looks_like_key(value):
        return (
            "Your input looks like the key of a service and was not saved. "
            "Type it into the field for the key, which is never written down."
        )
    if shape and value and not re.fullmatch(shape[0], value.strip()):
        return shape[1]
    return ""


def changed_elsewhere(name: str, field: str) -> bool:
    """Whether another tab has changed a field since this tab drew it."""
    seen = st.session_state.get(_SEEN + name)
    draft = saved_inputs.load(widgets.workspace(), name)
    if seen is None or draft is None or field not in draft.value:
        return False
    return bool(draft.value[field] != seen.get(field))


def _note_conflict(name: str, field: str, defaults: Mapping[str, Any]) -> None:
    """Warn if another tab has changed the same field since this tab drew it."""
    if changed_elsewhere(name, field):
        other = stored_fields(name, defaults)[field]
        st.session_state[_NOTE + name] = (
            f'Another tab changed the same field to "{widgets.plain(other)}"; '
            "your last input was saved."
        )

"""Forms of declared fields. Each field is saved in the database when the user leaves it.

The draft in the database is the truth, and the widgets show it. So a reload, another page and a
second tab show the same values, and the form warns if two tabs change the same field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

import streamlit as st

from core.domain.numbers import count_text
from core.workflow import saved_inputs
from pages.shared import widgets

_SEEN = "draft_seen:"
_NOTE = "draft_note:"
_MISSING = object()
_NO_CHOICES: Mapping[str, Mapping[Any, str]] = MappingProxyType({})

Width: TypeAlias = int | Literal["stretch"]

# What a page declares of a field. The class is its kind; `empty` is what an empty field shows.


@dataclass(frozen=True)
class Field:
    """A field: its name in the draft, and its label."""

    name: str
    label: str


@dataclass(frozen=True)
class ToggleField(Field):
    """On or off."""


@dataclass(frozen=True)
class TextField(Field):
    """A line of text."""

    empty: str = ""
    width: Width = "stretch"
    shape: tuple[str, str] | None = None  # a pattern, and what is said of a text of another shape
    words: Callable[[Any], str] | None = None  # of a value that is not a text


@dataclass(frozen=True)
class LongTextField(Field):
    """Several lines of text."""

    empty: str = ""
    height: int | Literal["content"] | None = None


@dataclass(frozen=True)
class NumberField(Field):
    """A number of the type of its step. It may be missing where `empty` is stated."""

    low: float | None = None
    high: float | None = None
    step: float = 1
    empty: str = ""
    format: str | None = None
    width: Width = "stretch"


@dataclass(frozen=True)
class ChoiceField(Field):
    """One of several choices, with or without words; one that no longer exists shows as none."""

    choices: Mapping[Any, str] | Sequence[str] | None = None  # None: stated when it is drawn
    empty: str = ""
    others: bool = False  # whether the user may type another one

    @property
    def words(self) -> Mapping[Any, str]:
        """The choices, each with its words."""
        if isinstance(self.choices, Mapping):
            return self.choices
        return {choice: choice for choice in self.choices or ()}


@dataclass(frozen=True)
class RadioField(ChoiceField):
    """One of a few choices, all visible."""

    horizontal: bool = True
    captions: Sequence[str] | None = None


@dataclass(frozen=True)
class SeveralField(ChoiceField):
    """Any number of choices."""

    removal_key: str = ""  # of a button that removes choices that no longer exist


Part: TypeAlias = "Field | str | tuple[Part, ...]"
"""A field, or the help of the field before it. A tuple is a row, and a tuple in a row a column."""


@dataclass(frozen=True)
class DraftForm:
    """The fields of one draft. `defaults` holds every field as it is before anything is typed."""

    name: str
    fields: Mapping[str, Any]
    defaults: Mapping[str, Any]
    saved_at: str  # empty: nothing is kept yet

    def draw(
        self,
        *parts: Part,
        choices: Mapping[str, Mapping[Any, str]] = _NO_CHOICES,
        columns: Sequence[Any] = (),
    ) -> None:
        """Draw fields one under another, or each in its column.

        `choices` are those of fields that do not state them, by the name of the field.
        """
        cells: list[tuple[Field | tuple[Part, ...], str]] = []
        for part in parts:
            if isinstance(part, str):
                cells[-1] = cells[-1][0], part
            else:
                cells.append((part, ""))
        for number, (cell, help) in enumerate(cells):
            with columns[number] if columns else nullcontext():
                if isinstance(cell, tuple):
                    n_columns = sum(not isinstance(part, str) for part in cell)
                    row = () if columns else st.columns(n_columns)
                    self.draw(*cell, choices=choices, columns=row)
                    continue
                if isinstance(cell, ChoiceField) and cell.choices is None:
                    cell = replace(cell, choices=choices[cell.name])
                value, take = self.fields[cell.name], partial(self.keep, cell)
                draw_field(cell, self.key(cell.name), value, take, help)

    def keep(self, field: Field, value: Any) -> None:
        """Save what the user entered, unless it looks like a key or has another shape."""
        refusal = _refusal(value, field.shape if isinstance(field, TextField) else None)
        if refusal:
            st.session_state[_NOTE + self.name] = refusal
            return
        if self.changed_elsewhere(field.name):
            other = self.stored()[field.name]
            st.session_state[_NOTE + self.name] = (
                f'Another tab changed the same field to "{widgets.plain(other)}"; '
                "your last input was saved."
            )
        self.change({field.name: value})

    def change(self, changes: Mapping[str, Any]) -> None:
        """Change fields of the draft, from a button or another field."""
        workspace = widgets.workspace()
        draft = saved_inputs.load(workspace, self.name)
        before = {} if draft else self.defaults
        stored = saved_inputs.update(workspace, self.name, {**before, **changes})
        seen = st.session_state.get(_SEEN + self.name)
        if seen is not None:  # no warning about a change of this tab
            st.session_state[_SEEN + self.name] = {**seen, **{f: stored[f] for f in changes}}

    def stored(self) -> dict[str, Any]:
        """The fields as they are in the database now, which may be newer than those on screen."""
        draft = saved_inputs.load(widgets.workspace(), self.name)
        return {**self.defaults, **(cast("dict[str, Any]", draft.value) if draft else {})}

    def changed_elsewhere(self, field: str) -> bool:
        """Whether another tab has changed a field since this tab drew it."""
        seen = st.session_state.get(_SEEN + self.name)
        draft = saved_inputs.load(widgets.workspace(), self.name)
        if seen is None or draft is None or field not in draft.value:
            return False
        return bool(draft.value[field] != seen.get(field))

    def forget(self) -> None:
        """Delete the draft, which has been used or discarded."""
        saved_inputs.save(widgets.workspace(), self.name, None)
        st.session_state.pop(_SEEN + self.name, None)

    def key(self, field: str) -> str:
        """The widget key of a field."""
        return f"{self.name}:{field}"

    def show_notes(self) -> None:
        """A warning about the last change, and the time when the draft was saved."""
        note = st.session_state.pop(_NOTE + self.name, None)
        if note:
            st.warning(note)
        if self.saved_at:
            st.caption(f"Saved at {self.saved_at}")


def draw_field(
    field: Field, key: str, value: Any, take: Callable[[Any], None], help: str = ""
) -> None:
    """Draw a field that shows `value`; `take` gets what the user enters."""
    draw, visible = _widget(field, value)
    if st.session_state.get(key, _MISSING) != visible:  # else the user may be typing in it
        st.session_state[key] = visible
    draw(field.label, key=key, help=help or None, on_change=lambda: take(st.session_state[key]))
    if isinstance(field, SeveralField) and field.removal_key:
        warn_unavailable(value, field.words, field.removal_key, take)


def _widget(field: Field, value: Any) -> tuple[Callable[..., Any], Any]:
    """The widget of a field with its options, and the value as the widget shows it."""
    empty = getattr(field, "empty", "")
    options: dict[str, Any] = {"placeholder": empty} if empty else {}
    if isinstance(field, ChoiceField):
        words = field.words
        options |= {"options": list(words), "format_func": lambda choice: words.get(choice, choice)}
    match field:
        case TextField():
            visible = field.words(value) if field.words else value
            return partial(st.text_input, width=field.width, **options), visible
        case LongTextField():
            return partial(st.text_area, height=field.height, **options), value
        case NumberField():
            kind = type(field.step)
            low, high, visible = (
                None if number is None else kind(number)
                for number in (field.low, field.high, value)
            )
            options |= {"value": None} if empty else {}  # else an empty field shows the lowest
            options |= {"step": field.step, "format": field.format, "width": field.width}
            return partial(st.number_input, min_value=low, max_value=high, **options), visible
        case RadioField():
            options |= {"horizontal": field.horizontal, "captions": field.captions}
            return partial(st.radio, **options), value
        case SeveralField():
            visible = [choice for choice in value if choice in words]
            return partial(st.multiselect, wrap=True, **options), visible
        case ChoiceField():
            options |= {"index": 0 if value in words else None}  # None lets it be empty
            visible = value if value in words else None
            return partial(st.selectbox, accept_new_options=field.others, **options), visible
    return st.toggle, value


def warn_unavailable(
    chosen: Sequence[Any], offered: Mapping[Any, str], key: str, take: Callable[[list[Any]], None]
) -> None:
    """Name chosen levels that no longer exist, with a button that removes them."""
    unavailable = [value for value in chosen if value not in offered]
    if not unavailable:
        return
    st.warning(f"Chosen, but no longer available: {widgets.plain(', '.join(unavailable))}.")
    available = [value for value in chosen if value in offered]
    st.button("Remove them", key=key, on_click=take, args=(available,))


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

"""A chooser for the levels of one factor, which tells what was chosen and is gone meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm


def levels(
    form: DraftForm, field: str, label: str, offered: Mapping[str, str], **options: Any
) -> None:
    """Let the user choose any of `offered` (levels with their words)."""
    form.several(field, label, list(offered), offered.__getitem__, **options)
    gone = [value for value in form.fields[field] if value not in offered]
    if gone:
        st.warning(f"Chosen before, and not on offer now: {widgets.plain(', '.join(gone))}.")
        kept = [value for value in form.fields[field] if value in offered]
        st.button(
            "Leave them out", key=f"design_drop:{field}", on_click=draft_form.set_fields,
            args=(form.name, form.defaults, {field: kept}),
        )  # fmt: skip

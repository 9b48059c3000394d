"""Starting from a published design, in full or as a short trial run."""

from __future__ import annotations

import streamlit as st

from core.errors import UserError
from core.workflow import presets
from core.workflow.presets import Preset
from pages.shared import design_frozen, widgets
from pages.shared.draft_form import DraftForm

_CHOSEN = "design_preset"
_SHORT = "design_preset_short"
_NOTE = "design_preset_note"


def start_from_preset(form: DraftForm) -> None:
    """Choose a published design, read what differs from it, and fill the form with it."""
    if note := widgets.last_note(_NOTE):
        st.info(note)
    titles = {preset.code: preset.title for preset in presets.PRESETS}
    code = st.selectbox(
        "Start from a published design", list(titles), index=None, key=_CHOSEN,
        format_func=lambda code: titles.get(code, code), placeholder="Choose a design",
        help="Fills the choices below with the design of a published study, on question banks "
        "that come with Inkblot. The respondents stay as you chose them.",
    )  # fmt: skip
    if code is None:
        return
    with widgets.error_box():
        preset = presets.by_code(code)
        with st.container(border=True):
            _told(preset)
            first_items = _short_variant(preset)
            st.button(
                "Use this design", key="design_use_preset", on_click=_use,
                args=(form, preset, first_items), icon=":material/content_copy:",
                help="Replaces the choices below. 'Back to the design before' undoes it.",
            )  # fmt: skip


def _told(preset: Preset) -> None:
    st.write(widgets.plain(preset.sentence))
    st.caption(f"After {widgets.plain(preset.source)}. Bank: {preset.design.instrument}.")
    differs = "\n".join(f"- {widgets.plain(line)}" for line in preset.differs)
    st.markdown(f"What differs from the published study:\n\n{differs}")


def _short_variant(preset: Preset) -> int | None:
    """How many items a trial run shall have; None for the whole design."""
    short = st.toggle(
        "Short variant for a trial run", key=_SHORT,
        help="A copy of the bank with its first items, kept as a bank of its own; at most "
        f"{presets.SMALL_CONTEXTS} personas or conversations, {presets.SMALL_REPETITIONS} "
        "repetitions and two templates.",
    )  # fmt: skip
    if not short:
        return None
    return st.number_input(
        "Items of the short variant, from the top", 1, None, preset.small, step=1, width=320,
        key=f"design_preset_items:{preset.code}",
        help="Where items are linked in pairs, both halves are taken or neither.",
    )  # fmt: skip


def _use(form: DraftForm, preset: Preset, first_items: int | None) -> None:
    try:
        fields = presets.fields(widgets.workspace(), preset, first_items=first_items)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    design_frozen.replace_fields(form, fields)
    st.session_state[_CHOSEN] = None
    st.session_state[_NOTE] = "The design is filled in below. Look it over before you freeze it."

"""Levels of the factors of a design: what is on offer, and choosers for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.formats import TITLES
from core.domain.instrument import Instrument
from core.domain.languages import language_name
from core.domain.study import LABEL_ORDERS
from core.workflow import prompts
from core.workflow.designs import studies
from core.workflow.designs.blocks import HISTORIES
from core.workflow.respondents import catalog
from core.workflow.templates import editing as template_editing
from pages.respondents.form import KINDS
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm

_MOST_IN_LIST = 500
"""Codes that a list of a browser can offer; more are typed."""

Take = Callable[[list[str]], None]


def offered_levels(form: DraftForm, bank: Instrument) -> dict[str, dict[str, str]]:
    """The levels of each factor that can be chosen, with their words."""
    workspace = widgets.workspace()
    later = studies.opinion_templates(workspace)  # only the second phase of a study has these
    offered = template_editing.offered(workspace)
    drafts = form.fields["blocks"]
    chosen = {code for part in (form.fields, *drafts) for code in part.get("templates", ())}
    return {
        "respondents": {
            person.label: f"{person.label} [{KINDS[person.kind]}]"
            for person in catalog.list_respondents(workspace)
        },
        "formats": {one.code: TITLES.get(one.code, one.code) for one in bank.formats},
        "languages": {code: language_name(code) for code in bank.languages},
        "forms": {name: name for name in bank.forms()},
        "label_orders": {str(code): words for code, words in LABEL_ORDERS.items()},
        "templates": {
            code: f"{template.title} ({code})"
            for code, template in prompts.load_wordings(workspace).templates.items()
            if code in chosen or (code in offered and code not in later)
        },
        "histories": dict(HISTORIES),
    }


def levels(
    form: DraftForm, field: str, label: str, offered: Mapping[str, str], **options: Any
) -> None:
    """Let the user choose any of `offered`, with a warning about levels that no longer exist."""
    form.several(field, label, list(offered), offered.__getitem__, **options)
    warn_unavailable(
        form.fields[field],
        offered,
        f"design_drop:{field}",
        lambda available: draft_form.set_fields(form.name, form.defaults, {field: available}),
    )


def warn_unavailable(
    chosen: Sequence[str], offered: Mapping[str, str], key: str, take: Take
) -> None:
    """Name chosen levels that no longer exist, with a button that removes them."""
    unavailable = [value for value in chosen if value not in offered]
    if not unavailable:
        return
    st.warning(f"Chosen, but no longer available: {widgets.plain(', '.join(unavailable))}.")
    available = [value for value in chosen if value in offered]
    st.button("Remove them", key=key, on_click=take, args=(available,))


def seed(key: str, value: Any) -> None:
    """Set a widget to the saved value, unless it shows it."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def codes(
    label: str,
    chosen: Sequence[str],
    offered: Mapping[str, str],
    key: str,
    take: Take,
    *,
    empty: str,
    help: str = "",
) -> None:
    """Let the user choose codes from a list or, where it is too long, type them one a line."""
    if len(offered) > _MOST_IN_LIST:
        seed(key, "\n".join(chosen))
        st.text_area(
            f"{label}, one code per line",
            key=key,
            placeholder=empty,
            help=help,
            height=120,
            on_change=lambda: take(typed_codes(st.session_state[key])),
        )
    else:
        seed(key, [code for code in chosen if code in offered])
        st.multiselect(
            label,
            list(offered),
            format_func=offered.__getitem__,
            key=key,
            placeholder=empty,
            help=help,
            wrap=True,
            on_change=lambda: take(list(st.session_state[key])),
        )
    warn_unavailable(chosen, offered, f"{key}:drop", take)


def typed_codes(text: str) -> list[str]:
    """The codes typed one a line, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))

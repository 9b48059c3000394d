"""Levels of the factors of a design: what is on offer, and choosers for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from core.domain.formats import TITLES
from core.domain.instrument import Instrument
from core.domain.languages import language_name
from core.domain.study import LABEL_ORDERS
from core.workflow import prompts
from core.workflow.designs import forms, studies
from core.workflow.designs.blocks import HISTORIES
from core.workflow.respondents import catalog
from core.workflow.templates import editing as template_editing
from pages.respondents.form import KINDS
from pages.shared import widgets
from pages.shared.draft_form import (
    DraftForm,
    LongTextField,
    SeveralField,
    TextField,
    Width,
    draw_field,
    warn_unavailable,
)

_MOST_IN_LIST = 500
"""Codes that a list of a browser can offer; more are typed."""

_LONGEST = 60  # characters of a text in a list

Take = Callable[[list[str]], None]
Offered = Mapping[str, Mapping[str, str]]


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
        "formats": {format.code: TITLES.get(format.code, format.code) for format in bank.formats},
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


def levels(field: str, label: str, empty: str = "") -> SeveralField:
    """The field of a factor, with a warning about levels that no longer exist."""
    return SeveralField(field, label, empty=empty, removal_key=f"design_drop:{field}")


def numbers(field: str, label: str, empty: str = "", width: Width = "stretch") -> TextField:
    """The field of a factor whose levels are typed numbers."""
    return TextField(field, label, empty, width, words=partial(forms.numbers_text, field))


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
        typed = LongTextField("codes", f"{label}, one code per line", empty, height=120)

        def take_lines(text: str) -> None:
            lines = map(str.strip, text.splitlines())
            take(list(dict.fromkeys(filter(None, lines))))

        draw_field(typed, key, "\n".join(chosen), take_lines, help)
        warn_unavailable(chosen, offered, f"{key}:drop", take)
    else:
        field = SeveralField("codes", label, offered, empty, removal_key=f"{key}:drop")
        draw_field(field, key, chosen, take, help)


def code_and_text(code: str, text: str) -> str:
    """A code with the beginning of its text, for a list."""
    line = " ".join(text.split())
    return f"{code}: {line[:_LONGEST]}{'…' if len(line) > _LONGEST else ''}"

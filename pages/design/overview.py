"""What a design comes to: size, cost, example prompts, and freezing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.domain.instrument import ORIGINAL
from core.domain.numbers import count_text
from core.domain.study import Design
from core.errors import UserError
from core.workflow import drafts
from core.workflow.designs import forms, studies
from core.workflow.designs.studies import PlanSize, StudyRecord
from core.workflow.respondents import catalog
from core.workflow.runs import amendments
from pages.shared import downloads, draft_form, widgets
from pages.shared.draft_form import DraftForm

# The prompts of a design as they will be sent, one after the other.

_NUMBER = "design_example_number"
_WHO = "design_example_who"
_ROLES: Mapping[str, str] = {
    "system": "System message: said before the question",
    "user": "User message: earlier in the conversation",
    "assistant": "Assistant message: an earlier reply",
}
_QUESTION = "User message: the question itself"


def examples(design: Design, size: PlanSize) -> None:
    """One planned prompt after the other, to the letter."""
    if not size.prompts or not design.respondents:
        st.info("Choose a bank with items, a language and a respondent to see the prompts.")
        return
    who, number = _which(design, size)
    request = studies.example(widgets.workspace(), replace(design, respondents=(who,)), number - 1)
    asked = request.question
    parts = {
        "item": asked.item.code if len(asked.items) == 1 else "",
        "items": f"{len(asked.items):,}" if len(asked.items) > 1 else "",
        "form": asked.form if asked.form != ORIGINAL else "",
        "format": asked.response_format.code,
        "template": asked.template,
        "language": asked.language,
        "context": asked.context,
        "entity": asked.entity,
        "second entity": asked.entity_b,
    }
    told = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    st.caption(f"As it will be sent: {widgets.plain(told)}.")
    if design.item_order == "shuffled" or "random" in design.label_orders:
        st.caption("What comes in random order is shown here as it stands in the bank.")
    last = len(request.messages) - 1
    for place, message in enumerate(request.messages):
        role = _QUESTION if place == last else _ROLES.get(message["role"], message["role"])
        with st.container(border=True):
            st.caption(role)
            widgets.text_block(message["content"], language=asked.language, monospace=True)
    if request.choices:
        st.caption(f"The reply is held to: {widgets.plain(', '.join(request.choices))}.")


def _which(design: Design, size: PlanSize) -> tuple[str, int]:
    """The respondent and the number of the prompt, counted from 1, that the user wants to see."""
    shown = st.session_state.get(_NUMBER, 1)
    if not 1 <= shown <= size.prompts:
        st.session_state[_NUMBER] = min(max(shown, 1), size.prompts)
    st.session_state.setdefault(_NUMBER, 1)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    who = design.respondents[0]
    if len(design.respondents) > 1:
        if st.session_state.get(_WHO) not in design.respondents:
            st.session_state[_WHO] = who
        who = row.selectbox("To", design.respondents, key=_WHO)
    row.button(
        "Previous", key="design_previous", icon=":material/chevron_left:", on_click=_step,
        args=(-1, size.prompts),
    )  # fmt: skip
    number = row.number_input(
        f"Prompt (of {size.prompts:,})", 1, size.prompts, step=1, key=_NUMBER, width=180
    )
    row.button(
        "Next", key="design_next", icon=":material/chevron_right:", on_click=_step,
        args=(1, size.prompts),
    )  # fmt: skip
    return who, number


def _step(by: int, last: int) -> None:
    """Go on by one, from the last to the first."""
    st.session_state[_NUMBER] = (st.session_state.get(_NUMBER, 1) - 1 + by) % last + 1


# What a design comes to: trials, calls, tokens, cost, and what should be known beforehand.

_FACTOR_WORDS: Mapping[str, tuple[str, str]] = {
    "respondents x temperatures": ("respondent", "respondents"),
    "languages": ("language", "languages"),
    "forms": ("form", "forms"),
    "formats": ("answer format", "answer formats"),
    "templates": ("template", "templates"),
    "label orders": ("order of options", "orders of options"),
    "contexts": ("persona", "personas"),
    "conversations": ("conversation", "conversations"),
    "entities": ("entity", "entities"),
    "pairs": ("pair of entities", "pairs of entities"),
    "repetitions": ("repetition", "repetitions"),
    "items": ("item", "items"),
}
_ALWAYS = ("respondents x temperatures", "languages", "repetitions", "items")


def plan_size(design: Design) -> PlanSize:
    """The number of calls as a product, with tokens and cost of each respondent."""
    size = studies.size(widgets.workspace(), design)
    st.write(f"{_product(design, size)} = {_outcome(size)}")
    if size.missing:
        what = "Left out" if design.skip_missing else "Cannot be asked yet"
        st.caption(
            f"{what}: {size.missing:,}, because an item has no text in a chosen language and form."
        )
    st.caption(
        f"{count_text(size.administrations, 'administration')}: one respondent answering the bank "
        f"once under one set of conditions.{_settings(design)}"
    )
    rows = [
        (
            person.label, person.calls,
            f"{person.tokens_low:,} to {person.tokens_high:,}" if person.tokens_high else "unknown",
            _range(person.cost_low, person.cost_high),
        )
        for person in size.respondents
    ]  # fmt: skip
    if rows:
        frame = pd.DataFrame(rows, columns=["Respondent", "Calls", "Tokens", "Cost"])
        widgets.table(frame, alt="Calls, tokens and cost of each respondent")
        _altogether(size)
    return size


def cautions(design: Design, *, also: str = "") -> bool:
    """What stands in the way and what should be known; whether nothing stands in the way.

    `also` is something in the way that the design itself does not show; empty for nothing.
    """
    found = widgets.workspace()
    for caution in studies.cautions(found, design):
        st.warning(widgets.plain(caution), icon=":material/info:")
    widgets.honesty_note(
        p for p in catalog.list_respondents(widgets.workspace()) if p.label in design.respondents
    )
    trouble = [*studies.check(found, design), *([also] if also else [])]
    if trouble:
        lines = "\n".join(f"- {widgets.plain(line)}" for line in trouble)
        st.info(f"Still to do before this design can be frozen:\n\n{lines}")
    return not trouble


def _product(design: Design, size: PlanSize) -> str:
    """The factors with their numbers of levels, items first; usual ones of one level left out."""
    words = (
        _counted(_named(design, name), count, with_temperatures=bool(design.temperatures))
        for name, count in (size.factors[-1], *size.factors[:-1])
        if name in _ALWAYS or count > 1 or _given(design, name)
    )
    return " × ".join(words)


def _outcome(size: PlanSize) -> str:
    """Trials and calls; one number where every call holds one trial and nothing is missing."""
    calls = f"**{size.calls:,} {'call' if size.calls == 1 else 'calls'}**"
    if size.trials == size.calls and not size.missing:
        return calls
    total = size.trials + size.missing
    less = f"{total:,}, less {size.missing:,} without a text: " if size.missing else ""
    return f"{less}**{count_text(size.trials, 'trial')}** in {calls}"


def _settings(design: Design) -> str:
    """What holds for every call and is not as usual, as a sentence with a space before it."""
    per_call = f"up to {design.items_per_call:,}" if design.items_per_call else "all"
    words = (
        "" if design.items_per_call == 1 else f"{per_call} items in a call",
        "items shuffled" if design.item_order == "shuffled" else "",
        "half of the repetitions the other way round" if design.swap_halves else "",
        f"unusable answers asked again up to {design.ask_again:,} times"
        if design.ask_again
        else "",
        "replies held to the options" if design.answering == "enforced" else "",
        "probabilities of the first token recorded" if design.first_token else "",
    )
    told = ", ".join(filter(None, words))
    return f" Set besides: {told}." if told else ""


def _given(design: Design, name: str) -> bool:
    given = {"contexts": design.contexts, "entities": design.entities, "pairs": design.pairs}
    return bool(given.get(name))


def _named(design: Design, name: str) -> str:
    """The name of a factor; contexts are conversations where all of them are."""
    if name == "contexts" and design.contexts and all(c.messages for c in design.contexts):
        return "conversations"
    return name


def _counted(name: str, count: int, *, with_temperatures: bool) -> str:
    one, several = _FACTOR_WORDS[name]
    word = one if count == 1 else several
    if name.startswith("respondents") and with_temperatures and count > 1:
        word = "respondents at their temperatures"
    return f"{count:,} {word}"


def _altogether(size: PlanSize) -> None:
    if size.unpriced:
        names = widgets.plain(", ".join(size.unpriced))
        st.caption(
            f"Cost altogether: unknown, because prices are not entered for {names}. "
            "Enter them on the page Respondents."
        )
    else:
        st.caption(
            f"Cost altogether: {widgets.plain(_range(*size.cost))}. An estimate: the upper end "
            "assumes that every reply is as long as allowed."
        )


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "unknown"
    if high == 0:
        return "free"
    return f"US${_money(low)} to {_money(high)}"


def _money(dollars: float) -> str:
    return f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"


# Freezing a design, and the studies frozen so far.

_BEFORE = "design before"
_CHOSEN = "design_frozen_chosen"
_NOTE = "design_frozen_note"
_FILE_NOTE = "design_file_note"


def freeze_button(form: DraftForm, design: Design, *, ready: bool) -> None:
    """The button that turns the design into a plan, with what that means."""
    st.write(
        "Freezing writes down every planned call once and for all, with a hash and the time, so "
        "that you can register the plan before the first answer. Nothing is asked yet."
    )
    st.button(
        "Freeze the design", key="design_freeze", type="primary", icon=":material/lock:",
        disabled=not ready, on_click=_freeze, args=(form, design),
    )  # fmt: skip
    if note := widgets.last_note(_NOTE):
        st.success(note)


def frozen_studies(form: DraftForm) -> None:
    """The list of frozen studies, and one of them with its hash and files."""
    records = [
        s for s in reversed(studies.list_studies(widgets.workspace())) if s.kind == "planned"
    ]
    if not records:
        st.info("No study is frozen yet.")
        return
    rows = [
        (s.code, f"{s.instrument}, version {s.version}", s.n_trials, s.n_responses,
         s.n_trials - s.n_responses, s.n_usable, _time(s))
        for s in records
    ]  # fmt: skip
    columns = ["Study", "Bank", "Trials planned", "Replied", "No reply yet", "Usable", "Frozen at"]
    frame = pd.DataFrame(rows, columns=columns)
    widgets.table(frame, alt=f"{len(records)} frozen studies, newest first")
    codes = [record.code for record in records]
    wished = st.query_params.get(widgets.STUDY_PARAMETER, codes[0])
    if st.session_state.get(_CHOSEN) != wished:
        st.session_state[_CHOSEN] = wished if wished in codes else codes[0]
    chosen = st.selectbox(
        "Frozen study", codes, key=_CHOSEN, on_change=_choose,
        help="Its plan, files and design, newest first.",
    )  # fmt: skip
    _one(form, next(record for record in records if record.code == chosen))


def start_from_file(form: DraftForm) -> None:
    """Load a design that was saved as a YAML file."""
    _earlier(form)
    if note := widgets.last_note(_FILE_NOTE):
        st.info(note)
    uploaded = st.file_uploader(
        "A design saved from this page (.yaml)", type=["yaml", "yml"], key="design_file"
    )
    if uploaded is None:
        return
    with widgets.error_box():
        design = studies.design_of_yaml(uploaded.getvalue(), name=uploaded.name)
        st.caption(f"A design called {widgets.plain(design.study)}. It replaces the choices below.")
        st.button("Use this design", key="design_use_file", on_click=_use, args=(form, design))


def _earlier(form: DraftForm) -> None:
    kept = drafts.load(widgets.workspace(), _BEFORE)
    row = st.container(horizontal=True)
    row.button(
        "Start with an empty design", key="design_empty", on_click=replace_fields,
        args=(form, None),
    )  # fmt: skip
    if kept is not None:
        row.button(
            "Back to the design before", key="design_back", icon=":material/undo:",
            on_click=replace_fields, args=(form, kept.value),
            help="The choices as they were before a design was loaded or emptied.",
        )  # fmt: skip


def _one(form: DraftForm, record: StudyRecord) -> None:
    with st.container(border=True):
        st.text(
            f"{record.code}: {count_text(record.n_trials, 'trial')} planned, frozen "
            f"{_time(record)}\n"
            f"Plan hash (SHA-256): {record.plan_hash}"
        )
        st.caption("The hash changes with any change of the plan: note it in a preregistration.")
        found, stem = widgets.workspace(), downloads.file_stem(record.code)
        for sentence in amendments.sentences(found, record.code):
            st.text(sentence)
        row = st.container(horizontal=True)
        with row:
            st.download_button(
                "Plan (CSV)", lambda: studies.plan_csv(found, record.code),
                f"{stem}-plan.csv", "text/csv", key="design_plan_csv",
                on_click="ignore", icon=":material/download:",
            )  # fmt: skip
            design = studies.design_yaml(record.design).encode("utf-8", "surrogatepass")
            name = f"{stem}-design.yaml"
            widgets.download("Design (YAML)", design, name, key="design_yaml")
            st.button(
                "Use as a starting point", key="design_use", icon=":material/content_copy:",
                on_click=_use, args=(form, record.design),
                help="Takes this design over into the choices above, under a new name.",
            )  # fmt: skip
        _next_step(record)


def _next_step(record: StudyRecord) -> None:
    """Start it, go on with it, or read what came of it."""
    page, icon, label = (
        "pages/collect/page.py",
        ":material/play_circle:",
        "Go to Collect to start it",
    )
    if record.n_responses >= record.n_trials:
        page, icon, label = "pages/answers/page.py", ":material/forum:", "Read the answers"
    elif record.n_responses:
        label = "Go to Collect to see how far it is"
    query = {widgets.STUDY_PARAMETER: record.code}
    st.page_link(page, label=label, icon=icon, query_params=query)


def _time(record: StudyRecord) -> str:
    return record.frozen_at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _choose() -> None:
    st.query_params[widgets.STUDY_PARAMETER] = st.session_state[_CHOSEN]


def _freeze(form: DraftForm, design: Design) -> None:
    try:
        record = studies.freeze(widgets.workspace(), design)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    draft_form.set_fields(form.name, form.defaults, {"study": ""})
    st.query_params[widgets.STUDY_PARAMETER] = record.code
    st.session_state[_NOTE] = (
        f"{widgets.plain(record.code)} is frozen: {count_text(record.n_trials, 'trial')}. "
        "Its hash and files are below; start it on the page Collect."
    )


def _use(form: DraftForm, design: Design) -> None:
    found = widgets.workspace()
    try:
        fields, told = forms.from_design(found, design)
    except UserError as error:
        st.session_state[_FILE_NOTE] = error
        return
    fields["study"] = forms.free_name(found, design.study)
    replace_fields(form, fields)
    st.session_state[_FILE_NOTE] = " ".join(
        ["The design is loaded.", *(widgets.plain(line) for line in told)]
    )


def replace_fields(form: DraftForm, fields: dict[str, object] | None) -> None:
    """Put other choices in place of those on the page, which can be brought back."""
    kept = drafts.load(widgets.workspace(), form.name)
    before = {**form.defaults, **(kept.value if kept else {})}
    drafts.save(widgets.workspace(), _BEFORE, before)
    wanted = fields or forms.empty_fields(widgets.workspace())
    draft_form.set_fields(form.name, form.defaults, wanted)

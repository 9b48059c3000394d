"""The outcome of a design: size, cost, example prompts, and freezing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.domain.instrument import ORIGINAL
from core.domain.numbers import count_text
from core.domain.study import Design
from core.errors import UserError
from core.workflow import glossary, saved_inputs
from core.workflow.designs import forms, studies
from core.workflow.designs.blocks import differences, unused_levels
from core.workflow.designs.studies import PlanSize, StudyRecord
from core.workflow.respondents import catalog
from core.workflow.runs import amendments
from core.workflow.runs.expected_cost import money
from pages.shared import downloads, widgets
from pages.shared.draft_form import DraftForm

# The prompts of a design, one at a time.

_NUMBER = "design_example_number"
_RESPONDENT = "design_example_who"
_ROLES: Mapping[str, str] = {
    "system": "System message: instructions before the question",
    "user": "User message: earlier in the conversation",
    "assistant": "Assistant message: an earlier reply",
}
_QUESTION = "User message: the question itself"


def examples(design: Design, size: PlanSize) -> None:
    """One planned prompt at a time, exactly as it will be sent."""
    people = {person.label: person.prompts for person in size.respondents if person.prompts}
    if not people:
        to_choose = [] if design.languages else ["a language"]
        to_choose += [] if design.respondents else ["a respondent"]
        st.info(
            f"To see the prompts, choose {' and '.join(to_choose) or 'a bank with items'} above."
        )
        return
    respondent, number = _choose_prompt(people)
    workspace = widgets.workspace()
    request = studies.example(workspace, design, number - 1, respondent=respondent)
    question = request.question
    parts = {
        "item": question.item.code if len(question.items) == 1 else "",
        "items": f"{len(question.items):,}" if len(question.items) > 1 else "",
        "form": question.form if question.form != ORIGINAL else "",
        "format": question.response_format.code,
        "template": question.template,
        "language": question.language,
        "context": question.context,
        "entity": question.entity,
        "second entity": question.entity_b,
    }
    description = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    st.caption(f"This prompt: {widgets.plain(description)}.")
    if design.blocks:
        indices = studies.blocks_of_example(workspace, design, number - 1, respondent=respondent)
        titles = "; ".join(forms.block_title(n, design.blocks[n].name) for n in indices)
        asked = "Asked by" if len(indices) == 1 else "Asked once, for"
        st.caption(f"{asked}: {widgets.plain(titles)}.")
    if design.item_order == "shuffled" or "random" in design.label_orders:
        st.caption("Items and options in random order are shown here in the order of the bank.")
    show_messages(request.messages, request.choices, language=question.language)


def show_messages(
    messages: Sequence[Mapping[str, str]], choices: Sequence[str], *, language: str
) -> None:
    """The messages of a request, each with the one who says it; the last one is the question."""
    last = len(messages) - 1
    for index, message in enumerate(messages):
        role = _QUESTION if index == last else _ROLES.get(message["role"], message["role"])
        with st.container(border=True):
            st.caption(role)
            widgets.text_block(message["content"], language=language, monospace=True)
    if choices:
        st.caption(f"The reply is restricted to: {widgets.plain(', '.join(choices))}.")


def _choose_prompt(people: Mapping[str, int]) -> tuple[str, int]:
    """The respondent and the number of the prompt to show, counted from 1.

    `people` are the respondents, each with the number of its prompts.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom")
    respondent = next(iter(people))
    if len(people) > 1:
        if st.session_state.get(_RESPONDENT) not in people:
            st.session_state[_RESPONDENT] = respondent
        respondent = row.selectbox("Prompt to", list(people), key=_RESPONDENT)
    last = people[respondent]
    number = st.session_state.get(_NUMBER, 1)
    st.session_state[_NUMBER] = min(max(number, 1), last)
    row.button(
        "Previous",
        key="design_previous",
        icon=":material/chevron_left:",
        on_click=_step,
        args=(-1, last),
    )
    number = row.number_input(f"Prompt (of {last:,})", 1, last, step=1, key=_NUMBER, width=180)
    row.button(
        "Next",
        key="design_next",
        icon=":material/chevron_right:",
        on_click=_step,
        args=(1, last),
    )
    return respondent, number


def _step(by: int, last: int) -> None:
    """Go on by one, from the last to the first."""
    st.session_state[_NUMBER] = (st.session_state.get(_NUMBER, 1) - 1 + by) % last + 1


# The size of a design: trials, calls, tokens, cost, and cautions.

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
    "items per call": ("number of items per call", "numbers of items per call"),
    "histories": ("history", "histories"),
    "items": ("item", "items"),
}
_SIZE_COLUMNS = [
    "Respondent",
    "Calls",
    "Tokens",
    "Expected cost",
    "At most",
    "Expected cost rests on",
]
_ALWAYS = ("respondents x temperatures", "languages", "repetitions", "items")


def plan_size(design: Design) -> PlanSize:
    """The number of calls as a product, with tokens and cost of each respondent."""
    size = studies.size(widgets.workspace(), design)
    terms = f"{glossary.meaning('Trial')} {glossary.meaning('Call')}"
    st.markdown(f"{_product(design, size)} = {_outcome(size)}", help=terms)
    if size.missing:
        words = "Left out" if design.skip_missing else "Not possible yet"
        st.caption(
            f"{words}: {size.missing:,}, because an item has no text in a chosen language and form."
        )
    st.caption(
        f"The design has {count_text(size.administrations, 'administration')}. In each, all items "
        f"are asked once under the same conditions.{_settings(design)}",
        help=glossary.meaning("Administration"),
    )
    rows = [
        (
            person.label,
            person.calls,
            f"{person.tokens_low:,} to {person.tokens_high:,}" if person.tokens_high else "unknown",
            _expected(person.cost_expected),
            _at_most(person.cost_high),
            person.basis,
        )
        for person in size.respondents
    ]
    if rows:
        frame = pd.DataFrame(rows, columns=_SIZE_COLUMNS)
        widgets.table(
            frame,
            alt="Calls, tokens and cost of each respondent",
            column_config={"Expected cost rests on": st.column_config.TextColumn(width=300)},
        )
        _total_cost(size)
    return size


def cautions(design: Design, *, also: str = "") -> bool:
    """Show cautions and obstacles; return whether the design can be frozen.

    `also` is an obstacle that the design itself does not show, or empty.
    """
    workspace = widgets.workspace()
    for caution in studies.cautions(workspace, design):
        st.warning(widgets.plain(caution), icon=":material/info:")
    to_do = [*studies.check(workspace, design), *([also] if also else [])]
    if to_do:
        lines = "\n".join(f"- {widgets.plain(line)}" for line in to_do)
        st.info(f"To do before you can freeze this design:\n\n{lines}")
    return not to_do


def _product(design: Design, size: PlanSize) -> str:
    """The factors with their numbers of levels, items first; usual ones of one level left out.

    Of a design with blocks, their number: their trials are no product.
    """
    if size.blocks:
        return count_text(len(size.blocks), "block")
    given = {"contexts": design.contexts, "entities": design.entities, "pairs": design.pairs}
    only_conversations = design.contexts and all(c.messages for c in design.contexts)
    words = (
        _counted(
            "conversations" if name == "contexts" and only_conversations else name,
            count,
            with_temperatures=bool(design.temperatures),
        )
        for name, count in (size.factors[-1], *size.factors[:-1])
        if name in _ALWAYS or count > 1 or given.get(name)
    )
    return " × ".join(words)


def _outcome(size: PlanSize) -> str:
    """Trials and calls; one number where every call holds one trial and nothing is missing."""
    calls = f"**{size.calls:,} {'call' if size.calls == 1 else 'calls'}**"
    if size.trials == size.calls and not size.missing:
        return calls
    total = size.trials + size.missing
    less = f"{total:,}, minus {size.missing:,} without a text: " if size.missing else ""
    return f"{less}**{count_text(size.trials, 'trial')}** in {calls}"


def _settings(design: Design) -> str:
    """Settings of the calls that differ from the defaults, as a sentence after a space."""
    sizes = design.block_sizes
    per_call = "all" if 0 in sizes else " or ".join(f"up to {size:,}" for size in sizes)
    words = (
        "" if set(sizes) == {1} else f"{per_call} items in a call",
        "items shuffled" if design.item_order == "shuffled" else "",
        "pairs swapped in half of the repetitions" if design.swap_halves else "",
        f"calls without a usable answer repeated up to {design.ask_again:,} times"
        if design.ask_again
        else "",
        "calls counted only as a whole" if design.whole_calls else "",
        "replies restricted to the options" if design.answering == "enforced" else "",
        "probabilities of the first token recorded" if design.first_token else "",
    )
    description = ", ".join(filter(None, words))
    return f" Other settings: {description}." if description else ""


def _counted(name: str, count: int, *, with_temperatures: bool) -> str:
    singular, plural = _FACTOR_WORDS[name]
    word = singular if count == 1 else plural
    if name == "respondents x temperatures" and with_temperatures and count > 1:
        word = "respondents at their temperatures"
    return f"{count:,} {word}"


def _total_cost(size: PlanSize) -> None:
    cost = f"{_expected(size.cost_expected)}, at most {_at_most(size.cost[1])}"
    if size.unpriced:
        names = widgets.plain(", ".join(size.unpriced))
        cost_words = f"{cost}, and" if size.calls_unpriced < size.calls else "unknown:"
        st.caption(
            f"Expected cost in all: {widgets.plain(cost_words)} "
            f"{count_text(size.calls_unpriced, 'call')} without a price. There are no prices for "
            f"{names}. Enter them on the page Respondents."
        )
    elif size.cost[1] == 0:
        st.caption("Expected cost in all: free.")
    else:
        st.caption(
            f"Expected cost in all: {widgets.plain(cost)}. The largest cost assumes that every "
            "reply has the largest allowed length, and every call the largest number of repeats."
        )


def _expected(dollars: float | None) -> str:
    if dollars is None:
        return "unknown"
    return f"US${money(dollars)}" if dollars else "free"


def _at_most(dollars: float | None) -> str:
    if dollars is None:
        return "unknown"
    return money(dollars) if dollars else "free"


def block_table(design: Design, size: PlanSize) -> None:
    """Each block with its size, cost and difference from the design; then all of them together."""
    rows = [
        (
            forms.block_title(index, block.name),
            differences(block) or "nothing",
            block_size.trials,
            block_size.calls,
            _expected(block_size.cost_expected),
            _at_most(block_size.cost_high),
            block_size.trials - block_size.new,
        )
        for index, (block, block_size) in enumerate(zip(design.blocks, size.blocks, strict=True))
    ]
    columns = [
        "Block",
        "Different from the design",
        "Trials",
        "Calls",
        "Expected cost",
        "At most",
        "Earlier",
    ]
    widgets.table(
        pd.DataFrame(rows, columns=columns),
        alt=f"{len(rows)} blocks of the design with their trials, calls and cost",
        column_config={
            "Block": st.column_config.TextColumn(width=180),
            "Different from the design": st.column_config.TextColumn(width=440),
            "Trials": st.column_config.NumberColumn(help=glossary.meaning("Trial")),
            "Earlier": st.column_config.NumberColumn(
                help="Trials that an earlier block already asks. They are asked once."
            ),
        },
    )
    shared = sum(block_size.trials - block_size.new for block_size in size.blocks)
    once = f" Blocks share {count_text(shared, 'trial')}, asked once." if shared else ""
    st.caption(f"In all: {_outcome(size)}.{once}")
    for sentence in unused_levels(design):
        st.caption(widgets.plain(sentence))


# Freezing a design, and the studies frozen so far.

_BEFORE = "design before"
_CHOSEN = "design_frozen_chosen"
_NOTE = "design_frozen_note"  # why the design could not be frozen
_FROZEN = "design_just_frozen"
_FILE_NOTE = "design_file_note"


def freeze_button(form: DraftForm, design: Design, *, ready: bool) -> None:
    """The button that turns the design into a plan, with an explanation."""
    st.button(
        "Freeze the design",
        key="design_freeze",
        type="primary",
        icon=":material/lock:",
        disabled=not ready,
        on_click=_freeze,
        args=(form, design),
    )
    st.caption(
        "Freezing saves the plan of all calls permanently, with a hash and the time, so that you "
        "can register the plan before the first answer. No model is asked yet."
    )
    widgets.last_note(_NOTE)
    widgets.honesty_note(
        p for p in catalog.list_respondents(widgets.workspace()) if p.label in design.respondents
    )


def just_frozen(form: DraftForm) -> bool:
    """Say that a design was frozen, and what comes next, until the next one has a name."""
    frozen = st.session_state.get(_FROZEN)
    if frozen is None:
        return False
    if form.fields["study"].strip():
        del st.session_state[_FROZEN]
        return False
    code, words = frozen
    if studies.load(widgets.workspace(), code).place != "listed":
        return False
    st.success(words, icon=":material/lock:")
    st.page_link(
        "pages/collect/page.py",
        label="Go to Collect, and start the study",
        icon=":material/play_circle:",
        query_params={widgets.STUDY_PARAMETER: code},
    )
    st.caption("Its plan, hash and files are below. To plan another study, type its name.")
    return True


def frozen_studies(form: DraftForm) -> None:
    """The list of frozen studies, and one of them with its hash and files."""
    records = [
        s for s in reversed(studies.list_studies(widgets.workspace())) if s.kind == "planned"
    ]
    if not records:
        st.info("There is no frozen study yet.")
        return
    rows = [
        (
            s.name,
            f"{s.instrument}, version {s.version}",
            s.n_trials,
            s.n_responses,
            s.n_trials - s.n_responses,
            s.n_usable,
            _time(s),
        )
        for s in records
    ]
    columns = ["Study", "Bank", "Trials planned", "Replied", "No reply yet", "Usable", "Frozen at"]
    frame = pd.DataFrame(rows, columns=columns)
    widgets.table(
        frame,
        alt=f"{len(records)} frozen studies, newest first",
        column_config={
            "Trials planned": st.column_config.NumberColumn(help=glossary.meaning("Trial"))
        },
    )
    codes = [record.code for record in records]
    in_address = st.query_params.get(widgets.STUDY_PARAMETER, codes[0])
    if st.session_state.get(_CHOSEN) != in_address:
        st.session_state[_CHOSEN] = in_address if in_address in codes else codes[0]
    chosen = st.selectbox(
        "Frozen study",
        codes,
        key=_CHOSEN,
        format_func={record.code: record.name for record in records}.__getitem__,
        on_change=_choose,
        help="Choose a study to see its plan, files and design. The newest study is first.",
    )
    _one(form, next(record for record in records if record.code == chosen))


def start_from_file(form: DraftForm) -> None:
    """Load a design that was saved as a YAML file."""
    _earlier(form)
    if note := widgets.last_note(_FILE_NOTE):
        st.info(note)
    uploaded = st.file_uploader(
        "A design saved from this page (.yaml)",
        type=["yaml", "yml"],
        key="design_file",
        max_upload_size=50,
    )
    if uploaded is None:
        return
    with widgets.error_box():
        design = studies.design_of_yaml(uploaded.getvalue(), name=uploaded.name)
        st.caption(
            f"The file holds the design {widgets.plain(design.study)}. It will replace the choices "
            "below."
        )
        st.button("Use this design", key="design_use_file", on_click=_use, args=(form, design))


def _earlier(form: DraftForm) -> None:
    draft = saved_inputs.load(widgets.workspace(), _BEFORE)
    row = st.container(horizontal=True)
    row.button(
        "Start with an empty design",
        key="design_empty",
        on_click=replace_fields,
        args=(form, None),
    )
    if draft is not None:
        row.button(
            "Restore the previous design",
            key="design_back",
            icon=":material/undo:",
            on_click=replace_fields,
            args=(form, draft.value),
            help="Restores the choices from before a design was loaded or emptied.",
        )


def _one(form: DraftForm, record: StudyRecord) -> None:
    with st.container(border=True):
        st.text(
            f"{record.code}: {count_text(record.n_trials, 'trial')} planned, frozen "
            f"{_time(record)}\n"
            f"Plan hash (SHA-256): {record.plan_hash}",
            help=glossary.meaning("Trial"),
        )
        st.caption("Any change of the plan changes the hash. Report the hash in a preregistration.")
        workspace, stem = widgets.workspace(), downloads.file_stem(record.code)
        for sentence in amendments.sentences(workspace, record.code):
            st.text(sentence)
        for sentence in studies.recipe_sentences(workspace, record.code):
            st.text(sentence)
        row = st.container(horizontal=True)
        with row:
            st.download_button(
                "Plan (CSV)",
                lambda: studies.plan_csv(workspace, record.code),
                f"{stem}-plan.csv",
                "text/csv",
                key="design_plan_csv",
                on_click="ignore",
                icon=":material/download:",
            )
            design = studies.design_yaml(record.design).encode("utf-8", "surrogatepass")
            name = f"{stem}-design.yaml"
            widgets.download("Design (YAML)", design, name, key="design_yaml")
            st.button(
                "Use as a starting point",
                key="design_use",
                icon=":material/content_copy:",
                on_click=_use,
                args=(form, record.design),
                help="Copies this design into the choices above, under a new name.",
            )
        _next_step(record)


def _next_step(record: StudyRecord) -> None:
    """Links to simulate its precision, and to start the study, follow it, or read its answers."""
    page, icon, label = (
        "pages/collect/page.py",
        ":material/play_circle:",
        "Go to Collect to start the study",
    )
    if record.n_responses >= record.n_trials:
        page, icon, label = "pages/answers/page.py", ":material/forum:", "Read the answers"
    elif record.n_responses:
        label = "Go to Collect to see its progress"
    query = {widgets.STUDY_PARAMETER: record.code}
    if not record.n_responses:
        st.page_link(
            "pages/precision.py",
            label="What precision will this reach?",
            icon=":material/straighten:",
            query_params=query,
        )
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
    form.change({"study": ""})
    widgets.show_study(record.code)
    words = f"{widgets.plain(record.code)} is frozen: {count_text(record.n_trials, 'trial')}."
    st.session_state[_FROZEN] = record.code, words


def use_design(form: DraftForm, design: Design) -> None:
    """Fill the form with a design under a name that is free.

    Raises
    ------
    UserError
        It cannot be used here; the form stays as it was.
    """
    workspace = widgets.workspace()
    fields, notes = forms.from_design(workspace, design)
    fields["study"] = forms.free_name(workspace, design.study)
    replace_fields(form, fields)
    st.session_state[_FILE_NOTE] = " ".join(
        ["The design is loaded.", *(widgets.plain(line) for line in notes)]
    )


def _use(form: DraftForm, design: Design) -> None:
    try:
        use_design(form, design)
    except UserError as error:
        st.session_state[_FILE_NOTE] = error


def replace_fields(form: DraftForm, fields: dict[str, object] | None) -> None:
    """Replace the choices on the page; the user can restore them."""
    saved_inputs.save(widgets.workspace(), _BEFORE, form.stored())
    form.change(fields or forms.empty_fields(widgets.workspace()))

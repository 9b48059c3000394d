"""A model rewrites contexts, and a person reviews the rewritings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import pandas as pd
import streamlit as st

from core.domain.languages import language_name, offered_languages
from core.domain.numbers import count_text
from core.domain.study import Context, Message, Respondent
from core.errors import UserError
from core.workflow.contexts import rewriting, sets
from core.workflow.contexts.rewriting import Rewriting, RewritingRun
from core.workflow.respondents import catalog
from pages.contexts.new_sets import SET_PARAMETER, beginning, leave_message
from pages.respondents import form as respondent_words
from pages.shared import draft_form, widgets
from pages.shared.draft_form import (
    ChoiceField,
    DraftForm,
    LongTextField,
    NumberField,
    SeveralField,
    TextField,
    ToggleField,
    draw_field,
)

# The instruction, the choice of contexts and model, and the progress.

_POLL_S = 1.0
_MOST_FAILURES = 50


def rewriting_section(name: str) -> None:
    """The contexts, the instruction and the respondent, then a button and a progress bar."""
    context_set = sets.load(widgets.workspace(), name)
    st.caption(
        "A model rewrites each context by your instruction, or translates personas. A rewriting is "
        "linked to its original, so that a study can compare the two; a translation is a further "
        "text of its persona, which a study takes for items in that language. Each is a draft "
        "until you accept it under Review rewritings."
    )
    form = draft_form.open_form(
        f"contexts:rewrite:{name}",
        {
            "into": "",
            "instruction": rewriting.DEFAULT_INSTRUCTION,
            "respondent": "",
            "codes": [],
            "most_tokens": rewriting.MAX_TOKENS,
        },
    )
    languages = {code: f"Translate into {language_name(code)}" for code in offered_languages()}
    form.draw(ChoiceField("into", "Task", {"": "Rewrite in the same language", **languages}))
    chosen = _contexts(form, name, context_set)
    if not form.fields["into"]:
        form.draw(
            LongTextField("instruction", "Instruction", height=100),
            "The task of the model for each context. Inkblot adds that the model must keep the "
            "language and the layout, and reply with nothing else.",
        )
    person = _respondent(form)
    form.show_notes()
    if person is None:
        return
    run = rewriting.last_run(widgets.workspace(), name)
    task = "Translate" if form.fields["into"] else "Rewrite"
    label = f"{task} {count_text(len(chosen), 'context')}"
    st.button(
        label,
        key="contexts_rewrite",
        type="primary",
        icon=":material/edit_note:",
        on_click=_start,
        args=(name, chosen, person, dict(form.fields)),
        disabled=not chosen or (run is not None and run.under_way),
        help="Each context takes one call, or more if a call fails and is repeated.",
    )
    if run is not None:
        every = _POLL_S if run.under_way else None
        st.fragment(_progress, run_every=every)(name, run.under_way)


def _contexts(form: DraftForm, name: str, context_set: tuple[Context, ...]) -> tuple[Context, ...]:
    by_code = {context.code: context for context in context_set}
    into = form.fields["into"]
    drafted = {
        draft.original.code
        for draft in rewriting.list_rewritings(widgets.workspace(), name)
        if draft.into == into and not (into and draft.state == "discarded")
    }
    obstacles = {c.code: rewriting.rewriting_obstacle(c, into) for c in context_set}
    remaining = [c for c in context_set if c.code not in drafted and not obstacles[c.code]]
    what = "translation" if into else "rewriting"
    titles = {code: f"{code}: {beginning(by_code[code])[:60]}" for code in by_code}
    form.draw(
        SeveralField(
            "codes", "Contexts", titles, f"All {len(remaining):,} that have no {what} yet"
        ),
        f"Empty: all contexts of the set that have no {what} yet.",
    )
    selection = [by_code[code] for code in form.fields["codes"] if code in by_code]
    for context in [c for c in selection or context_set if obstacles[c.code]][:10]:
        st.text(f"{context.code} is left out: {obstacles[context.code]}.")
    if selection:
        return tuple(c for c in selection if not obstacles[c.code])
    return tuple(remaining)


def _respondent(form: DraftForm) -> Respondent | None:
    offered = catalog.list_respondents(widgets.workspace())
    able = {person.label: person for person in offered if person.kind != "simulated"}
    form.draw(
        ChoiceField("respondent", "Respondent", list(able), "Choose a model"),
        "The call uses the respondent's settings, without its system prompt and with the "
        "longest reply set here.",
        NumberField("most_tokens", "Longest reply in tokens", 16, 100_000, 100),
        "A reply that reaches this length is cut off and not used.",
        columns=st.columns([3, 1], vertical_alignment="bottom"),
    )
    if len(able) < len(offered):
        st.caption(f"{rewriting.SIMULATED_CANNOT} The list leaves them out.")
    if not able:
        st.info("There is no model yet. Add one on the page Respondents.")
        st.page_link(
            "pages/respondents/page.py", label="Add a respondent", icon=":material/smart_toy:"
        )
    person = able.get(form.fields["respondent"])
    if person is not None:
        st.caption(widgets.plain(f"{person.model}: {respondent_words.key_words(person)}."))
        widgets.honesty_note([person])
    return person


def _start(
    name: str, chosen: tuple[Context, ...], person: Respondent, fields: dict[str, object]
) -> None:
    into = str(fields["into"])
    translation = rewriting.TRANSLATION.format(language_name(into))
    try:
        rewriting.start(
            widgets.workspace(),
            name,
            chosen,
            translation if into else str(fields["instruction"]),
            person,
            into=into,
            most_tokens=int(str(fields["most_tokens"])),
        )
    except UserError as error:
        leave_message(error)


def _progress(name: str, was_under_way: bool) -> None:
    run = rewriting.last_run(widgets.workspace(), name)
    if run is None:
        return
    if was_under_way and not run.under_way:
        st.rerun()
    n_drafts = run.done - len(run.failures)
    words = "Rewriting" if run.under_way else "Last run"
    st.progress(
        run.done / run.total,
        text=f"**{words}**: {run.done:,} of {run.total:,} done, {count_text(n_drafts, 'draft')}, "
        f"{len(run.failures):,} without a draft",
    )
    if run.under_way:
        st.button(
            "Stop",
            key="contexts_stop",
            icon=":material/stop:",
            on_click=rewriting.stop,
            args=(widgets.workspace(), name),
            help="Calls under way are finished and saved.",
        )
    else:
        cost = "unknown, because a price is missing" if run.cost is None else f"${run.cost:.4f}"
        st.text(f"{run.ending} Cost: {cost}.")
    _failures(run)


def _failures(run: RewritingRun) -> None:
    if not run.failures:
        return
    st.warning(
        f"{count_text(len(run.failures), 'context')} without a draft; the replies are not saved:"
    )
    for code, reason in run.failures[:_MOST_FAILURES]:
        st.text(f"{code}: {reason}")
    if len(run.failures) > _MOST_FAILURES:
        st.text(f"and {len(run.failures) - _MOST_FAILURES:,} more")


# Reviewing rewritings with their originals: edit, accept into a set, or discard.


def n_waiting(name: str) -> int:
    """How many rewritings of a set nobody has decided on."""
    drafts = rewriting.list_rewritings(widgets.workspace(), name)
    return sum(draft.state == "waiting" for draft in drafts)


def review_section(name: str) -> None:
    """One waiting rewriting at a time, and a list of those decided on."""
    drafts = rewriting.list_rewritings(widgets.workspace(), name)
    if not drafts:
        st.info("This set has no rewritings yet. Start under Rewrite with a model.")
        return
    context_set = sets.load(widgets.workspace(), name)
    indices = {context.code: index for index, context in enumerate(context_set)}
    waiting = sorted(  # as they stand in the set; replies arrive in any order
        (draft for draft in drafts if draft.state == "waiting"),
        key=lambda draft: indices.get(draft.original.code, len(indices)),
    )
    accepted = [draft for draft in drafts if draft.state == "accepted"]
    st.caption(
        f"Rewritings: {len(drafts):,}. Of these, {len(waiting):,} to review, "
        f"{len(accepted):,} accepted, {len(drafts) - len(waiting) - len(accepted):,} discarded."
    )
    if waiting:
        draft = _choose(waiting)
        _review_form(name, draft, {} if draft.into else _target(name).fields)
    else:
        st.success("You have accepted or discarded every rewriting.")
    for target in dict.fromkeys(draft.set_name for draft in accepted):
        st.page_link(
            "pages/contexts/page.py",
            label=f"Open the set {widgets.plain(target)}",
            icon=":material/arrow_forward:",
            query_params={SET_PARAMETER: target},
        )
    _decisions_table(drafts)


def _target(name: str) -> DraftForm:
    """The set for accepted rewritings; the choice is saved with this set."""
    form = draft_form.open_form(
        f"contexts:review:{name}", {"into": f"{name}, rewritten", "with_original": True}
    )
    form.draw(
        TextField("into", "Set for accepted rewritings"),
        "The set is made when you accept the first rewriting. Discarded rewritings are not in it.",
        ToggleField("with_original", "Add each original to the same set"),
        "One study can then use both, and compare them in pairs.",
    )
    return form


def _choose(waiting: Sequence[Rewriting]) -> Rewriting:
    by_code = {draft.variant.code: draft for draft in waiting}
    code = st.selectbox(
        f"Rewriting to review ({len(waiting):,})",
        list(by_code),
        format_func=lambda chosen: f"{chosen}: {beginning(by_code[chosen].original)[:80]}",
        key="contexts_draft",
    )
    return by_code[code]


def _review_form(name: str, draft: Rewriting, target: Mapping[str, object]) -> None:
    """The original beside the draft to edit; `target` says where a rewriting goes."""
    what = language_name(draft.into) if draft.into else "Rewriting"
    with st.container(border=True):
        left, right = st.columns(2)
        left.markdown(f"**Original**: {widgets.plain(draft.original.code)}")
        right.markdown(f"**{what}**: {widgets.plain(draft.variant.code)}")
        if draft.original.messages:
            pairs = zip(draft.original.messages, draft.variant.messages, strict=True)
            for index, (original, variant) in enumerate(pairs):
                label = f"{index + 1} {original['role']}"
                _side_by_side(name, draft, index, label, original["content"], variant["content"])
        else:
            _side_by_side(name, draft, None, what, draft.original.text, draft.variant.text)
        with st.container(horizontal=True):
            st.button(
                "Accept",
                key="contexts_accept",
                type="primary",
                icon=":material/check:",
                on_click=_accept,
                args=(name, draft, dict(target)),
                help="Adds the translation to its persona in this set."
                if draft.into
                else "Adds the rewriting to the set named above, so that studies can use it.",
            )
            st.button(
                "Discard",
                key="contexts_discard",
                icon=":material/close:",
                on_click=_discard,
                args=(name, draft),
                help="No set gets this rewriting.",
            )
    edited = ", then edited by hand" if draft.edited else ""
    moment = f"{datetime.fromisoformat(draft.written_at).astimezone():%Y-%m-%d %H:%M}"
    written_by = f"Written by {draft.respondent} ({draft.model}) on {moment}{edited}."
    widgets.text_block(f"{written_by} Instruction: {draft.instruction}")


def _side_by_side(
    name: str, draft: Rewriting, index: int | None, label: str, before: str, after: str
) -> None:
    left, right = st.columns(2)
    with left:
        st.caption(label if index is not None else "Original")
        widgets.text_block(before, language=draft.original.language)
    with right:
        draw_field(
            LongTextField(
                "text", f"{label}, rewritten" if index is not None else label, "", "content"
            ),
            f"contexts_edit:{name}:{draft.variant.code}:{index}",
            after,
            partial(_edit, name, draft.variant.code, index),
        )


def _edit(name: str, code: str, index: int | None, text: str) -> None:
    try:
        drafts = rewriting.list_rewritings(widgets.workspace(), name)
        variant = next(draft.variant for draft in drafts if draft.variant.code == code)
        rewriting.edit(widgets.workspace(), name, code, _with_text(variant, index, text.strip()))
    except UserError as error:
        leave_message(error)


def _with_text(variant: Context, index: int | None, text: str) -> Context:
    if index is None:
        return replace(variant, text=text)
    messages: list[Message] = list(variant.messages)
    messages[index] = {"role": messages[index]["role"], "content": text}
    return replace(variant, messages=tuple(messages))


def _accept(name: str, draft: Rewriting, fields: dict[str, object]) -> None:
    code, into = draft.variant.code, str(fields.get("into", name))
    with_original = bool(fields.get("with_original"))
    try:
        rewriting.accept(widgets.workspace(), name, code, into, with_original=with_original)
    except UserError as error:
        leave_message(error)
    else:
        leave_message(f"{widgets.plain(code)} is now in the set {widgets.plain(into.strip())}.")


def _discard(name: str, draft: Rewriting) -> None:
    try:
        rewriting.discard(widgets.workspace(), name, draft.variant.code)
    except UserError as error:
        leave_message(error)


def _decisions_table(drafts: Sequence[Rewriting]) -> None:
    decided = [draft for draft in drafts if draft.state != "waiting"]
    if not decided:
        return
    rows = [
        (d.variant.code, d.original.code, d.state, d.set_name, beginning(d.variant))
        for d in decided
    ]
    with st.expander(f"Decided ({len(decided):,})"):
        widgets.table(
            pd.DataFrame(rows, columns=["Code", "Original", "Decision", "Set", "Text"]),
            alt=f"Rewritings accepted or discarded: {len(decided)}",
        )

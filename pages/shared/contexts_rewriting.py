"""Having contexts of a set rewritten by a model: the instruction, the choice, the progress."""

from __future__ import annotations

import streamlit as st

from core.domain.counts import counted
from core.domain.study import Context, Respondent
from core.errors import UserError
from core.workflow import context_drafts, context_rewriting, context_run, contexts, respondents
from core.workflow.context_run import Run
from pages.shared import draft_form, respondent_words, widgets
from pages.shared.contexts_keeping import beginning, tell
from pages.shared.draft_form import DraftForm

_POLL_S = 1.0
_MOST_FAILURES = 50


def rewriting_section(name: str) -> None:
    """What is to be done to which contexts by whom, then a button and a bar."""
    found = contexts.load(widgets.workspace(), name)
    st.caption(
        "A model rewrites each context as you say; the rewriting keeps a link to its original, so "
        "that a study can set the two side by side. Every rewriting is a draft: no study can use "
        "it before you have read and accepted it under Review rewritings."
    )
    form = draft_form.open_form(
        f"contexts:rewrite:{name}",
        {
            "instruction": context_rewriting.DEFAULT_INSTRUCTION,
            "respondent": "",
            "codes": [],
            "most_tokens": context_rewriting.MOST_TOKENS,
        },
    )
    chosen = _contexts(form, name, found)
    form.long_text(
        "instruction", "Instruction", height=100,
        help="What the model is to do with each context. That it must keep the language and the "
        "layout, and reply with nothing else, is added by Inkblot.",
    )  # fmt: skip
    person = _respondent(form)
    form.show_notes()
    if person is None:
        return
    run = context_run.last_run(widgets.workspace(), name)
    label = f"Rewrite {counted(len(chosen), 'context')}"
    st.button(
        label, key="contexts_rewrite", type="primary", icon=":material/edit_note:",
        on_click=_start, args=(name, chosen, person, dict(form.fields)),
        disabled=not chosen or (run is not None and run.under_way),
        help="One call for each, and more where a call fails and is repeated.",
    )  # fmt: skip
    if run is not None:
        every = _POLL_S if run.under_way else None
        st.fragment(_progress, run_every=every)(name, run.under_way)


def _contexts(form: DraftForm, name: str, found: tuple[Context, ...]) -> tuple[Context, ...]:
    by_code = {context.code: context for context in found}
    drafted = {draft.original.code for draft in context_drafts.of_set(widgets.workspace(), name)}
    rest = [c for c in found if c.code not in drafted and not context_rewriting.unsuitable(c)]
    form.several(
        "codes", "Contexts", list(by_code),
        lambda code: f"{code}: {beginning(by_code[code])[:60]}",
        placeholder=f"All {len(rest):,} that have no rewriting yet",
        help="Empty: all contexts of the set that were not rewritten yet.",
    )  # fmt: skip
    wished = [by_code[code] for code in form.fields["codes"] if code in by_code]
    for context in [c for c in wished or found if context_rewriting.unsuitable(c)][:10]:
        st.text(f"{context.code} is left out: {context_rewriting.unsuitable(context)}.")
    if wished:
        return tuple(c for c in wished if not context_rewriting.unsuitable(c))
    return tuple(rest)


def _respondent(form: DraftForm) -> Respondent | None:
    offered = respondents.offered(widgets.workspace())
    able = {person.label: person for person in offered if person.kind != "simulated"}
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        form.select(
            "respondent", "Respondent", list(able), str, placeholder="Choose a model",
            help="Its settings hold, but for its system prompt, which is left out, and the "
            "longest reply, which is set here.",
        )  # fmt: skip
    with right:
        form.number(
            "most_tokens", "Longest reply in tokens", 16, 100_000, step=100,
            help="A reply that reaches this length is cut off and not taken.",
        )  # fmt: skip
    if len(able) < len(offered):
        st.caption(f"{context_rewriting.SIMULATED_CANNOT} So they are not listed.")
    if not able:
        st.info("No model is on offer. Add one on the page Respondents.")
        st.page_link("pages/respondents.py", label="Add a respondent", icon=":material/smart_toy:")
    person = able.get(form.fields["respondent"])
    if person is not None:
        st.caption(widgets.plain(f"{person.model}: {respondent_words.key_words(person)}."))
        widgets.honesty_note([person])
    return person


def _start(
    name: str, chosen: tuple[Context, ...], person: Respondent, fields: dict[str, object]
) -> None:
    try:
        context_run.start(
            widgets.workspace(), name, chosen, str(fields["instruction"]), person,
            most_tokens=int(str(fields["most_tokens"])),
        )  # fmt: skip
    except UserError as error:
        tell(error)


def _progress(name: str, was_under_way: bool) -> None:
    run = context_run.last_run(widgets.workspace(), name)
    if run is None:
        return
    if was_under_way and not run.under_way:
        st.rerun()
    n_drafts = run.done - len(run.failures)
    words = "Rewriting" if run.under_way else "Last run"
    st.progress(
        run.done / run.total,
        text=f"**{words}**: {run.done:,} of {run.total:,} done, {counted(n_drafts, 'draft')}, "
        f"{len(run.failures):,} without",
    )
    if run.under_way:
        st.button(
            "Stop", key="contexts_stop", icon=":material/stop:", on_click=context_run.stop,
            args=(widgets.workspace(), name), help="Calls under way are finished and kept.",
        )  # fmt: skip
    else:
        _ending(run)
    _failures(run)


def _ending(run: Run) -> None:
    cost = "unknown, because a price is missing" if run.cost is None else f"${run.cost:.4f}"
    st.text(f"{run.ending} Cost: {cost}.")


def _failures(run: Run) -> None:
    if not run.failures:
        return
    st.warning(f"{len(run.failures):,} gave no draft; nothing of their replies was kept:")
    for code, reason in run.failures[:_MOST_FAILURES]:
        st.text(f"{code}: {reason}")
    if len(run.failures) > _MOST_FAILURES:
        st.text(f"and {len(run.failures) - _MOST_FAILURES:,} more")

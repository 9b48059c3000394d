"""New sets: from a file, typed, from another set, or by a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, round_frame
from core.domain.study import Context
from core.errors import UserError
from core.stats.scores import ScoreRule
from core.workflow.contexts import sets
from core.workflow.contexts.sets import (
    ALL_ITEMS,
    SCORE_RULES,
    ContextScores,
    Derivation,
    ScoreGroup,
)
from core.workflow.designs.studies import StudyRecord
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from pages.banks.open_bank import language_name
from pages.shared import draft_form, widgets

# Keeping contexts as a set, going to a set, and how contexts look in a table.

SET_PARAMETER = "set"
_DONE = "contexts_done"
_SHOWN = 200
_LONGEST = 300


def go_to(name: str | None) -> None:
    """Put a set into the address, so that a reload shows it again; None: the list."""
    if name is None:
        st.query_params.pop(SET_PARAMETER, None)
    else:
        st.query_params[SET_PARAMETER] = name


def show_done() -> None:
    """What the last click came to, once."""
    done = st.session_state.pop(_DONE, None)
    if isinstance(done, UserError):
        widgets.show_problem(done)
    elif done:
        st.success(done)


def tell(done: str | UserError) -> None:
    """Have the next run show what a click came to; text may be Markdown."""
    st.session_state[_DONE] = done


def _keep_as_set(found: tuple[Context, ...], wish: str, *, key: str, made: str) -> None:
    """A name and a button that keeps the contexts as a set and opens it."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Name of the set", value=wish, key=f"contexts_name:{key}:{wish}",
        help="Under this name designs offer the set. A frozen study holds its own copy.",
    )  # fmt: skip
    exists = name.strip() in sets.load_all(widgets.workspace())
    if exists:
        st.warning("There is a set of that name; saving replaces it. Frozen studies keep theirs.")
    right.button(
        "Replace the set" if exists else "Save as set", key=f"contexts_save:{key}", type="primary",
        icon=":material/save:", on_click=_save, args=(name, found, made), disabled=not found,
    )  # fmt: skip


def preview(found: Sequence[Context], alt: str) -> None:
    """The first contexts in a table, after a line that says how many there are."""
    st.text(sets.describe_contexts(found)[:1].upper() + sets.describe_contexts(found)[1:])
    if not found:
        return
    if len(found) > _SHOWN:
        st.caption(f"The first {_SHOWN}:")
    widgets.table(rows(found[:_SHOWN]), alt=f"{alt}: {len(found)}", column_config=_COLUMNS)


def rows(found: Sequence[Context]) -> pd.DataFrame:
    """One row per context: code, language, number of messages, and how it begins."""
    frame = pd.DataFrame(
        [(c.code, c.language, len(c.messages) or None, beginning(c), c.variant_of) for c in found],
        columns=["Code", "Language", "Messages", "Text", "Rewritten from"],
    )
    unused = [
        column
        for column in ("Language", "Messages", "Rewritten from")
        if not frame[column].fillna("").astype(str).str.strip().any()
    ]
    return frame.drop(columns=unused)


def beginning(context: Context) -> str:
    """How a context begins: its persona, or its first message."""
    text = context.text or next((message["content"] for message in context.messages), "")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_COLUMNS = {
    "Code": st.column_config.TextColumn(width="small"),
    "Language": st.column_config.TextColumn(width="small"),
    "Messages": st.column_config.NumberColumn(width="small"),
    "Text": st.column_config.TextColumn(width="large"),
    "Rewritten from": st.column_config.TextColumn(width="small"),
}


def _save(name: str, found: tuple[Context, ...], made: str) -> None:
    try:
        sets.save(open_workspace(), name, found, made=made)
    except UserError as error:
        tell(error)
        return
    kept = count_text(len(found), "context is", "contexts are")
    tell(f"{kept} kept as {widgets.plain(name.strip())}.")
    go_to(name.strip())


# New sets from a file, seen before anything is kept, or typed in.

_ENDINGS = ["csv", "tsv", "xlsx", "txt", "jsonl", "ndjson", "gz"]
_TYPED = "contexts:typed"
_TYPED_DEFAULTS = {"text": "", "language": ""}


def file_section() -> None:
    """A file, what is in it or the line that is wrong, and a button to keep it."""
    _help()
    uploaded = st.file_uploader(
        "File with personas or conversations", _ENDINGS, key="contexts_file",
        help="CSV, Excel, text or JSON Lines, up to 50 MB.",
    )  # fmt: skip
    if uploaded is None:
        st.caption("Choose a file; you will see what is in it before anything is kept.")
        return
    found = _read(uploaded.file_id, uploaded.name, uploaded.getvalue())
    preview(found, "Contexts in the file")
    _keep_as_set(
        found, uploaded.name.split(".")[0], key="file", made=f"Imported from {uploaded.name}"
    )


def typed_section() -> None:
    """Personas, one a line; what is typed is kept until it becomes a set."""
    form = draft_form.open_form(_TYPED, _TYPED_DEFAULTS)
    form.long_text(
        "text", "Personas, one on each line", height=160,
        placeholder="You are a 34-year-old nurse in Porto.\nYou are a retired teacher in Oslo.",
        help="Each line is said to the model before the items, as it stands here.",
    )  # fmt: skip
    form.text(
        "language", "Language (optional)", placeholder="en", width=220,
        help="A code such as en, or an English name such as German.",
    )  # fmt: skip
    form.show_notes()
    if not form.fields["text"].strip():
        st.caption("Type at least one persona, then press Tab or Ctrl+Enter.")
        return
    language = sets.language_code(form.fields["language"])
    found = tuple(
        replace(persona, language=language) for persona in sets.parse_personas(form.fields["text"])
    )
    preview(found, "Personas typed")
    _keep_as_set(found, "My personas", key="typed", made="Typed in")


@st.cache_data(max_entries=2, show_spinner="Reading the file ...")
def _read(file_id: str, name: str, _data: bytes) -> tuple[Context, ...]:
    return sets.read_contexts(name, _data)


def _help() -> None:
    with st.expander("What the file looks like"):
        st.markdown(
            "- **Personas**: a text file with one on each line, or a table (CSV, Excel) with the "
            "columns `code` and `text`.\n"
            "- **Conversations**: a table with one message a row and the columns `code`, `role` "
            "(user, assistant, system) and `content`; or with one exchange a row and the columns "
            "`user` and `assistant`. Or JSON Lines: on each line an object whose `messages` is a "
            "list of objects with `role` and `content`; `conversation`, `from` and `value` are "
            "understood as well.\n"
            "- All may have `language`, and `variant_of` with the code of the context that this "
            "one was rewritten from. Contexts without a code get one."
        )


# A new set from a set: one language, the first exchanges, a random draw.

_ALL = "all"
_NOT_STATED = ""


def making_section(name: str) -> None:
    """The choices, what they leave, and a button to keep it under a name that says how."""
    found = sets.load(widgets.workspace(), name)
    making = _choices(name, found)
    if making == Derivation():
        st.caption(
            "Choose a language, a number of exchanges or a number to draw. This set stays as it is."
        )
        return
    left = sets.derive(found, making)
    if not left:
        st.info("Nothing is left with these choices. Choose another language or a larger number.")
        return
    if making.count is not None and making.count > len(left):
        st.warning(f"There are only {len(left):,} to draw from; all of them are taken.")
    preview(left, "Contexts of the new set")
    wish = sets.suggested_name(name, making)
    _keep_as_set(left, wish, key="made", made=f"Made from '{name}': {wish.removeprefix(name)[2:]}")


def _choices(name: str, found: Sequence[Context]) -> Derivation:
    languages = sorted({context.language for context in found})
    columns = [*st.columns(2), *st.columns(2)]  # four in a row are too narrow beside the menu
    language = columns[0].selectbox(
        "Language", [_ALL, *languages], format_func=_language_words,
        key=f"contexts_language:{name}", help="Only contexts in this language.",
    )  # fmt: skip
    exchanges = columns[1].number_input(
        "First exchanges", 1, None, None, 1, key=f"contexts_exchanges:{name}", placeholder="all",
        disabled=not any(context.messages for context in found),
        help="Cut each conversation after so many exchanges of user and assistant. "
        "Empty: as long as they are.",
    )  # fmt: skip
    count = columns[2].number_input(
        "Draw at random", 1, None, None, 1, key=f"contexts_count:{name}", placeholder="all",
        help="Keep so many, drawn at random. Empty: all.",
    )  # fmt: skip
    seed = columns[3].number_input(
        "Seed", 0, 2**31, 1, 1, key=f"contexts_seed:{name}", disabled=count is None,
        help="The same seed draws the same contexts again.",
    )  # fmt: skip
    return Derivation(
        language=None if language == _ALL else language,
        exchanges=None if exchanges is None else int(exchanges),
        count=None if count is None else int(count),
        seed=int(seed) if count is not None else Derivation.seed,
    )


def _language_words(language: str) -> str:
    if language == _ALL:
        return "All languages"
    return "Not stated" if language == _NOT_STATED else language_name(language)


# Contexts chosen by a score measured before: so many at random from each quantile group.


def scores_section() -> None:
    """The study, the score and the draw; the groups that come of it; a button to keep them."""
    st.caption(
        "Take the contexts of a study, order them by the mean item score that a respondent had "
        "under each, and draw so many from every quantile group: contexts that differ in score, "
        "for a longer or dearer task than the questionnaire."
    )
    study = widgets.study_chooser(kinds=("planned",))
    if study is None:
        return
    found = _scores(study)
    if found is None:
        return
    n_groups, per_group, seed = _draw_choices()
    groups = sets.draw_groups(found[1].scores, n_groups=n_groups, per_group=per_group, seed=seed)
    for remark in sets.draw_remarks(found[1], groups, per_group):
        st.text(f"• {remark}")
    _show(found[1], groups)
    made = f"{found[0]}, {per_group} from each of {n_groups} groups, seed {seed}"
    _keep_as_set(sets.drawn_contexts(found[1], groups), made, key="score", made=f"By score: {made}")


def _scores(study: StudyRecord) -> tuple[str, ContextScores] | None:
    """The scores, and in words whose and on what they are."""
    left, right = st.columns(2)
    person = left.selectbox(
        "Respondent", study.design.respondents, key=f"contexts_person:{study.code}",
        help="A score belongs to one respondent; another may order the contexts otherwise.",
    )  # fmt: skip
    revision = analyses.revision(widgets.workspace(), [study.code])
    known = (widgets.workspace().process, revision)
    subscales = _subscales(known, study.code, person)
    several = len(subscales) > 1
    subscale = right.selectbox(
        "Score", [ALL_ITEMS, *(subscales if several else ())],
        format_func=lambda name: name or "All items", key=f"contexts_subscale:{study.code}",
        help="Mean of the item scores, keyed as the bank says.",
    )  # fmt: skip
    rule = st.radio(
        "Missing answers", list(SCORE_RULES), format_func=SCORE_RULES.__getitem__, horizontal=True,
        key="contexts_rule", help="Which contexts get a score.",
    )  # fmt: skip
    found = _computed(known, study.code, person, subscale, rule)
    return f"{study.code}, {person}, {subscale or 'all items'}", found


def _draw_choices() -> tuple[int, int, int]:
    columns = st.columns(3)
    n_groups = columns[0].number_input(
        "Groups", 2, 20, 4, 1, key="contexts_groups",
        help="4 makes quartiles. Equal scores are always in one group.",
    )  # fmt: skip
    per_group = columns[1].number_input("From each group", 1, 10_000, 10, 1, key="contexts_each")
    seed = columns[2].number_input(
        "Seed", 0, 2**31, 1, 1, key="contexts_score_seed",
        help="The same seed draws the same contexts again.",
    )  # fmt: skip
    return int(n_groups), int(per_group), int(seed)


@st.cache_data(max_entries=10, show_spinner="Computing ...")
def _computed(
    known: object, study: str, respondent: str, subscale: str, rule: ScoreRule
) -> ContextScores:
    return sets.load_scores(widgets.workspace(), study, respondent, subscale=subscale, rule=rule)


@st.cache_data(max_entries=10, show_spinner=False)
def _subscales(known: object, study: str, respondent: str) -> tuple[str, ...]:
    return sets.subscales(widgets.workspace(), study, respondent)


def _show(found: ContextScores, groups: Sequence[ScoreGroup]) -> None:
    rows = [
        {
            "Group": group.number,
            "Lowest score": group.members[0].score if group.members else None,
            "Highest score": group.members[-1].score if group.members else None,
            "n": len(group.members),
            "Drawn": len(group.drawn),
        }
        for group in groups
    ]
    number = st.column_config.NumberColumn
    widgets.table(
        round_frame(pd.DataFrame(rows), 2),
        alt=f"Quantile groups with range, size and number drawn: {len(groups)}",
        column_config={
            "Group": number(help="1 holds the lowest scores."),
            "Lowest score": number(format="%.2f"),
            "Highest score": number(format="%.2f"),
            "n": number(help="Contexts in the group."),
            "Drawn": number(help="Contexts drawn from it."),
        },
    )
    with st.expander(
        f"The {count_text(sum(len(group.drawn) for group in groups), 'context')} drawn"
    ):
        _drawn(found, groups)


def _drawn(found: ContextScores, groups: Sequence[ScoreGroup]) -> None:
    texts = {context.code: beginning(context) for context in found.contexts}
    rows = [
        (group.number, member.code, member.score, member.n_missing, texts[member.code])
        for group in groups
        for member in group.members
        if member.code in group.drawn
    ]
    widgets.table(
        round_frame(pd.DataFrame(rows, columns=["Group", "Code", "Score", "Missing", "Text"]), 2),
        alt=f"Contexts drawn, with group and score: {len(rows)}",
        column_config={
            "Score": st.column_config.NumberColumn(format="%.2f"),
            "Missing": st.column_config.NumberColumn(help="Answers missing under this context."),
            "Text": st.column_config.TextColumn(width="large"),
        },
    )

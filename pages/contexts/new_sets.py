"""New sets: from a file, typed, from another set, or by a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.domain.languages import language_name
from core.domain.numbers import count_text, round_frame
from core.domain.recipes import Recipe
from core.domain.study import Context
from core.errors import UserError
from core.stats.scores import ScoreRule
from core.workflow.contexts import by_score, sets
from core.workflow.contexts.by_score import ALL_ITEMS, SCORE_RULES, ContextScores, ScoreGroup
from core.workflow.contexts.sets import Derivation
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses
from pages.shared import draft_form, widgets
from pages.shared.draft_form import LongTextField, TextField

# Saving contexts as a set, opening a set, and the table of contexts.

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


def show_message() -> None:
    """Show the outcome of the last click, once."""
    message = st.session_state.pop(_DONE, None)
    if isinstance(message, UserError):
        widgets.show_problem(message)
    elif message:
        st.success(message)


def leave_message(message: str | UserError) -> None:
    """Have the next run show the outcome of a click; text may be Markdown."""
    st.session_state[_DONE] = message


def save_form(
    context_set: tuple[Context, ...],
    suggested_name: str,
    *,
    key: str,
    made: str,
    recipe: Recipe | None = None,
) -> None:
    """A name and a button that saves the contexts as a set and opens it."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Name of the set",
        value=suggested_name,
        key=f"contexts_name:{key}:{suggested_name}",
        help="The page Design offers the set under this name. A frozen study has its own copy.",
    )
    exists = name.strip() in sets.names(widgets.workspace())
    if exists:
        st.warning(
            "A set with this name exists. Saving replaces it; frozen studies keep their copies."
        )
    right.button(
        "Replace the set" if exists else "Save as set",
        key=f"contexts_save:{key}",
        type="primary",
        icon=":material/save:",
        on_click=_save,
        args=(name, context_set, made, recipe),
        disabled=not context_set,
    )


def preview(context_set: Sequence[Context], alt: str) -> None:
    """The first contexts in a table, after a line that says how many there are."""
    st.text(
        sets.describe_contexts(context_set)[:1].upper() + sets.describe_contexts(context_set)[1:]
    )
    if not context_set:
        return
    if len(context_set) > _SHOWN:
        st.caption(f"The first {_SHOWN}:")
    widgets.table(
        rows(context_set[:_SHOWN]), alt=f"{alt}: {len(context_set)}", column_config=_COLUMNS
    )


def rows(context_set: Sequence[Context]) -> pd.DataFrame:
    """One row per context: code, language, number of messages, and how it begins."""
    frame = pd.DataFrame(
        [
            (c.code, c.language, len(c.messages) or None, beginning(c), c.variant_of)
            for c in context_set
        ],
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


def _save(name: str, context_set: tuple[Context, ...], made: str, recipe: Recipe | None) -> None:
    try:
        sets.save(widgets.workspace(), name, context_set, made=made, recipe=recipe)
    except UserError as error:
        leave_message(error)
        return
    counted_words = count_text(len(context_set), "context is", "contexts are")
    leave_message(f"{counted_words} saved as {widgets.plain(name.strip())}.")
    go_to(name.strip())


# New sets from a file, with a preview, or typed.

_ENDINGS = ["csv", "tsv", "xlsx", "txt", "jsonl", "ndjson", "gz"]
_TYPED = "contexts:typed"
_TYPED_DEFAULTS = {"text": "", "language": ""}


def file_section() -> None:
    """A file, a preview or the line with an error, and a button to save the set."""
    _help()
    uploaded = st.file_uploader(
        "File with personas or conversations",
        _ENDINGS,
        key="contexts_file",
        help="CSV, Excel, text or JSON Lines, up to 50 MB.",
        max_upload_size=50,
    )
    if uploaded is None:
        st.caption("Choose a file. You see its content before anything is saved.")
        return
    context_set = _read(uploaded.file_id, uploaded.name, uploaded.getvalue())
    preview(context_set, "Contexts in the file")
    save_form(
        context_set, uploaded.name.split(".")[0], key="file", made=f"Imported from {uploaded.name}"
    )


def typed_section() -> None:
    """Personas, one per line; the draft is saved until it becomes a set."""
    form = draft_form.open_form(_TYPED, _TYPED_DEFAULTS)
    examples = "You are a 34-year-old nurse in Porto.\nYou are a retired teacher in Oslo."
    form.draw(
        LongTextField("text", "Personas, one per line", examples, height=160),
        "The model reads each line before the items, exactly as you type it.",
        TextField("language", "Language (optional)", "en", width=220),
        "A code such as en, or an English name such as German.",
    )
    form.show_notes()
    if not form.fields["text"].strip():
        st.caption("Type at least one persona, then press Tab or Ctrl+Enter.")
        return
    language = sets.language_code(form.fields["language"])
    personas = tuple(
        replace(persona, language=language) for persona in sets.parse_personas(form.fields["text"])
    )
    preview(personas, "Personas typed")
    save_form(personas, "My personas", key="typed", made="Typed in")


@st.cache_data(max_entries=2, show_spinner="Reading the file ...")
def _read(file_id: str, name: str, _data: bytes) -> tuple[Context, ...]:
    return sets.read_contexts(name, _data)


def _help() -> None:
    with st.expander("What the file looks like"):
        st.markdown(
            "- **Personas**: a text file with one persona per line, or a table (CSV, Excel) with "
            "the columns `code` and `text`.\n- **Conversations**: a table with one message per row "
            "and the columns `code`, `role` (user, assistant, system) and `content`; or a table "
            "with one exchange per row and the columns `user` and `assistant`; or JSON Lines, "
            "where each line is an object whose `messages` is a list of objects with `role` and "
            "`content` (Inkblot also reads `conversation`, `from` and `value`).\n- Each file may "
            "also have `language`, and `variant_of` with the code of the context that this one was "
            "rewritten from. Contexts without a code get one."
        )


# A new set from a set: one language, the first exchanges, a random draw.

_ALL = "all"
_LANGUAGE_WORDS = {_ALL: "All languages", "": "Not stated"}


def making_section(name: str) -> None:
    """The choices, the contexts they leave, and a button to save these as a set."""
    context_set = sets.load(widgets.workspace(), name)
    making = _choices(name, context_set)
    if making == Derivation():
        st.caption(
            "Choose a language, a number of exchanges or a number to draw. This set does not "
            "change."
        )
        return
    selection = sets.derive(context_set, making)
    if not selection:
        st.info("These choices leave no context. Choose another language or a larger number.")
        return
    if making.count is not None and making.count > len(selection):
        st.warning(f"Only {len(selection):,} contexts are available, so all of them are taken.")
    preview(selection, "Contexts of the new set")
    words = sets.derivation_words(making)
    recipe = sets.load_recipe(widgets.workspace(), name)
    save_form(
        selection,
        f"{name}, {words}",
        key="made",
        made=f"Made from '{name}': {words}",
        recipe=sets.derived_recipe(recipe, words, len(selection)),
    )


def _choices(name: str, context_set: Sequence[Context]) -> Derivation:
    languages = sorted({context.language for context in context_set})
    columns = [*st.columns(2), *st.columns(2)]  # four in a row are too narrow beside the menu
    language = columns[0].selectbox(
        "Language",
        [_ALL, *languages],
        format_func=lambda code: _LANGUAGE_WORDS.get(code) or language_name(code),
        key=f"contexts_language:{name}",
        help="Only contexts in this language.",
    )
    exchanges = columns[1].number_input(
        "First exchanges",
        1,
        None,
        None,
        1,
        key=f"contexts_exchanges:{name}",
        placeholder="all",
        disabled=not any(context.messages for context in context_set),
        help="Cut each conversation after this number of exchanges of user and assistant. "
        "Empty: no cut.",
    )
    count = columns[2].number_input(
        "Draw at random",
        1,
        None,
        None,
        1,
        key=f"contexts_count:{name}",
        placeholder="all",
        help="Draw this number of contexts at random. Empty: all.",
    )
    seed = columns[3].number_input(
        "Seed",
        0,
        2**31,
        1,
        1,
        key=f"contexts_seed:{name}",
        disabled=count is None,
        help="The same seed draws the same contexts again.",
    )
    return Derivation(
        language=None if language == _ALL else language,
        exchanges=None if exchanges is None else int(exchanges),
        count=None if count is None else int(count),
        seed=int(seed) if count is not None else Derivation.seed,
    )


# Contexts chosen by a score: the same number at random from each quantile group.


def scores_section() -> None:
    """The study, the score and the draw; the groups; a button to save the contexts drawn."""
    st.caption(
        "Inkblot orders the contexts of a study by the mean item score of a respondent under each "
        "context, and draws the same number from every quantile group. You get contexts that "
        "differ in score, for a task that is longer or more expensive than the questionnaire."
    )
    study = widgets.study_chooser(kinds=("planned",))
    if study is None:
        return
    scored = _scores(study)
    if scored is None:
        return
    description, scores = scored
    n_groups, per_group, seed = _draw_choices()
    groups = by_score.draw_groups(scores.scores, n_groups=n_groups, per_group=per_group, seed=seed)
    for remark in by_score.draw_remarks(scores, groups, per_group):
        st.text(f"• {remark}")
    _show_groups(scores, groups)
    made = f"{description}, {per_group} from each of {n_groups} groups, seed {seed}"
    save_form(by_score.drawn_contexts(scores, groups), made, key="score", made=f"By score: {made}")


def _scores(study: StudyRecord) -> tuple[str, ContextScores] | None:
    """A description of the scores (study, respondent, scale), and the scores."""
    left, right = st.columns(2)
    person = left.selectbox(
        "Respondent",
        study.design.levels("respondents"),
        key=f"contexts_person:{study.code}",
        help="A score belongs to one respondent. Another respondent may order the contexts "
        "differently.",
    )
    revision = analyses.revision(widgets.workspace(), [study.code])
    answers_now = (widgets.workspace().process, revision)
    subscales = _subscales(answers_now, study.code, person)
    several = len(subscales) > 1
    subscale = right.selectbox(
        "Score",
        [ALL_ITEMS, *(subscales if several else ())],
        format_func=lambda name: name or "All items",
        key=f"contexts_subscale:{study.code}",
        help="Mean of the item scores, keyed by the bank.",
    )
    rule = st.radio(
        "Missing answers",
        list(SCORE_RULES),
        format_func=SCORE_RULES.__getitem__,
        horizontal=True,
        key="contexts_rule",
        help="The rule decides which contexts get a score.",
    )
    scores = _computed(answers_now, study.code, person, subscale, rule)
    return f"{study.code}, {person}, {subscale or 'all items'}", scores


def _draw_choices() -> tuple[int, int, int]:
    columns = st.columns(3)
    n_groups = columns[0].number_input(
        "Groups",
        2,
        20,
        4,
        1,
        key="contexts_groups",
        help="4 groups are quartiles. Equal scores are always in the same group.",
    )
    per_group = columns[1].number_input("From each group", 1, 10_000, 10, 1, key="contexts_each")
    seed = columns[2].number_input(
        "Seed",
        0,
        2**31,
        1,
        1,
        key="contexts_score_seed",
        help="The same seed draws the same contexts again.",
    )
    return int(n_groups), int(per_group), int(seed)


@st.cache_data(max_entries=10, show_spinner="Computing ...")
def _computed(
    answers_now: object, study: str, respondent: str, subscale: str, rule: ScoreRule
) -> ContextScores:
    return by_score.load_scores(
        widgets.workspace(), study, respondent, subscale=subscale, rule=rule
    )


@st.cache_data(max_entries=10, show_spinner=False)
def _subscales(answers_now: object, study: str, respondent: str) -> tuple[str, ...]:
    return by_score.subscales(widgets.workspace(), study, respondent)


def _show_groups(scores: ContextScores, groups: Sequence[ScoreGroup]) -> None:
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
        _drawn_table(scores, groups)


def _drawn_table(scores: ContextScores, groups: Sequence[ScoreGroup]) -> None:
    texts = {context.code: beginning(context) for context in scores.contexts}
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

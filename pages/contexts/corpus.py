"""A new set from a corpus: its columns, filters, cropping and a sample; what each step leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO, cast

import pandas as pd
import streamlit as st

from core.domain.languages import language_code
from core.domain.recipes import ALLOCATIONS, DUPLICATES, CorpusChoices, Recipe
from core.domain.study import Context
from core.workflow.contexts import corpora
from core.workflow.contexts.corpora import CorpusColumns, CorpusSelection
from pages.contexts.new_sets import preview, save_form
from pages.shared import draft_form, widgets
from pages.shared.draft_form import (
    ChoiceField,
    DraftForm,
    NumberField,
    Part,
    RadioField,
    SeveralField,
    TextField,
    ToggleField,
)

_ENDINGS = ["jsonl", "ndjson", "json", "parquet", "csv", "tsv", "gz"]
_KINDS = {"conversations": "Conversations", "personas": "Personas"}
_LAST = "contexts_corpus_read"
_LENGTH = "The length before cropping. Empty: no limit."
_MESSAGES: tuple[Part, ...] = (
    NumberField("least_messages", "Least messages", 1, empty="all"),
    _LENGTH,
    NumberField("most_messages", "Most messages", 1, empty="all"),
    _LENGTH,
)
_CHARACTERS: tuple[Part, ...] = (
    NumberField("least_characters", "Least characters", 1, empty="all"),
    _LENGTH,
    NumberField("most_characters", "Most characters", 1, empty="all"),
    _LENGTH,
)
_EXCHANGES: tuple[Part, ...] = (
    NumberField("exchanges", "First exchanges", 1, empty="all"),
    "Cut each conversation after this number of exchanges of user and assistant.",
)


def corpus_section() -> None:
    """A file, the choices, the number of contexts after each step, and a button to save them."""
    st.caption(
        "A corpus is a published collection of conversations or personas with one or two in each "
        "row. Choose its columns, filter it, and draw a sample. Inkblot saves the recipe with the "
        "set."
    )
    uploaded = st.file_uploader(
        "File of the corpus",
        _ENDINGS,
        key="contexts_corpus",
        help="JSON Lines, JSON, CSV or Parquet, up to 50 MB.",
        max_upload_size=50,
    )
    if uploaded is None:
        st.info("Choose a file. You see what each step leaves before anything is saved.")
        st.caption("Larger files go by the command line:")
        st.code("python -m core context import FILE --name NAME --sample 300", language=None)
        return
    corpus = corpora.Corpus(uploaded.name, cast("BinaryIO", uploaded))
    columns = corpora.look_at(corpus)
    choices = _choices(_open_form(columns), columns)
    selection, contexts, recipe = _read(uploaded.file_id, corpus, choices)
    _show_steps(selection)
    if contexts is None or recipe is None:
        corpora.take(corpus, choices, selection)  # says what is wrong
        return
    preview(contexts, "Contexts of the new set")
    save_form(
        contexts,
        uploaded.name.split(".")[0],
        key="corpus",
        made=f"Imported from {uploaded.name}",
        recipe=recipe,
    )


def show_recipe(recipe: Recipe) -> None:
    """How a set was chosen from a corpus, step by step."""
    with st.expander(f"Chosen from {widgets.plain(recipe.file)}"):
        st.text(recipe.sentence)
        st.text(f"SHA-256 of the file: {recipe.sha256}")


def _open_form(columns: CorpusColumns) -> DraftForm:
    """The choices for a file with these columns; another file with the same ones finds them."""
    guess = asdict(columns.guess)
    kind = "personas" if columns.guess.persona else "conversations"
    layout = hashlib.sha256("\x1f".join(columns.every).encode()).hexdigest()[:16]
    defaults = {
        **guess,
        "kind": kind,
        "languages": "",
        "conversations": list(guess["conversations"]),
    }
    return draft_form.open_form(f"contexts:corpus:{layout}", defaults)


def _choices(form: DraftForm, columns: CorpusColumns) -> CorpusChoices:
    kind = "conversations" if columns.conversations else "personas"
    allocations = {rule: words.capitalize() for rule, words in ALLOCATIONS.items()}
    duplicates = {rule: words.capitalize() for rule, words in DUPLICATES.items()}
    with st.container(border=True):
        if columns.conversations and columns.texts:
            kind = form.fields["kind"]
            form.draw(RadioField("kind", "Kind of contexts", _KINDS))
        if kind == "conversations":
            texts: tuple[Part, ...] = (
                SeveralField("conversations", "Columns of conversations", columns.conversations),
                "Each chosen column of a row gives a context.",
            )
            lengths = (*_MESSAGES, *_CHARACTERS, *_EXCHANGES)
        else:
            texts = (
                ChoiceField("persona", "Column of personas", columns.texts, "Choose a column"),
            )
            lengths = _CHARACTERS
            del duplicates["first_message"]
        form.draw(
            (
                *texts,
                ChoiceField("code", "Code", _with_none("Number of the row", columns.groups)),
                "The column whose values name the contexts.",
                ChoiceField("language", "Column of languages", _with_none("None", columns.texts)),
                "Codes such as en, or English names such as German.",
            )
        )
        form.draw(
            TextField("languages", "Languages to keep", "all"),
            "Such as: en, de",
            ChoiceField("duplicates", "Duplicates", duplicates),
            "Of equal contexts the first one stays. White space makes no difference.",
            columns=st.columns([1, 2]),
        )
        form.draw(
            lengths,
            (
                NumberField("count", "Draw at random", 1, empty="all"),
                "The number of contexts to draw. Empty: all.",
                NumberField("seed", "Seed", 0, 2**31 - 1),
                "The same seed draws the same contexts again.",
                ChoiceField("stratify", "Stratify by", _with_none("Nothing", columns.groups)),
                "Draw from each group of rows with the same value in this column.",
                ChoiceField("allocation", "From each group", allocations),
                "The same number: the number to draw is that of one group. Its share: the number "
                "is that of all groups together.",
            ),
            ToggleField("skip_unreadable", "Leave out texts that cannot be read"),
            "Empty texts and unknown roles. Inkblot counts them. Without it, the first one "
            "stops the import. A line that is no JSON always does.",
        )
        form.show_notes()
    return _to_choices(form.fields, columns, kind)


def _with_none(none: str, columns: Sequence[str]) -> dict[str, str]:
    """Columns to choose from, after the choice of none of them."""
    return {"": none, **{column: column for column in columns}}


def _to_choices(fields: Mapping[str, Any], columns: CorpusColumns, kind: str) -> CorpusChoices:
    languages = [part.strip() for part in fields["languages"].split(",") if part.strip()]
    talks = kind == "conversations"
    chosen: dict[str, Any] = {
        **{name: fields[name] for name in vars(columns.guess)},
        "conversations": tuple(fields["conversations"]) if talks else (),
        "persona": "" if talks else fields["persona"] or "",
        "languages": tuple(map(language_code, languages)),
    }
    if not talks:
        chosen |= {"least_messages": None, "most_messages": None, "exchanges": None}
    return CorpusChoices(**chosen)


def _read(
    file_id: str, corpus: corpora.Corpus, choices: CorpusChoices
) -> tuple[CorpusSelection, tuple[Context, ...] | None, Recipe | None]:
    """The selection and its contexts; None instead of these where they cannot be a set."""
    key = (file_id, choices)
    last = st.session_state.get(_LAST)
    if last is not None and last[0] == key:
        return cast("tuple[CorpusSelection, tuple[Context, ...] | None, Recipe | None]", last[1])
    progress_area = st.empty()
    selection = corpora.select(
        corpus, choices, lambda share: progress_area.progress(share, "Reading the corpus")
    )
    progress_area.empty()
    contexts = recipe = None
    if 0 < selection.count <= corpora.MAX_CONTEXTS:
        contexts = corpora.take(corpus, choices, selection)
        recipe = corpora.recipe_of(corpus, choices, selection)
    st.session_state[_LAST] = (key, (selection, contexts, recipe))
    return selection, contexts, recipe


def _show_steps(selection: CorpusSelection) -> None:
    first = selection.steps[0].count
    widgets.table(
        pd.DataFrame(
            [(s.name[:1].upper() + s.name[1:], s.count) for s in selection.steps],
            columns=["Step", "n"],
        ),
        alt=f"Contexts after each step, of {first} rows",
        column_config={"n": st.column_config.NumberColumn(help="Left after the step.", width=80)},
    )
    for remark in selection.remarks:
        st.text(f"• {remark[:1].upper()}{remark[1:]}.")

"""Sets of contexts: save, and edit as a grid."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pandas as pd

from core.domain.characters import readable
from core.domain.languages import language_code
from core.domain.recipes import Recipe, Step
from core.domain.study import (
    Context,
    Message,
    crop_conversations,
    describe_contexts,
    filter_by_language,
    sample_contexts,
    texts_by_language,
    translation_fault,
)
from core.errors import ConflictError, DesignError
from core.files.contexts import (
    TEXT_IN,
    contexts_csv,
    contexts_jsonl,
    parse_personas,
    read_contexts,
)
from core.files.writing import csv_fault
from core.store import saved_inputs
from core.store.studies import StudyRecipe
from core.workflow.banks.grid import GridEdits
from core.workflow.workspace import Workspace

__all__ = [
    "TEXT_IN",
    "Derivation",
    "SetSummary",
    "contexts_csv",
    "contexts_jsonl",
    "derivation_words",
    "derive",
    "describe_contexts",
    "language_code",
    "load",
    "load_all",
    "parse_personas",
    "read_contexts",
    "save",
    "summaries",
]


# Contexts as rows of a grid, and the contexts that come of editing them.
#
# As for banks, a grid reports all its edits since it was drawn, and they are applied to the state
# it was drawn from: applying them twice gives the same contexts.

CODE, TEXT, LANGUAGE, VARIANT_OF = "code", "text", "language", "variant_of"
ROLE, CONTENT = "role", "content"
ROLES = ("user", "assistant", "system")


def persona_rows(personas: Sequence[Context], added: Iterable[str] = ()) -> pd.DataFrame:
    """One persona a row: code, text, language, a column for each language that it is translated to.

    `added` are languages without a text so far. Where there is one, the original's code is last.
    """
    names = [CODE, TEXT, LANGUAGE]
    rows = {name: [getattr(persona, name) for persona in personas] for name in names}
    for language in translated_to(personas, added):
        rows[TEXT_IN + language] = [dict(p.translations).get(language, "") for p in personas]
    if any(persona.variant_of for persona in personas):
        rows[VARIANT_OF] = [persona.variant_of for persona in personas]
    return pd.DataFrame({name: pd.Series(cells, dtype="object") for name, cells in rows.items()})


def translated_to(personas: Iterable[Context], added: Iterable[str] = ()) -> tuple[str, ...]:
    """The languages that any of the personas is translated to, and those that were added."""
    used = {language for persona in personas for language, _ in persona.translations}
    return tuple(sorted({*used, *added}))


def message_rows(conversation: Context) -> pd.DataFrame:
    """One message a row: who says it, and what."""
    return pd.DataFrame(
        {
            name: pd.Series([message[name] for message in conversation.messages], dtype="object")
            for name in (ROLE, CONTENT)
        }
    )


def edit_personas(base: Sequence[Context], edits: GridEdits) -> tuple[Context, ...]:
    """The personas after edits of a grid that showed `base`.

    A persona without a code gets the next free one. Rewritings keep the link to an original whose
    code was changed. A new row without a text is not taken yet.

    Raises
    ------
    DesignError
        A text cannot be kept; names the code.
    """
    typed = [
        _edited_persona(persona, edits.edited.get(row, {}))
        for row, persona in enumerate(base)
        if row not in edits.deleted
    ]
    added = [
        _edited_persona(Context(""), cells)
        for cells in edits.added
        if any(_cell_text(cells[name]) for name in cells if name.startswith(TEXT))
    ]
    taken = [persona.code for persona in (*typed, *added) if persona.code]
    personas = [_with_code(persona, taken) for persona in (*typed, *added)]
    _refuse_csv_faults(personas)
    originals = [persona for row, persona in enumerate(base) if row not in edits.deleted]
    renamed = {
        old.code: new.code
        for old, new in zip(originals, personas, strict=False)
        if old.code != new.code
    }
    return tuple(replace(p, variant_of=renamed.get(p.variant_of, p.variant_of)) for p in personas)


def edit_messages(base: Context, edits: GridEdits) -> Context:
    """The conversation after edits of a grid that showed the messages of `base`.

    A new row without a text is not taken yet; one without a role follows the message before.

    Raises
    ------
    DesignError
        A message was emptied, or none is left.
    """
    messages: list[Message] = []
    for row, message in enumerate(base.messages):
        if row not in edits.deleted:
            messages.append(_edited_message(base, row, message, edits.edited.get(row, {})))
    for cells in edits.added:
        content = _cell_text(cells.get(CONTENT))
        if content.strip():
            role = cells.get(ROLE) or _next_role(messages)
            messages.append({"role": role, "content": content})
    if not messages:
        raise DesignError(
            f"Conversation {base.code} has no message left.", "Keep at least one message in it."
        )
    edited = replace(base, messages=tuple(messages))
    _refuse_csv_faults([edited])
    return edited


def replace_context(contexts: Iterable[Context], code: str, edited: Context) -> tuple[Context, ...]:
    """The contexts with another one in the place of that code; links to it follow its new code."""
    return tuple(
        edited
        if context.code == code
        else replace(context, variant_of=edited.code)
        if context.variant_of == code
        else context
        for context in contexts
    )


def with_translation(persona: Context, language: str, text: str) -> Context:
    """The persona with a text in a further language; an empty one takes it away."""
    texts = {**dict(persona.translations), language: text}
    return replace(persona, translations=texts_by_language(texts.items()))


def confirm_translations(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """The contexts with all translations as right as they were made from the text of today."""
    return tuple(replace(context, outdated=()) for context in contexts)


def with_outdated(before: Context, after: Context) -> Context:
    """A persona after an edit, which leaves translations outdated whose text it changes."""
    texts = dict(before.translations)
    kept = {language for language, text in after.translations if texts.get(language) == text}
    changed = before.text.split() != after.text.split()
    return replace(after, outdated=tuple(sorted(kept if changed else kept & {*before.outdated})))


def remove_context(contexts: Iterable[Context], code: str) -> tuple[Context, ...]:
    """The contexts but for the one of that code."""
    return tuple(context for context in contexts if context.code != code)


def _edited_persona(persona: Context, cells: Mapping[str, Any]) -> Context:
    texts = {name: _cell_text(value).strip() for name, value in cells.items()}
    edited = replace(
        persona,
        code=texts.get(CODE, persona.code),
        text=texts.get(TEXT, persona.text),
        language=language_code(texts.get(LANGUAGE, persona.language)),
    )
    for name, text in texts.items():
        if name.startswith(TEXT_IN):
            edited = with_translation(edited, name.removeprefix(TEXT_IN), text)
    return with_outdated(persona, edited)


def _edited_message(base: Context, row: int, message: Message, cells: Mapping[str, Any]) -> Message:
    changed = {
        "role": cells.get(ROLE) or message["role"],
        "content": _cell_text(cells[CONTENT]) if CONTENT in cells else message["content"],
    }
    if not changed["content"].strip():
        raise DesignError(
            f"Message {row + 1} of {base.code} has no text.", "Type it, or delete the row."
        )
    return changed


def _next_role(messages: Sequence[Message]) -> str:
    return "assistant" if messages and messages[-1]["role"] == "user" else "user"


def _with_code(persona: Context, taken: list[str]) -> Context:
    if persona.code:
        return persona
    number = len(taken) + 1
    while (code := f"p{number:03d}") in taken:
        number += 1
    taken.append(code)
    return replace(persona, code=code)


def _refuse_csv_faults(contexts: Sequence[Context]) -> None:
    for context in contexts:
        if fault := translation_fault(context):
            raise DesignError(f"{context.code}: {fault}.", "Change one of the two.")
        fields = (
            context.code,
            context.text,
            context.language,
            *dict(context.translations).values(),
        )
        for text in (*fields, *(message["content"] for message in context.messages)):
            if fault := csv_fault(text):
                raise DesignError(f"{context.code}: a text has {fault}.", "Shorten or retype it.")


def _cell_text(value: object) -> str:
    """What stands in a cell; an emptied one reports None."""
    return "" if value is None else readable(str(value))


# Sets of contexts: personas and conversations that designs can use.

_NOTE_PREFIX = "context_set:"
_BY_HAND = "changed by hand"
_writing = threading.Lock()  # what a set holds is compared and then replaced


@dataclass(frozen=True)
class SetSummary:
    """A set as it stands in a list. `made` says how it came about; None: saved at an unknown time.

    `lengths` is the smallest and the largest number of messages of its conversations.
    """

    name: str
    kind: str
    n_contexts: int
    n_variants: int
    languages: tuple[str, ...]
    lengths: tuple[int, int] | None
    made: str
    saved_at: datetime | None


@dataclass(frozen=True)
class Derivation:
    """How a set is made from another: a language, then the first exchanges, then a random draw.

    None leaves a step out. An empty language stands for contexts whose language is not stated.
    """

    language: str | None = None
    exchanges: int | None = None
    count: int | None = None
    seed: int = 1


def load_all(workspace: Workspace) -> dict[str, tuple[Context, ...]]:
    """The sets kept in the database, by name."""
    return saved_inputs.context_sets(workspace.database)


def names(workspace: Workspace) -> tuple[str, ...]:
    """The names of the sets kept in the database."""
    return saved_inputs.context_set_names(workspace.database)


def load(workspace: Workspace, name: str) -> tuple[Context, ...]:
    """The contexts of one set."""
    contexts = saved_inputs.context_set(workspace.database, name)
    if contexts is None:
        raise DesignError(f"There is no set '{name}'.", "Choose one from the list of sets.")
    return contexts


def summaries(workspace: Workspace) -> tuple[SetSummary, ...]:
    """Every set with its kind, size and languages, by name."""
    return tuple(
        _summary(workspace, name, contexts) for name, contexts in load_all(workspace).items()
    )


def save(
    workspace: Workspace,
    name: str,
    contexts: tuple[Context, ...],
    *,
    made: str = "",
    recipe: Recipe | None = None,
    expected: tuple[Context, ...] | None = None,
) -> None:
    """Keep a set; studies hold their own copy, so replacing one changes no study.

    `made` says how it came about; empty leaves what was said. `recipe` says how it was chosen from
    a corpus. A set that is saved without `made` is the earlier one, changed by hand: its recipe
    says so from then on. `expected` is what the set held when the change was begun.

    Raises
    ------
    DesignError
        There is no name or no context, or two contexts share a code; nothing is kept.
    ConflictError
        The set no longer holds what was expected; nothing is kept.
    """
    name = name.strip()
    if not name:
        raise DesignError("The set has no name.", "Type a name.")
    _check_codes(contexts)
    with _writing, workspace.database.all_or_nothing():
        if expected is not None and (
            saved_inputs.context_set(workspace.database, name) != expected
        ):
            raise ConflictError(
                f"The set '{name}' was changed in another tab meanwhile.",
                "The newer state is shown; make the change again.",
            )
        about = saved_inputs.page_input(workspace.database, _NOTE_PREFIX + name)
        note = made or (about[0] or {}).get("made", "") if about else made
        saved_inputs.save_context_set(workspace.database, name, contexts)
        saved_inputs.save_page_input(workspace.database, _NOTE_PREFIX + name, {"made": note})
        earlier = None if made else load_recipe(workspace, name)
        if earlier is not None:
            recipe = _changed_by_hand(earlier, len(contexts))
        saved_inputs.save_recipe(workspace.database, name, recipe)


def load_recipe(workspace: Workspace, name: str) -> Recipe | None:
    """How a set was chosen from a corpus; None where it was made in another way."""
    return saved_inputs.recipes(workspace.database).get(name)


def recipes_of(workspace: Workspace, contexts: Sequence[Context]) -> tuple[StudyRecipe, ...]:
    """The recipes of the sets from which contexts of a design come.

    A context that is in several sets counts for the one that holds most of the contexts, and of
    equal ones for the smallest.
    """
    recipes = saved_inputs.recipes(workspace.database) if contexts else {}
    matches: list[tuple[int, int, str, set[str]]] = []
    for name in recipes:
        by_code = {context.code: context for context in load(workspace, name)}
        codes = {context.code for context in contexts if by_code.get(context.code) == context}
        matches.append((-len(codes), len(by_code), name, codes))
    entries = []
    remaining = {context.code for context in contexts}
    for _, _, name, codes in sorted(matches, key=lambda match: match[:3]):
        if own := codes & remaining:
            entries.append(StudyRecipe(name, len(own), recipes[name]))
            remaining -= own
    return tuple(entries)


def derived_recipe(recipe: Recipe | None, words: str, count: int) -> Recipe | None:
    """The recipe of a set that was made from one with a recipe."""
    if recipe is None:
        return None
    return replace(recipe, steps=(*recipe.steps, Step(words, count)))


def _changed_by_hand(recipe: Recipe, count: int) -> Recipe:
    steps = recipe.steps[:-1] if recipe.steps[-1].name == _BY_HAND else recipe.steps
    return replace(recipe, steps=(*steps, Step(_BY_HAND, count)))


def derive(contexts: Sequence[Context], derivation: Derivation) -> tuple[Context, ...]:
    """What is left of a set after filtering, cropping and drawing, in its order."""
    derived = tuple(contexts)
    if derivation.language is not None:
        derived = filter_by_language(derived, derivation.language)
    if derivation.exchanges is not None:
        derived = crop_conversations(derived, derivation.exchanges)
    if derivation.count is not None:
        derived = sample_contexts(derived, derivation.count, derivation.seed)
    return derived


def derivation_words(derivation: Derivation) -> str:
    """How a set was made from another."""
    parts = []
    if derivation.language is not None:
        parts.append(derivation.language or "language not stated")
    if derivation.exchanges is not None:
        many = derivation.exchanges > 1
        parts.append(f"first {derivation.exchanges} exchanges" if many else "first exchange")
    if derivation.count is not None:
        parts.append(f"{derivation.count} drawn with seed {derivation.seed}")
    return ", ".join(parts)


def _check_codes(contexts: tuple[Context, ...]) -> None:
    if not contexts:
        raise DesignError(
            "The set would be empty.", "Keep at least one context in it; nothing was changed."
        )
    seen: set[str] = set()
    for context in contexts:
        if context.code in seen:
            raise DesignError(
                f"The code '{context.code}' stands twice.", "Give one of the two another code."
            )
        seen.add(context.code)


def _summary(workspace: Workspace, name: str, contexts: tuple[Context, ...]) -> SetSummary:
    lengths = [len(context.messages) for context in contexts if context.messages]
    kinds = (
        *(("personas",) if len(lengths) < len(contexts) else ()),
        *(("conversations",) if lengths else ()),
    )
    about = saved_inputs.page_input(workspace.database, _NOTE_PREFIX + name)
    return SetSummary(
        name=name,
        kind=" and ".join(kinds),
        n_contexts=len(contexts),
        n_variants=sum(bool(context.variant_of) for context in contexts),
        languages=tuple(sorted({name for c in contexts for name in c.languages()})),
        lengths=(min(lengths), max(lengths)) if lengths else None,
        made=(about[0] or {}).get("made", "") if about else "",
        saved_at=about[1] if about else None,
    )

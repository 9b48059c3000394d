"""What the columns of a file of answers are: roles, missing values, the bank, and its keys."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.errors import FileError
from core.workflow.answers import mappings
from core.workflow.answers.mappings import (
    AnswerMapping,
    HeaderRows,
    KeyProposal,
    Layout,
    NewBank,
    OpenedFile,
    Sheet,
)
from pages.shared import grids
from pages.shared.widgets import download, plain, table, workspace

_ROLE_WORDS = {
    "context": "person or context",
    "group": "group of people",
    "template": "condition (template)",
}
_MISSING = ", ".join(mappings.MISSING_STATUSES)
_NEW = "A new bank, made from the file"
_COLUMN, _ROLE, _CODE, _REVERSED, _SUBSCALE = "Column", "Role", "Item code", "Reversed", "Subscale"
_ONE_SCALE = "scale"


@dataclass(frozen=True)
class FileKeys:
    """What keys of widgets begin with: the number of the import and the file that was chosen.

    `known` changes with the banks of the database; a guess is kept until then.
    """

    epoch: int
    file: str
    known: object

    def key(self, name: str, *parts: object) -> str:
        """The key of a widget, another one for other parts."""
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12] if parts else ""
        return f"data_{name}:{self.epoch}:{self.file}:{digest}"


def header_of_user(sheet: Sheet, keys: FileKeys, *, needed: bool) -> HeaderRows | None:
    """The rows in which the user says that the header stands; None where those found are right.

    `needed`: the file cannot be read with those that were found.
    """
    found = sheet.header
    with st.expander("The sheet as it is", expanded=needed or found != HeaderRows()):
        table(pd.DataFrame(sheet.cells()), alt="The first rows of the sheet, as they stand there")
        left, right = st.columns(2)
        names = left.number_input(
            "Row with the names of the columns (0: none)",
            0,
            None,
            found.names,
            key=keys.key("names_row"),
            help="Rows above it, such as titles, are left out.",
        )
        texts = right.number_input(
            "Row with the texts of the questions (0: none)",
            0,
            None,
            found.texts,
            key=keys.key("texts_row"),
            help="Survey programs often write the questions below the names. They become the texts "
            "of the items. The answers begin below both rows.",
        )
    chosen = HeaderRows(int(names), int(texts))
    return None if chosen == found else chosen


def saved_mapping_of_user(keys: FileKeys) -> AnswerMapping | None:
    """A mapping that the user saved from a file of the same kind."""
    with st.expander("Use a saved mapping"):
        saved = st.file_uploader(
            "Saved mapping",
            ["yaml", "yml"],
            key=keys.key("saved"),
            help="A mapping that was saved from a file of the same kind, such as an earlier wave.",
            max_upload_size=50,
        )
    return mappings.read_mapping(saved.name, saved.getvalue()) if saved is not None else None


def mapping_of_user(file: OpenedFile, keys: FileKeys, saved: AnswerMapping | None) -> AnswerMapping:
    """The mapping of a file: guessed or saved, with what the user changes."""
    base = saved or _guessed_mapping(file, keys)
    if saved is not None:
        mappings.check(file, saved)
    doubts = st.empty()
    mapping = _with_values(_with_roles(file, base, keys), keys, base)
    with st.expander("First rows of the file"):
        table(file.first_rows, alt="The first rows of the file below its header")
    mapping = _with_same_people(file, mapping, base, keys)
    known = (keys.known, keys.file, mappings.write_mapping(mapping))
    if sentences := _doubts(known, file, mapping):
        doubts.warning("\n".join(f"- {plain(one)}" for one in sentences), icon=":material/search:")
    st.markdown("### 3. Bank")
    return _with_bank(file, mapping, base, keys)


def save_mapping(name: str, mapping: AnswerMapping) -> str:
    """A download of the mapping; returns the name of the file."""
    file_name = f"{name.split('.')[0]}-mapping.yaml"
    download(
        "Save the mapping", mappings.write_mapping(mapping).encode(), file_name, key="data_mapping"
    )
    return file_name


def _guessed_mapping(file: OpenedFile, keys: FileKeys) -> AnswerMapping:
    """The guess for the layout that the user chooses."""
    layouts: list[Layout] = list(mappings.LAYOUTS)
    guess = _guess((keys.known, keys.file), file, None)
    layout: Layout = st.radio(
        "Rows of the file",
        layouts,
        index=layouts.index(guess.layout),
        key=keys.key("layout"),
        format_func=lambda name: mappings.LAYOUTS[name],
    )
    if layout != guess.layout:
        guess = _guess((keys.known, keys.file), file, layout)
    if layout != "items":
        return guess
    choices = list(mappings.COLUMNS_ARE)
    columns_are = st.selectbox(
        "Each column of answers is one of",
        choices,
        index=choices.index(guess.columns_are),
        key=keys.key("columns_are"),
        format_func=lambda name: mappings.COLUMNS_ARE[name],
    )
    return replace(guess, columns_are=columns_are)


@st.cache_resource(max_entries=4, show_spinner="Reading the file ...")
def _guess(known: object, _file: OpenedFile, layout: Layout | None) -> AnswerMapping:
    return mappings.guessed(workspace(), _file, layout)


def _with_roles(file: OpenedFile, base: AnswerMapping, keys: FileKeys) -> AnswerMapping:
    """The mapping with a role for every column, as edited in a table."""
    roles = [_ROLE_WORDS.get(role, role) for role in mappings.ROLES[base.layout]]
    summary = file.summary
    frame = pd.DataFrame({_COLUMN: summary["column"]})
    frame[_ROLE] = [_ROLE_WORDS.get(base.columns[one], base.columns[one]) for one in frame[_COLUMN]]
    shown = {
        "label": "Label",
        "values": "Values",
        "missing": "Missing in the file",
        "empty": "Empty cells",
    }
    for column, title in shown.items():
        if column == "values" or summary[column].astype(bool).any():
            frame[title] = summary[column]
    if file.tool:
        st.caption(f"This is a file of {plain(file.tool)}, as its columns tell.")
    st.write(
        "Inkblot guesses what each column is. Change the role where the guess is wrong. A **group "
        "of people** is a fact about the person, such as the age; a **tag** is kept beside the "
        "answers; **ignore** leaves the column out."
    )
    edited = st.data_editor(
        frame,
        key=keys.key("roles", base),
        hide_index=True,
        disabled=[column for column in frame.columns if column != _ROLE],
        height=37 + 35 * min(len(frame), 12),
        column_config={
            _ROLE: st.column_config.SelectboxColumn(
                _ROLE, options=roles, required=True, width="medium"
            ),
            "Values": st.column_config.TextColumn(width="large"),
        },
        alt=f"Roles of {len(frame)} columns",
    )
    grids.fetch_editors()
    codes = {word: role for role, word in _ROLE_WORDS.items()}
    chosen = {
        str(column): codes.get(str(role), str(role))
        for column, role in zip(edited[_COLUMN], edited[_ROLE], strict=True)
    }
    counts = Counter(chosen.values())
    words = ", ".join(f"{_ROLE_WORDS.get(role, role)} {count}" for role, count in counts.items())
    st.caption(f"Columns of each role: {plain(words)}.")
    return replace(base, columns=chosen)


def _with_same_people(
    file: OpenedFile, mapping: AnswerMapping, base: AnswerMapping, keys: FileKeys
) -> AnswerMapping:
    """The mapping with what to do with people who stand in several rows, who are shown."""
    known = (keys.known, keys.file, mappings.write_mapping(mapping))
    rows = _rows_of_same_people(known, file, mapping)
    if rows.empty:
        return mapping
    st.write("These people stand in several rows under the same conditions:")
    table(rows, alt=f"Rows of people who stand several times: {len(rows)}")
    choices = list(mappings.SAME_PERSON)
    chosen = st.radio(
        "What to do with them",
        choices,
        key=keys.key("same_person", base),
        index=choices.index(mapping.same_person),
        format_func=lambda name: mappings.SAME_PERSON[name],
        help="If a column tells their rows apart, such as a wave or a template, give it a role "
        "above instead.",
    )
    return replace(mapping, same_person=chosen)


def _with_values(mapping: AnswerMapping, keys: FileKeys, base: AnswerMapping) -> AnswerMapping:
    """The mapping with missing values, labels of answers, model and language as typed in."""
    left, right = st.columns(2)
    missing = left.text_input(
        "Further values that mean missing",
        key=keys.key("missing", base),
        value=", ".join(f"{value} = {status}" for value, status in mapping.missing.items()),
        placeholder="-9 = no_answer, -8 = refused",
        help="Values that an SPSS file declares as missing are missing anyway. After the sign = "
        f"stands why: {_MISSING}.",
    )
    options = right.text_area(
        "Answers and their labels",
        key=keys.key("options", base),
        height=68,
        value="\n".join(f"{code} = {label}" for code, label in mapping.options.items()),
        placeholder="1 = Strongly disagree\n5 = Strongly agree",
        help="Needed where the file has no value labels and nobody gave the lowest or highest "
        "answer, or where the cells hold words.",
    )
    constants = dict(mapping.constants)
    for place, role, help_text in (
        (left, "model", "Who answered, beside the models in analyses."),
        (right, "language", "Code of the language of the items, such as en."),
    ):
        constants.pop(role, None)
        if not mapping.with_role(role):
            typed = place.text_input(
                role.capitalize(),
                base.constants.get(role, ""),
                key=keys.key(role, base),
                help=help_text,
                placeholder="en" if role == "language" else "",
            ).strip()
            constants |= {role: typed} if typed else {}
    return replace(
        mapping,
        missing={value: status or "no_answer" for value, status in _pairs(missing.split(","))},
        options=dict(_pairs(options.splitlines())),
        constants=constants,
    )


def _pairs(parts: Sequence[str]) -> list[tuple[str, str]]:
    """Texts such as "1 = No" as pairs."""
    split = [part.partition("=") for part in parts if part.strip()]
    return [(before.strip(), after.strip()) for before, _, after in split]


def _with_bank(
    file: OpenedFile, mapping: AnswerMapping, base: AnswerMapping, keys: FileKeys
) -> AnswerMapping:
    """The mapping with a bank on file, or with a new one whose keys are typed in."""
    mapping = replace(mapping, items={}, bank="", new_bank=None)
    mappings.check(file, mapping)
    typed: dict[str, dict[str, Any]] = st.session_state.setdefault(keys.key("typed", base), {})
    known = {name: str(one[_CODE]) for name, one in typed.items() if one.get(_CODE)}
    known = {name: code for name, code in (dict(base.items) | known).items() if name != code}
    names = mappings.items_of(file, mapping)
    mapping = replace(mapping, items={name: code for name, code in known.items() if name in names})
    known_here = (keys.known, keys.file, mappings.write_mapping(mapping))
    banks = _bank_titles(known_here, file, mapping, base.bank)
    choice = st.selectbox(
        "Bank of the items",
        [_NEW, *banks],
        key=keys.key("bank", base, *banks.values()),
        index=1 + list(banks.values()).index(base.bank) if base.bank in banks.values() else 0,
        help="The bank says which items are reverse-keyed, and which subscale they belong to.",
    )
    if choice != _NEW:
        with st.expander("Codes of the items in the bank"):
            items = _edit_items(names, typed, base, keys, new=False)
        return replace(mapping, items=_renamed(items), bank=banks[choice])
    before = base.new_bank or NewBank()
    title = st.text_input("Title of the new bank", before.title, key=keys.key("title", base))
    st.write(
        "Tick the items that are reverse-keyed. Their points are mirrored in the range of the "
        "answers; the answers stay as they are."
    )
    _offer_keys(file, mapping, keys, typed, base)
    items = _edit_items(names, typed, base, keys, new=True)
    codes = {name: str(one[_CODE] or name).strip() for name, one in items.items()}
    subscales: dict[str, tuple[str, ...]] = {}
    for name, one in items.items():
        if scale := str(one[_SUBSCALE] or "").strip():
            subscales[scale] = (*subscales.get(scale, ()), codes[name])
    without_keys = not subscales and not any(one[_REVERSED] for one in items.values())
    if without_keys and st.checkbox(
        "All items are one scale, and none is reversed",
        key=keys.key("one_scale", base),
        help="Without this, a subscale or a reversed item, nothing says how the items are keyed, "
        "and pages warn of a study without a bank.",
    ):
        subscales = {_ONE_SCALE: tuple(codes.values())}
    new_bank = NewBank(
        title.strip(),
        tuple(codes[name] for name, one in items.items() if one[_REVERSED]),
        subscales,
    )
    return replace(mapping, items=_renamed(items), new_bank=new_bank)


def _offer_keys(
    file: OpenedFile,
    mapping: AnswerMapping,
    keys: FileKeys,
    typed: dict[str, dict[str, Any]],
    base: AnswerMapping,
) -> None:
    """Reversed items and subscales that answers and codes suggest, to take with one click."""
    proposal = _proposal((keys.known, keys.file, mappings.write_mapping(mapping)), file, mapping)
    if not proposal.sentences:
        return
    st.info("\n".join(f"- {plain(one)}" for one in proposal.sentences), icon=":material/lightbulb:")
    if not st.button("Take what is proposed", key=keys.key("take_keys", base)):
        return
    scales = {code: name for name, codes in proposal.subscales.items() for code in codes}
    for name in mappings.items_of(file, mapping):
        code = mapping.items.get(name, name)
        own = typed.setdefault(name, {})
        own[_REVERSED] = code in proposal.reversed
        own[_SUBSCALE] = own.get(_SUBSCALE) or scales.get(code, "")
    turn = keys.key("turn", base)  # the grid keeps its first rows, so it is drawn anew
    st.session_state[turn] = st.session_state.get(turn, 0) + 1


@st.cache_data(max_entries=4, show_spinner=False)
def _rows_of_same_people(known: object, _file: OpenedFile, _mapping: AnswerMapping) -> pd.DataFrame:
    return mappings.rows_of_same_people(_file, _mapping)


@st.cache_data(max_entries=4, show_spinner=False)
def _doubts(known: object, _file: OpenedFile, _mapping: AnswerMapping) -> tuple[str, ...]:
    return mappings.doubts_about(_file, _mapping)


@st.cache_data(max_entries=4, show_spinner="Looking for reversed items ...")
def _proposal(known: object, _file: OpenedFile, _mapping: AnswerMapping) -> KeyProposal:
    return mappings.proposed_keys(_file, _mapping)


def _renamed(items: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    codes = {name: str(one[_CODE] or name).strip() for name, one in items.items()}
    return {name: code for name, code in codes.items() if name != code}


@st.cache_data(max_entries=4, show_spinner="Looking for banks that hold the items ...")
def _bank_titles(
    known: object, _file: OpenedFile, _mapping: AnswerMapping, named: str
) -> dict[str, str]:
    """Codes of the banks that hold items of the file, by their titles with the match."""
    try:
        matches = mappings.banks_of(workspace(), _file, _mapping)
    except FileError:  # a fault of the cells, which the preview names
        matches = []
    titles = {f"{m.bank.title} ({m.bank.code}): {m.words}": m.bank.code for m in matches}
    return titles if not named or named in titles.values() else {**titles, named: named}


def _edit_items(
    names: Mapping[str, str],
    typed: dict[str, dict[str, Any]],
    base: AnswerMapping,
    keys: FileKeys,
    *,
    new: bool,
) -> dict[str, dict[str, Any]]:
    """Code, keying and subscale of each item, by its name in the file."""
    turn = st.session_state.get(keys.key("turn", base), 0)
    key = keys.key("items", base, tuple(names), new, turn)
    source = f"{key}:frame"
    if source not in st.session_state:
        # The editor must not get its own output, so it keeps the first setting until a redraw.
        st.session_state[source] = _items_frame(names, typed, base, new=new)
    frame = st.session_state[source]
    edited = st.data_editor(
        frame,
        key=key,
        hide_index=True,
        disabled=[_COLUMN, "Label"],
        height=37 + 35 * min(len(frame), 12),
        column_config={
            _COLUMN: st.column_config.TextColumn("In the file"),
            _REVERSED: st.column_config.CheckboxColumn(_REVERSED),
            _SUBSCALE: st.column_config.TextColumn(_SUBSCALE, help="Empty: no subscale."),
        },
        alt=f"Codes of {len(frame)} items" + (", with keying and subscale" if new else ""),
    )
    rows = edited.set_index(_COLUMN).to_dict("index")
    items = {str(name): {str(k): v for k, v in row.items()} for name, row in rows.items()}
    for name, row in items.items():
        typed[name] = {**typed.get(name, {}), **row}
    return items


def _items_frame(
    names: Mapping[str, str],
    typed: Mapping[str, Mapping[str, Any]],
    base: AnswerMapping,
    *,
    new: bool,
) -> pd.DataFrame:
    """A row for each item, as typed before or as the mapping has it."""
    made = base.new_bank or NewBank()
    scales = {code: scale for scale, codes in made.subscales.items() for code in codes}
    rows = []
    for name, label in names.items():
        code = base.items.get(name, name)
        row = {_CODE: code, _REVERSED: code in made.reversed, _SUBSCALE: scales.get(code, "")}
        rows.append({_COLUMN: name, "Label": label, **row, **typed.get(name, {})})
    columns = [_COLUMN, "Label", _CODE] + ([_REVERSED, _SUBSCALE] if new else [])
    frame = pd.DataFrame(rows, columns=columns)
    return frame if frame["Label"].astype(bool).any() else frame.drop(columns="Label")

"""Import and export: import answers from a file, and export studies as files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.study import Status
from core.errors import FileError
from core.workflow import people
from core.workflow.answers import bank_attachment as answers_and_banks
from core.workflow.answers import imports, mappings
from core.workflow.answers.imports import ImportedStudy, ScoreMeaning, TidyPreview
from core.workflow.answers.mappings import AnswerMapping, HeaderRows, OpenedFile, Sheet
from core.workflow.background import Computation
from core.workflow.banks import editing
from core.workflow.designs import studies
from pages.import_export import backups, packages
from pages.import_export.mapping import (
    FileKeys,
    header_of_user,
    mapping_of_user,
    save_mapping,
    saved_mapping_of_user,
)
from pages.import_export.packages import TakenIn
from pages.import_export.people import people_section
from pages.shared import analysis_page, bank_attachment, downloads, study_bar, widgets
from pages.shared.downloads import command
from pages.shared.widgets import STUDY_PARAMETER, download, plain, table, workspace

# The columns of the tidy file, and an example.

_WHY_NOT = ", ".join(status.value for status in Status if not status.usable)

COLUMNS: tuple[tuple[str, str, str, str], ...] = (
    ("item", "yes", "Code of the item.", "q1"),
    (
        "answer",
        "yes",
        "Code of the chosen option: a number, a letter or a word of the answer format. Empty if "
        "the status says why there is none.",
        "4",
    ),
    (
        "status",
        "",
        f"Why there is no answer: {_WHY_NOT}. Empty or answered if there is one.",
        "refused",
    ),
    (
        "study",
        "",
        "Name of the study. Without it, the name you type, or the name of the file.",
        "pilot_1",
    ),
    (
        "instrument",
        "",
        "Code of the bank. Without it, a bank that holds the items, or a new one.",
        "attitudes_20",
    ),
    ("model", "", "The respondent.", "gpt-4o"),
    ("language", "", "Language of the item.", "en"),
    (
        "context",
        "",
        "The person who answered, the persona, or the text before the item. Without "
        "it, Inkblot uses a column person, participant, subject, respondent_id or id.",
        "p07",
    ),
    ("entity, entity_b", "", "The entity that the item asks about.", "Brand A"),
    ("form", "", "Wording of the item: original, paraphrase_1, negation ...", "original"),
    (
        "format",
        "",
        "Answer format: yes_no, a_b, likert_4 to likert_7, agree_disagree, "
        "support_oppose or the bank's own.",
        "likert_5",
    ),
    (
        "template, label_order, phase",
        "",
        "Prompt template, order of options, phase.",
        "as_is",
    ),
    (
        "items_per_call, history",
        "",
        "Items that one call asks, and whether the model sees its own earlier answers (none, own).",
        "10",
    ),
    (
        "temperature, top_p, max_tokens",
        "",
        "Settings of the calls, where they were varied; columns of other content stay tags.",
        "0.7",
    ),
    ("repetition", "", "Number of the repetition, from 1.", "2"),
    ("call, position", "", "The call that asked the item, and the item's place in it.", "17"),
    ("raw", "", "The verbatim reply.", "I would say 4."),
    ("score", "", "Score after reversal by the bank. If the scores differ, Inkblot asks you.", "4"),
    (
        "latency_s, tokens_in, tokens_out, cost, time",
        "",
        "Seconds, tokens, US dollars, and when (2025-03-31T14:05:00Z).",
        "0.8",
    ),
)

EXAMPLE = """\
item,answer,status,model,language,context,format,repetition,raw
q1,4,,Model A,en,p01,likert_5,1,4
q2,2,,Model A,en,p01,likert_5,1,"2, because I seldom do that."
q3,,refused,Model A,en,p01,likert_5,1,"As a language model, I have no opinion."
q1,5,,Model A,en,p02,likert_5,1,5
q2,1,,Model A,en,p02,likert_5,1,1
q3,3,,Model A,en,p02,likert_5,1,3
q1,3,,Model B,en,p01,likert_5,1,3
q2,3,,Model B,en,p01,likert_5,1,3
q3,4,,Model B,en,p01,likert_5,1,4
q1,2,,Model B,en,p02,likert_5,1,2
q2,4,,Model B,en,p02,likert_5,1,4
q3,,off_scale,Model B,en,p02,likert_5,1,7
"""


# Importing answers: the format of the file, a preview, and the import.

# Session key that counts imports, so that the next one starts with an empty form.
_EPOCH = "data_import_epoch"
# Session key of the studies of the last import.
_DONE = "data_import_done"
# Session key that says whether the message of the last import was scrolled to.
_SHOWN = "data_import_shown"
_FITTING = "The bank that the file names or that holds the items"
_MADE = "A new bank, made from the file, without keys"
# Session key of the file whose import was begun here.
_BEGUN = "data_import_begun"
# Session key of what the last undone import has deleted.
_UNDONE = "data_import_undone"
_MOST_MB = 500  # of an upload, which stays in memory
_MOST_SENTENCES = 5  # studies whose bank is described in a sentence; all are in the table
_ENDINGS = [*(ending.removeprefix(".") for ending in mappings.ANSWER_FILE_ENDINGS), "gz", "zip"]


def _format_help() -> None:
    """The columns of a file in a table, and an example to download."""
    with st.expander("What the file looks like"):
        st.write(
            "A file of SPSS, Excel or a survey program may have a row for each person or for each "
            "answer, and columns of any name: Inkblot guesses what they are, and you correct it. "
            "Exports of Qualtrics, LimeSurvey and REDCap, results of EDSL and QSTN, Inspect logs "
            "(.json) and outputs of OpenAI batches (.jsonl) are recognised. "
            "CSV is in UTF-8 (also compressed as .csv.gz). If the columns have the names below, "
            "the file is read as it is. Then only **item** and **answer** are needed; leave out "
            "columns that do not vary."
        )
        table(
            pd.DataFrame(COLUMNS, columns=["Column", "Needed", "What it holds", "For example"]),
            alt=f"Columns of a file with answers: {len(COLUMNS)}",
            row_height=62,  # room for two lines
            column_config={
                "What it holds": st.column_config.TextColumn(width="large"),
                "For example": st.column_config.TextColumn(width="medium"),
            },
        )
        st.caption(
            "Columns with other names become tags. A row that Inkblot cannot read stops the "
            "import, and nothing is saved."
        )
        download("Example file", EXAMPLE.encode(), "example_answers.csv", key="data_example")
        command("import", "answers.csv", "--study", "my_study")


def import_section() -> None:
    """Choose a file, say what its columns are, preview it, import it."""
    _show_done()
    _unfinished_section()
    _format_help()
    epoch = st.session_state.setdefault(_EPOCH, 0)
    st.markdown("### 1. File")
    uploaded = st.file_uploader(
        "File with answers",
        _ENDINGS,
        key=f"data_file:{epoch}",
        help="CSV, Excel (.xlsx), SPSS (.sav), Parquet, an Inspect log (.json), the output of an "
        "OpenAI batch (.jsonl) or a study package (.zip), up to 50 MB; CSV (also .csv.gz) and "
        f"Parquet up to {_MOST_MB} MB, and of any size by the command below.",
        max_upload_size=_MOST_MB,
    )
    if uploaded is None:
        st.caption("Choose a file. You see its content before anything is saved.")
        return
    name, data = uploaded.name, uploaded.getvalue()
    if packages.is_package(name):
        packages.import_section(name, data, uploaded.file_id, _take_imported)
        return
    saved = tuple((bank.code, bank.saved_at) for bank in _banks())
    known = (workspace().process, len(studies.list_studies(workspace())), saved)
    keys = FileKeys(epoch, uploaded.file_id, known)
    st.markdown("### 2. Columns")
    saved_mapping = saved_mapping_of_user(keys)
    file, header = _opened(uploaded.file_id, name, data, saved_mapping, keys)
    if header is not None:
        keys = replace(keys, file=f"{keys.file}:{header.names}:{header.texts}")
    mapping = None
    if not file.is_tidy or header is not None or saved_mapping or _asks_for_roles(epoch):
        mapping = mapping_of_user(file, keys, saved_mapping)
        mapping = replace(mapping, header=header or mapping.header)
    study, bank, scores = _choices(epoch, mapping)
    add = _adds(epoch)
    choices: dict[str, Any] = {
        "study": study,
        "bank": bank,
        "scores": scores,
        "mapping": mapping,
        "add": add,
    }
    key = (known, uploaded.file_id, mappings.write_mapping(mapping) if mapping else "")
    preview = _preview_of(file, key, name, data, choices)
    if preview is None:
        return
    _show_preview(preview)
    if st.button("Import these answers", type="primary", key="data_keep", icon=":material/save:"):
        if file.is_large:
            imports.begin_import(workspace(), file.sha256, name, data, **choices)
            st.session_state[_BEGUN] = file.sha256
            st.toast("The import has begun. The top of this page shows how far it is.")
            st.session_state[_EPOCH] += 1
            st.rerun()
        with st.spinner("Importing the answers ..."):
            imported = imports.import_tidy(workspace(), name, data, **choices)
        _take_imported(_shown(imported))
    words = ["--mapping", save_mapping(name, mapping)] if mapping else []
    words += ["--add"] if add else []
    words += ["--study", study] if study else []
    words += ["--new-bank"] if bank == imports.NEW_BANK else ["--bank", bank] if bank else []
    command("import", name, *words, *(("--scores", scores) if scores != "bank" else ()))


def _shown(imported: Sequence[ImportedStudy]) -> list[TakenIn]:
    return [TakenIn(one.study, one.n_total, one.n_new, one.instrument) for one in imported]


def _adds(epoch: int) -> bool:
    return st.checkbox(
        "Add to the study, if it is there",
        key=f"data_add:{epoch}",
        help="The answers come to an imported study of that name, with its bank. Equal answers "
        "that are on file stay as they are; if one differs, nothing is imported.",
    )


def _preview_of(
    file: OpenedFile, key: object, name: str, data: bytes, choices: Mapping[str, Any]
) -> TidyPreview | None:
    """The preview, or None while that of a large file is being made."""
    others = {**choices, "mapping": ""}  # the key says what the mapping is
    if not file.is_large:
        return _preview(key, repr(others), name, data, choices)
    whole = hashlib.sha256(repr((key, others)).encode()).hexdigest()
    computation = imports.begin_preview(workspace(), whole, name, data, **choices)
    computation.wait(analysis_page.WAIT_S)
    if computation.ended and computation.state != "cancelled":
        return computation.value()
    if computation.ended:
        st.info("The check of the file is canceled.", icon=":material/cancel:")
    else:
        st.caption("This is a large file. Inkblot checks every row before anything is saved.")
        analysis_page.watch(computation)
    return None


def _begun_import() -> Computation[Any] | None:
    """The import that was begun here, while it is under way; says once how it has ended."""
    begun = st.session_state.get(_BEGUN)
    computation = imports.known_import(workspace(), begun) if begun else None
    if computation is None or not computation.ended:
        return computation
    del st.session_state[_BEGUN]
    if computation.state == "done":
        st.toast("The import is finished. The top of this page says what was imported.")
        _take_imported(_shown(computation.value()))
    if computation.state == "failed":
        with widgets.error_box():
            computation.value()
    if computation.state == "cancelled":
        st.info("The import is canceled.", icon=":material/cancel:")
    return None


def _unfinished_section() -> None:
    """Imports under way, with their progress, and those that did not come to their end."""
    begun, computation = st.session_state.get(_BEGUN), _begun_import()
    undone = widgets.last_note(_UNDONE)
    if undone is not None:
        st.success(undone)
    shown = set()
    if computation is not None:
        shown.add(begun)
        _show_progress(computation)
    for left in imports.unfinished_imports(workspace()):
        running = imports.known_import(workspace(), left.sha256)
        if running is not None and not running.ended:
            if left.sha256 not in shown:
                shown.add(left.sha256)
                _show_progress(running)
            continue
        st.warning(
            f"The import of **{plain(left.file)}** into the study {plain(left.study)} is not "
            f"finished: {left.n_saved:,} of {left.n_rows:,} rows are saved. To continue, choose "
            "the same file again with the same name of the study.",
            icon=":material/pause_circle:",
        )
        n_kept = f" The {left.n_before:,} answers before it stay." if left.n_before else ""
        if st.button(
            f"Undo: delete these {left.n_new:,} answers",
            key=f"data_undo:{left.study}",
            icon=":material/delete:",
            help=f"Deletes what this import has saved.{n_kept}",
        ):
            with widgets.error_box():
                n_deleted = imports.undo(workspace(), left.study)
                st.session_state[_UNDONE] = (
                    f"The import into the study {plain(left.study)} is undone: {n_deleted:,} "
                    "answers are deleted."
                )
                st.rerun()


def _show_progress(computation: Computation[Any]) -> None:
    st.markdown(f"**{plain(computation.name).capitalize()}**")
    analysis_page.watch(computation, _progress_words)


def _progress_words(computation: Computation[Any]) -> str:
    if computation.stopping:
        return "Canceling: the part under way is saved first ..."
    if not computation.total:
        return "Reading the file ..."
    return (
        f"{computation.done:,} of {computation.total:,} {computation.unit}. What is saved stays "
        "if you cancel, and the same file continues it."
    )


def _take_imported(studies_made: list[TakenIn]) -> None:
    """Show what was imported, and an empty form for the next file."""
    st.session_state[_DONE] = studies_made
    st.session_state[_SHOWN] = False
    widgets.show_study(studies_made[-1].study)
    st.session_state[_EPOCH] += 1
    st.rerun()


def _asks_for_roles(epoch: int) -> bool:
    """Whether the user wants to say what the columns are, although their names say it."""
    return st.toggle(
        "Change what the columns are",
        key=f"data_roles:{epoch}",
        help="The file has columns called item and answer, so Inkblot reads it as it is.",
    )


def _choices(epoch: int, mapping: AnswerMapping | None) -> tuple[str, str | None, ScoreMeaning]:
    """The name of the study, the bank if no mapping says it, and what the scores mean."""
    if mapping is not None:
        st.markdown("### 4. Preview")
    study = st.text_input(
        "Name of the study",
        key=f"data_study:{epoch}",
        placeholder="as in the file, or its name",
        help="The name of the study in Inkblot. A file with several studies keeps their names.",
    ).strip()
    left, right = st.columns(2)
    bank: str | None = None
    if mapping is None:
        on_file = {f"{b.title} ({b.code})": b.code for b in _banks()}
        choice = left.selectbox(
            "Bank of the items",
            [_FITTING, _MADE, *on_file],
            key=f"data_bank:{epoch}",
            help="The bank says which items are reverse-keyed, and which subscale they belong to.",
        )
        bank = None if choice == _FITTING else on_file.get(choice, imports.NEW_BANK)
    if mapping is not None and not mapping.with_role("score"):
        return study, bank, "bank"
    scores: ScoreMeaning = right.selectbox(
        "Scores in the file",
        list(imports.SCORE_MEANINGS),
        key=f"data_scores:{epoch}",
        format_func=lambda name: imports.SCORE_MEANINGS[name].capitalize(),
        help="This choice matters only for a file with a column score.",
    )
    return study, bank, scores


def _banks() -> list[editing.BankSummary]:
    """The banks to choose from."""
    return [b for b in editing.summaries(workspace()) if not b.archived and b.n_items]


def _opened(
    file_id: str, name: str, data: bytes, saved: AnswerMapping | None, keys: FileKeys
) -> tuple[OpenedFile, HeaderRows | None]:
    """The file, by the header that the mapping or the user names, if one does."""
    known = (workspace().process, file_id)
    if saved is not None:
        return _open((*known, saved.header), name, data, saved.header), saved.header
    file = None
    with suppress(FileError):  # raised again below, unless the user chooses another header
        file = _open(known, name, data)
    sheet = None if file is not None and file.is_large else _sheet(known, name, data)
    header = header_of_user(sheet, keys, needed=file is None) if sheet else None
    if header is not None:
        return _open((*known, header), name, data, header), header
    return file or _open(known, name, data), None


@st.cache_resource(max_entries=2, show_spinner=False)
def _sheet(known: object, name: str, _data: bytes) -> Sheet | None:
    return mappings.sheet_of(name, _data)


@st.cache_resource(max_entries=2, show_spinner="Reading the file ...")
def _open(known: object, name: str, _data: bytes, header: HeaderRows | None = None) -> OpenedFile:
    return mappings.open_file(name, _data, header)


@st.cache_data(max_entries=2, show_spinner="Reading the file ...")
def _preview(
    known: object, others: str, name: str, _data: bytes, _choices: Mapping[str, Any]
) -> TidyPreview:
    return imports.preview_tidy(workspace(), name, _data, **_choices)


def _show_preview(preview: TidyPreview) -> None:
    for remark in preview.remarks:
        st.info(plain(remark))
    for one in preview.studies[:_MOST_SENTENCES]:
        if one.is_unkeyed:
            st.warning(f"**{plain(one.study)}**: {plain(one.about_bank)}")
        else:
            st.caption(
                f"Bank of {plain(one.study)}: {plain(one.instrument)}, {plain(one.about_bank)}"
            )
    st.markdown("**Studies in the file**")
    rows = [
        {
            "Study": one.study,
            "Answers": one.n_rows,
            "n": one.n_usable,
            "Missing": one.n_rows - one.n_usable,
            "Items": one.n_items,
            "Respondents": one.n_respondents,
            "Contexts": one.n_contexts,
            "Bank": one.instrument,
            "On file": one.n_before,
            "Bank is": "made from the file" if one.creates_instrument else "in the database",
            "About the bank": one.about_bank,
        }
        for one in preview.studies
    ]
    texts = {n: st.column_config.TextColumn(n) for n in ("Study", "Bank", "Bank is")}
    texts["About the bank"] = st.column_config.TextColumn(width="large")
    counts: dict[str, Any] = {
        "n": st.column_config.NumberColumn("n", help="Answers that hold an option."),
        "Missing": st.column_config.NumberColumn(help="Rows without an option."),
        "Respondents": st.column_config.NumberColumn(help="Distinct names in the column model."),
        "On file": st.column_config.NumberColumn(
            help="Answers of the study that are saved already. Equal ones stay as they are."
        ),
        "Contexts": st.column_config.NumberColumn(help="People, personas or conversations."),
    }
    table(
        pd.DataFrame(rows),
        alt=f"Studies in the file: {len(rows)}",
        column_config=texts | counts,
    )
    if preview.tags:
        shown = ", ".join(preview.tags[:20]) + (" ..." if len(preview.tags) > 20 else "")
        st.caption(f"Inkblot does not know these columns and saves them as tags: {plain(shown)}.")
    st.markdown(
        f"**The first {len(preview.rows)} of {preview.n_rows:,} rows as Inkblot reads them**"
    )
    table(
        preview.rows,
        alt=f"The first {len(preview.rows)} rows of the file",
        placeholder="",
        column_config={
            name: st.column_config.TextColumn(name)
            for name in preview.rows.columns
            if not pd.api.types.is_numeric_dtype(preview.rows[name])
        },
    )


def _show_done() -> None:
    """What was imported here; after a reload, the last large file."""
    done = st.session_state.get(_DONE)
    if done and not st.session_state.get(_SHOWN):
        widgets.to_the_top()
        st.session_state[_SHOWN] = True
    last = None if done else imports.last_finished_import(workspace())
    if last is not None:
        st.caption(
            f":material/check: The last import of a large file is finished: **{plain(last.file)}** "
            f"into the study {plain(last.study)}, {last.n_rows:,} rows, {last.n_new:,} of them new."
        )
    for study, n_total, n_new, instrument in done or ():
        more = "" if n_new == n_total else f", {n_new:,} of them new"
        unkeyed = answers_and_banks.is_unkeyed(workspace(), study)
        bank = "its items are those of the file" if unkeyed else f"bank {plain(instrument)}"
        st.success(
            f"Study {plain(study)} now holds {n_total:,} imported answers{more} ({bank}). "
            "All pages show this study now."
        )
        query = {STUDY_PARAMETER: study}
        with st.container(horizontal=True):
            st.page_link("pages/answers/page.py", label="Read the answers", query_params=query)
            st.page_link("pages/reliability.py", label="See reliability", query_params=query)
            st.page_link(
                "pages/item_statistics.py", label="See item statistics", query_params=query
            )
            if any(people.explored_by(workspace(), [study]).values()):
                st.page_link(
                    "pages/validity.py",
                    label="Compare groups of people",
                    query_params=query | {"analysis": "group_comparison"},
                )


def main() -> None:
    study_bar.page_header(
        "Import and export",
        "Import answers that were collected elsewhere, export the answers, bank, plan and design "
        "of a study as files, and back up all studies.",
    )
    st.header("Import answers")
    with widgets.error_box():
        import_section()
    with widgets.error_box():
        bank_attachment.attach_section()
    st.header("Export a study")
    with widgets.error_box():
        study = widgets.choose_study(("planned", "imported"))
        if study is None:
            st.caption("There is no study yet whose files could be exported.")
        else:
            widgets.unreviewed_note(study)
            downloads.export_section(study)
            packages.export_section(study)
            with widgets.error_box():
                people_section(study)
    st.header("Back up the database")
    with widgets.error_box():
        backups.section()


main()

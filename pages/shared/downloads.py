"""Downloads of a study, made on request, with the command that writes the same files."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import streamlit as st

from core.domain.numbers import usable_words
from core.workflow.answers import exports, wide
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs import control
from core.workflow.statistics import analyses
from pages.shared import widgets
from pages.shared.widgets import download, plain, workspace

FileFormat = Literal["csv", "parquet"]
_PYTHON = ".venv/bin/python -m core"
_WORDS: dict[FileFormat, str] = {"csv": "CSV", "parquet": "Parquet"}
_WIDE_WORDS: dict[wide.WideFormat, str] = {"csv": "CSV", "xlsx": "Excel", "sav": "SPSS"}
_VALUES: dict[wide.Values, str] = {
    "scores": "Scores, reversed items reversed",
    "answers": "Answers as given",
}
_Maker = Callable[[object], bytes]


def _made_on_request(study: str, key: str, words: str, suffix: str, make: _Maker) -> None:
    """A button that prepares a file of the answers, then the download of it."""
    revision = (workspace().process, analyses.revision(workspace(), [study]))
    flag = f"prepared:{study}:{key}"
    if st.session_state.get(flag) != revision:
        if flag in st.session_state:
            st.caption("The answers have changed since the file was prepared.")
        st.button(
            f"Prepare the file ({words})",
            key=f"prepare:{key}",
            icon=":material/inventory_2:",
            on_click=_prepare,
            args=(flag, revision),
            help="A file of a million answers takes some seconds.",
        )
        return
    data = b""
    with widgets.error_box():
        data = make(revision)
    if not data:
        return
    size = f"{len(data) / 1e6:,.1f} MB" if len(data) >= 100_000 else f"{len(data):,} bytes"
    download(
        f"Download {words} ({size})", data, f"{file_stem(study)}-{suffix}", key=f"download:{key}"
    )


def answers_file(study: str, file_format: FileFormat) -> None:
    """All answers of a study as a file, one answer per row."""
    words = _WORDS[file_format]
    st.caption(
        f"All answers in one tidy {words} file, one answer per row. You can import the file again "
        "without loss."
    )
    _made_on_request(
        study,
        file_format,
        words,
        f"answers.{file_format}",
        lambda revision: _answers(revision, study, file_format),
    )


def _wide_file(study: str) -> None:
    """The table with a row for each administration, as other programs of statistics want it."""
    st.markdown("**One row for each person or administration**")
    st.caption(
        "A column for each item, beside what was varied and what is known of people. For SPSS, "
        "jamovi, JASP, R and Excel."
    )
    values = st.segmented_control(
        "Numbers",
        get_args(wide.Values),
        default="scores",
        format_func=_VALUES.__getitem__,
        required=True,
        key=f"wide_values:{study}",
        help="Scores are points after reverse-keying. Answers are the points of what was chosen, "
        "before it; in SPSS files they have the labels of the options, and each reason for no "
        "answer is a missing value.",
    )
    chosen: wide.Values = values or "scores"
    for file_format, words in _WIDE_WORDS.items():
        _made_on_request(
            study,
            f"wide:{chosen}:{file_format}",
            f"{words}, {chosen}",
            f"{chosen}-wide.{file_format}",
            partial(_wide, study=study, values=chosen, file_format=file_format),
        )


def _study_files(study: StudyRecord) -> None:
    """Bank, plan, calls and design of a study."""
    stem = file_stem(study.code)
    files: list[tuple[str, str, Callable[[], bytes]]] = [
        ("Bank of the study", f"{stem}-bank.csv", lambda: bank(study.code)),
        (
            "Counts of usable answers and of all others",
            f"{stem}-counts.csv",
            lambda: counts(study.code),
        ),
    ]
    if study.kind == "planned":
        files += [
            ("Plan with its hash and time", f"{stem}-plan.csv", lambda: plan(study.code)),
            ("All calls", f"{stem}-calls.csv", lambda: calls(study.code)),
            (
                "All prompts, as they were sent",
                f"{stem}-prompts.csv",
                lambda: exports.prompts_csv(workspace(), study.code),
            ),
            (
                "Design, to plan the study again",
                f"{stem}-design.yaml",
                lambda: studies.design_yaml(study.design).encode(),
            ),
        ]
    for label, name, make in files:
        download_when_asked(label, make, name, key=f"download:{name}")
    st.caption(
        "In CSV files a text that a spreadsheet could read as a formula gets an apostrophe in "
        "front; imports remove it."
    )
    if study.kind != "planned":
        st.caption("The answers were imported, so the study has no plan and no design.")


def counts(study: str) -> bytes:
    """Counts of usable answers and of all other statuses of a study, as CSV."""
    return exports.counts_csv(workspace(), study)


def bank(study: str) -> bytes:
    """The bank of a study as CSV."""
    return exports.bank_csv(workspace(), study)


def plan(study: str) -> bytes:
    """The plan of a study as CSV."""
    return studies.plan_csv(workspace(), study)


def calls(study: str) -> bytes:
    """Every call that was sent for a study as CSV."""
    return control.calls_csv(workspace(), study)


def download_when_asked(label: str, make: Callable[[], bytes], file_name: str, *, key: str) -> None:
    """A download whose file is made when the button is pressed."""
    st.download_button(
        label,
        make,
        file_name,
        "application/octet-stream",
        key=key,
        on_click="ignore",
        icon=":material/download:",
    )


def command(*words: str) -> None:
    """The equivalent command line, as text to copy."""
    line = f"{_PYTHON} {shlex.join(words)}"
    with st.popover("As a command", icon=":material/terminal:", type="tertiary"):
        st.caption(
            "The same on the command line. Close Inkblot first: only one program at a time can "
            "open the database."
        )
        st.code(line, language=None, wrap_lines=True)


def export_section(study: StudyRecord) -> None:
    """All files of one study, and the command that writes them into a folder."""
    counts_words = (
        f"**{study.n_responses:,}** of {study.n_trials:,} planned questions have a reply; "
        f"answers: **{usable_words(study.n_usable, study.n_asked)}**."
        if study.kind == "planned"
        else f"Imported answers: **{usable_words(study.n_usable, study.n_asked)}**."
    )
    st.write(f"{counts_words} Bank: {plain(study.instrument)}, version {study.version}.")
    left, right = st.columns(2)
    with left:
        st.markdown("**Answers**")
        answers_file(study.code, "csv")
        answers_file(study.code, "parquet")
        _wide_file(study.code)
    with right:
        st.markdown("**Bank, plan and design**")
        _study_files(study)
    command("export", study.code, f"{file_stem(study.code)}_files")
    st.caption(
        "The command writes a folder with answers.csv, bank.csv, counts.csv, SHA256SUMS with the "
        "checksums and, for planned studies, plan.csv, calls.csv, prompts.csv and design.yaml. "
        "With --wide csv, xlsx or sav it also writes tables with a row for each administration. "
        "Only this page writes Parquet."
    )


def _prepare(flag: str, revision: object) -> None:
    st.session_state[flag] = revision


@st.cache_data(max_entries=2, show_spinner="Preparing the file ...")
def _answers(revision: object, study: str, file_format: FileFormat) -> bytes:
    """The file, kept as long as the answers (`revision`) stay the same."""
    return exports.export_tidy(workspace(), study, file_format)


@st.cache_data(max_entries=4, show_spinner="Preparing the file ...")
def _wide(revision: object, study: str, values: wide.Values, file_format: wide.WideFormat) -> bytes:
    """The same of the table with a row for each administration."""
    return wide.export_wide(workspace(), study, values, file_format)


def file_stem(study: str) -> str:
    """The study's name as a file name any system takes."""
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in study).strip(".")
    return stem[:80] or "study"

"""Study packages: one made of a study, and the study of one taken in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from core.workflow.designs.studies import StudyRecord
from core.workflow.packages import making, reading
from core.workflow.packages.reading import PackagePreview, is_package
from core.workflow.statistics import analyses
from pages.shared import analysis_page
from pages.shared.downloads import command, file_stem
from pages.shared.widgets import download, error_box, plain, workspace

__all__ = ["is_package"]

_PREVIEWED = "package_previewed"
_ASKED = "package_asked"
"""Session key of the package that the user asked for: study and analyses."""
_MOST_REASONS = 3


class TakenIn(NamedTuple):
    """A study that answers came into: how many it holds, and how many of them are new."""

    study: str
    n_total: int
    n_new: int
    bank: str


def import_section(
    name: str,
    data: bytes,
    file_id: str,
    take: Callable[[list[TakenIn]], None],
) -> None:
    """What a package holds, and a button that takes the study in; `take` is told what came in."""
    preview = _preview(file_id, name, data)
    st.markdown("### 2. Preview")
    kind = "" if preview.kind == "planned" else ", which were imported"
    st.write(
        f"Study **{plain(preview.study)}**: {preview.n_answers:,} answers{kind}, of "
        f"{preview.n_planned:,} questions, by {plain(', '.join(preview.models))}. Bank: "
        f"{plain(preview.bank)}, {preview.n_items:,} items."
    )
    st.caption(
        "Every file of the package has the checksum that it was made with. The study comes in with "
        "its plan, calls, replies and audits, and its results will be the same."
    )
    for asked in preview.asks:
        st.warning(
            f"If you continue this study, it asks {plain(asked)}. Continue it only if you trust "
            "the maker of the package."
        )
    if st.button("Import this study", type="primary", key="package_keep", icon=":material/save:"):
        bar = st.progress(0.0, text="Importing the study ...")
        done = reading.import_package(workspace(), name, data, bar.progress)
        st.toast(plain(done.about_bank))
        take([TakenIn(done.study, done.n_answers, done.n_answers, done.bank)])
    command("import", name)


def _preview(file_id: str, name: str, data: bytes) -> PackagePreview:
    """The preview of the file, read once. The bar ends the reading where the tab is closed."""
    key = (workspace().process, file_id)
    known = st.session_state.get(_PREVIEWED)
    if known is None or known[0] != key:
        bar = st.progress(0.0, text="Checking the package ...")
        known = (key, reading.preview_package(workspace(), name, data, bar.progress))
        bar.empty()
        st.session_state[_PREVIEWED] = known
    preview: PackagePreview = known[1]
    return preview


def export_section(study: StudyRecord) -> None:
    """Everything about a study as one zip, made in the background."""
    st.markdown("**Study package: everything in one file**")
    st.caption(
        "One zip with the answers, every call, bank, design, prompts, a codebook, an SPSS file, "
        "results and scripts for R and Python. It is a Frictionless and Psych-DS data set, fit for "
        "a repository such as OSF, and another Inkblot can import it."
    )
    titles = {one.name: one.title for one in analyses.all_analyses()}
    names = st.multiselect(
        "Results in the package",
        list(titles),
        list(making.PROPOSED),
        key=f"package_analyses:{study.code}",
        format_func=titles.__getitem__,
        help="Each is computed with its defaults. What cannot be computed is named in the package.",
    )
    pressed = st.button(
        "Make the package",
        key="package_make",
        icon=":material/inventory_2:",
        help="It is made in the background. A study of 100,000 answers takes about half a minute.",
    )
    if pressed:
        st.session_state[_ASKED] = (study.code, tuple(names))
    if st.session_state.get(_ASKED) == (study.code, tuple(names)):
        with error_box():
            _made(study, names, titles, begin=pressed)
    chosen = [word for name in names for word in ("--analysis", name)]
    command(
        "package",
        study.code,
        "--out",
        f"{file_stem(study.code)}.zip",
        *(chosen if tuple(names) != making.PROPOSED else ()),
    )


def _made(study: StudyRecord, names: list[str], titles: Mapping[str, str], *, begin: bool) -> None:
    """The package that was asked for, or how far it is."""
    computation = making.package_of(workspace(), study.code, names, begin=begin)
    if computation is None:
        st.caption("The answers have changed since. Make the package again.")
        return
    computation.wait(analysis_page.WAIT_S)
    if computation.state == "cancelled":
        st.info("The package is canceled.", icon=":material/cancel:")
        return
    if not computation.ended:
        analysis_page.watch(computation)
        return
    made = computation.value()
    download(
        f"Download the package ({len(made.data) / 1e6:,.1f} MB)",
        made.data,
        f"{file_stem(study.code)}.zip",
        key="package_download",
    )
    for name, reason in list(made.left_out.items())[:_MOST_REASONS]:
        st.caption(f"Left out: {plain(titles[name])}. {plain(reason)}")

"""Home: the purpose of Inkblot, the content of the database, and the next step."""

from collections.abc import Mapping

import streamlit as st

from core.domain.numbers import count_text
from core.workflow import sample
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.control import StudyRun
from pages.shared import widgets

STEPS = (
    ("pages/banks/page.py", "1. Banks", "Write or import the items and their answer options."),
    ("pages/respondents/page.py", "2. Respondents", "Choose the models that will answer."),
    (
        "pages/design/page.py",
        "3. Design",
        "Combine a bank with models, languages and personas; freeze the plan.",
    ),
    ("pages/collect/page.py", "4. Collect", "Start the study and watch the replies arrive."),
    ("pages/answers/page.py", "5. Answers", "Read the replies and see the answer in each."),
    ("pages/item_statistics.py", "6. Item statistics", "See the statistics of items and scores."),
    (
        "pages/validation_report.py",
        "7. Validation report",
        "See whether the scores are reliable and valid.",
    ),
)
SAMPLES: tuple[tuple[sample.SampleKind, str, str], ...] = (
    (
        "simulated",
        "Run it on simulated people",
        "20 items, 25 personas, 500 answers in seconds, from a formula with known parameters.",
    ),
    (
        "local",
        "Run it on the local model",
        f"20 items, {sample.LOCAL_PERSONAS} personas, on the small language model of Inkblot, in "
        "about a minute.",
    ),
)


def how_far(study: StudyRun) -> str:
    state = control.STATE_WORDS[study.state]
    return f"{control.replied_words(study)}, {state}"


def sample_study() -> None:
    st.header("Try it: the sample study")
    st.write(
        "One button plans a study with a 20-item attitude scale and collects the answers. Then you "
        "can read the item statistics. You need no account and no key."
    )
    for column, (kind, label, explanation) in zip(st.columns(2), SAMPLES, strict=True):
        with column, st.container(border=True):
            st.write(explanation)
            if kind == "simulated":
                st.caption(catalog.HONESTY_SIMULATED)
            else:
                st.caption(catalog.HONESTY_LOCAL)
            with widgets.error_box():
                if st.button(label, key=f"sample_{kind}", icon=":material/play_arrow:"):
                    st.session_state["sample"] = sample.start_sample(widgets.workspace(), kind)


def live_figures() -> None:
    """The figures, redrawn each second while a study is running."""
    with widgets.error_box():
        under_way = any(study.under_way for study in control.list_runs(widgets.workspace()))
        st.fragment(figures, run_every=1.0 if under_way else None)(ends_timer=under_way)


def figures(*, ends_timer: bool = False) -> None:
    """The sample study and the whole database, from one reading, so that the numbers agree."""
    with widgets.error_box():
        planned = {study.study: study for study in control.list_runs(widgets.workspace())}
        sample_now = planned.get(st.session_state.get("sample", ""))
        if sample_now:
            sample_progress(sample_now)
        in_the_database(planned)
        if ends_timer and not any(study.under_way for study in planned.values()):
            st.rerun()


def sample_progress(now: StudyRun) -> None:
    st.progress(now.n_done / now.n_trials if now.n_trials else 0.0, text=how_far(now))
    reason = control.progress(widgets.workspace(), now.study).reason
    if reason and now.state != "finished":
        st.warning(widgets.plain(reason))
    if now.state == "finished":
        st.success("The sample study is done. Read the answers, then the item statistics.")
    query = {widgets.STUDY_PARAMETER: now.study}
    st.page_link("pages/collect/page.py", label="Watch it on Collect", query_params=query)
    st.page_link("pages/answers/page.py", label="Read the answers", query_params=query)
    st.page_link("pages/item_statistics.py", label="See item statistics", query_params=query)


def in_the_database(planned: Mapping[str, StudyRun]) -> None:
    workspace = widgets.workspace()
    listed = studies.list_studies(workspace)
    imported = {study.code: study.n_responses for study in listed if study.kind == "imported"}
    replies = sum(imported.values()) + sum(study.n_done for study in planned.values())
    st.header("In the database")
    counted_in = [study for study in listed if study.kind == "imported"], planned.values()
    usable = sum(study.n_usable for part in counted_in for study in part)
    asked = sum(study.n_asked for part in counted_in for study in part)
    row = st.container(horizontal=True, gap="large")  # each as wide as its number
    for label, value, explanation in (
        ("Banks", len([b for b in editing.summaries(workspace) if not b.archived]), None),
        ("Respondents", len(catalog.list_respondents(workspace)), None),
        ("Studies", len(listed), None),
        ("Replies", f"{replies:,}", None),
        (
            "Usable answers", f"{usable:,} of {asked:,}",
            "Replies with an option, of the questions asked.",
        ),
    ):  # fmt: skip
        row.metric(label, value, help=explanation, width="content")
    if not listed:
        st.info(
            "There is no study yet. Run the sample study above, or follow the "
            f"{len(STEPS)} steps below."
        )
        return
    for study in list(reversed(listed))[:5]:
        now = planned.get(study.code)
        far = how_far(now) if now else f"{count_text(study.n_responses, 'answer')}, imported"
        st.page_link(
            "pages/answers/page.py",
            label=widgets.plain(f"{study.code}: {far}"),
            icon=":material/forum:",
            query_params={widgets.STUDY_PARAMETER: study.code},
        )
    without = sum(study.n_trials - study.n_done for study in planned.values())
    if without:
        st.caption(
            count_text(
                without, "planned call has no reply yet.", "planned calls have no reply yet."
            )
        )


def main() -> None:
    st.title("Inkblot")
    st.write(
        "Inkblot gives questionnaires to language models and tests whether the scores are reliable "
        "and valid. It is a psychometrics laboratory for psychologists and needs no programming."
    )
    with widgets.error_box():
        sample_study()
    live_figures()
    st.header("The steps of a study")
    for page, label, explanation in STEPS:
        left, right = st.columns([1, 3], vertical_alignment="center")
        left.page_link(page, label=label)
        right.write(explanation)


main()

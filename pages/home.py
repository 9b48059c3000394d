"""Home: the purpose of Inkblot, every study with its next step, and the steps of a study."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.factors import fact_name
from core.domain.numbers import count_text
from core.workflow import next_steps, opening, people, sample
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.control import StudyRun
from pages.shared import navigation, study_bar, widgets

STEPS = (
    ("pages/banks/page.py", "1. Banks", "Write or import items and answer options."),
    ("pages/respondents/page.py", "2. Respondents", "Choose the models that answer."),
    ("pages/design/page.py", "3. Design", "Cross bank, models, languages and personas."),
    ("pages/collect/page.py", "4. Collect", "Start the study; watch the replies."),
    ("pages/answers/page.py", "5. Answers", "Read each reply and its answer."),
    ("pages/item_statistics.py", "6. Item statistics", "See how items and scores behave."),
    ("pages/validation_report.py", "7. Validation report", "Is the scale reliable and valid?"),
)
SAMPLES: tuple[tuple[sample.SampleKind, str, str, str], ...] = (
    (
        "simulated",
        "Run it on simulated people",
        "20 items, 25 personas, 500 answers in seconds, from a formula with known parameters.",
        catalog.HONESTY_SIMULATED,
    ),
    (
        "local",
        "Run it on the local model",
        f"20 items, {sample.LOCAL_PERSONAS} personas, on the small language model of Inkblot, in "
        "about a minute.",
        catalog.HONESTY_LOCAL,
    ),
)
_LISTED = 6
_LISTED_FACTS = 5


def sample_study() -> None:
    st.header("Try the sample study")
    st.caption(
        "One button plans a study with a 20-item attitude scale and collects the answers. "
        "You need no account and no key."
    )
    for kind, label, explanation, honesty in SAMPLES:
        with widgets.error_box():
            if st.button(
                label,
                key=f"sample_{kind}",
                icon=":material/play_arrow:",
                width="stretch",
                help=widgets.plain(f"{explanation} {honesty}"),
            ):
                st.session_state["sample"] = sample.start_sample(widgets.workspace(), kind)
                widgets.show_study(st.session_state["sample"])
        st.caption(explanation)


def live_figures() -> None:
    """The studies and figures, redrawn each second while a study is running."""
    with widgets.error_box():
        under_way = any(study.under_way for study in control.list_runs(widgets.workspace()))
        st.fragment(figures, run_every=1.0 if under_way else None)(ends_timer=under_way)


def figures(*, ends_timer: bool = False) -> None:
    """The studies and the whole database, from one reading, so that the numbers agree."""
    with widgets.error_box():
        planned = {study.study: study for study in control.list_runs(widgets.workspace())}
        listed = studies.list_studies(widgets.workspace())
        newest_first = listed[::-1]
        st.header("Studies")
        sample_now = planned.get(st.session_state.get("sample", ""))
        if sample_now:
            sample_progress(sample_now)
        if not listed:
            st.info(
                f"There is no study yet. Run the sample study, or follow the {len(STEPS)} steps "
                "above."
            )
        else:
            with st.container(key="studies", border=True, gap="xsmall"):
                study_rows(newest_first[:_LISTED], planned)
        if newest_first[_LISTED:]:
            older = st.expander(
                f"{count_text(len(newest_first) - _LISTED, 'older study', 'older studies')}",
                on_change="rerun",
                key="older_studies",
            )
            if older.open:
                with older:
                    study_rows(newest_first[_LISTED:], planned)
        in_the_database(listed, planned)
        if ends_timer and not any(study.under_way for study in planned.values()):
            st.rerun()


def sample_progress(now: StudyRun) -> None:
    """How far the sample study is, which was started here."""
    if now.state == "finished":
        st.success("The sample study is done. Read the item statistics.")
    elif now.under_way:
        words = f"The sample study: {control.replied_words(now)}"
        st.progress(now.n_done / now.n_trials, text=words)


def study_rows(listed: Sequence[StudyRecord], planned: Mapping[str, StudyRun]) -> None:
    """Each study with its state, and its next steps as links."""
    pages = {page.name: page for page in navigation.all_pages()}
    unfinished = next_steps.unfinished_imports(widgets.workspace())
    facts = people.explored_by(widgets.workspace(), [study.code for study in listed])
    for study in listed:
        run = planned.get(study.code)
        query = {widgets.STUDY_PARAMETER: study.code}
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            with st.container(gap=None, width="stretch"):
                st.page_link(
                    "pages/answers/page.py",
                    label=f"**{widgets.plain(study.code)}**",
                    query_params=query,
                    help="Read the answers of this study.",
                )
                st.caption(widgets.plain(next_steps.state_words(study, run)))
            for step in next_steps.next_steps(
                widgets.workspace(), study, run, import_unfinished=study.code in unfinished
            ):
                page = pages[step.page]
                st.page_link(
                    page.script,
                    label=step.action,
                    icon=page.icon_name,
                    width="content",
                    query_params={widgets.STUDY_PARAMETER: step.study or study.code},
                )
        if study.n_responses and study.code in facts:
            explore_people(study, facts[study.code])
        if study.code in unfinished:
            st.caption(f":material/warning: {widgets.plain(unfinished[study.code])}")
        if run and run.state in ("paused", "interrupted"):
            reason = control.progress(widgets.workspace(), study.code).reason
            if reason:
                st.caption(f":material/warning: {widgets.plain(reason)}")


def explore_people(study: StudyRecord, facts: Sequence[str]) -> None:
    """Links to the scores, or the usable answers where nothing is scored, by each known fact."""
    unkeyed = bank_attachment.is_unkeyed(widgets.workspace(), study.code)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("People by", width="content")
        for fact in facts[:_LISTED_FACTS]:
            st.page_link(
                "pages/explore.py",
                label=widgets.plain(fact_name(fact)),
                width="content",
                query_params={
                    widgets.STUDY_PARAMETER: study.code,
                    "measure": "usable" if unkeyed else "mean_score",
                    "axis": fact,
                },
            )


def in_the_database(listed: Sequence[StudyRecord], planned: Mapping[str, StudyRun]) -> None:
    """Counts of all that is on file."""
    imported = [study for study in listed if study.kind == "imported"]
    replies = sum(study.n_responses for study in imported)
    replies += sum(run.n_done for run in planned.values())
    usable = sum(study.n_usable for part in (imported, planned.values()) for study in part)
    asked = sum(study.n_asked for part in (imported, planned.values()) for study in part)
    row = st.container(key="figures", horizontal=True, gap="medium")  # each as wide as its number
    workspace = widgets.workspace()
    for label, value, explanation in (
        ("Banks", len([b for b in editing.summaries(workspace) if not b.archived]), None),
        ("Respondents", len(catalog.list_respondents(workspace)), None),
        ("Studies", len(listed), None),
        ("Replies", f"{replies:,}", None),
        (
            "Usable answers",
            f"{usable:,} of {asked:,}",
            "Replies with an option, of the questions asked.",
        ),
    ):
        row.metric(label, value, help=explanation, width="content")
    without = sum(run.n_trials - run.n_done for run in planned.values())
    if without:
        st.caption(
            count_text(
                without, "planned call has no reply yet.", "planned calls have no reply yet."
            )
        )


def steps_of_a_study() -> None:
    st.header("The steps of a study")
    with st.container(key="steps"):
        columns = st.columns(len(STEPS))
    for column, (page, label, explanation) in zip(columns, STEPS, strict=True):
        with column, st.container(gap=None):
            st.page_link(page, label=f"**{label}**")
            st.caption(explanation)


def notices() -> None:
    """What was done to the database file, until somebody has read it."""
    if told := opening.notices(widgets.workspace()):
        st.warning("\n\n".join(map(widgets.plain, told)), icon=":material/database:")
        st.button(
            "I have read this",
            key="notices_read",
            on_click=lambda: opening.forget_notices(widgets.workspace()),
        )


def main() -> None:
    study_bar.page_header(
        "Inkblot",
        "Inkblot gives questionnaires to language models and tests whether the scores are reliable "
        "and valid. No programming is needed.",
    )
    with widgets.error_box():
        notices()
    steps_of_a_study()
    left, right = st.columns([5, 2], gap="large")
    with right, widgets.error_box():
        sample_study()
    with left:
        live_figures()


main()

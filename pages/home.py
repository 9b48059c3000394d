"""What Inkblot is for, what is in the database, and the next step."""

import streamlit as st

from core.workflow import banks, collection, respondents, sample, studies
from pages.shared import widgets

STEPS = (
    ("pages/banks.py", "1. Banks", "Write or import the items and their answer options."),
    ("pages/respondents.py", "2. Respondents", "Choose the models that will answer."),
    ("pages/design.py", "3. Design", "Cross bank, models, languages, personas; freeze the plan."),
    ("pages/collect.py", "4. Collect", "Start the study and watch the answers come in."),
    ("pages/answers.py", "5. Answers", "Read what was said and how it was understood."),
    ("pages/item_statistics.py", "6. Item statistics", "See how items and scores behave."),
    (
        "pages/validation_report.py",
        "7. Validation report",
        "See whether the answers mean anything: reliable, valid, or neither.",
    ),
)
SAMPLES: tuple[tuple[sample.SampleKind, str, str], ...] = (
    (
        "simulated",
        "Run it on simulated people",
        "20 items, 25 personas, 500 answers in seconds, from a formula whose truth is known.",
    ),
    (
        "local",
        "Run it on the local model",
        f"20 items, {sample.LOCAL_PERSONAS} personas, on the small language model that came along; "
        "about a minute.",
    ),
)


def how_far(progress: collection.Progress, kind: str = "planned") -> str:
    if kind == "imported":
        return f"{progress.n_done:,} answers, imported"
    state = collection.STATE_WORDS[progress.state]
    return f"{progress.n_done:,} of {progress.n_trials:,} replied, {state}"


def sample_study() -> None:
    st.subheader("Try it: the sample study")
    st.write(
        "One button plans a 20-item attitude scale, asks it, and lets you read item statistics. "
        "No account and no key is needed."
    )
    for column, (kind, label, explanation) in zip(st.columns(2), SAMPLES, strict=True):
        with column, st.container(border=True):
            st.write(explanation)
            if kind == "simulated":
                st.caption(respondents.HONESTY_SIMULATED)
            else:
                st.caption(respondents.HONESTY_LOCAL)
            with widgets.error_box():
                if st.button(label, key=f"sample_{kind}", icon=":material/play_arrow:"):
                    st.session_state["sample"] = sample.start_sample(widgets.workspace(), kind)
    if st.session_state.get("sample"):
        sample_progress()


@st.fragment(run_every=1.0)
def sample_progress() -> None:
    code = st.session_state["sample"]
    with widgets.error_box():
        progress = collection.progress(widgets.workspace(), code)
        st.progress(
            progress.share,
            text=how_far(progress),
        )
        if progress.reason and progress.state != "finished":
            st.warning(widgets.plain(progress.reason))
        if progress.state == "finished":
            st.success("The sample study is done. Read the answers, then the item statistics.")
        query = {widgets.STUDY_PARAMETER: code}
        st.page_link("pages/collect.py", label="Watch it on Collect", query_params=query)
        st.page_link("pages/answers.py", label="Read the answers", query_params=query)
        st.page_link("pages/item_statistics.py", label="See item statistics", query_params=query)


def in_the_database() -> None:
    found = widgets.workspace()
    listed = studies.listed(found)
    st.subheader("In the database")
    columns = st.columns(4)
    columns[0].metric("Banks", len([b for b in banks.summaries(found) if not b.archived]))
    columns[1].metric("Respondents", len(respondents.offered(found)))
    columns[2].metric("Studies", len(listed))
    columns[3].metric("Replies", f"{sum(study.n_responses for study in listed):,}")
    if not listed:
        st.info("There is no study yet: run the sample study above, or follow the six steps.")
        return
    for study in list(reversed(listed))[:5]:
        progress = collection.progress(found, study.code)
        label = f"{study.code}: {how_far(progress, study.kind)}"
        st.page_link(
            "pages/answers.py",
            label=widgets.plain(label),
            icon=":material/forum:",
            query_params={widgets.STUDY_PARAMETER: study.code},
        )
    without = sum(s.n_trials - s.n_responses for s in listed)
    if without:
        st.caption(f"{without:,} planned calls have no reply yet.")


def main() -> None:
    st.title("Inkblot")
    st.write(
        "Give a questionnaire to language models and find out whether the answers mean anything: "
        "a psychometrics laboratory for people who study people, no programming needed."
    )
    with widgets.error_box():
        sample_study()
    with widgets.error_box():
        in_the_database()
    st.subheader("The way through")
    for page, label, explanation in STEPS:
        left, right = st.columns([1, 3], vertical_alignment="center")
        left.page_link(page, label=label)
        right.write(explanation)


main()

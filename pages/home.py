"""Home: the purpose of Inkblot, every study with its next step, and the steps of a study."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import streamlit as st

from core.domain.factors import fact_name
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow import next_steps, opening, people, preloading, sample, shelf
from core.workflow.answers import bank_attachment
from core.workflow.background import Computation
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.control import StudyRun
from pages.shared import guide, navigation, study_bar, widgets

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
_RENAME, _COPY, _ARCHIVE, _DELETE = "rename", "copy", "archive", "delete"
_CHANGES = {
    _RENAME: ":material/edit: Rename",
    _COPY: ":material/content_copy: Use its design for a new study",
    _ARCHIVE: ":material/archive: Archive",
    _DELETE: ":material/delete: Delete",
}
_MOVED: Mapping[str, shelf.Place] = {_ARCHIVE: "archived", _DELETE: "deleted"}
# The study that is renamed, that which was put away last, and why a change was refused.
_RENAMING, _PUT_AWAY, _REFUSED = "home_renaming", "home_put_away", "home_refused"
_TOUR, _TOUR_SHOWN = "tour", "tour_shown"
_LISTED = 6
_MOST_ASKED = 12  # studies in which a question looks for what it needs
_LISTED_FACTS = 5


def sample_studies() -> None:
    st.header("Try the sample studies")
    st.button(
        "Show me around, in one minute",
        key="guide_begin",
        icon=":material/directions_walk:",
        width="stretch",
        help="A tour of the pages with the sample studies, which it loads. You can end it any "
        "time.",
        on_click=guide.begin,
    )
    st.button(
        "Load the sample studies",
        key="sample_tour",
        type="secondary" if studies.list_studies(widgets.workspace()) else "primary",
        icon=":material/tour:",
        width="stretch",
        help=widgets.plain(catalog.HONESTY_SIMULATED),
        on_click=_load_tour,
    )
    st.caption(
        "Studies of several kinds, so that every page has numbers: scales in two languages, "
        "opinions, brands, words, political stances and texts. Simulated people give 24,000 "
        "answers in half a minute. You need no account and no key."
    )
    if st.session_state.pop(widgets.LOAD_TOUR, False):  # asked for on a page without a study
        _load_tour()
    if loading := st.session_state.get(_TOUR):
        st.fragment(_tour_progress, run_every=None if loading.ended else 0.5)(loading)
    st.caption("Or watch one short study run, with a scale of 20 items:")
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


def _load_tour() -> None:
    from core.workflow import tour  # loads the packages of statistics, which Home does without

    st.session_state[_TOUR] = tour.start_loading(widgets.workspace())


def _tour_progress(loading: Computation[tuple[str, ...]]) -> None:
    """How far the sample studies are loaded; the whole page is drawn anew at the end."""
    if not loading.ended:
        words = f"Loaded: {loading.done} of {loading.total} studies" if loading.total else "..."
        st.progress(loading.done / max(loading.total, 1), text=words)
        return
    if st.session_state.get(_TOUR_SHOWN) is not loading:
        st.session_state[_TOUR_SHOWN] = loading
        if loading.result:
            widgets.show_study(loading.result[-1])
        st.rerun()
    with widgets.error_box():
        loading.value()
        st.success(
            "The sample studies are loaded. A page that does not fit the chosen study names the "
            "one that does."
        )


def live_figures() -> None:
    """The studies and figures, redrawn each second while a study is running."""
    with widgets.error_box():
        under_way = any(study.under_way for study in control.list_runs(widgets.workspace()))
        st.fragment(figures, run_every=1.0 if under_way else None)(ends_timer=under_way)


def figures(*, ends_timer: bool = False) -> None:
    """The studies and the whole database, from one reading, so that the numbers agree."""
    with widgets.error_box():
        listed = studies.list_studies(widgets.workspace())
        names = {study.code for study in listed}
        runs = control.list_runs(widgets.workspace())
        planned = {run.study: run for run in runs if run.study in names}
        newest_first = listed[::-1]
        st.header("Studies")
        sample_now = planned.get(st.session_state.get("sample", ""))
        if sample_now:
            sample_progress(sample_now)
        if not listed:
            st.info(
                f"There is no study yet. Load the sample studies, or follow the {len(STEPS)} steps "
                "above."
            )
        else:
            with st.container(key="studies", border=True, gap="xsmall"):
                study_rows(newest_first[:_LISTED], planned)
        undo_of_last()
        if newest_first[_LISTED:]:
            older = st.expander(
                f"{count_text(len(newest_first) - _LISTED, 'older study', 'older studies')}",
                on_change="rerun",
                key="older_studies",
            )
            if older.open:
                with older:
                    study_rows(newest_first[_LISTED:], planned)
        studies_put_away()
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
                    label=f"**{widgets.plain(study.name)}**",
                    query_params=query,
                    help="Read the answers of this study.",
                )
                first = f"In files: {widgets.plain(study.code)}. " if study.title else ""
                st.caption(first + widgets.plain(next_steps.state_words(study, run)))
            for step in next_steps.next_steps(
                widgets.workspace(), study, run, import_unfinished=study.code in unfinished
            ):
                page = pages[step.page]
                st.page_link(
                    page.script,
                    label=step.action,
                    icon=page.icon_name,
                    width="content",
                    query_params=navigation.analysis_parameters(
                        step.analysis, step.study or study.code
                    ),
                )
            changes_of(study)
        if st.session_state.get(_RENAMING) == study.code:
            rename_form(study)
        if study.n_responses and study.code in facts:
            explore_people(study, facts[study.code])
        if study.code in unfinished:
            st.caption(f":material/warning: {widgets.plain(unfinished[study.code])}")
        if run and run.state in ("paused", "interrupted"):
            reason = control.progress(widgets.workspace(), study.code).reason
            if reason:
                st.caption(f":material/warning: {widgets.plain(reason)}")


def changes_of(study: StudyRecord) -> None:
    """The menu of what can be done with a study in the list."""
    chosen = st.menu_button(
        "More",
        [name for name in _CHANGES if name != _COPY or study.kind == "planned"],
        key=f"more:{study.code}",
        format_func=_CHANGES.__getitem__,
        type="tertiary",
        help=f"Rename, copy, archive or delete {widgets.plain(study.name)}.",
        on_click=_change,
        args=(study,),
    )
    if chosen == _COPY:
        st.switch_page("pages/design/page.py", query_params={widgets.COPY_PARAMETER: study.code})


def _change(study: StudyRecord) -> None:
    chosen = st.session_state[f"more:{study.code}"]
    if chosen == _RENAME:
        st.session_state[_RENAMING] = study.code
    elif chosen in _MOVED:
        _move(study.code, _MOVED[chosen])


def _move(code: str, place: shelf.Place) -> None:
    try:
        shelf.move(widgets.workspace(), code, place)
    except UserError as error:
        st.session_state[_REFUSED] = error
        return
    if place == "listed":
        st.session_state[_PUT_AWAY] = None
        return
    st.session_state[_PUT_AWAY] = code
    if st.session_state.get(_RENAMING) == code:
        _stop_renaming()
    widgets.forget_study(code)


def rename_form(study: StudyRecord) -> None:
    """A field for the new name of a study, below its row."""
    with st.form(key=f"rename:{study.code}", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
        row.text_input(
            f"New name of {widgets.plain(study.name)}",
            study.name,
            key=_title_key(study.code),
            help="Lists show this name. Files, addresses and commands keep the first one, as the "
            "ids of the questions are made of it.",
        )
        row.form_submit_button("Rename", type="primary", on_click=_rename, args=(study.code,))
        row.form_submit_button("Cancel", on_click=_stop_renaming)
    widgets.last_note(_REFUSED)


def _rename(code: str) -> None:
    try:
        shelf.rename(widgets.workspace(), code, st.session_state[_title_key(code)])
    except UserError as error:
        st.session_state[_REFUSED] = error
        return
    _stop_renaming()


def _stop_renaming() -> None:
    st.session_state.pop(_RENAMING, None)


def _title_key(code: str) -> str:
    return f"title:{code}"


def undo_of_last() -> None:
    """What was put away last, with the way back; or why it was not."""
    widgets.last_note(_REFUSED)
    last = st.session_state.get(_PUT_AWAY)
    record = next((r for r in shelf.put_away(widgets.workspace()) if r.code == last), None)
    if record is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.success(f"{widgets.plain(record.name)} is {record.place}.", width="stretch")
        st.button(
            "Undo",
            key="home_undo",
            icon=":material/undo:",
            on_click=_move,
            args=(record.code, "listed"),
        )


def questions() -> None:
    """What one may want to know, each with the way to the analysis that answers it."""
    answered = [s.code for s in studies.list_studies(widgets.workspace())[::-1] if s.n_usable]
    if not answered:
        return
    st.header("What would you like to know?")
    st.caption(
        "The answer is about the study that you looked at last, or else the newest that has what "
        "the question needs; you can choose another."
    )
    pages = {page.name: page for page in navigation.all_pages()}
    asked_of = _studies_of_questions(answered)
    with st.container(gap="xxsmall", key="questions"):
        for question in next_steps.QUESTIONS:
            page = pages[question.page]
            study = asked_of.get(question, "")
            st.page_link(
                page.script,
                label=question.words,
                query_params=navigation.analysis_parameters(question.analysis, study),
            )


def _studies_of_questions(answered: Sequence[str]) -> Mapping[next_steps.Question, str]:
    """The study that each question is answered of; empty where none has what it needs.

    No question has one while the packages load that know what studies have: Home does not wait.
    """
    if not preloading.done():
        return {}
    from core.workflow.statistics import analyses, fits

    last = navigation.chosen_study()
    order = [*([last] if last in answered else []), *answered[:_MOST_ASKED]]
    has = cache(partial(fits.what_a_study_has, widgets.workspace()))  # once for all questions
    return {
        question: fits.study_for(analyses.by_name(question.analysis), order, has)
        for question in next_steps.QUESTIONS
    }


def studies_put_away() -> None:
    """Studies that were archived or deleted, each with the way back."""
    records = shelf.put_away(widgets.workspace())[::-1]
    if not records:
        return
    fold = st.expander(
        f"Archived and deleted: {count_text(len(records), 'study', 'studies')}",
        on_change="rerun",
        key="studies_put_away",
    )
    if not fold.open:
        return
    with fold:
        st.caption(
            "They are in no list of studies, and their answers stay in the database. Bring a study "
            "back to open it."
        )
        for record in records:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(record.name, width="stretch")
                st.caption(record.place, width="content")
                st.button(
                    "Bring back",
                    key=f"back:{record.code}",
                    help=f"Bring {widgets.plain(record.name)} back to the lists.",
                    on_click=_move,
                    args=(record.code, "listed"),
                )


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
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("You have answers already?", width="content")
        widgets.import_link("Import them from Excel, SPSS or CSV")


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
    left, right = st.columns([2, 1], gap="large")
    with right, widgets.error_box():
        none = not studies.list_studies(widgets.workspace())
        questions()
        with st.container(key="samples_first" if none else "samples"):
            sample_studies()
    with left:
        live_figures()


main()

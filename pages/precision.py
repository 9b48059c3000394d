"""Precision: how wide the intervals of a planned study will be, by simulated people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core import export
from core.charts.panels import DECIMALS, Chart, Theme
from core.charts.precision import precision_charts
from core.domain.numbers import round_frame
from core.domain.results import AnalysisResult
from core.errors import UserError
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.precision import study as precision_study
from core.workflow.precision.statistics import STATISTICS
from core.workflow.precision.study import REPLICATIONS, PrecisionRequest
from core.workflow.respondents import forms
from pages.design import overview
from pages.respondents import form as respondent_form
from pages.shared import analysis_page, draft_form, results, study_bar, widgets
from pages.shared.downloads import file_stem
from pages.shared.draft_form import ChoiceField, DraftForm, NumberField, SeveralField
from pages.shared.widgets import plain

_PROBLEM = "precision_problem"
_VARIED: Mapping[str, str] = {
    "": "Contexts, if several are planned",
    "context": "Contexts",
    "repetition": "Repetitions",
}
_HONESTY = (
    "Simulated people are no models: the precision holds if they answer as you assume. What is "
    "assumed stands below, with usual values. Try others as well."
)


def main() -> None:
    study = study_bar.study_header(
        "Precision",
        "Simulated people answer the plan of a study. See how wide the intervals of its statistics "
        "will be, and how many contexts or repetitions a target needs, before you pay for calls.",
        kinds=("planned",),
    )
    if study is None:
        return
    form = draft_form.open_form(f"precision:{study.code}", _defaults())
    with widgets.error_box():
        saved = precision_study.saved_result(widgets.workspace(), study.code)
        running = _result(study, form, saved)
        st.header("The precision wanted")
        _targets(form)
        form.show_notes()
        st.button(
            "Simulate",
            type="primary",
            icon=":material/play_arrow:",
            key="precision_start",
            on_click=_start,
            args=(study.code, form),
            disabled=running,
        )
        st.caption(_HONESTY)
        with st.expander("The people who answer"):
            form.draw(respondent_form.SIMULATED, respondent_form.SIMULATED_FURTHER)
        with st.expander("How it is simulated"):
            _simulation(study, form)
        with st.expander("The planned design"):
            overview.plan_size(study.design)


def _defaults() -> dict[str, Any]:
    """The fields before anything is changed."""
    truth = forms.empty_fields("simulated")
    assumed = vars(precision_study.DEFAULT_TRUTH)
    asked = PrecisionRequest("", {})
    return {
        **{name: value for name, value in truth.items() if name.startswith("simulation_")},
        **{f"simulation_{name}": value for name, value in assumed.items()},
        "statistics": ["alpha"],
        **{f"target_{name}": one.target for name, one in STATISTICS.items()},
        "respondent": "",
        "axis": "",
        "replications": asked.replications,
        "assurance": asked.assurance,
    }


def _targets(form: DraftForm) -> None:
    """The statistics with their targets."""
    form.draw(
        SeveralField("statistics", "Statistics", {n: one.title for n, one in STATISTICS.items()}),
        "Each is computed by its analysis, as on the pages of results.",
    )
    chosen = [name for name in form.fields["statistics"] if name in STATISTICS]
    for place, name in enumerate(chosen):
        if place % 3 == 0:
            columns = st.columns(3)
        label = f"{STATISTICS[name].title}: interval within ±"
        with columns[place % 3]:
            form.draw(
                NumberField(f"target_{name}", label, 0.001, 2, 0.01, format="%.3f"),
                f"Half of the width of the {STATISTICS[name].level} interval that you want.",
            )


def _simulation(study: StudyRecord, form: DraftForm) -> None:
    """What may be more or fewer, and how often and for whom the study is simulated."""
    form.draw(
        (
            ChoiceField("axis", "What may be more or fewer", _VARIED),
            "If one context is planned: repetitions.",
            NumberField("replications", "Replications", *REPLICATIONS),
            "How often the study is simulated, each time by other people. More take longer "
            "and lower the Monte Carlo error.",
            NumberField(
                "assurance", "Share that reaches the target", 0.5, 0.99, 0.05, format="%.2f"
            ),
            "A number of contexts or repetitions is recommended where this share of the "
            "replications has an interval within the target: the power.",
        )
    )
    people = [one.label for one in studies.respondents_of(widgets.workspace(), study.code)]
    if len(people) > 1:
        labels = {"": people[0], **{person: person for person in people}}
        form.draw(
            ChoiceField("respondent", "Respondent of the design", labels),
            "One is simulated: all have the same assumed truth. Choose another where blocks "
            "ask respondents differently.",
        )


def _result(
    study: StudyRecord, form: DraftForm, saved: tuple[PrecisionRequest, AnalysisResult] | None
) -> bool:
    """What came of the last press, above all else; whether a simulation is under way."""
    computation = precision_study.under_way(widgets.workspace(), study.code)
    if computation is not None and not computation.ended:
        computation.wait(analysis_page.WAIT_S)
        if computation.ended:
            saved = precision_study.saved_result(widgets.workspace(), study.code)
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        widgets.show_problem(problem)
    if computation is not None and not computation.ended:
        analysis_page.watch(computation)
        return True
    if computation is not None and computation.error is not None:
        with widgets.error_box():
            raise computation.error
    elif computation is not None and computation.state == "cancelled":
        st.info("The simulation is canceled.", icon=":material/cancel:")
    if saved is not None:
        _show(study, form, *saved)
    return False


def _start(study: str, form: DraftForm) -> None:
    """Begin with the fields as they are in the database, which may be newer than the page."""
    fields = form.stored()
    try:
        precision_study.start(widgets.workspace(), _request(study, fields))
    except UserError as error:
        st.session_state[_PROBLEM] = error


def _request(study: str, fields: Mapping[str, Any]) -> PrecisionRequest:
    truth = forms.to_respondent("simulated", fields).simulation
    chosen = [name for name in fields["statistics"] if name in STATISTICS]
    return PrecisionRequest(
        study,
        {name: float(fields[f"target_{name}"]) for name in chosen},
        truth or precision_study.DEFAULT_TRUTH,
        respondent=fields["respondent"] or "",
        axis=fields["axis"] or "",
        replications=int(fields["replications"]),
        assurance=float(fields["assurance"]),
    )


def _show(
    study: StudyRecord, form: DraftForm, request: PrecisionRequest, result: AnalysisResult
) -> None:
    st.header("The precision reached")
    try:
        changed = _request(study.code, form.fields) != request
    except UserError:
        changed = True
    if changed:
        st.info("The choices below have changed since. Press Simulate for their result.")
    results.show_answers("precision", precision_study.answers(result), precision_study.VERDICT)
    for number, caution in enumerate(result.cautions):
        st.warning(plain(caution), icon=":material/science:" if number == 0 else None)
    for note in result.notes:
        st.caption(plain(note))
    titles = {name: one.title for name, one in STATISTICS.items()}
    summary, curves = result.tables
    varied = str(summary.frame["varied"].iloc[0])
    stem = file_stem(study.code)
    for number, chart in enumerate(precision_charts(result, titles, varied, results.theme())):
        draw = partial(_chart_in, result, titles, varied, number)
        results.show_drawing(draw, f"{stem}-precision-chart_{number + 1}", f"precision:{number}")
        fold = st.expander("Data of this chart", key=f"precision_data:{number}", on_change="rerun")
        if fold.open:
            with fold:
                st.caption(plain(chart.alt))
                widgets.table(round_frame(chart.data, DECIMALS), alt=f"Data of {chart.title}")
    for shown in (summary, curves):
        st.markdown(f"**{plain(shown.title)}**")
        titled = shown.frame.assign(statistic=shown.frame["statistic"].map(titles))
        results.numbers(replace(shown, frame=titled), alt=shown.title)
        name = f"{stem}-{shown.name}.csv"
        widgets.download("CSV", export.table_csv(shown), name, key=f"precision_csv:{shown.name}")
    st.caption(plain(result.method))
    data = export.result_zip(result)
    widgets.download("All tables (ZIP)", data, f"{stem}-precision.zip", key="precision_zip")


def _chart_in(
    result: AnalysisResult, titles: dict[str, str], varied: str, number: int, theme: Theme
) -> Chart:
    """One of the charts in a theme."""
    return precision_charts(result, titles, varied, theme)[number]


main()

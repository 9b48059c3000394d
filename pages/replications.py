"""Replications: five published studies, their printed numbers, and one's own beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from core import export
from core.analysis.kit.registry import (
    AnalysisOption,
    NotAllowed,
    OtherData,
    Text,
    option_text,
)
from core.charts.panels import DECIMALS, Chart
from core.charts.replications import comparison_chart
from core.domain.factors import Filters
from core.domain.numbers import count_text, round_frame
from core.domain.results import ResultTable
from core.domain.tables import text
from core.errors import UserError
from core.workflow import saved_inputs
from core.workflow.designs.studies import StudyRecord
from core.workflow.replications import comparing
from core.workflow.replications.checks import checks_of, summary
from core.workflow.replications.comparing import Comparison, Levels, Outcome
from core.workflow.replications.published import PublishedStudy, published_studies
from core.workflow.replications.tables import (
    PUBLISHED_TABLES,
    Kind,
    PrintedPlace,
    PublishedTable,
    printed_rows,
    published_table,
    tables_of,
)
from pages.shared import analysis_options, analysis_page, downloads, results, study_bar, widgets
from pages.shared.widgets import plain, workspace

PUBLISHED = "published"
"""The part of an address that names the published table, and on the page Design a design file."""
_PAPER, _TABLE, _WRITTEN = "replications_paper", "replications_table", "replications_written"
_MOST_CHOOSERS = 12
_NONE = ""
_HOW_CHECKED = (
    "A printed number is compared with what follows from other printed ones: alpha from variances "
    "and SDs, p from t, means from items, totals and shares from counts. All are rounded, so that "
    "a range follows; outside of it one of the numbers is wrong."
)
_OPTIONS = "options"


# The published study and its table: in the address, or those that fit the study.


def _restore(study: StudyRecord | None) -> None:
    """Set both choosers from the address, or at first from the bank of the study."""
    address = st.query_params.get(PUBLISHED, "")
    if address and address != st.session_state.get(_WRITTEN):
        try:
            _choose(published_table(address))
        except UserError as error:
            widgets.show_problem(error)
    if _TABLE not in st.session_state:
        _choose(_fitting(study))


def _choose(table: PublishedTable) -> None:
    st.session_state[_PAPER], st.session_state[_TABLE] = table.study, table.code


def _fitting(study: StudyRecord | None) -> PublishedTable:
    """The first table of the published study that asks what the study asks."""
    fitting = [
        paper.code for paper in published_studies() if study and study.instrument in paper.banks
    ]
    own = [table for table in PUBLISHED_TABLES if table.study in fitting]
    pairs = bool(study and study.design.pairs)
    return next((t for t in own if (t.code == "brand_preference") == pairs), PUBLISHED_TABLES[0])


def _choose_table() -> PublishedTable:
    papers = {paper.code: paper for paper in published_studies()}
    places = {code: place for place, code in enumerate(papers, 1)}
    left, right = st.columns(2)
    chosen = left.selectbox(
        "Published study",
        list(papers),
        key=_PAPER,
        on_change=_take_paper,
        format_func=lambda code: (
            f"{places[code]} · {papers[code].short_name}: {papers[code].title}"
        ),
        help="The five studies whose designs Inkblot can repeat.",
    )
    codes = [table.code for table in tables_of(chosen)]
    if st.session_state.get(_TABLE) not in codes:
        st.session_state[_TABLE] = codes[0]
    code = right.selectbox(
        "Published table",
        codes,
        key=_TABLE,
        format_func=lambda one: _table_name(published_table(one)),
        help="The numbers are as printed, with their source.",
    )
    st.query_params[PUBLISHED] = st.session_state[_WRITTEN] = code
    return published_table(code)


def _take_paper() -> None:
    st.session_state[_TABLE] = tables_of(st.session_state[_PAPER])[0].code


def _table_name(table: PublishedTable) -> str:
    sources = list(dict.fromkeys(_printed_rows(table).frame["source"]))
    where = sources[0] if len(sources) == 1 else f"{sources[0]} to {sources[-1]}"
    return f"{table.title} ({where})"


def _printed_rows(table: PublishedTable) -> ResultTable:
    """The rows of the file as they are printed."""
    rows = printed_rows(table)
    columns = tuple(
        text(str(name), str(name).replace("_", " ").capitalize(), "As printed.") for name in rows
    )
    return ResultTable(table.code, table.title, rows.reset_index(drop=True), columns)


# What was done, and the way to do it again.


def _show_question(paper: PublishedStudy) -> None:
    """What the study asked, what is ours in its designs, and the ways to them."""
    st.markdown(f"**{plain(paper.question)}**")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Ask it yourself:", width="content")
        for file in paper.files:
            st.page_link(
                "pages/design/page.py",
                label=f"Design {file.removesuffix('.yaml')}",
                icon=":material/grid_on:",
                query_params={PUBLISHED: file},
                help="Opens the page Design with this design in its size; nothing is frozen.",
            )
    st.caption(plain(paper.differs[0]))


def _show_paper(paper: PublishedStudy, table: PublishedTable) -> None:
    """The design in short, misprints, and what differs."""
    st.header("The published study")
    st.markdown(_listed("How it was done:", paper.design))
    own = [m.text for m in paper.misprints if m.table == table.code]
    others = [m.text for m in paper.misprints if m.text not in own]
    if own:
        st.markdown(_listed("Misprints in this table:", own))
    if others:
        with st.expander(f"Misprints elsewhere ({len(others)})"):
            st.markdown(_listed("", others))
    if not paper.misprints:
        st.caption("No misprint is known.")
    _show_checks(table)
    st.markdown(_listed("What differs here:", paper.differs))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Source: {plain(paper.citation)}", width="content")
        if paper.link:
            st.link_button("Open the paper", paper.link, icon=":material/open_in_new:")


def _show_checks(table: PublishedTable) -> None:
    """Which printed numbers cannot be right together with others, by arithmetic alone."""
    own = checks_of(table.code)
    if not own:
        return
    off = [check.sentence for check in own if check.verdict != "fits"]
    if off:
        st.markdown(_listed("Checked by arithmetic, within rounding:", off))
    st.caption(plain(summary(own)), help=_HOW_CHECKED)


def _listed(title: str, lines: Sequence[str]) -> str:
    """Lines of a list under a title, as Markdown that shows exactly their characters."""
    return f"{title}\n\n" + "\n".join(f"- {plain(line)}" for line in lines)


def _show_printed(table: PublishedTable) -> None:
    shown = _printed_rows(table)
    st.markdown(f"**{plain(shown.title)}, as published**")
    widgets.table(
        shown.frame.set_axis([column.title for column in shown.columns], axis=1),
        alt=f"{shown.title}, as published: {count_text(len(shown.frame), 'row')}",
    )


# One's own numbers.


def _outcomes(
    table: PublishedTable,
    study: StudyRecord,
    options: Mapping[str, Any],
    where: Filters,
) -> dict[PrintedPlace, Outcome] | None:
    """The outcome of each place; None while something is being computed."""
    outcomes: dict[PrintedPlace, Outcome] = {}
    known: dict[str, Outcome] = {}
    requests = comparing.requests(workspace(), table, [study.code], options, where)
    for place, request in requests.items():
        key = repr(request)
        if key not in known:
            try:
                if isinstance(request, UserError):
                    raise request
                result = analysis_page.result_of(request)
            except UserError as error:
                known[key] = error
            else:
                if result is None:
                    return None
                known[key] = result
        outcomes[place] = known[key]
    return outcomes


def _draft(study: StudyRecord) -> str:
    return f"replications:{study.code}"


def _chosen_levels(study: StudyRecord) -> Levels:
    """The levels that a person has chosen for this study, by kind."""
    draft = saved_inputs.load(workspace(), _draft(study))
    chosen: Levels = draft.value if draft and isinstance(draft.value, dict) else {}
    return chosen


def _keep_level(study: StudyRecord, kind: Kind, level: str, key: str) -> None:
    """Save the level that a person has chosen for a published one."""
    chosen = {**_chosen_levels(study).get(kind, {}), level: st.session_state[key] or _NONE}
    saved_inputs.update(workspace(), _draft(study), {kind: chosen})


def _choose_options(study: StudyRecord, table: PublishedTable) -> dict[str, Any]:
    """The options of the analyses behind the table that are not as they are at first, by name."""
    offered = [o for o in comparing.options_of(table) if analysis_options.is_plain(o)]
    if not offered:
        return {}
    draft = saved_inputs.load(workspace(), _draft(study))
    saved = draft.value.get(_OPTIONS, {}) if draft and isinstance(draft.value, dict) else {}
    named = [o for o in offered if isinstance(o.kind, OtherData | Text)]
    values: dict[str, Any] = {}
    for title, options in (
        ("Other studies and lists that the numbers need", named),
        ("Options of the analyses", [o for o in offered if o not in named]),
    ):
        if not options:
            continue
        with st.expander(title):
            columns = st.columns(2)
            for place, option in enumerate(options):
                with columns[place % 2]:
                    key = f"replications:{study.code}:{_OPTIONS}:{option.name}"
                    setting = _restored(option, saved.get(option.name, option.initial))
                    values[option.name] = analysis_options.control(option, key, setting)
    chosen = {o.name: values[o.name] for o in offered if values[o.name] != o.initial}
    if json.loads(json.dumps(chosen)) != saved:
        saved_inputs.update(workspace(), _draft(study), {_OPTIONS: chosen})
    return chosen


def _restored(option: AnalysisOption, saved: Any) -> Any:
    """The saved value as the option takes it; what it is at first where it no longer does."""
    try:
        return option.kind.restore(saved, option.default)
    except NotAllowed:
        return option.initial


def _choose_levels(study: StudyRecord, comparison: Comparison) -> None:
    """Which own level stands for which published one, a chooser for each."""
    kinds = [
        kind
        for kind, levels in comparison.published.items()
        if len(levels) <= _MOST_CHOOSERS and any(comparison.own[kind])
    ]
    if not kinds:
        return
    with st.expander("Which of yours stands for which published one"):
        for kind in kinds:
            st.markdown(f"**{kind.capitalize()}**")
            columns = st.columns(3)
            own = list(filter(None, comparison.own[kind]))
            for place, level in enumerate(comparison.published[kind]):
                key = f"replications:{study.code}:{kind}:{level}"
                st.session_state.setdefault(key, comparison.levels[kind].get(level, _NONE))
                columns[place % 3].selectbox(
                    level,
                    [_NONE, *own],
                    key=key,
                    format_func=lambda one: one or "None",
                    on_change=_keep_level,
                    args=(study, kind, level, key),
                )


def _show_comparison(study: StudyRecord, table: PublishedTable) -> None:
    """Sentences, chart, table and file of the own numbers beside the published."""
    with st.popover("Filter", icon=":material/filter_alt:"):
        where = analysis_page.filters(study)
    if where:
        st.caption(plain(". ".join(widgets.filter_words(where)) + "."))
    options = _choose_options(study, table)
    outcomes = _outcomes(table, study, options, where)
    if outcomes is None:
        return
    chosen = _chosen_levels(study)
    comparison = comparing.compare(table, outcomes, chosen, imported=study.kind == "imported")
    frame = comparison.table.frame
    beside = frame["yours"].notna().any()
    if beside or study.kind == "imported" or study.instrument in table.of.banks:
        results.show_answers(f"replications:{table.code}", comparison.answers)
        if beside:
            _show_chart(study.code, comparison.table)
        _show_numbers(study, comparison)
    else:
        st.caption(
            plain(
                f"None of your numbers stands beside a printed one: the study {study.name} uses "
                f"the bank {study.instrument}, and {table.of.short_name} is compared with the "
                f"banks {', '.join(table.of.banks)}. Choose another study above, or ask the "
                "design yourself."
            )
        )
    if comparison.others:
        st.caption(
            f"{count_text(comparison.others, 'printed number')} without a counterpart among your "
            "levels."
        )
    _choose_levels(study, comparison)
    with st.expander("Method"):
        for note in comparison.notes:
            st.caption(plain(note))
    matches = [
        word
        for kind, levels in chosen.items()
        for level, own in levels.items()
        if level in comparison.published.get(kind, ())
        for word in ("--match", f"{level}={own}")
    ]
    for name, value in options.items():
        matches += ["--option", f"{name}={option_text(value)}"]
    for name, chosen_levels in where.items():
        matches += ["--where", f"{name}={','.join(map(str, chosen_levels))}"]
    downloads.command("replicate", table.code, "--study", study.code, *matches)


def _show_chart(study: str, table: ResultTable) -> None:
    known = table.frame[table.frame["yours"].notna()]
    quantities = list(dict.fromkeys(known["quantity"]))
    quantity = quantities[0]
    if len(quantities) > 1:
        quantity = st.selectbox(
            "Number to draw", quantities, key=f"replications_quantity:{table.name}", width=320
        )
    chart = comparison_chart(table, quantity, results.theme())
    if chart is None:
        return
    key = f"replications_chart:{table.name}"
    results.show_drawing(
        lambda theme: cast(Chart, comparison_chart(table, quantity, theme)),
        f"{downloads.file_stem(study)}-{table.name}",
        key,
    )
    fold = st.expander("Data of this chart", key=f"data:{key}", on_change="rerun")
    if fold.open:
        with fold:
            st.caption(plain(chart.alt))
            widgets.table(round_frame(chart.data, DECIMALS), alt=f"Data of the chart {chart.title}")


def _show_numbers(study: StudyRecord, comparison: Comparison) -> None:
    table = comparison.table
    if table.frame.empty:
        return
    quantities = list(dict.fromkeys(table.frame["quantity"]))
    title = f"{table.title}: {quantities[0]}" if len(quantities) == 1 else table.title
    st.markdown(f"**{plain(title)}, published and yours**")
    hidden = {"published", *(() if study.kind == "imported" else ("comes_out",))}
    hidden |= {"quantity"} if len(quantities) == 1 else set()
    columns = tuple(column for column in table.columns if column.name not in hidden)
    shown = ResultTable(
        table.name, table.title, table.frame[[column.name for column in columns]], columns
    )
    results.numbers(shown, alt=f"{table.title}: {count_text(len(shown.frame), 'row')}")
    widgets.download(
        "CSV",
        export.table_csv(table),
        f"{downloads.file_stem(study.code)}-{table.name}.csv",
        key="replications_csv",
    )


def main() -> None:
    """The page."""
    purpose = (
        "Five published studies: their designs, their printed numbers, and yours beside them, with "
        "differences and intervals."
    )
    with widgets.error_box():
        _, study = study_bar.study_row("Replications", purpose)
        st.caption(purpose)
        _restore(study)
        table = _choose_table()
        _show_question(table.of)
        if table.without:
            st.info(plain(table.without))
        elif study is None or not study.n_responses:
            st.info(
                "No answers stand beside these numbers yet. Open a design above, freeze it and "
                "collect; or import answers."
            )
            widgets.import_link()
        else:
            _show_comparison(study, table)
        _show_paper(table.of, table)
        with st.expander("The table as published", expanded=study is None or bool(table.without)):
            _show_printed(table)


main()

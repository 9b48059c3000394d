"""The replies of a sample with all codes, filtered, and taking codes into the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from core.workflow.answers import agreement, audits
from core.workflow.answers.audits import FINAL, READER, Audit, CodedSample
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.answers.readings import LAYER_WORDS, Reading, explanation
from core.workflow.designs.studies import StudyRecord
from pages.audit.coding import open_reply
from pages.shared import widgets
from pages.shared.widgets import plain, workspace

_ALL, _UNCODED, _CODERS, _READER, _NOTED = (
    "All",
    "Not coded by you",
    "Coders differ",
    "Coder and Inkblot differ",
    "With a note",
)
_IN_FULL = 5


def replies_section(
    study: StudyRecord, audit: Audit, sample: CodedSample, person: str, *, adjudicates: bool
) -> None:
    """The list of replies with its filters, those ticked in full, and buttons that take codes."""
    trials = _filtered(sample, person)
    if not trials:
        st.caption("No reply is as the filters say.")
        return
    st.caption(
        f"n = {len(trials):,}. Tick rows to read them in full. The final coding can replace "
        "Inkblot's reading in the data; the old reading is kept, and you can restore it. The final "
        "coding is the adjudicator's, or the one on which all who coded the reply agree."
    )
    event = widgets.table(
        _shown(sample, trials),
        alt=f"Replies of the sample: {len(trials)}",
        key=f"audit_table:{audit.audit_id}",
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "Counts as": st.column_config.TextColumn(
                help="A failure: Inkblot or the final coding has an option, and the other has "
                "another option or none. If both have no option but give different reasons, they "
                "disagree, and it still counts as success."
            ),
            "In the data": st.column_config.TextColumn(help="Whose reading is analyzed."),
            "How read": st.column_config.TextColumn(help=explanation()),
            **{name: st.column_config.TextColumn() for name in ("Model", "Item", "Reply", "Judge")},
        },
    )
    ticked = [trials[row] for row in event["selection"]["rows"] if row < len(trials)]
    _take_buttons(audit, sample, trials, ticked)
    for trial in ticked[:_IN_FULL]:
        _in_full(study, audit, sample, trial, person, adjudicates=adjudicates)
    if len(ticked) > _IN_FULL:
        st.caption("The first five of the ticked replies are shown in full.")


def _filtered(sample: CodedSample, person: str) -> list[int]:
    """The trials that pass the filters of the page."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = st.pills(
            "Show",
            [_ALL, _UNCODED, _CODERS, _READER, _NOTED],
            default=_ALL,
            required=True,
            key="audit_which",
            persist_state="session",
        )
        models = list(dict.fromkeys(sample.replies["model"]))
        chosen = models
        if len(models) > 1:
            chosen = (
                st.multiselect(
                    "Model",
                    models,
                    key="audit_models",
                    placeholder="All",
                    width=260,
                )
                or models
            )
        seen = {
            "answered" if code.option is not None else code.status
            for of_coder in sample.codes.values()
            for code in of_coder.values()
        }
        readings = _choose_readings(sample)
        statuses = st.multiselect(
            "Status",
            [status for status in STATUS_WORDS if status in seen],
            format_func=lambda status: STATUS_WORDS[status],
            key="audit_statuses",
            placeholder="All",
            width=260,
            help="Replies to which a coder or Inkblot gave this status, of those you may see.",
        )
    noted = {trial for trial, _ in sample.notes}
    of_model = sample.replies["model"].isin(chosen).to_numpy()
    return [
        trial
        for trial, wanted in zip(sample.trials, of_model, strict=True)
        if wanted
        and (which != _UNCODED or trial not in sample.codes.get(person, {}))
        and (which != _CODERS or sample.differ(trial))
        and (which != _READER or _differs_from_reader(sample, trial))
        and (which != _NOTED or trial in noted)
        and (not statuses or not _statuses(sample, trial).isdisjoint(statuses))
        and _was_read(sample, trial, readings)
    ]


def _choose_readings(sample: CodedSample) -> dict[str, set[str]]:
    """What is chosen of how Inkblot read the replies, of those that the person may see."""
    chosen: dict[str, set[str]] = {}
    for feature, title in agreement.FEATURES.items():
        kinds = agreement.kinds_of(sample, feature)
        if len(kinds) > 1:
            chosen[feature] = set(
                st.multiselect(
                    title,
                    kinds,
                    key=f"audit_read:{feature}",
                    placeholder="All",
                    width=200,
                    help="How Inkblot read the reply, of replies where you may see it.",
                )
            )
    return chosen


def _was_read(sample: CodedSample, trial: int, chosen: Mapping[str, set[str]]) -> bool:
    """Whether a reply was read in one of the ways chosen for each feature."""
    return all(
        not kinds or any(agreement.is_kind(sample.readings.get(trial), feature, k) for k in kinds)
        for feature, kinds in chosen.items()
    )


def _differs_from_reader(sample: CodedSample, trial: int) -> bool:
    reading = sample.codes[READER].get(trial)
    codes = [*sample.codes_of(trial).values(), sample.codes[FINAL].get(trial)]
    return reading is not None and any(c is not None and c.kind != reading.kind for c in codes)


def _statuses(sample: CodedSample, trial: int) -> set[str]:
    codes = [of_coder[trial] for of_coder in sample.codes.values() if trial in of_coder]
    return {"answered" if code.option is not None else code.status for code in codes}


def _shown(sample: CodedSample, trials: Sequence[int]) -> pd.DataFrame:
    frame = sample.replies.loc[list(trials)]
    coders = (*sample.coders, FINAL) if len(sample.coders) > 1 else sample.coders
    return pd.DataFrame(
        {
            "Place": frame["ordinal"],
            **({"Model": frame["model"]} if len(set(sample.replies["model"])) > 1 else {}),
            "Item": frame["item"],
            **{_title(coder): _words(sample, trials, coder) for coder in coders},
            "Inkblot": _words(sample, trials, READER),
            **_how_read(sample, trials),
            "Counts as": [_counts_as(sample, trial) for trial in trials],
            "In the data": [_whose(sample, trial) for trial in trials],
            "Notes": [_notes(sample, trial) for trial in trials],
            "Reply": frame["reply"],
        }
    )


def _how_read(sample: CodedSample, trials: Sequence[int]) -> dict[str, list[str]]:
    """How Inkblot read the replies, where it is known of any that the person may see."""
    if not any(reading.layer for reading in sample.readings.values()):
        return {}
    readings = [sample.readings.get(trial, Reading()) for trial in trials]
    return {
        "How read": [reading.words for reading in readings],
        "Layer": [LAYER_WORDS.get(reading.layer or "", "") for reading in readings],
        **(
            {"Judge": [reading.judge or "" for reading in readings]}
            if any(reading.judge for reading in readings)
            else {}
        ),
    }


def _whose(sample: CodedSample, trial: int) -> str:
    """Whose reading of a reply is in the data; a judge's only where one may see the reading."""
    if sample.replies["taken"][trial]:
        return "a person's"
    return "a judge's" if sample.readings.get(trial, Reading()).judge else "Inkblot's"


def _title(coder: str) -> str:
    return coder if coder == FINAL else f"Code of {coder}"


def _words(sample: CodedSample, trials: Sequence[int], coder: str) -> list[str]:
    codes = sample.codes.get(coder, {})
    return [codes[trial].words if trial in codes else "" for trial in trials]


def _counts_as(sample: CodedSample, trial: int) -> str:
    final, reading = sample.codes[FINAL].get(trial), sample.codes[READER].get(trial)
    if final is None or reading is None:
        return ""
    return "success" if final.option == reading.option else "failure"


def _notes(sample: CodedSample, trial: int) -> str:
    own = {who: note for (of, who), note in sample.notes.items() if of == trial}
    return "; ".join(f"{who}: {note}" for who, note in own.items())


def _take_buttons(
    audit: Audit, sample: CodedSample, trials: Sequence[int], ticked: Sequence[int]
) -> None:
    chosen = list(ticked or trials)
    changing = [trial for trial in chosen if audits.is_change(sample, trial)]
    taken = sample.replies["taken"]
    back = [trial for trial in chosen if taken[trial] and trial in sample.codes[READER]]
    which = "those ticked" if ticked else "all shown"
    with st.container(horizontal=True):
        st.button(
            f"Use the final coding for {which} (n = {len(changing):,})",
            key="audit_take",
            icon=":material/edit:",
            disabled=not changing,
            on_click=_take,
            args=(audit, changing),
            help="The data then hold the final coding. An option that Inkblot did not read gets "
            "the status answered with explanation. Replies on which coders differ wait for a "
            "final coding.",
        )
        st.button(
            f"Restore Inkblot's reading for {which} (n = {len(back):,})",
            key="audit_give_back",
            icon=":material/undo:",
            disabled=not back,
            on_click=_give_back,
            args=(audit, back),
        )


def _in_full(
    study: StudyRecord,
    audit: Audit,
    sample: CodedSample,
    trial: int,
    person: str,
    *,
    adjudicates: bool,
) -> None:
    row = sample.replies.loc[[trial]].to_dict("records")[0]
    with st.container(border=True):
        st.caption(plain(f"Answer {row['ordinal']} of the plan, item {row['item']}"))
        widgets.text_block(str(row["reply"]), monospace=True)
        notes = _notes(sample, trial)
        if notes:
            st.caption("Notes")
            widgets.text_block(notes)
        with st.container(horizontal=True):
            if not adjudicates:
                coded = trial in sample.codes.get(person, {})
                st.button(
                    "Correct your code" if coded else "Code it",
                    key=f"audit_open_code:{trial}",
                    icon=":material/edit_note:",
                    on_click=open_reply,
                    args=("Code", audit, trial),
                )
            if sample.differ(trial):
                st.button(
                    "Adjudicate it",
                    key=f"audit_open_adjudication:{trial}",
                    icon=":material/gavel:",
                    on_click=open_reply,
                    args=("Adjudicate", audit, trial),
                )
            st.page_link(
                "pages/answers/page.py",
                label="Open it on Answers",
                icon=":material/forum:",
                query_params={widgets.STUDY_PARAMETER: study.code, "answer": str(trial)},
            )


def _take(audit: Audit, trials: Sequence[int]) -> None:
    audits.accept_codings(workspace(), audit, trials)
    st.cache_data.clear()  # numbers on other pages rest on what has just changed


def _give_back(audit: Audit, trials: Sequence[int]) -> None:
    audits.revert_codings(workspace(), audit, trials)
    st.cache_data.clear()

"""Answers row by row; their import and export in the tidy format; charts of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.charts import lazy_altair as alt
from core.charts.panels import (
    BACKGROUNDS,
    GROUP_COLORS,
    INK,
    STATUS_GREYS,
    Chart,
    Theme,
    number_tip,
    readable_on,
    with_number_texts,
)
from core.collect.client import Question
from core.collect.prompts import FALLBACK_LANGUAGE, as_listed, listed_format
from core.domain import formats
from core.domain.factors import Filters
from core.domain.instrument import Instrument, Item, Option
from core.domain.numbers import count_text, percent_text
from core.domain.study import Certainty, Layer, Status
from core.domain.templates import PLACED, PromptTemplate
from core.store import answers, studies
from core.store import answers as store
from core.store import banks as bank_store
from core.store.answers import AnswerDetail, AttemptDetail, EarlierCoding
from core.store.audits import UnclearReply
from core.workflow.answers.readings import CERTAINTY_WORDS, HEDGED_WORDS, JUDGED_WORDS, YES
from core.workflow.prompts import shown_format, study_wordings
from core.workflow.workspace import Workspace

__all__ = ["AnswerDetail", "AttemptDetail", "EarlierCoding"]


# Answers row by row, and counts of their statuses.


@dataclass(frozen=True)
class ShownOption:
    """An option as a question showed it.

    `key` is the letter or number that the prompt gave it by its place; empty: none.
    """

    code: str
    label: str
    key: str = ""


STATUS_WORDS: Mapping[str, str] = {
    Status.ANSWERED: "answered",
    Status.EXPLAINED: "answered with explanation",
    Status.NEUTRAL: "neutral, non-committal",
    Status.REFUSED: "refused",
    Status.OFF_SCALE: "off the scale",
    Status.AMBIGUOUS: "ambiguous",
    Status.NO_ANSWER: "no answer",
    Status.TRUNCATED: "cut off",
    Status.ERROR: "error, no reply",
    Status.INVALID_CALL: "in an incomplete call",
    "not_asked": "not asked yet",
}


def answer_words(status: str, option: object) -> str:
    """An option with how it was given, or why there is none."""
    words = STATUS_WORDS.get(status, status)
    return f"{option} ({words})" if isinstance(option, str) else words


def unusable_words(statuses: Mapping[str, int]) -> str:
    """What the replies without a usable answer came to, with counts; empty where there is none."""
    return ", ".join(
        f"{n:,} {STATUS_WORDS.get(status, status)}"
        for status, n in statuses.items()
        if not Status(status).usable
    )


def overview(workspace: Workspace, study: str) -> pd.DataFrame:
    """By respondent: trials planned, usable answers (`n`), the others (`missing`), each status."""
    return status_table(status_counts(workspace, study, ["respondent"]), ["respondent"])


def status_counts(workspace: Workspace, study: str, by: Sequence[str]) -> pd.DataFrame:
    """How many trials have which status in each combination of the factors `by`."""
    record = studies.get(workspace.database, study)
    return store.counts(workspace.database, record.study_id, by)


def status_table(tally: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """By the factors `by`: trials planned, usable answers (`n`), the others, each status.

    `tally` may be by more factors than these. Columns bear the words of the statuses;
    `statuses_of` says which ones a column counts.
    """
    counts = tally.groupby([*by, "status"], as_index=False).agg({"count": "sum"})
    wide = _status_columns(counts, list(by))
    statuses = wide.drop(columns=list(by))
    usable = [STATUS_WORDS[status] for status in Status if status.usable]
    n = statuses[[word for word in usable if word in statuses]].sum(axis=1)
    planned = statuses.sum(axis=1)
    head = wide[list(by)].assign(planned=planned, n=n, missing=planned - n)
    return pd.concat([head, statuses], axis=1)


def status_shares(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """A status table with `asked`, and beside each status its percentage of the trials asked.

    The percentage stands in a column of the same name with ", %"; it is undefined where nothing
    has been asked yet.
    """
    waiting = STATUS_WORDS["not_asked"]
    asked = table["planned"] - table.get(waiting, 0)
    shown = table[[*by, "planned"]].assign(asked=asked)
    for name in table.columns.drop([*by, "planned"]):
        shown[name] = table[name]
        if name not in ("n", waiting):
            shown[share_column(name)] = (100 * table[name] / asked).where(asked > 0)
    return shown


def share_column(name: str) -> str:
    """The column of percentages of the trials that another column counts."""
    return f"{name}, %"


SHARES: Mapping[str, str] = {
    share_column(name): name for name in (*STATUS_WORDS.values(), "missing")
}
"""Columns of percentages -> the columns that count their trials."""


def statuses_of(column: str) -> tuple[str, ...]:
    """The statuses that a column of a status table counts; empty where it counts all trials."""
    word = SHARES.get(column, column)
    usable = tuple(str(status) for status in Status if status.usable)
    groups = {
        "n": usable,
        "missing": tuple(status for status in STATUS_WORDS if status not in usable),
        "asked": tuple(status for status in STATUS_WORDS if status != "not_asked"),
    }
    return groups.get(word) or tuple(s for s, words in STATUS_WORDS.items() if words == word)


def _status_columns(counts: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Statuses as columns, in their usual order and by their words."""
    order = [status for status in STATUS_WORDS if status in set(counts["status"])]
    wide = counts.pivot(index=by, columns="status", values="count").fillna(0).astype(int)
    wide = wide[order].rename(columns=dict(STATUS_WORDS))
    return wide.reset_index().rename_axis(columns=None)


def levels(workspace: Workspace, study: str) -> dict[str, list[Any]]:
    """What each varying factor of a study takes, and its items; for filters."""
    every = all_levels(workspace, study)
    return {
        name: values
        for name, values in every.items()
        if name == "item" or (len(values) > 1 and name != "option")
    }


def all_levels(workspace: Workspace, study: str) -> dict[str, list[Any]]:
    """What each factor of a study takes, also where it takes one value; items and options too."""
    return store.levels(workspace.database, studies.get(workspace.database, study).study_id)


def asked_items(workspace: Workspace, study: str) -> tuple[str, ...]:
    """The codes of the items that a study asks, in the order of the bank."""
    return store.asked_items(
        workspace.database, studies.frozen_study(workspace.database, study).study_id
    )


def reading_levels(workspace: Workspace, study: str) -> dict[str, list[str]]:
    """What the filters certainty, layer, hedged and judge take in a study, in their usual order."""
    return store.reading_levels(workspace.database, studies.get(workspace.database, study).study_id)


def reading_counts(
    workspace: Workspace, study: str, by: Sequence[str] = ("respondent",)
) -> pd.DataFrame:
    """By the factors `by`: the answers, and how many of them were read how.

    The columns are `answers`, `certain`, `likely`, `guess`, `person`, `judged`, `unknown` and
    `hedged`.
    """
    record = studies.get(workspace.database, study)
    return store.reading_counts(workspace.database, record.study_id, by)


READING_FILTERS: Mapping[str, Filters] = {
    **{CERTAINTY_WORDS[one]: {"certainty": [str(one)]} for one in Certainty},
    HEDGED_WORDS: {"hedged": [YES]},
    JUDGED_WORDS: {"layer": [str(Layer.JUDGE)]},
    "person": {"layer": [str(Layer.PERSON)]},
}
"""Columns that say how answers were read -> filters of the answers that a column counts."""


def with_readings(table: pd.DataFrame, counts: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """A status table with columns after `n` that say how these answers were read.

    `counts` are the `reading_counts` by the same factors. A column without answers is left out.
    """
    words = counts.rename(columns={"hedged": HEDGED_WORDS})
    columns = [name for name in READING_FILTERS if words[name].any()]
    joined = table[list(by)].merge(words[[*by, *columns]], on=list(by), how="left")
    place = list(table).index("n") + 1
    read = joined[columns].fillna(0).astype(int).set_axis(table.index)
    return pd.concat([table.iloc[:, :place], read, table.iloc[:, place:]], axis=1)


def page(
    workspace: Workspace,
    study: str,
    filters: Filters,
    search: str,
    *,
    offset: int = 0,
    limit: int = 50,
) -> tuple[pd.DataFrame, int]:
    """Some answers that pass the filters, and how many pass.

    `item_text` is the item as it was asked, and `label` the chosen option, both in the language of
    the question; empty where the bank does not have them.
    """
    record = studies.get(workspace.database, study)
    rows, total = store.page(
        workspace.database, record.study_id, filters, search, offset=offset, limit=limit
    )
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    asked = set(rows["item"])
    items = {item.code: item for item in bank.items if item.code in asked}
    trials: list[Any] = list(rows.itertuples())
    return rows.assign(
        item_text=[_item_text(bank, items[row.item], row) for row in trials],
        label=[_label(bank, row) for row in trials],
    ), total


def status_tally(workspace: Workspace, study: str, filters: Filters, search: str) -> dict[str, int]:
    """How many of the trials that pass the filters have which status, in the usual order."""
    record = studies.get(workspace.database, study)
    tally = store.statuses(workspace.database, record.study_id, filters, search)
    return {status: tally[status] for status in STATUS_WORDS if status in tally}


def item_texts(workspace: Workspace, study: str) -> dict[str, str]:
    """The wording of each item in the first language that has one; empty where there is none."""
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    texts = {item.code: next((w.text for w in item.wordings), "") for item in bank.items}
    return {code: text for code, text in texts.items() if text}


def option_labels(workspace: Workspace, study: str) -> dict[str, str]:
    """The labels of each option in the bank's first language, over all formats of the bank."""
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    labels: dict[str, dict[str, None]] = {}
    for option in (option for known in bank.formats for option in known.options):
        label = next((option.labels[k] for k in bank.languages if option.labels.get(k)), "")
        labels.setdefault(option.code, {})[label] = None
    return {code: " / ".join(filter(None, known)) for code, known in labels.items()}


def _item_text(bank: Instrument, item: Item, trial: Any) -> str:
    """The text of the item with the names of the trial's entities in it."""
    response_format = bank.format(trial.format)
    text = item.text(trial.language, trial.form, response_format.mood if response_format else "")
    return formats.name_entities_in(text, trial.entity, trial.entity_b)


def _label(bank: Instrument, trial: Any) -> str:
    """How the option of a trial reads in its language."""
    response_format = bank.format(trial.format)
    option = response_format.option(trial.option) if response_format and trial.option else None
    label = option.labels.get(trial.language, "") if option else ""
    return formats.name_entities_in(label, trial.entity, trial.entity_b)


def detail(workspace: Workspace, trial_id: int) -> AnswerDetail | None:
    """One answer in full: prompt as sent, every attempt, what was read."""
    return answers.detail(workspace.database, trial_id)


def options_shown(workspace: Workspace, answer: AnswerDetail) -> tuple[ShownOption, ...]:
    """The options of a question as they were shown, in the language of the instructions.

    Empty for a question that asks for a text, and where the bank does not know its format.
    """
    record = studies.get(workspace.database, answer.study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    templates = study_wordings(workspace, record.study_id).templates
    return listed_options(bank, templates, answer)


def listed_options(
    bank: Instrument, templates: Mapping[str, PromptTemplate], answer: AnswerDetail | UnclearReply
) -> tuple[ShownOption, ...]:
    """As `options_shown`, from the bank and the templates of the study."""
    response_format = bank.format(answer.format)
    if response_format is None:
        return ()
    entities = (answer.entity, answer.entity_b)
    shown = shown_format(
        response_format, answer.label_order, answer.option_order or None, entities=entities
    )
    question = Question((), shown, answer.language, instructions=answer.language)
    template = templates.get(answer.template)
    if template is not None:
        question = as_listed(question, template)
    named = listed_format(question).options if question.listing in PLACED else ()
    keys = [option.code for option in named] or [""] * len(shown.options)
    return tuple(
        ShownOption(option.code, _shown_label(option, question.instructions), key)
        for option, key in zip(shown.options, keys, strict=True)
    )


def _shown_label(option: Option, language: str) -> str:
    """The label in the language of the instructions, or in English where there is none."""
    return option.labels.get(language) or option.labels.get(FALLBACK_LANGUAGE, "")


def option_label(workspace: Workspace, answer: AnswerDetail) -> str:
    """How the chosen option read in the language of the question; empty where not known."""
    options = options_shown(workspace, answer)
    return next((option.label for option in options if option.code == answer.option), "")


# The chart of the statuses by respondent.

_MAX_BARS = 30
_USABLE = tuple(STATUS_WORDS[status] for status in Status if status.usable)
_CHARACTER_WIDTH = 0.011  # share of the width that a letter of a label takes, roughly


def status_chart(overview: pd.DataFrame, *, theme: Theme = "light") -> Chart:
    """100 % bars of the statuses of each respondent's trials, from `answers.overview`.

    Missing answers are grey with a dashed outline; segments with room for it carry their name.
    """
    statuses = [name for name in overview.columns if name in STATUS_WORDS.values()]
    shown = overview.head(_MAX_BARS)
    table = shown.melt("respondent", statuses, "status", "count")
    planned = dict(zip(shown["respondent"], shown["planned"], strict=True))
    table = table[table["count"] > 0].assign(planned=lambda t: t["respondent"].map(planned))
    table["share"] = table["count"] / table["planned"]
    words = _chart_words(overview)
    drawn = _bar_segments(table, theme)
    return Chart(
        "Status by respondent", _status_spec(drawn, theme), words, table.reset_index(drop=True)
    )


def _bar_segments(table: pd.DataFrame, theme: Theme) -> pd.DataFrame:
    """Where each segment starts and ends, with its color and label."""
    end = table.groupby("respondent", sort=False)["share"].cumsum().clip(upper=1)
    missing = ~table["status"].isin(_USABLE)
    greys = STATUS_GREYS[theme]
    kinds = list(dict.fromkeys(table.loc[missing, "status"]))
    fills = dict(zip(_USABLE, GROUP_COLORS[theme], strict=False))
    fills |= {word: greys[number % len(greys)] for number, word in enumerate(kinds)}
    room = table["share"] > table["status"].str.len() * _CHARACTER_WIDTH
    fill = table["status"].map(fills)
    return table.assign(
        start=(end - table["share"]).clip(lower=0),
        end=end,
        missing=missing,
        fill=fill,
        ink=fill.map(readable_on),
        label=table["status"].where(room, ""),
    )


def _status_spec(drawn: pd.DataFrame, theme: Theme) -> Any:
    respondents = list(dict.fromkeys(drawn["respondent"]))
    base = alt.Chart(drawn).encode(
        y=alt.Y("respondent:N", title=None, sort=respondents, axis=alt.Axis(labelLimit=240))
    )
    labelled = with_number_texts(base, "share", decimals=1, percent=True)
    bars = labelled.mark_bar(strokeWidth=1.5).encode(
        x=alt.X(
            "start:Q",
            title="Share of all trials",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2="end:Q",
        color=alt.Color("fill:N", scale=None),
        strokeDash=alt.condition(alt.datum.missing, alt.value([3, 2]), alt.value([1, 0])),
        stroke=alt.condition(
            alt.datum.missing, alt.value(INK[theme]), alt.value(BACKGROUNDS[theme])
        ),
        tooltip=[
            alt.Tooltip("respondent:N", title="Respondent"),
            alt.Tooltip("status:N", title="Status"),
            alt.Tooltip("count:Q", title="Trials", format=","),
            number_tip("share", "Share"),
        ],
    )
    labels = base.transform_calculate(middle=(alt.datum.start + alt.datum.end) / 2).mark_text(
        fontSize=11
    )
    labels = labels.encode(
        x=alt.X("middle:Q", title="Share of all trials"),
        text="label:N",
        color=alt.Color("ink:N", scale=None),
    )
    return alt.layer(bars, labels).properties(height=alt.Step(30), width="container")


def _chart_words(overview: pd.DataFrame) -> str:
    """What the bars say."""
    planned, n = int(overview["planned"].sum()), int(overview["n"].sum())
    statuses = [name for name in overview.columns if name in STATUS_WORDS.values()]
    parts = ", ".join(f"{name} {int(overview[name].sum()):,}" for name in statuses)
    cut = ""
    if len(overview) > _MAX_BARS:
        cut = f" Only the first {_MAX_BARS} respondents are drawn; the table has all."
    return (
        f"Stacked bars of {count_text(planned, 'trial')} by "
        f"{count_text(len(overview), 'respondent')}: {parts}. "
        f"{percent_text(n / planned if planned else 0, 1)} are usable.{cut}"
    )

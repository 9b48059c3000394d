"""Explore: any measure of a study, crossed with up to three factors and counted in the database."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.registry import ComparedFactor
from core.analysis.kit.scores import level_name, level_sort_key
from core.domain.attributes import is_attribute
from core.domain.factors import DERIVED, grouping_title, is_person_fact
from core.domain.numbers import count_text, number_text
from core.domain.results import ResultTable, Unit
from core.domain.study import FACTORS, LEAVE_OUT, SETTINGS
from core.domain.tables import count, factor_columns, high_end, low_end, number, remark, text
from core.errors import NotEnoughData
from core.export import DECIMALS
from core.stats.distributions import clustered_share_interval
from core.stats.groups import Summary, mean_interval
from core.stats.inputs import name_list
from core.stats.repeatability import entropies
from core.store import answers, studies
from core.store import explore as store
from core.store.explore import FACTORS_AND_ITEMS, AttemptNumber
from core.workflow import saved_inputs
from core.workflow.answers import browsing
from core.workflow.designs import studies as studies_designs
from core.workflow.statistics import analyses, item_attributes, left_out, person_facts, roles
from core.workflow.workspace import Workspace

__all__ = ["FACTORS_AND_ITEMS"]

# The measures.

_MEAN_INTERVAL = "95% interval of the mean by Student's t, with an error robust to clusters."
_SHARE_INTERVAL = (
    "95% interval of the share by Wilson on the effective number of answers (Franco and others, "
    "2019, doi:10.1093/jssam/smy019)."
)


@dataclass(frozen=True)
class Measure:
    """A number that the page Explore counts for each combination of levels.

    `n_help` and `missing_help` say what the counts beside the number are; `interval` says how its
    interval is computed and is empty where there is none.
    """

    code: str
    title: str
    unit: Unit
    help: str
    n_help: str
    missing_help: str
    interval: str = ""
    attempt_number: AttemptNumber | None = None
    total_title: str = ""
    per: int = 1  # attempts

    @property
    def of_option(self) -> bool:
        """Whether the measure is of one answer option."""
        return self.code == "option_share"


_ATTEMPTS_N = "Attempts (sendings of a call) with this number on file."
_ATTEMPTS_MISSING = "Attempts without this number, such as those without a reply."
_SHARED_CALL = " An attempt at several items counts once in every row whose items it asks."

MEASURES: tuple[Measure, ...] = (
    Measure(
        "mean_score",
        "Mean score",
        "points",
        "Mean of the score points after reverse-keying. Answers without points are left out.",
        "Answers with a score.",
        "Planned answers without a score.",
        _MEAN_INTERVAL,
    ),
    Measure(
        "option_share",
        "Share of an option",
        "proportion",
        "Answers that chose the option / answers that chose any option.",
        "Answers that chose an option.",
        "Planned answers without an option.",
        _SHARE_INTERVAL,
    ),
    Measure(
        "usable",
        "Share usable",
        "proportion",
        "Replies with an option or a score / questions asked. An error counts as asked.",
        "Questions asked.",
        "Planned questions not asked yet, and answers left out.",
        _SHARE_INTERVAL,
    ),
    Measure(
        "refused",
        "Share refused",
        "proportion",
        "Replies that refuse to answer / questions asked. An error counts as asked.",
        "Questions asked.",
        "Planned questions not asked yet, and answers left out.",
        _SHARE_INTERVAL,
    ),
    Measure(
        "entropy",
        "Entropy of the options",
        "none",
        "How evenly the answers of a row spread over the options, in bits: −Σ p log2 p of their "
        "shares. 0: every answer is the same option. The most is log2 of the number of options "
        "(2.32 for five). Answers to several items are pooled; choose Item as a factor to see each "
        "item. Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x",
        "Answers that chose an option.",
        "Planned answers without an option.",
    ),
    Measure(
        "tokens_in",
        "Tokens of the prompt",
        "none",
        "Mean number of tokens of a prompt, as the service counts them." + _SHARED_CALL,
        _ATTEMPTS_N,
        _ATTEMPTS_MISSING,
        _MEAN_INTERVAL,
        "tokens_in",
        "Tokens in total",
    ),
    Measure(
        "tokens_out",
        "Tokens of the reply",
        "none",
        "Mean number of tokens of a reply, reasoning included, as the service counts them."
        + _SHARED_CALL,
        _ATTEMPTS_N,
        _ATTEMPTS_MISSING,
        _MEAN_INTERVAL,
        "tokens_out",
        "Tokens in total",
    ),
    Measure(
        "latency",
        "Latency (s)",
        "none",
        "Mean seconds from sending to the reply, of attempts with a reply." + _SHARED_CALL,
        _ATTEMPTS_N,
        _ATTEMPTS_MISSING,
        _MEAN_INTERVAL,
        "latency_s",
    ),
    Measure(
        "cost",
        "Cost of 1,000 attempts (US$)",
        "none",
        "1,000 times the mean cost of an attempt in US dollars, by the prices of the respondent."
        + _SHARED_CALL,
        _ATTEMPTS_N,
        _ATTEMPTS_MISSING,
        _MEAN_INTERVAL,
        "cost",
        "US$ in total",
        1000,
    ),
)


def measure_of(code: str) -> Measure:
    """The measure with this code."""
    for measure in MEASURES:
        if measure.code == code:
            return measure
    raise NotEnoughData(
        f"There is no measure '{code}'.", f"Use: {', '.join(m.code for m in MEASURES)}."
    )


# Views, as the address of the page and the study hold them.

MOST_CELLS = 5000
"""More combinations of levels are refused: nobody reads them."""
_ROLES = ("axis", "color", "panel")
_ADDRESS_NAMES = ("measure", "option", *_ROLES)


@dataclass(frozen=True)
class View:
    """A measure crossed with up to three factors, of the answers with some levels.

    `color` and `panel` may be empty. `where` has the levels of each factor as text, and for
    LEAVE_OUT the kinds of answers that count as missing.
    """

    measure: str
    axis: str
    color: str = ""
    panel: str = ""
    option: str = ""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors in order of the rows: panel, axis, color."""
        return tuple(name for name in (self.panel, self.axis, self.color) if name)

    @property
    def address(self) -> dict[str, list[str]]:
        """The view as parameters of an address; `view_from_address` reads them."""
        named = {name: [str(getattr(self, name))] for name in _ADDRESS_NAMES if getattr(self, name)}
        return named | {name: list(levels) for name, levels in self.where.items() if levels}


def view_from_address(address: Mapping[str, Sequence[str]]) -> View | None:
    """The view that an address names; None where it names no measure and no axis.

    Raises
    ------
    NotEnoughData
        The measure, a factor or a kind of answers is unknown, or a factor is named twice.
    """
    named = {name: str(address[name][0]) for name in _ADDRESS_NAMES if address.get(name)}
    if "measure" not in named or "axis" not in named:
        return None
    where = {
        name: tuple(map(str, levels))
        for name, levels in address.items()
        if levels and (name == LEAVE_OUT or is_factor(name))
    }
    view = View(**named, where=where)
    _check(view)
    return view


def is_factor(name: str) -> bool:
    """Whether a view can have this on an axis or in a filter, if the study has it."""
    return name in FACTORS_AND_ITEMS or is_attribute(name) or is_person_fact(name)


def _check(view: View) -> None:
    """Refuse unknown measures, options and factors, and a factor in two places."""
    measure = measure_of(view.measure)
    left_out.require_kinds(view.where.get(LEAVE_OUT, ()))
    for name in (*view.factors, *(name for name in view.where if name != LEAVE_OUT)):
        if not is_factor(name):
            raise NotEnoughData(
                f"There is no factor '{name}'.",
                f"Use: {', '.join(FACTORS_AND_ITEMS)}, a fact such as person.gender, or an "
                "attribute such as item.genre.",
            )
    if not view.axis or len(set(view.factors)) < len(view.factors):
        raise NotEnoughData(
            "A view needs a factor on its axis, and each factor once.", "Choose another factor."
        )
    if measure.of_option and not view.option:
        raise NotEnoughData("The share of an option needs an option.", "Choose an option.")


def save_view(workspace: Workspace, study: str, view: View) -> None:
    """Save the view with the study."""
    saved_inputs.save(workspace, _saved_name(study), view.address)


def saved_view(workspace: Workspace, study: str) -> View | None:
    """The view last saved with the study; None where there is none that can be used."""
    saved = saved_inputs.load(workspace, _saved_name(study))
    if saved is None or not isinstance(saved.value, dict):
        return None
    try:
        return view_from_address(saved.value)
    except NotEnoughData:  # a measure or factor of another version of Inkblot
        return None


def _saved_name(study: str) -> str:
    return f"explore:{study}"


# What a study offers, and the view that it opens with.

_MOST_ON_AXIS = 30
_MOST_IN_COLORS = 6
_SIDE_BY_SIDE = (
    "format",
    "language",
    "form",
    "label_order",
    "template",
    "respondent",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
)
"""Factors that are not pooled at first, the most important first."""
_SUBSCALE_AS_ATTRIBUTE = "item.subscale"  # offered as subscale


def levels_of_factors(workspace: Workspace, study: str) -> dict[str, list[Any]]:
    """The levels of every factor that varies, of item, subscale, facts and attributes, in order."""
    record = studies.frozen_study(workspace.database, study)
    levels = browsing.levels(workspace, study)
    items = levels.pop("item")
    levels.pop("tries", None)
    subscales = store.subscales(workspace.database, record.study_id)
    return {
        **{name: sorted(values, key=level_sort_key) for name, values in levels.items()},
        "item": items,
        **({"subscale": subscales} if len(subscales) > 1 else {}),
        **person_facts.levels(workspace, study),
        **{
            name: values
            for name, values in item_attributes.attribute_levels(workspace, study).items()
            if name != _SUBSCALE_AS_ATTRIBUTE
        },
    }


def options_of(workspace: Workspace, study: str) -> dict[str, str]:
    """The code of every answer option of a study with its label in the first language, if any."""
    record = studies.frozen_study(workspace.database, study)
    bank = studies_designs.frozen_bank(workspace, study)
    language = next(iter(record.design.levels("languages")), "")
    labels: dict[str, str] = {}
    offered = store.offered_options(workspace.database, record.study_id)
    for name, code in offered[["format", "code"]].itertuples(index=False):
        response_format = bank.format(name)
        options = response_format.options if response_format else ()
        label = next((o.labels.get(language, "") for o in options if o.code == code), "")
        labels[code] = labels.get(code) or label
    return labels


def default_view(workspace: Workspace, study: str) -> View:
    """The mean score, or the share usable where nothing is scored, by item.

    Where there are more items than a chart shows at a glance, the factor with the most levels that
    fit takes their place. Formats, languages, forms and orders of options that vary are colors and
    panels.
    """
    record = studies.frozen_study(workspace.database, study)
    levels = levels_of_factors(workspace, study)
    counts = store.scores(workspace.database, record.study_id, ("format",), {})
    measure = "mean_score" if counts["n"].sum() else "usable"
    varying = [name for name in _SIDE_BY_SIDE if 1 < len(levels.get(name, ())) <= _MOST_IN_COLORS]
    color, panel = [*varying, "", ""][:2]
    free = {
        name: len(values)
        for name, values in levels.items()
        if name not in (color, panel, "model", *DERIVED)
        and len(values) <= _MOST_ON_AXIS
        and not is_attribute(name)
        and not is_person_fact(name)
    }
    axis = "item" if "item" in free or not free else max(free, key=lambda name: free[name])
    return View(measure, axis, color, panel)


# Counting.

_FORMATS_REASON = (
    "Several answer formats, whose options differ: choose format as a factor, or filter by it."
)
_Row = Mapping[str, Any]


@dataclass(frozen=True)
class _ViewCell:
    """The numbers of one combination of levels, and why one is undefined."""

    value: float
    ci_low: float
    ci_high: float
    n: int
    missing: int
    remark: str = ""


def count_view(workspace: Workspace, study: str, view: View) -> ResultTable:
    """The measure of a view, a row for each combination of levels that the study has.

    The columns are the factors (panel, axis, color), `value`, `ci_low` and `ci_high` where the
    measure has an interval, `n`, `missing`, `units` and `unit` of the interval (see
    `interval_words`), `total` where the measure has a sum, and `remark`, which says why a number is
    undefined (NaN).

    Raises
    ------
    NotEnoughData
        The measure or a factor is unknown, no planned answers pass the filters, there are more
        than `MOST_CELLS` combinations, or answers are to be left out of a measure of attempts.
    """
    _check(view)
    item_attributes.require_attributes(workspace, [study], (*view.factors, *view.where))
    person_facts.require_facts(workspace, [study], view.where)
    measure = measure_of(view.measure)
    if measure.attempt_number:
        left_out.refuse(view.where, "attempts")
    counts = _read(workspace, study, measure, view)
    if counts.empty:
        raise NotEnoughData(
            "No attempts are on file for these answers."
            if measure.attempt_number
            else "No planned answers pass these filters.",
            "Choose another study, or fewer filters.",
        )
    factors = list(view.factors)
    if len(counts.drop_duplicates(factors)) > MOST_CELLS:
        raise NotEnoughData(
            f"This view has more than {count_text(MOST_CELLS, 'combination')} of levels.",
            "Choose fewer factors, or filter their levels.",
        )
    frame = _in_order(workspace, study, _cells(measure, factors, counts), factors)
    columns = [*factor_columns(factors)]
    named = name_list([grouping_title(name).lower() for name in factors])
    columns.append(number("value", _value_title(measure, view), measure.unit, measure.help))
    if measure.interval:
        columns += [
            low_end("ci_low", "From", measure.unit, measure.interval),
            high_end("ci_high", "To", measure.unit, measure.interval),
        ]
    columns += [
        count("n", "n", measure.n_help),
        count("missing", "Missing", measure.missing_help),
    ]
    if measure.interval:
        words = {
            **_UNIT_WORDS,
            "context": roles.people_words(workspace, [study]) or "contexts",
            "answer": "attempts" if measure.attempt_number else "answers",
        }
        frame = frame.assign(unit=frame["unit"].map(words))
        columns += [
            count("units", "Units", "Contexts, or whatever else the interval is computed from."),
            text("unit", "Unit", "What the interval takes as independent."),
        ]
    if measure.total_title:
        columns.append(number("total", measure.total_title, help="Sum over the attempts of n."))
    columns.append(remark("Why a number of the row is undefined."))
    return ResultTable(
        measure.code,
        f"{_value_title(measure, view)} by {named}",
        frame[[column.name for column in columns]],
        tuple(columns),
    )


def left_out_notes(workspace: Workspace, study: str, view: View) -> tuple[str, ...]:
    """How many of the answers that pass the filters a view leaves out, by kind; none without it."""
    own = {"subscale": _SUBSCALE_AS_ATTRIBUTE}
    where = {own.get(name, name): list(levels) for name, levels in view.where.items() if levels}
    return left_out.notes(workspace, [study], where)


def _read(workspace: Workspace, study: str, measure: Measure, view: View) -> pd.DataFrame:
    """What the database counts for the measure: a row for each combination of levels."""
    database = workspace.database
    study_id = studies.frozen_study(database, study).study_id
    facts = person_facts.fact_columns(workspace, [study], view.factors)
    columns = {column.name: column for column in facts}
    factors = [columns.get(name, name) for name in view.factors]
    if measure.attempt_number:
        return store.attempts(database, study_id, factors, view.where, measure.attempt_number)
    if measure.code == "mean_score":
        return store.scores(database, study_id, factors, view.where)
    if measure.code == "entropy":
        counts = store.chosen_options(database, study_id, factors, view.where)
        return _option_counts(counts, list(view.factors))
    if measure.of_option:
        offered = store.offered_options(database, study_id)
        offering = offered.loc[offered["code"] == view.option, "format"].tolist()
        return store.chosen_shares(database, study_id, factors, view.where, view.option, offering)
    kind: Literal["usable", "refused"] = "usable" if measure.code == "usable" else "refused"
    return store.status_shares(database, study_id, factors, view.where, kind)


def _cells(measure: Measure, factors: list[str], counts: pd.DataFrame) -> pd.DataFrame:
    """A row for each combination of levels with all numbers of the measure."""
    compute: Callable[[_Row], _ViewCell]
    if measure.code == "entropy":
        compute = _entropy
    elif measure.unit == "proportion":
        compute = _share_of_option if measure.of_option else _share_of_status
    elif measure.attempt_number:
        compute = _mean_of_attempts(measure.per)
    else:
        compute = _mean_score
    rows = [vars(compute({str(k): v for k, v in row.items()})) for row in counts.to_dict("records")]
    more = [name for name in ("unit", "units", "total") if name in counts]
    return counts[[*factors, *more]].join(pd.DataFrame(rows))


def _undefined(n: int, missing: int, remark: str) -> _ViewCell:
    return _ViewCell(math.nan, math.nan, math.nan, n, missing, remark)


_ALIKE = 1e-12
"""Means of clusters that differ by no more than this part of them differ by rounding alone."""


def _mean(row: _Row, noun: str, per: int = 1) -> _ViewCell:
    """A mean with its interval, from what the database gives."""
    n, missing, units = int(row["n"]), int(row["planned"] - row["n"]), int(row["units"])
    if not n:
        return _undefined(0, missing, f"No {noun}.")
    mean, error = per * row["mean"], per * row["error"]
    no_interval = ""
    if n < 2:
        no_interval = f"One {noun}: no interval."
    elif row["same"]:
        no_interval = f"Every {noun} is the same: no interval."
    elif error <= _ALIKE * abs(mean):
        no_interval = f"The means of all {_UNIT_WORDS[row['unit']]} are the same: no interval."
    if no_interval:
        return _ViewCell(mean, math.nan, math.nan, n, missing, no_interval)
    low, high = mean_interval(Summary(mean, error * math.sqrt(units), units))
    return _ViewCell(mean, low, high, n, missing)


def _mean_score(row: _Row) -> _ViewCell:
    if row["n_ranges"] > 1:
        return _undefined(int(row["n"]), int(row["planned"] - row["n"]), _FORMATS_REASON)
    return _mean(row, "score")


def _mean_of_attempts(per: int) -> Callable[[_Row], _ViewCell]:
    return lambda row: _mean(row, "number of an attempt", per)


_interval_of_share = lru_cache(maxsize=4096)(clustered_share_interval)
"""Rows of a view often have the same counts."""


def _share(row: _Row, nothing: str) -> _ViewCell:
    n, missing = int(row["n"]), int(row["planned"] - row["n"])
    if not n:
        return _undefined(0, missing, nothing)
    share = float(row["mean"])
    low, high = _interval_of_share(share, n, float(row["error"]), int(row["units"]))
    return _ViewCell(share, low, high, n, missing)


def _share_of_status(row: _Row) -> _ViewCell:
    return _share(row, "No question is asked yet.")


def _share_of_option(row: _Row) -> _ViewCell:
    n, missing = int(row["n"]), int(row["planned"] - row["n"])
    if row["n_formats"] > 1:
        return _undefined(n, missing, _FORMATS_REASON)
    if row["n_without"]:
        return _undefined(n, missing, "The answer format does not have this option.")
    return _share(row, "No answer chose an option.")


def _option_counts(counts: pd.DataFrame, factors: list[str]) -> pd.DataFrame:
    """A row for each combination of levels, with its counts of answers.

    `n` chose an option, `planned` are all; `options` has the count of every option, and `n_formats`
    is the number of formats of the `n`.
    """
    usable = counts["chosen"].notna()
    own = counts[factors].assign(
        n=counts["count"].where(usable, 0),
        planned=counts["count"],
        used=counts["answer_format"].where(usable),
        options=counts["count"],
    )
    groups = own.groupby(factors, sort=False, dropna=False)
    summed = groups[["n", "planned"]].sum()
    options = own[usable].groupby(factors, sort=False, dropna=False)["options"].agg(list)
    return summed.assign(
        n_formats=groups["used"].nunique(), options=options.reindex(summed.index)
    ).reset_index()


def _entropy(row: _Row) -> _ViewCell:
    n, missing = int(row["n"]), int(row["planned"] - row["n"])
    if row["n_formats"] > 1:
        return _undefined(n, missing, _FORMATS_REASON)
    if not n:
        return _undefined(0, missing, "No answer chose an option.")
    bits = entropies(np.asarray(row["options"], dtype=np.float64), unit="bits")
    return _ViewCell(float(bits), math.nan, math.nan, n, missing)


# What is independent in the intervals of a view.

_UNIT_WORDS: Mapping[str, str] = {
    "context": "contexts",
    "respondent": "respondents",
    "repetition": "repetitions",
    "item": "items",
    "answer": "answers",
}
_HOLDS_FOR: Mapping[str, str] = {
    "people": "other people like these",
    "contexts": "other personas or conversations like these",
    "respondents": "other respondents like these",
    "repetitions": "asking these respondents the same again, and not for other respondents, "
    "contexts or items",
    "items": "other items like these, asked in the same way, and not for other respondents or "
    "contexts",
    "answers": "the same questions, asked in the same way",
    "attempts": "further attempts of the same kind",
}


def interval_words(table: ResultTable) -> str:
    """What the intervals of a view take as independent and hold for; empty where it has none."""
    if "unit" not in table.frame:
        return ""
    rows = table.frame[table.frame["ci_low"].notna()]["unit"].value_counts(sort=False)
    sentences = []
    for unit, n_rows in rows.items():
        where = "" if len(rows) == 1 else f" in {count_text(int(n_rows), 'row')}"
        alone = unit not in ("people", "contexts")
        sentences.append(
            f"Intervals take {unit} as independent{where}"
            f"{', as there is one context,' if alone else ''} and hold for {_HOLDS_FOR[str(unit)]}."
        )
    return " ".join(sentences)


def _in_order(
    workspace: Workspace, study: str, frame: pd.DataFrame, factors: Sequence[str]
) -> pd.DataFrame:
    """The rows in the order of the levels, which have their names."""
    levels = levels_of_factors(workspace, study)
    places = pd.DataFrame(
        {
            name: frame[name].map({level: k for k, level in enumerate(levels.get(name, ()))})
            for name in factors
        }
    )
    ordered = frame.loc[places.sort_values(list(factors), kind="stable").index]
    named = {name: ordered[name].map(level_name) for name in factors}
    return ordered.assign(**named).reset_index(drop=True)


def _value_title(measure: Measure, view: View) -> str:
    return f"Share of option {view.option}" if measure.of_option else measure.title


_OF_ONE_FORMAT = ("mean_score", "option_share", "entropy")
"""Measures that are undefined over several formats."""
_LONGEST_NAME = 40  # characters of a level in a sentence


def _name(level: object) -> str:
    """The level, or its beginning; text that runs from right to left turns nothing around it."""
    name = str(level)
    cut = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    return cut if name.isascii() else f"\u2068{cut}\u2069"


def answer(table: ResultTable, view: View) -> str:
    """The lowest and the highest row of a view in one sentence, with its counts.

    Points and options of several formats cannot be compared, so each format has its own.
    """
    frame = table.frame
    title = _value_title(measure_of(view.measure), view)
    unit = next(column.unit for column in table.columns if column.name == "value")
    counts = f"n = {frame['n'].sum():,}, missing {frame['missing'].sum():,}"
    known = frame.dropna(subset=["value"])
    if known.empty:
        return f"{title}: undefined in every row ({counts}). {frame['remark'].iloc[0]}"

    def named(place: Any) -> str:
        levels = {factor: _name(known.loc[place, factor]) for factor in view.factors}
        names = [f"repetition {k}" if name == "repetition" else k for name, k in levels.items()]
        return f"{number_text(known.loc[place, 'value'], DECIMALS[unit])} ({', '.join(names)})"

    if len(known) == 1:
        return f"{title}: {named(known.index[0])}; {counts}."
    texts = {number_text(value, DECIMALS[unit]) for value in known["value"]}
    if len(texts) == 1:
        return f"{title}: {texts.pop()} in every row; {counts}."
    apart = ["format"] if view.measure in _OF_ONE_FORMAT and "format" in view.factors else []
    parts = known.groupby(apart, sort=False) if apart else [((), known)]
    ranges = []
    for _, rows in parts:
        low, high = rows["value"].idxmin(), rows["value"].idxmax()
        ranges.append(named(low) if low == high else f"from {named(low)} to {named(high)}")
    return f"{title}: {'; '.join(ranges)}; {counts}."


def pooled_words(workspace: Workspace, study: str, view: View) -> str:
    """What is counted together behind every number of a view, as a sentence; empty for nothing."""
    n_levels = answers.n_levels(workspace.database, [study], FACTORS, view.where).iloc[0]
    apart = set(view.factors)
    if n_levels["n_model"] == n_levels["n_respondent"]:  # the one follows from the other
        apart |= {"respondent"} if "model" in apart else {"model"}
    people = roles.people_words(workspace, [study])
    together = [
        roles.FactorRole(
            name, "together", int(n_levels[f"n_{name}"]), people if name == "context" else ""
        )
        for name in FACTORS
        if name not in apart and n_levels[f"n_{name}"] > 1
    ]
    return roles.scope_words(together, of_scores=False)


# The analysis that goes on from a view.


@dataclass(frozen=True)
class FollowUp:
    """A registered analysis of the same answers, and the options that fit the view.

    `tests` says whether it tests a difference that the view shows.
    """

    analysis: str
    options: Mapping[str, Any]
    tests: bool


def follow_up(view: View, *, imported: bool) -> FollowUp | None:
    """The analysis that tests what a view shows, or shows more of it; None for numbers of attempts.

    Scores of a study that Inkblot asked are compared pair by pair where every context stands under
    each level, and as independent groups otherwise; `imported` answers are of independent people.
    """
    measure = measure_of(view.measure)
    if measure.attempt_number:
        return None
    factors = tuple(n for n in (view.axis, view.color, view.panel) if n not in ("", "subscale"))
    design_factors = tuple(name for name in factors if name != "item")
    if measure.code != "mean_score":
        return FollowUp("option_distribution", {"by": design_factors}, tests=False)
    if "item" in factors:
        candidates = ["dif"]
    elif imported:
        candidates = ["group_comparison"]
    else:
        candidates = ["score_correlations", "group_comparison"]
    for factor in design_factors:
        for name in candidates:
            option = analyses.by_name(name).factor_option
            if _is_compared_by(name, factor):
                apart = dict.fromkeys((*design_factors, "respondent"))  # models are not pooled
                by = tuple(other for other in apart if other != factor)
                return FollowUp(name, {option: factor, "by": by}, tests=True)
    shown = "item_statistics" if "item" in factors else "score_distribution"
    return FollowUp(shown, {"by": design_factors}, tests=False)


def _is_compared_by(name: str, factor: str) -> bool:
    """Whether an analysis goes on from a factor: one that it takes unasked, or a fact of people."""
    kinds = [o.kind for o in analyses.by_name(name).options]
    first = [one for kind in kinds if isinstance(kind, ComparedFactor) for one in kind.first]
    return factor in first or (is_person_fact(factor) and name != "score_correlations")


def save_follow_up(workspace: Workspace, study: str, follow: FollowUp) -> None:
    """Save the options with the study, where the page of the analysis finds them."""
    analysis = analyses.by_name(follow.analysis)
    for name, value in follow.options.items():
        analyses.save_option(workspace, study, analysis, name, value)


def replies_of_row(view: View, table: ResultTable, row: int | None) -> dict[str, list[str]]:
    """The filters of the replies behind one row, or (None) behind all rows of a view.

    A subscale is named as an attribute of items.
    """
    levels = {} if row is None else {n: str(table.frame[n].iloc[row]) for n in view.factors}
    of_row = {name: ["" if level == level_name("") else level] for name, level in levels.items()}
    filters = {name: list(values) for name, values in view.where.items() if name != LEAVE_OUT}
    named = {"subscale": _SUBSCALE_AS_ATTRIBUTE}
    return {named.get(name, name): values for name, values in {**filters, **of_row}.items()}

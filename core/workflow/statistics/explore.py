"""Explore: any measure of a study, crossed with up to three factors and counted in the database."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.registry import ComparedFactor
from core.analysis.kit.scores import level_name, level_sort_key
from core.domain.attributes import is_attribute
from core.domain.factors import grouping_title, is_of_context, is_person_fact
from core.domain.numbers import count_text, number_text
from core.domain.results import ResultTable, Unit
from core.domain.study import LEAVE_OUT, SETTINGS
from core.domain.tables import count, factor_columns, high_end, low_end, number, remark
from core.errors import NotEnoughData
from core.export import DECIMALS
from core.stats.distributions import wilson_interval
from core.stats.groups import Summary, mean_interval
from core.stats.inputs import name_list
from core.stats.repeatability import entropies
from core.store import explore as store
from core.store import studies
from core.store.explore import FACTORS_AND_ITEMS, AttemptNumber
from core.workflow import saved_inputs
from core.workflow.answers import browsing
from core.workflow.designs import studies as studies_designs
from core.workflow.statistics import analyses, item_attributes, left_out, person_facts
from core.workflow.workspace import Workspace

__all__ = ["FACTORS_AND_ITEMS"]

# The measures.

_MEAN_INTERVAL = "95% interval of the mean by Student's t"
_SHARE_INTERVAL = "95% interval of the share by Wilson (1927) doi:10.1080/01621459.1927.10502953"
_OF_ANSWERS = (
    ". It takes the answers as independent. Answers of one respondent are not, so the interval is "
    "a guide; an analysis tests a difference."
)
_OF_ATTEMPTS = ". It takes the attempts as independent."


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
        _MEAN_INTERVAL + _OF_ANSWERS,
    ),
    Measure(
        "option_share",
        "Share of an option",
        "proportion",
        "Answers that chose the option / answers that chose any option.",
        "Answers that chose an option.",
        "Planned answers without an option.",
        _SHARE_INTERVAL + _OF_ANSWERS,
    ),
    Measure(
        "usable",
        "Share usable",
        "proportion",
        "Replies with an option or a score / questions asked. An error counts as asked.",
        "Questions asked.",
        "Planned questions not asked yet, and answers left out.",
        _SHARE_INTERVAL + _OF_ANSWERS,
    ),
    Measure(
        "refused",
        "Share refused",
        "proportion",
        "Replies that refuse to answer / questions asked. An error counts as asked.",
        "Questions asked.",
        "Planned questions not asked yet, and answers left out.",
        _SHARE_INTERVAL + _OF_ANSWERS,
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
        _MEAN_INTERVAL + _OF_ATTEMPTS,
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
        _MEAN_INTERVAL + _OF_ATTEMPTS,
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
        _MEAN_INTERVAL + _OF_ATTEMPTS,
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
        _MEAN_INTERVAL + _OF_ATTEMPTS,
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
        if levels and (name == LEAVE_OUT or is_factor(name) or is_of_context(name))
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
        if not is_factor(name) and not (name in view.where and is_of_context(name)):
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
        if name not in (color, panel, "model")
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
    measure has an interval, `total` where it has a sum, `n`, `missing`, and `remark`, which says
    why a number is undefined (NaN).

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
    record = studies.frozen_study(workspace.database, study)
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
    cells = _cells(workspace, record.study_id, measure, view, counts)
    frame = _in_order(workspace, study, cells, factors)
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
    """What the database counts for the measure."""
    study_id = studies.frozen_study(workspace.database, study).study_id
    facts = person_facts.fact_columns(workspace, [study], view.factors)
    columns = {column.name: column for column in facts}
    factors = [columns.get(name, name) for name in view.factors]
    if measure.attempt_number:
        return store.attempts(
            workspace.database, study_id, factors, view.where, measure.attempt_number
        )
    count = {
        "mean_score": store.scores,
        "option_share": store.chosen_options,
        "entropy": store.chosen_options,
        "usable": store.statuses,
        "refused": store.statuses,
    }[measure.code]
    return count(workspace.database, study_id, factors, view.where)


def _cells(
    workspace: Workspace, study_id: int, measure: Measure, view: View, counts: pd.DataFrame
) -> pd.DataFrame:
    """A row for each combination of levels with all numbers of the measure."""
    factors = list(view.factors)
    if measure.code in ("option_share", "entropy"):
        offered = store.offered_options(workspace.database, study_id)
        formats = set(offered.loc[offered["code"] == view.option, "format"])
        counts = _option_counts(counts, factors, view.option, formats)
    compute: Callable[[_Row], _ViewCell]
    if measure.attempt_number:
        compute = _mean_of_attempts(measure.per)
    elif measure.code == "mean_score":
        compute = _mean_score
    elif measure.code == "entropy":
        compute = _entropy
    elif measure.of_option:
        compute = _share_of_option
    else:
        compute = _share_of_status(measure.code)
    rows = [vars(compute({str(k): v for k, v in row.items()})) for row in counts.to_dict("records")]
    more = ["total"] if measure.total_title else []
    return counts[[*factors, *more]].join(pd.DataFrame(rows))


def _undefined(n: int, missing: int, remark: str) -> _ViewCell:
    return _ViewCell(math.nan, math.nan, math.nan, n, missing, remark)


def _mean(mean: float, sd: float, n: int, missing: int, noun: str) -> _ViewCell:
    """A mean with its interval, from the moments that the database gives."""
    if not n:
        return _undefined(0, missing, f"No {noun}.")
    if n < 2:
        return _ViewCell(mean, math.nan, math.nan, n, missing, f"One {noun}: no interval.")
    if not sd > 0:
        remark = f"Every {noun} is the same: no interval."
        return _ViewCell(mean, math.nan, math.nan, n, missing, remark)
    return _ViewCell(mean, *mean_interval(Summary(mean, sd, n)), n, missing)


def _mean_score(row: _Row) -> _ViewCell:
    n, missing = int(row["n"]), int(row["planned"] - row["n"])
    if row["n_ranges"] > 1:
        return _undefined(n, missing, _FORMATS_REASON)
    return _mean(row["mean"], row["sd"], n, missing, "score")


def _mean_of_attempts(per: int) -> Callable[[_Row], _ViewCell]:
    def compute(row: _Row) -> _ViewCell:
        n, missing = int(row["n"]), int(row["attempts"] - row["n"])
        return _mean(per * row["mean"], per * row["sd"], n, missing, "number of an attempt")

    return compute


_interval_of_share = lru_cache(maxsize=4096)(wilson_interval)
"""Rows of a view often have the same counts."""


def _share(successes: int, n: int, missing: int, nothing: str) -> _ViewCell:
    if not n:
        return _undefined(0, missing, nothing)
    return _ViewCell(successes / n, *_interval_of_share(successes, n), n, missing)


def _share_of_status(status: str) -> Callable[[_Row], _ViewCell]:
    def compute(row: _Row) -> _ViewCell:
        asked = int(row["asked"])
        missing = int(row["planned"]) - asked
        return _share(int(row[status]), asked, missing, "No question is asked yet.")

    return compute


def _option_counts(
    counts: pd.DataFrame, factors: list[str], option: str, formats: set[str]
) -> pd.DataFrame:
    """A row for each combination of levels, with its counts of answers.

    `n` chose an option, `others` none, `successes` this option; `options` has the count of every
    option. `n_formats` is the number of formats of the `n`, `n_without` of those that do not offer
    the option.
    """
    usable = counts["chosen"].notna()
    used = counts["answer_format"].where(usable)
    own = counts[factors].assign(
        n=counts["count"].where(usable, 0),
        others=counts["count"].mask(usable, 0),
        successes=counts["count"].where(usable & (counts["chosen"] == option), 0),
        used=used,
        without=used.mask(used.isin(formats)),
        options=counts["count"],
    )
    groups = own.groupby(factors, sort=False, dropna=False)
    summed = groups[["n", "others", "successes"]].sum()
    formats_used = groups[["used", "without"]].nunique()
    options = own[usable].groupby(factors, sort=False, dropna=False)["options"].agg(list)
    return summed.assign(
        n_formats=formats_used["used"],
        n_without=formats_used["without"],
        options=options.reindex(summed.index),
    ).reset_index()


def _share_of_option(row: _Row) -> _ViewCell:
    n, missing = int(row["n"]), int(row["others"])
    if row["n_formats"] > 1:
        return _undefined(n, missing, _FORMATS_REASON)
    if row["n_without"]:
        return _undefined(n, missing, "The answer format does not have this option.")
    return _share(int(row["successes"]), n, missing, "No answer chose an option.")


def _entropy(row: _Row) -> _ViewCell:
    n, missing = int(row["n"]), int(row["others"])
    if row["n_formats"] > 1:
        return _undefined(n, missing, _FORMATS_REASON)
    if not n:
        return _undefined(0, missing, "No answer chose an option.")
    bits = entropies(np.asarray(row["options"], dtype=np.float64), unit="bits")
    return _ViewCell(float(bits), math.nan, math.nan, n, missing)


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


_LONGEST_NAME = 40  # characters of a level in a sentence


def _name(level: object) -> str:
    """The level, or its beginning; text that runs from right to left turns nothing around it."""
    name = str(level)
    cut = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    return cut if name.isascii() else f"\u2068{cut}\u2069"


def answer(table: ResultTable, view: View) -> str:
    """The lowest and the highest row of a view in one sentence, with its counts."""
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
    low, high = named(known["value"].idxmin()), named(known["value"].idxmax())
    return f"{title}: from {low} to {high}; {counts}."


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


def replies_of_row(view: View, table: ResultTable, row: int | None) -> dict[str, list[str]] | None:
    """The filters that the page Answers takes for the replies of one row.

    None without a row, and for subscales, by which that page does not filter.
    """
    if row is None or "subscale" in (*view.factors, *view.where):
        return None
    levels = {name: str(table.frame[name].iloc[row]) for name in view.factors}
    own = {name: ["" if level == level_name("") else level] for name, level in levels.items()}
    filters = {name: list(values) for name, values in view.where.items() if name != LEAVE_OUT}
    return {**filters, **own}

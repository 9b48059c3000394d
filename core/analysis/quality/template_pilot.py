"""Which prompt templates get usable answers?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.shared.comparisons import comparison_table
from core.analysis.shared.matrices import by_columns, distinct, group_name
from core.analysis.shared.option_counts import answer_sides, cell_codes, counted_columns
from core.analysis.shared.options import Adjust, By, ConfidenceLevel, Resamples, Seed
from core.analysis.shared.registry import BankTable, Number, analysis
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    interval_text,
    intervals_apart,
    table_of,
)
from core.charts.unexpected import template_pilot_charts
from core.domain.frames import OPTION_COUNTS, grouping_title
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable, with_tabs
from core.domain.study import NOT_ASKED, Status
from core.errors import NotEnoughData
from core.stats.contingency import resampled_shares
from core.stats.distributions import wilson_intervals
from core.stats.inputs import Floats, Integers, name_list
from core.stats.resampling import Bootstrap, resampled_ratios, shares_among_highest
from core.stats.stance import agreement_with_others

NOT_STATED = "not stated"
"""The kind of a template that says neither that it is personal nor that it is impersonal."""
_UNUSABLE = {
    Status.NEUTRAL.value: "Neutral",
    Status.REFUSED.value: "Refused",
    Status.OFF_SCALE.value: "Off the scale",
    Status.AMBIGUOUS.value: "Ambiguous",
    Status.NO_ANSWER.value: "No answer",
    Status.TRUNCATED.value: "Cut off",
    Status.ERROR.value: "Error",
    Status.INVALID_CALL.value: "In an incomplete call",
}
_STATUSES = (Status.ANSWERED.value, Status.EXPLAINED.value, *_UNUSABLE)
_N_USABLE = 2  # of these, the first have an option
_WHO = ("respondent", "language", "entity", "entity_b")
"""Factors in which the stance on an item may differ by itself."""
_CONDITIONS = ("respondent", "language", "entity", "format", "label_order")
"""Factors whose levels are shown for each template."""
_NONE = "(none)"

Count = Annotated[
    int,
    Number(
        "Templates proposed of each kind",
        1,
        100,
        help="The best personal and the best impersonal templates. The published study took three "
        "of each kind.",
    ),
]


def _template_columns(ci_level: float, count: int) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    return (
        Column("rank", "Rank", "count", "By the share usable; equal shares have the same rank."),
        Column("template", "Template", help="The code of the prompt template."),
        Column("title", "Title"),
        Column("kind", "Kind", help="Personal: the template asks for the respondent's own view."),
        Column("proposed", "Proposed", help=f"One of the {count} best of its kind."),
        Column("trials", "Trials", "count", "Trials asked, whatever came of them."),
        Column("usable", "Usable", "count", "Trials whose reply has an option."),
        Column("share", "Share usable", "proportion", "Usable / trials."),
        Column(
            "ci_low",
            f"{interval} low",
            "proportion",
            "Of the share, by resampling whole items; percentile interval, Efron (1979). None "
            "with a single item.",
        ),
        Column("ci_high", f"{interval} high", "proportion", "The upper end of the same interval."),
        Column(
            "wilson_low",
            "Wilson low",
            "proportion",
            "Of the share, taking trials as independent; Wilson (1927).",
        ),
        Column("wilson_high", "Wilson high", "proportion", "The upper end of Wilson's interval."),
        Column(
            "chosen",
            "Chosen in resamples",
            "proportion",
            f"Share of the resamples of items in which the template is among the {count} best "
            "of its kind: how sure the proposal is. Equal templates share a place.",
        ),
        Column(
            "agreement",
            "Same stance as others",
            "proportion",
            "Pairs of this template with another one on the same item, whose majorities of "
            "answers are both for or both against / all pairs with two majorities.",
        ),
        Column("items", "Items", "count", "Items asked with the template; they are resampled."),
    )


_OUTPUTS = (
    Column("template", "Template"),
    Column("trials", "Trials", "count", "Trials asked, whatever came of them."),
    Column("usable", "Usable", "count", "Trials whose reply has an option."),
    *(
        Column(status, words, "count", f"Trials that came out as: {words.lower()}.")
        for status, words in _UNUSABLE.items()
    ),
    Column(
        "not_asked",
        "Not asked",
        "count",
        "Planned trials without a reply, answers without a row in an import, and answers left "
        "out: in no share.",
    ),
)
_LEVELS = (
    Column("template", "Template"),
    Column("factor", "Factor"),
    Column("level", "Level"),
    Column("trials", "Trials", "count", "Trials asked at this level."),
    Column("usable", "Usable", "count", "Trials whose reply has an option."),
    Column("share", "Share usable", "proportion", "Usable / trials at this level."),
    Column(
        "wilson_low",
        "Wilson low",
        "proportion",
        "Of this share, taking trials as independent; Wilson (1927).",
    ),
    Column("wilson_high", "Wilson high", "proportion", "The upper end of the same interval."),
)
_TABS = {"templates": "Templates", "outputs": "Unusable replies", "levels": "By condition"}


def proposed_templates(result: AnalysisResult) -> dict[str, tuple[str, ...]]:
    """The templates that are proposed for each group, by the name of the group, best first."""
    frame = table_of(result, "templates").frame
    names = list(frame.columns)[: list(frame.columns).index("rank")]
    proposals: dict[str, tuple[str, ...]] = {}
    for row in frame[frame["proposed"].astype(bool)].to_dict("records"):
        group = group_name([row[name] for name in names])
        proposals[group] = (*proposals.get(group, ()), str(row["template"]))
    return proposals


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The best and the worst template of each group, and those proposed of each kind."""

    def ends_of(row: TableRow) -> tuple[float, float]:
        if not math.isfinite(row["ci_low"]) or row["share"] in (0, 1):
            return row["wilson_low"], row["wilson_high"]
        return row["ci_low"], row["ci_high"]

    def share_of(row: TableRow) -> str:
        ends = interval_text(*ends_of(row), lambda x: percent_text(x, 1))
        return percent_text(row["share"], 1) + ends

    def sentence(rows: Sequence[TableRow]) -> str:
        asked = [row for row in rows if row["trials"]]
        if not asked:
            return "There is no reply yet."
        first, last = asked[0], asked[-1]
        best = f"{share_of(first)} of {count_text(int(first['trials']), 'trial')}"
        if len(asked) == 1:
            return (
                f"There is one template to look at: with {first['template']}, {best} have a "
                "usable answer."
            )
        if intervals_apart(ends_of(first), ends_of(last)):
            text = (
                f"Of {count_text(len(asked), 'template')}, {first['template']} has the largest "
                f"share of usable answers, {best}, and {last['template']} the smallest, "
                f"{share_of(last)}"
            )
        else:
            text = (
                f"{count_text(len(asked), 'template')} have from {share_of(last)} to {best} usable "
                "answers, no clear difference"
            )
        kinds: dict[str, list[str]] = {}
        for row in rows:
            if row["proposed"]:
                kinds.setdefault(row["kind"], []).append(row["template"])
        named = (f"{kind} {', '.join(codes)}" for kind, codes in kinds.items())
        return f"{text}. Proposed: {'; '.join(named)}." if kinds else f"{text}. None is proposed."

    return answers_by_group(table_of(result, "templates"), "rank", sentence)


@dataclass(frozen=True, eq=False)
class _Pilot:
    """Numbers of trials by item, group-and-template and status, and what is known of templates.

    `labels` has a row for each group and template, in the order of rank within a group; `group` is
    the number of its group, `names` are the factors of groups.
    """

    names: tuple[str, ...]
    labels: pd.DataFrame
    group: Integers
    groups: tuple[str, ...]
    items: np.ndarray
    table: Floats  # (items, labels, statuses)
    not_asked: Floats  # (labels,)

    @property
    def trials(self) -> Floats:
        """Trials asked, by item and label."""
        asked: Floats = self.table.sum(axis=2)
        return asked

    @property
    def usable(self) -> Floats:
        """Trials with an option, by item and label."""
        usable: Floats = self.table[:, :, :_N_USABLE].sum(axis=2)
        return usable

    @property
    def shares(self) -> Floats:
        """Share usable of each label; NaN where nothing was asked."""
        n = self.trials.sum(axis=0)
        own: Floats = np.divide(
            self.usable.sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0
        )
        return own


@analysis(
    title="Template pilot",
    question="Which prompt templates get usable answers, and which are the best of each kind?",
    topic="unexpected_outputs",
    needs=OPTION_COUNTS,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=template_pilot_charts,
    references=(
        "Ceron et al. (2024) doi:10.1162/tacl_a_00710",
        "Wilson (1927) doi:10.1080/01621459.1927.10502953",
        "Efron (1979) doi:10.1214/aos/1176344552",
    ),
    keywords=(
        "prompt templates",
        "pilot",
        "instructions",
        "personal",
        "impersonal",
        "usable answers",
        "choice of templates",
        "label pairs",
        "prompt wording",
    ),
    keeps=("template", "format", "label_order", *_WHO),
)
def template_pilot(
    option_counts: pd.DataFrame,
    *,
    by: By = (),
    count: Count = 3,
    resamples: Resamples = 1000,
    ci_level: ConfidenceLevel = 0.95,
    adjust: Adjust = "holm",
    seed: Seed = 0,
    templates: Annotated[pd.DataFrame | None, BankTable("templates")] = None,
) -> AnalysisResult:
    """Templates ranked by their share of usable answers, and the best of each kind.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With the factors template, format, label_order, respondent, language and entities.
    by : tuple of factors
        Groups with a ranking and a proposal each; at first all answers together, because a design
        has the same templates for all.
    count : int
        How many templates of each kind are proposed.
    resamples : int
        Resamples of items; 0 for none.
    ci_level : float
        Two-sided coverage of each interval by itself.
    adjust : "holm" or "benjamini-hochberg"
        How p of pairs of templates are adjusted.
    seed : int
        Of resamples and permutations.
    templates : TEMPLATES frame, optional
        Title and kind of each template; a template without a row has no kind.

    Returns
    -------
    AnalysisResult
        `templates`, one row per group and template, the best first: share of trials with a usable
        answer, its two intervals, whether the template is proposed, in which share of resamples
        it is among the best of its kind, and how often it has the stance of the others. `outputs`,
        counts of the kinds of unusable replies. `levels`, the share at each level of respondent,
        language, entity, format and order of options. `comparisons`: pairs of templates, over the
        items that both were asked.

    Raises
    ------
    NotEnoughData
        There are no trials, or the frame lacks a factor.

    Notes
    -----
    The unit of analysis is the trial, and items are resampled whole: trials of one item depend on
    each other. Trials not asked are in no share. A usable answer has an option, with an explanation
    or without. Equal shares are put in the order of the design, and a caution says so. A template
    without a usable answer is never proposed. Checked by hand; Wilson's interval against
    statsmodels and scipy.
    """
    names = _group_names(option_counts, by)
    pilot = _counted(option_counts, names, templates)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    about = _about_templates(pilot, templates)
    proposed = _proposed(pilot, about["kind"], count)
    rows = _template_rows(pilot, about, proposed, count, ci_level, bootstrap).assign(
        agreement=_agreement(option_counts, pilot)
    )
    own = (*names, "template")
    compared = comparison_table(
        _item_shares(pilot),
        own,
        units=("item",),
        value="share",
        title="Share usable",
        adjust=adjust,
        ci_level=ci_level,
        resamples=resamples,
        seed=seed,
        answers=option_counts,
        values_of=lambda some: _item_shares(_counted(some, names, templates)),
    )
    lead = by_columns(names)
    tables = (
        _table(
            "templates",
            "Templates by share of usable answers",
            rows,
            (*lead, *_template_columns(ci_level, count)),
        ),
        _table("outputs", "Replies by template", _output_rows(pilot), (*lead, *_OUTPUTS)),
        _table(
            "levels",
            "Share usable by condition",
            _level_rows(option_counts, pilot, ci_level),
            (*lead, *_LEVELS),
        ),
    )
    usable = int(pilot.usable.sum())
    return AnalysisResult(
        tables=(*with_tabs(tables, _TABS), *compared.tables),
        unit="one trial: one item put once to a respondent with one template",
        n_used=usable,
        n_missing=int(pilot.table.sum() + pilot.not_asked.sum()) - usable,
        method="Share usable = trials whose reply has an option / trials asked. "
        f"{ci_level * 100:g}% percentile intervals from {resamples:,} resamples of whole items; "
        f"Wilson's intervals take trials as independent. The {count} templates of each kind with "
        f"the largest share are proposed. Seed {seed}.",
        cautions=tuple(_cautions(option_counts, pilot, about["kind"], proposed)),
        notes=(*_notes(option_counts, pilot, about["kind"], proposed, count), *compared.notes),
    )


def _group_names(option_counts: pd.DataFrame, by: Sequence[str]) -> tuple[str, ...]:
    """The factors that make groups; templates are compared whatever is chosen."""
    if option_counts.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    for name in (*by, "template"):
        if name not in option_counts:
            raise NotEnoughData(f"The answers have no factor {name}.", "Choose another factor.")
    return tuple(name for name in distinct(by) if name != "template")


def _counted(
    option_counts: pd.DataFrame, names: tuple[str, ...], templates: pd.DataFrame | None
) -> _Pilot:
    """Trials by item, group and template, and status; templates in the order of their rank."""
    frame = option_counts.assign(
        template=option_counts["template"].astype(object).replace("", _NONE)
    )
    code, labels = cell_codes(frame, (*names, "template"))
    place, items = cell_codes(frame, ("item",))
    status = pd.Index(_STATUSES).get_indexer(pd.Index(frame["status"].astype(object)))
    counts = frame["count"].to_numpy(dtype=np.float64)
    asked = status >= 0
    shape = len(items), len(labels), len(_STATUSES)
    cells = np.ravel_multi_index((place[asked], code[asked], status[asked]), shape)
    table = np.bincount(cells, counts[asked], math.prod(shape)).reshape(shape).astype(np.float64)
    not_asked = np.bincount(code[~asked], counts[~asked], len(labels)).astype(np.float64)
    group, of_groups = cell_codes(labels, names)
    found = _Pilot(
        names,
        labels,
        group,
        tuple(map(group_name, of_groups.itertuples(index=False))),
        items["item"].to_numpy(),
        table,
        not_asked,
    )
    order = np.lexsort((_design_places(labels["template"], templates), -found.shares, group))
    return _Pilot(
        names,
        labels.iloc[order].reset_index(drop=True),
        group[order],
        found.groups,
        found.items,
        table[:, order],
        not_asked[order],
    )


def _design_places(codes: pd.Series[Any], templates: pd.DataFrame | None) -> np.ndarray:
    """The place of each template in the design; of one that it does not have, after these."""
    known = [] if templates is None else templates["template"].astype(str).tolist()
    ordered = dict.fromkeys([*known, *sorted(codes.astype(str))])
    places = {code: place for place, code in enumerate(ordered)}
    return codes.astype(str).map(places).to_numpy()


def _about_templates(pilot: _Pilot, templates: pd.DataFrame | None) -> pd.DataFrame:
    """Title and kind of the template of each label."""
    known = pd.DataFrame(columns=["template", "title", "kind"]) if templates is None else templates
    own = known.drop_duplicates("template")
    titles, kinds = (
        dict(zip(own["template"], own[name], strict=True)) for name in ("title", "kind")
    )
    codes = pilot.labels["template"].astype(str)
    return pd.DataFrame(
        {
            "title": [titles.get(code, "") for code in codes],
            "kind": [kinds.get(code, "") or NOT_STATED for code in codes],
        },
        index=codes.index,
    )


def _of_each_kind(pilot: _Pilot, kind: pd.Series[Any]) -> Iterator[tuple[str, str, np.ndarray]]:
    """Group, kind, and the places of its templates, best first."""
    for number, group in enumerate(pilot.groups):
        places = np.flatnonzero(pilot.group == number)
        for own in dict.fromkeys(kind.iloc[places]):
            yield group, own, places[(kind.iloc[places] == own).to_numpy()]


def _proposed(pilot: _Pilot, kind: pd.Series[Any], count: int) -> np.ndarray:
    """Whether each template is one of the best of its kind; none where there is one template."""
    chosen = np.zeros(len(kind), dtype=np.bool_)
    several = np.bincount(pilot.group[pilot.trials.sum(axis=0) > 0], minlength=len(pilot.groups))
    for _, _, places in _of_each_kind(pilot, kind):
        if several[pilot.group[places[0]]] > 1:
            chosen[places[pilot.shares[places] > 0][:count]] = True
    return chosen


def _template_rows(
    pilot: _Pilot,
    about: pd.DataFrame,
    proposed: np.ndarray,
    count: int,
    ci_level: float,
    bootstrap: Bootstrap | None,
) -> pd.DataFrame:
    """One row per group and template but for its agreement with the others."""
    trials, usable = pilot.trials, pilot.usable
    own = resampled_shares(
        np.stack([usable, trials - usable], axis=-1), level=ci_level, bootstrap=bootstrap
    )
    k, n = usable.sum(axis=0), trials.sum(axis=0)
    low, high = wilson_intervals(k, n, level=ci_level)
    chosen = np.full(len(n), np.nan)
    if bootstrap is not None and len(pilot.items) > 1:
        shares = resampled_ratios(usable, trials, bootstrap)
        shares = np.where(shares > 0, shares, np.nan)  # without a usable answer, never chosen
        for _, _, places in _of_each_kind(pilot, about["kind"]):
            own_shares = shares_among_highest(shares[:, places], count)
            chosen[places] = np.where(n[places] > 0, np.nan_to_num(own_shares), np.nan)
    return pilot.labels.assign(
        rank=_ranks(pilot),
        title=about["title"],
        kind=about["kind"],
        proposed=proposed,
        trials=np.int64(n),
        usable=np.int64(k),
        share=pilot.shares,
        ci_low=own.low[:, 0],
        ci_high=own.high[:, 0],
        wilson_low=low,
        wilson_high=high,
        chosen=chosen,
        items=np.int64((trials > 0).sum(axis=0)),
    )


def _ranks(pilot: _Pilot) -> Floats:
    """1 for the largest share of a group; equal shares have the same rank, none is NaN."""
    shares = pd.Series(pilot.shares).groupby(pilot.group)
    return np.asarray(shares.rank(method="min", ascending=False), dtype=np.float64)


def _agreement(option_counts: pd.DataFrame, pilot: _Pilot) -> Floats:
    """How often each template has the stance of the other templates of its group."""
    who = [name for name in _WHO if name in option_counts and name not in pilot.names]
    frame = option_counts.assign(
        template=option_counts["template"].astype(object).replace("", _NONE)
    )
    cell = (*pilot.names, "template", *who, "item")
    sides = answer_sides(frame, cell, midpoint="drop")
    own = [*pilot.names, "template"]
    labelled = pd.concat([pilot.labels[own], sides[own]], ignore_index=True)
    code, _ = cell_codes(labelled, own)
    label = code[len(pilot.labels) :]
    question, questions = cell_codes(sides, (*who, "item"))
    table: Floats = np.zeros((len(pilot.labels), len(questions)))
    table[label, question] = np.sign(sides["positive"] - sides["negative"])
    shares: Floats = np.full(len(pilot.labels), np.nan)
    for number in range(len(pilot.groups)):
        places = np.flatnonzero(pilot.group == number)
        shares[places], _ = agreement_with_others(table[places])
    return shares


def _output_rows(pilot: _Pilot) -> pd.DataFrame:
    """One row per group and template: counts of its replies."""
    pooled = pilot.table.sum(axis=0)
    kinds = {status: np.int64(pooled[:, k]) for k, status in enumerate(_STATUSES) if k >= _N_USABLE}
    return pilot.labels.assign(
        trials=np.int64(pooled.sum(axis=1)),
        usable=np.int64(pooled[:, :_N_USABLE].sum(axis=1)),
        **kinds,
        not_asked=np.int64(pilot.not_asked),
    )


def _level_rows(option_counts: pd.DataFrame, pilot: _Pilot, ci_level: float) -> pd.DataFrame:
    """One row per group, template and level of each factor that varies."""
    status = option_counts["status"].astype(object)
    own = option_counts[status.isin(_STATUSES)]
    usable = own["status"].astype(object).isin(_STATUSES[:_N_USABLE])
    template = own["template"].astype(object).replace("", _NONE)
    own = own.assign(template=template, usable=own["count"] * usable)
    parts = [_empty_levels(pilot.names)]
    for factor in _CONDITIONS:
        varies = factor in own and len(own[factor].unique()) > 1
        if not varies or factor in pilot.names:
            continue
        code, labels = cell_codes(own, (*pilot.names, "template", factor))
        k = np.bincount(code, own["usable"].to_numpy(np.float64), len(labels)).astype(np.float64)
        n = np.bincount(code, own["count"].to_numpy(np.float64), len(labels)).astype(np.float64)
        low, high = wilson_intervals(k, n, level=ci_level)
        parts.append(
            labels.rename(columns={factor: "level"}).assign(
                factor=grouping_title(factor),
                trials=np.int64(n),
                usable=np.int64(k),
                share=k / n,
                wilson_low=low,
                wilson_high=high,
            )
        )
    rows = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    return rows.assign(level=rows["level"].astype(object).replace("", _NONE))


def _empty_levels(names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(columns=[*names, *(column.name for column in _LEVELS)])


def _item_shares(pilot: _Pilot) -> pd.DataFrame:
    """One row per group, template and item that was asked: its share of usable answers."""
    trials = pilot.trials
    label, item = np.nonzero(trials.T)
    rows = pilot.labels.iloc[label].reset_index(drop=True)
    return rows.assign(
        item=pilot.items[item], share=pilot.usable[item, label] / trials[item, label]
    )


def _table(name: str, title: str, rows: pd.DataFrame, columns: Sequence[Column]) -> ResultTable:
    columns = counted_columns(rows, columns)
    return ResultTable(name, title, rows[[c.name for c in columns]], columns)


# What to know of a ranking: too few templates, ties, conditions that differ.


def _cautions(
    option_counts: pd.DataFrame, pilot: _Pilot, kind: pd.Series[Any], proposed: np.ndarray
) -> Iterator[str]:
    """Templates that cannot be ranked, places given by order, items and factors that differ."""
    codes, asked = pilot.labels["template"], pilot.trials.sum(axis=0) > 0
    for number, group in enumerate(pilot.groups):
        places = np.flatnonzero(pilot.group == number)
        answered = places[asked[places]]
        if not len(answered):
            yield about(group, "no trial was asked, so there are no shares.")
        elif len(answered) < 2:
            yield (
                about(
                    group,
                    f"there is one template only ({codes[answered[0]]}), so none is ranked "
                    "or proposed. Ask the same items with several templates.",
                )
            )
        without = codes.iloc[answered[pilot.usable.sum(axis=0)[answered] == 0]].tolist()
        if without:
            yield (
                about(
                    group,
                    f"no reply to {name_list(without)} is usable, so that it is not proposed.",
                )
            )
        unasked = codes.iloc[places[~asked[places]]].tolist()
        if len(answered) and unasked:
            yield about(group, f"no trial was asked with {name_list(unasked)}, so no share.")
        yield from _different_items(pilot, group, answered)
    for group, own, places in _of_each_kind(pilot, kind):
        yield from _ties(pilot, group, own, places, proposed)
    yield from _different_conditions(option_counts, pilot)
    not_asked = int(option_counts.loc[option_counts["status"] == NOT_ASKED, "count"].sum())
    if not_asked:
        yield f"{not_asked:,} planned trials have not been asked yet; they are in no share."


def _ties(
    pilot: _Pilot, group: str, kind: str, places: np.ndarray, proposed: np.ndarray
) -> Iterator[str]:
    """Equal shares of which some are proposed and others are not."""
    inside, outside = places[proposed[places]], places[~proposed[places]]
    if not len(inside) or not len(outside):
        return
    shares, codes = pilot.shares, pilot.labels["template"]
    last = shares[inside[-1]]
    left_out = codes.iloc[outside[shares[outside] == last]].tolist()
    if left_out:
        taken = codes.iloc[inside[shares[inside] == last]].tolist()
        yield (
            about(
                group,
                f"of kind {kind}, {name_list([*taken, *left_out])} have the same share "
                f"({percent_text(last, 1)}); {name_list(taken)} stand first in the design and are "
                "proposed.",
            )
        )


def _different_items(pilot: _Pilot, group: str, places: np.ndarray) -> Iterator[str]:
    """Items that were not asked with every template of a group."""
    present = pilot.trials[:, places] > 0
    every, shared = int(present.any(axis=1).sum()), int(present.all(axis=1).sum())
    if len(places) > 1 and shared < every:
        yield (
            about(
                group,
                f"templates were not asked the same items: {shared} of "
                f"{count_text(every, 'item')} were asked with all of them, so that differences may "
                "be those of items. The table of pairs compares the items that both have.",
            )
        )


def _different_conditions(option_counts: pd.DataFrame, pilot: _Pilot) -> Iterator[str]:
    """Factors whose levels were not all asked with each template."""
    own = option_counts[option_counts["status"].astype(object).isin(_STATUSES)]
    for factor in (*_WHO, "label_order"):
        if factor in pilot.names or factor not in own:
            continue
        pairs = own[["template", factor]].astype(str).drop_duplicates()
        if len(pairs) < pairs["template"].nunique() * pairs[factor].nunique():
            yield (
                f"Not every template was asked at every level of {grouping_title(factor).lower()}, "
                "so that differences may be those of its levels."
            )


def _notes(
    option_counts: pd.DataFrame,
    pilot: _Pilot,
    kind: pd.Series[Any],
    proposed: np.ndarray,
    count: int,
) -> Iterator[str]:
    """Kinds of which all are proposed, templates without a kind, formats of templates."""
    for group, own, places in _of_each_kind(pilot, kind):
        chosen = int(proposed[places].sum())
        if chosen and chosen == len(places):
            yield (
                about(
                    group, f"all {chosen} of kind {own} are proposed: up to {count} are asked for."
                )
                if chosen > 1
                else about(group, f"the only one of kind {own} is proposed.")
            )
    unknown = list(dict.fromkeys(pilot.labels["template"][kind == NOT_STATED]))
    if unknown and len(unknown) < pilot.labels["template"].nunique():
        yield f"Neither personal nor impersonal by their own account: {name_list(unknown)}."
    if "format" in option_counts and "format" not in pilot.names:
        pairs = option_counts[["template", "format"]].astype(str).drop_duplicates()
        if len(pairs) < pairs["template"].nunique() * pairs["format"].nunique():
            yield (
                "Templates have response formats of their own: a share is that of the template "
                "with its formats."
            )

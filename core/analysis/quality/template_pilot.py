"""Which prompt templates get usable answers?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.columns import with_upper_help
from core.analysis.kit.comparisons import comparison_table
from core.analysis.kit.matrices import distinct, group_name
from core.analysis.kit.option_counts import (
    CONDITIONS,
    answer_sides,
    cell_codes,
    conditions_within,
    counted_table,
    unit_interval_help,
    unit_interval_method,
)
from core.analysis.kit.options import Adjust, By, ConfidenceLevel, Resamples, Seed
from core.analysis.kit.registry import BankTable, Number, analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.kit.rows import require_answers
from core.charts.unexpected import template_pilot_charts
from core.domain import tables
from core.domain.factors import grouping_title
from core.domain.frames import OPTION_COUNTS
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult
from core.domain.study import NOT_ASKED, Status
from core.stats.contingency import resampled_shares
from core.stats.distributions import wilson_intervals
from core.stats.inputs import Floats, Integers, name_list, ratios
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
"""Factors at every level of which templates should be asked, beside the order of options."""
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


_TEMPLATE = tables.key("template", "Template")
_USABLE = tables.count("usable", "Usable", "Trials whose reply has an option.")
OUTPUTS = tables.TableSpec(
    "outputs",
    "Replies by template",
    (
        _TEMPLATE,
        tables.count("trials", "Trials", "Trials asked, whatever came of them."),
        _USABLE,
        *(
            tables.count(status, words, f"Trials that came out as: {words.lower()}.")
            for status, words in _UNUSABLE.items()
        ),
        tables.count(
            "not_asked",
            "Not asked",
            "Planned trials without a reply, answers without a row in an import, and answers left "
            "out: in no share.",
        ),
    ),
    "Unusable replies",
)
LEVELS = tables.TableSpec(
    "levels",
    "Share usable by condition",
    (
        _TEMPLATE,
        tables.key("factor", "Factor"),
        tables.key("level", "Level"),
        tables.count("trials", "Trials", "Trials asked at this level."),
        _USABLE,
        *with_upper_help(
            tables.estimate(
                "share",
                "Share usable",
                "proportion",
                "Usable / trials at this level.",
                "Of this share, taking trials as independent; Wilson (1927).",
                ends_title="Wilson",
                ends_name="wilson",
            )
        ),
    ),
    "By condition",
)


def _template_spec(count: int) -> tables.TableSpec:
    return tables.TableSpec(
        "templates",
        "Templates by share of usable answers",
        (
            tables.count("rank", "Rank", "By the share usable; equal shares have the same rank."),
            tables.key("template", "Template", "The code of the prompt template."),
            tables.text("title", "Title"),
            tables.text(
                "kind", "Kind", "Personal: the template asks for the respondent's own view."
            ),
            tables.text("proposed", "Proposed", f"One of the {count} best of its kind."),
            tables.count("trials", "Trials", "Trials asked, whatever came of them."),
            _USABLE,
            *with_upper_help(
                tables.estimate(
                    "share",
                    "Share usable",
                    "proportion",
                    "Usable / trials.",
                    f"{unit_interval_help('items')} None with a single item.",
                )
            ),
            *with_upper_help(
                tables.ends(
                    "wilson",
                    "Wilson",
                    "proportion",
                    "Of the share, taking trials as independent; Wilson (1927).",
                    of="share",
                ),
                "The upper end of Wilson's interval.",
            ),
            tables.number(
                "chosen",
                "Chosen in resamples",
                "proportion",
                f"Share of the resamples of items in which the template is among the {count} best "
                "of its kind: how sure the proposal is. Equal templates share a place.",
            ),
            tables.number(
                "agreement",
                "Same stance as others",
                "proportion",
                "Pairs of this template with another one on the same item, whose majorities of "
                "answers are both for or both against / all pairs with two majorities.",
            ),
            tables.count("items", "Items", "Items asked with the template; they are resampled."),
        ),
        "Templates",
    )


def proposed_templates(result: AnalysisResult) -> dict[str, tuple[str, ...]]:
    """The templates that are proposed for each group, by the name of the group, best first."""
    groups = sentences.rows_by_group(sentences.table_of(result, "templates"))
    proposals = {
        group: tuple(str(row["template"]) for row in rows if row["proposed"])
        for group, rows in groups.items()
    }
    return {group: codes for group, codes in proposals.items() if codes}


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The best and the worst template of each group, and those proposed of each kind."""

    def share_of(row: sentences.TableRow) -> str:
        return sentences.share_text(row["share"], *sentences.share_interval(row))

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
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
        if sentences.intervals_apart(
            sentences.share_interval(first), sentences.share_interval(last)
        ):
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
        listed = "; ".join(f"{', '.join(codes)} (kind: {kind})" for kind, codes in kinds.items())
        return f"{text}. Proposed: {listed}." if kinds else f"{text}. None is proposed."

    return sentences.answers_of_groups(sentences.table_of(result, "templates"), sentence)


@dataclass(frozen=True, eq=False)
class _Pilot:
    """Numbers of trials by item, group-and-template and status.

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
        return np.asarray(self.table.sum(axis=2))

    @property
    def usable(self) -> Floats:
        """Trials with an option, by item and label."""
        return np.asarray(self.table[:, :, :_N_USABLE].sum(axis=2))

    @property
    def shares(self) -> Floats:
        """Share usable of each label; NaN where nothing was asked."""
        return ratios(self.usable.sum(axis=0), self.trials.sum(axis=0))


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
    compares=("template",),
    keeps=CONDITIONS[1:],
    kept_are="together",
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
    seed : int
        Of resamples and permutations.
    templates : TEMPLATES frame, optional
        Title and kind of each template; a template without a row has no kind.

    Returns
    -------
    AnalysisResult
        `templates`, one row per group and template, the best first; `outputs`, counts of the kinds
        of unusable replies; `levels`, the share at each level of respondent, language, entity,
        format and order of options; `comparisons`, pairs of templates, over the items that both
        were asked.

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
    require_answers(option_counts, (*by, "template"))
    names = tuple(name for name in distinct(by) if name != "template")
    pilot = _counted(option_counts, names, templates)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    titles = _titles_and_kinds(pilot, templates)
    kind = titles["kind"]
    proposed = _proposed(pilot, kind, count)
    rows = _template_rows(pilot, kind, count, ci_level, bootstrap).assign(
        title=titles["title"],
        kind=kind,
        proposed=proposed,
        agreement=_agreement(option_counts, pilot),
    )
    compared = comparison_table(
        _item_shares(pilot),
        (*names, "template"),
        units=("item",),
        value="share",
        title="Share usable",
        adjust=adjust,
        ci_level=ci_level,
        seed=seed,
        answers=option_counts,
        values_of=lambda answers: _item_shares(_counted(answers, names, templates)),
    )
    usable = int(pilot.usable.sum())
    findings = Findings()
    _add_cautions(findings, option_counts, pilot, kind, proposed)
    _add_notes(findings, option_counts, pilot, kind, proposed, count)
    findings.notes += compared.notes
    return count_result(
        (
            _template_spec(count).table(rows, names, ci_level),
            counted_table(OUTPUTS, _output_rows(pilot), names),
            LEVELS.table(_level_rows(option_counts, pilot, ci_level), names),
            *compared.tables,
        ),
        findings,
        unit="one trial: one item put once to a respondent with one template",
        trials=int(pilot.table.sum() + pilot.not_asked.sum()),
        usable=usable,
        used=usable,
        method="Share usable = trials whose reply has an option / trials asked. "
        f"{unit_interval_method(ci_level, resamples, 'items')}; the further intervals of Wilson "
        f"take trials as independent. The {count} templates of each kind with "
        f"the largest share are proposed. Seed {seed}.",
    )


def _counted(
    option_counts: pd.DataFrame, names: tuple[str, ...], templates: pd.DataFrame | None
) -> _Pilot:
    """Trials by item, group and template, and status; templates in the order of their rank."""
    frame = option_counts.assign(
        template=option_counts["template"].astype(object).replace("", _NONE)
    )
    code, labels = cell_codes(frame, (*names, "template"))
    row, items = cell_codes(frame, ("item",))
    status = pd.Index(_STATUSES).get_indexer(pd.Index(frame["status"].astype(object)))
    counts = frame["count"].to_numpy(dtype=np.float64)
    asked = status >= 0
    shape = len(items), len(labels), len(_STATUSES)
    cells = np.ravel_multi_index((row[asked], code[asked], status[asked]), shape)
    table = np.bincount(cells, counts[asked], math.prod(shape)).reshape(shape).astype(np.float64)
    not_asked = np.bincount(code[~asked], counts[~asked], len(labels)).astype(np.float64)
    group, of_groups = cell_codes(labels, names)
    pilot = _Pilot(
        names,
        labels,
        group,
        tuple(map(group_name, of_groups.itertuples(index=False))),
        items["item"].to_numpy(),
        table,
        not_asked,
    )
    # Equal shares stand in the order of the design; templates that it does not have come after.
    codes = labels["template"].astype(str)
    of_design = [] if templates is None else templates["template"].astype(str).tolist()
    places = {code: n for n, code in enumerate(dict.fromkeys([*of_design, *sorted(codes)]))}
    order = np.lexsort((codes.map(places).to_numpy(), -pilot.shares, group))
    return replace(
        pilot,
        labels=labels.iloc[order].reset_index(drop=True),
        group=group[order],
        table=table[:, order],
        not_asked=not_asked[order],
    )


def _titles_and_kinds(pilot: _Pilot, templates: pd.DataFrame | None) -> pd.DataFrame:
    """Title and kind of the template of each label."""
    codes = pilot.labels["template"].astype(str)
    titles: dict[str, str] = {}
    kinds: dict[str, str] = {}
    if templates is not None:
        first = templates.drop_duplicates("template")
        titles = dict(zip(first["template"], first["title"], strict=True))
        kinds = dict(zip(first["template"], first["kind"], strict=True))
    return pd.DataFrame(
        {
            "title": [titles.get(code, "") for code in codes],
            "kind": [kinds.get(code, "") or NOT_STATED for code in codes],
        },
        index=codes.index,
    )


def _of_each_kind(pilot: _Pilot, kind: pd.Series[Any]) -> Iterator[tuple[str, str, np.ndarray]]:
    """Group, kind, and the rows of its templates, best first."""
    for number, group in enumerate(pilot.groups):
        rows = np.flatnonzero(pilot.group == number)
        for name in dict.fromkeys(kind.iloc[rows]):
            yield group, name, rows[(kind.iloc[rows] == name).to_numpy()]


def _proposed(pilot: _Pilot, kind: pd.Series[Any], count: int) -> np.ndarray:
    """Whether each template is one of the best of its kind; none where there is one template."""
    chosen = np.zeros(len(kind), dtype=np.bool_)
    several = np.bincount(pilot.group[pilot.trials.sum(axis=0) > 0], minlength=len(pilot.groups))
    for _, _, rows in _of_each_kind(pilot, kind):
        if several[pilot.group[rows[0]]] > 1:
            chosen[rows[pilot.shares[rows] > 0][:count]] = True
    return chosen


def _template_rows(
    pilot: _Pilot,
    kind: pd.Series[Any],
    count: int,
    ci_level: float,
    bootstrap: Bootstrap | None,
) -> pd.DataFrame:
    """One row per group and template: rank, share usable, and in which resamples it is chosen."""
    trials, usable = pilot.trials, pilot.usable
    resampled = resampled_shares(
        np.stack([usable, trials - usable], axis=-1), level=ci_level, bootstrap=bootstrap
    )
    k, n = usable.sum(axis=0), trials.sum(axis=0)
    low, high = wilson_intervals(k, n, level=ci_level)
    chosen = np.full(len(n), np.nan)
    if bootstrap is not None and len(pilot.items) > 1:
        shares = resampled_ratios(usable, trials, bootstrap)
        shares = np.where(shares > 0, shares, np.nan)  # without a usable answer, never chosen
        for _, _, rows in _of_each_kind(pilot, kind):
            among_best = shares_among_highest(shares[:, rows], count)
            chosen[rows] = np.where(n[rows] > 0, np.nan_to_num(among_best), np.nan)
    # equal shares have the same rank, and none is NaN
    by_group = pd.Series(pilot.shares).groupby(pilot.group)
    ranks = by_group.rank(method="min", ascending=False)
    return pilot.labels.assign(
        rank=np.asarray(ranks, dtype=np.float64),
        trials=np.int64(n),
        usable=np.int64(k),
        share=pilot.shares,
        ci_low=resampled.low[:, 0],
        ci_high=resampled.high[:, 0],
        wilson_low=low,
        wilson_high=high,
        chosen=chosen,
        items=np.int64((trials > 0).sum(axis=0)),
    )


def _agreement(option_counts: pd.DataFrame, pilot: _Pilot) -> Floats:
    """How often each template has the stance of the other templates of its group.

    Templates are compared under the same conditions, such as a context. What a template decides,
    as its format, is part of it.
    """
    who = [
        name
        for name in conditions_within(option_counts, pilot.names, ("template",))
        if option_counts[["template", name]].drop_duplicates().duplicated("template").any()
    ]
    frame = option_counts.assign(
        template=option_counts["template"].astype(object).replace("", _NONE)
    )
    cell = (*pilot.names, "template", *who, "item")
    sides = answer_sides(frame, cell, midpoint="drop")
    names = [*pilot.names, "template"]
    labels = pd.concat([pilot.labels[names], sides[names]], ignore_index=True)
    label = cell_codes(labels, names)[0][len(pilot.labels) :]
    question, questions = cell_codes(sides, (*who, "item"))
    table: Floats = np.zeros((len(pilot.labels), len(questions)))
    table[label, question] = np.sign(sides["positive"] - sides["negative"])
    shares: Floats = np.full(len(pilot.labels), np.nan)
    for number in range(len(pilot.groups)):
        rows = np.flatnonzero(pilot.group == number)
        shares[rows], _ = agreement_with_others(table[rows])
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
    asked = option_counts[status.isin(_STATUSES)]
    usable = asked["status"].astype(object).isin(_STATUSES[:_N_USABLE])
    template = asked["template"].astype(object).replace("", _NONE)
    asked = asked.assign(template=template, usable=asked["count"] * usable)
    parts = []
    for factor in _CONDITIONS:
        varies = factor in asked and len(asked[factor].unique()) > 1
        if not varies or factor in pilot.names:
            continue
        code, labels = cell_codes(asked, (*pilot.names, "template", factor))
        k, n = (
            np.bincount(code, asked[name].to_numpy(np.float64), len(labels)).astype(np.float64)
            for name in ("usable", "count")
        )
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
    if not parts:
        return pd.DataFrame(columns=[*pilot.names, *(column.name for column in LEVELS.columns)])
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(level=rows["level"].astype(object).replace("", _NONE))


def _item_shares(pilot: _Pilot) -> pd.DataFrame:
    """One row per group, template and item that was asked: its share of usable answers."""
    trials = pilot.trials
    label, item = np.nonzero(trials.T)
    rows = pilot.labels.iloc[label].reset_index(drop=True)
    return rows.assign(
        item=pilot.items[item], share=pilot.usable[item, label] / trials[item, label]
    )


# What to know of a ranking: too few templates, ties, conditions that differ.


def _add_cautions(
    findings: Findings,
    option_counts: pd.DataFrame,
    pilot: _Pilot,
    kind: pd.Series[Any],
    proposed: np.ndarray,
) -> None:
    """Templates that cannot be ranked, places given by order, items and factors that differ."""
    codes, shares = pilot.labels["template"], pilot.shares
    trials, usable = pilot.trials, pilot.usable.sum(axis=0)
    for number, group in enumerate(pilot.groups):
        in_group = pilot.group == number
        asked = np.flatnonzero(in_group & (trials.sum(axis=0) > 0))
        if not len(asked):
            findings.caution(group, "no trial was asked, so there are no shares.")
        elif len(asked) < 2:
            findings.caution(
                group,
                f"there is one template only ({codes[asked[0]]}), so none is ranked or proposed. "
                "Ask the same items with several templates.",
            )
        without = codes.iloc[asked[usable[asked] == 0]].tolist()
        if without:
            findings.caution(
                group, f"no reply to {name_list(without)} is usable, so that it is not proposed."
            )
        not_asked = codes[in_group & (trials.sum(axis=0) == 0)].tolist()
        if len(asked) and not_asked:
            findings.caution(group, f"no trial was asked with {name_list(not_asked)}, so no share.")
        present = trials[:, asked] > 0
        every, shared = int(present.any(axis=1).sum()), int(present.all(axis=1).sum())
        if len(asked) > 1 and shared < every:
            findings.caution(
                group,
                f"templates were not asked the same items: {shared} of "
                f"{count_text(every, 'item')} were asked with all of them, so that differences may "
                "be those of items. The table of pairs compares the items that both have.",
            )
    for group, name, rows in _of_each_kind(pilot, kind):
        inside, outside = rows[proposed[rows]], rows[~proposed[rows]]
        last = shares[inside[-1]] if len(inside) else math.nan
        equal = codes.iloc[outside[shares[outside] == last]].tolist()
        if equal:  # of equal shares, some are proposed and others are not
            first = codes.iloc[inside[shares[inside] == last]].tolist()
            findings.caution(
                group,
                f"of kind {name}, {name_list([*first, *equal])} have the same share "
                f"({percent_text(last, 1)}); {name_list(first)} stand first in the design and are "
                "proposed.",
            )
    rows_asked = option_counts[option_counts["status"].astype(object).isin(_STATUSES)]
    for factor in (*_WHO, "label_order"):
        if factor not in pilot.names and factor in rows_asked and not _crossed(rows_asked, factor):
            findings.cautions.append(
                f"Not every template was asked at every level of {grouping_title(factor).lower()}, "
                "so that differences may be those of its levels."
            )
    to_come = int(option_counts.loc[option_counts["status"] == NOT_ASKED, "count"].sum())
    if to_come:
        findings.cautions.append(
            f"{to_come:,} planned trials have not been asked yet; they are in no share."
        )


def _crossed(option_counts: pd.DataFrame, factor: str) -> bool:
    """Whether each template has rows at each level of a factor."""
    pairs = option_counts[["template", factor]].astype(str).drop_duplicates()
    return len(pairs) == pairs["template"].nunique() * pairs[factor].nunique()


def _add_notes(
    findings: Findings,
    option_counts: pd.DataFrame,
    pilot: _Pilot,
    kind: pd.Series[Any],
    proposed: np.ndarray,
    count: int,
) -> None:
    """Kinds of which all are proposed, templates without a kind, formats of templates."""
    for group, name, rows in _of_each_kind(pilot, kind):
        if proposed[rows].all():
            findings.note(
                group,
                f"all {len(rows)} of kind {name} are proposed: up to {count} are asked for."
                if len(rows) > 1
                else f"the only one of kind {name} is proposed.",
            )
    without_kind = list(dict.fromkeys(pilot.labels["template"][kind == NOT_STATED]))
    if without_kind and len(without_kind) < pilot.labels["template"].nunique():
        findings.notes.append(
            f"Neither personal nor impersonal by their own account: {name_list(without_kind)}."
        )
    of_answers = "format" in option_counts and "format" not in pilot.names
    if of_answers and not _crossed(option_counts, "format"):
        findings.notes.append(
            "Templates have response formats of their own: a share is that of the template with "
            "its formats."
        )

"""Scores of administrations, and scores of the same administrations in pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import ALL_ITEMS, distinct, group_name
from core.analysis.kit.rows import (
    Integers,
    administrations_of,
    codes_of,
    in_level_order,
    items_of,
    level_order,
    require_factors,
    with_columns,
)
from core.domain.attributes import is_attribute
from core.domain.factors import CONTEXT_SET, ENTITIES, ORIGIN, REWRITING, SERVICE, levels_word
from core.domain.frames import PEOPLE
from core.domain.notes import Place, about
from core.domain.numbers import cell_number, count_text
from core.domain.study import FACTORS, SETTINGS, WAYS_OF_ASKING
from core.domain.wide_scores import NOT_PLANNED, ItemScores, WideScores
from core.errors import NotEnoughData
from core.stats.inputs import name_list, unanswered_items_note
from core.stats.scores import ScoreRule, scale_scores

# Scores of administrations: means of items on each scale, and what each administration was.

_FIRST_LEVELS = ("original", "as_is", "standard", "initial")
"""Levels that others are variations of, so they come first."""


def administration_scores(item_scores: ItemScores, incomplete: ScoreRule) -> pd.DataFrame:
    """Mean of the items of every administration, on all items and on each subscale.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    incomplete : "prorated", "listwise", "half" or "available"
        A score needs an answer to 80 % of the planned items of the scale, to every one, to half of
        them, or to any.

    Returns
    -------
    pandas.DataFrame
        One row per scale ("all items" first) and administration: `scale`, `administration`,
        `score`, NaN where too few items were answered, and `n_answered`, the items it is of.
    """
    if isinstance(item_scores, WideScores):
        means: pd.DataFrame = _sums_of_wide(item_scores)
    else:
        rows = item_scores[["administration", "score"]].assign(
            scale=level_labels(item_scores["subscale"])
        )
        means = (
            pd.concat([rows.assign(scale=ALL_ITEMS), rows])
            .groupby(["scale", "administration"], sort=False)["score"]
            .agg(["sum", "count", "size"])
            .reset_index()
        )
    # as numbers, the 63-bit ids would lose digits next to a missing one
    means = means.astype({"administration": "object"})
    scores = scale_scores(means["sum"], means["count"], means["size"], incomplete)
    scored: pd.DataFrame = means[["scale", "administration"]].assign(
        score=scores, n_answered=means["count"].to_numpy()
    )
    return scored


def _sums_of_wide(item_scores: WideScores) -> pd.DataFrame:
    """Sum and count of the scores and number of items planned, by scale and administration."""
    scored, planned = np.isfinite(item_scores.scores), item_scores.status != NOT_PLANNED
    codes, names = codes_of(item_scores.items["subscale"])
    parts: list[pd.DataFrame] = []
    for scale, columns in (
        (ALL_ITEMS, np.ones(len(codes), dtype=bool)),
        *((name, codes == code) for code, name in enumerate(names)),
    ):
        size = planned[:, columns].sum(axis=1)
        own = np.where(scored[:, columns], item_scores.scores[:, columns], 0.0)
        part = pd.DataFrame(
            {
                "scale": scale,
                "administration": item_scores.administrations["administration"].to_numpy(),
                "sum": own.sum(axis=1),
                "count": scored[:, columns].sum(axis=1),
                "size": size,
            }
        )
        parts.append(part[size > 0])
    return pd.concat(parts, ignore_index=True)


# Scores are compared over the same items only, and sentences say which scores are of fewer.


@dataclass(frozen=True, eq=False)
class SharedItems:
    """Scores of some groups over the items that all levels compared have answers to.

    `item_scores` are without the other items of each group. By group and scale, `n_items` is how
    many items are left and `left_out` names the others.
    """

    item_scores: ItemScores
    n_items: Mapping[tuple[Any, str], int]
    left_out: Mapping[tuple[Any, str], tuple[str, ...]]


def over_shared_items(item_scores: ItemScores, cells: pd.DataFrame) -> SharedItems:
    """The scores over the items that have answers under every level of their group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Scores after reverse-keying.
    cells : pandas.DataFrame
        By administration, `group` and the `level` that is compared within it.

    Notes
    -----
    A mean over a hard item and one without it differ where nobody differs. A level in which fewer
    than two administrations have an answer cannot be compared, so it takes no item from the others.
    """
    items, asked = items_of(item_scores), administrations_of(item_scores)
    item, names = codes_of(items["item"])
    subscale, scales = codes_of(items["subscale"])
    item, seen = pd.factorize(item * len(scales) + subscale)  # studies may have other subscales
    names = [names[one // len(scales)] for one in seen.tolist()]
    scale_of = {code: scales[one % len(scales)] for code, one in enumerate(seen.tolist())}
    place = pd.Index(cells.index).get_indexer(pd.Index(asked["administration"].astype("object")))
    group, groups = pd.factorize(cells["group"])
    level, levels = pd.factorize(cells["level"])
    answered = np.zeros((len(groups) * len(levels), len(names)), dtype=np.bool_)
    n_administrations = np.zeros(len(answered), dtype=np.int64)
    cell = np.append(group * len(levels) + level, -1)[place]  # the last: in no cell
    if isinstance(item_scores, WideScores):
        for number in np.unique(cell[place >= 0]).tolist():
            scored = np.isfinite(item_scores.scores[cell == number])
            answered[number] = scored.any(axis=0)
            n_administrations[number] = scored.any(axis=1).sum()
    else:
        scored = item_scores["score"].notna().to_numpy() & (place >= 0)
        answered[cell[scored], item[scored]] = True
        own = np.unique(place[scored])
        np.add.at(n_administrations, (group * len(levels) + level)[own], 1)
    by_level = answered.reshape(len(groups), len(levels), len(names))
    compared = (n_administrations > 1).reshape(len(groups), len(levels), 1)
    some = np.asarray((by_level & compared).any(axis=1))
    left_out = np.asarray(some & ~(by_level | ~compared).all(axis=1))
    n_items: dict[tuple[Any, str], int] = {}
    names_left_out: dict[tuple[Any, str], tuple[str, ...]] = {}
    for number, name in enumerate(groups):
        for scale in (ALL_ITEMS, *dict.fromkeys(scale_of.values())):
            codes = [code for code, of in scale_of.items() if scale in (ALL_ITEMS, of)]
            n_items[name, scale] = int((some & ~left_out)[number, codes].sum())
            names_left_out[name, scale] = tuple(
                str(names[code]) for code in codes if left_out[number, code]
            )
    if not left_out.any():
        return SharedItems(item_scores, n_items, names_left_out)
    out = np.concatenate([left_out, np.zeros((1, len(names)), dtype=np.bool_)])
    own_group = np.where(place >= 0, group[place], -1)
    if isinstance(item_scores, WideScores):
        without = out[own_group]
        item_scores = replace(
            item_scores,
            scores=np.where(without, np.nan, item_scores.scores),
            status=np.where(without, NOT_PLANNED, item_scores.status),
        )
    else:
        item_scores = item_scores[~out[own_group, item]]
    return SharedItems(item_scores, n_items, names_left_out)


def item_group(group: Sequence[Any], scale: str, by: Sequence[str]) -> tuple[Any, ...]:
    """A scale, and the values of attributes of items that make the group, if any do.

    Groups that are alike in these may have answers to the same items.
    """
    values = zip(distinct(by), group, strict=True)
    return (scale, *(value for name, value in values if is_attribute(name)))


def basis_text(
    n_without: int, n_fewer: int, n_items: int = 0, n_items_left_out: int = 0, *, row: str = "row"
) -> str:
    """What to say in a sentence of the items and rows behind its scores; empty where of all.

    `n_without` rows have no score, `n_fewer` scores are of fewer items than others; of the items,
    `n_items` are compared, and `n_items_left_out` have answers in a part of what is compared only.
    """
    parts = []
    if n_items_left_out:
        were = "were" if n_items_left_out > 1 else "was"
        parts.append(
            f"of {count_text(n_items, 'item')}; {n_items_left_out} more {were} not answered "
            "everywhere"
        )
    if n_without:
        parts.append(f"{count_text(n_without, row)} without a score left out")
    if n_fewer:
        parts.append(
            f"{count_text(n_fewer, 'score is a mean', 'scores are means')} of some of the items"
        )
    return f" ({'; '.join(parts)})" if parts else ""


def left_out_caution(where: str, n_items: int, items: Sequence[str], among: str) -> str:
    """The caution on items that only some of what is compared has answers to."""
    if not n_items:
        return about(
            where,
            f"no item has answers in all {among}, so scores are not compared: {name_list(items)}.",
        )
    return about(
        where,
        f"{name_list(items)} {'have' if len(items) > 1 else 'has'} answers in some "
        f"{among} only and {'are' if len(items) > 1 else 'is'} left out: scores are compared over "
        f"the {count_text(n_items, 'item')} answered in all {among}.",
    )


def aggregate_administrations(scores: Any, units: Any, *, sort: bool = False) -> Any:
    """Mean score of the administrations of each unit; missing scores are passed over.

    `scores` are a Series or the columns of a frame, `units` the column or columns that make
    units. Units stand in the order in which they first come, or with `sort` in their own.
    """
    return scores.groupby(units, sort=sort).mean()


def administration_labels(item_scores: ItemScores, names: Sequence[str]) -> pd.DataFrame:
    """The levels of some columns under which each administration was given, by its id.

    Administrations stand in the order of levels that have any.

    Raises
    ------
    NotEnoughData
        The frame lacks one of the columns.
    """
    asked = administrations_of(item_scores)
    require_factors(asked, names)
    columns = asked[["administration", *names]].drop_duplicates("administration")
    columns = in_level_order(columns, names)
    labels = pd.DataFrame(
        {name: level_labels(columns[name]) for name in names}, index=columns.index
    )
    return labels.set_index(pd.Index(columns["administration"].astype("object")))


def scores_remedy(item_scores: ItemScores, incomplete: ScoreRule, otherwise: str) -> str:
    """What to do where no score is known: first about items that never got a usable answer."""
    never = _never_answered(item_scores)
    if incomplete in ("half", "available") or not never:
        return otherwise
    which = f"Item {never[0]}" if len(never) == 1 else f"Items {name_list(never)}"
    return (
        f"{which} never got a usable answer, so no scale with {'it' if len(never) == 1 else 'them'}"
        f" {'is ever complete' if incomplete == 'listwise' else 'may have enough answers'}: take "
        "scores with answers to half of the items, or choose the other items above."
    )


def unanswered_notes(item_scores: ItemScores) -> tuple[str, ...]:
    """A note on the items that nobody answered, of which no score is."""
    never = _never_answered(item_scores)
    return (unanswered_items_note(never),) if never else ()


def _never_answered(item_scores: ItemScores) -> list[str]:
    """The items without a single score."""
    if isinstance(item_scores, WideScores):
        without = ~np.isfinite(item_scores.scores).any(axis=0)
        return [str(item) for item in item_scores.items["item"].to_numpy()[without]]
    answered = (
        item_scores["score"].notna().groupby(level_labels(item_scores["item"]), sort=False).any()
    )
    return [str(item) for item in answered.index[~answered]]


def shown_scales(scales: Iterable[str]) -> list[str]:
    """All items together, then each subscale; a single subscale alone, which is all there is."""
    own = [scale for scale in dict.fromkeys(scales) if scale != ALL_ITEMS]
    return [ALL_ITEMS, *own] if len(own) > 1 else own


def scores_used(item_scores: ItemScores, used: Mapping[str, Iterable[int]]) -> int:
    """How many item scores stand behind the administrations used on each scale, each once."""
    if isinstance(item_scores, WideScores):
        asked = item_scores.administrations["administration"]
        scale_of = level_labels(item_scores.items["subscale"])
        wanted = np.zeros(item_scores.scores.shape, dtype=bool)
        for scale, ids in used.items():
            columns = np.full(len(scale_of), scale == ALL_ITEMS) | (scale_of == scale)
            wanted |= asked.isin(list(ids)).to_numpy()[:, None] & columns
        return int((wanted & np.isfinite(item_scores.scores)).sum())
    administration, subscale = item_scores["administration"], level_labels(item_scores["subscale"])
    is_used = administration.isin(list(used.get(ALL_ITEMS, ())))
    for scale, ids in used.items():
        is_used |= (subscale == scale) & administration.isin(list(ids))
    return int((is_used & item_scores["score"].notna()).sum())


def level_labels(column: pd.Series[Any]) -> Any:
    """Whole numbers as int, nothing as empty text, anything else as text, row by row."""
    codes, values = codes_of(column)
    return np.array(values, dtype=object)[codes]


def level_sort_key(level: Any) -> tuple[int, Any, str]:
    """Where a level stands: numbers in their order, what others vary, then the alphabet."""
    size = cell_number(level) if isinstance(level, str) else level
    if size is not None and math.isfinite(size):
        return 0, float(size), str(level)
    return 1, _FIRST_LEVELS.index(level) if level in _FIRST_LEVELS else 99, str(level)


def levels_in_order(item_scores: ItemScores, factor: str) -> list[Any]:
    """The levels of a factor that a frame has, in the order in which tables name them."""
    column = administrations_of(item_scores)[factor]
    return level_order(column) or sorted(codes_of(column)[1], key=level_sort_key)


def level_name(level: Any) -> Any:
    """What to call a level in a table."""
    return "(none)" if level == "" else level


# Independent units: what the administrations of a comparison are repetitions of.

_FOLLOWS_FROM = {
    "model": ("respondent",),
    "respondent": ("model",),
    SERVICE: ("respondent", "model"),
}
_UNITS = ("context", *ENTITIES, "respondent")
"""Factors whose levels are individuals, the first one that varies before the others."""


def independent_units(
    asked: pd.DataFrame, compared: str, group: Integers, *, across_studies: bool = False
) -> pd.DataFrame:
    """What each administration is an answer of: a person, a context, an entity, a respondent.

    Parameters
    ----------
    asked : pandas.DataFrame
        By administration, `level` (that is compared), study and the factors, and PEOPLE where some
        rows are of people (see `administration_labels`).
    compared : str
        The factor whose levels are compared. It makes no units; levels of REWRITING share the
        context that both come from (column ORIGIN).
    group : (administrations,)
        Numbers of what is set side by side.
    across_studies : bool
        Whether people of two studies with the same code are the same.

    Returns
    -------
    pandas.DataFrame
        By administration, `unit`, the same number for the same unit of a group, and `kind`:
        "person", "context", "entity", "respondent", or "repetition" and "administration" where an
        administration is a unit by itself.

    Notes
    -----
    Rows of people are of a person. Others are of the first of context, entity and respondent that
    varies in their group. A level with one such unit, which no other level has, has no units but
    its administrations: a model without contexts that is set beside people.
    """
    number = np.arange(len(asked))
    kind = np.full(len(asked), "", dtype=object)
    keys = pd.DataFrame({"group": group, "own": -1, "first": "", "second": "", "third": ""})
    keys = keys.astype({"first": object, "second": object, "third": object})
    context = asked["context"]
    if compared == REWRITING and ORIGIN in asked:
        context = asked[ORIGIN].where(asked[ORIGIN] != "", context)
    labels = asked.assign(context=context)
    excluded = {compared, *_FOLLOWS_FROM.get(compared, ())}
    person = [name for name in ("respondent", "context") if name not in excluded]
    people = np.array(asked[PEOPLE], dtype=bool) if PEOPLE in asked else kind != ""
    for code in np.unique(group[people]).tolist():
        rows = people & (group == code)  # answers of one respondent are not those of people
        people[rows] = len(labels.loc[rows, person].drop_duplicates()) > 1
    kind[people] = "person"
    for column, name in zip(("first", "second"), person, strict=False):
        keys.loc[people, column] = labels[name].to_numpy()[people]
    if not across_studies:
        keys.loc[people, "third"] = labels["study"].to_numpy()[people]
    for code in np.unique(group[~people]).tolist():
        rows = ~people & (group == code)
        varying = (name for name in _UNITS if name in labels and name not in excluded)
        name = next((n for n in varying if len(labels[n][rows].unique()) > 1), "")
        if name:
            kind[rows] = "entity" if name in ENTITIES else name
            keys.loc[rows, "first"] = labels[name].to_numpy()[rows]
        else:
            keys.loc[rows, "own"] = number[rows]
    cells = keys.assign(kind=kind, level=asked["level"].to_numpy())
    unit = cells.groupby([*keys, "kind"], sort=False).ngroup()
    of_level = unit.groupby([cells["group"], cells["level"]], sort=False)
    alone = (of_level.transform("nunique") == 1) & (of_level.transform("size") > 1)
    alone &= cells["level"].groupby(unit).transform("nunique") == 1
    alone_rows = alone.to_numpy() & ~people
    units = np.where(alone_rows, unit.max() + 1 + number, unit.to_numpy())
    by_itself = alone_rows | (kind == "")
    repeated = len(labels["repetition"].unique()) > 1 if "repetition" in labels else False
    kind[by_itself] = "repetition" if repeated else "administration"
    return pd.DataFrame({"unit": units, "kind": kind}, index=asked.index)


def averaged_factors(asked: pd.DataFrame, unit: pd.Series[Any]) -> tuple[str, ...]:
    """The factors in which administrations of the same unit and level differ.

    `asked` has the factors and `level` of every administration, `unit` its unit.
    """
    cells = asked.groupby([unit, asked["level"]], sort=False)
    if cells.ngroups == len(asked):
        return ()
    differ = [
        name
        for name in FACTORS
        if name in asked
        and len(asked[name].unique()) > 1
        and (cells[name].transform("first") != asked[name]).any()
    ]
    return tuple(name for name in differ if name != "model" or "respondent" not in differ)


# Matching: one number for administrations that agree in some columns.


def unit_numbers(parts: Sequence[pd.DataFrame], names: Sequence[str]) -> list[Integers]:
    """A number for every row of some frames, the same where rows agree in the columns named.

    Numbers follow the order in which the frames, one after the other, first hold such a row.
    """
    ends = np.cumsum([len(part) for part in parts])
    number = np.zeros(ends[-1], dtype=np.int64)
    for name in names:
        place: dict[Any, int] = {}
        codes = []
        for part in parts:
            own, values = codes_of(part[name])
            codes.append(np.array([place.setdefault(value, len(place)) for value in values])[own])
        number = pd.factorize(number * max(len(place), 1) + np.concatenate(codes))[0]
    return np.split(number, ends[:-1])


def repeated_note(n: int) -> str:
    """The note on administrations that agree in study and every factor."""
    return (
        f"{n} administrations are the same as another in study and every factor, so they cannot "
        "be matched and were left out."
    )


# Paired scores: a row per unit, a column per level of one factor.

_ASKED_WITH = ("language", *WAYS_OF_ASKING)
"""Factors in which whole studies may differ: what was asked, not who or under which context."""

_OF_RESPONDENT = ("model", SERVICE, *SETTINGS)
"""What a respondent can decide."""

_AS_ASKED = "as asked"
"""The context itself, in a frame where its origin stands in its place."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of one group on one scale: a row per matched unit, a column per level.

    A unit is whatever is the same in study and all other factors. `scores` are means of items in
    score points after reverse-keying, NaN where there is none; `administrations` are tuples of the
    ids behind them (missing where there is no administration).
    """

    group: tuple[Any, ...]
    scale: str
    scores: pd.DataFrame
    administrations: pd.DataFrame
    n_answered: pd.DataFrame
    """Items that each score is of."""
    n_items: int
    items_left_out: tuple[str, ...] = ()
    """Items that only some levels have answers to; scores are of the other `n_items`."""

    @property
    def where(self) -> str:
        """What to call group and scale in a note."""
        return Place(group_name(self.group), "scale", self.scale)


@dataclass(frozen=True, eq=False)
class Pairing:
    """A frame made ready to be paired by `factor`.

    `by` are the groups, `others` the columns in which partners agree, and `confounded` says what
    is compared together with the factor.
    """

    item_scores: ItemScores
    factor: str
    by: tuple[str, ...]
    others: tuple[str, ...]
    confounded: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    """What whole studies or respondents differ in, where it is these that are compared."""


def prepare_pairing(item_scores: ItemScores, factor: str, by: Sequence[str]) -> Pairing:
    """What scores have to agree in to be partners under two levels of `factor`.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        With one row or more.
    factor : "study", "rewriting" or a factor
        Its levels are compared.
    by : sequence of factors
        Groups; `factor` itself is ignored here.

    Raises
    ------
    NotEnoughData
        The frame lacks a column that is needed.

    Notes
    -----
    Partners agree in study and every other factor, with three exceptions. A rewritten context takes
    the place of the one it was made from, in its set as well. Studies each asked with one level
    of something (say, each with one form) are compared with that difference included, and a note
    says so: without it no two scores of theirs would agree. So are respondents, each of one model;
    and where models, services or settings are compared, each of other respondents, the respondent
    is not held the same, but the model is.
    """
    names = tuple(name for name in distinct(by) if name != factor)
    # an administration is one for each value of an attribute that makes groups
    others = (*(n for n in ("study", *FACTORS) if n != factor), *filter(is_attribute, names))
    if factor == REWRITING:
        return Pairing(_with_origins(item_scores), factor, names, others)
    if factor in _OF_RESPONDENT and _is_of_respondents(item_scores, factor):
        names = distinct(["model" if name == "respondent" else name for name in names])
        names, others = (
            tuple(name for name in every if name not in ("respondent", factor))
            for every in (names, others)
        )
        return Pairing(item_scores, factor, names, others)
    along = {"study": _ASKED_WITH, "respondent": _OF_RESPONDENT}.get(factor, ())
    merged = {
        name: levels
        for name in along
        if (factor == "study" or name not in names)
        and (levels := _levels_along(item_scores, factor, name))
    }
    confounded = tuple(
        f"The {levels_word(factor)} also differ in {name.replace('_', ' ')} ({levels}), so both "
        "differences are compared together."
        for name, levels in merged.items()
        if name not in ("model", SERVICE)  # which a respondent is
    )
    return Pairing(
        item_scores,
        factor,
        tuple(name for name in names if name not in merged),
        tuple(name for name in others if name not in merged),
        confounded,
        tuple(merged),
    )


def paired_scores(
    paired: Pairing, incomplete: ScoreRule
) -> tuple[tuple[PairedScores, ...], ItemScores, tuple[str, ...]]:
    """Scores by matched unit and level of a frame that has been made ready.

    Also the item scores that they are made of, and notes.

    They are over the items that all levels have answers to. Studies may be of different banks, so
    their scores are of all items.
    """
    cells, notes = _cells(paired)
    shared = over_shared_items(paired.item_scores, cells)
    of_items = paired.item_scores if paired.factor == "study" else shared.item_scores
    scored = administration_scores(of_items, incomplete)
    scored = scored.join(cells, on="administration", how="inner")
    every_level = levels_in_order(paired.item_scores, paired.factor)
    pairs = []
    for number, own in scored.groupby("group", sort=True):
        group = tuple(own[f"by {name}"].iloc[0] for name in paired.by)
        notes += [
            f"{group_name(group)}, scale {scale or '(none)'}: no item has answers under all levels."
            for (of, scale), items in shared.left_out.items()
            if of == number and items and not shared.n_items[of, scale]
        ]
        for scale in shown_scales(own["scale"]):
            part = own[own["scale"] == scale]
            present = set(part["level"])
            levels = [level for level in every_level if level in present]
            table = _one_row_each(part)
            scores, ids, n_answered = (
                table.pivot(index="unit", columns="level", values=name).reindex(columns=levels)
                for name in ("score", "ids", "n_answered")
            )
            pairs.append(
                PairedScores(
                    group,
                    scale,
                    scores,
                    ids,
                    n_answered,
                    shared.n_items[number, scale],
                    shared.left_out[number, scale],
                )
            )
    return tuple(pairs), of_items, tuple(notes)


def _one_row_each(part: pd.DataFrame) -> pd.DataFrame:
    """One row per unit and level: the mean score there, and the ids behind it."""
    if part.duplicated(["unit", "level"]).any():
        cells = [part["unit"], part["level"]]
        means = aggregate_administrations(part["score"], cells)
        same = part.groupby(cells, sort=False)
        ids, fewest = same["administration"].agg(tuple), same["n_answered"].min()
        columns = {"score": means, "ids": ids, "n_answered": fewest}
        return pd.DataFrame(columns).rename_axis(["unit", "level"]).reset_index()
    return part.assign(ids=part["administration"].map(lambda one: (one,)))


def _cells(paired: Pairing) -> tuple[pd.DataFrame, list[str]]:
    """Group, matched unit and level of every administration, indexed by its id."""
    frame, code = administrations_of(paired.item_scores), _AS_ASKED
    wanted = dict.fromkeys((*paired.others, paired.factor, *paired.by))
    own = administration_labels(frame, [*wanted, *([code] if code in frame else [])])
    cells = (
        own[list(paired.by)]
        .add_prefix("by ")
        .assign(
            level=own[paired.factor],
            unit=unit_numbers([own], paired.others)[0],
            group=own.groupby(list(paired.by), sort=False).ngroup() if paired.by else 0,
            code=own.get(code, ""),
        )
    )
    repeated = cells.duplicated(["unit", "level", "code"], keep=False)
    notes = []
    if repeated.any():
        notes.append(repeated_note(int(repeated.sum())))
    unique = cells[~repeated]
    several = own.loc[unique.index[unique.duplicated(["unit", "level"])], "context"].unique()
    if len(several):
        notes.append(
            f"Several rewritings of one context are averaged, so that it is one pair: "
            f"{name_list([str(name) for name in several])}."
        )
    return unique, notes


def _with_origins(item_scores: ItemScores) -> ItemScores:
    """The scores with every rewritten context under the name and in the set of its origin."""
    frame = administrations_of(item_scores)
    for name in (REWRITING, ORIGIN):
        if name not in frame:
            raise NotEnoughData(
                "The answers do not say which contexts are rewritten.",
                "Choose a study whose contexts were rewritten in Inkblot.",
            )
    context, origin = level_labels(frame["context"]), level_labels(frame[ORIGIN])
    origin = pd.Series(origin, index=frame.index).where(origin != "", context)
    columns = {"context": origin, _AS_ASKED: context}
    if CONTEXT_SET in frame:
        asked = pd.Series(level_labels(frame[CONTEXT_SET]), index=frame.index)
        sets = dict(zip(context, asked, strict=True))
        columns[CONTEXT_SET] = origin.map(sets).where(origin.isin(list(sets)), asked)
    return with_columns(item_scores, columns)


def _is_of_respondents(item_scores: ItemScores, factor: str) -> bool:
    """Whether each respondent has one level of a factor, and each model one respondent at each."""
    frame = administrations_of(item_scores)
    if factor not in frame or not _levels_along(item_scores, "respondent", factor):
        return False
    held = list(dict.fromkeys(("model", factor)))
    people = frame[["respondent", *held]].astype("object").drop_duplicates()
    return not people.duplicated(held).any()


def _levels_along(item_scores: ItemScores, factor: str, name: str) -> str:
    """The levels of `name`, one for each level of `factor`; empty where this is not so."""
    frame = administrations_of(item_scores)
    if name not in frame or factor not in frame:
        return ""
    pairs = frame[[factor, name]].astype("object").drop_duplicates()
    pairs = pairs.assign(**{each: level_labels(pairs[each]) for each in (factor, name)})
    pairs = pairs.drop_duplicates()
    if pairs[factor].duplicated().any() or pairs[name].nunique() < 2:
        return ""
    return ", ".join(
        f"{level_name(level)}: {level_name(other)}"
        for level, other in zip(pairs[factor], pairs[name], strict=True)
    )

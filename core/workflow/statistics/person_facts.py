"""Facts about people (`person.NAME`) of studies: what there is, and as columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from core.analysis.kit.rows import administrations_of
from core.domain.factors import (
    BANDS,
    ContextColumn,
    Filters,
    fact_name,
    grouping_title,
    is_person_fact,
)
from core.domain.numbers import count_text
from core.domain.people import (
    PERSON_FACT,
    Band,
    FactKind,
    PersonFact,
    bands,
    proposed_cuts,
    wanted_range,
)
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.inputs import name_list
from core.store import frames, people, studies
from core.store.people import MOST_LEVELS, FactSummary
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class KnownFact:
    """A fact about the people of some studies.

    `levels` are the values in order, None where there are too many to list; `bands` are those of a
    number, and none for a fact of another kind.
    """

    kind: FactKind
    n_levels: int
    levels: tuple[str, ...] | None
    bands: tuple[Band, ...]
    remarks: tuple[str, ...] = ()
    """Where studies differ in the kind or in the cuts of the bands."""


def known_facts(workspace: Workspace, codes: Sequence[str]) -> dict[str, KnownFact]:
    """Every fact that some studies know of their people, by its name (`person.NAME`)."""
    by_name: dict[str, dict[str, PersonFact]] = {}
    for code, fact in people.facts_by_study(workspace.database, codes):
        by_name.setdefault(fact.name, {})[code] = fact
    if not by_name:
        return {}
    summaries = people.summaries(workspace.database, codes)
    return {
        PERSON_FACT + name: _together(PERSON_FACT + name, own, summaries.get(name, FactSummary()))
        for name, own in by_name.items()
    }


def _together(name: str, by_study: Mapping[str, PersonFact], summary: FactSummary) -> KnownFact:
    """One fact of some studies, whose people stand together."""
    kinds = dict.fromkeys(fact.kind for fact in by_study.values())
    kind = next(iter(kinds)) if len(kinds) == 1 else "category"
    listed = [fact for fact in by_study.values() if fact.kind != "number"]
    ordered = dict.fromkeys(level for fact in listed for level in fact.levels)
    remarks = []
    if len(kinds) > 1:
        words = [f"{_KIND_WORDS[fact.kind]} in {code}" for code, fact in by_study.items()]
        remarks.append(
            f"{name} is {' and '.join(words)}: its values stand side by side as they are."
        )
    cuts = [tuple(map(float, f.levels)) for f in by_study.values() if f.kind == "number"]
    own_cuts = list(dict.fromkeys(own for own in cuts if own))
    if len(own_cuts) > 1:
        remarks.append(
            f"The studies have other bands of {name}: those of the first are used for all."
        )
    made: tuple[Band, ...] = ()
    if cuts:
        low, high, whole = summary.low, summary.high, summary.whole
        proposed = proposed_cuts(summary.quartiles, low, high, whole=whole)
        made = bands(own_cuts[0] if own_cuts else proposed, whole=whole)
    levels = None
    if summary.values is not None:
        numbers = sorted(set(summary.values) - set(ordered), key=_number_first)
        levels = (*(one for one in ordered if one in summary.values), *numbers)
    return KnownFact(kind, summary.n_values, levels, made, tuple(remarks))


_KIND_WORDS: Mapping[FactKind, str] = {
    "category": "a category",
    "ordered": "an ordered category",
    "number": "a number",
}


def _number_first(value: str) -> tuple[bool, float, str]:
    """Where a value stands that no fact has in order: numbers by size, then texts."""
    held = wanted_range(value)
    return held is None, held.low if held else 0, value


def levels(workspace: Workspace, study: str) -> dict[str, list[str]]:
    """The levels of each fact in which the people of a study differ, also as bands, in order.

    People without a value are the last level, an empty text, where there are any. A fact of more
    than 200 levels is listed by its bands alone.
    """
    known = known_facts(workspace, [study])
    offered: dict[str, list[str]] = {}
    for name, fact in known.items():
        if fact.levels is not None:
            offered[name] = list(fact.levels)
        if fact.bands:
            offered[f"{name}{BANDS}"] = [band.name for band in fact.bands]
    if not offered:
        return {}
    columns = [ContextColumn(name) for name in known]
    rows = frames.contexts(workspace.database, [study], {}, columns)
    without = {name for name in known if (rows[name] == "").any()}
    every = {
        name: [*own, *([""] if name.removesuffix(BANDS) in without else [])]
        for name, own in offered.items()
    }
    return {name: own for name, own in every.items() if len(own) > 1}


def require_facts(workspace: Workspace, codes: Sequence[str], where: Filters) -> None:
    """Raise NotEnoughData where a filter names no fact of the studies, or no band of a number."""
    wanted = [name for name in where if is_person_fact(name)]
    if not wanted:
        return
    known = known_facts(workspace, codes)
    for name in wanted:
        _require(codes, known, name)
        wrong = [str(v) for v in where[name] if v and wanted_range(str(v)) is None]
        if name.endswith(BANDS) and wrong:
            made = ", ".join(band.name for band in known[PERSON_FACT + fact_name(name)].bands)
            raise NotEnoughData(
                f"'{wrong[0]}' is no band of {name}.", f"Use: {made}, or a range such as 30..44."
            )


def _require(codes: Sequence[str], known: Mapping[str, KnownFact], name: str) -> None:
    fact = known.get(PERSON_FACT + fact_name(name))
    numbers = [f"{own}{BANDS}" for own, other in known.items() if other.bands]
    if fact is None:
        raise NotEnoughData(
            f"Nothing called '{name}' is known of the people of {name_list(codes)}.",
            f"Use: {', '.join((*known, *numbers))}."
            if known
            else "Facts about people come with an import, in columns such as person.gender.",
        )
    if name.endswith(BANDS) and not fact.bands:
        raise NotEnoughData(
            f"{name.removesuffix(BANDS)} is no number, so it has no bands.",
            f"Use {name.removesuffix(BANDS)}"
            f"{''.join(f', {own}' for own in numbers)}, or make it a number on Import and export.",
        )


def fact_columns(
    workspace: Workspace, codes: Sequence[str], names: Iterable[str]
) -> tuple[ContextColumn, ...]:
    """The columns of the facts among `names`.

    Raises
    ------
    NotEnoughData
        A fact is unknown, has too many levels for groups, or has no bands.
    """
    wanted = sorted(set(filter(is_person_fact, names)))
    known = known_facts(workspace, codes) if wanted else {}
    columns = []
    for name in wanted:
        _require(codes, known, name)
        fact = known[PERSON_FACT + fact_name(name)]
        if name.endswith(BANDS):
            columns.append(ContextColumn(name, fact.bands))
            continue
        if fact.n_levels > MOST_LEVELS:
            raise NotEnoughData(
                f"{name} has {fact.n_levels:,} levels, which are too many for groups.",
                f"Use {name}{BANDS}." if fact.bands else "Choose another factor.",
            )
        columns.append(ContextColumn(name))
    return tuple(columns)


def in_order(
    workspace: Workspace,
    codes: Sequence[str],
    columns: Sequence[ContextColumn],
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """The frame with the levels of facts in their order, which groups and tables follow."""
    own = [column for column in columns if is_person_fact(column.name)]
    known = known_facts(workspace, codes) if own else {}
    ordered = {}
    for column in own:
        names = [band.name for band in column.bands] or known[column.name].levels or ()
        dtype = pd.CategoricalDtype([*names, ""], ordered=True)
        ordered[column.name] = frame[column.name].astype(dtype)
    return frame.assign(**ordered)


def with_value(item_scores: ItemScores, name: str) -> ItemScores:
    """The rows of those of whom a fact is known, which is to be compared."""
    known = (administrations_of(item_scores)[name] != "").to_numpy()
    if known.all():
        return item_scores
    if isinstance(item_scores, pd.DataFrame):
        return item_scores[known]
    return replace(
        item_scores,
        administrations=item_scores.administrations[known].reset_index(drop=True),
        scores=item_scores.scores[known],
        status=item_scores.status[known],
    )


def notes(
    workspace: Workspace,
    codes: Sequence[str],
    where: Filters,
    names: Iterable[str],
    compared: str = "",
) -> tuple[str, ...]:
    """What to say of the facts that make groups, or that are `compared`.

    People without a value, facts in which nobody differs, and studies that do not agree.
    """
    columns = fact_columns(workspace, codes, (*names, compared))
    if not columns:
        return ()
    known = known_facts(workspace, codes)
    rows = frames.contexts(workspace.database, codes, where, columns)
    imported = all(studies.frozen_study(workspace.database, c).kind == "imported" for c in codes)
    said: list[str] = []
    for name in (column.name for column in columns):
        said += known[PERSON_FACT + fact_name(name)].remarks
        n_without = int((rows[name] == "").sum())
        if n_without:
            who = ("person has", "people have") if imported else ("context has", "contexts have")
            outcome = f"left out, as {name} is compared" if name == compared else "the group (none)"
            said.append(
                f"{count_text(n_without, *who)} no value of {name}: "
                f"{'it is' if n_without == 1 and not imported else 'they are'} {outcome}."
            )
        present = rows.loc[rows[name] != "", name].unique()
        if len(present) == 1 and not any(fact_name(name) == fact_name(one) for one in where):
            title = grouping_title(name)
            said.append(f"Nobody differs in {title[:1].lower()}{title[1:]}: it is {present[0]}.")
    return tuple(dict.fromkeys(said))


def filtered(
    workspace: Workspace, codes: Sequence[str], where: Filters, frame: pd.DataFrame
) -> pd.DataFrame:
    """The rows, with `study` and `context`, whose people pass the filters by facts."""
    own: dict[str, Sequence[Any]] = {n: v for n, v in where.items() if is_person_fact(n)}
    if not own:
        return frame
    passing = frames.contexts(workspace.database, codes, own, ())
    keys = pd.MultiIndex.from_frame(passing[["study", "context"]])
    return frame[pd.MultiIndex.from_frame(frame[["study", "context"]].astype("str")).isin(keys)]

"""Facts about people (`person.NAME`) of studies: what there is, and as columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import pandas as pd

from core.analysis.kit.rows import administrations_of
from core.domain.factors import (
    BANDS,
    ContextColumn,
    Filters,
    fact_name,
    grouping_title,
    is_of_context,
    is_person_fact,
)
from core.domain.numbers import count_text
from core.domain.people import (
    PERSON_FACT,
    Band,
    FactKind,
    PersonFact,
    bands,
    code_order,
    proposed_cuts,
    wanted_range,
)
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData, WrongOption
from core.stats.inputs import name_list
from core.store import frames, people, studies
from core.store.database import Database
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
    typed_bands: bool = False
    """Whether somebody has set the cuts of the bands, which are near the quartiles otherwise."""
    remarks: tuple[str, ...] = ()
    """Where studies differ in the kind or in the cuts of the bands."""


def known_facts(database: Database, codes: Sequence[str]) -> dict[str, KnownFact]:
    """Every fact that some studies know of their people, by its name (`person.NAME`)."""
    return dict(_known_facts(database, tuple(codes), studies.revision(database, codes)))


@lru_cache(maxsize=16)
def _known_facts(
    database: Database, codes: tuple[str, ...], _revision: object
) -> Mapping[str, KnownFact]:
    """The same, kept as long as the studies stay as they are: an analysis asks several times."""
    by_name: dict[str, dict[str, PersonFact]] = {}
    for code, fact in people.facts_by_study(database, codes):
        by_name.setdefault(fact.name, {})[code] = fact
    if not by_name:
        return {}
    summaries = people.summaries(database, codes)
    return {
        PERSON_FACT + name: _together(
            PERSON_FACT + name, by_study, summaries.get(name, FactSummary())
        )
        for name, by_study in by_name.items()
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
    typed_cuts = list(dict.fromkeys(filter(None, cuts)))
    if len(typed_cuts) > 1:
        remarks.append(
            f"The studies have other bands of {name}: those of the first are used for all."
        )
    made: tuple[Band, ...] = ()
    if cuts:
        low, high, whole = summary.low, summary.high, summary.whole
        proposed = proposed_cuts(summary.quartiles, low, high, whole=whole)
        made = bands(typed_cuts[0] if typed_cuts else proposed, whole=whole)
    levels = None
    if summary.values is not None:
        numbers = sorted(set(summary.values) - set(ordered), key=code_order)
        levels = (*(level for level in ordered if level in summary.values), *numbers)
    return KnownFact(kind, summary.n_values, levels, made, bool(typed_cuts), tuple(remarks))


_KIND_WORDS: Mapping[FactKind, str] = {
    "category": "a category",
    "ordered": "an ordered category",
    "number": "a number",
}


def levels(workspace: Workspace, study: str) -> dict[str, list[str]]:
    """The levels of each fact in which the people of a study differ, also as bands, in order.

    People without a value are the last level, an empty text, where there are any. A fact of more
    than 200 levels is listed by its bands alone.
    """
    revision = studies.revision(workspace.database, [study])
    return dict(_levels(workspace.database, study, revision))


@lru_cache(maxsize=16)
def _levels(database: Database, study: str, _revision: object) -> Mapping[str, list[str]]:
    """The same, kept as long as the study stays as it is: pages ask often."""
    facts = known_facts(database, [study])
    offered: dict[str, list[str]] = {}
    for name, fact in facts.items():
        if fact.levels is not None:
            offered[name] = list(fact.levels)
        if fact.bands:
            offered[f"{name}{BANDS}"] = [band.name for band in fact.bands]
    if not offered:
        return {}
    columns = [ContextColumn(name) for name in facts]
    rows = frames.contexts(database, [study], {}, columns)
    without = {name for name in facts if (rows[name] == "").any()}
    every = {
        name: [*listed, *([""] if name.removesuffix(BANDS) in without else [])]
        for name, listed in offered.items()
    }
    return {name: listed for name, listed in every.items() if len(listed) > 1}


def require_facts(workspace: Workspace, codes: Sequence[str], where: Filters) -> None:
    """Raise NotEnoughData where a filter names no fact of the studies, or no band of a number."""
    wanted = [name for name in where if is_person_fact(name)]
    if not wanted:
        return
    facts = known_facts(workspace.database, codes)
    for name in wanted:
        _require(codes, facts, name)
        wrong = [str(v) for v in where[name] if v and wanted_range(str(v)) is None]
        if name.endswith(BANDS) and wrong:
            made = ", ".join(band.name for band in facts[PERSON_FACT + fact_name(name)].bands)
            raise WrongOption(
                f"'{wrong[0]}' is no band of {name}.", f"Use: {made}, or a range such as 30..44."
            )


def _require(codes: Sequence[str], facts: Mapping[str, KnownFact], name: str) -> None:
    """Raise NotEnoughData where there is no such fact, or where its bands are asked in vain."""
    plain = PERSON_FACT + fact_name(name)
    numbers = [f"{number}{BANDS}" for number, fact in facts.items() if fact.bands]
    if plain not in facts:
        raise WrongOption(
            f"Nothing called '{name}' is known of the people of {name_list(codes)}.",
            f"Use: {', '.join((*facts, *numbers))}."
            if facts
            else "Facts about people come with an import, in columns such as person.gender.",
        )
    if name.endswith(BANDS) and not facts[plain].bands:
        raise WrongOption(
            f"{plain} is no number, so it has no bands.",
            f"Use {', '.join((plain, *numbers))}, or make it a number on Import and export.",
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
    facts = known_facts(workspace.database, codes) if wanted else {}
    columns = []
    for name in wanted:
        _require(codes, facts, name)
        fact = facts[PERSON_FACT + fact_name(name)]
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
    """The frame with the levels of facts in their order, which groups and tables follow.

    Rows of counts and texts stand in it as well.
    """
    of_people = [column for column in columns if is_person_fact(column.name)]
    facts = known_facts(workspace.database, codes) if of_people else {}
    ordered = {}
    for column in of_people:
        names = [band.name for band in column.bands] or facts[column.name].levels or ()
        dtype = pd.CategoricalDtype([*names, ""], ordered=True)
        ordered[column.name] = frame[column.name].astype(dtype).cat.remove_unused_categories()
    frame = frame.assign(**ordered)
    if ordered and "administration" not in frame:
        return frame.sort_values(list(ordered), kind="stable", ignore_index=True)
    return frame


def with_value(item_scores: ItemScores, name: str) -> ItemScores:
    """The rows of those of whom a fact is known, which is to be compared."""
    asked = administrations_of(item_scores)
    has_value = (asked[name] != "").to_numpy()
    if has_value.all():
        return item_scores
    asked = asked[has_value].reset_index(drop=True)
    asked = asked.assign(**{name: asked[name].cat.remove_unused_categories()})
    if isinstance(item_scores, pd.DataFrame):
        return asked
    return replace(
        item_scores,
        administrations=asked,
        scores=item_scores.scores[has_value],
        status=item_scores.status[has_value],
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
    facts = known_facts(workspace.database, codes)
    rows = frames.contexts(workspace.database, codes, where, columns)
    filtered_facts = {fact_name(name) for name in where if is_person_fact(name)}
    imported = all(studies.frozen_study(workspace.database, c).kind == "imported" for c in codes)
    sentences: list[str] = []
    for name in (column.name for column in columns):
        sentences += facts[PERSON_FACT + fact_name(name)].remarks
        n_without = int((rows[name] == "").sum())
        if n_without:
            who = ("person has", "people have") if imported else ("context has", "contexts have")
            outcome = f"left out, as {name} is compared" if name == compared else "the group (none)"
            sentences.append(
                f"{count_text(n_without, *who)} no value of {name}: "
                f"{'it is' if n_without == 1 and not imported else 'they are'} {outcome}."
            )
        present = rows.loc[rows[name] != "", name].unique()
        if len(present) == 1 and fact_name(name) not in filtered_facts:
            title = grouping_title(name)
            sentences.append(
                f"Nobody differs in {title[:1].lower()}{title[1:]}: it is {present[0]}."
            )
    return tuple(dict.fromkeys(sentences))


def filtered(
    workspace: Workspace, codes: Sequence[str], where: Filters, frame: pd.DataFrame
) -> pd.DataFrame:
    """The rows, with `study` and `context`, whose contexts pass the filters."""
    of_contexts: dict[str, Sequence[Any]] = {n: v for n, v in where.items() if is_of_context(n)}
    if not of_contexts:
        return frame
    passing = frames.contexts(workspace.database, codes, of_contexts, ())
    keys = pd.MultiIndex.from_frame(passing[["study", "context"]])
    return frame[pd.MultiIndex.from_frame(frame[["study", "context"]].astype("str")).isin(keys)]

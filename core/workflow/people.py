"""Facts about the people of a study: taken from files, shown, edited, and given back."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from core.domain.factors import BANDS
from core.domain.people import (
    FACT_KINDS,
    PERSON_FACT,
    FactKind,
    PersonFact,
    fact_problems,
    guessed_fact,
)
from core.errors import DesignError
from core.store import people as store
from core.store import studies
from core.store.database import Database
from core.workflow import study_log
from core.workflow.workspace import Workspace

__all__ = ["FACT_KINDS", "FactKind", "PersonFact"]


def facts(workspace: Workspace, study: str) -> tuple[PersonFact, ...]:
    """What a study knows of its people."""
    return store.facts(workspace.database, studies.get(workspace.database, study).study_id)


def are_contexts_of(workspace: Workspace, study: str) -> bool:
    """Whether the contexts of a study are people: it was brought in with facts about them."""
    record = studies.frozen_study(workspace.database, study)
    return record.kind == "imported" and bool(store.facts_by_study(workspace.database, [study]))


def explored_by(workspace: Workspace, codes: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The facts that studies know of their people, as factors: a number by its bands."""
    by_study: dict[str, list[str]] = {}
    for code, fact in store.facts_by_study(workspace.database, codes):
        bands = BANDS if fact.kind == "number" else ""
        by_study.setdefault(code, []).append(f"{PERSON_FACT}{fact.name}{bands}")
    return by_study


def table(workspace: Workspace, study: str) -> pd.DataFrame:
    """A row for each person of whom something is known: context, and a column for each fact."""
    record = studies.get(workspace.database, study)
    values = store.values(workspace.database, record.study_id)
    names = [fact.name for fact in store.facts(workspace.database, record.study_id)]
    wide = values.pivot(index="context", columns="name", values="value")
    return wide.reindex(columns=names).fillna("").rename_axis(columns=None).reset_index()


def refuse_others(database: Database, study_id: int, values: pd.DataFrame) -> None:
    """Raise DesignError where a file says something else of a person than what is on file."""
    both = store.values(database, study_id).merge(
        values[["context", "name", "value"]], on=["context", "name"], suffixes=("", "_new")
    )
    other = both[both["value"] != both["value_new"]]
    if len(other):
        first = other.iloc[0]
        raise DesignError(
            f"'{first['name']}' of '{first['context']}' is '{first['value']}' on file and "
            f"'{first['value_new']}' in the file.",
            "Correct the file, or the value on the page Import and export.",
        )


def add(
    workspace: Workspace,
    study_id: int,
    values: pd.DataFrame,
    labelled: Sequence[PersonFact] = (),
) -> None:
    """Add what a file says of people: context, name and value, one value of each.

    `labelled` are facts whose levels the file has in order. The order of a fact on file stays.

    Raises
    ------
    DesignError
        Something else is on file of a person.
    """
    if values.empty:
        return
    refuse_others(workspace.database, study_id, values)
    before, own = store.values(workspace.database, study_id), values[["context", "name", "value"]]
    together = pd.concat([before, own]).drop_duplicates(["context", "name"])
    known = {fact.name: fact for fact in store.facts(workspace.database, study_id)}
    of_file = {fact.name: fact for fact in labelled}
    made = []
    for name, group in together.groupby("name", sort=False):
        guess = guessed_fact(str(name), group["value"])
        with_labels = of_file.get(str(name), guess) if guess.kind == "category" else guess
        fact = known.get(str(name), with_labels)
        if fact.kind != "number":
            levels = (*fact.levels, *with_labels.levels, *guess.levels)
            fact = replace(fact, levels=tuple(dict.fromkeys(levels)))
        made.append(fact)
    store.save(workspace.database, study_id, made, together)


def save(workspace: Workspace, study: str, known: Sequence[PersonFact], rows: pd.DataFrame) -> None:
    """Write facts and people as edited: `rows` has context and a column for each fact.

    Raises
    ------
    DesignError
        A value is no number, or none of the levels of its fact. Nothing is changed.
    """
    problems = [
        problem
        for fact in known
        for problem in fact_problems(fact, rows[fact.name].astype("str").str.strip().tolist())
    ]
    if problems:
        raise DesignError(" ".join(problems[:3]), "Correct the value, or the kind of the fact.")
    long = pd.concat(
        [
            rows[["context"]].assign(name=f.name, value=rows[f.name].astype("str").str.strip())
            for f in known
        ]
    )
    record = studies.get(workspace.database, study)
    with workspace.database.all_or_nothing():
        store.save(workspace.database, record.study_id, known, long[long["value"] != ""])
        study_log.add(workspace, record.study_id, "Changed what is known of the people")


def as_typed(fact: PersonFact, kind: FactKind, levels: str, values: Sequence[str]) -> PersonFact:
    """A fact with the kind chosen, and levels as typed in order with `<` or commas between them.

    A level that has one of these stands in quotation marks. Levels of a number are the cuts of its
    bands. Where the kind becomes or ceases to be a number, the levels typed are those of the kind
    before, so that they no longer count.
    """
    between = "<" if len(_parts(levels, "<")) > 1 else ","
    typed = _parts(levels, between)
    typed = typed if (kind == "number") == (fact.kind == "number") else ()
    if kind == "number":
        return PersonFact(fact.name, "number", typed)
    others = sorted({value for value in values if value} - set(typed))
    return PersonFact(fact.name, kind, tuple(dict.fromkeys((*typed, *others))))


def _parts(text: str, between: str) -> tuple[str, ...]:
    """The parts of a line with something between them, of which some are in quotation marks."""
    line = " ".join(text.splitlines())
    (parts,) = csv.reader([line], delimiter=between, skipinitialspace=True)
    return tuple(part.strip() for part in parts if part.strip())


def level_words(known: Sequence[PersonFact]) -> Mapping[str, str]:
    """The levels of each fact, or the cuts of its bands, as `as_typed` reads them.

    Only those of an ordered category have `<` between them.
    """
    return {
        fact.name: (" < " if fact.kind == "ordered" else ", ").join(map(_quoted, fact.levels))
        for fact in known
    }


def _quoted(level: str) -> str:
    if not any(sign in level for sign in '<,"'):
        return level
    return '"' + level.replace('"', '""') + '"'

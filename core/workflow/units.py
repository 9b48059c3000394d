"""What a row of an analysis stands for, and when rows are not the individuals they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.analysis.registry import Analysis
from core.analysis.rows import of_people
from core.domain.frames import CONTEXT_SET, REWRITING
from core.domain.study import FACTORS
from core.psychometrics.wording import listed
from core.workflow import studies
from core.workflow.workspace import Workspace

_IMPLIED: Mapping[str, str] = {
    "context": "a persona or conversation makes an individual of the model, and people would be "
    "compared in the same way",
    "repetition": "asking again makes a row, so what varies is chance in sampling, not individuals",
    "entity": "what is judged makes a row, so correlations are over brands, parties or persons",
    "entity_b": "what is judged makes a row, so correlations are over brands, parties or persons",
    "respondent": "each model is one individual; intervals need many models",
    "model": "each model is one individual; intervals need many models",
}
"""What it means that rows differ in a factor."""
_IMPLIED_BROUGHT_IN = {
    **_IMPLIED,
    "context": "each context makes an individual",
    "repetition": "what varies between them is chance or change, not individuals",
    "respondent": "each respondent is one individual; intervals need many",
    "model": "each respondent is one individual; intervals need many",
}
"""The same of answers brought in, which may be those of people."""
_INDIVIDUAL = ("respondent", "context", "entity", "entity_b")
_WAYS = ("form", "label_order", "template", "language", "phase")
"""Ways of asking the same thing."""
_WORDS = {
    "label_order": "orders of options",
    "entity": "entities",
    "entity_b": "second entities",
    "template": "instructions",
}


def implications(factors: Sequence[str], *, brought_in: bool = False) -> tuple[str, ...]:
    """What it means that rows differ in these factors, in sentences."""
    implied = _IMPLIED_BROUGHT_IN if brought_in else _IMPLIED
    said: dict[str, list[str]] = {}
    for name in factors:
        if name in implied:
            said.setdefault(implied[name], []).append(_WORDS.get(name, f"{name}s"))
    return tuple(f"Rows differ in {' and '.join(who)}: {what}." for what, who in said.items())


def averaging(
    analysis: Analysis, options: Mapping[str, Any], over: Sequence[str]
) -> tuple[str, ...]:
    """The factors to average over: those asked for but those the analysis itself looks at."""
    looked_at = _looked_at(analysis, options)
    pairs = {"respondent": "model", "model": "respondent"}
    kept = looked_at | {pairs[name] for name in looked_at if name in pairs}
    taken = [name for name in over if name in FACTORS and name not in kept]
    # a respondent has one model, so averaging over respondents averages over models
    return tuple(dict.fromkeys((*taken, *(["model"] if "respondent" in taken else []))))


def words(item_scores: pd.DataFrame, over: Sequence[str]) -> str:
    """What to add to the unit of an analysis; empty where nothing was averaged."""
    named = [_WORDS.get(name, f"{name}s") for name in over if _varies(item_scores, name)]
    return f", averaged over {' and '.join(named)}" if named else ""


def averaging_notes(
    before: pd.DataFrame, after: pd.DataFrame, over: Sequence[str]
) -> tuple[str, ...]:
    """How many scores went into how many, where any were averaged."""
    if len(after) == len(before):
        return ()
    return (
        f"{before['score'].notna().sum():,} scores were averaged into "
        f"{after['score'].notna().sum():,}{words(before, over).removeprefix(', averaged')}; counts "
        "are of the latter.",
    )


def cautions(
    workspace: Workspace, analysis: Analysis, rows: pd.DataFrame, options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Where rows are copies of each other by design, or of kinds that had better stay apart."""
    looked_at = _looked_at(analysis, options)
    return (*_copies(workspace, rows, looked_at), *_pooled(analysis, rows, looked_at))


def _copies(workspace: Workspace, rows: pd.DataFrame, looked_at: set[str]) -> tuple[str, ...]:
    """Where a model was asked again and again."""
    if "repetition" in looked_at or not _varies(rows, "repetition"):
        return ()
    fixed = sorted(
        {
            person.label
            for code in rows["study"].unique()
            for person in studies.people(workspace, str(code))
            if person.sampling.temperature == 0 and not person.simulation
        }
        & set(map(str, rows["respondent"].unique()))
    )
    if fixed:
        return (
            f"Rows are repetitions at temperature 0 ({listed(fixed)}): the same question "
            "asked again gives nearly the same answer, so such rows are copies, and n counts the "
            "same thing several times. Average over repetitions, or let contexts make the rows.",
        )
    if all(
        studies.load(workspace, str(code)).kind == "imported" for code in rows["study"].unique()
    ):
        return (
            (
                "The same respondents answered several times: what varies between such answers is "
                "chance or change, not individuals. Average over repetitions, or put them side by "
                "side.",
            )
            if _recurring(rows, ["repetition"], looked_at)
            else ()
        )
    if "context" in looked_at or not _varies(rows, "context"):
        return (
            "Rows are repetitions of one model: what varies is chance in sampling, not "
            "individuals.",
        )
    return ()


def _pooled(analysis: Analysis, rows: pd.DataFrame, looked_at: set[str]) -> tuple[str, ...]:
    """Where several ways of asking the same individual are rows of one analysis."""
    if not analysis.pooled_rows_need_caution:
        return ()
    pooled = [name for name in _WAYS if name not in looked_at and _varies(rows, name)]
    recurring = _recurring(rows, pooled, looked_at)
    if not recurring:
        return ()
    named = [f"{len(rows[name].unique())} {_WORDS.get(name, f'{name}s')}" for name in recurring]
    who = "context" if not of_people(rows) and _varies(rows, "context") else "respondent"
    return (
        f"Rows are pooled over {' and '.join(named)}, so that the same {who} counts "
        "several times: n is too large, and intervals and p are too small. Put them side by side, "
        "or choose one or average over them under Which answers.",
    )


def _recurring(rows: pd.DataFrame, ways: Sequence[str], looked_at: set[str]) -> list[str]:
    """The ways in which some individual was asked more than once within what is analyzed together.

    People who each answered in one language, say, are pooled over languages without recurring.
    """
    if not ways:
        return []
    # Contexts of a design are the same in all its studies; codes of people are not.
    study = ["study"] if of_people(rows) else []
    apart = [name for name in (*FACTORS, CONTEXT_SET, REWRITING) if name in looked_at]
    who = list(dict.fromkeys([*study, *_INDIVIDUAL, *(name for name in apart if name in rows)]))
    cases = rows[["administration", *who, *ways]].drop_duplicates("administration")
    same = cases.groupby(who, observed=True, dropna=False, sort=False)
    return [name for name in ways if (same[name].nunique(dropna=False) > 1).any()]  # noqa: PD101


def _looked_at(analysis: Analysis, options: Mapping[str, Any]) -> set[str]:
    """The factors that an analysis itself sets side by side or compares."""
    found: set[str] = set()
    for option in analysis.options:
        value = options.get(option.name, option.default)
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, tuple):
            found |= {part for part in value if isinstance(part, str)}
    return found


def _varies(frame: pd.DataFrame, name: str) -> bool:
    """Whether rows differ in a column."""
    column = frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column):
        codes = column.cat.codes.to_numpy()  # nothing has a code of its own, as a value would
        return bool(codes.min() != codes.max())
    return len(column.unique()) > 1

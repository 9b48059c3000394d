"""The frames an analysis works on, of the studies asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.registry import Analysis
from core.domain.frames import (
    CONTEXT_SET,
    HIGHEST,
    ITEM_SCORES,
    LOWEST,
    OPTION_COUNTS,
    OPTION_POINTS,
    ORIGIN,
    PEOPLE,
    REWRITING,
    TEXTS,
)
from core.domain.study import FACTORS, Context
from core.errors import NotEnoughData
from core.store import banks as bank_store
from core.store import frames, studies
from core.workflow import texts
from core.workflow.workspace import Workspace

Where = Mapping[str, Sequence[Any]]


def frame_of(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    where: Where,
    by: Sequence[str] = (),
) -> pd.DataFrame:
    """The frame that an analysis needs, of some studies and the answers that pass the filters.

    Counts are kept apart by the factors in `by`; other frames hold every factor anyway.

    Raises
    ------
    NotEnoughData
        No answers pass the filters, or a filter names an unknown factor.
    """
    for factor in where:
        if factor not in (*FACTORS, "item"):
            raise NotEnoughData(
                f"There is no factor '{factor}' to filter by.", f"Use: {', '.join(FACTORS)}, item."
            )
    if analysis.needs is TEXTS:
        frame = text_frame(workspace, codes, where)
    elif analysis.needs is ITEM_SCORES:
        frame = item_scores(workspace, codes, where)
    else:
        frame = _option_counts(workspace, codes, where, by)
    if frame.empty:
        raise NotEnoughData(
            "No planned answers pass these filters.", "Choose another study, or fewer filters."
        )
    return frame


def item_scores(workspace: Workspace, codes: Sequence[str], where: Where) -> pd.DataFrame:
    """ITEM_SCORES of some studies, with what is known of the contexts (see GROUPINGS)."""
    frame = frames.item_scores(workspace.database, list(codes), where)
    if frame.empty:
        return frame
    people = {PEOPLE: _of_people(workspace, frame)}
    return frame.assign(**_about_contexts(workspace, frame), **_ends(workspace, frame), **people)


def _of_people(workspace: Workspace, frame: pd.DataFrame) -> Any:
    """For each row, whether it was brought in, in a study without repetitions; see PEOPLE."""
    found = {}
    for code, own in frame.groupby("study", observed=True)["repetition"]:
        planned = studies.get(workspace.database, str(code)).kind == "planned"
        found[code] = not planned and own.min() == own.max()
    return frame["study"].map(found).to_numpy(dtype=np.bool_)


def _option_counts(
    workspace: Workspace, codes: Sequence[str], where: Where, by: Sequence[str]
) -> pd.DataFrame:
    """OPTION_COUNTS of some studies, kept apart by contexts or their kind where asked for."""
    more = [name for name in OPTION_COUNTS.may_have if name in by]
    if not more:
        return frames.option_counts(workspace.database, list(codes), where)
    frame = frames.option_counts(workspace.database, list(codes), where, by_context=True)
    about = {n: c for n, c in _about_contexts(workspace, frame).items() if n in more}
    cell = [*(name for name in OPTION_COUNTS.columns if name != "count"), *more]
    counted = frame.assign(**about).groupby(cell, sort=False, observed=True, dropna=False)
    return counted["count"].sum().reset_index()


def _ends(workspace: Workspace, frame: pd.DataFrame) -> dict[str, Any]:
    """The points of the options of every row's answer format, and the lowest and highest."""
    study, answered_in = frame["study"].astype("category"), frame["format"].astype("category")
    names = list(answered_in.cat.categories)
    ends = np.full((len(study.cat.categories), len(names) + 1, 2), np.nan)  # last: no format
    every = np.full(ends.shape[:2], "", dtype=object)
    for place, code in enumerate(study.cat.categories):
        record = studies.get(workspace.database, str(code))
        for found in bank_store.instrument(workspace.database, record.instrument_id).formats:
            points = [option.points for option in found.options if option.points is not None]
            if found.code in names and points:
                own = place, names.index(found.code)
                ends[own] = min(points), max(points)
                every[own] = " ".join(map(repr, sorted({float(point) for point in points})))
    at = study.cat.codes.to_numpy(), answered_in.cat.codes.to_numpy()
    rows = ends[at]
    code, texts = pd.factorize(every.ravel())
    places: list[int] = np.asarray(code).reshape(every.shape)[at].tolist()
    options = pd.Categorical(np.asarray(texts, dtype=object)[places], categories=texts)
    return {LOWEST: rows[:, 0], HIGHEST: rows[:, 1], OPTION_POINTS: options}


def text_frame(workspace: Workspace, codes: Sequence[str], where: Where) -> pd.DataFrame:
    """TEXTS of some studies."""
    parts = []
    written = texts.text_studies(workspace)
    for code in codes:
        if code not in written:
            raise NotEnoughData(
                f"The study '{code}' did not ask for texts.",
                "Choose a study whose bank asks for free texts (see the page Texts).",
            )
        part = texts.of_study(workspace, code).drop(columns="trial_id")
        part.insert(0, "study", code)
        parts.append(part.assign(**_about_contexts(workspace, part)))
    found = pd.concat(parts, ignore_index=True)
    for factor, values in where.items():
        if factor not in found:
            raise NotEnoughData(
                f"Texts are not kept by {factor}.", "Take the filter off, or filter by context."
            )
        found = found[found[factor].isin(list(values))]
    return found.reset_index(drop=True)


def _about_contexts(workspace: Workspace, frame: pd.DataFrame) -> dict[str, Any]:
    """Kind and origin of the context of every row, from the designs of the studies."""
    study, context = frame["study"].astype("category"), frame["context"].astype("category")
    known = {
        (code, found.code): found
        for code in study.cat.categories
        for found in studies.get(workspace.database, str(code)).design.contexts
    }
    places = study.cat.codes.to_numpy(dtype=np.int64) * len(context.cat.categories)
    places += context.cat.codes.to_numpy(dtype=np.int64)
    back, cells = pd.factorize(places)
    names = [
        (study.cat.categories[c // len(context.cat.categories)],
         context.cat.categories[c % len(context.cat.categories)])
        for c in cells.tolist()
    ]  # fmt: skip
    about = [_about(known.get(name), str(name[1])) for name in names]
    return {
        column: pd.Categorical([row[number] for row in about]).take(back)
        for number, column in enumerate((CONTEXT_SET, REWRITING, ORIGIN))
    }


def _about(context: Context | None, code: str) -> tuple[str, str, str]:
    """Set, rewriting and origin of a context; imported answers have no more than its code."""
    if context is None:
        return "", "original", code
    kind = "conversations" if context.messages else "personas" if context.text else ""
    if context.variant_of:
        return kind, "rewritten", context.variant_of
    return kind, "original", code

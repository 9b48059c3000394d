"""What analyses bring in beside the answers of a study: other studies, texts, lists of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.analysis.registry import Analysis, OtherData
from core.errors import NotEnoughData
from core.store import studies as study_store
from core.workflow import analysis_frames, banks, texts
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class _Source:
    """Where one kind of other data comes from."""

    names: Callable[[Workspace], tuple[str, ...]]
    frame: Callable[[Workspace, str], pd.DataFrame]
    is_study: bool


def names(workspace: Workspace, kind: OtherData) -> tuple[str, ...]:
    """The names of what can be brought in, newest first."""
    return _SOURCES[kind.of].names(workspace)


def in_place_of_names(
    workspace: Workspace, analysis: Analysis, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options, with a frame (or None) in place of the name of what is to be brought in."""
    found = dict(options)
    for option in analysis.options:
        if isinstance(option.kind, OtherData) and option.name in found:
            name = found[option.name]
            found[option.name] = _frame(workspace, option.kind, str(name)) if name else None
    return found


def studies_behind(
    analysis: Analysis, codes: Sequence[str], options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Every study whose answers the result depends on."""
    others = [
        str(options[option.name])
        for option in analysis.options
        if isinstance(option.kind, OtherData)
        and _SOURCES[option.kind.of].is_study
        and options.get(option.name)
    ]
    return tuple(dict.fromkeys((*codes, *others)))


def _frame(workspace: Workspace, kind: OtherData, name: str) -> pd.DataFrame:
    """What stands under that name."""
    source = _SOURCES[kind.of]
    found = source.frame(workspace, name)
    if found.empty and source.is_study:
        raise NotEnoughData(
            f"The study '{name}' ({kind.label}) has no answers.", "Run it, or choose another."
        )
    return found


def _word_banks(workspace: Workspace) -> tuple[str, ...]:
    return tuple(bank.code for bank in banks.summaries(workspace) if bank.kind == "words")


def _word_lists(workspace: Workspace, name: str) -> pd.DataFrame:
    lists = texts.lists_of(banks.load(workspace, name).instrument)
    rows = [(title, entry) for title, entries in lists.items() for entry in entries]
    return pd.DataFrame(rows, columns=["list", "entry"])


def _studies_of_texts(workspace: Workspace) -> tuple[str, ...]:
    return tuple(reversed(texts.text_studies(workspace)))


def _studies_of_scores(workspace: Workspace) -> tuple[str, ...]:
    written = texts.text_studies(workspace)
    codes = [record.code for record in study_store.studies(workspace.database)]
    return tuple(code for code in reversed(codes) if code not in written)


_SOURCES: Mapping[str, _Source] = {
    "item_scores": _Source(
        _studies_of_scores,
        lambda workspace, name: analysis_frames.item_scores(workspace, [name], {}),
        is_study=True,
    ),
    "texts": _Source(
        _studies_of_texts,
        lambda workspace, name: analysis_frames.text_frame(workspace, [name], {}),
        is_study=True,
    ),
    "word_lists": _Source(_word_banks, _word_lists, is_study=False),
}

"""The result of an analysis: its tables with what holds for every analysis of such a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.analysis.kit.matrices import (
    INDEPENDENCE,
    ScoreMatrix,
    data_cautions,
    data_notes,
    group_name,
)
from core.analysis.kit.option_counts import usable_counts
from core.analysis.kit.rows import (
    analysis_unit,
    n_planned,
    n_without_score,
    row_cautions,
    row_notes,
)
from core.analysis.kit.sentences import merge_notes
from core.domain.notes import Note, Place, about
from core.domain.results import AnalysisResult, ResultTable
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData


@dataclass
class Findings:
    """What an analysis says beside its tables, in the order in which it is found."""

    cautions: list[str] = field(default_factory=list)
    """They change how the numbers are to be read."""
    notes: list[str] = field(default_factory=list)
    """They inform."""

    def caution(self, place: str, words: str) -> None:
        """A caution on a group, or on a scale of it."""
        self.cautions.append(about(place, words))

    def note(self, place: str, words: str) -> None:
        """A note on a group, or on a scale of it."""
        self.notes.append(about(place, words))

    def refusal(self, what: str, needs: str, by: Sequence[str]) -> NotEnoughData:
        """That nothing could be computed, with the first reasons, and what the analysis needs.

        Reasons name groups by their factors, `by`, as results do, and one of many groups stands
        once.
        """
        named = [_with_factors(note, by) for note in (*self.cautions, *self.notes)]
        groups = [note.place.group for note in named if isinstance(note, Note)]
        reasons = " ".join(merge_notes(named, groups)[:3])
        return NotEnoughData(f"{what} {reasons}".strip(), needs)


def _with_factors(note: str, by: Sequence[str]) -> str:
    """The note with the factors of its group; without them where a value holds the separator."""
    values = note.place.group.split(" · ") if isinstance(note, Note) else []
    if not isinstance(note, Note) or len(values) != len(by):
        return note
    place = Place(group_name(values, by), note.place.noun, note.place.scale)
    return Note(note.words, place=place, detail=note.detail)


def scale_of_group(group: Sequence[Any], scale: str, noun: str = "subscale") -> Place:
    """The place of a note on a scale of a group."""
    return Place(group_name(group), noun, scale)


def score_result(
    item_scores: ItemScores,
    tables: Iterable[ResultTable],
    findings: Findings,
    *,
    n_used: int,
    method: str,
    matrices: Sequence[ScoreMatrix] = (),
    taken_for_granted: tuple[str, str] = INDEPENDENCE,
    called: str = "",
    unit: str = "",
    later_notes: Iterable[str] = (),
    item_texts: Mapping[str, str] | None = None,
) -> AnalysisResult:
    """The result of an analysis of item scores.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        What was analyzed: it says how many scores were planned and how many are missing.
    tables : iterable of ResultTable
        In the order in which they stand.
    findings : Findings
        Cautions and notes of the analysis, which stand between those that hold for any.
    n_used : int
        Scores that the numbers come from.
    method : str
        What was computed, in a sentence.
    matrices : sequence of ScoreMatrix
        Those of the analysis, for cautions on groups where nothing can vary.
    taken_for_granted : two texts
        What the analysis takes for granted of rows, and how rows of models differ from it.
    called, unit : str
        What notes call a row; or the whole sentence on the unit of analysis.
    later_notes : iterable of str
        Notes that follow those of the analysis, such as the choice of a rule.
    item_texts : mapping, optional
        The wording of each item.
    """
    n_missing = n_without_score(item_scores)
    return AnalysisResult(
        tables=tuple(tables),
        unit=unit or analysis_unit(item_scores, called=called),
        n_used=n_used,
        n_missing=n_missing,
        n_left_out=n_planned(item_scores) - n_missing - n_used,
        method=method,
        cautions=(
            *data_cautions(item_scores, matrices),
            *findings.cautions,
            *row_cautions(item_scores, *taken_for_granted),
        ),
        notes=(
            *data_notes(item_scores),
            *findings.notes,
            *later_notes,
            *row_notes(item_scores, *taken_for_granted),
        ),
        item_texts=item_texts or {},
    )


def option_result(
    option_counts: pd.DataFrame,
    tables: Iterable[ResultTable],
    findings: Findings,
    *,
    unit: str,
    used: int,
    method: str,
    counted: pd.DataFrame | None = None,
) -> AnalysisResult:
    """The result of an analysis of OPTION_COUNTS: `used` of their usable answers count.

    `counted` are the rows of the first phase, where it alone counts.
    """
    usable = _n_usable(option_counts)
    return count_result(
        tables,
        findings,
        unit=unit,
        trials=int(option_counts["count"].sum()),
        usable=usable,
        used=used,
        method=method,
        second_phase=0 if counted is None else usable - _n_usable(counted),
    )


def _n_usable(option_counts: pd.DataFrame) -> int:
    """How many answers are usable."""
    return int(usable_counts(option_counts)["count"].sum())


def count_result(
    tables: Iterable[ResultTable],
    findings: Findings,
    *,
    unit: str,
    trials: int,
    usable: int,
    used: int,
    method: str,
    item_texts: Mapping[str, str] | None = None,
    second_phase: int = 0,
) -> AnalysisResult:
    """The result of an analysis of counted answers.

    `trials` were planned, `usable` have an answer with the option that the analysis needs, and
    `used` stand behind its numbers; the difference is left out, `second_phase` of it as answers of
    the second phase.
    """
    return AnalysisResult(
        tables=tuple(tables),
        unit=unit,
        n_used=used,
        n_missing=trials - usable,
        n_left_out=usable - used,
        n_second_phase=second_phase,
        method=method,
        cautions=tuple(findings.cautions),
        notes=tuple(findings.notes),
        item_texts=item_texts or {},
    )

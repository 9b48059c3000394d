"""What `multitrait_matrix` says about matching and undefined pairs, and what it counts as used."""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.comparisons.multitrait_matrix_scores import MATCHED, averaged_over
from core.analysis.comparisons.multitrait_matrix_sources import Source
from core.analysis.comparisons.multitrait_matrix_tables import Correlated, defined_places
from core.analysis.comparisons.scores import scores_used
from core.analysis.matrices import group_name
from core.psychometrics.wording import listed


def matching_notes(
    sources: Sequence[Source], by: Sequence[str], split: Sequence[str], rows_by: Sequence[str]
) -> list[str]:
    """What scores were matched on and averaged over."""
    notes = []
    if len(sources) > 1:
        notes.append(f"Scores of the studies are matched on {row_words(rows_by, by, ' and ')}.")
    for source in sources:
        over = averaged_over(source, (*rows_by, *by, *split))
        if over:
            where = f"{source.name}: scores" if len(sources) > 1 else "Scores"
            notes.append(f"{where} are averaged over {_factor_words(over, ' and ')}.")
    return notes


def undefined_notes(groups: Sequence[Correlated], sources: Sequence[Source]) -> list[str]:
    """Which pairs of scores have no correlation and why; groups with a single score."""
    matched = {score.source for group in groups for score in group.table.scores}
    notes = [
        f"{source.name}: nothing there is of the same models and contexts, so it has no scores "
        "beside the others."
        for source in sources
        if source.name not in matched
    ]
    for group in groups:
        where = group_name(group.table.group)
        scores = group.table.scores
        if len(scores) < 2:
            notes.append(f"{where}: there is one score only, so nothing to correlate.")
        reasons: dict[str, list[str]] = {}
        for pair, problems in group.problems.items():
            for problem in problems:
                if problem.startswith("Undefined"):
                    told = " with ".join(scores[place].name for place in pair)
                    reasons.setdefault(problem, []).append(told)
        notes += [f"{where}, {listed(told)}: {why}" for why, told in reasons.items()]
    return notes


def item_counts(sources: Sequence[Source], groups: Sequence[Correlated]) -> tuple[int, int, int]:
    """Item scores planned, missing, and behind any correlation, over all studies."""
    used: dict[str, dict[str, set[int]]] = {source.name: {} for source in sources}
    for group in groups:
        for place in defined_places(group):
            score, behind = group.table.scores[place], group.table.behind[place]
            used[score.source].setdefault(score.scale, set()).update(behind.index)
    frames = {source.name: source.frame for source in sources if source.frame is not None}
    return (
        sum(len(frame) for frame in frames.values()),
        sum(int(frame["score"].isna().sum()) for frame in frames.values()),
        sum(scores_used(frame, used[name]) for name, frame in frames.items()),
    )


def row_words(rows_by: Sequence[str], by: Sequence[str], between: str = " × ") -> str:
    """What a row is: the factors matched on, groups included."""
    return _factor_words([name for name in MATCHED if name in (*rows_by, *by)], between)


def _factor_words(factors: Sequence[str], between: str = " × ") -> str:
    """Factors as a reader calls them."""
    return between.join(name.replace("_", " ") for name in factors) or "administration"

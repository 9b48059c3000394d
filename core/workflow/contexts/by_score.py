"""Contexts chosen by a score that was measured under them: so many from each quantile group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from core.domain.frames import ITEM_SCORES, check_frame
from core.domain.study import FACTORS, Context, sample_contexts
from core.domain.values import stable_id
from core.errors import NotEnoughData
from core.stats.distributions import quantile_groups
from core.stats.scores import ScoreRule, scale_scores
from core.store import frames, studies
from core.workflow.workspace import Workspace

ALL_ITEMS = ""
"""What stands for all items where a subscale could be named; no subscale has this name."""
SCORE_RULES: dict[ScoreRule, str] = {
    "prorated": "Mean of the answers, where 80 % of the items have one",
    "listwise": "Only contexts without a gap",
    "half": "Mean of the answers, where half of the items have one",
    "available": "Mean of the answers there are",
}
_DIGITS = 10  # sums in another order differ in the last digits, which must not break a tie


@dataclass(frozen=True)
class ContextScore:
    """The mean item score measured under one context; NaN where the rule gives none."""

    code: str
    score: float
    n_answers: int
    n_missing: int


@dataclass(frozen=True)
class ContextScores:
    """The scores of every context of a study for one respondent, and what to know about them."""

    contexts: tuple[Context, ...]
    scores: tuple[ContextScore, ...]
    notes: tuple[str, ...]

    @property
    def n_unscored(self) -> int:
        """How many contexts have no score."""
        return sum(math.isnan(score.score) for score in self.scores)


@dataclass(frozen=True)
class ScoreGroup:
    """One quantile group: its scores, lowest first, and the codes drawn from it."""

    number: int
    members: tuple[ContextScore, ...]
    drawn: tuple[str, ...]


def subscales(workspace: Workspace, study: str, respondent: str) -> tuple[str, ...]:
    """The named subscales that were asked in a study, in bank order."""
    frame = frames.item_scores(workspace.database, [study], {"respondent": [respondent]})
    return tuple(str(name) for name in frame["subscale"].unique() if name)


def load_scores(
    workspace: Workspace,
    study: str,
    respondent: str,
    *,
    subscale: str = ALL_ITEMS,
    rule: ScoreRule = "prorated",
) -> ContextScores:
    """The mean item score, after reverse-keying, under each context of a study.

    Raises
    ------
    NotEnoughData
        The study has no contexts, or no answers of this respondent and subscale.
    """
    contexts = tuple(c for c in studies.get(workspace.database, study).design.contexts if c.code)
    if not contexts:
        raise NotEnoughData(
            f"The study '{study}' has no contexts whose texts are on file.",
            "Choose a study that was designed here with personas or conversations.",
        )
    frame = frames.item_scores(workspace.database, [study], {"respondent": [respondent]})
    check_frame(frame, ITEM_SCORES)
    if subscale != ALL_ITEMS:
        frame = frame[frame["subscale"] == subscale]
    if frame["score"].notna().sum() == 0:
        raise NotEnoughData(
            f"'{respondent}' has no usable answer in the study '{study}'.",
            "Collect answers first, or choose another respondent or subscale.",
        )
    means = mean_scores(frame, [context.code for context in contexts], rule)
    return ContextScores(contexts, means, _pooling_notes(frame))


def mean_scores(
    item_scores: pd.DataFrame, codes: Sequence[str], rule: ScoreRule
) -> tuple[ContextScore, ...]:
    """The mean of all item scores under each context; NaN where `rule` gives none."""
    grouped = item_scores.astype({"context": "str"}).groupby("context")["score"]
    counts = grouped.agg(["sum", "count", "size"]).reindex(list(codes), fill_value=0)
    scores = []
    for code, total, answers, planned in counts.itertuples():
        score = round(float(scale_scores(total, answers, planned, rule)), _DIGITS)
        scores.append(ContextScore(str(code), score, int(answers), int(planned - answers)))
    return tuple(scores)


def draw_groups(
    scores: Sequence[ContextScore], *, n_groups: int = 4, per_group: int = 10, seed: int = 1
) -> tuple[ScoreGroup, ...]:
    """So many contexts from each quantile group of the scores; all of a group that has no more.

    Raises
    ------
    NotEnoughData
        Fewer contexts than groups have a score.
    """
    scored = [score for score in scores if not math.isnan(score.score)]
    if len(scored) < n_groups:
        raise NotEnoughData(
            f"{len(scored)} contexts have a score, too few for {n_groups} groups.",
            "Make fewer groups, collect more answers, or take the mean of the answers there are.",
        )
    numbers = quantile_groups([score.score for score in scored], n_groups, digits=_DIGITS)
    groups = []
    for number in range(1, n_groups + 1):
        members = [score for score, own in zip(scored, numbers, strict=True) if own == number]
        # By place in the study, so that the draw does not hang on how equal scores are sorted.
        codes = [Context(score.code) for score in members]
        drawn = sample_contexts(codes, per_group, stable_id("quantile group", seed, number))
        members.sort(key=lambda score: score.score)
        groups.append(ScoreGroup(number, tuple(members), tuple(context.code for context in drawn)))
    return tuple(groups)


def draw_codes(
    workspace: Workspace,
    contexts: Sequence[Context],
    study: str,
    respondent: str,
    *,
    subscale: str = ALL_ITEMS,
    rule: ScoreRule = "prorated",
    n_groups: int = 4,
    per_group: int = 10,
    seed: int = 1,
) -> tuple[tuple[str, ...], str]:
    """Of some contexts, codes from each quantile group of their score in a study, and a sentence.

    Raises
    ------
    NotEnoughData
        As in `load_scores` and `draw_groups`, or the study asked none of these contexts.
    """
    scores = load_scores(workspace, study, respondent, subscale=subscale, rule=rule)
    own = {context.code: _content(context) for context in contexts}
    shared = tuple(c for c in scores.contexts if own.get(c.code) == _content(c))
    if not shared:
        raise NotEnoughData(
            f"The study '{study}' asked none of the personas or conversations of this design.",
            "Choose the set of that study in the design, or another study.",
        )
    codes = {context.code for context in shared}
    scores = replace(
        scores,
        contexts=shared,
        scores=tuple(score for score in scores.scores if score.code in codes),
    )
    groups = draw_groups(scores.scores, n_groups=n_groups, per_group=per_group, seed=seed)
    drawn = tuple(context.code for context in drawn_contexts(scores, groups))
    sentence = (
        f"{len(drawn):,} contexts: {per_group:,} from each of {n_groups} groups of the score in "
        f"the study '{study}' ({respondent}, {subscale or 'all items'}; {SCORE_RULES[rule]}), "
        f"drawn with seed {seed}."
    )
    return drawn, " ".join([sentence, *draw_remarks(scores, groups, per_group)])


def _content(context: Context) -> tuple[object, ...]:
    return context.text, context.messages, context.translations


def draw_remarks(
    scores: ContextScores, groups: Sequence[ScoreGroup], per_group: int
) -> tuple[str, ...]:
    """What is to be known about a draw: contexts without a score, ties, groups too small."""
    sentences = list(scores.notes)
    if scores.n_unscored:
        sentences.append(
            f"{scores.n_unscored:,} of {len(scores.scores):,} contexts have no score because of "
            "missing answers, and are in no group."
        )
    values = [member.score for group in groups for member in group.members]
    n_tied = sum(count for count in pd.Series(values).value_counts() if count > 1)
    if n_tied:
        sentences.append(
            f"{n_tied:,} contexts share their score with another. Equal scores stay in one group, "
            "so the groups may differ in size."
        )
    sentences += [
        f"Group {group.number} has {len(group.members)} contexts, fewer than the {per_group} "
        "wished for: all of them are taken."
        for group in groups
        if len(group.members) < per_group
    ]
    return tuple(sentences)


def drawn_contexts(scores: ContextScores, groups: Sequence[ScoreGroup]) -> tuple[Context, ...]:
    """The contexts that were drawn, in the order of the study."""
    drawn = {code for group in groups for code in group.drawn}
    return tuple(context for context in scores.contexts if context.code in drawn)


def _pooling_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    """Which other factors a context's score is pooled over."""
    pooled = [name for name in FACTORS if name not in ("respondent", "model", "context")]
    counts = {name.replace("_", " "): len(frame[name].unique()) for name in pooled}
    varied = [f"{count} levels of {name}" for name, count in counts.items() if count > 1]
    return (f"Each score is a mean over {', '.join(varied)}.",) if varied else ()

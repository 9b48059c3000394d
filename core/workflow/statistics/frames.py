"""The frames an analysis works on, other data it takes, and what a row stands for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from core import settings
from core.analysis.kit.comparisons import ways_of_asking
from core.analysis.kit.matrices import group_name
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.registry import Analysis, OtherData
from core.analysis.kit.rows import rows_are_people
from core.domain.attributes import is_attribute
from core.domain.frames import (
    ATTEMPT_COUNTS,
    CONTEXT_SET,
    ENTITIES,
    HIGHEST,
    ITEM_SCORES,
    LOWEST,
    OPTION_COUNTS,
    OPTION_POINTS,
    ORIGIN,
    PEOPLE,
    RATINGS,
    REWRITING,
    TEXTS,
)
from core.domain.numbers import count_text, percent_text
from core.domain.study import FACTORS, LEAVE_OUT, NO_ROW, SETTINGS, Context
from core.domain.wide_scores import STATUSES, ItemScores, WideScores
from core.errors import NotEnoughData, TooLarge
from core.stats.inputs import name_list
from core.store import answers, frames, studies
from core.store import banks as bank_store
from core.store import studies as study_store
from core.workflow.answers import texts
from core.workflow.banks import editing
from core.workflow.designs import studies as studies_designs
from core.workflow.statistics import item_attributes, left_out
from core.workflow.workspace import Workspace

# The frames an analysis works on, of the studies asked for.

Filters = Mapping[str, Sequence[Any]]
_NOT_OPTIONS = {ATTEMPT_COUNTS: "attempts"}


@dataclass(frozen=True)
class ChosenAnswers:
    """Which answers go with those of a study, and how: other studies, filters, averages."""

    others: tuple[str, ...] = ()
    where: Filters = field(default_factory=dict)
    over: tuple[str, ...] = ()


def load_frame(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    where: Filters,
    options: Mapping[str, Any],
    *,
    wide: bool = False,
) -> ItemScores:
    """The frame that an analysis needs, of some studies and the answers that pass the filters.

    ITEM_SCORES come as a wide table where `wide` allows it and no option names an attribute.

    Counts are kept apart by the factors that the analysis declares and that its options name;
    other frames hold every factor anyway. Attributes of items that an option such as `by` names are
    columns of the frame.

    Raises
    ------
    NotEnoughData
        No answers pass the filters, a filter or group names an unknown factor or attribute, or
        answers are to be left out of texts, ratings or attempts.
    TooLarge
        The answers need more memory than INKBLOT_MEMORY.
    """
    _require_known(where)
    left_out.require_kinds(where.get(LEAVE_OUT, ()))
    if analysis.needs not in (ITEM_SCORES, OPTION_COUNTS):
        left_out.refuse(where, _NOT_OPTIONS.get(analysis.needs, analysis.needs.noun))
    attributes = sorted(filter(is_attribute, _factors_in_options(analysis, options)))
    item_attributes.require_attributes(workspace, codes, (*where, *attributes))
    if analysis.needs is ITEM_SCORES:
        _require_memory(workspace, codes, where, wide=wide and not attributes)
    if wide and not attributes:
        table = wide_scores(workspace, codes, where)
        if table is not None:
            return table
        _require_memory(workspace, codes, where, wide=False)
    if analysis.needs is TEXTS:
        frame = _text_frame(workspace, codes, where)
    elif analysis.needs is RATINGS:
        frame = _rating_frame(workspace, codes, where)
    elif analysis.needs is ITEM_SCORES:
        frame = item_scores(workspace, codes, where)
    elif analysis.needs is ATTEMPT_COUNTS:
        frame = frames.attempt_counts(
            workspace.database,
            list(codes),
            where,
            factors=_factors_kept(workspace, analysis, codes, options, where),
        )
    else:
        frame = _option_counts(workspace, analysis, codes, where, options)
    if frame.empty:
        raise NotEnoughData(
            "No planned answers pass these filters.", "Choose another study, or fewer filters."
        )
    return item_attributes.with_attributes(workspace, frame, attributes)


_BYTES_OF_ROW, _BYTES_IN_TABLE = 280, 60
"""Memory for each answer as a row, and in a wide table, with what an analysis makes of it."""


def _require_memory(
    workspace: Workspace, codes: Sequence[str], where: Filters, *, wide: bool
) -> None:
    """Raise where so many answers need more memory than INKBLOT_MEMORY."""
    allowed = settings.from_environment()
    most = allowed.memory_bytes // (_BYTES_IN_TABLE if wide else _BYTES_OF_ROW)
    if frames.n_on_file(workspace.database) <= most:
        return
    n = frames.n_planned(workspace.database, list(codes), where)
    if n > most:
        raise TooLarge(
            f"{n:,} answers need more memory than they may take ({allowed.memory_limit}, by "
            f"INKBLOT_MEMORY, is enough for {most:,}).",
            "Set INKBLOT_MEMORY to more (for example 4GB) and restart Inkblot, or choose fewer "
            "answers by filters.",
        )


def _require_known(where: Filters) -> None:
    """Raise where a filter names an unknown factor."""
    for factor in where:
        if factor not in (*FACTORS, "item", LEAVE_OUT) and not is_attribute(factor):
            raise NotEnoughData(
                f"There is no factor '{factor}' to filter by.",
                f"Use: {', '.join(FACTORS)}, item, an attribute such as item.genre, or "
                f"{LEAVE_OUT}.",
            )


def item_scores(workspace: Workspace, codes: Sequence[str], where: Filters) -> pd.DataFrame:
    """ITEM_SCORES of some studies, with what is known of the contexts (see GROUPINGS)."""
    frame = frames.item_scores(workspace.database, list(codes), where)
    return frame if frame.empty else _with_known_columns(workspace, frame)


def wide_scores(workspace: Workspace, codes: Sequence[str], where: Filters) -> WideScores | None:
    """The same as a wide table; None where it would be nearly empty, or where there is nothing."""
    table = frames.wide_scores(workspace.database, list(codes), where)
    if table is None:
        return None
    return replace(table, administrations=_with_known_columns(workspace, table.administrations))


def _with_known_columns(workspace: Workspace, frame: pd.DataFrame) -> pd.DataFrame:
    """ITEM_SCORES or its administrations with what is known of contexts, formats and people."""
    people = {PEOPLE: _is_of_people(workspace, frame)}
    return frame.assign(
        **_context_columns(workspace, frame), **_format_points(workspace, frame), **people
    )


def _is_of_people(workspace: Workspace, frame: pd.DataFrame) -> Any:
    """For each row, whether it was brought in, in a study without repetitions; see PEOPLE."""
    of_people = {}
    for code, own in frame.groupby("study", observed=True)["repetition"]:
        planned = studies.frozen_study(workspace.database, str(code)).kind == "planned"
        of_people[code] = not planned and own.min() == own.max()
    return frame["study"].map(of_people).to_numpy(dtype=np.bool_)


def absent_notes(
    workspace: Workspace, codes: Sequence[str], where: Filters, frame: ItemScores
) -> tuple[str, ...]:
    """What to say of answers that imported studies do not hold; `frame` is of scores or counts.

    Answers without a row that count as missing, studies of which each respondent got a part of many
    items, so that nothing without a row is missing, and items of a scale that no row names.
    """
    asked = pd.DataFrame()
    if isinstance(frame, WideScores):
        asked = frame.items
        n_absent = int(np.count_nonzero(frame.status == STATUSES.index(NO_ROW)))
    else:
        asked = frame if "score" in frame else asked
        absent = frame["status" if "status" in frame else "outcome"] == NO_ROW
        n_absent = int(frame["count"][absent].sum() if "count" in frame else absent.sum())
    notes = []
    if n_absent:
        has, counts = ("has", "it counts") if n_absent == 1 else ("have", "they count")
        notes.append(
            f"{count_text(n_absent, 'answer')} {has} no row in what was imported; {counts} as "
            "missing."
        )
    for code in codes:
        study = studies.frozen_study(workspace.database, code)
        if study.kind != "imported":
            continue
        share = frames.share_of_places(workspace.database, code)
        if not math.isnan(share):
            notes.append(
                f"Study '{code}' has rows for {percent_text(share, 1)} of its administrations by "
                "items. So each administration is taken to have been asked the items that it has "
                "rows of, and no other answer counts as missing."
            )
        if asked.empty or any(name == "item" or is_attribute(name) for name in where):
            continue
        held, scales = (set(asked[name].unique().tolist()) for name in ("item", "subscale"))
        bank = bank_store.instrument(workspace.database, study.instrument_id)
        never = [i.code for i in bank.items if i.subscale in scales and i.code not in held]
        if never and len(codes) == 1:
            notes.append(
                f"No row names {name_list(never)}, so that {'they' if len(never) > 1 else 'it'} "
                f"{'count' if len(never) > 1 else 'counts'} as not asked: scores of the scales are "
                "of the other items."
            )
    return tuple(notes)


_FROM_CONTEXTS = (CONTEXT_SET, REWRITING)


def _option_counts(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    where: Filters,
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """OPTION_COUNTS of some studies, kept apart as the analysis and its options ask for."""
    asked = {*analysis.keeps, *_factors_in_options(analysis, options)}
    factors = _factors_kept(workspace, analysis, codes, options, where)
    columns = [name for name in _FROM_CONTEXTS if name in asked]
    contexts = ["context"] if columns and "context" not in factors else []
    seed = options.get(
        _SEED_OPTION,
        next((option.default for option in analysis.options if option.name == _SEED_OPTION), None),
    )
    frame = frames.option_counts(
        workspace.database, list(codes), where, factors=[*factors, *contexts], seed=seed
    )
    if not columns or frame.empty:
        return frame
    about = {n: c for n, c in _context_columns(workspace, frame).items() if n in columns}
    cell = [name for name in frame if name not in ("count", *contexts)]
    counted = frame.assign(**about).groupby(
        [*cell, *columns], sort=False, observed=True, dropna=False
    )
    return counted["count"].sum().reset_index()


def _factors_kept(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
) -> list[str]:
    """The factors of the design that an analysis and its options keep apart.

    Ways of asking that are not crossed with all else are among them, so that what is compared can
    be what was asked alike.
    """
    asked = {*analysis.keeps, *_factors_in_options(analysis, options)}
    asked |= set(_uncrossed_factors(workspace, codes, asked, where))
    return [name for name in FACTORS if name in asked]


def _uncrossed_factors(
    workspace: Workspace, codes: Sequence[str], kept: set[str], where: Filters
) -> list[str]:
    """The factors in which answers vary and of which some levels were not asked with all else.

    A design without blocks asks everything with everything. Contexts and respondents of imported
    answers may be people, who are others in every group and no way of asking.
    """
    records = [studies.frozen_study(workspace.database, code) for code in codes]
    planned = all(record.kind == "planned" for record in records)
    blocks = [block for record in records for block in record.design.blocks]
    if planned and len(records) == 1 and not blocks:
        return []
    left_out = ("repetition", "model", *(() if planned else ("respondent", "context")))
    names = [name for name in FACTORS if name not in left_out]
    conditions = answers.conditions(workspace.database, codes, names, where).drop_duplicates()
    varying = [name for name in names if len(conditions[name].unique()) > 1]
    same_items = planned and len(records) == 1 and all(block.items is None for block in blocks)
    uncrossed = []
    for name in varying:
        others = conditions[[other for other in names if other != name]].drop_duplicates()
        crossed = len(conditions) == len(others) * len(conditions[name].unique())
        if name not in kept and not (crossed and same_items):
            uncrossed.append(name)
    return uncrossed


def _format_points(workspace: Workspace, frame: pd.DataFrame) -> dict[str, Any]:
    """The points of the options of every row's answer format, and the lowest and highest."""
    study, answered_in = frame["study"].astype("category"), frame["format"].astype("category")
    names = list(answered_in.cat.categories)
    ends = np.full((len(study.cat.categories), len(names) + 1, 2), np.nan)  # last: no format
    every = np.full(ends.shape[:2], "", dtype=object)
    for place, code in enumerate(study.cat.categories):
        record = studies.frozen_study(workspace.database, str(code))
        for response_format in bank_store.instrument(
            workspace.database, record.instrument_id
        ).formats:
            points = [
                option.points for option in response_format.options if option.points is not None
            ]
            if response_format.code in names and points:
                own = place, names.index(response_format.code)
                ends[own] = min(points), max(points)
                every[own] = " ".join(map(repr, sorted({float(point) for point in points})))
    at = study.cat.codes.to_numpy(), answered_in.cat.codes.to_numpy()
    rows = ends[at]
    code, texts = pd.factorize(every.ravel())
    # one code for each study and format, so that a row needs two bytes
    of_cell: Any = code.astype(np.int16).reshape(every.shape)
    options = pd.Categorical.from_codes(of_cell[at], pd.Index(texts))
    return {LOWEST: rows[:, 0], HIGHEST: rows[:, 1], OPTION_POINTS: options}


def _text_frame(workspace: Workspace, codes: Sequence[str], where: Filters) -> pd.DataFrame:
    """TEXTS of some studies."""
    parts = []
    written = texts.text_studies(workspace)
    for code in codes:
        if code not in written:
            raise NotEnoughData(
                f"The study '{code}' did not ask for texts.",
                "Choose a study whose bank asks for free texts (see the page Texts).",
            )
        part = texts.load_texts(workspace, code).drop(columns="trial_id")
        part.insert(0, "study", code)
        parts.append(part.assign(**_context_columns(workspace, part)))
    return _passing(workspace, pd.concat(parts, ignore_index=True), codes, where)


def _rating_frame(workspace: Workspace, codes: Sequence[str], where: Filters) -> pd.DataFrame:
    """RATINGS of some studies."""
    judged = texts.judged_studies(workspace)
    for code in codes:
        if code not in judged:
            raise NotEnoughData(
                f"In the study '{code}' no judge rated texts.",
                "On the page Texts, under Rate by a judge, make a bank of its texts for a judge. "
                "Run that study and choose it here."
                if code in texts.text_studies(workspace)
                else "Choose a study in which a judge rated texts (see the page Texts).",
            )
    rows = pd.concat([texts.rating_rows(workspace, code) for code in codes], ignore_index=True)
    rows = rows.assign(**_context_columns(workspace, rows))
    return _passing(workspace, rows, codes, where)


def _passing(
    workspace: Workspace, frame: pd.DataFrame, codes: Sequence[str], where: Filters
) -> pd.DataFrame:
    """The rows of TEXTS or RATINGS that pass the filters."""
    if any(map(is_attribute, where)):
        passing = [
            item_attributes.as_item_filter(workspace, code, _as_texts(where)) for code in codes
        ]
        own = [
            frame["study"].eq(code) & frame["item"].isin(chosen["item"])
            for code, chosen in zip(codes, passing, strict=True)
        ]
        frame = frame[np.logical_or.reduce(own)]
    for factor, values in where.items():
        if is_attribute(factor):
            continue
        if factor not in frame:
            raise NotEnoughData(
                f"Texts are not kept by {factor}.", "Take the filter off, or filter by context."
            )
        frame = frame[frame[factor].isin(list(values))]
    return frame.reset_index(drop=True)


def _as_texts(where: Filters) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in where.items()}


def _context_columns(workspace: Workspace, frame: pd.DataFrame) -> dict[str, Any]:
    """Kind and origin of the context of every row, from the designs of the studies."""
    study, context = frame["study"].astype("category"), frame["context"].astype("category")
    known = {
        (code, known_context.code): known_context
        for code in study.cat.categories
        for known_context in studies.frozen_study(workspace.database, str(code)).design.contexts
    }
    places = study.cat.codes.to_numpy(dtype=np.int64) * len(context.cat.categories)
    places += context.cat.codes.to_numpy(dtype=np.int64)
    back, cells = pd.factorize(places)
    names = [
        (
            study.cat.categories[c // len(context.cat.categories)],
            context.cat.categories[c % len(context.cat.categories)],
        )
        for c in cells.tolist()
    ]
    about = [_context_facts(known.get(name), str(name[1])) for name in names]
    return {
        column: pd.Categorical([row[number] for row in about]).take(back)
        for number, column in enumerate((CONTEXT_SET, REWRITING, ORIGIN))
    }


def _context_facts(context: Context | None, code: str) -> tuple[str, str, str]:
    """Set, rewriting and origin of a context; imported answers have no more than its code."""
    if context is None:
        return "", "original", code
    kind = "conversations" if context.messages else "personas" if context.text else ""
    if context.variant_of:
        return kind, "rewritten", context.variant_of
    return kind, "original", code


# What analyses bring in beside the answers of a study: other studies, texts, lists of words.


@dataclass(frozen=True)
class _Source:
    """Where one kind of other data comes from."""

    names: Callable[[Workspace], tuple[str, ...]]
    frame: Callable[[Workspace, str, Filters], pd.DataFrame]
    is_study: bool


def other_data_names(workspace: Workspace, kind: OtherData) -> tuple[str, ...]:
    """The names of what can be brought in, newest first."""
    return _SOURCES[kind.of].names(workspace)


def load_other_data(
    workspace: Workspace, analysis: Analysis, options: Mapping[str, Any], where: Filters
) -> dict[str, Any]:
    """The options, with a frame (or None) in place of the name of what is to be brought in.

    Of the filters only LEAVE_OUT holds for other data, and of these for scores alone.
    """
    filters = {name: kinds for name, kinds in where.items() if name == LEAVE_OUT}
    values = dict(options)
    for option in analysis.options:
        if isinstance(option.kind, OtherData) and option.name in values:
            name = values[option.name]
            values[option.name] = (
                _load_source(workspace, option.kind, str(name), filters) if name else None
            )
            if name and option.kind.of == "item_scores":
                by = tuple(options.get("by", ()))
                frame = item_attributes.with_attributes(workspace, values[option.name], by)
                values[option.name] = item_attributes.split_administrations(frame, by)
    return values


def studies_used(
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


def scores_brought_in(analysis: Analysis, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Other studies whose scores an analysis takes."""
    return tuple(
        str(options[option.name])
        for option in analysis.options
        if isinstance(option.kind, OtherData)
        and option.kind.of == "item_scores"
        and options.get(option.name)
    )


def _load_source(
    workspace: Workspace, kind: OtherData, name: str, filters: Filters
) -> pd.DataFrame:
    """What stands under that name."""
    source = _SOURCES[kind.of]
    frame = source.frame(workspace, name, filters)
    if frame.empty and source.is_study:
        raise NotEnoughData(
            f"The study '{name}' ({kind.label}) has no answers.", "Run it, or choose another."
        )
    return frame


def _word_banks(workspace: Workspace) -> tuple[str, ...]:
    return tuple(bank.code for bank in editing.summaries(workspace) if bank.kind == "words")


def _word_list_frame(workspace: Workspace, name: str, _: Filters) -> pd.DataFrame:
    lists = texts.word_lists_of(editing.load(workspace, name).instrument)
    rows = [(title, entry) for title, entries in lists.items() for entry in entries]
    return pd.DataFrame(rows, columns=["list", "entry"])


def _text_studies(workspace: Workspace) -> tuple[str, ...]:
    return tuple(reversed(texts.text_studies(workspace)))


def _score_studies(workspace: Workspace) -> tuple[str, ...]:
    written = texts.text_studies(workspace)
    codes = [record.code for record in study_store.studies(workspace.database)]
    return tuple(code for code in reversed(codes) if code not in written)


_SOURCES: Mapping[str, _Source] = {
    "item_scores": _Source(
        _score_studies,
        lambda workspace, name, filters: item_scores(workspace, [name], filters),
        is_study=True,
    ),
    "texts": _Source(
        _text_studies,
        lambda workspace, name, _: _text_frame(workspace, [name], {}),
        is_study=True,
    ),
    "word_lists": _Source(_word_banks, _word_list_frame, is_study=False),
}


# What a row of an analysis stands for, and when rows are not the individuals they look like.

_MEANING_OF_FACTORS: Mapping[str, str] = {
    "context": "a persona or conversation makes an individual of the model, and people would be "
    "compared in the same way",
    "repetition": "asking again makes a row, so what varies is chance in sampling, not individuals",
    "entity": "what is judged makes a row, so correlations are over brands, parties or persons",
    "entity_b": "what is judged makes a row, so correlations are over brands, parties or persons",
    "respondent": "each model is one individual; intervals need many models",
    "model": "each model is one individual; intervals need many models",
}
"""What it means that rows differ in a factor."""
_MEANING_IN_IMPORTS = {
    **_MEANING_OF_FACTORS,
    "context": "each context makes an individual",
    "repetition": "what varies between them is chance or change, not individuals",
    "respondent": "each respondent is one individual; intervals need many",
    "model": "each respondent is one individual; intervals need many",
}
"""The same of answers brought in, which may be those of people."""
_INDIVIDUAL = ("respondent", "context", "entity", "entity_b")
_ASKING_FACTORS = (
    "form",
    "label_order",
    "template",
    "language",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
)
"""Ways of asking the same thing."""
_SEED_OPTION = "seed"
MOST_LEVELS = 12
"""Levels of a factor that is set side by side unasked."""
_PLURALS = {
    "label_order": "orders of options",
    "entity": "entities",
    "entity_b": "second entities",
    "template": "instructions",
    "items_per_call": "numbers of items per call",
    "history": "histories",
    "top_p": "values of top-p",
    "max_tokens": "longest replies",
}


def implications(factors: Sequence[str], *, brought_in: bool = False) -> tuple[str, ...]:
    """What it means that rows differ in these factors, in sentences."""
    implied = _MEANING_IN_IMPORTS if brought_in else _MEANING_OF_FACTORS
    factors_by_meaning: dict[str, list[str]] = {}
    for name in factors:
        if name in implied:
            factors_by_meaning.setdefault(implied[name], []).append(_PLURALS.get(name, f"{name}s"))
    return tuple(
        f"Rows differ in {' and '.join(plurals)}: {meaning}."
        for meaning, plurals in factors_by_meaning.items()
    )


def factors_to_average(
    analysis: Analysis, options: Mapping[str, Any], over: Sequence[str]
) -> tuple[str, ...]:
    """The factors to average over: those asked for but those the analysis itself looks at."""
    looked_at = _factors_in_options(analysis, options)
    pairs = {"respondent": "model", "model": "respondent"}
    excluded = looked_at | {pairs[name] for name in looked_at if name in pairs}
    taken = [name for name in over if name in FACTORS and name not in excluded]
    # a respondent has one model, so averaging over respondents averages over models
    return tuple(dict.fromkeys((*taken, *(["model"] if "respondent" in taken else []))))


def default_groups(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    options: Mapping[str, Any],
    where: Filters,
    over: Sequence[str] = (),
) -> tuple[str, ...]:
    """The factors to set side by side where nobody has chosen any.

    Parameters
    ----------
    workspace : Workspace
        Where the studies are.
    analysis : Analysis
        One without the option `by` has none.
    codes : sequence of str
        The studies of the analysis.
    options : mapping
        Its other options; what they name is compared by the analysis itself.
    where, over
        Filters of the answers, and factors to average over first.

    Returns
    -------
    tuple of str
        The default of the analysis and every way of asking in which the answers vary: languages,
        forms, orders of options, instructions and phases. Repetitions are among them where a
        respondent is asked at temperature 0. A factor of more than 12 levels is not, so that a
        page stays readable, nor one that would leave nothing to compare; a caution then says that
        its rows are pooled. Instructions that the other factors decide, such as that of each phase,
        would part nothing. Settings of calls that the design varies are set side by side wherever
        respondents are. Counts of options have entities among them and no repetitions, because
        there no row stands for an entity. An analysis that pools ways of asking on purpose begins
        with the factors that it declares as `side_by_side`.
    """
    own = [tuple(option.default) for option in analysis.options if option.name == "by"]
    default = own[0] if own else ()
    guarded = analysis.pooled_rows_need_caution or analysis.compares
    counted = analysis.needs in (OPTION_COUNTS, ATTEMPT_COUNTS)
    if not (counted or analysis.needs is ITEM_SCORES) or not own:
        return default
    others = {name: value for name, value in options.items() if name != "by"}
    compared = [name for name in ("study", *FACTORS) if name == others.get("factor")]
    compared += [name for name in analysis.compares if counted]
    # Counts have no rows of repetitions, so that none can be copies, and none of entities.
    ways: tuple[str, ...] = (*ENTITIES, *_ASKING_FACTORS)
    if not counted:
        ways = (*_ASKING_FACTORS, "repetition")
    if not guarded:
        ways = (*analysis.side_by_side, *(SETTINGS if "respondent" in default else ()))
    if not ways:
        return default
    columns = tuple(dict.fromkeys(("respondent", *ways, *compared)))
    asked = answers.conditions(workspace.database, codes, columns, where)
    if counted:  # of several factors that an analysis compares, those of one level part nothing
        compared = [
            name
            for name in compared
            if name not in analysis.compares or len(asked[name].unique()) > 1
        ]
    excluded = {*default, *_factors_in_options(analysis, others), *over}
    taken = [
        name
        for name in ways
        if name not in excluded
        and 1 < len(_levels_apart(workspace, codes, asked[name])) <= MOST_LEVELS
        and all(_crossed(asked, name, factor) for factor in compared)
    ]
    labels = asked["respondent"].unique()
    if "repetition" in taken and not _without_chance(workspace, codes, labels):
        taken.remove("repetition")
    if "template" in taken and _decided(asked, "template", (*default, *taken)):
        taken.remove("template")
    return (*default, *taken)


def _levels_apart(workspace: Workspace, codes: Sequence[str], asked: pd.Series[Any]) -> set[Any]:
    """The levels of a factor; of studies together without the empty one of imported answers.

    Where people answered, nobody said in which order of options; that does not part them from a
    model.
    """
    levels = set(asked.unique())
    if len(codes) < 2:
        return levels
    kinds = {studies.frozen_study(workspace.database, code).kind for code in codes}
    return levels - {""} if "imported" in kinds else levels


def _decided(asked: pd.DataFrame, name: str, factors: Sequence[str]) -> bool:
    """Whether the other factors decide the level of a factor, as phases do their instruction."""
    others = [factor for factor in factors if factor != name and factor in asked]
    pairs = asked[[*others, name]].drop_duplicates()
    return bool(others) and not pairs.duplicated(others).any()


def _crossed(asked: pd.DataFrame, name: str, factor: str) -> bool:
    """Whether several levels of `factor` were asked under some level of the factor `name`."""
    levels = asked[[name, factor]].drop_duplicates()
    return bool(levels.duplicated(name).any())


def asked_alike_before_averaging(
    item_scores: pd.DataFrame, over: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The scores whose averages are over the same levels of what is averaged; what is left out.

    A mean over two instructions is not compared with one over one of them. What is asked in other
    languages, forms and so on is compared; contexts and repetitions are individuals.
    """
    averaged = [name for name in over if name not in ("context", "repetition")]
    if not averaged or item_scores.empty:
        return item_scores, ()
    apart = [name for name in FACTORS if name not in averaged and name not in _INDIVIDUALS]
    apart = [name for name in apart if _varies(item_scores, name)]
    ways = ways_of_asking(item_scores, [name for name in FACTORS if name not in averaged])
    side, sides = cell_codes(item_scores, apart)
    alike = ways.alike(side, [group_name(own) for own in sides.itertuples(index=False)])
    cautions = (alike.left_out,) if alike.left_out else ()
    return item_scores[alike.rows], cautions


_INDIVIDUALS = ("context", "repetition")


def averaging_words(item_scores: pd.DataFrame, over: Sequence[str]) -> str:
    """What to add to the unit of an analysis; empty where nothing was averaged."""
    named = [_PLURALS.get(name, f"{name}s") for name in over if _varies(item_scores, name)]
    return f", averaged over {' and '.join(named)}" if named else ""


def averaging_notes(
    before: pd.DataFrame, after: pd.DataFrame, over: Sequence[str]
) -> tuple[str, ...]:
    """How many scores went into how many, where any were averaged."""
    if len(after) == len(before):
        return ()
    factors = averaging_words(before, over).removeprefix(", averaged")
    return (
        f"{before['score'].notna().sum():,} scores were averaged into "
        f"{after['score'].notna().sum():,}{factors}; counts are of the latter.",
    )


def cautions(
    workspace: Workspace, analysis: Analysis, rows: pd.DataFrame, options: Mapping[str, Any]
) -> tuple[str, ...]:
    """Where rows are copies of each other by design, or of kinds that had better stay apart."""
    looked_at = _factors_in_options(analysis, options)
    return (
        *_repetition_cautions(workspace, rows, looked_at),
        *_pooling_cautions(analysis, rows, looked_at),
    )


def _repetition_cautions(
    workspace: Workspace, rows: pd.DataFrame, looked_at: set[str]
) -> tuple[str, ...]:
    """Where a model was asked again and again."""
    if "repetition" in looked_at or not _varies(rows, "repetition"):
        return ()
    fixed = _without_chance(workspace, rows["study"].unique(), rows["respondent"].unique())
    if fixed:
        return (
            f"Rows are repetitions at temperature 0 ({name_list(fixed)}): the same question "
            "asked again gives nearly the same answer, so such rows are copies, and n counts the "
            "same thing several times. Average over repetitions, or let contexts make the rows.",
        )
    if all(
        studies.frozen_study(workspace.database, str(code)).kind == "imported"
        for code in rows["study"].unique()
    ):
        return (
            (
                "The same respondents answered several times: what varies between such answers is "
                "chance or change, not individuals. Average over repetitions, or put them side by "
                "side.",
            )
            if _recurring_factors(rows, ["repetition"], looked_at)
            else ()
        )
    if "context" in looked_at or not _varies(rows, "context"):
        return (
            "Rows are repetitions of one model: what varies is chance in sampling, not "
            "individuals.",
        )
    return ()


def _without_chance(
    workspace: Workspace, codes: Iterable[Any], labels: Iterable[Any]
) -> tuple[str, ...]:
    """Those of the respondents of some studies that are asked at temperature 0."""
    cold = {
        person.name
        for code in codes
        for person in studies_designs.respondents_of(workspace, str(code))
        if person.sampling.temperature == 0 and not person.simulation
    }
    return tuple(sorted(cold & set(map(str, labels))))


def _pooling_cautions(
    analysis: Analysis, rows: pd.DataFrame, looked_at: set[str]
) -> tuple[str, ...]:
    """Where several ways of asking the same individual are rows of one analysis."""
    if not analysis.pooled_rows_need_caution:
        return ()
    pooled = [name for name in _ASKING_FACTORS if name not in looked_at and _varies(rows, name)]
    recurring = _recurring_factors(rows, pooled, looked_at)
    if not recurring:
        return ()
    named = [f"{len(rows[name].unique())} {_PLURALS.get(name, f'{name}s')}" for name in recurring]
    who = "context" if not rows_are_people(rows) and _varies(rows, "context") else "respondent"
    return (
        f"Rows are pooled over {' and '.join(named)}, so that the same {who} counts "
        "several times: n is too large, and intervals and p are too small. Take them into "
        "Separately for, or choose one or average over them under Which answers.",
    )


def _recurring_factors(
    rows: pd.DataFrame, factors: Sequence[str], looked_at: set[str]
) -> list[str]:
    """The ways in which some individual was asked more than once within what is analyzed together.

    People who each answered in one language, say, are pooled over languages without recurring.
    """
    if not factors:
        return []
    # Contexts of a design are the same in all its studies; codes of people are not.
    study = ["study"] if rows_are_people(rows) else []
    compared = [name for name in (*FACTORS, CONTEXT_SET, REWRITING) if name in looked_at]
    individual = list(
        dict.fromkeys([*study, *_INDIVIDUAL, *(name for name in compared if name in rows)])
    )
    cases = rows[["administration", *individual, *factors]].drop_duplicates("administration")
    same = cases.groupby(individual, observed=True, dropna=False, sort=False)
    return [name for name in factors if (same[name].nunique(dropna=False) > 1).any()]  # noqa: PD101


def _factors_in_options(analysis: Analysis, options: Mapping[str, Any]) -> set[str]:
    """The factors that an analysis itself sets side by side or compares."""
    factors: set[str] = set(analysis.compares)
    for option in analysis.options:
        value = options.get(option.name, option.default)
        if isinstance(value, str):
            factors.add(value)
        elif isinstance(value, tuple):
            factors |= {part for part in value if isinstance(part, str)}
    return factors


def _varies(frame: pd.DataFrame, name: str) -> bool:
    """Whether rows differ in a column."""
    column = frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column):
        codes = column.cat.codes.to_numpy()  # nothing has a code of its own, as a value would
        return bool(codes.min() != codes.max())
    return len(column.unique()) > 1

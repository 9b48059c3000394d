"""The frames an analysis works on, and other data it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from core import settings
from core.analysis.kit.registry import Analysis, OtherData
from core.analysis.kit.rows import administrations_of
from core.domain.attributes import is_attribute
from core.domain.factors import (
    DAY,
    DERIVED,
    FROM_CONTEXTS,
    SERVICE,
    ContextColumn,
    Factor,
    Filters,
    is_of_context,
    is_person_fact,
)
from core.domain.frames import (
    ATTEMPT_COUNTS,
    HIGHEST,
    ITEM_SCORES,
    LOWEST,
    NUMERIC_FACTS,
    OPTION_COUNTS,
    OPTION_POINTS,
    PEOPLE,
    RATINGS,
    TEXTS,
)
from core.domain.numbers import count_text, percent_text
from core.domain.study import FACTORS, LEAVE_OUT, NO_ROW
from core.domain.wide_scores import STATUSES, ItemScores, WideScores
from core.errors import NotEnoughData, TooLarge, WrongOption
from core.stats.inputs import name_list
from core.store import answers, frames, studies
from core.store import banks as bank_store
from core.store import studies as study_store
from core.workflow.answers import texts
from core.workflow.banks import editing
from core.workflow.statistics import item_attributes, left_out, person_facts, roles
from core.workflow.statistics.roles import Roles
from core.workflow.workspace import Workspace

# The frames an analysis works on, of the studies asked for.

_NOT_OPTIONS = {ATTEMPT_COUNTS: "attempts"}


@dataclass(frozen=True)
class ChosenAnswers:
    """Which answers go with those of a study, and how: other studies, filters, roles of factors."""

    others: tuple[str, ...] = ()
    where: Filters = field(default_factory=dict)
    roles: Roles = field(default_factory=dict)


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
    other frames hold every factor anyway. Attributes of items and facts about people that an option
    such as `by` names are columns of the frame. Where a fact is compared, the answers of people of
    whom it is not known are left out.

    Raises
    ------
    NotEnoughData
        No answers pass the filters, a filter or group names an unknown factor, attribute or fact,
        or answers are to be left out of texts, ratings or attempts.
    TooLarge
        The answers need more memory than INKBLOT_MEMORY.
    """
    _require_known(where)
    left_out.require_kinds(where.get(LEAVE_OUT, ()))
    if analysis.needs not in (ITEM_SCORES, OPTION_COUNTS):
        left_out.refuse(where, _NOT_OPTIONS.get(analysis.needs, analysis.needs.noun))
    named = roles.factors_in_options(analysis, options)
    by_days = DAY in (*named, *where)
    if by_days and workspace.database.engine is not None:
        raise NotEnoughData("Spark does not count by day.", "Count without --engine spark.")
    wide = wide and not by_days
    attributes = sorted(filter(is_attribute, named))
    item_attributes.require_attributes(workspace, codes, (*where, *attributes))
    person_facts.require_facts(workspace, codes, where)
    if analysis.needs is ITEM_SCORES:
        wide = wide and not any(texts.are_scored(workspace, code) for code in codes)
        _require_memory(workspace, codes, where, wide=wide and not attributes)
    table: ItemScores | None = None
    if wide and not attributes:
        table = wide_scores(workspace, codes, where, named)
        if table is None:
            _require_memory(workspace, codes, where, wide=False)
    if table is None:
        frame = _rows(workspace, analysis, codes, where, options)
        if frame.empty:
            raise NotEnoughData(
                "No planned answers pass these filters.", "Choose another study, or fewer filters."
            )
        table = item_attributes.with_attributes(workspace, frame, attributes)
    compared = analysis.compared(options)
    if is_person_fact(compared):
        table = person_facts.with_value(table, compared)
    if table.empty:
        raise NotEnoughData(
            f"{compared} is known of nobody among these answers.", "Compare another factor."
        )
    return table


def _rows(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    where: Filters,
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """The frame of an analysis with a row for each answer, count, text or rating."""
    named = roles.factors_in_options(analysis, options)
    if analysis.needs is TEXTS:
        return _text_frame(workspace, codes, where, named)
    if analysis.needs is RATINGS:
        return _rating_frame(workspace, codes, where, named)
    if analysis.needs is ITEM_SCORES:
        return item_scores(workspace, codes, where, named, _text_measure(analysis, options))
    return _counts(workspace, analysis, codes, where, options)


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


def _rows_fit(workspace: Workspace, codes: Sequence[str], where: Filters) -> bool:
    """Whether INKBLOT_MEMORY is enough for a row for each answer."""
    most = settings.from_environment().memory_bytes // _BYTES_OF_ROW
    if frames.n_on_file(workspace.database) <= most:
        return True
    return frames.n_planned(workspace.database, list(codes), where) <= most


def _require_known(where: Filters) -> None:
    """Raise where a filter names an unknown factor."""
    for factor in where:
        if factor not in (*FACTORS, *DERIVED, "item", LEAVE_OUT) and not (
            is_attribute(factor) or is_of_context(factor)
        ):
            raise WrongOption(
                f"There is no factor '{factor}' to filter by.",
                f"Use: {', '.join((*FACTORS, 'item', *DERIVED))}, a fact such as "
                f"person.gender, an attribute such as item.genre, or {LEAVE_OUT}.",
            )


def item_scores(
    workspace: Workspace,
    codes: Sequence[str],
    where: Filters,
    named: Iterable[str] = (),
    measure: texts.TextMeasure = texts.USUAL_MEASURE,
) -> pd.DataFrame:
    """ITEM_SCORES of some studies, with what is known of the contexts (see GROUPINGS).

    Facts about people, services and days that are `named` are columns. An administration that was
    answered on several days is then one for each. Of a study that asked for texts, or in which a
    judge rated some, they are scores of the texts.
    """
    named = tuple(named)
    columns = _columns_of_contexts(workspace, codes, (*FROM_CONTEXTS, *named))
    with_days = DAY in named
    parts = []
    others = [code for code in codes if not texts.are_scored(workspace, code)]
    if others:
        rows = frames.item_scores(workspace.database, others, where, columns, with_days=with_days)
        parts.append(rows)
    for code in codes:
        if texts.has_ratings(workspace, code):
            filters = {name: levels for name, levels in where.items() if name != LEAVE_OUT}
            ratings = _rating_frame(workspace, [code], filters, ())
            if not ratings.empty:
                parts.append(texts.rating_scores(ratings))
        elif code not in others:
            prompts = frames.item_scores(
                workspace.database, [code], where, columns, with_days=with_days
            )
            if not prompts.empty:
                parts.append(texts.word_scores(workspace, code, prompts, measure))
    if not parts:
        return pd.DataFrame()
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    if frame.empty:
        return frame
    if len(others) < len(codes):  # scores of ratings have no facts about the contexts of writers
        further = [*(column.name for column in columns), *([DAY] if with_days else [])]
        known = frame.reindex(columns=further).astype("object")
        frame = frame.assign(**{str(name): known[name].fillna("") for name in known})
    if with_days:
        frame = item_attributes.split_administrations(frame, [DAY])
    return _with_known_columns(workspace, person_facts.in_order(workspace, codes, columns, frame))


_OPTIONS_OF_TEXTS = ("lists", "stereotypes")
"""What an analysis of scores asks of texts alone, where it has both."""


def unused_options(workspace: Workspace, analysis: Analysis, codes: Sequence[str]) -> set[str]:
    """The options that say how texts are scored, where none of the studies has texts."""
    if not scores_texts(analysis) or any(texts.are_scored(workspace, code) for code in codes):
        return set()
    return set(_OPTIONS_OF_TEXTS)


def scores_texts(analysis: Analysis) -> bool:
    """Whether an analysis of scores asks how texts are scored."""
    return {*_OPTIONS_OF_TEXTS} <= {option.name for option in analysis.options}


def _text_measure(analysis: Analysis, options: Mapping[str, Any]) -> texts.TextMeasure:
    """How an analysis that takes scores of texts is to score them."""
    if not scores_texts(analysis):
        return texts.USUAL_MEASURE
    rows = ((str(name), str(level)) for name, level in options.get("stereotypes", ()))
    return texts.TextMeasure(str(options.get("lists") or ""), tuple(rows))


def wide_scores(
    workspace: Workspace, codes: Sequence[str], where: Filters, named: Iterable[str] = ()
) -> WideScores | None:
    """The same as a wide table; None where it would be nearly empty, or where there is nothing."""
    columns = _columns_of_contexts(workspace, codes, (*FROM_CONTEXTS, *named))
    table = frames.wide_scores(workspace.database, list(codes), where, columns)
    if table is None:
        return None
    asked = person_facts.in_order(workspace, codes, columns, table.administrations)
    return replace(table, administrations=_with_known_columns(workspace, asked))


def _columns_of_contexts(
    workspace: Workspace, codes: Sequence[str], named: Iterable[str]
) -> tuple[ContextColumn, ...]:
    """The columns among those named that contexts or respondents decide (see GROUPINGS)."""
    wanted = tuple(named)
    others = [ContextColumn(name) for name in (*FROM_CONTEXTS, SERVICE) if name in wanted]
    return (*others, *person_facts.fact_columns(workspace, codes, wanted))


def _with_known_columns(workspace: Workspace, frame: pd.DataFrame) -> pd.DataFrame:
    """ITEM_SCORES or its administrations with what is known of formats and people."""
    further: dict[str, Any] = {PEOPLE: _is_of_people(workspace, frame)}
    if any(map(is_person_fact, frame.columns)):
        codes = [str(code) for code in frame["study"].unique()]
        facts = person_facts.known_facts(workspace.database, codes)
        names = "\n".join(name for name, fact in facts.items() if fact.kind == "number")
        further[NUMERIC_FACTS] = pd.Categorical.from_codes(
            np.zeros(len(frame), np.int8), pd.Index([names])
        )
    return frame.assign(**_format_points(workspace, frame), **further)


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
    formats = [] if asked.empty else administrations_of(frame)["format"].unique().tolist()
    notes = [words] if (words := texts.score_words(formats)) else []
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


_SEED_OPTION = "seed"


def _counts(
    workspace: Workspace,
    analysis: Analysis,
    codes: Sequence[str],
    where: Filters,
    options: Mapping[str, Any],
) -> pd.DataFrame:
    """OPTION_COUNTS or ATTEMPT_COUNTS, kept apart as the analysis and its options ask for."""
    asked = {*analysis.keeps, *roles.factors_in_options(analysis, options)}
    columns = _columns_of_contexts(workspace, codes, asked)
    kept = _factors_kept(workspace, analysis, codes, options, where)
    factors: list[Factor] = [*kept, *([DAY] if DAY in asked else []), *columns]
    if analysis.needs is ATTEMPT_COUNTS:
        frame = frames.attempt_counts(workspace.database, list(codes), where, factors=factors)
    else:
        seed = options.get(
            _SEED_OPTION,
            next((o.default for o in analysis.options if o.name == _SEED_OPTION), None),
        )
        frame = frames.option_counts(
            workspace.database, list(codes), where, factors=factors, seed=seed
        )
    return frame if frame.empty else person_facts.in_order(workspace, codes, columns, frame)


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
    asked = {*analysis.keeps, *roles.factors_in_options(analysis, options)}
    if "repetition" in analysis.keeps and not _rows_fit(workspace, codes, where):
        named = roles.factors_in_options(analysis, options)
        asked -= {"repetition"} - named  # they are then counted together, and errors unknown
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


def _text_frame(
    workspace: Workspace, codes: Sequence[str], where: Filters, named: Iterable[str] = ()
) -> pd.DataFrame:
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
        parts.append(part)
    frame = _passing(workspace, pd.concat(parts, ignore_index=True), codes, where)
    return _with_columns_of_contexts(workspace, codes, frame, named)


def _rating_frame(
    workspace: Workspace, codes: Sequence[str], where: Filters, named: Iterable[str]
) -> pd.DataFrame:
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
    rows = _passing(workspace, rows, codes, where)
    return _with_columns_of_contexts(workspace, codes, rows, named)


def _with_columns_of_contexts(
    workspace: Workspace, codes: Sequence[str], frame: pd.DataFrame, named: Iterable[str]
) -> pd.DataFrame:
    """TEXTS or RATINGS with what is known of the contexts, and facts that are named."""
    asked = (name for name in named if name != SERVICE)  # texts are not kept by it
    columns = _columns_of_contexts(workspace, codes, (*FROM_CONTEXTS, *asked))
    about = frames.contexts(workspace.database, codes, {}, columns)
    joined = frame.merge(about, on=["study", "context"], how="left")
    joined = joined.astype({c.name: "category" for c in columns if c.name in FROM_CONTEXTS})
    return person_facts.in_order(workspace, codes, columns, joined)


def _passing(
    workspace: Workspace, frame: pd.DataFrame, codes: Sequence[str], where: Filters
) -> pd.DataFrame:
    """The rows of TEXTS or RATINGS that pass the filters."""
    frame = person_facts.filtered(workspace, codes, where, frame)
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
        if is_attribute(factor) or is_of_context(factor):
            continue
        if factor not in frame:
            raise NotEnoughData(
                f"Texts are not kept by {factor}.", "Take the filter off, or filter by context."
            )
        frame = frame[frame[factor].isin(list(values))]
    return frame.reset_index(drop=True)


def _as_texts(where: Filters) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in where.items()}


# What analyses bring in beside the answers of a study: other studies, texts, lists of words.


@dataclass(frozen=True)
class _Source:
    """Where one kind of other data comes from."""

    names: Callable[[Workspace], tuple[str, ...]]
    frame: Callable[[Workspace, str, Filters, Sequence[str]], pd.DataFrame]
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
            by = tuple(options.get("by", ()))
            values[option.name] = (
                _load_source(workspace, option.kind, str(name), filters, by) if name else None
            )
            if name and option.kind.of == "item_scores":
                frame = item_attributes.with_attributes(workspace, values[option.name], by)
                values[option.name] = item_attributes.split_administrations(
                    frame, filter(is_attribute, by)
                )
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


def options_with_scores(analysis: Analysis, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The options that name another study, whose scores the analysis takes."""
    return tuple(
        option.name
        for option in analysis.options
        if isinstance(option.kind, OtherData)
        and option.kind.of == "item_scores"
        and options.get(option.name)
    )


def _load_source(
    workspace: Workspace, kind: OtherData, name: str, filters: Filters, by: Sequence[str]
) -> pd.DataFrame:
    """What stands under that name."""
    source = _SOURCES[kind.of]
    frame = source.frame(workspace, name, filters, by)
    if frame.empty and source.is_study:
        raise NotEnoughData(
            f"The study '{name}' ({kind.label}) has no answers.", "Run it, or choose another."
        )
    return frame


def _word_banks(workspace: Workspace) -> tuple[str, ...]:
    return tuple(bank.code for bank in editing.summaries(workspace) if bank.kind == "words")


def _word_list_frame(
    workspace: Workspace, name: str, _: Filters, _by: Sequence[str]
) -> pd.DataFrame:
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
        lambda workspace, name, filters, by: item_scores(workspace, [name], filters, by),
        is_study=True,
    ),
    "texts": _Source(
        _text_studies,
        lambda workspace, name, _, by: _text_frame(workspace, [name], {}, by),
        is_study=True,
    ),
    "word_lists": _Source(_word_banks, _word_list_frame, is_study=False),
}

"""Texts that models wrote: counting listed words in them, and letting a judge rate them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit import word_lists
from core.collect.ratings import parse_rating
from core.collect.replies.reasoning import with_known_marks
from core.domain.factors import CONTEXT_SET, DERIVED, ORIGIN, REWRITING, is_of_context
from core.domain.frames import ITEM_SCORES, RATINGS
from core.domain.instrument import FREE_TEXT, Instrument, Item, Rating, ResponseFormat, Wording
from core.domain.study import FACTORS, ReasoningMarks, Status
from core.errors import BankError, NotEnoughData, WrongOption
from core.files.banks.reading import ImportedBank
from core.stats.correlation import correlation
from core.stats.distributions import moments
from core.stats.inputs import name_list
from core.store import answers as store
from core.store import banks as bank_store
from core.store import studies
from core.store.studies import StudyRecord
from core.workflow.banks import editing
from core.workflow.designs.studies import respondents_as_amended
from core.workflow.workspace import Workspace

_TEXT_PLACE = "{text}"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_RATINGS = "ratings"
STORY_RUBRIC = (
    "Read the story below and rate it from 1 (not at all) to 10 (very much) on how tragic it is "
    'and on how funny it is. Reply with a JSON object only, such as {"tragedy": 3, "comedy": 5}.'
    "\n\nStory:\n{text}"
)
STORY_RATINGS = (Rating("tragedy", 1, 10), Rating("comedy", 1, 10))
_MAX_JUDGED = 20_000
_SOURCE_TAG = "of"
_CONDITIONS = ["respondent", "language", "context", "repetition", "item"]


def load_texts(workspace: Workspace, study: str) -> pd.DataFrame:
    """One row per text of a study: its conditions, the tags of its prompt, status and text.

    Texts that are empty, refused or unfinished are there with their status; nothing is left out.
    """
    record = studies.get(workspace.database, study)
    frame = store.texts(workspace.database, record.study_id).drop(columns="administration")
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    tags = pd.DataFrame([_tag_values(item) | {"item": item.code} for item in bank.items])
    return frame.merge(tags, on="item", how="left")


def text_studies(workspace: Workspace) -> tuple[str, ...]:
    """Studies that asked for free texts, oldest first."""
    return _studies_with(workspace, ratings=False)


def judged_studies(workspace: Workspace) -> tuple[str, ...]:
    """Studies in which a judge rated texts, oldest first."""
    return _studies_with(workspace, ratings=True)


def has_texts(workspace: Workspace, study: str) -> bool:
    """Whether a study asked for free texts, which the page Texts counts and a judge rates."""
    return _asks(workspace, studies.get(workspace.database, study), ratings=False)


def has_ratings(workspace: Workspace, study: str) -> bool:
    """Whether in a study a judge rated texts."""
    return _asks(workspace, studies.get(workspace.database, study), ratings=True)


def word_lists_of(bank: Instrument) -> dict[str, list[str]]:
    """The words of a bank by their subscale: each subscale is one list."""
    lists: dict[str, list[str]] = {}
    for item in bank.items:
        words = [w.text for w in item.wordings if w.text.strip()]
        lists.setdefault(item.subscale or bank.code, []).extend(words)
    return lists


def count_words(
    workspace: Workspace, study: str, lists: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """One row per usable text: its conditions and tags, its words, and its words of each list.

    Raises
    ------
    NotEnoughData
        The study has no usable text.
    """
    frame = load_texts(workspace, study)
    usable = frame[frame["status"] == Status.ANSWERED].reset_index(drop=True)
    if usable.empty:
        raise NotEnoughData("No text has been collected yet.", "Run the study first.")
    counted = word_lists.word_counts(usable["text"].tolist(), lists)
    return pd.concat([usable.drop(columns=["text", "trial_id"]), counted], axis=1)


# Texts as scores: ITEM_SCORES whose items are lists of words, or the qualities that a judge rated.

_PER_HUNDRED, _ODDS_RATIO, _LENGTH, _RATED = "per 100 words", "log odds ratio", "words", "rating"
_OF_MEASURE = {
    _PER_HUNDRED: "words of each list in 100 words",
    _ODDS_RATIO: "the log odds ratio of each list between two groups of texts",
    _LENGTH: "their numbers of words, as there is no bank of words",
    _RATED: "the ratings of a judge, mean over its replies to a text",
}
"""What scores of texts are, by the format that their rows have; the bank of words follows it."""


@dataclass(frozen=True)
class TextMeasure:
    """What the score of a text is: a bank of words, and which list is whose stereotype.

    Without a bank, the one with lists that was last saved counts. `stereotypes` are rows of (list,
    group of texts); without them, lists are counted in 100 words.
    """

    bank: str = ""
    stereotypes: tuple[tuple[str, str], ...] = ()


USUAL_MEASURE = TextMeasure()


def are_scored(workspace: Workspace, study: str) -> bool:
    """Whether the scores of a study are those of texts."""
    return has_texts(workspace, study) or has_ratings(workspace, study)


def word_scores(
    workspace: Workspace, study: str, prompts: pd.DataFrame, measure: TextMeasure
) -> pd.DataFrame:
    """ITEM_SCORES of the texts of a study: an item is a list of words, which is its subscale too.

    `prompts` are the ITEM_SCORES of the prompts. Where several contexts wrote, a row is an
    administration, whose texts are pooled; where one did, a row is a text, and its prompt stands in
    the factor entity. The format says what the score is.

    Raises
    ------
    NotEnoughData
        A list or a group of texts is unknown.
    """
    record = studies.get(workspace.database, study)
    chosen = measure.bank or latest_lists(workspace)
    lists = word_lists_of(editing.load(workspace, chosen).instrument) if chosen else {}
    written = store.texts(workspace.database, record.study_id)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    keys = ["administration", "item"]
    rows = prompts.reset_index(drop=True).drop(columns=["subscale", "score"])
    rows = rows.merge(written[[*keys, "text"]], on=keys, how="left")
    unit = rows["administration"].to_numpy()
    if len(rows["context"].unique()) < 2:
        unit = _text_ids(rows[keys])
        rows["entity"] = rows["item"].astype(str)
    usable = (rows["status"] == Status.ANSWERED).to_numpy() & rows["text"].notna().to_numpy()
    counted = word_lists.word_counts(rows["text"].where(usable, "").tolist(), lists)
    counted = counted.assign(unit=unit)
    if measure.stereotypes:
        tags = pd.DataFrame([_tag_values(item) | {"item": item.code} for item in bank.items])
        scores = _odds_ratios(counted, rows[["item"]].merge(tags, how="left"), measure, lists)
    else:
        sums = counted.groupby("unit", sort=False).sum()
        words = sums[word_lists.TOTAL]
        scores = sums[list(lists)].mul(100).div(words.where(words > 0), axis=0)
        if not lists:
            scores = sums[[word_lists.TOTAL]].where(words > 0)
    usable_first = np.argsort(~usable, kind="stable")
    cases = rows.assign(administration=unit).iloc[usable_first].drop_duplicates("administration")
    cases = cases.sort_index().drop(columns=["text", "item"])
    kind = _ODDS_RATIO if measure.stereotypes else _PER_HUNDRED if lists else _LENGTH
    return _score_rows(cases, scores, f"{kind} ({chosen})" if chosen else kind)


def latest_lists(workspace: Workspace) -> str:
    """The bank of words that was last saved and has lists, which are its subscales; or none."""
    banks = [bank for bank in editing.summaries(workspace) if bank.kind == "words"]
    for bank in sorted(banks, key=lambda bank: bank.saved_at, reverse=True):
        if any(item.subscale for item in editing.load(workspace, bank.code).instrument.items):
            return bank.code
    return ""


def _text_ids(keys: pd.DataFrame) -> Any:
    """A number of 63 bits for each text, which is an administration of its own."""
    names = keys["administration"].astype(str) + ":" + keys["item"].astype(str)
    return (pd.util.hash_array(names.to_numpy(dtype=object)) >> np.uint64(1)).astype(np.int64)


def _odds_ratios(
    counted: pd.DataFrame,
    tags: pd.DataFrame,
    measure: TextMeasure,
    lists: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """The log odds ratio of each list in every unit; `tags` are those of the prompt of each row."""
    pairs = [(name.strip(), level.strip()) for name, level in measure.stereotypes]
    levels = list(dict.fromkeys(level for _, level in pairs))
    unknown = [name for name, _ in pairs if name not in lists]
    if unknown:
        raise WrongOption(
            f"There is no list '{unknown[0]}'.", f"The lists are: {', '.join(lists)}."
        )
    found = {name: sorted(set(tags[name].dropna())) for name in tags if name != "item"}
    having = [name for name, own in found.items() if set(levels) <= set(own)]
    others = [level for name in having for level in found[name] if level not in levels]
    if len(levels) == 1 and len(having) == 1 and len(others) == 1:
        levels += others
    if len(having) != 1 or len(levels) != 2:
        named = "; ".join(f"{name} ({name_list(own)})" for name, own in found.items()) or "none"
        raise WrongOption(
            f"The lists are not stereotypes of two groups of these texts: {name_list(levels)}.",
            f"Give each list a level of one descriptor of the prompts: {named}.",
        )
    ratios = word_lists.stereotype_scores(
        counted.assign(level=tags[having[0]].to_numpy()),
        unit=["unit"],
        group="level",
        levels=(levels[0], levels[1]),
        sides={name: levels.index(level) for name, level in pairs},
    )
    names = {f"log_{name}": name for name, _ in pairs}
    return ratios.set_index("unit")[list(names)].rename(columns=names)


def rating_scores(ratings: pd.DataFrame) -> pd.DataFrame:
    """ITEM_SCORES of texts that a judge rated: an item is a quality, which is its subscale too.

    `ratings` is a RATINGS frame. The respondent is the writer and the context that of the writer.
    Ratings of the same text are averaged; rows are as in `word_scores`.
    """
    about = ratings.drop_duplicates("item").set_index("item")
    context = about.get("writer_context", pd.Series("", index=about.index)).fillna("")
    beside = {*RATINGS.columns, CONTEXT_SET, REWRITING, ORIGIN, _SOURCE_TAG, "writer_context"}
    tags = [name for name in about if name not in beside]
    prompt = about[tags].fillna("").astype(str).agg(" · ".join, axis=1) if tags else ""
    cases = pd.DataFrame(
        {
            "study": about["study"],
            **dict.fromkeys(FACTORS, ""),
            "respondent": about["writer"],
            "model": about["writer"],
            "language": about["language"],
            "context": context,
            "entity": prompt if len(context.unique()) < 2 else "",
            CONTEXT_SET: "",
            REWRITING: "original",
            ORIGIN: context,
        }
    )
    alike = ["respondent", "language", "context", "entity"]
    cases["repetition"] = 1
    if len(context.unique()) < 2:  # each text is a row
        cases["repetition"] = cases.groupby(alike, sort=False).cumcount() + 1
    unit = cases.groupby([*alike, "repetition"], sort=False).ngroup()
    names = (about["study"].astype(str) + ":" + unit.astype(str)).to_numpy(dtype=object)
    cases["administration"] = (pd.util.hash_array(names) >> np.uint64(1)).astype(np.int64)
    by_text = ratings.groupby(["item", "quality"], sort=False)["rating"].mean().unstack()
    scores = by_text.groupby(cases["administration"], sort=False).mean()
    rated = ratings.assign(gap=ratings["rating"].isna()).sort_values("gap", kind="stable")
    status = rated.drop_duplicates("item").set_index("item")["status"]
    cases = cases.assign(status=status.reindex(cases.index), keyed=1)
    return _score_rows(cases.drop_duplicates("administration"), scores, _RATED)


def _score_rows(cases: pd.DataFrame, scores: pd.DataFrame, measure: str) -> pd.DataFrame:
    """ITEM_SCORES of administrations and their scores, a column for each item."""
    parts = [
        cases.assign(
            item=str(name),
            subscale=str(name),
            keyed=1,
            format=measure,
            score=scores[name].reindex(cases["administration"]).to_numpy(dtype=np.float64),
        )
        for name in scores
    ]
    of_contexts = [
        name for name in map(str, cases) if is_of_context(name) or name in (*DERIVED, ORIGIN)
    ]
    return pd.concat(parts, ignore_index=True)[[*ITEM_SCORES.columns, *of_contexts]]


def score_words(formats: Iterable[str]) -> str:
    """What the scores of texts are, by their formats; empty where there are none."""
    named = []
    for response_format in formats:
        kind, _, bank = str(response_format).partition(" (")
        if kind in _OF_MEASURE:
            named.append(_OF_MEASURE[kind] + (f" (bank {bank}" if bank else ""))
    return f"Scores of texts are {' and '.join(named)}." if named else ""


def create_judge_bank(
    workspace: Workspace, study: str, rubric: str, qualities: Sequence[Rating]
) -> Instrument:
    """A bank that puts every usable text of a study to a judge, kept under a free code.

    `rubric` is the question, with the text in place of {text}; descriptors of the prompt may stand
    in it too, such as {name}. The reply is to be a JSON object with a number for each quality. The
    bank's items keep the tags and attributes of the texts' prompts.

    Raises
    ------
    BankError
        The rubric does not hold {text} or holds an unknown placeholder, there is no quality or one
        twice, or there are no or too many texts.
    """
    if _TEXT_PLACE not in rubric:
        raise BankError("The rubric does not say where the text stands.", "Write {text} there.")
    _refuse_qualities(qualities)
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    prompts = {item.code: item for item in bank.items}
    _refuse_unknown_places(rubric, [_tag_values(item) for item in bank.items])
    frame = store.texts(workspace.database, record.study_id)
    usable = frame[frame["status"] == Status.ANSWERED]
    if usable.empty or len(usable) > _MAX_JUDGED:
        raise BankError(
            f"The study has {len(usable):,} usable texts; from 1 to {_MAX_JUDGED:,} can be judged.",
            "Run the study first, or plan a smaller one.",
        )
    items = tuple(
        _judge_item(number, prompts[str(row.item)], row, rubric)
        for number, row in enumerate(usable.itertuples(), 1)
    )
    rating = ResponseFormat(_RATINGS, (), ratings=tuple(qualities))
    judged = Instrument(
        f"judge_{study}",
        f"Texts of {study}, to be rated",
        items,
        (rating,),
        tuple(dict.fromkeys(usable["language"])),
        f"Rubric: {rubric}",
        kind="prompts",
    )
    return editing.import_bank(workspace, ImportedBank(judged)).instrument


def load_ratings(workspace: Workspace, study: str) -> pd.DataFrame:
    """One row per text put to a judge: who judged, the tags, status, and the ratings as numbers.

    What is no valid rating has a status that says so, and no numbers.
    """
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    frame = load_texts(workspace, study)
    values = _rating_values(frame, _rated(bank).ratings, _marks(workspace, record))
    return pd.concat([frame.drop(columns=["text", "trial_id"]), values], axis=1)


def rating_rows(workspace: Workspace, study: str) -> pd.DataFrame:
    """RATINGS of a study in which a judge rated texts."""
    record = studies.get(workspace.database, study)
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    qualities = _rated(bank).ratings
    frame = store.judgements(workspace.database, record.study_id)
    values = _rating_values(frame, qualities, _marks(workspace, record))
    own = frame.drop(columns="text").rename(columns={"trial_id": "trial"})
    own.insert(0, "study", study)
    about = pd.DataFrame([_descriptors(item) | {"item": item.code} for item in bank.items])
    own = own.merge(about, on="item", how="left")
    parts = [
        own.assign(
            quality=quality.code,
            lowest=float(quality.low),
            highest=float(quality.high),
            rating=values[quality.code].to_numpy(),
        )
        for quality in qualities
    ]
    return pd.concat(parts, ignore_index=True)


def _descriptors(item: Item) -> dict[str, str]:
    """The tags of the prompt of a judged text, as columns of RATINGS."""
    values = _tag_values(item)
    tags = {name: value for name, value in values.items() if name not in RATINGS.columns}
    return tags | {"writer": values.get("writer", "")}


def _rated(bank: Instrument) -> ResponseFormat:
    """The format of a bank that asks for ratings, else its first one."""
    return next((known for known in bank.formats if known.ratings), bank.formats[0])


def _marks(workspace: Workspace, record: StudyRecord) -> dict[str, ReasoningMarks]:
    """The marks of reasoning of each judge, by its name; unknown for an imported study."""
    if record.kind == "imported":
        return {}
    people = respondents_as_amended(workspace, record.study_id).values()
    return {person.name: person.sampling.reasoning_marks for person in people}


def _rating_values(
    frame: pd.DataFrame, qualities: Sequence[Rating], marks: Mapping[str, ReasoningMarks]
) -> pd.DataFrame:
    """The numbers of each reply, a column for each quality; NaN where it holds no valid rating."""
    read = [
        parse_rating(with_known_marks(str(text or ""), marks.get(judge, ())), qualities).values
        for judge, text in zip(frame["respondent"], frame["text"], strict=True)
    ]
    values = pd.DataFrame(read, columns=[quality.code for quality in qualities], dtype="float64")
    return values.where(frame["status"].isin([Status.ANSWERED, Status.EXPLAINED]))


def ratings_by_level(frame: pd.DataFrame, tag: str, quality: str) -> pd.DataFrame:
    """Mean, SD and n of a rating for each level of a tag and each judge; missing are counted."""
    rows = []
    for (judge, level), group in frame.groupby(["respondent", tag], observed=True):
        scores = moments(group[quality].to_numpy(dtype=np.float64))
        rows.append(
            {
                "respondent": judge,
                tag: level,
                "n": scores.n,
                "missing": len(group) - scores.n,
                "mean": scores.mean,
                "sd": scores.sd,
            }
        )
    return pd.DataFrame(rows, columns=["respondent", tag, "n", "missing", "mean", "sd"])


def level_correlation(frame: pd.DataFrame, tag: str, quality: str) -> tuple[float, int]:
    """Pearson correlation of a numeric tag with the mean rating of its levels, and the levels.

    NaN with fewer than three levels, a level that is no number, or no variance.
    """
    numbered = frame.assign(level=pd.to_numeric(frame[tag], errors="coerce"))
    means = numbered.dropna(subset=["level", quality]).groupby("level")[quality].mean()
    return correlation(means.index.to_numpy(), means.to_numpy()).r, len(means)


def _studies_with(workspace: Workspace, *, ratings: bool) -> tuple[str, ...]:
    records = studies.studies(workspace.database)
    return tuple(r.code for r in records if _asks(workspace, r, ratings=ratings))


def _asks(workspace: Workspace, record: StudyRecord, *, ratings: bool) -> bool:
    bank = bank_store.instrument(workspace.database, record.instrument_id)
    if record.kind == "imported":  # whatever the file calls the answer, the reply is the text
        return bool(_rated(bank).ratings) if ratings else _asks_for_texts(bank)
    formats = [f for f in bank.formats if f.code in record.design.levels("formats")]
    return any(bool(f.ratings) if ratings else f.is_free_text for f in formats)


def _asks_for_texts(bank: Instrument) -> bool:
    """Whether a bank has the format of free texts."""
    return any(response_format.code == FREE_TEXT for response_format in bank.formats)


def _tag_values(item: Item) -> dict[str, str]:
    """What the tags of a prompt say: "name=Ann" under name; a tag without a value is left out."""
    pairs = (tag.partition("=") for tag in item.tags)
    return {name: value for name, mark, value in pairs if mark and name not in _CONDITIONS}


def _refuse_qualities(qualities: Sequence[Rating]) -> None:
    if not qualities:
        raise BankError("There is nothing to rate.", "Name at least one quality.")
    for number, quality in enumerate(qualities):
        if quality.code.casefold() in {other.code.casefold() for other in qualities[:number]}:
            raise BankError(f"The quality '{quality.code}' stands twice.", "Name it once.")
        if quality.low >= quality.high:
            raise BankError(
                f"The range of '{quality.code}' ends where it begins, or below.",
                f"Type: {quality.code} 1-10",
            )


def _refuse_unknown_places(rubric: str, tags: Sequence[Mapping[str, str]]) -> None:
    """Refuse a placeholder that is neither the text nor a descriptor of every prompt."""
    known = {"text"} | (set(tags[0]).intersection(*tags[1:]) if tags else set())
    for name in _PLACEHOLDER.findall(rubric):
        if name not in known:
            listed = ", ".join(f"{{{one}}}" for one in sorted(known))
            raise BankError(
                f"The rubric names {{{name}}}, which no prompt has.", f"Use one of: {listed}."
            )


def _judge_item(number: int, prompt: Item, row: Any, rubric: str) -> Item:
    """The item that puts one text to a judge; `row` is the text with its conditions."""
    values = _tag_values(prompt) | {"text": str(row.text or "")}
    text = _PLACEHOLDER.sub(lambda match: values[match[1]], rubric)
    conditions = (f"{_SOURCE_TAG}={row.trial_id}", f"writer={row.respondent}")
    context = (f"writer_context={row.context}",) if row.context else ()
    return Item(
        f"t{number:05d}",
        (Wording(str(row.language), text),),
        tags=(*prompt.tags, *conditions, *context),
        attributes=prompt.attributes,
    )

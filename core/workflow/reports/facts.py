"""What a report says of a study: bank, respondents, conditions, replies and how they were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from core.analysis.kit.sentences import share_text
from core.domain.factors import Filters
from core.domain.instrument import Instrument, ResponseFormat, content_hash
from core.domain.languages import language_name
from core.domain.numbers import count_text, number_text, percent_text
from core.domain.study import (
    LABEL_ORDERS,
    LEAVE_OUT,
    Certainty,
    Context,
    Design,
    Respondent,
    describe_contexts,
)
from core.store import answers as store
from core.store import collection, studies
from core.store.collection import CollectedReplies
from core.store.studies import StudyRecord
from core.workflow.answers import agreement, audits, browsing
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.answers.readings import CERTAINTY_WORDS
from core.workflow.banks import editing
from core.workflow.designs import studies as designs
from core.workflow.prompts import Wordings, study_wordings
from core.workflow.respondents import catalog
from core.workflow.runs import amendments
from core.workflow.statistics import left_out
from core.workflow.workspace import Workspace

_MOST_LEVELS = 12
"""Levels of a condition that a report names; of more it names the first ones and their number."""
_LONGEST_LABELS = 12
"""Options of an answer format whose labels a report names; of more it names the ends."""
_FACTOR_WORDS: Mapping[str, str] = {
    "language": "Language", "context": "Context", "entity": "Entity", "entity_b": "Second entity",
    "form": "Form of the items", "format": "Answer format", "template": "Prompt templates",
    "label_order": "Order of options", "phase": "Phase", "items_per_call": "Items per call",
    "history": "Own earlier answers", "temperature": "Temperature", "top_p": "Top-p",
    "max_tokens": "Longest reply (tokens)", "repetition": "Repetitions",
}  # fmt: skip
_HISTORY_WORDS = {"none": "not shown to the model", "own": "shown to the model as messages"}
_SETTINGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top-p",
    "max_tokens": "longest reply in tokens",
    "seed": "seed",
}


@dataclass(frozen=True, eq=False)
class StudyFacts:
    """What is on file of a study, loaded once."""

    workspace: Workspace
    record: StudyRecord
    bank: Instrument
    respondents: tuple[Respondent, ...]
    contexts: Mapping[str, Context]
    wordings: Wordings
    levels: Mapping[str, Sequence[Any]]
    replies: tuple[CollectedReplies, ...]

    @property
    def design(self) -> Design:
        """The design as frozen."""
        return self.record.design

    @property
    def is_planned(self) -> bool:
        """Whether Inkblot asked; else the answers were imported."""
        return self.record.kind == "planned"

    @cached_property
    def asked_items(self) -> tuple[str, ...]:
        """The codes of the items that the study asks, which may be some of its bank."""
        return browsing.asked_items(self.workspace, self.record.code)

    @cached_property
    def statuses(self) -> pd.DataFrame:
        """Trials by respondent and status."""
        return browsing.status_counts(self.workspace, self.record.code, ["respondent"])


def load(workspace: Workspace, study: str) -> StudyFacts:
    """The facts of a study by its code.

    Raises
    ------
    DesignError
        There is no such study.
    """
    record = studies.get(workspace.database, study)
    return StudyFacts(
        workspace,
        record,
        designs.frozen_bank(workspace, study),
        designs.respondents_of(workspace, study),
        studies.contexts(workspace.database, record.study_id),
        study_wordings(workspace, record.study_id),
        browsing.all_levels(workspace, study),
        collection.collected_replies(workspace.database, record.study_id),
    )


# The bank.


def bank_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """Title, version, size, subscales and answer formats of the bank."""
    bank, n_items = facts.bank, len(facts.asked_items)
    of_all = "" if n_items == len(bank.items) else f" of its {len(bank.items):,}"
    sentences = [
        f"The items are those of the bank “{bank.title}” (code {bank.code}, version "
        f"{facts.record.version}): {n_items:,}{of_all} items{_subscale_words(facts)}."
    ]
    if bank.codes_only:
        sentences.append(
            "The answers were imported without a bank: the items are known by their codes, and "
            "which of them are reverse-keyed is not known."
        )
    sentences += [_format_sentence(facts, one) for one in _formats(facts)]
    return tuple(sentences)


def source_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """Source, licence and review of the texts of the bank, as far as they are known."""
    bank = facts.bank
    unreviewed = editing.unreviewed_texts_of_study(facts.workspace, facts.record.code).sentence
    return tuple(
        filter(
            None,
            [
                bank.description,
                f"Source: {_ended(bank.citation)}" if bank.citation else "",
                f"License: {_ended(bank.licence)}" if bank.licence else "",
                unreviewed,
            ],
        )
    )


def subscale_rows(facts: StudyFacts) -> list[tuple[str, int, int]]:
    """Each subscale with its numbers of items and of reverse-keyed ones."""
    asked = set(facts.asked_items)
    rows: dict[str, list[int]] = {}
    for item in facts.bank.items:
        if item.code in asked:
            counts = rows.setdefault(item.subscale, [0, 0])
            counts[0] += 1
            counts[1] += item.keyed < 0
    return [(name or "(no subscale)", n, reverse) for name, (n, reverse) in rows.items()]


def _subscale_words(facts: StudyFacts) -> str:
    rows = subscale_rows(facts)
    n_reverse = sum(reverse for _, _, reverse in rows)
    reverse = f"{n_reverse:,} reverse-keyed" if n_reverse else "none reverse-keyed"
    if facts.bank.codes_only:
        return ""
    if len(rows) < 2:
        return f", {reverse}"
    return f" in {len(rows):,} subscales, {reverse}"


def _formats(facts: StudyFacts) -> list[ResponseFormat]:
    asked = set(map(str, facts.levels.get("format", ())))
    return [one for one in facts.bank.formats if one.code in asked]


def _format_sentence(facts: StudyFacts, response_format: ResponseFormat) -> str:
    """The options of an answer format with their points, in the first language of the study."""
    if response_format.is_free_text:
        return "The reply is a text of the model's own."
    if response_format.ratings:
        qualities = ", ".join(
            f"{r.code} ({r.low:g} to {r.high:g})" for r in response_format.ratings
        )
        return f"Answer format {response_format.code}: ratings of {qualities}."
    languages = [str(one) for one in facts.levels.get("language", ())] or [""]
    options = response_format.options
    shown = options if len(options) <= _LONGEST_LABELS else (options[0], options[-1])
    labels = []
    for option in shown:
        label = option.labels.get(languages[0]) or next(iter(option.labels.values()), "")
        points = "not scored" if option.points is None else _points(option.points)
        labels.append(f"{label or option.code} ({points})")
    return (
        f"Answer format {response_format.code}, {count_text(len(options), 'option')} with points: "
        f"{' … '.join(labels) if len(shown) < len(options) else ', '.join(labels)}."
    )


def _points(points: float) -> str:
    return f"{points:g}".replace("-", "−")


# Respondents.


def respondent_rows(facts: StudyFacts) -> list[tuple[str, ...]]:
    """Each respondent with its model as sent and as reported, its settings and its dates.

    Of many imported respondents, their number.
    """
    if not facts.respondents:
        return _imported_rows(facts)
    rows: list[tuple[str, ...]] = []
    amended = amendments.list_amendments(facts.workspace, facts.record.code)
    for person in facts.respondents:
        own = [one for one in facts.replies if one.respondent == person.label]
        reported = ", ".join(sorted({one.model for one in own if one.model}))
        changes = [one.change for one in amended if one.respondent.label == person.label]
        settings = "; then amended: ".join([settings_words(person), *changes])
        rows.append((person.label, person.model, reported, settings, _dates(own)))
    return rows


_MOST_RESPONDENTS = 30
"""Respondents that have rows of their own."""
_IMPORTED = "imported, with no settings on file"


def _imported_rows(facts: StudyFacts) -> list[tuple[str, ...]]:
    """The respondents of imported answers, whose file may name models."""
    labels = [str(label) for label in facts.levels["respondent"]]
    if len(labels) > _MOST_RESPONDENTS:
        return [(count_text(len(labels), "respondent"), "", "", _IMPORTED, _dates(facts.replies))]
    rows: list[tuple[str, ...]] = []
    for label in labels:
        own = [one for one in facts.replies if one.respondent == label]
        reported = ", ".join(sorted({one.model for one in own if one.model}))
        rows.append((label, "", reported, _IMPORTED, _dates(own)))
    return rows


def contexts_by_respondent(facts: StudyFacts) -> dict[str, int]:
    """How many people, or other contexts, answered as each respondent."""
    names = ("respondent", "context")
    asked = store.conditions(facts.workspace.database, [facts.record.code], names, {})
    n_contexts = asked.groupby("respondent", sort=False)["context"].nunique()
    return {str(label): int(n) for label, n in n_contexts.items()}


def settings_words(person: Respondent) -> str:
    """The settings of a respondent as they are sent with its calls."""
    if person.simulation is not None:
        truth = ", ".join(
            f"{name.replace('_', ' ')} {value:g}"
            for name, value in vars(person.simulation).items()
            if value or name == "seed"
        )
        return f"simulated: {truth}"
    sampling = person.sampling
    where = urlsplit(person.base_url).netloc.rpartition("@")[2]
    parts = [where or "model that runs within Inkblot"]
    extra = dict(sampling.extra_body)
    for name, words in _SETTINGS.items():
        value = extra.pop(name, getattr(sampling, name))
        parts.append(
            f"{words} {value:g}"
            if isinstance(value, int | float)
            else f"{words} left to the service"
        )
    parts += [f"{name} {value}" for name, value in extra.items() if value is not None]
    if sampling.only_options:
        parts.append("replies restricted to the options")
    if sampling.completes_text:
        parts.append("asked to complete a text, without chat")
    parts += [f"reasoning between {a} and {b} not read" for a, b in sampling.reasoning_marks]
    if sampling.system_prompt:
        parts.append(f"system prompt “{sampling.system_prompt}”")
    return ", ".join(parts)


def honesty_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """What must be said where simulated respondents or the small model of Inkblot answer."""
    sentences = []
    if any(person.kind == "simulated" for person in facts.respondents):
        sentences.append(catalog.HONESTY_SIMULATED)
    if any(person.kind == "local" and not person.base_url for person in facts.respondents):
        sentences.append(catalog.HONESTY_LOCAL)
    return tuple(sentences)


def _dates(replies: Iterable[CollectedReplies]) -> str:
    times = [time for one in replies for time in (one.first, one.last) if time is not None]
    if not times:
        return "not known"
    first, last = _day(min(times)), _day(max(times))
    return first if first == last else f"{first} to {last}"


def _day(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d}"


def _minute(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


# Conditions.


def condition_rows(facts: StudyFacts) -> list[tuple[str, str]]:
    """Each condition with its levels, those of the calls after them."""
    rows = [
        (words, _level_words(facts, name))
        for name, words in _FACTOR_WORDS.items()
        if list(facts.levels.get(name, ())) not in ([], [""], ["none"])
        and not (name == "repetition" and _repetitions_unknown(facts))
    ]
    if not facts.is_planned:
        return rows
    design = facts.design
    order = "as in the bank" if design.item_order == "fixed" else f"shuffled, seed {design.seed}"
    rows.append(("Order of items", order))
    if design.ask_again:
        again = f"up to {count_text(design.ask_again, 'further call')}"
        rows.append(("Calls without a usable answer", f"repeated, {again}"))
    if design.whole_calls:
        words = "only as a whole: all answers of a call come from one reply that answers every item"
        rows.append(("Calls count", words))
    if design.answering == "enforced":
        rows.append(("Replies", "restricted to the options by a schema or a grammar"))
    if design.first_token:
        rows.append(("Probabilities of the first token", "recorded"))
    if design.blocks:
        rows.append(("Blocks", count_text(len(design.blocks), "crossing of its own", "crossings")))
    return rows


def _repetitions_unknown(facts: StudyFacts) -> bool:
    """Whether answers come from a file that numbers no repetitions."""
    return not facts.is_planned and len(facts.levels.get("repetition", ())) < 2


def _level_words(facts: StudyFacts, name: str) -> str:
    levels = [str(level) for level in facts.levels[name]]
    if name == "repetition":
        return f"{max(map(int, levels)):,}"
    if name == "context":
        return _context_words(facts, levels)
    words = [_one_level(facts, name, level) for level in levels]
    if len(words) <= _MOST_LEVELS:
        return "; ".join(words)
    return f"{'; '.join(words[:_MOST_LEVELS])}; and {len(words) - _MOST_LEVELS:,} more"


def _context_words(facts: StudyFacts, levels: Sequence[str]) -> str:
    known = [facts.contexts[code] for code in levels if code in facts.contexts]
    words = describe_contexts(known) if known else count_text(len(levels), "context")
    without = "; also asked without a context" if "" in levels and known else ""
    return " ".join(
        [f"{words}{without}.", *designs.recipe_sentences(facts.workspace, facts.record.code)]
    )


def _one_level(facts: StudyFacts, name: str, level: str) -> str:
    if name == "language":
        return language_name(level)
    if name == "label_order":
        return next((words for code, words in LABEL_ORDERS.items() if code == level), level)
    if name == "history":
        return _HISTORY_WORDS.get(level, level)
    if name == "template" and level in facts.wordings.templates:
        template = facts.wordings.templates[level]
        return f"{template.title} ({', '.join(filter(None, [level, template.kind]))})"
    return level or "(none)"


# Prompts.


@dataclass(frozen=True)
class ExamplePrompt:
    """A prompt as it was sent, and the reply to it."""

    about: str
    text: str
    reply: str


_MOST_EXAMPLES = 3


def example_prompts(facts: StudyFacts) -> tuple[ExamplePrompt, ...]:
    """The first prompt of the study with each of its templates, as sent, with its reply."""
    code, found = facts.record.code, []
    for template in list(facts.levels.get("template", ()))[:_MOST_EXAMPLES]:
        rows, _ = browsing.page(facts.workspace, code, {"template": [template]}, "", limit=1)
        answer = (
            browsing.detail(facts.workspace, int(rows["trial_id"].iloc[0])) if len(rows) else None
        )
        if answer is None or not answer.messages:
            continue
        about = [
            ("respondent", answer.respondent),
            ("item", answer.item),
            ("language", answer.language),
            ("context", answer.context),
            ("template", str(template)),
        ]
        words = ", ".join(f"{name} {level}" for name, level in about if level)
        messages = [f"[{message['role']}]\n{message['content']}" for message in answer.messages]
        found.append(ExamplePrompt(words, "\n\n".join(messages), answer.reply or ""))
    return tuple(found)


# Replies: how many, when, and how they were read.


def answer_rows(facts: StudyFacts) -> tuple[list[str], list[list[str]]]:
    """The header and rows of a table of planned, asked and usable trials and of all others.

    Shares are of the trials asked. The last row has all respondents; of many, it is the only one.
    """
    table = browsing.status_table(facts.statuses, ["respondent"])
    every = browsing.status_table(facts.statuses.assign(respondent="All"), ["respondent"])
    parts = [table] if len(table) < 2 else [table, every]
    parts = parts if len(table) <= _MOST_RESPONDENTS else [every]
    both = pd.concat(parts, ignore_index=True).fillna(0)
    waiting = STATUS_WORDS["not_asked"]
    asked = both["planned"] - both.get(waiting, 0)
    statuses = [str(name) for name in both if name not in ("respondent", "planned", "n", "missing")]
    planned = "Planned" if facts.is_planned else "In the file"
    header = ["Respondent", planned, "Asked", "Usable", *(name.capitalize() for name in statuses)]
    rows = []
    for place, row in enumerate(both.to_dict("records")):
        n = int(asked.iloc[place])
        counts = [row["n"], *(row[name] for name in statuses)]
        rows.append(
            [
                str(row["respondent"]),
                f"{int(row['planned']):,}",
                f"{n:,}",
                *(_count_with_share(int(count), n) for count in counts),
            ]
        )
    return header, rows


def _count_with_share(count: int, of: int) -> str:
    return f"{count:,} ({percent_text(count / of, 1)})" if of and count else f"{count:,}"


def count_sentence(facts: StudyFacts) -> str:
    """How many trials were planned and asked, and what the others came to."""
    record = facts.record
    totals = facts.statuses.groupby("status")["count"].sum()
    missing = [
        f"{int(totals[status]):,} {words}"
        for status, words in STATUS_WORDS.items()
        if status in totals.index and status not in browsing.statuses_of("n")
    ]
    share = f" ({percent_text(record.n_usable / record.n_asked, 1)})" if record.n_asked else ""
    planned = "were planned" if facts.is_planned else "are in the file"
    return (
        f"{count_text(record.n_trials, 'trial')} (one item put once) {planned}; "
        f"{record.n_asked:,} were asked and {record.n_usable:,} of these have a usable "
        f"answer{share}" + (f"; the others: {', '.join(missing)}." if missing else ".")
    )


_CLOCKS_DIFFER = timedelta(minutes=5)  # without anybody noticing


def time_sentence(facts: StudyFacts) -> str:
    """When the study was frozen or imported, and when its replies came in."""
    done = "frozen" if facts.is_planned else "imported"
    what = "The plan was" if facts.is_planned else "The answers were"
    times = [time for one in facts.replies for time in (one.first, one.last) if time is not None]
    sentence = f"{what} {done} on {_minute(facts.record.frozen_at)}"
    if not times:
        return f"{sentence}; when the replies were given is not on file."
    sentence += f"; replies came from {_minute(min(times))} to {_minute(max(times))}."
    before = facts.is_planned and min(times) < facts.record.frozen_at - _CLOCKS_DIFFER
    if before or max(times) > datetime.now(UTC) + _CLOCKS_DIFFER:
        why = "before the plan was frozen" if before else "in the future"
        sentence += (
            f" Some of these times are {why}: the clock of a computer was wrong or was changed, "
            "so they do not say when the replies came."
        )
    return sentence


def reading_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """By what rules replies were read, how surely, and what judges and persons set."""
    versions = collection.parser_versions(facts.workspace.database, facts.record.study_id)
    if not versions:
        return ("The answers were imported as coded; Inkblot read no replies.",)
    counts = (
        browsing.reading_counts(facts.workspace, facts.record.code).drop(columns="respondent").sum()
    )
    n = int(counts["answers"])
    classes = [f"{int(counts[one]):,} {CERTAINTY_WORDS[one]}" for one in Certainty if counts[one]]
    others = {
        "person": "coded by a person",
        "judged": "given by a judge",
        "unknown": "not recorded",
        "hedged": "with a disclaimer",
    }
    classes += [f"{int(counts[name]):,} {words}" for name, words in others.items() if counts[name]]
    word = "version" if len(versions) == 1 else "versions"
    sentences = [
        f"Options were read from the replies by fixed rules ({word} "
        f"{', '.join(map(str, versions))}), without a language model; certainty is on file for "
        f"{count_text(n, 'answer')}: {', '.join(classes) or 'none'}."
    ]
    judges = browsing.reading_levels(facts.workspace, facts.record.code).get("judge", [])
    if judges:
        sentences.append(f"Unclear replies were judged by {', '.join(judges)}.")
    return tuple(sentences)


def audit_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """How well persons who coded samples of the replies agree with the reading and each other."""
    sentences = []
    for audit in audits.list_audits(facts.workspace, facts.record.code):
        if not audit.n_coded:
            continue
        sample = audits.load_sample(facts.workspace, audit)
        rows = agreement.results(sample).frame.drop_duplicates("coder", keep="last")
        pairs = agreement.coder_agreement(sample).frame.drop_duplicates(
            ["first", "second"], keep="last"
        )
        sentences += [_reader_agreement(row, audit.n) for row in rows.to_dict("records")]
        sentences += [_coder_agreement(row) for row in pairs.to_dict("records")]
    return tuple(sentences)


def _reader_agreement(row: Mapping[Any, Any], drawn: int) -> str:
    coded = "The final coding holds" if row["coder"] == audits.FINAL else f"{row['coder']} coded"
    return (
        f"{coded} {int(row['coded']):,} of {drawn:,} randomly drawn replies; the "
        f"rules agree in {share_text(row['success'], row['ci_low'], row['ci_high'])}, "
        f"{_kappa(row)}."
    )


def _coder_agreement(row: Mapping[Any, Any]) -> str:
    return (
        f"{row['first']} and {row['second']} both coded {int(row['coded']):,} replies: agreement "
        f"{percent_text(row['agreement'], 1)}, {_kappa(row)}."
    )


def _kappa(row: Mapping[Any, Any]) -> str:
    """Cohen's kappa with every kind of missing answer as its own category."""
    kappa = row["kappa_kinds"]
    if pd.isna(kappa):
        return "Cohen's kappa undefined"
    text = number_text(kappa, 2)
    return f"Cohen's kappa {text.replace('0.', '.', 1) if text[0] in '0-' else text}"


def amendment_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """Changes of how a respondent was asked after the study was frozen."""
    return amendments.sentences(facts.workspace, facts.record.code)


def filter_sentences(where: Filters) -> tuple[str, ...]:
    """Which answers the analyses take; none where they take all."""
    words = [
        f"{_FACTOR_WORDS.get(name, name.replace('_', ' ').replace('item.', 'item: '))}: "
        f"{', '.join(str(level) or '(none)' for level in levels)}"
        for name, levels in where.items()
        if name != LEAVE_OUT
    ]
    only = (
        (f"All analyses take only answers with these levels: {'; '.join(words)}.",) if words else ()
    )
    return (*only, *left_out.method_words(where))


# The data.


def data_sentences(facts: StudyFacts) -> tuple[str, ...]:
    """What identifies the plan and the bank."""
    plan = (
        f"The plan of study “{facts.record.code}” has the SHA-256 hash {facts.record.plan_hash}."
        if facts.is_planned
        else f"The file of study “{facts.record.code}” has the SHA-256 hash "
        f"{facts.record.plan_hash}."
    )
    return (
        plan,
        f"Version {facts.record.version} of the bank {facts.bank.code} has the content hash "
        f"{content_hash(facts.bank)}.",
        "The export of the study holds all answers, the bank, and for planned studies the plan, "
        "every call and the design, so that the study can be asked again.",
    )


def _ended(text: str) -> str:
    """The text with a full stop."""
    return text if text.rstrip().endswith(".") else f"{text.rstrip()}."

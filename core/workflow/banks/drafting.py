"""Texts of items drafted by a model, kept as drafts until a person accepts them."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from core.collect import runner
from core.collect.budget import Budget
from core.collect.client import ChatRequest, Question, Reply
from core.collect.lanes import Control, EndpointCalls, Task
from core.collect.replies.reader import refuses
from core.collect.replies.reasoning import without_thoughts
from core.collect.replies.text import says_nothing
from core.collect.runner import Attempt, RetryPolicy
from core.domain.formats import BUILT_IN
from core.domain.instrument import FREE_TEXT, ORIGINAL, PLACEHOLDERS, Instrument, Item, Wording
from core.domain.languages import names_of
from core.domain.study import CUT_OFF, ReasoningMarks, Respondent
from core.errors import BankError
from core.workflow.banks.editing import PARAPHRASE, unreviewed_texts
from core.workflow.banks.grid import GridTextColumn, with_text, wording_of
from core.workflow.respondents.catalog import by_label, client_for
from core.workflow.workspace import Workspace

# What a model is asked when it drafts the text of an item.

_TRANSLATION = (
    "Translate this text from {source} into {language}. Keep what it says, how strongly it says "
    "it, and its tone, so that people who would agree with one would agree with the other."
)
_FORMS = {
    ORIGINAL: "Rewrite this text in {language}. Keep what it says and how strongly it says it.",
    "negation": (
        "Rewrite this text in {language} so that it denies what it said: put a 'not' or the like "
        "where it belongs, and leave everything else as it is."
    ),
    "opposite": (
        "Rewrite this text in {language} so that it says the opposite, with other words rather "
        "than by adding a 'not'. Who agrees with the one should disagree with the other."
    ),
    "alternate": (
        "Write another text in {language} that asks about the same matter as this one from a "
        "different side, about as hard to agree with. Who agrees with one should agree with both."
    ),
}
_PARAPHRASE = (
    "Say this text in other words, in {language}. Keep exactly what it says and how strongly it "
    "says it. Who agrees with the one should agree with the other."
)
_OTHER_FORM = (
    "Rewrite this text in {language} in the form called '{form}'. Keep what it is about and its "
    "tone."
)
_MOODS = {
    "statement": "Write it as a statement one can agree or disagree with.",
    "question": "Write it as a question.",
    "choice": "Write it as a question that lets one choose between two.",
}


def prompt(item: Item, column: GridTextColumn, source: str, text: str) -> str:
    """The request for one text: what to do, what to keep, and the text itself."""
    is_translation = source != column.language
    words = [
        (_TRANSLATION if is_translation else _task(column.form)).format(
            source=_language_words(source),
            language=_language_words(column.language),
            form=column.form,
        )
    ]
    if column.mood in _MOODS:
        words.append(_MOODS[column.mood])
    marks = [mark for mark in PLACEHOLDERS if mark in text]
    if marks:
        words.append(f"Keep {' and '.join(marks)} as written: a name will stand there.")
    others = [] if is_translation else _known_paraphrases(item, column)
    if others:
        words.append("Do not repeat any of these: " + " / ".join(others))
    words.append("Reply with the new text alone, without quotation marks or explanation.")
    return f"{' '.join(words)}\n\nText: {text}"


def _task(form: str) -> str:
    if form.startswith(PARAPHRASE):
        return _PARAPHRASE
    return _FORMS.get(form, _OTHER_FORM)


def _known_paraphrases(item: Item, column: GridTextColumn) -> list[str]:
    """Paraphrases there are already, so that the next one differs from them."""
    if not column.form.startswith(PARAPHRASE):
        return []
    return [
        wording.text
        for wording in item.wordings
        if wording.form.startswith(PARAPHRASE) and wording.language == column.language
    ]


def _language_words(code: str) -> str:
    names = names_of(code)
    if names is None:
        return code
    return f"{names.english} ({code})" if "-" in code else names.english


# Texts that a model drafted, until a person accepts, edits or discards them.
#
# Pure: a bank in, the changed bank out. A text of a person is never touched.


@dataclass(frozen=True)
class PlacedDraft:
    """A draft and where it stands."""

    item: Item
    wording: Wording

    @property
    def place(self) -> tuple[str, GridTextColumn]:
        """Code of the item, and language, form and mood of the text."""
        wording = self.wording
        return self.item.code, GridTextColumn(wording.language, wording.form, wording.mood)


Place = tuple[str, GridTextColumn]


def list_drafts(bank: Instrument) -> tuple[PlacedDraft, ...]:
    """Every draft nobody has reviewed, in the order of the items."""
    return tuple(PlacedDraft(item, wording) for item, wording in unreviewed_texts(bank))


def add_drafts(
    bank: Instrument, target: GridTextColumn, texts: Mapping[str, str], label: str
) -> Instrument:
    """The bank with drafts by the respondent `label` for items by code.

    A slot where a person's text stands keeps it, whenever that was written.
    """

    def changed(item: Item) -> Item:
        known = wording_of(item, target)
        if item.code not in texts or (known and known.text.strip() and not known.drafted_by):
            return item
        return with_text(item, target, texts[item.code], drafted_by=label)

    return replace(bank, items=tuple(map(changed, bank.items)))


def accept(bank: Instrument, places: Collection[Place]) -> Instrument:
    """The bank with these drafts taken over as they are."""
    return _changed(bank, places, lambda wording: replace(wording, drafted_by="", made_from=""))


def edit(bank: Instrument, place: Place, text: str) -> Instrument:
    """The bank with a draft reworded, which accepts it; an emptied one is discarded."""
    if not text.strip():
        return discard(bank, [place])
    return _changed(
        bank, [place], lambda wording: replace(wording, text=text, drafted_by="", made_from="")
    )


def discard(bank: Instrument, places: Collection[Place]) -> Instrument:
    """The bank without these drafts."""
    return _changed(bank, places, lambda wording: None)


def _changed(
    bank: Instrument, places: Collection[Place], change: Callable[[Wording], Wording | None]
) -> Instrument:
    wanted = set(places)

    def changed(item: Item) -> Item:
        if not any(wording.drafted_by for wording in item.wordings):
            return item
        wordings = []
        for wording in item.wordings:
            column = GridTextColumn(wording.language, wording.form, wording.mood)
            is_meant = wording.drafted_by and (item.code, column) in wanted
            new = change(wording) if is_meant else wording
            wordings += [new] if new is not None else []
        return replace(item, wordings=tuple(wordings))

    return replace(bank, items=tuple(map(changed, bank.items)))


# Texts of items drafted by a model: what it is asked, and which of its replies are kept.
#
# A draft is marked with the respondent that wrote it until a person accepts it.

MIN_TOKENS = 400
"""Room for a text where a respondent's own limit, made for short answers, leaves less."""
_POLICY = RetryPolicy(max_attempts=3, cap_s=10.0, retry_after_cap_s=60.0)


@dataclass(frozen=True)
class DraftTarget:
    """Which text is to be drafted. A `source` other than its language asks for a translation."""

    column: GridTextColumn
    source: str

    @property
    def is_translation(self) -> bool:
        """Whether the same text stands in another language already."""
        return self.source != self.column.language

    @property
    def origin(self) -> GridTextColumn:
        """Where the text stands that the draft is made of."""
        if self.is_translation:
            return GridTextColumn(self.source, self.column.form, self.column.mood)
        mood = "" if self.column.form == ORIGINAL else self.column.mood
        return GridTextColumn(self.column.language, ORIGINAL, mood)


@dataclass(frozen=True)
class DraftOutcome:
    """What became of one item: a text, or why there is none."""

    code: str
    text: str = ""
    problem: str = ""


def _source_text(item: Item, target: DraftTarget) -> str:
    """The text a draft is made of; one without a mood where there is none in that mood."""
    origin = target.origin
    return item.text(origin.language, origin.form, origin.mood)


def items_to_draft(bank: Instrument, target: DraftTarget) -> tuple[str, ...]:
    """Codes of the items that lack the text and have one to make it of."""
    codes = []
    for item in bank.items:
        known = wording_of(item, target.column)
        if not (known and known.text.strip()) and _source_text(item, target).strip():
            codes.append(item.code)
    return tuple(codes)


def text_writers(people: Sequence[Respondent]) -> tuple[Respondent, ...]:
    """Those among respondents that write texts; simulated ones are formulas."""
    return tuple(person for person in people if person.kind != "simulated")


def draft_texts(
    workspace: Workspace,
    bank: Instrument,
    codes: Sequence[str],
    target: DraftTarget,
    label: str,
    *,
    report: Callable[[DraftOutcome], None],
    policy: RetryPolicy = _POLICY,
) -> str:
    """Ask a respondent for one text per item and tell each outcome as it comes; keeps nothing.

    Calls are made as in a study: at most as many at once, and a minute, as the respondent allows;
    failures that pass are tried again. `report` is called in this thread. Returns why the rest was
    not asked, or nothing where all items were.

    Raises
    ------
    BankError
        The respondent is simulated, or the target is the very text a draft would be made of.
    """
    person = by_label(workspace, label)
    if person.kind == "simulated":
        raise BankError(
            f"'{label}' is simulated: a formula that gives answers, and cannot write a text.",
            "Choose a model.",
        )
    if target.column == target.origin:
        raise BankError(
            "A text cannot be drafted from itself.", "Choose another language or another form."
        )
    items = {item.code: item for item in bank.items if item.code in set(codes)}
    askable: list[Item] = []
    for code in dict.fromkeys(codes):
        if code in items and _source_text(items[code], target).strip():
            askable.append(items[code])
        else:
            report(DraftOutcome(code, problem="there is no text to make it of"))
    return asyncio.run(_run_calls(workspace, askable, target, person, report, policy))


async def _run_calls(
    workspace: Workspace,
    items: Sequence[Item],
    target: DraftTarget,
    person: Respondent,
    report: Callable[[DraftOutcome], None],
    policy: RetryPolicy,
) -> str:
    """Run the calls beside the caller, who may break off: a page that is left does so."""
    done: asyncio.Queue[Attempt | None] = asyncio.Queue()

    async def tasks() -> AsyncIterator[Task]:
        for number, item in enumerate(items):
            yield Task(number, _request(person, item, target))

    client = client_for(workspace, person)
    sampling = person.sampling
    lane = EndpointCalls(
        person.label,
        client,
        tasks(),
        max(sampling.at_once, 1),
        sampling.per_minute,
        tokens_per_minute=sampling.tokens_per_minute,
    )
    try:
        running = asyncio.create_task(
            runner.run(
                [lane],
                record=done.put,
                control=Control(),
                policy=policy,
                budget=Budget(None),
                random=Random(),
            )
        )
        running.add_done_callback(lambda _: done.put_nowait(None))
        n_reported = 0
        while (attempt := await done.get()) is not None:
            if attempt.final:
                n_reported += 1
                item = items[attempt.call_id]
                marks = sampling.reasoning_marks
                report(_outcome(item, attempt, target, workspace.keys.redact, marks))
        result = await running
    finally:
        await client.close()
    return workspace.keys.redact(result.reason) if n_reported < len(items) else ""


def _request(person: Respondent, item: Item, target: DraftTarget) -> ChatRequest:
    text = _source_text(item, target)
    limit = person.sampling.max_tokens
    # Small models do not know when to end, and have no thoughts to make room for.
    fewest = 60 + _width(text) // 2 if person.kind == "local" else MIN_TOKENS
    tokens = None if limit is None else max(limit, fewest)
    sampling = replace(person.sampling, max_tokens=tokens, only_options=False)
    words = prompt(item, target.column, target.source, text)
    question = Question((item,), BUILT_IN[FREE_TEXT], target.column.language)
    return ChatRequest(
        person.model, ({"role": "user", "content": words},), sampling, question, sampling.seed
    )


def _outcome(
    item: Item,
    attempt: Attempt,
    target: DraftTarget,
    redact: Callable[[str], str],
    marks: ReasoningMarks,
) -> DraftOutcome:
    if attempt.reply is None:
        problem = attempt.failure.message if attempt.failure else "there was no reply"
        return DraftOutcome(item.code, problem=redact(problem))
    source = _source_text(item, target)
    text = _without_quotation_marks(without_thoughts(attempt.reply.text, marks))
    problem = _problem(attempt.reply, text, source, target)
    return DraftOutcome(item.code, problem=problem) if problem else DraftOutcome(item.code, text)


def _problem(reply: Reply, text: str, source: str, target: DraftTarget) -> str:
    """Why a reply is not kept as a draft; empty where it is."""
    if reply.finish_reason in ("refusal", "content_filter"):
        return "the model refused"
    if says_nothing(text):
        return "the reply was empty"
    if reply.finish_reason == CUT_OFF:
        return "the reply was cut off before its end"
    if refuses(text) and not refuses(source):
        return "the model refused"
    if _width(text) > 3 * _width(source) + 80 or text.count("\n") > source.count("\n"):
        return f"the reply was more than the text alone ({len(text):,} characters)"
    if not target.is_translation and text.casefold() == source.casefold():
        return "the reply repeats the text it was given"
    lost = [mark for mark in PLACEHOLDERS if mark in source and mark not in text]
    return f"the reply does not name {' and '.join(lost)}" if lost else ""


def _without_quotation_marks(text: str) -> str:
    """The reply without the quotation marks around all of it."""
    bare = text.strip()
    for opening, closing in (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("„", "“")):
        inside = bare[1:-1]
        if bare.startswith(opening) and bare.endswith(closing) and closing not in inside:
            return inside.strip()
    return bare


def _width(text: str) -> int:
    """Length as an alphabet would need it: a Chinese or Japanese character stands for three."""
    return sum(3 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in text)

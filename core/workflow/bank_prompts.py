"""What a model is asked when it drafts the text of an item."""

from __future__ import annotations

from core.domain.instrument import ORIGINAL, Item
from core.domain.instrument_problems import PLACEHOLDERS
from core.workflow.bank_columns import TextColumn
from core.workflow.bank_edits import LANGUAGES, PARAPHRASE

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
_OTHER = (
    "Rewrite this text in {language} in the form called '{form}'. Keep what it is about and its "
    "tone."
)
_MOODS = {
    "statement": "Write it as a statement one can agree or disagree with.",
    "question": "Write it as a question.",
    "choice": "Write it as a question that lets one choose between two.",
}


def prompt(item: Item, column: TextColumn, source: str, text: str) -> str:
    """The request for one text: what to do, what to keep, and the text itself."""
    is_translation = source != column.language
    words = [
        (_TRANSLATION if is_translation else _task(column.form)).format(
            source=_language(source), language=_language(column.language), form=column.form
        )
    ]
    if column.mood in _MOODS:
        words.append(_MOODS[column.mood])
    marks = [mark for mark in PLACEHOLDERS if mark in text]
    if marks:
        words.append(f"Keep {' and '.join(marks)} as written: a name will stand there.")
    others = [] if is_translation else _others(item, column)
    if others:
        words.append("Do not repeat any of these: " + " / ".join(others))
    words.append("Reply with the new text alone, without quotation marks or explanation.")
    return f"{' '.join(words)}\n\nText: {text}"


def _task(form: str) -> str:
    if form.startswith(PARAPHRASE):
        return _PARAPHRASE
    return _FORMS.get(form, _OTHER)


def _others(item: Item, column: TextColumn) -> list[str]:
    """Paraphrases there are already, so that the next one differs from them."""
    if not column.form.startswith(PARAPHRASE):
        return []
    return [
        wording.text
        for wording in item.wordings
        if wording.form.startswith(PARAPHRASE) and wording.language == column.language
    ]


def _language(code: str) -> str:
    name = LANGUAGES.get(code.split("-")[0].lower())
    return f"{name} ({code})" if name and "-" in code else name or code

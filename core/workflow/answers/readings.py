"""How a reply was read, in words: the layer that decided, how surely, and what else it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.study import Certainty, Layer

CERTAINTY_WORDS: Mapping[str, str] = {
    Certainty.CERTAIN: "certain",
    Certainty.LIKELY: "likely",
    Certainty.GUESS: "guess",
}
CERTAINTY_MEANINGS: Mapping[str, str] = {
    Certainty.CERTAIN: "the reply is the option alone, marks it, or states it and names no other",
    Certainty.LIKELY: "the reply states an option and speaks of others too",
    Certainty.GUESS: "the reply mentions an option without stating it, or agrees only partly",
}
LAYER_WORDS: Mapping[str, str] = {
    Layer.WHOLE: "whole reply",
    Layer.STRUCTURE: "structure",
    Layer.STATEMENT: "statement",
    Layer.LAST_STATEMENT: "last statement",
    Layer.SINGLE_MENTION: "single mention",
    Layer.STATUS: "no option",
    Layer.JUDGE: "judge",
    Layer.PERSON: "person",
}
LAYER_MEANINGS: Mapping[str, str] = {
    Layer.WHOLE: "the reply is an option and nothing else",
    Layer.STRUCTURE: "a key of JSON, a letter, a number, a heading or a box marks the option",
    Layer.STATEMENT: "the reply states one option",
    Layer.LAST_STATEMENT: "the reply states several options, and the last one stands",
    Layer.SINGLE_MENTION: "the reply mentions one option and no other",
    Layer.STATUS: "the reply chooses no option",
    Layer.JUDGE: "a respondent was asked which option the reply chooses",
    Layer.PERSON: "a person coded the reply",
}
_SOURCES: Mapping[str, str] = {
    Layer.WHOLE: "Read from the whole reply",
    Layer.STRUCTURE: "Read from a marked answer",
    Layer.STATEMENT: "Read from a statement",
    Layer.LAST_STATEMENT: "Read from the last of several statements",
    Layer.SINGLE_MENTION: "Read from a single mention of an option",
    Layer.STATUS: "Read as a reply without an option",
}
HEDGED_WORDS, NOT_HEDGED_WORDS = "disclaimer", "no disclaimer"
JUDGED_WORDS = "judged"
UNKNOWN_WORDS = "not recorded"
"""Of answers that were imported, or read before Inkblot recorded how."""
YES, NO = "yes", "no"
LEVEL_WORDS: Mapping[str, Mapping[str, str]] = {
    "certainty": CERTAINTY_WORDS,
    "layer": LAYER_WORDS,
    "hedged": {YES: HEDGED_WORDS, NO: NOT_HEDGED_WORDS},
}
"""Words for the levels of each filter of readings; a judge has its own label."""
_COLUMNS = ("layer", "certainty", "hedged", "judge")


@dataclass(frozen=True)
class Reading:
    """How a reply was read. None: unknown, because it was imported or read before this was kept."""

    layer: str | None = None
    certainty: str | None = None
    hedged: bool | None = None
    judge: str | None = None  # label of the respondent that judged the reply

    @property
    def words(self) -> str:
        """A few words for a list: "likely, disclaimer, judge GPT"; empty where nothing is known."""
        surely = CERTAINTY_WORDS.get(self.certainty or "", "")
        if self.layer == Layer.PERSON:
            surely = "person"
        judged = f"judge {self.judge}" if self.judge else JUDGED_WORDS
        marks = [HEDGED_WORDS * bool(self.hedged), judged * (self.layer == Layer.JUDGE)]
        return ", ".join(filter(None, [surely, *marks]))

    @property
    def sentence(self) -> str:
        """How the reply was read, for the answer in full; empty where nothing is known."""
        if self.layer is None:
            return ""
        if self.layer == Layer.PERSON:
            read = "A person coded the reply"
        elif self.layer == Layer.JUDGE:
            read = f"Judged by {self.judge}" if self.judge else "Judged by a respondent"
        else:
            read = _SOURCES.get(self.layer, f"Read by the layer {self.layer}")
        surely = CERTAINTY_WORDS.get(self.certainty or "", "")
        if surely and self.layer != Layer.PERSON:
            read += f"; a {surely}" if self.certainty == Certainty.GUESS else f"; {surely}"
        hedge = " The reply also says that it has no opinion of its own." if self.hedged else ""
        return f"{read}.{hedge}"


def reading_of(row: Mapping[Any, Any]) -> Reading:
    """The reading in a row of a frame, where `hedged` is yes, no or missing."""
    texts = {name: row[name] if isinstance(row[name], str) else None for name in _COLUMNS}
    hedged = {YES: True, NO: False}.get(texts["hedged"] or "")
    return Reading(texts["layer"], texts["certainty"], hedged, texts["judge"])


def explanation() -> str:
    """What the classes and layers mean, as Markdown for a tooltip."""
    classes = [f"**{word}**: {CERTAINTY_MEANINGS[code]}" for code, word in CERTAINTY_WORDS.items()]
    layers = [f"**{word}**: {LAYER_MEANINGS[code]}" for code, word in LAYER_WORDS.items()]
    return (
        "How surely Inkblot took the answer from the reply: "
        + "; ".join(classes)
        + f".\n\n**{HEDGED_WORDS}**: the reply chooses an option and also says that it has no "
        "opinion of its own.\n\nWhat the answer was read from: " + "; ".join(layers) + "."
        "\n\nThe page docs/reading.md says more."
    )

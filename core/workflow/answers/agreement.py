"""Agreement of the coders of an audit with each other and with Inkblot's reading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import pandas as pd

from core.analysis.kit.sentences import share_text
from core.domain.results import ResultTable
from core.domain.study import Layer
from core.domain.tables import count, high_end, key, low_end, number, text
from core.stats.agreement import cohens_kappa, specific_agreement
from core.stats.distributions import wilson_interval
from core.stats.inputs import Estimate
from core.workflow.answers.audits import FINAL, READER, Code, CodedSample
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.answers.readings import (
    CERTAINTY_WORDS,
    HEDGED_WORDS,
    LAYER_WORDS,
    NOT_HEDGED_WORDS,
    UNKNOWN_WORDS,
    Reading,
)

ALL_MODELS = "all models"
_NO_JUDGE = "no judge"
_JUDGE_WITHOUT_NAME = "a judge without a name"

_MODEL = text("model", "Model", "As the respondents name it.")
_KAPPA = number(
    "kappa",
    "Kappa",
    "correlation",
    "Cohen's kappa; categories are the options and 'no option'. Empty where all replies fall into "
    "one category.",
)
_KAPPA_KINDS = number(
    "kappa_kinds",
    "Kappa with kinds",
    "correlation",
    "Cohen's kappa with every kind of missing answer (refused, neutral ...) as its own category.",
)
_INTERVAL = (
    low_end(
        "kappa_kinds_low",
        "Kappa from",
        "correlation",
        "Lower end of the 95 % interval of kappa with kinds: Wilson's from -1 to 1, with the "
        "error of Fleiss, Cohen & Everitt (1969).",
    ),
    high_end("kappa_kinds_high", "Kappa to", "correlation", "Upper end of this interval."),
)
_REASON = text("reason", "Note", "Why a kappa is undefined, or how to read it.")
_READER_COLUMNS = (
    _MODEL,
    count("drawn", "Drawn", "Replies in the sample."),
    count("coded", "n coded", "Replies that this coder has coded; all else is of these."),
    number(
        "success",
        "Success rate",
        "proportion",
        "Share of replies in which the reader finds the option that the coder chose, or no option "
        "where the coder chose none.",
    ),
    low_end("ci_low", "From", "proportion", "Lower end of Wilson's 95 % interval."),
    high_end("ci_high", "To", "proportion", "Upper end of Wilson's 95 % interval."),
    _KAPPA,
    _KAPPA_KINDS,
    count("disagreements", "Disagreements", "Replies read differently, in any way."),
    key("coder", "Coder", "Who is compared with the reader."),
    *_INTERVAL,
    _REASON,
)
_OF_READINGS = ("drawn", "coded", "success", "ci_low", "ci_high", "disagreements")
_CODER_COLUMNS = (
    key("first", "Coder"),
    key("second", "Other coder"),
    _MODEL,
    count("coded", "n coded by both", "Replies that both have coded."),
    number(
        "agreement",
        "Agreement",
        "proportion",
        "Share of these replies with the same option, or the same kind of missing answer.",
    ),
    low_end("ci_low", "From", "proportion", "Lower end of Wilson's 95 % interval."),
    high_end("ci_high", "To", "proportion", "Upper end of Wilson's 95 % interval."),
    _KAPPA,
    _KAPPA_KINDS,
    *_INTERVAL,
    count("disagreements", "Disagreements", "Replies coded differently, in any way."),
    count("adjudicated", "Adjudicated", "Of these, replies with an adjudicated coding."),
    _REASON,
)
_STATUS_COLUMNS = (
    _MODEL,
    key("status", "Status", "'answered' stands for any option."),
    count("both", "Both", "Replies to which both gave it."),
    count("only_first", "Only the first", "Replies to which only the first gave it."),
    count("only_second", "Only the second", "Replies to which only the second gave it."),
    number(
        "agreement",
        "Agreement",
        "proportion",
        "Specific (positive) agreement, 2a / (2a + b + c): where one of them gave this status, the "
        "share in which the other gave it too. Spitzer & Fleiss (1974); Fleiss (1981).",
    ),
    _REASON,
)
_READING_COLUMNS = (
    key("coder", "Coder", "Who is compared with the reader."),
    text("feature", "By", "What the replies are grouped by."),
    key("kind", "Read as", "How surely, from what, or with what else the reply was read."),
    _MODEL,
    *(
        replace(column, help="Replies of the sample read so, of those where you may see how.")
        if column.name == "drawn"
        else column
        for column in _READER_COLUMNS
        if column.name in _OF_READINGS
    ),
)


def results(sample: CodedSample) -> ResultTable:
    """By coder and model: how often the parser took from a reply what the coder took from it.

    The final coding is a coder of its own where several have coded.
    """
    coders: tuple[str, ...] = sample.coders or ("",)
    if len(sample.coders) > 1:
        coders = (*coders, FINAL)
    rows = []
    for coder in coders:
        for model, part in _parts(sample):
            pairs = _pairs(part, coder, READER)
            n, same = len(pairs), sum(a.option == b.option for a, b in pairs)
            kappas = _kappas(part, coder, READER)
            rows.append(
                (
                    model,
                    len(part.trials),
                    n,
                    same / n if n else math.nan,
                    *wilson_interval(same, n),
                    *kappas[:2],
                    _n_different(pairs),
                    coder,
                    *kappas[2:],
                )
            )
    frame = pd.DataFrame(rows, columns=[column.name for column in _READER_COLUMNS])
    return ResultTable("audit", "The parser against a person", frame, _READER_COLUMNS)


FEATURES: Mapping[str, str] = {
    "certainty": "Certainty",
    "layer": "Layer",
    "disclaimer": "Disclaimer",
    "judge": "Judge",
}
"""What replies are grouped by where the agreement is shown by how they were read."""


def reading_agreement(sample: CodedSample) -> ResultTable:
    """By coder, how a reply was read, and model: how often the parser is right.

    A reply counts where the viewer of the sample may see how it was read.
    """
    coders = (*sample.coders, FINAL) if len(sample.coders) > 1 else sample.coders
    rows = []
    for coder in coders:
        for feature in FEATURES:
            for kind in kinds_of(sample, feature):
                for model, part in _parts(_of_kind(sample, feature, kind)):
                    pairs = _pairs(part, coder, READER)
                    n, same = len(pairs), sum(a.option == b.option for a, b in pairs)
                    rows.append(
                        (
                            coder,
                            FEATURES[feature],
                            kind,
                            model,
                            len(part.trials),
                            n,
                            same / n if n else math.nan,
                            *wilson_interval(same, n),
                            _n_different(pairs),
                        )
                    )
    frame = pd.DataFrame(rows, columns=[column.name for column in _READING_COLUMNS])
    return ResultTable("readings", "Agreement by how replies were read", frame, _READING_COLUMNS)


def certainty_sentence(sample: CodedSample, coder: str) -> str:
    """The success rate of each class of certainty with its interval; empty for fewer than two."""
    frame = reading_agreement(sample).frame
    own = frame[
        (frame["coder"] == coder)
        & (frame["feature"] == FEATURES["certainty"])
        & (frame["coded"] > 0)
        & (frame["kind"] != UNKNOWN_WORDS)
    ].drop_duplicates("kind", keep="last")  # all models come last
    if len(own) < 2:
        return ""
    parts = [
        f"{row['kind']} {share_text(row['success'], row['ci_low'], row['ci_high'])} "
        f"(n = {row['coded']:,})"
        for row in own.to_dict("records")
    ]
    return f"Success rate by certainty, with its 95 % interval: {'; '.join(parts)}."


def kinds_of(sample: CodedSample, feature: str) -> list[str]:
    """The kinds of readings of a sample, in their usual order; none of judges if none judged."""
    kinds = {_kind(reading, feature) for reading in sample.readings.values()}
    if feature == "judge":
        others = [kind for kind in (_JUDGE_WITHOUT_NAME, _NO_JUDGE) if kind in kinds]
        return [*sorted(kinds.difference(others)), *others] if kinds != {_NO_JUDGE} else []
    words = [
        *CERTAINTY_WORDS.values(),
        *LAYER_WORDS.values(),
        HEDGED_WORDS,
        NOT_HEDGED_WORDS,
        UNKNOWN_WORDS,
    ]
    return sorted(kinds, key=words.index)


def _kind(reading: Reading, feature: str) -> str:
    """A reading in the words of a feature."""
    if feature == "certainty":
        return CERTAINTY_WORDS.get(reading.certainty or "", UNKNOWN_WORDS)
    if feature == "layer":
        return LAYER_WORDS.get(reading.layer or "", UNKNOWN_WORDS)
    if feature == "judge":
        unnamed = _JUDGE_WITHOUT_NAME if reading.layer == Layer.JUDGE else _NO_JUDGE
        return reading.judge or unnamed
    if reading.hedged is None:
        return UNKNOWN_WORDS
    return HEDGED_WORDS if reading.hedged else NOT_HEDGED_WORDS


def _of_kind(sample: CodedSample, feature: str, kind: str) -> CodedSample:
    """The replies that were read in this way."""
    trials = [t for t in sample.trials if is_kind(sample.readings.get(t), feature, kind)]
    return replace(sample, replies=sample.replies.loc[trials])


def is_kind(reading: Reading | None, feature: str, kind: str) -> bool:
    """Whether a reply was read in this way; None: the viewer may not see how."""
    return reading is not None and _kind(reading, feature) == kind


def coder_agreement(sample: CodedSample) -> ResultTable:
    """By pair of coders and model: agreement with its interval, and kappa."""
    rows = []
    for first, second in combinations(sample.coders, 2):
        for model, part in _parts(sample):
            pairs = _pairs(part, first, second)
            n, different = len(pairs), _n_different(pairs)
            kappas = _kappas(part, first, second)
            decided = sum(
                part.codes[first][t].kind != part.codes[second][t].kind
                for t in _trials(part, first, second)
                if t in part.adjudications
            )
            rows.append(
                (
                    first,
                    second,
                    model,
                    n,
                    (n - different) / n if n else math.nan,
                    *wilson_interval(n - different, n),
                    *kappas[:4],
                    different,
                    decided,
                    kappas[4],
                )
            )
    frame = pd.DataFrame(rows, columns=[column.name for column in _CODER_COLUMNS])
    return ResultTable("coders", "Coders with each other", frame, _CODER_COLUMNS)


def status_agreement(sample: CodedSample, first: str, second: str) -> ResultTable:
    """By model and status: how far two coders agree on this status."""
    pairs = _pairs(sample, first, second)
    used = {_status(code) for pair in pairs for code in pair}
    rows = []
    for model, part in _parts(sample):
        pairs = _pairs(part, first, second)
        codes = [[_status(pair[place]) for pair in pairs] for place in (0, 1)]
        for status in (status for status in STATUS_WORDS if status in used):
            one = specific_agreement(codes[0], codes[1], status)
            rows.append(
                (
                    model,
                    STATUS_WORDS[status],
                    one.both,
                    one.only_first,
                    one.only_second,
                    one.value,
                    one.problem,
                )
            )
    frame = pd.DataFrame(rows, columns=[column.name for column in _STATUS_COLUMNS])
    return ResultTable("statuses", f"{first} and {second}, by status", frame, _STATUS_COLUMNS)


def cross_table(sample: CodedSample, first: str, second: str) -> ResultTable:
    """How often each code of the first coder meets each code of the second."""
    trials = _trials(sample, first, second)
    kinds = {
        coder: [_category(sample, trial, coder) for trial in trials] for coder in (first, second)
    }
    order = sorted({*kinds[first], *kinds[second]}, key=_place)
    words = _category_words(order)
    frame = pd.DataFrame(
        [
            [words[row], *(list(zip(*kinds.values(), strict=True)).count((row, c)) for c in order)]
            for row in order
        ],
        columns=["code", *(words[c] for c in order)],
    )
    columns = (
        text("code", f"{first} \\ {second}", f"Rows: {first}. Columns: {second}."),
        *(count(words[c], words[c]) for c in order),
    )
    return ResultTable("cross_table", f"{first} by {second}", frame, columns)


def _parts(sample: CodedSample) -> list[tuple[str, CodedSample]]:
    """The sample of each model, and all of it where there are several."""
    models = [str(model) for model in dict.fromkeys(sample.replies["model"])]
    parts = [(model, sample.of_model(model)) for model in models]
    return [*parts, (ALL_MODELS, sample)] if len(parts) > 1 else parts


def _trials(sample: CodedSample, first: str, second: str) -> list[int]:
    """The replies that both have coded."""
    own, other = sample.codes.get(first, {}), sample.codes.get(second, {})
    return [trial for trial in sample.trials if trial in own and trial in other]


def _pairs(sample: CodedSample, first: str, second: str) -> list[tuple[Code, Code]]:
    trials = _trials(sample, first, second)
    return [(sample.codes[first][t], sample.codes[second][t]) for t in trials]


def _n_different(pairs: Sequence[tuple[Code, Code]]) -> int:
    return sum(a.kind != b.kind for a, b in pairs)


def _kappas(sample: CodedSample, first: str, second: str) -> tuple[float, float, float, float, str]:
    """Kappa, kappa with kinds and its interval, and the reasons why one is undefined."""
    trials = _trials(sample, first, second)
    kinds = [[_category(sample, t, coder) for t in trials] for coder in (first, second)]
    options = [[c if c[0] == "option" else None for c in coder] for coder in kinds]
    plain: Estimate = cohens_kappa(options[0], options[1])
    full: Estimate = cohens_kappa(kinds[0], kinds[1])
    reasons = " ".join(dict.fromkeys([*full.problems, *plain.problems]))
    return plain.value, full.value, full.low, full.high, reasons


_Category = tuple[str, str, str]  # "option" or "status", its format, its code


def _category(sample: CodedSample, trial: int, coder: str) -> _Category:
    """The category of a code among all replies: options of different formats are different."""
    what, code = sample.codes[coder][trial].kind
    return what, str(sample.replies["format"][trial]) if what == "option" else "", code


def _status(code: Code) -> str:
    return "answered" if code.option is not None else code.status


def _place(category: _Category) -> tuple[int, str, int, float, str]:
    """Options by format and code, numbers by size; then the statuses in their usual order."""
    what, response_format, code = category
    if what == "status":
        order = list(STATUS_WORDS)
        return 1, "", order.index(code) if code in order else len(order), 0.0, code
    try:
        return 0, response_format, 0, float(code), code
    except ValueError:
        return 0, response_format, 1, 0.0, code


def _category_words(categories: Sequence[_Category]) -> dict[_Category, str]:
    formats = {category[1] for category in categories if category[0] == "option"}
    return {
        (what, name, code): STATUS_WORDS.get(code, code)
        if what == "status"
        else (f"{name}: {code}" if len(formats) > 1 else code)
        for what, name, code in categories
    }

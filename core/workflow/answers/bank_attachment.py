"""Giving imported answers the bank they belong to, and banks that hold their items."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Option, ResponseFormat
from core.domain.results import AnalysisResult, replace_words
from core.errors import BankError, FileError
from core.store import banks as bank_store
from core.store import imports, studies
from core.store.studies import FrozenStudy, StudyRecord
from core.workflow import study_log
from core.workflow.workspace import Workspace

# Which banks hold the items of imported answers, and how the answers fit their options.

_AS_IMPORTED = "as_imported"
"""The answer format of a bank made from answers whose file names none."""
_MIN_SHARE = 0.5  # of a bank's items that a file holds, for the bank to be taken unasked
_SEPARATORS = re.compile(r"[\s_.\-]+")

AnswersByFormat = Mapping[str, Sequence[str]]
"""The answers that stand in each answer format; "" where the file names no format."""


@dataclass(frozen=True)
class BankMatch:
    """How well a bank fits some answers. `codes` gives the bank's code of each item it holds."""

    bank: Instrument
    codes: Mapping[str, str]
    n_items: int  # of the answers
    problem: str = ""  # why the options do not fit; empty where they do

    @property
    def n_matching(self) -> int:
        """Items of the answers that the bank holds."""
        return len(self.codes)

    @property
    def fits(self) -> bool:
        """Whether the bank holds every item and every answer."""
        return self.n_matching == self.n_items and not self.problem

    @property
    def sure(self) -> bool:
        """Whether the bank may be taken without asking."""
        return self.fits and self.n_items >= _MIN_SHARE * len(self.bank.items)

    @property
    def words(self) -> str:
        """The match as a part of a sentence."""
        count = f"{self.n_matching:,} of {self.n_items:,} item codes match"
        whole = f"; the bank has {len(self.bank.items):,} items"
        return count + (whole if len(self.bank.items) != self.n_items else "")


def answers_by_format(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The answers of tidy rows by answer format, in order of first use."""
    pairs = rows[["format", "answer"]].drop_duplicates()
    return {
        str(code): [answer for answer in answers if answer]
        for code, answers in pairs.groupby("format", sort=False)["answer"]
    }


def sure_match(matches: Sequence[BankMatch]) -> BankMatch | None:
    """The bank that may be taken without asking: the first one, unless another one fits as well."""
    sure = [match for match in matches if match.sure]
    return sure[0] if len(sure) == 1 else None


def matching_banks(
    workspace: Workspace, items: Sequence[str], used: AnswersByFormat, languages: Iterable[str] = ()
) -> list[BankMatch]:
    """Banks on file that hold items of the answers, the best first.

    Banks that are put away, and those made from answers, are left out. A bank without a language of
    the answers does not fit: its codes may be those of other texts.
    """
    spoken = {language.split("-")[0].lower() for language in languages if language}
    matches = []
    for state in bank_store.drafts(workspace.database):
        bank = state.instrument
        if not state.archived and not bank.codes_only:
            match = _match_of(bank, items, used)
            known = {language.split("-")[0].lower() for language in bank.languages}
            if spoken - known and not match.problem:
                in_file = ", ".join(sorted(spoken - known))
                problem = f"Answers are in {in_file}; the bank is in {', '.join(bank.languages)}."
                match = replace(match, problem=problem)
            if match.n_matching:
                matches.append(match)
    return sorted(
        matches,
        key=lambda m: (not m.fits, -m.n_matching, bool(m.problem), len(m.bank.items), m.bank.code),
    )


def _match_of(bank: Instrument, items: Sequence[str], used: AnswersByFormat) -> BankMatch:
    """How well a bank fits the items and answers; codes are compared without case and separators.

    Two items of the answers never become one item of the bank.
    """
    exact = {item.code for item in bank.items}
    by_plain = _unambiguous(item.code for item in bank.items)
    codes = {item: item for item in items if item in exact}
    others = {item: by_plain.get(_plain_code(item)) for item in items if item not in exact}
    taken = Counter([*codes.values(), *others.values()])
    codes |= {item: code for item, code in others.items() if code and taken[code] == 1}
    problem = ""
    try:
        fit_formats(bank, used)
    except FileError as error:
        problem = error.problem
    return BankMatch(bank, codes, len(items), problem)


def full_match(bank: Instrument, items: Sequence[str], used: AnswersByFormat) -> BankMatch:
    """The match of a bank that must hold every item; FileError names the first that is missing."""
    match = _match_of(bank, items, used)
    missing = [item for item in items if item not in match.codes]
    if missing:
        raise FileError(
            f"Bank '{bank.code}' of the database has no item '{missing[0]}' ({match.words}).",
            "Choose another bank, rename the instrument in the file, or add the item to the bank.",
        )
    return match


def fit_formats(
    bank: Instrument,
    used: AnswersByFormat,
    *,
    new_formats: bool = False,
    on_file: Sequence[str] = (),
) -> tuple[Instrument, dict[str, str]]:
    """The bank with a format for every answer, and the format that each one of the rows becomes.

    Answers without a format are in the bank's first format that has all of them; where answers are
    `on_file`, in their format, as equal answers must become equal. `new_formats` lets a format that
    nobody knows be made from its answers.

    Raises
    ------
    FileError
        An answer is no option of its format, or has none, and those on file have several.
    """
    if "" in used and len(on_file) > 1:
        raise FileError(
            f"Some answers have no format, and the study has several: {', '.join(on_file)}.",
            "Add a column format with one of them for each answer.",
        )
    formats = {f.code: f for f in bank.formats}
    placed: dict[str, str] = {}
    for name, answers in used.items():
        known = formats.get(name) or BUILT_IN.get(name)
        if not name and on_file:
            known = formats.get(on_file[0]) or BUILT_IN.get(on_file[0])
        unnamed = name in ("", _AS_IMPORTED) or not new_formats
        if known is None and unnamed and bank.formats:
            known = _first_format_with(bank.formats, answers)
        known = _with_options(known or ResponseFormat(name or _AS_IMPORTED, ()), answers)
        placed[name] = known.code
        formats[known.code] = known
    return replace(bank, formats=tuple(formats.values())), placed


def _first_format_with(formats: Sequence[ResponseFormat], answers: Sequence[str]) -> ResponseFormat:
    """The first format that has all these options, else the first."""
    return next((f for f in formats if all(f.option(a) for a in answers)), formats[0])


def _with_options(known: ResponseFormat, answers: Sequence[str]) -> ResponseFormat:
    """The format with options for the answers where it has none; FileError where one is missing."""
    unknown = [answer for answer in answers if known.option(answer) is None]
    if unknown and known.options:
        raise FileError(
            f"'{unknown[0]}' is not an option of the format '{known.code}'.",
            f"Its options are: {', '.join(option.code for option in known.options)}.",
        )
    return ResponseFormat(known.code, _options_of(unknown)) if unknown else known


def _options_of(answers: Iterable[str]) -> tuple[Option, ...]:
    """Options for answers of an unknown format; numbers count as their points."""
    codes = list(answers)
    try:
        numbers = sorted((float(code), code) for code in codes)
    except ValueError:
        numbers = [(math.nan, "")]
    if not all(math.isfinite(points) for points, _ in numbers):
        return tuple(Option(code, None, {}) for code in sorted(codes))
    return tuple(Option(code, points, {}) for points, code in numbers)


def _unambiguous(codes: Iterable[str]) -> dict[str, str]:
    """The codes without case and separators, where only one has become so."""
    by_plain: dict[str, list[str]] = {}
    for code in codes:
        by_plain.setdefault(_plain_code(code), []).append(code)
    return {plain: same[0] for plain, same in by_plain.items() if len(same) == 1}


def _plain_code(code: str) -> str:
    return _SEPARATORS.sub("", code.casefold())


# Giving imported answers the bank they belong to, where they came without one.

_KEYED, _UNKEYED = "after reverse-keying", "without reverse-keying"
"""How results name their scores, and what stands there for a study without a bank."""


@dataclass(frozen=True)
class Attachment:
    """What came of attaching a bank. `n_scores` came with the file and are now derived."""

    study: str
    bank: str
    version: int
    about_bank: str
    n_scores: int


def _is_without_bank(workspace: Workspace, record: FrozenStudy) -> bool:
    """Whether the answers were imported and no bank says how their items are keyed."""
    if record.kind != "imported":
        return False
    return bank_store.instrument(workspace.database, record.instrument_id).codes_only


def studies_without_bank(workspace: Workspace) -> tuple[StudyRecord, ...]:
    """The studies whose imported answers have no bank but one made from themselves."""
    records = studies.studies(workspace.database)
    return tuple(record for record in records if _is_without_bank(workspace, record))


NO_BANK = (
    "The items come from the file with the answers, which does not say which of them are "
    "reverse-keyed or belong to which subscale: all count in the same direction, as one scale. "
    "A bank with these items says it."
)


def is_unkeyed(workspace: Workspace, study: str) -> bool:
    """Whether the scores of a study are neither keyed by a bank nor by the file they came in."""
    record = studies.frozen_study(workspace.database, study)
    return _is_without_bank(workspace, record) and not _has_scores(workspace, record)


def banks_for_study(workspace: Workspace, study: str) -> list[BankMatch]:
    """Banks that hold items of a study, the best first."""
    record = studies.frozen_study(workspace.database, study)
    items, used = imports.items_and_options(workspace.database, record.study_id)
    return matching_banks(workspace, items, used)


def studies_for_bank(workspace: Workspace, bank: Instrument) -> tuple[tuple[str, BankMatch], ...]:
    """Studies without a bank that this one would fit."""
    matches = []
    for record in studies_without_bank(workspace):
        match = _match_of(bank, *imports.items_and_options(workspace.database, record.study_id))
        if match.fits:
            matches.append((record.code, match))
    return tuple(matches)


def attach(workspace: Workspace, study: str, bank: str = "") -> Attachment:
    """Give the answers of an imported study a bank; scores are derived from it from then on.

    Without `bank`, the best bank that holds every item and answer is taken. The answers stay as
    they are. The bank that was made from them is put away where no other study uses it.

    Raises
    ------
    BankError, FileError
        The study was not imported, its import is not finished, there is no such bank, or it lacks
        an item or an option.
    """
    record = studies.frozen_study(workspace.database, study)
    if record.kind != "imported":
        raise BankError(
            f"Study '{study}' was asked with its bank.", "Attach banks to imported answers only."
        )
    unfinished = {left.study: left for left in imports.unfinished_imports(workspace.database)}
    if study in unfinished:
        raise BankError(unfinished[study].words, "Continue or undo it, then attach the bank.")
    items, used = imports.items_and_options(workspace.database, record.study_id)
    match = full_match(_choose_bank(workspace, study, bank), items, used)
    content, formats = fit_formats(match.bank, used)
    with workspace.database.all_or_nothing():
        version = bank_store.publish(workspace.database, content)
        n_scores = imports.attach_bank(
            workspace.database,
            record,
            replace(record.design, instrument=content.code, version=version.version),
            version.instrument_id,
            items=match.codes,
            formats=formats,
        )
        _archive_if_unused(workspace, record.instrument)
        study_log.add(workspace, record.study_id, f"Attached the bank {content.code}")
    return Attachment(study, content.code, version.version, f"{match.words}.", n_scores)


def with_keying_words(
    workspace: Workspace, result: AnalysisResult, study_codes: tuple[str, ...]
) -> AnalysisResult:
    """The result, claiming no reverse-keying of answers that no bank has keyed."""
    imported = [
        record
        for record in (studies.frozen_study(workspace.database, code) for code in study_codes)
        if _is_without_bank(workspace, record)
    ]
    unscored = [record.code for record in imported if not _has_scores(workspace, record)]
    scored = [record.code for record in imported if record.code not in unscored]
    if scored:
        note = (
            f"The scores of {', '.join(scored)} are those of the imported file, which was said to "
            "have reversed them; no bank confirms it."
        )
        result = replace(result, cautions=(note, *result.cautions))
    if not unscored:
        return result
    words = (
        _UNKEYED
        if len(unscored) == len(study_codes)
        else f"{_KEYED} ({_UNKEYED}: {', '.join(unscored)})"
    )
    note = (
        f"The answers of {', '.join(unscored)} are unkeyed: no bank says which items are reversed. "
        "Attach one on the page Import and export."
    )
    corrected = replace_words(result, _KEYED, words)
    return replace(corrected, cautions=(note, *corrected.cautions))


def _has_scores(workspace: Workspace, record: FrozenStudy) -> bool:
    """Whether scores came with the answers of an imported study."""
    return imports.count_scores(workspace.database, record.study_id) > 0


def _choose_bank(workspace: Workspace, study: str, code: str) -> Instrument:
    if code:
        state = bank_store.draft(workspace.database, code)
        if state is None:
            raise BankError(f"There is no bank '{code}'.", "Choose one from the list.")
        return state.instrument
    matches = banks_for_study(workspace, study)
    if not matches or not matches[0].fits:
        best = f" The nearest is '{matches[0].bank.code}': {matches[0].words}." if matches else ""
        raise BankError(
            f"No bank holds all items and answers of study '{study}'.{best}",
            "Import the bank first, or add what it lacks.",
        )
    return matches[0].bank


def _archive_if_unused(workspace: Workspace, code: str) -> None:
    """Put a bank away that was made from answers and that no study uses any more."""
    state = bank_store.draft(workspace.database, code)
    used = any(version.used_in for version in bank_store.versions(workspace.database, code))
    if state is not None and state.instrument.codes_only and not used:
        bank_store.set_archived(workspace.database, code, True)

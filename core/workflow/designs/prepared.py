"""Designs prepared from a study, each of which collects what a criterion of validation misses.

Such a design asks the same respondents under the same contexts. It is a proposal for the page
Design: nothing here saves or freezes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from core.domain.instrument import INVERTED_FORMS, ORIGINAL, Instrument
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.domain.study import Context, Design
from core.errors import BankError, DesignError
from core.stats.validation import Criterion
from core.store import banks as store
from core.store.studies import StudyRecord
from core.workflow.banks import editing
from core.workflow.designs import forms, presets, studies
from core.workflow.workspace import Workspace

Place = Literal["design", "banks", "texts", "import_export"]
"""The page on which a person goes on, by the name of its file or folder."""

_OTHER_FORMS = ("alternate", "paraphrase")
"""Forms that the report prefers, if there are any."""


@dataclass(frozen=True)
class PreparedDesign:
    """What would collect a criterion that a study has no coefficient of.

    `sentence` says what the design asks, or what has to be added first; then `design` is None and
    `page` is where to add it.
    """

    criterion: Criterion
    sentence: str
    design: Design | None = None
    page: Place = "design"


def missing_criteria(report: AnalysisResult) -> tuple[Criterion, ...]:
    """Of a validation report, the criteria that have no coefficient in some group."""
    frame = next(table for table in report.tables if table.name == "criteria").frame
    missing = set(frame.loc[frame["value"].isna(), "criterion"])
    return tuple(criterion for criterion in get_args(Criterion) if criterion in missing)


def prepare(workspace: Workspace, study: str, criterion: Criterion) -> PreparedDesign:
    """The design that would collect what the criterion needs, from the design of a study.

    Raises
    ------
    DesignError
        There is no such study.
    """
    record = studies.load(workspace, study)
    if record.kind == "imported":
        return PreparedDesign(
            criterion,
            "The answers of this study were imported, so Inkblot cannot ask the same respondents. "
            "Collect the missing answers as you collected these, and import them.",
            page="import_export",
        )
    return _PREPARE[criterion](workspace, record, criterion)


def fields(
    workspace: Workspace, prepared: PreparedDesign
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The fields of the design page for a prepared design, and what of it is not on offer.

    Raises
    ------
    DesignError
        Something has to be added first.
    """
    if prepared.design is None:
        raise DesignError(prepared.sentence, f"Go to the page {prepared.page}.")
    presets.starter_bank(workspace, prepared.design.instrument)
    chosen, notes = forms.from_design(workspace, prepared.design)
    return chosen | {"study": forms.free_name(workspace, prepared.design.study)}, notes


def text_fields(workspace: Workspace, code: str) -> dict[str, Any]:
    """The fields of the page Design for a bank whose prompts ask for texts, or for ratings of them.

    The respondents are left to the user. A judge is asked again once where its reply holds no
    valid rating.

    Raises
    ------
    BankError
        There is no such bank, or it asks for no text.
    """
    bank = editing.load(workspace, code).instrument
    if bank.kind != "prompts":
        raise BankError(f"The bank '{code}' asks for no texts.", "Make prompts on the page Texts.")
    judged = any(response_format.ratings for response_format in bank.formats)
    design = Design(
        study=forms.free_name(workspace, code),
        instrument=code,
        respondents=(),
        languages=bank.languages,
        templates=("free",),
        ask_again=int(judged),
    )
    return forms.from_design(workspace, design)[0]


def _more_contexts(
    workspace: Workspace, record: StudyRecord, criterion: Criterion
) -> PreparedDesign:
    """The same design under the personas that come with Inkblot as well."""
    design = record.design
    own = {context.code for context in design.contexts}
    personas = presets.contexts_of(workspace, presets.PERSONAS)
    added = tuple(one for one in personas if one.code not in own)
    contexts = _of_languages((*design.contexts, *added), design)
    what = {
        "internal consistency": "Alpha needs items that vary over several contexts.",
        "factorial": "A factor model needs more contexts than items.",
    }.get(criterion, "")
    sentence = f"{what} This design asks the same under {count_text(len(contexts), 'context')}."
    name = f"{design.study}_contexts"
    changed = replace(design, study=name, version=record.version, contexts=contexts)
    return PreparedDesign(criterion, sentence, changed)


def _of_languages(contexts: tuple[Context, ...], design: Design) -> tuple[Context, ...]:
    """The contexts of the study, and those in a language that it asks in."""
    own = {context.code for context in design.contexts}
    return tuple(
        one
        for one in contexts
        if one.code in own or not one.language or one.language in design.languages
    )


def _other_form(workspace: Workspace, record: StudyRecord, criterion: Criterion) -> PreparedDesign:
    """The same items in another form."""
    (bank, version), design = _newest_bank(workspace, record), record.design
    form = next(iter(sorted(_complete_forms(bank, design), key=_form_rank)), "")
    if not form:
        return PreparedDesign(
            criterion,
            f"The bank {bank.code} has no other form of all items in "
            f"{', '.join(design.languages)}. Write one, or let a model draft paraphrases and "
            "accept them.",
            page="banks",
        )
    changed = replace(
        design,
        study=f"{design.study}_{form}",
        forms=(form,),
        label_orders=("as_is",),
        version=version,
    )
    sentence = f"This design asks the form {form} of the items. Then choose it in the report."
    return PreparedDesign(criterion, sentence, changed)


def _complete_forms(bank: Instrument, design: Design) -> list[str]:
    """The further forms in which every item has a text in every language of the design."""
    return [
        form
        for form in bank.forms()
        if form not in (ORIGINAL, *design.forms)
        and all(
            any(w.text.strip() for w in item.wordings if (w.language, w.form) == (language, form))
            for item in bank.items
            for language in design.languages
        )
    ]


def _form_rank(form: str) -> tuple[bool, bool, str]:
    """Forms that the report prefers come first, negated ones last."""
    return form in INVERTED_FORMS, not form.startswith(_OTHER_FORMS), form


def _other_order(
    _workspace: Workspace, record: StudyRecord, criterion: Criterion
) -> PreparedDesign:
    """The same items with their options in random order."""
    design = record.design
    changed = replace(
        design,
        study=f"{design.study}_random",
        forms=(ORIGINAL,),
        label_orders=("random",),
        version=record.version,
    )
    sentence = (
        "This design asks the items with their options in random order. Then choose it in the "
        "report."
    )
    return PreparedDesign(criterion, sentence, changed)


def _companion(workspace: Workspace, record: StudyRecord, criterion: Criterion) -> PreparedDesign:
    """Another scale, asked of the same respondents under the same contexts."""
    bank = _companion_bank(workspace, record)
    if bank is None:
        return PreparedDesign(
            criterion,
            "Another scale for the same construct is missing. Write or import it as a bank whose "
            f"code begins with {record.instrument} and _companion, such as "
            f"{record.instrument}_companion.",
            page="banks",
        )
    sentence = (
        f"This design asks the companion scale {bank.code} under the same contexts. Then choose it "
        "in the report."
    )
    return PreparedDesign(criterion, sentence, _of_bank(record.design, bank, bank.code))


def _companion_bank(workspace: Workspace, record: StudyRecord) -> Instrument | None:
    """The bank that is called the companion of the study's bank; one that comes along is read."""
    stem = record.instrument.rsplit("_", 1)[0]
    names = (f"{record.instrument}_companion", f"{stem}_companion")
    for state in store.drafts(workspace.database):
        bank = state.instrument
        known = not state.archived and bank.kind == "items" and bank.code != record.instrument
        if known and bank.code.startswith(names) and _speaks(bank, record.design):
            return bank
    for preset in presets.PUBLISHED_DESIGNS:
        code = preset.design.instrument
        if code.startswith(names):
            bank = presets.published_bank(workspace, code)
            return bank if _speaks(bank, record.design) else None
    return None


def _texts(workspace: Workspace, record: StudyRecord, criterion: Criterion) -> PreparedDesign:
    """Texts that the same respondents write under the same contexts."""
    drafts = [s.instrument for s in store.drafts(workspace.database) if not s.archived]
    prompts = [b for b in drafts if b.kind == "prompts" and _speaks(b, record.design)]
    lists = [bank for bank in drafts if bank.kind == "words"]
    if not prompts or not lists:
        missing = " and ".join(
            words
            for words, there in (
                ("a bank of prompts that ask for texts", prompts),
                ("a bank of lists of words", lists),
            )
            if not there
        )
        return PreparedDesign(
            criterion,
            f"The report scores texts of the respondents by lists of words. Add {missing} first.",
            page="texts",
        )
    bank = prompts[0]
    changed = replace(
        _of_bank(record.design, bank, f"{record.design.study}_texts"), templates=("free",)
    )
    sentence = (
        f"This design lets the respondents write to the prompts of {bank.code} under the same "
        "contexts. Then choose it in the report, with lists of words."
    )
    return PreparedDesign(criterion, sentence, changed)


def _of_bank(design: Design, bank: Instrument, study: str) -> Design:
    """The design with another bank; formats, forms and entities of the first do not go with it."""
    languages = tuple(one for one in design.languages if one in bank.languages)
    return replace(
        design,
        study=study,
        instrument=bank.code,
        version=None,
        formats=(),
        forms=(ORIGINAL,),
        label_orders=("as_is",),
        languages=languages,
        entities=(),
        pairs=(),
        swap_halves=False,
    )


def _speaks(bank: Instrument, design: Design) -> bool:
    """Whether the bank has a language of the design."""
    return any(language in bank.languages for language in design.languages)


def _newest_bank(workspace: Workspace, record: StudyRecord) -> tuple[Instrument, int | None]:
    """The working copy of the study's bank if it has the same items, else the version asked."""
    frozen = studies.frozen_bank(workspace, record.code)
    try:
        bank = editing.load(workspace, record.instrument).instrument
    except BankError:
        return frozen, record.version
    same = {item.code for item in bank.items} == {item.code for item in frozen.items}
    return (bank, None) if same else (frozen, record.version)


_PREPARE: Mapping[Criterion, Callable[[Workspace, StudyRecord, Criterion], PreparedDesign]] = {
    "internal consistency": _more_contexts,
    "alternate form": _other_form,
    "option order": _other_order,
    "concurrent": _texts,
    "convergent": _companion,
    "factorial": _more_contexts,
}

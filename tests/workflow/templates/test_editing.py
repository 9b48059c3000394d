"""Templates are written, versioned, restored and exchanged; frozen studies keep their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.instrument import Option, ResponseFormat
from core.domain.study import Design
from core.domain.templates import PromptTemplate, TemplateText
from core.errors import ConflictError, DesignError, FileError
from core.workflow import prompts
from core.workflow.answers import browsing, exports, rereading
from core.workflow.banks import editing as banks
from core.workflow.designs import studies
from core.workflow.runs import control
from core.workflow.templates import editing
from tests.workflow.studies import finished, freeze, simulated

OWN = PromptTemplate(
    "own", "My own", None, {"en": TemplateText("{options}\n{item}\n{reply}")}, "letters"
)


def listed(workspace, code):
    return next(one for one in editing.summaries(workspace) if one.template.code == code)


def test_built_in_templates_are_entries_like_any_other_and_can_be_set_back(workspace):
    standard = editing.load(workspace, "standard")
    before = listed(workspace, "standard")
    assert (before.built_in, before.changed, before.n_versions) == (True, False, 0)
    edited = replace(standard, title="Mine now")
    editing.save(workspace, edited, expected_versions=0)
    assert listed(workspace, "standard").changed
    assert editing.load(workspace, "standard") == edited
    editing.restore(workspace, "standard", editing.BUILT_IN_VERSION)
    assert not listed(workspace, "standard").changed
    assert editing.load(workspace, "standard") == standard
    assert [one.number for one in editing.versions(workspace, "standard")] == [0, 1, 2]


def test_each_save_is_a_version_that_can_be_compared_and_restored(workspace):
    editing.save(workspace, OWN)
    text = replace(OWN.texts["en"], cue="Answer:")
    editing.save(workspace, replace(OWN, listing="numbers", texts={"en": text}))
    first, second = editing.versions(workspace, "own")
    assert (first.number, second.number) == (1, 2)
    assert first.saved_at < second.saved_at
    changes = editing.compare(first.template, second.template)
    assert [(one.where, one.what, one.before, one.after) for one in changes] == [
        ("Template", "listing changed", "letters A, B, C", "numbers 1, 2, 3"),
        ("Language en", "answer cue changed", "", "Answer:"),
    ]
    editing.restore(workspace, "own", 1)
    assert editing.load(workspace, "own") == OWN
    assert len(editing.versions(workspace, "own")) == 3
    with pytest.raises(DesignError, match="'own' has no version 9"):
        editing.restore(workspace, "own", 9)


def test_a_second_tab_cannot_save_over_a_version_that_it_has_not_seen(workspace):
    editing.save(workspace, OWN, expected_versions=0)
    with pytest.raises(ConflictError, match="'own' was saved in another tab") as caught:
        editing.save(workspace, replace(OWN, title="Late"), expected_versions=0)
    assert caught.value.remedy
    assert editing.load(workspace, "own") == OWN


def test_a_template_with_a_fault_is_refused_with_every_place_and_nothing_is_saved(workspace):
    bad = replace(OWN, texts={"en": TemplateText("{itme} {options}", cue="{label}")})
    with pytest.raises(DesignError) as caught:
        editing.save(workspace, bad)
    assert "language 'en', single: {itme} is no placeholder" in caught.value.problem
    assert "did you mean {item}?" in caught.value.problem
    assert "language 'en', cue: {label} has no place here" in caught.value.problem
    assert editing.versions(workspace, "own") == ()


def test_templates_are_made_copied_and_renamed_under_titles_that_are_free(workspace):
    made = editing.create(workspace, "Short words")
    assert made.code == "short_words"
    assert set(made.texts) == {"en"}
    copy = editing.duplicate(workspace, "standard", "Standard, mine")
    assert copy.texts == editing.load(workspace, "standard").texts
    renamed = editing.rename(workspace, copy.code, "House style")
    assert (renamed.code, listed(workspace, copy.code).archived) == ("house_style", True)
    assert "house_style" in editing.offered(workspace)
    assert copy.code not in editing.offered(workspace)
    for title, what in (("Standard", "There is a template 'standard' already"), (" ", "no title")):
        with pytest.raises(DesignError, match=what):
            editing.create(workspace, title)
    with pytest.raises(DesignError, match="comes with Inkblot"):
        editing.rename(workspace, "standard", "Other")


def test_an_archived_template_comes_back(workspace):
    editing.set_archived(workspace, "free", archived=True)
    assert "free" not in editing.offered(workspace)
    assert editing.load(workspace, "free").code == "free"  # designs that name it keep it
    editing.set_archived(workspace, "free", archived=False)
    assert "free" in editing.offered(workspace)


def test_a_file_goes_out_and_comes_in_and_only_changes_become_versions(workspace):
    editing.save(workspace, OWN)
    data = editing.export(workspace, ["own", "standard"])
    assert {state for _, state in editing.import_file(workspace, "t.yaml", data)} == {"unchanged"}
    changed = data.replace(b"My own", b"Ours")
    assert [
        (one.code, state) for one, state in editing.import_file(workspace, "t.yaml", changed)
    ] == [("own", "changed"), ("standard", "unchanged")]
    assert len(editing.versions(workspace, "own")) == 2
    with pytest.raises(FileError, match=r"t.yaml, line 6, template 'own'.*\{itme\}"):
        editing.import_file(workspace, "t.yaml", changed.replace(b"{item}", b"{itme}"))
    with pytest.raises(FileError, match="only the built-in file has 'replies'"):
        editing.import_file(workspace, "t.yaml", changed + _replies())
    assert editing.load(workspace, "own").title == "Ours"


def _replies():
    words = ("with_code", "with_label", "block_with_code", "block_with_label", "or", "comma")
    return "\n".join(["replies:", "  en:", *(f"    {word}: x" for word in words)]).encode()


def test_a_form_holds_a_template_without_loss():
    text = TemplateText(
        "{item}\n", "{items}", "p", "s", "h", "r", "b", "{code}", " ", "{item}", "c"
    )
    template = PromptTemplate("full", "Full", False, {"en": text, "zh": text}, "numbers", "zh")
    assert editing.template_of("full", editing.fields_of(template)) == template


def test_a_study_with_letters_in_random_order_has_the_codes_of_the_bank(workspace):
    """People without noise answer alike, whatever the options are called and their order is."""
    editing.save(workspace, OWN)
    record = freeze(workspace, simulated(), templates=("own",), label_orders=("random",))
    assert listed(workspace, "own").used_in == ("study",)
    editing.save(workspace, replace(OWN, listing="labels"))
    assert prompts.study_wordings(workspace, record.study_id).templates["own"] == OWN
    control.start(workspace, "study")
    finished(workspace)
    rows = exports.export_tidy(workspace, "study").decode().splitlines()
    columns = rows[0].split(",")
    answers = [dict(zip(columns, row.split(","), strict=False)) for row in rows[1:]]
    assert {one["answer"] for one in answers} == {"1", "2", "3", "4", "5"}
    assert {one["raw"] for one in answers} == {"A", "B", "C", "D", "E"}
    assert any("ABCDE".index(one["raw"]) + 1 != int(one["answer"]) for one in answers)
    found = rereading.preview_rereading(workspace, "study")
    assert (found.n_read, found.n_changed) == (100, 0)
    table, _ = browsing.page(workspace, "study", {}, "")
    answer = browsing.detail(workspace, int(table["trial_id"].iloc[0]))
    options = browsing.options_shown(workspace, answer)
    assert [option.key for option in options] == ["A", "B", "C", "D", "E"]
    assert tuple(option.code for option in options) == answer.option_order
    by_key = {option.key: option.code for option in options}
    assert by_key[answer.reply] == answer.option


def test_a_design_with_more_options_than_letters_cannot_be_frozen(workspace):
    editing.save(workspace, OWN)
    state = banks.load(workspace, "attitudes_20")
    many = ResponseFormat("many", tuple(Option(f"o{n}", n, {"en": f"No {n}"}) for n in range(27)))
    bank = replace(state.instrument, formats=(*state.instrument.formats, many))
    banks.save(workspace, bank, expected_revision=state.revision)
    design = Design(
        "s", "attitudes_20", ("Simulated person",), formats=("many",), templates=("own",)
    )
    assert (
        "The answer format 'many' has more options than there are letters, and the template 'own' "
        "names options by letters."
    ) in studies.check(workspace, design)
    assert studies.check(workspace, replace(design, templates=("standard",))) == ()

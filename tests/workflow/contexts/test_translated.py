"""Personas in several languages: from a file or a model into the prompts of a study."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.collect.client import Reply
from core.domain.study import (
    CONTEXTS,
    Context,
    Design,
    as_json_values,
    filter_by_language,
)
from core.errors import ConflictError, FileError
from core.files.contexts import contexts_csv, contexts_jsonl, read_contexts
from core.store import studies as stored
from core.workflow.banks.grid import GridEdits
from core.workflow.contexts import rewriting, sets
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.studies import simulated

NURSE = Context(
    "n",
    "You are a nurse.",
    language="en",
    translations=(("de", "Sie sind Krankenpfleger."), ("pt-BR", "Você é enfermeiro.")),
)
PLAIN = Context("p", "You are a baker.", language="en")


def test_the_text_of_the_language_is_taken_then_that_of_its_region_then_the_first():
    assert NURSE.text_in("de") == "Sie sind Krankenpfleger."
    assert NURSE.text_in("de-AT") == "Sie sind Krankenpfleger."
    assert NURSE.text_in("pt") == "Você é enfermeiro."
    assert NURSE.text_in("en-GB") == NURSE.text_in("fr") == "You are a nurse."
    british = replace(NURSE, translations=(("en-GB", "You are a British nurse."),))
    assert british.text_in("en-GB") == "You are a British nurse."
    assert british.text_in("en") == "You are a nurse."
    assert NURSE.languages() == ("en", "de", "pt-BR")


def test_a_context_without_translations_has_the_json_it_had():
    assert "translations" not in as_json_values((PLAIN,))[0]


@pytest.mark.parametrize(("ending", "write"), [("csv", contexts_csv), ("jsonl", contexts_jsonl)])
def test_files_hold_every_language(ending, write):
    assert read_contexts(f"p.{ending}", write((NURSE, PLAIN))) == (NURSE, PLAIN)


def test_a_line_whose_translations_are_no_texts_is_refused():
    with pytest.raises(FileError, match="line 1: 'translations' is not an object of texts"):
        read_contexts("p.jsonl", b'{"code": "a", "text": "A.", "translations": ["B."]}\n')


def test_the_grid_has_a_column_for_each_language_and_takes_and_removes_texts():
    frame = sets.persona_rows((NURSE, PLAIN), ["fr"])
    assert list(frame.columns) == ["code", "text", "language", "text_de", "text_fr", "text_pt-BR"]
    assert frame["text_de"].tolist() == ["Sie sind Krankenpfleger.", ""]
    cells = {"0": {"text_de": ""}, "1": {"text_fr": " Vous êtes boulanger. "}}
    edited = sets.edit_personas((NURSE, PLAIN), GridEdits.of({"edited_rows": cells}, 2))
    assert dict(edited[0].translations) == {"pt-BR": "Você é enfermeiro."}
    assert edited[1].translations == (("fr", "Vous êtes boulanger."),)


def test_a_study_puts_items_after_the_persona_in_their_language(workspace):
    catalog.save(workspace, simulated())
    design = Design(
        "two", "attitudes_20", ("Simulated",), languages=("en", "de"), contexts=(NURSE,)
    )
    assert studies.cautions(workspace, design) == ()
    unknown = replace(design, contexts=(replace(PLAIN, language=""),))
    assert "the language is not stated" in studies.cautions(workspace, unknown)[0]
    half = replace(design, contexts=(PLAIN,))
    assert "en before de" in studies.cautions(workspace, half)[0]
    read = {
        (request.question.language, request.messages[0]["content"].splitlines()[0])
        for number in range(studies.size(workspace, design).calls)
        for request in [studies.example(workspace, design, number, respondent="Simulated")]
    }
    assert read == {("en", "You are a nurse."), ("de", "Sie sind Krankenpfleger.")}
    frozen = studies.freeze(workspace, design)
    assert stored.contexts(workspace.database, frozen.study_id) == {"n": NURSE}


def draft(workspace, **changes):
    """A German text of the baker that waits in the set."""
    sets.save(workspace, "people", (NURSE, PLAIN))
    variant = Context("p_v1", "Sie sind Bäcker.", language="de", variant_of="p")
    rewriting.add(
        workspace,
        "people",
        PLAIN,
        lambda code: replace(
            rewriting.Rewriting(
                PLAIN, replace(variant, code=code), "waiting", "", "m", "m", "2026", into="de"
            ),
            **changes,
        ),
    )
    return "p_v1"


def test_an_accepted_translation_becomes_a_text_of_its_persona(workspace):
    code = draft(workspace)
    rewriting.accept(workspace, "people", code, "people")
    changed = sets.load(workspace, "people")
    assert changed == (NURSE, replace(PLAIN, translations=(("de", "Sie sind Bäcker."),)))
    assert [d.state for d in rewriting.list_rewritings(workspace, "people")] == ["accepted"]


def test_a_translation_of_a_text_that_changed_since_is_not_accepted(workspace):
    code = draft(workspace)
    now = replace(PLAIN, text="You are a master baker.")
    sets.save(workspace, "people", (NURSE, now))
    with pytest.raises(ConflictError, match="p has changed since it was translated"):
        rewriting.accept(workspace, "people", code, "people")
    assert sets.load(workspace, "people") == (NURSE, now)


def test_what_is_sent_asks_for_the_language_and_a_conversation_is_not_translated():
    person = replace(simulated(), kind="api", base_url="http://127.0.0.1", simulation=None)
    request = rewriting.rewriting_request(PLAIN, "Translate it.", person, into="de")
    assert "alone, in German (Deutsch, de), on one line" in request.messages[0]["content"]
    assert "has a text in German" in rewriting.rewriting_obstacle(NURSE, "de")
    talk = Context("c", messages=({"role": "user", "content": "Hi."},))
    assert "only personas" in rewriting.rewriting_obstacle(talk, "de")
    assert rewriting.rewriting_obstacle(talk) == ""


def test_a_rewriting_takes_no_translation_of_its_original_along():
    variant = rewriting.read_rewriting(NURSE, Reply("You nurse people."), "n_v1")
    assert (variant.text, variant.translations) == ("You nurse people.", ())


def test_a_translation_typed_meanwhile_is_not_replaced(workspace):
    code = draft(workspace)
    typed = sets.with_translation(PLAIN, "de", "Von Hand.")
    sets.save(workspace, "people", (NURSE, typed))
    with pytest.raises(ConflictError, match="has another text in German"):
        rewriting.accept(workspace, "people", code, "people")
    assert sets.load(workspace, "people") == (NURSE, typed)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("p.csv", "code,text,text_de\na,,Nur dies.\n", "no text that it translates"),
        ("p.csv", "code,language,text,text_en\na,en,One.,Two.\n", "is no translation"),
        ("p.csv", "code,text,text_de,text_DE\na,One.,Eins.,Zwei.\n", "two texts in 'de'"),
        ("p.jsonl", '{"text": "A.", "translations": {"xx": "B."}}\n', "'xx' is not the code"),
        (
            "p.jsonl",
            '{"messages": [{"role": "user", "content": "Hi"}], "translations": {"de": "B."}}\n',
            "a conversation has no translations",
        ),
    ],
)
def test_translations_that_cannot_be_used_are_refused_with_their_line(name, data, says):
    with pytest.raises(FileError, match=says):
        read_contexts(name, data.encode())


def test_personas_that_differ_in_a_translation_alone_are_two():
    twin = replace(NURSE, code="m", translations=(("de", "Sie sind Krankenschwester."),))
    assert read_contexts("p.csv", contexts_csv((NURSE, twin))) == (NURSE, twin)


def test_a_set_in_one_language_takes_the_translations_to_it():
    (german,) = filter_by_language((NURSE, PLAIN), "German")
    assert german == Context("n", "Sie sind Krankenpfleger.", language="de")
    assert filter_by_language((NURSE, PLAIN), "en") == (NURSE, PLAIN)


def test_a_design_file_with_names_of_languages_is_read_in_codes():
    body = {"code": "a", "text": "A.", "translations": [["German", "B."]]}
    (context,) = CONTEXTS.validate_python([body], strict=False)
    assert context.translations == (("de", "B."),)
    body["translations"] = [["German", "B."], ["de", "C."]]
    with pytest.raises(ValueError, match="two texts in 'de'"):
        CONTEXTS.validate_python([body], strict=False)


def edited(persona, **cells):
    (changed,) = sets.edit_personas((persona,), GridEdits.of({"edited_rows": {"0": cells}}, 1))
    return changed


def test_a_changed_text_leaves_its_translations_outdated_until_they_change_or_are_confirmed(
    workspace,
):
    pilot = edited(NURSE, text="You are a pilot.")
    assert pilot.outdated == ("de", "pt-BR")
    assert edited(NURSE, text="You  are a nurse.").outdated == ()
    assert edited(NURSE, text="You are a pilot.", text_de="Sie sind Pilot.").outdated == ("pt-BR",)
    assert edited(pilot, text_de="Sie sind Pilot.").outdated == ("pt-BR",)
    assert edited(pilot, code="z").outdated == ("de", "pt-BR")
    assert edited(pilot, text_de="").outdated == ("pt-BR",)
    assert sets.confirm_translations((pilot,)) == (replace(pilot, outdated=()),)
    catalog.save(workspace, simulated())
    design = Design("s", "attitudes_20", ("Simulated",), languages=("en", "de"), contexts=(pilot,))
    (said,) = studies.cautions(workspace, design)
    assert said.startswith("The text of 1 persona changed after it was translated.")
    assert studies.cautions(workspace, replace(design, languages=("en",))) == ()

"""The Texts page: prompts are made, words counted, ratings shown."""

from __future__ import annotations

import json
from functools import partial

import pytest

from core.domain.instrument import Instrument, Item, Rating, Wording
from core.files.banks.reading import ImportedBank
from core.workflow.answers import texts
from core.workflow.banks import editing, text_prompts
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.banks.test_stories import word_study
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

PEOPLE = {"name": ["Ann | female", "Bob | male"]}


open_page = partial(apps.open_page, "texts")


def said(at):
    parts = [*at.markdown, *at.caption, *at.info, *at.warning, *at.error, *at.success]
    return "\n".join(part.value for part in parts)


def reply(number, body):
    prompt = body["messages"][-1]["content"]
    if prompt.startswith("Rate"):
        return Step(content=json.dumps({"warmth": 9 if "Ann" in prompt else 3}))
    return Step(
        content=f"{prompt} " + ("A kind, able person." if "Ann" in prompt else "Able, kind.")
    )


def run(workspace, study, bank, server, **factors):
    freeze(
        workspace,
        service(server.base_url),
        study=study,
        bank=bank,
        n_personas=0,
        templates=("free",),
        **factors,
    )
    control.start(workspace, study)
    control.wait(workspace, study, every_s=0.02)


@pytest.fixture
def letters(workspace, monkeypatch):
    """A study of two letters, and two lists of words."""
    text_prompts.create_descriptor_prompts(
        workspace, "letters", "Praise {name}.", PEOPLE, language="en"
    )
    words = tuple(
        Item(word, (Wording("en", word),), subscale=name)
        for word, name in (("kind", "warm"), ("able", "able"))
    )
    from core.domain.formats import BUILT_IN

    bank = Instrument("lists", "Lists", words, (BUILT_IN["good_bad"],), kind="words")
    editing.import_bank(workspace, ImportedBank(bank))
    with FaultServer(script=reply) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        run(workspace, "letters", "letters", server)
        yield server


def test_without_texts_every_step_says_what_comes_first(workspace):
    assert "There are no prompts yet" in said(open_page())
    for step in ("counts", "judge"):
        assert "Make prompts, then design and run a study." in said(open_page(step=step))


def test_prompts_are_made_from_descriptors_and_become_a_bank(workspace):
    at = open_page()
    at.button(key="texts_make_letters").click()
    fine(at.run())
    assert "holds 24 prompts" in said(at)
    bank = editing.load(workspace, "letters").instrument
    assert (
        bank.items[0].text("en").startswith("Write a reference letter of about 150 words for Anna")
    )
    assert bank.items[0].tags[:2] == ("name=Anna", "gender=female")


def test_a_descriptor_without_levels_is_named_and_nothing_is_kept(workspace):
    at = open_page()
    at.text_area(key="texts:letters:levels").set_value("name: Anna\nage")
    at.button(key="texts_make_letters").click()
    fine(at.run())
    assert "Inkblot cannot read the descriptor 'age'" in said(at).replace("\\", "")
    assert "letters" not in {bank.code for bank in editing.summaries(workspace)}


def test_stories_are_made_around_words_typed_one_a_line(workspace):
    at = open_page()
    at.text_area(key="texts:stories:first").set_value("sun\njoy\nbread\nsong\nfriend")
    at.text_area(key="texts:stories:second").set_value("war\nloss\ngrief\nfire\nflood")
    at.number_input(key="texts:stories:groups").set_value(2)
    at.button(key="texts_make_stories").click()
    fine(at.run())
    assert "holds 12 prompts" in said(at)


def test_stories_are_made_around_the_words_of_a_word_study(workspace):
    answers = {f"joy{n}": "++" for n in range(5)} | {f"woe{n}": "--" for n in range(4)}
    word_study(workspace, answers | {"bank": "+-"})
    at = open_page()
    at.radio(key="texts:stories:source").set_value("study")
    fine(at.run())
    at.selectbox(key="texts:stories:study").set_value("tests")
    fine(at.run())
    at.selectbox(key="texts:stories:respondent").set_value("m")
    fine(at.run())
    counted = "Of 10 words, 5 are consistently positive and 4 consistently negative over 2 tests"
    assert counted in said(at)
    at.number_input(key="texts:stories:groups").set_value(2)
    at.button(key="texts_make_stories").click()
    fine(at.run())
    assert "has 4 consistently negative words of m" in said(at)
    at.number_input(key="texts:stories:size").set_value(4)
    at.button(key="texts_make_stories").click()
    fine(at.run())
    assert "holds 10 prompts" in said(at)


def test_words_of_lists_are_counted_and_odds_ratios_shown(letters):
    at = open_page(step="counts")
    at.selectbox(key="texts_lists").set_value("lists")
    fine(at.run())
    assert "2 usable texts, 10 words." in said(at)
    counts, ratios = (found.value for found in at.dataframe)
    assert counts[["warm", "able"]].to_numpy().tolist() == [[1, 1], [1, 1]]
    assert {"or_warm", "or_able", "score"} <= set(ratios.columns)


def test_a_judge_rates_the_texts_and_its_ratings_are_read(workspace, letters):
    at = open_page(step="judge")
    at.text_area(key="judge_rubric").set_value("Rate this: {text}")
    at.text_input(key="judge_scales").set_value("warmth 1-10")
    at.button(key="judge_make").click()
    fine(at.run())
    assert "asks a judge to rate 2 texts" in said(at)
    run(workspace, "judged", "judge_letters", letters)
    at = open_page(step="judge")
    assert "n = 2 valid ratings; missing: 0." in said(at)
    at.selectbox(key="judge_tag").set_value("name")
    fine(at.run())
    assert at.dataframe[-1].value.set_index("name")["mean"].to_dict() == {"Ann": 9.0, "Bob": 3.0}


def test_a_quality_without_a_range_is_refused_in_words(workspace, letters):
    at = open_page(step="judge")
    at.text_input(key="judge_scales").set_value("warmth")
    at.button(key="judge_make").click()
    fine(at.run())
    assert "is not a quality with its range" in said(at)
    assert texts.judged_studies(workspace) == ()


def test_hostile_prompts_and_texts_are_shown_to_the_letter(workspace, monkeypatch):
    hostile = "![](http://x/{y}) <img onerror=a> =1+1 :red[x]"
    with FaultServer(script=lambda n, body: Step(content=hostile)) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        text_prompts.create_descriptor_prompts(
            workspace, "letters", "Praise {name}.", PEOPLE, language="en"
        )
        run(workspace, "letters", "letters", server)
        bank = texts.create_judge_bank(
            workspace, "letters", "Rate: {text}", (Rating("warmth", 1, 10),)
        )
        assert bank.items[0].text("en") == f"Rate: {hostile}"
        at = open_page(step="counts")
        assert hostile not in said(at)


def test_a_study_of_texts_leads_to_their_analysis_and_back(letters):
    for page in ("answers", "collect"):
        at = apps.open_page(page, study="letters")
        links = {link.proto.label: link.proto for link in at.get("page_link")}
        link = links["Count the words of the texts"]
        assert (link.page, link.query_string) == ("texts", "study=letters&step=counts")
    at = open_page(step="counts", study="letters")
    assert at.selectbox(key="texts_study").value == "letters"
    (back,) = [
        link.proto for link in at.get("page_link") if link.proto.label == "Answers of this study"
    ]
    assert (back.page, back.query_string) == ("answers", "study=letters")


def test_a_study_without_texts_does_not_lead_to_them(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = apps.open_page("answers", study="study")
    labels = [link.proto.label for link in at.get("page_link")]
    assert "Count the words of the texts" not in labels
    assert "Import answers" in labels


def test_parts_of_a_person_stay_together_and_the_first_prompt_is_shown(workspace):
    at = open_page()
    at.text_area(key="texts:letters:text").set_value("Praise {name}, {age}.\n---\nBlame {name}.")
    at.text_area(key="texts:letters:people").set_value("name\tage\tgender\nAnn\t31\tf\nBob\t52\tm")
    at.text_area(key="texts:letters:levels").set_value("")
    fine(at.run())
    assert "4 prompts. The first one:" in said(at)
    at.button(key="texts_make_letters").click()
    fine(at.run())
    assert "holds 4 prompts" in said(at)
    items = editing.load(workspace, "letters").instrument.items
    assert [item.text("en") for item in items] == [
        "Praise Ann, 31.",
        "Praise Bob, 52.",
        "Blame Ann.",
        "Blame Bob.",
    ]
    assert open_page().text_area(key="texts:letters:people").value.startswith("name\tage")


def test_an_unknown_placeholder_is_named_with_the_known_ones(workspace):
    at = open_page()
    at.text_area(key="texts:letters:text").set_value("Praise {nam} and {name} of {age}.")
    fine(at.run())
    assert "The text names {nam}" in said(at).replace("\\", "")
    assert "{name}, {gender}, {age}, {occupation}" in said(at).replace("\\", "")


def test_people_come_from_a_file_too(workspace):
    at = open_page()
    data = "name;gender\nMaría;f\n".encode()
    fine(at.file_uploader(key="texts_people_file").set_value(("people.csv", data, "")).run())
    assert at.text_area(key="texts:letters:people").value == "name;gender\nMaría;f\n"
    bad = ("bad.csv", b"name\n\xff\n", "")
    fine(at.file_uploader(key="texts_people_file").set_value(bad).run())
    assert "bad.csv, line 2: byte 6 of the file is not UTF-8" in said(at).replace("\\", "")


def test_own_lists_and_the_starter_set_are_saved_as_a_bank(workspace):
    at = open_page(step="lists")
    at.text_area(key="texts:lists:text").set_value("warm: kind*, gentle\nable")
    at.button(key="texts_save_lists").click()
    fine(at.run())
    assert "Line 2 is no list" in said(at)
    at.text_area(key="texts:lists:text").set_value("")
    fine(at.run())
    fine(at.button(key="texts_starter").click().run())
    fine(at.button(key="texts_save_lists").click().run())
    assert "holds 5 lists" in said(at)
    bank = editing.load(workspace, "letter_words").instrument
    assert set(bank.subscales()) == {"agentic", "standout", "ability", "communal", "grindstone"}


def test_pages_of_scores_take_letters_and_ask_how_they_are_scored_of_texts_alone(
    workspace, letters
):
    freeze(workspace, simulated(), n_personas=2)
    for study, asks in (("letters", True), ("study", False)):
        at = apps.open_page("item_statistics", study=study, analysis="score_distribution")
        assert ("stereotype" in said(at)) == asks
        assert ("Lists of words" in [box.label for box in at.selectbox]) == asks

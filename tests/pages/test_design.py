"""The page Design on a real database, from choosing to a frozen plan."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import partial
from html import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.formats import BUILT_IN
from core.domain.study import Block, Context, Design, as_json_values
from core.errors import DesignError
from core.workflow import prompts, saved_inputs
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.designs import forms, studies
from core.workflow.designs.presets import PUBLISHED_DESIGNS
from core.workflow.respondents import catalog
from core.workflow.runs import control
from pages.shared.downloads import file_stem
from tests.pages import apps
from tests.workflow.studies import freeze, personas, service, simulated

PERSON = "Simulated person"
TALK = Context(
    "t1",
    messages=(
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": "Good day."},
    ),
    language="en",
)


opened = partial(apps.run_page, "design")


def said(elements):
    return " ".join(element.value for element in elements).replace("\\", "")


def html(at):
    return " ".join(element.proto.body for element in at.get("html"))


def planned(at, study="pilot", *people, bank="attitudes_20"):
    at.selectbox(key="design:instrument").set_value(bank).run()
    at.text_input(key="design:study").set_value(study)
    return at.multiselect(key="design:respondents").set_value(list(people or (PERSON,))).run()


def test_opens_empty_and_says_what_is_still_to_do(workspace):
    at = opened()
    assert not at.exception
    assert not at.error
    assert "The study has no name" in said(at.info)
    assert "No respondent is chosen" in said(at.info)
    assert "There is no frozen study yet" in said(at.info)
    assert at.button(key="design_freeze").disabled


def test_without_a_bank_it_points_to_the_banks(workspace):
    for bank in editing.summaries(workspace):
        editing.set_archived(workspace, bank.code, archived=True)
    at = opened()
    assert "Choose a bank" in said(at.info)
    assert "No bank is chosen" in said(at.error)


def test_calls_are_shown_as_a_product(workspace):
    at = planned(opened())
    at.multiselect(key="design:languages").set_value(["en", "de"]).run()
    at.radio(key="design:personas").set_value("set").run()
    at.selectbox(key="design:persona_set").set_value("Starter personas").run()
    at.number_input(key="design:persona_count").set_value(5).run()
    at.number_input(key="design:repetitions").set_value(3).run()
    product = "20 items × 1 respondent × 2 languages × 5 personas × 3 repetitions = **600 calls**"
    assert product in said(at.markdown)
    assert at.dataframe[-1].value["Calls"].tolist() == [600]
    assert at.dataframe[-1].value["Expected cost"].tolist() == ["free"]
    assert "30 administrations" in said(at.caption)


def test_cost_is_unknown_where_prices_are(workspace):
    catalog.save(workspace, service("http://127.0.0.1:9/v1", "Unpriced"))
    catalog.save(workspace, service("http://127.0.0.1:9/v1", "Priced", price_in=1.0, price_out=2.0))
    at = planned(opened(), "pilot", "Unpriced", "Priced")
    rows = at.dataframe[0].value.set_index("Respondent")
    assert rows.loc["Unpriced", ["Expected cost", "At most"]].tolist() == ["unknown", "unknown"]
    assert rows.loc["Priced", "Expected cost"].startswith("US$0.0")
    assert float(rows.loc["Priced", "At most"]) > 0.1
    assert set(rows["Expected cost rests on"]) == {"the response format; reasoning not included"}
    captions = said(at.caption)
    assert ", and 20 calls without a price. There are no prices for Unpriced." in captions


def test_everything_typed_is_there_after_a_reload(workspace):
    at = planned(opened())
    at.radio(key="design:personas").set_value("typed").run()
    at.text_area(key="design:personas_text").set_value("You are kind.\nYou are not.").run()
    at.text_input(key="design:temperatures_text").set_value("0, 0.7").run()
    at.text_area(key="design:notes").set_value("why").run()
    again = opened()
    assert again.text_input(key="design:study").value == "pilot"
    assert again.multiselect(key="design:respondents").value == [PERSON]
    assert again.text_area(key="design:personas_text").value == "You are kind.\nYou are not."
    assert again.text_input(key="design:temperatures_text").value == "0, 0.7"
    assert again.text_area(key="design:notes").value == "why"
    assert "Saved at" in said(again.caption)


def test_two_tabs_lose_nothing_and_are_told(workspace):
    one, two = opened(), opened()
    planned(one)
    two.text_area(key="design:notes").set_value("from tab two").run()
    assert "changed in another tab" in said(two.warning)
    assert two.text_input(key="design:study").value == "pilot"
    one.run()
    assert one.text_area(key="design:notes").value == "from tab two"


def test_prompts_are_shown_to_the_letter_one_after_the_other(workspace):
    at = planned(opened())
    at.radio(key="design:personas").set_value("typed").run()
    at.text_area(key="design:personas_text").set_value('You say "=1+1" <img src=x> 🙂.').run()
    bank = editing.load(workspace, "attitudes_20").instrument
    assert bank.items[0].text("en") in html(at)
    assert "You say &quot;=1+1&quot; &lt;img src=x&gt; 🙂." in html(at)
    assert "System message" in said(at.caption)
    at.button(key="design_next").click().run()
    assert bank.items[1].text("en") in html(at)
    at.button(key="design_previous").click().run()
    at.button(key="design_previous").click().run()
    assert at.number_input(key="design_example_number").value == 20
    assert bank.items[19].text("en") in html(at)


def test_prompts_shown_are_the_prompts_planned(workspace, small_bank):
    contexts = (Context("a", "You are A."), Context("b", "You are B."))
    items = tuple(
        replace(i, wordings=tuple(replace(w, text=f"{w.text} {{entity}}") for w in i.wordings))
        for i in small_bank.items
    )
    state = editing.create(workspace, small_bank.code)
    formats = (*small_bank.formats, BUILT_IN["likert_5"])
    bank = replace(small_bank, items=items, formats=formats)
    editing.save(workspace, bank, expected_revision=state.revision)
    design = Design(
        "s",
        "small",
        (PERSON,),
        ("de", "en"),
        formats=("likert_5", "three"),
        templates=("standard", "personal_1"),
        label_orders=("inverted", "as_is"),
        contexts=contexts,
        entities=("Ford", "Fiat", "Opel"),
        items_per_call=3,
    )
    size = studies.size(workspace, design)
    requests = [studies.example(workspace, design, number) for number in range(size.prompts)]
    shown = [
        (
            q.language,
            q.response_format.code,
            q.template,
            q.response_format.options[0].points > 1,
            q.context,
            q.entity,
            *(item.code for item in q.items),
        )
        for q in (request.question for request in requests)
    ]
    record = studies.freeze(workspace, design)
    plan = studies.plan_csv(workspace, record.code).decode().splitlines()[1:]
    calls = {}
    for row in csv.DictReader(plan):
        told = (row["language"], row["format"], row["template"], row["label_order"] == "inverted")
        calls.setdefault(row["call_id"], (*told, row["context"], row["entity"]))
        calls[row["call_id"]] += (row["item"],)
    assert shown == list(calls.values())
    assert (size.calls, size.trials) == (len(calls), record.n_trials)


def test_cautions_name_copies_english_only_and_simulation(workspace):
    local = next(r.label for r in catalog.list_respondents(workspace) if r.kind == "local")
    at = planned(opened(), "pilot", PERSON, local)
    at.multiselect(key="design:languages").set_value(["es"]).run()
    at.number_input(key="design:repetitions").set_value(2).run()
    text = said(at.warning)
    assert f"the repetitions of {local} will be copies" in text
    assert "understands English only" in text
    assert "Simulated respondents are not models" in text


def test_a_design_is_frozen_with_hash_files_and_the_way_to_collect(workspace):
    at = planned(opened())
    at.button(key="design_freeze").click().run()
    record = studies.load(workspace, "pilot")
    assert at.query_params["study"] == "pilot"
    assert "pilot is frozen: 20 trials" in said(at.success)
    assert record.plan_hash in said(at.text)
    assert any("Go to Collect" in link.proto.label for link in at.get("page_link"))
    assert at.dataframe[-1].value["No reply yet"].tolist() == [20]
    assert at.text_input(key="design:study").value == ""
    assert control.progress(workspace, "pilot").state == "not_started"
    assert f"# plan {record.plan_hash}" in studies.plan_csv(workspace, "pilot").decode()


def test_a_finished_study_leads_to_its_answers_and_not_to_a_second_start(workspace):
    freeze(workspace, simulated(), study="pilot", n_personas=1)
    links = [link.proto.label for link in opened().get("page_link")]
    assert "Go to Collect to start the study" in links
    control.start(workspace, "pilot")
    control.wait(workspace, "pilot", every_s=0.02)
    at = opened()
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert links["Read the answers"] == "study=pilot"
    assert "Go to Collect to start the study" not in links
    assert at.dataframe[-1].value["Replied"].tolist() == [20]
    assert "Missing" not in at.dataframe[-1].value.columns


def test_files_of_a_study_keep_the_letters_of_its_name():
    assert file_stem("Exam pilot/1") == "Exam_pilot_1"
    assert file_stem("Exam_pilot_1") == "Exam_pilot_1"
    assert file_stem("..") == "study"


@pytest.mark.parametrize(("kind", "words"), [("typed", "Type personas"), ("set", "Choose a set")])
def test_personas_still_to_choose_are_a_hint_beside_the_prompts(workspace, kind, words):
    at = planned(opened())
    at.radio(key="design:personas").set_value(kind).run()
    assert not at.error
    assert words in said(at.info)
    assert "Prompts to be sent" in said(at.header)
    assert at.number_input(key="design_example_number").value == 1
    assert at.button(key="design_freeze").disabled
    if kind == "typed":
        at.text_area(key="design:personas_text").set_value("You are kind.").run()
        assert words not in said(at.info)
        assert not at.button(key="design_freeze").disabled


def test_banks_of_one_title_are_told_apart_by_their_codes(workspace):
    editing.create(workspace, "Twin")
    editing.create(workspace, "Twin")
    options = opened().selectbox(key="design:instrument").options
    twins = [option for option in options if "Twin" in option]
    assert len(set(twins)) == 2
    assert any(option.startswith("twin: ") for option in twins)


def test_a_taken_name_is_told_before_freezing(workspace):
    freeze(workspace, simulated(), study="pilot")
    at = planned(opened())
    assert "There is a study called 'pilot' already" in said(at.info)
    assert at.button(key="design_freeze").disabled


def test_a_frozen_study_serves_as_a_starting_point_that_can_be_taken_back(workspace):
    freeze(workspace, simulated(), study="pilot", n_personas=3, repetitions=4)
    at = planned(opened(study="pilot"), "mine")
    at.button(key="design_use").click().run()
    assert at.text_input(key="design:study").value == "pilot_2"
    assert at.number_input(key="design:repetitions").value == 4
    assert at.radio(key="design:personas").value == "own"
    assert "= **240 calls**" in said(at.markdown)
    at.button(key="design_back").click().run()
    assert at.text_input(key="design:study").value == "mine"


def test_a_design_comes_back_from_its_yaml_file(workspace):
    record = freeze(workspace, simulated(), study="pilot", n_personas=3, languages=("es",))
    text = studies.design_yaml(replace(record.design, study="other"))
    at = opened()
    at.file_uploader(key="design_file").upload("d.yaml", text.encode(), "text/yaml").run()
    at.button(key="design_use_file").click().run()
    kept = saved_inputs.load(workspace, forms.DRAFT_NAME)
    design = forms.to_design(workspace, kept.value)
    assert design == replace(record.design, study="other")


def test_a_broken_yaml_file_is_told_and_changes_nothing(workspace):
    at = planned(opened())
    for text, words in (
        ("a: [", "not valid YAML"),
        ("study: s\nrespondents: [A]", "'instrument' is missing"),
        ("study: 7\ninstrument: b\nrespondents: [A]", "study: this is not a text"),
        ("study: s\ninstrument: b\nrespondents: A", "respondents: this is not a list"),
        ("study: s\ninstrument: b\nrespondents: [A]\nrepetitions: many", "a whole number"),
        (
            "study: s\ninstrument: b\nrespondents: [A]\ncontexts: [x]",
            "contexts, entry 1: this is not a list of keys",
        ),
        ("study: s\ninstrument: b\nrespondents: [A]\nsecret: x", "the key 'secret' is unknown"),
    ):
        at.file_uploader(key="design_file").upload("d.yaml", text.encode(), "text/yaml").run()
        assert words in said(at.error)
        assert "fault in Inkblot" not in said(at.error)
        assert at.text_input(key="design:study").value == "pilot"


def test_a_yaml_file_with_an_unknown_bank_is_told(workspace):
    text = "study: s\ninstrument: nowhere\nrespondents: [A]"
    at = opened()
    at.file_uploader(key="design_file").upload("d.yaml", text.encode(), "text/yaml").run()
    at.button(key="design_use_file").click().run()
    assert "There is no bank 'nowhere'" in said(at.error)


def test_personas_from_a_file_are_previewed_and_kept_as_a_set(workspace):
    at = planned(opened())
    at.radio(key="design:personas").set_value("file").run()
    assert "Save the content of the file as a set" in said(at.info)
    assert not at.error
    data = b"code,text\nx,You are X.\ny,You are Y.\n"
    at.file_uploader(key="design_persona_file").upload("two.csv", data, "text/csv").run()
    assert "2 personas. Nothing is saved" in said(at.caption)
    at.button(key="design_save_set").click().run()
    assert [c.code for c in sets.load_all(workspace)["two"]] == ["x", "y"]
    assert at.radio(key="design:personas").value == "set"
    assert "× 2 personas" in said(at.markdown)


def test_a_persona_file_that_cannot_be_read_is_told(workspace):
    at = opened()
    at.radio(key="design:personas").set_value("file").run()
    at.file_uploader(key="design_persona_file").upload("p.csv", b"a,b\n1,2\n", "text/csv").run()
    assert "personas need the columns" in said(at.error)
    assert not at.exception


def test_repeated_personas_and_wrong_temperatures_are_told_in_their_place(workspace):
    at = planned(opened())
    at.text_input(key="design:temperatures_text").set_value("0,7").run()
    assert "does not lie between 0 and 2" in said(at.error)
    at.text_input(key="design:temperatures_text").set_value("").run()
    at.radio(key="design:personas").set_value("typed").run()
    at.text_area(key="design:personas_text").set_value("Same.\nSame.").run()
    assert "is in line 1 already" in said(at.error)
    assert at.text_input(key="design:study").value == "pilot"


def test_entities_are_asked_for_where_items_name_them(workspace):
    at = planned(opened())
    at.selectbox(key="design:instrument").set_value("brand_20").run()
    assert "no entity is given" in said(at.info)
    at.text_area(key="design:entities_text").set_value("Ford\n\n![](http://x)").run()
    assert "× 2 entities" in said(at.markdown)
    at.number_input(key="design_example_number").set_value(21).run()
    assert "![](http://x)" in html(at)
    assert not at.button(key="design_freeze").disabled


def test_choices_that_are_gone_meanwhile_are_told(workspace):
    catalog.save(workspace, simulated("Gone"))
    at = planned(opened(), "pilot", PERSON, "Gone")
    catalog.set_archived(workspace, "Gone", archived=True)
    at.run()
    assert "no longer available: Gone" in said(at.warning)
    at.button(key="design_drop:respondents").click().run()
    assert not at.error
    assert not at.button(key="design_freeze").disabled


def test_changing_the_bank_keeps_only_its_languages(workspace):
    at = planned(opened())
    at.multiselect(key="design:languages").set_value(["de"]).run()
    editing.create(workspace, "Empty")
    at.run()
    at.selectbox(key="design:instrument").set_value("empty").run()
    assert at.multiselect(key="design:languages").value == ["en"]
    assert "has no items yet" in said(at.info)
    assert not at.exception
    assert not at.error


def test_a_version_can_be_chosen_instead_of_the_working_copy(workspace):
    editing.publish(workspace, "attitudes_20")
    at = planned(opened())
    at.selectbox(key="design:version_choice").set_value(1).run()
    at.button(key="design_freeze").click().run()
    assert studies.load(workspace, "pilot").version == 1


def test_a_plan_too_large_is_refused_before_it_is_made(workspace):
    design = Design("s", "attitudes_20", (PERSON,), repetitions=2_000_000)
    assert "are too many" in " ".join(studies.check(workspace, design))
    with pytest.raises(DesignError):
        studies.freeze(workspace, design)


def test_texts_in_a_plan_file_are_no_formulas(workspace):
    design = Design("s", "brand_20", (PERSON,), entities=("=1+1",))
    studies.freeze(workspace, design)
    lines = studies.plan_csv(workspace, "s").decode().splitlines()
    assert ",'=1+1," in lines[2]


def test_every_control_keeps_its_choice_after_a_reload(workspace):
    at = planned(opened(), bank="policy_60")
    several = {
        "formats": ["likert_5", "support_oppose"],
        "forms": ["original", "negation"],
        "templates": ["personal_1", "impersonal_2"],
        "label_orders": ["as_is", "random"],
    }
    for field, values in several.items():
        at.multiselect(key=f"design:{field}").set_value(values).run()
    at.toggle(key="design:skip_missing").set_value(True).run()
    at.toggle(key="design:first_token").set_value(True).run()
    at.radio(key="design:per_call_choice").set_value(-1).run()
    at.text_input(key="design:items_per_call").set_value("7").run()
    at.radio(key="design:item_order").set_value("shuffled").run()
    at.radio(key="design:answering").set_value("enforced").run()
    at.number_input(key="design:seed").set_value(5).run()
    at.number_input(key="design:ask_again").set_value(3).run()
    again = opened()
    assert {f: again.multiselect(key=f"design:{f}").value for f in several} == several
    kept = saved_inputs.load(workspace, forms.DRAFT_NAME)
    expected = Design(
        "pilot",
        "policy_60",
        (PERSON,),
        formats=("likert_5", "support_oppose"),
        forms=("original", "negation"),
        templates=("personal_1", "impersonal_2"),
        label_orders=("as_is", "random"),
        items_per_call=7,
        item_order="shuffled",
        seed=5,
        ask_again=3,
        answering="enforced",
        first_token=True,
        skip_missing=True,
    )
    assert forms.to_design(workspace, kept.value) == expected
    assert again.text_input(key="design:items_per_call").value == "7"
    for key, value in (("seed", 5), ("ask_again", 3)):
        assert again.number_input(key=f"design:{key}").value == value
    for key, value in (("item_order", "shuffled"), ("answering", "enforced")):
        assert again.radio(key=f"design:{key}").value == value
    assert "= **960 trials** in **144 calls**" in said(again.markdown)
    caption = said(again.caption)
    assert (
        "up to 7 items in a call, items shuffled, calls without a usable answer repeated up to 3"
        in caption
    )
    assert "replies restricted to the options, probabilities of the first token recorded" in caption
    assert "are shown here in the order of the bank" in caption
    assert "The reply is restricted to: 1, 2, 3, 4, 5." in caption


def test_choosers_left_empty_ask_in_the_usual_way(workspace):
    at = planned(opened(), bank="policy_60")
    for field in ("forms", "templates", "label_orders"):
        at.multiselect(key=f"design:{field}").set_value([]).run()
    kept = saved_inputs.load(workspace, forms.DRAFT_NAME)
    design = forms.to_design(workspace, kept.value)
    assert (design.forms, design.templates) == (("original",), ("standard",))
    assert design.label_orders == ("as_is",)
    assert "= **60 calls**" in said(at.markdown)
    assert not at.button(key="design_freeze").disabled


def test_instructions_can_be_read_and_those_of_a_second_phase_are_not_offered(workspace):
    at = planned(opened())
    offered = at.multiselect(key="design:templates").options
    assert any("Personal, wording 1" in title for title in offered)
    assert not any("opposing" in title for title in offered)
    at.multiselect(key="design:templates").set_value(["personal_1"]).run()
    text = prompts.load_wordings(workspace).templates["personal_1"].text("en")
    assert escape(text.single) in html(at)
    at.radio(key="design:per_call_choice").set_value(0).run()
    assert escape(text.block) in html(at)
    assert "in **1 call**" in said(at.markdown)


def test_pairs_are_made_of_typed_entities_and_swapped_in_half_of_the_repetitions(workspace):
    at = planned(opened(), bank="brand_100_preference")
    assert "no pair of entities is given" in said(at.info)
    assert at.button(key="design_make_pairs").disabled
    at.text_area(key="design:entities_text").set_value("Ford\nFiat\nOpel").run()
    at.button(key="design_make_pairs").click().run()
    pairs = at.text_area(key="design:pairs_text").value.splitlines()
    assert len(pairs) == 6
    assert {"Ford | Fiat", "Fiat | Ford"} <= set(pairs)
    assert at.text_area(key="design:entities_text").value == ""
    assert "× 6 pairs of entities" in said(at.markdown)
    at.toggle(key="design:swap_halves").set_value(True).run()
    assert "there must be two" in said(at.info)
    at.number_input(key="design:repetitions").set_value(2).run()
    at.text_area(key="design:entities_text").set_value("Ford\nFiat\nOpel").run()
    at.button(key="design_make_pairs").click().run()
    assert len(at.text_area(key="design:pairs_text").value.splitlines()) == 3
    assert "pairs swapped in half of the repetitions" in said(at.caption)
    assert not at.button(key="design_freeze").disabled


def test_a_line_that_is_no_pair_is_one_message_with_its_place(workspace):
    at = planned(opened(), bank="brand_100_preference")
    at.text_area(key="design:pairs_text").set_value("Ford | Fiat\n\nOpel").run()
    assert len(at.error) == 1
    assert "Line 3, 'Opel', is not a pair of entities" in said(at.error)
    assert "as: one | other" in said(at.error)
    assert at.text_area(key="design:pairs_text").value == "Ford | Fiat\n\nOpel"


def test_conversations_are_shown_with_who_says_what(workspace):
    sets.save(workspace, "Talks", (TALK,))
    at = planned(opened())
    at.radio(key="design:personas").set_value("set").run()
    at.selectbox(key="design:persona_set").set_value("Talks").run()
    assert "× 1 conversation ×" in said(at.markdown)
    assert "user: Hello?\nassistant: Good day." in at.dataframe[0].value["Text"].tolist()
    captions = [caption.value for caption in at.caption]
    roles = [c for c in captions if "message:" in c]
    assert roles == [
        "User message: earlier in the conversation",
        "Assistant message: an earlier reply",
        "User message: the question itself",
    ]
    assert "Good day." in html(at)


def test_conversations_from_a_file_are_kept_as_a_set(workspace):
    lines = (json.dumps(as_json_values((talk,))[0]) for talk in (TALK, replace(TALK, code="t2")))
    at = planned(opened())
    at.radio(key="design:personas").set_value("file").run()
    data = "\n".join(lines).encode()
    at.file_uploader(key="design_persona_file").upload("t.jsonl", data, "text/plain").run()
    assert "2 conversations" in said(at.caption)
    at.button(key="design_save_set").click().run()
    assert sets.load_all(workspace)["t"][0] == TALK
    assert "× 2 conversations" in said(at.markdown)


def test_items_without_a_text_are_counted_and_can_be_left_out(workspace, small_bank):
    first, *rest = small_bank.items
    items = (replace(first, wordings=first.wordings[:1]), *rest)
    state = editing.create(workspace, small_bank.code)
    bank = replace(small_bank, items=items)
    editing.save(workspace, bank, expected_revision=state.revision)
    at = planned(opened(), bank="small")
    at.multiselect(key="design:languages").set_value(["en", "de"]).run()
    assert "Not possible yet: 1" in said(at.caption)
    assert at.button(key="design_freeze").disabled
    at.toggle(key="design:skip_missing").set_value(True).run()
    assert "= 8, minus 1 without a text: **7 trials** in **7 calls**" in said(at.markdown)
    assert "Left out: 1" in said(at.caption)
    at.button(key="design_freeze").click().run()
    assert studies.load(workspace, "pilot").n_trials == 7


def test_a_published_design_fills_the_form_and_can_be_frozen_short(workspace):
    at = planned(opened(), "mine")
    at.selectbox(key="design_preset").set_value("brand_preference").run()
    assert "Sánchez Salazar (2024)" in said(at.caption)
    assert "Differences from the published study" in said(at.markdown)
    at.toggle(key="design_preset_short").set_value(True).run()
    at.number_input(key="design_preset_items:brand_preference").set_value(3).run()
    at.button(key="design_use_preset").click().run()
    assert at.selectbox(key="design:instrument").value == "brand_100_preference_first3"
    assert at.multiselect(key="design:respondents").value == [PERSON]
    assert at.toggle(key="design:swap_halves").value
    assert "= **90 trials** in **30 calls**" in said(at.markdown)
    at.button(key="design_freeze").click().run()
    assert not at.exception
    assert not at.error
    assert studies.load(workspace, "brand_preference").n_trials == 90
    at.button(key="design_back").click().run()
    assert at.text_input(key="design:study").value == "mine"


def test_every_published_design_in_full_can_be_frozen_from_the_page(workspace):
    at = planned(opened())
    for preset in PUBLISHED_DESIGNS:
        at.selectbox(key="design_preset").set_value(preset.code).run()
        at.button(key="design_use_preset").click().run()
        assert not at.exception
        assert not at.error
        assert at.text_input(key="design:study").value == preset.code
        assert not at.button(key="design_freeze").disabled


@pytest.mark.parametrize(
    ("key", "value"), [("items_per_call", -3), ("repetitions", 0), ("ask_again", -1)]
)
def test_a_number_that_no_field_can_show_is_told_on_loading(workspace, key, value):
    text = f"study: s\ninstrument: attitudes_20\nrespondents: [A]\n{key}: {value}"
    at = opened()
    at.file_uploader(key="design_file").upload("d.yaml", text.encode(), "text/yaml").run()
    at.button(key="design_use_file").click().run()
    assert f"The design has {value} as '{key}'" in said(at.error)
    assert not at.exception


NAMES = st.sampled_from(["Ford", "=1", "🙂", "א", "a b"])

SIZES = st.one_of(
    st.integers(0, 99), st.lists(st.integers(0, 99), min_size=1, unique=True).map(tuple)
)
DECIMALS = st.lists(st.floats(0, 1), max_size=3, unique=True).map(tuple)
HISTORIES = st.sampled_from([("none",), ("own",), ("none", "own")])
TOKENS = st.lists(st.integers(1, 9999), max_size=2, unique=True).map(tuple)


def either(levels):
    """Levels of a block, or None for those of the design."""
    return st.none() | levels


BLOCKS = st.builds(
    Block,
    name=st.sampled_from(["", "first", "=1", "🙂 "]),
    respondents=either(st.just((PERSON,))),
    languages=either(st.just(("de",))),
    formats=either(st.just(("likert_5",))),
    forms=either(st.sampled_from([(), ("negation",)])),
    templates=either(st.just(("free", "standard"))),
    label_orders=either(st.just(("inverted",))),
    contexts=either(st.sampled_from([("",), ("t1",), ()])),
    entities=either(st.lists(NAMES, unique=True).map(tuple)),
    pairs=either(st.lists(st.tuples(NAMES, NAMES), unique=True).map(tuple)),
    items=either(st.just(("P1", "P2"))),
    temperatures=either(DECIMALS),
    top_p=either(DECIMALS),
    max_tokens=either(TOKENS),
    items_per_call=either(SIZES),
    histories=either(HISTORIES),
    repetitions=either(st.integers(1, 99)),
)
DESIGNS = st.builds(
    Design,
    study=st.just("study"),
    instrument=st.just("policy_60"),
    respondents=st.just((PERSON,)),
    version=st.none(),
    languages=st.just(("en",)),
    formats=st.lists(st.sampled_from(["likert_5", "agree_disagree"]), unique=True).map(tuple),
    forms=st.lists(st.sampled_from(["original", "negation"]), min_size=1, unique=True).map(tuple),
    templates=st.lists(st.sampled_from(["standard", "free"]), min_size=1, unique=True).map(tuple),
    label_orders=st.lists(
        st.sampled_from(["as_is", "inverted", "random"]), min_size=1, unique=True
    ).map(tuple),
    contexts=st.sampled_from([(), personas(3), (TALK,), (TALK, *personas(1))]),
    entities=st.lists(NAMES, unique=True).map(tuple),
    pairs=st.lists(st.tuples(NAMES, NAMES), unique=True).map(tuple),
    swap_halves=st.booleans(),
    temperatures=st.lists(st.floats(0, 2).map(lambda t: round(t, 3)), max_size=3, unique=True).map(
        tuple
    ),
    repetitions=st.integers(1, 99),
    items_per_call=SIZES,
    item_order=st.sampled_from(["fixed", "shuffled"]),
    seed=st.integers(-(2**31) + 1, 2**31 - 1),
    ask_again=st.integers(0, 9),
    answering=st.sampled_from(["free", "enforced"]),
    first_token=st.booleans(),
    skip_missing=st.booleans(),
    notes=st.text("ab\n🙂", max_size=5),
    items=st.lists(st.sampled_from(["P1", "P2"]), unique=True).map(tuple),
    top_p=DECIMALS,
    max_tokens=TOKENS,
    histories=HISTORIES,
    second_phase=st.sampled_from(["", "opposite_view"]),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is only read
@given(design=DESIGNS)
def test_a_design_survives_the_form_and_its_file(workspace, design):
    fields, told = forms.from_design(workspace, design)
    assert json.loads(json.dumps(fields)) == fields  # as a draft keeps it
    assert forms.to_design(workspace, fields) == design
    assert studies.design_of_yaml(studies.design_yaml(design)) == design
    assert told == ()


def test_an_empty_form_takes_a_prepared_design_at_once(workspace):
    freeze(workspace, simulated(), n_personas=3)
    at = opened(prepare="study", criterion="option order")
    assert not at.exception
    assert at.text_input(key="design:study").value == "study_random"
    assert at.multiselect(key="design:label_orders").value == ["random"]
    assert "now hold the design prepared for option order" in said(at.info)
    assert "prepare" not in at.query_params
    assert len(studies.list_studies(workspace)) == 1  # nothing is frozen


def test_a_prepared_design_replaces_a_design_in_work_only_when_told_to(workspace):
    freeze(workspace, simulated(), n_personas=3)
    planned(opened(), "mine")
    at = opened(prepare="study", criterion="option order")
    assert "Prepared for option order of study." in said(at.markdown)
    assert at.text_input(key="design:study").value == "mine"
    kept = at.button(key="design_keep").click().run()
    assert kept.text_input(key="design:study").value == "mine"
    assert "prepare" not in kept.query_params
    at = opened(prepare="study", criterion="option order")
    at = at.button(key="design_use_prepared").click().run()
    assert at.text_input(key="design:study").value == "study_random"
    at = at.button(key="design_back").click().run()
    assert at.text_input(key="design:study").value == "mine"


def test_an_address_that_asks_for_no_such_design_leaves_the_page_standing(workspace):
    for parameters in (
        {"prepare": "study", "criterion": "beauty"},
        {"prepare": "none", "criterion": "factorial"},
    ):
        at = opened(**parameters)
        assert not at.exception
        assert at.text_input(key="design:study").value == ""

"""The page Design on a real database, from choosing to a frozen plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from core.domain.study import Context, Design
from core.errors import DesignError
from core.workflow import banks, collection, design_drafts, drafts, respondents, studies
from pages.shared.data_files import file_stem
from tests.workflow.studies import freeze, personas, service, simulated

APP = str(Path(__file__).parents[2] / "app.py")
PERSON = "Simulated person"


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=30).switch_page("pages/design.py")
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def said(elements):
    return " ".join(element.value for element in elements).replace("\\", "")


def html(at):
    return " ".join(element.proto.body for element in at.get("html"))


def planned(at, study="pilot", *people):
    at.text_input(key="design:study").set_value(study).run()
    return at.multiselect(key="design:respondents").set_value(list(people or (PERSON,))).run()


def test_opens_empty_and_says_what_is_still_to_do(workspace):
    at = opened()
    assert not at.exception
    assert not at.error
    assert "The study has no name" in said(at.info)
    assert "No respondent is chosen" in said(at.info)
    assert "No study is frozen yet" in said(at.info)
    assert at.button(key="design_freeze").disabled


def test_without_a_bank_it_points_to_the_banks(workspace):
    for bank in banks.summaries(workspace):
        banks.set_archived(workspace, bank.code, archived=True)
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
    assert at.dataframe[-1].value["Cost"].tolist() == ["free"]
    assert "30 administrations" in said(at.caption)


def test_cost_is_unknown_where_prices_are(workspace):
    respondents.save(workspace, service("http://127.0.0.1:9/v1", "Unpriced"))
    respondents.save(
        workspace, service("http://127.0.0.1:9/v1", "Priced", price_in=1.0, price_out=2.0)
    )
    at = planned(opened(), "pilot", "Unpriced", "Priced")
    cost = at.dataframe[0].value.set_index("Respondent")["Cost"]
    assert cost["Unpriced"] == "unknown"
    assert cost["Priced"].startswith("US$0.")
    assert "unknown, because prices are not entered for Unpriced" in said(at.caption)


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
    bank = banks.load(workspace, "attitudes_20").instrument
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
    state = banks.create(workspace, small_bank.code)
    bank = replace(small_bank, items=items)
    banks.save(workspace, bank, expected_revision=state.revision)
    entities = ("Ford", "Fiat", "Opel")
    design = Design("s", "small", (PERSON,), ("de", "en"), contexts=contexts, entities=entities)
    size = studies.size(workspace, design)
    shown = [studies.example(workspace, design, number).trial for number in range(size.prompts)]
    record = studies.freeze(workspace, design)
    lines = studies.plan_csv(workspace, record.code).decode().splitlines()[2:]
    cells = [line.split(",") for line in lines]
    planned_order = [(c[3], c[4], c[5], c[-1]) for c in cells]
    assert [(t.language, t.context, t.entity, t.item.code) for t in shown] == planned_order
    assert len({c[1] for c in cells}) == size.trials == size.prompts


def test_cautions_name_copies_english_only_and_simulation(workspace):
    local = next(r.label for r in respondents.offered(workspace) if r.kind == "local")
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
    assert "pilot is frozen: 20 calls" in said(at.success)
    assert record.plan_hash in said(at.text)
    assert any("Go to Collect" in link.proto.label for link in at.get("page_link"))
    assert at.dataframe[-1].value["No reply yet"].tolist() == [20]
    assert at.text_input(key="design:study").value == ""
    assert collection.progress(workspace, "pilot").state == "not_started"
    assert f"# plan {record.plan_hash}" in studies.plan_csv(workspace, "pilot").decode()


def test_a_finished_study_leads_to_its_answers_and_not_to_a_second_start(workspace):
    freeze(workspace, simulated(), study="pilot", n_personas=1)
    links = [link.proto.label for link in opened().get("page_link")]
    assert "Go to Collect to start it" in links
    collection.start(workspace, "pilot")
    collection.wait(workspace, "pilot", every_s=0.02)
    at = opened()
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert links["Read the answers"] == "study=pilot"
    assert "Go to Collect to start it" not in links
    assert at.dataframe[-1].value["Replied"].tolist() == [20]
    assert "Missing" not in at.dataframe[-1].value.columns


def test_files_of_a_study_keep_the_letters_of_its_name():
    assert file_stem("Exam pilot/1") == "Exam_pilot_1"
    assert file_stem("Exam_pilot_1") == "Exam_pilot_1"
    assert file_stem("..") == "study"


@pytest.mark.parametrize(
    ("kind", "words"), [("typed", "No persona is typed yet"), ("set", "No persona set is chosen")]
)
def test_personas_still_to_choose_are_a_hint_beside_the_prompts(workspace, kind, words):
    at = planned(opened())
    at.radio(key="design:personas").set_value(kind).run()
    assert not at.error
    assert words in said(at.info)
    assert "What will be sent" in said(at.subheader)
    assert at.number_input(key="design_example_number").value == 1
    assert at.button(key="design_freeze").disabled
    if kind == "typed":
        at.text_area(key="design:personas_text").set_value("You are kind.").run()
        assert words not in said(at.info)
        assert not at.button(key="design_freeze").disabled


def test_banks_of_one_title_are_told_apart_by_their_codes(workspace):
    banks.create(workspace, "Twin")
    banks.create(workspace, "Twin")
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
    kept = drafts.recall(workspace, design_drafts.DRAFT)
    design = design_drafts.to_design(workspace, kept.value)
    assert design == replace(record.design, study="other")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "not valid YAML"),
        ("study: s\nrespondents: [A]", "has no 'instrument'"),
        ("study: 7\ninstrument: b\nrespondents: [A]", "'study' must be text"),
        ("study: s\ninstrument: b\nrespondents: A", "'respondents' must be a list"),
        ("study: s\ninstrument: b\nrespondents: [A]\nrepetitions: many", "a whole number"),
        ("study: s\ninstrument: b\nrespondents: [A]\ncontexts: [x]", "a code and a text"),
        ("study: s\ninstrument: b\nrespondents: [A]\nsecret: x", "unknown key"),
    ],
)
def test_a_broken_yaml_file_is_told_and_changes_nothing(workspace, text, words):
    at = planned(opened())
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
    assert "do not take part yet" in said(at.info)
    assert not at.error
    data = b"code,text\nx,You are X.\ny,You are Y.\n"
    at.file_uploader(key="design_persona_file").upload("two.csv", data, "text/csv").run()
    assert "2 personas. Nothing is kept" in said(at.caption)
    at.button(key="design_save_set").click().run()
    assert [c.code for c in studies.persona_sets(workspace)["two"]] == ["x", "y"]
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
    assert "stands in line 1 already" in said(at.error)
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
    respondents.save(workspace, simulated("Gone"))
    at = planned(opened(), "pilot", PERSON, "Gone")
    respondents.set_archived(workspace, "Gone", archived=True)
    at.run()
    assert "not on offer now: Gone" in said(at.warning)
    at.button(key="design_drop:respondents").click().run()
    assert not at.error
    assert not at.button(key="design_freeze").disabled


def test_changing_the_bank_keeps_only_its_languages(workspace):
    at = planned(opened())
    at.multiselect(key="design:languages").set_value(["de"]).run()
    banks.create(workspace, "Empty")
    at.run()
    at.selectbox(key="design:instrument").set_value("empty").run()
    assert at.multiselect(key="design:languages").value == ["en"]
    assert "has no items yet" in said(at.info)
    assert not at.exception
    assert not at.error


def test_a_version_can_be_chosen_instead_of_the_working_copy(workspace):
    banks.publish(workspace, "attitudes_20")
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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is only read
@given(
    repetitions=st.integers(1, 99),
    temperatures=st.lists(st.floats(0, 2).map(lambda t: round(t, 3)), max_size=3, unique=True),
    entities=st.lists(st.sampled_from(["Ford", "=1", "🙂", "א"]), unique=True),
    count=st.integers(0, 4),
)
def test_a_design_survives_the_form(workspace, repetitions, temperatures, entities, count):
    design = Design(
        "study", "attitudes_20", (PERSON,), contexts=personas(count), entities=tuple(entities),
        temperatures=tuple(temperatures), repetitions=repetitions,
    )  # fmt: skip
    fields, told = design_drafts.from_design(workspace, design)
    assert design_drafts.to_design(workspace, fields) == design
    assert told == ()

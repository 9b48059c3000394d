"""The page Respondents on a real database, with a real service on this machine."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.characters import readable_value
from core.domain.study import Respondent, SamplingSettings, SimulationSettings
from core.errors import CollectionError, ConflictError, DesignError
from core.workflow import saved_inputs
from core.workflow.respondents import catalog, forms
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.workflow.respondents.test_connection import refusing
from tests.workflow.studies import service, simulated

CANARY = "sk-test-canary-0123456789"
BARE_CANARY = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xR"
NEW = "respondents:new api"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for preset in catalog.SERVICES:
        monkeypatch.delenv(preset.key_variable or "INKBLOT_KEY_NONE", raising=False)


opened = partial(apps.run_page, "respondents")


def said(elements):
    return " ".join(element.value for element in elements).replace("\\", "")


def type_in(at, **fields):
    for field, value in fields.items():
        at.text_input(key=f"{NEW}:{field}").set_value(value).run()
    return at


def new_service(at, base_url, **fields):
    at.selectbox(key=f"{NEW}:service_choice").set_value("Another address").run()
    return type_in(at, base_url=base_url, model="test-model", **fields)


def test_opens_with_the_two_respondents_that_need_no_key(workspace):
    at = opened()
    assert not at.exception
    assert not at.error
    table = at.dataframe[0].value
    assert list(table["Kind"]) == ["Simulated", "Local model"]
    assert set(table["Key"]) == {"no key needed"}
    settings = [part.proto.body for part in at.get("html")][:2]
    for name, words in zip(table["Name"], settings, strict=True):
        assert f">{name}: " in words
    assert "loading 0.7" in settings[0]
    assert "acquiescence SD 0.2" in settings[0]
    assert "Simulated respondents are not models" in said(at.warning)
    assert "English only" in said(at.warning)


def test_says_what_to_do_where_none_is_on_offer(workspace):
    for person in catalog.list_respondents(workspace):
        catalog.set_archived(workspace, person.label, archived=True)
    at = opened()
    assert "There is no respondent" in said(at.info)
    at.button(key="respondents_back:0").click().run()
    assert len(at.dataframe[0].value) == 1
    assert len(catalog.list_respondents(workspace)) == 1


def test_a_preset_fills_in_address_and_key_variable(workspace, monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", CANARY)
    at = opened()
    at.selectbox(key=f"{NEW}:service_choice").set_value("Mistral").run()
    assert at.text_input(key=f"{NEW}:base_url").value == "https://api.mistral.ai/v1"
    assert "key from the environment variable MISTRAL_API_KEY" in said(at.caption)
    at.selectbox(key=f"{NEW}:service_choice").set_value("OpenAI").run()
    assert "key missing (OPENAI_API_KEY)" in said(at.caption)
    at.selectbox(key=f"{NEW}:service_choice").set_value("Ollama").run()
    assert "no key needed" in said(at.caption)


def test_adds_a_service_with_prices_unknown_and_extra_settings(workspace):
    at = new_service(opened(), "http://127.0.0.1:9/v1", label="Mine")
    at.text_area(key=f"{NEW}:extra_text").set_value("reasoning_effort: low\ntop_k: 3").run()
    at.number_input(key=f"{NEW}:price_in").set_value(0.5).run()
    at.button(key="respondents_save").click().run()
    assert not at.error
    kept = catalog.by_label(workspace, "Mine")
    assert kept.sampling.extra_body == {"reasoning_effort": "low", "top_k": 3}
    assert (kept.sampling.price_in, kept.sampling.price_out) == (0.5, None)
    assert "There is no price yet" in said(opened().info)
    priced = replace(kept, label="Priced", sampling=replace(kept.sampling, price_out=2.0))
    catalog.save(workspace, priced)
    assert "1 respondent has own prices in the settings, which count." in said(opened().info)
    assert at.query_params["respondent"] == "Mine"
    assert "Design a study with it" in [link.proto.label for link in at.get("page_link")]
    assert saved_inputs.load(workspace, NEW) is None


def test_adds_a_base_model_with_a_stop_string_and_marks_of_reasoning(workspace):
    at = new_service(opened(), "http://127.0.0.1:9/v1", label="Base")
    at.toggle(key=f"{NEW}:completes_text").set_value(True).run()
    at.text_area(key=f"{NEW}:stop_text").set_value("\\n\nEND").run()
    at.text_area(key=f"{NEW}:reasoning_marks").set_value("[MULL] [/MULL]").run()
    at.button(key="respondents_save").click().run()
    assert "Line 1 of the marks of reasoning is no pair" in said(at.error)
    at.text_area(key=f"{NEW}:reasoning_marks").set_value("[MULL] ... [/MULL]").run()
    at.button(key="respondents_save").click().run()
    assert not at.error
    kept = catalog.by_label(workspace, "Base").sampling
    assert kept.completes_text
    assert kept.extra_body == {"stop": ["\n", "END"]}
    assert kept.reasoning_marks == (("[MULL]", "[/MULL]"),)
    changed = opened(respondent="Base")
    words = said([*changed.caption, *changed.text, *changed.markdown])
    assert "completes text, without chat" in words
    assert "reasoning between [MULL] ... [/MULL]" in words


def test_what_is_typed_is_there_after_a_reload(workspace):
    type_in(opened(), label="Half typed", model="some-model")
    again = opened()
    assert again.text_input(key=f"{NEW}:label").value == "Half typed"
    assert again.text_input(key=f"{NEW}:model").value == "some-model"
    assert "Saved at" in said(again.caption)
    again.button(key="respondents_discard").click().run()
    assert again.text_input(key=f"{NEW}:label").value == ""


def test_a_second_tab_shows_and_tells_what_the_first_changed(workspace):
    one, two = opened(), opened()
    type_in(one, label="From tab one")
    type_in(two, model="from-tab-two")
    assert "changed in another tab" in said(two.warning)
    assert two.text_input(key=f"{NEW}:label").value == "From tab one"
    type_in(one, model="from-tab-one")
    assert "from-tab-two" in said(one.warning)
    assert saved_inputs.load(workspace, NEW).value["model"] == "from-tab-one"


def test_a_typed_key_is_used_and_stored_nowhere(workspace):
    with FaultServer() as server:
        at = new_service(opened(), server.base_url, label="Keyed", key_variable="INKBLOT_KEY_TEST")
        at.button(key="respondents_list").click().run()
        assert "key" in said(at.error)
        at.text_input(key="respondents_key").set_value(server.key).run()
        assert at.text_input(key="respondents_key").value == ""
        assert "in this browser tab" in said(at.success)
        assert "key typed" in said(at.caption)
        at.button(key="respondents_list").click().run()
        at.selectbox(key="respondents_model_choice").set_value("model-a").run()
        assert at.text_input(key=f"{NEW}:model").value == "model-a"
        at.button(key="respondents_save").click().run()
        other = opened(respondent="Keyed")
        assert "key missing" in said(other.caption)
        other.button(key="respondents_test").click().run()
        assert [seen for seen in server.chats if "Authorization" in seen.headers] == []
        at.button(key="respondents_forget_key").click().run()
        assert "key missing" in said(at.caption)
    workspace.database.checkpoint()
    assert CANARY.encode() not in Path(workspace.database.path).read_bytes()
    assert CANARY not in repr(at.session_state)


@pytest.mark.parametrize(
    ("field", "key", "words"),
    [
        ("model", CANARY, "looks like the key"),
        ("base_url", BARE_CANARY, "starts with https"),
        ("key_variable", BARE_CANARY, "name of an environment variable"),
    ],
)
def test_a_key_pasted_into_another_field_is_not_kept(workspace, field, key, words):
    at = type_in(opened(), label="Mine")
    type_in(at, **{field: key})
    assert words in said(at.warning)
    assert key not in repr(saved_inputs.load(workspace, NEW))
    assert at.text_input(key=f"{NEW}:{field}").value != key


def test_a_blank_or_broken_key_is_refused_in_words(workspace):
    at = opened()
    at.text_input(key="respondents_key").set_value("two words").run()
    assert "holds characters that no key has" in said(at.error)
    assert at.text_input(key="respondents_key").value == ""


def test_a_service_without_a_key_lists_models_and_shows_prompt_reply_and_seconds(workspace):
    with FaultServer(key=None) as server:
        at = new_service(opened(), server.base_url, label="Open")
        at.button(key="respondents_list").click().run()
        assert at.selectbox(key="respondents_model_choice").options == ["model-b", "model-a"]
        at.button(key="respondents_test").click().run()
        assert "Service: the reply came after" in said(at.success)
        shown = " ".join(element.proto.body for element in at.get("html"))
        assert "I like to go for a walk." in shown
        at.number_input(key=f"{NEW}:max_tokens").set_value(9).run()
        assert not at.success  # the reply was to other settings


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step(status=401), "key"),
        (Step(status=404), "does not know this model"),
        (Step(status=500), "500"),
        (Step(cut=True), "cut"),
    ],
)
def test_the_test_says_what_is_wrong(workspace, step, words):
    with FaultServer(script=[step], key=None) as server:
        at = new_service(opened(), server.base_url, label="Faulty")
        at.button(key="respondents_test").click().run()
    assert words in said(at.error).lower()
    assert "fault in Inkblot" not in said(at.error)


def test_an_unreachable_address_is_told(workspace):
    at = new_service(opened(), "http://127.0.0.1:9/v1", label="Nobody")
    at.button(key="respondents_test").click().run()
    assert "No connection to 127.0.0.1" in said(at.error)


def test_a_simulated_respondent_is_added_tried_and_labelled(workspace):
    at = opened()
    at.radio(key="respondents:new kind:kind").set_value("simulated").run()
    at.text_input(key="respondents:new simulated:label").set_value("Yes-sayers").run()
    at.number_input(key="respondents:new simulated:simulation_acquiescence").set_value(1.5).run()
    at.button(key="respondents_save").click().run()
    kept = catalog.by_label(workspace, "Yes-sayers")
    assert kept.simulation == SimulationSettings(acquiescence=1.5)
    at.button(key="respondents_test").click().run()
    assert "Simulated: the reply came" in said(at.success)


def test_shares_that_do_not_fit_together_are_refused(workspace):
    at = opened()
    at.radio(key="respondents:new kind:kind").set_value("simulated").run()
    for field in ("noise", "position_bias"):
        at.number_input(key=f"respondents:new simulated:simulation_{field}").set_value(0.6).run()
    at.button(key="respondents_save").click().run()
    assert "add up to more than all" in said(at.error)


def test_a_local_model_needs_a_model_file(workspace, tmp_path):
    at = opened()
    at.radio(key="respondents:new kind:kind").set_value("local").run()
    at.text_input(key="respondents:new local:label").set_value("Better").run()
    path = tmp_path / "better.gguf"
    at.text_input(key="respondents:new local:base_url").set_value(str(path)).run()
    at.button(key="respondents_save").click().run()
    assert "There is no file" in said(at.error)
    path.write_bytes(b"GGUF")
    at.radio(key="respondents:new local:at_once").set_value(4).run()
    at.button(key="respondents_save").click().run()
    kept = catalog.by_label(workspace, "Better")
    assert (kept.model, kept.sampling.at_once, kept.sampling.only_options) == ("better", 4, True)


def test_a_taken_name_is_refused(workspace):
    catalog.save(workspace, simulated("Taken"))
    catalog.set_archived(workspace, "Taken", archived=True)
    at = new_service(opened(), "http://127.0.0.1:9/v1", label="Taken")
    at.button(key="respondents_save").click().run()
    assert "called 'Taken' already" in said(at.error)


def test_a_respondent_is_changed_put_away_and_brought_back(workspace):
    catalog.save(workspace, service("http://127.0.0.1:9/v1", "Mine"))
    at = opened(respondent="Mine")
    at.number_input(key="respondents:Mine:temperature").set_value(0.7).run()
    at.button(key="respondents_save").click().run()
    assert catalog.by_label(workspace, "Mine").sampling.temperature == 0.7
    assert any(">Mine: temperature 0.7," in part.proto.body for part in at.get("html"))
    at.button(key="respondents_put_away").click().run()
    assert "archived" in said(at.success)
    assert [r.label for r in catalog.list_archived(workspace)] == ["Mine"]


def test_a_change_made_in_another_tab_meanwhile_is_not_overwritten(workspace):
    person = service("http://127.0.0.1:9/v1", "Mine")
    catalog.save(workspace, person)
    at = opened(respondent="Mine")
    at.number_input(key="respondents:Mine:temperature").set_value(0.7).run()
    newer = service("http://127.0.0.1:9/v1", "Mine", temperature=1.0)
    catalog.save(workspace, newer)
    at.button(key="respondents_save").click().run()
    assert "changed in another tab" in said(at.error)
    assert catalog.by_label(workspace, "Mine") == newer
    with pytest.raises(ConflictError):
        catalog.change(workspace, person.respondent_id, person)


def test_hostile_names_are_shown_to_the_letter(workspace):
    label = "![](http://x) =1+1 <img onerror=1> :red[x]"
    catalog.save(workspace, simulated(label))
    at = opened(respondent=label)
    assert at.dataframe[0].value["Name"].tolist().count(label) == 1
    at.button(key="respondents_put_away").click().run()
    assert "![](" not in at.success[0].value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1", "line"),
        ("just words", "name: value"),
        ("model: other", "'model'"),
        ("prompt: other", "'prompt'"),
        ("api_key: abc", "'api_key', which holds a key"),
        (f"user: {CANARY}", "hold a key"),
        ("day: 2026-01-01", "quotation marks"),
        ("ratio: .nan", "quotation marks"),
        ("a: &x [1, 1]\nb: *x", "repeated with '*x'"),
        ("a: 1\na: 2", "is there twice"),
        ("a: " + "[" * 5000, "nested"),
        ("a: " + "9" * 9000, "too long"),
        ("a: " + "x" * 20_000, "at most 20,000"),
    ],
)
def test_additional_settings_that_cannot_be_sent_are_told(text, words):
    with pytest.raises(CollectionError) as raised:
        forms.parse_extra(text)
    assert words in str(raised.value)
    assert CANARY not in str(raised.value)


def test_the_page_tells_broken_additional_settings(workspace):
    at = new_service(opened(), "http://127.0.0.1:9/v1", label="Mine")
    at.text_area(key=f"{NEW}:extra_text").set_value("a: [1").run()
    at.button(key="respondents_save").click().run()
    assert "cannot be read" in said(at.error)
    with pytest.raises(DesignError):
        catalog.by_label(workspace, "Mine")


@given(
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(0, 2**31),
    prompt=st.text(st.characters(codec="utf-8"), max_size=20),
    extra=st.dictionaries(
        st.sampled_from(["top_k", "effort"]), st.integers() | st.text(max_size=5)
    ),
    loading=st.floats(0, 1),
)
def test_a_respondent_survives_the_form(temperature, seed, prompt, extra, loading):
    sampling = SamplingSettings(
        temperature=temperature, seed=seed, system_prompt=prompt, extra_body=extra
    )
    person = Respondent("A", "api", "m", "https://api.example.org/v1", "INKBLOT_KEY_A", sampling)
    fields = forms.fields_of(person)
    # a character that no file holds is typed as its escape, as everywhere
    assert readable_value(forms.to_respondent("api", fields)) == readable_value(person)
    truth = Respondent("B", "simulated", "m", simulation=SimulationSettings(loading=loading))
    fields = forms.fields_of(truth)
    assert forms.to_respondent("simulated", fields) == truth


def test_a_price_is_entered_with_its_day_shown_and_forgotten(workspace):
    from core.workflow.respondents import prices

    at = opened()
    at.text_input(key="price_model").set_value("m-1 ![](http://x)")
    at.number_input(key="price_in").set_value(2.5)
    at.number_input(key="price_out").set_value(10.0)
    next(b for b in at.button if b.label == "Save the price").click()
    assert not at.run().exception
    (price,) = prices.list_prices(workspace)
    assert (price.model, price.price_in, price.price_out) == ("m-1 ![](http://x)", 2.5, 10.0)
    assert price.as_of == prices.today()
    shown = next(f.value for f in at.dataframe if "As of" in f.value.columns)
    assert shown["Model"].tolist() == ["m-1 ![](http://x)"]
    assert not at.button(key="price_forget").click().run().exception
    assert prices.list_prices(workspace) == ()


def test_a_price_without_a_model_is_refused_in_words(workspace):
    at = opened()
    next(b for b in at.button if b.label == "Save the price").click()
    assert not at.run().exception
    assert any("names no model" in error.value for error in at.error)


def test_the_test_shows_which_settings_are_taken_and_leaves_out_the_others(workspace):
    with FaultServer(refusing("temperature"), key=None) as server:
        at = new_service(opened(), server.base_url, label="Thinker")
        assert at.number_input(key=f"{NEW}:temperature").value is None
        at.number_input(key=f"{NEW}:temperature").set_value(0.5).run()
        at.button(key="respondents_test").click().run()
        assert "rejects a call with these settings" in said(at.error)
        assert "does not accept these settings: temperature." in said(at.warning)
        tables = [shown.value for shown in at.dataframe if "Setting" in shown.value.columns]
        table = tables[0].set_index("Setting")
        assert table.loc["temperature", ["Set here", "Accepted"]].tolist() == ["yes", "no"]
        assert table.loc["seed", ["Set here", "Accepted"]].tolist() == ["no", "yes"]
        at.button(key="respondents_leave_out").click().run()
        assert at.number_input(key=f"{NEW}:temperature").value is None
        at.button(key="respondents_test").click().run()
        assert "Service: the reply came after" in said(at.success)
        assert "respondents_leave_out" not in [button.key for button in at.button]
        at.button(key="respondents_save").click().run()
    assert catalog.by_label(workspace, "Thinker").sampling.temperature is None


def test_the_length_of_replies_is_left_to_a_new_service(workspace):
    at = type_in(opened(), label="Mine", model="m", base_url="https://api.example.org/v1")
    at.button(key="respondents_save").click().run()
    assert catalog.by_label(workspace, "Mine").sampling.max_tokens is None


def test_an_old_price_is_marked_and_prices_and_respondents_go_out_as_files(workspace):
    from datetime import timedelta

    from core.workflow.respondents import prices
    from core.workflow.respondents.prices import Price

    old = prices.today() - timedelta(days=91)
    prices.save_prices(workspace, [Price("m-1", 1.0, 2.0, old), Price("m-2", 1, 2, prices.today())])
    at = opened()
    shown = next(f.value for f in at.dataframe if "Age" in f.value.columns)
    assert shown["Age"].tolist() == ["91 days, look it up again", "0 days"]
    assert "Older than 90 days: m-1." in said(at.warning)
    labels = [button.proto.label for button in at.get("download_button")]
    assert {"Download the prices (CSV)", "Download the respondents (YAML)"} <= set(labels)
    assert at.button(key="price_import").disabled
    assert at.button(key="respondents_import").disabled


def test_prices_and_respondents_are_read_from_files_and_faults_change_nothing(workspace):
    from core.workflow.respondents import prices

    at = opened()
    table = b"model,price_in,price_out,as_of\nm-1,1,2,2026-11-01\n"
    at.file_uploader(key="price_file").set_value(("p.csv", table, "text/csv")).run()
    at.button(key="price_import").click().run()
    assert "1 price saved." in said(at.success)
    at.file_uploader(key="price_file").set_value(("p.csv", table + b"m-2,x,2,2026-11-01\n", ""))
    at.run().button(key="price_import").click().run()
    assert "line 3: price_in is" in said(at.error)
    assert [price.model for price in prices.list_prices(workspace)] == ["m-1"]
    people = b"respondents:\n- {label: Filed, address: 'https://a.example.org/v1', model: m,"
    people += b" settings: {tokens_per_minute: 9000, stream: true}}\n"
    at.file_uploader(key="respondents_file").set_value(("r.yaml", people, "")).run()
    at.button(key="respondents_import").click().run()
    assert "1 new, 0 changed, 0 as before" in said(at.success)
    person = catalog.by_label(workspace, "Filed")
    assert (person.sampling.tokens_per_minute, person.sampling.stream) == (9000, True)
    broken = people + b"- {label: Other, model: m}\n"
    at.file_uploader(key="respondents_file").set_value(("r.yaml", broken, "")).run()
    at.button(key="respondents_import").click().run()
    assert "r.yaml, line 3" in said(at.error)
    assert not at.exception

"""Which own level stands for a published one."""

from __future__ import annotations

import pytest

from core.workflow.replications.levels import match_levels

CSI = ("GPT-4o", "GPT-4 (1106)", "GPT-4 (0125)", "GPT-3.5 Turbo", "Qwen2-72B", "Llama3.1-70B")


@pytest.mark.parametrize(
    ("own", "published"),
    [
        ("gpt-4o", "GPT-4o"),
        ("openai/gpt-4o-2024-08-06", "GPT-4o"),
        ("gpt-4-0125-preview", "GPT-4 (0125)"),
        ("gpt-3.5-turbo-0125", "GPT-3.5 Turbo"),
        ("meta-llama/Llama-3.1-70B-Instruct", "Llama3.1-70B"),
        ("Qwen/Qwen2-72B-Instruct", "Qwen2-72B"),
    ],
)
def test_a_model_is_found_by_the_words_and_numbers_of_its_name(own, published):
    assert match_levels("model", CSI, ["gpt-4o-mini", own]) == {published: own}


def test_another_model_of_the_family_is_not_taken_for_a_published_one():
    others = ["gpt-4o-mini", "Qwen2.5-72B-Instruct", "Llama-3.1-8B-Instruct", "gpt-4"]
    # None matches, so the first stands beside every printed model.
    assert match_levels("model", CSI, others) == dict.fromkeys(CSI, "gpt-4o-mini")


def test_names_that_match_leave_the_others_without_a_counterpart():
    found = match_levels("brand", ("Apple", "Samsung"), ["samsung", "Nokia"])
    assert found == {"Samsung": "samsung"}
    assert match_levels("brand", ("Apple",), ["Nokia"]) == {}
    assert match_levels("brand", ("Apple",), []) == {}


def test_contexts_and_subscales_have_names_of_their_own_here():
    found = match_levels("context set", ("Chatbot Arena", "Persona Hub"), ["personas"])
    assert found == {"Persona Hub": "personas"}
    # Answers without known contexts stand beside both.
    found = match_levels("context set", ("Chatbot Arena", "Persona Hub"), [""])
    assert found == {"Chatbot Arena": "", "Persona Hub": ""}
    assert match_levels("subscale", ("hostile",), ["suspicion", "hostile"]) == {
        "hostile": "suspicion"
    }


def test_items_go_by_their_number_where_each_has_its_own():
    assert match_levels("item", ("1", "13"), ["asi01", "asi13"]) == {"1": "asi01", "13": "asi13"}
    assert match_levels("item", ("1",), ["suspicion_01", "protectiveness_01"]) == {}
    assert match_levels("item", ("1",), ["first", "second"]) == {}


def test_temperatures_pairs_of_labels_and_sizes_of_calls_are_read_from_levels():
    own = ["gpt-4o T=0.5", "gpt-4o T=1", "gpt-4o"]
    assert match_levels("temperature", ("0.5", "1.0", "0.7"), own) == {
        "0.5": "gpt-4o T=0.5",
        "1.0": "gpt-4o T=1",
    }
    assert match_levels("model", CSI, ["gpt-4o T=0.5"]) == {"GPT-4o": "gpt-4o T=0.5"}
    labels = match_levels("pair of labels", ("comedy/tragedy", "good/bad"), ["good_bad"])
    assert labels == {"good/bad": "good_bad"}
    assert match_levels("words per call", ("30",), [""]) == {"30": ""}
    assert match_levels("words per call", ("10", "30"), ["30", "7"]) == {"30": "30"}
    assert match_levels("words per call", ("10", "30"), ["1"]) == {}

"""Which names of settings hold keys."""

from __future__ import annotations

import pytest

from core.errors import CollectionError
from core.workflow.respondents.catalog import holds_key
from core.workflow.respondents.forms import parse_extra

KEYS = (
    "api_key", "apikey", "apiKey", "API-KEY", "x-api-key", "X_Api_Key", "x.goog.api.key", "key",
    "OPENAI_API_KEY", "myapikey2", "Ocp-Apim-Subscription-Key", "authorization", "Authorization",
    "proxy-authorization", "auth", "x-auth-token", "bearer", "bearer_token", "token",
    "access_token", "hf_token", "secret", "client_secret", "clientSecret", "password", "passwd",
    "pwd", "headers", "extra_headers", "extraHeaders", "default-headers", "cookie", "Cookies",
    "credentials", "\uff41\uff50\uff49_key",
)  # fmt: skip
NO_KEYS = (
    "max_tokens", "max_completion_tokens", "maxTokens", "top_k", "tokens", "stop", "stop_token_ids",
    "skip_special_tokens", "prompt_cache_key", "reasoning_effort", "reasoning", "provider", "order",
    "keyword", "author", "monkey_patch", "tokenizer", "return_token_ids", "logit_bias", "user",
    "metadata", "seed", "response_format", "chat_template_kwargs", "eos_token", "service_tier",
)  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_names_of_keys_are_known_however_they_are_spelt(name):
    assert holds_key(name)


@pytest.mark.parametrize("name", NO_KEYS)
def test_settings_of_models_are_no_names_of_keys(name):
    assert not holds_key(name)


@pytest.mark.parametrize(
    "text",
    [
        "x-api-key: abc",
        "headers: {x: abc}",
        "provider: {api_key: abc}",
        "a:\n- b: 1\n- - c: {Authorization: abc}",
    ],
)
def test_a_name_of_a_key_is_refused_at_any_depth_and_the_place_of_keys_is_told(text):
    with pytest.raises(CollectionError) as raised:
        parse_extra(text)
    assert "which holds a key" in raised.value.problem
    assert "field for the key" in raised.value.remedy
    assert "environment variable" in raised.value.remedy
    assert "abc" not in str(raised.value)


def test_settings_without_keys_are_taken_at_any_depth():
    text = "provider: {order: [a, b], max_tokens: 3}\nreasoning_effort: low"
    assert parse_extra(text) == {
        "provider": {"order": ["a", "b"], "max_tokens": 3},
        "reasoning_effort": "low",
    }

"""Which settings a service takes, asked of a real HTTP service that refuses some."""

from __future__ import annotations

import pytest

from core.domain.study import SamplingSettings
from core.errors import CollectionError
from core.workflow.respondents import catalog, service_settings
from core.workflow.respondents.service_settings import PARAMETERS
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import service


def refusing(*names, always=()):
    """A service that rejects the settings of these names, as newer models of OpenAI do."""

    def step(_number, body):
        for name in (*names, *always):
            if name in body or name in always:
                words = f"Unsupported parameter: '{name}' is not supported with this model."
                error = {"message": words, "type": "invalid_request_error", "param": name}
                return Step(status=400, body={"error": error})
        return Step()

    return step


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_setting_that_a_service_refuses_is_found_and_no_other(workspace, name):
    with FaultServer(refusing(name), key=None) as server:
        found = catalog.test(workspace, service(server.base_url, temperature=None))
        bodies = [seen.body for seen in server.chats]
    assert found.refused == (name,)
    assert [check.accepted for check in found.parameters].count(True) == len(PARAMETERS) - 1
    said = next(check.message for check in found.parameters if check.name == name)
    assert "is not supported with this model" in said
    assert len(bodies) == 2 + len(PARAMETERS)  # as it is set, bare, and one for each setting
    assert not set(bodies[1]) & set(PARAMETERS)


def test_a_request_that_is_rejected_as_it_is_set_still_tells_which_settings_are_taken(workspace):
    with FaultServer(refusing("temperature", "max_tokens"), key=None) as server:
        found = catalog.test(workspace, service(server.base_url, temperature=0, max_tokens=9))
    assert "temperature" in found.rejected
    assert found.reply == ""
    assert found.refused == ("temperature", "max_tokens")


def test_a_service_that_rejects_everything_is_an_error_and_not_a_list_of_settings(workspace):
    with (
        FaultServer(refusing(always=("model",)), key=None) as server,
        pytest.raises(CollectionError, match="did not accept the request"),
    ):
        catalog.test(workspace, service(server.base_url))


def test_the_values_of_the_respondent_are_the_ones_tried(workspace):
    with FaultServer(key=None) as server:
        catalog.test(workspace, service(server.base_url, temperature=0.3, max_tokens=7, seed=5))
        bodies = [seen.body for seen in server.chats][2:]
    sent = [{name: body[name] for name in PARAMETERS if name in body} for body in bodies]
    for name, value in (
        ("temperature", 0.3),
        ("top_p", 0.9),
        ("max_tokens", 7),
        ("max_completion_tokens", 7),
        ("seed", 5),
        ("logprobs", True),
    ):
        assert {name: value} in sent
    assert sum("response_format" in body for body in sent) == 1


FULL = SamplingSettings(
    temperature=0.5, top_p=0.9, max_tokens=64, seed=1, extra_body={"reasoning_effort": "low"}
)


def test_settings_in_use_are_those_that_would_be_sent():
    assert service_settings.settings_in_use(FULL) == ("temperature", "top_p", "max_tokens", "seed")
    assert service_settings.settings_in_use(SamplingSettings(temperature=None)) == ()
    extra = SamplingSettings(temperature=None, extra_body={"max_completion_tokens": 9})
    assert service_settings.settings_in_use(extra) == ("max_completion_tokens",)


@pytest.mark.parametrize("name", ["temperature", "top_p", "max_tokens", "seed"])
def test_a_setting_left_out_is_the_only_thing_that_changes(name):
    left = service_settings.without_setting(FULL, name)
    assert getattr(left, name) is None
    others = {"temperature", "top_p", "max_tokens", "seed", "extra_body"} - {name}
    assert all(getattr(left, other) == getattr(FULL, other) for other in others)


def test_the_limit_goes_out_under_its_other_name():
    found = service_settings.with_completion_limit(FULL)
    assert found.max_tokens is None
    assert found.extra_body == {"reasoning_effort": "low", "max_completion_tokens": 64}
    with pytest.raises(CollectionError, match="No longest reply"):
        service_settings.with_completion_limit(SamplingSettings())


def test_an_unknown_setting_cannot_be_left_out():
    with pytest.raises(CollectionError, match="no setting 'warmth'"):
        service_settings.without_setting(FULL, "warmth")

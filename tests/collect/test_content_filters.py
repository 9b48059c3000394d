"""A reply that the provider's content filter withheld, in the forms in which services say so."""

from __future__ import annotations

import pytest

from core.collect.client import FailureKind, Reply
from tests.collect.test_openai_client import answer_to
from tests.fault_server import AZURE_FILTER, Step, filtered

# Bodies as services document or as users quote them in reports to the clients' projects.
ERRORS = {
    "azure": (400, AZURE_FILTER),
    "azure behind litellm": (
        400,
        {
            "error": {
                "message": "litellm.ContentPolicyViolationError: AzureException",
                "code": "400",
                "provider_specific_fields": {
                    "innererror": {"code": "ResponsibleAIPolicyViolation"}
                },
            }
        },
    ),
    "openai": (400, {"error": {"message": "no", "code": "content_policy_violation"}}),
    "alibaba": (400, {"error": {"code": "data_inspection_failed", "message": "inappropriate"}}),
    "alibaba, long": (
        400,
        {"error": {"code": "InternalError.Algo.DataInspectionFailed", "message": "inappropriate"}},
    ),
    "deepseek": (
        400,
        {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}},
    ),
    "xai": (
        403,
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
        },
    ),
    "anthropic": (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "Output blocked by content filtering policy",
            },
        },
    ),
    "openai, prompt": (
        400,
        {
            "error": {
                "message": "Invalid prompt: it was flagged as potentially violating our policy.",
                "type": "invalid_request_error",
                "code": "invalid_prompt",
            }
        },
    ),
    "a gateway": (400, {"error": {"message": "Blocked by the guardrail of your workspace."}}),
    "openrouter": (
        403,
        {
            "error": {
                "code": 403,
                "message": "Your input was flagged",
                "metadata": {"reasons": ["violence"], "flagged_input": "..."},
            }
        },
    ),
}


@pytest.mark.parametrize("service", ERRORS)
def test_an_error_of_a_content_filter_is_an_empty_reply_that_says_so(service):
    status, body = ERRORS[service]
    reply = answer_to(Step(status=status, body=body))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish_reason, reply.http_status) == ("", "content_filter", status)
    assert reply.message.startswith(f"The provider's content filter withheld the reply ({status}).")


def test_an_error_of_a_content_filter_may_come_with_status_200():
    reply = answer_to(Step(body={"error": {"message": "blocked", "code": "content_filter"}}))
    assert (reply.text, reply.finish_reason) == ("", "content_filter")
    choice = {"message": {"content": "I th"}, "error": {"code": 403, "type": "content_filter"}}
    part = answer_to(Step(extra={"choices": [choice]}))
    assert (part.text, part.finish_reason) == ("I th", "content_filter")


@pytest.mark.parametrize("said", ["content_filter", "content_filter: SAFETY", "sensitive"])
def test_the_words_for_a_filter_that_ended_a_reply_become_one_word(said):
    choice = {"message": {"content": "I th"}, "finish_reason": said}
    reply = answer_to(Step(extra={"choices": [choice]}))
    assert (reply.text, reply.finish_reason) == ("I th", "content_filter")
    assert answer_to(filtered()).finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "max_tokens is too large", "code": "invalid"}}, "rejected"),
        (400, {"error": {"message": "content_filter is no setting", "code": 400}}, "rejected"),
        (403, {"error": {"message": "no access", "code": "forbidden"}}, "key"),
        (403, {"error": {"message": "Your account was flagged for unusual use."}}, "key"),
        (500, AZURE_FILTER, "server"),
    ],
)
def test_other_errors_stay_failures(status, body, kind):
    assert answer_to(Step(status=status, body=body)).kind == FailureKind(kind)

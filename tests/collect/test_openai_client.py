from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import socket
import traceback
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import pytest
from openai import OpenAI

from core.collect import endpoints, openai_client
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question, Reply, TokenChance
from core.collect.openai_client import OpenAIClient, list_models
from core.domain.instrument import Item, ResponseFormat
from core.domain.study import SamplingSettings
from core.errors import CollectionError
from tests.fault_server import FaultServer, Step, default_text, retry_after, retry_at

KEY = "sk-test-canary-0123456789"
QUESTION = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")


def request(text="The sun is hot.", seed=None, model="m", **sampling):
    messages = ({"role": "user", "content": text},)
    return ChatRequest(model, messages, SamplingSettings(**sampling), QUESTION, seed=seed)


def ask(server, wanted=None, *, key=KEY, timeout_s=5.0, base_url=None):
    """The reply, or the failure, of one call over real HTTP."""

    async def call():
        client = OpenAIClient(base_url or server.base_url, key, at_once=2, timeout_s=timeout_s)
        try:
            return await client.complete(wanted or request())
        except CallFailure as failure:
            return failure
        finally:
            await client.close()

    return asyncio.run(call())


def answer_to(*steps, **kwargs):
    with FaultServer(steps, key=KEY) as server:
        return ask(server, **kwargs)


def test_a_reply_comes_back_verbatim_with_model_and_tokens():
    with FaultServer(key=KEY) as server:
        reply = ask(server)
    text = default_text([{"role": "user", "content": "The sun is hot."}])
    assert reply == Reply(text, "stop", "m-snapshot", tokens_in=4, tokens_out=1)


@pytest.mark.parametrize("text", [" 4\n", "", "٣ — ne\u00adin", "a\ud800b", "\udfff", "\x00 x"])
def test_odd_texts_come_through_unchanged_lone_surrogates_included(text):
    assert answer_to(Step(content=text)).text == text


def test_null_content_is_an_empty_text():
    assert answer_to(Step(content=None)).text == ""


def test_content_in_parts_is_joined_without_the_thinking():
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "4"},
        {"type": "text", "text": "."},
    ]
    assert answer_to(Step(content=parts)).text == "4."


def test_a_refusal_field_is_the_text_and_the_finish_reason():
    choice = {"message": {"content": None, "refusal": "I'd rather not."}, "finish_reason": "stop"}
    reply = answer_to(Step(extra={"choices": [choice]}))
    assert (reply.text, reply.finish_reason) == ("I'd rather not.", "refusal")


def test_missing_usage_stays_unknown():
    reply = answer_to(Step(extra={"usage": None, "model": None}))
    assert (reply.tokens_in, reply.tokens_out, reply.model) == (None, None, "")


def test_only_settings_that_are_given_are_sent():
    with FaultServer(key=KEY) as server:
        ask(server, request(temperature=None, max_tokens=None))
        ask(server, request(temperature=0.5, top_p=0.9, max_tokens=7, seed=3))
    bare, full = (seen.body for seen in server.chats)
    assert set(bare) == {"model", "messages"}
    assert {k: full[k] for k in ("temperature", "top_p", "max_tokens", "seed")} == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "seed": 3,
    }


def test_a_call_arrives_as_the_openai_package_itself_would_send_it():
    """Calls take the address and the headers from the package, and are posted beside it."""
    with FaultServer(key=KEY) as server:
        ask(server, request(temperature=0.5, max_tokens=None))
        package = OpenAI(base_url=server.base_url, api_key=KEY)
        package.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "The sun is hot."}], temperature=0.5
        )
        package.close()
    ours, theirs = server.chats
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for name in ("Host", "Accept", "Content-Type", "Authorization"):
        assert ours.headers[name] == theirs.headers[name]
    agent, version = (seen.headers["User-Agent"].split(" ") for seen in (ours, theirs))
    assert agent == [f"Async{version[0]}", version[1]]
    assert set(ours.headers) - set(theirs.headers) == set()


def test_additional_settings_are_merged_and_can_leave_a_setting_out():
    extra = {"max_tokens": None, "max_completion_tokens": 9, "grammar": "root", "stream": True}
    with FaultServer(key=KEY) as server:
        ask(server, request(extra_body=extra))
    body = server.chats[0].body
    assert body["max_completion_tokens"] == 9
    assert body["grammar"] == "root"
    assert "max_tokens" not in body
    assert "stream" not in body


def test_choices_are_sent_as_a_json_schema_that_admits_nothing_else():
    one = replace(request(), choices=("1", "2"))
    many = replace(one, question=Question(QUESTION.items * 3, QUESTION.response_format, "en"))
    with FaultServer(key=KEY) as server:
        for wanted in (request(), one, many):
            assert isinstance(ask(server, wanted), Reply)
    free, alone, block = (seen.body.get("response_format") for seen in server.chats)
    assert free is None
    assert alone["type"] == block["type"] == "json_schema"
    assert alone["json_schema"]["strict"] is True
    choice = {"type": "string", "enum": ["1", "2"]}
    assert alone["json_schema"]["schema"]["properties"] == {"answer": choice}
    assert block["json_schema"]["schema"]["properties"] == dict.fromkeys("123", choice)


def test_additional_settings_outrank_the_schema():
    own = {"response_format": {"type": "json_object"}}
    with FaultServer(key=KEY) as server:
        ask(server, replace(request(extra_body=own), choices=("1", "2")))
        ask(server, replace(request(extra_body={"response_format": None}), choices=("1", "2")))
    assert server.chats[0].body["response_format"] == {"type": "json_object"}
    assert "response_format" not in server.chats[1].body


def logprobs(*entries):
    """A reply whose service says what could have come first, and second."""
    second = {"token": ".", "logprob": -0.1, "top_logprobs": [{"token": ".", "logprob": -0.1}]}
    first = {"token": "4", "logprob": -0.5, "top_logprobs": list(entries)}
    choice = {"message": {"content": "4."}, "logprobs": {"content": [first, second]}}
    return Step(extra={"choices": [choice]})


def test_the_first_tokens_chances_are_asked_for_and_read():
    entries = [{"token": "4", "logprob": -0.5}, {"token": " 5", "logprob": -1.5}]
    with FaultServer([logprobs(*entries)], key=KEY) as server:
        reply = ask(server, replace(request(), first_token=True))
        ask(server)
    asked, plain = (seen.body for seen in server.chats)
    assert (asked["logprobs"], asked["top_logprobs"]) == (True, 20)
    assert "logprobs" not in plain
    assert "top_logprobs" not in plain
    assert reply.text == "4."
    assert reply.first_token == (TokenChance("4", -0.5), TokenChance(" 5", -1.5))


def test_a_service_that_names_only_the_token_it_chose_gives_that_one():
    assert answer_to(logprobs()).first_token == (TokenChance("4", -0.5),)


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        "many",
        {"content": None},
        {"content": []},
        {"content": ["4"]},
        {"content": [{"token": "4"}]},
        {"content": [{"top_logprobs": [{"token": 4, "logprob": -1}, "x", {"logprob": -1}]}]},
        {"content": [{"top_logprobs": 5}]},
        *(
            {"content": [{"top_logprobs": [{"token": "4", "logprob": odd}]}]}
            for odd in (True, "-1", 800, float("nan"), float("-inf"), -(10**400))
        ),
    ],
)
def test_garbled_chances_leave_the_reply_as_it_is(given):
    reply = answer_to(Step(extra={"choices": [{"message": {"content": "4"}, "logprobs": given}]}))
    assert (reply.text, reply.first_token) == ("4", ())


def test_a_setting_that_json_cannot_express_is_refused_before_sending():
    with FaultServer(key=KEY) as server:
        failure = ask(server, request(extra_body={"since": datetime(2024, 1, 1, tzinfo=UTC)}))
    assert failure.kind is FailureKind.REJECTED
    assert not server.requests


def test_texts_with_lone_surrogates_can_be_sent():
    with FaultServer(key=KEY) as server:
        ask(server, request("odd \ud83d text"))
    assert server.chats[0].body["messages"][0]["content"] == "odd \ud83d text"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FailureKind.REJECTED),
        (401, FailureKind.KEY),
        (402, FailureKind.PAYMENT),
        (403, FailureKind.KEY),
        (404, FailureKind.NOT_FOUND),
        (408, FailureKind.SERVER),
        (413, FailureKind.REJECTED),
        (422, FailureKind.REJECTED),
        (429, FailureKind.RATE_LIMIT),
        (500, FailureKind.SERVER),
        (503, FailureKind.SERVER),
        (529, FailureKind.SERVER),
    ],
)
def test_statuses_become_failures_in_plain_words_without_any_retry(status, kind):
    with FaultServer([Step(status=status)], key=KEY) as server:
        failure = ask(server)
    assert (failure.kind, failure.http_status) == (kind, status)
    assert f"({status})." in failure.message
    assert failure.message.endswith(f" It says: scripted {status}")
    assert len(server.requests) == 1


def test_a_wrong_key_is_refused_in_words():
    with FaultServer(key=KEY) as server:
        failure = ask(server, key="sk-wrong-9876543210")
    assert failure.message.startswith("The service refused the key (401).")


def test_an_exhausted_quota_is_a_matter_of_payment_though_sent_as_429():
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    assert answer_to(Step(status=429, body=body)).kind is FailureKind.PAYMENT


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Your credit balance is too low to access the API.", FailureKind.PAYMENT),
        ("Insufficient Balance", FailureKind.PAYMENT),
        ("API key not valid. Please pass a valid API key.", FailureKind.KEY),
        ("Incorrect API key provided", FailureKind.KEY),
        ("The API key has expired: API key expired", FailureKind.KEY),
        ("max_tokens is too large", FailureKind.REJECTED),
        ("temperature is not supported with this model", FailureKind.REJECTED),
    ],
)
def test_payment_and_key_sent_as_400_are_told_by_the_words_of_the_service(words, kind):
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    assert answer_to(Step(status=400, body=body)).kind is kind


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "too long"}},
        {"error": "too long"},
        {"message": "too long"},
        {"detail": "too long"},
        [{"error": {"message": "too\r\n\x1b long"}}],
    ],
)
def test_the_services_message_is_found_in_any_usual_shape(body):
    assert answer_to(Step(status=400, body=body)).message.endswith("It says: too long")


def test_long_messages_are_shortened_and_web_pages_left_out():
    long = answer_to(Step(status=500, body={"error": {"message": "word " * 500}})).message
    assert len(long) < 400
    assert long.endswith("…")
    assert "<" not in answer_to(Step(status=502, body="<html>Bad gateway</html>")).message


def test_retry_after_in_seconds():
    assert answer_to(retry_after(7)).retry_after_s == 7.0


def test_retry_after_in_milliseconds_comes_first():
    step = Step(status=429, headers={"Retry-After": "9", "Retry-After-Ms": "250"})
    assert answer_to(step).retry_after_s == 0.25


def test_retry_after_as_a_date_is_measured_by_the_services_own_clock():
    soon = datetime.now(UTC) + timedelta(seconds=40)
    assert 35 < answer_to(retry_at(soon)).retry_after_s <= 41
    step = Step(
        status=503,
        headers={
            "Date": "Tue, 01 Jan 2030 00:00:00 GMT",
            "Retry-After": "Tue, 01 Jan 2030 00:01:30 GMT",
        },
    )
    assert answer_to(step).retry_after_s == 90.0


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "-3", "Tue, 99 Foo 2030"])
def test_a_retry_after_that_makes_no_sense_is_ignored(value):
    assert answer_to(Step(status=429, headers={"Retry-After": value})).retry_after_s is None


@pytest.mark.parametrize(
    "step",
    [
        Step(body=b'{"choices": [{"mess'),
        Step(body=b"\xff\xfe{"),
        Step(body=b"[" * 100_000),
        Step(body=b""),
        Step(body={"choices": None}),
        Step(extra={"choices": []}),
        Step(content={"surprise": 1}),
        Step(cut=True),
        Step(drop=True),
    ],
    ids=lambda step: str(step.body or step.content or "cut")[:20],
)
def test_what_is_no_reply_is_a_broken_reply(step):
    failure = answer_to(step)
    assert failure.kind is FailureKind.BROKEN_REPLY
    assert failure.__context__ is None


STREAM = 'data: {"choices": [{"delta": {"content": "4"}}]}\n\ndata: [DONE]\n'


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("<!doctype html>\n<p>Hello", "a web page, not with"),
        (b"\xef\xbb\xbf <html>", "a web page, not with"),
        (STREAM, "an event stream, not with"),
        (b"event: message_start\ndata: {}", "an event stream, not with"),
        (b": keep-alive\n\ndata: {}", "an event stream, not with"),
        ("Ollama is running", "a text, not with"),
        ([], "JSON of another kind, not with"),
        ({"type": "message", "content": [{"type": "text", "text": "4"}]}, "JSON of another kind"),
    ],
)
def test_what_no_chat_service_sends_is_told_as_what_it_is_with_its_beginning(body, what):
    failure = answer_to(Step(body=body))
    assert failure.kind is FailureKind.PROTOCOL
    assert failure.message.startswith(f"The address answered with {what}")
    assert "most end in /v1" in failure.message
    sent = body.decode("utf-8-sig") if isinstance(body, bytes) else body
    sent = sent if isinstance(sent, str) else json.dumps(sent)
    assert f"It begins: {' '.join(sent.split())} " in failure.message
    assert failure.__context__ is None


def test_of_what_no_chat_service_sends_the_first_200_characters_are_told_without_the_key():
    page = f"<html>{KEY}" + "é" * 500
    message = answer_to(Step(body=page)).message
    told = message.partition("It begins: ")[2].partition(" Compare")[0]
    assert told == "<html>[key]" + "é" * (199 - len("<html>[key]")) + "…"


def test_a_path_that_is_not_there_is_told_with_what_came_back():
    failure = answer_to(Step(status=404, body="<html>Not Found: /chat/completions</html>"))
    assert failure.kind is FailureKind.NOT_FOUND
    assert "most end in /v1" in failure.message
    assert failure.message.endswith("It begins: <html>Not Found: /chat/completions</html>")


def test_an_error_inside_a_successful_reply_is_that_error():
    body = {"error": {"code": 429, "message": "upstream busy"}}
    failure = answer_to(Step(body=body))
    assert failure.kind is FailureKind.RATE_LIMIT
    assert "upstream busy" in failure.message


def test_an_error_inside_a_choice_keeps_the_part_that_came():
    choice = {"message": {"content": "I th"}, "error": {"message": "gone", "code": 502}}
    failure = answer_to(Step(extra={"choices": [choice]}))
    assert failure.kind is FailureKind.SERVER
    assert failure.partial.text == "I th"


def test_a_reply_that_is_compressed_unasked_is_read(monkeypatch):
    def packed(text):
        return Step(
            body=gzip.compress(json.dumps({"choices": [{"message": {"content": text}}]}).encode()),
            headers={"Content-Encoding": "gzip"},
        )

    assert answer_to(packed(f"4 {KEY}")).text == "4 [key]"
    monkeypatch.setattr(openai_client, "MAX_REPLY_BYTES", 100_000)
    assert "larger" in answer_to(packed("x" * 10_000_000)).message


def test_a_huge_reply_is_cut_off(monkeypatch):
    monkeypatch.setattr(openai_client, "MAX_REPLY_BYTES", 100_000)
    assert answer_to(Step(content="x" * 90_000)).text == "x" * 90_000
    failure = answer_to(Step(content="x" * 200_000))
    assert failure.kind is FailureKind.BROKEN_REPLY
    assert "larger" in failure.message


def test_a_service_that_never_replies_is_a_time_out():
    failure = answer_to(Step(hang=True), timeout_s=0.3)
    assert failure.kind is FailureKind.TIMEOUT
    assert failure.message == "No reply within 0.3 seconds."


def test_nobody_listening_is_unreachable():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failure = ask(None, base_url=f"http://127.0.0.1:{port}/v1")
    assert failure.kind is FailureKind.UNREACHABLE


def test_a_name_nobody_has_is_unreachable(monkeypatch):
    def lookup(*_args, **_kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    too_long = ask(None, base_url=f"https://{'a' * 70}.invalid/v1")
    assert too_long.kind is FailureKind.UNREACHABLE
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    failure = ask(None, base_url="https://nobody.invalid/v1")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "nobody.invalid" in failure.message


def test_https_to_a_plain_port_is_unreachable():
    with FaultServer(key=KEY) as server:
        failure = ask(server, base_url=server.base_url.replace("http:", "https:"))
    assert failure.kind is FailureKind.UNREACHABLE
    assert "https" in failure.message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed_and_name_their_target(status):
    with FaultServer(key=KEY) as target:
        elsewhere = target.base_url.replace("127.0.0.1", "localhost") + "/chat/completions"
        step = Step(status=status, headers={"Location": elsewhere})
        with FaultServer([step], key=KEY) as server:
            failure = ask(server)
    assert failure.kind is FailureKind.REJECTED
    assert "localhost" in failure.message
    assert target.requests == []


def test_a_name_that_leads_to_a_metadata_address_is_refused(monkeypatch):
    def lookup(*_args, **_kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    failure = ask(None, base_url="https://innocent.example/v1")
    assert failure.kind is FailureKind.REJECTED
    assert "innocent.example" in failure.message


class Names:
    """A name service that gives each of its answers once, and then the last one."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, _host, port, *_args, **_kwargs):
        address = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


def rebound(server):
    """The server's address under a name."""
    return server.base_url.replace("127.0.0.1", "models.internal")


def test_a_name_is_called_at_the_address_that_was_checked(monkeypatch):
    with FaultServer(key=KEY) as server:
        monkeypatch.setattr(socket, "getaddrinfo", Names("127.0.0.1"))
        assert ask(server, base_url=rebound(server)).finish_reason == "stop"
        assert server.chats[0].headers["Host"].startswith("models.internal")


def test_a_name_that_changes_its_answer_to_a_forbidden_address_gets_no_key(monkeypatch):
    """The server stands at the address that is forbidden, so that it would see the key."""
    with FaultServer(key=KEY) as server:
        blocked = (ip_network("127.0.0.1/32"),)
        monkeypatch.setattr(endpoints, "_BLOCKED_NETWORKS", blocked)
        monkeypatch.setattr(socket, "getaddrinfo", Names("10.1.2.3", "127.0.0.1"))
        failure = ask(server, base_url=rebound(server))
        monkeypatch.setattr(socket, "getaddrinfo", Names("10.1.2.3", "127.0.0.1"))
        with pytest.raises(CallFailure) as raised:
            asyncio.run(list_models(rebound(server), KEY))
    assert server.requests == []
    for refused in (failure, raised.value):
        assert refused.kind is FailureKind.REJECTED
        assert "models.internal belongs to the inner workings" in refused.message


def test_a_name_that_changes_its_answer_to_the_internet_gets_no_key_without_https(monkeypatch):
    with FaultServer(key=KEY) as server:
        monkeypatch.setattr(socket, "getaddrinfo", Names("10.1.2.3", "93.184.215.14"))
        failure = ask(server, base_url=rebound(server))
    assert failure.kind is FailureKind.REJECTED
    assert "unencrypted" in failure.message


def test_forbidden_addresses_and_keys_are_refused_at_once():
    for base_url, key in [
        ("http://models.example.org/v1", KEY),
        ("ftp://127.0.0.1/v1", KEY),
        ("https://example.org/v1", "sk-with\nbreak"),
    ]:
        with pytest.raises(CollectionError):
            OpenAIClient(base_url, key, at_once=1, timeout_s=1)


def test_no_header_from_the_environment_reaches_the_service(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-env-2")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-env-3")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-env-4")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-env-5\nX-Mine: env-6")
    with FaultServer(key=None) as server:
        assert isinstance(ask(server, key=None), Reply)
        assert isinstance(ask(server), Reply)
    without, with_key = (seen.headers for seen in server.chats)
    assert "env-" not in str(without) + str(with_key)
    assert "Authorization" not in without
    assert with_key["Authorization"] == f"Bearer {KEY}"


def test_a_service_gets_no_cookie_back_by_which_it_could_connect_calls():
    async def calls(address):
        client = OpenAIClient(address, KEY, at_once=1, timeout_s=5)
        try:
            return [await client.complete(request()) for _ in range(2)]
        finally:
            await client.close()

    with FaultServer([Step(headers={"Set-Cookie": "track=abc; Path=/"})] * 2, key=KEY) as server:
        asyncio.run(calls(server.base_url.replace("127.0.0.1", "localhost")))
    assert len(server.chats) == 2
    assert not any("Cookie" in seen.headers for seen in server.chats)


def test_a_proxy_never_sees_calls_to_this_computer(monkeypatch):
    with FaultServer(key=None) as proxy, FaultServer(key=KEY) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        assert isinstance(ask(server), Reply)
    assert (len(server.chats), proxy.total) == (1, 0)


def test_replies_through_a_proxy_are_free_of_keys_as_well(monkeypatch):
    """No key goes over plain http to the internet; what a proxy says may hold one all the same."""
    with FaultServer([Step(content=f"You sent {KEY}")], key=None) as proxy:
        named = proxy.base_url.removesuffix("/v1").replace("//", "//me:word%40@")
        monkeypatch.setenv("HTTP_PROXY", named)

        async def call():
            client = OpenAIClient(
                "http://models.invalid/v1", None, at_once=1, timeout_s=5, used_keys=lambda: {KEY}
            )
            try:
                return await client.complete(request())
            finally:
                await client.close()

        assert asyncio.run(call()).text == "You sent [key]"
        sent = proxy.chats[0].headers
        assert sent["Host"] == "models.invalid"
        assert base64.b64decode(sent["Proxy-Authorization"].split()[1]) == b"me:word@"


def test_the_key_is_in_no_message_log_or_repr_even_if_the_service_repeats_it(caplog):
    caplog.set_level(logging.DEBUG)
    said = {"error": {"message": "x" * 290 + KEY, "code": KEY}}
    steps = [
        Step(status=400, body=said),
        Step(status=401, body=KEY.encode()),
        Step(status=307, headers={"Location": f"https://{KEY}.example/"}),
        Step(body=said),
        Step(cut=True),
        Step(body=f"<p>{KEY}".encode()),
        Step(headers={"X-Echo": KEY, KEY: "x", "Set-Cookie": f"a={KEY}"}, reason=f"OK {KEY}"),
        Step(content=f"You sent {KEY}"),
    ]
    with FaultServer(steps, key=KEY) as server:
        outcomes = [ask(server) for _ in steps]
    shown = [repr(OpenAIClient("https://example.org/v1", KEY, at_once=1, timeout_s=1))]
    for outcome in outcomes:
        shown += [repr(outcome), str(outcome)]
        if isinstance(outcome, CallFailure):
            shown += traceback.format_exception(outcome)
    shown += [record.getMessage() + str(record.args) for record in caplog.records]
    assert KEY[:12] not in "\n".join(shown)
    assert outcomes[-1].text == "You sent [key]"
    assert caplog.records


def test_models_are_listed():
    with FaultServer(key=KEY, models=("b", "a")) as server:
        assert asyncio.run(list_models(server.base_url, KEY)) == ("b", "a")
        with pytest.raises(CallFailure) as caught:
            asyncio.run(list_models(server.base_url, None))
    assert caught.value.kind is FailureKind.KEY


def test_a_service_without_a_list_of_models_says_so():
    with (
        FaultServer(key=KEY, models_step=Step(body={"data": "many"})) as server,
        pytest.raises(CallFailure, match="no list of models"),
    ):
        asyncio.run(list_models(server.base_url, KEY))


def test_one_client_serves_many_calls_at_once_over_kept_connections():
    async def calls(server):
        client = OpenAIClient(server.base_url, KEY, at_once=4, timeout_s=5)
        try:
            return await asyncio.gather(*(client.complete(request(f"s{i}")) for i in range(40)))
        finally:
            await client.close()

    with FaultServer(key=KEY, latency_s=0.005) as server:
        replies = asyncio.run(calls(server))
    expected = [default_text([{"role": "user", "content": f"s{i}"}]) for i in range(40)]
    assert [reply.text for reply in replies] == expected
    assert server.max_in_flight <= 4

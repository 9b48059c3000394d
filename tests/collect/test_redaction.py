"""Keys in what services send: whole, escaped, and split over a list of tokens."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collect.redaction import clean_body, clean_text
from tests.cpu_time import least_cpu_seconds

KEY = "sk-test-canary-0123456789"
PARTS = ("Bearer ", "sk", "-test-", "canary", "-0123", "456789", ".")


def cleaned(value, keys=(KEY,)):
    """The JSON value that remains, and the text it was sent as."""
    content = clean_body(json.dumps(value).encode(), keys)
    return json.loads(content), content.decode()


def test_a_body_without_a_key_stays_the_same_to_the_byte():
    content = '{ "b": "caf\u00e9 \\u00e9 \\ud800",  "a": [1.50, 1e3, "sk-test"]}'.encode()
    assert clean_body(content, [KEY]) is content
    assert clean_body(KEY.encode(), []) == KEY.encode()


@pytest.mark.parametrize("place", ["content", "refusal", "reasoning_content", "name"])
def test_a_key_is_replaced_wherever_it_stands_and_the_rest_stays(place):
    value = {"choices": [{"message": {place: f"<Bearer {KEY}>", "n": 1}}], KEY: [None, KEY]}
    found, _ = cleaned(value)
    message = {place: "<Bearer [key]>", "n": 1}
    assert found == {"choices": [{"message": message}], "[key]": [None, "[key]"]}


@pytest.mark.parametrize(
    "spelling",
    [
        KEY.replace("-", "%2d"),
        KEY.replace("t", "\\u0074"),
        json.dumps(json.dumps(KEY.replace("t", "\\u0074"))),
        KEY.replace("s", "%73"),
    ],
)
def test_escapes_hide_no_key(spelling):
    """As in the arguments of a tool call, which are JSON inside of JSON."""
    assert "[key]" in clean_text(f"a {spelling} b", [KEY])
    found, _ = cleaned({"arguments": spelling})
    assert "[key]" in found["arguments"]


def _base64(text):
    return base64.b64encode(text.encode()).decode()


def _holds(key, text):
    """Whether the key, less four characters at each end, can still be had from a text."""
    plain = re.sub(r"[\s\u00ad\u200b\ufeff]", "", text).lower()
    return key[4:-4].lower() in plain or key.encode()[4:-4].hex() in plain


@pytest.mark.parametrize(
    "form",
    [
        _base64(KEY),
        _base64(f"Bearer {KEY}"),
        _base64(f"{KEY}:"),
        _base64(f"a:{KEY}").rstrip("="),
        base64.urlsafe_b64encode(f"?>{KEY}?>".encode()).decode(),
        KEY.upper(),
        KEY.title(),
        KEY[1:],
        KEY[:-1],
        KEY[3:-2],
        f"{KEY[:7]}\u200b{KEY[7:]}",
        "\u200b".join(KEY),
        f"{KEY[:12]}\u00ad{KEY[12:]}",
        f"{KEY[:9]}\n{KEY[9:]}",
        f"{KEY[:9]} {KEY[9:15]} {KEY[15:]}",
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
    ],
)
def test_another_form_of_a_key_is_replaced_in_text_and_in_any_json(form):
    sent = {"error": {"message": f"Wrong key <{form}> given"}}
    escaped = json.dumps(sent).encode()
    literal = json.dumps(sent, ensure_ascii=False).encode()
    said = [clean_text(f"<{form}>", [KEY])]
    said += [json.loads(clean_body(body, [KEY]))["error"]["message"] for body in (escaped, literal)]
    for text in said:
        assert "[key]" in text
        assert not _holds(KEY, text)
        assert form not in text


def test_words_that_share_a_part_with_a_key_stay():
    key = "sk-my-company-2024-abcdef0123"
    text = "The my-company report of 2024, sk-my-company-2024, and abcdef."
    assert clean_text(text, [key]) == text
    assert clean_text("not-NEEDED", ["not-needed"]) == "not-NEEDED"  # too short to be told apart


def test_a_backslash_before_a_key_leaves_the_json_whole():
    found, _ = cleaned({"a": f"C:\\{KEY}", "b": f"\n{KEY}"})
    assert found == {"a": "C:\\[key]", "b": "\n[key]"}


def test_a_body_that_is_no_json_is_cleaned_as_text():
    content = b'\xff{"choices": [{"message": "' + KEY.encode() + b'", \xfe'
    assert clean_body(content, [KEY]) == b'\xff{"choices": [{"message": "[key]", \xfe'


def tokens(parts, **more):
    return [{"token": part, "bytes": [*part.encode()], "logprob": -0.5, **more} for part in parts]


def remaining(text):
    return [part for part in ("canary", "-0123", "456789", "-test-") if part in text]


def test_a_key_split_over_the_tokens_of_a_list_is_replaced_with_its_bytes():
    found, text = cleaned({"choices": [{"logprobs": {"content": tokens(PARTS)}}]})
    entries = found["choices"][0]["logprobs"]["content"]
    assert [entry["token"] for entry in entries] == ["Bearer ", *["[key]"] * 5, "."]
    assert [entry["logprob"] for entry in entries] == [-0.5] * 7
    assert not remaining(text)
    for entry in entries:
        assert bytes(entry["bytes"]).decode() == entry["token"]


def test_the_other_tokens_it_could_have_been_give_no_part_away():
    content = [{**entry, "top_logprobs": tokens(["x", entry["token"]])} for entry in tokens(PARTS)]
    found, text = cleaned({"choices": [{"logprobs": {"content": content}}]})
    assert not remaining(text)
    first = found["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    assert [entry["token"] for entry in first] == ["x", "Bearer "]


def test_a_key_split_over_the_likeliest_tokens_alone_is_found():
    content = [{"token": "x", "top_logprobs": tokens([part, "y"])} for part in PARTS]
    _, text = cleaned({"choices": [{"logprobs": {"content": content}}]})
    assert not remaining(text)


def test_plain_lists_of_tokens_and_parts_of_a_message_are_joined_as_well():
    parts = [{"type": "text", "text": part} for part in PARTS]
    calls = [{"function": {"arguments": part}} for part in PARTS]
    _, text = cleaned({"tokens": list(PARTS), "content": parts, "tool_calls": calls})
    assert not remaining(text)
    assert text.count("Bearer ") == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-be"])
def test_no_encoding_hides_a_key(encoding):
    content = json.dumps({"choices": [{"message": {"content": f"a {KEY}"}}]}).encode(encoding)
    assert json.loads(clean_body(content, [KEY]))["choices"][0]["message"]["content"] == "a [key]"


def test_placeholders_are_no_keys():
    found, _ = cleaned({"content": "x none"}, keys=["x", "none"])
    assert found == {"content": "x none"}


@given(st.data())
def test_no_split_and_no_depth_leaves_a_key(data):
    """However a key is cut, and however deep the list stands, the joined texts hold none."""
    cuts = sorted(data.draw(st.sets(st.integers(1, len(KEY) - 1), max_size=6)))
    ends = zip([0, *cuts], [*cuts, len(KEY)], strict=True)
    parts = ["a", *(KEY[start:end] for start, end in ends), "b"]
    value = [{"token": part} for part in parts]
    for _ in range(data.draw(st.integers(0, 3))):
        other = data.draw(st.sampled_from([{}, [], 5, None, "", {"n": [{}]}, ["],["]]))
        value.insert(data.draw(st.integers(0, len(value))), other)
    for name in data.draw(st.lists(st.sampled_from(["", "x"]), max_size=5)):
        value = {name: value} if name else [value]
    _, text = cleaned(value)
    said = re.findall(r'"token": "([^"]*)"', text)
    assert (said[0], said[-1]) == ("a", "b")
    assert set(said[1:-1]) == {"[key]"}


def _clean_hostile_bodies(size):
    bodies = (
        b"[" * 900 + b'"x",' * size + b'"y"' + b"]" * 900,
        json.dumps([{"token": "s"}] * 2 * size).encode(),
        b"[" * 4 * size,
        b"\\" * 4 * size,
        b"%73" * 2 * size,
    )
    for body in bodies:
        clean_body(body, [KEY])


def test_a_hostile_body_takes_time_in_proportion_to_its_length():
    short, long = (
        least_cpu_seconds(lambda size=size: _clean_hostile_bodies(size), times=5)
        for size in (1_000, 16_000)
    )
    assert long < 16 * short * 5  # what grows with the square takes 16 * 16 times as long

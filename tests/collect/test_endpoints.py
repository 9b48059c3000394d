from __future__ import annotations

import threading

import pytest

from core.collect.endpoints import (
    SERVICES,
    KeyRing,
    check_address,
    check_resolved_addresses,
    is_private,
    may_send_key,
)
from core.errors import CollectionError

KEY = "sk-canary-abcdef"


@pytest.mark.parametrize(
    "base_url",
    [
        *(preset.base_url for preset in SERVICES),
        "http://localhost:8000/v1",
        "http://127.0.0.1:1/v1",
        "http://[::1]:8000/v1",
        "http://192.168.1.20:8000/v1",
        "http://10.0.0.5/v1",
        "http://gpu-server:8000/v1",
        "http://gpu.local/v1",
        "https://models.example.org:8443/openai/v1",
    ],
)
def test_usual_addresses_may_be_called_with_a_key(base_url):
    check_address(base_url)


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "api.openai.com/v1",
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///v1",
        "https://example.org:0/",
        "https://example.org:99999/",
        "https://[::1/",
        "https://exa mple.org/",
        "https://example.org/\nv1",
        "https://example.org\\.evil.example/",
        "https://example.org/v1?key=1",
        "https://example.org/v1#x",
        "https://ex\u0430mple.org/v1",
    ],
)
def test_what_is_no_plain_web_address_is_refused(base_url):
    with pytest.raises(CollectionError, match="not an address"):
        check_address(base_url)


@pytest.mark.parametrize("base_url", ["https://me:pw@example.org/", "https://sk-1@example.org/"])
def test_names_and_passwords_in_the_address_are_refused_and_not_repeated(base_url):
    with pytest.raises(CollectionError) as caught:
        check_address(base_url)
    assert "example" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.1.1",
        "2852039166",  # the same as one number
        "0xA9FEA9FE",
        "0251.0376.0251.0376",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[::ffff:0:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[::a9fe:a9fe]",
        "168.63.129.16",
        "100.100.100.200",
        "metadata.google.internal",
        "METADATA.google.internal.",
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_metadata_and_link_local_addresses_are_refused_with_or_without_a_key(scheme, host):
    for with_key in (True, False):
        with pytest.raises(CollectionError, match="inner workings"):
            check_address(f"{scheme}://{host}/v1", with_key=with_key)


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "134744072", "[2001:4860::1]"])
def test_a_key_never_travels_unencrypted_to_a_public_host(host):
    with pytest.raises(CollectionError, match="unencrypted"):
        check_address(f"http://{host}/v1")
    check_address(f"http://{host}/v1", with_key=False)
    check_address(f"https://{host}/v1")


def test_where_a_name_leads_is_checked_too():
    check_resolved_addresses("https://a.example/", ["93.184.216.34", "2606:2800::1"], with_key=True)
    check_resolved_addresses("http://gpu-server/", ["192.168.0.7", "fd12::1"], with_key=True)
    with pytest.raises(CollectionError, match="inner workings"):
        check_resolved_addresses(
            "https://a.example/", ["93.184.216.34", "169.254.169.254"], with_key=False
        )
    with pytest.raises(CollectionError, match="inner workings"):
        check_resolved_addresses("https://a.example/", ["fe80::1%eth0"], with_key=False)
    with pytest.raises(CollectionError, match="unencrypted"):
        check_resolved_addresses("http://gpu-server/", ["93.184.216.34"], with_key=True)


def test_private_addresses_are_told_from_public_ones():
    assert is_private("http://localhost:1/v1")
    assert is_private("http://127.1/v1")
    assert not is_private("https://api.openai.com/v1")


def test_a_services_variable_goes_to_that_service_only():
    known = [preset for preset in SERVICES if preset.key_variable]
    for sender in known:
        for receiver in known:
            allowed = may_send_key(sender.key_variable, receiver.base_url)
            assert allowed == (sender is receiver)


@pytest.mark.parametrize(
    "base_url",
    [
        "https://evil.example/v1",
        "https://api.openai.com.evil.example/v1",
        "https://eu.api.openai.com/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com@evil.example/v1",
        "http://127.0.0.1:11434/v1",
    ],
)
def test_the_openai_variable_goes_to_no_lookalike(base_url):
    assert not may_send_key("OPENAI_API_KEY", base_url)


def test_other_addresses_need_a_variable_of_inkblots_own():
    assert may_send_key("INKBLOT_KEY_LAB", "https://models.example.org/v1")
    assert not may_send_key("AWS_SECRET_ACCESS_KEY", "https://models.example.org/v1")
    assert not may_send_key("AWS_SECRET_ACCESS_KEY", "https://api.openai.com/v1")
    assert not may_send_key("INKBLOT_KEY_LAB", "http://models.example.org/v1")
    assert not may_send_key("", "http://127.0.0.1:11434/v1")


def test_a_typed_key_belongs_to_scheme_host_and_port():
    ring = KeyRing()
    ring.remember("https://Example.org/v1", f"  {KEY}\n")
    assert ring.find("https://example.org:443/other", "", {}) == KEY
    for other in ("https://example.org:444/v1", "https://example.com/v1", "http://localhost/v1"):
        assert ring.find(other, "", {}) is None
    ring.forget("https://example.org/v1")
    assert ring.find("https://example.org/v1", "", {}) is None


@pytest.mark.parametrize(
    ("typed_for", "asked_for"),
    [
        ("https://example.org/v1", "http://example.org:443/v1"),
        ("https://gpu-server/v1", "http://gpu-server:443/v1"),
        ("http://gpu-server/v1", "https://gpu-server:80/v1"),
    ],
)
def test_a_typed_key_does_not_follow_to_the_other_scheme_on_the_same_port(typed_for, asked_for):
    ring = KeyRing()
    ring.remember(typed_for, KEY)
    assert ring.find(asked_for, "", {}) is None
    ring.forget(asked_for)
    assert ring.find(typed_for, "", {}) == KEY


def test_a_typed_key_comes_before_a_variable():
    ring, url = KeyRing(), "https://api.openai.com/v1"
    secrets = {"OPENAI_API_KEY": "sk-from-variable"}
    assert ring.find(url, "OPENAI_API_KEY", secrets) == "sk-from-variable"
    ring.remember(url, KEY)
    assert ring.find(url, "OPENAI_API_KEY", secrets) == KEY


def test_a_variable_that_may_not_go_there_is_not_found():
    secrets = {"OPENAI_API_KEY": KEY, "INKBLOT_KEY_LAB": "sk-lab-123"}
    ring = KeyRing()
    assert ring.find("https://evil.example/v1", "OPENAI_API_KEY", secrets) is None
    assert ring.find("https://lab.example/v1", "INKBLOT_KEY_LAB", secrets) == "sk-lab-123"
    assert ring.find("https://lab.example/v1", "INKBLOT_KEY_NONE", secrets) is None


def test_the_ring_shows_no_key_and_redacts_every_key_it_has_used():
    ring = KeyRing()
    ring.remember("https://a.example/", KEY)
    ring.remember("https://b.example/", KEY + "-longer")
    ring.find("https://lab.example/v1", "INKBLOT_KEY_LAB", {"INKBLOT_KEY_LAB": "sk-lab-123"})
    ring.forget("https://a.example/")
    assert KEY not in repr(ring) + str(ring)
    assert ring.redact(f"<{KEY}> <{KEY}-longer> <sk-lab-123>") == "<[key]> <[key]> <[key]>"


def test_a_placeholder_key_does_not_garble_messages():
    ring = KeyRing()
    ring.remember("http://localhost:1/v1", "x")
    assert ring.redact("an example") == "an example"


@pytest.mark.parametrize("key", ["", "  ", "sk-a b", "sk-a\nb", "sk-\u2026", "sk-\x00"])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(key):
    with pytest.raises(CollectionError) as caught:
        KeyRing().remember("https://a.example/", key)
    assert "sk-" not in str(caught.value)


def test_many_threads_may_use_the_ring():
    ring = KeyRing()

    def work(number):
        for i in range(200):
            ring.remember(f"https://h{number}-{i}.example/", f"{KEY}-{number}-{i}")
            ring.redact("text")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert repr(ring) == "KeyRing(800 typed)"

"""A lab's server: who is let in, three roles in three browsers at once, and messages by hand."""

from __future__ import annotations

import asyncio
import http.client
import http.server
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from html import escape
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from joserfc import jwt
from joserfc.jwk import RSAKey
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import start
from core.domain.members import Role
from core.workflow import members, study_log
from core.workflow.answers import audits
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from pages.shared import logins
from pages.shared.door import cookie_name
from pages.shared.logins import ADDRESS_VARIABLE, MOST_FAILURES
from tests.browser.conftest import PATIENCE_MS, ROOT, App, go, settled
from tests.workflow.studies import freeze, simulated
from tests.workflow.test_failing_writes import contents

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

SECRET = "Xq3-of-this-test-and-of-nothing-else-9Zk"
NOT_ALLOWED = "does not allow this"
PASSWORD = "a quiet word of {}"  # of nobody
ROLES = {
    "Olga": Role.OWNER,
    "Eva": Role.EDITOR,
    "Carl": Role.CODER,
    "Dora": Role.CODER,
    "Rita": Role.READER,
}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A server with a member of each role, two studies and a sample to code."""
    monkeypatch.setenv("INKBLOT_MEMBERS", str(tmp_path / "members.json"))
    for name, role in ROLES.items():
        members.save(name, role, PASSWORD.format(name))
    database = tmp_path / "x.duckdb"
    workspace = open_workspace(database)
    freeze(workspace, simulated(refusal_rate=0.2, seed=3), n_personas=1)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    audits.draw_audit(workspace, "study", seed=1, per_model=3)
    freeze(workspace, simulated(), study="waiting", n_personas=1)
    workspace.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {ADDRESS_VARIABLE: f"http://127.0.0.1:{port}"}
    app = App(database, port, tmp_path / "log", environment)
    app.start()
    yield app
    app.stop()


@pytest.fixture
def browsers(browser):
    """Browsers of several persons, each with cookies of its own."""
    contexts = []

    def one_more():
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    yield one_more
    for context in contexts:
        context.close()


def logged_in(page, app, name):
    """The page of a person who has typed name and password."""
    page.goto(app.url)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD.format(name))
    page.get_by_role("button", name="Log in").click()
    settled(page)
    expect(page.get_by_text(f"{name}, {ROLES[name]}")).to_be_visible()
    return page


def asked(app, method, path, *, fields=None, cookie="", **headers):
    """Status and headers of the answer to a request that any program can make."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=30)
    body = urlencode(fields) if fields else None
    sent = {name.replace("_", "-"): text for name, text in headers.items()}
    if cookie:
        sent["Cookie"] = cookie
    if fields:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, body, sent)
    reply = connection.getresponse()
    text = reply.read().decode("utf-8", "replace")
    connection.close()
    return reply.status, {name.lower(): value for name, value in reply.getheaders()}, text


def cookie_of(app, name):
    fields = {"name": name, "password": PASSWORD.format(name)}
    status, headers, _ = asked(app, "POST", "/-/login", fields=fields, Origin=app.url)
    assert status == 303
    cookie, *attributes = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert PASSWORD.format(name) not in cookie
    assert cookie.startswith(cookie_name(app.port))
    return cookie


# Who is let in.


def test_nobody_is_let_in_without_a_login(lab):
    for path in (
        "/",
        "/answers?study=study",
        "/_stcore/host-config",
        "/media/a.csv",
        "/static/index.js",
        "/?token=none",
    ):
        status, headers, text = asked(lab, "GET", path)
        assert (status, "Log in" in text) == (403, True)
        assert headers["x-frame-options"] == "DENY"
    assert asked(lab, "PUT", "/_stcore/upload_file/a/b")[0] == 403
    assert asked(lab, "GET", "/_stcore/health")[0] == 200
    for cookie in ("", f"{cookie_name(lab.port)}=x", f"{cookie_name(lab.port)}="):
        with pytest.raises(InvalidStatus, match="403"):
            stream(lab, cookie)


def test_name_and_password_are_both_needed_and_a_guesser_is_stopped(lab):
    def tried(name, password, **headers):
        fields = {"name": name, "password": password}
        return asked(lab, "POST", "/-/login", fields=fields, **headers)[0]

    assert tried("Rita", PASSWORD.format("Eva")) == 403
    assert tried("Nobody", PASSWORD.format("Eva")) == 403
    assert tried("Rita", "") == 403
    assert asked(lab, "POST", "/-/login", fields={"x": "y" * 1_000_000})[0] == 403
    good = PASSWORD.format("Rita")
    assert tried("Rita", good, Origin="http://evil.example") == 403
    assert tried("Rita", good, Origin=lab.url, Sec_Fetch_Site="cross-site") == 403
    assert tried("Rita", good, Origin=lab.url, Sec_Fetch_Site="same-origin") == 303
    for _ in range(MOST_FAILURES):
        assert tried("rita", "guessed") == 403
    assert tried("Rita", good) == 429
    with ThreadPoolExecutor(40) as many:  # at once, and there is room for few
        found = list(many.map(lambda number: tried("Carl", f"guess {number}"), range(40)))
    assert set(found) <= {403, 429, 503}
    assert found.count(403) <= MOST_FAILURES
    assert 503 in found
    assert tried("Eva", PASSWORD.format("Eva")) == 303


def test_a_session_ends_with_the_way_out_the_member_and_the_password(lab):
    pages = [cookie_of(lab, name) for name in ("Rita", "Carl", "Dora")]
    assert [asked(lab, "GET", "/", cookie=cookie)[0] for cookie in pages] == [200] * 3
    cross = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
    assert asked(lab, "GET", "/-/logout", cookie=pages[0], **cross)[0] == 403
    led = cross | {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    _, headers, _ = asked(lab, "GET", "/-/logout", cookie=pages[0], **led)
    assert "set-cookie" not in headers
    assert asked(lab, "GET", "/", cookie=pages[0])[0] == 200
    assert asked(lab, "GET", "/-/logout", cookie=pages[0])[0] == 303
    members.remove("Carl")
    members.save("Dora", Role.CODER, "another word for Dora")
    assert [asked(lab, "GET", "/", cookie=cookie)[0] for cookie in pages] == [403] * 3


# Three browsers of three roles at once.


def test_three_roles_at_once(lab, browsers, shot):
    editor, carl, dora, reader = (
        logged_in(browsers(), lab, name) for name in ("Eva", "Carl", "Dora", "Rita")
    )
    # The editor starts a study; the reader looks on and cannot.
    go(reader, lab, "collect?study=waiting")
    reader.get_by_role("button", name="Start").click()
    expect(reader.get_by_text(NOT_ALLOWED).first).to_be_visible()
    shot(reader, "reader-refused")
    go(editor, lab, "collect?study=waiting")
    editor.get_by_role("button", name="Start").click()
    expect(editor.get_by_text("20 of 20").first).to_be_visible()
    expect(reader.get_by_text("20 of 20").first).to_be_visible()

    # Two coders code the same replies at once, each under the own name; the reader cannot.
    for page, name in ((carl, "Carl"), (dora, "Dora"), (reader, "Rita")):
        go(page, lab, "audit?study=study&coder=Inkblot")
        coder = page.get_by_role("textbox", name="Coder")
        expect(coder).to_have_value(name)
        expect(coder).to_be_disabled()
    shot(carl, "coder")
    for number in (1, 2, 3):
        for page in (carl, dora):
            page.keyboard.press("1")
        for page in (carl, dora):
            words = f"{number} of 3 replies coded"
            expect(page.get_by_text(words, exact=True)).to_be_visible()
            settled(page)
    reader.keyboard.press("1")
    expect(reader.get_by_text(NOT_ALLOWED).first).to_be_visible()

    # The coder draws no sample, and edits no bank; the grid says so.
    carl.get_by_role("button", name="Draw another sample").click()
    carl.get_by_role("spinbutton", name="Seed").fill("7")
    carl.get_by_role("button", name="Draw the sample").click()
    expect(carl.get_by_text(NOT_ALLOWED).first).to_be_visible()

    # Keys are each person's own.
    other = logged_in(browsers(), lab, "Eva")
    for page in (editor, other):
        go(page, lab, "import_export")
    editor.get_by_role("button", name="Make a backup").click()
    expect(editor.get_by_text(NOT_ALLOWED).first).to_be_visible()

    # The log says who did what, to the reader as well.
    go(reader, lab, "answers?study=waiting")
    reader.get_by_role("tab", name="Who did what").click()
    expect(reader.get_by_role("button", name="Log as CSV")).to_be_visible()
    shot(reader, "log")
    reader.get_by_role("link", name="Log out").click()
    expect(reader.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    shot_of_login = reader.screenshot()
    assert shot_of_login
    lab.stop()

    workspace = open_workspace(lab.database)
    (audit,) = audits.list_audits(workspace, "study")
    assert audits.list_coders(workspace, audit) == {"Carl": 3, "Dora": 3}
    started = study_log.entries(workspace, "waiting")[0]
    assert (started.member, started.what) == ("Eva", "Started the run")
    told = {(entry.member, entry.what) for entry in study_log.entries(workspace, "study")}
    assert {(name, "Coded 3 replies of a sample") for name in ("Carl", "Dora")} <= told
    workspace.close()


def test_whoever_is_no_member_any_more_is_stopped_at_the_next_click(lab, browsers):
    editor = logged_in(browsers(), lab, "Eva")
    go(editor, lab, "collect?study=waiting")
    members.remove("Eva")
    editor.get_by_role("button", name="Start").click()
    expect(editor.get_by_text("You are logged out").first).to_be_visible()
    lab.stop()
    workspace = open_workspace(lab.database)
    assert control.progress(workspace, "waiting").state == "not_started"
    workspace.close()


# Messages by hand: whatever a reader or a coder sends, it changes nothing that it must not.


def stream(app, cookie):
    """A connection as a page has it, with a cookie."""
    return connect(
        f"ws://127.0.0.1:{app.port}/_stcore/stream",
        origin=app.url,
        additional_headers={"Cookie": cookie},
        subprotocols=["streamlit"],
        max_size=2**26,
        open_timeout=60,
        legacy=True,
    )


class Client:
    """Speaks to the app as the part of Streamlit in the browser does."""

    def __init__(self, app, cookie):
        self.stream = stream(app, cookie)
        self.buttons = set()

    def rerun(self, page, query, pressed=(), typed=()):
        """Run a page, as after presses on buttons; returns all that the page says."""
        message = BackMsg()
        message.rerun_script.page_script_hash = calc_hash(page)
        message.rerun_script.query_string = query
        for name in pressed:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = name, True
        for name, value in typed:
            state = message.rerun_script.widget_states.widgets.add()
            state.id = name
            for field, content in value.items():
                setattr(state, field, content)
        return self.sent(message)

    def sent(self, message):
        self.stream.send(message.SerializeToString())
        told = []
        while True:
            came = ForwardMsg()
            came.ParseFromString(self.stream.recv(timeout=120))
            element = came.delta.new_element
            if element.WhichOneof("type") == "button":
                self.buttons.add(element.button.id)
            if element.WhichOneof("type") == "alert":
                told.append(element.alert.body)
            if came.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and came.HasField(
                "script_finished"
            ):
                return told

    def close(self):
        self.stream.close()


PAGES = (
    ("collect", "study=waiting"),
    ("audit", "study=study"),
    ("import_export", "study=study"),
    ("banks", ""),
    ("", ""),
)


def test_messages_by_hand_change_nothing(lab):
    owner = Client(lab, cookie_of(lab, "Olga"))
    known = {}
    for page, query in PAGES:
        owner.buttons = set()
        owner.rerun(page, query)
        known[page] = set(owner.buttons)
    owner.close()
    assert all(known.values())
    assert sum(map(len, known.values())) > 20
    limited = Client(lab, cookie_of(lab, "Carl"))
    for page, query in PAGES:
        limited.rerun(page, query)
        for button in sorted(known[page] | limited.buttons):  # also what only an owner was shown
            limited.rerun(page, query, pressed=[button])
    for verb in ("debug_shutdown_runtime", "debug_disconnect_websocket", "clear_cache"):
        message = BackMsg()
        setattr(message, verb, True)
        limited.stream.send(message.SerializeToString())
    limited.rerun("", "")  # the server goes on
    limited.close()
    assert asked(lab, "GET", "/_stcore/health")[0] == 200
    lab.stop()
    workspace = open_workspace(lab.database)
    assert control.progress(workspace, "waiting").state == "not_started"
    assert len(audits.list_audits(workspace, "study")) == 1
    (audit,) = audits.list_audits(workspace, "study")
    assert set(audits.list_coders(workspace, audit)) <= {"Carl"}
    assert not list((lab.database.parent / "backups").glob("*"))
    assert contents(workspace.database)["study"][0] == 2
    workspace.close()


# What start.py does not start.

CERTIFIED = ("--certificate", "c.pem", "--key", "k.pem")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--serve", "http://lab.example.org"), "in the open"),
        (("--serve", "https://lab.example.org"), "No member of the lab is an owner yet"),
        (("--serve", "https://lab.example.org", *CERTIFIED), "no file c.pem"),
        (("--serve", "https://lab.example.org", "--certificate", "app.py"), "with its key"),
    ],
)
def test_start_refuses_a_server_that_would_not_be_safe(tmp_path, arguments, words):
    environment = os.environ | {
        "INKBLOT_DB": str(tmp_path / "x.duckdb"),
        "INKBLOT_MEMBERS": str(tmp_path / "none.json"),
    }
    done = subprocess.run(
        [sys.executable, "start.py", "--no-browser", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Inkblot is open" not in done.stdout


@pytest.mark.parametrize(
    ("address", "host", "words"),
    [
        ("lab.example.org", "127.0.0.1", "no address such as"),
        ("https://lab.example.org/inkblot", "127.0.0.1", "no address such as"),
        ("ftp://lab.example.org", "127.0.0.1", "no address such as"),
        ("https://lab.example.org?a=b", "127.0.0.1", "no address such as"),
        ("https://LAB.example.org:443", "127.0.0.1", "no address such as"),
        ("http://127.lab.example.org", "127.0.0.1", "in the open"),
        ("", "::", "It would listen on ::."),
        ("", "", "It would listen on every address."),
        ("", "localhost", ""),
    ],
)
def test_an_address_that_is_not_safe_is_named_with_the_reason(address, host, words):
    fault = logins.fault(address, host, certified=False)
    assert words in fault
    assert bool(fault) == bool(words)


def test_the_app_by_hand_listens_on_no_network(tmp_path):
    done = subprocess.run(
        [sys.executable, *start.SERVE, "--server.address", "0.0.0.0", "--server.port", "1"],
        cwd=ROOT,
        env=os.environ | {"INKBLOT_DB": str(tmp_path / "x.duckdb")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode
    assert "It would listen on" in done.stderr + done.stdout


@pytest.mark.parametrize("secret", ["", "a long random text of your own, as told", "a" * 50])
def test_a_secret_that_can_be_guessed_is_refused(tmp_path, secret):
    file = tmp_path / "secrets.toml"
    file.write_text(f'[auth]\nclient_id = "x"\ncookie_secret = "{secret}"\n')
    environment = os.environ | {
        "INKBLOT_DB": str(tmp_path / "x.duckdb"),
        "STREAMLIT_SECRETS_FILES": str(file),
        ADDRESS_VARIABLE: "http://127.0.0.1:1",
    }
    done = subprocess.run(
        [sys.executable, *start.SERVE, "--server.port", "1"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode
    assert "can be guessed" in done.stderr + done.stdout


def test_the_members_file_is_no_part_of_what_pages_serve(lab):
    cookie = cookie_of(lab, "Rita")
    for path in ("/members.json", "/../members.json", "/static/../members.json"):
        text = asked(lab, "GET", path, cookie=cookie)[2]
        assert "scrypt" not in text
    assert json.loads((lab.database.parent / "members.json").read_text())["members"]


# A login provider: a real one of OpenID Connect, on another port of this computer.


class Provider(http.server.BaseHTTPRequestHandler):
    """Vouches for the address that `person` holds, after a click as such services have one."""

    person: ClassVar[dict] = {}
    key: ClassVar = RSAKey.generate_key(2048, {"kid": "test", "use": "sig", "alg": "RS256"})
    nonces: ClassVar[dict] = {}

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self):
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/openid-configuration":
            self.reply(
                {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "jwks_uri": f"{self.issuer}/keys",
                    "id_token_signing_alg_values_supported": ["RS256"],
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                }
            )
        elif parts.path == "/keys":
            self.reply({"keys": [self.key.as_dict(private=False)]})
        elif parts.path == "/authorize":
            self.nonces["code"] = asked.get("nonce", "")
            back = f"{asked['redirect_uri']}?{urlencode({'code': 'code', 'state': asked['state']})}"
            page = f'<!doctype html><a href="{escape(back)}">It is me</a>'.encode()
            self.reply(page, "text/html")

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "inkblot",
            "sub": "1",
            "iat": now,
            "exp": now + 600,
            "nonce": self.nonces["code"],
            **self.person,
        }
        token = jwt.encode({"alg": "RS256", "kid": "test"}, claims, self.key)
        self.reply({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def reply(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def provided(tmp_path, monkeypatch):
    """A server whose members log in through a provider."""
    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    monkeypatch.setenv("INKBLOT_MEMBERS", str(tmp_path / "members.json"))
    members.save("olga@example.org", Role.OWNER, None)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secrets_file = tmp_path / "secrets.toml"
    secrets_file.write_text(
        f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
        f'cookie_secret = "{SECRET}"\nclient_id = "inkblot"\n'
        f'client_secret = "x"\nserver_metadata_url = '
        f'"http://127.0.0.1:{provider.server_port}/.well-known/openid-configuration"\n'
    )
    environment = {
        ADDRESS_VARIABLE: f"http://127.0.0.1:{port}",
        "STREAMLIT_SECRETS_FILES": str(secrets_file),
    }
    app = App(tmp_path / "x.duckdb", port, tmp_path / "log", environment)
    app.start()
    yield app
    app.stop()
    provider.shutdown()
    provider.server_close()


def test_a_provider_vouches_for_members_and_for_nobody_else(provided, browsers):
    def arrives(page, **person):
        Provider.person = person
        page.goto(provided.url)
        expect(page.get_by_label("Password")).to_have_count(0)  # nobody has one
        page.get_by_role("link", name="Log in with the provider").click()
        page.get_by_role("link", name="It is me").click()
        return page

    owner = arrives(browsers(), email="Olga@example.org", email_verified=True)
    settled(owner)
    expect(owner.get_by_text(re.compile(r"^olga.@example.*, owner"))).to_be_visible()
    stranger = arrives(browsers(), email="mallory@example.org", email_verified=True)
    expect(stranger.get_by_text("mallory@example.org, who is no member")).to_be_visible()
    unverified = arrives(browsers(), email="olga@example.org", email_verified=False)
    expect(unverified.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    expect(unverified.get_by_text("owner")).to_have_count(0)
    jar = {one["name"]: one["value"] for one in owner.context.cookies()}
    kept = "; ".join(f"{name}={value}" for name, value in jar.items())
    assert asked(provided, "GET", "/", cookie=kept)[0] == 200
    owner.get_by_role("link", name="Log out").click()
    expect(owner.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    owner.goto(provided.url)
    expect(owner.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    assert asked(provided, "GET", "/", cookie=kept)[0] == 403  # all that the browser had
    unstated = arrives(browsers(), email="olga@example.org")
    expect(unstated.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    no_address = arrives(browsers(), email="olga", email_verified=True)
    expect(no_address.get_by_role("heading", name="Log in to Inkblot")).to_be_visible()
    forged = "_streamlit_user=" + json.dumps({"email": "olga@example.org", "is_logged_in": True})
    assert asked(provided, "GET", "/", cookie=forged)[0] == 403


# TLS: with a certificate of its own, it is asked under its name and in no other way.


def certificate(folder):
    """A certificate for the name localhost, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "c.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "k.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return folder / "c.pem", folder / "k.pem"


def test_a_server_with_a_certificate_is_asked_over_tls_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("INKBLOT_MEMBERS", str(tmp_path / "members.json"))
    monkeypatch.setenv("INKBLOT_DB", str(tmp_path / "x.duckdb"))
    members.save("Olga", Role.OWNER, PASSWORD.format("Olga"))
    made, key = certificate(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "start.py",
        "--no-browser",
        "--port",
        str(port),
        "--serve",
        f"https://localhost:{port}",
        "--certificate",
        str(made),
        "--key",
        str(key),
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert f"Inkblot is open at https://localhost:{port}" in server.stdout.readline()
            trusting = ssl.create_default_context(cafile=str(made))
            connection = http.client.HTTPSConnection("localhost", port, context=trusting)
            fields = urlencode({"name": "Olga", "password": PASSWORD.format("Olga")})
            connection.request("POST", "/-/login", fields, {"Origin": f"https://localhost:{port}"})
            reply = connection.getresponse()
            reply.read()
            cookie = reply.getheader("Set-Cookie")
            assert (reply.status, cookie.startswith("__Host-")) == (303, True)
            assert "; Secure" in cookie
            connection.request("GET", "/", headers={"Cookie": cookie.split(";")[0]})
            assert connection.getresponse().status == 200
            connection.close()
            plain = http.client.HTTPConnection("localhost", port, timeout=10)
            plain.request("GET", "/")
            with pytest.raises((http.client.HTTPException, OSError)):
                plain.getresponse()
        finally:
            server.terminate()
            server.communicate(timeout=60)
    assert server.returncode == 0


@pytest.fixture
def proxied(tmp_path, monkeypatch):
    """A server on loopback behind a proxy with a certificate, which passes all on as it comes."""
    monkeypatch.setenv("INKBLOT_MEMBERS", str(tmp_path / "members.json"))
    members.save("Olga", Role.OWNER, PASSWORD.format("Olga"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    ports = []
    for _ in range(2):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
    front, back = ports

    async def carry(reader, writer):
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def carry_both(reader, writer):
        app_reader, app_writer = await asyncio.open_connection("127.0.0.1", back)
        await asyncio.gather(carry(reader, app_writer), carry(app_reader, writer))

    begun, ends = threading.Event(), []

    async def serve():
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        ends.append(lambda: loop.call_soon_threadsafe(ended.set))
        server = await asyncio.start_server(carry_both, "127.0.0.1", front, ssl=context)
        begun.set()
        await ended.wait()
        server.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert begun.wait(30)
    environment = {ADDRESS_VARIABLE: f"https://localhost:{front}"}
    app = App(tmp_path / "x.duckdb", back, tmp_path / "log", environment)
    app.start()
    yield f"https://localhost:{front}"
    app.stop()
    ends[0]()
    thread.join(10)


def test_behind_a_proxy_with_a_certificate_one_works_under_its_name(proxied, browser):
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(proxied)
    page.get_by_label("Name").fill("Olga")
    page.get_by_label("Password").fill(PASSWORD.format("Olga"))
    page.get_by_role("button", name="Log in").click()
    settled(page)
    expect(page.get_by_text("Olga, owner")).to_be_visible()
    (cookie,) = [one for one in context.cookies() if "inkblot" in one["name"]]
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
    page.get_by_role("button", name="Run it on simulated people").click()
    expect(page.get_by_text("500 of 500").first).to_be_visible()
    context.close()

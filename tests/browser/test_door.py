"""Who may open what: with and without the token, from other pages, in frames, by other names.

The first part speaks to the app as any program can; the second part is a real browser.
"""

from __future__ import annotations

import http.client
import http.server
import re
import socket
import threading
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import expect

from pages.shared.door import cookie_name
from tests.browser.conftest import App, go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TOKEN = "a-token-of-the-test"  # of nothing else


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The app with a token, for all tests of this file."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("door")
    app = App(folder / "x.duckdb", port, folder / "log", {"INKBLOT_TOKEN": TOKEN})
    app.start()
    yield app
    app.stop()


@dataclass
class Asked:
    """A request: what stands in it, and the status that it must get.

    `{own}` in a header is the address of the app without http://, `{cookie}` its cookie.
    """

    name: str
    status: int
    path: str = "/"
    method: str = "GET"
    headers: dict = field(default_factory=dict)
    stream: bool = False  # opens the connection of a page


COOKIE = {"Cookie": "{cookie}"}
OWN = {"Origin": "http://{own}"}
STREAM = "/_stcore/stream"
UPLOAD = "/_stcore/upload_file/a/b"
TABLE = [
    Asked("nothing at all", 403),
    Asked("the address of a page", 403, "/collect?study=a"),
    Asked("a wrong token", 403, "/?token=wrong"),
    Asked("an empty token", 403, "/?token="),
    Asked("a token in small letters", 403, f"/?token={TOKEN.upper()}"),
    Asked("the token", 303, f"/?token={TOKEN}"),
    Asked("the token on a page", 303, f"/collect?study=a&token={TOKEN}"),
    Asked("the token as a header", 403, headers={"Authorization": f"token {TOKEN}"}),
    Asked("the token, not asked for with GET", 403, f"/?token={TOKEN}", "POST"),
    Asked("health", 200, "/_stcore/health"),
    Asked("configuration", 403, "/_stcore/host-config"),
    Asked("a file of a page", 403, "/media/a.csv"),
    Asked("a script of a page", 403, "/static/index.js"),
    Asked("an upload", 403, UPLOAD, "PUT"),
    Asked("health and more", 403, "/_stcore/health/../host-config"),
    Asked("the cookie", 200, headers=COOKIE),
    Asked("the cookie of another port", 403, headers={"Cookie": "inkblot-1={value}"}),
    Asked("a wrong cookie", 403, headers={"Cookie": "{name}=0"}),
    Asked("a cookie of odd letters", 403, headers={"Cookie": '{name}=\xff\xfe;;;="'}),
    Asked("the token as the cookie", 403, headers={"Cookie": "{name}=" + TOKEN}),
    Asked(
        "the cookie, on a page that is typed",
        200,
        "/collect",
        headers=COOKIE | {"Sec-Fetch-Site": "none"},
    ),
    Asked(
        "the cookie, from a link of another site",
        200,
        "/collect",
        headers=COOKIE
        | {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ),
    Asked(
        "the cookie, in a frame of another port",
        403,
        headers=COOKIE
        | {
            "Sec-Fetch-Site": "same-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "iframe",
        },
    ),
    Asked(
        "the cookie, fetched by a page of another port",
        403,
        "/_stcore/host-config",
        headers=COOKIE
        | {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    ),
    Asked(
        "the cookie, an image of a page of another port",
        403,
        "/media/a.png",
        headers=COOKIE
        | {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    ),
    Asked(
        "the cookie, a form of another port",
        403,
        "/",
        "POST",
        headers=COOKIE
        | {
            "Sec-Fetch-Site": "same-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ),
    Asked(
        "the cookie, an upload of another port",
        403,
        UPLOAD,
        "PUT",
        headers=COOKIE | {"Origin": "http://127.0.0.1:9"},
    ),
    Asked(
        "the cookie, configuration for the own page",
        200,
        "/_stcore/host-config",
        headers=COOKIE | {"Sec-Fetch-Site": "same-origin"},
    ),
    Asked("a stream without all", 403, STREAM, stream=True),
    Asked("a stream of the own page without the cookie", 403, STREAM, headers=OWN, stream=True),
    Asked("a stream with the cookie and no page", 403, STREAM, headers=COOKIE, stream=True),
    Asked("a stream of the own page", 101, STREAM, headers=COOKIE | OWN, stream=True),
    Asked(
        "a stream of another port",
        403,
        STREAM,
        headers=COOKIE | {"Origin": "http://127.0.0.1:9"},
        stream=True,
    ),
    Asked(
        "a stream of another name of this computer",
        403,
        STREAM,
        headers=COOKIE | {"Origin": "http://localhost:{port}"},
        stream=True,
    ),
    Asked(
        "a stream of another site",
        403,
        STREAM,
        headers=COOKIE | {"Origin": "http://evil.example"},
        stream=True,
    ),
    Asked("a stream of a file", 403, STREAM, headers=COOKIE | {"Origin": "null"}, stream=True),
    Asked(
        "a stream of the own name, by another host",
        403,
        STREAM,
        headers=COOKIE | OWN | {"Host": "evil.example"},
        stream=True,
    ),
    Asked(
        "a stream of a site that points here",
        403,
        STREAM,
        headers=COOKIE | {"Host": "evil.example", "Origin": "http://evil.example"},
        stream=True,
    ),
    Asked("a stream with the token", 403, f"{STREAM}?token={TOKEN}", headers=OWN, stream=True),
    Asked(
        "a stream of an origin that begins like the own",
        403,
        STREAM,
        headers=COOKIE | {"Origin": "http://{own}.evil.example"},
        stream=True,
    ),
    Asked(
        "a stream of an origin with a user",
        403,
        STREAM,
        headers=COOKIE | {"Origin": "http://{own}@evil.example"},
        stream=True,
    ),
    Asked(
        "a stream with the host as an address of IPv6",
        403,
        STREAM,
        headers=COOKIE | OWN | {"Host": "[::1]:{port}"},
        stream=True,
    ),
]


def answered(app, asked, cookie):
    """Status and headers of the answer to a request."""
    name, _, value = cookie.partition("=")
    filled = {
        header: text.replace("{own}", f"127.0.0.1:{app.port}")
        .replace("{port}", str(app.port))
        .replace("{cookie}", cookie)
        .replace("{name}", name)
        .replace("{value}", value)
        for header, text in asked.headers.items()
    }
    if asked.stream:
        filled = {
            "Host": f"127.0.0.1:{app.port}",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        } | filled
        lines = [f"GET {asked.path} HTTP/1.1", *(f"{n}: {t}" for n, t in filled.items()), "", ""]
        with socket.create_connection(("127.0.0.1", app.port), timeout=10) as connection:
            connection.sendall("\r\n".join(lines).encode("latin-1"))
            return int(connection.recv(100).split(b" ")[1]), {}
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=10)
    connection.putrequest(asked.method, asked.path, skip_host="Host" in filled)
    for header, text in filled.items():
        connection.putheader(header, text.encode("latin-1"))
    connection.endheaders()
    reply = connection.getresponse()
    reply.read()
    found = reply.status, {n.lower(): t for n, t in reply.getheaders()}
    connection.close()
    return found


@pytest.fixture(scope="module")
def cookie(guarded):
    status, headers = answered(guarded, Asked("", 303, f"/collect?a=1&token={TOKEN}&b="), "x=")
    assert (status, headers["location"]) == (303, "/collect?a=1&b=")
    cookie, *attributes = headers["set-cookie"].split("; ")
    assert attributes == ["HttpOnly", "SameSite=Strict", "Path=/"]
    assert cookie.startswith(f"{cookie_name(guarded.port)}=")
    assert TOKEN not in cookie
    return cookie


@pytest.mark.parametrize("asked", TABLE, ids=[asked.name for asked in TABLE])
def test_the_door_opens_for_the_token_and_the_own_page_alone(guarded, cookie, asked):
    status, headers = answered(guarded, asked, cookie)
    assert status == asked.status
    if not asked.stream:
        assert headers["content-security-policy"] == "frame-ancestors 'none'"
        assert headers["x-frame-options"] == "DENY"
        assert "inkblot" not in headers.get("set-cookie", "") or status == 303


def test_the_page_without_a_token_shows_what_was_asked_for_as_text(guarded):
    path = "/%3Cscript%3Ealert(1)%3C/script%3E?study=%22%3E%3Cscript%3Ealert(2)%3C/script%3E"
    connection = http.client.HTTPConnection("127.0.0.1", guarded.port, timeout=10)
    connection.request("GET", path)
    body = connection.getresponse().read().decode()
    connection.close()
    assert "<script" not in body
    assert "Inkblot needs its token" in body


def test_a_token_leads_to_no_other_site(guarded):
    for path in (f"//evil.example/?token={TOKEN}", f"/\\evil.example?token={TOKEN}"):
        _, headers = answered(guarded, Asked("", 303, path), "x=")
        assert re.fullmatch(r"/[^/\\].*|/", headers["location"])


# A real browser.


def test_a_person_opens_the_printed_address_and_works_uploads_and_reloads(page, guarded, tmp_path):
    page.goto(f"{guarded.url}/home")
    expect(page.get_by_role("heading", name="Inkblot needs its token")).to_be_visible()
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("The token is another one")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Inkblot", exact=True)).to_be_visible()
    assert "token" not in page.url
    go(page, guarded, "import_export")
    file = tmp_path / "a.csv"
    file.write_text("item,answer\nq1,1\nq2,2\n")
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_role("button", name="Import these answers")).to_be_visible()
    page.reload()
    page.wait_for_selector("h1")
    settled(page)
    with page.expect_download() as download:
        page.get_by_text("What the file looks like").click()
        page.get_by_role("button", name="Example file").click()
    assert download.value.path().read_text().startswith("item,answer")


@pytest.fixture
def other_page(guarded):
    """A page of another port of this computer, which tries to get in."""
    html = f"""<!doctype html><title>other</title><iframe id="frame" src="{guarded.url}/"></iframe>
    <script>
    const said = {{}};
    const socket = new WebSocket("ws://127.0.0.1:{guarded.port}/_stcore/stream");
    socket.onopen = () => said.stream = "open";
    socket.onerror = () => said.stream = "refused";
    fetch("{guarded.url}/_stcore/host-config", {{credentials: "include"}})
      .then(reply => reply.text()).then(text => said.fetch = text, () => said.fetch = "refused");
    fetch("{guarded.url}/_stcore/upload_file/a/b", {{method: "PUT", credentials: "include"}})
      .then(reply => said.upload = reply.status, () => said.upload = "refused");
    window.said = said;
    </script>"""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_a_page_of_another_port_gets_nothing_although_the_browser_has_the_cookie(
    page, guarded, other_page
):
    page.goto(f"{guarded.url}/?token={TOKEN}")
    settled(page)
    page.goto(other_page)
    page.wait_for_function("Object.keys(window.said).length === 3")
    said = page.evaluate("window.said")
    assert said == {"stream": "refused", "fetch": "refused", "upload": "refused"}
    frame = page.frame_locator("#frame")
    expect(frame.get_by_role("heading", name="Inkblot", exact=True)).to_have_count(0)


def test_a_link_to_a_page_as_the_first_page_shows_that_page_and_the_menu(page, guarded):
    """The app of this file is fresh: nobody has opened Home before."""
    page.goto(f"{guarded.url}/glossary?token={TOKEN}")
    settled(page)
    expect(page.get_by_role("heading", name="Glossary")).to_be_visible()
    expect(page.get_by_role("link", name="Reliability").first).to_be_visible()

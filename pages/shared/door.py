"""The door of the app: who is not let in sees no page and opens no connection.

It stands before all of Streamlit: pages, files, uploads and the connection of a page. Whom it lets
in is for a keeper to say: one asks for the token of this start (below), one for a login of a member
of the lab (pages/shared/logins.py). A page of another site, or of another program on this computer,
may not use the cookie of the browser, and may not show Inkblot in a frame.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, MutableMapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

TOKEN_VARIABLE = "INKBLOT_TOKEN"  # the name of a variable
WITHOUT = "none"
"""In place of a token: whoever reaches the port is let in."""
OPEN_PATHS = ("/_stcore/health",)
"""What anybody may ask: whether the app is well, which start.py waits for."""
Scope = MutableMapping[str, Any]
_GUARDS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
_NAMES = frozenset(name for name, _ in _GUARDS)
_SAFE = ("GET", "HEAD", "OPTIONS")
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Inkblot: {title}</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:1rem/1.5 sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;
color:#0a0f12;background:#fff}}input,button{{font:inherit;padding:.4rem .6rem}}
label{{display:block;margin:.6rem 0}}label input{{display:block}}
button{{color:#fff;background:#1f5f73;border:0}}</style></head>
<body><main><h1>{heading}</h1>{body}</main></body></html>"""


class Keeper(Protocol):
    """Who is let in, and what everybody else is shown."""

    origin: str
    """The only address that pages have; empty: that by which they were asked for."""

    def knows(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from somebody who is let in."""
        ...

    def lets_pass(self, scope: Scope) -> bool:
        """Whether anybody may ask this of the app itself, such as a way to log in."""
        ...

    async def answered(
        self, scope: Scope, headers: Mapping[str, str], receive: Any, send: Any
    ) -> bool:
        """Whether the request was for the keeper, who has answered it then."""
        ...

    async def refuse(self, scope: Scope, headers: Mapping[str, str], send: Any, why: str) -> None:
        """Answer with a page that says what to do."""
        ...


class Door:
    """Middleware that lets in whom its keeper knows."""

    def __init__(self, app: Any, keeper: Keeper) -> None:
        self._app = app
        self._keeper = keeper

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        keeper, headers = self._keeper, _headers(scope)
        if scope["type"] == "websocket":
            if keeper.knows(scope, headers) and self._same_origin(headers):
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
        elif scope["path"] in OPEN_PATHS or (keeper.lets_pass(scope) and scope["method"] == "GET"):
            await self._app(scope, receive, _guarded(send))
        elif not self._asked_by_inkblot(scope["method"], headers):
            why = "Another page asked for this, which it may not."
            await keeper.refuse(scope, headers, send, why)
        elif await keeper.answered(scope, headers, receive, send):
            return
        elif keeper.knows(scope, headers):
            await self._app(scope, receive, _guarded(send))
        else:
            await keeper.refuse(scope, headers, send, "")

    def _same_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether a page of this address asks; a browser says so; a program that does not is none.

        The cookie alone does not tell: browsers send it from every port of this computer.
        """
        origin = headers.get("origin", "")
        if self._keeper.origin:
            return origin == self._keeper.origin
        return bool(origin) and urlsplit(origin).netloc == headers.get("host")

    def _asked_by_inkblot(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a page of Inkblot asks, or a person who follows a link or types the address."""
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none"):
            goes_there = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
            return method == "GET" and goes_there == ("navigate", "document")
        return method in _SAFE or "origin" not in headers or self._same_origin(headers)


class TokenKeeper:
    """Lets in who has the token of this start, or the cookie for it."""

    origin = ""

    def __init__(self, token: str) -> None:
        self._token = token
        self._cookie = hashlib.sha256(f"cookie of {token}".encode()).hexdigest()

    def knows(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether the cookie for the token comes with the request."""
        if self._token == WITHOUT:
            return True
        given = cookies_of(headers).get(cookie_name(port_of(scope)), "")
        return hmac.compare_digest(given.encode(), self._cookie.encode())

    def lets_pass(self, scope: Scope) -> bool:
        """Nothing beside what anybody may ask."""
        return False

    async def answered(
        self, scope: Scope, headers: Mapping[str, str], receive: Any, send: Any
    ) -> bool:
        """Give the cookie for the token, and show the page at an address without it."""
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if given is None or scope["method"] != "GET":
            return False
        if self._token != WITHOUT and not hmac.compare_digest(given.encode(), self._token.encode()):
            why = "The token is another one: it changes with every start."
            await self.refuse(scope, headers, send, why)
            return True
        query = urlencode([pair for pair in query_of(scope) if pair[0] != "token"])
        place = "/" + scope["path"].lstrip("/\\") + (f"?{query}" if query else "")
        name = cookie_name(port_of(scope))
        await go_to(send, place, cookie(name, self._cookie, secure=scope.get("scheme") == "https"))
        return True

    async def refuse(self, scope: Scope, headers: Mapping[str, str], send: Any, why: str) -> None:
        """A page with a field for the token. It goes on to the page that was asked for."""
        hidden = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in query_of(scope)
            if name != "token"
        )
        body = (
            f"<p>{escape(why or 'This browser has not opened it with its token yet.')}</p>"
            "<p>The address with the token was printed where Inkblot was started. Open that "
            "address, or paste the token here:</p>"
            f'<form action="{escape(scope["path"])}" method="get">{hidden}<label>Token '
            '<input name="token" type="password" autocomplete="off" required autofocus></label> '
            '<button>Open</button></form><p><a href="">I have opened it in this browser before</a>'
            "</p>"
        )
        await show(send, 403, "token needed", "Inkblot needs its token", body)


def token_of_environment() -> str:
    """The token that whoever started the app has chosen, else a new one; the same from then on."""
    return os.environ.setdefault(TOKEN_VARIABLE, secrets.token_urlsafe(32))


def cookie_name(port: int) -> str:
    """A name for each port: a browser has the cookies of all ports of a computer together."""
    return f"inkblot-{port}"


def port_of(scope: Mapping[str, Any]) -> int:
    """The port that was asked."""
    server = scope.get("server") or ("", 0)
    return int(server[1] or 0)


def cookies_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The cookies of a request; none where they cannot be read."""
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def cookie(name: str, value: str, *, secure: bool, seconds: int | None = None) -> str:
    """A cookie that no script and no other site uses, until the browser ends or for some time."""
    until = "" if seconds is None else f"; Max-Age={seconds}"
    safely = "; Secure" if secure else ""
    return f"{name}={value}; HttpOnly; SameSite=Strict; Path=/{until}{safely}"


def query_of(scope: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The names and values after the question mark of an address."""
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


async def go_to(send: Any, place: str, given_cookie: str = "") -> None:
    """Lead the browser to another page, with a cookie where there is one to give."""
    headers = [(b"location", place.encode("latin-1", "replace"))]
    if given_cookie:
        headers.append((b"set-cookie", given_cookie.encode()))
    await _answer(send, 303, b"", headers)


async def show(send: Any, status: int, title: str, heading: str, body: str) -> None:
    """Answer with a page of the door; `body` is HTML, title and heading are text."""
    page = _PAGE.format(title=escape(title), heading=escape(heading), body=body)
    kind = (b"content-type", b"text/html; charset=utf-8")
    await _answer(send, status, page.encode("utf-8", "replace"), [kind])


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]
    }


def _guarded(send: Any) -> Any:
    """Sends the answer with headers that keep other pages out."""

    async def with_guards(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _NAMES]
            message = {**message, "headers": [*own, *_GUARDS]}
        await send(message)

    return with_guards


async def _answer(send: Any, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    every = [
        *headers,
        *_GUARDS,
        (b"cache-control", b"no-store"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})

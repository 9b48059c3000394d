"""The door of the app: who does not know its token sees no page and opens no connection.

A token is made when Inkblot starts. It stands in the address that is opened first; the browser then
has a cookie instead. A page of another site, or of another program on this computer, has no cookie,
may not use that of the browser, and may not show Inkblot in a frame.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping, MutableMapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

TOKEN_VARIABLE = "INKBLOT_TOKEN"  # the name of a variable
WITHOUT = "none"
"""In place of a token: whoever reaches the port is let in."""
OPEN_PATHS = ("/_stcore/health",)
"""What anybody may ask: whether the app is well, which start.py waits for."""
_GUARDS = (
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
_SAFE = ("GET", "HEAD", "OPTIONS")
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Inkblot: token needed</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:1rem/1.5 sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;
color:#0a0f12;background:#fff}}input,button{{font:inherit;padding:.4rem .6rem}}
button{{color:#fff;background:#1f5f73;border:0}}</style></head>
<body><h1>Inkblot needs its token</h1><p>{why}</p>
<p>The address with the token was printed where Inkblot was started. Open that address, or paste the
token here:</p>
<form action="{path}" method="get">{hidden}<label>Token <input name="token" type="password"
autocomplete="off" required autofocus></label> <button>Open</button></form>
<p><a href="">I have opened it in this browser before</a></p></body></html>"""


def token_of_environment() -> str:
    """The token that whoever started the app has chosen, else a new one; the same from then on."""
    return os.environ.setdefault(TOKEN_VARIABLE, secrets.token_urlsafe(32))


class Door:
    """Middleware that lets in who has the token, or the cookie for it.

    It stands before all of Streamlit: pages, files, uploads and the connection of a page.
    """

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token
        self._cookie = hashlib.sha256(f"cookie of {token}".encode()).hexdigest()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        if scope["type"] == "websocket":
            if self._is_known(scope, headers) and _same_origin(headers):
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            return
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, _guarded(send))
        elif given is not None and scope["method"] == "GET":
            await self._take_token(scope, given, send)
        elif not self._is_known(scope, headers):
            await _refuse(scope, send, "This browser has not opened it with its token yet.")
        elif not _asked_by_inkblot(scope["method"], headers):
            await _refuse(scope, send, "Another page asked for this, which it may not.")
        else:
            await self._app(scope, receive, _guarded(send))

    def _is_known(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
        if self._token == WITHOUT:
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        given = cookies.get(cookie_name(_port(scope)))
        return given is not None and hmac.compare_digest(
            given.value.encode(), self._cookie.encode()
        )

    async def _take_token(self, scope: Mapping[str, Any], given: str, send: Any) -> None:
        """Give the cookie for the token, and show the page at an address without it."""
        if self._token != WITHOUT and not hmac.compare_digest(given.encode(), self._token.encode()):
            await _refuse(scope, send, "The token is another one: it changes with every start.")
            return
        query = _without_token(scope)
        place = "/" + scope["path"].lstrip("/\\") + (f"?{query}" if query else "")
        cookie = (
            f"{cookie_name(_port(scope))}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"
            + ("; Secure" if scope.get("scheme") == "https" else "")
        )
        headers = ((b"location", place.encode("latin-1")), (b"set-cookie", cookie.encode()))
        await _answer(send, 303, b"", headers)


def cookie_name(port: int) -> str:
    """A name for each port: a browser has the cookies of all ports of a computer together."""
    return f"inkblot-{port}"


def _port(scope: Mapping[str, Any]) -> int:
    server = scope.get("server") or ("", 0)
    return int(server[1] or 0)


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): text.decode("latin-1")
            for name, text in scope["headers"]}  # fmt: skip


def _same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a page of this address asks; a browser says so, and a program that does not is none.

    The cookie alone does not tell: browsers send it from every port of this computer.
    """
    origin = headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc == headers.get("host")


def _asked_by_inkblot(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a page of Inkblot asks, or a person who follows a link or types the address."""
    site = headers.get("sec-fetch-site", "none")
    if site not in ("same-origin", "none"):
        goes_there = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
        return method == "GET" and goes_there == ("navigate", "document")
    return method in _SAFE or "origin" not in headers or _same_origin(headers)


def _guarded(send: Any) -> Any:
    """Sends the answer with headers that keep other pages out."""

    async def with_guards(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _NAMES]
            message = {**message, "headers": [*own, *_GUARDS]}
        await send(message)

    return with_guards


_NAMES = frozenset(name for name, _ in _GUARDS)


def _without_token(scope: Mapping[str, Any]) -> str:
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return urlencode([pair for pair in pairs if pair[0] != "token"])


async def _refuse(scope: Mapping[str, Any], send: Any, why: str) -> None:
    """A page that says what to do. It goes on to the page that was asked for."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in pairs
        if name != "token"
    )
    body = _PAGE.format(why=escape(why), path=escape(scope["path"]), hidden=hidden)
    kind = (b"content-type", b"text/html; charset=utf-8")
    await _answer(send, 403, body.encode("utf-8", "replace"), (kind,))


async def _answer(
    send: Any, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...]
) -> None:
    every = [*headers, *_GUARDS, (b"cache-control", b"no-store"),
             (b"content-length", str(len(body)).encode())]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})

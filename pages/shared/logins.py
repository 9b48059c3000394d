"""Logins of a lab's server: names with passwords, or a provider that Streamlit knows (OIDC).

The keeper of the door and the pages ask the same question, who a cookie belongs to, each time
anew: whoever has logged out or is no member any more is stopped at the next click.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import streamlit as st
from streamlit import auth_util
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from core.domain.members import Member
from core.errors import UserError
from core.workflow import members
from pages.shared import door
from pages.shared.door import Scope

ADDRESS_VARIABLE = "INKBLOT_SERVE"
LOG_IN, LOG_OUT = "/-/login", "/-/logout"
_PROVIDERS_PATHS = ("/auth/login", "/auth/logout", "/oauth2callback")  # Streamlit's own
SESSION_S = 12 * 3600
MOST_FAILURES, FAILURES_S = 10, 900.0
"""So many wrong passwords of a name within so many seconds, then none is looked at."""
_MOST_NAMES = 10_000
_MOST_BYTES = 10_000


@dataclass(frozen=True)
class _Session:
    name: str
    password: str  # the hash of when the session began: another password ends it
    ends: float


class Logins:
    """Who is logged in at a server whose pages have the address `origin`."""

    def __init__(self, origin: str, port: int) -> None:
        self.origin = origin
        self.secure = origin.startswith("https:")
        # A name with __Host- is taken by browsers over TLS, for this very host, and no other.
        self.cookie_name = ("__Host-" if self.secure else "") + door.cookie_name(port)
        self._sessions: dict[str, _Session] = {}
        self._failures: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def member(self, cookies: Mapping[str, str]) -> Member | None:
        """The member a browser's cookies belong to, with the role of now; None: nobody."""
        session = self._sessions.get(_digest(cookies.get(self.cookie_name, "")))
        if session is not None and session.ends > time.monotonic():
            known = members.find(session.name)
            if known is not None and known.password == session.password:
                return known.member
        address = self.address_of_provider(cookies)
        known = members.find(address) if address else None
        return None if known is None else known.member

    def address_of_provider(self, cookies: Mapping[str, str]) -> str:
        """The e-mail address that the login provider vouches for; empty where it does not."""
        if not providers():
            return ""

        def single(name: str) -> bytes | None:
            signed = cookies.get(name)
            if signed is None:
                return None
            return decode_signed_value(get_cookie_secret(), name, signed.encode("latin-1"))

        try:
            body = json.loads(auth_util.get_cookie_with_chunks(single, USER_COOKIE_NAME) or b"{}")
        except ValueError:
            return ""
        vouched = body.get("is_logged_in") is True and body.get("origin") == self.origin
        verified = body.get("email_verified", True) in (True, "true")
        return str(body.get("email") or "") if vouched and verified else ""

    def log_in(self, name: str, password: str) -> str:
        """The secret of a new session; empty where name and password do not belong together.

        Raises
        ------
        UserError
            There were too many wrong passwords for this name.
        """
        key = " ".join(name.split()).casefold()[:200]
        self._refuse_many(key)
        member = members.check_password(name, password)
        with self._lock:
            if member is None:
                if len(self._failures) >= _MOST_NAMES:
                    self._failures.clear()
                self._failures.setdefault(key, []).append(time.monotonic())
                return ""
            self._failures.pop(key, None)
            now = time.monotonic()
            self._sessions = {k: one for k, one in self._sessions.items() if one.ends > now}
            secret = secrets.token_urlsafe(32)
            known = members.find(member.name)
            stored = known.password if known else ""
            self._sessions[_digest(secret)] = _Session(member.name, stored, now + SESSION_S)
        return secret

    def _refuse_many(self, key: str) -> None:
        with self._lock:
            since = time.monotonic() - FAILURES_S
            recent = [at for at in self._failures.get(key, ()) if at > since]
            if recent:
                self._failures[key] = recent
        if len(recent) >= MOST_FAILURES:
            raise UserError(
                "There were too many wrong passwords for this name.",
                f"Try again in {FAILURES_S / 60:.0f} minutes.",
            )

    def log_out(self, cookies: Mapping[str, str]) -> None:
        """End the session of a browser."""
        with self._lock:
            self._sessions.pop(_digest(cookies.get(self.cookie_name, "")), None)


class LoginKeeper:
    """Lets in the members of a lab that are logged in."""

    def __init__(self, logins: Logins) -> None:
        self._logins = logins
        self.origin = logins.origin

    def knows(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether the request comes from a member who is logged in."""
        return self._logins.member(door.cookies_of(headers)) is not None

    def lets_pass(self, scope: Scope) -> bool:
        """The ways to the provider and back, where there is one."""
        return scope["path"] in _PROVIDERS_PATHS and bool(providers())

    async def answered(
        self, scope: Scope, headers: Mapping[str, str], receive: Any, send: Any
    ) -> bool:
        """Log in and out."""
        path, method = scope["path"], scope["method"]
        if path == LOG_OUT and method == "GET":
            cookies = door.cookies_of(headers)
            self._logins.log_out(cookies)
            ended = door.cookie(self._logins.cookie_name, "", secure=self._logins.secure, seconds=0)
            place = "/auth/logout" if self._logins.address_of_provider(cookies) else "/"
            await door.go_to(send, place, ended)
        elif path == LOG_IN and method == "POST":
            await self._log_in(headers, receive, send)
        elif path.startswith(f"{LOG_IN}/") and path[len(LOG_IN) + 1 :] in providers():
            token = auth_util.encode_provider_token(path[len(LOG_IN) + 1 :])
            await door.go_to(send, f"/auth/login?provider={quote(token)}")
        elif path in (LOG_IN, LOG_OUT):
            await door.go_to(send, "/")
        else:
            return False
        return True

    async def _log_in(self, headers: Mapping[str, str], receive: Any, send: Any) -> None:
        fields = parse_qs((await _body(receive)).decode("utf-8", "replace"))
        name, password = (fields.get(key, [""])[0] for key in ("name", "password"))
        try:
            secret = await asyncio.to_thread(self._logins.log_in, name, password)
        except UserError as error:
            await self._show(send, 429, str(error))
            return
        if not secret:
            await self._show(send, 403, "Name and password do not belong together.")
            return
        given = door.cookie(
            self._logins.cookie_name, secret, secure=self._logins.secure, seconds=SESSION_S
        )
        await door.go_to(send, "/", given)

    async def refuse(self, scope: Scope, headers: Mapping[str, str], send: Any, why: str) -> None:
        """The page to log in; whoever a provider knows and the lab does not is told so."""
        address = self._logins.address_of_provider(door.cookies_of(headers))
        if address and members.find(address) is None:
            why = (
                f"You are logged in as {address}, who is no member of this lab. An owner can add "
                f"you: python -m core member add {address} --no-password --role reader"
            )
        await self._show(send, 403, why)

    async def _show(self, send: Any, status: int, why: str) -> None:
        parts = [f'<p role="alert"><strong>{escape(why)}</strong></p>' if why else ""]
        if any(one.password for one in members.load()):
            parts.append(
                f'<form action="{LOG_IN}" method="post"><label>Name <input name="name" '
                'autocomplete="username" required autofocus></label><label>Password <input '
                'name="password" type="password" autocomplete="current-password" required></label>'
                "<button>Log in</button></form>"
            )
        for name in providers():
            words = "Log in with the provider of the lab" if name == "default" else name
            parts.append(f'<p><a href="{LOG_IN}/{quote(name)}">{escape(words)}</a></p>')
        await door.show(send, status, "log in", "Log in to Inkblot", "".join(parts))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


async def _body(receive: Any) -> bytes:
    """The body of a request, as far as a form needs."""
    body = b""
    while len(body) < _MOST_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    return body[:_MOST_BYTES]


def providers() -> tuple[str, ...]:
    """The login providers in the secrets file, as Streamlit's st.login has them."""
    try:
        section = st.secrets.get("auth", {})
    except FileNotFoundError:
        return ()
    if "client_id" in section:
        return ("default",)
    return tuple(
        name for name, one in section.items() if hasattr(one, "keys") and "client_id" in one
    )


@cache  # Streamlit runs app.py once for the server, and again for every page
def begin() -> Logins | None:
    """The logins of this server, as the variable INKBLOT_SERVE asks; None: nobody logs in.

    Raises
    ------
    SystemExit
        A server was asked for that would not be safe; the message says why.
    """
    address = os.environ.get(ADDRESS_VARIABLE, "").strip().rstrip("/")
    host = str(st.get_option("server.address") or "")
    certified = bool(st.get_option("server.sslCertFile"))
    if fault := _fault(address, host, certified=certified):
        raise SystemExit(f"\nInkblot was not started. {fault}\n")
    return Logins(address, int(st.get_option("server.port"))) if address else None


def _fault(address: str, host: str, *, certified: bool) -> str:
    """Why a server would not be safe; empty where it is."""
    listens_here = host in ("localhost", "::1") or host.startswith("127.")
    if not address:
        how = "To open it to other computers, use: python3 start.py --serve https://ADDRESS"
        return "" if listens_here else f"It would listen on {host or 'every address'}. {how}"
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path:
        return f"'{address}' is no address such as https://lab.example.org."
    named_here = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not named_here:
        return (
            f"Passwords and answers would cross the network in the open at {address}. Use an "
            "address with https://, behind a proxy that has a certificate, or with --certificate."
        )
    if not listens_here and not certified:
        return "Without a certificate it listens on this computer only, behind a proxy."
    if certified and parts.scheme != "https":
        return f"With a certificate its address begins with https://, and not {address}."
    try:
        return members.login_fault(bool(providers()))
    except UserError as error:
        return str(error)


def current() -> Member | None:
    """The member at this page; None where nobody logs in here.

    Raises
    ------
    UserError
        The member was logged out, or is no member any more.
    """
    of_lab = begin()
    if of_lab is None:
        return None
    member = of_lab.member(st.context.cookies)
    if member is None:
        raise UserError("You are logged out.", "Reload the page and log in again.")
    return member

"""Logins of a lab's server: names with passwords, or a provider that Streamlit knows (OIDC).

The keeper of the door and the pages ask the same question, who a cookie belongs to, each time
anew: whoever has logged out or is no member any more is stopped at the next click.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import os
import secrets
import shlex
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
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

from core import settings
from core.domain.members import Member
from core.errors import UserError
from core.workflow import members
from pages.shared import door
from pages.shared.door import Scope

ADDRESS_VARIABLE = settings.SERVE_VARIABLE
LOG_IN, LOG_OUT = "/-/login", "/-/logout"
_PROVIDERS_PATHS = ("/auth/login", "/oauth2callback")  # Streamlit's own
TRUST_VARIABLE = "INKBLOT_TRUST_EMAIL"
"""Set to 1 for a provider that says nothing on whether addresses are verified."""
SESSION_S = 12 * 3600
MOST_FAILURES, FAILURES_S = 10, 900.0
"""So many wrong passwords of a name within so many seconds, then none is looked at."""
_MOST_NAMES = 10_000
_MOST_BYTES, _BODY_S = 10_000, 10.0
_MOST_WAITING = 5
"""So many logins wait for their password to be looked at; further ones are sent away."""
_VOUCHER_S = 300.0
"""So long what a provider has vouched for can be changed for a session, and once."""
_SHORTEST_SECRET = 32


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
        self._used: dict[str, float] = {}  # vouchers of the provider, and until when they are kept
        self._lock = threading.Lock()
        # Of its own: what ends the runs of the server must not wait behind passwords.
        self.passwords = ThreadPoolExecutor(1, "inkblot-logins")
        self.waiting = 0

    def member(self, cookies: Mapping[str, str]) -> Member | None:
        """The member a browser's cookies belong to, with the role of now; None: nobody."""
        session = self._sessions.get(_digest(cookies.get(self.cookie_name, "")))
        if session is None or session.ends <= time.monotonic():
            return None
        known = members.find(session.name)
        if known is None or known.password != session.password:
            return None
        return known.member

    def vouched_address(self, cookies: Mapping[str, str]) -> str:
        """The e-mail address that the login provider has just vouched for; empty for none.

        Streamlit signs the parts of a long cookie alone, so that parts of several logins could be
        put together: only a whole one counts.
        """
        signed = cookies.get(USER_COOKIE_NAME, "")
        if not signed or not providers():
            return ""
        whole = decode_signed_value(
            get_cookie_secret(),
            USER_COOKIE_NAME,
            signed.encode("latin-1", "replace"),
            max_age_days=_VOUCHER_S / 86400,
        )
        try:
            body = json.loads(whole or b"{}")
        except ValueError:
            return ""
        if not isinstance(body, dict) or _digest(signed) in self._used:
            return ""
        vouched = body.get("is_logged_in") is True and body.get("origin") == self.origin
        unsaid = os.environ.get(TRUST_VARIABLE) == "1" and "email_verified" not in body
        address = body.get("email")
        if not isinstance(address, str) or "@" not in address or address != address.strip():
            return ""
        return address if vouched and (unsaid or body.get("email_verified") is True) else ""

    def change_voucher(self, cookies: Mapping[str, str]) -> str:
        """The secret of a session for whom the provider has vouched; empty for no member."""
        address = self.vouched_address(cookies)
        known = members.find(address) if address else None
        if known is None or known.password or known.member.name.lower() != address.lower():
            return ""  # members with a password log in with it
        with self._lock:
            now = time.monotonic()
            self._used = {one: until for one, until in self._used.items() if until > now}
            voucher = _digest(cookies[USER_COOKIE_NAME])
            if voucher in self._used:
                return ""
            self._used[voucher] = now + 2 * _VOUCHER_S
        return self._begin(known)

    def log_in(self, name: str, password: str) -> str:
        """The secret of a new session; empty where name and password do not belong together.

        Raises
        ------
        UserError
            There were too many wrong passwords for this name.
        """
        key = " ".join(name.split()).casefold()[:200]
        self._count_try(key)
        member = members.check_password(name, password)
        known = members.find(member.name) if member else None
        if known is None:
            return ""
        with self._lock:
            self._failures.pop(key, None)
        return self._begin(known)

    def _begin(self, known: members.KnownMember) -> str:
        """A session of a member; returns its secret."""
        secret, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._sessions = {k: one for k, one in self._sessions.items() if one.ends > now}
            self._sessions[_digest(secret)] = _Session(
                known.member.name, known.password, now + SESSION_S
            )
        return secret

    def _count_try(self, key: str) -> None:
        """Count a try before the password is looked at, as many come at once; refuse too many."""
        with self._lock:
            now = time.monotonic()
            recent = [at for at in self._failures.get(key, ()) if at > now - FAILURES_S]
            if len(recent) < MOST_FAILURES:
                if len(self._failures) >= _MOST_NAMES:
                    self._failures.clear()
                self._failures[key] = [*recent, now]
                return
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
        cookies = door.cookies_of(headers)
        if path == LOG_OUT:
            if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
                self._logins.log_out(cookies)
                await door.go_to(send, "/", self._cookie(""))
            else:  # another site led here
                await door.go_to(send, "/")
        elif path == LOG_IN and method == "POST":
            await self._log_in(headers, receive, send)
        elif path.startswith(f"{LOG_IN}/") and path[len(LOG_IN) + 1 :] in providers():
            token = auth_util.encode_provider_token(path[len(LOG_IN) + 1 :])
            await door.go_to(send, f"/auth/login?provider={quote(token)}")
        elif path == LOG_IN:
            await door.go_to(send, "/")
        elif method == "GET" and (secret := self._logins.change_voucher(cookies)):
            await door.go_to(send, "/", self._cookie(secret))
        else:
            return False
        return True

    def _cookie(self, secret: str) -> str:
        seconds = SESSION_S if secret else 0
        return door.cookie(
            self._logins.cookie_name, secret, secure=self._logins.secure, seconds=seconds
        )

    async def _log_in(self, headers: Mapping[str, str], receive: Any, send: Any) -> None:
        logins = self._logins
        try:
            body = await asyncio.wait_for(_body(receive), _BODY_S)
        except TimeoutError:
            await self._show(send, 408, "The name and the password did not arrive in time.")
            return
        fields = parse_qs(body.decode("utf-8", "replace"))
        name, password = (fields.get(key, [""])[0] for key in ("name", "password"))
        if logins.waiting >= _MOST_WAITING:
            await self._show(send, 503, "Many people log in at this moment. Try again.")
            return
        logins.waiting += 1
        try:
            loop = asyncio.get_running_loop()
            secret = await loop.run_in_executor(logins.passwords, logins.log_in, name, password)
        except UserError as error:
            await self._show(send, 429, str(error))
            return
        finally:
            logins.waiting -= 1
        if not secret:
            await self._show(send, 403, "Name and password do not belong together.")
            return
        await door.go_to(send, "/", self._cookie(secret))

    async def refuse(self, scope: Scope, headers: Mapping[str, str], send: Any, why: str) -> None:
        """The page to log in; whoever a provider knows and the lab does not is told so."""
        address = self._logins.vouched_address(door.cookies_of(headers))
        if address:  # else there would be a session by now
            why = (
                f"You are logged in as {address}, who is no member of this lab. An owner can add "
                f"you: python -m core member add {shlex.quote(address)} --no-password --role reader"
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
    if why := fault(address, host, certified=certified):
        raise SystemExit(f"\nInkblot was not started. {why}\n")
    return Logins(address, int(st.get_option("server.port"))) if address else None


def fault(address: str, host: str, *, certified: bool) -> str:
    """Why a server would not be safe; empty where it is."""
    listens_here = _is_here(host)
    if not address:
        how = "To open it to other computers, use: python3 start.py --serve https://ADDRESS"
        return "" if listens_here else f"It would listen on {host or 'every address'}. {how}"
    if _origin(address) != address:
        return f"'{address}' is no address such as https://lab.example.org, in small letters."
    parts = urlsplit(address)
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        return (
            f"Passwords and answers would cross the network in the open at {address}. Use an "
            "address with https://, behind a proxy that has a certificate, or with --certificate."
        )
    if not listens_here and not certified:
        return "Without a certificate it listens on this computer only, behind a proxy."
    if certified and parts.scheme != "https":
        return f"With a certificate its address begins with https://, and not {address}."
    try:
        return _fault_of_secret() or members.login_fault(bool(providers()))
    except UserError as error:
        return str(error)


def _fault_of_secret() -> str:
    """Why cookies of the provider's logins could be forged; empty where there is no provider."""
    secret = get_cookie_secret() if providers() else ""
    if providers() and (len(secret) < _SHORTEST_SECRET or len(set(secret)) < 10 or " " in secret):
        return (
            f"The cookie_secret in the secrets file can be guessed: it needs {_SHORTEST_SECRET} "
            'random characters. Make one: python3 -c "import secrets; '
            'print(secrets.token_urlsafe(48))"'
        )
    return ""


def _is_here(host: str) -> bool:
    """Whether a name or number leads to this computer and no other."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(address: str) -> str:
    """Scheme, host and port of an address as browsers write them; empty where it is none."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


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

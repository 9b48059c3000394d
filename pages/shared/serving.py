"""What the server does beside showing pages: its door, what it loads first, and its end."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.pages_manager import PagesManager

from core.workflow import preloading
from pages.shared import logins
from pages.shared.door import TOKEN_VARIABLE, WITHOUT, Door, TokenKeeper, token_of_environment
from pages.shared.logins import LoginKeeper


def middleware() -> list[Middleware]:
    """What every request goes through before Streamlit."""
    of_lab = logins.begin()
    keeper = LoginKeeper(of_lab) if of_lab else TokenKeeper(token_of_environment())
    return [Middleware(Door, keeper=keeper)]


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """Load what pages need while the browser loads its own part; at the end, end all runs."""
    # Streamlit would take the files of pages/ for pages by themselves until app.py has run once,
    # and show the first person who opens a link to one of them no menu; app.py declares the pages.
    PagesManager.uses_pages_directory = False
    preloading.start()
    if not _of_starter & {TOKEN_VARIABLE, logins.ADDRESS_VARIABLE}:
        print(f"\nOpen Inkblot at {address()}\n", file=sys.stderr)  # noqa: T201
    raise_limit_of_files()
    yield {}
    await asyncio.to_thread(_end_runs)


_of_starter = frozenset(os.environ)
"""The variables that the process was started with: where the token is one, the starter tells it."""


def address() -> str:
    """The address of Home, with the token of this start."""
    host = st.get_option("server.address") or "127.0.0.1"
    token = token_of_environment()
    query = "" if token == WITHOUT else f"/?token={token}"
    return f"http://{host}:{st.get_option('server.port')}{query}"


def raise_limit_of_files() -> None:
    """Let the server have as many connections as the system allows it."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _end_runs() -> None:
    from core.workflow.opening import close_all

    close_all()

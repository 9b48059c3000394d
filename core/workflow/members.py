"""The members of a lab: their file, their passwords, and the database as each may use it.

The file stands beside the database and is read anew whenever it has changed, so that a role given
or taken counts at once. Only the command line writes it: no page, and so no message to a page.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core import settings
from core.domain.members import Member, Role, name_fault
from core.errors import FileError, MemberError, RoleError
from core.files.writing import write_files
from core.store.database import Database
from core.store.permitted import PermittedDatabase

SHORTEST_PASSWORD = 12
_LONGEST_PASSWORD = 1000
# Scrypt (Percival, 2009; RFC 7914) with 64 MB for each try, which takes a fifth of a second.
_SCRYPT = {"n": 2**16, "r": 8, "p": 1, "maxmem": 2**27}
_SCHEME = "scrypt-16-8-1"
_FORMAT = "inkblot members 1"
_OWN = frozenset({"member_memory"})
_CODINGS = frozenset({"coding", "coding_note", "adjudicator", "adjudication"})
_WRITTEN_BY: Mapping[Role, frozenset[str] | None] = {
    Role.EDITOR: None,
    Role.CODER: _OWN | _CODINGS,
    Role.READER: _OWN,
}
"""The tables that a role writes, beside the owner's, who writes all; None: all."""
_one_try_at_a_time = threading.Lock()


@dataclass(frozen=True)
class KnownMember:
    """A member as the file has it. `password` is a hash, or empty where a provider knows them."""

    member: Member
    password: str


def file_path() -> Path:
    """The file of members: INKBLOT_MEMBERS, or members.json beside the database."""
    named = os.environ.get("INKBLOT_MEMBERS", "").strip()
    return Path(named) if named else settings.from_environment().database.with_name("members.json")


def load(path: Path | None = None) -> tuple[KnownMember, ...]:
    """All members, as the file is now; nobody where there is no file.

    Raises
    ------
    FileError
        The file cannot be read, or is none of members.
    """
    path = path or file_path()
    try:
        at = path.stat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise FileError(
            f"{path} cannot be read ({error.strerror}).", "Check the permissions."
        ) from error
    return _read(path, at.st_mtime_ns, at.st_ino, at.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, _inode: int, _size: int) -> tuple[KnownMember, ...]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["format"] != _FORMAT:
            raise ValueError("another format")
        found = tuple(
            KnownMember(Member(str(one["name"]), Role(one["role"])), str(one["password"]))
            for one in body["members"]
        )
    except OSError as error:
        raise FileError(
            f"{path} cannot be read ({error.strerror}).", "Check the permissions."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"{path} is not a file of members.", "Move it away, and add the members again."
        ) from error
    if len({one.member.name.casefold() for one in found}) < len(found):
        raise FileError(f"{path} has a name twice.", "Take one of them out.")
    return found


def find(name: str) -> KnownMember | None:
    """The member of that name, in capitals or not; None where there is none."""
    known = {one.member.name.casefold(): one for one in load()}
    return known.get(" ".join(name.split()).casefold())


def save(name: str, role: Role, password: str | None) -> None:
    """Add a member, or give one another role or password. None: as it was, or a provider knows it.

    Raises
    ------
    MemberError
        The name or the password cannot be used, or nobody would be left as an owner.
    """
    if fault := name_fault(name):
        raise MemberError(fault, "Choose another name.")
    if password is not None and not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise MemberError(
            f"The password has {len(password)} characters, and needs {SHORTEST_PASSWORD} or more.",
            "Choose a longer one: a few words that nobody connects are easy to keep in mind.",
        )
    if password is not None and not password.isprintable():
        raise MemberError("The password has a character that nobody can see.", "Choose another.")
    before = find(name)
    hashed = before.password if before else ""
    if password is not None:
        hashed = _hashed(password, secrets.token_bytes(16))
    known = KnownMember(Member(before.member.name if before else name, role), hashed)
    _write([*(one for one in load() if one != before), known])


def remove(name: str) -> None:
    """Take a member out; whoever is logged in by that name is let in no more.

    Raises
    ------
    MemberError
        There is no such member, or nobody would be left as an owner.
    """
    gone = find(name)
    if gone is None:
        raise MemberError(f"There is no member '{name}'.", "See the list of members.")
    _write([one for one in load() if one != gone])


def _write(known: Sequence[KnownMember]) -> None:
    if known and all(one.member.role is not Role.OWNER for one in known):
        raise MemberError("Nobody would be an owner.", "Make another member the owner first.")
    rows = [
        {"name": one.member.name, "role": one.member.role.value, "password": one.password}
        for one in sorted(known, key=lambda one: one.member.name.casefold())
    ]
    body = json.dumps({"format": _FORMAT, "members": rows}, indent=1, ensure_ascii=False)
    try:
        write_files({file_path(): body.encode()}, private=True)
    except OSError as error:
        raise FileError(
            f"{file_path()} cannot be written ({error.strerror}).", "Check the folder."
        ) from error


def check_password(name: str, password: str) -> Member | None:
    """The member with that name and password; None where they do not belong together.

    An unknown name takes as long as a wrong password.
    """
    known = find(name)
    with_password = known is not None and bool(known.password)
    stored = known.password if known is not None and known.password else _NOBODY
    with _one_try_at_a_time:  # each takes 64 MB
        # scrypt takes a password with NUL characters after it for the same one
        good = _matches(password[:_LONGEST_PASSWORD], stored) and password.isprintable()
    return known.member if known is not None and with_password and good else None


def _hashed(password: str, salt: bytes) -> str:
    digest = hashlib.scrypt(password.encode("utf-8", "replace"), salt=salt, **_SCRYPT)
    return "$".join((_SCHEME, *(base64.b64encode(part).decode() for part in (salt, digest))))


def _matches(password: str, stored: str) -> bool:
    try:
        _, salt, _ = stored.split("$")
        again = _hashed(password, base64.b64decode(salt, validate=True))
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(again, stored)


_NOBODY = "$".join((_SCHEME, base64.b64encode(bytes(16)).decode(), ""))
"""In place of the password of somebody who has none."""


def permitted(database: Database, member: Member) -> Database:
    """The database as a member may use it: what else is tried raises RoleError."""
    if member.role is Role.OWNER:
        return database
    return PermittedDatabase(database, _WRITTEN_BY[member.role], refusal(member))


def refusal(member: Member) -> RoleError:
    """What a member is told who tries what the role does not allow."""
    return RoleError(
        f"Your role here, {member.role}, does not allow this.",
        "Nothing was changed. Ask an owner of this Inkblot for another role.",
    )


def login_fault(provider: bool) -> str:
    """Why nobody could log in; empty where somebody who may do everything can."""
    known = load()
    how = "python -m core member add NAME --role owner"
    if not any(one.member.role is Role.OWNER for one in known):
        return f"No member of the lab is an owner yet. Add one: {how}"
    if not provider and not any(one.password for one in known if one.member.role is Role.OWNER):
        return f"No owner has a password, and no login provider is set up. Set one: {how}"
    return ""

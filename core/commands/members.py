"""The command `member`: who may log in to a lab's Inkblot, and what each may do."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Callable

from core.commands.shared import Action, Command, argument
from core.domain.members import ROLE_WORDS, Role
from core.errors import MemberError
from core.workflow import members


def command() -> Command:
    """The command of members; the database may be open in a server meanwhile."""
    roles = "; ".join(f"{role}: {words}" for role, words in ROLE_WORDS.items())
    name = argument("name", help="as typed at the login; with a login provider, the e-mail address")
    role = argument(
        "--role", choices=[role.value for role in Role], help=f"what the member may do ({roles})"
    )
    without = argument(
        "--no-password", action="store_true", help="a login provider knows the member"
    )
    return Command(
        None,
        actions=(
            Action("list", "list all members and their roles"),
            Action("add", "add a member; asks for the password", (name, role, without)),
            Action("role", "give a member another role", (name, role)),
            Action("password", "give a member another password", (name,)),
            Action("remove", "take a member out, who is let in no more", (name,)),
        ),
        run_alone=_run,
    )


def _run(parsed: argparse.Namespace) -> None:
    if parsed.db:
        os.environ["INKBLOT_DB"] = parsed.db
    verbs: dict[str, Callable[[argparse.Namespace], None]] = {
        "list": _list,
        "add": _add,
        "role": _change_role,
        "password": _change_password,
        "remove": _remove,
    }
    verbs[parsed.action](parsed)


def _list(_parsed: argparse.Namespace) -> None:
    for known in members.load():
        how = "" if known.password else "  (no password: a login provider knows the member)"
        print(f"{known.member.role:7} {known.member.name}{how}")


def _add(parsed: argparse.Namespace) -> None:
    if members.find(parsed.name):
        raise MemberError(
            f"There is a member '{parsed.name}'.", "Use member role, or member password."
        )
    password = None if parsed.no_password else _typed_password()
    members.save(parsed.name, Role(parsed.role or Role.READER), password)


def _change_role(parsed: argparse.Namespace) -> None:
    _known(parsed.name)
    if not parsed.role:
        raise MemberError(
            "No role is named.", "Add --role and one of owner, editor, coder, reader."
        )
    members.save(parsed.name, Role(parsed.role), None)


def _change_password(parsed: argparse.Namespace) -> None:
    known = _known(parsed.name)
    members.save(known.member.name, known.member.role, _typed_password())


def _remove(parsed: argparse.Namespace) -> None:
    members.remove(parsed.name)


def _known(name: str) -> members.KnownMember:
    known = members.find(name)
    if known is None:
        raise MemberError(f"There is no member '{name}'.", "See: python -m core member list")
    return known


def _typed_password() -> str:
    """The password as typed twice, or as the first line of what is piped in."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Once more: ") != password:
        raise MemberError("The two passwords differ.", "Try again.")
    return password

"""Who works with a lab's Inkblot, and what each may do there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

MAX_MEMBER_NAME = 60
RESERVED_NAMES = ("Final coding", "Inkblot")
"""Names that tables of codings use, so that no person can have them."""


class Role(StrEnum):
    """What a member may do; each may do what the ones after it may."""

    OWNER = "owner"
    EDITOR = "editor"
    CODER = "coder"
    READER = "reader"


ROLE_WORDS: Mapping[Role, str] = {
    Role.OWNER: "does everything, and makes and restores backups",
    Role.EDITOR: "plans and runs studies, and edits banks, models and data",
    Role.CODER: "codes replies of samples, and reads everything",
    Role.READER: "reads everything and changes nothing",
}


@dataclass(frozen=True)
class Member:
    """A person with a role. The name is the one typed at the login, or that of the provider."""

    name: str
    role: Role

    @property
    def may_ask(self) -> bool:
        """Whether the member may have models asked, which costs money."""
        return self.role in (Role.OWNER, Role.EDITOR)


def name_fault(name: str) -> str:
    """Why a member cannot be called so; empty where one can."""
    if not name or len(name) > MAX_MEMBER_NAME or not name.isprintable():
        return f"A member has a name of 1 to {MAX_MEMBER_NAME} characters."
    if name.casefold() in {reserved.casefold() for reserved in RESERVED_NAMES}:
        return f"No member can be called '{name}', because tables use this name."
    if name != " ".join(name.split()):
        return f"The name '{name}' begins or ends with a space, or has two in a row."
    return ""

"""Prompt templates on file: every save is a version, and templates are archived, not deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.errors import ConflictError
from core.store.database import Database

AS_BUILT_IN = ""
"""The body of a version that sets a template back to the one that comes with Inkblot."""

_SAVE = "insert into prompt_template values (?, now(), ?)"
_COUNT = "select count(*) from prompt_template where code = ?"
_COUNTS = "select code, count(*) from prompt_template group by code"
_NEWEST = "select code, arg_max(body, saved_at) from prompt_template group by code order by code"
_VERSIONS = """
select row_number() over (order by saved_at), saved_at, body from prompt_template
where code = ? order by saved_at
"""
_ARCHIVE = "insert into template_archive values (?, now(), ?)"
_ARCHIVED = """
select code from template_archive group by code having arg_max(archived, changed_at) order by code
"""


@dataclass(frozen=True)
class TemplateVersion:
    """One save of a template; `body` is its JSON, or empty where it was set back to the built-in.

    Versions are numbered from 1.
    """

    number: int
    saved_at: datetime
    body: str


def save(database: Database, code: str, body: str, *, expected_versions: int | None) -> None:
    """Append a version; earlier ones stay.

    Raises
    ------
    ConflictError
        The template has more versions than `expected_versions`. Nothing is saved.
    """
    with database.transaction() as cursor:
        (count,) = cursor.execute(_COUNT, [code]).fetchone() or (0,)
        if expected_versions not in (None, count):
            raise ConflictError(
                f"The template '{code}' was saved in another tab or window meanwhile.",
                "Look at its newest version, then save again.",
            )
        cursor.execute(_SAVE, [code, body])


def save_all(database: Database, bodies: Mapping[str, str]) -> None:
    """Append a version of each template, by code; all or none."""
    with database.transaction() as cursor:
        for code, body in bodies.items():
            cursor.execute(_SAVE, [code, body])


def counts(database: Database) -> dict[str, int]:
    """The number of versions of each saved template, by code."""
    return dict(database.rows(_COUNTS))


def newest(database: Database) -> dict[str, str]:
    """The body of the newest version of each saved template, by code."""
    return dict(database.rows(_NEWEST))


def versions(database: Database, code: str) -> tuple[TemplateVersion, ...]:
    """The versions of a template, oldest first."""
    return tuple(TemplateVersion(*row) for row in database.rows(_VERSIONS, [code]))


def set_archived(database: Database, code: str, archived: bool) -> None:
    """Hide a template from the lists of choices, or bring it back."""
    with database.transaction() as cursor:
        cursor.execute(_ARCHIVE, [code, archived])


def archived(database: Database) -> frozenset[str]:
    """Codes of the archived templates."""
    return frozenset(code for (code,) in database.rows(_ARCHIVED))

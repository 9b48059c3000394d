"""Columns that many analyses declare alike."""

from __future__ import annotations

from dataclasses import replace

from core.domain.results import Column


def with_upper_help(
    columns: tuple[Column, ...], help: str = "The upper end of the same interval."
) -> tuple[Column, ...]:
    """Columns that end with an interval, of which the upper end has a tooltip of its own."""
    return (*columns[:-1], replace(columns[-1], help=help))

"""What the environment says, read once into one frozen value. Only workflow reads it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Settings:
    """Where the database lies and how much memory it may take."""

    database: Path
    memory_limit: str
    data_directory: Path


def from_environment() -> Settings:
    """INKBLOT_DB (a path) and INKBLOT_MEMORY (e.g. 2GB), or their defaults."""
    return Settings(
        database=Path(os.environ.get("INKBLOT_DB") or ROOT / "data" / "inkblot.duckdb"),
        memory_limit=os.environ.get("INKBLOT_MEMORY") or "2GB",
        data_directory=ROOT / "data",
    )

"""The settings from environment variables, as one frozen value. Only workflow reads them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from core.errors import StoreError

ROOT = Path(__file__).parents[1]

SERVE_VARIABLE = "INKBLOT_SERVE"
"""The variable with the address of a lab's server, as start.py --serve sets it."""

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])(i?)B", re.IGNORECASE)


@dataclass(frozen=True)
class Settings:
    """Places of the database and of Spark, and the memory of the database and each analysis."""

    database: Path
    memory_limit: str
    data_directory: Path
    spark_master: str

    @property
    def memory_bytes(self) -> int:
        """The memory as a number."""
        number, unit, binary = _AMOUNT.findall(self.memory_limit)[0]
        return int(float(number) * (1024 if binary else 1000) ** ("KMGT".index(unit.upper()) + 1))


def database_path(text: str) -> Path:
    """The path of a database as a user writes it; `~` is the home folder.

    Raises
    ------
    StoreError
        There can be no database file of that name.
    """
    if text.strip() == ":memory:":
        raise StoreError(
            "A database in memory keeps nothing.", "Name a file, for example inkblot.duckdb."
        )
    if "?" in text:  # from there on DuckDB reads options
        raise StoreError(
            f"The path of the database, {text}, has a question mark, which it must not.",
            "Choose another file or folder with INKBLOT_DB or --db.",
        )
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # no such user
        raise StoreError(
            f"The path of the database, {text}, begins with the home folder of nobody.",
            "Write the whole path.",
        ) from error


def is_lab() -> bool:
    """Whether this process is the server of a lab, whose keys its members may not see."""
    return bool(os.environ.get(SERVE_VARIABLE, "").strip())


def from_environment() -> Settings:
    """INKBLOT_DB (a path), INKBLOT_MEMORY (e.g. 2GB) and INKBLOT_SPARK (the URL of a master).

    Without them the defaults hold: Spark, where it is asked for, counts on all cores here.

    Raises
    ------
    StoreError
        INKBLOT_MEMORY is not an amount of memory, or INKBLOT_DB no path of a file.
    """
    memory_limit = os.environ.get("INKBLOT_MEMORY", "").strip() or "2GB"
    if not _AMOUNT.fullmatch(memory_limit):
        raise StoreError(
            f"INKBLOT_MEMORY is '{memory_limit}', which is not an amount of memory.",
            "Set it to a number and a unit, for example 2GB or 500MB, or remove it.",
        )
    return Settings(
        database=database_path(os.environ.get("INKBLOT_DB") or f"{ROOT}/data/inkblot.duckdb"),
        memory_limit=memory_limit,
        data_directory=ROOT / "data",
        spark_master=os.environ.get("INKBLOT_SPARK", "").strip() or "local[*]",
    )

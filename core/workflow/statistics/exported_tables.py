"""Analyses of answers in exported tables, counted by DuckDB or by Spark."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from core import settings
from core.analysis.kit.registry import Analysis, OtherData
from core.domain.frames import RATINGS, TEXTS
from core.domain.numbers import count_text
from core.errors import NotEnoughData
from core.store import tables
from core.workflow.workspace import Workspace

Engine = Literal["duckdb", "spark"]


def export_tables(workspace: Workspace, codes: Sequence[str], directory: Path) -> str:
    """Write the tables of some studies into a folder (see `tables.write_tables`); a sentence."""
    written = tables.write_tables(workspace.database, codes, directory)
    files = [size for table in written.tables.values() for size in table.files.values()]
    return (
        f"Wrote {count_text(written.tables['trial'].n_rows, 'trial')} of "
        f"{count_text(len(written.studies), 'study', 'studies')} into {directory}: "
        f"{count_text(len(files), 'file')}, {sum(files) / 1e6:,.1f} MB."
    )


@contextmanager
def workspace_of_tables(
    workspace: Workspace,
    analysis: Analysis,
    options: Mapping[str, Any],
    directory: Path,
    engine: Engine,
) -> Generator[Workspace, None, None]:
    """A workspace in which the analysis finds the answers of a folder of tables.

    The frame of the analysis is counted by the engine; what else is asked of the answers, which is
    little, by DuckDB.

    Raises
    ------
    NotEnoughData
        The analysis reads texts, which are not exported.
    FileError
        The folder holds no complete tables of this version.
    StoreError
        Spark cannot be started.
    """
    if analysis.needs in (TEXTS, RATINGS) or _brings_in_texts(analysis, options):
        raise NotEnoughData(
            f"'{analysis.name}' reads texts, which exported tables do not hold.",
            "Leave off --tables.",
        )
    configured = settings.from_environment()
    memory = configured.memory_limit
    with tables.database_of_tables(directory, memory) as database:
        own = replace(workspace, database=database)
        if engine == "duckdb":
            yield own
            return
        from core.store.spark import spark_engine

        with spark_engine(directory, configured.spark_master, memory) as database.engine:
            yield own


def _brings_in_texts(analysis: Analysis, options: Mapping[str, Any]) -> bool:
    """Whether an option names texts or lists of words to bring in."""
    return any(
        isinstance(option.kind, OtherData)
        and option.kind.of != "item_scores"
        and options.get(option.name)
        for option in analysis.options
    )

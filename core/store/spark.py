"""Spark as the engine that counts the analysis frames, over the Parquet files of a folder."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from core.errors import StoreError
from core.store.tables import Table, read_tables, whole_path

JAVA = 17
"""The lowest version of Java that Spark takes."""
_TYPES = {
    "BIGINT": "bigint",
    "INTEGER": "int",
    "SMALLINT": "smallint",
    "TINYINT": "tinyint",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
"""Spark's names for DuckDB's types."""


class SparkEngine:
    """A Spark session with the tables of a folder; see FrameEngine in core.store.database."""

    dialect = "databricks"  # Spark's SQL, which ibis compiles without the package of Spark

    def __init__(self, session: Any, directory: Path) -> None:
        """Name the tables of the folder to a session. No row is read yet."""
        self._session = session
        place = whole_path(directory)
        for name, table in read_tables(place).tables.items():
            _frame(session, place, name, table).createOrReplaceTempView(name)
        self._studies = session.table("study")

    def rows(self, sql: str, studies: Sequence[str]) -> pa.Table:
        """Rows of a query in which the table `study` has only the studies of these codes."""
        own = self._studies.where(self._studies["code"].isin(list(studies)))
        own.createOrReplaceTempView("study")
        return self._session.sql(sql).toArrow()


@contextmanager
def spark_engine(directory: Path, master: str, memory: str) -> Generator[SparkEngine, None, None]:
    """Spark over the tables of a folder; its session ends afterwards.

    Parameters
    ----------
    directory : Path
        The folder, under the same path on every machine of the master.
    master : str
        Where Spark counts: `local[2]` for two threads of this machine, `spark://host:7077`, ...
    memory : str
        How much Spark's process on this machine may take, such as 2GB.

    Raises
    ------
    StoreError
        pyspark or Java is missing, or the master cannot be reached.
    """
    require_pyspark()
    require_java()
    from py4j.protocol import Py4JError

    with _plain_errors(master), _quiet():
        session = _session(master, _megabytes(memory))
        try:
            yield SparkEngine(session, directory)
        finally:
            with suppress(Py4JError, ConnectionError):  # its process may have ended
                session.stop()


def _session(master: str, megabytes: int) -> Any:
    """A session of Spark, whose process on this machine writes nothing on the standard error."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": master,
        "spark.app.name": "Inkblot",
        "spark.driver.memory": f"{max(512, megabytes)}m",
        "spark.driver.maxResultSize": "0",  # rows of scores may be millions
        "spark.ui.enabled": "false",
    }
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = SparkContext._gateway or launch_gateway(conf, silent)  # a process has one at most
    return SparkSession(SparkContext(gateway=gateway, conf=conf))


def _frame(session: Any, place: Path, name: str, table: Table) -> Any:
    """A table as Spark reads it."""
    types = {column: _TYPES[own] for column, own in table.columns.items()}
    if not table.files:
        columns = ", ".join(f"cast(null as {own}) as `{column}`" for column, own in types.items())
        return session.sql(f"select {columns} where false")
    schema = ", ".join(f"`{column}` {own}" for column, own in types.items())
    reader = session.read.schema(schema).option("basePath", f"file:{place / name}")
    return reader.parquet(*(f"file:{place / file}" for file in table.files))


def require_pyspark() -> None:
    """Raise StoreError where pyspark is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # that it does not know this pandas
            import pyspark.sql.classic.dataframe  # noqa: F401
    except ImportError as error:
        raise StoreError(
            "The package pyspark is not installed.",
            "Install it: .venv/bin/python -m pip install --require-hashes -r "
            "requirements-spark.txt",
        ) from error


def require_java() -> None:
    """Raise StoreError where Java is missing or too old for Spark."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        raise StoreError(
            f"Java is not there{f' (JAVA_HOME is {home})' if home else ''}; Spark needs it.",
            f"Install Java {JAVA} or newer, or count without --engine spark.",
        )
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'version "(\d+)', shown.stderr + shown.stdout)
    if version is None or int(version[1]) < JAVA:
        raise StoreError(
            f"{java} is Java {version[1] if version else 'of an unknown version'}.",
            f"Install Java {JAVA} or newer, or count without --engine spark.",
        )


def _megabytes(memory: str) -> int:
    """An amount of memory such as 2GB, which core.settings has checked, in megabytes."""
    number, unit, _ = re.split(r"\s*([KMGT])", memory.strip().upper())
    return int(float(number) * 1024.0 ** ("KMGT".index(unit) - 1))


@contextmanager
def _plain_errors(master: str) -> Generator[None, None, None]:
    """Spark's errors as one line. Those of Java come with a long trace."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise StoreError(
            f"Spark could not count ({_cause(error)}).",
            f"Check INKBLOT_SPARK ({master}), INKBLOT_MEMORY, and that every machine of Spark "
            "reads the tables.",
        ) from error


@contextmanager
def _quiet() -> Generator[None, None, None]:
    """Nothing of Spark's packages on the terminal: lost connections, and a pandas newer than it."""

    def is_of_another(record: logging.LogRecord) -> bool:
        return record.module != "java_gateway"

    logger = logging.getLogger()
    logger.addFilter(is_of_another)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
            yield
    finally:
        logger.removeFilter(is_of_another)


def _cause(error: Exception) -> str:
    """The last cause that an error of Spark names, or else its first line."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    said = [line for line in lines if line and "error occurred while calling" not in line]
    causes = [line for line in said if line.startswith("Caused by: ")]
    line = causes[-1] if causes else said[0] if said else "its process has ended"
    return line.removeprefix("Caused by: ").rstrip(".")

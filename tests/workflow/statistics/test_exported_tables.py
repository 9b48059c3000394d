from __future__ import annotations

import shutil
from dataclasses import replace

import duckdb
import pytest

from core.errors import DesignError, FileError, NotEnoughData, StoreError
from core.store import frames, spark, tables
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses
from core.workflow.statistics.exported_tables import export_tables, workspace_of_tables
from tests.workflow.studies import finished, freeze, simulated

FILTERS = {
    "leave_out": ["guess", "judged"],
    "language": ["de", "en"],
    "item.subscale": ["nature"],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory, new_database):
    """Two studies that share bank and respondent; one reply is refused, one is not asked yet."""
    path = tmp_path_factory.mktemp("tables") / "x.duckdb"
    shutil.copyfile(new_database, path)
    workspace = open_workspace(path)
    for study in ("one", "two"):
        freeze(workspace, simulated(), study=study, n_personas=3, languages=("en", "de"))
        control.start(workspace, study)
        finished(workspace, study)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set certainty = 'guess' where option = '4'")
        cursor.execute("delete from response where trial_id in (select min(trial_id) from trial)")
    yield workspace
    workspace.close()


@pytest.fixture
def folder(source, tmp_path):
    """The tables of both studies."""
    export_tables(source, ["one", "two"], tmp_path / "tables")
    return tmp_path / "tables"


def rows(database, where):
    """Rows of every frame of both studies, as the engine of the database counts them."""
    factors = ("respondent", "language")
    read = {
        "scores": (frames._item_score_keys, (False,)),
        "administrations": (frames._administrations, ()),
        "items": (frames._items, ()),
        "counts": (frames.option_counts_expression, (factors, 7)),
        "cells": (frames._cells_expression, (factors,)),
        "attempts": (frames._attempt_counts_expression, (factors,)),
        "kinds": (frames._answer_kinds_expression, ()),
        "trial counts": (frames._trial_counts, ()),
        "answers": (frames._answered_trials, ()),
        "option scores": (frames._option_scores, ()),
    }
    return {
        name: frames._read(database, expression, ["one", "two"], where, more)
        for name, (expression, more) in read.items()
    }


def assert_same_rows(found, expected):
    """EXCEPT ALL is empty both ways."""
    with duckdb.connect() as connection:
        for name, table in expected.items():
            assert found[name].column_names == table.column_names
            connection.register("a", found[name])
            connection.register("b", table)
            for sql in ("from a except all from b", "from b except all from a"):
                assert connection.execute(sql).fetchall() == [], name


def numbers(workspace, name):
    """The tables of a result of both studies."""
    options = {"by": ("study", "language")}
    result = analyses.run(workspace, name, ["one", "two"], options, FILTERS)
    return {table.name: table.frame.to_csv() for table in result.tables}


def require_spark():
    pytest.importorskip("pyspark", reason="pyspark is not installed (requirements-spark.txt)")
    try:
        spark.require_java()
    except StoreError as error:
        pytest.skip(error.problem)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_tables_give_the_rows_and_numbers_of_the_database(source, folder, engine, monkeypatch):
    if engine == "spark":
        require_spark()
        monkeypatch.setenv("INKBLOT_SPARK", "local[2]")
    analysis = analyses.by_name("item_statistics")
    with workspace_of_tables(source, analysis, {}, folder, engine) as own:
        assert (own.database.engine is not None) == (engine == "spark")
        assert_same_rows(rows(own.database, FILTERS), rows(source.database, FILTERS))
        assert numbers(own, "item_statistics") == numbers(source, "item_statistics")


def counts_without_a_file(source, folder):
    """Item statistics by Spark, with the answers taken away after it has started."""
    analysis = analyses.by_name("item_statistics")
    with workspace_of_tables(source, analysis, {}, folder, "spark") as own:
        without_a_file(folder)
        return numbers(own, "item_statistics")


def test_an_error_of_spark_is_one_sentence(source, folder, monkeypatch, capfd):
    require_spark()
    monkeypatch.setenv("INKBLOT_SPARK", "local[2]")
    with pytest.raises(StoreError, match=r"count \(.*/response/.* does not exist\)\.") as error:
        counts_without_a_file(source, folder)
    assert "Check INKBLOT_SPARK (local[2]), INKBLOT_MEMORY" in str(error.value)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_a_study_that_is_not_among_the_tables_is_not_there(source, tmp_path):
    export_tables(source, ["one"], tmp_path / "tables")
    analysis = analyses.by_name("item_statistics")
    with (
        workspace_of_tables(source, analysis, {}, tmp_path / "tables", "duckdb") as own,
        pytest.raises(DesignError, match="no study 'two'"),
    ):
        analyses.run(own, "item_statistics", ["two"], {}, {})


def half_written(folder):
    """As a kill leaves the folder: files without the last word of the manifest."""
    before = tables.read_tables(folder)
    tables._save(folder, replace(before, complete=False, tables={}))


def of_another_version(folder):
    tables._save(folder, replace(tables.read_tables(folder), version="0001_initial"))


def without_a_file(folder):
    next(folder.glob("response/*/*.parquet")).unlink()


def cut_short(folder):
    file = next(folder.glob("trial/*/*.parquet"))
    file.write_bytes(file.read_bytes()[:-1])


def with_sql(folder):
    manifest = folder / tables.MANIFEST
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"code":', '"code, (select 1) as more":'), encoding="utf-8")


def without_manifest(folder):
    (folder / tables.MANIFEST).unlink()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (half_written, "not written to the end. Write them again: .* tables one two DIR"),
        (of_another_version, "another version .*0001_initial.* Write them again"),
        (without_a_file, "data_0.parquet is missing or was changed. Write them again"),
        (cut_short, "data_0.parquet is missing or was changed. Write them again"),
        (with_sql, "holds no tables of Inkblot"),
        (without_manifest, "holds no tables of Inkblot. Write them: python -m core tables"),
    ],
)
def test_tables_that_are_not_whole_are_refused(source, folder, damage, message):
    damage(folder)
    analysis = analyses.by_name("item_statistics")
    with (
        pytest.raises(FileError, match=message),
        workspace_of_tables(source, analysis, {}, folder, "duckdb"),
    ):
        pass


def test_only_an_interrupted_folder_is_written_again(source, folder, tmp_path):
    with pytest.raises(FileError, match=r"holds tables already, of one, two\. Name a new folder"):
        export_tables(source, ["one"], folder)
    half_written(folder)
    (folder / "trial" / "study_id=1").mkdir()
    export_tables(source, ["one"], folder)
    assert tables.read_tables(folder).studies == ("one",)
    assert len(list((folder / "trial").iterdir())) == 1
    (tmp_path / "other").mkdir()
    note = tmp_path / "other" / "note.txt"
    note.write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="not empty, and what it holds was not written by"):
        export_tables(source, ["one"], tmp_path / "other")
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["note.txt"]


@pytest.mark.parametrize(
    ("name", "options"), [("odds_ratios", {}), ("multitrait_matrix", {"texts": "stories"})]
)
def test_analyses_of_texts_say_that_tables_hold_none(source, folder, name, options):
    with (
        pytest.raises(NotEnoughData, match="reads texts, which exported tables do not hold"),
        workspace_of_tables(source, analyses.by_name(name), options, folder, "duckdb"),
    ):
        pass


def test_spark_without_java_is_one_message(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(StoreError, match=r"Java is not there .*Install Java 17 or newer"):
        spark.require_java()
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(StoreError, match=r"java is Java 11. Install Java 17 or newer"):
        spark.require_java()

"""A key that a service repeats, in every place of a reply, is kept nowhere."""

from __future__ import annotations

import io
import json
import logging
import zipfile

import pandas as pd
import pytest

from core.errors import CollectionError
from core.workflow.answers import exports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import collector, control
from tests.echoes import Echoes
from tests.fault_server import FaultServer
from tests.workflow.studies import KEY_VARIABLE, freeze, service

CANARY = "sk-canary-5eb63bbbe01eeed093cb22bb"
TELLING = CANARY[10:22]  # the middle of the key, so that a shortened one is found as well
TABLES = "select table_name from duckdb_tables() where not internal"


def held(workspace):
    """Every cell of every table as text."""
    for (table,) in workspace.database.rows(TABLES):
        for row in workspace.database.rows(f'select * from "{table}"'):  # noqa: S608
            yield f"{table}: {row!r}"


def unpacked(data):
    """The bytes of a file, and of what is packed in it."""
    yield data
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from unpacked(archive.read(name))
    if data[:4] == b"PAR1":
        yield pd.read_parquet(io.BytesIO(data)).to_csv().encode()


@pytest.fixture
def server(monkeypatch):
    policy = collector.RetryPolicy(base_s=0.001, max_attempts=2)
    monkeypatch.setattr(collector, "RETRY_POLICY", policy)
    script = Echoes()
    with FaultServer(script, key=CANARY) as found:
        script.server = found
        yield found


@pytest.mark.parametrize("origin", ["typed", "environment"])
def test_a_key_that_a_service_echoes_is_in_no_table_file_export_log_or_message(
    workspace, server, origin, monkeypatch, caplog, tmp_path
):
    caplog.set_level(logging.DEBUG)
    if origin == "typed":
        monkeypatch.delenv(KEY_VARIABLE, raising=False)
        catalog.remember_key(workspace, server.base_url, CANARY)
    else:
        monkeypatch.setenv(KEY_VARIABLE, CANARY)
    person = service(server.base_url, at_once=1)
    freeze(workspace, person, n_personas=3, first_token=True, ask_again=1)
    n_places = len(server.script.steps("x"))
    shown = []
    while len(server.chats) < 2 * n_places and control.start(workspace, "study"):
        shown.append(repr(control.wait(workspace, "study", every_s=0.01)))  # many echoes pause
    assert len(server.chats) >= 2 * n_places
    for _ in range(n_places):
        try:
            shown.append(repr(catalog.test(workspace, person)))
        except CollectionError as error:
            shown.append(str(error))
    assert {seen.headers["Authorization"] for seen in server.chats} == {f"Bearer {CANARY}"}

    cells = list(held(workspace))
    assert sum("[key]" in cell for cell in cells if cell.startswith("attempt")) >= n_places
    lists = workspace.database.rows("select body from attempt_token")
    tokens = [token for (body,) in lists for token, _ in json.loads(body)]
    assert "[key]" in tokens
    assert not [token for token in tokens if len(token) > 1 and token in CANARY]
    shown += [repr(workspace), repr(control.history(workspace, "study")), *cells]
    shown += [record.getMessage() + str(record.args) for record in caplog.records]
    assert [text for text in shown if TELLING in text] == []

    exports.export_study(workspace, "study", tmp_path / "export")
    (tmp_path / "answers.parquet").write_bytes(exports.export_tidy(workspace, "study", "parquet"))
    (tmp_path / "plan.csv").write_bytes(studies.plan_csv(workspace, "study"))
    workspace.database.checkpoint()
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) >= 8
    for file in files:
        for data in unpacked(file.read_bytes()):
            assert TELLING.encode() not in data, file

"""The batches of a study on the page Collect, with a batch service over HTTP."""

from __future__ import annotations

import io
import time
import zipfile
from functools import partial

import pytest

from core.workflow.runs.batches import requests, states
from tests.batch_server import KEY, BatchServer
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.runs.batches.answering import answer, as_lines, requests_of
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

open_page = partial(apps.open_page, "collect")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with BatchServer() as found:
        yield found


def texts(at):
    parts = [*at.markdown, *at.info, *at.success, *at.error, *at.text]
    return "\n".join(str(part.value) for part in parts).replace("\\", "")


def press(at, key):
    return fine(at.button(key=key).click().run())


def test_files_go_out_and_come_in_on_the_page(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    at = press(open_page(study="study"), "batches_export")
    assert "20 calls in 1 file." in texts(at)
    assert "20 calls are out in a batch." in texts(at)
    packed = zipfile.ZipFile(io.BytesIO(states.files_as_zip(workspace, "study")))
    (name,) = packed.namelist()
    asked = requests_of([requests.folder(workspace) / name])
    half = as_lines([answer(asked[0])])[:-9]
    at.file_uploader(key="batches_files:study").set_value([("half.jsonl", half, "text/plain")])
    at = press(fine(at.run()), "batches_import")
    assert "Line 1 of half.jsonl is not complete JSON" in texts(at)
    whole = as_lines([answer(request) for request in asked[:15]])
    at.file_uploader(key="batches_files:study").set_value([("o.jsonl", whole, "text/plain")])
    at = press(fine(at.run()), "batches_import")
    assert "o.jsonl: 15 replies." in texts(at)
    assert "5 calls are out in a batch." in texts(at)
    at = press(at, "batches_release")
    assert "5 calls can be asked again." in texts(at)
    assert "are out in a batch" not in texts(at)


def test_the_service_is_driven_from_the_page(workspace, server):
    freeze(workspace, service(server.base_url), n_personas=1)
    at = press(open_page(study="study"), "batches_drive")
    end = time.monotonic() + 20
    while "All calls have a reply." not in texts(at):
        assert time.monotonic() < end
        time.sleep(0.1)
        at = fine(at.run())
    (table,) = [frame.value for frame in at.dataframe if "price factor" in frame.value]
    assert list(table["state"]) == ["done (completed)"]
    assert server.asked.total() == 20


def test_studies_of_simulated_people_have_no_batches(workspace):
    freeze(workspace, simulated(), n_personas=1)
    assert "Ask through batches" not in [e.label for e in open_page(study="study").expander]

"""A study leaves one Inkblot as a package and comes into another; what it is, stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow import sample
from core.workflow.opening import open_workspace
from core.workflow.packages import making
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.browser.test_design_blocks import sent, upload

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_study_goes_from_one_inkblot_to_another(page, app, shot, tmp_path):
    workspace = open_workspace(app.database)
    study = sample.start_sample(workspace, "simulated")
    control.wait(workspace, study)
    workspace.close()
    app.start()
    go(page, app, f"import_export?study={study}")
    page.get_by_role("button", name="Make the package").click()
    ready = page.get_by_role("button", name="Download the package")
    expect(ready).to_be_visible()
    expect(page.get_by_text("Left out:")).to_have_count(0)
    settled(page)
    shot(page, "made")
    file = tmp_path / "study.zip"
    with page.expect_download() as started:
        ready.click()
    started.value.save_as(file)
    app.stop()
    app.database = tmp_path / "elsewhere.duckdb"
    app.start()
    go(page, app, "import_export")
    upload(page, "File with answers", file)
    expect(page.get_by_text("500 answers, of 500 questions")).to_be_visible()
    shot(page, "preview")
    page.get_by_role("button", name="Import this study").click()
    expect(page.get_by_text(f"Study {study} now holds 500 imported answers")).to_be_visible()
    sent(page)
    page.get_by_role("link", name="See item statistics").click()
    expect(page.get_by_text("Scored answers used").first).to_be_visible()
    app.stop()
    workspace = open_workspace(app.database)
    requests = making.requests_of(study, making.PROPOSED)
    again = making.make_package(workspace, study, requests).data
    workspace.close()
    assert again == file.read_bytes()

"""From an answered study to the validation report and a factor model, as a researcher would."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from playwright.sync_api import expect

from core.domain.study import Context, Design
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.browser.conftest import go, settled
from tests.browser.test_way_through import download
from tests.workflow.studies import simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

N_CONTEXTS = 120


def answered(path):
    """A scale in two forms and two orders of options, and its companion, both answered."""
    workspace = open_workspace(path)
    people = [
        simulated("Steady", loading=0.8, trait_correlation=0.4, seed=4),
        simulated("Noisy", loading=0.3, noise=0.6, seed=5),
    ]
    for person in people:
        catalog.save(workspace, person)
    contexts = tuple(Context(f"p{n:03}", f"You are person {n}.") for n in range(N_CONTEXTS))
    shared = {"respondents": ("Steady", "Noisy"), "contexts": contexts}
    for code, bank, factors in (
        (
            "scale",
            "attitude_22",
            {"forms": ("original", "alternate"), "label_orders": ("as_is", "random")},
        ),
        ("companion", "attitude_companion_8", {}),
    ):
        studies.freeze(workspace, Design(code, bank, **shared, **factors))
        control.start(workspace, code)
        ended = control.wait(workspace, code, every_s=0.05)
        assert ended.n_done == ended.n_trials
    # Forms and orders pooled: two groups instead of eight, which take minutes on a busy machine.
    analyses.save_option(workspace, "scale", analyses.by_name("cfa"), "by", ("respondent",))
    workspace.close()


def choose(page, label, option):
    """Choose in a select box by typing, as with the keyboard."""
    page.get_by_role("combobox", name=re.compile(label)).click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def shown(page):
    """Wait for the result of an analysis."""
    expect(page.get_by_text("Scored answers used").first).to_be_visible(timeout=120_000)
    settled(page)


def test_from_answers_to_verdict_factor_model_and_scripts(page, app, shot):
    answered(app.database)
    app.start()

    go(page, app, "validation_report?study=scale")
    shown(page)
    choose(page, "another scale", "companion")
    shown(page)
    expect(page.get_by_text("Not reliable").first).to_be_visible()
    shot(page, "1-report")
    criteria = download(page, "CSV").decode()
    assert criteria.count("\n") >= 3
    assert "Steady" in criteria

    go(page, app, "factors?study=scale&analysis=cfa")
    shown(page)
    expect(page.locator("[data-testid='stVegaLiteChart']").first).to_be_visible()
    shot(page, "2-cfa")
    before = download(page, "CSV")

    moves = re.compile(r"^Move suspicion_01 from suspicion to (?!suspicion)")
    page.get_by_role("button", name=moves).first.click()
    expect(page.locator("[data-part='said']")).to_contain_text("suspicion_01 moved from")
    expect(page.get_by_text("Your model against the bank's").first).to_be_visible(timeout=120_000)
    shown(page)
    after = download(page, "CSV")
    assert after != before
    shot(page, "3-moved")

    page.get_by_role("tab", name="Syntax").click()
    expect(page.get_by_text("library(lavaan)").first).to_be_visible()
    shot(page, "4-scripts")
    scripts = zipfile.ZipFile(io.BytesIO(download(page, "R and Python scripts with data (ZIP)")))
    assert {name.rsplit(".", 1)[-1] for name in scripts.namelist()} == {"csv", "R", "py"}
    models = scripts.read("models.csv").decode()
    assert re.search(r"protectiveness =~ .*suspicion_01", models)

    page.reload()
    settled(page)
    shown(page)
    expect(page.get_by_text("Your model against the bank's").first).to_be_visible(timeout=120_000)

    page.get_by_role("tab", name="Second opinion").click()
    expect(page.get_by_text("Fit by both programs").first).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Both programs agree").first).to_be_visible()
    shot(page, "5-semopy")

"""Every page in both themes by the rules of WCAG 2.2 AA (axe-core), and on a narrow screen."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import TimeoutError, expect

import app as entry
from core.workflow.answers import audits
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import settled
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 19)"}
# Themes differ in colors alone, so only these are looked at again in the second.
RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]},
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
# Without data, the pages of results say the same; these stand for the others.
WITH_AN_EMPTY_STATE_OF_THEIR_OWN = ("Prepare", "Collect", "")
OF_RESULTS = ("Explore", "Item statistics", "Factor models", "Opinions")
NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 800}

_VIOLATIONS = """
async only => {
  const found = await axe.run(document, { runOnly: only, resultTypes: ["violations"] });
  return found.violations
    .filter(rule => ["serious", "critical"].includes(rule.impact))
    .flatMap(rule => rule.nodes.map(node => ({
      rule: rule.id, place: node.target.join(" "), html: node.html.slice(0, 200),
      why: node.failureSummary.slice(0, 300),
    })));
}
"""
_THEME_IS = "color => getComputedStyle(document.querySelector('.stApp')).backgroundColor === color"
_HEIGHT = """
Math.ceil(document.querySelector("[data-testid='stMainBlockContainer']").scrollHeight) + 100
"""
_IS_DRAWN = """
() => !document.querySelector("[data-testid='stSpinner'], [data-testid='stSkeleton']")
"""
_HAS_UNNAMED_CHART = """
() => [...document.querySelectorAll(
  "[data-testid='stVegaLiteChart'], [data-testid='stGraphVizChart']"
)].filter(chart => ![chart, ...chart.querySelectorAll("[aria-label], [alt], title")].some(part =>
  part.getAttribute("aria-label") || part.getAttribute("alt") || part.matches("title")
)).length > 0
"""
_FAULTS = """
() => document.querySelector("[data-testid='stMainBlockContainer']").insertAdjacentHTML(
  "beforeend",
  `<img src="data:,"><p style="color:#8a8a8a;background:#fff">Faint</p>
   <div style="width:2000px">Wide</div><div data-testid="stVegaLiteChart"></div>`
)
"""
_SCROLLS_SIDEWAYS = """
() => {
  const main = document.querySelector("[data-testid='stMain']");
  main.scrollLeft = 100;
  const moved = main.scrollLeft > 0;
  main.scrollLeft = 0;
  return moved || document.documentElement.scrollWidth > innerWidth;
}
"""


def with_data(database):
    """A collected study, and an audit of it in which two coders differ."""
    workspace = open_workspace(database)
    freeze(workspace, simulated(refusal_rate=0.1, explanation_rate=0.2, seed=3), n_personas=30)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=10)
    for trial in audits.load_sample(workspace, audit).trials[:3]:
        for coder, option in (("Coder 1", "1"), ("Anna", "2")):
            audits.save_coding(workspace, audit, trial, option=option, coder=coder)
    workspace.close()


def open_page(page, address):
    page.goto(address)
    settled(page)
    page.wait_for_selector("h1")
    page.wait_for_function(_IS_DRAWN)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)  # of what is computed
    settled(page)


def stays(page, condition):
    """Whether a condition still holds when charts and tables are drawn."""
    try:
        page.wait_for_function(f"() => !({condition})()", timeout=5000)
    except TimeoutError:
        return True
    return False


def faults_of(page, name):
    """What axe finds on the open page in each theme, and whether it scrolls sideways."""
    page.evaluate(AXE)
    # axe leaves undecided the contrast of what is scrolled out of sight
    page.set_viewport_size({**WIDE, "height": page.evaluate(_HEIGHT)})
    for theme, background in BACKGROUNDS.items():
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(_THEME_IS, arg=background)
        page.wait_for_timeout(150)  # colors fade from one theme to the other
        for one in page.evaluate(_VIOLATIONS, RULES[theme]):
            where = f"{one['place']}\n{one['html']}\n{one['why']}"
            yield f"{name}, {theme}: {one['rule']} at {where}"
    if stays(page, _HAS_UNNAMED_CHART):
        yield f"{name}: a chart without a name"
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(300)
    if stays(page, _SCROLLS_SIDEWAYS):
        yield f"{name}: scrolls sideways at {NARROW['width']} px"
    page.set_viewport_size(WIDE)


@pytest.mark.parametrize("prepare", [with_data, None], ids=["with data", "empty"])
def test_no_page_has_a_serious_violation_or_scrolls_sideways(page, app, prepare):
    if prepare:
        prepare(app.database)
    app.start()
    page.set_viewport_size(WIDE)
    faults = []
    for one in entry.PAGES:
        if not (
            prepare or one.group in WITH_AN_EMPTY_STATE_OF_THEIR_OWN or one.title in OF_RESULTS
        ):
            continue
        place = "" if one.name == "home" else one.name
        open_page(page, f"{app.url}/{place}{'?study=study' if prepare else ''}")
        faults += faults_of(page, one.title)
    assert not faults, "\n\n".join(faults)


def test_the_check_sees_faults(page, app):
    app.start()
    page.set_viewport_size(WIDE)
    open_page(page, f"{app.url}/contexts")
    page.evaluate(_FAULTS)
    found = [fault.split(" at ")[0] for fault in faults_of(page, "Contexts")]
    assert found == [
        "Contexts, light: color-contrast",
        "Contexts, light: image-alt",
        "Contexts, dark: color-contrast",
        "Contexts: a chart without a name",
        "Contexts: scrolls sideways",
    ]

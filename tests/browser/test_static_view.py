"""The static view of a study, opened from the disk in a real browser."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import expect

from core import __main__ as command_line
from core.files import static_view
from core.workflow.answers import imports
from core.workflow.runs import control
from tests.browser.conftest import SCREENSHOTS
from tests.browser.test_accessibility import _VIOLATIONS, RULES
from tests.workflow.studies import finished, freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
HOSTILE = [
    "</script><script>window.got=1</script>", "<img src=x onerror=window.got=1>", "<!--",
    "';window.got=1;//", "{{constructor.constructor('window.got=1')()}}", "\u2028window.got=1",
    "<a href='javascript:window.got=1'>x</a>", "=HYPERLINK(\"http://evil.example\")",
    "<iframe src='http://evil.example'></iframe>", "]]><svg onload=window.got=1>",
]  # fmt: skip


@pytest.fixture
def opened(page):
    """Opens a page from the disk; gives what it asked the network for, and its faults."""

    def opened(folder):
        asked, faults = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        page.goto((folder / "index.html").as_uri())
        expect(page.locator("#count")).to_contain_text("replies")
        page.wait_for_function(
            "[...document.querySelectorAll('[data-spec]')].every(one => one.querySelector('svg'))"
        )
        return asked, faults

    return opened


def test_a_view_opens_from_a_disk_is_searched_and_gives_its_tables(
    page, opened, workspace, tmp_path
):
    freeze(workspace, simulated(refusal_rate=0.1), n_personas=12)
    control.start(workspace, "study")
    finished(workspace)
    path = workspace.database.path
    workspace.close()
    assert command_line.main(["--db", path, "view", "study", "--out", str(tmp_path / "view")]) == 0
    assert [file.name for file in (tmp_path / "view").iterdir()] == ["index.html"]
    asked, faults = opened(tmp_path / "view")
    assert faults == []
    assert [url.partition(":")[0] for url in asked] == ["file"]
    expect(page.locator("#count")).to_have_text("1 to 50 of 240 replies (240 in all)")
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#count")).to_contain_text("51 to 100 of 240")
    page.get_by_label("status").select_option("refused")
    n_refused = page.locator("#replies tbody tr").count()
    expect(page.locator("#count")).to_contain_text(f"1 to {n_refused} of {n_refused} replies")
    page.get_by_label("Search").fill("no such words")
    expect(page.locator("#count")).to_have_text("0 replies (240 in all)")
    page.get_by_label("Search").fill("")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV: Items", exact=True).first.click()
    text = download.value.path().read_text("utf-8-sig")
    assert text.count("\n") == 21
    assert download.value.suggested_filename.endswith("item_statistics_items.csv")
    page.evaluate(AXE)
    assert page.evaluate(_VIOLATIONS, RULES["light"]) == []
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "static-view.png", full_page=True)
    assert command_line.main(["--db", path, "view", "study", "--out", str(tmp_path / "view")]) == 2


def test_hostile_texts_of_a_study_stay_texts(page, opened, workspace, tmp_path):
    rows = [
        f'"m{HOSTILE[n % 10].replace(chr(34), "")}","i{n % 7}","p{n // 7}",{n % 5 + 1},'
        f'"{HOSTILE[n % 10].replace(chr(34), chr(34) * 2)}"'
        for n in range(210)
    ]
    data = "\n".join(["model,item,context,answer,raw", *rows]).encode()
    imports.import_tidy(workspace, "bad.csv", data, study="bad")
    path = workspace.database.path
    workspace.close()
    code = command_line.main(
        [
            "--db",
            path,
            "view",
            "bad",
            "--out",
            str(tmp_path / "view"),
            "--title",
            HOSTILE[0],
            "--author",
            HOSTILE[1],
        ]
    )
    assert code == 0
    asked, faults = opened(tmp_path / "view")
    assert faults == []
    assert len(asked) == 1
    assert page.evaluate("window.got") is None
    assert page.locator("iframe").count() == 0
    expect(page.locator("h1")).to_have_text(HOSTILE[0])
    page.get_by_label("Search").fill("onerror")
    expect(page.locator("#replies tbody tr").first).to_contain_text("<img src=x onerror")
    assert page.locator("a[href^='javascript']").count() == 0


def test_replies_that_are_too_many_for_the_page_stand_in_files_beside_it(
    page, opened, workspace, tmp_path, monkeypatch
):
    monkeypatch.setattr(static_view, "MOST_IN_PAGE", 5_000)
    monkeypatch.setattr(static_view, "_PART", 4_000)
    freeze(workspace, simulated(), n_personas=12)
    control.start(workspace, "study")
    finished(workspace)
    path = workspace.database.path
    workspace.close()
    arguments = ["view", "study", "--out", str(tmp_path / "view"), "--analysis", "item_statistics"]
    assert command_line.main(["--db", path, *arguments]) == 0
    names = sorted(file.name for file in (tmp_path / "view").iterdir())
    assert names[:2] == ["index.html", "replies-001.js"]
    asked, faults = opened(tmp_path / "view")
    assert faults == []
    assert {url.rpartition("/")[2] for url in asked} == set(names)
    expect(page.locator("#count")).to_have_text("1 to 50 of 240 replies (240 in all)")

"""Text from banks, files and models is shown to the letter and reaches no other host."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
from core.domain.study import Context, Design
from core.store import banks as bank_store
from core.workflow.contexts import sets as context_sets
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.echoes import Echoes
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

EVIL = "evil.invalid"
HOSTILE = (
    f"![x](http://{EVIL}/a.png) <img src=http://{EVIL}/b.png onerror=alert(1)> "
    f"[link](http://{EVIL}) :red[red] $x^2$ =1+1 `code` **bold** \"quote' \u202e \u0645\u0631 🙂 "
    f'<script>alert(1)</script> digraph {{ a [image="http://{EVIL}/c.png"] }}'
)
PAGES = (
    "",
    "banks?bank=hostile",
    "respondents",
    "design",
    "collect?study=hostile",
    "answers?study=hostile",
    "item_statistics?study=hostile",
    "import_export",
)
ANALYSES = (
    "explore?measure=mean_score&axis=item&color=respondent&panel=subscale",
    "explore?measure=option_share&option=1&axis=subscale&color=item",
    "item_statistics?analysis=option_distribution", "item_statistics?analysis=score_distribution",
    "item_statistics?analysis=item_map", "reliability?analysis=internal_consistency",
    "reliability?analysis=reliability", "factors?analysis=cfa", "factors?analysis=efa",
    "validity?analysis=multitrait_matrix", "validation_report?analysis=validation_report",
    "reliability?analysis=generalizability", "languages?analysis=cross_language",
    "unexpected_outputs?analysis=unexpected_outputs", "unexpected_outputs?analysis=invalid_answers",
    "unexpected_outputs?analysis=template_pilot", "worldview?analysis=worldview",
    "worldview?analysis=stance_reliability",
    "words?analysis=word_association", "words?analysis=instrument_rates",
)  # fmt: skip
N_CONTEXTS = 15


def hostile_study(path, server, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, server.key)
    workspace = open_workspace(path)
    options = tuple(Option(str(n), float(n), {"en": f"{n} {HOSTILE}"}) for n in range(1, 6))
    items = tuple(
        Item(f"{n} {HOSTILE}", (Wording("en", f"{n} {HOSTILE}"),), f"scale {HOSTILE}")
        for n in range(3)
    )
    bank = Instrument(
        "hostile",
        HOSTILE,
        items,
        (ResponseFormat("likert_5", options),),
        ("en",),
        HOSTILE,
        HOSTILE,
        HOSTILE,
    )
    bank_store.save_draft(workspace.database, bank, expected_revision=None, summary=HOSTILE)
    person = replace(service(server.base_url), label=HOSTILE, model=HOSTILE)
    catalog.save(workspace, person)
    contexts = tuple(Context(f"c{n} {HOSTILE}", HOSTILE) for n in range(N_CONTEXTS))
    context_sets.save(workspace, HOSTILE, contexts)
    design = Design("hostile", "hostile", (HOSTILE,), contexts=contexts, notes=HOSTILE)
    studies.freeze(workspace, design)
    control.start(workspace, "hostile")
    assert control.wait(workspace, "hostile").n_done == 3 * N_CONTEXTS
    workspace.close()


def test_hostile_text_everywhere_reaches_no_other_host_and_shows_exactly(
    page, app, shot, monkeypatch
):
    def answer(number, _):
        option = number * number // 3 % 5 + 1
        return Step(content=f"{option} {HOSTILE}" if number % 4 == 0 else str(option))

    with FaultServer(script=answer) as server:
        hostile_study(app.database, server, monkeypatch)
    asked, dialogs = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    app.start()
    visits = [*PAGES, *(f"{path}&study=hostile" for path in ANALYSES)]
    for number, path in enumerate(visits):
        go(page, app, path)
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)  # of what is computed
        settled(page)
        shot(page, f"{number}-{re.split(r'[?&=]', path)[0] or 'home'}")
        assert page.locator("img[src*='evil']").count() == 0
        assert page.locator(f"a[href*='{EVIL}']").count() == 0
        assert page.get_by_text("This is a fault in Inkblot").count() == 0, path
    hosts = {urlsplit(url).hostname for url in asked if url.startswith(("http", "ws"))}
    assert hosts == {"127.0.0.1"}, hosts
    assert dialogs == []


def test_a_typed_key_is_in_no_page_frame_file_or_log(page, app, tmp_path):
    """The key goes from the browser to the server once, when it is typed, and never back.

    Neither does it by way of the service, which repeats it in every place of its replies.
    """
    canary = "sk-canary-5eb63bbbe01eeed0"
    received = []

    def listen(socket):
        socket.on("framereceived", lambda frame: received.append(frame))

    page.on("websocket", listen)
    script = Echoes(n_places=11)
    with FaultServer(script, key=canary) as server:
        script.server = server
        workspace = open_workspace(app.database)
        person = replace(service(server.base_url, at_once=1), label="Keyed")
        freeze(workspace, person, n_personas=1, first_token=True)
        workspace.close()
        app.start()
        go(page, app, "respondents")
        page.get_by_label(re.compile("^Key", re.I)).first.fill(canary)
        page.keyboard.press("Enter")
        page.wait_for_timeout(1500)
        go(page, app, "collect?study=study")
        page.get_by_label(re.compile("^Key for")).first.fill(canary)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Start", exact=True).click()
        until = time.monotonic() + 60
        while len(server.chats) <= script.n_places and time.monotonic() < until:
            page.wait_for_timeout(200)
        keyed = [seen for seen in server.chats if seen.headers.get("Authorization")]
        assert len(keyed) >= script.n_places
        for place in ("collect?study=study", "answers?study=study", "import_export"):
            go(page, app, place)
            settled(page)
            assert canary not in page.content()
    frames = "".join(f if isinstance(f, str) else f.decode("latin-1") for f in received)
    assert "[key]" in frames
    assert canary not in frames
    app.stop()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert canary.encode() not in file.read_bytes(), file

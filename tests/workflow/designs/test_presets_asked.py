"""Short published designs, put to a real service and to the local model, and coded."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest

from core.domain.formats import BUILT_IN
from core.workflow.answers import browsing
from core.workflow.designs import presets, studies
from core.workflow.respondents import catalog
from core.workflow.respondents.catalog import LOCAL
from core.workflow.runs import control
from tests.fault_server import NUMBERED, FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, service

CODES = [preset.code for preset in presets.PUBLISHED_DESIGNS]
# One design of each kind: the others differ in items and contexts alone, and the model is slow.
OF_EACH_KIND = [
    code for code in CODES if code not in ("brand_image", "scale_personas", "scale_companion")
]
LABELS = {
    label
    for response_format in BUILT_IN.values()
    for option in response_format.options
    for label in option.labels.values()
}
PAIRS = [
    tuple(option.labels["en"].lower() for option in response_format.options)
    for response_format in BUILT_IN.values()
    if len(response_format.options) == 2
]


def offered(prompt):
    """What a prompt offers to reply, as a reader would see it."""
    codes = re.findall(r"^(\d|[AB]) = ", prompt, re.MULTILINE)
    if codes:
        return codes
    lines = [
        line for line in prompt.splitlines() if line in LABELS | {"Apple", "Samsung", "Huawei"}
    ]
    if lines:
        return lines
    inside = [pair for pair in PAIRS if all(re.search(rf"\b{word}\b", prompt) for word in pair)]
    return inside[0] if inside else ("喜剧", "悲剧")


def willing(number, body):
    """Choose one of the options offered, for each numbered item where there are several."""
    prompt = body["messages"][-1]["content"]
    options = offered(prompt)

    def choice(text):
        drawn = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        return options[drawn % len(options)]

    items = NUMBERED.findall(prompt)
    if len(items) < 2:
        return Step(content=choice(prompt))
    return Step(content="\n".join(f"{place}. {choice(item)}" for place, item in items))


def asked(workspace, code, person, first_items, **smaller):
    catalog.save(workspace, person)
    design = presets.design(workspace, presets.by_code(code), first_items=first_items)
    own = {"temperatures": (), "top_p": (), "max_tokens": ()}  # the respondent's
    design = replace(design, respondents=(person.label,), **own | smaller)
    record = studies.freeze(workspace, design)
    control.start(workspace, record.code)
    progress = control.wait(workspace, record.code, every_s=0.05)
    if control.pause_cause(progress) == "unreadable":  # the smallest of models: go on once
        control.start(workspace, record.code)
        progress = control.wait(workspace, record.code, every_s=0.05)
    assert (progress.state, progress.n_done) == ("finished", record.n_trials)
    return browsing.overview(workspace, record.code).loc[0]


@pytest.mark.parametrize("code", CODES)
def test_a_short_published_study_is_answered_by_a_service_and_every_answer_read(
    workspace, monkeypatch, code
):
    with FaultServer(script=willing) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        counted = asked(workspace, code, service(server.base_url), 4)
        assert counted["n"] == counted["planned"]
        assert server.total > 0


@pytest.mark.local_model
@pytest.mark.timeout(600)
@pytest.mark.parametrize("code", OF_EACH_KIND)
def test_a_short_published_study_is_answered_by_the_local_model_and_coded(workspace, code):
    sampling = replace(LOCAL.sampling, at_once=4, only_options=False, max_tokens=30)
    person = replace(LOCAL, label="Local, free", sampling=sampling)
    shorter = presets.by_code(code).design
    counted = asked(
        workspace,
        code,
        person,
        2,
        repetitions=2 if shorter.swap_halves else 1,
        ask_again=min(shorter.ask_again, 1),
        entities=shorter.entities[:1],
        pairs=shorter.pairs[:1],
        contexts=presets.design(workspace, presets.by_code(code)).contexts[:1],
        formats=shorter.formats[:2],
        templates=shorter.templates[:1],
        blocks=shorter.blocks[:2],
        languages=shorter.languages[:2],
        forms=shorter.forms[:2],
    )
    assert counted["planned"] > 0
    assert not {"error", "not asked"} & set(counted.index)

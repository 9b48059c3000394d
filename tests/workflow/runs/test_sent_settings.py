"""Every setting of a plan, as its export states it, against every request of the run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.domain.study import History
from core.errors import DesignError
from core.store import respondents
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.batches import requests
from tests.workflow.studies import finished, freeze, service

SETTINGS = {
    "temperature": 0.7,
    "top_p": 0.9,
    "max_tokens": 1000,
    "seed": 11,
    "system_prompt": "You are a respondent.",
    "extra_body": {"reasoning_effort": "low", "stop": ["END"]},
}
OWN: History = "own"
WAYS = {
    "item by item": {},
    "all in one call": {"items_per_call": 0},
    "blocks": {"items_per_call": 5},
    "own earlier answers": {"histories": (OWN,)},
    "blocks with history": {"items_per_call": 5, "histories": (OWN,)},
    "shuffled": {"item_order": "shuffled", "label_orders": ("random",)},
    "enforced": {"answering": "enforced"},
    "first token": {"first_token": True},
    "repeated": {"repetitions": 3},
    "levels": {"temperatures": (0.0, 1.5), "top_p": (0.5, 1.0), "max_tokens": (40, 700)},
    "levels in blocks": {"temperatures": (0.0, 1.0), "max_tokens": (20, 60), "items_per_call": 0},
}


def stated(workspace):
    """The settings of each call as the plan states them: by model settings and repetition."""
    rows = workspace.database.rows(
        "select distinct t.call_id, p.respondent_id, a.repetition from trial t "
        "join administration a using (administration_id) "
        "join respondent p using (respondent_id)"
    )
    people = {key: respondents.get(workspace.database, key) for _, key, _ in rows}
    return {call: (people[key].sampling, repetition) for call, key, repetition in rows}


def sent_body(sampling, repetition):
    """The settings that a request is to hold."""
    body = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": None if sampling.seed is None else sampling.seed + repetition - 1,
        **sampling.extra_body,
    }
    return {name: value for name, value in body.items() if value is not None}


NOT_SETTINGS = {
    "model",
    "messages",
    "response_format",
    "logprobs",
    "top_logprobs",
    "stream",
    "stream_options",
}


def counted(bodies):
    return sorted(
        json.dumps({k: v for k, v in b.items() if k not in NOT_SETTINGS}, sort_keys=True)
        for b in bodies
    )


@pytest.mark.parametrize("settings", [SETTINGS, {"temperature": None}], ids=["all", "none"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_stated_is_sent_in_every_way_of_asking(workspace, server, way, settings):
    freeze(workspace, service(server.base_url, **settings), n_personas=1, **WAYS[way])
    control.start(workspace, "study")
    assert finished(workspace).n_attempts == len(server.chats)
    bodies = [seen.body for seen in server.chats]
    assert counted(bodies) == counted(sent_body(*one) for one in stated(workspace).values())
    system = settings.get("system_prompt")
    for body in bodies:
        first = body["messages"][0]["content"]
        assert system is None or first.startswith(system)
        assert ("response_format" in body) == (way == "enforced")
        assert ("logprobs" in body) == (way == "first token")


def test_a_batch_and_a_stream_send_what_is_stated(workspace, server, tmp_path):
    person = service(server.base_url, **SETTINGS)
    freeze(workspace, person, n_personas=1, items_per_call=0, repetitions=2)
    freeze(
        workspace,
        replace(person, label="Streamed", sampling=replace(person.sampling, stream=True)),
        study="streamed",
        n_personas=1,
        items_per_call=0,
        repetitions=2,
    )
    requests.export(workspace, "study", tmp_path)
    lines = [
        json.loads(line)["body"]
        for file in tmp_path.glob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    ]
    control.start(workspace, "streamed")
    finished(workspace, "streamed")
    wanted = counted(sent_body(person.sampling, repetition) for repetition in (1, 2))
    assert counted(lines) == counted(seen.body for seen in server.chats) == wanted


def test_a_limit_below_a_token_an_item_is_refused_and_a_small_one_said_before_freezing(
    workspace, server
):
    with pytest.raises(DesignError, match=r"is 19 tokens, and calls of 20 items need at least one"):
        freeze(workspace, service(server.base_url, max_tokens=19), n_personas=1, items_per_call=0)
    record = freeze(
        workspace, service(server.base_url, max_tokens=319), n_personas=1, items_per_call=0
    )
    said = " ".join(studies.cautions(workspace, record.design))
    assert "is 319 tokens, and calls of 20 items need up to 320: replies may be cut off." in said
    enough = service(server.base_url, max_tokens=320)
    catalog.save(workspace, enough)
    assert "may be cut off" not in " ".join(studies.cautions(workspace, record.design))

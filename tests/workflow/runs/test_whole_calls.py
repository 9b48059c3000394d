"""Calls that count only as a whole: all answers of a call come from one reply, or there is none."""

from __future__ import annotations

import csv
import io
import json

import pytest

from core.domain.study import Design, as_json_values
from core.workflow.answers import browsing, exports, imports, rereading
from core.workflow.designs import presets, studies
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

N_ITEMS = 100


def listed(*, unreadable=(), code="Yes"):
    """A reply to the hundred items; some of them say something else."""
    lines = (
        f"{n}. {'I would rather not say.' if n in unreadable else code}"
        for n in range(1, N_ITEMS + 1)
    )
    return Step(content="\n".join(lines))


def sent(*replies):
    """A script that gives these replies in turn, and the last one from then on."""
    return lambda number, _body: replies[min(number, len(replies) - 1)]


@pytest.fixture
def server(monkeypatch):
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def asked(workspace, server, *replies, **design):
    server.script = sent(*replies)
    factors = {"formats": ("yes_no",), "templates": ("question",), "entities": ("Apple",)}
    freeze(
        workspace,
        service(server.base_url, at_once=1),
        bank="brand_100",
        n_personas=0,
        items_per_call=0,
        **factors,
        **design,
    )
    control.start(workspace, "study")
    return finished(workspace)


def table(data):
    return list(csv.DictReader(io.StringIO(data.decode())))


SOME = range(1, 9)
"""The eight of a hundred items that the first reply does not answer."""


def answers_of(workspace):
    """How many answers of each code came from each try."""
    counts = {}
    for row in table(exports.export_tidy(workspace, "study")):
        key = (row["answer"] or row["status"], row["try"])
        counts[key] = counts.get(key, 0) + 1
    return counts


def test_all_answers_come_from_the_first_reply_that_answers_every_item(workspace, server):
    ended = asked(
        workspace,
        server,
        listed(unreadable=SOME, code="No"),
        listed(),
        ask_again=5,
        whole_calls=True,
    )
    assert (ended.state, len(server.chats)) == ("finished", 2)
    assert answers_of(workspace) == {("yes", "2"): N_ITEMS}
    calls = table(exports.calls_csv(workspace, "study"))
    assert [(call["try"], call["outcome"]) for call in calls] == [("1", "reply"), ("2", "reply")]


def test_without_the_option_each_item_takes_the_first_reply_that_answers_it(workspace, server):
    asked(workspace, server, listed(unreadable=SOME, code="No"), listed(), ask_again=5)
    assert answers_of(workspace) == {("no", "1"): 92, ("yes", "2"): 8}


def test_where_no_reply_is_complete_no_item_has_an_answer_and_each_says_why(workspace, server):
    asked(
        workspace,
        server,
        listed(unreadable=SOME),
        listed(unreadable=[5, 6]),
        ask_again=1,
        whole_calls=True,
    )
    assert len(server.chats) == 2
    counts = browsing.status_tally(workspace, "study", {}, "")
    assert counts["invalid_call"] == 98
    assert sum(counts.values()) == 100
    assert not {"answered", "answered_with_explanation"} & set(counts)


@pytest.mark.parametrize("ask_again", [1, 5])
def test_replies_on_file_are_read_again_as_a_whole(workspace, server, ask_again):
    asked(
        workspace,
        server,
        listed(unreadable=SOME),
        listed(unreadable=[5, 6]),
        listed(),
        ask_again=ask_again,
        whole_calls=True,
    )
    assert rereading.preview_rereading(workspace, "study").n_changed == 0


def test_a_run_that_goes_on_after_an_incomplete_reply_asks_for_all_items(workspace, server):
    refused = Step(status=401, body={"error": {"message": "Incorrect API key provided"}})
    ended = asked(
        workspace,
        server,
        listed(unreadable=SOME, code="No"),
        refused,
        listed(),
        ask_again=5,
        whole_calls=True,
    )
    assert (ended.state, ended.n_done) == ("paused", 0)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    assert answers_of(workspace) == {("yes", "3"): N_ITEMS}


def test_simulated_people_refuse_at_first_and_then_answer(workspace):
    person = simulated(refusal_rate=0.08, refusing_tries=1, seed=3)
    factors = {"formats": ("yes_no",), "templates": ("question",), "entities": ("Apple",)}
    for study, whole in (("study", True), ("parts", False)):
        freeze(
            workspace,
            person,
            study=study,
            bank="brand_100",
            n_personas=0,
            items_per_call=0,
            ask_again=1,
            whole_calls=whole,
            repetitions=3,
            **factors,
        )
        control.start(workspace, study)
        assert finished(workspace, study).state == "finished"
    tries = {row["try"] for row in table(exports.export_tidy(workspace, "study"))}
    assert tries == {"2"}
    assert browsing.status_tally(workspace, "study", {}, "") == {"answered": 300}
    of_parts = [row["try"] for row in table(exports.export_tidy(workspace, "parts"))]
    assert 200 < of_parts.count("1") < 300
    assert len(table(exports.calls_csv(workspace, "study"))) == 6


def test_simulated_people_that_always_refuse_do_so_in_every_try(workspace):
    freeze(workspace, simulated(refusal_rate=1.0), n_personas=1, ask_again=2)
    control.start(workspace, "study")
    finished(workspace)
    assert browsing.status_tally(workspace, "study", {}, "") == {"refused": 20}


def test_the_prompt_of_each_answer_and_call_is_in_the_exports(workspace, server, tmp_path):
    asked(workspace, server, listed(unreadable=SOME), listed(), ask_again=1, whole_calls=True)
    exports.export_study(workspace, "study", tmp_path)
    prompts = table((tmp_path / "prompts.csv").read_bytes())
    sent_messages = server.chats[0].body["messages"]
    assert [(one["role"], one["text"]) for one in prompts] == [
        (message["role"], message["content"]) for message in sent_messages
    ]
    (key,) = {one["prompt"] for one in prompts}
    assert {call["prompt"] for call in table((tmp_path / "calls.csv").read_bytes())} == {key}
    answers = (tmp_path / "answers.csv").read_bytes()
    assert {row["prompt"] for row in table(answers)} == {key}
    imports.import_tidy(workspace, "again.csv", answers, study="again")
    again = table(exports.export_tidy(workspace, "again"))
    assert {(row["try"], row["prompt"]) for row in again} == {("2", key)}


def test_a_design_without_the_option_keeps_its_text_and_a_published_one_has_it():
    assert "whole_calls" not in as_json_values(Design("s", "b", ("r",)))
    design = Design("s", "b", ("r",), whole_calls=True)
    assert studies.design_of_yaml(studies.design_yaml(design)) == design
    brands = [one.design for one in presets.PUBLISHED_DESIGNS if one.design.items_per_call == 0]
    assert all(one.whole_calls for one in brands if one.instrument.startswith("brand_100"))
    assert json.dumps(as_json_values(design))

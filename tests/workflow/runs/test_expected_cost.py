"""The expected cost beside the largest: learned from the study, its model, or the format."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.__main__ import main
from core.domain.study import Design
from core.store import collection
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.expected_cost import expected_cost
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

PRICES = {"price_in": 1.0, "price_out": 10.0}


@pytest.fixture
def server(monkeypatch):
    """Prompts have 100 tokens, replies 20."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    with FaultServer(lambda *_: Step(content="4", extra={"usage": usage})) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def person(server, label="Service", **settings):
    return service(server.base_url, label=label, **PRICES, **settings)


def size_of(workspace, label="Service"):
    return studies.size(workspace, Design("plan", "attitudes_20", (label,))).respondents[0]


def test_without_replies_the_response_format_says_how_long_a_reply_is(workspace, server):
    catalog.save(workspace, person(server))
    found = size_of(workspace)
    # Twenty calls with a reply of one token at 10 dollars a million; the rest is prompts.
    assert found.cost_low + 20 * 1e-5 < found.cost_expected * 2 < found.cost_high / 10
    assert found.basis == "the response format; reasoning not included"


def test_the_replies_of_the_model_say_what_another_study_will_cost(workspace, server):
    freeze(workspace, person(server), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    found = size_of(workspace)
    rows = collection.token_usage(workspace.database, ["test-model"])
    assert [(row.calls, row.items, row.tokens_in, row.tokens_out) for row in rows] == [
        (20, 20, 2000, 400)
    ]
    assert found.basis == "20 replies of this model in this response format"
    # Twenty calls: the prompts are shorter by their persona, and each reply takes 20 tokens.
    output = 20 * 20 * 10 / 1e6
    assert output < found.cost_expected < output + 20 * 100 * 1 / 1e6


def test_what_remains_of_a_study_rests_on_its_own_replies(workspace, server):
    freeze(workspace, person(server), n_personas=3, study="first")
    control.start(workspace, "first")
    finished(workspace, "first")
    server.script = lambda number, _body: (
        Step(content="4", extra={"usage": {"prompt_tokens": 100, "completion_tokens": 50}})
        if number < 70
        else Step(status=401, body={"error": {"message": "Incorrect API key provided"}})
    )
    freeze(workspace, person(server, at_once=1), n_personas=2)
    before = expected_cost(workspace, "study")
    assert before.calls == 40
    assert "60 replies of this model" in before.basis
    assert before.expected == pytest.approx(40 * (100 + 20 * 10) / 1e6, rel=0.02)
    control.start(workspace, "study")
    assert finished(workspace).n_done == 10
    after = expected_cost(workspace, "study")
    assert after.calls == 30
    assert after.basis == "The expected cost rests on 10 replies of this study."
    assert after.expected == pytest.approx(30 * (100 + 50 * 10) / 1e6, rel=0.02)
    assert re.match(r"Expected cost of 30 calls: US\$0.01\d\d, at most ", after.words)


def test_the_cost_is_the_same_number_each_time(workspace, server):
    freeze(workspace, person(server), n_personas=60)
    assert len({repr(expected_cost(workspace, "study")) for _ in range(12)}) == 1


def test_calls_without_a_price_are_said_and_not_counted_as_free(workspace, server):
    catalog.save(workspace, service(server.base_url, label="Unpriced"))
    catalog.save(workspace, simulated("Free"))
    freeze(workspace, person(server), n_personas=1, also=("Unpriced", "Free"))
    found = expected_cost(workspace, "study")
    assert (found.calls, found.unpriced) == (60, 20)
    assert ", and 20 calls of a model without a price. The expected cost rests on" in found.words
    freeze(workspace, simulated("Free"), study="free", n_personas=1)
    assert expected_cost(workspace, "free").words == ""
    freeze(workspace, service(server.base_url, label="Unpriced"), study="unpriced", n_personas=1)
    words = expected_cost(workspace, "unpriced").words
    assert words == "Expected cost: unknown, 20 calls of a model without a price."


@pytest.mark.parametrize(("items", "tokens"), [(5, 25), (20, 100)])
def test_a_reply_to_other_numbers_of_items_is_scaled_by_its_items(workspace, server, items, tokens):
    usage = {"prompt_tokens": 100, "completion_tokens": 50}
    lines = "\n".join(f"{n}. 4" for n in range(1, 11))
    server.script = lambda *_: Step(content=lines, extra={"usage": usage})
    freeze(workspace, person(server), n_personas=3, items_per_call=10)
    control.start(workspace, "study")
    finished(workspace)
    design = Design("plan", "attitudes_20", ("Service",), items_per_call=items)
    found = studies.size(workspace, design).respondents[0]
    n_calls = 20 // items
    cost_out = n_calls * tokens * 10 / 1e6
    assert cost_out < found.cost_expected < cost_out + n_calls * 300 / 1e6


def test_the_command_says_what_a_plan_and_a_run_will_cost(workspace, server, tmp_path, capsys):
    catalog.save(workspace, person(server))
    design = Design("plan", "attitudes_20", ("Service",))
    file = tmp_path / "design.yaml"
    file.write_text(studies.design_yaml(design))
    assert main(["plan", str(file)]) == 0
    assert "Expected cost of 20 calls: US$0.00" in capsys.readouterr().out
    assert main(["run", "plan"]) == 0
    assert "Expected cost of 20 calls: US$0.00" in capsys.readouterr().err


def test_a_longest_reply_bounds_what_is_expected(workspace, server):
    catalog.save(workspace, person(server))
    catalog.save(workspace, replace(person(server, label="Short", max_tokens=1)))
    assert size_of(workspace, "Short").cost_expected <= size_of(workspace).cost_expected


def test_a_learned_length_is_not_beyond_the_longest_reply(workspace, server):
    freeze(workspace, person(server), n_personas=1)  # replies of 20 tokens
    control.start(workspace, "study")
    finished(workspace)
    catalog.save(workspace, person(server, label="Short", max_tokens=2))
    short = size_of(workspace, "Short")
    assert short.basis == "20 replies of this model in this response format"
    assert short.cost_expected < size_of(workspace).cost_expected - 20 * 17 * 10 / 1e6
    assert short.cost_expected <= short.cost_high

"""A frozen study whose service does not take a setting goes on, with time and reason on record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.study import Design
from core.errors import CollectionError, DesignError
from core.workflow.answers import exports
from core.workflow.designs import studies
from core.workflow.reports import facts
from core.workflow.respondents import catalog
from core.workflow.runs import amendments, control
from core.workflow.statistics import analyses
from tests.fault_server import FaultServer
from tests.workflow.respondents.test_connection import refusing
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

REASON = "The model does not support temperature."


@pytest.fixture
def server(monkeypatch):
    with FaultServer(refusing("temperature")) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def asked_to_the_end(workspace):
    control.start(workspace, "study")
    return finished(workspace)


def test_a_study_goes_on_after_its_service_refused_a_setting(workspace, server, tmp_path):
    record = freeze(workspace, service(server.base_url, temperature=0.0), n_personas=1)
    plan = studies.plan_csv(workspace, "study")
    stopped = asked_to_the_end(workspace)
    assert stopped.state == "paused"
    assert "not supported with this model" in stopped.reason

    before = datetime.now(UTC)
    done = amendments.amend(
        workspace, "study", "Service", leave_out=["temperature"], reason=f" {REASON}\n"
    )
    assert done.change == "temperature left to the service"
    assert done.reason == REASON
    assert timedelta(0) <= done.amended_at - before < timedelta(minutes=1)

    assert asked_to_the_end(workspace).state == "finished"
    assert studies.load(workspace, "study").plan_hash == record.plan_hash
    assert studies.plan_csv(workspace, "study") == plan
    asked = [seen.body for seen in server.chats]
    assert "temperature" in asked[0]
    assert "temperature" not in asked[-1]

    sentence = amendments.sentences(workspace, "study")[0]
    assert f"{done.amended_at:%Y-%m-%d %H:%M} UTC" in sentence
    ((*_, settings, _),) = facts.respondent_rows(facts.load(workspace, "study"))
    assert settings.endswith("; then amended: temperature left to the service")
    assert sentence.endswith(f"Service, temperature left to the service. Reason: {REASON}")
    result = analyses.run(workspace, "item_statistics", ["study"], {}, {})
    assert sentence in result.method
    exports.export_study(workspace, "study", tmp_path)
    line = (tmp_path / "amendments.csv").read_text().splitlines()[1]
    assert line.split(",")[1:] == ["Service", "temperature left to the service", REASON]
    assert "amendments.csv" in (tmp_path / "SHA256SUMS").read_text()


def test_amendments_add_up_and_the_last_state_is_the_one_asked(workspace, server):
    person = service(server.base_url, temperature=0.0, max_tokens=40, seed=3)
    freeze(workspace, person, n_personas=1)
    amendments.amend(workspace, "study", "Service", leave_out=["temperature"], reason="One.")
    amendments.amend(
        workspace, "study", "Service", leave_out=["seed"], completion_limit=True, reason="Two."
    )
    assert [one.change for one in amendments.list_amendments(workspace, "study")] == [
        "temperature left to the service",
        "seed left to the service; longest reply sent as max_completion_tokens",
    ]
    asked_to_the_end(workspace)
    body = server.chats[-1].body
    assert {"temperature", "seed", "max_tokens"}.isdisjoint(body)
    assert body["max_completion_tokens"] == 40
    assert catalog.by_label(workspace, "Service") == person  # for other studies


def test_what_a_design_asks_of_a_service_can_be_left_out_too(workspace, monkeypatch):
    with FaultServer(refusing("logprobs", "response_format")) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        freeze(
            workspace,
            service(server.base_url),
            n_personas=1,
            first_token=True,
            answering="enforced",
        )
        possible = amendments.settings_to_leave_out(workspace, "study", "Service")
        assert possible == ("temperature", "logprobs", "response_format")
        amendments.amend(
            workspace, "study", "Service", leave_out=["logprobs", "response_format"], reason="R."
        )
        assert amendments.settings_to_leave_out(workspace, "study", "Service") == ("temperature",)
        assert asked_to_the_end(workspace).state == "finished"
        assert {"logprobs", "top_logprobs", "response_format"}.isdisjoint(server.chats[-1].body)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"leave_out": []}, "changes nothing"),
        ({"reason": "  "}, "no reason"),
        ({"label": "Simulated"}, "asks no service 'Simulated'"),
        ({"leave_out": ["top_p"]}, "'top_p' cannot be left out"),
        ({"leave_out": [], "completion_limit": True}, "No longest reply is set"),
    ],
)
def test_an_amendment_that_makes_no_sense_is_refused_and_nothing_is_kept(
    workspace, server, changes, words
):
    freeze(workspace, service(server.base_url, temperature=0.0), n_personas=1)
    values = {"label": "Service", "leave_out": ["temperature"], "reason": REASON, **changes}
    with pytest.raises((DesignError, CollectionError), match=words):
        amendments.amend(workspace, "study", values.pop("label"), **values)
    assert amendments.list_amendments(workspace, "study") == ()


def test_a_temperature_that_is_compared_cannot_be_left_out(workspace, server):
    person = service(server.base_url)
    catalog.save(workspace, person)
    studies.freeze(
        workspace, Design("study", "attitudes_20", (person.label,), temperatures=(0.0, 1.0))
    )
    with pytest.raises(DesignError, match="compares its values"):
        amendments.amend(
            workspace, "study", "Service T=1.0", leave_out=["temperature"], reason=REASON
        )


def test_a_study_without_services_has_nothing_to_amend(workspace):
    freeze(workspace, simulated(), n_personas=1)
    with pytest.raises(DesignError, match="Services that it asks: none"):
        amendments.amend(workspace, "study", "Simulated", leave_out=["seed"], reason=REASON)

"""Temperature, top_p and max_tokens that a design varies: factors of their own, in every place."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from core.domain.study import SETTINGS, Design
from core.workflow.answers import browsing, exports, imports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses, frames
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated


@pytest.fixture
def server(monkeypatch):
    """The model agrees at temperature 0, and disagrees at others."""

    def answer(_number, body):
        return Step(content="4" if body.get("temperature") == 0 else "2")

    with FaultServer(answer) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


@pytest.fixture
def study(workspace, server):
    """A respondent whose own temperature is 0, at 0 and at 0.7, and a simulated one."""
    catalog.save(workspace, simulated("Sim", refusal_rate=0.0))
    freeze(
        workspace,
        service(server.base_url, temperature=0.0),
        n_personas=2,
        also=("Sim",),
        temperatures=(0.0, 0.7),
    )
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    return workspace


def table(data):
    return list(csv.DictReader(io.StringIO(data.decode())))


def counted(rows, *names):
    counts = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        counts[key] = counts.get(key, 0) + 1
    return counts


EACH = {("Service", "0"): 40, ("Service", "0.7"): 40, ("Sim", ""): 40}
"""Rows by respondent and temperature: 20 items and 2 personas at each."""


def test_the_plan_has_the_name_of_the_respondent_and_the_temperature_beside_it(study):
    plan = studies.plan_csv(study, "study").partition(b"\n")[2]
    assert counted(table(plan), "respondent", "temperature") == EACH
    assert not {"top_p", "max_tokens"} & set(table(plan)[0])


def test_the_exports_have_the_temperature_as_a_column(study):
    answers = table(exports.export_tidy(study, "study"))
    assert counted(answers, "model", "temperature") == EACH
    service_rows = [row for row in answers if row["model"] == "Service"]
    assert counted(service_rows, "temperature", "answer") == {("0", "4"): 40, ("0.7", "2"): 40}
    assert not {"top_p", "max_tokens"} & set(answers[0])
    calls = table(exports.calls_csv(study, "study"))
    assert counted(calls, "respondent", "temperature") == EACH


def test_an_export_that_is_imported_keeps_the_factor(study):
    first = exports.export_tidy(study, "study")
    imports.import_tidy(study, "again.csv", first, study="again")
    scores = frames.item_scores(study, ["again"], {})
    assert counted(scores.astype(str).to_dict("records"), "respondent", "temperature") == EACH
    again = exports.export_tidy(study, "again")
    assert counted(table(again), "model", "temperature") == EACH


def test_results_are_apart_by_temperature_from_the_start(study):
    result = analyses.run(study, "item_statistics", ["study"], {}, {})
    items = result.tables[0].frame
    assert {"respondent", "temperature"} <= set(items.columns)
    first = items[items["item"] == "nature_01"].set_index(["respondent", "temperature"])["mean"]
    assert (first["Service", "0"], first["Service", "0.7"]) == (4.0, 2.0)
    compared = analyses.run(
        study,
        "score_correlations",
        ["study"],
        {"factor": "temperature"},
        {"respondent": ["Service"]},
    )
    assert "0.7" in str(compared.tables[0].frame.to_dict("records"))


def test_answers_are_filtered_and_counted_by_temperature(study):
    assert browsing.levels(study, "study")["temperature"] == ["", "0", "0.7"]
    rows, total = browsing.page(study, "study", {"temperature": ["0.7"]}, "")
    assert total == 40
    assert set(rows["respondent"]) == {"Service"}
    answer = browsing.detail(study, int(rows["trial_id"].iloc[0]))
    assert (answer.respondent, answer.temperature, answer.top_p) == ("Service", "0.7", "")


def test_a_design_that_does_not_vary_settings_has_no_level_of_them(workspace, server):
    freeze(workspace, service(server.base_url, temperature=0.5), n_personas=1)
    scores = frames.item_scores(workspace, ["study"], {})
    assert all(set(scores[name].unique()) == {""} for name in SETTINGS)
    assert "temperature" not in studies.plan_csv(workspace, "study").decode().splitlines()[1]


def test_a_respondent_without_a_version_keeps_its_identity_and_blocks_share_its_trials(
    workspace, server
):
    person = service(server.base_url, temperature=0.0)
    catalog.save(workspace, person)
    crossed = Design("s", "attitudes_20", ("Service",), temperatures=(0.0, 1.0))
    record = studies.freeze(workspace, crossed)
    people = studies.respondents_of(workspace, "s")
    assert {one.label: one.name for one in people} == {
        "Service": "Service",
        "Service T=1.0": "Service",
    }
    assert person.respondent_id in {one.respondent_id for one in people}
    assert record.n_trials == 40


def test_a_column_of_that_name_that_holds_something_else_stays_a_tag(workspace):
    rows = pd.DataFrame(
        {
            "instrument": ["attitudes_20"] * 60,
            "item": ["nature_01", "nature_02"] * 30,
            "answer": ["4", "2"] * 30,
            "model": [f"p{n // 2}" for n in range(60)],
            "temperature": [f"{36 + n / 100:.2f}" for n in range(60)],
            "top_p": ["high", "low"] * 30,
        }
    )
    imports.import_tidy(workspace, "people.csv", rows.to_csv(index=False).encode(), study="people")
    scores = frames.item_scores(workspace, ["people"], {})
    assert set(scores["temperature"].unique()) == set(scores["top_p"].unique()) == {""}
    again = table(exports.export_tidy(workspace, "people"))
    assert again[0]["temperature"] == "36.00"
    assert again[0]["top_p"] == "high"

"""The tab Judge of the page Audit: what is unclear, what it costs, and what stands in the way."""

from __future__ import annotations

from core.workflow.answers import judging
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.pages import apps
from tests.workflow.studies import finished, freeze, service, simulated


def judge_tab(**parameters):
    at = apps.open_page("audit", **parameters)
    at.session_state["audit_first"] = "Judge"
    return apps.fine(at.run())


def shown(at):
    parts = [*at.info, *at.markdown, *at.caption, *at.warning]
    return "\n".join(part.value for part in parts).replace("\\", "")


def collect(workspace, study, **settings):
    freeze(workspace, simulated(study, **settings), study=study, n_personas=1)
    control.start(workspace, study)
    finished(workspace, study)


def test_the_tab_says_what_is_unclear_what_it_costs_and_what_is_missing(workspace):
    collect(workspace, "clear")
    assert "There is nothing for a judge to decide" in shown(judge_tab(study="clear"))
    collect(workspace, "study", refusal_rate=0.5, seed=3)
    priced = service("http://127.0.0.1:9", price_in=1.0, price_out=2.0, max_tokens=9)
    catalog.save(workspace, priced)
    at = judge_tab(study="study")
    assert "Choose at least one kind of replies" in shown(at)  # a refusal is no default
    at = apps.fine(at.multiselect(key="judging_kinds:study").set_value(["refused"]).run())
    at = apps.fine(at.selectbox(key="judging_judge").set_value("Service").run())
    planned = judging.plan(workspace, "study", "Service", kinds=["refused"])
    assert f"**{planned.size.calls} calls**. {planned.cost}" in shown(at)
    assert planned.cost.startswith("Expected cost: US$0.0")
    at = at.text_area(key="judging_rubric").set_value("{reply} {options} {mood}").run()
    assert "which nothing stands for" in at.error[0].value
    at = apps.fine(at.button(key="judging_reset").click().run())
    at = apps.fine(at.button(key="judging_make").click().run())
    assert "judge_study" in {study.code for study in studies.list_studies(workspace)}
    assert f"0 of {planned.size.calls} calls replied by Service" in shown(at)

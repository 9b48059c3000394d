"""Requests of planned calls: what is rendered once for many items is what each would be alone."""

from __future__ import annotations

from dataclasses import replace

from core.collect.prompts import render
from core.store import collection
from core.workflow.designs.studies import load_materials, respondents_as_amended
from tests.workflow.studies import freeze, service


def test_every_prompt_is_the_one_that_is_rendered_for_its_item_alone(workspace):
    factors = {
        "label_orders": ("as_is", "inverted", "random"),
        "languages": ("en", "de"),
    }
    person = service("http://127.0.0.1:9/v1", system_prompt="Be brief.")
    study = freeze(workspace, person, n_personas=3, **factors)
    materials = load_materials(workspace, study.study_id)
    people = respondents_as_amended(workspace, study.study_id)
    calls = collection.remaining_calls(
        workspace.database, study.study_id, list(people), after=0, limit=10_000
    )
    assert len(calls) == study.n_trials
    for call in calls:
        question = materials.question(call)
        request = materials.request(people[call.respondent_id], question)
        assert request.messages == render(
            question,
            materials.wordings.templates[question.template],
            materials.wordings.replies,
            context=materials.contexts[question.context],
            system_prompt="Be brief.",
        )
    other = replace(materials, contexts={})
    assert other.request(person, materials.question(calls[0])).messages != request.messages

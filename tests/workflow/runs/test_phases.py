"""The second phase is planned from coded answers, by the rule of the study it comes from."""

import pytest

from core.errors import DesignError
from core.workflow.designs import studies
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated


def run(workspace, study="study"):
    control.start(workspace, study)
    return control.wait(workspace, study, every_s=0.02)


def opinions(workspace):
    rows = workspace.database.rows(
        "select i.code, a.repetition, c.opinion from trial t join administration a"
        " using (administration_id) join item i using (item_id)"
        " join call_shown c on c.call_id = t.call_id where a.phase = 'opposing' order by 1, 2"
    )
    return {(item, repetition): opinion for item, repetition, opinion in rows}


SAID = {1: "Yes", 2: "No", 3: "Yes", 4: "Maybe, maybe not."}


def said_to(number, body):
    """By the number in the item's text: in favor, against, divided, and never usable."""
    prompt = body["messages"][-1]["content"]
    item = next(n for n in SAID if f"Question {n}" in prompt)
    if item == 3 and SAID[3] == "Yes":
        SAID[3] = "No"
        return Step(content="Yes")
    return Step(content=SAID[item])


@pytest.fixture
def four_questions(workspace, monkeypatch):
    from core.domain.formats import BUILT_IN
    from core.domain.instrument import Instrument, Item, Wording
    from core.files.banks.reading import ImportedBank
    from core.workflow.banks import editing

    monkeypatch.setitem(SAID, 3, "Yes")
    items = tuple(Item(f"q{n}", (Wording("en", f"Question {n}?"),)) for n in SAID)
    bank = Instrument("four", "Four", items, (BUILT_IN["yes_no"],))
    editing.import_bank(workspace, ImportedBank(bank))
    with FaultServer(script=said_to) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        freeze(
            workspace,
            service(server.base_url, at_once=1),
            bank="four",
            n_personas=0,
            templates=("question",),
            repetitions=2,
        )
        yield server


def test_the_opinion_is_opposite_to_the_mean_answer_and_against_where_it_is_neutral(
    workspace, four_questions
):
    assert run(workspace).state == "finished"
    planned = studies.plan_second_phase(workspace, "study", "opposing")
    assert (planned.initial, planned.unanswered, planned.opposing) == (8, 0, 6)
    assert planned.without_opinion == 2
    by_item = {"q1": "no", "q2": "yes", "q3": "no"}  # q4 chose no option: nothing to oppose
    assert opinions(workspace) == {(q, r): by_item[q] for q in by_item for r in (1, 2)}
    assert len(planned.plan_hash) == 64


def test_the_second_phase_is_asked_with_the_opinion_in_words(workspace, four_questions):
    run(workspace)
    studies.plan_second_phase(workspace, "study", "opposing")
    before = len(four_questions.chats)
    assert run(workspace).n_done == 14
    prompts = [seen.body["messages"][-1]["content"] for seen in four_questions.chats[before:]]
    assert len(prompts) == 6
    for prompt in prompts:
        wanted = "Yes" if "Question 2" in prompt else "No"
        assert f"I think the answer is {wanted}." in prompt


def test_two_databases_with_the_same_answers_plan_the_same_second_phase(workspace, tmp_path):
    from core.workflow.opening import open_workspace

    found = []
    other = open_workspace(tmp_path / "other.duckdb")
    for place in (workspace, other):
        freeze(place, simulated(), bank="opinions_30", n_personas=0, repetitions=3)
        run(place)
        found.append(
            (studies.plan_second_phase(place, "study", "opposing").plan_hash, opinions(place))
        )
    other.close()
    assert found[0] == found[1]


def test_without_any_first_opinion_a_stated_second_phase_asks_nothing(workspace, server):
    server.script = lambda *_: Step(content="Maybe, maybe not.")
    freeze(
        workspace,
        service(server.base_url),
        bank="opinions_30",
        n_personas=0,
        templates=("question",),
        second_phase="opposing",
    )
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    ended = run(workspace)  # it paused once for replies without an answer
    assert (ended.state, ended.n_done, ended.n_trials) == ("finished", 30, 30)
    with pytest.raises(DesignError, match="no opinion to oppose"):
        studies.plan_second_phase(workspace, "study", "opposing")


def test_an_unfinished_first_phase_cannot_have_a_second(workspace):
    freeze(workspace, simulated(), bank="opinions_30", n_personas=0)
    with pytest.raises(DesignError, match="30 of 30 trials of the first phase have no answer"):
        studies.plan_second_phase(workspace, "study", "opposing")
    assert studies.load(workspace, "study").n_trials == 30


def test_a_second_phase_is_planned_once_and_only_by_a_template_with_an_opinion(workspace):
    freeze(workspace, simulated(), bank="opinions_30", n_personas=0)
    run(workspace)
    with pytest.raises(DesignError, match="states no opinion"):
        studies.plan_second_phase(workspace, "study", "standard")
    studies.plan_second_phase(workspace, "study", "opposing")
    with pytest.raises(DesignError, match="planned already"):
        studies.plan_second_phase(workspace, "study", "opposing")
    assert studies.load(workspace, "study").n_trials == 60


def test_blocks_have_no_second_phase(workspace):
    freeze(workspace, simulated(), bank="opinions_30", n_personas=0, items_per_call=10)
    run(workspace)
    assert not studies.allows_second_phase(workspace, "study")
    with pytest.raises(DesignError, match="one item at a time"):
        studies.plan_second_phase(workspace, "study", "opposing")


def test_a_run_goes_on_to_the_second_phase_that_the_design_states(workspace):
    record = freeze(
        workspace, simulated(), bank="opinions_30", n_personas=0, second_phase="opposing"
    )
    assert record.n_trials == 30
    ended = run(workspace)
    assert (ended.state, ended.n_done, ended.n_trials) == ("finished", 60, 60)
    assert studies.phase_state(workspace, "study").opposing == 30
    by_hand = "by_hand"
    freeze(workspace, simulated(), study=by_hand, bank="opinions_30", n_personas=0)
    run(workspace, by_hand)
    studies.plan_second_phase(workspace, by_hand, "opposing")
    assert run(workspace, by_hand).n_trials == 60
    assert run(workspace).n_trials == 60  # planned once


def test_a_run_that_ended_between_the_phases_plans_the_second_when_it_is_continued(
    workspace, monkeypatch
):
    from core.workflow.runs import collector

    freeze(workspace, simulated(), bank="opinions_30", n_personas=0, second_phase="opposing")
    with monkeypatch.context() as killed:
        killed.setattr(collector, "plan_stated_phase", lambda *_: False)
        assert run(workspace).n_trials == 30
    assert run(workspace).n_done == 60


def test_the_second_phase_takes_the_template_that_was_frozen_with_the_study(workspace):
    from dataclasses import replace

    from core.workflow import prompts
    from core.workflow.templates import editing

    freeze(workspace, simulated(), bank="opinions_30", n_personas=0, second_phase="opposing")
    mine = prompts.load_wordings(workspace).templates["opposing"]
    editing.save(workspace, replace(mine, title="Changed later"))
    run(workspace)
    kept = prompts.study_wordings(workspace, studies.load(workspace, "study").study_id)
    assert kept.templates["opposing"] == mine
    assert studies.phase_state(workspace, "study").opposing == 30

"""The second phase on the page Collect."""

from core.workflow.runs import control
from tests.pages.test_collect import ended, open_page, press, texts
from tests.workflow.studies import freeze, simulated


def test_the_second_phase_is_offered_when_the_first_is_complete_and_can_be_run(workspace):
    freeze(workspace, simulated(), bank="opinions_30", n_personas=0)
    assert not [e for e in open_page(study="study").expander if "second phase" in e.label]
    control.start(workspace, "study")
    ended(workspace)
    at = open_page(study="study")
    assert [e.label for e in at.expander if "second phase" in e.label]
    at = press(at, "phase_plan")
    assert "Two phases: 30 questions without an opinion, 30 with the opposite opinion" in texts(at)
    press(at, "collect_start")
    assert ended(workspace).n_done == 60
    open_page(study="study")

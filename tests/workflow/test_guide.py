import pytest

from core.workflow import guide
from core.workflow.tour import STUDIES


def test_the_guide_begins_and_ends_on_home_and_shows_sample_studies():
    assert guide.STEPS[0].page == guide.STEPS[-1].page == "home"
    codes = {sample.code for sample in STUDIES}
    assert {step.address["study"] for step in guide.STEPS if "study" in step.address} <= codes
    assert sum(len(step.words.split()) for step in guide.STEPS) < 300  # read in a minute or two


@pytest.mark.parametrize(
    ("text", "place"),
    [("1", 0), (str(len(guide.STEPS)), len(guide.STEPS) - 1), ("0", None), ("", None)]
    + [(text, None) for text in ("99", "-1", "1.5", "x", "1" * 400, "\u0663", "<b>")],
)
def test_only_the_number_of_a_step_is_one(text, place):
    assert guide.step_of(text) == place

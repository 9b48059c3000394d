import pytest

from core.collect.ratings import parse_rating
from core.domain.instrument import Rating
from core.domain.study import Status

STORY = (Rating("tragedy", 1, 10), Rating("comedy", 1, 10))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"tragedy": 7, "comedy": 2}', Status.ANSWERED),
        ('```json\n{"tragedy": 7, "comedy": 2}\n```', Status.ANSWERED),
        ('<think>{"tragedy": 1, "comedy": 1}</think>{"tragedy": 7, "comedy": 2}', Status.ANSWERED),
        ('{"Tragedy": "7", "COMEDY": 2, "why": "sad"}', Status.ANSWERED),
        ('Here it is: {"tragedy": 7, "comedy": 2}. A sad one.', Status.EXPLAINED),
    ],
)
def test_an_object_with_a_number_for_each_quality_is_a_rating(text, status):
    rated = parse_rating(text, STORY)
    assert (rated.status, dict(rated.values)) == (status, {"tragedy": 7.0, "comedy": 2.0})


@pytest.mark.parametrize(
    ("text", "finish_reason", "status"),
    [
        ("It is quite tragic, about a 7.", "stop", Status.NO_ANSWER),
        ("", "stop", Status.NO_ANSWER),
        ('{"tragedy": 7}', "stop", Status.NO_ANSWER),
        ('{"tragedy": 7, "comedy": null}', "stop", Status.NO_ANSWER),
        ('{"tragedy": true, "comedy": 2}', "stop", Status.NO_ANSWER),
        ('{"tragedy": 11, "comedy": 2}', "stop", Status.OFF_SCALE),
        ('{"tragedy": 7, "comedy": 2} or {"tragedy": 6, "comedy": 2}', "stop", Status.AMBIGUOUS),
        ('{"tragedy": 7, "comedy": 2, "tragedy": 3}', "stop", Status.AMBIGUOUS),
        ('{"tragedy": 7, "comedy": 2, "Tragedy": "3"}', "stop", Status.AMBIGUOUS),
        ('{"tragedy": 7, "comedy": 2, "tragedy": null}', "stop", Status.AMBIGUOUS),
        ('{"tragedy": 7, "comedy": 2, "Tragedy": "7.0"}', "stop", Status.ANSWERED),
        ('{"tragedy": 7, "com', "length", Status.TRUNCATED),
        ('[{"tragedy": 7, "comedy": 2}', "length", Status.EXPLAINED),
        ("{" * 50_000, "stop", Status.NO_ANSWER),
    ],
)
def test_what_is_no_rating_is_never_made_one(text, finish_reason, status):
    rated = parse_rating(text, STORY, finish_reason=finish_reason)
    assert rated.status == status
    assert bool(rated.values) == status.usable

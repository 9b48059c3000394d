"""Ratings of stories by their number of negative words: by hand, against R, and with bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.analysis.words.story_validity import story_validity
from core.domain.frames import RATINGS, check_frame
from core.errors import NotEnoughData
from tests.examples import few_examples

GOLDEN = Path(__file__).parents[2] / "golden" / "stories"
MEANS, SINGLE = "mean of each number", "single stories"


def judged(rows, *, qualities=("tragedy",), **factors):
    """RATINGS from (story, number of negative words, ratings or a status), one for each trial."""
    usual = {
        "study": "s",
        "respondent": "judge",
        "model": "j",
        "language": "en",
        "context": "",
        "template": "free",
        "repetition": 1,
        "writer": "m",
    } | factors
    frame = pd.DataFrame(
        [
            {
                **usual,
                "trial": trial,
                "item": story,
                "negative_words": "" if number is None else str(number),
                "status": found if isinstance(found, str) else "answered",
                "quality": quality,
                "lowest": 1.0,
                "highest": 10.0,
                "rating": math.nan if isinstance(found, str) else float(found[place]),
            }
            for trial, (story, number, found, *_) in enumerate(rows)
            for place, quality in enumerate(qualities)
        ]
    )
    check_frame(frame, RATINGS)
    return frame


def many(*frames):
    """Several frames as one, with trials of their own."""
    return pd.concat(
        [frame.assign(trial=frame["trial"] + 1000 * place) for place, frame in enumerate(frames)],
        ignore_index=True,
    )


def tables(frame, **options):
    result = story_validity(frame, **({"resamples": 0} | options))
    return result, {table.name: table.frame for table in result.tables}


SIX = [
    ("a", 0, (1,)),
    ("b", 0, (3,)),
    ("c", 1, (4,)),
    ("d", 1, (4,)),
    ("e", 2, (9,)),
    ("f", 2, (6,)),
]


def test_worked_by_hand():
    result, found = tables(judged(SIX))
    levels = found["levels"]
    assert levels["mean"].tolist() == [2.0, 4.0, 7.5]
    assert levels["sd"].tolist() == pytest.approx([math.sqrt(2), 0, math.sqrt(4.5)])
    assert levels["ci_low"][0] == pytest.approx(2 - 12.7062 * 1, abs=1e-4)  # t of 1 df, SD / √2 = 1
    rows = found["correlations"].set_index("of")
    # Means 2, 4, 7.5 of 0, 1, 2: cross products 5.5, sums of squares 2 and 6.25 + .25 + 9 = 15.5.
    assert rows["r"][MEANS] == pytest.approx(5.5 / math.sqrt(2 * 15.5))
    # Stories: cross products 2 * 5.5, sums of squares 4 and 159 - 27² / 6 = 37.5.
    assert rows["r"][SINGLE] == pytest.approx(11 / math.sqrt(4 * 37.5))
    assert rows["n"].to_dict() == {MEANS: 3, SINGLE: 6}
    assert (result.n_used, result.n_missing) == (6, 0)


def test_correlations_and_means_are_those_of_r():
    expected = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
    data = pd.read_csv(GOLDEN / "ratings.csv")
    rows = [
        (
            f"t{row.Index}",
            row.number,
            "no_answer" if math.isnan(row.tragedy) else (row.tragedy, row.comedy),
        )
        for row in data.itertuples()
    ]
    _, found = tables(judged(rows, qualities=("tragedy", "comedy")))
    table = found["correlations"].set_index(["quality", "of"])
    for quality in ("tragedy", "comedy"):
        own = expected[quality]
        for of, name in ((MEANS, "means"), (SINGLE, "single")):
            row = table.loc[(quality, of)]
            numbers = [row["r"], row["fisher_low"], row["fisher_high"], row["p"]]
            there = [own[name][part] for part in ("r", "low", "high", "p")]
            assert numbers == pytest.approx(there, rel=1e-9)
        levels = found["levels"][found["levels"]["quality"] == quality]
        for column, name in (("mean", "mean"), ("ci_low", "low"), ("ci_high", "high")):
            assert levels[column].tolist() == pytest.approx(own[name], rel=1e-9)
    assert levels["missing"].sum() == len(range(11, 91, 11))


def test_intervals_redraw_stories_within_each_number():
    rng = np.random.default_rng(4)
    numbers = np.repeat(np.arange(6), 20)
    values = np.clip(np.round(2 + numbers + rng.normal(0, 2, 120)), 1, 10)
    frame = judged(
        [
            (f"t{place}", number, (value,))
            for place, (number, value) in enumerate(zip(numbers, values, strict=True))
        ]
    )
    _, found = tables(frame, resamples=2000, seed=3)
    rows = found["correlations"].set_index("of")
    drawn = []  # the same, one resample at a time, as far apart as the stories of a number are
    of_number = values.reshape(6, 20)
    means = of_number.mean(axis=1, keepdims=True)
    apart = means + (of_number - means) * np.sqrt(20 / 19)
    for _ in range(2000):
        own = apart[np.arange(6)[:, None], rng.integers(20, size=(6, 20))]
        drawn.append(np.arctanh(np.corrcoef(numbers, own.ravel())[0, 1]))
    margin = stats.t.ppf(0.975, 114) * np.std(drawn) * np.sqrt(115 / 114)
    ends = np.tanh(np.arctanh(rows["r"][SINGLE]) + np.array([-margin, margin]))
    assert [rows["ci_low"][SINGLE], rows["ci_high"][SINGLE]] == pytest.approx(ends, abs=0.01)
    assert rows.loc[MEANS, ["ci_low", "ci_high"]].isna().all()
    again = tables(frame, resamples=2000, seed=3)[1]["correlations"]
    pd.testing.assert_frame_equal(found["correlations"], again)


def test_trials_of_the_same_story_count_their_mean_and_judges_stand_side_by_side():
    twice = [*SIX, ("a", 0, (5,)), ("e", 2, "no_answer")]
    other = judged(
        [(story, number, (value + 2,)) for story, number, (value,) in SIX], respondent="second"
    )
    result, found = tables(many(judged(twice), other), resamples=200)
    own = found["levels"].set_index(["respondent", "number"])
    assert own["mean"].to_dict() == {
        ("judge", 0): 3.0,
        ("judge", 1): 4.0,
        ("judge", 2): 7.5,
        ("second", 0): 4.0,
        ("second", 1): 6.0,
        ("second", 2): 9.5,
    }
    (row,) = found["judges"].to_dict("records")
    assert (row["first"], row["second"], row["n"]) == ("judge", "second", 6)
    first, second = np.array([3, 3, 4, 4, 9, 6]), np.array([3, 5, 6, 6, 11, 8])
    assert row["difference"] == pytest.approx((second - first).mean())
    assert row["r"] == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    assert (result.n_used, result.n_missing) == (13, 1)


def test_judges_who_rated_twice_have_a_reliability_and_r_without_errors():
    """Alpha of two ratings with stories as rows, by hand from its definition."""
    draw = np.random.default_rng(2)
    level = np.arange(10)
    ratings = {
        judge: np.clip(1 + level[None] * 0.8 + draw.integers(0, 3, (2, 10)), 1, 10)
        for judge in ("judge", "second")
    }
    frames = [
        judged(
            [(f"t{place}", place, (value,)) for place, value in enumerate(own)],
            respondent=judge,
            repetition=repetition,
        )
        for judge, both in ratings.items()
        for repetition, own in enumerate(both, 1)
    ]
    (row,) = tables(many(*frames))[1]["judges"].to_dict("records")
    alphas = [
        2 * (1 - own.var(axis=1, ddof=1).sum() / own.sum(axis=0).var(ddof=1))
        for own in ratings.values()
    ]
    assert [row["reliability_first"], row["reliability_second"]] == pytest.approx(alphas)
    assert row["r_corrected"] == pytest.approx(row["r"] / math.sqrt(alphas[0] * alphas[1]))
    assert row["errors_over"] == "repetitions"
    (once,) = tables(many(frames[0], frames[2]))[1]["judges"].to_dict("records")
    assert "no item has two answers" in once["remark"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 10)), min_size=1, max_size=30))
@few_examples
def test_mirrored_ratings_turn_every_correlation(pairs):
    rows = [(f"t{place}", number, (value,)) for place, (number, value) in enumerate(pairs)]
    mirrored = [(story, number, (11 - value,)) for story, number, (value,) in rows]
    one, other = (tables(judged(own))[1]["correlations"] for own in (rows, mirrored))
    assert one["r"].tolist() == pytest.approx((-other["r"]).tolist(), nan_ok=True, abs=1e-9)
    assert one["fisher_low"].tolist() == pytest.approx(
        (-other["fisher_high"]).tolist(), nan_ok=True, abs=1e-9
    )
    undefined = one["r"].isna()
    assert one["remark"][undefined].str.startswith("Undefined: ").all()


def test_a_judge_without_json_is_counted_and_the_other_stands():
    silent = judged(
        [
            ("a", 0, "no_answer"),
            ("b", 1, "ambiguous"),
            ("c", 2, "off_scale"),
            ("d", 3, "error"),
            ("e", 4, "not_asked"),
            ("g", None, "no_answer"),
        ],
        respondent="prose",
    )
    result, found = tables(many(judged(SIX), silent))
    counts = found["outcomes"].set_index("respondent").loc["prose"]
    assert counts[["stories", "rated", "no_json", "off_scale", "failed", "not_asked"]].tolist() == [
        6,
        0,
        3,
        1,
        1,
        1,
    ]
    own = found["correlations"].set_index(["respondent", "of"])
    assert math.isfinite(own["r"]["judge", MEANS])
    assert own["remark"]["prose", SINGLE] == (
        "Undefined: no reply of the judge holds a valid rating."
    )
    assert (
        "m · prose · en: of 6 replies, 3 without a JSON object that holds a number for each "
        "quality, 1 with a number out of range, 1 that failed, 1 not asked yet."
    ) in result.cautions
    left_out = "m · prose · en: 1 story without a number in negative_words is left out."
    assert left_out in result.cautions
    assert found["levels"].query("respondent == 'prose'")["mean"].isna().all()


@pytest.mark.parametrize(
    ("rows", "of", "reason"),
    [
        (
            [("a", 2, (1,)), ("b", 2, (5,)), ("c", 2, (7,))],
            SINGLE,
            "all rated stories have the same number in negative_words",
        ),
        ([("a", 0, (5,)), ("b", 1, (5,)), ("c", 2, (5,))], SINGLE, "all ratings are the same"),
        ([("a", 0, (5,)), ("b", 1, (5,)), ("c", 2, (5,))], MEANS, "all means are the same"),
        (
            [("a", 0, (1,)), ("b", 1, (5,)), ("c", 1, (7,))],
            MEANS,
            "needs three numbers in negative_words, and there are 2",
        ),
        ([("a", 0, (1,)), ("b", 1, (5,))], SINGLE, "needs three rated stories, and there are 2"),
        ([("a", None, (1,)), ("b", 1, "refused")], SINGLE, "no rated story has a number"),
    ],
)
def test_an_undefined_correlation_says_why(rows, of, reason):
    result, found = tables(judged(rows))
    row = found["correlations"].set_index("of").loc[of]
    assert math.isnan(row["r"])
    assert reason in row["remark"]
    if "same number" in reason:
        assert any("so nothing can correlate" in caution for caution in result.cautions)


def test_which_tag_holds_the_number_is_found_or_asked_for():
    renamed = judged(SIX).rename(columns={"negative_words": "second"})
    assert "second" in tables(renamed)[0].method
    both = renamed.assign(age="30", name="Ann")
    with pytest.raises(NotEnoughData, match="Tags that are numbers: second, age"):
        tables(both)
    assert "of second" in tables(both, descriptor="second")[0].method
    with pytest.raises(NotEnoughData, match="no tag 'name' that is a number"):
        tables(both, descriptor="name")
    with pytest.raises(NotEnoughData, match="No tag of the prompts says how many"):
        tables(judged(SIX).drop(columns="negative_words"))
    with pytest.raises(NotEnoughData, match="no factor entity"):
        tables(judged(SIX), by=("entity",))
    with pytest.raises(NotEnoughData, match="no ratings yet"):
        tables(judged(SIX).head(0))


def test_stories_of_an_unknown_writer_are_one_group():
    _, found = tables(judged(SIX, writer=""), by=())
    assert "writer" not in found["correlations"]
    assert len(found["correlations"]) == 2

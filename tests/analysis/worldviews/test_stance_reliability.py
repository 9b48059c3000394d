"""Shares of reliable statements: by hand, their baseline, domains, and what cannot be judged."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.sentences import table_of
from core.analysis.worldviews.stance_reliability import stance_reliability
from core.stats.resampling import Bootstrap
from core.stats.statement_tests import template_means
from core.workflow.statistics import analyses
from tests.analysis.kit.test_statement_verdicts import NO, YES, cells_of
from tests.analysis.statement_frames import statements

UNSURE = (18, 12)
LOADINGS = pd.DataFrame(
    [
        ("s", "a", "law", 1),
        ("s", "b", "law", -1),
        ("s", "b", "welfare", 0),
        ("s", "d", "welfare", 1),
    ],
    columns=["study", "item", "domain", "loading"],
)


def by_hand():
    """Statements a and b pass all; c fails sampling in t1; d fails the negation in both."""
    cells = {}
    for template in ("t1", "t2"):
        for item, changed in {
            "a": {},
            "b": {},
            "c": {"original": UNSURE} if template == "t1" else {},
            "d": {"negation": YES},
        }.items():
            cells.update(cells_of(item, template, **changed))
    return statements(cells)


def rows_of(result, name, key):
    return {row[key]: row for row in table_of(result, name).frame.to_dict("records")}


def test_shares_are_means_over_templates_with_their_sd():
    result = stance_reliability(by_hand(), loadings=LOADINGS, resamples=200)
    group = table_of(result, "groups").frame.iloc[0]
    assert group["share"] == pytest.approx((0.5 + 0.75) / 2)
    assert group["sd"] == pytest.approx(np.std([0.5, 0.75], ddof=1))
    assert group[["templates", "n", "statements", "not_judged", "everywhere"]].tolist() == [
        2,
        8,
        4,
        0,
        2,
    ]
    assert (group["weakest"], group["weakest_share"]) == ("Negation", 0.75)
    assert group["across"] == pytest.approx(0.625)
    tests = rows_of(result, "tests", "test")
    shares = [tests[name]["share"] for name in ("Sampling", "Negation", "Opposite", "Templates")]
    assert shares == [0.875, 0.75, 1, 1]
    assert math.isnan(tests["Templates"]["sd"])
    # With 30 answers a side has a chance of (1 - P(15)) / 2, and P(15) = .1445.
    assert tests["Negation"]["random"] == pytest.approx(2 * 0.42777**2, abs=1e-4)
    assert tests["Paraphrases"]["random"] == pytest.approx(2 * 0.42777**3, abs=1e-4)
    fragile = table_of(result, "statements").frame
    assert fragile["item"].tolist() == ["d", "c", "a", "b"]
    assert fragile["failed"].tolist() == ["negation", "sampling", "", ""]
    assert fragile["stances"].iloc[0] == "2 positive, 0 negative"
    domains = rows_of(result, "domains", "domain")
    assert (domains["law"]["share"], domains["law"]["statements"]) == (1, 2)
    assert (domains["welfare"]["share"], domains["welfare"]["statements"]) == (0, 1)
    assert math.isnan(domains["welfare"]["ci_low"])  # one statement has no interval
    answer = analyses.by_name("stance_reliability").answer(result)[0].sentence
    assert answer.startswith("63% [")
    assert answer.endswith(
        "of 4 statements are reliable (sampling, paraphrases, negation, opposite, inverted labels; "
        "mean of 2 templates, SD .18); random answers 0%; lowest share of one test: negation 75%."
    )


def test_intervals_redraw_whole_statements():
    chance = np.random.default_rng(2)
    verdicts = chance.integers(0, 2, (40, 3, 2)).astype(float)
    verdicts[3, 1, 0] = np.nan
    found = template_means(verdicts, Bootstrap(4000, 1))
    drawn = [
        np.nanmean(verdicts[chance.integers(40, size=40)], axis=0).mean(axis=0) for _ in range(4000)
    ]
    np.testing.assert_allclose(
        np.stack([found.low, found.high]), np.quantile(drawn, [0.025, 0.975], axis=0), atol=0.01
    )
    np.testing.assert_allclose(found.mean, np.nanmean(verdicts, axis=0).mean(axis=0))
    np.testing.assert_allclose(found.sd, np.nanmean(verdicts, axis=0).std(axis=0, ddof=1))
    assert found.n.tolist() == [119, 120]


def test_groups_are_compared_over_statements_and_the_test_of_templates_can_count():
    turned = {
        place: (no, yes) if place[1] == "t2" and place[0] == "a" else (yes, no)
        for place, (yes, no) in {
            **cells_of(),
            **cells_of(template="t2"),
            **cells_of("b"),
            **cells_of("b", "t2"),
        }.items()
    }
    other = statements({**cells_of(), **cells_of("b", negation=YES)}, respondent="k")
    frame = pd.concat([statements(turned), other])
    result = stance_reliability(frame, reliable="across", resamples=0)
    groups = rows_of(result, "groups", "respondent")
    assert groups["gpt"]["share"] == 0.5
    assert math.isnan(groups["k"]["share"])  # it was asked in one template
    within = stance_reliability(frame, resamples=0)
    compared = table_of(within, "comparisons").frame.iloc[0]
    assert compared[["first_mean", "second_mean", "n"]].tolist() == [1, 0.5, 2]
    assert "no resamples" in within.method


def test_what_cannot_be_judged_is_said_with_the_reason():
    result = stance_reliability(statements({("a", "", "", "original"): (1, 0)}))
    assert result.cautions == (
        "gpt: no statement can be judged by sampling. The first reason: sampling: 1 clear answer.",
    )
    assert "The test negation is undefined: no statement was asked in a negation." in result.notes
    answer = analyses.by_name("stance_reliability").answer(result)[0].sentence
    assert answer.startswith("No statement could be judged by all tests")
    some = stance_reliability(statements({**cells_of(), **cells_of("b", opposite=(2, 3))}))
    assert some.cautions[0].startswith("gpt: 1 statement in one template cannot be judged")
    left = stance_reliability(statements(cells_of(shorter=NO)))
    assert "Left out, because no test compares their wording: 30 trials." in left.notes

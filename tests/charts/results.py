"""Results of many analyses, with hostile names, for the tests of their charts."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.efa.analysis import efa
from core.analysis.factors.invariance.analysis import invariance
from core.analysis.groups.dif import dif
from core.analysis.groups.group_comparison.analysis import group_comparison
from core.analysis.items.graded_response.analysis import graded_response
from core.analysis.items.item_map import item_map
from core.analysis.quality.invalid_answers import invalid_answers
from core.analysis.quality.template_pilot import template_pilot
from core.analysis.quality.unexpected_outputs import unexpected_outputs
from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.analysis.repeatability.referential_consistency.analysis import referential_consistency
from core.analysis.scales.generalizability.analysis import generalizability
from core.analysis.scales.multitrait_matrix.analysis import multitrait_matrix
from core.analysis.scales.norm_comparison import norm_comparison
from core.analysis.scales.reliability import reliability
from core.analysis.scales.score_correlations import score_correlations
from core.analysis.words.story_validity import story_validity
from core.domain.attributes import is_attribute
from core.domain.factors import GROUPINGS
from core.domain.results import AnalysisResult, Column, ResultTable
from core.workflow.statistics import analyses
from tests.analysis.brand_counts import counts_of
from tests.analysis.score_frames import item_scores, option_counts

HOSTILE = "![x](http://evil.example/a.png) <img src=x> datum['a'] [0].b:Q"
NAN = float("nan")
N = 120
ITEMS = [HOSTILE, *(f"i{k}" for k in range(2, 9))]
SUBSCALES = [HOSTILE, "B"] * 4
CRITERIA = (
    "internal consistency",
    "alternate form",
    "option order",
    "concurrent",
    "convergent",
    "factorial",
)


def answers(respondent=HOSTILE, seed=1, n=N, constant=(), **factors):
    """Two factors with four items each; i4 is keyed wrongly; each row is a context of its own."""
    rng = np.random.default_rng(seed)
    common = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], n)
    slopes = np.array([0.8, 0.7, 0.6, -0.5, 0.8, 0.6, 0.5, 0.8])
    raw = common[:, [0, 1] * 4] * slopes + rng.normal(size=(n, 8)) * 0.6
    values = np.clip(np.round(raw * 1.3 + 3), 1, 5)
    values[:, [ITEMS.index(item) for item in constant]] = 3
    frame = item_scores(
        values,
        items=ITEMS,
        subscales=SUBSCALES,
        keyed=[1, 1, -1, 1] * 2,
        respondent=respondent,
        start=1000 * seed + 1,
        **factors,
    )
    frame["context"] = "c" + (frame["administration"] - 1000 * seed).astype(str)
    return frame.assign(context_set="set", rewriting="original", origin=frame["context"])


def table(name, columns, rows):
    frame = pd.DataFrame(rows, columns=list(columns))
    names = {*GROUPINGS, "writer", "judge"} - {"model", "format", "template"}  # keys of their own
    groups = list(itertools.takewhile(lambda c: c in names or is_attribute(c), columns))
    declared = (Column(c, c, role="group" if c in groups else "") for c in columns)
    return ResultTable(name, name, frame, tuple(declared))


def made(*tables):
    """A result by hand, to the contract of its tables."""
    return AnalysisResult(tables, unit="one administration", n_used=1, n_missing=0, method="")


def report(groups=(HOSTILE, "b")):
    """A validation report: the first group is judged throughout, the others stop at reliability."""
    rows, verdicts = [], []
    for place, group in enumerate(groups):
        lights = ["green", "green", "green", "red", "green", "red"]
        ratings = ["++", "+", "++", "--", "+", "-"]
        values = [0.85, 0.75, 0.55, -0.05, 0.4, 0.11]
        if place:
            lights, ratings = ["red"] * 3 + ["grey"] * 3, ["-"] * 3 + [""] * 3
            values = [0.4, 0.3, 0.05, NAN, NAN, NAN]
        for criterion, value, rating, light in zip(CRITERIA, values, ratings, lights, strict=True):
            cfi = 0.66 if criterion == "factorial" and not place else NAN
            rows.append(
                (
                    group,
                    criterion,
                    value,
                    NAN,
                    NAN,
                    cfi,
                    296,
                    4,
                    rating,
                    "",
                    "",
                    "",
                    light,
                    "",
                    "",
                    "",
                )
            )
        verdicts.append((group, not place, False, "Not valid." if not place else "Not reliable."))
    columns = (
        "respondent",
        "criterion",
        "value",
        "ci_low",
        "ci_high",
        "cfi",
        "n",
        "missing",
        "rating",
        "rating_low",
        "rating_high",
        "other_rating",
        "light",
        "against",
        "method",
        "remark",
    )
    return made(
        table("verdicts", ("respondent", "reliable", "valid", "verdict"), verdicts),
        table("criteria", columns, rows),
        table(
            "bands",
            ("criterion", "very_good_from", "highest_rmsea", "lowest_cfi", "bands"),
            [
                ("internal consistency", 0.8, NAN, NAN, "Jung (2025)"),
                ("factorial", NAN, 0.05, 0.9, "Jung (2025)"),
            ],
        ),
    )


def charts_of(name, result, *, theme="light", **options):
    """The charts that an analysis of this name declares."""
    return analyses.by_name(name).charts(result, theme, **options)


def repeated_counts():
    """Two groups that were asked three items again and again in three formats."""
    rows = [(HOSTILE, 3, 1), ("i2", 4, 0), ("i3", 1, 3)]
    return pd.concat(
        [
            counts_of(rows[place:] + rows[:place], name, respondent=respondent)
            for respondent in (HOSTILE, "b")
            for place, name in enumerate(("yes_no", "a_b", "likert_5"))
        ]
    )


def outputs():
    """Counts of outputs of two groups: answers, and refusals of two of the three items."""
    parts = [
        option_counts(
            [(item, "yes", 1, NAN, False, 9), (item, "refused", 9, NAN, True, k)], respondent=name
        )
        for name in (HOSTILE, "b")
        for k, item in enumerate(("i1", "i2", "i3"))
    ]
    counts = pd.concat(parts)
    return counts[counts["count"] > 0].assign(language="en")


def tries():
    """Tries of two groups: every second trial of an item is answered at its second try."""
    rows = [
        (item, number, outcome, final)
        for item in ("i1", "i2", "i3")
        for number, outcome, final in (
            (1, "usable", True),
            (1, "unusable", False),
            (2, "usable", True),
        )
    ]
    frame = pd.DataFrame(rows, columns=["item", "number", "outcome", "final"]).assign(
        study="s",
        format="likert_5",
        from_attempts=True,
        count=5,
        tokens_in=50.0,
        tokens_out=5.0,
        tokens_known=5,
    )
    return pd.concat([frame.assign(respondent=name) for name in (HOSTILE, "b")])


def rated_stories():
    """Stories of two writers with 0 to 3 negative words, rated on a quality with a hostile name."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "study": "s",
            "trial": number,
            "respondent": "judge",
            "model": "j",
            "language": "en",
            "context": "",
            "template": "free",
            "repetition": 1,
            "item": f"t{number}",
            "writer": (HOSTILE, "b")[number % 2],
            "status": "answered",
            "quality": quality,
            "lowest": 1.0,
            "highest": 10.0,
            "negative_words": str(number // 10),
            "rating": float(np.clip(2 * number // 10 + rng.integers(1, 4), 1, 10)),
        }
        for number in range(40)
        for quality in (HOSTILE, "comedy")
    ]
    return pd.DataFrame(rows)


@cache
def results():
    """One result for each analysis that has charts; two groups where it has groups."""
    both = pd.concat([answers(constant=["i5"]), answers("b", 2)])
    forms = pd.concat([answers(form="original"), answers(seed=3, form=HOSTILE)])
    norms = ((HOSTILE, 3.1, 0.8, 300.0), ("B", 2.9, 0.7, 300.0))
    return {
        "cfa": cfa(both),
        "efa": efa(both),
        "item_map": item_map(both, statistic="discrimination"),
        "reliability": reliability(both, resamples=20),
        "score_correlations": score_correlations(forms),
        "graded_response": graded_response(both, levels=9),
        "dif": dif(both, factor="respondent", by=()),
        "invariance": invariance(
            pd.concat([answers(), answers("b", 2)]), factor="respondent", by=()
        ),
        "multitrait_matrix": multitrait_matrix(forms, split=("form",)),
        "norm_comparison": norm_comparison(both, norms=norms),
        "group_comparison": group_comparison(both, factor="respondent", by=()),
        "cfa_comparison": cfa_comparison(both),
        "generalizability": generalizability(both, by=("respondent",)),
        "validation_report": report(),
        "random_consistency": random_consistency(repeated_counts(), resamples=20),
        "referential_consistency": referential_consistency(
            repeated_counts(), resamples=20, permutations=20
        ),
        "unexpected_outputs": unexpected_outputs(outputs(), resamples=50),
        "template_pilot": template_pilot(
            pd.concat(
                [
                    outputs().rename(columns={"respondent": "template"}).assign(respondent=name)
                    for name in (HOSTILE, "b")
                ]
            ),
            by=("respondent",),
            resamples=50,
        ),
        "invalid_answers": invalid_answers(tries(), resamples=50),
        "story_validity": story_validity(rated_stories(), resamples=50),
    }

"""What the page Languages says in short: verdicts of three analyses, checked on their tables."""

from __future__ import annotations

import pandas as pd
import pytest

from core.analysis.kit.sentences import order_kept
from core.domain.results import AnalysisResult, ResultTable
from core.domain.tables import group, key, number
from core.workflow.statistics import languages


def pair(low, high):
    return {"ci_low": low, "ci_high": high}


@pytest.mark.parametrize(
    ("pairs", "words", "light"),
    [
        ([pair(0.2, 0.9)], "Items keep their order", "green"),
        ([pair(0.2, 0.9), pair(-0.1, 0.9)], "Items keep their order in 1 of 2 pairs", "grey"),
        ([pair(0.2, 0.9), pair(-0.9, -0.1)], "Items keep their order in 1 of 2 pairs", "red"),
        ([pair(-0.9, -0.1)], "Items do not keep their order", "red"),
        ([pair(-0.3, 0.4)], "Whether items keep their order cannot be told", "grey"),
        ([pair(float("nan"), float("nan"))], "Whether items keep their order cannot be", "grey"),
    ],
)
def test_an_order_is_kept_where_every_interval_is_above_0(pairs, words, light):
    said, verdict = order_kept(pairs, "items")
    assert said.startswith(words)
    assert verdict == light


def correlations(rows, *further):
    columns = (
        *(group(name, name) for name in ("respondent", *further)),
        *(key(name, name) for name in ("scale", "kind")),
        *(number(name, name) for name in ("ci_low", "ci_high")),
    )
    frame = pd.DataFrame(rows, columns=[column.name for column in columns]).assign(r=0.5)
    columns = (*columns, number("r", "r"))
    verdicts = (
        group("respondent", "Respondent"),
        key("verdict", "Verdict"),
        number("difference", "Difference"),
    )
    means = pd.DataFrame(
        [("gpt", "equivalent, though different", 0.1), ("qwen", "different", 0.5)],
        columns=[column.name for column in verdicts],
    )
    tables = (
        ResultTable("correlations", "r", frame, columns),
        ResultTable("equivalence", "means", means, verdicts),
    )
    return AnalysisResult(tables, "row", 1, 0, "m")


def test_of_scores_those_on_all_items_count_in_the_first_kind():
    items = correlations([("gpt", "", "pearson", 0.1, 0.9), ("qwen", "", "pearson", -0.9, -0.1)])
    scores = correlations(
        [
            ("gpt", "all items", "pearson", 0.1, 0.8),
            ("gpt", "all items", "spearman", -0.8, -0.1),
            ("gpt", "Openness", "pearson", -0.8, -0.1),
        ]
    )
    found = languages.agreement(items, scores, None, "contexts")
    assert found["gpt"] == (
        ("Items keep their order", "green"),
        ("Means are equivalent", "green"),
        ("Contexts keep their order", "green"),
        ("Whether items measure the same is not known", "grey"),
    )
    assert [part.light for part in found["qwen"]] == ["red", "red", "grey"]
    assert found["qwen"][1].words == "Means differ"


def test_formats_that_stand_apart_count_together_and_undefined_pairs_are_left_out():
    items = correlations([("gpt", "", "pearson", 0.1, 0.9), ("gpt", "", "pearson", None, None)])
    table = items.tables[0]
    table.frame.loc[1, "r"] = float("nan")
    scores = correlations(
        [
            ("gpt", "likert_5", "all items", "pearson", 0.1, 0.8),
            ("gpt", "yes_no", "all items", "pearson", -0.1, 0.8),
        ],
        "format",
    )
    found = languages.agreement(items, scores, None, "contexts")
    assert [part.words for part in found["gpt"]][:3] == [
        "Items keep their order",
        "Means are equivalent",
        "Contexts keep their order in 1 of 2 pairs",
    ]


def test_of_nothing_no_order_is_kept():
    assert order_kept([], "items")[1] == "grey"


@pytest.mark.parametrize(
    ("lights", "words"),
    [
        (("green", "green"), "no, by all that is known"),
        (("green", "red"), "in part"),
        (("red",), "yes"),
        (("red", "grey"), "in part"),
        (("green", "grey"), "this cannot be said yet"),
    ],
)
def test_a_verdict_in_a_word(lights, words):
    assert languages.verdict([languages.Part("", light) for light in lights]) == words

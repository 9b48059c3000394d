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


def correlations(rows):
    columns = (
        group("respondent", "Respondent"),
        *(key(name, name) for name in ("scale", "kind")),
        *(number(name, name) for name in ("ci_low", "ci_high")),
    )
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return AnalysisResult((ResultTable("correlations", "r", frame, columns),), "row", 1, 0, "m")


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
        ("Contexts keep their order", "green"),
        ("Whether items measure the same is not known", "grey"),
    )
    assert [part.light for part in found["qwen"]] == ["red", "grey"]

"""Analyses of a wide table say the same as analyses of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.registry import all_analyses
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData, TooLarge
from core.store import banks as bank_store
from core.store import frames as store_frames
from core.workflow.answers import imports
from core.workflow.statistics import analyses, frames

WIDE = [one.name for one in analyses.all_analyses() if one.takes_wide_table]
FEW = {"resamples": 20}


@pytest.fixture(scope="module")
def answers() -> bytes:
    """Answers with gaps of every kind: items not asked, refusals, two languages, three models."""
    draw = np.random.default_rng(3)
    lines = ["study,instrument,item,model,context,language,repetition,answer,status"]
    for person in range(40):
        trait = draw.normal()
        for repetition in (1, 2):
            for item in ("a1", "a2", "b1", "b2"):
                if draw.random() < 0.05:
                    continue  # not planned
                raw = int(np.clip(round(2 + trait + 0.7 * draw.normal()), 1, 3))
                raw = 4 - raw if item == "a2" else raw
                outcome = ",refused" if draw.random() < 0.08 else f"{raw},"
                language = ("en", "de")[person % 2]
                lines.append(
                    f"wide,small,{item},m{person % 3},c{person},{language},{repetition},{outcome}"
                )
    return "\n".join(lines).encode()


@pytest.fixture
def study(workspace, small_bank, answers):
    bank_store.save_draft(workspace.database, small_bank, expected_revision=None, summary="test")
    imports.import_tidy(workspace, "wide.csv", answers)
    return workspace


def result(run, frame, options) -> AnalysisResult | str:
    try:
        return run(frame, **options)
    except NotEnoughData as error:
        return str(error)


def test_every_analysis_of_a_wide_table_agrees_with_that_of_the_rows(study):
    table = frames.wide_scores(study, ["wide"], {})
    rows = frames.item_scores(study, ["wide"], {})
    assert table is not None
    assert "item_statistics" in WIDE
    defined = []
    for analysis in all_analyses():
        if analysis.name not in WIDE:
            continue
        names = {option.name for option in analysis.options}
        rules = {
            word
            for option in analysis.options
            if option.name == "missing"
            for word, _ in option.kind.choices
        }
        for by in ((), ("model",), ("language", "context_set")):
            for more in ({}, *({"missing": rule} for rule in rules), {"factor": "repetition"}):
                options = {"by": by} | more | {n: v for n, v in FEW.items() if n in names}
                if not set(options) <= names:
                    continue
                wide = result(analysis.run, table, options)
                expected = result(analysis.run, rows, options)
                agree(wide, expected)
                if not isinstance(wide, str):
                    defined.append(analysis.name)
    assert set(defined) == set(WIDE)


def test_more_answers_than_the_memory_holds_are_refused_with_what_to_do(study, monkeypatch):
    monkeypatch.setenv("INKBLOT_MEMORY", "15KB")  # 250 answers in a table, 53 in rows
    for name, most in (("item_statistics", "250"), ("dif", "53")):
        with pytest.raises(TooLarge) as caught:
            analyses.run(study, name, ["wide"], {}, {})
        assert f"INKBLOT_MEMORY, is enough for {most})" in caught.value.problem
        assert "filters" in caught.value.remedy
    few = {"model": ["m1"]}
    assert analyses.run(study, "item_statistics", ["wide"], {}, few).n_used < 250


def test_a_table_that_is_given_up_is_not_read_as_rows_for_which_there_is_no_memory(
    study, monkeypatch
):
    monkeypatch.setenv("INKBLOT_MEMORY", "30KB")  # 500 answers in a table, 107 in rows
    monkeypatch.setattr(store_frames, "_MOST_PLACES", 0.5)
    with pytest.raises(TooLarge, match="is enough for 107"):
        analyses.run(study, "item_statistics", ["wide"], {}, {})


def agree(wide: AnalysisResult | str, expected: AnalysisResult | str) -> None:
    """The same numbers to 1e-12, and the same words."""
    if isinstance(expected, str) or isinstance(wide, str):
        assert wide == expected
        return
    for name in ("unit", "n_used", "n_missing", "n_left_out", "method", "cautions", "notes"):
        assert getattr(wide, name) == getattr(expected, name), name
    for own, other in zip(wide.tables, expected.tables, strict=True):
        pd.testing.assert_frame_equal(own.frame, other.frame, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("memory", "together"), [("1GB", False), ("30KB", True)])
def test_repetitions_are_counted_together_where_memory_is_too_little_for_each_answer(
    study, monkeypatch, memory, together
):
    monkeypatch.setenv("INKBLOT_MEMORY", memory)  # 107 rows
    frame = frames.load_frame(study, analyses.by_name("cross_language"), ["wide"], {}, {})
    assert ("repetition" not in frame) == together
    options = {"compare": "model", "errors_over": "repetitions"}
    result = analyses.run(study, "cross_language", ["wide"], options, {})
    remarks = next(table.frame for table in result.tables if table.name == "correlations")["remark"]
    assert remarks.str.contains("counted together").all() == together

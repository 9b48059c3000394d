"""The bench of intervals and tests: what it judges, how it goes on, and a quick run of it."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from benchmarks.coverage import __main__ as bench
from benchmarks.coverage.answers import item_scores, option_counts, persons
from benchmarks.coverage.cases import NULL, Case, Lowest, promised
from benchmarks.coverage.catalog import NO_PROMISE, NOT_JUDGED, cases
from benchmarks.coverage.report import text, text_again, wrong
from benchmarks.coverage.runs import judged
from benchmarks.coverage.scores import Personas
from core.domain.frames import ITEM_SCORES, OPTION_COUNTS, check_frame
from core.workflow.statistics import analyses

CASES = tuple(cases())
SMALL = Personas(personas=10, icc=0.3)


_THREE = tuple(
    [case.title for case in CASES if case.analysis == "internal_consistency"][:2]
    + [case.title for case in CASES if case.analysis == "dif"][:1]
)


@pytest.mark.parametrize(
    "studied",
    [
        pytest.param({case.analysis: case for case in CASES}, id="one design each"),
        pytest.param(
            {f"{case.analysis}, {case.design}": case for case in CASES},
            id="every design",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_case_has_a_result_and_judges_all_that_it_shows_or_says_why_not(studied):
    """One study of each; what a page shows and nobody judges has a reason in the catalog."""
    judged_columns = {f"{case.analysis}.{column}" for case in CASES for column in case.truths}
    for title, case in studied.items():
        shown = {f"{case.analysis}.{column}" for column in promised(case.result(0))}
        assert shown <= judged_columns | set(NOT_JUDGED), title
        assert {f"{case.analysis}.{column}" for column in case.truths} <= shown, title
    assert not judged_columns & set(NOT_JUDGED)
    assert all(reason.endswith(".") for reason in NOT_JUDGED.values())


def test_titles_of_cases_tell_them_apart():
    assert len({case.title for case in CASES}) == len(CASES)


def test_frames_of_simulated_answers_are_frames():
    values = np.arange(24.0).reshape(3, 2, 4)
    values[0, 0, 0] = np.nan
    factors = {"context": persons(3), "language": ("en", "de")}
    scores = item_scores(values, factors, ("a", "a", "b", "b"))
    check_frame(scores, ITEM_SCORES)
    assert len(scores) == 23
    assert scores.loc[scores["score"] == 23, ["context", "language", "item", "subscale"]].to_numpy(
        str
    ).tolist() == [["p003", "de", "i04", "b"]]
    counts = option_counts(np.zeros((3, 2, 4), dtype=int), factors, (1, 2, 3), ("language",))
    check_frame(counts, OPTION_COUNTS)
    assert set(counts["count"]) == {3}
    assert set(counts["stance"]) == {-1}


def test_an_interval_covers_lies_above_or_is_undefined_and_a_test_is_significant():
    """By hand: alpha of 2 languages, whose interval cannot hold 2 and lies above -9."""

    def outcomes(truth):
        options = {"by": ("language",)}
        case = Case("d", "internal_consistency", SMALL.answers, {"alpha.ci_low": truth}, options)
        return {key[2:]: n for key, n in case.judged(0).items()}

    assert outcomes(2.0) == {("covered", False): 2}
    assert outcomes(Lowest(-9)) == {("above", True): 2}
    assert outcomes(np.nan) == {}
    assert outcomes(lambda row: 2.0 if row["language"] == "en" else np.nan) == {
        ("covered", False): 1
    }
    tests = {"tests.p": NULL}
    different = Case("d", "group_comparison", _shifted, tests, {"factor": "language", "by": ()})
    assert different.judged(0) == {("tests.p", "", "significant", True): 1}
    refused = Case("d", "group_comparison", SMALL.answers, tests, {"factor": "template"})
    assert refused.judged(0) == {("tests.p", "", "undefined", True): 1}


def test_adjusted_p_are_judged_together():
    """Of ten items that are alike in two groups of 50: every p by itself, adjusted ones as one."""
    case = next(case for case in CASES if case.title.startswith("dif: 2 x 50 people, 10 items"))
    counts = Counter()
    for (column, _, kind, _), count in case.judged(1).items():
        assert kind == "significant"
        counts[column] += count
    assert counts["tests.p"] == 3 * 10
    assert counts["tests.p_adjusted"] == 3
    assert counts["items.p_total"] == 1


def _shifted(draw):
    frame = SMALL.answers(draw)
    return frame.assign(score=frame["score"] + 9 * (frame["language"] == "en"))


def test_a_run_goes_on_where_it_ended(tmp_path):
    case = next(case for case in CASES if case.analysis == "internal_consistency")
    kept = tmp_path / "kept.jsonl"
    first = judged([case], range(30), kept)[case.title]
    lines = kept.read_text().splitlines()
    assert [json.loads(line)["after"] for line in lines] == [25, 30]
    kept.write_text(lines[0] + "\n")  # as if it had been ended in the second block
    assert judged([case], range(30), kept, workers=2)[case.title] == first
    assert judged([case], range(30))[case.title] == first
    assert first == sum((case.judged(seed) for seed in range(30)), Counter())


def test_the_page_says_what_is_wrong_of_many_studies_alone():
    case = next(case for case in CASES if case.analysis == "internal_consistency")
    wrong = {
        case.title: Counter(
            {("alpha.ci_low", "", "covered", outcome): 1 for outcome in (True, False)}
        )
    }
    assert "too short" in text([case], wrong, 500)
    assert "too short" not in text([case], wrong, 5)
    assert "1 of 1 rates promise too much" in text([case], wrong, 500)


def test_sections_of_other_analyses_stay_on_the_page():
    alpha, dif = (
        next(case for case in CASES if case.analysis == name)
        for name in ("internal_consistency", "dif")
    )
    wrong = {
        alpha.title: Counter(
            {("alpha.ci_low", "", "covered", outcome): 1 for outcome in (True, False)}
        )
    }
    before = text([alpha, dif], wrong, 500)
    assert "yet: Differential item functioning" in before
    right = {dif.title: Counter({("tests.p", "", "significant", False): 500})}
    both = text([alpha, dif], right, 500, before)
    assert "1 of 2 rates promise too much" in both
    assert "too short" in both
    assert "too seldom" in both
    assert "yet:" not in both
    assert both.index("## Internal consistency") < both.index("## Differential item functioning")
    assert text([alpha, dif], wrong | right, 500) == both


def test_designs_that_promise_too_much_are_judged_again_and_no_others():
    """Chance puts some of so many rates outside; the other studies alone count then."""
    first, second, dif = (case for case in CASES if case.title in _THREE)
    low, right = (
        Counter(
            {
                ("alpha.ci_low", "", "covered", True): yes,
                ("alpha.ci_low", "", "covered", False): 500 - yes,
            }
        )
        for yes in (450, 475)
    )
    tests = Counter({("tests.p", "", "significant", False): 500})
    before = text(
        [first, second, dif], {first.title: low, second.title: right, dif.title: tests}, 500
    )
    assert wrong(before) == {("Internal consistency", first.design)}
    again = text_again([first, second, dif], {first.title: right + right}, before)
    assert "## 0 of 3 rates promise too much" in again
    assert (
        f"| {first.design} | Internal consistency: 95% CI | covered | 95.0 | 1000 | judged again |"
        in again
    )
    assert again.index(first.design) < again.index(second.design)
    assert not wrong(again)
    still = text_again([first, second, dif], {first.title: low + low}, before)
    assert "| 90.0 | 1000 | too short, judged again |" in still
    assert wrong(still) == wrong(before)
    assert text_again([first, second, dif], {}, before) == before


def test_named_analyses_are_judged_again_on_a_page_of_all(tmp_path, monkeypatch):
    """Of the page of two analyses, one is named and promises too much."""
    first, dif = (next(case for case in CASES if case.title == title) for title in _THREE[::2])
    low = Counter({("alpha.ci_low", "", "covered", False): 500})
    tests = Counter({("tests.p", "", "significant", False): 500})
    file = tmp_path / "coverage.md"
    file.write_text(text([first, dif], {first.title: low, dif.title: tests}, 500))
    monkeypatch.setattr(bench, "cases", lambda: iter([first, dif]))
    monkeypatch.setattr(bench, "KEPT", tmp_path / "kept.jsonl")
    monkeypatch.setattr(bench, "AGAIN", range(500, 525))
    assert bench.main([first.analysis, "--again", "--workers", "1", "--out", str(file)]) == 0
    page = file.read_text()
    assert page.count("judged again |") == 1
    assert "## Differential item functioning" in page


def test_a_quick_run_prints_what_it_is_asked_for(capsys):
    assert bench.main(["internal_consistency", "--quick", "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("Internal consistency: 95% CI") == sum(
        case.analysis == "internal_consistency" for case in CASES
    )


@pytest.mark.parametrize("analysis", ["internal_consistency", "item_statistics"])
def test_intervals_of_averaged_contexts_cover(analysis):
    """60 simulated studies: a bound that 95 % passes in all but 1 of 1,000 runs."""
    case = next(c for c in CASES if c.analysis == analysis and c.design == SMALL.title)
    for outcomes in judged([case], range(60)).values():
        held = {outcome: n for (_, _, _, outcome), n in outcomes.items()}
        assert held[True] / sum(held.values()) >= 0.85


def test_an_analysis_has_a_case_or_promises_nothing():
    registered = {analysis.name for analysis in analyses.all_analyses()}
    having = {case.analysis for case in CASES}
    assert having | NO_PROMISE == registered
    assert not having & NO_PROMISE

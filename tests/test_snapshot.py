"""The snapshot is the same twice, holds every analysis, and shows a number that has changed."""

from __future__ import annotations

import pandas as pd

from core.workflow.statistics import analyses
from tests.snapshot import exports, results
from tests.snapshot.cases import Case, cases
from tests.snapshot.studies import Entry, bank_of, bring_in, long, unsuitable


def contents(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_every_analysis_and_all_files_of_a_study_are_written(workspace, tmp_path):
    entry = Entry("unsuitable", unsuitable)
    entry.make(workspace)
    exports.write_studies(workspace, entry, tmp_path)
    results.write(workspace, entry, tmp_path)
    found = contents(tmp_path)
    written = {path.split("/")[1] for path in found if path.startswith("analyses/")}
    assert written == {analysis.name for analysis in analyses.all_analyses()}
    assert b"did not ask for texts" in found["analyses/odds_ratios/unsuitable/default/refusal.txt"]
    assert "analyses/option_distribution/unsuitable/default/chart 1.json" in found
    assert "studies/unsuitable/answers.csv" in found


def test_the_same_answers_give_the_same_bytes_and_one_other_answer_shows_up(workspace, tmp_path):
    values = {f"q{item}": [1 + (item * person) % 5 for person in range(8)] for item in range(1, 5)}
    bank_of(workspace, "four", {"all": list(values)})
    found = {}
    for study, first in (("before", 1), ("again", 1), ("after", 2)):
        wide = pd.DataFrame(values)
        wide.loc[0, "q1"] = first
        bring_in(workspace, study, long(wide), bank="four")
        analysis, case = analyses.by_name("score_distribution"), Case("default", "default", {})
        results.write_case(workspace, (study,), analysis, case, tmp_path / study)
        found[study] = contents(tmp_path / study)
    assert found["again"] == found["before"]
    different = {name for name in found["before"] if found["before"][name] != found["after"][name]}
    assert "scores.csv" in different


def test_every_choice_factor_and_number_is_tried_once():
    analysis = analyses.by_name("internal_consistency")
    levels = {"form": ["original", "alternate"], "item": ["q1", "q2"]}
    found = {case.name: case for case in cases(analysis, levels, {}, {"by": (("study", "form"),)})}
    assert list(found) == [
        "default",
        "by=none",
        "by=form",
        "by=context_set",
        "by=rewriting",
        "by=study+form",
        "missing=listwise",
        "missing=pairwise",
        "missing=fiml",
        "ci_level=0.725",
        "over=form",
        "only first form",
        "only first items",
    ]
    assert found["by=form"].options == {"by": ("form",)}
    assert found["only first form"].where == {"form": ["original"]}


def test_times_and_durations_are_taken_out_and_nothing_else():
    calls = b'respondent,time,latency_s,cost\n"a,b",2026-01-01T00:00:00Z,0.25,0.5\nc,,,1\n'
    assert exports.without_clock("calls.csv", calls) == (
        b'respondent,time,latency_s,cost\n"a,b",CLOCK,CLOCK,0.5\nc,,,1\n'
    )
    plan = b"# plan 12 of study a frozen 2026-01-01T00:00:00+00:00\ntrial,item\n1,q1\n"
    assert exports.without_clock("plan.csv", plan) == (
        b"# plan 12 of study a frozen TIME\ntrial,item\n1,q1\n"
    )
    assert exports.without_clock("bank.csv", calls) == calls

from __future__ import annotations

from core.analysis.kit.results import Findings, count_result


def test_trials_that_count_nowhere_are_missing_or_left_out():
    """Of 10 trials 7 are usable and 5 used: 3 missing, and 2 left out."""
    result = count_result([], Findings(), unit="u", trials=10, usable=7, used=5, method="m")
    assert (result.n_used, result.n_missing, result.n_left_out) == (5, 3, 2)


def test_a_refusal_names_the_levels_of_its_groups():
    findings = Findings()
    findings.caution("m · 0", "not fitted.")
    findings.caution("a · b · 0", "a name with the separator in it.")
    error = findings.refusal("Nothing.", "Ask more.", ("respondent", "temperature"))
    assert "Nothing. m · temperature 0: not fitted. a · b · 0: a name" in str(error)


def test_a_refusal_says_a_reason_of_many_groups_once():
    findings = Findings()
    for number in range(5):
        findings.caution(f"m{number} · 0", "too few rows.")
    refusal = str(findings.refusal("Nothing can be compared.", "", ("model", "temperature")))
    assert refusal.count("too few rows") == 1
    assert "m0 · temperature 0" in refusal
    assert "2 more groups" in refusal

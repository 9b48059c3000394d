"""Notes of several groups that say the same, and sides that an interval carries."""

from __future__ import annotations

import math

import pandas as pd

from core.analysis.kit.sentences import (
    merge_notes,
    rows_by_group,
    scale_name,
    share_interval,
    side_of_interval,
    statistic_text,
    with_levels_named,
)
from core.domain.notes import Place, about, undefined_note
from core.domain.results import AnalysisResult
from core.domain.tables import TableSpec, number

FEW = "fewer rows than items."


def test_equal_notes_of_several_groups_become_one_where_the_first_stood():
    notes = (
        about("m · de", FEW),
        "3 trials are missing.",
        about("m · en", FEW),
        about("m · en", "other words."),
    )
    assert merge_notes(notes, ("m · de", "m · en")) == (
        f"m · de and m · en: {FEW}",
        "3 trials are missing.",
        "m · en: other words.",
    )


def test_of_many_groups_the_first_three_are_named_and_the_others_counted():
    groups = [f"g{number}" for number in range(1, 6)]
    notes = [about(group, FEW) for group in groups]
    assert merge_notes(notes[:3], groups) == (f"g1, g2 and g3: {FEW}",)
    assert merge_notes(notes[:4], groups) == (f"g1, g2, g3 and 1 more group: {FEW}",)
    assert merge_notes(notes, groups) == (f"g1, g2, g3 and 2 more groups: {FEW}",)


def test_scales_of_the_same_groups_are_named_together():
    notes = [about(Place(g, "scale", scale), FEW) for g in ("m", "n") for scale in ("A", "B")]
    assert merge_notes(notes, ("m", "n")) == (f"m and n, scales A and B: {FEW}",)
    assert merge_notes(notes[:3], ("m", "n")) == (
        f"m and n, scale A: {FEW}",
        f"m, scale B: {FEW}",
    )
    alone = [about(Place("m", "subscale", scale), FEW) for scale in "ABCDE"]
    assert merge_notes(alone, ("m",)) == (f"m, subscales A, B, C and 2 more subscales: {FEW}",)


def test_a_name_that_begins_another_is_not_taken_for_it():
    notes = (about("gpt-4", "a."), about("gpt-4o", "a."), "gpt-4 did it.", about("gpt-4: x", "a."))
    assert merge_notes(notes, ("gpt-4", "gpt-4o", "gpt-4: x")) == (
        "gpt-4, gpt-4o and gpt-4: x: a.",
        "gpt-4 did it.",
    )


def test_notes_without_groups_stay_and_are_not_repeated():
    assert merge_notes(("One.", "Two.", "One."), ()) == ("One.", "Two.")
    assert merge_notes((), ("m",)) == ()


def test_a_side_is_named_only_where_the_interval_excludes_the_null():
    assert side_of_interval(0.01, 0.3) == 1
    assert side_of_interval(-0.3, -0.01) == -1
    assert side_of_interval(-0.08, 0.08) == 0
    assert side_of_interval(0.51, 0.6, 0.5) == 1
    assert side_of_interval(0.4, 0.6, 0.5) == 0


def test_an_interval_that_ends_at_the_null_or_is_undefined_names_no_side():
    assert side_of_interval(0.0, 0.3) == side_of_interval(-0.3, 0.0) == 0
    assert side_of_interval(0.1 + 0.2, 0.6, 0.3) == 0  # 0.1 + 0.2 is above 0.3 by rounding alone
    assert side_of_interval(0.0, 0.0) == 0
    for low, high in ((math.nan, math.nan), (0.1, math.nan), (math.nan, -0.1)):
        assert side_of_interval(low, high) == 0


def test_an_interval_of_units_without_width_gives_way_to_wilsons():
    row = {"ci_low": 0.1, "ci_high": 0.4, "wilson_low": 0.2, "wilson_high": 0.3}
    assert share_interval(row) == (0.1, 0.4)
    for end in (0.0, math.nan):  # as results of earlier versions have it; of one unit
        assert share_interval({**row, "ci_low": end, "ci_high": end}) == (0.2, 0.3)


def test_a_test_has_its_degrees_of_freedom_behind_its_name():
    assert statistic_text("classic F", (3.0, 233.0), 1.204) == "classic F(3, 233) = 1.20"
    assert statistic_text("Welch's F", (2.0, 41.26), 4.1) == "Welch's F(2, 41.3) = 4.10"
    assert statistic_text("Welch's t", (math.nan, 12.0), -2.5) == "Welch's t(12) = −2.50"
    assert statistic_text("z", (), 1.96) == "z = 1.96"


def test_a_scale_without_a_name_is_called_by_what_it_holds():
    assert scale_name("", [""]) == "all items"
    assert scale_name("", ["", "warmth"]) == "(no subscale)"
    assert scale_name("warmth", ["", "warmth"]) == "warmth"


def test_notes_name_levels_as_answers_do():
    spec = TableSpec("numbers", "Numbers", (number("value", "Value", "points", "A number."),))
    values = pd.DataFrame(
        {"respondent": ["m", "m"], "temperature": [0.0, 1.0], "value": [2.0, 3.0]}
    )
    table = spec.table(values, ("respondent", "temperature"))
    place = Place("m · 0", "scale", "calm")
    notes = (about(place, undefined_note(FEW)), about("m", FEW), "3 trials are missing.")
    result = AnalysisResult((table,), "one row", 2, 0, "Means.", notes=notes)
    named = with_levels_named(result).notes
    assert list(rows_by_group(table)) == ["m · temperature 0", "m · temperature 1"]
    assert named == (f"m · temperature 0, scale calm: {FEW}", *notes[1:])
    assert (named[0].kind, named[0].place.scale) == ("undefined", "calm")

"""Notes are texts and records: a name that a user typed decides nothing."""

from __future__ import annotations

import json
import pickle

import pandas as pd
import pytest

from core.analysis.kit.sentences import merge_notes, place_and_rest
from core.domain.notes import (
    Note,
    Place,
    about,
    kind_of,
    of_kind,
    replaced,
    undefined_note,
    words_of,
)
from core.stats.inputs import Estimate
from core.stats.scores import keying_note
from core.stats.validation import ValidityCoefficients, validate


def test_a_note_is_its_text_with_the_place_before_it():
    note = about(Place("m · de", "scale", "Openness: ideas"), "alpha is undefined.")
    assert note == "m · de, scale Openness: ideas: alpha is undefined."
    assert note.words == words_of(note) == "alpha is undefined."
    assert (note.place.group, note.place.noun, note.place.scale) == (
        "m · de",
        "scale",
        "Openness: ideas",
    )
    assert about("m", "not asked.", "a with b") == "m, a with b: not asked."
    assert str(Note("A sentence.")) == "A sentence."
    assert json.loads(json.dumps([note])) == [str(note)]


def test_a_note_keeps_what_it_says_where_it_is_placed():
    note = about("m", undefined_note("Undefined: one row."))
    assert (kind_of(note), note) == ("undefined", "m: Undefined: one row.")
    assert of_kind([note, "Undefined: a text."], "undefined") == [note]
    assert kind_of("Undefined: a text.") == ""


@pytest.mark.parametrize("place", ["m", Place("m", "subscale", ""), Place("m", "scale", "a: b")])
def test_another_process_has_the_same_note(place):
    note = about(place, undefined_note("Undefined: one row."), "x with y")
    again = pickle.loads(pickle.dumps(note))
    assert again == note
    assert vars(again) == vars(note)
    assert again.place.scale == note.place.scale


def test_other_words_stay_on_the_same_place():
    note = about(Place("m", "scale", "keys"), undefined_note("no keys."))
    changed = replaced(note, "keys", "options")
    assert changed == "m, scale keys: no options."
    assert (kind_of(changed), changed.place) == ("undefined", note.place)
    assert replaced("no keys", "keys", "options") == "no options"
    detailed = about("m", "no keys.", "a with b")
    assert replaced(detailed, "keys", "options") == "m, a with b: no options."


def test_subscales_with_a_colon_are_named_and_not_torn():
    """As one would type facets of a questionnaire."""
    notes = [
        about(Place("m", "subscale", name), "left out for zero variance: i1.")
        for name in ("Openness: ideas", "Values: ideas")
    ]
    assert merge_notes(notes, ["m"]) == (
        "m, subscales Openness: ideas and Values: ideas: left out for zero variance: i1.",
    )


def test_groups_whose_names_begin_alike_are_kept_apart():
    notes = [about("m", "x: not asked."), about("m: x", "not asked.")]
    assert notes[0] == notes[1]  # the same text
    assert [place_and_rest(note, {"m", "m: x"})[0] for note in notes] == ["m", "m: x"]
    assert merge_notes(notes, ["m", "m: x"]) == ("m: x: not asked.", "m: x: not asked.")


def test_a_note_on_no_known_group_stands_as_it_is():
    notes = [about("semopy", "other numbers."), "A sentence: with a colon."]
    assert merge_notes(notes, ["m"]) == tuple(notes)


def test_an_item_called_undefined_does_not_hide_the_reason():
    """The caution on its keying begins with its name."""
    caution = keying_note("F", ["Undefined attitude"], [[-0.5]])
    assert caution.startswith("Undefined attitude")
    assert kind_of(caution) == "keying"
    reason = undefined_note("Undefined: alpha needs two items that vary, and there is one.")
    found = validate(ValidityCoefficients(Estimate(float("nan"), problems=(caution, reason))))
    assert found.criteria[0].reason == reason


def test_notes_go_through_frames_as_text():
    frame = pd.DataFrame({"remark": [undefined_note("Undefined: one row."), ""]})
    assert frame["remark"].tolist() == ["Undefined: one row.", ""]

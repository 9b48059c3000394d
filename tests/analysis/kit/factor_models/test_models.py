"""Names in model texts, texts proposed to users, and texts written anew."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from core.analysis.kit.factor_models.models import (
    lost_factors,
    model_names,
    proposed_text,
    real_names,
    text_of,
    typed_model,
    written_model,
)
from core.errors import NotEnoughData
from core.stats.factor.model_text import add_method_factor, bifactor_model, parse_model
from tests.analysis.score_frames import item_scores

ANSWERS = np.random.default_rng(1).integers(1, 6, (30, 6)).astype(float)


def meaning(text):
    """What a text says, in a form that can be compared."""
    model = parse_model(text)
    return model.factors, model.items, set(model.terms)


@given(
    st.dictionaries(
        st.text(st.sampled_from("ax1_.- é%"), min_size=1, max_size=4),
        st.sampled_from(["", "ax", "General", "Method", "s-1", "(none)", "_"]),
        min_size=1,
        max_size=12,
    )
)
def test_every_name_is_one_that_a_text_can_hold_and_its_own(subscale_of):
    names = model_names(subscale_of)
    every = [*names.items.values(), *names.factors.values(), names.general, names.method]
    assert len(set(every)) == len(every)
    model = parse_model("\n".join(f"{name} =~ zzz" for name in every))
    assert model.factors == tuple(every)
    assert all(names.shown[safe] == item for item, safe in names.items.items())


def test_codes_that_a_text_can_hold_stay_whatever_else_there_is():
    names = model_names({"x-1": "", "x_1": "", "x.1": "", "NA": "", "_a": "", "1": "", "%": ""})
    assert names.items == {
        "x-1": "x_1_2",
        "x_1": "x_1",
        "x.1": "x.1",
        "NA": "n_NA",
        "_a": "a",
        "1": "n_1",
        "%": "n_",
    }
    assert set(names.changed) == {"x-1", "NA", "_a", "1", "%"}


def test_sentences_get_whole_names_back_and_keep_their_full_stops():
    shown = {"x_1": "x-1", "x.1": "x.1", "n_2": "2"}
    sentence = "The variance of x_1 is negative; x_1b, n_2 and x.1. Not x_1."
    assert real_names(sentence, shown) == (
        "The variance of x-1 is negative; x_1b, 2 and x.1. Not x-1."
    )


def test_a_proposed_text_has_the_items_that_vary_anywhere():
    values = ANSWERS.copy()
    values[:, 0] = 3
    flat = item_scores(values, items=list("abcdef"), respondent="flat")
    other = values.copy()
    other[:, 1] = 2
    other[:, 0] = 3
    frame = pd.concat(
        [flat, item_scores(other, items=list("abcdef"), respondent="other", start=100)]
    )
    assert (
        proposed_text(frame, "general", by=("respondent",)).text == "General =~ b + c + d + e + f"
    )
    one = frame[frame["respondent"] == "other"]
    assert proposed_text(one, "general", by=("respondent",)).text == "General =~ c + d + e + f"


def test_a_proposed_text_reads_as_the_model_and_says_what_its_names_stand_for():
    frame = item_scores(
        ANSWERS, items=["1", "x-2", "c", "d", "e", "f"], subscales=["a b"] * 3 + [""] * 3
    )
    proposed = proposed_text(frame)
    assert proposed.text == "a_b =~ n_1 + x_2 + c\nnone =~ d + e + f"
    assert {safe: proposed.name(safe) for safe in ("n_1", "x_2", "a_b", "none", "c")} == {
        "n_1": "1",
        "x_2": "x-2",
        "a_b": "a b",
        "none": "(none)",
        "c": "c",
    }
    names = model_names(dict(zip(frame["item"][:6], frame["subscale"][:6], strict=True)))
    assert typed_model(proposed.text, names).items == ("n_1", "x_2", "c", "d", "e", "f")


def test_nothing_can_be_proposed_for_answers_that_do_not_vary():
    with pytest.raises(NotEnoughData, match="No item varies"):
        proposed_text(item_scores(np.ones((5, 3))))
    with pytest.raises(NotEnoughData, match="needs two subscales"):
        proposed_text(item_scores(ANSWERS), "bifactor")


def test_a_general_factor_beside_a_subscale_of_that_name_is_told_from_it():
    subscale_of = {"a": "General", "b": "General", "c": "x", "d": "x"}
    written = written_model("bifactor", list("abcd"), [1] * 4, subscale_of)
    assert written.text.splitlines()[:2] == ["General_2 =~ NA*a + b + c + d", "General =~ NA*a + b"]
    assert (written.name("General"), written.name("General_2")) == ("General", "General 2")


@pytest.mark.parametrize(
    "text",
    [
        "F =~ a + b + c",
        "F =~ NA*a + k*a + 0.5*b + start(-1e-05)*c\nF ~~ 1*F\nG =~ d + e\nF ~~ 0*G",
        "a + b ~~ 0.123456789012345*c\nF =~ a + b + c + d\na ~ 0*1\nb ~ 1\nc ~ k*1\nF ~ 0*1",
        bifactor_model({"F": ["a", "b", "c"], "G": ["d", "e", "f"]}),
        add_method_factor("F =~ a + b + c + d", ["b", "c"]),
    ],
)
def test_a_text_written_anew_says_the_same(text):
    assert meaning(text_of(parse_model(text))) == meaning(text)


def test_factors_are_lost_with_their_last_item():
    model = parse_model("F =~ a + b\nG =~ c\nX =~ F + G")
    assert lost_factors(model, frozenset("a")) == []
    assert lost_factors(model, frozenset("c")) == ["G"]
    assert set(lost_factors(model, frozenset("abc"))) == {"F", "G", "X"}

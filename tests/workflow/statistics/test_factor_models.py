"""Edits of factor models and the sentences on them."""

from core.workflow.statistics.factor_models import ModelEdit, Proposal, apply_edit

TEXT = "F =~ d + e + k\nG =~ a\nF ~ G\nk ~ w"


def edited(text, *edit):
    """The text after an edit and the sentence on it, where G is called General."""
    return apply_edit(text, ModelEdit(*edit), Proposal(text, {"G": "General"}))


def test_the_last_item_of_a_factor_takes_the_factor_and_its_regressions_with_it():
    changed, sentence = edited(TEXT, "take_off", "a", "G")
    assert changed.split("\n")[0] == "F =~ d + e + k"
    assert "F ~ G" not in changed
    assert sentence.startswith("a is out of the model.")
    assert "are out: General." in sentence
    assert "out with it: General explains F." in sentence
    _, moved = edited(TEXT, "move", "a", "G", "F")
    assert "General explains F." in moved


def test_an_item_takes_its_regressions_with_it():
    _, sentence = edited(TEXT, "take_off", "k", "F")
    assert sentence == "k is out of the model. Regressions that are out with it: w explains k."
    assert edited(TEXT, "take_off", "d", "F")[1] == "d is out of the model."
    assert edited(TEXT, "ignore", "k", "", "w")[1] == "w does not explain k."


def test_a_regression_that_replaces_a_covariance_says_so():
    changed, sentence = edited("F =~ a + b\nG =~ c + d\nF ~~ G", "explain", "G", "", "F")
    assert changed == "F =~ a + b\nG =~ c + d\nG ~ F"
    assert sentence == "F explains General. Their covariance is out of the model."

"""Edits of a model text change what they are about and nothing else."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.analysis.kit.factor_models.editing import (
    assignment,
    move_item,
    regressions,
    residual_pairs,
    with_cross_loading,
    with_item_on,
    with_regression,
    with_residual,
    without_loading,
    without_regression,
    without_residual,
)
from core.stats.factor.model_text import (
    ModelTextError,
    add_method_factor,
    bifactor_model,
    one_factor_model,
    parse_model,
    second_order_model,
    subscale_model,
)

SUBSCALES = {"F": ["a", "b", "c"], "G": ["d", "e", "f"], "H": ["g", "h", "i"]}
PLAIN = subscale_model(SUBSCALES)
TEXTS = {
    "plain": PLAIN,
    "general": one_factor_model(list("abcdefghi")),
    "method": add_method_factor(PLAIN, ["b", "d", "e"]),
    "bifactor": bifactor_model(SUBSCALES),
    "second order": second_order_model(SUBSCALES),
    "by hand": """# Two traits
F =~ a +  # the marker
     0.8*b + L*c ! with a label
G =~ NA*d + L*d
   + start(0.5)*e   # begin here
   + f; G ~~ 1*G

F + G =~ g    # on both
F =~ h + i    # a second line of F
a ~~ b + 0*c; d ~~ e  # residuals
F ~~ G
a ~ 1""",
}


def said(text):
    """What a text says, without order."""
    model = parse_model(text)
    return {(t.left, t.op, t.right): (t.fixed, t.freed, t.label, t.start) for t in model.terms}


def test_every_item_comes_with_its_factors():
    found = assignment("F =~ a + b\nG =~ b + c\nF =~ d\na ~~ x")
    assert found == {"a": ("F",), "b": ("F", "G"), "c": ("G",), "d": ("F",), "x": ()}


def test_a_general_factor_has_no_items_of_its_own():
    assert assignment(TEXTS["second order"])["a"] == ("F",)
    assert "F" not in assignment(TEXTS["second order"])


@pytest.mark.parametrize("empty", ["", "\n", "# nothing yet\n"])
def test_a_text_without_statements_can_be_begun(empty):
    assert assignment(empty) == {}
    assert residual_pairs(empty) == ()
    assert without_residual(empty, "a", "b") == empty
    assert with_item_on(empty, "a", ()) == empty
    text = with_item_on(with_item_on(empty, "a", ("F",)), "b", ("F",))
    assert text == f"{empty}F =~ a + b"


def test_a_text_that_cannot_be_read_is_refused():
    with pytest.raises(ModelTextError, match="line 2"):
        with_item_on("F =~ a + b\nG < c", "a", ("G",))


def test_an_item_moves_to_the_end_of_another_factor():
    assert with_item_on("F =~ a + b + c\nG =~ d + e", "b", ("G",)) == "F =~ a + c\nG =~ d + e + b"
    assert with_item_on("F =~ a + b\nG =~ d + e", "a", ("G",)) == "F =~ b\nG =~ d + e + a"
    assert with_item_on("F =~ a + b\nG =~ d + e", "b", ("F", "G")) == "F =~ a + b\nG =~ d + e + b"
    assert with_item_on("F =~ a + b", "b", ("New",)) == "F =~ a\nNew =~ b"


def test_nothing_changes_where_the_item_is_there_already():
    text = TEXTS["by hand"]
    assert with_item_on(text, "g", ("G", "F")) == text
    assert with_item_on(text, "a", ("F",)) == text


def test_comments_lines_and_modifiers_of_others_stay():
    text = "# head\nF =~ a +  # first\n     0.8*b +  # second\n     c  # third\n\nG =~ d + e ! tail"
    assert with_item_on(text, "b", ("G",)) == (
        "# head\nF =~ a +  # first\n     # second\n     c  # third\n\nG =~ d + e + b ! tail"
    )
    assert with_item_on(text, "c", ()) == (
        "# head\nF =~ a +  # first\n     0.8*b # second\n     # third\n\nG =~ d + e ! tail"
    )


def test_an_item_goes_from_a_line_that_begins_with_its_sign():
    text = "F =~ a\n   + b   # second\n   + c\n"
    assert said(with_item_on(text, "b", ())) == said("F =~ a + c")
    assert "# second" in with_item_on(text, "b", ())
    assert with_item_on(text, "c", ()) == "F =~ a\n   + b   # second\n"


def test_all_mentions_of_a_loading_go_and_a_free_first_one_hands_its_freedom_on():
    text = "F =~ NA*a + k*a + b + c\nF ~~ 1*F\nG =~ d + e"
    assert with_item_on(text, "a", ("G",)) == "F =~ NA*b + c\nF ~~ 1*F\nG =~ d + e + a"
    labeled = "F =~ NA*a + k*b + k*c\nF ~~ 1*F"
    assert said(with_item_on(labeled, "a", ())) == said("F =~ NA*b + k*b + k*c\nF ~~ 1*F")
    fixed = "F =~ NA*a + 1*b + c"
    assert with_item_on(fixed, "a", ()) == "F =~ 1*b + c"
    assert with_item_on("F =~ NA*a + NA*b + c", "a", ()) == "F =~ NA*b + c"
    assert with_item_on("F =~ a + NA*b + c", "b", ()) == "F =~ a + c"


def test_a_factor_without_items_disappears_with_all_that_is_said_of_it():
    text = "F =~ a + b\nG =~ c\nF ~~ 0*G + 0*H; G ~~ 1*G\nH =~ d + e\nG ~ 0*1\nX =~ F + G + H"
    assert with_item_on(text, "c", ("F",)) == "F =~ a + b + c\nF ~~ 0*H\nH =~ d + e\nX =~ F + H"


def test_a_general_factor_behind_nothing_disappears_too():
    text = "F =~ a\nX =~ F\nX ~~ 1*X\nG =~ b + c"
    assert with_item_on(text, "a", ("G",)) == "G =~ b + c + a"


def test_an_item_without_factors_leaves_the_text_with_its_residuals():
    text = "F =~ a + b + c\na ~~ b  # shared wording\nb ~~ c\na ~ 1"
    assert with_item_on(text, "a", ()) == "F =~ b + c\n# shared wording\nb ~~ c\n"
    assert "a" not in assignment(with_item_on(TEXTS["by hand"], "a", ()))


def test_residuals_are_added_taken_and_listed():
    text = "F =~ a + b + c + d # one\n"
    one = with_residual(text, "a", "b")
    assert one == "F =~ a + b + c + d # one\na ~~ b"
    assert residual_pairs(one) == (("a", "b"),)
    assert with_residual(one, "b", "a") == one
    two = with_residual(one, "c", "d")
    assert residual_pairs(two) == (("a", "b"), ("c", "d"))
    assert without_residual(two, "b", "a") == "F =~ a + b + c + d # one\nc ~~ d"
    assert without_residual(one, "a", "c") == one


def test_a_residual_goes_from_among_others_and_its_modifier_with_it():
    text = "F =~ a + b + c + d\na ~~ k*b + 0.2*c + d # three"
    assert without_residual(text, "c", "a") == "F =~ a + b + c + d\na ~~ k*b + d # three"
    both = "F =~ a + b + c\na + b ~~ c"
    assert residual_pairs(without_residual(both, "a", "c")) == (("b", "c"),)


def test_a_residual_fixed_at_0_is_none_until_it_is_added():
    text = "F =~ a + b + c\na ~~ 0*b\nF ~~ 1*F\na ~~ a"
    assert residual_pairs(text) == ()
    assert residual_pairs(with_residual(text, "a", "b")) == (("a", "b"),)
    assert said(with_residual(text, "a", "b"))["a", "~~", "b"] == (None, False, None, None)
    assert "F ~~ 1*F\na ~~ a" in without_residual(text, "a", "b")


@given(
    name=st.sampled_from(sorted(TEXTS)),
    item=st.sampled_from("abcdefghi"),
    target=st.lists(st.sampled_from(["F", "G", "H", "General", "New"]), unique=True, max_size=3),
)
def test_a_move_sets_the_factors_of_one_item_and_leaves_what_else_is_said(name, item, target):
    text = TEXTS[name]
    before, after = assignment(text), with_item_on(text, item, target)
    now = assignment(after)
    assert set(now.get(item, ())) == set(target)
    assert {k: v for k, v in now.items() if k != item} == {
        k: v for k, v in before.items() if k != item
    }
    kept = parse_model(after).factors if now else ()
    old, new = said(text), said(after) if now else {}
    for key, value in old.items():
        left, op, right = key
        gone = {left, right} - {""} - set(now) - set(kept)
        if gone or (op == "=~" and right == item and left not in target):
            assert key not in new
        elif new[key] != value:  # the first loading, to which freedom was handed on
            assert (op, new[key][1]) == ("=~", True)
    comments = [line.split("#")[1] for line in text.splitlines() if "#" in line]
    assert all(comment in after for comment in comments)


@given(
    name=st.sampled_from(sorted(TEXTS)),
    item=st.sampled_from("abcdefghi"),
    other=st.sampled_from("abcdefghi"),
)
def test_moving_there_and_back_restores_what_every_item_measures(name, item, other):
    text = TEXTS[name]
    before = assignment(text)
    if all(before[item] != (f,) or sum(f in v for v in before.values()) > 1 for f in "FGH"):
        back = with_item_on(with_item_on(text, item, (*before[other], "New")), item, before[item])
        assert {k: set(v) for k, v in assignment(back).items()} == {
            k: set(v) for k, v in before.items()
        }
        assert "New" not in parse_model(back).factors
    if item != other:
        pairs = {frozenset(p) for p in residual_pairs(text)}
        added = with_residual(text, item, other)
        assert {frozenset(p) for p in residual_pairs(added)} == pairs | {frozenset((item, other))}
        removed = without_residual(added, item, other)
        assert {frozenset(p) for p in residual_pairs(removed)} == pairs - {frozenset((item, other))}
        assert assignment(removed) == before


def test_a_moved_item_leaves_its_old_factor():
    assert move_item("F =~ a + b + c\nG =~ d + e", "b", "F", "G") == "F =~ a + c\nG =~ d + e + b"


def test_a_moved_item_keeps_the_factor_that_it_is_not_moved_from():
    bifactor = "g =~ a + b + c + d\nF =~ a + b\nG =~ c + d"
    assert assignment(move_item(bifactor, "b", "F", "G"))["b"] == ("g", "G")


def test_a_cross_loading_is_added_beside_the_old_loading_and_taken_off_again():
    crossed = with_cross_loading("F =~ a + b + c\nG =~ d + e", "b", "G")
    assert crossed == "F =~ a + b + c\nG =~ d + e + b"
    assert without_loading(crossed, "b", "F") == "F =~ a + c\nG =~ d + e + b"
    assert "b" not in assignment(without_loading("F =~ a + b + c", "b", "F"))


def test_a_regression_is_added_once_and_taken_back():
    text = "F =~ a + b  # first\nG =~ c + d"
    longer = with_regression(text, "G", "F")
    assert longer == f"{text}\nG ~ F"
    assert with_regression(longer, "G", "F") == longer
    longer = with_regression(longer, "G", "e")
    assert regressions(longer) == (("G", "F"), ("G", "e"))
    assert without_regression(without_regression(longer, "G", "F"), "G", "e") == f"{text}\n"
    with pytest.raises(ModelTextError, match="over others"):
        with_regression(longer, "F", "G")


def test_a_regression_takes_the_covariance_of_the_two_out():
    text = "F =~ a + b\nG =~ c + d\nF ~~ G\nF ~~ F"
    assert with_regression(text, "G", "F") == "F =~ a + b\nG =~ c + d\nF ~~ F\nG ~ F"


def test_a_label_that_a_definition_needs_stays():
    text = "F =~ a + b\nG =~ c + d\nG ~ p*F\ntwice := 2*p"
    with pytest.raises(ModelTextError, match='"p" is not the label'):
        without_regression(text, "G", "F")
    assert with_item_on(text, "e", ("F",)).splitlines()[0] == "F =~ a + b + e"

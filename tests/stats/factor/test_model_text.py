"""Reading model texts: what they mean, and what is said where they cannot be read."""

import pytest

from core.stats.factor.model import parameter_table
from core.stats.factor.model_text import (
    ModelTextError,
    add_method_factor,
    bifactor_model,
    one_factor_model,
    parse_model,
    second_order_model,
    subscale_model,
)

ITEMS = ["x1", "x2", "x3", "x4", "x5", "x6"]
SUBSCALES = {"F": ["x1", "x2", "x3"], "G": ["x4", "x5", "x6"]}


def free_cells(text, **options):
    table = parameter_table(parse_model(text, items=ITEMS), **options)
    return {(p.left, p.op, p.right) for p in table.parameters if p.is_free and p.group == 0}


def fixed_cells(text, **options):
    table = parameter_table(parse_model(text, items=ITEMS), **options)
    return {(p.left, p.op, p.right): p.value for p in table.parameters if not p.is_free}


def test_a_statement_goes_on_after_a_plus_and_ends_at_a_comment():
    model = parse_model("F =~ x1 + # the marker\n  x2\n + x3 ! the rest\n\nx1 ~~ x2; x2 ~~ x3")
    assert model.indicators("F") == ("x1", "x2", "x3")
    assert [(t.left, t.right) for t in model.terms[3:]] == [("x1", "x2"), ("x2", "x3")]


def test_variances_and_factor_covariances_need_not_be_written():
    cells = free_cells("F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6")
    assert ("F", "~~", "G") in cells
    assert ("x1", "~~", "x1") in cells
    assert len(cells) == 4 + 6 + 3


def test_the_first_loading_is_fixed_by_default_and_the_variance_with_std_lv():
    text = "F =~ x1 + x2 + x3"
    assert fixed_cells(text) == {("F", "=~", "x1"): 1.0}
    assert fixed_cells(text, scaling="std.lv") == {("F", "~~", "F"): 1.0}


def test_modifiers_fix_free_and_name_parameters():
    text = "F =~ NA*x1 + a*x2 + a*x3 + 0.5*x4 + start(2)*x5\nF ~~ 1*F\nx1 ~~ -0.25*x2"
    model = parse_model(text, items=ITEMS)
    table = parameter_table(model)
    by_name = {p.right: p for p in table.parameters if p.op == "=~"}
    assert by_name["x1"].is_free
    assert by_name["x2"].free == by_name["x3"].free
    assert by_name["x4"].value == 0.5
    assert by_name["x5"].start == 2.0
    assert fixed_cells(text)[("F", "~~", "F")] == 1.0
    assert fixed_cells(text)[("x1", "~~", "x2")] == -0.25


def test_two_modifiers_of_one_loading_are_joined():
    term = parse_model("F =~ NA*x1 + a*x1 + x2").terms[0]
    assert term.freed
    assert term.label == "a"


def test_loadings_with_the_label_of_the_marker_are_fixed_with_it():
    assert fixed_cells("F =~ a*x1 + a*x2 + x3") == {("F", "=~", "x1"): 1, ("F", "=~", "x2"): 1}


def test_a_free_first_loading_stays_free_where_its_item_is_left_out():
    text = "F =~ NA*x1 + x2 + x3\nF ~~ 1*F\nG =~ x4 + NA*x5 + x6"
    free = {
        (p.left, p.right)
        for p in parameter_table(parse_model(text).without(frozenset({"x1", "x4"}))).parameters
        if p.op == "=~" and p.is_free
    }
    assert free == {("F", "x2"), ("F", "x3"), ("G", "x5"), ("G", "x6")}


def test_a_marker_left_out_passes_its_role_to_the_next_item():
    kept = parse_model("F =~ x1 + x2 + x3").without(frozenset({"x1"}))
    fixed = [p for p in parameter_table(kept).parameters if p.op == "=~" and not p.is_free]
    assert [(p.right, p.value) for p in fixed] == [("x2", 1.0)]


def test_factors_that_lose_all_they_are_measured_by_go_too():
    text = "A =~ x1 + x2\nB =~ x3 + x4\nTop =~ A\nA ~~ B\nx1 ~~ x3"
    kept = parse_model(text).without(frozenset({"x1", "x2"}))
    assert kept.factors == ("B",)
    assert kept.items == ("x3", "x4")
    assert {name for t in kept.terms for name in (t.left, t.right)} == {"B", "x3", "x4"}
    assert parameter_table(kept).factors == ("B",)


def test_a_factor_with_one_item_has_no_residual_variance():
    assert fixed_cells("F =~ x1\nG =~ x2 + x3 + x4")[("x1", "~~", "x1")] == 0.0


def test_groups_have_their_own_parameters_except_what_is_held_equal():
    model = parse_model("F =~ x1 + x2 + x3 + x4")
    n_free = {
        name: parameter_table(model, means=True, n_groups=2, equal=frozenset(equal)).n_free
        for name, equal in {
            "configural": (),
            "metric": ("loadings",),
            "scalar": ("loadings", "intercepts"),
            "strict": ("loadings", "intercepts", "residuals"),
        }.items()
    }
    # 3 loadings fewer; 4 intercepts fewer, 1 factor mean more; 4 residual variances fewer
    assert n_free == {"configural": 24, "metric": 21, "scalar": 18, "strict": 14}


def test_a_partial_exception_stays_free_in_each_group():
    model = parse_model("F =~ x1 + x2 + x3 + x4")
    options = {"means": True, "n_groups": 2, "equal": frozenset({"loadings"})}
    whole = parameter_table(model, **options)
    part = parameter_table(model, partial=frozenset({("F", "=~", "x2")}), **options)
    assert part.n_free == whole.n_free + 1


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("F =~ x1 + x2\nG =~ x3 + x44", "line 2", '"x44" is neither an item'),
        ("F =~ x1 + x2\n\n  G = x3", "line 3", "= is not part of a model here"),
        ("F =~ x1 +", "line 1", "a name is missing"),
        ("F =~ x1 x2", "line 1", '"x1 x2" is not a name'),
        ("F =~ *x1", "line 1", "nothing before a *"),
        ("F =~ 2.5.1*x1", "line 1", "neither a number nor a name"),
        ("F x1", "line 1", "no =~, ~~ or ~"),
        ("F =~ x1 + x1", "line 1", "written twice"),
        ("x1 < x2", "line 1", "< is not part"),
        ("F =~ G\nG =~ F", "line 1", "measured by itself"),
        ("F =~ x1 + x2\nF ~~ x1", "line 2", "joins an item and a factor"),
        ("x1 =~ x2 + x3", "line 1", "the name of an item"),
    ],
)
def test_an_unreadable_text_is_refused_naming_the_place(text, where, what):
    with pytest.raises(ModelTextError) as caught:
        parse_model(text, items=ITEMS)
    assert where in caught.value.problem
    assert what in caught.value.problem


def test_a_misspelt_item_gets_the_nearest_name():
    with pytest.raises(ModelTextError, match=r'Did you mean "anxious_2"\?'):
        parse_model("F =~ anxious_1 + anxous_2", items=["anxious_1", "anxious_2"])


@pytest.mark.parametrize("text", ["", "  \n# nothing", "x1 ~~ x2"])
def test_a_text_without_a_factor_is_refused(text):
    with pytest.raises(ModelTextError, match="measures nothing"):
        parse_model(text)


def test_presets_say_what_their_names_promise():
    plain = subscale_model(SUBSCALES)
    assert plain == "F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6"
    method = add_method_factor(plain, ["x2", "x5"])
    assert ("Method", "=~", "x2") in free_cells(method)
    assert fixed_cells(method)[("Method", "~~", "F")] == 0
    bifactor = fixed_cells(bifactor_model(SUBSCALES))
    assert bifactor[("General", "~~", "F")] == 0
    assert bifactor[("F", "~~", "G")] == 0
    assert bifactor[("General", "~~", "General")] == 1
    assert parse_model(one_factor_model(ITEMS)).indicators("General") == tuple(ITEMS)


def test_a_second_order_factor_of_two_subscales_has_equal_loadings():
    fixed = fixed_cells(second_order_model(SUBSCALES))
    assert fixed[("General", "=~", "F")] == fixed[("General", "=~", "G")] == 1

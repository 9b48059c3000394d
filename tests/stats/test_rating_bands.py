import math

import pytest

from core.stats.validation import JUNG_2025, Bands, FactorialBand, acceptable

# printed coefficients and ratings: consistency, alternate form, option order
PUBLISHED = [
    (0.69, "-", 0.61, "-", 0.73, "++"),
    (0.86, "++", 0.84, "++", 0.86, "++"),
    (0.69, "-", 0.40, "--", 0.36, "+"),
    (-1.8, "--", 0.46, "--", 0.18, "-"),
    (0.16, "--", 0.45, "--", 0.07, "--"),
    (0.37, "--", 0.42, "--", 0.28, "-"),
    (0.63, "-", 0.81, "++", 0.61, "++"),
    (0.85, "++", 0.75, "+", 0.48, "+"),
    (0.59, "-", 0.60, "-", 0.22, "-"),
    (0.54, "-", 0.78, "+", 0.48, "+"),
    (0.77, "+", 0.90, "++", 0.26, "-"),
    (0.75, "+", 0.86, "++", 0.26, "-"),
]
EDGES = [
    ("internal consistency", (0.8, 0.7, 0.5)),
    ("alternate form", (0.8, 0.7, 0.5)),
    ("option order", (0.5, 0.3, 0.1)),
    ("concurrent", (0.3, 0.1)),
    ("convergent", (0.6, 0.3, 0.1)),
]


@pytest.mark.parametrize(("criterion", "edges"), EDGES)
def test_an_edge_belongs_to_the_better_rating(criterion, edges):
    bands = JUNG_2025.bands[criterion]
    grades = ["++", "+", "-", "--"]
    for place, edge in enumerate(edges):
        assert bands.rate(edge) == grades[place]
        assert bands.rate(math.nextafter(edge, -1)) == grades[place + 1]
    assert bands.rate(1.0) == "++"
    assert bands.rate(-1.8) == grades[len(edges)]


@pytest.mark.parametrize("row", PUBLISHED)
def test_the_preset_gives_the_printed_ratings_of_reliability(row):
    names = ("internal consistency", "alternate form", "option order")
    for name, value, rating in zip(names, row[::2], row[1::2], strict=True):
        assert JUNG_2025.bands[name].rate(value) == rating


def test_the_preset_gives_the_printed_ratings_of_validity():
    assert [JUNG_2025.bands["convergent"].rate(r) for r in (0.17, 0.07)] == ["-", "--"]
    # the coefficients of the text; the table contradicts them
    assert [JUNG_2025.bands["concurrent"].rate(r) for r in (-0.10, 0.08)] == ["-", "-"]
    assert [JUNG_2025.factorial.rate(*fit) for fit in ((0.18, 0.56), (0.11, 0.66))] == ["-", "-"]


@pytest.mark.parametrize(
    ("rmsea", "cfi", "rating"),
    [
        (0.05, 0.9, "+"),
        (0.0500001, 0.9, "-"),
        (0.05, 0.8999999, "-"),
        (0.0, 1.0, "+"),
        (math.nan, 0.95, ""),
        (0.01, math.nan, ""),
    ],
)
def test_a_factor_model_is_acceptable_only_by_both_indices(rmsea, cfi, rating):
    assert JUNG_2025.factorial.rate(rmsea, cfi) == rating


def test_bands_can_be_edited():
    assert Bands((0.9, 0.8, 0.7)).rate(0.85) == "+"
    assert Bands((0.9, 0.8)).rate(0.1) == "-"
    assert FactorialBand(0.08, 0.95).rate(0.07, 0.96) == "+"


def test_what_is_undefined_has_no_rating():
    assert Bands((0.8, 0.7, 0.5)).rate(math.nan) == ""
    assert [acceptable(rating) for rating in ("++", "+", "-", "--", "")] == [
        True,
        True,
        False,
        False,
        None,
    ]


@pytest.mark.parametrize(
    "edges", [(0.5,), (0.5, 0.7), (0.5, 0.5), (0.9, 0.8, 0.7, 0.6), (math.nan, 0.5), ()]
)
def test_edges_that_do_not_fall_are_refused(edges):
    with pytest.raises(ValueError, match="falling"):
        Bands(edges)

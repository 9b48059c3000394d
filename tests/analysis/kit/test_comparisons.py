from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.analysis.bias.bias import bias
from core.analysis.bias.preference.analysis import preference
from core.analysis.kit.comparisons import MOST_PAIRS, comparison_table, ways_of_asking
from core.analysis.opinions.bias_shift import bias_shift
from core.analysis.opinions.opinions import opinions as opinions_analysis
from core.analysis.quality.template_pilot import template_pilot
from core.analysis.quality.unexpected_outputs import unexpected_outputs
from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.analysis.repeatability.referential_consistency.analysis import referential_consistency
from core.analysis.scales.rater_agreement import rater_agreement
from core.analysis.words.instrument_rates import instrument_rates
from core.analysis.words.word_association.analysis import word_association
from core.analysis.worldviews.form_agreement import form_agreement
from core.analysis.worldviews.stance_reliability import stance_reliability
from core.analysis.worldviews.worldview.analysis import worldview
from core.domain import frames
from tests.analysis.brand_counts import counts_of
from tests.analysis.opinion_frames import opinions
from tests.analysis.statement_frames import random_cells, statements

NAN = float("nan")


def long(groups, names, values):
    """One row per group and item, from a matrix of groups by items."""
    return pd.DataFrame(
        [
            {**dict(zip(names, group, strict=True)), "item": f"i{place}", "share": share}
            for group, row in zip(groups, values, strict=True)
            for place, share in enumerate(row)
        ]
    )


def compared(frame, by, **options):
    result = comparison_table(frame, by, units=("item",), value="share", title="Yes", **options)
    return result.tables[0].frame if result.tables else None, result.notes


FOUR = (("gpt", "en"), ("gpt", "de"), ("gemma", "en"), ("gemma", "de"))
SHARES = [[0.1, 0.2, 0.9], [0.3, 0.4, 0.8], [0.5, 0.6, 0.7], [0.9, 0.9, 0.9]]


def test_pairs_differ_in_exactly_one_factor():
    frame, _ = compared(long(FOUR, ("model", "language"), SHARES), ("model", "language"))
    cells = frame[["factor", "held", "first", "second"]].values.tolist()
    assert cells == [
        ["Model", "en", "gpt", "gemma"],
        ["Model", "de", "gpt", "gemma"],
        ["Language", "gpt", "en", "de"],
        ["Language", "gemma", "en", "de"],
    ]
    # Second minus first: gemma in English has .6 on average, gpt .4.
    assert frame["difference"].tolist() == pytest.approx([0.2, 0.4, 0.1, 0.3])
    assert frame["first_mean"].tolist() == pytest.approx([0.4, 0.5, 0.4, 0.6])
    assert frame["n"].tolist() == [3, 3, 3, 3]


def test_p_is_adjusted_within_each_factor():
    frame, notes = compared(
        long(FOUR, ("model", "language"), np.random.default_rng(2).random((4, 9))),
        ("model", "language"),
    )
    for _, own in frame.groupby("factor"):
        p = own["p"].to_numpy()
        small, large = sorted(p)
        assert sorted(own["p_adjusted"]) == pytest.approx(
            [min(1, 2 * small), max(min(1, 2 * small), large)]
        )
    assert "adjusted after Holm over the pairs that differ in the same factor" in notes[0]


def test_an_item_that_one_group_lacks_is_left_out_of_its_pairs_and_counted():
    values = [[0.1, NAN, 0.4, 0.5], [0.2, 0.3, 0.4, 0.9]]
    frame, _ = compared(long([("a",), ("b",)], ("model",), values), ("model",))
    assert frame[["n", "n_left_out"]].values.tolist() == [[3, 1]]
    assert frame["difference"].iloc[0] == pytest.approx(0.5 / 3)
    expected = stats.ttest_1samp([0.1, 0.0, 0.4], 0).confidence_interval(0.95)
    assert frame[["ci_low", "ci_high"]].iloc[0].tolist() == pytest.approx(list(expected))
    missing_row = long([("a",), ("b",)], ("model",), values).drop(index=1)
    again, _ = compared(missing_row, ("model",))
    pd.testing.assert_frame_equal(frame, again)


def test_of_a_model_and_its_respondents_the_respondents_are_compared():
    groups = [("gpt", "cold"), ("gpt", "warm"), ("gemma", "warm gemma")]
    frame, _ = compared(long(groups, ("model", "respondent"), np.eye(3)), ("model", "respondent"))
    assert frame[["factor", "held", "first", "second"]].values.tolist() == [
        ["Respondent", "gpt", "cold", "warm"],
        ["Respondent", "", "cold", "warm gemma"],
        ["Respondent", "", "warm", "warm gemma"],
    ]


def test_attributes_of_items_are_held_and_never_compared():
    rows = long([("a", "x"), ("b", "x")], ("model", "item.genre"), np.eye(2))
    frame, _ = compared(rows, ("model", "item.genre"))
    assert frame[["factor", "held"]].values.tolist() == [["Model", "x"]]
    none, notes = compared(long([("x",), ("y",)], ("item.genre",), np.eye(2)), ("item.genre",))
    assert none is None
    assert notes == ("Groups by item: genre share no units, so they are not compared in pairs.",)


@pytest.mark.parametrize(
    ("groups", "names", "words"),
    [
        ([("a",)], ("model",), "one group only"),
        ([("a", "en"), ("b", "de")], ("model", "language"), "No two groups differ in one factor"),
    ],
)
def test_where_nothing_can_be_compared_a_note_says_why(groups, names, words):
    none, notes = compared(long(groups, names, np.eye(len(groups))), names)
    assert none is None
    assert words in notes[0]
    assert compared(long([()], (), [[1.0]]), ())[1] == (
        "There is one group only, so no groups are compared.",
    )


def test_of_very_many_pairs_the_first_are_compared_and_the_others_counted():
    groups = [(f"m{a}", f"l{b}") for a, b in product(range(20), range(4))]
    frame, notes = compared(
        long(groups, ("model", "language"), np.zeros((80, 2))), ("model", "language")
    )
    assert len(frame) == MOST_PAIRS == 300
    # 4 languages with 190 pairs of models each, 20 models with 6 pairs of languages each.
    assert "880 pairs of groups differ in one factor; the first 300 are compared" in notes[1]


def test_two_rows_of_one_item_are_a_fault():
    rows = long([("a",), ("b",)], ("model",), np.eye(2))
    with pytest.raises(TypeError, match="two rows of one unit"):
        compared(pd.concat([rows, rows.iloc[:1]]), ("model",))


def test_the_unit_is_named_as_the_analysis_calls_it():
    rows = long([("a",), ("b",)], ("model",), np.eye(2)).rename(columns={"item": "context"})
    result = comparison_table(
        rows, ("model",), units=("context",), value="share", title="Yes", unit_name="context"
    )
    titles = {column.name: column.title for column in result.tables[0].columns}
    assert titles["n"] == "Contexts"
    assert "over the contexts that both have" in result.notes[0]


# Groups that were not asked in the same ways. "gpt" and "llama" give the same answers where both
# were asked; gpt was also asked in another way, with other answers. What both were asked does not
# differ: 0 in every analysis.

SAME = [("q1", 9, 1, 0), ("q2", 7, 3, 0), ("q3", 4, 6, 0), ("q4", 0, 10, 0), ("q5", 6, 4, 0)]
OTHER = [(item, 5, 5, 0) for item, *_ in SAME]


def unlike(part, **more):
    """gpt and llama alike in one way, gpt alone in another; `part` makes the counts of one."""
    return pd.concat(
        [
            part(SAME, respondent="gpt"),
            part(SAME, respondent="llama"),
            part(OTHER, respondent="gpt", **more),
        ],
        ignore_index=True,
    )


def with_phases(rows, **factors):
    opposed = [(item, no, yes, rest) for item, yes, no, rest in rows]
    first = opinions(rows, phase="initial", **factors)
    return pd.concat([first, opinions(opposed[:2] + rows[2:], phase="opposing", **factors)])


def in_two_formats(rows, **factors):
    changed = [(item, no, yes, rest) for item, yes, no, rest in rows]
    second = {"format": "a_b", **factors}
    return pd.concat([opinions(rows, **factors), opinions(changed, **second)])


def two_raters(rows, **factors):
    changed = [(item, no, yes, rest) for item, yes, no, rest in rows[:3]] + rows[3:]
    return pd.concat(
        [opinions(rows, model="a", **factors), opinions(changed, model="b", **factors)]
    )


def brands(rows, **factors):
    own = [(item, no, yes) for item, yes, no, _ in rows]
    pair = {"entity": "A", "entity_b": "B", "repetition": 1, **factors}
    turned = {**pair, "entity": "B", "entity_b": "A"}
    return pd.concat([counts_of(own, **pair), counts_of(own, **turned)])


def stated(rows, seed=1, **factors):
    templates = [factors.pop("template", "t1")]
    return statements(random_cells(5, templates, seed=seed), **factors)


LOADINGS = pd.DataFrame(
    [("s", f"i{number}", "economy", 1) for number in range(5)],
    columns=["study", "item", "domain", "loading"],
)


POSITIONS = pd.DataFrame(columns=list(frames.POSITIONS.columns))
ITEM_TABLE = pd.DataFrame(
    [("s", f"i{number}", number + 1, NAN, "", "") for number in range(5)],
    columns=list(frames.ITEMS.columns),
)


@pytest.mark.parametrize(
    ("analysis", "frame", "options"),
    [
        (bias, unlike(opinions, format="a_b"), {}),
        (opinions_analysis, unlike(opinions, format="a_b"), {"pairs": "single"}),
        (bias_shift, unlike(with_phases, format="a_b"), {"pairs": "single"}),
        (random_consistency, unlike(opinions, format="a_b"), {}),
        (random_consistency, unlike(opinions, template="t2"), {}),
        (instrument_rates, unlike(opinions, template="t2"), {}),
        (
            unexpected_outputs,
            unlike(
                lambda rows, **own: opinions(rows, refused=3 * ("context" in own), **own),
                context="c2",
            ),
            {"factor": "respondent"},
        ),
        (referential_consistency, unlike(in_two_formats, format="likert_4"), {"permutations": 0}),
        (word_association, unlike(opinions, label_order="inverted"), {"by": ("respondent",)}),
        (preference, unlike(brands, name="a_b"), {}),
        (
            template_pilot,
            unlike(
                lambda rows, **own: opinions(
                    rows, template="t1", refused=3 * ("language" in own), **own
                ),
                language="de",
            ),
            {},
        ),
        (form_agreement, unlike(stated, template="t2", seed=2), {}),
        (stance_reliability, unlike(stated, template="t2", seed=2), {}),
        (
            worldview,
            unlike(stated, template="t2", seed=2),
            {"loadings": LOADINGS, "positions": POSITIONS, "items": ITEM_TABLE},
        ),
    ],
    ids=lambda own: own.__name__ if callable(own) else "",
)
def test_groups_are_compared_over_what_both_were_asked_in_every_analysis(analysis, frame, options):
    chosen = {"by": ("respondent",), "seed": 1, **options}
    result = analysis(frame, **chosen)
    pairs = next(table.frame for table in result.tables if table.name == "comparisons")
    pairs = pairs[pairs["factor"] == "Respondent"]
    known = pairs[pairs["n"] > 0]
    assert len(known)
    assert known["difference"].tolist() == pytest.approx([0.0] * len(known), abs=1e-12)
    assert pairs["remark"].str.contains("left out: gpt with ").all()
    assert any("were not asked in the same ways" in note for note in result.notes)


def test_raters_are_compared_within_the_languages_that_they_set_apart():
    frame = unlike(two_raters, language="de")
    result = rater_agreement(frame, by=("respondent",), raters="model", seed=1)
    pairs = next(table.frame for table in result.tables if table.name == "comparisons")
    between = pairs[(pairs["factor"] == "Respondent") & (pairs["n"] > 0)]
    assert between["difference"].tolist() == pytest.approx([0.0] * len(between), abs=1e-12)
    assert len(between)
    assert "language" in result.tables[0].frame


def test_a_way_that_all_sides_share_in_part_is_kept_item_by_item():
    # sides 0, 1, 2; item 0 in ways a, b | a, b | a and item 1 in a | b | (not asked)
    rows = [
        (0, 0, "a"),
        (0, 0, "b"),
        (1, 0, "a"),
        (1, 0, "b"),
        (2, 0, "a"),
        (0, 1, "a"),
        (1, 1, "b"),
    ]
    frame = pd.DataFrame(
        [
            {"item": f"i{item}", "format": way, "status": "answered", "count": 1}
            for _, item, way in rows
        ]
    )
    side = np.array([side for side, _, _ in rows])
    alike = ways_of_asking(frame, ("language",)).alike(side, ["de", "en", "ja"])
    # Item 0 counts in a, in all three. Of item 1 the first side alone is left.
    assert alike.rows.tolist() == [True, False, True, False, True, True, False]
    assert alike.confounded == ()


def asked(side, item="q1", **levels):
    """A row that was asked in some way; people say nothing of template and order of options."""
    said = {"respondent": side, "model": side, "template": "t1", "label_order": "as_is"}
    return {"side": side, "item": item, "language": "en", "status": "ok", **said, **levels}


def alike(*rows, apart=("respondent",)):
    frame = pd.DataFrame(rows)
    names = ["people", "gpt", "llama"]
    return ways_of_asking(frame, apart).alike(frame["side"].map(names.index).to_numpy(), names)


def test_people_who_say_nothing_of_templates_are_compared_with_models_that_are_compared_alike():
    nothing = {"template": "", "label_order": ""}
    in_t2 = asked("gpt", template="t2")
    found = alike(asked("people", **nothing), asked("gpt"), in_t2, asked("llama"))
    assert found.rows.tolist() == [True, True, False, True]  # llama was not asked in t2
    assert "gpt with template t2" in found.left_out
    assert found.confounded == ()
    in_german = [asked("gpt", language="de"), asked("llama", language="de")]
    found = alike(asked("people", **nothing), asked("gpt"), asked("llama"), *in_german)
    assert found.rows.tolist() == [True, True, True, False, False]  # what people do say counts


def test_all_factors_in_which_sides_differ_as_well_stand_in_one_sentence():
    nothing = {"template": "", "label_order": "", "language": "de"}
    (words,) = alike(
        asked("people", **nothing), asked("gpt"), asked("gpt", template="t2")
    ).confounded
    assert "language (people: de; gpt: en)" in words
    assert not any(word in words for word in ("template", "respondent", "model"))
    other = asked("llama", template="t2", label_order="reversed")
    (words,) = alike(asked("gpt"), other, apart=()).confounded
    assert "template (gpt: t1; llama: t2)" in words
    assert "label order (gpt: as_is; llama: reversed)" in words
    assert "respondent (gpt: gpt; llama: llama)" in words
    assert "model" not in words  # follows from the respondent


def test_groups_that_were_asked_alike_have_no_remark_on_it():
    both = [opinions(SAME, respondent=name, format=way) for name in "ab" for way in ("x", "y")]
    result = bias(pd.concat(both, ignore_index=True), by=("respondent",))
    pairs = next(table.frame for table in result.tables if table.name == "comparisons")
    assert not pairs["remark"].str.contains("left out").any()
    assert not any("in the same ways" in note for note in result.notes)

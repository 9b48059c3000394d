from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core.analysis.kit.registry import all_analyses
from core.domain.frames import OPTION_COUNTS
from core.domain.instrument import Wording
from core.errors import NotEnoughData
from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, item_attributes
from tests.workflow import studies

STUDY = "study"
BY_FORM = {
    "factor": "form",
    "compare": "form",
    "resamples": 100,
    "repeats": "together",
    "norms": (("all items", 3.0, 0.5, 100.0),),
    "raters": "context",
}
OVER_ALL_GROUPS = ["p_adjusted", "p_permutation"]
"""Columns that are computed over the tests, or drawn over the items, of all groups by design."""
SLOW = ("cfa_check", "cfa_comparison", "invariance")  # they take groups as cfa does
OF_TEXTS = ("odds_ratios", "story_validity")
OF_OTHER_STUDIES = ("bias_shift", "preference", "referential_consistency")
"""They need phases, pairs of entities, or formats."""
OWN_TABLES = (
    "wide",
    "bands",
    "histogram",
    "comparisons",
    "correlation_differences",
    "agreement",
    "over_groups",
)
"""Tables without rows of one group: items as rows, rules, shared bins, groups compared."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A study of 20 items in two forms: ten from DE, nine from FR, and one from nowhere."""
    workspace = open_workspace(tmp_path_factory.mktemp("attributes") / "x.duckdb")
    state = editing.load(workspace, "attitudes_20")
    items = tuple(
        replace(
            item,
            wordings=(*item.wordings, Wording("en", f"Again: {item.code}", "paraphrase_1")),
            attributes={"country": ("DE", "FR")[place // 2 % 2], "year": 1990 + place},
        )
        for place, item in enumerate(state.instrument.items)
    )
    items = (*items[:19], replace(items[19], attributes={}))
    bank = replace(state.instrument, items=items)
    editing.save(workspace, bank, expected_revision=state.revision)
    studies.freeze(
        workspace, studies.simulated(), n_personas=40, forms=("original", "paraphrase_1")
    )
    control.start(workspace, STUDY)
    studies.finished(workspace)
    yield workspace
    workspace.close()


def grouped():
    """The analyses of answers that take groups."""
    return [
        analysis
        for analysis in all_analyses()
        if any(o.name == "by" for o in analysis.options)
        and analysis.name not in SLOW + OF_TEXTS + OF_OTHER_STUDIES
    ]


def result(workspace, analysis, by, where):
    names = {option.name for option in analysis.options}
    options = {name: value for name, value in BY_FORM.items() if name in names}
    if analysis.needs is OPTION_COUNTS and "resamples" in names:
        options["resamples"] = 0  # items of all groups are redrawn together
    return analyses.run(workspace, analysis.name, [STUDY], {**options, "by": by}, where)


@pytest.mark.parametrize("analysis", grouped(), ids=lambda analysis: analysis.name)
def test_a_group_of_items_has_the_numbers_of_a_filter_by_the_same_items(asked, analysis):
    groups = result(asked, analysis, ("item.country",), {})
    for country in ("DE", "FR"):
        alone = result(asked, analysis, (), {"item.country": [country]})
        compared = 0
        of_groups = {table.name: table for table in groups.tables}
        for own in alone.tables:
            if own.name in OWN_TABLES:
                continue
            table = of_groups[own.name]
            rows = table.frame[table.frame["item.country"] == country]
            kept = [name for name in own.frame if name not in OVER_ALL_GROUPS]
            pd.testing.assert_frame_equal(
                rows[kept].reset_index(drop=True),
                own.frame[kept].reset_index(drop=True),
                check_dtype=False,
                check_categorical=False,
                rtol=1e-6,
                atol=1e-9,
            )
            compared += len(own.frame)
        assert compared


def test_items_without_a_value_are_a_group_of_their_own_and_a_note_counts_them(asked):
    found = analyses.run(asked, "item_statistics", [STUDY], {"by": ("item.country",)}, {})
    items = found.tables[0].frame.groupby("item.country", sort=False)["item"].nunique()
    assert items.to_dict() == {"DE": 10, "FR": 9, "": 1}
    assert "1 item has no value of item.country: they are the group (none)." in found.notes
    assert found.tables[0].columns[0].title == "Item: country"


def test_groups_and_filters_take_fields_and_numbers_and_several_at_once(asked):
    by = ("item.subscale", "item.country")
    found = analyses.run(
        asked, "item_statistics", [STUDY], {"by": by}, {"item.year": ["1990..1993"]}
    )
    items = found.tables[0].frame[["item.subscale", "item.country", "item"]].to_numpy().tolist()
    assert items == [
        ["nature", "DE", "nature_01"],
        ["nature", "FR", "nature_02"],
        ["technology", "DE", "technology_01"],
        ["technology", "FR", "technology_02"],
    ]


def test_rows_averaged_over_a_factor_are_split_by_items_afterwards(asked):
    groups = analyses.run(
        asked, "internal_consistency", [STUDY], {"by": ("item.country",)}, {}, ("form",)
    )
    alone = analyses.run(
        asked, "internal_consistency", [STUDY], {"by": ()}, {"item.country": ["FR"]}, ("form",)
    )
    table = groups.tables[0].frame
    french = table[table["item.country"] == "FR"]
    for column in ("alpha", "n_administrations"):
        assert french[column].tolist() == pytest.approx(alone.tables[0].frame[column].tolist())


@pytest.mark.parametrize(("by", "where"), [(("item.colour",), {}), ((), {"item.colour": ["red"]})])
def test_an_unknown_attribute_is_refused_with_those_of_the_banks(asked, by, where):
    with pytest.raises(NotEnoughData) as refused:
        analyses.run(asked, "internal_consistency", [STUDY], {"by": by}, where)
    assert refused.value.problem == "The items of study have no attribute 'item.colour'."
    assert refused.value.remedy == "Use: item.subscale, item.keyed, item.country, item.year."


def test_filters_by_attributes_become_the_items_that_pass_them(asked):
    filters = {"item.year": ["1990", "1992.."], "item.country": ["DE"], "language": ["en"]}
    found = item_attributes.as_item_filter(asked, STUDY, {**filters, "item": ["nature_01", "x"]})
    assert found == {"item": ["nature_01"], "language": ["en"]}
    every = item_attributes.as_item_filter(asked, STUDY, filters)
    assert len(every["item"]) == 9  # of the ten from DE, all but the one of 1991
    assert item_attributes.as_item_filter(asked, STUDY, {"form": ["original"]}) == {
        "form": ["original"]
    }


def test_an_attribute_can_be_a_facet_of_the_answers(asked):
    own = analyses.run(asked, "generalizability", [STUDY], {"facets": ("item.country",)}, {})
    assert "Item (within country)" in own.tables[0].frame["source"].tolist()
    with pytest.raises(NotEnoughData, match="have no attribute"):
        analyses.run(asked, "generalizability", [STUDY], {"facets": ("item.planet",)}, {})

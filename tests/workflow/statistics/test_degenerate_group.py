"""One study, sound groups beside degenerate ones, through the whole pipeline to the charts."""

from __future__ import annotations

import json
import re

import pytest

from core.charts import with_item_texts
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from tests.workflow import degenerate_study
from tests.workflow.degenerate_study import CONSTANT, ONE_ROW, SOUND, STUDY

FROM_SCORES = (
    "item_statistics",
    "internal_consistency",
    "reliability",
    "item_map",
    "score_distribution",
    "efa",
    "graded_response",
    "cfa",
    "dif",
    "multitrait_matrix",
    "validation_report",
)
DRAWN_BY_GROUP = (
    "item_statistics",
    "internal_consistency",
    "reliability",
    "efa",
    "graded_response",
    "cfa",
    "score_distribution",
)
COMMON = 1.4  # times: how much further an axis that groups share may reach than the group needs


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    found = open_workspace(tmp_path_factory.mktemp("degenerate") / "inkblot.duckdb")
    degenerate_study.bring_in(found)
    yield found
    found.close()


@pytest.fixture(scope="module")
def result_of(workspace):
    """Results by analysis and group; every group where none is named."""
    known = {}

    def get(name, group=""):
        if (name, group) not in known:
            names = [option.name for option in analyses.by_name(name).options]
            options = {"by": ("respondent",)} if "by" in names else {}
            options |= {"resamples": 100} if "resamples" in names else {}
            where = {"respondent": [group]} if group else {}
            known[name, group] = analyses.run(workspace, name, (STUDY,), options, where, ())
        return known[name, group]

    return get


def charts(name, result):
    drawn = analyses.by_name(name).charts(result, "light")
    return [with_item_texts(chart, result.item_texts) for chart in drawn]


def ends(panel):
    """The ends of the axes of a panel, across and up."""
    text = json.dumps(panel.to_dict())
    found = re.findall(r'"domain": \[(-?[\d.e-]+), (-?[\d.e-]+)\]', text)
    return sorted({(float(low), float(high)) for low, high in found})


def panel_of(chart, group):
    """The panel of a group, or the one picture of several groups."""
    if len(chart.panels) == 1:
        return chart.panels[0]
    titled = [p for p in chart.panels if group in p.to_dict(validate=False)["title"]["text"]]
    return titled[0] if titled else None


@pytest.mark.parametrize("name", FROM_SCORES)
def test_degenerate_groups_are_named_and_sound_ones_are_drawn(result_of, name):
    result = result_of(name)
    for group in (CONSTANT, ONE_ROW):
        assert any(group in note for note in result.all_notes)
    drawn = charts(name, result)
    assert drawn
    for chart in drawn:
        assert "nan" not in chart.alt.lower()
        for panel in chart.panels:
            panel.to_dict()  # validates against the Vega-Lite schema
    text = json.dumps([panel.to_dict() for chart in drawn for panel in chart.panels])
    assert all(group in text for group in SOUND)


@pytest.mark.parametrize("group", SOUND)
@pytest.mark.parametrize("name", DRAWN_BY_GROUP)
def test_a_degenerate_group_does_not_stretch_the_axis_of_a_sound_one(result_of, name, group):
    together, alone = charts(name, result_of(name)), charts(name, result_of(name, group))
    compared = 0
    for chart in alone:
        other = next(
            (c for c in together if c.title in (chart.title, f"{chart.title} · {group}")), None
        )
        panel = other and panel_of(other, group)
        if panel is None:
            continue
        for (low, high), (own_low, own_high) in zip(
            ends(panel), ends(chart.panels[0]), strict=True
        ):
            assert high - low <= COMMON * (own_high - own_low), (chart.title, low, high)
            compared += 1
    assert compared


def test_a_group_without_any_defined_value_has_no_empty_panel_but_a_sentence(result_of):
    for name in ("item_statistics", "internal_consistency", "reliability"):
        for chart in charts(name, result_of(name)):
            assert f"Not drawn, because no value is defined: {CONSTANT}, {ONE_ROW}." in chart.alt
            assert CONSTANT in set(chart.table["group"])  # its rows stay in the table
            drawn = json.dumps([p.to_dict()["datasets"] for p in chart.panels])
            assert CONSTANT not in drawn


def test_information_of_each_group_fills_a_picture_of_its_own(result_of):
    information = [
        c
        for c in charts("graded_response", result_of("graded_response"))
        if c.title.startswith("Test information")
    ]
    for chart in information:
        for group, own in chart.table.groupby("group", sort=False):
            top = max(high for low, high in ends(panel_of(chart, group)) if low == 0)
            assert top <= max(own["information"].max(), 2.0) * 1.06

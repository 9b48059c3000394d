"""Facts about people on the page Import and export: two tabs, and values that cannot be."""

from __future__ import annotations

import json
from functools import partial

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.workflow import people
from core.workflow.answers import imports
from tests.pages import apps

ROWS = b"""person,item,answer,person.age,person.age_group
p1,q1,1,31,young
p2,q1,2,54,old
"""


@pytest.fixture
def page(workspace):
    imports.import_tidy(workspace, "people.csv", ROWS)
    return partial(apps.open_page, "import_export", study="people")


def edit(at, edits):
    """What the browser sends after edits of the values: all of them since the grid was drawn."""
    (grid,) = [d for d in at.dataframe if d.proto.editing_mode and "Person" in d.value.columns]
    states = at._tree.get_widget_states()
    state = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    states.widgets.append(WidgetState(id=grid.proto.id, string_value=json.dumps(state)))
    return at._run(states)


def values(workspace):
    return people.table(workspace, "people")[["age", "age_group"]].to_numpy().tolist()


def test_a_tab_writes_what_was_changed_in_it_and_nothing_older(workspace, page):
    one, two = page(), page()
    one = edit(one, {"0": {"age": "32"}})
    assert values(workspace) == [["32", "young"], ["54", "old"]]
    two = edit(two, {"1": {"age": "55"}})
    assert values(workspace) == [["32", "young"], ["55", "old"]]
    one.run()
    assert values(workspace) == [["32", "young"], ["55", "old"]]
    two.run()
    edit(two, {"1": {"age": "55", "age_group": "older"}})
    assert values(workspace) == [["32", "young"], ["55", "older"]]


def test_a_value_that_cannot_be_is_told_and_nothing_is_changed(workspace, page):
    at = edit(page(), {"0": {"age": "old"}})
    assert "'old' of age is no number." in at.error[0].value.replace("\\", "")
    assert values(workspace) == [["31", "young"], ["54", "old"]]

"""The columns of a table are its own: none has the name of a factor that makes groups beside it."""

from __future__ import annotations

import pytest

from core.domain.factors import GROUPINGS
from core.domain.frames import ITEM_SCORES
from core.errors import UserError
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores

SCORES = [[1, 2, 2, 1], [2, 1, 3, 3], [3, 4, 3, 4], [4, 3, 5, 4], [5, 5, 4, 5], [2, 3, 2, 2]] * 5
OF_SCORES = [
    analysis.name
    for analysis in analyses.all_analyses()
    if analysis.needs is ITEM_SCORES and "by" in {option.name for option in analysis.options}
]


@pytest.mark.parametrize("name", OF_SCORES)
def test_a_factor_can_make_groups_though_a_column_is_named_after_it(name):
    run, frame = analyses.by_name(name).run, item_scores(SCORES)
    try:
        tables = run(frame, by=()).tables
    except UserError:
        pytest.skip("these scores are not enough for it")
    named = {column.name for table in tables for column in table.columns} & {*GROUPINGS, "study"}
    for factor in named - {"item", "context_set", "rewriting"}:
        # a table that declares a column twice is refused, whatever is done with the factor
        assert run(frame, by=(factor,)).tables

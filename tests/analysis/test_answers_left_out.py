"""Answers that the user leaves out are in every table what trials not asked are."""

from __future__ import annotations

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from core.analysis.kit.registry import all_analyses
from core.domain.frames import BANK_TABLES, OPTION_COUNTS
from core.errors import UserError
from tests.analysis.opinion_frames import opinions

ITEMS = [("q1", 4, 1, 0, "q2"), ("q2", 1, 4, 1, "q1"), ("q3", 3, 2, 0), ("q4", 2, 2, 2)]
OTHERS = {
    "language": [{"language": "en"}, {"language": "de"}],
    "phase": [{"phase": "initial"}, {"phase": "opposing"}],
    "template": [{"template": "t1"}, {"template": "t2"}],
}
USUAL = {
    "language": "en",
    "phase": "initial",
    "template": "t1",
    "form": "original",
    "label_order": "as_is",
    "entity": "",
    "context": "",
    "repetition": 1,
}


def frame(factor, status):
    """Two levels of a factor; of each item two more trials have this status."""
    parts = [
        opinions(rows, refused=1, error=1, not_asked=2, **USUAL | own)
        for rows, own in zip((ITEMS, ITEMS[::-1]), OTHERS[factor], strict=True)
    ]
    both = pd.concat(parts, ignore_index=True)
    return both.assign(status=both["status"].replace("not_asked", status))


def tables(analysis, factor, status):
    """The tables of an analysis, or why there are none."""
    options = {option.name: option.default for option in analysis.options}
    options |= {"resamples": 20} if "resamples" in options else {}
    options |= {"by": (factor,)} if "by" in options else {}
    options |= {"factor": factor} if "factor" in options else {}
    options |= {"measure": "b", "compare": factor} if "measure" in options else {}
    banks = {name: BANK_TABLES[table.of].columns for name, table in analysis.bank_tables}
    options |= {name: pd.DataFrame(columns=list(columns)) for name, columns in banks.items()}
    try:
        result = analysis.run(frame(factor, status), **options)
    except UserError as error:
        return str(error)
    counts = (result.n_used, result.n_missing, result.n_left_out)
    assert not any(status == "left_out" and "not been asked" in one for one in result.all_notes)
    return counts, [table.frame.astype(str) for table in result.tables]


@pytest.mark.parametrize("factor", list(OTHERS))
def test_what_is_left_out_counts_like_what_was_not_asked(factor):
    worked = 0
    for analysis in (one for one in all_analyses() if one.needs is OPTION_COUNTS):
        asked, left_out = (tables(analysis, factor, s) for s in ("not_asked", "left_out"))
        assert type(asked) is type(left_out), analysis.name
        if isinstance(asked, str):
            assert asked == left_out
            continue
        worked += 1
        assert asked[0] == left_out[0], analysis.name
        for before, after in zip(asked[1], left_out[1], strict=True):
            words = {
                "left_out": "not_asked",
                "not asked, failed or left out": "not asked or failed",
            }
            assert_frame_equal(before, after.replace(words), obj=analysis.name)
    assert worked >= 5

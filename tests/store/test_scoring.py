"""Which answers are left out, by the SQL that analyses read them with."""

from __future__ import annotations

import duckdb
import pytest

from core.store.scoring import RESPONSE, without_sql

ROWS = [
    # option, score, certainty, hedged
    ("3", None, None, None),  # nobody knows how it was read
    (None, 4.0, "guess", None),  # an imported score without an option
    ("3", None, "certain", True),
    (None, None, "guess", True),  # refused: no answer, so nothing to leave out
]


@pytest.mark.parametrize(
    ("kinds", "left_out"),
    [
        ((), []),
        (("guess",), [1]),
        (("hedged",), [2]),
        (("judged",), []),
        (("guess", "hedged"), [1, 2]),
    ],
)
def test_answers_of_the_kinds_named_are_left_out_and_no_others(kinds, left_out):
    with duckdb.connect() as connection:
        types = {"int64": "bigint", "string": "varchar", "float64": "double"}
        columns = [
            f"{name} {types.get(str(kind), kind)}" for name, kind in RESPONSE.schema().items()
        ]
        connection.execute(f"create table response ({', '.join(columns)})")
        for place, (option, score, certainty, hedged) in enumerate(ROWS):
            connection.execute(
                "insert into response values (?, 1, 'read', ?, ?, null, ?, ?)",
                [place, option, score, certainty, hedged],
            )
        read = connection.execute(f"{without_sql(kinds)} order by trial_id").fetchall()
    assert [row[0] for row in read if row[2] == "left_out"] == left_out
    assert all(row[3] is row[4] is None for row in read if row[0] in left_out)

"""Importing answers: names, scores, banks and who answered."""

from __future__ import annotations

import pytest

from core.domain.study import Design
from core.errors import DesignError, FileError
from core.workflow import answers, studies

ODD_NAMES = ["a\nb", "a\u202eb", "a\x07b", "a\tb", "a\u2066b", "a\u2028b"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_one_rule_for_names_in_designs_imports_and_their_files(workspace, name):
    (said,) = [t for t in studies.check(workspace, Design(name, "attitudes_20", ())) if "name" in t]
    assert "character that cannot be seen" in said
    plain = b"item,answer\nq1,1\n"
    with pytest.raises(FileError, match="character that cannot be seen"):
        answers.import_tidy(workspace, "x.csv", plain, study=name)
    for column in ("study", "instrument"):
        text = f'item,answer,{column}\nq1,1,fine\nq2,1,"{name}"\n'
        with pytest.raises(FileError, match=rf"answer 2, column {column}.*cannot be seen"):
            answers.import_tidy(workspace, "x.csv", text.encode())
    assert studies.listed(workspace) == ()


def test_the_store_itself_takes_no_study_of_such_a_name(workspace):
    from core.store import studies as store

    with pytest.raises(DesignError, match="cannot be seen"):
        store.refuse_name(workspace.database, "a\nb")
    with pytest.raises(DesignError, match="is empty"):
        store.refuse_name(workspace.database, " ")

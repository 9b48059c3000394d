"""A table with a row for each person is made and downloaded on the page, in three formats."""

from __future__ import annotations

import re

import pandas as pd
import pyreadstat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_row_for_each_person_comes_as_csv_excel_and_spss(app, page, tmp_path):
    app.command("sample", "simulated")
    app.start()
    go(page, app, "import_export?study=sample_simulated")
    tables = {}
    for words, ending in (("CSV", "csv"), ("Excel", "xlsx"), ("SPSS", "sav")):
        page.get_by_role("button", name=f"Prepare the file ({words}, scores)").click()
        ready = page.get_by_role("button", name=re.compile(f"Download {words}, scores"))
        expect(ready).to_be_visible()
        settled(page)
        with page.expect_download() as started:
            ready.click()
        file = tmp_path / started.value.suggested_filename
        started.value.save_as(file)
        assert file.suffix == f".{ending}"
        read = {"csv": pd.read_csv, "xlsx": pd.read_excel}.get(ending)
        tables[ending] = read(file) if read else pyreadstat.read_sav(file)[0]
    items = [name for name in tables["csv"].columns if re.search(r"_\d+$", name)]
    assert len(items) == 20
    for table in tables.values():
        assert len(table) == 25
        pd.testing.assert_frame_equal(
            table[items].astype(float), tables["csv"][items].astype(float), check_names=False
        )

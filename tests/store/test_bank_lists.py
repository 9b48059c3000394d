"""Lists of banks: what they say is what the banks hold, without reading the banks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.store import banks
from core.workflow.banks import editing
from core.workflow.designs import studies
from tests.workflow.studies import freeze, simulated


def test_a_line_says_what_its_bank_holds(workspace):
    freeze(workspace, simulated())
    drafted = editing.load(workspace, "attitudes_20")
    items = drafted.instrument.items
    first = replace(items[0].wordings[0], drafted_by="a model")
    changed = replace(items[0], wordings=(first, *items[0].wordings[1:]))
    editing.save(
        workspace,
        replace(drafted.instrument, items=(changed, *items[1:])),
        expected_revision=drafted.revision,
    )
    editing.create(workspace, "Empty", response_format="likert_5")
    editing.set_archived(workspace, "empty", archived=True)
    database = workspace.database
    lines = {line.code: line for line in banks.lines(database)}
    assert [*lines] == banks.codes(database) == sorted(lines)
    for state in banks.drafts(database):
        bank, line = state.instrument, lines[state.instrument.code]
        texts = [wording for item in bank.items for wording in item.wordings]
        assert (line.title, line.kind, line.n_items, line.languages, line.saved_at) == (
            bank.title,
            bank.kind,
            len(bank.items),
            bank.languages,
            state.saved_at,
        )
        assert line.n_unreviewed == sum(bool(text.drafted_by) for text in texts)
        assert line.can_be_asked == bool(bank.formats and any(t.text.strip() for t in texts))
        assert (line.archived, line.n_versions) == (
            state.archived,
            len(banks.versions(database, bank.code)),
        )
    asked = lines["attitudes_20"]
    assert (asked.used_in, asked.n_versions, asked.n_unreviewed) == ("study", 1, 1)
    assert len(studies.list_studies(workspace)) == 1


def test_a_list_reads_no_bank(workspace, monkeypatch):
    def read(_body):
        pytest.fail("a bank was read for a list")

    monkeypatch.setattr(banks, "_bank_of_json", read)
    listed = editing.summaries(workspace)
    assert len(listed) == len(banks.codes(workspace.database))
    assert all(one.title and one.n_items for one in listed)


def test_a_new_revision_and_an_undone_one_are_listed_as_they_are(workspace):
    state = editing.load(workspace, "attitudes_20")
    renamed = replace(state.instrument, title="Renamed")
    editing.save(workspace, renamed, expected_revision=state.revision)

    def title():
        return next(o.title for o in editing.summaries(workspace) if o.code == "attitudes_20")

    assert title() == "Renamed"
    editing.undo(workspace, "attitudes_20")
    assert title() == state.instrument.title

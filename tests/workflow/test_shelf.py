"""Names and places of studies in lists: nothing of a study changes, and everything comes back."""

from __future__ import annotations

import pytest

from core import progress
from core.__main__ import main
from core.collect.endpoints import KeyRing
from core.errors import CollectionError, DesignError, FileError, UserError
from core.files import parts
from core.store import studies as store
from core.workflow import shelf, study_log, tour
from core.workflow.answers import imports
from core.workflow.designs import forms, studies
from core.workflow.members import Member, Role
from core.workflow.runs import control
from tests.workflow.studies import finished, freeze, service, simulated


def codes(workspace):
    return [record.code for record in studies.list_studies(workspace)]


@pytest.fixture
def two(workspace):
    """A workspace with a study that has answers, and a second one that is not started."""
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    freeze(workspace, simulated(), study="second", n_personas=1)
    return workspace


def test_another_name_changes_what_lists_show_and_nothing_of_the_study(two):
    before = studies.load(two, "study")
    renamed = shelf.rename(two, "study", "  Honesty, first try ")
    assert (renamed.name, renamed.code) == ("Honesty, first try", "study")
    assert (renamed.plan_hash, renamed.n_responses) == (before.plan_hash, before.n_responses)
    assert [record.name for record in studies.list_studies(two)] == ["Honesty, first try", "second"]
    shelf.move(two, "study", "archived")
    assert studies.load(two, "study").name == "Honesty, first try"
    assert shelf.rename(two, "study", "").name == "study"
    assert shelf.rename(two, "study", "study").title == ""


@pytest.mark.parametrize("title", ["second", "x" * 81, "a\nb"])
def test_a_name_that_another_study_has_or_nobody_can_read_is_refused(two, title):
    with pytest.raises(DesignError):
        shelf.rename(two, "study", title)
    assert studies.load(two, "study").name == "study"


def test_a_new_study_cannot_take_the_new_name_of_another(two):
    shelf.rename(two, "study", "Honesty")
    with pytest.raises(DesignError, match="called 'Honesty' already"):
        freeze(two, simulated(), study="Honesty", n_personas=1)
    assert forms.free_name(two, "Honesty") == "Honesty_2"


@pytest.mark.parametrize("place", ["archived", "deleted"])
def test_a_study_that_is_put_away_is_in_no_list_and_comes_back_with_all_its_answers(two, place):
    n = studies.load(two, "study").n_responses
    shelf.move(two, "study", place)
    assert codes(two) == ["second"]
    assert [(one.code, one.place) for one in shelf.put_away(two)] == [("study", place)]
    assert forms.free_name(two, "study") == "study_2"
    with pytest.raises(DesignError, match="called 'study' already"):
        freeze(two, simulated(), n_personas=1)
    shelf.move(two, "study", "listed")
    shelf.move(two, "study", "listed")
    assert codes(two) == ["study", "second"]
    assert shelf.put_away(two) == ()
    assert studies.load(two, "study").n_responses == n == 20
    told = [entry.what for entry in study_log.entries(two, "study")]
    assert told[:2] == ["Brought back to the lists", place.capitalize()]


def test_a_study_that_is_being_asked_is_not_put_away(workspace, server):
    server.latency_s = 0.2
    freeze(workspace, service(server.base_url, at_once=1), n_personas=2)
    control.start(workspace, "study")
    with pytest.raises(DesignError, match="Pause it"):
        shelf.move(workspace, "study", "deleted")
    control.stop(workspace, "study")
    finished(workspace)
    shelf.move(workspace, "study", "deleted")
    assert codes(workspace) == []


def test_answers_do_not_go_into_a_study_that_was_deleted(workspace, tmp_path):
    file = b"item,answer,study\nq1,yes,people\nq2,no,people\n"
    imports.import_tidy(workspace, "a.csv", file)
    shelf.move(workspace, "people", "deleted")
    with pytest.raises(FileError, match="was deleted"):
        imports.import_tidy(workspace, "b.csv", file, add=True)
    assert studies.load(workspace, "people").n_responses == 2


def test_a_deleted_sample_study_comes_back_with_the_others(workspace, monkeypatch):
    (first, *_) = tour.STUDIES
    monkeypatch.setattr(tour, "STUDIES", (first,))
    tour.load(workspace)
    shelf.move(workspace, first.code, "deleted")
    tour.load(workspace)
    assert codes(workspace) == [first.code]


def test_the_command_line_renames_deletes_and_brings_back(two, capsys):
    path = two.database.path
    two.close()
    database = ["--db", str(path)]
    assert main([*database, "shelve", "study", "--name", "Honesty", "--place", "deleted"]) == 0
    assert capsys.readouterr().out == "study\tHonesty\tdeleted\n"
    assert main([*database, "list"]) == 0
    assert capsys.readouterr().out.startswith("second\t")
    assert main([*database, "list", "put-away"]) == 0
    assert capsys.readouterr().out == "study\tHonesty\tdeleted\n"
    assert main([*database, "shelve", "study", "--place", "listed"]) == 0
    assert main([*database, "shelve", "nothing", "--place", "listed"]) == 2
    assert "There is no study 'nothing'" in capsys.readouterr().err


def test_who_may_only_read_renames_and_deletes_nothing(two):
    reader = two.for_member(Member("Rita", Role.READER), KeyRing())
    for change in (
        lambda: shelf.rename(reader, "study", "X"),
        lambda: shelf.move(reader, "study", "deleted"),
    ):
        with pytest.raises(UserError):
            change()
    assert store.get(two.database, "study").name == "study"
    assert codes(two) == ["study", "second"]


def test_a_study_of_the_user_is_not_brought_back_with_the_sample_studies(two, monkeypatch):
    monkeypatch.setattr(tour, "STUDIES", ())
    shelf.move(two, "study", "deleted")
    tour.load(two)
    assert codes(two) == ["second"]


def test_a_deleted_study_asks_nothing(two):
    shelf.move(two, "second", "deleted")
    with pytest.raises(CollectionError, match="was deleted"):
        control.start(two, "second")
    assert studies.load(two, "second").n_responses == 0


def test_an_import_that_is_not_finished_stays_until_it_is_undone(workspace, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 100)

    def stops(done, total, unit):
        if (unit, done) == ("rows saved", 10):
            raise progress.Cancelled

    rows = [f"q{item},p{person},1" for person in range(9) for item in range(4)]
    data = "\n".join(["item,context,answer", *rows]).encode()
    with pytest.raises(progress.Cancelled), progress.watch(stops):
        imports.import_tidy(workspace, "big.csv", data)
    with pytest.raises(DesignError, match="not finished"):
        shelf.move(workspace, "big", "deleted")
    shelf.rename(workspace, "big", "Old name")
    imports.undo(workspace, "big")
    imports.import_tidy(workspace, "big.csv", data)
    assert [record.name for record in studies.list_studies(workspace)] == ["big"]


def test_an_import_cannot_take_the_new_name_of_another_study(two):
    shelf.rename(two, "study", "Honesty")
    with pytest.raises(FileError, match="called 'Honesty' already"):
        imports.import_tidy(two, "a.csv", b"item,answer\nq1,yes\n", study="Honesty")


def test_the_last_change_counts_whatever_the_clock_says(two):
    shelf.rename(two, "study", "Early")
    two.database.write("update study_shelf set changed_at = now() + interval 1 day")
    shelf.rename(two, "study", "Late")
    assert studies.load(two, "study").name == "Late"

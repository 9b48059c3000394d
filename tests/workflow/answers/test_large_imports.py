"""Files of several parts: checked as a whole, saved part by part, continued, undone, added to."""

from __future__ import annotations

import gzip
import io
import threading

import pandas as pd
import pytest

from core import progress
from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
from core.errors import BankError, DesignError, FileError
from core.files import mapped_answers, parts
from core.store import banks as bank_store
from core.store import imports as import_store
from core.store import studies as study_store
from core.workflow.answers import bank_attachment, exports, imports
from core.workflow.designs import studies
from core.workflow.statistics import analyses

N_PEOPLE = 12
COUNTED = ("trial", "response", "attempt_text", "administration")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of ten rows; whatever is more is a large file."""
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(mapped_answers, "PART_ROWS", 10)
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 100)


def rows(n_people=N_PEOPLE, first=0, **changes):
    """Answers of people to four items, one with a comma and a quotation mark in its reply."""
    frame = pd.DataFrame(
        [
            {
                "item": f"q{item}",
                "context": f"p{person:02d}",
                "model": "m",
                "language": "en",
                "format": "likert_5",
                "answer": str(1 + (person * 3 + item) % 5),
                "raw": f"Number {person}" if item else "",
                "seat": f"row {person % 3}",
            }
            for person in range(first, first + n_people)
            for item in range(4)
        ]
    )
    return frame.assign(**changes)


def csv(frame):
    return frame.to_csv(index=False).encode()


def parquet(frame):
    written = io.BytesIO()
    frame.to_parquet(written)
    return written.getvalue()


def exported(workspace, study="s"):
    return exports.export_tidy(workspace, study)


def counts(workspace):
    return [workspace.database.row(f"select count(*) from {name}")[0] for name in COUNTED]  # noqa: S608


class Stop:
    """A watcher that stops an import after some saved parts."""

    def __init__(self, parts_saved):
        self.left = parts_saved

    def __call__(self, done, total, unit):
        if unit == "rows saved":
            if not self.left:
                raise progress.Cancelled
            self.left -= 1


def stopped(workspace, data, after, **options):
    with pytest.raises(progress.Cancelled), progress.watch(Stop(after)):
        imports.import_tidy(workspace, "s.csv", data, **options)


@pytest.mark.parametrize("kind", ["csv", "quoted", "csv.gz", "utf-16", "parquet", "path"])
def test_a_file_in_parts_makes_the_study_that_it_makes_as_a_whole(
    workspace, monkeypatch, tmp_path, kind
):
    frame = rows(raw=rows()["raw"] + ('", he said' if kind == "quoted" else ""))
    name, source = "s.csv", csv(frame)
    if kind == "csv.gz":
        name, source = "s.csv.gz", gzip.compress(source)
    elif kind == "utf-16":
        source = source.decode().encode("utf-16")
    elif kind == "parquet":
        name, source = "s.parquet", parquet(frame)
    elif kind == "path":
        (tmp_path / name).write_bytes(source)
        source = tmp_path / name
    preview = imports.preview_tidy(workspace, name, source)
    assert (preview.n_rows, preview.tags) == (48, ("seat",))
    one = preview.studies[0]
    assert (one.n_rows, one.n_items, one.n_contexts, one.n_respondents) == (48, 4, 12, 1)
    (done,) = imports.import_tidy(workspace, name, source)
    assert (done.n_rows, done.n_new) == (48, 48)
    in_parts = exported(workspace)
    assert counts(workspace) == [48, 48, 36 + 12 * (kind == "quoted"), 12]
    assert imports.unfinished_imports(workspace) == ()
    monkeypatch.undo()
    imports.import_tidy(workspace, "s.csv", csv(frame), study="whole")
    assert exported(workspace, "whole").replace(b"whole", b"s") == in_parts
    hashes = workspace.database.rows("select plan_hash from study")
    assert hashes[0][0] != hashes[1][0]  # of the study's name


def test_a_faulty_row_in_a_later_part_keeps_nothing(workspace):
    repeated = pd.concat([rows(), rows(1)])
    with pytest.raises(FileError, match=r"line 50, column item: 'q0' .* in line 2 already"):
        imports.import_tidy(workspace, "s.csv", csv(repeated))
    wrong = csv(rows()) + b"q9,p99,m,en,likert_5,3\n"
    with pytest.raises(FileError, match="line 50: there are 6 cells"):
        imports.import_tidy(workspace, "s.csv", wrong)
    with pytest.raises(FileError, match=r"line 51: byte .* is not UTF-8"):
        imports.import_tidy(workspace, "s.csv", csv(rows()) + b"\nq9,\xff,m,en,likert_5,3,,\n")
    text = csv(rows()).splitlines(keepends=True)
    with pytest.raises(FileError, match="line 31: there is a NUL byte"):
        imports.import_tidy(workspace, "s.csv", b"".join([*text[:30], b"q\0,,,,,,,\n"]))
    half = gzip.compress(csv(rows()))
    with pytest.raises(FileError, match="damaged or incomplete"):
        imports.import_tidy(workspace, "s.csv.gz", half[: len(half) // 2])
    with pytest.raises(FileError, match="larger than 200 times its size"):
        imports.import_tidy(workspace, "s.csv.gz", gzip.compress(b"item,answer\n" + b"\n" * 2**24))
    assert studies.list_studies(workspace) == ()
    assert counts(workspace) == [0, 0, 0, 0]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_import_says_what_is_saved_and_the_same_file_continues_it(workspace, after):
    data = csv(rows())
    stopped(workspace, data, after)
    (left,) = imports.unfinished_imports(workspace)
    n_saved = counts(workspace)[0]
    assert (left.study, left.kind, left.n_rows, left.n_saved) == ("s", "cancelled", 48, n_saved)
    assert 10 * after <= n_saved < 48
    with pytest.raises(FileError, match=rf"not finished: {n_saved} of 48 rows are saved"):
        imports.import_tidy(workspace, "s.csv", csv(rows(2, first=50)), add=True)
    assert imports.preview_tidy(workspace, "s.csv", data).studies[0].n_before == n_saved
    caution = f"into the study 's' is not finished: {n_saved} of 48 rows are saved."
    if n_saved:
        cautions = analyses.run(workspace, "option_distribution", ["s"], {}, {}).cautions
        assert any(caution in one for one in cautions)
    (done,) = imports.import_tidy(workspace, "s.csv", data)
    assert (done.n_rows, done.n_new, done.n_total) == (48, 48 - n_saved, 48)
    assert imports.unfinished_imports(workspace) == ()
    cautions = analyses.run(workspace, "option_distribution", ["s"], {}, {}).cautions
    assert not any("not finished" in one for one in cautions)
    assert counts(workspace) == [48, 48, 36, 12]
    imports.import_tidy(workspace, "whole.csv", data)
    assert exported(workspace, "whole").replace(b"whole", b"s") == exported(workspace)


def test_a_cancelled_import_is_undone_as_if_it_had_never_begun(workspace):
    stopped(workspace, csv(rows()), 2)
    assert imports.undo(workspace, "s") == 20
    assert studies.list_studies(workspace) == ()
    assert counts(workspace) == [0, 0, 0, 0]
    with pytest.raises(FileError, match="no unfinished import"):
        imports.undo(workspace, "s")
    imports.import_tidy(workspace, "s.csv", csv(rows(2)))
    before = exported(workspace)
    stopped(workspace, csv(rows(9, first=2)), 2, study="s", add=True)
    assert len(exported(workspace)) > len(before)
    assert imports.undo(workspace, "s") == 20
    assert exported(workspace) == before


def test_an_import_that_is_cancelled_again_and_again_is_undone_as_a_whole(workspace):
    imports.import_tidy(workspace, "s.csv", csv(rows(2)))
    before = exported(workspace)
    data = csv(rows(10, first=2))
    for after, n_saved in ((2, 20), (0, 20), (1, 20), (3, 30)):
        stopped(workspace, data, after, study="s", add=True)
        (left,) = imports.unfinished_imports(workspace)
        assert (left.n_saved, left.n_new, left.n_before) == (n_saved, n_saved, 8)
        assert counts(workspace)[0] == 8 + n_saved
    assert imports.undo(workspace, "s") == 30
    assert exported(workspace) == before


def test_a_continued_import_begins_to_count_at_the_rows_that_are_saved(workspace):
    stopped(workspace, csv(rows()), 3)
    seen = []
    with progress.watch(lambda done, _total, unit: seen.append((done, unit))):
        imports.import_tidy(workspace, "s.csv", csv(rows()))
    assert [done for done, unit in seen if unit == "rows saved"] == [30, 30, 30, 30, 40]


def test_an_import_that_ends_after_its_last_part_is_finished_by_the_same_file(
    workspace, monkeypatch
):
    imports.import_tidy(workspace, "s.csv", csv(rows(3)))
    more = csv(rows(4, first=3, model="other"))

    def stops(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(import_store, "change_imported_study", stops)
        with pytest.raises(KeyboardInterrupt):
            imports.import_tidy(workspace, "s.csv", more, add=True)
    assert [one.n_saved for one in imports.unfinished_imports(workspace)] == [16]
    (done,) = imports.import_tidy(workspace, "s.csv", more)
    assert (done.n_new, imports.unfinished_imports(workspace)) == (0, ())
    assert study_store.get(workspace.database, "s").design.respondents == ("m", "other")


def test_answers_of_an_audit_are_not_undone(workspace):
    stopped(workspace, csv(rows()), 2)
    study_id = study_store.get(workspace.database, "s").study_id
    (trial,) = workspace.database.row("select trial_id from trial")
    with workspace.database.transaction() as cursor:
        cursor.execute("insert into audit_sample values (1, ?, ?, 1)", [study_id, trial])
    with pytest.raises(DesignError, match="drawn for an audit"):
        imports.undo(workspace, "s")
    assert counts(workspace)[0] == 20


def test_more_answers_come_to_a_study_and_equal_ones_stay(workspace):
    imports.import_tidy(workspace, "s.csv", csv(rows(6)))
    with pytest.raises(FileError, match="already"):
        imports.import_tidy(workspace, "s.csv", csv(rows(6)))
    (same,) = imports.import_tidy(workspace, "s.csv", csv(rows(6)), add=True)
    assert (same.n_rows, same.n_new, same.n_total) == (24, 0, 24)
    more = pd.concat([rows(8, first=4), rows(1, model="other", language="de")])
    (done,) = imports.import_tidy(workspace, "more.csv", csv(more), study="s", add=True)
    assert (done.n_rows, done.n_new, done.n_total) == (36, 28, 24 + 28)
    design = study_store.get(workspace.database, "s").design
    assert (design.respondents, design.languages) == (("m", "other"), ("de", "en"))
    imports.import_tidy(
        workspace, "at_once.csv", csv(pd.concat([rows(12), rows(1, model="other", language="de")]))
    )
    assert exported(workspace, "at_once").replace(b"at_once", b"s") == exported(workspace)
    conflict = rows(8, first=10)
    conflict.loc[5, "answer"] = "1" if conflict.loc[5, "answer"] != "1" else "2"
    before = counts(workspace)
    with pytest.raises(FileError, match=r"Answer 6 of the file, item 'q1': the file has '.', and"):
        imports.import_tidy(workspace, "c.csv", csv(conflict), study="s", add=True)
    with pytest.raises(FileError, match="no item 'q7'"):
        imports.import_tidy(
            workspace, "c.csv", csv(rows(3).replace("q2", "q7")), study="s", add=True
        )
    assert counts(workspace) == before
    assert imports.unfinished_imports(workspace) == ()


def test_rows_that_become_equal_in_the_bank_are_refused(workspace):
    twice = csv(pd.concat([rows(2), rows(1, language="")]))
    with pytest.raises(FileError, match="some rows have no language, and others have 'en'"):
        imports.import_tidy(workspace, "s.csv", twice)
    few = parquet(pd.concat([rows(1), rows(1, form="original")]))
    with pytest.raises(FileError, match=r"Answer 5, item 'q0', is under the .* as answer 1"):
        imports.import_tidy(workspace, "s.parquet", few)
    assert studies.list_studies(workspace) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            ({"model": ""}, {"model": "unknown"}),
            "some rows have no model, and others have 'unknown'",
        ),
        (
            ({"format": "a"}, {"format": "b"}),
            "others 'b', which are the same here \\('likert_5'\\)",
        ),
    ],
)
def test_rows_of_two_parts_that_become_equal_are_refused_before_anything_is_kept(
    workspace, changes, words
):
    save_bank(workspace, "mine", "likert_5")
    twice = csv(pd.concat([rows(4, **one) for one in changes]))
    with pytest.raises(FileError, match=words):
        imports.import_tidy(workspace, "s.csv", twice, bank="mine")
    assert studies.list_studies(workspace) == ()


def save_bank(workspace, code, *formats, items=range(4)):
    """A bank of items q0 to q3 with formats of 3 or 5 options, as their names say."""
    made = tuple(
        ResponseFormat(name, tuple(Option(str(k), float(k), {"en": str(k)}) for k in range(1, n)))
        for name, n in ((name, 4 if name == "three" else 6) for name in formats)
    )
    questions = tuple(Item(f"q{n}", (Wording("en", f"text {n}"),), "A", 1) for n in items)
    bank = Instrument(code, code, questions, made, ("en",))
    bank_store.save_draft(workspace.database, bank, expected_revision=None, summary="made")


def test_a_file_is_not_added_where_equal_answers_would_not_be_recognised(workspace):
    """The attached bank has another code for the format, and the keys of answers are made of it."""
    data = csv(rows(3, format=""))
    imports.import_tidy(workspace, "s.csv", data, bank=imports.NEW_BANK)
    save_bank(workspace, "mine", "likert_5")
    bank_attachment.attach(workspace, "s", "mine")
    with pytest.raises(FileError, match="a bank with other codes of items or formats"):
        imports.import_tidy(workspace, "s.csv", data, study="s", add=True)
    assert counts(workspace)[0] == 12


def test_a_bank_with_the_same_codes_does_not_keep_answers_from_being_added(workspace):
    data = csv(rows(3))
    imports.import_tidy(workspace, "s.csv", data, bank=imports.NEW_BANK)
    save_bank(workspace, "mine", "likert_5")
    bank_attachment.attach(workspace, "s", "mine")
    (done,) = imports.import_tidy(workspace, "s.csv", csv(rows(4)), study="s", add=True)
    assert (done.n_new, done.n_total) == (4, 16)


def test_a_bank_is_attached_only_when_the_import_is_finished(workspace):
    stopped(workspace, csv(rows(format="")), 2, bank=imports.NEW_BANK)
    save_bank(workspace, "mine", "likert_5")
    with pytest.raises(BankError, match=r"20 of 48 rows are saved\. Continue or undo it"):
        bank_attachment.attach(workspace, "s", "mine")


def test_answers_without_a_format_have_that_of_the_answers_on_file(workspace):
    """By its answers alone, the second file would have the format with more options."""
    save_bank(workspace, "mine", "three", "five")
    first = rows(4, format="")
    first["answer"] = first["answer"].astype(int).clip(upper=3).astype(str)
    imports.import_tidy(workspace, "s.csv", csv(first), bank="mine")
    more = csv(pd.concat([first, rows(1, first=9, format="", answer="5")]))
    with pytest.raises(FileError, match="'5' is not an option of the format 'three'"):
        imports.import_tidy(workspace, "s.csv", more, study="s", add=True)
    assert counts(workspace)[0] == 16


def test_undo_leaves_the_answers_of_a_file_that_came_in_while_this_one_was_compared(workspace):
    imports.import_tidy(workspace, "s.csv", csv(rows(2)))
    compared, go_on = threading.Event(), threading.Event()
    stop = Stop(2)

    def watch(done, total, unit):
        if unit == "rows compared" and done:
            compared.set()
            assert go_on.wait(30)
        stop(done, total, unit)

    def large():
        with pytest.raises(progress.Cancelled), progress.watch(watch):
            imports.import_tidy(workspace, "a.csv", csv(rows(20, 50)), study="s", add=True)

    thread = threading.Thread(target=large)
    thread.start()
    assert compared.wait(30)
    imports.import_tidy(workspace, "b.csv", csv(rows(2, 30)), study="s", add=True)
    go_on.set()
    thread.join(60)
    assert imports.undo(workspace, "s") == 20
    assert counts(workspace)[0] == 16


def test_another_file_does_not_come_in_while_an_import_is_saving(workspace):
    imports.import_tidy(workspace, "s.csv", csv(rows(2)))
    stopped(workspace, csv(rows(20, 50)), 2, study="s", add=True)
    with pytest.raises(FileError, match="undo it, before you import another file"):
        imports.import_tidy(workspace, "b.csv", csv(rows(2, 30)), study="s", add=True)


class Gate:
    """Holds an import in the background before its third part is saved."""

    def __init__(self, monkeypatch):
        self.reached, self.opened, self.n = threading.Event(), threading.Event(), 0
        self.real = import_store.add_answers
        monkeypatch.setattr(import_store, "add_answers", self)

    def __call__(self, *arguments, **options):
        self.n += 1
        if self.n == 3:
            self.reached.set()
            assert self.opened.wait(30)
        return self.real(*arguments, **options)


def test_an_import_that_is_under_way_is_neither_begun_twice_nor_undone(workspace, monkeypatch):
    gate, data = Gate(monkeypatch), csv(rows())
    sha256 = parts.answer_parts("s.csv", data).sha256
    one = imports.begin_import(workspace, sha256, "s.csv", data)
    assert gate.reached.wait(30)
    assert imports.begin_import(workspace, sha256, "s.csv", data) is one
    with pytest.raises(FileError, match="is under way"):
        imports.undo(workspace, "s")
    gate.opened.set()
    assert one.wait(30)
    assert [done.n_new for done in one.value()] == [48]


def test_a_part_that_was_not_committed_is_not_said_to_be_saved(workspace, monkeypatch):
    """The second study of the second part fails, so that the first one's rows are taken back."""
    real, calls = import_store.add_answers, []

    def add_answers(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    both = pd.concat([rows(6, study="a"), rows(6, study="b")])
    monkeypatch.setattr(import_store, "add_answers", add_answers)
    with pytest.raises(KeyboardInterrupt):
        imports.import_tidy(
            workspace, "s.csv", csv(both.sort_values(["context", "item"], kind="stable"))
        )
    left = {event.study: event for event in imports.unfinished_imports(workspace)}
    assert [(one.n_saved, one.n_new) for one in left.values()] == [(5, 5), (5, 5)]
    assert counts(workspace)[0] == 10
    assert imports.undo(workspace, "a") == 5


def test_results_after_an_undo_are_those_of_the_answers_that_came_instead(workspace):
    """As many rows of a corrected file with the same name: only their values differ."""
    stopped(workspace, csv(rows(answer="1")), 2)
    before = analyses.run(workspace, "option_distribution", ["s"], {}, {})
    imports.undo(workspace, "s")
    stopped(workspace, csv(rows(answer="5")), 2)
    after = analyses.run(workspace, "option_distribution", ["s"], {}, {})
    tables = [result.tables[0].frame.set_index("option")["count"] for result in (before, after)]
    assert [(set(own[own > 0].index), own.sum()) for own in tables] == [({"1"}, 20), ({"5"}, 20)]

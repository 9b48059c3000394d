"""Study packages: out and in again without a difference, and refused as a whole where changed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import zipfile
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.domain.study import SETTINGS, Status
from core.errors import DesignError, FileError, StoreError
from core.export import result_zip
from core.files import packages
from core.store import banks
from core.store import packages as tables_store
from core.workflow.answers import audits, imports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.packages import making, reading
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.people_files import ITEMS, people
from tests.workflow.studies import finished, freeze, simulated

NAMES = ("item_statistics", "internal_consistency", "cfa")


def opened(new_database, folder):
    """A workspace of its own, with the starter banks."""
    path = folder / "inkblot.duckdb"
    shutil.copyfile(new_database, path)
    return open_workspace(path)


@pytest.fixture(scope="module")
def refusing(tmp_path_factory, new_database):
    """An Inkblot that keeps nothing of what it is given."""
    found = opened(new_database, tmp_path_factory.mktemp("refusing"))
    yield found
    assert studies.list_studies(found) == ()
    found.close()


@pytest.fixture
def other(tmp_path_factory, new_database):
    """Another Inkblot, which has asked a study of its own."""
    found = opened(new_database, tmp_path_factory.mktemp("other"))
    freeze(found, simulated("Elsewhere"), study="own", n_personas=2)
    control.start(found, "own")
    finished(found, "own")
    yield found
    found.close()


@pytest.fixture(scope="module")
def asked(tmp_path_factory, new_database):
    """A study that was asked, coded by a person, and overridden in one place."""
    found = opened(new_database, tmp_path_factory.mktemp("asked"))
    freeze(found, simulated(loading=0.7, refusal_rate=0.05), n_personas=30)
    control.start(found, "study")
    finished(found)
    audit = audits.draw_audit(found, "study", seed=1, per_model=4)
    reply = audits.reply_to_code(found, audit)
    audits.save_coding(found, audit, reply.answer.trial_id, status=Status.OFF_SCALE)
    assert audits.accept_codings(found, audit, [reply.answer.trial_id]) == 1
    yield found
    found.close()


@pytest.fixture(scope="module")
def data(asked):
    """The package of that study."""
    return package(asked)


def package(workspace, study="study"):
    return making.make_package(workspace, study, making.requests_of(study, NAMES)).data


def contents(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files):
    """The files as a package whose checksums are right."""
    files = {name: body for name, body in files.items() if name != packages.SUMS}
    sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in files.items())
    return packages.files_zip({**files, packages.SUMS: sums.encode()})


def parquet(rows):
    written = io.BytesIO()
    pq.write_table(rows, written)
    return written.getvalue()


def test_a_study_comes_back_the_same_beside_another(asked, data, other):
    preview = reading.preview_package(other, "study.zip", data)
    assert (preview.study, preview.n_answers, preview.models) == ("study", 600, ("Simulated",))
    done = reading.import_package(other, "study.zip", data)
    assert done.about_bank == "The bank 'attitudes_20' is on file: version 1."
    assert package(other) == data
    for name in ("internal_consistency", "reliability", "unexpected_outputs"):
        ours, theirs = (analyses.run(w, name, ["study"], {}, {}) for w in (asked, other))
        assert result_zip(ours) == result_zip(theirs)
    assert control.progress(other, "study").n_done == 600
    assert [one.n_coded for one in audits.list_audits(other, "study")] == [1]


def test_imported_answers_of_people_come_back_the_same(workspace, other):
    imports.import_tidy(
        workspace,
        "people.csv",
        people()
        .melt("id", ITEMS, "item", "answer")
        .rename(columns={"id": "person"})
        .query("answer >= 0")
        .to_csv(index=False)
        .encode(),
    )
    data = package(workspace, "people")
    done = reading.import_package(other, "people.zip", data)
    assert done.about_bank == f"The bank '{done.bank}' came with the study."
    assert package(other, "people") == data


def test_a_bank_with_other_content_stays_beside_that_of_the_study(asked, data, workspace):
    other = workspace
    state = editing.load(other, "attitudes_20")
    items = (replace(state.instrument.items[0], keyed=-state.instrument.items[0].keyed),)
    changed = replace(state.instrument, items=items + state.instrument.items[1:])
    editing.save(other, changed, expected_revision=state.revision)
    freeze(other, simulated("Elsewhere"), study="earlier", n_personas=2)
    done = reading.import_package(other, "study.zip", data)
    assert "with other content is on file" in done.about_bank
    assert editing.load(other, "attitudes_20").instrument.items[0].keyed == items[0].keyed
    ours, theirs = (analyses.run(w, "item_statistics", ["study"], {}, {}) for w in (asked, other))
    assert result_zip(ours) == result_zip(theirs)


def test_a_package_of_an_earlier_schema_is_brought_up_to_date(data):
    """Before readings were kept, responses had no layer, and audits no kinds."""
    files = contents(data)
    earlier = ("layer", "certainty", "hedged", "judge")
    for name in ("response", "recoding"):
        path = f"tables/{name}.parquet"
        if path in files:
            rows = pq.read_table(io.BytesIO(files[path]))
            files[path] = parquet(rows.drop_columns(list(earlier)))
    tables = {
        name.removeprefix("tables/").removesuffix(".parquet"): pq.read_table(io.BytesIO(body))
        for name, body in files.items()
        if name.startswith("tables/")
    }
    tables["respondent"] = tables["respondent"].drop_columns(["name"])
    tables["administration"] = tables["administration"].drop_columns(list(SETTINGS))
    found = tables_store.checked_tables(tables, "0012_templates")
    assert found["respondent"]["name"].to_pylist() == found["respondent"]["label"].to_pylist()
    assert found["response"].num_rows == 600
    assert found["response"]["layer"].null_count == 599
    with pytest.raises(FileError, match="made by a newer Inkblot"):
        tables_store.checked_tables(tables, "9999_later")


def test_the_files_say_what_is_in_them(asked, data):
    files = contents(data)
    answers = pd.read_csv(io.BytesIO(files["data/study-study_description-answers_data.csv"]))
    scores = pd.read_csv(io.BytesIO(files["data/study-study_description-scores_data.csv"]))
    bank = studies.frozen_bank(asked, "study")
    codes = [item.code for item in bank.items]
    assert len(answers) == 600
    assert scores[codes].shape == (30, 20)
    assert scores[codes].sum().sum() == answers["score"].sum()
    described = json.loads(files["datapackage.json"])
    for resource in described["resources"]:
        body = files[resource["path"]]
        assert resource["hash"] == f"sha256:{hashlib.sha256(body).hexdigest()}"
        if resource["type"] == "table":
            header = body.decode().splitlines()[0].split(",")
            assert [f["name"] for f in resource["schema"]["fields"]] == header, resource["path"]
    variables = json.loads(files["dataset_description.json"])["variableMeasured"]
    named = {one["name"] for one in variables}
    data = [body for name, body in files.items() if name.startswith("data/")]
    assert {name for body in data for name in body.decode().splitlines()[0].split(",")} == named
    codebook = pd.read_csv(io.BytesIO(files["codebook.csv"]), dtype=str)
    labels = codebook[codebook["column"] == "answer"].set_index("value")["label"]
    assert labels["1"] == bank.formats[0].options[0].labels["en"]
    assert "scripts/internal_consistency/reliability.R" in files
    assert {"materials/design.yaml", "materials/bank.csv", "materials/contexts.jsonl"} <= set(files)


def test_what_cannot_be_computed_is_named(workspace):
    freeze(workspace, simulated(), n_personas=2)
    control.start(workspace, "study")
    finished(workspace)
    made = making.make_package(workspace, "study", making.requests_of("study", ["cfa"]))
    assert list(made.left_out) == ["cfa"]
    assert "- cfa: No factor model can be fitted." in contents(made.data)["README.md"].decode()


def test_a_package_of_an_earlier_version_may_hold_characters_that_files_no_longer_hold(
    workspace, tmp_path
):
    answers = b'item,answer,raw\nq1,4,"four\nbecause"\nq2,3,3\n'
    imports.import_tidy(workspace, "old.csv", answers, study="old")
    files = contents(making.make_package(workspace, "old", ()).data)
    path = next(name for name in files if name.endswith("answers_data.csv"))
    assert b'"four\nbecause"' in files[path]
    files[path] = files[path].replace(b'"four\nbecause"', "four\u2028because".encode())
    other = open_workspace(tmp_path / "other.duckdb")
    try:
        done = reading.import_package(other, "old.zip", packed(files))
    finally:
        other.close()
    assert (done.study, done.n_answers) == ("old", 2)


def changed_answer(files):
    """Another answer in the CSV file, with a right checksum."""
    path = "data/study-study_description-answers_data.csv"
    files[path] = files[path].replace(b",Simulated,", b",Somebody,", 1)


def other_rows(name, change):
    def apply(files):
        path = f"tables/{name}.parquet"
        files[path] = parquet(change(pq.read_table(io.BytesIO(files[path]))))

    return apply


def without_first(rows):
    return rows.slice(1)


def doubled(rows):
    return pa.concat_tables([rows, rows])


def other_study(rows):
    """Rows of a study that is not the package's."""
    place = rows.column_names.index("study_id")
    return rows.set_column(place, "study_id", pa.array([7] * rows.num_rows, pa.int64()))


def with_text(column, text):
    def apply(rows):
        place = rows.column_names.index(column)
        return rows.set_column(place, column, pa.array([text] * rows.num_rows, pa.string()))

    return apply


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed_answer, "are not those of its CSV file"),
        (other_rows("administration", without_first), "column administration_id names rows"),
        (other_rows("prompt", without_first), "column prompt_id names rows"),
        (other_rows("prompt", doubled), "'prompt' of the package has a row twice"),
        (other_rows("response", other_study), "column study_id names rows"),
        (other_rows("response", with_text("status", "fine")), "not of one study and its bank"),
        (other_rows("instrument", with_text("body", "{")), "cannot be read"),
        (other_rows("study", with_text("design", "[]")), "cannot be read"),
        (other_rows("study", with_text("code", "another")), "not of one study and its bank"),
        (other_rows("trial", lambda rows: rows.drop_columns(["tags"])), "has other columns"),
        (
            lambda files: files.update(
                {"tables/page_memory.parquet": files["tables/study.parquet"]}
            ),
            "an unknown table 'page_memory'",
        ),
        (lambda files: files.update({"tables/study.parquet": b"PAR1"}), "can be read"),
        (lambda files: files.pop("tables/study.parquet"), "exactly one study"),
        (lambda files: files.update({"datapackage.json": b"{}"}), "does not say which study"),
    ],
)
def test_a_package_made_by_somebody_else_is_refused_as_a_whole(data, refusing, change, words):
    files = contents(data)
    change(files)
    with pytest.raises(FileError, match=words):
        reading.import_package(refusing, "study.zip", packed(files))
    assert studies.list_studies(refusing) == ()


def test_a_damaged_package_is_refused_with_the_file_and_line(data, monkeypatch):
    files = contents(data)
    changed = {**files, "codebook.csv": files["codebook.csv"] + b"\n"}
    with pytest.raises(FileError, match=r"'codebook.csv' was changed .*line 1 of SHA256SUMS"):
        packages.read_package("study.zip", packages.files_zip(changed))
    files.pop("materials/bank.csv")
    with pytest.raises(FileError, match=r"lacks the file 'materials/bank\.csv'"):
        packages.read_package("study.zip", packages.files_zip(files))
    for broken in (data[: len(data) // 2], b"", b"PK\3\4"):
        with pytest.raises(FileError, match="is not a whole zip file"):
            packages.read_package("study.zip", broken)
    with pytest.raises(FileError, match="is not a study package: it has no file SHA256SUMS"):
        packages.read_package("x.zip", packages.files_zip({"a.csv": b"item,answer\n"}))
    monkeypatch.setattr(packages, "_MOST_BYTES", 1000)
    with pytest.raises(FileError, match=r"files of .* GB together"):
        packages.read_package("study.zip", data)


def with_sums(files, sums):
    return packages.files_zip({**files, packages.SUMS: sums.encode()}, compressed=True)


def test_a_package_that_names_a_file_again_is_refused_at_the_second_time(data):
    files = contents(data)
    (line,) = [one for one in files[packages.SUMS].decode().splitlines() if "/tri" in one]
    with pytest.raises(FileError, match=r"line 2 of SHA256SUMS names 'tables/trial.parquet' again"):
        packages.read_package("s.zip", with_sums(files, f"{line}\n" * 5000))


def big_prompts():
    """A table of 8 MB that has 10 GB of texts: ten thousand times the same one."""
    text = "".join(chr(97 + n * n % 26) for n in range(1_000_000))
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array([text]))
    return pa.table({"prompt_id": pa.array(range(10_000), pa.int64()), "messages": texts})


def many_cells():
    return pa.table({f"c{n}": pa.array([7] * 1_400_000, pa.int8()) for n in range(80)})


@pytest.mark.parametrize("table", [big_prompts, many_cells])
def test_a_table_that_is_large_only_in_memory_is_refused_before_it_is_there(data, table):
    files = contents(data)
    files["tables/prompt.parquet"] = parquet(table())
    assert len(files["tables/prompt.parquet"]) < 50_000_000
    pool = pa.default_memory_pool()
    before, peak = pool.bytes_allocated(), pool.max_memory()
    with pytest.raises(FileError, match="larger than 500 MB"):
        packages.read_package("s.zip", packed(files))
    assert max(pool.max_memory() - max(before, peak), 0) < 500_000_000


def test_files_of_zeros_are_read_part_by_part_and_refused_where_they_are_kept(data, monkeypatch):
    monkeypatch.setattr(packages, "_MOST_KEPT_BYTES", 20_000_000)
    files = contents(data)
    files["data/zeros.csv"] = bytes(30_000_000)
    with pytest.raises(FileError, match=r"tables of the study are larger than 19 MB"):
        packages.read_package("s.zip", packed(files))
    shares = []
    files["zeros.txt"] = files.pop("data/zeros.csv")
    packages.read_package("s.zip", packed(files), shares.append)
    assert len(shares) > 30
    assert shares == sorted(shares)


def test_a_size_that_is_not_true_is_refused(data):
    declared = bytearray(data)
    place = declared.rfind(b"PK\x01\x02")  # the last entry of the list at the end of the file
    declared[place + 24 : place + 28] = (1).to_bytes(4, "little")
    with pytest.raises(FileError, match=r"whole zip file|changed after"):
        packages.read_package("s.zip", bytes(declared))


def test_a_bit_that_was_flipped_anywhere_is_told_in_one_sentence_or_does_no_harm(data):
    whole = packages.read_package("s.zip", data)
    step = max(len(data) // 400, 1)
    told = []
    for place in [*range(0, len(data), step), *range(len(data) - 60, len(data))]:
        broken = bytearray(data)
        broken[place] ^= 1 << place % 8
        try:
            read = packages.read_package("s.zip", bytes(broken))
        except FileError as error:
            told.append(str(error))
        else:
            assert read.answers == whole.answers
            assert read.tables == whole.tables
    assert len(told) > 300
    assert all("s.zip" in sentence for sentence in told)


@pytest.mark.parametrize("number", [1, 3, 10_000])
def test_a_tab_that_is_closed_ends_the_reading_and_keeps_nothing(data, refusing, number):
    class ClosedError(Exception):
        pass

    shares = []

    def closed(share):
        shares.append(share)
        if len(shares) == number or (number == 10_000 and share == 1.0 and len(shares) > 20):
            raise ClosedError

    before = [*banks.codes(refusing.database)]
    with pytest.raises(ClosedError):
        reading.import_package(refusing, "s.zip", data, closed)
    assert studies.list_studies(refusing) == ()
    assert banks.codes(refusing.database) == before


@pytest.mark.parametrize("fault", ["no folder", "full"])
def test_a_full_folder_for_temporary_files_is_told(data, refusing, monkeypatch, tmp_path, fault):
    if fault == "full":
        import duckdb

        def full(*_arguments):
            raise duckdb.IOException("IO Error: Could not write file: No space left on device")

        monkeypatch.setattr("core.store.packages.insert", full)
    else:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(StoreError, match="Temporary files could not be written"):
        reading.import_package(refusing, "s.zip", data)


def test_a_package_that_was_unpacked_and_packed_again_is_read(data, other):
    files = {f"study/{name}": body for name, body in contents(data).items()}
    files["__MACOSX/._study"] = b"left by another system"
    assert reading.import_package(other, "s.zip", packages.files_zip(files)).n_answers == 600


def test_a_study_that_is_there_stays_as_it_is(asked, data):
    with pytest.raises(DesignError, match="There is a study called 'study' already"):
        reading.import_package(asked, "study.zip", data)

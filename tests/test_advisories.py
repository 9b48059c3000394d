"""Known faults of pinned packages are found from a copy of the database, without a network."""

from __future__ import annotations

import json
import zipfile

import pytest

from tests import advisories
from tests.advisories import LOCKS, ROOT, main, pinned


def record(name, events=(), versions=(), **other):
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}] if events else []
    package = {"ecosystem": "PyPI", "name": name}
    return {
        "id": "X-1",
        "summary": "It is\nbroken.",
        "affected": [{"package": package, "ranges": ranges, "versions": list(versions)}],
        **other,
    }


def kept(tmp_path, *records):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, one in enumerate(records):
            archive.writestr(f"{number}.json", json.dumps(one))
    return path


@pytest.mark.parametrize(
    ("version", "events", "is_known"),
    [
        ("1.0", [{"introduced": "0"}, {"fixed": "1.1"}], True),
        ("1.1", [{"introduced": "0"}, {"fixed": "1.1"}], False),
        ("1.10", [{"introduced": "0"}, {"fixed": "1.9"}], False),
        ("2.0rc1", [{"introduced": "1.5"}, {"fixed": "2.0"}], True),
        ("1.4", [{"introduced": "1.5"}], False),
        ("3.0", [{"introduced": "1.5"}], True),
        ("3.0", [{"introduced": "0"}, {"last_affected": "3.0"}], True),
        ("3.1", [{"introduced": "0"}, {"last_affected": "3.0"}], False),
        ("2.5", [{"introduced": "0"}, {"fixed": "1.1"}, {"introduced": "2.0"}], True),
        ("1.5", [{"introduced": "0"}, {"fixed": "1.1"}, {"introduced": "2.0"}], False),
    ],
)
def test_a_version_is_known_to_be_faulty_within_its_ranges(tmp_path, version, events, is_known):
    path = kept(tmp_path, record("Some_Package", events))
    found = advisories.advisories(path, {"some-package": version})
    assert bool(found) == is_known


def test_versions_that_are_listed_other_ecosystems_and_withdrawn_records(tmp_path):
    other = record("p", versions=["1.0"])
    other["affected"][0]["package"]["ecosystem"] = "npm"
    path = kept(
        tmp_path,
        record("p", versions=["1.0"]),
        other,
        record("p", versions=["1.0"], withdrawn="2026-01-01T00:00:00Z"),
        record("q", versions=["1"]),
    )
    (one,) = advisories.advisories(path, {"p": "1.0"})
    assert (one.package, one.summary) == ("p", "It is broken.")


def test_every_package_of_the_locks_is_looked_at():
    packages = pinned([ROOT / name for name in LOCKS])
    assert {"streamlit", "duckdb", "pandas", "openai", "semopy", "pytest"} <= packages.keys()
    text = "".join((ROOT / name).read_text() for name in LOCKS)
    assert len(packages) == len(
        {line for line in text.splitlines() if "==" in line and not line.startswith(("#", " "))}
    )


def test_the_command_works_from_the_kept_copy_and_says_what_it_found(tmp_path, capsys):
    version = pinned([ROOT / "requirements.txt"])["streamlit"]
    path = kept(tmp_path, record("streamlit", [{"introduced": "0"}, {"fixed": "99"}]))
    assert main(["--offline", "--kept", str(path)]) == 1
    assert f"streamlit {version}: X-1 It is broken.; mended in 99" in capsys.readouterr().out
    assert main(["--offline", "--kept", str(kept(tmp_path))]) == 0
    assert main(["--offline", "--kept", str(tmp_path / "none.zip")]) == 2
    assert "Run it once with a network" in capsys.readouterr().err


def test_a_copy_stays_where_the_new_one_cannot_be_fetched(tmp_path, capsys):
    path = kept(tmp_path)
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"no zip")
    before = path.read_bytes()
    for source in (broken.as_uri(), (tmp_path / "missing.zip").as_uri()):
        assert main(["--source", source, "--kept", str(path)]) == 0
        assert "could not be fetched" in capsys.readouterr().out
        assert path.read_bytes() == before
    good = kept(tmp_path / "new") if (tmp_path / "new").mkdir() is None else path
    assert main(["--source", good.as_uri(), "--kept", str(path)]) == 0
    assert "fetched now" in capsys.readouterr().out

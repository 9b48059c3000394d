from __future__ import annotations

import os
import sys

import pytest

from core.files.writing import write_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


def test_a_file_is_written_through_a_link_and_keeps_its_permissions(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_files({link: b"new"})
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.csv", "target.csv"]


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_files({pipe: b"through"})
    assert os.read(reader, 99) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_all_files_are_written_or_none(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "no folder" / "b.csv"
    first.write_text("old")
    with pytest.raises(FileNotFoundError):
        write_files({first: b"new", second: b"new"})
    assert first.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]

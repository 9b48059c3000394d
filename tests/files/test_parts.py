"""Large files of text, read in parts."""

from __future__ import annotations

import pytest

from core.files import columns, parts

BLOCK = 64


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Every file is a large one, read in blocks of 64 bytes."""
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(parts, "_BLOCK", BLOCK)


def table(replies, line_break, quote=""):
    lines = ["item,answer,raw", *(f"q1,3,{quote}{reply}{quote}" for reply in replies)]
    return line_break.join(lines)


def read_replies(text):
    file = parts.answer_parts("f.csv", text.encode())
    assert file.whole is None
    return [reply for part in file.read() for reply in part.columns["raw"].to_pylist()]


def at_each_place(*replies):
    """The replies, moved along by one byte at a time until each byte was the last of a block."""
    for length in range(BLOCK):
        yield ["x" * (length // 2), "y" * (length - length // 2), *replies]


@pytest.mark.parametrize("within", ["\r\n", "\r\n\r\n", "\r\r\n", "\r", "\n"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_line_break_in_a_reply_is_read_wherever_a_block_ends(monkeypatch, line_break, within):
    monkeypatch.delattr(parts, "_exact_parts")  # so that Arrow reads every row
    for replies in at_each_place(*["One.", f"a{within}b"] * 5):
        assert read_replies(table(replies, line_break, quote='"') + line_break) == replies


@pytest.mark.parametrize("end", ["", "\r", "\n", "\r\n"])
def test_every_row_is_read_wherever_a_block_ends_and_however_the_file_ends(end):
    for replies in at_each_place(*["One.", "Two."] * 5):
        assert read_replies(table(replies, "\r\n") + end) == replies


def test_a_file_read_as_a_whole_keeps_them_too(monkeypatch):
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 2**20)
    monkeypatch.setattr(columns, "_BLOCK", BLOCK)
    for replies in at_each_place("One.", "a\r\nb"):
        file = parts.answer_parts("f.csv", table(replies, "\r\n", '"').encode())
        assert file.whole.columns["raw"].to_pylist() == replies

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.files.writing import csv_fault, csv_line, guard, plain_number, unguard, xlsx_fault

TEXT_THAT_INVITES_TROUBLE = st.text(alphabet="=+-@\t\r'\n\", ab\U0001f600") | st.text()


@given(TEXT_THAT_INVITES_TROUBLE)
def test_unguarding_gives_back_what_was_guarded(text):
    assert unguard(guard(text)) == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "'=x", "'tis"])
def test_risky_text_starts_with_an_apostrophe(text):
    assert guard(text) == "'" + text


@pytest.mark.parametrize("text", ["", "a", "1", "a=1", " =1", "\n=1"])
def test_other_text_stays_as_it_is(text):
    assert guard(text) == text


@pytest.mark.parametrize("text", ["'tis the season", "'", "a'=", "' ="])
def test_an_apostrophe_that_guards_nothing_is_kept(text):
    assert unguard(text) == text


def test_a_csv_line_guards_text_and_leaves_numbers_plain():
    assert csv_line(["-1", -1, 0.5, None, 'say "a"', "a\rb"]) == (
        '\'-1,-1,0.5,,"say ""a""","a\rb"\n'
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_so_that_it_reads_back_the_same(number):
    assert float(plain_number(number)) == number


def test_what_a_file_cannot_hold_is_named():
    assert csv_fault("x" * 100_001) == "100,001 characters, more than 100,000"
    assert csv_fault("x" * 100_000) == csv_fault("a\0\x07\ud800") == xlsx_fault("a\x07") == ""
    assert xlsx_fault("x" * 32_768) == "32,768 characters, more than 32,767"
    assert xlsx_fault("x" * 32_767) == ""

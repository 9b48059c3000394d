import io
import zipfile
from dataclasses import replace

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.characters import readable
from core.domain.instrument import (
    Instrument,
    Item,
    Option,
    Party,
    Rating,
    ResponseFormat,
    Wording,
    content_hash,
    whole_number,
)
from core.errors import BankError, FileError
from core.files.banks.reading import RowError, read_instrument
from core.files.banks.writing import instrument_to_csv, instrument_to_xlsx
from tests.cpu_time import least_cpu_seconds

WRITERS = {"csv": instrument_to_csv, "xlsx": instrument_to_xlsx}

AGREE = ResponseFormat(
    "likert_2",
    (
        Option("1", 1.0, {"en": "Disagree", "fa": "مخالف"}, -1),
        Option("2", 2.5, {"en": "Agree"}, 1),
        Option("x", None),
    ),
)
BANK = Instrument(
    "tea",
    "Tea scale",
    (
        Item("q1", (Wording("en", "I like tea."), Wording("fa", "چای")), "taste"),
        Item(
            "q2", (Wording("en", "I hate tea."), Wording("en", "Tea? No.", "paraphrase_1")), "", -1
        ),
    ),
    (AGREE,),
    ("en", "fa"),
    licence="CC0",
)
DEBATE = Instrument(
    "debate",
    "Debate",
    (
        Item(
            "d1",
            (
                Wording("en", "Is tea better?"),
                Wording("en", "Tea is better.", mood="statement"),
                Wording("de", "Ist Tee besser?", drafted_by="gpt; v=1"),
            ),
            pair="d2",
            genre="drinks",
            tags=("hot", "a;b"),
            rank=12,
            loadings={"health": 1, "law and order": -1},
            positions={"tea_party": 1, "greens": 0},
            directions={"paraphrase_1": -1, "opposite": 1},
        ),
        Item("d2", (Wording("en", "Is coffee better?"),), pair="d1", loadings={"health": 0}),
    ),
    (
        ResponseFormat("yes_no", AGREE.options),
        ResponseFormat("likert_2", AGREE.options, "half", "statement"),
        ResponseFormat("free_text", (), mood="question"),
    ),
    ("en", "de"),
    kind="prompts",
    parties=(Party("tea_party", "right"), Party("greens", "left")),
)

weird = st.text(
    alphabet="\"',;\t\r\n =+-@_x0005FAD#N/\U0001f600של\x85é", max_size=12
) | st.sampled_from(
    ["=1+1", "'=1", "'", "-1", "#N/A", "_x000D_", "\r\n", " a ", "TRUE", "1.50", "2025-01-01"]
)
any_text = weird | st.text().map(readable)
languages = st.sampled_from(["en", "fa", "zh-Hant", "de_AT"])
forms = st.sampled_from(["original", "paraphrase_1", "paraphrase_2", "negation", "x__y", "=f;g"])
moods = st.sampled_from(["", "question", "statement", "choice"])
names = st.sampled_from(["health", "law and order", "=1+1", "a=b;c", "x_y", "économie", "a\\"])
signs = st.sampled_from([-1, 0, 1])
codes = st.text(min_size=1, max_size=6, alphabet="abcß =+-'\"1,\n").filter(str.strip)
numbers = (st.integers() | st.floats(allow_nan=False, allow_infinity=False)).map(whole_number)
digits = st.sampled_from(["1", "007", " 5", "1e+20", "x", "-3", "1.50"])
points = st.none() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)


def options(text):
    return st.builds(
        Option, codes, points, st.dictionaries(languages, text), st.sampled_from([None, -1, 0, 1])
    )


def items(text, parties):
    wordings = st.lists(
        st.builds(Wording, languages, text, forms, moods, st.just("") | text),
        unique_by=lambda w: (w.language, w.form, w.mood),
        max_size=4,
    )
    return st.builds(
        Item,
        code=codes,
        wordings=wordings.map(tuple),
        subscale=text,
        keyed=st.sampled_from([1, -1]),
        pair=st.just("") | text,
        genre=st.just("") | text,
        tags=st.lists(text.filter(bool), max_size=3).map(tuple),
        rank=st.none() | st.integers(0, 999_999_999),
        loadings=st.dictionaries(names, signs, max_size=3),
        positions=st.dictionaries(st.sampled_from([p.code for p in parties]), signs)
        if parties
        else st.just({}),
        directions=st.dictionaries(forms | text.filter(bool), st.sampled_from([1, -1]), max_size=2),
        attributes=st.fixed_dictionaries(
            {},
            optional={
                "country": text.filter(bool),
                "year 2": numbers,
                "zip": digits,
                "é-1": numbers,
            },
        ),
        annotations=st.dictionaries(
            names, st.dictionaries(names, signs, min_size=1, max_size=2), max_size=2
        ),
    )


@st.composite
def instruments(draw, text):
    formats = st.builds(
        ResponseFormat,
        codes,
        st.lists(options(text), max_size=3).map(tuple),
        st.sampled_from(["coin", "half", "drop"]),
        moods,
    )
    leanings = st.sampled_from(["left", "centre", "right"])
    parties = draw(
        st.lists(
            st.builds(Party, names, leanings, st.just("") | text),
            unique_by=lambda p: p.code,
            max_size=2,
        )
    )
    return draw(
        st.builds(
            Instrument,
            code=codes,
            title=text,
            items=st.lists(items(text, parties), max_size=4, unique_by=lambda i: i.code).map(tuple),
            formats=st.lists(formats, max_size=2, unique_by=lambda f: f.code).map(tuple),
            languages=st.lists(languages, unique=True).map(tuple),
            description=text,
            licence=text,
            citation=text,
            kind=st.sampled_from(["items", "words", "prompts"]),
            parties=st.just(tuple(parties)),
        )
    )


def comparable(bank):
    """The bank without empty texts, and with an item's texts as a set: files give columns."""
    return replace(
        bank,
        items=tuple(
            replace(i, wordings=frozenset(w for w in i.wordings if w.text)) for i in bank.items
        ),
        formats=tuple(
            replace(
                f,
                options=tuple(
                    replace(o, labels={k: v for k, v in o.labels.items() if v}) for o in f.options
                ),
            )
            for f in bank.formats
        ),
    )


def assert_comes_back(bank, ending):
    write = WRITERS[ending]
    first = write(bank)
    read = read_instrument(f"bank.{ending}", first).instrument
    assert comparable(read) == comparable(bank)
    assert write(read) == first


@given(instruments(any_text))
def test_a_bank_comes_back_from_csv_as_it_was(bank):
    assert_comes_back(bank, "csv")


XML_CANNOT = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))
xlsx_text = weird | st.text(
    st.characters(exclude_characters=XML_CANNOT, exclude_categories=["Cs"]), max_size=20
)


@given(instruments(xlsx_text))
def test_a_bank_comes_back_from_a_workbook_as_it_was(bank):
    assert_comes_back(bank, "xlsx")


@pytest.mark.parametrize("ending", WRITERS)
def test_a_sound_bank_is_read_without_errors_and_keeps_its_content_hash(ending):
    draft = read_instrument(f"b.{ending}", WRITERS[ending](BANK))
    assert draft.errors == ()
    assert draft.instrument == BANK
    assert content_hash(draft.instrument) == content_hash(BANK)
    assert "Item q2: has no text in 'fa'." in draft.warnings


@pytest.mark.parametrize("ending", WRITERS)
def test_the_order_of_an_items_wordings_survives_labels_in_another_order(ending):
    labelled = ResponseFormat("f", (Option("a", None, {"fa": "ب"}), Option("b", None, {"en": "B"})))
    bank = replace(BANK, formats=(labelled,))
    assert read_instrument(f"b.{ending}", WRITERS[ending](bank)).instrument == bank


def test_the_csv_file_reads_as_it_is_documented():
    assert instrument_to_csv(BANK).decode().splitlines() == [
        "record,code,format,position,subscale,keyed,points,stance,value,"
        "text_en,text_fa,text_en__paraphrase_1",
        "bank,code,,,,,,,tea,,,",
        "bank,title,,,,,,,Tea scale,,,",
        "bank,description,,,,,,,,,,",
        "bank,licence,,,,,,,CC0,,,",
        "bank,citation,,,,,,,,,,",
        "bank,languages,,,,,,,en fa,,,",
        "option,1,likert_2,1,,,1,-1,,Disagree,مخالف,",
        "option,2,likert_2,2,,,2.5,1,,Agree,,",
        "option,x,likert_2,3,,,,,,,,",
        "item,q1,,1,taste,1,,,,I like tea.,چای,",
        "item,q2,,2,,-1,,,,I hate tea.,,Tea? No.",
    ]


def test_new_columns_stand_in_the_csv_file_as_they_are_documented():
    assert instrument_to_csv(DEBATE).decode().splitlines() == [
        "record,code,format,position,subscale,keyed,points,stance,value,midpoint,mood,pair,genre,"
        "tags,rank,directions,drafts,loading_health,loading_law and order,party_tea_party,"
        "party_greens,text_en,text_en__original__statement,text_de,text_fa",
        "bank,code,,,,,,,debate" + "," * 16,
        "bank,title,,,,,,,Debate" + "," * 16,
        "bank,description" + "," * 23,
        "bank,licence" + "," * 23,
        "bank,citation" + "," * 23,
        "bank,languages,,,,,,,en de" + "," * 16,
        "bank,kind,,,,,,,prompts" + "," * 16,
        "party,tea_party,,,,,,,right" + "," * 16,
        "party,greens,,,,,,,left" + "," * 16,
        "option,1,yes_no,1,,,1,-1,,,,,,,,,,,,,,Disagree,,,مخالف",
        "option,2,yes_no,2,,,2.5,1,,,,,,,,,,,,,,Agree,,,",
        "option,x,yes_no,3" + "," * 21,
        "format,likert_2,,,,,,,,half,statement" + "," * 14,
        "option,1,likert_2,1,,,1,-1,,,,,,,,,,,,,,Disagree,,,مخالف",
        "option,2,likert_2,2,,,2.5,1,,,,,,,,,,,,,,Agree,,,",
        "option,x,likert_2,3" + "," * 21,
        "format,free_text,,,,,,,,,question" + "," * 14,
        "option,,free_text" + "," * 22,
        'item,d1,,1,,1,,,,,,d2,drinks,"hot;a\\;b",12,"paraphrase_1=inverted;opposite=same",'
        '"text_de=gpt\\; v\\=1",1,-1,1,0,Is tea better?,Tea is better.,Ist Tee besser?,',
        "item,d2,,2,,1,,,,,,d1,,,,,,0,,,,Is coffee better?,,,",
    ]


@pytest.mark.parametrize("ending", WRITERS)
def test_parties_moods_loadings_and_drafts_come_back_with_their_hash(ending):
    draft = read_instrument(f"b.{ending}", WRITERS[ending](DEBATE))
    assert draft.errors == ()
    assert draft.instrument == DEBATE
    assert content_hash(draft.instrument) == content_hash(DEBATE)


def test_a_workbook_has_sheets_for_parties_and_formats_only_where_they_are_used():
    sheets = openpyxl.load_workbook(io.BytesIO(instrument_to_xlsx(DEBATE))).sheetnames
    assert sheets == ["bank", "parties", "options", "formats", "items"]


def test_errors_in_the_new_columns_are_named_by_row_in_plain_words():
    data = (
        b"record,code,value,midpoint,mood,rank,directions,drafts,loading_a,party_p,party_q,text_en\n"
        b"bank,kind,poems,,,,,,,,,\n"
        b"party,p,north,,,,,,,,,\n"
        b"party,p,left,,,,,,,,,\n"
        b"format,f,,third,aside,,,,,,,\n"
        b"item,i1,,,,1.5,,,2,,,One\n"
        b"item,i2,,,,,negation=up;opposite;=same;a=same;a=same,,,yes,,Two\n"
        b"item,i3,,,,,,text_de=m;text_en;odd=m,,,,Three\n"
    )
    errors = read_instrument("b.csv", data).errors
    assert [(e.line, e.column, e.reason) for e in errors] == [
        (1, "party_q", "there is no row of the kind 'party' for 'q'"),
        (2, "value", "'poems' is not one of items, words, prompts"),
        (3, "value", "'north' is not one of left, centre, right"),
        (4, "code", "'p' is in line 3 already"),
        (5, "midpoint", "'third' is not one of coin, half, drop"),
        (5, "mood", "'aside' is not one of question, statement, choice"),
        (5, "format", "Response options f: there must be at least two"),
        (6, "rank", "'1.5' is not a whole number"),
        (6, "loading_a", "'2' is not -1, 0 or 1"),
        (7, "party_p", "'yes' is not -1, 0 or 1"),
        (7, "directions", "'up' is not one of same, inverted, as in paraphrase_2=inverted"),
        (7, "directions", "'' is not one of same, inverted, as in paraphrase_2=inverted"),
        (7, "directions", "there is no name before an equals sign"),
        (7, "directions", "the cell has 'a' twice"),
        (8, "drafts", "there is no text in 'text_de' in this row"),
        (
            8,
            "drafts",
            "the model that drafted 'text_en' is missing, as in text_de=name of the model",
        ),
        (8, "drafts", "there is no text in 'odd' in this row"),
    ]


def test_lists_in_a_cell_are_understood_as_people_write_them():
    data = (
        b"code,text_en,text_de,tags,directions,drafts\n"
        b"q,One,Eins, hot ; a\\b;; not\\; sweet, negation = Same ; x=INVERTED;,text_de = a model;\n"
    )
    draft = read_instrument("b.csv", data)
    (item,) = draft.instrument.items
    assert draft.errors == ()
    assert item.tags == ("hot", "a\\b", "not; sweet")
    assert item.directions == {"negation": 1, "x": -1}
    assert [(w.language, w.drafted_by) for w in item.wordings] == [("en", ""), ("de", "a model")]


def test_rows_that_say_how_a_format_counts_leave_the_order_to_the_options():
    data = (
        b"record,code,format,mood,text_en\nformat,b,,statement,\n"
        b"option,1,a,,x\noption,2,a,,y\noption,1,b,,x\noption,2,b,,y\n"
    )
    formats = read_instrument("b.csv", data).instrument.formats
    assert [(f.code, f.mood) for f in formats] == [("a", ""), ("b", "statement")]


def test_cells_of_items_in_other_rows_are_not_read_in_silence():
    data = (
        b"record,code,value,pair,loading_a,text_en__original__statement,text_en\n"
        b"bank,title,T,q,1,x,\nitem,i,,,,,One\n"
    )
    warnings = read_instrument("b.csv", data).warnings
    assert [w.split("'")[1] for w in warnings if "no meaning in 'bank' rows" in w] == [
        "pair",
        "loading_a",
        "text_en__original__statement",
    ]


def test_a_list_of_five_thousand_words_is_read_in_under_a_second():
    words = tuple(
        Item(f"w{n}", (Wording("en", f"word{n}"),), rank=n, tags=("noun", "short"))
        for n in range(1, 5001)
    )
    data = instrument_to_csv(Instrument("words", "Words", words, (AGREE,), kind="words"))
    assert read_instrument("words.csv", data).instrument.items == words
    assert least_cpu_seconds(lambda: read_instrument("words.csv", data)) < 1


def test_a_workbook_holds_three_sheets_without_a_formula_and_without_the_time():
    risky = replace(BANK, title="=1+1", citation="#N/A")
    data = instrument_to_xlsx(risky)
    book = openpyxl.load_workbook(io.BytesIO(data))
    assert book.sheetnames == ["bank", "options", "items"]
    assert book["bank"]["B3"].value == "'=1+1"
    assert {cell.data_type for sheet in book for row in sheet for cell in row} <= {"s", "n"}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert b"1980-01-01T00:00:00Z" in archive.read("docProps/core.xml")


@pytest.mark.parametrize(
    ("bank", "ending", "says"),
    [
        (
            replace(BANK, title="x" * 40_000),
            "xlsx",
            "bank 'title', 'value': 40,000 characters, more",
        ),
        (replace(BANK, title="x" * 100_001), "csv", "100,001 characters"),
        (replace(BANK, languages=("en US",)), "csv", "a language code is empty or holds a space"),
        (replace(BANK, formats=(AGREE, AGREE)), "csv", "2 sets of response options"),
        (replace(BANK, items=(Item("q", keyed=0),)), "csv", "item 'q' is keyed 0"),
        (
            replace(BANK, items=(Item("q", (Wording("en", "a"), Wording("en", "b"))),)),
            "csv",
            "item 'q' has two texts in the same language and form",
        ),
        (
            replace(BANK, items=(Item("q", (Wording("e__n", "a"),)),)),
            "csv",
            "makes no readable column name",
        ),
        (
            replace(BANK, formats=(ResponseFormat("f", (Option("a", float("nan")),)),)),
            "csv",
            "points that are no number",
        ),
        (
            replace(BANK, items=(Item("q", (Wording("en", "a", mood="aside"),)),)),
            "csv",
            "form 'original' and mood 'aside' makes no readable column name",
        ),
        (
            replace(BANK, items=(Item("q", (Wording("en", "a", "x__question"),)),)),
            "csv",
            "form 'x__question' makes no readable column name",
        ),
        (replace(BANK, items=(Item("q", rank=-1),)), "csv", "item 'q' has the rank -1"),
        (replace(BANK, items=(Item("q", tags=("",)),)), "csv", "item 'q' has an empty tag"),
        (replace(BANK, items=(Item("q", directions={"": 1}),)), "csv", "the direction 1"),
        (replace(BANK, items=(Item("q", loadings={"a": 2}),)), "csv", "has 2 in 'loading_a'"),
        (replace(BANK, items=(Item("q", loadings={" a": 1}),)), "csv", "' a' makes no readable"),
        (replace(BANK, items=(Item("q", positions={"p": 1}),)), "csv", "positions of 'p'"),
        (replace(BANK, parties=(Party("p", "left"),) * 2), "csv", "2 parties have the code 'p'"),
        (replace(BANK, parties=(Party("p", "up"),)), "csv", "party 'p' leans 'up'"),
        (replace(BANK, kind="poems"), "csv", "its kind 'poems' is not one of"),
        (
            replace(BANK, formats=(replace(AGREE, mood="aside", midpoint="x"),)),
            "csv",
            "the set of response options 'likert_2' has the mood 'aside'",
        ),
        (
            replace(BANK, items=(Item("q", loadings={f"d{n}": 1 for n in range(500)}),)),
            "csv",
            "there are 511 columns, more than 500",
        ),
    ],
)
def test_what_a_file_cannot_hold_is_listed_instead_of_dropped(bank, ending, says):
    with pytest.raises(BankError) as refused:
        WRITERS[ending](bank)
    assert says in str(refused.value)


def test_a_workbook_keeps_a_number_that_needs_all_its_digits():
    bank = replace(BANK, formats=(ResponseFormat("f", (Option("a", 0.1 + 0.2), Option("b", 1))),))
    draft = read_instrument("b.xlsx", instrument_to_xlsx(bank))
    assert draft.instrument.formats[0].options[0].points == 0.1 + 0.2


def test_a_plain_list_of_items_needs_only_code_and_text():
    data = b"code,text,keyed,subscale\nq1,I like tea.,,taste\nq2,I hate tea.,R,taste\n"
    draft = read_instrument("Tea Scale.csv", data)
    assert draft.errors == ()
    assert draft.instrument == Instrument(
        "tea_scale",
        "Tea Scale",
        (
            Item("q1", (Wording("en", "I like tea."),), "taste", 1),
            Item("q2", (Wording("en", "I hate tea."),), "taste", -1),
        ),
    )
    assert draft.warnings == ("Response options: there are none yet.",)


@pytest.mark.parametrize(
    ("keyed", "means"),
    [("", 1), ("1", 1), ("+", 1), ("-1", -1), ("-", -1), ("'-", -1), ("Reverse", -1), ("r", -1)],
)
def test_keying_is_understood_as_people_write_it(keyed, means):
    draft = read_instrument("b.csv", f"code,text,keyed\nq1,a,{keyed}\n".encode())
    assert draft.errors == ()
    assert draft.instrument.items[0].keyed == means


@pytest.mark.parametrize(
    ("stance", "means"),
    [("-1", -1), ("-1.0", -1), ("\u22121", -1), ("0.0", 0), ("1.0", 1), ("+1", 1), ("", None)],
)
def test_a_stance_is_understood_as_spreadsheets_write_it(stance, means):
    rows = (
        f"record,code,format,stance,text_en\noption,1,f,{stance},No\noption,2,f,,Yes\nitem,q1,,,a\n"
    )
    draft = read_instrument("b.csv", rows.encode())
    assert draft.errors == ()
    assert draft.instrument.formats[0].options[0].stance == means


def test_every_error_is_collected_with_its_line_and_column():
    data = (
        b"record,code,format,position,keyed,points,stance,value,text_en\n"
        b"bank,colour,,,,,,red,\n"
        b"bank,title,,,,,,A,\n"
        b"bank,title,,,,,,B,\n"
        b"option,1,,1,,1,,,Low\n"
        b"option,1,f,1,,many,,,Low\n"
        b"option,2,f,1,,2,5,,High\n"
        b"option,2,f,x,,3,,,Higher\n"
        b"item,q1,,1,maybe,,,,a\n"
        b"item,,,2,,,,,b\n"
        b"item,q1,,3,,,,,c\n"
        b"scale,q4,,,,,,,d\n"
    )
    errors = read_instrument("b.csv", data).errors
    assert [(e.line, e.column) for e in errors] == [
        (2, "code"),
        (4, "code"),
        (5, "format"),
        (5, "format"),
        (6, "points"),
        (7, "stance"),
        (7, "position"),
        (8, "code"),
        (8, "position"),
        (9, "keyed"),
        (10, "code"),
        (11, "code"),
        (12, "record"),
    ]
    reasons = [e.reason for e in errors]
    assert reasons[1] == "'title' is in line 3 already"
    assert reasons[4] == "'many' is not a number such as 3 or 0.5"
    assert reasons[9] == "'maybe' is not 1, -1, +, -, R or reverse"
    assert reasons[10] == "the code is missing"
    assert reasons[12] == "'scale' is not one of bank, party, option, format, item"


def test_each_missing_column_is_named():
    errors = read_instrument("b.csv", b"subscale,keyed\ntaste,1\n").errors
    assert errors == (
        RowError(1, "code", "this column is missing"),
        RowError(1, "text", "this column is missing"),
    )
    columns = {
        e.column for e in read_instrument("b.csv", b"record,text\noption,a\nbank,b\n").errors
    }
    assert {"code", "format", "value"} <= columns


def test_labels_that_collide_are_errors_of_their_response_options():
    data = b"record,code,format,text_en\nitem,q,,a\noption,1,f,Yes\noption,2,f,yes\n"
    (error,) = read_instrument("b.csv", data).errors
    assert (error.line, error.column) == (3, "format")
    assert "2 options are labelled 'yes'" in error.reason


def test_errors_in_a_workbook_name_the_sheet():
    book = openpyxl.Workbook()
    book.active.title = "items"
    for row in (["code", "keyed", "text_en"], ["q1", "up", "a"]):
        book.active.append(row)
    written = io.BytesIO()
    book.save(written)
    draft = read_instrument("b.xlsx", written.getvalue())
    assert draft.errors == (RowError(2, "keyed", "'up' is not 1, -1, +, -, R or reverse", "items"),)


def test_positions_restore_the_order_and_rows_without_one_come_last():
    data = b"code,position,text\nnew,,n\nb,2,b\na,1,a\n"
    assert [i.code for i in read_instrument("b.csv", data).instrument.items] == ["a", "b", "new"]


def test_what_is_not_read_is_said():
    data = (
        b"record,code,format,text_en,text_en__negation,colour\nitem,q,f,a,,red\nitem,r,f,b,,red\n"
    )
    warnings = read_instrument("b.csv", data).warnings
    assert (
        "The column 'colour' is not part of a bank and was not read. To keep it as an attribute of "
        "the items, call it 'item.colour'."
    ) in warnings
    said = [w for w in warnings if "no meaning" in w]
    assert said == ["The column 'format' has no meaning in 'item' rows and was not read there."]


def test_a_file_that_is_no_table_is_refused():
    with pytest.raises(FileError, match=r"b\.csv, line 3"):
        read_instrument("b.csv", b"code,text\nq1,a\nq2\n")


def test_qualities_that_a_judge_rates_come_back_and_bad_ranges_are_named():
    rated = ResponseFormat("f", (), ratings=(Rating("sad=x", 0.5, 10), Rating("comedy", 1, 7)))
    bank = replace(BANK, formats=(rated,))
    for name, data in (("b.csv", instrument_to_csv(bank)), ("b.xlsx", instrument_to_xlsx(bank))):
        assert read_instrument(name, data).instrument.formats == (rated,)
    data = b"record,code,ratings,text_en\nformat,f,a=1..x;b;c=5..2,\nitem,i,,Text\n"
    assert [(e.column, e.reason) for e in read_instrument("b.csv", data).errors] == [
        ("ratings", "'a=1..x' is not a range such as tragedy=1..10"),
        ("ratings", "'b=None' is not a range such as tragedy=1..10"),
        ("format", "Response options f: the rating 'c' needs a name and a low below its high"),
    ]


def attributes(table):
    draft = read_instrument("b.csv", table.encode())
    return draft.errors, [dict(item.attributes) for item in draft.instrument.items]


def test_an_attribute_is_read_as_numbers_where_all_of_its_values_are():
    errors, values = attributes(
        "code,text,item.year,item.country\nq,a,1999,DE\nr,b,,FR\ns,c,2.50,\n"
    )
    assert errors == ()
    assert values == [{"year": 1999, "country": "DE"}, {"country": "FR"}, {"year": 2.5}]


def test_an_attribute_of_two_types_is_one_error_that_names_both_lines_and_the_remedy():
    errors, _ = attributes("code,text,item.year\nq,a,1999\nr,b,old\ns,c,2001\nt,d,older\n")
    assert errors == (
        RowError(
            3,
            "item.year",
            "'old' is no number, but line 2 has the number '1999'. Write numbers alone, or call "
            "the column 'item.year:text' to read texts",
        ),
    )


def test_texts_that_look_like_numbers_are_kept_as_texts_under_the_name_with_text():
    errors, values = attributes("code,text,item.zip:text\nq,a,01234\nr,b,99\n")
    assert (errors, values) == ((), [{"zip": "01234"}, {"zip": "99"}])
    bank = replace(
        BANK, items=(Item("q", attributes={"zip": "01234"}), Item("r", attributes={"zip": "9"}))
    )
    assert b"item.zip:text" in instrument_to_csv(bank)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("item.genre", "'genre' of the attribute has a column of its own: call this one 'genre'"),
        ("item.a.b", "may hold letters, digits"),
        ("item.", "may hold letters, digits"),
        ("item.YEAR", "in capital letters alone"),
        ("item.year:text", "is that of another column, too"),
        ("loading_welfare@", "the name of an annotator must follow 'loading_'"),
        ("loading_@anna", "a domain, one @"),
    ],
)
def test_a_column_that_cannot_be_an_attribute_or_an_annotation_is_an_error(column, words):
    data = f"code,text,item.year,{column}\nq,a,1,1\n"
    (error,) = read_instrument("b.csv", data.encode()).errors
    assert (error.line, error.column) == (1, column)
    assert words in error.reason


def test_codes_of_annotators_stand_beside_the_consensus_and_do_not_make_it():
    data = (
        b"code,text,loading_welfare,loading_welfare@anna,loading_trade@ben\nq,a,,1,-1\nr,b,1,0,\n"
    )
    draft = read_instrument("b.csv", data)
    assert draft.errors == ()
    first, second = draft.instrument.items
    assert (first.loadings, first.annotations) == (
        {},
        {"anna": {"welfare": 1}, "ben": {"trade": -1}},
    )
    assert (second.loadings, second.annotations) == ({"welfare": 1}, {"anna": {"welfare": 0}})


def test_a_country_belongs_to_parties_and_of_items_it_is_an_attribute():
    data = b"code,text,country\nq,a,DE\n"
    assert (
        "The column 'country' has no meaning in 'item' rows and was not read there. To keep it as "
        "an attribute of the items, call it 'item.country'."
    ) in read_instrument("b.csv", data).warnings


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attributes": {"year": ""}}, "has an attribute without a value"),
        ({"attributes": {"a.b": "x"}}, "may hold letters"),
        ({"annotations": {"anna": {}}}, "has an annotator without a code"),
        ({"annotations": {"a@b": {"d": 1}}}, "'a@b' makes no readable column name"),
        ({"loadings": {"d@e": 1}}, "'d@e' makes no readable column name"),
        ({"annotations": {"anna": {"d": 2}}}, "has 2 in 'loading_d'"),
    ],
)
def test_attributes_and_annotations_that_no_file_can_hold_are_named(changes, words):
    bank = replace(BANK, items=(Item("q", **changes),))
    with pytest.raises(BankError) as refused:
        instrument_to_csv(bank)
    assert words in refused.value.problem

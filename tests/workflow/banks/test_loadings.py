"""Loadings, annotators and positions come into a bank as a new version, or nothing does."""

import csv
import io
from pathlib import Path

import pytest

from core.errors import BankError, FileError
from core.files.banks.reading import read_instrument
from core.store import banks as store
from core.store import studies
from core.workflow.answers import bank_attachment, imports
from core.workflow.banks import editing, loadings

POLICY = Path(__file__).parents[3] / "docs" / "replications" / "banks" / "policy_239.csv"
FILE = """statement_id,raw,welfare,law and order
s1,x,1.0,-1.0
s2,y,0.0,0
s3,z,-1,
"""


@pytest.fixture
def bank(workspace):
    """The code of a new bank of s1, s2 and s3, with the loadings of FILE."""
    return bring(workspace, "", FILE, title="three").code


def bring(workspace, code, *texts, holds="loadings", names=(), **settings):
    """The saved addition of files with these texts."""
    names = names or [f"{number}.csv" for number, _ in enumerate(texts)]
    tables = [
        loadings.read_item_table(name, text.encode())
        for name, text in zip(names, texts, strict=True)
    ]
    codes = [i.code for i in editing.load(workspace, code).instrument.items] if code else []
    columns = [loadings.guess_columns(t, codes, positions=holds == "positions") for t in tables]
    made = loadings.addition(workspace, code, tables, columns, holds=holds, **settings)
    return loadings.save(workspace, code, made, holds=holds)


def item_of(workspace, code, item):
    return editing.load(workspace, code).instrument.item(item)


def bank_of(workspace, study):
    """The bank that analyses of a study read."""
    return store.instrument(
        workspace.database, studies.get(workspace.database, study).instrument_id
    )


def test_loadings_are_signs_of_any_spelling_and_other_columns_stay_unread(workspace, bank):
    assert item_of(workspace, bank, "s1").loadings == {"welfare": 1, "law_and_order": -1}
    assert item_of(workspace, bank, "s2").loadings == {"welfare": 0, "law_and_order": 0}
    assert item_of(workspace, bank, "s3").loadings == {"welfare": -1}
    words = loadings.loading_words(editing.load(workspace, bank).instrument)
    assert words == "2 of 3 items load on at least one of 2 domains."


def test_a_table_of_the_policy_bank_says_193_of_239_statements_load(workspace):
    source = read_instrument("policy_239.csv", POLICY.read_bytes()).instrument
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["statement_id", *source.domains()])
    rows.writerows(
        [item.code, *(float(item.loadings.get(d, 0)) for d in source.domains())]
        for item in source.items
    )
    saved = bring(workspace, "", text.getvalue(), title="Policy")
    own = editing.load(workspace, saved.code).instrument
    assert loadings.loading_words(own) == "193 of 239 items load on at least one of 8 domains."
    counts = loadings.domain_counts(own)
    assert sum(c.supporting + c.against for c in counts) == sum(
        sign != 0 for item in source.items for sign in item.loadings.values()
    )
    assert {c.supporting + c.against + c.neither for c in counts} == {239}


def test_annotators_come_from_a_column_or_from_a_file_each(workspace, bank):
    both = "coder,item,welfare\nanna,s1,1\nben,s1,-1\nanna,s2,0\n"
    assert bring(workspace, bank, both).version == 2
    bring(
        workspace,
        bank,
        "item,welfare\ns3,1\n",
        "item,welfare\ns3,0\n",
        names=("cara.csv", "my dan.csv"),
    )
    bring(workspace, bank, "item,welfare\ns3,-1\n", annotator="eve")
    annotations = {i.code: i.annotations for i in editing.load(workspace, bank).instrument.items}
    assert annotations["s1"] == {"anna": {"welfare": 1}, "ben": {"welfare": -1}}
    assert annotations["s2"] == {"anna": {"welfare": 0}}
    assert annotations["s3"] == {
        "cara": {"welfare": 1},
        "my_dan": {"welfare": 0},
        "eve": {"welfare": -1},
    }
    assert item_of(workspace, bank, "s1").loadings["welfare"] == 1  # the consensus stays
    words = loadings.loading_words(editing.load(workspace, bank).instrument)
    assert words.endswith("5 annotators (anna, ben, cara, my_dan, eve) coded 3 items.")
    again = read_instrument("bank.csv", editing.export(workspace, bank, "csv", None)).instrument
    assert again.items == editing.load(workspace, bank).instrument.items


def test_positions_come_in_rows_with_leaning_and_country_then_in_columns(workspace, bank):
    rows = (
        "item,party,position,leaning,country\n"
        "s1,The Reds,1,left,A\ns2,The Reds,-1,Left,A\ns1,Blues,0,right,B\n"
    )
    bring(workspace, bank, rows, holds="positions")
    bring(workspace, bank, "item,Blues\ns3,1\n", holds="positions")
    own = editing.load(workspace, bank).instrument
    assert [(p.code, p.leaning, p.country) for p in own.parties] == [
        ("The_Reds", "left", "A"),
        ("Blues", "right", "B"),
    ]
    assert [i.positions for i in own.items] == [
        {"The_Reds": 1, "Blues": 0},
        {"The_Reds": -1},
        {"Blues": 1},
    ]
    assert loadings.position_words(own) == (
        "2 parties of 2 countries: 3 of 3 items have the position of at least one."
    )
    again = read_instrument("bank.csv", editing.export(workspace, bank, "csv", None))
    assert (again.instrument.parties, again.errors) == (own.parties, ())


FAULTS = [
    ("item,d\ns1,1\ns9,1\n", "loadings", "line 3, column item: the bank has no item 's9'"),
    ("item,d\ns1,1\ns2,2\n", "loadings", "line 3, column d: '2' is not -1, 0 or 1"),
    ("item,d\ns1,1\ns1,0\n", "loadings", "line 3, column item: 's1' is in line 2 already"),
    ("item,coder,d\ns1,a,1\ns1,a,0\n", "loadings", "'s1' of this annotator is in line 2"),
    ("item,coder,d\ns1,,1\n", "loadings", "line 2, column coder: the annotator is missing"),
    ("item,coder,d\ns1,a@b,1\n", "loadings", "a name of an annotator holds no @"),
    ("item,d\n,1\n", "loadings", "line 2, column item: the item is missing"),
    ("item,d@anna\ns1,1\n", "loadings", "line 1, column d@anna: a name of a domain has"),
    ("item,a b,a_b\ns1,1,1\n", "loadings", "line 1, column a_b: the column 'a b' has the same"),
    ("item,P\ns1,1\n", "positions", "the leaning of party 'P' is not known"),
    ("item,party,position\ns1,P,1\n", "positions", "the leaning of party 'P' is not known"),
    ("item,party,position,leaning\ns1,P,1,up\n", "positions", "'up' is not one of"),
    ("item,party,position,leaning\ns1,P,1,left\ns2,P,1,right\n", "positions",
     "line 3, column leaning: 'right', but 'left' in an earlier row of 'P'"),
    ("item,party,position,leaning\ns1,P,1,left\ns1,P,0,left\n", "positions",
     "'s1' of this party is in line 2 already"),
    ("item,party,position,leaning\ns1,,1,left\n", "positions", "the party is missing"),
]  # fmt: skip


def test_a_fault_names_line_and_column_and_nothing_is_kept(workspace, bank):
    before = editing.load(workspace, bank)
    for text, holds, words in FAULTS:
        with pytest.raises(BankError) as refused:
            bring(workspace, bank, text, holds=holds)
        assert words in str(refused.value)
        assert "nothing was kept" in str(refused.value)
    assert editing.load(workspace, bank) == before
    assert len(editing.versions(workspace, bank)) == 1


def test_files_that_cannot_be_used_at_all_are_refused_with_a_reason(workspace, bank):
    with pytest.raises(FileError, match="no column holds -1, 0 and 1"):
        bring(workspace, bank, "item,text\ns1,hello\n")
    table = loadings.read_item_table("t.csv", b"item,d\ns1,1\n")
    with pytest.raises(FileError, match="there is no column 'x'"):
        loadings.addition(workspace, bank, [table], [loadings.ItemColumns("x", ("d",))])
    with pytest.raises(BankError, match="annotator 'anna' is in"):
        bring(workspace, bank, "item,d\ns1,1\n", "item,d\ns2,1\n", names=("anna.csv", "anna.csv"))
    with pytest.raises(BankError, match="There is a bank 'three' already"):
        bring(workspace, "", FILE, title="three")


def test_items_the_bank_does_not_have_are_left_out_on_demand(workspace, bank):
    text = "id,d\ns1,1\nother,-1\nmore,1\n"
    with pytest.raises(BankError, match=r"'other' \(and 1 more\).*or leave out the items"):
        bring(workspace, bank, text)
    assert bring(workspace, bank, text, skip_unknown=True).version == 2
    assert item_of(workspace, bank, "s1").loadings["d"] == 1
    table = loadings.read_item_table("t.csv", text.encode())
    assert loadings.likely_bank(workspace, table) == bank


def test_imported_answers_take_the_new_version_and_analyses_read_it(workspace):
    answers = b"item,answer,model\ns1,agree,p\ns2,disagree,p\ns3,agree,p\n"
    imports.import_tidy(workspace, "people.csv", answers, study="people", bank=imports.NEW_BANK)
    (code,) = {b.code for b in editing.summaries(workspace)} & {"people"}
    saved = bring(workspace, code, FILE)
    assert saved.studies == ("people",)
    assert bank_of(workspace, "people").domains() == ()
    bank_attachment.attach(workspace, "people", code)
    own = bank_of(workspace, "people")
    assert [item.loadings for item in own.items] == [
        {"welfare": 1, "law_and_order": -1},
        {"welfare": 0, "law_and_order": 0},
        {"welfare": -1},
    ]
    assert bring(workspace, code, FILE).studies == ()

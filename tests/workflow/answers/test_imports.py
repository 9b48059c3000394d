"""Importing answers: names, scores, banks and who answered."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from core.domain.characters import readable
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.domain.study import Design
from core.errors import DesignError, FileError, UserError
from core.store import banks as bank_store
from core.workflow.answers import bank_attachment, exports, imports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.statistics import analyses

ODD_NAMES = ["a\nb", "a\u202eb", "a\x07b", "a\tb", "a\u2066b", "a\u2028b"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_one_rule_for_names_in_designs_imports_and_their_files(workspace, name):
    (said,) = [t for t in studies.check(workspace, Design(name, "attitudes_20", ())) if "name" in t]
    assert "character that cannot be seen" in said
    plain = b"item,answer\nq1,1\n"
    with pytest.raises(FileError, match="character that cannot be seen"):
        imports.import_tidy(workspace, "x.csv", plain, study=name)
    # in a file, a character that no file should hold has become its escape, which can be seen
    for column in () if readable(name) == r"a\u0007b" else ("study", "instrument"):
        text = f'item,answer,{column}\nq1,1,fine\nq2,1,"{name}"\n'
        with pytest.raises(FileError, match=rf"answer 2, column {column}.*cannot be seen"):
            imports.import_tidy(workspace, "x.csv", text.encode())
    assert studies.list_studies(workspace) == ()


def test_the_store_itself_takes_no_study_of_such_a_name(workspace):
    from core.store import studies as store

    with pytest.raises(DesignError, match="cannot be seen"):
        store.check_name(workspace.database, "a\nb")
    with pytest.raises(DesignError, match="is empty"):
        store.check_name(workspace.database, " ")


def trust_bank(code="trust"):
    """Four items, the second and fourth reverse-keyed, five points."""
    items = tuple(
        Item(f"TR-{n}", (Wording("en", f"Text {n}."),), "trust", -1 if n in (2, 4) else 1)
        for n in (1, 2, 3, 4)
    )
    return Instrument(code, "Trust", items, (BUILT_IN["likert_5"],))


@pytest.fixture
def on_file(workspace):
    bank_store.save_draft(workspace.database, trust_bank(), expected_revision=None, summary="t")
    return workspace


def people(header="person,item,answer", items=("tr_1", "tr_2", "tr_3", "tr_4"), score=None):
    """Five people of one mind: person p answers p, and 6 - p to the reversed items."""
    rows = []
    for p in range(1, 6):
        for n, item in enumerate(items, 1):
            answer = 6 - p if n in (2, 4) else p
            rows.append(f"p{p},{item},{answer}" + (f",{score(p, answer)}" if score else ""))
    return "\n".join([header + (",score" if score else ""), *rows]).encode()


def alpha_of(workspace, study):
    return float(
        analyses.run(workspace, "internal_consistency", [study], {}, {}).tables[0].frame["alpha"][0]
    )


def exported(workspace, study):
    return pd.read_csv(io.BytesIO(exports.export_tidy(workspace, study)), dtype={"answer": str})


def test_a_bank_that_holds_the_items_is_found_and_keys_the_answers(on_file):
    """After keying, everybody answers every item alike, so alpha is 1."""
    told = []
    (done,) = imports.import_tidy(on_file, "mine.csv", people(), report=told.append)
    assert (done.instrument, done.created_instrument) == ("trust", False)
    assert done.about_bank == "4 of 4 item codes match."
    assert told == ["The column 'person' says who answered. It is taken as the context."]
    frame = exported(on_file, "mine")
    assert frame["item"].tolist()[:4] == ["TR-1", "TR-2", "TR-3", "TR-4"]
    assert frame["score"].tolist() == [p for p in range(1, 6) for _ in range(4)]
    assert alpha_of(on_file, "mine") == pytest.approx(1)


def test_a_preview_says_which_bank_and_how_many_codes_match(on_file):
    found = imports.preview_tidy(on_file, "mine.csv", people())
    assert [one.instrument for one in found.studies] == ["trust"]
    assert found.studies[0].about_bank == "4 of 4 item codes match."
    assert found.studies[0].n_contexts == 5
    assert found.remarks == ("The column 'person' says who answered. It is taken as the context.",)
    made = imports.preview_tidy(on_file, "mine.csv", people(), bank=imports.NEW_BANK).studies[0]
    assert made.creates_instrument
    assert made.about_bank.startswith("Made from the file; the answers are unkeyed.")
    assert "Bank 'trust' may hold these items: 4 of 4 item codes match." in made.about_bank


def test_a_bank_that_lacks_an_item_or_an_option_is_proposed_and_not_taken(on_file):
    found = imports.preview_tidy(on_file, "m.csv", people(items=("tr_1", "tr_2", "tr_3", "other")))
    assert found.studies[0].creates_instrument
    words = "Bank 'trust' may hold these items: 3 of 4 item codes match."
    assert words in found.studies[0].about_bank
    with pytest.raises(FileError, match=r"has no item .other. .3 of 4 item codes match"):
        imports.preview_tidy(
            on_file, "m.csv", people(items=("tr_1", "tr_2", "tr_3", "other")), bank="trust"
        )
    half = imports.preview_tidy(on_file, "m.csv", people(items=("tr_1", "tr_2", "a", "b")))
    words = "Bank 'trust' may hold these items: 2 of 4 item codes match."
    assert words in half.studies[0].about_bank
    less = imports.preview_tidy(on_file, "m.csv", people(items=("tr_1", "a", "b")))
    assert "may hold" not in less.studies[0].about_bank
    seven = people().replace(b",5\n", b",7\n")
    found = imports.preview_tidy(on_file, "m.csv", seven)
    assert found.studies[0].creates_instrument
    assert "'7' is not an option of the format 'likert_5'" in found.studies[0].about_bank
    with pytest.raises(FileError, match="'7' is not an option of the format 'likert_5'"):
        imports.preview_tidy(on_file, "m.csv", seven, bank="trust")
    with pytest.raises(FileError, match="There is no bank 'none'"):
        imports.preview_tidy(on_file, "m.csv", seven, bank="none")


def test_where_two_banks_fit_none_is_taken_unasked(on_file):
    bank_store.save_draft(on_file.database, trust_bank("twin"), expected_revision=None, summary="t")
    found = imports.preview_tidy(on_file, "m.csv", people()).studies[0]
    assert found.creates_instrument
    assert "These banks on file fit: 'trust', 'twin'. Choose the one" in found.about_bank
    chosen = imports.preview_tidy(on_file, "m.csv", people(), bank="twin").studies[0]
    assert chosen.about_bank == "4 of 4 item codes match."


def test_answers_in_another_language_do_not_attach_to_a_bank_by_its_codes(on_file):
    languages = {"zh": True, "en": False, "EN": False}
    for language, creates in languages.items():
        header, *rows = people().decode().splitlines()
        text = "\n".join([f"{header},language", *(f"{row},{language}" for row in rows)]).encode()
        found = imports.preview_tidy(on_file, "m.csv", text).studies[0]
        assert found.creates_instrument is creates, language
    assert (
        "Answers are in zh; the bank is in en."
        in imports.preview_tidy(on_file, "m.csv", text.replace(b",EN", b",zh"))
        .studies[0]
        .about_bank
    )


def test_a_few_items_of_a_large_bank_do_not_decide_for_it(on_file):
    one = b"person,item,answer\np1,TR-1,4\np2,TR-1,2\n"
    assert imports.preview_tidy(on_file, "m.csv", one).studies[0].creates_instrument
    taken = imports.preview_tidy(on_file, "m.csv", one, bank="trust").studies[0]
    assert taken.about_bank == "1 of 1 item codes match; the bank has 4 items."


@pytest.mark.parametrize(
    "header",
    [
        "Person",
        "PARTICIPANT",
        "respondent_id",
        "Subject",
        "participant_id",
        "Subject ID",
        "person_id",
        "id",
    ],
)
def test_a_column_of_people_is_the_context(workspace, header):
    told = []
    imports.import_tidy(workspace, "m.csv", people(f"{header},item,answer"), report=told.append)
    assert told == [f"The column '{header}' says who answered. It is taken as the context."]
    frame = exported(workspace, "m")
    assert frame["context"].tolist() == [f"p{p}" for p in range(1, 6) for _ in range(4)]
    assert header not in frame


def test_names_and_addresses_among_tags_are_told_before_anything_is_kept(workspace):
    rows = b"person,item,answer,E-mail address,mood\np1,q1,4,a@example.org,good\n"
    remarks = imports.preview_tidy(workspace, "m.csv", rows).remarks
    assert remarks[-1].startswith(
        "Names or addresses of people come into the database and into exports: E-mail address."
    )


def test_numbers_of_rows_and_people_beside_contexts_stay_tags(workspace):
    numbered = b"id,item,answer\n1,q1,4\n2,q2,2\n"
    assert imports.preview_tidy(workspace, "m.csv", numbered).tags == ("id",)
    beside = b"person,context,item,answer\na,x,q1,4\nb,y,q1,2\n"
    found = imports.preview_tidy(workspace, "m.csv", beside)
    assert (found.tags, found.remarks) == (("person",), ())


def test_scores_that_are_those_of_the_bank_are_derived(on_file):
    data = people(score=lambda p, answer: p)  # reversed already, as the bank does
    imports.import_tidy(on_file, "m.csv", data)
    assert exported(on_file, "m")["score"].tolist() == [p for p in range(1, 6) for _ in range(4)]
    stored = on_file.database.rows("select count(score) from response")
    assert stored == [(0,)]


def test_scores_against_the_bank_are_refused_until_the_user_says_what_they_are(on_file):
    """Raw points in the column: eight of twenty differ, for 3 is its own mirror."""
    raw = people(score=lambda p, answer: answer)
    words = (
        r"8 of 20 scores do not fit the bank 'trust'\. The first is answer 2, item 'TR-2', form "
        r"'original': the answer '5' has the score 5, and the bank gives 1\."
    )
    with pytest.raises(FileError, match=words):
        imports.import_tidy(on_file, "m.csv", raw)
    assert studies.list_studies(on_file) == ()
    imports.import_tidy(on_file, "m.csv", raw, study="raw", scores="raw")
    assert alpha_of(on_file, "raw") == pytest.approx(1)
    imports.import_tidy(on_file, "m.csv", raw, study="keyed", scores="keyed")
    frame = exported(on_file, "keyed")
    assert frame["score"].tolist() == frame["answer"].astype(float).tolist()
    again = exports.export_tidy(on_file, "keyed").replace(b"\nkeyed,", b"\nagain,")
    imports.import_tidy(on_file, "m.csv", again, scores="keyed")
    assert exports.export_tidy(on_file, "again") == again


def test_items_per_call_and_history_come_back_as_they_were_and_keep_answers_apart(workspace):
    lines = ["study,item,answer,items_per_call,history", "m,q1,1,1,", "m,q1,2,10,", "m,q1,1,,own"]
    imports.import_tidy(workspace, "m.csv", "\n".join([*lines, "m,q1,2,,10"]).encode())
    data = exports.export_tidy(workspace, "m")
    rows = pd.read_csv(io.BytesIO(data), dtype="str").fillna("")
    assert rows["items_per_call"].tolist() == ["1", "10", "", ""]
    assert rows["history"].tolist() == ["", "", "own", "10"]
    imports.import_tidy(workspace, "m.csv", data.replace(b"\nm,", b"\nn,"))
    assert exports.export_tidy(workspace, "n").replace(b"\nn,", b"\nm,") == data
    assert workspace.database.rows("select count(distinct trial_id) from trial") == [(8,)]


def test_answers_without_these_columns_keep_the_ids_that_they_always_had(workspace):
    imports.import_tidy(workspace, "m.csv", b"study,item,answer,model\nm,q1,1,x\nm,q2,2,x")
    ids = [row[0] for row in workspace.database.rows("select trial_id from trial order by ordinal")]
    assert ids == [6597884717643456447, 1123883022468251935]  # as before there were such columns


@pytest.mark.parametrize("scores", ["bank", "keyed", "raw"])
def test_scores_that_the_format_cannot_give_are_refused(on_file, scores):
    tenfold = people(score=lambda p, answer: 10 * p)
    with pytest.raises(FileError, match="20 of 20 scores do not fit the bank 'trust'"):
        imports.import_tidy(on_file, "m.csv", tenfold, scores=scores)
    with pytest.raises(FileError, match="scores do not fit"):
        imports.import_tidy(on_file, "m.csv", tenfold, scores=scores, bank=imports.NEW_BANK)
    refused = b"item,answer,status,score\nTR-1,,refused,3\n"
    with pytest.raises(FileError, match="1 of 1 scores do not fit"):
        imports.import_tidy(on_file, "m.csv", refused, scores=scores, bank="trust")
    assert studies.list_studies(on_file) == ()


def test_without_a_bank_scores_decide_only_when_the_user_says_so(workspace):
    """Words have the points that their scores say, unless an item turns them round."""
    plain = b"item,answer,score\nq1,yes,1\nq2,no,0\n"
    imports.import_tidy(workspace, "plain.csv", plain)
    assert exported(workspace, "plain")["score"].tolist() == [1.0, 0.0]
    turned = b"item,answer,score\nq1,yes,1\nq2,yes,0\nq1,no,0\n".replace(b"q1,no", b"q3,no")
    with pytest.raises(FileError, match="3 of 3 scores do not fit"):
        imports.import_tidy(workspace, "turned.csv", turned)
    imports.import_tidy(workspace, "turned.csv", turned, scores="keyed")
    assert exported(workspace, "turned")["score"].tolist() == [1.0, 0.0, 0.0]


def test_a_bank_imported_after_its_answers_keys_them(workspace):
    """The answers came first; the bank of the same code comes later and is attached."""
    imports.import_tidy(workspace, "trust.csv", people(), study="pilot")
    unkeyed = exports.export_tidy(workspace, "pilot")
    mine = exported(workspace, "pilot")
    assert mine["score"].tolist() == mine["answer"].astype(float).tolist()
    assert [s.code for s in bank_attachment.studies_without_bank(workspace)] == ["pilot"]
    later = editing.import_bank(workspace, editing.ImportedBank(trust_bank(), (), ())).instrument
    assert later.code == "trust_2"
    ((study, match),) = bank_attachment.studies_for_bank(workspace, later)
    assert (study, match.words) == ("pilot", "4 of 4 item codes match")
    before = analyses.revision(workspace, ["pilot"])
    done = bank_attachment.attach(workspace, "pilot", "trust_2")
    assert (done.bank, done.about_bank, done.n_scores) == ("trust_2", "4 of 4 item codes match.", 0)
    assert analyses.revision(workspace, ["pilot"]) != before
    assert alpha_of(workspace, "pilot") == pytest.approx(1)
    frame = exported(workspace, "pilot")
    assert set(frame["format"]) == {"likert_5"}
    assert set(frame["instrument"]) == {"trust_2"}
    was = pd.read_csv(io.BytesIO(unkeyed), dtype={"answer": str})
    assert frame["answer"].tolist() == was["answer"].tolist()
    assert frame["context"].tolist() == was["context"].tolist()
    assert studies.load(workspace, "pilot").design.instrument == "trust_2"
    assert bank_attachment.studies_without_bank(workspace) == ()
    archived = {b.code: b.archived for b in editing.summaries(workspace)}
    assert archived["trust"], "the bank made from the answers is put away"
    again = exports.export_tidy(workspace, "pilot").replace(b"\npilot,", b"\nagain,")
    imports.import_tidy(workspace, "x.csv", again)
    assert exports.export_tidy(workspace, "again") == again


def test_scores_of_the_file_are_derived_once_a_bank_is_attached(workspace):
    data = people(score=lambda p, answer: 6 - answer)
    imports.import_tidy(workspace, "m.csv", data, scores="keyed")
    assert not bank_attachment.is_unkeyed(workspace, "m")
    notes = analyses.run(workspace, "item_statistics", ["m"], {}, {}).cautions
    assert "was said to have reversed them; no bank confirms it" in notes[0]
    bank_store.save_draft(workspace.database, trust_bank(), expected_revision=None, summary="t")
    done = bank_attachment.attach(workspace, "m")
    assert (done.bank, done.n_scores) == ("trust", 16)  # a three is its own mirror
    assert exported(workspace, "m")["score"].tolist() == [p for p in range(1, 6) for _ in range(4)]


def test_a_bank_that_lacks_items_or_options_is_not_attached(on_file):
    odd = people(items=("tr_1", "tr_2", "tr_3", "other"))
    imports.import_tidy(on_file, "odd.csv", odd)
    half = imports.preview_tidy(on_file, "m.csv", people(items=("tr_1", "tr_2", "a", "b")))
    words = "Bank 'trust' may hold these items: 2 of 4 item codes match."
    assert words in half.studies[0].about_bank
    less = imports.preview_tidy(on_file, "m.csv", people(items=("tr_1", "a", "b")))
    assert "may hold" not in less.studies[0].about_bank
    seven = people().replace(b",5\n", b",7\n")
    imports.import_tidy(on_file, "seven.csv", seven)
    before = [exports.export_tidy(on_file, study) for study in ("odd", "seven")]
    with pytest.raises(UserError, match=r"no item 'other' \(3 of 4 item codes match\)"):
        bank_attachment.attach(on_file, "odd", "trust")
    with pytest.raises(UserError, match=r"No bank holds all.*'trust': 3 of 4 item codes match"):
        bank_attachment.attach(on_file, "odd")
    with pytest.raises(UserError, match="'7' is not an option of the format 'likert_5'"):
        bank_attachment.attach(on_file, "seven", "trust")
    with pytest.raises(UserError, match="There is no bank 'none'"):
        bank_attachment.attach(on_file, "seven", "none")
    assert [exports.export_tidy(on_file, study) for study in ("odd", "seven")] == before


def explained(result):
    helps = [column.help for table in result.tables for column in table.columns]
    return " ".join([result.method, *result.all_notes, *helps])


def test_no_analysis_claims_reverse_keying_of_answers_without_a_bank(workspace):
    """Every analysis that can be computed of such answers; with the bank they all may say so."""
    imports.import_tidy(workspace, "m.csv", many(60))
    claims = {}
    for bank in ("", "trust"):
        if bank:
            bank_store.save_draft(
                workspace.database, trust_bank(), expected_revision=None, summary="t"
            )
            bank_attachment.attach(workspace, "m", bank)
        for analysis in analyses.all_analyses():
            try:
                result = analyses.run(workspace, analysis.name, ["m"], {}, {})
            except UserError:
                continue
            claims[analysis.name, bool(bank)] = "after reverse-keying" in explained(result)
            assert ("are unkeyed" in explained(result)) == (not bank), analysis.name
    assert len([name for name, keyed in claims if not keyed]) >= 6
    assert not any(claim for (_, keyed), claim in claims.items() if not keyed)
    assert any(claim for (_, keyed), claim in claims.items() if keyed)


def many(n):
    """Answers of n people to the four items, differing in a fixed way."""
    rows = [
        f"p{p},tr_{i},{(p * (i + 2) + p // 5 + i) % 5 + 1}" for p in range(n) for i in (1, 2, 3, 4)
    ]
    return "\n".join(["person,item,answer", *rows]).encode()


WORDS = (
    "item,word,rank,language,format,repetition,answer,status\n"
    "w1,peace,7,en,comedy_tragedy,1,comedy,\nw2,war,,en,comedy_tragedy,1,tragedy,\n"
    "w1,和平,7,zh,comedy_tragedy,1,comedy,\nw3,,2,,comedy_tragedy,1,,neutral\n"
)


def test_words_and_ranks_of_a_file_make_a_list_of_words(workspace):
    (made,) = imports.import_tidy(workspace, "mine.csv", WORDS.encode())
    assert (made.created_instrument, made.about_bank) == (
        True,
        "Made from the file, with its words.",
    )
    bank = editing.load(workspace, "mine").instrument
    assert (bank.kind, bank.languages) == ("words", ("en", "zh"))
    assert [item.rank for item in bank.items] == [7, None, 2]
    texts = [(item.text("en"), item.text("zh")) for item in bank.items]
    assert texts == [("peace", "和平"), ("war", ""), ("", "")]
    header, first, *_ = exports.export_tidy(workspace, "mine", "csv").decode().splitlines()
    cells = dict(zip(header.split(","), first.split(","), strict=True))
    assert (cells["word"], cells["rank"]) == ("peace", "7")


def test_a_list_of_words_is_taken_unasked_only_where_its_words_are_those_of_the_file(workspace):
    imports.import_tidy(workspace, "mine.csv", WORDS.encode())
    again, other = WORDS.encode(), WORDS.replace("peace", "piece").encode()
    (same,) = imports.import_tidy(workspace, "again.csv", again, study="again")
    (new,) = imports.import_tidy(workspace, "other.csv", other, study="other")
    assert (same.instrument, new.instrument) == ("mine", "other")
    said = "item 'w1' is the word 'peace', and the file says 'piece'"
    with pytest.raises(FileError, match=said):
        imports.import_tidy(workspace, "third.csv", other, study="third", bank="mine")
    with pytest.raises(FileError, match=said):
        imports.import_tidy(workspace, "mine.csv", other, study="fourth")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("w1,a,1,en\nw1,b,1,en", "line 3, column word: 'b' is not the word of item 'w1' in line 2"),
        ("w1,a,1,en\nw1,b,2,zh", "line 3, column rank: '2' is not the rank of item 'w1' in line 2"),
        ("w1,a,1.5,en", "line 2, column rank: '1.5' is not a whole number from 0 up"),
        ("w1,a,-1,en", "line 2, column rank: '-1' is not a whole number"),
        ("w1,a,9999999999,en", "line 2, column rank: '9999999999' is not a whole number"),
    ],
)
def test_words_and_ranks_that_contradict_each_other_are_refused_with_the_line(
    workspace, lines, said
):
    rows = [f"{line},{n},comedy" for n, line in enumerate(lines.split("\n"), 1)]
    text = "\n".join(["item,word,rank,language,repetition,answer", *rows])
    with pytest.raises(FileError, match=said):
        imports.import_tidy(workspace, "x.csv", text.encode())
    assert studies.list_studies(workspace) == ()


def test_answers_that_are_no_finite_numbers_are_words_without_points(workspace):
    data = b"item,answer\nq1,1\nq2,inf\nq3,nan\n"
    (done,) = imports.import_tidy(workspace, "n.csv", data, bank=imports.NEW_BANK)
    (known,) = editing.load(workspace, done.instrument).instrument.formats
    assert {option.code: option.points for option in known.options} == dict.fromkeys(
        ["1", "inf", "nan"]
    )

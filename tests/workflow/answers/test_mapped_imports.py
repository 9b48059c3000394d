"""People's answers from wide and long files, through a mapping, to the statistics."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core import __main__ as command_line
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.errors import FileError
from core.store import banks as bank_store
from core.workflow.answers import browsing, imports, mappings
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.statistics import analyses
from tests.people_files import EXPECTED, ITEMS, SUBSCALES, files

FILES = files()


def described(mapping):
    """The mapping with what a user types in: the scale, keys and subscales."""
    new = mappings.NewBank("My scale", tuple(EXPECTED["reversed"]), SUBSCALES)
    return replace(mapping, bank="", new_bank=new)


def alphas(workspace, study, missing):
    result = analyses.run(workspace, "internal_consistency", [study], {"missing": missing}, {})
    return result.tables[0].frame.set_index("subscale")["alpha"]


def bring_in(workspace, name, change=described, **options):
    data = FILES[name]
    mapping = change(mappings.guessed(workspace, mappings.open_file(name, data)))
    return imports.import_tidy(workspace, name, data, mapping=mapping, **options)[0]


@pytest.mark.parametrize("name", FILES)
def test_alpha_of_a_wide_file_of_every_kind_is_that_of_psych(workspace, name):
    done = bring_in(workspace, name)
    assert done.n_rows == 40 * 22
    for missing in ("listwise", "pairwise"):
        found = alphas(workspace, done.study, missing)
        for scale in ("F1", "F2"):
            expected = EXPECTED[scale][missing]["alpha"]
            assert found[scale] == pytest.approx(expected, abs=1e-12)


def test_labels_and_missing_values_of_spss_become_options_texts_and_reasons(workspace):
    done = bring_in(workspace, "people.sav")
    bank = editing.load(workspace, done.instrument).instrument
    (known,) = bank.formats
    assert [o.code for o in known.options] == ["0", "1", "2", "3", "4", "5"]
    assert known.options[5].labels == {"en": "Strongly agree"}
    assert bank.items[2].text("en") == "Statement 3."
    assert [item.code for item in bank.items if item.keyed == -1] == EXPECTED["reversed"]
    rows = browsing.page(workspace, done.study, {}, "", limit=1000)[0]
    missing = rows[rows["status"] != "answered"]
    assert missing["status"].value_counts().to_dict() == {"no_answer": 9, "refused": 9}
    assert set(missing["reply"]) == {"-9 (No answer)", "-8 (Refused to say)"}


def test_people_stand_beside_a_model_on_item_statistics(workspace):
    items = tuple(
        Item(code.upper(), (Wording("en", f"Statement {code[1:]}."),), "s") for code in ITEMS
    )
    known = BUILT_IN["likert_6"]
    bank_store.save_draft(
        workspace.database,
        Instrument("mine", "Mine", items, (known,)),
        expected_revision=None,
        summary="t",
    )
    rows = [f"{item},{(p + n) % 6},m1,{p}" for p in range(5) for n, item in enumerate(ITEMS)]
    text = "\n".join(
        ["item,answer,model,repetition", *(r[:-1] + str(int(r[-1]) + 1) for r in rows)]
    )
    (model,) = imports.import_tidy(workspace, "model.csv", text.encode(), bank="mine")
    people = bring_in(workspace, "people.sav", lambda guess: guess)
    assert people.instrument == model.instrument == "mine"
    assert "22 of 22 item codes match" in people.about_bank
    both = analyses.run(
        workspace, "item_statistics", [model.study, people.study], {"by": ("model",)}, {}
    )
    items = both.tables[0].frame
    assert items.groupby("model").size().to_dict() == {"m1": 22, "people": 22}
    alone = analyses.run(workspace, "item_statistics", [people.study], {}, {}).tables[0].frame
    beside = items[items["model"] == "people"].set_index("item")["mean"]
    assert beside.to_dict() == alone.set_index("item")["mean"].to_dict()


def test_the_command_line_writes_a_mapping_and_imports_with_it(workspace, tmp_path, capsys):
    workspace.close()
    database = str(workspace.database.path)
    file, mapping, again = (tmp_path / name for name in ("people.sav", "m.yaml", "wave2.csv"))
    file.write_bytes(FILES["people.sav"])
    assert command_line.main(["mapping", str(file), "--out", str(mapping), "--db", database]) == 0
    guess = mappings.read_mapping("m.yaml", mapping.read_bytes())
    mapping.write_text(mappings.write_mapping(described(guess)))
    run = ["import", str(file), "--mapping", str(mapping), "--study", "one", "--db", database]
    assert command_line.main(run) == 0
    assert "Study 'one': 880 answers" in capsys.readouterr().out
    again.write_bytes(FILES["people.csv"].replace(b"gender", b"sex"))
    run = ["import", str(again), "--mapping", str(mapping), "--db", database]
    assert command_line.main(run) == 2
    assert "wave2.csv, mapping: the file has no column 'gender'" in capsys.readouterr().err
    out = tmp_path / "alpha.csv"
    run = ["analyze", "internal_consistency", "--study", "one", "--option", "missing=listwise"]
    assert command_line.main([*run, "--out", str(out), "--db", database]) == 0
    found = pd.read_csv(out).set_index("subscale")["alpha"]
    assert found["F1"] == pytest.approx(EXPECTED["F1"]["listwise"]["alpha"], abs=1e-12)


def test_a_bank_chosen_at_the_import_takes_the_place_of_the_one_in_the_mapping(workspace):
    with pytest.raises(FileError, match="'0' is none of the answers 1, 2, 3, 4, 5"):
        bring_in(workspace, "people.csv", study="b", bank="attitudes_20")
    assert not studies.list_studies(workspace)


def test_a_new_bank_asked_for_at_the_import_has_the_options_and_keys_of_the_mapping(workspace):
    options = {"0": "Low", "5": "High"}
    change = lambda guess: replace(described(guess), options=options)  # noqa: E731
    done = bring_in(workspace, "people.csv", change, bank=imports.NEW_BANK)
    assert "Reverse-keyed: 6 of 22 items. Answers: 0, 1, 2, 3, 4, 5." in done.about_bank
    (known,) = editing.load(workspace, done.instrument).instrument.formats
    assert known.options[5].labels == {"en": "High"}
    plain = bring_in(
        workspace,
        "people.csv",
        lambda guess: replace(guess, bank="attitudes_20", new_bank=None),
        study="plain",
        bank=imports.NEW_BANK,
    )
    assert "Reverse-keyed: 0 of 22 items. Answers: 0, 1, 2, 3, 4, 5." in plain.about_bank


def test_a_bank_of_other_texts_is_not_taken_for_its_codes(workspace):
    items = tuple(Item(code, (Wording("en", f"Word {code}."),), "s") for code in ITEMS)
    bank_store.save_draft(
        workspace.database,
        Instrument("mine", "Mine", items, (BUILT_IN["likert_6"],)),
        expected_revision=None,
        summary="t",
    )
    file = mappings.open_file("people.sav", FILES["people.sav"])
    guess = mappings.guessed(workspace, file)
    assert (guess.bank, guess.new_bank.title) == ("", "people")
    (match,) = (m for m in mappings.banks_of(workspace, file, guess) if m.bank.code == "mine")
    assert match.problem == "The texts of the items are others than those of the bank."


def test_a_file_of_two_studies_makes_its_bank_once(workspace):
    text = b"study,person,q1,q2\na,1,1,2\na,2,2,1\nb,1,2,2\n"
    columns = {"study": "study", "person": "context", "q1": "item", "q2": "item"}
    mapping = mappings.AnswerMapping("wide", columns, new_bank=mappings.NewBank("Two", ("q2",)))
    done = imports.import_tidy(workspace, "x.csv", text, mapping=mapping)
    assert [(one.study, one.instrument, one.created_instrument) for one in done] == [
        ("a", "two", True),
        ("b", "two", False),
    ]
    said = "Made from the file. Reverse-keyed: 1 of 2 items. Answers: 1, 2."
    assert done[0].about_bank == said
    again = imports.import_tidy(
        workspace,
        "y.csv",
        b"person,q1\n1,1\n",
        mapping=replace(
            mapping,
            columns={"person": "context", "q1": "item"},
            new_bank=mappings.NewBank("Two", ("q1",)),
        ),
    )
    assert again[0].instrument == "two_2"


def test_cells_with_the_labels_of_a_bank_on_file_become_its_codes(workspace):
    items = (Item("q1", (Wording("en", "One."),)), Item("q2", (Wording("en", "Two."),), "", -1))
    bank_store.save_draft(
        workspace.database,
        Instrument("two", "Two", items, (BUILT_IN["likert_5"],)),
        expected_revision=None,
        summary="t",
    )
    columns = {"id": "context", "q1": "item", "q2": "item"}
    mapping = mappings.AnswerMapping("wide", columns, bank="two")
    text = b"id,q1,q2\n1,Agree,strongly disagree\n2,5,2\n"
    (done,) = imports.import_tidy(workspace, "w.csv", text, mapping=mapping)
    rows = browsing.page(workspace, done.study, {}, "", limit=9)[0]
    assert rows["option"].tolist() == ["4", "1", "5", "2"]
    with pytest.raises(FileError, match=r"w.csv, line 2, column q2: '6' is none of the answers 1"):
        imports.import_tidy(workspace, "w.csv", b"id,q1,q2\n1,2,6\n", mapping=mapping, study="b")
    pair = Instrument("pair", "Pair", items, (BUILT_IN["yes_no"],))
    bank_store.save_draft(workspace.database, pair, expected_revision=None, summary="t")
    yes = replace(mapping, bank="pair")
    imports.import_tidy(workspace, "p.csv", b"id,q1,q2\n1,YES,No\n", mapping=yes)
    rows = browsing.page(workspace, "p", {}, "", limit=9)[0]
    assert rows["option"].tolist() == ["yes", "no"]
    named = replace(mapping, bank="three")
    with pytest.raises(FileError, match="There is no bank 'three'"):
        imports.import_tidy(workspace, "w.csv", text, mapping=named, study="b")

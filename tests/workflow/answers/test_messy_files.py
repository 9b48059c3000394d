"""One set of answers in the files of many tools: alpha is that of the plain file, by the commands.

The answers, words and people are made up. What is left out, taken as missing or open is printed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import __main__ as command_line
from core.workflow.answers import browsing, imports, mappings
from core.workflow.banks import editing
from tests.people_files import spss, xlsx

N, ITEMS = 60, [f"i{number}" for number in range(1, 7)]
WORDS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]


def answers():
    random = np.random.default_rng(29)
    shared = random.normal(size=(N, 1))
    return np.clip(np.round(3 + shared + random.normal(size=(N, len(ITEMS)))), 1, 5).astype(int)


X = answers()
"""60 people and 6 items, from 1 to 5."""


def alpha(scores):
    """Cronbach (1951), by its formula."""
    k = scores.shape[1]
    return k / (k - 1) * (1 - scores.var(axis=0, ddof=1).sum() / scores.sum(axis=1).var(ddof=1))


def csv(header, rows):
    return "\n".join(
        [header, *(",".join(f'"{c}"' if "," in str(c) else str(c) for c in row) for row in rows)]
    ).encode()


def words(row):
    return [WORDS[answer - 1] for answer in row]


def google():
    question = "How far do you agree, thinking of last month?"
    header = ["Timestamp", "Email Address", "Your full name"]
    header += [f"{question} [I like thing {n}, really]" for n in range(1, 7)]
    header += ["Which tools do you use?"]
    rows = [
        [
            "05.03.2026 09:00:11",
            f"p{n}@example.org",
            f"Ann {n}",
            *words(row),
            "Paper, Screen" if n % 2 else "Screen",
        ]
        for n, row in enumerate(X)
    ]
    return csv(",".join(f'"{one}"' for one in header), rows)


def no_break_spaces():
    """Labels that look alike: spaces of other kinds, at the end, and capital letters."""
    ways = (str, str.upper, lambda w: w.replace(" ", "\u00a0"), lambda w: f"{w} \u00a0")
    rows = [[way(word) for way, word in zip((*ways, *ways), words(row), strict=False)] for row in X]
    return csv(",".join(ITEMS), rows)


def two_headers():
    """A question over six columns, its statements below, and a column without a name."""
    header = (
        "Respondent ID,Collector ID,Start Date,IP Address,First Name,How far do you agree?,,,,,"
    )
    statements = ",,,,," + ",".join(f"I like thing {n}." for n in range(1, 7))
    rows = [
        [1000 + n, 44, "03/05/2026 09:10:11 AM", "192.0.2.1", "", *words(row)]
        for n, row in enumerate(X)
    ]
    return csv(header, [statements.split(","), *rows])


def old_qualtrics():
    header = "V1,V2,V3,V8,V10," + ",".join(f"Q1_{n}" for n in range(1, 7)) + ","
    texts = ["ResponseID", "ResponseSet", "Name", "StartDate", "Finished"]
    texts += [f"How far...-I like thing {n}." for n in range(1, 7)] + [""]
    rows = [
        [f"R_{n}", "Default Response Set", "Anonymous", "2013-07-18 08:28:09", 1, *row, ""]
        for n, row in enumerate(X)
    ]
    return csv(header, [texts, *rows])


def titled_workbook():
    """Two title rows, joined cells above the names, labels as text, and -99."""
    rows = [[f"P{n}", 20 + n % 30, *words(row)] for n, row in enumerate(X)]
    rows.append(["P60", 33, *["-99"] * 6])
    return xlsx(
        ["Study of 5 March 2026, in Ulm"],
        [],
        ["Exported by the lab"],
        ["", "", "Attitudes", "", "", "", "", ""],
        ["code", "age", *ITEMS],
        *rows,
    )


def column(name, values):
    def file():
        return csv(
            f"pid,{name}," + ",".join(ITEMS),
            [[n + 1, values[n % len(values)], *row] for n, row in enumerate(X)],
        )

    return file


def labelled(labels):
    """An SPSS file in which six further people have the labelled codes, none of them declared."""
    frame = pd.DataFrame(X, columns=ITEMS).astype(float)
    for place, code in enumerate([*labels] * 2):
        frame.loc[N + place] = [*X[place][:5], code]
    scale = dict(enumerate(WORDS, start=1))
    return spss(frame, variable_value_labels=dict.fromkeys(ITEMS, scale | labels))


def impossible_date():
    frame = pd.DataFrame(X, columns=ITEMS).astype(float)
    frame.insert(0, "answered_on", [13_900_000_000.0] * (N - 1) + [1e12])
    return spss(frame, variable_format={"answered_on": "DATETIME20"})


FILES = {
    "google.csv": (google, ["Left out", "'Email Address', 'Your full name'"]),
    "spelling.csv": (no_break_spaces, []),
    "two_headers.csv": (two_headers, ["from row 1", "from row 2", "'IP Address', 'First Name'"]),
    "old.csv": (old_qualtrics, ["from row 2", "Left out", "'V3'"]),
    "titled.xlsx": (titled_workbook, ["names of the columns are taken from row 5"]),
    "time.csv": (column("time", [1, 2]), ["'time' is kept as a tag: its values are 1, 2"]),
    "study.csv": (column("study", ["AGES", "CART"]), ["one file is one study"]),
    "subject.csv": (
        column("subject", ["math", "art"]),
        ["'subject' is kept as a group"],
    ),
    "respondent.csv": (column("respondent", ["parent", "child"]), ["like a group"]),
    "near.sav": (
        lambda: labelled({7.0: "Refusal", 8.0: "Don't know", 9.0: "No answer"}),
        ["7 = Refusal, 8 = Don't know, 9 = No answer"],
    ),
    "zero.sav": (lambda: labelled({0.0: "Missing"}), ["0 = Missing"]),
    "date.sav": (impossible_date, []),
}


@pytest.mark.parametrize("name", FILES)
def test_alpha_is_that_of_the_plain_file(workspace, tmp_path, capsys, name):
    make, told = FILES[name]
    workspace.close()
    file, mapping, out = (tmp_path / one for one in (name, "m.yaml", "alpha.csv"))
    file.write_bytes(make())
    database = ["--db", str(workspace.database.path)]
    assert command_line.main(["mapping", str(file), "--out", str(mapping), *database]) == 0
    said = capsys.readouterr().err
    for words_told in told:
        assert words_told in said
    run = ["import", str(file), "--mapping", str(mapping), "--study", "s", *database]
    assert command_line.main(run) == 0
    run = ["analyze", "internal_consistency", "--study", "s", "--option", "missing=listwise"]
    assert command_line.main([*run, "--out", str(out), *database]) == 0
    found = pd.read_csv(out)
    assert found["alpha"].tolist() == [pytest.approx(alpha(X), abs=1e-12)]
    assert found["n_items"].tolist() == [6]


def test_names_and_addresses_come_into_no_table(workspace):
    data = google()
    guess = mappings.guessed(workspace, mappings.open_file("google.csv", data))
    (done,) = imports.import_tidy(workspace, "google.csv", data, mapping=guess)
    shown = browsing.page(workspace, done.study, {}, "", limit=1000)[0].to_csv()
    assert "p17@example.org" not in shown
    columns = workspace.database.rows(
        "select table_name, column_name from information_schema.columns"
        " where data_type in ('VARCHAR', 'JSON') and table_schema = 'main'"
    )
    assert len(columns) > 20
    for owner, column in columns:
        texts = workspace.database.rows(f'select distinct "{column}"::varchar from "{owner}"')  # noqa: S608
        assert not [t for (t,) in texts if t and ("@example.org" in t or "Ann 17" in t)], owner


def test_texts_of_questions_become_texts_of_items(workspace):
    for name in ("google.csv", "two_headers.csv", "old.csv"):
        data = FILES[name][0]()
        guess = mappings.guessed(workspace, mappings.open_file(name, data))
        (done,) = imports.import_tidy(workspace, name, data, mapping=guess)
        bank = editing.load(workspace, done.instrument).instrument
        texts = [item.text("en").replace(", really", ".") for item in bank.items]
        assert texts == [f"I like thing {n}." for n in range(1, 7)], name


def test_an_early_and_a_late_date_are_read_as_they_stand(workspace):
    file = mappings.open_file("date.sav", impossible_date())
    assert file.values("answered_on") == ["2023-04-04T15:06:40", "33271-07-10T01:46:40"]

from __future__ import annotations

import csv
import errno
import io
import itertools
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import docx
import pytest

from core.__main__ import main
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import FaultServer, Step
from tests.workflow.respondents.test_connection import refusing
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

ROOT = Path(__file__).parents[2]
ASKED = "study: x\ninstrument: attitudes_20\nrespondents: [Simulated person]\n"
DESIGN = """
study: {study}
instrument: attitudes_20
respondents: [Simulated person]
languages: [en]
contexts:
  - {{code: a, text: You are a nurse.}}
  - {{code: b, text: You are a pilot.}}
  - {{code: c, text: You are a baker.}}
repetitions: 2
"""


def runner(path):
    """Runs verbs on the database at a path, in this process."""

    def run(*arguments):
        return main(["--db", str(path), *(str(a) for a in arguments)])

    run.path = path
    run.folder = path.parent
    return run


@pytest.fixture
def run(tmp_path, new_database):
    """Runs verbs on a database of its own that has been started before."""
    return runner(shutil.copyfile(new_database, tmp_path / "cli.duckdb"))


@pytest.fixture
def nothing_kept(tmp_path):
    """Runs verbs on a database that does not exist yet."""
    return runner(tmp_path / "cli.duckdb")


def test_the_database_may_be_named_after_an_action_too(run, capsys):
    assert main(["respondent", "list", "--db", str(run.path)]) == 0
    assert "Simulated person" in capsys.readouterr().out


def planned(run, study="s"):
    file = run.folder / f"{study}.yaml"
    file.write_text(DESIGN.format(study=study))
    assert run("plan", file, "--out", run.folder / "plan.csv") == 0


def test_the_whole_way_on_the_command_line(nothing_kept, capfd):
    run = nothing_kept
    assert run("init") == 0
    planned(run)
    plan = (run.folder / "plan.csv").read_text().splitlines()
    assert plan[0].startswith("# plan ")
    assert len(plan) == 2 + 3 * 20 * 2
    assert run("run", "s") == 0
    assert run("analyze", "item_statistics", "--study", "s", "--out", run.folder / "i.csv") == 0
    assert len((run.folder / "i.csv").read_text().splitlines()) == 21
    assert (
        run("analyze", "internal_consistency", "--study", "s", "--out", run.folder / "r.json") == 0
    )
    assert run("export", "s", run.folder / "out") == 0
    assert run("list") == 0
    told = capfd.readouterr().out
    with (run.folder / "out" / "answers.csv").open(newline="") as file:
        usable = sum(row["answer"] != "" for row in csv.DictReader(file))
    assert 0 < usable < 120  # the simulated person refuses now and then
    words = f"120 of 120 replied, {usable} of 120 usable"
    assert f"s\t{words}\tattitudes_20" in told
    assert f"Study 's': {words}.\nWithout a usable answer: {120 - usable} refused.\n" in told
    assert run("list", "analyses") == 0
    assert "item_statistics" in capfd.readouterr().out


def test_the_same_plan_in_another_database_gives_the_same_bytes(new_database, tmp_path):
    outputs = []
    for number in range(2):
        run_path = str(shutil.copyfile(new_database, tmp_path / f"{number}.duckdb"))
        file = tmp_path / "s.yaml"
        file.write_text(DESIGN.format(study="s"))
        assert main(["--db", run_path, "plan", str(file)]) == 0
        assert main(["--db", run_path, "run", "s"]) == 0
        out = tmp_path / f"{number}.csv"
        assert (
            main(
                ["--db", run_path, "analyze", "item_statistics", "--study", "s", "--out", str(out)]
            )
            == 0
        )
        outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


def test_command_line_and_workflow_give_the_same_numbers(run):
    planned(run)
    run("run", "s")
    run("analyze", "item_statistics", "--study", "s", "--out", run.folder / "i.csv")
    workspace = open_workspace(run.path)
    result = analyses.run(workspace, "item_statistics", ["s"], {}, {})
    expected = analyses.export.table_csv(result.tables[0])
    workspace.close()
    assert (run.folder / "i.csv").read_bytes() == expected


def test_filters_groups_and_options(run):
    planned(run)
    run("run", "s")
    out = run.folder / "o.csv"
    assert (
        run(
            "analyze",
            "internal_consistency",
            "--study",
            "s",
            "--by",
            "repetition",
            "--option",
            "ci_level=0.9",
            "--where",
            "item=" + ",".join(items(run)[:6]),
            "--out",
            out,
        )
        == 0
    )
    lines = out.read_text().splitlines()
    assert lines[0].startswith("repetition,")
    assert {line.split(",")[0] for line in lines[1:]} == {"1", "2"}


def test_tables_and_charts_of_a_paper_are_written(run, capfd):
    planned(run)
    run("run", "s")
    word, page, latex, charts = (
        run.folder / name for name in ("all.docx", "one.html", "x.tex", "c.zip")
    )
    analyze = ("analyze", "item_statistics", "--study", "s")
    assert run(*analyze, "--charts", charts, "--out", word) == 0
    assert run(*analyze, "--table", "summary", "--out", page) == 0
    assert run(*analyze, "--out", latex) == 0
    assert len(docx.Document(str(word)).tables) == 2
    assert page.read_text(encoding="utf-8").count("<table") == 1
    assert latex.read_text(encoding="utf-8").count(r"\caption") == 2
    with zipfile.ZipFile(charts) as archive:
        endings = {name.partition(".")[2] for name in archive.namelist()}
        assert archive.read("chart_1.png").startswith(b"\x89PNG")
    assert endings == {"txt", "png", "svg", "vl.json"}
    capfd.readouterr()
    assert run("analyze", "cfa_check", "--study", "s", "--charts", charts) == 2
    assert capfd.readouterr().err


def test_scripts_come_beside_the_result_and_their_lack_is_no_error(run, capfd):
    planned(run)
    run("run", "s")
    table, scripts = run.folder / "out.csv", run.folder / "scripts.zip"
    ask = ("--study", "s", "--out", table, "--syntax", scripts)
    assert run("analyze", "item_statistics", *ask) == 0
    names = zipfile.ZipFile(scripts).namelist()
    assert {"data.csv", "settings.csv", "items.R", "items.py", "shared.py"} <= set(names)
    table.unlink()
    scripts.unlink()
    capfd.readouterr()
    assert run("analyze", "score_distribution", *ask) == 0
    assert table.exists()
    assert not scripts.exists()
    assert f"{scripts} is not written. There is no script for" in capfd.readouterr().err


def items(run):
    workspace = open_workspace(run.path)
    codes = [item.code for item in studies.frozen_bank(workspace, "s").items]
    workspace.close()
    return codes


def test_a_cost_cap_given_on_the_command_line_holds(run, capfd, monkeypatch):
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        person = service(server.base_url, at_once=4, price_in=1.0, price_out=2.0, max_tokens=50)
        workspace = open_workspace(run.path)
        record = freeze(workspace, person, n_personas=5)
        cap = studies.size(workspace, record.design).respondents[0].cost_low / 2
        workspace.close()
        assert run("run", "study", "--cost-cap", f"{cap:.9f}") == 2
        assert "cost cap of $" in capfd.readouterr().err
        assert 0 < len(server.chats) < record.n_trials
    workspace = open_workspace(run.path)
    ended = control.progress(workspace, "study")
    workspace.close()
    assert (ended.state, ended.n_done) == ("paused", len(server.chats))
    assert 0 < ended.cost <= cap


def test_a_list_of_words_is_made_from_texts_and_saved_or_written(run, capfd):
    texts, stop, out = (run.folder / name for name in ("t.txt", "stop.txt", "words.csv"))
    texts.write_text("The dogs ran. A dog barks in London. Cats run.")
    stop.write_text("cat")
    words = ("bank", "words", texts, "--language", "en", "--leave-out", stop)
    assert run(*words, "--code", "mine", "--out", out, "--top", 2) == 0
    told = capfd.readouterr().out.splitlines()
    assert told[0] == "1 noun and 1 verb from 1 text with 10 tokens and 10 distinct words."
    assert "Left out: names: 1 word, 1 token (london)." in told
    assert "Left out: words of your list: 1 word, 1 token (cat)." in told
    assert told[-1] == "Bank 'mine': 2 items."
    with out.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["record"] == "item"]
    known = [(r["text_en"], r["genre"], r["rank"], r["item.count"]) for r in rows]
    assert known == [("dog", "noun", "1", "2"), ("run", "verb", "2", "2")]
    assert run(*words, "--genres", "noun", "--both-genres", "--out", out) == 0
    for wrong, says in (
        (words, "no place to go"),
        ((*words, "--code", "x", "--genres", "adjective"), "No part of speech"),
        ((*words, "--code", "x", "--language", "fr"), "no tagger for 'fr'"),
        (("bank", "words", run.folder / "none.txt", "--language", "en", "--code", "x"), "Check"),
    ):
        assert run(*wrong) == 2
        assert says in capfd.readouterr().err


def test_answers_are_imported_with_their_bank_and_get_one_later(run, capfd):
    """A column of persons, codes in capitals, scores already reversed, then a bank that is late."""
    assert run("bank", "export", "attitudes_20", "--out", run.folder / "late.csv") == 0
    text = (run.folder / "late.csv").read_text().replace("attitudes_20", "late")
    text = text.replace("Attitudes to nature", "Late attitudes to nature", 1)
    (run.folder / "late.csv").write_text(text)
    codes = [line.split(",")[1] for line in text.splitlines() if line.startswith("item,")]
    file = run.folder / "mine.csv"
    file.write_text("\n".join(["Person,item,answer", *(f"p,{c.upper()},4" for c in codes)]))
    assert run("import", file) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[-2] == "The column 'Person' says who answered. It is taken as the context."
    assert said[-1] == ("Study 'mine': 20 answers, bank 'attitudes_20'. 20 of 20 item codes match.")
    assert run("import", file, "--study", "bare", "--new-bank") == 0
    assert "the answers are unkeyed" in capfd.readouterr().out
    assert run("bank", "import", run.folder / "late.csv") == 0
    assert "To attach the bank, run: attach bare --bank late" in capfd.readouterr().out
    assert run("attach", "bare", "--bank", "late") == 0
    assert "Study 'bare': bank 'late', version 1. 20 of 20 item" in capfd.readouterr().out
    file.write_text("\n".join(["item,answer,score", *(f"{c},4,4" for c in codes)]))
    arguments = ("import", file, "--study", "scored", "--bank", "attitudes_20")
    assert run(*arguments) == 2
    assert "10 of 20 scores do not fit the bank" in capfd.readouterr().err
    assert run(*arguments, "--scores", "raw") == 0
    assert run(*arguments, "--new-bank") == 2


def test_banks_go_out_and_come_in(run, capfd):
    file = run.folder / "bank.csv"
    assert run("bank", "export", "attitudes_20", "--out", file) == 0
    capfd.readouterr()
    assert run("bank", "import", file) == 0  # the same bank: no copy is made
    assert capfd.readouterr().out.startswith("Bank 'attitudes_20': 20 items.")
    changed = run.folder / "changed.csv"
    changed.write_bytes(file.read_bytes().replace(b"statements)", b"items)", 1))
    assert run("bank", "import", changed) == 0
    assert "attitudes_20_2" in capfd.readouterr().out
    again = run.folder / "again.csv"
    run("bank", "export", "attitudes_20_2", "--out", again)
    assert again.read_bytes().replace(b"attitudes_20_2", b"attitudes_20") == changed.read_bytes()


def test_loadings_come_into_a_bank_as_a_new_version(run, capfd):
    """A file with decimals and a column of text, an item too many, and a file of each annotator."""
    file = run.folder / "domains.csv"
    lines = ["statement_id,raw,welfare", "attitudes_99,x,1.0"]
    file.write_text("\n".join(lines))
    assert run("bank", "loadings", file) == 2
    assert "No bank has an item of this file." in capfd.readouterr().err
    assert run("bank", "export", "attitudes_20", "--out", run.folder / "bank.csv") == 0
    text = (run.folder / "bank.csv").read_text()
    codes = [line.split(",")[1] for line in text.splitlines() if line.startswith("item,")]
    file.write_text("\n".join([*lines, f"{codes[0]},y,-1.0", f"{codes[1]},y,0.0"]))
    assert run("bank", "loadings", file) == 2
    assert "line 2, column statement_id: the bank has no item" in capfd.readouterr().err
    assert run("bank", "loadings", file, "--skip-unknown") == 0
    assert capfd.readouterr().out.splitlines() == [
        "Bank 'attitudes_20', version 1: 1 of 20 items load on at least one of 1 domain.",
        "domains.csv: columns not read: raw.",
        "Not in the bank, so left out: 1 item.",
    ]
    for name in ("anna", "ben"):
        (run.folder / f"{name}.csv").write_text(f"code,welfare\n{codes[0]},1\n")
    files = (run.folder / "anna.csv", run.folder / "ben.csv")
    assert run("bank", "loadings", *files, "--bank", "attitudes_20") == 0
    said = capfd.readouterr().out
    assert "version 2: 1 of 20 items load on at least one" in said
    assert "2 annotators (anna, ben) coded 1 item." in said
    assert run("bank", "loadings", file, "--new-bank", "Mine", "--item", "raw") == 2
    assert run("bank", "loadings", file, "--new-bank", "Mine", "--bank", "x") == 2
    rows = f"item,party,position,leaning\n{codes[0]},reds,1,left\n"
    (run.folder / "parties.csv").write_text(rows)
    assert run("bank", "positions", run.folder / "parties.csv") == 0
    assert "1 party: 1 of 20 items have the position" in capfd.readouterr().out
    assert run("bank", "export", "attitudes_20", "x") == 2
    assert "bank export takes one name, and 2 are given" in capfd.readouterr().err


@pytest.fixture(scope="module")
def shared(tmp_path_factory, new_database):
    """Runs verbs on a database that holds one study; for verbs that are refused."""
    path = tmp_path_factory.mktemp("shared") / "cli.duckdb"
    run = runner(shutil.copyfile(new_database, path))
    planned(run)
    return run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nothing"), "no study 'nothing'"),
        (("analyze", "alfa", "--study", "s"), "no analysis 'alfa'"),
        (("analyze", "item_statistics", "--study", "nothing"), "no study 'nothing'"),
        (("analyze", "item_statistics", "--study", "s", "--option", "x=1"), "no option 'x'"),
        (("analyze", "item_statistics", "--study", "s", "--option", "x"), "no '='"),
        (
            ("analyze", "item_statistics", "--study", "s", "--where", "colour=red"),
            "no factor 'colour'",
        ),
        (
            ("analyze", "item_statistics", "--study", "s", "--where", "language=xx"),
            "No planned answers",
        ),
        (("analyze", "item_statistics", "--study", "s", "--option", "ci_level=2"), "ci_level"),
        (("import", "missing.csv"), "cannot be read"),
        (("plan", "missing.yaml"), "cannot be read"),
        (("bank", "export", "nothing"), "no bank 'nothing'"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(shared, capfd, arguments, words):
    assert shared(*arguments) == 2
    error = capfd.readouterr().err.strip()
    assert words in error
    assert len(error.splitlines()) == 1
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("study: [", "not valid YAML"),
        ("- 1", "this is not a list of keys"),
        ("study: x\ninstrument: attitudes_20\n", "'respondents' is missing"),
        (
            "study: x\ninstrument: attitudes_20\nrespondents: [a]\nrepetition: 2",
            "the key 'repetition' is unknown. Known are 'study', ",
        ),
        ("study: x\ninstrument: attitudes_20\nrespondents: [Nobody]", "no respondent 'Nobody'"),
        ("study: x\ninstrument: nothing\nrespondents: [Simulated person]", "no bank 'nothing'"),
        (
            "study: x\ninstrument: attitudes_20\nrespondents: [Simulated person]\nlanguages: [fr]",
            "'fr'",
        ),
        ("study: x\ninstrument: brand_20\nrespondents: [Simulated person]", "entity"),
        (ASKED + "temperatures: [-5]", "between 0 and 2"),
        (ASKED + "temperatures: [.nan]", "between 0 and 2"),
        (ASKED + "temperatures: [0.7, 0.7]", "stands twice"),
        (
            "study: x\ninstrument: attitudes_20\nrespondents: [Anybody]\nrepetitions: many",
            "repetitions",
        ),
    ],
)
def test_a_bad_design_is_told_and_nothing_is_kept(shared, capfd, text, words):
    file = shared.folder / "bad.yaml"
    file.write_text(text)
    assert shared("plan", file) == 2
    assert words in capfd.readouterr().err
    assert studies_listed(shared, capfd) == ["s"]


def studies_listed(run, capfd):
    assert run("list") == 0
    return [line.split("\t")[0] for line in capfd.readouterr().out.splitlines()]


BASE = "study: x\ninstrument: attitudes_20\nrespondents: [Simulated person]\n"
BOMB = "entities:\n- &a [x, x]\n" + "".join(
    f"- &{new} [*{old}, *{old}]\n" for old, new in itertools.pairwise("abcdefgh")
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BASE + "repetitions: " + "9" * 5000, "a number is too long"),
        (BASE + "repetitions: " + "9" * 90, "repetitions: this number is too large"),
        (BASE + "notes: 2024-13-99", "a value cannot be read"),
        (BASE + "repetitions: !!int abc", "a value cannot be read"),
        (BASE + "entities: " + "[" * 3000, "are nested"),
        (BASE + "7: x\nzeta: y", "the key '7' is unknown"),
        (BASE + BOMB, "an earlier part is repeated with '*a'"),
        (BASE + "entities: [[a], {b: c}]", "entities, entry 1: this is not a text"),
        (BASE + "languages: [no]", "languages, entry 1: this is not a text"),
        (BASE + 'notes: "\\ud800"', "half a character"),
        (BASE + "study: y", "line 4: the key 'study' is there twice"),
        ((BASE + "notes: Käse").encode("latin-1"), "line 4: byte"),
        ((BASE + "notes: a\0b"), "NUL"),
    ],
)
def test_a_hostile_design_is_told_in_one_line(shared, capfd, text, words):
    file = shared.folder / "bad.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert shared("plan", file) == 2
    error = capfd.readouterr().err.strip()
    assert words in error
    assert len(error) < 500
    assert studies_listed(shared, capfd) == ["s"]


def test_a_reader_that_has_enough_ends_the_list_quietly(run):
    command = [sys.executable, "-m", "core", "--db", str(run.path), "list", "banks"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 0


def test_the_database_in_use_is_told_to_a_second_process(workspace):
    freeze(workspace, simulated(), n_personas=1)
    done = subprocess.run(
        [sys.executable, "-m", "core", "--db", workspace.database.path, "list"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "already running (process" in done.stderr


def test_a_respondent_is_added_tested_and_listed_without_the_pages(run, capfd):
    with FaultServer(refusing("temperature"), key=None) as server:
        add = ("respondent", "add", "--model", "m", "--address", server.base_url)
        assert run(*add, "First", "--set", "temperature=0.5") == 0
        assert run("respondent", "test", "First") == 2
        out, err = capfd.readouterr()
        assert "temperature\trefused\t" in out
        assert "seed\ttaken\t" in out
        assert "does not take the request with these settings" in err
        settings = ("--set", "seed=3", "--set", "reasoning_effort=low")
        assert run(*add, "Second", *settings) == 0
        assert run("respondent", "test", "Second") == 0
        body = server.chats[-1].body
        assert "replied in" in capfd.readouterr().out
        assert (body["model"], body["reasoning_effort"]) == ("m", "low")
    assert run("respondent", "list") == 0
    assert f"Second\tapi\tm\t{server.base_url}" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--address", "https://a.example/v1", "--service", "OpenAI"), "needs one address"),
        ((), "needs one address"),
        (("--service", "Nobody"), "no service 'Nobody'"),
        (("--service", "OpenAI", "--set", "temperature=hot"), "The setting temperature is 'hot'"),
        (("--service", "OpenAI", "--set", "seed=1.5"), "a whole number from 0 up"),
        (("--service", "OpenAI", "--set", "api_key=sk-123"), "which holds a key"),
        (("--service", "OpenAI", "--set", "temperature"), "has no '='"),
    ],
)
def test_a_respondent_that_cannot_be_is_refused(shared, capfd, arguments, words):
    assert shared("respondent", "add", "X", "--model", "m", *arguments) == 2
    assert words in capfd.readouterr().err
    assert shared("respondent", "list") == 0
    assert "X\t" not in capfd.readouterr().out


def test_a_known_service_brings_its_address_and_key_variable(run):
    assert run("respondent", "add", "X", "--model", "m", "--service", "OpenAI") == 0
    workspace = open_workspace(run.path)
    found = catalog.by_label(workspace, "X")
    workspace.close()
    assert (found.base_url, found.key_variable) == ("https://api.openai.com/v1", "OPENAI_API_KEY")


def test_a_run_says_which_calls_are_out_in_a_batch(run, capfd, monkeypatch):
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        workspace = open_workspace(run.path)
        freeze(workspace, service(server.base_url), n_personas=1)
        workspace.close()
        assert run("batch", "export", "study", run.folder / "batch") == 0
        capfd.readouterr()
        assert run("run", "study") == 0
        out, err = capfd.readouterr()
        assert "0 of 20 replied" in out
        assert "20 calls are out in a batch. Take in its replies: page Collect, Batches" in out
        assert "Remove the cause" not in err
        assert not server.chats


def test_a_run_counts_the_replies_that_ended_for_an_unknown_reason(run, capfd, monkeypatch):
    ended = {"choices": [{"message": {"content": "4"}, "finish_reason": "eos_limit"}]}
    with FaultServer(lambda number, _: Step(extra=ended) if number < 3 else None) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        workspace = open_workspace(run.path)
        freeze(workspace, service(server.base_url), n_personas=1)
        workspace.close()
        assert run("run", "study") == 0
        expected = "3 replies: The service ended the reply for a reason that Inkblot does not know"
        assert f"{expected}: eos_limit" in capfd.readouterr().err
    workspace = open_workspace(run.path)
    now = control.progress(workspace, "study")
    workspace.close()
    assert [count for _, count in now.noted] == [3]


def test_a_study_is_amended_and_goes_on(run, capfd, monkeypatch):
    with FaultServer(refusing("temperature")) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        workspace = open_workspace(run.path)
        freeze(workspace, service(server.base_url), n_personas=1)
        workspace.close()
        assert run("run", "study") == 2
        amend = ("amend", "study", "--respondent", "Service", "--reason", "Refused.")
        assert run(*amend, "--without", "top_p") == 2
        assert "cannot be left out" in capfd.readouterr().err
        assert run(*amend, "--without", "temperature") == 0
        assert "temperature left to the service. Reason: Refused." in capfd.readouterr().out
        assert run("run", "study") == 0


def test_the_second_phase_is_planned_and_run(run, capfd):
    workspace = open_workspace(run.path)
    freeze(workspace, simulated(), bank="opinions_30", n_personas=0)
    workspace.close()
    assert run("plan-opposing", "study") == 2
    run("run", "study")
    capfd.readouterr()
    assert run("plan-opposing", "study", "--template", "standard") == 2
    assert "states no opinion" in capfd.readouterr().err
    assert run("plan-opposing", "study") == 0
    assert "30 more trials" in capfd.readouterr().out
    assert run("run", "study") == 0
    assert run("list") == 0
    assert "60 of 60" in capfd.readouterr().out


def test_the_database_may_be_named_after_the_verb_and_help_says_so(tmp_path, capfd):
    path = tmp_path / "after.duckdb"
    assert main(["init", "--db", str(path)]) == 0
    assert path.exists()
    for verb in ("init", "list", "run", "analyze"):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert "--db" in capfd.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--db", "caf\udce9.duckdb"),
        ("analyze", "item_statistics", "--study", "s", "--where", "language=caf\udce9"),
        ("caf\udce9",),
    ],
)
def test_an_argument_that_is_not_utf8_is_named_and_nothing_is_opened(
    nothing_kept, capfd, arguments
):
    assert nothing_kept(*arguments) == 2
    said = capfd.readouterr().err
    assert "caf\\udce9" in said
    assert "not valid UTF-8" in said
    assert not nothing_kept.path.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="arguments of other systems are text")
def test_a_study_name_in_the_bytes_of_latin_1_ends_with_one_line(run):
    done = subprocess.run(
        [sys.executable, "-m", "core", "--db", str(run.path), "run", b"caf\xe9"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_a_file_that_cannot_be_written_is_as_it_was_before(run, capfd, monkeypatch):
    planned(run)
    bank, folder = run.folder / "bank.csv", run.folder / "files"
    assert run("bank", "export", "attitudes_20", "--out", bank) == 0
    assert run("export", "s", folder) == 0
    before = {file: file.read_bytes() for file in run.folder.rglob("*.csv")}
    full_when_writing(monkeypatch, room=100)
    assert run("bank", "export", "attitudes_20", "--out", bank) == 2
    assert run("export", "s", folder) == 2
    assert run("export", "s", run.folder / "new") == 2
    assert capfd.readouterr().err.count("No space left") == 3
    assert {file: file.read_bytes() for file in run.folder.rglob("*.csv")} == before
    assert not (run.folder / "new").exists()
    assert not list(run.folder.rglob("*.part"))


def full_when_writing(monkeypatch, room):
    """A disk that takes the first bytes of a file and no more."""

    def write(self, data):
        io.FileIO.write(self, data[:room])
        raise OSError(errno.ENOSPC, "No space left on device")

    full = type("Full", (io.FileIO,), {"write": write})
    monkeypatch.setattr(
        "core.files.writing.open",
        lambda file, mode, opener: full(file, mode, opener=opener),
        raising=False,
    )


@pytest.mark.parametrize("amount", ["2", "2 bananas"])
def test_an_amount_of_memory_that_is_none_is_refused_in_plain_words(
    run, capfd, monkeypatch, amount
):
    monkeypatch.setenv("INKBLOT_MEMORY", amount)
    assert run("list") == 2
    said = capfd.readouterr().err
    assert f"INKBLOT_MEMORY is '{amount}'" in said
    assert "for example 2GB" in said


def test_an_amount_of_memory_may_be_written_in_small_letters(run, monkeypatch):
    monkeypatch.setenv("INKBLOT_MEMORY", "500 mb")
    assert run("list") == 0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (":memory:", "A database in memory keeps nothing."),
        ("what?/x.duckdb", "has a question mark"),
        ("~nobody_of_this_name/x.duckdb", "the home folder of nobody"),
    ],
)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_path_that_no_database_can_have_is_told(path, words, by, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INKBLOT_DB", path)
    option = ["--db", path] if by == "option" else []
    assert main([*option, "list", "banks"]) == 2
    assert words in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_a_path_may_begin_with_the_home_folder(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("INKBLOT_DB", "~/studies/x.duckdb")
    (tmp_path / "studies").mkdir()
    assert main(["init"]) == 0
    assert (tmp_path / "studies" / "x.duckdb").exists()
    assert "ready" in capsys.readouterr().out


def test_templates_are_listed_and_go_out_and_in(run, capfd):
    file = run.folder / "templates.yaml"
    assert run("template", "export", "standard", "--out", file) == 0
    file.write_text(file.read_text().replace("standard:", "house_style:", 1))
    assert run("template", "import", file) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "house_style\tnew"
    assert run("template", "list") == 0
    lines = capfd.readouterr().out.splitlines()
    assert "house_style\tStatement with listed options\town\tde,en,es,fr,ja,zh\t" in lines
    file.write_text(file.read_text().replace("{options}", "{optoins}", 1))
    assert run("template", "import", file) == 2
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1
    assert "templates.yaml, line 6, template 'house_style', language 'en', single" in said[0]
    assert "did you mean {options}?" in said[0]


def test_precision_is_simulated_before_anything_is_asked(run, tmp_path, capfd):
    design = tmp_path / "planned.yaml"
    personas = "".join(f"\n- {{code: p{n}, text: You are person {n}.}}" for n in range(12))
    design.write_text(ASKED + f"contexts:{personas}\n", encoding="utf-8")
    assert run("plan", design) == 0
    out = tmp_path / "precision.csv"
    command = ("precision", "x", "--target", "alpha=.5", "--replications", "3")
    assert run(*command, "--set", "loading=.6", "--out", out) == 0
    said = capfd.readouterr().err
    assert "Cronbach's α, of " in said
    assert "at the 12 planned contexts" in said
    assert "Simulated people are no models." in said
    rows = list(csv.DictReader(out.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["scale"] for row in rows] == ["nature", "technology"]
    assert {row["planned"] for row in rows} == {"12"}
    for wrong, words in (
        (("--set", "height=2"), "no setting 'height'"),
        (("--target", "alpha=wide"), "'wide' is not a number"),
        (("--respondent", "Nobody"), "does not ask the respondent 'Nobody'"),
    ):
        assert run(*command, *wrong) == 2
        assert words in capfd.readouterr().err


def test_a_report_is_written_in_every_format(run, capfd):
    planned(run)
    assert run("run", "s") == 0
    capfd.readouterr()
    page, word, text = (run.folder / f"r.{ending}" for ending in ("html", "docx", "txt"))
    chosen = ("--analysis", "reliability", "--option", "reliability.ci_level=0.9")
    for file in (page, word, text):
        assert run("report", "s", "--out", file, *chosen, "--author", "A. Author") == 0
    assert "planned; 120 were asked" in capfd.readouterr().err
    assert "A. Author" in page.read_text()
    assert "Confidence level: 0.9" in page.read_text()
    assert docx.Document(word).core_properties.author == "A. Author"
    assert text.read_text().startswith("The items are those of the bank")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "s", "--out", "r.pdf"], "r.pdf"),
        (["report", "nothing", "--out", "r.html"], "nothing"),
        (["report", "s", "--out", "r.html", "--analysis", "gone"], "gone"),
        (["report", "s", "--out", "r.html", "--option", "x=1"], "names no analysis"),
    ],
)
def test_a_report_that_cannot_be_made_is_told_in_one_line(run, capfd, arguments, words):
    planned(run)
    capfd.readouterr()
    assert run(*arguments) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert words in line

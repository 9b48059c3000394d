"""Respondents as a YAML file: there and back, and one message for each fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import __main__ as command_line
from core.domain.study import Respondent, SamplingSettings, SimulationSettings
from core.errors import FileError
from core.workflow.respondents import catalog, files

PEOPLE = (
    Respondent(
        "Small",
        "api",
        "small-1",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        SamplingSettings(
            temperature=None,
            max_tokens=20,
            per_minute=60,
            tokens_per_minute=9000,
            stream=True,
            price_in=1.0,
            price_out=2.5,
            price_cached=0.1,
            system_prompt="Be: short\nand kind.",
            extra_body={"reasoning_effort": "low", "stop": ["\n"]},
        ),
    ),
    Respondent("Mine", "api", "m", "https://models.example.org/v1", "", SamplingSettings()),
    Respondent(
        "Person",
        "simulated",
        "graded response model",
        sampling=catalog.SIMULATED.sampling,
        simulation=SimulationSettings(loading=0.5, seed=7),
    ),
    replace(catalog.LOCAL, label="Local", sampling=replace(catalog.LOCAL.sampling, at_once=2)),
)


def test_respondents_come_back_from_their_file_as_they_were(workspace):
    text = files.write_respondents(PEOPLE)
    assert files.read_respondents("r.yaml", text.encode()) == PEOPLE
    assert "service: OpenAI" in text
    done = files.import_respondents(workspace, "r.yaml", text.encode())
    assert done == files.ImportedRespondents(4, 0, 0)
    changed = text.replace("max_tokens: 20", "max_tokens: 30").encode()
    done = files.import_respondents(workspace, "r.yaml", changed)
    assert done == files.ImportedRespondents(0, 1, 3)
    assert catalog.by_label(workspace, "Small").sampling.max_tokens == 30


def test_a_service_without_settings_has_none_and_a_temperature_of_0_is_written(workspace):
    text = "respondents:\n- {label: A, address: https://models.example.org/v1, model: m}\n"
    (read,) = files.read_respondents("r.yaml", text.encode())
    sampling = read.sampling
    set_here = (sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.seed)
    assert set_here == (None,) * 4
    at_zero = replace(read, sampling=replace(sampling, temperature=0.0))
    assert "temperature: 0.0" in files.write_respondents([at_zero])
    assert "temperature" not in files.write_respondents([read])


BASE = """\
respondents:
- label: One
  address: https://models.example.org/v1
  model: m
  settings:
    temperature: 0.5
"""


@pytest.mark.parametrize(
    ("entry", "line", "words"),
    [
        ("label: Two\n  model: m", 7, "needs one address"),
        (
            "label: Two\n  service: OpenAI\n  address: https://a.example.org/v1\n  model: m",
            8,
            "needs one address",
        ),
        ("label: Two\n  service: Nobody\n  model: m", 8, "no service 'Nobody'"),
        ("label: Two\n  service: OpenAI", 7, "No model is chosen"),
        ("label: One\n  service: OpenAI\n  model: m", 7, "'One' is there twice"),
        ("label: Two\n  service: OpenAI\n  model: m\n  key: abc", 10, "the key 'key' is unknown"),
        (
            "label: Two\n  service: OpenAI\n  model: m\n  key_variable: sk-abcdefghijklmnopqrstuv",
            10,
            "looks like a key",
        ),
        (
            "label: Two\n  service: OpenAI\n  model: m\n  key_variable: my secret",
            10,
            "not the name of an environment variable",
        ),
        (
            "label: Two\n  service: OpenAI\n  model: m\n  settings:\n    temperature: hot",
            11,
            "not a number",
        ),
        ("label: Two\n  service: OpenAI\n  model: m\n  settings:\n    at_once: 0", 11, "too small"),
        ("label: Two\n  address: http://169.254.169.254/v1\n  model: m", 8, "inner workings"),
        (
            "label: Two\n  service: OpenAI\n  model: m\n  extra_body: {api_key: x}",
            7,
            "which holds a key",
        ),
        ("label: Two\n  kind: simulated\n  service: OpenAI", 9, "has no service"),
        (
            "label: Two\n  service: OpenAI\n  model: m\n  simulation: {loading: 0.5}",
            10,
            "Only a simulated respondent",
        ),
        ("label: Two\n  kind: robot", 8, "this is not"),
    ],
)
def test_a_respondent_that_cannot_be_used_is_named_by_its_line_and_nothing_changes(
    workspace, entry, line, words
):
    before = catalog.list_respondents(workspace)
    with pytest.raises(FileError) as raised:
        files.import_respondents(workspace, "r.yaml", f"{BASE}- {entry}\n".encode())
    assert f"r.yaml, line {line}" in raised.value.problem
    assert words in raised.value.problem
    assert "sk-abc" not in str(raised.value)
    assert catalog.list_respondents(workspace) == before


def test_files_of_respondents_and_prices_pass_through_the_command_line(tmp_path, capsys):
    def run(*words):
        code = command_line.main(["--db", str(tmp_path / "i.duckdb"), *map(str, words)])
        return code, capsys.readouterr()

    source, out = tmp_path / "r.yaml", tmp_path / "out.yaml"
    source.write_text(files.write_respondents(PEOPLE), encoding="utf-8")
    assert run("respondent", "import", source)[1].out == (
        "Respondents: 4 new, 0 changed, 0 as before.\n"
    )
    assert run("respondent", "export", "Small", "Mine", "--out", out)[0] == 0
    assert files.read_respondents("out.yaml", out.read_bytes()) == PEOPLE[:2]
    source.write_text("respondents: [{label: x}]", encoding="utf-8")
    code, said = run("respondent", "import", source)
    assert (code, said.err.count("\n")) == (2, 1)
    assert "line 1" in said.err
    words = ("--in", 1, "--out", 2.5, "--cached", 0.25, "--as-of", "2020-01-31", "--source", "list")
    assert run("price", "set", "small-1", *words)[0] == 0
    assert "look it up again" in run("price", "list")[1].out
    prices = tmp_path / "prices.csv"
    assert run("price", "export", "--out", prices)[0] == 0
    assert prices.read_text().splitlines()[1] == "small-1,1,2.5,0.25,2020-01-31,list"
    assert run("price", "import", prices)[1].out == "1 price saved.\n"
    assert run("price", "set", "m", "--in", 1, "--out", 1, "--as-of", "soon")[0] == 2

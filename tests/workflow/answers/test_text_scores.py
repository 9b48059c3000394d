"""Scores of texts are taken by every analysis of scores, on a real database and service."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.domain.instrument import Instrument, Item, Rating, ResponseFormat, Wording
from core.domain.study import Context, Design
from core.errors import NotEnoughData
from core.files.banks.reading import ImportedBank
from core.workflow.answers import imports, texts
from core.workflow.banks import editing, text_prompts
from core.workflow.designs import studies
from core.workflow.reports import choices
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, service

N_CONTEXTS = 6
STEREOTYPES = (("agentic", "male"), ("communal", "female"))


def n_kind(context, gender, rewritten):
    """How many communal words a letter holds, of 20; men have fewer, rewritten contexts more so."""
    return (1 if gender == "male" else 2) + context % 3 + (3 if rewritten else 0)


def letter(context, gender, rewritten):
    kind, leader = n_kind(context, gender, rewritten), 2 + (gender == "male") + context % 2
    return " ".join(["kind"] * kind + ["leader"] * leader + ["word"] * (20 - kind - leader))


def frames(result):
    return {table.name: table.frame for table in result.tables}


@pytest.fixture
def lists(workspace):
    words = (("agentic", "leader"), ("communal", "kind"))
    items = tuple(Item(entry, (Wording("en", entry),), name) for name, entry in words)
    free = ResponseFormat("free_text", ())
    editing.import_bank(
        workspace, ImportedBank(Instrument("lists", "", items, (free,), ("en",), kind="words"))
    )


@pytest.fixture
def letters(workspace, lists, monkeypatch):
    """Letters under six contexts and their rewritings, as one model wrote them."""

    def reply(number, body):
        told = " ".join(message["content"] for message in body["messages"])
        number = next(n for n in range(N_CONTEXTS) if f"person {n}." in told)
        gender = "female" if "Ann" in told else "male"
        return Step(content=letter(number, gender, "furious" in told))

    people = {"name": ["Ann | female", "Bob | male"]}
    text_prompts.create_descriptor_prompts(
        workspace, "letters", "A letter for {name}.", people, language="en"
    )
    originals = [Context(f"c{n}", f"You are person {n}.") for n in range(N_CONTEXTS)]
    rewritten = [
        Context(f"{own.code}r", f"{own.text} You are furious.", variant_of=own.code)
        for own in originals
    ]
    with FaultServer(script=reply) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        writer = service(server.base_url)
        catalog.save(workspace, writer)
        design = Design(
            study="letters",
            instrument="letters",
            respondents=(writer.label,),
            contexts=(*originals, *rewritten),
            templates=("free",),
        )
        studies.freeze(workspace, design)
        control.start(workspace, "letters")
        assert control.wait(workspace, "letters", every_s=0.02).n_done == 24
        yield server


def rates(rewritten):
    """Communal words in 100, over both letters of 20 words of a context."""
    return [
        sum(n_kind(n, gender, rewritten) for gender in ("male", "female")) / 40 * 100
        for n in range(N_CONTEXTS)
    ]


def test_letters_of_original_and_rewritten_contexts_are_paired_one_tailed(workspace, letters):
    options = {"factor": "rewriting", "alternative": "greater", "lists": "lists"}
    for name, table in (("score_correlations", "differences"), ("group_comparison", "tests")):
        result = analyses.run(workspace, name, ["letters"], options, {})
        row = frames(result)[table].set_index("scale").loc["agentic"]
        assert np.isnan(row["p"])  # in every context the same
        said = "Scores of texts are words of each list in 100 words (bank lists)."
        assert said in result.notes
    row = frames(result)["groups"].set_index(["scale", "group"])["mean"]
    assert row["communal", "original"] == pytest.approx(np.mean(rates(False)))
    assert row["communal", "rewritten"] == pytest.approx(np.mean(rates(True)))


def odds(words, total=20):
    return (words + 0.5) / (total - words + 0.5)


def test_odds_ratios_of_letters_are_scores_of_contexts(workspace, letters):
    options = {"factor": "rewriting", "lists": "lists", "stereotypes": STEREOTYPES}
    options |= {"alternative": "less"}
    result = analyses.run(workspace, "score_correlations", ["letters"], options, {})
    row = frames(result)["differences"].set_index("scale").loc["all items"]
    scores = {}
    for rewritten in (False, True):
        scores[rewritten] = [
            (
                np.log(odds(3 + n % 2) / odds(2 + n % 2))
                + np.log(odds(n_kind(n, "female", rewritten)) / odds(n_kind(n, "male", rewritten)))
            )
            / 2
            for n in range(N_CONTEXTS)
        ]
    other = stats.ttest_rel(scores[True], scores[False], alternative="less")
    assert (row["t"], row["df"], row["p"]) == pytest.approx((other.statistic, 5, other.pvalue))
    words = analyses.run(
        workspace,
        "odds_ratios",
        ["letters"],
        {"lists": "lists", "descriptor": "name.2", "first": "male", "first_lists": "agentic"},
        {},
    )
    by_context = frames(words)["scores"].set_index("context")["score"]
    assert by_context["c0"] == pytest.approx(scores[False][0])
    spread = analyses.run(workspace, "score_distribution", ["letters"], options_of(options), {})
    every = frames(spread)["scores"].set_index("subscale").loc["all items"]
    assert every["mean"] == pytest.approx(by_context.mean())
    assert every["n"] == 2 * N_CONTEXTS


def options_of(options):
    return {name: options[name] for name in ("lists", "stereotypes")}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ((("kindness", "male"),), "no list 'kindness'"),
        ((("agentic", "men"),), "not stereotypes of two groups"),
        ((("agentic", "male"), ("communal", "Ann")), "not stereotypes of two groups"),
    ],
)
def test_lists_and_groups_that_are_not_there_are_refused(workspace, letters, rows, problem):
    options = {"lists": "lists", "stereotypes": rows}
    with pytest.raises(NotEnoughData, match=problem) as caught:
        analyses.run(workspace, "score_distribution", ["letters"], options, {})
    assert caught.value.remedy


def test_filters_choose_texts_and_the_latest_lists_are_the_usual_ones(workspace, letters):
    result = analyses.run(
        workspace, "score_distribution", ["letters"], {}, {"context": [f"c{n}" for n in range(6)]}
    )
    row = frames(result)["scores"].set_index("subscale").loc["communal"]
    assert (row["n"], row["mean"]) == (6, pytest.approx(np.mean(rates(False))))


def test_without_contexts_each_text_is_a_row_and_models_are_paired_over_prompts(workspace, lists):
    free = ResponseFormat("free_text", ())
    prompts = tuple(Item(f"p{n}", (Wording("en", f"Story {n}"),)) for n in range(8))
    editing.import_bank(
        workspace,
        ImportedBank(Instrument("stories", "", prompts, (free,), ("en",), kind="prompts")),
    )
    n_kind_of = {"a": [0, 1, 2, 3, 1, 2, 3, 4], "b": [2, 2, 3, 5, 2, 5, 4, 4]}
    rows = [
        f"stories,p{n},text,{model},free_text,{' '.join(['kind'] * k + ['word'] * (10 - k))}"
        for model, counts in n_kind_of.items()
        for n, k in enumerate(counts)
    ]
    head = "instrument,item,answer,model,format,raw"
    imports.import_tidy(workspace, "s.csv", "\n".join([head, *rows]).encode(), study="stories")
    options = {"factor": "respondent", "by": (), "lists": "lists"}
    result = analyses.run(workspace, "group_comparison", ["stories"], options, {})
    row = frames(result)["tests"].set_index("scale").loc["communal"]
    other = stats.ttest_rel(n_kind_of["b"], n_kind_of["a"])
    assert (row["statistic"], row["n"]) == (pytest.approx(other.statistic), 8)


def test_ratings_of_a_judge_are_scores_of_the_writers_texts(workspace, letters, monkeypatch):
    def reply(number, body):
        prompt = body["messages"][-1]["content"]
        return Step(content=json.dumps({"warmth": 1 + prompt.count("kind")}))

    bank = texts.create_judge_bank(workspace, "letters", "Rate: {text}", (Rating("warmth", 1, 20),))
    with FaultServer(script=reply) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        judge = service(server.base_url, label="Judge")
        catalog.save(workspace, judge)
        design = Design("judged", bank.code, (judge.label,), templates=("free",))
        studies.freeze(workspace, design)
        control.start(workspace, "judged")
        control.wait(workspace, "judged", every_s=0.02)
    result = analyses.run(workspace, "score_distribution", ["judged"], {}, {})
    row = frames(result)["scores"].iloc[0]
    assert (row["respondent"], row["subscale"], row["n"]) == ("Service", "warmth", 12)
    expected = [
        1 + (n_kind(n, "male", r) + n_kind(n, "female", r)) / 2 for n in range(6) for r in (0, 1)
    ]
    assert row["mean"] == pytest.approx(np.mean(expected))
    options = {"groups": tuple((f"c{n}", "low" if n < 3 else "high") for n in range(6))}
    groups = frames(analyses.run(workspace, "group_comparison", ["judged"], options, {}))["groups"]
    assert groups["n"].tolist() == [3, 3]


def test_scores_of_texts_stand_beside_those_of_a_scale(workspace, letters):
    rows = [f"c{n},q{i},{1 + (n + i) % 5}" for n in range(6) for i in range(3)]
    imports.import_tidy(
        workspace, "a.csv", "\n".join(["context,item,answer", *rows]).encode(), study="scale"
    )
    result = analyses.run(workspace, "score_distribution", ["letters", "scale"], {}, {})
    scores = frames(result)["scores"]
    assert isinstance(scores, pd.DataFrame)
    assert set(scores["format"]) > {"per 100 words (lists)"}


def test_without_lists_of_words_the_score_is_the_number_of_words(workspace):
    free = ResponseFormat("free_text", ())
    prompts = (Item("p1", (Wording("en", "Write."),)),)
    bank = Instrument("stories", "", prompts, (free,), ("en",), kind="prompts")
    editing.import_bank(workspace, ImportedBank(bank))
    rows = [f"stories,p1,text,c{n},free_text,{' '.join(['word'] * (n + 1))}" for n in range(4)]
    text = "\n".join(["instrument,item,answer,context,format,raw", *rows])
    imports.import_tidy(workspace, "s.csv", text.encode(), study="stories")
    result = analyses.run(workspace, "score_distribution", ["stories"], {}, {})
    assert frames(result)["scores"]["mean"].item() == 2.5


def test_reports_offer_analyses_of_scores_for_texts(workspace, letters):
    offered = {offer.analysis.name: offer for offer in choices.offers(workspace, "letters")}
    for name in ("group_comparison", "score_distribution", "score_correlations"):
        assert not offered[name].fault
        assert not offered[name].usual
    assert offered["internal_consistency"].fault

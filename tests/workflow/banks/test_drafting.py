"""Texts drafted by models, with a real service on this machine, and what becomes of the drafts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.collect.runner import RetryPolicy
from core.domain.instrument import Instrument, Item, Wording
from core.errors import BankError
from core.store import banks as store
from core.workflow.banks import drafting, editing
from core.workflow.banks.drafting import DraftTarget, prompt
from core.workflow.banks.grid import GridTextColumn
from core.workflow.respondents import catalog
from core.workflow.respondents.catalog import LOCAL
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

CANARY = "sk-test-canary-0123456789"
SPANISH = DraftTarget(GridTextColumn("es"), "en")
NEGATION = DraftTarget(GridTextColumn("en", "negation"), "en")
QUICK = RetryPolicy(max_attempts=2, base_s=0.01, cap_s=0.02)


@pytest.fixture
def bank():
    texts = ("I like parks.", "I trust {entity}.", "Trains are fast.", "I read a lot.")
    items = tuple(Item(f"i{n}", (Wording("en", text),)) for n, text in enumerate(texts, 1))
    return Instrument("walks", "Walks", items, (), ("en", "es"))


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, CANARY)


def by_text(replies):
    """A server script that goes by the text it is given, so that order does not matter."""

    def script(_number, body):
        asked = body["messages"][-1]["content"]
        return next((step for text, step in replies.items() if asked.endswith(text)), None)

    return script


def run(workspace, bank, target, script, codes=("i1", "i2", "i3", "i4"), **settings):
    """Outcomes by item, why the rest was not asked, and the server as it was asked."""
    found = []
    with FaultServer(script) as server:
        catalog.save(workspace, service(server.base_url, **settings))
        reason = drafting.draft_texts(
            workspace, bank, codes, target, "Service", report=found.append, policy=QUICK
        )
    return {outcome.code: outcome for outcome in found}, reason, server


def kept(bank, target, outcomes, label="Service"):
    texts = {code: outcome.text for code, outcome in outcomes.items() if outcome.text}
    return drafting.add_drafts(bank, target.column, texts, label)


def test_drafts_are_kept_with_the_name_of_the_model_that_wrote_them(workspace, bank, key):
    script = by_text(
        {
            "I like parks.": Step(content="“Me gustan los parques.”\n"),
            "I trust {entity}.": Step(content="<think>hm</think>Confío en {entity}."),
            "Trains are fast.": Step(content="Los trenes son rápidos."),
            "I read a lot.": Step(content="Leo mucho."),
        }
    )
    outcomes, reason, server = run(workspace, bank, SPANISH, script, at_once=2, max_tokens=12)
    assert reason == ""
    drafted = kept(bank, SPANISH, outcomes)
    assert [item.wordings[-1] for item in drafted.items[:2]] == [
        Wording("es", "Me gustan los parques.", drafted_by="Service"),
        Wording("es", "Confío en {entity}.", drafted_by="Service"),
    ]
    assert server.max_in_flight <= 2
    bodies = [seen.body for seen in server.chats]
    assert {body["max_tokens"] for body in bodies} == {drafting.MIN_TOKENS}
    asked = [body["messages"][-1]["content"] for body in bodies]
    assert all("from English into Spanish" in text for text in asked)
    assert [t for t in asked if "Keep {entity} as written" in t] == [
        t for t in asked if t.endswith("I trust {entity}.")
    ]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (Step(content="I'm sorry, but I can't help with that."), "the model refused"),
        (Step(content="  \n"), "empty"),
        (Step(content="Here is what I would suggest. " * 20), "more than the text alone"),
        (Step(content="I do not.\n\nNote: negated."), "more than the text alone"),
        (Step(content="I do not trust it."), "does not name {entity}"),
        (Step(content="I trust {entity}."), "repeats the text"),
        (Step(status=400), "400"),
    ],
)
def test_a_reply_that_is_no_text_is_told_by_item_and_nothing_is_kept(
    workspace, bank, key, step, told
):
    outcomes, _, _ = run(workspace, bank, NEGATION, lambda *_: step, codes=["i2"])
    assert outcomes["i2"].text == ""
    assert told in outcomes["i2"].problem
    assert kept(bank, NEGATION, outcomes) == bank


def test_a_reply_that_was_cut_off_is_not_kept(workspace, bank, key):
    choice = {"index": 0, "message": {"content": "No me gus"}, "finish_reason": "length"}
    outcomes, _, _ = run(
        workspace, bank, SPANISH, lambda *_: Step(extra={"choices": [choice]}), codes=["i1"]
    )
    assert "cut off" in outcomes["i1"].problem


def test_an_item_that_speaks_of_refusing_is_not_taken_for_a_refusal(workspace, key):
    bank = Instrument("b", "B", (Item("i1", (Wording("en", "I refuse to give up."),)),))
    target = DraftTarget(GridTextColumn("en", "paraphrase_1"), "en")
    step = Step(content="I refuse to surrender.")
    outcomes, _, _ = run(workspace, bank, target, lambda *_: step, codes=["i1"])
    assert outcomes["i1"].text == "I refuse to surrender."


def test_a_text_of_a_person_is_never_overwritten_and_a_draft_is(bank):
    spanish = GridTextColumn("es")
    own = Wording("es", "Mío.")
    old = Wording("es", "Viejo.", drafted_by="Other")
    first = replace(bank.items[0], wordings=(*bank.items[0].wordings, own))
    second = replace(bank.items[1], wordings=(*bank.items[1].wordings, old))
    changed = replace(bank, items=(first, second, *bank.items[2:]))
    texts = {"i1": "Nuevo.", "i2": "Nuevo {entity}."}
    found = drafting.add_drafts(changed, spanish, texts, "Service").items
    assert found[0] == first
    assert found[1].wordings[-1] == Wording("es", "Nuevo {entity}.", drafted_by="Service")
    assert drafting.items_to_draft(changed, SPANISH) == ("i3", "i4")


def test_a_failure_that_passes_is_tried_again(workspace, bank, key):
    script = [Step(status=503), Step(content="Me gustan los parques.")]
    outcomes, _, server = run(workspace, bank, SPANISH, script, codes=["i1"])
    assert outcomes["i1"].text == "Me gustan los parques."
    assert len(server.chats) == 2


def test_a_refused_key_ends_the_run_and_says_why_the_rest_was_not_asked(
    workspace, bank, monkeypatch
):
    monkeypatch.setenv(KEY_VARIABLE, "sk-wrong-0123456789abcdef")
    outcomes, reason, server = run(workspace, bank, SPANISH, (), at_once=1)
    assert outcomes == {}
    assert "refused the key" in reason
    assert "sk-wrong" not in reason
    assert len(server.chats) == 1


def test_breaking_off_ends_the_calls_and_keeps_what_was_told(workspace, bank, key):
    class Left(BaseException):
        pass

    found = []

    def told(outcome):
        found.append(outcome)
        raise Left

    with FaultServer(lambda *_: Step(content="Texto.")) as server:
        catalog.save(workspace, service(server.base_url, at_once=1))
        with pytest.raises(Left):
            drafting.draft_texts(
                workspace, bank, ["i1", "i2", "i3", "i4"], SPANISH, "Service", report=told
            )
        assert len(found) == 1
        assert server.total < 4


def test_simulated_respondents_cannot_draft(workspace, bank):
    catalog.save(workspace, simulated("Formula"))
    with pytest.raises(BankError, match="simulated"):
        drafting.draft_texts(workspace, bank, ["i1"], SPANISH, "Formula", report=print)
    people = catalog.list_respondents(workspace)
    assert "Formula" not in [person.label for person in drafting.text_writers(people)]


def test_an_item_without_the_text_to_start_from_is_told_and_not_asked(workspace, bank, key):
    target = DraftTarget(GridTextColumn("es", "negation"), "es")
    outcomes, _, server = run(workspace, bank, target, (), codes=["i1"])
    assert outcomes["i1"].problem == "there is no text to make it of"
    assert server.total == 0
    with pytest.raises(BankError, match="from itself"):
        run(workspace, bank, DraftTarget(GridTextColumn("en"), "en"), ())


def test_each_form_is_asked_for_in_its_own_words_and_a_paraphrase_with_those_there_are():
    item = Item("a", (Wording("en", "One."), Wording("en", "Uno, in words.", "paraphrase_1")))
    forms = ("paraphrase_2", "negation", "opposite", "alternate", "shortened", "original")
    asked = [prompt(item, GridTextColumn("en", form, "question"), "en", "One.") for form in forms]
    assert len(set(asked)) == len(forms)
    assert all("as a question" in text and text.endswith("Text: One.") for text in asked)
    assert ["Uno, in words." in text for text in asked] == [True, *[False] * 5]
    assert "'shortened'" in asked[4]


def test_drafts_are_accepted_edited_and_discarded_and_other_texts_stay(bank):
    texts = {item.code: f"Texto {item.code}." for item in bank.items}
    drafted = drafting.add_drafts(bank, GridTextColumn("es"), texts, "M")
    places = [draft.place for draft in drafting.list_drafts(drafted)]
    assert [code for code, _ in places] == ["i1", "i2", "i3", "i4"]
    changed = drafting.accept(drafted, places[:1])
    changed = drafting.edit(changed, places[1], "Confío.")
    changed = drafting.discard(changed, [places[2], places[0]])
    assert [item.text("es") for item in changed.items] == [
        "Texto i1.",
        "Confío.",
        "",
        "Texto i4.",
    ]
    assert [draft.item.code for draft in drafting.list_drafts(changed)] == ["i4"]
    assert [item.text("en") for item in changed.items] == [item.text("en") for item in bank.items]


def test_a_study_counts_the_unreviewed_texts_it_asks_and_no_others(workspace, small_bank):
    drafts = {"a1": "Entwurf.", "a2": "Entwurf."}
    form = GridTextColumn("en", "negation")
    bank = drafting.add_drafts(small_bank, form, {"b1": "Not b1."}, "Model M")
    bare = replace(bank, items=tuple(without_german(item) for item in bank.items))
    bank = drafting.add_drafts(bare, GridTextColumn("de"), drafts, "Model M")
    store.save_draft(workspace.database, bank, expected_revision=None, summary="")
    freeze(workspace, simulated(), study="english", bank="small", n_personas=1)
    freeze(
        workspace,
        simulated(),
        study="german",
        bank="small",
        n_personas=1,
        languages=("de",),
        skip_missing=True,
    )
    assert editing.unreviewed_texts_of_study(workspace, "english") == editing.UnreviewedTexts(0, "")
    found = editing.unreviewed_texts_of_study(workspace, "german")
    assert found.n_texts == 2
    assert "2 texts that a model drafted (Model M) and nobody reviewed" in found.sentence


def without_german(item):
    return replace(item, wordings=tuple(w for w in item.wordings if w.language != "de"))


@pytest.mark.local_model
def test_the_local_model_drafts_something_or_says_why_not(workspace, bank):
    found = []
    reason = drafting.draft_texts(
        workspace,
        bank,
        ["i1", "i3"],
        DraftTarget(GridTextColumn("en", "paraphrase_1"), "en"),
        LOCAL.label,
        report=found.append,
    )
    assert reason == ""
    assert [outcome.code for outcome in found] == ["i1", "i3"]
    assert all(bool(outcome.text) != bool(outcome.problem) for outcome in found)

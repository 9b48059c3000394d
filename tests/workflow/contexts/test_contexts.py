"""Sets of contexts: keeping, cutting down, choosing by score, and rewriting with a real service."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pandas as pd
import pytest

from core.collect.client import Reply
from core.domain.study import Context
from core.errors import CollectionError, ConflictError, DesignError, NotEnoughData
from core.workflow.banks.grid import GridEdits
from core.workflow.contexts import by_score, rewriting, sets
from core.workflow.contexts.by_score import ContextScore
from core.workflow.contexts.sets import Derivation
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import freeze, personas, service, simulated

TALK = Context(
    "c01",
    messages=(
        {"role": "user", "content": "Can I freeze rice?"},
        {"role": "assistant", "content": "Yes.\n\nCool it first."},
        {"role": "user", "content": "For how long?"},
        {"role": "assistant", "content": "A month."},
    ),
    language="en",
)
PERSONA = Context("p1", "You are a nurse.", language="en")


def reply(text, finish_reason="stop"):
    return Reply(text, finish_reason)


def laid_out(*texts, roles=("user", "assistant") * 9):
    marks = zip(roles, texts, strict=False)
    return "\n".join(f"[{n} {role}]\n{text}" for n, (role, text) in enumerate(marks, start=1))


# Keeping sets.


def test_a_new_database_comes_with_three_sets(workspace):
    found = {one.name: one for one in sets.summaries(workspace)}
    assert [(one.kind, one.n_contexts) for one in found.values()] == [
        ("conversations", 40),
        ("personas", 60),
        ("personas", 25),
    ]
    assert found["Conversations (40)"].lengths[0] >= 2
    assert len(found["Conversations (40)"].languages) > 1


def test_a_set_remembers_how_it_was_made_and_when_it_was_saved(workspace):
    sets.save(workspace, " Mine ", (PERSONA,), made="Typed in")
    sets.save(workspace, "Mine", (PERSONA, TALK))
    mine = next(one for one in sets.summaries(workspace) if one.name == "Mine")
    assert (mine.kind, mine.made) == ("personas and conversations", "Typed in")
    assert mine.saved_at is not None
    assert sets.load(workspace, "Mine") == (PERSONA, TALK)


@pytest.mark.parametrize(
    ("name", "found", "words"),
    [
        (" ", (PERSONA,), "no name"),
        ("A", (), "would be empty"),
        ("A", (PERSONA, replace(TALK, code="p1")), "'p1' stands twice"),
    ],
)
def test_what_cannot_be_a_set_is_refused_in_words(workspace, name, found, words):
    with pytest.raises(DesignError, match=words):
        sets.save(workspace, name, found)
    assert "A" not in sets.load_all(workspace)


def test_a_change_begun_from_an_older_state_is_refused(workspace):
    sets.save(workspace, "A", (PERSONA,))
    sets.save(workspace, "A", (PERSONA, TALK))
    with pytest.raises(ConflictError):
        sets.save(workspace, "A", (TALK,), expected=(PERSONA,))
    assert sets.load(workspace, "A") == (PERSONA, TALK)


def test_both_files_of_a_set_read_back_as_the_same_contexts(workspace):
    risky = replace(TALK, messages=({"role": "user", "content": '=1+1, "so"\nfoo'},))
    assert sets.read_contexts("a.csv", sets.contexts_csv((risky,))) == (risky,)
    variant = replace(PERSONA, code="p1_v1", text="You nurse people.", variant_of="p1")
    both = (PERSONA, variant)
    assert sets.read_contexts("a.csv", sets.contexts_csv(both)) == both
    assert sets.read_contexts("a.jsonl", sets.contexts_jsonl((risky, *both))) == (
        risky,
        *both,
    )


# Making a set from a set.


def test_a_set_is_filtered_then_cropped_then_drawn(workspace):
    found = sets.load(workspace, "Conversations (40)")
    making = Derivation("en", 1, 5, 7)
    made = sets.derive(found, making)
    assert len(made) == 5
    assert {context.language for context in made} == {"en"}
    assert all(len(context.messages) == 2 for context in made)
    assert sets.derive(found, making) == made
    assert sets.derive(found, replace(making, seed=8)) != made
    assert sets.derivation_words(making) == "en, first exchange, 5 drawn with seed 7"
    assert sets.derive(found, Derivation()) == found


# Edits.


def test_personas_are_edited_added_and_removed_as_the_grid_reports_it():
    base = (PERSONA, replace(PERSONA, code="p2"), Context("v", "Variant.", variant_of="p1"))
    edits = GridEdits(
        {0: {"code": "nurse", "language": "German"}, 2: {"text": None}},
        [{"text": " New one. "}, {"code": "half", "text": ""}, {}],
        {1},
    )
    edited = sets.edit_personas(base, edits)
    assert edited == (
        Context("nurse", "You are a nurse.", language="de"),
        Context("v", "", variant_of="nurse"),
        Context("p003", "New one."),
    )


def test_messages_are_edited_added_and_removed_as_the_grid_reports_it():
    edits = GridEdits({0: {"content": "May I?"}}, [{"content": "Thanks."}, {"role": "user"}], {1})
    edited = sets.edit_messages(TALK, edits)
    assert [(m["role"], m["content"]) for m in edited.messages] == [
        ("user", "May I?"),
        ("user", "For how long?"),
        ("assistant", "A month."),
        ("user", "Thanks."),
    ]


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        (GridEdits({1: {"content": " "}}, [], set()), "Message 2 of c01 has no text"),
        (GridEdits({}, [], {0, 1, 2, 3}), "no message left"),
        (GridEdits({0: {"content": "x" * 100_001}}, [], set()), "100,001 characters"),
    ],
)
def test_a_conversation_that_cannot_be_kept_is_refused_in_words(edits, words):
    with pytest.raises(DesignError, match=words):
        sets.edit_messages(TALK, edits)


def test_a_new_code_takes_the_links_of_rewritings_along():
    found = (PERSONA, Context("p1_v1", "Other.", variant_of="p1"))
    renamed = sets.replace_context(found, "p1", replace(PERSONA, code="p9"))
    assert [(c.code, c.variant_of) for c in renamed] == [("p9", ""), ("p1_v1", "p9")]


# Choosing by score.


def frame(*rows):
    columns = ["context", "item", "score"]
    return pd.DataFrame(rows, columns=columns).astype({"context": "category"})


def test_a_context_score_is_the_mean_of_its_item_scores():
    found = frame(
        ("a", "i1", 1.0),
        ("a", "i2", 4.0),
        ("b", "i1", 5.0),
        ("b", "i2", math.nan),
        ("c", "i1", math.nan),
        ("c", "i2", math.nan),
    )
    complete = by_score.mean_scores(found, ["a", "b", "c", "d"], "listwise")
    available = by_score.mean_scores(found, ["a", "b", "c", "d"], "available")
    assert [s.score for s in complete] == pytest.approx(
        [2.5, math.nan, math.nan, math.nan], nan_ok=1
    )
    assert [s.score for s in available] == pytest.approx([2.5, 5, math.nan, math.nan], nan_ok=1)
    assert [(s.n_answers, s.n_missing) for s in complete] == [(2, 0), (1, 1), (0, 2), (0, 0)]


def scored(*values):
    return tuple(ContextScore(f"p{n}", value, 2, 0) for n, value in enumerate(values, start=1))


def test_the_draw_takes_so_many_of_each_group_and_is_repeated_by_its_seed():
    scores = scored(*range(1, 41))
    groups = by_score.draw_groups(scores, n_groups=4, per_group=3, seed=5)
    assert [(g.members[0].score, g.members[-1].score) for g in groups] == [
        (1, 10),
        (11, 20),
        (21, 30),
        (31, 40),
    ]
    for group in groups:
        assert len(group.drawn) == 3
        assert set(group.drawn) <= {member.code for member in group.members}
    assert by_score.draw_groups(scores, n_groups=4, per_group=3, seed=5) == groups
    others = [by_score.draw_groups(scores, per_group=3, seed=seed) for seed in range(6, 12)]
    assert any([g.drawn for g in other] != [g.drawn for g in groups] for other in others)
    places = [[int(code[1:]) - 10 * g.number + 9 for code in g.drawn] for g in groups]
    assert len({tuple(drawn) for drawn in places}) > 1  # not the same places in every group


def test_contexts_without_a_score_ties_and_small_groups_are_told():
    scores = (*scored(1, 1, 1, 2, 3, 4), ContextScore("gap", math.nan, 1, 1))
    found = by_score.ContextScores((), scores, ())
    groups = by_score.draw_groups(scores, n_groups=2, per_group=4)
    # Median 1.5: the three ones below it, and 2, 3, 4 above.
    assert [len(group.members) for group in groups] == [3, 3]
    said = " ".join(by_score.draw_remarks(found, groups, 4))
    assert "1 of 7 contexts have no score" in said
    assert "3 contexts share their score" in said
    assert "Group 1 has 3 contexts, fewer than the 4" in said


def test_too_few_scores_for_the_groups_are_refused():
    with pytest.raises(NotEnoughData, match="3 contexts have a score"):
        by_score.draw_groups(scored(1, 2, 3), n_groups=4)


def test_scores_of_a_study_are_those_of_the_answers_on_file(workspace):
    person = simulated("Simulated")
    freeze(workspace, person, n_personas=12, repetitions=2)
    with pytest.raises(NotEnoughData, match="no usable answer"):
        by_score.load_scores(workspace, "study", "Simulated")
    collect(workspace, "study")
    found = by_score.load_scores(workspace, "study", "Simulated", rule="available")
    rows = workspace.database.rows(
        "select a.context, avg(if(i.keyed = 1, o.points, 6 - o.points)) from response r "
        "join trial t using (trial_id) join administration a using (administration_id) "
        "join item i on i.item_id = t.item_id "
        "join answer_option o on o.instrument_id = i.instrument_id and o.code = r.option "
        "group by a.context order by a.context"
    )
    assert [s.score for s in found.scores] == pytest.approx([mean for _, mean in rows])
    assert [s.n_answers + s.n_missing for s in found.scores] == [40] * 12
    assert found.contexts == personas(12)
    assert found.notes == ("Each score is a mean over 2 levels of repetition.",)
    part = by_score.subscales(workspace, "study", "Simulated")[0]
    of_part = by_score.load_scores(workspace, "study", "Simulated", subscale=part)
    assert sum(s.n_answers + s.n_missing for s in of_part.scores) < 12 * 40
    groups = by_score.draw_groups(found.scores, per_group=2)
    chosen = by_score.drawn_contexts(found, groups)
    assert len(chosen) == 8
    assert set(chosen) <= set(personas(12))


def test_a_study_without_contexts_is_refused(workspace):
    freeze(workspace, simulated(), n_personas=0)
    with pytest.raises(NotEnoughData, match="has no contexts"):
        by_score.load_scores(workspace, "study", "Simulated")


def collect(workspace, study):
    control.start(workspace, study)
    control.wait(workspace, study)


def wait_until(done, seconds=30):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


# What the model is asked, and how strictly its reply is read.


def test_a_conversation_comes_back_message_by_message():
    said = laid_out("Is rice freezable?", "Sure.\n\nLet it cool.", "How long?", "Four weeks.")
    found = rewriting.read_rewriting(TALK, reply(f"\n{said}\n"), "c01_v1")
    assert (found.code, found.variant_of, found.language) == ("c01_v1", "c01", "en")
    assert [m["role"] for m in found.messages] == ["user", "assistant"] * 2
    assert found.messages[1]["content"] == "Sure.\n\nLet it cool."


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", "no text"),
        ("Sure, here it is:\n" + laid_out("a", "b", "c", "d"), "does not begin with the mark"),
        (laid_out("a", "b", "c"), "3 messages"),
        (laid_out("a", "b", "c", "d", "e"), "5 messages"),
        (laid_out("a", "b", "c", "d", roles=("user", "user", "user", "assistant")), "2 user"),
        (laid_out("a", " ", "c", "d"), "message 2 of the reply has no text"),
        (laid_out(*(m["content"] for m in TALK.messages)), "unchanged"),
        (laid_out("a", "b", "c", "d\n====="), "repeats the marks"),
        ("<think>" + laid_out("a", "b", "c", "d"), "no text"),
    ],
)
def test_a_reply_in_any_other_layout_is_refused_with_the_reason(said, words):
    with pytest.raises(DesignError, match=words):
        rewriting.read_rewriting(TALK, reply(said), "c01_v1")


def test_a_reply_cut_off_is_refused():
    with pytest.raises(DesignError, match="cut off"):
        rewriting.read_rewriting(PERSONA, reply("You care for", "length"), "p1_v1")


def test_a_persona_stays_on_one_line():
    found = rewriting.read_rewriting(PERSONA, reply("<think>hm</think> You nurse.\n"), "p1_v1")
    assert found == Context("p1_v1", "You nurse.", language="en", variant_of="p1")
    with pytest.raises(DesignError, match="several lines"):
        rewriting.read_rewriting(PERSONA, reply("Here you are:\nYou nurse."), "p1_v1")


def test_the_original_stands_between_marks_that_it_does_not_hold():
    person = service("http://127.0.0.1:9/v1", max_tokens=5, system_prompt="Be brief.")
    found = rewriting.rewriting_request(
        replace(PERSONA, text="a ===== {b} c"), "Keep {this}.", person, most_tokens=99
    )
    (message,) = found.messages
    assert message["content"].startswith("Keep {this}.\n")
    assert "\n======\na ===== {b} c\n======\n" in message["content"]
    assert found.sampling.max_tokens == 99
    assert "Be brief." not in message["content"]


def test_what_cannot_be_rewritten_is_refused_before_any_call():
    person = service("http://127.0.0.1:9/v1")
    marked = replace(TALK, messages=({"role": "user", "content": "Look:\n [2 assistant] "},))
    for context, words in ((marked, "looks like the marks"), (Context("p0"), "no text")):
        with pytest.raises(DesignError, match=words):
            rewriting.rewriting_request(context, "Do it.", person)
    with pytest.raises(DesignError, match="no instruction"):
        rewriting.rewriting_request(PERSONA, " ", person)
    with pytest.raises(CollectionError, match="choose an option"):
        rewriting.rewriting_request(PERSONA, "Do it.", simulated())


# A run over a real service, then a person's decisions.


@pytest.fixture
def kept(workspace):
    sets.save(workspace, "Mix", (PERSONA, TALK))
    return workspace


def rewrite(workspace, server, chosen, name="Mix", **settings):
    person = service(server.base_url, **{"at_once": 1, **settings})
    catalog.remember_key(workspace, server.base_url, server.key)
    found = rewriting.start(workspace, name, chosen, "Change the tone.", person)
    wait_until(lambda: not found.under_way)
    return found


def test_a_run_keeps_linked_drafts_and_reports_what_it_could_not_read(kept):
    steps = [
        Step(content="You care for the sick."),
        Step(content="I would rather not."),
        Step(content="You nurse people."),
    ]
    with FaultServer(steps) as server:
        found = rewrite(kept, server, (PERSONA, TALK, PERSONA))
        sent = [seen.body for seen in server.chats]
    assert (found.total, found.done) == (3, 3)
    assert [code for code, _ in found.failures] == ["c01"]
    assert "does not begin with the mark" in found.failures[0][1]
    drafts = rewriting.list_rewritings(kept, "Mix")
    assert [(d.variant.code, d.variant.variant_of, d.state) for d in drafts] == [
        ("p1_v1", "p1", "waiting"),
        ("p1_v2", "p1", "waiting"),
    ]
    assert drafts[0].model == "test-model-snapshot"
    assert "Change the tone." in sent[0]["messages"][0]["content"]
    assert sent[1]["max_tokens"] == rewriting.MAX_TOKENS
    assert set(sets.load_all(kept)) & {"Mix, rewritten"} == set()
    assert sets.load(kept, "Mix") == (PERSONA, TALK)


def test_a_failed_call_is_repeated_and_a_refused_key_ends_the_run(kept):
    with FaultServer([Step(status=500), Step(content="You heal.")]) as server:
        assert rewrite(kept, server, (PERSONA,)).failures == []
        assert len(server.chats) == 2
    with FaultServer([Step(status=401)]) as server:
        ended = rewrite(kept, server, (PERSONA, PERSONA))
    assert ended.done == 0
    assert "key" in ended.ending.lower()
    assert server.key not in ended.ending


def test_a_run_can_be_stopped_and_two_at_once_are_refused(kept):
    many = tuple(replace(PERSONA, code=f"p{n}") for n in range(50))
    with FaultServer(latency_s=0.1) as server:
        catalog.remember_key(kept, server.base_url, server.key)
        person = service(server.base_url, at_once=1)
        found = rewriting.start(kept, "Mix", many, "Do it.", person)
        with pytest.raises(ConflictError):
            rewriting.start(kept, "Mix", many, "Do it.", person)
        wait_until(lambda: found.done >= 1)
        rewriting.stop(kept, "Mix")
        wait_until(lambda: not found.under_way)
    assert 1 <= found.done < 50
    assert len(rewriting.list_rewritings(kept, "Mix")) + len(found.failures) == found.done
    assert "Stopped" in found.ending


def drafted(workspace, *texts):
    for text in texts:
        rewriting.add(
            workspace,
            "Mix",
            PERSONA,
            lambda code, text=text: rewriting.Rewriting(
                PERSONA,
                rewriting.read_rewriting(PERSONA, reply(text), code),
                "waiting",
                "Do it.",
                "Service",
                "m",
                "2026-01-01T00:00:00+00:00",
            ),
        )


def test_only_accepted_rewritings_enter_the_new_set_beside_their_originals(kept):
    drafted(kept, "You heal.", "You cure.", "You care.")
    rewriting.edit(kept, "Mix", "p1_v1", Context("p1_v1", "You heal all.", variant_of="p1"))
    rewriting.accept(kept, "Mix", "p1_v1", "New")
    rewriting.discard(kept, "Mix", "p1_v2")
    rewriting.accept(kept, "Mix", "p1_v3", "New")
    found = sets.load(kept, "New")
    assert [(c.code, c.text, c.variant_of) for c in found] == [
        ("p1", "You are a nurse.", ""),
        ("p1_v1", "You heal all.", "p1"),
        ("p1_v3", "You care.", "p1"),
    ]
    states = [(d.state, d.edited, d.set_name) for d in rewriting.list_rewritings(kept, "Mix")]
    assert states == [
        ("accepted", True, "New"),
        ("discarded", False, ""),
        ("accepted", False, "New"),
    ]
    rewriting.list_rewritings(kept, "Mix")
    drafted(kept, "You mend.")
    rewriting.accept(kept, "Mix", "p1_v4", "Alone", with_original=False)
    assert [c.code for c in sets.load(kept, "Alone")] == ["p1_v4"]


def test_what_cannot_be_accepted_is_refused_and_stays_a_draft(kept):
    drafted(kept, "You heal.")
    sets.save(kept, "Other", (Context("p1", "Somebody else."),))
    for into, words in (("Mix", "come from"), (" ", "no name"), ("Other", "another context")):
        with pytest.raises(DesignError, match=words):
            rewriting.accept(kept, "Mix", "p1_v1", into)
    rewriting.edit(kept, "Mix", "p1_v1", Context("p1_v1", " ", variant_of="p1"))
    with pytest.raises(DesignError, match="is empty"):
        rewriting.accept(kept, "Mix", "p1_v1", "New")
    assert "New" not in sets.load_all(kept)
    rewriting.discard(kept, "Mix", "p1_v1")
    with pytest.raises(ConflictError):
        rewriting.accept(kept, "Mix", "p1_v1", "New")


def test_a_typed_message_with_a_character_that_no_file_holds_is_kept_readably():
    edited = sets.edit_messages(TALK, GridEdits({0: {"content": "a\0b\u2028c"}}, [], set()))
    assert edited.messages[0]["content"] == "a\\u0000b\nc"

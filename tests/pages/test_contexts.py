"""The page Contexts on a real database, with a real service on this machine."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.collect.client import Reply
from core.domain.study import Context
from core.workflow.contexts import by_score, rewriting, sets
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.workflow.contexts.published import arena_rows, jsonl
from tests.workflow.studies import freeze, personas, service, simulated

HOSTILE = "=1+1 <img src=x onerror=alert(1)> ![](http://evil.invalid/x.png) :red[x] مرحبا 🙂"
TALK = Context(
    "c01",
    messages=(
        {"role": "user", "content": "Can I freeze rice?"},
        {"role": "assistant", "content": "Yes, cool it first."},
        {"role": "user", "content": "For how long?"},
        {"role": "assistant", "content": "A month."},
    ),
    language="en",
)
REWRITING = "[1 user]\nMay I?\n[2 assistant]\nDo.\n[3 user]\nLong?\n[4 assistant]\nWeeks."


def opened(part=None, **query):
    at = apps.open_page("contexts", **query)
    if part:
        key = "contexts_part" if "set" in query else "contexts_new"
        at = fine(at.segmented_control(key=key).set_value(part).run())
    return at


def fine(at):
    assert not at.exception
    assert not [e.value for e in at.error if "fault in Inkblot" in e.value]
    return at


def said(elements):
    return " ".join(element.value for element in elements).replace("\\", "")


def html(at):
    return " ".join(element.proto.body for element in at.get("html"))


def uploaded(name, text):
    at = opened("Import a file")
    return fine(at.file_uploader(key="contexts_file").set_value((name, text.encode(), "")).run())


def report(at, edited=None, added=(), deleted=()):
    """What the browser sends after edits of a grid: all of them since it was drawn."""
    (grid,) = [d for d in at.dataframe if d.proto.editing_mode]
    state = {"edited_rows": edited or {}, "added_rows": list(added), "deleted_rows": list(deleted)}
    states = at._tree.get_widget_states()
    states.widgets.append(WidgetState(id=grid.proto.id, string_value=json.dumps(state)))
    return fine(at._run(states))


def field(at, start):
    """The name of the set that is to be saved."""
    return next(f for f in at.text_input if (f.key or "").startswith(f"contexts_name:{start}"))


def draft(workspace, name, original, text):
    rewriting.add(
        workspace,
        name,
        original,
        lambda code: rewriting.Rewriting(
            original,
            rewriting.read_rewriting(original, Reply(text), code),
            "waiting",
            "Do it.",
            "Service",
            "m",
            "2026-01-01T00:00:00+00:00",
        ),
    )


def test_lists_the_sets_that_come_along_with_kind_number_and_languages(workspace):
    at = opened()
    table = at.dataframe[0].value.set_index("Set")
    assert list(table.index) == ["Conversations (40)", "Personas (60)", "Starter personas"]
    assert list(table["n"]) == [40, 60, 25]
    assert list(table["Kind"]) == ["conversations", "personas", "personas"]
    assert table.loc["Conversations (40)", "Languages"] == "de, en, es, zh"
    assert set(table["Made"]) == {"Comes with Inkblot"}
    at.selectbox(key="contexts_open").set_value("Starter personas").run()
    assert at.query_params["set"] == "Starter personas"
    assert "25 personas" in said(at.text)


def test_a_set_that_is_not_there_is_told(workspace):
    at = opened(set="Nothing")
    assert "There is no set 'Nothing'" in said(at.error)


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("people.txt", "You are A.\nYou are B.\n", ["p001", "p002"]),
        ("people.csv", "code,text\na,You are A.\n", ["a"]),
        ("talks.jsonl", '{"messages": [{"role": "user", "content": "Hi"}]}\n', ["c001"]),
        ("talks.csv", "user,assistant\nHi,Hello\n", ["c001"]),
    ],
)
def test_a_file_is_seen_before_it_is_kept(workspace, name, text, codes):
    at = uploaded(name, text)
    assert [list(d.value["Code"]) for d in at.dataframe[1:]] == [codes]
    assert len(sets.load_all(workspace)) == 3
    assert field(at, "file").value == name.split(".")[0]
    fine(at.button(key="contexts_save:file").click().run())
    assert [c.code for c in sets.load(workspace, name.split(".")[0])] == codes
    assert "saved as" in said(at.success)
    assert at.query_params["set"] == name.split(".")[0]


def test_a_broken_file_is_told_with_its_name_and_line_and_nothing_is_kept(workspace):
    at = uploaded("talks.jsonl", '{"messages": [{"role": "user", "content": "Hi"}]}\n{"messages"\n')
    assert "talks.jsonl, line 2" in said(at.error)
    assert not [button for button in at.button if button.key == "contexts_save:file"]
    assert len(sets.load_all(workspace)) == 3


def test_saving_under_a_known_name_says_that_it_replaces(workspace):
    at = uploaded("people.txt", "You are A.\n")
    fine(field(at, "file").set_value("Starter personas").run())
    assert "Saving replaces it" in said(at.warning)
    assert at.button(key="contexts_save:file").label == "Replace the set"


def test_typed_personas_outlast_a_reload_and_become_a_set(workspace):
    at = opened("Type personas")
    at.text_area(key="contexts:typed:text").set_value("You are A.\nYou are B.").run()
    again = opened("Type personas")
    assert again.text_area(key="contexts:typed:text").value == "You are A.\nYou are B."
    again.text_input(key="contexts:typed:language").set_value("German").run()
    fine(again.button(key="contexts_save:typed").click().run())
    found = sets.load(workspace, "My personas")
    assert [(c.text, c.language) for c in found] == [("You are A.", "de"), ("You are B.", "de")]


def test_the_same_persona_typed_twice_is_told(workspace):
    at = opened("Type personas")
    at.text_area(key="contexts:typed:text").set_value("You are A.\nYou are A.").run()
    assert "line 2" in said(at.error)


def test_personas_are_edited_in_the_grid_and_saved_at_once(workspace):
    sets.save(workspace, "Mine", personas(3))
    at = opened(set="Mine")
    at = report(at, {0: {"text": "You are new."}}, [{"text": "You are more."}], [1])
    assert [(c.code, c.text) for c in sets.load(workspace, "Mine")] == [
        ("p0001", "You are new."),
        ("p0003", "You are person number 3."),
        ("p003", "You are more."),
    ]
    assert "Saved at" in said(at.text)
    at = report(at, {0: {"text": "You are newest."}}, [{"text": "You are more."}], [1])
    assert sets.load(workspace, "Mine")[0].text == "You are newest."
    assert len(sets.load(workspace, "Mine")) == 3


def test_a_code_typed_twice_is_told_and_not_saved_until_it_is_mended(workspace):
    sets.save(workspace, "Mine", personas(2))
    at = report(opened(set="Mine"), {1: {"code": "p0001"}})
    assert "'p0001' stands twice" in said(at.error)
    assert sets.load(workspace, "Mine") == personas(2)
    at = report(at, {1: {"code": "second"}})
    assert not at.error
    assert sets.load(workspace, "Mine")[1].code == "second"


def test_another_tab_is_not_overwritten(workspace):
    sets.save(workspace, "Mine", personas(2))
    at = opened(set="Mine")
    sets.save(workspace, "Mine", personas(3))
    at = report(at, {0: {"text": "You are lost."}})
    assert "changed in another tab" in said(at.error) + said(at.info)
    assert "You are lost." in html(at)
    assert sets.load(workspace, "Mine") == personas(3)


def test_the_messages_of_a_conversation_are_edited_and_read(workspace):
    sets.save(workspace, "Talks", (TALK, personas(1)[0]))
    at = opened(set="Talks")
    assert "A month." in html(at)
    at = report(at, {3: {"content": "Two months."}}, [{"content": "Thanks."}])
    (talk, _) = sets.load(workspace, "Talks")
    assert [m["content"] for m in talk.messages[3:]] == ["Two months.", "Thanks."]
    assert talk.messages[4]["role"] == "user"
    at = report(at, {3: {"content": ""}})
    assert "Message 4 of c01 has no text" in said(at.error)
    at.text_input(key="contexts_tongue:Talks:c01").set_value("Spanish").run()
    assert sets.load(workspace, "Talks")[0].language == "es"
    at = opened(set="Talks", context="p0001")
    at.text_area(key="contexts_text:Talks:p0001").set_value("You are edited.").run()
    assert sets.load(workspace, "Talks")[1].text == "You are edited."
    fine(at.button(key="contexts_remove:Talks:p0001").click().run())
    assert [c.code for c in sets.load(workspace, "Talks")] == ["c01"]


def test_a_new_set_is_filtered_cropped_and_drawn_and_says_so_in_its_name(workspace):
    name = "Conversations (40)"
    at = opened("New set from it", set=name)
    assert "Choose a language" in said(at.caption)
    at.selectbox(key=f"contexts_language:{name}").set_value("en").run()
    at.number_input(key=f"contexts_exchanges:{name}").set_value(1).run()
    at.number_input(key=f"contexts_count:{name}").set_value(4).run()
    at.number_input(key=f"contexts_seed:{name}").set_value(9).run()
    wish = f"{name}, en, first exchange, 4 drawn with seed 9"
    assert field(at, "made").value == wish
    fine(at.button(key="contexts_save:made").click().run())
    found = sets.load(workspace, wish)
    assert [len(c.messages) for c in found] == [2] * 4
    assert {c.language for c in found} == {"en"}
    assert f"Made from '{name}': en, first exchange, 4 drawn with seed 9." in said(at.text)


def test_more_to_draw_than_there_are_is_told(workspace):
    at = opened("New set from it", set="Starter personas")
    at.number_input(key="contexts_count:Starter personas").set_value(30).run()
    assert "Only 25 contexts are available" in said(at.warning)


def test_both_files_are_offered_and_a_mixed_set_says_why_csv_is_not(workspace):
    at = opened("Download", set="Conversations (40)")
    assert [d.proto.label for d in at.get("download_button")] == ["JSON Lines", "CSV"]
    sets.save(workspace, "Mixed", (TALK, *personas(1)))
    at = opened("Download", set="Mixed")
    assert [d.proto.label for d in at.get("download_button")] == ["JSON Lines"]
    assert "cannot be in one CSV file with conversations" in said(at.error)


def test_simulated_respondents_are_not_asked_to_rewrite_and_it_says_why(workspace):
    at = opened("Rewrite with a model", set="Starter personas")
    assert at.selectbox(key="contexts:rewrite:Starter personas:respondent").options == [
        "SmolLM2 135M (included)"
    ]
    assert "Simulated respondents cannot rewrite" in said(at.caption)
    for person in catalog.list_respondents(workspace):
        catalog.set_archived(workspace, person.label, archived=True)
    assert "There is no model yet" in said(opened("Rewrite with a model", set="Personas (60)").info)


def test_a_model_rewrites_and_a_person_edits_accepts_and_discards(workspace):
    second = Context("c02", messages=TALK.messages[:2], language="en")
    third = Context("c03", messages=TALK.messages[2:], language="en")
    sets.save(workspace, "Talks", (TALK, second, third))
    steps = [
        Step(content=REWRITING),
        Step(content="Here it is: " + HOSTILE),
        Step(content="[1 user]\nSince when?\n[2 assistant]\nEver."),
    ]
    with FaultServer(steps, key=None) as server:
        catalog.save(workspace, service(server.base_url, "Writer", at_once=1))
        at = opened("Rewrite with a model", set="Talks")
        at.text_area(key="contexts:rewrite:Talks:instruction").set_value("Be curt.").run()
        at.selectbox(key="contexts:rewrite:Talks:respondent").set_value("Writer").run()
        assert at.button(key="contexts_rewrite").label == "Rewrite 3 contexts"
        fine(at.button(key="contexts_rewrite").click().run())
        wait_for(workspace, "Talks")
        prompts = [seen.body["messages"][0]["content"] for seen in server.chats]
    assert all(prompt.startswith("Be curt.\n") for prompt in prompts)
    at = fine(at.run())
    assert "1 context without a draft" in said(at.warning)
    assert "c02: The reply cannot be read" in said(at.text)
    assert at.button(key="contexts_rewrite").label == "Rewrite 1 context"
    assert sets.load(workspace, "Talks") == (TALK, second, third)
    assert "Talks, rewritten" not in sets.load_all(workspace)

    at.segmented_control(key="contexts_part").set_value("Review rewritings").run()
    assert "2 to review, 0 accepted" in said(at.caption)
    assert "Can I freeze rice?" in html(at)
    key = "contexts_edit:Talks:c01_v1:{}"
    assert at.text_area(key=key.format(1)).value == "Do."
    at.text_area(key=key.format(1)).set_value("Do so.").run()
    fine(at.button(key="contexts_accept").click().run())
    fine(at.button(key="contexts_discard").click().run())
    assert "You have accepted or discarded every rewriting" in said(at.success)
    original, variant = sets.load(workspace, "Talks, rewritten")
    assert original == TALK
    assert (variant.code, variant.variant_of, variant.language) == ("c01_v1", "c01", "en")
    assert [m["content"] for m in variant.messages] == ["May I?", "Do so.", "Long?", "Weeks."]
    assert [link.proto.label for link in at.main.get("page_link")] == [
        "Open the set Talks, rewritten"
    ]


def test_an_unreachable_service_ends_the_run_in_words(workspace, monkeypatch):
    monkeypatch.setattr(rewriting, "RETRY_POLICY", rewriting.RetryPolicy(max_attempts=1))
    sets.save(workspace, "Mine", personas(1))
    catalog.save(workspace, service("http://127.0.0.1:9/v1", "Nobody"))
    at = opened("Rewrite with a model", set="Mine")
    at.selectbox(key="contexts:rewrite:Mine:respondent").set_value("Nobody").run()
    at.button(key="contexts_rewrite").click().run()
    wait_for(workspace, "Mine")
    assert "No connection to 127.0.0.1" in said(fine(at.run()).text)


def wait_for(workspace, name):
    end = time.monotonic() + 20
    while rewriting.last_run(workspace, name).under_way:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_two_tabs_cannot_decide_on_one_draft_twice(workspace):
    sets.save(workspace, "Mine", personas(1))
    draft(workspace, "Mine", personas(1)[0], "You are somebody.")
    one = opened("Review rewritings", set="Mine")
    two = opened("Review rewritings", set="Mine")
    fine(one.button(key="contexts_discard").click().run())
    fine(two.button(key="contexts_accept").click().run())
    assert "in another tab" in said(two.error)
    assert "Mine, rewritten" not in sets.load_all(workspace)


def test_contexts_are_chosen_by_score_within_quantile_groups(workspace):
    freeze(workspace, simulated("Simulated"), n_personas=24)
    control.start(workspace, "study")
    control.wait(workspace, "study")
    at = opened("Choose by a score", study="study")
    at.number_input(key="contexts_each").set_value(2).run()
    at.number_input(key="contexts_groups").set_value(3).run()
    fine(at)
    found = by_score.load_scores(workspace, "study", "Simulated")
    groups = by_score.draw_groups(found.scores, n_groups=3, per_group=2)
    table = at.dataframe[1].value
    assert list(table["n"]) == [len(group.members) for group in groups]
    assert list(table["Highest score"]) == [group.members[-1].score for group in groups]
    assert list(table["Drawn"]) == [2, 2, 2]
    fine(at.button(key="contexts_save:score").click().run())
    name = "study, Simulated, all items, 2 from each of 3 groups, seed 1"
    assert sets.load(workspace, name) == by_score.drawn_contexts(found, groups)
    assert len(sets.load(workspace, name)) == 6


def test_a_study_without_answers_is_told_on_the_score_page(workspace):
    freeze(workspace, simulated("Simulated"), n_personas=4)
    at = opened("Choose by a score", study="study")
    assert "no usable answer" in said(at.error)


def test_hostile_names_and_texts_are_shown_to_the_letter(workspace):
    hostile = Context("c01", messages=({"role": "user", "content": HOSTILE},), language="en")
    sets.save(workspace, HOSTILE, (hostile,), made=HOSTILE)
    draft(workspace, HOSTILE, hostile, f"[1 user]\n{HOSTILE} again")
    assert HOSTILE in list(opened().dataframe[0].value["Set"])
    for part in ("Read and edit", "Review rewritings", "New set from it", "Download"):
        at = opened(part, set=HOSTILE)
        shown = html(at)
        assert "<img" not in shown
        for element in (*at.markdown, *at.caption, *at.header, *at.success, *at.error):
            assert "![](" not in element.value
    at = opened("Review rewritings", set=HOSTILE)
    assert "&lt;img src=x" in html(at)
    at.button(key="contexts_accept").click().run()
    assert "![](" not in at.success[0].value
    assert all("![](" not in link.proto.label for link in at.get("page_link"))


def test_what_could_not_be_saved_is_still_shown_after_another_part_of_the_page(workspace):
    sets.save(workspace, "Mine", personas(2))
    at = report(opened(set="Mine"), {1: {"code": "p0001", "text": "You are typed."}})
    at.segmented_control(key="contexts_part").set_value("Download").run()
    at.segmented_control(key="contexts_part").set_value("Read and edit").run()
    assert "stands twice" in said(fine(at).error)
    assert "Not saved: p0001: You are typed." in html(at)
    assert sets.load(workspace, "Mine") == personas(2)


# A set chosen from a corpus.


def test_a_set_is_chosen_from_a_corpus_step_by_step(workspace):
    at = opened("Choose from a corpus")
    assert "python -m core context import" in said(at.code)
    data = jsonl(arena_rows(100))
    at = fine(at.file_uploader(key="contexts_corpus").set_value(("arena.jsonl", data, "")).run())
    assert list(at.dataframe[-2].value["n"]) == [100, 200, 200]  # both halves of each row

    def widget(kind, ending):
        return next(w for w in getattr(at, kind) if (w.key or "").endswith(f":{ending}"))

    fine(widget("multiselect", "conversations").set_value(["conversation_a"]).run())
    fine(widget("text_input", "languages").set_value("English").run())
    fine(widget("number_input", "exchanges").set_value(1).run())
    fine(widget("number_input", "count").set_value(7).run())
    steps = at.dataframe[-2].value
    assert list(steps["n"]) == [100, 100, 60, 60, 60, 7]
    assert steps["Step"].iloc[-1] == "Random sample of 7 (seed 1)"
    fine(at.button(key="contexts_save:corpus").click().run())
    assert at.query_params["set"] == "arena"
    assert "random sample of 7 (seed 1): 7" in said(at.text)
    recipe = sets.load_recipe(workspace, "arena")
    assert recipe.choices.languages == ("en",)
    derived = opened("New set from it", set="arena")
    fine(derived.number_input(key="contexts_count:arena").set_value(3).run())
    fine(derived.button(key="contexts_save:made").click().run())
    steps = sets.load_recipe(workspace, "arena, 3 drawn with seed 1").steps
    assert (steps[-1].name, steps[-1].count) == ("3 drawn with seed 1", 3)


def test_a_corpus_with_a_fault_is_explained_in_its_place(workspace):
    at = opened("Choose from a corpus")
    data = jsonl(arena_rows(3)) + b'{"conversation_a": [{"role"'
    at = fine(at.file_uploader(key="contexts_corpus").set_value(("arena.jsonl", data, "")).run())
    assert "line 4: the file ends in the middle of the line" in said(at.error)
    assert not [b for b in at.button if b.key == "contexts_save:corpus"]


def test_a_model_translates_personas_and_a_person_accepts_one(workspace):
    people = (Context("a", "You are a nurse.", language="en"), Context("b", "You bake."))
    sets.save(workspace, "People", people)
    steps = [Step(content="Sie sind Krankenpfleger."), Step(content="Sie backen.")]
    with FaultServer(steps, key=None) as server:
        catalog.save(workspace, service(server.base_url, "Writer", at_once=1))
        at = opened("Rewrite with a model", set="People")
        fine(at.selectbox(key="contexts:rewrite:People:into").set_value("de").run())
        assert not [box for box in at.text_area if box.label == "Instruction"]
        fine(at.selectbox(key="contexts:rewrite:People:respondent").set_value("Writer").run())
        assert at.button(key="contexts_rewrite").label == "Translate 2 contexts"
        fine(at.button(key="contexts_rewrite").click().run())
        wait_for(workspace, "People")
        prompts = [seen.body["messages"][0]["content"] for seen in server.chats]
    assert all(prompt.startswith("Translate it into German") for prompt in prompts)
    fine(at.segmented_control(key="contexts_part").set_value("Review rewritings").run())
    at.text_area(key="contexts_edit:People:a_v1:None").set_value("Sie sind Pflegerin.").run()
    fine(at.button(key="contexts_accept").click().run())
    assert sets.load(workspace, "People") == (
        replace(people[0], translations=(("de", "Sie sind Pflegerin."),)),
        people[1],
    )
    fine(at.segmented_control(key="contexts_part").set_value("Read and edit").run())
    frame = at.session_state["contexts_desk"].frame
    assert frame["text_de"].tolist() == ["Sie sind Pflegerin.", ""]
    fine(at.selectbox(key="contexts_add_language:People").set_value("fr").run())
    assert "text_fr" in at.session_state["contexts_desk"].frame


def test_translations_of_a_changed_text_are_told_and_confirmed_by_a_click(workspace):
    pilot = Context("a", "You fly.", language="en", translations=(("de", "Sie pflegen."),))
    sets.save(workspace, "People", (replace(pilot, outdated=("de",)),))
    at = opened("Read and edit", set="People")
    assert "The text of a changed after it was translated" in said(at.warning)
    fine(at.button(key="contexts_confirm:People").click().run())
    assert sets.load(workspace, "People") == (pilot,)
    assert "changed after it was translated" not in said(at.warning)

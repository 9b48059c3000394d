"""The Answers page over real studies: counts, filters, pages, one answer in full, the file."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs

import pandas as pd
import pytest
import streamlit
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.collect.replies.reader import PARSER_VERSION
from core.domain.numbers import count_text
from core.domain.study import Status
from core.store import audits, studies
from core.store.audits import ResponseChange
from core.workflow.answers import browsing, exports, imports
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from core.workflow.runs import amendments, collector, control
from pages.shared import widgets
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated


@pytest.fixture(autouse=True)
def no_leftovers():
    streamlit.cache_data.clear()


LABELS = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
open_page = partial(apps.open_page, "answers")


def texts(at):
    shown = [*at.markdown, *at.caption, *at.info, *at.warning, *at.text, *at.header]
    return "\n".join(part.value for part in shown) + "".join(h.proto.body for h in at.html)


def pills(at):
    """The statuses with their counts, to filter by."""
    (found,) = [group for group in at.get("button_group") if group.label == "Status"]
    return found


def rows(at):
    """The list of answers."""
    (found,) = [d.value for d in at.dataframe if "Reply" in d.value.columns]
    return found


def open_tool(at, label):
    """The page after a press on a tab below the list."""
    at.session_state["answers_tools"] = label
    return fine(at.run())


def press(at, key):
    return fine(at.button(key=key).click().run())


def asked(workspace, server, script=(), **factors):
    server.script = script
    freeze(workspace, service(server.base_url, at_once=1), **factors)
    control.start(workspace, "study")
    return control.wait(workspace, "study", every_s=0.02)


@pytest.fixture
def server(monkeypatch):
    with FaultServer() as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def collect_simulated(workspace):
    """200 answers of ten simulated people; a tenth refused."""
    freeze(workspace, simulated(refusal_rate=0.1, seed=3), n_personas=10)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    freeze(workspace, simulated(), study="other", n_personas=5)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One database for the tests that only read."""
    found = open_workspace(tmp_path_factory.mktemp("answers") / "shared.duckdb")
    collect_simulated(found)
    yield found
    found.close()


@pytest.fixture
def collected(shared, monkeypatch):
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    return shared


def test_an_empty_database_says_what_to_do(workspace):
    assert "There is no study yet" in texts(open_page())


def test_a_study_without_answers_leads_to_collect_and_lists_what_will_be_asked(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = open_page(study="study")
    assert "no answers yet" in texts(at)
    assert "Go to Collect" in [link.label for link in at.get("page_link")]
    assert set(rows(at)["Status"]) == {"not asked yet"}
    assert at.dataframe[0].value["missing"].tolist() == [20]


def test_counts_say_n_and_missing_and_add_up(collected):
    at = open_page(study="study")
    counts = at.dataframe[0].value.iloc[0]
    assert counts["planned"] == 200
    assert counts["n"] + counts["missing"] == 200
    assert counts["missing"] == counts["refused"] > 0
    assert "Simulated" in texts(at)


def test_the_chart_says_in_words_what_it_draws_and_its_data_are_the_counts(collected):
    overview = browsing.overview(collected, "study")
    chart = browsing.status_chart(overview)
    assert chart.table["count"].sum() == 200
    assert chart.table["share"].sum() == pytest.approx(1)
    assert "200 trials by 1 respondent:" in chart.alt
    drawn = chart.spec.to_dict(context={"pre_transform": False})
    (data,) = drawn["datasets"].values()
    assert {row["status"]: row["missing"] for row in data}["refused"] is True
    at = open_page(study="study")
    (shown,) = at.get("vega_lite_chart")
    assert shown.proto.alt == chart.alt


def test_a_filter_on_refusals_shows_only_them_and_stands_in_the_address(collected):
    at = open_page(study="study")
    n_refused = int(at.dataframe[0].value["refused"].iloc[0])
    assert f"Refused {n_refused}" in pills(at).options
    at = fine(pills(at).set_value(["refused"]).run())
    assert set(rows(at)["Status"]) == {"refused"}
    assert len(rows(at)) == n_refused
    assert at.query_params["status"] == "refused"
    reloaded = open_page(study="study", status="refused")
    assert len(rows(reloaded)) == n_refused


def test_options_of_filters_are_text_without_backslashes(collected):
    at = open_page(study="study")
    items = at.multiselect(key="answers:study:where:item").options
    assert "nature_01: A walk among trees helps me to put my thoughts in order." in items
    assert "4 = Agree" in at.multiselect(key="answers:study:where:option").options


def test_the_counts_can_be_taken_along(collected, monkeypatch):
    taken = {}
    original = widgets.download

    def spy(label, data, file_name, *, key):
        taken[file_name] = data
        original(label, data, file_name, key=key)

    monkeypatch.setattr(widgets, "download", spy)
    at = open_page(study="study")
    assert at.get("download_button")[0].proto.label == "CSV of the counts"
    header, line = taken["study-statuses.csv"].decode().splitlines()
    assert header.replace('"', "").startswith("model,planned,asked,n,missing,missing, %")
    assert line.split(",")[1:3] == ["200", "200"]


def test_item_persona_and_search_filters_agree_with_each_other(collected):
    at = open_page(study="study")
    at = fine(at.multiselect(key="answers:study:where:item").set_value(["nature_01"]).run())
    assert len(rows(at)) == 10
    at = fine(at.multiselect(key="answers:study:where:context").set_value(["p0003"]).run())
    assert len(rows(at)) == 1
    at = open_page(study="study", search="person number 3.")
    assert len(rows(at)) == 20
    assert set(rows(at)["Context"]) == {"p0003"}
    none = open_page(study="study", search="'; drop table trial; --")
    assert "No answer passes these filters" in texts(none)


def test_pages_of_fifty_rows_cover_every_answer_once(collected):
    at = open_page(study="study")
    seen = []
    for first, last in ((1, 50), (51, 100), (101, 150), (151, 200)):
        assert f"Rows {first}–{last} of 200" in texts(at)
        seen += rows(at)["Row"].tolist()
        if last < 200:
            at = press(at, "answers_next_page")
    assert seen == list(range(1, 201))
    assert at.button(key="answers_next_page").disabled
    assert at.query_params["page"] == "4"
    at = press(at, "answers_previous_page")
    assert rows(at)["Row"].iloc[0] == 101


def test_a_page_beyond_the_last_shows_the_last(collected):
    for wished in ("9999", "-1", "x", "9" * 30):
        at = open_page(study="study", page=wished)
        assert len(rows(at)) == 50
    assert rows(open_page(study="study", page="9999"))["Row"].iloc[0] == 151


def test_a_reload_keeps_the_open_answer_in_full_and_its_row_ticked(collected):
    at = open_page(study="study", page="2")
    wished = rows(at).iloc[4]
    trials, _ = browsing.page(collected, "study", {}, "", offset=50, limit=50)
    trial = int(trials["trial_id"].iloc[4])
    at = open_page(study="study", page="2", answer=str(trial))
    said = texts(at)
    assert f"item {wished['Item']}".replace("_", "\\_") in said
    detail = browsing.detail(collected, trial)
    assert detail.text in said
    assert "Your answer:" in said
    assert 'lang="en"' in said
    assert f"Option {wished['Answer']} (" in said
    assert f"version {PARSER_VERSION} of Inkblot" in said
    (facts,) = [d.value for d in at.dataframe if "Condition" in d.value.columns]
    assert facts["Condition"].tolist() == ["Respondent", "Language", "Context", "Format"]
    number = int(facts["Value"].iloc[2].removeprefix("p"))
    assert f"Context p{number:04} in words" in said
    blocks = [h.proto.body for h in at.html if "<style>" not in h.proto.body]
    assert blocks[-1].count(f"You are person number {number}.") == 1
    (drawn,) = [d.proto for d in at.dataframe if "Reply" in d.value.columns]
    assert json.loads(drawn.selection_default)["selection"]["cells"] == [[4, "Item"]]


def test_what_came_beside_a_reply_or_instead_of_one_is_shown_to_the_letter(workspace, server):
    message = {"content": None, "reasoning": "<b>4</b> fits", "tool_calls": [{"id": "c1"}]}
    choice = {"message": message, "finish_reason": "content_filter"}
    usage = {"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 3}}
    reply = Step(extra={"choices": [choice], "usage": usage})
    script = [Step(status=503, body="<p>busy</p>"), *[reply] * 20]
    assert asked(workspace, server, script, n_personas=1).state == "finished"
    trials, _ = browsing.page(workspace, "study", {}, "", limit=1)
    at = open_page(study="study", answer=str(trials["trial_id"].iloc[0]))
    labels = [expander.label for expander in at.expander]
    assert "Attempt 1: the service's message, which is no reply (11 characters)" in labels
    assert "Attempt 2: reasoning before the answer (13 characters)" in labels
    said = texts(at)
    assert "&lt;b&gt;4&lt;/b&gt; fits" in said
    assert "&lt;p&gt;busy&lt;/p&gt;" in said
    assert "[{&quot;id&quot;: &quot;c1&quot;}]" in said
    assert "No option (refused)" in said
    assert "The provider's content filter withheld the reply" in said
    (tries,) = [d.value for d in at.dataframe if "Attempt" in d.value.columns]
    assert tries["Tokens of reasoning"].fillna(0).tolist() == [0, 3]


def test_buttons_walk_from_answer_to_answer_and_on_to_the_next_page(collected):
    at = open_page(study="study")
    assert at.button(key="answers_previous").disabled
    assert "Answer 1 of the plan" in texts(at)
    assert "answer" not in at.query_params
    at = press(press(at, "answers_next"), "answers_next")
    assert "Answer 3 of the plan" in texts(at)
    assert at.query_params["answer"].isdecimal()
    at = press(at, "answers_previous")
    assert "Answer 2 of the plan" in texts(at)
    trials, _ = browsing.page(collected, "study", {}, "", offset=149, limit=1)
    last_of_page = str(trials["trial_id"].iloc[0])
    at = press(open_page(study="study", page="3", answer=last_of_page), "answers_next")
    assert "Answer 151 of the plan" in texts(at)
    assert at.query_params["page"] == "4"
    at = press(at, "answers_previous")
    assert "Answer 150 of the plan" in texts(at)
    assert at.query_params["answer"] == last_of_page


def test_another_filter_goes_back_to_the_first_page_and_its_first_answer(collected):
    at = press(open_page(study="study", page="3"), "answers_next")
    assert "Answer 102 of the plan" in texts(at)
    at = fine(at.text_input(key="answers:study:search").set_value("person").run())
    assert "Answer 1 of the plan" in texts(at)
    assert rows(at)["Row"].iloc[0] == 1


def test_another_study_forgets_page_filter_and_answer_of_the_first(collected):
    at = press(open_page(study="study", status="answered", page="2"), "answers_next")
    (chooser,) = [box for box in at.selectbox if box.label == "Study"]
    at = fine(chooser.set_value("other").run())
    assert len(rows(at)) == 50
    assert set(at.query_params) == {"study"}


def test_an_answer_of_another_study_in_the_address_is_not_shown_as_one_of_this(collected):
    trials, _ = browsing.page(collected, "study", {}, "", limit=1)
    at = open_page(study="other", answer=str(trials["trial_id"].iloc[0]))
    assert "does not hold the answer" in texts(at)
    assert "does not hold the answer" in texts(open_page(study="other", answer="12"))


def test_every_try_is_listed_with_its_outcome(workspace, server, monkeypatch):
    monkeypatch.setattr(collector, "RETRY_POLICY", collector.RetryPolicy(base_s=0.001))
    asked(workspace, server, lambda n, _: Step(status=500) if n < 2 else None, n_personas=1)
    at = open_page(study="study")
    (tries,) = [d.value for d in at.dataframe if "Outcome" in d.value.columns]
    assert tries["Attempt"].tolist() == [1, 2, 3]
    assert tries["Outcome"].tolist() == [
        "The service had a fault of its own",
        "The service had a fault of its own",
        "Reply",
    ]
    assert tries["Seconds"].notna().all()


def test_a_trial_whose_calls_all_failed_is_an_error_and_not_unasked(workspace, server, monkeypatch):
    policy = collector.RetryPolicy(base_s=0.001, max_attempts=1)
    monkeypatch.setattr(collector, "RETRY_POLICY", policy)
    asked(workspace, server, lambda n, _: Step(status=500) if n == 2 else None, n_personas=1)
    page, total = browsing.page(workspace, "study", {"status": ["error"]}, "")
    assert total == 1
    assert page["status"].tolist() == ["error"]
    overview = browsing.overview(workspace, "study").iloc[0]
    assert (overview["n"] + overview["missing"], overview["error, no reply"]) == (20, 1)
    exported = exports.export_tidy(workspace, "study")
    assert exported.count(b",error") == 1
    at = open_page(study="study", status="error")
    assert "No option (error, no reply)" in texts(at)
    assert "There is no reply." in texts(at)


def test_replies_stay_beside_their_answers_where_some_are_not_asked_yet(workspace, server):
    asked(
        workspace,
        server,
        lambda n, _: Step(status=401) if n >= 7 else Step(content=f"{n % 5 + 1}"),
        n_personas=1,
    )
    page, total = browsing.page(workspace, "study", {}, "")
    assert total == 20
    told = page[page["status"] == "answered"]
    assert len(told) == 7
    assert told["reply"].tolist() == told["option"].tolist() == [str(n % 5 + 1) for n in range(7)]
    assert set(page.loc[page["status"] != "answered", "reply"]) == {""}


def test_quotes_and_line_breaks_are_found_in_prompts(workspace, server):
    state = editing.load(workspace, "attitudes_20")
    first = state.instrument.items[0]
    wording = replace(first.wordings[0], text='They say "never\\ever" often.')
    item = replace(first, wordings=(wording, *first.wordings[1:]))
    bank = replace(state.instrument, items=(item, *state.instrument.items[1:]))
    editing.save(workspace, bank, expected_revision=state.revision)
    asked(workspace, server, n_personas=1)
    for text in ('"NEVER\\ever"', "exactly ONE option. Reply", "Options:\n1"):
        _, total = browsing.page(workspace, "study", {}, text)
        assert total == (1 if "ever" in text else 20), text


def test_hostile_replies_are_shown_to_the_letter_and_never_as_markup(workspace, server):
    evil = "5 ![x](http://evil.invalid/a.png) <img src=x onerror=alert(1)> :red[x] \u202e مر 🙂"
    asked(workspace, server, lambda _n, _b: Step(content=evil), n_personas=1)
    at = open_page(study="study")
    assert rows(at)["Reply"].iloc[0] == evil
    assert "&lt;img src=x onerror=alert(1)&gt;" in "".join(h.proto.body for h in at.html)
    assert "<img" not in "".join(h.proto.body for h in at.html)
    marked = [*at.markdown, *at.caption, *at.header, *at.warning, *at.info]
    assert "evil" not in "".join(part.value for part in marked)


def test_blank_and_missing_replies_are_told_apart(workspace, server):
    asked(workspace, server, lambda _n, _b: Step(content="  "), n_personas=1)
    at = open_page(study="study")
    assert "The reply is empty (2 blank characters)" in texts(at)


def test_an_imported_study_opens_with_what_the_file_said(workspace):
    text = "item,answer,model,raw,status\nq1,4,m,I say 4,\nq2,,m,No.,refused\n"
    imports.import_tidy(workspace, "old.csv", text.encode())
    at = open_page(study="old")
    said = texts(at)
    assert "I say 4" in said
    assert "it was not imported" in said
    assert "The answer of the imported file" in said
    assert "Option 4 (answered)" in said


def test_the_file_is_made_when_asked_for_and_is_the_export(collected):
    at = open_tool(open_page(study="study"), "Download")
    assert not [b for b in at.get("download_button") if "Download" in b.proto.label]
    at = press(at, "prepare:csv")
    (button,) = [b for b in at.get("download_button") if "Download CSV" in b.proto.label]
    data = exports.export_tidy(collected, "study")
    assert f"{len(data):,} bytes" in button.proto.label
    assert data.count(b"\n") == 201


def test_a_damaged_study_leaves_the_page_standing(workspace):
    collect_simulated(workspace)
    with workspace.database.transaction() as cursor:
        cursor.execute("update prompt set messages = '{broken'")
    trials, _ = browsing.page(workspace, "study", {}, "", limit=1)
    answer = str(trials["trial_id"].iloc[0])
    at = apps.run_page("answers", study="study", answer=answer)
    assert not at.exception
    assert "fault in Inkblot" in at.error[0].value
    assert len(rows(at)) == 50
    assert [tab.label for tab in at.tabs][-2:] == ["Download", "Who did what"]


def test_every_status_has_words():
    assert set(Status) <= set(STATUS_WORDS)


def test_statuses_by_condition_add_up_and_say_percentages_of_what_was_asked(collected):
    at = open_page(study="study")
    (shown,) = [d.value for d in at.dataframe if "refused, %" in d.value.columns]
    (row,) = shown.to_dict("records")
    assert (row["planned"], row["asked"]) == (200, 200)
    assert row["n"] + row["missing"] == 200
    assert row["refused, %"] == pytest.approx(100 * row["refused"] / 200)
    at = fine(at.multiselect(key="answers:study:status_rows").set_value(["context"]).run())
    (shown,) = [d.value for d in at.dataframe if "refused, %" in d.value.columns]
    assert len(shown) == 10
    assert shown["refused"].sum() == row["refused"]


def test_percentages_of_what_was_never_asked_are_undefined(workspace):
    freeze(workspace, simulated(), n_personas=1)
    table = browsing.status_table(browsing.status_counts(workspace, "study", ["model"]), ["model"])
    shown = browsing.status_shares(table, ["model"]).iloc[0]
    assert (shown["asked"], shown["missing"]) == (0, 20)
    assert pd.isna(shown["missing, %"])


@pytest.mark.parametrize("column", ["refused", "refused, %", "n", "missing", "planned", "asked"])
def test_a_number_of_the_table_opens_exactly_as_many_answers(collected, column):
    table = browsing.status_table(
        browsing.status_counts(collected, "study", ["context"]), ["context"]
    )
    shown = browsing.status_shares(table, ["context"])
    for row in shown.to_dict("records"):
        statuses = browsing.statuses_of(column)
        filters = {"context": [row["context"]], "status": statuses}
        _, total = browsing.page(collected, "study", filters, "")
        assert total == row[column.removesuffix(", %")]


def test_filters_of_the_address_name_what_a_closed_box_holds_and_can_be_cleared(collected):
    at = open_page(study="study", context="p0003", status="answered", search="person")
    assert "More filters: context" in [box.proto.popover.label for box in at.get("popover")]
    at = press(at, "answers_clear")
    assert len(rows(at)) == 50
    assert set(at.query_params) == {"study"}
    assert at.text_input(key="answers:study:search").value == ""


def test_answers_that_took_several_replies_can_be_found_and_say_so(workspace, server):
    said = ("I would rather not say.", "3", "3")
    asked(workspace, server, lambda n, _: Step(content=said[n % 3]), n_personas=1, ask_again=1)
    at = open_page(study="study")
    at = fine(at.multiselect(key="answers:study:where:tries").set_value(["2"]).run())
    assert set(rows(at)["Reply"]) == {"3"}
    assert at.query_params["tries"] == "2"
    at = press(at, "answers_next")
    assert "There are 2 replies" in texts(at)
    bodies = [h.proto.body for h in at.html]
    assert any(">3</div>" in body for body in bodies)


def test_block_position_and_the_order_of_options_shown_are_told(workspace):
    freeze(workspace, simulated(), n_personas=2, items_per_call=5, label_orders=("random",))
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    trials, _ = browsing.page(workspace, "study", {}, "", offset=7, limit=1)
    trial = int(trials["trial_id"].iloc[0])
    at = open_page(study="study", answer=str(trial))
    (facts,) = [d.value for d in at.dataframe if "Condition" in d.value.columns]
    told = dict(zip(facts["Condition"], facts["Value"], strict=True))
    assert told["Place in its call"] == "3 of 5"
    order = told["Options as shown"].split(", ")
    prompt = browsing.detail(workspace, trial).messages[-1]["content"]
    places = [prompt.index(f"{code} = ") for code in order]
    assert places == sorted(places)
    assert sorted(order) == ["1", "2", "3", "4", "5"]


def test_reading_again_shows_what_would_change_and_does_it_when_told(workspace):
    collect_simulated(workspace)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set parser = 1")
        cursor.execute("update response set status = 'ambiguous', option = null where option = '4'")
    at = press(open_tool(open_page(study="study"), "Read the replies again"), "reread")
    (kinds,) = [
        d.value for d in at.dataframe if list(d.value.columns) == ["Now", "Then", "Answers"]
    ]
    missed = int(kinds["Answers"].sum())
    (surely,) = [d.value for d in at.dataframe if "Certainty" in d.value.columns]
    surely = surely.set_index("Certainty")
    assert surely.loc["Certain", "Answers then"] - surely.loc["Certain", "Answers now"] == missed
    assert "Not recorded" not in surely.index
    assert kinds["Now"].tolist() == ["ambiguous"]
    assert f"**{missed}** of 200 answers would change" in texts(at)
    assert [d for d in at.dataframe if "Mean then" in d.value.columns]
    assert at.dataframe[0].value["ambiguous"].tolist() == [missed]
    at = press(at, "reread_apply")
    assert f"{count_text(missed, 'answer')} changed" in "".join(box.value for box in at.success)
    assert "ambiguous" not in at.dataframe[0].value.columns
    assert f"200 by version {PARSER_VERSION}" in texts(at)


def test_marks_of_reasoning_are_added_to_a_frozen_study_on_the_page(workspace):
    collect_simulated(workspace)
    at = open_tool(open_page(study="study"), "Read the replies again")
    label = at.selectbox(key="marks_respondent").value
    at.text_area(key=f"marks:study:{label}").set_value("[MULL] ... [/MULL]").run()
    at = press(at, "marks_add")
    assert "The amendment has no reason" in at.error[0].value
    at.text_input(key="marks_reason:study").set_value("Seen in the pilot.").run()
    at = press(at, "marks_add")
    done = at.success[0].value.replace("\\", "")
    assert "reasoning between [MULL] and [/MULL] not read" in done
    (amendment,) = amendments.list_amendments(workspace, "study")
    assert amendment.reason == "Seen in the pilot."
    assert amendment.respondent.sampling.reasoning_marks == (("[MULL]", "[/MULL]"),)


def test_reading_again_can_be_left_and_nothing_changes(workspace):
    collect_simulated(workspace)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set certainty = null")
    before = exports.export_tidy(workspace, "study")
    at = press(open_tool(open_page(study="study"), "Read the replies again"), "reread")
    assert "200 answers would stay and get another certainty" in texts(at)
    assert at.button(key="reread_apply").label == "Record the certainty of 200 answers"
    (surely,) = [d.value for d in at.dataframe if "Certainty" in d.value.columns]
    assert "Not recorded" in set(surely["Certainty"])
    at = press(at, "reread_drop")
    assert "answers would change" not in texts(at)
    assert exports.export_tidy(workspace, "study") == before


def test_a_link_to_an_answer_opens_it_though_the_page_was_seen_with_other_filters(collected):
    at = press(open_page(study="study", status="refused"), "answers_next")
    trials, _ = browsing.page(collected, "study", {"item": ["nature_02"]}, "", limit=2)
    trial, ordinal = (int(trials[name].iloc[1]) for name in ("trial_id", "ordinal"))
    for name in [name for name in at.query_params if name != "study"]:
        del at.query_params[name]
    at.query_params.update(item="nature_02", answer=str(trial))
    at = fine(at.run())
    assert f"Answer {ordinal} of the plan" in texts(at)
    assert set(rows(at)["Item"]) == {"nature_02"}
    assert set(at.query_params) == {"study", "item", "answer"}
    at = press(at, "answers_previous")
    assert f"Answer {ordinal} of the plan" not in texts(at)
    assert set(rows(at)["Item"]) == {"nature_02"}


def test_a_link_lists_the_answers_behind_a_number(collected):
    (model,) = browsing.all_levels(collected, "study")["model"]
    behind = {"item": ["nature_03"], "status": ["answered"]}
    _, count = browsing.page(collected, "study", behind, "")
    at = open_page(study="study", item="nature_03", model=model, status="answered", language="en")
    assert len(rows(at)) == count
    assert set(rows(at)["Item"]) == {"nature_03"}
    assert not at.warning
    options = browsing.page(collected, "study", {"item": ["nature_03"]}, "")[0]["option"]
    chosen = options.value_counts()
    at = open_page(study="study", item="nature_03", option=chosen.index[0])
    assert len(rows(at)) == chosen.iloc[0]
    assert {words.partition(" = ")[0] for words in rows(at)["Answer"]} == {chosen.index[0]}


def test_a_link_to_what_the_study_does_not_have_says_so(collected):
    at = open_page(study="study", item="![x](http://evil.invalid/a.png)", status="lost")
    (warning,) = [box.value for box in at.warning]
    assert "answers that this study does not have" in warning
    assert "](http" not in warning
    assert len(rows(at)) == 50
    at = fine(pills(at).set_value(["refused"]).run())
    assert not at.warning
    none = open_page(study="study", status="truncated")
    assert "No answer passes these filters" in texts(none)
    assert "Cut off 0" in pills(none).options


def test_the_list_shows_the_text_of_the_item_and_the_label_of_the_option(collected):
    at = open_page(study="study")
    first = rows(at).iloc[0]
    assert first["Text"] == "A walk among trees helps me to put my thoughts in order."
    answered = rows(at)[rows(at)["Status"] == "answered"].iloc[0]
    code, _, label = answered["Answer"].partition(" = ")
    assert label == dict(zip("12345", LABELS, strict=True))[code]
    refused = rows(open_page(study="study", status="refused")).iloc[0]
    assert refused["Answer"] == "(refused)"


def test_counts_beside_the_statuses_follow_the_other_filters(collected):
    at = open_page(study="study", context="p0003")
    counts = browsing.status_tally(collected, "study", {"context": ["p0003"]}, "")
    assert sum(counts.values()) == 20
    assert f"Answered {counts['answered']}" in pills(at).options


def test_a_ticked_row_of_a_table_of_items_leads_to_the_replies_behind_it(collected):
    at = apps.open_page("item_statistics", timeout=90, study="study")
    tables = [d for d in at.dataframe if "Item: wording" in d.value.columns]
    label = next((t for t in apps.tab_labels(at) if t.startswith("Items")), None)
    if not tables:
        at = apps.open_tab(at, "item_statistics", label)
        tables = [d for d in at.dataframe if "Item: wording" in d.value.columns]
    item = tables[0].value["Item"].iloc[2]
    states = at._tree.get_widget_states()
    ticked = {"selection": {"rows": [2], "columns": [], "cells": []}}
    states.widgets.append(WidgetState(id=tables[0].proto.id, string_value=json.dumps(ticked)))
    at = fine(at._run(states))
    (link,) = [link.proto for link in at.get("page_link") if "ticked row" in link.proto.label]
    assert link.page == "answers"
    assert f"item={item}" in link.query_string
    linked = {name: values[0] for name, values in parse_qs(link.query_string).items()}
    assert set(rows(open_page(**linked))["Item"]) == {item}


# Readings of the answers to the item q1 to q7, and what the list says of each.
READ = """item,answer,model,raw,status,layer,certainty,hedged,judge
q1,4,m,4,,whole,certain,no,
q2,5,m,I agree.,,statement,likely,no,
q3,2,m,Maybe 2.,,single_mention,guess,no,
q4,1,m,As an AI I have none. 1,,single_mention,guess,yes,
q5,3,m,Hm 3?,,judge,likely,no,GPT [x](y)
q6,,m,I have no opinion.,refused,status,guess,yes,
q7,2,m,2,,,,,
"""
HOW_READ = {
    "q1": "certain",
    "q2": "likely",
    "q3": "guess",
    "q4": "guess, disclaimer",
    "q5": "likely, judge GPT [x](y)",
    "q6": "guess, disclaimer",
    "q7": "",
}


@pytest.fixture
def read(workspace):
    imports.import_tidy(workspace, "read.csv", READ.encode())
    return workspace


def test_the_list_says_how_replies_were_read_and_is_filtered_by_it(read):
    at = open_page(study="read")
    assert dict(zip(rows(at)["Item"], rows(at)["How read"], strict=True)) == HOW_READ
    at = fine(at.multiselect(key="answers:read:where:certainty").set_value(["guess"]).run())
    assert rows(at)["Item"].tolist() == ["q3", "q4", "q6"]
    assert "Answered 2" in pills(at).options
    at = fine(at.multiselect(key="answers:read:where:hedged").set_value(["yes"]).run())
    assert rows(at)["Item"].tolist() == ["q4", "q6"]
    assert (at.query_params["certainty"], at.query_params["hedged"]) == ("guess", "yes")
    assert "More filters: certainty, disclaimer" in [
        b.proto.popover.label for b in at.get("popover")
    ]
    assert at.multiselect(key="answers:read:where:hedged").options == [
        "disclaimer",
        "no disclaimer",
    ]
    at = open_page(study="read", layer="judge", judge="GPT [x](y)")
    assert rows(at)["Item"].tolist() == ["q5"]
    assert not at.warning
    unknown = open_page(study="read", certainty="sure")
    assert "certainty sure" in unknown.warning[0].value
    assert len(rows(unknown)) == 7


def test_filters_of_readings_are_offered_only_where_a_study_has_such_values(workspace):
    imports.import_tidy(workspace, "old.csv", b"item,answer,model\nq1,4,m\nq2,5,m\n")
    at = open_page(study="old")
    assert not [b for b in at.multiselect if b.label in ("Certainty", "Read by", "Disclaimer")]
    assert "How read" not in rows(at)
    assert not [toggle for toggle in at.toggle if toggle.label == "How answers were read"]


def test_the_open_answer_says_how_it_was_read_and_until_when_otherwise(read):
    trials = browsing.page(read, "read", {}, "")[0].set_index("item")["trial_id"]

    def open_item(item):
        return open_page(study="read", answer=str(trials[item]))

    (said,) = [c for c in open_item("q4").caption if "imported file" in c.value]
    start = "Read from a single mention of an option; a guess. The reply also says"
    assert said.value.replace("\\", "").startswith(start)
    assert "**last statement**" in said.proto.help
    assert "docs/reading.md" in said.proto.help
    judged = texts(open_item("q5"))
    assert "Judged by GPT \\[x\\]\\(y\\); likely\\. The judge's coding replaces" in judged
    assert "Read from" not in texts(open_item("q7"))
    study = studies.get(read.database, "read").study_id
    now = browsing.detail(read, int(trials["q4"]))
    change = ResponseChange(
        now.trial_id,
        now.status,
        "1",
        now.attempt_id,
        "answered",
        "5",
        None,
        now.attempt_id,
        1,
        layer="judge",
        judge="J",
    )
    table = audits.change_table([change])
    assert audits.apply_changes(read.database, study, table, cause="judge") == 1
    said = texts(open_item("q4"))
    assert "Judged by J\\. The judge's coding" in said
    assert "1 \\(answered\\), guess, disclaimer; changed by a judge's coding" in said


def test_counts_say_how_answers_were_read_and_a_number_opens_these_answers(read):
    at = open_page(study="read")
    assert "guess" not in at.dataframe[0].value
    at = fine(at.toggle(key="answers:read:how_read").set_value(True).run())
    (counts,) = at.dataframe[0].value.to_dict("records")
    found = {
        name: counts[name] for name in ("n", "certain", "likely", "guess", "disclaimer", "judged")
    }
    assert found == {
        "n": 6,
        "certain": 1,
        "likely": 2,
        "guess": 2,
        "disclaimer": 1,
        "judged": 1,
    }
    assert "person" not in counts
    for name, items in (
        ("guess", ["q3", "q4"]),
        ("disclaimer", ["q4"]),
        ("judged", ["q5"]),
        ("likely", ["q2", "q5"]),
    ):
        states = at._tree.get_widget_states()
        cell = {"selection": {"rows": [], "columns": [], "cells": [[0, name]]}}
        states.widgets.append(
            WidgetState(id=at.dataframe[0].proto.id, string_value=json.dumps(cell))
        )
        at = fine(at._run(states))
        assert rows(at)["Item"].tolist() == items


def test_readings_are_counted_in_the_rows_of_their_factors():
    table = pd.DataFrame({"model": ["a", "b"], "planned": [3, 3], "n": [2, 0], "missing": [1, 3]})
    counts = pd.DataFrame(
        [
            {
                "model": "a",
                "answers": 2,
                "certain": 0,
                "likely": 2,
                "guess": 0,
                "person": 0,
                "judged": 0,
                "unknown": 0,
                "hedged": 1,
            }
        ]
    )
    shown = browsing.with_readings(table, counts, ["model"])
    assert list(shown) == ["model", "planned", "n", "likely", "disclaimer", "missing"]
    assert shown[["likely", "disclaimer"]].values.tolist() == [[2, 1], [0, 0]]

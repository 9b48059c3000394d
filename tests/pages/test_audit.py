"""The Audit page: drawing, coding one reply at a time, the result, and taking a coding over."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import streamlit

from core.domain.study import Design
from core.workflow.answers import agreement, audits, browsing, exports
from core.workflow.answers.browsing import ShownOption
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from pages.audit.coding import keys_of
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.workflow.studies import KEY_VARIABLE, freeze, personas, service, simulated

VERDICT = re.compile("Inkblot read (the same|something else)")


@pytest.fixture(autouse=True)
def no_leftovers():
    streamlit.cache_data.clear()


def open_page(**parameters):
    return fine(apps.run_page("audit", **parameters))


def fine(at):
    assert not at.exception
    assert not at.error
    return at


def texts(at):
    shown = [*at.markdown, *at.caption, *at.info, *at.success, *at.warning, *at.text, *at.header]
    said = "\n".join(part.value for part in shown).replace("\\", "")
    return said + "".join(h.proto.body for h in at.html)


def press(at, key):
    return fine(at.button(key=key).click().run())


def collect(workspace, **factors):
    first = simulated("A", refusal_rate=0.2, explanation_rate=0.3, seed=3)
    second = replace(simulated("B", refusal_rate=0.5, seed=4), model="second model")
    for person in (first, second):
        catalog.save(workspace, person)
    studies.freeze(
        workspace, Design("study", "attitudes_20", ("A", "B"), contexts=personas(3), **factors)
    )
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def draw(at, per_model, *, at_end=False):
    at = fine(at.number_input(key="audit_per_model").set_value(per_model).run())
    at = fine(at.radio(key="audit_at_end").set_value(at_end).run())
    return press(at, "audit_draw")


def show(at, view):
    """Open a tab of the page."""
    at.session_state["audit_view"] = view
    return fine(at.run())


def table_with(at, *columns):
    """The one table of the page that has these columns."""
    (found,) = [d.value for d in at.dataframe if {*columns} <= {*d.value.columns}]
    return found


def coding_buttons(at):
    return [b for b in at.button if (b.key or "").startswith(("audit_option:", "audit_status:"))]


def code(at, what):
    """Press the button of an option or a status of the reply on the page."""
    (key,) = [b.key for b in coding_buttons(at) if b.key.endswith(f":{what}")]
    return press(at, key)


def shown_trial(at):
    return int(coding_buttons(at)[0].key.split(":")[1])


def parsed(workspace, trial):
    found = browsing.detail(workspace, trial)
    return found.option or found.status


def test_an_empty_database_and_an_unasked_study_say_what_to_do(workspace):
    assert "There is no study yet" in texts(open_page())
    freeze(workspace, simulated())
    at = open_page(study="study")
    assert "no replies yet" in texts(at)
    assert "Go to Collect" in [link.label for link in at.get("page_link")]


def test_the_verdict_of_the_parser_is_not_on_the_page_before_a_reply_is_coded(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 10)
    said = texts(at)
    assert "0 of 20 replies coded" in "".join(bar.proto.text for bar in at.get("progress"))
    found = browsing.detail(workspace, shown_trial(at))
    assert found.text in said
    assert found.reply in said.replace("&#x27;", "'")
    assert not VERDICT.search(said)
    assert not [d for d in at.dataframe if "Inkblot" in d.value.columns]
    for view in ("Replies", "Agreement"):
        at = show(at, view)
        assert not VERDICT.search(texts(at))
        assert all("".join(d.value.get("Inkblot", [])) == "" for d in at.dataframe)
        assert not [d for d in at.dataframe if "How read" in d.value.columns]
    at = code(show(at, "Code"), "refused")
    assert "Last reply: you read refused" in texts(at)
    assert VERDICT.search(texts(at))


def test_with_verdicts_at_the_end_nothing_of_the_parser_is_shown_until_all_is_coded(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 2, at_end=True)
    for _ in range(3):
        at = code(show(at, "Code"), "refused")
        assert not VERDICT.search(texts(at))
        at = show(at, "Agreement")
        assert "shown when every reply is coded" in texts(at)
        assert not at.dataframe
        assert set(table_with(show(at, "Replies"), "Reply")["Inkblot"]) == {""}
    at = code(show(at, "Code"), "refused")
    assert "Every reply of this sample is coded" in texts(at)
    assert not table_with(show(at, "Agreement"), "Drawn", "Kappa").empty


def test_the_last_coding_can_be_corrected_and_the_one_before_it(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 5)
    first = shown_trial(at)
    at = code(at, "1")
    second = shown_trial(at)
    at = code(at, "2")
    third = shown_trial(at)
    at = press(at, "audit_back")
    assert shown_trial(at) == second
    assert "You coded this reply: 2" in texts(at).replace("\\", "")
    at = press(at, "audit_back")
    assert shown_trial(at) == first
    at = code(at, "neutral")
    assert shown_trial(at) == third
    (audit,) = audits.list_audits(workspace, "study")
    kept = audits.codings(workspace, audit).set_index("trial_id")["person_status"].to_dict()
    assert kept == {first: "neutral", second: "answered"}


def test_a_reload_goes_on_where_it_was_left(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 5)
    at = code(at, "1")
    following = shown_trial(at)
    again = open_page(study="study", audit=at.query_params["audit"])
    assert shown_trial(again) == following
    assert "1 of 10 replies coded" in "".join(bar.proto.text for bar in again.get("progress"))


def test_results_disagreements_and_files_are_those_of_the_workflow(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 4)
    for number in range(8):
        trial = shown_trial(at)
        at = code(at, "neutral" if number == 3 else parsed(workspace, trial))
    (audit,) = audits.list_audits(workspace, "study")
    frame = agreement.results(audits.load_sample(workspace, audit)).frame
    shown = table_with(show(at, "Agreement"), "Drawn", "Kappa")
    assert shown["Success rate"].tolist() == frame["success"].tolist()
    assert shown["Kappa"].isna().tolist() == frame["kappa"].isna().tolist()
    labels = [b.proto.label for b in at.get("download_button")]
    assert labels == ["CSV", "All codings (CSV)", "CSV", "CSV", "CSV"]
    at = show(at, "Replies")
    assert len(table_with(at, "Counts as")) == 8
    at = fine(at.pills(key="audit_which").set_value("Coder and Inkblot differ").run())
    assert table_with(at, "Counts as")["Code of Coder 1"].tolist() == ["neutral, non-committal"]


def test_a_coding_is_taken_into_the_data_and_given_back(workspace):
    collect(workspace)
    before = exports.export_tidy(workspace, "study")
    at = draw(open_page(study="study"), 2)
    for _ in range(4):
        at = code(at, "neutral")
    at = show(at, "Replies")
    assert at.button(key="audit_give_back").disabled
    at = press(at, "audit_take")
    overview = browsing.overview(workspace, "study")
    assert overview["neutral, non-committal"].sum() == 4
    assert set(table_with(at, "Counts as")["In the data"]) == {"a person's"}
    assert at.button(key="audit_take").disabled
    at = press(at, "audit_give_back")
    assert exports.export_tidy(workspace, "study") == before


def test_the_prompt_is_shown_on_demand(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 2)
    assert "How do you respond" not in texts(at)
    at = press(at, "audit_show_prompt")
    assert "Your answer:" in texts(at)
    at = press(at, "audit_show_prompt")
    assert "Your answer:" not in texts(at)


def test_in_a_block_the_page_says_which_item_is_coded(workspace):
    collect(workspace, items_per_call=5)
    at = draw(open_page(study="study"), 2)
    found = browsing.detail(workspace, shown_trial(at))
    assert f"Item {found.position} of the 5 that the reply answers" in texts(at)
    assert found.text in texts(at)


def test_the_same_seed_opens_the_sample_on_file(workspace):
    collect(workspace)
    at = code(draw(open_page(study="study"), 5), "1")
    at = draw(at, 5)
    assert len(audits.list_audits(workspace, "study")) == 1
    assert "1 of 10 replies coded" in "".join(bar.proto.text for bar in at.get("progress"))
    at = draw(at, 3)
    assert len(audits.list_audits(workspace, "study")) == 2
    assert "0 of 6 replies coded" in "".join(bar.proto.text for bar in at.get("progress"))


def test_guesses_are_drawn_filtered_and_shown_apart_from_what_is_certain(workspace):
    collect(workspace)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set layer = 'whole', certainty = 'certain', hedged = false")
        cursor.execute(
            "update response set layer = 'single_mention', certainty = 'guess', hedged = true"
            " where option = '1'"
        )
    at = open_page(study="study")
    at = fine(at.pills(key="audit_kinds:study").set_value(["guess", "certain"]).run())
    at = draw(at, 2)
    assert "only read as certain, guesses" in at.selectbox[1].options[0]
    for number in range(8):
        at = code(at, "1" if number else "refused")
    at = show(at, "Agreement")
    assert "A rate over all of them is not the rate of the study" in texts(at)
    assert re.search(r"certain \S+ \[.*; guess \S+ \[", texts(at))
    assert table_with(at, "Read as")["Read as"].unique().tolist() == ["certain", "guess"]
    at = show(at, "Replies")
    at = fine(at.multiselect(key="audit_read:certainty").set_value(["guess"]).run())
    shown = table_with(at, "How read")
    assert shown["How read"].tolist() == ["guess, disclaimer"] * 4
    assert shown["Layer"].unique().tolist() == ["single mention"]


def test_how_a_reply_was_read_and_by_which_judge_is_filtered_once_it_is_coded(workspace):
    collect(workspace)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set layer = 'whole', certainty = 'certain', hedged = false")
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=2)
    first, second, *others = audits.load_sample(workspace, audit).trials
    with workspace.database.transaction() as cursor:
        cursor.execute(
            "update response set layer = 'judge', judge = 'Arbiter', certainty = 'likely'"
            " where trial_id in (?, ?)",
            [second, others[0]],
        )

    def hides_the_reading(at):
        shown = texts(at) + "".join(d.value.to_csv() for d in at.dataframe)
        filters = [m for m in at.multiselect if m.key.startswith("audit_read:")]
        return "Arbiter" not in shown and not filters

    at = open_page(study="study")
    assert all(hides_the_reading(show(at, view)) for view in ("Code", "Replies", "Agreement"))
    audits.save_coding(workspace, audit, first, option="1")
    audits.save_coding(workspace, audit, second, option="1")
    at = show(at, "Replies")
    judge = at.multiselect(key="audit_read:judge")
    assert judge.options == ["Arbiter", "no judge"]
    shown = table_with(fine(judge.set_value(["Arbiter"]).run()), "How read")
    assert shown["Judge"].tolist() == ["Arbiter"]  # the other judged reply is not coded yet
    at = show(at, "Agreement")
    at = fine(at.segmented_control(key="audit_feature").set_value("judge").run())
    of_judge = table_with(at, "Read as")
    assert {"Arbiter", "no judge"} == set(of_judge["Read as"])
    at = show(at, "Code")
    assert shown_trial(at) == others[0]  # judged, as was the last reply
    assert VERDICT.search(texts(at))
    assert "Arbiter" not in texts(at)


def two_codings(workspace):
    """A sample whose first reply Anna and Ben have coded differently, and its trial."""
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=2)
    trial = audits.reply_to_code(workspace, audit).answer.trial_id
    for coder, option in (("Anna", "1"), ("Ben", "2")):
        audits.save_coding(workspace, audit, trial, option=option, coder=coder)
    audits.save_note(workspace, audit, trial, "Anna", "almost a refusal")
    return audit, trial


def test_a_coder_sees_nothing_of_another_before_coding_the_reply(workspace):
    _, trial = two_codings(workspace)
    at = open_page(study="study", coder="Clara")
    assert shown_trial(at) == trial
    for view in ("Code", "Adjudicate", "Replies", "Agreement"):
        at = show(at, view)
        assert "almost a refusal" not in texts(at)
        assert "kappa" not in texts(at).lower()
    shown = table_with(show(at, "Replies"), "Notes")
    columns = ["Code of Anna", "Code of Ben", "Final coding", "Inkblot", "Notes"]
    assert set(shown[columns].to_numpy().ravel()) == {""}
    at = code(show(at, "Code"), "3")
    shown = table_with(show(at, "Replies"), "Notes")
    assert shown["Code of Anna"].tolist().count("1 (answered)") == 1
    assert "almost a refusal" in "".join(shown["Notes"])


def test_who_adjudicates_sees_both_codes_decides_and_codes_no_more(workspace):
    audit, trial = two_codings(workspace)
    at = show(open_page(study="study", coder="Clara"), "Adjudicate")
    at = press(at, "audit_begin_adjudication")
    said = texts(at)
    assert "0 of 1 reply on which coders differ" in said
    assert {"1 (answered)", "2 (answered)"} <= {part.value for part in at.text}
    assert "almost a refusal" in said
    at = press(at, f"adjudicate_status:{trial}:refused")
    assert "Every reply on which coders differ has a final coding" in texts(at)
    final = audits.load_sample(workspace, audit).codes["Final coding"][trial]
    assert final.status == "refused"
    at = press(at, "adjudicate_back")
    assert "Clara decided: refused" in texts(at)
    at = show(at, "Code")
    assert "Clara adjudicates this sample" in texts(at)
    assert not coding_buttons(at)


def test_a_note_is_kept_on_change_and_a_key_in_it_is_refused(workspace):
    audit, trial = two_codings(workspace)
    at = open_page(study="study", coder="Clara")
    at = fine(at.text_area[0].set_value("unsure").run())
    assert audits.notes(workspace, audit)[trial, "Clara"] == "unsure"
    at = at.text_area[0].set_value("sk-" + "a1B2" * 6).run()
    assert "looks like the key of a service" in at.error[0].value
    assert audits.notes(workspace, audit)[trial, "Clara"] == "unsure"


def test_a_name_that_no_coder_can_have_is_told_and_coder_1_codes(workspace):
    two_codings(workspace)
    at = apps.run_page("audit", study="study", coder="inkblot")
    assert not at.exception
    assert "No coder can be called" in at.error[0].value
    assert at.query_params["coder"] in ("Coder 1", ["Coder 1"])


def test_the_list_is_filtered_by_what_the_coder_may_see(workspace):
    _, trial = two_codings(workspace)
    models = {"graded response model", "second model"}
    (other,) = models - {browsing.detail(workspace, trial).model}
    at = show(open_page(study="study", coder="Clara"), "Replies")
    at = fine(at.pills(key="audit_which").set_value("Not coded by you").run())
    assert len(table_with(at, "Reply")) == 4
    at = fine(at.pills(key="audit_which").set_value("Coders differ").run())
    assert "No reply is as the filters say" in texts(at)
    at = show(open_page(study="study", coder="Anna"), "Replies")
    at = fine(at.pills(key="audit_which").set_value("Coders differ").run())
    assert len(table_with(at, "Reply")) == 1
    statuses = at.multiselect(key="audit_statuses")
    assert len(table_with(fine(statuses.set_value(["answered"]).run()), "Reply")) == 1
    at = fine(at.multiselect(key="audit_models").set_value([other]).run())
    assert "No reply is as the filters say" in texts(at)


def test_hostile_replies_are_shown_to_the_letter(workspace, monkeypatch):
    evil = "5 ![x](http://evil.invalid/a.png) <img src=x onerror=alert(1)> :red[x]"
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        server.script = lambda _n, _b: Step(content=evil)
        freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
        control.start(workspace, "study")
        control.wait(workspace, "study", every_s=0.02)
    at = code(draw(open_page(study="study"), 3), "refused")
    at = fine(at.text_area[0].set_value(evil).run())
    assert "<img" not in "".join(h.proto.body for h in show(at, "Replies").html)
    at = show(at, "Code")
    assert "<img" not in "".join(h.proto.body for h in at.html)
    marked = [*at.markdown, *at.caption, *at.header, *at.info]
    assert "evil" not in "".join(part.value for part in marked)


@pytest.mark.parametrize(
    ("codes", "keys"),
    [
        ("1 2 3 4 5", "1 2 3 4 5"),
        ("0 1 2", "0 1 2"),
        ("A B", "A B"),
        ("yes no", "1 2"),
        ("X Y", "1 2"),  # X is a status
        ("C D", "1 2"),  # C belongs to Streamlit
        ("-1 0 1", "1 2 3"),
        ("1 2 3 4 5 6 7 8 9 10 11", "1 2 3 4 5 6 7 8 9 0"),
    ],
)
def test_keys_are_the_codes_where_they_can_be_and_never_clash(codes, keys):
    found = keys_of([ShownOption(code, "") for code in codes.split()])
    assert list(found.values()) == keys.split()

"""The Audit page: drawing, coding one reply at a time, the result, and taking a coding over."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import streamlit

from core.domain.study import Design
from core.workflow.answers import audits, browsing, exports
from core.workflow.answers.browsing import ShownOption
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from pages.audit import keys_of
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
    at = code(at, "refused")
    assert "Last reply: you read refused" in texts(at)
    assert VERDICT.search(texts(at))


def test_with_verdicts_at_the_end_nothing_of_the_parser_is_shown_until_all_is_coded(workspace):
    collect(workspace)
    at = draw(open_page(study="study"), 2, at_end=True)
    for _ in range(3):
        at = code(at, "refused")
        assert not VERDICT.search(texts(at))
        assert "shown when every reply is coded" in texts(at)
        assert not [d for d in at.dataframe if "Success rate" in d.value.columns]
    at = code(at, "refused")
    assert "Every reply of this sample is coded" in texts(at)
    assert [d for d in at.dataframe if "Success rate" in d.value.columns]


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
    frame = audits.results(workspace, audit).frame
    (shown,) = [d.value for d in at.dataframe if "Success rate" in d.value.columns]
    assert shown["Success rate"].tolist() == frame["success"].tolist()
    assert shown["Kappa"].isna().tolist() == frame["kappa"].isna().tolist()
    (differing,) = [d.value for d in at.dataframe if "Counts as" in d.value.columns]
    assert differing["You"].tolist() == ["neutral, non-committal"]
    labels = [b.proto.label for b in at.get("download_button")]
    assert labels == ["CSV", "All codings (CSV)"]


def test_a_coding_is_taken_into_the_data_and_given_back(workspace):
    collect(workspace)
    before = exports.export_tidy(workspace, "study")
    at = draw(open_page(study="study"), 2)
    for _ in range(4):
        at = code(at, "neutral")
    assert at.button(key="audit_give_back").disabled
    at = press(at, "audit_take")
    overview = browsing.overview(workspace, "study")
    assert overview["neutral, non-committal"].sum() == 4
    (differing,) = [d.value for d in at.dataframe if "Counts as" in d.value.columns]
    assert set(differing["In the data"]) == {"yours"}
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


def test_hostile_replies_are_shown_to_the_letter(workspace, monkeypatch):
    evil = "5 ![x](http://evil.invalid/a.png) <img src=x onerror=alert(1)> :red[x]"
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        server.script = lambda _n, _b: Step(content=evil)
        freeze(workspace, service(server.base_url, at_once=1), n_personas=1)
        control.start(workspace, "study")
        control.wait(workspace, "study", every_s=0.02)
    at = code(draw(open_page(study="study"), 3), "refused")
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

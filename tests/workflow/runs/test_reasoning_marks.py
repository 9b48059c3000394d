"""Marks of reasoning that one respondent has: when replies come, and when they are read again."""

from __future__ import annotations

import pytest

from core.errors import CollectionError, DesignError
from core.workflow.answers import browsing, rereading
from core.workflow.designs import studies
from core.workflow.reports import facts
from core.workflow.respondents import catalog, files, forms
from core.workflow.runs import amendments, control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, freeze, service, simulated

MARKS = (("[MULL]", "[/MULL]"),)
REPLY = "[mull]A first thought: Strongly disagree, or 2? I weigh 1 against 5.[/mull]\n4"


@pytest.fixture
def server(monkeypatch):
    with FaultServer(lambda *_: Step(content=REPLY)) as found:
        monkeypatch.setenv(KEY_VARIABLE, found.key)
        yield found


def options(workspace):
    rows, _ = browsing.page(workspace, "study", {}, "")
    return set(rows["status"]), set(rows["option"].dropna())


def asked(workspace, person):
    freeze(workspace, person, n_personas=1)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"


def test_what_stands_between_the_marks_of_a_respondent_is_not_read(workspace, server):
    asked(workspace, service(server.base_url, reasoning_marks=MARKS))
    assert options(workspace) == ({"answered"}, {"4"})
    assert rereading.preview_rereading(workspace, "study").n_changed == 0
    rows, _ = browsing.page(workspace, "study", {}, "")
    assert set(rows["reply"]) == {REPLY}  # kept to the letter


def test_marks_that_are_added_later_hold_for_the_replies_on_file(workspace, server):
    asked(workspace, service(server.base_url))
    before = options(workspace)
    assert before != ({"answered"}, {"4"})
    plan = studies.load(workspace, "study").plan_hash
    amendment = amendments.amend_marks(
        workspace, "study", "Service", marks="[MULL] ... [/MULL]", reason="Seen in the pilot."
    )
    assert amendment.change == "reasoning between [MULL] and [/MULL] not read"
    assert options(workspace) == before
    preview = rereading.preview_rereading(workspace, "study")
    assert preview.n_changed == 20
    rereading.apply_rereading(workspace, preview)
    assert options(workspace) == ({"answered"}, {"4"})
    assert studies.load(workspace, "study").plan_hash == plan
    (sentence,) = amendments.sentences(workspace, "study")
    assert sentence.endswith("[MULL] and [/MULL] not read. Reason: Seen in the pilot.")
    ((*_, settings, _),) = facts.respondent_rows(facts.load(workspace, "study"))
    assert "reasoning between [MULL] and [/MULL] not read" in settings


def test_the_marks_of_one_respondent_are_not_those_of_another(workspace, server):
    plain = service(server.base_url, label="Plain")
    catalog.save(workspace, plain)
    freeze(
        workspace, service(server.base_url, reasoning_marks=MARKS), n_personas=1, also=("Plain",)
    )
    control.start(workspace, "study")
    finished(workspace)
    rows, _ = browsing.page(workspace, "study", {}, "")
    read = rows.groupby("respondent")["option"].agg(lambda column: set(column.dropna()))
    assert read["Service"] == {"4"}
    assert read["Plain"] != {"4"}
    assert rereading.preview_rereading(workspace, "study").n_changed == 0


@pytest.mark.parametrize(
    ("marks", "reason", "words"),
    [
        ("[MULL]", "Seen.", "Line 1 of the marks of reasoning is no pair"),
        ("[MULL] ... [/MULL]\n< ... >", "Seen.", "Line 2 of the marks"),
        ("[MULL] ... [/MULL]", " ", "no reason"),
        ("", "Seen.", "adds no marks"),
    ],
)
def test_marks_that_cannot_be_added_are_refused(workspace, marks, reason, words):
    label = simulated().label
    freeze(workspace, simulated(), n_personas=1)
    with pytest.raises((CollectionError, DesignError), match=words):
        amendments.amend_marks(workspace, "study", label, marks=marks, reason=reason)
    assert amendments.list_amendments(workspace, "study") == ()


def test_the_new_settings_go_out_and_in_and_leave_older_respondents_their_ids(workspace):
    known = service("https://api.example.org/v1")
    assert known.respondent_id == 6097501041301734876  # as it was before the settings came
    person = service(
        "https://api.example.org/v1",
        reasoning_marks=(*MARKS, ("<<<", ">>>")),
        completes_text=True,
        extra_body={"stop": ["\n", "END \\n"], "top_k": 3},
    )
    assert person.respondent_id != known.respondent_id
    fields = forms.fields_of(person)
    assert fields["stop_text"] == "\\n\nEND \\\\n"
    text = files.write_respondents([person])
    (again,) = files.read_respondents("people.yaml", text.encode())
    assert again.respondent_id == person.respondent_id
    assert forms.to_respondent("api", fields).respondent_id == person.respondent_id

"""Unclear replies are put to a judge, its codings taken into the data, audited and undone."""

from __future__ import annotations

import pytest

from core.__main__ import main
from core.domain.instrument import REPLY_TO_JUDGE
from core.domain.study import Status
from core.errors import CodingError
from core.workflow import next_steps
from core.workflow.answers import audits, browsing, exports, judging, rereading
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.templates import editing
from tests.fault_server import Step
from tests.workflow.studies import finished, freeze, service, simulated
from tests.workflow.templates.test_editing import OWN

TWO = "Either 2 or 4."
REFUSED = "As an AI language model, I do not have personal opinions."
FIVE = ("nature_01", "nature_02", "nature_03", "technology_01", "technology_02")


def first(body):
    return body["messages"][-1]["content"]


def is_judge(body):
    return "Reply of the model" in first(body)


def ask(workspace, server, script, **factors):
    """A study whose replies a script gives, and a judge at the same service."""
    server.script = script
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1, **factors)
    control.start(workspace, "study")
    assert finished(workspace).state == "finished"
    add_judge(workspace, server)


def add_judge(workspace, server, label="Judge"):
    judge = service(server.base_url, label, at_once=1, price_in=1.0, price_out=2.0, max_tokens=9)
    catalog.save(workspace, judge)


def judged(workspace, judge="Judge", **choices):
    """A finished study of a judge over the replies of `study`."""
    planned = judging.plan(workspace, "study", judge, **choices)
    record = judging.create_study(workspace, planned)
    control.start(workspace, record.code)
    assert finished(workspace, record.code).n_done == planned.size.calls
    return record.code


def responses(workspace, columns):
    rows = workspace.database.rows(
        f"select i.code, {columns} from response r join trial t using (trial_id)"  # noqa: S608
        " join item i using (item_id) join study s on s.study_id = r.study_id"
        " where s.code = 'study'"
    )
    return {code: values for code, *values in rows}


def four_kinds(number, body):
    """Unclear replies, and a judge that is at times down, off the scale, silent or wordy."""
    if not is_judge(body):
        place = number % 5
        return Step(content=(f"{TWO} ({number})", "5", TWO, REFUSED, "")[place])
    if four_kinds.judged == 0 and not four_kinds.failed:
        four_kinds.failed = True
        return Step(status=500)
    four_kinds.judged += 1
    return Step(content=("4", "none", "7", "", "Code: 2")[(four_kinds.judged - 1) % 5])


def test_a_judge_decides_what_is_unclear_and_all_of_it_can_be_undone(workspace, server):
    four_kinds.judged, four_kinds.failed = 0, False
    ask(workspace, server, four_kinds)
    before = exports.export_tidy(workspace, "study")
    counts = judging.count_kinds(judging.load_replies(workspace, "study")).set_index("kind")
    assert counts["replies"].to_dict() == {"ambiguous": 8, "refused": 4}  # not the empty ones
    planned = judging.plan(workspace, "study", "Judge")
    low, high = planned.size.cost
    assert (planned.n_replies, planned.size.calls, planned.cautions) == (
        8,
        8,
        ("'Judge' is a model that gave replies of this study, and judges its own.",),
    )
    assert 0 < low < high
    sent = len(server.chats)
    study = judged(workspace)
    assert len(server.chats) == sent + 9  # one was asked again after the failure
    (run,) = [run for run in control.list_runs(workspace) if run.study == study]
    (step,) = next_steps.next_steps(workspace, studies.load(workspace, study), run)
    assert (step.page, step.study) == ("audit", "study")
    found = judging.preview(workspace, "study", study)
    # replies of the judge in turn: 4, none, 7, nothing, 2; 4, none, 7
    assert (found.n_changes, found.n_none, found.n_unread, found.n_waiting) == (3, 2, 3, 0)
    assert sorted(found.kinds["option"]) == ["2", "4"]
    assert exports.export_tidy(workspace, "study") == before
    assert judging.take_over(workspace, found) == 3
    marks = [v for v in responses(workspace, "r.layer, r.judge, r.parser, r.status").values()]
    assert marks.count(["judge", "Judge", None, "answered_with_explanation"]) == 3
    assert sum(layer == "judge" for layer, *_ in marks) == 3
    again = rereading.preview_rereading(workspace, "study", persons=True)
    assert (again.n_read, again.n_judged, again.n_changed, again.n_rated) == (17, 3, 0, 0)
    assert judging.judge_studies(workspace, "study")[0].n_taken == 3
    assert judging.take_over(workspace, found) == 0
    assert judging.preview(workspace, "study", study).n_taken == 3
    assert judging.undo(workspace, "study", study) == 3
    assert exports.export_tidy(workspace, "study") == before
    assert judging.undo(workspace, "study", study) == 0


def test_the_judge_reads_the_question_its_options_and_the_reply_as_they_were(workspace, server):
    reply = "{entity} or {options}: 2 or 4 {none}"
    ask(
        workspace,
        server,
        lambda n, body: Step(content="4" if is_judge(body) else reply),
        items=FIVE,
    )
    judged(workspace, rubric="Q {item}\nO\n{options}\nReply of the model\n{reply}\n[{none}]")
    item = workspace_item(workspace)
    sent = {first(seen.body) for seen in server.chats if is_judge(seen.body)}
    assert (
        f"Q {item}\nO\n1 = Strongly disagree\n2 = Disagree\n3 = Neither agree nor disagree\n"
        f"4 = Agree\n5 = Strongly agree\nReply of the model\n{reply}\n[none]"
    ) in sent


def workspace_item(workspace):
    return studies.frozen_bank(workspace, "study").items[0].text("en")


def test_equal_replies_to_a_question_are_one_call_and_what_persons_coded_is_left_alone(
    workspace, server
):
    ask(
        workspace,
        server,
        lambda n, body: Step(content="4" if is_judge(body) else TWO),
        repetitions=4,
        items=FIVE,
    )
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=20)
    sample = audits.load_sample(workspace, audit)
    one, *_, other = [t for t in sample.trials if sample.data(t).status == "ambiguous"]
    audits.save_coding(workspace, audit, one, status=Status.REFUSED)
    audits.accept_codings(workspace, audit, [one])
    planned = judging.plan(workspace, "study", "Judge", kinds=["ambiguous", "refused"])
    assert (planned.n_replies, planned.size.calls) == (19, 5)
    study = judged(workspace)
    audits.save_coding(workspace, audit, other, option="5")
    audits.accept_codings(workspace, audit, [other])
    found = judging.preview(workspace, "study", study)
    assert (found.n_changes, found.n_changed_since) == (18, 1)
    assert judging.take_over(workspace, found) == 18
    assert browsing.detail(workspace, one).status == "refused"
    # a person overrules the judge, and takes it back: then the judge's coding can be undone
    third = found.changes["trial_id"][0].as_py()
    audits.save_coding(workspace, audit, third, option="3")
    assert audits.accept_codings(workspace, audit, [third]) == 1
    assert judging.judge_studies(workspace, "study")[0].n_taken == 17
    assert audits.revert_codings(workspace, audit, [third]) == 1
    assert browsing.detail(workspace, third).option == "4"
    assert judging.undo(workspace, "study", study) == 18
    assert browsing.detail(workspace, third).status == "ambiguous"
    assert browsing.detail(workspace, other).option == "5"


def test_letters_in_any_order_lead_back_to_the_options_of_the_bank(workspace, server):
    """The judge always says B: the second option as that call showed it."""
    editing.save(workspace, OWN)
    server.script = lambda number, body: Step(content="B")
    freeze(
        workspace,
        simulated(refusal_rate=1.0),
        n_personas=1,
        templates=("own", "standard"),
        label_orders=("as_is", "inverted"),
        languages=("en", "de"),
        items=FIVE[:2],
    )
    control.start(workspace, "study")
    finished(workspace)
    add_judge(workspace, server)
    study = judged(workspace, kinds=["refused"])
    assert len(studies.load(workspace, study).design.blocks) == 6
    judging.take_over(workspace, judging.preview(workspace, "study", study))
    shown = workspace.database.rows(
        "select distinct a.template, a.label_order, r.option from response r"
        " join trial t using (trial_id) join administration a using (administration_id)"
        " where a.form <> ? and r.option is not null",
        [REPLY_TO_JUDGE],
    )
    assert sorted(shown) == [("own", "as_is", "2"), ("own", "inverted", "4")]


def test_a_second_judge_has_its_own_study_and_waits_for_the_first_to_be_undone(workspace, server):
    ask(workspace, server, lambda n, body: Step(content="4" if is_judge(body) else TWO), items=FIVE)
    add_judge(workspace, server, "Other judge")
    studies_of = [judged(workspace), judged(workspace, "Other judge")]
    judging.take_over(workspace, judging.preview(workspace, "study", studies_of[0]))
    later = judging.preview(workspace, "study", studies_of[1])
    assert (later.n_changes, later.n_changed_since) == (0, 5)
    assert judging.plan(workspace, "study", "Other judge").n_replies == 5  # judged or not
    judging.undo(workspace, "study", studies_of[0])
    assert judging.preview(workspace, "study", studies_of[1]).n_changes == 5


def test_the_way_of_a_judge_on_the_command_line(workspace, server, capsys, tmp_path):
    def run(*words):
        code = main(["--db", str(workspace.database.path), *map(str, words)])
        told = capsys.readouterr()
        return code, told.out + told.err

    ask(
        workspace,
        server,
        lambda n, body: Step(content=("4" if n % 2 else "none") if is_judge(body) else TWO),
        items=(*FIVE, "nature_04"),
    )
    workspace.close()
    assert run("judge", "study") == (0, "ambiguous\t6 replies, 0 judged\n")
    rubric = tmp_path / "rubric.txt"
    rubric.write_text("{reply} {name}", encoding="utf-8")
    code, told = run("judge", "study", "--respondent", "Judge", "--rubric", rubric)
    assert (code, "where the options stand" in told) == (2, True)
    sent = len(server.chats)
    code, told = run("judge", "study", "--respondent", "Judge")
    assert told.startswith(
        "Study 'judge_study': 6 replies in 6 calls to 'Judge'. Expected cost: US$0.0"
    )
    assert len(server.chats) == sent
    assert run("run", "judge_study")[0] == 0
    assert len(server.chats) == sent + 6
    counted = "ambiguous -> 4 (answered with explanation): 3\n3 replies stay as they are, because "
    code, told = run("judge", "study", "--take", "judge_study", "--preview")
    assert told.startswith(counted)
    assert told.endswith("3 answers would be those of the judge.\n")
    assert run("judge", "study", "--take", "judge_study")[1].endswith("3 answers of 'Judge'.\n")
    shown = run("judge", "study")[1]
    assert shown == (
        "ambiguous\t6 replies, 3 judged\njudge_study\tJudge\t6 of 6 replied, 3 taken over\n"
    )
    assert "3 answers as before" in run("judge", "study", "--undo", "judge_study")[1]
    assert run("judge", "study", "--preview")[0] == 2


def test_a_guess_is_confirmed_or_kept_and_what_a_file_calls_judged_is_left_alone(workspace, server):
    ask(
        workspace,
        server,
        lambda n, body: Step(content=("3" if n % 2 else "none") if is_judge(body) else "3"),
        items=FIVE[:4],
    )
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set certainty = 'guess'")
        cursor.execute(
            "update response set layer = 'judge', judge = 'Elsewhere' where trial_id = "
            "(select trial_id from trial order by ordinal limit 1)"
        )
    assert len(judging.load_replies(workspace, "study").replies) == 3
    study = judged(workspace, kinds=["guess", "ambiguous"])
    found = judging.preview(workspace, "study", study)
    assert found.n_changes + found.n_none == 3
    assert found.kinds.to_dict("records") == [
        {
            "old_status": "answered",
            "old_option": "3",
            "status": "answered",
            "option": "3",
            "count": found.n_changes,
        }
    ]
    judging.take_over(workspace, found)
    marks = responses(workspace, "r.judge, r.certainty, r.option").values()
    assert sorted(marks, key=str) == sorted(
        [["Elsewhere", "guess", "3"]]
        + [["Judge", "certain", "3"]] * found.n_changes
        + [[None, "guess", "3"]] * found.n_none,
        key=str,
    )


def test_a_judge_may_name_an_entity_in_place_of_the_code(workspace, server):
    server.script = lambda number, body: Step(content="Nike")
    freeze(
        workspace,
        simulated(refusal_rate=1.0),
        bank="brand_100_preference",
        n_personas=0,
        formats=("name_entity",),
        templates=("comparison",),
        items=("quality_01",),
        pairs=(("Sony", "Nike"), ("Nike", "Pepsi")),
    )
    control.start(workspace, "study")
    finished(workspace)
    add_judge(workspace, server)
    study = judged(workspace, kinds=["refused"])
    found = judging.preview(workspace, "study", study)
    assert sorted(found.changes["option"].to_pylist()) == ["entity", "entity_b"]


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"rubric": "Read {reply}."}, "where the options stand"),
        ({"rubric": "Of {options}?"}, "where the reply stands"),
        ({"rubric": "{reply} {options} {name}"}, "names {name}"),
        ({"kinds": ["odd"]}, "no kind of reply 'odd'"),
        ({"kinds": ["off_scale"]}, "0 different replies of these kinds"),
    ],
)
def test_what_cannot_be_put_to_a_judge_is_refused(workspace, choices, words):
    freeze(workspace, simulated(refusal_rate=0.5), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    with pytest.raises(CodingError, match=words):
        judging.plan(workspace, "study", "Simulated", **choices)
    with pytest.raises(CodingError, match="no judge was given replies"):
        judging.preview(workspace, "study", "study")

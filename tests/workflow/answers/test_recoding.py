"""Reading replies again: what would change, doing it, and the rule for several replies."""

from __future__ import annotations

import random
import re

import psutil
import pytest

from core.__main__ import main
from core.collect.replies.reader import PARSER_VERSION
from core.errors import NotEnoughData
from core.progress import Cancelled, watch
from core.store import rereading as store
from core.store import studies
from core.workflow.answers import audits, browsing, exports, imports, rereading, stored_replies
from core.workflow.runs import control
from core.workflow.runs.reading import read_text
from core.workflow.statistics import analyses
from tests.fault_server import Step, filtered
from tests.workflow.studies import freeze, service, simulated


def collect(workspace, **factors):
    freeze(workspace, simulated(refusal_rate=0.1, explanation_rate=0.3, seed=3), **factors)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def ask(workspace, server, script, **factors):
    server.script = script
    freeze(workspace, service(server.base_url, at_once=1), n_personas=1, **factors)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def as_an_older_parser(workspace, change):
    """Make responses look as if an earlier version had read them otherwise."""
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set parser = 1")
        cursor.execute(change)


MISSED_FOURS = "update response set status = 'ambiguous', option = null where option = '4'"


UNREAD = """update response set status = 'ambiguous', option = null, attempt_id = null,
    tries = null, chance = null, layer = null, certainty = null, hedged = null"""
UNRATED = "update response set layer = null, certainty = null, hedged = null"
TEXTS = (
    "4",
    "I agree.",
    "Not sure.",
    "I cannot answer that.",
    "As an AI I have no opinion, but 5.",
    "3 or 4",
    "",
    '{"answer": "2"}',
    "Neither agree nor disagree, as it depends.",
    "7",
)
FIRST_TOKENS = [{"token": "4", "logprob": -0.5}, {"token": "2", "logprob": -1.6}]


def varied(number, body):
    """Replies of many kinds, some withheld; blocks by number, or by the words of the items."""
    chance = random.Random(number)
    if chance.random() < 0.1:
        return filtered("4")
    text = chance.choice(TEXTS)
    if items := re.findall(r"^\d+\. (.+)$", body["messages"][-1]["content"], re.MULTILINE):
        lines = [f"{place}. {chance.choice(TEXTS)}" for place in range(1, len(items) + 1)]
        named = [f"{item}: {chance.randint(1, 5)}" for item in chance.sample(items, len(items))]
        text = "\n".join(chance.choice((lines, named)))
    choice = {
        "index": 0,
        "finish_reason": chance.choice(("stop", "length")),
        "logprobs": {"content": [{"top_logprobs": FIRST_TOKENS}]},
        "message": {"role": "assistant", "content": text},
    }
    return Step(extra={"choices": [choice]})


def responses(workspace):
    return workspace.database.rows("select * exclude (study_id) from response order by trial_id")


def item_means(workspace):
    result = analyses.run(workspace, "item_statistics", ["study"], {}, {})
    return result.tables[0].frame.set_index("item")["mean"].to_dict()


@pytest.mark.parametrize(
    "factors",
    [
        {},
        {"items_per_call": 5, "item_order": "shuffled"},
        {"items_per_call": 0, "label_orders": ("inverted", "random"), "ask_again": 2},
        {"languages": ("en", "de"), "ask_again": 1},
    ],
)
def test_what_the_present_parser_has_read_does_not_change(workspace, factors):
    collect(workspace, **factors)
    found = rereading.preview_rereading(workspace, "study")
    planned = browsing.overview(workspace, "study")["planned"].sum()
    assert (found.n_read, found.n_changed, found.n_kept) == (planned, 0, 0)
    assert found.means.empty


@pytest.mark.parametrize(
    ("processes", "factors"),
    [
        (1, {"ask_again": 2, "first_token": True, "label_orders": ("as_is", "inverted")}),
        (2, {"ask_again": 2, "items_per_call": 5, "item_order": "shuffled"}),
    ],
)
def test_a_whole_study_is_read_as_reply_by_reply_when_it_was_collected(
    workspace, server, monkeypatch, processes, factors
):
    monkeypatch.setattr(store, "_PAGE", 7)  # calls of five trials lie across pages
    monkeypatch.setattr(rereading, "processes_for", lambda _: processes)
    ask(workspace, server, varied, **factors)
    collected = responses(workspace)
    assert len({row[2:] for row in collected}) > 8
    assert any(row[6] for row in collected) == ("first_token" in factors)  # chances
    with workspace.database.transaction() as cursor:
        cursor.execute(UNREAD)
    found = rereading.preview_rereading(workspace, "study")
    assert (found.n_read, found.n_changed) == (len(collected), len(collected))
    rereading.apply_rereading(workspace, found)
    assert responses(workspace) == collected
    again = rereading.preview_rereading(workspace, "study")
    assert (again.n_changed, again.n_rated) == (0, 0)


def test_equal_replies_are_each_read_with_their_own_item(workspace, server, monkeypatch):
    ask(workspace, server, lambda *_: Step(content="On the statement itself: 4"))
    asked = set()

    def read(text, question, **how):
        asked.update(item.code for item in question.items)
        return read_text(text, question, **how)

    monkeypatch.setattr(stored_replies, "read_text", read)
    monkeypatch.setattr(rereading, "processes_for", lambda _: 1)
    rereading.preview_rereading(workspace, "study")
    assert len(asked) == 20


def test_answers_that_stay_get_their_certainty_without_counting_as_changed(workspace):
    collect(workspace)

    def revision():  # but for the log, which says that answers were read again
        ((*numbers, _),) = studies.revision(workspace.database, ["study"])
        return numbers

    collected, before = responses(workspace), revision()
    as_an_older_parser(workspace, UNRATED)
    found = rereading.preview_rereading(workspace, "study")
    counts = found.certainties.set_index("certainty")
    options = sum(row[3] is not None for row in collected)
    assert (found.n_changed, found.n_rated) == (0, 100)
    assert counts["before"].to_dict() == dict.fromkeys(rereading.CERTAINTIES, 0) | {
        "not_recorded": options
    }
    assert counts.loc["not_recorded", "after"] == 0
    assert counts.loc[["certain", "likely", "guess"], "after"].sum() == options
    assert counts.loc["certain", "after"] > 0
    unrated = revision()
    assert rereading.apply_rereading(workspace, found) == 0
    assert responses(workspace) == collected
    assert workspace.database.row("select count(*) from recoding") == (0,)
    assert revision() == before != unrated


def test_what_others_set_after_the_preview_stays(workspace):
    collect(workspace)
    collected = responses(workspace)
    as_an_older_parser(workspace, UNRATED)
    found = rereading.preview_rereading(workspace, "study")
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=100)
    trials, _ = browsing.page(workspace, "study", {"option": ["4"]}, "", limit=3)
    person, judge, reader = chosen = [int(trial) for trial in trials["trial_id"]]
    audits.save_coding(workspace, audit, person, option="1")
    audits.accept_codings(workspace, audit, [person])
    with workspace.database.transaction() as cursor:
        judged = "update response set layer = 'judge', parser = null where trial_id = ?"
        cursor.execute(judged, [judge])
        cursor.execute("update response set option = '5' where trial_id = ?", [reader])
    rereading.apply_rereading(workspace, found)
    now = {row[0]: row for row in responses(workspace)}
    layers = [now[trial][8] for trial in chosen]
    assert layers == ["person", "judge", None]
    assert [now[trial][3] for trial in chosen] == ["1", "4", "5"]
    others = [row for trial, row in now.items() if trial not in chosen]
    assert others == [row for row in collected if row[0] not in chosen]


def test_a_preview_says_what_would_change_and_changes_nothing(workspace):
    collect(workspace)
    whole = item_means(workspace)
    as_an_older_parser(workspace, MISSED_FOURS)
    missed = item_means(workspace)
    before = exports.export_tidy(workspace, "study")
    steps = []
    with watch(lambda done, total, unit: steps.append((done, total, unit))):
        found = rereading.preview_rereading(workspace, "study")
    assert exports.export_tidy(workspace, "study") == before
    assert steps[-1] == (100, 100, "replies")
    assert set(found.kinds["old_status"]) == {"ambiguous"}
    assert set(found.kinds["option"]) == {"4"}
    assert found.kinds["count"].sum() == found.n_changed > 0
    for row in found.means.to_dict("records"):
        assert row["old_mean"] == pytest.approx(missed[row["item"]], abs=1e-12)
        assert row["new_mean"] == pytest.approx(whole[row["item"]], abs=1e-12)
        assert row["new_n"] - row["old_n"] == row["changed"]
    assert found.means["changed"].sum() == found.n_changed


def test_applying_makes_the_changes_once_and_keeps_the_old_readings(workspace):
    collect(workspace)
    before = exports.export_tidy(workspace, "study")
    as_an_older_parser(workspace, MISSED_FOURS)
    found = rereading.preview_rereading(workspace, "study")
    assert rereading.apply_rereading(workspace, found) == found.n_changed
    assert exports.export_tidy(workspace, "study") == before
    assert rereading.parser_versions(workspace, "study") == {PARSER_VERSION: 100}
    assert rereading.apply_rereading(workspace, found) == 0
    trial = found.changes["trial_id"][0].as_py()
    (old,) = browsing.detail(workspace, trial).earlier_codings
    assert (old.cause, old.status, old.option, old.parser) == ("parser", "ambiguous", None, 1)


def test_pages_of_changes_hold_every_change_once_with_its_reply(workspace):
    collect(workspace)
    as_an_older_parser(workspace, MISSED_FOURS)
    found = rereading.preview_rereading(workspace, "study")
    seen = []
    for offset in range(0, found.n_changed, 7):
        rows = rereading.page_of_changes(workspace, found, offset=offset, limit=7)
        assert set(rows["before"]) == {"ambiguous"}
        assert all("4" in reply for reply in rows["reply"])
        seen += rows["trial_id"].tolist()
    assert sorted(seen) == sorted(found.changes["trial_id"].to_pylist())


def test_what_a_person_set_is_left_alone_unless_asked(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=100)
    trials, _ = browsing.page(workspace, "study", {"option": ["4"]}, "", limit=3)
    chosen = [int(trial) for trial in trials["trial_id"]]
    for trial in chosen:
        audits.save_coding(workspace, audit, trial, option="1")
    assert audits.accept_codings(workspace, audit, chosen) == 3
    left = rereading.preview_rereading(workspace, "study")
    assert (left.n_read, left.n_changed, left.n_kept) == (97, 0, 3)
    asked = rereading.preview_rereading(workspace, "study", persons=True)
    assert (asked.n_read, asked.n_changed, asked.n_kept) == (100, 3, 0)
    with workspace.database.transaction() as cursor:  # a person who says what the reader says
        cursor.execute("update response set option = '4' where trial_id = ?", [chosen[0]])
    agreed = rereading.preview_rereading(workspace, "study", persons=True)
    assert (agreed.n_changed, agreed.n_rated) == (2, 0)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set option = '1' where trial_id = ?", [chosen[0]])
    assert rereading.apply_rereading(workspace, asked) == 3
    assert not browsing.detail(workspace, chosen[0]).set_by_person
    assert browsing.detail(workspace, chosen[0]).option == "4"
    assert audits.revert_codings(workspace, audit, chosen) == 0


def test_of_several_replies_the_first_usable_one_counts(workspace, server):
    texts = ("I would rather not say.", "3", "4")
    ask(workspace, server, lambda n, _: Step(content=texts[n % 2]), ask_again=2)
    found, total = browsing.page(workspace, "study", {"tries": [2]}, "")
    assert total == 20
    assert set(found["reply"]) == {"3"}
    assert rereading.preview_rereading(workspace, "study").n_changed == 0
    as_an_older_parser(workspace, "update response set option = '4'")
    again = rereading.preview_rereading(workspace, "study")
    assert set(again.changes["option"].to_pylist()) == {"3"}
    assert set(again.changes["tries"].to_pylist()) == {2}


def test_where_none_is_usable_the_last_reply_counts(workspace, server):
    texts = ("I would rather not say.", "")
    ask(workspace, server, lambda n, _: Step(content=texts[n % 2]), ask_again=1)
    control.start(workspace, "study")  # it paused once for replies without an answer
    control.wait(workspace, "study", every_s=0.02)
    assert rereading.preview_rereading(workspace, "study").n_changed == 0
    # an older parser had stopped at the first reply, which it took for an answer
    as_an_older_parser(
        workspace,
        """update response set status = 'answered', option = '1', tries = 1, attempt_id =
        (select m.attempt_id from attempt m where m.call_id = response.trial_id and number = 1)""",
    )
    found = rereading.preview_rereading(workspace, "study")
    assert found.n_changed == 20
    assert set(found.changes["status"].to_pylist()) == {"no_answer"}
    assert set(found.changes["tries"].to_pylist()) == {2}
    rereading.apply_rereading(workspace, found)
    page, _ = browsing.page(workspace, "study", {}, "")
    assert set(page["reply"]) == {""}


def test_in_a_block_each_item_takes_its_own_first_usable_answer(workspace, server):
    blocks = ("1. 5\n2. I cannot say.\n3. 5\n4. 5\n5. 5", "1. 1\n2. 2\n3. 1\n4. 1\n5. 1")
    ask(
        workspace,
        server,
        lambda n, _: Step(content=blocks[n % 2]),
        items_per_call=5,
        ask_again=1,
    )
    expected = exports.export_tidy(workspace, "study")
    options = browsing.page(workspace, "study", {}, "")[0]["option"].tolist()
    assert options == ["5", "2", "5", "5", "5"] * 4
    as_an_older_parser(workspace, "update response set option = '3', tries = 1")
    rereading.apply_rereading(workspace, rereading.preview_rereading(workspace, "study"))
    assert exports.export_tidy(workspace, "study") == expected
    assert browsing.page(workspace, "study", {"tries": [2]}, "")[1] == 4


def test_a_reading_that_is_canceled_ends_its_processes_and_changes_nothing(workspace, monkeypatch):
    def stop(done, _total, _unit):
        if done:
            assert len(psutil.Process().children()) > len(before)
            raise Cancelled

    collect(workspace)
    as_an_older_parser(workspace, MISSED_FOURS)
    collected = responses(workspace)
    monkeypatch.setattr(store, "_PAGE", 7)
    monkeypatch.setattr(rereading, "processes_for", lambda _: 2)
    before = psutil.Process().children()
    with pytest.raises(Cancelled), watch(stop):
        rereading.preview_rereading(workspace, "study")
    assert psutil.Process().children() == before
    assert responses(workspace) == collected


def test_the_command_line_shows_the_changes_then_makes_them(workspace, capsys):
    def run(*words):
        code = main(["--db", str(workspace.database.path), *words])
        return code, capsys.readouterr().out.splitlines()

    collect(workspace)
    fours = browsing.page(workspace, "study", {"option": ["4"]}, "")[1]
    as_an_older_parser(workspace, MISSED_FOURS)
    workspace.close()
    code, lines = run("reread", "study", "--preview")
    changes = [line.rsplit(": ", 1) for line in lines if line.startswith("ambiguous -> 4")]
    assert (code, sum(int(count) for _, count in changes)) == (0, fours)
    assert lines[-1] == f"{fours} answers would change."
    assert run("reread", "study")[1][-1].startswith(f"{fours} answers changed.")
    assert run("reread", "study")[1][-1].startswith("0 answers changed.")


def test_imported_answers_are_left_as_their_file_has_them(workspace):
    text = "item,answer,model,raw,status\nq1,4,m,I say 5,\n"
    imports.import_tidy(workspace, "old.csv", text.encode())
    with pytest.raises(NotEnoughData, match="imported"):
        rereading.preview_rereading(workspace, "old")

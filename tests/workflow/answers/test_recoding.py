"""Reading replies again: what would change, doing it, and the rule for several replies."""

from __future__ import annotations

import pytest

from core.collect.replies.reader import PARSER_VERSION
from core.errors import NotEnoughData
from core.workflow.answers import audits, browsing, exports, imports
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.fault_server import Step
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
    found = audits.preview_rereading(workspace, "study")
    planned = browsing.overview(workspace, "study")["planned"].sum()
    assert (found.n_read, found.n_changed, found.n_kept) == (planned, 0, 0)
    assert found.means.empty


def test_a_preview_says_what_would_change_and_changes_nothing(workspace):
    collect(workspace)
    whole = item_means(workspace)
    as_an_older_parser(workspace, MISSED_FOURS)
    missed = item_means(workspace)
    before = exports.export_tidy(workspace, "study")
    shares = []
    found = audits.preview_rereading(workspace, "study", report=shares.append)
    assert exports.export_tidy(workspace, "study") == before
    assert shares[-1] == 1
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
    found = audits.preview_rereading(workspace, "study")
    assert audits.apply_rereading(workspace, found) == found.n_changed
    assert exports.export_tidy(workspace, "study") == before
    assert audits.parser_versions(workspace, "study") == {PARSER_VERSION: 100}
    assert audits.apply_rereading(workspace, found) == 0
    trial = found.changes["trial_id"][0].as_py()
    (old,) = browsing.detail(workspace, trial).earlier_codings
    assert (old.cause, old.status, old.option, old.parser) == ("parser", "ambiguous", None, 1)


def test_pages_of_changes_hold_every_change_once_with_its_reply(workspace):
    collect(workspace)
    as_an_older_parser(workspace, MISSED_FOURS)
    found = audits.preview_rereading(workspace, "study")
    seen = []
    for offset in range(0, found.n_changed, 7):
        rows = audits.page_of_changes(workspace, found, offset=offset, limit=7)
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
    left = audits.preview_rereading(workspace, "study")
    assert (left.n_read, left.n_changed, left.n_kept) == (97, 0, 3)
    asked = audits.preview_rereading(workspace, "study", persons=True)
    assert (asked.n_read, asked.n_changed, asked.n_kept) == (100, 3, 0)
    assert audits.apply_rereading(workspace, asked) == 3
    assert not browsing.detail(workspace, chosen[0]).set_by_person
    assert browsing.detail(workspace, chosen[0]).option == "4"
    assert audits.revert_codings(workspace, audit, chosen) == 0


def test_of_several_replies_the_first_usable_one_counts(workspace, server):
    texts = ("I would rather not say.", "3", "4")
    ask(workspace, server, lambda n, _: Step(content=texts[n % 2]), ask_again=2)
    found, total = browsing.page(workspace, "study", {"tries": [2]}, "")
    assert total == 20
    assert set(found["reply"]) == {"3"}
    assert audits.preview_rereading(workspace, "study").n_changed == 0
    as_an_older_parser(workspace, "update response set option = '4'")
    again = audits.preview_rereading(workspace, "study")
    assert set(again.changes["option"].to_pylist()) == {"3"}
    assert set(again.changes["tries"].to_pylist()) == {2}


def test_where_none_is_usable_the_last_reply_counts(workspace, server):
    texts = ("I would rather not say.", "")
    ask(workspace, server, lambda n, _: Step(content=texts[n % 2]), ask_again=1)
    assert audits.preview_rereading(workspace, "study").n_changed == 0
    # an older parser had stopped at the first reply, which it took for an answer
    as_an_older_parser(
        workspace,
        """update response set status = 'answered', option = '1', tries = 1, attempt_id =
        (select m.attempt_id from attempt m where m.call_id = response.trial_id and number = 1)""",
    )
    found = audits.preview_rereading(workspace, "study")
    assert found.n_changed == 20
    assert set(found.changes["status"].to_pylist()) == {"no_answer"}
    assert set(found.changes["tries"].to_pylist()) == {2}
    audits.apply_rereading(workspace, found)
    page, _ = browsing.page(workspace, "study", {}, "")
    assert set(page["reply"]) == {""}


def test_in_a_block_each_item_takes_its_own_first_usable_answer(workspace, server):
    blocks = ("1. 5\n2. I cannot say.\n3. 5\n4. 5\n5. 5", "1. 1\n2. 2\n3. 1\n4. 1\n5. 1")
    ask(
        workspace, server, lambda n, _: Step(content=blocks[n % 2]),
        items_per_call=5, ask_again=1,
    )  # fmt: skip
    expected = exports.export_tidy(workspace, "study")
    options = browsing.page(workspace, "study", {}, "")[0]["option"].tolist()
    assert options == ["5", "2", "5", "5", "5"] * 4
    as_an_older_parser(workspace, "update response set option = '3', tries = 1")
    audits.apply_rereading(workspace, audits.preview_rereading(workspace, "study"))
    assert exports.export_tidy(workspace, "study") == expected
    assert browsing.page(workspace, "study", {"tries": [2]}, "")[1] == 4


def test_imported_answers_are_left_as_their_file_has_them(workspace):
    text = "item,answer,model,raw,status\nq1,4,m,I say 5,\n"
    imports.import_tidy(workspace, "old.csv", text.encode())
    with pytest.raises(NotEnoughData, match="imported"):
        audits.preview_rereading(workspace, "old")

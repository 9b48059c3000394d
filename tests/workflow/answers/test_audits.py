"""Audits over real replies: what is shown, what agrees, and whose reading the data hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.domain.study import Design, Status
from core.errors import NotEnoughData
from core.stats.agreement import cohens_kappa
from core.stats.distributions import wilson_interval
from core.workflow.answers import audits, browsing, exports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.workflow.studies import freeze, personas, simulated


def collect(workspace, **factors):
    """Two models of 100 replies each; a good part refused or explained."""
    first = simulated("A", refusal_rate=0.2, explanation_rate=0.3, seed=3)
    second = replace(simulated("B", refusal_rate=0.5, seed=4), model="second model")
    for person in (first, second):
        catalog.save(workspace, person)
    studies.freeze(
        workspace,
        Design("study", "attitudes_20", ("A", "B"), contexts=personas(5), **factors),
    )
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def code_as_the_parser(workspace, audit, but=lambda number: None):
    """Code every reply as the parser did, but for what `but` says of the n-th."""
    number = 0
    while (found := audits.reply_to_code(workspace, audit)) is not None:
        answer, other = found.answer, but(number)
        if isinstance(other, Status):
            audits.save_coding(workspace, audit, answer.trial_id, status=other)
        elif other or answer.option:
            audits.save_coding(workspace, audit, answer.trial_id, option=other or answer.option)
        else:
            audits.save_coding(workspace, audit, answer.trial_id, status=Status(answer.status))
        number += 1
    return number


def test_a_person_who_agrees_gives_full_success_and_kappa_for_each_model(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=30)
    assert code_as_the_parser(workspace, audit) == 60
    frame = audits.results(workspace, audit).frame
    assert frame["model"].tolist() == ["graded response model", "second model"]
    assert frame["coded"].tolist() == [30, 30]
    assert frame["success"].tolist() == frame["kappa"].tolist() == [1.0, 1.0]
    assert frame["ci_low"].tolist() == [wilson_interval(30, 30)[0]] * 2
    assert frame["disagreements"].sum() == 0


def test_results_are_the_pure_functions_of_the_codings(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=2, per_model=40)
    code_as_the_parser(workspace, audit, lambda n: "3" if n % 5 == 0 else None)
    coded = audits.codings(workspace, audit)
    for row in audits.results(workspace, audit).frame.to_dict("records"):
        part = coded[coded["model"] == row["model"]]
        pairs = part[["person_option", "parser_option"]].fillna("none")
        same = pairs["person_option"] == pairs["parser_option"]
        assert row["success"] == same.mean() < 1
        assert (row["ci_low"], row["ci_high"]) == wilson_interval(int(same.sum()), 40)
        kappa = cohens_kappa(list(pairs["person_option"]), list(pairs["parser_option"]))
        assert row["kappa"] == kappa < 1
        assert row["disagreements"] == (~same).sum()


def test_correctly_missing_is_a_success_whatever_the_reason(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=30)
    while (found := audits.reply_to_code(workspace, audit)) is not None:
        answer = found.answer
        if answer.option:
            audits.save_coding(workspace, audit, answer.trial_id, option=answer.option)
        else:
            audits.save_coding(workspace, audit, answer.trial_id, status=Status.NEUTRAL)
    frame = audits.results(workspace, audit).frame
    assert frame["success"].tolist() == [1.0, 1.0]
    assert (frame["kappa"] == 1).all()
    assert (frame["kappa_kinds"] < 1).all()
    assert (frame["disagreements"] > 0).all()


def test_nothing_coded_is_undefined_and_not_zero(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=5)
    row = audits.results(workspace, audit).frame.iloc[0]
    assert row["coded"] == 0
    assert all(math.isnan(row[name]) for name in ("success", "ci_low", "kappa"))


def test_models_take_turns(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=4)
    models = []
    while (found := audits.reply_to_code(workspace, audit)) is not None:
        models.append(found.answer.model)
        audits.save_coding(workspace, audit, found.answer.trial_id, status=Status.REFUSED)
    assert models == ["graded response model", "second model"] * 4


def test_in_a_block_the_reply_is_whole_and_the_item_is_named(workspace):
    collect(workspace, items_per_call=5)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=10)
    found = audits.reply_to_code(workspace, audit)
    answer = found.answer
    assert answer.n_in_call == 5
    assert f"{answer.position}. {found.item_text}" in answer.messages[-1]["content"]
    assert answer.reply.count("\n") == 4


def test_options_stand_in_the_order_in_which_they_were_shown(workspace):
    collect(workspace, label_orders=("random",))
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=10)
    found = audits.reply_to_code(workspace, audit)
    prompt = found.answer.messages[-1]["content"]
    places = [prompt.index(f"{option.code} = {option.label}") for option in found.options]
    assert places == sorted(places)
    assert [option.code for option in found.options] == list(found.answer.option_order)


def test_a_persons_coding_takes_the_place_of_the_parsers_and_can_be_undone(workspace):
    collect(workspace)
    before = exports.export_tidy(workspace, "study")
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=20)
    code_as_the_parser(workspace, audit, lambda n: Status.NEUTRAL if n < 6 else None)
    coded = audits.codings(workspace, audit)
    differing = coded.loc[~coded["agrees"], "trial_id"].tolist()
    assert audits.accept_codings(workspace, audit, differing) == len(differing) == 6
    overview = browsing.overview(workspace, "study")
    assert overview["neutral, non-committal"].sum() == 6
    again = audits.codings(workspace, audit)
    assert again["taken"].sum() == 6
    # the measure of the parser does not change by taking the person's coding
    assert again["agrees"].tolist() == coded["agrees"].tolist()
    assert audits.accept_codings(workspace, audit, differing) == 0
    assert audits.revert_codings(workspace, audit, differing) == 6
    assert exports.export_tidy(workspace, "study") == before


def test_an_option_that_the_parser_missed_is_scored_once_it_is_taken(workspace):
    collect(workspace)
    scores = analyses.run(workspace, "item_statistics", ["study"], {}, {})
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=100)
    refused = browsing.page(workspace, "study", {"status": ["refused"]}, "", limit=1)[0]
    trial = int(refused["trial_id"].iloc[0])
    audits.save_coding(workspace, audit, trial, option="5")
    audits.accept_codings(workspace, audit, [trial])
    found = browsing.detail(workspace, trial)
    assert (found.status, found.option, found.parser) == (Status.EXPLAINED, "5", None)
    assert found.set_by_person
    after = analyses.run(workspace, "item_statistics", ["study"], {}, {})
    assert after.n_used == scores.n_used + 1


def test_nonsense_is_refused(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=5)
    found = audits.reply_to_code(workspace, audit)
    trial = found.answer.trial_id
    for coding in ({}, {"option": "1", "status": Status.REFUSED}, {"status": Status.ANSWERED}):
        with pytest.raises(ValueError, match="no coding"):
            audits.save_coding(workspace, audit, trial, **coding)
    with pytest.raises(ValueError, match="not in this audit"):
        audits.save_coding(workspace, audit, 12, option="1")
    assert audits.reply_to_code(workspace, audit, 12) is None


def test_a_study_without_replies_has_no_audit_and_none_is_kept(workspace):
    freeze(workspace, simulated())
    with pytest.raises(NotEnoughData, match="no replies"):
        audits.draw_audit(workspace, "study", seed=1)
    assert audits.list_audits(workspace, "study") == ()

"""Audits over real replies: what is shown, what agrees, and whose reading the data hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.domain.study import Design, Status
from core.errors import CodingError, NotEnoughData
from core.stats.agreement import cohens_kappa
from core.stats.distributions import wilson_interval
from core.store import frames
from core.workflow.answers import agreement, audits, browsing, exports
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


def results(workspace, audit):
    return agreement.results(audits.load_sample(workspace, audit)).frame


def test_a_person_who_agrees_gives_full_success_and_kappa_for_each_model(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=30)
    assert code_as_the_parser(workspace, audit) == 60
    frame = results(workspace, audit)
    assert frame["model"].tolist() == ["graded response model", "second model", "all models"]
    assert frame["coded"].tolist() == [30, 30, 60]
    assert frame["success"].tolist() == frame["kappa"].tolist() == [1.0, 1.0, 1.0]
    assert frame["ci_low"].tolist() == [wilson_interval(n, n)[0] for n in (30, 30, 60)]
    assert frame["disagreements"].sum() == 0


def test_results_are_the_pure_functions_of_the_codings(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=2, per_model=40)
    code_as_the_parser(workspace, audit, lambda n: "3" if n % 5 == 0 else None)
    coded = audits.codings(workspace, audit)
    for row in results(workspace, audit).to_dict("records"):
        part = coded[coded["model"].isin([row["model"]]) | (row["model"] == "all models")]
        pairs = part[["person_option", "parser_option"]].fillna("none")
        same = pairs["person_option"] == pairs["parser_option"]
        assert row["success"] == same.mean() < 1
        assert (row["ci_low"], row["ci_high"]) == wilson_interval(int(same.sum()), len(part))
        kappa = cohens_kappa(list(pairs["person_option"]), list(pairs["parser_option"])).value
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
    frame = results(workspace, audit)
    assert frame["success"].tolist() == [1.0, 1.0, 1.0]
    assert (frame["kappa"] == 1).all()
    assert (frame["kappa_kinds"] < 1).all()
    assert (frame["disagreements"] > 0).all()


def test_nothing_coded_is_undefined_and_not_zero(workspace):
    collect(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=5)
    row = results(workspace, audit).iloc[0]
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


# Two coders. What each chooses for ten replies of one model, and the final codings.

ANNA = ["1", "1", "1", "2", "2", "2", "refused", "refused", "neutral", "neutral"]
BEN = ["1", "1", "2", "2", "2", "refused", "refused", "refused", "refused", "neutral"]
# They agree on 7 of 10. Anna: 1 three times, 2 three times, refused and neutral twice each. Ben: 1
# twice, 2 three times, refused four times, neutral once. Expected by chance:
# (3·2 + 3·3 + 2·4 + 2·1) / 100 = .25. Kappa = (.7 - .25) / (1 - .25) = .6
KAPPA = 0.6
# Both say refused for 2 replies, Ben alone for 2: 2·2 / (2·2 + 0 + 2) = 2/3
REFUSED = 2 / 3


def ten_replies(workspace, **settings):
    """An audit of ten replies of one model, and their trials in the order of coding."""
    freeze(workspace, simulated(refusal_rate=0.2, seed=3), n_personas=1)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=10, **settings)
    return audit, audits.load_sample(workspace, audit).trials


def code(workspace, audit, trials, codes, coder):
    for trial, code in zip(trials, codes, strict=True):
        what = {"option": code} if code.isdigit() else {"status": Status(code)}
        audits.save_coding(workspace, audit, trial, coder=coder, **what)


@pytest.fixture
def two(workspace):
    """A sample that Anna and Ben have coded."""
    audit, trials = ten_replies(workspace)
    code(workspace, audit, trials, ANNA, "Anna")
    code(workspace, audit, trials, BEN, "Ben")
    return audit, trials


def test_agreement_of_two_coders_is_as_worked_by_hand(workspace, two):
    audit, _ = two
    sample = audits.load_sample(workspace, audit)
    (row,) = agreement.coder_agreement(sample).frame.to_dict("records")
    assert (row["first"], row["second"], row["coded"], row["disagreements"]) == (
        "Anna",
        "Ben",
        10,
        3,
    )
    assert row["agreement"] == 0.7
    assert (row["ci_low"], row["ci_high"]) == wilson_interval(7, 10)
    assert row["kappa_kinds"] == pytest.approx(KAPPA, abs=1e-12)
    assert row["kappa_kinds_low"] < KAPPA < row["kappa_kinds_high"]
    # as options or none: Anna 3, 3, 4; Ben 2, 3, 5; agree on 8: (.8 - (6 + 9 + 20) / 100) / .65
    assert row["kappa"] == pytest.approx(0.45 / 0.65, abs=1e-12)
    assert row["reason"] == ""


def test_agreement_by_status_and_the_cross_table_count_every_reply_once(workspace, two):
    audit, _ = two
    sample = audits.load_sample(workspace, audit)
    by_status = agreement.status_agreement(sample, "Anna", "Ben").frame.set_index("status")
    assert by_status.loc["refused", "agreement"] == REFUSED
    assert by_status.loc["refused", ["both", "only_first", "only_second"]].tolist() == [2, 0, 2]
    assert by_status.loc["answered", ["both", "only_first", "only_second"]].tolist() == [5, 1, 0]
    assert by_status.loc["answered", "agreement"] == 10 / 11
    crossed = agreement.cross_table(sample, "Anna", "Ben").frame
    assert crossed["code"].tolist() == ["1", "2", "neutral, non-committal", "refused"]
    assert crossed.drop(columns="code").to_numpy().tolist() == [
        [2, 1, 0, 0],
        [0, 2, 0, 1],
        [0, 0, 1, 1],
        [0, 0, 0, 2],
    ]


def test_a_coder_sees_the_codes_of_others_only_for_replies_coded_before(workspace, two):
    audit, trials = two
    code(workspace, audit, trials[:2], ["1", "1"], "Clara")
    audits.save_note(workspace, audit, trials[0], "Anna", "clear")
    audits.save_note(workspace, audit, trials[5], "Anna", "ironic")
    seen = audits.load_sample(workspace, audit, "Clara")
    for coder in ("Anna", "Ben", "Final coding", "Inkblot"):
        assert set(seen.codes[coder]) <= set(trials[:2])
    assert set(seen.codes["Anna"]) == set(trials[:2])
    assert seen.notes == {(trials[0], "Anna"): "clear"}
    assert set(audits.codings(workspace, audit, "Clara")["trial_id"]) == set(trials[:2])
    assert agreement.coder_agreement(seen).frame["coded"].tolist() == [2, 2, 2]
    unseen = audits.load_sample(workspace, audit, "Dora")
    assert not any(unseen.codes.values())
    assert unseen.notes == {}
    assert len(unseen.replies) == 10  # the replies themselves are no secret


def test_with_verdicts_at_the_end_nothing_of_others_is_seen_before_the_last_reply(workspace):
    audit, trials = ten_replies(workspace, at_end=True)
    code(workspace, audit, trials, ANNA, "Anna")
    code(workspace, audit, trials[:9], BEN[:9], "Ben")
    seen = audits.load_sample(workspace, audit, "Ben")
    assert len(seen.codes["Ben"]) == 9
    assert not any(seen.codes[coder] for coder in ("Anna", "Inkblot", "Final coding"))
    assert audits.codings(workspace, audit, "Ben").empty
    code(workspace, audit, trials[9:], BEN[9:], "Ben")
    seen = audits.load_sample(workspace, audit, "Ben")
    assert len(seen.codes["Anna"]) == len(seen.codes["Inkblot"]) == 10


def test_who_adjudicates_without_coding_sees_all_and_codes_no_more(workspace):
    audit, trials = ten_replies(workspace, at_end=True)
    code(workspace, audit, trials, ANNA, "Anna")
    code(workspace, audit, trials, BEN, "Ben")
    audits.begin_adjudication(workspace, audit, "Clara")
    seen = audits.load_sample(workspace, audit, "Clara")
    assert len(seen.codes["Anna"]) == len(seen.codes["Ben"]) == 10
    assert not seen.codes["Inkblot"]  # the reader's are shown at the end
    with pytest.raises(CodingError, match="'Clara' adjudicates this sample"):
        audits.save_coding(workspace, audit, trials[0], option="1", coder="Clara")
    with pytest.raises(CodingError, match="'Anna' has coded replies"):
        audits.begin_adjudication(workspace, audit, "Anna")
    while (found := audits.reply_to_adjudicate(workspace, seen)) is not None:
        audits.adjudicate(workspace, audit, found.answer.trial_id, adjudicator="Clara", option="2")
        seen = audits.load_sample(workspace, audit, "Clara")
    assert len(seen.codes["Inkblot"]) == 10


def test_an_adjudicated_coding_is_final_and_says_who_decided_and_when(workspace, two):
    audit, trials = two
    sample = audits.load_sample(workspace, audit)
    differing = [trials[2], trials[5], trials[8]]
    assert audits.adjudicable_trials(sample) == differing
    assert not set(differing) & set(sample.codes["Final coding"])
    audits.save_note(workspace, audit, trials[2], "Anna", "first word")
    for status in (Status.AMBIGUOUS, Status.OFF_SCALE):  # decided, then corrected
        audits.adjudicate(workspace, audit, trials[2], adjudicator="Anna", status=status)
    sample = audits.load_sample(workspace, audit)
    assert sample.codes["Final coding"][trials[2]].status == "off_scale"
    assert audits.adjudicable_trials(sample) == differing
    assert audits.reply_to_adjudicate(workspace, sample).answer.trial_id == trials[5]
    assert audits.adjudicated_trials(workspace, audit) == (trials[2],)
    rows = audits.codings(workspace, audit)
    of_reply = rows[rows["trial_id"] == trials[2]].set_index("coder")
    assert of_reply["final_status"].tolist() == ["off_scale"] * 2
    assert of_reply["adjudicator"].tolist() == ["Anna"] * 2
    assert of_reply["adjudicated_at"].str.endswith("Z").all()
    assert of_reply["note"].to_dict() == {"Anna": "first word", "Ben": ""}
    assert of_reply["adjudicator_note"].tolist() == ["first word"] * 2
    assert workspace.database.row("select count(*) from adjudication") == (2,)
    with pytest.raises(CodingError, match="cannot adjudicate"):
        audits.adjudicate(workspace, audit, trials[0], adjudicator="Anna", option="1")
    with pytest.raises(CodingError, match="cannot adjudicate"):
        audits.adjudicate(workspace, audit, trials[5], adjudicator="Dora", option="1")


def test_the_final_coding_goes_into_the_data_and_replies_without_one_wait(workspace, two):
    audit, trials = two
    before = exports.export_tidy(workspace, "study")
    parsed = audits.load_sample(workspace, audit).codes["Inkblot"]
    audits.adjudicate(workspace, audit, trials[2], adjudicator="Ben", status=Status.OFF_SCALE)
    audits.accept_codings(workspace, audit, trials)
    kinds = [audits.load_sample(workspace, audit).data(trial).kind for trial in trials]
    final = ["1", "1", "off_scale", "2", "2", None, "refused", "refused", None, "neutral"]
    for trial, code, kind in zip(trials, final, kinds, strict=True):
        assert kind == parsed[trial].kind if code is None else kind[1] == code
    audits.adjudicate(workspace, audit, trials[5], adjudicator="Ben", status=Status.TRUNCATED)
    assert audits.accept_codings(workspace, audit, trials) == 1
    audits.revert_codings(workspace, audit, trials)
    assert exports.export_tidy(workspace, "study") == before


def test_each_coder_and_the_final_coding_are_compared_with_the_reader(workspace, two):
    audit, trials = two
    frame = results(workspace, audit).set_index("coder")
    assert frame.index.tolist() == ["Anna", "Ben", "Final coding"]
    assert frame["coded"].tolist() == [10, 10, 7]
    parsed = audits.load_sample(workspace, audit).codes["Inkblot"]
    reader = [parsed[trial].option or parsed[trial].status for trial in trials]
    for name, codes in (("Anna", ANNA), ("Ben", BEN)):
        own = cohens_kappa(codes, reader)
        assert frame.loc[name, "kappa_kinds"] == pytest.approx(own.value, abs=1e-12)
        assert frame.loc[name, "kappa_kinds_low"] == pytest.approx(own.low, abs=1e-12)


def test_an_undefined_kappa_says_why(workspace):
    audit, trials = ten_replies(workspace)
    for coder in ("Anna", "Ben"):
        code(workspace, audit, trials[:3], ["1", "1", "1"], coder)
    (row,) = agreement.coder_agreement(audits.load_sample(workspace, audit)).frame.to_dict(
        "records"
    )
    assert math.isnan(row["kappa_kinds"])
    assert row["agreement"] == 1
    assert row["reason"].startswith("Undefined: every code is the same category")


def test_names_of_coders_and_notes_hold_no_key_and_no_name_of_a_table(workspace, two):
    audit, trials = two
    assert audits.coder_name(workspace, audit, "  Clara   Schmidt ") == "Clara Schmidt"
    assert audits.coder_name(workspace, audit, "anna") == "Anna"
    key = "sk-" + "a1B2" * 6
    for name in ("", " ", "x" * 61, "inkblot", "Final coding", key, "a\u0000b"):
        with pytest.raises(CodingError):
            audits.coder_name(workspace, audit, name)
    with pytest.raises(CodingError, match="looks like the key"):
        audits.save_note(workspace, audit, trials[0], "Anna", f"my key {key}")
    with pytest.raises(CodingError, match="2,001 characters"):
        audits.save_note(workspace, audit, trials[0], "Anna", "x" * 2001)
    with pytest.raises(ValueError, match="not in this audit"):
        audits.save_note(workspace, audit, 12, "Anna", "x")
    audits.save_note(workspace, audit, trials[0], "Anna", " said twice ")
    audits.save_note(workspace, audit, trials[0], "Anna", "said twice")
    assert audits.notes(workspace, audit) == {(trials[0], "Anna"): "said twice"}
    assert workspace.database.row("select count(*) from coding_note") == (1,)


def read_as(workspace, **rules):
    """Set how replies were read, by SQL conditions on `response`: read_as(guess="option = '1'")."""
    with workspace.database.transaction() as cursor:
        cursor.execute(
            "update response set layer = 'statement', certainty = 'certain', hedged = false"
        )
        for kind, condition in rules.items():
            change = {
                "guess": "certainty = 'guess', layer = 'single_mention'",
                "hedged": "hedged = true",
                "judged": "layer = 'judge', judge = 'Arbiter'",
            }[kind]
            cursor.execute(f"update response set {change} where {condition}")  # noqa: S608


def test_a_sample_of_kinds_has_so_many_of_each_model_and_kind_and_the_old_sample_stays(workspace):
    collect(workspace)
    plain = audits.draw_audit(workspace, "study", seed=1, per_model=10)
    read_as(workspace, guess="option = '1'", hedged="option = '2'")
    assert audits.draw_audit(workspace, "study", seed=1, per_model=10) == plain
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=3, kinds={"hedged", "guess"})
    assert audit.kinds == ("guess", "hedged")
    assert audit != audits.draw_audit(workspace, "study", seed=1, per_model=3)
    sample = audits.load_sample(workspace, audit)
    drawn = sample.replies.groupby(["model", "parser_option"]).size()
    assert drawn.to_dict() == {
        (model, option): 3
        for model in ("graded response model", "second model")
        for option in ("1", "2")
    }
    with pytest.raises(NotEnoughData, match="no replies of this kind: judged"):
        audits.draw_audit(workspace, "study", seed=1, per_model=3, kinds=["judged"])
    assert "judged" not in audits.kind_counts(workspace, "study")


def test_agreement_is_shown_by_how_replies_were_read(workspace):
    collect(workspace)
    read_as(workspace, guess="option = '1'", judged="option = '2'", hedged="option = '3'")
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=30)
    sample = audits.load_sample(workspace, audit)
    while (found := audits.reply_to_code(workspace, audit)) is not None:
        answer = found.answer
        guessed = sample.readings[answer.trial_id].certainty == "guess"
        if guessed or not answer.option:  # every guess is wrong
            audits.save_coding(workspace, audit, answer.trial_id, status=Status.REFUSED)
        else:
            audits.save_coding(workspace, audit, answer.trial_id, option=answer.option)
    sample = audits.load_sample(workspace, audit)
    frame = agreement.reading_agreement(sample).frame
    overall = frame[frame["model"] == "all models"].set_index(["feature", "kind"])
    n = overall["coded"].to_dict()
    counts = sample.replies["parser_option"].value_counts()
    assert n["Certainty", "guess"] == n["Layer", "single mention"] == counts["1"] > 3
    assert n["Layer", "judge"] == counts["2"] > 3
    assert n["Disclaimer", "disclaimer"] == counts["3"] > 3
    assert n["Certainty", "certain"] == 60 - counts["1"]
    success = overall["success"].to_dict()
    assert success["Certainty", "guess"] == 0
    assert success["Certainty", "certain"] == success["Layer", "judge"] == 1
    guess = overall.loc[("Certainty", "guess")]
    assert (guess["ci_low"], guess["ci_high"]) == wilson_interval(0, counts["1"])
    assert n["Judge", "Arbiter"] == counts["2"]
    assert n["Judge", "no judge"] == 60 - counts["2"]
    assert "guess 0.0% [0.0, " in agreement.certainty_sentence(sample, audits.FIRST_CODER)
    rows = audits.codings(workspace, audit)
    assert set(rows.loc[rows["parser_option"] == "2", "judge"]) == {"Arbiter"}
    of_guess = rows.loc[rows["parser_option"] == "1", ["layer", "certainty", "hedged"]]
    assert of_guess.drop_duplicates().to_numpy().tolist() == [["single_mention", "guess", "no"]]


def test_without_a_judge_no_agreement_by_judge_is_shown(workspace):
    collect(workspace)
    read_as(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=2)
    code_as_the_parser(workspace, audit)
    frame = agreement.reading_agreement(audits.load_sample(workspace, audit)).frame
    assert frame["feature"].unique().tolist() == ["Certainty", "Layer", "Disclaimer"]


def test_drawn_guesses_are_those_that_analyses_can_leave_out(workspace):
    collect(workspace)
    read_as(
        workspace,
        guess="option = '1' or status = 'refused'",
        judged="option is null",
        hedged="status = 'refused'",
    )
    counts = audits.kind_counts(workspace, "study")
    left_out = frames.answer_kinds(workspace.database, ["study"], {})
    assert counts["guess"] == left_out["guess"] > 0
    assert not {"hedged", "judged"} & counts.keys()  # replies without an option
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=5, kinds=["guess"])
    assert set(audits.load_sample(workspace, audit).replies["parser_option"]) == {"1"}


def test_how_a_reply_was_read_is_not_shown_to_who_has_not_coded_it(workspace):
    collect(workspace)
    read_as(workspace, guess="option = '1'")
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=2)
    found = audits.reply_to_code(workspace, audit)
    trial = found.answer.trial_id
    audits.save_coding(workspace, audit, trial, status=Status.REFUSED)
    assert set(audits.load_sample(workspace, audit, "Coder 1").readings) == {trial}
    assert not audits.load_sample(workspace, audit, "Anna").readings
    late = audits.draw_audit(workspace, "study", seed=2, per_model=2, at_end=True)
    audits.save_coding(
        workspace,
        late,
        audits.reply_to_code(workspace, late).answer.trial_id,
        status=Status.REFUSED,
    )
    assert not audits.load_sample(workspace, late, "Coder 1").readings
